/* The options of the program. Does nothing with the values and never ends the process. */
#ifndef BB_MONOPTIONS_H
#define BB_MONOPTIONS_H
#include "../base/address.h"
#include "../base/optionline.h"
#include "clients.h"

#define DEFAULT_PORT 2710u

struct options {
  bool stdio, seccomp;
  unsigned listen_count;
  struct address listen[MOST_LISTENERS];
  unsigned most; /* answers a second */
  char name[64];
  const char *proc, *sys;
  const char *user; /* NULL: none */
};

/* Parses them into zeroed memory; for OPTIONS_BAD the reason is in `fault`. */
enum outcome settings_read(int argc, char *const argv[], struct options *settings, struct words *fault);

extern const char settings_help[];

#endif
