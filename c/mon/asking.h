/* What clients say, by Supermon's protocol: words, and the commands that they are. Pure. The other server takes the same for the
 * same (src/supermon/conversation.ts). */
#ifndef BB_MON_ASKING_H
#define BB_MON_ASKING_H
#include "../sender/text.h"

/* How long a word may be, bytes. */
#define MOST_WORD 64u
#define WHOLE UINT32_C(0xffffffff)

struct command {
  enum { COMMAND_SCHEMA, COMMAND_SAMPLE, COMMAND_BAD } kind;
  uint32_t mask; /* of a sample */
  unsigned length;
  char word[MOST_WORD]; /* of one that is bad */
};

/* A word under way. */
struct asking {
  char word[MOST_WORD];
  unsigned length;
  bool taken; /* a command was taken whose word may not be over: clients need not end their lines */
};

enum asked { ASKED_NOTHING, ASKED_COMMAND, ASKED_TOO_MUCH };

/* Takes what has come, up to the end of the next command; at the end of all that has come a word is a command as soon as it is one.
 * ASKED_TOO_MUCH: a word that is too long, after which the client cannot be served any further. */
enum asked ask(struct asking *asking, struct span *left, struct command *command);

#endif
