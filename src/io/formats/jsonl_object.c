#include "io/formats/jsonl_object.h"

#include <string.h>

static pc_slice jsonl_object_inside(const pc_jsonl_value *object) {
  return (pc_slice){object->text.bytes + 1, object->text.length - 2};
}

size_t pc_jsonl_length(const pc_jsonl_value *array) {
  pc_slice inside = jsonl_object_inside(array);
  pc_jsonl_value element;
  size_t count = 0;
  for (pc_jsonl_element(&inside, &element); element.kind != PC_JSONL_NONE;
       pc_jsonl_element(&inside, &element))
    count++;
  return count;
}

pcal_status pc_jsonl_array_columns(const pc_jsonl_scan *at, const pc_jsonl_value *array,
                                   size_t *out, pcal_error *err) {
  *out = pc_jsonl_length(array);
  return *out > 0 ? PCAL_OK
                  : pc_jsonl_fail(at, "the array is empty; give a number for each class", err);
}

pcal_status pc_jsonl_add_name(const pc_jsonl_scan *at, const pc_jsonl_value *key,
                              pc_name_table *out, uint32_t *number, pcal_error *err) {
  char *letters = pc_alloc_raw(out->env, key->text.length + 1, 1);
  if (letters == NULL)
    return pc_fail_memory(err, "reading the names of fields");
  const size_t length = pc_jsonl_copy(key, letters);
  const pc_slice name = {letters, length};
  const pcal_status status =
      length == SIZE_MAX || !pc_slice_is_utf8(name)
          ? pc_jsonl_fail(at, "the name of the field is not valid UTF-8; rename it", err)
          : pc_name_table_add(out, name, number, err);
  pc_free(out->env, letters);
  return status;
}

/* The field of an object with this name; kind is NONE if there is none. */
static pc_jsonl_value jsonl_object_field(const pc_jsonl_value *object, pc_slice name) {
  pc_slice inside = jsonl_object_inside(object);
  pc_jsonl_value key, value, found = {.kind = PC_JSONL_NONE};
  while (found.kind == PC_JSONL_NONE && pc_jsonl_member(&inside, &key, &value))
    if (pc_jsonl_is(&key, name))
      found = value;
  return found;
}

pcal_status pc_jsonl_follow(const pc_jsonl_scan *at, pc_slice path, pc_jsonl_value *value,
                            pcal_error *err) {
  while (path.length > 0) {
    if (value->kind == PC_JSONL_NULL)
      return PCAL_OK;
    if (value->kind != PC_JSONL_OBJECT)
      return pc_jsonl_fail(at, "it is no object here, so it has no such field inside", err);
    pc_jsonl_value found = jsonl_object_field(value, path);
    const char *dot = memchr(path.bytes, '.', path.length);
    const size_t step = dot == NULL ? path.length : (size_t)(dot - path.bytes);
    size_t used = path.length;
    if (found.kind == PC_JSONL_NONE && dot != NULL) {
      found = jsonl_object_field(value, (pc_slice){path.bytes, step});
      used = step + 1;
    }
    if (found.kind == PC_JSONL_NONE)
      return pc_jsonl_fail(at, PC_JSONL_NO_FIELD, err);
    *value = found;
    path = (pc_slice){path.bytes + used, path.length - used};
  }
  return PCAL_OK;
}

pcal_status pc_jsonl_object_names(const pc_jsonl_scan *at, const pc_jsonl_value *object,
                                  int ragged, pc_name_table *out, pcal_error *err) {
  pc_slice inside = jsonl_object_inside(object);
  pc_jsonl_value key, value;
  size_t count = 0;
  while (pc_jsonl_member(&inside, &key, &value)) {
    uint32_t number = 0;
    PC_TRY(pc_jsonl_add_name(at, &key, out, &number, err));
    if (number != count++ && !ragged)
      return pc_jsonl_fail(at, "a class occurs twice in the object; remove one", err);
  }
  return count > 0 || ragged
             ? PCAL_OK
             : pc_jsonl_fail(at, "the object is empty; give a number for each class", err);
}

pcal_status pc_jsonl_find_name(const pc_name_table *names, const pc_jsonl_value *key,
                               size_t *out, pcal_error *err) {
  uint32_t number = 0;
  pc_slice name = key->text;
  char *letters = NULL;
  if (key->escaped) {
    letters = pc_alloc_raw(names->env, key->text.length, 1);
    if (letters == NULL)
      return pc_fail_memory(err, "reading the names of fields");
    name = (pc_slice){letters, pc_jsonl_copy(key, letters)};
  }
  const int found = name.length != SIZE_MAX && pc_name_table_find(names, name, &number);
  *out = found ? number : names->count;
  pc_free(names->env, letters);
  return PCAL_OK;
}

static pcal_status jsonl_object_missing(const pc_jsonl_scan *at, const pc_name_table *names,
                                        const pc_jsonl_value *values, pcal_error *err) {
  char shown[PC_CLIP_MAX], name[PC_CLIP_MAX];
  const pc_place place = pc_jsonl_place(at, shown);
  size_t i = 0;
  while (i + 1 < names->count && values[i].kind != PC_JSONL_NONE)
    i++;
  return pc_fail_at(
      err, PCAL_DATA, &place,
      "the class \"%s\" of earlier lines is missing in the object; write null for "
      "a missing value",
      pc_clip(pc_slice_of(names->text[i]), name));
}

static pcal_status jsonl_object_wrong(const pc_jsonl_scan *at, const pc_jsonl_value *key,
                                      const char *what, pcal_error *err) {
  char shown[PC_CLIP_MAX], name[PC_CLIP_MAX];
  const pc_place place = pc_jsonl_place(at, shown);
  return pc_fail_at(err, PCAL_DATA, &place, "the class \"%s\" %-s", pc_clip(key->text, name),
                    what);
}

pcal_status pc_jsonl_object_values(const pc_jsonl_scan *at, const pc_jsonl_value *object,
                                   const pc_name_table *names, int ragged,
                                   pc_jsonl_value *values, pcal_error *err) {
  pc_slice inside = jsonl_object_inside(object);
  pc_jsonl_value key, value;
  size_t count = 0;
  for (size_t i = 0; i < names->count; i++)
    values[i].kind = PC_JSONL_NONE;
  while (pc_jsonl_member(&inside, &key, &value)) {
    size_t i = 0;
    PC_TRY(pc_jsonl_find_name(names, &key, &i, err));
    if (i == names->count)
      return jsonl_object_wrong(at, &key,
                                "is not among those of the first object; give every row the "
                                "same classes",
                                err);
    if (values[i].kind != PC_JSONL_NONE)
      return jsonl_object_wrong(at, &key, "occurs twice in the object; remove one", err);
    values[i] = value;
    count++;
  }
  for (size_t i = 0; ragged && i < names->count; i++)
    if (values[i].kind == PC_JSONL_NONE)
      values[i] = (pc_jsonl_value){.kind = PC_JSONL_NULL};
  return count == names->count || ragged ? PCAL_OK
                                         : jsonl_object_missing(at, names, values, err);
}
