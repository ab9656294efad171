/* Reading a calibrator file.  Checked in this order:
 *   1. the text is JSON;
 *   2. format and version;
 *   3. every key is known;
 *   4. method and spec, against the registry;
 *   5. input, columns and classes; class names;
 *   6. the parameters, by the method;
 *   7. the outcome of the fit;
 *   8. parameters and fit of each group. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "calibrators/calibrator_file.h"
#include "calibrators/group_calibrators.h"
#include "calibrators/parameter_lists.h"

#define CALIBRATOR_LOAD_WHOLE_MAX 9007199254740992.0 /* 2^53 */

typedef struct calibrator_loader {
  const char *file;
  const pcal_env *env;
  const pc_json_node *root;
  pcal_calibrator *calibrator;
  pcal_error *err;
} calibrator_loader;

/* Fails with "FILE, line N: "KEY" `what`". */
static pcal_status calibrator_load_wrong(const calibrator_loader *loader,
                                         const pc_json_node *node, const char *what) {
  return pc_fail_line(loader->err, PCAL_DATA, loader->file, node->line, "\"%.40s\" %s",
                      node->key, what);
}

static pcal_status calibrator_load_member(const calibrator_loader *loader,
                                          const pc_json_node *object, const char *key,
                                          pc_json_kind kind, const pc_json_node **out) {
  *out = pc_json_find(object, key);
  if (*out == NULL)
    return pc_fail_line(loader->err, PCAL_DATA, loader->file, object->line,
                        "\"%s\" is missing; write the file again with {save_calibrator}", key);
  if ((*out)->kind == kind)
    return PCAL_OK;
  return pc_fail_line(loader->err, PCAL_DATA, loader->file, (*out)->line,
                      "\"%s\" must be %s, not %s", key, pc_json_kind_name(kind),
                      pc_json_kind_name((*out)->kind));
}

static pcal_status calibrator_load_text(const calibrator_loader *loader,
                                        const pc_json_node *object, const char *key,
                                        const char **out) {
  const pc_json_node *node = NULL;
  PC_TRY(calibrator_load_member(loader, object, key, PC_JSON_STRING, &node));
  *out = node->text;
  return PCAL_OK;
}

static pcal_status calibrator_load_whole(const calibrator_loader *loader,
                                         const pc_json_node *object, const char *key,
                                         uint64_t *out) {
  const pc_json_node *node = NULL;
  PC_TRY(calibrator_load_member(loader, object, key, PC_JSON_NUMBER, &node));
  if (!(node->number >= 0.0) || !(node->number <= CALIBRATOR_LOAD_WHOLE_MAX) ||
      node->number != floor(node->number))
    return calibrator_load_wrong(loader, node, "must be a whole number, 0 or more");
  *out = (uint64_t)node->number;
  return PCAL_OK;
}

static pcal_status calibrator_load_truth(const calibrator_loader *loader,
                                         const pc_json_node *object, const char *key,
                                         int *out) {
  const pc_json_node *node = NULL;
  PC_TRY(calibrator_load_member(loader, object, key, PC_JSON_BOOL, &node));
  *out = node->truth;
  return PCAL_OK;
}

/* A number, or `otherwise` for null.  It must not be negative, except for predictions of a
 * number, whose objectives may be. */
static pcal_status calibrator_load_size(const calibrator_loader *loader,
                                        const pc_json_node *object, const char *key,
                                        double otherwise, double *out) {
  const pc_json_node *node = pc_json_find(object, key);
  *out = otherwise;
  if (node != NULL && node->kind == PC_JSON_NULL)
    return PCAL_OK;
  PC_TRY(calibrator_load_member(loader, object, key, PC_JSON_NUMBER, &node));
  *out = node->number;
  return node->number >= 0.0 || loader->calibrator->method->row.task == PCAL_REGRESSION
             ? PCAL_OK
             : calibrator_load_wrong(loader, node, "must not be negative");
}

/* Refuses keys that are not in `known`, a list that ends with NULL. */
static pcal_status calibrator_load_keys(const calibrator_loader *loader,
                                        const pc_json_node *object, const char *const *known) {
  for (const pc_json_node *node = object->list.first; node != NULL; node = node->next) {
    size_t k = 0;
    while (known[k] != NULL && strcmp(known[k], node->key) != 0)
      k++;
    if (known[k] == NULL)
      return pc_fail_line(loader->err, PCAL_DATA, loader->file, node->line,
                          "the key \"%.40s\" is unknown in calibrator files of version "
                          "%d; remove it",
                          node->key, PC_CALIBRATOR_VERSION);
  }
  return PCAL_OK;
}

/* ---- Head ---- */

static pcal_status calibrator_load_version(const calibrator_loader *loader) {
  const pc_json_node *format = pc_json_find(loader->root, "format");
  uint64_t version = 0;
  if (format == NULL || format->kind != PC_JSON_STRING ||
      strcmp(format->text, PC_CALIBRATOR_FORMAT) != 0)
    return pc_fail(loader->err, PCAL_DATA,
                   "%s is not a calibrator file; make one with {save_calibrator}",
                   loader->file);
  PC_TRY(calibrator_load_whole(loader, loader->root, "version", &version));
  if (version == PC_CALIBRATOR_VERSION)
    return PCAL_OK;
  return pc_fail(loader->err, PCAL_DATA,
                 "%s: calibrator files of version %llu are %s this propercal (%s), which reads "
                 "version %d; %s",
                 loader->file, (unsigned long long)version,
                 version > PC_CALIBRATOR_VERSION ? "newer than" : "unknown to", PCAL_VERSION,
                 PC_CALIBRATOR_VERSION,
                 version > PC_CALIBRATOR_VERSION ? "update propercal" : "fit again");
}

/* Finds method and options; an error in the spec is reported with the name of the file. */
static pcal_status calibrator_load_spec(const calibrator_loader *loader,
                                        const pc_calibrator_method **row, pc_options *options) {
  const char *spec = NULL, *method = NULL;
  pcal_error inner;
  PC_TRY(calibrator_load_text(loader, loader->root, "spec", &spec));
  PC_TRY(calibrator_load_text(loader, loader->root, "method", &method));
  if (pc_calibrator_parse(spec, row, options, &inner) != PCAL_OK)
    return pc_fail_because(loader->err, PCAL_DATA, &inner, "%s: {cause}", loader->file);
  if (strcmp(method, (*row)->row.name) == 0)
    return PCAL_OK;
  return pc_fail(loader->err, PCAL_DATA,
                 "%s: the method is \"%.40s\", but the spec says \"%s\"; make them agree",
                 loader->file, method, (*row)->row.name);
}

static pcal_status calibrator_load_kind(const calibrator_loader *loader, pcal_kind *out) {
  const char *input = NULL;
  PC_TRY(calibrator_load_text(loader, loader->root, "input", &input));
  for (pcal_kind kind = PCAL_PROBABILITY; kind <= PCAL_SAMPLES; kind++) {
    *out = kind;
    if (strcmp(input, pcal_kind_name(kind)) == 0)
      return PCAL_OK;
  }
  return calibrator_load_wrong(loader, pc_json_find(loader->root, "input"),
                               "must be probability, logit, log-probability, confidence, "
                               "mean-variance, mean-std, quantiles or samples");
}

static pcal_status calibrator_load_levels(const calibrator_loader *loader, uint64_t columns,
                                          double levels[PCAL_LEVELS_MAX]) {
  const pc_json_node *list = NULL;
  size_t count = 0;
  PC_TRY(calibrator_load_member(loader, loader->root, "levels", PC_JSON_ARRAY, &list));
  if (list->list.count != columns || columns > PCAL_LEVELS_MAX)
    return calibrator_load_wrong(loader, list, "must hold one level for each column");
  for (const pc_json_node *level = list->list.first; level != NULL; level = level->next) {
    if (level->kind != PC_JSON_NUMBER)
      return calibrator_load_wrong(loader, list, "must hold numbers");
    levels[count++] = level->number;
  }
  return PCAL_OK;
}

static pcal_status calibrator_load_layout(const calibrator_loader *loader, pc_layout *out) {
  pcal_kind kind;
  uint64_t columns = 0, classes = 1;
  pcal_error inner;
  PC_TRY(calibrator_load_kind(loader, &kind));
  PC_TRY(calibrator_load_whole(loader, loader->root, "columns", &columns));
  double levels[PCAL_LEVELS_MAX];
  const int quantiles = kind == PCAL_QUANTILES;
  if (quantiles)
    PC_TRY(calibrator_load_levels(loader, columns, levels));
  if (columns > PC_CLASSES_MAX ||
      pc_layout_make_levels(kind, (size_t)columns, quantiles ? levels : NULL, out, &inner) !=
          PCAL_OK)
    return calibrator_load_wrong(loader, pc_json_find(loader->root, "columns"),
                                 "does not fit the input");
  const pc_json_node *node = pc_json_find(loader->root, "classes");
  const int none = node != NULL && node->kind == PC_JSON_NULL;
  if (!none)
    PC_TRY(calibrator_load_whole(loader, loader->root, "classes", &classes));
  const int regression = out->form != PC_FORM_CLASSES;
  if (none != (kind == PCAL_CONFIDENCE || regression) ||
      (!regression && classes != out->classes))
    return calibrator_load_wrong(loader, node, "does not fit input and columns");
  return PCAL_OK;
}

static pcal_status calibrator_load_names(const calibrator_loader *loader) {
  pcal_calibrator *calibrator = loader->calibrator;
  const pc_json_node *names = pc_json_find(loader->root, "class_names");
  if (names == NULL)
    return PCAL_OK;
  PC_TRY(calibrator_load_member(loader, loader->root, "class_names", PC_JSON_ARRAY, &names));
  if (names->list.count != calibrator->layout.columns)
    return calibrator_load_wrong(loader, names, "must hold one name for each column");
  calibrator->class_names =
      pc_alloc(&calibrator->env, names->list.count, sizeof *calibrator->class_names);
  if (calibrator->class_names == NULL)
    return pc_fail_memory(loader->err, "reading a calibrator");
  size_t j = 0;
  for (const pc_json_node *name = names->list.first; name != NULL; name = name->next) {
    if (name->kind != PC_JSON_STRING)
      return calibrator_load_wrong(loader, names, "must hold strings");
    calibrator->class_names[j] = pc_copy_text(&calibrator->env, name->text);
    if (calibrator->class_names[j++] == NULL)
      return pc_fail_memory(loader->err, "reading a calibrator");
  }
  return PCAL_OK;
}

/* ---- Fit ---- */

static pcal_status calibrator_load_status(const calibrator_loader *loader,
                                          const pc_json_node *fit) {
  const char *name = NULL;
  PC_TRY(calibrator_load_text(loader, fit, "status", &name));
  for (pc_fit_status status = PC_FIT_CONVERGED; status <= PC_FIT_CLOSED_FORM; status++)
    if (strcmp(name, pc_fit_status_name(status)) == 0) {
      loader->calibrator->fit.status = status;
      return PCAL_OK;
    }
  return calibrator_load_wrong(loader, pc_json_find(fit, "status"),
                               "must be converged, stopped, identity or closed-form");
}

static pcal_status calibrator_load_objective(const calibrator_loader *loader,
                                             const pc_json_node *fit) {
  pcal_calibrator *calibrator = loader->calibrator;
  const pc_json_node *objective = pc_json_find(fit, "objective");
  const char *name = NULL;
  char word[64];
  const char *expected = pc_calibrator_objective(calibrator, word, sizeof word);
  calibrator->fit.searched = expected != NULL;
  if (!calibrator->fit.searched) {
    const pc_json_node *gradient = NULL;
    PC_TRY(calibrator_load_member(loader, fit, "objective", PC_JSON_NULL, &objective));
    return calibrator_load_member(loader, fit, "gradient", PC_JSON_NULL, &gradient);
  }
  PC_TRY(calibrator_load_size(loader, fit, "gradient", INFINITY, &calibrator->fit.gradient));
  PC_TRY(calibrator_load_member(loader, fit, "objective", PC_JSON_OBJECT, &objective));
  PC_TRY(calibrator_load_keys(loader, objective, PC_NAMES("name", "before", "after")));
  PC_TRY(calibrator_load_text(loader, objective, "name", &name));
  if (strcmp(name, expected) != 0)
    return calibrator_load_wrong(loader, objective, "has a name other than that of the spec");
  PC_TRY(calibrator_load_size(loader, objective, "before", INFINITY, &calibrator->fit.before));
  return calibrator_load_size(loader, objective, "after", INFINITY, &calibrator->fit.after);
}

static pcal_status calibrator_load_warnings(const calibrator_loader *loader,
                                            const pc_json_node *fit) {
  const pc_json_node *list = NULL;
  PC_TRY(calibrator_load_member(loader, fit, "warnings", PC_JSON_ARRAY, &list));
  if (list->list.count > PC_WARNINGS_MAX)
    return calibrator_load_wrong(loader, list, "holds too many strings");
  for (const pc_json_node *item = list->list.first; item != NULL; item = item->next) {
    if (item->kind != PC_JSON_STRING || strlen(item->text) >= PC_WARNING_SIZE)
      return calibrator_load_wrong(loader, list, "must hold strings of at most 255 bytes");
    pc_fit_warn(&loader->calibrator->fit, "%s", item->text);
  }
  return PCAL_OK;
}

/* Files of early builds lack it. */
static pcal_status calibrator_load_weights_are(const calibrator_loader *loader,
                                               const pc_json_node *fit, pc_fit_info *info) {
  const char *name = NULL;
  if (pc_json_find(fit, "weights") == NULL)
    return PCAL_OK;
  PC_TRY(calibrator_load_text(loader, fit, "weights", &name));
  info->weights_are = strcmp(name, "importance") == 0  ? PCAL_WEIGHTS_IMPORTANCE
                      : strcmp(name, "frequency") == 0 ? PCAL_WEIGHTS_FREQUENCY
                                                       : PCAL_WEIGHTS_AUTO;
  return info->weighted && info->weights_are != PCAL_WEIGHTS_AUTO
             ? PCAL_OK
             : calibrator_load_wrong(
                   loader, pc_json_find(fit, "weights"),
                   "must be \"frequency\" or \"importance\", of a weighted fit");
}

static pcal_status calibrator_load_fit(const calibrator_loader *loader) {
  const pc_json_node *fit = NULL;
  pc_fit_info *info = &loader->calibrator->fit;
  PC_TRY(calibrator_load_member(loader, loader->root, "fit", PC_JSON_OBJECT, &fit));
  PC_TRY(calibrator_load_keys(loader, fit,
                              PC_NAMES("status", "iterations", "gradient", "objective", "rows",
                                       "weighted", "weights", "weight", "normalized_rows",
                                       "skipped_rows", "warnings")));
  PC_TRY(calibrator_load_status(loader, fit));
  PC_TRY(calibrator_load_whole(loader, fit, "iterations", &info->iterations));
  PC_TRY(calibrator_load_objective(loader, fit));
  PC_TRY(calibrator_load_whole(loader, fit, "rows", &info->rows));
  PC_TRY(calibrator_load_truth(loader, fit, "weighted", &info->weighted));
  PC_TRY(calibrator_load_weights_are(loader, fit, info));
  PC_TRY(calibrator_load_size(loader, fit, "weight", INFINITY, &info->weight));
  PC_TRY(calibrator_load_whole(loader, fit, "normalized_rows", &info->normalized));
  PC_TRY(calibrator_load_whole(loader, fit, "skipped_rows", &info->skipped));
  return calibrator_load_warnings(loader, fit);
}

/* ---- Groups ---- */

static pcal_status calibrator_load_parameters(const calibrator_loader *loader) {
  const pc_json_node *parameters = NULL;
  PC_TRY(
      calibrator_load_member(loader, loader->root, "parameters", PC_JSON_OBJECT, &parameters));
  return loader->calibrator->method->read(loader->calibrator, parameters, loader->file,
                                          loader->err);
}

static pcal_status calibrator_load_group(const calibrator_loader *loader,
                                         const pc_json_node *node, pc_group_member *out) {
  pcal_calibrator *pooled = loader->calibrator;
  const char *name = NULL;
  calibrator_loader inner = *loader;
  if (node->kind != PC_JSON_OBJECT)
    return calibrator_load_wrong(loader, pc_json_find(loader->root, "groups"),
                                 "must hold an object for each member");
  PC_TRY(calibrator_load_keys(loader, node, PC_NAMES("name", "parameters", "fit")));
  PC_TRY(calibrator_load_text(loader, node, "name", &name));
  PC_TRY(pc_calibrator_new(&pooled->env, pooled->method, &pooled->options, &pooled->layout,
                           &out->calibrator, loader->err));
  out->calibrator->normalize = pooled->normalize;
  out->name = pc_copy_text(&pooled->env, name);
  if (out->name == NULL)
    return pc_fail_memory(loader->err, "reading a calibrator");
  inner.root = node;
  inner.calibrator = out->calibrator;
  PC_TRY(calibrator_load_parameters(&inner));
  return calibrator_load_fit(&inner);
}

static pcal_status calibrator_load_groups(const calibrator_loader *loader) {
  const pc_json_node *groups = pc_json_find(loader->root, "groups"), *members = NULL;
  pcal_calibrator *calibrator = loader->calibrator;
  if (groups == NULL)
    return PCAL_OK;
  PC_TRY(calibrator_load_member(loader, loader->root, "groups", PC_JSON_OBJECT, &groups));
  PC_TRY(calibrator_load_keys(loader, groups, PC_NAMES("kappa", "members")));
  PC_TRY(calibrator_load_member(loader, groups, "members", PC_JSON_ARRAY, &members));
  if (members->list.count > PC_GROUP_CALIBRATORS_MAX)
    return calibrator_load_wrong(loader, members, "holds too many groups");
  PC_TRY(pc_group_calibrators_new(calibrator, members->list.count, loader->err));
  PC_TRY(calibrator_load_size(loader, groups, "kappa", INFINITY, &calibrator->groups->kappa));
  pc_group_member *member = calibrator->groups->members;
  for (const pc_json_node *node = members->list.first; node != NULL; node = node->next)
    PC_TRY(calibrator_load_group(loader, node, member++));
  return PCAL_OK;
}

/* ---- The whole file ---- */

static pcal_status calibrator_load_begin(calibrator_loader *loader) {
  const pc_calibrator_method *row = NULL;
  pc_options options;
  pc_layout layout;
  pcal_error inner;
  PC_TRY(calibrator_load_version(loader));
  PC_TRY(calibrator_load_keys(loader, loader->root,
                              PC_NAMES("format", "version", "spec", "method", "classes",
                                       "columns", "input", "levels", "normalize", "class_names",
                                       "parameters", "fit", "groups")));
  PC_TRY(calibrator_load_spec(loader, &row, &options));
  PC_TRY(calibrator_load_layout(loader, &layout));
  if (pc_calibrator_check_layout(row, &layout, &inner) != PCAL_OK)
    return calibrator_load_wrong(loader, pc_json_find(loader->root, "input"),
                                 "does not suit the method");
  return pc_calibrator_new(loader->env, row, &options, &layout, &loader->calibrator,
                           loader->err);
}

static pcal_status calibrator_load_all(calibrator_loader *loader) {
  PC_TRY(calibrator_load_begin(loader));
  pcal_calibrator *calibrator = loader->calibrator;
  PC_TRY(calibrator_load_truth(loader, loader->root, "normalize", &calibrator->normalize));
  PC_TRY(calibrator_load_names(loader));
  PC_TRY(calibrator_load_parameters(loader));
  PC_TRY(calibrator_load_fit(loader));
  return calibrator_load_groups(loader);
}

pcal_status pc_calibrator_load(const void *bytes, size_t length, const char *name,
                               const pcal_env *env, pcal_calibrator **out, pcal_error *err) {
  pc_json_tree tree;
  pcal_error inner;
  const pcal_status parsed = pc_json_read(bytes, length, name, env, &tree, &inner);
  if (parsed == PCAL_DATA)
    return pc_fail_because(err, PCAL_DATA, &inner,
                           "%s is not a calibrator file (line %llu: {cause_problem}); make one "
                           "with {save_calibrator}",
                           name, (unsigned long long)inner.line);
  if (parsed != PCAL_OK)
    return pc_error_pass(err, &inner);
  calibrator_loader loader = {name, env, tree.root, NULL, err};
  const pcal_status status = calibrator_load_all(&loader);
  pc_json_tree_free(&tree);
  if (status != PCAL_OK) {
    pc_calibrator_free(loader.calibrator);
    return status;
  }
  *out = loader.calibrator;
  return PCAL_OK;
}
