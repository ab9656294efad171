/* Tables of bins: maps of scores that are constant in each bin. */
#ifndef PC_SCORE_TABLES_H
#define PC_SCORE_TABLES_H

#include "calibrators/calibrator.h"

/* Bin b is (edges[b - 1], edges[b]]; the first has no lower end, the last no upper one. */
typedef struct pc_score_table {
  size_t count;   /* bins, at least 1 */
  double *values; /* what a score in the bin becomes */
  double *edges;  /* count - 1, ascending, below 1 */
  size_t *guide;  /* where to look for a score, or NULL */
} pc_score_table;

typedef struct pc_score_tables {
  size_t count;
  pc_score_table *tables; /* one for each column, or one for all */
} pc_score_tables;

/* Tables without bins; then the bins of one, with edges of equal width. */
PC_CHECKED pcal_status pc_score_tables_new(const pcal_env *env, size_t count,
                                           pc_score_tables **out, pcal_error *err);
PC_CHECKED pcal_status pc_score_table_room(const pcal_env *env, size_t bins,
                                           pc_score_table *table, pcal_error *err);
/* Makes the bins of a long table quick to find; its edges are to stay as they are. */
PC_CHECKED pcal_status pc_score_table_guide(const pcal_env *env, pc_score_table *table,
                                            pcal_error *err);
void pc_score_table_free(const pcal_env *env, pc_score_table *table);
void pc_score_tables_free(const pcal_env *env, pc_score_tables *tables); /* NULL is fine */

size_t pc_score_table_find(const pc_score_table *table, double score); /* the bin */
double pc_score_table_middle(const pc_score_table *table,
                             size_t bin); /* 0 and 1 are its ends */

/* The value of a column's score; a pc_score_map (one_vs_rest.h). */
double pc_score_tables_value(const void *tables, size_t column, double score);

/* The mean of several tables with weights above 0: as many bins as they have different edges.
 * Table `out` is new. */
PC_CHECKED pcal_status pc_score_table_mix(const pcal_env *env, const pc_score_table *parts,
                                          const double *weights, size_t count,
                                          pc_score_table *out, pcal_error *err);

/* The parameters "edges", if there are any to be told, and "values": a list for each table. */
void pc_score_tables_write(const pc_score_tables *tables, int edges, pc_json *json);

/* What a file may hold: `count` tables of `least` to `most` bins, with edges or of equal
 * width. */
typedef struct pc_score_tables_rule {
  size_t count, least, most;
  int edges;
} pc_score_tables_rule;

/* Reads them into new tables, which are to be freed also after a failure. */
PC_CHECKED pcal_status pc_score_tables_read(const pcal_env *env, const pc_json_node *parameters,
                                            const pc_score_tables_rule *rule, const char *file,
                                            pc_score_tables **out, pcal_error *err);

#endif
