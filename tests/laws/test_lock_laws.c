/* A lock cannot be made, at any place: PCAL_MEMORY and nothing is left over (fault_sweep.h), or the work is
 * done without threads. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include "../unit/unit.h"

#include "fault_sweep.h"

/* Stands before the function of the C library. */
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes) {
  int (*const real)(pthread_mutex_t *, const pthread_mutexattr_t *) =
      (int (*)(pthread_mutex_t *, const pthread_mutexattr_t *))(uintptr_t)dlsym(
          RTLD_NEXT, "pthread_mutex_init");
  return fault_refuses_lock() ? EAGAIN : real(mutex, attributes);
}

static int lock_sweep(row_call_function function, call_data data, const char *spec) {
  return fault_sweep(FAULT_LOCK, function, data, spec);
}

TEST(metrics) {
  assert_int_equal(fault_sweep_rows(FAULT_LOCK, call_metric, PCAL_METRICS, 0),
                   pcal_registry_count(PCAL_METRICS));
  assert_true(lock_sweep(call_difference, CALL_LOGITS, "default"));
  assert_true(lock_sweep(call_state, CALL_LOGITS, "ks"));
  assert_true(lock_sweep(call_rounds, CALL_BINARY, "ks"));
  assert_true(lock_sweep(call_rounds_fit, CALL_BINARY, "platt"));
  assert_true(lock_sweep(call_watch, CALL_BINARY, "watch"));
}

TEST(calibrators) {
  assert_int_equal(fault_sweep_rows(FAULT_LOCK, call_calibrator, PCAL_CALIBRATORS, 0),
                   pcal_registry_count(PCAL_CALIBRATORS));
  assert_true(lock_sweep(call_calibrator_by_group, CALL_LOGITS, "temperature"));
}

TEST(figures_and_studies) {
  assert_true(fault_sweep_rows(FAULT_LOCK, call_figure, PCAL_FIGURES, 0) >=
              pcal_registry_count(PCAL_FIGURES) / 2);
  assert_true(fault_sweep_rows(FAULT_LOCK, call_study, PCAL_STUDIES, 0) > 0);
}

TEST(reports_and_comparisons) {
  assert_true(lock_sweep(call_report, CALL_LOGITS, "temperature"));
  assert_true(lock_sweep(call_report_chosen, CALL_BINARY, "brier"));
  assert_true(lock_sweep(call_compare, CALL_BINARY, "isotonic"));
  assert_true(lock_sweep(call_compare_models, CALL_LOGITS, "brier"));
}
