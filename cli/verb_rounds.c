/* rounds: measure or fit with many processes, which share a folder and no memory. */
#include <stdlib.h>
#include <string.h>

#include "file_conflicts.h"
#include "rounds_folder.h"

static const cli_flag rounds_new_flags[] = {
    {"parts", 0, CLI_COUNT, "N", offsetof(cli_options, parts),
     "number of parts that the rows are divided into, each answered by one command", NULL,
     CLI_ANY},
    {"kind", 0, CLI_TEXT, "KIND", offsetof(cli_options, kind),
     "kind of the scores, for measuring (default: probs); with --ragged if rows have different "
     "numbers of choices",
     "probs|logits|log-probs|confidence|mean-variance|mean-std|quantiles|samples", CLI_ANY},
    {"metric", 'm', CLI_REPEAT, "SPEC", offsetof(cli_options, metrics),
     "metric to compute, or a group of metrics (default: the group default); repeatable", NULL,
     CLI_METRICS},
    {"interval", 0, CLI_REAL, "LEVEL", offsetof(cli_options, interval),
     "confidence intervals at this level; metrics whose replicas need all rows at once have "
     "none and say so",
     NULL, CLI_ANY},
    {"null", 0, CLI_FLAG, NULL, offsetof(cli_options, null),
     "what a calibrated model would show, for errors in bins and of sorted scores", NULL,
     CLI_ANY},
    {"replicas", 0, CLI_POSITIVE, "N", offsetof(cli_options, replicas),
     "replicas for --interval and --null (default: 1000)", NULL, CLI_ANY},
    {"method", 0, CLI_TEXT, "SPEC", offsetof(cli_options, method),
     "fit this calibrator, in place of measuring", NULL, CLI_METHODS},
};

static const cli_flag rounds_answer_flags[] = {
    {"part", 0, CLI_COUNT, "P", offsetof(cli_options, part),
     "number of the part, from 1, whose rows the input flags name", NULL, CLI_ANY},
    {"groups", 0, CLI_TEXT, "FILE", offsetof(cli_options, inputs.groups),
     "group of each row: results are also computed for each group", NULL, CLI_INPUT},
    {"id", 0, CLI_TEXT, "FILE", offsetof(cli_options, inputs.ids),
     "unique id of each row, the key of its random draws; without ids equal rows must be in "
     "one part",
     NULL, CLI_FILE},
};

static const cli_flag rounds_next_flags[] = {
    {"allow-repeat", 0, CLI_FLAG, NULL, offsetof(cli_options, allow_repeat),
     "accept parts that have the same rows as another part", NULL, CLI_ANY},
};

static const cli_flag rounds_result_flags[] = {
    {"format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, format),
     "format of results: text (default), json, csv, md or latex; a calibrator is JSON",
     "text|json|csv|md|latex", CLI_ANY},
    {"json", 0, CLI_FLAG, NULL, offsetof(cli_options, json), "short for --format json", NULL,
     CLI_ANY},
    {"output", 'o', CLI_TEXT, "FILE", offsetof(cli_options, output),
     "output file (default: standard output); replaced only once it is complete", NULL,
     CLI_FILE},
};

/* ---- new ---- */

/* In the order of pcal_kind, from 1. */
static const char *const rounds_kinds[] = {"probs",      "logits",        "log-probs",
                                           "confidence", "mean-variance", "mean-std",
                                           "quantiles",  "samples"};

static pcal_kind rounds_kind(const cli_options *options) {
  for (size_t i = 0; options->kind && i < CLI_COUNT_OF(rounds_kinds); i++)
    if (strcmp(options->kind, rounds_kinds[i]) == 0)
      return options->ragged && (pcal_kind)(i + 1) == PCAL_LOGIT ? PCAL_LOG_PROBABILITY
                                                                 : (pcal_kind)(i + 1);
  return PCAL_PROBABILITY;
}

/* Refuses names that are no metric, before jobs are started that would all fail.  Options are
 * checked by the workers, which know the columns. */
static pcal_status rounds_check_metrics(const cli_words *metrics, pcal_error *err) {
  for (size_t i = 0; i < metrics->count; i++) {
    char name[128] = "";
    const size_t length = strcspn(metrics->word[i], ":");
    if (length < sizeof name)
      memcpy(name, metrics->word[i], length);
    if (!pcal_registry_find(PCAL_METRICS, name) && !pcal_registry_find(PCAL_GROUPS, name))
      return cli_fail(err, PCAL_USAGE,
                      "unknown metric \"%s\"; `propercal list metrics` shows all metrics",
                      metrics->word[i]);
  }
  return PCAL_OK;
}

static pcal_status rounds_begin_measure(cli_session *session, pcal_rounds **out,
                                        pcal_error *err) {
  static const char *const usual[] = {"default"};
  const cli_options *options = &session->options;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  const pcal_status status = rounds_check_metrics(&options->metrics, err);
  if (status != PCAL_OK)
    return status;
  config.kind = rounds_kind(options);
  config.specs = options->metrics.count > 0 ? options->metrics.word : usual;
  config.spec_count = options->metrics.count > 0 ? options->metrics.count : 1;
  config.normalize = options->normalize;
  config.skip_missing = options->skip_missing;
  config.interval = cli_level(options);
  config.null = options->null;
  config.replicas = (size_t)options->replicas;
  return pcal_rounds_new(&config, &session->env, out, err);
}

static pcal_status rounds_begin_fit(cli_session *session, pcal_rounds **out, pcal_error *err) {
  const cli_options *options = &session->options;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  if (options->metrics.count > 0 || options->kind || options->interval > 0 || options->null ||
      options->replicas > 0)
    return cli_fail(err, PCAL_USAGE,
                    "--metric, --kind, --interval, --null and --replicas are for measuring and "
                    "--method is for fitting; remove one side");
  config.method = options->method;
  config.normalize = options->normalize;
  config.skip_missing = options->skip_missing;
  return pcal_rounds_new_fit(&config, &session->env, out, err);
}

/* Opens the file of a request and writes it there; not closed on success. */
static pcal_status rounds_put_request(cli_session *session, const char *folder,
                                      const pcal_rounds *rounds, cli_output *out,
                                      pcal_error *err) {
  char name[CLI_ROUNDS_PATH];
  pcal_status status =
      cli_rounds_name(folder, CLI_ROUNDS_REQUEST, pcal_rounds_round(rounds), 0, name, err);
  if (status == PCAL_OK)
    status = cli_output_open(session, name, out, err);
  if (status != PCAL_OK)
    return status;
  status = pcal_rounds_request(rounds, cli_output_sink, out, err);
  if (status != PCAL_OK)
    cli_output_discard(out);
  return status;
}

static pcal_status rounds_write_first(cli_session *session, const char *folder,
                                      const pcal_rounds *rounds, pcal_error *err) {
  char name[CLI_ROUNDS_PATH];
  cli_text_buffer number = CLI_TEXT_BUFFER_INIT;
  cli_output parts, request;
  cli_output *const both[] = {&parts, &request};
  pcal_status status = cli_rounds_name(folder, CLI_ROUNDS_PARTS, 0, 0, name, err);
  if (status == PCAL_OK)
    status = cli_output_open(session, name, &parts, err);
  if (status != PCAL_OK)
    return status;
  cli_putf(&number, "%llu\n", (unsigned long long)session->options.parts);
  status = cli_text_buffer_check(&number, err);
  if (status == PCAL_OK)
    cli_output_sink(&parts, number.text, number.length);
  cli_text_buffer_free(&number);
  if (status == PCAL_OK)
    status = rounds_put_request(session, folder, rounds, &request, err);
  return status == PCAL_OK ? cli_outputs_close(session, both, 2, status, err)
                           : cli_output_close(session, &parts, status, err);
}

static pcal_status rounds_new(cli_session *session, const char *folder, pcal_error *err) {
  const cli_options *options = &session->options;
  char name[CLI_ROUNDS_PATH];
  pcal_rounds *rounds = NULL;
  if (options->parts == 0 || options->parts > CLI_ROUNDS_PARTS_MAX)
    return cli_fail(err, PCAL_USAGE, "new needs --parts N, a number from 1 to %d",
                    CLI_ROUNDS_PARTS_MAX);
  pcal_status status = cli_rounds_name(folder, CLI_ROUNDS_REQUEST, 1, 0, name, err);
  if (status == PCAL_OK && cli_rounds_has(name))
    return cli_fail(err, PCAL_USAGE, "%s holds rounds already; choose an empty folder", folder);
  if (status == PCAL_OK)
    status = options->method ? rounds_begin_fit(session, &rounds, err)
                             : rounds_begin_measure(session, &rounds, err);
  if (status == PCAL_OK)
    status = rounds_write_first(session, folder, rounds, err);
  pcal_rounds_free(rounds);
  return status;
}

/* ---- answer ---- */

static pcal_status rounds_answer_rows(cli_session *session, pcal_rounds_worker *worker,
                                      const char *path, pcal_error *err) {
  pcal_source *source = NULL;
  cli_output output;
  pcal_status status = cli_output_open(session, path, &output, err);
  if (status != PCAL_OK)
    return status;
  status = cli_source_open(session, 1, &source, err);
  if (status == PCAL_OK)
    status = pcal_rounds_worker_update_source(worker, source, err);
  pcal_source_free(source);
  if (status == PCAL_OK)
    status = pcal_rounds_worker_tally(worker, cli_output_sink, &output, err);
  return cli_output_close(session, &output, status, err);
}

static pcal_status rounds_answer(cli_session *session, const char *path, pcal_error *err) {
  const uint64_t part = session->options.part;
  cli_rounds_folder folder;
  char name[CLI_ROUNDS_PATH], answer[CLI_ROUNDS_PATH];
  cli_file_bytes request;
  pcal_rounds_worker *worker = NULL;
  pcal_status status = cli_rounds_folder_open(session, path, &folder, err);
  if (status == PCAL_OK && (part == 0 || part > folder.parts))
    return cli_fail(err, PCAL_USAGE, "answer needs --part P, a number from 1 to %llu",
                    (unsigned long long)folder.parts);
  if (status == PCAL_OK && folder.merged)
    return cli_fail(
        err, PCAL_USAGE,
        "all parts have answered round %u; run propercal rounds next %s, which says "
        "whether there is another",
        folder.round, path);
  if (status == PCAL_OK)
    status = cli_rounds_name(path, CLI_ROUNDS_REQUEST, folder.round, 0, name, err);
  if (status == PCAL_OK)
    status = cli_rounds_name(path, CLI_ROUNDS_ANSWER, folder.round, part, answer, err);
  if (status == PCAL_OK)
    status = cli_read_file(session, name, &request, err);
  if (status != PCAL_OK)
    return status;
  status = pcal_rounds_worker_new(request.bytes, request.length, &session->env, &worker, err);
  free(request.bytes);
  if (status == PCAL_OK)
    status = rounds_answer_rows(session, worker, answer, err);
  pcal_rounds_worker_free(worker);
  return status;
}

/* ---- next ---- */

/* Writes the merged tally (unless empty) and the next request (unless done). */
static pcal_status rounds_write_next(cli_session *session, const cli_rounds_folder *folder,
                                     const pcal_rounds *rounds, const cli_text_buffer *tally,
                                     pcal_error *err) {
  char name[CLI_ROUNDS_PATH];
  cli_output outputs[2];
  cli_output *open[2];
  size_t count = 0;
  pcal_status status =
      cli_rounds_name(folder->path, CLI_ROUNDS_TALLY, folder->round, 0, name, err);
  if (status == PCAL_OK && tally->length > 0) {
    status = cli_output_open(session, name, &outputs[count], err);
    if (status != PCAL_OK)
      return status;
    open[count] = &outputs[count];
    cli_output_sink(open[count++], tally->text, tally->length);
  }
  if (status == PCAL_OK && !pcal_rounds_done(rounds)) {
    status = rounds_put_request(session, folder->path, rounds, &outputs[count], err);
    open[count] = &outputs[count];
    count += status == PCAL_OK;
  }
  return count > 0 ? cli_outputs_close(session, open, count, status, err) : status;
}

static pcal_status rounds_next(cli_session *session, const char *path, pcal_error *err) {
  cli_rounds_folder folder;
  pcal_rounds *rounds = NULL;
  cli_text_buffer tally = CLI_TEXT_BUFFER_INIT, word = CLI_TEXT_BUFFER_INIT;
  pcal_status status = cli_rounds_folder_open(session, path, &folder, err);
  if (status == PCAL_OK && !folder.merged)
    status = cli_rounds_folder_merge(session, &folder, &tally, err);
  if (status == PCAL_OK)
    status = cli_rounds_folder_resume(session, &folder, &rounds, err);
  if (status == PCAL_OK && !folder.merged)
    status = pcal_rounds_absorb(rounds, tally.text, tally.length, err);
  if (status == PCAL_OK)
    status = rounds_write_next(session, &folder, rounds, &tally, err);
  cli_text_buffer_free(&tally);
  if (status == PCAL_OK) {
    cli_put(&word, pcal_rounds_done(rounds) ? "done\n" : "more\n");
    status = cli_text_buffer_write(session, &word, NULL, err);
  }
  pcal_rounds_free(rounds);
  return status;
}

/* ---- result ---- */

static pcal_status rounds_write_results(cli_session *session, const pcal_rounds *rounds,
                                        cli_output *output, pcal_error *err) {
  pcal_results *results = NULL;
  pcal_status status = pcal_rounds_finish(rounds, &results, err);
  if (status == PCAL_OK)
    status = pcal_results_write(results, session->format, cli_output_sink, output, err);
  pcal_results_free(results);
  return status;
}

static pcal_status rounds_write_calibrator(const pcal_rounds *rounds, cli_output *output,
                                           pcal_error *err) {
  pcal_calibrator *calibrator = NULL;
  pcal_status status = pcal_rounds_calibrator(rounds, &calibrator, err);
  if (status == PCAL_OK)
    status = pcal_calibrator_save(calibrator, cli_output_sink, output, err);
  pcal_calibrator_free(calibrator);
  return status;
}

/* Refuses an output that is a file of the folder. */
static pcal_status rounds_check_output(const cli_session *session,
                                       const cli_rounds_folder *folder, pcal_error *err) {
  const cli_rounds_file files[] = {CLI_ROUNDS_PARTS, CLI_ROUNDS_REQUEST, CLI_ROUNDS_TALLY};
  const char *output = session->options.output;
  pcal_status status = PCAL_OK;
  for (unsigned round = 1; output && strcmp(output, "-") != 0 && round <= folder->round;
       round++)
    for (size_t i = 0; i < CLI_COUNT_OF(files) && status == PCAL_OK; i++) {
      char name[CLI_ROUNDS_PATH];
      status = cli_rounds_name(folder->path, files[i], round, 0, name, err);
      if (status == PCAL_OK && cli_same_file(output, name))
        status = cli_fail(err, PCAL_USAGE,
                          "--output %s is a file of the rounds and would overwrite it; choose "
                          "another file",
                          output);
    }
  return status;
}

static pcal_status rounds_result(cli_session *session, const char *path, pcal_error *err) {
  cli_rounds_folder folder;
  cli_output output;
  pcal_rounds *rounds = NULL;
  pcal_status status = cli_rounds_folder_open(session, path, &folder, err);
  if (status == PCAL_OK)
    status = rounds_check_output(session, &folder, err);
  if (status == PCAL_OK)
    status = cli_rounds_folder_resume(session, &folder, &rounds, err);
  if (status == PCAL_OK && !pcal_rounds_done(rounds))
    status =
        cli_fail(err, PCAL_USAGE,
                 "the rounds are not done; answer round %u and run propercal rounds next %s",
                 pcal_rounds_round(rounds), path);
  if (status == PCAL_OK)
    status = cli_output_open(session, session->options.output, &output, err);
  if (status == PCAL_OK) {
    status = pcal_rounds_is_fit(rounds) ? rounds_write_calibrator(rounds, &output, err)
                                        : rounds_write_results(session, rounds, &output, err);
    status = cli_output_close(session, &output, status, err);
  }
  pcal_rounds_free(rounds);
  return status;
}

/* ---- the verb ---- */

static const struct {
  const char *name;
  pcal_status (*run)(cli_session *session, const char *folder, pcal_error *err);
} rounds_steps[] = {{"new", rounds_new},
                    {"answer", rounds_answer},
                    {"next", rounds_next},
                    {"result", rounds_result}};

static int rounds_has_inputs(const cli_inputs *in) {
  return in->probs || in->logits || in->log_probs || in->confidence || in->mean ||
         in->variance || in->std || in->quantiles || in->samples || in->data || in->labels ||
         in->correct || in->target || in->weights || in->groups || in->ids;
}

/* Refuses flags of another step, which would be ignored. */
static pcal_status rounds_check_step(const cli_options *options, const char *step,
                                     pcal_error *err) {
  const struct {
    const char *step, *flags;
    int given;
  } others[] = {
      {"new",
       "--parts, --kind, --metric, --interval, --null, --replicas, --method, --normalize and "
       "--skip-missing",
       options->parts > 0 || options->kind || options->metrics.count > 0 ||
           options->interval > 0 || options->null || options->replicas > 0 || options->method ||
           options->normalize || options->skip_missing},
      {"answer", "--part and the flags of inputs",
       options->part > 0 || rounds_has_inputs(&options->inputs)},
      {"next", "--allow-repeat", options->allow_repeat},
      {"result", "--format, --json and --output",
       options->format || options->json || options->output},
  };
  for (size_t i = 0; i < CLI_COUNT_OF(others); i++)
    if (others[i].given && strcmp(step, others[i].step) != 0)
      return cli_fail(err, PCAL_USAGE, "%s are for the step %s, not for %s; give them there",
                      others[i].flags, others[i].step, step);
  return PCAL_OK;
}

static pcal_status rounds_run(cli_session *session, pcal_error *err) {
  const cli_words *words = &session->options.operands;
  for (size_t i = 0; words->count == 2 && i < CLI_COUNT_OF(rounds_steps); i++)
    if (strcmp(words->word[0], rounds_steps[i].name) == 0) {
      const pcal_status status = rounds_check_step(&session->options, words->word[0], err);
      return status == PCAL_OK ? rounds_steps[i].run(session, words->word[1], err) : status;
    }
  return cli_fail(err, PCAL_USAGE,
                  "rounds needs a step, one of new, answer, next and result, and a folder: "
                  "propercal rounds new FOLDER --parts 4");
}

static const cli_section rounds_new_section = {"new", rounds_new_flags,
                                               CLI_COUNT_OF(rounds_new_flags), NULL};
static const cli_section rounds_answer_section = {"answer", rounds_answer_flags,
                                                  CLI_COUNT_OF(rounds_answer_flags), NULL};
static const cli_section rounds_next_section = {"next", rounds_next_flags,
                                                CLI_COUNT_OF(rounds_next_flags), NULL};
static const cli_section rounds_result_section = {"result", rounds_result_flags,
                                                  CLI_COUNT_OF(rounds_result_flags), NULL};
static const cli_section *const rounds_sections[] = {
    &rounds_new_section,    &rounds_answer_section, &rounds_next_section,
    &rounds_result_section, &cli_section_inputs,    &cli_section_part_labels,
    &cli_section_rows,      &cli_section_running,   &cli_section_help};

static const cli_example rounds_examples[] = {
    {"propercal rounds new run --parts 2 --kind logits -m ece -m ks",
     "begin in a folder that all processes can read and write"},
    {"propercal rounds answer run --part 1 --logits z1.npy --labels y1.npy",
     "each part, by any process on any machine"},
    {"propercal rounds next run",
     "once all parts have answered: prints \"more\" (answer again) or \"done\""},
    {"propercal rounds result run --json", "the results of all rows"},
    {"propercal rounds new fit --parts 2 --method temperature",
     "or fit a calibrator; propercal rounds result fit -o cal.json saves it"},
};

const cli_verb cli_verb_rounds = {
    "rounds",
    "STEP FOLDER",
    2,
    CLI_FILE,
    "measure or fit with many processes, for batch queues",
    "Measures a table, or fits a calibrator to it, that no single process reads. The rows are "
    "divided into parts. `new` writes a request into the folder, `answer` reads the rows of "
    "one part and writes a small tally beside it, and `next` merges the tallies of all parts "
    "and prints \"done\", or \"more\" if all parts must answer another request over the same "
    "rows. `result` prints the results or writes the calibrator: byte for byte that of one "
    "process on all rows. A part whose process has failed is answered again. A missing answer, "
    "two parts with the same rows, and rows that change between rounds are refused.",
    rounds_sections,
    CLI_COUNT_OF(rounds_sections),
    rounds_examples,
    CLI_COUNT_OF(rounds_examples),
    rounds_run,
};
