/* An ONNX graph in progress, for export_onnx.c only: constants, nodes and operators. */
#ifndef PC_ONNX_GRAPH_H
#define PC_ONNX_GRAPH_H

#include <stdio.h>
#include <string.h>

#include "export/export.h"
#include "export/protobuf.h"

enum { ONNX_FLOAT = 1, ONNX_INT64 = 7, ONNX_DOUBLE = 11 };
enum { ONNX_ATTRIBUTE_INT = 2, ONNX_ATTRIBUTE_INTS = 7 };

#define ONNX_NAME 24

typedef struct export_onnx_graph {
  const pcal_env *env;
  pc_text nodes, constants; /* fields of the graph, complete so far */
  pc_text node, part;       /* the field in progress, and its nested message */
  int type;                 /* of the numbers: ONNX_FLOAT or ONNX_DOUBLE */
  size_t width;             /* of x */
  unsigned made;            /* number of names so far */
  char x[ONNX_NAME];        /* name of the current row */
  char stores[PC_RECIPE_STORES][ONNX_NAME];
} export_onnx_graph;

typedef struct export_onnx_value {
  char name[ONNX_NAME];
} export_onnx_value;

static inline export_onnx_value export_onnx_new(export_onnx_graph *g) {
  export_onnx_value value;
  snprintf(value.name, sizeof value.name, "v%u", g->made++);
  return value;
}

static inline export_onnx_value export_onnx_x(const export_onnx_graph *g) {
  export_onnx_value value;
  snprintf(value.name, sizeof value.name, "%s", g->x);
  return value;
}

static inline void export_onnx_set(export_onnx_graph *g, export_onnx_value value) {
  snprintf(g->x, sizeof g->x, "%s", value.name);
}

/* ---- Constants ---- */

static inline void export_onnx_add_number(pc_text *bytes, int type, double value) {
  uint64_t bits = 0;
  char out[8];
  const size_t size = type == ONNX_FLOAT ? 4 : 8;
  if (type == ONNX_FLOAT) {
    const float narrow = (float)value;
    uint32_t four;
    memcpy(&four, &narrow, sizeof four);
    bits = four;
  } else if (type == ONNX_DOUBLE) {
    memcpy(&bits, &value, sizeof bits);
  } else {
    bits = (uint64_t)(int64_t)value;
  }
  for (size_t i = 0; i < size; i++)
    out[i] = (char)(bits >> 8 * i & 255);
  pc_text_add_bytes(bytes, out, size);
}

/* A two-dimensional tensor; rows 0: one-dimensional; rows and columns 0: a scalar. */
static inline export_onnx_value export_onnx_constant(export_onnx_graph *g, int type,
                                                     const double *numbers, size_t rows,
                                                     size_t columns) {
  const export_onnx_value value = export_onnx_new(g);
  const size_t count = (rows == 0 ? 1 : rows) * (columns == 0 ? 1 : columns);
  g->part.length = g->node.length = 0;
  for (size_t i = 0; i < count; i++)
    export_onnx_add_number(&g->part, type, numbers[i]);
  if (rows > 0)
    pc_proto_integer(&g->node, 1, rows);
  if (columns > 0)
    pc_proto_integer(&g->node, 1, columns);
  pc_proto_integer(&g->node, 2, (uint64_t)type);
  pc_proto_string(&g->node, 8, value.name);
  pc_proto_message(&g->node, 9, &g->part);
  pc_proto_message(&g->constants, 5, &g->node);
  return value;
}

static inline export_onnx_value export_onnx_number(export_onnx_graph *g, double number) {
  return export_onnx_constant(g, g->type, &number, 0, 0);
}

static inline export_onnx_value export_onnx_integer(export_onnx_graph *g, size_t number) {
  const double value = (double)number;
  return export_onnx_constant(g, ONNX_INT64, &value, 0, 1);
}

/* ---- Nodes ---- */

static inline void export_onnx_attribute(export_onnx_graph *g, const char *name, int is_list,
                                         int64_t value) {
  g->part.length = 0;
  pc_proto_string(&g->part, 1, name);
  pc_proto_integer(&g->part, is_list ? 8 : 3, (uint64_t)value);
  pc_proto_integer(&g->part, 20, is_list ? ONNX_ATTRIBUTE_INTS : ONNX_ATTRIBUTE_INT);
  pc_proto_message(&g->node, 5, &g->part);
}

static inline void export_onnx_begin(export_onnx_graph *g, const char *operator, size_t count,
                                     const export_onnx_value *inputs) {
  g->node.length = 0;
  for (size_t i = 0; i < count; i++)
    pc_proto_string(&g->node, 1, inputs[i].name);
  pc_proto_string(&g->node, 4, operator);
}

static inline export_onnx_value export_onnx_end(export_onnx_graph *g) {
  const export_onnx_value value = export_onnx_new(g);
  pc_proto_string(&g->node, 2, value.name);
  pc_proto_message(&g->nodes, 1, &g->node);
  return value;
}

static inline export_onnx_value export_onnx_one(export_onnx_graph *g, const char *operator,
                                                export_onnx_value a) {
  export_onnx_begin(g, operator, 1, &a);
  return export_onnx_end(g);
}

static inline export_onnx_value export_onnx_two(export_onnx_graph *g, const char *operator,
                                                export_onnx_value a, export_onnx_value b) {
  const export_onnx_value inputs[] = {a, b};
  export_onnx_begin(g, operator, 2, inputs);
  return export_onnx_end(g);
}

static inline export_onnx_value export_onnx_where(export_onnx_graph *g, export_onnx_value test,
                                                  export_onnx_value a, export_onnx_value b) {
  const export_onnx_value inputs[] = {test, a, b};
  export_onnx_begin(g, "Where", 3, inputs);
  return export_onnx_end(g);
}

static inline export_onnx_value export_onnx_axis(export_onnx_graph *g, const char *operator,
                                                 export_onnx_value a, export_onnx_value b,
                                                 int two, int64_t axis) {
  const export_onnx_value inputs[] = {a, b};
  export_onnx_begin(g, operator, two ? 2 : 1, inputs);
  export_onnx_attribute(g, "axis", 0, axis);
  return export_onnx_end(g);
}

static inline export_onnx_value export_onnx_cast(export_onnx_graph *g, export_onnx_value a,
                                                 int type) {
  export_onnx_begin(g, "Cast", 1, &a);
  export_onnx_attribute(g, "to", 0, type);
  return export_onnx_end(g);
}

/* The largest number along the last axis, which is kept. */
static inline export_onnx_value export_onnx_largest(export_onnx_graph *g, export_onnx_value a) {
  export_onnx_begin(g, "ReduceMax", 1, &a);
  export_onnx_attribute(g, "axes", 1, -1);
  export_onnx_attribute(g, "keepdims", 0, 1);
  return export_onnx_end(g);
}

static inline export_onnx_value export_onnx_sum(export_onnx_graph *g, export_onnx_value a,
                                                int kept) {
  const double last = -1;
  const export_onnx_value inputs[] = {a, export_onnx_constant(g, ONNX_INT64, &last, 0, 1)};
  export_onnx_begin(g, "ReduceSum", 2, inputs);
  export_onnx_attribute(g, "keepdims", 0, kept);
  return export_onnx_end(g);
}

static inline export_onnx_value export_onnx_unsqueeze(export_onnx_graph *g,
                                                      export_onnx_value a) {
  const double last = -1;
  return export_onnx_two(g, "Unsqueeze", a, export_onnx_constant(g, ONNX_INT64, &last, 0, 1));
}

#endif
