#include "flags_against.h"

#include "input_files.h"

#define FLAGS_AGAINST_OTHER(field) offsetof(cli_options, against.field)

static const cli_flag flags_against_flags[] = {
    {"against-logits", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(logits),
     "logits of another model for the same rows; adds to each value the difference from "
     "that model with an interval and a p-value, from a paired permutation test",
     NULL, CLI_INPUT},
    {"against-probs", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(probs),
     "probabilities of the other model", NULL, CLI_INPUT},
    {"against-log-probs", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(log_probs),
     "logarithms of probabilities of the other model", NULL, CLI_INPUT},
    {"against-confidence", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(confidence),
     "confidences of the other model; requires --against-correct", NULL, CLI_INPUT},
    {"against-correct", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(correct),
     "1 for each correct prediction of the other model, 0 for each wrong one", NULL, CLI_INPUT},
    {"against-mean", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(mean),
     "regression: means predicted by the other model", NULL, CLI_INPUT},
    {"against-variance", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(variance),
     "variances predicted by the other model", NULL, CLI_INPUT},
    {"against-std", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(std),
     "standard deviations predicted by the other model", NULL, CLI_INPUT},
    {"against-quantiles", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(quantiles),
     "quantiles predicted by the other model, at the same --levels", NULL, CLI_INPUT},
    {"against-samples", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(samples),
     "samples predicted by the other model", NULL, CLI_INPUT},
    {"injective", 0, CLI_FLAG, NULL, offsetof(cli_options, injective),
     "one model's predictions are an injective function of the other's, as after "
     "temperature scaling; differences of proper scores are then also differences of "
     "calibration errors",
     NULL, CLI_ANY},
};

const cli_section cli_section_against = {"Against another model", flags_against_flags,
                                         CLI_COUNT_OF(flags_against_flags), NULL};

int cli_has_against(const cli_options *options) {
  const cli_inputs *other = &options->against;
  return other->logits || other->probs || other->log_probs || other->confidence ||
         other->mean || other->quantiles || other->samples;
}

/* Sets the inputs of the other model: its scores, and everything else as for the first model, whose
 * columns of --data are named here. */
static void flags_against_fill(const cli_inputs *mine, const pcal_source *source,
                               cli_inputs *out) {
  const struct {
    const char **field;
    const char *given, *name;
  } shared[] = {
      {&out->labels, mine->labels, "labels"},    {&out->target, mine->target, "target"},
      {&out->weights, mine->weights, "weights"}, {&out->groups, mine->groups, "groups"},
      {&out->time, mine->time, "time"},          {&out->abstain, mine->abstain, "abstain"}};
  for (size_t i = 0; i < CLI_COUNT_OF(shared); i++) {
    const int times = shared[i].field == &out->time;
    *shared[i].field = shared[i].given;
    if (!shared[i].given && (!times || mine->every))
      *shared[i].field = pcal_source_data_column(source, shared[i].name);
  }
  if (mine->every)
    out->groups = NULL;
  if (out->confidence)
    out->labels = NULL;
  else
    out->abstain = NULL;
  out->levels = out->quantiles ? mine->levels : NULL;
  out->weights_are = mine->weights_are;
  out->ids = mine->ids;
  out->every = mine->every;
  out->first_row = mine->first_row;
}

/* Standard input can be read once, and the first model has been measured already. */
static pcal_status flags_against_check_input(const cli_session *session, const cli_inputs *mine,
                                             pcal_error *err) {
  return cli_inputs_use_standard_input(session, mine) &&
                 cli_inputs_use_standard_input(session, &session->options.against)
             ? cli_fail(err, PCAL_USAGE,
                        "standard input can be read once, and both models need it; store it in "
                        "a file first")
             : PCAL_OK;
}

pcal_status cli_measure_against(cli_session *session, const pcal_source *mine_source,
                                const pcal_measure_config *config, pcal_results *results,
                                pcal_error *err) {
  cli_options *options = &session->options;
  const cli_inputs mine = options->inputs, given = options->against;
  pcal_source *source = NULL;
  pcal_results *other = NULL;
  flags_against_fill(&mine, mine_source, &options->against);
  pcal_status status = flags_against_check_input(session, &mine, err);
  if (status == PCAL_OK)
    status = cli_input_files_all(session, &options->against, err);
  if (status == PCAL_OK) { /* columns of --data are files now */
    options->inputs = options->against;
    status = cli_source_open(session, 1, &source, err);
  }
  if (status == PCAL_OK)
    status = pcal_measure_run(source, config, &session->env, &other, err);
  if (status == PCAL_OK)
    status = pcal_results_add_difference(results, other, err);
  if (status == PCAL_OK && options->injective)
    pcal_results_set_injective(results);
  pcal_results_free(other);
  pcal_source_free(source);
  options->inputs = mine;
  options->against = given;
  return status;
}
