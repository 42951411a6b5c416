#include "pcibus.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int leaf_read(const char *folder, const char *leaf, char text[64]) {
  char path[900];
  snprintf(path, sizeof path, "%s/%s", folder, leaf);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t length = fd == -1 ? -1 : read(fd, text, 63);
  const int status = length > 0 ? 0 : length == 0 ? EIO : errno;
  if (fd != -1) close(fd);
  text[length > 0 ? length : 0] = 0;
  return status;
}

/* A display or an accelerator of a vendor that we know, and not a virtual one, which its host does not use. */
static bool is_gpu(const char *device, bool *amd) {
  char text[64], path[600];
  leaf_read(device, "vendor", text);
  *amd = strncmp(text, "0x1002", 6) == 0;
  if (!*amd && strncmp(text, "0x10de", 6) != 0) return false;
  leaf_read(device, "class", text);
  if (strncmp(text, "0x03", 4) != 0 && strncmp(text, "0x12", 4) != 0) return false;
  snprintf(path, sizeof path, "%s/physfn", device);
  return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
}

static int by_place(const void *a, const void *b) {
  return strcmp(((const struct pci_gpu *)a)->place, ((const struct pci_gpu *)b)->place);
}

unsigned pci_gpus(const char *sys, struct pci_gpu *gpus, unsigned most) {
  char path[700], device[560], link[300];
  unsigned count = 0;
  bool amd;
  snprintf(path, sizeof path, "%s/bus/pci/devices", sys);
  DIR *const dir = opendir(path);
  if (dir == NULL) return 0;
  for (const struct dirent *entry; count < most && (entry = readdir(dir)) != NULL;) {
    if (strlen(entry->d_name) >= PLACE_ROOM) continue;
    snprintf(device, sizeof device, "%s/bus/pci/devices/%.15s", sys, entry->d_name);
    if (!is_gpu(device, &amd)) continue;
    struct pci_gpu *gpu = &gpus[count++];
    *gpu = (struct pci_gpu){.amd = amd};
    memcpy(gpu->place, entry->d_name, strlen(entry->d_name));
    snprintf(path, sizeof path, "%s/driver", device);
    const ssize_t length = readlink(path, link, sizeof link - 1);
    if (length <= 0) continue;
    link[length] = 0;
    const char *slash = strrchr(link, '/');
    snprintf(gpu->driver, sizeof gpu->driver, "%.23s", slash == NULL ? link : slash + 1);
    gpu->bound = strcmp(gpu->driver, amd ? "amdgpu" : "nvidia") == 0;
    gpu->away = !gpu->bound;
  }
  closedir(dir);
  qsort(gpus, count, sizeof *gpus, by_place);
  return count;
}
