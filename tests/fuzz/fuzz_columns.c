#include "fuzz_columns.h"

#include <math.h>

static const char *const columns_heads[] = {
    "probs,labels",
    "probs,labels,time,weights",
    "probs,labels,groups",
    "probs.a,probs.b,probs.c,labels,groups,ids",
    "logits.0,logits.1,labels,groups.sex,groups.ward",
    "logits.0,logits.1,logits.2,labels,weights",
    "log_probs.x,log_probs.y,labels",
    "confidence,correct,abstain",
    "confidence,correct,groups,weights",
    "mean,std,target",
    "mean,variance,target,weights,groups",
    "quantiles.0.1,quantiles.0.5,quantiles.0.9,target",
    "samples.0,samples.1,samples.2,samples.3,target,groups",
};

const char *fuzz_columns_pick(fuzz_choice *choice) {
  return FUZZ_PICK(choice, columns_heads);
}

static int columns_begins(const char *name, const char *word) {
  return strncmp(name, word, strlen(word)) == 0;
}

/* What is odd about the numbers of a table; most have nothing. */
enum {
  COLUMNS_EQUAL = 8,
  COLUMNS_ONE_LABEL,
  COLUMNS_GAPS,
  COLUMNS_ZEROS,
  COLUMNS_SURE,
  COLUMNS_HUGE,
  COLUMNS_ODDITIES
};

/* 1 .. 16, the same for the same row and column; or 0 and 16 alone. */
static double columns_mass(uint64_t seed, size_t row, size_t column) {
  const uint64_t odd = seed % COLUMNS_ODDITIES;
  fuzz_choice choice =
      fuzz_choice_of_seed(seed * 1000003 + (odd == COLUMNS_EQUAL ? 0 : row) * 131 + column);
  const double mass = 1.0 + (double)fuzz_below(&choice, 16);
  return odd == COLUMNS_SURE ? (mass > 8 ? 16.0 : 0.0) : mass;
}

/* Returns 1 if it wrote a cell in place of the usual one. */
static int columns_odd_cell(const char *name, uint64_t seed, size_t row, size_t column,
                            fuzz_out *out) {
  const uint64_t odd = seed % COLUMNS_ODDITIES;
  const int here = columns_mass(seed + COLUMNS_ODDITIES, row, column) < 3;
  const int number = strchr("wmstvql", name[0]) != NULL && !columns_begins(name, "labels") &&
                     !columns_begins(name, "time");
  if (odd == COLUMNS_GAPS && here)
    fuzz_putf(out, "%s", row % 2 == 0 ? "" : "nan");
  else if (odd == COLUMNS_ZEROS && here && columns_begins(name, "weights"))
    fuzz_putf(out, "%s", row % 5 == 0 ? "-1" : "0");
  else if (odd == COLUMNS_HUGE && here && number)
    fuzz_putf(out, "%s", row % 3 == 0 ? "1e300" : row % 3 == 1 ? "-1e30" : "1e-300");
  else if (odd == COLUMNS_ONE_LABEL &&
           (columns_begins(name, "labels") || columns_begins(name, "correct")))
    fuzz_putf(out, "%s",
              strstr(name, "-abc") != NULL  ? "b"
              : strstr(name, "-xy") != NULL ? "x"
                                            : "1");
  else
    return 0;
  return 1;
}

/* The cell of a column with this name; scores of `scores` columns begin at the first column. */
static void columns_cell(const char *name, uint64_t seed, size_t row, size_t column,
                         size_t scores, fuzz_out *out) {
  static const char letters[] = "abc", others[] = "xy";
  const double mass = columns_mass(seed, row, column);
  const size_t any = (size_t)mass;
  double sum = 0;
  if (columns_odd_cell(name, seed, row, column, out))
    return;
  for (size_t c = 0; c < scores; c++)
    sum += columns_mass(seed, row, c);
  sum = sum == 0 ? 1 : sum;
  if (columns_begins(name, "probs"))
    fuzz_putf(out, "%.9g", scores > 1 ? mass / sum : mass / 16);
  else if (columns_begins(name, "log_probs"))
    fuzz_putf(out, "%.9g", log(mass / sum));
  else if (columns_begins(name, "quantiles"))
    fuzz_putf(out, "%.9g", 16.0 * (double)column + mass);
  else if (columns_begins(name, "confidence") || columns_begins(name, "logits"))
    fuzz_putf(out, "%.9g", mass / 16);
  else if (columns_begins(name, "labels-abc"))
    fuzz_putf(out, "%c", letters[any % 3]);
  else if (columns_begins(name, "labels-xy"))
    fuzz_putf(out, "%c", others[any % 2]);
  else if (columns_begins(name, "labels") || columns_begins(name, "correct"))
    fuzz_putf(out, "%zu", any % (scores > 1 ? scores : 2));
  else if (columns_begins(name, "time"))
    fuzz_putf(out, "2026-03-%02zu", 1 + row % 28);
  else if (columns_begins(name, "groups"))
    fuzz_putf(out, "g%zu", any % 3);
  else if (columns_begins(name, "ids"))
    fuzz_putf(out, "%zu", row);
  else if (columns_begins(name, "abstain"))
    fuzz_putf(out, "%d", any == 1);
  else
    fuzz_putf(out, "%.9g", mass);
}

void fuzz_columns_write(const char *head, uint64_t seed, size_t rows, fuzz_out *out) {
  const char *labels = strstr(head, "probs.a") != NULL       ? "labels-abc"
                       : strstr(head, "log_probs.x") != NULL ? "labels-xy"
                                                             : "labels";
  size_t scores = 0;
  for (const char *dot = head; (dot = strchr(dot, '.')) != NULL; dot++)
    scores += dot[1] != '\0' && dot[-1] > '9' && !columns_begins(dot, ".sex") &&
              !columns_begins(dot, ".ward");
  fuzz_putf(out, "%s\n", head);
  for (size_t row = 0; row < rows; row++) {
    size_t column = 0;
    for (const char *name = head; name != NULL; column++) {
      fuzz_putf(out, "%s", column > 0 ? "," : "");
      columns_cell(columns_begins(name, "labels") ? labels : name, seed, row, column, scores,
                   out);
      const char *comma = strchr(name, ',');
      name = comma == NULL ? NULL : comma + 1;
    }
    fuzz_putf(out, "\n");
  }
}
