/* Shared by all verbs: the verb table, common flags, the session, inputs and outputs. */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

#include "args.h"
#include "progress_bar.h"
#include "propercal.h"
#include "signals.h"
#include "text_buffer.h"

#define CLI_COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

typedef struct cli_session cli_session;

typedef struct cli_example {
  const char *command;
  const char *what;
} cli_example;

/* A row of the verb table.  Parsing, help, manual page and completion are generated from it. */
typedef struct cli_verb {
  const char *name;
  const char *operands; /* for the usage line; "" for none */
  size_t operands_max;
  cli_domain operand_domain;
  const char *summary; /* one line */
  const char *about;   /* a paragraph */
  const cli_section *const *sections;
  size_t section_count;
  const cli_example *examples;
  size_t example_count;
  pcal_status (*run)(cli_session *session, pcal_error *err);
} cli_verb;

extern const cli_verb cli_verb_measure, cli_verb_inspect, cli_verb_list, cli_verb_simulate,
    cli_verb_study, cli_verb_plan, cli_verb_plot, cli_verb_merge, cli_verb_fit, cli_verb_apply,
    cli_verb_compare, cli_verb_export, cli_verb_report, cli_verb_watch, cli_verb_rounds;

/* The verb table of main.c. */
extern const cli_verb *const cli_verbs[];
extern const size_t cli_verb_count;
/* The kinds of registry rows, in verb_list.c. */
typedef struct cli_row_kind {
  const char *name;
  const char *summary;
} cli_row_kind;

extern const cli_row_kind cli_row_kinds[];
extern const size_t cli_row_kind_count;

/* Flags of the program itself, without a verb. */
extern const cli_section cli_program_section;
extern const cli_example cli_program_examples[];
extern const size_t cli_program_example_count;

/* Flag sections shared by several verbs. */
extern const cli_section cli_section_inputs, cli_section_groups, cli_section_rows,
    cli_section_labels, cli_section_part_labels, cli_section_running, cli_section_help;

/* An output file; its temporary file is removed when a signal ends the program. */
typedef struct cli_output {
  pcal_output *file;
  int to_stdout;
  int slot;
  int sink_failed;
  int reader_gone; /* set by cli_output_close: standard output is a closed pipe */
} cli_output;

/* Outputs that one command may hold: the tables of a study and its figure, and one more. */
#define CLI_HELD_MAX 14

struct cli_session {
  const cli_verb *verb;
  cli_options options;
  pcal_env env;
  pcal_device *device; /* of --device cuda, opened with the first source; else NULL */
  pcal_format format;
  int gates_failed;
  int notation_printed;               /* the note about semicolons and decimal commas */
  struct cli_input_list *input_lists; /* of input_files.c */
  cli_output held[CLI_HELD_MAX];      /* see cli_output_hold */
  size_t held_count;
};

/* Sets up the environment and the thread pool.  Call cli_session_end even after a failure. */
pcal_status cli_session_start(cli_session *session, pcal_error *err);
void cli_session_end(cli_session *session);

/* The value of --header. */
pcal_header cli_header_mode(const cli_options *options);

/* Opens the source named by the input flags, after checking that the flags fit together.  With
 * `labelled`, labels are required.  The caller frees *out. */
pcal_status cli_source_open(cli_session *session, int labelled, pcal_source **out,
                            pcal_error *err);

/* path NULL or "-": standard output. */
pcal_status cli_output_open(cli_session *session, const char *path, cli_output *out,
                            pcal_error *err);
int cli_output_sink(void *output, const char *bytes, size_t count);
/* Commits if status is PCAL_OK, else discards the output; returns the first failure.  A closed
 * pipe is not a failure.  Held outputs are committed or discarded with it. */
pcal_status cli_output_close(cli_session *session, cli_output *output, pcal_status status,
                             pcal_error *err);
/* The same for up to two outputs besides held ones, which are committed together or not at all. */
pcal_status cli_outputs_close(cli_session *session, cli_output *const *outputs, size_t count,
                              pcal_status status, pcal_error *err);
void cli_output_discard(cli_output *output);

/* Holds a complete output until the next close, so that all files of a command become new
 * together.  Discards it if status is a failure; standard output is closed at once. */
pcal_status cli_output_hold(cli_session *session, cli_output *output, pcal_status status,
                            pcal_error *err);
void cli_outputs_discard_held(cli_session *session);

/* Loads a saved calibrator; the caller frees *out. */
pcal_status cli_calibrator_load(cli_session *session, const char *path, pcal_calibrator **out,
                                pcal_error *err);

/* The file extension of a path without the dot, or "". */
const char *cli_file_extension(const char *path);

/* Writes the buffer to a path and holds that file; frees the buffer. */
pcal_status cli_text_buffer_hold(cli_session *session, cli_text_buffer *buffer,
                                 const char *path, pcal_error *err);
/* Writes the buffer to a path (NULL or "-": standard output) and frees it. */
pcal_status cli_text_buffer_write(cli_session *session, cli_text_buffer *buffer,
                                  const char *path, pcal_error *err);
/* Writes the buffer to standard error and frees it; failures are ignored. */
void cli_text_buffer_to_stderr(cli_text_buffer *buffer);

/* Prints "propercal: SENTENCE" on standard error. */
void cli_print_error(const char *sentence);
/* The message of an error, with the names of flags. */
void cli_print_failure(const pcal_error *err);

/* Help, manual page and completion script, generated from the tables. */
void cli_help_program(cli_text_buffer *buffer, int full);
void cli_help_verb(cli_text_buffer *buffer, const cli_verb *verb);
void cli_generate_man(cli_text_buffer *buffer);
void cli_generate_completion(cli_text_buffer *buffer);

#endif
