/* A calibrator: one row that says what it is and what it keeps, and how it is fitted, applied,
 * written and read.
 *
 * A new method is one file with one row, listed in registry.def; fitting, applying, files,
 * help and the law tests are read from the row. */
#ifndef PC_CALIBRATOR_H
#define PC_CALIBRATOR_H

#include "base/json.h"
#include "base/json_read.h"
#include "base/options.h"
#include "data/rows.h"

/* What is promised of a row's maps; the law tests look for counterexamples. */
typedef enum pc_calibrator_trait {
  PC_INJECTIVE = 1,         /* different probabilities stay different */
  PC_KEEPS_ACCURACY = 2,    /* the top class stays a top class */
  PC_KEEPS_ORDER = 4,       /* the order of the classes of a row stays, ties may appear */
  PC_SUMS_TO_ONE = 8,       /* rows of probabilities sum to one */
  PC_GUARDED = 16,          /* never worse than identity on its own objective */
  PC_TAKES_CONFIDENCE = 32, /* can be had from confidences alone */
  PC_SQUARE = 64,           /* parameters grow with the square of the classes */
  PC_ANY_TASK = 128         /* also for predictions of a number */
} pc_calibrator_trait;

typedef enum pc_fit_status {
  PC_FIT_CONVERGED = 1, /* the gradient vanishes */
  PC_FIT_STOPPED,       /* at a bound, or no step helped any more */
  PC_FIT_IDENTITY,      /* nothing is better than leaving the probabilities alone */
  PC_FIT_CLOSED_FORM    /* no search was needed */
} pc_fit_status;

#define PC_WARNINGS_MAX 4
#define PC_WARNING_SIZE 256

/* Warnings that a method may have given in its own words. */
enum { PC_WARNED_ABSENT_CLASS = 1, PC_WARNED_PROBABILITIES = 2 };

/* How a fit went. */
typedef struct pc_fit_info {
  pc_fit_status status;
  uint64_t iterations;  /* passes over all rows */
  int searched;         /* gradient, before and after have a meaning */
  double gradient;      /* size, of the mean objective, at the result */
  double before, after; /* mean objective; infinite beyond the doubles */
  uint64_t rows;        /* that count */
  int weighted;
  double weight; /* sum over the rows */
  uint64_t normalized, skipped;
  char warnings[PC_WARNINGS_MAX][PC_WARNING_SIZE];
  unsigned warned; /* PC_WARNED_...: said by the method itself */
  size_t warning_count;
} pc_fit_info;

typedef struct pc_calibrator_method pc_calibrator_method;
typedef struct pc_group_calibrators pc_group_calibrators; /* calibrators/group_calibrators.h */
typedef struct pc_recipe pc_recipe;                       /* calibrators/recipe.h */

struct pcal_calibrator {
  pcal_env env;
  const pc_calibrator_method *row;
  pc_options options;
  pc_layout layout;
  int normalize;      /* rows are rescaled as in the fit */
  char **class_names; /* one for each column, or NULL */
  pc_fit_info fit;
  void *parameters;               /* the row's own */
  pc_group_calibrators *grouping; /* calibrators of groups of rows, or NULL */
};

/* What a fit works on. */
typedef struct pc_fit_task {
  pcal_source *source;
  const pcal_env *env;
  int skip_missing;
  pcal_calibrator *calibrator; /* without parameters; layout and options are set */
} pc_fit_task;

struct pc_calibrator_method {
  pcal_registry_row row;
  unsigned traits;
  int needs_scores; /* apply takes scores, not probabilities */
  /* The spec under which it stands in a comparison of all methods; NULL: its name; "": it has
   * no place there. */
  const char *contends_as;
  /* Traits of a fitted one, where they depend on its parameters; NULL: those above. */
  unsigned (*traits_now)(const pcal_calibrator *calibrator);
  /* Name of what fit minimises; NULL: the word of the option "objective", or nothing. */
  const char *(*objective)(const pcal_calibrator *calibrator);
  /* Fills parameters and fit; on failure what was allocated is released by `release`. */
  pcal_status (*fit)(const pc_fit_task *task, pcal_error *err);
  /* Maps `count` rows of `classes` values: scores (logits or log-probabilities), or
   * probabilities (confidences); out has the same shape and may not overlap. */
  void (*apply)(const pcal_calibrator *calibrator, const double *in, size_t count, double *out);
  /* The same of finite floats, each result rounded once; 0 where it does not want to, and then
   * out may hold anything.  NULL: it never does. */
  int (*apply_floats)(const pcal_calibrator *calibrator, const float *in, size_t count,
                      float *out);
  /* Columns of a row that comes out, the last ones that apply fills; NULL: as many as the
   * scores have. */
  size_t (*columns)(const pcal_calibrator *calibrator);
  /* Numbers that apply may use behind its results; NULL: none. */
  size_t (*space)(const pcal_calibrator *calibrator);
  /* Adds the steps from what apply takes to what comes out; says why where it cannot.  NULL: no
   * such steps are known. */
  const char *(*recipe)(const pcal_calibrator *calibrator, pc_recipe *out);
  /* Members of the object "parameters"; reading checks names, sizes and ranges. */
  void (*write)(const pcal_calibrator *calibrator, pc_json *json);
  pcal_status (*read)(pcal_calibrator *calibrator, const pc_json_node *parameters,
                      const char *file, pcal_error *err);
  /* One line or a few for people. */
  void (*tell)(const pcal_calibrator *calibrator, pc_text *out);
  void (*release)(pcal_calibrator *calibrator); /* parameters may be NULL */
};

size_t pc_calibrator_method_count(void);
const pc_calibrator_method *pc_calibrator_method_at(size_t index); /* NULL behind the last */
const pc_calibrator_method *pc_calibrator_method_find(const char *name);

/* Finds the row of a spec and parses its options; an unknown name is refused with the nearest
 * one. */
PC_CHECKED pcal_status pc_calibrator_parse(const char *spec, const pc_calibrator_method **row,
                                           pc_options *options, pcal_error *err);

/* A calibrator of a row without parameters. */
PC_CHECKED pcal_status pc_calibrator_new(const pcal_env *env, const pc_calibrator_method *row,
                                         const pc_options *options, const pc_layout *layout,
                                         pcal_calibrator **out, pcal_error *err);
void pc_calibrator_free(pcal_calibrator *calibrator);

/* Fails when the row cannot work on the layout. */
PC_CHECKED pcal_status pc_calibrator_check_layout(const pc_calibrator_method *row,
                                                  const pc_layout *layout, pcal_error *err);

/* Name of the objective that was minimised, in a caller's buffer; NULL when there is none. */
const char *pc_calibrator_objective(const pcal_calibrator *calibrator, char *out, size_t size);

/* Columns of a row that comes out. */
size_t pc_calibrator_columns(const pcal_calibrator *calibrator);

/* What holds for this calibrator. */
unsigned pc_calibrator_traits(const pcal_calibrator *calibrator);

/* Adds a sentence; further ones than PC_WARNINGS_MAX are dropped, longer ones cut. */
void pc_fit_warn(pc_fit_info *fit, const char *format, ...) PC_PRINTF(2, 3);

/* "converged", "stopped", "identity", "closed-form". */
const char *pc_fit_status_name(pc_fit_status status);

/* A name for each trait that outputs show: calls with i = 0, 1, ... until NULL. */
const char *pc_calibrator_trait_name(size_t i, unsigned *trait);

#endif
