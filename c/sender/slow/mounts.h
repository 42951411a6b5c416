/* /proc/self/mountinfo: which file systems are mounted where, and which of them are local. Refuses a text with any
 * invalid line; asks no file system anything, because that can hang. */
#ifndef BB_MOUNTS_H
#define BB_MOUNTS_H
#include "source.h"

/* One line. The kernel writes blanks, tabs, line ends, backslashes and # in octal, and they are still so here. */
struct mount {
  struct span device; /* major:minor, equal for all mounts of one file system */
  struct span point, type;
  struct span source;  /* the mounted device, as named in the mount command */
  struct span options; /* the options of the file system, as the kernel shows them */
  /* Read-only: mounted so, remounted so by the kernel after an error, or (ext4 since Linux 6.15) treated so after
   * one. */
  bool read_only;
};

/* The mounts in one text. */
struct mounts {
  _Atomic bool in_use;
  struct span text;
  unsigned count;    /* of the mount points that are covered */
  uint64_t *covered; /* right after the text: mostly both share a page */
  struct room memory;
};

/* Reads them into a table that is to be given back; NULL if they cannot be read or are invalid. A source has one table
 * at a time. */
struct mounts *open_mounts(struct reading *now, enum how how);
/* Nothing is also given back. */
void close_mounts(struct mounts *mounts);
/* The next visible mount: of several at the same point, the top one. Begin with 0. */
bool next_mount(const struct mounts *mounts, size_t *at, struct mount *mount);
/* The path of a mount, without escapes; false if it is not a path. */
bool plain_point(const struct mount *mount, char into[REAL_PATH]);
bool is_mounted_at(const struct mount *mount, struct span path);
/* The mount of a path without links. */
bool mount_of(const struct mounts *mounts, struct span path, struct mount *found);
/* Whether a file system is known to be local. One of an unknown type may hang on a network. */
bool is_local(const struct mount *mount);
/* Whether a file system counts in `fs_total_mib`: local, on a block device, with its own space. */
bool has_disk(const struct mount *mount);

#endif
