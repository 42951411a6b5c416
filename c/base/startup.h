/* Before a program knows its task: exit codes, and messages to the user who called it. */
#ifndef BB_STARTUP_H
#define BB_STARTUP_H
#include "words.h"

/* Exit codes: done, not all have taken the report or what is needed is not to be had now, usage, could not write to stdout (as EX_IOERR of sysexits.h). */
enum { DONE = 0, NOT_SO = 1, USAGE = 2, WRITE_FAILED = 74 };

/* One line for a user who called us, whatever format the log has; returns the code. */
int refuse_start(struct words *fault, int code);
/* Writes a text to stdout; gives the exit code. */
int show(const char *text);
/* Opens those of stdin, stdout and stderr that are closed, so that no other file gets their descriptors. */
void hold_standard_places(void);

#endif
