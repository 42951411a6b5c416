/* What people are told: one line on stderr for one event. Refuses to wait: a line that nobody takes is dropped. */
#ifndef BB_GPU_SAY_H
#define BB_GPU_SAY_H

#define PROGRAM "beoboard-gpu"

enum level { SAY_INFO = 30, SAY_WARN = 40, SAY_ERROR = 50 };

/* `BEOBOARD_LOG=json` makes it an object. */
void say(enum level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The words for what went wrong, in a place that the next one takes. */
const char *fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
