/* simulate: draw predictions of known calibration.
 *
 * The true calibration error is the root of the mean, over rows, of the squared Euclidean
 * distance between the stored prediction, softmax(logits), and the true probabilities. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "file_conflicts.h"
#include "input_files.h"
#include "npz_write.h"
#include "run_limits.h"

#define SIMULATE_FILES_MAX 3
#define SIMULATE_CHUNK 4096

typedef struct simulate_data {
  uint64_t rows;
  size_t classes;
  float *logits;
  int32_t *labels;
  double *truth;
} simulate_data;

typedef struct simulate_file {
  char *path;
  cli_output output;
  int open;
} simulate_file;

typedef struct simulate_summary {
  double accuracy, confidence, error;
  const double *truths; /* population values of the requested metrics */
} simulate_summary;

static const cli_flag simulate_flags[] = {
    {"rows", 0, CLI_COUNT, "N", offsetof(cli_options, rows), "number of rows (default: 10000)",
     NULL, CLI_ANY},
    {"classes", 0, CLI_COUNT, "K", offsetof(cli_options, classes),
     "number of classes (default: 100)", NULL, CLI_ANY},
    {"factor", 0, CLI_REAL, "F", offsetof(cli_options, factor),
     "factor on the logits: 1 (default) is calibrated, larger is over-confident, smaller "
     "under-confident",
     NULL, CLI_ANY},
    {"scale", 0, CLI_REAL, "S", offsetof(cli_options, scale),
     "s in the scale matrix I/s of the inverse-Wishart distribution of the covariances "
     "(default: 0.01)",
     NULL, CLI_ANY},
    {"truth", 0, CLI_FLAG, NULL, offsetof(cli_options, truth),
     "also write the true class probabilities as float64, to PREFIX_truth.npy or as the "
     "array truth of NAME.npz",
     NULL, CLI_ANY},
    {"metric", 'm', CLI_REPEAT, "SPEC", offsetof(cli_options, metrics),
     "also print the population value of a metric, its limit for infinitely many rows; "
     "repeatable",
     NULL, CLI_METRICS},
    {"output", 'o', CLI_TEXT, "OUT", offsetof(cli_options, output),
     "NAME.npz with the arrays logits and labels, NAME.csv, NAME.tsv, NAME.jsonl, '-' for CSV "
     "on standard output, or PREFIX for PREFIX_logits.npy and PREFIX_labels.npy",
     NULL, CLI_FILE},
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format),
     "format of the summary: text (default) or json", "text|json", CLI_ANY},
    {"json", 0, CLI_FLAG, NULL, offsetof(cli_options, json), "short for --format json", NULL,
     CLI_ANY},
};

/* ---- Drawing ------------------------------------------------------------ */

static void simulate_data_free(simulate_data *data) {
  free(data->logits);
  free(data->labels);
  free(data->truth);
}

static pcal_status simulate_data_new(const cli_session *session, simulate_data *data,
                                     pcal_error *err) {
  const cli_options *options = &session->options;
  data->rows = options->rows;
  data->classes = (size_t)options->classes;
  const uint64_t cells_max = SIZE_MAX / sizeof(double);
  const uint64_t rows = options->rows ? options->rows : 1;
  const uint64_t classes = options->classes ? options->classes : 1;
  const uint64_t cells = classes <= cells_max / rows ? classes * rows : cells_max;
  const pcal_status status =
      cli_run_limits_check(session, cells < cells_max / 4 ? cells * 12 + rows * 4 : UINT64_MAX,
                           "simulating so many rows and classes", "ask for fewer --rows", err);
  if (status != PCAL_OK)
    return status;
  if (classes <= cells_max / rows) {
    data->logits = malloc((size_t)(rows * classes) * sizeof *data->logits);
    data->labels = malloc((size_t)rows * sizeof *data->labels);
    data->truth = malloc((size_t)(rows * classes) * sizeof *data->truth);
  }
  if (!data->logits || !data->labels || !data->truth)
    return cli_fail(err, PCAL_MEMORY,
                    "out of memory for %llu rows x %llu classes; ask for fewer --rows",
                    (unsigned long long)options->rows, (unsigned long long)options->classes);
  return PCAL_OK;
}

static size_t simulate_top(const float *logits, size_t classes) {
  size_t top = 0;
  for (size_t c = 1; c < classes; c++)
    if (logits[c] > logits[top])
      top = c;
  return top;
}

/* Squared distance between softmax(logits) and the truth; *confidence gets the largest
 * probability. */
static double simulate_row_error(const float *logits, const double *truth, size_t classes,
                                 size_t top, double *confidence) {
  double sum = 0, squares = 0;
  for (size_t c = 0; c < classes; c++)
    sum += exp((double)logits[c] - (double)logits[top]);
  for (size_t c = 0; c < classes; c++) {
    const double off = exp((double)logits[c] - (double)logits[top]) / sum - truth[c];
    squares += off * off;
  }
  *confidence = 1 / sum;
  return squares;
}

static simulate_summary simulate_summarize(const simulate_data *data) {
  simulate_summary sums = {0, 0, 0, NULL};
  for (uint64_t row = 0; row < data->rows; row++) {
    const float *logits = data->logits + row * data->classes;
    const size_t top = simulate_top(logits, data->classes);
    double confidence;
    sums.error += simulate_row_error(logits, data->truth + row * data->classes, data->classes,
                                     top, &confidence);
    sums.confidence += confidence;
    sums.accuracy += data->labels[row] == (int32_t)top;
  }
  const double rows = (double)data->rows;
  return (simulate_summary){sums.accuracy / rows, sums.confidence / rows,
                            sqrt(sums.error / rows), NULL};
}

/* ---- Writing ------------------------------------------------------------ */

/* Writes values of `width` bytes in little-endian order. */
static void simulate_put_little(pcal_sink sink, void *user, const void *values, size_t count,
                                size_t width) {
  unsigned char bytes[SIMULATE_CHUNK];
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    const unsigned char *value = (const unsigned char *)values + i * width;
    uint64_t bits = 0;
    if (width == sizeof(uint32_t)) {
      uint32_t half;
      memcpy(&half, value, width);
      bits = half;
    } else {
      memcpy(&bits, value, sizeof bits);
    }
    for (size_t b = 0; b < width; b++)
      bytes[used++] = (unsigned char)(bits >> (8 * b));
    if (used == sizeof bytes || i + 1 == count) {
      if (sink(user, (const char *)bytes, used) != 0)
        return;
      used = 0;
    }
  }
}

typedef struct simulate_array {
  const char *name;
  pcal_type type;
  size_t width, columns; /* columns 0: one-dimensional */
  const void *values;
} simulate_array;

static simulate_array simulate_array_at(const simulate_data *data, size_t index) {
  const simulate_array arrays[SIMULATE_FILES_MAX] = {
      {"logits.npy", PCAL_F32, sizeof *data->logits, data->classes, data->logits},
      {"labels.npy", PCAL_I32, sizeof *data->labels, 0, data->labels},
      {"truth.npy", PCAL_F64, sizeof *data->truth, data->classes, data->truth}};
  return arrays[index];
}

static pcal_status simulate_write_array(const simulate_data *data, size_t index, pcal_sink sink,
                                        void *user, pcal_error *err) {
  const simulate_array array = simulate_array_at(data, index);
  const pcal_status status =
      pcal_npy_header_write(array.type, data->rows, array.columns, sink, user, err);
  if (status == PCAL_OK)
    simulate_put_little(sink, user, array.values,
                        (size_t)data->rows * (array.columns ? array.columns : 1), array.width);
  return status;
}

/* Logits, labels and, if requested, the truth in one file. */
static pcal_status simulate_write_npz(cli_output *output, const simulate_data *data, int truth,
                                      pcal_error *err) {
  cli_npz npz = {.output = output};
  pcal_status status = PCAL_OK;
  for (size_t i = 0; i < (truth ? 3u : 2u) && status == PCAL_OK; i++) {
    cli_npz_measure(&npz, simulate_array_at(data, i).name);
    status = simulate_write_array(data, i, cli_npz_sink, &npz, err);
    if (status == PCAL_OK)
      status = cli_npz_begin(&npz, err);
    if (status == PCAL_OK)
      status = simulate_write_array(data, i, cli_npz_sink, &npz, err);
    npz.count++;
  }
  if (status == PCAL_OK)
    cli_npz_end(&npz);
  return status;
}

/* The shapes of a line of text: what stands before the scores, between two of them, before the
 * label, and at the end. */
typedef struct simulate_text {
  const char *begin, *between, *label, *end;
  int header;
} simulate_text;

static void simulate_put_header(cli_text_buffer *line, const simulate_text *text,
                                size_t classes) {
  for (size_t c = 0; c < classes; c++)
    cli_putf(line, "logits.%zu%s", c, text->between);
  cli_put(line, "labels\n");
}

static void simulate_put_row(cli_text_buffer *line, const simulate_text *text,
                             const simulate_data *data, uint64_t row) {
  char number[CLI_NUMBER_MAX];
  cli_put(line, text->begin);
  for (size_t c = 0; c < data->classes; c++)
    cli_putf(line, "%s%s", cli_number_float(data->logits[row * data->classes + c], number),
             c + 1 < data->classes ? text->between : text->label);
  cli_putf(line, "%ld%s\n", (long)data->labels[row], text->end);
}

static pcal_status simulate_write_text(cli_output *output, const simulate_data *data,
                                       const simulate_text *text, pcal_error *err) {
  cli_text_buffer line = CLI_TEXT_BUFFER_INIT;
  if (text->header)
    simulate_put_header(&line, text, data->classes);
  for (uint64_t row = 0; row < data->rows && !line.failed; row++) {
    if (line.length > 0 && cli_output_sink(output, line.text, line.length) != 0)
      break;
    line.length = 0;
    simulate_put_row(&line, text, data, row);
  }
  const pcal_status status = cli_text_buffer_check(&line, err);
  if (status == PCAL_OK && line.length > 0)
    cli_output_sink(output, line.text, line.length);
  cli_text_buffer_free(&line);
  return status;
}

/* Output form by name: several .npy files, or one file of this format. */
typedef enum simulate_form {
  SIMULATE_NPY,
  SIMULATE_NPZ,
  SIMULATE_CSV,
  SIMULATE_TSV,
  SIMULATE_JSONL
} simulate_form;

static int simulate_ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcasecmp(text + length - end_length, end) == 0;
}

static simulate_form simulate_form_of(const char *out) {
  static const struct {
    const char *end;
    simulate_form form;
  } forms[] = {{".csv", SIMULATE_CSV},
               {".tsv", SIMULATE_TSV},
               {".jsonl", SIMULATE_JSONL},
               {".ndjson", SIMULATE_JSONL},
               {".npz", SIMULATE_NPZ}};
  for (size_t i = 0; i < CLI_COUNT_OF(forms); i++)
    if (simulate_ends_with(out, forms[i].end))
      return forms[i].form;
  return strcmp(out, "-") == 0 || strncmp(out, "/dev/", 5) == 0 ? SIMULATE_CSV : SIMULATE_NPY;
}

/* True for the forms that hold the truth beside the data. */
static int simulate_holds_truth(simulate_form form) {
  return form == SIMULATE_NPY || form == SIMULATE_NPZ;
}

static pcal_status simulate_write_file(size_t index, const cli_options *options,
                                       cli_output *output, const simulate_data *data,
                                       pcal_error *err) {
  static const simulate_text texts[] = {
      [SIMULATE_CSV] = {"", ",", ",", "", 1},
      [SIMULATE_TSV] = {"", "\t", "\t", "", 1},
      [SIMULATE_JSONL] = {"{\"logits\": [", ", ", "], \"labels\": ", "}", 0}};
  const simulate_form form = simulate_form_of(options->output);
  if (!simulate_holds_truth(form))
    return simulate_write_text(output, data, &texts[form], err);
  if (form == SIMULATE_NPZ)
    return simulate_write_npz(output, data, options->truth, err);
  return simulate_write_array(data, index, cli_output_sink, output, err);
}

/* ---- Files -------------------------------------------------------------- */

static pcal_status simulate_check_output(const cli_options *options, pcal_error *err) {
  const char *out = options->output;
  if (!out || !*out)
    return cli_fail(err, PCAL_USAGE,
                    "simulate needs an output; give -o NAME.npz, -o NAME.csv, or a prefix "
                    "for .npy files");
  if (simulate_ends_with(out, ".npy"))
    return cli_fail(err, PCAL_USAGE,
                    "-o %s: .npy output needs several files; give a prefix without .npy, "
                    "or NAME.npz for one file",
                    out);
  if (simulate_form_of(out) == SIMULATE_NPY && cli_has_data_ending(out))
    return cli_fail(err, PCAL_USAGE,
                    "-o %s: simulate does not write this format; give NAME.npz, NAME.csv, "
                    "NAME.tsv, NAME.jsonl, or a prefix for .npy files",
                    out);
  if (options->truth && !simulate_holds_truth(simulate_form_of(out)))
    return cli_fail(err, PCAL_USAGE,
                    "--truth needs .npz or .npy output; give -o NAME.npz or a prefix "
                    "instead of %s",
                    out);
  return PCAL_OK;
}

static pcal_status simulate_name_files(const cli_options *options, simulate_file *files,
                                       size_t *count, pcal_error *err) {
  static const char *const ends[SIMULATE_FILES_MAX] = {"_logits.npy", "_labels.npy",
                                                       "_truth.npy"};
  const int one = simulate_form_of(options->output) != SIMULATE_NPY;
  *count = one ? 1 : options->truth ? 3 : 2;
  for (size_t i = 0; i < *count; i++) {
    const size_t size = strlen(options->output) + sizeof "_logits.npy";
    files[i].path = malloc(size);
    if (!files[i].path)
      return cli_fail(err, PCAL_MEMORY, "out of memory for a file name");
    snprintf(files[i].path, size, "%s%s", options->output, one ? "" : ends[i]);
  }
  return PCAL_OK;
}

/* Fails if two of the output names are links to the same file. */
static pcal_status simulate_check_names(const simulate_file *files, size_t count,
                                        pcal_error *err) {
  for (size_t i = 1; i < count; i++)
    for (size_t j = 0; j < i; j++)
      if (cli_same_file(files[i].path, files[j].path))
        return cli_fail(err, PCAL_USAGE,
                        "%s and %s are the same file; choose another prefix for -o",
                        files[j].path, files[i].path);
  return PCAL_OK;
}

/* Commits all files together. */
static pcal_status simulate_write_files(cli_session *session, simulate_file *files,
                                        size_t count, const simulate_data *data,
                                        pcal_error *err) {
  pcal_status status = simulate_check_names(files, count, err);
  for (size_t i = 0; i < count && status == PCAL_OK; i++) {
    status = cli_output_open(session, files[i].path, &files[i].output, err);
    files[i].open = status == PCAL_OK;
  }
  for (size_t i = 0; i < count && status == PCAL_OK; i++) {
    status = simulate_write_file(i, &session->options, &files[i].output, data, err);
    if (status == PCAL_OK || files[i].output.sink_failed)
      status = pcal_output_flush(files[i].output.file, err);
  }
  cli_output *open[SIMULATE_FILES_MAX];
  size_t opened = 0;
  for (size_t i = 0; i < count; i++)
    if (files[i].open)
      open[opened++] = &files[i].output;
  return opened > 0 ? cli_outputs_close(session, open, opened, status, err) : status;
}

/* ---- Summary ------------------------------------------------------------ */

static void simulate_put_json(cli_text_buffer *buffer, const cli_options *options,
                              const simulate_summary *summary, const simulate_file *files,
                              size_t count) {
  cli_put(buffer, "{\"propercal\": ");
  cli_put_json(buffer, pcal_version());
  cli_putf(buffer, ", \"rows\": %llu, \"classes\": %llu, \"seed\": %llu, \"factor\": ",
           (unsigned long long)options->rows, (unsigned long long)options->classes,
           (unsigned long long)options->seed);
  cli_put_json_number(buffer, options->factor);
  cli_put(buffer, ", \"scale\": ");
  cli_put_json_number(buffer, options->scale);
  cli_put(buffer, ", \"accuracy\": ");
  cli_put_json_number(buffer, summary->accuracy);
  cli_put(buffer, ", \"mean_confidence\": ");
  cli_put_json_number(buffer, summary->confidence);
  cli_put(buffer, ", \"true_calibration_error\": ");
  cli_put_json_number(buffer, summary->error);
  cli_put(buffer, ", \"true\": {");
  for (size_t m = 0; m < options->metrics.count; m++) {
    cli_put(buffer, m ? ", " : "");
    cli_put_json(buffer, options->metrics.word[m]);
    cli_put(buffer, ": ");
    cli_put_json_number(buffer, summary->truths[m]);
  }
  cli_put(buffer, "}, \"files\": [");
  for (size_t i = 0; i < count; i++) {
    cli_put(buffer, i ? ", " : "");
    cli_put_json(buffer, files[i].path);
  }
  cli_put(buffer, "]}\n");
}

static void simulate_put_truth(cli_text_buffer *buffer, const char *metric, double truth) {
  cli_put(buffer, "true ");
  cli_put_escaped(buffer, PCAL_FOR_TERMINAL, metric);
  if (isnan(truth))
    cli_put(buffer, ": unknown; metrics over pairs of rows and tests have no population "
                    "value here\n");
  else
    cli_putf(buffer, "  %.6f\n", truth);
}

static void simulate_put_text(cli_text_buffer *buffer, const cli_options *options,
                              const simulate_summary *summary, const simulate_file *files,
                              size_t count) {
  char number[CLI_NUMBER_MAX];
  cli_putf(buffer, "rows                    %llu\n", (unsigned long long)options->rows);
  cli_putf(buffer, "classes                 %llu\n", (unsigned long long)options->classes);
  cli_putf(buffer, "factor                  %s\n", cli_number(options->factor, number));
  cli_putf(buffer, "accuracy                %.4f\n", summary->accuracy);
  cli_putf(buffer, "mean confidence         %.4f\n", summary->confidence);
  cli_putf(buffer, "true calibration error  %.4f (root of the mean squared distance)\n",
           summary->error);
  for (size_t m = 0; m < options->metrics.count; m++)
    simulate_put_truth(buffer, options->metrics.word[m], summary->truths[m]);
  for (size_t i = 0; i < count; i++) {
    cli_put(buffer, "written                 ");
    cli_put_escaped(buffer, PCAL_FOR_TERMINAL,
                    strcmp(files[i].path, "-") == 0 ? "standard output" : files[i].path);
    cli_put(buffer, "\n");
  }
}

/* Prints the summary, on standard error if the data go to standard output; nothing if the
 * reader of the data has closed the pipe. */
static pcal_status simulate_print_summary(cli_session *session, const simulate_data *data,
                                          const double *truths, const simulate_file *files,
                                          size_t count, pcal_error *err) {
  if (session->options.quiet || files[0].output.reader_gone)
    return PCAL_OK;
  simulate_summary summary = simulate_summarize(data);
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  summary.truths = truths;
  (session->format == PCAL_JSON ? simulate_put_json : simulate_put_text)(
      &buffer, &session->options, &summary, files, count);
  if (strcmp(session->options.output, "-") != 0)
    return cli_text_buffer_write(session, &buffer, NULL, err);
  cli_text_buffer_to_stderr(&buffer);
  return PCAL_OK;
}

/* Population values of the requested metrics; the caller frees *out. */
static pcal_status simulate_truths(const cli_session *session,
                                   const pcal_simulation *simulation, double **out,
                                   pcal_error *err) {
  const cli_words *metrics = &session->options.metrics;
  if (metrics->count == 0)
    return PCAL_OK;
  *out = malloc(metrics->count * sizeof **out);
  if (!*out)
    return cli_fail(err, PCAL_MEMORY, "out of memory for true values");
  return pcal_simulation_population_values(simulation, metrics->word, metrics->count,
                                           &session->env, *out, err);
}

static pcal_status simulate_run(cli_session *session, pcal_error *err) {
  const cli_options *options = &session->options;
  simulate_data data = {0, 0, NULL, NULL, NULL};
  simulate_file files[SIMULATE_FILES_MAX] = {{.path = NULL}};
  size_t count = 0;
  pcal_simulation simulation = PCAL_SIMULATION_INIT;
  simulation.rows = options->rows;
  simulation.classes = (size_t)options->classes;
  simulation.factor = options->factor;
  simulation.scale = options->scale;
  double *truths = NULL;
  pcal_status status = simulate_check_output(options, err);
  if (status == PCAL_OK)
    status = simulate_data_new(session, &data, err);
  if (status == PCAL_OK)
    status = simulate_truths(session, &simulation, &truths, err);
  if (status == PCAL_OK)
    status =
        pcal_simulate(&simulation, &session->env, data.logits, data.labels, data.truth, err);
  if (status == PCAL_OK)
    status = simulate_name_files(options, files, &count, err);
  if (status == PCAL_OK)
    status = simulate_write_files(session, files, count, &data, err);
  if (status == PCAL_OK)
    status = simulate_print_summary(session, &data, truths, files, count, err);
  for (size_t i = 0; i < count; i++)
    free(files[i].path);
  free(truths);
  simulate_data_free(&data);
  return status;
}

static const cli_section simulate_section = {"Simulation", simulate_flags,
                                             CLI_COUNT_OF(simulate_flags), NULL};
static const cli_section *const simulate_sections[] = {&simulate_section, &cli_section_running,
                                                       &cli_section_help};

static const cli_example simulate_examples[] = {
    {"propercal simulate -o sim", "10000 rows, 100 classes, calibrated: sim_logits.npy and "
                                  "sim_labels.npy"},
    {"propercal simulate --rows 2000 --classes 10 --factor 2.5 -o bad.csv",
     "an over-confident model as CSV; then: propercal measure --data bad.csv"},
    {"propercal simulate --rows 2000 --classes 10 -o sim.npz",
     "one file; then: propercal measure --data sim.npz"},
    {"propercal simulate --factor 2.5 --classes 10 -m ece -m ks -o sim",
     "with the population values of two metrics"},
    {"propercal simulate --rows 500 --classes 5 -o - | propercal measure --data -",
     "pipe into a measurement"},
};

const cli_verb cli_verb_simulate = {
    "simulate",
    "",
    0,
    CLI_ANY,
    "simulate predictions of known calibration",
    "Draws logits from a mixture of Gaussians, one for each class, and each label from the "
    "softmax of its row, so that the predictions are exactly calibrated; then multiplies "
    "the logits by a factor, which miscalibrates them by a known amount. Prints the true "
    "calibration error, for comparison with estimates (Gruber and Buettner 2022, G.1). "
    "Equal seeds give equal bytes.",
    simulate_sections,
    CLI_COUNT_OF(simulate_sections),
    simulate_examples,
    CLI_COUNT_OF(simulate_examples),
    simulate_run,
};
