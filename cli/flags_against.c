#include "flags_against.h"

#include <stdio.h>

#include "input_files.h"

#define FLAGS_AGAINST_NAME_MAX 4096

#define FLAGS_AGAINST_OTHER(field) offsetof(cli_options, against.field)

static const cli_flag flags_against_flags[] = {
    {"against-logits", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(logits),
     "logits of another model for the same rows; adds to each value the difference from "
     "that model with an interval and a p-value, from a paired permutation test",
     NULL, CLI_INPUT},
    {"against-probs", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(probs),
     "probabilities of the "
     "other model",
     NULL, CLI_INPUT},
    {"against-log-probs", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(log_probs),
     "logarithms of probabilities of the other model", NULL, CLI_INPUT},
    {"against-confidence", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(confidence),
     "confidences of the other model; requires --against-correct", NULL, CLI_INPUT},
    {"against-correct", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(correct),
     "1 for each correct prediction of the other model, 0 for each wrong one", NULL, CLI_INPUT},
    {"against-mean", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(mean),
     "regression: means predicted by the other model", NULL, CLI_INPUT},
    {"against-variance", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(variance),
     "variances "
     "predicted by "
     "the other model",
     NULL, CLI_INPUT},
    {"against-std", 0, CLI_TEXT, "FILE", FLAGS_AGAINST_OTHER(std),
     "standard deviations "
     "predicted by the other "
     "model",
     NULL, CLI_INPUT},
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

pcal_status cli_measure_against(cli_session *session, const pcal_measure_config *config,
                                pcal_results *results, pcal_error *err) {
  cli_options *options = &session->options;
  const cli_inputs mine = options->inputs;
  pcal_source *source = NULL;
  pcal_results *other = NULL;
  const pcal_status found = cli_input_files_all(session, &options->against, err);
  if (found != PCAL_OK) /* while --data is among the inputs: values may be its columns */
    return found;
  options->inputs = options->against;
  options->inputs.labels = options->against.confidence ? NULL : mine.labels;
  options->inputs.target = mine.target;
  options->inputs.levels = options->against.quantiles ? mine.levels : NULL;
  options->inputs.weights = mine.weights;
  options->inputs.weights_are = mine.weights_are;
  options->inputs.ids = mine.ids;
  options->inputs.groups = mine.groups;
  options->inputs.time = mine.time;
  options->inputs.abstain = mine.abstain;
  options->inputs.every = mine.every;
  options->inputs.first_row = mine.first_row;
  const int classes =
      !(options->against.mean || options->against.quantiles || options->against.samples);
  if (mine.data && classes && !options->inputs.labels && !options->inputs.correct)
    options->inputs.labels = mine.data;
  char target[FLAGS_AGAINST_NAME_MAX];
  if (mine.data && !classes && !mine.target &&
      snprintf(target, sizeof target, "%s:target", mine.data) < (int)sizeof target)
    options->inputs.target = target;
  pcal_status status = cli_source_open(session, 1, &source, err);
  if (status == PCAL_OK)
    status = pcal_measure_run(source, config, &session->env, &other, err);
  if (status == PCAL_OK)
    status = pcal_results_add_difference(results, other, err);
  if (status == PCAL_OK && options->injective)
    pcal_results_set_injective(results);
  pcal_results_free(other);
  pcal_source_free(source);
  options->inputs = mine;
  return status;
}
