/* Chooses cells and steps, the number of steps by cross-validation, and divides the steps among the
 * groups. */
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "calibrators/boosting/boosting_rows.h"
#include "calibrators/boosting/group_boosting.h"
#include "calibrators/group_calibrators.h"

#define BOOSTING_LEAST_GAIN 1e-10 /* of the mean log score: smaller steps are not taken */
#define BOOSTING_ACCURACY 1e-10
#define BOOSTING_SEARCH_MOST 80
#define BOOSTING_NO_FOLD PC_BOOSTING_FOLDS

typedef struct boosting_cell {
  double residual, curvature; /* sums of w (y - p) and w p (1 - p) */
} boosting_cell;

/* A step, and the group that it is for. */
typedef struct boosting_move {
  size_t set, k;
  pc_boosting_step step;
} boosting_move;

/* A sequence of steps on all rows but those of one fold. */
typedef struct boosting_path {
  const pc_fit_task *task;
  const pc_boosting_rows *rows;
  size_t bins;
  double rate, weight; /* weight: of the rows of the fit */
  unsigned fold;       /* held out; BOOSTING_NO_FOLD: none */
  double *probs;       /* after the steps so far */
  boosting_cell *cells;
  size_t *members; /* rows of the chosen cell */
  size_t member_count;
} boosting_path;

static size_t boosting_cell_count(const boosting_path *path) {
  return path->rows->sets.count * path->rows->width * (path->bins + 1);
}

static size_t boosting_cell_index(const boosting_path *path, size_t set, size_t k) {
  return (set * path->rows->width + k) * (path->bins + 1);
}

static int boosting_is_held_out(const boosting_path *path, size_t i) {
  return path->rows->folds[i] == path->fold;
}

/* ---- The cell with the largest gain ---- */

static void boosting_add_row(const boosting_path *path, size_t i) {
  const pc_boosting_rows *rows = path->rows;
  const pc_boosting_membership *in = &rows->memberships[rows->groups[i]];
  for (size_t k = 0; k < rows->width; k++) {
    const double p = path->probs[i * rows->width + k], w = rows->weights[i];
    const double residual = w * ((double)pc_boosting_hit(rows, i, k) - p);
    const double curvature = w * p * (1.0 - p);
    const size_t bin = pc_boosting_bin(p, path->bins);
    for (size_t s = 0; s < in->count; s++) {
      boosting_cell *cell = path->cells + boosting_cell_index(path, in->sets[s], k);
      cell[0].residual += residual;
      cell[0].curvature += curvature;
      cell[bin].residual += residual;
      cell[bin].curvature += curvature;
    }
  }
}

/* Sums over all cells, without the rows held out. */
static void boosting_add_rows(const boosting_path *path) {
  memset(path->cells, 0, boosting_cell_count(path) * sizeof *path->cells);
  for (size_t i = 0; i < path->rows->count; i++)
    if (!boosting_is_held_out(path, i))
      boosting_add_row(path, i);
}

/* Finds the cell of the next step; returns 0 if none gains enough. */
static int boosting_choose(const boosting_path *path, boosting_move *out) {
  double best = 2.0 * BOOSTING_LEAST_GAIN * path->weight;
  size_t found = SIZE_MAX;
  boosting_add_rows(path);
  for (size_t c = 0; c < boosting_cell_count(path); c++) {
    const boosting_cell *cell = &path->cells[c];
    const double gain =
        cell->curvature > 0.0 ? cell->residual * cell->residual / cell->curvature : 0.0;
    if (gain > best) {
      best = gain;
      found = c;
    }
  }
  if (found == SIZE_MAX)
    return 0;
  const size_t column = found / (path->bins + 1), width = path->rows->width;
  *out = (boosting_move){.set = column / width, .k = column % width};
  out->step.bin = found % (path->bins + 1);
  out->step.class_index = width == 1 ? 1 : out->k;
  return 1;
}

/* ---- The size of a step ---- */

static int boosting_in_set(const pc_boosting_membership *in, size_t set) {
  for (size_t s = 0; s < in->count; s++)
    if (in->sets[s] == set)
      return 1;
  return 0;
}

static void boosting_collect(boosting_path *path, const boosting_move *move) {
  const pc_boosting_rows *rows = path->rows;
  path->member_count = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const double p = path->probs[i * rows->width + move->k];
    if ((move->step.bin == 0 || pc_boosting_bin(p, path->bins) == move->step.bin) &&
        boosting_in_set(&rows->memberships[rows->groups[i]], move->set))
      path->members[path->member_count++] = i;
  }
}

/* Derivatives of the log score of the cell after a step of `size`. */
static boosting_cell boosting_slope(const boosting_path *path, size_t k, double size) {
  const pc_boosting_rows *rows = path->rows;
  const double factor = pc_exp(size), more = pc_expm1(size);
  boosting_cell sum = {0.0, 0.0};
  for (size_t m = 0; m < path->member_count; m++) {
    const size_t i = path->members[m];
    if (boosting_is_held_out(path, i))
      continue;
    const double p = path->probs[i * rows->width + k], w = rows->weights[i];
    const double moved = p * factor / (1.0 + p * more);
    sum.residual += w * ((double)pc_boosting_hit(rows, i, k) - moved);
    sum.curvature += w * moved * (1.0 - moved);
  }
  return sum;
}

/* Newton's method between bounds that close in on the root of the slope. */
static double boosting_search(const boosting_path *path, size_t k) {
  double low = -PC_BOOSTING_SIZE_MAX, high = PC_BOOSTING_SIZE_MAX, size = 0.0;
  for (size_t i = 0; i < BOOSTING_SEARCH_MOST; i++) {
    const boosting_cell slope = boosting_slope(path, k, size);
    if (slope.residual > 0.0)
      low = size;
    else
      high = size;
    double next = slope.curvature > 0.0 ? size + slope.residual / slope.curvature : size;
    if (!(next > low && next < high))
      next = (low + high) / 2.0;
    const double change = fabs(next - size);
    size = next;
    if (change <= BOOSTING_ACCURACY)
      break;
  }
  return size;
}

/* Sum of the gains of a step over the rows inside (held_out = 0) or outside the fit. */
static double boosting_cell_gain(const boosting_path *path, const boosting_move *move,
                                 int held_out) {
  const pc_boosting_rows *rows = path->rows;
  double sum = 0.0;
  for (size_t m = 0; m < path->member_count; m++) {
    const size_t i = path->members[m];
    if (boosting_is_held_out(path, i) == held_out)
      sum += rows->weights[i] * pc_boosting_gain(path->probs[i * rows->width + move->k],
                                                 pc_boosting_hit(rows, i, move->k),
                                                 move->step.size);
  }
  return sum;
}

/* ---- Steps ---- */

/* Takes up to `most` steps and returns their number.  moves: the steps, or NULL; gains: adds to
 * gains[t] what the first t steps gain on the rows held out, or NULL. */
static pcal_status boosting_walk(boosting_path *path, size_t most, boosting_move *moves,
                                 double *gains, size_t *taken, pcal_error *err) {
  const pc_boosting_rows *rows = path->rows;
  double gained = 0.0;
  size_t t = 0;
  boosting_move move;
  memcpy(path->probs, rows->probs, rows->count * rows->width * sizeof *path->probs);
  for (; t < most && boosting_choose(path, &move); t++) {
    boosting_collect(path, &move);
    move.step.size = path->rate * boosting_search(path, move.k);
    if (!(boosting_cell_gain(path, &move, 0) > 0.0))
      break;
    gained += gains == NULL ? 0.0 : boosting_cell_gain(path, &move, 1);
    for (size_t m = 0; m < path->member_count; m++)
      pc_boosting_move(path->probs + path->members[m] * rows->width, rows->width, move.k,
                       move.step.size);
    if (moves != NULL)
      moves[t] = move;
    if (gains != NULL)
      gains[t + 1] += gained;
    PC_TRY(pc_check_interrupt(path->task->env, err));
  }
  *taken = t;
  for (size_t after = t + 1; gains != NULL && after <= most; after++)
    gains[after] += gained;
  return PCAL_OK;
}

/* The number of steps with the largest gain on rows held out; of equal ones the fewest. */
static pcal_status boosting_validate(boosting_path *path, size_t most, size_t *out,
                                     pcal_error *err) {
  double *gains = pc_alloc(path->task->env, most + 1, sizeof *gains);
  size_t taken;
  if (gains == NULL)
    return pc_fail_memory(err, "choosing steps");
  for (path->fold = 0; path->fold < PC_BOOSTING_FOLDS; path->fold++) {
    pc_progress(path->task->env, "validating", path->fold, PC_BOOSTING_FOLDS);
    PC_TRY(boosting_walk(path, most, NULL, gains, &taken, err));
  }
  path->fold = BOOSTING_NO_FOLD;
  *out = 0;
  for (size_t t = 1; t <= most; t++)
    if (gains[t] > gains[*out])
      *out = t;
  pc_free(path->task->env, gains);
  return PCAL_OK;
}

/* ---- Results ---- */

/* Mean log scores of the rows of a set before and after the steps, and the mean error that is
 * left. */
static void boosting_outcome(const boosting_path *path, size_t set, pc_fit_info *out) {
  const pc_boosting_rows *rows = path->rows;
  double weight = 0.0, before = 0.0, after = 0.0, left = 0.0;
  for (size_t i = 0; i < rows->count; i++) {
    if (!boosting_in_set(&rows->memberships[rows->groups[i]], set))
      continue;
    const size_t k = rows->width == 1 ? 0 : (size_t)rows->labels[i];
    const int hit = rows->width > 1 || rows->labels[i] == 1;
    const double w = rows->weights[i];
    const double p = rows->probs[i * rows->width + k], q = path->probs[i * rows->width + k];
    weight += w;
    before -= w * (hit ? pc_log(p) : pc_log1p(-p));
    after -= w * (hit ? pc_log(q) : pc_log1p(-q));
    left += w * ((hit ? 1.0 : 0.0) - q);
  }
  out->rows = rows->set_rows[set];
  out->weight = rows->set_weights[set];
  out->before = rows->set_impossible[set] ? (double)INFINITY : before / weight;
  out->after = after / weight;
  out->gradient = fabs(left) / weight;
}

/* The steps that rows of a membership take, in the same order. */
static pcal_status boosting_take(pcal_calibrator *calibrator, const pc_boosting_membership *in,
                                 const boosting_move *moves, size_t count, pcal_error *err) {
  pc_boosting_steps *steps = NULL;
  PC_TRY(pc_boosting_steps_new(calibrator, count, &steps, err));
  for (size_t m = 0; m < count; m++)
    if (boosting_in_set(in, moves[m].set))
      steps->steps[steps->count++] = moves[m].step;
  return PCAL_OK;
}

static pcal_status boosting_member(const boosting_path *path, size_t set,
                                   const boosting_move *moves, size_t count,
                                   pc_group_member *out, pcal_error *err) {
  pcal_calibrator *all = path->task->calibrator;
  const pc_boosting_rows *rows = path->rows;
  PC_TRY(pc_calibrator_new(&all->env, all->method, &all->options, &all->layout,
                           &out->calibrator, err));
  all->groups->count++;
  pc_fit_info *fit = &out->calibrator->fit;
  out->calibrator->normalize = all->normalize;
  out->name = pc_copy_text(&all->env, rows->sets.names[set]);
  if (out->name == NULL)
    return pc_fail_memory(err, "fitting groups");
  PC_TRY(boosting_take(out->calibrator, &rows->memberships[set], moves, count, err));
  boosting_outcome(path, set, fit);
  fit->status = all->fit.status;
  fit->searched = 1;
  fit->weighted = all->fit.weighted;
  fit->iterations = ((const pc_boosting_steps *)out->calibrator->parameters)->count;
  return PCAL_OK;
}

static pcal_status boosting_members(const boosting_path *path, const boosting_move *moves,
                                    size_t count, pcal_error *err) {
  pcal_calibrator *all = path->task->calibrator;
  const size_t sets = path->rows->sets.count;
  PC_TRY(pc_group_calibrators_new(all, sets - 1, err));
  all->groups->kappa = 0.0;
  all->groups->count = 0;
  for (size_t s = 1; s < sets; s++)
    PC_TRY(boosting_member(path, s, moves, count, &all->groups->members[s - 1], err));
  return PCAL_OK;
}

/* Undoes all steps if rounding made them useless. */
static size_t boosting_check(const boosting_path *path, size_t count, pc_fit_info *found) {
  const pc_boosting_rows *rows = path->rows;
  boosting_outcome(path, 0, found);
  if (found->after < found->before)
    return count;
  memcpy(path->probs, rows->probs, rows->count * rows->width * sizeof *path->probs);
  boosting_outcome(path, 0, found);
  return 0;
}

static pcal_status boosting_finish(const boosting_path *path, const boosting_move *moves,
                                   size_t taken, int stopped, pcal_error *err) {
  const pc_boosting_membership everything = {1, {0}};
  pcal_calibrator *calibrator = path->task->calibrator;
  pc_fit_info found = {0}, *fit = &calibrator->fit;
  const size_t count = boosting_check(path, taken, &found);
  fit->status = !(found.after < found.before) ? PC_FIT_IDENTITY
                : stopped                     ? PC_FIT_STOPPED
                                              : PC_FIT_CONVERGED;
  fit->iterations = count;
  fit->searched = 1;
  fit->gradient = found.gradient;
  fit->before = found.before;
  fit->after = found.after;
  PC_TRY(boosting_take(calibrator, &everything, moves, count, err));
  return path->task->by_group ? boosting_members(path, moves, count, err) : PCAL_OK;
}

static pcal_status boosting_path_new(boosting_path *path, pcal_error *err) {
  const pcal_env *env = path->task->env;
  const pc_boosting_rows *rows = path->rows;
  path->probs = pc_alloc_raw(env, rows->count * rows->width + 1, sizeof *path->probs);
  path->cells = pc_alloc_raw(env, boosting_cell_count(path), sizeof *path->cells);
  path->members = pc_alloc_raw(env, rows->count + 1, sizeof *path->members);
  for (size_t i = 0; i < rows->count; i++)
    path->weight += rows->weights[i];
  return path->probs == NULL || path->cells == NULL || path->members == NULL
             ? pc_fail_memory(err, "choosing steps")
             : PCAL_OK;
}

static void boosting_warn(const pc_fit_task *task, int validated, size_t steps) {
  if (validated)
    pc_fit_warn(
        &task->calibrator->fit,
        "all %zu steps improve rows held out, and more might; give more with steps=", steps);
  else
    pc_fit_warn(&task->calibrator->fit,
                "validate=no: no rows were held out to choose the number of steps, so that new "
                "rows may get a worse log score");
}

pcal_status pc_boosting_fit(const pc_fit_task *task, pcal_error *err) {
  const pc_option_value *option = task->calibrator->options.value;
  pc_boosting_rows rows;
  size_t most = (size_t)option[PC_BOOSTING_STEPS].number, taken = 0;
  const int validated = option[PC_BOOSTING_VALIDATE].number != 0;
  int stopped = !validated;
  PC_TRY(pc_boosting_rows_open(task, &rows, err));
  boosting_path path = {.task = task,
                        .rows = &rows,
                        .bins = (size_t)option[PC_BOOSTING_BINS].number,
                        .rate = option[PC_BOOSTING_RATE].number,
                        .fold = BOOSTING_NO_FOLD};
  PC_TRY(boosting_path_new(&path, err));
  if (validated) {
    const size_t allowed = most;
    PC_TRY(boosting_validate(&path, allowed, &most, err));
    stopped = most == allowed && most > 0;
  }
  boosting_move *moves = pc_alloc_raw(task->env, most + 1, sizeof *moves);
  if (moves == NULL)
    return pc_fail_memory(err, "choosing steps");
  PC_TRY(boosting_walk(&path, most, moves, NULL, &taken, err));
  stopped = stopped && (taken == most || !validated);
  if (stopped && taken > 0)
    boosting_warn(task, validated, taken);
  return boosting_finish(&path, moves, taken, stopped, err);
}
