#include "calibrators/calibrator_file.h"

#include "calibrators/group_calibrators.h"

void pc_calibrator_write_outcome(const pcal_calibrator *calibrator, pc_json *json) {
  const pc_fit_info *fit = &calibrator->fit;
  char objective[64];
  pc_json_key(json, "status");
  pc_json_string(json, pc_fit_status_name(fit->status));
  pc_json_key(json, "iterations");
  pc_json_integer(json, fit->iterations);
  pc_json_key(json, "gradient");
  if (fit->searched)
    pc_json_number(json, fit->gradient);
  else
    pc_json_null(json);
  pc_json_key(json, "objective");
  if (!fit->searched) {
    pc_json_null(json);
    return;
  }
  pc_json_open(json, '{');
  pc_json_key(json, "name");
  pc_json_string(json, pc_calibrator_objective(calibrator, objective, sizeof objective));
  pc_json_key(json, "before");
  pc_json_number(json, fit->before);
  pc_json_key(json, "after");
  pc_json_number(json, fit->after);
  pc_json_close(json, '}');
}

void pc_calibrator_write_parameters(const pcal_calibrator *calibrator, pc_json *json) {
  pc_json_key(json, "parameters");
  pc_json_open(json, '{');
  calibrator->method->write(calibrator, json);
  pc_json_close(json, '}');
}

void pc_calibrator_write_warnings(const pcal_calibrator *calibrator, pc_json *json) {
  pc_json_key(json, "warnings");
  pc_json_open(json, '[');
  for (size_t i = 0; i < calibrator->fit.warning_count; i++)
    pc_json_string(json, calibrator->fit.warnings[i]);
  pc_json_close(json, ']');
}

const char *pc_fit_weights_name(const pc_fit_info *fit) {
  return fit->weights_are == PCAL_WEIGHTS_IMPORTANCE  ? "importance"
         : fit->weights_are == PCAL_WEIGHTS_FREQUENCY ? "frequency"
                                                      : NULL;
}

void pc_calibrator_write_weights_are(const pcal_calibrator *calibrator, pc_json *json) {
  if (pc_fit_weights_name(&calibrator->fit) == NULL)
    return;
  pc_json_key(json, "weights");
  pc_json_string(json, pc_fit_weights_name(&calibrator->fit));
}

void pc_calibrator_write_classes(const pcal_calibrator *calibrator, pc_json *json) {
  pc_json_key(json, "classes");
  if (calibrator->layout.kind == PCAL_CONFIDENCE || calibrator->layout.form != PC_FORM_CLASSES)
    pc_json_null(json);
  else
    pc_json_integer(json, calibrator->layout.classes);
}

/* The member "levels", for quantiles only. */
static void calibrator_file_levels(const pcal_calibrator *calibrator, pc_json *json) {
  const pc_layout *layout = &calibrator->layout;
  if (layout->form != PC_FORM_QUANTILES)
    return;
  pc_json_key(json, "levels");
  pc_json_open(json, '[');
  for (size_t l = 0; l < layout->columns; l++)
    pc_json_number(json, layout->levels[l]);
  pc_json_close(json, ']');
}

static void calibrator_file_head(const pcal_calibrator *calibrator, pc_json *json) {
  char spec[PC_SPEC_MAX];
  pc_options_write(&calibrator->options, 1, spec, sizeof spec);
  pc_json_key(json, "format");
  pc_json_string(json, PC_CALIBRATOR_FORMAT);
  pc_json_key(json, "version");
  pc_json_integer(json, PC_CALIBRATOR_VERSION);
  pc_json_key(json, "spec");
  pc_json_string(json, spec);
  pc_json_key(json, "method");
  pc_json_string(json, calibrator->method->row.name);
  pc_calibrator_write_classes(calibrator, json);
  pc_json_key(json, "columns");
  pc_json_integer(json, calibrator->layout.columns);
  pc_json_key(json, "input");
  pc_json_string(json, pcal_kind_name(calibrator->layout.kind));
  calibrator_file_levels(calibrator, json);
  pc_json_key(json, "normalize");
  pc_json_bool(json, calibrator->normalize);
}

static void calibrator_file_names(const pcal_calibrator *calibrator, pc_json *json) {
  if (calibrator->class_names == NULL)
    return;
  pc_json_key(json, "class_names");
  pc_json_open(json, '[');
  for (size_t j = 0; j < calibrator->layout.columns; j++)
    pc_json_string(json, calibrator->class_names[j]);
  pc_json_close(json, ']');
}

static void calibrator_file_fit(const pcal_calibrator *calibrator, pc_json *json) {
  const pc_fit_info *fit = &calibrator->fit;
  pc_json_key(json, "fit");
  pc_json_open(json, '{');
  pc_calibrator_write_outcome(calibrator, json);
  pc_json_key(json, "rows");
  pc_json_integer(json, fit->rows);
  pc_json_key(json, "weighted");
  pc_json_bool(json, fit->weighted);
  pc_calibrator_write_weights_are(calibrator, json);
  pc_json_key(json, "weight");
  pc_json_number(json, fit->weight);
  pc_json_key(json, "normalized_rows");
  pc_json_integer(json, fit->normalized);
  pc_json_key(json, "skipped_rows");
  pc_json_integer(json, fit->skipped);
  pc_calibrator_write_warnings(calibrator, json);
  pc_json_close(json, '}');
}

static void calibrator_file_groups(const pc_group_calibrators *groups, pc_json *json) {
  pc_json_key(json, "groups");
  pc_json_open(json, '{');
  pc_json_key(json, "kappa"); /* null: infinite */
  pc_json_number(json, groups->kappa);
  pc_json_key(json, "members");
  pc_json_open(json, '[');
  for (size_t g = 0; g < groups->count; g++) {
    pc_json_open(json, '{');
    pc_json_key(json, "name");
    pc_json_string(json, groups->members[g].name);
    pc_calibrator_write_parameters(groups->members[g].calibrator, json);
    calibrator_file_fit(groups->members[g].calibrator, json);
    pc_json_close(json, '}');
  }
  pc_json_close(json, ']');
  pc_json_close(json, '}');
}

void pc_calibrator_save(const pcal_calibrator *calibrator, pc_text *out) {
  pc_json json;
  pc_json_init(&json, out);
  pc_json_open(&json, '{');
  calibrator_file_head(calibrator, &json);
  calibrator_file_names(calibrator, &json);
  pc_calibrator_write_parameters(calibrator, &json);
  calibrator_file_fit(calibrator, &json);
  if (calibrator->groups != NULL)
    calibrator_file_groups(calibrator->groups, &json);
  pc_json_close(&json, '}');
  pc_text_add(out, "\n");
}
