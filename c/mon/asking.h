/* Parses what clients send by Supermon's protocol: words, and the commands that they mean. Pure. The other server
 * accepts the same (src/supermon/server.ts). */
#ifndef BB_ASKING_H
#define BB_ASKING_H
#include "../base/text.h"

/* The longest word, bytes. */
#define MOST_WORD 64u
#define WHOLE UINT32_C(0xffffffff)

struct command {
  enum { COMMAND_SCHEMA, COMMAND_SAMPLE, COMMAND_BAD } kind;
  uint32_t mask; /* of a sample */
  unsigned length;
  char word[MOST_WORD]; /* of one that is bad */
};

/* The present word. */
struct asking {
  char word[MOST_WORD];
  unsigned length;
  bool accepted; /* a command was accepted before its word ended: clients need not send a newline */
};

enum asked { ASKED_NOTHING, ASKED_COMMAND, ASKED_TOO_MUCH };

/* Parses the input up to the end of the next command; at the end of the connection, a word is a command as soon as
 * it is complete. ASKED_TOO_MUCH: a word is too long, and the client cannot be served any further. */
enum asked ask(struct asking *asking, struct span *left, struct command *command);

/* The input has ended, and so has its last word. Returns whether there is one to answer. */
bool ask_last(struct asking *asking, struct command *command);

#endif
