#define _GNU_SOURCE /* registers in signal handlers */
#include "row_trap.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define ROW_TRAP_ARRAYS 8
#define ROW_TRAP_REACH 64 /* bytes that an instruction reads at most */

static size_t row_trap_pages(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (bytes + ROW_TRAP_REACH + page - 1) / page * page;
}

void *row_trap_room(size_t bytes) {
  void *room = mmap(NULL, row_trap_pages(bytes), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED)
    abort();
  return room;
}

void row_trap_free(void *room, size_t bytes) {
  munmap(room, row_trap_pages(bytes));
}

#if defined(__linux__) && defined(__x86_64__)

#define ROW_TRAP_SINGLE_STEP 0x100 /* of the flags register */

typedef struct row_trap_part {
  row_writer_array array;
  size_t bytes;
  int open; /* for the instruction that runs */
} row_trap_part;

/* What handlers need; a test has one at a time. */
static struct {
  row_trap_part parts[ROW_TRAP_ARRAYS];
  size_t count;
  uint64_t state;
  unsigned rarity;
  unsigned char kept[sizeof(double)]; /* the old bits of what is changed, */
  void *changed;                      /* or NULL */
  size_t changed_bytes;
  struct sigaction fault, step; /* of others */
} row_trap;

int row_trap_possible(void) {
  return 1;
}

static void row_trap_open(row_trap_part *part, int open) {
  if (part->open != open)
    mprotect(part->array.cells, row_trap_pages(part->bytes),
             open ? PROT_READ | PROT_WRITE : PROT_NONE);
  part->open = open;
}

static void row_trap_open_all(int open) {
  for (size_t i = 0; i < row_trap.count; i++)
    row_trap_open(&row_trap.parts[i], open);
}

static row_trap_part *row_trap_find(const char *address) {
  for (size_t i = 0; i < row_trap.count; i++) {
    const char *first = row_trap.parts[i].array.cells;
    if (address >= first && address < first + row_trap_pages(row_trap.parts[i].bytes))
      return &row_trap.parts[i];
  }
  return NULL;
}

/* Changes a cell that the instruction may read. */
static void row_trap_change(const row_trap_part *part, const char *address) {
  const size_t width = row_writer_width(part->array.type);
  const size_t first = (size_t)(address - (const char *)part->array.cells) / width;
  const size_t at =
      first + (size_t)(row_writer_draw(&row_trap.state) >> 20) % (ROW_TRAP_REACH / width);
  if (at >= part->array.count)
    return;
  char *cell = (char *)part->array.cells + at * width;
  memcpy(row_trap.kept, cell, width);
  row_writer_put(&part->array, at, &row_trap.state);
  row_trap.changed = cell;
  row_trap.changed_bytes = width;
}

static void row_trap_restore(void) {
  if (row_trap.changed == NULL)
    return;
  row_trap_open(row_trap_find(row_trap.changed), 1);
  memcpy(row_trap.changed, row_trap.kept, row_trap.changed_bytes);
  row_trap.changed = NULL;
}

static void row_trap_fault(int signal_number, siginfo_t *about, void *context) {
  row_trap_part *part = row_trap_find(about->si_addr);
  if (part == NULL) { /* not ours: a crash */
    sigaction(signal_number, &row_trap.fault, NULL);
    return;
  }
  row_trap_restore();
  row_trap_open(part, 1);
  if (row_writer_draw(&row_trap.state) % row_trap.rarity == 0)
    row_trap_change(part, about->si_addr);
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= ROW_TRAP_SINGLE_STEP;
}

static void row_trap_step(int signal_number, siginfo_t *about, void *context) {
  (void)signal_number;
  (void)about;
  if (row_writer_draw(&row_trap.state) % 4 != 0) /* else it stays until the next access */
    row_trap_restore();
  row_trap_open_all(0);
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)ROW_TRAP_SINGLE_STEP;
}

static void row_trap_handle(int signal_number, void (*handler)(int, siginfo_t *, void *),
                            struct sigaction *before) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(signal_number, &action, before);
}

void row_trap_start(const row_writer_array *arrays, size_t count, uint64_t seed,
                    unsigned rarity) {
  row_trap.count = 0;
  for (size_t i = 0; i < count && i < ROW_TRAP_ARRAYS; i++)
    if (arrays[i].cells != NULL && arrays[i].count > 0)
      row_trap.parts[row_trap.count++] =
          (row_trap_part){arrays[i], arrays[i].count * row_writer_width(arrays[i].type), 1};
  row_trap.state = seed * 0x9E3779B97F4A7C15u + 1;
  row_trap.rarity = rarity;
  row_trap.changed = NULL;
  row_trap_handle(SIGSEGV, row_trap_fault, &row_trap.fault);
  row_trap_handle(SIGTRAP, row_trap_step, &row_trap.step);
  row_trap_open_all(0);
}

void row_trap_stop(void) {
  row_trap_restore();
  row_trap_open_all(1);
  sigaction(SIGSEGV, &row_trap.fault, NULL);
  sigaction(SIGTRAP, &row_trap.step, NULL);
}

#else

int row_trap_possible(void) {
  return 0;
}

void row_trap_start(const row_writer_array *arrays, size_t count, uint64_t seed,
                    unsigned rarity) {
  (void)arrays, (void)count, (void)seed, (void)rarity;
}

void row_trap_stop(void) {}

#endif
