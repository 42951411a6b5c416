/* The links of a board: the number of each interface, whether it is up, since when it is listened to, and whether it is
 * dark; see "Links" in proto/board-v2.md. Changes nothing else of a board but that it adds the links' events. Numbers
 * without an entry are ignored. */
#ifndef BB_LINKTABLE_H
#define BB_LINKTABLE_H
#include <stdbool.h>
#include <stdint.h>

#include "../format/layout.gen.h"

struct bb_links;

/* The number of that interface's link, or of the one for what comes by it in pieces; BB_LINK_UNKNOWN: it has none. */
uint32_t bb_links_find(const struct bb_links *links, const char *name, bool in_pieces);

/* The same; an interface without a number gets one. The link listens since its first report arrived, or since
 * BB_LINK_OTHERS does if that is later, because it was one of those. BB_LINK_OTHERS if there is no number left. */
uint32_t bb_links_add(struct bb_links *links, const char *name, bool in_pieces, uint32_t index, int64_t arrived_ns);

/* Sets the state of a link: `index` of its interface (0: gone), bits of link_state. A link that is not up has no
 * heartbeat. A change, and a down that is over (`was_down`), restart its listening at `now_ns`, which is later than
 * whatever happened. */
void bb_links_set_state(struct bb_links *links, uint32_t link, uint32_t index, uint64_t state, bool was_down,
                        int64_t now_ns);

/* A link begins to listen anew at `now_ns`: some of what was sent to it before may have been dropped. Since when that
 * counts depends on how long it was deaf, because intervals of nodes may have grown. Stored before any heartbeat that
 * follows. */
void bb_links_listen_anew(struct bb_links *links, uint32_t link, int64_t now_ns);

/* Sets the time since which a link listens; the receiver leaves that to bb_links_listen_anew(). */
void bb_links_listening_since(struct bb_links *links, uint32_t link, int64_t since_ns);

/* bb_links_listen_anew() for a link that could not be heard until this moment: gaps of its nodes that began before it
 * count as unheard. */
void bb_links_resumed(struct bb_links *links, uint32_t link, int64_t resumed_ns);

/* The destination of a link's reports. */
struct bb_destination {
  uint8_t address[16]; /* zero: unknown */
  uint16_t port;       /* 0: any */
  uint8_t source[4];   /* IPv4 address of a node that sends there; zero: of none */
};
void bb_links_set_destination(struct bb_links *links, uint32_t link, const struct bb_destination *to);

/* Since when the kernel fails to join what comes by that link in pieces; 0: it does not. */
void bb_links_set_unjoined(struct bb_links *links, uint32_t link, int64_t since_ns);

/* Packets that its interface dropped since the last call. */
void bb_links_add_missed(struct bb_links *links, uint32_t link, uint64_t packets);

/* The entry of a link, which only the writer changes; NULL: it has none. */
const struct bb_link *bb_links_entry(const struct bb_links *links, uint32_t link);

/* Counts the nodes of each link, and determines which links are dark. Once a second. */
void bb_links_survey(struct bb_links *links);
#endif
