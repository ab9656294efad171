/* The state of a device, for the files of this room. */
#ifndef PC_DEVICE_STATE_H
#define PC_DEVICE_STATE_H

#include "device/cuda_driver.h"
#include "device/device.h"
#include "device/device_scores.h"
#include "system/threads.h"

#define DEVICE_BYTES ((size_t)28 << 20)         /* of the GPU */
#define DEVICE_HOST_BYTES (2 * PC_DEVICE_PIECE) /* page-locked */
#define DEVICE_NARROW_CLASSES 32                /* PC_NARROW_CLASSES */

enum { DEVICE_F32, DEVICE_F64, DEVICE_TYPES };

struct pcal_device {
  pcal_env env;
  pc_cuda_driver driver;
  cuda_ordinal ordinal;
  cuda_context *context; /* NULL: not retained */
  int multiprocessors;
  cuda_module *module; /* NULL: no kernels */
  cuda_function *wide[DEVICE_TYPES], *narrow[DEVICE_TYPES];
  cuda_function *sums_wide[DEVICE_TYPES], *sums_narrow[DEVICE_TYPES];
  cuda_function *sums_fast_wide, *sums_fast_narrow, *sums_columns;
  cuda_function *prob_rows[DEVICE_TYPES];
  cuda_function *class_bins[DEVICE_TYPES], *class_moments[DEVICE_TYPES],
      *class_cells[DEVICE_TYPES];
  cuda_function *class_counts[DEVICE_TYPES], *class_segments[DEVICE_TYPES];
  cuda_function *temperature_wide[DEVICE_TYPES], *temperature_narrow[DEVICE_TYPES];
  cuda_function *sample[DEVICE_TYPES], *value_sums;
  cuda_function *pair_strips, *pair_packs;
  cuda_function *dirichlet_density, *dirichlet_labels;
  cuda_function *score_buckets, *score_split, *score_filter;
  cuda_function *scaled_wide[DEVICE_TYPES], *scaled_narrow[DEVICE_TYPES];
  char *host;          /* page-locked, or NULL */
  cuda_address memory; /* on the GPU, or 0 */
  void *sums_host;     /* the results of device_sums.c, likewise */
  cuda_address sums;
  cuda_address scores;    /* the memory of device_scores.c, or 0 */
  uint64_t scores_rows;   /* that fit it */
  uint64_t scores_ticket; /* of the source whose scores it holds */
  pc_mutex lock;
};

/* Makes the device the calling thread's, until pc_device_leave; other threads wait. */
PC_CHECKED pcal_status pc_device_enter(pcal_device *device, pcal_error *err);
void pc_device_leave(pcal_device *device);

/* Reserves `host`, and `memory` if `on_gpu`. */
PC_CHECKED pcal_status pc_device_reserve(pcal_device *device, int on_gpu, pcal_error *err);

/* Reserves `sums` and `sums_host`, and if `all` host and memory too. */
PC_CHECKED pcal_status pc_device_reserve_sums(pcal_device *device, int all, pcal_error *err);

/* Adds up rows, all fields of whose sums are filled. */
cuda_result pc_device_sums_launch(const pcal_device *device, const pcal_batch *batch,
                                  pc_row_sums *sums, int fast);

/* Copies bytes to the GPU through `host`, which is reserved, and waits for them: while one half of
 * it is filled, the other one is copied. */
cuda_result pc_device_fill(const pcal_device *device, void *stream, const char *from,
                           size_t bytes, cuda_address to);

/* Bytes of the buckets of score_buckets.h. */
#define PC_DEVICE_BUCKET_BYTES \
  ((size_t)2 * PC_SCORE_BUCKETS * PC_SCORE_BUCKETS_WORDS * sizeof(uint64_t))

/* Memory for the totals of scores->room rows; 0: there is none, or another measure has taken that of
 * the rows before. */
int pc_device_scores_reserve(pcal_device *device, pc_device_scores *scores);
/* Where the total of a row is, and the buckets. */
double *pc_device_scores_totals(const pcal_device *device, uint64_t row);
uint64_t *pc_device_scores_words(const pcal_device *device);
/* Counts the totals of rows [first, first + rows) in buckets, and copies them to `host`, which is
 * page-locked, without waiting. */
cuda_result pc_device_scores_count(const pcal_device *device, void *stream, uint64_t first,
                                   uint64_t rows, char *host);

/* Bytes of the columns of pc_prob_columns for each row. */
#define PC_DEVICE_PROB_BYTES (4 * sizeof(double) + sizeof(int32_t))

/* Checks rows of probabilities from row `begin` of a batch on; the caller fills labels, label_size, out,
 * odd, rows and normalize. */
cuda_result pc_device_prob_launch(const pcal_device *device, const pcal_batch *batch,
                                  size_t begin, pc_prob_rows *rows);
/* The columns of `room` rows, an even number, one after the other from an address on. */
pc_prob_columns pc_device_prob_columns(void *at, size_t room);

/* Where columns of PC_DEVICE_ROWS rows begin, in `memory`; the first three in `host`, too. */
#define DEVICE_ROWS_WEIGHTS 0
#define DEVICE_ROWS_LABELS (DEVICE_ROWS_WEIGHTS + PC_DEVICE_ROWS * sizeof(double))
#define DEVICE_ROWS_GROUPS (DEVICE_ROWS_LABELS + PC_DEVICE_ROWS * sizeof(int32_t))
#define DEVICE_ROWS_TOTALS (DEVICE_ROWS_GROUPS + PC_DEVICE_ROWS * sizeof(uint32_t))
#define DEVICE_ROWS_LARGEST (DEVICE_ROWS_TOTALS + PC_DEVICE_ROWS * sizeof(double))
#define DEVICE_ROWS_COLUMNS (DEVICE_ROWS_LARGEST + PC_DEVICE_ROWS * sizeof(double))

/* Copies rows [begin, begin + rows) of a column of the host to a place; nothing if it is NULL. */
cuda_result pc_device_column(const pcal_device *device, const pcal_batch *batch,
                             const void *column, size_t size, size_t begin, size_t rows,
                             size_t place);

/* Totals and check of the rows of a batch without any sums, at most PC_DEVICE_ROWS at once: begin clears
 * the words of `sums`, whose PC_ROW_SUMS_ODD says in the end whether the host must check a row.  A piece
 * may begin when the one before has been waited for. */
cuda_result pc_device_totals_begin(const pcal_device *device, const pcal_batch *batch,
                                   pc_row_sums *sums);
cuda_result pc_device_totals(const pcal_device *device, const pcal_batch *batch,
                             const pc_device_labels *labels, size_t begin, size_t rows,
                             int normalize, pc_row_sums *sums);
/* The rows of bins of every class, for `blocks` blocks on a multiprocessor. */
void pc_device_bins_rows(const pcal_device *device, const pc_row_sums *rows, unsigned blocks,
                         pc_class_bins *bins);

/* A place in `memory`. */
void *pc_device_place(const pcal_device *device, size_t offset);

#endif
