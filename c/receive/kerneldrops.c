#include "kerneldrops.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_ROOM ((size_t)1 << 14)
/* Room for softnet_stat of 30,000 CPUs. */
#define MOST_ROOM ((size_t)4 << 20)

struct bb_kernel_drops {
  int snmp, snmp6, softnet; /* -1: not there */
  int interfaces;           /* class/net, as a directory */
  bool without_ipv6;
  char *text; /* of the file that was read last, with a zero behind it */
  size_t room;
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
  char *text = (char *)malloc(FIRST_ROOM);
  if (d == NULL || text == NULL) {
    free(d);
    free(text);
    errno = ENOMEM;
    return NULL;
  }
  d->text = text;
  d->room = FIRST_ROOM;
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

/* ---- files ---- */

static bool make_room(struct bb_kernel_drops *d) {
  if (d->room >= MOST_ROOM) return false;
  char *text = (char *)realloc(d->text, d->room * 2);
  if (text == NULL) return false;
  d->text = text;
  d->room *= 2;
  return true;
}

/* Reads a file from its beginning to its end. False where that is not to be had, or where it is not text. */
static bool read_whole(struct bb_kernel_drops *d, int fd) {
  size_t length = 0;
  while (fd >= 0) {
    if (length + 1 == d->room && !make_room(d)) return false;
    const ssize_t bytes = pread(fd, d->text + length, d->room - 1 - length, (off_t)length);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return false;
    length += (size_t)bytes;
    d->text[length] = 0;
    if (bytes == 0) return memchr(d->text, 0, length) == NULL;
  }
  return false;
}

/* A number in digits of that base and nothing else, up to a space, a line's end or the text's. */
static bool read_number(const char **at, unsigned base, uint64_t *out) {
  uint64_t value = 0;
  const char *c = *at;
  for (; *c != 0 && *c != ' ' && *c != '\n'; c++) {
    const unsigned letter = (unsigned)(*c | 0x20);
    const unsigned digit = *c >= '0' && *c <= '9'           ? (unsigned)(*c - '0')
                           : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
                                                            : 16;
    if (digit >= base || value > (UINT64_MAX - digit) / base) return false;
    value = value * base + digit;
  }
  if (c == *at) return false;
  *at = c;
  *out = value;
  return true;
}

static const char *next_line(const char *at) {
  const char *end = strchr(at, '\n');
  return end == NULL ? at + strlen(at) : end + 1;
}

/* ---- UDP ---- */

/* The number under a heading, of two lines that begin alike: words, and below them as many numbers. */
static bool read_column(const char *headings, const char *numbers, const char *name, uint64_t *value) {
  const size_t length = strlen(name);
  for (;;) {
    headings += strcspn(headings, " \n");
    numbers += strcspn(numbers, " \n");
    if (*headings != ' ' || *numbers != ' ') return false;
    headings++;
    numbers++;
    if (strncmp(headings, name, length) == 0 && (headings[length] == ' ' || headings[length] == '\n'))
      return read_number(&numbers, 10, value);
  }
}

/* What one family, or both, have dropped. */
struct udp {
  uint64_t sum, errors;
  bool counts_errors;
};

/* Finds two lines that begin with the prefix; false: there are none. */
static bool find_lines(const char **text, const char **numbers, const char *prefix) {
  const size_t length = strlen(prefix);
  while (**text != 0 && strncmp(*text, prefix, length) != 0) *text = next_line(*text);
  *numbers = next_line(*text);
  return strncmp(*numbers, prefix, length) == 0;
}

/* Adds what the two lines "Udp:" say. */
static bool add_udp4(const char *text, struct udp *all) {
  const char *numbers;
  uint64_t buffers, memory, errors = 0;
  if (!find_lines(&text, &numbers, "Udp: ")) return false;
  if (!read_column(text, numbers, "RcvbufErrors", &buffers) || !read_column(text, numbers, "MemErrors", &memory))
    return false;
  all->counts_errors = all->counts_errors && read_column(text, numbers, "InErrors", &errors);
  all->sum += buffers + memory;
  all->errors += errors;
  return true;
}

/* The number in the line that begins with the name. */
static bool read_line(const char *text, const char *name, uint64_t *value) {
  const size_t length = strlen(name);
  for (; *text != 0; text = next_line(text)) {
    if (strncmp(text, name, length) != 0) continue;
    const char *number = text + length + strspn(text + length, " \t");
    if (number > text + length) return read_number(&number, 10, value);
  }
  return false;
}

static bool add_udp6(const char *text, struct udp *all) {
  uint64_t buffers, memory, errors = 0;
  if (!read_line(text, "Udp6RcvbufErrors", &buffers) || !read_line(text, "Udp6MemErrors", &memory)) return false;
  all->counts_errors = all->counts_errors && read_line(text, "Udp6InErrors", &errors);
  all->sum += buffers + memory;
  all->errors += errors;
  return true;
}

bool bb_kernel_drops_buffers(struct bb_kernel_drops *d, uint64_t *sum, uint64_t *errors) {
  struct udp all = {.counts_errors = true};
  if (!read_whole(d, d->snmp) || !add_udp4(d->text, &all)) return false;
  if (!d->without_ipv6 && (!read_whole(d, d->snmp6) || !add_udp6(d->text, &all))) return false;
  *sum = all.sum;
  *errors = all.counts_errors ? all.errors : 0;
  return true;
}

void bb_kernel_drops_unjoined(struct bb_kernel_drops *d, uint64_t failed[2]) {
  const char *text, *numbers;
  failed[0] = failed[1] = UINT64_MAX;
  if (read_whole(d, d->snmp) && (text = d->text, find_lines(&text, &numbers, "Ip: ")))
    read_column(text, numbers, "ReasmFails", &failed[0]);
  if (read_whole(d, d->snmp6)) read_line(d->text, "Ip6ReasmFails", &failed[1]);
}

/* ---- the machine ---- */

bool bb_kernel_drops_softnet(struct bb_kernel_drops *d, uint64_t *dropped, uint64_t *processed) {
  uint64_t all_dropped = 0, all_processed = 0;
  if (!read_whole(d, d->softnet) || *d->text == 0) return false;
  for (const char *line = d->text; *line != 0; line = next_line(line)) {
    uint64_t values[2];
    const char *at = line;
    if (!read_number(&at, 16, &values[0]) || *at++ != ' ' || !read_number(&at, 16, &values[1])) return false;
    all_processed += values[0];
    all_dropped += values[1];
  }
  *dropped = all_dropped;
  *processed = all_processed;
  return true;
}

/* ---- interfaces ---- */

static bool read_file(struct bb_kernel_drops *d, int directory, const char *name, uint64_t *value) {
  const int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
  const bool whole = read_whole(d, fd);
  close_if_open(fd);
  if (!whole) return false;
  const char *at = d->text;
  return read_number(&at, 10, value) && (*at == 0 || strcmp(at, "\n") == 0);
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
