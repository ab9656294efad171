#include "studies/study.h"

#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "data/rows.h"
#include "io/source.h"

#define STUDY(file, symbol) extern const pc_study pc_study_##symbol;
#include "studies/registry.def"
#undef STUDY

static const pc_study *const study_rows[] = {
#define STUDY(file, symbol) &pc_study_##symbol,
#include "studies/registry.def"
#undef STUDY
};

const pcal_registry_row *pc_study_row_at(size_t index) {
  return index < sizeof study_rows / sizeof *study_rows ? &study_rows[index]->row : NULL;
}

static const char *study_next_name(void *user, size_t i) {
  (void)user;
  const pcal_registry_row *row = pc_study_row_at(i);
  return row == NULL ? NULL : row->name;
}

static pcal_status study_find(const char *name, const pc_study **out, pcal_error *err) {
  for (size_t i = 0; i < sizeof study_rows / sizeof *study_rows; i++)
    if (strcmp(study_rows[i]->row.name, name) == 0) {
      *out = study_rows[i];
      return PCAL_OK;
    }
  const char *near = pc_nearest_word(name, study_next_name, NULL);
  return pc_fail(err, PCAL_USAGE,
                 "there is no study \"%.60s\"%s%s%s; {list_studies} shows them all", name,
                 near == NULL ? "" : " (did you mean \"", near == NULL ? "" : near,
                 near == NULL ? "" : "\"?)");
}

pcal_status pc_study_run(const char *spec, const pcal_study_config *config,
                         pc_findings *findings, pcal_error *err) {
  char name[PC_SPEC_MAX];
  const pc_study *study = NULL;
  pc_options options;
  PC_TRY(pc_spec_name(spec, name, sizeof name, err));
  PC_TRY(study_find(name, &study, err));
  PC_TRY(pc_options_parse(spec, study->row.name, study->row.options, study->row.option_count,
                          &options, err));
  findings->study = study->row.name;
  pc_options_write(&options, 0, findings->spec, sizeof findings->spec);
  pc_arena arena;
  PC_TRY(pc_arena_open(&arena, findings->env, err));
  const pc_study_job job = {
      .config = config, .options = &options, .env = findings->env, .memory = &arena.env};
  const pcal_status status = study->run(&job, findings, err);
  pc_arena_close(&arena);
  return status;
}

pcal_status pc_study_require_models(const pc_study_job *job, pcal_error *err) {
  if (job->config->model_count > 0)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "study %s needs your predictions; give them with {logits} or {probs}, and "
                 "{labels}",
                 job->options->name);
}

pcal_status pc_study_check_source(const pc_study_job *job, const pcal_source *source,
                                  pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(source, &shape);
  if (pc_kind_form(shape.kind) != PC_FORM_CLASSES)
    return pc_fail(err, PCAL_USAGE, "study %s is about classes; give {logits} or {probs}",
                   job->options->name);
  if (shape.weighted)
    return pc_fail(err, PCAL_USAGE, "study %s takes every row once; leave {weights} out",
                   job->options->name);
  if (!shape.labelled)
    return pc_fail(err, PCAL_USAGE, "study %s needs the true outcomes of the rows",
                   job->options->name);
  return PCAL_OK;
}

pcal_env pc_study_task_env(const pcal_env *env) {
  pcal_env alone = *env;
  alone.threads = 1;
  alone.pool = NULL;
  alone.progress = NULL;
  alone.interrupted = NULL;
  return alone;
}

pcal_status pc_study_single_model(const pc_study_job *job, const pcal_model **out,
                                  pcal_error *err) {
  const char *name = job->options->name;
  PC_TRY(pc_study_require_models(job, err));
  if (job->config->model_count > 1)
    return pc_fail(err, PCAL_USAGE, "study %s takes one model, not %zu; run it for each", name,
                   job->config->model_count);
  *out = &job->config->models[0];
  return PCAL_OK;
}

pcal_simulation pc_study_simulation(const pcal_study_config *config,
                                    const pcal_simulation *own) {
  pcal_simulation made = config->simulation;
  made.rows = made.rows == 0 ? own->rows : made.rows;
  made.classes = made.classes == 0 ? own->classes : made.classes;
  made.factor = made.factor == 0 ? own->factor : made.factor;
  return made;
}
