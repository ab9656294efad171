/* The advice of a comparison, word by word. */
#include "../unit.h"

#include "compare/comparison.h"
#include "output/write_comparison.h"

#define TOLD_COUNT 3

/* Identity, temperature (injective) and isotonic, by one metric. */
typedef struct shown_table {
  pcal_comparison table;
  pc_contestant contestants[TOLD_COUNT];
  pc_gain gains[TOLD_COUNT];
  pcal_results results;
  pc_result_record record;
} shown_table;

static void shown_make(shown_table *shown) {
  static const char *const names[] = {"identity", "temperature", "isotonic"};
  memset(shown, 0, sizeof *shown);
  shown->table.env = pc_env_resolve(NULL);
  shown->table.contestants = shown->contestants;
  shown->table.count = TOLD_COUNT;
  shown->results.records = &shown->record;
  shown->results.metric_count = 1;
  shown->record.notion = PCAL_NOTION_PROPER;
  snprintf(shown->record.label, sizeof shown->record.label, "brier");
  for (size_t i = 0; i < TOLD_COUNT; i++) {
    snprintf(shown->contestants[i].label, PC_SPEC_MAX, "%s", names[i]);
    shown->contestants[i].gains = &shown->gains[i];
    shown->contestants[i].results = &shown->results;
    shown->contestants[i].rank = TOLD_COUNT - i;
  }
  shown->contestants[1].traits = PC_INJECTIVE;
  shown->gains[1] = (pc_gain){1, 1, 0.0212, 0.0101, 0.0323};
  shown->gains[2] = (pc_gain){1, 1, 0.0254, -0.0012, 0.0521};
  shown->table.best = 2;
  shown->table.chosen = 1;
  snprintf(shown->table.name, sizeof shown->table.name, "temperature");
}

static void shown_is(const shown_table *shown, const char *expected) {
  pc_text out;
  pc_text_init(&out, &shown->table.env);
  pc_write_comparison_advice(&shown->table, &out);
  assert_false(out.failed);
  assert_string_equal(out.bytes, expected);
  pc_text_free(&out);
}

TEST(test_why_rank_1_was_not_chosen) {
  shown_table shown;
  shown_make(&shown);
  shown_is(&shown,
           "Choose temperature: better in brier by 0.021 [0.010, 0.032] than leaving the "
           "predictions alone. isotonic has rank 1, but its gain, brier by 0.025 "
           "[-0.0012, 0.052], may be chance: its interval reaches down to 0. temperature "
           "is injective, so its gain is also the decrease of its calibration error "
           "(Gruber & Buettner 2022, Proposition 4.5).\n");
  shown.gains[2].sure = 0;
  shown.contestants[1].traits = 0;
  shown_is(&shown,
           "Choose temperature: better in brier by 0.021 [0.010, 0.032] than leaving the "
           "predictions alone. isotonic has rank 1, but its gain, brier by 0.025, has no "
           "interval, so it may be chance.\n");
}

TEST(test_nothing_is_better) {
  shown_table shown;
  shown_make(&shown);
  shown.table.chosen = 0;
  shown_is(&shown,
           "Leave it alone: no method is significantly better in brier. isotonic has rank "
           "1, but its gain, brier by 0.025 [-0.0012, 0.052], may be chance: its interval "
           "reaches down to 0.\n");
}

TEST(test_rank_1_is_chosen) {
  shown_table shown;
  shown_make(&shown);
  shown.table.best = 1;
  shown.contestants[2].behind = (pc_gain){1, 1, 0.002, -0.001, 0.005};
  shown_is(&shown,
           "Choose temperature: better in brier by 0.021 [0.010, 0.032] than leaving the "
           "predictions alone. These rows cannot distinguish it from isotonic. temperature is "
           "injective, so its gain is also the decrease of its calibration error (Gruber "
           "& Buettner 2022, Proposition 4.5).\n");
  shown.record.notion = PCAL_NOTION_TOP_LABEL;
  shown.contestants[2].behind.low = 0.001;
  shown_is(&shown,
           "Choose temperature: better in brier by 0.021 [0.010, 0.032] than leaving the "
           "predictions alone. Note that brier is not a proper score: a method can lower it "
           "by discarding information; rank by brier or log to be safe.\n");
}

TEST(test_models) {
  static char old[] = "old", new[] = "new", third[] = "third";
  char *names[] = {old, new, third};
  shown_table shown;
  shown_make(&shown);
  shown.table.model_names = names;
  shown.table.model_count = TOLD_COUNT;
  for (size_t i = 0; i < TOLD_COUNT; i++) {
    shown.contestants[i].model = i;
    snprintf(shown.contestants[i].label, PC_SPEC_MAX, "identity");
    snprintf(shown.contestants[i].spec, PC_SPEC_MAX, "identity");
  }
  snprintf(shown.table.name, sizeof shown.table.name, "new");
  shown_is(&shown,
           "Choose new: better in brier by 0.021 [0.010, 0.032] than old. third has rank "
           "1, but its gain, brier by 0.025 [-0.0012, 0.052], may be chance: its interval "
           "reaches down to 0.\n");
  shown.table.chosen = shown.table.best = 0;
  snprintf(shown.table.name, sizeof shown.table.name, "old");
  shown_is(&shown, "Choose old: no other is better in brier.\n");
}
