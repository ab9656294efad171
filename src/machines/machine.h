/* Machines: accumulators that collect what metrics need while rows are read.
 *
 * A metric states its need (pc_need).  The machine of that need creates a state, updates it
 * with rows, merges it with other states and finishes it into evidence, from which the metric
 * computes its value.  Metrics with equal needs share one state. */
#ifndef PC_MACHINE_H
#define PC_MACHINE_H

#include "base/codec.h"
#include "curve/curve_resolve.h"
#include "data/view.h"
#include "device/device.h"
#include "kernels/pair_rows.h"
#include "kernels/row_values.h"
#include "stats/decompose.h"

typedef enum pc_machine_kind {
  PC_SUM = 1, /* sums of row values */
  PC_GRID,    /* sums of rows in bins with fixed edges */
  PC_CURVE,   /* all scores, sorted */
  PC_PAIR,    /* all rows, for sums over pairs of rows */
  PC_ROWS,    /* all rows, to measure them again with other weights or labels */
  PC_BLOCK    /* pairs of rows inside blocks of consecutive rows, without keeping the rows */
} pc_machine_kind;

/* Computes the values of rows [begin, begin + count) into out[i * value_count + v]; +inf is
 * allowed. */
#define PC_VALUES_MAX 4
#define PC_PARAMS_MAX 18
typedef void (*pc_values_function)(const double *params, const pc_rows *rows, size_t begin,
                                   size_t count, double *out);

/* The value of one block of unweighted rows, in the order of their indices. */
#define PC_BLOCK_MAX 65536
typedef double (*pc_block_function)(const double *params, const pc_pair_rows *rows);

/* Optional sums of a grid, beside weights, hits and scores; combined with |. */
typedef enum pc_moment {
  PC_MOMENT_SQUARE = 1, /* score^2 */
  PC_MOMENT_HIT = 2,    /* score * hit */
  PC_MOMENT_LOG = 4     /* logarithms of score and of 1 - score, by outcome */
} pc_moment;

/* What a metric needs.  Needs are compared byte by byte: zero the struct before filling it. */
typedef struct pc_need {
  pc_machine_kind machine;
  pc_view view; /* grid, curve */
  struct {
    pc_values_function values;
    size_t value_count;
    double params[PC_PARAMS_MAX];
    int needs_log;          /* uses rows->log_true */
    pc_row_value row_value; /* what `values` computes, if a device can compute it too */
    double lowest;          /* of PC_ROW_VALUE_LOG */
    int products;           /* also sums of products of two values, for standard errors */
  } sum;
  struct {
    pc_edge_rule rule;
    unsigned
        moments; /* of pc_moment; a shared state may have more.  Curves take PC_MOMENT_SQUARE
                         only, for segments (curve/segment.h) */
    size_t bins;
    double threshold; /* counts only scores above it; 0: all */
  } grid;
  struct {
    int32_t all_probs; /* keep all probabilities of a row, not only the score of the natural
                          view */
    int32_t clusters;  /* also keep the number of its group */
  } rows;
  struct {
    pc_block_function value;
    size_t rows; /* per block */
    double params[3];
  } block;
} pc_need;

/* Stored rows, by ascending index; distinct rows (machine_rows.h) by ascending key. */
typedef struct pc_kept_rows {
  size_t count, classes; /* classes as in pc_layout */
  uint64_t *ids;         /* row indices; of distinct rows: keys of their random draws */
  int32_t *labels;
  double *weights;    /* of distinct rows: the weight of one copy */
  double *copies;     /* number of equal rows behind a distinct row; else NULL */
  double *score;      /* one column: probability of class 1, or confidence; else the largest
                         probability; NULL for regression */
  int32_t *top_label; /* NULL for one column */
  double *probs;      /* count x classes, or NULL; regression: predictions and targets */
  uint64_t *clusters; /* of distinct rows: keys of their clusters; or NULL */
} pc_kept_rows;

/* The weight of a row, with all its copies. */
static inline double pc_kept_weight(const pc_kept_rows *rows, size_t row) {
  return rows->copies == NULL ? rows->weights[row] : rows->weights[row] * rows->copies[row];
}

/* The content of a finished state; only the member for its machine is filled. */
typedef struct pc_evidence {
  pc_machine_kind machine;
  double total;            /* sum of weights */
  int importance;          /* weights are importance weights (pc_evidence_scale) */
  double effective;        /* effective sample size of importance weights */
  const pc_layout *layout; /* of the data */
  struct {
    size_t groups; /* number of groups that are measured together; 0: none */
    double total;  /* weight of all rows, scaled as these rows are */
  } family;
  int rough; /* one of many replicas: a value accurate to 2e-3 is enough; curves have the form
                PC_CURVE_REPLICA */
  struct pc_sum_evidence {
    size_t count;
    double value[PC_VALUES_MAX];                  /* sums of the finite values */
    double infinite[PC_VALUES_MAX];               /* weight of infinite ones */
    uint64_t infinite_row[PC_VALUES_MAX];         /* lowest index of a row with one */
    double product[PC_VALUES_MAX][PC_VALUES_MAX]; /* sums of products; 0 unless requested */
    /* Sums with squared weights in place of weights. */
    double square_value[PC_VALUES_MAX], square_product[PC_VALUES_MAX][PC_VALUES_MAX];
  } sum;
  struct {
    size_t part_count, bin_count;
    pc_bin *bins;      /* [part][bin]; moments that were not requested are NaN */
    pc_bin_logs *logs; /* of each bin; NULL: not requested */
    /* Where bins is NULL (machine_grid_sparse.h): computes those of one part. */
    void (*read)(const void *state, size_t part, pc_bin *out);
    const void *state;
  } grid;
  struct {
    size_t part_count;
    pc_curve_table *parts;
    pc_curve_table
        *cells; /* in place of parts for metrics that join scores in cells; or NULL */
  } curve;
  struct {
    pc_pair_rows rows; /* distinct rows, sorted by label, predicted class and its probability */
    void *block;
    pc_device_queue queue; /* of the device that the rows came from, which can sum pairs */
  } pair;
  pc_kept_rows kept;
  struct {
    uint64_t count; /* complete blocks */
    double sum;     /* sum of their values */
    double squares; /* sum of the squares of their values */
  } block;
} pc_evidence;

/* The evidence for a metric; cells: it joins scores in cells. */
static inline pc_evidence pc_evidence_for(const pc_evidence *evidence, int cells) {
  pc_evidence own = *evidence;
  if (cells && own.machine == PC_CURVE && own.curve.cells != NULL)
    own.curve.parts = own.curve.cells;
  return own;
}

/* Totals of the rows behind a saved state, to check it against. */
typedef struct pc_saved_totals {
  uint64_t rows;
  pc_sum weight;
} pc_saved_totals;

/* A machine.  States are opaque outside it. */
typedef struct pc_machine {
  const char *name;
  pcal_status (*create)(const pcal_env *env, const pc_need *need, const pc_layout *layout,
                        void **state, pcal_error *err);
  void (*destroy)(const pcal_env *env, void *state);
  void (*clear)(void *state); /* removes all rows, keeps memory */
  /* columns: of the view of the need; NULL for machines that take whole rows. */
  pcal_status (*update)(const pcal_env *env, void *state, const pc_rows *rows,
                        const pc_view_columns *columns, pcal_error *err);
  /* Allocates what merging these two states needs; merge then cannot fail. */
  pcal_status (*prepare)(const pcal_env *env, void *into, const void *from, pcal_error *err);
  void (*merge)(void *into, const void *from);
  /* Merges the rows of several states at once, with all threads, and clears those states; or leaves
   * all of them to `merge`.  NULL for machines whose states do not grow with the rows. */
  pcal_status (*gather)(const pcal_env *env, void *into, void *const *from, size_t count,
                        pcal_error *err);
  /* Fills the evidence; freed with release. */
  pcal_status (*finish)(const pcal_env *env, const void *state, pc_evidence *out,
                        pcal_error *err);
  void (*release)(const pcal_env *env, pc_evidence *evidence);
  /* save and load are NULL if a state cannot be saved.  The bytes depend on the rows only.
   * load creates a state; it allocates no more than the length of the bytes justifies.  Bytes
   * that no state could have written, or that contradict the totals, fail the decoder.  The
   * caller destroys *state unless it is NULL, also on failure. */
  pcal_status (*save)(const pcal_env *env, const void *state, pc_encoder *out, pcal_error *err);
  pcal_status (*load)(const pcal_env *env, const pc_need *need, const pc_layout *layout,
                      const pc_saved_totals *totals, pc_decoder *in, void **state,
                      pcal_error *err);
  /* The bytes hold all rows and serve for packing groups alone (measure/packed_group.h), not for
   * saved states. */
  int packed_only;
} pc_machine;

/* True if states of this machine can be saved. */
static inline int pc_machine_is_saved(const pc_machine *machine) {
  return machine->save != NULL && machine->load != NULL && !machine->packed_only;
}

/* As pc_machine_curve.finish, but the tables are resolved only as far as asked
 * (curve/curve_resolve.h); asked NULL: tables of scores. */
PC_CHECKED pcal_status pc_machine_curve_resolve(const pcal_env *env, const void *state,
                                                const pc_curve_question *asked,
                                                pc_evidence *out, pcal_error *err);

extern const pc_machine pc_machine_sum, pc_machine_grid, pc_machine_curve, pc_machine_pair,
    pc_machine_rows, pc_machine_block;

/* For states of the sum machine: adds a sum of finite values of unweighted rows. */
void pc_machine_sum_add(void *state, size_t value, const pc_sum *sum);
/* And reads a sum: of finite values, and the weight of rows whose value is infinite. */
void pc_machine_sum_read(const void *state, size_t value, pc_sum *finite, pc_sum *infinite);

/* For states of the rows machine.  The first function returns the number of rows; the second
 * changes cluster c to map[c] in the rows from position `first` on. */
size_t pc_machine_rows_count(const void *state);
void pc_machine_rows_renumber_clusters(void *state, size_t first, const size_t *map);

const pc_machine *pc_machine_of(pc_machine_kind kind);

/* Multiplies all weights of the evidence.  Importance weights are scaled so that they sum to
 * the effective sample size: metrics that depend on the number of rows then see that size.
 * Evidence of the sum machine is not scaled: it stores the effective sample size separately. */
void pc_evidence_scale(pc_evidence *evidence, double factor);

/* Fails with PCAL_MEMORY if `bytes` exceed the memory limit of the environment.  The message
 * names the rows and the remedy. */
PC_CHECKED pcal_status pc_check_memory_limit(const pcal_env *env, size_t bytes,
                                             const char *remedy, pcal_error *err);

/* The same with another subject: "keeping the bins of all classes takes". */
PC_CHECKED pcal_status pc_check_memory_limit_of(const pcal_env *env, size_t bytes,
                                                const char *what, const char *remedy,
                                                pcal_error *err);

#endif
