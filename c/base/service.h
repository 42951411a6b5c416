/* The sender under a service manager: reports to it as in sd_notify(3). Does nothing if there is none. */
#ifndef BB_SERVICE_H
#define BB_SERVICE_H
#include <stdbool.h>
#include <stdint.h>

/* Reads the environment; to be called before anything is sent to the manager. */
void service_open(void);
/* Whether somebody starts us again when we end, and gives up if that is for wrong usage. */
bool service_is_managed(void);
/* The sender is ready: after its start, and after it has read its options again. `status` is a line for people. */
void service_ready(const char *status);
/* It reports differently from now on. */
void service_status(const char *status);
/* It reads its options again. */
void service_reloading(void);
/* It ends. */
void service_stopping(void);
/* When the watchdog has to be fed again; UINT64_MAX for never. */
extern uint64_t service_due_ns;
/* Feeds it; returns when it has to be called again. */
uint64_t service_live(uint64_t now_ns);
/* Calls service_live() when it is due: twice in the watchdog's time, once everything is ready. Cheap enough to be
 * called each second. */
static inline uint64_t service_watch(uint64_t now_ns) {
  return now_ns < service_due_ns ? service_due_ns : service_live(now_ns);
}

#endif
