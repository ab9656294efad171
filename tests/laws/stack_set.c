#include "stack_set.h"

#include <stdlib.h>

#ifdef __GLIBC__
#include <execinfo.h>
#endif

#define STACK_SLOTS 1024

void stack_read(stack_sites *sites) {
  sites->count = 0;
#ifdef __GLIBC__
  void *addresses[STACK_DEPTH];
  const int depth = backtrace(addresses, STACK_DEPTH);
  for (int i = 1; i < depth; i++)
    sites->address[sites->count++] = (uint64_t)(uintptr_t)addresses[i];
#endif
}

uint64_t stack_hash(const stack_sites *sites) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < sites->count; i++)
    hash = (hash ^ sites->address[i]) * UINT64_C(1099511628211);
  return sites->count == 0 ? 0 : hash | 1;
}

/* The slot that holds the hash, or the free one that it belongs into. */
static size_t stack_slot(const stack_set *set, uint64_t hash) {
  size_t slot = (size_t)(hash ^ hash >> 20) & (set->room - 1);
  while (set->slots[slot] != 0 && set->slots[slot] != hash)
    slot = (slot + 1) & (set->room - 1);
  return slot;
}

int stack_set_has(const stack_set *set, uint64_t hash) {
  return hash == 0 || (set->room > 0 && set->slots[stack_slot(set, hash)] == hash);
}

static void stack_set_grow(stack_set *set) {
  const stack_set old = *set;
  set->room = old.room == 0 ? STACK_SLOTS : 2 * old.room;
  set->slots = calloc(set->room, sizeof *set->slots);
  if (set->slots == NULL)
    abort();
  for (size_t i = 0; i < old.room; i++)
    if (old.slots[i] != 0)
      set->slots[stack_slot(set, old.slots[i])] = old.slots[i];
  free(old.slots);
}

int stack_set_add(stack_set *set, uint64_t hash) {
  if (stack_set_has(set, hash))
    return 0;
  if (2 * (set->count + 1) > set->room)
    stack_set_grow(set);
  set->slots[stack_slot(set, hash)] = hash;
  set->count++;
  return 1;
}

void stack_set_free(stack_set *set) {
  free(set->slots);
  *set = (stack_set){0};
}
