#include "testing.h"

#include "law_specs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#define LAW_VALUES_MAX 32
#define LAW_VALUE_SIZE 64

/* The values of one option that are tried. */
typedef struct law_values {
  char text[LAW_VALUES_MAX][LAW_VALUE_SIZE];
  size_t count;
} law_values;

static void law_values_add(law_values *values, const char *text, size_t length) {
  assert_true(values->count < LAW_VALUES_MAX && length < LAW_VALUE_SIZE);
  memcpy(values->text[values->count], text, length);
  values->text[values->count++][length] = '\0';
}

static void law_values_words(law_values *values, const char *words) {
  for (const char *word = words; word != NULL;) {
    const size_t length = strcspn(word, "|");
    law_values_add(values, word, length);
    word = word[length] == '|' ? word + length + 1 : NULL;
  }
}

static void law_values_number(law_values *values, const pcal_option *option, double number) {
  char digits[PC_NUMBER_MAX];
  if (number >= option->low && number <= option->high)
    law_values_add(values, digits, pc_number_format(number, digits));
}

/* Few values of numeric options: with sanitizers, since memory errors show with few, and with
 * PROPERCAL_LAWS=few, by which make check saves time.  make check-all tries more. */
static int law_values_few(void) {
#if defined(__SANITIZE_ADDRESS__)
  return 1;
#else
  const char *wanted = getenv("PROPERCAL_LAWS");
  return wanted != NULL && strcmp(wanted, "few") == 0;
#endif
}

static void law_values_of(const pcal_option *option, law_values *out) {
  static const double beyond_low[] = {0, 6, 1, 2, 19, 39};
  const size_t numbers = law_values_few() ? 2 : sizeof beyond_low / sizeof *beyond_low;
  const int steps = law_values_few() ? 2 : 4;
  char list[LAW_VALUE_SIZE], low[PC_NUMBER_MAX], high[PC_NUMBER_MAX];
  out->count = 0;
  law_values_words(out, option->type == PCAL_OPTION_BOOL ? "no|yes" : option->choices);
  if (option->type == PCAL_OPTION_INT)
    for (size_t i = 0; i < numbers; i++)
      law_values_number(out, option, option->low + beyond_low[i]);
  if (option->type == PCAL_OPTION_REAL)
    for (int i = 0; i <= steps; i++)
      law_values_number(out, option, option->low + i * (option->high - option->low) / steps);
  if (option->type == PCAL_OPTION_REALS) {
    const int length = snprintf(list, sizeof list, "%s/%s", pc_show(option->low, low),
                                pc_show(option->high, high));
    law_values_number(out, option, option->low);
    law_values_add(out, list, (size_t)length);
  }
}

int law_spec_fits(const law_set *set, const char *spec) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_error err;
  config.kind = set->kind;
  config.columns = set->columns;
  config.levels = set->levels;
  config.specs = &spec;
  config.spec_count = 1;
  const pcal_status status = pcal_measure_new(&config, NULL, &measure, &err);
  pcal_measure_free(measure);
  if (status != PCAL_OK && status != PCAL_USAGE)
    fail_msg("%s on %s: status %d, %s", spec, set->name, (int)status, err.message);
  return status == PCAL_OK;
}

/* How a metric reads the data, options included. */
pc_metric_config law_spec_config(const law_set *set, const char *spec) {
  const pc_metric *metric;
  pc_options options;
  pc_layout layout;
  pc_metric_config config;
  memset(&config, 0, sizeof config);
  assert_int_equal(pc_layout_make_levels(set->kind, set->columns, set->levels, &layout, NULL),
                   PCAL_OK);
  assert_int_equal(pc_metric_parse_for(layout.form, spec, &metric, &options, NULL), PCAL_OK);
  config.traits = metric->traits;
  config.range = pc_metric_range(metric);
  assert_int_equal(metric->configure(&options, &layout, &config, NULL), PCAL_OK);
  return config;
}

static void law_specs_add(const law_set *set, law_specs *specs, const pc_metric *metric,
                          const char *spec) {
  const pc_metric_config config = law_spec_config(set, spec);
  if ((config.traits & specs->with) != specs->with || (config.traits & specs->without) != 0)
    return;
  if (specs->count == specs->capacity) {
    specs->capacity = 2 * specs->capacity + 64;
    specs->text = realloc(specs->text, specs->capacity * sizeof *specs->text);
    specs->metric = realloc(specs->metric, specs->capacity * sizeof *specs->metric);
    specs->config = realloc(specs->config, specs->capacity * sizeof *specs->config);
  }
  snprintf(specs->text[specs->count], PC_SPEC_MAX, "%s", spec);
  specs->config[specs->count] = config;
  specs->metric[specs->count++] = metric;
}

/* The value of one option beside the first value of each other option that makes it fit. */
static void law_specs_rescue(const law_set *set, const pc_metric *metric, size_t option,
                             const char *value, law_specs *out) {
  const pcal_option *table = metric->row.options;
  for (size_t other = 0; other < metric->row.option_count; other++) {
    law_values beside;
    law_values_of(&table[other], &beside);
    for (size_t v = 0; v < beside.count && other != option; v++) {
      char spec[PC_SPEC_MAX];
      snprintf(spec, sizeof spec, "%s:%s=%s,%s=%s", metric->row.name, table[option].name, value,
               table[other].name, beside.text[v]);
      if (!law_spec_fits(set, spec))
        continue;
      law_specs_add(set, out, metric, spec);
      break;
    }
  }
}

/* Fewest replicas beside another option, where a metric draws any: a law that holds for 20
 * holds for 500, which the row's own defaults try once. */
static void law_specs_few_replicas(const law_set *set, const pc_metric *metric, size_t option,
                                   char spec[PC_SPEC_MAX]) {
  const pcal_option *table = metric->row.options;
  for (size_t o = 0; o < metric->row.option_count; o++) {
    char cheaper[PC_SPEC_MAX], low[PC_NUMBER_MAX];
    if (o == option || strcmp(table[o].name, "replicas") != 0)
      continue;
    const int length =
        snprintf(cheaper, sizeof cheaper, "%s,replicas=%s", spec, pc_show(table[o].low, low));
    if (length > 0 && (size_t)length < sizeof cheaper && law_spec_fits(set, cheaper))
      memcpy(spec, cheaper, (size_t)length + 1);
  }
}

static void law_specs_row(const law_set *set, const pc_metric *metric, law_specs *out) {
  if (law_spec_fits(set, metric->row.name))
    law_specs_add(set, out, metric, metric->row.name);
  for (size_t o = 0; o < metric->row.option_count; o++) {
    law_values values;
    law_values_of(&metric->row.options[o], &values);
    for (size_t v = 0; v < values.count; v++) {
      char spec[PC_SPEC_MAX];
      snprintf(spec, sizeof spec, "%s:%s=%s", metric->row.name, metric->row.options[o].name,
               values.text[v]);
      law_specs_few_replicas(set, metric, o, spec);
      if (law_spec_fits(set, spec))
        law_specs_add(set, out, metric, spec);
      else
        law_specs_rescue(set, metric, o, values.text[v], out);
    }
  }
}

void law_specs_make(const law_set *set, unsigned with, unsigned without, law_specs *out) {
  *out = (law_specs){.with = with, .without = without};
  for (size_t m = 0; m < pc_metric_count(); m++) /* a name may have a row of each task */
    if (pc_metric_find_for(pc_kind_form(set->kind), pc_metric_at(m)->row.name) ==
        pc_metric_at(m))
      law_specs_row(set, pc_metric_at(m), out);
  out->list = calloc(out->count + 1, sizeof *out->list);
  for (size_t i = 0; i < out->count; i++)
    out->list[i] = out->text[i];
}

void law_specs_free(law_specs *specs) {
  free(specs->text);
  free(specs->list);
  free(specs->metric);
  free(specs->config);
  *specs = (law_specs){0};
}
