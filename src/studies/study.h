/* A study: an experiment that ends in a table. */
#ifndef PC_STUDY_H
#define PC_STUDY_H

#include "studies/study_table.h"

typedef struct pc_study {
  pcal_row row;
  /* The table starts empty; the caller frees it also after a failure. */
  pcal_status (*run)(const pcal_study_config *config, const pcal_env *env,
                     pc_study_table *table, pcal_error *err);
} pc_study;

const pcal_row *pc_study_row(size_t index);

/* Finds a study; an unknown name is refused with the nearest one. */
PC_CHECKED pcal_status pc_study_find(const char *name, const pc_study **out, pcal_error *err);

#endif
