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

unsigned pci_gpus(const char *sys, struct pci_gpu *gpus, unsigned most) {
  char path[700], device[560];
  struct dirent **entries;
  unsigned count = 0;
  bool amd;
  snprintf(path, sizeof path, "%s/bus/pci/devices", sys);
  const int found = scandir(path, &entries, NULL, alphasort);
  for (int i = 0; i < found; free(entries[i++])) {
    const char *place = entries[i]->d_name;
    if (count == most || strlen(place) >= PLACE_ROOM) continue;
    snprintf(device, sizeof device, "%s/bus/pci/devices/%.15s", sys, place);
    if (!is_gpu(device, &amd)) continue;
    struct pci_gpu *gpu = &gpus[count++];
    *gpu = (struct pci_gpu){.amd = amd};
    memcpy(gpu->place, place, strlen(place));
    snprintf(path, sizeof path, "%s/driver", device);
    char link[300] = "";
    if (readlink(path, link, sizeof link - 1) <= 0) continue;
    snprintf(gpu->driver, sizeof gpu->driver, "%.23s", basename(link));
    gpu->bound = strcmp(gpu->driver, amd ? "amdgpu" : "nvidia") == 0;
    gpu->foreign = !gpu->bound;
    gpu->away = strstr(gpu->driver, "vfio") || strstr(gpu->driver, "pci-stub") || strstr(gpu->driver, "pciback");
  }
  if (found >= 0) free(entries);
  return count;
}
