#include "curve/class_sums.h"

#include "base/assert.h"
#include "kernels/dispatch.h"

#define SUMS_TOGETHER 8 /* classes: one cache line of a row */

/* ---- segments ---- */

void pc_class_segments_free(pc_class_segments *segments) {
  if (segments->env == NULL)
    return;
  pc_free(segments->env, segments->segment);
  pc_free(segments->env, segments->first);
  pc_free(segments->env, segments->keeps);
  *segments = (pc_class_segments){0};
}

/* Fills the segments of the buckets of one class.  Buckets without rows belong to the segment
 * around or after them. */
static void class_segments_fill(const pc_class_bucket_rule *rule, const pc_bucket_curve *curve,
                                const pc_refine_targets *targets, uint16_t *out) {
  const size_t buckets = pc_class_bucket_count(rule);
  size_t segment = 0, t = 0;
  for (size_t b = 0; b < buckets; b++) {
    while (segment + 1 < curve->count &&
           curve->segments[segment].high < pc_class_bucket_low(rule, b))
      segment++;
    while (t < targets->count && targets->list[t].segment < segment)
      t++;
    const int wanted = t < targets->count && targets->list[t].segment == segment;
    out[b] = (uint16_t)(segment | (wanted ? PC_CLASS_WANTED : 0));
  }
}

static int class_segments_keep(const pc_refine_targets *targets) {
  const pc_bucket_tally any = {.targets = targets};
  return pc_bucket_tally_keeps(&any);
}

pcal_status pc_class_segments_new(const pcal_env *env, size_t classes,
                                  pc_bucket_curve *const *curves,
                                  const pc_refine_targets *targets, pc_class_segments *out,
                                  pcal_error *err) {
  *out = (pc_class_segments){
      .env = env, .classes = classes, .rule = pc_class_bucket_rule_for(classes)};
  const size_t buckets = pc_class_bucket_count(&out->rule);
  out->segment = pc_alloc_raw(env, classes * buckets, sizeof *out->segment);
  out->first = pc_alloc(env, classes + 1, sizeof *out->first);
  out->keeps = pc_alloc(env, classes, sizeof *out->keeps);
  if (out->segment == NULL || out->first == NULL || out->keeps == NULL) {
    pc_class_segments_free(out);
    return pc_fail_memory(err, "refining a curve");
  }
  for (size_t j = 0; j < classes; j++) {
    pc_assert(curves[j]->count > 0 && curves[j]->count < PC_CLASS_WANTED);
    out->first[j + 1] = out->first[j] + curves[j]->count;
    out->keeps[j] = (uint8_t)class_segments_keep(&targets[j]);
    class_segments_fill(&out->rule, curves[j], &targets[j], out->segment + j * buckets);
  }
  return PCAL_OK;
}

/* ---- sums ---- */

pcal_status pc_class_sums_new(const pcal_env *env, const pc_class_segments *segments,
                              pc_class_sums *out, pcal_error *err) {
  const size_t count = segments->first[segments->classes];
  const size_t rows = pc_class_block_rows(segments->classes);
  *out = (pc_class_sums){.env = env, .segments = segments};
  out->score = pc_alloc(env, count, sizeof *out->score);
  out->hits = pc_alloc(env, count, sizeof *out->hits);
  out->bucket = pc_alloc_raw(env, rows * segments->classes, sizeof *out->bucket);
  out->found = pc_alloc_raw(env, rows * SUMS_TOGETHER, sizeof *out->found);
  if (out->score != NULL && out->hits != NULL && out->bucket != NULL && out->found != NULL)
    return PCAL_OK;
  pc_class_sums_free(out);
  return pc_fail_memory(err, "refining a curve");
}

void pc_class_sums_free(pc_class_sums *sums) {
  if (sums->env == NULL)
    return;
  pc_free(sums->env, sums->score);
  pc_free(sums->env, sums->hits);
  pc_free(sums->env, sums->bucket);
  pc_free(sums->env, sums->found);
  *sums = (pc_class_sums){0};
}

/* Some rows; `bucket` holds the buckets of their scores. */
typedef struct sums_block {
  const double *probs;
  const int32_t *labels;
  size_t rows;
} sums_block;

/* Adds classes [first, first + some) of the rows.  Returns how many scores lie in wanted
 * segments; found: SUMS_TOGETHER * row + class - first. */
static size_t class_sums_classes(pc_class_sums *sums, const sums_block *block, size_t first,
                                 size_t some) {
  const pc_class_segments *segments = sums->segments;
  const size_t k = segments->classes, buckets = pc_class_bucket_count(&segments->rule);
  const uint16_t *segment = segments->segment + first * buckets;
  pc_fixed *into[SUMS_TOGETHER] = {NULL};
  size_t found = 0;
  for (size_t l = 0; l < some; l++)
    into[l] = sums->score + segments->first[first + l];
  for (size_t i = 0; i < block->rows; i++) {
    const double *score = block->probs + i * k + first;
    const uint16_t *bucket = sums->bucket + i * k + first;
    for (size_t l = 0; l < some; l++) {
      const uint16_t at = segment[l * buckets + bucket[l]];
      pc_fixed_add(&into[l][at % PC_CLASS_WANTED], score[l]);
      sums->found[found] = (uint16_t)(i * SUMS_TOGETHER + l);
      found += at / PC_CLASS_WANTED;
    }
  }
  return found;
}

static pcal_status class_sums_found(const pc_class_sums *sums, const sums_block *block,
                                    size_t first, size_t found, pc_bucket_tally *tallies,
                                    pcal_error *err) {
  for (size_t f = 0; f < found; f++) {
    const size_t i = sums->found[f] / SUMS_TOGETHER;
    const size_t j = first + sums->found[f] % SUMS_TOGETHER;
    const double score = block->probs[i * sums->segments->classes + j];
    const uint8_t hit = (size_t)block->labels[i] == j;
    PC_TRY(sums->segments->keeps[j] ? pc_bucket_tally_keep(&tallies[j], score, hit, err)
                                    : pc_bucket_tally_add(&tallies[j], &score, &hit, 1, err));
  }
  return PCAL_OK;
}

static void class_sums_hits(pc_class_sums *sums, const sums_block *block) {
  const pc_class_segments *segments = sums->segments;
  const size_t k = segments->classes, buckets = pc_class_bucket_count(&segments->rule);
  for (size_t i = 0; i < block->rows; i++) {
    const size_t j = (size_t)block->labels[i];
    const uint16_t at = segments->segment[j * buckets + sums->bucket[i * k + j]];
    pc_class_hits *hits = &sums->hits[segments->first[j] + at % PC_CLASS_WANTED];
    pc_fixed_add(&hits->score, block->probs[i * k + j]);
    hits->rows++;
  }
}

pcal_status pc_class_sums_add(pc_class_sums *sums, const pc_rows *rows,
                              pc_bucket_tally *tallies, pcal_error *err) {
  const size_t k = sums->segments->classes, most = pc_class_block_rows(k);
  for (size_t begin = 0; begin < rows->count; begin += most) {
    const size_t left = rows->count - begin;
    const sums_block block = {rows->probs + begin * k, rows->labels + begin,
                              left < most ? left : most};
    pc_kernels_best()->bin_index->class_buckets(block.probs, block.rows * k,
                                                &sums->segments->rule, sums->bucket);
    for (size_t first = 0; first < k; first += SUMS_TOGETHER) {
      const size_t some = k - first < SUMS_TOGETHER ? k - first : SUMS_TOGETHER;
      const size_t found = class_sums_classes(sums, &block, first, some);
      PC_TRY(class_sums_found(sums, &block, first, found, tallies, err));
    }
    class_sums_hits(sums, &block);
  }
  return PCAL_OK;
}

void pc_class_sums_read(const pc_class_sums *sums, size_t class_index, pc_bucket_curve *curve) {
  const size_t first = sums->segments->first[class_index];
  for (size_t s = 0; s < curve->count; s++) {
    pc_segment *segment = &curve->segments[s];
    segment->score.units += sums->score[first + s].units;
    segment->hit_score.units += sums->hits[first + s].score.units;
    segment->hits += sums->hits[first + s].rows;
  }
}
