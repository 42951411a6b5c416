/* All destinations of a report, and the change from some to others while reports are sent. Never fails and never
 * delays the next report: what cannot be sent is counted, logged once, and tried again. */
#ifndef BB_DESTINATIONS_H
#define BB_DESTINATIONS_H
#include "../format/layout.gen.h"
#include "options.h"

/* Initialises; to be called first. */
bool destinations_open(int answer_signal);
/* Changes the destinations between two reports: one that stays keeps its socket. Returns whether one is new. */
bool destinations_change(const struct options *options);
/* For another node: drops reports that wait for an answer, and no destination was told anything of it. */
void destinations_forget(void);

/* Every destination gets the same bytes, and none waits for another. Returns how many took them so far. */
unsigned destinations_send(const struct bb_report *report);
/* Processes answers about names: a report that waited for one is sent now. Returns how many took it. */
unsigned destinations_answered(void);
/* Whether every destination was told that this is the next interval: in twelve reports that the kernel has taken, over
 * twelve seconds. One that has refused reports for a minute is not waited for, if there is another one. */
bool destinations_know(uint32_t interval_ms);
/* How many reports still wait for an answer. */
unsigned destinations_waiting(void);

/* After what was sent for 6 s: names those of which nobody objected, and the others that are not looked up yet; `name`:
 * of this node. Returns how many the former are. */
unsigned destinations_unopposed(const char *name);

unsigned destinations_count(void);
uint64_t destinations_failed(void);
/* "10.0.0.1:8677, stdout" */
void add_destinations(struct words *words);

enum stdout_state { STDOUT_GOOD, STDOUT_GONE, STDOUT_BROKEN };
/* Whether somebody still reads stdout; for STDOUT_BROKEN the error number. */
enum stdout_state destinations_stdout(int *error);
/* Waits for stdout to take a report, if there will be no other. */
void destinations_be_patient(void);

#endif
