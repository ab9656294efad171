/* The verdict on results: computed as data (pcal_verdict), then worded by each writer. */
#ifndef PC_VERDICT_H
#define PC_VERDICT_H

#include "base/json.h"
#include "measure/results.h"

/* Judges results over all rows.  Needs results->bins. */
void pc_verdict_judge(const pcal_results *results, pcal_verdict *out);

/* The same for predictions of a number; pc_verdict_judge calls it. */
void pc_verdict_judge_forecast(const pcal_results *results, pcal_verdict *out);
/* The bins that a verdict on classes judges, bin_count of them: of class 1 if there are two
 * classes. */
const pc_bin *pc_verdict_bins(const pcal_results *results);
/* The mean of the judged ECE over drawn replicas of a calibrated model; 0: none were drawn. */
double pc_verdict_drawn_chance(const pcal_results *results);
/* Looks at tests of calibration among the results, if the verdict on classes is "calibrated" so
 * far: sets test, test_p_value and test_count, and the kind if one of them contradicts. */
void pc_verdict_test(const pcal_results *results, pcal_verdict *out);
/* Fills advice, method and alternative of a verdict on classes whose other fields are set. */
void pc_verdict_advise(const pcal_results *results, pcal_verdict *out);

/* Parts of the worded verdict, in the order in which they are read. */
typedef enum pc_verdict_part {
  PC_VERDICT_WARNING,  /* every label is the same class */
  PC_VERDICT_HEADLINE, /* the first sentence */
  PC_VERDICT_BASIS,    /* the numbers behind it */
  PC_VERDICT_WHERE,    /* which scores add most to the error */
  PC_VERDICT_CHANCE,   /* how much of the error chance explains */
  PC_VERDICT_ADVICE,   /* which calibrator to try */
  PC_VERDICT_PARTS
} pc_verdict_part;

/* "Where", "What to try" and the like; NULL for the headline and its basis. */
const char *pc_verdict_label(pc_verdict_part part);
/* Appends the sentences of a part; nothing where the part does not apply.  interface: whether
 * the advice names flags of the program or classes of the Python package. */
void pc_verdict_write(const pcal_results *results, const pcal_verdict *verdict,
                      pc_verdict_part part, pcal_interface interface, pc_text *out);

/* Calls use for each paragraph: the headline with its basis, and "LABEL: sentences" for the
 * other parts that apply.  Sets out->failed when memory runs out. */
typedef void (*pc_verdict_paragraph_use)(const char *paragraph, pc_text *out);
void pc_verdict_paragraphs(const pcal_results *results, pcal_interface interface,
                           pc_verdict_paragraph_use use, pc_text *out);

/* All paragraphs, one on each line, without a newline after the last. */
void pc_verdict_text(const pcal_results *results, pcal_interface interface, pc_text *out);
/* Lets results have that text, worded as their environment asks; called again after changes of the
 * results.  Results of several targets get none: distances say nothing about calibration. */
PC_CHECKED pcal_status pc_verdict_attach(pcal_results *results, pcal_error *err);
/* The text, written by the first call, by any thread; it lives as long as the results.  NULL:
 * they have none, or memory runs out, which sets *failed to 1. */
const char *pc_verdict_sentences(const pcal_results *results, int *failed);

/* Writes {"kind": ..., "error": ..., "chance": ..., ...}. */
void pc_verdict_json(const pcal_verdict *verdict, pc_json *json);

#endif
