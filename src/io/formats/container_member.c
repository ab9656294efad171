#include "io/formats/container_member.h"

#include <stdio.h>
#include <string.h>

#define CONTAINER_MEMBER_SHOWN 8

/* Writes "a", "b" and "c"; only the first few of many names. */
static void container_member_list(const pc_name_table *names, char *out, size_t size) {
  const size_t shown =
      names->count <= CONTAINER_MEMBER_SHOWN ? names->count : CONTAINER_MEMBER_SHOWN - 1;
  size_t used = 0;
  for (size_t i = 0; i < shown && used < size; i++) {
    char clip[PC_CLIP_MAX];
    const char *before = i == 0 ? "" : i + 1 == names->count ? " and " : ", ";
    const int wrote = snprintf(out + used, size - used, "%s\"%s\"", before,
                               pc_clip(pc_slice_of(names->text[i]), clip));
    used += wrote < 0 ? 0 : (size_t)wrote;
  }
  if (shown < names->count && used < size)
    snprintf(out + used, size - used, " and %zu more", names->count - shown);
}

static pcal_status container_member_unknown(const char *file, const pc_name_table *names,
                                            const char *wanted,
                                            const pc_container_member_words *words,
                                            pcal_error *err) {
  char list[512] = "", shown[PC_CLIP_MAX], near[PC_CLIP_MAX];
  const char *nearest = pc_name_table_nearest(names, pc_slice_of(wanted));
  pc_clip(pc_slice_of(wanted), shown);
  if (nearest != NULL)
    return pc_fail(err, PCAL_USAGE, "%s has no %s \"%s\"; did you mean \"%s\"?", file,
                   words->one, shown, pc_clip(pc_slice_of(nearest), near));
  container_member_list(names, list, sizeof list);
  return pc_fail(err, PCAL_USAGE, "%s has no %s \"%s\"; it has %s", file, words->one, shown,
                 list);
}

pcal_status pc_container_member_choose(const char *file, const pc_name_table *names,
                                       const char *wanted,
                                       const pc_container_member_words *words, uint32_t *out,
                                       pcal_error *err) {
  char list[512] = "";
  *out = 0;
  if (wanted != NULL) {
    if (pc_name_table_find(names, pc_slice_of(wanted), out))
      return PCAL_OK;
    return container_member_unknown(file, names, wanted, words, err);
  }
  if (names->count == 1)
    return PCAL_OK;
  container_member_list(names, list, sizeof list);
  return pc_fail(err, PCAL_USAGE, "%s has %zu %s, %s; choose one as %s:NAME", file,
                 names->count, words->many, list, file);
}

char *pc_container_member_name(const pcal_env *env, const char *file, const char *member) {
  const size_t size = strlen(file) + strlen(member) + 2;
  char *name = pc_alloc_raw(env, size, 1);
  if (name != NULL)
    snprintf(name, size, "%s:%s", file, member);
  return name;
}
