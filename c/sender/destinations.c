#include "destinations.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/refusals.h"
#include "../collect/world.h"
#include "resolve.h"

/* The shortest time between two look-ups of the name of a master that cannot be reached, so that a broken resolver
 * is not asked every tick. Known addresses are tried again with each report. */
#define RETRY_MS 5000u
/* For how long a working name is not looked up again: over UDP nobody reports that a master has moved. */
#define BELIEVE_MS 60000u
/* For how long, and how many reports, none may have been refused before a master that refused one counts as reachable
 * again: a machine sends such a refusal to a peer at most once a second, and less often if it has many peers. */
#define REFUSAL_MS 10000u
#define REFUSAL_REPORTS 3u
/* The shortest time between two lines about causes of one failure that change. */
#define CAUSE_MS 60000u

/* A destination knows the next interval when so many reports have told it, over so long a time: receivers measure
 * silence in the last interval that they know, and a sender does not know their limits. If every fifth report is lost,
 * all of these are lost once in 10^8 times; and losses come in bursts that last seconds, whatever the interval is. */
#define ANNOUNCEMENTS 12u
#define ANNOUNCED_MS 12000u
/* For how long a destination that refuses reports holds up what the others are told. */
#define AWAY_MS 60000u

/* What a destination was told of the interval. */
struct announcement {
  unsigned reports; /* that were accepted and said this interval, without another one between them */
  uint32_t interval_ms;
  uint64_t since_ms, refusing_ms; /* when the first of these was accepted; since when it refuses, 0: it does not */
};

/* One master or group. Its socket is connected, because only then it learns that nobody listens at the other end. */
struct destination {
  struct address address;
  char interface[16];
  uint8_t ttl;
  int fd; /* -1: not connected */
  struct sockaddr_storage at; /* the address */
  struct answer known; /* the last result of the look-up; an address needs none */
  bool asked;          /* its name was looked up */
  uint64_t asked_ms;   /* when */
  bool failing, unnamed; /* the latter: it was logged that its name cannot be looked up now */
  bool refused, pieces; /* the latter: it was logged that its reports travel in pieces */
  uint64_t refused_ms, told_ms;
  char told[160]; /* the cause of the present failure, as logged at that time */
  /* Reports that could not be sent or that nobody received; their number before the present failure; and reports
   * since the last refusal that were not refused. */
  uint64_t failed, failed_before, doubtful;
  struct announcement announced;
  struct lookup lookup;
  /* The report without an address that waits for the look-up; later ones are lost, so that they do not pile up. */
  bool waiting;
  struct bb_report pending;
};

static struct destination destinations[MOST_DESTINATIONS] LARGE;
/* Which of them are in use, and which wait for an answer, as bits: the others cost no memory. */
static uint64_t used, asking;
_Static_assert(MOST_DESTINATIONS <= 64, "bits of a word");
#define BIT(i) (UINT64_C(1) << (i))

/* The first of these bits from bit `i` on; MOST_DESTINATIONS: there is none. */
static unsigned next_of(uint64_t bits, unsigned i) {
  while (i < MOST_DESTINATIONS && (bits & BIT(i)) == 0) i++;
  return i;
}

/* For each destination of a set, which may change meanwhile. */
#define FOR_EACH(i, set) for (unsigned i = next_of(set, 0); i < MOST_DESTINATIONS; i = next_of(set, i + 1))

static bool to_stdout, patient;
static struct announcement stdout_announced;
static int stdout_error; /* 0: it works */

/* Notes whether a report was accepted; returns that. */
static bool note(struct announcement *announced, const struct bb_report *report, bool accepted) {
  if (!accepted) {
    if (announced->refusing_ms == 0) announced->refusing_ms = (uint64_t)bb_clock_ms(CLOCK_BOOTTIME);
    return false;
  }
  if (announced->reports == 0 || announced->interval_ms != report->interval_ms)
    *announced = (struct announcement){.interval_ms = report->interval_ms,
                                       .since_ms = (uint64_t)bb_clock_ms(CLOCK_BOOTTIME)};
  announced->reports++;
  announced->refusing_ms = 0;
  return true;
}

static void say_of(enum level level, const struct destination *destination, const char *what, const char *more) {
  char label[300];
  struct words words = WORDS(label);
  add_address(&words, &destination->address);
  say(level, text_of(&words), " ", what, more, (char *)NULL);
}

static const char *reason_of(int error) {
  switch (error) {
    case ECONNREFUSED: return "cannot be reached: nothing listens there";
    case ENETUNREACH: return "cannot be reached: no route";
    case EINVAL: /* the route is a hole */
    case EHOSTUNREACH: return "cannot be reached: this machine has no way there";
    case ENETDOWN: return "cannot be reached: the network is down";
    case EPERM: return "cannot be reached: a firewall of this machine forbids it";
    case EACCES: return "cannot be reached: it is a broadcast address or forbidden";
    case ENODEV: return "cannot be reached: there is no interface ";
    case EAGAIN: return "cannot be reached: its queue is full";
    case EMSGSIZE: return "cannot be reached: a report is too large for the way there";
    default: return "cannot be reached: ";
  }
}

/* Logs the first of consecutive failures, and another cause. */
static void complain(struct destination *destination, const char *why, const char *more) {
  const uint64_t now = (uint64_t)bb_clock_ms(CLOCK_BOOTTIME);
  char text[sizeof destination->told];
  struct words words = WORDS(text);
  add_text(&words, why);
  add_text(&words, more);
  text_of(&words);
  if (destination->failing && (strcmp(text, destination->told) == 0 || now - destination->told_ms < CAUSE_MS)) return;
  destination->failing = true;
  destination->told_ms = now;
  memcpy(destination->told, text, sizeof text);
  say_of(SAY_WARN, destination, text, "; reports to it are lost until it answers");
}

static void complain_of(struct destination *destination, int error) {
  const char *why = reason_of(error), *zone = strchr(destination->address.host, '%');
  const char *interface = zone != NULL ? zone + 1 : destination->interface;
  complain(destination, why, error == ENODEV ? interface : ends(span_of(why), SPAN(" ")) ? error_name(error) : "");
}

/* A report that could not be sent. */
static bool failure(struct destination *destination, int error) {
  destination->failed++;
  destination->doubtful = 0;
  destination->refused = false;
  complain_of(destination, error);
  return false;
}

/* Earlier reports that nobody received: they announced nothing. This one, and those since the refusal before, count as
 * lost as well, until it is known better. */
static bool refusal(struct destination *destination, unsigned count, const char *cause) {
  destination->failed += 1 + (count > destination->doubtful ? count - destination->doubtful : 0);
  destination->doubtful = 1;
  destination->refused = true;
  destination->refused_ms = (uint64_t)bb_clock_ms(CLOCK_BOOTTIME);
  destination->announced.reports -= least(count, destination->announced.reports);
  complain(destination, cause, "");
  return false;
}

/* Whether a report that the kernel has sent was received, as far as that can be known. */
static bool success(struct destination *destination) {
  if (!destination->failing) {
    destination->failed_before = destination->failed;
    return true;
  }
  if (destination->refused && (destination->doubtful < REFUSAL_REPORTS ||
                               (uint64_t)bb_clock_ms(CLOCK_BOOTTIME) - destination->refused_ms < REFUSAL_MS)) {
    destination->failed++;
    destination->doubtful++;
    return false;
  }
  destination->failed -= destination->doubtful;
  destination->doubtful = 0;
  destination->failing = destination->refused = false;
  char text[64];
  struct words words = WORDS(text);
  add_number(&words, destination->failed - destination->failed_before);
  say_of(SAY_INFO, destination, "accepts reports again, ", (add_text(&words, " were missed"), text_of(&words)));
  return true;
}

static void disconnect(struct destination *destination) {
  if (destination->fd != -1) close(destination->fd);
  destination->fd = -1;
}

/* Logs once if reports travel in pieces: each is lost if one of them is. */
static void look_at_pieces(struct destination *destination) {
  char text[120];
  struct words words = WORDS(text);
  if (destination->pieces || refusals_pieces(destination->fd, BB_REPORT_BYTES, &words) == 0) return;
  destination->pieces = true;
  say_of(SAY_WARN, destination, text_of(&words), "");
}

static bool deliver(struct destination *destination, const struct bb_report *report) {
  if (send(destination->fd, report, sizeof *report, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return success(destination);
  /* Mostly this is about the last report, which told nobody anything: this one has not been sent yet. */
  int error = errno;
  char cause[sizeof destination->told];
  struct words words = WORDS(cause);
  unsigned refused = refusals_take(destination->fd, &words);
  if (refused == 0 && error == ECONNREFUSED) refused = (add_text(&words, reason_of(error)), 1);
  look_at_pieces(destination);
  if (send(destination->fd, report, sizeof *report, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
    error = errno;
    if (error != EAGAIN && error != ENOBUFS && error != ECONNREFUSED) disconnect(destination);
    if (refused == 0) return failure(destination, error);
  }
  return refused > 0 ? refusal(destination, refused, text_of(&words)) : success(destination);
}

static bool is_multicast(const struct sockaddr_storage *at) {
  if (at->ss_family == AF_INET6)
    return IN6_IS_ADDR_MULTICAST(&((const struct sockaddr_in6 *)(const void *)at)->sin6_addr);
  return IN_MULTICAST(ntohl(((const struct sockaddr_in *)(const void *)at)->sin_addr.s_addr));
}

/* The number of an interface; 0: there is none. */
static int index_of(int fd, const char *name) {
  struct ifreq request = {0};
  if (name[0] == 0 || strlen(name) >= sizeof request.ifr_name) return 0;
  memcpy(request.ifr_name, name, strlen(name));
  return ioctl(fd, SIOCGIFINDEX, &request) == 0 ? request.ifr_ifindex : 0;
}

/* How multicast datagrams leave this machine. IPv6 groups of link scope need the interface in their address, too. */
static int set_multicast(const struct destination *destination, int fd, struct sockaddr_storage *at) {
  const bool v6 = at->ss_family == AF_INET6;
  const int hops = destination->ttl, index = index_of(fd, destination->interface);
  if (setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_MULTICAST_HOPS : IP_MULTICAST_TTL, &hops,
                 sizeof hops) != 0)
    return errno;
  if (destination->interface[0] == 0) return 0;
  if (index == 0) return ENODEV;
  if (v6) {
    ((struct sockaddr_in6 *)(void *)at)->sin6_scope_id = (uint32_t)index;
    return setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index) == 0 ? 0 : errno;
  }
  const struct ip_mreqn through = {.imr_ifindex = index};
  return setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &through, sizeof through) == 0 ? 0 : errno;
}

/* Connects to an address; 0, or an error number. Does nothing if it is connected to that address. */
static int connect_to(struct destination *destination, struct sockaddr_storage *at, socklen_t length) {
  if (destination->fd != -1 && memcmp(at, &destination->at, sizeof *at) == 0) return 0;
  const struct sockaddr_storage address = *at;
  const int fd = socket(at->ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd == -1) return errno;
  refusals_keep(fd, at->ss_family);
  int error = is_multicast(at) ? set_multicast(destination, fd, at) : 0;
  if (error == 0 && connect(fd, (const struct sockaddr *)at, length) != 0) error = errno;
  if (error != 0) {
    close(fd);
    return error;
  }
  const bool moved = destination->fd != -1;
  disconnect(destination);
  destination->fd = fd;
  destination->at = address;
  look_at_pieces(destination);
  if (!moved) return 0;
  char text[64];
  struct words words = WORDS(text);
  add_text(&words, "is at ");
  add_host(&words, &address);
  say_of(SAY_INFO, destination, text_of(&words), " now");
  return 0;
}

static socklen_t make_v4(struct sockaddr_storage *at, struct in_addr address, uint16_t port) {
  memset(at, 0, sizeof *at);
  const struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = address, .sin_port = htons(port)};
  memcpy(at, &to, sizeof to);
  return sizeof to;
}

static socklen_t make_v6(struct sockaddr_storage *at, const struct in6_addr *address, uint16_t port, uint32_t scope) {
  memset(at, 0, sizeof *at);
  const struct sockaddr_in6 to =
    {.sin6_family = AF_INET6, .sin6_addr = *address, .sin6_port = htons(port), .sin6_scope_id = scope};
  memcpy(at, &to, sizeof to);
  return sizeof to;
}

/* The address of a destination that was given as one. */
static int connect_literal(struct destination *destination) {
  struct sockaddr_storage at;
  const struct address *address = &destination->address;
  if (address->family == AF_INET) {
    struct in_addr v4;
    if (inet_pton(AF_INET, address->host, &v4) != 1) return EINVAL;
    return connect_to(destination, &at, make_v4(&at, v4, address->port));
  }
  char host[64];
  struct in6_addr v6;
  struct words words = WORDS(host);
  uint32_t scope = 0;
  const char *percent = strchr(address->host, '%');
  add_span(&words, (struct span){address->host, percent == NULL ? strlen(address->host)
    : (size_t)(percent - address->host)});
  if (percent != NULL && (scope = if_nametoindex(percent + 1)) == 0) return ENODEV;
  if (inet_pton(AF_INET6, text_of(&words), &v6) != 1) return EINVAL;
  return connect_to(destination, &at, make_v6(&at, &v6, address->port, scope));
}

static bool destination_is_name(const struct destination *destination) {
  return destination->address.family == AF_UNSPEC;
}

/* One of the addresses of a name. */
static socklen_t known_at(const struct destination *destination, unsigned i, struct sockaddr_storage *at) {
  const struct answer *known = &destination->known;
  const uint16_t port = destination->address.port;
  return known->family[i] == AF_INET ? make_v4(at, known->v4, port) : make_v6(at, &known->v6, port, 0);
}

/* Connects to the first of its addresses that works; 0, or an error number. */
static int connect_any(struct destination *destination) {
  int error = 0;
  if (!destination_is_name(destination)) return connect_literal(destination);
  for (unsigned i = 0; i < destination->known.count; i++) {
    struct sockaddr_storage at;
    const socklen_t length = known_at(destination, i, &at);
    if ((error = connect_to(destination, &at, length)) == 0) return 0;
  }
  return error;
}

/* Logs once that its name cannot be resolved, if there is another destination. */
static void tell_unnamed(struct destination *destination) {
  if (destination->unnamed) return;
  destination->unnamed = true;
  struct sockaddr_storage at = destination->at;
  if (destination->fd == -1) known_at(destination, 0, &at);
  char text[64];
  struct words words = WORDS(text);
  add_host(&words, &at);
  say_of(SAY_WARN, destination, "cannot be looked up now; keeps sending to ", text_of(&words));
}

/* Uses the answer. A connected socket is kept if no better one can be had. */
static void set_answer(struct destination *destination, const struct answer *answer) {
  if (answer->problem == NULL) {
    destination->known = *answer;
    destination->unnamed = false;
    const int error = connect_any(destination);
    if (error != 0 && destination->fd == -1) complain_of(destination, error);
  } else if (destination->known.count == 0) {
    complain(destination, answer->problem, "");
  } else {
    tell_unnamed(destination);
  }
}

/* Whether to look up the name now: for the first time, because the master does not answer, or because the last time
 * was long ago. */
static bool is_due(struct destination *destination, uint64_t now) {
  if (!destination->asked) return true;
  const bool is_well = destination->fd != -1 && !destination->failing;
  return now - destination->asked_ms >= (is_well ? BELIEVE_MS : RETRY_MS) && !lookup_is_out(&destination->lookup);
}

static bool send_one(struct destination *destination, const struct bb_report *report, uint64_t now) {
  if (destination_is_name(destination) && is_due(destination, now)) {
    destination->asked = true;
    destination->asked_ms = now;
    asking |= BIT(destination - destinations);
    lookup_ask(&destination->lookup, destination->address.host);
  }
  if (destination->fd == -1 && (!destination_is_name(destination) || destination->known.count > 0)) {
    const int error = connect_any(destination);
    if (error != 0) return failure(destination, error);
  }
  if (destination->fd != -1) return deliver(destination, report);
  if (destination->waiting || !lookup_is_out(&destination->lookup)) {
    destination->failed++;
    return false;
  }
  destination->pending = *report;
  destination->waiting = true;
  return false;
}

/* While nobody reads stdout, reports are dropped and not kept; if there is room for one, writing it does not wait. */
static bool print(const struct bb_report *report) {
  const char *left = (const char *)report;
  size_t bytes = sizeof *report;
  struct pollfd ready = {.fd = STDOUT_FILENO, .events = POLLOUT};
  if (stdout_error != 0 || poll(&ready, 1, patient ? -1 : 0) != 1) return false;
  while (bytes > 0) {
    const ssize_t written = write(STDOUT_FILENO, left, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno != EAGAIN) stdout_error = errno;
    if (written < 0) return false;
    left += written;
    bytes -= (size_t)written;
  }
  return true;
}

bool destinations_open(int answer_signal) { return resolver_open(answer_signal); }

void destinations_be_patient(void) { patient = true; }

static bool is_same(const struct destination *destination, const struct address *address,
                    const struct options *options) {
  return strcmp(destination->address.host, address->host) == 0 && destination->address.port == address->port &&
         destination->ttl == options->ttl && strcmp(destination->interface, options->interface) == 0;
}

/* The index of a destination; MOST_DESTINATIONS: none. */
static unsigned place_of(const struct address *address, const struct options *options) {
  FOR_EACH(i, used)
    if (is_same(&destinations[i], address, options)) return i;
  return MOST_DESTINATIONS;
}

/* A free place. There always is one: only the question that is being answered can hold the place of a destination
 * that left, and there is one at a time. */
static unsigned free_place(void) {
  const unsigned i = next_of(~(used | asking), 0);
  if (i == MOST_DESTINATIONS) __builtin_trap();
  return i;
}

static void destination_begin(struct destination *destination, const struct address *address,
                         const struct options *options) {
  destination->address = *address;
  memcpy(destination->interface, options->interface, sizeof destination->interface);
  destination->ttl = options->ttl;
  destination->fd = -1;
  destination->known.count = 0;
  destination->asked = destination->failing = destination->unnamed = destination->refused = destination->waiting =
    destination->pieces = false;
  destination->failed = destination->failed_before = destination->doubtful = 0;
  destination->announced = (struct announcement){0};
}

bool destinations_change(const struct options *options) {
  uint64_t stays = 0;
  bool anew = options->to_stdout && !to_stdout;
  if (anew) stdout_announced = (struct announcement){0};
  for (unsigned k = 0; k < options->to_count; k++) {
    const unsigned at = place_of(&options->to[k], options);
    if (at < MOST_DESTINATIONS) stays |= BIT(at);
  }
  FOR_EACH(i, used & ~stays)
    disconnect(&destinations[i]);
  used = stays;
  FOR_EACH(i, asking & ~used)
    if (lookup_withdraw(&destinations[i].lookup)) asking &= ~BIT(i);
  for (unsigned k = 0; k < options->to_count; k++) {
    if (place_of(&options->to[k], options) < MOST_DESTINATIONS) continue;
    const unsigned at = free_place();
    destination_begin(&destinations[at], &options->to[k], options);
    used |= BIT(at);
    anew = true;
  }
  to_stdout = options->to_stdout;
  return anew;
}

unsigned destinations_send(const struct bb_report *report) {
  unsigned sent = 0;
  const uint64_t now = (uint64_t)bb_clock_ms(CLOCK_BOOTTIME);
  FOR_EACH(i, used)
    sent += note(&destinations[i].announced, report, send_one(&destinations[i], report, now));
  if (to_stdout) sent += note(&stdout_announced, report, print(report));
  return sent;
}

/* Counts a destination if it is waited for, and if it knows the interval. */
static void count_knowing(const struct announcement *announced, uint32_t interval_ms, unsigned *there,
                          unsigned *knowing) {
  const uint64_t now = (uint64_t)bb_clock_ms(CLOCK_BOOTTIME);
  if (announced->refusing_ms != 0 && now - announced->refusing_ms >= AWAY_MS) return;
  ++*there;
  *knowing += announced->interval_ms == interval_ms && announced->reports >= ANNOUNCEMENTS &&
    now - announced->since_ms >= ANNOUNCED_MS;
}

bool destinations_know(uint32_t interval_ms) {
  unsigned there = 0, knowing = 0;
  FOR_EACH(i, used)
    count_knowing(&destinations[i].announced, interval_ms, &there, &knowing);
  if (to_stdout) count_knowing(&stdout_announced, interval_ms, &there, &knowing);
  return there > 0 && knowing == there;
}

void destinations_forget(void) {
  FOR_EACH(i, used) {
    destinations[i].failed += destinations[i].waiting;
    destinations[i].waiting = false;
    destinations[i].announced.reports = 0;
  }
  stdout_announced.reports = 0;
}

unsigned destinations_answered(void) {
  struct answer answer;
  unsigned sent = 0;
  FOR_EACH(i, asking) {
    struct destination *destination = &destinations[i];
    if (!lookup_receive(&destination->lookup, &answer)) continue;
    asking &= ~BIT(i);
    if ((used & BIT(i)) == 0) continue;
    const bool waited = destination->waiting;
    destination->waiting = false;
    if (waited) destination->failed++; /* until it is sent */
    set_answer(destination, &answer);
    if (!waited || destination->fd == -1) continue;
    destination->failed--;
    sent += note(&destination->announced, &destination->pending, deliver(destination, &destination->pending));
  }
  return sent;
}

unsigned destinations_waiting(void) {
  unsigned waiting = 0;
  FOR_EACH(i, used)
    waiting += destinations[i].waiting;
  return waiting;
}

unsigned destinations_count(void) {
  unsigned count = to_stdout;
  FOR_EACH(i, used)
    count++;
  return count;
}

unsigned destinations_unopposed(const char *name) {
  static const char text[] =
    "may be reached: nobody objected for 6 s; ask on the master whether reports arrive: beoboard show ";
  unsigned count = 0;
  FOR_EACH(i, used) {
    struct destination *destination = &destinations[i];
    if (destination->fd == -1) complain(destination, "is not looked up after 6 s", "");
    if (destination->failing) continue;
    say_of(SAY_INFO, destination, text, name);
    count++;
  }
  return count;
}

uint64_t destinations_failed(void) {
  uint64_t failed = 0;
  FOR_EACH(i, used)
    failed += destinations[i].failed;
  return failed;
}

void add_destinations(struct words *words) {
  const char *comma = "";
  FOR_EACH(i, used) {
    add_text(words, comma);
    add_address(words, &destinations[i].address);
    comma = ", ";
  }
  if (!to_stdout) return;
  add_text(words, comma);
  add_text(words, "stdout");
}

enum stdout_state destinations_stdout(int *error) {
  *error = stdout_error;
  return stdout_error == 0 ? STDOUT_GOOD : stdout_error == EPIPE ? STDOUT_GONE : STDOUT_BROKEN;
}
