/* Reads the kernel's own counters of datagrams and packets that it dropped, so that a loss can be told from what a
 * socket dropped for other reasons (a filter, a wrong checksum). Knows nothing of boards; takes no lock of the kernel's
 * that others hold for long, and trusts no file that it cannot read as a whole. One thread at a time.
 *
 * All are counters that only their differences mean something of; they begin somewhere, and none of them is ours
 * alone. */
#ifndef BB_KERNELDROPS_H
#define BB_KERNELDROPS_H
#include <stdbool.h>
#include <stdint.h>

struct bb_kernel_drops;

/* `proc`: "/proc/thread-self", of which net/snmp, net/snmp6 and net/softnet_stat are kept open: an open file belongs to
 * the network namespace of the thread that opened it. `sys`: "/sys". What is not there makes the functions below say
 * false. NULL with errno: no memory. */
struct bb_kernel_drops *bb_kernel_drops_open(const char *proc, const char *sys);

/* NULL does nothing. */
void bb_kernel_drops_close(struct bb_kernel_drops *drops);

/* `sum`: UDP datagrams that were dropped for want of room in a socket buffer, of all sockets of the namespace:
 * RcvbufErrors + MemErrors of IPv4 and of IPv6 together, since a datagram of IPv4 to a socket of both counts as IPv4.
 * False where a counter is absent of a family that exists (MemErrors: before Linux 5.11). A kernel without IPv6 has no
 * net/snmp6, which is fine. A socket counts its drops (SO_MEMINFO) a moment before the kernel counts them here; and
 * from Linux 6.18 on the kernel leaves out some of those that it makes for want of memory (not of room in the socket's
 * buffer) where several CPUs fill one socket. `errors`: those that were dropped for any reason that the kernel counts
 * as an error (InErrors of both families): for want of room, a wrong checksum, a filter; 0 where it does not count
 * them. Without `ipv6` its counters are as they were: who has no such socket spares the kernel a long text. */
bool bb_kernel_drops_buffers(struct bb_kernel_drops *drops, bool ipv6, uint64_t *sum, uint64_t *errors);

/* How often the kernel failed to join datagrams of IPv4 and of IPv6 that came in pieces (ReasmFails), also for want of
 * memory, of the namespace; UINT64_MAX: it does not say. */
void bb_kernel_drops_unjoined(struct bb_kernel_drops *drops, uint64_t failed[2]);

/* Packets that the whole machine (every namespace) dropped because a CPU's backlog was full, before any socket, and
 * those that it processed. Each CPU counts to 2^32 and begins again, and one that is taken offline takes its count
 * along: where a sum is less than before, that is a new beginning. */
bool bb_kernel_drops_softnet(struct bb_kernel_drops *drops, uint64_t *dropped, uint64_t *processed);

/* The packets that an interface dropped because its own queue was full, rx_missed_errors + rx_fifo_errors, and the
 * packets that it received, rx_packets. False if there is none of this name, or if it has another index: then `sys`
 * shows another namespace than ours. (The index of lo is 1 in every namespace, so this cannot be checked for lo.) If
 * the driver asks its device, this is as slow as the device. */
bool bb_kernel_drops_interface(struct bb_kernel_drops *drops, const char *name, unsigned index, uint64_t *dropped,
                               uint64_t *packets);
/* Whether so much was dropped before any socket that it very probably contained reports: more than were accepted,
 * and more than a hundredth of everything that came. */
static inline bool bb_kernel_drops_are_lossy(uint64_t dropped, uint64_t accepted, uint64_t packets) {
  return dropped > accepted && dropped > packets / 100;
}

/* How far a counter of the kernel moved since the last time; 0 if it decreased. */
static inline uint64_t bb_kernel_drops_advance(uint64_t *last, uint64_t now) {
  const uint64_t more = now > *last ? now - *last : 0;
  *last = now;
  return more;
}

#endif
