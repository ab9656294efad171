/* Labels: one uniform draw u for each copy.  The class of the natural view (the predicted one,
 * or class 1) comes first: it is drawn when u is below its probability, so that its hits are
 * the same whether or not the other probabilities were kept.  Others follow in their order, in
 * proportion to their probabilities.
 *
 * Copies: up to DRAWS_UNITS draw one by one.  Beyond, each class in turn takes a binomial share
 * of the copies that are left.  Normal predictions draw up to DRAWS_CELLS targets one by one;
 * beyond, copies are split over as many cells of equal probability, of which the outermost are
 * halved again and again until few copies are left, and those in a cell share a target drawn
 * inside it: of m copies the variance of a mean is off by less than m / 10^8.
 *
 * Edge cases: (1) Poisson counts of a mean beyond 1e6 are rounded normal draws; (2) a row whose
 * other probabilities are all 0 and that misses the first class draws the lowest other one. */
#include "measure/replicas/draws.h"

#include <math.h>

#include "base/rng.h"

#define DRAWS_POISSON_MAX 1e6
#define DRAWS_UNITS 16.0
#define DRAWS_CELLS 512
#define DRAWS_TAIL 100 /* shares of an outermost cell, at most */

enum { DRAWS_WEIGHT_STREAM = 1, DRAWS_LABEL_STREAM = 3, DRAWS_BLOCK_STREAM };

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

/* ---- blocks ---- */

/* Copies that are left when all blocks before `first` have theirs. */
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

void pc_drawn_outcomes_free(const pcal_env *env, pc_drawn_outcomes *shares) {
  pc_free(env, shares->list);
  pc_free(env, shares->begin);
  *shares = (pc_drawn_outcomes){0};
}

void pc_drawn_outcomes_clear(pc_drawn_outcomes *shares) {
  shares->count = 0;
  shares->row_count = 0;
}

size_t pc_drawn_outcomes_end(const pc_drawn_outcomes *shares, size_t row) {
  return row + 1 < shares->row_count ? shares->begin[row + 1] : shares->count;
}

double pc_drawn_outcomes_copies(const pc_drawn_outcomes *shares, size_t row, int32_t label) {
  const size_t end = pc_drawn_outcomes_end(shares, row);
  size_t low = shares->begin[row], high = end;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (shares->list[middle].outcome < label)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && shares->list[low].outcome == label ? shares->list[low].copies : 0.0;
}

/* Begins a row that may have up to `most` shares. */
static pcal_status draws_open(const pcal_env *env, size_t most, pc_drawn_outcomes *shares,
                              pcal_error *err) {
  void *list = shares->list, *begin = shares->begin;
  pcal_status status = pc_reserve(env, &list, &shares->capacity, shares->count + most,
                                  sizeof *shares->list, err);
  shares->list = list;
  if (status == PCAL_OK)
    status = pc_reserve(env, &begin, &shares->row_capacity, shares->row_count + 1,
                        sizeof *shares->begin, err);
  shares->begin = begin;
  if (status == PCAL_OK)
    shares->begin[shares->row_count++] = shares->count;
  return status;
}

static void draws_append(pc_drawn_outcomes *shares, double outcome, double copies) {
  if (copies > 0.0)
    shares->list[shares->count++] = (pc_drawn_outcome){outcome, copies};
}

/* Adds copies with a label to the row that was begun last. */
static void draws_add(pc_drawn_outcomes *shares, double outcome, double copies) {
  const size_t begin = shares->begin[shares->row_count - 1];
  size_t at = shares->count;
  if (!(copies > 0.0))
    return;
  while (at > begin && shares->list[at - 1].outcome > outcome)
    at--;
  if (at > begin && shares->list[at - 1].outcome == outcome) {
    shares->list[at - 1].copies += copies;
    return;
  }
  for (size_t i = shares->count; i > at; i--)
    shares->list[i] = shares->list[i - 1];
  shares->list[at] = (pc_drawn_outcome){outcome, copies};
  shares->count++;
}

/* ---- labels ---- */

/* The class of the natural view. */
static int32_t draws_first(const pc_kept_rows *rows, size_t row) {
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

/* One of the other classes; u in (0, 1). */
static int32_t draws_other(const pc_kept_rows *rows, size_t row, int32_t first, double u) {
  const int32_t lowest = first == 0;
  if (rows->probs == NULL)
    return lowest;
  const double *probs = rows->probs + row * rows->classes;
  const double wanted = u * draws_rest(probs, rows->classes, first);
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
  const int32_t first = draws_first(rows, row);
  const double p = rows->score[row];
  return u < p ? first : draws_other(rows, row, first, (u - p) / (1.0 - p));
}

int32_t pc_draw_label(uint64_t seed, size_t replica, const pc_kept_rows *rows, size_t row) {
  const pc_rng rng = draws_rng(seed, DRAWS_LABEL_STREAM, replica);
  return draws_label(rows, row, pc_rng_uniform(&rng, rows->ids[row]));
}

/* Shares of the other classes, each a binomial part of what is left. */
static void draws_split_rest(const pc_rng *own, const pc_kept_rows *rows, size_t row,
                             int32_t first, double copies, pc_drawn_outcomes *shares) {
  const int32_t lowest = first == 0;
  const double *probs = rows->probs == NULL ? NULL : rows->probs + row * rows->classes;
  double rest = probs == NULL ? 0.0 : draws_rest(probs, rows->classes, first);
  for (size_t k = 0; k < rows->classes && rest > 0.0 && copies > 0.0; k++) {
    const double p = (int32_t)k == first ? 0.0 : draws_positive(probs[k]);
    const double share = pc_rng_binomial(own, k + 1, copies, p / rest);
    draws_add(shares, (double)k, share);
    copies -= share;
    rest -= p;
  }
  draws_add(shares, lowest, copies);
}

pcal_status pc_draw_labels(const pcal_env *env, uint64_t seed, size_t replica,
                           const pc_kept_rows *rows, size_t row, pc_drawn_outcomes *shares,
                           pcal_error *err) {
  const pc_rng own = draws_of_row(seed, DRAWS_LABEL_STREAM, replica, rows->ids[row]);
  const double copies = rows->copies[row], p = rows->score[row];
  const int32_t first = draws_first(rows, row);
  const size_t labels = rows->classes > 1 ? rows->classes : 2;
  PC_TRY(draws_open(env, copies < (double)labels ? (size_t)copies : labels, shares, err));
  if (copies <= DRAWS_UNITS) {
    for (size_t u = 0; u < (size_t)copies; u++)
      draws_add(shares, draws_label(rows, row, pc_rng_uniform(&own, u)), 1.0);
    return PCAL_OK;
  }
  const double hits = pc_rng_binomial(&own, 0, copies, p);
  draws_add(shares, first, hits);
  draws_split_rest(&own, rows, row, first, copies - hits, shares);
  return PCAL_OK;
}

/* ---- targets ---- */

/* A target of one of the n + 1 ranks among n ascending samples, all equally probable: next to
 * the sample above or below it, or equal to both where these are equal.  place: which half of
 * which rank. */
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

/* Copies in the outermost cell of a normal prediction, on its lower (sign 1) or upper side. */
static void draws_tail(const pc_rng *own, const double *forecast, double sign, double copies,
                       pc_drawn_outcomes *shares) {
  uint64_t index = 2 * DRAWS_CELLS + (sign > 0 ? 0 : 4 * DRAWS_TAIL);
  double mass = 1.0 / DRAWS_CELLS;
  while (copies > DRAWS_UNITS && mass > 0x1p-80) {
    const double near = pc_rng_binomial(own, index, copies, 0.5);
    const double u = mass * (0.5 + 0.5 * pc_rng_uniform(own, index + 1));
    draws_append(shares, forecast[0] + sign * forecast[1] * pc_normal_quantile(u), near);
    copies -= near;
    mass *= 0.5;
    index += 2;
  }
  for (; copies > 0.0; copies--) {
    const double u = mass * pc_rng_uniform(own, index++);
    draws_append(shares, forecast[0] + sign * forecast[1] * pc_normal_quantile(u), 1.0);
  }
}

/* The targets of many copies of a normal prediction. */
static void draws_split_normal(const pc_rng *own, const double *forecast, double copies,
                               pc_drawn_outcomes *shares) {
  for (size_t c = 0; c < DRAWS_CELLS && copies > 0.0; c++) {
    const double share = pc_rng_binomial(own, 2 * c, copies, 1.0 / (double)(DRAWS_CELLS - c));
    const double u = ((double)c + pc_rng_uniform(own, 2 * c + 1)) / DRAWS_CELLS;
    copies -= share;
    if (c == 0 || c + 1 == DRAWS_CELLS)
      draws_tail(own, forecast, c == 0 ? 1.0 : -1.0, share, shares);
    else
      draws_append(shares, forecast[0] + forecast[1] * pc_normal_quantile(u), share);
  }
}

/* The ranks among the members of an ensemble that many copies drew. */
static void draws_split_ranks(const pc_rng *own, const double *forecast, size_t members,
                              double copies, pc_drawn_outcomes *shares) {
  const size_t places = 2 * (members + 1);
  for (size_t j = 0; j < places && copies > 0.0; j++) {
    const double share = pc_rng_binomial(own, j, copies, 1.0 / (double)(places - j));
    draws_append(shares, draws_rank(forecast, members, j), share);
    copies -= share;
  }
}

pcal_status pc_draw_targets(const pcal_env *env, uint64_t seed, size_t replica,
                            const pc_layout *layout, const pc_kept_rows *rows, size_t row,
                            pc_drawn_outcomes *shares, pcal_error *err) {
  const pc_rng own = draws_of_row(seed, DRAWS_LABEL_STREAM, replica, rows->ids[row]);
  const double *forecast = rows->probs + row * rows->classes;
  const int normal = layout->form == PC_FORM_GAUSSIAN;
  const double copies = rows->copies[row], units = normal ? DRAWS_CELLS : DRAWS_UNITS;
  const size_t most = normal ? DRAWS_CELLS + 2 * DRAWS_TAIL : 2 * (layout->columns + 1);
  PC_TRY(draws_open(env, copies <= units ? (size_t)copies : most, shares, err));
  for (size_t u = 0; copies <= units && u < (size_t)copies; u++)
    draws_append(shares, draws_target(layout, forecast, pc_rng_uniform(&own, u)), 1.0);
  if (copies > units && normal)
    draws_split_normal(&own, forecast, copies, shares);
  else if (copies > units)
    draws_split_ranks(&own, forecast, layout->columns, copies, shares);
  return PCAL_OK;
}

/* ---- an order of their own ---- */

static size_t draw_common(size_t a, size_t b) {
  return b == 0 ? a : draw_common(b, a % b);
}

size_t pc_draw_step(size_t count) {
  size_t step = (size_t)(0.6180339887498949 * (double)count) + 1;
  while (draw_common(step, count) != 1)
    step++;
  return step;
}
