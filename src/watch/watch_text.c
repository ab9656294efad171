/* The report of a watch, as text and JSON. */
#include <math.h>

#include "base/elementary.h"
#include "base/json.h"
#include "base/number.h"
#include "watch/watch.h"

static int watch_is_pit(const pcal_watch *watch) {
  return pc_kind_form(watch->kind) != PC_FORM_CLASSES;
}

/* "class 1", "a correct prediction" */
static const char *watch_event(const pcal_watch *watch) {
  if (watch_is_pit(watch))
    return "pit";
  return watch->kind == PCAL_CONFIDENCE || watch->columns > 2 ? "correct" : "class 1";
}

void pc_watch_report(const pcal_watch *watch, pcal_watch_report *out) {
  out->rows = watch->bets.rows;
  out->skipped = watch->skipped;
  out->normalized = watch->normalized;
  out->parts = watch->part_count;
  out->alpha = watch->alpha;
  out->log_e = pc_wide_log(watch->bets.now);
  out->highest_log_e = pc_wide_log(watch->bets.highest);
  out->highest_rows = watch->bets.highest_rows;
  out->p_value = fmin(1, pc_exp(-out->highest_log_e));
  out->alarm = watch->alarm_rows > 0;
  out->alarm_rows = watch->alarm_rows;
  out->contradictions = watch->bets.contradictions;
  out->abstained = watch->abstained;
}

static void watch_number(pc_text *out, double value, int digits) {
  char text[PC_NUMBER_MAX];
  pc_number_round(value, digits, text);
  pc_text_add(out, text);
}

/* exp(log_e) with three digits, as 3.9e+11 from a million on. */
static void watch_e_value(pc_text *out, double log_e) {
  if (isinf(log_e)) {
    pc_text_add(out, "infinite");
  } else if (log_e < pc_log(1e6)) {
    watch_number(out, pc_exp(log_e), 3);
  } else {
    const double tens = floor(log_e / pc_log(10));
    watch_number(out, fmin(pc_exp(log_e - tens * pc_log(10)), 9.9), 2);
    pc_text_format(out, "e+%llu", (unsigned long long)tens);
  }
}

/* What the bet with the most capital says about the predictions. */
static void watch_leading(const pcal_watch *watch, pc_text *out) {
  const pc_leading_bet bet = pc_bets_leading(&watch->bets);
  const int pit = watch_is_pit(watch);
  if (watch->bets.contradictions > 0) {
    pc_text_format(out,
                   "an event of probability 0 occurred in %llu row%s; if probabilities were "
                   "rounded to 0 or 1, log more digits and start a new state",
                   (unsigned long long)watch->bets.contradictions,
                   watch->bets.contradictions == 1 ? "" : "s");
    return;
  }
  if (bet.in_bin) {
    pc_text_format(out, "%s from ", pit ? "ranks" : "scores");
    pc_text_number(out, bet.low);
    pc_text_add(out, " to ");
    pc_text_number(out, bet.high);
    pc_text_add(out, pit             ? bet.shift > 0 ? " occur too often" : " occur too rarely"
                     : bet.shift > 0 ? " are too low"
                                     : " are too high");
    return;
  }
  pc_text_add(out, pit ? "predictions are " : "scores are ");
  if (bet.slope != 1)
    pc_text_add(out, bet.slope < 1 ? pit ? "too narrow" : "too extreme"
                     : pit         ? "too wide"
                                   : "too timid");
  if (bet.shift != 0)
    pc_text_format(out, "%stoo %s", bet.slope != 1 ? " and " : "",
                   bet.shift > 0 ? "low" : "high");
  pc_text_add(out, pit ? " (errors: standard deviation " : " (slope ");
  pc_text_number(out, pit ? 1 / bet.slope : bet.slope);
  pc_text_add(out, pit ? ", mean " : ", shift ");
  pc_text_number(out, bet.shift);
  pc_text_add(out, ")");
}

static void watch_rows(pc_text *out, uint64_t rows) {
  pc_text_format(out, "%llu row%s", (unsigned long long)rows, rows == 1 ? "" : "s");
}

void pc_watch_write_text(const pcal_watch *watch, pc_text *out) {
  pcal_watch_report report = {.size = sizeof report};
  pc_watch_report(watch, &report);
  watch_rows(out, report.rows);
  if (report.parts > 1)
    pc_text_format(out, " in %zu parts", report.parts);
  if (report.skipped > 0)
    pc_text_format(out, ", %llu skipped", (unsigned long long)report.skipped);
  if (report.abstained > 0)
    pc_text_format(out, ", %llu not answered", (unsigned long long)report.abstained);
  pc_text_add(out, "\ne-value ");
  watch_e_value(out, report.log_e);
  pc_text_add(out, ", highest ");
  watch_e_value(out, report.highest_log_e);
  pc_text_add(out, " after ");
  watch_rows(out, report.highest_rows);
  pc_text_add(out, "; alarm from ");
  watch_number(out, 1 / report.alpha, 3);
  pc_text_add(out, " on (false alarms: ");
  pc_text_number(out, 100 * report.alpha);
  pc_text_add(out, " %)\n");
  if (report.alarm) {
    pc_text_add(out, "ALARM after ");
    watch_rows(out, report.alarm_rows);
    pc_text_add(out, ": the predictions are not calibrated.\n");
  } else
    pc_text_add(out, "No alarm: calibrated predictions would look like this.\n");
  if (report.highest_log_e > 1) {
    pc_text_add(out, "Most evidence: ");
    watch_leading(watch, out);
    pc_text_add(out, "\n");
  }
}

static void watch_json_bins(const pcal_watch *watch, pc_json *json) {
  pc_json_key(json, "bins");
  pc_json_open(json, '[');
  for (size_t b = 0; b < PC_BETS_BINS; b++) {
    const pc_watch_bin *bin = &watch->bins[b];
    const double rows = bin->rows > 0 ? (double)bin->rows : (double)NAN;
    pc_json_open(json, '{');
    pc_json_key(json, "low");
    pc_json_number(json, (double)b / PC_BETS_BINS);
    pc_json_key(json, "high");
    pc_json_number(json, (double)(b + 1) / PC_BETS_BINS);
    pc_json_key(json, "rows");
    pc_json_integer(json, bin->rows);
    if (!watch_is_pit(watch)) {
      pc_json_key(json, "predicted");
      pc_json_number(json, pc_fixed_value(&bin->scores) / rows);
      pc_json_key(json, "observed");
      pc_json_number(json, (double)bin->hits / rows);
    }
    pc_json_close(json, '}');
  }
  pc_json_close(json, ']');
}

static void watch_json_count(pc_json *json, const char *key, uint64_t value) {
  pc_json_key(json, key);
  pc_json_integer(json, value);
}

static void watch_json_number(pc_json *json, const char *key, double value) {
  pc_json_key(json, key);
  pc_json_number(json, value);
}

void pc_watch_write_json(const pcal_watch *watch, pc_text *out) {
  pcal_watch_report report = {.size = sizeof report};
  pc_json json;
  pc_text words;
  pc_watch_report(watch, &report);
  pc_text_init(&words, out->env);
  watch_leading(watch, &words);
  out->failed |= words.failed;
  pc_json_init(&json, out);
  pc_json_open(&json, '{');
  watch_json_count(&json, "rows", report.rows);
  watch_json_count(&json, "parts", report.parts);
  watch_json_count(&json, "skipped_rows", report.skipped);
  watch_json_count(&json, "normalized_rows", report.normalized);
  if (report.abstained > 0)
    watch_json_count(&json, "abstained_rows", report.abstained);
  pc_json_key(&json, "event");
  pc_json_string(&json, watch_event(watch));
  watch_json_number(&json, "alpha", report.alpha);
  watch_json_number(&json, "threshold", 1 / report.alpha);
  watch_json_number(&json, "e_value", pc_exp(report.log_e));
  watch_json_number(&json, "log_e", report.log_e);
  watch_json_number(&json, "highest_log_e", report.highest_log_e);
  watch_json_count(&json, "highest_rows", report.highest_rows);
  watch_json_number(&json, "p_value", report.p_value);
  pc_json_key(&json, "alarm");
  pc_json_bool(&json, report.alarm);
  pc_json_key(&json, "alarm_rows");
  if (report.alarm)
    pc_json_integer(&json, report.alarm_rows);
  else
    pc_json_null(&json);
  watch_json_count(&json, "contradictions", report.contradictions);
  pc_json_key(&json, "most_evidence");
  pc_json_string(&json, report.highest_log_e > 1 && !words.failed ? words.bytes : NULL);
  watch_json_bins(watch, &json);
  pc_json_close(&json, '}');
  pc_text_add(out, "\n");
  pc_text_free(&words);
}
