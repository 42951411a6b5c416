/* The GPU helper: asks NVIDIA's library about the GPUs, or AMD's driver, and writes the result for the senders, which
 * load no vendor library. A call may hang, in the driver too, for any time: a second thread writes the file meanwhile.
 * Allocates no memory of its own after the start. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/fault.h"
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
  "write the readings of GPUs, NVIDIA's by NVML or AMD's, for the sender\n"
  "\n"
  "Options:\n"
  "  --file FILE       the GPU file (default: /run/beoboard/gpu)\n"
  "  --interval TIME   time between two writes, 100ms to 9s (default: 5s); senders\n"
  "                    ignore a file of more than 10 s\n"
  "  --once            write the file once, and exit; three intervals later at most if\n"
  "                    a GPU does not answer\n"
  "  --library PATH    another NVML library (default: libnvidia-ml.so.1)\n"
  "  --state FILE      the GPUs that were seen, across restarts (default:\n"
  "                    /var/lib/beoboard-gpu/gpus; with --file, FILE.seen)\n"
  "  --expect N        how many GPUs there must be, 1 to 255\n"
  "  --forget UUID     take a GPU that is gone out of the state, and exit; AMD's have\n"
  "                    their PCI addresses in place of UUIDs\n"
  "  --release TIME    let the running helper close NVML for so long, up to 24h, as for\n"
  "                    nvidia-smi -r, and exit; 0s ends it\n"
  "  --sys FOLDER      read the PCI bus and AMD's GPUs there (default: /sys)\n"
  "  -h, --help        show this help\n"
  "  -V, --version     show the version\n"
  "\n"
  "SIGTERM and SIGINT stop it at once; the file stays, and its age shows that\n"
  "nobody writes it. SIGHUP loads NVML again. Without a signal this is tried every\n"
  "minute while NVML cannot be used or a GPU is lost.\n"
  "\n"
  "Examples:\n"
  "  " PROGRAM "\n"
  "  " PROGRAM " --once --file /tmp/gpu && cat /tmp/gpu\n";

#define FILE_OF_GPUS "/run/beoboard/gpu"

static struct options {
  const char *file, *library, *state, *forget, *sys;
  int64_t interval_ms, release_ms;
  uint64_t expect;
  bool once;
} options = {
  .file = FILE_OF_GPUS, .library = "libnvidia-ml.so.1", .sys = "/sys", .interval_ms = 5000, .release_ms = -1,
};

/* Into fields that are never negative then. */
static bool read_interval(struct span text, void *field, struct words *why) {
  return value_time(text, 100, 9000, "100ms to 9s", (uint64_t *)field, why);
}

static bool read_release(struct span text, void *field, struct words *why) {
  return value_time(text, 0, 86400000, "0s to 24h", (uint64_t *)field, why);
}

static bool read_expect(struct span text, void *field, struct words *why) {
  uint64_t *number = field;
  if (text_u64(text, number) && *number >= 1 && *number <= MOST_GPUS) return true;
  return refuse_text(why, text, " is not a number of GPUs; write 1 to 255");
}

static bool read_id(struct span text, void *field, struct words *why) {
  *(const char **)field = text.at;
  return (text.len > 0 && text.len < ID_ROOM) || refuse_text(why, text, " is not the UUID of a GPU");
}

static const struct option options_of_gpu[] = {
  {.name = "file", .value = "FILE", .read = value_path, AT(file)},
  {.name = "interval", .value = "TIME", .read = read_interval, AT(interval_ms)},
  {.name = "once", AT(once)},
  {.name = "library", .value = "PATH", .read = value_path, AT(library)},
  {.name = "state", .value = "FILE", .read = value_path, AT(state)},
  {.name = "expect", .value = "N", .read = read_expect, AT(expect)},
  {.name = "forget", .value = "UUID", .read = read_id, AT(forget)},
  {.name = "release", .value = "TIME", .read = read_release, AT(release_ms)},
  {.name = "sys", .value = "FOLDER", .read = value_path, AT(sys)},
};
static const struct option_table table = {OPTIONS_OF(options_of_gpu)};

static bool is_open, is_known; /* the second: the lines are worth writing */
static int64_t open_again_at;  /* 0: the library works */
static int64_t written_at;

static void close_library(void) {
  if (is_open) gpus_close();
  is_open = false;
}

static const char *write_file(void) {
  static struct gpu_line lines[MOST_GPUS];
  for (unsigned i = 0; i < gpu_count; i++) lines[i] = gpus[i].line;
  written_at = bb_clock_ms(CLOCK_MONOTONIC);
  return gpufile_write(gpus_vendor(), lines, gpu_count);
}

/* Opens the library if it is time, and reads. NULL, or why there are no readings of NVIDIA's. */
static const char *read_round(int64_t now) {
  static char why_not[700];
  static int status;
  const bool asks = gpus_begin((unsigned)options.expect);
  const bool waits = asks && !is_open && open_again_at != 0 && now < open_again_at;
  const char *why = NULL;
  if (!waits) status = 0;
  if (asks && !waits) {
    why = is_open ? NULL : gpus_open(options.library, &status);
    is_open = why == NULL;
    if (is_open) why = gpus_read(&status);
    if (why != NULL) snprintf(why_not, sizeof why_not, "%s", why);
  }
  gpus_end(!waits, status);
  if (waits) return why_not;
  if (why != NULL) {
    close_library();
    open_again_at = now + TRY_AGAIN_MS;
    return why_not;
  }
  /* A GPU that the library does not return may have come after it was opened. */
  if (is_open && gpus_summary().has_uncounted) open_again_at = 1;
  else if (!gpus_summary().has_lost) open_again_at = 0;
  else if (open_again_at <= 1) open_again_at = now + TRY_AGAIN_MS;
  return NULL;
}

/* NULL if the file was written, or nothing is to be said; otherwise the error. */
static const char *go_round(void) {
  const int64_t now_ms = bb_clock_ms(CLOCK_MONOTONIC);
  gputable_read(options.state);
  /* It is opened at once, also for the GPUs that are left. */
  if (gputable_has_moved || (open_again_at != 0 && now_ms >= open_again_at)) {
    close_library();
    open_again_at = 0;
    gputable_has_moved = false;
  }
  if (gputable_released_until() != 0) {
    if (is_open || !gputable_is_released)
      say(SAY_INFO, gpus_begin((unsigned)options.expect) ? "NVML is closed" : "AMD's GPUs are not read",
          ", as asked with --release", (char *)NULL);
    close_library();
    open_again_at = 0;
    is_known = false;
    gputable_is_released = true;
    if (!options.once) gputable_write(options.state);
    /* What is told of each stays as it was, so that nobody is alarmed. */
    gpus_blank();
    return gpu_count > 0 ? write_file() : NULL;
  }
  const char *why = read_round(now_ms), *why_file = NULL;
  static unsigned rounds;
  const struct gpus_summary now = gpus_summary();
  const bool is_sure = written_at != 0 || !now.has_unsettled || ++rounds >= ROUNDS;
  is_known = (why == NULL && is_sure) || ((now.has_lost || now.has_amd) && !options.once);
  if (is_known) why_file = write_file();
  if (!options.once) gputable_write(options.state);
  return why != NULL ? why : why_file;
}

/* Logs a change from the last round. */
static void tell_change(const char *why) {
  static char last[700];
  char text[sizeof last];
  if (why == NULL && !is_known) {
    *last = 0;
    return;
  }
  const bool seconds = options.interval_ms % 1000 == 0;
  if (why != NULL)
    snprintf(text, sizeof text, "%.600s; %s", why, is_open ? "goes on trying" : "tries again every minute");
  else
    snprintf(text, sizeof text, "ready: %u GPU%s every %d%s to %s", gpu_count, gpu_count == 1 ? "" : "s",
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

/* Writes while a round lasts, so that the file is never older than 5 s, or the interval. */
static void *write_meanwhile(void *nothing) {
  const int64_t most_ms = options.interval_ms > 5000 ? options.interval_ms : 4900;
  static const struct timespec pause = {.tv_nsec = 250000000};
  for (;; nanosleep(&pause, NULL)) {
    gpus_take();
    if (gpus_call_lasts() && (is_known || gpus_summary().has_lost) &&
        bb_clock_ms(CLOCK_MONOTONIC) - written_at >= most_ms)
      write_file();
    gpus_leave();
  }
  return nothing;
}

static void gpu_run(const sigset_t *hangup) {
  pthread_t writer;
  if (pthread_create(&writer, NULL, write_meanwhile, NULL) != 0)
    tell("cannot start a thread; the file gets old while a call of NVML lasts");
  /* A file that an earlier helper has left must not get old in the first round. */
  struct stat left;
  gputable_read(options.state);
  if (gpu_count > 0 && stat(options.file, &left) == 0 && left.st_size > 0) {
    const int64_t age = bb_clock_ms(CLOCK_REALTIME) - left.st_mtim.tv_sec * 1000ll;
    written_at = bb_clock_ms(CLOCK_MONOTONIC) - (age > 0 ? age : 0); /* the clock may have been set back */
    is_known = true;
    gpus_blank();
  }
  for (int64_t next = bb_clock_ms(CLOCK_MONOTONIC);;) {
    tell_change(go_round());
    const int64_t now = bb_clock_ms(CLOCK_MONOTONIC);
    next += options.interval_ms;
    if (next < now) next = now + options.interval_ms;
    const int64_t then = is_open || is_known || open_again_at == 0 ? next : open_again_at;
    gpus_leave();
    const bool again = wait_until(then, hangup);
    gpus_take();
    if (again) open_again_at = 1;
  }
}

/* Whether the helper that writes the file runs, and which process it is. */
static pid_t helper_pid(void) {
  char text[MOST_PATH + 8];
  snprintf(text, sizeof text, "%s.lock", options.file);
  const int fd = open(text, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd == -1) return 0;
  const bool runs = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  const ssize_t length = runs ? read(fd, text, sizeof text - 1) : 0;
  close(fd);
  text[length > 0 ? length : 0] = 0;
  return (pid_t)strtol(text, NULL, 10);
}

/* Asks the helper for a pause, and waits until it has closed the library: only then can a GPU be reset. */
static const char *release(void) {
  const int64_t until = options.release_ms == 0 ? 0 : bb_clock_ms(CLOCK_BOOTTIME) + options.release_ms;
  const char *why = gputable_change(options.state, NULL, until);
  const pid_t helper = helper_pid();
  if (why != NULL || helper <= 1) return why;
  kill(helper, SIGHUP);
  static const struct timespec pause = {.tv_nsec = 50000000};
  for (int left = 400; left > 0 && until != 0; left--) {
    gputable_read(options.state);
    if (gputable_is_released) return NULL;
    nanosleep(&pause, NULL);
  }
  return until == 0 ? NULL : "the helper has not closed NVML within 20 s: a call of it lasts";
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
  static char beside[MOST_PATH + 8];
  snprintf(beside, sizeof beside, "%s.seen", options.file);
  if (options.state == NULL)
    options.state = strcmp(options.file, FILE_OF_GPUS) == 0 ? "/var/lib/beoboard-gpu/gpus" : beside;
  gpus_sys = options.sys;
  gpus_take();
  const bool asks = options.forget != NULL || options.release_ms >= 0;
  const char *why = !asks ? gpufile_open(options.file)
    : options.forget != NULL ? gputable_change(options.state, options.forget, 0) : release();
  if (why != NULL) {
    say(SAY_ERROR, why, (char *)NULL);
    return NOT_SO;
  }
  if (asks) return DONE;
  sigset_t hangup;
  sigemptyset(&hangup);
  sigaddset(&hangup, SIGHUP);
  sigprocmask(SIG_BLOCK, &hangup, NULL);
  const struct sigaction ends = {.sa_handler = gpu_end};
  sigaction(SIGTERM, &ends, NULL);
  sigaction(SIGINT, &ends, NULL);
  if (!options.once) gpu_run(&hangup);
  while ((why = go_round()) == NULL && !is_known && gputable_released_until() == 0)
    wait_until(bb_clock_ms(CLOCK_MONOTONIC) + options.interval_ms, &hangup);
  close_library();
  if (why != NULL) say(SAY_ERROR, why, (char *)NULL);
  return why == NULL ? DONE : NOT_SO;
}
