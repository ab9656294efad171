#include "studies/gce_variants.h"

#include <math.h>
#include <stdio.h>

#include "stats/ranks.h"

/* A property is a value of one bit of the number of a variant. */
typedef struct gce_variants_property {
  const char *name;
  unsigned bit, value;
} gce_variants_property;

static const gce_variants_property gce_variants_properties[PC_GCE_PROPERTIES] = {
    {"even bins", 4, 0},      {"adaptive bins", 4, 1},  {"top label", 3, 0},
    {"all classes", 3, 1},    {"class by class", 2, 0}, {"classes together", 2, 1},
    {"threshold 0.01", 1, 1}, {"no threshold", 1, 0},   {"L1 norm", 0, 0},
    {"L2 norm", 0, 1},
};

const char *pc_gce_property(size_t property) {
  return gce_variants_properties[property].name;
}

int pc_gce_has(size_t property, size_t variant) {
  const gce_variants_property *p = &gce_variants_properties[property];
  return (variant >> p->bit & 1) == p->value;
}

void pc_gce_specs_make(size_t bins, pc_gce_specs *out) {
  for (size_t v = 0; v < PC_GCE_VARIANTS; v++) {
    snprintf(out->text[v], sizeof out->text[v], "gce:variant=%zu,bins=%zu", v, bins);
    out->spec[v] = out->text[v];
  }
}

void pc_gce_columns(pc_table *table) {
  static const char *const columns[] = {"variant", "binning",   "scope",
                                        "classes", "threshold", "norm"};
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
}

void pc_gce_cells(pc_table *table, size_t variant) {
  const size_t first = pc_table_find_column(table, "variant");
  pc_table_set_number(table, first, (double)variant);
  pc_table_set_word(table, first + 1, variant >> 4 & 1 ? "adaptive" : "even");
  pc_table_set_word(table, first + 2, variant >> 3 & 1 ? "all" : "top");
  pc_table_set_word(table, first + 3, variant >> 2 & 1 ? "together" : "each");
  pc_table_set_number(table, first + 4, variant >> 1 & 1 ? 0.01 : 0.0);
  pc_table_set_word(table, first + 5, variant & 1 ? "l2" : "l1");
}

double pc_gce_mean(size_t property, const double values[PC_GCE_VARIANTS]) {
  double sum = 0, count = 0;
  for (size_t v = 0; v < PC_GCE_VARIANTS; v++)
    if (pc_gce_has(property, v) && !isnan(values[v])) {
      sum += values[v];
      count++;
    }
  return count > 0 ? sum / count : (double)NAN;
}

static int gce_variants_counts(size_t property, size_t variant) {
  return property == PC_GCE_PROPERTIES || pc_gce_has(property, variant);
}

pc_agreement pc_gce_agreement(size_t property, const double *ranks, size_t count) {
  double sum[2] = {0, 0}, pairs[2] = {0, 0};
  for (size_t v = 0; v < PC_GCE_VARIANTS; v++)
    for (size_t w = v + 1; w < PC_GCE_VARIANTS; w++) {
      if (!gce_variants_counts(property, v) || !gce_variants_counts(property, w))
        continue;
      const double *one = ranks + v * count, *other = ranks + w * count;
      const double both[2] = {pc_rank_spearman(one, other, count),
                              pc_rank_nixon(one, other, count)};
      for (size_t i = 0; i < 2; i++) {
        sum[i] += isnan(both[i]) ? 0 : both[i];
        pairs[i] += !isnan(both[i]);
      }
    }
  return (pc_agreement){pairs[0] > 0 ? sum[0] / pairs[0] : (double)NAN,
                        pairs[1] > 0 ? sum[1] / pairs[1] : (double)NAN};
}
