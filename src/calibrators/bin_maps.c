#include "calibrators/bin_maps.h"

#include <math.h>

#include "base/assert.h"
#include "calibrators/one_vs_rest.h"
#include "calibrators/parameter_lists.h"
#include "kernels/sort.h"

#define BIN_MAP_CELLS 2 /* cells of the index for each bin */

pcal_status pc_bin_maps_new(const pcal_env *env, size_t count, pc_bin_maps **out,
                            pcal_error *err) {
  pc_bin_maps *maps = pc_alloc(env, 1, sizeof *maps);
  *out = maps;
  if (maps != NULL)
    maps->maps = pc_alloc(env, count, sizeof *maps->maps);
  if (maps == NULL || maps->maps == NULL)
    return pc_fail_memory(err, "making tables of bins");
  maps->count = count;
  return PCAL_OK;
}

pcal_status pc_bin_map_alloc(const pcal_env *env, size_t bins, pc_bin_map *map,
                             pcal_error *err) {
  map->values = pc_alloc_raw(env, bins, 2 * sizeof *map->values);
  if (map->values == NULL)
    return pc_fail_memory(err, "making tables of bins");
  map->edges = map->values + bins;
  map->count = bins;
  for (size_t b = 0; b + 1 < bins; b++)
    map->edges[b] = (double)(b + 1) / (double)bins;
  return PCAL_OK;
}

/* ---- Finding bins ---- */

/* The index has cells of equal width, a few for each bin, so that most have no edge inside. */
static size_t bin_map_cells(const pc_bin_map *map) {
  return BIN_MAP_CELLS * map->count;
}

/* The cell of a score; does not fall as the score rises. */
static size_t bin_map_cell(double score, size_t cells) {
  const double position = score * (double)cells, last = (double)(cells - 1);
  return position <= 0.0 ? 0 : (size_t)(position < last ? position : last);
}

/* index[c] is the number of edges in cells before c. */
pcal_status pc_bin_map_build_index(const pcal_env *env, pc_bin_map *map, pcal_error *err) {
  const size_t cells = bin_map_cells(map);
  size_t begun = 0;
  pc_assert(map->count >= 1 && pc_is_ascending(map->edges, map->count - 1, 0));
  map->index = pc_alloc_raw(env, cells + 1, sizeof *map->index);
  if (map->index == NULL)
    return pc_fail_memory(err, "making tables of bins");
  for (size_t e = 0; e + 1 < map->count; e++)
    for (const size_t cell = bin_map_cell(map->edges[e], cells); begun <= cell; begun++)
      map->index[begun] = e;
  for (; begun <= cells; begun++)
    map->index[begun] = map->count - 1;
  return PCAL_OK;
}

size_t pc_bin_map_find(const pc_bin_map *map, double score) {
  if (map->index == NULL)
    return pc_first_not_below(map->edges, map->count - 1, score);
  const size_t *index = map->index + bin_map_cell(score, bin_map_cells(map));
  return index[0] + pc_first_not_below(map->edges + index[0], index[1] - index[0], score);
}

double pc_bin_map_middle(const pc_bin_map *map, size_t bin) {
  const double low = bin == 0 ? 0.0 : map->edges[bin - 1];
  const double high = bin + 1 == map->count ? 1.0 : map->edges[bin];
  return (low + high) / 2.0;
}

double pc_bin_maps_value(const void *maps, size_t column, double score) {
  const pc_bin_maps *all = maps;
  const pc_bin_map *map = &all->maps[all->count == 1 ? 0 : column];
  return map->values[pc_bin_map_find(map, score)];
}

/* ---- Averages ---- */

/* Edges of all parts in ascending order, each with the index of its part. */
typedef struct bin_map_edges {
  double *edge, *part;
  size_t count;
} bin_map_edges;

static pcal_status bin_map_collect(const pcal_env *env, const pc_bin_map *parts, size_t count,
                                   bin_map_edges *out, pcal_error *err) {
  size_t total = 0, at = 0;
  for (size_t p = 0; p < count; p++)
    total += parts[p].count - 1;
  out->edge = pc_alloc_raw(env, total, 4 * sizeof *out->edge);
  if (out->edge == NULL)
    return pc_fail_memory(err, "averaging tables of bins");
  out->part = out->edge + total;
  out->count = total;
  for (size_t p = 0; p < count; p++)
    for (size_t b = 0; b + 1 < parts[p].count; b++, at++) {
      out->edge[at] = parts[p].edges[b];
      out->part[at] = (double)p;
    }
  pc_sort_pairs(out->edge, out->part, out->part + total, out->part + 2 * total, total);
  return PCAL_OK;
}

/* Adds a step of part p; equal parts one after another, so that the sum has the bits of the sum
 * over separate parts. */
static double bin_map_add(double sum, size_t p, double step, const size_t *first,
                          const double *weights) {
  const size_t end = first == NULL ? p + 1 : first[p + 1];
  for (size_t i = first == NULL ? p : first[p]; i < end; i++)
    sum += weights[i] * step;
  return sum;
}

/* Runs through the edges from left to right; at each one the sum changes by the steps of its
 * parts.  bin: zeros, one for each part. */
static void bin_map_merge(const pc_bin_map *parts, const size_t *first, const double *weights,
                          size_t count, const bin_map_edges *edges, size_t *bin,
                          pc_bin_map *out) {
  double sum = 0.0, total = 0.0;
  size_t made = 0;
  for (size_t p = 0; p < count; p++) {
    sum = bin_map_add(sum, p, parts[p].values[0], first, weights);
    total = bin_map_add(total, p, 1.0, first, weights);
  }
  for (size_t e = 0; e < edges->count;) {
    const double edge = edges->edge[e];
    out->values[made] = fmin(fmax(sum / total, 0.0), 1.0);
    out->edges[made++] = edge;
    for (; e < edges->count && edges->edge[e] == edge; e++) {
      const size_t p = (size_t)edges->part[e];
      const double before = parts[p].values[bin[p]++];
      sum = bin_map_add(sum, p, parts[p].values[bin[p]] - before, first, weights);
    }
  }
  out->values[made++] = fmin(fmax(sum / total, 0.0), 1.0);
  out->count = made;
}

pcal_status pc_bin_map_average(const pcal_env *env, const pc_bin_map *parts,
                               const size_t *first, const double *weights, size_t count,
                               pc_bin_map *out, pcal_error *err) {
  bin_map_edges edges = {NULL, NULL, 0};
  *out = (pc_bin_map){0};
  PC_TRY(bin_map_collect(env, parts, count, &edges, err));
  size_t *bin = pc_alloc(env, count, sizeof *bin);
  if (bin == NULL)
    return pc_fail_memory(err, "averaging tables of bins");
  PC_TRY(pc_bin_map_alloc(env, edges.count + 1, out, err));
  bin_map_merge(parts, first, weights, count, &edges, bin, out);
  pc_free(env, bin);
  pc_free(env, edges.edge);
  return PCAL_OK;
}

/* ---- Descriptions and files ---- */

void pc_bin_maps_describe(const pc_bin_maps *maps, const char *what, pc_text *out) {
  size_t least = SIZE_MAX, most = 0;
  for (size_t t = 0; t < maps->count; t++) {
    least = maps->maps[t].count < least ? maps->maps[t].count : least;
    most = maps->maps[t].count > most ? maps->maps[t].count : most;
  }
  if (least < most)
    pc_text_format(out, "%zu to ", least);
  pc_text_format(out, "%zu %s%s\n", most, what, most == 1 ? "" : "s");
}

void pc_bin_maps_write(const pc_bin_maps *maps, int with_edges, pc_json *json) {
  if (with_edges) {
    pc_json_key(json, "edges");
    pc_json_open(json, '[');
    for (size_t t = 0; t < maps->count; t++)
      pc_json_numbers(json, maps->maps[t].edges, maps->maps[t].count - 1);
    pc_json_close(json, ']');
  }
  pc_json_key(json, "values");
  pc_json_open(json, '[');
  for (size_t t = 0; t < maps->count; t++)
    pc_json_numbers(json, maps->maps[t].values, maps->maps[t].count);
  pc_json_close(json, ']');
}

static pcal_status bin_maps_read_bins(const pcal_env *env, const pc_json_node *values,
                                      const pc_bin_maps_rule *rule, pc_bin_map *map,
                                      const char *file, pcal_error *err) {
  const pc_list_rule numbers = {0.0, 1.0, PC_LIST_ANY,
                                "a value of a bin must be a number from 0 to 1"};
  const size_t bins = values->list.count;
  if (bins < rule->least || bins > rule->most)
    return pc_fail_line(err, PCAL_DATA, file, values->line,
                        "a table of values must hold %s%zu numbers",
                        rule->least == rule->most ? "" : "1 to ", rule->most);
  PC_TRY(pc_bin_map_alloc(env, bins, map, err));
  return pc_parameter_numbers(values, &numbers, map->values, file, err);
}

static pcal_status bin_maps_read_edges(const pc_json_node *edges, const pc_bin_map *map,
                                       const char *file, pcal_error *err) {
  const pc_list_rule numbers = {PC_SCORE_LEAST, nextafter(1.0, 0.0), PC_LIST_STRICT,
                                "edges must be ascending numbers from 0 to below 1"};
  if (edges->list.count + 1 != map->count)
    return pc_parameter_error(edges, file,
                              "a table must have one edge fewer than it has values", err);
  return pc_parameter_numbers(edges, &numbers, map->edges, file, err);
}

pcal_status pc_bin_maps_read(const pcal_env *env, const pc_json_node *parameters,
                             const pc_bin_maps_rule *rule, const char *file, pc_bin_maps **out,
                             pcal_error *err) {
  const pc_json_node *values = NULL, *edges = NULL;
  PC_TRY(pc_parameter_lists(parameters, "values", rule->count, file, &values, err));
  if (rule->edges)
    PC_TRY(pc_parameter_lists(parameters, "edges", rule->count, file, &edges, err));
  PC_TRY(pc_bin_maps_new(env, rule->count, out, err));
  const pc_json_node *value = values->list.first;
  const pc_json_node *edge = edges == NULL ? NULL : edges->list.first;
  for (size_t t = 0; t < rule->count; t++, value = value->next) {
    pc_bin_map *map = &(*out)->maps[t];
    PC_TRY(bin_maps_read_bins(env, value, rule, map, file, err));
    if (edge != NULL) {
      PC_TRY(bin_maps_read_edges(edge, map, file, err));
      edge = edge->next;
    }
  }
  return PCAL_OK;
}
