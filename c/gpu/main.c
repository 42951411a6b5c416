/* The GPU helper: asks NVIDIA's library about the GPUs, and writes the result for the senders, which load no vendor
 * library. It may hang in a call, or in the driver below it, for any time: the file then gets old, and senders
 * notice its age. Allocates no memory of its own after the start. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base/fault.h"
#include "../base/say.h"
#include "gpufile_writer.h"
#include "gpus_nvml.h"

#define PROGRAM "beoboard-gpu"
const char program[] = PROGRAM;

#ifndef BEOBOARD_VERSION
#define BEOBOARD_VERSION "0.0.0"
#endif

/* Exit codes: done, could not, usage, could not write to stdout (as EX_IOERR of sysexits.h). */
enum { DONE = 0, COULD_NOT = 1, USAGE = 2, WRITE_FAILED = 74 };

/* The pause after trouble that may last: a driver is being loaded, a GPU is being reset. */
#define TRY_AGAIN_MS 60000

static const char help_text[] =
  "Usage: " PROGRAM " [options]\n"
  "\n"
  "write the readings of NVIDIA GPUs for the sender\n"
  "\n"
  "Options:\n"
  "  --file FILE       the GPU file (default: /run/beoboard/gpu)\n"
  "  --interval TIME   time between two writes, 100ms to 9s (default: 5s); senders\n"
  "                    ignore a file of more than 10 s\n"
  "  --once            write the file once, and exit\n"
  "  --library PATH    another NVML library (default: libnvidia-ml.so.1)\n"
  "  -h, --help        show this help\n"
  "  -V, --version     show the version\n"
  "\n"
  "SIGTERM and SIGINT stop it at once; the file stays, and its age shows that nobody writes it. SIGHUP loads NVML again. Without a "
  "signal this is tried every minute while NVML cannot be used or a GPU is lost.\n"
  "\n"
  "Examples:\n"
  "  " PROGRAM "\n"
  "  " PROGRAM " --once --file /tmp/gpu && cat /tmp/gpu\n";

static struct {
  const char *file, *library;
  int64_t interval_ms;
  bool once;
} options = {"/run/beoboard/gpu", "libnvidia-ml.so.1", 5000, false};

/* The reader of an option's value returns why it is invalid, or NULL. */
typedef const char *reader(const char *text);

static const char *read_path(const char *text, const char **into) {
  *into = text;
  if (text[0] == 0) return "'' is not a file name; write a path";
  return strlen(text) <= MOST_PATH ? NULL : fault("'%.59s\xe2\x80\xa6' is longer than 512 bytes; write a shorter path", text);
}

static const char *read_file(const char *text) { return read_path(text, &options.file); }

static const char *read_library(const char *text) { return read_path(text, &options.library); }

/* Whole milliseconds of 250ms, 1.5s, 2m or 1h; nothing else, and no number without a unit. */
static const char *read_interval(const char *text) {
  static const struct {
    const char *name;
    double ms;
  } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60e3}, {"h", 3600e3}, {"d", 86400e3}};
  const size_t whole = strspn(text, "0123456789"), part = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
  const char *unit = text + whole + (text[whole] == '.' ? 1 + part : 0);
  double ms = 0;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp(unit, units[i].name) == 0) ms = units[i].ms;
  const bool number = whole > 0 && (text[whole] != '.' || part > 0);
  if (number && *unit == 0) return fault("'%.60s' has no unit; write %.60ss or %.60sms", text, text, text);
  if (!number || ms == 0) return fault("'%.60s' is not a time; write a number and ms, s, m, h or d, as in 250ms or 1.5s", text);
  ms *= strtod(text, NULL); /* stops at the unit */
  if (!(ms >= 100 && ms <= 9000)) return fault("'%.60s' is out of bounds; write 100ms to 9s", text);
  options.interval_ms = (int64_t)(ms + 0.5);
  if (ms - (double)options.interval_ms > 1e-6 || (double)options.interval_ms - ms > 1e-6)
    return fault("'%.60s' is not a whole number of ms; write %dms", text, (int)options.interval_ms);
  return NULL;
}

static struct option {
  const char *name, *value; /* the word for the value in errors; NULL: a flag */
  reader *read;
  unsigned times;
} table[] = {
  {"--file", "FILE", read_file, 0},
  {"--interval", "TIME", read_interval, 0},
  {"--once", NULL, NULL, 0},
  {"--library", "PATH", read_library, 0},
};

static struct option *find(const char *argument, size_t length) {
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (strlen(table[i].name) == length && strncmp(table[i].name, argument, length) == 0) return &table[i];
  return NULL;
}

/* One line for a user who called us, whatever format the log has. */
static int refuse(const char *why) {
  for (const char *at = why; *at != 0; at++) fputc((unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at, stderr);
  fputc('\n', stderr);
  return USAGE;
}

static void show(const char *text) {
  const bool shown = fputs(text, stdout) >= 0 && fflush(stdout) == 0;
  exit(shown || errno == EPIPE ? DONE : WRITE_FAILED);
}

static const char *read_value(struct option *option, const char *text) {
  if (text == NULL) return fault(PROGRAM ": %s has no value; write %s %s", option->name, option->name, option->value);
  if (strncmp(text, "--", 2) == 0 && find(text, strlen(text)) != NULL)
    return fault(PROGRAM ": %s has no value, %s follows it; write %s %s", option->name, text, option->name, option->value);
  const char *why = option->read(text);
  if (why == NULL) return NULL;
  char reason[400];
  snprintf(reason, sizeof reason, "%s", why);
  return fault(PROGRAM ": %s: %s", option->name, reason);
}

/* NULL, or the error in the command line; -h and -V end the program. */
static const char *read_options(int argc, char *argv[]) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) show(help_text);
    if (strcmp(argv[i], "-V") == 0 || strcmp(argv[i], "--version") == 0) show(BEOBOARD_VERSION "\n");
  }
  for (int i = 1; i < argc; i++) {
    const size_t length = strcspn(argv[i], "=");
    const char *value = argv[i][length] == '=' ? argv[i] + length + 1 : NULL;
    struct option *option = find(argv[i], length);
    if (option == NULL && argv[i][0] == '-' && argv[i][1] != 0)
      return fault(PROGRAM ": unknown option '%.*s'; see " PROGRAM " --help", length < 60 ? (int)length : 60, argv[i]);
    if (option == NULL) return fault(PROGRAM ": '%.60s' is one argument too many; see " PROGRAM " --help", argv[i]);
    option->times++;
    if (option->value == NULL && value != NULL) return fault(PROGRAM ": %s takes no value; write %s", option->name, option->name);
    if (option->value == NULL) continue;
    if (option->times > 1) return fault(PROGRAM ": %s is given %u times; give it once", option->name, option->times);
    if (value == NULL && ++i < argc) value = argv[i];
    const char *why = read_value(option, value);
    if (why != NULL) return why;
  }
  options.once = find("--once", 6)->times > 0;
  return NULL;
}

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_open;
static int64_t open_again_at; /* 0: the library works */

static void close_library(void) {
  if (is_open) gpus_close();
  is_open = false;
}

/* NULL if the file was written; otherwise the error. */
static const char *go_round(unsigned *count) {
  const struct line *lines;
  const char *why = is_open ? NULL : gpus_open(options.library);
  is_open = why == NULL;
  if (why == NULL && (why = gpus_read(&lines, count)) != NULL) close_library();
  if (!is_open || gpus_are_lost()) {
    if (open_again_at == 0) open_again_at = now_ms() + TRY_AGAIN_MS;
  } else {
    open_again_at = 0;
  }
  return why != NULL ? why : gpufile_write(lines, *count);
}

/* Logs a change from the last round. */
static void tell_change(const char *why, unsigned count) {
  static char last[700];
  char text[sizeof last];
  const bool seconds = options.interval_ms % 1000 == 0;
  if (why != NULL)
    snprintf(text, sizeof text, "%.600s; %s", why, is_open ? "goes on trying" : "tries again every minute");
  else
    snprintf(text, sizeof text, "ready: %u GPU%s every %d%s to %s", count, count == 1 ? "" : "s",
             (int)options.interval_ms / (seconds ? 1000 : 1), seconds ? "s" : "ms", options.file);
  if (strcmp(last, text) == 0) return;
  memcpy(last, text, sizeof last);
  say(why != NULL ? SAY_ERROR : SAY_INFO, text, (char *)NULL);
}

/* Waits until then, or until SIGHUP, which is blocked at any other time and so is never missed. */
static bool wait_until(int64_t then, const sigset_t *hangup) {
  const int64_t left = then - now_ms();
  if (left < 0) return false;
  const struct timespec most = {.tv_sec = (time_t)(left / 1000), .tv_nsec = (long)(left % 1000) * 1000000};
  return sigtimedwait(hangup, NULL, &most) == SIGHUP;
}

static void run(const sigset_t *hangup) {
  for (int64_t next = now_ms();;) {
    unsigned count = 0;
    const char *why = go_round(&count);
    tell_change(why, count);
    const int64_t now = now_ms();
    next += options.interval_ms;
    if (next < now) next = now + options.interval_ms;
    if (wait_until(is_open ? next : open_again_at, hangup) || (open_again_at != 0 && now_ms() >= open_again_at)) {
      close_library();
      open_again_at = 0;
    }
  }
}

/* Also during a call that hangs, if the kernel can interrupt it. NVML is not shut down: the kernel closes its files. */
static void end(int signal) {
  (void)signal;
  gpufile_abandon();
  _exit(DONE);
}

int main(int argc, char *argv[]) {
  signal(SIGPIPE, SIG_IGN);
  const char *why = read_options(argc, argv);
  if (why != NULL) return refuse(why);
  umask(022); /* senders of any user must be able to read it */
  if ((why = gpufile_open(options.file)) != NULL) {
    say(SAY_ERROR, why, (char *)NULL);
    return COULD_NOT;
  }
  sigset_t hangup;
  sigemptyset(&hangup);
  sigaddset(&hangup, SIGHUP);
  sigprocmask(SIG_BLOCK, &hangup, NULL);
  const struct sigaction ends = {.sa_handler = end};
  sigaction(SIGTERM, &ends, NULL);
  sigaction(SIGINT, &ends, NULL);
  if (!options.once) run(&hangup);
  unsigned count = 0;
  why = go_round(&count);
  close_library();
  if (why != NULL) say(SAY_ERROR, why, (char *)NULL);
  return why == NULL ? DONE : COULD_NOT;
}
