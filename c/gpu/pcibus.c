#include "pcibus.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether the file begins with this text. */
static bool begins(int devices, const char *device, const char *leaf, const char *with) {
  char path[300], text[16] = "";
  snprintf(path, sizeof path, "%s/%s", device, leaf);
  const int fd = openat(devices, path, O_RDONLY | O_CLOEXEC);
  if (fd == -1) return false;
  const ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  return length > 0 && strncmp(text, with, strlen(with)) == 0;
}

/* A display or an accelerator of that vendor. */
static bool is_gpu(int devices, const char *device, const char *vendor) {
  char path[300];
  if (!begins(devices, device, "vendor", vendor)) return false;
  if (!begins(devices, device, "class", "0x03") && !begins(devices, device, "class", "0x12")) return false;
  snprintf(path, sizeof path, "%s/physfn", device);
  return faccessat(devices, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
}

static int by_place(const void *a, const void *b) {
  return strcmp(((const struct pci_gpu *)a)->place, ((const struct pci_gpu *)b)->place);
}

unsigned pci_gpus(const char *sys, const char *vendor, struct pci_gpu *gpus, unsigned most) {
  char path[600], link[300];
  unsigned count = 0;
  snprintf(path, sizeof path, "%s/bus/pci/devices", sys);
  DIR *const dir = opendir(path);
  if (dir == NULL) return 0;
  for (const struct dirent *entry; count < most && (entry = readdir(dir)) != NULL;) {
    if (strlen(entry->d_name) >= PLACE_ROOM || !is_gpu(dirfd(dir), entry->d_name, vendor)) continue;
    struct pci_gpu *gpu = &gpus[count++];
    *gpu = (struct pci_gpu){0};
    memcpy(gpu->place, entry->d_name, strlen(entry->d_name));
    snprintf(path, sizeof path, "%s/driver", entry->d_name);
    const ssize_t length = readlinkat(dirfd(dir), path, link, sizeof link - 1);
    if (length <= 0) continue;
    link[length] = 0;
    const char *slash = strrchr(link, '/');
    snprintf(gpu->driver, sizeof gpu->driver, "%.23s", slash == NULL ? link : slash + 1);
  }
  closedir(dir);
  qsort(gpus, count, sizeof *gpus, by_place);
  return count;
}
