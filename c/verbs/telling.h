/* How the short verbs tell what they have to say, and end. stdout as the program in Node.js has it: who stops reading is no error, a full disk
 * is one. Memory is taken and kept: these programs live for milliseconds. */
#ifndef BB_VERBS_TELLING_H
#define BB_VERBS_TELLING_H
#include <stdnoreturn.h>

#include "../sender/quoting.h"

/* What the program is called. Each has its own. */
extern const char program[];

/* Exit codes: the condition does not hold, wrong usage, no board or a stalled one, stdout cannot be written. */
enum { EXIT_NOT_SO = 1, EXIT_USAGE = 2, EXIT_NO_BOARD = 4, EXIT_WRITE = 74 };

/* Of whoever is asked: what it answers when it cannot be answered, with one of these codes. Each program has its own. */
noreturn void give_up(const char *why, int code);

/* The same where there is no memory, and so without any. */
noreturn void give_up_memory(void);

/* Writes a line as it is to a descriptor, and ends. */
noreturn void end_with(int fd, const char *line, int code);

/* Memory of so many bytes, zeroed; what cannot be had ends the program. */
void *keep(size_t count, size_t bytes);

/* Descriptors 0 to 2 are there, whoever started us; a board that is cut short while it is read is told of by give_up(), with `path`. */
void prepare(const char *path);

/* Writes all of it to stdout. Ends the program where that cannot be had. */
void print(const char *text, size_t length);

/* One line on stderr, behind the program's name. */
void complain(const char *line);

/* A line that is whole, with its end. */
void complain_whole(const struct words *line);

/* The words for an error number as Node.js has them: "no such file or directory". */
const char *error_text(int error);

/* Words that grow into memory that is kept; a board can make no more of them. */
#define MOST_WORDS_TOLD (1u << 20)
struct words long_words(void);

#endif
