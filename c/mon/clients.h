/* The clients, over TCP or over stdin and stdout: each command is answered in its turn, at most so often for all
 * together. With limits on clients, words, the memory for answers, and times. */
#ifndef BB_CLIENTS_H
#define BB_CLIENTS_H
#include "../base/words.h"
#include "asking.h"

/* With one more, the client that has been quiet for longest is disconnected. */
#define MOST_CLIENTS 64u
#define MOST_LISTENERS 8u

struct service {
  int listener[MOST_LISTENERS];
  unsigned listeners;
  unsigned most; /* answers per second, all clients together */
  /* Writes the answer to a command. */
  void (*answer)(const struct command *command, struct words *out);
  /* Called when a watchdog may have to be fed; returns when it has to be called again, ns of CLOCK_BOOTTIME. */
  uint64_t (*watch)(uint64_t now_ns);
};

struct served {
  uint64_t answers, cut_off;
  int error; /* of stdout; 0: none */
  bool stdio_cut_off; /* stdout may end with half of an answer */
};

/* stdin and stdout are a client; when it closes its side, clients_serve() returns. */
void clients_add_stdio(void);
/* Serves until a signal to end arrives, see clients_open(). */
struct served clients_serve(const struct service *service);
/* To be called before signals may come: SIGTERM, SIGINT and SIGHUP end it from then on. */
void clients_open(void);

#endif
