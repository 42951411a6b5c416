#include "notify.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int bb_notify(const char *path, const char *message) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const size_t length = strlen(path);
  if ((path[0] != '/' && path[0] != '@') || length < 2 || length > sizeof address.sun_path) return -EINVAL;
  memcpy(address.sun_path, path, length);
  if (path[0] == '@') address.sun_path[0] = 0;
  /* Opened for each message: messages are rare, and a restarted manager may listen at another socket. */
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  const socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
  const ssize_t sent =
    sendto(fd, message, strlen(message), MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&address, bytes);
  const int error = sent < 0 ? errno : 0;
  close(fd);
  return -error;
}
