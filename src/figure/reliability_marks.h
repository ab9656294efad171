/* Bins of reliability diagrams: intervals, gaps and points. */
#ifndef PC_RELIABILITY_MARKS_H
#define PC_RELIABILITY_MARKS_H

#include "figure/figure_registry.h"

typedef enum pc_band {
  PC_BAND_CONFIDENCE,  /* intervals of the frequencies: Wilson */
  PC_BAND_CONSISTENCY, /* band of the frequencies of a calibrated model */
  PC_BAND_NONE
} pc_band;

#define PC_BAND_CHOICES "confidence|consistency|none"

/* Bins with fewer rows are drawn pale. */
#define PC_FEW_ROWS 30.0

/* Titles and labels of a view. */
typedef struct pc_reliability_texts {
  const char *title, *x_label, *y_label;
  const char *score, *hits; /* means over all rows */
  const char *high, *low;   /* score above or below frequency */
} pc_reliability_texts;

/* Those of the probability of class 1, or of the predicted class. */
const pc_reliability_texts *pc_reliability_texts_of(int class_1);

typedef struct pc_bin_list {
  pcal_bin *bins;
  size_t count;
} pc_bin_list;

/* Reads the bins of a plot table, or those of one class (SIZE_MAX: all).  Free out even after a
 * failure. */
PC_CHECKED pcal_status pc_bin_list_read(const pcal_env *env, const pc_plot_table *graph,
                                        size_t class, pc_bin_list *out, pcal_error *err);
void pc_bin_list_free(const pcal_env *env, pc_bin_list *list);

/* The Wilson score interval of a frequency seen in n rows, n > 0, for a normal quantile z. */
void pc_wilson_interval(double frequency, double n, double z, double *low, double *high);
/* The normal quantile of a two-sided level, that of 0.95 for a level of 0. */
double pc_level_quantile(double level);

/* How a panel is drawn. */
typedef struct pc_reliability_style {
  const pc_reliability_texts *texts;
  pc_band band;
  double level; /* of intervals; 0: 0.95 */
} pc_reliability_style;

/* Adds gaps, the diagonal, intervals and points to a panel whose axes run from 0 to 1. */
void pc_reliability_marks(pc_figure *figure, size_t panel, const pc_bin_list *bins,
                          const pc_reliability_style *style);
/* Replaces the text by "0.000 to 0.250: mean confidence ...". */
void pc_reliability_hint(const pcal_bin *bin, const pc_reliability_texts *texts, pc_text *out);
/* Adds the legend for these bins. */
void pc_reliability_legend(pc_figure *figure, const pc_bin_list *bins,
                           const pc_reliability_style *style);

#endif
