/* Runs a fuzz target without libFuzzer, with any compiler: every file of its corpus once, then
 * inputs made by its mutator or, where it has none, of random bytes.
 *
 *   replay FOLDER [PERCENT]    fails when fewer of those inputs pass validation */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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
  REPLAY_CHOICES = 64
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

/* Several changes on top of each other, starting from a file of the corpus. */
static void replay_made(uint8_t *bytes, size_t size, unsigned seed) {
  if (size > REPLAY_MADE_LARGEST)
    return;
  for (unsigned step = 0; step < 4; step++) {
    size = LLVMFuzzerCustomMutator(bytes, size, REPLAY_MADE_LARGEST, seed * 4 + step);
    LLVMFuzzerTestOneInput(bytes, size);
  }
}

static size_t replay_folder(DIR *folder, const char *name, uint8_t *bytes) {
  size_t count = 0, size = 0;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    char path[4096];
    if (entry->d_name[0] == '.')
      continue;
    snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
    if (!replay_read(path, bytes, &size))
      return 0;
    fprintf(stderr, "%s\n", path);
    LLVMFuzzerTestOneInput(bytes, size);
    count++;
  }
  return count;
}

/* The same inputs wherever they run: seeds count up, files come in the order of their names. */
static void replay_mutator(const char *name, uint8_t *bytes) {
  struct dirent **entries = NULL;
  const int count = scandir(name, &entries, NULL, alphasort);
  size_t size = 0;
  unsigned seed = 0;
  for (int i = 0; i < count; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", name, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.')
      for (int r = 0; r <= REPLAY_MADE / (4 * count); r++)
        if (replay_read(path, bytes, &size))
          replay_made(bytes, size, seed++);
    free(entries[i]);
  }
  free(entries);
}

/* For targets that build their inputs from choices. */
static void replay_random(uint8_t *bytes) {
  fuzz_choice choice = fuzz_choice_of_seed(1);
  for (int i = 0; i < REPLAY_MADE; i++) {
    for (size_t b = 0; b < REPLAY_CHOICES; b++)
      bytes[b] = (uint8_t)fuzz_any(&choice);
    LLVMFuzzerTestOneInput(bytes, REPLAY_CHOICES);
  }
}

int main(int count, char **arguments) {
  DIR *folder = count >= 2 ? opendir(arguments[1]) : NULL;
  uint8_t *bytes = malloc(REPLAY_LARGEST);
  size_t files = 0;
  int fine = 1;
  if (LLVMFuzzerInitialize != NULL)
    LLVMFuzzerInitialize(&count, &arguments);
  if (folder != NULL && bytes != NULL)
    files = replay_folder(folder, arguments[1], bytes);
  if (files == 0)
    fprintf(stderr, "usage: replay FOLDER [PERCENT], with at least one readable file in it\n");
  else {
    const double before = fuzz_count_share(1);
    if (LLVMFuzzerCustomMutator != NULL)
      replay_mutator(arguments[1], bytes);
    else
      replay_random(bytes);
    const double share = fuzz_count_share(0);
    const double least = count == 3 ? atof(arguments[2]) : 0.0;
    fprintf(stderr, "valid: %.1f %% of the corpus, %.1f %% with made inputs\n", before, share);
    fine = share >= least;
    if (!fine)
      fprintf(stderr, "only %.1f %% of the inputs are valid, not %.1f %%\n", share, least);
  }
  if (folder != NULL)
    closedir(folder);
  free(bytes);
  return files > 0 && fine ? 0 : 1;
}
