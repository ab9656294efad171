/* Calls of row_calls.h that read files: `name` is one of call_file_names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "call_sources.h"
#include "file_inputs.h"
#include "ipc_bytes.h"
#include "system/paths.h"

typedef struct call_file_case {
  const char *name;
  const char *file; /* its name */
  const char *text; /* NULL: ipc_bytes */
  const char *spec;
  file_inputs inputs; /* `data` is the file, unless another field names it */
  void (*more)(pcal_inputs *inputs);
} call_file_case;

static void call_more_ragged(pcal_inputs *inputs) {
  inputs->ragged = 1;
}

static void call_more_days(pcal_inputs *inputs) {
  inputs->every = "day";
}

static void call_more_percent(pcal_inputs *inputs) {
  inputs->percent = 1;
  inputs->positive = "yes";
}

static void call_more_prevalence(pcal_inputs *inputs) {
  static const double prevalence[] = {0.25, 0.75};
  inputs->prevalence = prevalence;
  inputs->prevalence_count = 2;
}

static void call_more_names(pcal_inputs *inputs) {
  static const char *const names[] = {"cat", "dog", "bird"};
  inputs->class_names = names;
  inputs->class_count = 3;
}

/* The file twice, as two parts of the data. */
static void call_more_parts(pcal_inputs *inputs) {
  static pcal_input both;
  static const char *files[2];
  both = *inputs->data;
  files[0] = files[1] = both.file;
  both.file = NULL;
  both.files = files;
  both.file_count = 2;
  inputs->data = &both;
}

static void call_more_months(pcal_inputs *inputs) {
  call_more_parts(inputs);
  inputs->every = "month";
}

static void call_more_ragged_parts(pcal_inputs *inputs) {
  call_more_parts(inputs);
  inputs->ragged = 1;
}

static const call_file_case call_files[] = {
    {"csv",
     "rows.csv",
     "probs.cat,probs.dog,labels,groups,weights,ids\n0.5,0.5,cat,x,1,7\n0.25,0.75,dog,y,2,8\n"
     "0.125,0.875,cat,x,1,9\n1,0,cat,y,0,10\n",
     "default",
     {0},
     NULL},
    {"groups",
     "groups.csv",
     "logits.a,logits.b,labels,groups.sex,groups.ward\n1,2,a,f,1\n0,1,b,m,1\n2,1,a,f,2\n",
     "ece",
     {0},
     NULL},
    {"abstain",
     "abstain.csv",
     "confidence,correct,abstain\n0.5,1,0\n0.75,0,0\n,,1\n1,1,0\n0.25,0,0\n",
     "ece",
     {0},
     NULL},
    {"binary", "binary.csv", "probs,labels\n0.5,1\n0.25,0\n1,1\n0,0\n", "log", {0}, NULL},
    {"numbers",
     "numbers.csv",
     "mean,std,target\n1,0.5,1.25\n2,1,1\n3,2,4\n",
     "crps",
     {0},
     NULL},
    {"event",
     "event.csv",
     "mean,variance,target\n1,0.5,1.25\n2,1,1\n3,2,4\n",
     "brier",
     {.event = "> 1.5"},
     NULL},
    {"quantiles",
     "quantiles.csv",
     "quantiles.0.1,quantiles.0.5,quantiles.0.9,target\n1,2,3,2\n0,1,2,3\n2,2,4,1\n",
     "pinball",
     {0},
     NULL},
    {"lines",
     "rows.jsonl",
     "{\"probs\": {\"a\": 0.5, \"b\": 0.5}, \"labels\": \"a\", \"groups\": \"x\"}\n"
     "{\"probs\": {\"a\": 0.25, \"b\": 0.75}, \"labels\": \"b\", \"groups\": \"y\"}\n",
     "ks",
     {0},
     NULL},
    {"lists",
     "lists.jsonl",
     "{\"logits\": [1, 2, 3], \"labels\": 0}\n{\"logits\": [3, 2, 1], \"labels\": 2}\n",
     "rbs",
     {0},
     NULL},
    {"arrow", "rows.arrow", NULL, "ece", {0}, NULL},
    {"ragged",
     "ragged.jsonl",
     "{\"probs\": {\"a\": 0.5, \"b\": 0.5}, \"labels\": \"a\"}\n"
     "{\"probs\": {\"b\": 0.25, \"c\": 0.75}, \"labels\": \"c\"}\n",
     "brier",
     {0},
     call_more_ragged},
    {"soft",
     "soft.jsonl",
     "{\"probs\": [0.5, 0.5], \"labels\": [0.25, 0.75]}\n{\"probs\": [0.75, 0.25], \"labels\": "
     "[1, 0]}\n",
     "brier",
     {0},
     NULL},
    {"days",
     "days.csv",
     "probs,labels,time\n0.5,1,2026-03-02\n0.25,0,2026-03-02T10:15:00Z\n0.75,1,2026-03-03\n",
     "ece",
     {0},
     call_more_days},
    {"percent",
     "percent.csv",
     "probs;labels\n50,5;yes\n25;no\n100;yes\n0;no\n",
     "log",
     {0},
     call_more_percent},
    {"prevalence",
     "prevalence.csv",
     "probs.a,probs.b,labels\n0.5,0.5,a\n0.25,0.75,b\n0.125,0.875,a\n",
     "brier",
     {0},
     call_more_prevalence},
    {"names",
     "names.jsonl",
     "{\"logits\": [1, 2, 3], \"labels\": \"cat\"}\n{\"logits\": [3, 2, 1], \"labels\": "
     "\"bird\"}\n",
     "default",
     {0},
     call_more_names},
    {"parts",
     "parts.csv",
     "probs.cat,probs.dog,labels,groups,weights\n0.5,0.5,cat,x,1\n0.25,0.75,dog,y,2\n"
     "0.125,0.875,cat,x,1\n",
     "default",
     {0},
     call_more_parts},
    {"parts of lines",
     "parts.jsonl",
     "{\"probs\": {\"a\": 0.5, \"b\": 0.5}, \"labels\": \"a\", \"groups\": \"x\"}\n"
     "{\"probs\": {\"a\": 0.25, \"b\": 0.75}, \"labels\": \"b\", \"groups\": \"y\"}\n",
     "ece",
     {0},
     call_more_parts},
    {"ragged parts",
     "ragged_parts.jsonl",
     "{\"probs\": {\"a\": 0.5, \"b\": 0.5}, \"labels\": \"a\"}\n"
     "{\"probs\": {\"b\": 0.25, \"c\": 0.75}, \"labels\": \"c\"}\n",
     "brier",
     {0},
     call_more_ragged_parts},
    {"ragged columns",
     "ragged_columns.csv",
     "probs.0,probs.1,probs.2,labels\n0.5,0.5,,0\n0.25,0.5,0.25,2\n",
     "brier",
     {0},
     call_more_ragged_parts},
    {"parts of Arrow", "parts.arrow", NULL, "brier", {0}, call_more_parts},
    {"months",
     "months.csv",
     "probs,labels,time\n0.5,1,2026-03-02\n0.25,0,2026-04-02T10:15:00Z\n0.75,1,2026-03-03\n",
     "ece",
     {0},
     call_more_months},
    {"samples",
     "samples.csv",
     "samples.0,samples.1,samples.2,target,weights\n1,2,3,2,1\n0,1,2,3,2\n2,2,4,1,1\n",
     "crps",
     {0},
     NULL},
};

const char *const call_file_names[] = {
    "csv",          "groups",         "abstain",        "binary", "numbers", "event",
    "quantiles",    "lines",          "lists",          "arrow",  "ragged",  "soft",
    "days",         "percent",        "prevalence",     "names",  "parts",   "parts of lines",
    "ragged parts", "ragged columns", "parts of Arrow", "months", "samples", NULL};

static const call_file_case *call_file_find(const char *name) {
  for (size_t i = 0; i < sizeof call_files / sizeof *call_files; i++)
    if (strcmp(call_files[i].name, name) == 0)
      return &call_files[i];
  abort();
}

/* Writes the file of a case into the folder for temporary files, under a name of this process. */
static void call_file_put(const call_file_case *one, char *path, size_t size) {
  const char *folder = getenv("TMPDIR");
  snprintf(path, size, "%s/propercal-%ld-%s", folder != NULL ? folder : "/tmp", pc_process_id(),
           one->file);
  FILE *file = fopen(path, "wb");
  const void *bytes = one->text != NULL ? (const void *)one->text : (const void *)ipc_bytes;
  const size_t length = one->text != NULL ? strlen(one->text) : sizeof ipc_bytes;
  if (file == NULL || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
    abort();
}

static pcal_status call_file_measure(const pcal_env *env, const row_call *call,
                                     const call_file_case *one, pcal_source *source,
                                     pcal_error *err) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_results *results = NULL;
  size_t problems = 0;
  config.specs = &one->spec;
  config.spec_count = 1;
  pcal_status status = pcal_measure_run(source, &config, env, &results, err);
  if (status == PCAL_OK)
    status = pcal_results_write(results, PCAL_JSON, call->sink, call->sink_user, err);
  if (status == PCAL_OK)
    status = pcal_source_rewind(source, err);
  if (status == PCAL_OK)
    status = pcal_inspect_source(source, env, PCAL_TEXT, call->sink, call->sink_user, &problems,
                                 err);
  pcal_results_free(results);
  return status;
}

pcal_status call_file(const pcal_env *env, const row_call *call, pcal_error *err) {
  const call_file_case *one = call_file_find(call->name);
  file_inputs files = one->inputs;
  file_inputs_room room;
  pcal_source *source = NULL;
  char path[512];
  call_file_put(one, path, sizeof path);
  files.data = path;
  file_inputs_fill(&files, &room);
  if (one->more != NULL)
    one->more(&room.inputs);
  pcal_status status = pcal_source_open(&room.inputs, env, &source, err);
  if (status == PCAL_OK)
    status = call_file_measure(env, call, one, source, err);
  if (status == PCAL_OK)
    status = pcal_inspect_file(path, PCAL_HEADER_AUTO, env, PCAL_JSON, call->sink,
                               call->sink_user, NULL, err);
  pcal_source_free(source);
  remove(path);
  return status;
}
