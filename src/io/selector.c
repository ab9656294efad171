#include "io/selector.h"

#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "io/slice.h"
#include "system/paths.h"

pcal_status pc_selector_split(const char *text, int whole_exists, const pcal_env *env,
                              pc_selector *out, pcal_error *err) {
  *out = (pc_selector){0};
  const char *colon = whole_exists ? NULL : strrchr(text, ':');
  if (colon != NULL && (size_t)(colon - text) < pc_path_directory(text))
    colon = NULL;
  if (text[0] == '\0' || colon == text)
    return pc_fail(err, PCAL_USAGE, "\"%s\" does not name a file; write FILE or FILE:COLUMNS",
                   text);
  if (colon != NULL && colon[1] == '\0')
    return pc_fail(err, PCAL_USAGE,
                   "\"%s\" has nothing after the colon; name the columns or remove the "
                   "colon",
                   text);
  out->path = pc_copy_text(env, text);
  if (out->path == NULL)
    return pc_fail_memory(err, "reading the name of a file");
  if (colon != NULL) {
    out->path[colon - text] = '\0';
    out->columns = out->path + (colon - text) + 1;
  }
  return PCAL_OK;
}

void pc_selector_free(const pcal_env *env, pc_selector *selector) {
  pc_free(env, selector->path);
  *selector = (pc_selector){0};
}

/* The columns chosen so far. */
typedef struct selector_list {
  const pc_column_set *set;
  size_t *chosen;
  size_t count;
  unsigned char *seen; /* one flag per column of the file */
} selector_list;

static pcal_status selector_twice(const char *file, size_t column, pcal_error *err) {
  const pc_place place = {file, PCAL_NO_ROW, 0, column, NULL, NULL};
  return pc_fail_at(err, PCAL_USAGE, &place, "it is chosen twice; name it once");
}

static pcal_status selector_add(selector_list *list, size_t column, pcal_error *err) {
  if (list->seen[column])
    return selector_twice(list->set->file, column, err);
  list->seen[column] = 1;
  list->chosen[list->count++] = column;
  return PCAL_OK;
}

/* Number of columns with this name; *column is the first. */
static size_t selector_named(const pc_column_set *set, pc_slice name, size_t *column) {
  size_t found = 0;
  for (size_t i = 0; set->names != NULL && i < set->count; i++) {
    if (!pc_slice_is(name, set->names[i]))
      continue;
    if (found++ == 0)
      *column = i;
  }
  return found;
}

static const char *selector_name_at(void *user, size_t i) {
  const pc_column_set *set = *(const pc_column_set **)user;
  return i < set->count ? set->names[i] : NULL;
}

static pcal_status selector_unknown(const pc_column_set *set, pc_slice name, pcal_error *err) {
  char shown[PC_CLIP_MAX], first[PC_CLIP_MAX], last[PC_CLIP_MAX];
  pc_clip(name, shown);
  if (set->names == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "%s has no column \"%s\": its columns have no names; choose them by number, "
                   "0 to %zu",
                   set->file, shown, set->count - 1);
  const char *nearest = pc_nearest_word(shown, selector_name_at, &set);
  if (nearest != NULL)
    return pc_fail(err, PCAL_USAGE, "%s has no column \"%s\"; did you mean \"%s\"?", set->file,
                   shown, pc_clip(pc_slice_of(nearest), first));
  return pc_fail(err, PCAL_USAGE,
                 "%s has no column \"%s\"; it has %zu, from \"%s\" to \"%s\"; give a name or a "
                 "number counted from 0",
                 set->file, shown, set->count, pc_clip(pc_slice_of(set->names[0]), first),
                 pc_clip(pc_slice_of(set->names[set->count - 1]), last));
}

static pcal_status selector_find(const pc_column_set *set, pc_slice name, size_t *column,
                                 pcal_error *err) {
  char shown[PC_CLIP_MAX];
  int64_t number = 0;
  const size_t named = selector_named(set, name, column);
  if (named == 1)
    return PCAL_OK;
  if (named > 1)
    return pc_fail(err, PCAL_USAGE,
                   "%s has %zu columns called \"%s\"; choose one by number, counted from 0",
                   set->file, named, pc_clip(name, shown));
  if (name.length == 0)
    return pc_fail(err, PCAL_USAGE,
                   "%s: a column is missing in the selector; write names or numbers between "
                   "the commas",
                   set->file);
  if (!pc_integer_parse(name.bytes, name.bytes + name.length, 0, INT64_MAX, &number))
    return selector_unknown(set, name, err);
  if ((uint64_t)number >= set->count)
    return pc_fail(err, PCAL_USAGE, "%s has no column %s; its columns are 0 to %zu", set->file,
                   pc_clip(name, shown), set->count - 1);
  *column = (size_t)number;
  return PCAL_OK;
}

static const char *selector_dots(pc_slice item) {
  for (size_t i = 0; i + 1 < item.length; i++)
    if (item.bytes[i] == '.' && item.bytes[i + 1] == '.')
      return item.bytes + i;
  return NULL;
}

/* Fails unless both ends of a range are names or both are numbers: in a file with columns
 * named 0, 1, 2 a mixed range would be ambiguous. */
static pcal_status selector_same_kind(const pc_column_set *set, pc_slice low, pc_slice high,
                                      pcal_error *err) {
  char shown_low[PC_CLIP_MAX], shown_high[PC_CLIP_MAX];
  size_t column = 0;
  const int low_named = selector_named(set, low, &column) > 0;
  const int high_named = selector_named(set, high, &column) > 0;
  if (low_named == high_named)
    return PCAL_OK;
  pc_clip(low, shown_low);
  pc_clip(high, shown_high);
  return pc_fail(err, PCAL_USAGE,
                 "%s: in the range \"%s..%s\", \"%s\" is the name of column %zu but \"%s\" is "
                 "no name, only a number; give names or numbers for both ends",
                 set->file, shown_low, shown_high, low_named ? shown_low : shown_high, column,
                 low_named ? shown_high : shown_low);
}

static pcal_status selector_range(selector_list *list, pc_slice item, const char *dots,
                                  pcal_error *err) {
  char shown[PC_CLIP_MAX];
  size_t first = 0, last = 0;
  const char *after = dots + 2;
  const pc_slice low = {item.bytes, (size_t)(dots - item.bytes)};
  const pc_slice high = {after, (size_t)(item.bytes + item.length - after)};
  PC_TRY(selector_find(list->set, low, &first, err));
  PC_TRY(selector_find(list->set, high, &last, err));
  PC_TRY(selector_same_kind(list->set, low, high, err));
  if (first > last)
    return pc_fail(err, PCAL_USAGE,
                   "%s: the range \"%s\" runs backwards; write the earlier column first",
                   list->set->file, pc_clip(item, shown));
  for (size_t column = first; column <= last; column++)
    PC_TRY(selector_add(list, column, err));
  return PCAL_OK;
}

static pcal_status selector_item(selector_list *list, pc_slice item, pcal_error *err) {
  size_t column = 0;
  const char *dots = selector_dots(item);
  if (dots != NULL && selector_named(list->set, item, &column) == 0)
    return selector_range(list, item, dots, err);
  PC_TRY(selector_find(list->set, item, &column, err));
  return selector_add(list, column, err);
}

static pcal_status selector_collect(selector_list *list, const char *columns, pcal_error *err) {
  size_t column = 0;
  if (columns == NULL) {
    for (column = 0; column < list->set->count; column++)
      PC_TRY(selector_add(list, column, err));
    return PCAL_OK;
  }
  if (selector_named(list->set, pc_slice_of(columns), &column) == 1)
    return selector_add(list, column, err);
  for (;;) {
    const size_t length = strcspn(columns, ",");
    PC_TRY(selector_item(list, (pc_slice){columns, length}, err));
    if (columns[length] == '\0')
      return PCAL_OK;
    columns += length + 1;
  }
}

pcal_status pc_selector_columns(const char *columns, const pc_column_set *set,
                                const pcal_env *env, size_t **chosen, size_t *count,
                                pcal_error *err) {
  selector_list list = {.set = set};
  list.chosen = pc_alloc_raw(env, set->count, sizeof *list.chosen);
  list.seen = pc_alloc(env, set->count, 1);
  pcal_status status = list.chosen == NULL || list.seen == NULL
                           ? pc_fail_memory(err, "choosing columns")
                           : selector_collect(&list, columns, err);
  pc_free(env, list.seen);
  if (status != PCAL_OK) {
    pc_free(env, list.chosen);
    return status;
  }
  *chosen = list.chosen;
  *count = list.count;
  return PCAL_OK;
}
