/* The coefficients of the fit are normal with covariance H^-1 (smooth_calibration.c), so draws of
 * them give draws of the distance:
 *   b + U^-1 z,  U' U = H,  z standard normal:  T*, the distance of the drawn curve
 *   |c (1 - c) v' U^-1 z| in place of |p - c|:  T0, the distance that chance alone would show
 * se: standard deviation of T*; bias: mean of T* less T; noise: mean and deviation of T0.
 * 256 fixed draws at 128 scores of equal weight; the same for any order of rows.
 * Cost: about half a millisecond, for any number of rows. */
#include "metrics/smooth_noise.h"

#include <math.h>

#include "base/rng.h"

#define SMOOTH_NOISE_DRAWS 256
#define SMOOTH_NOISE_POINTS 128
#define SMOOTH_NOISE_SEED 25

/* Scores that stand for equally many rows, with what a draw needs there. */
typedef struct noise_grid {
  double score[SMOOTH_NOISE_POINTS], logit[SMOOTH_NOISE_POINTS], rate[SMOOTH_NOISE_POINTS];
  double terms[SMOOTH_NOISE_POINTS][PC_SMOOTH_KNOTS_MAX];
} noise_grid;

static void noise_grid_fill(const pc_smooth_calibration *fit, noise_grid *out) {
  double total = 0.0, seen = 0.0;
  size_t i = 0;
  for (size_t k = 0; k < fit->count; k++)
    total += fit->points[k].weight;
  for (size_t k = 0; k < SMOOTH_NOISE_POINTS; k++) {
    const double place = ((double)k + 0.5) / SMOOTH_NOISE_POINTS * total;
    while (i + 1 < fit->count && seen + fit->points[i].weight < place)
      seen += fit->points[i++].weight;
    const size_t at = k == 0 ? 0 : k + 1 == SMOOTH_NOISE_POINTS ? fit->count - 1 : i;
    out->score[k] = fit->points[at].score;
    out->rate[k] = fit->points[at].rate;
    pc_smooth_calibration_terms(fit, fit->points[at].logit, out->terms[k]);
    out->logit[k] = 0.0;
    for (size_t j = 0; j < fit->terms; j++)
      out->logit[k] += fit->coefficient[j] * out->terms[k][j];
  }
}

/* U^-1 z */
static void noise_draw(const pc_smooth_calibration *fit, const pc_rng *rng, uint64_t number,
                       double *out) {
  const size_t n = fit->terms;
  pc_rng_normals(rng, number * PC_SMOOTH_KNOTS_MAX, n, out);
  for (size_t j = n; j-- > 0;) {
    for (size_t k = j + 1; k < n; k++)
      out[j] -= fit->factor[j * n + k] * out[k];
    out[j] /= fit->factor[j * n + j];
  }
}

typedef struct noise_moments {
  double sum, squares;
} noise_moments;

static void noise_add(noise_moments *moments, double value) {
  moments->sum += value / SMOOTH_NOISE_DRAWS;
  moments->squares += value * value / SMOOTH_NOISE_DRAWS;
}

static double noise_deviation(const noise_moments *moments) {
  return sqrt(fmax(moments->squares - moments->sum * moments->sum, 0.0));
}

static void noise_measure(const pc_smooth_calibration *fit, const noise_grid *grid,
                          const double *move, pc_distance_summary summary,
                          noise_moments found[2]) {
  double drawn[SMOOTH_NOISE_POINTS], chance[SMOOTH_NOISE_POINTS];
  for (size_t k = 0; k < SMOOTH_NOISE_POINTS; k++) {
    double shift = 0.0;
    for (size_t j = 0; j < fit->terms; j++)
      shift += move[j] * grid->terms[k][j];
    drawn[k] = fabs(grid->score[k] - pc_smooth_calibration_rate(grid->logit[k] + shift));
    chance[k] = fabs(grid->rate[k] * (1.0 - grid->rate[k]) * shift);
  }
  noise_add(&found[0], summary(drawn, SMOOTH_NOISE_POINTS));
  noise_add(&found[1], summary(chance, SMOOTH_NOISE_POINTS));
}

void pc_smooth_noise(const pc_smooth_calibration *fit, pc_distance_summary summary,
                     pc_metric_result *out) {
  const pc_rng rng = {SMOOTH_NOISE_SEED, 0};
  noise_moments found[2] = {{0.0, 0.0}, {0.0, 0.0}};
  noise_grid grid;
  out->scale = PC_SCALE_NORM;
  out->se = (double)NAN;
  if (!fit->has_band)
    return;
  noise_grid_fill(fit, &grid);
  for (uint64_t d = 0; d < SMOOTH_NOISE_DRAWS; d++) {
    double move[PC_SMOOTH_KNOTS_MAX];
    noise_draw(fit, &rng, d, move);
    noise_measure(fit, &grid, move, summary, found);
  }
  out->se = noise_deviation(&found[0]);
  out->noise = (pc_interval_noise){fmax(found[0].sum - out->value, 0.0), found[1].sum,
                                   noise_deviation(&found[1])};
}
