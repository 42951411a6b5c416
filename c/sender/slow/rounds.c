/* The machine of the slow side; every step is made under `side.lock`.
 *
 *     a round   waits for                          what leads out of it
 *     closed    rounds_begin()                     open; closed at once if no source is due
 *     open      the answers that sources owe it    closed: by the last answer; or given up by the fifth alarm or by the
 *                                                  next rounds_begin()
 *
 *     a source  waits for                          what leads out of it
 *     idle      a round in which it is due         due; by rounds_between(), too, and then its values do not count
 *     due       the current worker                 reading; idle, if the round is given up, and due in the next one
 *     reading   its answer, in its own thread      idle; hung, if the round is given up
 *     hung      the same answer                    idle: only then it can be due again
 *
 *     values    hold until                         what leads out of it
 *     none      an answer in a round               valid
 *     valid     the next answer in a round         valid, new ones, or these again if it was busy; none, if
 *                                                  a round ends without it and they are too old (is_gone());
 *                                                  broken, if one of them is lost between rounds
 *     broken    the next answer in a round         none: that reading counts as not measured */
#include "rounds.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

#include "../../collect/world.h"
#include "notices.h"

/* A round ends once per interval, and at most once a second. */
#define LEAST_ROUND_MS 1000u
/* For how long a source may occupy the thread; then the others continue in another one. */
#define PATIENCE_MS 180u
/* A source that has not answered after so many of these has hung: a round ends before the next one begins. */
#define MOST_PATIENCE 5u
/* What is read in every round is asked so rarely where that can bring nothing new: waking a thread costs as much as
 * half a report. */
#define REST_MS 10000u
/* The number of an extra reading between two rounds, for sources that must be read more often: it is not published. */
#define BETWEEN 0u

#define MOST_TROUBLES 256u
/* Each source may hang, and one more thread continues. */
#define WORKERS (SOURCES + 1)
#define STACK_BYTES (64u << 10)
#define GUARD_BYTES (64u << 10) /* the largest page there is */

#define READER(name) slow_##name,
static void (*const readers[])(struct reading *) = {BB_SLOW_EACH(READER)};
#undef READER

/* Sanitizers need larger stacks, and must know where they are. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_STACKS 0
#else
#define OWN_STACKS 1
#endif

/* A thread that reads sources. The lock protects everything except `reading`. */
struct worker {
  bool started;
  int source;     /* the source that it is reading; -1: none */
  uint32_t round; /* the round */
  sem_t go;       /* there may be something to do */
  struct reading reading;
};

/* The layout of a worker's memory: a guard page, the stack that grows towards it, the worker. */
struct worker_memory {
  char guard[GUARD_BYTES];
  char stack[STACK_BYTES];
  struct worker worker;
};

struct state {
  bool asked, reading, hung;
  bool latest; /* there is a valid reading */
  bool broken; /* its next reading does not continue from the last one */
  bool rests;  /* it need not be asked in every round */
  uint32_t round;
  uint64_t asked_ms, at_ms;
  uint64_t sets;
  uint32_t flags;
  bool speeds, mhz, temps; /* its details */
};

static struct {
  pthread_mutex_t lock; /* protects everything that follows; held for a copy, never during a reading or while logging */
  /* The first bytes of reports: fields of valid readings, zero elsewhere; all from the end of the same round,
   * because rates are for the time between two ends. */
  struct bb_report published;
  struct details published_details;
  /* The same for the present round. */
  struct bb_report image;
  struct details details;
  uint32_t version; /* the number of speeds */
  bool new_speeds;  /* these differ from the published ones */
  struct state state[SOURCES];
  uint32_t round;
  bool open; /* a round is in progress */
  uint32_t due;       /* sources to read, as bits */
  uint32_t due_round; /* the round */
  unsigned owing;     /* sources of the round that have not answered */
  unsigned patience;  /* alarms since it began */
  uint32_t noticed;   /* changes of others' files */
  double health_age_s;   /* of the file, when it was read */
  uint64_t health_at_ms; /* that was then */
  struct worker *current; /* the worker that reads what is due */
} side;

/* Speeds of interfaces: of the present round and published, both under the lock, and those that the sending loop
 * sends. Next to each other, because mostly there are few. */
static struct {
  struct speed next, published, sent;
} speeds[BB_MOST_LINKS] LARGE;

static struct slow_world world;
static struct worker_memory *places[WORKERS]; /* NULL: not needed so far */
static bool has_alarms, create_told;
static sem_t round_closed;
static _Atomic uint32_t round_ms;
static int notices = -1;
static bool awaits_notice; /* of the thread that sends */

/* Complaints that were logged: a source uses the same words for the same trouble. What people do to the health file is
 * logged whenever it changes. */
static bool is_new_trouble(bool is_health, const struct reading *reading) {
  static uint64_t told[MOST_TROUBLES] LARGE, of_health;
  static unsigned count;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  const bool is_trouble = reading->complaint > 0;
  const uint64_t words = is_trouble ? fingerprint(FINGERPRINT, (struct span){reading->trouble, reading->complaint}) : 0;
  if (is_health) {
    const bool is_change = is_trouble && words != of_health;
    of_health = words;
    return is_change;
  }
  if (!is_trouble) return false;
  pthread_mutex_lock(&lock);
  unsigned at = 0;
  while (at < count && told[at] != words) at++;
  const bool is_new = at == count && count < MOST_TROUBLES;
  if (is_new) told[count++] = words;
  pthread_mutex_unlock(&lock);
  return is_new;
}

/* Reads a source; a part of what it reads is not a reading. */
static void read_source(unsigned i, struct reading *reading, const struct slow_world *of) {
  reading_begin(reading, of);
  readers[i](reading);
  if (!reading->partial) return;
  reading->sets = 0;
  reading->speeds.count = reading->mhz_groups = reading->temp_groups = 0;
}

/* A source has no values from now on: its fields are zero, and their bits in `valid` and `flags` are not set. */
static void drop_values(unsigned i) {
  struct state *state = &side.state[i];
  for (const struct bb_slow_piece *piece = bb_slow_sources[i].pieces; piece->bytes > 0; piece++)
    memset((char *)&side.image + piece->offset, 0, piece->bytes);
  side.image.valid &= ~state->sets;
  side.image.flags &= ~state->flags;
  if (state->speeds) side.details.speeds.count = 0;
  if (state->mhz) side.details.mhz_groups = 0;
  if (state->temps) side.details.temp_groups = 0;
  if ((state->flags & BB_FLAGS_CONTAINER) != 0) side.details.container = false;
  state->sets = 0;
  state->flags = 0;
  state->speeds = state->mhz = state->temps = state->latest = false;
}

/* A source has the values of this reading from now on, and none of an earlier one. */
static void keep_values(unsigned i, const struct reading *reading, uint32_t round) {
  struct state *state = &side.state[i];
  drop_values(i);
  for (const struct bb_slow_piece *piece = bb_slow_sources[i].pieces; piece->bytes > 0; piece++)
    memcpy((char *)&side.image + piece->offset, (const char *)&reading->fields + piece->offset, piece->bytes);
  side.image.valid |= reading->sets;
  side.image.flags |= reading->flags;
  if (reading->speeds.count > 0) {
    state->speeds = side.new_speeds = true;
    side.details.speeds.count = reading->speeds.count;
    for (unsigned k = 0; k < side.details.speeds.count; k++) speeds[k].next = *speed_at(&reading->speeds, k);
  }
  if (reading->mhz_groups > 0) {
    state->mhz = true;
    side.details.mhz_groups = reading->mhz_groups;
    memcpy(side.details.mhz, reading->mhz, sizeof side.details.mhz);
  }
  if (reading->temp_groups > 0) {
    state->temps = true;
    side.details.temp_groups = reading->temp_groups;
    memcpy(side.details.temp_dc, reading->temp_dc, sizeof side.details.temp_dc);
  }
  if ((reading->flags & BB_FLAGS_CONTAINER) != 0) side.details.container = true;
  state->sets = reading->sets;
  state->flags = reading->flags;
  state->latest = true;
  state->round = round;
  state->at_ms = (uint64_t)bb_clock_ms(CLOCK_BOOTTIME);
  if ((reading->sets & BB_VALID_HEALTH) == 0) return;
  side.health_age_s = reading->age_s;
  side.health_at_ms = state->at_ms;
}

/* SIGALRM to the sending loop, repeatedly until the round ends: mostly never. */
static void set_alarm(bool on) {
  if (!has_alarms) return;
  const struct timeval patience = {.tv_usec = on ? PATIENCE_MS * 1000 : 0};
  const struct itimerval timer = {.it_interval = patience, .it_value = patience};
  setitimer(ITIMER_REAL, &timer, NULL);
}

/* How often a source is read, ms; 0: in every round. */
static uint32_t period_of(unsigned i) {
  const uint32_t period = bb_slow_sources[i].period_ms;
  return side.state[i].rests && period == 0 ? REST_MS : period;
}

/* Whether a source's values expire when a round ends without an answer from it. Those of a source that is read in
 * every round end with the round in which it hangs; others are valid for two of their periods. */
static bool is_gone(unsigned i, uint64_t now) {
  const struct state *state = &side.state[i];
  const uint32_t period = period_of(i) > 0 ? period_of(i) : round_ms;
  if (bb_slow_sources[i].rated || (bb_slow_sources[i].period_ms == 0 && state->hung)) return true;
  return now - state->at_ms > 2 * (uint64_t)(period > round_ms ? period : round_ms);
}

/* The age of the health file at this time. If the clock was set back, it must not become impossible. */
static uint32_t health_age(uint64_t now) {
  const double age_s = side.health_age_s + (double)(now - side.health_at_ms) / 1000;
  return age_s <= 0 ? 0 : age_s >= UINT32_MAX ? UINT32_MAX : (uint32_t)age_s;
}

/* Publishes the values that all sources have now, as of one time. */
static void close_round(void) {
  if (!side.open) return;
  side.open = false;
  const uint64_t now = (uint64_t)bb_clock_ms(CLOCK_BOOTTIME);
  bool stale = false;
  for (unsigned i = 0; i < SOURCES; i++) {
    const struct state *state = &side.state[i];
    stale |= state->hung;
    if (state->latest && state->round != side.round && is_gone(i, now)) drop_values(i);
  }
  side.published = side.image;
  if ((side.published.valid & BB_VALID_HEALTH) != 0) side.published.health_age_s = health_age(now);
  side.published.slow_boot_ns = bb_clock_ns(CLOCK_BOOTTIME);
  if (stale) side.published.flags |= (uint32_t)BB_FLAGS_SLOW_STALE;
  side.published_details = side.details;
  if (side.new_speeds) {
    for (unsigned i = 0; i < side.details.speeds.count; i++) speeds[i].published = speeds[i].next;
    side.version++;
  }
  side.new_speeds = false;
  set_alarm(false);
  if (!has_alarms) sem_post(&round_closed); /* somebody waits for it */
}

/* Stores a source's reading, which began after so many changes of others' files were noticed. */
static void rounds_accept(unsigned i, const struct reading *reading, uint32_t round, uint32_t noticed) {
  struct state *state = &side.state[i];
  state->reading = state->hung = false;
  state->rests = reading->rests && noticed == side.noticed;
  if (round == BETWEEN) {
    /* A value that was lost between two rounds (a counter that began again) counts as not measured in the next
     * round: otherwise it would look like growth. */
    if ((state->sets & ~reading->sets) != 0) state->broken = true;
    return;
  }
  if (state->broken) drop_values(i);
  else if (!reading->busy || reading->sets != 0) keep_values(i, reading, round); /* else what it said last counts on */
  if (reading->busy) state->asked = false;                                /* but it is due again */
  state->broken = false;
  if (round == side.round && side.open && --side.owing == 0) close_round();
}

/* The next source to read: first those that must be read in every round. */
static int next_due(void) {
  for (unsigned pass = 0; pass < 2; pass++)
    for (unsigned i = 0; i < SOURCES; i++)
      if ((side.due & UINT32_C(1) << i) != 0 && (pass == 1 || bb_slow_sources[i].period_ms == 0)) return (int)i;
  return -1;
}

static void *work(void *argument) {
  struct worker *self = argument;
  pthread_mutex_lock(&side.lock);
  for (;;) {
    const int source = side.current == self ? next_due() : -1;
    if (source < 0) {
      pthread_mutex_unlock(&side.lock);
      while (sem_wait(&self->go) != 0) continue; /* EINTR */
      pthread_mutex_lock(&side.lock);
      continue;
    }
    side.due &= ~(UINT32_C(1) << source);
    side.state[source].reading = true;
    self->source = source;
    self->round = side.due_round;
    const uint32_t noticed = side.noticed;
    pthread_mutex_unlock(&side.lock);

    read_source((unsigned)source, &self->reading, &world);
    if (is_new_trouble(readers[source] == slow_health, &self->reading)) tell(self->reading.trouble);

    pthread_mutex_lock(&side.lock);
    self->source = -1;
    const bool again = side.state[source].hung;
    rounds_accept((unsigned)source, &self->reading, self->round, noticed);
    if (!again) continue;
    pthread_mutex_unlock(&side.lock);
    tell("the slow source ", bb_slow_sources[source].name, " answers again");
    pthread_mutex_lock(&side.lock);
  }
  return NULL;
}

static bool has_place(unsigned i) {
  if (places[i] != NULL) return true;
  void *memory = mmap(NULL, sizeof *places[i], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  places[i] = memory;
  return true;
}

/* An idle worker; NULL: there can be none. */
static struct worker *spare(void) {
  for (unsigned i = 0; i < WORKERS; i++) {
    if (!has_place(i)) return NULL;
    struct worker *worker = &places[i]->worker;
    if (worker->started && worker->source < 0) return worker;
    if (worker->started) continue;
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
#if OWN_STACKS
    mprotect(places[i]->guard, GUARD_BYTES, PROT_NONE);
    pthread_attr_setstack(&attributes, places[i]->stack, STACK_BYTES);
#endif
    worker->source = -1;
    sem_init(&worker->go, 0, 0);
    worker->started = pthread_create(&thread, &attributes, work, worker) == 0;
    pthread_attr_destroy(&attributes);
    return worker->started ? worker : NULL;
  }
  return NULL;
}

/* Makes another worker read what is due, if the present one is busy; true if there is no other. */
static bool hand_over(void) {
  if (side.current != NULL && side.current->source < 0) return false;
  struct worker *other = spare();
  if (other == NULL) return true;
  side.current = other;
  return false;
}

static void tell_of_none(bool none) {
  if (none && !create_told && side.current == NULL)
    tell("cannot make a thread: no slow source is read until there can be one");
  else if (none && !create_told) tell("cannot make another thread: while a slow source hangs, those behind it wait");
  create_told = none;
}

bool rounds_open(const struct slow_world *of, uint32_t interval_ms, bool alarms) {
  world = *of;
  has_alarms = alarms;
  rounds_change(interval_ms);
  pthread_mutex_init(&side.lock, NULL);
  sem_init(&round_closed, 0, 0);
  if (!has_place(0)) return false;
  if (alarms) notices = notices_open();
  return true;
}

void rounds_open_privileged(void) {
  struct reading *reading = &places[0]->worker.reading; /* no worker has it yet */
  reading_begin(reading, &world);
  open_energy(reading);
  if (is_new_trouble(false, reading)) tell(reading->trouble);
}

void rounds_change(uint32_t interval_ms) { round_ms = interval_ms > LEAST_ROUND_MS ? interval_ms : LEAST_ROUND_MS; }

uint32_t rounds_between_ms(void) {
  uint32_t most = round_ms;
  for (unsigned i = 0; i < SOURCES; i++)
    if (bb_slow_sources[i].most_ms > 0 && bb_slow_sources[i].most_ms < most) most = bb_slow_sources[i].most_ms;
  return most < round_ms ? most : 0;
}

/* Whether a source is to be read in the round that begins: rather half a round early than half a round late. */
static bool is_due(unsigned i, uint64_t now) {
  const struct state *state = &side.state[i];
  if (state->reading) return false;
  return !state->asked || now - state->asked_ms + round_ms / 2 >= period_of(i);
}

/* Ends the round without those that have not answered; returns them as bits. */
static uint32_t give_up_round(void) {
  uint32_t hung = 0;
  for (unsigned i = 0; i < SOURCES; i++) {
    struct state *state = &side.state[i];
    if ((side.due & UINT32_C(1) << i) != 0) state->asked = false; /* no worker came to read it */
    if (!state->reading || state->hung) continue;
    state->hung = true;
    hung |= UINT32_C(1) << i;
  }
  side.due = 0;
  close_round();
  return hung;
}

static void tell_of_hung(uint32_t hung) {
  for (unsigned i = 0; i < SOURCES; i++)
    if ((hung & UINT32_C(1) << i) != 0)
      tell("the slow source ", bb_slow_sources[i].name, " does not answer: its readings are left out until it does");
}

void rounds_begin(void) {
  const uint64_t now = (uint64_t)bb_clock_ms(CLOCK_BOOTTIME);
  if (!awaits_notice) {
    notices_drain();
    awaits_notice = true;
  }
  pthread_mutex_lock(&side.lock);
  const uint32_t hung = side.open ? give_up_round() : 0;
  const bool none = hand_over();
  side.round = side.round == UINT32_MAX ? BETWEEN + 1 : side.round + 1;
  side.open = true;
  side.owing = side.patience = 0;
  side.due_round = side.round;
  for (unsigned i = 0; i < SOURCES; i++) {
    if (!is_due(i, now)) continue;
    side.due |= UINT32_C(1) << i;
    side.state[i].asked = true;
    side.state[i].asked_ms = now;
    side.owing++;
  }
  if (side.owing == 0) close_round();
  else set_alarm(true);
  struct worker *worker = side.due != 0 ? side.current : NULL;
  pthread_mutex_unlock(&side.lock);
  if (worker != NULL) sem_post(&worker->go);
  tell_of_none(none);
  tell_of_hung(hung);
}

void rounds_between(void) {
  pthread_mutex_lock(&side.lock);
  struct worker *worker = NULL;
  if (!side.open) {
    hand_over();
    side.due_round = BETWEEN;
    for (unsigned i = 0; i < SOURCES; i++)
      if (bb_slow_sources[i].most_ms > 0 && !side.state[i].reading) side.due |= UINT32_C(1) << i;
    worker = side.current;
  }
  pthread_mutex_unlock(&side.lock);
  if (worker != NULL) sem_post(&worker->go);
}

int rounds_notices(void) { return awaits_notice ? notices : -1; }

void rounds_noticed(void) {
  /* One is as good as many: the next wakes us only after the next round has begun. */
  awaits_notice = false;
  pthread_mutex_lock(&side.lock);
  side.noticed++;
  for (unsigned i = 0; i < SOURCES; i++) side.state[i].rests = false;
  pthread_mutex_unlock(&side.lock);
}

void rounds_overdue(void) {
  bool none = false;
  uint32_t hung = 0;
  struct worker *worker = NULL;
  pthread_mutex_lock(&side.lock);
  if (side.open) {
    none = hand_over();
    if (++side.patience >= MOST_PATIENCE) hung = give_up_round();
    if (side.due != 0) worker = side.current;
  }
  pthread_mutex_unlock(&side.lock);
  if (worker != NULL) sem_post(&worker->go);
  tell_of_none(none);
  tell_of_hung(hung);
}

static bool wait_for(uint32_t ms) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += ms / 1000;
  until.tv_nsec += (long)(ms % 1000) * 1000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  int result;
  while ((result = sem_timedwait(&round_closed, &until)) != 0 && errno == EINTR) continue;
  return result == 0;
}

void rounds_wait(void) {
  while (!wait_for(PATIENCE_MS)) rounds_overdue();
}

void rounds_fill(struct bb_report *report, struct details *details) {
  static uint32_t version; /* of those sent */
  pthread_mutex_lock(&side.lock);
  *report = side.published;
  *details = side.published_details;
  for (unsigned i = 0; version != side.version && i < details->speeds.count; i++) speeds[i].sent = speeds[i].published;
  version = side.version;
  pthread_mutex_unlock(&side.lock);
  details->speeds.first = &speeds[0].sent;
  details->speeds.stride = sizeof speeds[0];
}

void rounds_pretend(const struct slow_world *worlds, unsigned count, uint64_t slow_boot_ns) {
  static struct reading reading LARGE;
  pthread_mutex_init(&side.lock, NULL);
  sem_init(&round_closed, 0, 0);
  side.round = 1;
  for (unsigned k = 0; k < count; k++)
    for (unsigned i = 0; i < SOURCES; i++) {
      read_source(i, &reading, &worlds[k]);
      keep_values(i, &reading, 1);
      if (k + 1 == count && is_new_trouble(readers[i] == slow_health, &reading)) tell(reading.trouble);
    }
  side.open = true;
  close_round();
  side.published.slow_boot_ns = slow_boot_ns;
}
