/* The sum machine: exact sums of row values.
 *
 * State: for each value the exact sum of weight * value over rows with a finite value, the
 * weight of rows with an infinite value, and the lowest index of such a row.  All three merge
 * in any order to the same bits.
 *
 * For standard errors the state also has sums of weight * (product of two values).  From the
 * first weight other than 1 on it also has the difference that squared weights would make to
 * all these sums, because only at the end is it known whether weights are frequencies or
 * importance weights. */
#include <float.h>
#include <math.h>

#include "base/sum.h"
#include "kernels/column_sum.h"
#include "kernels/dispatch.h"
#include "machines/machine.h"

#define MACHINE_SUM_BLOCK 512   /* rows */
#define MACHINE_SUM_LARGE 1e150 /* squares of smaller values are finite */

typedef struct sum_value {
  pc_sum finite, infinite;
  uint64_t infinite_row;
} sum_value;

/* Sums of (weight^2 - weight) times values and products. */
typedef struct sum_excess {
  pc_sum value[PC_VALUES_MAX];
  pc_sum product[PC_VALUES_MAX][PC_VALUES_MAX];
} sum_excess;

typedef struct sum_state {
  pc_need need;
  sum_excess *excess; /* NULL while all weights are 1 */
  /* Sums of products over rows without infinite values, [v][u] with u <= v; stored after the
   * values in the same block; NULL if not requested. */
  pc_sum (*product)[PC_VALUES_MAX];
  sum_value value[];
} sum_state;

static void machine_sum_excess_clear(sum_excess *excess, size_t values) {
  for (size_t v = 0; excess != NULL && v < values; v++) {
    pc_sum_clear(&excess->value[v]);
    for (size_t u = 0; u <= v; u++)
      pc_sum_clear(&excess->product[v][u]);
  }
}

/* Allocates the excess if there is none. */
static pcal_status machine_sum_excess_open(const pcal_env *env, sum_state *state,
                                           pcal_error *err) {
  if (state->excess != NULL)
    return PCAL_OK;
  state->excess = pc_alloc(env, 1, sizeof *state->excess);
  if (state->excess == NULL)
    return pc_fail_memory(err, "preparing sums");
  machine_sum_excess_clear(state->excess, state->need.sum.value_count);
  return PCAL_OK;
}

static void machine_sum_clear(void *opaque) {
  sum_state *state = opaque;
  for (size_t v = 0; v < state->need.sum.value_count; v++) {
    pc_sum_clear(&state->value[v].finite);
    pc_sum_clear(&state->value[v].infinite);
    state->value[v].infinite_row = PCAL_NO_ROW;
    for (size_t u = 0; state->product != NULL && u <= v; u++)
      pc_sum_clear(&state->product[v][u]);
  }
  machine_sum_excess_clear(state->excess, state->need.sum.value_count);
}

static pcal_status machine_sum_create(const pcal_env *env, const pc_need *need,
                                      const pc_layout *layout, void **out, pcal_error *err) {
  (void)layout;
  const size_t values = need->sum.value_count;
  const size_t products = need->sum.products ? values * PC_VALUES_MAX * sizeof(pc_sum) : 0;
  sum_state *state = pc_alloc(env, 1, sizeof *state + values * sizeof *state->value + products);
  if (state == NULL)
    return pc_fail_memory(err, "preparing sums");
  state->need = *need;
  state->product = products > 0 ? (void *)(state->value + values) : NULL;
  machine_sum_clear(state);
  *out = state;
  return PCAL_OK;
}

static void machine_sum_destroy(const pcal_env *env, void *opaque) {
  sum_state *state = opaque;
  pc_free(env, state->excess);
  pc_free(env, state);
}

static void machine_sum_add(sum_value *value, double x, double weight, uint64_t row) {
  if (!isinf(x)) {
    if (weight == 1.0)
      pc_sum_add(&value->finite, x);
    else
      pc_sum_add_product(&value->finite, weight, x);
    return;
  }
  pc_sum_add(&value->infinite, weight);
  if (row < value->infinite_row)
    value->infinite_row = row;
}

static double machine_sum_finite(double product) {
  return isinf(product) ? copysign(DBL_MAX, product) : product;
}

/* Adds the products of the values of one row, unless one is infinite. */
static void machine_sum_add_products(sum_state *state, const double *x, double weight) {
  const size_t values = state->need.sum.value_count;
  for (size_t v = 0; v < values; v++)
    if (isinf(x[v]))
      return;
  for (size_t v = 0; v < values; v++)
    for (size_t u = 0; u <= v; u++)
      pc_sum_add_product(&state->product[v][u], weight, machine_sum_finite(x[v] * x[u]));
}

/* Adds the excess of one row, unless a value is infinite. */
static void machine_sum_add_excess(sum_state *state, const double *x, double weight) {
  const size_t values = state->need.sum.value_count;
  for (size_t v = 0; v < values; v++)
    if (isinf(x[v]))
      return;
  for (size_t v = 0; v < values; v++) {
    pc_sum_add_product(&state->excess->value[v], weight * weight, x[v]);
    pc_sum_add_product(&state->excess->value[v], -weight, x[v]);
    for (size_t u = 0; u <= v; u++) {
      const double product = machine_sum_finite(x[v] * x[u]);
      pc_sum_add_product(&state->excess->product[v][u], weight * weight, product);
      pc_sum_add_product(&state->excess->product[v][u], -weight, product);
    }
  }
}

static void machine_sum_add_rows(sum_state *state, const pc_rows *rows, size_t begin,
                                 const double *block, size_t count) {
  const size_t values = state->need.sum.value_count;
  for (size_t i = 0; i < count; i++) {
    const double weight = rows->weights == NULL ? 1.0 : rows->weights[begin + i];
    for (size_t v = 0; v < values; v++)
      machine_sum_add(&state->value[v], block[i * values + v], weight, rows->ids[begin + i]);
    if (state->need.sum.products)
      machine_sum_add_products(state, block + i * values, weight);
    if (state->need.sum.products && weight != 1.0)
      machine_sum_add_excess(state, block + i * values, weight);
  }
}

/* The same for rows without weights or infinite values, column by column. */
static void machine_sum_add_columns(sum_state *state, const double *block, size_t count) {
  const size_t values = state->need.sum.value_count;
  double column[MACHINE_SUM_BLOCK];
  for (size_t v = 0; v < values; v++) {
    for (size_t i = 0; values > 1 && i < count; i++)
      column[i] = block[i * values + v];
    pc_sum_add_column(&state->value[v].finite, values > 1 ? column : block, count);
    for (size_t u = 0; state->need.sum.products && u <= v; u++) {
      for (size_t i = 0; i < count; i++)
        column[i] = block[i * values + v] * block[i * values + u];
      pc_sum_add_column(&state->product[v][u], column, count);
    }
  }
}

static pcal_status machine_sum_update(const pcal_env *env, void *opaque, const pc_rows *rows,
                                      const pc_view_columns *columns, pcal_error *err) {
  (void)columns;
  sum_state *state = opaque;
  if (state->need.sum.products && rows->weights != NULL)
    PC_TRY(machine_sum_excess_open(env, state, err));
  const pc_row_kernels *kernels = pc_kernels_best()->row;
  const size_t values = state->need.sum.value_count;
  const int alone = values == 1 && !state->need.sum.products && rows->weights == NULL;
  double block[MACHINE_SUM_BLOCK * PC_VALUES_MAX];
  for (size_t begin = 0; begin < rows->count; begin += MACHINE_SUM_BLOCK) {
    const size_t left = rows->count - begin;
    const size_t count = left < MACHINE_SUM_BLOCK ? left : MACHINE_SUM_BLOCK;
    state->need.sum.values(state->need.sum.params, rows, begin, count, block);
    if (alone && pc_sum_add_block(&state->value[0].finite, block, count))
      continue;
    if (rows->weights == NULL && kernels->largest(block, count * values) <= MACHINE_SUM_LARGE)
      machine_sum_add_columns(state, block, count);
    else
      machine_sum_add_rows(state, rows, begin, block, count);
  }
  return PCAL_OK;
}

void pc_machine_sum_add(void *opaque, size_t value, const pc_sum *sum) {
  sum_state *state = opaque;
  pc_sum_merge(&state->value[value].finite, sum);
}

void pc_machine_sum_read(const void *opaque, size_t value, pc_sum *finite, pc_sum *infinite) {
  const sum_state *state = opaque;
  *finite = state->value[value].finite;
  *infinite = state->value[value].infinite;
}

static pcal_status machine_sum_prepare(const pcal_env *env, void *opaque, const void *other,
                                       pcal_error *err) {
  sum_state *into = opaque;
  const sum_state *from = other;
  if (from->excess != NULL)
    PC_TRY(machine_sum_excess_open(env, into, err));
  for (size_t v = 0; v < into->need.sum.value_count; v++)
    if (!pc_sum_addable(&into->value[v].finite, &from->value[v].finite) ||
        !pc_sum_addable(&into->value[v].infinite, &from->value[v].infinite))
      return pc_fail(err, PCAL_DATA, "the sums are too large to be added");
  for (size_t v = 0; v < into->need.sum.value_count; v++)
    for (size_t u = 0; into->product != NULL && u <= v; u++)
      if (!pc_sum_addable(&into->product[v][u], &from->product[v][u]))
        return pc_fail(err, PCAL_DATA, "the sums are too large to be added");
  for (size_t v = 0; from->excess != NULL && v < into->need.sum.value_count; v++) {
    int fits = pc_sum_addable(&into->excess->value[v], &from->excess->value[v]);
    for (size_t u = 0; u <= v; u++)
      fits &= pc_sum_addable(&into->excess->product[v][u], &from->excess->product[v][u]);
    if (!fits)
      return pc_fail(err, PCAL_DATA, "the sums are too large to be added");
  }
  return PCAL_OK;
}

static void machine_sum_merge(void *opaque, const void *other) {
  sum_state *into = opaque;
  const sum_state *from = other;
  for (size_t v = 0; v < into->need.sum.value_count; v++) {
    pc_sum_merge(&into->value[v].finite, &from->value[v].finite);
    pc_sum_merge(&into->value[v].infinite, &from->value[v].infinite);
    if (from->value[v].infinite_row < into->value[v].infinite_row)
      into->value[v].infinite_row = from->value[v].infinite_row;
    for (size_t u = 0; into->product != NULL && u <= v; u++)
      pc_sum_merge(&into->product[v][u], &from->product[v][u]);
  }
  for (size_t v = 0; from->excess != NULL && v < into->need.sum.value_count; v++) {
    pc_sum_merge(&into->excess->value[v], &from->excess->value[v]);
    for (size_t u = 0; u <= v; u++)
      pc_sum_merge(&into->excess->product[v][u], &from->excess->product[v][u]);
  }
}

static double machine_sum_both(const pc_sum *sum, const pc_sum *excess) {
  pc_sum both = *sum;
  if (excess != NULL && pc_sum_addable(&both, excess))
    pc_sum_merge(&both, excess);
  return pc_sum_value(&both);
}

/* Sums with squared weights. */
static void machine_sum_squares(const sum_state *state, struct pc_sum_evidence *out) {
  const sum_excess *more = state->excess;
  for (size_t v = 0; v < out->count; v++) {
    out->square_value[v] =
        machine_sum_both(&state->value[v].finite, more == NULL ? NULL : &more->value[v]);
    for (size_t u = 0; u <= v; u++)
      out->square_product[v][u] = out->square_product[u][v] =
          machine_sum_both(&state->product[v][u], more == NULL ? NULL : &more->product[v][u]);
  }
}

static pcal_status machine_sum_finish(const pcal_env *env, const void *opaque, pc_evidence *out,
                                      pcal_error *err) {
  (void)env;
  (void)err;
  const sum_state *state = opaque;
  out->sum.count = state->need.sum.value_count;
  for (size_t v = 0; v < out->sum.count; v++) {
    out->sum.value[v] = pc_sum_value(&state->value[v].finite);
    out->sum.infinite[v] = pc_sum_value(&state->value[v].infinite);
    out->sum.infinite_row[v] = state->value[v].infinite_row;
    for (size_t u = 0; u <= v; u++)
      out->sum.product[v][u] = out->sum.product[u][v] =
          state->product == NULL ? 0.0 : pc_sum_value(&state->product[v][u]);
  }
  if (state->need.sum.products)
    machine_sum_squares(state, &out->sum);
  return PCAL_OK;
}

static void machine_sum_release(const pcal_env *env, pc_evidence *evidence) {
  (void)env;
  (void)evidence;
}

/* True if the excess is not 0.  Saved bytes are the same with weights of 1 and without
 * weights. */
static int machine_sum_exceeds(const sum_state *state) {
  pc_sum zero;
  pc_sum_clear(&zero);
  for (size_t v = 0; state->excess != NULL && v < state->need.sum.value_count; v++) {
    if (!pc_sum_equal(&state->excess->value[v], &zero))
      return 1;
    for (size_t u = 0; u <= v; u++)
      if (!pc_sum_equal(&state->excess->product[v][u], &zero))
        return 1;
  }
  return 0;
}

static pcal_status machine_sum_save(const pcal_env *env, const void *opaque, pc_encoder *out,
                                    pcal_error *err) {
  (void)env;
  (void)err;
  const sum_state *state = opaque;
  for (size_t v = 0; v < state->need.sum.value_count; v++) {
    pc_encode_sum(out, &state->value[v].finite);
    pc_encode_sum(out, &state->value[v].infinite);
    pc_encode_u64(out, state->value[v].infinite_row);
    for (size_t u = 0; state->need.sum.products && u <= v; u++)
      pc_encode_sum(out, &state->product[v][u]);
  }
  if (state->need.sum.products)
    pc_encode_u8(out, machine_sum_exceeds(state));
  for (size_t v = 0; machine_sum_exceeds(state) && v < state->need.sum.value_count; v++) {
    pc_encode_sum(out, &state->excess->value[v]);
    for (size_t u = 0; u <= v; u++)
      pc_encode_sum(out, &state->excess->product[v][u]);
  }
  return PCAL_OK;
}

static pcal_status machine_sum_load(const pcal_env *env, const pc_need *need,
                                    const pc_layout *layout, const pc_saved_totals *totals,
                                    pc_decoder *in, void **out, pcal_error *err) {
  (void)totals;
  PC_TRY(machine_sum_create(env, need, layout, out, err));
  sum_state *state = *out;
  for (size_t v = 0; v < need->sum.value_count; v++) {
    sum_value *value = &state->value[v];
    pc_decode_sum(in, &value->finite);
    pc_decode_sum(in, &value->infinite);
    value->infinite_row = pc_decode_u64(in);
    const double infinite = pc_sum_value(&value->infinite);
    pc_decoder_expect(in, value->infinite_row == PCAL_NO_ROW ? infinite == 0 : infinite > 0);
    for (size_t u = 0; need->sum.products && u <= v; u++)
      pc_decode_sum(in, &state->product[v][u]);
  }
  const unsigned exceeds = need->sum.products ? pc_decode_u8(in) : 0;
  pc_decoder_expect(in, exceeds <= 1);
  if (exceeds != 1 || in->failed)
    return PCAL_OK;
  PC_TRY(machine_sum_excess_open(env, state, err));
  for (size_t v = 0; v < need->sum.value_count; v++) {
    pc_decode_sum(in, &state->excess->value[v]);
    for (size_t u = 0; u <= v; u++)
      pc_decode_sum(in, &state->excess->product[v][u]);
  }
  pc_decoder_expect(in, machine_sum_exceeds(state));
  return PCAL_OK;
}

const pc_machine pc_machine_sum = {
    .name = "sum",
    .create = machine_sum_create,
    .destroy = machine_sum_destroy,
    .clear = machine_sum_clear,
    .update = machine_sum_update,
    .prepare = machine_sum_prepare,
    .merge = machine_sum_merge,
    .finish = machine_sum_finish,
    .release = machine_sum_release,
    .save = machine_sum_save,
    .load = machine_sum_load,
};
