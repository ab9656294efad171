#include "bench.h"
#include "../tests/file_inputs.h"
#include "io/source.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pthread.h>
#include <unistd.h>

/* ---- Time and memory ---- */

static double bench_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#define BENCH_HEAD 16 /* bytes before each block, which hold its size */

static _Atomic uint64_t bench_heap_now, bench_heap_peak;

static void bench_heap_change(uint64_t more, uint64_t less) {
  const uint64_t now = atomic_fetch_add(&bench_heap_now, more - less) + more - less;
  uint64_t peak = atomic_load(&bench_heap_peak);
  while (now > peak && !atomic_compare_exchange_weak(&bench_heap_peak, &peak, now))
    continue;
}

static void *bench_resize(void *user, void *block, size_t size) {
  (void)user;
  char *old = block == NULL ? NULL : (char *)block - BENCH_HEAD;
  size_t old_size = 0;
  if (old != NULL)
    memcpy(&old_size, old, sizeof old_size);
  char *base = realloc(old, size + BENCH_HEAD);
  if (base == NULL)
    return NULL;
  memcpy(base, &size, sizeof size);
  bench_heap_change(size, old_size);
  return base + BENCH_HEAD;
}

static void bench_release(void *user, void *block) {
  (void)user;
  if (block == NULL)
    return;
  char *base = (char *)block - BENCH_HEAD;
  size_t size = 0;
  memcpy(&size, base, sizeof size);
  bench_heap_change(0, size);
  free(base);
}

/* Pages that belong to no file, in bytes; 0 where the system does not tell. */
static uint64_t bench_anonymous(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  unsigned long long total = 0, resident = 0, shared = 0;
  if (file == NULL)
    return 0;
  if (fscanf(file, "%llu %llu %llu", &total, &resident, &shared) != 3)
    resident = shared = 0;
  fclose(file);
  return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static struct {
  pthread_t thread;
  atomic_int running;
  uint64_t base, peak;
} bench_watch;

static void *bench_watching(void *user) {
  const struct timespec pause = {0, 500000};
  do {
    const uint64_t now = bench_anonymous();
    if (now > bench_watch.peak)
      bench_watch.peak = now;
    nanosleep(&pause, NULL);
  } while (atomic_load(&bench_watch.running));
  return user;
}

void bench_start(const bench_request *request, bench_answer *answer) {
  if (request->memory) {
    atomic_store(&bench_heap_peak, atomic_load(&bench_heap_now));
    bench_watch.base = bench_watch.peak = bench_anonymous();
    atomic_store(&bench_watch.running, 1);
    if (pthread_create(&bench_watch.thread, NULL, bench_watching, NULL) != 0)
      atomic_store(&bench_watch.running, 0);
  }
  answer->seconds = -bench_now();
}

void bench_stop(const bench_request *request, bench_answer *answer) {
  answer->seconds += bench_now();
  if (request->memory && atomic_load(&bench_watch.running)) {
    atomic_store(&bench_watch.running, 0);
    pthread_join(bench_watch.thread, NULL);
    answer->anonymous = bench_watch.peak - bench_watch.base;
    answer->heap = atomic_load(&bench_heap_peak);
  }
}

/* ---- Environment and data ---- */

pcal_status bench_fail(pcal_error *err, pcal_status status, const char *sentence) {
  if (err != NULL) {
    err->status = status;
    err->row = PCAL_NO_ROW;
    snprintf(err->message, sizeof err->message, "%s", sentence);
  }
  return status;
}

pcal_status bench_env(const bench_request *request, pcal_env *env, pcal_error *err) {
  static pcal_pool *pool;
  static unsigned pool_threads;
  const pcal_env fresh = PCAL_ENV_INIT;
  *env = fresh;
  env->threads = request->threads;
  env->map_files = 1;
  if (request->threads > 1 && pool_threads != request->threads) {
    pcal_pool_free(pool);
    pool = NULL;
    const pcal_status status = pcal_pool_new(request->threads, &fresh, &pool, err);
    if (status != PCAL_OK)
      return status;
    pool_threads = request->threads;
  }
  env->pool = request->threads > 1 ? pool : NULL;
  if (request->memory) {
    env->allocator.resize = bench_resize;
    env->allocator.release = bench_release;
  }
  return PCAL_OK;
}

void bench_path(const bench_request *request, const char *what, char *out, size_t size) {
  snprintf(out, size, "%s/%s-%s.npy", request->folder, request->data, what);
}

/* Data sets of binary probabilities are called D, as in PERFORMANCE.md, or begin with it. */
static int bench_binary(const bench_request *request) {
  return request->data[0] == 'D';
}

static pcal_status bench_open(const bench_request *request, const pcal_env *env,
                              pcal_source **out, pcal_error *err) {
  char scores[4096], labels[4096];
  file_inputs inputs = {0};
  bench_path(request, "scores", scores, sizeof scores);
  bench_path(request, "labels", labels, sizeof labels);
  if (bench_binary(request))
    inputs.probs = scores;
  else
    inputs.logits = scores;
  inputs.labels = labels;
  return file_inputs_open(&inputs, env, out, err);
}

static struct {
  char name[32];
  float *scores;
  int32_t *labels;
  pcal_batch batch;
} bench_kept;

static pcal_status bench_read(pcal_source *source, pcal_error *err) {
  pcal_batch part = PCAL_BATCH_INIT;
  size_t row = 0;
  for (;;) {
    const pcal_status status = pcal_source_next(source, 1 << 16, &part, err);
    if (status != PCAL_OK || part.rows == 0)
      return status;
    for (size_t i = 0; i < part.rows; i++)
      memcpy(bench_kept.scores + (row + i) * part.columns,
             (const char *)part.scores + (ptrdiff_t)i * part.row_stride,
             part.columns * sizeof(float));
    memcpy(bench_kept.labels + row, part.labels, part.rows * sizeof *part.labels);
    row += part.rows;
  }
}

static pcal_status bench_keep(const bench_request *request, pcal_source *source,
                              pcal_error *err) {
  const pcal_batch fresh = PCAL_BATCH_INIT;
  pcal_shape shape = {.size = sizeof shape};
  pcal_source_get_shape(source, &shape);
  const size_t rows = (size_t)shape.row_count;
  bench_kept.scores = malloc(rows * shape.columns * sizeof(float));
  bench_kept.labels = malloc(rows * sizeof(int32_t));
  if (bench_kept.scores == NULL || bench_kept.labels == NULL || shape.type != PCAL_F32)
    return bench_fail(err, PCAL_MEMORY, "no memory for the rows, or they are not float32");
  bench_kept.batch = fresh;
  bench_kept.batch.kind = shape.kind;
  bench_kept.batch.type = shape.type;
  bench_kept.batch.rows = rows;
  bench_kept.batch.columns = shape.columns;
  bench_kept.batch.scores = bench_kept.scores;
  bench_kept.batch.row_stride = (ptrdiff_t)(shape.columns * sizeof(float));
  bench_kept.batch.column_stride = sizeof(float);
  bench_kept.batch.labels = bench_kept.labels;
  snprintf(bench_kept.name, sizeof bench_kept.name, "%s", request->data);
  return bench_read(source, err);
}

pcal_status bench_rows(const bench_request *request, const pcal_batch **out, pcal_error *err) {
  *out = &bench_kept.batch;
  if (strcmp(bench_kept.name, request->data) == 0)
    return PCAL_OK;
  free(bench_kept.scores);
  free(bench_kept.labels);
  bench_kept.scores = NULL;
  bench_kept.labels = NULL;
  bench_kept.name[0] = '\0';
  pcal_source *source = NULL;
  pcal_status status = bench_open(request, NULL, &source, err);
  if (status == PCAL_OK)
    status = bench_keep(request, source, err);
  pcal_source_free(source);
  return status;
}

pcal_status bench_source(const bench_request *request, const pcal_env *env, pcal_source **out,
                         pcal_error *err) {
  const size_t length = strlen(request->option);
  if (length >= 4 && strcmp(request->option + length - 4, "file") == 0)
    return bench_open(request, env, out, err);
  const pcal_batch *rows = NULL;
  const pcal_status status = bench_rows(request, &rows, err);
  return status == PCAL_OK ? pc_source_borrow(rows, NULL, env, out, err) : status;
}

/* ---- Requests and answers ---- */

void bench_value(bench_answer *answer, const char *name, double value) {
  if (answer->count < BENCH_VALUES) {
    answer->name[answer->count] = name;
    answer->value[answer->count] = value;
    answer->count++;
  }
}

static void bench_print(const bench_answer *answer) {
  printf("{\"seconds\": %.9f, \"heap\": %llu, \"anonymous\": %llu, \"values\": {",
         answer->seconds, (unsigned long long)answer->heap,
         (unsigned long long)answer->anonymous);
  for (size_t i = 0; i < answer->count; i++)
    printf("%s\"%s\": %.17g", i == 0 ? "" : ", ", answer->name[i], answer->value[i]);
  printf("}}\n");
}

static void bench_print_failure(const char *sentence) {
  printf("{\"error\": \"");
  for (const char *c = sentence; *c != '\0'; c++)
    if (*c == '"' || *c == '\\')
      printf("\\%c", *c);
    else
      putchar(*c);
  printf("\"}\n");
}

int bench_serve(int argc, char **argv, bench_operation operation) {
  char line[256];
  if (argc != 2) {
    fprintf(stderr, "usage: %s FOLDER, then lines: OPERATION DATA OPTION THREADS [memory]\n",
            argv[0]);
    return 2;
  }
  while (fgets(line, sizeof line, stdin) != NULL) {
    bench_request request = {.folder = argv[1], .threads = 1};
    bench_answer answer = {0};
    pcal_error err = PCAL_ERROR_INIT;
    char memory[8] = "";
    if (sscanf(line, "%31s %31s %31s %u %7s", request.operation, request.data, request.option,
               &request.threads, memory) < 4) {
      bench_print_failure("a request has the words OPERATION DATA OPTION THREADS");
    } else {
      request.memory = strcmp(memory, "memory") == 0;
      if (operation(&request, &answer, &err) == PCAL_OK)
        bench_print(&answer);
      else
        bench_print_failure(err.message);
    }
    fflush(stdout);
  }
  return 0;
}
