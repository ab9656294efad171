#include "measure/replicas/replica_row_sums.h"

#include <math.h>
#include <string.h>

#include "kernels/dispatch.h"
#include "measure/replicas/replica_rows.h"
#include "measure/replicas/replica_ways.h"

pcal_status pc_replica_row_sums_new(const pcal_env *env, const pc_need *need,
                                    const pc_rows *rows, pc_replica_row_sums *out,
                                    pcal_error *err) {
  out->rows = rows->count;
  out->count = need->sum.value_count;
  out->values = pc_alloc_raw(env, rows->count * out->count, sizeof *out->values);
  out->ids = pc_alloc_raw(env, rows->count, sizeof *out->ids);
  if (out->values == NULL || out->ids == NULL) {
    pc_replica_row_sums_free(env, out);
    return pc_fail_memory(err, "drawing replicas");
  }
  need->sum.values(need->sum.params, rows, 0, rows->count, out->values);
  memcpy(out->ids, rows->ids, rows->count * sizeof *out->ids);
  out->finite = 1;
  for (size_t i = 0; i < rows->count * out->count; i++)
    out->finite &= !isinf(out->values[i]);
  return PCAL_OK;
}

void pc_replica_row_sums_free(const pcal_env *env, pc_replica_row_sums *sums) {
  pc_free(env, sums->values);
  pc_free(env, sums->ids);
  memset(sums, 0, sizeof *sums);
}

static pcal_status replica_sums_fill(const pcal_env *env, const pc_replica_request *request,
                                     pc_replica_rows *written, pc_replica_row_sums *out,
                                     pcal_error *err) {
  const pc_kept_rows *kept = request->rows;
  PC_TRY(pc_replica_rows_reserve(env, written, kept->count, err));
  for (size_t i = 0; i < kept->count; i++)
    pc_replica_rows_put(written, i, i, 1.0, kept->labels[i]);
  const pc_rows rows = pc_replica_rows_view(written, kept->count);
  for (size_t s = 0; s < request->plan->slot_count; s++)
    if (pc_replica_wants_slot(request, s) && request->plan->slots[s].need.machine == PC_SUM)
      PC_TRY(pc_replica_row_sums_new(env, &request->plan->slots[s].need, &rows, &out[s], err));
  return PCAL_OK;
}

pcal_status pc_replica_row_sums_fill(const pcal_env *env, const pc_replica_request *request,
                                     pc_replica_row_sums *out, pcal_error *err) {
  pc_replica_rows written = {
      .kept = request->rows, .layout = &request->plan->layout, .needs_row_terms = 1};
  const pcal_status status = replica_sums_fill(env, request, &written, out, err);
  pc_replica_rows_free(env, &written);
  return status;
}

static void replica_sums_infinite(const pc_replica_row_sums *sums, size_t row, size_t value,
                                  double weight, pc_evidence *evidence) {
  evidence->sum.infinite[value] += weight;
  if (sums->ids[row] < evidence->sum.infinite_row[value])
    evidence->sum.infinite_row[value] = sums->ids[row];
}

void pc_replica_row_sums_add(const pc_replica_row_sums *sums, const float *weights,
                             double *batch) {
  if (sums->finite)
    pc_kernels_best()->replica_sum->add_values(weights, sums->values, sums->count, sums->rows,
                                               batch);
}

/* Adds row by row, infinite values apart. */
static void replica_sums_add_rows(const pc_replica_row_sums *sums, const pc_replica_draw *drawn,
                                  pc_evidence *evidence) {
  for (size_t i = 0; i < sums->rows; i++) {
    const double weight = (double)drawn->weights[i * drawn->stride];
    for (size_t v = 0; weight > 0.0 && v < sums->count; v++) {
      const double x = sums->values[i * sums->count + v];
      if (isinf(x))
        replica_sums_infinite(sums, i, v, weight, evidence);
      else
        evidence->sum.value[v] += weight * x;
    }
  }
}

void pc_replica_row_sums_evidence(const pc_replica_row_sums *sums, const pc_replica_draw *drawn,
                                  const double *batch, pc_evidence *evidence) {
  memset(&evidence->sum, 0, sizeof evidence->sum);
  evidence->sum.count = sums->count;
  for (size_t v = 0; v < sums->count; v++) {
    evidence->sum.infinite_row[v] = PCAL_NO_ROW;
    evidence->sum.value[v] = sums->finite ? batch[v * PC_REPLICA_LANES] : 0.0;
  }
  if (!sums->finite)
    replica_sums_add_rows(sums, drawn, evidence);
}
