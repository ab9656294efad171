/* Labels: one uniform draw u for each copy.  The class of the natural view (the predicted
 * class, or class 1) is drawn if u is below its probability; its hits are then the same whether
 * or not the other probabilities are stored.  The other classes follow in order, in proportion
 * to their probabilities.
 *
 * Copies: up to DRAWS_UNITS copies draw one by one.  Of more copies, each class in turn takes a
 * binomial share of the rest.  Normal predictions draw up to DRAWS_CELLS targets one by one;
 * more copies are split over as many cells of equal probability.  The outermost cells are
 * halved until few copies are left.  The copies in a cell share a target drawn inside it: the
 * relative error of the variance of a mean of m copies is below m / 10^8.
 *
 * Edge cases:
 *   (1) Poisson counts with a mean above 1e6 are rounded normal draws;
 *   (2) a row whose other probabilities are all 0 and that misses the first class draws the
 *       lowest other class. */
#include "measure/replicas/draws.h"

#include <math.h>

#include "base/normal.h"
#include "base/rng.h"
#include "kernels/dispatch.h"

#define DRAWS_POISSON_MAX 1e6
#define DRAWS_UNITS 16
#define DRAWS_CELLS 512
#define DRAWS_ROWS 256 /* rows drawn together */
#define DRAWS_TAIL 100 /* upper bound on the shares of an outermost cell */

enum {
  DRAWS_WEIGHT_STREAM = 1,
  DRAWS_LABEL_STREAM = 3,
  DRAWS_BLOCK_STREAM,
  DRAWS_OTHER_STREAM = 6
};

static pc_rng draws_rng(uint64_t seed, unsigned stream, size_t replica) {
  return (pc_rng){seed, ((uint64_t)stream << 40) + replica};
}

/* A generator for the copies of one row. */
static pc_rng draws_of_row(uint64_t seed, unsigned stream, size_t replica, uint64_t key) {
  const pc_rng rng = draws_rng(seed, stream, replica);
  return (pc_rng){pc_rng_bits(&rng, key), rng.stream};
}

double pc_draw_count(uint64_t seed, size_t replica, uint64_t key, double copies) {
  const pc_rng rng = draws_rng(seed, DRAWS_WEIGHT_STREAM, replica);
  if (copies <= DRAWS_POISSON_MAX)
    return (double)pc_rng_poisson(&rng, key, copies);
  return fmax(floor(copies + sqrt(copies) * pc_rng_normal(&rng, key) + 0.5), 0.0);
}

#define DRAWS_TERMS \
  ((size_t)PC_POISSON_SMALL) /* copies whose counts are drawn by terms, and more */

/* Probabilities of counts, by the number of copies; filled when first needed. */
typedef struct draws_terms {
  int known[DRAWS_TERMS];
  double of[DRAWS_TERMS][PC_POISSON_TERMS];
} draws_terms;

/* Counts of one row, from uniform draws if it has few copies. */
static void draws_count_row(uint64_t seed, size_t first, uint64_t key, double copies,
                            const double *u, draws_terms *terms, float *out) {
  const size_t whole = copies < (double)DRAWS_TERMS ? (size_t)copies : 0;
  if (whole == 0 || (double)whole != copies) {
    for (size_t q = 0; q < PC_REPLICA_LANES; q++)
      out[q] = (float)pc_draw_count(seed, first + q, key, copies);
    return;
  }
  if (!terms->known[whole])
    pc_poisson_terms(copies, terms->of[whole]);
  terms->known[whole] = 1;
  pc_kernels_best()->replica_sum->poisson(terms->of[whole], u, out);
}

void pc_draw_count_lanes(uint64_t seed, size_t first, const pc_kept_rows *rows, float *out) {
  const pc_rng rng = draws_rng(seed, DRAWS_WEIGHT_STREAM, first);
  double u[DRAWS_ROWS * PC_REPLICA_LANES];
  draws_terms terms = {.known = {0}};
  for (size_t begin = 0; begin < rows->count; begin += DRAWS_ROWS) {
    const size_t left = rows->count - begin, some = left < DRAWS_ROWS ? left : DRAWS_ROWS;
    size_t several = 0;
    for (size_t i = begin; i < begin + some; i++)
      several += rows->copies[i] > 1.0;
    if (several > 0)
      pc_kernels_best()->replica_sum->uniforms(rng.seed, rng.stream, rows->ids + begin, some,
                                               u);
    for (size_t i = begin; several > 0 && i < begin + some; i++)
      if (rows->copies[i] > 1.0)
        draws_count_row(seed, first, rows->ids[i], rows->copies[i],
                        u + (i - begin) * PC_REPLICA_LANES, &terms, out + i * PC_REPLICA_LANES);
  }
}

/* ---- blocks ---- */

/* The copies that are not in a block before `first`. */
static double draws_left(const pc_rng *own, double copies, size_t blocks, size_t first) {
  for (size_t b = 0; b < first; b += PC_DRAWS_BATCH)
    copies -= pc_rng_binomial(own, b, copies, PC_DRAWS_BATCH / (double)(blocks - b));
  return copies;
}

void pc_draw_blocks(uint64_t seed, uint64_t key, double copies, size_t blocks, size_t first,
                    double out[PC_DRAWS_BATCH]) {
  const pc_rng rng = draws_rng(seed, DRAWS_BLOCK_STREAM, 0);
  const pc_rng own = draws_of_row(seed, DRAWS_BLOCK_STREAM, 0, key);
  for (size_t q = 0; q < PC_DRAWS_BATCH; q++)
    out[q] = 0.0;
  for (size_t u = 0; copies <= DRAWS_UNITS && u < (size_t)copies; u++) {
    const uint64_t bits = copies == 1.0 ? pc_rng_bits(&rng, key) : pc_rng_bits(&own, u);
    const size_t block = (size_t)(bits % blocks);
    if (block >= first && block < first + PC_DRAWS_BATCH)
      out[block - first]++;
  }
  if (copies <= DRAWS_UNITS)
    return;
  const size_t here = blocks - first < PC_DRAWS_BATCH ? blocks - first : PC_DRAWS_BATCH;
  double left = draws_left(&own, copies, blocks, first);
  left = here == blocks - first
             ? left
             : pc_rng_binomial(&own, first, left, (double)here / (double)(blocks - first));
  for (size_t q = 0; q < here; q++) {
    out[q] = pc_rng_binomial(&own, blocks + first + q, left, 1.0 / (double)(here - q));
    left -= out[q];
  }
}

/* ---- shares ---- */

void pc_drawn_outcomes_free(const pcal_env *env, pc_drawn_outcomes *outcomes) {
  pc_free(env, outcomes->list);
  pc_free(env, outcomes->begin);
  *outcomes = (pc_drawn_outcomes){0};
}

void pc_drawn_outcomes_clear(pc_drawn_outcomes *outcomes) {
  outcomes->count = 0;
  outcomes->row_count = 0;
}

size_t pc_drawn_outcomes_end(const pc_drawn_outcomes *outcomes, size_t row) {
  return row + 1 < outcomes->row_count ? outcomes->begin[row + 1] : outcomes->count;
}

double pc_drawn_outcomes_copies(const pc_drawn_outcomes *outcomes, size_t row, int32_t label) {
  const size_t end = pc_drawn_outcomes_end(outcomes, row);
  size_t low = outcomes->begin[row], high = end;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (outcomes->list[middle].outcome < label)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && outcomes->list[low].outcome == label ? outcomes->list[low].copies : 0.0;
}

/* Begins a row with up to `most` outcomes. */
static pcal_status draws_open(const pcal_env *env, size_t most, pc_drawn_outcomes *outcomes,
                              pcal_error *err) {
  void *list = outcomes->list, *begin = outcomes->begin;
  pcal_status status = pc_reserve(env, &list, &outcomes->capacity, outcomes->count + most,
                                  sizeof *outcomes->list, err);
  outcomes->list = list;
  if (status == PCAL_OK)
    status = pc_reserve(env, &begin, &outcomes->row_capacity, outcomes->row_count + 1,
                        sizeof *outcomes->begin, err);
  outcomes->begin = begin;
  if (status == PCAL_OK)
    outcomes->begin[outcomes->row_count++] = outcomes->count;
  return status;
}

static void draws_append(pc_drawn_outcomes *outcomes, double outcome, double copies) {
  if (copies > 0.0)
    outcomes->list[outcomes->count++] = (pc_drawn_outcome){outcome, copies};
}

/* Adds copies with a label to the last row. */
static void draws_add(pc_drawn_outcomes *outcomes, double outcome, double copies) {
  const size_t begin = outcomes->begin[outcomes->row_count - 1];
  size_t at = outcomes->count;
  if (!(copies > 0.0))
    return;
  while (at > begin && outcomes->list[at - 1].outcome > outcome)
    at--;
  if (at > begin && outcomes->list[at - 1].outcome == outcome) {
    outcomes->list[at - 1].copies += copies;
    return;
  }
  for (size_t i = outcomes->count; i > at; i--)
    outcomes->list[i] = outcomes->list[i - 1];
  outcomes->list[at] = (pc_drawn_outcome){outcome, copies};
  outcomes->count++;
}

/* ---- labels ---- */

int32_t pc_draw_first(const pc_kept_rows *rows, size_t row) {
  return rows->top_label == NULL ? 1 : rows->top_label[row];
}

static double draws_positive(double p) {
  return p > 0.0 ? p : 0.0;
}

/* Sum of the probabilities of the other classes. */
static double draws_rest(const double *probs, size_t classes, int32_t first) {
  double sum = 0.0;
  for (size_t k = 0; k < classes; k++)
    sum += (int32_t)k == first ? 0.0 : draws_positive(probs[k]);
  return sum;
}

static double draws_row_rest(const pc_kept_rows *rows, size_t row, int32_t first) {
  return rows->probs == NULL
             ? 0.0
             : draws_rest(rows->probs + row * rows->classes, rows->classes, first);
}

/* One of the other classes; u in (0, 1), rest: the sum of their probabilities. */
static int32_t draws_other(const pc_kept_rows *rows, size_t row, int32_t first, double u,
                           double rest) {
  const int32_t lowest = first == 0;
  if (rows->probs == NULL)
    return lowest;
  const double *probs = rows->probs + row * rows->classes;
  const double wanted = u * rest;
  double sum = 0.0;
  int32_t last = lowest;
  for (size_t k = 0; k < rows->classes; k++) {
    if ((int32_t)k == first || !(probs[k] > 0.0))
      continue;
    sum += probs[k];
    last = (int32_t)k;
    if (wanted < sum)
      break;
  }
  return last;
}

static int32_t draws_label(const pc_kept_rows *rows, size_t row, double u) {
  const int32_t first = pc_draw_first(rows, row);
  const double p = rows->score[row];
  return u < p ? first
               : draws_other(rows, row, first, (u - p) / (1.0 - p),
                             draws_row_rest(rows, row, first));
}

int32_t pc_draw_label(uint64_t seed, size_t replica, const pc_kept_rows *rows, size_t row) {
  const pc_rng rng = draws_rng(seed, DRAWS_LABEL_STREAM, replica);
  return draws_label(rows, row, pc_rng_uniform(&rng, rows->ids[row]));
}

int32_t pc_draw_other_label(uint64_t seed, size_t draw, const pc_kept_rows *rows, size_t row) {
  const pc_rng rng = draws_rng(seed, DRAWS_OTHER_STREAM, draw);
  const int32_t first = pc_draw_first(rows, row);
  return draws_other(rows, row, first, pc_rng_uniform(&rng, rows->ids[row]),
                     draws_row_rest(rows, row, first));
}

/* The labels of a row for given uniform draws; returns a bit for each that is pc_draw_first. */
static uint8_t draws_label_lanes(const pc_kept_rows *rows, size_t row, const double *u,
                                 int32_t *out) {
  const int32_t first = pc_draw_first(rows, row);
  const double p = rows->score[row];
  uint32_t hits = 0;
  for (size_t q = 0; q < PC_REPLICA_LANES; q++) {
    out[q] = first;
    hits |= (uint32_t)(u[q] < p) << q;
  }
  if (hits == (1U << PC_REPLICA_LANES) - 1)
    return (uint8_t)hits;
  const double rest = draws_row_rest(rows, row, first);
  int32_t others[PC_REPLICA_LANES];
  for (size_t q = 0; q < PC_REPLICA_LANES; q++)
    others[q] = first == 0;
  if (rows->probs != NULL) {
    double wanted[PC_REPLICA_LANES];
    for (size_t q = 0; q < PC_REPLICA_LANES; q++)
      wanted[q] = (u[q] - p) / (1.0 - p) * rest;
    pc_kernels_best()->replica_sum->draw_class(rows->probs + row * rows->classes, rows->classes,
                                               first, wanted, others);
  }
  for (size_t q = 0; q < PC_REPLICA_LANES; q++)
    out[q] = u[q] < p ? first : others[q];
  return (uint8_t)hits;
}

void pc_draw_label_lanes(uint64_t seed, size_t first, const pc_kept_rows *rows, int32_t *out,
                         uint8_t *hits) {
  const pc_rng rng = draws_rng(seed, DRAWS_LABEL_STREAM, first);
  double u[DRAWS_ROWS * PC_REPLICA_LANES];
  for (size_t begin = 0; begin < rows->count; begin += DRAWS_ROWS) {
    const size_t left = rows->count - begin, some = left < DRAWS_ROWS ? left : DRAWS_ROWS;
    pc_kernels_best()->replica_sum->uniforms(rng.seed, rng.stream, rows->ids + begin, some, u);
    for (size_t i = 0; i < some; i++)
      hits[begin + i] = draws_label_lanes(rows, begin + i, u + i * PC_REPLICA_LANES,
                                          out + (begin + i) * PC_REPLICA_LANES);
  }
}

/* The other classes: each takes a binomial share of the copies that are left. */
static void draws_split_rest(const pc_rng *own, const pc_kept_rows *rows, size_t row,
                             int32_t first, double copies, pc_drawn_outcomes *outcomes) {
  const int32_t lowest = first == 0;
  const double *probs = rows->probs == NULL ? NULL : rows->probs + row * rows->classes;
  double rest = probs == NULL ? 0.0 : draws_rest(probs, rows->classes, first);
  for (size_t k = 0; k < rows->classes && rest > 0.0 && copies > 0.0; k++) {
    const double p = (int32_t)k == first ? 0.0 : draws_positive(probs[k]);
    const double share = pc_rng_binomial(own, k + 1, copies, p / rest);
    draws_add(outcomes, (double)k, share);
    copies -= share;
    rest -= p;
  }
  draws_add(outcomes, lowest, copies);
}

/* The labels of a row of several copies, from the generator `own` of the row and its first two
 * uniform draws. */
static pcal_status draws_copies(const pcal_env *env, const pc_rng *own, const double *start,
                                const pc_kept_rows *rows, size_t row,
                                pc_drawn_outcomes *outcomes, pcal_error *err) {
  const double copies = rows->copies[row], p = rows->score[row];
  const int32_t first = pc_draw_first(rows, row);
  const size_t labels = rows->classes > 1 ? rows->classes : 2;
  PC_TRY(draws_open(env, copies < (double)labels ? (size_t)copies : labels, outcomes, err));
  if (copies <= DRAWS_UNITS) {
    const size_t count = (size_t)copies;
    double u[DRAWS_UNITS] = {start[0], start[1]};
    size_t drew_first = 0;
    if (count > 2)
      pc_rng_uniforms(own, 2, count - 2, u + 2);
    for (size_t c = 0; c < count; c++)
      drew_first += u[c] < p;
    draws_add(outcomes, first, (double)drew_first);
    const double rest = drew_first < count ? draws_row_rest(rows, row, first) : 0.0;
    for (size_t c = 0; c < count && drew_first < count; c++)
      if (!(u[c] < p))
        draws_add(outcomes, draws_other(rows, row, first, (u[c] - p) / (1.0 - p), rest), 1.0);
    return PCAL_OK;
  }
  const double hits = pc_rng_binomial(own, 0, copies, p);
  draws_add(outcomes, first, hits);
  draws_split_rest(own, rows, row, first, copies - hits, outcomes);
  return PCAL_OK;
}

pcal_status pc_draw_labels(const pcal_env *env, uint64_t seed, size_t replica,
                           const pc_kept_rows *rows, size_t row, pc_drawn_outcomes *outcomes,
                           pcal_error *err) {
  const pc_rng own = draws_of_row(seed, DRAWS_LABEL_STREAM, replica, rows->ids[row]);
  double start[2];
  pc_rng_uniforms(&own, 0, 2, start);
  return draws_copies(env, &own, start, rows, row, outcomes, err);
}

/* The labels of up to DRAWS_ROWS rows; the draws of all of them are computed together. */
static pcal_status draws_rows(const pcal_env *env, size_t replica, const pc_kept_rows *rows,
                              size_t begin, size_t count, pc_drawn_outcomes *outcomes,
                              int32_t *labels, pcal_error *err) {
  const pc_replica_sum_kernels *kernels = pc_kernels_best()->replica_sum;
  const pc_rng rng = draws_rng(env->seed, DRAWS_LABEL_STREAM, replica);
  uint64_t bits[DRAWS_ROWS];
  double starts[2 * DRAWS_ROWS];
  kernels->bits(rng.seed, rng.stream, rows->ids + begin, count, bits);
  kernels->seeded_uniforms(bits, rng.stream, count, starts);
  for (size_t i = 0; i < count; i++) {
    const size_t row = begin + i;
    const pc_rng own = {bits[i], rng.stream};
    if (rows->copies[row] == 1.0) {
      labels[row] = draws_label(rows, row, pc_rng_unit(bits[i]));
      continue;
    }
    labels[row] = -1 - (int32_t)outcomes->row_count;
    PC_TRY(draws_copies(env, &own, starts + 2 * i, rows, row, outcomes, err));
  }
  return PCAL_OK;
}

/* ---- targets ---- */

/* A target at one of the n + 1 equally probable ranks among n ascending samples: just above the
 * sample below this rank or just below the one above it, chosen at random; if these samples are
 * equal, their value.  place = 2 * rank + (0: below the upper sample, 1: above the lower). */
static double draws_rank(const double *samples, size_t count, size_t place) {
  const size_t rank = place / 2;
  const int under = place % 2 == 0;
  if (rank == 0 || (under && rank < count && samples[rank] > samples[rank - 1]))
    return nextafter(samples[rank], -INFINITY);
  if (rank >= count || samples[rank] > samples[rank - 1])
    return nextafter(samples[rank >= count ? count - 1 : rank - 1], INFINITY);
  return samples[rank];
}

static double draws_target(const pc_layout *layout, const double *forecast, double u) {
  if (layout->form == PC_FORM_GAUSSIAN)
    return forecast[0] + forecast[1] * pc_normal_quantile(u);
  return draws_rank(forecast, layout->columns,
                    (size_t)(u * 2.0 * (double)(layout->columns + 1)));
}

double pc_draw_target(uint64_t seed, size_t replica, const pc_layout *layout,
                      const pc_kept_rows *rows, size_t row) {
  const pc_rng rng = draws_rng(seed, DRAWS_LABEL_STREAM, replica);
  return draws_target(layout, rows->probs + row * rows->classes,
                      pc_rng_uniform(&rng, rows->ids[row]));
}

/* The copies in the outermost cell of a normal prediction: lower side if sign is 1, else
 * upper. */
static void draws_tail(const pc_rng *own, const double *forecast, double sign, double copies,
                       pc_drawn_outcomes *outcomes) {
  uint64_t index = 2 * DRAWS_CELLS + (sign > 0 ? 0 : 4 * DRAWS_TAIL);
  double mass = 1.0 / DRAWS_CELLS;
  while (copies > DRAWS_UNITS && mass > 0x1p-80) {
    const double near = pc_rng_binomial(own, index, copies, 0.5);
    const double u = mass * (0.5 + 0.5 * pc_rng_uniform(own, index + 1));
    draws_append(outcomes, forecast[0] + sign * forecast[1] * pc_normal_quantile(u), near);
    copies -= near;
    mass *= 0.5;
    index += 2;
  }
  for (; copies > 0.0; copies--) {
    const double u = mass * pc_rng_uniform(own, index++);
    draws_append(outcomes, forecast[0] + sign * forecast[1] * pc_normal_quantile(u), 1.0);
  }
}

/* The targets of many copies of a normal prediction. */
static void draws_split_normal(const pc_rng *own, const double *forecast, double copies,
                               pc_drawn_outcomes *outcomes) {
  for (size_t c = 0; c < DRAWS_CELLS && copies > 0.0; c++) {
    const double share = pc_rng_binomial(own, 2 * c, copies, 1.0 / (double)(DRAWS_CELLS - c));
    const double u = ((double)c + pc_rng_uniform(own, 2 * c + 1)) / DRAWS_CELLS;
    copies -= share;
    if (c == 0 || c + 1 == DRAWS_CELLS)
      draws_tail(own, forecast, c == 0 ? 1.0 : -1.0, share, outcomes);
    else
      draws_append(outcomes, forecast[0] + forecast[1] * pc_normal_quantile(u), share);
  }
}

/* The ranks that many copies drew among the members of an ensemble. */
static void draws_split_ranks(const pc_rng *own, const double *forecast, size_t members,
                              double copies, pc_drawn_outcomes *outcomes) {
  const size_t places = 2 * (members + 1);
  for (size_t j = 0; j < places && copies > 0.0; j++) {
    const double share = pc_rng_binomial(own, j, copies, 1.0 / (double)(places - j));
    draws_append(outcomes, draws_rank(forecast, members, j), share);
    copies -= share;
  }
}

pcal_status pc_draw_targets(const pcal_env *env, uint64_t seed, size_t replica,
                            const pc_layout *layout, const pc_kept_rows *rows, size_t row,
                            pc_drawn_outcomes *outcomes, pcal_error *err) {
  const pc_rng own = draws_of_row(seed, DRAWS_LABEL_STREAM, replica, rows->ids[row]);
  const double *forecast = rows->probs + row * rows->classes;
  const int normal = layout->form == PC_FORM_GAUSSIAN;
  const double copies = rows->copies[row], units = normal ? DRAWS_CELLS : DRAWS_UNITS;
  const size_t most = normal ? DRAWS_CELLS + 2 * DRAWS_TAIL : 2 * (layout->columns + 1);
  PC_TRY(draws_open(env, copies <= units ? (size_t)copies : most, outcomes, err));
  for (size_t u = 0; copies <= units && u < (size_t)copies; u++)
    draws_append(outcomes, draws_target(layout, forecast, pc_rng_uniform(&own, u)), 1.0);
  if (copies > units && normal)
    draws_split_normal(&own, forecast, copies, outcomes);
  else if (copies > units)
    draws_split_ranks(&own, forecast, layout->columns, copies, outcomes);
  return PCAL_OK;
}

/* ---- a permutation that separates neighbours ---- */

static size_t draw_common(size_t a, size_t b) {
  return b == 0 ? a : draw_common(b, a % b);
}

size_t pc_draw_step(size_t count) {
  size_t step = (size_t)(0.6180339887498949 * (double)count) + 1;
  while (draw_common(step, count) != 1)
    step++;
  return step;
}

pcal_status pc_draw_outcomes(const pcal_env *env, size_t replica, const pc_layout *layout,
                             const pc_kept_rows *rows, pc_drawn_outcomes *drawn,
                             int32_t *labels, pcal_error *err) {
  const int classes = layout->form == PC_FORM_CLASSES;
  pc_drawn_outcomes_clear(drawn);
  for (size_t begin = 0; classes && begin < rows->count; begin += DRAWS_ROWS) {
    const size_t left = rows->count - begin, some = left < DRAWS_ROWS ? left : DRAWS_ROWS;
    PC_TRY(draws_rows(env, replica, rows, begin, some, drawn, labels, err));
  }
  for (size_t i = 0; !classes && i < rows->count; i++) {
    labels[i] = rows->copies[i] == 1.0 ? rows->labels[i] : -1 - (int32_t)drawn->row_count;
    if (rows->copies[i] != 1.0)
      PC_TRY(pc_draw_targets(env, env->seed, replica, layout, rows, i, drawn, err));
  }
  return PCAL_OK;
}
