/* softmax(W x + b) as a fitted calibrator: applying, files, descriptions. */
#ifndef PC_LINEAR_MODEL_H
#define PC_LINEAR_MODEL_H

#include "calibrators/calibrator.h"
#include "calibrators/features.h"
#include "calibrators/linear/linear_search.h"

/* Largest size of parameters: products with features cannot overflow. */
#define PC_LINEAR_LARGEST 1e100

typedef struct pc_linear_model {
  pc_feature feature;
  int full;
  size_t classes, stride;
  size_t members; /* maps whose probabilities are averaged */
  double *w, *b;  /* of each member: w[j][k] (diagonal: w[k]) and b[k], rows of `stride` */
  int penalised;  /* lambda and mu are set */
  double lambda, mu;
} pc_linear_model;

/* Makes a model the calibrator's parameters. */
PC_CHECKED pcal_status pc_linear_model_new(pcal_calibrator *calibrator, pc_feature feature,
                                           int full, size_t members, pc_linear_model **out,
                                           pcal_error *err);

/* Sets a member from the result of a search. */
void pc_linear_model_take(pc_linear_model *model, size_t member,
                          const pc_linear_search *search);
/* Starts a search of the same shape at a member. */
void pc_linear_model_start(const pc_linear_model *model, size_t member,
                           pc_linear_search *search);
/* Sets every member to the map that leaves probabilities unchanged. */
void pc_linear_model_identity(pc_linear_model *model);

/* As in pc_calibrator_method. */
size_t pc_linear_model_space(const pcal_calibrator *calibrator);
void pc_linear_model_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                           double *out);
const char *pc_linear_model_recipe(const pcal_calibrator *calibrator, pc_recipe *out);
void pc_linear_model_write(const pcal_calibrator *calibrator, pc_json *json);
void pc_linear_model_describe(const pcal_calibrator *calibrator, pc_text *out);
const char *pc_linear_model_objective(const pcal_calibrator *calibrator); /* "log" */

/* Reads parameters into a new model. */
PC_CHECKED pcal_status pc_linear_model_read(pcal_calibrator *calibrator, pc_feature feature,
                                            int full, size_t members, int penalised,
                                            const pc_json_node *parameters, const char *file,
                                            pcal_error *err);

/* Fits a model without a penalty, for vector and matrix.  on: index of the option "on". */
PC_CHECKED pcal_status pc_linear_model_fit(const pc_fit_task *task, int full, size_t on,
                                           pcal_error *err);

/* Fails if a map without a penalty has fewer rows than parameters. */
PC_CHECKED pcal_status pc_linear_model_check_rows(const pc_fit_task *task, int full,
                                                  pcal_error *err);

/* The feature for the option "on" (of index `on`) and the kind of scores; for probabilities it
 * sets the option to log-probs. */
pc_feature pc_linear_feature(pcal_calibrator *calibrator, size_t on);

/* Records the outcome of a search: status, objective, warnings.  If `after` does not beat the
 * objective before the fit, the model becomes the identity. */
void pc_linear_model_record_fit(const pc_fit_task *task, const pc_fit_rows *rows,
                                pc_linear_model *model, const pc_linear_search *search,
                                double after);

#define PC_LINEAR_ON_OPTION                                                \
  {                                                                        \
    "on", PCAL_OPTION_CHOICE, "logits", 0, 0, "logits|log-probs",          \
        "input of W and b; probabilities always enter as their logarithms" \
  }

#endif
