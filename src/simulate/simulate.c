/* A mixture of logistic-normal predictions (Gruber & Buettner 2022, appendix G.1).
 *
 * Row r belongs to component i = r mod K.  Component i has mean e_i and covariance
 *   Sigma_i ~ inverse-Wishart(K, I / s),  that is  Sigma_i^-1 = s A A',
 * with A lower triangular (Bartlett 1933): A_jj^2 ~ chi-square(K - j), j = 0 .. K-1, and A_jk ~
 * N(0, 1) below the diagonal.  So z = e_i + x / sqrt(s) with A' x = g, g ~ N(0, I), needs no
 * matrix: one triangular system is solved from the last row of A to the first, and each row of A
 * is drawn when it is needed, for a block of rows at once.
 *
 *   stored logit = float(factor z),  truth = softmax(stored / factor),  label ~ truth
 *
 * Draws: seed of the environment; streams, with c = component:
 *
 *   normals of A, index j K + k         S + 2^32 0 + c
 *   chi-squares of A, index j K + ...   S + 2^32 1 + c
 *   g, index r K + j                    S + 2^32 2
 *   label of row r, index r             S + 2^32 3
 *
 * where r counts from first_row on.  So a row does not depend on the number of rows, and
 * depends on the factor only through rounding.
 *
 * Edge cases:
 *   (1) truth is that of the stored logits, so that rounding to float is no miscalibration;
 *   (2) fewer than K rows use the first components only;
 *   (3) a component of many rows is cut into blocks, each of which draws the same A again.
 *
 * Cost: K^2 / 2 normals for each block and K^2 multiplications for each row.  Memory: for each
 * worker at most SIMULATE_BLOCK + 2 rows of doubles. */
#include "simulate/simulate.h"

#include "base/elementary.h"
#include "base/executor.h"
#include "base/number.h"
#include "base/rng.h"
#include "kernels/softmax.h"

#include <math.h>

#define SIMULATE_BLOCK 256
#define SIMULATE_CLASSES_MAX 100000
#define SIMULATE_STREAM UINT64_C(0x5300000000000000)
#define SIMULATE_DRAW_NS 15.0

enum { SIMULATE_NORMALS, SIMULATE_CHI_SQUARES, SIMULATE_NOISE, SIMULATE_LABELS };

typedef struct simulate_job {
  const pcal_simulation *sim;
  const pcal_env *env;
  float *logits;
  int32_t *labels;
  double *truth;
  size_t components; /* components that have rows */
  size_t block;      /* rows to a task */
  double *scratch;   /* simulate_scratch_size doubles for each worker */
} simulate_job;

static pc_rng simulate_stream(const simulate_job *job, uint64_t what, size_t component) {
  return (pc_rng){job->env->seed, SIMULATE_STREAM + (what << 32) + component};
}

/* chi-square(2 m) = -2 log(u_1 ... u_m); an odd degree adds the square of a normal.  scratch: m
 * doubles. */
static double simulate_chi_square(const pc_rng *rng, uint64_t first, size_t degrees,
                                  double *scratch) {
  const size_t pairs = degrees / 2;
  double total = 0.0, product = 1.0;
  pc_rng_uniforms(rng, first, pairs, scratch);
  for (size_t i = 0; i < pairs; i++) {
    product *= scratch[i];
    if (product < 0x1p-900) {
      total -= 2.0 * pc_log(product);
      product = 1.0;
    }
  }
  total -= 2.0 * pc_log(product);
  if (degrees % 2 == 1) {
    const double normal = pc_rng_normal(rng, first + pairs);
    total += normal * normal;
  }
  return total;
}

/* Solves A' x = g in place for `rows` vectors g; line: scratch space for a row of A. */
static void simulate_solve(const simulate_job *job, size_t component, double *noise,
                           size_t rows, double *line) {
  const size_t classes = job->sim->classes;
  const pc_rng normals = simulate_stream(job, SIMULATE_NORMALS, component);
  const pc_rng squares = simulate_stream(job, SIMULATE_CHI_SQUARES, component);
  for (size_t j = classes; j-- > 0;) {
    const uint64_t first = (uint64_t)j * classes;
    const double diagonal = sqrt(simulate_chi_square(&squares, first, classes - j, line));
    pc_rng_normals(&normals, first, j, line);
    for (size_t r = 0; r < rows; r++) {
      double *g = noise + r * classes;
      const double x = g[j] / diagonal;
      g[j] = x;
      for (size_t k = 0; k < j; k++)
        g[k] -= x * line[k];
    }
  }
}

static int32_t simulate_label(const double *probability, size_t classes, double u) {
  double sum = 0.0;
  size_t last = 0;
  for (size_t j = 0; j < classes; j++) {
    sum += probability[j];
    if (probability[j] > 0)
      last = j;
    if (u < sum)
      return (int32_t)j;
  }
  return (int32_t)last;
}

/* Stores a row whose deviation from the component's mean is x / sqrt(scale). */
static pcal_status simulate_store(const simulate_job *job, size_t row, const double *x,
                                  double *truth, pcal_error *err) {
  const pcal_simulation *sim = job->sim;
  const size_t classes = sim->classes, component = row % classes;
  const double spread = 1.0 / sqrt(sim->scale);
  float *stored = job->logits + row * classes;
  for (size_t j = 0; j < classes; j++) {
    const double z = x[j] * spread + (j == component ? 1.0 : 0.0);
    stored[j] = (float)(sim->factor * z);
    truth[j] = (double)stored[j] / sim->factor;
    if (!isfinite(stored[j]) || !isfinite(truth[j])) {
      char factor[PC_NUMBER_MAX], scale[PC_NUMBER_MAX];
      return pc_fail_row(err, PCAL_USAGE, row,
                         "simulated row %zu does not fit float32 with factor %s and scale %s; "
                         "bring both nearer to 1",
                         row, pc_show(sim->factor, factor), pc_show(sim->scale, scale));
    }
  }
  pc_softmax_row(truth, classes, truth);
  const pc_rng rng = simulate_stream(job, SIMULATE_LABELS, 0);
  job->labels[row] = simulate_label(truth, classes, pc_rng_uniform(&rng, sim->first_row + row));
  return PCAL_OK;
}

/* `block` vectors, a row of A, a row of truth. */
static size_t simulate_scratch_size(const simulate_job *job) {
  return (job->block + 2) * job->sim->classes;
}

static pcal_status simulate_task(void *user, size_t index, size_t worker, pcal_error *err) {
  const simulate_job *job = user;
  const size_t classes = job->sim->classes, total = (size_t)job->sim->rows;
  const size_t component = index % job->components;
  const size_t first = component + index / job->components * job->block * classes;
  if (first >= total)
    return PCAL_OK;
  const size_t left = (total - first - 1) / classes + 1;
  const size_t rows = left < job->block ? left : job->block;
  double *noise = job->scratch + worker * simulate_scratch_size(job);
  double *line = noise + job->block * classes, *own_truth = line + classes;
  const pc_rng rng = simulate_stream(job, SIMULATE_NOISE, 0);
  for (size_t r = 0; r < rows; r++)
    pc_rng_normals(&rng, (job->sim->first_row + first + r * classes) * classes, classes,
                   noise + r * classes);
  simulate_solve(job, component, noise, rows, line);
  for (size_t r = 0; r < rows; r++) {
    const size_t row = first + r * classes;
    double *truth = job->truth != NULL ? job->truth + row * classes : own_truth;
    PC_TRY(simulate_store(job, row, noise + r * classes, truth, err));
  }
  return PCAL_OK;
}

static pcal_status simulate_check(const pcal_simulation *sim, pcal_error *err) {
  char shown[PC_NUMBER_MAX];
  if (sim->rows < 1)
    return pc_fail(err, PCAL_USAGE, "rows is 0; a simulation needs at least 1");
  if (sim->classes < 2 || sim->classes > SIMULATE_CLASSES_MAX)
    return pc_fail(err, PCAL_USAGE, "classes is %zu; a simulation takes from 2 to %d",
                   sim->classes, SIMULATE_CLASSES_MAX);
  if (!(sim->factor > 0) || !isfinite(sim->factor))
    return pc_fail(err, PCAL_USAGE, "factor is %s; a simulation needs a positive number",
                   pc_show(sim->factor, shown));
  if (!(sim->scale > 0) || !isfinite(sim->scale))
    return pc_fail(err, PCAL_USAGE, "scale is %s; a simulation needs a positive number",
                   pc_show(sim->scale, shown));
  if (sim->first_row % sim->classes != 0)
    return pc_fail(err, PCAL_USAGE,
                   "the first row is %llu; it must be a multiple of the %zu classes",
                   (unsigned long long)sim->first_row, sim->classes);
  if (sim->rows > SIZE_MAX / 2 / sizeof(double) / sim->classes)
    return pc_fail(err, PCAL_MEMORY,
                   "out of memory for %llu rows x %zu classes; simulate fewer rows",
                   (unsigned long long)sim->rows, sim->classes);
  return PCAL_OK;
}

static pcal_status simulate_run(simulate_job *job, pcal_error *err) {
  const size_t classes = job->sim->classes, rows = (size_t)job->sim->rows;
  const size_t most = (rows - 1) / classes + 1; /* rows of component 0 */
  job->components = rows < classes ? rows : classes;
  job->block = most < SIMULATE_BLOCK ? most : SIMULATE_BLOCK;
  const size_t blocks = (most - 1) / job->block + 1;
  job->scratch = pc_alloc_raw(job->env, pc_worker_count(job->env),
                              simulate_scratch_size(job) * sizeof *job->scratch);
  if (job->scratch == NULL)
    return pc_fail_memory(err, "simulating");
  const size_t count = blocks * job->components;
  const double work = SIMULATE_DRAW_NS * (double)classes *
                      ((double)count * (double)classes / 2 + 2 * (double)rows);
  const pcal_status status = pc_run(job->env, count, work, simulate_task, job, err);
  pc_free(job->env, job->scratch);
  return status;
}

pcal_status pc_simulate(const pcal_simulation *sim, const pcal_env *env, float *logits,
                        int32_t *labels, double *truth, pcal_error *err) {
  if (sim == NULL || logits == NULL || labels == NULL)
    return pc_fail(err, PCAL_USAGE, "a simulation needs arrays for its logits and labels");
  PC_TRY(simulate_check(sim, err));
  const pcal_env resolved = pc_env_resolve(env);
  simulate_job job = {
      .sim = sim, .env = &resolved, .logits = logits, .labels = labels, .truth = truth};
  return simulate_run(&job, err);
}
