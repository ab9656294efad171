/* Replaces study_api.c and src/studies in a build with -Dstudies=false, and in the page for
 * the browser. */
#include "api/left_out.h"
#include "studies/study.h"

const pcal_registry_row *pc_study_row_at(size_t index) {
  (void)index;
  return NULL;
}

pcal_status pc_study_run(const char *spec, const pcal_study_config *config,
                         pc_findings *findings, pcal_error *err) {
  (void)spec;
  (void)config;
  (void)findings;
  return PC_FAIL_LEFT_OUT(err, "studies", "studies");
}

pcal_status pcal_study_run(const char *study, const pcal_study_config *config,
                           const pcal_env *env, pcal_study **out, pcal_error *err) {
  (void)study;
  (void)config;
  (void)env;
  if (out != NULL)
    *out = NULL;
  return PC_FAIL_LEFT_OUT(err, "studies", "studies");
}

void pcal_study_free(pcal_study *study) {
  (void)study;
}

const char *pcal_study_table_name(const pcal_study *study, size_t index) {
  (void)study;
  (void)index;
  return NULL;
}

pcal_status pcal_study_table_write(const pcal_study *study, size_t index, pcal_sink sink,
                                   void *user, pcal_error *err) {
  (void)study;
  (void)index;
  (void)sink;
  (void)user;
  return PC_FAIL_LEFT_OUT(err, "studies", "studies");
}

pcal_status pcal_study_write(const pcal_study *study, pcal_format format, pcal_sink sink,
                             void *user, pcal_error *err) {
  (void)study;
  (void)format;
  (void)sink;
  (void)user;
  return PC_FAIL_LEFT_OUT(err, "studies", "studies");
}
