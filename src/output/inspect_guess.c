/* The guess of inspect.  It only saves typing: kinds are declared when measuring.
 *
 *   0. columns that `data` finds by name have the role that they have there;
 *   1. the outcome: the first column of whole numbers or words with a name such as died or label;
 *      else, once there are scores, the last column of whole numbers below the number of
 *      classes, or of words, that is not named like an identifier, a weight or a group;
 *   2. scores, the first that applies:
 *      a. the longest run of columns in [0, 1] whose rows sum to 1, unless all are whole (dummy
 *         variables), or the outcome has two values, the run more columns, and b applies;
 *      b. one column in [0, 1] with a name such as risk or p_died: probs; confidence by its
 *         name or if the outcome is named correct;
 *      c. a run of columns with a common first word: log_probs if exponentials of rows sum to
 *         1; logits if the word is logit, z, score ...;
 *      d. one column with such a name beyond [0, 1]: logits, but probs if it is called risk or
 *         p, so that measuring says which row is wrong;
 *      e. the last column in [0, 1] that is not whole: probs;
 *      f. columns without names: all but the outcome, logits;
 *   3. weights and groups only by name;
 *   4. a matrix is one input: probs, log_probs, one-hot labels or logits; a column alone is
 *      weights or groups by its name or that of its file, else labels if it is whole or words.
 *
 * Only the first rows are looked at.  Cost: linear in them. */
#include "output/inspect_guess.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "data/rows.h"
#include "io/data_columns.h"
#include "io/slice.h"

#define GUESS_NONE SIZE_MAX
#define GUESS_NEAR 1e-2 /* a row's distance from 1 */

/* Words in names of columns. */
#define GUESS_OUTCOME                                                                     \
  "label|labels|y|truth|target|targets|class|outcome|outcomes|event|died|death|dead|"     \
  "mortality|"                                                                            \
  "survived|correct|actual|response|observed|readmitted|relapse|default|defaulted|churn|" \
  "churned|"                                                                              \
  "fraud|diagnosis"
#define GUESS_SHARE "p|prob|probs|proba|probability|probabilities|risk|risks|phat|likelihood"
#define GUESS_CONFIDENCE "confidence|conf"
#define GUESS_SCORE    \
  GUESS_SHARE          \
  "|" GUESS_CONFIDENCE \
  "|score|scores|pred|preds|predicted|prediction|predictions|yhat|forecast|logit|logits"
#define GUESS_LOGIT "logit|logits|z|s|f|score|scores|output|outputs"
#define GUESS_WEIGHT "weight|weights|wt|ipw|ipcw"
#define GUESS_GROUP                                                                        \
  "group|groups|site|hospital|center|centre|clinic|ward|sex|gender|ethnicity|race|region|" \
  "country|"                                                                               \
  "cohort|female|male"
#define GUESS_TIME "date|time|timestamp|key"
#define GUESS_ID GUESS_TIME "|id|ids|index|idx|row"
#define GUESS_OTHER                                                                        \
  GUESS_ID "|patient|subject|customer|user|sample|name|number|no|age|year|month|day|fold|" \
           "split"

/* One column in the rows looked at. */
typedef struct guess_column {
  int number; /* numbers and no words */
  int unit;   /* numbers in [0, 1] */
  int whole;  /* whole numbers >= 0 */
  double high;
} guess_column;

typedef struct guess_state {
  const pc_guess_table *table;
  guess_column *columns; /* NULL: values are not known */
  const char **roles;
  size_t outcome; /* or GUESS_NONE */
  size_t scores;  /* number of columns */
} guess_state;

typedef struct guess_run {
  size_t first, count;
} guess_run;

static int guess_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static int guess_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

/* The next word of a name, without digits; "predictedRisk" has two. */
static pc_slice guess_next_word(const char *at) {
  while (*at != '\0' && !guess_letter(*at))
    at++;
  size_t length = 0;
  while (guess_letter(at[length]) &&
         (length == 0 || !guess_upper(at[length]) || guess_upper(at[length - 1])))
    length++;
  return (pc_slice){at, length};
}

/* True if a word, ignoring case, is one of those separated by '|'. */
static int guess_listed(const char *words, pc_slice word) {
  while (*words != '\0') {
    const size_t length = strcspn(words, "|");
    size_t same = 0;
    while (same < length && same < word.length &&
           words[same] == (guess_upper(word.bytes[same]) ? (char)(word.bytes[same] + 'a' - 'A')
                                                         : word.bytes[same]))
      same++;
    if (same == length && length == word.length)
      return 1;
    words += length + (words[length] == '|');
  }
  return 0;
}

/* True if a word of a name is listed. */
static int guess_has_word(const char *name, const char *words) {
  pc_slice word = guess_next_word(name);
  while (word.length > 0) {
    if (guess_listed(words, word))
      return 1;
    word = guess_next_word(word.bytes + word.length);
  }
  return 0;
}

static int guess_named(const guess_state *guess, size_t c, const char *words) {
  return guess->table->names != NULL && guess_has_word(guess->table->names[c], words);
}

static int guess_weight(const guess_state *guess, size_t c) {
  return guess_named(guess, c, GUESS_WEIGHT) ||
         (guess->table->names != NULL && strcmp(guess->table->names[c], "w") == 0);
}

static guess_column guess_look(const pc_guess_table *table, size_t c) {
  guess_column column = {0, 1, 1, -INFINITY};
  for (size_t r = 0; r < table->rows; r++) {
    const double value = table->cells[r * table->columns + c];
    if (isnan(value))
      continue;
    column.number = 1;
    column.unit &= value >= 0 && value <= 1;
    column.whole &= value >= 0 && value == floor(value);
    column.high = fmax(column.high, value);
  }
  column.number &= !table->words[c];
  column.unit &= column.number;
  column.whole &= column.number;
  return column;
}

/* May hold scores: numbers that have no other role. */
static int guess_free(const guess_state *guess, size_t c) {
  return guess->columns[c].number && guess->roles[c] == NULL && c != guess->outcome &&
         !guess_named(guess, c, GUESS_ID) && !guess_weight(guess, c);
}

static void guess_take(guess_state *guess, guess_run run, const char *role) {
  for (size_t c = run.first; c < run.first + run.count; c++)
    guess->roles[c] = role;
  guess->scores = run.count;
}

/* ---- Outcomes ---- */

/* Whole numbers below a number of classes, or words; any member whose values are not known. */
static int guess_outcome_fits(const guess_state *guess, size_t c, size_t classes) {
  if (guess->columns == NULL)
    return 1;
  const guess_column *column = &guess->columns[c];
  return guess->table->words[c] || (column->whole && column->high < (double)classes);
}

static void guess_outcome_by_name(guess_state *guess) {
  for (size_t c = 0; c < guess->table->columns && guess->outcome == GUESS_NONE; c++)
    if (guess->roles[c] == NULL && guess_outcome_fits(guess, c, SIZE_MAX) &&
        guess_named(guess, c, GUESS_OUTCOME) && !guess_named(guess, c, GUESS_SCORE) &&
        !guess_named(guess, c, GUESS_TIME) && !guess_weight(guess, c))
      guess->outcome = c;
}

static void guess_outcome_by_values(guess_state *guess) {
  const size_t classes = guess->scores < 2 ? 2 : guess->scores;
  for (size_t c = guess->table->columns; c-- > 0 && guess->outcome == GUESS_NONE;)
    if (guess->roles[c] == NULL && guess_outcome_fits(guess, c, classes) &&
        !guess_named(guess, c, GUESS_OTHER "|" GUESS_GROUP "|" GUESS_SCORE) &&
        !guess_weight(guess, c))
      guess->outcome = c;
}

/* ---- Scores ---- */

/* Where the columns end, from `first` on, whose values in a row sum to at most 1. */
static size_t guess_row_end(const guess_state *guess, const double *row, size_t first,
                            size_t end, double *sum) {
  while (end < guess->table->columns && guess_free(guess, end) && guess->columns[end].unit &&
         *sum + row[end] <= 1 + GUESS_NEAR)
    *sum += row[end++];
  return end < first ? first : end;
}

/* ends[c]: where the run from column c ends in which no row sums to more than 1.  Two ends move
 * through each row, so a row costs its columns. */
static void guess_run_ends(const guess_state *guess, size_t *ends) {
  const size_t columns = guess->table->columns;
  for (size_t c = 0; c < columns; c++)
    ends[c] = columns;
  for (size_t r = 0; r < guess->table->rows; r++) {
    const double *row = guess->table->cells + r * columns;
    double sum = 0.0;
    size_t end = 0;
    for (size_t c = 0; c < columns; c++) {
      if (end <= c) {
        end = c;
        sum = 0.0;
      }
      end = guess_row_end(guess, row, c, end, &sum);
      ends[c] = end < ends[c] ? end : ends[c];
      if (end > c)
        sum -= row[c];
    }
  }
}

/* True if the values of each row, or their exponentials, sum to 1. */
static int guess_sums(const guess_state *guess, guess_run run, int exponentials) {
  for (size_t r = 0; r < guess->table->rows; r++) {
    const double *row = guess->table->cells + r * guess->table->columns + run.first;
    double sum = 0.0;
    for (size_t c = 0; c < run.count; c++)
      sum += exponentials ? pc_exp(row[c]) : row[c];
    if (!(fabs(sum - 1) <= GUESS_NEAR))
      return 0;
  }
  return guess->table->rows > 0;
}

static int guess_all_whole(const guess_state *guess, guess_run run) {
  for (size_t c = run.first; c < run.first + run.count; c++)
    if (!guess->columns[c].whole)
      return 0;
  return 1;
}

/* The longest run of two columns or more whose rows sum to 1; count is 0 if there is none. */
static guess_run guess_find_shares(const guess_state *guess, size_t *ends) {
  guess_run best = {0, 0};
  guess_run_ends(guess, ends);
  for (size_t c = 0; c < guess->table->columns; c++) {
    const guess_run run = {c, ends[c] > c ? ends[c] - c : 0};
    if (run.count >= 2 && run.count > best.count && !guess_all_whole(guess, run) &&
        guess_sums(guess, run, 0))
      best = run;
  }
  return best;
}

/* The first column outside a run with a name of scores, within [0, 1] or beyond; or GUESS_NONE. */
static size_t guess_find_named(const guess_state *guess, guess_run outside, int unit) {
  for (size_t c = 0; c < guess->table->columns; c++)
    if (c - outside.first >= outside.count && guess_free(guess, c) &&
        guess->columns[c].unit == unit && !guess->columns[c].whole &&
        guess_named(guess, c, GUESS_SCORE))
      return c;
  return GUESS_NONE;
}

static const char *guess_named_role(const guess_state *guess, size_t c) {
  const size_t outcome = guess->outcome;
  if (guess_named(guess, c, "logit|logits") ||
      (!guess->columns[c].unit && !guess_named(guess, c, GUESS_SHARE "|" GUESS_CONFIDENCE)))
    return "logits";
  return guess_named(guess, c, GUESS_CONFIDENCE) ||
                 (outcome != GUESS_NONE && guess_named(guess, outcome, "correct"))
             ? "confidence"
             : "probs";
}

/* The run from a column on whose names begin with the same word. */
static guess_run guess_same_word(const guess_state *guess, size_t first) {
  const char *const *names = guess->table->names;
  const pc_slice word = guess_next_word(names[first]);
  guess_run run = {first, 0};
  for (size_t c = first; c < guess->table->columns && guess_free(guess, c); c++) {
    const pc_slice other = guess_next_word(names[c]);
    if (other.length != word.length || memcmp(other.bytes, word.bytes, word.length) != 0)
      break;
    run.count++;
  }
  return run;
}

static int guess_take_logits(guess_state *guess) {
  if (guess->table->names == NULL)
    return 0;
  for (size_t c = 0; c < guess->table->columns; c++) {
    const guess_run run = guess_same_word(guess, c);
    if (run.count < 2)
      continue;
    const pc_slice word = guess_next_word(guess->table->names[c]);
    const int exponentials = guess_sums(guess, run, 1);
    if (exponentials || ((word.length == 0 || guess_listed(GUESS_LOGIT, word)) &&
                         !guess_all_whole(guess, run))) {
      guess_take(guess, run, exponentials ? "log_probs" : "logits");
      return 1;
    }
    c += run.count - 1;
  }
  return 0;
}

static int guess_take_named(guess_state *guess, guess_run outside, int unit) {
  const size_t named = guess_find_named(guess, outside, unit);
  if (named != GUESS_NONE)
    guess_take(guess, (guess_run){named, 1}, guess_named_role(guess, named));
  return named != GUESS_NONE;
}

/* Columns without names. */
static void guess_take_rest(guess_state *guess) {
  if (guess->table->names != NULL || guess->table->columns < 3)
    return;
  guess->scores = guess->table->columns - 1;
  guess_outcome_by_values(guess);
  for (size_t c = 0; c < guess->table->columns; c++)
    if (c != guess->outcome && guess->columns[c].number)
      guess->roles[c] = "logits";
}

static int guess_take_last_share(guess_state *guess) {
  for (size_t c = guess->table->columns; c-- > 0;)
    if (guess_free(guess, c) && guess->columns[c].unit && !guess->columns[c].whole) {
      guess_take(guess, (guess_run){c, 1}, "probs");
      return 1;
    }
  return 0;
}

/* True if the run is more likely to be the scores than a column named so. */
static int guess_shares_first(const guess_state *guess, guess_run shares) {
  const int yes_no = guess->outcome != GUESS_NONE && guess->columns[guess->outcome].unit;
  return shares.count == 2 || !yes_no || guess_find_named(guess, shares, 1) == GUESS_NONE;
}

static void guess_scores(guess_state *guess, size_t *ends) {
  const guess_run shares = guess_find_shares(guess, ends);
  if (shares.count > 0 && guess_shares_first(guess, shares))
    guess_take(guess, shares, "probs");
  else if (!guess_take_named(guess, shares, 1) && !guess_take_logits(guess) &&
           !guess_take_named(guess, shares, 0) && !guess_take_last_share(guess))
    guess_take_rest(guess);
}

/* ---- The whole ---- */

/* Weights and groups in a file of their own, by the name of the column or of the file. */
static const char *guess_lone_role(const guess_state *guess, const char *otherwise) {
  const char *name = guess->table->file;
  for (const char *at = name; *at != '\0'; at++)
    name = *at == '/' || *at == '\\' ? at + 1 : name;
  if (guess->table->names != NULL)
    name = guess->table->names[0];
  if (guess_has_word(name, GUESS_WEIGHT) && guess->columns[0].number)
    return "weights";
  return guess_has_word(name, GUESS_GROUP) && strcmp(otherwise, "labels") == 0 ? "groups"
                                                                               : otherwise;
}

/* A matrix, or a column alone. */
static void guess_one_input(guess_state *guess) {
  const guess_run all = {0, guess->table->columns};
  const int whole = guess_all_whole(guess, all);
  int unit = 1;
  for (size_t c = 0; c < all.count; c++)
    unit &= guess->columns[c].unit;
  const char *role = "logits";
  if (guess->table->words[0] || (whole && (all.count == 1 || unit)))
    role = "labels";
  else if (unit && (all.count == 1 || guess_sums(guess, all, 0)))
    role = "probs";
  else if (all.count > 1 && guess_sums(guess, all, 1))
    role = "log_probs";
  if (all.count == 1)
    role = guess_lone_role(guess, role);
  for (size_t c = 0; c < all.count; c++)
    guess->roles[c] = guess->columns[c].number || guess->table->words[c] ? role : NULL;
}

/* Roles by the names that `data` knows.  Sets *done if these are predictions of a number. */
static pcal_status guess_data(guess_state *guess, const pcal_env *env, int members, int *done,
                              pcal_error *err) {
  const pc_guess_table *table = guess->table;
  const pc_column_set set = {table->file, table->names, table->columns};
  pc_data_columns found;
  pcal_error why;
  *done = 0;
  guess->outcome = GUESS_NONE;
  for (size_t c = 0; c < table->columns; c++)
    guess->roles[c] = NULL;
  if (table->names == NULL)
    return PCAL_OK;
  const pcal_status status = members ? pc_data_members_find(&set, env, &found, &why)
                                     : pc_data_columns_find(&set, env, &found, &why);
  if (status != PCAL_OK)
    return status == PCAL_MEMORY ? pc_error_pass(err, &why) : PCAL_OK;
  pc_data_columns_roles(&found, table->columns, guess->roles);
  guess->outcome = found.labels;
  guess->scores = found.score_count;
  *done = pc_kind_form(found.kind) != PC_FORM_CLASSES;
  pc_data_columns_free(env, &found);
  return PCAL_OK;
}

static void guess_outcome_role(guess_state *guess) {
  if (guess->outcome == GUESS_NONE)
    return;
  const char *role = "labels";
  for (size_t c = 0; c < guess->table->columns; c++)
    if (guess->roles[c] != NULL && strcmp(guess->roles[c], "confidence") == 0)
      role = "correct";
  guess->roles[guess->outcome] = role;
}

static void guess_others(guess_state *guess) {
  for (size_t c = 0; c < guess->table->columns; c++) {
    if (guess->roles[c] != NULL)
      continue;
    if (guess_weight(guess, c) && (guess->columns == NULL || guess->columns[c].number))
      guess->roles[c] = "weights";
    else if (guess_named(guess, c, GUESS_GROUP) && guess_outcome_fits(guess, c, SIZE_MAX))
      guess->roles[c] = "groups";
  }
}

static void guess_table(guess_state *guess, size_t *ends) {
  for (size_t c = 0; c < guess->table->columns; c++)
    guess->columns[c] = guess_look(guess->table, c);
  if (guess->table->matrix || (guess->table->columns == 1 && guess->scores == 0)) {
    guess_one_input(guess);
    return;
  }
  guess_outcome_by_name(guess);
  if (guess->scores == 0)
    guess_scores(guess, ends);
  if (guess->scores > 0)
    guess_outcome_by_values(guess);
  guess_outcome_role(guess);
  guess_others(guess);
}

pcal_status pc_inspect_guess(const pc_guess_table *table, const pcal_env *env,
                             const char **roles, pcal_error *err) {
  guess_state guess = {.table = table, .roles = roles};
  int done;
  PC_TRY(guess_data(&guess, env, 0, &done, err));
  if (done || table->rows == 0)
    return PCAL_OK;
  size_t *ends = pc_alloc_raw(env, table->columns, sizeof *ends);
  guess.columns = pc_alloc_raw(env, table->columns, sizeof *guess.columns);
  const int enough = ends != NULL && guess.columns != NULL;
  if (enough)
    guess_table(&guess, ends);
  pc_free(env, guess.columns);
  pc_free(env, ends);
  return enough ? PCAL_OK : pc_fail_memory(err, "inspecting");
}

static void guess_members_scores(guess_state *guess) {
  for (size_t c = 0; c < guess->table->columns && guess->scores == 0; c++)
    if (c != guess->outcome && guess_named(guess, c, GUESS_SCORE)) {
      const int logits = guess_named(guess, c, "logit|logits");
      const int confidence = guess_named(guess, c, GUESS_CONFIDENCE);
      guess_take(guess, (guess_run){c, 1},
                 logits       ? "logits"
                 : confidence ? "confidence"
                              : "probs");
    }
}

pcal_status pc_inspect_guess_members(const pc_guess_table *table, const pcal_env *env,
                                     int columns, const char **roles, pcal_error *err) {
  guess_state guess = {.table = table, .roles = roles};
  int done;
  PC_TRY(guess_data(&guess, env, !columns, &done, err));
  if (done)
    return PCAL_OK;
  guess_outcome_by_name(&guess);
  guess_members_scores(&guess);
  guess_outcome_role(&guess);
  guess_others(&guess);
  return PCAL_OK;
}
