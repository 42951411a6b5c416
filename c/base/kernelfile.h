/* Keeps a file of /proc or /sys open and reads it again from its beginning. Refuses what is not a regular file and
 * what is 4 MiB or larger, and never waits: after any error the reading is absent, and the next one tries again. */
#ifndef BB_KERNELFILE_H
#define BB_KERNELFILE_H
#include "room.h"
#include "wholefile.h"

/* No kernel file that we read is nearly as large; a larger one is a mistake or an attack. */
#define MOST_BYTES (4u << 20)
/* No file that is read rarely is nearly as large: a file below /sys has at most a page. */
#define SMALL_BYTES (64u << 10)
/* Other paths are made from the paths of trees and files that a user names: these must all fit. */
#define MOST_PATH 512u

struct kernel_file {
  const char *const *root; /* the tree, which may change */
  const char *leaf;
  int fd; /* -1: not open */
  int flags;
  bool told, told_in_part;
  uint8_t absent; /* for so many readings it is not looked for, because it was missing */
  uint32_t ask;   /* bytes to ask for, so that one call returns all of it */
  /* Whether everything needed is in what was read so far; NULL: all of it is needed. */
  bool (*enough)(struct span text);
};

#define KERNEL_FILE(tree, path, how) ((struct kernel_file){.root = &(tree), .leaf = (path), .fd = -1, .flags = (how)})

/* The whole text, in a buffer that the next reading overwrites. */
bool file_read(struct kernel_file *file, struct span *text);
/* The buffer after that text: twice SMALL_BYTES, and what there was room made for since. */
char *file_place(void);
/* Makes room for so many bytes there. The text may move, and `text` with it. False: there is no memory. */
bool file_room(struct span *text, size_t bytes);
/* Reports whether the text is valid: if it is not, or only in part, logs one line, once. */
bool file_parsed(struct kernel_file *file, enum parsed parsed);
void file_close(struct kernel_file *file);

/* A file that is read rarely: it is opened and closed at once. `most`: only so much of its beginning. 0, or the
 * error. */
int read_once(const char *path, int flags, size_t most, char *into, size_t room, struct span *text);

/* Reads a file of less than MOST_BYTES into a table, which grows as it has to, with `spare` bytes behind the text. 0,
 * or the error. */
int read_growing(const struct kernel_file *file, struct room *room, size_t spare, struct span *text);

/* Whether the error means that the kernel does not have the file (never made, or switched off), or that nobody can
 * look for it. */
bool means_absent(const char *path, int error);
struct words;
/* "cannot read PATH: WHY" */
void add_unreadable(struct words *words, const char *path, int error, size_t most);

#endif
