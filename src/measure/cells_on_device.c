/* Edge cases:
 *  1. more grids, groups or cells than fit the device: those that do not fit get copies of the
 *     rows.
 *  2. a weight that the host refuses or leaves out as missing: likewise; the host finds it.
 *  3. all rows count as weighted ones, also those of weight 1: sums of both kinds are read together
 *     (machines/grid_cells.h). */
#include "measure/cells_on_device.h"

#include <math.h>
#include <string.h>

#include "device/device_cells.h"

#define CELLS_GROUPS 64       /* most groups of rows on a device */
#define CELLS_WEIGHT_MAX 1e12 /* of a row: data/row_check.h */

_Static_assert((int64_t)PC_FIXED_ONE == (int64_t)1 << 61,
               "units of kernels are those of pc_fixed");

/* True if all weights are valid. */
static int cells_weights_fit(const pcal_batch *batch) {
  int fit = 1;
  for (size_t i = 0; batch->weights != NULL && i < batch->rows; i++)
    fit &= batch->weights[i] >= 0 && batch->weights[i] <= CELLS_WEIGHT_MAX;
  return fit;
}

/* One more than the highest number of a group. */
static size_t cells_groups(const pcal_batch *batch, int by_groups) {
  uint32_t most = 0;
  for (size_t i = 0; by_groups && i < batch->rows; i++)
    most = batch->groups[i] > most ? batch->groups[i] : most;
  return (size_t)most + 1;
}

/* Adds a grid to the request; 0 if it does not fit. */
static int cells_add_grid(const pc_grid_state *grid, size_t classes, pc_device_cells *cells,
                          size_t *left) {
  pc_class_cells *out = &cells->list[cells->count];
  if (cells->count == PC_DEVICE_CELL_GRIDS || grid->cells.cut_count + 2 > PC_CLASS_BINS_CUTS)
    return 0;
  memset(out, 0, sizeof *out);
  pc_class_bins_put_grid(grid, &out->bins);
  out->bins.cell_count = 0; /* none in shared memory */
  out->bins.classes = (uint32_t)classes;
  out->above = grid->columns.rule.above;
  out->with_hit = grid->score_hit != NULL;
  out->sums = PC_CLASS_CELLS_SQUARE + (grid->square != NULL) + out->with_hit;
  const size_t bytes = pc_device_cells_bytes(cells, out);
  if (bytes > *left)
    return 0;
  *left -= bytes;
  cells->count++;
  return 1;
}

/* Fills the request; 0 if no grid fits. */
static int cells_request(const pc_measure_plan *plan, const pc_group_state *state,
                         pc_device_cells *cells, uint8_t *added) {
  size_t left = PC_DEVICE_CELL_BYTES;
  for (size_t s = 0; s < plan->slot_count; s++)
    added[s] = (uint8_t)(pc_slot_has_class_sums(&plan->slots[s]) &&
                         cells_add_grid(state->slots[s], plan->layout.columns, cells, &left));
  return cells->count > 0;
}

static pc_int128 cells_sum(const uint64_t *limbs) {
  pc_int128 sum = 0;
  for (size_t l = PC_CLASS_CELLS_LIMBS; l-- > 0;)
    sum = (pc_int128)((pc_uint128)sum << 32) + (pc_int128)limbs[l];
  return sum;
}

/* Adds the cells of all classes of one group to a grid. */
static void cells_add(pc_grid_state *grid, const pc_class_cells *cells, const uint64_t *words) {
  const size_t each = pc_class_cells_words(cells);
  for (size_t i = 0; i < grid->columns.count * grid->cell_count; i++, words += each) {
    const size_t at = grid->part_count == 1 ? i % grid->cell_count : i;
    const uint64_t *next = words + (size_t)PC_CLASS_CELLS_SQUARE * PC_CLASS_CELLS_LIMBS;
    grid->mass[at].weight.units += cells_sum(words);
    grid->mass[at].hits.units += cells_sum(words + PC_CLASS_CELLS_LIMBS);
    grid->cell[at].score.units +=
        cells_sum(words + (size_t)PC_CLASS_CELLS_SCORE * PC_CLASS_CELLS_LIMBS);
    if (grid->square != NULL) {
      grid->square[at].units += cells_sum(next);
      next += PC_CLASS_CELLS_LIMBS;
    }
    if (grid->score_hit != NULL)
      grid->score_hit[at].units += cells_sum(next);
  }
}

/* Adds the results of one group. */
static pcal_status cells_add_group(pc_group_states *groups, size_t group,
                                   const pc_device_cells *cells, const uint8_t *added,
                                   pcal_error *err) {
  pc_group_state *state;
  size_t g = 0;
  PC_TRY(pc_group_states_open(groups, group, &state, err));
  for (size_t s = 0; s < groups->plan->slot_count; s++) {
    if (!added[s])
      continue;
    const size_t each = pc_device_cells_bytes(cells, &cells->list[g]) / sizeof(uint64_t);
    PC_TRY(pc_grid_allow_weights(groups->env, state->slots[s], err));
    cells_add(state->slots[s], &cells->list[g],
              cells->words[g] + group * (each / cells->groups));
    g++;
  }
  state->has_rest = 1;
  return PCAL_OK;
}

/* By group: 1 if it has a row with weight. */
static void cells_find_groups(const pcal_batch *batch, int by_groups,
                              uint8_t used[CELLS_GROUPS]) {
  memset(used, 0, CELLS_GROUPS);
  for (size_t i = 0; i < batch->rows; i++) {
    const size_t group = by_groups ? batch->groups[i] : 0;
    if (group < CELLS_GROUPS && (batch->weights == NULL || batch->weights[i] > 0))
      used[group] = 1; /* another thread may have changed the groups since they were counted */
  }
}

static pcal_status cells_run(pc_group_states *groups, const pcal_batch *batch,
                             const pc_device_labels *labels, pc_device_cells *cells,
                             const uint8_t *added, int *done, pcal_error *err) {
  uint8_t used[CELLS_GROUPS];
  pcal_status status = PCAL_OK;
  cells_find_groups(batch, cells->by_groups, used);
  PC_TRY(pc_device_class_cells(batch->device, batch, labels, cells, done, err));
  if (!*done)
    return PCAL_OK;
  *done = !cells->odd;
  for (size_t group = 0; *done && group < cells->groups && status == PCAL_OK; group++)
    if (used[group])
      status = cells_add_group(groups, group, cells, added, err);
  pc_device_row_sums_done(batch->device);
  return status;
}

pcal_status pc_group_states_add_cells(pc_group_states *groups, const pcal_batch *batch,
                                      const pc_device_labels *labels, int by_groups,
                                      int normalize, uint8_t *added, int *done,
                                      pcal_error *err) {
  pc_group_state *state;
  pc_device_cells *cells;
  *done = 0;
  const size_t number = by_groups ? batch->groups[0] : 0;
  if (!pc_measure_plan_uses_device(groups->plan) ||
      !pc_device_has_row_sums(batch->device, batch->kind, batch->type, batch->columns) ||
      !pc_device_has_cells(batch->device, batch->type) || !cells_weights_fit(batch) ||
      cells_groups(batch, by_groups) > CELLS_GROUPS)
    return PCAL_OK;
  PC_TRY(pc_group_states_open(groups, number, &state, err));
  cells = pc_alloc(groups->env, 1, sizeof *cells);
  if (cells == NULL)
    return pc_fail_memory(err, "preparing bins");
  cells->groups = cells_groups(batch, by_groups);
  cells->by_groups = by_groups;
  cells->normalize = normalize;
  pcal_status status = PCAL_OK;
  if (cells_request(groups->plan, state, cells, added))
    status = cells_run(groups, batch, labels, cells, added, done, err);
  pc_free(groups->env, cells);
  return status;
}
