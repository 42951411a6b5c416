/* For the user who called a program: exit codes, and what is written to its terminal or pipe. */
#ifndef BB_STARTUP_H
#define BB_STARTUP_H
#include <signal.h>

#include "say.h"

/* Exit codes: done, not all have taken the report or what is needed is not to be had now, usage, could not write to
 * stdout (as EX_IOERR of sysexits.h). */
enum { DONE = 0, NOT_SO = 1, USAGE = 2, WRITE_FAILED = 74 };

/* The version, as --version shows it. */
extern const char version_text[];

/* One line for a user who called us, whatever format the log has; returns the code. */
int refuse_start(struct words *fault, int code);
/* Writes all of it, however long that takes. 0, or the error. */
int write_all(int fd, struct span text);
/* Writes a text to stdout; gives the exit code. That nobody reads it any more is no failure. */
int show(const char *text);
/* One line on stderr and in the system's log, which is a warning or not. */
void announce(enum level level, const char *line);
/* Whoever started us may have blocked or ignored any signal: SIGTERM, SIGINT and SIGHUP, which are `ends`, end us, and
 * SIGPIPE is ignored. */
void set_signals(sigset_t *ends);
/* Opens those of stdin, stdout and stderr that are closed, so that no other file gets their descriptors. */
void hold_standard_places(void);

#endif
