/* Messages for people: one line on stderr and in the system's log for one answer. Never waits for the reader of
 * stderr. */
#ifndef BB_SAY_H
#define BB_SAY_H

#define PROGRAM "beoboard-gate"

/* `priority`: LOG_NOTICE and the like. */
void say(int priority, const char *line);

/* To stderr only; may be called from a signal handler. */
void say_on_stderr(const char *line);

#endif
