/* Small networks as calibrators: what `network`, `order-invariant`, `order-preserving` and
 * `diag` share. */
#ifndef PC_NETWORK_MODEL_H
#define PC_NETWORK_MODEL_H

#include "calibrators/calibrator.h"
#include "calibrators/features.h"
#include "optim/dense_net.h"

typedef struct pc_network_model pc_network_model;

/* How the numbers of a network become scores of classes. */
typedef struct pc_network_kind {
  size_t more; /* parameters behind those of the network */
  /* Sizes of the layers. */
  void (*shape)(const pc_network_model *net, pc_dense_net *out);
  /* Parameters that leave probabilities alone. */
  void (*start)(const pc_network_model *net, uint64_t seed, double *parameters);
  /* Numbers that `map` and `slope` need for `rows` rows, those of the network included. */
  size_t (*room)(const pc_network_model *net, size_t rows);
  /* Scores of rows of features x. */
  void (*map)(const pc_network_model *net, const double *parameters, const double *x,
              size_t rows, double *room, double *scores);
  /* After map of the same rows: adds the slopes of the parameters to `gradient` from those of
   * the scores. */
  void (*slope)(const pc_network_model *net, const double *parameters, const double *x,
                size_t rows, const double *slopes, double *room, double *gradient);
} pc_network_kind;

/* The parameters of a calibrator. */
struct pc_network_model {
  const pc_network_kind *kind;
  pc_feature feature;
  size_t classes;
  double low, high; /* of the features that it was fitted to */
  double scale;     /* root of their mean square: what the network sees is divided by it */
  int plain;        /* nothing was learned: rows are left alone */
  pc_dense_net dense;
  size_t count;
  double *parameters;
};

#define PC_NETWORK_L2_OPTION(usual)                                              \
  {                                                                              \
    "l2", PCAL_OPTION_REAL, usual, 0, 1e6, NULL,                                 \
        "weight of the sum of squared weights beside the mean log score, 0 for " \
        "none"                                                                   \
  }

/* Rows that are mapped at a time. */
#define PC_NETWORK_ROWS 256

/* A model becomes the calibrator's parameters; release frees it also after a failure. */
PC_CHECKED pcal_status pc_network_model_new(pcal_calibrator *calibrator,
                                            const pc_network_kind *kind, pc_feature feature,
                                            pc_network_model **out, pcal_error *err);

/* Minimises the mean log score and l2 times the sum of squared weights. */
PC_CHECKED pcal_status pc_network_train(const pc_fit_task *task, const pc_network_kind *kind,
                                        pc_feature feature, double l2, pcal_error *err);

/* As in a row of the registry. */
size_t pc_network_model_space(const pcal_calibrator *calibrator);
void pc_network_model_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                            double *out);
void pc_network_model_write(const pcal_calibrator *calibrator, pc_json *json);
PC_CHECKED pcal_status pc_network_model_read(pcal_calibrator *calibrator,
                                             const pc_network_kind *kind, pc_feature feature,
                                             const pc_json_node *parameters, const char *file,
                                             pcal_error *err);
void pc_network_model_describe(const pcal_calibrator *calibrator, pc_text *out);
void pc_network_model_release(pcal_calibrator *calibrator);
const char *pc_network_model_objective(const pcal_calibrator *calibrator); /* "log" */

#endif
