/* The sections of flags that several verbs share. */
#include "session.h"

#define COMMON_INPUT(field) offsetof(cli_options, inputs.field)

static const cli_flag common_inputs[] = {
    {"logits", 0, CLI_TEXT, "FILE", COMMON_INPUT(logits),
     "scores before the softmax, rows x classes; one column is the logit of class 1 in a "
     "binary problem",
     NULL, CLI_INPUT},
    {"probs", 0, CLI_TEXT, "FILE", COMMON_INPUT(probs),
     "probabilities, rows x classes; one column is the probability of class 1 in a binary "
     "problem",
     NULL, CLI_INPUT},
    {"log-probs", 0, CLI_TEXT, "FILE", COMMON_INPUT(log_probs),
     "natural logarithms of probabilities, rows x classes", NULL, CLI_INPUT},
    {"confidence", 0, CLI_TEXT, "FILE", COMMON_INPUT(confidence),
     "probability of the predicted class only; requires --correct", NULL, CLI_INPUT},
    {"correct", 0, CLI_TEXT, "FILE", COMMON_INPUT(correct),
     "1 for each correct prediction, 0 for each wrong one", NULL, CLI_INPUT},
    {"labels", 0, CLI_TEXT, "FILE", COMMON_INPUT(labels),
     "true classes: numbers from 0, one-hot rows or, in CSV, names of score columns", NULL,
     CLI_INPUT},
    {"mean", 0, CLI_TEXT, "FILE", COMMON_INPUT(mean),
     "regression: means of predicted normal distributions; requires --variance or --std, "
     "and --target",
     NULL, CLI_INPUT},
    {"variance", 0, CLI_TEXT, "FILE", COMMON_INPUT(variance),
     "variances of the normal distributions", NULL, CLI_INPUT},
    {"std", 0, CLI_TEXT, "FILE", COMMON_INPUT(std),
     "standard deviations of the normal distributions", NULL, CLI_INPUT},
    {"quantiles", 0, CLI_TEXT, "FILE", COMMON_INPUT(quantiles),
     "regression: predicted quantiles, rows x levels; requires --levels and --target", NULL,
     CLI_INPUT},
    {"levels", 0, CLI_TEXT, "LIST", COMMON_INPUT(levels),
     "levels of the quantiles in column order, for example 0.05,0.5,0.95", NULL, CLI_ANY},
    {"samples", 0, CLI_TEXT, "FILE", COMMON_INPUT(samples),
     "regression: samples of the predicted distributions, or ensemble members, rows x "
     "samples; requires --target",
     NULL, CLI_INPUT},
    {"target", 0, CLI_TEXT, "FILE", COMMON_INPUT(target), "regression: the observed numbers",
     NULL, CLI_INPUT},
    {"event", 0, CLI_TEXT, "EVENT", offsetof(cli_options, event),
     "regression: measure the predicted probability of an event, such as '> 20' or '<= 0', as "
     "a binary prediction of its outcome",
     NULL, CLI_ANY},
    {"weights", 0, CLI_TEXT, "FILE", COMMON_INPUT(weights), "row weights (default: 1)", NULL,
     CLI_INPUT},
    {"weights-are", 0, CLI_TEXT, "WORD", COMMON_INPUT(weights_are),
     "frequency: a row of weight 3 stands for three equal rows; importance: each row is "
     "one observation and the weight its share of the result. Default: frequency if all "
     "weights are whole numbers, else importance",
     "frequency|importance", CLI_ANY},
    {"data", 0, CLI_TEXT, "FILE", COMMON_INPUT(data),
     "one file with all inputs, named like these flags: arrays of a .npz file, fields of a "
     ".jsonl file, or CSV columns (logits.0, logits.1, ..., labels). Beside it, a plain word "
     "after another flag is a column of the file: --probs p --labels y",
     NULL, CLI_INPUT},
    {"first-row", 0, CLI_COUNT, "N", COMMON_INPUT(first_row),
     "index of the first row, if the files are one part of a larger data set; --state "
     "needs none: parts are recognised by their content",
     NULL, CLI_ANY},
    {"header", 0, CLI_TEXT, "WORD", offsetof(cli_options, header),
     "whether the first line of CSV and TSV files is a header: yes, no or auto (default); "
     "auto detects a header, and ambiguous files are refused",
     "yes|no|auto", CLI_ANY},
    {"input-format", 0, CLI_TEXT, "FORMAT", offsetof(cli_options, input_format),
     "format of standard input, pipes and files whose extension names none; without it, "
     "standard input and pipes are recognised by their first bytes",
     "csv|tsv|jsonl|npy|npz|arrow", CLI_ANY},
};
const cli_section cli_section_inputs = {
    "Inputs", common_inputs, CLI_COUNT_OF(common_inputs),
    "FILE is file.npy, file.npz:ARRAY, file.jsonl:FIELD or file.csv:COLUMNS. COLUMNS is a "
    "name, a number counted from 0, a list a,b,c or a range first..last. '-' is standard "
    "input in any of these formats; '-:3' takes one of its columns. Tables of Arrow IPC "
    "(.arrow, .feather) are read like CSV. All of them may be compressed: .gz, or .zst "
    "unless propercal was built without libzstd."};

static const cli_flag common_groups[] = {
    {"groups", 0, CLI_TEXT, "FILE", COMMON_INPUT(groups),
     "group of each row, such as g.csv:team, or with --data FILE the name of its column: "
     "results are also computed for each group; several columns, as in g.csv:site,sex, are "
     "groups that overlap",
     NULL, CLI_INPUT},
    {"time", 0, CLI_TEXT, "FILE", COMMON_INPUT(time),
     "time of each row, such as log.csv:when, or with --data FILE the name of its column: "
     "results are also computed for each period of --every. Times are ISO 8601 "
     "(2026-03-02T10:15:00+01:00; UTC without an offset) or seconds since 1970",
     NULL, CLI_INPUT},
    {"every", 0, CLI_TEXT, "PERIOD", COMMON_INPUT(every),
     "length of the periods, in UTC: hour, day, week (from Monday), month, quarter, year, or "
     "a number with s, min, h or d, such as 6h. Without --time the column time of --data",
     NULL, CLI_ANY},
};
const cli_section cli_section_groups = {"Groups", common_groups, CLI_COUNT_OF(common_groups),
                                        NULL};

/* Rounds have those before COMMON_WHOLE_LABELS: the others need all rows at once. */
enum {
  COMMON_CLASSES,
  COMMON_POSITIVE,
  COMMON_SCALE,
  COMMON_RAGGED,
  COMMON_WHOLE_LABELS,
  COMMON_ABSTAIN = COMMON_WHOLE_LABELS,
  COMMON_PREVALENCE
};

static const cli_flag common_labels[] = {
    [COMMON_CLASSES] =
        {"classes", 0, CLI_TEXT, "LIST", offsetof(cli_options, class_names),
         "names of the classes in the order of the score columns, for example cat,dog,bird; "
         "labels may then be these names. With --ragged also those of choices that no row has",
         NULL, CLI_ANY},
    [COMMON_POSITIVE] = {"positive", 0, CLI_TEXT, "LABEL", offsetof(cli_options, positive),
                         "binary problem with one column of scores: the label of class 1, for "
                         "example malignant or yes; the other label is class 0",
                         NULL, CLI_ANY},
    [COMMON_SCALE] = {"scale", 0, CLI_TEXT, "WORD", offsetof(cli_options, score_scale),
                      "percent: --probs and --confidence run from 0 to 100", "percent",
                      CLI_ANY},
    [COMMON_RAGGED] = {"ragged", 0, CLI_FLAG, NULL, offsetof(cli_options, ragged),
                       "rows have different numbers of choices: missing scores, shorter lists "
                       "and names that an object lacks are choices that the row does not "
                       "have, of probability 0",
                       NULL, CLI_ANY},
    [COMMON_ABSTAIN] = {"abstain", 0, CLI_TEXT, "FILE", COMMON_INPUT(abstain),
                        "beside --confidence: 1 for each row in which the model did not "
                        "answer, else 0; such a row counts as an answer with confidence 0 "
                        "that is wrong",
                        NULL, CLI_INPUT},
    [COMMON_PREVALENCE] = {"prevalence", 0, CLI_TEXT, "LIST", offsetof(cli_options, prevalence),
                           "reweight rows to these class shares: that of class 1 of two, or "
                           "one for each class, as in 0.2,0.3,0.5",
                           NULL, CLI_ANY},
};
const cli_section cli_section_labels = {"Meaning of the columns", common_labels,
                                        CLI_COUNT_OF(common_labels), NULL};
const cli_section cli_section_part_labels = {"Meaning of the columns", common_labels,
                                             COMMON_WHOLE_LABELS, NULL};

static const cli_flag common_rows[] = {
    {"normalize", 0, CLI_FLAG, NULL, offsetof(cli_options, normalize),
     "rescale rows of probabilities whose sum is off by 1e-5 to 1e-2, and report how many",
     NULL, CLI_ANY},
    {"skip-missing", 0, CLI_FLAG, NULL, offsetof(cli_options, skip_missing),
     "drop rows with a missing value, and report how many", NULL, CLI_ANY},
};
const cli_section cli_section_rows = {"Rows", common_rows, CLI_COUNT_OF(common_rows), NULL};

static const cli_flag common_running[] = {
    {"threads", 0, CLI_COUNT, "N", offsetof(cli_options, threads),
     "number of threads (default 0: one for each processor available to the program, "
     "within its affinity and container quota); results do not depend on it",
     NULL, CLI_ANY},
    {"seed", 0, CLI_COUNT, "N", offsetof(cli_options, seed),
     "seed of the random numbers (default: 0)", NULL, CLI_ANY},
    {"memory-limit", 0, CLI_TEXT, "SIZE", offsetof(cli_options, memory_limit),
     "limit on allocated memory, for example 500MB or 2GiB, or none; above it the run "
     "fails with exit code 6 and names the largest consumer. Default: three quarters of "
     "the memory of the machine or container. Mapped files do not count; results do not "
     "depend on it",
     NULL, CLI_ANY},
    {"timeout", 0, CLI_REAL, "SECONDS", offsetof(cli_options, timeout),
     "stop after that time with exit code 124, leaving output files unchanged (default 0: "
     "no limit)",
     NULL, CLI_ANY},
    {"quiet", 'q', CLI_FLAG, NULL, offsetof(cli_options, quiet),
     "print neither progress nor notes, only errors", NULL, CLI_ANY},
    {"no-progress", 0, CLI_FLAG, NULL, offsetof(cli_options, no_progress),
     "no progress bar (shown only on a terminal)", NULL, CLI_ANY},
};
const cli_section cli_section_running = {"Running", common_running,
                                         CLI_COUNT_OF(common_running), NULL};

static const cli_flag common_help[] = {
    {"help", 'h', CLI_FLAG, NULL, offsetof(cli_options, help), "print this help", NULL,
     CLI_ANY},
    {"version", 0, CLI_FLAG, NULL, offsetof(cli_options, version),
     "print version, compiler and features", NULL, CLI_ANY},
};
const cli_section cli_section_help = {"Help", common_help, CLI_COUNT_OF(common_help), NULL};
