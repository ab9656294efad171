#include "figure/figure_registry.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/aliases.h"
#include "figure/number_text.h"

#define FIGURE(file, symbol) extern const pc_figure_row pc_figure_##symbol;
#include "figure/registry.def"
#undef FIGURE

static const pc_figure_row *const figure_registry_rows[] = {
#define FIGURE(file, symbol) &pc_figure_##symbol,
#include "figure/registry.def"
#undef FIGURE
};

size_t pc_figure_row_count(void) {
  return sizeof figure_registry_rows / sizeof figure_registry_rows[0];
}

const pcal_registry_row *pc_figure_row_at(size_t index) {
  return index < pc_figure_row_count() ? &figure_registry_rows[index]->row : NULL;
}

const pc_figure_row *pc_figure_in_report(size_t index) {
  const pc_figure_row *last = NULL;
  for (size_t found = 0; found <= index; found++) {
    const pc_figure_row *next = NULL;
    for (size_t i = 0; i < pc_figure_row_count(); i++) {
      const pc_figure_row *row = figure_registry_rows[i];
      if (row->in_report > (last == NULL ? 0 : last->in_report) &&
          (next == NULL || row->in_report < next->in_report))
        next = row;
    }
    if (next == NULL)
      return NULL;
    last = next;
  }
  return last;
}

static const char *figure_registry_name(void *user, size_t index) {
  (void)user;
  const pcal_registry_row *row = pc_figure_row_at(index);
  return row != NULL ? row->name : NULL;
}

static pcal_status figure_registry_unknown(const char *name, pcal_error *err) {
  const char *nearest = pc_nearest_word(name, figure_registry_name, NULL);
  if (nearest == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "there is no figure called '%s'; {list_figures} shows those that exist",
                   name);
  return pc_fail(err, PCAL_USAGE, "there is no figure called '%s'; did you mean '%s'?", name,
                 nearest);
}

pcal_status pc_figure_parse(const char *alias, const pc_figure_row **row, pc_options *options,
                            pcal_error *err) {
  char spec[PC_SPEC_MAX], name[PC_SPEC_MAX];
  *row = NULL;
  PC_TRY(pc_spec_resolve(PCAL_FIGURES, alias, spec, err));
  PC_TRY(pc_spec_name(spec, name, sizeof name, err));
  for (size_t i = 0; i < pc_figure_row_count(); i++) {
    if (strcmp(figure_registry_rows[i]->row.name, name) != 0)
      continue;
    *row = figure_registry_rows[i];
    return pc_options_parse(spec, (*row)->row.name, (*row)->row.options,
                            (*row)->row.option_count, options, err);
  }
  return figure_registry_unknown(name, err);
}

void pc_figure_request_metric(pc_figure_request *request, const char *format, ...) {
  if (request->spec_count == PC_FIGURE_SPECS)
    return;
  va_list list;
  va_start(list, format);
  vsnprintf(request->specs[request->spec_count++], PC_FIGURE_SPEC_SIZE, format, list);
  va_end(list);
}

void pc_measured_set_fill(pc_measured_set *set, const pcal_results *results,
                          const pc_figure_request *request) {
  set->results = results;
  for (size_t i = 0; i < request->spec_count; i++)
    set->requested[i] = pc_results_record(results, request->specs[i]);
}

pcal_status pc_figure_record_with_curve(const pc_figure_data *data, const pc_measured_set *set,
                                        size_t requested, const pc_result_record **out,
                                        pcal_error *err) {
  *out = set->requested[requested];
  if (*out == NULL || (*out)->outcome.graph.count == 0)
    return pc_fail(err, PCAL_USAGE,
                   "figure %s is drawn from %s and its curve, which these results lack; "
                   "measure it with curves, or plot from the data",
                   data->options->name, data->request->specs[requested]);
  return PCAL_OK;
}

static pcal_status figure_registry_needs_data(const pc_figure_row *row, pcal_error *err) {
  return pc_fail(err, PCAL_USAGE,
                 "figure %s needs the data, not only results; plot from the data",
                 row->row.name);
}

typedef struct figure_registry_pair {
  pc_figure_data data;
  pc_measured_set before;
  pc_figure_request request;
} figure_registry_pair;

static pcal_status figure_registry_build(const pc_figure_row *row, const pcal_results *results,
                                         const pcal_results *before, figure_registry_pair *pair,
                                         pc_figure *figure, pcal_error *err) {
  pc_measured_set_fill(&pair->data.shown, results, &pair->request);
  if (before != NULL) {
    pc_measured_set_fill(&pair->before, before, &pair->request);
    pair->data.before = &pair->before;
  }
  figure->fixed_height = figure->height > 0;
  figure->width = figure->width > 0 ? figure->width : row->width;
  if (!figure->fixed_height)
    figure->height = row->height * figure->width / row->width;
  return row->build(&pair->data, figure, err);
}

pcal_status pc_figure_from_pair(const char *spec, const pcal_results *results,
                                const pcal_results *before, pc_figure *figure,
                                pcal_error *err) {
  const pc_figure_row *row;
  pc_options options;
  PC_TRY(pc_figure_parse(spec, &row, &options, err));
  if (row->study != NULL)
    return figure_registry_needs_data(row, err);
  figure_registry_pair *pair = pc_alloc(figure->env, 1, sizeof *pair);
  if (pair == NULL)
    return pc_fail_memory(err, "building a figure");
  pair->data.options = &options;
  pair->data.request = &pair->request;
  pcal_status status = row->request(&options, &results->layout, &pair->request, err);
  if (status == PCAL_OK && pair->request.temperature_count > 0)
    status = figure_registry_needs_data(row, err);
  if (status == PCAL_OK)
    status = figure_registry_build(row, results, before, pair, figure, err);
  pc_free(figure->env, pair);
  return status == PCAL_OK ? pc_figure_status(figure, err) : status;
}

pcal_status pc_figure_from_results(const char *spec, const pcal_results *results,
                                   pc_figure *figure, pcal_error *err) {
  return pc_figure_from_pair(spec, results, NULL, figure, err);
}

const double *pc_graph_column(const pc_plot_table *graph, const char *name) {
  for (size_t i = 0; i < graph->column_count; i++)
    if (strcmp(graph->names[i], name) == 0)
      return graph->columns[i];
  return NULL;
}

const char *pc_class_display_name(const pcal_results *results, size_t class, char buffer[32]) {
  if (results->class_names != NULL && class < results->class_count)
    return results->class_names[class];
  snprintf(buffer, 32, "class %zu", class);
  return buffer;
}

void pc_figure_set_subtitle(pc_figure *figure, const pcal_results *results, const char *more) {
  char rows[PC_NUMBER_TEXT_MAX];
  pc_text line;
  pc_text_init(&line, figure->env);
  if (!figure->in_page) {
    const int rows_only = results->weights_are == PCAL_WEIGHTS_IMPORTANCE;
    const double count = rows_only ? (double)results->rows : results->weight;
    pc_count_text(count, rows);
    pc_text_format(&line, "%s row%s", rows, count == 1 ? "" : "s");
    if (results->layout.kind != PCAL_CONFIDENCE && results->layout.form == PC_FORM_CLASSES)
      pc_text_format(&line, ", %zu classes", results->layout.classes);
  }
  if (more != NULL && more[0] != '\0')
    pc_text_format(&line, "%s%s", line.length > 0 ? " \xC2\xB7 " : "", more);
  figure->failed |= line.failed;
  figure->subtitle = line.failed ? 0 : pc_figure_add_string(figure, line.bytes);
  pc_text_free(&line);
}
