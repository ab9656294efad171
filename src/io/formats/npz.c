/* Reader for .npz: a zip archive (zip.c) whose entries NAME.npy are npy files.
 *
 * The selector names one array, with or without ".npy"; without a selector the archive must
 * contain exactly one.  A stored array is used in place, by the reader for .npy; a deflated
 * one is unpacked into memory first, within the limits of zip.h.  Entries with other names
 * are ignored. */
#include <string.h>

#include "io/formats/container_member.h"
#include "io/formats/zip.h"
#include "io/reader.h"

#define NPZ_END ".npy"
#define NPZ_END_LENGTH 4

typedef struct npz_state {
  pc_reader array; /* reads `image` as a .npy file */
  pc_input_file image;
  pc_input_file archive; /* the file of the request, under the name of the array */
  pc_zip_content content;
  char *name; /* "file.npz:logits" */
} npz_state;

static int npz_is_array(pc_slice name) {
  return name.length >= NPZ_END_LENGTH &&
         memcmp(name.bytes + name.length - NPZ_END_LENGTH, NPZ_END, NPZ_END_LENGTH) == 0;
}

static pc_slice npz_array_name(pc_slice name) {
  return (pc_slice){name.bytes, name.length - NPZ_END_LENGTH};
}

/* Collects the names of the arrays. */
static pcal_status npz_names(const pc_input_file *bytes, const pc_zip *zip, pc_name_table *out,
                             pcal_error *err) {
  for (size_t i = 0; i < zip->count; i++) {
    char shown[PC_CLIP_MAX];
    uint32_t number = 0;
    const size_t before = out->count;
    if (!npz_is_array(zip->entries[i].name))
      continue;
    const pc_slice name = npz_array_name(zip->entries[i].name);
    if (!pc_slice_is_utf8(name))
      return pc_fail(err, PCAL_DATA,
                     "%s: the name \"%s\" of an array is not valid UTF-8; rename it",
                     bytes->name, pc_clip(name, shown));
    PC_TRY(pc_name_table_add(out, name, &number, err));
    if (out->count == before)
      return pc_fail(err, PCAL_DATA, "%s has two arrays called \"%s\"; rename one", bytes->name,
                     pc_clip(name, shown));
  }
  if (out->count > 0)
    return PCAL_OK;
  return pc_fail(err, PCAL_DATA, "%s contains no arrays; write it with numpy.savez",
                 bytes->name);
}

pcal_status pc_npz_members(const pc_input_file *bytes, const pcal_env *env, pc_name_table *out,
                           pcal_error *err) {
  pc_zip zip;
  PC_TRY(pc_zip_read(bytes, env, &zip, err));
  const pcal_status status = npz_names(bytes, &zip, out, err);
  pc_zip_free(env, &zip);
  return status;
}

static pcal_status npz_choose(const pc_read_request *request, const pc_name_table *names,
                              uint32_t *out, pcal_error *err) {
  static const pc_container_member_words words = {"array", "arrays"};
  const char *wanted = request->selector;
  if (wanted != NULL && npz_is_array(pc_slice_of(wanted)) &&
      !pc_name_table_find(names, pc_slice_of(wanted), out) &&
      pc_name_table_find(names, npz_array_name(pc_slice_of(wanted)), out))
    return PCAL_OK;
  return pc_container_member_choose(request->bytes->name, names, wanted, &words, out, err);
}

/* The entry of array `number`, counting only arrays. */
static const pc_zip_entry *npz_entry(const pc_zip *zip, uint32_t number) {
  size_t i = 0;
  for (;; i++)
    if (npz_is_array(zip->entries[i].name) && number-- == 0)
      return &zip->entries[i];
}

/* Unpacks the array called `name`, which is one of the file of the request. */
static pcal_status npz_unpack_entry(const pc_read_request *request, const pc_zip_entry *entry,
                                    const char *name, npz_state *state, pcal_error *err) {
  state->name = pc_container_member_name(request->env, request->bytes->name, name);
  if (state->name == NULL)
    return pc_fail_memory(err, "opening a npz file");
  return pc_zip_unpack(request->bytes, entry, state->name, request->env, &state->content, err);
}

static pcal_status npz_find(const pc_read_request *request, const pc_zip *zip, npz_state *state,
                            pcal_error *err) {
  pc_name_table names;
  uint32_t number = 0;
  pc_name_table_init(&names, request->env);
  pcal_status status = npz_names(request->bytes, zip, &names, err);
  if (status == PCAL_OK)
    status = npz_choose(request, &names, &number, err);
  if (status == PCAL_OK)
    status = npz_unpack_entry(request, npz_entry(zip, number), names.text[number], state, err);
  pc_name_table_free(&names);
  return status;
}

static pcal_status npz_unpack(const pc_read_request *request, npz_state *state,
                              pcal_error *err) {
  pc_zip zip;
  PC_TRY(pc_zip_read(request->bytes, request->env, &zip, err));
  const pcal_status status = npz_find(request, &zip, state, err);
  pc_zip_free(request->env, &zip);
  return status;
}

static void npz_close(pc_reader *reader) {
  npz_state *state = reader->state;
  pc_reader_close(&state->array);
  pc_free(reader->env, state->content.block);
  pc_free(reader->env, state->name);
  pc_free(reader->env, state);
  reader->state = NULL;
}

static void npz_rewind(pc_reader *reader) {
  npz_state *state = reader->state;
  pc_reader_rewind(&state->array);
}

static uint64_t npz_line(const pc_reader *reader, size_t row) {
  (void)reader;
  (void)row;
  return 0;
}

static pcal_status npz_next(pc_reader *reader, size_t max_rows, pc_window *out,
                            pcal_error *err) {
  npz_state *state = reader->state;
  return pc_reader_next(&state->array, max_rows, out, err);
}

static const pc_reader_calls npz_calls = {npz_next,  npz_rewind, npz_line,
                                          npz_close, NULL,       NULL};

static pcal_status npz_new(const pc_read_request *request, pc_reader *out, pcal_error *err) {
  out->state = pc_alloc(request->env, 1, sizeof(npz_state));
  if (out->state == NULL) {
    out->format = NULL;
    return pc_fail_memory(err, "opening a npz file");
  }
  out->calls = &npz_calls;
  return PCAL_OK;
}

/* Reads the array that has been unpacked. */
static pcal_status npz_read_array(const pc_read_request *request, pc_reader *out,
                                  pcal_error *err) {
  npz_state *state = out->state;
  state->archive = *request->bytes;
  state->archive.name = state->name;
  out->bytes = &state->archive;
  pc_input_file_from_memory(state->name, state->content.data, state->content.length,
                            &state->image);
  state->array = (pc_reader){.format = out->format, .env = out->env, .bytes = &state->image};
  const pc_read_request inside = {
      .env = request->env, .bytes = &state->image, .as = request->as, .deep = request->deep};
  PC_TRY(pc_npy_open(&inside, &state->array, err));
  out->cells = state->array.cells;
  out->columns = state->array.columns;
  out->depth = state->array.depth;
  out->rows = state->array.rows;
  out->window_limit = state->array.window_limit;
  out->file_columns = state->array.file_columns;
  out->listed = state->array.listed;
  memcpy(out->stored, state->array.stored, sizeof out->stored);
  return PCAL_OK;
}

pcal_status pc_npz_open(const pc_read_request *request, pc_reader *out, pcal_error *err) {
  PC_TRY(npz_new(request, out, err));
  PC_TRY(npz_unpack(request, out->state, err));
  return npz_read_array(request, out, err);
}

/* ---- All arrays ---- */

static pcal_status npz_visit_entry(const pc_input_file *bytes, const pcal_env *env,
                                   const pc_zip_entry *entry, const char *name, size_t number,
                                   const pc_member_visitor *visitor, pcal_error *err) {
  const pc_read_request request = {.env = env, .bytes = bytes, .as = PC_COLUMN_SCORES};
  pc_reader reader = {.env = env, .bytes = bytes};
  PC_TRY(pc_file_format_find(bytes, &reader.format, err));
  pcal_error failure;
  pcal_status status = npz_new(&request, &reader, &failure);
  if (status == PCAL_OK)
    status = npz_unpack_entry(&request, entry, name, reader.state, &failure);
  if (status == PCAL_OK)
    status = npz_read_array(&request, &reader, &failure);
  const pc_member_shape shape = {reader.rows, reader.columns, reader.stored};
  status =
      visitor->visit(visitor->user, number, status == PCAL_OK ? &shape : NULL, &failure, err);
  pc_reader_close(&reader);
  return status;
}

pcal_status pc_npz_visit(const pc_input_file *bytes, const pcal_env *env,
                         const pc_name_table *names, const pc_member_visitor *visitor,
                         pcal_error *err) {
  pc_zip zip;
  size_t number = 0;
  PC_TRY(pc_zip_read(bytes, env, &zip, err));
  pcal_status status = PCAL_OK;
  for (size_t i = 0; i < zip.count && number < names->count && status == PCAL_OK; i++) {
    if (!npz_is_array(zip.entries[i].name))
      continue;
    status =
        npz_visit_entry(bytes, env, &zip.entries[i], names->text[number], number, visitor, err);
    number++;
    if (status == PCAL_OK)
      status = pc_check_interrupt(env, err);
  }
  pc_zip_free(env, &zip);
  return status;
}
