/* Public entry point for sample-size plans: checks its arguments, then calls the
 * implementation. */
#include <string.h>

#include "base/budget.h"
#include "output/write_sample_plan.h"

pcal_status pcal_plan_write(const pcal_results *results, const pcal_plan_config *config,
                            pcal_format format, pcal_sink sink, void *user, pcal_error *err) {
  pc_error_clear(err);
  if (results == NULL || config == NULL || sink == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "pcal_plan_write needs results, a configuration and a sink");
  if (config->size < sizeof(size_t))
    return pc_fail(err, PCAL_USAGE, "the configuration's size is not set");
  if (format < PCAL_TEXT || format > PCAL_LATEX)
    return pc_fail(err, PCAL_USAGE, "the format %d is unknown", (int)format);
  pcal_plan_config full = PCAL_PLAN_CONFIG_INIT;
  memcpy(&full, config, config->size < sizeof full ? config->size : sizeof full);
  pc_text text;
  pc_text_init(&text, &results->env);
  pcal_status status = pc_write_sample_plan(results, &full, format, &text, err);
  if (status == PCAL_OK)
    status = pc_text_send(&text, sink, user, err);
  pc_text_free(&text);
  return pc_budget_explain(&results->env, status, err);
}
