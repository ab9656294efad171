/* The models of a command: one by the common flags, or several by --model or --case. */
#ifndef CLI_MODELS_H
#define CLI_MODELS_H

#include "flags_val.h"

/* Names are owned. */
typedef struct cli_models {
  pcal_model *list;
  size_t count;
} cli_models;

#define CLI_MODELS_INIT \
  { NULL, 0 }

/* Whether the common flags name predictions. */
int cli_has_inputs(const cli_inputs *inputs);

/* Opens what the flags name, and the second set of a single model; several models of --model
 * share labels, cases have files of their own.  Free them in any case. */
pcal_status cli_models_open(cli_session *session, cli_models *models, pcal_error *err);
void cli_models_free(cli_models *models);

#endif
