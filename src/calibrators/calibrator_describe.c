#include "calibrators/calibrator_describe.h"

#include <math.h>

#include "base/escape.h"
#include "base/number.h"
#include "calibrators/calibrator_file.h"
#include "calibrators/group_calibrators.h"

/* ---- JSON ---- */

static void calibrator_describe_traits(const pcal_calibrator *calibrator, pc_json *json) {
  const char *name;
  unsigned trait = 0;
  pc_json_key(json, "traits");
  pc_json_open(json, '{');
  for (size_t i = 0; (name = pc_calibrator_trait_name(i, &trait)) != NULL; i++) {
    pc_json_key(json, name);
    pc_json_bool(json, (pc_calibrator_traits(calibrator) & trait) != 0);
  }
  pc_json_close(json, '}');
}

static void calibrator_describe_data(const pcal_calibrator *calibrator, pc_json *json) {
  const pc_fit_info *fit = &calibrator->fit;
  pc_json_key(json, "data");
  pc_json_open(json, '{');
  pc_json_key(json, "kind");
  pc_json_string(json, pcal_kind_name(calibrator->layout.kind));
  pc_json_key(json, "rows");
  pc_json_integer(json, fit->rows);
  pc_calibrator_write_classes(calibrator, json);
  pc_json_key(json, "weighted");
  pc_json_bool(json, fit->weighted);
  if (fit->weighted) {
    pc_calibrator_write_weights_are(calibrator, json);
    pc_json_key(json, "weight");
    pc_json_number(json, fit->weight);
  }
  pc_json_key(json, "normalized_rows");
  pc_json_integer(json, fit->normalized);
  pc_json_key(json, "skipped_rows");
  pc_json_integer(json, fit->skipped);
  pc_json_close(json, '}');
}

static void calibrator_describe_groups_json(const pc_group_calibrators *groups, pc_json *json) {
  pc_json_key(json, "groups");
  pc_json_open(json, '{');
  pc_json_key(json, "kappa");
  pc_json_number(json, groups->kappa);
  pc_json_key(json, "members");
  pc_json_open(json, '[');
  for (size_t g = 0; g < groups->count; g++) {
    const pc_group_member *member = &groups->members[g];
    pc_json_open(json, '{');
    pc_json_key(json, "name");
    pc_json_string(json, member->name);
    pc_json_key(json, "share");
    pc_json_number(json, pc_group_share(member, groups->kappa));
    pc_calibrator_write_outcome(member->calibrator, json);
    pc_calibrator_write_parameters(member->calibrator, json);
    pc_calibrator_write_warnings(member->calibrator, json);
    pc_json_close(json, '}');
  }
  pc_json_close(json, ']');
  pc_json_close(json, '}');
}

void pc_calibrator_describe_json(const pcal_calibrator *calibrator, pc_text *out) {
  char spec[PC_SPEC_MAX];
  pc_json json;
  pc_options_write(&calibrator->options, 1, spec, sizeof spec);
  pc_json_init(&json, out);
  pc_json_open(&json, '{');
  pc_json_key(&json, "propercal");
  pc_json_string(&json, PCAL_VERSION);
  pc_json_key(&json, "method");
  pc_json_string(&json, calibrator->method->row.name);
  pc_json_key(&json, "spec");
  pc_json_string(&json, spec);
  pc_calibrator_write_outcome(calibrator, &json);
  pc_calibrator_write_parameters(calibrator, &json);
  calibrator_describe_traits(calibrator, &json);
  pc_calibrator_write_warnings(calibrator, &json);
  calibrator_describe_data(calibrator, &json);
  if (calibrator->groups != NULL)
    calibrator_describe_groups_json(calibrator->groups, &json);
  pc_json_close(&json, '}');
  pc_text_add(out, "\n");
}

/* ---- Text ---- */

static void calibrator_describe_count(pc_text *out, uint64_t count, const char *what) {
  if (count > 0)
    pc_text_format(out, ", %llu %s", (unsigned long long)count, what);
}

static void calibrator_describe_number(pc_text *out, double value, int digits) {
  char shown[PC_NUMBER_MAX];
  pc_number_round(value, digits, shown);
  pc_text_add(out, shown);
}

static void calibrator_describe_rows(const pcal_calibrator *calibrator, pc_text *out) {
  const pc_fit_info *fit = &calibrator->fit;
  pc_text_format(out, "data         %llu row%s of %s", (unsigned long long)fit->rows,
                 fit->rows == 1 ? "" : "s", pc_kind_title(calibrator->layout.kind));
  if (calibrator->layout.kind != PCAL_CONFIDENCE && calibrator->layout.form == PC_FORM_CLASSES)
    pc_text_format(out, ", %zu classes", calibrator->layout.classes);
  if (fit->weighted) {
    const char *meaning = pc_fit_weights_name(fit);
    if (fit->weights_are == PCAL_WEIGHTS_IMPORTANCE) {
      pc_text_add(out, ", importance weights, effective sample size ");
      calibrator_describe_number(out, fit->weight, 4);
    } else {
      pc_text_format(out, ", %s%stotal weight ", meaning == NULL ? "" : meaning,
                     meaning == NULL ? "" : " weights, ");
      pc_text_number(out, fit->weight);
    }
  }
  calibrator_describe_count(out, fit->normalized, "normalized");
  calibrator_describe_count(out, fit->skipped, "skipped");
  pc_text_add(out, "\n");
}

static void calibrator_describe_outcome(const pcal_calibrator *calibrator, pc_text *out) {
  const pc_fit_info *fit = &calibrator->fit;
  char objective[64];
  pc_text_format(out, "status       %s", pc_fit_status_name(fit->status));
  if (fit->searched) {
    pc_text_format(out, " after %llu pass%s, gradient ", (unsigned long long)fit->iterations,
                   fit->iterations == 1 ? "" : "es");
    calibrator_describe_number(out, fit->gradient, 2);
    pc_text_format(out, "\nobjective    %s: ",
                   pc_calibrator_objective(calibrator, objective, sizeof objective));
    calibrator_describe_number(out, fit->before, 5);
    pc_text_add(out, " before, ");
    calibrator_describe_number(out, fit->after, 5);
    pc_text_add(out, " after");
  }
  pc_text_add(out, "\n");
}

static void calibrator_describe_kept(const pcal_calibrator *calibrator, pc_text *out) {
  static const struct {
    unsigned trait;
    const char *words;
  } kept[] = {{PC_KEEPS_ACCURACY, "the top class"},
              {PC_KEEPS_ORDER, "the order of classes"},
              {PC_SUMS_TO_ONE, "rows that sum to one"}};
  const char *before = "keeps        ";
  if (calibrator->layout.columns == 1)
    return;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    if ((pc_calibrator_traits(calibrator) & kept[i].trait) == 0)
      continue;
    pc_text_format(out, "%s%s", before, kept[i].words);
    before = ", ";
  }
  pc_text_add(out, *before == ',' ? "\n" : "");
}

static void calibrator_describe_groups(const pc_group_calibrators *groups, pc_text *out) {
  char shown[PC_NUMBER_MAX];
  pc_text_format(out, "groups       %zu, ", groups->count);
  if (isinf(groups->kappa))
    pc_text_add(out, "all use the common calibrator: no group improves with its own\n");
  else if (groups->kappa > 0)
    pc_text_format(out, "each with weight n / (n + %s), the common calibrator with the rest\n",
                   pc_show(groups->kappa, shown));
  else
    pc_text_add(out, "each uses only its own calibrator\n");
  for (size_t g = 0; g < groups->count; g++) {
    const pc_group_member *member = &groups->members[g];
    char name[64];
    pc_escape_copy(member->name, name, sizeof name);
    pc_text_format(out, "  %-10s %llu row%s, share ", name,
                   (unsigned long long)member->calibrator->fit.rows,
                   member->calibrator->fit.rows == 1 ? "" : "s");
    calibrator_describe_number(out, pc_group_share(member, groups->kappa), 3);
    pc_text_add(out, ": ");
    member->calibrator->method->describe(member->calibrator, out);
  }
}

void pc_calibrator_describe_text(const pcal_calibrator *calibrator, pc_text *out) {
  char spec[PC_SPEC_MAX];
  pc_options_write(&calibrator->options, 1, spec, sizeof spec);
  pc_text_format(out, "calibrator   %s\nlearned      ", spec);
  calibrator->method->describe(calibrator, out);
  calibrator_describe_outcome(calibrator, out);
  calibrator_describe_rows(calibrator, out);
  calibrator_describe_kept(calibrator, out);
  if (calibrator->groups != NULL)
    calibrator_describe_groups(calibrator->groups, out);
  for (size_t i = 0; i < calibrator->fit.warning_count; i++) {
    pc_text_add(out, "warning      ");
    pc_text_terminal(out, calibrator->fit.warnings[i]);
    pc_text_add(out, "\n");
  }
}
