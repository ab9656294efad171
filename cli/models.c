#include "models.h"

#include <stdlib.h>
#include <string.h>

void cli_models_free(cli_models *models) {
  for (size_t i = 0; i < models->count; i++) {
    char *name = NULL;
    memcpy(&name, &models->list[i].name, sizeof name);
    free(name);
    pcal_source_free(models->list[i].source);
    pcal_source_free(models->list[i].fitting);
  }
  free(models->list);
}

int cli_has_inputs(const pcal_inputs *inputs) {
  return inputs->logits || inputs->probs || inputs->log_probs || inputs->confidence ||
         inputs->mean || inputs->quantiles || inputs->samples || inputs->data;
}

static pcal_status models_name(const char *text, size_t length, pcal_compared *model,
                               pcal_error *err) {
  char *name = malloc(length + 1);
  if (!name)
    return cli_fail(err, PCAL_MEMORY, "not enough memory");
  memcpy(name, text, length);
  name[length] = '\0';
  model->name = name;
  return PCAL_OK;
}

static pcal_status models_open_one(cli_session *session, pcal_compared *model,
                                   pcal_error *err) {
  const pcal_status status = cli_source_open(session, 1, &model->source, err);
  return status == PCAL_OK ? cli_second_open(session, &model->fitting, err) : status;
}

/* "NAME=KIND:FILE" beside the labels of all models. */
static pcal_status models_read(const char *text, const pcal_inputs *common, size_t *name_length,
                               pcal_inputs *out, pcal_error *err) {
  static const char *const kinds[] = {"logits:", "probs:", "log-probs:", "confidence:"};
  const char *equals = strchr(text, '=');
  *out = *common;
  if (equals && equals > text) {
    const char **const fields[] = {&out->logits, &out->probs, &out->log_probs,
                                   &out->confidence};
    *name_length = (size_t)(equals - text);
    for (size_t i = 0; i < CLI_COUNT_OF(kinds); i++) {
      const size_t length = strlen(kinds[i]);
      if (strncmp(equals + 1, kinds[i], length) != 0 || !equals[1 + length])
        continue;
      *fields[i] = equals + 1 + length;
      return PCAL_OK;
    }
  }
  return cli_fail(err, PCAL_USAGE,
                  "--model %s: a model is given as NAME=KIND:FILE, such as old=logits:old.npy",
                  text);
}

static pcal_status models_add(cli_session *session, const char *text, pcal_compared *model,
                              pcal_error *err) {
  pcal_inputs inputs;
  size_t length = 0;
  pcal_status status = models_read(text, &session->options.inputs, &length, &inputs, err);
  if (status == PCAL_OK)
    status = models_name(text, length, model, err);
  return status == PCAL_OK ? cli_inputs_open(session, &inputs, &model->source, err) : status;
}

static pcal_status models_open_file(cli_session *session, const char *path, size_t length,
                                    pcal_source **out, pcal_error *err) {
  pcal_inputs inputs = session->options.inputs;
  char *name = malloc(length + 1);
  if (!name)
    return cli_fail(err, PCAL_MEMORY, "not enough memory");
  memcpy(name, path, length);
  name[length] = '\0';
  inputs.data = name;
  const pcal_status status = cli_inputs_open(session, &inputs, out, err);
  free(name);
  return status;
}

/* "NAME=FILE" or "NAME=FILE,FILE": everything of a model, and of the rows to fit on. */
static pcal_status models_add_case(cli_session *session, const char *text, pcal_compared *model,
                                   pcal_error *err) {
  const char *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1])
    return cli_fail(err, PCAL_USAGE,
                    "--case %s: a case is given as NAME=FILE or NAME=FILE,FITTING-FILE, such "
                    "as resnet=test.npz,val.npz",
                    text);
  const char *first = equals + 1, *comma = strchr(first, ',');
  pcal_status status = models_name(text, (size_t)(equals - text), model, err);
  if (status == PCAL_OK)
    status = models_open_file(session, first, comma ? (size_t)(comma - first) : strlen(first),
                              &model->source, err);
  if (status == PCAL_OK && comma)
    status = models_open_file(session, comma + 1, strlen(comma + 1), &model->fitting, err);
  return status;
}

pcal_status cli_models_open(cli_session *session, cli_models *models, pcal_error *err) {
  const cli_options *options = &session->options;
  const size_t named = options->models.count, cases = options->cases.count;
  const size_t count = named + cases > 0 ? named + cases : 1;
  pcal_status status = PCAL_OK;
  models->list = calloc(count, sizeof *models->list);
  if (!models->list)
    return cli_fail(err, PCAL_MEMORY, "not enough memory");
  for (; models->count < count && status == PCAL_OK; models->count++) {
    const size_t i = models->count;
    pcal_compared *model = &models->list[i];
    *model = (pcal_compared)PCAL_COMPARED_INIT;
    status = i < named ? models_add(session, options->models.word[i], model, err)
             : i < named + cases
                 ? models_add_case(session, options->cases.word[i - named], model, err)
                 : models_open_one(session, model, err);
  }
  return status;
}
