/* Keeps a file of /proc or /sys open and reads it again from its beginning. Refuses what is not a regular file, what is 4 MiB or
 * larger, and to wait for anything: whatever goes wrong, the reading is absent and the next one tries again. */
#ifndef BB_SENDER_KERNELFILE_H
#define BB_SENDER_KERNELFILE_H
#include "text.h"

/* No kernel file that we read comes near this; what does is a mistake or a trap. */
#define MOST_BYTES (4u << 20)
/* No file that is read seldom comes near this: a file below /sys has at most a page. */
#define SMALL_BYTES (64u << 10)

enum {
  /* The kernel makes it line by line, and gives a page or so at a time: a short read is not its end. */
  FILE_IN_LINES = 1,
  /* Not every kernel has it: its absence is not worth a line. */
  FILE_OPTIONAL = 2,
};

/* What went wrong: an error number, or one of these. */
enum { NOT_REGULAR = -1, TOO_LARGE = -2 };

struct kernel_file {
  const char *const *root; /* the tree, which may change */
  const char *leaf;
  int fd; /* -1: not open */
  int flags;
  bool told;
  uint8_t absent; /* readings for which it is not looked for, because it was not there */
  uint32_t ask;   /* bytes to ask for, so that one call gets all of it */
  /* Whether all that is wanted is in what was read so far; NULL: only all of it is enough. */
  bool (*enough)(struct span text);
};

#define KERNEL_FILE(tree, path, how) ((struct kernel_file){.root = &(tree), .leaf = (path), .fd = -1, .flags = (how)})

/* The whole text, in a place that the next reading takes again. */
bool file_read(struct kernel_file *file, struct span *text);
/* The place behind that text: SMALL_BYTES of it. */
char *file_place(void);
/* Whether what was read is understood: says so once, in one line, when it is not. */
bool file_parsed(struct kernel_file *file, bool understood);
void file_close(struct kernel_file *file);

/* A file that is read seldom, opened and closed at once. `most`: only so much of its beginning. 0, or what went wrong. */
int read_once(const char *path, int flags, size_t most, char *into, size_t room, struct span *text);

/* Opens without ever waiting, and gives the descriptor, or -1 with what went wrong in `error`. */
int open_regular(const char *path, int *error);
/* Reads from offset 0 to the end, which must come before `room`, or as far as is enough. */
int read_whole(int fd, int flags, uint32_t ask, char *into, size_t room, size_t *length);
int read_enough(int fd, int flags, uint32_t ask, char *into, size_t room, size_t *length, bool (*enough)(struct span));

/* Whether a kernel says so that it does not have a file (never made, or switched off), or nobody can look for it. */
bool means_absent(const char *path, int error);
struct words;
/* "cannot read PATH: WHY" */
void add_unreadable(struct words *words, const char *path, int error, size_t most);

#endif
