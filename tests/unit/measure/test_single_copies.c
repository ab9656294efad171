/* Labels of rows of several copies, against those of a row for each copy. */
#include "measure/replicas/single_copies.h"

#include "../unit.h"

#include "base/rng.h"
#include "measure/replicas/draws.h"

enum {
  COPIES_ROWS = 120,
  COPIES_CLASSES = 3,
  COPIES_MOST = 8 * COPIES_ROWS,
  COPIES_DRAWS = 20
};

static const char *const copies_specs[] = {"accuracy", "brier", "ece", "ks", "sce"};

typedef struct copies_case {
  double probs[COPIES_MOST * COPIES_CLASSES], score[COPIES_MOST], copies[COPIES_MOST];
  double weights[COPIES_MOST];
  int32_t top[COPIES_MOST], labels[COPIES_MOST];
  uint64_t ids[COPIES_MOST];
  pc_kept_rows rows;
} copies_case;

static void copies_put(copies_case *to, size_t number, size_t copy, double copies) {
  const pc_rng rng = {5, 6};
  const size_t at = to->rows.count++;
  double *p = to->probs + at * COPIES_CLASSES;
  p[0] = pc_rng_uniform(&rng, 2 * number);
  p[1] = (1.0 - p[0]) * pc_rng_uniform(&rng, 2 * number + 1);
  p[2] = 1.0 - p[0] - p[1];
  to->top[at] = p[0] >= p[1] ? (p[0] >= p[2] ? 0 : 2) : (p[1] >= p[2] ? 1 : 2);
  to->score[at] = p[to->top[at]];
  to->copies[at] = copies;
  to->weights[at] = 1.0;
  to->labels[at] = 0;
  to->ids[at] = pc_draw_copy_key(pc_hash_u64(number), copy);
}

/* Rows of `least` to `least` + 2 copies; apart: a row for each copy. */
static void copies_make(copies_case *to, size_t least, int apart) {
  to->rows = (pc_kept_rows){.classes = COPIES_CLASSES,
                            .ids = to->ids,
                            .labels = to->labels,
                            .weights = to->weights,
                            .copies = to->copies,
                            .score = to->score,
                            .top_label = to->top,
                            .probs = to->probs};
  for (size_t i = 0; i < COPIES_ROWS; i++)
    for (size_t c = 0; c < (apart ? least + i % 3 : 1); c++)
      copies_put(to, i, c, apart ? 1.0 : (double)(least + i % 3));
}

static pcal_status copies_measure(const pcal_env *env, copies_case *at, int *single,
                                  double *values, pcal_error *err) {
  const pcal_env resolved = pc_env_resolve(env);
  const uint8_t entries[UNIT_COUNT(copies_specs)] = {1, 1, 1, 1, 1};
  pc_layout layout;
  pc_measure_plan plan;
  PC_TRY(pc_layout_make(PCAL_PROBABILITY, COPIES_CLASSES, &layout, err));
  PC_TRY(pc_measure_plan_new(&resolved, &layout, NULL, copies_specs, UNIT_COUNT(copies_specs),
                             &plan, err));
  const pc_replica_request request = {.plan = &plan,
                                      .entries = entries,
                                      .rows = &at->rows,
                                      .kind = PC_REPLICA_LABELS,
                                      .count = COPIES_DRAWS};
  *single = pc_single_copies_apply(&request);
  const pcal_status status = pc_replicas_measure(&resolved, &request, values, err);
  pc_measure_plan_free(&resolved, &plan);
  return status;
}

#define COPIES_VALUES (UNIT_COUNT(copies_specs) * PC_REPLICA_VALUES * COPIES_DRAWS)

/* Few copies are drawn as rows of their own, more are not; labels and values are the same. */
TEST(copies_have_the_values_of_single_rows) {
  static copies_case together, apart;
  static double found[COPIES_VALUES], expected[COPIES_VALUES];
  for (size_t least = 1; least <= 5; least += 4) {
    int single = 0, never = 0;
    copies_make(&together, least, 0);
    copies_make(&apart, least, 1);
    assert_int_equal(copies_measure(NULL, &together, &single, found, NULL), PCAL_OK);
    assert_int_equal(copies_measure(NULL, &apart, &never, expected, NULL), PCAL_OK);
    assert_int_equal(single, least == 1);
    assert_int_equal(never, 0);
    for (size_t e = 0; e < UNIT_COUNT(copies_specs); e++)
      for (size_t d = 0; d < COPIES_DRAWS; d++) {
        const size_t at = e * PC_REPLICA_VALUES * COPIES_DRAWS + d;
        assert_true(isfinite(expected[at]));
        assert_near(found[at], expected[at], 1e-9);
      }
  }
}

/* A row of many copies is split by binomial draws. */
TEST(many_copies_stay_together) {
  static copies_case together;
  static double found[COPIES_VALUES];
  int single = 1;
  copies_make(&together, 1, 0);
  together.copies[7] = PC_DRAWS_UNITS + 1;
  assert_int_equal(copies_measure(NULL, &together, &single, found, NULL), PCAL_OK);
  assert_int_equal(single, 0);
}

static pcal_status copies_scenario(const pcal_env *env, void *user, pcal_error *err) {
  static double found[COPIES_VALUES];
  pcal_env alone = pc_env_resolve(env);
  int single;
  alone.threads = 1;
  return copies_measure(&alone, user, &single, found, err);
}

TEST(runs_out_of_memory) {
  static copies_case together;
  copies_make(&together, 1, 0);
  unit_fail_each_allocation(copies_scenario, &together);
}
