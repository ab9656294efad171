#include "flags_val.h"

#define SECOND_SET(field) offsetof(cli_options, val.field)

static const cli_flag flags_val_flags[] = {
    {"val-logits", 0, CLI_TEXT, "FILE", SECOND_SET(logits), "logits of the second set", NULL,
     CLI_INPUT},
    {"val-probs", 0, CLI_TEXT, "FILE", SECOND_SET(probs), "probabilities of the second set",
     NULL, CLI_INPUT},
    {"val-log-probs", 0, CLI_TEXT, "FILE", SECOND_SET(log_probs),
     "logarithms of probabilities of the second set", NULL, CLI_INPUT},
    {"val-confidence", 0, CLI_TEXT, "FILE", SECOND_SET(confidence),
     "confidences of the second set; requires --val-correct", NULL, CLI_INPUT},
    {"val-correct", 0, CLI_TEXT, "FILE", SECOND_SET(correct),
     "1 for each correct prediction, 0 for each wrong one", NULL, CLI_INPUT},
    {"val-labels", 0, CLI_TEXT, "FILE", SECOND_SET(labels), "true classes of the second set",
     NULL, CLI_INPUT},
    {"val-mean", 0, CLI_TEXT, "FILE", SECOND_SET(mean), "regression: predicted means", NULL,
     CLI_INPUT},
    {"val-variance", 0, CLI_TEXT, "FILE", SECOND_SET(variance), "predicted variances", NULL,
     CLI_INPUT},
    {"val-std", 0, CLI_TEXT, "FILE", SECOND_SET(std), "predicted standard deviations", NULL,
     CLI_INPUT},
    {"val-quantiles", 0, CLI_TEXT, "FILE", SECOND_SET(quantiles),
     "predicted quantiles, at the same --levels", NULL, CLI_INPUT},
    {"val-samples", 0, CLI_TEXT, "FILE", SECOND_SET(samples), "predicted samples", NULL,
     CLI_INPUT},
    {"val-target", 0, CLI_TEXT, "FILE", SECOND_SET(target), "observed numbers", NULL,
     CLI_INPUT},
    {"val-weights", 0, CLI_TEXT, "FILE", SECOND_SET(weights), "row weights", NULL, CLI_INPUT},
    {"val-data", 0, CLI_TEXT, "FILE", SECOND_SET(data),
     "one file with all inputs of the second set", NULL, CLI_INPUT},
};

const cli_section cli_section_val = {"Second data set", flags_val_flags,
                                     CLI_COUNT_OF(flags_val_flags), NULL};

int cli_has_val(const cli_options *options) {
  const cli_inputs *val = &options->val;
  return val->logits || val->probs || val->log_probs || val->confidence || val->data ||
         val->labels || val->correct || val->weights || val->mean || val->variance ||
         val->std || val->quantiles || val->samples || val->target;
}

pcal_status cli_inputs_open(cli_session *session, const cli_inputs *inputs, pcal_source **out,
                            pcal_error *err) {
  const cli_inputs mine = session->options.inputs;
  session->options.inputs = *inputs;
  const pcal_status status = cli_source_open(session, 1, out, err);
  session->options.inputs = mine;
  return status;
}

pcal_status cli_val_open(cli_session *session, pcal_source **out, pcal_error *err) {
  cli_inputs val = session->options.val;
  val.levels = val.quantiles ? session->options.inputs.levels : NULL;
  val.weights_are = session->options.inputs.weights_are;
  return cli_has_val(&session->options) ? cli_inputs_open(session, &val, out, err) : PCAL_OK;
}
