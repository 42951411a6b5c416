/* Watches the network interfaces and addresses of the calling thread's network namespace, by what the kernel tells over rtnetlink.
 * Knows nothing of boards or sockets; refuses what does not come from the kernel. One thread at a time; it must be in the same
 * namespace as whoever opened, since a dump opens a socket of its own.
 *
 * Nothing here waits for the kernel's lock of all interfaces (rtnl), which a driver may hold for long, but for a dump: when this is
 * opened, and in the drain that finds that messages were lost. */
#ifndef BB_INTERFACES_H
#define BB_INTERFACES_H
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bb_interfaces;

/* One interface as the kernel has last told. */
struct bb_interface {
  unsigned index;
  char name[IF_NAMESIZE]; /* not one of its alternative names, which if_nametoindex() knows too */
  bool up;                /* IFF_UP and IFF_RUNNING (lo's operstate is "unknown", so operstate is no use) */
};

/* What has happened to an interface. One drain may tell several pieces about the same one, in the order in which they happened. */
struct bb_interface_news {
  struct bb_interface is; /* afterwards; as it was last, if it is gone */
  bool gone;              /* no interface has this index and name any more: it was deleted, moved to another namespace or renamed */
  /* Is down, or was since it was last told of, though that may be over. An interface that is new or gone was down: nothing could
   * be heard on it. One that was only renamed was not: its new name comes without, though the old one has gone. The kernel tells of a
   * carrier that was lost up to a second late (linkwatch), and so does this; of one that is back for less long, by its count alone. */
  bool was_down;
};

typedef void bb_interfaces_tell(const struct bb_interface_news *news, void *context);

/* An address came to the interface of that number, or went from it (`gone`): 16 bytes, IPv4 as ::ffff:a.b.c.d. Whether it is had now tells
 * bb_interfaces_has_address(): it may be on another interface too, or not be in use yet. */
typedef void bb_interfaces_tell_address(const uint8_t address[16], unsigned index, bool gone, void *context);

/* Subscribes, then dumps what there is: that is no news. Waits for rtnl. NULL with errno. */
struct bb_interfaces *bb_interfaces_open(void);

/* NULL does nothing. */
void bb_interfaces_close(struct bb_interfaces *interfaces);

/* Takes what the kernel has told, without waiting, and calls `tell` for each piece of news: an interface that is new, gone, renamed, up,
 * down, or that was down for a moment. `tell` and `tell_address` may look up interfaces, but do nothing else here. What it finds there is as of
 * this piece of news or newer.
 *   0
 *   1       Messages were lost, all was dumped anew (waiting for rtnl), and every interface that was known before or is there now has
 *           been told: anything may have happened meanwhile, whether `was_down` says so or not.
 *   -errno  What is known may be old. The next drain tries again, and a lost message stays lost until a drain has given 1. */
int bb_interfaces_drain(struct bb_interfaces *interfaces, bb_interfaces_tell *tell, bb_interfaces_tell_address *tell_address,
                        void *context);

/* The interface as the last drain left it, valid until the next one; NULL when there is none. By number it is a binary search, by name
 * a look at all. */
const struct bb_interface *bb_interfaces_by_index(const struct bb_interfaces *interfaces, unsigned index);
const struct bb_interface *bb_interfaces_by_name(const struct bb_interfaces *interfaces, const char *name);

/* Whether this machine has that unicast address now, as the kernel routes: 1, 0, or -errno when it cannot be asked. 16 bytes, IPv4 as
 * ::ffff:a.b.c.d; `index` counts for link-local IPv6 addresses only. Right whatever ip_nonlocal_bind says, for all of 127.0.0.0/8 and
 * for what a route of type local gives to this machine (AnyIP). Not had are: broadcast, multicast and anycast addresses, an IPv6
 * address whose duplicates are still looked for, 0.0.0.0 and ::, and one that only a VRF has. An IPv4 address is had while its
 * interface is down, too. Asks the kernel, in a few microseconds and without rtnl. */
int bb_interfaces_has_address(struct bb_interfaces *interfaces, const uint8_t address[16], unsigned index);

/* Whether the kernel would take for this machine what comes from one IPv4 address to another, both as above, by that interface: 1, 0, or -errno.
 * It goes by what it does with a datagram: the address, also of a broadcast or of a group that anybody here has joined there, a way back
 * to the sender where rp_filter asks for one. 0 of what this machine sends to itself. A rule for marked packets is not gone by. As cheap. */
int bb_interfaces_takes(struct bb_interfaces *interfaces, const uint8_t from[16], const uint8_t to[16], unsigned index);

#ifdef __cplusplus
}
#endif
#endif
