/* Writes a recipe as C99: a static table for each list of numbers, and a block of code for each
 * step. Arithmetic is double, as in `propercal apply`; numbers read back exactly. */
#include <string.h>

#include "base/escape.h"
#include "base/number.h"
#include "export/export.h"

#define EXPORT_C_LINE 6 /* numbers on a line */

typedef struct export_c {
  const pc_export *what;
  pc_text *out;
  size_t width; /* of x before the current step */
} export_c;

/* ---- Tables ---- */

static void export_c_numbers(const export_c *c, const char *label, size_t step,
                             const double *numbers, size_t count) {
  pc_text_format(c->out, "static const double %s_%s%zu[] = {", c->what->name, label, step);
  for (size_t i = 0; i < count; i++) {
    pc_text_add(c->out, i % EXPORT_C_LINE == 0 ? "\n  " : " ");
    pc_text_number(c->out, numbers[i]);
    pc_text_add(c->out, ",");
  }
  pc_text_add(c->out, "\n};\n");
}

/* Where the list of each map begins in the joined lists. */
static void export_c_begins(const export_c *c, size_t step, const pc_step *s) {
  const size_t count = s->bin_maps != NULL ? s->bin_maps->count : s->line_maps->count;
  size_t at = 0;
  pc_text_format(c->out, "static const unsigned long %s_begin%zu[] = {0", c->what->name, step);
  for (size_t i = 0; i < count; i++) {
    at += s->bin_maps != NULL ? s->bin_maps->maps[i].count : s->line_maps->maps[i].count;
    pc_text_format(c->out, ", %zu", at);
  }
  pc_text_add(c->out, "};\n");
}

static void export_c_list(const export_c *c, const char *label, size_t step, const pc_step *s,
                          int values) {
  const size_t count = s->bin_maps != NULL ? s->bin_maps->count : s->line_maps->count;
  size_t written = 0;
  pc_text_format(c->out, "static const double %s_%s%zu[] = {", c->what->name, label, step);
  for (size_t i = 0; i < count; i++) {
    const pc_bin_map *table = s->bin_maps != NULL ? &s->bin_maps->maps[i] : NULL;
    const pc_line_map *line = s->bin_maps != NULL ? NULL : &s->line_maps->maps[i];
    const size_t size = table != NULL ? table->count : line->count;
    for (size_t j = 0; j < size; j++) {
      const double number = table == NULL          ? values ? line->value[j] : line->score[j]
                                     : values ? table->values[j]
                            : j + 1 < table->count ? table->edges[j]
                                                   : 2.0; /* above every score */
      pc_text_add(c->out, written++ % EXPORT_C_LINE == 0 ? "\n  " : " ");
      pc_text_number(c->out, number);
      pc_text_add(c->out, ",");
    }
  }
  pc_text_add(c->out, "\n};\n");
}

static void export_c_matrix(const export_c *c, size_t step, const pc_step *s, size_t in) {
  pc_text_format(c->out, "static const double %s_w%zu[][%zu] = {", c->what->name, step,
                 s->size);
  for (size_t j = 0; j < in; j++) {
    pc_text_add(c->out, "\n  {");
    for (size_t i = 0; i < s->size; i++) {
      pc_text_add(c->out, i == 0 ? "" : i % EXPORT_C_LINE == 0 ? ",\n   " : ", ");
      pc_text_number(c->out, s->w[j * s->stride + i]);
    }
    pc_text_add(c->out, "},");
  }
  pc_text_add(c->out, "\n};\n");
}

static void export_c_tables(export_c *c, size_t step, const pc_step *s) {
  if (s->kind == PC_STEP_MATRIX)
    export_c_matrix(c, step, s, c->width);
  else if (s->w != NULL)
    export_c_numbers(c, "w", step, s->w, c->width);
  if (s->offsets != NULL)
    export_c_numbers(c, "b", step, s->offsets, s->kind == PC_STEP_MATRIX ? s->size : c->width);
  if (s->bin_maps == NULL && s->line_maps == NULL)
    return;
  export_c_begins(c, step, s);
  export_c_list(c, "at", step, s, 0);
  export_c_list(c, "to", step, s, 1);
}

/* ---- Helpers that the steps call ---- */

static int export_c_has(const pc_recipe *recipe, pc_step_kind kind) {
  for (size_t i = 0; i < recipe->count; i++)
    if (recipe->steps[i].kind == kind)
      return 1;
  return 0;
}

static int export_c_draws_lines(const pc_recipe *recipe) {
  return export_c_has(recipe, PC_STEP_LINE_MAPS) || export_c_has(recipe, PC_STEP_RANK_MAP) ||
         export_c_has(recipe, PC_STEP_ALL_RANKS_MAP);
}

static void export_c_helpers(const export_c *c) {
  const pc_recipe *recipe = c->what->recipe;
  const char *name = c->what->name;
  if (export_c_draws_lines(recipe) || export_c_has(recipe, PC_STEP_BIN_MAPS))
    pc_text_format(
        c->out,
        "\n/* Index of the first of ascending numbers that is not below x, or n. */\n"
        "static unsigned long %s_find(const double *at, unsigned long n, double x) {\n"
        "  unsigned long low = 0;\n"
        "  while (low < n) {\n"
        "    const unsigned long middle = low + (n - low) / 2;\n"
        "    if (at[middle] < x)\n"
        "      low = middle + 1;\n"
        "    else\n"
        "      n = middle;\n"
        "  }\n"
        "  return low;\n"
        "}\n",
        name);
  if (export_c_draws_lines(recipe))
    pc_text_format(
        c->out,
        "\n/* Linear between points, constant outside. */\n"
        "static double %s_line(const double *at, const double *to, unsigned long n, double x) "
        "{\n"
        "  const unsigned long i = %s_find(at, n, x);\n"
        "  if (i == n)\n"
        "    return to[n - 1];\n"
        "  if (i == 0 || at[i] == x)\n"
        "    return to[i];\n"
        "  return to[i - 1] + (x - at[i - 1]) / (at[i] - at[i - 1]) * (to[i] - to[i - 1]);\n"
        "}\n",
        name, name);
}

/* ---- Steps ---- */

static void export_c_each(const export_c *c, const char *statement) {
  pc_text_format(c->out, "  for (j = 0; j < %zu; j++)\n    %s\n", c->width, statement);
}

static void export_c_largest(const export_c *c) {
  pc_text_add(c->out, "  t = x[0];\n");
  export_c_each(c, "t = x[j] > t ? x[j] : t;");
}

static void export_c_softmax(const export_c *c) {
  export_c_largest(c);
  pc_text_format(c->out, "  u = 0;\n  for (j = 0; j < %zu; j++)\n    u += x[j] = x[j] - t < ",
                 c->width);
  pc_text_number(c->out, PC_RECIPE_EXP_LEAST);
  pc_text_add(c->out, " ? 0 : exp(x[j] - t);\n");
  export_c_each(c, "x[j] /= u;");
}

/* The largest term, which is 1, is not in the sum: logarithms near 0 keep their digits. */
static void export_c_log_softmax(const export_c *c) {
  pc_text_add(c->out, "  i = 0;\n");
  export_c_each(c, "i = x[j] > x[i] ? j : i;");
  pc_text_add(c->out, "  t = x[i];\n  u = 0;\n");
  export_c_each(c, "u += j == i ? 0 : exp(x[j] - t);");
  pc_text_add(c->out, "  u = log1p(u);\n");
  export_c_each(c, "x[j] = (x[j] - t) - u;");
}

static void export_c_vector(const export_c *c, size_t step, const pc_step *s) {
  pc_text_format(c->out, "  for (j = 0; j < %zu; j++)\n    x[j] = ", c->width);
  if (s->w != NULL)
    pc_text_format(c->out, "%s_w%zu[j] * ", c->what->name, step);
  pc_text_add(c->out, "x[j]");
  if (s->offsets != NULL)
    pc_text_format(c->out, " + %s_b%zu[j]", c->what->name, step);
  pc_text_add(c->out, ";\n");
}

static void export_c_product(const export_c *c, size_t step, const pc_step *s) {
  const char *name = c->what->name;
  pc_text_format(c->out, "  for (i = 0; i < %zu; i++) {\n    t = ", s->size);
  if (s->offsets != NULL)
    pc_text_format(c->out, "%s_b%zu[i];\n", name, step);
  else
    pc_text_add(c->out, "0;\n");
  pc_text_format(c->out,
                 "    for (j = 0; j < %zu; j++)\n      t += %s_w%zu[j][i] * x[j];\n"
                 "    y[i] = t;\n  }\n  memcpy(x, y, %zu * sizeof *x);\n",
                 c->width, name, step, s->size);
}

static void export_c_scale(const export_c *c, const pc_step *s) {
  pc_text_format(c->out, "  for (j = 0; j < %zu; j++)\n    x[j] = ", c->width);
  pc_text_number(c->out, s->a);
  pc_text_add(c->out, " * x[j]");
  if (s->b != 0.0) {
    pc_text_add(c->out, " + ");
    pc_text_number(c->out, s->b);
  }
  pc_text_add(c->out, ";\n");
}

static void export_c_look_up(const export_c *c, size_t step, const pc_step *s) {
  const char *name = c->what->name;
  const size_t count = s->bin_maps != NULL ? s->bin_maps->count : s->line_maps->count;
  pc_text_format(
      c->out, "  for (j = 0; j < %zu; j++) {\n    const unsigned long at = %s_begin%zu[%s];\n",
      c->width, name, step, count == 1 ? "0" : "j");
  pc_text_format(c->out, "    const unsigned long n = %s_begin%zu[%s] - at;\n", name, step,
                 count == 1 ? "1" : "j + 1");
  if (s->bin_maps != NULL)
    pc_text_format(c->out,
                   "    x[j] = %s_to%zu[at + %s_find(%s_at%zu + at, n - 1, x[j])];\n  }\n",
                   name, step, name, name, step);
  else
    pc_text_format(c->out, "    x[j] = %s_line(%s_at%zu + at, %s_to%zu + at, n, x[j]);\n  }\n",
                   name, name, step, name, step);
}

static void export_c_rescale(const export_c *c) {
  pc_text_add(c->out, "  t = 0;\n");
  export_c_each(c, "t += x[j];");
  pc_text_format(c->out,
                 "  for (j = 0; j < %zu; j++)\n    x[j] = t > 0 ? x[j] / t : 1.0 / %zu;\n",
                 c->width, c->width);
}

/* Classes by descending number; of equal ones the lowest class first. */
static void export_c_order(const export_c *c) {
  pc_text_format(c->out,
                 "  for (i = 0; i < %zu; i++) {\n"
                 "    for (j = i; j > 0 && x[order[j - 1]] < x[i]; j--)\n"
                 "      order[j] = order[j - 1];\n"
                 "    order[j] = i;\n"
                 "  }\n",
                 c->width);
}

static void export_c_top_line(const export_c *c, size_t step, const pc_step *s) {
  const char *name = c->what->name;
  export_c_order(c);
  pc_text_format(c->out,
                 "  i = order[%zu];\n"
                 "  t = %s_line(%s_at%zu, %s_to%zu, %s_begin%zu[1], x[i]);\n  u = 0;\n",
                 s->size - 1, name, name, step, name, step, name, step);
  export_c_each(c, "x[j] = x[j] < 0 ? 0 : x[j];");
  export_c_each(c, "u += j == i ? 0 : x[j];");
  pc_text_format(c->out,
                 "  for (j = 0; j < %zu; j++)\n"
                 "    x[j] = u > 0 ? (1 - t) * (x[j] / u) : (1 - t) / %zu;\n"
                 "  x[i] = t;\n",
                 c->width, c->width - 1);
}

static void export_c_rank_lines(const export_c *c, size_t step) {
  const char *name = c->what->name;
  export_c_order(c);
  pc_text_format(c->out,
                 "  for (j = 0; j < %zu; j++) {\n"
                 "    const unsigned long at = %s_begin%zu[j], n = %s_begin%zu[j + 1] - at;\n"
                 "    x[order[j]] = %s_line(%s_at%zu + at, %s_to%zu + at, n, x[order[j]]);\n"
                 "  }\n",
                 c->width, name, step, name, step, name, name, step, name, step);
}

/* Raises all numbers so that the largest is at least a. */
static void export_c_raise(const export_c *c, const pc_step *s) {
  export_c_largest(c);
  pc_text_add(c->out, "  t = t < ");
  pc_text_number(c->out, s->a);
  pc_text_add(c->out, " ? ");
  pc_text_number(c->out, s->a);
  pc_text_add(c->out, " - t : 0;\n");
  export_c_each(c, "x[j] += t;");
}

/* The statement for a step that maps each number by itself, or NULL. */
static const char *export_c_alone(pc_step_kind kind) {
  switch (kind) {
  case PC_STEP_SIGMOID:
    return "x[j] = x[j] < 0 ? exp(x[j]) / (1 + exp(x[j])) : 1 / (1 + exp(-x[j]));";
  case PC_STEP_EXP:
    return "x[j] = exp(x[j]);";
  case PC_STEP_ONE_MINUS_EXP:
    return "x[j] = -expm1(x[j]);";
  default:
    return NULL;
  }
}

/* Steps that copy numbers. */
static void export_c_move(const export_c *c, const pc_step *s) {
  if (s->kind == PC_STEP_ONE_LOGIT)
    pc_text_add(c->out, "  x[1] = x[0];\n  x[0] = 0;\n");
  else if (s->kind == PC_STEP_ONE_PROB)
    pc_text_add(c->out, "  x[1] = x[0];\n  x[0] = 1 - x[1];\n");
  else if (s->kind == PC_STEP_LAST)
    pc_text_format(c->out, "  x[0] = x[%zu];\n", c->width - 1);
  else if (s->kind == PC_STEP_STORE)
    pc_text_format(c->out, "  memcpy(kept[%zu], x, %zu * sizeof *x);\n", s->size, c->width);
  else if (s->kind == PC_STEP_LOAD)
    pc_text_format(c->out, "  memcpy(x, kept[%zu], %zu * sizeof *x);\n", s->size, c->width);
  else if (s->kind == PC_STEP_ADD)
    pc_text_format(c->out, "  for (j = 0; j < %zu; j++)\n    x[j] += kept[%zu][j];\n", c->width,
                   s->size);
}

/* Limits numbers to at least or at most a; PC_STEP_LOG also takes the logarithm. */
static void export_c_limit(const export_c *c, const pc_step *s) {
  const int log = s->kind == PC_STEP_LOG;
  pc_text_format(c->out, "  for (j = 0; j < %zu; j++)\n    x[j] = %s(x[j] %s ", c->width,
                 log ? "log" : "", s->kind == PC_STEP_AT_MOST ? "<" : ">");
  pc_text_number(c->out, s->a);
  pc_text_add(c->out, " ? x[j] : ");
  pc_text_number(c->out, s->a);
  pc_text_add(c->out, ");\n");
}

static void export_c_step(const export_c *c, size_t step, const pc_step *s) {
  switch (s->kind) {
  case PC_STEP_SUBTRACT_MAX:
    export_c_largest(c);
    export_c_each(c, "x[j] -= t;");
    return;
  case PC_STEP_RAISE_MAX:
    export_c_raise(c, s);
    return;
  case PC_STEP_SOFTMAX:
    export_c_softmax(c);
    return;
  case PC_STEP_LOG_SOFTMAX:
    export_c_log_softmax(c);
    return;
  case PC_STEP_LOG:
  case PC_STEP_AT_LEAST:
  case PC_STEP_AT_MOST:
    export_c_limit(c, s);
    return;
  case PC_STEP_SCALE:
    export_c_scale(c, s);
    return;
  case PC_STEP_VECTOR:
    export_c_vector(c, step, s);
    return;
  case PC_STEP_MATRIX:
    export_c_product(c, step, s);
    return;
  case PC_STEP_BIN_MAPS:
  case PC_STEP_LINE_MAPS:
    export_c_look_up(c, step, s);
    return;
  case PC_STEP_RESCALE:
    export_c_rescale(c);
    return;
  case PC_STEP_RANK_MAP:
    export_c_top_line(c, step, s);
    return;
  case PC_STEP_ALL_RANKS_MAP:
    export_c_rank_lines(c, step);
    return;
  default:
    export_c_move(c, s);
  }
  if (export_c_alone(s->kind) != NULL)
    export_c_each(c, export_c_alone(s->kind));
}

/* ---- The file ---- */

static size_t export_c_next_width(size_t width, const pc_step *s) {
  if (s->kind == PC_STEP_ONE_LOGIT || s->kind == PC_STEP_ONE_PROB)
    return 2;
  return s->kind == PC_STEP_LAST ? 1 : s->kind == PC_STEP_MATRIX ? s->size : width;
}

static size_t export_c_widest(const pc_recipe *recipe) {
  size_t width = recipe->columns, widest = width;
  for (size_t i = 0; i < recipe->count; i++) {
    width = export_c_next_width(width, &recipe->steps[i]);
    widest = width > widest ? width : widest;
  }
  return widest;
}

static void export_c_head(const export_c *c) {
  const pcal_calibrator *calibrator = c->what->calibrator;
  const pc_recipe *recipe = c->what->recipe;
  char spec[PC_SPEC_MAX];
  pc_options_write(&calibrator->options, 1, spec, sizeof spec);
  pc_text_add(c->out, "/* ");
  pc_text_c_comment(c->out, spec);
  pc_text_format(
      c->out,
      ", written by propercal %s.\n *\n"
      " * Calibrates one row: %zu input%s (kind: %s), %zu outputs. Needs libm only.\n */\n"
      "#include <math.h>\n#include <string.h>\n\n",
      PCAL_VERSION, recipe->columns, recipe->columns == 1 ? "" : "s",
      pcal_kind_name(calibrator->layout.kind), recipe->width);
}

static void export_c_body(export_c *c) {
  const pc_recipe *recipe = c->what->recipe;
  const size_t widest = export_c_widest(recipe);
  const int ordered =
      export_c_has(recipe, PC_STEP_RANK_MAP) || export_c_has(recipe, PC_STEP_ALL_RANKS_MAP);
  pc_text_format(c->out,
                 "\nvoid %s(const double *in, double *out);\n"
                 "void %s_float(const float *in, float *out);\n\n"
                 "void %s(const double *in, double *out) {\n"
                 "  double x[%zu], t, u;\n",
                 c->what->name, c->what->name, c->what->name, widest);
  if (export_c_has(recipe, PC_STEP_MATRIX))
    pc_text_format(c->out, "  double y[%zu];\n", widest);
  if (export_c_has(recipe, PC_STEP_STORE))
    pc_text_format(c->out, "  double kept[%d][%zu];\n", PC_RECIPE_STORES, widest);
  if (ordered)
    pc_text_format(c->out, "  unsigned long order[%zu];\n", widest);
  pc_text_format(c->out,
                 "  unsigned long i, j;\n  (void)t, (void)u, (void)i, (void)j;\n"
                 "  memcpy(x, in, %zu * sizeof *x);\n",
                 recipe->columns);
  c->width = recipe->columns;
  for (size_t i = 0; i < recipe->count; i++) {
    export_c_step(c, i, &recipe->steps[i]);
    c->width = export_c_next_width(c->width, &recipe->steps[i]);
  }
  pc_text_format(c->out, "  memcpy(out, x, %zu * sizeof *x);\n}\n", recipe->width);
}

static void export_c_float(const export_c *c) {
  const pc_recipe *recipe = c->what->recipe;
  pc_text_format(c->out,
                 "\nvoid %s_float(const float *in, float *out) {\n"
                 "  double x[%zu], y[%zu];\n  unsigned long j;\n"
                 "  for (j = 0; j < %zu; j++)\n    x[j] = in[j];\n  %s(x, y);\n"
                 "  for (j = 0; j < %zu; j++)\n    out[j] = (float)y[j];\n}\n",
                 c->what->name, recipe->columns, recipe->width, recipe->columns, c->what->name,
                 recipe->width);
}

void pc_export_c(const pc_export *what, pc_text *out) {
  export_c c = {what, out, what->recipe->columns};
  export_c_head(&c);
  for (size_t i = 0; i < what->recipe->count; i++) {
    export_c_tables(&c, i, &what->recipe->steps[i]);
    c.width = export_c_next_width(c.width, &what->recipe->steps[i]);
  }
  export_c_helpers(&c);
  export_c_body(&c);
  export_c_float(&c);
}
