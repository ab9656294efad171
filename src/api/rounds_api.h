/* The handles of rounds: of a measurement or of a fit. */
#ifndef PC_ROUNDS_API_H
#define PC_ROUNDS_API_H

#include "calibrators/fit_rounds.h"
#include "measure/rounds.h"
#include "measure/rounds_worker.h"

/* Exactly one of the two is set. */
struct pcal_rounds {
  pcal_env env;
  pc_measure_rounds *measure;
  pc_fit_rounds *fit;
};

struct pcal_rounds_worker {
  pcal_env env;
  pc_measure_rounds_worker *measure;
  pc_fit_rounds_worker *fit;
};

#endif
