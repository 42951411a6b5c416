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

/* Loads the library and counts the GPUs. NULL, or the error with its status; then nothing is open. */
const char *gpus_open(const char *library, int *status);
void gpus_close(void);
/* Reads all GPUs. NULL, or why the library is not usable any more and has to be opened again. `expected`: how many
 * there must be. */
const char *gpus_read(unsigned expected, int *status);
/* A round without the library, which was refused with this status: what the table and the bus tell. */
void gpus_without_library(int status, unsigned expected);
/* Whether the GPUs of this machine are AMD's: the bus has some, and none of NVIDIA was ever seen. To be asked while
 * the library is closed. */
bool gpus_are_amds(void);
/* Reads all of AMD's. */
void gpus_read_amds(unsigned expected);
/* Reads one, by its place, into its line, and counts what it answers. One that sleeps is not woken, and fails none. */
void amd_read(const char *sys, struct gpu *to);
/* As the GPU file has it. */
const char *gpus_vendor(void);
/* Leaves out the readings of all. */
void gpus_blank(void);
/* Whether it is known of each if it answers. */
bool gpus_are_settled(void);
/* Whether one of them does not answer. */
bool gpus_are_lost(void);

/* The lock of all this, of the table too. */
void gpus_take(void);
void gpus_leave(void);
/* Lets the file be written meanwhile, as during a call of which no GPU is the reason. errno is kept. */
void gpus_step_out(void);
void gpus_step_in(void);
/* Whether a call lasts. After 30 s the GPU that it hangs at does not answer, and what was not reached is not known. */
bool gpus_call_lasts(void);

#endif
