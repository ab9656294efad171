/* The machines: four that metrics are made of, and one that keeps rows to measure them again.
 *
 * A metric says what it needs; a machine holds the state for that need and knows how to
 * update, merge and finish it.  Metrics with equal needs share one state. */
#ifndef PC_MACHINE_H
#define PC_MACHINE_H

#include "base/codec.h"
#include "curve/curve_resolve.h"
#include "data/view.h"
#include "kernels/pair_rows.h"
#include "stats/decompose.h"

/* PC_BLOCK is how pairs are had without keeping the rows: only those inside a block meet. */
typedef enum pc_machine_kind {
  PC_SUM = 1,
  PC_GRID,
  PC_CURVE,
  PC_PAIR,
  PC_ROWS,
  PC_BLOCK
} pc_machine_kind;

/* Values of rows [begin, begin + count): out[i * value_count + v]; +inf is allowed. */
#define PC_VALUES_MAX 4
#define PC_PARAMS_MAX 18
typedef void (*pc_values_function)(const double *params, const pc_rows *rows, size_t begin,
                                   size_t count, double *out);

/* The value of one block of rows, none of them weighted, in the order of their indices. */
#define PC_BLOCK_MAX 65536
typedef double (*pc_block_function)(const double *params, const pc_pair_rows *rows);

/* What a grid adds up beside weights, hits and scores; several may be asked for. */
typedef enum pc_moment {
  PC_MOMENT_SQUARE = 1, /* score^2 */
  PC_MOMENT_HIT = 2,    /* score * hit */
  PC_MOMENT_LOG = 4     /* logarithms of score and 1 - score, by outcome (grid.logs) */
} pc_moment;

/* What a metric needs.  Two needs are the same when their bytes are: start from zero. */
typedef struct pc_need {
  pc_machine_kind machine;
  pc_view view; /* grid, curve */
  struct {
    pc_values_function values;
    size_t value_count;
    double params[PC_PARAMS_MAX];
    int needs_log; /* uses rows->log_true */
    int spread;    /* also sums of products, for standard errors */
  } sum;
  struct {
    pc_edge_rule rule;
    unsigned moments; /* pc_moment; a state may have more than a metric asked for */
    size_t bins;
    double threshold; /* only scores above it are counted; 0: all */
  } grid;
  struct {
    int32_t whole;    /* all probabilities of a row, not only the score of the natural view */
    int32_t clusters; /* and the number of its group */
  } keep;
  struct {
    pc_block_function value;
    size_t rows; /* of a block */
    double params[3];
  } block;
} pc_need;

/* Rows by ascending index or, made distinct (machine_rows.h), in the order of their keys. */
typedef struct pc_kept_rows {
  size_t count, classes; /* as in pc_layout */
  uint64_t *ids;         /* indices; of distinct rows the keys of their draws */
  int32_t *labels;
  double *weights;    /* of distinct rows: of one copy */
  double *copies;     /* how many equal rows a distinct one stands for; else NULL */
  double *score;      /* of class 1 or the confidence, for one column; else the largest; NULL
                         for regression */
  int32_t *top_label; /* NULL for one column */
  double *probs;      /* count x classes, or NULL; of regression: predictions and targets */
  uint64_t *clusters; /* keys of the clusters of distinct rows, or NULL */
} pc_kept_rows;

/* The weight of a row with all its copies. */
static inline double pc_kept_weight(const pc_kept_rows *rows, size_t row) {
  return rows->copies == NULL ? rows->weights[row] : rows->weights[row] * rows->copies[row];
}

/* What a finished state says.  Exactly one member is filled. */
typedef struct pc_evidence {
  pc_machine_kind machine;
  double total;            /* sum of weights */
  int importance;          /* rows are the units; weights are scaled (pc_evidence_scale) */
  double effective;        /* sample size of importance weights */
  const pc_layout *layout; /* of the data */
  int rough; /* one of many replicas: 1e-4 of a value is near enough; curves have a prefix */
  struct pc_sum_evidence {
    size_t count;
    double value[PC_VALUES_MAX];                  /* sums of the finite values */
    double infinite[PC_VALUES_MAX];               /* weight of infinite ones */
    uint64_t infinite_row[PC_VALUES_MAX];         /* the first of them */
    double product[PC_VALUES_MAX][PC_VALUES_MAX]; /* sums of products; 0 unless asked for */
    /* The same with squared weights, for importance weights. */
    double square_value[PC_VALUES_MAX], square_product[PC_VALUES_MAX][PC_VALUES_MAX];
  } sum;
  struct {
    size_t part_count, bin_count;
    pc_bin *bins;      /* part after part; moments not asked for are NaN */
    pc_bin_logs *logs; /* of each bin, where asked for, else NULL */
  } grid;
  struct {
    size_t part_count;
    pc_curve_table *parts;
  } curve;
  struct {
    pc_pair_rows rows; /* distinct rows by label, predicted class and its probability */
    void *block;
  } pair;
  pc_kept_rows kept;
  struct {
    uint64_t count; /* of complete blocks */
    double sum;     /* of their values */
    double squares; /* sum of the squares of their values */
  } block;
} pc_evidence;

/* What the rows behind a saved state add up to. */
typedef struct pc_saved_totals {
  uint64_t rows;
  pc_sum weight;
} pc_saved_totals;

/* A machine: states are private to it.  Updates are given the columns of the need's view
 * (NULL for those that take whole rows).  clear keeps memory for reuse. */
typedef struct pc_machine {
  const char *name;
  pcal_status (*create)(const pcal_env *env, const pc_need *need, const pc_layout *layout,
                        void **state, pcal_error *err);
  void (*destroy)(const pcal_env *env, void *state);
  void (*clear)(void *state);
  pcal_status (*update)(const pcal_env *env, void *state, const pc_rows *rows,
                        const pc_view_columns *columns, pcal_error *err);
  /* Makes sure that the same two states can be merged, which then cannot fail. */
  pcal_status (*prepare)(const pcal_env *env, void *into, const void *from, pcal_error *err);
  void (*merge)(void *into, const void *from);
  pcal_status (*finish)(const pcal_env *env, const void *state, pc_evidence *out,
                        pcal_error *err);
  void (*release)(const pcal_env *env, pc_evidence *evidence);
  /* Both NULL where a state cannot be saved.  The bytes depend on the rows only.  load makes a
   * state, without taking more memory than the bytes justify; bytes that no state could have
   * written, or that do not fit the totals, fail the decoder.  *state is to be destroyed
   * unless it is NULL, whatever load answers. */
  pcal_status (*save)(const pcal_env *env, const void *state, pc_encoder *out, pcal_error *err);
  pcal_status (*load)(const pcal_env *env, const pc_need *need, const pc_layout *layout,
                      const pc_saved_totals *totals, pc_decoder *in, void **state,
                      pcal_error *err);
} pc_machine;

/* Finishes a state of the curve machine for metrics that can say what they want to know: as
 * pc_machine_curve.finish, but the tables may be coarse. */
PC_CHECKED pcal_status pc_machine_curve_resolve(const pcal_env *env, const void *state,
                                                pc_curve_wants wants, const void *user,
                                                pc_evidence *out, pcal_error *err);

extern const pc_machine pc_machine_sum, pc_machine_grid, pc_machine_curve, pc_machine_pair,
    pc_machine_rows, pc_machine_block;

/* Of a state of the keep machine: how many rows it has, and its clusters called by other
 * numbers in the rows from position `first` on: cluster c becomes map[c]. */
size_t pc_machine_rows_count(const void *state);
void pc_machine_rows_renumber_clusters(void *state, size_t first, const size_t *map);

const pc_machine *pc_machine_of(pc_machine_kind kind);

/* Multiplies all weights of evidence but sums, which know the effective sample size:
 * importance weights are scaled to sum to it, so that whatever depends on the number of rows
 * sees that number. */
void pc_evidence_scale(pc_evidence *evidence, double factor);

/* Fails when keeping `bytes` would exceed the environment's limit. */
PC_CHECKED pcal_status pc_check_memory_limit(const pcal_env *env, size_t bytes,
                                             const char *remedy, pcal_error *err);

/* The same for other things than rows: "keeping the bins of all classes takes". */
PC_CHECKED pcal_status pc_check_memory_limit_of(const pcal_env *env, size_t bytes,
                                                const char *what, const char *remedy,
                                                pcal_error *err);

#endif
