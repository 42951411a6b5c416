/* Reports the state of a daemon to a service manager, with the datagrams of sd_notify(3), without its library. Never
 * waits. */
#ifndef BB_NOTIFY_H
#define BB_NOTIFY_H

/* Sends `message` (lines NAME=VALUE) to the Unix socket at `path`, the value of NOTIFY_SOCKET; a path that begins
 * with @ is an abstract name. 0, or -errno: EAGAIN if the manager has not yet read the earlier messages. */
int bb_notify(const char *path, const char *message);
#endif
