#include "io/formats/arrow_wrap.h"

#include <string.h>

typedef struct arrow_wrap_schema {
  pcal_env env;
  struct ArrowSchema child;
  struct ArrowSchema *children[1];
} arrow_wrap_schema;

typedef struct arrow_wrap_array {
  pcal_env env;
  struct ArrowArray child;
  struct ArrowArray *children[1];
  const void *buffers[1]; /* no validity bitmap */
} arrow_wrap_array;

static void arrow_wrap_release_schema(struct ArrowSchema *schema) {
  arrow_wrap_schema *plain = schema->private_data;
  const pcal_env env = plain->env;
  if (plain->child.release != NULL)
    plain->child.release(&plain->child);
  pc_free(&env, plain);
  schema->release = NULL;
}

static void arrow_wrap_release_array(struct ArrowArray *array) {
  arrow_wrap_array *plain = array->private_data;
  const pcal_env env = plain->env;
  if (plain->child.release != NULL)
    plain->child.release(&plain->child);
  pc_free(&env, plain);
  array->release = NULL;
}

pcal_status pc_arrow_wrap_schema(struct ArrowSchema *schema, const pcal_env *env,
                                 pcal_error *err) {
  arrow_wrap_schema *plain = pc_alloc(env, 1, sizeof *plain);
  if (plain == NULL)
    return pc_fail_memory(err, "opening Arrow data");
  plain->env = *env;
  plain->child = *schema;
  if (schema->name == NULL || schema->name[0] == '\0')
    plain->child.name = "values";
  plain->children[0] = &plain->child;
  memset(schema, 0, sizeof *schema);
  schema->format = "+s";
  schema->name = "";
  schema->n_children = 1;
  schema->children = plain->children;
  schema->release = arrow_wrap_release_schema;
  schema->private_data = plain;
  return PCAL_OK;
}

pcal_status pc_arrow_wrap_array(struct ArrowArray *array, const pcal_env *env,
                                pcal_error *err) {
  arrow_wrap_array *plain = pc_alloc(env, 1, sizeof *plain);
  if (plain == NULL)
    return pc_fail_memory(err, "opening Arrow data");
  plain->env = *env;
  plain->child = *array;
  plain->children[0] = &plain->child;
  memset(array, 0, sizeof *array);
  array->length = plain->child.length;
  array->n_buffers = 1;
  array->buffers = plain->buffers;
  array->n_children = 1;
  array->children = plain->children;
  array->release = arrow_wrap_release_array;
  array->private_data = plain;
  return PCAL_OK;
}
