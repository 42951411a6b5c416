/* The options that both short verbs have. */
#ifndef BB_VERBOPTIONS_H
#define BB_VERBOPTIONS_H
#include "../base/hostlist.h"
#include "../base/optionline.h"
#include "../base/optionvalues.h"

/* The board, and the wanted nodes. */
struct asked {
  const char *board;
  const char *owner;     /* as given; NULL: none */
  struct hostlist names; /* each once */
  bool has_names;        /* otherwise all */
};

/* Reads a host list, or @FILE, into a `struct asked`. */
bool read_nodes(struct span text, void *asked, struct words *why);

/* The settings of the environment, unless the command line has them. False with the reason in `why`. */
bool read_environment(struct asked *asked, struct words *why);

#endif
