/* Drives writer and readers in one process, for the sanitizers and for other processors: one thread lays reports on a
 * board at full speed, with tags of all kinds, among them datagrams spoiled at random, and changes the keys meanwhile;
 * others take snapshots and look for anything torn.
 *   stress BOARD ROUNDS SEED      prints a line and exits with 0 when nothing was wrong */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/sha256.h"
#include "../board/reader.h"
#include "../board/writer.h"
#include "snapshot.h"

#define NODES 4
#define READERS 2

static atomic_bool done;
static atomic_int faults;
static const char *path;

static uint64_t next(uint64_t *state) { /* xorshift64 */
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

/* A report all of whose counters say which one it is: a mixture of two shows. */
static void make(struct bb_report *r, unsigned node, uint32_t seq) {
  memset(r, 0, sizeof *r);
  r->magic = 0x31525342;
  r->version = 1;
  r->length = sizeof *r;
  r->boot_id = 1;
  r->seq = seq;
  r->interval_ms = 1000;
  r->t_boot_ns = 1000 + seq;
  r->start_boot_ns = 1;
  snprintf(r->hostname, sizeof r->hostname, "node%u", node);
  r->cpu_user_ms = r->ctxt = r->psi_io_full_us = r->disk_weighted_ms = r->energy_dram_mj = seq;
}

static struct bb_key keys[BB_MOST_KEYS] = {{.id = 7, .secret = "the first of two"}, {.id = 9, .secret = "the second"}};

/* Signs it in the way that its node has, with one of both keys. */
static void sign(struct bb_report *r, unsigned node) {
  const struct bb_key *key = &keys[r->seq % BB_MOST_KEYS];
  uint8_t mac[BB_SHA256_BYTES];
  struct bb_hmac hmac;
  r->auth_alg = (uint8_t)(node % BB_AUTH_ALG_COUNT);
  if (r->auth_alg == BB_AUTH_ALG_NONE) return;
  r->key_id = key->id;
  bb_hmac_key(&hmac, key->secret, sizeof key->secret);
  if (r->auth_alg == BB_AUTH_ALG_NODE) {
    bb_hmac(&hmac, r->hostname, strlen(r->hostname), mac);
    bb_hmac_key(&hmac, mac, sizeof mac);
  }
  bb_hmac(&hmac, r, offsetof(struct bb_report, tag), mac);
  memcpy(r->tag, mac, sizeof r->tag);
}

static bool is_torn(const struct bb_slot *slot) {
  const struct bb_report *r = &slot->report;
  const uint64_t seq = r->seq;
  return slot->head != slot->tail || r->t_boot_ns != 1000 + seq || r->cpu_user_ms != seq || r->ctxt != seq ||
         r->psi_io_full_us != seq || r->disk_weighted_ms != seq || r->energy_dram_mj != seq;
}

static void *reader(void *unused) {
  (void)unused;
  struct bb_board board;
  char why[256];
  uint64_t newest[NODES] = {0};
  if (bb_board_open(&board, path, (uid_t)-1, why, sizeof why) != BB_READY) {
    fprintf(stderr, "stress: %s\n", why);
    atomic_fetch_add(&faults, 1);
    return NULL;
  }
  const size_t room = bb_board_snapshot_bytes(&board) + NODES * 4096;
  uint8_t *copy = (uint8_t *)aligned_alloc(64, (room + 63) / 64 * 64);
  while (!atomic_load(&done)) {
    struct bb_look look;
    if (bb_board_snapshot(&board, copy, room, 0, &look) != 0) atomic_fetch_add(&faults, 1);
    const uint8_t *record = copy + board.header.header_bytes + look.nodes * board.header.column_stride;
    for (uint64_t i = 0; i < look.nodes && i < NODES; i++, record += board.header.record_stride) {
      uint64_t seen = 0;
      for (int k = 0; k < 2; k++) {
        const struct bb_slot *slot =
            (const struct bb_slot *)(record + board.header.slots_offset + (size_t)k * board.header.slot_stride);
        if (slot->head == 0) continue;
        if (is_torn(slot)) atomic_fetch_add(&faults, 1);
        if (slot->report.seq > seen) seen = slot->report.seq;
      }
      if (seen != 0 && seen < newest[i]) atomic_fetch_add(&faults, 1); /* backward */
      if (seen > newest[i]) newest[i] = seen;
    }
  }
  free(copy);
  bb_board_close(&board);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  path = argv[1];
  const uint32_t rounds = (uint32_t)strtoul(argv[2], NULL, 10);
  uint64_t seed = strtoull(argv[3], NULL, 10) * 2 + 1;
  const struct bb_writer_options options = {.path = path,
                                            .cluster_name = "",
                                            .capacity = 64,
                                            .uncertain_after_ns = 4500000000,
                                            .silent_after_ns = 10500000000,
                                            .clock_window_ns = UINT64_MAX,
                                            .keys = keys,
                                            .key_count = BB_MOST_KEYS};
  char why[256];
  struct bb_writer *writer = bb_writer_open(&options, why, sizeof why);
  if (writer == NULL) {
    fprintf(stderr, "stress: %s\n", why);
    return 1;
  }
  struct bb_arrival arrival = {
      .stamp_ns = bb_clock_ns(CLOCK_MONOTONIC), .stamp_real_ns = bb_clock_ns(CLOCK_REALTIME), .link = BB_LINK_OTHERS};
  struct bb_report report;
  uint64_t accepted = 0, spoiled = 0;
  pthread_t readers[READERS];
  for (int i = 0; i < READERS; i++) pthread_create(&readers[i], NULL, reader, NULL);
  for (uint32_t seq = 1; seq <= rounds; seq++) {
    for (unsigned node = 0; node < NODES; node++) {
      make(&report, node, seq);
      sign(&report, node);
      arrival.stamp_ns++;
      if (bb_writer_deliver(writer, (const uint8_t *)&report, sizeof report, &arrival) != BB_OUTCOME_ACCEPTED)
        atomic_fetch_add(&faults, 1);
      accepted++;
    }
    /* And one that is cut, or has some bytes changed: under another name, so that it cannot pass for one of ours. */
    _Alignas(struct bb_report) uint8_t bytes[sizeof report + 64];
    const unsigned stranger = 100 + (unsigned)(next(&seed) % 200);
    make(&report, stranger, seq);
    sign(&report, stranger);
    memcpy(bytes, &report, sizeof report);
    memset(bytes + sizeof report, 0, 64);
    for (uint64_t k = next(&seed) % 8; k > 0; k--) bytes[next(&seed) % sizeof report] = (uint8_t)next(&seed);
    const size_t length = next(&seed) % 4 == 0 ? next(&seed) % sizeof bytes : sizeof report;
    if (strncmp((const char *)bytes + offsetof(struct bb_report, hostname), "node1", 5) == 0 &&
        bytes[offsetof(struct bb_report, hostname) + 5] != 0) {
      bb_writer_deliver(writer, bytes, length, &arrival);
      spoiled++;
    }
    bb_writer_heartbeat(writer, arrival.stamp_ns);
    if (seq % 1024 == 0 && !bb_writer_change(writer, &options, why, sizeof why)) atomic_fetch_add(&faults, 1);
  }
  atomic_store(&done, true);
  for (int i = 0; i < READERS; i++) pthread_join(readers[i], NULL);
  bb_writer_close(writer);
  printf("%" PRIu64 " reports and %" PRIu64 " spoiled ones, %d faults\n", accepted, spoiled, atomic_load(&faults));
  return atomic_load(&faults) == 0 ? 0 : 1;
}
