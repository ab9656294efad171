/* Soft labels: the truth of a row is a distribution over the classes, a column for each class.
 *
 * Formula:  row i with shares q_i becomes K rows with its scores, the labels 0 to K - 1 and the
 *           importance weights w_i q_ik: the same for everything that is linear in the truth.
 * Edge cases:
 *   1. Labels of several columns that are all 0 or 1 are one-hot, and not expanded.
 *   2. Shares must lie in [0, 1] and sum to 1 within 1e-6; they are divided by their sum.
 *   3. A row with a missing share is one row with a missing label: whoever reads it skips or
 *      refuses it.
 *   4. For intervals each row is a cluster (pc_source_use_soft_clusters).
 *   5. Only those that know about soft labels may read them (pc_source_allow_soft).
 * Cost: one more pass over labels of several columns when the source is opened. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "data/rows.h"
#include "io/source_state.h"

#define SOURCE_SOFT_ROWS ((size_t)1 << 12)
#define SOURCE_SOFT_SUM 1e-6

int pc_source_is_soft(const pcal_source *source) {
  return source->soft.used;
}

void pc_source_allow_soft(pcal_source *source) {
  source->soft.allowed = 1;
}

pcal_status pc_source_check_soft(const pcal_source *source, pcal_error *err) {
  if (!source->soft.used || source->soft.allowed)
    return PCAL_OK;
  return pc_fail(
      err, PCAL_USAGE,
      "%s has labels that are distributions over classes, which only `measure` and "
      "`fit` take; give one class for each row or, with {weights} (importance), each row "
      "once for every class with its share as the weight, and its number as {cluster} "
      "where that is taken",
      pc_source_part_name(&source->label_cells));
}

void pc_source_use_soft_clusters(pcal_source *source) {
  source->soft.clusters = !pc_source_has(&source->group_cells);
}

uint64_t pc_source_soft_rows(const pcal_source *source) {
  return source->soft.most;
}

uint64_t pc_source_soft_kept(const pcal_source *source, pc_sum *square) {
  *square = source->soft.square;
  return source->soft.kept;
}

void pc_source_soft_free(pcal_source *source) {
  pc_source_soft *soft = &source->soft;
  pc_free(&source->env, soft->scores);
  pc_free(&source->env, soft->labels);
  pc_free(&source->env, soft->weights);
  pc_free(&source->env, soft->groups);
}

/* ---- Opening ---- */

/* True if a label cell is neither 0 nor 1. */
static pcal_status source_soft_find(pcal_source *source, int *found, pcal_error *err) {
  pc_reader *cells = &source->label_cells;
  for (*found = 0; !*found;) {
    pc_window window;
    PC_TRY(pc_reader_next(cells, SOURCE_SOFT_ROWS, &window, err));
    if (window.rows == 0)
      break;
    const double *values = window.data;
    for (size_t i = 0; i < window.rows * cells->columns; i++)
      *found |= !isnan(values[i]) && values[i] != 0.0 && values[i] != 1.0;
    PC_TRY(pc_check_interrupt(&source->env, err));
  }
  pc_reader_rewind(cells);
  return PCAL_OK;
}

pcal_status pc_source_open_soft(pcal_source *source, const pcal_inputs *inputs,
                                pcal_error *err) {
  const pc_reader *cells = &source->label_cells;
  int found = 0;
  if (!pc_source_has(cells) || pc_source_regression(source) || cells->columns < 2 ||
      cells->cells != PC_CELLS_F64 || source->kind == PCAL_CONFIDENCE)
    return PCAL_OK;
  PC_TRY(source_soft_find(source, &found, err));
  if (!found)
    return PCAL_OK;
  if (inputs->prevalence_count > 0 || inputs->ragged || pc_source_has(&source->id_cells))
    return pc_fail(
        err, PCAL_USAGE,
        "%s has labels that are distributions over classes, which cannot be combined "
        "with {prevalence}, {ragged} or ids; remove these",
        pc_source_part_name(cells));
  source->soft.used = 1;
  pc_sum_clear(&source->soft.square);
  pc_weight_sums_clear(&source->soft.sums);
  source->soft.classes = cells->columns;
  source->weights_are = PCAL_WEIGHTS_IMPORTANCE;
  return PCAL_OK;
}

/* ---- Reading ---- */

static pcal_status source_soft_reserve(pcal_source *source, const pcal_batch *base,
                                       pcal_error *err) {
  pc_source_soft *soft = &source->soft;
  const size_t rows = base->rows * soft->classes;
  if (rows <= soft->capacity)
    return PCAL_OK;
  pc_source_soft_free(source);
  soft->capacity = 0;
  soft->scores = pc_alloc_raw(&source->env, rows * base->columns, sizeof *soft->scores);
  soft->labels = pc_alloc_raw(&source->env, rows, sizeof *soft->labels);
  soft->weights = pc_alloc_raw(&source->env, rows, sizeof *soft->weights);
  soft->groups = pc_alloc_raw(&source->env, rows, sizeof *soft->groups);
  if (soft->scores == NULL || soft->labels == NULL || soft->weights == NULL ||
      soft->groups == NULL)
    return pc_fail_memory(err, "reading soft labels");
  soft->capacity = rows;
  return PCAL_OK;
}

static pcal_status source_soft_fail(const pcal_source *source, size_t row, double number,
                                    const char *problem, pcal_error *err) {
  char shown[PC_NUMBER_MAX];
  pc_place place = pc_reader_place(&source->label_cells, row, source->soft.read + row);
  place.column = PCAL_NO_COLUMN;
  return pc_fail_at(
      err, PCAL_DATA, &place,
      "%s %s; labels in several columns are one-hot, or shares of the classes that "
      "sum to 1",
      pc_show(number, shown), problem);
}

/* The sum of the shares of a row; NaN if one is missing. */
static pcal_status source_soft_sum(const pcal_source *source, const double *shares, size_t row,
                                   double *out, pcal_error *err) {
  *out = 0.0;
  for (size_t k = 0; k < source->soft.classes; k++) {
    if (isnan(shares[k])) {
      *out = (double)NAN;
      return PCAL_OK;
    }
    if (!(shares[k] >= 0.0 && shares[k] <= 1.0 + SOURCE_SOFT_SUM))
      return source_soft_fail(source, row, shares[k], "is no share", err);
    *out += shares[k];
  }
  return fabs(*out - 1.0) <= SOURCE_SOFT_SUM
             ? PCAL_OK
             : source_soft_fail(source, row, *out, "is the sum of the shares", err);
}

static void source_soft_row(pcal_source *source, const pcal_batch *base, size_t row, double sum,
                            const double *shares) {
  pc_source_soft *soft = &source->soft;
  const double weight = base->weights == NULL ? 1.0 : base->weights[row];
  if (!isnan(sum) && weight > 0.0 && isfinite(weight)) {
    soft->kept++;
    pc_sum_add(&soft->square, weight * weight);
    pc_weight_sums_add(&soft->sums, weight);
  }
  for (size_t k = 0; k < soft->classes; k++) {
    const size_t to = row * soft->classes + k;
    double *scores = soft->scores + to * base->columns;
    pc_batch_row(base, row, scores);
    soft->labels[to] = isnan(sum) && k == 0 ? PCAL_MISSING_LABEL : (int32_t)k;
    soft->weights[to] = !isnan(sum) ? weight * (shares[k] / sum) : k == 0 ? weight : 0.0;
    soft->groups[to] = base->groups != NULL ? base->groups[row] : (uint32_t)(soft->read + row);
  }
}

static void source_soft_place(const void *user, pcal_field field, size_t row, size_t column,
                              pcal_location *out) {
  const pcal_source *source = user;
  const pc_source_soft *soft = &source->soft;
  const size_t from = (soft->given + row) / soft->classes;
  soft->place(user, field, from, column, out);
  if (out->row == PCAL_NO_ROW)
    out->row = source->first_row + soft->first + from;
}

pcal_status pc_source_soft_expand(pcal_source *source, const pcal_batch *base,
                                  const double *shares, pcal_error *err) {
  pc_source_soft *soft = &source->soft;
  PC_TRY(source_soft_reserve(source, base, err));
  for (size_t i = 0; i < base->rows; i++) {
    const double *row = shares + i * soft->classes;
    double sum;
    PC_TRY(source_soft_sum(source, row, i, &sum, err));
    source_soft_row(source, base, i, sum, row);
  }
  soft->held = *base;
  soft->place = base->place;
  soft->held.place = source_soft_place;
  soft->held.rows = base->rows * soft->classes;
  soft->held.type = PCAL_F64;
  soft->held.weights_are = PCAL_WEIGHTS_IMPORTANCE;
  soft->held.column_stride = (ptrdiff_t)sizeof(double);
  soft->held.row_stride = (ptrdiff_t)(base->columns * sizeof(double));
  soft->next = 0;
  soft->first = soft->read;
  soft->read += base->rows;
  soft->most = soft->read > soft->most ? soft->read : soft->most;
  return PCAL_OK;
}

void pc_source_soft_take(pcal_source *source, size_t max_rows, pcal_batch *out) {
  pc_source_soft *soft = &source->soft;
  const size_t left = soft->held.rows - soft->next, at = soft->next;
  *out = soft->held;
  out->rows = left < max_rows ? left : max_rows;
  out->first_row = source->first_row + source->position;
  out->scores = soft->scores == NULL ? NULL : soft->scores + at * out->columns;
  out->labels = soft->labels == NULL ? NULL : soft->labels + at;
  out->weights = soft->weights == NULL ? NULL : soft->weights + at;
  out->groups = (soft->held.groups == NULL && !soft->clusters) || soft->groups == NULL
                    ? NULL
                    : soft->groups + at;
  soft->given = at;
  soft->next += out->rows;
}
