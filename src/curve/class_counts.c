#include "curve/class_counts.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "kernels/dispatch.h"

#define COUNTS_CELLS ((size_t)1 << 22) /* about, of all classes together */
#define COUNTS_BITS_MIN 3
#define COUNTS_BITS_MAX 9
#define COUNTS_FULL UINT16_MAX /* rows */
#define COUNTS_BLOCK_SCORES 65536
#define COUNTS_BLOCK_ROWS 512
#define COUNTS_TOGETHER 8             /* classes: one cache line of a row */
#define COUNTS_FINE ((size_t)1 << 18) /* sub-buckets of a later pass, over all classes */
#define COUNTS_TARGET_LOW 48          /* powers of 2 below 1 that tell targets apart */
#define COUNTS_TARGET_BITS 3          /* with 2^3 buckets each */
#define COUNTS_DOUBLE_BITS 52         /* of a fraction */

/* ---- buckets ---- */

/* The pieces, from the smallest scores on: powers of 2 below 1 at which they begin, and how many
 * bits of a score fewer than in the last piece make its bucket. */
static const int counts_begin[PC_CLASS_PIECES + 1] = {1022, 112, 16, 0};
static const unsigned counts_coarser[PC_CLASS_PIECES] = {6, 2, 0};

static pc_class_bucket_rule class_bucket_rule(unsigned bits) {
  pc_class_bucket_rule rule = {.one = 2};
  for (size_t p = 0; p < PC_CLASS_PIECES; p++) {
    const unsigned here = bits > counts_coarser[p] ? bits - counts_coarser[p] : 0;
    rule.base[p] = ldexp(1.0, -counts_begin[p]);
    rule.shift[p] = COUNTS_DOUBLE_BITS - here;
    rule.first[p] = rule.one;
    rule.one += (uint64_t)(counts_begin[p] - counts_begin[p + 1]) << here;
  }
  return rule;
}

pc_class_bucket_rule pc_class_bucket_rule_for(size_t classes) {
  pc_class_bucket_rule rule = class_bucket_rule(COUNTS_BITS_MIN);
  for (unsigned bits = COUNTS_BITS_MIN + 1; bits <= COUNTS_BITS_MAX; bits++) {
    const pc_class_bucket_rule finer = class_bucket_rule(bits);
    if (classes * pc_class_bucket_count(&finer) <= COUNTS_CELLS)
      rule = finer;
  }
  return rule;
}

size_t pc_class_bucket_count(const pc_class_bucket_rule *rule) {
  return (size_t)rule->one + 2;
}

/* The lowest score of a bucket from 2 to rule->one. */
static double class_bucket_begin(const pc_class_bucket_rule *rule, uint64_t bucket) {
  size_t p = PC_CLASS_PIECES - 1;
  while (bucket < rule->first[p])
    p--;
  return pc_double_from_bits(pc_double_bits(rule->base[p]) +
                             ((bucket - rule->first[p]) << rule->shift[p]));
}

double pc_class_bucket_low(const pc_class_bucket_rule *rule, size_t bucket) {
  if (bucket <= 2)
    return bucket == 0 ? -1.0 : bucket == 1 ? 0.0 : nextafter(0.0, 1.0);
  return (uint64_t)bucket > rule->one ? nextafter(1.0, 2.0)
                                      : class_bucket_begin(rule, (uint64_t)bucket);
}

double pc_class_bucket_high(const pc_class_bucket_rule *rule, size_t bucket) {
  if (bucket < 2)
    return bucket == 0 ? nextafter(0.0, -1.0) : 0.0;
  if ((uint64_t)bucket >= rule->one)
    return (uint64_t)bucket == rule->one ? 1.0 : 2.0;
  return nextafter(class_bucket_begin(rule, (uint64_t)bucket + 1), 0.0);
}

size_t pc_class_block_rows(size_t classes) {
  const size_t rows = COUNTS_BLOCK_SCORES / classes;
  return rows < 1 ? 1 : rows < COUNTS_BLOCK_ROWS ? rows : COUNTS_BLOCK_ROWS;
}

/* ---- counting ---- */

static size_t class_counts_cells(const pc_class_counts *counts) {
  return counts->classes * pc_class_bucket_count(&counts->rule);
}

pcal_status pc_class_counts_new(const pcal_env *env, size_t classes, pc_class_counts *out,
                                pcal_error *err) {
  *out = (pc_class_counts){
      .env = env, .classes = classes, .rule = pc_class_bucket_rule_for(classes)};
  pc_assert(classes <= PC_CLASS_COUNTS_CLASSES_MAX);
  pc_assert(pc_class_bucket_count(&out->rule) <= UINT16_MAX);
  out->recent = pc_alloc(env, class_counts_cells(out), sizeof *out->recent);
  out->bucket = pc_alloc_raw(env, pc_class_block_rows(classes) * classes, sizeof *out->bucket);
  if (out->recent != NULL && out->bucket != NULL)
    return PCAL_OK;
  pc_class_counts_free(out);
  return pc_fail_memory(err, "preparing curves");
}

void pc_class_counts_free(pc_class_counts *counts) {
  if (counts->env == NULL)
    return;
  pc_free(counts->env, counts->recent);
  pc_free(counts->env, counts->counts);
  pc_free(counts->env, counts->bucket);
  *counts = (pc_class_counts){0};
}

void pc_class_counts_clear(pc_class_counts *counts) {
  memset(counts->recent, 0, class_counts_cells(counts) * sizeof *counts->recent);
  pc_free(counts->env, counts->counts);
  counts->counts = NULL;
  counts->pending = 0;
}

/* Moves recent counts to those of all rows. */
static pcal_status class_counts_settle(pc_class_counts *counts, pcal_error *err) {
  const size_t cells = class_counts_cells(counts);
  if (counts->counts == NULL)
    counts->counts = pc_alloc(counts->env, cells, sizeof *counts->counts);
  if (counts->counts == NULL)
    return pc_fail_memory(err, "preparing curves");
  for (size_t i = 0; i < cells; i++)
    counts->counts[i] += counts->recent[i];
  memset(counts->recent, 0, cells * sizeof *counts->recent);
  counts->pending = 0;
  return PCAL_OK;
}

static void class_counts_block(pc_class_counts *counts, const double *probs, size_t rows) {
  const size_t k = counts->classes, buckets = pc_class_bucket_count(&counts->rule);
  pc_kernels_best()->bin_index->class_buckets(probs, rows * k, &counts->rule, counts->bucket);
  for (size_t first = 0; first < k; first += COUNTS_TOGETHER) {
    const size_t some = k - first < COUNTS_TOGETHER ? k - first : COUNTS_TOGETHER;
    uint16_t *recent = counts->recent + first * buckets;
    for (size_t i = 0; i < rows; i++) {
      const uint16_t *at = counts->bucket + i * k + first;
      for (size_t l = 0; l < some; l++)
        recent[l * buckets + at[l]]++;
    }
  }
}

pcal_status pc_class_counts_add(pc_class_counts *counts, const pc_rows *rows, pcal_error *err) {
  const size_t block = pc_class_block_rows(counts->classes);
  for (size_t begin = 0; begin < rows->count; begin += block) {
    const size_t left = rows->count - begin, some = left < block ? left : block;
    if (counts->pending + some > COUNTS_FULL)
      PC_TRY(class_counts_settle(counts, err));
    class_counts_block(counts, rows->probs + begin * counts->classes, some);
    counts->pending += some;
  }
  return PCAL_OK;
}

pcal_status pc_class_counts_join(pc_class_counts *counts, const uint32_t *cells,
                                 pcal_error *err) {
  PC_TRY(class_counts_settle(counts, err));
  for (size_t i = 0; i < class_counts_cells(counts); i++)
    counts->counts[i] += cells[i];
  return PCAL_OK;
}

/* ---- merging ---- */

/* True if two-byte counters can be added without overflow. */
static int class_counts_addable(const pc_class_counts *into, const pc_class_counts *from) {
  return into->counts == NULL && from->counts == NULL &&
         into->pending + from->pending <= COUNTS_FULL;
}

pcal_status pc_class_counts_prepare(pc_class_counts *into, const pc_class_counts *from,
                                    pcal_error *err) {
  return class_counts_addable(into, from) ? PCAL_OK : class_counts_settle(into, err);
}

void pc_class_counts_merge(pc_class_counts *into, const pc_class_counts *from) {
  const size_t cells = class_counts_cells(into);
  if (into->counts == NULL) {
    for (size_t i = 0; i < cells; i++)
      into->recent[i] = (uint16_t)(into->recent[i] + from->recent[i]);
    into->pending += from->pending;
    return;
  }
  for (size_t i = 0; i < cells; i++)
    into->counts[i] += from->recent[i] + (from->counts == NULL ? 0 : from->counts[i]);
}

/* ---- reading ---- */

/* The buckets by which targets of later passes are looked up: fewer than those of the first
 * pass, since every class has its own. */
static pc_bucket_layout class_counts_layout(const pc_class_counts *counts) {
  const size_t fine = COUNTS_FINE / counts->classes;
  return (pc_bucket_layout){.by_bits = 1,
                            .base = pc_score_key(ldexp(1.0, -COUNTS_TARGET_LOW)),
                            .shift = COUNTS_DOUBLE_BITS - COUNTS_TARGET_BITS,
                            .count = (COUNTS_TARGET_LOW << COUNTS_TARGET_BITS) + 1,
                            .fine = fine < 64 ? 64 : fine};
}

pcal_status pc_class_counts_curve(const pcal_env *env, const pc_class_counts *counts,
                                  size_t class_index, pc_bucket_curve *out, pcal_error *err) {
  const size_t buckets = pc_class_bucket_count(&counts->rule), at = class_index * buckets;
  const uint16_t *recent = counts->recent + at;
  size_t used = 0;
  for (size_t b = 0; b < buckets; b++)
    used += recent[b] > 0 || (counts->counts != NULL && counts->counts[at + b] > 0);
  *out =
      (pc_bucket_curve){.env = env, .layout = class_counts_layout(counts), .counted_only = 1};
  out->segments = pc_alloc_raw(env, used, sizeof *out->segments);
  if (out->segments == NULL)
    return pc_fail_memory(err, "building a curve");
  for (size_t b = 0; b < buckets; b++) {
    const uint64_t rows = recent[b] + (counts->counts == NULL ? 0 : counts->counts[at + b]);
    if (rows == 0)
      continue;
    pc_segment *segment = &out->segments[out->count++];
    *segment = pc_segment_none;
    segment->rows = rows;
    segment->low = pc_class_bucket_low(&counts->rule, b);
    segment->high = pc_class_bucket_high(&counts->rule, b);
    out->total += rows;
  }
  return PCAL_OK;
}
