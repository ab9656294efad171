/* The sums of one pass of a fit, as numbers that merge and as bytes: what a worker of a fit by
 * rounds answers (fit_rounds.h).
 *
 * A tally is a list of fields.  Each kind of field has its own rule of merging, which does not
 * depend on the order or number of steps:
 *
 *   sums, fixed, counts   are added exactly
 *   most                  the larger number
 *   sample                rows with keys: those whose key starts with `level` zero bits, for the
 *                         lowest level at which their weights, each rounded up, are at most
 *                         `limit` together
 *   list                  rows, all of them; none if there are more than `limit`
 *   scores                ascending scores with weights; whole weights of equal scores are added
 *   ranges                rows, hits and bounds of ranges of scores (curve/sparse_tally.h)
 *
 * A pass lists the fields of its workers in one function, pc_fit_list_fields, which serves both
 * directions: it adds them to a tally, or a tally to them. */
#ifndef PC_FIT_TALLY_H
#define PC_FIT_TALLY_H

#include "base/codec.h"
#include "curve/sorted_column.h"
#include "curve/sparse_tally.h"

typedef enum pc_fit_field_kind {
  PC_FIT_SUMS,   /* pc_sum */
  PC_FIT_FIXED,  /* pc_fixed */
  PC_FIT_COUNTS, /* uint64_t */
  PC_FIT_MOST,   /* double, from -infinity */
  PC_FIT_SAMPLE, /* rows: keys, and `width` doubles, the first of them the weight */
  PC_FIT_LIST,
  PC_FIT_SCORES, /* pairs of score and weight */
  PC_FIT_RANGES, /* one pc_sparse_tally; NULL: no rows */
  PC_FIT_KINDS
} pc_fit_field_kind;

typedef struct pc_fit_field {
  pc_fit_field_kind kind;
  size_t count, capacity; /* numbers, rows or pairs */
  void *items;            /* of rows and pairs: doubles */
  uint64_t *keys;         /* of a sample */
  size_t width, key_capacity;
  uint64_t limit;
  unsigned level;
  int full; /* a list had more rows than its limit, and has none */
} pc_fit_field;

typedef struct pc_fit_tally {
  const pcal_env *env; /* outlives the tally */
  pc_fit_field *fields;
  size_t count, capacity;
} pc_fit_tally;

void pc_fit_tally_init(pc_fit_tally *tally, const pcal_env *env);
void pc_fit_tally_free(pc_fit_tally *tally); /* or a zeroed one */

/* Adds `from`.  PCAL_DATA: their fields differ. */
PC_CHECKED pcal_status pc_fit_tally_merge(pc_fit_tally *into, const pc_fit_tally *from,
                                          pcal_error *err);

void pc_encode_fit_tally(pc_encoder *out, const pc_fit_tally *tally);
/* Into an empty tally; `in` fails on impossible numbers. */
PC_CHECKED pcal_status pc_decode_fit_tally(pc_decoder *in, pc_fit_tally *out, pcal_error *err);

/* ---- Listing fields ---- */

typedef struct pc_fit_fields {
  pc_fit_tally *tally;
  size_t next; /* the field to be listed */
  int taking;  /* the tally is added to the worker; else the worker to the tally */
} pc_fit_fields;

/* Lists the fields of a worker of a pass, always the same ones in the same order.  Taking:
 * `worker` is 0, and its sums are empty. */
typedef pcal_status (*pc_fit_list_fields)(void *user, size_t worker, pc_fit_fields *fields,
                                          pcal_error *err);

PC_CHECKED pcal_status pc_fit_field_sums(pc_fit_fields *fields, pc_sum *sums, size_t count,
                                         pcal_error *err);
PC_CHECKED pcal_status pc_fit_field_fixed(pc_fit_fields *fields, pc_fixed *sums, size_t count,
                                          pcal_error *err);
PC_CHECKED pcal_status pc_fit_field_counts(pc_fit_fields *fields, uint64_t *counts,
                                           size_t count, pcal_error *err);
PC_CHECKED pcal_status pc_fit_field_most(pc_fit_fields *fields, double *most, size_t count,
                                         pcal_error *err);

/* A sample or a list: *out is the field of the tally.  Giving, the pass adds its rows with
 * pc_fit_field_add_row; taking, it reads them. */
PC_CHECKED pcal_status pc_fit_field_rows(pc_fit_fields *fields, pc_fit_field_kind kind,
                                         size_t width, uint64_t limit, pc_fit_field **out,
                                         pcal_error *err);
/* key: of a sample.  row: `width` doubles, the first of them the weight. */
PC_CHECKED pcal_status pc_fit_field_add_row(pc_fit_fields *fields, pc_fit_field *field,
                                            uint64_t key, const double *row, pcal_error *err);

/* Sorts the rows of a sample or a list, so that bytes do not depend on the order of merges. */
void pc_fit_field_sort_rows(pc_fit_field *field);

/* Raises the level of a sample. */
void pc_fit_field_raise(pc_fit_field *field, unsigned level);

/* Giving, adds sorted scores; taking, sets *column to those of the tally, from `env`. */
PC_CHECKED pcal_status pc_fit_field_scores(pc_fit_fields *fields, const pcal_env *env,
                                           pc_sorted_column *column, pcal_error *err);

/* Giving, adds the rows of `tally`, or none if it is NULL; taking, fills it, which must have no
 * rows. */
PC_CHECKED pcal_status pc_fit_field_ranges(pc_fit_fields *fields, pc_bucket_tally *tally,
                                           pcal_error *err);

#endif
