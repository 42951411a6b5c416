#include "requests.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_folder(const char *path) {
  struct stat st;
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || (fstat(fd, &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid()) && (st.st_mode & 022) == 0))
    return fd;
  close(fd);
  return -1;
}

void requests_leave(const char *folder, const char *const nodes[], size_t count) {
  const int at = open_folder(folder);
  for (size_t i = 0; at >= 0 && i < count; i++) {
    if (nodes[i][0] == '.' || strchr(nodes[i], '/') != NULL) continue; /* Slurm takes such names; a folder does not */
    const int fd = openat(at, nodes[i], O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0) continue;
    futimens(fd, NULL); /* the file may be there already */
    close(fd);
  }
  if (at >= 0) close(at);
}
