/* The public header in other languages: every initialiser, and nothing but the header. */
#include <propercal.h>

int header_use(void);

int header_use(void) {
  pcal_env env = PCAL_ENV_INIT;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_arrow arrow = PCAL_ARROW_INIT;
  pcal_input input = PCAL_INPUT_INIT;
  pcal_join join = PCAL_JOIN_INIT;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_simulation simulation = PCAL_SIMULATION_INIT;
  pcal_error error;
  error.status = PCAL_OK;
  error.row = PCAL_NO_ROW;
  error.message[0] = '\0';
  return env.size + batch.size + inputs.size + arrow.size + input.size + join.size +
                 config.size + simulation.size >
             0 &&
         error.status == PCAL_OK && pcal_version() != NULL;
}
