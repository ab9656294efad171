/* Rows of scores and outcomes, and their sorted table. */
#ifndef TABLE_HELP_H
#define TABLE_HELP_H

#include "../unit.h"

#include "base/rng.h"
#include "curve/curve_bins.h"

#define TABLE_ROWS 20000

typedef double (*table_score)(double u, uint64_t i);

static inline double table_uniform(double u, uint64_t i) {
  (void)i;
  return u;
}

static inline double table_equal(double u, uint64_t i) {
  (void)u;
  (void)i;
  return 0.5;
}

static inline double table_near_one(double u, uint64_t i) {
  (void)i;
  return 1 - 1e-9 * u;
}

static inline double table_tiny(double u, uint64_t i) {
  (void)i;
  return ldexp(u, -(int)(1070 * u));
}

static inline double table_ties(double u, uint64_t i) {
  (void)i;
  return floor(u * 7) / 7;
}

static inline double table_signs(double u, uint64_t i) {
  return i % 3 == 0 ? -0.0 : i % 3 == 1 ? 0.0 : -1e-6 * u;
}

static inline double table_confident(double u, uint64_t i) {
  return i % 5 == 0 ? u : i % 2 == 0 ? 1 - 1e-6 * u * u : 1e-7 * u;
}

static const table_score table_kinds[] = {table_uniform,  table_equal, table_near_one,
                                          table_tiny,     table_ties,  table_signs,
                                          table_confident};

/* Columns of misses and hits; the weights are whole. */
typedef struct table_rows {
  double score[2][TABLE_ROWS], weight[2][TABLE_ROWS];
  size_t count[2];
} table_rows;

static inline void table_draw(table_score kind, size_t rows, uint64_t stream, table_rows *out) {
  const pc_rng rng = {5, stream}, other = {6, stream};
  out->count[0] = out->count[1] = 0;
  for (uint64_t i = 0; i < rows; i++) {
    const double score = kind(pc_rng_uniform(&rng, i), i);
    const int hit = pc_rng_uniform(&other, i) < 0.2 + 0.7 * score;
    out->weight[hit][out->count[hit]] = (double)(1 + pc_rng_bits(&other, i + 100000) % 3);
    out->score[hit][out->count[hit]++] = score;
  }
}

static inline pc_outcome_column table_column(const table_rows *rows, int hit, int weighted) {
  return (pc_outcome_column){rows->score[hit], weighted ? rows->weight[hit] : NULL,
                             rows->count[hit]};
}

static inline pc_curve_table table_make(const table_rows *rows, int weighted) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_outcome_column misses = table_column(rows, 0, weighted);
  const pc_outcome_column hits = table_column(rows, 1, weighted);
  pc_curve_table table;
  assert_int_equal(pc_curve_table_new(&env, &misses, &hits, &table, NULL), PCAL_OK);
  return table;
}

static inline void table_free(pc_curve_table *table) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_curve_table_free(&env, table);
}

/* One row of a table written out. */
typedef struct table_row {
  double score, hit;
} table_row;

/* Every row in ascending order; of equal scores misses come first.  The caller frees it. */
static inline table_row *table_write_out(const pc_curve_table *table, size_t *count) {
  table_row *rows = calloc((size_t)table->total + 1, sizeof *rows);
  *count = 0;
  for (size_t i = 0; i < table->count; i++)
    for (double w = 0; w < table->weight[i]; w++)
      rows[(*count)++] = (table_row){table->score[i], w >= table->weight[i] - table->hits[i]};
  return rows;
}

#endif
