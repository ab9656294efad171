/* The 32 calibration errors of Nixon et al. and the properties that distinguish them. */
#ifndef PC_GCE_VARIANTS_H
#define PC_GCE_VARIANTS_H

#include "base/options.h"
#include "output/table.h"

#define PC_GCE_VARIANTS 32
#define PC_GCE_PROPERTIES 10
#define PC_GCE_SPEC_MAX 40
#define PC_GCE_ECE 4
#define PC_GCE_CLASS_ECE 0
#define PC_GCE_RMSCE 21

/* Name of a property, in the order of the paper's tables: "even bins", "adaptive bins", ... */
const char *pc_gce_property(size_t property);
int pc_gce_has(size_t property, size_t variant);

/* "gce:variant=4,bins=15" for all variants, as pointers into `text`. */
typedef struct pc_gce_specs {
  char text[PC_GCE_VARIANTS][PC_GCE_SPEC_MAX];
  const char *spec[PC_GCE_VARIANTS];
} pc_gce_specs;

void pc_gce_specs_make(size_t bins, pc_gce_specs *out);

/* Adds six columns, the number of a variant and its properties; sets them in the last row. */
void pc_gce_columns(pc_table *table);
void pc_gce_cells(pc_table *table, size_t variant);

/* The mean over the variants of a property that have a value. */
double pc_gce_mean(size_t property, const double values[PC_GCE_VARIANTS]);

/* Mean correlation of rankings over pairs. */
typedef struct pc_agreement {
  double spearman, nixon; /* NaN: no pair has one */
} pc_agreement;

/* The agreement over all pairs of variants with a property; PC_GCE_PROPERTIES: over all pairs.
 * ranks: variant by variant, `count` numbers each. */
pc_agreement pc_gce_agreement(size_t property, const double *ranks, size_t count);

#endif
