/* inspect for a data set: every row goes through the checks of measuring, and all faults are
 * counted, not only the first reported. */
#include <math.h>
#include <string.h>

#include "base/argument_names.h"
#include "base/json.h"
#include "base/number.h"
#include "base/sum.h"
#include "data/view.h"
#include "io/source.h"
#include "output/inspect.h"
#include "output/write_results.h"

#define INSPECT_WINDOW 4096     /* rows read at a time */
#define INSPECT_TEXT_CLASSES 20 /* classes listed in text */

typedef struct inspect_class {
  uint64_t rows, hits; /* rows with this label; those predicted right */
} inspect_class;

typedef struct inspect_set {
  const pcal_env *env;
  pcal_shape shape;
  pc_layout layout;
  uint64_t rows, good, labelled_rows, bad;
  pcal_error shown[PC_FAULTS_SHOWN];
  inspect_class *classes;
  pc_sum score, hits, weight;
  pc_sum target; /* of regression */
  int abstains;  /* the source says in which rows the model did not answer */
  uint64_t abstained;
  const char *notation; /* of text files, or NULL */
} inspect_set;

static void inspect_fault(inspect_set *set, const pcal_error *error) {
  if (set->bad < PC_FAULTS_SHOWN)
    set->shown[set->bad] = *error;
  set->bad++;
}

/* The view of accuracy and confidence; for regression u = F(target), reported as its mean. */
static pc_view inspect_view(const inspect_set *set) {
  return set->layout.form == PC_FORM_CLASSES ? (pc_view){PC_VIEW_RANK, 1, 0}
                                             : pc_view_pit(&set->layout);
}

static void inspect_good(inspect_set *set, const pc_rows *rows, pc_view_columns *columns) {
  const pc_view view = inspect_view(set);
  if (rows->count == 0)
    return;
  pc_view_fill(&view, rows, columns);
  const double weight = rows->weights == NULL ? 1.0 : rows->weights[0];
  pc_sum_add_product(&set->score, weight, columns->score[0]);
  pc_sum_add(&set->hits, columns->hit[0] ? weight : 0.0);
  pc_sum_add(&set->weight, weight);
  if (set->layout.form != PC_FORM_CLASSES)
    pc_sum_add_product(&set->target, weight, rows->probs[rows->classes - 1]);
  set->classes[rows->labels[0]].rows++;
  set->classes[rows->labels[0]].hits += columns->hit[0];
  set->good++;
}

/* One row of a batch as a batch, and its position. */
typedef struct inspect_row {
  const pcal_batch *batch;
  size_t position;
} inspect_row;

static void inspect_place(const void *user, pcal_field field, size_t row, size_t column,
                          pcal_location *out) {
  const inspect_row *at = user;
  at->batch->place(at->batch->place_user, field, at->position + row, column, out);
}

static void inspect_batch(inspect_set *set, pcal_batch *batch, const pc_scratch *scratch,
                          pc_view_columns *columns) {
  const int regression = set->layout.form != PC_FORM_CLASSES;
  const pc_row_policy policy = {.probs = PC_PROBS_LEAN,
                                .unlabelled = regression ? batch->targets == NULL
                                                         : batch->labels == NULL};
  for (size_t i = 0; i < batch->rows; i++) {
    pcal_batch row = *batch;
    pcal_error error;
    pc_rows rows;
    pc_row_counts counts = {.fractional_row = PCAL_NO_ROW};
    row.rows = 1;
    row.scores = (const char *)batch->scores + (ptrdiff_t)i * batch->row_stride;
    row.labels = batch->labels == NULL ? NULL : batch->labels + i;
    row.targets = pc_batch_targets(batch, i);
    row.weights = batch->weights == NULL ? NULL : batch->weights + i;
    row.groups = NULL;
    row.first_row = batch->first_row + i;
    const inspect_row at = {batch, i};
    row.place = batch->place == NULL ? NULL : inspect_place;
    row.place_user = &at;
    pc_error_clear(&error);
    if (pc_rows_convert(&row, &set->layout, &policy, 0, 1, scratch, &rows, &counts, &error) !=
        PCAL_OK)
      inspect_fault(set, &error);
    else
      inspect_good(set, &rows, columns);
  }
  set->rows += batch->rows;
}

static pcal_status inspect_read(inspect_set *set, pcal_source *source, pcal_error *err) {
  const pc_view view = inspect_view(set);
  pc_scratch scratch;
  pc_view_columns columns;
  PC_TRY(pc_scratch_new(set->env, &set->layout, &scratch, err));
  pcal_status status = pc_view_columns_new(set->env, &view, 1, &columns, err);
  while (status == PCAL_OK) {
    pcal_batch batch = PCAL_BATCH_INIT;
    status = pc_source_next(source, INSPECT_WINDOW, &batch, err);
    if (status != PCAL_OK || batch.rows == 0)
      break;
    inspect_batch(set, &batch, &scratch, &columns);
    pc_progress(set->env, "inspecting", set->rows,
                set->shape.row_count == PCAL_NO_ROW ? 0 : set->shape.row_count);
    status = pc_check_interrupt(set->env, err);
  }
  pc_view_columns_free(set->env, &columns);
  pc_scratch_free(set->env, &scratch);
  return status;
}

static size_t inspect_class_count(const inspect_set *set) {
  return set->layout.kind == PCAL_CONFIDENCE ? 2 : set->layout.classes;
}

static size_t inspect_absent(const inspect_set *set) {
  size_t absent = 0;
  for (size_t c = 0; c < inspect_class_count(set); c++)
    absent += set->classes[c].rows == 0;
  return absent;
}

static void inspect_class_name(const inspect_set *set, size_t c, pc_text *out) {
  if (set->shape.class_names != NULL && c < set->shape.columns)
    pc_text_add(out, set->shape.class_names[c]);
  else if (set->layout.kind == PCAL_CONFIDENCE)
    pc_text_add(out, c == 1 ? "correct" : "wrong");
  else
    pc_text_format(out, "%zu", c);
}

static void inspect_plain_class_name(const inspect_set *set, size_t c, pc_text *out) {
  pc_text name;
  pc_text_init(&name, set->env);
  inspect_class_name(set, c, &name);
  out->failed |= name.failed;
  pc_text_terminal(out, name.bytes == NULL ? "" : name.bytes);
  pc_text_free(&name);
}

static void inspect_percent(double share, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  pc_number_fixed(100 * share, 1, digits);
  pc_text_format(out, "%s %%", digits);
}

static void inspect_text_classes(const inspect_set *set, pc_text *out) {
  const size_t count = inspect_class_count(set);
  pc_text_add(out, "labels:\n");
  for (size_t c = 0; c < count && c < INSPECT_TEXT_CLASSES; c++) {
    pc_text_add(out, "  ");
    inspect_plain_class_name(set, c, out);
    pc_text_add(out, ": ");
    pc_write_count((double)set->classes[c].rows, out);
    pc_text_add(out, set->classes[c].rows == 1 ? " row" : " rows");
    if (set->classes[c].rows > 0 && set->layout.kind != PCAL_CONFIDENCE) {
      pc_text_add(out, ", predicted right in ");
      inspect_percent((double)set->classes[c].hits / (double)set->classes[c].rows, out);
    }
    pc_text_add(out, "\n");
  }
  if (count > INSPECT_TEXT_CLASSES)
    pc_text_format(out, "  and %zu more classes\n", count - INSPECT_TEXT_CLASSES);
  if (inspect_absent(set) > 0 && set->layout.kind != PCAL_CONFIDENCE)
    pc_text_format(out, "  %zu of %zu classes never occur%s\n", inspect_absent(set), count,
                   inspect_absent(set) + 1 == count
                       ? ", and calibration cannot be judged from one class: check the labels"
                       : "");
}

static void inspect_text_problems(const inspect_set *set, pc_text *out) {
  if (set->bad == 0) {
    pc_text_add(out, "no problems: every row can be measured\n");
    return;
  }
  pc_write_count((double)set->bad, out);
  pc_text_format(out, " %s cannot be measured as %s:\n", set->bad == 1 ? "row" : "rows",
                 set->bad == 1 ? "it is" : "they are");
  for (uint64_t p = 0; p < set->bad && p < PC_FAULTS_SHOWN; p++) {
    pc_text_add(out, "  ");
    pc_text_add_error(out, &set->shown[p], set->env->caller);
    pc_text_add(out, "\n");
  }
  if (set->bad > PC_FAULTS_SHOWN) {
    pc_text_add(out, "  and ");
    pc_write_count((double)(set->bad - PC_FAULTS_SHOWN), out);
    pc_text_add(out, " more\n");
  }
}

/* True for predictions of one number, whose targets have a mean. */
static int inspect_one_number(const inspect_set *set) {
  return set->layout.form != PC_FORM_CLASSES && set->layout.form != PC_FORM_DISTANCES;
}

static void inspect_text(const inspect_set *set, pc_text *out) {
  const double weight = pc_sum_value(&set->weight);
  pc_write_count((double)set->rows, out);
  pc_text_format(out, " %s, %zu %s of kind %s, stored as %s\n", set->rows == 1 ? "row" : "rows",
                 set->shape.columns, set->shape.columns == 1 ? "column" : "columns",
                 pcal_kind_name(set->shape.kind),
                 set->shape.type == PCAL_F32 ? "float32" : "float64");
  if (set->notation != NULL)
    pc_text_format(out, "read as text with %s\n", set->notation);
  if (set->abstains) {
    pc_write_count((double)set->abstained, out);
    pc_text_add(out, set->abstained == 1 ? " row not answered\n" : " rows not answered\n");
  }
  if (set->shape.grouped)
    pc_text_format(out, "groups: %zu\n", set->shape.group_count);
  if (set->shape.weighted) {
    pc_text_add(out, "total weight: ");
    pc_write_count(weight, out);
    pc_text_add(out, "\n");
  }
  if (!set->shape.labelled)
    pc_text_add(out, set->layout.form == PC_FORM_CLASSES ? "no labels given\n"
                                                         : "no targets given\n");
  else if (weight > 0 && inspect_one_number(set)) {
    char mean[PC_NUMBER_MAX];
    pc_number_round(pc_sum_value(&set->target) / weight, 5, mean);
    pc_text_format(out, "mean target %s, ", mean);
    inspect_percent(pc_sum_value(&set->score) / weight, out);
    pc_text_add(out, " of the predicted probability lies below targets on average\n");
  } else if (weight > 0 && set->layout.form == PC_FORM_CLASSES) {
    pc_text_add(out, "accuracy ");
    inspect_percent(pc_sum_value(&set->hits) / weight, out);
    pc_text_add(out, ", mean confidence ");
    inspect_percent(pc_sum_value(&set->score) / weight, out);
    pc_text_add(out, "\n");
    inspect_text_classes(set, out);
  }
  inspect_text_problems(set, out);
}

static void inspect_json_classes(const inspect_set *set, pc_json *json, pc_text *out) {
  pc_json_key(json, "classes");
  pc_json_open(json, '[');
  for (size_t c = 0; c < inspect_class_count(set); c++) {
    pc_text name;
    pc_text_init(&name, set->env);
    inspect_class_name(set, c, &name);
    out->failed |= name.failed;
    pc_json_open(json, '{');
    pc_json_key(json, "name");
    pc_json_string(json, name.bytes);
    pc_json_key(json, "rows");
    pc_json_integer(json, set->classes[c].rows);
    pc_json_key(json, "right");
    pc_json_integer(json, set->classes[c].hits);
    pc_json_close(json, '}');
    pc_text_free(&name);
  }
  pc_json_close(json, ']');
}

static void inspect_json_groups(const inspect_set *set, pc_json *json) {
  pc_json_key(json, "groups");
  pc_json_integer(json, set->shape.group_count);
  if (set->shape.group_names == NULL)
    return;
  pc_json_key(json, "group_names");
  pc_json_open(json, '[');
  for (size_t g = 0; g < set->shape.group_count; g++)
    pc_json_string(json, set->shape.group_names[g]);
  pc_json_close(json, ']');
}

static void inspect_json(const inspect_set *set, pc_text *out) {
  const double weight = pc_sum_value(&set->weight);
  pc_json json;
  pc_json_init(&json, out);
  pc_json_open(&json, '{');
  pc_json_key(&json, "propercal");
  pc_json_string(&json, PCAL_VERSION);
  pc_json_key(&json, "kind");
  pc_json_string(&json, pcal_kind_name(set->shape.kind));
  pc_json_key(&json, "type");
  pc_json_string(&json, set->shape.type == PCAL_F32 ? "float32" : "float64");
  pc_json_key(&json, "rows");
  pc_json_integer(&json, set->rows);
  pc_json_key(&json, "columns");
  pc_json_integer(&json, set->shape.columns);
  if (set->notation != NULL) {
    pc_json_key(&json, "notation");
    pc_json_string(&json, set->notation);
  }
  if (set->abstains) {
    pc_json_key(&json, "abstained_rows");
    pc_json_integer(&json, set->abstained);
  }
  if (set->shape.grouped)
    inspect_json_groups(set, &json);
  if (set->shape.weighted) {
    pc_json_key(&json, "weight");
    pc_json_number(&json, weight);
  }
  if (set->shape.labelled && inspect_one_number(set)) {
    pc_json_key(&json, "mean_target");
    pc_json_number(&json, pc_sum_value(&set->target) / weight);
    pc_json_key(&json, "mean_pit");
    pc_json_number(&json, pc_sum_value(&set->score) / weight);
  } else if (set->shape.labelled && set->layout.form == PC_FORM_CLASSES) {
    pc_json_key(&json, "accuracy");
    pc_json_number(&json, pc_sum_value(&set->hits) / weight);
    pc_json_key(&json, "mean_confidence");
    pc_json_number(&json, pc_sum_value(&set->score) / weight);
    inspect_json_classes(set, &json, out);
  }
  pc_json_key(&json, "bad_rows");
  pc_json_integer(&json, set->bad);
  pc_json_key(&json, "problems");
  pc_json_open(&json, '[');
  for (uint64_t p = 0; p < set->bad && p < PC_FAULTS_SHOWN; p++) {
    char shown[PC_ERROR_TEXT];
    pcal_error_text(&set->shown[p], PCAL_INTERFACE_PROGRAM, shown, sizeof shown);
    pc_json_string(&json, shown);
  }
  pc_json_close(&json, ']');
  pc_json_close(&json, '}');
  pc_text_add(out, "\n");
}

/* Reads all rows; the caller frees *out even after a failure. */
static pcal_status inspect_all(pcal_source *source, const pcal_env *env, inspect_set **out,
                               pcal_error *err) {
  inspect_set *set = *out = pc_alloc(env, 1, sizeof *set);
  if (set == NULL)
    return pc_fail_memory(err, "inspecting");
  set->env = env;
  set->shape.size = sizeof set->shape;
  pc_source_shape(source, &set->shape);
  PC_TRY(pc_layout_make_levels(set->shape.kind, set->shape.columns, set->shape.levels,
                               &set->layout, err));
  set->classes = pc_alloc(env, inspect_class_count(set), sizeof *set->classes);
  if (set->classes == NULL)
    return pc_fail_memory(err, "inspecting");
  PC_TRY(inspect_read(set, source, err));
  pc_source_shape(source, &set->shape);
  set->abstains = pc_source_abstentions(source, &set->abstained);
  set->notation = pc_source_notation(source);
  return PCAL_OK;
}

static void inspect_free(const pcal_env *env, inspect_set *set) {
  if (set != NULL)
    pc_free(env, set->classes);
  pc_free(env, set);
}

pcal_status pc_inspect_source(pcal_source *source, const pcal_env *env, pcal_format format,
                              pc_text *out, size_t *problems, pcal_error *err) {
  inspect_set *set;
  const pcal_status status = inspect_all(source, env, &set, err);
  if (status == PCAL_OK) {
    if (format == PCAL_JSON)
      inspect_json(set, out);
    else
      inspect_text(set, out);
    *problems = (size_t)set->bad;
  }
  inspect_free(env, set);
  return status;
}

pcal_status pc_inspect_faults(pcal_source *source, const pcal_env *env, pc_faults *out,
                              pcal_error *err) {
  inspect_set *set;
  const pcal_status status = inspect_all(source, env, &set, err);
  if (status == PCAL_OK) {
    *out = (pc_faults){.rows = set->rows, .bad = set->bad};
    memcpy(out->shown, set->shown, sizeof out->shown);
    if (set->shape.labelled && set->layout.form == PC_FORM_CLASSES &&
        set->layout.kind != PCAL_CONFIDENCE) {
      out->classes = inspect_class_count(set);
      out->absent = inspect_absent(set);
    }
  }
  inspect_free(env, set);
  return status;
}
