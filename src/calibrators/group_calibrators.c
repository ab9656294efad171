/* Formula:  out = s p_g + (1 - s) p,  s = n_g / (n_g + kappa)
 *           p:   map fitted to all rows
 *           p_g: map fitted to the row's group
 *           n_g: weight of the rows that p_g was fitted to
 * Edge cases:
 *   1. A group without a calibrator of its own gets p; of several columns, with a value that no
 *      row of the fit had, the calibrator of its other values if there is one (group-boosting).
 *   2. kappa infinite: every group gets p.
 *   3. kappa 0: every group gets p_g.
 *   4. The mixture keeps what both maps keep of a row (its sum, its top class, the order of its
 *      classes); it need not be injective.
 * Source:   shrinkage of group means, Efron & Morris, JASA 70, 1975.
 * Cost:     two maps for each row. */
#include "calibrators/group_calibrators.h"

#include <math.h>
#include <string.h>

#include "calibrators/apply.h"
#include "io/source.h"
#include "measure/overlapping_groups.h"

double pc_group_share(const pc_group_member *member, double kappa) {
  const double n = member->calibrator->fit.weight;
  return isinf(kappa) ? 0.0 : n / (n + kappa);
}

pcal_status pc_group_calibrators_new(pcal_calibrator *calibrator, size_t count,
                                     pcal_error *err) {
  pc_group_calibrators *groups = pc_alloc(&calibrator->env, 1, sizeof *groups);
  pc_group_member *members =
      pc_alloc(&calibrator->env, count == 0 ? 1 : count, sizeof *members);
  if (groups == NULL || members == NULL)
    return pc_fail_memory(err, "making calibrators of groups");
  *groups = (pc_group_calibrators){.members = members, .count = count};
  calibrator->groups = groups;
  return PCAL_OK;
}

void pc_group_calibrators_free(pc_group_calibrators *groups) {
  for (size_t g = 0; g < groups->count; g++)
    pc_calibrator_free(groups->members[g].calibrator);
}

/* The member for a group, or UINT32_MAX. */
static uint32_t group_match(const pc_group_calibrators *groups, const char *name) {
  uint32_t found = UINT32_MAX;
  size_t most = 0;
  for (size_t g = 0; g < groups->count; g++) {
    const char *member = groups->members[g].name;
    if (strcmp(member, name) == 0)
      return (uint32_t)g;
    const size_t fields = pc_group_is_part(member, name) ? pc_group_fields(member) : 0;
    if (fields > most) {
      found = (uint32_t)g;
      most = fields;
    }
  }
  return found;
}

void pc_group_calibrators_match(const pc_group_calibrators *groups, const char *const *names,
                                size_t count, uint32_t *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = group_match(groups, names[i]);
}

/* ---- Two maps ---- */

/* Rows sorted by group; rows of no member come last. */
typedef struct group_order {
  size_t *rows;     /* indices of rows */
  size_t *begin;    /* where each group begins in them; count + 2 entries */
  double *in, *out; /* rows of one group, before and after its map */
} group_order;

static size_t group_index(const pcal_batch *batch, size_t row, size_t count) {
  const size_t group = batch->groups[row];
  return group < count ? group : count;
}

static void group_order_sort(const pcal_batch *batch, size_t count, group_order *order) {
  for (size_t i = 0; i < batch->rows; i++)
    order->begin[group_index(batch, i, count) + 1]++;
  for (size_t g = 0; g <= count; g++)
    order->begin[g + 1] += order->begin[g];
  for (size_t i = batch->rows; i-- > 0;)
    order->rows[--order->begin[group_index(batch, i, count) + 1]] = i;
  for (size_t g = 0; g <= count; g++)
    order->begin[g] = order->begin[g + 1];
  order->begin[count + 1] = batch->rows;
}

static pcal_status group_order_new(const pcal_batch *batch, size_t count, size_t columns,
                                   const pcal_env *env, group_order *order, pcal_error *err) {
  const size_t rows = batch->rows;
  order->rows = pc_alloc_raw(env, rows, sizeof *order->rows);
  order->begin = pc_alloc(env, count + 2, sizeof *order->begin);
  order->in = pc_alloc_raw(env, rows * batch->columns, sizeof *order->in);
  order->out = pc_alloc_raw(env, rows * columns, sizeof *order->out);
  if (order->rows == NULL || order->begin == NULL || order->in == NULL || order->out == NULL)
    return pc_fail_memory(err, "mapping groups of rows");
  group_order_sort(batch, count, order);
  return PCAL_OK;
}

/* Maps the rows of one group. */
static pcal_status group_map_member(const pcal_calibrator *member, const pcal_batch *batch,
                                    const size_t *rows, size_t count, const pcal_env *env,
                                    const group_order *order, double *by_group,
                                    pcal_error *err) {
  const size_t columns = pc_calibrator_columns(member);
  pcal_batch part = *batch;
  for (size_t i = 0; i < count; i++)
    pc_batch_row(batch, rows[i], order->in + i * batch->columns);
  part.rows = count;
  part.scores = order->in;
  part.groups = NULL;
  part.place = NULL;
  PC_TRY(pc_calibrator_apply(member, &part, env, order->out, err));
  for (size_t i = 0; i < count; i++)
    memcpy(by_group + rows[i] * columns, order->out + i * columns, columns * sizeof *by_group);
  return PCAL_OK;
}

/* As pc_group_calibrators_map_both, without freeing anything. */
static pcal_status group_map_both(const pcal_calibrator *pooled,
                                  const pcal_calibrator *const *members, size_t count,
                                  const pcal_batch *batch, const pcal_env *env, double *by_all,
                                  double *by_group, pcal_error *err) {
  const size_t columns = pc_calibrator_columns(pooled);
  group_order order;
  PC_TRY(pc_calibrator_apply_ungrouped(pooled, batch, env, by_all, err));
  memcpy(by_group, by_all, batch->rows * columns * sizeof *by_all);
  PC_TRY(group_order_new(batch, count, columns, env, &order, err));
  for (size_t g = 0; g < count; g++) {
    const size_t begin = order.begin[g], size = order.begin[g + 1] - begin;
    if (members[g] != NULL && size > 0)
      PC_TRY(group_map_member(members[g], batch, order.rows + begin, size, env, &order,
                              by_group, err));
  }
  return PCAL_OK;
}

pcal_status pc_group_calibrators_map_both(const pcal_calibrator *pooled,
                                          const pcal_calibrator *const *members, size_t count,
                                          const pcal_batch *batch, const pcal_env *env,
                                          double *by_all, double *by_group, pcal_error *err) {
  pc_arena scratch;
  PC_TRY(pc_arena_open(&scratch, env, err));
  const pcal_status status =
      group_map_both(pooled, members, count, batch, &scratch.env, by_all, by_group, err);
  pc_arena_close(&scratch);
  return status;
}

/* ---- Applying ---- */

/* Rows of a window as doubles, their groups, and both maps. */
typedef struct group_window {
  double *in, *by_all, *by_group;
  uint32_t *groups; /* read once: the caller's array may change meanwhile */
  const pcal_calibrator **members;
} group_window;

/* Writes the mixture of both maps to rows `at` and following of out. */
static void group_mix(const pcal_calibrator *calibrator, const pcal_batch *batch,
                      const group_window *window, size_t at, void *out) {
  const pc_group_calibrators *groups = calibrator->groups;
  const size_t columns = pc_calibrator_columns(calibrator);
  for (size_t i = 0; i < batch->rows; i++) {
    const size_t g = group_index(batch, i, groups->count);
    const double share =
        g < groups->count ? pc_group_share(&groups->members[g], groups->kappa) : 0.0;
    for (size_t j = 0; j < columns; j++) {
      const double a = window->by_all[i * columns + j], b = window->by_group[i * columns + j];
      const double mixed = share == 0.0 ? a : share == 1.0 ? b : share * b + (1.0 - share) * a;
      if (batch->type == PCAL_F32)
        ((float *)out)[(at + i) * columns + j] = (float)mixed;
      else
        ((double *)out)[(at + i) * columns + j] = mixed;
    }
  }
}

static pcal_status group_apply_window(const pcal_calibrator *calibrator,
                                      const pcal_batch *batch, size_t at,
                                      const group_window *window, const pcal_env *env,
                                      void *out, pcal_error *err) {
  pcal_batch own = *batch, doubles = *batch;
  for (size_t i = 0; i < batch->rows; i++)
    pc_batch_row(batch, i, window->in + i * batch->columns);
  memcpy(window->groups, batch->groups, batch->rows * sizeof *window->groups);
  own.groups = doubles.groups = window->groups;
  doubles.type = PCAL_F64;
  doubles.scores = window->in;
  doubles.row_stride = (ptrdiff_t)(batch->columns * sizeof(double));
  doubles.column_stride = (ptrdiff_t)sizeof(double);
  PC_TRY(pc_group_calibrators_map_both(calibrator, window->members, calibrator->groups->count,
                                       &doubles, env, window->by_all, window->by_group, err));
  group_mix(calibrator, &own, window, at, out);
  return PCAL_OK;
}

static pcal_status group_apply_windows(const pcal_calibrator *calibrator,
                                       const pcal_batch *batch, size_t rows,
                                       const group_window *window, const pcal_env *env,
                                       void *out, pcal_error *err) {
  for (size_t at = 0; at < batch->rows; at += rows) {
    pcal_batch part = *batch;
    part.rows = batch->rows - at < rows ? batch->rows - at : rows;
    part.scores = (const char *)batch->scores + (ptrdiff_t)at * batch->row_stride;
    part.groups = batch->groups + at;
    part.first_row = batch->first_row + at;
    if (at > 0)
      part.place = NULL;
    PC_TRY(group_apply_window(calibrator, &part, at, window, env, out, err));
  }
  return PCAL_OK;
}

/* Allocates a window and applies the calibrator, without freeing anything. */
static pcal_status group_apply(const pcal_calibrator *calibrator, const pcal_batch *batch,
                               const pcal_env *env, void *out, pcal_error *err) {
  const pc_group_calibrators *groups = calibrator->groups;
  const size_t columns = pc_calibrator_columns(calibrator);
  const size_t most = pc_source_derived_window(batch->columns);
  const size_t rows = batch->rows < most ? batch->rows : most;
  group_window window = {
      pc_alloc_raw(env, rows * batch->columns + 1, sizeof(double)),
      pc_alloc_raw(env, rows * columns + 1, sizeof(double)),
      pc_alloc_raw(env, rows * columns + 1, sizeof(double)),
      pc_alloc_raw(env, rows + 1, sizeof *window.groups),
      pc_alloc(env, groups->count + 1, sizeof *window.members),
  };
  if (window.in == NULL || window.by_all == NULL || window.by_group == NULL ||
      window.groups == NULL || window.members == NULL)
    return pc_fail_memory(err, "applying a calibrator");
  for (size_t g = 0; g < groups->count; g++)
    window.members[g] = groups->members[g].calibrator;
  return group_apply_windows(calibrator, batch, rows, &window, env, out, err);
}

pcal_status pc_group_calibrators_apply(const pcal_calibrator *calibrator,
                                       const pcal_batch *batch, const pcal_env *env, void *out,
                                       pcal_error *err) {
  if (batch->device != NULL)
    return pc_fail(err, PCAL_USAGE,
                   "a calibrator for groups does not read scores on a GPU; copy them into the "
                   "memory of the process");
  pc_arena scratch;
  if (batch->groups == NULL && batch->rows > 0)
    return pc_fail(err, PCAL_USAGE,
                   "the calibrator has a map for each group; give the groups of the rows with "
                   "{groups}");
  PC_TRY(pc_arena_open(&scratch, env, err));
  const pcal_status status = group_apply(calibrator, batch, &scratch.env, out, err);
  pc_arena_close(&scratch);
  return status;
}
