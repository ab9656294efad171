#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/number.h"

void pc_text_init(pc_text *text, const pcal_env *env) {
  *text = (pc_text){.env = env};
}

void pc_text_free(pc_text *text) {
  pc_free(text->env, text->bytes);
  text->bytes = NULL;
  text->length = text->capacity = 0;
}

static int text_room(pc_text *text, size_t count) {
  if (text->failed)
    return 0;
  void *bytes = text->bytes;
  if (pc_reserve(text->env, &bytes, &text->capacity, text->length + count + 1, 1, NULL) !=
      PCAL_OK)
    text->failed = 1;
  text->bytes = bytes;
  pc_assert(text->failed || text->length + count < text->capacity);
  return !text->failed;
}

void pc_text_add_bytes(pc_text *text, const char *bytes, size_t count) {
  if (!text_room(text, count))
    return;
  memcpy(text->bytes + text->length, bytes, count);
  text->length += count;
  text->bytes[text->length] = '\0';
}

void pc_text_add(pc_text *text, const char *string) {
  pc_text_add_bytes(text, string, strlen(string));
}

void pc_text_add_repeated(pc_text *text, char c, size_t count) {
  if (!text_room(text, count))
    return;
  memset(text->bytes + text->length, c, count);
  text->length += count;
  text->bytes[text->length] = '\0';
}

size_t pc_append_bytes(char *out, size_t size, size_t used, const char *bytes, size_t count) {
  const size_t left = used < size ? size - used - 1 : 0, kept = count < left ? count : left;
  if (used < size) {
    memcpy(out + used, bytes, kept);
    out[used + kept] = '\0';
  }
  return used + count;
}

size_t pc_append(char *out, size_t size, size_t used, const char *string) {
  return pc_append_bytes(out, size, used, string, strlen(string));
}

/* True if all conversions are %s or %%. */
static int text_has_strings_only(const char *format) {
  for (const char *c = strchr(format, '%'); c != NULL; c = strchr(c + 2, '%'))
    if (c[1] != 's' && c[1] != '%')
      return 0;
  return 1;
}

static void text_add_strings(pc_text *text, const char *format, va_list args) {
  const char *c;
  for (; (c = strchr(format, '%')) != NULL; format = c + 2) {
    pc_text_add_bytes(text, format, (size_t)(c - format));
    pc_text_add(text, c[1] == 's' ? va_arg(args, const char *) : "%");
  }
  pc_text_add(text, format);
}

/* Formats of strings alone, most of them, are written here: vsnprintf takes about ten times as long
 * where some library (libquadmath, which NumPy loads) has added conversions to it. */
void pc_text_format(pc_text *text, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  if (text_has_strings_only(format)) {
    text_add_strings(text, format, args);
    va_end(args);
    return;
  }
  va_copy(again, args);
  const int length = vsnprintf(NULL, 0, format, args);
  if (length < 0)
    text->failed = 1;
  else if (text_room(text, (size_t)length)) {
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
  va_end(args);
}

void pc_text_number(pc_text *text, double value) {
  char digits[PC_NUMBER_MAX];
  pc_text_add_bytes(text, digits, pc_number_format(value, digits));
}

pcal_status pc_text_status(const pc_text *text, pcal_error *err) {
  return text->failed ? pc_fail_memory(err, "writing text") : PCAL_OK;
}

pcal_status pc_text_send(const pc_text *text, pcal_sink sink, void *user, pcal_error *err) {
  PC_TRY(pc_text_status(text, err));
  if (text->length > 0 && sink(user, text->bytes, text->length) != 0)
    return pc_fail(err, PCAL_IO, "the output could not be written");
  return PCAL_OK;
}

size_t pc_text_width(const char *string) {
  size_t width = 0;
  for (; *string != '\0'; string++)
    width += ((unsigned char)*string & 0xC0) != 0x80;
  return width;
}

#define TEXT_WORD_MAX 48

static size_t text_smallest(size_t a, size_t b, size_t c) {
  const size_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

static int text_same(char a, char b) {
  const char small_a = a >= 'A' && a <= 'Z' ? (char)(a - 'A' + 'a') : a;
  const char small_b = b >= 'A' && b <= 'Z' ? (char)(b - 'A' + 'a') : b;
  return small_a == small_b;
}

static int text_begins(const char *string, const char *beginning) {
  while (*beginning != '\0' && text_same(*string, *beginning)) {
    string++;
    beginning++;
  }
  return *beginning == '\0';
}

/* Optimal string alignment distance (insertions, deletions, substitutions, transpositions),
 * ignoring the case of letters. */
static size_t text_distance(const char *a, const char *b) {
  const size_t n = strlen(a), m = strlen(b);
  if (n > TEXT_WORD_MAX || m > TEXT_WORD_MAX)
    return SIZE_MAX;
  size_t rows[3][TEXT_WORD_MAX + 1];
  for (size_t j = 0; j <= m; j++)
    rows[0][j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    now[0] = i;
    for (size_t j = 1; j <= m; j++) {
      const size_t change = last[j - 1] + !text_same(a[i - 1], b[j - 1]);
      now[j] = text_smallest(last[j] + 1, now[j - 1] + 1, change);
      if (i > 1 && j > 1 && text_same(a[i - 1], b[j - 2]) && text_same(a[i - 2], b[j - 1]) &&
          before[j - 2] + 1 < now[j])
        now[j] = before[j - 2] + 1;
    }
  }
  return rows[n % 3][m];
}

const char *pc_nearest_word(const char *word, const char *(*next)(void *user, size_t i),
                            void *user) {
  const size_t length = strlen(word);
  const char *best = NULL, *candidate;
  size_t best_distance = length < 2 ? length : length <= 3 ? 2 : length / 3 + 2;
  for (size_t i = 0; (candidate = next(user, i)) != NULL; i++) {
    size_t distance = text_distance(word, candidate);
    if (distance > 1 && length >= 3 && text_begins(candidate, word))
      distance = 1;
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}
