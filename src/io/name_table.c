/* Open addressing with linear probing, at most half full; FNV-1a hash. */
#include "io/name_table.h"

#include <string.h>

#include "base/assert.h"
#include "base/budget.h"
#include "base/text.h"

#define NAME_TABLE_FIRST_SLOTS 64

void pc_name_table_init(pc_name_table *names, const pcal_env *env) {
  *names = (pc_name_table){.env = env};
}

void pc_name_table_free(pc_name_table *names) {
  if (names->env == NULL)
    return;
  for (size_t i = 0; i < names->count; i++)
    pc_free(names->env, names->text[i]);
  pc_free(names->env, names->text);
  pc_free(names->env, names->slots);
  *names = (pc_name_table){.env = names->env};
}

static uint64_t name_table_hash(pc_slice name) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < name.length; i++)
    hash = (hash ^ (unsigned char)name.bytes[i]) * UINT64_C(1099511628211);
  return hash ^ (hash >> 32);
}

/* The slot that holds the name, or the free one where it belongs. */
static size_t name_table_slot(const pc_name_table *names, pc_slice name) {
  const size_t mask = names->slot_count - 1;
  pc_assert(names->count <= names->slot_count / 2); /* else the search may not end */
  size_t slot = (size_t)name_table_hash(name) & mask;
  while (names->slots[slot] != 0 && !pc_slice_is(name, names->text[names->slots[slot] - 1]))
    slot = (slot + 1) & mask;
  return slot;
}

int pc_name_table_find(const pc_name_table *names, pc_slice name, uint32_t *number) {
  if (names->slot_count == 0)
    return 0;
  const uint32_t found = names->slots[name_table_slot(names, name)];
  if (found != 0)
    *number = found - 1;
  return found != 0;
}

static pcal_status name_table_rehash(pc_name_table *names, pcal_error *err) {
  if (names->count < names->slot_count / 2)
    return PCAL_OK;
  pc_name_table larger = *names;
  larger.slot_count = names->slot_count == 0 ? NAME_TABLE_FIRST_SLOTS : names->slot_count * 2;
  const pcal_env env = pc_env_for_use(names->env, PC_MEMORY_NAMES);
  larger.slots = pc_alloc(&env, larger.slot_count, sizeof *larger.slots);
  if (larger.slots == NULL)
    return pc_fail_memory(err, "keeping names");
  for (size_t i = 0; i < names->count; i++)
    larger.slots[name_table_slot(&larger, pc_slice_of(names->text[i]))] = (uint32_t)i + 1;
  pc_free(names->env, names->slots);
  *names = larger;
  return PCAL_OK;
}

static pcal_status name_table_append(pc_name_table *names, pc_slice name, pcal_error *err) {
  const pcal_env env = pc_env_for_use(names->env, PC_MEMORY_NAMES);
  void *text = names->text;
  const pcal_status status =
      pc_reserve(&env, &text, &names->capacity, names->count + 1, sizeof *names->text, err);
  names->text = text;
  PC_TRY(status);
  char *copy = pc_alloc_raw(&env, name.length + 1, 1);
  if (copy == NULL)
    return pc_fail_memory(err, "keeping names");
  memcpy(copy, name.bytes, name.length);
  copy[name.length] = '\0';
  names->text[names->count++] = copy;
  return PCAL_OK;
}

pcal_status pc_name_table_add(pc_name_table *names, pc_slice name, uint32_t *number,
                              pcal_error *err) {
  if (pc_name_table_find(names, name, number))
    return PCAL_OK;
  if (names->count >= PC_NAME_TABLE_MAX)
    return pc_fail(err, PCAL_DATA, "there are more than %u different names",
                   (unsigned)PC_NAME_TABLE_MAX);
  PC_TRY(name_table_rehash(names, err));
  const size_t slot = name_table_slot(names, name);
  PC_TRY(name_table_append(names, name, err));
  names->slots[slot] = (uint32_t)names->count;
  *number = (uint32_t)names->count - 1;
  return PCAL_OK;
}

static const char *name_table_at(void *user, size_t i) {
  const pc_name_table *names = user;
  return i < names->count ? names->text[i] : NULL;
}

const char *pc_name_table_nearest(const pc_name_table *names, pc_slice name) {
  char word[PC_CLIP_MAX];
  pc_name_table copy = *names;
  return pc_nearest_word(pc_clip(name, word), name_table_at, &copy);
}
