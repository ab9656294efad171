/* Requests and tallies of fits by rounds (fit_rounds.h) as bytes.
 *
 * Both begin with magic, format version and length and end with a checksum (base/envelope.h).
 *
 * Request "PCALFREQ": round (u32), method (text), normalize, skip_missing (u8), seed (u64),
 * number of answers (u64); if there are any, the shape of the data and the answers
 * (fit_tally.h).
 *
 * Tally "PCALFTAL": id of the request (u64), whether it has rows (u8), fingerprint of the rows
 * (data/row_fingerprint.h); with rows, the shape of the data and the tally.
 *
 * Shape: kind (u8), columns (u64), levels of quantiles (doubles), whether classes have names
 * (u8), names (texts). */
#ifndef PC_FIT_ROUND_BYTES_H
#define PC_FIT_ROUND_BYTES_H

#include "base/envelope.h"
#include "calibrators/fit_tally.h"
#include "data/row_fingerprint.h"

/* The shape of the data.  columns 0: not known yet. */
typedef struct pc_fit_data_shape {
  pcal_kind kind;
  size_t columns;
  double levels[PCAL_LEVELS_MAX];
  char **class_names; /* or NULL */
} pc_fit_data_shape;

PC_CHECKED pcal_status pc_fit_data_shape_copy(const pcal_env *env, pcal_kind kind,
                                              size_t columns, const double *levels,
                                              const char *const *class_names,
                                              pc_fit_data_shape *out, pcal_error *err);
void pc_fit_data_shape_free(const pcal_env *env, pc_fit_data_shape *shape);
/* Fails with PCAL_USAGE unless both are the same. */
PC_CHECKED pcal_status pc_fit_data_shape_check(const pc_fit_data_shape *a,
                                               const pc_fit_data_shape *b, pcal_error *err);

typedef struct pc_fit_request {
  const pcal_env *env; /* outlives the request */
  uint32_t round;      /* from 1 */
  char *method;
  int normalize, skip_missing;
  uint64_t seed;
  pc_fit_data_shape shape;
  pc_fit_tally *answers;
  size_t count, capacity;
  uint64_t id; /* of its bytes; set by reading */
} pc_fit_request;

void pc_fit_request_free(pc_fit_request *request); /* or a zeroed one */
PC_CHECKED pcal_status pc_fit_request_write(const pc_fit_request *request, pcal_sink sink,
                                            void *user, pcal_error *err);
/* The caller frees *out, also on failure. */
PC_CHECKED pcal_status pc_fit_request_read(const void *bytes, size_t length, const char *name,
                                           const pcal_env *env, pc_fit_request *out,
                                           pcal_error *err);
/* True if bytes begin as a request of a fit. */
int pc_fit_request_is(const void *bytes, size_t length);

typedef struct pc_fit_answer {
  const pcal_env *env;
  uint64_t id;
  int any; /* there are rows */
  pc_row_fingerprint rows;
  pc_fit_data_shape shape;
  pc_fit_tally tally;
} pc_fit_answer;

void pc_fit_answer_free(pc_fit_answer *answer); /* or a zeroed one */
PC_CHECKED pcal_status pc_fit_answer_write(const pc_fit_answer *answer, pcal_sink sink,
                                           void *user, pcal_error *err);
/* The caller frees *out, also on failure. */
PC_CHECKED pcal_status pc_fit_answer_read(const void *bytes, size_t length, const char *name,
                                          const pcal_env *env, pc_fit_answer *out,
                                          pcal_error *err);
/* The fingerprint alone. */
PC_CHECKED pcal_status pc_fit_answer_rows(const void *bytes, size_t length, const char *name,
                                          pc_row_fingerprint *out, pcal_error *err);
int pc_fit_answer_is(const void *bytes, size_t length);
/* Adds the rows of `from`, which may lose its contents. */
PC_CHECKED pcal_status pc_fit_answer_merge(pc_fit_answer *into, pc_fit_answer *from,
                                           pcal_error *err);

#endif
