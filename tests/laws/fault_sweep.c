#include "fault_sweep.h"

#include <time.h>

#include "../unit/unit.h"
#include "base/options.h"
#include "call_sources.h"
#include "stack_set.h"

#define FAULT_POINTS 90
#define FAULT_FEW_POINTS \
  12                      /* without new stacks, with sanitizers, and with PROPERCAL_LAWS=few */
#define FAULT_SECONDS 2.0 /* of one call with one spec; a slow call is tried at fewer points */
#define FAULT_FEW_SECONDS 0.2
#define FAULT_FRESH_SECONDS 1.5 /* of stacks with a call that no stack before has */
#define FAULT_FEW_FRESH_SECONDS 1.0
#define FAULT_SLOW 0.2 /* seconds; of a study that takes longer only fresh stacks are tried */
#define FAULT_TOO_SLOW 1.0
#define FAULT_PATIENCE 4
#define FAULT_LIMIT ((uint64_t)1 << 40) /* bytes; never reached */

/* The stack of one point. */
typedef struct fault_place {
  uint64_t stack;
  size_t point; /* the first one with this stack */
  stack_sites sites;
} fault_place;

typedef struct fault {
  unit_memory memory; /* counts blocks; its own failures are not used */
  fault_kind kind;
  size_t point, fail_at; /* points so far, and the one that fails, from 1; 0: none */
  int recording;
  fault_place *places; /* stacks that the program has not tried yet */
  size_t place_count, place_room;
  stack_set seen; /* stacks in `places` */
} fault;

static stack_set fault_tried[FAULT_LOCK + 1];
static stack_set fault_sites[FAULT_LOCK + 1]; /* return addresses of those that were tried */

/* ---- one run ---- */

static void fault_record(fault *f) {
  stack_sites sites;
  stack_read(&sites);
  const uint64_t stack = stack_hash(&sites);
  if (stack_set_has(&fault_tried[f->kind], stack) || !stack_set_add(&f->seen, stack))
    return;
  if (f->place_count == f->place_room) {
    f->place_room = 2 * f->place_room + 64;
    f->places = realloc(f->places, f->place_room * sizeof *f->places);
    assert_non_null(f->places);
  }
  f->places[f->place_count++] = (fault_place){stack, f->point, sites};
}

/* Returns 1 if this point fails. */
static int fault_here(fault *f, fault_kind kind) {
  if (kind != f->kind)
    return 0;
  f->point++;
  if (f->recording)
    fault_record(f);
  return f->point == f->fail_at;
}

static void *fault_resize(void *user, void *block, size_t size) {
  fault *f = user;
  return fault_here(f, FAULT_MEMORY) ? NULL : unit_resize(&f->memory, block, size);
}

static void fault_release(void *user, void *block) {
  unit_release(&((fault *)user)->memory, block);
}

static int fault_interrupted(void *user) {
  return fault_here(user, FAULT_STOP);
}

static int fault_sink(void *user, const char *bytes, size_t count) {
  (void)bytes;
  (void)count;
  return fault_here(user, FAULT_SINK);
}

static int fault_reading(void *user) {
  return fault_here(user, FAULT_READ);
}

static fault *fault_running;

int fault_refuses_lock(void) {
  return fault_running != NULL && fault_here(fault_running, FAULT_LOCK);
}

static const pcal_status fault_status[] = {PCAL_MEMORY, PCAL_INTERRUPTED, PCAL_IO, PCAL_IO,
                                           PCAL_MEMORY};

static pcal_status fault_run(fault *f, row_call_function function, row_call call,
                             size_t fail_at) {
  pcal_env env = PCAL_ENV_INIT;
  pcal_error err = PCAL_ERROR_INIT;
  f->point = 0;
  f->fail_at = fail_at;
  env.threads = 1;
  env.memory_limit =
      f->kind == FAULT_MEMORY ? FAULT_LIMIT : 0; /* opening a budget may fail too */
  env.allocator = (pcal_allocator){fault_resize, fault_release, f};
  env.interrupted = fault_interrupted;
  env.user = f;
  call.sink = fault_sink;
  call.sink_user = f;
  call_reading = f->kind == FAULT_READ ? fault_reading : NULL;
  call_reading_user = f;
  fault_running = f;
  const pcal_status status = function(&env, &call, &err);
  fault_running = NULL;
  call_sources_release();
  if (atomic_load(&f->memory.live) != 0)
    fail_msg("%s: %zu blocks left after point %zu", call.name, atomic_load(&f->memory.live),
             fail_at);
  if (status == PCAL_MEMORY)
    assert_memory_equal(err.message, "out of memory while ", 20);
  return status;
}

static void fault_check(fault *f, row_call_function function, row_call call, size_t fail_at) {
  const pcal_status status = fault_run(f, function, call, fail_at);
  const int done = f->kind == FAULT_LOCK && status == PCAL_OK; /* without threads */
  if (status != fault_status[f->kind] && !done)
    fail_msg("%s, data %d, fault %d at point %zu: status %d", call.name, (int)call.data,
             (int)f->kind, fail_at, (int)status);
}

/* ---- sweeps ---- */

static int fault_few(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 1;
#else
  const char *laws = getenv("PROPERCAL_LAWS");
  return laws != NULL && strcmp(laws, "few") == 0;
#endif
}

/* Where code is slow, as with the counters of tools/branch-coverage, stacks with new calls have more
 * time: each is tried once in a program. */
static double fault_patience(void) {
  const char *times = getenv("PROPERCAL_PATIENCE");
  return times != NULL && !fault_few() ? fmin(fmax(atof(times), 1), FAULT_PATIENCE) : 1;
}

static double fault_fresh_seconds(void) {
  return fault_few() ? FAULT_FEW_FRESH_SECONDS : FAULT_FRESH_SECONDS * fault_patience();
}

static double fault_seconds(clock_t begun) {
  return (double)(clock() - begun) / CLOCKS_PER_SEC;
}

/* Returns 1 if a call of the stack is in no stack that was tried; its calls then count as tried. */
static int fault_is_fresh(fault_kind kind, const stack_sites *sites) {
  int fresh = 0;
  for (size_t i = 0; i < sites->count; i++)
    fresh |= stack_set_add(&fault_sites[kind], sites->address[i]);
  return fresh;
}

/* Tries the fresh stacks, or all that are new, until the time is over. */
static void fault_sweep_stacks(fault *f, row_call_function function, row_call call, int fresh,
                               double seconds) {
  const clock_t begun = clock();
  for (size_t i = 0; i < f->place_count && fault_seconds(begun) < seconds; i++)
    if (fresh ? fault_is_fresh(f->kind, &f->places[i].sites)
              : !stack_set_has(&fault_tried[f->kind], f->places[i].stack)) {
      fault_check(f, function, call, f->places[i].point);
      stack_set_add(&fault_tried[f->kind], f->places[i].stack);
    }
}

/* Tries stacks, then points in steps, until the time is over. */
static void fault_sweep_points(fault *f, row_call_function function, row_call call,
                               size_t points) {
  const double seconds = fault_few() ? FAULT_FEW_SECONDS : FAULT_SECONDS;
  const int few = fault_few() || f->kind != FAULT_MEMORY || f->place_count == 0;
  const size_t count = few ? FAULT_FEW_POINTS : FAULT_POINTS;
  const clock_t begun = clock();
  fault_sweep_stacks(f, function, call, 0, seconds);
  for (size_t n = 1; n <= points && fault_seconds(begun) < seconds;
       n += n < count / 3 ? 1 : 1 + points / count)
    fault_check(f, function, call, n);
}

int fault_sweep(fault_kind kind, row_call_function function, call_data data, const char *spec) {
  fault f = {.kind = kind, .recording = 1};
  const row_call call = {.data = data, .name = spec};
  const clock_t begun = clock();
  const pcal_status status = fault_run(&f, function, call, 0);
  const double seconds = fault_seconds(begun);
  const int slow = function == call_study && seconds > FAULT_SLOW;
  const int swept = status == PCAL_OK &&
                    (!slow || (!fault_few() && seconds < FAULT_TOO_SLOW * fault_patience()));
  const int known = function == call_study && f.place_count == 0;
  const size_t points = f.point;
  f.recording = 0;
  if (swept)
    fault_sweep_stacks(&f, function, call, 1, fault_fresh_seconds());
  if (swept && !slow && !known)
    fault_sweep_points(&f, function, call, points);
  else if (status != PCAL_OK && status != PCAL_USAGE && status != PCAL_DATA)
    fail_msg("%s, data %d: status %d without a fault", spec, (int)data, (int)status);
  free(f.places);
  stack_set_free(&f.seen);
  return swept;
}

int fault_sweep_spec(fault_kind kind, row_call_function function, const char *spec) {
  int swept = 0;
  for (call_data data = CALL_LOGITS; data < CALL_DATA_COUNT; data++)
    swept |= fault_sweep(kind, function, data, spec);
  return swept;
}

/* Sweeps a row with each word of one of its options. */
static void fault_sweep_words(fault_kind kind, row_call_function function,
                              const pcal_registry_row *row, const pcal_option *option) {
  const char *word = option->type == PCAL_OPTION_BOOL ? "no|yes" : option->choices;
  while (word != NULL) {
    char spec[PC_SPEC_MAX];
    const size_t length = strcspn(word, "|");
    snprintf(spec, sizeof spec, "%s:%s=%.*s", row->name, option->name, (int)length, word);
    fault_sweep_spec(kind, function, spec);
    word = word[length] == '|' ? word + length + 1 : NULL;
  }
}

size_t fault_sweep_rows(fault_kind kind, row_call_function function, pcal_registry registry,
                        int words) {
  size_t swept = 0;
  for (size_t i = 0; i < pcal_registry_count(registry); i++) {
    const pcal_registry_row *row = pcal_registry_at(registry, i);
    swept += (size_t)fault_sweep_spec(kind, function, row->name);
    for (size_t o = 0; words && o < row->option_count; o++)
      fault_sweep_words(kind, function, row, &row->options[o]);
  }
  return swept;
}
