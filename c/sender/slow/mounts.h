/* /proc/self/mountinfo: which file systems are mounted where, and which of them are this machine's own. Refuses a text with
 * any line that it does not understand; asks no file system anything, for that is what hangs. */
#ifndef BB_SENDER_MOUNTS_H
#define BB_SENDER_MOUNTS_H
#include "source.h"

/* One line. Blanks, tabs, line ends, backslashes and # are written in octal by the kernel, and still are so here. */
struct mount {
  struct span device; /* major:minor, equal for all mounts of one file system */
  struct span point, type;
  struct span source;  /* what was mounted, as whoever mounted it called it */
  struct span options; /* of the file system, as the kernel shows them */
  /* Mounted so, remounted so by the kernel after an error, or (ext4 since Linux 6.15) treated so after one. */
  bool read_only;
};

/* A table of the mounts of one text. One for each source, for each may hang while it uses it: only what is used of these
 * megabytes costs memory. A line has 22 bytes at least. */
struct mounts {
  size_t length;
  unsigned count;    /* of the points that are covered */
  uint64_t *covered; /* right behind the text: mostly both have a page together */
  _Alignas(8) char text[MOST_BYTES + 8 + MOST_BYTES / 22 * sizeof(uint64_t)];
};

/* Reads them; false when they cannot be read or are not understood. */
bool take_mounts(struct reading *now, enum how how, struct mounts *mounts);
/* The next mount that can be seen: of those at one point, the one that lies on top. Begin with 0. */
bool next_mount(const struct mounts *mounts, size_t *at, struct mount *mount);
/* Where a mount is, as it is called to ask it; false when that is not a path. */
bool plain_point(const struct mount *mount, char into[REAL_PATH]);
bool is_mounted_at(const struct mount *mount, struct span path);
/* The mount that a path without links lies on. */
bool mount_of(const struct mounts *mounts, struct span path, struct mount *found);
/* Whether a file system is known to be this machine's own. One of a type never heard of may hang on a network. */
bool is_local(const struct mount *mount);
/* Whether a file system counts in `fs_total_mib`: local, on a block device, with space of its own. */
bool has_disk(const struct mount *mount);

#endif
