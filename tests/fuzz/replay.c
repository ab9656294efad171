/* Runs a fuzz target over every file of its corpus once, with any compiler: replay FOLDER. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REPLAY_LARGEST = 1 << 20 };

static int replay_file(const char *path, uint8_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    return 0;
  }
  const size_t size = fread(bytes, 1, REPLAY_LARGEST, file);
  const int fine = !ferror(file);
  fclose(file);
  printf("%s\n", path);
  fflush(stdout);
  if (fine)
    LLVMFuzzerTestOneInput(bytes, size);
  return fine;
}

static size_t replay_folder(DIR *folder, const char *name, uint8_t *bytes) {
  size_t count = 0;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    char path[4096];
    if (entry->d_name[0] == '.')
      continue;
    snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
    if (!replay_file(path, bytes))
      return 0;
    count++;
  }
  return count;
}

int main(int count, char **arguments) {
  DIR *folder = count == 2 ? opendir(arguments[1]) : NULL;
  uint8_t *bytes = malloc(REPLAY_LARGEST);
  size_t files = 0;
  if (folder != NULL && bytes != NULL)
    files = replay_folder(folder, arguments[1], bytes);
  if (files == 0)
    fprintf(stderr, "usage: replay FOLDER, with at least one readable file in it\n");
  if (folder != NULL)
    closedir(folder);
  free(bytes);
  return files > 0 ? 0 : 1;
}
