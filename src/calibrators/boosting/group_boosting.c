/* group-boosting: repairs overlapping groups together, one cell of a group and a bin at a time.
 *
 * Formula:  a cell (g, k, b): the rows of group g whose probability of class k is in bin b now; or
 *           in any bin, b = 0
 *           step:  log-odds of class k += rate * d  for all rows of the cell
 *           d maximises the log score of the cell, |d| <= 4
 *           chosen: the cell with the largest (sum w (y_k - p_k))^2 / sum w p_k (1 - p_k)
 * Groups:   all rows; with groups, those of each column and of their combinations.
 * Proof:    the log score of a cell is convex in d, with its least value at the d found; so any
 *           step from 0 towards it lowers the loss, and no step changes other rows.  A step that
 *           does not is not taken, so the log score on the rows of the fit never grows.
 * Edge cases:
 *   1. The number of steps is that with the best log score in five-fold cross-validation, 0
 *      included; folds follow the content of rows.  validate=no takes all steps, and the
 *      fit says that it is not validated: status "stopped", with a warning.
 *   2. Probabilities are clipped to [2^-52, 1 - 2^-52] and rescaled to sum to one first, with
 *      or without steps.
 *   3. Two classes and confidences have steps of class 1 alone.
 *   4. A row of a group that the fit did not see gets the steps of the part of its name that the
 *      fit saw; of a name without such a part, those of all rows.
 *   5. Without groups: boosting over the bins of all rows.
 * Source:   Hebert-Johnson, Kim, Reingold & Rothblum, ICML 2018, with steps of log-odds in place of
 *           probabilities; Globus-Harris et al., ICML 2023.
 * Accuracy: sums in doubles over rows in canonical order; d to 1e-10.
 * Cost:     steps (1 + 5 folds) passes over rows in memory, O(K groups of a row) each; memory
 *           24 + 16 K bytes a row. */
#include "calibrators/boosting/group_boosting.h"

#include <float.h>
#include <math.h>

#include "base/elementary.h"
#include "base/number.h"
#include "calibrators/parameter_lists.h"
#include "stats/bins.h"

static const pcal_option boosting_options[] = {
    {"steps", PCAL_OPTION_INT, "300", 0, PC_BOOSTING_STEPS_MAX, NULL, "most steps"},
    {"bins", PCAL_OPTION_INT, "10", 1, PC_BINS_MAX, NULL, "number of bins of equal width"},
    {"rate", PCAL_OPTION_REAL, "0.2", 0.001, 1, NULL,
     "share of the best step that is taken; less needs more steps and follows chance less"},
    {"validate", PCAL_OPTION_BOOL, "yes", 0, 0, NULL,
     "choose the number of steps by cross-validation; no: all steps that improve the log "
     "score"},
};

size_t pc_boosting_width(const pc_layout *layout) {
  return layout->classes <= 2 ? 1 : layout->classes;
}

static double boosting_clip(double p) {
  return fmin(fmax(p, DBL_EPSILON), 1.0 - DBL_EPSILON);
}

void pc_boosting_begin(const double *probs, const pc_layout *layout, double *row) {
  const size_t classes = layout->classes;
  double sum = 0.0;
  if (classes <= 2) {
    const double p = probs[classes - 1];
    row[0] = boosting_clip(layout->columns == 1 ? p : p / (probs[0] + p));
    return;
  }
  for (size_t j = 0; j < classes; j++)
    sum += row[j] = boosting_clip(probs[j]);
  for (size_t j = 0; j < classes; j++)
    row[j] /= sum;
}

size_t pc_boosting_bin(double p, size_t bins) {
  const double most = (double)bins;
  const double place = p * most;
  size_t bin = place <= 0 ? 0 : place >= most ? bins - 1 : (size_t)place;
  while (bin > 0 && p <= (double)bin / most)
    bin--;
  while (bin + 1 < bins && p > (double)(bin + 1) / most)
    bin++;
  return bin + 1;
}

void pc_boosting_move(double *row, size_t width, size_t k, double size) {
  double sum = 0.0;
  if (width == 1) {
    row[0] = boosting_clip(row[0] * pc_exp(size) / (1.0 + row[0] * pc_expm1(size)));
    return;
  }
  row[k] *= pc_exp(size);
  for (size_t j = 0; j < width; j++)
    sum += row[j];
  for (size_t j = 0; j < width; j++)
    row[j] /= sum;
}

double pc_boosting_gain(double p, int hit, double size) {
  return (hit ? size : 0.0) - pc_log1p(p * pc_expm1(size));
}

pcal_status pc_boosting_steps_new(pcal_calibrator *calibrator, size_t count,
                                  pc_boosting_steps **out, pcal_error *err) {
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof **out, err));
  pc_boosting_steps *steps = calibrator->parameters;
  steps->steps = pc_alloc(&calibrator->env, count + 1, sizeof *steps->steps);
  if (steps->steps == NULL)
    return pc_fail_memory(err, "making a calibrator");
  *out = steps;
  return PCAL_OK;
}

static void boosting_apply_row(const pcal_calibrator *calibrator, double *row, size_t width) {
  const pc_boosting_steps *all = calibrator->parameters;
  const size_t bins = (size_t)calibrator->options.value[PC_BOOSTING_BINS].number;
  for (size_t s = 0; s < all->count; s++) {
    const pc_boosting_step *step = &all->steps[s];
    const size_t k = width == 1 ? 0 : step->class_index;
    if (step->bin == 0 || pc_boosting_bin(row[k], bins) == step->bin)
      pc_boosting_move(row, width, k, step->size);
  }
}

static void boosting_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                           double *out) {
  const size_t classes = calibrator->layout.classes;
  const size_t width = pc_boosting_width(&calibrator->layout);
  for (size_t i = 0; i < count; i++, in += classes, out += classes) {
    double *row = out + (classes == 2);
    pc_boosting_begin(in, &calibrator->layout, row);
    boosting_apply_row(calibrator, row, width);
    if (classes == 2)
      out[0] = 1.0 - out[1];
  }
}

static const char *boosting_objective(const pcal_calibrator *calibrator) {
  (void)calibrator;
  return "log";
}

/* ---- File ---- */

static void boosting_write(const pcal_calibrator *calibrator, pc_json *json) {
  const pc_boosting_steps *all = calibrator->parameters;
  pc_json_key(json, "steps");
  pc_json_open(json, '[');
  for (size_t s = 0; s < all->count; s++) {
    const double numbers[] = {(double)all->steps[s].class_index, (double)all->steps[s].bin,
                              all->steps[s].size};
    pc_json_numbers(json, numbers, 3);
  }
  pc_json_close(json, ']');
}

static int boosting_is_whole(double value, double low, double high) {
  return value >= low && value <= high && value == floor(value);
}

static pcal_status boosting_read_step(const pcal_calibrator *calibrator,
                                      const pc_json_node *list, pc_boosting_step *out,
                                      const char *file, pcal_error *err) {
  const pc_list_rule rule = {-INFINITY, INFINITY, PC_LIST_ANY,
                             "a step must hold class, bin and size"};
  const double bins = calibrator->options.value[PC_BOOSTING_BINS].number;
  const size_t classes = calibrator->layout.classes;
  const int one = pc_boosting_width(&calibrator->layout) == 1;
  double numbers[3];
  if (list->kind != PC_JSON_ARRAY || list->list.count != 3)
    return pc_parameter_error(list, file, rule.what, err);
  PC_TRY(pc_parameter_numbers(list, &rule, numbers, file, err));
  if (!boosting_is_whole(numbers[0], one ? 1.0 : 0.0, one ? 1.0 : (double)(classes - 1)))
    return pc_parameter_error(list, file, "the class of a step does not exist", err);
  if (!boosting_is_whole(numbers[1], 0.0, bins))
    return pc_parameter_error(list, file, "the bin of a step does not exist", err);
  if (!(fabs(numbers[2]) <= PC_BOOSTING_SIZE_MAX))
    return pc_parameter_error(list, file, "the size of a step must be from -4 to 4", err);
  *out = (pc_boosting_step){(size_t)numbers[0], (size_t)numbers[1], numbers[2]};
  return PCAL_OK;
}

static pcal_status boosting_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                                 const char *file, pcal_error *err) {
  pc_boosting_steps *all = NULL;
  PC_TRY(pc_parameters_check_names(parameters, PC_NAMES("steps"), file, err));
  const pc_json_node *lists = pc_json_find(parameters, "steps");
  if (lists->kind != PC_JSON_ARRAY || lists->list.count > PC_BOOSTING_STEPS_MAX)
    return pc_parameter_error(lists, file, "steps must be a list of at most 10,000 steps", err);
  PC_TRY(pc_boosting_steps_new(calibrator, lists->list.count, &all, err));
  for (const pc_json_node *list = lists->list.first; list != NULL; list = list->next)
    PC_TRY(boosting_read_step(calibrator, list, &all->steps[all->count++], file, err));
  return PCAL_OK;
}

static void boosting_describe(const pcal_calibrator *calibrator, pc_text *out) {
  const pc_boosting_steps *all = calibrator->parameters;
  char digits[PC_NUMBER_MAX];
  double most = 0.0;
  for (size_t s = 0; s < all->count; s++)
    most = fmax(most, fabs(all->steps[s].size));
  pc_text_format(out, "%zu step%s of log-odds%s", all->count, all->count == 1 ? "" : "s",
                 calibrator->groups == NULL ? "" : " for all rows");
  if (all->count > 0) {
    pc_number_round(most, 3, digits);
    pc_text_format(out, ", the largest %s", digits);
  }
  pc_text_add(out, "\n");
}

const pc_calibrator_method pc_calibrator_group_boosting = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "group-boosting",
            .title = "boosting over groups and bins",
            .formula = "log-odds of class k += rate * d for the rows of one group whose "
                       "probability of k is in one bin\n"
                       "d: best log score of these rows; the cell with the largest gain comes "
                       "first",
            .about =
                "Repairs groups that overlap, those of several columns, together: each step "
                "corrects the group and bin with the most significant error, for all rows in "
                "it, so that one group is not repaired at the cost of another. Five-fold "
                "cross-validation chooses the number of steps; on the rows of the fit the log "
                "score never gets worse. apply needs the groups too; without groups in the fit "
                "the bins of all rows are repaired. Measure with multicalibration.",
            .citation = "Hebert-Johnson, Kim, Reingold & Rothblum, ICML 2018; Globus-Harris et "
                        "al., ICML 2023",
            .options = boosting_options,
            .option_count = sizeof boosting_options / sizeof *boosting_options,
        },
    .traits = PC_SUMS_TO_ONE | PC_GUARDED | PC_TAKES_CONFIDENCE,
    .fits_groups = 1,
    .comparison_spec = "",
    .objective = boosting_objective,
    .fit = pc_boosting_fit,
    .apply = boosting_apply,
    .write = boosting_write,
    .read = boosting_read,
    .describe = boosting_describe,
};
