/* Atomic commit of several output files.
 *
 *  1. All data are on the disk before the first rename; an earlier failure leaves all files
 *     unchanged.
 *  2. Journals of the renames (output_journal.h) are on the disk before the first rename and
 *     removed after the last one.  After a kill or power failure in between, the next command
 *     that opens one of the files completes the renames.  Until then other programs may see
 *     some files new and others old.
 *  3. If a rename fails, files already renamed are restored from hard links, if the file system
 *     supports these.
 *  4. Standard output, pipes and devices are written directly. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/output_file_state.h"
#include "io/output_journal.h"
#include "system/paths.h"

#define OUTPUT_GROUP_MOST 16

typedef struct output_group {
  const pcal_env *env;
  pcal_output *files[OUTPUT_GROUP_MOST];
  pc_journal_entry pending[OUTPUT_GROUP_MOST];
  char *backups[OUTPUT_GROUP_MOST]; /* hard links to the old files; NULL: none */
  int existed[OUTPUT_GROUP_MOST];
  size_t count, renamed;
} output_group;

/* Makes a hard link to the old file, to restore it after a failure. */
static void output_group_keep_old(output_group *g, size_t i) {
  pc_file_info about;
  const size_t size = strlen(g->files[i]->temporary) + sizeof ".old";
  g->existed[i] = pc_path_describe_link(g->files[i]->target, &about) == 0;
  char *name = g->existed[i] ? pc_alloc_raw(g->env, size, 1) : NULL;
  if (name == NULL)
    return;
  snprintf(name, size, "%s.old", g->files[i]->temporary);
  if (pc_path_link(g->files[i]->target, name) == 0)
    g->backups[i] = name;
  else
    pc_free(g->env, name);
}

/* True if the file is already at its target, renamed by a process that replayed the journal. */
static int output_group_is_there(const pcal_output *file) {
  pc_file_info own, there;
  return pc_file_describe(file->descriptor, &own) == 0 &&
         pc_path_describe(file->target, &there) == 0 && own.device == there.device &&
         own.number == there.number;
}

static int output_group_rename(output_group *g) {
  for (; g->renamed < g->count; g->renamed++) {
    pcal_output *file = g->files[g->renamed];
    if (pc_path_rename(file->temporary, file->target) != 0 && !output_group_is_there(file))
      return errno;
    file->named = 0;
  }
  return 0;
}

static void output_group_go_back(output_group *g) {
  pc_output_journal_remove(g->pending, g->count, g->env);
  while (g->renamed > 0) {
    const size_t i = --g->renamed;
    if (g->backups[i] != NULL)
      (void)pc_path_rename(g->backups[i], g->files[i]->target);
    else if (!g->existed[i])
      (void)pc_path_remove(g->files[i]->target);
  }
}

static void output_group_clean(output_group *g) {
  for (size_t i = 0; i < g->count; i++) {
    if (g->backups[i] != NULL)
      (void)pc_path_remove(g->backups[i]);
    pc_free(g->env, g->backups[i]);
  }
}

static pcal_status output_group_name(output_group *g, pcal_error *err) {
  for (size_t i = 0; i < g->count; i++) {
    pcal_output *file = g->files[i];
    if (!file->named && !pc_output_file_take_name(file))
      return pc_output_file_fail(file->name, errno, err);
    g->pending[i] = (pc_journal_entry){file->temporary, file->target};
  }
  return PCAL_OK;
}

static void output_group_sync(const output_group *g) {
  for (size_t i = 0; i < g->count; i++)
    pc_output_file_sync_directory(g->files[i]->target);
}

static pcal_status output_group_commit(output_group *g, pcal_error *err) {
  PC_TRY(output_group_name(g, err));
  output_group_sync(g); /* first: a journal must never exist without the files that it names */
  int failure = pc_output_journal_write(g->pending, g->count, g->env);
  if (failure == ENOMEM)
    return pc_fail_memory(err, "writing output files");
  if (failure != 0)
    return pc_output_file_fail(g->files[0]->name, failure, err);
  for (size_t i = 0; i < g->count; i++)
    output_group_keep_old(g, i);
  failure = output_group_rename(g);
  pcal_status status = PCAL_OK;
  if (failure != 0) {
    status = pc_output_file_fail(g->files[g->renamed]->name, failure, err);
    output_group_go_back(g);
  }
  output_group_sync(g);
  output_group_clean(g);
  if (status == PCAL_OK)
    pc_output_journal_remove(g->pending, g->count, g->env);
  return status;
}

static pcal_status output_group_flush(pcal_output *const *outputs, size_t count,
                                      output_group *g, pcal_error *err) {
  for (size_t i = 0; i < count; i++) {
    PC_TRY(pc_output_file_flush(outputs[i], err));
    if (outputs[i]->target != NULL && g->count == OUTPUT_GROUP_MOST)
      return pc_fail(err, PCAL_USAGE, "at most %d files can be written together",
                     OUTPUT_GROUP_MOST);
    if (outputs[i]->target != NULL)
      g->files[g->count++] = outputs[i];
  }
  return PCAL_OK;
}

pcal_status pc_output_file_commit_all(pcal_output *const *outputs, size_t count,
                                      pcal_error *err) {
  output_group g = {.count = 0};
  if (count == 0)
    return PCAL_OK;
  g.env = &outputs[0]->env;
  pcal_status status = output_group_flush(outputs, count, &g, err);
  if (status == PCAL_OK && g.count > 1)
    status = output_group_commit(&g, err);
  /* From the last to the first, because the environment of the first is used until the end. */
  for (size_t i = count; i-- > 0;) {
    if (status == PCAL_OK && g.count < 2)
      status = pc_output_file_commit(outputs[i], err);
    else
      pc_output_file_discard(outputs[i]);
  }
  return status;
}
