/* Formula:  q_c = P(Y | prediction c), the mean outcome of the rows with that prediction;
 *             CE_p = (sum_c w_c sum_k |f_k - q_ck|^p)^(1/p),
 *             sharpness = g(P(Y)) - sum_c w_c g(q_c).
 *           Unbiased, Brier: g(q_c) n_c / (n_c - 1), the mean over pairs of rows.
 * Edge cases:
 *   (1) 0 and -0 are equal;
 *   (2) 0 log 0 = 0;
 *   (3) a prediction of one row has the entropy of all rows in the unbiased form.
 * Source:   Gruber & Buettner 2022, Lemma 4.1 and Proposition E.2; Broecker 2012 (bias).
 * Accuracy: sums run in the order of the keys: the same for any number of threads.
 * Cost:     a sort of the rows. */
#include "studies/distinct_predictions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"

typedef struct distinct_key {
  const double *key;
  size_t width, row;
} distinct_key;

static int distinct_compare_keys(const distinct_key *a, const distinct_key *b) {
  for (size_t k = 0; k < a->width; k++)
    if (a->key[k] != b->key[k])
      return a->key[k] < b->key[k] ? -1 : 1;
  return 0;
}

static int distinct_compare(const void *left, const void *right) {
  const distinct_key *a = left, *b = right;
  const int keys = distinct_compare_keys(a, b);
  return keys != 0 ? keys : (a->row > b->row) - (a->row < b->row);
}

void pc_distinct_predictions_free(pc_distinct_predictions *cells) {
  if (cells->env == NULL)
    return;
  pc_free(cells->env, cells->of_row);
  pc_free(cells->env, cells->sizes);
  pc_free(cells->env, cells->weights);
  pc_free(cells->env, cells->rates);
  pc_free(cells->env, cells->shares);
  memset(cells, 0, sizeof *cells);
}

/* Numbers the cells in the order of their keys. */
static pcal_status distinct_number(const double *keys, size_t key_width,
                                   pc_distinct_predictions *cells, pcal_error *err) {
  distinct_key *places = pc_alloc_raw(cells->env, cells->rows, sizeof *places);
  cells->of_row = pc_alloc_raw(cells->env, cells->rows, sizeof *cells->of_row);
  if (places == NULL || cells->of_row == NULL) {
    pc_free(cells->env, places);
    return pc_fail_memory(err, "finding equal predictions");
  }
  for (size_t i = 0; i < cells->rows; i++)
    places[i] = (distinct_key){keys + i * key_width, key_width, i};
  qsort(places, cells->rows, sizeof *places, distinct_compare);
  for (size_t i = 0; i < cells->rows; i++) {
    cells->count += i == 0 || distinct_compare_keys(&places[i - 1], &places[i]) != 0;
    cells->of_row[places[i].row] = cells->count - 1;
  }
  pc_free(cells->env, places);
  return PCAL_OK;
}

static pcal_status distinct_alloc(pc_distinct_predictions *cells, pcal_error *err) {
  cells->sizes = pc_alloc(cells->env, cells->count, sizeof *cells->sizes);
  cells->weights = pc_alloc(cells->env, cells->count, sizeof *cells->weights);
  cells->rates = pc_alloc(cells->env, cells->count * cells->width, sizeof *cells->rates);
  cells->shares = pc_alloc(cells->env, cells->width, sizeof *cells->shares);
  return cells->sizes != NULL && cells->weights != NULL && cells->rates != NULL &&
                 cells->shares != NULL
             ? PCAL_OK
             : pc_fail_memory(err, "finding equal predictions");
}

static void distinct_add(const pc_row_outcomes *outcomes, size_t row, double weight,
                         double *sums) {
  const size_t width = outcomes->width;
  if (outcomes->expected != NULL)
    for (size_t k = 0; k < width; k++)
      sums[k] += weight * outcomes->expected[row * width + k];
  else if (width == 1)
    sums[0] += weight * outcomes->labels[row];
  else
    sums[outcomes->labels[row]] += weight;
}

static void distinct_gather(const pc_row_outcomes *outcomes, pc_distinct_predictions *cells) {
  double total = 0;
  for (size_t i = 0; i < cells->rows; i++) {
    const double weight = outcomes->weights == NULL ? 1.0 : outcomes->weights[i];
    const size_t cell = cells->of_row[i];
    cells->sizes[cell]++;
    cells->weights[cell] += weight;
    total += weight;
    distinct_add(outcomes, i, weight, cells->rates + cell * cells->width);
  }
  for (size_t c = 0; c < cells->count; c++) {
    double *rates = cells->rates + c * cells->width;
    for (size_t k = 0; k < cells->width; k++) {
      cells->shares[k] += rates[k] / total;
      rates[k] = cells->weights[c] > 0 ? rates[k] / cells->weights[c] : 0.0;
    }
    cells->weights[c] /= total;
  }
}

pcal_status pc_distinct_predictions_new(const double *keys, size_t key_width,
                                        const pc_row_outcomes *outcomes, const pcal_env *env,
                                        pc_distinct_predictions *out, pcal_error *err) {
  memset(out, 0, sizeof *out);
  out->env = env;
  out->rows = outcomes->rows;
  out->width = outcomes->width;
  PC_TRY(distinct_number(keys, key_width, out, err));
  PC_TRY(distinct_alloc(out, err));
  distinct_gather(outcomes, out);
  return PCAL_OK;
}

double pc_distinct_predictions_error(const pc_distinct_predictions *cells,
                                     const double *predictions, double p) {
  double sum = 0;
  for (size_t i = 0; i < cells->rows; i++) {
    const size_t cell = cells->of_row[i];
    const double *rates = cells->rates + cell * cells->width;
    double row = 0;
    for (size_t k = 0; k < cells->width; k++)
      row += pc_pow(fabs(predictions[i * cells->width + k] - rates[k]), p);
    sum += row * cells->weights[cell] / (double)cells->sizes[cell];
  }
  return pc_pow(sum, 1 / p);
}

/* ---- Entropies ---- */

static double distinct_entropy_of(const double *q, size_t width, pc_entropy_score score) {
  double sum = 0;
  for (size_t k = 0; k < width; k++)
    sum += score == PC_ENTROPY_BRIER ? q[k] * q[k] : q[k] > 0 ? q[k] * pc_log(q[k]) : 0.0;
  return score == PC_ENTROPY_BRIER ? 1 - sum : 0.0 - sum;
}

double pc_distinct_predictions_entropy(const pc_distinct_predictions *cells,
                                       pc_entropy_score score) {
  double sum = 0;
  for (size_t c = 0; c < cells->count; c++)
    sum += cells->weights[c] *
           distinct_entropy_of(cells->rates + c * cells->width, cells->width, score);
  return sum;
}

double pc_distinct_predictions_base_entropy(const pc_distinct_predictions *cells,
                                            pc_entropy_score score) {
  return distinct_entropy_of(cells->shares, cells->width, score);
}

double pc_distinct_predictions_unbiased_base_entropy(const pc_distinct_predictions *cells) {
  const double n = (double)cells->rows;
  return n > 1 ? n / (n - 1) * pc_distinct_predictions_base_entropy(cells, PC_ENTROPY_BRIER)
               : 0.0;
}

double pc_distinct_predictions_unbiased_entropy(const pc_distinct_predictions *cells) {
  double sum = 0;
  for (size_t c = 0; c < cells->count; c++) {
    const double n = (double)cells->sizes[c];
    sum += cells->weights[c] * (n > 1 ? n / (n - 1) *
                                            distinct_entropy_of(cells->rates + c * cells->width,
                                                                cells->width, PC_ENTROPY_BRIER)
                                      : pc_distinct_predictions_unbiased_base_entropy(cells));
  }
  return sum;
}
