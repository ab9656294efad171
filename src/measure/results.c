#include "measure/results.h"

#include <string.h>

#include "measure/group_records.h"
#include "measure/replicas/exchange.h"

pcal_status pc_name_list_copy(const pcal_env *env, const char *const *names, size_t count,
                              char ***out, pcal_error *err) {
  *out = NULL;
  if (names == NULL || count == 0)
    return PCAL_OK;
  char **copy = pc_alloc(env, count, sizeof *copy);
  int enough = copy != NULL;
  for (size_t i = 0; i < count && enough; i++) {
    copy[i] = pc_copy_text(env, names[i]);
    enough = copy[i] != NULL;
  }
  if (!enough) {
    pc_name_list_free(env, copy, count);
    return pc_fail_memory(err, "copying names");
  }
  *out = copy;
  return PCAL_OK;
}

void pc_name_list_free(const pcal_env *env, char **names, size_t count) {
  for (size_t i = 0; names != NULL && i < count; i++)
    pc_free(env, names[i]);
  pc_free(env, names);
}

const char *pc_device_use_name(unsigned uses) {
  return uses & PC_USE_PAIRS    ? "pairs"
         : uses & PC_USE_COPY   ? "copied"
         : uses & PC_USE_HOST   ? "cpu"
         : uses & PC_USE_DEVICE ? "cuda"
                                : NULL;
}

const char *pc_results_view(const pcal_results *results) {
  return results->layout.form != PC_FORM_CLASSES ? "pit"
         : pc_layout_is_binary(&results->layout) ? "positive"
                                                 : "top";
}

const pc_result_record *pc_results_record(const pcal_results *results, const char *spec) {
  const pc_metric *metric;
  pc_options options;
  pc_metric_config config;
  char full[PC_SPEC_MAX];
  memset(&config, 0, sizeof config);
  if (pc_metric_parse_for(results->layout.form, spec, &metric, &options, NULL) != PCAL_OK ||
      metric->configure(&options, &results->layout, &config, NULL) != PCAL_OK)
    return NULL;
  pc_options_write(&options, 1, full, sizeof full);
  for (size_t m = 0; m < results->metric_count; m++)
    if (strcmp(results->records[m].spec, full) == 0)
      return &results->records[m];
  return NULL;
}

static void results_free_verdict(pcal_results *results) {
  if (results->verdict == NULL)
    return;
  pc_mutex_destroy(&results->verdict->lock);
  pc_free(&results->env, results->verdict->text);
  pc_free(&results->env, results->verdict);
}

void pc_results_free(pcal_results *results) {
  if (results == NULL)
    return;
  const pcal_env env = results->env;
  pc_group_records_free(results);
  for (size_t i = 0; results->records != NULL && i < results->metric_count; i++) {
    pc_free(&env, results->records[i].outcome.class_values);
    pc_plot_table_free(&env, &results->records[i].outcome.graph);
  }
  pc_free(&env, results->records);
  pc_free(&env, results->bins);
  pc_free(&env, results->public_bins);
  pc_free(&env, results->class_1_bins);
  pc_name_list_free(&env, results->class_names, results->class_count);
  pc_name_list_free(&env, results->group_names, results->group_count);
  pc_free(&env, results->group_weights);
  pc_target_ranks_free(&env, &results->forecast.places);
  results_free_verdict(results);
  pc_free(&env, results->changes);
  pc_free(&env, results->replicas);
  pc_free(&env, results->left_out);
  pc_exchange_free(&env, &results->kept);
  pc_free(&env, results);
}
