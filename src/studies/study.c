#include "studies/study.h"

#include <string.h>

#include "core/text.h"

#define STUDY(file, symbol) extern const pc_study pc_study_##symbol;
#include "studies/registry.def"
#undef STUDY

static const pc_study *const study_rows[] = {
#define STUDY(file, symbol) &pc_study_##symbol,
#include "studies/registry.def"
#undef STUDY
};

const pcal_row *pc_study_row(size_t index) {
  return index < sizeof study_rows / sizeof *study_rows ? &study_rows[index]->row : NULL;
}

static const char *study_next_name(void *user, size_t i) {
  (void)user;
  const pcal_row *row = pc_study_row(i);
  return row == NULL ? NULL : row->name;
}

pcal_status pc_study_find(const char *name, const pc_study **out, pcal_error *err) {
  for (size_t i = 0; i < sizeof study_rows / sizeof *study_rows; i++)
    if (strcmp(study_rows[i]->row.name, name) == 0) {
      *out = study_rows[i];
      return PCAL_OK;
    }
  const char *near = pc_nearest(name, study_next_name, NULL);
  return pc_fail(err, PCAL_USAGE,
                 "there is no study \"%.60s\"%s%s%s; `propercal list studies` shows them all",
                 name, near == NULL ? "" : " (did you mean \"", near == NULL ? "" : near,
                 near == NULL ? "" : "\"?)");
}
