/* What a program does before it knows what to do: how it ends then, and what is said to whoever called it. */
#ifndef BB_SENDER_STARTUP_H
#define BB_SENDER_STARTUP_H
#include "words.h"

/* Exit codes: done, not all have taken the report or what is needed is not to be had now, usage, could not write to stdout (as EX_IOERR of sysexits.h). */
enum { DONE = 0, NOT_SO = 1, USAGE = 2, WRITE_FAILED = 74 };

/* One line for somebody who called us, whatever the log looks like; gives the code. */
int refuse_start(struct words *fault, int code);
/* Writes a text to stdout; gives the exit code. */
int show(const char *text);
/* Opens what of stdin, stdout and stderr is closed, so that nothing else comes to lie there. */
void hold_standard_places(void);

#endif
