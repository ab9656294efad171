/* Checks: as many tables as the layout and the options ask for; values in [0, 1]; with equal
 * width exactly `bins` values a table and no edges; with equal mass at most `bins` values and
 * one edge fewer, ascending, below 1 and not below what a stored probability may be. */
#include "calibrators/histogram.h"

#define HISTOGRAM_READ_LEAST (-1e-5)

static pcal_status histogram_read_wrong(const char *file, const pc_json_node *node,
                                        const char *what, pcal_error *err) {
  return pc_fail(err, PCAL_DATA, "%s, line %lu: %s", file, (unsigned long)node->line, what);
}

static pcal_status histogram_read_members(const pc_json_node *parameters, int by_mass,
                                          const char *file, pcal_error *err) {
  const size_t expected = by_mass ? 2 : 1;
  if (parameters->list.count == expected && pc_json_find(parameters, "values") != NULL &&
      (!by_mass || pc_json_find(parameters, "edges") != NULL))
    return PCAL_OK;
  return histogram_read_wrong(file, parameters,
                              by_mass ? "the parameters of this histogram are edges and values"
                                      : "the parameters of this histogram are values alone",
                              err);
}

static pcal_status histogram_read_outer(const pc_json_node *lists, size_t tables,
                                        const char *file, pcal_error *err) {
  if (lists->kind == PC_JSON_ARRAY && lists->list.count == tables)
    return PCAL_OK;
  return pc_fail(err, PCAL_DATA, "%s, line %lu: \"%s\" must hold %zu lists, one for each table",
                 file, (unsigned long)lists->line, lists->key, tables);
}

/* Sets the number of bins of each table: never more than the file has values. */
static pcal_status histogram_read_counts(const pc_json_node *lists, size_t least,
                                         pc_histogram *histogram, const char *file,
                                         pcal_error *err) {
  size_t t = 0;
  for (const pc_json_node *list = lists->list.first; list != NULL; list = list->next) {
    if (list->kind != PC_JSON_ARRAY || list->list.count < least ||
        list->list.count > histogram->bins)
      return pc_fail(err, PCAL_DATA, "%s, line %lu: a table of values must hold %s%zu numbers",
                     file, (unsigned long)list->line, least == histogram->bins ? "" : "1 to ",
                     histogram->bins);
    histogram->tables[t++].count = list->list.count;
  }
  return PCAL_OK;
}

static pcal_status histogram_read_values(const pc_json_node *list, pc_histogram_table *table,
                                         const char *file, pcal_error *err) {
  double *value = table->values;
  for (const pc_json_node *item = list->list.first; item != NULL; item = item->next) {
    if (item->kind != PC_JSON_NUMBER || !(item->number >= 0.0) || !(item->number <= 1.0))
      return histogram_read_wrong(file, item, "a value of a bin must be a number from 0 to 1",
                                  err);
    *value++ = item->number;
  }
  return PCAL_OK;
}

static pcal_status histogram_read_edges(const pc_json_node *list, pc_histogram_table *table,
                                        const char *file, pcal_error *err) {
  if (list->kind != PC_JSON_ARRAY || list->list.count + 1 != table->count)
    return histogram_read_wrong(file, list,
                                "a table must have one edge fewer than it has values", err);
  size_t b = 0;
  for (const pc_json_node *item = list->list.first; item != NULL; item = item->next, b++) {
    if (item->kind != PC_JSON_NUMBER || !(item->number >= HISTOGRAM_READ_LEAST) ||
        !(item->number < 1.0) || (b > 0 && !(item->number > table->edges[b - 1])))
      return histogram_read_wrong(file, item,
                                  "edges must be ascending numbers from 0 to below 1", err);
    table->edges[b] = item->number;
  }
  return PCAL_OK;
}

pcal_status pc_histogram_read(const pcal_env *env, pc_histogram *histogram, int by_mass,
                              const pc_json_node *parameters, const char *file,
                              pcal_error *err) {
  const size_t tables = histogram->table_count;
  PC_TRY(histogram_read_members(parameters, by_mass, file, err));
  const pc_json_node *values = pc_json_find(parameters, "values");
  const pc_json_node *edges = by_mass ? pc_json_find(parameters, "edges") : NULL;
  PC_TRY(histogram_read_outer(values, tables, file, err));
  if (by_mass)
    PC_TRY(histogram_read_outer(edges, tables, file, err));
  PC_TRY(pc_histogram_tables(env, histogram, err));
  PC_TRY(histogram_read_counts(values, by_mass ? 1 : histogram->bins, histogram, file, err));
  PC_TRY(pc_histogram_cells(env, histogram, err));
  const pc_json_node *list = values->list.first;
  for (size_t t = 0; t < tables; t++, list = list->next)
    PC_TRY(histogram_read_values(list, &histogram->tables[t], file, err));
  list = by_mass ? edges->list.first : NULL;
  for (size_t t = 0; t < tables && by_mass; t++, list = list->next)
    PC_TRY(histogram_read_edges(list, &histogram->tables[t], file, err));
  return PCAL_OK;
}
