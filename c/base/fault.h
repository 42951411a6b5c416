/* Error messages: one line, in a buffer that is used again. Removes characters that would break the line or control
 * a terminal. */
#ifndef BB_FAULT_H
#define BB_FAULT_H
#include <stddef.h>

/* More than the longest path, which some messages repeat. */
#define MOST_FAULT 5000

/* In a buffer that the next message overwrites; an argument may be the last message. */
const char *fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a user wrote, for a message: quoted, in one line, at most 60 characters of it. The fourth call from here
 * overwrites it. */
const char *quoted(const char *text, size_t length);

#endif
