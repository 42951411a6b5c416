/* All options of this program, each defined once, and the parser of its command line and its file. Does nothing with
 * the values and never ends the process. */
#ifndef BB_SENDER_OPTIONS_H
#define BB_SENDER_OPTIONS_H
#include "say.h"

#define MOST_TO 32u
#ifndef DEFAULT_PORT
#define DEFAULT_PORT 8677u
#endif
/* Other paths are made from the paths of trees and files: these must all fit. */
#define MOST_PATH 512u

/* A name, an IPv4 address, or an IPv6 address without brackets. */
struct address {
  char host[256];
  uint16_t port;
  uint8_t family; /* AF_INET, AF_INET6; AF_UNSPEC: a name */
};

struct options {
  unsigned to_count;
  bool to_stdout;
  char interface[16]; /* empty: the routing table decides */
  uint8_t ttl;
  char name[64];
  char cluster[64]; /* empty: none */
  uint32_t interval_ms, pace_min_ms, pace_max_ms;
  uint64_t health_max_age_ms; /* 0: any */
  bool once, aligned, seccomp;
  unsigned trees; /* first the tick before, if there are two */
  const char *proc[2], *sys[2];
  const char *scratch;
  const char *key_file, *pretend, *user, *pace_file; /* NULL: none */
  struct address to[MOST_TO];            /* last, so that only those in use cost memory */
};

enum outcome { OPTIONS_GOOD, OPTIONS_BAD, OPTIONS_HELP, OPTIONS_VERSION };

/* Parses them; for OPTIONS_BAD the reason is in `fault`. Pointers are valid until the next call. */
enum outcome options_read(int argc, char *const argv[], struct options *options, struct words *fault);

/* The whole milliseconds of 250ms, 1.5s, 2m or 1h, nothing else; false with the reason in `why`. */
bool parse_duration(struct span text, uint64_t *ms, struct words *why);
/* ADDR[:PORT]; false with the reason in `why`. */
bool parse_address(struct span text, struct address *address, struct words *why);
void add_address(struct words *words, const struct address *address);

extern const char help_text[], version_text[];
uint32_t version_number(void);

#endif
