/* All options of this program, each defined once. Does nothing with the values and never ends the process. */
#ifndef BB_OPTIONS_H
#define BB_OPTIONS_H
#include "../base/address.h"
#include "../base/optionline.h"

#define MOST_TO 32u
#define DEFAULT_PORT 8677u

struct options {
  unsigned to_count;
  bool to_stdout;
  char interface[16]; /* empty: the routing table decides */
  uint8_t ttl;
  char name[64];
  char cluster[64]; /* empty: none */
  uint32_t interval_ms, pace_min_ms, pace_max_ms;
  uint64_t health_max_age_ms; /* 0: any */
  bool once, check, aligned, seccomp; /* `check` is once, too */
  bool unnamed; /* the host name is nobody's, and a destination is on another machine */
  unsigned trees; /* first the tick before, if there are two */
  const char *proc[2], *sys[2];
  const char *scratch;
  const char *root; /* NULL: our own */
  const char *key_file, *pretend, *user, *pace_file, *config; /* NULL: none */
  struct address to[MOST_TO];            /* last, so that only those in use cost memory */
};

/* Parses them; for OPTIONS_BAD the reason is in `fault`. Pointers are valid until the next call. */
enum outcome send_options_read(int argc, char *const argv[], struct options *options, struct words *fault);

/* Why a report to another machine waits, if they are `unnamed`. */
#define UNNAMED "this machine has no host name yet, and localhost is every machine's; set one, or write --name NAME"

extern const char help_text[];
uint32_t version_number(void);

#endif
