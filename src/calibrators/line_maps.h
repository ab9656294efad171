/* Piecewise linear maps of scores. */
#ifndef PC_LINE_MAPS_H
#define PC_LINE_MAPS_H

#include "calibrators/calibrator.h"
#include "calibrators/parameter_lists.h"

/* Constant outside the outermost points.  Two points at one score are a jump: the score itself
 * has the value of the first. */
typedef struct pc_line_map {
  size_t count;          /* points, at least 1 */
  double *score, *value; /* score ascending */
} pc_line_map;

typedef struct pc_line_maps {
  size_t count;
  pc_line_map *maps;
} pc_line_maps;

/* Maps without points. */
PC_CHECKED pcal_status pc_line_maps_new(const pcal_env *env, size_t count, pc_line_maps **out,
                                        pcal_error *err);
/* Allocates the points of one map; the caller fills them. */
PC_CHECKED pcal_status pc_line_map_alloc(const pcal_env *env, size_t points, pc_line_map *map,
                                         pcal_error *err);

/* Frees maps that are not parameters of a calibrator (its arena frees those); NULL is
 * allowed. */
void pc_line_maps_free(const pcal_env *env, pc_line_maps *maps);

/* The value of a score.  Never falls where the points do not, also after rounding. */
double pc_line_map_value(const pc_line_map *map, double score);

/* The parameters "scores" and "values": a list for each map. */
void pc_line_maps_write(const pc_line_maps *maps, pc_json *json);
PC_CHECKED pcal_status pc_line_maps_read(const pcal_env *env, const pc_json_node *parameters,
                                         size_t count, pc_list_order scores,
                                         pc_list_order values, const char *file,
                                         pc_line_maps **out, pcal_error *err);

#endif
