/* Days since 1970-01-01 from a date: with years that begin in March, y = year - (month < 3) and
 * m = (month + 9) mod 12,
 *   365 y + floor(y/4) - floor(y/100) + floor(y/400) + floor((153 m + 2)/5) + day - 719469.
 * Names: 2026-03-02 (day), 2026-W10 (week), 2026-03 (month), 2026-Q1 (quarter), 2026 (year),
 * and the first second, 2026-03-02T06:00:00Z, of other periods.
 *
 * Edge cases:
 *  1. dates are YYYY-MM-DD; times follow after T or a space as HH:MM, with optional :SS and
 *     fraction; then Z, an offset (+01:00, +0100, +01), or nothing, which means UTC.
 *  2. a leap second, :60, counts as :59.
 *  3. a plain number is seconds since 1970, negative ones before it.
 *  4. numbers from year 10000 on are refused: they are probably milliseconds.
 *  5. whole numbers such as 20260302, a date without dashes, are refused.
 *  6. a week belongs to the year of its Thursday, so 2027-01-01 is in 2026-W53.
 *  7. years 0001 to 9999; names have four digits of the year and so sort by time.
 *  8. other periods begin at multiples of their length since 1970-01-01T00:00:00Z.
 * Source: ISO 8601:2004, 4.1 to 4.3.
 * Cost: O(1). */
#include "io/time_period.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

#define TIME_DAY 86400
#define TIME_FIRST (-62135596800) /* 0001-01-01T00:00:00Z */
#define TIME_LAST 253402300799    /* 9999-12-31T23:59:59Z */

static const char time_form[] =
    "is no time; write 2026-03-02, 2026-03-02T10:15:00Z or seconds since 1970";

static int64_t time_floor_div(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

static int64_t time_days(int64_t year, int64_t month, int64_t day) {
  const int64_t y = year - (month < 3), m = (month + 9) % 12;
  return 365 * y + time_floor_div(y, 4) - time_floor_div(y, 100) + time_floor_div(y, 400) +
         (153 * m + 2) / 5 + day - 719469;
}

/* The date of a day; the year is found from the mean length of years, then corrected. */
static void time_date(int64_t days, int64_t *year, int64_t *month, int64_t *day) {
  *year = 1970 + time_floor_div(days * 400, 146097);
  while (time_days(*year + 1, 1, 1) <= days)
    ++*year;
  while (time_days(*year, 1, 1) > days)
    --*year;
  *month = 12;
  while (time_days(*year, *month, 1) > days)
    --*month;
  *day = days - time_days(*year, *month, 1) + 1;
}

/* ---- Parsing ---- */

/* Takes `count` digits as a number in [low, high]. */
static int time_take(pc_slice *text, size_t count, int64_t low, int64_t high, int64_t *out) {
  if (text->length < count || text->bytes[0] == '+' || text->bytes[0] == '-' ||
      !pc_integer_parse(text->bytes, text->bytes + count, low, high, out))
    return 0;
  text->bytes += count;
  text->length -= count;
  return 1;
}

static int time_take_byte(pc_slice *text, const char *any) {
  if (text->length == 0 || strchr(any, text->bytes[0]) == NULL)
    return 0;
  text->bytes++;
  text->length--;
  return 1;
}

static int time_parse_date(pc_slice *text, int64_t *days) {
  int64_t year, month, day, y, m, d;
  if (!time_take(text, 4, 1, 9999, &year) || !time_take_byte(text, "-") ||
      !time_take(text, 2, 1, 12, &month) || !time_take_byte(text, "-") ||
      !time_take(text, 2, 1, 31, &day))
    return 0;
  *days = time_days(year, month, day);
  time_date(*days, &y, &m, &d);
  return d == day; /* not the 30th of February */
}

static int time_parse_zone(pc_slice *text, int64_t *offset) {
  int64_t hours = 0, minutes = 0;
  *offset = 0;
  if (text->length == 0 || time_take_byte(text, "Zz"))
    return 1;
  const int sign = text->bytes[0] == '-' ? -1 : 1;
  if (!time_take_byte(text, "+-") || !time_take(text, 2, 0, 23, &hours))
    return 0;
  const int colon = time_take_byte(text, ":");
  if ((colon || text->length > 0) && !time_take(text, 2, 0, 59, &minutes))
    return 0;
  *offset = sign * (hours * 3600 + minutes * 60);
  return 1;
}

static int time_parse_clock(pc_slice *text, int64_t *seconds) {
  int64_t hour, minute, second = 0, offset, digit;
  if (!time_take(text, 2, 0, 23, &hour) || !time_take_byte(text, ":") ||
      !time_take(text, 2, 0, 59, &minute))
    return 0;
  if (time_take_byte(text, ":")) {
    if (!time_take(text, 2, 0, 60, &second))
      return 0;
    if (time_take_byte(text, ".,"))
      while (time_take(text, 1, 0, 9, &digit)) {
      }
  }
  if (!time_parse_zone(text, &offset))
    return 0;
  *seconds = hour * 3600 + minute * 60 + (second == 60 ? 59 : second) - offset;
  return 1;
}

/* True for 19000101 to 21001231 where the digits are a date. */
static int time_is_compact_date(double number) {
  if (number < 19000101 || number > 21001231 || number != floor(number))
    return 0;
  const int64_t month = (int64_t)number / 100 % 100, day = (int64_t)number % 100;
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/* True for 1900 to 2100 and for 190001 to 210012 where the digits are a year and a month. */
static int time_is_year_or_month(double number) {
  if (number != floor(number))
    return 0;
  const double month = fmod(number, 100);
  return (number >= 1900 && number <= 2100) ||
         (number >= 190001 && number <= 210012 && month >= 1 && month <= 12);
}

static const char *time_parse_number(double number, int64_t *seconds) {
  if (time_is_compact_date(number) || time_is_year_or_month(number))
    return "may be a date or seconds since 1970; write dates as 2026-03-02";
  if (number >= (double)TIME_LAST + 1)
    return "is after the year 9999; seconds since 1970 are expected, so divide milliseconds "
           "by 1000";
  if (!(number >= (double)TIME_FIRST))
    return time_form;
  *seconds = (int64_t)floor(number);
  return NULL;
}

const char *pc_time_parse(pc_slice text, int64_t *seconds) {
  double number;
  int64_t days, clock = 0;
  text = pc_slice_trim(text, "");
  const char *end = text.bytes + text.length;
  if (text.length == 0)
    return time_form;
  if (pc_number_parse(text.bytes, end, &number) == text.length)
    return isfinite(number) ? time_parse_number(number, seconds) : time_form;
  if (!time_parse_date(&text, &days) ||
      (text.length > 0 &&
       (!time_take_byte(&text, "Tt ") || !time_parse_clock(&text, &clock))) ||
      text.length > 0)
    return time_form;
  *seconds = days * TIME_DAY + clock;
  return *seconds < TIME_FIRST || *seconds > TIME_LAST ? time_form : NULL;
}

/* ---- Periods ---- */

static int period_seconds(const char *text, int64_t *out) {
  static const struct {
    const char *name;
    int64_t seconds;
  } units[] = {{"", 1},     {"s", 1},        {"min", 60},
               {"h", 3600}, {"d", TIME_DAY}, {"w", 7 * TIME_DAY}};
  const size_t digits = strspn(text, "0123456789");
  int64_t count;
  if (digits == 0 || !pc_integer_parse(text, text + digits, 1, 1000000000, &count))
    return 0;
  for (size_t u = 0; u < sizeof units / sizeof *units; u++)
    if (strcmp(text + digits, units[u].name) == 0) {
      *out = count * units[u].seconds;
      return 1;
    }
  return 0;
}

pcal_status pc_period_parse(const char *text, pc_period *out, pcal_error *err) {
  static const struct {
    const char *name;
    pc_period period;
  } names[] = {{"hour", {PC_PERIOD_SECONDS, 3600}}, {"day", {PC_PERIOD_DAY, 0}},
               {"week", {PC_PERIOD_WEEK, 0}},       {"month", {PC_PERIOD_MONTH, 0}},
               {"quarter", {PC_PERIOD_QUARTER, 0}}, {"year", {PC_PERIOD_YEAR, 0}}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(text, names[i].name) == 0) {
      *out = names[i].period;
      return PCAL_OK;
    }
  out->unit = PC_PERIOD_SECONDS;
  if (period_seconds(text, &out->seconds))
    return PCAL_OK;
  return pc_fail(
      err, PCAL_USAGE,
      "{every} \"%s\" is no period; give hour, day, week, month, quarter, year, or a "
      "length such as 15min, 6h, 10d, or 900 for seconds",
      text);
}

void pc_period_name(const pc_period *period, int64_t seconds, char out[PC_PERIOD_NAME_MAX]) {
  int64_t days = time_floor_div(seconds, TIME_DAY), year, month, day, clock = 0;
  if (period->unit == PC_PERIOD_SECONDS) {
    int64_t start = time_floor_div(seconds, period->seconds) * period->seconds;
    start = start < TIME_FIRST ? TIME_FIRST : start;
    days = time_floor_div(start, TIME_DAY);
    clock = start - days * TIME_DAY;
  }
  if (period->unit == PC_PERIOD_WEEK)
    days += 3 - (days + 3 - time_floor_div(days + 3, 7) * 7); /* Thursday; 1970-01-01 was one */
  time_date(days, &year, &month, &day);
  const unsigned y = (unsigned)year, m = (unsigned)month, d = (unsigned)day;
  switch (period->unit) {
  case PC_PERIOD_SECONDS:
    snprintf(out, PC_PERIOD_NAME_MAX, "%04u-%02u-%02uT%02u:%02u:%02uZ", y % 10000, m % 100,
             d % 100, (unsigned)(clock / 3600) % 100, (unsigned)(clock / 60 % 60),
             (unsigned)(clock % 60));
    break;
  case PC_PERIOD_DAY:
    snprintf(out, PC_PERIOD_NAME_MAX, "%04u-%02u-%02u", y % 10000, m % 100, d % 100);
    break;
  case PC_PERIOD_WEEK:
    snprintf(out, PC_PERIOD_NAME_MAX, "%04u-W%02u", y % 10000,
             (unsigned)((days - time_days(year, 1, 1)) / 7 + 1) % 100);
    break;
  case PC_PERIOD_MONTH:
    snprintf(out, PC_PERIOD_NAME_MAX, "%04u-%02u", y % 10000, m % 100);
    break;
  case PC_PERIOD_QUARTER:
    snprintf(out, PC_PERIOD_NAME_MAX, "%04u-Q%u", y % 10000, (m - 1) / 3 % 4 + 1);
    break;
  case PC_PERIOD_YEAR:
    snprintf(out, PC_PERIOD_NAME_MAX, "%04u", y % 10000);
  }
}
