/* The program: the verb table, and parsing, running and error reporting for each verb.
 *
 * Results go to standard output, messages to standard error.  Exit codes are those of
 * pcal_status, and 1 if a gate failed. */
#include <stdio.h>
#include <string.h>

#include "file_conflicts.h"
#include "habits.h"
#include "rsvg_convert.h"
#include "session.h"
#include "system/program_streams.h"

#define MAIN_GATE_FAILED 1

const cli_verb *const cli_verbs[] = {&cli_verb_measure, &cli_verb_fit,    &cli_verb_apply,
                                     &cli_verb_compare, &cli_verb_export, &cli_verb_merge,
                                     &cli_verb_watch,   &cli_verb_rounds, &cli_verb_inspect,
                                     &cli_verb_plot,    &cli_verb_report, &cli_verb_simulate,
                                     &cli_verb_study,   &cli_verb_plan,   &cli_verb_list};
const size_t cli_verb_count = CLI_COUNT_OF(cli_verbs);

static const cli_flag main_flags[] = {
    {"help", 'h', CLI_FLAG, NULL, offsetof(cli_options, help), "print this help", NULL,
     CLI_ANY},
    {"version", 0, CLI_FLAG, NULL, offsetof(cli_options, version),
     "print version, compiler and features", NULL, CLI_ANY},
    {"generate", 0, CLI_TEXT, "WHAT", offsetof(cli_options, generate),
     "print the manual page (man) or the completion script (bash-completion)",
     "man|bash-completion", CLI_ANY},
};
const cli_section cli_program_section = {"Flags", main_flags, CLI_COUNT_OF(main_flags), NULL};

const cli_example cli_program_examples[] = {
    {"propercal measure --logits logits.npy --labels labels.npy",
     "measure a classifier and read the verdict"},
    {"propercal plot reliability --logits logits.npy --labels labels.npy -o r.svg",
     "draw its reliability diagram"},
    {"propercal simulate --classes 10 --factor 2 -o - | propercal measure --data -",
     "without data: simulate an over-confident model of known calibration"},
};
const size_t cli_program_example_count = CLI_COUNT_OF(cli_program_examples);

static pcal_status main_find_verb(const char *name, const cli_verb **verb, pcal_error *err) {
  cli_nearest nearest;
  cli_nearest_start(&nearest, name, strlen(name));
  for (size_t i = 0; i < cli_verb_count; i++) {
    if (strcmp(cli_verbs[i]->name, name) == 0) {
      *verb = cli_verbs[i];
      return PCAL_OK;
    }
    cli_nearest_try(&nearest, cli_verbs[i]->name, strlen(cli_verbs[i]->name));
  }
  const char *meant = cli_habit_verb(name) ? cli_habit_verb(name) : nearest.best;
  if (meant && !cli_habit_is_entry(name))
    return cli_fail(err, PCAL_USAGE, "there is no verb \"%s\"; did you mean \"%s\"?", name,
                    meant);
  char advice[512];
  cli_habit_no_verb(name, advice, sizeof advice);
  return cli_fail(err, PCAL_USAGE, "there is no verb \"%s\"; %s", name, advice);
}

static void main_put_version(cli_text_buffer *buffer) {
  cli_putf(buffer, "propercal %s\n%s\n", pcal_version(), pcal_build_info());
  cli_putf(buffer,
           "features: npy, npz, csv, tsv, jsonl, arrow; %zu metrics, %zu conventions, %zu "
           "calibrators, %zu figure%s; svg",
           pcal_registry_count(PCAL_METRICS), pcal_registry_count(PCAL_CONVENTIONS),
           pcal_registry_count(PCAL_CALIBRATORS), pcal_registry_count(PCAL_FIGURES),
           pcal_registry_count(PCAL_FIGURES) == 1 ? "" : "s");
  cli_put(buffer, cli_rsvg_convert_available() ? ", png and pdf through rsvg-convert\n"
                                               : " (png and pdf need rsvg-convert)\n");
}

/* Appends help or version if requested; returns 1 if so. */
static int main_put_information(const cli_session *session, cli_text_buffer *buffer) {
  if (session->options.help && session->verb)
    cli_help_verb(buffer, session->verb);
  else if (session->options.help)
    cli_help_program(buffer, 1);
  else if (session->options.version)
    main_put_version(buffer);
  else
    return 0;
  return 1;
}

static pcal_status main_check_operands(const cli_session *session, pcal_error *err) {
  const cli_words *operands = &session->options.operands;
  const cli_verb *verb = session->verb;
  if (operands->count <= verb->operands_max)
    return PCAL_OK;
  const char *extra = operands->word[verb->operands_max];
  char advice[4096];
  cli_habit_operand(verb->sections, verb->section_count, extra, advice, sizeof advice);
  if (verb->operands_max == 0)
    return cli_fail(err, PCAL_USAGE, "unexpected argument \"%s\": %s takes only flags%s", extra,
                    verb->name, advice);
  return cli_fail(err, PCAL_USAGE,
                  "unexpected argument \"%s\": the usage is propercal %s "
                  "%s",
                  extra, verb->name, verb->operands);
}

static pcal_status main_run_verb(cli_session *session, int argc, const char *const *argv,
                                 pcal_error *err) {
  pcal_status status = main_find_verb(argv[1], &session->verb, err);
  if (status != PCAL_OK)
    return status;
  const cli_verb *verb = session->verb;
  status = cli_parse(verb->sections, verb->section_count, argc - 2, argv + 2, &session->options,
                     err);
  if (status != PCAL_OK)
    return status;
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  if (main_put_information(session, &buffer))
    return cli_text_buffer_write(session, &buffer, NULL, err);
  status = main_check_operands(session, err);
  if (status == PCAL_OK)
    status = cli_check_file_conflicts(session, err);
  if (status == PCAL_OK)
    status = cli_session_start(session, err);
  if (status == PCAL_OK)
    status = verb->run(session, err);
  return status;
}

/* Fails with a specific message if a verb's flag precedes the verb. */
static pcal_status main_check_place(const char *word, pcal_error *err) {
  const cli_section *const sections[] = {&cli_program_section};
  const char *name = strncmp(word, "--", 2) == 0 ? word + 2 : "";
  const size_t length = strcspn(name, "=");
  if (cli_flag_find(sections, 1, name, length))
    return PCAL_OK;
  for (size_t i = 0; i < cli_verb_count; i++)
    if (cli_flag_find(cli_verbs[i]->sections, cli_verbs[i]->section_count, name, length))
      return cli_fail(err, PCAL_USAGE, "--%.*s must follow a verb: propercal %s --%.*s",
                      (int)length, name, cli_verbs[i]->name, (int)length, name);
  return PCAL_OK;
}

static pcal_status main_run_program(cli_session *session, int argc, const char *const *argv,
                                    pcal_error *err) {
  const cli_section *const sections[] = {&cli_program_section};
  cli_options *options = &session->options;
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  pcal_status status = main_check_place(argv[1], err);
  if (status == PCAL_OK)
    status = cli_parse(sections, 1, argc - 1, argv + 1, options, err);
  if (status != PCAL_OK)
    return status;
  if (options->generate && strcmp(options->generate, "man") == 0)
    cli_generate_man(&buffer);
  else if (options->generate)
    cli_generate_completion(&buffer);
  else if (!main_put_information(session, &buffer))
    return cli_fail(err, PCAL_USAGE, "no verb given; the usage is propercal VERB [flags]");
  return cli_text_buffer_write(session, &buffer, NULL, err);
}

/* `propercal help`, `propercal help VERB`, `propercal --help VERB` and `propercal version`. */
static pcal_status main_run_help(cli_session *session, int argc, const char *const *argv,
                                 pcal_error *err) {
  session->options.help = strcmp(argv[1], "version") != 0;
  session->options.version = !session->options.help;
  const int most = session->options.help ? 3 : 2;
  if (argc > most)
    return cli_fail(err, PCAL_USAGE, "unexpected argument \"%s\": the usage is propercal %s",
                    argv[most], most == 3 ? "help [VERB]" : "version");
  if (argc == 3) {
    const pcal_status status = main_find_verb(argv[2], &session->verb, err);
    if (status != PCAL_OK)
      return status;
  }
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  (void)main_put_information(session, &buffer);
  return cli_text_buffer_write(session, &buffer, NULL, err);
}

static pcal_status main_run(cli_session *session, int argc, const char *const *argv,
                            pcal_error *err) {
  if (argc == 3 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
    return main_run_help(session, argc, argv, err);
  if (argc > 1 && argv[1][0] == '-')
    return main_run_program(session, argc, argv, err);
  if (argc > 1 && (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "version") == 0))
    return main_run_help(session, argc, argv, err);
  if (argc > 1)
    return main_run_verb(session, argc, argv, err);
  cli_text_buffer buffer = CLI_TEXT_BUFFER_INIT;
  cli_help_program(&buffer, 0);
  return cli_text_buffer_write(session, &buffer, NULL, err);
}

static void main_report(const cli_session *session, pcal_status status, const pcal_error *err) {
  if (err->message[0])
    cli_print_failure(err);
  else
    cli_print_error(pcal_status_text(status));
  if (status == PCAL_USAGE)
    fprintf(stderr, "try: propercal %s%s--help\n", session->verb ? session->verb->name : "",
            session->verb ? " " : "");
}

int main(int argc, char **argv) {
  cli_session session = {.env = PCAL_ENV_INIT, .format = PCAL_TEXT};
  pcal_error err = PCAL_ERROR_INIT;
  pc_program_streams_start(&argc, &argv);
  cli_signals_start();
  cli_options_init(&session.options);
  const pcal_status status = main_run(&session, argc, (const char *const *)argv, &err);
  if (status != PCAL_OK)
    main_report(&session, status, &err);
  cli_session_end(&session);
  return status == PCAL_OK && session.gates_failed ? MAIN_GATE_FAILED
                                                   : pcal_status_exit_code(status);
}
