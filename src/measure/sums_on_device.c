/* Edge cases:
 *  1. the kernels know values of kernels/row_values.h, bins of the top score with rows, hits,
 *     scores and squares, and bins of every class with any sums but logarithms.  Other bins of
 *     the top score, and curves of it, are filled from the top scores that the kernels return.
 *     The slots that none of these fits, or that are too many, get their rows from the host.
 *     Curves of every class are counted (classes_on_device.h).
 *  2. curves of top scores that stay on the device: buckets return in place of scores.  If the
 *     device has no memory for them, no row is added here.
 *  3. an invalid row: the kernels only say that there is one; the rows are then converted on the
 *     host, which finds it. */
#include "measure/sums_on_device.h"

#include <math.h>
#include <string.h>

#include "base/executor.h"
#include "device/device.h"
#include "machines/grid_cells.h"
#include "machines/machine_curve_buckets.h"
#include "measure/classes_on_device.h"
#include "measure/refine_on_device.h"

_Static_assert(PC_ROW_SUMS_LIMBS == PC_SUM_LIMBS, "limbs are those of pc_sum");

/* How a slot gets its rows. */
typedef enum sums_way {
  SUMS_NOT, /* from the host */
  SUMS_VALUE,
  SUMS_GRID,
  SUMS_CLASS_GRID,
  SUMS_CLASS_MOMENTS,
  SUMS_SCORES, /* from the top scores */
  SUMS_BUCKETS,
  SUMS_CLASS_COUNTS
} sums_way;

static int sums_has_value(const pc_need *need) {
  return need->machine == PC_SUM && need->sum.row_value != PC_ROW_VALUE_OTHER &&
         need->sum.value_count == 1 && !need->sum.products;
}

static int sums_is_top(const pc_view *view) {
  return view->kind == PC_VIEW_RANK && view->index == 1 && !view->by_label;
}

static int sums_has_curve(const pc_plan_slot *slot) {
  return slot->machine == &pc_machine_curve && sums_is_top(&slot->need.view);
}

static int sums_has_buckets(const pc_measure_plan *plan, const pc_plan_slot *slot) {
  return plan->scores_on_device && slot->machine == &pc_machine_curve_buckets &&
         sums_is_top(&slot->need.view);
}

int pc_slot_has_class_counts(const pc_measure_plan *plan, const pc_plan_slot *slot) {
  return slot->machine == &pc_machine_curve_buckets &&
         pc_machine_curve_buckets_counts(&slot->need, &plan->layout);
}

static int sums_is_plain_grid(const pc_plan_slot *slot) {
  return slot->machine == &pc_machine_grid && slot->curve == PC_NO_SLOT &&
         slot->shared_grid == PC_NO_SLOT && slot->need.grid.threshold <= 0;
}

static int sums_has_grid(const pc_plan_slot *slot) {
  return sums_is_plain_grid(slot) && sums_is_top(&slot->need.view) &&
         (slot->need.grid.moments & ~(unsigned)PC_MOMENT_SQUARE) == 0;
}

/* Grids of the top score that are filled from the scores. */
static int sums_has_scored_grid(const pc_plan_slot *slot) {
  return slot->machine == &pc_machine_grid && slot->curve == PC_NO_SLOT &&
         slot->shared_grid == PC_NO_SLOT && sums_is_top(&slot->need.view);
}

static int sums_has_class_grid(const pc_plan_slot *slot) {
  return sums_is_plain_grid(slot) && slot->need.view.kind == PC_VIEW_CLASSES &&
         slot->need.grid.moments == 0;
}

int pc_slot_has_class_sums(const pc_plan_slot *slot) {
  return slot->machine == &pc_machine_grid && slot->curve == PC_NO_SLOT &&
         slot->shared_grid == PC_NO_SLOT && pc_view_is_every_class(&slot->need.view) &&
         (slot->need.grid.moments & PC_MOMENT_LOG) == 0;
}

/* Writes the cuts of a grid, between infinite ones, adjusted so that a score on a cut is below
 * it; returns their number. */
static uint32_t sums_write_cuts(const pc_partition *cells, double *out) {
  uint32_t count = 0;
  out[count++] = -INFINITY;
  for (size_t c = 0; c < cells->cut_count; c++)
    out[count++] = cells->closed_right ? cells->cuts[c] : nextafter(cells->cuts[c], -INFINITY);
  out[count++] = INFINITY;
  return count;
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
  sums->cut_count += sums_write_cuts(cells, sums->cuts + sums->cut_count);
  sums->cell_count += (uint32_t)cuts + 1;
  return 1;
}

static size_t sums_class_bytes(const pc_device_sums *sums) {
  size_t words = 0;
  for (size_t l = 0; l < sums->class_launches; l++)
    words += (size_t)sums->classes[l].cell_count * PC_CLASS_BINS_WORDS;
  for (size_t l = 0; l < sums->moment_launches; l++)
    words += (size_t)sums->moments[l].bins.cell_count * PC_CLASS_MOMENTS_WORDS;
  return words * sizeof(uint64_t);
}

/* True if the bins of another grid of every class fit the memory of the device, and its cuts the
 * arguments of a launch that already has some. */
static int sums_class_fits(const pc_grid_state *grid, size_t words, uint32_t cuts,
                           const pc_device_sums *sums) {
  const size_t left = PC_DEVICE_CLASS_BYTES - sums_class_bytes(sums);
  return grid->cells.cut_count + 2 <= PC_CLASS_BINS_CUTS - cuts &&
         grid->columns.count * grid->cell_count <= left / (words * sizeof(uint64_t));
}

void pc_class_bins_put_grid(const pc_grid_state *grid, pc_class_bins *bins) {
  bins->grid[bins->grid_count++] =
      (pc_class_bins_grid){.first_cut = bins->cut_count,
                           .cut_count = (uint32_t)grid->cells.cut_count,
                           .first_cell = bins->cell_count,
                           .guess = grid->cells.guess,
                           .last = grid->columns.rule.last,
                           .anchor = grid->columns.rule.anchor};
  bins->cut_count += sums_write_cuts(&grid->cells, bins->cuts + bins->cut_count);
  bins->cell_count += (uint32_t)(grid->columns.count * grid->cell_count);
}

/* Adds a grid of every class to the request; a launch has room for a few of them. */
static int sums_add_class_grid(const pc_grid_state *grid, pc_device_sums *sums) {
  const size_t last = sums->class_launches;
  const int opens = last == 0 || sums->classes[last - 1].grid_count == PC_CLASS_BINS_GRIDS;
  if ((opens && last == PC_DEVICE_CLASS_LAUNCHES) ||
      !sums_class_fits(grid, PC_CLASS_BINS_WORDS, opens ? 0 : sums->classes[last - 1].cut_count,
                       sums))
    return 0;
  sums->class_launches += (size_t)opens;
  pc_class_bins_put_grid(grid, &sums->classes[sums->class_launches - 1]);
  return 1;
}

/* The same for a grid with more sums; it has a launch of its own. */
static int sums_add_class_moments(const pc_grid_state *grid, pc_device_sums *sums) {
  if (sums->moment_launches == PC_DEVICE_MOMENT_LAUNCHES ||
      !sums_class_fits(grid, PC_CLASS_MOMENTS_WORDS, 0, sums))
    return 0;
  pc_class_moments *moments = &sums->moments[sums->moment_launches++];
  pc_class_bins_put_grid(grid, &moments->bins);
  moments->above = grid->columns.rule.above;
  return 1;
}

static int sums_add_value(const pc_need *need, pc_device_sums *sums) {
  if (need->sum.row_value == PC_ROW_VALUE_HIT)
    return 1;
  if (sums->rows.value_count == PC_ROW_SUMS_VALUES)
    return 0;
  sums->rows.value[sums->rows.value_count++] =
      (pc_row_sums_value){(uint32_t)need->sum.row_value, need->sum.lowest};
  return 1;
}

/* Adds what one slot needs to the request; SUMS_NOT if the device has no kernel, or no room. */
static sums_way sums_add_slot(const pc_measure_plan *plan, const pc_plan_slot *slot,
                              const void *state, pc_device_sums *sums) {
  if (sums_has_buckets(plan, slot))
    return SUMS_BUCKETS;
  if (pc_slot_has_class_counts(plan, slot))
    return SUMS_CLASS_COUNTS;
  if (sums_has_value(&slot->need))
    return sums_add_value(&slot->need, sums) ? SUMS_VALUE : SUMS_NOT;
  if (sums_has_grid(slot) && sums_add_grid(&((const pc_grid_state *)state)->cells, &sums->rows))
    return SUMS_GRID;
  if (sums_has_class_grid(slot) && sums_add_class_grid(state, sums))
    return SUMS_CLASS_GRID;
  if (pc_slot_has_class_sums(slot) && sums_add_class_moments(state, sums))
    return SUMS_CLASS_MOMENTS;
  if (!sums_has_curve(slot) && !sums_has_scored_grid(slot))
    return SUMS_NOT;
  sums->with_scores = 1;
  return SUMS_SCORES;
}

/* The values and grids of the slots, in their order.  ways: one for each slot.  Returns the
 * number of slots that need rows from the host. */
static size_t sums_request(const pc_measure_plan *plan, const pc_group_state *state,
                           pc_device_sums *sums, uint8_t *ways) {
  size_t left = 0;
  for (size_t s = 0; s < plan->slot_count; s++) {
    const pc_plan_slot *slot = &plan->slots[s];
    ways[s] = (uint8_t)sums_add_slot(plan, slot, state->slots[s], sums);
    left += ways[s] == SUMS_NOT && slot->curve == PC_NO_SLOT && slot->shared_grid == PC_NO_SLOT;
  }
  return left;
}

/* True if the device may have a kernel for the slot. */
static int sums_has_slot(const pc_measure_plan *plan, const pc_plan_slot *slot) {
  return sums_has_value(&slot->need) || sums_has_scored_grid(slot) ||
         pc_slot_has_class_sums(slot) || sums_has_curve(slot) || sums_has_buckets(plan, slot);
}

static int sums_fits_layout(const pc_measure_plan *plan) {
  pc_row_form form;
  return pc_device_row_form(plan->layout.kind, &form) && plan->layout.columns > 1;
}

int pc_measure_plan_fits_device(const pc_measure_plan *plan) {
  for (size_t s = 0; s < plan->slot_count; s++)
    if (!sums_has_slot(plan, &plan->slots[s]))
      return 0;
  return sums_fits_layout(plan);
}

int pc_measure_plan_uses_device(const pc_measure_plan *plan) {
  for (size_t e = 0; e < plan->entry_count; e++)
    if (sums_has_slot(plan, &plan->slots[plan->entries[e].slot]) ||
        pc_slot_has_class_counts(plan, &plan->slots[plan->entries[e].slot]))
      return sums_fits_layout(plan);
  return 0;
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

/* A sum for every class, of a low and a high word. */
static pc_int128 sums_class_units(const uint64_t *words, size_t low) {
  return ((pc_int128)words[low + 1] << PC_CLASS_BINS_HIGH) + words[low];
}

/* Adds the bins of every class of `rows` rows. */
static void sums_add_class_cells(pc_grid_state *grid, uint64_t rows, const uint64_t *words) {
  for (size_t j = 0; j < grid->part_count; j++)
    for (size_t c = 0; c < grid->cell_count; c++, words += PC_CLASS_BINS_WORDS) {
      pc_grid_cell *cell = &grid->cell[j * grid->cell_count + c];
      const pc_int128 units = sums_class_units(words, PC_CLASS_BINS_SCORE);
      cell->count += words[PC_CLASS_BINS_COUNT] & UINT32_MAX;
      cell->hits += words[PC_CLASS_BINS_COUNT] >> 32;
      cell->score.units += c == 0 ? units * ((pc_int128)1 << grid->columns.shift)
                                  : units * (int64_t)(PC_FIXED_ONE / PC_GRID_ONE);
    }
  grid->columns.rows += rows;
}

/* Adds the sums of a grid of every class with squares, scores of hits or a threshold. */
static void sums_add_class_moments_cells(pc_grid_state *grid, uint64_t rows,
                                         const uint64_t *words) {
  for (size_t i = 0; i < grid->columns.count * grid->cell_count;
       i++, words += PC_CLASS_MOMENTS_WORDS) {
    const size_t c = i % grid->cell_count, index = grid->part_count == 1 ? c : i;
    const pc_int128 unit =
        c == 0 ? (pc_int128)1 << grid->columns.shift : (pc_int128)(PC_FIXED_ONE / PC_GRID_ONE);
    if (c > 0 || grid->columns.sums.kept != NULL)
      grid->cell[index].count += words[PC_CLASS_MOMENTS_COUNT] & UINT32_MAX;
    grid->cell[index].hits += words[PC_CLASS_MOMENTS_COUNT] >> 32;
    grid->cell[index].score.units += unit * sums_class_units(words, PC_CLASS_MOMENTS_SCORE);
    if (grid->square != NULL)
      grid->square[index].units += unit * sums_class_units(words, PC_CLASS_MOMENTS_SQUARE);
    if (grid->score_hit != NULL)
      grid->score_hit[index].units += unit * sums_class_units(words, PC_CLASS_MOMENTS_HIT);
  }
  grid->columns.rows += rows;
}

#define SUMS_ROWS 1024 /* whose scores are added at once */

/* Adds the top scores of `rows` rows to a curve or a grid. */
static pcal_status sums_add_scores(const pcal_env *env, const pc_layout *layout,
                                   const pc_machine *machine, void *state, const double *total,
                                   size_t rows, pcal_error *err) {
  const int inverse = layout->kind == PCAL_LOGIT;
  double score[SUMS_ROWS];
  uint8_t hit[SUMS_ROWS];
  const pc_view_columns columns = {.score = score, .hit = hit};
  for (size_t begin = 0; begin < rows; begin += SUMS_ROWS) {
    const size_t left = rows - begin;
    const pc_rows here = {.count = left < SUMS_ROWS ? left : SUMS_ROWS};
    for (size_t i = 0; i < here.count; i++) {
      score[i] = inverse ? 1.0 / fabs(total[begin + i]) : fabs(total[begin + i]);
      hit[i] = total[begin + i] > 0;
    }
    PC_TRY(machine->update(env, state, &here, &columns, err));
  }
  return PCAL_OK;
}

/* A grid that several threads fill, each with a state of its own. */
typedef struct sums_filling {
  const pcal_env *env;
  const pc_plan_slot *slot;
  const pc_layout *layout;
  const double *total;
  size_t rows;
  void **states; /* by worker, or NULL */
} sums_filling;

#define SUMS_TASK 32768      /* rows */
#define SUMS_SCORE_COST 10.0 /* nanoseconds, for the executor */

static pcal_status sums_fill_task(void *user, size_t index, size_t worker, pcal_error *err) {
  const sums_filling *filling = user;
  const pc_machine *machine = filling->slot->machine;
  const size_t begin = index * SUMS_TASK, left = filling->rows - begin;
  void **state = &filling->states[worker];
  if (*state == NULL)
    PC_TRY(machine->create(filling->env, &filling->slot->need, filling->layout, state, err));
  return sums_add_scores(filling->env, filling->layout, machine, *state, filling->total + begin,
                         left < SUMS_TASK ? left : SUMS_TASK, err);
}

/* As sums_add_scores for a grid, by all threads. */
static pcal_status sums_fill_grid(sums_filling *filling, void *into, pcal_error *err) {
  const pcal_env *env = filling->env;
  const pc_machine *machine = filling->slot->machine;
  const size_t workers = pc_worker_count(env);
  filling->states = pc_alloc(env, workers, sizeof *filling->states);
  if (filling->states == NULL)
    return pc_fail_memory(err, "preparing bins");
  pcal_status status =
      pc_run(env, (filling->rows - 1) / SUMS_TASK + 1, SUMS_SCORE_COST * (double)filling->rows,
             sums_fill_task, filling, err);
  for (size_t w = 0; w < workers; w++) {
    void *from = filling->states[w];
    if (from != NULL && status == PCAL_OK)
      status = machine->prepare(env, into, from, err);
    if (from != NULL && status == PCAL_OK)
      machine->merge(into, from);
    if (from != NULL)
      machine->destroy(env, from);
  }
  pc_free(env, filling->states);
  return status;
}

/* Adds top scores to a slot. */
static pcal_status sums_add_scored(const pcal_env *env, const pc_measure_plan *plan,
                                   const pc_plan_slot *slot, const double *total, size_t rows,
                                   void *state, pcal_error *err) {
  sums_filling filling = {env, slot, &plan->layout, total, rows, NULL};
  return slot->machine == &pc_machine_grid && rows > SUMS_TASK
             ? sums_fill_grid(&filling, state, err)
             : sums_add_scores(env, &plan->layout, slot->machine, state, total, rows, err);
}

static pc_segment sums_bucket(size_t bucket, const uint64_t *words) {
  const double low = (double)bucket / PC_BUCKETS;
  pc_segment segment = pc_refine_device_segment(low, words);
  segment.low = low;
  segment.high = bucket == PC_BUCKETS ? 1.0 : pc_bucket_high(bucket);
  return segment;
}

/* Adds buckets of top scores to a curve. */
static pcal_status sums_add_buckets(void *curve, const uint64_t *words, pcal_error *err) {
  for (size_t b = 0; b < PC_SCORE_BUCKETS; b++) {
    const pc_segment segment = sums_bucket(b, words + 2 * b * PC_SCORE_BUCKETS_WORDS);
    if (segment.rows > 0)
      PC_TRY(pc_machine_curve_buckets_join(curve, b + 1, &segment, err));
  }
  return PCAL_OK;
}

/* Where the results of the next slot of each kind are. */
typedef struct sums_place {
  uint32_t value;
  size_t grid, class_grid, class_moments;
} sums_place;

static void sums_add_next_grid(const pc_device_sums *sums, sums_place *place,
                               pc_grid_state *grid) {
  const pc_row_sums *rows = &sums->rows;
  sums_add_cells(grid,
                 sums->words + pc_row_sums_limbs(rows->value_count) +
                     (size_t)rows->grid[place->grid++].first_cell * PC_ROW_SUMS_CELL_WORDS);
}

static void sums_add_next_class_grid(const pc_device_sums *sums, size_t rows, sums_place *place,
                                     pc_grid_state *grid) {
  const size_t launch = place->class_grid / PC_CLASS_BINS_GRIDS;
  const size_t first =
      sums->classes[launch].grid[place->class_grid++ % PC_CLASS_BINS_GRIDS].first_cell;
  sums_add_class_cells(grid, rows, sums->class_words[launch] + first * PC_CLASS_BINS_WORDS);
}

static void sums_add_next_value(const pc_device_sums *sums, const pc_need *need,
                                sums_place *place, void *state) {
  const pc_sum sum = need->sum.row_value == PC_ROW_VALUE_HIT
                         ? sums_hits(sums->words[PC_ROW_SUMS_HITS])
                         : sums_value(sums->words + pc_row_sums_limbs(place->value++));
  pc_machine_sum_add(state, 0, &sum);
}

/* Adds the results to the slots, in the order of sums_request. */
static pcal_status sums_add(const pc_group_states *groups, const pc_device_sums *sums,
                            const uint8_t *ways, size_t rows, pc_group_state *state,
                            pcal_error *err) {
  const pc_measure_plan *plan = groups->plan;
  const pcal_env env = pc_env_for_use(groups->env, PC_MEMORY_CURVES);
  sums_place place = {0};
  for (size_t s = 0; s < plan->slot_count; s++) {
    const pc_plan_slot *slot = &plan->slots[s];
    if (ways[s] == SUMS_BUCKETS)
      PC_TRY(sums_add_buckets(state->slots[s], sums->bucket_words, err));
    else if (ways[s] == SUMS_SCORES)
      PC_TRY(sums_add_scored(&env, plan, slot, sums->total, rows, state->slots[s], err));
    else if (ways[s] == SUMS_GRID)
      sums_add_next_grid(sums, &place, state->slots[s]);
    else if (ways[s] == SUMS_CLASS_GRID)
      sums_add_next_class_grid(sums, rows, &place, state->slots[s]);
    else if (ways[s] == SUMS_CLASS_MOMENTS)
      sums_add_class_moments_cells(state->slots[s], rows,
                                   sums->moment_words[place.class_moments++]);
    else if (ways[s] == SUMS_VALUE)
      sums_add_next_value(sums, &slot->need, &place, state->slots[s]);
  }
  return PCAL_OK;
}

/* Runs a request and adds its results; *done is 0 if no row was added. */
static pcal_status sums_run(pc_group_states *groups, const pcal_batch *batch,
                            const pc_device_labels *labels, const uint8_t *ways,
                            pc_device_sums *sums, pc_group_state *state, int *done,
                            pcal_error *err) {
  pc_device_scores *keep = sums->keep;
  PC_TRY(pc_device_row_sums(batch->device, batch, labels, sums, err));
  pcal_status status = PCAL_OK;
  if (keep != NULL && sums->bucket_words == NULL) {
    keep->ticket = 0;
  } else if (sums->words[PC_ROW_SUMS_ODD] == 0) {
    sums_add_totals(&state->totals, batch, sums->words);
    sums->rescaled = sums->words[PC_ROW_SUMS_RESCALED];
    status = sums_add(groups, sums, ways, batch->rows, state, err);
    if (keep != NULL)
      keep->rows += batch->rows;
    *done = 1;
  }
  pc_device_row_sums_done(batch->device);
  return status;
}

/* True if the device has what the plan asks for. */
static int sums_can(const pc_measure_plan *plan, const pcal_batch *batch) {
  return pc_measure_plan_uses_device(plan) &&
         pc_device_has_row_sums(batch->device, batch->kind, batch->type, batch->columns) &&
         (!plan->scores_on_device || pc_device_has_scores(batch->device));
}

pcal_status pc_group_states_add_device(pc_group_states *groups, const pcal_batch *batch,
                                       const pc_device_labels *labels, pc_device_scores *scores,
                                       pc_sums_options *options, uint8_t *added,
                                       pc_pass_done *done, pcal_error *err) {
  const pc_measure_plan *plan = groups->plan;
  pc_group_state *state;
  pc_device_sums sums;
  int ran = 0, counted;
  *done = PC_PASS_NONE;
  if (!sums_can(plan, batch))
    return PCAL_OK;
  PC_TRY(pc_group_states_open(groups, 0, &state, err));
  memset(&sums, 0, sizeof sums);
  size_t left = sums_request(plan, state, &sums, added);
  if (left == plan->slot_count)
    return PCAL_OK;
  options->fast = options->fast && batch->type == PCAL_F32 &&
                  sums.class_launches + sums.moment_launches == 0 &&
                  pc_device_has_fast_sums(batch->device);
  sums.fast = options->fast;
  sums.normalize = options->normalize;
  sums.keep = plan->scores_on_device ? scores : NULL;
  PC_TRY(sums_run(groups, batch, labels, added, &sums, state, &ran, err));
  options->rescaled = ran ? sums.rescaled : 0;
  for (size_t s = 0; ran && s < plan->slot_count; s++)
    if (added[s] == SUMS_CLASS_COUNTS) {
      PC_TRY(pc_class_counts_on_device(batch, labels, options->normalize, state->slots[s],
                                       &counted, err));
      added[s] = counted ? SUMS_CLASS_COUNTS : SUMS_NOT;
      left += !counted;
    }
  *done = !ran ? PC_PASS_NONE : left > 0 ? PC_PASS_SOME : PC_PASS_ALL;
  return PCAL_OK;
}
