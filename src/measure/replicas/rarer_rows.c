/* Formula:  m rows of the rarer outcome, z the normal quantile of the level:
 *             more = s (z^2/2 + z sqrt(m / s + z^2/4)),
 *           so that m + more is Wilson's upper end for the mean of a count of m whose variance is
 *           s times its mean.  s = 1, the count is Poisson, for numbers that depend on the count.
 *           Errors depend on its difference from what the predictions expect, and
 *             s = min((sum (score - hit)^2 + 4) / (m + 4), 1):
 *           where most wrong rows had a low score, chance moves this difference less than it
 *           moves the count.  Four more rows that show nothing of the kind keep s from resting on
 *           one or two rows.
 *           Clusters c with n_c rows, m_c of them with the rarer outcome, r = m / n: both s are
 *           multiplied by the design effect
 *             max(sum_c (m_c - r n_c)^2 / (m (1 - r)), 1),
 *           the variance of the number in clusters relative to that in single rows.
 *           That many rows of
 *           the other outcome are changed to the rarer one: where the predictions expect it, a row
 *           with a probability proportional to the one that it gives to the rarer outcome.
 *           A wrong row takes another class, drawn from its prediction.
 * Draws:    systematic, so that they need few repetitions: points at equal distances on the sum of
 *           these probabilities over the rows, whose order depends on their contents only.
 * Edge cases:
 *   1. a row that stands for several copies is split: some copies change;
 *   2. importance weights, which sum to the effective sample size: as many rows as have a weight
 *      of `more` on average;
 *   3. all probabilities of the rarer outcome are 0: nothing is changed;
 *   4. most of the sum comes from few rows, which cannot change more than once: the rows that
 *      follow change in their place.
 * Source: Wilson, Journal of the American Statistical Association 1927; systematic sampling with
 *   unequal probabilities, Madow, Annals of Mathematical Statistics 1949.
 * Cost: PC_RARER_DRAWS evaluations. */
#include "measure/replicas/rarer_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/normal.h"
#include "measure/replicas/draws.h"

#define RARER_POISSON \
  4.0 /* rows that count as if their outcome had nothing to do with scores */

pc_rarer pc_rarer_from(const pc_row_moments *moments) {
  return (pc_rarer){.total = moments->total,
                    .copies = moments->copies,
                    .rarer = fmin(moments->hits, moments->total - moments->hits),
                    .shown = moments->shown,
                    .hits = 2.0 * moments->hits < moments->total,
                    .design = 1.0};
}

pc_rarer pc_rarer_count(const pc_kept_rows *rows) {
  const pc_row_moments moments = pc_row_moments_of(rows, pc_kept_lattice_bits(rows), 0);
  return pc_rarer_from(&moments);
}

static int rarer_hit(const pc_kept_rows *rows, size_t row) {
  return rows->labels[row] == pc_draw_first(rows, row);
}

double pc_rarer_spread(const pc_rarer *found, pc_rarer_counts counts) {
  const double ratio = (found->shown + RARER_POISSON) / (found->rarer + RARER_POISSON);
  return found->design * (counts == PC_RARER_OF_ROWS ? 1.0 : fmin(ratio, 1.0));
}

double pc_rarer_share(const pc_rarer *found) {
  const double missing = 1.0 - found->rarer / (found->design * PC_RARER_ENOUGH);
  return fmin(fmax(2.0 * missing, 0.0), 1.0);
}

/* ---- clusters ---- */

typedef struct rarer_part {
  uint64_t cluster;
  double excess; /* weight of rarer rows less what is expected of so many rows */
} rarer_part;

static int rarer_part_order(const void *a, const void *b) {
  const rarer_part *x = a, *y = b;
  if (x->cluster != y->cluster)
    return x->cluster > y->cluster ? 1 : -1;
  return (x->excess > y->excess) - (x->excess < y->excess);
}

/* The sum over clusters of the squares of their excess. */
static double rarer_squares(const rarer_part *parts, size_t count) {
  double squares = 0.0, sum = 0.0;
  for (size_t i = 0; i < count; i++) {
    sum += parts[i].excess;
    if (i + 1 < count && parts[i + 1].cluster == parts[i].cluster)
      continue;
    squares += sum * sum;
    sum = 0.0;
  }
  return squares;
}

pcal_status pc_rarer_find_design(const pcal_env *env, const pc_kept_rows *rows, pc_rarer *found,
                                 pcal_error *err) {
  const double rate = found->rarer / found->total;
  const double expected = found->rarer * (1.0 - rate);
  found->design = 1.0;
  if (rows->clusters == NULL || !(expected > 0.0))
    return PCAL_OK;
  rarer_part *parts = pc_alloc_raw(env, rows->count, sizeof *parts);
  if (parts == NULL)
    return pc_fail_memory(err, "finding intervals");
  for (size_t i = 0; i < rows->count; i++)
    parts[i] = (rarer_part){rows->clusters[i],
                            pc_kept_weight(rows, i) *
                                ((rarer_hit(rows, i) == found->hits ? 1.0 : 0.0) - rate)};
  qsort(parts, rows->count, sizeof *parts, rarer_part_order);
  found->design = fmax(rarer_squares(parts, rows->count) / expected, 1.0);
  pc_free(env, parts);
  return PCAL_OK;
}

double pc_rarer_more(double count, double spread, double level) {
  const double z = pc_normal_quantile(0.5 + 0.5 * level);
  return spread * (0.5 * z * z + z * sqrt(count / spread + 0.25 * z * z));
}

/* The rows of a draw: those of the data, then rows split off from them. */
typedef struct rarer_rows {
  pc_kept_rows rows;
  size_t room;
} rarer_rows;

static void rarer_free(const pcal_env *env, rarer_rows *changed) {
  pc_kept_rows *rows = &changed->rows;
  void *const blocks[] = {rows->ids,   rows->labels,    rows->weights, rows->copies,
                          rows->score, rows->top_label, rows->probs,   rows->clusters};
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
    pc_free(env, blocks[b]);
}

/* A column with room for `room` rows; NULL: the data have none, or there is no memory. */
static void *rarer_column(const pcal_env *env, const void *from, size_t count, size_t room,
                          size_t size, int *enough) {
  void *to = from == NULL ? NULL : pc_alloc_raw(env, room, size);
  if (to != NULL)
    memcpy(to, from, count * size);
  *enough &= to != NULL || from == NULL;
  return to;
}

static pcal_status rarer_new(const pcal_env *env, const pc_kept_rows *from, size_t more,
                             rarer_rows *out, pcal_error *err) {
  const size_t n = from->count, room = n + more;
  int enough = 1;
  *out = (rarer_rows){.rows = {.count = n, .classes = from->classes}, .room = room};
  pc_kept_rows *to = &out->rows;
  to->ids = rarer_column(env, from->ids, n, room, sizeof *to->ids, &enough);
  to->labels = rarer_column(env, from->labels, n, room, sizeof *to->labels, &enough);
  to->weights = rarer_column(env, from->weights, n, room, sizeof *to->weights, &enough);
  to->copies = rarer_column(env, from->copies, n, room, sizeof *to->copies, &enough);
  to->score = rarer_column(env, from->score, n, room, sizeof *to->score, &enough);
  to->top_label = rarer_column(env, from->top_label, n, room, sizeof *to->top_label, &enough);
  to->probs =
      rarer_column(env, from->probs, n, room, from->classes * sizeof *to->probs, &enough);
  to->clusters = rarer_column(env, from->clusters, n, room, sizeof *to->clusters, &enough);
  if (enough)
    return PCAL_OK;
  rarer_free(env, out);
  return pc_fail_memory(err, "finding intervals");
}

/* Splits `copies` copies off a row; returns the row that they become. */
static size_t rarer_split(rarer_rows *changed, size_t row, double copies) {
  pc_kept_rows *rows = &changed->rows;
  const size_t to = rows->count;
  if (copies >= rows->copies[row] || to >= changed->room)
    return row;
  rows->ids[to] = rows->ids[row];
  rows->weights[to] = rows->weights[row];
  rows->score[to] = rows->score[row];
  if (rows->top_label != NULL)
    rows->top_label[to] = rows->top_label[row];
  if (rows->probs != NULL)
    memcpy(rows->probs + to * rows->classes, rows->probs + row * rows->classes,
           rows->classes * sizeof *rows->probs);
  if (rows->clusters != NULL)
    rows->clusters[to] = rows->clusters[row];
  rows->copies[row] -= copies;
  rows->copies[to] = copies;
  rows->count++;
  return to;
}

/* The probability that a row gives to the rarer outcome; 0 if it has it already. */
static double rarer_claim(const pc_kept_rows *rows, const pc_rarer *found, size_t row) {
  if (rarer_hit(rows, row) == found->hits)
    return 0.0;
  return found->hits ? rows->score[row] : 1.0 - rows->score[row];
}

/* Changes copies of a row; returns how many. */
static double rarer_turn(uint64_t seed, size_t draw, const pc_rarer *found, size_t row,
                         double wanted, rarer_rows *changed) {
  pc_kept_rows *rows = &changed->rows;
  const double copies = fmin(wanted, rows->copies[row]);
  if (!(copies > 0.0))
    return 0.0;
  const size_t to = rarer_split(changed, row, copies);
  rows->labels[to] =
      found->hits ? pc_draw_first(rows, to) : pc_draw_other_label(seed, draw, rows, to);
  return copies;
}

/* Changes `more` rows at equal distances on the sum of claims.  Points that fall on a row that
 * has no copy left move on to the next rows. */
static void rarer_change(uint64_t seed, size_t draw, const pc_rarer *found, double more,
                         rarer_rows *changed) {
  const pc_kept_rows *rows = &changed->rows;
  const size_t count = rows->count;
  double sum = 0.0, upto = 0.0, wanted = 0.0;
  for (size_t i = 0; i < count; i++)
    sum += rows->copies[i] * rarer_claim(rows, found, i);
  const double step = sum / more;
  double next = step * ((double)draw + 0.5) / PC_RARER_DRAWS;
  for (size_t i = 0; sum > 0.0 && i < count; i++) {
    const double claim = rarer_claim(rows, found, i);
    upto += rows->copies[i] * claim;
    for (; next < upto; next += step)
      wanted++;
    if (claim > 0.0)
      wanted -= rarer_turn(seed, draw, found, i, wanted, changed);
  }
  for (size_t i = 0; wanted > 0.0 && i < count; i++)
    if (rarer_claim(rows, found, i) > 0.0)
      wanted -= rarer_turn(seed, draw, found, i, wanted, changed);
}

static pcal_status rarer_draw(const pcal_env *env, const pc_replica_request *request,
                              const pc_rarer *found, double more, size_t draw, double *values,
                              pcal_error *err) {
  rarer_rows changed;
  PC_TRY(rarer_new(env, request->rows, (size_t)more + 1, &changed, err));
  rarer_change(env->seed, draw, found, more, &changed);
  pc_replica_request asked = *request;
  asked.rows = &changed.rows;
  const pcal_status status = pc_replicas_measure(env, &asked, values, err);
  rarer_free(env, &changed);
  return status;
}

pcal_status pc_rarer_measure(const pcal_env *env, const pc_measure_plan *plan,
                             const uint8_t *entries, const pc_kept_rows *rows,
                             const pc_rarer *found, pc_rarer_counts counts, double *values,
                             pcal_error *err) {
  const size_t series = plan->entry_count * PC_REPLICA_VALUES;
  const pc_replica_request request = {
      .plan = plan, .entries = entries, .rows = rows, .kind = PC_REPLICA_AS_IS, .count = 1};
  const double more =
      pc_rarer_more(found->rarer, pc_rarer_spread(found, counts), plan->intervals.level);
  const double changed = ceil(more * found->copies / found->total);
  double *one = pc_alloc_raw(env, series, sizeof *one);
  pcal_status status = one == NULL ? pc_fail_memory(err, "finding intervals") : PCAL_OK;
  for (size_t d = 0; status == PCAL_OK && d < PC_RARER_DRAWS; d++) {
    status = rarer_draw(env, &request, found, changed, d, one, err);
    for (size_t s = 0; status == PCAL_OK && s < series; s++)
      values[s * PC_RARER_DRAWS + d] = one[s];
  }
  pc_free(env, one);
  return status;
}

void pc_rarer_include(const double *values, size_t entry, size_t series, int each, double share,
                      pc_interval *interval) {
  double sum = 0.0;
  pc_interval reached = *interval;
  for (size_t d = 0; values != NULL && d < PC_RARER_DRAWS; d++) {
    const double value = values[(entry * PC_REPLICA_VALUES + series) * PC_RARER_DRAWS + d];
    sum += value;
    const double included = each ? value : sum / PC_RARER_DRAWS;
    if (each || d + 1 == PC_RARER_DRAWS) {
      reached.low = fmin(reached.low, included); /* fmin and fmax ignore NaN */
      reached.high = fmax(reached.high, included);
    }
  }
  interval->low += share * (reached.low - interval->low);
  interval->high += share * (reached.high - interval->high);
}
