#include "hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/fault.h"
#include "../base/smallfile.h"

#define MOST_ASKING_MS 5000
#define LOOK_EVERY_MS 10
#define MOST_INHERITED 1024

/* ---- Parsing ---- */

/* Letters, digits and . _ -, and never what the protocol separates by: a colon, a blank. These two are no hosts: a
 * value for them would count for all. */
static bool is_host(struct span text) {
  if (text.len == 0 || text.len > HOST_LENGTH || span_is(text, SPAN("global")) || span_is(text, SPAN("template")))
    return false;
  for (size_t i = 0; i < text.len; i++)
    if (!is_of_names(text.at[i])) return false;
  return is_letter(text.at[0]) || is_digit(text.at[0]);
}

/* A line without its comment and the blanks around it. */
static struct span host_in(struct span line) {
  const char *comment = find_char(line, '#');
  if (comment != NULL) line.len = (size_t)(comment - line.at);
  return trimmed(line);
}

static void hosts_add(struct hosts *out, struct span line, char **to) {
  const struct span host = host_in(line);
  if (host.len == 0) return;
  if (!is_host(host) || out->count == MOST_HOSTS) {
    out->left_out++;
    return;
  }
  out->names[out->count++] = *to;
  memcpy(*to, host.at, host.len);
  (*to)[host.len] = 0;
  *to += host.len + 1;
}

/* The names on the board behind the others. */
static void hosts_map(struct hosts *out, char *to) {
  for (size_t i = 0; i < out->count; i++) {
    const char *name = out->names[i];
    out->on_board[i] = strlen(name) > NAME_LENGTH ? "" : board_name(&out->exceptions, name, to);
    if (out->on_board[i] == to) to += strlen(to) + 1;
  }
}

bool hosts_parse(struct hosts *out, struct span text, struct exceptions *exceptions) {
  size_t lines = 1;
  for (size_t i = 0; i < text.len; i++) lines += text.at[i] == '\n';
  *out = (struct hosts){.exceptions = *exceptions};
  *exceptions = (struct exceptions){0};
  out->texts = (char *)malloc(2 * (text.len + 1) + NAME_LENGTH + 1);
  out->names = (const char **)malloc(lines * sizeof *out->names);
  out->on_board = (const char **)malloc(lines * sizeof *out->on_board);
  if (out->texts == NULL || out->names == NULL || out->on_board == NULL) {
    hosts_free(out);
    return false;
  }
  struct span left = text, line;
  char *to = out->texts;
  while (next_part(&left, '\n', &line)) hosts_add(out, line, &to);
  hosts_map(out, to);
  return true;
}

void hosts_free(struct hosts *hosts) {
  free(hosts->texts);
  free(hosts->names);
  free(hosts->on_board);
  exceptions_free(&hosts->exceptions);
  *hosts = (struct hosts){0};
}

/* ---- Asking ---- */

/* Of all that we have open, it inherits stderr alone: with the pipe to execd, it would hold that open after our end. */
static void become(const char *program, int output) {
  signal(SIGPIPE, SIG_DFL);
  signal(SIGBUS, SIG_DFL);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = open("/dev/null", O_RDONLY);
  if (dup2(nothing, STDIN_FILENO) == -1 || dup2(output, STDOUT_FILENO) == -1) _exit(127);
  for (int fd = STDERR_FILENO + 1; fd < MOST_INHERITED; fd++) close(fd);
  char *const argv[] = {(char *)program, "-sel", NULL};
  execvp(program, argv);
  _exit(127);
}

/* All that comes before the end of the time; NULL, or why that is not the whole. */
static const char *read_until(int fd, int64_t end_ms, char *text, size_t *length) {
  for (*length = 0; *length <= MOST_FILE;) {
    const int64_t left = end_ms - bb_clock_ms(CLOCK_MONOTONIC);
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (left <= 0 || poll(&ready, 1, (int)left) == 0) return "does not answer within 5 s";
    const ssize_t got = read(fd, text + *length, MOST_FILE + 1 - *length);
    if (got == 0) return NULL;
    if (got < 0 && errno != EINTR && errno != EAGAIN) return strerror(errno);
    *length += got > 0 ? (size_t)got : 0;
  }
  return "writes more than 8 MiB";
}

/* NULL, or why its output is not to be trusted. One that cannot even be killed is left, and taken up at its end. */
static const char *await_end(pid_t pid, int64_t end_ms) {
  int status;
  pid_t ended;
  while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && bb_clock_ms(CLOCK_MONOTONIC) < end_ms)
    poll(NULL, 0, LOOK_EVERY_MS);
  if (ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0) return NULL;
  if (ended != pid) kill(-pid, SIGKILL);
  return ended != pid ? "does not end within 5 s" : WIFEXITED(status) && WEXITSTATUS(status) == 127 ? "cannot be run"
    : "failed";
}

static const char *ask_program(const char *program, char *text, size_t *length) {
  int ends[2];
  const int64_t end_ms = bb_clock_ms(CLOCK_MONOTONIC) + MOST_ASKING_MS;
  while (waitpid(-1, NULL, WNOHANG) > 0) {} /* one that was left */
  if (pipe2(ends, O_CLOEXEC) != 0) return strerror(errno);
  const pid_t pid = fork();
  if (pid == 0) become(program, ends[1]);
  if (pid > 0) setpgid(pid, pid); /* whoever comes first: what it starts is killed with it */
  close(ends[1]);
  const char *why = pid == -1 ? strerror(errno) : read_until(ends[0], end_ms, text, length);
  close(ends[0]);
  if (pid == -1) return why;
  if (why != NULL) kill(-pid, SIGKILL);
  const char *end = await_end(pid, end_ms);
  return why != NULL ? why : end;
}

/* The text is the caller's to free. */
static const char *hosts_ask(const char *program, char **text, size_t *length) {
  *text = (char *)malloc(MOST_FILE + 1); /* pages are allocated only when they are read into */
  const char *why = *text == NULL ? "out of memory" : ask_program(program, *text, length);
  return why == NULL ? NULL : fault("%s -sel: %s", quoted(program, strlen(program)), why);
}

const char *hosts_read(struct hosts *out, const char *file, const char *program, struct exceptions *exceptions) {
  char *text;
  size_t length = 0;
  double age;
  const char *why = file != NULL ? smallfile_read(file, &text, &length, &age) : hosts_ask(program, &text, &length);
  if (why != NULL) exceptions_free(exceptions);
  else if (!hosts_parse(out, (struct span){text, length}, exceptions)) why = "out of memory";
  free(text);
  if (why != NULL || out->count > 0) return why;
  hosts_free(out);
  return file != NULL ? fault("%s names no hosts", quoted(file, strlen(file)))
    : fault("%s -sel names no hosts", quoted(program, strlen(program)));
}
