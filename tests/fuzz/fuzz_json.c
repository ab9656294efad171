/* JSON: a tree of random values, one with a node changed, or any bytes.
 *
 *   1. They are refused with one sentence, or they are read.
 *   2. What was read is written again, and that reads back as the same tree. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_read.h"
#include "fuzz_count.h"
#include "fuzz_tree.h"

static void fuzz_json_value(fuzz_choice *choice, int depth, fuzz_out *out) {
  static const char *const plain[] = {"null",     "true",        "false",  "0",
                                      "-1.5e-3",  "1e308",       "12345",  "\"\"",
                                      "\"a\\n\"", "\"\\u20ac\"", "\"x y\""};
  const size_t items = depth > 5 ? 0 : fuzz_below(choice, 5);
  const int object = fuzz_chance(choice, 2);
  if (depth > 0 && fuzz_chance(choice, 2)) {
    fuzz_putf(out, "%s", FUZZ_PICK(choice, plain));
    return;
  }
  fuzz_putf(out, object ? "{" : "[");
  for (size_t i = 0; i < items; i++) {
    if (object)
      fuzz_putf(out, "\"k%zu\": ", i);
    fuzz_json_value(choice, depth + 1, out);
    fuzz_putf(out, i + 1 < items ? ", " : "");
  }
  fuzz_putf(out, object ? "}" : "]");
}

static void fuzz_make(fuzz_choice *choice, fuzz_out *out) {
  fuzz_json_value(choice, 0, out);
}

static void fuzz_change(fuzz_choice *choice, const uint8_t *data, size_t size, fuzz_out *out) {
  if (!fuzz_tree_change(choice, data, size, out))
    fuzz_make(choice, out);
}

#include "fuzz_mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_json_require(int holds) {
  if (!holds)
    abort();
}

static void fuzz_json_write(pc_json *json, const pc_json_node *node) {
  const int object = node->kind == PC_JSON_OBJECT;
  if (node->kind == PC_JSON_NULL)
    pc_json_null(json);
  else if (node->kind == PC_JSON_BOOL)
    pc_json_bool(json, node->truth);
  else if (node->kind == PC_JSON_NUMBER)
    pc_json_number(json, node->number);
  else if (node->kind == PC_JSON_STRING)
    pc_json_string(json, node->text);
  if (node->kind != PC_JSON_ARRAY && !object)
    return;
  pc_json_open(json, object ? '{' : '[');
  for (const pc_json_node *item = node->list.first; item != NULL; item = item->next) {
    fuzz_json_require((item->key != NULL) == object);
    if (object) {
      fuzz_json_require(pc_json_find(node, item->key) == item);
      pc_json_key(json, item->key);
    }
    fuzz_json_write(json, item);
  }
  pc_json_close(json, object ? '}' : ']');
}

static void fuzz_json_same(const pc_json_node *a, const pc_json_node *b) {
  fuzz_json_require(a->kind == b->kind);
  if (a->kind == PC_JSON_BOOL)
    fuzz_json_require(a->truth == b->truth);
  if (a->kind == PC_JSON_NUMBER)
    fuzz_json_require(memcmp(&a->number, &b->number, sizeof a->number) == 0);
  if (a->kind == PC_JSON_STRING)
    fuzz_json_require(strcmp(a->text, b->text) == 0);
  if (a->kind != PC_JSON_ARRAY && a->kind != PC_JSON_OBJECT)
    return;
  fuzz_json_require(a->list.count == b->list.count);
  const pc_json_node *other = b->list.first;
  for (const pc_json_node *item = a->list.first; item != NULL; item = item->next) {
    fuzz_json_require(item->key == NULL || strcmp(item->key, other->key) == 0);
    fuzz_json_same(item, other);
    other = other->next;
  }
  fuzz_json_require(other == NULL);
}

static void fuzz_json_again(const pc_json_tree *tree, const pcal_env *env) {
  pc_text text;
  pc_json json;
  pc_json_tree second;
  pc_text_init(&text, env);
  pc_json_init(&json, &text);
  fuzz_json_write(&json, tree->root);
  if (pc_text_status(&text, NULL) == PCAL_OK) {
    fuzz_json_require(pc_json_read(text.bytes, text.length, "again", env, &second, NULL) ==
                      PCAL_OK);
    fuzz_json_same(tree->root, second.root);
    pc_json_tree_free(&second);
  }
  pc_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_json_tree tree;
  pcal_error err = PCAL_ERROR_INIT;
  const pcal_status status = pc_json_read(data, size, "fuzz.json", &env, &tree, &err);
  fuzz_count(status == PCAL_OK);
  if (status == PCAL_OK) {
    fuzz_json_again(&tree, &env);
    pc_json_tree_free(&tree);
    return 0;
  }
  fuzz_json_require(status == PCAL_DATA && err.status == status && err.message[0] != '\0');
  fuzz_json_require(tree.root == NULL);
  return 0;
}
