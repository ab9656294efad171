/* The advice of a comparison, word by word. */
#include "../unit.h"

#include "compare/comparison.h"
#include "output/write_comparison.h"

#define TOLD_COUNT 3

/* Identity, temperature (injective) and isotonic, by one metric. */
typedef struct shown_table {
  pcal_comparison table;
  pc_contestant contestants[TOLD_COUNT];
  pc_gain gains[TOLD_COUNT];
  pcal_results results;
  pc_result_record record;
} shown_table;

static void shown_make(shown_table *shown) {
  static const char *const names[] = {"identity", "temperature", "isotonic"};
  memset(shown, 0, sizeof *shown);
  shown->table.env = pc_env_resolve(NULL);
  shown->table.contestants = shown->contestants;
  shown->table.count = TOLD_COUNT;
  shown->results.records = &shown->record;
  shown->results.metric_count = 1;
  shown->record.notion = PCAL_NOTION_PROPER;
  snprintf(shown->record.label, sizeof shown->record.label, "brier");
  for (size_t i = 0; i < TOLD_COUNT; i++) {
    snprintf(shown->contestants[i].label, PC_SPEC_MAX, "%s", names[i]);
    shown->contestants[i].gains = &shown->gains[i];
    shown->contestants[i].results = &shown->results;
    shown->contestants[i].rank = TOLD_COUNT - i;
  }
  shown->contestants[1].traits = PC_INJECTIVE;
  shown->gains[1] = (pc_gain){1, 1, 0.0212, 0.0101, 0.0323};
  shown->gains[2] = (pc_gain){1, 1, 0.0254, -0.0012, 0.0521};
  shown->table.best = 2;
  shown->table.chosen = 1;
  snprintf(shown->table.name, sizeof shown->table.name, "temperature");
}

static void shown_is(const shown_table *shown, const char *expected) {
  pc_text out;
  pc_text_init(&out, &shown->table.env);
  pc_write_comparison_advice(&shown->table, &out);
  assert_false(out.failed);
  assert_string_equal(out.bytes, expected);
  pc_text_free(&out);
}

TEST(test_why_rank_1_was_not_chosen) {
  shown_table shown;
  shown_make(&shown);
  shown_is(&shown,
           "Choose temperature: better in brier by 0.021 [0.010, 0.032] than leaving the "
           "predictions alone. isotonic has rank 1, but its gain, brier by 0.025 "
           "[-0.0012, 0.052], may be chance: its interval reaches down to 0. temperature "
           "is injective, so its gain is also the decrease of its calibration error "
           "(Gruber & Buettner 2022, Proposition 4.5).\n");
  shown.gains[2].sure = 0;
  shown.contestants[1].traits = 0;
  shown_is(&shown,
           "Choose temperature: better in brier by 0.021 [0.010, 0.032] than leaving the "
           "predictions alone. isotonic has rank 1, but its gain, brier by 0.025, has no "
           "interval, so it may be chance.\n");
}

TEST(test_nothing_is_better) {
  shown_table shown;
  shown_make(&shown);
  shown.table.chosen = 0;
  shown_is(&shown,
           "Leave it alone: no method is significantly better in brier. isotonic has rank "
           "1, but its gain, brier by 0.025 [-0.0012, 0.052], may be chance: its interval "
           "reaches down to 0.\n");
}

TEST(test_rank_1_is_chosen) {
  shown_table shown;
  shown_make(&shown);
  shown.table.best = 1;
  shown.contestants[2].behind = (pc_gain){1, 1, 0.002, -0.001, 0.005};
  shown_is(&shown,
           "Choose temperature: better in brier by 0.021 [0.010, 0.032] than leaving the "
           "predictions alone. These rows cannot distinguish it from isotonic. temperature is "
           "injective, so its gain is also the decrease of its calibration error (Gruber "
           "& Buettner 2022, Proposition 4.5).\n");
  shown.record.notion = PCAL_NOTION_TOP_LABEL;
  shown.contestants[2].behind.low = 0.001;
  shown_is(&shown,
           "Choose temperature: better in brier by 0.021 [0.010, 0.032] than leaving the "
           "predictions alone. Note that brier is not a proper score: a method can lower it "
           "by discarding information; rank by brier or log to be safe.\n");
}

TEST(test_models) {
  static char old[] = "old", new[] = "new", third[] = "third";
  char *names[] = {old, new, third};
  shown_table shown;
  shown_make(&shown);
  shown.table.model_names = names;
  shown.table.model_count = TOLD_COUNT;
  for (size_t i = 0; i < TOLD_COUNT; i++) {
    shown.contestants[i].model = i;
    snprintf(shown.contestants[i].label, PC_SPEC_MAX, "identity");
    snprintf(shown.contestants[i].spec, PC_SPEC_MAX, "identity");
  }
  snprintf(shown.table.name, sizeof shown.table.name, "new");
  shown_is(&shown,
           "Choose new: better in brier by 0.021 [0.010, 0.032] than old. third has rank "
           "1, but its gain, brier by 0.025 [-0.0012, 0.052], may be chance: its interval "
           "reaches down to 0.\n");
  shown.table.chosen = shown.table.best = 0;
  snprintf(shown.table.name, sizeof shown.table.name, "old");
  shown_is(&shown, "Choose old: no other is better in brier.\n");
}

/* An improper metric under cross-validation, of numbers; few clusters. */
TEST(test_notes_of_the_advice) {
  static const struct {
    size_t clusters;
    const char *words;
  } cases[] = {{0, ""},
               {1, " Only 1 cluster: too few for intervals with the stated coverage."},
               {9, " Only 9 clusters: too few for intervals with the stated coverage."},
               {10, ""}};
  shown_table shown;
  shown_make(&shown);
  shown.table.chosen = shown.table.best = 0;
  shown.record.notion = PCAL_NOTION_TOP_LABEL;
  shown.results.layout.form = PC_FORM_GAUSSIAN;
  shown.table.folds = 5;
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    char expected[700];
    shown.table.clusters = cases[i].clusters;
    snprintf(expected, sizeof expected,
             "Leave it alone: no method is significantly better in brier. Note that brier is "
             "not a proper score: a method can lower it by discarding information, or by "
             "chance under cross-validation, since the folds together were fitted to the rows "
             "that judge them; rank by dss or crps to be safe.%s\n",
             cases[i].words);
    shown_is(&shown, expected);
  }
}

/* A best method without a known gain is not explained; ties need a sure interval that reaches 0. */
TEST(test_what_is_not_known_is_not_said) {
  shown_table shown;
  shown_make(&shown);
  shown.gains[2].known = 0;
  shown.contestants[1].traits = 0;
  shown.gains[1].sure = 0;
  shown_is(&shown, "Choose temperature: better in brier by 0.021 than leaving the predictions "
                   "alone.\n");
  shown.table.best = 1;
  shown.contestants[0].behind = (pc_gain){1, 1, 0.01, -0.01, 0.02};
  shown.contestants[2].behind = (pc_gain){1, 1, 0.01, 0.0, 0.02};
  shown_is(&shown, "Choose temperature: better in brier by 0.021 than leaving the predictions "
                   "alone. These rows cannot distinguish it from identity, isotonic.\n");
  shown.contestants[0].behind.sure = 0;
  shown.contestants[2].results = NULL;
  shown_is(&shown, "Choose temperature: better in brier by 0.021 than leaving the predictions "
                   "alone.\n");
}

/* ---- whole tables ---- */

#define SHOWN_METHODS 5

/* Two methods that are judged, of which one is infinite, and three that are not. */
typedef struct shown_methods {
  shown_table shown;
  pc_contestant all[SHOWN_METHODS];
  pc_gain gains[2];
  pcal_results results[2];
  pc_result_record records[2];
} shown_methods;

static void shown_make_methods(shown_methods *out) {
  static const char *const names[] = {"identity", "isotonic", "spline", "matrix", "ets"};
  memset(out, 0, sizeof *out);
  shown_make(&out->shown);
  pcal_comparison *table = &out->shown.table;
  table->contestants = out->all;
  table->count = SHOWN_METHODS;
  table->chosen = table->best = 0;
  table->level = 0.9;
  table->folds = 3;
  snprintf(table->name, sizeof table->name, "identity");
  for (size_t i = 0; i < SHOWN_METHODS; i++) {
    snprintf(out->all[i].label, PC_SPEC_MAX, "%s", names[i]);
    snprintf(out->all[i].spec, PC_SPEC_MAX, "%s", names[i]);
    snprintf(out->all[i].why, sizeof out->all[i].why, "reason %zu", i);
  }
  for (size_t i = 0; i < 2; i++) {
    out->records[i] = out->shown.record;
    snprintf(out->records[i].label, sizeof out->records[i].label, "log");
    out->records[i].metric = "log";
    out->results[i].records = &out->records[i];
    out->results[i].metric_count = 1;
    out->results[i].rows = 40;
    out->all[i].results = &out->results[i];
    out->all[i].gains = &out->gains[i];
    out->all[i].status = "converged";
    out->all[i].rank = i + 1;
  }
  out->records[0].outcome.value = 0.25;
  out->records[1].outcome.value = (double)INFINITY;
  snprintf(out->records[1].outcome.why, sizeof out->records[1].outcome.why, "row 3 is sure");
  out->all[2].omission = PC_OMITTED_HOPELESS;
  out->all[3].omission = PC_OMITTED_LATE;
}

static void shown_written(const shown_methods *shown, pcal_format format,
                          const char *expected) {
  pcal_error err;
  pc_text out;
  pc_text_init(&out, &shown->shown.table.env);
  assert_int_equal(pc_write_comparison(&shown->shown.table, format, &out, &err), PCAL_OK);
  assert_false(out.failed);
  assert_string_equal(out.bytes, expected);
  pc_text_free(&out);
}

TEST(test_methods_that_were_not_judged) {
  shown_methods shown;
  shown_make_methods(&shown);
  shown_written(&shown, PCAL_CSV,
                "method,rank,gain,low,high,log,status\n"
                "identity,1,,,,0.25,converged\n"
                "isotonic,2,,,,inf,converged\n"
                "spline,,,,,,given up\n"
                "matrix,,,,,,out of time\n"
                "ets,,,,,,not judged\n");
  shown_written(
      &shown, PCAL_TEXT,
      "40 rows, by 3-fold cross-validation, ranked by log; gain is over the first row, "
      "with its 0.9 interval\n"
      "\n"
      "method    rank  gain  low  high     log       status\n"
      "identity     1     -    -     -  0.2500    converged\n"
      "isotonic     2     -    -     -     inf    converged\n"
      "spline       -     -    -     -       -     given up\n"
      "matrix       -     -    -     -       -  out of time\n"
      "ets          -     -    -     -       -   not judged\n"
      "\n"
      "spline was not judged: reason 2.\n"
      "matrix was not judged: reason 3.\n"
      "ets was not judged: reason 4.\n"
      "log is infinite for isotonic: row 3 is sure.\n"
      "Leave it alone: no method is significantly better in log.\n");
  shown_written(&shown, PCAL_LATEX,
                "% propercal " PCAL_VERSION "; needs \\usepackage{booktabs}\n"
                "% 40 rows, by 3-fold cross-validation, ranked by log; gain is over the first "
                "row, with its 0.9 interval\n"
                "\\begin{tabular}{lrrrrr}\n"
                "\\toprule\n"
                "method & rank & gain (nats) & low (nats) & high (nats) & log (nats) \\\\\n"
                "\\midrule\n"
                "identity & 1 & -- & -- & -- & \\textbf{0.2500} \\\\\n"
                "isotonic & 2 & -- & -- & -- & $\\infty$ \\\\\n"
                "\\bottomrule\n"
                "\\end{tabular}\n"
                "% spline was not judged: reason 2.\n"
                "% matrix was not judged: reason 3.\n"
                "% ets was not judged: reason 4.\n"
                "% log is infinite for isotonic: row 3 is sure.\n"
                "% Leave it alone: no method is significantly better in log.\n");
}

static const char shown_models_json[] =
    "{\n"
    "  \"propercal\": \"" PCAL_VERSION "\",\n"
    "  \"rows\": 40,\n"
    "  \"folds\": null,\n"
    "  \"by\": \"log\",\n"
    "  \"level\": 0.9,\n"
    "  \"methods\": [\n"
    "    {\n"
    "      \"name\": \"old\",\n"
    "      \"model\": \"old\",\n"
    "      \"spec\": \"identity\",\n"
    "      \"status\": \"converged\",\n"
    "      \"metrics\": {\n"
    "        \"log\": null\n"
    "      },\n"
    "      \"infinite\": [\n"
    "        \"log\"\n"
    "      ],\n"
    "      \"improvement\": {\n"
    "        \"log\": null\n"
    "      },\n"
    "      \"behind\": null,\n"
    "      \"rank\": 1\n"
    "    },\n"
    "    {\n"
    "      \"name\": \"new + isotonic\",\n"
    "      \"model\": \"new\",\n"
    "      \"spec\": \"isotonic\",\n"
    "      \"status\": \"converged\",\n"
    "      \"metrics\": {\n"
    "        \"log\": null\n"
    "      },\n"
    "      \"infinite\": [\n"
    "        \"log\"\n"
    "      ],\n"
    "      \"improvement\": {\n"
    "        \"log\": {\n"
    "          \"value\": 0.125,\n"
    "          \"low\": 0.0625,\n"
    "          \"high\": 0.25\n"
    "        }\n"
    "      },\n"
    "      \"behind\": null,\n"
    "      \"rank\": 2\n"
    "    }\n"
    "  ],\n"
    "  \"chosen\": \"new + isotonic\",\n"
    "  \"advice\": \"Choose new + isotonic: better in log by 0.12 [0.062, 0.25] than "
    "old.\\n\"\n"
    "}\n";

/* Two models, judged by a second set: gains with and without an interval, several infinite values. */
TEST(test_models_of_a_second_set) {
  static char old[] = "old", new[] = "new";
  char *names[] = {old, new};
  shown_methods shown;
  shown_make_methods(&shown);
  pcal_comparison *table = &shown.shown.table;
  table->model_names = names;
  table->model_count = table->count = 2;
  table->folds = 0;
  table->chosen = 1;
  shown.all[1].model = 1;
  shown.gains[1] = (pc_gain){.known = 1, .value = 0.125};
  snprintf(table->name, sizeof table->name, "new + isotonic");
  shown_written(&shown, PCAL_CSV,
                "model,rank,gain,low,high,log,status\n"
                "old,1,,,,0.25,converged\n"
                "new + isotonic,2,0.125,,,inf,converged\n");
  shown.records[0].outcome.value = (double)INFINITY;
  snprintf(shown.records[0].outcome.why, sizeof shown.records[0].outcome.why, "row 1 is sure");
  shown.gains[1] = (pc_gain){1, 1, 0.125, 0.0625, 0.25};
  static const char *const reasons[] = {"; for the first of them: row 1 is sure.", "."};
  for (size_t i = 0; i < UNIT_COUNT(reasons); i++) {
    char expected[700];
    snprintf(expected, sizeof expected,
             "40 rows, fitted to a second set, ranked by log; gain is over the first row, with "
             "its 0.9 interval\n"
             "\n"
             "| model | rank | gain | low | high | log | status |\n"
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
             "| `old` | 1 | - | - | - | inf | `converged` |\n"
             "| `new + isotonic` | 2 | 0.1250 | 0.06250 | 0.2500 | inf | `converged` |\n"
             "\n"
             "log is infinite for old, new + isotonic%s\n"
             "Choose new + isotonic: better in log by 0.12 \\[0.062, 0.25\\] than old.\n",
             reasons[i]);
    shown_written(&shown, PCAL_MARKDOWN, expected);
    shown.records[0].outcome.why[0] = '\0';
  }
  shown_written(&shown, PCAL_JSON, shown_models_json);
}
