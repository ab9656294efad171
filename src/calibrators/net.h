/* Small networks as calibrators: what `network`, `order-invariant`, `order-preserving` and
 * `diag` share. */
#ifndef PC_NET_H
#define PC_NET_H

#include "calibrators/calibrator.h"
#include "calibrators/features.h"
#include "optim/dense.h"

typedef struct pc_net pc_net;

/* How the numbers of a network become scores of classes. */
typedef struct pc_net_kind {
  size_t more; /* parameters behind those of the network */
  /* Sizes of the layers. */
  void (*shape)(const pc_net *net, pc_dense *out);
  /* Parameters that leave probabilities alone. */
  void (*start)(const pc_net *net, uint64_t seed, double *parameters);
  /* Numbers that `map` and `slope` need for `rows` rows, those of the network included. */
  size_t (*room)(const pc_net *net, size_t rows);
  /* Scores of rows of features x. */
  void (*map)(const pc_net *net, const double *parameters, const double *x, size_t rows,
              double *room, double *scores);
  /* After map of the same rows: adds the slopes of the parameters to `gradient` from those of
   * the scores. */
  void (*slope)(const pc_net *net, const double *parameters, const double *x, size_t rows,
                const double *slopes, double *room, double *gradient);
} pc_net_kind;

/* The parameters of a calibrator. */
struct pc_net {
  const pc_net_kind *kind;
  pc_feature feature;
  size_t classes;
  double low, high; /* of the features that it was fitted to */
  double scale;     /* root of their mean square: what the network sees is divided by it */
  int plain;        /* nothing was learned: rows are left alone */
  pc_dense dense;
  size_t count;
  double *parameters;
};

#define PC_NET_L2_OPTION(usual)                                                  \
  {                                                                              \
    "l2", PCAL_OPTION_REAL, usual, 0, 1e6, NULL,                                 \
        "weight of the sum of squared weights beside the mean log score, 0 for " \
        "none"                                                                   \
  }

/* Rows that are mapped at a time. */
#define PC_NET_ROWS 256

/* A model becomes the calibrator's parameters; release frees it also after a failure. */
PC_CHECKED pcal_status pc_net_new(pcal_calibrator *calibrator, const pc_net_kind *kind,
                                  pc_feature feature, pc_net **out, pcal_error *err);

/* Minimises the mean log score and l2 times the sum of squared weights. */
PC_CHECKED pcal_status pc_net_fit(const pc_fit_task *task, const pc_net_kind *kind,
                                  pc_feature feature, double l2, pcal_error *err);

/* As in a row of the registry. */
size_t pc_net_space(const pcal_calibrator *calibrator);
void pc_net_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                  double *out);
void pc_net_write(const pcal_calibrator *calibrator, pc_json *json);
PC_CHECKED pcal_status pc_net_read(pcal_calibrator *calibrator, const pc_net_kind *kind,
                                   pc_feature feature, const pc_json_node *parameters,
                                   const char *file, pcal_error *err);
void pc_net_tell(const pcal_calibrator *calibrator, pc_text *out);
void pc_net_release(pcal_calibrator *calibrator);
const char *pc_net_objective(const pcal_calibrator *calibrator); /* "log" */

#endif
