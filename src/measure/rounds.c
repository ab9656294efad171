#include "measure/rounds.h"

#include "machines/machine_curve_buckets.h"
#include "measure/group_names.h"
#include "measure/replicas/tally_slots.h"

/* Scores that a tally may store for one slot, and cells that it may count. */
#define ROUNDS_KEPT_MAX ((size_t)1 << 16)
#define ROUNDS_CELLS_MAX ((size_t)9 << 12)   /* of about 50 bytes: less than 2 MB */
#define ROUNDS_TALLY_BYTES ((size_t)1950000) /* of the slots with one part */

static int rounds_sink(void *user, const char *bytes, size_t count) {
  pc_text *text = user;
  pc_text_add_bytes(text, bytes, count);
  return text->failed;
}

static pcal_status rounds_write_request(pc_measure_rounds *rounds, pcal_error *err) {
  pc_text_free(&rounds->request);
  pc_text_init(&rounds->request, &rounds->env);
  const pc_group_tally *draws =
      rounds->draws == NULL ? NULL : rounds->draws + rounds->draws_done;
  const pcal_status status = pc_round_request_write(
      &rounds->config, rounds->states, rounds->state_count, draws,
      rounds->draws_asked - rounds->draws_done, rounds_sink, &rounds->request, err);
  PC_TRY(pc_text_status(&rounds->request, err));
  PC_TRY(status);
  rounds->id = pc_round_request_id(rounds->request.bytes, rounds->request.length);
  return PCAL_OK;
}

/* Refuses metrics that cannot be measured in rounds, if the data's columns are known. */
static pcal_status rounds_check(const pc_measure_rounds *rounds, pcal_error *err) {
  pcal_measure *measure = NULL;
  if (rounds->config.measure.columns == 0)
    return PCAL_OK;
  PC_TRY(pc_round_measure_new(&rounds->config, rounds->config.measure.kind, 0, &rounds->env,
                              &measure, err));
  pc_measure_free(measure);
  return PCAL_OK;
}

pcal_status pc_measure_rounds_new(const pcal_measure_config *config, const pcal_env *env,
                                  pc_measure_rounds **out, pcal_error *err) {
  const pcal_env resolved = pc_env_resolve(env);
  pc_measure_rounds *rounds = pc_alloc(&resolved, 1, sizeof *rounds);
  if (rounds == NULL)
    return pc_fail_memory(err, "preparing to measure");
  rounds->env = resolved;
  rounds->room = PC_ROUND_ASKED_BYTES;
  pc_text_init(&rounds->request, &rounds->env);
  pcal_status status = pc_round_config_new(&rounds->env, config, &rounds->config, err);
  if (status == PCAL_OK)
    status = rounds_check(rounds, err);
  if (status == PCAL_OK)
    status = rounds_write_request(rounds, err);
  if (status != PCAL_OK) {
    pc_measure_rounds_free(rounds);
    return status;
  }
  *out = rounds;
  return PCAL_OK;
}

static void rounds_drop_states(pc_measure_rounds *rounds) {
  pc_round_states_free(&rounds->env, rounds->states, rounds->state_count);
  rounds->states = NULL;
  rounds->state_count = 0;
}

static void rounds_drop_measure(pc_measure_rounds *rounds) {
  rounds_drop_states(rounds);
  pc_group_tallies_free(&rounds->env, rounds->draws, rounds->draw_count);
  rounds->draws = NULL;
  rounds->draw_count = rounds->draws_done = rounds->draws_asked = 0;
  if (rounds->total.env != NULL)
    pc_group_states_free(&rounds->total);
  pc_measure_free(rounds->measure);
  rounds->measure = NULL;
}

void pc_measure_rounds_free(pc_measure_rounds *rounds) {
  if (rounds == NULL)
    return;
  const pcal_env env = rounds->env;
  rounds_drop_measure(rounds);
  pc_text_free(&rounds->request);
  pc_round_config_free(&rounds->config);
  pc_free(&env, rounds);
}

static pcal_status rounds_resume(const pc_round_request *first, const pcal_env *env,
                                 pc_measure_rounds **out, pcal_error *err) {
  const pc_round_config *config = &first->config;
  pcal_measure_config measure = config->measure;
  if (config->round != 1 || config->later || config->whole_curves || config->draws)
    return pc_fail(err, PCAL_USAGE,
                   "this is the request of a later round; resume rounds from their first one");
  measure.specs = (const char *const *)config->specs;
  pcal_env seeded = *env;
  seeded.seed = config->seed;
  PC_TRY(pc_measure_rounds_new(&measure, &seeded, out, err));
  if ((*out)->id == first->id)
    return PCAL_OK;
  pc_measure_rounds_free(*out);
  *out = NULL;
  return pc_envelope_misfit(&pc_round_request_envelope, "the request", err);
}

pcal_status pc_measure_rounds_resume(const void *request, size_t length, const pcal_env *env,
                                     pc_measure_rounds **out, pcal_error *err) {
  const pcal_env resolved = pc_env_resolve(env);
  pc_round_request first;
  pcal_status status =
      pc_round_request_read(request, length, "the request", &resolved, &first, err);
  if (status == PCAL_OK)
    status = rounds_resume(&first, &resolved, out, err);
  pc_round_request_free(&first);
  return status;
}

/* ---- the next request ---- */

static int rounds_has_buckets(const pc_measure_plan *plan) {
  for (size_t s = 0; s < plan->slot_count; s++)
    if (pc_machine_has_buckets(plan->slots[s].machine))
      return 1;
  return 0;
}

/* Asks the metrics on one state what they still need, and takes it from *room; without room the
 * state waits for a later round. */
static pcal_status rounds_ask_state(pc_measure_rounds *rounds, const pc_group_state *group,
                                    const char *name, uint64_t *room, pcal_error *err) {
  pc_round_state *state = &rounds->states[rounds->state_count++];
  if (name != NULL) {
    state->group = pc_copy_text(&rounds->env, name);
    if (state->group == NULL)
      return pc_fail_memory(err, "refining a curve");
  }
  PC_TRY(pc_refine_jobs_new(rounds->measure, group, &state->jobs, err));
  state->jobs.workers = 1; /* requests must not depend on threads */
  state->jobs.keep_limit = ROUNDS_KEPT_MAX;
  state->jobs.cell_limit = ROUNDS_CELLS_MAX;
  state->jobs.tally_limit = ROUNDS_TALLY_BYTES;
  state->jobs.byte_limit = *room;
  if (*room > 0)
    PC_TRY(pc_refine_jobs_ask(&state->jobs, PCAL_F64, err));
  const uint64_t bytes = pc_refine_jobs_bytes(&state->jobs);
  *room -= bytes < *room ? bytes : *room;
  return PCAL_OK;
}

static const pc_group_state *rounds_total(const pc_measure_rounds *rounds) {
  return rounds->measure->grouped > 0 ? rounds->total.states[0]
                                      : pc_group_states_find(&rounds->measure->groups, 0);
}

/* ---- replicas ---- */

/* Asks for the replicas of as many groups as one request may hold, from draws_done on; without
 * groups that are left the rounds are done.  Groups of few rows have none. */
static pcal_status rounds_ask_draws(pc_measure_rounds *rounds, pcal_error *err) {
  uint64_t numbers = 0;
  PC_TRY(pc_replica_tally_size(&rounds->env, &rounds->measure->plan, &numbers, err));
  const size_t fit = numbers == 0 ? 0 : (size_t)(PC_ROUND_DRAWS_MAX / numbers);
  const size_t most = fit > 0 ? fit : 1;
  size_t *from = &rounds->draws_done, *to = &rounds->draws_asked;
  while (*from < rounds->draw_count && rounds->draws[*from].bits == 0)
    ++*from;
  for (*to = *from; *to < rounds->draw_count && *to - *from < most; ++*to)
    if (rounds->draws[*to].bits == 0)
      break;
  rounds->done = *from == rounds->draw_count;
  rounds_drop_states(rounds);
  rounds->config.later = 0;
  rounds->config.draws = 1;
  rounds->config.round++;
  rounds->config.measure.columns = rounds->measure->plan.layout.columns;
  return rounds->done ? PCAL_OK : rounds_write_request(rounds, err);
}

/* Groups of few rows come last, so that one request holds as many of the others as it may. */
static void rounds_order_draws(pc_measure_rounds *rounds) {
  size_t kept = 0;
  for (size_t i = 0; i < rounds->draw_count; i++)
    if (rounds->draws[i].bits > 0) {
      const pc_group_tally other = rounds->draws[kept];
      rounds->draws[kept++] = rounds->draws[i];
      rounds->draws[i] = other;
    }
}

/* Called when all values are known. */
static pcal_status rounds_begin_draws(pc_measure_rounds *rounds, pcal_error *err) {
  pcal_measure *measure = rounds->measure;
  uint64_t numbers = 0;
  rounds->done = 1;
  PC_TRY(pc_replica_tally_size(&rounds->env, &measure->plan, &numbers, err));
  if (numbers == 0 || rounds_total(rounds) == NULL || pc_measure_rows_are_units(measure))
    return PCAL_OK;
  PC_TRY(pc_group_tallies_new(measure, rounds_total(rounds), &rounds->draws,
                              &rounds->draw_count, err));
  rounds_order_draws(rounds);
  return rounds_ask_draws(rounds, err);
}

static pcal_status rounds_ask(pc_measure_rounds *rounds, pcal_error *err) {
  const pc_group_states *groups = &rounds->measure->groups;
  const int grouped = rounds->measure->grouped > 0;
  uint64_t room = rounds->room;
  size_t jobs = 0;
  rounds_drop_states(rounds);
  rounds->states = pc_alloc(&rounds->env, groups->count + 1, sizeof *rounds->states);
  if (rounds->states == NULL)
    return pc_fail_memory(err, "refining a curve");
  PC_TRY(rounds_ask_state(rounds, rounds_total(rounds), NULL, &room, err));
  for (size_t g = 0; grouped && g < groups->count; g++) {
    char number[PC_GROUP_NUMBER_MAX];
    const pc_group_state *group = pc_group_states_find(groups, g);
    if (group != NULL)
      PC_TRY(rounds_ask_state(rounds, group, pc_group_name(rounds->measure, g, number), &room,
                              err));
  }
  for (size_t s = 0; s < rounds->state_count; s++)
    jobs += rounds->states[s].jobs.count;
  if (jobs == 0)
    return rounds_begin_draws(rounds, err);
  rounds->config.later = 1;
  rounds->config.round++;
  rounds->config.measure.columns = rounds->measure->plan.layout.columns;
  return rounds_write_request(rounds, err);
}

/* ---- the first round ---- */

static pcal_status rounds_misfit(pcal_error *err) {
  return pc_fail(err, PCAL_DATA,
                 "the tally is damaged: its contents contradict each other; answer the request "
                 "again");
}

/* Fails unless the tally was measured as the request says. */
static pcal_status rounds_check_measure(const pc_measure_rounds *rounds,
                                        const pcal_measure *measure, pcal_error *err) {
  const pc_layout *layout = &measure->plan.layout;
  const pcal_measure_config *config = &rounds->config.measure;
  pcal_measure *expected = NULL;
  if (config->columns != 0 &&
      (layout->columns != config->columns || layout->kind != config->kind))
    return rounds_misfit(err);
  PC_TRY(pc_round_measure_new(&rounds->config, layout->kind, layout->columns, &rounds->env,
                              &expected, err));
  const int same = pc_measure_plan_equal(&expected->plan, &measure->plan);
  pc_measure_free(expected);
  return same ? PCAL_OK : rounds_misfit(err);
}

static int rounds_state_fits(const pc_measure_plan *plan, const pc_group_state *state) {
  const double weight = pc_sum_value(&state->totals.weight);
  for (size_t s = 0; s < plan->slot_count; s++)
    if (pc_machine_has_buckets(plan->slots[s].machine) &&
        !pc_machine_curve_rounds_fits(state->slots[s], &plan->layout, weight))
      return 0;
  return 1;
}

/* Unpacks all groups, whose curves will be refined, and adds them up. */
static pcal_status rounds_open_groups(pc_measure_rounds *rounds, pcal_error *err) {
  pcal_measure *measure = rounds->measure;
  for (size_t g = 0; g < measure->groups.count; g++) {
    pc_group_state *state = NULL;
    if (pc_group_states_rows(&measure->groups, g) == 0)
      continue;
    PC_TRY(pc_group_states_open(&measure->groups, g, &state, err));
    if (!rounds_state_fits(&measure->plan, state))
      return rounds_misfit(err);
  }
  pc_group_states_init(&rounds->total, &measure->env, &measure->plan);
  return measure->grouped > 0 ? pc_group_states_total(&rounds->total, &measure->groups, err)
                              : PCAL_OK;
}

/* Repeats the first round with all scores of the curves. */
static pcal_status rounds_repeat(pc_measure_rounds *rounds, pcal_error *err) {
  rounds->config.measure.columns = rounds->measure->plan.layout.columns;
  rounds_drop_measure(rounds);
  rounds->config.whole_curves = 1;
  rounds->config.round++;
  return rounds_write_request(rounds, err);
}

static pcal_status rounds_absorb_first(pc_measure_rounds *rounds, pc_round_tally *tally,
                                       pcal_error *err) {
  const pc_round_content wanted =
      rounds->config.whole_curves ? PC_ROUND_WHOLE : PC_ROUND_BUCKETS;
  if (tally->content == PC_ROUND_EMPTY)
    return pc_fail(err, PCAL_DATA, "there are no rows to measure");
  if (tally->content != wanted)
    return rounds_misfit(err);
  PC_TRY(rounds_check_measure(rounds, tally->measure, err));
  rounds->failed = 1; /* until the next request is written */
  rounds->measure = tally->measure;
  tally->measure = NULL;
  const pc_measure_plan *plan = &rounds->measure->plan;
  const int buckets = rounds_has_buckets(plan);
  uint64_t numbers = 0;
  PC_TRY(pc_replica_tally_size(&rounds->env, plan, &numbers, err));
  rounds->done =
      (!buckets && numbers == 0) || pc_group_states_used(&rounds->measure->groups) == 0;
  if (rounds->done)
    return PCAL_OK;
  if (buckets && pc_measure_rows_are_units(rounds->measure))
    return rounds_repeat(rounds, err);
  PC_TRY(rounds_open_groups(rounds, err));
  return buckets ? rounds_ask(rounds, err) : rounds_begin_draws(rounds, err);
}

/* ---- later rounds ---- */

static pcal_status rounds_fill(pc_measure_rounds *rounds, const pc_round_tally *tally,
                               pcal_error *err) {
  size_t at = 0;
  for (size_t s = 0; s < rounds->state_count; s++) {
    pc_refine_jobs *jobs = &rounds->states[s].jobs;
    PC_TRY(pc_refine_jobs_open(jobs, err));
    for (size_t j = 0; j < jobs->count; j++)
      for (size_t p = 0; p < jobs->list[j].part_count; p++) {
        int fits = 0;
        PC_TRY(
            pc_sparse_tally_fill(&tally->parts[at++], &jobs->list[j].tallies[p], &fits, err));
        if (!fits)
          return rounds_misfit(err);
      }
    const pcal_status status = pc_refine_jobs_absorb(jobs, err);
    if (status != PCAL_OK) /* the rows have the right fingerprint, so they did not change */
      return status == PCAL_IO ? rounds_misfit(err) : status;
  }
  return PCAL_OK;
}

static size_t rounds_part_count(const pc_measure_rounds *rounds) {
  size_t count = 0;
  for (size_t s = 0; s < rounds->state_count; s++)
    for (size_t j = 0; j < rounds->states[s].jobs.count; j++)
      count += rounds->states[s].jobs.list[j].part_count;
  return count;
}

static pcal_status rounds_absorb_later(pc_measure_rounds *rounds, const pc_round_tally *tally,
                                       pcal_error *err) {
  if (tally->content != PC_ROUND_TARGETS || tally->part_count != rounds_part_count(rounds))
    return rounds_misfit(err);
  rounds->failed = 1;
  PC_TRY(rounds_fill(rounds, tally, err));
  return rounds_ask(rounds, err);
}

/* ---- replicas: answers ---- */

/* True if cells have all scores, or those above a threshold. */
static int rounds_cells_full(const pc_measure_rounds *rounds, const pc_group_state *state,
                             const pc_tally_slot *slot) {
  const pc_measure_plan *plan = &rounds->measure->plan;
  const pc_view *view = &pc_tally_slot_need(plan, slot->slot)->view;
  const double all =
      pc_sum_value(&state->totals.weight) * (double)pc_view_scores_per_row(view, &plan->layout);
  double weight = 0.0;
  for (size_t r = 0; r < slot->ranges; r++)
    weight += slot->sums[PC_REPLICA_SUM_WEIGHT * slot->ranges + r];
  return pc_tally_slot_threshold(plan, slot->slot) > 0.0 ? weight <= all : weight == all;
}

/* True if the bins of the data are those of the first round; of cells, if they have all rows. */
static pcal_status rounds_compare_bins(const pc_measure_rounds *rounds,
                                       const pc_group_state *state, const pc_tally_slot *slot,
                                       int *same, pcal_error *err) {
  const pc_measure_plan *plan = &rounds->measure->plan;
  if (pc_tally_slot_need(plan, slot->slot)->machine == PC_CURVE) {
    *same &= rounds_cells_full(rounds, state, slot);
    return PCAL_OK;
  }
  const pc_machine *machine = plan->slots[slot->slot].machine;
  pc_evidence evidence = {.machine = PC_GRID, .layout = &rounds->measure->plan.layout};
  PC_TRY(machine->finish(&rounds->env, state->slots[slot->slot], &evidence, err));
  const pc_bin *bins = evidence.grid.bins;
  for (size_t r = 0; bins != NULL && r < slot->ranges; r++)
    *same &= slot->sums[PC_REPLICA_SUM_WEIGHT * slot->ranges + r] == bins[r].weight &&
             slot->sums[PC_REPLICA_SUM_HITS * slot->ranges + r] == bins[r].hits;
  machine->release(&rounds->env, &evidence);
  return PCAL_OK;
}

/* The state of a group; name NULL: of all rows. */
static const pc_group_state *rounds_draw_state(const pc_measure_rounds *rounds,
                                               const char *name) {
  const pc_group_states *groups = &rounds->measure->groups;
  char number[PC_GROUP_NUMBER_MAX];
  for (size_t g = 0; name != NULL && g < groups->count; g++)
    if (pc_group_states_rows(groups, g) > 0 &&
        strcmp(pc_group_name(rounds->measure, g, number), name) == 0)
      return pc_group_states_find(groups, g);
  return rounds_total(rounds);
}

static pcal_status rounds_take_draw(pc_measure_rounds *rounds, size_t at,
                                    pc_replica_tally *from, pcal_error *err) {
  pc_group_tally *to = &rounds->draws[at];
  const pc_group_state *state = rounds_draw_state(rounds, to->group);
  pc_replica_tally form;
  PC_TRY(pc_replica_tally_new(&rounds->env, &rounds->measure->plan, to->bits, &to->cells,
                              pc_group_tally_contents(to), &form, err));
  int fits = pc_replica_tally_fits(from, &form, to->weight);
  pc_replica_tally_free(&form);
  for (size_t s = 0; fits && s < from->slot_count; s++)
    PC_TRY(rounds_compare_bins(rounds, state, &from->slots[s], &fits, err));
  if (!fits)
    return rounds_misfit(err);
  to->tally = *from;
  *from = (pc_replica_tally){0};
  return PCAL_OK;
}

static pcal_status rounds_absorb_draws(pc_measure_rounds *rounds, pc_round_tally *tally,
                                       pcal_error *err) {
  const size_t first = rounds->draws_done, count = rounds->draws_asked - first;
  if (tally->content != PC_ROUND_DRAWS || tally->draws.count != count)
    return rounds_misfit(err);
  PC_TRY(pc_round_draws_check(&tally->draws, err));
  rounds->failed = 1;
  for (size_t i = 0; i < count; i++)
    PC_TRY(rounds_take_draw(rounds, first + i, &tally->draws.list[i], err));
  rounds->draws_done = rounds->draws_asked;
  return rounds_ask_draws(rounds, err);
}

/* ---- interface ---- */

static pcal_status rounds_check_rows(const pc_measure_rounds *rounds,
                                     const pc_round_tally *tally, pcal_error *err) {
  if (tally->id != rounds->id)
    return pc_fail(err, PCAL_USAGE,
                   "the tally answers another request; absorb the tally of the latest one");
  if (!rounds->known || rounds->rows.sum == tally->rows.sum) /* equal rows may be joined */
    return PCAL_OK;
  return pc_fail(
      err, PCAL_DATA,
      "the rows of this round differ from those of the first (%llu rows then, %llu "
      "now); store the table before measuring it, so that every round reads the same "
      "rows",
      (unsigned long long)rounds->rows.rows, (unsigned long long)tally->rows.rows);
}

static pcal_status rounds_absorb_tally(pc_measure_rounds *rounds, pc_round_tally *tally,
                                       pcal_error *err) {
  PC_TRY(rounds_check_rows(rounds, tally, err));
  const pc_row_fingerprint rows = tally->rows;
  PC_TRY(rounds->config.later   ? rounds_absorb_later(rounds, tally, err)
         : rounds->config.draws ? rounds_absorb_draws(rounds, tally, err)
                                : rounds_absorb_first(rounds, tally, err));
  rounds->failed = 0;
  if (!rounds->known)
    rounds->rows = rows;
  rounds->known = 1;
  return PCAL_OK;
}

static pcal_status rounds_usable(const pc_measure_rounds *rounds, pcal_error *err) {
  return rounds->failed
             ? pc_fail(err, PCAL_USAGE, "absorbing a tally failed; begin the rounds again")
             : PCAL_OK;
}

pcal_status pc_measure_rounds_absorb(pc_measure_rounds *rounds, const void *bytes,
                                     size_t length, pcal_error *err) {
  pc_round_tally tally;
  PC_TRY(rounds_usable(rounds, err));
  if (rounds->done)
    return pc_fail(err, PCAL_USAGE, "the rounds are done; ask for the results");
  pcal_status status =
      pc_round_tally_read(bytes, length, "the tally", &rounds->env, &tally, err);
  if (status == PCAL_OK)
    status = rounds_absorb_tally(rounds, &tally, err);
  pc_round_tally_free(&tally);
  return status;
}

pcal_status pc_measure_rounds_finish(const pc_measure_rounds *rounds, pcal_results **out,
                                     pcal_error *err) {
  PC_TRY(rounds_usable(rounds, err));
  if (!rounds->done)
    return pc_fail(err, PCAL_USAGE,
                   "the rounds are not done; answer the request and absorb its tally");
  rounds->measure->from_rounds = 1;
  rounds->measure->tallies = rounds->draws;
  rounds->measure->tally_count = rounds->draw_count;
  const int total = rounds->total.env != NULL && rounds->measure->grouped > 0;
  return pc_measure_finish_total(rounds->measure, total ? rounds->total.states[0] : NULL, out,
                                 err);
}
