/* All options of this program, each defined once, and the parser of its command line and its file. Does nothing with
 * the values and never ends the process. */
#ifndef BB_OPTIONS_H
#define BB_OPTIONS_H
#include "../base/address.h"
#include "../base/outcome.h"

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
  bool once, aligned, seccomp;
  unsigned trees; /* first the tick before, if there are two */
  const char *proc[2], *sys[2];
  const char *scratch;
  const char *key_file, *pretend, *user, *pace_file; /* NULL: none */
  struct address to[MOST_TO];            /* last, so that only those in use cost memory */
};

/* Parses them; for OPTIONS_BAD the reason is in `fault`. Pointers are valid until the next call. */
enum outcome options_read(int argc, char *const argv[], struct options *options, struct words *fault);

/* The whole milliseconds of 250ms, 1.5s, 2m or 1h, nothing else; false with the reason in `why`. */
bool parse_duration(struct span text, uint64_t *ms, struct words *why);

extern const char help_text[], version_text[];
uint32_t version_number(void);

#endif
