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
  char id[ID_ROOM];       /* its UUID; without one its place; else `number-N` or `expected-N` */
  char place[PLACE_ROOM]; /* on the PCI bus; "": not known */
  uint32_t xids;          /* since the machine was started */
  bool lost;              /* told as off_the_bus until it answers */
  bool stored;            /* it is in the file */

  nvml_device device; /* NULL: the library did not return it */
  bool hears;         /* its Xids come as events */
  bool at_once;       /* the library said that it is lost: not to be asked before the library is opened again */
  bool unmeasured;    /* it may work, but nobody can tell */
  bool away;          /* another driver has it */
  int status;         /* why it gave no reading */
  unsigned answers, failures, rounds; /* of this round; the rounds without an answer */
  int64_t reached_ms;                 /* when it was read last */
  char told[160];                     /* the words in the log for its loss */
  struct gpu_line line;
};

extern struct gpu gpus[MOST_GPUS];
extern unsigned gpu_count;

/* One more GPU at the end; NULL if there is no room. */
struct gpu *gpu_append(const char *id, const char *place);
/* The same, in the place of one that was only expected if there is one. */
struct gpu *gpu_add(const char *id, const char *place);
/* Whether it was never seen: --expect alone says that it should be there. */
bool gpu_is_expected(const struct gpu *gpu);
struct gpu *gpu_with(const char *id);
struct gpu *gpu_at(const char *place);

/* The file of the table. Reads it, if it has changed; what was taken out of it (--forget) is gone from the table. */
void gputable_read(const char *path);
/* Whether something was taken out since this was asked last: then GPUs have other numbers. */
bool gputable_has_moved(void);
/* Writes it, if the table has changed. */
void gputable_write(const char *path);
/* Takes a GPU out of the file, whoever uses it. NULL, or the error. */
const char *gputable_forget(const char *path, const char *id);
/* Asks for a pause until this time of CLOCK_BOOTTIME, ms; 0 ends it. NULL, or the error. */
const char *gputable_release(const char *path, int64_t until_ms);
/* Until when the library is to be left closed; 0: it may be open. */
int64_t gputable_released_until(void);
/* Sets whether the library is closed for that, for who waits; and returns whether the file says so. */
void gputable_set_released(bool is);
bool gputable_is_released(void);

#endif
