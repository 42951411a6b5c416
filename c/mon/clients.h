/* Who asks, over TCP or over stdin and stdout: command after command, each answered in its turn, all together no more often than
 * they may. Bounded in clients, in words, in what is kept of an answer, and in patience. */
#ifndef BB_MON_CLIENTS_H
#define BB_MON_CLIENTS_H
#include "../sender/words.h"
#include "asking.h"

/* One more, and the one that has been quiet for the longest goes. */
#define MOST_CLIENTS 64u
#define MOST_LISTENERS 8u

struct service {
  int listener[MOST_LISTENERS];
  unsigned listeners;
  unsigned most; /* answers a second, all clients together */
  /* Writes the answer to a command. */
  void (*answer)(const struct command *command, struct words *out);
  /* Called when a watchdog may have to be told; gives when it is to be called again, ns of CLOCK_BOOTTIME. */
  uint64_t (*watch)(uint64_t now_ns);
};

struct served {
  uint64_t answers, cut_off;
  int error; /* of stdout; 0: none */
  bool stdio_cut_off; /* half of an answer may stand on stdout */
};

/* stdin and stdout are a client; when that has no more to say, clients_serve() ends. */
void clients_take_stdio(void);
/* Serves until a signal to end has come, see clients_open(). */
struct served clients_serve(const struct service *service);
/* Before signals may come: SIGTERM, SIGINT and SIGHUP end it from then on. */
void clients_open(void);

#endif
