/* export: write a calibrator as an ONNX model or as C code. */
#include <string.h>

#include "session.h"

static const cli_flag export_flags[] = {
    {"to", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, to),
     "onnx: a float32 model (opset 13); c: a C99 file that needs only libm (default: by "
     "the extension of -o)",
     "onnx|c", CLI_ANY},
    {"name", 0, CLI_TEXT, "NAME", offsetof(cli_options, name),
     "name of the function or graph (default: calibrate)", NULL, CLI_ANY},
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "x.onnx, x.c, or '-' for standard output; replaced only once it is complete", NULL,
     CLI_FILE},
};

static pcal_status export_target(const cli_options *options, const char **to, pcal_error *err) {
  if (options->operands.count != 1)
    return cli_fail(err, PCAL_USAGE, "export needs one calibrator file, such as cal.json");
  if (!options->output || !*options->output)
    return cli_fail(err, PCAL_USAGE,
                    "export needs an output file; give -o cal.onnx, -o "
                    "cal.c or -o -");
  const char *ending = cli_file_extension(options->output);
  *to = options->to;
  if (!*to && (strcmp(ending, "onnx") == 0 || strcmp(ending, "c") == 0))
    *to = ending;
  if (*to)
    return PCAL_OK;
  return cli_fail(err, PCAL_USAGE,
                  "-o %s has neither extension .onnx nor .c; give --to onnx or --to c",
                  options->output);
}

static pcal_status export_run(cli_session *session, pcal_error *err) {
  const cli_options *options = &session->options;
  const char *to = NULL;
  pcal_calibrator *calibrator = NULL;
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  pcal_status status = export_target(options, &to, err);
  if (status != PCAL_OK)
    return status;
  status = cli_calibrator_load(session, options->operands.word[0], &calibrator, err);
  if (status == PCAL_OK)
    status = pcal_calibrator_export(calibrator, strcmp(to, "c") == 0 ? PCAL_C : PCAL_ONNX,
                                    options->name, cli_text_buffer_sink, &buffer, err);
  status = cli_text_buffer_status(&buffer, status, err);
  pcal_calibrator_free(calibrator);
  if (status == PCAL_OK)
    return cli_text_buffer_write(session, &buffer, options->output, err);
  cli_text_buffer_free(&buffer);
  return status;
}

static const cli_section export_section = {"Export", export_flags, CLI_COUNT_OF(export_flags),
                                           "The ONNX model has the input \"scores\", rows "
                                           "x columns, of the kind that the calibrator was "
                                           "fitted to, and the output \"probabilities\". "
                                           "The C file defines NAME(const double *in, "
                                           "double *out) for one row, and NAME_float."};
static const cli_section *const export_sections[] = {&export_section, &cli_section_running,
                                                     &cli_section_help};

static const cli_example export_examples[] = {
    {"propercal export cal.json -o cal.onnx", "for ONNX Runtime"},
    {"propercal export cal.json -o cal.c --name scale", "a function for a C program"},
    {"propercal export cal.json --to c -o - | cc -c -x c - -o cal.o", "compile it directly"},
};

const cli_verb cli_verb_export = {
    "export",
    "FILE",
    1,
    CLI_FILE,
    "write a calibrator as an ONNX model or as C code",
    "Writes a calibrator saved by `propercal fit` as an ONNX model or as C source code, "
    "for use without propercal. Results equal those of `propercal apply`, for ONNX to "
    "1e-6. Methods that cannot be exported are refused.",
    export_sections,
    CLI_COUNT_OF(export_sections),
    export_examples,
    CLI_COUNT_OF(export_examples),
    export_run,
};
