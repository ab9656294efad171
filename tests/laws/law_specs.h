/* Specs for the laws, made from the registry alone: the defaults of every row, every word of
 * every choice, and a few numbers within the bounds of every numeric option. */
#ifndef LAW_SPECS_H
#define LAW_SPECS_H

#include "law_data.h"
#include "metrics/metric.h"

typedef struct law_specs {
  char (*text)[PC_SPEC_MAX];
  const char **list; /* list[i] is text[i] */
  const pc_metric **metric;
  pc_metric_config *config; /* of each on the data they are for */
  size_t count, capacity;
  unsigned with, without;
} law_specs;

/* Specs that fit the data and have all traits in `with` and none in `without`.
 * A value that its row refuses with PCAL_USAGE is tried again beside the values of the row's
 * other options. */
void law_specs_make(const law_set *set, unsigned with, unsigned without, law_specs *out);
void law_specs_free(law_specs *specs);

/* What a spec that fits the data is configured to. */
pc_metric_config law_spec_config(const law_set *set, const char *spec);

/* Can a spec be measured on data like these?  Fails the test on any answer but yes and
 * PCAL_USAGE. */
int law_spec_fits(const law_set *set, const char *spec);

#endif
