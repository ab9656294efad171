#include "io/time_period.h"

#include "io_help.h"

#define DAY 86400

static void reads(const char *text, int64_t expected) {
  int64_t seconds = 0;
  assert_null(pc_time_parse(pc_slice_of(text), &seconds));
  assert_int_equal(seconds, expected);
}

/* Seconds from `date --utc --date=... +%s` of GNU coreutils. */
TEST(reads_times) {
  reads("1970-01-01", 0);
  reads("2026-03-02", 1772409600);
  reads("2026-03-02T10:15:30Z", 1772446530);
  reads("2026-03-02 10:15:30", 1772446530);
  reads("2026-03-02T10:15:30.999", 1772446530);
  reads("2026-03-02T11:15:30+01:00", 1772446530);
  reads("2026-03-02T05:45:30-0430", 1772446530);
  reads("2026-03-02t12:15:30+02", 1772446530);
  reads("2026-03-02T10:15", 1772446500);
  reads("2026-03-02T10:15:30,5z", 1772446530);
  reads("2016-12-31T23:59:60Z", 1483228799);
  reads("2000-02-29", 951782400);
  reads("0001-01-01", -62135596800);
  reads("9999-12-31T23:59:59", 253402300799);
  reads(" 1772446530 ", 1772446530);
  reads("1772446530.75", 1772446530);
  reads("-0.5", -1);
  reads("1.77e9", 1770000000);
}

TEST(refuses_other_texts) {
  static const char *const wrong[] = {"",
                                      "today",
                                      "2026-3-2",
                                      "2026-02-29",
                                      "2026-13-01",
                                      "2026-00-10",
                                      "02.03.2026",
                                      "2026-03-02T",
                                      "2026-03-02T25:00",
                                      "2026-03-02T10",
                                      "nan",
                                      "2026-03-02T10:15+",
                                      "2026-03-02x",
                                      "2026-03-02T10:15Zx",
                                      "-1e12",
                                      "+026-03-02",
                                      "-026-03-02",
                                      "2026/03/02",
                                      "2026-03/02",
                                      "2026-03-0",
                                      "2026-03-32",
                                      "0000-03-02",
                                      "2026-03-02T10.15",
                                      "2026-03-02T10:60",
                                      "2026-03-02T10:15:61",
                                      "2026-03-02T10:15:",
                                      "2026-03-02T10:15:30*01",
                                      "2026-03-02T10:15:30+1",
                                      "2026-03-02T10:15:30+25",
                                      "2026-03-02T10:15:30+01:",
                                      "2026-03-02T10:15:30+01:6",
                                      "2026-03-02T10:15:30+0160"};
  int64_t seconds = 7;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const char *why = pc_time_parse(pc_slice_of(wrong[i]), &seconds);
    assert_non_null(why);
    assert_string_equal(
        why, "is no time; write 2026-03-02, 2026-03-02T10:15:00Z or seconds since 1970");
  }
  assert_string_equal(pc_time_parse(pc_slice_of("1772446530000"), &seconds),
                      "is after the year 9999; seconds since 1970 are expected, so divide "
                      "milliseconds by 1000");
  assert_string_equal(pc_time_parse(pc_slice_of("20260302"), &seconds),
                      "may be a date or seconds since 1970; write dates as 2026-03-02");
  reads("20261302", 20261302); /* no such month, so seconds */
  reads("20260002", 20260002);
  reads("20260332", 20260332); /* no such day */
  reads("20260300", 20260300);
  reads("20260302.5", 20260302);
  reads("19000100", 19000100);
  reads("202613", 202613); /* neither a year and a month */
  reads("202600", 202600);
  reads("1899", 1899);
  reads("2101", 2101);
  reads("2026.5", 2026);
  static const char *const dates[] = {"1900",   "2100",     "202603",  "190001",
                                      "210012", "19000101", "21001231"};
  for (size_t i = 0; i < sizeof dates / sizeof *dates; i++)
    assert_string_equal(pc_time_parse(pc_slice_of(dates[i]), &seconds),
                        "may be a date or seconds since 1970; write dates as 2026-03-02");
}

static void names(const char *every, const char *text, const char *expected) {
  pc_period period;
  int64_t seconds = 0;
  char name[PC_PERIOD_NAME_MAX];
  assert_int_equal(pc_period_parse(every, &period, NULL), PCAL_OK);
  assert_null(pc_time_parse(pc_slice_of(text), &seconds));
  pc_period_name(&period, seconds, name);
  assert_string_equal(name, expected);
}

/* Weeks from `date +%G-W%V`. */
TEST(names_periods) {
  names("day", "2026-03-02T23:59:59Z", "2026-03-02");
  names("day", "2026-03-02T23:59:59-01:00", "2026-03-03");
  names("week", "2026-03-01", "2026-W09");
  names("week", "2026-03-02", "2026-W10");
  names("week", "2027-01-01", "2026-W53");
  names("week", "2024-12-30", "2025-W01");
  names("week", "1969-12-28", "1969-W52");
  names("month", "2026-12-31", "2026-12");
  names("quarter", "2026-03-31", "2026-Q1");
  names("quarter", "2026-10-01", "2026-Q4");
  names("year", "0999-10-01", "0999");
  names("hour", "2026-03-02T10:15:30Z", "2026-03-02T10:00:00Z");
  names("6h", "2026-03-02T10:15:30Z", "2026-03-02T06:00:00Z");
  names("15min", "2026-03-02T10:15:30Z", "2026-03-02T10:15:00Z");
  names("900", "1969-12-31T23:59:00Z", "1969-12-31T23:45:00Z");
  names("10d", "1970-01-11", "1970-01-11T00:00:00Z");
  names("1000d", "0001-01-02", "0001-01-01T00:00:00Z");
}

/* The date of every day follows from the day before it. */
TEST(counts_days) {
  static const unsigned lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const pc_period daily = {PC_PERIOD_DAY, 0};
  unsigned year = 1895, month = 1, day = 1;
  for (int64_t at = -27393; at < 84000; at++) {
    char expected[PC_PERIOD_NAME_MAX], name[PC_PERIOD_NAME_MAX];
    snprintf(expected, sizeof expected, "%04u-%02u-%02u", year, month, day);
    pc_period_name(&daily, at * DAY + DAY / 2, name);
    assert_string_equal(name, expected);
    const int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (++day > lengths[month - 1] + (month == 2 && leap)) {
      day = 1;
      month = month % 12 + 1;
      year += month == 1;
    }
  }
}

TEST(refuses_other_periods) {
  static const char *const wrong[] = {"", "fortnight", "0", "-1", "6 h", "2months", "1e3"};
  pc_period period;
  pcal_error error = PCAL_ERROR_INIT;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_equal(pc_period_parse(wrong[i], &period, NULL), PCAL_USAGE);
  assert_int_equal(pc_period_parse("fortnight", &period, &error), PCAL_USAGE);
  char text[512];
  pcal_error_text(&error, PCAL_INTERFACE_PROGRAM, text, sizeof text);
  assert_string_equal(text, "--every \"fortnight\" is no period; give hour, day, week, month, "
                            "quarter, year, or a length such as 15min, 6h, 10d, or 900 for "
                            "seconds");
}
