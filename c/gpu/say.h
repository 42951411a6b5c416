/* Messages for people: one line on stderr for one event. Never waits: a line that nobody takes is dropped. */
#ifndef BB_SAY_H
#define BB_SAY_H

#define PROGRAM "beoboard-gpu"

enum level { SAY_INFO = 30, SAY_WARN = 40, SAY_ERROR = 50 };

/* `BEOBOARD_LOG=json` makes it an object. */
void say(enum level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An error message, in a buffer that the next one overwrites. */
const char *fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
