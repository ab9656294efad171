/* Checks pcal_inputs before any file is opened. */
#ifndef PC_INPUT_CHECK_H
#define PC_INPUT_CHECK_H

#include "base/memory.h"
#include "io/selector.h"

/* The fields of pcal_inputs that point to a pcal_input. */
typedef enum pc_input_field {
  PC_INPUT_PROBS,
  PC_INPUT_LOGITS,
  PC_INPUT_LOG_PROBS,
  PC_INPUT_CONFIDENCE,
  PC_INPUT_MEAN,
  PC_INPUT_VARIANCE,
  PC_INPUT_STD,
  PC_INPUT_QUANTILES,
  PC_INPUT_SAMPLES,
  PC_INPUT_DATA,
  PC_INPUT_LABELS,
  PC_INPUT_CORRECT,
  PC_INPUT_TARGET,
  PC_INPUT_WEIGHTS,
  PC_INPUT_GROUPS,
  PC_INPUT_IDS,
  PC_INPUT_TIME,
  PC_INPUT_ABSTAIN,
  PC_INPUT_COUNT /* number of fields; as a value: none */
} pc_input_field;

/* A kind of scores. */
typedef struct pc_score_kind {
  pcal_kind kind;
  const char *flag;     /* name of its field and of its columns in a `data` file */
  const char *argument; /* for messages */
} pc_score_kind;

#define PC_SCORE_KINDS 7
extern const pc_score_kind pc_score_kinds[PC_SCORE_KINDS];

/* How an input is given. */
typedef enum pc_input_form {
  PC_INPUT_NOT_GIVEN,
  PC_INPUT_FILE,
  PC_INPUT_ARRAY,
  PC_INPUT_ARROW,
  PC_INPUT_COLUMNS /* of Arrow data in PC_INPUT_DATA */
} pc_input_form;

/* The inputs after the check; all pointers are borrowed. */
typedef struct pc_checked_inputs {
  pcal_inputs inputs;
  pcal_input items[PC_INPUT_COUNT]; /* with name set */
  pc_input_form forms[PC_INPUT_COUNT];
  pc_input_field
      released;   /* an input whose Arrow data were already released, or PC_INPUT_COUNT */
  pcal_kind kind; /* of the scores, if scores are given */
  pc_input_field scores;  /* PC_INPUT_COUNT: to be found in data */
  pc_input_field spread;  /* variance or std, or PC_INPUT_COUNT */
  pc_input_field outcome; /* labels, correct or target, or PC_INPUT_COUNT */
} pc_checked_inputs;

/* Copies pcal_inputs of any size (older headers included).  Cannot fail. */
void pc_inputs_copy(const pcal_inputs *inputs, pc_checked_inputs *out);

/* Releases the Arrow data of inputs that are not used. */
void pc_inputs_release(const pcal_inputs *inputs);

/* Fails with PCAL_USAGE unless exactly one kind of scores is given, with matching outcomes. */
PC_CHECKED pcal_status pc_inputs_check(pc_checked_inputs *inputs, pcal_error *err);

#endif
