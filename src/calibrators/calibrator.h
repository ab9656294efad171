/* Calibrators: maps from predicted probabilities (or scores) to better ones, fitted to data.
 *
 * A method is one file with one pc_calibrator_method, listed in registry.def; fitting,
 * applying, files, help and the law tests read everything else from it. */
#ifndef PC_CALIBRATOR_H
#define PC_CALIBRATOR_H

#include "base/arena.h"
#include "base/json.h"
#include "base/json_read.h"
#include "base/options.h"
#include "data/rows.h"

/* Properties of a map; the law tests look for counterexamples. */
typedef enum pc_calibrator_trait {
  PC_INJECTIVE = 1,         /* different probabilities stay different */
  PC_KEEPS_ACCURACY = 2,    /* the top class stays a top class */
  PC_KEEPS_ORDER = 4,       /* classes of a row keep their order; ties may appear */
  PC_SUMS_TO_ONE = 8,       /* rows of probabilities sum to one */
  PC_GUARDED = 16,          /* never worse than identity on its own objective */
  PC_TAKES_CONFIDENCE = 32, /* can be fitted to confidences alone */
  PC_SQUARE = 64,           /* the number of parameters grows with the square of the classes */
  PC_ANY_TASK = 128         /* for classes and for predictions of a number */
} pc_calibrator_trait;

typedef enum pc_fit_status {
  PC_FIT_CONVERGED = 1, /* the gradient vanishes */
  PC_FIT_STOPPED,       /* at a bound, or no step improves the objective any more */
  PC_FIT_IDENTITY,      /* nothing beats leaving the probabilities unchanged */
  PC_FIT_CLOSED_FORM    /* no search was needed */
} pc_fit_status;

#define PC_WARNINGS_MAX 4
#define PC_WARNING_SIZE 256

/* Warnings that a method gave in its own words. */
enum { PC_WARNED_ABSENT_CLASS = 1, PC_WARNED_PROBABILITIES = 2 };

/* The outcome of a fit. */
typedef struct pc_fit_info {
  pc_fit_status status;
  uint64_t iterations;  /* passes over all rows */
  int searched;         /* gradient, before and after are set */
  double gradient;      /* size of the gradient of the mean objective at the result */
  double before, after; /* mean objective; may be infinite */
  uint64_t rows;        /* rows used: not skipped, weight above 0 */
  int weighted;
  pcal_weights weights_are; /* PCAL_WEIGHTS_AUTO: not weighted, or a file that does not say */
  double
      weight; /* sum of the weights of these rows; of importance weights the effective rows */
  uint64_t normalized, skipped;
  char warnings[PC_WARNINGS_MAX][PC_WARNING_SIZE];
  unsigned warned; /* PC_WARNED_... */
  size_t warning_count;
} pc_fit_info;

typedef struct pc_calibrator_method pc_calibrator_method;
typedef struct pc_group_calibrators pc_group_calibrators; /* calibrators/group_calibrators.h */
typedef struct pc_recipe pc_recipe;                       /* calibrators/recipe.h */
typedef struct pc_fit_replay pc_fit_replay;               /* calibrators/fit_replay.h */

struct pcal_calibrator {
  pc_arena arena; /* holds everything below; freed by pc_calibrator_free */
  pcal_env env;   /* allocates from the arena */
  const pc_calibrator_method *method;
  pc_options options;
  pc_layout layout;
  int normalize;      /* rows are rescaled to sum to one, as in the fit */
  char **class_names; /* one for each column, or NULL */
  pc_fit_info fit;
  void *parameters;             /* defined by the method; NULL before the fit */
  pc_group_calibrators *groups; /* calibrators of groups of rows, or NULL */
};

/* A fit in progress.  Its environment allocates scratch memory that is freed when the fit ends,
 * so a method need not free anything, least of all when it fails; it frees early only what is
 * large or allocated again and again.  Parameters come from calibrator->env. */
typedef struct pc_fit_task {
  pcal_source *source;
  const pcal_env *env; /* scratch memory */
  int skip_missing;
  pcal_calibrator *calibrator; /* layout and options are set, parameters is NULL */
  /* The same method fitted to similar rows, or NULL.  A convex fit may start from it. */
  const pcal_calibrator *like;
  pc_fit_replay *replay; /* of a fit by rounds; NULL: `source` has all rows */
  int by_group;          /* for methods that fit groups themselves */
} pc_fit_task;

struct pc_calibrator_method {
  pcal_registry_row row;
  unsigned traits;
  int slow; /* a fit takes hundreds of passes: `compare` tries it last */
  /* apply writes sets or intervals, not predictions, so that maps of groups cannot be mixed; of
   * intervals the names of the columns, separated by ',', else NULL. */
  int makes_sets;
  const char *output_names;
  int fits_groups;      /* fit sets calibrator->groups itself where the task asks for groups */
  int takes_unlabelled; /* fit may be given rows without outcomes; fit checks when */
  int needs_scores;     /* apply takes scores (logits, log-probabilities), not probabilities */
  int in_rounds; /* can be fitted by rounds: all passes list their fields (fit_tally.h) */
  int (*can_round)(
      const pc_options *options); /* false if these options cannot; NULL: all can */
  /* Spec under which `compare` tries this method; NULL: its name, "": it is not compared. */
  const char *comparison_spec;
  /* The method that fits the same map to rows that are not logits, or NULL: `compare` then tries
   * that one alone. */
  const char *same_without_logits;
  /* Traits of a fitted calibrator, where they depend on its parameters; NULL: `traits`. */
  unsigned (*fitted_traits)(const pcal_calibrator *calibrator);
  /* Name of the objective that fit minimises; NULL: the value of the option "objective", or
   * there is none. */
  const char *(*objective)(const pcal_calibrator *calibrator);
  /* Sets parameters and fit. */
  pcal_status (*fit)(const pc_fit_task *task, pcal_error *err);
  /* Maps `count` rows of `classes` numbers; out has the same shape and may not overlap. */
  void (*apply)(const pcal_calibrator *calibrator, const double *in, size_t count, double *out);
  /* The same for finite floats, each result rounded once.  Returns 0 if it cannot, and then out
   * may hold anything.  NULL: never available. */
  int (*apply_floats)(const pcal_calibrator *calibrator, const float *in, size_t count,
                      float *out);
  /* beta, if apply is softmax(beta scores); NULL: it is something else. */
  double (*softmax_factor)(const pcal_calibrator *calibrator);
  /* Output columns: the last N of the numbers that apply writes; NULL: as many as the input
   * has. */
  size_t (*output_columns)(const pcal_calibrator *calibrator);
  /* Doubles of scratch that apply needs after its results in `out`; NULL: none. */
  size_t (*scratch_size)(const pcal_calibrator *calibrator);
  /* Adds the steps that export writes as code.  Returns NULL, or the reason why this calibrator
   * cannot be exported.  NULL: the method cannot be exported. */
  const char *(*recipe)(const pcal_calibrator *calibrator, pc_recipe *out);
  /* Writes and reads the members of the object "parameters"; reading checks names, sizes and
   * ranges. */
  void (*write)(const pcal_calibrator *calibrator, pc_json *json);
  pcal_status (*read)(pcal_calibrator *calibrator, const pc_json_node *parameters,
                      const char *file, pcal_error *err);
  /* Appends one or more human-readable lines. */
  void (*describe)(const pcal_calibrator *calibrator, pc_text *out);
};

size_t pc_calibrator_method_count(void);
const pc_calibrator_method *pc_calibrator_method_at(size_t index); /* NULL past the end */
const pc_calibrator_method *pc_calibrator_method_find(const char *name);

/* Finds the method of a spec and parses its options.  An unknown name is refused, with the
 * nearest known name. */
PC_CHECKED pcal_status pc_calibrator_parse(const char *spec,
                                           const pc_calibrator_method **method,
                                           pc_options *options, pcal_error *err);

/* A calibrator without parameters.  The caller frees it. */
PC_CHECKED pcal_status pc_calibrator_new(const pcal_env *env,
                                         const pc_calibrator_method *method,
                                         const pc_options *options, const pc_layout *layout,
                                         pcal_calibrator **out, pcal_error *err);
void pc_calibrator_free(pcal_calibrator *calibrator); /* NULL is allowed */

/* Fails if the method cannot be used with this layout. */
PC_CHECKED pcal_status pc_calibrator_check_layout(const pc_calibrator_method *method,
                                                  const pc_layout *layout, pcal_error *err);

/* Allocates parameters of `size` zeroed bytes. */
PC_CHECKED pcal_status pc_calibrator_new_parameters(pcal_calibrator *calibrator, size_t size,
                                                    pcal_error *err);

/* Name of the minimised objective, or NULL; `out` may hold it. */
const char *pc_calibrator_objective(const pcal_calibrator *calibrator, char *out, size_t size);

/* Number of output columns. */
size_t pc_calibrator_columns(const pcal_calibrator *calibrator);

/* False if apply writes sets or intervals. */
int pc_method_predicts(const pc_calibrator_method *method);

/* Traits of this calibrator, with those of its groups. */
unsigned pc_calibrator_traits(const pcal_calibrator *calibrator);

/* Adds a warning, cut to PC_WARNING_SIZE; beyond PC_WARNINGS_MAX warnings are dropped. */
void pc_fit_warn(pc_fit_info *fit, const char *format, ...) PC_PRINTF(2, 3);

/* "converged", "stopped", "identity", "closed-form". */
const char *pc_fit_status_name(pc_fit_status status);

/* Name and bit of trait number i among those that outputs show; NULL past the end. */
const char *pc_calibrator_trait_name(size_t i, unsigned *trait);

#endif
