/* The GPUs that this machine has, known by what they are: their UUID, else their place on the PCI bus. The table
 * outlives the helper and the machine's restarts in a small file, so a GPU that does not come back is missed. A GPU's
 * number is its place in the table. */
#ifndef BB_GPUTABLE_H
#define BB_GPUTABLE_H
#include <stdbool.h>

#include "gpufile_writer.h"
#include "nvml.h"
#include "pcibus.h"

#define ID_ROOM 96

struct gpu {
  char id[ID_ROOM];       /* its UUID; AMD's, and without one, its place; `number-N` of a nameless one */
  char place[PLACE_ROOM]; /* on the PCI bus; "": not known */
  bool amd;               /* AMD's; else NVIDIA's, which NVML tells of */
  uint32_t xids;          /* heard of since the machine was started */
  bool seen;              /* it has given a reading once */
  bool lost;              /* told as off_the_bus until it answers */
  bool stored;            /* it is in the file */
  bool expected;          /* nobody has seen it, --expect alone says that it should be there */

  nvml_device device; /* NULL: the library did not return it */
  bool hears;         /* its Xids come as events */
  bool at_once;       /* the library said that it is lost: not to be asked before the library is opened again */
  bool unmeasured;    /* it may work, but nobody can tell */
  bool away;          /* another driver has it */
  bool integrated;    /* AMD's, and in a processor, as its little memory shows: no GPU for --expect */
  int status;         /* why it gave no reading */
  unsigned answers, failures, rounds; /* of this round; the rounds without an answer */
  int64_t reached_ms;                 /* when it was read last */
  char told[160];                     /* the words in the log for its loss */
  struct gpu_line line;
};

extern struct gpu gpus[MOST_GPUS];
extern unsigned gpu_count;

/* One more GPU at the end, nameless if `id` is NULL; NULL if there is no room. */
struct gpu *gpu_add(const char *id, const char *place);
/* Whether nothing is known of it but that it is there, or was, or should be. */
bool gpu_is_nameless(const struct gpu *gpu);
/* Takes it out; later ones move up by a number. */
void gpu_remove(struct gpu *gpu);
struct gpu *gpu_with(const char *id);
struct gpu *gpu_at(const char *place, bool amd);

/* The file of the table. Reads it, if it has changed; what was taken out of it (--forget) is gone from the table. */
void gputable_read(const char *path);
/* Whether something was taken out since this was set to false: then GPUs have other numbers. */
extern bool gputable_has_moved;
/* Writes it, if the table has changed. */
void gputable_write(const char *path);
/* Takes a GPU out of the file, whoever uses it; without one, asks for a pause until this time of CLOCK_BOOTTIME, ms; 0
 * ends it. NULL, or the error. For a process that is not the helper. */
const char *gputable_change(const char *path, const char *forget, int64_t until_ms);
/* Until when the library is to be left closed; 0: it may be open. */
int64_t gputable_released_until(void);
/* Whether the library is closed for that, for who waits; the file says so, too. */
extern bool gputable_is_released;

#endif
