#include "measure/replicas/sorted_view.h"

#include <math.h>
#include <string.h>

#include "base/executor.h"
#include "curve/parallel_sort.h"
#include "kernels/replica_sum_kernels.h"
#include "kernels/sort.h"
#include "measure/replicas/row_moments.h"
#include "measure/replicas/score_cells.h"

#define SORTED_VIEW_MAX ((size_t)1 << 25)   /* scores; with more, states need less memory */
#define SORTED_VIEW_BLOCK ((size_t)1 << 12) /* rows that a task reads */
#define SORTED_VIEW_COST 20.0               /* nanoseconds per score, for the executor */

static int sorted_view_natural(const pc_view *view) {
  return (view->kind == PC_VIEW_RANK || view->kind == PC_VIEW_CLASS) && view->index == 1;
}

int pc_sorted_view_suits(const pc_need *need, const pc_layout *layout) {
  if (layout->form != PC_FORM_CLASSES)
    return 0;
  if (need->machine != PC_CURVE &&
      (need->machine != PC_GRID || (need->grid.moments & PC_MOMENT_LOG) ||
       need->grid.rule == PC_EDGES_KULL))
    return 0;
  return pc_view_is_every_class(&need->view) ||
         (sorted_view_natural(&need->view) &&
          (need->view.kind == PC_VIEW_RANK || layout->columns == 1));
}

int pc_sorted_view_applies(const pc_need *need, const pc_layout *layout,
                           const pc_kept_rows *rows) {
  return pc_sorted_view_suits(need, layout) && rows->count <= UINT32_MAX &&
         rows->count * pc_view_scores_per_row(&need->view, layout) <= SORTED_VIEW_MAX &&
         (!pc_view_is_every_class(&need->view) || rows->probs != NULL);
}

void pc_sorted_view_free(const pcal_env *env, pc_sorted_view *sorted) {
  pc_free(env, sorted->begin);
  pc_free(env, sorted->score);
  pc_free(env, sorted->row);
  pc_free(env, sorted->label);
  memset(sorted, 0, sizeof *sorted);
}

/* One score of a row, its part, and the label for which it is a hit. */
typedef struct sorted_entry {
  size_t part;
  double score;
  int32_t label;
} sorted_entry;

static sorted_entry sorted_view_entry(const pc_view *view, const pc_layout *layout,
                                      const pc_kept_rows *rows, size_t row, size_t k) {
  if (pc_view_is_every_class(view))
    return (sorted_entry){view->kind == PC_VIEW_CLASSES ? k : 0,
                          rows->probs[row * rows->classes + k], (int32_t)k};
  const double score = rows->score[row];
  if (layout->columns > 1)
    return (sorted_entry){view->by_label ? (size_t)rows->top_label[row] : 0, score,
                          rows->top_label[row]};
  if (view->kind == PC_VIEW_CLASS || layout->kind == PCAL_CONFIDENCE)
    return (sorted_entry){0, score, 1};
  const int top = score > 1.0 - score;
  return (sorted_entry){view->by_label ? (size_t)top : 0, top ? score : 1.0 - score, top};
}

static void sorted_view_count(const pc_layout *layout, const pc_kept_rows *rows, size_t scores,
                              pc_sorted_view *out) {
  for (size_t i = 0; i < rows->count; i++)
    for (size_t k = 0; k < scores; k++)
      out->begin[sorted_view_entry(&out->view, layout, rows, i, k).part + 1]++;
  for (size_t p = 0; p < out->part_count; p++)
    out->begin[p + 1] += out->begin[p];
}

/* The rows of a view that is being sorted; the user data of the tasks below. */
typedef struct sorted_view_work {
  const pcal_env *env;
  const pc_layout *layout;
  const pc_kept_rows *rows;
  size_t scores; /* of a row */
  pc_sorted_view *out;
  double *places;          /* of a view of one part: those of its scores in the order of rows */
  pc_sorted_column sorted; /* the same, sorted */
} sorted_view_work;

/* Sorts one part, with the rows and labels of its scores. */
static pcal_status sorted_view_sort(void *user, size_t part, size_t worker, pcal_error *err) {
  const sorted_view_work *work = user;
  const pc_sorted_view *out = work->out;
  const size_t begin = out->begin[part], count = out->begin[part + 1] - begin;
  double *spare = pc_alloc_raw(work->env, 4 * count, sizeof *spare);
  (void)worker;
  if (spare == NULL)
    return pc_fail_memory(err, "sorting scores");
  double *places = spare, *scratch = spare + count;
  uint32_t *rows = (uint32_t *)(void *)(spare + 3 * count);
  int32_t *labels = (int32_t *)(void *)(rows + count);
  for (size_t i = 0; i < count; i++)
    places[i] = (double)i;
  pc_sort_pairs(out->score + begin, places, scratch, scratch + count, count);
  memcpy(rows, out->row + begin, count * sizeof *rows);
  memcpy(labels, out->label + begin, count * sizeof *labels);
  for (size_t i = 0; i < count; i++) {
    out->row[begin + i] = rows[(size_t)places[i]];
    out->label[begin + i] = labels[(size_t)places[i]];
  }
  pc_free(work->env, spare);
  return PCAL_OK;
}

/* Scores that may lie in any part. */
static pcal_status sorted_view_fill_parts(sorted_view_work *work, pcal_error *err) {
  const pc_sorted_view *out = work->out;
  size_t *next = pc_alloc(work->env, out->part_count + 1, sizeof *next);
  if (next == NULL)
    return pc_fail_memory(err, "sorting scores");
  sorted_view_count(work->layout, work->rows, work->scores, work->out);
  memcpy(next, out->begin, out->part_count * sizeof *next);
  for (size_t i = 0; i < work->rows->count; i++)
    for (size_t k = 0; k < work->scores; k++) {
      const sorted_entry entry = sorted_view_entry(&out->view, work->layout, work->rows, i, k);
      const size_t at = next[entry.part]++;
      out->score[at] = entry.score;
      out->row[at] = (uint32_t)i;
      out->label[at] = entry.label;
    }
  pc_free(work->env, next);
  return pc_run(work->env, out->part_count,
                SORTED_VIEW_COST * (double)out->begin[out->part_count], sorted_view_sort, work,
                err);
}

/* One class of every row, which is a part. */
static pcal_status sorted_view_class(void *user, size_t k, size_t worker, pcal_error *err) {
  const sorted_view_work *work = user;
  const pc_sorted_view *out = work->out;
  const size_t begin = out->begin[k];
  for (size_t i = 0; i < work->rows->count; i++) {
    out->score[begin + i] = work->rows->probs[i * work->rows->classes + k];
    out->row[begin + i] = (uint32_t)i;
    out->label[begin + i] = (int32_t)k;
  }
  return sorted_view_sort(user, k, worker, err);
}

static pcal_status sorted_view_fill_classes(sorted_view_work *work, pcal_error *err) {
  const size_t rows = work->rows->count, classes = work->scores;
  for (size_t k = 0; k < classes; k++)
    work->out->begin[k + 1] = (k + 1) * rows;
  return pc_run(work->env, classes, SORTED_VIEW_COST * (double)(rows * classes),
                sorted_view_class, work, err);
}

static size_t sorted_view_block_end(const sorted_view_work *work, size_t block) {
  const size_t end = (block + 1) * SORTED_VIEW_BLOCK;
  return end < work->rows->count ? end : work->rows->count;
}

/* Reads the scores of a block of rows, for a view of one part. */
static pcal_status sorted_view_read(void *user, size_t block, size_t worker, pcal_error *err) {
  const sorted_view_work *work = user;
  const size_t scores = work->scores;
  (void)worker;
  (void)err;
  for (size_t i = block * SORTED_VIEW_BLOCK; i < sorted_view_block_end(work, block); i++)
    for (size_t at = i * scores; at < (i + 1) * scores; at++) {
      work->out->score[at] =
          sorted_view_entry(&work->out->view, work->layout, work->rows, i, at - i * scores)
              .score;
      work->places[at] = (double)at;
    }
  return PCAL_OK;
}

/* Writes the rows and labels of a block of sorted scores. */
static pcal_status sorted_view_write(void *user, size_t block, size_t worker, pcal_error *err) {
  const sorted_view_work *work = user;
  const size_t scores = work->scores;
  (void)worker;
  (void)err;
  for (size_t at = block * SORTED_VIEW_BLOCK * scores;
       at < sorted_view_block_end(work, block) * scores; at++) {
    const size_t place = (size_t)work->sorted.weight[at], row = place / scores;
    work->out->score[at] = work->sorted.score[at];
    work->out->row[at] = (uint32_t)row;
    work->out->label[at] =
        sorted_view_entry(&work->out->view, work->layout, work->rows, row, place - row * scores)
            .label;
  }
  return PCAL_OK;
}

/* Scores of one part, sorted by all threads.  Stable: places break ties. */
static pcal_status sorted_view_sort_blocks(sorted_view_work *work, size_t blocks,
                                           pc_outcome_column *pieces, pcal_error *err) {
  const size_t scores = work->scores;
  const double cost = SORTED_VIEW_COST * (double)(work->rows->count * scores);
  PC_TRY(pc_run(work->env, blocks, cost, sorted_view_read, work, err));
  for (size_t b = 0; b < blocks; b++) {
    const size_t begin = b * SORTED_VIEW_BLOCK * scores;
    pieces[b] = (pc_outcome_column){work->out->score + begin, work->places + begin,
                                    sorted_view_block_end(work, b) * scores - begin};
  }
  PC_TRY(pc_parallel_sort(work->env, pieces, blocks, &work->sorted, err));
  return pc_run(work->env, blocks, cost, sorted_view_write, work, err);
}

static pcal_status sorted_view_fill_one(sorted_view_work *work, pcal_error *err) {
  const size_t count = work->rows->count * work->scores;
  const size_t blocks = (work->rows->count + SORTED_VIEW_BLOCK - 1) / SORTED_VIEW_BLOCK;
  pc_outcome_column *pieces = pc_alloc(work->env, blocks, sizeof *pieces);
  work->places = pc_alloc_raw(work->env, count, sizeof *work->places);
  work->out->begin[1] = count;
  const pcal_status status = pieces == NULL || work->places == NULL
                                 ? pc_fail_memory(err, "sorting scores")
                                 : sorted_view_sort_blocks(work, blocks, pieces, err);
  pc_sorted_column_free(work->env, &work->sorted);
  pc_free(work->env, work->places);
  pc_free(work->env, pieces);
  return status;
}

static pcal_status sorted_view_fill(sorted_view_work *work, pcal_error *err) {
  const pc_view *view = &work->out->view;
  return view->kind == PC_VIEW_CLASSES ? sorted_view_fill_classes(work, err)
         : work->out->part_count == 1  ? sorted_view_fill_one(work, err)
                                       : sorted_view_fill_parts(work, err);
}

pcal_status pc_sorted_view_new(const pcal_env *env, const pc_view *view,
                               const pc_layout *layout, const pc_kept_rows *rows,
                               pc_sorted_view *out, pcal_error *err) {
  const size_t scores = pc_view_scores_per_row(view, layout), count = rows->count * scores;
  *out = (pc_sorted_view){.view = *view, .part_count = pc_view_parts(view, layout)};
  out->begin = pc_alloc(env, out->part_count + 1, sizeof *out->begin);
  out->score = pc_alloc_raw(env, count, sizeof *out->score);
  out->row = pc_alloc(env, count + PC_REPLICA_AHEAD, sizeof *out->row);
  out->label = pc_alloc_raw(env, count, sizeof *out->label);
  pcal_status status =
      out->begin == NULL || out->score == NULL || out->row == NULL || out->label == NULL
          ? pc_fail_memory(err, "sorting scores")
          : PCAL_OK;
  sorted_view_work work = {
      .env = env, .layout = layout, .rows = rows, .scores = scores, .out = out};
  if (status == PCAL_OK)
    status = sorted_view_fill(&work, err);
  if (status != PCAL_OK)
    pc_sorted_view_free(env, out);
  return status;
}

/* ---- evidence ---- */

void pc_replica_evidence_free(const pcal_env *env, pc_replica_evidence *refilled) {
  pc_evidence *evidence = &refilled->evidence;
  pc_partition_free(env, &refilled->cells);
  pc_free(env, evidence->grid.bins);
  for (size_t p = 0; evidence->curve.parts != NULL && p < evidence->curve.part_count; p++)
    pc_curve_table_free(env, &evidence->curve.parts[p]);
  pc_free(env, evidence->curve.parts);
  memset(refilled, 0, sizeof *refilled);
}

static pcal_status sorted_view_curve_space(const pcal_env *env, const pc_sorted_view *sorted,
                                           pc_evidence *out, pcal_error *err) {
  out->curve.part_count = sorted->part_count;
  out->curve.parts = pc_alloc(env, sorted->part_count, sizeof *out->curve.parts);
  if (out->curve.parts == NULL)
    return pc_fail_memory(err, "drawing replicas");
  for (size_t p = 0; p < sorted->part_count; p++)
    PC_TRY(pc_curve_table_room(env, sorted->begin[p + 1] - sorted->begin[p],
                               &out->curve.parts[p], err));
  return PCAL_OK;
}

pcal_status pc_replica_evidence_new(const pcal_env *env, const pc_need *need,
                                    const pc_sorted_view *sorted, const pc_score_cells *coarse,
                                    pc_replica_evidence *out, pcal_error *err) {
  memset(out, 0, sizeof *out);
  out->coarse = coarse;
  out->evidence.machine = coarse == NULL ? need->machine : PC_GRID;
  int enough = 1;
  pcal_status status = PCAL_OK;
  if (coarse != NULL) {
    out->evidence.grid.part_count = coarse->parts;
    out->evidence.grid.bin_count = coarse->count;
    out->evidence.grid.bins = pc_alloc(env, coarse->parts * coarse->count, sizeof(pc_bin));
    enough = out->evidence.grid.bins != NULL;
  } else if (need->machine == PC_CURVE) {
    status = sorted_view_curve_space(env, sorted, &out->evidence, err);
  } else {
    status = pc_partition_new(env, need->grid.rule, need->grid.bins, &out->cells, err);
    out->evidence.grid.part_count = sorted->part_count;
    out->evidence.grid.bin_count = out->cells.bin_count;
    if (status == PCAL_OK)
      out->evidence.grid.bins =
          pc_alloc(env, sorted->part_count * out->cells.bin_count, sizeof(pc_bin));
    enough = status != PCAL_OK || out->evidence.grid.bins != NULL;
  }
  if (!enough)
    status = pc_fail_memory(err, "drawing replicas");
  if (status != PCAL_OK)
    pc_replica_evidence_free(env, out);
  return status;
}

/* The weight of the copies of a row that have a label. */
static double sorted_view_hits(const pc_replica_draw *drawn, uint32_t row, int32_t label,
                               double weight) {
  const int32_t drew = drawn->labels[row];
  if (drew >= 0)
    return drew == label ? weight : 0.0;
  const double copies = pc_drawn_outcomes_copies(drawn->outcomes, (size_t)(-1 - drew), label);
  return (double)(float)(drawn->each[row] * copies); /* rounded like the weight */
}

static void sorted_view_curve(const pc_sorted_view *sorted, const pc_replica_draw *drawn,
                              size_t part, pc_curve_table *table) {
  size_t at = 0;
  double total = 0.0;
  for (size_t e = sorted->begin[part]; e < sorted->begin[part + 1]; e++) {
    const double weight = (double)drawn->weights[sorted->row[e] * drawn->stride];
    if (weight == 0.0)
      continue;
    const double hit = sorted_view_hits(drawn, sorted->row[e], sorted->label[e], weight);
    total += weight;
    if (at > 0 && table->score[at - 1] == sorted->score[e]) {
      table->weight[at - 1] += weight;
      table->hits[at - 1] += hit;
      continue;
    }
    table->score[at] = sorted->score[e];
    table->weight[at] = weight;
    table->hits[at] = hit;
    at++;
  }
  table->count = at;
  table->total = total;
}

/* Adds the scores from entry `at` on that are in cells up to `last`; returns the first that is
 * not. */
static size_t sorted_view_bin(const pc_sorted_view *sorted, const pc_replica_draw *drawn,
                              size_t at, size_t end, const pc_replica_evidence *refilled,
                              size_t last, pc_bin *bin) {
  const pc_partition *cells = &refilled->cells;
  const double lattice = refilled->lattice;
  for (; at < end; at++) {
    const double score = sorted->score[at];
    if (last < cells->cut_count && pc_partition_above(cells, score, last))
      break;
    const uint32_t row = sorted->row[at];
    const double weight = (double)drawn->weights[row * drawn->stride];
    const double hits = sorted_view_hits(drawn, row, sorted->label[at], weight);
    const double rounded = pc_lattice_round(score, lattice);
    bin->weight += weight;
    bin->hits += hits;
    bin->score += weight * rounded;
    bin->score_square += weight * pc_lattice_round(score * score, lattice);
    bin->score_hit += hits * rounded;
  }
  return at;
}

static void sorted_view_grid(const pc_need *need, const pc_sorted_view *sorted,
                             const pc_replica_draw *drawn, size_t part,
                             const pc_replica_evidence *refilled, pc_bin *bins) {
  const pc_partition *cells = &refilled->cells;
  const size_t end = sorted->begin[part + 1];
  size_t at = sorted->begin[part];
  while (need->grid.threshold > 0 && at < end && sorted->score[at] <= need->grid.threshold)
    at++;
  for (size_t b = 0; b < cells->bin_count; b++) {
    const struct pc_cell_run *run = &cells->runs[b];
    pc_bin skipped = {0};
    bins[b] = (pc_bin){run->low, run->high, 0, 0, 0, 0, 0};
    if (run->first > 0)
      at = sorted_view_bin(sorted, drawn, at, end, refilled, run->first - 1, &skipped);
    at = sorted_view_bin(sorted, drawn, at, end, refilled, run->last, &bins[b]);
  }
}

/* The cells of one part. */
static void sorted_view_cells(const pc_sorted_view *sorted, const pc_replica_draw *drawn,
                              size_t part, const pc_replica_evidence *refilled) {
  const pc_score_cells *cells = refilled->coarse;
  const size_t end = sorted->begin[part + 1];
  size_t at = sorted->begin[part];
  while (cells->threshold > 0 && at < end && sorted->score[at] <= cells->threshold)
    at++;
  for (size_t c = 0; c < cells->count; c++) {
    pc_bin *bin = &refilled->evidence.grid.bins[part * cells->count + c];
    *bin = (pc_bin){0};
    for (; at < end; at++) {
      const double score = sorted->score[at];
      if (pc_score_cells_above(cells, part, c, score))
        break;
      const uint32_t row = sorted->row[at];
      const double weight = (double)drawn->weights[row * drawn->stride];
      bin->weight += weight;
      bin->hits += sorted_view_hits(drawn, row, sorted->label[at], weight);
      bin->score += weight * pc_lattice_round(score, refilled->lattice);
    }
  }
}

void pc_replica_evidence_fill(const pc_need *need, const pc_sorted_view *sorted,
                              const pc_replica_draw *drawn, pc_replica_evidence *refilled) {
  pc_evidence *evidence = &refilled->evidence;
  evidence->total = drawn->total;
  for (size_t p = 0; p < sorted->part_count; p++)
    if (refilled->coarse != NULL)
      sorted_view_cells(sorted, drawn, p, refilled);
    else if (need->machine == PC_CURVE)
      sorted_view_curve(sorted, drawn, p, &evidence->curve.parts[p]);
    else
      sorted_view_grid(need, sorted, drawn, p, refilled,
                       evidence->grid.bins + p * refilled->cells.bin_count);
}
