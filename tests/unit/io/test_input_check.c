#include "io/input_check.h"
#include "io_help.h"

#include "file_inputs.h"

static pcal_status check_files(const file_inputs *files, pc_checked_inputs *out,
                               pcal_error *err) {
  static file_inputs_room room;
  file_inputs_fill(files, &room);
  pc_inputs_copy(&room.inputs, out);
  return pc_inputs_check(out, err);
}

static void expect_usage(file_inputs files, const char *sentence) {
  pc_checked_inputs plan;
  pcal_error err;
  assert_int_equal(check_files(&files, &plan, &err), PCAL_USAGE);
  assert_string_equal(err.message, sentence);
}

TEST(asks_for_exactly_one_kind_of_scores) {
  expect_usage((file_inputs){.labels = "y"},
               "there are no scores; give one of probs, logits, log_probs, confidence, "
               "mean, quantiles, samples or data");
  expect_usage((file_inputs){.probs = "a", .logits = "b"},
               "logits and probs are both given; give only one of them");
  expect_usage((file_inputs){.confidence = "a", .data = "b"},
               "confidence and data are both given; give only one of them");
}

TEST(asks_for_fitting_labels) {
  expect_usage((file_inputs){.probs = "a", .labels = "y", .correct = "c"},
               "labels and correct are both given; correct is for confidence, labels for "
               "all other scores");
  expect_usage((file_inputs){.confidence = "a", .labels = "y"},
               "confidence needs correct, 1 for each correct prediction and 0 for each "
               "wrong one; give it in place of labels");
  expect_usage((file_inputs){.logits = "a", .correct = "y"},
               "correct needs confidence; give labels in its place");
}

TEST(plans_each_kind) {
  pc_checked_inputs plan;
  const file_inputs inputs[] = {
      {.probs = "s", .labels = "y"},
      {.logits = "s", .labels = "y", .first_row = 7},
      {.log_probs = "s"},
      {.confidence = "s", .correct = "c"},
  };
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(check_files(&inputs[i], &plan, NULL), PCAL_OK);
    assert_string_equal(plan.items[plan.scores].file, "s");
    assert_int_equal(plan.kind, PCAL_PROBABILITY + i);
    assert_int_equal(plan.outcome, i == 2   ? PC_INPUT_COUNT
                                   : i == 3 ? PC_INPUT_CORRECT
                                            : PC_INPUT_LABELS);
    assert_int_equal(plan.inputs.first_row, i == 1 ? 7 : 0);
  }
}

TEST(reads_shorter_structs) {
  pc_checked_inputs plan;
  pcal_input scores = PCAL_INPUT_INIT;
  pcal_inputs inputs = {.probs = &scores, .weights = &scores, .data = &scores, .first_row = 9};
  inputs.size = offsetof(pcal_inputs, data);
  scores.size = offsetof(pcal_input, data);
  scores.file = "s";
  scores.stream = (struct ArrowArrayStream *)&scores; /* behind the end */
  pc_inputs_copy(&inputs, &plan);
  assert_int_equal(pc_inputs_check(&plan, NULL), PCAL_OK);
  assert_int_equal(plan.forms[PC_INPUT_WEIGHTS], PC_INPUT_NOT_GIVEN);
  assert_int_equal(plan.forms[PC_INPUT_DATA], PC_INPUT_NOT_GIVEN);
  assert_int_equal(plan.inputs.first_row, 0);
}

TEST(asks_for_one_form_of_each_input) {
  static const char *const names[] = {"a", NULL};
  struct ArrowArray array = {.length = 0};
  struct ArrowSchema schema = {.format = "f"};
  const struct {
    pcal_input input;
    const char *sentence;
  } wrong[] = {
      {{.file = "p.npy", .data = names},
       "probs: a file and a stream or an array are both given; give one"},
      {{.column_names = names, .column_name_count = 1},
       "probs: column_names choose columns of Arrow data; give Arrow data as data"},
      {{.data = names, .column_names = names, .column_name_count = 2},
       "probs: column name 1 is NULL"},
      {{.file = "p.npy", .files = names, .file_count = 1},
       "probs: file and files are both given; give one"},
      {{.files = names, .file_count = 2}, "probs: file 1 is NULL"},
      {{.file_count = 1}, "probs: file 0 is NULL"},
      {{.data = names, .column_name_count = 1}, "probs: column name 0 is NULL"},
      {{.array = &array}, "probs: the Arrow data were released before; give them anew"},
      {{.schema = &schema}, "probs: the Arrow data were released before; give them anew"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    pc_checked_inputs plan;
    pcal_error err;
    pcal_input probs = wrong[i].input;
    pcal_inputs inputs = PCAL_INPUTS_INIT;
    probs.size = sizeof probs;
    inputs.probs = &probs;
    pc_inputs_copy(&inputs, &plan);
    assert_int_equal(pc_inputs_check(&plan, &err), PCAL_USAGE);
    assert_string_equal(err.message, wrong[i].sentence);
  }
}

TEST(asks_for_levels_of_quantiles) {
  static const double levels[PCAL_LEVELS_MAX + 1] = {0.5};
  const struct {
    const double *levels;
    size_t count;
    int quantiles;
    const char *sentence;
  } wrong[] = {
      {levels, PCAL_LEVELS_MAX + 1, 1, "levels has more than 200 levels"},
      {NULL, 1, 1, "level_count is 1 but levels is NULL"},
      {levels, 1, 0, "levels needs quantiles; remove it"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    pc_checked_inputs plan;
    pcal_error err;
    pcal_input scores = PCAL_INPUT_INIT;
    pcal_inputs inputs = PCAL_INPUTS_INIT;
    scores.file = "s.npy";
    *(wrong[i].quantiles ? &inputs.quantiles : &inputs.probs) = &scores;
    inputs.levels = wrong[i].levels;
    inputs.level_count = wrong[i].count;
    pc_inputs_copy(&inputs, &plan);
    assert_int_equal(pc_inputs_check(&plan, &err), PCAL_USAGE);
    assert_string_equal(err.message, wrong[i].sentence);
  }
}

TEST(asks_for_one_outcome) {
  for (int correct = 0; correct < 2; correct++) {
    pc_checked_inputs plan;
    pcal_error err;
    pcal_input input = PCAL_INPUT_INIT;
    pcal_inputs inputs = PCAL_INPUTS_INIT;
    input.file = "s.npy";
    inputs.probs = inputs.target = &input;
    *(correct ? &inputs.correct : &inputs.labels) = &input;
    pc_inputs_copy(&inputs, &plan);
    assert_int_equal(pc_inputs_check(&plan, &err), PCAL_USAGE);
    assert_string_equal(
        err.message, correct ? "target and correct are both given; target is for predictions "
                               "of a number, the other for scores of classes"
                             : "target and labels are both given; target is for predictions "
                               "of a number, the other for scores of classes");
  }
}

TEST(data_is_no_array) {
  pc_checked_inputs plan;
  pcal_error err;
  pcal_input data = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  data.data = &data;
  inputs.data = &data;
  pc_inputs_copy(&inputs, &plan);
  assert_int_equal(pc_inputs_check(&plan, &err), PCAL_USAGE);
  assert_string_equal(err.message,
                      "data is a file or Arrow data; give an array by the name of its content");
}
