/* What the options of the short verbs mean that both of them have. The readers give NULL, or why not. */
#ifndef BB_VERBS_VERBOPTIONS_H
#define BB_VERBS_VERBOPTIONS_H
#include <stdbool.h>
#include <stdint.h>

#include "../common/hostlist.h"
#include "../common/optionline.h"
#include "../common/optionvalues.h"

/* Whose board is asked about whom. */
struct asked {
  const char *board;
  const char *owner;     /* as it is given; NULL: nobody */
  struct hostlist names; /* each once */
  bool has_names;        /* else all */
};

/* A host list, or @FILE. */
const char *read_nodes(const char *text, struct asked *asked);

const char *read_owner(const char *text, struct asked *asked);

/* What the environment says where the command line does not. */
const char *read_environment(struct asked *asked);

/* What is written for --help and --version. */
void show_help(const char *text);
void show_version(void);

#endif
