/* The verdict as JSON. */
#include "output/verdict.h"

static void verdict_json_number(pc_json *json, const char *key, double value) {
  pc_json_key(json, key);
  pc_json_number(json, value);
}

static void verdict_json_classes(const pcal_verdict *verdict, pc_json *json) {
  verdict_json_number(json, "error", verdict->error);
  verdict_json_number(json, "chance", verdict->chance);
  verdict_json_number(json, "claimed", verdict->claimed);
  verdict_json_number(json, "observed", verdict->observed);
  verdict_json_number(json, "margin", verdict->margin);
  pc_json_key(json, "view");
  pc_json_string(json, verdict->binary ? "positive" : "top");
  if (verdict->classes_off > 0) {
    pc_json_key(json, "classes");
    pc_json_open(json, '{');
    pc_json_key(json, "off");
    pc_json_integer(json, verdict->classes_off);
    pc_json_key(json, "worst");
    pc_json_integer(json, verdict->worst_class);
    verdict_json_number(json, "claimed", verdict->class_claimed);
    verdict_json_number(json, "observed", verdict->class_observed);
    verdict_json_number(json, "margin", verdict->class_margin);
    pc_json_close(json, '}');
  }
  if (verdict->test != NULL) {
    pc_json_key(json, "test");
    pc_json_open(json, '{');
    pc_json_key(json, "spec");
    pc_json_string(json, verdict->test);
    verdict_json_number(json, "p_value", verdict->test_p_value);
    pc_json_key(json, "tests");
    pc_json_integer(json, verdict->test_count);
    pc_json_close(json, '}');
  }
  if (!verdict->has_where)
    return;
  pc_json_key(json, "where");
  pc_json_open(json, '{');
  verdict_json_number(json, "low", verdict->where.low);
  verdict_json_number(json, "high", verdict->where.high);
  verdict_json_number(json, "share", verdict->where.share);
  verdict_json_number(json, "rows", verdict->where.rows);
  verdict_json_number(json, "claimed", verdict->where.claimed);
  verdict_json_number(json, "observed", verdict->where.observed);
  pc_json_close(json, '}');
}

static void verdict_json_forecast(const pcal_verdict *verdict, pc_json *json) {
  pc_json_key(json, "shift");
  pc_json_string(json, verdict->shift > 0 ? "too-high" : verdict->shift < 0 ? "too-low" : NULL);
  if (pc_kind_form(verdict->scores) != PC_FORM_QUANTILES) {
    verdict_json_number(json, "mean", verdict->mean);
    verdict_json_number(json, "mean_margin", verdict->mean_margin);
    verdict_json_number(json, "variance", verdict->variance);
    verdict_json_number(json, "variance_margin", verdict->variance_margin);
    return;
  }
  verdict_json_number(json, "inside", verdict->inside);
  verdict_json_number(json, "nominal", verdict->highest_level - verdict->lowest_level);
  verdict_json_number(json, "margin", verdict->inside_margin);
  pc_json_key(json, "where");
  pc_json_open(json, '{');
  verdict_json_number(json, "level", verdict->level);
  verdict_json_number(json, "share", verdict->level_share);
  verdict_json_number(json, "margin", verdict->level_margin);
  pc_json_close(json, '}');
}

void pc_verdict_json(const pcal_verdict *verdict, pc_json *json) {
  pc_json_open(json, '{');
  pc_json_key(json, "kind");
  pc_json_string(json, pcal_verdict_kind_name(verdict->kind));
  if (pc_kind_form(verdict->scores) == PC_FORM_CLASSES)
    verdict_json_classes(verdict, json);
  else
    verdict_json_forecast(verdict, json);
  pc_json_key(json, "advice");
  pc_json_open(json, '{');
  pc_json_key(json, "repair");
  pc_json_string(json, pcal_advice_name(verdict->advice));
  pc_json_key(json, "method");
  pc_json_string(json, verdict->method);
  pc_json_key(json, "other");
  pc_json_string(json, verdict->alternative);
  pc_json_close(json, '}');
  pc_json_close(json, '}');
}
