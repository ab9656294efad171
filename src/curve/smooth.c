/* The integral of a smoothed residual, on a grid matched to the width of the kernel.
 *
 * Grid: h = 2^-L with 16 h <= sigma < 32 h.
 *   1. Each mass is distributed to the six nearest nodes with the weights of polynomial
 *      interpolation; nodes beyond an end count for their mirror images.
 *   2. The nodes are convolved with the Gaussian, cut off at 6 sigma.
 *   3. Slopes at the nodes come from differences of fourth order.
 *   4. |cubic Hermite interpolant| is integrated exactly, except for the last 2^-24 of an
 *      interval around each of its zeros.
 *
 * Error, for masses whose sizes sum to 1, with C_k the integral of |phi^(k)| (at most sqrt(k!))
 * and q = h / sigma <= 1/16:
 *   six-point weights    225/46080 C_6 q^6   7.9e-9
 *   cut at 6 sigma       erfc(6 / sqrt 2)    2.0e-9
 *   cubic interpolation  C_4 q^4 / 384       2.0e-7
 *   slopes               C_5 q^5 / 180       5.9e-8
 *   sum                                      2.7e-7
 * The first and third are integrals of Peano kernels, which do not change sign.
 *
 * Cost: O(masses + min(1 / sigma, masses)) evaluations of some 400 operations. */
#include "curve/smooth.h"

#include <math.h>
#include <string.h>

#include "base/executor.h"
#include "kernels/convolve.h"
#include "kernels/dispatch.h"
#include "kernels/lane_math.h"

#define SMOOTH_CUT 6.0 /* sigmas */
#define SMOOTH_CUT_ROUGH 4.5
#define SMOOTH_REACH 192 /* nodes: 6 * 32 */
#define SMOOTH_SIDE (SMOOTH_REACH + 2)
#define SMOOTH_BLOCK 2048         /* intervals */
#define SMOOTH_GATHERED 256       /* nodes that a task fills */
#define SMOOTH_WAVE ((size_t)512) /* blocks whose sums are kept at once */
#define SMOOTH_MASS_COST 8.0      /* nanoseconds, for the executor */
#define SMOOTH_NODE_COST 15.0
#define SMOOTH_FULL 8                    /* masses that fill a block, for the executor */
#define SMOOTH_FINEST (INT64_C(1) << 30) /* nodes; sigma is at least PC_SMOOTH_SIGMA_MIN */
#define SMOOTH_DEPTH 24
#define SMOOTH_DEPTH_ROUGH 6

/* A part of the grid: intervals first .. first + count, and the nodes around them that the
 * kernel and the slopes need. */
typedef struct smooth_block {
  int64_t nodes; /* of the whole grid, without the last: 1 / h */
  int64_t first, count;
  double mass[SMOOTH_BLOCK + 2 * SMOOTH_SIDE + 1];
  double value[SMOOTH_BLOCK + 5];
} smooth_block;

typedef struct smooth_kernel {
  int64_t reach;
  int depth;                                                 /* of the search for zeros */
  double weight[2 * SMOOTH_REACH + 1 + 2 * PC_CONVOLVE_PAD]; /* symmetric */
} smooth_kernel;

static void smooth_kernel_fill(smooth_kernel *kernel, double h, double sigma, int rough) {
  const double step = h / sigma, scale = 0.39894228040143268 / sigma;
  kernel->depth = rough ? SMOOTH_DEPTH_ROUGH : SMOOTH_DEPTH;
  const double reach = ceil((rough ? SMOOTH_CUT_ROUGH : SMOOTH_CUT) / step);
  kernel->reach = reach < SMOOTH_REACH ? (int64_t)reach : SMOOTH_REACH;
  double *middle = kernel->weight + (PC_CONVOLVE_PAD + kernel->reach);
  for (int64_t k = 0; k <= kernel->reach; k++) {
    const double z = (double)k * step, weight = scale * pc_lane_exp(-0.5 * z * z);
    middle[k] = middle[-k] = weight;
  }
  for (int64_t k = kernel->reach + 1; k <= kernel->reach + PC_CONVOLVE_PAD; k++)
    middle[k] = middle[-k] = 0.0;
}

int64_t pc_smooth_grid(double sigma, double fine) {
  int64_t grid = (int64_t)PC_SMOOTH_FINE;
  while (sigma * (double)grid < fine && grid < SMOOTH_FINEST)
    grid *= 2;
  return grid;
}

/* ---- from masses to nodes ---- */

static int64_t smooth_low(const smooth_block *block) {
  return block->first - SMOOTH_SIDE;
}

static int64_t smooth_high(const smooth_block *block) {
  return block->first + block->count + SMOOTH_SIDE;
}

void pc_smooth_spread(double f, double mass, double out[6]) {
  const double one = f * f - 1, two = f * f - 4, both = mass * (f - 3);
  const double odd = f * one, even = both * two;
  out[0] = both * odd * (f - 2) * (-1.0 / 120);
  out[1] = even * f * (f - 1) * (1.0 / 24);
  out[2] = even * one * (-1.0 / 12);
  out[3] = even * f * (f + 1) * (1.0 / 12);
  out[4] = both * odd * (f + 2) * (-1.0 / 24);
  out[5] = mass * odd * two * (1.0 / 120);
}

/* Maps a node beyond an end of the grid to its mirror image inside. */
static int64_t smooth_inside(int64_t node, int64_t grid) {
  return node < 0 ? -node : node > grid ? 2 * grid - node : node;
}

/* The first mass whose place, in units of h, is at least `place`. */
static size_t smooth_find(const pc_point_masses *masses, int64_t nodes, double place) {
  size_t low = 0, high = masses->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (masses->at[middle] * (double)nodes < place)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

typedef struct smooth_gathering {
  const pc_point_masses *masses;
  int64_t grid;
  pc_point_masses *out;
} smooth_gathering;

/* Fills SMOOTH_GATHERED nodes; each receives its masses in their order. */
static pcal_status smooth_gather_block(void *user, size_t index, size_t worker,
                                       pcal_error *err) {
  const smooth_gathering *all = user;
  const pc_point_masses *masses = all->masses;
  const int64_t grid = all->grid, first = (int64_t)index * SMOOTH_GATHERED;
  const int64_t end = first + SMOOTH_GATHERED <= grid ? first + SMOOTH_GATHERED : grid + 1;
  (void)worker;
  (void)err;
  for (int64_t node = first; node < end; node++) {
    all->out->at[node] = (double)node / (double)grid;
    all->out->mass[node] = 0.0;
  }
  for (size_t i = smooth_find(masses, grid, (double)(first - 3)); i < masses->count;) {
    const int64_t node = (int64_t)(masses->at[i] * (double)grid);
    double sum[6] = {0.0};
    if (node > end + 2)
      break;
    for (; i < masses->count;
         i++) { /* sum all masses between two nodes before distributing them */
      const double f = masses->at[i] * (double)grid - (double)node;
      double part[6];
      if (f >= 1.0)
        break;
      pc_smooth_spread(f, masses->mass[i], part);
      for (int k = 0; k < 6; k++)
        sum[k] += part[k];
    }
    for (int k = 0; k < 6; k++) {
      const int64_t to = smooth_inside(node - 2 + k, grid);
      if (to >= first && to < end)
        all->out->mass[to] += sum[k];
    }
  }
  return PCAL_OK;
}

/* Runs tasks that cannot fail, in the calling thread if there are no others. */
static void smooth_run(const pcal_env *env, size_t count, double work, pc_task task,
                       void *user) {
  if (env != NULL) {
    pcal_env quiet = *env;
    quiet.interrupted = NULL;
    quiet.progress = NULL;
    if (pc_run(&quiet, count, work, task, user, NULL) == PCAL_OK)
      return;
  }
  for (size_t index = 0; index < count; index++)
    (void)task(user, index, 0, NULL);
}

void pc_smooth_gather(const pcal_env *env, const pc_point_masses *masses, int64_t grid,
                      pc_point_masses *out) {
  smooth_gathering all = {masses, grid, out};
  out->count = (size_t)grid + 1;
  smooth_run(env, (size_t)(grid / SMOOTH_GATHERED) + 1,
             SMOOTH_MASS_COST * (double)masses->count + (double)grid, smooth_gather_block,
             &all);
}

/* Adds a mass to a node.  A node beyond an end counts for its mirror image inside; a node on an
 * end is its own mirror image. */
static void smooth_drop(smooth_block *block, int64_t node, double mass) {
  const int64_t inside = smooth_inside(node, block->nodes);
  if (inside >= smooth_low(block) && inside <= smooth_high(block))
    block->mass[inside - smooth_low(block)] +=
        inside == 0 || inside == block->nodes ? 2 * mass : mass;
}

static void smooth_deposit(smooth_block *block, double at, double mass) {
  const double place = at * (double)block->nodes;
  const int64_t node = (int64_t)place;
  double part[6];
  if (place == (double)node) { /* all other weights are 0: same bits, faster */
    smooth_drop(block, node, mass * -3.0 * -4.0 * -1.0 * (-1.0 / 12));
    return;
  }
  pc_smooth_spread(place - (double)node, mass, part);
  const int64_t low = smooth_low(block), high = smooth_high(block);
  if (node > 2 && node + 3 < block->nodes && node - 2 >= low && node + 3 <= high) {
    double *to = block->mass + (node - 2 - low);
    for (int k = 0; k < 6; k++)
      to[k] += part[k];
    return;
  }
  for (int k = 0; k < 6; k++)
    smooth_drop(block, node - 2 + k, part[k]);
}

/* The index of a node outside the grid in the even extension with period 2 / h. */
static int64_t smooth_mirror(const smooth_block *block, int64_t node) {
  const int64_t period = 2 * block->nodes;
  if (node >= -block->nodes && node <= period)
    return smooth_inside(node, block->nodes);
  const int64_t rest = ((node % period) + period) % period;
  return rest > block->nodes ? period - rest : rest;
}

/* Reads only `reach` + 2 nodes beyond the intervals. */
static void smooth_fill(smooth_block *block, const pc_point_masses *masses, size_t begin,
                        int64_t reach) {
  const int64_t low = smooth_low(block), high = smooth_high(block);
  memset(block->mass, 0, (size_t)(high - low + 1) * sizeof *block->mass);
  for (size_t i = begin; i < masses->count; i++) {
    if ((int64_t)(masses->at[i] * (double)block->nodes) - 2 > high)
      break;
    smooth_deposit(block, masses->at[i], masses->mass[i]);
  }
  const int64_t from = block->first - 2 - reach, to = block->first + block->count + 2 + reach;
  for (int64_t node = from; node < 0; node++)
    block->mass[node - low] = block->mass[smooth_mirror(block, node) - low];
  for (int64_t node = block->nodes + 1; node <= to; node++)
    block->mass[node - low] = block->mass[smooth_mirror(block, node) - low];
}

/* ---- the smoothed values ---- */

static void smooth_convolve(smooth_block *block, const smooth_kernel *kernel) {
  const int64_t inputs = block->count + 5 + 2 * kernel->reach;
  const double *mass = block->mass + (SMOOTH_SIDE - 2 - kernel->reach);
  int32_t filled[SMOOTH_BLOCK + 2 * SMOOTH_SIDE + 1];
  size_t count = 0;
  for (int64_t i = 0; i < inputs; i++) {
    filled[count] = (int32_t)i;
    count += mass[i] != 0.0;
  }
  pc_kernels_best()->convolve->convolve_filled(mass, filled, count, kernel->weight,
                                               2 * (size_t)kernel->reach + 1,
                                               (size_t)block->count + 5, block->value);
}

/* ---- the integral of |f| ---- */

/* The integral over [0, 1] of |cubic| given by its Bernstein coefficients. */
static double smooth_cubic(double b0, double b1, double b2, double b3, int depth) {
  if ((b0 >= 0 && b1 >= 0 && b2 >= 0 && b3 >= 0) ||
      (b0 <= 0 && b1 <= 0 && b2 <= 0 && b3 <= 0) || depth == 0)
    return fabs(b0 + b1 + b2 + b3) / 4;
  const double c0 = (b0 + b1) / 2, c1 = (b1 + b2) / 2, c2 = (b2 + b3) / 2;
  const double d0 = (c0 + c1) / 2, d1 = (c1 + c2) / 2, middle = (d0 + d1) / 2;
  return (smooth_cubic(b0, c0, d0, middle, depth - 1) +
          smooth_cubic(middle, d1, c2, b3, depth - 1)) /
         2;
}

/* A third of h f' at a node, from its neighbours. */
static double smooth_slope(const double *value) {
  return (8 * (value[1] - value[-1]) - (value[2] - value[-2])) / 36;
}

static double smooth_integrate(const smooth_block *block, int depth) {
  const double *value = block->value + 2;
  double sum = 0.0, slope = smooth_slope(value);
  for (int64_t i = 0; i < block->count; i++) {
    const double next = smooth_slope(value + i + 1);
    sum += smooth_cubic(value[i], value[i] + slope, value[i + 1] - next, value[i + 1], depth);
    slope = next;
  }
  return sum;
}

typedef struct smooth_integral {
  const pc_point_masses *masses;
  int64_t nodes;
  size_t first; /* block of the first sum */
  double *sums; /* of each block */
  smooth_kernel kernel;
} smooth_integral;

static pcal_status smooth_block_sum(void *user, size_t index, size_t worker, pcal_error *err) {
  const smooth_integral *all = user;
  smooth_block block;
  (void)worker;
  (void)err;
  block.nodes = all->nodes;
  block.count = block.nodes < SMOOTH_BLOCK ? block.nodes : SMOOTH_BLOCK;
  block.first = (int64_t)(all->first + index) * SMOOTH_BLOCK;
  const size_t begin = smooth_find(all->masses, block.nodes, (double)(smooth_low(&block) - 3));
  all->sums[index] = 0.0;
  if (begin == all->masses->count ||
      (int64_t)(all->masses->at[begin] * (double)block.nodes) - 3 > smooth_high(&block))
    return PCAL_OK; /* no mass is near this block */
  smooth_fill(&block, all->masses, begin, all->kernel.reach);
  smooth_convolve(&block, &all->kernel);
  all->sums[index] = smooth_integrate(&block, all->kernel.depth);
  return PCAL_OK;
}

/* Blocks with masses near them: from the first such block, at or after `first`, to the last
 * one of a wave. */
typedef struct smooth_wave {
  size_t first, count; /* blocks; count 0: there are none */
  size_t masses;       /* near them */
} smooth_wave;

static smooth_wave smooth_next_wave(const smooth_integral *all, size_t blocks) {
  const pc_point_masses *masses = all->masses;
  smooth_wave wave = {.first = all->first};
  const double low = (double)((int64_t)all->first * SMOOTH_BLOCK - SMOOTH_SIDE - 3);
  const size_t begin = smooth_find(masses, all->nodes, low);
  if (begin == masses->count)
    return wave;
  const int64_t nearest = (int64_t)(masses->at[begin] * (double)all->nodes) - 3;
  const int64_t before = (nearest - SMOOTH_SIDE) / SMOOTH_BLOCK - 1;
  if (before > (int64_t)wave.first)
    wave.first = (size_t)before;
  const int64_t high = (int64_t)(wave.first + SMOOTH_WAVE) * SMOOTH_BLOCK + SMOOTH_SIDE + 3;
  const size_t end = smooth_find(masses, all->nodes, (double)high);
  const int64_t last = (int64_t)(masses->at[end - 1] * (double)all->nodes) + SMOOTH_SIDE + 3;
  const size_t stop = (size_t)(last / SMOOTH_BLOCK) + 1, most = wave.first + SMOOTH_WAVE;
  wave.masses = end - begin;
  wave.count = (stop < most ? stop : most) - wave.first;
  if (wave.first + wave.count > blocks)
    wave.count = blocks - wave.first;
  return wave;
}

double pc_smooth_norm(const pcal_env *env, const pc_point_masses *masses, double sigma,
                      double fine) {
  double sums[SMOOTH_WAVE], sum = 0.0;
  smooth_integral all = {.masses = masses, .nodes = pc_smooth_grid(sigma, fine), .sums = sums};
  const size_t blocks = (size_t)((all.nodes + SMOOTH_BLOCK - 1) / SMOOTH_BLOCK);
  const double h = 1.0 / (double)all.nodes;
  smooth_kernel_fill(&all.kernel, h, sigma, fine < PC_SMOOTH_FINE);
  while (all.first < blocks) {
    const smooth_wave wave = smooth_next_wave(&all, blocks);
    const size_t full = wave.masses / SMOOTH_FULL + 1; /* the others cost little */
    if (wave.count == 0)
      break;
    all.first = wave.first;
    smooth_run(env, wave.count,
               SMOOTH_NODE_COST * SMOOTH_BLOCK *
                   (double)(full < wave.count ? full : wave.count),
               smooth_block_sum, &all);
    for (size_t b = 0; b < wave.count; b++)
      sum += sums[b];
    all.first += wave.count;
  }
  return sum * h;
}
