#include "compare/memory_source.h"

#include <string.h>

#include "io/source.h"

/* The arrays of the rows, which grow together. */
typedef struct memory_source_arrays {
  double *scores, *targets, *weights;
  int32_t *labels;
  uint32_t *groups;
  uint64_t *ids;
  size_t count, capacity;
} memory_source_arrays;

static uint64_t memory_source_most(const pcal_env *env, size_t columns) {
  const uint64_t share = env->memory_limit / 8;
  const uint64_t bytes =
      share > 0 && share < PC_MEMORY_SOURCE_BYTES ? share : PC_MEMORY_SOURCE_BYTES;
  return bytes / ((columns + 5) * sizeof(double));
}

/* Resizes an array that is used; on failure sets *failed and returns the old one. */
static void *memory_source_resize(const pcal_env *env, void *block, int used, size_t count,
                                  size_t size, int *failed) {
  void *resized = used ? pc_resize(env, block, count, size) : NULL;
  *failed |= used && resized == NULL;
  return resized == NULL ? block : resized;
}

static pcal_status memory_source_grow(const pcal_env *env, const pcal_batch *like,
                                      size_t needed, memory_source_arrays *arrays,
                                      pcal_error *err) {
  const size_t to = needed + arrays->capacity;
  int failed = 0;
  if (needed <= arrays->capacity)
    return PCAL_OK;
  arrays->scores =
      memory_source_resize(env, arrays->scores, 1, to, like->columns * sizeof(double), &failed);
  arrays->targets = memory_source_resize(env, arrays->targets, like->targets != NULL, to,
                                         sizeof(double), &failed);
  arrays->weights = memory_source_resize(env, arrays->weights, like->weights != NULL, to,
                                         sizeof(double), &failed);
  arrays->labels = memory_source_resize(env, arrays->labels, like->labels != NULL, to,
                                        sizeof(int32_t), &failed);
  arrays->groups = memory_source_resize(env, arrays->groups, like->groups != NULL, to,
                                        sizeof(uint32_t), &failed);
  arrays->ids =
      memory_source_resize(env, arrays->ids, like->ids != NULL, to, sizeof(uint64_t), &failed);
  if (failed)
    return pc_fail_memory(err, "keeping rows");
  arrays->capacity = to;
  return PCAL_OK;
}

static void memory_source_copy(const pcal_batch *from, memory_source_arrays *arrays) {
  const size_t at = arrays->count, rows = from->rows;
  for (size_t i = 0; i < rows; i++)
    pc_batch_row(from, i, arrays->scores + (at + i) * from->columns);
  if (from->targets != NULL)
    memcpy(arrays->targets + at, from->targets, rows * sizeof(double));
  if (from->weights != NULL)
    memcpy(arrays->weights + at, from->weights, rows * sizeof(double));
  if (from->labels != NULL)
    memcpy(arrays->labels + at, from->labels, rows * sizeof(int32_t));
  if (from->groups != NULL)
    memcpy(arrays->groups + at, from->groups, rows * sizeof(uint32_t));
  if (from->ids != NULL)
    memcpy(arrays->ids + at, from->ids, rows * sizeof(uint64_t));
  arrays->count += rows;
}

/* A batch of all rows, with the descriptions of one of its windows. */
static pcal_batch memory_source_batch(const pcal_batch *window,
                                      const memory_source_arrays *arrays) {
  pcal_batch all = *window;
  all.type = PCAL_F64;
  all.rows = arrays->count;
  all.scores = arrays->scores;
  all.row_stride = (ptrdiff_t)(window->columns * sizeof(double));
  all.column_stride = (ptrdiff_t)sizeof(double);
  all.labels = arrays->labels;
  all.targets = arrays->targets;
  all.weights = arrays->weights;
  all.groups = arrays->groups;
  all.ids = arrays->ids;
  all.first_row = 0;
  all.place = NULL;
  all.place_user = NULL;
  return all;
}

pcal_status pc_memory_source_read(pcal_source *source, const pcal_env *env,
                                  pc_memory_source *out, pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  memory_source_arrays arrays = {0};
  *out = (pc_memory_source){.batch = PCAL_BATCH_INIT};
  pc_source_shape(source, &shape);
  const uint64_t most = memory_source_most(env, shape.columns);
  if (shape.row_count != PCAL_NO_ROW && shape.row_count > most)
    return PCAL_OK;
  PC_TRY(pc_arena_open(&out->arena, env, err));
  PC_TRY(pc_source_rewind(source, err));
  for (;;) {
    pcal_batch window = PCAL_BATCH_INIT;
    PC_TRY(pc_source_next(source, pc_source_derived_window(shape.columns), &window, err));
    if (window.rows == 0)
      break;
    if (arrays.count + window.rows > most) {
      out->batch = (pcal_batch)PCAL_BATCH_INIT;
      return PCAL_OK;
    }
    PC_TRY(
        memory_source_grow(&out->arena.env, &window, arrays.count + window.rows, &arrays, err));
    memory_source_copy(&window, &arrays);
    out->batch = memory_source_batch(&window, &arrays);
  }
  pc_source_shape(source, &shape);
  out->class_names = shape.class_names;
  return PCAL_OK;
}

void pc_memory_source_close(pc_memory_source *rows) {
  pc_arena_close(&rows->arena);
  *rows = (pc_memory_source){.batch = PCAL_BATCH_INIT};
}

pcal_status pc_memory_source_open(const pc_memory_source *rows, const pcal_env *env,
                                  pcal_source **out, pcal_error *err) {
  return pc_source_borrow(&rows->batch, rows->class_names, env, out, err);
}
