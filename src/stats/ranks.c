/* Formula:  Spearman: the correlation of r and s, which without ties is
 *             1 - 6 sum (r_i - s_i)^2 / (n (n^2 - 1)).
 *           Nixon et al. print the same with |r_i - s_i| in place of the square.  It is 1 for
 *           equal rankings, but for opposite ones 1 - 3 n / (n^2 - 1) for even n, never -1.
 * Edge cases:
 *   (1) ties share the mean of their ranks;
 *   (2) only ties, or one value: NaN for Spearman;
 *   (3) fewer than two values: NaN for both.
 * Source: Spearman 1904; Nixon et al. 2019, section 5.2.   Cost: n^2 comparisons. */
#include "stats/ranks.h"

#include <math.h>

/* True if a ranks before b. */
static int ranks_less(double a, double b) {
  return isnan(b) ? !isnan(a) : a < b;
}

void pc_ranks(const double *values, size_t count, double *ranks) {
  for (size_t i = 0; i < count; i++) {
    size_t before = 0, equal = 0;
    for (size_t j = 0; j < count; j++) {
      before += (size_t)ranks_less(values[j], values[i]);
      equal += (size_t)(!ranks_less(values[j], values[i]) && !ranks_less(values[i], values[j]));
    }
    ranks[i] = (double)before + 0.5 * (double)(equal + 1);
  }
}

double pc_rank_spearman(const double *first, const double *second, size_t count) {
  const double mean = 0.5 * (double)(count + 1);
  double both = 0, one = 0, other = 0;
  for (size_t i = 0; i < count; i++) {
    const double a = first[i] - mean, b = second[i] - mean;
    both += a * b;
    one += a * a;
    other += b * b;
  }
  return one > 0 && other > 0 ? both / sqrt(one * other) : (double)NAN;
}

double pc_rank_nixon(const double *first, const double *second, size_t count) {
  const double n = (double)count;
  double sum = 0;
  if (count < 2)
    return (double)NAN;
  for (size_t i = 0; i < count; i++)
    sum += fabs(first[i] - second[i]);
  return 1 - 6 * sum / (n * (n * n - 1));
}
