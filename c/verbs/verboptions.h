/* The options that both short verbs have. */
#ifndef BB_VERBOPTIONS_H
#define BB_VERBOPTIONS_H
#include "../base/nodenames.h"
#include "../base/optionline.h"
#include "../base/optionvalues.h"

/* The board, and the wanted nodes. */
struct node_query {
  const char *board;
  const char *owner;     /* as given; NULL: none */
  bool has_names;        /* otherwise all */
  struct hostlist names; /* each once, as they were given */
  const char *const *on_board; /* the name of each on the board */
  bool is_scheduler;     /* names are a scheduler's: those of `exceptions`, or of the board in either case */
  struct exceptions exceptions;
};

/* Reads the file of --names into a `struct node_query`, before read_nodes(). */
bool read_exceptions(struct span text, void *query, struct words *why);

/* Reads a host list, or @FILE, into a `struct node_query`. */
bool read_nodes(struct span text, void *query, struct words *why);

/* Reads the command line into `options`, of which `query` is a part, and the environment. Prints help or version and
 * ends, if these are asked for. False with the reason in `why`. */
bool read_command_line(const struct option_table *table, const char *help, int argc, char *argv[], void *options,
                       struct node_query *query, struct words *why);

#endif
