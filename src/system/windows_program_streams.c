#include "system/program_streams.h"

#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <windows.h>

#include <shellapi.h>

/* Returns NULL on failure; lives as long as the program. */
static char *program_streams_utf8(const wchar_t *text) {
  const int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
  char *out = size > 0 ? malloc((size_t)size) : NULL;
  if (out != NULL)
    WideCharToMultiByte(CP_UTF8, 0, text, -1, out, size, NULL, NULL);
  return out;
}

/* Keeps the given arguments if memory runs out. */
static void program_streams_arguments(int *argc, char ***argv) {
  int count = 0;
  wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &count);
  char **words = wide == NULL ? NULL : calloc((size_t)count + 1, sizeof *words);
  int converted = 0;
  while (words != NULL && converted < count) {
    words[converted] = program_streams_utf8(wide[converted]);
    if (words[converted] == NULL)
      break;
    converted++;
  }
  LocalFree(wide);
  if (words == NULL || converted < count)
    return;
  *argc = count;
  *argv = words;
}

void pc_program_streams_start(int *argc, char ***argv) {
  for (int descriptor = 0; descriptor <= 2; descriptor++)
    _setmode(descriptor, _O_BINARY);
  SetConsoleOutputCP(CP_UTF8);
  program_streams_arguments(argc, argv);
}

int pc_program_reader_gone(int descriptor) {
  DWORD written = 0;
  const HANDLE handle = (HANDLE)_get_osfhandle(descriptor);
  return GetFileType(handle) == FILE_TYPE_PIPE && !WriteFile(handle, "", 0, &written, NULL);
}
