/* Two pipes: the input is written while the output is read, so that neither process can block
 * the other. */
#include "system/child_filter.h"

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

extern char **environ;

typedef struct child_pipes {
  int to_child[2];
  int from_child[2];
} child_pipes;

static void child_close(int *descriptor) {
  if (*descriptor >= 0)
    close(*descriptor);
  *descriptor = -1;
}

static void child_close_all(child_pipes *pipes) {
  for (int i = 0; i < 2; i++) {
    child_close(&pipes->to_child[i]);
    child_close(&pipes->from_child[i]);
  }
}

static int child_open(child_pipes *pipes) {
  *pipes = (child_pipes){{-1, -1}, {-1, -1}};
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
static int child_start(const child_pipes *pipes, const char *const *words, pid_t *child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t usual;
  union {
    const char *const *given;
    char *const *wanted; /* posix_spawn does not change the words */
  } list = {words};
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  sigaddset(&usual, SIGXFSZ);
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, pipes->to_child[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, pipes->from_child[1], STDOUT_FILENO);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int failure =
      posix_spawnp(child, words[0], &actions, &attributes, list.wanted, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failure;
}

/* Writes as much as the pipe takes; closes it at the end or when the child no longer reads. */
static void child_send(child_pipes *pipes, const char *input, size_t length, size_t *sent) {
  const ssize_t count = write(pipes->to_child[1], input + *sent, length - *sent);
  if (count > 0)
    *sent += (size_t)count;
  const int again = count < 0 && (errno == EAGAIN || errno == EINTR);
  if (*sent == length || (count < 0 && !again))
    child_close(&pipes->to_child[1]);
}

/* Reads output of the child; returns 0 at the end. */
static int child_receive(const child_pipes *pipes, pc_child_sink sink, void *user) {
  char bytes[8192];
  const ssize_t count = read(pipes->from_child[0], bytes, sizeof bytes);
  if (count > 0)
    sink(user, bytes, (size_t)count);
  return count > 0 || (count < 0 && errno == EINTR);
}

static void child_exchange(child_pipes *pipes, const char *input, size_t length,
                           pc_child_sink sink, void *user) {
  size_t sent = 0;
  child_close(&pipes->to_child[0]);
  child_close(&pipes->from_child[1]);
  for (;;) {
    struct pollfd wait[2] = {{pipes->from_child[0], POLLIN, 0},
                             {pipes->to_child[1], POLLOUT, 0}};
    if (poll(wait, 2, -1) < 0 && errno != EINTR)
      return;
    if (wait[1].revents)
      child_send(pipes, input, length, &sent);
    if (wait[0].revents && !child_receive(pipes, sink, user))
      return;
  }
}

static int child_finish(pid_t child) {
  int state = 0;
  while (waitpid(child, &state, 0) < 0)
    if (errno != EINTR)
      return 0;
  return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

int pc_child_available(const char *program) {
  const char *path = getenv("PATH");
  char name[4096];
  while (path && *path) {
    const size_t length = strcspn(path, ":");
    const int count = snprintf(name, sizeof name, "%.*s/%s", (int)length, path, program);
    if ((size_t)count < sizeof name && access(name, X_OK) == 0)
      return 1;
    path += length + (path[length] == ':');
  }
  return 0;
}

int pc_child_filter(const char *const *words, const char *input, size_t length,
                    pc_child_sink sink, void *user, int *succeeded) {
  child_pipes pipes;
  pid_t child = 0;
  *succeeded = 0;
  int failure = child_open(&pipes) ? 0 : errno;
  if (failure == 0)
    failure = child_start(&pipes, words, &child);
  if (failure == 0)
    child_exchange(&pipes, input, length, sink, user);
  child_close_all(&pipes);
  if (failure == 0)
    *succeeded = child_finish(child);
  return failure;
}
