/* A time as text, after the name of a period and a line end: any bytes, or ones that look like times.
 * Names of periods fit their buffer and sort like the times. */
#include "fuzz_choice.h"
#include "fuzz_count.h"
#include "io/time_period.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_make(fuzz_choice *choice, fuzz_out *out) {
  static const char *const periods[] = {"hour", "day", "week",  "month", "quarter",
                                        "year", "900", "15min", "6h",    "10d",
                                        "2d",   "90s", "week",  "-3h",   "99999999999d"};
  static const char *const ends[] = {"", "Z", "+01:00", "-23:59", "+99:99", ".25Z", ""};
  const int day = !fuzz_chance(choice, 3);
  fuzz_putf(out, "%s", FUZZ_PICK(choice, periods));
  fuzz_putf(out, "\n");
  if (fuzz_chance(choice, 4)) {
    const size_t shift = fuzz_below(choice, 64);
    fuzz_putf(out, "%s", fuzz_chance(choice, 4) ? "-" : "");
    fuzz_putf(out, "%llu", (unsigned long long)fuzz_any(choice) >> shift);
  } else
    fuzz_putf(out, "%04zu-%02zu-%02zu", fuzz_below(choice, 10000), 1 + fuzz_below(choice, 12),
              1 + fuzz_below(choice, 29));
  if (day)
    fuzz_putf(out, "%c%02zu:%02zu:%02zu", fuzz_chance(choice, 3) ? ' ' : 'T',
              fuzz_below(choice, 24), fuzz_below(choice, 60), fuzz_below(choice, 61));
  fuzz_putf(out, "%s", FUZZ_PICK(choice, ends));
}

static void fuzz_change(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  if (fuzz_chance(choice, 2)) {
    fuzz_make(choice, out);
    return;
  }
  fuzz_put(out, data, size);
  if (out->length > 0)
    out->bytes[fuzz_below(choice, out->length)] =
        (uint8_t) "0123456789-:T.Z+ \n"[fuzz_below(choice, 18)];
}

#include "fuzz_mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char every[64], name[PC_PERIOD_NAME_MAX], later[PC_PERIOD_NAME_MAX];
  const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
  const size_t head = end == NULL ? size : (size_t)(end - data);
  const size_t used = head < sizeof every - 1 ? head : sizeof every - 1;
  pc_period period;
  pcal_error err;
  int64_t seconds = 0;
  if (used > 0)
    memcpy(every, data, used);
  every[used] = '\0';
  const int known = pc_period_parse(every, &period, &err) == PCAL_OK;
  const size_t begin = end == NULL ? 0 : head + 1;
  const pc_slice text = {(const char *)data + begin, size - begin};
  const char *why = size > begin ? pc_time_parse(text, &seconds) : "empty";
  if (known && why == NULL) {
    pc_period_name(&period, seconds, name);
    pc_period_name(&period, seconds + 86400, later);
    if (strlen(name) >= sizeof name || (seconds >= 0 && strcmp(name, later) > 0))
      abort();
  }
  fuzz_count(known && why == NULL);
  return 0;
}
