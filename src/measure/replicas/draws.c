/* Labels: one uniform draw u for each copy.  The class of the natural view (the predicted
 * class, or class 1) is drawn if u is below its probability; its hits are then the same whether
 * or not the other probabilities are stored.  The other classes follow in order, in proportion
 * to their probabilities.
 *
 * Copies: up to PC_DRAWS_UNITS copies draw one by one, each with a key of its own.  Of more
 * copies, each class in turn takes a binomial share of the rest.  Normal predictions draw up to
 * DRAWS_CELLS targets one by one; more copies are split over as many cells of equal
 * probability.  The outermost cells are halved until few copies are left.  The copies in a cell
 * share a target drawn inside it: the relative error of the variance of a mean of m copies is
 * below m / 10^8.
 *
 * Edge cases:
 *   (1) Poisson counts with a mean above 1e6 are rounded normal draws;
 *   (2) a row whose other probabilities are all 0 and that misses the first class draws the
 *       lowest other class. */
#include "measure/replicas/draws.h"

#include <math.h>
#include <string.h>

#include "base/normal.h"
#include "base/rng.h"
#include "kernels/dispatch.h"

#define DRAWS_POISSON_MAX 1e6
#define DRAWS_CELLS 512
#define DRAWS_ROWS 256 /* rows drawn together */
#define DRAWS_WORDS 4  /* of a block of the generator */
#define DRAWS_TAIL 100 /* upper bound on the shares of an outermost cell */

enum {
  DRAWS_WEIGHT_STREAM = 1,
  DRAWS_COUNT_STREAM,
  DRAWS_LABEL_STREAM,
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

/* copies if they are few and whole, else 0. */
static unsigned draws_few(double copies) {
  const int few = copies >= 1.0 && copies <= PC_POISSON_FEW;
  return few && floor(copies) == copies ? (unsigned)copies : 0;
}

pc_rng pc_draw_count_rng(uint64_t seed, size_t replica) {
  return draws_rng(seed, DRAWS_COUNT_STREAM, replica / DRAWS_WORDS);
}

uint64_t pc_draw_copy_key(uint64_t key, size_t copy) {
  return copy == 0 ? key : pc_hash_u64(key + copy * UINT64_C(0x9e3779b97f4a7c15));
}

double pc_draw_count(uint64_t seed, size_t replica, uint64_t key, double copies) {
  if (draws_few(copies) > 0) {
    const pc_rng rng = pc_draw_count_rng(seed, replica);
    uint32_t steps[PC_POISSON_STEPS], words[DRAWS_WORDS];
    const size_t count = pc_poisson_steps(draws_few(copies), steps);
    size_t k = 0;
    pc_rng_block(&rng, key, words);
    while (k < count && words[replica % DRAWS_WORDS] >= steps[k])
      k++;
    return (double)k;
  }
  const pc_rng rng = draws_rng(seed, DRAWS_WEIGHT_STREAM, replica);
  if (copies <= DRAWS_POISSON_MAX)
    return (double)pc_rng_poisson(&rng, key, copies);
  return fmax(floor(copies + sqrt(copies) * pc_rng_normal(&rng, key) + 0.5), 0.0);
}

/* Draws the counts of the rows at these places, which have the same few copies. */
static void draws_count_places(uint64_t seed, size_t first, unsigned copies,
                               const uint64_t *keys, const size_t *places, size_t count,
                               float *out) {
  const pc_rng rng = pc_draw_count_rng(seed, first);
  uint32_t steps[PC_POISSON_STEPS];
  uint64_t some[DRAWS_ROWS];
  float drawn[DRAWS_ROWS * PC_REPLICA_LANES];
  for (size_t i = 0; i < count; i++)
    some[i] = keys[places[i]];
  const size_t step_count = pc_poisson_steps(copies, steps);
  pc_kernels_best()->replica_sum->draw(rng.seed, rng.stream, some, count, steps, step_count,
                                       drawn);
  for (size_t i = 0; i < count; i++)
    memcpy(out + places[i] * PC_REPLICA_LANES, drawn + i * PC_REPLICA_LANES,
           PC_REPLICA_LANES * sizeof *out);
}

/* True if every row has one copy. */
static int draws_single(const double *copies, size_t count) {
  size_t i = 0;
  while (copies != NULL && i < count && copies[i] == 1.0)
    i++;
  return copies == NULL || i == count;
}

void pc_draw_count_lanes(uint64_t seed, size_t first, const uint64_t *keys,
                         const double *copies, size_t count, float *out) {
  static const uint32_t one[] = PC_POISSON_ONE_STEPS;
  const pc_rng rng = pc_draw_count_rng(seed, first);
  size_t places[PC_POISSON_FEW + 1][DRAWS_ROWS], used[PC_POISSON_FEW + 1] = {0};
  if (draws_single(copies, count)) {
    pc_kernels_best()->replica_sum->draw(rng.seed, rng.stream, keys, count, one,
                                         sizeof one / sizeof *one, out);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    const unsigned few = draws_few(copies[i]);
    for (size_t q = 0; few == 0 && q < PC_REPLICA_LANES; q++)
      out[i * PC_REPLICA_LANES + q] = (float)pc_draw_count(seed, first + q, keys[i], copies[i]);
    if (few == 0)
      continue;
    places[few][used[few]++] = i;
    if (used[few] == DRAWS_ROWS) {
      draws_count_places(seed, first, few, keys, places[few], DRAWS_ROWS, out);
      used[few] = 0;
    }
  }
  for (unsigned few = 1; few <= PC_POISSON_FEW; few++)
    draws_count_places(seed, first, few, keys, places[few], used[few], out);
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
  for (size_t u = 0; copies <= PC_DRAWS_UNITS && u < (size_t)copies; u++) {
    const uint64_t bits = copies == 1.0 ? pc_rng_bits(&rng, key) : pc_rng_bits(&own, u);
    const size_t block = (size_t)(bits % blocks);
    if (block >= first && block < first + PC_DRAWS_BATCH)
      out[block - first]++;
  }
  if (copies <= PC_DRAWS_UNITS)
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

/* The labels of up to PC_DRAWS_UNITS copies, one by one. */
static void draws_units(uint64_t seed, size_t replica, const pc_kept_rows *rows, size_t row,
                        pc_drawn_outcomes *outcomes) {
  const pc_rng rng = draws_rng(seed, DRAWS_LABEL_STREAM, replica);
  const double p = rows->score[row];
  const int32_t first = pc_draw_first(rows, row);
  const size_t count = (size_t)rows->copies[row];
  double u[PC_DRAWS_UNITS];
  size_t drew_first = 0;
  for (size_t c = 0; c < count; c++) {
    u[c] = pc_rng_uniform(&rng, pc_draw_copy_key(rows->ids[row], c));
    drew_first += u[c] < p;
  }
  draws_add(outcomes, first, (double)drew_first);
  const double rest = drew_first < count ? draws_row_rest(rows, row, first) : 0.0;
  for (size_t c = 0; c < count && drew_first < count; c++)
    if (!(u[c] < p))
      draws_add(outcomes, draws_other(rows, row, first, (u[c] - p) / (1.0 - p), rest), 1.0);
}

pcal_status pc_draw_labels(const pcal_env *env, uint64_t seed, size_t replica,
                           const pc_kept_rows *rows, size_t row, pc_drawn_outcomes *outcomes,
                           pcal_error *err) {
  const double copies = rows->copies[row];
  const int32_t first = pc_draw_first(rows, row);
  const size_t labels = rows->classes > 1 ? rows->classes : 2;
  PC_TRY(draws_open(env, copies < (double)labels ? (size_t)copies : labels, outcomes, err));
  if (copies <= PC_DRAWS_UNITS) {
    draws_units(seed, replica, rows, row, outcomes);
    return PCAL_OK;
  }
  const pc_rng own = draws_of_row(seed, DRAWS_LABEL_STREAM, replica, rows->ids[row]);
  const double hits = pc_rng_binomial(&own, 0, copies, rows->score[row]);
  draws_add(outcomes, first, hits);
  draws_split_rest(&own, rows, row, first, copies - hits, outcomes);
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
  while (copies > PC_DRAWS_UNITS && mass > 0x1p-80) {
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
  const double copies = rows->copies[row], units = normal ? DRAWS_CELLS : PC_DRAWS_UNITS;
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
  pc_drawn_outcomes_clear(drawn);
  for (size_t i = 0; i < rows->count; i++) {
    const int alone = rows->copies[i] == 1.0;
    const int classes = layout->form == PC_FORM_CLASSES;
    if (alone) {
      labels[i] = classes ? pc_draw_label(env->seed, replica, rows, i) : rows->labels[i];
      continue;
    }
    labels[i] = -1 - (int32_t)drawn->row_count;
    if (classes)
      PC_TRY(pc_draw_labels(env, env->seed, replica, rows, i, drawn, err));
    else
      PC_TRY(pc_draw_targets(env, env->seed, replica, layout, rows, i, drawn, err));
  }
  return PCAL_OK;
}
