/* Reports of a small data set, as text. */
#ifndef PAGE_HELP_H
#define PAGE_HELP_H

#include "../measure/measure_help.h"
#include "io/source.h"

#define PAGE_ROWS 24

/* Three classes, one of which never occurs. */
static double page_scores[3 * PAGE_ROWS];
static int32_t page_labels[PAGE_ROWS];
static const char *const page_names[] = {"<b>cat</b>", "a & b", "</script>"};

static inline void page_fill(void) {
  for (size_t i = 0; i < PAGE_ROWS; i++) {
    const double sure = 0.5 + 0.02 * (double)i;
    page_scores[3 * i + i % 2] = sure;
    page_scores[3 * i + 1 - i % 2] = 0.75 * (1 - sure);
    page_scores[3 * i + 2] = 0.25 * (1 - sure);
    page_labels[i] = (int32_t)(i % 3 == 0 ? 1 - i % 2 : i % 2);
  }
}

static inline pcal_source *page_source(const pcal_env *env, pcal_error *err) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = PAGE_ROWS,
                           .columns = 3,
                           .scores = page_scores,
                           .labels = page_labels};
  const pcal_batch batch = given_batch(&data);
  pcal_source *source = NULL;
  page_fill();
  return pc_source_borrow(&batch, page_names, env, &source, err) == PCAL_OK ? source : NULL;
}

/* The report about a source in a format; freed by the caller. */
static inline char *page_text_from(pcal_source *source, const pcal_report_config *config,
                                   pcal_format format) {
  pcal_report *report = NULL;
  pcal_error err;
  sink_bytes text = {0};
  if (pcal_report_run(source, config, NULL, &report, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  assert_int_equal(pcal_report_write(report, format, sink_collect, &text, &err), PCAL_OK);
  pcal_report_free(report);
  pcal_source_free(source);
  return text.bytes;
}

static inline char *page_text(const pcal_report_config *config, pcal_format format) {
  pcal_error err;
  return page_text_from(page_source(NULL, &err), config, format);
}

/* The same about rows of the caller. */
static inline char *page_text_of(const pcal_batch *batch, const char *const *names,
                                 const pcal_report_config *config, pcal_format format) {
  pcal_source *source = NULL;
  pcal_error err;
  if (pc_source_borrow(batch, names, NULL, &source, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return page_text_from(source, config, format);
}

static inline size_t page_count(const char *text, const char *part) {
  size_t count = 0;
  for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
    count++;
  return count;
}

static inline pcal_report_config page_config(void) {
  pcal_report_config config = PCAL_REPORT_CONFIG_INIT;
  config.replicas = 20;
  return config;
}

#endif
