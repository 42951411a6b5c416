/* Every destination of a report, and going over from some to others while reports are sent. Never fails and never keeps the
 * next report waiting: what cannot be sent is counted, told once, and tried again. */
#ifndef BB_SENDER_OUTLETS_H
#define BB_SENDER_OUTLETS_H
#include "options.h"

/* Sets up; before all else. */
bool outlets_open(int answer_signal);
/* Goes over to other destinations between two reports: one that stays keeps its socket. */
void outlets_change(const struct options *options);
/* Drops reports that wait for an answer: they would tell of what is no more. */
void outlets_forget(void);

/* Every destination gets the same bytes, and none waits for another. How many took them so far. */
unsigned outlets_send(const void *report, size_t bytes);
/* Takes answers about names: a report that waited for one is sent now. How many took it. */
unsigned outlets_answered(void);
/* How many reports still wait for an answer. */
unsigned outlets_waiting(void);

unsigned outlets_count(void);
uint64_t outlets_failed(void);
/* "10.0.0.1:8677, stdout" */
void add_outlets(struct words *words);

enum stdout_state { STDOUT_GOOD, STDOUT_GONE, STDOUT_BROKEN };
/* Whether somebody still reads stdout; of STDOUT_BROKEN the error number. */
enum stdout_state outlets_stdout(int *error);
/* Waits for stdout to take a report, where there will be no other. */
void outlets_be_patient(void);

#endif
