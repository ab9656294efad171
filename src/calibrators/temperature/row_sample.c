#include "calibrators/temperature/row_sample.h"

#include <math.h>
#include <string.h>

#include "kernels/dispatch.h"
#include "kernels/prefetch.h"
#include "kernels/sample_key.h"

#define ROW_SAMPLE_FETCH 32

static unsigned row_sample_level(const pc_row_sample *sample) {
  return atomic_load_explicit(&sample->level, memory_order_relaxed);
}

pcal_status pc_row_sample_init(pc_row_sample *sample, const pcal_env *env, size_t classes,
                               size_t limit, uint64_t rows, pcal_error *err) {
  memset(sample, 0, sizeof *sample);
  if (!pc_mutex_init(&sample->lock))
    return pc_fail_memory(err, "preparing to sample rows");
  while (rows >> sample->start > limit + limit / 4)
    sample->start++;
  sample->env = env;
  sample->classes = classes;
  sample->limit = limit;
  atomic_init(&sample->level, sample->start);
  return PCAL_OK;
}

int pc_row_sample_in_subset(const pc_row_sample *sample, size_t i, unsigned bits) {
  return pc_sample_key_within(row_sample_level(sample) + bits, sample->rows[i].key);
}

int pc_row_sample_is_sparse(const pc_row_sample *sample) {
  return sample->start > 0 && sample->level == sample->start &&
         sample->heavy + sample->passed <= (double)sample->limit;
}

void pc_row_sample_free(pc_row_sample *sample) {
  if (sample->env == NULL)
    return;
  pc_free(sample->env, sample->scores);
  pc_free(sample->env, sample->rows);
  pc_mutex_destroy(&sample->lock);
  memset(sample, 0, sizeof *sample);
}

/* Scores of a row: floats or doubles. */
typedef struct row_sample_scores {
  const float *floats;
  const double *doubles; /* if floats is NULL */
} row_sample_scores;

static double row_sample_score(const row_sample_scores *scores, size_t j) {
  return scores->floats != NULL ? (double)scores->floats[j] : scores->doubles[j];
}

static uint64_t row_sample_key(const row_sample_scores *scores, size_t classes, int32_t label) {
  uint64_t key = pc_sample_key_begin(label);
  size_t j = (size_t)label;
  for (size_t i = 0; i < PC_SAMPLE_KEY_SCORES; i++) {
    key = pc_sample_key_add(key, row_sample_score(scores, j));
    j = j + 1 < classes ? j + 1 : 0;
  }
  return key;
}

static int row_sample_holds(const pc_row_sample *sample, uint64_t key) {
  return pc_sample_key_within(row_sample_level(sample), key);
}

/* True if the row is in the sample, or in level start - 1, whose weight is counted. */
static int row_sample_counts(const pc_row_sample *sample, uint64_t key) {
  return row_sample_holds(sample, key) ||
         (sample->start > 0 && pc_sample_key_within(sample->start - 1, key));
}

/* Drops the rows that are not in the current level. */
static void row_sample_sift(pc_row_sample *sample) {
  for (size_t i = 0; i < sample->count;) {
    const pc_sampled_row row = sample->rows[i];
    if (row_sample_holds(sample, row.key)) {
      i++;
      continue;
    }
    sample->heavy -= ceil(row.weight);
    sample->rows[i] = sample->rows[--sample->count];
    sample->rows[sample->count] = row;
  }
}

static pcal_status row_sample_reserve(pc_row_sample *sample, pcal_error *err) {
  if (sample->count < sample->capacity)
    return PCAL_OK;
  const pcal_env *env = sample->env;
  const size_t grown = sample->capacity + sample->capacity / 2 + 16, most = sample->limit + 1;
  const size_t wanted = grown > most || sample->level > 0 ? most : grown;
  if (wanted <= sample->capacity) /* only if weights were forged */
    return pc_fail(err, PCAL_DATA, "a tally is damaged: its sample has too many rows");
  const size_t size = sample->floats ? sizeof(float) : sizeof(double);
  void *scores = pc_resize(env, sample->scores, wanted, sample->classes * size);
  sample->scores = scores == NULL ? sample->scores : scores;
  pc_sampled_row *rows = pc_resize(env, sample->rows, wanted, sizeof *rows);
  sample->rows = rows == NULL ? sample->rows : rows;
  if (scores == NULL || rows == NULL)
    return pc_fail_memory(err, "keeping a sample of rows");
  for (; sample->capacity < wanted; sample->capacity++)
    rows[sample->capacity].slot = sample->capacity;
  return PCAL_OK;
}

/* Copies scores; floats stay floats.  Returns 0 if they are not finite: floats are read from
 * the caller's memory, which may have changed since the check. */
static int row_sample_copy(pc_row_sample *sample, size_t slot,
                           const row_sample_scores *scores) {
  const size_t k = sample->classes;
  float *floats = (float *)sample->scores + slot * k;
  double *doubles = (double *)sample->scores + slot * k;
  if (sample->floats && scores->floats != NULL)
    memcpy(floats, scores->floats, k * sizeof *floats);
  for (size_t j = 0; sample->floats && scores->floats == NULL && j < k; j++)
    floats[j] = (float)scores->doubles[j];
  for (size_t j = 0; !sample->floats && j < k; j++)
    doubles[j] = row_sample_score(scores, j);
  int finite = 1;
  for (size_t j = 0; scores->floats != NULL && j < k; j++)
    finite &= sample->floats ? isfinite(floats[j]) != 0 : isfinite(doubles[j]) != 0;
  return finite;
}

/* Adds a row, under the lock; its slot is not set yet. */
static pcal_status row_sample_take(pc_row_sample *sample, const row_sample_scores *scores,
                                   pc_sampled_row row, pcal_error *err) {
  if (!row_sample_holds(sample, row.key)) {
    sample->passed += ceil(row.weight);
    return PCAL_OK;
  }
  if (sample->capacity == 0)
    sample->floats = scores->floats != NULL;
  PC_TRY(row_sample_reserve(sample, err));
  row.slot = sample->rows[sample->count].slot;
  if (!row_sample_copy(sample, row.slot, scores))
    return PCAL_OK;
  sample->rows[sample->count++] = row;
  sample->heavy += ceil(row.weight);
  while (sample->heavy > (double)sample->limit) {
    atomic_fetch_add_explicit(&sample->level, 1, memory_order_relaxed);
    row_sample_sift(sample);
  }
  return PCAL_OK;
}

static pcal_status row_sample_offer(pc_row_sample *sample, const row_sample_scores *scores,
                                    pc_sampled_row row, pcal_error *err) {
  if (scores->floats != NULL) {
    int finite;
    row.top_label =
        (int32_t)pc_kernels_best()->row->top_f32(scores->floats, sample->classes, &finite);
    if (!finite)
      return PCAL_OK;
  }
  pc_mutex_lock(&sample->lock);
  const pcal_status status = row_sample_take(sample, scores, row, err);
  pc_mutex_unlock(&sample->lock);
  return status;
}

/* Prefetches the scores that the keys of the next rows use. */
static void row_sample_fetch(const pc_rows *rows, size_t begin) {
  for (size_t i = begin; rows->flat != NULL && i < rows->count && i < begin + ROW_SAMPLE_FETCH;
       i++)
    pc_prefetch(pc_rows_floats(rows, i) + rows->labels[i], 1, 0);
}

pcal_status pc_row_sample_add(pc_row_sample *sample, const pc_rows *rows, pcal_error *err) {
  for (size_t i = 0; i < rows->count; i++) {
    if (i % ROW_SAMPLE_FETCH == 0)
      row_sample_fetch(rows, i);
    row_sample_scores scores = {pc_rows_floats(rows, i), NULL};
    if (scores.floats == NULL)
      scores.doubles = rows->scores + i * rows->classes;
    const pc_sampled_row row = {.key = row_sample_key(&scores, rows->classes, rows->labels[i]),
                                .weight = rows->weights == NULL ? 1.0 : rows->weights[i],
                                .label = rows->labels[i],
                                .top_label = scores.floats == NULL ? rows->top_label[i] : 0};
    if (row_sample_counts(sample, row.key))
      PC_TRY(row_sample_offer(sample, &scores, row, err));
  }
  return PCAL_OK;
}

/* ---- Fits by rounds ---- */

#define ROW_SAMPLE_HEAD 3 /* weight, label and top label of a row, before its scores */

static pcal_status row_sample_give(const pc_row_sample *sample, pc_fit_fields *fields,
                                   pc_fit_field *field, double *row, pcal_error *err) {
  pc_fit_field_raise(field, row_sample_level(sample));
  for (size_t i = 0; i < sample->count; i++) {
    row[0] = sample->rows[i].weight;
    row[1] = sample->rows[i].label;
    row[2] = sample->rows[i].top_label;
    for (size_t j = 0; j < sample->classes; j++)
      row[ROW_SAMPLE_HEAD + j] = sample->floats ? (double)pc_row_sample_floats(sample, i)[j]
                                                : pc_row_sample_doubles(sample, i)[j];
    PC_TRY(pc_fit_field_add_row(fields, field, sample->rows[i].key, row, err));
  }
  return PCAL_OK;
}

/* Reads a class; returns 0 if the number is none. */
static int row_sample_class(const pc_row_sample *sample, double number, int32_t *out) {
  if (!(number >= 0.0 && number < (double)sample->classes))
    return 0;
  *out = (int32_t)number;
  return 1;
}

static pcal_status row_sample_take_all(pc_row_sample *sample, const pc_fit_field *field,
                                       pcal_error *err) {
  atomic_store_explicit(&sample->level, field->level, memory_order_relaxed);
  for (size_t i = 0; i < field->count; i++) {
    const double *row = (const double *)field->items + i * field->width;
    const row_sample_scores scores = {NULL, row + ROW_SAMPLE_HEAD};
    pc_sampled_row taken = {.key = field->keys[i], .weight = row[0]};
    if (!row_sample_class(sample, row[1], &taken.label) ||
        !row_sample_class(sample, row[2], &taken.top_label))
      return pc_fail(err, PCAL_DATA,
                     "the request or a tally is damaged: it names a class that does not exist");
    PC_TRY(row_sample_take(sample, &scores, taken, err));
  }
  return PCAL_OK;
}

pcal_status pc_row_sample_list(pc_row_sample *sample, pc_fit_fields *fields, pcal_error *err) {
  const size_t width = ROW_SAMPLE_HEAD + sample->classes;
  pc_fit_field *field = NULL;
  PC_TRY(pc_fit_field_rows(fields, PC_FIT_SAMPLE, width, sample->limit, &field, err));
  if (fields->taking)
    return row_sample_take_all(sample, field, err);
  double *row = pc_alloc_raw(sample->env, width, sizeof *row);
  if (row == NULL)
    return pc_fail_memory(err, "keeping a sample of rows");
  const pcal_status status = row_sample_give(sample, fields, field, row, err);
  pc_free(sample->env, row);
  return status;
}
