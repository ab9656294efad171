/* Objects inside a line of JSON: fields of fields, and rows written as {"cat": 0.9, "dog": 0.1}. */
#ifndef PC_JSONL_OBJECT_H
#define PC_JSONL_OBJECT_H

#include "io/formats/jsonl_scan.h"
#include "io/name_table.h"

/* A field on which a line differs from the others. */
#define PC_JSONL_NO_FIELD "the object has no such field; write null for a missing value"
#define PC_JSONL_FIELD_TWICE "it occurs twice in the object; remove one"

/* The number of elements of an array. */
size_t pc_jsonl_length(const pc_jsonl_value *array);
/* The same for the columns of rows; fails with PCAL_DATA if there are none. */
PC_CHECKED pcal_status pc_jsonl_array_columns(const pc_jsonl_scan *at,
                                              const pc_jsonl_value *array, size_t *out,
                                              pcal_error *err);

/* Follows a path such as "out.p" from *value down to a field of it; an empty path is *value
 * itself.  A field whose name contains dots is found too.  `at` is the place for messages. */
PC_CHECKED pcal_status pc_jsonl_follow(const pc_jsonl_scan *at, pc_slice path,
                                       pc_jsonl_value *value, pcal_error *err);

/* Adds the names of the fields of an object to an empty table.  Fails with PCAL_DATA if there are
 * none, or two of the same name.  ragged: adds those that the table lacks, if any. */
PC_CHECKED pcal_status pc_jsonl_object_names(const pc_jsonl_scan *at,
                                             const pc_jsonl_value *object, int ragged,
                                             pc_name_table *out, pcal_error *err);

/* Sets values[i] to the field called names->text[i].  Fails with PCAL_DATA unless the object has
 * exactly these fields, in any order, each once; ragged: those that are missing are null. */
PC_CHECKED pcal_status pc_jsonl_object_values(const pc_jsonl_scan *at,
                                              const pc_jsonl_value *object,
                                              const pc_name_table *names, int ragged,
                                              pc_jsonl_value *values, pcal_error *err);

/* Adds a string to a table of names, with escapes resolved. */
PC_CHECKED pcal_status pc_jsonl_add_name(const pc_jsonl_scan *at, const pc_jsonl_value *key,
                                         pc_name_table *out, uint32_t *number, pcal_error *err);

/* Sets *out to the number of a key in the table, or to names->count if it is not there. */
PC_CHECKED pcal_status pc_jsonl_find_name(const pc_name_table *names, const pc_jsonl_value *key,
                                          size_t *out, pcal_error *err);

#endif
