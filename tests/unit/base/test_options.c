#include "base/options.h"

#include "../unit.h"

enum { BINS, WIDTH, SCALE, RANK, DEBIAS, NORM, LEVELS, LIMIT, SHIFT, TABLE_COUNT };

static const pcal_option table[TABLE_COUNT] = {
    {"bins", PCAL_OPTION_INT, "15", 1, 100, NULL, ""},
    {"width", PCAL_OPTION_REAL, "0.5", 0, 2, NULL, ""},
    {"scale", PCAL_OPTION_REAL, "auto", 0.25, 8, "auto|median", ""},
    {"rank", PCAL_OPTION_INT, "", 1, 9, NULL, ""},
    {"debias", PCAL_OPTION_BOOL, "no", 0, 0, NULL, ""},
    {"norm", PCAL_OPTION_CHOICE, "l1", 0, 0, "l1|l2|max", ""},
    {"levels", PCAL_OPTION_REALS, "0.1/0.5", 0, 1, NULL, ""},
    {"limit", PCAL_OPTION_INT, "50", 0, 50, "all|none", ""},
    {"shift", PCAL_OPTION_REAL, "-1.5", -10, 10, NULL, ""},
};

#define DEFAULTS                                                                    \
  "m:bins=15,width=0.5,scale=auto,debias=no,norm=l1,levels=0.1/0.5,limit=50,shift=" \
  "-1.5"

static pc_options parse(const char *spec) {
  pc_options out;
  pcal_error err;
  pc_error_clear(&err);
  if (pc_options_parse(spec, "m", table, TABLE_COUNT, &out, &err) != PCAL_OK)
    fail_msg("%s: %s", spec, err.message);
  return out;
}

static void assert_refused(const char *spec, const char *sentence) {
  pc_options out;
  pcal_error err;
  pc_error_clear(&err);
  assert_int_equal(pc_options_parse(spec, "m", table, TABLE_COUNT, &out, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, sentence);
  assert_int_equal(pc_options_parse(spec, "m", table, TABLE_COUNT, &out, NULL), PCAL_USAGE);
}

static void assert_written(const char *spec, const char *full, const char *brief) {
  const pc_options options = parse(spec);
  char text[PC_SPEC_MAX];
  pc_options_write(&options, 1, text, sizeof text);
  assert_string_equal(text, full);
  pc_options_write(&options, 0, text, sizeof text);
  assert_string_equal(text, brief);
}

TEST(copies_the_name) {
  char name[8];
  pcal_error err;
  assert_int_equal(pc_spec_name("ece", name, sizeof name, &err), PCAL_OK);
  assert_string_equal(name, "ece");
  assert_int_equal(pc_spec_name("ece:bins=3:4", name, sizeof name, &err), PCAL_OK);
  assert_string_equal(name, "ece");
  assert_int_equal(pc_spec_name("sevenlt:", name, sizeof name, &err), PCAL_OK);
  assert_string_equal(name, "sevenlt");
  assert_int_equal(pc_spec_name("eightltr", name, sizeof name, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "the name in the spec \"eightltr...\" is too long");
  assert_int_equal(pc_spec_name("", name, sizeof name, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "the spec \"\" has no name before its options");
  assert_int_equal(pc_spec_name(":bins=3", name, sizeof name, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "the spec \":bins=3\" has no name before its options");
}

TEST(starts_from_defaults) {
  const pc_options options = parse("m");
  assert_string_equal(options.name, "m");
  assert_int_equal(options.count, TABLE_COUNT);
  for (size_t i = 0; i < TABLE_COUNT; i++) {
    assert_int_equal(options.value[i].given, 0);
    assert_int_equal(options.value[i].set, i != RANK);
  }
  assert_same(options.value[BINS].number, 15);
  assert_int_equal(options.value[BINS].choice, -1);
  assert_same(options.value[WIDTH].number, 0.5);
  assert_int_equal(options.value[SCALE].choice, 0);
  assert_int_equal(options.value[RANK].choice, -1);
  assert_same(options.value[DEBIAS].number, 0);
  assert_int_equal(options.value[NORM].choice, 0);
  assert_int_equal(options.value[LEVELS].list_count, 2);
  assert_same(options.value[LEVELS].list[0], 0.1);
  assert_same(options.value[LEVELS].list[1], 0.5);
  assert_same(options.value[SHIFT].number, -1.5);
  assert_written("m", DEFAULTS, "m");
}

TEST(reads_every_type) {
  const pc_options options = parse("m:bins=1e2,width=2,scale=0.25,rank=+9,debias=yes,norm=max,"
                                   "levels=1/0/.25/1e-3,limit=none,shift=-10");
  for (size_t i = 0; i < TABLE_COUNT; i++) {
    assert_int_equal(options.value[i].given, 1);
    assert_int_equal(options.value[i].set, 1);
  }
  assert_same(options.value[BINS].number, 100);
  assert_same(options.value[WIDTH].number, 2);
  assert_same(options.value[SCALE].number, 0.25);
  assert_int_equal(options.value[SCALE].choice, -1);
  assert_same(options.value[RANK].number, 9);
  assert_same(options.value[DEBIAS].number, 1);
  assert_int_equal(options.value[NORM].choice, 2);
  assert_int_equal(options.value[LEVELS].list_count, 4);
  assert_same(options.value[LEVELS].list[0], 1);
  assert_same(options.value[LEVELS].list[1], 0);
  assert_same(options.value[LEVELS].list[2], 0.25);
  assert_same(options.value[LEVELS].list[3], 0.001);
  assert_int_equal(options.value[LIMIT].choice, 1);
  assert_same(options.value[SHIFT].number, -10);
}

TEST(reads_words_or_numbers) {
  assert_int_equal(parse("m:scale=median").value[SCALE].choice, 1);
  assert_int_equal(parse("m:scale=8").value[SCALE].choice, -1);
  assert_same(parse("m:scale=8").value[SCALE].number, 8);
  assert_int_equal(parse("m:limit=all").value[LIMIT].choice, 0);
  assert_int_equal(parse("m:limit=0").value[LIMIT].choice, -1);
  assert_refused("m:scale=often",
                 "m: \"often\" is not a number for option scale; it takes a number or "
                 "auto|median");
  assert_refused("m:scale=med", "m: \"med\" is not a number for option scale; it takes a "
                                "number or auto|median");
  assert_refused("m:limit=some",
                 "m: \"some\" is not a whole number for option limit; it takes a number or "
                 "all|none");
}

TEST(keeps_the_bounds) {
  assert_refused("m:bins=0", "m: option bins must be between 1 and 100, not 0");
  assert_refused("m:bins=101", "m: option bins must be between 1 and 100, not 101");
  assert_same(parse("m:bins=1").value[BINS].number, 1);
  assert_same(parse("m:width=0").value[WIDTH].number, 0);
  assert_refused("m:width=2.0000000000000004",
                 "m: option width must be between 0 and 2, not 2.0000000000000004");
  assert_refused("m:width=-5e-324", "m: option width must be between 0 and 2, not -5e-324");
  assert_refused("m:width=inf", "m: option width must be between 0 and 2, not inf");
  assert_refused("m:width=1e999", "m: option width must be between 0 and 2, not 1e999");
  assert_refused("m:scale=0.2", "m: option scale must be between 0.25 and 8, not 0.2");
  assert_refused("m:levels=0.5/1.5", "m: option levels must be between 0 and 1, not 1.5");
}

TEST(refuses_what_is_no_number) {
  assert_refused("m:bins=x", "m: \"x\" is not a whole number for option bins");
  assert_refused("m:bins=7x", "m: \"7x\" is not a whole number for option bins");
  assert_refused("m:bins= 7", "m: \" 7\" is not a whole number for option bins");
  assert_refused("m:bins=3=4", "m: \"3=4\" is not a whole number for option bins");
  assert_refused("m:bins=nan", "m: \"nan\" is not a whole number for option bins");
  assert_refused("m:bins=1.5", "m: option bins takes a whole number, not 1.5");
  assert_refused("m:bins=inf", "m: option bins takes a whole number, not inf");
  assert_refused("m:width=nan", "m: \"nan\" is not a number for option width");
  assert_refused("m:width=0,5", "m: \"5\" is not of the form option=value");
}

TEST(refuses_unknown_words) {
  assert_refused("m:debias=true", "m: option debias is one of no|yes, not \"true\"");
  assert_refused("m:norm=L1", "m: option norm is one of l1|l2|max, not \"L1\"");
  assert_refused("m:norm=l", "m: option norm is one of l1|l2|max, not \"l\"");
  assert_refused("m:norm=l1|l2", "m: option norm is one of l1|l2|max, not \"l1|l2\"");
}

TEST(reads_lists) {
  const char *sixteen = "m:levels=0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/1";
  assert_int_equal(parse(sixteen).value[LEVELS].list_count, 16);
  assert_same(parse(sixteen).value[LEVELS].list[15], 1);
  assert_int_equal(parse("m:levels=1").value[LEVELS].list_count, 1);
  assert_refused("m:levels=0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/1",
                 "m: option levels takes at most 16 numbers");
  assert_refused("m:levels=0.1//0.5", "m: \"\" is not a number for option levels");
  assert_refused("m:levels=0.1/", "m: \"\" is not a number for option levels");
  assert_refused("m:levels=/0.1", "m: \"\" is not a number for option levels");
  assert_refused("m:levels=0.1/x", "m: \"x\" is not a number for option levels");
}

TEST(finds_a_number_given_twice) {
  pcal_error err = PCAL_ERROR_INIT;
  const pc_options plain = parse("m:levels=0.1/0.5/0.6"),
                   twice = parse("m:levels=0.1/0.5/1e-1");
  assert_int_equal(pc_options_distinct(&plain, LEVELS, NULL), PCAL_OK);
  assert_int_equal(pc_options_distinct(&twice, LEVELS, &err), PCAL_USAGE);
  assert_string_equal(err.message, "m: option levels has 0.1 twice; give each number once");
}

TEST(suggests_the_nearest_option) {
  static const char *const typed[][2] = {
      {"bin", "bins"}, {"Bins", "bins"}, {"nrom", "norm"}, {"bandwidth", "width"}};
  for (size_t i = 0; i < UNIT_COUNT(typed); i++) {
    char spec[64], sentence[256];
    snprintf(spec, sizeof spec, "m:%s=3", typed[i][0]);
    snprintf(sentence, sizeof sentence,
             "m has no option \"%s\" (did you mean \"%s\"?); it has bins, width, scale, "
             "rank, debias, norm, levels, limit, shift",
             typed[i][0], typed[i][1]);
    assert_refused(spec, sentence);
  }
  assert_refused("m:qqqqqq=3",
                 "m has no option \"qqqqqq\"; it has bins, width, scale, rank, debias, norm, "
                 "levels, limit, shift");
  pc_options out;
  pcal_error err;
  assert_int_equal(pc_options_parse("m:x=1", "m", NULL, 0, &out, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "m takes no options, so \"x\" cannot be set");
  assert_int_equal(pc_options_parse("m", "m", NULL, 0, &out, &err), PCAL_OK);
}

TEST(refuses_a_second_time) {
  assert_refused("m:bins=3,bins=4", "m: option bins is given twice");
  assert_refused("m:bins=15,norm=l2,bins=15", "m: option bins is given twice");
}

TEST(refuses_broken_pairs) {
  assert_refused("m:", "m: \"\" is not of the form option=value");
  assert_refused("m:bins", "m: \"bins\" is not of the form option=value");
  assert_refused("m:bins=", "m: \"bins=\" is not of the form option=value");
  assert_refused("m:=3", "m: \"=3\" is not of the form option=value");
  assert_refused("m:bins=3,", "m: \"\" is not of the form option=value");
  assert_refused("m:,bins=3", "m: \"\" is not of the form option=value");
  assert_refused("m:bins=3,,norm=l1", "m: \"\" is not of the form option=value");
}

TEST(refuses_very_long_specs) {
  char spec[PC_SPEC_MAX + 1];
  memset(spec, '0', sizeof spec);
  memcpy(spec, "m:bins=", 7);
  spec[PC_SPEC_MAX - 2] = '7';
  spec[PC_SPEC_MAX - 1] = '\0';
  assert_same(parse(spec).value[BINS].number, 7);
  spec[PC_SPEC_MAX - 1] = '0';
  spec[PC_SPEC_MAX] = '\0';
  assert_refused(spec, "the spec of m is longer than 511 characters");
}

TEST(writes_full_and_short_forms) {
  assert_written("m:bins=20",
                 "m:bins=20,width=0.5,scale=auto,debias=no,norm=l1,levels=0.1/0.5,limit=50,"
                 "shift=-1.5",
                 "m:bins=20");
  assert_written("m:norm=l1,bins=015,width=5e-1,levels=.10/5e-1", DEFAULTS, "m");
  assert_written("m:norm=max,levels=1e-7/1,scale=2.50,rank=3,shift=0,limit=all,debias=yes",
                 "m:bins=15,width=0.5,scale=2.5,rank=3,debias=yes,norm=max,levels=1e-07/1,"
                 "limit=all,shift=0",
                 "m:scale=2.5,rank=3,debias=yes,norm=max,levels=1e-07/1,limit=all,shift=0");
}

TEST(zero_has_one_sign) {
  const pc_options minus = parse("m:width=-0,levels=-0.0/1"),
                   plain = parse("m:width=0,levels=0/1");
  assert_same(minus.value[WIDTH].number, 0.0);
  assert_same(minus.value[LEVELS].list[0], 0.0);
  assert_true(pc_options_equal(&minus, &plain));
}

TEST(reads_back_what_it_writes) {
  static const char *const specs[] = {"m",
                                      "m:bins=100",
                                      "m:width=0.30000000000000004,shift=-0.0001",
                                      "m:scale=median,debias=yes",
                                      "m:levels=0/1/0.1/0.3333333333333333,norm=l2",
                                      "m:rank=1,limit=none",
                                      "m:limit=49,scale=0.25"};
  for (size_t i = 0; i < UNIT_COUNT(specs); i++) {
    const pc_options options = parse(specs[i]);
    for (int full = 0; full <= 1; full++) {
      char text[PC_SPEC_MAX], again[PC_SPEC_MAX];
      pc_options_write(&options, full, text, sizeof text);
      const pc_options reread = parse(text);
      assert_true(pc_options_equal(&options, &reread));
      pc_options_write(&reread, full, again, sizeof again);
      assert_string_equal(text, again);
    }
  }
}

TEST(tells_specs_apart) {
  static const char *const specs[] = {"m",
                                      "m:bins=16",
                                      "m:width=0.4",
                                      "m:scale=median",
                                      "m:scale=1",
                                      "m:rank=1",
                                      "m:debias=yes",
                                      "m:norm=l2",
                                      "m:levels=0.1",
                                      "m:levels=0.1/0.6",
                                      "m:levels=0.1/0.5/0.5",
                                      "m:limit=all",
                                      "m:limit=0",
                                      "m:limit=none"};
  for (size_t i = 0; i < UNIT_COUNT(specs); i++) {
    for (size_t j = 0; j < UNIT_COUNT(specs); j++) {
      const pc_options a = parse(specs[i]), b = parse(specs[j]);
      assert_int_equal(pc_options_equal(&a, &b), i == j);
    }
  }
  const pc_options given = parse("m:bins=15,rank=2"), left_out = parse("m:rank=2");
  assert_true(pc_options_equal(&given, &left_out));
  pc_options other;
  assert_int_equal(pc_options_parse("n:rank=2", "n", table, TABLE_COUNT, &other, NULL),
                   PCAL_OK);
  assert_false(pc_options_equal(&given, &other));
}

/* Specs whose full text is longer than any buffer differ in their last number only. */
TEST(tells_long_specs_apart) {
  static const pcal_option lists[] = {{"a", PCAL_OPTION_REALS, "0", 0, 1e16, NULL, ""},
                                      {"b", PCAL_OPTION_REALS, "0", 0, 1e16, NULL, ""}};
#define LONG_LIST "9e15/9e15/9e15/9e15/9e15/9e15/9e15/9e15/9e15/9e15/9e15/9e15/9e15/9e15/9e15"
  pc_options one, two;
  assert_int_equal(pc_options_parse("m:a=" LONG_LIST "/1e15,b=" LONG_LIST "/1e15", "m", lists,
                                    2, &one, NULL),
                   PCAL_OK);
  assert_int_equal(pc_options_parse("m:a=" LONG_LIST "/1e15,b=" LONG_LIST "/2e15", "m", lists,
                                    2, &two, NULL),
                   PCAL_OK);
  assert_false(pc_options_equal(&one, &two));
  assert_true(pc_options_equal(&one, &one));
}

TEST(chooses_words) {
  char word[16], text[PC_SPEC_MAX];
  pc_options options = parse("m:norm=max,debias=yes,scale=3");
  assert_string_equal(pc_options_word(&options, NORM, word, sizeof word), "max");
  assert_string_equal(pc_options_word(&options, DEBIAS, word, sizeof word), "yes");
  assert_string_equal(pc_options_word(&options, SCALE, word, sizeof word), "");
  assert_string_equal(pc_options_word(&options, NORM, word, 3), "ma");
  pc_options_choose(&options, SCALE, "median");
  assert_string_equal(pc_options_word(&options, SCALE, word, sizeof word), "median");
  options = parse("m");
  pc_options_choose(&options, NORM, "l2");
  assert_int_equal(options.value[NORM].choice, 1);
  assert_int_equal(options.value[NORM].given, 0);
  pc_options_write(&options, 0, text, sizeof text);
  assert_string_equal(text, "m");
  pc_options_write(&options, 1, text, sizeof text);
  assert_non_null(strstr(text, "norm=l2"));
}

TEST(chooses_for_an_unset_option) {
  static const pcal_option view[] = {{"view", PCAL_OPTION_CHOICE, "", 0, 0, "top|class", ""}};
  char text[PC_SPEC_MAX];
  pc_options options;
  assert_int_equal(pc_options_parse("m", "m", view, 1, &options, NULL), PCAL_OK);
  pc_options_write(&options, 1, text, sizeof text);
  assert_string_equal(text, "m");
  pc_options_choose(&options, 0, "class");
  assert_int_equal(options.value[0].set, 1);
  pc_options_write(&options, 1, text, sizeof text);
  assert_string_equal(text, "m:view=class");
}

TEST(refuses_a_table_with_bad_defaults) {
  static const pcal_option bad[] = {{"bins", PCAL_OPTION_INT, "0", 1, 9, NULL, ""}};
  pc_options options;
  pcal_error err;
  assert_int_equal(pc_options_parse("m:bins=3", "m", bad, 1, &options, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "m: option bins must be between 1 and 9, not 0");
}

TEST(stays_inside_small_buffers) {
  const pc_options options = parse("m:levels=0.25/0.75");
  char full[PC_SPEC_MAX];
  pc_options_write(&options, 1, full, sizeof full);
  for (size_t size = 1; size <= strlen(full) + 1; size++) {
    char *small = malloc(size);
    assert_non_null(small);
    pc_options_write(&options, 1, small, size);
    assert_int_equal(strlen(small), size - 1);
    assert_memory_equal(small, full, size - 1);
    free(small);
  }
}

/* An option that stands for others is written as given; the full spec has what it stands
 * for. */
TEST(the_brief_form_keeps_what_was_given) {
  pc_options options = parse("m:rank=3,bins=15");
  char text[PC_SPEC_MAX];
  options.value[RANK].set = 0;
  options.value[NORM].choice = 1;
  pc_options_write(&options, 0, text, sizeof text);
  assert_string_equal(text, "m:rank=3");
  pc_options_write(&options, 1, text, sizeof text);
  assert_string_equal(text, "m:bins=15,width=0.5,scale=auto,debias=no,norm=l2,"
                            "levels=0.1/0.5,limit=50,shift=-1.5");
}
