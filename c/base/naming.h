/* Names in options: of nodes and of users. Pure, except for the host name. */
#ifndef BB_NAMING_H
#define BB_NAMING_H
#include "say.h"

/* Whether it is the name of a node; with capital letters, or without. */
bool is_node_name(struct span text, bool upper);
/* Copies the name of a node, with a NUL after it; false with the reason in `why`. */
bool take_node_name(struct span text, char name[64], struct words *why);
/* Whether it may be a user's name or id; false with the reason in `why`. */
bool is_user(struct span text, struct words *why);
/* The host name up to its first dot, in lower case; NULL with the reason in `why` if it is an address, of which that would
 * be the first number. */
const char *host_name(struct words *why);

#endif
