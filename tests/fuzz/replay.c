/* Runs a fuzz target without libFuzzer, with any compiler: every file of its corpus once, then
 * inputs made by its mutator or, where it has none, of random bytes, then files of the corpus with
 * one byte changed, or cut: each byte, or in steps if that makes too many.
 *
 *   replay FOLDER [PERCENT [FORGED [MADE]]]    fails when fewer of the made inputs pass validation; at most
 *                                              about so many forged files; so many made inputs */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_choice.h"
#include "fuzz_count.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *count, char ***arguments) __attribute__((weak));
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
    __attribute__((weak));

enum {
  REPLAY_LARGEST = 1 << 20,
  REPLAY_MADE_LARGEST = 1 << 16,
  REPLAY_MADE = 400,
  REPLAY_CHOICES = 64,
  REPLAY_CHANGES = 6
};

/* In place of libFuzzer's: one bit. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) {
  if (size == 0 && max_size > 0)
    data[size++] = 'x';
  else if (size > 0)
    data[size / 2] ^= 1;
  return size;
}

static int replay_read(const char *path, uint8_t *bytes, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    return 0;
  }
  *size = fread(bytes, 1, REPLAY_LARGEST, file);
  const int fine = !ferror(file);
  fclose(file);
  return fine;
}

/* Files of the folder, in the order of their names, without hidden ones; free each and the list. */
static size_t replay_list(const char *name, char ***out) {
  struct dirent **entries = NULL;
  const int count = scandir(name, &entries, NULL, alphasort);
  size_t files = 0;
  *out = calloc(count > 0 ? (size_t)count : 1, sizeof **out);
  for (int i = 0; i < count; i++) {
    const size_t length = strlen(name) + strlen(entries[i]->d_name) + 2;
    if (entries[i]->d_name[0] != '.' && ((*out)[files] = malloc(length)) != NULL)
      snprintf((*out)[files++], length, "%s/%s", name, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  return files;
}

/* Several changes on top of each other, starting from a file of the corpus. */
static void replay_made(uint8_t *bytes, size_t size, unsigned seed) {
  if (size > REPLAY_MADE_LARGEST)
    return;
  for (unsigned step = 0; step < 4; step++) {
    size = LLVMFuzzerCustomMutator(bytes, size, REPLAY_MADE_LARGEST, seed * 4 + step);
    LLVMFuzzerTestOneInput(bytes, size);
  }
}

static size_t replay_files(char **files, size_t count, uint8_t *bytes) {
  size_t size = 0;
  for (size_t f = 0; f < count; f++) {
    if (!replay_read(files[f], bytes, &size))
      return 0;
    fprintf(stderr, "%s\n", files[f]);
    LLVMFuzzerTestOneInput(bytes, size);
  }
  return count;
}

/* The same inputs wherever they run: seeds count up, files come in the order of their names. */
static void replay_mutator(char **files, size_t count, size_t made, uint8_t *bytes) {
  size_t size = 0;
  unsigned seed = 0;
  for (size_t f = 0; f < count; f++)
    for (size_t r = 0; r <= made / (4 * count); r++)
      if (replay_read(files[f], bytes, &size))
        replay_made(bytes, size, seed++);
}

/* For targets that build their inputs from choices. */
static void replay_random(size_t made, uint8_t *bytes) {
  fuzz_choice choice = fuzz_choice_of_seed(1);
  for (size_t i = 0; i < made; i++) {
    for (size_t b = 0; b < REPLAY_CHOICES; b++)
      bytes[b] = (uint8_t)fuzz_any(&choice);
    LLVMFuzzerTestOneInput(bytes, REPLAY_CHOICES);
  }
}

/* Change number `change` of the byte at `at`; the last one cuts the file there. */
static void replay_forge(uint8_t *bytes, size_t size, size_t at, size_t change) {
  static const uint8_t values[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
  const uint8_t was = bytes[at];
  if (change == REPLAY_CHANGES - 1)
    size = at;
  else
    bytes[at] = values[change] != was ? values[change] : (uint8_t)(was ^ 2);
  LLVMFuzzerTestOneInput(bytes, size);
  bytes[at] = was;
}

static void replay_forged(char **files, size_t count, size_t most, uint8_t *bytes) {
  size_t all = 0, size = 0, next = 0, passed = 0;
  for (size_t f = 0; f < count; f++)
    all += replay_read(files[f], bytes, &size) ? size * REPLAY_CHANGES : 0;
  const size_t step = 1 + all / most;
  for (size_t f = 0; f < count; f++) {
    if (!replay_read(files[f], bytes, &size))
      size = 0;
    for (; next < passed + size * REPLAY_CHANGES; next += step)
      replay_forge(bytes, size, (next - passed) / REPLAY_CHANGES,
                   (next - passed) % REPLAY_CHANGES);
    passed += size * REPLAY_CHANGES;
  }
}

/* Returns 1 if enough of the made inputs were valid. */
static int replay_made_inputs(char **files, size_t count, size_t made, double least,
                              uint8_t *bytes) {
  const double before = fuzz_count_share(1);
  if (LLVMFuzzerCustomMutator != NULL)
    replay_mutator(files, count, made, bytes);
  else
    replay_random(made, bytes);
  const double share = fuzz_count_share(0);
  fprintf(stderr, "valid: %.1f %% of the corpus, %.1f %% with made inputs\n", before, share);
  if (share < least)
    fprintf(stderr, "only %.1f %% of the inputs are valid, not %.1f %%\n", share, least);
  return share >= least;
}

int main(int count, char **arguments) {
  uint8_t *bytes = malloc(REPLAY_LARGEST);
  char **files = NULL;
  const size_t found = count >= 2 ? replay_list(arguments[1], &files) : 0;
  const size_t made = count >= 5 ? strtoul(arguments[4], NULL, 10) : REPLAY_MADE;
  const size_t forged = count >= 4 ? strtoul(arguments[3], NULL, 10) : 0;
  if (LLVMFuzzerInitialize != NULL)
    LLVMFuzzerInitialize(&count, &arguments);
  int fine = bytes != NULL && replay_files(files, found, bytes) > 0;
  if (!fine)
    fprintf(stderr,
            "usage: replay FOLDER [PERCENT [FORGED [MADE]]]; all files must be readable\n");
  else
    fine = replay_made_inputs(files, found, made, count >= 3 ? atof(arguments[2]) : 0.0, bytes);
  if (fine && forged > 0)
    replay_forged(files, found, forged, bytes);
  for (size_t f = 0; f < found; f++)
    free(files[f]);
  free(files);
  free(bytes);
  return fine ? 0 : 1;
}
