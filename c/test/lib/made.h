/* Boards and reports for the tests of the library: every word of a report says which report it is, so that a mixture of
 * two shows. No state, no I/O but the writer's. */
#ifndef BB_MADE_H
#define BB_MADE_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../beoboard.h"
#include "../../board/writer.h"

static inline int64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline uint64_t next_random(uint64_t *state) { /* xorshift64 */
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

/* The word at `offset` of report `seq`; one second of the node's own time lies between two. */
static inline uint64_t made_word(uint32_t seq, size_t offset) { return (uint64_t)seq << 16 | offset; }

static inline void make_report(struct bb_report *r, const char *name, uint32_t seq) {
  memset(r, 0, sizeof *r);
  for (size_t at = offsetof(struct bb_report, cpu_user_ms); at < offsetof(struct bb_report, group); at += 8) {
    const uint64_t word = made_word(seq, at);
    memcpy((uint8_t *)r + at, &word, 8);
  }
  for (size_t at = offsetof(struct bb_report, disk_read_bytes); at < offsetof(struct bb_report, disk_inflight);
       at += 8) {
    const uint64_t word = made_word(seq, at);
    memcpy((uint8_t *)r + at, &word, 8);
  }
  for (int i = 0; i < 3; i++) {
    snprintf(r->net[i].name, sizeof r->net[i].name, "eth%u", (unsigned)(i + (int)(seq % 3)) % 3);
    r->net[i].rx_bytes = r->net[i].tx_bytes = made_word(seq, 0);
    r->net[i].errors = seq;
  }
  r->magic = 0x31525342;
  r->version = 1;
  r->length = sizeof *r;
  r->boot_id = 1;
  r->start_boot_ns = 1;
  r->seq = seq;
  r->interval_ms = 1000;
  r->t_boot_ns = (uint64_t)seq * 1000000000 + 1;
  r->slow_boot_ns = (uint64_t)seq * 1000000000;
  r->t_real_ns = seq;
  r->valid = BB_VALID_KNOWN;
  r->load1_c = seq;
  r->mem_total_mib = seq;
  r->mem_avail_mib = seq;
  r->energy_dram_mj = made_word(seq, 1);
  snprintf(r->hostname, sizeof r->hostname, "%s", name);
}

/* Lays a report, by two links in turn: that of odd numbers is the first, and has number 1. */
static inline int deliver_report(struct bb_writer *w, const struct bb_report *report, int64_t stamp_real_ns) {
  struct bb_arrival arrival = {.stamp_ns = clock_ns(CLOCK_MONOTONIC),
                               .stamp_real_ns = stamp_real_ns,
                               .interface = report->seq % 2 == 1 ? "eth0" : "eth1"};
  arrival.link = bb_links_find(bb_writer_links(w), arrival.interface, false);
  return bb_writer_deliver(w, (const uint8_t *)report, sizeof *report, &arrival);
}

static inline int deliver(struct bb_writer *w, const char *name, uint32_t seq) {
  struct bb_report report;
  make_report(&report, name, seq);
  return deliver_report(w, &report, (int64_t)seq);
}

/* What a board tells beside reports, so that a mixture of two shows:
 *   an event    a goodbye of told0, told1 and told2 in turn, of which the wall clock is the number of its report
 *   a refusal   of node0, a rival whose skew is twice as many us as its wall clock has
 *   a sender    of another cluster, whose wall clock is how many datagrams came from there */
static inline void deliver_news(struct bb_writer *w, uint32_t seq, int64_t *strays) {
  struct bb_report report;
  char name[16];
  snprintf(name, sizeof name, "told%u", (unsigned)(seq % 3));
  make_report(&report, name, seq);
  report.flags = BB_FLAGS_GOODBYE;
  deliver_report(w, &report, (int64_t)seq);
  make_report(&report, "node0", seq);
  report.boot_id = 2;
  report.t_real_ns = (uint64_t)seq * 3000;
  deliver_report(w, &report, (int64_t)seq * 1000);
  make_report(&report, "stray", seq);
  report.cluster_id = 1;
  deliver_report(w, &report, ++*strays);
}

static inline struct bb_writer *make_board(const char *path, uint32_t capacity) {
  const struct bb_writer_options options = {.path = path,
                                            .cluster_name = "made",
                                            .capacity = capacity,
                                            .uncertain_after_ns = 4500000000,
                                            .silent_after_ns = 10500000000};
  char why[256];
  struct bb_writer *w = bb_writer_open(&options, why, sizeof why);
  if (w == NULL) fprintf(stderr, "%s\n", why);
  return w;
}

#endif
