/* Converts rows of logits.
 *
 * Formula, for logits z with m = max z, e_j = exp(z_j - m), r = sum of e_j over j != top:
 *   p_j = e_j / (1 + r)
 *   log p_y = (z_y - m) - log(1 + r)
 *   1 - p_y = r / (1 + r) if y is the top class, else (1 + r - e_y) / (1 + r)
 * The sum of squares of the other classes is computed in the same way, without cancellation
 * when p_y is close to 1.
 *
 * Edge cases: row_check.h.  Ties for the top class go to the lowest index.
 * Cost: one exp for each logit.  Up to 32 classes there is one row in each vector lane; beyond
 * that, vectors run along the row, and p_j = e_j (1 / (1 + r)), which costs one ulp.
 *
 * The part that depends on the label is computed for all rows at the end: until then the
 * columns hold r, the sum of e_j^2, and z_y - m (pc_logit_columns). */
#include <math.h>

#include "data/row_convert.h"
#include "kernels/prefetch.h"

#define CONVERT_LOGITS_AHEAD 64 /* rows */

/* Narrow rows that are not contiguous are copied, so they can be fast too. */
int pc_batch_is_fast(const pcal_batch *batch, const pc_layout *layout,
                     const pc_row_policy *policy) {
  const pc_row_convert convert = {.layout = layout, .policy = policy};
  return policy->probs == PC_PROBS_FAST && batch->type == PCAL_F32 && batch->device == NULL &&
         !pc_row_convert_keeps_probs(&convert) &&
         (layout->classes <= PC_NARROW_CLASSES || pc_row_convert_has_floats(batch));
}

static int convert_logits_fast(const pc_row_convert *convert) {
  return pc_batch_is_fast(convert->batch, convert->layout, convert->policy);
}

/* Rows in place are read more than once and may be overwritten meanwhile.  These bounds, which
 * hold for every row of k classes, keep invalid values out of the columns. */
static int convert_logits_possible(double rest, double rest_square, double gap, size_t k) {
  const double most = 2.0 * (double)k;
  return rest >= 0 && rest <= most && rest_square >= 0 && rest_square <= most && gap <= 0;
}

static void convert_logits_keep(const pc_row_convert *convert, size_t top, double rest,
                                double rest_square, double gap) {
  const pc_scratch *s = convert->scratch;
  s->top[convert->kept] = rest;
  s->top_label[convert->kept] = (int32_t)top;
  s->others_square[convert->kept] = rest_square;
  s->log_true[convert->kept] = gap;
}

static int convert_logits_all_finite(const double *scores, size_t count) {
  size_t finite = 0;
  for (size_t j = 0; j < count; j++)
    finite += isfinite(scores[j]) != 0;
  return finite == count;
}

/* ---- Wide rows ---- */

static const float *convert_logits_flat(const pcal_batch *batch, size_t position) {
  const char *at = pc_row_convert_at(batch, position);
  return pc_row_convert_has_floats(batch) ? (const float *)(const void *)at : NULL;
}

/* Where to write the probabilities of the next row; NULL if they are not kept. */
static double *convert_logits_probs(const pc_row_convert *convert) {
  return pc_row_convert_keeps_probs(convert)
             ? convert->scratch->probs + convert->kept * convert->layout->classes
             : NULL;
}

static void convert_logits_softmax(const pc_row_convert *convert, size_t position,
                                   double *terms, pc_softmax_facts *found) {
  const pc_scratch *s = convert->scratch;
  const size_t k = convert->layout->classes;
  const float *flat = convert_logits_flat(convert->batch, position);
  if (convert_logits_fast(convert)) {
    s->fast->softmax(flat, k, found);
  } else if (flat != NULL) {
    s->kernels->softmax_f32(flat, k, terms, found);
  } else {
    pc_row_convert_load_row(convert->batch, position, s->scores_row);
    s->kernels->softmax_f64(s->scores_row, k, terms, found);
  }
}

/* Returns 0 if the row has changed meanwhile. */
static int convert_logits_wide_facts(const pc_row_convert *convert, size_t position,
                                     int32_t label, const pc_softmax_facts *found) {
  const pcal_batch *batch = convert->batch;
  const pc_scratch *s = convert->scratch;
  const size_t k = convert->layout->classes;
  const char *at = pc_row_convert_at(batch, position) + (ptrdiff_t)label * batch->column_stride;
  const double gap = pc_row_convert_load(batch, at) - found->max;
  double *scores = s->scores + convert->kept * k;
  if (!found->finite || !convert_logits_possible(found->rest, found->rest_square, gap, k))
    return 0;
  convert_logits_keep(convert, found->top, found->rest, found->rest_square, gap);
  if (pc_row_convert_keeps_probs(convert))
    s->kernels->scale(convert_logits_probs(convert), k, 1.0 / (1.0 + found->rest),
                      convert_logits_probs(convert));
  if (convert->policy->scores == PC_SCORES_NONE)
    return 1;
  pc_row_convert_load_row(batch, position, scores);
  return convert_logits_all_finite(scores, k);
}

static pcal_status convert_logits_wide_row(pc_row_convert *convert, size_t position,
                                           pcal_error *err) {
  const pc_scratch *s = convert->scratch;
  pc_checked_row row;
  pc_softmax_facts found = {.top = 0};
  PC_TRY(pc_row_convert_begin(convert, position, &row, err));
  convert_logits_softmax(convert, position, convert_logits_probs(convert), &found);
  if (!found.finite) {
    pc_row_convert_load_row(convert->batch, position, s->scores_row);
    PC_TRY(pc_row_check_not_finite(&row, s->scores_row, err));
  }
  if (!row.missing && !convert_logits_wide_facts(convert, position, row.label, &found))
    return pc_row_fail_changed(&row, err);
  pc_row_convert_end(convert, &row);
  return PCAL_OK;
}

/* Converts valid rows without weights, all at once; returns 0 if rows must be checked one by
 * one. */
static int convert_logits_wide_rows(pc_row_convert *convert, size_t begin, size_t count) {
  const pc_scratch *s = convert->scratch;
  if (!pc_row_convert_keep_labels(convert, begin, count))
    return 0;
  for (; convert->kept < count; convert->kept++) {
    pc_softmax_facts found;
    convert_logits_softmax(convert, begin + convert->kept, convert_logits_probs(convert),
                           &found);
    if (!found.finite || !convert_logits_wide_facts(convert, begin + convert->kept,
                                                    s->labels[convert->kept], &found))
      break;
  }
  const int all = convert->kept == count;
  convert->kept = all ? count : 0;
  return all;
}

/* ---- Narrow rows ---- */

/* A block of PC_NARROW_ROWS contiguous rows; unused places repeat the first row. */
static const void *convert_logits_block(const pc_row_convert *convert, size_t begin,
                                        size_t count) {
  const pcal_batch *batch = convert->batch;
  const size_t size = batch->type == PCAL_F32 ? sizeof(float) : sizeof(double);
  const size_t k = batch->columns;
  const char *first = pc_row_convert_at(batch, begin);
  if (count == PC_NARROW_ROWS && batch->column_stride == (ptrdiff_t)size &&
      batch->row_stride == (ptrdiff_t)(k * size) && (uintptr_t)first % size == 0) {
    pc_prefetch(first, PC_NARROW_ROWS * k * size, CONVERT_LOGITS_AHEAD * k * size);
    return first;
  }
  char *out = (char *)convert->scratch->lanes;
  for (size_t l = 0; l < PC_NARROW_ROWS; l++) {
    const char *at = pc_row_convert_at(batch, begin + (l < count ? l : 0));
    for (size_t j = 0; j < k; j++, at += batch->column_stride)
      memcpy(out + (l * k + j) * size, at, size);
  }
  return out;
}

/* Their labels; 0 for places without a row. */
static void convert_logits_labels(const pc_row_convert *convert, size_t begin, size_t count,
                                  int32_t out[PC_NARROW_ROWS]) {
  memset(out, 0, PC_NARROW_ROWS * sizeof *out);
  if (!convert->policy->unlabelled)
    memcpy(out, convert->batch->labels + begin, count * sizeof *out);
}

/* Writes the sums of the softmax to the columns, after the rows kept so far. */
static pc_narrow_facts convert_logits_narrow_softmax(const pc_row_convert *convert,
                                                     const void *z, const int32_t *labels) {
  const pc_scratch *s = convert->scratch;
  const size_t k = convert->layout->classes;
  double *terms = pc_row_convert_keeps_probs(convert) ? s->terms : NULL;
  pc_narrow_facts found = {.rest = s->top + convert->kept,
                           .rest_square = s->others_square + convert->kept,
                           .gap = s->log_true + convert->kept,
                           .top = s->top_label + convert->kept};
  if (convert->batch->type != PCAL_F32)
    s->kernels->narrow_f64(z, k, labels, terms, &found);
  else if (convert_logits_fast(convert))
    s->fast->narrow(z, k, labels, &found);
  else
    s->kernels->narrow_f32(z, k, labels, terms, &found);
  return found;
}

/* Copies probabilities and scores of a row of the block, if they are kept; 0 if the scores have
 * changed meanwhile. */
static int convert_logits_narrow_columns(const pc_row_convert *convert, size_t position,
                                         size_t place, double rest) {
  const pc_scratch *s = convert->scratch;
  const size_t k = convert->layout->classes;
  double *probs = s->probs + convert->kept * k;
  for (size_t j = 0; pc_row_convert_keeps_probs(convert) && j < k; j++)
    probs[j] = s->terms[j * PC_NARROW_ROWS + place] / (1.0 + rest);
  if (convert->policy->scores == PC_SCORES_NONE)
    return 1;
  pc_row_convert_load_row(convert->batch, position, s->scores + convert->kept * k);
  return convert_logits_all_finite(s->scores + convert->kept * k, k);
}

static int convert_logits_narrow_possible(const pc_row_convert *convert,
                                          const pc_narrow_facts *found, size_t place) {
  return convert_logits_possible(found->rest[place], found->rest_square[place],
                                 found->gap[place], convert->layout->classes);
}

static pcal_status convert_logits_narrow_row(pc_row_convert *convert, size_t position,
                                             size_t place, const pc_narrow_facts *found,
                                             pcal_error *err) {
  pc_checked_row row;
  PC_TRY(pc_row_convert_begin(convert, position, &row, err));
  pc_row_convert_load_row(convert->batch, position, convert->scratch->scores_row);
  if (!row.missing &&
      !convert_logits_all_finite(convert->scratch->scores_row, convert->layout->classes))
    PC_TRY(pc_row_check_not_finite(&row, convert->scratch->scores_row, err));
  if (!row.missing) {
    if (!convert_logits_narrow_possible(convert, found, place) ||
        !convert_logits_narrow_columns(convert, position, place, found->rest[place]))
      return pc_row_fail_changed(&row, err);
    convert_logits_keep(convert, (size_t)found->top[place], found->rest[place],
                        found->rest_square[place], found->gap[place]);
  }
  pc_row_convert_end(convert, &row);
  return PCAL_OK;
}

/* Valid rows without weights, all at once; returns 0 and does nothing if one has changed
 * meanwhile. The scratch has room for all places, also those without a row. */
static int convert_logits_narrow_block(pc_row_convert *convert, size_t begin, size_t count,
                                       const int32_t *labels, const pc_narrow_facts *found) {
  const pc_scratch *s = convert->scratch;
  const size_t before = convert->kept;
  int possible = 1;
  for (size_t l = 0; convert_logits_fast(convert) && l < count;
       l++) /* the other kernels read rows only once */
    possible &= convert_logits_narrow_possible(convert, found, l);
  if (!possible)
    return 0;
  memcpy(s->labels + convert->kept, labels, PC_NARROW_ROWS * sizeof *labels);
  pc_row_convert_number(convert->batch->first_row + begin, PC_NARROW_ROWS,
                        s->ids + convert->kept);
  if (convert->batch->groups != NULL)
    memcpy(s->groups + convert->kept, convert->batch->groups + begin, count * sizeof(uint32_t));
  if (convert->policy->scores == PC_SCORES_NONE) {
    if (pc_row_convert_keeps_probs(convert))
      s->kernels->narrow_probs(s->terms, convert->layout->classes, found->rest,
                               s->probs + convert->kept * convert->layout->classes);
    convert->kept += count;
    return 1;
  }
  for (size_t l = 0; l < count; l++, convert->kept++)
    possible &= convert_logits_narrow_columns(convert, begin + l, l, found->rest[l]);
  convert->kept = possible ? convert->kept : before;
  return possible;
}

static pcal_status convert_logits_narrow(pc_row_convert *convert, size_t begin, size_t count,
                                         pcal_error *err) {
  int32_t labels[PC_NARROW_ROWS];
  convert_logits_labels(convert, begin, count, labels);
  const pc_narrow_facts found = convert_logits_narrow_softmax(
      convert, convert_logits_block(convert, begin, count), labels);
  if (found.labelled && found.finite && convert->batch->weights == NULL &&
      convert_logits_narrow_block(convert, begin, count, labels, &found))
    return PCAL_OK;
  for (size_t l = 0; l < count; l++) /* close the gaps of skipped rows */
    PC_TRY(convert_logits_narrow_row(convert, begin + l, l, &found, err));
  return PCAL_OK;
}

/* ---- Scores alone ---- */

static pcal_status convert_logits_scores_row(pc_row_convert *convert, size_t position,
                                             pcal_error *err) {
  const pc_scratch *s = convert->scratch;
  const size_t k = convert->layout->classes;
  const int in_place = pc_row_convert_in_place(convert);
  double *scores = in_place ? s->scores_row : s->scores + convert->kept * k;
  int finite;
  pc_checked_row row;
  PC_TRY(pc_row_convert_begin(convert, position, &row, err));
  if (in_place && convert->policy->scores == PC_SCORES_UNCHECKED) {
    pc_row_convert_end(convert, &row);
    return PCAL_OK;
  }
  if (!in_place)
    pc_row_convert_load_row(convert->batch, position, scores);
  const size_t top =
      in_place ? s->kernels->top_f32(convert_logits_flat(convert->batch, position), k, &finite)
               : s->kernels->top_f64(scores, k, &finite);
  if (!finite) {
    pc_row_convert_load_row(convert->batch, position, scores);
    PC_TRY(pc_row_check_not_finite(&row, scores, err));
  }
  s->top_label[convert->kept] = (int32_t)top;
  pc_row_convert_end(convert, &row);
  return PCAL_OK;
}

/* Valid rows without labels and weights, all at once; 0 if they are not contiguous or must be
 * checked one by one. */
static int convert_logits_scores_block(pc_row_convert *convert, size_t begin, size_t count) {
  const pcal_batch *batch = convert->batch;
  const pc_scratch *s = convert->scratch;
  const size_t size = batch->type == PCAL_F32 ? sizeof(float) : sizeof(double);
  const void *at = pc_row_convert_at(batch, begin);
  pc_column_facts facts;
  if (!convert->policy->unlabelled || batch->weights != NULL || batch->groups != NULL ||
      pc_row_convert_in_place(convert) || batch->column_stride != (ptrdiff_t)size ||
      batch->row_stride != (ptrdiff_t)(batch->columns * size) || (uintptr_t)at % size != 0)
    return 0;
  if (batch->type == PCAL_F32)
    s->kernels->column_f32(at, count * batch->columns, s->scores, &facts);
  else
    s->kernels->column_f64(at, count * batch->columns, s->scores, &facts);
  if (facts.finite) {
    pc_row_convert_number(batch->first_row + begin, count, s->ids);
    memset(s->labels, 0, count * sizeof *s->labels);
  }
  convert->kept = facts.finite ? count : 0;
  return facts.finite;
}

/* Rows that are used in place, unchecked, without weights. */
static int convert_logits_untouched(pc_row_convert *convert, size_t begin, size_t count) {
  if (convert->policy->scores != PC_SCORES_UNCHECKED || !pc_row_convert_in_place(convert) ||
      !pc_row_convert_keep_labels(convert, begin, count))
    return 0;
  convert->kept = count;
  return 1;
}

/* ---- All of them ---- */

pcal_status pc_convert_logits(pc_row_convert *convert, size_t begin, size_t count,
                              pcal_error *err) {
  const pc_scratch *s = convert->scratch;
  const int scores_only = convert->policy->scores >= PC_SCORES_ONLY;
  const int narrow = !scores_only && convert->layout->classes <= PC_NARROW_CLASSES;
  const size_t step = narrow ? PC_NARROW_ROWS : 1;
  if (scores_only && (convert_logits_untouched(convert, begin, count) ||
                      convert_logits_scores_block(convert, begin, count)))
    return PCAL_OK;
  const int done = !scores_only && !narrow && convert_logits_wide_rows(convert, begin, count);
  for (size_t i = begin; !done && i < begin + count; i += step) {
    const size_t left = begin + count - i;
    if (narrow)
      PC_TRY(convert_logits_narrow(convert, i, left < step ? left : step, err));
    else if (scores_only)
      PC_TRY(convert_logits_scores_row(convert, i, err));
    else
      PC_TRY(convert_logits_wide_row(convert, i, err));
  }
  const pc_logit_columns columns = {s->labels,        s->top_label, s->top,
                                    s->others_square, s->log_true,  s->true_gap};
  if (!scores_only && convert_logits_fast(convert))
    s->fast->finish_logits(&columns, convert->kept);
  else if (!scores_only)
    s->kernels->finish_logits(&columns, convert->kept);
  return PCAL_OK;
}
