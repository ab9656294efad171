/* A report as JSON: the results of `measure --json`, before and after. */
#include "base/json.h"
#include "report/page_preset.h"

static void page_json_results(pc_json *json, const char *key, const pcal_results *results,
                              pc_text *out) {
  pc_text text;
  pc_json_key(json, key);
  if (results == NULL) {
    pc_json_null(json);
    return;
  }
  pc_text_init(&text, out->env);
  pc_write_results_json(results, &text);
  pc_json_embed(json, text.failed ? "null" : text.bytes);
  out->failed |= text.failed;
  pc_text_free(&text);
}

static void page_json_calibrator(pc_json *json, const pcal_report *report, pc_text *out) {
  pc_text origin;
  pc_json_key(json, "calibrator");
  if (!report->repaired) {
    pc_json_null(json);
    return;
  }
  pc_text_init(&origin, out->env);
  pc_page_calibrator_origin(report, &origin);
  pc_json_open(json, '{');
  pc_json_key(json, "method");
  pc_json_string(json, report->method);
  pc_json_key(json, "origin");
  pc_json_string(json, origin.bytes);
  pc_json_key(json, "fit");
  pc_json_embed(json, report->described_json.bytes);
  pc_json_close(json, '}');
  out->failed |= origin.failed;
  pc_text_free(&origin);
}

static void page_json_comparison(pc_json *json, const pcal_report *report, pc_text *out) {
  pc_text text;
  pc_json_key(json, "comparison");
  if (report->comparison == NULL) {
    pc_json_null(json);
    return;
  }
  pc_text_init(&text, out->env);
  if (pc_write_comparison(report->comparison, PCAL_JSON, &text, NULL) != PCAL_OK || text.failed)
    out->failed = 1;
  else
    pc_json_embed(json, text.bytes);
  pc_text_free(&text);
}

static void page_json_problems(pc_json *json, const pcal_report *report, pc_text *out) {
  pc_json_key(json, "problems");
  pc_json_open(json, '[');
  for (size_t i = 0;; i++) {
    pc_text sentence;
    pc_text_init(&sentence, out->env);
    const int more = pc_page_problem(report, i, &sentence);
    if (more)
      pc_json_string(json, sentence.bytes);
    out->failed |= sentence.failed;
    pc_text_free(&sentence);
    if (!more)
      break;
  }
  pc_json_close(json, ']');
}

void pc_page_json(const pcal_report *report, pc_text *out) {
  pc_json json;
  pc_json_init(&json, out);
  pc_json_open(&json, '{');
  pc_json_key(&json, "propercal");
  pc_json_string(&json, PCAL_VERSION);
  pc_json_key(&json, "title");
  pc_json_string(&json, report->title);
  pc_json_key(&json, "command");
  pc_json_string(&json, report->command);
  pc_json_key(&json, "seed");
  pc_json_integer(&json, report->env.seed);
  if (report->preset != NULL) {
    pc_json_key(&json, "preset");
    pc_json_string(&json, report->preset->name);
    report->preset->json(report, &json);
  }
  page_json_problems(&json, report, out);
  page_json_calibrator(&json, report, out);
  page_json_results(&json, "before", report->side[PC_PAGE_BEFORE].key, out);
  page_json_results(&json, "after", report->side[PC_PAGE_AFTER].key, out);
  page_json_comparison(&json, report, out);
  pc_json_close(&json, '}');
  pc_text_add(out, "\n");
}
