/* Shared by the tests of this room: an allocator that counts and fails, a reader of XML tags,
 * and a sample of data. */
#ifndef FIGURE_CHECK_H
#define FIGURE_CHECK_H

#include "testing.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "figure/figure.h"
#include "figure/figures/reliability_figure.h"
#include "figure/text_layout.h"

typedef struct check_memory {
  size_t live;  /* blocks */
  size_t calls; /* of resize */
  size_t fail;  /* the call that fails, counted from 1; 0: none */
} check_memory;

static inline void *check_resize(void *user, void *block, size_t size) {
  check_memory *memory = user;
  if (++memory->calls == memory->fail)
    return NULL;
  memory->live += block == NULL;
  return realloc(block, size);
}

static inline void check_release(void *user, void *block) {
  ((check_memory *)user)->live--;
  free(block);
}

static inline pcal_env check_env(check_memory *memory) {
  pcal_env env = PCAL_ENV_INIT;
  env.allocator = (pcal_allocator){check_resize, check_release, memory};
  return env;
}

static inline void check_near(double value, double expected, double tolerance) {
  assert_true(value >= expected - tolerance && value <= expected + tolerance);
}

static inline size_t check_count(const char *text, const char *word) {
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word))
    count++;
  return count;
}

/* Length of an element's name that starts at text. */
static inline size_t check_name(const char *text) {
  return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
}

/* Fails unless every tag is closed in order, attributes are quoted, and '<' and '&' occur
 * only as markup. */
static inline void check_xml(const char *text) {
  struct {
    const char *name;
    size_t length;
  } open[32];
  size_t depth = 0, roots = 0;
  while (*text != '\0') {
    if (*text == '&')
      assert_true(!strncmp(text, "&amp;", 5) || !strncmp(text, "&lt;", 4) ||
                  !strncmp(text, "&gt;", 4) || !strncmp(text, "&quot;", 6));
    assert_true((unsigned char)*text >= 0x20 || *text == '\n');
    if (*text++ != '<')
      continue;
    const int closing = *text == '/';
    text += closing;
    const size_t length = check_name(text);
    assert_true(length > 0);
    const char *name = text;
    text += length;
    if (closing) {
      assert_true(depth > 0);
      depth--;
      assert_int_equal(length, open[depth].length);
      assert_memory_equal(name, open[depth].name, length);
      assert_true(*text++ == '>');
      continue;
    }
    while (*text == ' ') {
      text += strcspn(text, "=<>");
      assert_true(text[0] == '=' && text[1] == '"');
      text += 2;
      text += strcspn(text, "\"<");
      assert_true(*text++ == '"');
    }
    roots += depth == 0;
    if (text[0] == '/' && text[1] == '>') {
      text += 2;
      continue;
    }
    assert_true(*text++ == '>');
    assert_true(depth < 32);
    open[depth].name = name;
    open[depth++].length = length;
  }
  assert_int_equal(depth, 0);
  assert_int_equal(roots, 1);
}

/* Four bins: too high, empty, too low with few rows, exact. */
static const pcal_bin check_bins[] = {{0, 0.25, 100, 0.2, 0.1},
                                      {0.25, 0.5, 0, 0, 0},
                                      {0.5, 0.75, 29, 0.6, 0.8},
                                      {0.75, 1, 71, 0.9, 0.9}};

static inline pc_reliability_data check_data(void) {
  return (pc_reliability_data){.bins = check_bins,
                               .bin_count = 4,
                               .rows = 200,
                               .mean_score = 0.5065,
                               .hit_rate = 0.4855,
                               .ece = 0.079,
                               .has_ece = 1};
}

#define CHECK_WORDS_MAX 400

/* The boxes of all words of a figure. */
typedef struct check_words {
  pc_rect box[CHECK_WORDS_MAX];
  char text[CHECK_WORDS_MAX][48];
  size_t count;
} check_words;

static inline void check_word_add(void *user, const pc_placed_text *word) {
  check_words *words = user;
  assert_true(words->count < CHECK_WORDS_MAX);
  words->box[words->count] = pc_placed_text_box(word);
  strncpy(words->text[words->count], word->text, 47);
  words->text[words->count++][47] = '\0';
}

/* Fails when two words of a figure overlap, or one leaves it. */
static inline void check_words_apart(const pc_figure *figure, const char *name) {
  static check_words words;
  words = (check_words){.count = 0};
  pc_figure_each_text(figure, check_word_add, &words);
  for (size_t i = 0; i < words.count; i++) {
    const pc_rect a = words.box[i];
    if (a.x < 0 || a.y < 0 || a.x + a.width > figure->width || a.y + a.height > figure->height)
      fail_msg("%s at %d x %d: \"%s\" leaves the figure (%d %d %d %d)", name,
               (int)figure->width, (int)figure->height, words.text[i], (int)a.x, (int)a.y,
               (int)a.width, (int)a.height);
    for (size_t j = 0; j < i; j++) {
      const pc_rect b = words.box[j];
      if (a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height &&
          b.y < a.y + a.height)
        fail_msg("%s at %d x %d: \"%s\" and \"%s\" overlap", name, (int)figure->width,
                 (int)figure->height, words.text[j], words.text[i]);
    }
  }
}

/* Fails when a mark leaves its panel; lines that lead to a note may. */
static inline void check_marks_inside(const pc_figure *figure, const char *name) {
  for (size_t i = 0; i < figure->mark_count; i++) {
    const pc_mark *mark = &figure->marks[i];
    const pc_rect *rect = &figure->panels[mark->panel].rect;
    const int leads = i + 1 < figure->mark_count && mark->kind == PC_MARK_SEGMENT &&
                      figure->marks[i + 1].kind == PC_MARK_NOTE;
    for (size_t j = 0; mark->kind != PC_MARK_NOTE && !leads && j < mark->count; j++) {
      const pc_point at =
          pc_panel_to_figure(&figure->panels[mark->panel], figure->points[mark->first + j]);
      if (!(at.x >= rect->x - 2 && at.x <= rect->x + rect->width + 2 && at.y >= rect->y - 1 &&
            at.y <= rect->y + rect->height + 1))
        fail_msg("%s: a mark of kind %d leaves panel %zu", name, (int)mark->kind, mark->panel);
    }
  }
}

#endif
