#include "measure/replicas/replica_class_bins.h"

#include <math.h>
#include <string.h>

#include "curve/curve_prefix.h"
#include "kernels/dispatch.h"
#include "measure/replicas/row_moments.h"
#include "measure/replicas/score_ranges.h"

#define CLASS_BINS_SMALLEST 0x1p-1074 /* the bin of this score is the usual one */
#define CLASS_BINS_NONE SIZE_MAX

/* ---- which bin ---- */

/* The bins of one class while scores are listed. */
typedef struct class_bins_axis {
  pc_partition cells;
  double threshold;
  size_t *bin;        /* of each cell; CLASS_BINS_NONE: none */
  size_t first, last; /* cells of the usual bin */
} class_bins_axis;

static void class_bins_axis_free(const pcal_env *env, class_bins_axis *axis) {
  pc_free(env, axis->bin);
  pc_partition_free(env, &axis->cells);
}

static pcal_status class_bins_axis_new(const pcal_env *env, const pc_need *need,
                                       class_bins_axis *out, pcal_error *err) {
  *out = (class_bins_axis){.threshold = need->grid.threshold};
  PC_TRY(pc_partition_new(env, need->grid.rule, need->grid.bins, &out->cells, err));
  const size_t count = out->cells.cut_count + 1;
  out->bin = pc_alloc_raw(env, count, sizeof *out->bin);
  if (out->bin == NULL) {
    class_bins_axis_free(env, out);
    return pc_fail_memory(err, "drawing replicas");
  }
  for (size_t c = 0; c < count; c++)
    out->bin[c] = CLASS_BINS_NONE;
  for (size_t b = 0; b < out->cells.bin_count; b++)
    for (size_t c = out->cells.runs[b].first; c <= out->cells.runs[b].last; c++)
      out->bin[c] = b;
  out->first = out->last = pc_partition_find(&out->cells, CLASS_BINS_SMALLEST);
  while (out->last + 1 < count && out->bin[out->last + 1] == out->bin[out->first])
    out->last++;
  return PCAL_OK;
}

static int class_bins_is_usual(const class_bins_axis *axis, double score) {
  const pc_partition *cells = &axis->cells;
  if (axis->threshold > 0)
    return score <= axis->threshold;
  return (axis->last == cells->cut_count || !pc_partition_above(cells, score, axis->last)) &&
         (axis->first == 0 || pc_partition_above(cells, score, axis->first - 1));
}

/* The bin of a score that is not usual; `bins`: none. */
static size_t class_bins_find(const class_bins_axis *axis, double score, size_t bins) {
  const size_t bin = axis->bin[pc_partition_find(&axis->cells, score)];
  return bin == CLASS_BINS_NONE ? bins : bin;
}

/* ---- lists ---- */

static size_t class_bins_part(const pc_replica_class_bins *bins, size_t class_index) {
  return bins->parts == 1 ? 0 : class_index;
}

static size_t class_bins_usual_cell(const pc_replica_class_bins *bins, size_t class_index) {
  return class_bins_part(bins, class_index) * (bins->bins + 1) + bins->usual;
}

static size_t class_bins_cell(const pc_replica_class_bins *bins, size_t row,
                              int32_t class_index) {
  for (size_t e = bins->begin[row]; e < bins->begin[row + 1]; e++)
    if (bins->class_index[e] >= (uint32_t)class_index)
      return bins->class_index[e] == (uint32_t)class_index
                 ? bins->cell[e]
                 : class_bins_usual_cell(bins, (size_t)class_index);
  return class_bins_usual_cell(bins, (size_t)class_index);
}

static void class_bins_count(const class_bins_axis *axis, pc_replica_class_bins *out) {
  const pc_kept_rows *rows = out->rows;
  const double *p = rows->probs;
  for (size_t i = 0; i < rows->count; i++, p += rows->classes) {
    size_t listed = 0;
    for (size_t k = 0; k < rows->classes; k++)
      listed += (size_t)!class_bins_is_usual(axis, p[k]);
    out->begin[i + 1] = out->begin[i] + listed;
  }
}

static void class_bins_list(const class_bins_axis *axis, pc_replica_class_bins *out) {
  const pc_kept_rows *rows = out->rows;
  size_t at = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const double *p = rows->probs + i * rows->classes;
    for (size_t k = 0; k < rows->classes && at < out->begin[i + 1]; k++) {
      if (class_bins_is_usual(axis, p[k]))
        continue;
      out->class_index[at] = (uint32_t)k;
      out->cell[at++] = (uint32_t)(class_bins_part(out, k) * (out->bins + 1) +
                                   class_bins_find(axis, p[k], out->bins));
    }
    out->hit[i] = (uint32_t)class_bins_cell(out, i, rows->labels[i]);
  }
}

static pcal_status class_bins_fill(const pcal_env *env, const class_bins_axis *axis,
                                   pc_replica_class_bins *out, pcal_error *err) {
  const size_t count = out->rows->count;
  out->begin = pc_alloc(env, count + 1, sizeof *out->begin);
  out->hit = pc_alloc_raw(env, count, sizeof *out->hit);
  if (out->begin == NULL || out->hit == NULL)
    return pc_fail_memory(err, "drawing replicas");
  class_bins_count(axis, out);
  out->class_index = pc_alloc_raw(env, out->begin[count], sizeof *out->class_index);
  out->cell = pc_alloc_raw(env, out->begin[count], sizeof *out->cell);
  if (out->class_index == NULL || out->cell == NULL)
    return pc_fail_memory(err, "drawing replicas");
  class_bins_list(axis, out);
  return PCAL_OK;
}

int pc_replica_class_bins_suit(const pc_need *need, const pc_layout *layout,
                               const pc_kept_rows *rows) {
  return pc_sorted_view_suits(need, layout) && pc_score_ranges_indexable(need) &&
         rows->probs != NULL && rows->count <= UINT32_MAX &&
         (need->grid.bins + 2) * pc_view_parts(&need->view, layout) <=
             (pc_sorted_view_applies(need, layout, rows) ? UINT32_MAX
                                                         : rows->count * rows->classes / 32);
}

pcal_status pc_replica_class_bins_new(const pcal_env *env, const pc_need *need,
                                      const pc_layout *layout, const pc_kept_rows *rows,
                                      double lattice, pc_replica_class_bins *out,
                                      pcal_error *err) {
  class_bins_axis axis;
  PC_TRY(class_bins_axis_new(env, need, &axis, err));
  const size_t usual = axis.threshold > 0 ? CLASS_BINS_NONE : axis.bin[axis.first];
  *out =
      (pc_replica_class_bins){.rows = rows,
                              .lattice = lattice,
                              .parts = pc_view_parts(&need->view, layout),
                              .bins = axis.cells.bin_count,
                              .usual = usual == CLASS_BINS_NONE ? axis.cells.bin_count : usual};
  const pcal_status status = class_bins_fill(env, &axis, out, err);
  class_bins_axis_free(env, &axis);
  if (status != PCAL_OK)
    pc_replica_class_bins_free(env, out);
  return status;
}

void pc_replica_class_bins_free(const pcal_env *env, pc_replica_class_bins *bins) {
  pc_free(env, bins->begin);
  pc_free(env, bins->class_index);
  pc_free(env, bins->cell);
  pc_free(env, bins->hit);
  *bins = (pc_replica_class_bins){.rows = NULL};
}

/* ---- sums ---- */

static size_t class_bins_cells(const pc_replica_class_bins *bins) {
  return bins->parts * (bins->bins + 1);
}

size_t pc_replica_class_bins_scratch(const pc_replica_class_bins *bins) {
  return class_bins_cells(bins) * PC_LISTED_SUMS * PC_REPLICA_LANES + bins->rows->classes;
}

size_t pc_replica_columns_size(const pc_kept_rows *rows) {
  return (rows->classes + 1) * PC_REPLICA_LANES;
}

void pc_replica_columns_add(const pc_kept_rows *rows, double lattice, const float *weights,
                            double *columns) {
  memset(columns, 0, pc_replica_columns_size(rows) * sizeof *columns);
  pc_kernels_best()->replica_sum->add_columns(weights, rows->probs, rows->count, rows->classes,
                                              lattice, columns);
}

/* The weights and scores of the usual bin of a part: those of its columns less those of all other
 * cells. */
static void class_bins_close_part(const pc_replica_class_bins *bins, size_t part,
                                  const double *columns, double *cells) {
  const size_t lanes = PC_REPLICA_LANES, classes = bins->rows->classes;
  const size_t first = bins->parts == 1 ? 0 : part, count = bins->parts == 1 ? classes : 1;
  double *part_cells = cells + part * (bins->bins + 1) * PC_LISTED_SUMS * lanes;
  double *usual = part_cells + bins->usual * PC_LISTED_SUMS * lanes;
  for (size_t l = 0; l < lanes; l++) {
    double weight = columns[classes * lanes + l] * (double)count, score = 0.0;
    for (size_t k = first; k < first + count; k++)
      score += columns[k * lanes + l];
    for (size_t b = 0; b <= bins->bins; b++) {
      const double *cell = part_cells + b * PC_LISTED_SUMS * lanes;
      weight -= b == bins->usual ? 0.0 : cell[PC_REPLICA_SUM_WEIGHT * lanes + l];
      score -= b == bins->usual ? 0.0 : cell[PC_REPLICA_SUM_SCORE * lanes + l];
    }
    usual[PC_REPLICA_SUM_WEIGHT * lanes + l] = weight;
    usual[PC_REPLICA_SUM_SCORE * lanes + l] = score;
  }
}

/* Copies one kind of sums of all bins, number `at` of the `width` sums of each cell. */
static void class_bins_put(const pc_replica_class_bins *bins, const double *cells, size_t width,
                           size_t at, size_t kind, double *sums) {
  const size_t step = bins->parts * bins->bins;
  for (size_t p = 0; p < bins->parts; p++)
    for (size_t b = 0; b < bins->bins; b++) {
      const double *from = cells + ((p * (bins->bins + 1) + b) * width + at) * PC_REPLICA_LANES;
      double *to = sums + kind * step + p * bins->bins + b;
      for (size_t l = 0; l < PC_REPLICA_LANES; l++)
        to[l * PC_REPLICA_SUM_COUNT * step] = from[l];
    }
}

void pc_replica_class_bins_add(const pc_replica_class_bins *bins, const float *weights,
                               const double *columns, double *cells, double *sums) {
  const pc_listed_scores listed = {bins->begin, bins->class_index, bins->cell, bins->hit};
  memset(cells, 0, class_bins_cells(bins) * PC_LISTED_SUMS * PC_REPLICA_LANES * sizeof *cells);
  pc_kernels_best()->replica_sum->add_listed(weights, bins->rows->probs, &listed,
                                             bins->rows->count, bins->rows->classes,
                                             bins->lattice, cells);
  for (size_t p = 0; bins->usual < bins->bins && p < bins->parts; p++)
    class_bins_close_part(bins, p, columns, cells);
  for (size_t kind = 0; kind < PC_LISTED_SUMS; kind++)
    class_bins_put(bins, cells, PC_LISTED_SUMS, kind, kind, sums);
}

void pc_replica_class_bins_add_hits(const pc_replica_class_bins *bins, const float *weights,
                                    const int32_t *labels, double *cells, double *sums) {
  const size_t classes = bins->rows->classes, lanes = PC_REPLICA_LANES;
  const size_t step = bins->parts == 1 ? 0 : bins->bins + 1; /* between classes */
  uint32_t *of_class = (uint32_t *)(void *)(cells + class_bins_cells(bins) * lanes);
  memset(cells, 0, class_bins_cells(bins) * lanes * sizeof *cells);
  for (size_t k = 0; k < classes; k++)
    of_class[k] = (uint32_t)class_bins_usual_cell(bins, k);
  for (size_t i = 0; i < bins->rows->count; i++, weights += lanes, labels += lanes) {
    const size_t begin = bins->begin[i], end = bins->begin[i + 1];
    for (size_t e = begin; e < end; e++)
      of_class[bins->class_index[e]] = bins->cell[e];
    for (size_t l = 0; l < lanes; l++)
      cells[of_class[labels[l]] * lanes + l] += (double)weights[l];
    for (size_t e = begin; e < end; e++)
      of_class[bins->class_index[e]] = (uint32_t)(bins->class_index[e] * step + bins->usual);
  }
  class_bins_put(bins, cells, 1, 0, PC_REPLICA_SUM_HITS, sums);
}

size_t pc_replica_class_bins_range(const pc_replica_class_bins *bins, size_t row,
                                   int32_t class_index) {
  const size_t cell = class_bins_cell(bins, row, class_index);
  const size_t part = cell / (bins->bins + 1), bin = cell % (bins->bins + 1);
  return bin == bins->bins ? SIZE_MAX : part * bins->bins + bin;
}

void pc_replica_class_bins_index(const pc_replica_class_bins *bins, uint16_t *of_class) {
  for (size_t i = 0; i < bins->rows->count; i++)
    for (size_t k = 0; k < bins->rows->classes; k++)
      *of_class++ = (uint16_t)(pc_replica_class_bins_range(bins, i, (int32_t)k) + 1);
}

double pc_replica_class_bins_tilt(const pc_replica_class_bins *bins, const float *weight,
                                  double *tilt) {
  const pc_kept_rows *rows = bins->rows;
  double scores = 0.0, all = 0.0;
  memset(tilt, 0, bins->parts * bins->bins * sizeof *tilt);
  for (size_t i = 0; i < rows->count; i++) {
    const double *p = rows->probs + i * rows->classes;
    size_t at = bins->begin[i];
    for (size_t k = 0; k < rows->classes; k++) {
      const int listed = at < bins->begin[i + 1] && bins->class_index[at] == k;
      const size_t cell = listed ? bins->cell[at++] : class_bins_usual_cell(bins, k);
      const size_t part = cell / (bins->bins + 1), bin = cell % (bins->bins + 1);
      const double here =
          (double)weight[i] * pc_lattice_round(pc_gap_tilt(p[k]), bins->lattice);
      if (bin == bins->bins)
        continue;
      tilt[part * bins->bins + bin] += here;
      scores += (double)weight[i];
      all += here;
    }
  }
  return all > 0.0 ? all / scores : 1.0;
}
