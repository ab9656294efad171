/* Edge cases:
 *  1. the kernels know values of kernels/row_values.h and bins of the top score with rows, hits,
 *     scores and squares.  With any other slot, or more than fit, no row is added here.
 *  2. an invalid row: the kernels only say that there is one; the rows are then converted on the
 *     host, which finds it. */
#include "measure/sums_on_device.h"

#include <math.h>
#include <string.h>

#include "device/device.h"
#include "machines/grid_cells.h"

_Static_assert(PC_ROW_SUMS_LIMBS == PC_SUM_LIMBS, "limbs are those of pc_sum");

static int sums_has_value(const pc_need *need) {
  return need->machine == PC_SUM && need->sum.row_value != PC_ROW_VALUE_OTHER &&
         need->sum.value_count == 1 && !need->sum.products;
}

static int sums_has_grid(const pc_plan_slot *slot) {
  const pc_need *need = &slot->need;
  return slot->machine == &pc_machine_grid && slot->curve == PC_NO_SLOT &&
         slot->shared_grid == PC_NO_SLOT && need->view.kind == PC_VIEW_RANK &&
         need->view.index == 1 && !need->view.by_label && need->grid.threshold <= 0 &&
         (need->grid.moments & ~(unsigned)PC_MOMENT_SQUARE) == 0;
}

/* Adds a grid to the request; 0 if it does not fit. */
static int sums_add_grid(const pc_partition *cells, pc_row_sums *sums) {
  const size_t cuts = cells->cut_count;
  if (sums->grid_count == PC_ROW_SUMS_GRIDS || cuts + 1 > PC_ROW_SUMS_CELLS - sums->cell_count)
    return 0;
  sums->grid[sums->grid_count++] = (pc_row_sums_grid){.first_cut = sums->cut_count,
                                                      .cut_count = (uint32_t)cuts,
                                                      .first_cell = sums->cell_count,
                                                      .guess = cells->guess};
  sums->cuts[sums->cut_count++] = -INFINITY;
  for (size_t c = 0; c < cuts; c++) /* adjusted so that a score on a cut is below it */
    sums->cuts[sums->cut_count++] =
        cells->closed_right ? cells->cuts[c] : nextafter(cells->cuts[c], -INFINITY);
  sums->cuts[sums->cut_count++] = INFINITY;
  sums->cell_count += (uint32_t)cuts + 1;
  return 1;
}

/* The values and grids of the slots, in their order; 0 if some do not fit. */
static int sums_request(const pc_measure_plan *plan, const pc_group_state *state,
                        pc_row_sums *sums) {
  for (size_t s = 0; s < plan->slot_count; s++) {
    const pc_need *need = &plan->slots[s].need;
    const int grid = sums_has_grid(&plan->slots[s]);
    if (!grid && !sums_has_value(need))
      return 0;
    if (grid && !sums_add_grid(&((const pc_grid_state *)state->slots[s])->cells, sums))
      return 0;
    if (grid || need->sum.row_value == PC_ROW_VALUE_HIT)
      continue;
    if (sums->value_count == PC_ROW_SUMS_VALUES)
      return 0;
    sums->value[sums->value_count++] =
        (pc_row_sums_value){(uint32_t)need->sum.row_value, need->sum.lowest};
  }
  return 1;
}

/* False if the device has no kernels for these rows, or for a slot. */
static int sums_fit(const pc_measure_plan *plan, const pcal_batch *batch) {
  for (size_t s = 0; s < plan->slot_count; s++)
    if (!sums_has_value(&plan->slots[s].need) && !sums_has_grid(&plan->slots[s]))
      return 0;
  return plan->layout.kind == PCAL_LOGIT && plan->layout.columns > 1 &&
         pc_device_has_row_sums(batch->device, batch->type, batch->columns);
}

static void sums_add_totals(pc_group_totals *totals, const pcal_batch *batch,
                            const uint64_t *words) {
  const int32_t high = (int32_t)words[PC_ROW_SUMS_LABEL_HIGH];
  const int32_t low = (int32_t)(batch->columns - 1 - words[PC_ROW_SUMS_LABEL_LOW]);
  totals->rows += batch->rows;
  pc_sum_add(&totals->weight, (double)batch->rows);
  pc_sum_add(&totals->square, (double)batch->rows);
  totals->label_low = low < totals->label_low ? low : totals->label_low;
  totals->label_high = high > totals->label_high ? high : totals->label_high;
}

static pc_sum sums_value(const uint64_t *limbs) {
  pc_sum sum;
  pc_sum_clear(&sum);
  memcpy(sum.limb, limbs, sizeof sum.limb);
  return sum;
}

static pc_sum sums_hits(uint64_t hits) {
  pc_sum sum;
  pc_sum_clear(&sum);
  pc_sum_add_units(&sum, (int64_t)hits, 0);
  return sum;
}

static pc_int128 sums_units(uint64_t low, uint64_t high) {
  return (((pc_int128)high << PC_ROW_SUMS_HIGH) + low) * (int64_t)(PC_FIXED_ONE / PC_GRID_ONE);
}

static void sums_add_cells(pc_grid_state *grid, const uint64_t *words) {
  for (size_t c = 0; c < grid->cell_count; c++, words += PC_ROW_SUMS_CELL_WORDS) {
    grid->cell[c].count += words[PC_ROW_SUMS_CELL_ROWS];
    grid->cell[c].hits += words[PC_ROW_SUMS_CELL_HITS];
    grid->cell[c].score.units +=
        sums_units(words[PC_ROW_SUMS_CELL_SCORE], words[PC_ROW_SUMS_CELL_SCORE_HIGH]);
    if (grid->square != NULL)
      grid->square[c].units +=
          sums_units(words[PC_ROW_SUMS_CELL_SQUARE], words[PC_ROW_SUMS_CELL_SQUARE_HIGH]);
  }
}

/* Adds the results to the slots, in the order of sums_request. */
static void sums_add(const pc_measure_plan *plan, const pc_row_sums *sums,
                     const uint64_t *words, pc_group_state *state) {
  uint32_t value = 0;
  size_t grid = 0;
  for (size_t s = 0; s < plan->slot_count; s++) {
    const pc_need *need = &plan->slots[s].need;
    if (need->machine == PC_GRID) {
      sums_add_cells(state->slots[s],
                     words + pc_row_sums_limbs(sums->value_count) +
                         (size_t)sums->grid[grid++].first_cell * PC_ROW_SUMS_CELL_WORDS);
      continue;
    }
    const pc_sum sum = need->sum.row_value == PC_ROW_VALUE_HIT
                           ? sums_hits(words[PC_ROW_SUMS_HITS])
                           : sums_value(words + pc_row_sums_limbs(value++));
    pc_machine_sum_add(state->slots[s], 0, &sum);
  }
}

#define SUMS_ROWS_MAX ((size_t)1 << 28) /* as many low words of 36 bits fit in 64 bits */

pcal_status pc_group_states_add_device(pc_group_states *groups, const pcal_batch *batch,
                                       const void *labels, uint32_t label_size, int *done,
                                       pcal_error *err) {
  uint64_t words[PC_ROW_SUMS_WORDS];
  pc_group_state *state;
  pc_row_sums sums;
  *done = 0;
  if (batch->rows > SUMS_ROWS_MAX || !sums_fit(groups->plan, batch))
    return PCAL_OK;
  PC_TRY(pc_group_states_open(groups, 0, &state, err));
  memset(&sums, 0, sizeof sums);
  if (!sums_request(groups->plan, state, &sums))
    return PCAL_OK;
  PC_TRY(pc_device_row_sums(batch->device, batch, labels, label_size, &sums, words, err));
  if (words[PC_ROW_SUMS_ODD] != 0)
    return PCAL_OK;
  sums_add_totals(&state->totals, batch, words);
  sums_add(groups->plan, &sums, words, state);
  *done = 1;
  return PCAL_OK;
}
