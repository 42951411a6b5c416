#include "service.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "notify.h"
#include "words.h"

/* In the environment, which stays valid. */
static const char *manager;
static uint64_t half_ns;
uint64_t service_due_ns = UINT64_MAX;

void service_open(void) {
  const char *const us = getenv("WATCHDOG_USEC"), *const pid = getenv("WATCHDOG_PID");
  uint64_t number = 0, watched = 0;
  manager = getenv("NOTIFY_SOCKET");
  if (manager == NULL || us == NULL || !text_u64(span_of(us), &number)) return;
  if (pid != NULL && (!text_u64(span_of(pid), &watched) || watched != (uint64_t)getpid())) return;
  half_ns = number / 2 * 1000;
}

bool service_is_managed(void) { return manager != NULL; }

/* What is not taken is lost: a manager that does not read must not delay a report. */
static void inform(const char *message) {
  if (manager == NULL) return;
  bb_notify(manager, message);
}

static void inform_of(const char *what, const char *value) {
  char text[900];
  struct words words = WORDS(text);
  add_text(&words, what);
  add_text(&words, value);
  inform(text_of(&words));
}

void service_ready(const char *status) {
  inform_of("READY=1\nSTATUS=", status);
  if (half_ns > 0 && service_due_ns == UINT64_MAX) service_due_ns = bb_clock_ns(CLOCK_BOOTTIME) + half_ns;
}

void service_status(const char *status) { inform_of("STATUS=", status); }

void service_reloading(void) {
  char text[80];
  struct words words = WORDS(text);
  add_text(&words, "RELOADING=1\nMONOTONIC_USEC=");
  add_number(&words, bb_clock_ns(CLOCK_MONOTONIC) / 1000);
  inform(text_of(&words));
}

void service_stopping(void) { inform("STOPPING=1"); }

uint64_t service_live(uint64_t now_ns) {
  inform("WATCHDOG=1");
  return service_due_ns = now_ns + half_ns;
}
