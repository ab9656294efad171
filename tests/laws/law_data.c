#include "law_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "emulated.h"

#define LAW_SEED 20220607
#define LAW_EIGHTHS 8

enum { LAW_LABELS = 1, LAW_WHOLE, LAW_FRACTIONAL, LAW_GROUP, LAW_SCORES = 100 };

typedef struct law_shape {
  const char *name;
  pcal_kind kind;
  pcal_type type;
  size_t rows, columns;
} law_shape;

static const law_shape law_shapes[] = {
    {"logits of 10 classes, float32", PCAL_LOGIT, PCAL_F32, 400, 10},
    {"probabilities of 3 classes with ties", PCAL_PROBABILITY, PCAL_F64, 300, 3},
    {"binary probabilities with ties", PCAL_PROBABILITY, PCAL_F64, 300, 1},
    {"binary logits, float32", PCAL_LOGIT, PCAL_F32, 300, 1},
    {"log-probabilities with -inf", PCAL_LOG_PROBABILITY, PCAL_F64, 300, 4},
    {"confidences", PCAL_CONFIDENCE, PCAL_F64, 300, 1},
    {"means and variances with ties", PCAL_MEAN_VARIANCE, PCAL_F64, 200, 2},
    {"means and standard deviations, float32", PCAL_MEAN_STD, PCAL_F32, 200, 2},
    {"quantiles with ties", PCAL_QUANTILES, PCAL_F64, 200, 5},
    {"samples with ties", PCAL_SAMPLES, PCAL_F64, 200, 8},
    {"samples for several targets", PCAL_SAMPLE_VECTORS, PCAL_F64, 200, 8},
};

static const law_shape law_large = {"logits of 256 classes", PCAL_LOGIT, PCAL_F32, 1024, 256};
static const law_shape law_narrow = {"logits of 14 classes", PCAL_LOGIT, PCAL_F32, 20000, 14};

size_t law_set_count(void) {
  return sizeof law_shapes / sizeof *law_shapes;
}

size_t law_class_set_count(void) {
  size_t count = 0;
  while (law_shapes[count].kind < PCAL_MEAN_VARIANCE)
    count++;
  return count;
}

size_t law_score_size(const law_set *set) {
  return set->type == PCAL_F32 ? sizeof(float) : sizeof(double);
}

size_t law_below(uint64_t stream, uint64_t draw, size_t limit) {
  const pc_rng rng = {LAW_SEED, stream};
  return (size_t)(pc_rng_bits(&rng, draw) % limit);
}

size_t *law_permutation(uint64_t stream, size_t count) {
  size_t *order = malloc((count + 1) * sizeof *order);
  for (size_t i = 0; i < count; i++)
    order[i] = i;
  for (size_t i = count; i > 1; i--) {
    const size_t other = law_below(stream, i, i), kept = order[i - 1];
    order[i - 1] = order[other];
    order[other] = kept;
  }
  return order;
}

static void law_store(law_set *set, size_t at, double value) {
  if (set->type == PCAL_F32)
    ((float *)set->scores)[at] = (float)value;
  else
    ((double *)set->scores)[at] = value;
}

/* Normal logits; the label is drawn from logits half as large: an over-confident model. */
static void law_fill_logits(law_set *set) {
  const pc_rng scores = {LAW_SEED, LAW_SCORES}, labels = {LAW_SEED, LAW_LABELS};
  for (size_t i = 0; i < set->rows; i++) {
    double best = -INFINITY;
    for (size_t j = 0; j < set->columns; j++) {
      const uint64_t draw = i * set->columns + j;
      const double logit = 3 * pc_rng_normal(&scores, draw);
      const double chosen = logit / 2 - log(-log(pc_rng_uniform(&labels, draw)));
      law_store(set, (size_t)draw, logit);
      if (chosen > best)
        set->labels[i] = (int32_t)j;
      best = fmax(best, chosen);
    }
    if (set->columns == 1)
      set->labels[i] = best > 1;
  }
}

/* Eighths that sum to one: exact, with many ties, zeros and ones.  One label in twenty is
 * drawn without looking at the probabilities, so that some true classes have probability 0;
 * some rows sum to 1 + 1e-6, which is used as stored. */
static void law_fill_eighths(law_set *set) {
  for (size_t i = 0; i < set->rows; i++) {
    size_t left = LAW_EIGHTHS, at = law_below(LAW_LABELS, i, LAW_EIGHTHS);
    const size_t first = law_below(LAW_SCORES, i, set->columns);
    set->labels[i] = (int32_t)first;
    for (size_t j = 0; j < set->columns; j++) {
      const size_t class = (first + j) % set->columns;
      const size_t part = j + 1 == set->columns
                              ? left
                              : law_below(LAW_SCORES + 1, i * set->columns + j, left + 1);
      const double p = (double)part / LAW_EIGHTHS + (i % 7 == 3 && j == 0 ? 1e-6 : 0.0);
      law_store(set, i * set->columns + class, set->kind == PCAL_LOG_PROBABILITY ? log(p) : p);
      if (at < part)
        set->labels[i] = (int32_t) class;
      at = at < part ? LAW_EIGHTHS : at - part;
      left -= part;
    }
    if (i % 20 == 11)
      set->labels[i] = (int32_t)law_below(LAW_LABELS + 50, i, set->columns);
  }
}

/* One column on a grid of twentieths, 0 and 1 included, every third row off the grid. */
static void law_fill_single(law_set *set) {
  const pc_rng scores = {LAW_SEED, LAW_SCORES}, labels = {LAW_SEED, LAW_LABELS};
  for (size_t i = 0; i < set->rows; i++) {
    const double p = i % 3 == 0 ? pc_rng_uniform(&scores, i)
                                : (double)law_below(LAW_SCORES + 1, i, 21) / 20.0;
    law_store(set, i, p);
    set->labels[i] = pc_rng_uniform(&labels, i) < 0.2 + 0.6 * p;
  }
}

/* Numbers on a grid of quarters, every third row off the grid; targets spread more widely than
 * predicted.  Some samples of a row are equal, and in some rows all. */
static void law_fill_forecasts(law_set *set) {
  const pc_rng scores = {LAW_SEED, LAW_SCORES}, targets = {LAW_SEED, LAW_LABELS};
  for (size_t i = 0; i < set->rows; i++) {
    const double mean = floor(8 * pc_rng_normal(&scores, i)) / 4;
    const double width = 0.25 * (double)(1 + law_below(LAW_SCORES + 1, i, 6));
    const double off = i % 3 == 0 ? 0.1 * pc_rng_uniform(&scores, i + 9999) : 0.0;
    const double far = 2 * width * pc_rng_normal(&targets, i);
    set->targets[i] = mean + (i % 3 == 0 ? far : floor(4 * far) / 4);
    for (size_t j = 0; j < set->columns; j++) {
      const size_t at = i * set->columns + j;
      const double step = (double)j - 0.5 * (double)(set->columns - 1);
      const double drawn = floor(4 * width * pc_rng_normal(&scores, at + 100000)) / 4;
      if (set->kind == PCAL_QUANTILES)
        law_store(set, at, mean + (i % 7 == 4 ? 0.0 : floor(4 * width * step) / 4 + off));
      else if (set->kind == PCAL_SAMPLES || set->kind == PCAL_SAMPLE_VECTORS)
        law_store(set, at, mean + (i % 20 == 11 ? 0.0 : drawn + off));
      else
        law_store(set, at, j == 0 ? mean + off : width);
    }
  }
}

static void law_fill_beside(law_set *set) {
  static const uint32_t groups[] = {0, 1, 3};
  const pc_rng fractions = {LAW_SEED, LAW_FRACTIONAL};
  for (size_t i = 0; i < set->rows; i++) {
    set->whole[i] = (double)law_below(LAW_WHOLE, i, 5);
    set->fractional[i] = i % 10 == 7 ? 0.0 : 3 * pc_rng_uniform(&fractions, i);
    set->groups[i] = groups[law_below(LAW_GROUP, i, 3)];
  }
}

/* A quarter of the rows under an emulator, but not fewer than 100. */
static size_t law_rows(const law_shape *shape) {
  if (!emulated())
    return shape->rows;
  return shape->rows / 4 > 100 ? shape->rows / 4 : 100;
}

static law_set *law_set_new(const law_shape *shape) {
  law_set *set = calloc(1, sizeof *set);
  set->name = shape->name;
  set->kind = shape->kind;
  set->type = shape->type;
  set->rows = law_rows(shape);
  set->columns = shape->columns;
  set->scores = calloc(set->rows * set->columns, sizeof(double));
  set->labels = calloc(set->rows, sizeof *set->labels);
  set->whole = calloc(set->rows, sizeof *set->whole);
  set->fractional = calloc(set->rows, sizeof *set->fractional);
  set->groups = calloc(set->rows, sizeof *set->groups);
  set->targets = calloc(set->rows, sizeof *set->targets);
  law_fill_beside(set);
  if (set->kind == PCAL_QUANTILES) {
    set->levels = calloc(set->columns, sizeof *set->levels);
    for (size_t j = 0; j < set->columns; j++)
      set->levels[j] = (double)(j + 1) / (double)(set->columns + 1);
  }
  if (set->kind >= PCAL_MEAN_VARIANCE)
    law_fill_forecasts(set);
  else if (set->kind == PCAL_LOGIT)
    law_fill_logits(set);
  else if (set->columns == 1)
    law_fill_single(set);
  else
    law_fill_eighths(set);
  return set;
}

law_set *law_set_make(size_t index) {
  return law_set_new(&law_shapes[index]);
}

law_set *law_set_large(void) {
  return law_set_new(&law_large);
}

law_set *law_set_narrow(void) {
  return law_set_new(&law_narrow);
}

void law_set_free(law_set *set) {
  free(set->scores);
  free(set->labels);
  free(set->targets);
  free(set->levels);
  free(set->whole);
  free(set->fractional);
  free(set->groups);
  free(set);
}

double *law_scores_as_doubles(const law_set *set) {
  const size_t count = set->rows * set->columns;
  double *copy = malloc(count * sizeof *copy);
  for (size_t i = 0; i < count; i++)
    copy[i] = set->type == PCAL_F32 ? (double)((const float *)set->scores)[i]
                                    : ((const double *)set->scores)[i];
  return copy;
}
