/* Valid data files of every format, made from choices. */
#ifndef FUZZ_FILES_H
#define FUZZ_FILES_H

#include "fuzz_choice.h"

typedef enum fuzz_kind {
  FUZZ_PROBS,
  FUZZ_LOGITS,
  FUZZ_LOG_PROBS,
  FUZZ_CONFIDENCE,
  FUZZ_KINDS
} fuzz_kind;

/* A small data set: every number of it follows from these. */
typedef struct fuzz_table {
  fuzz_kind kind;
  size_t rows, columns; /* columns: scores of a row, 1 for confidences */
  int weighted, grouped;
  uint64_t seed;
} fuzz_table;

fuzz_table fuzz_table_make(fuzz_choice *choice);
double fuzz_table_score(const fuzz_table *table, size_t row, size_t column);
int fuzz_table_label(const fuzz_table *table, size_t row);
double fuzz_table_weight(const fuzz_table *table, size_t row);
const char *fuzz_table_group(const fuzz_table *table, size_t row);
const char *fuzz_kind_name(fuzz_kind kind);    /* "probs", ... as flags and fields are called */
const char *fuzz_outcome_name(fuzz_kind kind); /* "labels" or "correct" */

typedef enum fuzz_part { FUZZ_SCORES, FUZZ_LABELS, FUZZ_WEIGHTS } fuzz_part;

/* Whole files.  Layout (separators, quotes, number types, order, deflate, ...) is chosen. */
void fuzz_write_csv(const fuzz_table *table, fuzz_choice *choice, fuzz_out *out);
void fuzz_write_jsonl(const fuzz_table *table, fuzz_choice *choice, fuzz_out *out);
void fuzz_write_npy(const fuzz_table *table, fuzz_part part, fuzz_choice *choice,
                    fuzz_out *out);
void fuzz_write_npz(const fuzz_table *table, fuzz_choice *choice, fuzz_out *out);

/* An existing file changed in its structure, so that it mostly stays readable. */
void fuzz_change_csv(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out);
void fuzz_change_jsonl(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out);
void fuzz_change_npy(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out);
void fuzz_change_npz(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out);

#endif
