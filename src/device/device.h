/* A GPU that holds rows: copies to the host, and the softmax of rows of logits.
 *
 * Rows on a GPU are converted there where only their softmax is needed, with the bits of the CPU
 * (softmax_rows_body.h); otherwise they are copied through page-locked memory.  Where the GPU or
 * its driver cannot run the kernels, rows are copied too: results do not differ.
 *
 * A device may be used by several threads at once; they take turns. */
#ifndef PC_DEVICE_H
#define PC_DEVICE_H

#include "base/memory.h"
#include "device/class_moments.h"
#include "device/prob_rows.h"
#include "device/row_sums.h"
#include "device/temperature_rows.h"

/* Opens the GPU that holds `address`; NULL: the first GPU. */
PC_CHECKED pcal_status pc_device_open(const void *address, const pcal_env *env,
                                      pcal_device **out, pcal_error *err);
void pc_device_free(pcal_device *device); /* NULL is allowed */

/* Where work of the caller's rows goes: on their stream. */
typedef struct pc_device_queue {
  pcal_device *device; /* or NULL: none */
  void *stream;
} pc_device_queue;

/* True if the GPU of the device holds `address`. */
int pc_device_holds(const pcal_device *device, const void *address);

/* False if the GPU or its driver is too old for the kernels: rows are copied. */
int pc_device_has_kernels(const pcal_device *device);

/* Receives bytes [begin, begin + count) of a pc_device_read; they are valid until it returns. */
typedef pcal_status (*pc_device_receive)(void *user, const void *bytes, size_t begin,
                                         size_t count, pcal_error *err);

/* Most bytes of one piece. */
#define PC_DEVICE_PIECE ((size_t)32 << 20)

/* Passes bytes of the GPU on, in pieces of `piece` bytes (at most PC_DEVICE_PIECE) except the last:
 * while one is used, the next one is copied, in the order of the stream. */
PC_CHECKED pcal_status pc_device_read(pcal_device *device, void *stream, const void *from,
                                      size_t bytes, size_t piece, pc_device_receive receive,
                                      void *user, pcal_error *err);

/* Copies bytes of the GPU to the host. */
PC_CHECKED pcal_status pc_device_copy(pcal_device *device, void *stream, const void *from,
                                      size_t bytes, void *to, pcal_error *err);

/* Most rows of one call of pc_device_softmax. */
#define PC_DEVICE_ROWS ((size_t)1 << 18)

/* The form of scores that kernels know; 0: it has none. */
int pc_device_row_form(pcal_kind kind, pc_row_form *out);

/* True if the device has kernels for PCAL_F32 or PCAL_F64 and the number of classes; and for rows of
 * probabilities. */
int pc_device_has_softmax(const pcal_device *device, pcal_type type, size_t classes);
int pc_device_has_prob_rows(const pcal_device *device, pcal_type type);

/* Sums of the softmax of rows, as in pc_narrow_facts of kernels/row_kernels.h.  Of probabilities: the
 * columns high, rest_square, stored, top and scale of prob_rows.h, in this order. */
typedef struct pc_device_softmax {
  const double *rest, *rest_square, *gap;
  const int32_t *top;
  const double *scale; /* NULL for logits */
  int finite; /* 0: some row must be checked on the host, and the columns have no meaning */
} pc_device_softmax;

/* Computes the softmax of a batch of at most PC_DEVICE_ROWS rows; its labels are on the host.  The
 * columns are memory of the device: after success the caller reads them and then calls
 * pc_device_softmax_done; other threads wait until then. */
PC_CHECKED pcal_status pc_device_softmax_rows(pcal_device *device, const pcal_batch *batch,
                                              pc_device_softmax *out, pcal_error *err);
/* The same for a batch of probabilities or their logarithms; normalize: as in pc_row_policy. */
PC_CHECKED pcal_status pc_device_prob_rows(pcal_device *device, const pcal_batch *batch,
                                           int normalize, pc_device_softmax *out,
                                           pcal_error *err);
void pc_device_softmax_done(pcal_device *device);

/* Labels on the device: 8, 4 (signed) or 1 (unsigned) bytes each. */
typedef struct pc_device_labels {
  const void *at; /* NULL, where allowed: the labels of the batch, on the host */
  uint32_t size;
} pc_device_labels;

/* True if the device has kernels for the sums of row_sums.h, class_bins.h and class_moments.h. */
int pc_device_has_row_sums(const pcal_device *device, pcal_kind kind, pcal_type type,
                           size_t classes);
int pc_device_has_fast_sums(const pcal_device *device);

/* Most rows of one call of pc_device_row_sums, and most bytes of the bins of all classes. */
#define PC_DEVICE_SUMS_ROWS ((size_t)1 << 22)
#define PC_DEVICE_CLASS_BYTES ((size_t)11 << 20)
#define PC_DEVICE_CLASS_LAUNCHES 2
#define PC_DEVICE_MOMENT_LAUNCHES 4

struct pc_device_scores; /* device_scores.h */

/* Sums over rows: what is asked for, and the results, which are memory of the device. */
typedef struct pc_device_sums {
  pc_row_sums rows;                                /* the caller fills values, grids and cuts */
  pc_class_bins classes[PC_DEVICE_CLASS_LAUNCHES]; /* grids and cuts */
  size_t class_launches;
  pc_class_moments moments[PC_DEVICE_MOMENT_LAUNCHES]; /* grid, cuts and threshold */
  size_t moment_launches;
  int with_scores;               /* also the top score of each row */
  struct pc_device_scores *keep; /* or NULL: the top scores stay on the device, in buckets */
  int fast;                      /* exponentials in float; of float32 logits, without classes */
  int normalize;                 /* of probabilities: as in pc_row_policy */
  const uint64_t *words;         /* out: results of row_sums.h */
  uint64_t rescaled;             /* rows, for the caller */
  const uint64_t *class_words[PC_DEVICE_CLASS_LAUNCHES];   /* out: results of class_bins.h */
  const uint64_t *moment_words[PC_DEVICE_MOMENT_LAUNCHES]; /* out: results of class_moments.h */
  const double *total; /* out: row_total of row_sums.h, if with_scores */
  const uint64_t
      *bucket_words; /* out: results of score_buckets.h, if `keep`; NULL: there is no memory
                                   for the scores, and nothing was added up */
} pc_device_sums;

/* Adds up the rows of a batch of logits or probabilities, at most PC_DEVICE_SUMS_ROWS.  After success the caller
 * reads the results and then calls pc_device_row_sums_done; other threads wait until then. */
PC_CHECKED pcal_status pc_device_row_sums(pcal_device *device, const pcal_batch *batch,
                                          const pc_device_labels *labels, pc_device_sums *sums,
                                          pcal_error *err);
void pc_device_row_sums_done(pcal_device *device);

/* True if the device has kernels for fits of the temperature. */
int pc_device_has_temperature(const pcal_device *device, pcal_type type, size_t classes);

/* A value of beta = 1/T, and the rows to evaluate. */
typedef struct pc_device_trial {
  double beta;
  int with_one;           /* the loss at beta = 1 too */
  const uint32_t *chosen; /* rows, at most PC_SAMPLE_ROWS_MAX; NULL: all */
  size_t chosen_count;
} pc_device_trial;

/* Adds up the log score of rows of logits and its derivatives.  words: room for
 * PC_TEMPERATURE_ROWS_WORDS results (temperature_rows.h). */
PC_CHECKED pcal_status pc_device_temperature(pcal_device *device, const pcal_batch *batch,
                                             const pc_device_labels *labels,
                                             const pc_device_trial *trial, uint64_t *words,
                                             pcal_error *err);

/* Lists the rows whose key starts with `level` zero bits. */
PC_CHECKED pcal_status pc_device_sample(pcal_device *device, const pcal_batch *batch,
                                        const pc_device_labels *labels, unsigned level,
                                        pc_sample_found *out, pcal_error *err);

/* Copies bytes from the host to memory of the device, in the order of the stream. */
PC_CHECKED pcal_status pc_device_put(pcal_device *device, void *stream, const void *from,
                                     size_t bytes, void *to, pcal_error *err);

/* Memory of the device; the caller gives it back with pc_device_drop. */
PC_CHECKED pcal_status pc_device_allocate(pcal_device *device, size_t bytes, void **out,
                                          pcal_error *err);

/* Copies bytes to new memory of the device. */
PC_CHECKED pcal_status pc_device_upload(pcal_device *device, void *stream, const void *from,
                                        size_t bytes, void **out, pcal_error *err);
void pc_device_drop(pcal_device *device, void *address); /* NULL is allowed */

#endif
