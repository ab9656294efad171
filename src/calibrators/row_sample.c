#include "calibrators/row_sample.h"

#include <math.h>
#include <string.h>

#include "core/binary.h"

#define ROW_SAMPLE_LOOKS 3 /* scores that go into a key besides that of the label */

void pc_row_sample_init(pc_row_sample *sample, const pcal_env *env, size_t classes,
                        size_t limit) {
  *sample = (pc_row_sample){.env = env, .classes = classes, .limit = (double)limit};
}

void pc_row_sample_free(pc_row_sample *sample) {
  if (sample->env == NULL)
    return;
  pc_free(sample->env, sample->scores);
  pc_free(sample->env, sample->weights);
  pc_free(sample->env, sample->labels);
  pc_free(sample->env, sample->keys);
  *sample = (pc_row_sample){0};
}

/* Mixes as the finaliser of SplitMix64 does. */
static uint64_t row_sample_mix(uint64_t key) {
  key = (key ^ (key >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  key = (key ^ (key >> 27)) * UINT64_C(0x94d049bb133111eb);
  return key ^ (key >> 31);
}

static uint64_t row_sample_key(const double *scores, size_t classes, int32_t label) {
  uint64_t key = row_sample_mix((uint64_t)label + UINT64_C(0x9e3779b97f4a7c15));
  key = row_sample_mix(key ^ pc_bits_of(scores[label] + 0.0));
  for (size_t i = 0; i < ROW_SAMPLE_LOOKS; i++)
    key = row_sample_mix(key +
                         pc_bits_of(scores[i * (classes - 1) / (ROW_SAMPLE_LOOKS - 1)] + 0.0));
  return key;
}

static int row_sample_holds(const pc_row_sample *sample, uint64_t key) {
  return sample->level == 0 || (sample->level < 64 && key >> (64 - sample->level) == 0);
}

/* Drops what the level no longer holds. */
static void row_sample_sift(pc_row_sample *sample) {
  const size_t k = sample->classes;
  size_t kept = 0;
  for (size_t i = 0; i < sample->count; i++) {
    if (!row_sample_holds(sample, sample->keys[i])) {
      sample->heavy -= ceil(sample->weights[i]);
      continue;
    }
    if (kept != i)
      memcpy(sample->scores + kept * k, sample->scores + i * k, k * sizeof(double));
    sample->weights[kept] = sample->weights[i];
    sample->labels[kept] = sample->labels[i];
    sample->keys[kept++] = sample->keys[i];
  }
  sample->count = kept;
}

static pcal_status row_sample_reserve(pc_row_sample *sample, pcal_error *err) {
  if (sample->count < sample->capacity)
    return PCAL_OK;
  const pcal_env *env = sample->env;
  const size_t wanted = sample->capacity + sample->capacity / 2 + 16;
  double *scores =
      pc_resize(env, sample->scores, wanted, sample->classes * sizeof *sample->scores);
  sample->scores = scores == NULL ? sample->scores : scores;
  double *weights = pc_resize(env, sample->weights, wanted, sizeof *sample->weights);
  sample->weights = weights == NULL ? sample->weights : weights;
  int32_t *labels = pc_resize(env, sample->labels, wanted, sizeof *sample->labels);
  sample->labels = labels == NULL ? sample->labels : labels;
  uint64_t *keys = pc_resize(env, sample->keys, wanted, sizeof *sample->keys);
  sample->keys = keys == NULL ? sample->keys : keys;
  if (scores == NULL || weights == NULL || labels == NULL || keys == NULL)
    return pc_fail_memory(err, "keeping a sample of rows");
  sample->capacity = wanted;
  return PCAL_OK;
}

static pcal_status row_sample_take(pc_row_sample *sample, const double *scores, double weight,
                                   int32_t label, uint64_t key, pcal_error *err) {
  if (!row_sample_holds(sample, key))
    return PCAL_OK;
  PC_TRY(row_sample_reserve(sample, err));
  memcpy(sample->scores + sample->count * sample->classes, scores,
         sample->classes * sizeof *scores);
  sample->weights[sample->count] = weight;
  sample->labels[sample->count] = label;
  sample->keys[sample->count++] = key;
  sample->heavy += ceil(weight);
  while (sample->heavy > sample->limit) {
    sample->level++;
    row_sample_sift(sample);
  }
  return PCAL_OK;
}

pcal_status pc_row_sample_add(pc_row_sample *sample, const pc_rows *rows, pcal_error *err) {
  for (size_t i = 0; i < rows->count; i++) {
    const double *scores = rows->scores + i * rows->classes;
    const double weight = rows->weights == NULL ? 1.0 : rows->weights[i];
    const uint64_t key = row_sample_key(scores, rows->classes, rows->labels[i]);
    PC_TRY(row_sample_take(sample, scores, weight, rows->labels[i], key, err));
  }
  return PCAL_OK;
}

pcal_status pc_row_sample_merge(pc_row_sample *into, const pc_row_sample *from,
                                pcal_error *err) {
  if (from->level > into->level) {
    into->level = from->level;
    row_sample_sift(into);
  }
  for (size_t i = 0; i < from->count; i++)
    PC_TRY(row_sample_take(into, from->scores + i * from->classes, from->weights[i],
                           from->labels[i], from->keys[i], err));
  return PCAL_OK;
}
