/* A set of call stacks, so that a sweep can visit each place of the library once. */
#ifndef STACK_SET_H
#define STACK_SET_H

#include <stddef.h>
#include <stdint.h>

/* Starts zeroed; stack_set_free empties it. */
typedef struct stack_set {
  uint64_t *slots; /* a power of two; 0: free */
  size_t room, count;
} stack_set;

#define STACK_DEPTH 64

/* The return addresses of the callers, innermost first; none where stacks cannot be read. */
typedef struct stack_sites {
  uint64_t address[STACK_DEPTH];
  size_t count;
} stack_sites;

void stack_read(stack_sites *sites);
/* A hash of all addresses; 0 without any. */
uint64_t stack_hash(const stack_sites *sites);
/* Returns 1 if it is in the set. */
int stack_set_has(const stack_set *set, uint64_t hash);
/* Returns 1 if it is new; 0 and hash 0: it was there. */
int stack_set_add(stack_set *set, uint64_t hash);
void stack_set_free(stack_set *set);

#endif
