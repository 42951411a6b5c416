/* The sender under a service manager: what it is told, as sd_notify(3) has it. Does nothing where there is none. */
#ifndef BB_SENDER_SERVICE_H
#define BB_SENDER_SERVICE_H
#include <stdint.h>

/* Looks into the environment; before anything else is told. */
void service_open(void);
/* It reports: at its start, and when it has read its options again. `status` is a line for people. */
void service_ready(const char *status);
/* It reports otherwise from now on. */
void service_status(const char *status);
/* It reads its options again. */
void service_reloading(void);
/* It ends. */
void service_stopping(void);
/* When the watchdog is to be kept quiet again; UINT64_MAX for never. */
extern uint64_t service_due_ns;
/* Keeps it quiet; gives when it is to be called again. */
uint64_t service_live(uint64_t now_ns);
/* Calls service_live() when it is due: twice in the watchdog's time, once all is ready. Cheap enough to be called each second. */
static inline uint64_t service_watch(uint64_t now_ns) { return now_ns < service_due_ns ? service_due_ns : service_live(now_ns); }

#endif
