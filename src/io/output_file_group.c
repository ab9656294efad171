/* Several outputs that become new together.
 *
 *  1. Everything is written and on the disk before the first name changes; a failure up to then
 *     leaves all files as they were.
 *  2. Lists of what is to be renamed (output_journal.h) are on the disk before the first rename
 *     and removed after the last one is.  After a kill or a power failure in between, the next
 *     command that opens one of the files finishes the renames.  Programs that do not know the
 *     lists can meanwhile see some files new and others old.
 *  3. When a rename fails, files that were already renamed get their old content back, where
 * the file system has hard links to keep it.
 *  4. Standard output, pipes and devices are written as they come. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/output_file_state.h"
#include "io/output_journal.h"

#define GROUP_MOST 16

typedef struct group {
  const pcal_env *env;
  pcal_output *files[GROUP_MOST];
  pc_journal_entry pending[GROUP_MOST];
  char *backups[GROUP_MOST]; /* names of the old files; NULL: there is none */
  int existed[GROUP_MOST];
  size_t count, renamed;
} group;

/* Old content stays reachable under another name, so that it can come back. */
static void group_keep_old(group *g, size_t i) {
  struct stat about;
  const size_t size = strlen(g->files[i]->temporary) + sizeof ".old";
  g->existed[i] = lstat(g->files[i]->target, &about) == 0;
  char *name = g->existed[i] ? pc_alloc_raw(g->env, size, 1) : NULL;
  if (name == NULL)
    return;
  snprintf(name, size, "%s.old", g->files[i]->temporary);
  if (link(g->files[i]->target, name) == 0)
    g->backups[i] = name;
  else
    pc_free(g->env, name);
}

/* Is the file under its target name already, moved there by whoever settled our list? */
static int group_is_there(const pcal_output *file) {
  struct stat own, there;
  return fstat(file->descriptor, &own) == 0 && stat(file->target, &there) == 0 &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

static int group_rename(group *g) {
  for (; g->renamed < g->count; g->renamed++) {
    pcal_output *file = g->files[g->renamed];
    if (rename(file->temporary, file->target) != 0 && !group_is_there(file))
      return errno;
    file->named = 0;
  }
  return 0;
}

static void group_go_back(group *g) {
  pc_output_journal_remove(g->pending, g->count, g->env);
  while (g->renamed > 0) {
    const size_t i = --g->renamed;
    if (g->backups[i] != NULL)
      (void)rename(g->backups[i], g->files[i]->target);
    else if (!g->existed[i])
      (void)unlink(g->files[i]->target);
  }
}

static void group_clean(group *g) {
  for (size_t i = 0; i < g->count; i++) {
    if (g->backups[i] != NULL)
      (void)unlink(g->backups[i]);
    pc_free(g->env, g->backups[i]);
  }
}

static pcal_status group_name(group *g, pcal_error *err) {
  for (size_t i = 0; i < g->count; i++) {
    pcal_output *file = g->files[i];
    if (!file->named && !pc_output_file_take_name(file))
      return pc_output_file_fail(file->name, errno, err);
    g->pending[i] = (pc_journal_entry){file->temporary, file->target};
  }
  return PCAL_OK;
}

static void group_sync(const group *g) {
  for (size_t i = 0; i < g->count; i++)
    pc_output_file_sync_directory(g->files[i]->target);
}

static pcal_status group_commit(group *g, pcal_error *err) {
  PC_TRY(group_name(g, err));
  group_sync(g); /* a list must never be there without the files that it names */
  int failure = pc_output_journal_write(g->pending, g->count, g->env);
  if (failure == ENOMEM)
    return pc_fail_memory(err, "writing output files");
  if (failure != 0)
    return pc_output_file_fail(g->files[0]->name, failure, err);
  for (size_t i = 0; i < g->count; i++)
    group_keep_old(g, i);
  failure = group_rename(g);
  pcal_status status = PCAL_OK;
  if (failure != 0) {
    status = pc_output_file_fail(g->files[g->renamed]->name, failure, err);
    group_go_back(g);
  }
  group_sync(g);
  group_clean(g);
  if (status == PCAL_OK)
    pc_output_journal_remove(g->pending, g->count, g->env);
  return status;
}

static pcal_status group_flush(pcal_output *const *outputs, size_t count, group *g,
                               pcal_error *err) {
  for (size_t i = 0; i < count; i++) {
    PC_TRY(pc_output_file_flush(outputs[i], err));
    if (outputs[i]->target != NULL && g->count == GROUP_MOST)
      return pc_fail(err, PCAL_USAGE, "at most %d files can be written together", GROUP_MOST);
    if (outputs[i]->target != NULL)
      g->files[g->count++] = outputs[i];
  }
  return PCAL_OK;
}

pcal_status pc_output_file_commit_all(pcal_output *const *outputs, size_t count,
                                      pcal_error *err) {
  group g = {.count = 0};
  if (count == 0)
    return PCAL_OK;
  g.env = &outputs[0]->env;
  pcal_status status = group_flush(outputs, count, &g, err);
  if (status == PCAL_OK && g.count > 1)
    status = group_commit(&g, err);
  for (size_t i = count; i-- > 0;) { /* the first one's environment is used until the end */
    if (status == PCAL_OK && g.count < 2)
      status = pc_output_file_commit(outputs[i], err);
    else
      pc_output_file_discard(outputs[i]);
  }
  return status;
}
