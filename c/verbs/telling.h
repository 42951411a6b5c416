/* Output and end of the short verbs. stdout behaves as in the Node.js program: a reader that ends is not an error, a
 * full disk is one. Memory is not freed one by one: these programs run for milliseconds. */
#ifndef BB_TELLING_H
#define BB_TELLING_H
#include <stdnoreturn.h>

#include "../base/say.h"
#include "../base/startup.h"

/* Beside those of startup.h: no board, or a stalled one. */
enum { NO_BOARD = 4 };

/* What to answer when there is no answer, with one of these codes. Each program defines its own. */
noreturn void give_up(const char *why, int code);

/* The same without memory. */
noreturn void give_up_memory(void);

/* Writes a line unchanged to a descriptor, and ends. */
noreturn void end_with(int fd, const char *line, int code);

/* So many bytes of zeroed memory; if there is none the program ends. */
void *keep(size_t count, size_t bytes);

/* Frees all of it. */
void let_go(void);

/* Makes sure that descriptors 0 to 2 are open; a board that is cut short while it is read is reported by give_up(),
 * with `path`. */
void prepare(const char *path);

/* Writes all of it to stdout. Ends the program if that fails. */
void print(struct span text);

/* One line on stderr, after the program's name. */
void complain(const char *line);

/* A line that is whole, with its end. */
void complain_whole(const struct words *line);

/* The words of Node.js for an error number: "no such file or directory". */
const char *error_text(int error);

/* Text that grows in memory that is kept; a board's text cannot grow without limit. */
#define MOST_WORDS_TOLD (1u << 20)
struct words long_words(void);

#endif
