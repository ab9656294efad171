/* Formula:  out = s p_g + (1 - s) p,  s = n_g / (n_g + kappa), p the map fitted to all rows,
 * p_g that of the row's group, n_g the weight of the rows that p_g was fitted to. Edge cases:
 * (1) a group without a calibrator of its own has p; (2) so have all when kappa is infinite;
 * (3) kappa 0 keeps groups apart; (4) mixing keeps what both maps keep of a row: its sum, its
 * top class, the order of its classes; it need not be injective. Source:   shrinkage of means
 * of groups, Efron & Morris, JASA 70, 1975. Cost:     two maps for each row. */
#include "calibrators/group_calibrators.h"

#include <math.h>
#include <string.h>

#include "calibrators/apply.h"
#include "calibrators/folds.h"

double pc_group_share(const pc_group_member *member, double kappa) {
  const double n = member->calibrator->fit.weight;
  return isinf(kappa) ? 0.0 : n / (n + kappa);
}

pcal_status pc_group_calibrators_new(const pcal_env *env, size_t count,
                                     pc_group_calibrators **out, pcal_error *err) {
  pc_group_calibrators *grouping = pc_alloc(env, 1, sizeof *grouping);
  *out = grouping;
  if (grouping == NULL)
    return pc_fail_memory(err, "making calibrators of groups");
  grouping->members = pc_alloc(env, count == 0 ? 1 : count, sizeof *grouping->members);
  if (grouping->members == NULL)
    return pc_fail_memory(err, "making calibrators of groups");
  grouping->count = count;
  return PCAL_OK;
}

void pc_group_calibrators_free(const pcal_env *env, pc_group_calibrators *grouping) {
  if (grouping == NULL)
    return;
  for (size_t g = 0; g < grouping->count; g++) {
    pc_free(env, grouping->members[g].name);
    pc_calibrator_free(grouping->members[g].calibrator);
  }
  pc_free(env, grouping->members);
  pc_free(env, grouping);
}

void pc_group_calibrators_match(const pc_group_calibrators *grouping, const char *const *names,
                                size_t count, uint32_t *out) {
  for (size_t i = 0; i < count; i++) {
    out[i] = UINT32_MAX;
    for (size_t g = 0; g < grouping->count && out[i] == UINT32_MAX; g++)
      if (strcmp(grouping->members[g].name, names[i]) == 0)
        out[i] = (uint32_t)g;
  }
}

/* ---- two maps ---- */

/* Rows in the order of their groups; those without a member come last. */
typedef struct grouped_order {
  size_t *rows;  /* numbers of rows */
  size_t *begin; /* of each group in them, count + 2 */
  double *in, *out;
} grouped_order;

static void grouped_order_free(const pcal_env *env, grouped_order *order) {
  pc_free(env, order->rows);
  pc_free(env, order->begin);
  pc_free(env, order->in);
  pc_free(env, order->out);
}

static size_t grouped_place(const pcal_batch *batch, size_t row, size_t count) {
  const size_t group = batch->groups[row];
  return group < count ? group : count;
}

static void grouped_sort(const pcal_batch *batch, size_t count, grouped_order *order) {
  for (size_t i = 0; i < batch->rows; i++)
    order->begin[grouped_place(batch, i, count) + 1]++;
  for (size_t g = 0; g <= count; g++)
    order->begin[g + 1] += order->begin[g];
  for (size_t i = batch->rows; i-- > 0;)
    order->rows[--order->begin[grouped_place(batch, i, count) + 1]] = i;
  for (size_t g = 0; g <= count; g++)
    order->begin[g] = order->begin[g + 1];
  order->begin[count + 1] = batch->rows;
}

static pcal_status grouped_order_make(const pcal_batch *batch, size_t count, size_t columns,
                                      const pcal_env *env, grouped_order *order,
                                      pcal_error *err) {
  const size_t rows = batch->rows, in = batch->columns;
  order->rows = pc_alloc_raw(env, rows, sizeof *order->rows);
  order->begin = pc_alloc(env, count + 2, sizeof *order->begin);
  order->in = pc_alloc_raw(env, rows * in, sizeof *order->in);
  order->out = pc_alloc_raw(env, rows * columns, sizeof *order->out);
  if (order->rows == NULL || order->begin == NULL || order->in == NULL || order->out == NULL)
    return pc_fail_memory(err, "mapping groups of rows");
  grouped_sort(batch, count, order);
  return PCAL_OK;
}

static pcal_status grouped_member(const pcal_calibrator *member, const pcal_batch *batch,
                                  const size_t *rows, size_t count, const pcal_env *env,
                                  const grouped_order *order, double *by_group,
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

pcal_status pc_group_calibrators_map_both(const pcal_calibrator *pooled,
                                          const pcal_calibrator *const *members, size_t count,
                                          const pcal_batch *batch, const pcal_env *env,
                                          double *by_all, double *by_group, pcal_error *err) {
  const size_t columns = pc_calibrator_columns(pooled);
  grouped_order order = {NULL, NULL, NULL, NULL};
  PC_TRY(pc_calibrator_apply_ungrouped(pooled, batch, env, by_all, err));
  memcpy(by_group, by_all, batch->rows * columns * sizeof *by_all);
  pcal_status status = grouped_order_make(batch, count, columns, env, &order, err);
  for (size_t g = 0; g < count && status == PCAL_OK; g++) {
    const size_t begin = order.begin[g], size = order.begin[g + 1] - begin;
    if (members[g] != NULL && size > 0)
      status = grouped_member(members[g], batch, order.rows + begin, size, env, &order,
                              by_group, err);
  }
  grouped_order_free(env, &order);
  return status;
}

/* ---- applying ---- */

typedef struct grouped_window {
  double *in, *by_all, *by_group;
  uint32_t *groups; /* of the rows, read once */
  const pcal_calibrator **members;
} grouped_window;

static void grouped_mix(const pcal_calibrator *calibrator, const pcal_batch *batch,
                        const grouped_window *window, size_t at, void *out) {
  const pc_group_calibrators *grouping = calibrator->grouping;
  const size_t columns = pc_calibrator_columns(calibrator);
  for (size_t i = 0; i < batch->rows; i++) {
    const size_t g = grouped_place(batch, i, grouping->count);
    const double share =
        g < grouping->count ? pc_group_share(&grouping->members[g], grouping->kappa) : 0.0;
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

static pcal_status grouped_apply_window(const pcal_calibrator *calibrator,
                                        const pcal_batch *batch, size_t at,
                                        const grouped_window *window, const pcal_env *env,
                                        void *out, pcal_error *err) {
  pcal_batch own = *batch, part = *batch;
  for (size_t i = 0; i < batch->rows; i++)
    pc_batch_row(batch, i, window->in + i * batch->columns);
  memcpy(window->groups, batch->groups, batch->rows * sizeof *window->groups);
  own.groups = part.groups = window->groups;
  part.type = PCAL_F64;
  part.scores = window->in;
  part.row_stride = (ptrdiff_t)(batch->columns * sizeof(double));
  part.column_stride = (ptrdiff_t)sizeof(double);
  PC_TRY(pc_group_calibrators_map_both(calibrator, window->members, calibrator->grouping->count,
                                       &part, env, window->by_all, window->by_group, err));
  grouped_mix(calibrator, &own, window, at, out);
  return PCAL_OK;
}

static pcal_status grouped_apply_windows(const pcal_calibrator *calibrator,
                                         const pcal_batch *batch, size_t rows,
                                         const grouped_window *window, const pcal_env *env,
                                         void *out, pcal_error *err) {
  for (size_t at = 0; at < batch->rows; at += rows) {
    pcal_batch part = *batch;
    part.rows = batch->rows - at < rows ? batch->rows - at : rows;
    part.scores = (const char *)batch->scores + (ptrdiff_t)at * batch->row_stride;
    part.groups = batch->groups + at;
    part.first_row = batch->first_row + at;
    if (at > 0)
      part.place = NULL;
    PC_TRY(grouped_apply_window(calibrator, &part, at, window, env, out, err));
  }
  return PCAL_OK;
}

pcal_status pc_group_calibrators_apply(const pcal_calibrator *calibrator,
                                       const pcal_batch *batch, const pcal_env *env, void *out,
                                       pcal_error *err) {
  const pc_group_calibrators *grouping = calibrator->grouping;
  const size_t columns = pc_calibrator_columns(calibrator);
  const size_t most = pc_derived_window(batch->columns);
  const size_t rows = batch->rows < most ? batch->rows : most;
  if (batch->groups == NULL && batch->rows > 0)
    return pc_fail(err, PCAL_USAGE,
                   "the calibrator has a map for each group; give the groups of the rows with "
                   "{groups}");
  grouped_window window = {
      pc_alloc_raw(env, rows * batch->columns + 1, sizeof(double)),
      pc_alloc_raw(env, rows * columns + 1, sizeof(double)),
      pc_alloc_raw(env, rows * columns + 1, sizeof(double)),
      pc_alloc_raw(env, rows + 1, sizeof *window.groups),
      pc_alloc(env, grouping->count + 1, sizeof *window.members),
  };
  pcal_status status = PCAL_OK;
  if (window.in == NULL || window.by_all == NULL || window.by_group == NULL ||
      window.groups == NULL || window.members == NULL)
    status = pc_fail_memory(err, "applying a calibrator");
  for (size_t g = 0; status == PCAL_OK && g < grouping->count; g++)
    window.members[g] = grouping->members[g].calibrator;
  if (status == PCAL_OK)
    status = grouped_apply_windows(calibrator, batch, rows, &window, env, out, err);
  pc_free(env, window.in);
  pc_free(env, window.by_all);
  pc_free(env, window.by_group);
  pc_free(env, window.groups);
  pc_free(env, window.members);
  return status;
}
