/* lock_file FILE: opens a file on Windows so that no other program can replace it, prints "locked",
 * and keeps it open until standard input ends.  For tools/check-systems. */
#include <stdio.h>
#include <windows.h>

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  HANDLE file = CreateFileA(argv[1], GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
  if (file == INVALID_HANDLE_VALUE)
    return 1;
  puts("locked");
  fflush(stdout);
  while (getchar() != EOF) {
  }
  CloseHandle(file);
  return 0;
}
