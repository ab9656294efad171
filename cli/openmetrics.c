/* Results as OpenMetrics, one line for each number:
 *
 *   propercal_value{metric="ece",spec="ece:bins=20",group="north"} 0.0475
 *
 * A result over all rows has no label group.  Families:
 *   abstained_rows                        no labels; only if rows say whether the model answered
 *   value, low, high, standard_error      a result and its interval
 *   null_mean, null_p_value, p_value      its null and its test
 *   difference                            to another model
 *   part{part="..."}                      its parts
 * Edge cases:
 * (1) An undefined value is NaN, an infinite one +Inf.
 * (2) A family is written only if some result has it.
 * (3) Names of groups are made printable first, then \ and " are escaped.
 * Source: https://prometheus.io/docs/specs/om/open_metrics_spec */
#include "openmetrics.h"

#include <math.h>
#include <string.h>

int cli_openmetrics_wanted(const cli_options *options) {
  return options->format && strcmp(options->format, "openmetrics") == 0;
}

static void openmetrics_number(cli_text_buffer *out, double value) {
  char digits[CLI_NUMBER_MAX];
  cli_put(out, isnan(value)   ? "NaN"
               : isinf(value) ? (value > 0 ? "+Inf" : "-Inf")
                              : cli_number(value, digits));
}

static void openmetrics_label(cli_text_buffer *out, const char *before, const char *name,
                              const char *value) {
  cli_text_buffer plain = CLI_TEXT_BUFFER_INIT;
  cli_put_escaped(&plain, PCAL_FOR_TERMINAL, value);
  out->failed |= plain.failed;
  cli_putf(out, "%s%s=\"", before, name);
  for (const char *at = plain.text && !plain.failed ? plain.text : ""; *at; at++) {
    if (*at == '\\' || *at == '"')
      cli_put(out, "\\");
    cli_put_bytes(out, at, 1);
  }
  cli_put(out, "\"");
  cli_text_buffer_free(&plain);
}

/* One number of a result.  Returns 0 if the result does not have it. */
typedef int (*openmetrics_reader)(const pcal_result *result, double *out);

static int openmetrics_value(const pcal_result *result, double *out) {
  *out = result->defined ? result->value : (double)NAN;
  return 1;
}

static int openmetrics_low(const pcal_result *result, double *out) {
  *out = result->low;
  return result->has_interval;
}

static int openmetrics_high(const pcal_result *result, double *out) {
  *out = result->high;
  return result->has_interval;
}

static int openmetrics_se(const pcal_result *result, double *out) {
  *out = result->se;
  return result->has_interval;
}

static int openmetrics_null_mean(const pcal_result *result, double *out) {
  *out = result->null_mean;
  return result->has_null;
}

static int openmetrics_null_p_value(const pcal_result *result, double *out) {
  *out = result->null_p_value;
  return result->has_null;
}

static int openmetrics_p_value(const pcal_result *result, double *out) {
  *out = result->p_value;
  return result->tested;
}

static int openmetrics_difference(const pcal_result *result, double *out) {
  *out = result->difference;
  return result->has_difference;
}

/* Writes type and help before the first sample of a family. */
static void openmetrics_begin(cli_text_buffer *out, int *begun, const char *name,
                              const char *help) {
  if (!*begun)
    cli_putf(out, "# TYPE propercal_%s gauge\n# HELP propercal_%s %s\n", name, name, help);
  *begun = 1;
}

static void openmetrics_sample(cli_text_buffer *out, const char *name,
                               const pcal_result *result, const char *part, double value) {
  cli_putf(out, "propercal_%s", name);
  openmetrics_label(out, "{", "metric", result->metric);
  openmetrics_label(out, ",", "spec", result->label);
  if (result->group)
    openmetrics_label(out, ",", "group", result->group);
  if (part)
    openmetrics_label(out, ",", "part", part);
  cli_put(out, "} ");
  openmetrics_number(out, value);
  cli_put(out, "\n");
}

static void openmetrics_family(cli_text_buffer *out, const pcal_results *results,
                               const char *name, const char *help, openmetrics_reader read) {
  pcal_result result = {.size = sizeof result};
  int begun = 0;
  double value;
  for (size_t i = 0; pcal_results_get(results, i, &result) == PCAL_OK; i++) {
    if (!read(&result, &value))
      continue;
    openmetrics_begin(out, &begun, name, help);
    openmetrics_sample(out, name, &result, NULL, value);
  }
}

static void openmetrics_parts(cli_text_buffer *out, const pcal_results *results) {
  pcal_result result = {.size = sizeof result};
  int begun = 0;
  for (size_t i = 0; pcal_results_get(results, i, &result) == PCAL_OK; i++)
    for (size_t p = 0; p < result.part_count; p++) {
      openmetrics_begin(out, &begun, "part", "A part of a value.");
      openmetrics_sample(out, "part", &result, result.parts[p].name, result.parts[p].value);
    }
}

static void openmetrics_abstained(cli_text_buffer *out, const pcal_results *results) {
  const uint64_t abstained = pcal_results_abstained(results);
  int begun = 0;
  if (abstained == PCAL_NO_ROW)
    return;
  openmetrics_begin(out, &begun, "abstained_rows", "Rows that the model did not answer.");
  cli_putf(out, "propercal_abstained_rows %llu\n", (unsigned long long)abstained);
}

void cli_put_openmetrics(cli_text_buffer *buffer, const pcal_results *results) {
  static const struct {
    const char *name, *help;
    openmetrics_reader read;
  } families[] = {
      {"value", "Value of a metric.", openmetrics_value},
      {"low", "Lower end of the interval.", openmetrics_low},
      {"high", "Upper end of the interval.", openmetrics_high},
      {"standard_error", "Standard error of the value.", openmetrics_se},
      {"null_mean", "Mean value of a calibrated model.", openmetrics_null_mean},
      {"null_p_value", "p-value of the value under calibration.", openmetrics_null_p_value},
      {"p_value", "p-value of a test.", openmetrics_p_value},
      {"difference", "Difference to the other model.", openmetrics_difference},
  };
  openmetrics_abstained(buffer, results);
  for (size_t f = 0; f < CLI_COUNT_OF(families); f++)
    openmetrics_family(buffer, results, families[f].name, families[f].help, families[f].read);
  openmetrics_parts(buffer, results);
  cli_put(buffer, "# EOF\n");
}
