/* Distinct rows are sorted by key, then by content.  Equal neighbours become one row with a
 * number of copies.  Rows that share a key but differ (in weight, cluster, or by a hash
 * collision) get keys of their own, numbered in that order.  So the result depends neither on
 * the order of rows nor on whether a row is repeated or has a weight. */
#include <math.h>
#include <string.h>

#include "base/executor.h"
#include "base/rng.h"
#include "machines/rows_state.h"

#define ROWS_DISTINCT_RANGES 64      /* of keys, each sorted by one task */
#define ROWS_DISTINCT_KEY_COST 100.0 /* nanoseconds, for the executor */

/* A row and its key, for sorting. */
typedef struct row_key {
  uint64_t key;
  size_t row;
} row_key;

typedef struct distinct_job {
  const pc_rows_state *state;
  const pc_distinct_rule *how;
} distinct_job;

static uint64_t rows_distinct_cluster(const distinct_job *job, size_t row) {
  const uint32_t *clusters = job->state->column[PC_ROWS_CLUSTERS].data;
  if (job->state->column[PC_ROWS_CLUSTERS].per_row == 0)
    return 0;
  return clusters[row] < job->how->cluster_count ? job->how->cluster_keys[clusters[row]]
                                                 : clusters[row];
}

static int rows_distinct_differ(double a, double b) {
  return (a > b) - (a < b);
}

/* Compares the contents of two rows with the same key. */
static int rows_distinct_compare(const distinct_job *job, size_t a, size_t b) {
  const pc_rows_column *column = job->state->column;
  const int32_t *labels = column[PC_ROWS_LABELS].data, *top = column[PC_ROWS_TOP].data;
  const double *score = column[PC_ROWS_SCORE].data, *probs = column[PC_ROWS_PROBS].data;
  const double *weights = column[PC_ROWS_WEIGHTS].data;
  const size_t wide = column[PC_ROWS_PROBS].per_row;
  const uint64_t here = rows_distinct_cluster(job, a), there = rows_distinct_cluster(job, b);
  int sign = (labels[a] > labels[b]) - (labels[a] < labels[b]);
  if (sign == 0 && column[PC_ROWS_SCORE].per_row > 0)
    sign = rows_distinct_differ(score[a], score[b]);
  if (sign == 0 && column[PC_ROWS_TOP].per_row > 0)
    sign = (top[a] > top[b]) - (top[a] < top[b]);
  for (size_t k = 0; sign == 0 && k < wide; k++)
    sign = rows_distinct_differ(probs[a * wide + k], probs[b * wide + k]);
  if (sign == 0)
    sign = (here > there) - (here < there);
  return sign == 0 && job->how->importance ? rows_distinct_differ(weights[a], weights[b])
                                           : sign;
}

static int rows_distinct_in_order(const distinct_job *job, const row_key *a, const row_key *b) {
  if (a->key != b->key)
    return a->key < b->key;
  return rows_distinct_compare(job, a->row, b->row) <= 0;
}

#define PC_SORT_NAME rows_distinct_sort_keys
#define PC_SORT_TYPE row_key
#define PC_SORT_CONTEXT const distinct_job *
#define PC_SORT_IN_ORDER rows_distinct_in_order
#include "base/stable_sort.h"

static pcal_status rows_distinct_repeated(const distinct_job *job, size_t a, size_t b,
                                          pcal_error *err) {
  const uint64_t *ids = job->state->column[PC_ROWS_IDS].data;
  const uint64_t low = ids[a] < ids[b] ? ids[a] : ids[b];
  const uint64_t high = ids[a] < ids[b] ? ids[b] : ids[a];
  return pc_fail_row(err, PCAL_DATA, high,
                     "rows %llu and %llu have the same id; an id names one row: give each row "
                     "its own, and rows that belong together a cluster",
                     (unsigned long long)low, (unsigned long long)high);
}

/* Joins equal neighbours: order[d] becomes the first row of distinct row d.  Fills its key and
 * its number of copies; *count: the number of distinct rows. */
static pcal_status rows_distinct_join(const distinct_job *job, const row_key *keys,
                                      size_t *order, uint64_t *drawn, double *copies,
                                      size_t *count, pcal_error *err) {
  const double *weights = job->state->column[PC_ROWS_WEIGHTS].data;
  uint64_t number = 0;
  *count = 0;
  for (size_t i = 0; i < job->state->count; i++) {
    const size_t row = keys[i].row;
    const int met = i > 0 && keys[i].key == keys[i - 1].key;
    const int same = met && !job->how->by_position;
    /* Frequencies are integers, except in manipulated files. */
    const double more = job->how->importance ? 1.0 : fmax(floor(weights[row] + 0.5), 1.0);
    if (met && job->how->identified)
      return rows_distinct_repeated(job, keys[i - 1].row, row, err);
    if (same && rows_distinct_compare(job, keys[i - 1].row, row) == 0) {
      copies[*count - 1] += more;
      continue;
    }
    number = same ? number + 1 : 0;
    order[*count] = row;
    drawn[*count] = number == 0 ? keys[i].key : pc_hash_u64(keys[i].key + number);
    copies[(*count)++] = more;
  }
  return PCAL_OK;
}

/* Keys, divided by their size into ranges that are sorted one by one. */
typedef struct key_ranges {
  const distinct_job *job;
  row_key *keys, *spare;
  size_t begin[ROWS_DISTINCT_RANGES + 1];
} key_ranges;

static pcal_status rows_distinct_sort_range(void *user, size_t range, size_t worker,
                                            pcal_error *err) {
  const key_ranges *all = user;
  const size_t begin = all->begin[range], count = all->begin[range + 1] - begin;
  (void)worker;
  (void)err;
  memcpy(all->keys + begin, all->spare + begin, count * sizeof *all->keys);
  rows_distinct_sort_keys(all->job, all->keys + begin, all->spare + begin, count);
  return PCAL_OK;
}

/* Sorts as rows_distinct_sort_keys does, with all threads: keys go to ranges in their order. */
static pcal_status rows_distinct_sort_ranges(const pcal_env *env, const distinct_job *job,
                                             row_key *keys, size_t n, pcal_error *err) {
  key_ranges all = {.job = job, .keys = keys, .spare = keys + n};
  uint64_t low = UINT64_MAX, high = 0;
  unsigned shift = 0;
  size_t next[ROWS_DISTINCT_RANGES];
  for (size_t i = 0; i < n; i++) {
    low = keys[i].key < low ? keys[i].key : low;
    high = keys[i].key > high ? keys[i].key : high;
  }
  while ((high - low) >> shift >= ROWS_DISTINCT_RANGES)
    shift++;
  for (size_t i = 0; i < n; i++)
    all.begin[((keys[i].key - low) >> shift) + 1]++;
  for (size_t r = 0; r < ROWS_DISTINCT_RANGES; r++) {
    all.begin[r + 1] += all.begin[r];
    next[r] = all.begin[r];
  }
  for (size_t i = 0; i < n; i++)
    all.spare[next[(keys[i].key - low) >> shift]++] = keys[i];
  return pc_run(env, ROWS_DISTINCT_RANGES, ROWS_DISTINCT_KEY_COST * (double)n,
                rows_distinct_sort_range, &all, err);
}

static pcal_status rows_distinct_order_keys(const pcal_env *env, const distinct_job *job,
                                            row_key **out, pcal_error *err) {
  const size_t n = job->state->count;
  const int indices = job->how->by_position && !job->how->identified;
  const uint64_t *from = job->state->column[indices ? PC_ROWS_IDS : PC_ROWS_KEYS].data;
  row_key *keys = pc_alloc_raw(env, 2 * n, sizeof *keys);
  if (keys == NULL)
    return pc_fail_memory(err, "ordering rows");
  for (size_t i = 0; i < n; i++)
    keys[i] = (row_key){from[i], i};
  *out = keys;
  return rows_distinct_sort_ranges(env, job, keys, n, err);
}

/* Fills all columns of distinct rows except keys and copies; returns 0 without memory. */
static int rows_distinct_gather(const pcal_env *env, const distinct_job *job,
                                const size_t *order, pc_kept_rows *out) {
  pc_rows_state some = *job->state; /* the same columns, fewer rows */
  const double *weights = some.column[PC_ROWS_WEIGHTS].data;
  int enough = 1;
  some.count = out->count;
  out->labels = pc_rows_ordered(env, &some, PC_ROWS_LABELS, order, &enough);
  out->score = pc_rows_ordered(env, &some, PC_ROWS_SCORE, order, &enough);
  out->top_label = pc_rows_ordered(env, &some, PC_ROWS_TOP, order, &enough);
  out->probs = pc_rows_ordered(env, &some, PC_ROWS_PROBS, order, &enough);
  out->weights = pc_alloc_raw(env, out->count, sizeof *out->weights);
  if (some.column[PC_ROWS_CLUSTERS].per_row > 0) {
    out->clusters = pc_alloc_raw(env, out->count, sizeof *out->clusters);
    enough &= out->clusters != NULL;
  }
  for (size_t d = 0; out->weights != NULL && d < out->count; d++)
    out->weights[d] = job->how->importance ? job->how->scale * weights[order[d]] : 1.0;
  for (size_t d = 0; out->clusters != NULL && d < out->count; d++)
    out->clusters[d] = rows_distinct_cluster(job, order[d]);
  return enough && out->weights != NULL;
}

pcal_status pc_machine_rows_distinct(const pcal_env *env, const void *opaque,
                                     const pc_distinct_rule *how, pc_evidence *out,
                                     pcal_error *err) {
  const distinct_job job = {opaque, how};
  const size_t n = job.state->count;
  row_key *keys = NULL;
  const pcal_status sorted = rows_distinct_order_keys(env, &job, &keys, err);
  if (sorted != PCAL_OK) {
    pc_free(env, keys);
    return sorted;
  }
  size_t *order = pc_alloc_raw(env, n, sizeof *order);
  out->kept = (pc_kept_rows){.classes = job.state->classes,
                             .ids = pc_alloc_raw(env, n, sizeof(uint64_t)),
                             .copies = pc_alloc_raw(env, n, sizeof(double))};
  int enough = order != NULL && out->kept.ids != NULL && out->kept.copies != NULL;
  pcal_status status = PCAL_OK;
  if (enough)
    status = rows_distinct_join(&job, keys, order, out->kept.ids, out->kept.copies,
                                &out->kept.count, err);
  pc_free(env, keys);
  if (enough && status == PCAL_OK)
    enough = rows_distinct_gather(env, &job, order, &out->kept);
  pc_free(env, order);
  if (enough && status == PCAL_OK)
    return PCAL_OK;
  pc_rows_release(env, out);
  return enough ? status : pc_fail_memory(err, "ordering rows");
}
