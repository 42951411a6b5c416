/* The GPUs on the PCI bus and which driver has each, from /sys. Asks no vendor library, and so never hangs. */
#ifndef BB_PCIBUS_H
#define BB_PCIBUS_H
#include <stdbool.h>

#define PLACE_ROOM 16

struct pci_gpu {
  char place[PLACE_ROOM]; /* its address, as 0000:3b:00.0 */
  char driver[24];        /* "": none */
  bool amd;               /* AMD's; else NVIDIA's */
  bool bound, foreign;    /* the vendor's driver has it; another one */
  bool away;              /* one that gives it to a guest or a program, as vfio-pci */
};

/* The first bytes of a file in a folder, as text. 0, or the error: EIO if it is empty. */
int leaf_read(const char *folder, const char *leaf, char text[64]);
/* NVIDIA's and AMD's GPUs, without the virtual ones, in the order of their addresses. Returns how many there are, at
 * most `most`. */
unsigned pci_gpus(const char *sys, struct pci_gpu *gpus, unsigned most);

#endif
