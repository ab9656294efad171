/* A machine's state fed by hand. */
#ifndef MACHINE_HELP_H
#define MACHINE_HELP_H

#include "../unit.h"
#include "machines/machine.h"

typedef struct machine_case {
  pcal_env env;
  const pc_machine *machine;
  pc_need need;
  pc_layout layout;
} machine_case;

static inline machine_case machine_case_make(const pc_machine *machine, const pc_need *need,
                                             size_t classes) {
  machine_case about = {.env = pc_env_resolve(NULL), .machine = machine, .need = *need};
  about.layout = (pc_layout){PCAL_PROBABILITY, classes, classes};
  return about;
}

static inline void *machine_state(const machine_case *about) {
  void *state = NULL;
  assert_int_equal(
      about->machine->create(&about->env, &about->need, &about->layout, &state, NULL), PCAL_OK);
  return state;
}

static inline void machine_update(const machine_case *about, void *state, const pc_rows *rows,
                                  const pc_view_columns *columns) {
  assert_int_equal(about->machine->update(&about->env, state, rows, columns, NULL), PCAL_OK);
}

static inline void machine_merge(const machine_case *about, void *into, const void *from) {
  if (about->machine->prepare != NULL)
    assert_int_equal(about->machine->prepare(&about->env, into, from, NULL), PCAL_OK);
  about->machine->merge(into, from);
}

static inline pc_evidence machine_evidence(const machine_case *about, const void *state) {
  pc_evidence evidence;
  memset(&evidence, 0, sizeof evidence);
  assert_int_equal(about->machine->finish(&about->env, state, &evidence, NULL), PCAL_OK);
  return evidence;
}

/* Two grids hold the same bits. */
static inline void machine_same_bins(const machine_case *about, const void *a, const void *b) {
  pc_evidence one = machine_evidence(about, a), two = machine_evidence(about, b);
  assert_int_equal(one.grid.bin_count, two.grid.bin_count);
  for (size_t i = 0; i < one.grid.bin_count * one.grid.part_count; i++) {
    assert_same(one.grid.bins[i].weight, two.grid.bins[i].weight);
    assert_same(one.grid.bins[i].hits, two.grid.bins[i].hits);
    assert_same(one.grid.bins[i].score, two.grid.bins[i].score);
    assert_same(one.grid.bins[i].score_square, two.grid.bins[i].score_square);
    assert_same(one.grid.bins[i].score_hit, two.grid.bins[i].score_hit);
  }
  about->machine->release(&about->env, &one);
  about->machine->release(&about->env, &two);
}

/* Columns of scores and hits of at most 8 rows. */
typedef struct machine_rows {
  double score[8], weight[8];
  uint8_t hit[8];
  uint32_t part[8];
  size_t count;
  int weighted;
} machine_rows;

static inline void machine_feed(const machine_case *about, void *state, machine_rows *from) {
  const pc_rows rows = {.count = from->count,
                        .classes = about->layout.classes,
                        .weights = from->weighted ? from->weight : NULL};
  const pc_view_columns columns = {.score = from->score,
                                   .hit = from->hit,
                                   .part = about->need.view.by_label ? from->part : NULL};
  machine_update(about, state, &rows, &columns);
}

#endif
