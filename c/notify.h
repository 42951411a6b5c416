/* Tells a service manager how a daemon is, in the datagrams of sd_notify(3), without its library. Never waits. */
#ifndef BB_NOTIFY_H
#define BB_NOTIFY_H

#ifdef __cplusplus
extern "C" {
#endif

/* Sends `message` (lines NAME=VALUE) to the Unix socket at `path`, which is what NOTIFY_SOCKET says; one that begins with @ is an
 * abstract name. 0, or -errno: EAGAIN when the manager has not yet read what it was told before. */
int bb_notify(const char *path, const char *message);

#ifdef __cplusplus
}
#endif
#endif
