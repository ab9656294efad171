/* Whole programs: command lines built from the input's bytes, with files of every format that
 * fit them, run by the program's own main in a folder of their own.
 *
 *   1. The program ends with a documented exit code.
 *   2. It leaves no file but those that it was asked for.
 *   3. In one run of three an allocation fails: the exit code is then 6, or, where the program can do
 *      without or is wrong for another reason, the one that it has with enough memory. */
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "fuzz_columns.h"
#include "fuzz_count.h"
#include "fuzz_fail.h"
#include "fuzz_models.h"
#include "fuzz_text.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int propercal_main(int argc, char **argv); /* cli/main.c, renamed by the build */

enum { PROGRAM_WORDS = 40, PROGRAM_WORD_MAX = 256, PROGRAM_FILE_MAX = 1 << 15 };

typedef struct program_line {
  fuzz_choice choice;
  fuzz_table table;
  char words[PROGRAM_WORDS][PROGRAM_WORD_MAX];
  int count;
  const char *head; /* of d.csv and e.csv */
  int second;
} program_line;

static char program_folder[] = "/tmp/propercal-fuzz-XXXXXX";
static int program_origin = -1; /* the folder that the fuzzer runs in */

static void program_clean(void) {
  DIR *folder = opendir(".");
  if (folder == NULL)
    return;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      unlink(entry->d_name);
  closedir(folder);
}

static void program_leave(void) {
  rmdir(program_folder);
}

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  (void)count;
  (void)arguments;
  program_origin = open(".", O_RDONLY | O_DIRECTORY);
  if (program_origin < 0 || mkdtemp(program_folder) == NULL)
    abort();
  atexit(program_leave);
  return 0;
}

/* ---- words ---- */

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
program_add(program_line *line, const char *format, ...) {
  va_list args;
  if (line->count >= PROGRAM_WORDS)
    return;
  va_start(args, format);
  vsnprintf(line->words[line->count++], PROGRAM_WORD_MAX, format, args);
  va_end(args);
}

static void program_add_spec(program_line *line, const char *flag, pcal_registry kind) {
  char text[PROGRAM_WORD_MAX];
  fuzz_out out = {(uint8_t *)text, 0, sizeof text - 1};
  fuzz_write_spec(kind, &line->choice, &out);
  text[out.length] = '\0';
  if (flag != NULL)
    program_add(line, "%s", flag);
  program_add(line, "%s", text);
}

/* ---- files ---- */

typedef void (*program_writer)(program_line *line, fuzz_out *out);

static void program_csv(program_line *line, fuzz_out *out) {
  fuzz_write_csv(&line->table, &line->choice, out);
}
static void program_jsonl(program_line *line, fuzz_out *out) {
  fuzz_write_jsonl(&line->table, &line->choice, out);
}
static void program_npz(program_line *line, fuzz_out *out) {
  fuzz_write_npz(&line->table, &line->choice, out);
}
static void program_scores(program_line *line, fuzz_out *out) {
  fuzz_write_npy(&line->table, FUZZ_SCORES, &line->choice, out);
}
static void program_labels(program_line *line, fuzz_out *out) {
  fuzz_write_npy(&line->table, FUZZ_LABELS, &line->choice, out);
}
static void program_state(program_line *line, fuzz_out *out) {
  fuzz_write_state(&line->choice, out);
}
static void program_calibrator(program_line *line, fuzz_out *out) {
  fuzz_write_calibrator(&line->table, &line->choice, out);
}

/* One file in eight is cut, or has a byte changed. */
static void program_file(program_line *line, const char *name, program_writer write_it) {
  static uint8_t bytes[PROGRAM_FILE_MAX];
  fuzz_out out = {bytes, 0, sizeof bytes};
  write_it(line, &out);
  if (out.length > 0 && fuzz_chance(&line->choice, 16))
    out.length = fuzz_below(&line->choice, out.length);
  if (out.length > 0 && fuzz_chance(&line->choice, 16))
    bytes[fuzz_below(&line->choice, out.length)] ^= 1;
  FILE *file = fopen(name, "wb");
  if (file == NULL)
    abort();
  fwrite(bytes, 1, out.length, file);
  fclose(file);
}

/* ---- tables with columns of every kind ---- */

static void program_any_table(program_line *line, fuzz_out *out) {
  fuzz_columns_write(line->head, line->table.seed % 1000 + (size_t)line->second,
                     1 + fuzz_below(&line->choice, 50), out);
}

/* --data with columns of any kind, and a second file e.csv with the same columns. */
static void program_any_inputs(program_line *line) {
  line->head = fuzz_columns_pick(&line->choice);
  program_add(line, "--data");
  program_add(line, "d.csv");
  line->second = 0;
  program_file(line, "d.csv", program_any_table);
  line->second = 1;
  program_file(line, "e.csv", program_any_table);
}

/* Flags with a value, and the verbs that have them, by the letters of program_verbs. */
static const struct {
  const char *flag, *value, *verbs;
} program_flags[] = {
    {"--skip-missing", NULL, "mfcwprP"},
    {"--normalize", NULL, "mfcwprP"},
    {"--interval", "0.9", "mcprP"},
    {"--interval", "0", "mcpr"},
    {"--interval-method", "bca", "m"},
    {"--interval-method", "jackknife", "m"},
    {"--interval-method", "normal", "m"},
    {"--null", NULL, "m"},
    {"--curves", NULL, "mM"},
    {"--plot", NULL, "mM"},
    {"--groups", "groups", "mfipra"},
    {"--groups", "groups.sex", "mfipra"},
    {"--cluster", "groups", "mcr"},
    {"--id", "ids", "m"},
    {"--weights-are", "importance", "mfcpr"},
    {"--weights-are", "frequency", "mfcpr"},
    {"--precision", "fast", "m"},
    {"--classes", "a,b,c", "mfaiprc"},
    {"--positive", "1", "mfiprc"},
    {"--scale", "percent", "mfiprc"},
    {"--ragged", NULL, "mfiprc"},
    {"--event", "> 4", "mfipra"},
    {"--prevalence", "0.3", "mfipr"},
    {"--every", "day", "mipr"},
    {"--tables", "out", "mMcS"},
    {"--gate-report", "out.xml", "mM"},
    {"--annotate", NULL, "mM"},
    {"--fail-if", "brier > 0.2", "mM"},
    {"--fail-if", "ece@worst > 0.5", "mM"},
    {"--against-probs", "e.csv:probs", "mP"},
    {"--against-confidence", "e.csv:confidence", "mP"},
    {"--against-logits", "e.csv:logits.0..logits.1", "mP"},
    {"--injective", NULL, "mP"},
    {"--state", "out.pcal", "mM"},
    {"--metric", "default", "mr"},
    {"--metric", "brier", "mcrP"},
    {"--metric", "ks", "mcrP"},
    {"--method", "temperature", "cr"},
    {"--method", "isotonic", "cr"},
    {"--val-data", "e.csv", "cprS"},
    {"--preset", "clinical", "r"},
    {"--title", "<b>\x1b", "pr"},
    {"--theme", "dark", "pS"},
    {"--width", "300", "p"},
    {"--format", "md", "mMcrP"},
    {"--format", "csv", "mMcP"},
    {"--format", "latex", "mMcS"},
    {"--json", NULL, "mMciwPsS"},
    {"--folds", "2", "c"},
    {"--by", "ece", "c"},
    {"--power", "0.8", "P"},
    {"--width", "0.1", "P"},
    {"--difference", "0.1", "P"},
    {"--alpha", "0.1", "w"},
    {"--allow-repeat", NULL, "w"},
    {"--truth", NULL, "s"},
    {"--header", "no", "mfip"},
    {"--input-format", "csv", "mfip"},
    {"--first-row", "5", "mf"},
    {"--memory-limit", "100kB", "mfacMipr"},
    {"--memory-limit", "2MB", "mfacMipr"},
    {"--quiet", NULL, "mfacMipr"},
};

static void program_more(program_line *line, char verb) {
  for (size_t more = fuzz_below(&line->choice, 4); more > 0; more--) {
    const size_t at = fuzz_below(&line->choice, sizeof program_flags / sizeof *program_flags);
    if (strchr(program_flags[at].verbs, verb) == NULL)
      continue;
    program_add(line, "%s", program_flags[at].flag);
    if (program_flags[at].value != NULL)
      program_add(line, "%s", program_flags[at].value);
  }
}

static void program_inputs(program_line *line) {
  const char *kind = fuzz_kind_name(line->table.kind);
  const char *outcome = fuzz_outcome_name(line->table.kind);
  switch (fuzz_below(&line->choice, 8)) {
  case 0:
    program_file(line, "d.csv", program_csv);
    program_add(line, "--data");
    program_add(line, "d.csv");
    break;
  case 1:
    program_file(line, "d.jsonl", program_jsonl);
    program_add(line, "--data");
    program_add(line, "d.jsonl");
    break;
  case 2:
    program_file(line, "d.npz", program_npz);
    program_add(line, "--data");
    program_add(line, "d.npz");
    break;
  case 3:
    program_file(line, "s.npy", program_scores);
    program_file(line, "y.npy", program_labels);
    program_add(line, "--%s", strcmp(kind, "log_probs") == 0 ? "log-probs" : kind);
    program_add(line, "s.npy");
    program_add(line, "--%s", outcome);
    program_add(line, "y.npy");
    break;
  default:
    program_any_inputs(line);
  }
}

/* ---- verbs ---- */

static void program_format(program_line *line, const char *output) {
  static const char *const formats[] = {"text", "json", "csv", "md"};
  if (fuzz_chance(&line->choice, 2)) {
    program_add(line, "--format");
    program_add(line, "%s", FUZZ_PICK(&line->choice, formats));
  }
  if (fuzz_chance(&line->choice, 2)) {
    program_add(line, "-o");
    program_add(line, "%s", output);
  }
}

static void program_measure(program_line *line) {
  program_inputs(line);
  for (size_t more = fuzz_below(&line->choice, 3); more > 0; more--)
    program_add_spec(line, "--metric", PCAL_METRICS);
  if (fuzz_chance(&line->choice, 3)) {
    program_add(line, "--interval");
    program_add(line, "0.9");
    program_add(line, "--replicas");
    program_add(line, "20");
  }
  if (fuzz_chance(&line->choice, 4)) {
    program_add(line, "--state");
    program_add(line, "out.pcal");
  }
  if (fuzz_chance(&line->choice, 4))
    program_add(line, "--skip-missing");
  if (fuzz_chance(&line->choice, 4)) {
    program_add(line, "--fail-if");
    program_add(line, "ece > 0.%zu", fuzz_below(&line->choice, 10));
  }
  program_format(line, "out.txt");
}

static void program_fit(program_line *line) {
  program_inputs(line);
  program_add_spec(line, "--method", PCAL_CALIBRATORS);
  program_add(line, "-o");
  program_add(line, "out.json");
}

static void program_apply(program_line *line) {
  program_file(line, "cal.json", program_calibrator);
  program_add(line, "cal.json");
  program_inputs(line);
  program_add(line, "-o");
  program_add(line, fuzz_chance(&line->choice, 2) ? "out.npy" : "out.csv");
}

static void program_merge(program_line *line) {
  program_file(line, "a.pcal", program_state);
  program_add(line, "a.pcal");
  if (fuzz_chance(&line->choice, 2)) {
    program_file(line, "b.pcal", program_state);
    program_add(line, "b.pcal");
  }
  program_format(line, "out.txt");
}

static void program_export(program_line *line) {
  program_file(line, "cal.json", program_calibrator);
  program_add(line, "cal.json");
  program_add(line, "-o");
  program_add(line, fuzz_chance(&line->choice, 2) ? "out.c" : "out.onnx");
}

static void program_inspect(program_line *line) {
  program_inputs(line);
  program_format(line, "out.txt");
}

static void program_plot(program_line *line) {
  program_add_spec(line, NULL, PCAL_FIGURES);
  program_inputs(line);
  program_add(line, "-o");
  program_add(line, "out.svg");
}

static void program_list(program_line *line) {
  static const char *const kinds[] = {"metrics", "calibrators", "figures", "studies", "groups"};
  program_add(line, "%s", FUZZ_PICK(&line->choice, kinds));
  program_format(line, "out.txt");
}

static void program_report(program_line *line) {
  program_inputs(line);
  program_add(line, "--replicas");
  program_add(line, "20");
  program_add(line, "-o");
  program_add(line, "out.html");
}

static void program_compare(program_line *line) {
  program_inputs(line);
  program_add(line, "--replicas");
  program_add(line, "20");
  program_add(line, "--method");
  program_add(line, "%s", fuzz_chance(&line->choice, 2) ? "temperature" : "isotonic");
}

static void program_plan(program_line *line) {
  program_inputs(line);
  program_add(line, "--replicas");
  program_add(line, "20");
}

static void program_watch(program_line *line) {
  program_add(line, "out.pcal");
  program_inputs(line);
}

static void program_simulate(program_line *line) {
  static const char *const outputs[] = {"out.csv", "out.npz", "out", "-"};
  program_add(line, "--rows");
  program_add(line, "%zu", fuzz_below(&line->choice, 50));
  program_add(line, "--classes");
  program_add(line, "%zu", fuzz_below(&line->choice, 6));
  program_add(line, "-o");
  program_add(line, "%s", FUZZ_PICK(&line->choice, outputs));
}

static void program_study(program_line *line) {
  static const char *const studies[] = {"metric-ranks",   "class-conditional", "loss-surface",
                                        "taxonomy",       "test-size",         "improvement",
                                        "sharpness-loss", "optimise-metric",   "ece-bias"};
  program_add(line, "%s", FUZZ_PICK(&line->choice, studies));
  program_inputs(line);
  program_add(line, "--repeats");
  program_add(line, "2");
  program_add(line, "--rows");
  program_add(line, "12");
  program_add(line, "-o");
  program_add(line, fuzz_chance(&line->choice, 2) ? "out.svg" : "out.txt");
}

typedef struct program_verb {
  const char *name;
  void (*words)(program_line *line);
  char letter;
} program_verb;

static const program_verb program_verbs[] = {
    {"measure", program_measure, 'm'},   {"measure", program_measure, 'm'},
    {"measure", program_measure, 'm'},   {"fit", program_fit, 'f'},
    {"apply", program_apply, 'a'},       {"merge", program_merge, 'M'},
    {"export", program_export, 'e'},     {"inspect", program_inspect, 'i'},
    {"plot", program_plot, 'p'},         {"list", program_list, 'l'},
    {"report", program_report, 'r'},     {"compare", program_compare, 'c'},
    {"plan", program_plan, 'P'},         {"watch", program_watch, 'w'},
    {"simulate", program_simulate, 's'}, {"study", program_study, 'S'},
};

/* A word that does not belong there, now and then. */
static void program_spoil(program_line *line) {
  static const char *const odd[] = {"",        "-",    "--",      "--help",    "--threads",
                                    "0x10",    "-o",   "--seed",  "/dev/null", "x:y:z",
                                    "--data=", "%s%n", "\x1b[31m"};
  if (fuzz_chance(&line->choice, 12))
    snprintf(line->words[1 + fuzz_below(&line->choice, (size_t)line->count - 1)],
             PROGRAM_WORD_MAX, "%s", FUZZ_PICK(&line->choice, odd));
}

/* Runs the program; `fail`: this allocation of it fails.  Sets *failed if one did. */
static int program_run(program_line *line, unsigned long fail, int *failed) {
  char *words[PROGRAM_WORDS + 1] = {NULL};
  for (int w = 0; w < line->count; w++)
    words[w] = line->words[w];
  fuzz_fail_in(fail);
  const int code = propercal_main(line->count, words);
  *failed = fuzz_fail_end();
  fflush(stdout);
  fflush(stderr);
  return code;
}

/* Which allocation fails; 0 for most runs. */
static unsigned long program_fail_at(program_line *line) {
  static const size_t ranges[] = {10, 100, 1000, 10000};
  return fuzz_chance(&line->choice, 3)
             ? 1 + fuzz_below(&line->choice, FUZZ_PICK(&line->choice, ranges))
             : 0;
}

static void program_stop(const program_line *line, const char *why, int code) {
  fprintf(stderr, "%s, exit code %d:", why, code);
  for (int w = 0; w < line->count; w++)
    fprintf(stderr, " '%s'", line->words[w]);
  fprintf(stderr, "\n");
  abort();
}

/* After an allocation failed: 6, success, or the exit code with enough memory. */
static void program_check_failed(program_line *line, int code) {
  int failed;
  if (code != 0 && code != 1 && code != 6 && program_run(line, 0, &failed) != code)
    program_stop(line, "an allocation failed", code);
}

/* Names of files that a command may leave: its inputs, and those that begin with "out". */
static int program_left_rubbish(void) {
  DIR *folder = opendir(".");
  int rubbish = 0;
  for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
    rubbish |= entry->d_name[0] == '.' && strcmp(entry->d_name, ".") != 0 &&
               strcmp(entry->d_name, "..") != 0;
  if (folder != NULL)
    closedir(folder);
  return rubbish;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static program_line line;
  if (chdir(program_folder) != 0)
    abort();
  line.count = 0;
  line.choice = fuzz_choice_of_bytes(data, size);
  line.table = fuzz_table_make(&line.choice);
  const program_verb *verb = &FUZZ_PICK(&line.choice, program_verbs);
  program_add(&line, "propercal");
  program_add(&line, "%s", verb->name);
  verb->words(&line);
  program_more(&line, verb->letter);
  program_add(&line, "--threads");
  program_add(&line, "%zu", 1 + fuzz_below(&line.choice, 2));
  program_spoil(&line);
  int failed;
  const int code = program_run(&line, program_fail_at(&line), &failed);
  if (code != 0 && code != 1 && code != 2 && code != 3 && code != 4 && code != 6)
    program_stop(&line, "not documented", code);
  if (failed)
    program_check_failed(&line, code);
  if (program_left_rubbish())
    program_stop(&line, "a file is left", code);
  fuzz_count(code <= 1 || failed);
  program_clean();
  if (fchdir(program_origin) != 0)
    abort();
  return 0;
}
