#include "drops.h"

#include "../base/clock.h"

#define SECOND INT64_C(1000000000)

static struct counted read_counted(const struct drops *d, bool ipv6) {
  struct counted c = {0};
  c.known = d->kernel != NULL && bb_kernel_drops_buffers(d->kernel, ipv6, &c.buffers, &c.errors);
  return c;
}

void drops_open(struct drops *d) {
  d->kernel = bb_kernel_drops_open("/proc/thread-self", "/sys");
  d->counted = read_counted(d, true);
}

void drops_close(struct drops *d) { bb_kernel_drops_close(d->kernel); }

/* A socket counts as a drop whatever it did not take: for want of room, but also for a wrong checksum, which any host
 * can send, and for our filter. Only want of room means that we have not heard a report.
 *
 * The socket's number moves a moment before those of the namespace. So drops that no full buffer explains are looked at
 * once more in the next drain; until then the heartbeat stands. If they are explained by then as errors they were
 * unfit, and the heartbeat goes on to the first look, whatever was dropped since: it is a drain late then, however many
 * bad datagrams come. If nothing explains them they count as want of room: some kernels leave out drops for want of
 * memory (Linux 6.18). */
int64_t drops_count(struct drops *d, struct sockets *s, struct bb_writer *writer, int64_t heartbeat_ns,
                    int64_t now_ns) {
  uint64_t drops = 0;
  bool foreign = false, ipv6 = false;
  for (int i = 0; i < s->count; i++) {
    const uint32_t here = listener_drops(&s->listeners[i]);
    drops += here;
    foreign = foreign || (here > 0 && s->listeners[i].foreign);
    ipv6 = ipv6 || s->listeners[i].address.ss_family == AF_INET6;
  }
  d->latest = drops;
  const struct unexplained first = d->unexplained;
  const uint64_t all = drops + first.drops;
  if (all == 0 && now_ns - d->counted_ns < SECOND) return INT64_MAX;
  const struct counted before = d->counted, counted = read_counted(d, ipv6);
  d->unexplained = (struct unexplained){0};
  d->counted_ns = now_ns;
  d->counted = counted;
  if (all == 0) return INT64_MAX; /* everything counted so far was about others' sockets */
  const bool no_room = foreign || !before.known || !counted.known || counted.buffers != before.buffers;
  if (no_room || counted.errors - before.errors < first.drops) {
    bb_writer_overflowed(writer, all);
    /* After the kernel was asked: what it dropped until then was not heard. */
    bb_writer_listen_anew(writer, bb_clock_ns(CLOCK_MONOTONIC));
    return INT64_MAX;
  }
  if (first.drops > 0) bb_writer_unfit(writer, first.drops);
  if (drops == 0) return INT64_MAX;
  /* The errors that explain the first look's drops are used up. */
  d->counted.errors = before.errors + first.drops;
  d->unexplained = (struct unexplained){drops, now_ns};
  return first.drops > 0 ? first.seen_ns : heartbeat_ns;
}

void drops_count_softnet(struct drops *d, struct bb_writer *writer) {
  uint64_t dropped, packets;
  const uint64_t accepted = bb_kernel_drops_advance(&d->accepted, bb_writer_header(writer)->accepted);
  if (d->kernel == NULL || !bb_kernel_drops_softnet(d->kernel, &dropped, &packets)) return;
  const bool first = d->softnet_processed == 0;
  const uint64_t more = bb_kernel_drops_advance(&d->softnet_dropped, dropped);
  const uint64_t processed = bb_kernel_drops_advance(&d->softnet_processed, packets);
  if (!first && more > 0) bb_writer_softnet(writer, more);
  if (!first && bb_kernel_drops_are_lossy(more, accepted, processed))
    bb_writer_listen_anew(writer, bb_clock_ns(CLOCK_MONOTONIC));
}
