#include "changing_sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "row_trap.h"
#include "testing.h"

#define CHANGING_SETS_MOST 64
#define CHANGING_HUGE 60 /* rows of huge weights; their sum stays exact */

static law_set *changing_sets[CHANGING_SETS_MOST];
static uint64_t *changing_ids[CHANGING_SETS_MOST];
static double *changing_huge[CHANGING_SETS_MOST];
static size_t changing_sets_made;

void *changing_room(size_t count, size_t size) {
  void *room = calloc(count, size);
  assert_non_null(room);
  return room;
}

static double changing_cell(const law_set *set, size_t at) {
  return set->type == PCAL_F32 ? (double)((const float *)set->scores)[at]
                               : ((const double *)set->scores)[at];
}

/* A set of more rows, which repeat those of another one, as float32. */
static law_set *changing_tiled(const law_set *from, size_t rows, const char *name) {
  law_set *set = changing_room(1, sizeof *set);
  *set = *from;
  set->name = name;
  set->type = PCAL_F32;
  set->rows = rows;
  float *scores = changing_room(rows * set->columns, sizeof *scores);
  set->scores = scores;
  set->labels = changing_room(rows, sizeof *set->labels);
  set->targets = changing_room(rows, sizeof *set->targets);
  set->whole = changing_room(rows, sizeof *set->whole);
  set->fractional = changing_room(rows, sizeof *set->fractional);
  set->groups = changing_room(rows, sizeof *set->groups);
  set->levels = NULL;
  for (size_t i = 0; i < rows; i++) {
    const size_t at = i % from->rows;
    for (size_t j = 0; j < set->columns; j++)
      scores[i * set->columns + j] = (float)changing_cell(from, at * set->columns + j);
    set->labels[i] = from->labels[at];
    set->targets[i] = from->targets[at];
    set->whole[i] = from->whole[at];
    set->fractional[i] = from->fractional[at];
    set->groups[i] = from->groups[at];
  }
  return set;
}

/* Logits become probabilities. */
static law_set *changing_softmax(law_set *set, const char *name) {
  float *scores = set->scores;
  for (size_t i = 0; i < set->rows; i++) {
    float *row = scores + i * set->columns;
    double sum = 0;
    for (size_t j = 0; j < set->columns; j++)
      sum += exp((double)row[j]);
    for (size_t j = 0; j < set->columns; j++)
      row[j] = (float)(exp((double)row[j]) / sum);
  }
  set->name = name;
  set->kind = PCAL_PROBABILITY;
  return set;
}

/* Moves an array to memory that can be trapped. */
static void *changing_move(void *from, size_t bytes) {
  void *to = row_trap_room(bytes);
  memcpy(to, from, bytes);
  free(from);
  return to;
}

static void changing_set_move(law_set *set) {
  const size_t rows = set->rows;
  set->scores = changing_move(set->scores, rows * set->columns * law_score_size(set));
  set->labels = changing_move(set->labels, rows * sizeof *set->labels);
  set->targets = changing_move(set->targets, rows * sizeof *set->targets);
  set->whole = changing_move(set->whole, rows * sizeof *set->whole);
  set->fractional = changing_move(set->fractional, rows * sizeof *set->fractional);
  set->groups = changing_move(set->groups, rows * sizeof *set->groups);
}

/* Ids, and weights as large as they may be. */
static void changing_set_add(size_t number) {
  static const double weights[] = {1.0,  0x1p31, 3.0,  0x1p32 + 1.0, 0x1p39,
                                   1e12, 0.0,    1e11, 0x1p39 - 1.0, 7.0}; /* at most 1e12 */
  const size_t rows = changing_sets[number]->rows;
  uint64_t *ids = changing_ids[number] = row_trap_room(rows * sizeof *ids);
  double *huge = changing_huge[number] = row_trap_room(rows * sizeof *huge);
  for (size_t i = 0; i < rows; i++) {
    ids[i] = UINT64_C(0x9E3779B97F4A7C15) * (i + 1);
    huge[i] = i < CHANGING_HUGE ? weights[i % (sizeof weights / sizeof *weights)] : 1.0;
  }
}

static void changing_set_free(law_set *set) {
  const size_t rows = set->rows;
  row_trap_free(set->scores, rows * set->columns * law_score_size(set));
  row_trap_free(set->labels, rows * sizeof *set->labels);
  row_trap_free(set->targets, rows * sizeof *set->targets);
  row_trap_free(set->whole, rows * sizeof *set->whole);
  row_trap_free(set->fractional, rows * sizeof *set->fractional);
  row_trap_free(set->groups, rows * sizeof *set->groups);
  free(set->levels);
  free(set);
}

void changing_sets_make(void) {
  const size_t small = law_set_count();
  assert_true(small + 6 <= CHANGING_SETS_MOST);
  for (size_t i = 0; i < small; i++) {
    changing_sets[changing_sets_made] = law_set_make(i);
    changing_sets[changing_sets_made++]->rows = CHANGING_ROWS;
  }
  law_set **more = changing_sets + small;
  more[0] = changing_tiled(changing_sets[2], 70000, "70000 binary probabilities, float32");
  more[1] = changing_tiled(changing_sets[5], 70000, "70000 confidences, float32");
  more[2] = law_set_large();
  more[2]->rows = CHANGING_ROWS;
  law_set *narrow = law_set_narrow();
  more[3] = changing_softmax(changing_tiled(narrow, CHANGING_ROWS, ""),
                             "probabilities of 14 classes, float32");
  more[4] = changing_softmax(changing_tiled(more[2], CHANGING_ROWS, ""),
                             "probabilities of 256 classes, float32");
  more[5] = changing_tiled(changing_sets[6], 2000, "2000 means and variances, float32");
  law_set_free(narrow);
  changing_sets_made += 6;
  for (size_t i = 0; i < changing_sets_made; i++) {
    changing_set_move(changing_sets[i]);
    changing_set_add(i);
  }
}

void changing_sets_free(void) {
  for (size_t i = 0; i < changing_sets_made; i++) {
    const size_t rows = changing_sets[i]->rows;
    row_trap_free(changing_ids[i], rows * sizeof **changing_ids);
    row_trap_free(changing_huge[i], rows * sizeof **changing_huge);
    changing_set_free(changing_sets[i]);
  }
  changing_sets_made = 0;
}

size_t changing_set_count(void) {
  return changing_sets_made;
}

law_set *changing_set(size_t number) {
  return changing_sets[number];
}

uint64_t *changing_set_ids(size_t number) {
  return changing_ids[number];
}

double *changing_set_huge(size_t number) {
  return changing_huge[number];
}
