/* The words for what went wrong: one line, in a place that is taken again. Refuses to let through what would break the line or steer a
 * terminal. */
#ifndef BB_COMMON_FAULT_H
#define BB_COMMON_FAULT_H
#include <stddef.h>

/* More than the longest path, which some repeat. */
#define MOST_FAULT 5000

/* In a place that the next one takes; an argument may be the last one. */
const char *fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What somebody wrote, to be repeated: between quotes, in one line, at most 60 characters of it. The fourth call from here takes its place. */
const char *quoted(const char *text, size_t length);

#endif
