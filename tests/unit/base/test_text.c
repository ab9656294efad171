#include "base/text.h"

#include "../unit.h"

TEST(collects_pieces) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pc_text text;
  pc_text_init(&text, &env);
  assert_int_equal(text.length, 0);
  pc_text_add(&text, "");
  assert_string_equal(text.bytes, "");
  pc_text_add(&text, "a");
  pc_text_add_bytes(&text, "bcd", 2);
  pc_text_add_repeated(&text, '-', 3);
  assert_string_equal(text.bytes, "abc---");
  pc_text_add_repeated(&text, '!', 0);
  pc_text_format(&text, "[%s %d]", "x", -7);
  pc_text_format(&text, "%s", "");
  assert_string_equal(text.bytes, "abc---[x -7]");
  assert_int_equal(text.length, 12);
  pc_text_add_bytes(&text, "\0z", 2);
  assert_int_equal(text.length, 14);
  assert_memory_equal(text.bytes, "abc---[x -7]\0z", 15);
  assert_int_equal(pc_text_status(&text, NULL), PCAL_OK);
  pc_text_free(&text);
  assert_int_equal(text.length, 0);
  assert_null(text.bytes);
  pc_text_free(&text);
  assert_int_equal(atomic_load(&memory.live), 0);
}

TEST(writes_shortest_numbers) {
  const pcal_env env = pc_env_resolve(NULL);
  static const struct {
    double value;
    const char *text;
  } cases[] = {{0.1, "0.1"},       {0.1 + 0.2, "0.30000000000000004"},
               {-12, "-12"},       {1e-7, "1e-07"},
               {5e-324, "5e-324"}, {1.7976931348623157e308, "1.7976931348623157e+308"},
               {INFINITY, "inf"}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    pc_text text;
    pc_text_init(&text, &env);
    pc_text_number(&text, cases[i].value);
    assert_string_equal(text.bytes, cases[i].text);
    pc_text_free(&text);
  }
}

TEST(grows_without_losing_a_byte) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pc_text text;
  pc_text_init(&text, &env);
  for (unsigned i = 0; i < 5000; i++)
    pc_text_format(&text, "%05u", i);
  assert_int_equal(text.length, 25000);
  for (unsigned i = 0; i < 5000; i++) {
    char digits[6];
    memcpy(digits, text.bytes + (size_t)5 * i, 5);
    digits[5] = '\0';
    assert_int_equal(strtoul(digits, NULL, 10), i);
  }
  assert_true(atomic_load(&memory.calls) < 40);
  pc_text_free(&text);
  assert_int_equal(atomic_load(&memory.live), 0);
}

TEST(stays_failed) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pcal_error err;
  pc_text text;
  pc_text_init(&text, &env);
  pc_text_add(&text, "kept");
  atomic_store(&memory.fail_at, 2);
  pc_text_add_repeated(&text, 'x', 1000);
  pc_text_add(&text, "y");
  pc_text_add_repeated(&text, 'y', 1);
  pc_text_format(&text, "%d", 1);
  pc_text_number(&text, 1);
  assert_int_equal(text.length, 4);
  assert_string_equal(text.bytes, "kept");
  assert_int_equal(atomic_load(&memory.calls), 2);
  assert_int_equal(pc_text_status(&text, &err), PCAL_MEMORY);
  assert_sentence(
      err, PCAL_MEMORY,
      "out of memory while writing text; give fewer rows or metrics, or more memory");
  pc_text_free(&text);
  assert_int_equal(atomic_load(&memory.live), 0);
}

typedef struct sink_log {
  char bytes[32];
  size_t length;
  int calls, answer;
} sink_log;

static int log_bytes(void *user, const char *bytes, size_t count) {
  sink_log *log = user;
  memcpy(log->bytes, bytes, count);
  log->length = count;
  log->calls++;
  return log->answer;
}

TEST(sends_to_a_sink) {
  const pcal_env env = pc_env_resolve(NULL);
  sink_log log = {.answer = 0};
  pcal_error err;
  pc_text text;
  pc_text_init(&text, &env);
  assert_int_equal(pc_text_send(&text, log_bytes, &log, &err), PCAL_OK);
  assert_int_equal(log.calls, 0);
  pc_text_add(&text, "h");
  assert_int_equal(pc_text_send(&text, log_bytes, &log, &err), PCAL_OK);
  assert_int_equal(log.length, 1);
  pc_text_add(&text, "ello");
  assert_int_equal(pc_text_send(&text, log_bytes, &log, &err), PCAL_OK);
  assert_int_equal(log.calls, 2);
  assert_int_equal(log.length, 5);
  assert_memory_equal(log.bytes, "hello", 5);
  log.answer = 1;
  assert_int_equal(pc_text_send(&text, log_bytes, &log, &err), PCAL_IO);
  assert_sentence(err, PCAL_IO, "the output could not be written");
  text.failed = 1;
  assert_int_equal(pc_text_send(&text, log_bytes, &log, &err), PCAL_MEMORY);
  assert_int_equal(log.calls, 3);
  pc_text_free(&text);
}

TEST(counts_columns) {
  assert_int_equal(pc_text_width(""), 0);
  assert_int_equal(pc_text_width("abc"), 3);
  assert_int_equal(pc_text_width("h\xC3\xA9t\xC3\xA9"), 4);
  assert_int_equal(pc_text_width("\xE2\x89\xA4 \xF0\x9F\x98\x80"), 3);
}

static const char *next_word(void *user, size_t i) {
  return ((const char *const *)user)[i];
}

static const char *nearest(const char *word, const char **candidates) {
  return pc_nearest_word(word, next_word, candidates);
}

TEST(finds_typing_errors) {
  const char *names[] = {"bins", "binning", "norm", "debias", "edges", NULL};
  assert_string_equal(nearest("bin", names), "bins");
  assert_string_equal(nearest("bnis", names), "bins");
  assert_string_equal(nearest("norn", names), "norm");
  assert_string_equal(nearest("nrom", names), "norm");
  assert_string_equal(nearest("debiased", names), "debias");
  assert_string_equal(nearest("egdes", names), "edges");
  assert_string_equal(nearest("edges", names), "edges");
  assert_null(nearest("convention", names));
  assert_null(nearest("", names));
  const char *none[] = {NULL};
  assert_null(nearest("bins", none));
}

TEST(measures_distance_exactly) {
  const char *four[] = {"abcdXXXXi", NULL}, *five[] = {"abcXXXXXi", NULL};
  assert_string_equal(nearest("abcdefghi", four), "abcdXXXXi");
  assert_null(nearest("abcdefghi", five));
  const char *swapped[] = {"ba", NULL}, *changed[] = {"ac", NULL}, *both[] = {"cd", NULL};
  assert_string_equal(nearest("ab", swapped), "ba");
  assert_string_equal(nearest("ab", changed), "ac");
  assert_null(nearest("ab", both));
  const char *in_front[] = {"xab", NULL}, *behind[] = {"abx", NULL};
  assert_string_equal(nearest("ab", in_front), "xab");
  assert_string_equal(nearest("ab", behind), "abx");
  const char *two_swaps[] = {"badc", NULL}, *shorter[] = {"ad", NULL}, *much[] = {"a", NULL};
  assert_string_equal(nearest("abcd", two_swaps), "badc");
  assert_string_equal(nearest("abcd", shorter), "ad");
  assert_null(nearest("abcd", much));
  const char *closer_later[] = {"abXY", "abcX", NULL}, *equally[] = {"abcX", "abXd", NULL};
  assert_string_equal(nearest("abcd", closer_later), "abcX");
  assert_string_equal(nearest("abcd", equally), "abcX");
}

TEST(is_strict_with_short_words) {
  const char *names[] = {"log", "a", "ece", NULL};
  assert_null(nearest("foo", names));
  assert_null(nearest("x", names));
  assert_string_equal(nearest("lgo", names), "log");
  assert_string_equal(nearest("fog", names), "log");
  const char *two_off[] = {"abXX", NULL};
  assert_string_equal(nearest("abcd", two_off), "abXX");
}

TEST(ignores_capitals) {
  const char *names[] = {"brier", "ece", "a", "Temperature", NULL};
  assert_string_equal(nearest("ECE", names), "ece");
  assert_string_equal(nearest("A", names), "a");
  assert_string_equal(nearest("RBier", names), "brier");
  assert_string_equal(nearest("tEMP", names), "Temperature");
  const char *beyond[] = {"[@`{", NULL};
  assert_null(nearest("{`@[", beyond));
}

TEST(takes_beginnings_for_abbreviations) {
  const char *names[] = {"temperature", "torchmetrics", NULL};
  assert_string_equal(nearest("tor", names), "torchmetrics");
  assert_null(nearest("to", names));
  const char *farther_first[] = {"tXX", "torchmetrics", NULL};
  assert_string_equal(nearest("tor", farther_first), "torchmetrics");
  const char *tie[] = {"torx", "torchmetrics", NULL};
  assert_string_equal(nearest("torc", tie), "torx");
}

TEST(leaves_very_long_words_alone) {
  char word[50], candidate[50];
  memset(word, 'a', 49);
  memset(candidate, 'a', 49);
  word[49] = candidate[49] = '\0';
  const char *names[] = {candidate, NULL};
  candidate[0] = 'b';
  assert_null(nearest(word, names));
  word[48] = '\0';
  assert_null(nearest(word, names));
  candidate[48] = '\0';
  assert_ptr_equal(nearest(word, names), candidate);
}
