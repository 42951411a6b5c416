/* The GPUs as NVML, or AMD's driver, and the PCI bus report them, laid into the table. Any call may hang; the lock is
 * not held while one lasts, so another thread can go on writing the file. */
#ifndef BB_GPUS_NVML_H
#define BB_GPUS_NVML_H
#include <stdbool.h>

#include "gputable.h"

/* In so many rounds without a reading a GPU is lost. */
enum { ROUNDS = 3 };

/* Where the kernel's files about devices are. */
extern const char *gpus_sys;

/* Begins a round by a look at the bus. `expects`: how many GPUs there must be. Whether NVML is to be asked: there is a
 * GPU of NVIDIA, or none at all. */
bool gpus_begin(unsigned expects);
/* Loads the library and counts the GPUs. NULL, or the error with its status; then nothing is open. */
const char *gpus_open(const char *library, int *status);
void gpus_close(void);
/* Reads NVIDIA's. NULL, or why the library is not usable any more and, after gpus_end(), has to be closed. */
const char *gpus_read(int *status);
/* Ends the round: AMD's are read, and it is concluded who is there. `status`: of the library, if it is not usable;
 * `was_asked`: in this round. */
void gpus_end(bool was_asked, int status);
/* Reads one, by its place, into its line, and counts what it answers. One that sleeps is not woken, and fails none. */
void amd_read(const char *sys, struct gpu *to);
/* As the GPU file has it. */
const char *gpus_vendor(void);
/* Leaves out the readings of all. */
void gpus_blank(void);
/* Whether there is one of AMD; one that is lost; one of which this is not known yet, also as the library, opened before
 * it came, may not count it. */
struct gpus_summary {
  bool has_amd, has_lost, has_unsettled, has_uncounted;
} gpus_summary(void);

/* The lock of all this, of the table too. */
void gpus_take(void);
void gpus_leave(void);
/* Lets the file be written meanwhile, as during a call of which no GPU is the reason. errno is kept. */
void gpus_step_out(void);
void gpus_step_in(void);
/* Whether a call lasts. After 30 s the GPU that it hangs at does not answer, and what was not reached is not known. */
bool gpus_call_lasts(void);

#endif
