/* Laws of every row of the metric registry: parts, order, asking twice, groups.
 *
 * No metric is named in the laws.  The specs come from the rows' option tables, the exemptions
 * from their traits, so a new metric is under test as soon as it has a row.  "The same" means
 * the same bytes. */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "law_measure.h"

/* ---- every row is reached ---- */

#define LAWS_SETS_MAX 16

/* The specs of every data set. */
static law_specs laws_reached[LAWS_SETS_MAX];

/* Is there a spec of the row that says `wanted`, on any data set? */
static int laws_reach(const pc_metric *metric, const char *wanted) {
  for (size_t s = 0; s < law_set_count(); s++)
    for (size_t i = 0; i < laws_reached[s].count; i++)
      if (laws_reached[s].metric[i] == metric &&
          strstr(laws_reached[s].text[i], wanted) != NULL)
        return 1;
  return 0;
}

static void laws_reach_option(const pc_metric *metric, const pcal_option *option) {
  const char *word = option->type == PCAL_OPTION_BOOL ? "no|yes" : option->choices;
  while (word != NULL) {
    char wanted[PC_SPEC_MAX];
    const size_t length = strcspn(word, "|");
    snprintf(wanted, sizeof wanted, "%s=%.*s", option->name, (int)length, word);
    if (!laws_reach(metric, wanted))
      fail_msg("%s:%s is never measured by the laws", metric->row.name, wanted);
    word = word[length] == '|' ? word + length + 1 : NULL;
  }
}

TEST(test_every_row_and_choice_is_measured) {
  assert_true(pc_metric_count() > 0 && law_set_count() <= LAWS_SETS_MAX);
  for (size_t s = 0; s < law_set_count(); s++) {
    law_set *set = law_set_make(s);
    law_specs_make(set, 0, 0, &laws_reached[s]);
    law_set_free(set);
  }
  for (size_t m = 0; m < pc_metric_count(); m++) {
    const pcal_registry_row *row = &pc_metric_at(m)->row;
    if (!laws_reach(pc_metric_at(m), row->name))
      fail_msg("no data set of the laws suits %s", row->name);
    for (size_t o = 0; o < row->option_count; o++)
      laws_reach_option(pc_metric_at(m), &row->options[o]);
  }
  for (size_t s = 0; s < law_set_count(); s++)
    law_specs_free(&laws_reached[s]);
}

/* ---- parts and the whole ---- */

#define LAWS_PARTS_MAX 5

/* Rows [first, end) in random batches, some of them empty. */
static void laws_feed_randomly(pcal_measure *measure, const law_case *about, size_t first,
                               size_t end, uint64_t stream) {
  for (uint64_t draw = 0; first < end; draw++) {
    const size_t count = law_below(stream, draw, end - first + 1);
    law_feed(measure, about, first, count);
    first += count;
  }
}

static void laws_merge(pcal_measure *into, const pcal_measure *from) {
  pcal_error err;
  if (pcal_measure_merge(into, from, &err) != PCAL_OK)
    fail_msg("merging: %s", err.message);
}

static char *laws_json_of_parts(const law_case *about, size_t parts, uint64_t stream) {
  pcal_measure *part[LAWS_PARTS_MAX] = {NULL};
  const size_t rows = about->set->rows;
  size_t first = 0;
  for (size_t p = 0; p < parts; p++) {
    const size_t end = p + 1 == parts ? rows : first + law_below(stream, p, rows - first + 1);
    part[p] = law_new(about);
    laws_feed_randomly(part[p], about, first, end, stream * 16 + p);
    first = end;
  }
  size_t *order = law_permutation(stream + 7, parts);
  for (size_t p = 1; p < parts; p++)
    laws_merge(part[order[0]], part[order[p]]);
  char *json = law_json(part[order[0]]);
  for (size_t p = 0; p < parts; p++)
    pcal_measure_free(part[p]);
  free(order);
  return json;
}

static void laws_split_and_merge(const law_case *about) {
  for (size_t parts = 1; parts <= LAWS_PARTS_MAX; parts++)
    law_compare(law_json_of(about), laws_json_of_parts(about, parts, 1000 + parts), about,
                "split and merge");
}

TEST(test_split_and_merge_equals_whole) {
  law_for_all(PC_MERGEABLE, laws_split_and_merge);
}

static void laws_merge_empty(const law_case *about) {
  pcal_measure *measure = law_new(about), *empty = law_new(about);
  law_feed(measure, about, 0, about->set->rows);
  laws_merge(measure, empty);
  law_compare(law_json_of(about), law_json(measure), about, "merging an empty measure");
  laws_merge(empty, measure);
  law_compare(law_json_of(about), law_json(empty), about, "merging into an empty measure");
  pcal_measure_free(measure);
  pcal_measure_free(empty);
}

TEST(test_merging_an_empty_measure_changes_nothing) {
  law_for_all(PC_MERGEABLE, laws_merge_empty);
}

static void laws_ask_twice(const law_case *about) {
  const size_t half = about->set->rows / 2;
  pcal_measure *measure = law_new(about);
  law_feed(measure, about, 0, half);
  law_compare(law_json(measure), law_json(measure), about, "asking twice");
  law_feed(measure, about, half, about->set->rows - half);
  law_compare(law_json_of(about), law_json(measure), about, "asking half way");
  pcal_measure_free(measure);
}

TEST(test_asking_twice_agrees) {
  law_for_all(0, laws_ask_twice);
}

/* A metric alone says what it says beside all others, with which it may share a state. */
static void laws_alone(const law_case *about) {
  pcal_measure *measure = law_new(about);
  law_feed(measure, about, 0, about->set->rows);
  pcal_results *together = law_finish(measure);
  for (size_t i = 0; i < about->specs->count; i++) {
    const law_specs one = {.list = about->specs->list + i, .count = 1};
    law_case alone = *about;
    alone.specs = &one;
    pcal_measure *single = law_new(&alone);
    law_feed(single, &alone, 0, about->set->rows);
    pcal_results *results = law_finish(single);
    char *line = law_lines(results, NULL), *lines = law_lines(together, NULL);
    if (strstr(lines, line) == NULL) {
      line[strcspn(line, "=") + strcspn(line + strcspn(line, "="), " ")] = '\0';
      const char *there = strstr(lines, line);
      fail_msg("%s on %s is different in company: %s", one.list[0], about->set->name,
               there == NULL ? lines : there);
    }
    free(line);
    free(lines);
    pcal_results_free(results);
    pcal_measure_free(single);
  }
  pcal_results_free(together);
  pcal_measure_free(measure);
}

TEST(test_company_does_not_matter) {
  law_for_all(0, laws_alone);
}

/* ---- order ---- */

static void laws_order(const law_case *about) {
  const size_t rows = about->set->rows;
  size_t *order = law_permutation(42, rows);
  pcal_measure *measure = law_new(about);
  law_feed_rows(measure, about, order, rows);
  law_compare(law_json_of(about), law_json(measure), about, "rows in another order");
  pcal_measure_free(measure);
  free(order);
}

/* The rows shuffled in memory: only the numbers of rows may change. */
static void laws_shuffle(const law_case *about) {
  const law_set *set = about->set;
  const size_t row = set->columns * law_score_size(set);
  size_t *order = law_permutation(43, set->rows);
  law_set shuffled = *set;
  double *weights = calloc(set->rows, sizeof *weights);
  shuffled.scores = malloc(set->rows * row);
  shuffled.labels = calloc(set->rows, sizeof *shuffled.labels);
  shuffled.targets = calloc(set->rows, sizeof *shuffled.targets);
  shuffled.groups = calloc(set->rows, sizeof *shuffled.groups);
  for (size_t i = 0; i < set->rows; i++) {
    memcpy((char *)shuffled.scores + i * row, (const char *)set->scores + order[i] * row, row);
    shuffled.labels[i] = set->labels[order[i]];
    shuffled.targets[i] = set->targets[order[i]];
    shuffled.groups[i] = set->groups[order[i]];
    weights[i] = about->weights == NULL ? 1.0 : about->weights[order[i]];
  }
  law_case other = *about;
  other.set = &shuffled;
  other.weights = about->weights == NULL ? NULL : weights;
  other.groups = about->groups == NULL ? NULL : shuffled.groups;
  char *expected = law_json_of(about), *actual = law_json_of(&other);
  law_mask_rows(expected);
  law_mask_rows(actual);
  law_compare(expected, actual, about, "shuffled rows");
  free(shuffled.scores);
  free(shuffled.labels);
  free(shuffled.targets);
  free(shuffled.groups);
  free(weights);
  free(order);
}

TEST(test_row_order_does_not_matter) {
  law_for_all(PC_ORDER_FREE, laws_order);
  law_for_all(PC_ORDER_FREE, laws_shuffle);
}

TEST(test_row_order_does_not_matter_to_intervals) {
  law_for_all_sure(PC_ORDER_FREE, laws_shuffle);
}

/* ---- groups ---- */

/* Lines of a measure that saw only the rows of one group, without their group numbers. */
static char *laws_lines_of_group(const law_case *about, uint32_t group, size_t *count) {
  law_case alone = *about;
  size_t *rows = calloc(about->set->rows, sizeof *rows);
  *count = 0;
  for (size_t i = 0; i < about->set->rows; i++)
    if (about->groups[i] == group)
      rows[(*count)++] = i;
  alone.groups = NULL;
  char *lines = NULL;
  if (*count > 0) {
    pcal_measure *measure = law_new(&alone);
    law_feed_rows(measure, &alone, rows, *count);
    pcal_results *results = law_finish(measure);
    lines = law_lines(results, NULL);
    pcal_results_free(results);
    pcal_measure_free(measure);
  }
  free(rows);
  return lines;
}

static void laws_empty_group(const char *lines, const law_case *about) {
  size_t line_count = 0, without_value = 0;
  for (const char *at = strchr(lines, '\n'); at != NULL; at = strchr(at + 1, '\n'))
    line_count++;
  for (const char *at = strstr(lines, "no rows"); at != NULL; at = strstr(at + 1, "no rows"))
    without_value++;
  if (line_count == 0 || line_count != without_value)
    fail_msg("a group without rows on %s has values: %s", about->set->name, lines);
}

static void laws_groups(const law_case *about) {
  if (about->groups == NULL)
    return;
  law_case ungrouped = *about;
  ungrouped.groups = NULL;
  pcal_measure *measure = law_new(about), *plain = law_new(&ungrouped);
  law_feed(measure, about, 0, about->set->rows);
  law_feed(plain, &ungrouped, 0, about->set->rows);
  pcal_results *grouped = law_finish(measure), *total = law_finish(plain);
  for (uint32_t g = 0; g < LAW_GROUPS; g++) {
    char name[16];
    size_t count;
    snprintf(name, sizeof name, "%u", (unsigned)g);
    char *alone = laws_lines_of_group(about, g, &count);
    char *lines = law_lines(grouped, name);
    if (g == LAW_EMPTY_GROUP) {
      assert_int_equal(count, 0);
      laws_empty_group(lines, about);
      free(lines);
    } else {
      law_compare(alone, lines, about, "a group measured alone");
    }
  }
  law_compare(law_lines(total, NULL), law_lines(grouped, NULL), about, "the total of groups");
  const char *one = pcal_results_verdict_text(total), *two = pcal_results_verdict_text(grouped);
  assert_true((one == NULL) == (two == NULL) &&
              (one == NULL) == (about->set->kind == PCAL_SAMPLE_VECTORS));
  if (one != NULL)
    assert_string_equal(one, two);
  pcal_results_free(grouped);
  pcal_results_free(total);
  pcal_measure_free(measure);
  pcal_measure_free(plain);
}

TEST(test_groups_are_parts_of_the_total) {
  law_for_all_but(0, PC_LARGEST_OF_GROUPS, laws_groups);
}
