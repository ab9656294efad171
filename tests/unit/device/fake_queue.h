/* The work of fake_cuda.c that is queued on streams: copies from and to page-locked memory, clearings and
 * kernels take effect as late as a driver may let them, when the host waits for their stream.  Copies of other
 * memory of the host are done when the call returns, after the work before them on their stream, as NVIDIA's
 * driver does them.  fake_cuda_early(1): all work is done at once, as early as a driver may; 0: late.
 * Included by that file only. */
#ifndef FAKE_QUEUE_H
#define FAKE_QUEUE_H

#include "fake_kernels.h"

#define FAKE_QUEUE_MAX 256 /* then all work is done */

typedef union fake_parameters {
  pc_softmax_rows softmax;
  pc_row_sums sums;
  pc_temperature_rows temperature;
  pc_sample_rows sample;
  pc_value_sums values;
  pc_pair_sums pairs;
  pc_scaled_softmax scaled;
  pc_class_bins bins;
  pc_class_moments moments;
  pc_dirichlet_sums dirichlet;
  pc_score_buckets buckets;
  pc_score_targets targets;
  pc_prob_rows probs;
  pc_class_cells cells;
  pc_class_curves curves;
} fake_parameters;

typedef struct fake_work {
  const cuda_stream *stream;
  void *to;         /* of a copy and a clearing */
  const void *from; /* NULL: a clearing */
  size_t bytes;
  int value;        /* of a clearing */
  uintptr_t kernel; /* or 0 */
  unsigned grid, block, shared;
  int ordinal; /* the GPU of the context */
  fake_parameters parameters;
} fake_work;

static struct {
  fake_work work[FAKE_QUEUE_MAX];
  size_t count;
  int early;
} fake_queue;

FAKE_API void fake_cuda_early(int early);

void fake_cuda_early(int early) {
  fake_queue.early = early;
}

static size_t fake_pending(void) {
  return fake_queue.count;
}

static size_t fake_parameter_bytes(uintptr_t kernel) {
  const fake_parameters *p = NULL;
  return kernel < FAKE_SUMS_WIDE_F32          ? sizeof p->softmax
         : kernel < FAKE_TEMPERATURE_WIDE_F32 ? sizeof p->sums
         : kernel < FAKE_SAMPLE_F32           ? sizeof p->temperature
         : kernel < FAKE_VALUE_SUMS           ? sizeof p->sample
         : kernel < FAKE_PAIR_STRIPS          ? sizeof p->values
         : kernel < FAKE_SCALED_WIDE_F32      ? sizeof p->pairs
         : kernel < FAKE_CLASS_BINS_F32       ? sizeof p->scaled
         : kernel < FAKE_CLASS_MOMENTS_F32    ? sizeof p->bins
         : kernel < FAKE_DIRICHLET_DENSITY    ? sizeof p->moments
         : kernel < FAKE_SUMS_WIDE_FAST       ? sizeof p->dirichlet
         : kernel < FAKE_SCORE_BUCKETS        ? sizeof p->sums
         : kernel < FAKE_SCORE_SPLIT          ? sizeof p->buckets
         : kernel < FAKE_PROB_ROWS_F32        ? sizeof p->targets
         : kernel < FAKE_SUMS_COLUMNS         ? sizeof p->probs
         : kernel < FAKE_CLASS_CELLS_F32      ? sizeof p->sums
         : kernel < FAKE_CLASS_COUNTS_F32     ? sizeof p->cells
                                              : sizeof p->curves;
}

static cuda_result fake_launch(const fake_work *work) {
  const uintptr_t kernel = work->kernel;
  const void *given = &work->parameters;
  if (kernel == FAKE_SUMS_COLUMNS)
    return fake_sums(kernel, given, work->grid, work->block, work->shared);
  if (kernel >= FAKE_PROB_ROWS_F32)
    return fake_fit(kernel, given, work->grid, work->block, work->shared);
  if (kernel >= FAKE_SCORE_BUCKETS && work->shared != 0)
    return FAKE_INVALID_VALUE;
  if (kernel == FAKE_SCORE_BUCKETS)
    return fake_score_buckets(given, work->grid, work->block);
  if (kernel > FAKE_SCORE_BUCKETS)
    return fake_score_targets(kernel, given, work->grid, work->block);
  if (kernel >= FAKE_TEMPERATURE_WIDE_F32 && kernel < FAKE_SUMS_WIDE_FAST)
    return fake_fit(kernel, given, work->grid, work->block, work->shared);
  return kernel < FAKE_SUMS_WIDE_F32
             ? fake_softmax(kernel, given, work->grid, work->block, work->shared)
             : fake_sums(kernel, given, work->grid, work->block, work->shared);
}

static cuda_result fake_do(const fake_work *work) {
  cuda_result result = 0;
  fake.current[++fake.depth] = work->ordinal;
  if (work->kernel != 0)
    result = fake_launch(work);
  else if (work->from != NULL)
    memcpy(work->to, work->from, work->bytes);
  else
    memset(work->to, work->value, work->bytes);
  fake.depth--;
  return result;
}

/* Does the work of a stream, or of all, in its order; or leaves it undone.  Returns the first error. */
static cuda_result fake_finish(const cuda_stream *stream, int all, int undone) {
  cuda_result result = 0;
  size_t kept = 0;
  for (size_t i = 0; i < fake_queue.count; i++) {
    const fake_work *work = &fake_queue.work[i];
    if (!all && work->stream != stream) {
      fake_queue.work[kept++] = *work;
      continue;
    }
    const cuda_result here = undone ? 0 : fake_do(work);
    result = result != 0 ? result : here;
  }
  fake_queue.count = kept;
  return result;
}

/* Queues work; what is `at_once` is done with all before it on its stream. */
static cuda_result fake_begin(const fake_work *work, int at_once) {
  cuda_result result = fake_queue.count == FAKE_QUEUE_MAX ? fake_finish(NULL, 1, 0) : 0;
  fake_work *place = &fake_queue.work[fake_queue.count++];
  *place = *work;
  place->ordinal = fake.current[fake.depth];
  return result == 0 && (at_once || fake_queue.early) ? fake_finish(work->stream, 0, 0)
                                                      : result;
}

#endif
