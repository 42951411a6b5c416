/* The options that both short verbs have. The readers return NULL, or why a value is invalid. */
#ifndef BB_VERBOPTIONS_H
#define BB_VERBOPTIONS_H
#include <stdbool.h>
#include <stdint.h>

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

/* A host list, or @FILE. */
const char *read_nodes(const char *text, struct asked *asked);

const char *read_owner(const char *text, struct asked *asked);

/* The settings of the environment, unless the command line has them. */
const char *read_environment(struct asked *asked);

/* The output of --help and --version. */
void show_help(const char *text);
void show_version(void);

#endif
