/* The bandwidth of highest likelihood, without the likelihood of every candidate.
 *
 * Formula:  with s = 1/h, log k_ij(s) = s d_ij + o_j(s) (dirichlet_kde.h), and for a <= s <= b,
 *           s = u a + v b, u + v = 1, Hoelder's inequality gives
 *             sum_j k_ij(s) <= e^g (sum_j k_ij(a))^u (sum_j k_ij(b))^v,
 *             g = max_j o_j(s) - u o_j(a) - v o_j(b),
 *           so that the mean log density satisfies  L(s) <= g + u L(a) + v L(b).
 *           L(0) = log Gamma(K) is that of the uniform distribution, and needs no pairs.
 *           The candidate of highest bound is computed next, until no bound reaches the best
 *           likelihood: the choice is that of computing all of them.
 * Edge cases:
 * (1) rounding: a bound counts as reached if it is within 1e-9 + 1e-12 b of the best; likelihoods
 *     and offsets are accurate to less (dirichlet_kde.c);
 * (2) a row without neighbours: it has none for any bandwidth, so that one candidate shows that
 *     all likelihoods are -inf.
 * Source: our own.
 * Cost: 2 to 8 likelihoods of 20, and O(N) for a bound. */
#include "stats/bandwidth_search.h"

#include <math.h>

#include "kernels/lane_math.h"

typedef struct bandwidth_search {
  const pc_dirichlet_kde *dirichlet;
  const double *bandwidths; /* ascending; the last one is infinite */
  size_t count;             /* of candidates, without the infinite one */
  const double *offsets;    /* [bandwidth][row] */
  double *likelihood;       /* NaN: not known */
} bandwidth_search;

/* An upper bound of the likelihood of a candidate between two known ones. */
static double bandwidth_search_bound(const bandwidth_search *search, size_t at) {
  const pc_pair_rows *rows = search->dirichlet->rows;
  const size_t all = pc_pair_pack_count(rows) * PC_LANES;
  size_t low = at, high = at;
  while (isnan(search->likelihood[low]))
    low--;
  while (isnan(search->likelihood[high]))
    high++;
  const double s = 1.0 / search->bandwidths[at], b = 1.0 / search->bandwidths[low];
  const double a = 1.0 / search->bandwidths[high], v = (s - a) / (b - a), u = 1.0 - v;
  const double *here = search->offsets + at * all, *at_b = search->offsets + low * all;
  const double *at_a = search->offsets + high * all;
  double most = -INFINITY;
  for (size_t j = 0; j < rows->count; j++)
    if (rows->weights[j] > 0.0)
      most = fmax(most, here[j] - (u * at_a[j] + v * at_b[j]));
  return most + (u * search->likelihood[high] + v * search->likelihood[low]) +
         (1e-9 + 1e-12 * b);
}

/* The known candidate of highest likelihood, the smallest on ties; count if all are -inf. */
static size_t bandwidth_search_best(const bandwidth_search *search) {
  double best = -INFINITY;
  size_t found = search->count;
  for (size_t i = 0; i < search->count; i++)
    if (search->likelihood[i] > best) {
      best = search->likelihood[i];
      found = i;
    }
  return found;
}

/* The candidate to compute next, or count. */
static size_t bandwidth_search_next(const bandwidth_search *search) {
  const size_t best = bandwidth_search_best(search);
  double highest = best < search->count ? search->likelihood[best] : -INFINITY;
  size_t next = search->count;
  for (size_t i = 0; i < search->count; i++) {
    const double bound =
        isnan(search->likelihood[i]) ? bandwidth_search_bound(search, i) : -INFINITY;
    if (bound > highest) {
      highest = bound;
      next = i;
    }
  }
  return next;
}

static pcal_status bandwidth_search_run(bandwidth_search *search, pc_bandwidth_choice *out,
                                        pcal_error *err) {
  for (size_t i = 0; i < search->count; i++)
    search->likelihood[i] = NAN;
  search->likelihood[search->count] =
      pc_lane_log_gamma((double)search->dirichlet->rows->classes);
  for (size_t next = 0; next < search->count; next = bandwidth_search_next(search)) {
    PC_TRY(pc_dirichlet_kde_likelihood(search->dirichlet, search->bandwidths + next, 1,
                                       search->likelihood + next, err));
    out->candidates++;
  }
  const size_t best = bandwidth_search_best(search);
  out->bandwidth = best < search->count ? search->bandwidths[best] : 0.0;
  return PCAL_OK;
}

pcal_status pc_bandwidth_search(const pc_dirichlet_kde *dirichlet, const double *bandwidths,
                                size_t count, pc_bandwidth_choice *out, pcal_error *err) {
  const pcal_env *env = dirichlet->env;
  const size_t all = pc_pair_pack_count(dirichlet->rows) * PC_LANES;
  double *block = pc_alloc_raw(env, count + 1, (all + 2) * sizeof *block);
  *out = (pc_bandwidth_choice){0};
  if (block == NULL)
    return pc_fail_memory(err, "choosing a bandwidth");
  double *candidates = block, *likelihood = candidates + count + 1;
  double *offsets = likelihood + count + 1;
  for (size_t i = 0; i <= count; i++)
    candidates[i] = i < count ? bandwidths[i] : INFINITY;
  bandwidth_search search = {dirichlet, candidates, count, offsets, likelihood};
  pcal_status status = pc_dirichlet_kde_offsets(dirichlet, candidates, count + 1, offsets, err);
  if (status == PCAL_OK)
    status = bandwidth_search_run(&search, out, err);
  pc_free(env, block);
  return status;
}
