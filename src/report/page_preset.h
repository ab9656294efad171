/* Presets: reports for one kind of reader, with their own metrics, figures and layout. */
#ifndef PC_PAGE_PRESET_H
#define PC_PAGE_PRESET_H

#include "base/json.h"
#include "report/page.h"

typedef struct pc_preset_figure {
  const char *name, *caption;
} pc_preset_figure;

struct pc_page_preset {
  const char *name, *title;
  const char *metrics;             /* a group; the caller's metrics are added to it */
  const pc_preset_figure *figures; /* in order; the name is NULL after the last */
  double figure_width, figure_height;
  /* Fails if the preset does not suit the data. */
  pcal_status (*check)(const pc_layout *layout, pcal_error *err);
  void (*summary)(const pcal_results *results, pc_text *out); /* below the title */
  void (*html)(const pcal_report *report, pc_text *out);      /* inside <main> */
  void (*markdown)(const pcal_report *report, pc_text *out);
  void (*json)(const pcal_report *report, pc_json *json); /* more keys of the report */
};

/* Fails for an unknown name; NULL has no preset. */
PC_CHECKED pcal_status pc_page_preset_find(const char *name, const pc_page_preset **out,
                                           pcal_error *err);

extern const pc_page_preset pc_page_clinical;

/* The paragraph for the methods section of a paper, from what was measured. */
void pc_clinical_methods(const pcal_report *report, pc_text *out);
/* The paragraph for the results: discrimination and calibration in words. */
void pc_clinical_results(const pcal_report *report, pc_text *out);
/* Writes "300 patients, 138 events (46.0 %)". */
void pc_clinical_counts(const pcal_results *results, pc_text *out);

/* Writes "95 %". */
void pc_clinical_level(double level, pc_text *out);

/* A measure as a clinical paper names and rounds it. */
typedef struct pc_clinical_row {
  const char *metric, *section, *name, *about;
  const char *ideal;
  int decimals;
  double factor;         /* 0.5 for the Brier score: of the event alone */
  const char *by_normal; /* how an interval from a standard error is computed */
} pc_clinical_row;

/* The measures of the table in order; the name of the row is NULL beyond the last. */
extern const pc_clinical_row pc_clinical_rows[];
/* The row of a metric; NULL for others. */
const pc_clinical_row *pc_clinical_row_of(const pc_result_record *record);
/* Writes "0.92 (0.89 to 0.95)", or "-" without a value. */
void pc_clinical_value(const pc_result_record *record, pc_text *out);

#endif
