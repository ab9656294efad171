/* Laws of every row of the metric registry: a state that was saved and loaded is the state that
 * was saved, and parts of a data set, however it was cut, give the bytes of the whole. */
#include "sinks.h"
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "law_measure.h"

#define STATES_PARTS_MAX 6

static sink_bytes states_save(const pcal_measure *measure) {
  sink_bytes out = {0};
  pcal_error err;
  if (pcal_measure_save(measure, sink_collect, &out, &err) != PCAL_OK)
    fail_msg("pcal_measure_save: %s", err.message);
  return out;
}

static pcal_measure *states_load(const sink_bytes *saved, const pcal_env *env) {
  pcal_measure *measure = NULL;
  pcal_error err;
  if (pcal_measure_load(saved->bytes, saved->length, "part.pcal", env, &measure, &err) !=
      PCAL_OK)
    fail_msg("pcal_measure_load: %s", err.message);
  return measure;
}

static void states_compare(sink_bytes expected, sink_bytes actual, const law_case *about,
                           const char *what) {
  if (expected.length != actual.length ||
      memcmp(expected.bytes, actual.bytes, expected.length) != 0)
    fail_msg("%s, on %s: the states differ (%zu and %zu bytes)", what, about->set->name,
             expected.length, actual.length);
  free(expected.bytes);
  free(actual.bytes);
}

/* Runs a law on every data set for every row that can be saved. */
static law_body states_body;

static int states_savable(const law_specs *specs, size_t i) {
  return specs->config[i].need.machine != PC_PAIR;
}

static void states_filtered(const law_case *about) {
  const law_specs *all = about->specs;
  law_specs some = {.list = calloc(all->count + 1, sizeof *some.list)};
  for (size_t i = 0; i < all->count; i++)
    if (states_savable(all, i))
      some.list[some.count++] = all->list[i];
  law_case filtered = *about;
  filtered.specs = &some;
  if (some.count > 0)
    states_body(&filtered);
  free(some.list);
}

static void states_for_all(law_body body) {
  states_body = body;
  law_for_all(0, states_filtered);
}

/* ---- saved and loaded ---- */

static char *states_text(const pcal_measure *measure, pcal_format format) {
  sink_bytes out = {0};
  pcal_results *results = law_finish(measure);
  assert_int_equal(pcal_results_write(results, format, sink_collect, &out, NULL), PCAL_OK);
  pcal_results_free(results);
  sink_collect(&out, "", 1);
  return out.bytes;
}

static void states_round(const law_case *about) {
  pcal_measure *measure = law_new(about);
  law_feed(measure, about, 0, about->set->rows);
  const sink_bytes saved = states_save(measure);
  pcal_measure *loaded = states_load(&saved, &about->env);
  for (pcal_format format = PCAL_TEXT; format <= PCAL_LATEX; format++)
    law_compare(states_text(measure, format), states_text(loaded, format), about,
                "saved and loaded");
  states_compare(states_save(measure), states_save(loaded), about, "saved twice");
  pcal_measure_free(measure);
  pcal_measure_free(loaded);
  free(saved.bytes);
}

TEST(test_save_and_load_change_nothing) {
  states_for_all(states_round);
}

/* A loaded measure goes on as if it had never been away. */
static void states_go_on(const law_case *about) {
  const size_t half = about->set->rows / 2;
  pcal_measure *measure = law_new(about);
  law_feed(measure, about, 0, half);
  const sink_bytes saved = states_save(measure);
  pcal_measure *loaded = states_load(&saved, &about->env);
  law_feed(loaded, about, half, about->set->rows - half);
  law_compare(law_json_of(about), law_json(loaded), about, "more rows after loading");
  pcal_measure_free(measure);
  pcal_measure_free(loaded);
  free(saved.bytes);
}

TEST(test_a_loaded_measure_goes_on) {
  states_for_all(states_go_on);
}

static void states_empty(const law_case *about) {
  pcal_measure *empty = law_new(about), *measure = law_new(about);
  law_feed(measure, about, 0, about->set->rows);
  const sink_bytes nothing = states_save(empty), whole = states_save(measure);
  pcal_measure *first = states_load(&nothing, &about->env);
  pcal_measure *second = states_load(&whole, &about->env);
  assert_int_equal(pcal_measure_merge(first, second, NULL), PCAL_OK);
  states_compare(states_save(measure), states_save(first), about, "into an empty state");
  pcal_measure_free(first);
  first = states_load(&nothing, &about->env);
  assert_int_equal(pcal_measure_merge(second, first, NULL), PCAL_OK);
  states_compare(states_save(measure), states_save(second), about, "an empty state");
  pcal_measure_free(first);
  pcal_measure_free(second);
  pcal_measure_free(measure);
  pcal_measure_free(empty);
  free(nothing.bytes);
  free(whole.bytes);
}

TEST(test_an_empty_state_changes_nothing) {
  states_for_all(states_empty);
}

/* ---- parts ---- */

/* Rows as a program meets them that reads a part alone: groups are numbered as they come. */
typedef struct states_part {
  uint32_t *groups;
  char names[LAW_GROUPS][16];
  const char *list[LAW_GROUPS];
  size_t group_count;
} states_part;

static states_part states_part_make(const law_case *about, size_t first, size_t count) {
  states_part part = {.groups = calloc(count + 1, sizeof *part.groups)};
  size_t number[LAW_GROUPS];
  for (size_t g = 0; g < LAW_GROUPS; g++)
    number[g] = LAW_GROUPS;
  for (size_t i = 0; about->groups != NULL && i < count; i++) {
    const uint32_t group = about->groups[first + i];
    if (number[group] == LAW_GROUPS) {
      number[group] = part.group_count++;
      snprintf(part.names[number[group]], sizeof part.names[0], "team %u", (unsigned)group);
    }
    part.groups[i] = (uint32_t)number[group];
  }
  return part;
}

static pcal_measure *states_new(const law_case *about, int normalize, int skip_missing) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_error err;
  config.kind = about->set->kind;
  config.columns = about->set->columns;
  config.levels = about->set->levels;
  config.specs = about->specs->list;
  config.spec_count = about->specs->count;
  config.normalize = normalize;
  config.skip_missing = skip_missing;
  if (pcal_measure_new(&config, &about->env, &measure, &err) != PCAL_OK)
    fail_msg("pcal_measure_new: %s", err.message);
  return measure;
}

/* Measures rows [first, first + count) and names their groups. */
static pcal_measure *states_measure(const law_case *about, size_t first, size_t count,
                                    int normalize, int skip_missing) {
  states_part part = states_part_make(about, first, count);
  pcal_batch batch = law_batch(about, first, count);
  pcal_measure *measure = states_new(about, normalize, skip_missing);
  if (about->groups != NULL)
    batch.groups = part.groups;
  for (size_t g = 0; g < part.group_count; g++)
    part.list[g] = part.names[g];
  law_update(measure, &batch);
  assert_int_equal(pcal_measure_set_names(measure, NULL, 0, part.list, part.group_count, NULL),
                   PCAL_OK);
  free(part.groups);
  return measure;
}

/* Cuts the rows at random places, saves every part, and merges what was loaded, in random
 * order. */
static pcal_measure *states_cut(const law_case *about, size_t parts, uint64_t stream,
                                int normalize, int skip_missing) {
  sink_bytes saved[STATES_PARTS_MAX] = {{0}};
  const size_t rows = about->set->rows;
  size_t first = 0;
  for (size_t p = 0; p < parts; p++) {
    const size_t end = p + 1 == parts ? rows : first + law_below(stream, p, rows - first + 1);
    pcal_measure *part = states_measure(about, first, end - first, normalize, skip_missing);
    saved[p] = states_save(part);
    pcal_measure_free(part);
    first = end;
  }
  size_t *order = law_permutation(stream + 7, parts);
  pcal_measure *whole = states_load(&saved[order[0]], &about->env);
  for (size_t p = 1; p < parts; p++) {
    pcal_error err;
    pcal_measure *part = states_load(&saved[order[p]], &about->env);
    if (pcal_measure_merge(whole, part, &err) != PCAL_OK)
      fail_msg("pcal_measure_merge: %s", err.message);
    pcal_measure_free(part);
  }
  for (size_t p = 0; p < parts; p++)
    free(saved[p].bytes);
  free(order);
  return whole;
}

static void states_cuts(const law_case *about, int normalize, int skip_missing) {
  pcal_measure *whole = states_measure(about, 0, about->set->rows, normalize, skip_missing);
  static const size_t parts[] = {2, 3, STATES_PARTS_MAX};
  for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
    pcal_measure *merged = states_cut(about, parts[p], 3000 + p, normalize, skip_missing);
    law_compare(law_json(whole), law_json(merged), about, "parts saved, loaded and merged");
    states_compare(states_save(whole), states_save(merged), about, "the merged state");
    pcal_measure_free(merged);
  }
  pcal_measure_free(whole);
}

static void states_any_cut(const law_case *about) {
  states_cuts(about, 0, 0);
}

TEST(test_parts_give_the_bytes_of_the_whole) {
  states_for_all(states_any_cut);
}

/* The same with rows that are skipped and rows that are rescaled, among them whole parts and
 * whole groups. */
static void states_spoil(law_set *set) {
  for (size_t i = 0; i < set->rows; i++) {
    const size_t at = i * set->columns + law_below(77, i, set->columns);
    const int off = set->kind == PCAL_PROBABILITY && set->columns > 1 && i % 11 == 5;
    if (i % 9 == 2) {
      set->labels[i] = PCAL_MISSING_LABEL;
      set->targets[i] = (double)NAN;
    } else if (i % 9 == 7 || i < 40 || set->groups[i] == 3)
      (set->type == PCAL_F32 ? (void)(((float *)set->scores)[at] = NAN)
                             : (void)(((double *)set->scores)[at] = (double)NAN));
    else if (off)
      ((double *)set->scores)[at] += 0.003;
    else if (set->kind == PCAL_QUANTILES && i % 11 == 5)
      ((double *)set->scores)[i * set->columns] += 100; /* no longer ascending */
  }
}

static void states_spoiled_cut(const law_case *about) {
  const size_t row = about->set->columns * law_score_size(about->set);
  law_set copy = *about->set;
  copy.scores = malloc(copy.rows * row);
  copy.labels = malloc(copy.rows * sizeof *copy.labels);
  copy.targets = malloc(copy.rows * sizeof *copy.targets);
  memcpy(copy.scores, about->set->scores, copy.rows * row);
  memcpy(copy.targets, about->set->targets, copy.rows * sizeof *copy.targets);
  memcpy(copy.labels, about->set->labels, copy.rows * sizeof *copy.labels);
  states_spoil(&copy);
  law_case spoiled = *about;
  spoiled.set = &copy;
  states_cuts(&spoiled, 1, 1);
  free(copy.scores);
  free(copy.targets);
  free(copy.labels);
}

TEST(test_rows_left_out_and_rescaled_do_not_betray_the_cut) {
  states_for_all(states_spoiled_cut);
}

TEST(test_threads_do_not_show_in_a_state) {
  law_set *set = law_set_large();
  law_specs all, one = {.count = 0};
  law_specs_make(set, PC_FREQUENCY_WEIGHTS, PC_WHOLE_WEIGHTS, &all);
  one.list = calloc(all.count + 1, sizeof *one.list);
  for (size_t i = 0; i < all.count; i++)
    if (states_savable(&all, i))
      one.list[one.count++] = all.list[i];
  law_case about = law_case_make(set, &one), threaded = about;
  about.weights = threaded.weights = set->fractional;
  about.groups = threaded.groups = set->groups;
  threaded.env.threads = 7;
  pcal_measure *single = states_measure(&about, 0, set->rows, 0, 0);
  pcal_measure *many = states_measure(&threaded, 0, set->rows, 0, 0);
  states_compare(states_save(single), states_save(many), &about, "threads");
  pcal_measure_free(single);
  pcal_measure_free(many);
  free(one.list);
  law_specs_free(&all);
  law_set_free(set);
}

/* ---- what cannot be saved says so ---- */

static void states_refuse(const law_set *set, const char *spec, const char *name) {
  const law_specs one = {.list = &spec, .count = 1};
  const law_case about = law_case_make(set, &one);
  pcal_measure *measure = law_new(&about);
  sink_bytes out = {0};
  pcal_error err;
  char sentence[256];
  snprintf(sentence, sizeof sentence,
           "%s needs all pairs of rows, so its state cannot be saved; measure it on the whole "
           "data, or leave it out here",
           name);
  assert_int_equal(pcal_measure_save(measure, sink_collect, &out, &err), PCAL_USAGE);
  assert_string_equal(err.message, sentence);
  assert_int_equal(out.length, 0);
  pcal_measure_free(measure);
}

TEST(test_metrics_over_pairs_refuse_to_be_saved) {
  size_t refused = 0;
  for (size_t s = 0; s < law_set_count(); s++) {
    law_set *set = law_set_make(s);
    law_specs specs;
    law_specs_make(set, 0, 0, &specs);
    for (size_t i = 0; i < specs.count; i++) {
      if (states_savable(&specs, i))
        continue;
      states_refuse(set, specs.list[i], specs.metric[i]->row.name);
      refused++;
    }
    law_specs_free(&specs);
    law_set_free(set);
  }
  assert_true(refused > 0);
}
