/* What people are told: one line on stderr and in the system's log for one answer. Refuses to wait for who reads stderr. */
#ifndef BB_GATE_SAY_H
#define BB_GATE_SAY_H

#define PROGRAM "beoboard-gate"

/* `priority`: LOG_NOTICE and the like. */
void say(int priority, const char *line);

/* To stderr alone, and out of a signal handler, too. */
void say_on_stderr(const char *line);

#endif
