/* Laws of every row of the metric registry: threads do not show. */
#include "testing.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "law_measure.h"

typedef struct laws_large {
  law_set *set;
  law_specs specs;
  law_case about;
  char *expected; /* with one thread */
} laws_large;

#if defined(__SANITIZE_THREAD__)
enum { LAWS_THIN = 1 }; /* ten times as slow: one spec of each metric will do */
#else
enum { LAWS_THIN = 0 };
#endif

static void laws_thin(law_specs *specs) {
  size_t kept = 0;
  for (size_t i = 0; i < specs->count; i++) {
    if (kept > 0 && specs->metric[kept - 1] == specs->metric[i])
      continue;
    memmove(specs->text[kept], specs->text[i], sizeof specs->text[i]);
    specs->metric[kept] = specs->metric[i];
    specs->config[kept++] = specs->config[i];
  }
  specs->count = kept;
}

static laws_large laws_large_make(unsigned without) {
  laws_large large = {.set = law_set_large()};
  law_specs_make(large.set, 0, without, &large.specs);
  if (LAWS_THIN)
    laws_thin(&large.specs);
  return large;
}

static void laws_large_free(laws_large *large) {
  law_specs_free(&large->specs);
  law_set_free(large->set);
}

static char *laws_copy(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  strcpy(copy, text);
  return copy;
}

static void laws_expect(const laws_large *large, unsigned threads, pcal_pool *pool,
                        const char *what) {
  law_case about = large->about;
  about.env.threads = threads;
  about.env.pool = pool;
  law_compare(laws_copy(large->expected), law_json_of(&about), &about, what);
}

static void laws_all_threads(laws_large *large, pcal_pool *pool) {
  large->expected = law_json_of(&large->about);
  laws_expect(large, 2, NULL, "two threads");
  laws_expect(large, 7, NULL, "seven threads");
  laws_expect(large, 4, pool, "a pool");
  laws_expect(large, 7, pool, "a pool of fewer threads than asked for");
  free(large->expected);
}

TEST(test_threads_and_pools_are_invisible) {
  pcal_pool *pool = NULL;
  assert_int_equal(pcal_pool_new(4, NULL, &pool, NULL), PCAL_OK);
  laws_large large = laws_large_make(0);
  large.about = law_case_make(large.set, &large.specs);
  laws_all_threads(&large, pool);
  laws_large_free(&large);
  large = laws_large_make(PC_NO_WEIGHTS);
  large.about = law_case_make(large.set, &large.specs);
  large.about.weights = large.set->whole;
  large.about.groups = large.set->groups;
  laws_all_threads(&large, pool);
  laws_large_free(&large);
  laws_large light = laws_large_make(PC_WHOLE_WEIGHTS | PC_NO_WEIGHTS);
  light.about = law_case_make(light.set, &light.specs);
  light.about.weights = light.set->fractional;
  laws_all_threads(&light, pool);
  laws_large_free(&light);
  pcal_pool_free(pool);
}

/* ---- several callers at once ---- */

#define LAWS_CALLERS 3

typedef struct laws_caller {
  const pcal_measure *measure;
  const law_case *about;
  char *json;
} laws_caller;

static void *laws_finish_one(void *user) {
  laws_caller *caller = user;
  caller->json = law_json(caller->measure);
  return NULL;
}

static void *laws_measure_one(void *user) {
  laws_caller *caller = user;
  caller->json = law_json_of(caller->about);
  return NULL;
}

static void laws_call_at_once(const law_case *about, void *(*call)(void *)) {
  pthread_t thread[LAWS_CALLERS];
  laws_caller caller[LAWS_CALLERS];
  pcal_measure *measure = law_new(about);
  law_feed(measure, about, 0, about->set->rows);
  for (size_t c = 0; c < LAWS_CALLERS; c++) {
    caller[c] = (laws_caller){measure, about, NULL};
    assert_int_equal(pthread_create(&thread[c], NULL, call, &caller[c]), 0);
  }
  for (size_t c = 0; c < LAWS_CALLERS; c++) {
    pthread_join(thread[c], NULL);
    law_compare(law_json(measure), caller[c].json, about, "several callers at once");
  }
  pcal_measure_free(measure);
}

/* A measure may be asked by several threads, and a pool may be shared between calls. */
TEST(test_callers_do_not_disturb_each_other) {
  pcal_pool *pool = NULL;
  assert_int_equal(pcal_pool_new(2, NULL, &pool, NULL), PCAL_OK);
  laws_large large = laws_large_make(0);
  large.about = law_case_make(large.set, &large.specs);
  large.about.env.threads = 2;
  large.about.env.pool = pool;
  laws_call_at_once(&large.about, laws_finish_one);
  laws_call_at_once(&large.about, laws_measure_one);
  laws_large_free(&large);
  pcal_pool_free(pool);
}
