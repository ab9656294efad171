/* The models of a command: one from the common flags, or several from --model or --case. */
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

/* True if any flag names predictions. */
int cli_has_inputs(const cli_inputs *inputs);

/* Opens the models, and for a single one the second set.  Models of --model share the labels;
 * each --case has its own files.  Call cli_models_free even after a failure. */
pcal_status cli_models_open(cli_session *session, cli_models *models, pcal_error *err);
void cli_models_free(cli_models *models);

#endif
