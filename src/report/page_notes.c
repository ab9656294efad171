/* Notes of a report: problems, commands, conventions, citations. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/argument_names.h"
#include "base/markup.h"
#include "base/number.h"
#include "report/page_preset.h"

#define PAGE_NOTES_CITATIONS 64

const char *pc_page_title(const pcal_report *report) {
  if (report->title != NULL)
    return report->title;
  return report->preset != NULL ? report->preset->title : "Calibration report";
}

/* ---- problems ---- */

static void page_notes_rows(double count, const char *what, pc_text *out) {
  pc_write_count(count, out);
  pc_text_format(out, count == 1 ? " row %s" : " rows %s", what);
}

/* Writes sentence number `index` about the data as a whole, if it applies. */
static void page_notes_whole(const pcal_report *report, size_t index, pc_text *out) {
  const pcal_results *results = report->side[PC_PAGE_BEFORE].key;
  const pc_faults *faults = &report->faults;
  if (index == 0 && results->skipped > 0)
    page_notes_rows((double)results->skipped, "left out because a value is missing.", out);
  if (index == 1 && results->normalized > 0)
    page_notes_rows((double)results->normalized,
                    results->layout.form == PC_FORM_CLASSES
                        ? "rescaled because the probabilities did not sum to 1."
                        : "sorted.",
                    out);
  if (index == 2 && faults->absent > 0)
    pc_text_format(out, "%zu of %zu classes never occur%s.", faults->absent, faults->classes,
                   faults->absent + 1 == faults->classes
                       ? ", and calibration cannot be judged from one class: check the labels"
                       : "");
  if (index == 3 && faults->bad > PC_FAULTS_SHOWN)
    page_notes_rows((double)faults->bad, "cannot be measured; the first of them:", out);
}

#define PAGE_NOTES_WHOLE 4

/* Writes metric number `index` if it is infinite, before side first; returns 0 beyond the last. */
static int page_notes_infinite(const pcal_report *report, size_t index, pc_text *out) {
  for (int time = PC_PAGE_BEFORE; time <= PC_PAGE_AFTER; time++) {
    const pcal_results *results = report->side[time].key;
    if (results == NULL || index >= results->metric_count) {
      index -= results == NULL ? 0 : results->metric_count;
      continue;
    }
    const pc_result_record *record = &results->records[index];
    if (isinf(record->outcome.value) && record->outcome.why[0] != '\0')
      pc_text_format(out, "%s%s: %s.", time == PC_PAGE_AFTER ? "After the repair, " : "",
                     record->label, record->outcome.why);
    return 1;
  }
  return 0;
}

static int page_notes_candidate(const pcal_report *report, size_t candidate, pc_text *out) {
  const pc_faults *faults = &report->faults;
  if (candidate < PAGE_NOTES_WHOLE) {
    page_notes_whole(report, candidate, out);
    return 1;
  }
  const size_t fault = candidate - PAGE_NOTES_WHOLE;
  const size_t shown = faults->bad < PC_FAULTS_SHOWN ? faults->bad : PC_FAULTS_SHOWN;
  if (fault >= shown)
    return page_notes_infinite(report, fault - shown, out);
  pc_text_add_error(out, &faults->shown[fault], report->env.caller);
  pc_text_add(out, ".");
  return 1;
}

int pc_page_problem(const pcal_report *report, size_t index, pc_text *out) {
  size_t found = 0;
  for (size_t candidate = 0;; candidate++) {
    pc_text sentence;
    pc_text_init(&sentence, out->env);
    const int more = page_notes_candidate(report, candidate, &sentence);
    const int matches = sentence.length > 0 && found++ == index;
    if (matches)
      pc_text_add(out, sentence.bytes);
    out->failed |= sentence.failed;
    pc_text_free(&sentence);
    if (matches || !more || out->failed)
      return matches;
  }
}

void pc_page_brier(const pcal_report *report, pc_text *out) {
  const pc_result_record *record = pc_results_record(report->side[PC_PAGE_BEFORE].key, "brier");
  for (size_t p = 0; record != NULL && p < record->outcome.part_count; p++)
    if (strcmp(record->outcome.parts[p].name, "one_column") == 0) {
      pc_text_add(out,
                  "The Brier score is the sum over both classes; that of class 1 alone, used "
                  "by scikit-learn and in clinical papers, is ");
      pc_write_number(record->outcome.parts[p].value, out);
      pc_text_add(out, report->repaired ? " before the repair." : ".");
    }
}

/* Writes the remark on a metric or, for index metric_count, that on all of them. */
static void page_notes_remark(const pcal_results *results, size_t index, pc_text *out) {
  const int of_all = index == results->metric_count;
  const char *remark =
      of_all ? pc_few_rows_remark(results) : results->records[index].interval_result.why;
  if (remark != NULL && remark[0] != '\0')
    pc_text_format(out, "%s: %s.", of_all ? "unsure" : results->records[index].label, remark);
}

void pc_page_remarks(const pcal_report *report, void (*use)(const char *sentence, pc_text *out),
                     pc_text *out) {
  const pcal_results *results = report->side[PC_PAGE_BEFORE].key;
  for (size_t i = 0; i <= results->metric_count; i++) {
    pc_text sentence;
    pc_text_init(&sentence, out->env);
    page_notes_remark(results, i, &sentence);
    if (sentence.length > 0)
      use(sentence.bytes, out);
    out->failed |= sentence.failed;
    pc_text_free(&sentence);
  }
  if (report->from_results)
    use("Made from results without their rows: figures that need rows, and checks of rows, are "
        "left out.",
        out);
}

/* ---- the calibrator ---- */

void pc_page_calibrator_origin(const pcal_report *report, pc_text *out) {
  if (report->given)
    pc_text_add(out, "fitted earlier, to rows that are not part of this report");
  else if (report->comparison != NULL)
    pc_text_add(out,
                "chosen from all methods that suit the data, and fitted to the second set");
  else if (report->second)
    pc_text_add(out, "fitted to the second set");
  else
    pc_text_format(out,
                   "judged by cross-validation: each row was mapped by a calibrator fitted to "
                   "the other %d of %d parts of the rows",
                   PC_PAGE_FOLDS - 1, PC_PAGE_FOLDS);
}

/* ---- commands ---- */

/* The flags of the inputs.  The clusters come last, and only `measure` takes them. */
static void page_notes_inputs(const pcal_report *report, int with_cluster, pc_text *out) {
  const char *flags = report->input_flags == NULL ? "..." : report->input_flags;
  const char *cluster = report->by_cluster ? strstr(flags, " --cluster ") : NULL;
  pc_text part;
  pc_text_init(&part, out->env);
  pc_text_add_bytes(&part, flags,
                    cluster == NULL || with_cluster ? strlen(flags)
                                                    : (size_t)(cluster - flags));
  pc_text_add(out, " ");
  pc_text_terminal(out, part.failed ? "" : part.bytes);
  out->failed |= part.failed;
  pc_text_free(&part);
}

static void page_notes_measure(const pcal_report *report, pc_text *out) {
  const pcal_results *results = report->side[PC_PAGE_BEFORE].key;
  char level[PC_NUMBER_MAX];
  pc_text_add(out, "propercal measure");
  page_notes_inputs(report, 1, out);
  for (size_t m = 0; report->chosen_metrics && m < results->metric_count; m++) {
    pc_text_add(out, " --metric ");
    pc_text_shell(out, results->records[m].label);
  }
  if (report->level > 0) {
    pc_number_format(report->level, level);
    pc_text_format(out, " --interval %s", level);
  }
  if (report->env.seed != 0)
    pc_text_format(out, " --seed %llu", (unsigned long long)report->env.seed);
  pc_text_add(out, "\n");
}

static void page_notes_repair(const pcal_report *report, const char *file, pc_text *out) {
  if (!report->given) {
    pc_text_add(out, "propercal fit --method ");
    pc_text_shell(out, report->method);
    if (report->second) {
      pc_text_add(out, " ");
      pc_text_terminal(out, report->val_flags == NULL ? "..." : report->val_flags);
    } else {
      page_notes_inputs(report, 0, out);
    }
    pc_text_add(out, " -o ");
    pc_text_shell(out, file);
    pc_text_add(out, "\n");
  }
  pc_text_add(out, "propercal apply ");
  pc_text_shell(out, file);
  page_notes_inputs(report, 0, out);
  pc_text_add(out, " -o calibrated.npy\n");
}

void pc_page_commands(const pcal_report *report, pc_text *out) {
  const char *file =
      report->calibrator_file == NULL ? "calibrator.json" : report->calibrator_file;
  pc_text_terminal(out, report->command);
  pc_text_add(out, report->command == NULL ? "" : "\n");
  page_notes_measure(report, out);
  if (report->repaired)
    page_notes_repair(report, file, out);
  if (report->figure_count == 0)
    return;
  const char *figure = report->figures[0].row->name;
  pc_text_format(out, "propercal plot %s", figure);
  page_notes_inputs(report, 0, out);
  if (report->repaired) {
    pc_text_add(out, " --calibrator ");
    pc_text_shell(out, file);
  }
  pc_text_format(out, " -o %s.svg\n", figure);
}

/* ---- conventions ---- */

void pc_page_conventions(const pcal_report *report, pc_text *out) {
  const pcal_results *results = report->side[PC_PAGE_BEFORE].key;
  pc_text_add(out, "<dl class=\"specs\">\n");
  for (size_t m = 0; m < results->metric_count; m++) {
    const pc_result_record *record = &results->records[m];
    pc_text_add(out, "<dt><code>");
    pc_text_markup(out, record->spec);
    pc_text_add(out, "</code></dt><dd><span class=\"formula\">");
    pc_text_markup_lines(out, pc_page_metric_row(results, record)->formula);
    pc_text_add(out, "</span>");
    if (record->interval_result.has_interval)
      pc_text_format(out, " <span class=\"what\">interval: %s</span>",
                     pc_interval_method_name(record->interval_result.method));
    char room[PC_INTERVAL_REMARKS_MAX];
    const char *why = record->outcome.why[0] != '\0'
                          ? record->outcome.why
                          : pc_interval_remarks(&record->interval_result, room);
    if (why[0] != '\0') {
      pc_text_add(out, " <span class=\"what\">");
      pc_text_markup(out, why);
      pc_text_add(out, "</span>");
    }
    pc_text_add(out, "</dd>\n");
  }
  pc_text_add(out, "</dl>\n");
}

/* ---- citations ---- */

typedef struct page_citations {
  const char *list[PAGE_NOTES_CITATIONS];
  size_t count;
} page_citations;

static void page_citations_add(page_citations *citations, const char *citation) {
  if (citation == NULL || citations->count == PAGE_NOTES_CITATIONS)
    return;
  for (size_t i = 0; i < citations->count; i++)
    if (strcmp(citations->list[i], citation) == 0)
      return;
  citations->list[citations->count++] = citation;
}

void pc_page_citations(const pcal_report *report, pc_text *out) {
  const pcal_results *results = report->side[PC_PAGE_BEFORE].key;
  page_citations citations = {.count = 0};
  for (size_t m = 0; m < results->metric_count; m++)
    page_citations_add(&citations, pc_page_metric_row(results, &results->records[m])->citation);
  for (size_t i = 0; i < report->figure_count; i++)
    page_citations_add(&citations, report->figures[i].row->citation);
  if (report->method_row != NULL)
    page_citations_add(&citations, report->method_row->citation);
  pc_text_add(out, "<ul class=\"citations\">\n");
  for (size_t i = 0; i < citations.count; i++) {
    pc_text_add(out, "<li>");
    pc_text_markup(out, citations.list[i]);
    pc_text_add(out, "</li>\n");
  }
  pc_text_add(out, "</ul>\n");
}
