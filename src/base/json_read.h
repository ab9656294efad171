/* Reads strict JSON (RFC 8259) into a tree. */
#ifndef PC_JSON_READ_H
#define PC_JSON_READ_H

#include "base/memory.h"

#define PC_JSON_DEPTH_MAX 64

typedef enum pc_json_kind {
  PC_JSON_NULL = 1,
  PC_JSON_BOOL,
  PC_JSON_NUMBER,
  PC_JSON_STRING,
  PC_JSON_ARRAY,
  PC_JSON_OBJECT
} pc_json_kind;

typedef struct pc_json_node pc_json_node;

struct pc_json_node {
  pc_json_kind kind;
  uint32_t line;      /* where it begins, from 1 */
  const char *key;    /* of a member of an object, else NULL */
  pc_json_node *next; /* in the same array or object */
  union {
    int truth;
    double number;    /* finite */
    const char *text; /* UTF-8 without NUL */
    struct {
      pc_json_node *first;
      size_t count;
    } list; /* of arrays and objects */
  };
};

typedef struct pc_json_tree {
  const pcal_env *env;
  const pc_json_node *root;
  void *blocks; /* private */
} pc_json_tree;

/* Reads one value; only white space may surround it.  `name` names the input in errors.  Fails
 * with PCAL_DATA and the line for invalid JSON, a key given twice in an object, a string with
 * U+0000, a number beyond the range of double, and more than PC_JSON_DEPTH_MAX levels.  env
 * must outlive the tree; the bytes need not. */
PC_CHECKED pcal_status pc_json_read(const void *bytes, size_t length, const char *name,
                                    const pcal_env *env, pc_json_tree *out, pcal_error *err);
void pc_json_tree_free(pc_json_tree *tree); /* a zeroed tree is allowed */

/* The member of an object with this key; NULL if there is none or the node is no object. */
const pc_json_node *pc_json_find(const pc_json_node *object, const char *key);

/* "a number", "an object" ... for messages. */
const char *pc_json_kind_name(pc_json_kind kind);

#endif
