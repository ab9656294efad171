/* Broken lines: maps of scores that are straight between points. */
#ifndef PC_SCORE_LINES_H
#define PC_SCORE_LINES_H

#include "calibrators/calibrator.h"
#include "calibrators/parameter_lists.h"

/* Between points the value runs straight, outside it stays.  Two points at one score are a
 * jump behind it: the score itself has the first one's value. */
typedef struct pc_score_line {
  size_t count;          /* points, at least 1 */
  double *score, *value; /* score ascending */
} pc_score_line;

typedef struct pc_score_lines {
  size_t count;
  pc_score_line *lines;
} pc_score_lines;

/* Lines without points; then the points of one, which the caller fills. */
PC_CHECKED pcal_status pc_score_lines_new(const pcal_env *env, size_t count,
                                          pc_score_lines **out, pcal_error *err);
PC_CHECKED pcal_status pc_score_line_room(const pcal_env *env, size_t points,
                                          pc_score_line *line, pcal_error *err);
void pc_score_lines_free(const pcal_env *env, pc_score_lines *lines); /* NULL is fine */

/* Does not fall where the points do not, whatever is rounded. */
double pc_score_line_at(const pc_score_line *line, double score);

/* The parameters "scores" and "values", a list for each line. */
void pc_score_lines_write(const pc_score_lines *lines, pc_json *json);
/* Reads them into new lines, which are to be freed also after a failure. */
PC_CHECKED pcal_status pc_score_lines_read(const pcal_env *env, const pc_json_node *parameters,
                                           size_t count, pc_list_order scores,
                                           pc_list_order values, const char *file,
                                           pc_score_lines **out, pcal_error *err);

#endif
