/* What this machine can do: no measurement of ours can beat these by honest means.
 *
 *   read - MEGABYTES THREADS    adds up memory
 *   copy - MEGABYTES THREADS    copies memory; half are read and half are written
 *   file DATA both THREADS      maps the two files of a data set and adds up their bytes
 *   radix DATA f64 1            sorts the scores, as doubles, by their bits
 *   flops - - THREADS           multiplies and adds floats in registers */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "system/thread_affinity.h"

#define LIMITS_THREADS 64

typedef struct limits_part {
  const char *from;
  char *to;
  size_t bytes;
  uint64_t sum;
  double number;
  void *(*work)(void *part);
  const pc_affinity *cores;
} limits_part;

typedef void *(*limits_work)(void *part);

static void *limits_thread(void *user) {
  const limits_part *part = user;
  pc_affinity_release(part->cores);
  return part->work(user);
}

/* Splits `bytes` at multiples of a page between threads, which begin on cores of their own; the
 * caller takes part. */
static uint64_t limits_split(const char *from, char *to, size_t bytes, unsigned threads,
                             limits_work work) {
  limits_part parts[LIMITS_THREADS] = {{0}};
  pthread_t ids[LIMITS_THREADS];
  const size_t count = threads < 1 ? 1 : threads > LIMITS_THREADS ? LIMITS_THREADS : threads;
  const size_t each = bytes / count & ~(size_t)4095;
  const pc_affinity cores = pc_affinity_current();
  pthread_attr_t apart;
  uint64_t sum = 0;
  pthread_attr_init(&apart);
  pc_affinity_start_elsewhere(&cores, &apart);
  for (size_t i = 0; i < count; i++) {
    parts[i].work = work;
    parts[i].cores = &cores;
    parts[i].from = from == NULL ? NULL : from + i * each;
    parts[i].to = to == NULL ? NULL : to + i * each;
    parts[i].bytes = i + 1 == count ? bytes - i * each : each;
  }
  size_t started = 1;
  while (started < count &&
         pthread_create(&ids[started], &apart, limits_thread, &parts[started]) == 0)
    started++;
  pthread_attr_destroy(&apart);
  work(&parts[0]);
  for (size_t i = started; i < count; i++)
    work(&parts[i]);
  for (size_t i = 1; i < started; i++)
    pthread_join(ids[i], NULL);
  for (size_t i = 0; i < count; i++)
    sum += parts[i].sum;
  return sum;
}

/* ---- Memory ---- */

static void *limits_add(void *user) {
  limits_part *part = user;
  uint64_t sum[32] = {0};
  const size_t words = part->bytes / sizeof(uint64_t);
  const char *from = part->from;
  size_t i = 0;
  for (; i + 32 <= words; i += 32) {
    uint64_t word[32];
    memcpy(word, from + i * sizeof(uint64_t), sizeof word);
    for (size_t lane = 0; lane < 32; lane++)
      sum[lane] += word[lane];
  }
  for (i *= sizeof(uint64_t); i < part->bytes; i++)
    sum[0] += (unsigned char)from[i];
  for (size_t lane = 0; lane < 32; lane++)
    part->sum += sum[lane];
  return NULL;
}

static void *limits_copy(void *user) {
  limits_part *part = user;
  memcpy(part->to, part->from, part->bytes);
  return NULL;
}

static char *limits_buffer(size_t bytes) {
  static char *buffer;
  static size_t kept;
  if (kept != bytes) {
    free(buffer);
    buffer = malloc(bytes);
    kept = buffer == NULL ? 0 : bytes;
    if (buffer != NULL)
      memset(buffer, 1, bytes);
  }
  return buffer;
}

static pcal_status limits_memory(const bench_request *request, bench_answer *answer,
                                 pcal_error *err) {
  const size_t bytes = (size_t)strtoul(request->option, NULL, 10) << 20;
  char *buffer = limits_buffer(bytes);
  if (bytes == 0 || buffer == NULL)
    return bench_fail(err, PCAL_MEMORY, "no memory for the buffer, or no megabytes given");
  uint64_t sum;
  bench_start(request, answer);
  if (strcmp(request->operation, "read") == 0)
    sum = limits_split(buffer, NULL, bytes, request->threads, limits_add);
  else
    sum = limits_split(buffer, buffer + bytes / 2, bytes / 2, request->threads, limits_copy);
  bench_stop(request, answer);
  bench_value(answer, "bytes", (double)bytes);
  bench_value(answer, "sum", (double)sum);
  return PCAL_OK;
}

/* ---- Files ---- */

static pcal_status limits_map(const bench_request *request, const char *what, uint64_t *sum,
                              double *bytes, pcal_error *err) {
  char path[4096];
  struct stat facts;
  bench_path(request, what, path, sizeof path);
  const int file = open(path, O_RDONLY);
  if (file < 0 || fstat(file, &facts) != 0) {
    if (file >= 0)
      close(file);
    return bench_fail(err, PCAL_IO, "a file of the data set cannot be opened");
  }
  const size_t length = (size_t)facts.st_size;
  char *map = mmap(NULL, length, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (map == MAP_FAILED)
    return bench_fail(err, PCAL_IO, "a file of the data set cannot be mapped");
  posix_madvise(map, length, POSIX_MADV_SEQUENTIAL);
  *sum += limits_split(map, NULL, length, request->threads, limits_add);
  *bytes += (double)length;
  munmap(map, length);
  return PCAL_OK;
}

static pcal_status limits_file(const bench_request *request, bench_answer *answer,
                               pcal_error *err) {
  uint64_t sum = 0;
  double bytes = 0.0;
  bench_start(request, answer);
  pcal_status status = limits_map(request, "scores", &sum, &bytes, err);
  if (status == PCAL_OK)
    status = limits_map(request, "labels", &sum, &bytes, err);
  bench_stop(request, answer);
  bench_value(answer, "bytes", bytes);
  bench_value(answer, "sum", (double)sum);
  return status;
}

/* ---- Sorting ---- */

#define LIMITS_DIGIT 11
#define LIMITS_RADIX ((size_t)1 << LIMITS_DIGIT)
#define LIMITS_DIGITS 6

static size_t limits_digit(uint64_t key, size_t pass) {
  return (size_t)(key >> (pass * LIMITS_DIGIT)) & (LIMITS_RADIX - 1);
}

/* From the lowest digit up, one scatter for each that is not the same in all keys. */
static const uint64_t *limits_radix(uint64_t *keys, uint64_t *scratch, size_t count) {
  static size_t counts[LIMITS_DIGITS][LIMITS_RADIX];
  memset(counts, 0, sizeof counts);
  for (size_t i = 0; i < count; i++)
    for (size_t pass = 0; pass < LIMITS_DIGITS; pass++)
      counts[pass][limits_digit(keys[i], pass)]++;
  for (size_t pass = 0; pass < LIMITS_DIGITS; pass++) {
    size_t *place = counts[pass];
    if (place[limits_digit(keys[0], pass)] == count)
      continue;
    size_t next = 0;
    for (size_t d = 0; d < LIMITS_RADIX; d++) {
      const size_t here = place[d];
      place[d] = next;
      next += here;
    }
    for (size_t i = 0; i < count; i++)
      scratch[place[limits_digit(keys[i], pass)]++] = keys[i];
    uint64_t *swap = keys;
    keys = scratch;
    scratch = swap;
  }
  return keys;
}

static pcal_status limits_sort(const bench_request *request, bench_answer *answer,
                               pcal_error *err) {
  const pcal_batch *rows = NULL;
  const pcal_status status = bench_rows(request, &rows, err);
  if (status != PCAL_OK)
    return status;
  uint64_t *keys = malloc(rows->rows * sizeof *keys);
  uint64_t *scratch = calloc(rows->rows, sizeof *scratch);
  if (keys == NULL || scratch == NULL) {
    free(keys);
    free(scratch);
    return bench_fail(err, PCAL_MEMORY, "no memory for the keys");
  }
  for (size_t i = 0; i < rows->rows; i++) {
    const double score = (double)((const float *)rows->scores)[i];
    memcpy(&keys[i], &score, sizeof score);
  }
  bench_start(request, answer);
  const uint64_t *sorted = limits_radix(keys, scratch, rows->rows);
  bench_stop(request, answer);
  bench_value(answer, "keys", (double)rows->rows);
  double middle = 0.0;
  memcpy(&middle, &sorted[rows->rows / 2], sizeof middle);
  bench_value(answer, "middle", middle);
  free(keys);
  free(scratch);
  return PCAL_OK;
}

/* ---- Arithmetic ---- */

#define LIMITS_CHAINS 10
#define LIMITS_ROUNDS 10000000u

typedef float limits_floats __attribute__((vector_size(64)));

static void *limits_multiply(void *user) {
  limits_part *part = user;
  const limits_floats none = {0};
  limits_floats a0 = none, a1 = none + 10, a2 = none + 2, a3 = none + 3, a4 = none + 4,
                a5 = none + 5, a6 = none + 6, a7 = none + 7, a8 = none + 8, a9 = none + 9;
  const limits_floats by = none + 0.999f, plus = none + 0.001f;
  for (unsigned i = 0; i < LIMITS_ROUNDS; i++) {
    a0 = a0 * by + plus;
    a1 = a1 * by + plus;
    a2 = a2 * by + plus;
    a3 = a3 * by + plus;
    a4 = a4 * by + plus;
    a5 = a5 * by + plus;
    a6 = a6 * by + plus;
    a7 = a7 * by + plus;
    a8 = a8 * by + plus;
    a9 = a9 * by + plus;
    __asm__ volatile("" : : : "memory");
  }
  const limits_floats all = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9;
  part->sum = (uint64_t)all[0];
  return NULL;
}

static pcal_status limits_flops(const bench_request *request, bench_answer *answer,
                                pcal_error *err) {
  (void)err;
  bench_start(request, answer);
  const uint64_t sum = limits_split(NULL, NULL, 0, request->threads, limits_multiply);
  bench_stop(request, answer);
  bench_value(answer, "flops",
              2.0 * 16.0 * LIMITS_CHAINS * LIMITS_ROUNDS * (double)request->threads);
  bench_value(answer, "sum", (double)sum);
  return PCAL_OK;
}

static pcal_status limits_answer(const bench_request *request, bench_answer *answer,
                                 pcal_error *err) {
  const char *operation = request->operation;
  if (strcmp(operation, "read") == 0 || strcmp(operation, "copy") == 0)
    return limits_memory(request, answer, err);
  if (strcmp(operation, "file") == 0)
    return limits_file(request, answer, err);
  if (strcmp(operation, "radix") == 0)
    return limits_sort(request, answer, err);
  if (strcmp(operation, "flops") == 0)
    return limits_flops(request, answer, err);
  return bench_fail(err, PCAL_USAGE, "limits knows read, copy, file, radix and flops");
}

int main(int argc, char **argv) {
  return bench_serve(argc, argv, limits_answer);
}
