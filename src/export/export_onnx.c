/* Writes a recipe as an ONNX graph: opset 13 of the default domain, IR version 8, float32
 * inputs and outputs.
 *
 * A temperature is computed in float32, which is accurate since the largest score is subtracted
 * first; steps that would lose accuracy (bins, sums of large products) are computed in double.
 * The place of a score among ascending edges is found in two rounds, first the block of edges,
 * then the edge in it: 512 comparisons for a map of 65,536 points.
 * Source: https://onnx.ai/onnx/operators (operators by version), onnx.proto. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "export/export.h"
#include "export/onnx_graph.h"
#include "export/protobuf.h"

#define ONNX_IR 8
#define ONNX_OPSET 13

/* ---- Tables and lines ---- */

/* Maps, one for each column or one for all, as lists of equal length: with n edges below x the
 * value is base[n] + slope[n] (x - origin[n]). */
typedef struct export_onnx_maps {
  size_t count, block;                          /* block^2 edges, the last ones infinite */
  double *edges, *ends, *base, *slope, *origin; /* ends: the last edge of each block */
} export_onnx_maps;

static size_t export_onnx_points(const pc_step *s, size_t i) {
  return s->bin_maps != NULL ? s->bin_maps->maps[i].count - 1 : s->line_maps->maps[i].count;
}

static void export_onnx_fill_line(const pc_line_map *line, double *base, double *slope,
                                  double *origin) {
  const size_t n = line->count;
  base[0] = line->value[0];
  base[n] = line->value[n - 1];
  for (size_t i = 1; i < n; i++) {
    const double width = line->score[i] - line->score[i - 1];
    base[i] = line->value[i - 1];
    origin[i] = line->score[i - 1];
    slope[i] = width > 0.0 ? (line->value[i] - line->value[i - 1]) / width : 0.0;
  }
}

static void export_onnx_fill(const pc_step *s, const export_onnx_maps *maps) {
  const size_t size = maps->block * maps->block;
  for (size_t i = 0; i < maps->count; i++) {
    const size_t points = export_onnx_points(s, i), at = i * size;
    const double *edges =
        s->bin_maps != NULL ? s->bin_maps->maps[i].edges : s->line_maps->maps[i].score;
    for (size_t j = 0; j < size; j++)
      maps->edges[at + j] = j < points ? edges[j] : (double)INFINITY;
    for (size_t b = 0; b < maps->block; b++)
      maps->ends[i * maps->block + b] = maps->edges[at + (b + 1) * maps->block - 1];
    if (s->bin_maps != NULL)
      memcpy(maps->base + at, s->bin_maps->maps[i].values, (points + 1) * sizeof(double));
    else
      export_onnx_fill_line(&s->line_maps->maps[i], maps->base + at, maps->slope + at,
                            maps->origin + at);
  }
}

static pcal_status export_onnx_maps_make(const export_onnx_graph *g, const pc_step *s,
                                         export_onnx_maps *out, pcal_error *err) {
  size_t most = 0;
  out->count = s->bin_maps != NULL ? s->bin_maps->count : s->line_maps->count;
  for (size_t i = 0; i < out->count; i++)
    most = export_onnx_points(s, i) > most ? export_onnx_points(s, i) : most;
  for (out->block = 1; out->block * out->block < most + 1;)
    out->block++;
  const size_t cells = out->count * out->block * out->block;
  out->edges = pc_alloc(g->env, 4 * cells + out->count * out->block, sizeof(double));
  if (out->edges == NULL)
    return pc_fail_memory(err, "exporting a calibrator");
  out->base = out->edges + cells;
  out->slope = out->base + cells;
  out->origin = out->slope + cells;
  out->ends = out->origin + cells;
  export_onnx_fill(s, out);
  return PCAL_OK;
}

/* Number of `edges`, along their last axis, that lie below x, which has one axis less. */
static export_onnx_value export_onnx_count_below(export_onnx_graph *g, export_onnx_value x,
                                                 export_onnx_value edges) {
  const export_onnx_value above =
      export_onnx_two(g, "Greater", export_onnx_unsqueeze(g, x), edges);
  return export_onnx_sum(g, export_onnx_cast(g, above, ONNX_INT64), 0);
}

/* The place of every x in the lists; the lists of the maps stand one after the other. */
static export_onnx_value export_onnx_find(export_onnx_graph *g, const export_onnx_maps *maps,
                                          export_onnx_value x) {
  const size_t n = maps->count, b = maps->block;
  const export_onnx_value ends =
      export_onnx_constant(g, g->type, maps->ends, n == 1 ? 0 : n, b);
  export_onnx_value place = export_onnx_count_below(g, x, ends);
  if (n > 1) {
    g->part.length = 0;
    double *starts = maps->ends; /* no longer needed */
    for (size_t i = 0; i < n; i++)
      starts[i] = (double)(i * b);
    place = export_onnx_two(g, "Add", place, export_onnx_constant(g, ONNX_INT64, starts, 0, n));
  }
  const export_onnx_value blocks = export_onnx_constant(g, g->type, maps->edges, n * b, b);
  const export_onnx_value inside =
      export_onnx_count_below(g, x, export_onnx_axis(g, "Gather", blocks, place, 1, 0));
  return export_onnx_two(g, "Add", export_onnx_two(g, "Mul", place, export_onnx_integer(g, b)),
                         inside);
}

static export_onnx_value export_onnx_pick(export_onnx_graph *g, const export_onnx_maps *maps,
                                          const double *list, export_onnx_value place) {
  const size_t cells = maps->count * maps->block * maps->block;
  return export_onnx_axis(g, "Gather", export_onnx_constant(g, g->type, list, 0, cells), place,
                          1, 0);
}

static pcal_status export_onnx_map(export_onnx_graph *g, const pc_step *s, export_onnx_value x,
                                   export_onnx_value *out, pcal_error *err) {
  export_onnx_maps maps = {0};
  PC_TRY(export_onnx_maps_make(g, s, &maps, err));
  const export_onnx_value place = export_onnx_find(g, &maps, x);
  *out = export_onnx_pick(g, &maps, maps.base, place);
  if (s->bin_maps == NULL) {
    const export_onnx_value rest =
        export_onnx_two(g, "Sub", x, export_onnx_pick(g, &maps, maps.origin, place));
    const export_onnx_value rise =
        export_onnx_two(g, "Mul", rest, export_onnx_pick(g, &maps, maps.slope, place));
    *out = export_onnx_two(g, "Add", *out, rise);
  }
  pc_free(g->env, maps.edges);
  return PCAL_OK;
}

/* ---- Ranks ---- */

/* The `count` largest numbers in order, and their classes; TopK puts the lower index first. */
static export_onnx_value export_onnx_top(export_onnx_graph *g, export_onnx_value x,
                                         size_t count, export_onnx_value *classes) {
  const export_onnx_value inputs[] = {x, export_onnx_integer(g, count)};
  export_onnx_begin(g, "TopK", 2, inputs);
  const export_onnx_value values = export_onnx_new(g);
  *classes = export_onnx_new(g);
  pc_proto_string(&g->node, 2, values.name);
  pc_proto_string(&g->node, 2, classes->name);
  pc_proto_message(&g->nodes, 1, &g->node);
  return values;
}

static pcal_status export_onnx_rank_lines(export_onnx_graph *g, const pc_step *s,
                                          pcal_error *err) {
  const export_onnx_value x = export_onnx_x(g);
  export_onnx_value classes, mapped;
  const export_onnx_value sorted = export_onnx_top(g, x, g->width, &classes);
  PC_TRY(export_onnx_map(g, s, sorted, &mapped, err));
  const export_onnx_value inputs[] = {x, classes, mapped};
  export_onnx_begin(g, "ScatterElements", 3, inputs);
  export_onnx_attribute(g, "axis", 0, 1);
  export_onnx_set(g, export_onnx_end(g));
  return PCAL_OK;
}

/* A row of booleans: true for the class. */
static export_onnx_value export_onnx_chosen(export_onnx_graph *g, export_onnx_value class,
                                            pcal_error *err, pcal_status *status) {
  double *numbers = pc_alloc(g->env, g->width, sizeof *numbers);
  export_onnx_value all = {{0}};
  if (numbers == NULL) {
    *status = pc_fail_memory(err, "exporting a calibrator");
    return all;
  }
  for (size_t i = 0; i < g->width; i++)
    numbers[i] = (double)i;
  all = export_onnx_constant(g, ONNX_INT64, numbers, 0, g->width);
  pc_free(g->env, numbers);
  return export_onnx_two(g, "Equal", class, all);
}

static pcal_status export_onnx_top_line(export_onnx_graph *g, const pc_step *s,
                                        pcal_error *err) {
  const export_onnx_value x = export_onnx_x(g), zero = export_onnx_number(g, 0.0),
                          rank = export_onnx_integer(g, s->size - 1);
  export_onnx_value classes, value;
  pcal_status status = PCAL_OK;
  const export_onnx_value sorted = export_onnx_top(g, x, s->size, &classes);
  PC_TRY(export_onnx_map(g, s, export_onnx_axis(g, "Gather", sorted, rank, 1, 1), &value, err));
  const export_onnx_value chosen =
      export_onnx_chosen(g, export_onnx_axis(g, "Gather", classes, rank, 1, 1), err, &status);
  PC_TRY(status);
  const export_onnx_value others =
      export_onnx_where(g, chosen, zero, export_onnx_two(g, "Max", x, zero));
  const export_onnx_value sum = export_onnx_sum(g, others, 1);
  const export_onnx_value some = export_onnx_two(g, "Greater", sum, zero);
  const export_onnx_value rest = export_onnx_two(g, "Sub", export_onnx_number(g, 1.0), value);
  const export_onnx_value safe = export_onnx_where(g, some, sum, export_onnx_number(g, 1.0));
  const export_onnx_value even =
      export_onnx_two(g, "Div", rest, export_onnx_number(g, (double)(g->width - 1)));
  const export_onnx_value shared =
      export_onnx_two(g, "Mul", rest, export_onnx_two(g, "Div", others, safe));
  export_onnx_set(
      g, export_onnx_where(g, chosen, value, export_onnx_where(g, some, shared, even)));
  return PCAL_OK;
}

/* ---- Steps ---- */

static void export_onnx_rescale(export_onnx_graph *g) {
  const export_onnx_value x = export_onnx_x(g), one = export_onnx_number(g, 1.0);
  const export_onnx_value sum = export_onnx_sum(g, x, 1);
  const export_onnx_value some = export_onnx_two(g, "Greater", sum, export_onnx_number(g, 0.0));
  const export_onnx_value shares =
      export_onnx_two(g, "Div", x, export_onnx_where(g, some, sum, one));
  export_onnx_set(
      g, export_onnx_where(g, some, shares, export_onnx_number(g, 1.0 / (double)g->width)));
}

static pcal_status export_onnx_matrix(export_onnx_graph *g, const pc_step *s, pcal_error *err) {
  const size_t in = g->width, out = s->size;
  double *weights = pc_alloc_raw(g->env, in * out, sizeof *weights);
  if (weights == NULL)
    return pc_fail_memory(err, "exporting a calibrator");
  for (size_t j = 0; j < in; j++)
    memcpy(weights + j * out, s->w + j * s->stride, out * sizeof *weights);
  const export_onnx_value w = export_onnx_constant(g, g->type, weights, in, out);
  pc_free(g->env, weights);
  export_onnx_set(g, export_onnx_two(g, "MatMul", export_onnx_x(g), w));
  g->width = out;
  if (s->offsets != NULL) {
    const export_onnx_value b = export_onnx_constant(g, g->type, s->offsets, 0, out);
    export_onnx_set(g, export_onnx_two(g, "Add", export_onnx_x(g), b));
  }
  return PCAL_OK;
}

static void export_onnx_vector(export_onnx_graph *g, const pc_step *s) {
  if (s->w != NULL)
    export_onnx_set(g, export_onnx_two(g, "Mul", export_onnx_x(g),
                                       export_onnx_constant(g, g->type, s->w, 0, g->width)));
  if (s->offsets != NULL)
    export_onnx_set(g,
                    export_onnx_two(g, "Add", export_onnx_x(g),
                                    export_onnx_constant(g, g->type, s->offsets, 0, g->width)));
}

static void export_onnx_scale(export_onnx_graph *g, const pc_step *s) {
  export_onnx_set(g, export_onnx_two(g, "Mul", export_onnx_x(g), export_onnx_number(g, s->a)));
  if (s->b != 0.0)
    export_onnx_set(g,
                    export_onnx_two(g, "Add", export_onnx_x(g), export_onnx_number(g, s->b)));
}

/* In double, terms are 0 where those of `apply` are: the order of tiny numbers may matter in
 * later steps. */
static void export_onnx_softmax(export_onnx_graph *g) {
  const export_onnx_value x = export_onnx_x(g);
  if (g->type == ONNX_FLOAT) {
    export_onnx_set(g, export_onnx_axis(g, "Softmax", x, x, 0, 1));
    return;
  }
  const export_onnx_value least = export_onnx_number(g, PC_RECIPE_EXP_LEAST);
  const export_onnx_value power = export_onnx_two(g, "Sub", x, export_onnx_largest(g, x));
  const export_onnx_value terms =
      export_onnx_where(g, export_onnx_two(g, "Less", power, least), export_onnx_number(g, 0.0),
                        export_onnx_one(g, "Exp", power));
  export_onnx_set(g, export_onnx_two(g, "Div", terms, export_onnx_sum(g, terms, 1)));
}

/* 1 - exp(x) = -tanh(x / 2) (1 + exp(x)): no cancellation near 0. */
static void export_onnx_rest(export_onnx_graph *g) {
  const export_onnx_value x = export_onnx_x(g);
  const export_onnx_value half = export_onnx_two(g, "Mul", x, export_onnx_number(g, -0.5));
  const export_onnx_value sum =
      export_onnx_two(g, "Add", export_onnx_one(g, "Exp", x), export_onnx_number(g, 1.0));
  export_onnx_set(g, export_onnx_two(g, "Mul", export_onnx_one(g, "Tanh", half), sum));
}

/* Raises all numbers so that the largest is at least a. */
static void export_onnx_raise(export_onnx_graph *g, double a) {
  const export_onnx_value x = export_onnx_x(g);
  const export_onnx_value lacks =
      export_onnx_two(g, "Sub", export_onnx_number(g, a), export_onnx_largest(g, x));
  export_onnx_set(
      g, export_onnx_two(g, "Add", x,
                         export_onnx_two(g, "Max", lacks, export_onnx_number(g, 0.0))));
}

/* e / (1 + e) or 1 / (1 + e), e = exp(-|x|): small values keep their digits, which the operator
 * Sigmoid does not guarantee. */
static void export_onnx_sigmoid(export_onnx_graph *g) {
  const export_onnx_value x = export_onnx_x(g), one = export_onnx_number(g, 1.0);
  const export_onnx_value size = export_onnx_one(g, "Neg", export_onnx_one(g, "Abs", x));
  const export_onnx_value e = export_onnx_one(g, "Exp", size);
  const export_onnx_value low = export_onnx_two(g, "Less", x, export_onnx_number(g, 0.0));
  const export_onnx_value above = export_onnx_where(g, low, e, one);
  export_onnx_set(g, export_onnx_two(g, "Div", above, export_onnx_two(g, "Add", one, e)));
}

/* One number becomes two. */
static void export_onnx_two_columns(export_onnx_graph *g, int is_logit) {
  const export_onnx_value x = export_onnx_x(g);
  const export_onnx_value other =
      is_logit ? export_onnx_two(g, "Sub", x, x)
               : export_onnx_two(g, "Sub", export_onnx_number(g, 1.0), x);
  export_onnx_set(g, export_onnx_axis(g, "Concat", other, x, 1, 1));
  g->width = 2;
}

/* Steps that copy numbers. */
static void export_onnx_move(export_onnx_graph *g, const pc_step *s) {
  char *store = g->stores[s->size < PC_RECIPE_STORES ? s->size : 0];
  if (s->kind == PC_STEP_ONE_LOGIT || s->kind == PC_STEP_ONE_PROB)
    export_onnx_two_columns(g, s->kind == PC_STEP_ONE_LOGIT);
  if (s->kind == PC_STEP_LAST) {
    export_onnx_set(g, export_onnx_axis(g, "Gather", export_onnx_x(g),
                                        export_onnx_integer(g, g->width - 1), 1, 1));
    g->width = 1;
  }
  if (s->kind == PC_STEP_STORE)
    memcpy(store, g->x, ONNX_NAME);
  if (s->kind == PC_STEP_LOAD)
    memcpy(g->x, store, ONNX_NAME);
  if (s->kind == PC_STEP_ADD) {
    export_onnx_value kept;
    memcpy(kept.name, store, ONNX_NAME);
    export_onnx_set(g, export_onnx_two(g, "Add", export_onnx_x(g), kept));
  }
}

static pcal_status export_onnx_step(export_onnx_graph *g, const pc_step *s, pcal_error *err) {
  const export_onnx_value x = export_onnx_x(g);
  export_onnx_value mapped;
  switch (s->kind) {
  case PC_STEP_SUBTRACT_MAX:
    export_onnx_set(g, export_onnx_two(g, "Sub", x, export_onnx_largest(g, x)));
    return PCAL_OK;
  case PC_STEP_SOFTMAX:
    export_onnx_softmax(g);
    return PCAL_OK;
  case PC_STEP_LOG_SOFTMAX:
    export_onnx_set(g, export_onnx_axis(g, "LogSoftmax", x, x, 0, 1));
    return PCAL_OK;
  case PC_STEP_SIGMOID:
    export_onnx_sigmoid(g);
    return PCAL_OK;
  case PC_STEP_RAISE_MAX:
    export_onnx_raise(g, s->a);
    return PCAL_OK;
  case PC_STEP_EXP:
    export_onnx_set(g, export_onnx_one(g, "Exp", x));
    return PCAL_OK;
  case PC_STEP_ONE_MINUS_EXP:
    export_onnx_rest(g);
    return PCAL_OK;
  case PC_STEP_AT_LEAST:
  case PC_STEP_AT_MOST:
    export_onnx_set(g, export_onnx_two(g, s->kind == PC_STEP_AT_MOST ? "Min" : "Max", x,
                                       export_onnx_number(g, s->a)));
    return PCAL_OK;
  case PC_STEP_LOG:
    export_onnx_set(
        g,
        export_onnx_one(g, "Log", export_onnx_two(g, "Max", x, export_onnx_number(g, s->a))));
    return PCAL_OK;
  case PC_STEP_SCALE:
    export_onnx_scale(g, s);
    return PCAL_OK;
  case PC_STEP_VECTOR:
    export_onnx_vector(g, s);
    return PCAL_OK;
  case PC_STEP_MATRIX:
    return export_onnx_matrix(g, s, err);
  case PC_STEP_BIN_MAPS:
  case PC_STEP_LINE_MAPS:
    PC_TRY(export_onnx_map(g, s, x, &mapped, err));
    export_onnx_set(g, mapped);
    return PCAL_OK;
  case PC_STEP_RESCALE:
    export_onnx_rescale(g);
    return PCAL_OK;
  case PC_STEP_RANK_MAP:
    return export_onnx_top_line(g, s, err);
  case PC_STEP_ALL_RANKS_MAP:
    return export_onnx_rank_lines(g, s, err);
  default:
    export_onnx_move(g, s);
    return PCAL_OK;
  }
}

/* ---- The model ---- */

/* Declares a float32 tensor with any number of rows. */
static void export_onnx_declare(export_onnx_graph *g, pc_text *out, unsigned field,
                                const char *name, size_t columns) {
  pc_text shape, dimension;
  pc_text_init(&shape, g->env);
  pc_text_init(&dimension, g->env);
  pc_proto_string(&dimension, 2, "rows");
  pc_proto_message(&shape, 1, &dimension);
  pc_proto_integer(&dimension, 1, columns);
  pc_proto_message(&shape, 1, &dimension);
  g->part.length = g->node.length = 0;
  pc_proto_integer(&g->part, 1, ONNX_FLOAT);
  pc_proto_message(&g->part, 2, &shape);
  pc_proto_message(&dimension, 1, &g->part);
  pc_proto_string(&g->node, 1, name);
  pc_proto_message(&g->node, 2, &dimension);
  pc_proto_message(out, field, &g->node);
  pc_text_free(&shape);
  pc_text_free(&dimension);
}

static pcal_status export_onnx_steps(export_onnx_graph *g, const pc_recipe *recipe,
                                     pcal_error *err) {
  export_onnx_value x = {"scores"};
  g->width = recipe->columns;
  if (g->type != ONNX_FLOAT)
    x = export_onnx_cast(g, x, g->type);
  export_onnx_set(g, x);
  for (size_t i = 0; i < recipe->count; i++)
    PC_TRY(export_onnx_step(g, &recipe->steps[i], err));
  x = export_onnx_x(g);
  if (g->type == ONNX_FLOAT)
    export_onnx_begin(g, "Identity", 1, &x);
  else
    export_onnx_begin(g, "Cast", 1, &x);
  if (g->type != ONNX_FLOAT)
    export_onnx_attribute(g, "to", 0, ONNX_FLOAT);
  pc_proto_string(&g->node, 2, "probabilities");
  pc_proto_message(&g->nodes, 1, &g->node);
  return PCAL_OK;
}

static void export_onnx_model(export_onnx_graph *g, const pc_export *what, pc_text *out) {
  pc_text graph;
  char spec[PC_SPEC_MAX];
  pc_text_init(&graph, g->env);
  pc_options_write(&what->calibrator->options, 1, spec, sizeof spec);
  pc_text_add_bytes(&graph, g->nodes.bytes, g->nodes.length);
  pc_proto_string(&graph, 2, what->name);
  if (g->constants.length > 0)
    pc_text_add_bytes(&graph, g->constants.bytes, g->constants.length);
  pc_proto_string(&graph, 10, spec);
  export_onnx_declare(g, &graph, 11, "scores", what->recipe->columns);
  export_onnx_declare(g, &graph, 12, "probabilities", what->recipe->width);
  pc_proto_integer(out, 1, ONNX_IR);
  pc_proto_string(out, 2, "propercal");
  pc_proto_string(out, 3, PCAL_VERSION);
  pc_proto_message(out, 7, &graph);
  g->part.length = 0;
  pc_proto_string(&g->part, 1, "");
  pc_proto_integer(&g->part, 2, ONNX_OPSET);
  pc_proto_message(out, 8, &g->part);
  pc_text_free(&graph);
}

pcal_status pc_export_onnx(const pc_export *what, pc_text *out, pcal_error *err) {
  export_onnx_graph g = {.env = out->env,
                         .type = what->recipe->wide ? ONNX_DOUBLE : ONNX_FLOAT};
  pc_text *const texts[] = {&g.nodes, &g.constants, &g.node, &g.part};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    pc_text_init(texts[i], out->env);
  pcal_status status = export_onnx_steps(&g, what->recipe, err);
  for (size_t i = 0; status == PCAL_OK && i < sizeof texts / sizeof *texts; i++)
    status = pc_text_status(texts[i], err);
  if (status == PCAL_OK)
    export_onnx_model(&g, what, out);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    pc_text_free(texts[i]);
  return status;
}
