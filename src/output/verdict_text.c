/* The verdict in sentences. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/number.h"
#include "output/verdict.h"
#include "output/write_results.h"

static pc_form verdict_text_form(const pcal_verdict *verdict) {
  return pc_kind_form(verdict->scores);
}

static void verdict_text_percent(double share, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  pc_number_fixed(100 * share, 1, digits);
  pc_text_format(out, "%s %%", digits);
}

static void verdict_text_points(double share, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  pc_number_fixed(100 * fabs(share), 1, digits);
  pc_text_format(out, "%s points", digits);
}

static void verdict_text_round(double value, int digits, pc_text *out) {
  char text[PC_NUMBER_MAX];
  pc_number_round(value, digits, text);
  pc_text_add(out, text);
}

static void verdict_text_fixed(double value, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  pc_number_fixed(value, 3, digits);
  pc_text_add(out, digits);
}

static void verdict_text_level(double level, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  pc_text_add(out, pc_show(level, digits));
}

/* ---- headline ---- */

static const char *verdict_text_classes(const pcal_verdict *verdict) {
  switch (verdict->kind) {
  case PCAL_VERDICT_OVER_CONFIDENT:
    return verdict->binary ? "Over-confident: probabilities lie too close to 0 and 1."
                           : "Over-confident.";
  case PCAL_VERDICT_UNDER_CONFIDENT:
    return verdict->binary ? "Under-confident: probabilities lie too close to one half."
                           : "Under-confident.";
  case PCAL_VERDICT_TOO_HIGH:
    return "Probabilities too high.";
  case PCAL_VERDICT_TOO_LOW:
    return "Probabilities too low.";
  default:
    return verdict->classes_off > 0 ? "Right on average, but not class by class."
                                    : "Right on average, but wrong in places.";
  }
}

static void verdict_text_forecast(const pcal_verdict *verdict, pc_text *out) {
  const char *what =
      verdict_text_form(verdict) == PC_FORM_QUANTILES ? "quantiles" : "distributions";
  const char *side = verdict->shift > 0 ? "too high" : "too low";
  const int narrow = verdict->kind == PCAL_VERDICT_TOO_NARROW;
  if (verdict->kind == PCAL_VERDICT_UNEVEN)
    pc_text_add(out, "Right overall, but wrong at some levels.");
  else if (!narrow && verdict->kind != PCAL_VERDICT_TOO_WIDE)
    pc_text_format(out, "Predictions are %s.", side);
  else
    pc_text_format(out, "%s-confident: predicted %s are too %s%s%s.", narrow ? "Over" : "Under",
                   what, narrow ? "narrow" : "wide", verdict->shift != 0 ? ", and " : "",
                   verdict->shift != 0 ? side : "");
}

static void verdict_text_headline(const pcal_verdict *verdict, pc_text *out) {
  if (verdict->kind == PCAL_VERDICT_CALIBRATED)
    pc_text_add(out, "Well calibrated, as far as these rows show.");
  else if (verdict_text_form(verdict) == PC_FORM_CLASSES)
    pc_text_add(out, verdict_text_classes(verdict));
  else
    verdict_text_forecast(verdict, out);
}

/* ---- basis ---- */

/* Why the verdict and the tests beside it differ, or which test decides. */
static void verdict_text_test(const pcal_verdict *verdict, pc_text *out) {
  if (verdict->test == NULL)
    return;
  if (isnan(verdict->test_p_value)) {
    pc_text_format(out, " But not in every group: the interval of %s excludes 0.",
                   verdict->test);
    return;
  }
  if (verdict->kind != PCAL_VERDICT_CALIBRATED) {
    pc_text_format(out, " %s contradicts calibration (p = ", verdict->test);
    verdict_text_round(verdict->test_p_value, 2, out);
    pc_text_add(out, "), which the mean and the ECE do not show.");
    return;
  }
  pc_text_add(out, " The smallest p-value, ");
  verdict_text_round(verdict->test_p_value, 2, out);
  pc_text_format(out, " of %s, is within chance for %zu tests.", verdict->test,
                 verdict->test_count);
}

/* True if a class has a name other than its number, such as "1" from the columns p0 and p1. */
static int verdict_text_is_named(const pcal_results *results, size_t class_index) {
  char number[PC_NUMBER_MAX];
  return class_index < results->class_count &&
         strcmp(results->class_names[class_index], pc_show((double)class_index, number)) != 0;
}

/* class 1, or its name in quotes. */
static void verdict_text_class_name(const pcal_results *results, size_t class_index,
                                    pc_text *out) {
  if (!verdict_text_is_named(results, class_index)) {
    pc_text_format(out, "class %zu", class_index);
    return;
  }
  pc_text_add(out, "\"");
  pc_text_terminal(out, results->class_names[class_index]);
  pc_text_add(out, "\"");
}

/* "60.0 % on average and occurs in 50.0 % of the rows: 10.0 points too much (chance ...)". */
static void verdict_text_gap(double claimed, const char *and, double observed, int off,
                             double margin, pc_text *out) {
  verdict_text_percent(claimed, out);
  pc_text_format(out, " on average and %s in ", and);
  verdict_text_percent(observed, out);
  pc_text_add(out, " of the rows");
  if (off) {
    pc_text_add(out, ": ");
    verdict_text_points(claimed - observed, out);
    pc_text_add(out, claimed > observed ? " too much" : " too little");
  }
  pc_text_add(out, " (chance alone: up to ");
  verdict_text_points(margin, out);
  pc_text_add(out, ")");
}

static void verdict_text_worst_class(const pcal_results *results, const pcal_verdict *verdict,
                                     pc_text *out) {
  if (verdict->classes_off == 0)
    return;
  pc_text_format(out, " Of %zu classes %zu %s predicted too often or too rarely, above all ",
                 results->layout.classes, verdict->classes_off,
                 verdict->classes_off == 1 ? "is" : "are");
  verdict_text_class_name(results, verdict->worst_class, out);
  pc_text_add(out, ": predicted with ");
  verdict_text_gap(verdict->class_claimed, "true", verdict->class_observed, 1,
                   verdict->class_margin, out);
  pc_text_add(out, ".");
}

static void verdict_text_basis_classes(const pcal_results *results, const pcal_verdict *verdict,
                                       pc_text *out) {
  if (!verdict->binary)
    pc_text_add(out, "The model claims ");
  else if (results->class_1_bins == NULL || !verdict_text_is_named(results, 1))
    pc_text_add(out, "Class 1 is predicted with ");
  else {
    verdict_text_class_name(results, 1, out);
    pc_text_add(out, " (class 1) is predicted with ");
  }
  verdict_text_gap(verdict->claimed, verdict->binary ? "occurs" : "is right", verdict->observed,
                   verdict->off_average, verdict->margin, out);
  pc_text_add(out, ".");
  verdict_text_worst_class(results, verdict, out);
  verdict_text_test(verdict, out);
}

static void verdict_text_basis_u(const pcal_verdict *verdict, pc_text *out) {
  pc_text_add(out, "The predicted probability of a value up to the target has a mean of ");
  verdict_text_fixed(verdict->mean, out);
  pc_text_add(out, " and a variance of ");
  verdict_text_fixed(verdict->variance, out);
  pc_text_add(out, "; calibrated: 0.500 (chance alone: up to ");
  verdict_text_fixed(verdict->mean_margin, out);
  pc_text_add(out, " off) and 0.083 (");
  verdict_text_fixed(verdict->variance_margin, out);
  pc_text_add(out, ").");
}

static void verdict_text_inside(const pcal_results *results, const pcal_verdict *verdict,
                                pc_text *out) {
  const double tied = results->forecast.places.tied;
  verdict_text_percent(verdict->inside, out);
  pc_text_add(out, " of targets lie between the quantiles of levels ");
  verdict_text_level(verdict->lowest_level, out);
  pc_text_add(out, " and ");
  verdict_text_level(verdict->highest_level, out);
  if (tied > 0) {
    pc_text_add(out, ", where the ");
    verdict_text_percent(tied, out);
    pc_text_add(out, " that equal a quantile count in part");
  }
  pc_text_add(out, "; calibrated: ");
  verdict_text_percent(verdict->highest_level - verdict->lowest_level, out);
  pc_text_add(out, " (chance alone: up to ");
  verdict_text_points(verdict->inside_margin, out);
  pc_text_add(out, " off). The level that is most off is ");
}

static void verdict_text_basis_quantiles(const pcal_results *results,
                                         const pcal_verdict *verdict, pc_text *out) {
  const int several = verdict->highest_level > verdict->lowest_level;
  if (several)
    verdict_text_inside(results, verdict, out);
  else
    pc_text_add(out, "At level ");
  verdict_text_level(verdict->level, out);
  pc_text_add(out, several ? ": " : ", ");
  verdict_text_percent(verdict->level_share, out);
  pc_text_add(out, " of targets lie below the quantile (chance alone: up to ");
  verdict_text_points(verdict->level_margin, out);
  pc_text_add(out, " off).");
}

static void verdict_text_basis(const pcal_results *results, const pcal_verdict *verdict,
                               pc_text *out) {
  if (verdict_text_form(verdict) == PC_FORM_CLASSES)
    verdict_text_basis_classes(results, verdict, out);
  else if (verdict_text_form(verdict) == PC_FORM_QUANTILES)
    verdict_text_basis_quantiles(results, verdict, out);
  else
    verdict_text_basis_u(verdict, out);
}

/* ---- where, and chance ---- */

/* Two columns have two scores in a row. */
static const char *verdict_text_of_class_1(const pcal_results *results) {
  return results->class_1_bins != NULL ? " of class 1" : "";
}

static void verdict_text_where(const pcal_results *results, const pcal_verdict *verdict,
                               pc_text *out) {
  if (!verdict->has_where || verdict->kind == PCAL_VERDICT_CALIBRATED)
    return;
  pc_text_add(out, "the largest part of the error, ");
  verdict_text_percent(verdict->where.share, out);
  pc_text_format(out, ", lies at scores%s from ", verdict_text_of_class_1(results));
  verdict_text_round(verdict->where.low, 2, out);
  pc_text_add(out, " to ");
  verdict_text_round(verdict->where.high, 2, out);
  pc_text_add(out, " (");
  verdict_text_percent(verdict->where.rows, out);
  pc_text_add(out, " of the rows): claimed ");
  verdict_text_percent(verdict->where.claimed, out);
  pc_text_add(out, ", true ");
  verdict_text_percent(verdict->where.observed, out);
  pc_text_add(out, ".");
}

static void verdict_text_chance(const pcal_results *results, const pcal_verdict *verdict,
                                pcal_interface interface, pc_text *out) {
  if (verdict_text_form(verdict) != PC_FORM_CLASSES)
    return;
  pc_text_format(out, "the ECE%s is ", verdict_text_of_class_1(results));
  verdict_text_round(verdict->error, 3, out);
  if (isnan(verdict->chance)) {
    pc_text_format(out,
                   "; as weights differ, %s with %s shows how much a calibrated model would.",
                   results->class_1_bins != NULL ? "ece:view=positive" : "ece",
                   interface == PCAL_INTERFACE_PYTHON ? "null=True"
                   : interface == PCAL_INTERFACE_C    ? "null of pcal_measure_config"
                                                      : "--null");
    return;
  }
  pc_text_add(out, "; a calibrated model with these scores would show ");
  pc_write_number(verdict->chance, out);
  pc_text_add(out, " on average");
  if (verdict->error > verdict->chance) {
    pc_text_add(out, ", ");
    verdict_text_percent(verdict->chance / verdict->error, out);
    pc_text_add(out, " of it");
  }
  pc_text_add(out, ".");
}

/* ---- advice ---- */

/* The Python class of a calibrator: "variance-platt" is VariancePlatt, "ets" is ETS. */
static void verdict_text_class(const char *method, pc_text *out) {
  static const char *const named[][2] = {{"vector", "VectorScaling"},
                                         {"dirichlet-odir", "DirichletODIR"}};
  pc_text_add(out, "propercal.");
  for (size_t i = 0; i < sizeof named / sizeof *named; i++)
    if (strcmp(method, named[i][0]) == 0) {
      pc_text_add(out, named[i][1]);
      return;
    }
  for (const char *at = method; *at != '\0';) {
    const size_t length = strcspn(at, "-");
    for (size_t i = 0; i < length; i++) {
      const char letter = (char)(i == 0 || length < 4 ? toupper((unsigned char)at[i]) : at[i]);
      pc_text_add_bytes(out, &letter, 1);
    }
    at += length + (at[length] == '-');
  }
}

static void verdict_text_method(const char *method, pcal_interface interface, pc_text *out) {
  if (interface == PCAL_INTERFACE_PYTHON)
    verdict_text_class(method, out);
  else if (interface == PCAL_INTERFACE_C)
    pc_text_format(out, "method \"%s\" of pcal_fit_run", method);
  else
    pc_text_format(out, "propercal fit --method %s", method);
}

/* Why a method for confidences suits several classes. */
static const char *verdict_text_confidences(const pcal_verdict *verdict) {
  return verdict->alternative != NULL && strcmp(verdict->alternative, "vector") == 0
             ? "temperature changes the confidences and keeps every predicted class; vector "
               "repairs the frequencies of classes too, and may change predicted classes"
             : "it changes the confidences and keeps every predicted class";
}

static const char *verdict_text_reason(const pcal_verdict *verdict) {
  if (strcmp(verdict->method, "group-boosting") == 0)
    return "it repairs groups that overlap; give it the groups";
  switch (verdict->advice) {
  case PCAL_ADVICE_SLOPE:
    return verdict->binary ? "scores are too extreme or too flat everywhere, which one factor "
                             "repairs"
                           : verdict_text_confidences(verdict);
  case PCAL_ADVICE_SHIFT:
    return verdict->binary ? "all scores are off in the same direction, which an intercept "
                             "repairs and a temperature cannot"
                           : verdict_text_confidences(verdict);
  case PCAL_ADVICE_SLOPE_AND_SHIFT:
    return verdict->binary ? "scores are shifted and stretched, which an intercept and a slope "
                             "repair and a temperature cannot"
                           : verdict_text_confidences(verdict);
  case PCAL_ADVICE_SHAPE:
    return verdict->rows >= 1000
               ? "the error changes along the scores in a way that no factor repairs, and "
                 "there are enough rows to learn its shape"
               : "the error changes along the scores, but its shape cannot be learned from so "
                 "few rows; gather more";
  case PCAL_ADVICE_CLASSES:
    return "some classes are predicted too often and others too rarely, which an intercept for "
           "each class repairs and a temperature cannot";
  case PCAL_ADVICE_VARIANCE:
    return "it changes the variances and keeps the means";
  default:
    return verdict_text_form(verdict) == PC_FORM_QUANTILES &&
                   (verdict->kind == PCAL_VERDICT_TOO_HIGH ||
                    verdict->kind == PCAL_VERDICT_TOO_LOW)
               ? "it moves quantiles to where targets really fall, though not beyond the "
                 "outermost ones"
               : "it moves quantiles to where targets really fall";
  }
}

static void verdict_text_wider(const pcal_verdict *verdict, pcal_interface interface,
                               pc_text *out) {
  pc_text_format(out,
                 "predict wider ones: targets lie beyond the outermost %s, which "
                 "quantile-isotonic cannot extend",
                 verdict_text_form(verdict) == PC_FORM_QUANTILES ? "quantiles" : "samples");
  if (verdict->method == NULL) {
    pc_text_add(out, "; train for levels farther out.");
    return;
  }
  pc_text_format(out, "; or take their means and variances and fit %s (", verdict->method);
  verdict_text_method(verdict->method, interface, out);
  pc_text_add(out, ") to these.");
}

static void verdict_text_try(const pcal_verdict *verdict, pcal_interface interface,
                             pc_text *out) {
  pc_text_format(out, "%s (", verdict->method);
  verdict_text_method(verdict->method, interface, out);
  pc_text_add(out, ")");
  if (verdict->alternative != NULL) {
    pc_text_format(out, " or %s", verdict->alternative);
    if (interface == PCAL_INTERFACE_PYTHON) {
      pc_text_add(out, " (");
      verdict_text_method(verdict->alternative, interface, out);
      pc_text_add(out, ")");
    }
  }
  pc_text_format(out, " on held-out rows: %s.", verdict_text_reason(verdict));
}

static void verdict_text_advice(const pcal_verdict *verdict, pcal_interface interface,
                                pc_text *out) {
  switch (verdict->advice) {
  case PCAL_ADVICE_NONE:
    pc_text_add(out, "leave it alone.");
    break;
  case PCAL_ADVICE_MORE_ROWS:
    pc_text_add(out, "leave it alone; with so few rows small errors cannot be detected, so "
                     "gather more before you rely on it.");
    break;
  case PCAL_ADVICE_GRADED_SCORES:
    pc_text_add(out, "every score is 0 or 1, so there is nothing to scale; get graded scores "
                     "from the model.");
    break;
  case PCAL_ADVICE_OTHER_METHOD:
    pc_text_format(out, "another method: %s ranks them on held-out rows.",
                   interface == PCAL_INTERFACE_PYTHON ? "propercal.compare"
                   : interface == PCAL_INTERFACE_C    ? "pcal_compare_run"
                                                      : "propercal compare");
    break;
  case PCAL_ADVICE_WIDER_PREDICTIONS:
    verdict_text_wider(verdict, interface, out);
    break;
  default:
    verdict_text_try(verdict, interface, out);
  }
}

/* ---- parts and paragraphs ---- */

static void verdict_text_warning(const pcal_results *results, const pcal_verdict *verdict,
                                 pc_text *out) {
  if (results->soft && verdict->advice == PCAL_ADVICE_GRADED_SCORES)
    pc_text_add(out,
                "every score is 0 or 1 and the labels are graded (are the two swapped?). ");
  if (results->soft)
    pc_text_add(out,
                "labels are distributions over classes, and the judgement below takes each "
                "for one class that was drawn from it, so it allows for too much chance.");
  if (results->only_label < 0 || results->soft)
    return;
  pc_text_add(out, "every label is ");
  const size_t only = (size_t)results->only_label;
  if (only < results->class_count) { /* also a number: a label as the data have it */
    pc_text_add(out, "\"");
    pc_text_terminal(out, results->class_names[only]);
    pc_text_add(out, "\"");
  } else {
    verdict_text_class_name(results, only, out);
  }
  pc_text_add(out, "; calibration cannot be judged from one class, so check the labels.");
}

const char *pc_verdict_label(pc_verdict_part part) {
  static const char *const labels[PC_VERDICT_PARTS] = {[PC_VERDICT_WARNING] = "Careful",
                                                       [PC_VERDICT_WHERE] = "Where",
                                                       [PC_VERDICT_CHANCE] =
                                                           "How much of it is chance",
                                                       [PC_VERDICT_ADVICE] = "What to try"};
  return labels[part];
}

void pc_verdict_write(const pcal_results *results, const pcal_verdict *verdict,
                      pc_verdict_part part, pcal_interface interface, pc_text *out) {
  switch (part) {
  case PC_VERDICT_WARNING:
    verdict_text_warning(results, verdict, out);
    break;
  case PC_VERDICT_HEADLINE:
    verdict_text_headline(verdict, out);
    break;
  case PC_VERDICT_BASIS:
    verdict_text_basis(results, verdict, out);
    break;
  case PC_VERDICT_WHERE:
    verdict_text_where(results, verdict, out);
    break;
  case PC_VERDICT_CHANCE:
    verdict_text_chance(results, verdict, interface, out);
    break;
  case PC_VERDICT_ADVICE:
    verdict_text_advice(verdict, interface, out);
    break;
  case PC_VERDICT_PARTS:
    break;
  }
}

/* "LABEL: sentences", or the sentences alone; empty where the part does not apply. */
static void verdict_text_labelled(const pcal_results *results, const pcal_verdict *verdict,
                                  pc_verdict_part part, pcal_interface interface,
                                  pc_text *out) {
  const char *label = pc_verdict_label(part);
  if (label != NULL)
    pc_text_format(out, "%s: ", label);
  const size_t begin = out->length;
  pc_verdict_write(results, verdict, part, interface, out);
  if (out->length == begin)
    out->length = 0;
}

void pc_verdict_paragraphs(const pcal_results *results, pcal_interface interface,
                           pc_verdict_paragraph_use use, pc_text *out) {
  pcal_verdict verdict;
  pc_verdict_judge(results, &verdict);
  for (int part = 0; part < PC_VERDICT_PARTS; part++) {
    pc_text paragraph;
    pc_text_init(&paragraph, out->env);
    verdict_text_labelled(results, &verdict, (pc_verdict_part)part, interface, &paragraph);
    if (part == PC_VERDICT_HEADLINE) {
      pc_text_add(&paragraph, " ");
      pc_verdict_write(results, &verdict, PC_VERDICT_BASIS, interface, &paragraph);
      part = PC_VERDICT_BASIS;
    }
    if (paragraph.length > 0 && !paragraph.failed)
      use(paragraph.bytes, out);
    out->failed |= paragraph.failed;
    pc_text_free(&paragraph);
  }
}

static void verdict_text_line(const char *paragraph, pc_text *out) {
  pc_text_add(out, out->length > 0 ? "\n" : "");
  pc_text_add(out, paragraph);
}

void pc_verdict_text(const pcal_results *results, pcal_interface interface, pc_text *out) {
  pc_verdict_paragraphs(results, interface, verdict_text_line, out);
}

pcal_status pc_verdict_attach(pcal_results *results, pcal_error *err) {
  if (results->layout.form == PC_FORM_DISTANCES)
    return PCAL_OK;
  if (results->verdict != NULL) {
    pc_free(&results->env, results->verdict->text);
    results->verdict->text = NULL;
    return PCAL_OK;
  }
  pc_verdict_note *note = pc_alloc(&results->env, 1, sizeof *note);
  if (note == NULL || !pc_mutex_init(&note->lock)) {
    pc_free(&results->env, note);
    return pc_fail_memory(err, "writing text");
  }
  results->verdict = note;
  return PCAL_OK;
}

const char *pc_verdict_sentences(const pcal_results *results, int *failed) {
  pc_verdict_note *note = results->verdict;
  if (note == NULL)
    return NULL;
  pc_mutex_lock(&note->lock);
  if (note->text == NULL) {
    pc_text text;
    pc_text_init(&text, &results->env);
    pc_verdict_text(results, results->env.caller, &text);
    *failed |= text.failed;
    if (text.failed)
      pc_text_free(&text);
    note->text = text.bytes;
  }
  const char *sentences = note->text;
  pc_mutex_unlock(&note->lock);
  return sentences;
}
