#include "io/source.h"

#include <fcntl.h>

#include "file_inputs.h"
#include "zip_help.h"

static pcal_source *source_open(file_inputs inputs) {
  pcal_source *source = NULL;
  pcal_error err;
  if (file_inputs_open(&inputs, NULL, &source, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return source;
}

static pcal_batch source_next(pcal_source *source, size_t max_rows) {
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_error err;
  if (pc_source_next(source, max_rows, &batch, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return batch;
}

static void expect_refused(file_inputs inputs, pcal_status wanted, const char *sentence) {
  help_counter counter = {0};
  const pcal_env env = help_env(&counter);
  pcal_source *source = NULL;
  pcal_error err;
  const size_t descriptors = help_count_descriptors();
  pcal_status status = file_inputs_open(&inputs, &env, &source, &err);
  pcal_batch batch = PCAL_BATCH_INIT;
  do {
    if (status == PCAL_OK)
      status = pc_source_next(source, 2, &batch, &err);
  } while (status == PCAL_OK && batch.rows > 0);
  pc_source_free(source);
  assert_int_equal(status, wanted);
  assert_message(err, sentence);
  assert_int_equal(counter.live, 0);
  assert_int_equal(help_count_descriptors(), descriptors);
}

TEST(gives_npy_rows_without_copying) {
  const float scores[] = {1, 2, 3, 4, 5, 6};
  const int32_t labels[] = {1, 0, 1};
  const char *s = help_npy_file("l.npy", "=f4", "(3, 2)", scores, sizeof scores);
  const char *y = help_npy_file("y.npy", "=i4", "(3,)", labels, sizeof labels);
  pcal_source *source = source_open((file_inputs){.logits = s, .labels = y, .first_row = 100});
  pcal_shape shape;
  pc_source_shape(source, &shape);
  assert_int_equal(shape.size, sizeof shape);
  assert_int_equal(shape.kind, PCAL_LOGIT);
  assert_int_equal(shape.type, PCAL_F32);
  assert_int_equal(shape.row_count, 3);
  assert_int_equal(shape.columns, 2);
  assert_int_equal(shape.labelled, 1);
  assert_int_equal(shape.weighted, 0);
  assert_int_equal(shape.grouped, 0);
  assert_null(shape.class_names);
  for (int pass = 0; pass < 2; pass++) {
    pcal_batch batch = source_next(source, 2);
    assert_int_equal(batch.size, sizeof batch);
    assert_int_equal(batch.kind, PCAL_LOGIT);
    assert_int_equal(batch.type, PCAL_F32);
    assert_int_equal(batch.rows, 2);
    assert_int_equal(batch.columns, 2);
    assert_int_equal(batch.row_stride, 8);
    assert_int_equal(batch.column_stride, 4);
    assert_int_equal(batch.first_row, 100);
    assert_memory_equal(batch.scores, scores, 16);
    assert_memory_equal(batch.labels, labels, 8);
    assert_null(batch.weights);
    assert_null(batch.groups);
    assert_string_equal(batch.scores_name, s);
    assert_string_equal(batch.labels_name, y);
    assert_null(batch.weights_name);
    batch = source_next(source, 2);
    assert_int_equal(batch.rows, 1);
    assert_int_equal(batch.first_row, 102);
    assert_memory_equal(batch.scores, scores + 4, 8);
    assert_int_equal(batch.labels[0], 1);
    assert_int_equal(source_next(source, 2).rows, 0);
    assert_int_equal(source_next(source, 2).rows, 0);
    assert_int_equal(pc_source_rewind(source, NULL), PCAL_OK);
  }
  assert_int_equal(source_next(source, SIZE_MAX).rows, 3);
  pc_source_free(source);
}

TEST(reads_one_csv_for_everything) {
  const char *path = help_text("d.csv", "y,cat,dog,w,g\n"
                                        "dog,0.25,0.75,2,west\n"
                                        "cat,0.5,0.5,1,east\n"
                                        "1,1,0,NA,west\n");
  char scores[300], labels[300], weights[300], groups[300];
  snprintf(scores, sizeof scores, "%s:cat..dog", path);
  snprintf(labels, sizeof labels, "%s:y", path);
  snprintf(weights, sizeof weights, "%s:w", path);
  snprintf(groups, sizeof groups, "%s:4", path);
  pcal_source *source = source_open(
      (file_inputs){.probs = scores, .labels = labels, .weights = weights, .groups = groups});
  pcal_shape shape;
  pc_source_shape(source, &shape);
  assert_true(shape.row_count == PCAL_NO_ROW);
  assert_int_equal(shape.type, PCAL_F64);
  assert_string_equal(shape.class_names[0], "cat");
  assert_string_equal(shape.class_names[1], "dog");
  assert_true(shape.weighted && shape.grouped && shape.labelled);
  for (size_t step = 1; step < 5; step++) {
    const double p[] = {0.25, 0.75, 0.5, 0.5, 1, 0}, w[] = {2, 1};
    const int32_t y[] = {1, 0, 1};
    const uint32_t g[] = {0, 1, 0};
    size_t row = 0;
    pcal_batch batch;
    while ((batch = source_next(source, step)).rows > 0) {
      assert_memory_equal(batch.scores, p + 2 * row, batch.rows * 16);
      assert_memory_equal(batch.labels, y + row, batch.rows * 4);
      assert_memory_equal(batch.groups, g + row, batch.rows * 4);
      for (size_t i = 0; i < batch.rows; i++)
        assert_true(row + i == 2 ? batch.weights[i] != batch.weights[i]
                                 : batch.weights[i] == w[row + i]);
      assert_string_equal(batch.groups_name, path);
      row += batch.rows;
    }
    assert_int_equal(row, 3);
    assert_int_equal(pc_source_rewind(source, NULL), PCAL_OK);
  }
  pc_source_shape(source, &shape);
  assert_int_equal(shape.row_count, 3);
  assert_int_equal(shape.group_count, 2);
  assert_string_equal(shape.group_names[0], "west");
  assert_string_equal(shape.group_names[1], "east");
  pc_source_free(source);
}

TEST(reads_a_data_file) {
  const char *path = help_text("data.csv", "id,labels,logits.no,logits.yes,groups,weights\n"
                                           "a,yes,0,2,x,1\n"
                                           "b,no,1,0,y,3\n");
  pcal_source *source = source_open((file_inputs){.data = path});
  pcal_shape shape;
  pc_source_shape(source, &shape);
  assert_int_equal(shape.kind, PCAL_LOGIT);
  assert_int_equal(shape.columns, 2);
  assert_string_equal(shape.class_names[0], "no");
  assert_string_equal(shape.class_names[1], "yes");
  pcal_batch batch = source_next(source, 10);
  assert_int_equal(batch.rows, 2);
  assert_memory_equal(batch.scores, ((double[]){0, 2, 1, 0}), 32);
  assert_memory_equal(batch.labels, ((int32_t[]){1, 0}), 8);
  assert_memory_equal(batch.weights, ((double[]){1, 3}), 16);
  assert_memory_equal(batch.groups, ((uint32_t[]){0, 1}), 8);
  assert_string_equal(batch.labels_name, path);
  pc_source_free(source);
  const char *w = help_text("w.csv", "5\n6\n");
  source = source_open((file_inputs){.data = path, .weights = w});
  batch = source_next(source, 10);
  assert_memory_equal(batch.weights, ((double[]){5, 6}), 16);
  assert_string_equal(batch.weights_name, w);
  pc_source_free(source);
}

/* logits (2 x 2), labels, weights and groups, stored or deflated. */
static const char *source_npz(const char *name, int deflated, size_t label_count) {
  const double logits[] = {0, 2, 1, 0}, weights[] = {1, 3};
  const int64_t labels[] = {1, 0, 1};
  const uint8_t groups[] = {7, 9};
  char shape[16];
  snprintf(shape, sizeof shape, "(%zu,)", label_count);
  const help_npy arrays[] = {
      help_npy_make(1, "=f8", 0, "(2, 2)", logits, sizeof logits),
      help_npy_make(1, "=i8", 0, shape, labels, label_count * sizeof *labels),
      help_npy_make(1, "=f8", 0, "(2,)", weights, sizeof weights),
      help_npy_make(1, "|u1", 0, "(2,)", groups, sizeof groups),
  };
  const char *const names[] = {"logits.npy", "labels.npy", "weights.npy", "groups.npy"};
  help_member members[4];
  for (size_t i = 0; i < 4; i++)
    members[i] =
        (help_member){names[i], arrays[i].bytes, arrays[i].length, deflated, deflated, 0};
  const help_zip zip = help_zip_make(members, 4, 0, "");
  const char *path = help_file(name, zip.bytes, zip.length);
  free(zip.bytes);
  for (size_t i = 0; i < 4; i++)
    free(arrays[i].bytes);
  return path;
}

static const char *source_jsonl(void) {
  return help_text("data.jsonl",
                   "{\"id\":1,\"logits\":[0,2],\"labels\":1,\"weights\":1,\"groups\":\"7\"}\n"
                   "{\"id\":2,\"logits\":[1,0],\"labels\":0,\"weights\":3,\"groups\":\"9\"}\n");
}

TEST(reads_containers) {
  const char *const paths[] = {source_npz("stored.npz", 0, 2), source_npz("packed.npz", 1, 2),
                               source_jsonl()};
  for (size_t i = 0; i < 3; i++) {
    pcal_source *source = source_open((file_inputs){.data = paths[i]});
    pcal_shape shape;
    pcal_batch batch = source_next(source, 10);
    pc_source_shape(source, &shape);
    assert_int_equal(shape.kind, PCAL_LOGIT);
    assert_int_equal(shape.row_count, 2);
    assert_null(shape.class_names);
    assert_string_equal(shape.group_names[1], "9");
    assert_int_equal(batch.rows, 2);
    assert_memory_equal(batch.scores, ((double[]){0, 2, 1, 0}), 32);
    assert_memory_equal(batch.labels, ((int32_t[]){1, 0}), 8);
    assert_memory_equal(batch.weights, ((double[]){1, 3}), 16);
    assert_memory_equal(batch.groups, ((uint32_t[]){0, 1}), 8);
    char name[300];
    snprintf(name, sizeof name, "%s:labels", paths[i]);
    assert_string_equal(batch.labels_name, name);
    pc_source_free(source);
    char logits[300];
    snprintf(logits, sizeof logits, "%s:logits", paths[i]);
    source = source_open((file_inputs){.logits = logits, .labels = name});
    batch = source_next(source, 1);
    assert_int_equal(batch.rows, 1);
    assert_int_equal(batch.labels[0], 1);
    assert_null(batch.weights);
    pc_source_free(source);
  }
}

TEST(refuses_containers_that_do_not_fit) {
  const char *path = source_npz("short.npz", 0, 3);
  char text[300], wanted[700];
  snprintf(wanted, sizeof wanted,
           "%s:logits has 2 rows but %s:labels has 3; both must describe the same rows", path,
           path);
  expect_refused((file_inputs){.data = path}, PCAL_DATA, wanted);
  snprintf(text, sizeof text, "%s:logits", path);
  expect_refused((file_inputs){.data = text}, PCAL_USAGE,
                 "short.npz by name; remove the selector");
  expect_refused((file_inputs){.logits = text, .weights = text}, PCAL_DATA,
                 "short.npz:logits has 2 columns, but weights need one; save the right one "
                 "under its own name");
  const char *hot = help_text("hot.jsonl", "{\"probs\":[0.5,0.5],\"labels\":[1,0,0]}\n");
  expect_refused((file_inputs){.data = hot}, PCAL_DATA, "hot.jsonl:labels has 3 columns, but ");
  const char *correct = help_text("k.jsonl", "{\"probs\":[0.5,0.5],\"correct\":1}\n");
  expect_refused((file_inputs){.data = correct, .correct = correct}, PCAL_USAGE,
                 "k.jsonl:probs contains scores of classes, which need labels");
}

TEST(reads_confidences) {
  const char *path = help_text("c.csv", "correct,confidence\nTrue,0.75\nFalse,0.5\n");
  pcal_source *source = source_open((file_inputs){.data = path});
  pcal_batch batch = source_next(source, 10);
  assert_int_equal(batch.kind, PCAL_CONFIDENCE);
  assert_int_equal(batch.columns, 1);
  assert_memory_equal(batch.scores, ((double[]){0.75, 0.5}), 16);
  assert_memory_equal(batch.labels, ((int32_t[]){1, 0}), 8);
  pc_source_free(source);
  const char *c = help_npy_file("c.npy", "<f2", "(2,)", "\x00\x38\x00\x3A", 4);
  const char *y = help_npy_file("k.npy", "|b1", "(2,)", "\x01\x00", 2);
  source = source_open((file_inputs){.confidence = c, .correct = y});
  batch = source_next(source, 10);
  assert_int_equal(batch.type, PCAL_F32);
  assert_memory_equal(batch.scores, ((float[]){0.5f, 0.75f}), 8);
  assert_memory_equal(batch.labels, ((int32_t[]){1, 0}), 8);
  pc_source_free(source);
}

TEST(works_without_labels) {
  pcal_source *source =
      source_open((file_inputs){.probs = help_text("p.csv", "a\n0.5\n0.25\n")});
  pcal_shape shape;
  pc_source_shape(source, &shape);
  assert_int_equal(shape.labelled, 0);
  assert_int_equal(shape.columns, 1);
  assert_null(shape.class_names);
  const pcal_batch batch = source_next(source, 10);
  assert_int_equal(batch.rows, 2);
  assert_null(batch.labels);
  assert_null(batch.labels_name);
  pc_source_free(source);
}

TEST(takes_one_hot_labels) {
  const char *p = help_text("p2.csv", "a,b\n0.5,0.5\n0.25,0.75\n");
  const char *b = help_text("p1.csv", "0.5\n0.25\n");
  const char *y = help_npy_file("onehot.npy", "|u1", "(2, 2)", "\x00\x01\x01\x00", 4);
  for (int i = 0; i < 2; i++) {
    pcal_source *source = source_open((file_inputs){.probs = i == 0 ? p : b, .labels = y});
    assert_memory_equal(source_next(source, 10).labels, ((int32_t[]){1, 0}), 8);
    pc_source_free(source);
  }
}

/* The same pipe serves scores and labels. */
TEST(shares_standard_input) {
  int ends[2];
  const int kept = dup(STDIN_FILENO);
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], "p,y\n0.5,1\n0.25,0\n", 17), 17);
  close(ends[1]);
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  pcal_source *source = source_open((file_inputs){.probs = "-:p", .labels = "-:1"});
  dup2(kept, STDIN_FILENO);
  close(kept);
  for (int pass = 0; pass < 2; pass++) {
    const pcal_batch batch = source_next(source, 10);
    assert_int_equal(batch.rows, 2);
    assert_memory_equal(batch.scores, ((double[]){0.5, 0.25}), 16);
    assert_memory_equal(batch.labels, ((int32_t[]){1, 0}), 8);
    assert_string_equal(batch.scores_name, "standard input");
    assert_int_equal(pc_source_rewind(source, NULL), PCAL_OK);
  }
  pc_source_free(source);
}

TEST(keeps_windows_of_different_limits_together) {
  const size_t rows = 300000;
  double *scores = malloc(rows * sizeof *scores);
  uint8_t *labels = malloc(rows);
  char *groups = malloc(rows * 8 + 8);
  size_t used = (size_t)snprintf(groups, 9, "g\n");
  for (size_t i = 0; i < rows; i++) {
    scores[i] = (double)i;
    labels[i] = (uint8_t)(i % 2);
    used += (size_t)snprintf(groups + used, 9, "g%zu\n", i % 7);
  }
  const char *s = help_npy_file("ws.npy", "=f8", "(300000,)", scores, rows * sizeof *scores);
  const char *y = help_npy_file("wy.npy", "|u1", "(300000,)", labels, rows);
  const char *w = help_npy_file("ww.npy", "=f8", "(300000,)", scores, rows * sizeof *scores);
  const char *g = help_file("wg.csv", groups, used);
  pcal_source *source =
      source_open((file_inputs){.logits = s, .labels = y, .weights = w, .groups = g});
  size_t row = 0;
  pcal_batch batch;
  while ((batch = source_next(source, SIZE_MAX)).rows > 0) {
    assert_int_equal(batch.first_row, row);
    for (size_t i = 0; i < batch.rows; i++, row++)
      if (((const double *)batch.scores)[i] != (double)row || batch.weights[i] != (double)row ||
          batch.labels[i] != (int32_t)(row % 2) || batch.groups[i] != row % 7)
        fail_msg("row %zu", row);
  }
  assert_int_equal(row, rows);
  pc_source_free(source);
  free(scores);
  free(labels);
  free(groups);
}

TEST(refuses_different_lengths) {
  const float three[] = {1, 2, 3};
  const char *a3 = help_npy_file("a3.npy", "=f4", "(3,)", three, 12);
  const char *y2 = help_npy_file("y2.npy", "|u1", "(2,)", "\x00\x01", 2);
  const char *c2 = help_text("c2.csv", "y\n0\n1\n");
  const char *c4 = help_text("c4.csv", "0\n1\n0\n1\n");
  const char *c3 = help_text("c3.csv", "0.5\n0.5\n0.5\n");
  expect_refused((file_inputs){.logits = a3, .labels = y2}, PCAL_DATA,
                 "a3.npy has 3 rows but ");
  expect_refused((file_inputs){.logits = a3, .labels = y2}, PCAL_DATA,
                 "y2.npy has 2; both must describe the same rows");
  expect_refused((file_inputs){.logits = a3, .labels = c2}, PCAL_DATA,
                 "c2.csv has 2 rows after its header but ");
  expect_refused((file_inputs){.logits = a3, .labels = c2}, PCAL_DATA,
                 "a3.npy has more; both must describe the same rows");
  expect_refused((file_inputs){.logits = a3, .labels = c4}, PCAL_DATA,
                 "a3.npy has 3 rows but ");
  expect_refused((file_inputs){.logits = a3, .labels = c4}, PCAL_DATA, "c4.csv has more;");
  expect_refused((file_inputs){.probs = c3, .labels = c4}, PCAL_DATA, "c3.csv has 3 rows but ");
  expect_refused((file_inputs){.probs = c3, .weights = c4}, PCAL_DATA, "c4.csv has more;");
  expect_refused((file_inputs){.probs = c3, .groups = c4}, PCAL_DATA, "c4.csv has more;");
  expect_refused((file_inputs){.probs = c3, .weights = y2}, PCAL_DATA,
                 "y2.npy has 2 rows but ");
}

TEST(refuses_columns_that_do_not_fit) {
  const char *p = help_text("two.csv", "a,b\n0.5,0.5\n");
  const char *y = help_text("three.csv", "x,y,z\n0,1,0\n");
  const char *one = help_text("one.csv", "0\n");
  const char *five = help_text("five.csv", "a,b,c,d,e\n0,1,0,1,0\n");
  expect_refused((file_inputs){.probs = p, .labels = y}, PCAL_DATA,
                 "three.csv has 3 columns, but ");
  expect_refused((file_inputs){.probs = p, .labels = y}, PCAL_DATA,
                 "two.csv has 2 classes; give one-hot labels for each class, or choose one "
                 "column of class numbers as ");
  expect_refused((file_inputs){.probs = p, .weights = y}, PCAL_DATA,
                 "three.csv has 3 columns, but weights need one; choose it as ");
  expect_refused(
      (file_inputs){.probs = p, .groups = five}, PCAL_DATA,
      "five.csv has 5 columns, but groups are at most 4; choose them as FILE:COLUMN,");
  expect_refused((file_inputs){.confidence = p, .correct = one}, PCAL_DATA,
                 "two.csv has 2 columns, but confidences need one; choose it as ");
  expect_refused((file_inputs){.confidence = one, .correct = p}, PCAL_DATA,
                 "two.csv has 2 columns, but correct values need one; choose it as ");
}

TEST(refuses_bad_files_and_names) {
  const char *p = help_text("bad.csv", "a,b,a\n0.5,0.5,0\n");
  const char *y = help_text("names.csv", "y\na\n");
  const char *d = help_text("conf.csv", "confidence,correct\n0.5,1\n");
  const char *header_only = help_text("none.csv", "a,b\n");
  char chosen[300];
  snprintf(chosen, sizeof chosen, "%s:0,1", d);
  expect_refused((file_inputs){.probs = "/nowhere.npy"}, PCAL_IO,
                 "/nowhere.npy: there is no such file; check the name");
  expect_refused((file_inputs){.probs = help_directory}, PCAL_IO, "is a directory");
  expect_refused((file_inputs){.probs = help_text("e.npy", "")}, PCAL_DATA, "e.npy is empty");
  expect_refused((file_inputs){.probs = header_only}, PCAL_DATA,
                 "none.csv has a header but no rows");
  expect_refused((file_inputs){.probs = help_text("x.txt", "1\n")}, PCAL_USAGE,
                 "x.txt: the format .txt is unknown");
  expect_refused((file_inputs){.probs = ""}, PCAL_USAGE,
                 "does not name a file; write FILE or FILE:COLUMNS");
  expect_refused((file_inputs){.probs = p, .labels = y}, PCAL_DATA,
                 "bad.csv has two score columns called \"a\"; rename one");
  expect_refused((file_inputs){.data = chosen}, PCAL_OK, "");
  snprintf(chosen, sizeof chosen, "%s:0", d);
  expect_refused((file_inputs){.data = chosen}, PCAL_USAGE, "remove the selector");
  expect_refused((file_inputs){.data = d, .labels = y}, PCAL_USAGE,
                 "conf.csv contains confidences, which need correct; give that in place of "
                 "labels");
  expect_refused((file_inputs){0}, PCAL_USAGE, "there are no scores");
}

/* PCAL_FIRST_ROW_AUTO: the same content has the same place, under any name. */
TEST(places_parts_by_their_content) {
  const char *const paths[] = {help_text("day1.csv", "0.5\n0.25\n"),
                               help_text("day2.csv", "0.5\n0.75\n"),
                               help_text("copy.csv", "0.5\n0.25\n")};
  uint64_t first[3];
  for (size_t i = 0; i < 3; i++) {
    pcal_source *source =
        source_open((file_inputs){.probs = paths[i], .first_row = PCAL_FIRST_ROW_AUTO});
    first[i] = source_next(source, 9).first_row;
    pc_source_free(source);
    assert_true(first[i] >= UINT64_C(1) << 62 && first[i] < UINT64_C(1) << 63);
  }
  assert_true(first[0] == first[2]);
  assert_true(first[0] > first[1] + 1000000 || first[1] > first[0] + 1000000);
}

TEST(refuses_row_numbers_that_wrap) {
  const char *p = help_text("wrap.csv", "0.5\n0.5\n");
  const double two[2] = {0.5, 0.5};
  const char *n = help_npy_file("wrap.npy", "=f8", "(2,)", two, sizeof two);
  expect_refused((file_inputs){.probs = n, .first_row = UINT64_MAX - 3}, PCAL_OK, "");
  expect_refused((file_inputs){.probs = p, .first_row = UINT64_MAX - 3}, PCAL_OK, "");
  expect_refused((file_inputs){.probs = n, .first_row = UINT64_MAX - 2}, PCAL_USAGE,
                 "wrap.npy: rows counted from first_row = 18446744073709551613 on run past the "
                 "largest index; give a smaller first_row");
  expect_refused((file_inputs){.probs = p, .first_row = UINT64_MAX - 1}, PCAL_USAGE,
                 "wrap.csv: rows counted from first_row = 18446744073709551614 on run past");
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_source *source = NULL;
  batch.kind = PCAL_PROBABILITY;
  batch.type = PCAL_F64;
  batch.rows = 2;
  batch.columns = 1;
  batch.scores = two;
  batch.row_stride = sizeof(double);
  batch.column_stride = sizeof(double);
  batch.first_row = UINT64_MAX - 2;
  assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &source, NULL), PCAL_USAGE);
  assert_null(source);
}

TEST(obeys_the_declared_header) {
  const char *p = help_text("pair.csv", "0,1\n0.5,0.5\n");
  pcal_batch batch = PCAL_BATCH_INIT;
  expect_refused((file_inputs){.probs = p}, PCAL_DATA,
                 "header = PCAL_HEADER_YES or header = PCAL_HEADER_NO");
  expect_refused((file_inputs){.probs = p, .header = (pcal_header)3}, PCAL_USAGE,
                 "header 3 is unknown; take one of pcal_header");
  for (int header = 1; header <= 2; header++) {
    pcal_source *source = source_open((file_inputs){.probs = p, .header = (pcal_header)header});
    assert_int_equal(pc_source_next(source, 9, &batch, NULL), PCAL_OK);
    assert_int_equal(batch.rows, header);
    pc_source_free(source);
  }
}

TEST(finds_columns_between_semicolons) {
  const char *p = help_text("semi.csv", "cat;dog;label\n0,25;0,75;0\n");
  char scores[300], labels[300];
  pcal_batch batch = PCAL_BATCH_INIT;
  snprintf(scores, sizeof scores, "%s:cat..dog", p);
  snprintf(labels, sizeof labels, "%s:label", p);
  pcal_source *source = source_open((file_inputs){.probs = scores, .labels = labels});
  assert_int_equal(pc_source_next(source, 9, &batch, NULL), PCAL_OK);
  assert_int_equal(batch.rows, 1);
  assert_true(((const double *)batch.scores)[1] == 0.75);
  pc_source_free(source);
}

TEST(notices_files_that_shrink) {
  const float scores[] = {1, 2, 3, 4};
  for (int which = 0; which < 2; which++) {
    const char *s = help_npy_file("sh.npy", "=f4", "(4,)", scores, sizeof scores);
    const char *y = help_text("sh.csv", "0\n1\n0\n1\n");
    pcal_env env = help_plain_env();
    pcal_source *source = NULL;
    const file_inputs inputs = {.logits = s, .labels = y};
    env.map_files = 1;
    assert_int_equal(file_inputs_open(&inputs, &env, &source, NULL), PCAL_OK);
    pcal_batch batch = source_next(source, 2);
    pcal_error err;
    assert_int_equal(truncate(which == 0 ? s : y, 3), 0);
    assert_int_equal(pc_source_next(source, 2, &batch, &err), PCAL_IO);
    assert_message(err, which == 0 ? "sh.npy shrank from 144 to 3 bytes"
                                   : "sh.csv shrank from 8 to 3 bytes");
    assert_int_equal(pc_source_rewind(source, &err), PCAL_IO);
    assert_message(err, "while it was being read");
    pc_source_free(source);
  }
}

TEST(fills_a_shorter_batch) {
  pcal_source *source = source_open((file_inputs){.probs = help_text("short.csv", "0.5\n")});
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.size = offsetof(pcal_batch, first_row);
  batch.first_row = 77;
  assert_int_equal(pc_source_next(source, 5, &batch, NULL), PCAL_OK);
  assert_int_equal(batch.rows, 1);
  assert_int_equal(batch.size, offsetof(pcal_batch, first_row));
  assert_int_equal(batch.first_row, 77);
  pc_source_free(source);
}

static pcal_status source_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pcal_source *source = NULL;
  pcal_batch batch = PCAL_BATCH_INIT;
  PC_TRY(file_inputs_open(user, env, &source, err));
  pcal_status status = PCAL_OK;
  do
    status = pc_source_next(source, 1, &batch, err);
  while (status == PCAL_OK && batch.rows > 0);
  pc_source_free(source);
  return status;
}

TEST(survives_every_failed_allocation) {
  const char *data = help_text("all.csv", "labels,probs.a,probs.b,weights,groups\n"
                                          "a,0.5,0.5,1,\"x\"\"y\"\n"
                                          "b,0.25,0.75,2,z\n");
  const char *s = help_npy_file("fs.npy", "=f2", "(2,)", "\x00\x38\x00\x38", 4);
  const char *y = help_npy_file("fy.npy", ">i2", "(2,)", "\x00\x01\x00\x00", 4);
  const char *t = help_text("f.tsv", "w\tg\n1\tp\n2\tq\n");
  char weights[300], groups[300];
  snprintf(weights, sizeof weights, "%s:w", t);
  snprintf(groups, sizeof groups, "%s:g", t);
  file_inputs one = {.data = data};
  file_inputs many = {.probs = s, .labels = y, .weights = weights, .groups = groups};
  file_inputs mixed = {.data = data, .groups = y, .weights = s};
  help_fail_each_allocation(source_scenario, &one);
  help_fail_each_allocation(source_scenario, &many);
  help_fail_each_allocation(source_scenario, &mixed);
  file_inputs packed = {.data = source_npz("f.npz", 1, 2)};
  file_inputs lines = {.data = source_jsonl()};
  help_fail_each_allocation(source_scenario, &packed);
  help_fail_each_allocation(source_scenario, &lines);
}

TEST_GROUP(help_setup, help_teardown)
