#include "system/program_streams.h"

void pc_program_streams_start(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
}

int pc_program_reader_gone(int descriptor) {
  (void)descriptor;
  return 0;
}
