/* Allocations fail, one after the other, in studies of simulated rows that tests/laws leaves out because
 * they take long with their own metrics: here with few metrics, rows and sets. */
#include "../unit.h"

#include "emulated.h"
#include "propercal.h"

typedef struct study_case {
  const char *spec;
  const char *const *specs;
  size_t spec_count;
  uint64_t rows;
  double factor;
} study_case;

static pcal_status study_write_all(const pcal_study *study, pcal_error *err) {
  size_t written = 0;
  for (int format = PCAL_TEXT; format <= PCAL_LATEX; format++)
    PC_TRY(pcal_study_write(study, (pcal_format)format, sink_count, &written, err));
  return PCAL_OK;
}

static pcal_status study_run(const pcal_env *env, void *user, pcal_error *err) {
  const study_case *one = user;
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  pcal_study *study = NULL;
  pcal_env serial = *env;
  serial.threads = 1;
  config.specs = one->specs;
  config.spec_count = one->spec_count;
  config.simulation.rows = one->rows;
  config.simulation.classes = 2;
  config.simulation.factor = one->factor;
  config.sets = config.null_sets = config.repeats = 1;
  config.replicas = 20;
  pcal_status status = pcal_study_run(one->spec, &config, &serial, &study, err);
  if (status == PCAL_OK)
    status = study_write_all(study, err);
  pcal_study_free(study);
  return status;
}

/* Studies take long, so that only some allocations fail: later ones repeat earlier ones. */
static void study_fail_some(study_case one, size_t density) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  density = 1;
#endif
  pcal_status status = PCAL_MEMORY;
  for (size_t n = 1; status != PCAL_OK; n += emulated() ? 9 * n : 1 + n / density) {
    unit_memory memory = {0};
    pcal_error err;
    atomic_store(&memory.fail_at, n);
    const pcal_env env = unit_env(&memory);
    status = study_run(&env, &one, &err);
    assert_int_equal(atomic_load(&memory.live), 0);
    assert_int_equal(status, atomic_load(&memory.calls) < n ? PCAL_OK : PCAL_MEMORY);
  }
}

TEST(two_models) {
  static const char *const scores[] = {"brier"};
  static const char *const specs[] = {"paired-size", "paired-size:law=recalibrated",
                                      "paired-size:law=recalibrated,fit=second",
                                      "paired-size:share=0.5,other=2"};
  for (size_t i = 0; i < UNIT_COUNT(specs); i++)
    study_fail_some((study_case){specs[i], scores, 1, 40, 1.5}, 25);
}

TEST(two_models_of_equal_error) {
  static const char *const specs[] = {"accuracy"};
  study_fail_some((study_case){"paired-size:law=opposed", specs, 1, 40, 1.5}, 3);
}

TEST(coverage_of_intervals) {
  static const char *const specs[] = {"ece", "decomposition", "spiegelhalter"};
  study_fail_some((study_case){"coverage", specs, UNIT_COUNT(specs), 30, 1.5}, 3);
}
