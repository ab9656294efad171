#include "models.h"

#include <stdlib.h>
#include <string.h>

void cli_models_free(cli_models *models) {
  for (size_t i = 0; i < models->count; i++) {
    char *name = NULL;
    memcpy(&name, &models->list[i].name, sizeof name);
    free(name);
    pcal_source_free(models->list[i].source);
    pcal_source_free(models->list[i].val);
  }
  free(models->list);
}

int cli_has_inputs(const cli_inputs *inputs) {
  return inputs->logits || inputs->probs || inputs->log_probs || inputs->confidence ||
         inputs->mean || inputs->quantiles || inputs->samples || inputs->data;
}

static pcal_status models_name(const char *text, size_t length, pcal_model *model,
                               pcal_error *err) {
  char *name = malloc(length + 1);
  if (!name)
    return cli_fail(err, PCAL_MEMORY, "out of memory for the models");
  memcpy(name, text, length);
  name[length] = '\0';
  model->name = name;
  return PCAL_OK;
}

static pcal_status models_open_one(cli_session *session, pcal_model *model, pcal_error *err) {
  const pcal_status status = cli_source_open(session, 1, &model->source, err);
  return status == PCAL_OK ? cli_val_open(session, &model->val, err) : status;
}

/* Splits "old.csv:mu,sigma" into "old.csv:mu" and "old.csv:sigma", written to `room`, which has
 * space for twice the length of `file`.  Returns 0 if the text has another form. */
static int models_two_columns(const char *file, char *room, const char **mean,
                              const char **spread) {
  const char *colon = strrchr(file, ':'), *comma = colon ? strchr(colon, ',') : NULL;
  if (!comma || comma == colon + 1 || !comma[1] || strchr(comma + 1, ','))
    return 0;
  const size_t whole = (size_t)(comma - file), path = (size_t)(colon - file) + 1;
  memcpy(room, file, whole);
  room[whole] = '\0';
  *mean = room;
  room += whole + 1;
  memcpy(room, file, path);
  memcpy(room + path, comma + 1, strlen(comma));
  *spread = room;
  return 1;
}

/* Parses "KIND:FILE" into the scores of *out. */
static int models_read(const char *text, char *room, cli_inputs *out) {
  const struct {
    const char *kind;
    const char **field, **spread;
  } kinds[] = {
      {"logits:", &out->logits, NULL},       {"probs:", &out->probs, NULL},
      {"log-probs:", &out->log_probs, NULL}, {"confidence:", &out->confidence, NULL},
      {"quantiles:", &out->quantiles, NULL}, {"samples:", &out->samples, NULL},
      {"mean-std:", &out->mean, &out->std},  {"mean-variance:", &out->mean, &out->variance}};
  for (size_t i = 0; i < CLI_COUNT_OF(kinds); i++) {
    const size_t length = strlen(kinds[i].kind);
    if (strncmp(text, kinds[i].kind, length) != 0 || !text[length])
      continue;
    if (kinds[i].spread)
      return models_two_columns(text + length, room, kinds[i].field, kinds[i].spread);
    *kinds[i].field = text + length;
    return 1;
  }
  return 0;
}

/* Opens a model given as "NAME=KIND:FILE". */
static pcal_status models_add(cli_session *session, const char *text, pcal_model *model,
                              pcal_error *err) {
  cli_inputs inputs = session->options.inputs;
  const char *equals = strchr(text, '=');
  const size_t length = equals ? (size_t)(equals - text) : 0;
  char *room = malloc(2 * strlen(text) + 1);
  pcal_status status = room ? models_name(text, length, model, err)
                            : cli_fail(err, PCAL_MEMORY, "out of memory for the models");
  if (status == PCAL_OK && (length == 0 || !models_read(equals + 1, room, &inputs)))
    status = cli_fail(err, PCAL_USAGE,
                      "--model %s: the form is NAME=KIND:FILE, such as old=logits:old.npy "
                      "or old=mean-std:old.csv:mu,sigma",
                      text);
  if (!inputs.quantiles)
    inputs.levels = NULL;
  if (status == PCAL_OK)
    status = cli_inputs_open(session, &inputs, &model->source, err);
  free(room);
  return status;
}

static pcal_status models_open_file(cli_session *session, const char *path, size_t length,
                                    pcal_source **out, pcal_error *err) {
  cli_inputs inputs = session->options.inputs;
  char *name = malloc(length + 1);
  if (!name)
    return cli_fail(err, PCAL_MEMORY, "out of memory for the models");
  memcpy(name, path, length);
  name[length] = '\0';
  inputs.data = name;
  const pcal_status status = cli_inputs_open(session, &inputs, out, err);
  free(name);
  return status;
}

/* Opens a case given as "NAME=FILE" or "NAME=FILE,FITTING-FILE". */
static pcal_status models_add_case(cli_session *session, const char *text, pcal_model *model,
                                   pcal_error *err) {
  const char *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1])
    return cli_fail(err, PCAL_USAGE,
                    "--case %s: the form is NAME=FILE or NAME=FILE,FITTING-FILE, such as "
                    "resnet=test.npz,val.npz",
                    text);
  const char *first = equals + 1, *comma = strchr(first, ',');
  pcal_status status = models_name(text, (size_t)(equals - text), model, err);
  if (status == PCAL_OK)
    status = models_open_file(session, first, comma ? (size_t)(comma - first) : strlen(first),
                              &model->source, err);
  if (status == PCAL_OK && comma)
    status = models_open_file(session, comma + 1, strlen(comma + 1), &model->val, err);
  return status;
}

pcal_status cli_models_open(cli_session *session, cli_models *models, pcal_error *err) {
  const cli_options *options = &session->options;
  const size_t named = options->models.count, cases = options->cases.count;
  const size_t count = named + cases > 0 ? named + cases : 1;
  pcal_status status = PCAL_OK;
  models->list = calloc(count, sizeof *models->list);
  if (!models->list)
    return cli_fail(err, PCAL_MEMORY, "out of memory for the models");
  for (; models->count < count && status == PCAL_OK; models->count++) {
    const size_t i = models->count;
    pcal_model *model = &models->list[i];
    *model = (pcal_model)PCAL_MODEL_INIT;
    status = i < named ? models_add(session, options->models.word[i], model, err)
             : i < named + cases
                 ? models_add_case(session, options->cases.word[i - named], model, err)
                 : models_open_one(session, model, err);
  }
  return status;
}
