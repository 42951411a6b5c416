/* The GPU helper: asks NVIDIA's library about the GPUs, and writes the result for the senders, which load no vendor
 * library. It may hang in a call, or in the driver below it, for any time: the file then gets old, and senders
 * notice its age. Allocates no memory of its own after the start. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/optionline.h"
#include "../base/optionvalues.h"
#include "../base/startup.h"
#include "gpufile_writer.h"
#include "gpus_nvml.h"

#define PROGRAM "beoboard-gpu"
const char program[] = PROGRAM;

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
  "SIGTERM and SIGINT stop it at once; the file stays, and its age shows that nobody writes it. SIGHUP loads NVML "
  "again. Without a signal this is tried every minute while NVML cannot be used or a GPU is lost.\n"
  "\n"
  "Examples:\n"
  "  " PROGRAM "\n"
  "  " PROGRAM " --once --file /tmp/gpu && cat /tmp/gpu\n";

static struct options {
  const char *file, *library;
  int64_t interval_ms;
  bool once;
} options = {"/run/beoboard/gpu", "libnvidia-ml.so.1", 5000, false};

static bool read_interval(struct span text, void *field, struct words *why) {
  uint64_t ms;
  if (!value_time(text, 100, 9000, "100ms to 9s", &ms, why)) return false;
  *(int64_t *)field = (int64_t)ms;
  return true;
}

static const struct option options_of_gpu[] = {
  {.name = "file", .value = "FILE", .read = value_path, AT(file)},
  {.name = "interval", .value = "TIME", .read = read_interval, AT(interval_ms)},
  {.name = "once", AT(once)},
  {.name = "library", .value = "PATH", .read = value_path, AT(library)},
};
static const struct option_table table = {OPTIONS_OF(options_of_gpu)};

static bool is_open;
static int64_t open_again_at; /* 0: the library works */

static void close_library(void) {
  if (is_open) gpus_close();
  is_open = false;
}

/* NULL if the file was written; otherwise the error. */
static const char *go_round(unsigned *count) {
  const struct gpu_line *lines;
  const char *why = is_open ? NULL : gpus_open(options.library);
  is_open = why == NULL;
  if (why == NULL && (why = gpus_read(&lines, count)) != NULL) close_library();
  if (!is_open || gpus_are_lost()) {
    if (open_again_at == 0) open_again_at = bb_clock_ms(CLOCK_MONOTONIC) + TRY_AGAIN_MS;
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
  const int64_t left = then - bb_clock_ms(CLOCK_MONOTONIC);
  if (left < 0) return false;
  const struct timespec most = {.tv_sec = (time_t)(left / 1000), .tv_nsec = (long)(left % 1000) * 1000000};
  return sigtimedwait(hangup, NULL, &most) == SIGHUP;
}

static void gpu_run(const sigset_t *hangup) {
  for (int64_t next = bb_clock_ms(CLOCK_MONOTONIC);;) {
    unsigned count = 0;
    const char *why = go_round(&count);
    tell_change(why, count);
    const int64_t now = bb_clock_ms(CLOCK_MONOTONIC);
    next += options.interval_ms;
    if (next < now) next = now + options.interval_ms;
    if (wait_until(is_open ? next : open_again_at, hangup) ||
        (open_again_at != 0 && bb_clock_ms(CLOCK_MONOTONIC) >= open_again_at)) {
      close_library();
      open_again_at = 0;
    }
  }
}

/* Also during a call that hangs, if the kernel can interrupt it. NVML is not shut down: the kernel closes its files. */
static void gpu_end(int signal) {
  (void)signal;
  gpufile_abandon();
  _exit(DONE);
}

int main(int argc, char *argv[]) {
  signal(SIGPIPE, SIG_IGN);
  char text[1024];
  struct words fault = WORDS(text);
  switch (options_read(&table, argc, argv, &options, &fault)) {
    case OPTIONS_HELP: return show(help_text);
    case OPTIONS_VERSION: return show(version_text);
    case OPTIONS_BAD: return refuse_start(&fault, USAGE);
    case OPTIONS_GOOD: break;
  }
  umask(022); /* senders of any user must be able to read it */
  const char *why = gpufile_open(options.file);
  if (why != NULL) {
    say(SAY_ERROR, why, (char *)NULL);
    return NOT_SO;
  }
  sigset_t hangup;
  sigemptyset(&hangup);
  sigaddset(&hangup, SIGHUP);
  sigprocmask(SIG_BLOCK, &hangup, NULL);
  const struct sigaction ends = {.sa_handler = gpu_end};
  sigaction(SIGTERM, &ends, NULL);
  sigaction(SIGINT, &ends, NULL);
  if (!options.once) gpu_run(&hangup);
  unsigned count = 0;
  why = go_round(&count);
  close_library();
  if (why != NULL) say(SAY_ERROR, why, (char *)NULL);
  return why == NULL ? DONE : NOT_SO;
}
