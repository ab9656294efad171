#include "curve/bucket_splits.h"

pcal_status pc_bucket_splits_new(const pcal_env *env, size_t buckets, pc_bucket_splits **out,
                                 pcal_error *err) {
  *out = pc_alloc(env, 1, sizeof **out + buckets);
  return *out == NULL ? pc_fail_memory(err, "preparing curves") : PCAL_OK;
}

void pc_bucket_splits_insert(pc_bucket_splits *ends, double at, size_t bucket) {
  size_t place = ends->count;
  while (place > 0 && ends->at[place - 1] >= at)
    place--;
  if (ends->count == PC_BUCKET_SPLITS_MAX || (place < ends->count && ends->at[place] == at))
    return;
  for (size_t e = ends->count++; e > place; e--) {
    ends->at[e] = ends->at[e - 1];
    ends->bucket[e] = ends->bucket[e - 1];
  }
  ends->at[place] = at;
  ends->bucket[place] = bucket;
  ends->cut[bucket] = 1;
  pc_bucket_splits_clear(ends);
}

void pc_bucket_splits_clear(pc_bucket_splits *ends) {
  for (size_t e = 0; e < ends->count; e++)
    ends->below[e] = ends->above[e] = pc_segment_none;
}

void pc_bucket_splits_add(pc_bucket_splits *ends, size_t bucket, double score, int hit) {
  size_t low = 0, high = ends->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (ends->at[middle] < score)
      low = middle + 1;
    else
      high = middle;
  }
  pc_segment *segment = low < ends->count && ends->bucket[low] == bucket
                            ? &ends->below[low]
                            : &ends->above[low - 1];
  pc_segment_add(segment, score, 1, (uint64_t)hit);
}

void pc_bucket_splits_merge(pc_bucket_splits *into, const pc_bucket_splits *from) {
  for (size_t e = 0; e < into->count; e++) {
    pc_segment_join(&into->below[e], &from->below[e]);
    pc_segment_join(&into->above[e], &from->above[e]);
  }
}

size_t pc_bucket_splits_read(const pc_bucket_splits *ends, size_t bucket, size_t *next,
                             pc_segment *out) {
  size_t count = 0;
  for (; *next < ends->count && ends->bucket[*next] == bucket; (*next)++) {
    if (ends->below[*next].rows > 0)
      out[count++] = ends->below[*next];
    if (ends->above[*next].rows > 0)
      out[count++] = ends->above[*next];
  }
  return count;
}
