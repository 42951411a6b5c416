/* A lock file that nobody else can hold. Whoever can open a file or a folder, also only for reading, can lock it
 * (flock), and so keep its program from starting. So what is locked is never what others read, but a file beside it
 * that its owner alone can open. */
#ifndef BB_LOCKFILE_H
#define BB_LOCKFILE_H

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens the lock file `name` of a directory, and makes it where there is none: its descriptor, or -1 and errno. EPERM:
 * it is no plain file, has another name, too, or belongs to somebody else, who could hold it. */
static inline int bb_lockfile_open(int directory, const char *name, struct stat *st) {
  const int fd = openat(directory, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0600);
  if (fd < 0) return -1;
  int why = 0;
  if (fstat(fd, st) != 0) why = errno;
  else if (!S_ISREG(st->st_mode) || st->st_nlink != 1 || st->st_uid != geteuid()) why = EPERM;
  /* As after `chmod -R a+r`, which was meant for what lies beside it. */
  else if ((st->st_mode & 077) != 0 && fchmod(fd, 0600) != 0) why = errno;
  if (why == 0) return fd;
  close(fd);
  errno = why;
  return -1;
}

/* The same, and locks it; EWOULDBLOCK: somebody else holds it. `waits`: LOCK_NB, or 0 to wait until nobody does. */
static inline int bb_lockfile_take(int directory, const char *name, int waits, struct stat *st) {
  const int fd = bb_lockfile_open(directory, name, st);
  if (fd < 0 || flock(fd, LOCK_EX | waits) == 0) return fd;
  const int why = errno;
  close(fd);
  errno = why;
  return -1;
}

#endif
