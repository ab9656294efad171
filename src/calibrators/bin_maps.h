/* Maps of scores that are constant in each bin. */
#ifndef PC_BIN_MAPS_H
#define PC_BIN_MAPS_H

#include "calibrators/calibrator.h"

/* Bin b is (edges[b - 1], edges[b]]; the first has no lower end, the last no upper one. */
typedef struct pc_bin_map {
  size_t count;   /* bins, at least 1 */
  double *values; /* the value of each bin */
  double *edges;  /* count - 1, ascending, below 1 */
  size_t *index;  /* speeds up the search for a bin; NULL: binary search over all edges */
} pc_bin_map;

typedef struct pc_bin_maps {
  size_t count;
  pc_bin_map *maps; /* one for each column, or one for all */
} pc_bin_maps;

/* All memory comes from `env`, an arena that frees it. */

/* Maps without bins. */
PC_CHECKED pcal_status pc_bin_maps_new(const pcal_env *env, size_t count, pc_bin_maps **out,
                                       pcal_error *err);
/* Allocates the bins of one map, with edges of equal width. */
PC_CHECKED pcal_status pc_bin_map_alloc(const pcal_env *env, size_t bins, pc_bin_map *map,
                                        pcal_error *err);
/* Builds the index of a long map; its edges must not change any more. */
PC_CHECKED pcal_status pc_bin_map_build_index(const pcal_env *env, pc_bin_map *map,
                                              pcal_error *err);

/* The bin of a score. */
size_t pc_bin_map_find(const pc_bin_map *map, double score);
/* The midpoint of a bin; the outer bins end at 0 and 1. */
double pc_bin_map_middle(const pc_bin_map *map, size_t bin);

/* The value of a column's score; a pc_score_map (one_vs_rest.h). */
double pc_bin_maps_value(const void *maps, size_t column, double score);

/* The mean of several maps with weights above 0.  *out has a bin between any two neighbouring
 * edges of the parts.  first: part p stands for first[p + 1] - first[p] equal parts, whose weights
 * begin at weights[first[p]]; NULL: each part has one weight. */
PC_CHECKED pcal_status pc_bin_map_average(const pcal_env *env, const pc_bin_map *parts,
                                          const size_t *first, const double *weights,
                                          size_t count, pc_bin_map *out, pcal_error *err);

/* Adds the numbers of bins of the maps, as in "3 to 5 bins", and ends the line.  what: the
 * singular. */
void pc_bin_maps_describe(const pc_bin_maps *maps, const char *what, pc_text *out);

/* Writes the parameters "edges" (if with_edges) and "values": a list for each map. */
void pc_bin_maps_write(const pc_bin_maps *maps, int with_edges, pc_json *json);

/* The contents that a file must have: `count` maps of `least` to `most` bins, with edges or of
 * equal width. */
typedef struct pc_bin_maps_rule {
  size_t count, least, most;
  int edges;
} pc_bin_maps_rule;

PC_CHECKED pcal_status pc_bin_maps_read(const pcal_env *env, const pc_json_node *parameters,
                                        const pc_bin_maps_rule *rule, const char *file,
                                        pc_bin_maps **out, pcal_error *err);

#endif
