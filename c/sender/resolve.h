/* Resolves names in its own thread, so that no report ever waits for a name service. */
#ifndef BB_RESOLVE_H
#define BB_RESOLVE_H
#include <netinet/in.h>

#include "options.h"

#define MOST_CANDIDATES 2u
/* The present destinations, and one old one: of those that left, only the question that is being answered cannot be
 * withdrawn. */
#define MOST_DESTINATIONS (MOST_TO + 1)

/* The addresses of a name. */
struct answer {
  const char *problem; /* the error; NULL: there is none */
  unsigned count;      /* in the order in which to try them */
  struct in6_addr v6;
  struct in_addr v4;
  uint8_t family[MOST_CANDIDATES];
};

/* A question, and later its answer. */
struct lookup {
  enum { LOOKUP_IDLE, LOOKUP_ASKED, LOOKUP_RUNNING, LOOKUP_ANSWERED } state; /* under the resolver's lock */
  char host[256];
  struct answer answer;
};

/* Memory for the thread; to be called before any question. `signal` is sent to this thread when a question is
 * answered. */
bool resolver_open(int signal);
/* Asks; does nothing if the last question is not answered yet. */
void lookup_ask(struct lookup *lookup, const char *host);
/* Whether it is answered; receives the answer, so that it can be asked again. */
bool lookup_receive(struct lookup *lookup, struct answer *answer);
/* Withdraws the question or its answer; false while the name service is being asked, which cannot be interrupted. */
bool lookup_withdraw(struct lookup *lookup);
bool lookup_is_out(struct lookup *lookup);

#endif
