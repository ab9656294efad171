/* A source from names of files, for tests and benchmarks. */
#ifndef TESTS_FILE_INPUTS_H
#define TESTS_FILE_INPUTS_H

#include <stdlib.h>

#include "propercal.h"

/* By the fields of pcal_inputs; levels is "0.05/0.5/0.95". */
typedef struct file_inputs {
  const char *probs, *logits, *log_probs, *confidence, *mean, *variance, *std, *quantiles,
      *samples, *data, *labels, *correct, *target, *weights, *groups, *ids;
  const char *levels;
  const char *event;
  pcal_header header;
  uint64_t first_row;
} file_inputs;

/* The inputs, with room for what they point to. */
typedef struct file_inputs_room {
  pcal_inputs inputs;
  pcal_input items[16];
  double levels[PCAL_LEVELS_MAX];
} file_inputs_room;

static inline void file_inputs_fill(const file_inputs *files, file_inputs_room *out) {
  const pcal_inputs blank = PCAL_INPUTS_INIT;
  const pcal_input none = PCAL_INPUT_INIT;
  pcal_inputs *in = &out->inputs;
  const struct {
    const char *file;
    const pcal_input **field;
  } all[16] = {
      {files->probs, &in->probs},
      {files->logits, &in->logits},
      {files->log_probs, &in->log_probs},
      {files->confidence, &in->confidence},
      {files->mean, &in->mean},
      {files->variance, &in->variance},
      {files->std, &in->std},
      {files->quantiles, &in->quantiles},
      {files->samples, &in->samples},
      {files->data, &in->data},
      {files->labels, &in->labels},
      {files->correct, &in->correct},
      {files->target, &in->target},
      {files->weights, &in->weights},
      {files->groups, &in->groups},
      {files->ids, &in->ids},
  };
  *in = blank;
  for (size_t i = 0; i < 16; i++) {
    out->items[i] = none;
    out->items[i].file = all[i].file;
    if (all[i].file != NULL)
      *all[i].field = &out->items[i];
  }
  for (const char *at = files->levels; at != NULL;) {
    char *end;
    out->levels[in->level_count++] = strtod(at, &end);
    at = *end == '/' ? end + 1 : NULL;
  }
  in->levels = out->levels;
  in->event = files->event;
  in->header = files->header;
  in->first_row = files->first_row;
}

static inline pcal_status file_inputs_open(const file_inputs *files, const pcal_env *env,
                                           pcal_source **out, pcal_error *err) {
  file_inputs_room room;
  file_inputs_fill(files, &room);
  return pcal_source_open(&room.inputs, env, out, err);
}

#endif
