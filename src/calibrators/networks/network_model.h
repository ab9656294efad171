/* Calibrators by small networks: shared by `network`, `order-invariant`, `order-preserving` and
 * `diag`. */
#ifndef PC_NETWORK_MODEL_H
#define PC_NETWORK_MODEL_H

#include "calibrators/calibrator.h"
#include "calibrators/features.h"
#include "optim/dense_net.h"

typedef struct pc_network_model pc_network_model;

/* Rows of a block, as `prepare` stored them: by columns of `stride` numbers
 * (kernels/network_kernels.h). */
typedef struct pc_network_rows {
  const double *prepared;
  size_t stride;
} pc_network_rows;

/* How the outputs of a network become scores of classes. */
typedef struct pc_network_kind {
  size_t extra; /* parameters besides those of the network, behind them */
  /* Sets the sizes of the layers. */
  void (*shape)(const pc_network_model *net, pc_dense_net *out);
  /* Sets parameters that leave probabilities unchanged. */
  void (*start)(const pc_network_model *net, uint64_t seed, double *parameters);
  /* Doubles for each row that `prepare` fills: whatever depends on the features alone. */
  size_t (*prepared_size)(const pc_network_model *net);
  /* x: features row by row; out has pc_network_stride(rows) rows. */
  void (*prepare)(const pc_network_model *net, const double *x, size_t rows, double *out);
  /* The classes of the scores that `map` computes, row by row; NULL: they are in order. */
  const uint32_t *(*order)(const pc_network_model *net, const pc_network_rows *rows);
  /* Doubles of scratch that `map` and `backward` need. */
  size_t (*scratch_size)(const pc_network_model *net, size_t stride);
  /* Computes scores, by columns. */
  void (*map)(const pc_network_model *net, const double *parameters,
              const pc_network_rows *rows, double *scratch, double *scores);
  /* After map of the same rows with the same scratch: adds to `lanes` the derivatives by the
   * parameters, from `slopes`, those by the scores. */
  void (*backward)(const pc_network_model *net, const double *parameters,
                   const pc_network_rows *rows, const double *slopes, double *scratch,
                   double *lanes);
} pc_network_kind;

/* Parameters of a calibrator. */
struct pc_network_model {
  const pc_network_kind *kind;
  pc_feature feature;
  size_t classes;
  double low, high; /* range of the features of the fit */
  double scale;     /* root of their mean square; divides the inputs of the network */
  int identity;     /* leave probabilities unchanged, whatever the parameters */
  pc_dense_net dense;
  size_t count;
  double *parameters;
};

#define PC_NETWORK_L2_OPTION(usual)                                                  \
  {                                                                                  \
    "l2", PCAL_OPTION_REAL, usual, 0, 1e6, NULL,                                     \
        "penalty: weight of the sum of squared weights, added to the mean log score" \
  }

/* Makes a model the calibrator's parameters. */
PC_CHECKED pcal_status pc_network_model_new(pcal_calibrator *calibrator,
                                            const pc_network_kind *kind, pc_feature feature,
                                            pc_network_model **out, pcal_error *err);

/* Minimises the mean log score plus l2 times the sum of squared weights. */
PC_CHECKED pcal_status pc_network_train(const pc_fit_task *task, const pc_network_kind *kind,
                                        pc_feature feature, double l2, pcal_error *err);

/* As in pc_calibrator_method. */
size_t pc_network_model_space(const pcal_calibrator *calibrator);
void pc_network_model_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                            double *out);
void pc_network_model_write(const pcal_calibrator *calibrator, pc_json *json);
PC_CHECKED pcal_status pc_network_model_read(pcal_calibrator *calibrator,
                                             const pc_network_kind *kind, pc_feature feature,
                                             const pc_json_node *parameters, const char *file,
                                             pcal_error *err);
void pc_network_model_describe(const pcal_calibrator *calibrator, pc_text *out);
const char *pc_network_model_objective(const pcal_calibrator *calibrator); /* "log" */

#endif
