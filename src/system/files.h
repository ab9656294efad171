/* Files by descriptor.  Unless stated otherwise, functions return -1 on failure and set errno.
 * Paths are UTF-8 on every system. */
#ifndef PC_FILES_H
#define PC_FILES_H

#include <stddef.h>
#include <stdint.h>

enum { PC_STANDARD_INPUT = 0, PC_STANDARD_OUTPUT = 1, PC_STANDARD_ERROR = 2 };

typedef enum pc_file_kind {
  PC_FILE_OTHER = 0, /* pipe, socket */
  PC_FILE_REGULAR,
  PC_FILE_DIRECTORY,
  PC_FILE_LINK,
  PC_FILE_CHARACTER_DEVICE,
  PC_FILE_BLOCK_DEVICE
} pc_file_kind;

typedef struct pc_file_info {
  pc_file_kind kind;
  uint64_t size;
  uint64_t device, number; /* two files with equal pairs are the same file */
  uint64_t links;          /* names of the file */
  int64_t seconds;         /* time of the last change of its content */
  long nanoseconds;
  uint32_t mode, user, group; /* 0 on systems that have none */
} pc_file_info;

/* Opens for reading. */
int pc_file_open(const char *path);

/* Opens for reading, but neither a symbolic link nor a pipe that would block. */
int pc_file_open_plain(const char *path);

/* Opens an existing pipe or device for writing. */
int pc_file_open_direct(const char *path);

/* Creates a file for writing; fails with EEXIST if it exists.  `secret`: only this user may
 * read it. */
int pc_file_create(const char *path, int secret);

/* Creates a file without a name in a directory, and gives it one.  -1 where the system cannot;
 * then a file must be created under a temporary name. */
int pc_file_create_nameless(const char *directory);
int pc_file_give_name(int descriptor, const char *path);

/* Another descriptor of the same file. */
int pc_file_duplicate(int descriptor);

/* Return the number of bytes, 0 at the end of the file. */
int64_t pc_file_read(int descriptor, void *bytes, size_t count);
int64_t pc_file_read_at(int descriptor, void *bytes, size_t count, uint64_t offset);
int64_t pc_file_write(int descriptor, const void *bytes, size_t count);

int pc_file_describe(int descriptor, pc_file_info *out);
int pc_file_is_terminal(int descriptor);

/* True if no other user can have written the file. */
int pc_file_is_private(const pc_file_info *info);

/* Writes the data to the disk. */
int pc_file_sync(int descriptor);
int pc_file_close(int descriptor);

/* Gives a new file the mode and, if permitted, the owner of the file that it will replace. */
int pc_file_copy_owner(int descriptor, const pc_file_info *replaced);

/* Maps a regular file for reading; NULL on failure. */
void *pc_file_map(int descriptor, size_t length);
void pc_file_unmap(void *mapping, size_t length);
/* Gives back pages of a mapping, which several threads can do; they are read again when they
 * are used. */
void pc_file_map_forget(void *pages, size_t length);

#endif
