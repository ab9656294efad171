/* Calibrates a whole source, window by window: one is written while the next is mapped.
 *
 *   1. npy: little-endian, one-dimensional for one column.  The header holds the number of
 *      rows, so a source that does not know it is read twice.
 *   2. csv: the shortest digits that read back as the same float32 or float64.  Class names
 *      become a header, all with the prefix "probs." if one could be read as a number or a
 *      missing value.  Without one column for each class there is no header.
 *   3. A class that the calibrator knows by name must be in the same column as in the fit. */
#include <string.h>

#include "base/escape.h"
#include "base/executor.h"
#include "base/number.h"
#include "calibrators/apply.h"
#include "calibrators/fit_pass.h"
#include "calibrators/group_calibrators.h"
#include "io/formats/npy_write.h"
#include "io/name_table.h"
#include "io/source.h"
#include "system/threads.h"

#define APPLY_SOURCE_BYTES ((size_t)4 << 20)

typedef struct apply_source_writer {
  const pcal_env *env;
  pcal_shape shape; /* of the output */
  pcal_sink sink;
  void *user;
  const char *names; /* of the output columns, separated by ','; NULL: those of the shape */
} apply_source_writer;

/* Translates groups of the source to members of the calibrator. */
typedef struct apply_source_matches {
  uint32_t *members; /* of the source's groups, followed by those of a window's rows */
  size_t capacity;
} apply_source_matches;

static size_t apply_source_width(const apply_source_writer *writer) {
  return writer->shape.type == PCAL_F32 ? sizeof(float) : sizeof(double);
}

static pcal_status apply_source_send(const apply_source_writer *writer, const void *bytes,
                                     size_t count, pcal_error *err) {
  if (count > 0 && writer->sink(writer->user, bytes, count) != 0)
    return pc_fail(err, PCAL_IO, "the output could not be written");
  return PCAL_OK;
}

/* ---- npy ---- */

/* Brings values of `width` bytes into little-endian order, in place. */
static void apply_source_little_endian(unsigned char *bytes, size_t count, size_t width) {
  const uint16_t probe = 1;
  unsigned char first;
  memcpy(&first, &probe, 1);
  if (first == 1)
    return;
  for (size_t i = 0; i < count; i++, bytes += width)
    for (size_t b = 0; b < width / 2; b++) {
      const unsigned char kept = bytes[b];
      bytes[b] = bytes[width - 1 - b];
      bytes[width - 1 - b] = kept;
    }
}

static pcal_status apply_source_npy_head(const apply_source_writer *writer, pcal_error *err) {
  const size_t columns = writer->shape.columns;
  return pc_npy_header_write(writer->shape.type == PCAL_F32 ? "<f4" : "<f8",
                             writer->shape.row_count, columns == 1 ? 0 : columns, writer->sink,
                             writer->user, err);
}

static pcal_status apply_source_npy_rows(const apply_source_writer *writer, void *values,
                                         size_t rows, pcal_error *err) {
  const size_t cells = rows * writer->shape.columns;
  apply_source_little_endian(values, cells, apply_source_width(writer));
  return apply_source_send(writer, values, cells * apply_source_width(writer), err);
}

/* ---- csv ---- */

/* True if a class name could be read as a number or a missing value. */
static int apply_source_name_misleads(const char *name) {
  double value;
  const size_t length = strlen(name);
  return pc_slice_is_missing(pc_slice_of(name)) ||
         pc_number_parse(name, name + length, &value) == length;
}

/* Predictions of a number: the column names that --data recognises. */
static pcal_status apply_source_forecast_head(const apply_source_writer *writer,
                                              pcal_error *err) {
  const pc_form form = pc_kind_form(writer->shape.kind);
  pc_text text;
  pc_text_init(&text, writer->env);
  if (form == PC_FORM_GAUSSIAN)
    pc_text_add(&text, "mean,variance");
  for (size_t j = 0; form != PC_FORM_GAUSSIAN && j < writer->shape.columns; j++) {
    pc_text_format(&text, "%s%s", j > 0 ? "," : "",
                   form == PC_FORM_QUANTILES ? "quantiles." : "samples.");
    if (form == PC_FORM_QUANTILES)
      pc_text_number(&text, writer->shape.levels[j]);
    else
      pc_text_format(&text, "%zu", j);
  }
  pc_text_add(&text, "\n");
  const pcal_status status = pc_text_send(&text, writer->sink, writer->user, err);
  pc_text_free(&text);
  return status;
}

static pcal_status apply_source_csv_head(const apply_source_writer *writer, pcal_error *err) {
  const char *const *names = writer->shape.class_names;
  pc_text text, name;
  int misleads = 0;
  if (writer->names != NULL) {
    PC_TRY(apply_source_send(writer, writer->names, strlen(writer->names), err));
    return apply_source_send(writer, "\n", 1, err);
  }
  if (pc_kind_form(writer->shape.kind) != PC_FORM_CLASSES)
    return apply_source_forecast_head(writer, err);
  if (names == NULL)
    return PCAL_OK;
  pc_text_init(&text, writer->env);
  pc_text_init(&name, writer->env);
  for (size_t j = 0; j < writer->shape.columns; j++)
    misleads |= apply_source_name_misleads(names[j]);
  for (size_t j = 0; j < writer->shape.columns; j++) {
    name.length = 0;
    pc_text_format(&name, "%s%s", misleads ? "probs." : "", names[j]);
    pc_text_add(&text, j > 0 ? "," : "");
    if (!name.failed)
      pc_text_csv(&text, name.bytes);
    text.failed |= name.failed;
  }
  pc_text_add(&text, "\n");
  const pcal_status status = pc_text_send(&text, writer->sink, writer->user, err);
  pc_text_free(&text);
  pc_text_free(&name);
  return status;
}

static size_t apply_source_csv_number(const apply_source_writer *writer, const void *values,
                                      size_t at, char digits[PC_NUMBER_MAX]) {
  if (writer->shape.type == PCAL_F32)
    return pc_number_format_float(((const float *)values)[at], digits);
  return pc_number_format(((const double *)values)[at], digits);
}

static pcal_status apply_source_csv_rows(const apply_source_writer *writer, void *values,
                                         size_t rows, pcal_error *err) {
  const size_t columns = writer->shape.columns;
  pc_text text;
  pc_text_init(&text, writer->env);
  pcal_status status = PCAL_OK;
  for (size_t i = 0; i < rows && status == PCAL_OK; i++) {
    for (size_t j = 0; j < columns; j++) {
      char digits[PC_NUMBER_MAX];
      const size_t length = apply_source_csv_number(writer, values, i * columns + j, digits);
      pc_text_add_bytes(&text, digits, length);
      pc_text_add_bytes(&text, j + 1 < columns ? "," : "\n", 1);
    }
    if (text.length < APPLY_SOURCE_BYTES / 16 && i + 1 < rows)
      continue;
    status = pc_text_send(&text, writer->sink, writer->user, err);
    text.length = 0;
  }
  pc_text_free(&text);
  return status;
}

/* ---- Reading, mapping, writing ---- */

typedef struct apply_source_format {
  int counted; /* needs the number of rows before the first row */
  pcal_status (*head)(const apply_source_writer *writer, pcal_error *err);
  pcal_status (*rows)(const apply_source_writer *writer, void *values, size_t rows,
                      pcal_error *err);
} apply_source_format;

static const apply_source_format apply_source_npy = {1, apply_source_npy_head,
                                                     apply_source_npy_rows};
static const apply_source_format apply_source_csv = {0, apply_source_csv_head,
                                                     apply_source_csv_rows};

static pcal_status apply_source_count(pcal_source *source, size_t window,
                                      apply_source_writer *writer, pcal_error *err) {
  uint64_t rows = 0;
  if (writer->shape.row_count != PCAL_NO_ROW)
    return PCAL_OK;
  for (;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    PC_TRY(pc_source_next(source, window, &batch, err));
    if (batch.rows == 0)
      break;
    rows += batch.rows;
    pc_progress(writer->env, "counting rows", rows, 0);
    PC_TRY(pc_check_interrupt(writer->env, err));
  }
  writer->shape.row_count = rows;
  return pc_source_rewind(source, err);
}

/* Replaces the groups of a batch by members of the calibrator. */
static pcal_status apply_source_groups(const pcal_source *source,
                                       const pcal_calibrator *calibrator, const pcal_env *env,
                                       pcal_batch *batch, apply_source_matches *matches,
                                       pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  if (calibrator->groups == NULL || batch->groups == NULL)
    return PCAL_OK;
  pc_source_shape(source, &shape);
  const size_t wanted = shape.group_count + batch->rows;
  void *block = matches->members;
  const pcal_status status =
      pc_reserve(env, &block, &matches->capacity, wanted, sizeof *matches->members, err);
  matches->members = block;
  PC_TRY(status);
  uint32_t *rows = matches->members + shape.group_count;
  pc_group_calibrators_match(calibrator->groups, shape.group_names, shape.group_count,
                             matches->members);
  for (size_t i = 0; i < batch->rows; i++) {
    const size_t group = batch->groups[i];
    rows[i] = group < shape.group_count ? matches->members[group] : UINT32_MAX;
  }
  batch->groups = rows;
  return PCAL_OK;
}

/* A window that is mapped while the one before it is written. */
typedef struct apply_source_ahead {
  const pcal_calibrator *calibrator;
  pcal_env env; /* without callbacks, which are for the caller's thread */
  pcal_batch batch;
  void *values;
  pc_affinity cores;
  pcal_status status;
  pcal_error error;
} apply_source_ahead;

static void *apply_source_ahead_main(void *argument) {
  apply_source_ahead *ahead = argument;
  pc_affinity_release(&ahead->cores);
  ahead->status = pc_calibrator_apply(ahead->calibrator, &ahead->batch, &ahead->env,
                                      ahead->values, &ahead->error);
  return NULL;
}

/* The windows of a source, in two buffers by turns; in one if there is one thread, or no
 * memory for two. */
typedef struct apply_source_turns {
  const apply_source_format *format;
  const apply_source_writer *writer;
  void *values[2];
  size_t turn;    /* the buffer that is mapped into next */
  size_t waiting; /* rows of the other one, not written yet */
  uint64_t done;
} apply_source_turns;

/* Writes the rows that wait. */
static pcal_status apply_source_write(apply_source_turns *turns, pcal_error *err) {
  const apply_source_writer *writer = turns->writer;
  const uint64_t known = writer->shape.row_count;
  if (turns->waiting == 0)
    return PCAL_OK;
  PC_TRY(turns->format->rows(writer, turns->values[1 - turns->turn], turns->waiting, err));
  turns->done += turns->waiting;
  turns->waiting = 0;
  pc_progress(writer->env, "applying", turns->done, known == PCAL_NO_ROW ? 0 : known);
  return pc_check_interrupt(writer->env, err);
}

/* Maps a window, while the caller's thread writes the one before it if there are two buffers. */
static pcal_status apply_source_turn(apply_source_turns *turns, apply_source_ahead *ahead,
                                     pcal_error *err) {
  pc_thread thread;
  ahead->values = turns->values[turns->turn];
  ahead->status = PCAL_OK;
  ahead->cores = pc_affinity_current();
  pc_error_clear(&ahead->error);
  const int started = turns->waiting > 0 && turns->values[0] != turns->values[1] &&
                      pc_thread_start(&thread, &ahead->cores, apply_source_ahead_main, ahead);
  const pcal_status written = apply_source_write(turns, err);
  if (started)
    pc_thread_join(&thread);
  PC_TRY(written);
  if (!started)
    return pc_calibrator_apply(ahead->calibrator, &ahead->batch, turns->writer->env,
                               ahead->values, err);
  if (ahead->status != PCAL_OK && err != NULL)
    *err = ahead->error;
  return ahead->status;
}

static pcal_status apply_source_windows(pcal_source *source, const pcal_calibrator *calibrator,
                                        apply_source_turns *turns, size_t window,
                                        apply_source_matches *matches, pcal_error *err) {
  const apply_source_writer *writer = turns->writer;
  const uint64_t known = writer->shape.row_count;
  apply_source_ahead ahead = {.calibrator = calibrator, .env = *writer->env};
  ahead.env.progress = NULL;
  ahead.env.interrupted = NULL;
  for (;;) {
    ahead.batch = (pcal_batch)PCAL_BATCH_INIT;
    pcal_status status = pc_source_next(source, window, &ahead.batch, err);
    if (status == PCAL_OK)
      status = apply_source_groups(source, calibrator, writer->env, &ahead.batch, matches, err);
    if (status != PCAL_OK) { /* rows before an error are written, and may fail first */
      pcal_error first = PCAL_ERROR_INIT;
      const pcal_status written = apply_source_write(turns, &first);
      if (written != PCAL_OK && err != NULL)
        *err = first;
      return written != PCAL_OK ? written : status;
    }
    if (ahead.batch.rows == 0)
      break;
    PC_TRY(apply_source_turn(turns, &ahead, err));
    turns->waiting = ahead.batch.rows;
    turns->turn = 1 - turns->turn;
  }
  PC_TRY(apply_source_write(turns, err));
  if (turns->format->counted && turns->done != known)
    return pc_fail(err, PCAL_IO,
                   "the input changed from %llu to %llu rows; run again when no program writes "
                   "to it",
                   (unsigned long long)known, (unsigned long long)turns->done);
  return PCAL_OK;
}

/* Fails if a known class is in another column. */
static pcal_status apply_source_match(const pc_name_table *known, const pcal_shape *shape,
                                      const char *file, pcal_error *err) {
  for (size_t j = 0; j < shape->columns; j++) {
    const pc_place place = {file, PCAL_NO_ROW, 0, j, NULL, NULL};
    uint32_t number = 0;
    if (pc_name_table_find(known, pc_slice_of(shape->class_names[j]), &number) && number != j)
      return pc_fail_at(err, PCAL_DATA, &place,
                        "it holds the scores of \"%.60s\", which the calibrator was fitted on "
                        "as column %lu; give the columns in the same order",
                        shape->class_names[j], (unsigned long)number);
  }
  return PCAL_OK;
}

static pcal_status apply_source_check_names(const pcal_calibrator *calibrator,
                                            const pcal_shape *shape, const char *file,
                                            const pcal_env *env, pcal_error *err) {
  pc_name_table known;
  pcal_status status = PCAL_OK;
  if (calibrator->class_names == NULL || shape->class_names == NULL)
    return PCAL_OK;
  pc_name_table_init(&known, env);
  int distinct = 1;
  for (uint32_t j = 0; j < shape->columns && status == PCAL_OK; j++) {
    uint32_t number = j;
    status = pc_name_table_add(&known, pc_slice_of(calibrator->class_names[j]), &number, err);
    distinct &= number == j;
  }
  if (status == PCAL_OK && distinct)
    status = apply_source_match(&known, shape, file, err);
  pc_name_table_free(&known);
  return status;
}

/* All checks that do not depend on rows, before the first byte is written.  Reads the first row
 * for the name of the scores; the source is at its beginning before and after. */
static pcal_status apply_source_check_shape(pcal_source *source,
                                            const pcal_calibrator *calibrator,
                                            const pcal_shape *shape, const pcal_env *env,
                                            pcal_error *err) {
  pcal_batch empty = PCAL_BATCH_INIT, first = PCAL_BATCH_INIT;
  PC_TRY(pc_source_next(source, 1, &first, err));
  empty.scores_name =
      first.rows == 0 || first.scores_name == NULL ? "scores" : first.scores_name;
  empty.kind = shape->kind;
  empty.type = shape->type;
  empty.columns = shape->columns;
  empty.levels = shape->levels;
  PC_TRY(pc_calibrator_apply(calibrator, &empty, env, NULL, err));
  PC_TRY(apply_source_check_names(calibrator, shape, empty.scores_name, env, err));
  if (calibrator->groups != NULL && !shape->grouped)
    return pc_fail(err, PCAL_USAGE,
                   "the calibrator has a map for each group; give the groups of the rows with "
                   "{groups}");
  return pc_source_rewind(source, err);
}

pcal_status pc_calibrator_apply_source(pcal_source *source, const pcal_calibrator *calibrator,
                                       pcal_format format, const pcal_env *env, pcal_sink sink,
                                       void *user, pcal_error *err) {
  const apply_source_format *target =
      format == PCAL_NPY ? &apply_source_npy : &apply_source_csv;
  apply_source_matches matches = {NULL, 0};
  apply_source_writer writer = {
      env, {.size = sizeof(pcal_shape)}, sink, user, calibrator->method->output_names};
  PC_TRY(pc_source_rewind(source, err));
  PC_TRY(pc_source_widen(source, calibrator->layout.columns, err));
  pc_source_shape(source, &writer.shape);
  PC_TRY(apply_source_check_shape(source, calibrator, &writer.shape, env, err));
  const size_t window = pc_fit_pass_window(&writer.shape, APPLY_SOURCE_BYTES);
  if (pc_calibrator_columns(calibrator) != writer.shape.columns)
    writer.shape.class_names = NULL;
  writer.shape.columns = pc_calibrator_columns(calibrator);
  if (target->counted)
    PC_TRY(apply_source_count(source, window, &writer, err));
  PC_TRY(target->head(&writer, err));
  apply_source_turns turns = {.format = target, .writer = &writer};
  const size_t values = window * writer.shape.columns, width = apply_source_width(&writer);
  void *one = pc_alloc_raw(env, values, width);
  void *two = one != NULL && pc_worker_count(env) > 1 ? pc_alloc_raw(env, values, width) : NULL;
  turns.values[0] = one;
  turns.values[1] = two == NULL ? one : two;
  const pcal_status status =
      one == NULL ? pc_fail_memory(err, "applying a calibrator")
                  : apply_source_windows(source, calibrator, &turns, window, &matches, err);
  pc_free(env, one);
  pc_free(env, two);
  pc_free(env, matches.members);
  return status;
}
