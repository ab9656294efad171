/* Tables of bins: maps of scores that are constant in each bin. */
#ifndef PC_BIN_MAPS_H
#define PC_BIN_MAPS_H

#include "calibrators/calibrator.h"

/* Bin b is (edges[b - 1], edges[b]]; the first has no lower end, the last no upper one. */
typedef struct pc_bin_map {
  size_t count;   /* bins, at least 1 */
  double *values; /* what a score in the bin becomes */
  double *edges;  /* count - 1, ascending, below 1 */
  size_t *guide;  /* where to look for a score, or NULL */
} pc_bin_map;

typedef struct pc_bin_maps {
  size_t count;
  pc_bin_map *tables; /* one for each column, or one for all */
} pc_bin_maps;

/* Tables without bins; then the bins of one, with edges of equal width. */
PC_CHECKED pcal_status pc_bin_maps_new(const pcal_env *env, size_t count, pc_bin_maps **out,
                                       pcal_error *err);
PC_CHECKED pcal_status pc_bin_map_alloc(const pcal_env *env, size_t bins, pc_bin_map *table,
                                        pcal_error *err);
/* Makes the bins of a long table quick to find; its edges are to stay as they are. */
PC_CHECKED pcal_status pc_bin_map_build_index(const pcal_env *env, pc_bin_map *table,
                                              pcal_error *err);
void pc_bin_map_free(const pcal_env *env, pc_bin_map *table);
void pc_bin_maps_free(const pcal_env *env, pc_bin_maps *tables); /* NULL is fine */

size_t pc_bin_map_find(const pc_bin_map *table, double score); /* the bin */
double pc_bin_map_middle(const pc_bin_map *table, size_t bin); /* 0 and 1 are its ends */

/* The value of a column's score; a pc_score_map (one_vs_rest.h). */
double pc_bin_maps_value(const void *tables, size_t column, double score);

/* The mean of several tables with weights above 0: as many bins as they have different edges.
 * Table `out` is new. */
PC_CHECKED pcal_status pc_bin_map_average(const pcal_env *env, const pc_bin_map *parts,
                                          const double *weights, size_t count, pc_bin_map *out,
                                          pcal_error *err);

/* The parameters "edges", if there are any to be told, and "values": a list for each table. */
void pc_bin_maps_write(const pc_bin_maps *tables, int edges, pc_json *json);

/* What a file may hold: `count` tables of `least` to `most` bins, with edges or of equal
 * width. */
typedef struct pc_bin_maps_rule {
  size_t count, least, most;
  int edges;
} pc_bin_maps_rule;

/* Reads them into new tables, which are to be freed also after a failure. */
PC_CHECKED pcal_status pc_bin_maps_read(const pcal_env *env, const pc_json_node *parameters,
                                        const pc_bin_maps_rule *rule, const char *file,
                                        pc_bin_maps **out, pcal_error *err);

#endif
