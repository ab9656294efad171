/* Runs rsvg-convert through two pipes, without a shell.  The SVG is written while the output is
 * read, so that neither process can block the other. */
#include "rsvg_convert.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"

#define RSVG_CONVERT_PROGRAM "rsvg-convert"

extern char **environ;

typedef struct rsvg_convert_pipes {
  int to_child[2];
  int from_child[2];
} rsvg_convert_pipes;

static void rsvg_convert_close(int *descriptor) {
  if (*descriptor >= 0)
    close(*descriptor);
  *descriptor = -1;
}

static void rsvg_convert_close_all(rsvg_convert_pipes *pipes) {
  for (int i = 0; i < 2; i++) {
    rsvg_convert_close(&pipes->to_child[i]);
    rsvg_convert_close(&pipes->from_child[i]);
  }
}

static int rsvg_convert_open(rsvg_convert_pipes *pipes) {
  *pipes = (rsvg_convert_pipes){{-1, -1}, {-1, -1}};
  if (pipe(pipes->to_child) != 0 || pipe(pipes->from_child) != 0)
    return 0;
  for (int i = 0; i < 2; i++) {
    fcntl(pipes->to_child[i], F_SETFD, FD_CLOEXEC);
    fcntl(pipes->from_child[i], F_SETFD, FD_CLOEXEC);
  }
  fcntl(pipes->to_child[1], F_SETFL, O_NONBLOCK);
  return 1;
}

/* Returns 0 or an errno. */
static int rsvg_convert_start(const rsvg_convert_pipes *pipes, const char *format,
                              pid_t *child) {
  char program[] = RSVG_CONVERT_PROGRAM, option[] = "-f", name[8];
  snprintf(name, sizeof name, "%s", format);
  char *const words[] = {program, option, name, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  sigaddset(&usual, SIGXFSZ);
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, pipes->to_child[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipes->from_child[1], STDOUT_FILENO);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int failure = posix_spawnp(child, program, &actions, &attributes, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failure;
}

/* Writes as much as the pipe takes; closes it at the end or when the child no longer reads. */
static void rsvg_convert_send(rsvg_convert_pipes *pipes, const cli_text_buffer *svg,
                              size_t *sent) {
  const ssize_t count = write(pipes->to_child[1], svg->text + *sent, svg->length - *sent);
  if (count > 0)
    *sent += (size_t)count;
  const int again = count < 0 && (errno == EAGAIN || errno == EINTR);
  if (*sent == svg->length || (count < 0 && !again))
    rsvg_convert_close(&pipes->to_child[1]);
}

/* Reads output of the child; returns 0 at the end. */
static int rsvg_convert_receive(rsvg_convert_pipes *pipes, cli_text_buffer *out) {
  char bytes[8192];
  const ssize_t count = read(pipes->from_child[0], bytes, sizeof bytes);
  if (count > 0)
    cli_put_bytes(out, bytes, (size_t)count);
  return count > 0 || (count < 0 && errno == EINTR);
}

static void rsvg_convert_exchange(rsvg_convert_pipes *pipes, const cli_text_buffer *svg,
                                  cli_text_buffer *out) {
  size_t sent = 0;
  rsvg_convert_close(&pipes->to_child[0]);
  rsvg_convert_close(&pipes->from_child[1]);
  for (;;) {
    struct pollfd wait[2] = {{pipes->from_child[0], POLLIN, 0},
                             {pipes->to_child[1], POLLOUT, 0}};
    if (poll(wait, 2, -1) < 0 && errno != EINTR)
      return;
    if (wait[1].revents)
      rsvg_convert_send(pipes, svg, &sent);
    if (wait[0].revents && !rsvg_convert_receive(pipes, out))
      return;
  }
}

static int rsvg_convert_finish(pid_t child) {
  int state = 0;
  while (waitpid(child, &state, 0) < 0)
    if (errno != EINTR)
      return 0;
  return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

int cli_rsvg_convert_available(void) {
  const char *path = getenv("PATH");
  char name[4096];
  while (path && *path) {
    const size_t length = strcspn(path, ":");
    const int count =
        snprintf(name, sizeof name, "%.*s/%s", (int)length, path, RSVG_CONVERT_PROGRAM);
    if (count > 0 && (size_t)count < sizeof name && access(name, X_OK) == 0)
      return 1;
    path += length + (path[length] == ':');
  }
  return 0;
}

pcal_status cli_rsvg_convert(const cli_text_buffer *svg, const char *format, const char *path,
                             cli_text_buffer *out, pcal_error *err) {
  rsvg_convert_pipes pipes;
  pid_t child = 0;
  if (!rsvg_convert_open(&pipes)) {
    rsvg_convert_close_all(&pipes);
    return cli_fail(err, PCAL_IO, "%s: no pipe to " RSVG_CONVERT_PROGRAM ": %s", path,
                    strerror(errno));
  }
  const int failure = rsvg_convert_start(&pipes, format, &child);
  if (failure != 0)
    rsvg_convert_close_all(&pipes);
  if (failure == ENOMEM)
    return cli_fail(err, PCAL_MEMORY, "out of memory while starting " RSVG_CONVERT_PROGRAM);
  if (failure != 0) {
    return cli_fail(err, PCAL_IO,
                    "%s: PNG and PDF are made by the program " RSVG_CONVERT_PROGRAM
                    ", which cannot be started (%s); install librsvg2-bin or write .svg",
                    path, strerror(failure));
  }
  rsvg_convert_exchange(&pipes, svg, out);
  rsvg_convert_close_all(&pipes);
  const int finished = rsvg_convert_finish(child);
  if (out->failed)
    return cli_text_buffer_check(out, err);
  if (!finished || out->length == 0)
    return cli_fail(err, PCAL_IO, "%s: " RSVG_CONVERT_PROGRAM " failed; write .svg instead",
                    path);
  return PCAL_OK;
}
