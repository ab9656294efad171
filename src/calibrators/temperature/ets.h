/* Ensemble temperature scaling. */
#ifndef PC_ETS_H
#define PC_ETS_H

#include "calibrators/calibrator.h"

#define PC_ETS_LOW 1e-4 /* bounds of T */
#define PC_ETS_HIGH 1e4

typedef struct pc_ets {
  double temperature;
  double weight[3]; /* of softmax(z / T), softmax(z) and 1/K; sum to one */
} pc_ets;

enum { PC_ETS_FIT, PC_ETS_OBJECTIVE, PC_ETS_CONVENTION };
enum { PC_ETS_JOINT, PC_ETS_SEQUENTIAL };

/* Sets the model and the calibrator's fit; the options are final. */
PC_CHECKED pcal_status pc_ets_search(const pc_fit_task *task, pc_ets *model, pcal_error *err);

#endif
