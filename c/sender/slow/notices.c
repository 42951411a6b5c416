#include "notices.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "source.h"

/* f_type of tmpfs, from statfs(2): musl has no headers of the kernel. */
#define TMPFS_MAGIC 0x01021994

#define MADE (IN_CREATE | IN_MOVED_TO)
#define ANY (MADE | IN_DELETE | IN_MOVED_FROM | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)

static int notices = -1;

int notices_open(void) {
  notices = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  return notices;
}

void notices_drain(void) {
  _Alignas(struct inotify_event) char events[sizeof(struct inotify_event) + NAME_MAX + 1];
  while (read(notices, events, sizeof events) > 0) continue;
}

/* Only in memory: on a network another machine makes changes, and in a file system of several layers another layer. */
static bool watch(const char *folder, uint32_t events) {
  struct statfs stats;
  return statfs(folder, &stats) == 0 && stats.f_type == TMPFS_MAGIC &&
         inotify_add_watch(notices, folder, events | IN_ONLYDIR) != -1;
}

bool notices_watch(const char *folder) {
  char parent[READING_PATH];
  if (notices == -1) return false;
  if (watch(folder, ANY)) return true;
  const char *slash = strrchr(folder, '/');
  if (errno != ENOENT || slash == NULL || slash == folder) return false;
  struct words words = WORDS(parent);
  add_span(&words, (struct span){folder, (size_t)(slash - folder)});
  text_of(&words);
  /* It may have been made meanwhile. */
  return watch(parent, MADE) && (access(folder, F_OK) != 0 || watch(folder, ANY));
}
