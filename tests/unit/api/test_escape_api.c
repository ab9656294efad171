#include "../unit.h"

typedef struct kept_bytes {
  char text[64];
  size_t used;
  int refuses;
} kept_bytes;

static int kept_sink(void *user, const char *bytes, size_t count) {
  kept_bytes *kept = user;
  memcpy(kept->text + kept->used, bytes, count);
  kept->used += count;
  return kept->refuses;
}

static void check(pcal_destination destination, const char *expected) {
  kept_bytes kept = {.used = 0};
  pcal_error err;
  assert_int_equal(pcal_escape("=<\033\"", destination, kept_sink, &kept, &err), PCAL_OK);
  assert_string_equal(kept.text, expected);
}

TEST(knows_every_destination) {
  check(PCAL_FOR_TERMINAL, "=<\\x1b\"");
  check(PCAL_FOR_CSV, "\"'=<\\x1b\"\"\"");
  check(PCAL_FOR_MARKDOWN, "=&lt;\\\\x1b\"");
  check(PCAL_FOR_MARKUP, "=&lt;\xEF\xBF\xBD&quot;");
  check(PCAL_FOR_JSON, "\"=<\\u001b\\\"\"");
  check(PCAL_FOR_SHELL, "$'=<\\x1b\"'");
}

TEST(refuses_what_it_does_not_know) {
  kept_bytes kept = {.refuses = 1};
  pcal_error err;
  assert_int_equal(pcal_escape(NULL, PCAL_FOR_CSV, kept_sink, &kept, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "pcal_escape needs a text and a sink; NULL was given");
  assert_int_equal(pcal_escape("a", PCAL_FOR_CSV, NULL, &kept, NULL), PCAL_USAGE);
  assert_int_equal(pcal_escape("a", (pcal_destination)0, kept_sink, &kept, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "destination 0 is unknown; use a value of pcal_destination");
  assert_int_equal(pcal_escape("a", PCAL_FOR_CSV, kept_sink, &kept, NULL), PCAL_IO);
}
