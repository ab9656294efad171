/* Opening a source: its parts, and whether they fit together.
 *
 * Rules:
 *  1. lengths are compared when they are known, at the latest when a file ends.
 *  2. labels may be absent: such a source can be inspected but not measured.
 *  3. a data file that is a container has one array of scores; only objects of JSON name the
 *     classes.
 *  4. given class names: source_classes.c.
 *  5. several files of one input are one part (file_sequence.h).
 *  6. Arrow data are moved into the source before anything can fail. */
#include <inttypes.h>
#include <string.h>

#include "data/rows.h"
#include "io/source_state.h"

/* Opens a data file; sets source->archive if it is a container of arrays, and source->members if
 * its format lists arrays or columns. */
static pcal_status source_data_open(pcal_source *source, const char *text, pcal_error *err) {
  pc_selector selector;
  const pc_input_file *bytes = NULL;
  const pc_file_format *format = NULL;
  PC_TRY(pc_selector_split(text, pc_input_file_exists(text), &source->env, &selector, err));
  pcal_status status = pc_source_file_open(source, &selector, &bytes, err);
  if (status == PCAL_OK)
    status = pc_file_format_find(bytes, &format, err);
  if (status == PCAL_OK && format->members != NULL && selector.columns != NULL)
    status = pc_fail(err, PCAL_USAGE,
                     "{data} finds the arrays of %s by name; remove the selector", bytes->name);
  if (status == PCAL_OK && format->members != NULL) {
    if (!format->is_table)
      source->archive = bytes;
    status = format->members(bytes, &source->env, &source->members, err);
  }
  pc_selector_free(&source->env, &selector);
  return status;
}

static pcal_status source_scores_from_archive(pcal_source *source, pcal_error *err) {
  const pc_column_set set = {source->archive->name, (const char *const *)source->members.text,
                             source->members.count};
  PC_TRY(pc_data_members_find(&set, &source->env, &source->columns, err));
  source->kind = source->columns.kind;
  PC_TRY(pc_source_member(source, source->columns.scores[0], PC_COLUMN_SCORES, &source->scores,
                          err));
  source->class_names = source->scores.columns > 1 ? source->scores.names : NULL;
  return PCAL_OK;
}

/* The columns of Arrow data, found by name. */
static pcal_status source_scores_from_arrow(pcal_source *source, pcal_error *err) {
  pc_source_input *input = &source->inputs[PC_INPUT_DATA];
  size_t count = 0;
  PC_TRY(pc_source_arrow_names(source, &input->arrow, &source->arrow_names, &count, err));
  const pc_column_set set = {input->name, source->arrow_names, count};
  PC_TRY(pc_data_columns_find(&set, &source->env, &source->columns, err));
  const pc_data_columns *columns = &source->columns;
  source->kind = columns->kind;
  const char **names = pc_alloc(&source->env, columns->score_count, sizeof *names);
  if (names == NULL)
    return pc_fail_memory(err, "opening Arrow data");
  for (size_t i = 0; i < columns->score_count; i++)
    names[i] = source->arrow_names[columns->scores[i]];
  const pcal_status status = pc_arrow_reader_open(&input->arrow, names, columns->score_count,
                                                  PC_COLUMN_SCORES, &source->scores, err);
  pc_free(&source->env, names);
  source->class_names = columns->score_count > 1 ? columns->class_names : NULL;
  return status;
}

/* The columns of a text file, which its reader lists. */
static pcal_status source_text_columns(pcal_source *source, const char *file,
                                       pc_column_set *out, pcal_error *err) {
  const pc_reader *table = &source->table;
  pcal_input first = PCAL_INPUT_INIT;
  first.file = file;
  PC_TRY(pc_source_file_part(source, &first, NULL, PC_COLUMN_TEXT, &source->table, err));
  *out = (pc_column_set){table->bytes->name, table->names, table->columns};
  if (table->columns != table->file_columns)
    return pc_fail(err, PCAL_USAGE,
                   "{data} finds the columns of %s by name; remove the selector", out->file);
  return PCAL_OK;
}

static pcal_status source_scores_from_data(pcal_source *source, const char *file,
                                           pcal_error *err) {
  PC_TRY(source_data_open(source, file, err));
  if (source->archive != NULL)
    return source_scores_from_archive(source, err);
  pc_column_set set = {file, (const char *const *)source->members.text, source->members.count};
  if (source->members.count == 0)
    PC_TRY(source_text_columns(source, file, &set, err));
  PC_TRY(pc_data_columns_find(&set, &source->env, &source->columns, err));
  source->kind = source->columns.kind;
  source->class_names = source->columns.score_count > 1 ? source->columns.class_names : NULL;
  const pc_source_pick pick = {NULL, source->columns.scores, source->columns.score_count};
  return pc_source_file_part(source, source->data, &pick, PC_COLUMN_SCORES, &source->scores,
                             err);
}

/* Opens Arrow data in `data`. */
static pcal_status source_open_table(pcal_source *source, const pc_checked_inputs *inputs,
                                     pcal_error *err) {
  pc_source_input *place = &source->inputs[PC_INPUT_DATA];
  if (inputs->forms[PC_INPUT_DATA] != PC_INPUT_ARROW)
    return PCAL_OK;
  PC_TRY(pc_source_input_name(source, inputs->items[PC_INPUT_DATA].name, place, err));
  return pc_arrow_table_open(&place->arrow, place->name, &source->env, err);
}

static pcal_status source_scores(pcal_source *source, const pc_checked_inputs *inputs,
                                 pcal_error *err) {
  source->columns = (pc_data_columns){.spread = PC_NO_DATA_COLUMN,
                                      .labels = PC_NO_DATA_COLUMN,
                                      .weights = PC_NO_DATA_COLUMN,
                                      .groups = PC_NO_DATA_COLUMN,
                                      .time = PC_NO_DATA_COLUMN,
                                      .abstain = PC_NO_DATA_COLUMN};
  source->data = &inputs->items[PC_INPUT_DATA];
  PC_TRY(source_open_table(source, inputs, err));
  if (inputs->scores == PC_INPUT_COUNT)
    return inputs->forms[PC_INPUT_DATA] == PC_INPUT_ARROW
               ? source_scores_from_arrow(source, err)
               : source_scores_from_data(source, pc_source_first_file(source->data), err);
  source->kind = inputs->kind;
  PC_TRY(pc_source_part_open(source, inputs, inputs->scores, PC_NO_DATA_COLUMN,
                             PC_COLUMN_SCORES, &source->scores, err));
  source->class_names = source->scores.columns > 1 ? source->scores.names : NULL;
  return PCAL_OK;
}

static int source_is_file(const pc_reader *part) {
  return part->format->open != NULL;
}

/* True if a selector can choose columns of this part. */
static int source_selectable(const pc_reader *part) {
  return source_is_file(part) && (part->format->members == NULL || part->format->is_table);
}

pcal_status pc_source_one_column(const pc_reader *part, const char *what, pcal_error *err) {
  if (!pc_source_has(part) || part->columns == 1)
    return PCAL_OK;
  if (!source_selectable(part))
    return pc_fail(err, PCAL_DATA, "%s has %zu columns, but %-s need one; %-s",
                   pc_source_part_name(part), part->columns, what,
                   source_is_file(part) ? "save the right one under its own name"
                                        : "give only the right one");
  return pc_fail(err, PCAL_DATA, "%s has %zu columns, but %-s need one; choose it as %s:COLUMN",
                 pc_source_part_name(part), part->columns, what, pc_source_part_name(part));
}

static pcal_status source_one_hot(const pcal_source *source, size_t classes, pcal_error *err) {
  const pc_reader *labels = &source->label_cells;
  const char *swapped = source->scores.columns == 1 ? " (are the two swapped?)" : "";
  if (!pc_source_has(labels) || labels->columns == 1 || labels->columns == classes)
    return PCAL_OK;
  if (!source_selectable(labels))
    return pc_fail(
        err, PCAL_DATA,
        "%s has %zu columns, but %s has %zu classes%-s; give one-hot labels for each "
        "class, or a class number for each row",
        pc_source_part_name(labels), labels->columns, pc_source_part_name(&source->scores),
        classes, swapped);
  return pc_fail(err, PCAL_DATA,
                 "%s has %zu columns, but %s has %zu classes%-s; give one-hot labels for each "
                 "class, or choose one column of class numbers as %s:COLUMN",
                 pc_source_part_name(labels), labels->columns,
                 pc_source_part_name(&source->scores), classes, swapped,
                 pc_source_part_name(labels));
}

/* A one-dimensional column of scores is binary; rows that are lists of one score would have a
 * single class, which is refused. */
static pcal_status source_one_class(const pc_reader *scores, pcal_error *err) {
  if (scores->columns > 1 || !scores->listed)
    return PCAL_OK;
  return pc_fail(
      err, PCAL_DATA,
      "%s has lists of one score, which means a single class; for scores of class 1 of two "
      "give {one_dimension}",
      pc_source_part_name(scores));
}

/* Rows may be in groups of several kinds, a column for each; times are one column. */
static pcal_status source_check_groups(const pcal_source *source, pcal_error *err) {
  const pc_reader *cells = &source->group_cells;
  if (!pc_source_has(cells) || source->has_periods)
    return pc_source_one_column(cells, "times", err);
  if (cells->columns <= PC_GROUP_COLUMNS_MAX)
    return PCAL_OK;
  return pc_fail(err, PCAL_DATA,
                 "%s has %zu columns, but groups are at most %d; choose them%s%s",
                 pc_source_part_name(cells), cells->columns, PC_GROUP_COLUMNS_MAX,
                 source_selectable(cells) ? " as " : "",
                 source_selectable(cells) ? "FILE:COLUMN,COLUMN" : "");
}

static pcal_status source_check_columns(const pcal_source *source, pcal_error *err) {
  PC_TRY(pc_source_one_column(&source->weights, "weights", err));
  PC_TRY(source_check_groups(source, err));
  PC_TRY(pc_source_one_column(&source->id_cells, "ids", err));
  if (pc_source_regression(source))
    return PCAL_OK;
  if (source->kind != PCAL_CONFIDENCE) {
    PC_TRY(source_one_class(&source->scores, err));
    return source_one_hot(
        source, source->scores.columns == 1 ? 2 : pc_source_class_columns(source), err);
  }
  PC_TRY(pc_source_one_column(&source->scores, "confidences", err));
  return pc_source_one_column(&source->label_cells, "{correct} values", err);
}

const char *pc_source_part_name(const pc_reader *part) {
  return pc_source_has(part) ? part->bytes->name : NULL;
}

const char *pc_source_header_hint(const pc_reader *part) {
  return part->headed ? " after its header" : "";
}

static pcal_status source_check_length(const pcal_source *source, const pc_reader *part,
                                       pcal_error *err) {
  const pc_reader *scores = &source->scores;
  if (!pc_source_has(part) || part->rows == PCAL_NO_ROW || scores->rows == PCAL_NO_ROW ||
      part->rows == scores->rows)
    return PCAL_OK;
  return pc_fail(err, PCAL_DATA,
                 "%s has %" PRIu64 " rows%-s but %s has %" PRIu64
                 "%-s; both must describe the same rows",
                 pc_source_part_name(scores), scores->rows, pc_source_header_hint(scores),
                 pc_source_part_name(part), part->rows, pc_source_header_hint(part));
}

static pcal_status source_check_lengths(const pcal_source *source, pcal_error *err) {
  PC_TRY(source_check_length(source, &source->spread, err));
  PC_TRY(source_check_length(source, &source->label_cells, err));
  PC_TRY(source_check_length(source, &source->weights, err));
  PC_TRY(source_check_length(source, &source->group_cells, err));
  PC_TRY(source_check_length(source, &source->abstain.cells, err));
  return source_check_length(source, &source->id_cells, err);
}

/* Row indices must stay below PCAL_NO_ROW. */
pcal_status pc_source_check_first_row(const char *name, uint64_t first_row, uint64_t rows,
                                      pcal_error *err) {
  if (rows < PCAL_NO_ROW - first_row || rows == 0)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "%s: rows counted from {first_row_is}%" PRIu64
                 " on run past the largest index; give a smaller {first_row}",
                 name, first_row);
}

/* Class names are needed only for labels that are text. */
static pcal_status source_name_classes(pcal_source *source, pcal_error *err) {
  pc_name_table_init(&source->classes, &source->env);
  if (source->class_names == NULL || source->label_cells.cells != PC_CELLS_TEXT)
    return PCAL_OK;
  for (size_t i = 0; i < pc_source_class_columns(source); i++) {
    uint32_t number = 0;
    PC_TRY(
        pc_name_table_add(&source->classes, pc_slice_of(source->class_names[i]), &number, err));
    if (number != i)
      return pc_fail(err, PCAL_DATA,
                     "%s has two score columns called \"%s\"; rename one, since labels may be "
                     "names",
                     pc_source_part_name(&source->scores), source->class_names[i]);
  }
  return PCAL_OK;
}

static pcal_status source_complete(pcal_source *source, pcal_error *err) {
  PC_TRY(source_check_columns(source, err));
  if (pc_source_regression(source))
    PC_TRY(pc_source_check_forecast(source, err));
  PC_TRY(source_check_lengths(source, err));
  if (source->scores.rows != PCAL_NO_ROW)
    PC_TRY(pc_source_check_first_row(pc_source_part_name(&source->scores), source->first_row,
                                     source->scores.rows, err));
  PC_TRY(source_name_classes(source, err));
  source->labels.reader = &source->label_cells;
  source->labels.binary = source->scores.columns == 1 && source->kind != PCAL_CONFIDENCE;
  source->labels.classes = &source->classes;
  source->labels.scores_name = pc_source_part_name(&source->scores);
  source->labels.meaning = source->kind == PCAL_CONFIDENCE
                               ? "give 1 for each correct prediction and 0 for each wrong "
                                 "one"
                               : "labels are class numbers counted from 0";
  pc_group_reader_init(&source->groups, &source->group_cells, &source->env);
  source->groups.period = source->has_periods ? &source->period : NULL;
  source->ids.reader = &source->id_cells;
  pc_name_table_init(&source->abstain.names, &source->env);
  source->abstain.answers =
      (pc_label_reader){.reader = &source->abstain.cells,
                        .classes = &source->abstain.names,
                        .scores_name = pc_source_part_name(&source->scores),
                        .meaning = "write 1 where the model did not answer, else 0"};
  return PCAL_OK;
}

/* Rows with different numbers of choices have several columns of classes. */
static pcal_status source_check_ragged(pcal_source *source, pcal_error *err) {
  if (!source->ragged.used)
    return PCAL_OK;
  if (pc_source_regression(source) || source->scores.columns < 2)
    return pc_fail(
        err, PCAL_USAGE,
        "{ragged} is for rows of several choices, in {probs}, {logits} or {log_probs}; "
        "remove it");
  if (source->kind == PCAL_LOGIT)
    source->kind = PCAL_LOG_PROBABILITY; /* normalised over the choices of each row */
  return PCAL_OK;
}

/* What `positive` and `percent` say about labels and scores. */
static pcal_status source_meaning(pcal_source *source, const pcal_inputs *inputs,
                                  pcal_error *err) {
  const int is_prob = source->kind == PCAL_PROBABILITY || source->kind == PCAL_CONFIDENCE;
  if (inputs->positive != NULL && pc_source_regression(source))
    return pc_fail(err, PCAL_USAGE,
                   "{positive} is a label of classes, but these are predictions of a number; "
                   "remove it; {event} says what counts as class 1");
  if (inputs->positive != NULL && !source->labels.binary)
    return pc_fail(err, PCAL_USAGE,
                   "{positive} needs one column of scores, those of class 1, but %s has %zu; "
                   "labels are then names of columns",
                   pc_source_part_name(&source->scores), source->scores.columns);
  if (inputs->percent && !is_prob)
    return pc_fail(err, PCAL_USAGE, "{percent} needs {probs} or {confidence}; remove it");
  if (source->placed)
    PC_TRY(pc_source_place_rows(source, &source->first_row, err));
  source->label_cells.row_offset = source->placed ? source->first_row : 0;
  source->group_cells.row_offset = source->id_cells.row_offset = source->label_cells.row_offset;
  source->scores.first_row = source->placed ? 0 : source->first_row;
  if (inputs->positive != NULL) {
    source->positive = pc_copy_text(&source->env, inputs->positive);
    if (source->positive == NULL)
      return pc_fail_memory(err, "opening the data");
  }
  source->labels.positive = source->positive;
  source->percent = inputs->percent != 0;
  source->device = inputs->device;
  return PCAL_OK;
}

/* Opens the groups, or the times whose periods are the groups. */
static pcal_status source_groups(pcal_source *source, const pc_checked_inputs *inputs,
                                 pcal_error *err) {
  const int periods = inputs->inputs.every != NULL;
  if (periods)
    PC_TRY(pc_period_parse(inputs->inputs.every, &source->period, err));
  PC_TRY(pc_source_part_open(source, inputs, periods ? PC_INPUT_TIME : PC_INPUT_GROUPS,
                             periods ? source->columns.time : source->columns.groups,
                             PC_COLUMN_TEXT, &source->group_cells, err));
  if (periods && !pc_source_has(&source->group_cells))
    return pc_fail(err, PCAL_USAGE,
                   "%s has no column called time; name the column of times with {time}",
                   pc_source_part_name(&source->scores));
  source->has_periods = periods;
  source->given_groups = !periods && inputs->inputs.groups != NULL;
  return PCAL_OK;
}

static pcal_status source_fill(pcal_source *source, pc_checked_inputs *inputs,
                               pcal_error *err) {
  const pcal_inputs *given = &inputs->inputs;
  PC_TRY(pc_inputs_check(inputs, err));
  source->placed = given->first_row == PCAL_FIRST_ROW_AUTO;
  source->first_row = source->placed ? 0 : given->first_row;
  source->header = given->header;
  source->file_format = given->file_format;
  if (given->file_format != NULL)
    PC_TRY(pc_file_format_check_name(given->file_format, err));
  source->weights_are = given->weights_are;
  source->ragged.used = given->ragged != 0;
  for (size_t i = 0; i < PC_INPUT_COUNT; i++)
    source->inputs[i].arrow.ragged = source->ragged.used;
  PC_TRY(source_scores(source, inputs, err));
  PC_TRY(pc_source_check_outcomes(source, inputs, err));
  const pc_data_columns *columns = &source->columns;
  const int regression = pc_source_regression(source);
  if (given->level_count > 0)
    memcpy(source->forecast.levels, given->levels, given->level_count * sizeof(double));
  source->forecast.level_count = given->level_count;
  if (regression)
    PC_TRY(pc_source_part_open(source, inputs, inputs->spread, columns->spread,
                               PC_COLUMN_SCORES, &source->spread, err));
  PC_TRY(pc_source_part_open(source, inputs, inputs->outcome, columns->labels,
                             regression                ? PC_COLUMN_NUMBERS
                             : given->positive != NULL ? PC_COLUMN_TEXT
                                                       : PC_COLUMN_LABELS,
                             &source->label_cells, err));
  PC_TRY(pc_source_part_open(source, inputs, PC_INPUT_WEIGHTS, columns->weights,
                             PC_COLUMN_NUMBERS, &source->weights, err));
  PC_TRY(source_groups(source, inputs, err));
  PC_TRY(pc_source_part_open(source, inputs, PC_INPUT_IDS, PC_NO_DATA_COLUMN, PC_COLUMN_TEXT,
                             &source->id_cells, err));
  PC_TRY(pc_source_part_open(source, inputs, PC_INPUT_ABSTAIN, columns->abstain,
                             PC_COLUMN_LABELS, &source->abstain.cells, err));
  if (pc_source_has(&source->abstain.cells) && source->kind != PCAL_CONFIDENCE)
    return pc_fail(
        err, PCAL_USAGE,
        "{abstain} needs {confidence} and {correct}; remove it, or give these in place "
        "of the scores");
  PC_TRY(pc_source_set_classes(source, given, err));
  PC_TRY(source_complete(source, err));
  PC_TRY(source_check_ragged(source, err));
  PC_TRY(source_meaning(source, given, err));
  PC_TRY(pc_source_open_soft(source, given, err));
  PC_TRY(pc_source_set_event(source, given->event, err));
  return pc_source_set_prevalence(source, given->prevalence, given->prevalence_count, err);
}

pcal_status pc_source_open(const pcal_inputs *inputs, const pcal_env *env, pcal_source **out,
                           pcal_error *err) {
  pcal_source *source = pc_source_new(env);
  pc_checked_inputs checked;
  *out = NULL;
  if (source == NULL) {
    pc_inputs_release(inputs);
    return pc_fail_memory(err, "opening the data");
  }
  pc_inputs_copy(inputs, &checked);
  for (size_t i = 0; i < PC_INPUT_COUNT; i++)
    if (checked.forms[i] != PC_INPUT_NOT_GIVEN)
      pc_arrow_table_take(checked.items[i].stream, checked.items[i].schema,
                          checked.items[i].array, &source->inputs[i].arrow);
  return pc_source_return(source, source_fill(source, &checked, err), out);
}
