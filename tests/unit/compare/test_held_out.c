/* The progress of fits to folds: one step of its own, which never goes back and always has a total. */
#include "../calibrators/calibrator_help.h"
#include "compare/held_out.h"

enum { ROWS = 300, CLASSES = 3, FOLDS = 4 };

static double logits[ROWS * CLASSES];
static int32_t labels[ROWS];

typedef struct held_steps {
  uint64_t done, total;
  size_t calls, others;
} held_steps;

static void held_step(void *user, const char *what, uint64_t done, uint64_t total) {
  held_steps *steps = user;
  steps->others += strcmp(what, "fitting folds") != 0;
  assert_true(done >= steps->done && done <= total);
  steps->done = done;
  steps->total = total;
  steps->calls++;
}

/* Searches for penalties and trainings of networks begin their own steps several times. */
TEST(progress_of_folds) {
  static const char *const methods[] = {"matrix-odir", "diag"};
  held_steps steps = {0};
  pcal_env env = pc_env_resolve(NULL);
  env.threads = 1;
  env.progress = held_step;
  env.user = &steps;
  help_draw(logits, labels, ROWS, CLASSES, 3.0, 2.0);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, CLASSES);
  for (size_t m = 0; m < UNIT_COUNT(methods); m++) {
    pcal_calibrator *fitted[FOLDS] = {NULL};
    pc_held_out held_out = {.env = &env, .folds = {0, FOLDS, 0}};
    steps = (held_steps){0};
    assert_int_equal(pc_source_borrow(&batch, NULL, &env, &held_out.source, NULL), PCAL_OK);
    assert_int_equal(pc_held_out_fit(&held_out, methods[m], fitted, NULL), PCAL_OK);
    assert_true(steps.calls > FOLDS);
    assert_int_equal(steps.others, 0);
    assert_true(steps.done > steps.total / FOLDS * (FOLDS - 1));
    for (size_t f = 0; f < FOLDS; f++)
      pc_calibrator_free(fitted[f]);
    pcal_source_free(held_out.source);
  }
}
