/* The GPUs on the PCI bus and which driver has each, from /sys. Asks no vendor library, and so never hangs. */
#ifndef BB_PCIBUS_H
#define BB_PCIBUS_H

#define PLACE_ROOM 16

struct pci_gpu {
  char place[PLACE_ROOM]; /* its address, as 0000:3b:00.0 */
  char driver[24];        /* "": none */
};

/* The GPUs of a vendor, by its number as the bus has it, without the virtual ones, which their host does not use, in
 * the order of their addresses. Returns how many there are, at most `most`. */
unsigned pci_gpus(const char *sys, const char *vendor, struct pci_gpu *gpus, unsigned most);

#endif
