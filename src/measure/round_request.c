#include "measure/round_request.h"

#include "base/rng.h"
#include "machines/machine_curve_buckets.h"
#include "measure/replicas/tally_slots.h"
#include "measure/saved_state.h"

#define REQUEST_TEXT_BYTES 4
#define REQUEST_STATE_BYTES 2

const pc_envelope pc_round_request_envelope = {
    .magic = "PCALRQST",
    .version = 4,
    .noun = "request",
    .origin = "is not a request of rounds; pcal_rounds_request writes one",
    .saved = "was written",
    .remedy = "ask for it again",
};

/* ---- configuration ---- */

void pc_round_config_free(pc_round_config *config) {
  if (config->env == NULL)
    return;
  pc_name_list_free(config->env, config->specs, config->measure.spec_count);
  *config = (pc_round_config){0};
}

/* Verdicts about samples and quantiles read the rank of every target. */
static int request_kind_suits(pcal_kind kind) {
  const pc_form form = pc_kind_form(kind);
  return form != PC_FORM_SAMPLES && form != PC_FORM_QUANTILES;
}

pcal_status pc_round_config_new(const pcal_env *env, const pcal_measure_config *from,
                                pc_round_config *out, pcal_error *err) {
  pc_interval_request intervals;
  *out = (pc_round_config){.env = env, .measure = *from, .round = 1, .seed = env->seed};
  if (from->by_cluster || from->paired || from->curves)
    return pc_fail(err, PCAL_USAGE,
                   "clusters, comparisons with another model and plot tables need all rows at "
                   "once; measure them in one process, or leave them out");
  if (!request_kind_suits(from->kind))
    return pc_fail(
        err, PCAL_USAGE,
        "the verdict about samples and quantiles needs every row; measure them in one "
        "process");
  PC_TRY(pc_interval_request_read(from, &intervals, err));
  if (from->spec_count > PC_STATE_METRICS_MAX)
    return pc_fail(err, PCAL_USAGE, "rounds measure at most %d metrics, not %zu; ask for fewer",
                   PC_STATE_METRICS_MAX, from->spec_count);
  out->measure.levels = NULL;
  return pc_name_list_copy(env, from->specs, from->spec_count, &out->specs, err);
}

/* The name of the first metric on a slot.  Slots without one, of the reliability diagram,
 * are not refused. */
static const char *request_metric(const pc_measure_plan *plan, size_t slot) {
  size_t e = 0;
  while (e + 1 < plan->entry_count && plan->entries[e].slot != slot)
    e++;
  return plan->entries[e].metric->row.name;
}

static pcal_status request_check_plan(const pc_measure_plan *plan, pcal_error *err) {
  for (size_t s = 0; s < plan->slot_count; s++) {
    const pc_machine_kind machine = plan->slots[s].need.machine;
    if (s == plan->rows_slot)
      continue;
    if (machine == PC_CURVE && !pc_measure_plan_can_round(plan, s))
      return pc_fail(err, PCAL_USAGE,
                     "%s needs every score, so its tallies would grow with the rows; leave it "
                     "out of the rounds, or measure it in one process",
                     request_metric(plan, s));
    if (machine != PC_SUM && machine != PC_GRID && machine != PC_CURVE)
      return pc_fail(err, PCAL_USAGE,
                     "%s needs all rows at once, so it cannot be measured in rounds; leave it "
                     "out, or measure it in one process on a sample of the rows",
                     request_metric(plan, s));
  }
  return PCAL_OK;
}

void pc_round_plan_drop_rows(pc_measure_plan *plan) {
  if (plan->rows_slot == PC_NO_SLOT || plan->rows_slot + 1 != plan->slot_count)
    return;
  plan->slot_count--;
  plan->rows_slot = PC_NO_SLOT;
}

void pc_round_plan_use_buckets(pc_measure_plan *plan) {
  pc_round_plan_drop_rows(plan);
  for (size_t s = 0; s < plan->slot_count; s++)
    if (plan->slots[s].need.machine == PC_CURVE && pc_measure_plan_can_round(plan, s)) {
      plan->slots[s].machine = &pc_machine_curve_rounds;
      plan->slots[s].replica_cells = pc_replica_tally_takes(plan, s);
    }
}

pcal_status pc_round_measure_new(const pc_round_config *config, pcal_kind kind, size_t columns,
                                 const pcal_env *env, pcal_measure **out, pcal_error *err) {
  pcal_measure_config full = config->measure;
  full.specs = (const char *const *)config->specs;
  if (full.columns == 0) {
    if (kind != full.kind)
      return pc_fail(err, PCAL_USAGE,
                     "the rounds were begun for scores of the kind %s, and these are of the "
                     "kind %s; begin them for the kind of the data%-s",
                     pcal_kind_name(full.kind), pcal_kind_name(kind),
                     full.kind == PCAL_LOGIT && kind == PCAL_LOG_PROBABILITY
                         ? ": logits with {ragged} are log-probabilities"
                         : "");
    full.columns = columns;
  }
  PC_TRY(pc_measure_new(&full, env, out, err));
  const pcal_status status = request_check_plan(&(*out)->plan, err);
  if (status != PCAL_OK) {
    pc_measure_free(*out);
    *out = NULL;
    return status;
  }
  if (config->whole_curves)
    pc_round_plan_drop_rows(&(*out)->plan);
  else if (!config->draws)
    pc_round_plan_use_buckets(&(*out)->plan);
  pc_measure_use_fingerprint(*out);
  return PCAL_OK;
}

/* ---- writing ---- */

static void request_write_config(const pc_round_config *config, pc_encoder *out) {
  const pcal_measure_config *measure = &config->measure;
  pc_encode_u32(out, config->round);
  pc_encode_u8(out, config->later != 0);
  pc_encode_u8(out, config->whole_curves != 0);
  pc_encode_u8(out, config->draws != 0);
  pc_encode_u64(out, config->seed);
  pc_encode_u8(out, (unsigned)measure->kind);
  pc_encode_u64(out, measure->columns);
  pc_encode_u8(out, measure->normalize != 0);
  pc_encode_u8(out, measure->skip_missing != 0);
  pc_encode_u8(out, measure->fast != 0);
  pc_encode_doubles(out, &measure->interval, 1);
  pc_encode_u64(out, measure->replicas);
  pc_encode_u8(out, (unsigned)measure->interval_method);
  pc_encode_u8(out, measure->null != 0);
  pc_encode_u64(out, measure->spec_count);
  for (size_t i = 0; i < measure->spec_count; i++)
    pc_encode_text(out, config->specs[i]);
}

static void request_write_state(const pc_round_state *state, pc_encoder *out) {
  pc_encode_u8(out, state->group != NULL);
  if (state->group != NULL)
    pc_encode_text(out, state->group);
  pc_encode_varint(out, state->jobs.count);
  for (size_t j = 0; j < state->jobs.count; j++) {
    const pc_refine_job *job = &state->jobs.list[j];
    pc_encode_varint(out, job->slot);
    for (size_t p = 0; p < job->part_count; p++)
      pc_encode_refine_targets(out, &job->targets[p]);
  }
}

static void request_write_draws(const pc_group_tally *draws, size_t count, pc_encoder *out) {
  pc_encode_u64(out, count);
  for (size_t i = 0; i < count; i++) {
    pc_encode_u8(out, draws[i].group != NULL);
    if (draws[i].group != NULL)
      pc_encode_text(out, draws[i].group);
    pc_encode_u8(out, draws[i].bits);
    pc_encode_score_cells(out, &draws[i].cells);
  }
}

/* The contents of a request. */
typedef struct request_parts {
  const pc_round_config *config;
  const pc_round_state *states;
  size_t count;
  const pc_group_tally *draws;
  size_t draw_count;
} request_parts;

static pcal_status request_write_all(const request_parts *parts, uint64_t length,
                                     pc_encoder *out, pcal_error *err) {
  pc_envelope_begin(&pc_round_request_envelope, length, out);
  request_write_config(parts->config, out);
  if (parts->config->later)
    pc_encode_u64(out, parts->count);
  for (size_t s = 0; s < parts->count; s++)
    request_write_state(&parts->states[s], out);
  if (parts->config->draws)
    request_write_draws(parts->draws, parts->draw_count, out);
  return pc_encoder_finish(out, err);
}

pcal_status pc_round_request_write(const pc_round_config *config, const pc_round_state *states,
                                   size_t count, const pc_group_tally *draws, size_t draw_count,
                                   pcal_sink sink, void *user, pcal_error *err) {
  const request_parts parts = {config, states, count, draws, draw_count};
  pc_encoder encoder;
  pc_encoder_init(&encoder, NULL, NULL);
  PC_TRY(request_write_all(&parts, 0, &encoder, err));
  const uint64_t length = encoder.length;
  pc_encoder_init(&encoder, sink, user);
  return request_write_all(&parts, length, &encoder, err);
}

uint64_t pc_round_request_id(const void *bytes, size_t length) {
  return pc_hash_bytes(bytes, length);
}

/* ---- reading ---- */

void pc_round_states_free(const pcal_env *env, pc_round_state *states, size_t count) {
  for (size_t s = 0; states != NULL && s < count; s++) {
    pc_free(env, states[s].group);
    pc_refine_jobs_free(&states[s].jobs);
  }
  pc_free(env, states);
}

void pc_round_request_free(pc_round_request *request) {
  if (request->config.env == NULL)
    return;
  const pcal_env *env = request->config.env;
  pc_round_states_free(env, request->states, request->state_count);
  pc_group_tallies_free(env, request->draws, request->draw_count);
  pc_measure_free(request->measure);
  pc_round_config_free(&request->config);
  *request = (pc_round_request){0};
}

static void request_read_numbers(pc_decoder *in, pc_round_config *out) {
  pcal_measure_config *measure = &out->measure;
  out->round = pc_decode_u32(in);
  const unsigned later = pc_decode_u8(in), whole = pc_decode_u8(in), draws = pc_decode_u8(in);
  out->seed = pc_decode_u64(in);
  const unsigned kind = pc_decode_u8(in);
  const uint64_t columns = pc_decode_u64(in);
  pc_decoder_expect(in, out->round > 0 && later <= 1 && whole <= 1 && draws <= 1 &&
                            later + whole + draws <= 1 && kind >= PCAL_PROBABILITY &&
                            kind <= PCAL_SAMPLE_VECTORS && columns <= PC_CLASSES_MAX &&
                            (columns > 0 || (later == 0 && draws == 0)));
  pc_decoder_expect(in, request_kind_suits((pcal_kind)kind));
  const unsigned normalize = pc_decode_u8(in), skip = pc_decode_u8(in), fast = pc_decode_u8(in);
  pc_decode_doubles(in, &measure->interval, 1);
  const uint64_t replicas = pc_decode_u64(in);
  const unsigned method = pc_decode_u8(in), null = pc_decode_u8(in);
  pc_decoder_expect(in, (normalize | skip | fast | null) <= 1 && measure->interval >= 0 &&
                            measure->interval < 1 && replicas <= PC_REPLICAS_MAX &&
                            method <= PCAL_INTERVAL_JACKKNIFE);
  if (in->failed)
    return;
  out->later = later == 1;
  out->whole_curves = whole == 1;
  out->draws = draws == 1;
  measure->kind = (pcal_kind)kind;
  measure->columns = (size_t)columns;
  measure->normalize = (int)normalize;
  measure->skip_missing = (int)skip;
  measure->fast = (int)fast;
  measure->replicas = (size_t)replicas;
  measure->interval_method = (pcal_interval_method)method;
  measure->null = (int)null;
}

static pcal_status request_read_config(pc_decoder *in, pc_round_config *out, pcal_error *err) {
  request_read_numbers(in, out);
  const size_t count = pc_decode_count(in, REQUEST_TEXT_BYTES);
  pc_decoder_expect(in, count <= PC_STATE_METRICS_MAX);
  if (in->failed)
    return PCAL_OK;
  out->specs = pc_alloc(out->env, count, sizeof *out->specs);
  if (out->specs == NULL)
    return pc_fail_memory(err, "reading a request");
  out->measure.spec_count = count;
  for (size_t i = 0; i < count && !in->failed; i++) {
    out->specs[i] = pc_decode_text(in, out->env);
    if (out->specs[i] == NULL && !in->failed)
      return pc_fail_memory(err, "reading a request");
  }
  return PCAL_OK;
}

/* asked: bytes of all lists of targets so far. */
static pcal_status request_read_job(pc_decoder *in, pc_refine_jobs *jobs, uint64_t *asked,
                                    pcal_error *err) {
  const pc_measure_plan *plan = &jobs->measure->plan;
  const pc_uint128 slot = pc_decode_varint(in);
  pc_refine_job *job = NULL;
  pc_decoder_expect(in, slot < plan->slot_count &&
                            (jobs->count == 0 || slot > jobs->list[jobs->count - 1].slot));
  pc_decoder_expect(in, in->failed || pc_machine_has_buckets(plan->slots[slot].machine));
  if (in->failed ||
      pc_view_parts(&plan->slots[slot].need.view, &plan->layout) > pc_decoder_left(in)) {
    pc_decoder_fail(in);
    return PCAL_OK;
  }
  PC_TRY(pc_refine_jobs_add_slot(jobs, (size_t)slot, &job, err));
  const pc_bucket_layout layout =
      pc_machine_curve_rounds_layout(&plan->slots[slot].need, job->view_parts);
  for (size_t p = 0; p < job->part_count && !in->failed; p++) {
    PC_TRY(pc_decode_refine_targets(in, jobs->env, &layout, &job->targets[p], err));
    *asked += pc_refine_targets_bytes(&job->targets[p]);
    if (*asked > PC_ROUND_ASKED_MAX)
      return pc_fail(
          err, PCAL_MEMORY,
          "the request asks for more than %d MiB of counters in one round; begin the "
          "rounds with fewer metrics, or check where the request comes from",
          (int)(PC_ROUND_ASKED_MAX >> 20));
  }
  return PCAL_OK;
}

static pcal_status request_read_state(pc_decoder *in, pc_round_request *request,
                                      pc_round_state *out, uint64_t *asked, pcal_error *err) {
  const pcal_env *env = request->config.env;
  const unsigned named = pc_decode_u8(in);
  pc_decoder_expect(in, named == (request->state_count > 1));
  if (named == 1 && !in->failed) {
    out->group = pc_decode_text(in, env);
    if (out->group == NULL && !in->failed)
      return pc_fail_memory(err, "reading a request");
  }
  const pc_uint128 count = pc_decode_varint(in);
  pc_decoder_expect(in, count <= request->measure->plan.slot_count);
  if (in->failed)
    return PCAL_OK;
  PC_TRY(pc_refine_jobs_new(request->measure, NULL, &out->jobs, err));
  for (size_t j = 0; j < (size_t)count && !in->failed; j++)
    PC_TRY(request_read_job(in, &out->jobs, asked, err));
  return PCAL_OK;
}

/* The first state holds all rows. */
static pcal_status request_read_states(pc_decoder *in, pc_round_request *out, pcal_error *err) {
  const pcal_env *env = out->config.env;
  uint64_t asked = 0;
  if (!out->config.later)
    return PCAL_OK;
  const size_t count = pc_decode_count(in, REQUEST_STATE_BYTES);
  pc_decoder_expect(in, count > 0);
  if (in->failed)
    return PCAL_OK;
  PC_TRY(
      pc_round_measure_new(&out->config, out->config.measure.kind, 0, env, &out->measure, err));
  out->states = pc_alloc(env, count, sizeof *out->states);
  if (out->states == NULL)
    return pc_fail_memory(err, "reading a request");
  for (size_t s = 0; s < count && !in->failed; s++) {
    out->state_count = s + 1;
    PC_TRY(request_read_state(in, out, &out->states[s], &asked, err));
  }
  return PCAL_OK;
}

/* The first group may be that of all rows. */
static pcal_status request_read_draws(pc_decoder *in, pc_round_request *out, pcal_error *err) {
  const pcal_env *env = out->config.env;
  const size_t count = pc_decode_count(in, REQUEST_STATE_BYTES);
  pc_decoder_expect(in, count > 0);
  if (in->failed)
    return PCAL_OK;
  out->draws = pc_alloc(env, count, sizeof *out->draws);
  if (out->draws == NULL)
    return pc_fail_memory(err, "reading a request");
  for (size_t i = 0; i < count && !in->failed; i++) {
    pc_group_tally *draw = &out->draws[i];
    const unsigned named = pc_decode_u8(in);
    out->draw_count = i + 1;
    pc_decoder_expect(in, named <= 1 && (named == 1 || i == 0));
    if (named == 1 && !in->failed) {
      draw->group = pc_decode_text(in, env);
      if (draw->group == NULL && !in->failed)
        return pc_fail_memory(err, "reading a request");
    }
    draw->bits = pc_decode_u8(in);
    pc_decoder_expect(in, draw->bits >= 1 && draw->bits <= PC_ROW_LATTICE_BITS_MAX);
    if (!in->failed)
      PC_TRY(pc_decode_score_cells(in, env, &draw->cells, err));
  }
  return PCAL_OK;
}

/* True if a list has the cells that the slot of a curve may have. */
static int request_list_fits(const pc_score_cells *cells, const pc_measure_plan *plan) {
  const size_t slot = cells->slot;
  return slot < pc_tally_slot_count(plan) && pc_replica_tally_takes(plan, slot) &&
         pc_tally_slot_need(plan, slot)->machine == PC_CURVE &&
         cells->parts == pc_tally_slot_parts(plan, slot) &&
         cells->count <= pc_tally_slot_ranges(plan, slot);
}

/* True if only curves have cells. */
static int request_cells_fit(const pc_round_request *request, const pc_measure_plan *plan) {
  for (size_t i = 0; i < request->draw_count; i++)
    for (size_t c = 0; c < request->draws[i].cells.count; c++)
      if (!request_list_fits(&request->draws[i].cells.list[c], plan))
        return 0;
  return 1;
}

/* Checks that the metrics can be drawn, and that the sums of all groups are not too many. */
static pcal_status request_check_draws(const pc_round_request *request, pcal_error *err) {
  const pc_round_config *config = &request->config;
  pcal_measure *measure = NULL;
  uint64_t numbers = 0;
  PC_TRY(pc_round_measure_new(config, config->measure.kind, 0, config->env, &measure, err));
  pcal_status status = pc_replica_tally_size(config->env, &measure->plan, &numbers, err);
  const int fits = request_cells_fit(request, &measure->plan);
  pc_measure_free(measure);
  if (status == PCAL_OK &&
      (numbers == 0 || !fits ||
       (request->draw_count > 1 && numbers > PC_ROUND_DRAWS_MAX / request->draw_count)))
    status = pc_envelope_misfit(&pc_round_request_envelope, "the request", err);
  return status;
}

pcal_status pc_round_request_read(const void *bytes, size_t length, const char *name,
                                  const pcal_env *env, pc_round_request *out, pcal_error *err) {
  pc_decoder in;
  *out = (pc_round_request){0};
  PC_TRY(pc_envelope_open(&pc_round_request_envelope, bytes, length, name, &in, err));
  out->config = (pc_round_config){.env = env, .measure = PCAL_MEASURE_CONFIG_INIT};
  out->id = pc_round_request_id(bytes, length);
  PC_TRY(request_read_config(&in, &out->config, err));
  if (!in.failed)
    PC_TRY(out->config.draws ? request_read_draws(&in, out, err)
                             : request_read_states(&in, out, err));
  if (in.failed || pc_decoder_left(&in) > 0)
    return pc_envelope_misfit(&pc_round_request_envelope, name, err);
  return out->config.draws ? request_check_draws(out, err) : PCAL_OK;
}
