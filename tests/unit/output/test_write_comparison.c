/* The advice of a comparison, word by word. */
#include "../unit.h"

#include "compare/comparison.h"
#include "output/write_comparison.h"

#define TOLD_COUNT 3

/* Identity, temperature (injective) and isotonic, by one metric. */
typedef struct told_table {
  pcal_comparison table;
  pc_contestant contestants[TOLD_COUNT];
  pc_gain gains[TOLD_COUNT];
  pcal_results results;
  pc_result_record record;
} told_table;

static void told_make(told_table *told) {
  static const char *const names[] = {"identity", "temperature", "isotonic"};
  memset(told, 0, sizeof *told);
  told->table.env = pc_env_resolve(NULL);
  told->table.contestants = told->contestants;
  told->table.count = TOLD_COUNT;
  told->results.records = &told->record;
  told->results.metric_count = 1;
  told->record.notion = "proper";
  snprintf(told->record.label, sizeof told->record.label, "brier");
  for (size_t i = 0; i < TOLD_COUNT; i++) {
    snprintf(told->contestants[i].label, PC_SPEC_MAX, "%s", names[i]);
    told->contestants[i].gains = &told->gains[i];
    told->contestants[i].results = &told->results;
    told->contestants[i].rank = TOLD_COUNT - i;
  }
  told->contestants[1].traits = PC_INJECTIVE;
  told->gains[1] = (pc_gain){1, 1, 0.0212, 0.0101, 0.0323};
  told->gains[2] = (pc_gain){1, 1, 0.0254, -0.0012, 0.0521};
  told->table.best = 2;
  told->table.chosen = 1;
  snprintf(told->table.name, sizeof told->table.name, "temperature");
}

static void told_is(const told_table *told, const char *expected) {
  pc_text out;
  pc_text_init(&out, &told->table.env);
  pc_write_comparison_advice(&told->table, &out);
  assert_false(out.failed);
  assert_string_equal(out.bytes, expected);
  pc_text_free(&out);
}

TEST(test_why_rank_1_was_not_chosen) {
  told_table told;
  told_make(&told);
  told_is(&told, "Choose temperature: better in brier by 0.021 [0.010, 0.032] than leaving the "
                 "predictions alone. isotonic has rank 1, but its gain, brier by 0.025 "
                 "[-0.0012, 0.052], may be chance: its interval reaches down to 0. temperature "
                 "is injective, so its gain is also by how much its calibration error fell "
                 "(Gruber & Buettner 2022, Proposition 4.5).\n");
  told.gains[2].sure = 0;
  told.contestants[1].traits = 0;
  told_is(&told, "Choose temperature: better in brier by 0.021 [0.010, 0.032] than leaving the "
                 "predictions alone. isotonic has rank 1, but its gain, brier by 0.025, has no "
                 "interval, so it may be chance.\n");
}

TEST(test_nothing_is_better) {
  told_table told;
  told_make(&told);
  told.table.chosen = 0;
  told_is(&told,
          "Leave it alone: no method is better in brier beyond doubt. isotonic has rank "
          "1, but its gain, brier by 0.025 [-0.0012, 0.052], may be chance: its interval "
          "reaches down to 0.\n");
}

TEST(test_rank_1_is_chosen) {
  told_table told;
  told_make(&told);
  told.table.best = 1;
  told.contestants[2].behind = (pc_gain){1, 1, 0.002, -0.001, 0.005};
  told_is(&told,
          "Choose temperature: better in brier by 0.021 [0.010, 0.032] than leaving the "
          "predictions alone. These rows cannot distinguish it from isotonic. temperature is "
          "injective, so its gain is also by how much its calibration error fell (Gruber "
          "& Buettner 2022, Proposition 4.5).\n");
  told.record.notion = "top-label";
  told.contestants[2].behind.low = 0.001;
  told_is(&told, "Choose temperature: better in brier by 0.021 [0.010, 0.032] than leaving the "
                 "predictions alone. Beware: brier is not a proper score, and a method can "
                 "lower it by throwing information away; rank by brier or log to be safe.\n");
}

TEST(test_models) {
  static char old[] = "old", new[] = "new", third[] = "third";
  char *names[] = {old, new, third};
  told_table told;
  told_make(&told);
  told.table.model_names = names;
  told.table.model_count = TOLD_COUNT;
  for (size_t i = 0; i < TOLD_COUNT; i++) {
    told.contestants[i].model = i;
    snprintf(told.contestants[i].label, PC_SPEC_MAX, "identity");
    snprintf(told.contestants[i].spec, PC_SPEC_MAX, "identity");
  }
  snprintf(told.table.name, sizeof told.table.name, "new");
  told_is(&told,
          "Choose new: better in brier by 0.021 [0.010, 0.032] than old. third has rank "
          "1, but its gain, brier by 0.025 [-0.0012, 0.052], may be chance: its interval "
          "reaches down to 0.\n");
  told.table.chosen = told.table.best = 0;
  snprintf(told.table.name, sizeof told.table.name, "old");
  told_is(&told, "Choose old: no other is better in brier.\n");
}
