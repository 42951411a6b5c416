#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As the kernel writes it (struct linux_dirent64); what follows is the name. */
struct entry {
  uint64_t inode;
  int64_t next;
  uint16_t length;
  uint8_t type;
  char name[];
};

int folder_open(struct folder *folder, const char *path, char *buffer, size_t room) {
  *folder = (struct folder){.buffer = buffer, .room = room};
  folder->fd = openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC);
  return folder->fd == -1 ? errno : 0;
}

bool folder_next(struct folder *folder, struct span *name) {
  for (;;) {
    if (folder->at >= folder->len) {
      const long got = syscall(SYS_getdents64, folder->fd, folder->buffer, folder->room);
      if (got <= 0) return false;
      folder->len = (size_t)got;
      folder->at = 0;
    }
    const struct entry *entry = (const struct entry *)(const void *)(folder->buffer + folder->at);
    folder->at += entry->length;
    *name = span_of(entry->name);
    if (!span_is(*name, SPAN(".")) && !span_is(*name, SPAN(".."))) return true;
  }
}

void folder_close(struct folder *folder) { close(folder->fd); }
