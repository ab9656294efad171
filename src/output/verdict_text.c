/* The verdict in words. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/number.h"
#include "output/verdict.h"

static void words_percent(double share, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  pc_number_fixed(100 * share, 1, digits);
  pc_text_format(out, "%s %%", digits);
}

static void words_points(double share, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  pc_number_fixed(100 * fabs(share), 1, digits);
  pc_text_format(out, "%s points", digits);
}

static void words_round(double value, int digits, pc_text *out) {
  char text[PC_NUMBER_MAX];
  pc_number_round(value, digits, text);
  pc_text_add(out, text);
}

static void words_fixed(double value, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  pc_number_fixed(value, 3, digits);
  pc_text_add(out, digits);
}

static void words_level(double level, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  pc_text_add(out, pc_show(level, digits));
}

/* ---- the first sentence ---- */

static const char *words_of_classes(const pc_verdict *verdict) {
  switch (verdict->kind) {
  case PC_VERDICT_OVER:
    return verdict->binary ? "Over-confident: probabilities lie too close to 0 and 1."
                           : "Over-confident.";
  case PC_VERDICT_UNDER:
    return verdict->binary ? "Under-confident: probabilities lie too close to one half."
                           : "Under-confident.";
  case PC_VERDICT_HIGH:
    return "Probabilities too high.";
  case PC_VERDICT_LOW:
    return "Probabilities too low.";
  default:
    return "Right on average, but wrong in places.";
  }
}

static void words_of_forecast(const pc_verdict *verdict, pc_text *out) {
  const char *what = verdict->form == PC_FORM_QUANTILES ? "quantiles" : "distributions";
  const char *side = verdict->shift > 0 ? "too high" : "too low";
  if (verdict->kind == PC_VERDICT_UNEVEN)
    pc_text_add(out, "Right overall, but wrong at some levels.");
  else if (verdict->kind < PC_VERDICT_NARROW)
    pc_text_format(out, "Predictions are %s.", side);
  else
    pc_text_format(out, "%s-confident: predicted %s are too %s%s%s.",
                   verdict->kind == PC_VERDICT_NARROW ? "Over" : "Under", what,
                   verdict->kind == PC_VERDICT_NARROW ? "narrow" : "wide",
                   verdict->shift != 0 ? ", and " : "", verdict->shift != 0 ? side : "");
}

void pc_verdict_headline(const pc_verdict *verdict, pc_text *out) {
  if (verdict->kind == PC_VERDICT_CALIBRATED)
    pc_text_add(out, "Well calibrated, as far as these rows can tell.");
  else if (verdict->form == PC_FORM_CLASSES)
    pc_text_add(out, words_of_classes(verdict));
  else
    words_of_forecast(verdict, out);
}

/* ---- what it rests on ---- */

static void words_ground_classes(const pc_verdict *verdict, pc_text *out) {
  const double gap = verdict->claimed - verdict->observed;
  pc_text_add(out, verdict->binary ? "Class 1 is predicted with " : "The model claims ");
  words_percent(verdict->claimed, out);
  pc_text_add(out,
              verdict->binary ? " on average and occurs in " : " on average and is right in ");
  words_percent(verdict->observed, out);
  pc_text_add(out, " of the rows");
  if (verdict->off_average) {
    pc_text_add(out, ": ");
    words_points(gap, out);
    pc_text_add(out, gap > 0 ? " too much" : " too little");
  }
  pc_text_add(out, " (chance alone: up to ");
  words_points(verdict->margin, out);
  pc_text_add(out, ").");
}

static void words_ground_u(const pc_verdict *verdict, pc_text *out) {
  pc_text_add(out, "The predicted probability of a value up to the target has a mean of ");
  words_fixed(verdict->mean, out);
  pc_text_add(out, " and a variance of ");
  words_fixed(verdict->variance, out);
  pc_text_add(out, "; calibrated: 0.500 (chance alone: up to ");
  words_fixed(verdict->mean_margin, out);
  pc_text_add(out, " off) and 0.083 (");
  words_fixed(verdict->variance_margin, out);
  pc_text_add(out, ").");
}

static void words_inside(const pc_verdict *verdict, pc_text *out) {
  words_percent(verdict->inside, out);
  pc_text_add(out, " of targets lie between the quantiles of levels ");
  words_level(verdict->outer[0], out);
  pc_text_add(out, " and ");
  words_level(verdict->outer[1], out);
  pc_text_add(out, "; calibrated: ");
  words_percent(verdict->outer[1] - verdict->outer[0], out);
  pc_text_add(out, " (chance alone: up to ");
  words_points(verdict->inside_margin, out);
  pc_text_add(out, " off). ");
}

static void words_ground_quantiles(const pc_verdict *verdict, pc_text *out) {
  if (verdict->outer[1] > verdict->outer[0])
    words_inside(verdict, out);
  pc_text_add(out, verdict->outer[1] > verdict->outer[0] ? "Most off is level " : "At level ");
  words_level(verdict->level, out);
  pc_text_add(out, verdict->outer[1] > verdict->outer[0] ? ", below whose quantile lie " : " ");
  words_percent(verdict->upto, out);
  pc_text_add(out, verdict->outer[1] > verdict->outer[0] ? " (chance alone: up to "
                                                         : " of targets lie below the quantile "
                                                           "(chance alone: up to ");
  words_points(verdict->level_margin, out);
  pc_text_add(out, " off).");
}

void pc_verdict_basis(const pc_verdict *verdict, pc_text *out) {
  if (verdict->form == PC_FORM_CLASSES)
    words_ground_classes(verdict, out);
  else if (verdict->form == PC_FORM_QUANTILES)
    words_ground_quantiles(verdict, out);
  else
    words_ground_u(verdict, out);
}

/* ---- where, and how much of it is chance ---- */

void pc_verdict_where(const pc_verdict *verdict, pc_text *out) {
  if (!verdict->worst.known || verdict->kind == PC_VERDICT_CALIBRATED)
    return;
  pc_text_add(out, "the largest part of the error, ");
  words_percent(verdict->worst.share, out);
  pc_text_add(out, ", lies at scores from ");
  words_round(verdict->worst.low, 2, out);
  pc_text_add(out, " to ");
  words_round(verdict->worst.high, 2, out);
  pc_text_add(out, " (");
  words_percent(verdict->worst.rows, out);
  pc_text_add(out, " of the rows): claimed ");
  words_percent(verdict->worst.claimed, out);
  pc_text_add(out, ", true ");
  words_percent(verdict->worst.observed, out);
  pc_text_add(out, ".");
}

void pc_verdict_chance(const pc_verdict *verdict, pc_text *out) {
  if (verdict->form != PC_FORM_CLASSES)
    return;
  pc_text_add(out, "the ECE is ");
  words_round(verdict->error, 3, out);
  pc_text_add(out, "; a calibrated model with these scores would show ");
  pc_write_number(verdict->chance, out);
  pc_text_add(out, " on average");
  if (verdict->error > verdict->chance) {
    pc_text_add(out, ", ");
    words_percent(verdict->chance / verdict->error, out);
    pc_text_add(out, " of it");
  }
  pc_text_add(out, ".");
}

/* ---- what to try ---- */

/* "variance-platt" as Python's class: VariancePlatt; "ets": ETS. */
static void words_class(const char *method, pc_text *out) {
  pc_text_add(out, "propercal.");
  for (const char *at = method; *at != '\0';) {
    const size_t length = strcspn(at, "-");
    for (size_t i = 0; i < length; i++) {
      const char letter = (char)(i == 0 || length < 4 ? toupper((unsigned char)at[i]) : at[i]);
      pc_text_add_bytes(out, &letter, 1);
    }
    at += length + (at[length] == '-');
  }
}

static void words_method(const char *method, pcal_words words, pc_text *out) {
  if (words == PCAL_WORDS_PYTHON)
    words_class(method, out);
  else
    pc_text_format(out, "propercal fit --method %s", method);
}

static const char *words_reason(const pc_verdict *verdict) {
  switch (verdict->repair) {
  case PC_REPAIR_SLOPE:
    return verdict->binary ? "scores are too extreme or too flat everywhere, which one factor "
                             "repairs"
                           : "it changes the confidences and keeps every predicted class";
  case PC_REPAIR_SHIFT:
    return verdict->binary ? "all scores are off in the same direction, which an intercept "
                             "repairs and a temperature cannot"
                           : "it changes the confidences and keeps every predicted class";
  case PC_REPAIR_LINE:
    return verdict->binary ? "scores are shifted and stretched, which an intercept and a slope "
                             "repair and a temperature cannot"
                           : "it changes the confidences and keeps every predicted class";
  case PC_REPAIR_SHAPE:
    return verdict->rows >= 1000
               ? "the error changes along the scores in a way that no factor repairs, and "
                 "there "
                 "are rows enough to learn its shape"
               : "the error changes along the scores, but its shape cannot be learnt from so "
                 "few rows; gather more";
  case PC_REPAIR_VARIANCE:
    return "it changes the variances and keeps the means";
  default:
    return "it moves quantiles to where targets really fall";
  }
}

static void words_wider(const pc_verdict *verdict, pcal_words words, pc_text *out) {
  pc_text_format(out,
                 "predict wider ones: targets lie beyond the outermost %s, which "
                 "quantile-isotonic cannot pass",
                 verdict->form == PC_FORM_QUANTILES ? "quantiles" : "samples");
  if (verdict->method == NULL) {
    pc_text_add(out, "; train for levels farther out.");
    return;
  }
  pc_text_add(out, "; or take their means and variances and fit ");
  pc_text_format(out, "%s (", verdict->method);
  words_method(verdict->method, words, out);
  pc_text_add(out, ") to these.");
}

void pc_verdict_advice(const pc_verdict *verdict, pcal_words words, pc_text *out) {
  if (verdict->repair == PC_REPAIR_NONE) {
    pc_text_add(out, "leave it alone.");
  } else if (verdict->repair == PC_REPAIR_GATHER) {
    pc_text_add(out, "leave it alone; with so few rows small errors cannot be seen, so gather "
                     "more before you rely on it.");
  } else if (verdict->repair == PC_REPAIR_GRADED) {
    pc_text_add(out, "every score is 0 or 1, so there is nothing to scale; get graded scores "
                     "from the model.");
  } else if (verdict->repair == PC_REPAIR_OTHER) {
    pc_text_format(out, "another method: %s ranks them on held-out rows.",
                   words == PCAL_WORDS_PYTHON ? "propercal.compare" : "propercal compare");
  } else if (verdict->repair == PC_REPAIR_WIDER) {
    words_wider(verdict, words, out);
  } else {
    pc_text_format(out, "%s (", verdict->method);
    words_method(verdict->method, words, out);
    pc_text_add(out, ")");
    if (verdict->other != NULL) {
      pc_text_format(out, " or %s", verdict->other);
      if (words == PCAL_WORDS_PYTHON) {
        pc_text_add(out, " (");
        words_method(verdict->other, words, out);
        pc_text_add(out, ")");
      }
    }
    pc_text_format(out, " on held-out rows: %s.", words_reason(verdict));
  }
}

/* ---- all of it ---- */

void pc_verdict_warning(const pcal_results *results, pc_text *out) {
  if (results->only_label < 0)
    return;
  pc_text_add(out, "every label is ");
  if ((size_t)results->only_label < results->class_count) {
    pc_text_add(out, "\"");
    pc_text_terminal(out, results->class_names[results->only_label]);
    pc_text_add(out, "\"");
  } else {
    pc_text_format(out, "class %d", (int)results->only_label);
  }
  pc_text_add(out, "; calibration cannot be judged from one class, so check the labels.");
}

static void words_line(const char *about, const pc_text *words, pc_text *out) {
  if (words->length > 0)
    pc_text_format(out, "%s: %s\n", about, words->bytes);
  out->failed |= words->failed;
}

static void words_all(const pcal_results *results, pcal_words words, pc_text part[4],
                      pc_text *out) {
  pc_verdict verdict;
  pc_verdict_judge(results, &verdict);
  pc_verdict_warning(results, &part[0]);
  words_line("Careful", &part[0], out);
  pc_verdict_headline(&verdict, out);
  pc_text_add(out, " ");
  pc_verdict_basis(&verdict, out);
  pc_text_add(out, "\n");
  pc_verdict_where(&verdict, &part[1]);
  words_line("Where", &part[1], out);
  pc_verdict_chance(&verdict, &part[2]);
  words_line("How much of it is chance", &part[2], out);
  pc_verdict_advice(&verdict, words, &part[3]);
  out->failed |= part[3].failed;
  pc_text_format(out, "What to try: %s", part[3].failed ? "" : part[3].bytes);
}

void pc_verdict_text(const pcal_results *results, pcal_words words, pc_text *out) {
  pc_text part[4];
  for (size_t i = 0; i < 4; i++)
    pc_text_init(&part[i], out->env);
  words_all(results, words, part, out);
  for (size_t i = 0; i < 4; i++)
    pc_text_free(&part[i]);
}

pcal_status pc_verdict_store(pcal_results *results, pcal_error *err) {
  pc_text text;
  pc_text_init(&text, &results->env);
  pc_verdict_text(results, results->env.words, &text);
  pc_free(&results->env, results->verdict);
  results->verdict = text.bytes;
  return pc_text_status(&text, err);
}

/* ---- JSON ---- */

const char *pc_verdict_kind_name(pc_verdict_kind kind) {
  static const char *const names[] = {"calibrated", "over-confident", "under-confident",
                                      "too-high",   "too-low",        "uneven",
                                      "too-narrow", "too-wide"};
  return names[kind];
}

const char *pc_repair_name(pc_repair repair) {
  static const char *const names[] = {"none",      "gather", "slope",  "shift",
                                      "line",      "shape",  "graded", "variance",
                                      "quantiles", "wider",  "other"};
  return names[repair];
}

static void words_json_number(pc_json *json, const char *key, double value) {
  pc_json_key(json, key);
  pc_json_number(json, value);
}

static void words_json_classes(const pc_verdict *verdict, pc_json *json) {
  words_json_number(json, "error", verdict->error);
  words_json_number(json, "chance", verdict->chance);
  words_json_number(json, "claimed", verdict->claimed);
  words_json_number(json, "observed", verdict->observed);
  words_json_number(json, "margin", verdict->margin);
  if (!verdict->worst.known)
    return;
  pc_json_key(json, "where");
  pc_json_open(json, '{');
  words_json_number(json, "low", verdict->worst.low);
  words_json_number(json, "high", verdict->worst.high);
  words_json_number(json, "share", verdict->worst.share);
  words_json_number(json, "rows", verdict->worst.rows);
  words_json_number(json, "claimed", verdict->worst.claimed);
  words_json_number(json, "observed", verdict->worst.observed);
  pc_json_close(json, '}');
}

static void words_json_forecast(const pc_verdict *verdict, pc_json *json) {
  pc_json_key(json, "shift");
  pc_json_string(json, verdict->shift > 0 ? "too-high" : verdict->shift < 0 ? "too-low" : NULL);
  if (verdict->form != PC_FORM_QUANTILES) {
    words_json_number(json, "mean", verdict->mean);
    words_json_number(json, "mean_margin", verdict->mean_margin);
    words_json_number(json, "variance", verdict->variance);
    words_json_number(json, "variance_margin", verdict->variance_margin);
    return;
  }
  words_json_number(json, "inside", verdict->inside);
  words_json_number(json, "nominal", verdict->outer[1] - verdict->outer[0]);
  words_json_number(json, "margin", verdict->inside_margin);
  pc_json_key(json, "where");
  pc_json_open(json, '{');
  words_json_number(json, "level", verdict->level);
  words_json_number(json, "share", verdict->upto);
  words_json_number(json, "margin", verdict->level_margin);
  pc_json_close(json, '}');
}

void pc_verdict_json(const pc_verdict *verdict, pc_json *json) {
  pc_json_open(json, '{');
  pc_json_key(json, "kind");
  pc_json_string(json, pc_verdict_kind_name(verdict->kind));
  if (verdict->form == PC_FORM_CLASSES)
    words_json_classes(verdict, json);
  else
    words_json_forecast(verdict, json);
  pc_json_key(json, "advice");
  pc_json_open(json, '{');
  pc_json_key(json, "repair");
  pc_json_string(json, pc_repair_name(verdict->repair));
  pc_json_key(json, "method");
  pc_json_string(json, verdict->method);
  pc_json_key(json, "other");
  pc_json_string(json, verdict->other);
  pc_json_close(json, '}');
  pc_json_close(json, '}');
}
