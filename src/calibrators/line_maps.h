/* Broken lines: maps of scores that are straight between points. */
#ifndef PC_LINE_MAPS_H
#define PC_LINE_MAPS_H

#include "calibrators/calibrator.h"
#include "calibrators/parameter_lists.h"

/* Between points the value runs straight, outside it stays.  Two points at one score are a
 * jump behind it: the score itself has the first one's value. */
typedef struct pc_line_map {
  size_t count;          /* points, at least 1 */
  double *score, *value; /* score ascending */
} pc_line_map;

typedef struct pc_line_maps {
  size_t count;
  pc_line_map *lines;
} pc_line_maps;

/* Lines without points; then the points of one, which the caller fills. */
PC_CHECKED pcal_status pc_line_maps_new(const pcal_env *env, size_t count, pc_line_maps **out,
                                        pcal_error *err);
PC_CHECKED pcal_status pc_line_map_alloc(const pcal_env *env, size_t points, pc_line_map *line,
                                         pcal_error *err);
void pc_line_maps_free(const pcal_env *env, pc_line_maps *lines); /* NULL is fine */

/* Does not fall where the points do not, whatever is rounded. */
double pc_line_map_value(const pc_line_map *line, double score);

/* The parameters "scores" and "values", a list for each line. */
void pc_line_maps_write(const pc_line_maps *lines, pc_json *json);
/* Reads them into new lines, which are to be freed also after a failure. */
PC_CHECKED pcal_status pc_line_maps_read(const pcal_env *env, const pc_json_node *parameters,
                                         size_t count, pc_list_order scores,
                                         pc_list_order values, const char *file,
                                         pc_line_maps **out, pcal_error *err);

#endif
