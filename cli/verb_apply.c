/* apply: calibrate predictions with a saved calibrator. */
#include <string.h>
#include <strings.h>

#include "session.h"

#define APPLY_INPUT(field) offsetof(cli_options, inputs.field)

static const cli_flag apply_input_flags[] = {
    {"logits", 0, CLI_TEXT, "FILE", APPLY_INPUT(logits), "scores before the softmax", NULL,
     CLI_FILE},
    {"probs", 0, CLI_TEXT, "FILE", APPLY_INPUT(probs), "probabilities", NULL, CLI_FILE},
    {"log-probs", 0, CLI_TEXT, "FILE", APPLY_INPUT(log_probs),
     "natural logarithms of probabilities", NULL, CLI_FILE},
    {"confidence", 0, CLI_TEXT, "FILE", APPLY_INPUT(confidence),
     "probability of the predicted class only", NULL, CLI_FILE},
    {"mean", 0, CLI_TEXT, "FILE", APPLY_INPUT(mean),
     "means of predicted normal distributions; requires --variance or --std", NULL, CLI_FILE},
    {"variance", 0, CLI_TEXT, "FILE", APPLY_INPUT(variance),
     "variances of the normal distributions", NULL, CLI_FILE},
    {"std", 0, CLI_TEXT, "FILE", APPLY_INPUT(std),
     "standard deviations of the normal distributions", NULL, CLI_FILE},
    {"quantiles", 0, CLI_TEXT, "FILE", APPLY_INPUT(quantiles),
     "predicted quantiles; requires --levels", NULL, CLI_FILE},
    {"levels", 0, CLI_TEXT, "LIST", APPLY_INPUT(levels),
     "levels of the quantiles, for example 0.05/0.5/0.95", NULL, CLI_ANY},
    {"samples", 0, CLI_TEXT, "FILE", APPLY_INPUT(samples),
     "samples of the predicted distributions", NULL, CLI_FILE},
    {"event", 0, CLI_TEXT, "EVENT", offsetof(cli_options, event),
     "event about the predicted number, such as '> 20', whose probability the calibrator maps",
     NULL, CLI_ANY},
    {"groups", 0, CLI_TEXT, "FILE", APPLY_INPUT(groups),
     "group of each row, named as in the fit; required if the calibrator has groups", NULL,
     CLI_FILE},
    {"data", 0, CLI_TEXT, "FILE", APPLY_INPUT(data),
     "one file with all inputs, named like these flags: logits.0, logits.1, ...", NULL,
     CLI_FILE},
    {"first-row", 0, CLI_COUNT, "N", APPLY_INPUT(first_row),
     "index of the first row, if the files are one part of a larger data set; used in "
     "messages",
     NULL, CLI_ANY},
    {"header", 0, CLI_TEXT, "WORD", offsetof(cli_options, header),
     "whether the first line of CSV and TSV files is a header: yes, no or auto (default)",
     "yes|no|auto", CLI_ANY},
    {"classes", 0, CLI_TEXT, "LIST", offsetof(cli_options, class_names),
     "names of the classes in the order of the fit; beside --ragged, objects are read by name",
     NULL, CLI_ANY},
    {"scale", 0, CLI_TEXT, "WORD", offsetof(cli_options, score_scale),
     "percent: --probs and --confidence run from 0 to 100; calibrated probabilities run from 0 "
     "to 1",
     "percent", CLI_ANY},
    {"ragged", 0, CLI_FLAG, NULL, offsetof(cli_options, ragged),
     "rows have different numbers of choices, as for `propercal fit`", NULL, CLI_ANY},
};

static const cli_flag apply_output_flags[] = {
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "x.npy, x.csv, or '-' for CSV on standard output; replaced only once it is complete", NULL,
     CLI_FILE},
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format),
     "npy or csv, if the file name has no such extension", "npy|csv", CLI_ANY},
};

/* ---- Output ------------------------------------------------------------- */

static pcal_status apply_choose_format(const cli_options *options, const char **format,
                                       pcal_error *err) {
  static const char *const formats[] = {"npy", "csv"};
  if (!options->output || !*options->output)
    return cli_fail(err, PCAL_USAGE,
                    "apply needs an output file; give -o x.npy, -o x.csv "
                    "or -o -");
  const char *ending = cli_file_extension(options->output);
  *format = options->format ? options->format : *ending ? NULL : "csv";
  for (size_t i = 0; i < CLI_COUNT_OF(formats); i++) {
    if (strcasecmp(ending, formats[i]) != 0)
      continue;
    if (options->format && strcmp(options->format, formats[i]) != 0)
      return cli_fail(err, PCAL_USAGE, "-o %s contradicts --format %s; give one of them",
                      options->output, options->format);
    *format = formats[i];
  }
  if (*format)
    return PCAL_OK;
  return cli_fail(err, PCAL_USAGE,
                  "-o %s: the extension must be .npy or .csv; change it or give --format",
                  options->output);
}

/* ---- Applying ----------------------------------------------------------- */

/* Says on standard error which groups the calibrator was not fitted to. */
static void apply_note_groups(const cli_session *session, const pcal_calibrator *calibrator,
                              const pcal_source *source) {
  pcal_shape shape = {.size = sizeof shape};
  size_t unknown = 0, first = 0;
  int by_part = 0;
  if (session->options.quiet || pcal_calibrator_group_count(calibrator) == 0)
    return;
  pcal_source_get_shape(source, &shape);
  for (size_t g = 0; g < shape.group_count; g++) {
    const size_t found = pcal_calibrator_find_group(calibrator, shape.group_names[g]);
    const char *name = pcal_calibrator_group_name(calibrator, found);
    if (name && strcmp(name, shape.group_names[g]) == 0)
      continue;
    first = unknown == 0 ? g : first;
    by_part |= name != NULL;
    unknown++;
  }
  if (unknown == 0)
    return;
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  char plain[200];
  cli_escape_terminal(shape.group_names[first], plain, sizeof plain);
  cli_putf(&buffer, "note: %zu of %zu group%s, the first \"%s\", %s not seen in the fit; ",
           unknown, shape.group_count, shape.group_count == 1 ? "" : "s", plain,
           unknown == 1 ? "was" : "were");
  cli_putf(&buffer,
           by_part
               ? "their rows get the map of the known part of the name, else that of all rows\n"
               : "their rows get the map of all rows\n");
  cli_escape_terminal(pcal_calibrator_group_name(calibrator, 0), plain, sizeof plain);
  if (unknown == shape.group_count)
    cli_putf(&buffer,
             "note: --groups must name the same columns as in the fit, whose first group "
             "is \"%s\"\n",
             plain);
  cli_text_buffer_to_stderr(&buffer);
}

static pcal_status apply_write(cli_session *session, const pcal_calibrator *calibrator,
                               const char *format, pcal_error *err) {
  pcal_source *source = NULL;
  cli_output output;
  pcal_status status = cli_output_open(session, session->options.output, &output, err);
  if (status != PCAL_OK)
    return status;
  status = cli_source_open(session, 0, &source, err);
  if (status == PCAL_OK)
    status = pcal_calibrator_apply_source(calibrator, source,
                                          strcmp(format, "npy") == 0 ? PCAL_NPY : PCAL_CSV,
                                          &session->env, cli_output_sink, &output, err);
  status = cli_output_close(session, &output, status, err);
  if (status == PCAL_OK)
    apply_note_groups(session, calibrator, source);
  pcal_source_free(source);
  return status;
}

static pcal_status apply_run(cli_session *session, pcal_error *err) {
  pcal_calibrator *calibrator = NULL;
  const char *format = NULL;
  if (session->options.operands.count == 0)
    return cli_fail(err, PCAL_USAGE,
                    "apply needs a calibrator saved by `propercal fit`: propercal apply "
                    "cal.json");
  pcal_status status = apply_choose_format(&session->options, &format, err);
  if (status == PCAL_OK)
    status = cli_calibrator_load(session, session->options.operands.word[0], &calibrator, err);
  if (status == PCAL_OK)
    status = apply_write(session, calibrator, format, err);
  pcal_calibrator_free(calibrator);
  return status;
}

static const cli_section apply_input_section = {
    "Inputs", apply_input_flags, CLI_COUNT_OF(apply_input_flags),
    "FILE is written as for `propercal fit`; labels are not needed."};
static const cli_section apply_output_section = {"Output", apply_output_flags,
                                                 CLI_COUNT_OF(apply_output_flags), NULL};
static const cli_section *const apply_sections[] = {&apply_input_section, &apply_output_section,
                                                    &cli_section_running, &cli_section_help};

static const cli_example apply_examples[] = {
    {"propercal fit --logits val.npy --labels val_labels.npy -o cal.json",
     "first fit a calibrator"},
    {"propercal apply cal.json --logits test.npy -o calibrated.npy",
     "then calibrate other predictions of the same model"},
    {"propercal measure --probs calibrated.npy --labels test_labels.npy",
     "then measure the result"},
    {"propercal apply cal.json --data new.csv -o - | head",
     "CSV with class names to standard output"},
};

const cli_verb cli_verb_apply = {
    "apply",
    "CALIBRATOR",
    1,
    CLI_FILE,
    "calibrate predictions with a fitted calibrator",
    "Reads predictions of the kind and number of classes that the calibrator was fitted to "
    "and writes calibrated probabilities with the same shape and floating-point type. "
    "Memory use does not grow with the number of rows. An existing file is replaced only "
    "once the new one is complete.",
    apply_sections,
    CLI_COUNT_OF(apply_sections),
    apply_examples,
    CLI_COUNT_OF(apply_examples),
    apply_run,
};
