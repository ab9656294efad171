/* Histogram binning: tables of bins and what was observed in them. */
#ifndef PC_HISTOGRAM_H
#define PC_HISTOGRAM_H

#include "calibrators/calibrator.h"

/* Bin b is (edges[b - 1], edges[b]]; the first has no lower end, the last no upper one. */
typedef struct pc_histogram_table {
  size_t count;   /* bins, at least 1 */
  double *values; /* what a score in the bin becomes */
  double *edges;  /* count - 1, ascending, below 1 */
} pc_histogram_table;

typedef struct pc_histogram {
  size_t bins;    /* asked for: the most that a table may have */
  size_t columns; /* scores of a row that are looked up */
  size_t table_count;
  pc_histogram_table *tables; /* one for each column, or one for all */
  double *cells;              /* what they hold */
  uint64_t empty;             /* bins without rows, in a fresh fit */
} pc_histogram;

enum { PC_HISTOGRAM_BINS, PC_HISTOGRAM_BINNING, PC_HISTOGRAM_CLASSWISE };
enum { PC_HISTOGRAM_BY_WIDTH, PC_HISTOGRAM_BY_MASS };

/* For a calibrator's layout and options, without tables.  Then the tables, without bins; and,
 * once their counts are set, room for values and edges, with edges of equal width. */
PC_CHECKED pcal_status pc_histogram_new(const pcal_calibrator *calibrator, pc_histogram **out,
                                        pcal_error *err);
PC_CHECKED pcal_status pc_histogram_tables(const pcal_env *env, pc_histogram *histogram,
                                           pcal_error *err);
PC_CHECKED pcal_status pc_histogram_cells(const pcal_env *env, pc_histogram *histogram,
                                          pcal_error *err);
void pc_histogram_free(const pcal_env *env, pc_histogram *histogram); /* NULL is fine */

size_t pc_histogram_find(const pc_histogram_table *table, double score);

/* The looked-up scores of row i, and the label at which column c is a hit. */
const double *pc_histogram_scores(const pc_histogram *histogram, const pc_layout *layout,
                                  const pc_rows *rows, size_t i);
int32_t pc_histogram_hit(const pc_histogram *histogram, size_t column);

/* Sets the value of a bin: hits / weight, or the middle of an empty bin, which is counted. */
void pc_histogram_set(pc_histogram *histogram, size_t table, size_t bin, double weight,
                      double hits);

/* Fits tables of equal mass: keeps scores, class after class where they are too many. */
PC_CHECKED pcal_status pc_histogram_fit_mass(const pc_fit_task *task, pc_histogram *histogram,
                                             pcal_error *err);

/* Reads and checks the tables of a calibrator file. */
PC_CHECKED pcal_status pc_histogram_read(const pcal_env *env, pc_histogram *histogram,
                                         int by_mass, const pc_json_node *parameters,
                                         const char *file, pcal_error *err);

#endif
