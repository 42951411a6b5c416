/* Messages for people: one line on stderr for one event, as an object where BEOBOARD_LOG is json. Never waits: a line
 * that nobody takes is dropped. */
#ifndef BB_SAY_H
#define BB_SAY_H
#include "quoting.h"

/* The name of the program: "beoboard-send". Each defines its own. */
extern const char program[];

enum level { SAY_INFO = 30, SAY_WARN = 40, SAY_ERROR = 50 };

/* A line of these texts, up to a NULL. Any thread may call it, and a signal handler. */
void say(enum level level, const char *first, ...) __attribute__((sentinel));
#define tell(...) say(SAY_WARN, __VA_ARGS__, (const char *)NULL)
/* Tells these texts if something does not work, once until it works again. */
void tell_once(bool *told, bool works, const char *first, const char *second, const char *third);

/* The words of other programs for an error number, ENOENT and the like; and as part of a sentence. */
const char *error_name(int error);
/* Why a file that the user named cannot be read, in words where it is a usual reason. */
const char *why_unreadable(int error);

#endif
