/* A set of the golden data: FOLDER/logits_SET.npy and labels_SET.npy. */
#ifndef GOLDEN_SET_H
#define GOLDEN_SET_H

#include <stdio.h>
#include <sys/stat.h>

#include "../file_inputs.h"
#include "propercal.h"

#define GOLDEN_SET_PATH 2048

/* NULL where it is not there; a set that is there and cannot be read is told. */
static pcal_source *golden_set_open(const char *folder, const char *set) {
  char logits[GOLDEN_SET_PATH], labels[GOLDEN_SET_PATH];
  file_inputs inputs = {0};
  pcal_source *source = NULL;
  pcal_error err;
  struct stat about;
  snprintf(logits, sizeof logits, "%.1900s/logits_%s.npy", folder, set);
  snprintf(labels, sizeof labels, "%.1900s/labels_%s.npy", folder, set);
  if (stat(logits, &about) != 0)
    return NULL;
  inputs.logits = logits;
  inputs.labels = labels;
  if (file_inputs_open(&inputs, NULL, &source, &err) != PCAL_OK)
    fprintf(stderr, "%s\n", err.message);
  return source;
}

#endif
