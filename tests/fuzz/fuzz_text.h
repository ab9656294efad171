/* Changes of text inputs: lines and tokens are moved, doubled, left out or replaced. */
#ifndef FUZZ_TEXT_H
#define FUZZ_TEXT_H

#include "fuzz_choice.h"

/* Numbers at which parsers and metrics change their behaviour, most of them valid scores. */
static inline void fuzz_put_score(fuzz_choice *choice, fuzz_out *out) {
  static const char *const odd[] = {
      "0",     "1",   "0.5",  "1e-300", "5e-324", "-0",
      "1e-5",  "1.0", "0.25", ".5",     "5e-1",   "0.99999999999999999",
      "1e400", "nan", "inf",  "-1",     "2",      "1.00001"};
  if (fuzz_chance(choice, 4))
    fuzz_putf(out, "%s", odd[fuzz_below(choice, fuzz_chance(choice, 4) ? 18 : 12)]);
  else
    fuzz_putf(out, "%.6f", fuzz_unit(choice));
}

static inline int fuzz_text_is(const char *separators, uint8_t byte) {
  return byte != 0 && strchr(separators, byte) != NULL;
}

/* The begin and end of a token, chosen at random, in size > 0 bytes. */
static inline void fuzz_text_token(fuzz_choice *choice, const char *separators,
                                   const uint8_t *data, size_t size, size_t *begin,
                                   size_t *end) {
  size_t at = fuzz_below(choice, size);
  while (at > 0 && !fuzz_text_is(separators, data[at - 1]))
    at--;
  *begin = at;
  while (at < size && !fuzz_text_is(separators, data[at]))
    at++;
  *end = at;
}

/* Line-wise: double, drop, or move one line to the front, keeping the first line otherwise. */
static inline void fuzz_text_lines(fuzz_choice *choice, const uint8_t *data, size_t size,
                                   fuzz_out *out) {
  size_t begin, end;
  fuzz_text_token(choice, "\n", data, size, &begin, &end);
  end += end < size;
  switch (fuzz_below(choice, 3)) {
  case 0:
    fuzz_put(out, data, end);
    fuzz_put(out, data + begin, end - begin);
    break;
  case 1:
    fuzz_put(out, data, begin);
    break;
  default:
    fuzz_put(out, data + begin, end - begin);
    fuzz_put(out, data, begin);
  }
  fuzz_put(out, data + end, size - end);
}

/* One token becomes a score or another token of the same text. */
static inline void fuzz_text_replace(fuzz_choice *choice, const char *separators,
                                     const uint8_t *data, size_t size, fuzz_out *out) {
  size_t begin, end, from, to;
  fuzz_text_token(choice, separators, data, size, &begin, &end);
  fuzz_put(out, data, begin);
  if (fuzz_chance(choice, 2)) {
    fuzz_text_token(choice, separators, data, size, &from, &to);
    fuzz_put(out, data + from, to - from);
  } else {
    fuzz_put_score(choice, out);
  }
  fuzz_put(out, data + end, size - end);
}

#endif
