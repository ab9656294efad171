/* Each part of a source with as many rows as the scores, one fewer and one more. */
#include "file_inputs.h"
#include "io/source.h"
#include "io_help.h"

/* Reads all rows, two at a time. */
static pcal_status parts_read(const file_inputs *files, const char *abstain, pcal_error *err) {
  file_inputs_room room;
  pcal_input answers = PCAL_INPUT_INIT;
  pcal_source *source = NULL;
  pcal_batch batch = PCAL_BATCH_INIT;
  file_inputs_fill(files, &room);
  answers.file = abstain;
  if (abstain != NULL)
    room.inputs.abstain = &answers;
  pcal_status status = pcal_source_open(&room.inputs, NULL, &source, err);
  if (status == PCAL_OK)
    pc_source_allow_soft(source);
  do {
    if (status == PCAL_OK)
      status = pc_source_next(source, 2, &batch, err);
  } while (status == PCAL_OK && batch.rows > 0);
  pc_source_free(source);
  return status;
}

/* The files of one case: `part` is what the letter says, `from` has the scores. */
static file_inputs parts_choose(char what, const char *part, const char *from) {
  const char *zeros = help_text("zeros.csv", "0\n0\n0\n");
  const char *ones = help_text("ones.csv", "1\n1\n1\n");
  const int sure = what == 'c' || what == 'a', number = what == 't' || what == 'd';
  const int classes = !sure && !number;
  return (file_inputs){.header = PCAL_HEADER_NO,
                       .probs = classes ? from : NULL,
                       .confidence = sure ? from : NULL,
                       .mean = number ? from : NULL,
                       .labels = what == 'l' ? part
                                 : classes   ? zeros
                                             : NULL,
                       .weights = what == 'w' ? part : NULL,
                       .groups = what == 'g' ? part : NULL,
                       .ids = what == 'i' ? part : NULL,
                       .correct = what == 'c' ? part
                                  : sure      ? zeros
                                              : NULL,
                       .target = what == 't' ? part
                                 : number    ? zeros
                                             : NULL,
                       .std = what == 'd' ? part
                              : number    ? ones
                                          : NULL};
}

static void parts_check(char what, int rows, const char *part, const char *from) {
  const file_inputs files = parts_choose(what, part, from);
  char expected[700];
  pcal_error err;
  const pcal_status status = parts_read(&files, what == 'a' ? part : NULL, &err);
  if (rows == 3 && status != PCAL_OK)
    fail_msg("%c: %s", what, err.message);
  if (rows == 3)
    return;
  snprintf(expected, sizeof expected,
           "%s has %d rows but %s has more; both must describe the same rows",
           rows == 2 ? part : from, rows == 2 ? 2 : 3, rows == 2 ? from : part);
  assert_int_equal(status, PCAL_DATA);
  assert_string_equal(err.message, expected);
}

/* Each part with as many rows as the scores, one fewer and one more. */
TEST(every_part_ends_with_the_scores) {
  static const struct {
    const char *scores, *part; /* a line of each */
    char what;
  } cases[] = {{"0.25,0.75\n", "0\n", 'l'},   {"0.25,0.75\n", "0.5,0.5\n", 'l'},
               {"0.25,0.75\n", "0,1\n", 'l'}, {"0.25,0.75\n", "1.5\n", 'w'},
               {"0.25,0.75\n", "x\n", 'g'},   {"0.25,0.75\n", "7\n", 'i'},
               {"0.5\n", "1\n", 'c'},         {"0.5\n", "0\n", 'a'},
               {"0.5\n", "1.5\n", 't'},       {"0.5\n", "2.5\n", 'd'}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int rows = 2; rows <= 4; rows++) {
      char text[200] = "", scores[200] = "";
      for (int i = 0; i < 3; i++)
        strcat(scores, cases[c].scores);
      for (int i = 0; i < rows; i++)
        strcat(text, cases[c].part);
      parts_check(cases[c].what, rows, help_text("part.csv", text),
                  help_text("scores.csv", scores));
    }
}

TEST_GROUP(help_setup, help_teardown)
