/* Merging two measures.  Everything is checked and allocated first; the rest cannot fail, so
 * that a refused merge leaves the measure unchanged.
 *
 * Edge cases:
 *   (1) a row that came from a saved state is refused if it comes from another one again: a
 *       part was merged twice, or all parts number their rows from 0.  Rows of other measures
 *       may have any index, since batches need not have indices, unless a metric uses them;
 *   (2) groups and clusters are matched by name if both measures have names, else by number.
 *       Clusters have no states: their numbers are in the stored rows;
 *   (3) an empty measure takes over names and groups unchanged;
 *   (4) names of groups without rows are joined and have no other effect. */
#include <string.h>

#include "measure/group_names.h"

/* Indices from here on were computed for PCAL_FIRST_ROW_AUTO. */
#define MERGE_PLACED (UINT64_C(1) << 62)

static const char *merge_name(const pcal_measure *measure, const char *fallback) {
  return measure->origin == NULL ? fallback : measure->origin;
}

static pcal_status merge_check_layout(const pcal_measure *measure, const pcal_measure *other,
                                      pcal_error *err) {
  const pc_layout *a = &measure->plan.layout, *b = &other->plan.layout;
  if (pc_layout_equal(a, b))
    return PCAL_OK;
  if (a->kind == b->kind && a->columns == b->columns)
    return pc_fail(err, PCAL_USAGE,
                   "%s has quantiles at other levels than %s; only parts of one data set can "
                   "be merged",
                   merge_name(other, "the other measure"), merge_name(measure, "this one"));
  return pc_fail(err, PCAL_USAGE,
                 "%s has scores of the kind %s in %zu column%s, and %s of the kind %s in %zu; "
                 "only parts of one data set can be merged%-s",
                 merge_name(other, "the other measure"), pcal_kind_name(b->kind), b->columns,
                 b->columns == 1 ? "" : "s", merge_name(measure, "this one"),
                 pcal_kind_name(a->kind), a->columns,
                 a->kind == b->kind && a->columns > 1 && b->columns > 1
                     ? "; if rows have different numbers of choices, measure every part with "
                       "{ragged} and the names of all choices in {class_names}"
                     : "");
}

static pcal_status merge_check_flag(const pcal_measure *measure, int here,
                                    const pcal_measure *other, int there, const char *flag,
                                    pcal_error *err) {
  if (here == there)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "%s was measured %-s %-s and %s %-s; measure all parts in the same way",
                 merge_name(other, "the other measure"), there ? "with" : "without", flag,
                 merge_name(measure, "this one"), here ? "with" : "without");
}

/* Intervals and null need more than values in the state of each part. */
static pcal_status merge_check_interval(const pcal_measure *measure, const pcal_measure *other,
                                        pcal_error *err) {
  const pc_interval_request *here = &measure->plan.intervals, *there = &other->plan.intervals;
  PC_TRY(
      merge_check_flag(measure, here->level > 0, other, there->level > 0, "{interval}", err));
  PC_TRY(merge_check_flag(measure, here->null, other, there->null, "{null}", err));
  if (pc_interval_request_equal(here, there))
    return PCAL_OK;
  return pc_fail(
      err, PCAL_USAGE,
      "%s was measured with another level, method, clusters or number of replicas of "
      "intervals than %s; measure all parts in the same way",
      merge_name(other, "the other measure"), merge_name(measure, "this one"));
}

static pcal_status merge_check_config(const pcal_measure *measure, const pcal_measure *other,
                                      pcal_error *err) {
  const pc_row_policy *here = &measure->pass.policy, *there = &other->pass.policy;
  const int any_fast = measure->fast || other->fast;
  PC_TRY(merge_check_layout(measure, other, err));
  PC_TRY(merge_check_interval(measure, other, err));
  if (!pc_measure_plan_equal(&measure->plan, &other->plan))
    return pc_fail(err, PCAL_USAGE,
                   "%s was measured with other metrics than %s; measure all parts with the "
                   "{same_metrics}",
                   merge_name(other, "the other measure"), merge_name(measure, "this one"));
  PC_TRY(
      merge_check_flag(measure, here->normalize, other, there->normalize, "{normalize}", err));
  PC_TRY(merge_check_flag(measure, here->skip_missing, other, there->skip_missing,
                          "{skip_missing}", err));
  return merge_check_flag(measure, here->probs == PC_PROBS_FAST && any_fast, other,
                          there->probs == PC_PROBS_FAST && any_fast, "fast precision", err);
}

/* Saved states do not have the number of dimensions. */
static pcal_status merge_check_dimensions(const pcal_measure *measure,
                                          const pcal_measure *other, pcal_error *err) {
  if (measure->dimensions == 0 || other->dimensions == 0 ||
      measure->dimensions == other->dimensions)
    return PCAL_OK;
  return pc_fail(
      err, PCAL_USAGE,
      "samples of %s have %zu numbers and those of %s %zu; only parts of one data set "
      "can be merged",
      merge_name(other, "the other measure"), other->dimensions,
      merge_name(measure, "this one"), measure->dimensions);
}

static pcal_status merge_check_groups(const pcal_measure *measure, const pcal_measure *other,
                                      pcal_error *err) {
  if (measure->grouped < 0 || other->grouped < 0)
    return PCAL_OK;
  if (measure->grouped != other->grouped)
    return pc_fail(err, PCAL_USAGE,
                   "%s %s groups and %s %s; measure all parts with {groups} or none",
                   merge_name(other, "the other measure"), other->grouped ? "has" : "has no",
                   merge_name(measure, "this one"), measure->grouped ? "does" : "does not");
  if (measure->grouped && measure->loaded && other->loaded &&
      pc_groups_have_names(measure) != pc_groups_have_names(other))
    return pc_fail(err, PCAL_USAGE,
                   "the groups of %s have names and those of %s only numbers; name them all "
                   "or none",
                   merge_name(pc_groups_have_names(other) ? other : measure, "one measure"),
                   merge_name(pc_groups_have_names(other) ? measure : other, "the other"));
  return PCAL_OK;
}

static pcal_status merge_check_classes(const pcal_measure *measure, const pcal_measure *other,
                                       pcal_error *err) {
  if (measure->class_count == 0 || other->class_count == 0)
    return PCAL_OK;
  int same = measure->class_count == other->class_count;
  for (size_t c = 0; same && c < measure->class_count; c++)
    same = strcmp(measure->class_names[c], other->class_names[c]) == 0;
  if (same)
    return PCAL_OK;
  return pc_fail(
      err, PCAL_USAGE,
      "the classes of %s have other names, or another order, than those of %s; "
      "select the columns of all parts in the same order, or name all choices of {ragged} in "
      "{class_names}",
      merge_name(other, "the other measure"), merge_name(measure, "this one"));
}

static pcal_status merge_check_rows(const pcal_measure *measure, const pcal_measure *other,
                                    pcal_error *err) {
  const int all = measure->plan.by_index != NULL;
  pc_row_range both;
  if (!pc_row_ranges_overlap(all ? &measure->seen : &measure->saved,
                             all ? &other->seen : &other->saved, &both))
    return PCAL_OK;
  if (both.first >= MERGE_PLACED)
    return pc_fail(err, PCAL_DATA,
                   "%s is in another part too, or has the same rows; merge each part once",
                   merge_name(other, "the other measure"));
  return pc_fail_row(err, PCAL_DATA, both.first,
                     "%s: rows %llu to %llu are in another part too; pass {first_row} when "
                     "measuring a part, and merge each part once",
                     merge_name(other, "the other measure"), (unsigned long long)both.first,
                     (unsigned long long)both.last);
}

/* The declared meaning of the weights of one part must hold for the other. */
static pcal_status merge_check_weights(const pcal_measure *measure, const pcal_measure *other,
                                       pcal_error *err) {
  const int a = measure->weights_are, b = other->weights_are;
  const int fractional = measure->fractional || other->fractional;
  const int frequency = a == PCAL_WEIGHTS_FREQUENCY || b == PCAL_WEIGHTS_FREQUENCY;
  if ((a == PCAL_WEIGHTS_AUTO || b == PCAL_WEIGHTS_AUTO || a == b) &&
      !(frequency && fractional))
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "the weights of %s are frequencies and those of %s are not; measure all parts "
                 "with the same {weights_are}",
                 merge_name(a == PCAL_WEIGHTS_FREQUENCY ? measure : other, "one measure"),
                 merge_name(a == PCAL_WEIGHTS_FREQUENCY ? other : measure, "the other"));
}

static double merge_weight(const pcal_measure *measure) {
  double weight = 0.0;
  for (size_t a = 0; a < measure->groups.count; a++)
    weight += pc_group_states_weight(&measure->groups, a);
  return weight;
}

static pcal_status merge_check(const pcal_measure *measure, const pcal_measure *other,
                               pcal_error *err) {
  PC_TRY(merge_check_config(measure, other, err));
  PC_TRY(merge_check_groups(measure, other, err));
  PC_TRY(merge_check_dimensions(measure, other, err));
  if (measure->identified >= 0 && other->identified >= 0)
    PC_TRY(
        merge_check_flag(measure, measure->identified, other, other->identified, "ids", err));
  PC_TRY(merge_check_classes(measure, other, err));
  PC_TRY(merge_check_weights(measure, other, err));
  PC_TRY(merge_check_rows(measure, other, err));
  if (merge_weight(measure) + merge_weight(other) > PC_WEIGHT_MAX)
    return pc_fail(err, PCAL_DATA, "the weights sum to more than 2^62; give smaller weights");
  return PCAL_OK;
}

/* The mapping of groups, and the class names, of a merge. */
typedef struct merge_parts {
  pc_group_merge groups;
  char **class_names;
} merge_parts;

static void merge_parts_free(const pcal_env *env, merge_parts *parts, size_t class_count) {
  pc_group_merge_free(env, &parts->groups);
  pc_name_list_free(env, parts->class_names, class_count);
}

/* The number of rows stored so far, whose clusters keep their numbers. */
static size_t merge_kept(const pcal_measure *measure) {
  const pc_group_state *state = pc_group_states_find(&measure->groups, 0);
  return state == NULL ? 0 : pc_machine_rows_count(state->slots[measure->plan.rows_slot]);
}

/* Adds the rows of the other measure, all in group 0, and renumbers their clusters. */
static pcal_status merge_clusters(pcal_measure *measure, const pcal_measure *other,
                                  const size_t *map, pcal_error *err) {
  const size_t keep = measure->plan.rows_slot;
  const size_t before = keep == PC_NO_SLOT ? 0 : merge_kept(measure);
  PC_TRY(pc_group_states_merge(&measure->groups, &other->groups, err));
  if (keep != PC_NO_SLOT && map != NULL && measure->groups.count > 0 &&
      measure->groups.states[0] != NULL)
    pc_machine_rows_renumber_clusters(measure->groups.states[0]->slots[keep], before, map);
  return PCAL_OK;
}

static pcal_status merge_prepare(pcal_measure *measure, const pcal_measure *other,
                                 merge_parts *parts, pcal_error *err) {
  PC_TRY(pc_group_merge_match(measure, other, &parts->groups, err));
  if (measure->class_count == 0)
    PC_TRY(pc_name_list_copy(&measure->env, (const char *const *)other->class_names,
                             other->class_count, &parts->class_names, err));
  PC_TRY(pc_row_ranges_prepare_merge(&measure->seen, &other->seen, parts->groups.map, err));
  PC_TRY(pc_row_ranges_prepare_merge(&measure->saved, &other->saved, NULL, err));
  if (measure->plan.intervals.by_cluster)
    return merge_clusters(measure, other, parts->groups.map, err);
  return pc_group_states_merge_mapped(&measure->groups, &other->groups,
                                      other->grouped > 0 ? parts->groups.map : NULL, err);
}

static void merge_commit(pcal_measure *measure, const pcal_measure *other, merge_parts *parts) {
  const int empty = measure->seen.range_count == 0;
  measure->loaded |= other->loaded && empty;
  pc_row_ranges_merge(&measure->seen, &other->seen, parts->groups.map);
  pc_row_ranges_merge(&measure->saved, &other->saved, NULL);
  if (parts->groups.name_count > 0) {
    pc_name_list_free(&measure->env, measure->group_names, measure->group_name_count);
    measure->group_names = parts->groups.names;
    measure->group_name_count = parts->groups.name_count;
    parts->groups.names = NULL;
  }
  if (parts->class_names != NULL) {
    measure->class_names = parts->class_names;
    measure->class_count = other->class_count;
    parts->class_names = NULL;
  }
  pc_row_fingerprint_merge(&measure->rows, &other->rows);
  measure->normalized += other->normalized;
  measure->skipped += other->skipped;
  measure->weighted |= other->weighted;
  measure->fast |= other->fast;
  for (size_t s = 0; s < measure->plan.slot_count; s++)
    measure->slot_uses[s] |= other->slot_uses[s];
  measure->fractional |= other->fractional;
  if (other->weights_are != PCAL_WEIGHTS_AUTO)
    measure->weights_are = other->weights_are;
  if (measure->grouped < 0)
    measure->grouped = other->grouped;
  if (measure->identified < 0)
    measure->identified = other->identified;
  if (measure->dimensions == 0)
    measure->dimensions = other->dimensions;
}

pcal_status pc_measure_merge(pcal_measure *measure, const pcal_measure *other,
                             pcal_error *err) {
  merge_parts parts = {{NULL, NULL, 0}, NULL};
  PC_TRY(merge_check(measure, other, err));
  const pcal_status status = merge_prepare(measure, other, &parts, err);
  if (status == PCAL_OK)
    merge_commit(measure, other, &parts);
  merge_parts_free(&measure->env, &parts, other->class_count);
  return status;
}
