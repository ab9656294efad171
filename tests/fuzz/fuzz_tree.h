/* Changes of JSON texts: the tree is read, one of its nodes changed, and the text written. */
#ifndef FUZZ_TREE_H
#define FUZZ_TREE_H

#include "base/json.h"
#include "base/json_read.h"
#include "fuzz_choice.h"

typedef struct fuzz_tree {
  fuzz_choice *choice;
  pc_json json;
  size_t at, target; /* nodes so far, and the one to change */
  size_t how;
} fuzz_tree;

enum { FUZZ_TREE_VALUE, FUZZ_TREE_DROP, FUZZ_TREE_TWICE, FUZZ_TREE_ODD, FUZZ_TREE_WAYS };

static inline size_t fuzz_tree_count(const pc_json_node *node) {
  size_t count = 1;
  if (node->kind == PC_JSON_ARRAY || node->kind == PC_JSON_OBJECT)
    for (const pc_json_node *item = node->list.first; item != NULL; item = item->next)
      count += fuzz_tree_count(item);
  return count;
}

/* Small changes keep most files valid. */
static inline double fuzz_tree_number(fuzz_tree *tree, double value) {
  static const double odd[] = {0.0, 1.0, -1.0, 0.5, 1e300, -1e-300, 4294967296.0, 2.0};
  if (tree->how == FUZZ_TREE_ODD)
    return FUZZ_PICK(tree->choice, odd);
  switch (fuzz_below(tree->choice, 4)) {
  case 0:
    return value + 1.0;
  case 1:
    return value - 1.0;
  case 2:
    return -value;
  default:
    return value * (1.0 + (fuzz_unit(tree->choice) - 0.5) / 64.0);
  }
}

static inline void fuzz_tree_write(fuzz_tree *tree, const pc_json_node *node, int again) {
  const int mine = tree->at == tree->target, object = node->kind == PC_JSON_OBJECT;
  tree->at += !again;
  if (node->kind == PC_JSON_NULL)
    pc_json_null(&tree->json);
  else if (node->kind == PC_JSON_BOOL)
    pc_json_bool(&tree->json, node->truth ^ (mine && !again));
  else if (node->kind == PC_JSON_NUMBER)
    pc_json_number(&tree->json,
                   mine && !again ? fuzz_tree_number(tree, node->number) : node->number);
  else if (node->kind == PC_JSON_STRING)
    pc_json_string(&tree->json, node->text);
  if (node->kind != PC_JSON_ARRAY && !object)
    return;
  pc_json_open(&tree->json, object ? '{' : '[');
  for (const pc_json_node *item = node->list.first; item != NULL; item = item->next) {
    const int here = !again && tree->at == tree->target;
    if (here && tree->how == FUZZ_TREE_DROP) {
      tree->at += fuzz_tree_count(item);
      continue;
    }
    if (object)
      pc_json_key(&tree->json, item->key);
    if (here && tree->how == FUZZ_TREE_TWICE && !object)
      fuzz_tree_write(tree, item, 1);
    fuzz_tree_write(tree, item, again);
  }
  pc_json_close(&tree->json, object ? '}' : ']');
}

/* 0 where the text is no JSON. */
static inline int fuzz_tree_change(fuzz_choice *choice, const uint8_t *data, size_t size,
                                   fuzz_out *out) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_json_tree read;
  pc_text text;
  if (pc_json_read(data, size, "tree", &env, &read, NULL) != PCAL_OK)
    return 0;
  fuzz_tree tree = {.choice = choice, .how = fuzz_below(choice, FUZZ_TREE_WAYS)};
  if (fuzz_chance(choice, 2))
    tree.how = FUZZ_TREE_VALUE;
  tree.target = fuzz_below(choice, fuzz_tree_count(read.root));
  pc_text_init(&text, &env);
  pc_json_init(&tree.json, &text);
  fuzz_tree_write(&tree, read.root, 0);
  const int fine = pc_text_status(&text, NULL) == PCAL_OK;
  if (fine)
    fuzz_put(out, text.bytes, text.length);
  pc_text_free(&text);
  pc_json_tree_free(&read);
  return fine;
}

#endif
