/* The public header in other languages: every initialiser, and nothing but the header. */
#include <propercal.h>

int header_use(void);

int header_use(void) {
  pcal_env env = PCAL_ENV_INIT;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_input input = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_shape shape = PCAL_SHAPE_INIT;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_result result = PCAL_RESULT_INIT;
  pcal_curve curve = PCAL_CURVE_INIT;
  pcal_plan_config plan = PCAL_PLAN_CONFIG_INIT;
  pcal_fit_config fit = PCAL_FIT_CONFIG_INIT;
  pcal_model model = PCAL_MODEL_INIT;
  pcal_compare_config compare = PCAL_COMPARE_CONFIG_INIT;
  pcal_figure_config figure = PCAL_FIGURE_CONFIG_INIT;
  pcal_report_config report = PCAL_REPORT_CONFIG_INIT;
  pcal_simulation simulation = PCAL_SIMULATION_INIT;
  pcal_study_config study = PCAL_STUDY_CONFIG_INIT;
  pcal_error error;
  error.status = PCAL_OK;
  error.row = PCAL_NO_ROW;
  error.message[0] = '\0';
  pcal_env_init(&env, sizeof env);
  return env.size + batch.size + input.size + inputs.size + shape.size + config.size +
                 result.size + curve.size + plan.size + fit.size + model.size + compare.size +
                 figure.size + report.size + simulation.size + study.size >
             0 &&
         error.status == PCAL_OK && pcal_version() != NULL;
}
