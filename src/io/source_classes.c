/* The classes of a source: their names, and the columns of scores that they come from.
 *
 * Rules for names that the caller gives:
 *  1. scores without names, or with other names only: the given names replace them, column by
 *     column, and there is one for each.  Keys of JSON objects have no order, so they cannot be
 *     replaced.
 *  2. scores with the same names in the same order: nothing changes.  In another order they are
 *     refused: labels that are numbers would change their meaning.
 *  3. scores that share some of the names are refused.
 *  4. rows with different numbers of choices: there may be more names than columns, those of
 *     choices that no row has.  Scores with names are found by name, in any order. */
#include <string.h>

#include "io/source_state.h"

size_t pc_source_class_columns(const pcal_source *source) {
  return source->arranged.from == NULL ? source->scores.columns : source->arranged.count;
}

/* Room for the columns of `count` classes; at first the columns as they are read. */
static pcal_status classes_arrange(pcal_source *source, size_t count, pcal_error *err) {
  size_t *from = pc_alloc_raw(&source->env, count, sizeof *from);
  if (from == NULL)
    return pc_fail_memory(err, "opening the data");
  for (size_t k = 0; k < count; k++)
    from[k] = k < source->scores.columns ? k : PC_NO_DATA_COLUMN;
  pc_free(&source->env, source->arranged.from);
  source->arranged.from = from;
  source->arranged.count = count;
  return PCAL_OK;
}

/* The position of a name, or `count`. */
static size_t classes_find(const char *const *names, size_t count, const char *name) {
  size_t i = 0;
  while (i < count && strcmp(names[i], name) != 0)
    i++;
  return i;
}

/* How the given names relate to those of the scores. */
typedef struct classes_match {
  size_t shared; /* names of the scores among the given ones */
  int in_order;  /* the first given names are those of the scores */
} classes_match;

static classes_match classes_compare(const pcal_source *source, const pcal_inputs *inputs) {
  const size_t columns = source->scores.columns;
  classes_match match = {0, 1};
  for (size_t i = 0; source->class_names != NULL && i < columns; i++) {
    const size_t at =
        classes_find(inputs->class_names, inputs->class_count, source->class_names[i]);
    match.shared += at < inputs->class_count;
    match.in_order &= at == i;
  }
  return match;
}

static pcal_status classes_contradict(const pcal_source *source, const pcal_inputs *inputs,
                                      const classes_match *match, pcal_error *err) {
  const size_t columns = source->scores.columns;
  size_t i = 0;
  if (match->shared == columns && inputs->class_count == columns) {
    while (i + 1 < columns && strcmp(inputs->class_names[i], source->class_names[i]) == 0)
      i++;
    return pc_fail(
        err, PCAL_USAGE,
        "{class_names} gives the names in another order than %s: class %zu is \"%s\" "
        "there and \"%s\" in {class_names}; leave {class_names} out, or give that order",
        pc_source_part_name(&source->scores), i, source->class_names[i],
        inputs->class_names[i]);
  }
  while (i + 1 < columns && classes_find(inputs->class_names, inputs->class_count,
                                         source->class_names[i]) < inputs->class_count)
    i++;
  return pc_fail(
      err, PCAL_USAGE,
      "%s has scores of \"%s\", which {class_names} lacks although it names others of "
      "them; leave {class_names} out, or name all classes",
      pc_source_part_name(&source->scores), source->class_names[i]);
}

/* Finds each given name among those of the scores. */
static pcal_status classes_by_name(pcal_source *source, const pcal_inputs *inputs,
                                   pcal_error *err) {
  PC_TRY(classes_arrange(source, inputs->class_count, err));
  for (size_t k = 0; k < inputs->class_count; k++) {
    const size_t column =
        classes_find(source->class_names, source->scores.columns, inputs->class_names[k]);
    source->arranged.from[k] = column < source->scores.columns ? column : PC_NO_DATA_COLUMN;
  }
  return PCAL_OK;
}

static pcal_status classes_check_count(const pcal_source *source, const pcal_inputs *inputs,
                                       pcal_error *err) {
  const size_t columns = source->scores.columns, count = inputs->class_count;
  if (count == columns || (source->ragged.used && columns > 1))
    return PCAL_OK;
  if (columns == 1)
    return pc_fail(
        err, PCAL_USAGE,
        "there are %zu names of classes, but one column of scores, those of class 1; "
        "remove them and give {positive_label}",
        count);
  return pc_fail(err, PCAL_USAGE,
                 "there are %zu names of classes for %zu columns of scores; give one for each",
                 count, columns);
}

/* Chooses by rules 1 to 4 the columns of the given names. */
static pcal_status classes_match_names(pcal_source *source, const pcal_inputs *inputs,
                                       pcal_error *err) {
  const size_t columns = source->scores.columns, count = inputs->class_count;
  const int ragged = source->ragged.used;
  const classes_match match = classes_compare(source, inputs);
  if (match.shared > 0 && match.shared == columns && (ragged || match.in_order))
    return ragged ? classes_by_name(source, inputs, err) : PCAL_OK;
  if (match.shared > 0)
    return classes_contradict(source, inputs, &match, err);
  if (source->scores.keyed)
    return pc_fail(
        err, PCAL_USAGE,
        "the keys of %s name its classes, and none of them is in {class_names}; leave "
        "{class_names} out, or give those names",
        pc_source_part_name(&source->scores));
  if (count < columns)
    return pc_fail(err, PCAL_USAGE,
                   "there are %zu names of classes, but rows have up to %zu choices; give one "
                   "for each",
                   count, columns);
  return count > columns ? classes_arrange(source, count, err) : PCAL_OK;
}

static pcal_status classes_copy(pcal_source *source, const pcal_inputs *inputs,
                                pcal_error *err) {
  source->given_names =
      pc_alloc(&source->env, inputs->class_count, sizeof *source->given_names);
  if (source->given_names == NULL)
    return pc_fail_memory(err, "opening the data");
  for (; source->given_name_count < inputs->class_count; source->given_name_count++) {
    char **copy = &source->given_names[source->given_name_count];
    *copy = pc_copy_text(&source->env, inputs->class_names[source->given_name_count]);
    if (*copy == NULL)
      return pc_fail_memory(err, "opening the data");
  }
  return PCAL_OK;
}

pcal_status pc_source_set_classes(pcal_source *source, const pcal_inputs *inputs,
                                  pcal_error *err) {
  if (inputs->class_names == NULL)
    return PCAL_OK;
  PC_TRY(classes_check_count(source, inputs, err));
  for (size_t k = 0; k < inputs->class_count; k++)
    if (inputs->class_names[k] == NULL)
      return pc_fail(err, PCAL_USAGE, "the name of class %zu is NULL", k);
  PC_TRY(classes_match_names(source, inputs, err));
  PC_TRY(classes_copy(source, inputs, err));
  if (source->scores.columns > 1)
    source->class_names = (const char *const *)source->given_names;
  return PCAL_OK;
}

pcal_status pc_source_widen(pcal_source *source, size_t columns, pcal_error *err) {
  if (source->derived.base != NULL || source->borrowed.used || !source->ragged.used ||
      source->class_names != NULL || columns <= pc_source_class_columns(source))
    return PCAL_OK;
  return classes_arrange(source, columns, err);
}

int pc_source_is_ragged(const pcal_source *source) {
  return source->ragged.used;
}
