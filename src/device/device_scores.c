/* See device_scores.h.  One block of the GPU's memory holds the buckets, a table of targets, the sums of
 * their parts, the scores found, and the totals of all rows.
 *
 * Edge cases:
 *   1. more scores in targets than DEVICE_SCORES_FOUND: all totals are copied.
 *   2. the memory is grown when a source has more rows; if there is none left, scores do not stay, and
 *      the rows are converted as if the device had no such kernels. */
#include "device/device_scores.h"

#include <stddef.h>
#include <string.h>

#include "device/device_state.h"

#define DEVICE_SCORES_FOUND ((size_t)1 << 19)

/* The table of targets, on the GPU and in page-locked memory alike. */
typedef struct device_scores_table {
  uint64_t count; /* of scores found */
  uint32_t wanted[(PC_SCORE_MASK + 1) / 2 * 2];
  uint32_t reach[(PC_SCORE_BUCKETS + 2) / 2 * 2];
  pc_score_target list[PC_DEVICE_TARGETS];
} device_scores_table;

#define DEVICE_SCORES_TABLE PC_DEVICE_BUCKET_BYTES
#define DEVICE_SCORES_PARTS (DEVICE_SCORES_TABLE + sizeof(device_scores_table))
#define DEVICE_SCORES_PART_BYTES ((size_t)2 * PC_SCORE_BUCKETS_WORDS * sizeof(uint64_t))
#define DEVICE_SCORES_LIST (DEVICE_SCORES_PARTS + PC_DEVICE_PARTS * DEVICE_SCORES_PART_BYTES)
#define DEVICE_SCORES_TOTALS (DEVICE_SCORES_LIST + DEVICE_SCORES_FOUND * sizeof(double))
_Static_assert(sizeof(device_scores_table) + PC_DEVICE_PARTS * DEVICE_SCORES_PART_BYTES <=
                   PC_DEVICE_PIECE,
               "the table and the parts fit one half of the page-locked memory");
_Static_assert(DEVICE_SCORES_FOUND * sizeof(double) <= PC_DEVICE_PIECE,
               "so do the scores found");

int pc_device_has_scores(const pcal_device *device) {
  return device->score_buckets != NULL && device->score_split != NULL &&
         device->score_filter != NULL;
}

static void *device_scores_place(const pcal_device *device, size_t offset) {
  return (void *)(uintptr_t)(device->scores + offset);
}

double *pc_device_scores_totals(const pcal_device *device, uint64_t row) {
  return (double *)device_scores_place(device, DEVICE_SCORES_TOTALS) + row;
}

uint64_t *pc_device_scores_words(const pcal_device *device) {
  return device_scores_place(device, 0);
}

int pc_device_scores_reserve(pcal_device *device, pc_device_scores *scores) {
  const pc_cuda_driver *driver = &device->driver;
  if (scores->rows > 0)
    return scores->ticket == device->scores_ticket;
  if (device->scores_rows < scores->room) {
    if (device->scores != 0)
      driver->memory_free(device->scores);
    device->scores = 0;
    device->scores_rows = 0;
    device->scores_ticket++; /* other measures no longer have their scores here */
    if (driver->memory_alloc(&device->scores,
                             DEVICE_SCORES_TOTALS + (size_t)scores->room * sizeof(double)) != 0)
      return 0; /* edge case 2 */
    device->scores_rows = scores->room;
  }
  scores->ticket = ++device->scores_ticket;
  return 1;
}

cuda_result pc_device_scores_count(const pcal_device *device, void *stream, uint64_t first,
                                   uint64_t rows, char *host) {
  const pc_cuda_driver *driver = &device->driver;
  pc_score_buckets buckets = {
      .totals = pc_device_scores_totals(device, first),
      .rows = rows,
      .words = pc_device_scores_words(device),
      .chunks = pc_score_buckets_chunks(rows, (uint32_t)device->multiprocessors)};
  void *parameters[] = {&buckets};
  cuda_result result = driver->clear(device->scores, 0, PC_DEVICE_BUCKET_BYTES, stream);
  if (result == 0)
    result = driver->launch(device->score_buckets, buckets.chunks * PC_SCORE_BUCKETS_SLICES, 1,
                            1, PC_SCORE_BUCKETS_THREADS, 1, 1, 0, stream, parameters, NULL);
  return result == 0
             ? driver->copy_to_host(host, device->scores, PC_DEVICE_BUCKET_BYTES, stream)
             : result;
}

/* ---- Later passes ---- */

static cuda_result device_scores_fill(const pcal_device *device, void *stream,
                                      const pc_device_search *search) {
  device_scores_table *table = (device_scores_table *)(void *)device->host;
  table->count = 0;
  memcpy(table->wanted, search->wanted, sizeof search->wanted);
  memcpy(table->reach, search->reach, sizeof search->reach);
  memcpy(table->list, search->list, search->count * sizeof *search->list);
  return device->driver.copy_to_device(
      device->scores + DEVICE_SCORES_TABLE, table,
      offsetof(device_scores_table, list) + search->count * sizeof *search->list, stream);
}

static pc_score_targets device_scores_targets(const pcal_device *device,
                                              const pc_device_scores *scores,
                                              const pc_device_search *search) {
  const size_t table = DEVICE_SCORES_TABLE;
  return (pc_score_targets){
      .totals = pc_device_scores_totals(device, 0),
      .rows = scores->rows,
      .list = device_scores_place(device, table + offsetof(device_scores_table, list)),
      .reach = device_scores_place(device, table + offsetof(device_scores_table, reach)),
      .wanted = device_scores_place(device, table + offsetof(device_scores_table, wanted)),
      .target_count = (uint32_t)search->count,
      .cells = search->cells,
      .found = device_scores_place(device, DEVICE_SCORES_LIST),
      .count = device_scores_place(device, table + offsetof(device_scores_table, count)),
      .room = DEVICE_SCORES_FOUND,
      .words = device_scores_place(device, DEVICE_SCORES_PARTS),
      .parts = (uint32_t)search->parts,
      .chunks = pc_score_split_chunks(scores->rows, (uint32_t)device->multiprocessors)};
}

/* Adds up the parts, and copies them to the second half of the page-locked memory. */
static cuda_result device_scores_split(const pcal_device *device, void *stream,
                                       pc_score_targets *targets) {
  const pc_cuda_driver *driver = &device->driver;
  const cuda_address words = device->scores + DEVICE_SCORES_PARTS;
  const size_t bytes = targets->parts * DEVICE_SCORES_PART_BYTES;
  void *parameters[] = {targets};
  cuda_result result = driver->clear(words, 0, bytes, stream);
  if (result == 0)
    result =
        driver->launch(device->score_split, targets->chunks * pc_score_split_slices(targets), 1,
                       1, PC_SCORE_BUCKETS_THREADS, 1, 1, 0, stream, parameters, NULL);
  return result == 0
             ? driver->copy_to_host(device->host + PC_DEVICE_PIECE, words, bytes, stream)
             : result;
}

/* Lists scores, and copies their number to the first half of the page-locked memory. */
static cuda_result device_scores_filter(const pcal_device *device, void *stream,
                                        pc_score_targets *targets) {
  const pc_cuda_driver *driver = &device->driver;
  void *parameters[] = {targets};
  const cuda_result result =
      driver->launch(device->score_filter, (unsigned)pc_score_filter_blocks(targets->rows), 1,
                     1, PC_SCORE_FILTER_THREADS, 1, 1, 0, stream, parameters, NULL);
  return result == 0 ? driver->copy_to_host(device->host, device->scores + DEVICE_SCORES_TABLE,
                                            sizeof(uint64_t), stream)
                     : result;
}

/* *count: scores found. */
static cuda_result device_scores_run(const pcal_device *device, const pc_device_scores *scores,
                                     const pc_device_search *search, uint64_t *count) {
  pc_score_targets targets = device_scores_targets(device, scores, search);
  cuda_result result = device_scores_fill(device, scores->stream, search);
  *count = 0;
  if (result == 0 && search->parts > 0)
    result = device_scores_split(device, scores->stream, &targets);
  if (result == 0 && search->keeps)
    result = device_scores_filter(device, scores->stream, &targets);
  if (result == 0)
    result = device->driver.synchronize(scores->stream);
  if (result == 0 && search->keeps)
    memcpy(count, device->host, sizeof *count);
  return result;
}

/* Passes on `count` totals from an address, piece by piece. */
static pcal_status device_scores_pass(const pcal_device *device, void *stream,
                                      cuda_address from, uint64_t count,
                                      pc_device_receive_totals receive, void *user,
                                      pcal_error *err) {
  const pc_cuda_driver *driver = &device->driver;
  const uint64_t piece = PC_DEVICE_PIECE / sizeof(double);
  for (uint64_t begin = 0; begin < count; begin += piece) {
    const size_t here = (size_t)(count - begin < piece ? count - begin : piece);
    cuda_result result = driver->copy_to_host(device->host, from + begin * sizeof(double),
                                              here * sizeof(double), stream);
    if (result == 0)
      result = driver->synchronize(stream);
    PC_TRY(pc_cuda_check(driver, result, "reading scores from the GPU", err));
    PC_TRY(receive(user, (const double *)(const void *)device->host, here, err));
  }
  return PCAL_OK;
}

static pcal_status device_scores_search(pcal_device *device, const pc_device_scores *scores,
                                        const pc_device_search *search,
                                        const pc_device_found *found, pcal_error *err) {
  uint64_t count = UINT64_MAX;
  PC_TRY(pc_device_reserve(device, 0, err));
  if (search != NULL)
    PC_TRY(pc_cuda_check(&device->driver, device_scores_run(device, scores, search, &count),
                         "finding scores on the GPU", err));
  if (count > DEVICE_SCORES_FOUND)
    return device_scores_pass(device, scores->stream, device->scores + DEVICE_SCORES_TOTALS,
                              scores->rows, found->all, found->user, err);
  if (search->parts > 0)
    PC_TRY(found->parts(found->user,
                        (const uint64_t *)(const void *)(device->host + PC_DEVICE_PIECE), err));
  return device_scores_pass(device, scores->stream, device->scores + DEVICE_SCORES_LIST, count,
                            found->kept, found->user, err);
}

pcal_status pc_device_scores_search(pcal_device *device, const pc_device_scores *scores,
                                    const pc_device_search *search,
                                    const pc_device_found *found, int *done, pcal_error *err) {
  *done = 0;
  PC_TRY(pc_device_enter(device, err));
  pcal_status status = PCAL_OK;
  if (scores->ticket == device->scores_ticket) {
    *done = 1;
    status = device_scores_search(device, scores, search, found, err);
    if (status != PCAL_OK) /* a copy may still be on its way into the page-locked memory */
      device->driver.synchronize(scores->stream);
  }
  pc_device_leave(device);
  return status;
}
