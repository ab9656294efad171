#include "curve/bucket_splits.h"

pcal_status pc_bucket_splits_new(const pcal_env *env, size_t buckets, pc_bucket_splits **out,
                                 pcal_error *err) {
  *out = pc_alloc(env, 1, sizeof **out + buckets);
  return *out == NULL ? pc_fail_memory(err, "preparing curves") : PCAL_OK;
}

void pc_bucket_splits_insert(pc_bucket_splits *splits, double at, size_t bucket) {
  size_t place = splits->count;
  while (place > 0 && splits->at[place - 1] >= at)
    place--;
  if (splits->count == PC_BUCKET_SPLITS_MAX ||
      (place < splits->count && splits->at[place] == at))
    return;
  for (size_t e = splits->count++; e > place; e--) {
    splits->at[e] = splits->at[e - 1];
    splits->bucket[e] = splits->bucket[e - 1];
  }
  splits->at[place] = at;
  splits->bucket[place] = bucket;
  splits->is_split[bucket] = 1;
  pc_bucket_splits_clear(splits);
}

void pc_bucket_splits_clear(pc_bucket_splits *splits) {
  for (size_t e = 0; e < splits->count; e++)
    splits->below[e] = splits->above[e] = pc_segment_none;
}

void pc_bucket_splits_add(pc_bucket_splits *splits, size_t bucket, double score, int hit) {
  size_t low = 0, high = splits->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (splits->at[middle] < score)
      low = middle + 1;
    else
      high = middle;
  }
  pc_segment *segment = low < splits->count && splits->bucket[low] == bucket
                            ? &splits->below[low]
                            : &splits->above[low - 1];
  pc_segment_add(segment, score, 1, (uint64_t)hit);
}

void pc_bucket_splits_merge(pc_bucket_splits *into, const pc_bucket_splits *from) {
  for (size_t e = 0; e < into->count; e++) {
    pc_segment_join(&into->below[e], &from->below[e]);
    pc_segment_join(&into->above[e], &from->above[e]);
  }
}

size_t pc_bucket_splits_read(const pc_bucket_splits *splits, size_t bucket, size_t *next,
                             pc_segment *out) {
  size_t count = 0;
  for (; *next < splits->count && splits->bucket[*next] == bucket; (*next)++) {
    if (splits->below[*next].rows > 0)
      out[count++] = splits->below[*next];
    if (splits->above[*next].rows > 0)
      out[count++] = splits->above[*next];
  }
  return count;
}
