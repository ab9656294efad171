/* Compares measured values with a golden table.
 *
 *   test_golden TABLE.tsv
 *
 * Columns of a table, separated by tabs: input, spec, expected, tolerance, provenance.
 *   input       fields of file_inputs, "logits=FILE labels=FILE"; a file is looked for beside
 *               the table, or below $PROPERCAL_SHARED when its name begins with "shared/"
 *   spec        of a metric, and after a space the name of a part: "ks at"
 *   expected    a number, inf, or null for an undefined value
 *   tolerance   relative; absolute when 0 is expected
 * Lines that begin with '#' are left out.  PROPERCAL_SHARED is ../shared beside the source tree
 * unless set; when it has not got the files, the exit code is 77. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>

#include "../file_inputs.h"
#include "propercal.h"

#define GOLDEN_LINE 2048
#define GOLDEN_ROWS 1024
#define GOLDEN_SKIP 77

typedef struct golden_row {
  char line[GOLDEN_LINE]; /* holds what the fields point to */
  const char *input, *expected, *provenance;
  char *spec, *part; /* part NULL: the value itself */
  double tolerance;
  unsigned number; /* of the line in the file */
} golden_row;

typedef struct golden_table {
  const char *path;
  char folder[GOLDEN_LINE], shared[GOLDEN_LINE];
  golden_row *rows;
  size_t count;
} golden_table;

/* ---- reading ---- */

static int golden_split(golden_row *row) {
  char *field[5], *at = row->line;
  for (int i = 0; i < 5; i++) {
    field[i] = at;
    at += strcspn(at, i < 4 ? "\t\n" : "\n");
    if ((i < 4) != (*at == '\t') || at == field[i])
      return 0;
    *at++ = '\0';
  }
  row->input = field[0];
  row->spec = field[1];
  row->expected = field[2];
  row->tolerance = strtod(field[3], NULL);
  row->provenance = field[4];
  row->part = strchr(row->spec, ' ');
  if (row->part != NULL)
    *row->part++ = '\0';
  return 1;
}

static int golden_read(golden_table *table) {
  FILE *file = fopen(table->path, "r");
  int fine = file != NULL, headed = 0;
  unsigned number = 0;
  while (fine && table->count < GOLDEN_ROWS) {
    golden_row *row = &table->rows[table->count];
    if (fgets(row->line, sizeof row->line, file) == NULL)
      break;
    row->number = ++number;
    if (row->line[0] == '#')
      continue;
    fine = golden_split(row);
    if (fine && !headed)
      fine = strcmp(row->input, "input") == 0;
    else if (fine)
      table->count++;
    headed = 1;
  }
  if (!fine || table->count == 0 || table->count == GOLDEN_ROWS) {
    fprintf(stderr, "%s:%u: not a golden table\n", table->path, number);
    fine = 0;
  }
  if (file != NULL)
    fclose(file);
  return fine;
}

static void golden_folders(golden_table *table) {
  const char *shared = getenv("PROPERCAL_SHARED");
  const char *slash = strrchr(table->path, '/');
  const int length = slash == NULL ? 1 : (int)(slash - table->path);
  snprintf(table->folder, sizeof table->folder, "%.*s", length,
           slash == NULL ? "." : table->path);
  if (shared != NULL)
    snprintf(table->shared, sizeof table->shared, "%s", shared);
  else
    snprintf(table->shared, sizeof table->shared, "%.1000s/../../../shared", table->folder);
}

/* ---- opening ---- */

typedef struct golden_input {
  char paths[8][2 * GOLDEN_LINE];
  size_t count;
  file_inputs inputs;
  int absent; /* a shared file is not there */
} golden_input;

static const char **golden_place(file_inputs *inputs, const char *name) {
  const struct {
    const char *name;
    const char **place;
  } places[] = {
      {"probs", &inputs->probs},
      {"logits", &inputs->logits},
      {"log_probs", &inputs->log_probs},
      {"confidence", &inputs->confidence},
      {"labels", &inputs->labels},
      {"correct", &inputs->correct},
      {"weights", &inputs->weights},
      {"data", &inputs->data},
      {"mean", &inputs->mean},
      {"variance", &inputs->variance},
      {"std", &inputs->std},
      {"target", &inputs->target},
  };
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (strcmp(places[i].name, name) == 0)
      return places[i].place;
  return NULL;
}

static int golden_add_file(const golden_table *table, const char *name, const char *file,
                           golden_input *out) {
  const int shared = strncmp(file, "shared/", 7) == 0;
  char *path = out->paths[out->count++];
  struct stat about;
  snprintf(path, sizeof out->paths[0], "%s/%s", shared ? table->shared : table->folder,
           shared ? file + 7 : file);
  out->absent |= shared && stat(path, &about) != 0;
  const char **place = golden_place(&out->inputs, name);
  if (place != NULL)
    *place = path;
  return place != NULL;
}

static int golden_parse_input(const golden_table *table, const char *text, golden_input *out) {
  const file_inputs none = {0};
  char copy[GOLDEN_LINE];
  snprintf(copy, sizeof copy, "%s", text);
  out->inputs = none;
  out->count = 0;
  out->absent = 0;
  for (char *field = copy; *field != '\0' && out->count < 8;) {
    char *end = field + strcspn(field, " "), *equals = strchr(field, '=');
    const int last = *end == '\0';
    *end = '\0';
    if (equals == NULL || equals > end)
      return 0;
    *equals = '\0';
    if (!golden_add_file(table, field, equals + 1, out))
      return 0;
    field = last ? end : end + 1;
  }
  return out->count > 0;
}

/* ---- comparing ---- */

static int golden_value(const golden_row *row, const pcal_result *result, double *value) {
  *value = result->value;
  if (row->part == NULL)
    return 1;
  for (size_t p = 0; p < result->part_count; p++) {
    *value = result->parts[p].value;
    if (strcmp(result->parts[p].name, row->part) == 0)
      return 1;
  }
  return 0;
}

static int golden_agrees(const golden_row *row, const pcal_result *result, double value) {
  if (strcmp(row->expected, "null") == 0)
    return !result->defined && result->why != NULL;
  const double expected = strtod(row->expected, NULL);
  if (!result->defined || isnan(value))
    return 0;
  if (isinf(expected))
    return value == expected && result->why != NULL;
  return fabs(value - expected) <= row->tolerance * (expected == 0 ? 1 : fabs(expected));
}

static int golden_compare(const golden_table *table, const golden_row *row,
                          const pcal_results *results) {
  pcal_result result = {.size = sizeof result};
  pcal_error err;
  double value = NAN;
  if (pcal_results_find(results, row->spec, &result, &err) != PCAL_OK) {
    fprintf(stderr, "%s:%u: %s\n", table->path, row->number, err.message);
    return 0;
  }
  if (golden_value(row, &result, &value) && golden_agrees(row, &result, value))
    return 1;
  fprintf(stderr, "%s:%u: %s%s%s is %.17g%s, not %s within %g (%s)\n", table->path, row->number,
          row->spec, row->part == NULL ? "" : " ", row->part == NULL ? "" : row->part, value,
          result.defined ? "" : " (undefined)", row->expected, row->tolerance, row->provenance);
  return 0;
}

/* Rows first .. end-1 have the same input and are measured together. */
static int golden_measure(const golden_table *table, size_t first, size_t end,
                          const file_inputs *inputs, pcal_results **out) {
  const char *specs[GOLDEN_ROWS];
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_error err;
  for (size_t i = first; i < end; i++)
    specs[i - first] = table->rows[i].spec;
  config.specs = specs;
  config.spec_count = end - first;
  pcal_status status = file_inputs_open(inputs, NULL, &source, &err);
  if (status == PCAL_OK)
    status = pcal_measure_run(source, &config, NULL, out, &err);
  if (status != PCAL_OK)
    fprintf(stderr, "%s:%u: %s\n", table->path, table->rows[first].number, err.message);
  pcal_source_free(source);
  return status == PCAL_OK;
}

static int golden_block(const golden_table *table, size_t first, size_t end, int *skipped) {
  golden_input input;
  pcal_results *results = NULL;
  if (!golden_parse_input(table, table->rows[first].input, &input)) {
    fprintf(stderr, "%s:%u: the input is wrong\n", table->path, table->rows[first].number);
    return 0;
  }
  if (input.absent) {
    *skipped = 1;
    return 1;
  }
  int fine = golden_measure(table, first, end, &input.inputs, &results);
  for (size_t i = first; i < end && results != NULL; i++)
    fine &= golden_compare(table, &table->rows[i], results);
  pcal_results_free(results);
  return fine;
}

static int golden_run(golden_table *table) {
  int fine = 1, skipped = 0;
  for (size_t first = 0, end; first < table->count; first = end) {
    for (end = first + 1; end < table->count; end++)
      if (strcmp(table->rows[first].input, table->rows[end].input) != 0)
        break;
    fine &= golden_block(table, first, end, &skipped);
  }
  if (skipped)
    printf("left out: there are no shared data in %s\n", table->shared);
  else if (fine)
    printf("%zu values agree\n", table->count);
  return !fine ? 1 : skipped ? GOLDEN_SKIP : 0;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: test_golden TABLE.tsv\n");
    return 2;
  }
  golden_table table = {.path = argv[1], .rows = calloc(GOLDEN_ROWS, sizeof(golden_row))};
  golden_folders(&table);
  const int code = table.rows != NULL && golden_read(&table) ? golden_run(&table) : 1;
  free(table.rows);
  return code;
}
