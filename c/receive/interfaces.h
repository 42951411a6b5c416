/* Watches the network interfaces and addresses of the calling thread's network namespace, by the kernel's rtnetlink
 * messages. Knows nothing of boards or sockets; refuses messages that do not come from the kernel. One thread at a
 * time; it must be in the namespace of the thread that opened it, because a dump opens its own socket. Nothing here
 * waits for the kernel's lock of all interfaces (rtnl), which a driver may hold for long, except a dump: when this
 * is opened, and in the drain that finds that messages were lost. */
#ifndef BB_INTERFACES_H
#define BB_INTERFACES_H
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

struct bb_interfaces;

/* One interface, as in the kernel's last message. */
struct bb_interface {
  unsigned index;
  char name[IF_NAMESIZE]; /* not one of its alternative names, which if_nametoindex() knows too */
  /* IFF_UP, IFF_LOWER_UP and IFF_RUNNING: of a lost carrier LOWER_UP says at once, with whatever message comes next,
   * and RUNNING when the kernel's linkwatch has run; of one that is back RUNNING says that it is in use again. (lo's
   * operstate is "unknown", so operstate is of no use.) */
  bool up;
  bool loopback; /* what this machine sends to itself goes by it */
};

/* A change of an interface. One drain may report several changes of the same interface, in the order in which they
 * happened. */
struct bb_interface_news {
  struct bb_interface is; /* the new state; or the last one, if it is gone */
  /* no interface has this index and name any more: it was deleted, moved to another namespace, or renamed */
  bool gone;
  /* It is down, or was down since the last change, even if that is over. A new interface and one that is gone were
   * down: nothing could be heard on them. One that was only renamed was not: its new name comes without this flag,
   * although the old one is gone. The kernel may report a lost carrier a second late (linkwatch), or later under load,
   * and so does this; for a carrier that was lost for less time, only its counter shows it. */
  bool was_down;
};

typedef void bb_interfaces_tell(const struct bb_interface_news *news, void *context);

/* The interface of that number got an address, or lost it (`gone`): 16 bytes, IPv4 as ::ffff:a.b.c.d. Call
 * bb_interfaces_has_address() to learn whether this machine has it now: it may be on another interface too, or not
 * be in use yet. */
typedef void bb_interfaces_tell_address(const uint8_t address[16], unsigned index, bool gone, void *context);

/* Subscribes, then dumps the present state, which is not reported as changes. Waits for rtnl. NULL with errno. */
struct bb_interfaces *bb_interfaces_open(void);

/* NULL does nothing. */
void bb_interfaces_close(struct bb_interfaces *interfaces);

/* Reads the kernel's messages without waiting, and calls `tell` for each change: an interface that is new, gone,
 * renamed, up, down, or that was down for a moment. `tell` and `tell_address` may look up interfaces, and nothing
 * else of this file. What they find is as of this change or newer. Returns 0; 1: messages were lost, everything was
 * dumped again (waiting for rtnl), and every interface that existed before or exists now has been reported: anything
 * may have happened meanwhile, whatever `was_down` says; -errno: what is known may be outdated. The next drain tries
 * again, and a lost message stays lost until a drain has returned 1. */
int bb_interfaces_drain(struct bb_interfaces *interfaces, bb_interfaces_tell *tell,
                        bb_interfaces_tell_address *tell_address, void *context);

/* The socket that is readable when there is something to drain. */
int bb_interfaces_fd(const struct bb_interfaces *interfaces);

/* The interface as of the last drain, valid until the next one; NULL if there is none. By number it is a binary
 * search, by name a linear one. */
const struct bb_interface *bb_interfaces_by_index(const struct bb_interfaces *interfaces, unsigned index);
const struct bb_interface *bb_interfaces_by_name(const struct bb_interfaces *interfaces, const char *name);

/* The interface by which this machine sends to itself; NULL: there is none. */
const struct bb_interface *bb_interfaces_loopback(const struct bb_interfaces *interfaces);

/* Whether what came by that interface from that source was sent by this machine itself: an interface has the address,
 * up or down, as of the last drain. Of link scope, that interface. 16 bytes, IPv4 as ::ffff:a.b.c.d. Asks nobody: a
 * binary search. An address of a route of type local alone (AnyIP) is not known. */
bool bb_interfaces_sent(const struct bb_interfaces *interfaces, const uint8_t source[16], unsigned index);

/* Whether this machine has that unicast address now, by the kernel's routing: 1, 0, or -errno if it cannot be asked.
 * 16 bytes, IPv4 as ::ffff:a.b.c.d; `index` matters only for link-local IPv6 addresses. Correct whatever
 * ip_nonlocal_bind is, for all of 127.0.0.0/8, and for what a route of type local gives to this machine (AnyIP).
 * These return 0: broadcast, multicast and anycast addresses, an IPv6 address during duplicate detection, 0.0.0.0
 * and ::, and an address that only a VRF has. An IPv4 address returns 1 also while its interface is down. Asks the
 * kernel, in a few microseconds and without rtnl. */
int bb_interfaces_has_address(struct bb_interfaces *interfaces, const uint8_t address[16], unsigned index);

/* Whether the kernel would accept a datagram from one IPv4 address to another, both as above, on that interface as
 * meant for this machine: 1, 0, or -errno. It uses the kernel's own rules for a datagram: the address, also of a
 * broadcast or of a group that anybody has joined there, and a route back to the sender if rp_filter requires one. 0
 * for what this machine sends to itself. Rules for marked packets are ignored. As cheap as above. */
int bb_interfaces_accepts(struct bb_interfaces *interfaces, const uint8_t from[16], const uint8_t to[16],
                          unsigned index);
#endif
