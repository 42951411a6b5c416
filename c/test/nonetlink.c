/* Preloaded into a daemon, stands for a sandbox that forbids AF_NETLINK, as RestrictAddressFamilies= of systemd
 * does. */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>

int socket(int family, int type, int protocol) {
  static int (*next)(int, int, int);
  if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "socket");
  if (family != AF_NETLINK) return next(family, type, protocol);
  errno = EAFNOSUPPORT;
  return -1;
}
