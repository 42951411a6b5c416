#include "kerneldrops.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../base/wholefile.h"

/* At first this much of a file is asked for: as much as any but softnet_stat has. */
#define USUAL (16u << 10)
/* Room for softnet_stat of 30,000 CPUs. Pages are allocated only when they are read into. */
#define ROOM ((size_t)4 << 20)

/* What one family, or both, have dropped. */
struct udp {
  uint64_t sum, errors;
  bool counts_errors;
};

struct bb_kernel_drops {
  int snmp, snmp6, softnet; /* -1: not there */
  int interfaces;           /* class/net, as a directory */
  bool without_ipv6;
  struct udp udp6; /* when it was last asked for */
  char *text; /* of the file that was read last */
};

static int open_at(const char *directory, const char *name, int flags) {
  char path[PATH_MAX];
  const int length = snprintf(path, sizeof path, "%s/%s", directory, name);
  if (length >= 0 && (size_t)length < sizeof path) return open(path, flags | O_CLOEXEC);
  errno = ENAMETOOLONG;
  return -1;
}

struct bb_kernel_drops *bb_kernel_drops_open(const char *proc, const char *sys) {
  struct bb_kernel_drops *d = (struct bb_kernel_drops *)calloc(1, sizeof *d);
  char *text = (char *)malloc(ROOM);
  if (d == NULL || text == NULL) {
    free(d);
    free(text);
    errno = ENOMEM;
    return NULL;
  }
  d->text = text;
  d->snmp = open_at(proc, "net/snmp", O_RDONLY);
  d->snmp6 = open_at(proc, "net/snmp6", O_RDONLY);
  d->without_ipv6 = d->snmp6 < 0 && errno == ENOENT;
  d->softnet = open_at(proc, "net/softnet_stat", O_RDONLY);
  d->interfaces = open_at(sys, "class/net", O_PATH | O_DIRECTORY);
  return d;
}

static void close_if_open(int fd) {
  if (fd >= 0) close(fd);
}

void bb_kernel_drops_close(struct bb_kernel_drops *d) {
  if (d == NULL) return;
  close_if_open(d->snmp);
  close_if_open(d->snmp6);
  close_if_open(d->softnet);
  close_if_open(d->interfaces);
  free(d->text);
  free(d);
}

/* Reads a file from its beginning to its end. False where that is not to be had, or where it is not text. */
static bool read_text(const struct bb_kernel_drops *d, int fd, struct span *text) {
  *text = (struct span){d->text, 0};
  return fd >= 0 && read_whole(fd, FILE_IN_LINES, USUAL, d->text, ROOM, &text->len) == 0 && find_char(*text, 0) == NULL;
}

/* ---- UDP ---- */

/* Two lines, one after the other, that begin alike: words, and below them as many numbers. */
struct two_lines {
  struct span words, numbers;
};

static bool find_lines(struct span text, struct span beginning, struct two_lines *found) {
  return text_after(text, beginning, &text) && next_line(&text, &found->words) && eat(&text, beginning) &&
         next_part(&text, '\n', &found->numbers);
}

/* The number under a word. */
static bool read_column(struct two_lines lines, struct span name, uint64_t *value) {
  struct span word, number;
  while (next_word(&lines.words, &word) && next_word(&lines.numbers, &number))
    if (span_is(word, name)) return text_u64(number, value);
  return false;
}

/* Adds what the two lines "Udp:" say. */
static bool add_udp4(struct span text, struct udp *all) {
  struct two_lines udp;
  uint64_t buffers, memory, errors = 0;
  if (!find_lines(text, SPAN("Udp: "), &udp) || !read_column(udp, SPAN("RcvbufErrors"), &buffers) ||
      !read_column(udp, SPAN("MemErrors"), &memory))
    return false;
  all->counts_errors = all->counts_errors && read_column(udp, SPAN("InErrors"), &errors);
  all->sum += buffers + memory;
  all->errors += errors;
  return true;
}

/* The number in the line that begins with the name, which blanks follow. */
static bool read_line(struct span text, struct span name, uint64_t *value) {
  struct span number;
  return line_after(text, name, &number) && text_u64(trimmed(number), value);
}

static bool add_udp6(struct span text, struct udp *all) {
  uint64_t buffers, memory, errors = 0;
  if (!read_line(text, SPAN("Udp6RcvbufErrors "), &buffers) || !read_line(text, SPAN("Udp6MemErrors "), &memory))
    return false;
  all->counts_errors = all->counts_errors && read_line(text, SPAN("Udp6InErrors "), &errors);
  all->sum += buffers + memory;
  all->errors += errors;
  return true;
}

bool bb_kernel_drops_buffers(struct bb_kernel_drops *d, bool ipv6, uint64_t *sum, uint64_t *errors) {
  struct udp all = {.counts_errors = true};
  struct span text;
  if (!read_text(d, d->snmp, &text) || !add_udp4(text, &all)) return false;
  if (ipv6 && !d->without_ipv6) {
    d->udp6 = (struct udp){.counts_errors = true};
    if (!read_text(d, d->snmp6, &text) || !add_udp6(text, &d->udp6)) return false;
  }
  *sum = all.sum + d->udp6.sum;
  *errors = all.counts_errors && (d->without_ipv6 || d->udp6.counts_errors) ? all.errors + d->udp6.errors : 0;
  return true;
}

void bb_kernel_drops_unjoined(struct bb_kernel_drops *d, uint64_t failed[2]) {
  struct span text;
  struct two_lines ip;
  failed[0] = failed[1] = UINT64_MAX;
  if (read_text(d, d->snmp, &text) && find_lines(text, SPAN("Ip: "), &ip))
    read_column(ip, SPAN("ReasmFails"), &failed[0]);
  if (read_text(d, d->snmp6, &text)) read_line(text, SPAN("Ip6ReasmFails "), &failed[1]);
}

/* ---- the machine ---- */

static bool next_hex(struct span *line, uint64_t *value) {
  struct span word;
  return next_word(line, &word) && text_hex(word, value);
}

bool bb_kernel_drops_softnet(struct bb_kernel_drops *d, uint64_t *dropped, uint64_t *processed) {
  uint64_t all_dropped = 0, all_processed = 0;
  struct span text, line;
  if (!read_text(d, d->softnet, &text) || !ends(text, SPAN("\n"))) return false;
  while (next_line(&text, &line)) {
    uint64_t taken, lost;
    if (!next_hex(&line, &taken) || !next_hex(&line, &lost)) return false;
    all_processed += taken;
    all_dropped += lost;
  }
  *dropped = all_dropped;
  *processed = all_processed;
  return true;
}

/* ---- interfaces ---- */

static bool read_file(struct bb_kernel_drops *d, int directory, const char *name, uint64_t *value) {
  const int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
  struct span text;
  const bool whole = read_text(d, fd, &text);
  close_if_open(fd);
  if (whole && ends(text, SPAN("\n"))) text.len--;
  return whole && text_u64(text, value);
}

bool bb_kernel_drops_interface(struct bb_kernel_drops *d, const char *name, unsigned index, uint64_t *dropped,
                               uint64_t *packets) {
  if (*name == 0 || strchr(name, '/') != NULL || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return false;
  /* One directory for all of it: another interface that takes the name meanwhile has another. */
  const int directory = d->interfaces < 0 ? -1 : openat(d->interfaces, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return false;
  uint64_t here, missed, fifo, taken;
  const bool all = read_file(d, directory, "ifindex", &here) && here == index &&
                   read_file(d, directory, "statistics/rx_missed_errors", &missed) &&
                   read_file(d, directory, "statistics/rx_fifo_errors", &fifo) &&
                   read_file(d, directory, "statistics/rx_packets", &taken);
  close(directory);
  if (!all) return false;
  *dropped = missed + fifo;
  *packets = taken;
  return true;
}
