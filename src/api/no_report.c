/* Replaces report_api.c and src/report in a build with -Dreport=false. */
#include "api/left_out.h"

pcal_status pcal_report_run(pcal_source *source, const pcal_report_config *config,
                            const pcal_env *env, pcal_report **out, pcal_error *err) {
  (void)source;
  (void)config;
  (void)env;
  if (out != NULL)
    *out = NULL;
  return PC_FAIL_LEFT_OUT(err, "reports", "report");
}

pcal_status pcal_report_from_results(const pcal_results *results,
                                     const pcal_report_config *config, pcal_report **out,
                                     pcal_error *err) {
  (void)results;
  (void)config;
  if (out != NULL)
    *out = NULL;
  return PC_FAIL_LEFT_OUT(err, "reports", "report");
}

pcal_status pcal_report_write(const pcal_report *report, pcal_format format, pcal_sink sink,
                              void *user, pcal_error *err) {
  (void)report;
  (void)format;
  (void)sink;
  (void)user;
  return PC_FAIL_LEFT_OUT(err, "reports", "report");
}

void pcal_report_free(pcal_report *report) {
  (void)report;
}
