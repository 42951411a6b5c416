#include "clients.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../base/say.h"
#include "../collect/world.h"
#include "samples.h"

#define NS_PER_S UINT64_C(1000000000)
/* For how long a client may read nothing of its answer, and for how long it may continue to send after its last
 * answer. */
#ifndef PATIENCE_S
#define PATIENCE_S 10
#endif
#define PATIENCE_NS (PATIENCE_S * NS_PER_S)
/* How much idle time may be made up for: as much as a wait may be late. */
#define CATCH_UP_NS (NS_PER_S / 50)
/* The time from one log line about disconnected clients to the next. */
#define TELL_EVERY_NS (60 * NS_PER_S)
/* How much may be sent between two commands: white space and quotes take time, too. */
#define MOST_IDLE 4096u
/* How much may be sent after the last command: it is read and discarded, because otherwise a reset would discard the
 * answer. */
#define MOST_LEFT (1u << 20)
/* How many connections are accepted between two answers. */
#define MOST_ACCEPTED 16u
/* What a pipe that can be written to takes, so that nothing waits for it. */
#define SURE_BYTES 4096u

struct client {
  int in, out; /* in is -1: no client; for a connection both are the same */
  bool plain;  /* no socket */
  bool ended;  /* it will send no more */
  bool asked;  /* there is a command to answer */
  bool leaving; /* it has had its last answer, and should disconnect */
  uint32_t at, left; /* its input */
  uint32_t idle; /* bytes that it sent since its last command, and since it is leaving */
  uint32_t begin, rest; /* the part of its answer that was not sent yet */
  uint64_t moved_ns; /* when bytes were last sent or received */
  struct asking asking;
  struct command command;
  char said[128];
};

static struct client clients[MOST_CLIENTS];
static unsigned used; /* no slot beyond is in use */
/* Answers that could not be sent at once; only the used part costs memory, and only while it is used. */
static char rests[MOST_CLIENTS][MOST_ANSWER] LARGE __attribute__((aligned(4096)));

static const struct service *service;
static struct served served;
static uint64_t due_ns, interval_ns, told_ns, untold;
static bool stdio_over;

static volatile sig_atomic_t stopping;

static void stop(int signal) {
  (void)signal;
  stopping = 1;
}

static sigset_t outside; /* the signal mask while it waits */

void clients_open(void) {
  static const int ending[] = {SIGTERM, SIGINT, SIGHUP};
  const struct sigaction action = {.sa_handler = stop};
  sigset_t blocked;
  sigemptyset(&blocked);
  for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) {
    sigaddset(&blocked, ending[i]);
    sigaction(ending[i], &action, NULL);
  }
  sigprocmask(SIG_BLOCK, &blocked, &outside);
  for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++) sigdelset(&outside, ending[i]);
  for (unsigned i = 0; i < MOST_CLIENTS; i++) clients[i].in = -1;
}

static void add_client(unsigned slot, int in, int out, bool plain, uint64_t now) {
  clients[slot] = (struct client){.in = in, .out = out, .plain = plain, .moved_ns = now};
  if (slot >= used) used = slot + 1;
}

static bool is_socket(int fd) {
  int type;
  socklen_t length = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
}

void clients_add_stdio(void) {
  add_client(0, STDIN_FILENO, STDOUT_FILENO, !is_socket(STDOUT_FILENO), bb_clock_ns(CLOCK_MONOTONIC));
}

static void forget_rest(struct client *client) {
  /* At least a whole page at a time; if pages are larger, the memory stays and is used again. */
  madvise(rests[client - clients], MOST_ANSWER, MADV_DONTNEED);
  client->rest = 0;
}

static void remove_client(struct client *client) {
  if (client->rest > 0) forget_rest(client);
  if (client->in == STDIN_FILENO) stdio_over = true;
  else close(client->in);
  client->in = -1;
  while (used > 0 && clients[used - 1].in == -1) used--;
}

/* Disconnected: half of an answer must not look like a whole one. */
static void client_drop(struct client *client, uint64_t now) {
  const struct linger now_or_never = {.l_onoff = 1, .l_linger = 0};
  setsockopt(client->in, SOL_SOCKET, SO_LINGER, &now_or_never, sizeof now_or_never);
  served.stdio_cut_off |= client->in == STDIN_FILENO;
  remove_client(client);
  served.cut_off++;
  untold++;
  if (told_ns != 0 && now - told_ns < TELL_EVERY_NS) return;
  char text[40];
  struct words words = WORDS(text);
  add_number(&words, untold);
  tell("clients cut off: ", text_of(&words),
       "; they stopped reading, sent nothing for too long, or there were too many");
  told_ns = now;
  untold = 0;
}

/* ---- Input ---- */

/* Moves to its next command, as far as the input goes. */
static void go_on(struct client *client) {
  while (!client->asked && client->left > 0 && !client->leaving) {
    struct span left = {client->said + client->at, client->left};
    const enum asked asked = ask(&client->asking, &left, &client->command);
    client->at += client->left - (uint32_t)left.len;
    client->left = (uint32_t)left.len;
    client->asked = asked != ASKED_NOTHING;
    if (asked == ASKED_TOO_MUCH) {
      client->ended = true;
      client->left = 0;
    }
  }
  if (!client->asked && client->ended && !client->leaving) client->asked = ask_last(&client->asking, &client->command);
  if (client->asked || client->rest > 0 || !client->ended || client->leaving) return;
  /* Closing with unread input would discard the answer. */
  if (client->plain || client->in == STDIN_FILENO || shutdown(client->out, SHUT_WR) != 0) {
    remove_client(client);
    return;
  }
  client->leaving = true;
  client->idle = 0;
}

static void hear(struct client *client, uint64_t now) {
  const ssize_t got = read(client->in, client->said, sizeof client->said);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (client->leaving) {
    if (got <= 0) remove_client(client);
    else if ((client->idle += (uint32_t)got) > MOST_LEFT) client_drop(client, now);
    return;
  }
  if (got < 0) {
    remove_client(client);
    return;
  }
  client->moved_ns = now;
  client->at = 0;
  client->left = (uint32_t)got;
  client->ended = got == 0;
  client->idle += (uint32_t)got;
  go_on(client);
  if (client->in == -1) return;
  if (client->asked) client->idle = 0;
  else if (client->idle > MOST_IDLE) client_drop(client, now);
}

/* ---- Output ---- */

/* How much was sent at once; -1: nothing ever will be. */
static ssize_t client_put(struct client *client, const char *text, size_t bytes) {
  if (!client->plain) {
    const ssize_t sent = send(client->out, text, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : sent;
  }
  size_t sent = 0;
  while (sent < bytes) {
    struct pollfd ready = {.fd = client->out, .events = POLLOUT};
    if (poll(&ready, 1, 0) != 1) break;
    const size_t some = bytes - sent < SURE_BYTES ? bytes - sent : SURE_BYTES;
    const ssize_t wrote = write(client->out, text + sent, some);
    if (wrote < 0 && errno != EAGAIN && errno != EINTR) return -1;
    if (wrote <= 0) break;
    sent += (size_t)wrote;
  }
  return (ssize_t)sent;
}

static void has_failed(struct client *client) {
  if (client->in == STDIN_FILENO && errno != EPIPE && errno != ECONNRESET) served.error = errno;
  remove_client(client);
}

static void send_rest(struct client *client, uint64_t now) {
  const ssize_t sent = client_put(client, rests[client - clients] + client->begin, client->rest);
  if (sent < 0) {
    has_failed(client);
    return;
  }
  if (sent > 0) client->moved_ns = now;
  client->begin += (uint32_t)sent;
  client->rest -= (uint32_t)sent;
  if (client->rest > 0) return;
  forget_rest(client);
  go_on(client);
}

static void client_answer(struct client *client, uint64_t now) {
  static char text[MOST_ANSWER];
  struct words out = WORDS(text);
  service->answer(&client->command, &out);
  served.answers += client->command.kind != COMMAND_BAD;
  client->asked = false;
  const ssize_t sent = client_put(client, out.text, out.len);
  if (sent < 0) {
    has_failed(client);
    return;
  }
  client->moved_ns = now;
  if ((size_t)sent == out.len) {
    go_on(client);
    return;
  }
  client->begin = 0;
  client->rest = (uint32_t)(out.len - (size_t)sent);
  memcpy(rests[client - clients], out.text + sent, client->rest);
}

static bool is_ready(const struct client *client) { return client->in != -1 && client->asked && client->rest == 0; }

/* Answers the clients in turn, as long as the rate allows. Returns whether any client waits for its turn. */
static bool answer_all(uint64_t now) {
  static unsigned turn;
  unsigned idle = 0;
  for (; idle < used && !stopping; turn++) {
    struct client *client = &clients[turn % MOST_CLIENTS];
    if (turn % MOST_CLIENTS >= used) continue;
    if (!is_ready(client)) {
      idle++;
      continue;
    }
    if (due_ns > now) return true;
    if (due_ns + CATCH_UP_NS < now) due_ns = now - CATCH_UP_NS;
    due_ns += interval_ns;
    idle = 0;
    client_answer(client, now);
    /* Others get their turn, and may have sent something first: commands sent in advance wait. */
    if (!is_ready(client)) continue;
    turn++;
    return true;
  }
  return false;
}

/* ---- Waiting ---- */

static bool is_stuck(const struct client *client) { return client->rest > 0 || client->leaving; }

static void drop_stuck(uint64_t now) {
  for (unsigned i = 0; i < used; i++)
    if (clients[i].in != -1 && is_stuck(&clients[i]) && now - clients[i].moved_ns >= PATIENCE_NS)
      client_drop(&clients[i], now);
}

/* Clients with an unfinished answer come last. */
static struct client *quietest(void) {
  struct client *found = NULL;
  for (unsigned i = 0; i < MOST_CLIENTS; i++) {
    struct client *client = &clients[i];
    if (client->in == -1 || client->in == STDIN_FILENO) continue;
    const bool busy = client->asked || client->rest > 0,
      found_busy = found != NULL && (found->asked || found->rest > 0);
    if (found == NULL || busy < found_busy || (busy == found_busy && client->moved_ns < found->moved_ns))
      found = client;
  }
  return found;
}

/* The system has no descriptor for one more: without this, waiting would return at once for a client that cannot be
 * accepted. */
static void make_room(uint64_t now) {
  struct client *client = quietest();
  if (client != NULL) client_drop(client, now);
  else nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

static void meet(int listener, uint64_t now) {
  for (unsigned accepted = 0; accepted < MOST_ACCEPTED; accepted++) {
    const int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd == -1 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) make_room(now);
    if (fd == -1) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    unsigned slot = 0;
    while (slot < MOST_CLIENTS && clients[slot].in != -1) slot++;
    if (slot == MOST_CLIENTS) {
      struct client *client = quietest();
      slot = (unsigned)(client - clients);
      client_drop(client, now);
    }
    add_client(slot, fd, fd, false, now);
  }
}

/* Waits until something happens, or it is time for an answer. */
static void wait_for(struct pollfd *polled, unsigned count, bool waits, uint64_t now) {
  uint64_t until = UINT64_MAX;
  if (waits) until = due_ns;
  for (unsigned i = 0; i < used; i++)
    if (clients[i].in != -1 && is_stuck(&clients[i]) && clients[i].moved_ns + PATIENCE_NS < until)
      until = clients[i].moved_ns + PATIENCE_NS;
  const uint64_t boot = bb_clock_ns(CLOCK_BOOTTIME), watchdog = service->watch(boot);
  if (watchdog != UINT64_MAX && now + (watchdog - boot) < until) until = now + (watchdog - boot);
  const uint64_t left = until > now ? until - now : 0;
  const struct timespec most = {.tv_sec = (time_t)(left / NS_PER_S), .tv_nsec = (long)(left % NS_PER_S)};
  if (ppoll(polled, count, until == UINT64_MAX ? NULL : &most, &outside) <= 0)
    for (unsigned i = 0; i < count; i++) polled[i].revents = 0;
}

struct served clients_serve(const struct service *of) {
  service = of;
  interval_ns = NS_PER_S / service->most;
  uint64_t now = bb_clock_ns(CLOCK_MONOTONIC);
  while (!stopping && !stdio_over) {
    struct pollfd polled[MOST_LISTENERS + MOST_CLIENTS];
    const bool waits = answer_all(now);
    unsigned count = 0;
    for (; count < service->listeners; count++)
      polled[count] = (struct pollfd){.fd = service->listener[count], .events = POLLIN};
    const unsigned among = used;
    for (unsigned i = 0; i < among; i++) {
      const struct client *client = &clients[i];
      struct pollfd *one = &polled[count++];
      *one = (struct pollfd){.fd = -1};
      if (client->in == -1) continue;
      if (client->rest > 0) *one = (struct pollfd){.fd = client->out, .events = POLLOUT};
      else if (!client->asked) *one = (struct pollfd){.fd = client->in, .events = POLLIN};
    }
    if (stdio_over) break;
    wait_for(polled, count, waits, now);
    now = bb_clock_ns(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < among; i++) {
      if (polled[service->listeners + i].revents == 0) continue;
      if (clients[i].rest > 0) send_rest(&clients[i], now);
      else hear(&clients[i], now);
    }
    drop_stuck(now);
    for (unsigned i = 0; i < service->listeners; i++)
      if (polled[i].revents != 0) meet(polled[i].fd, now);
  }
  /* Half of an answer ends with a reset, as always, and on stdout with an exit code. */
  for (unsigned i = 0; i < used; i++)
    if (clients[i].in != -1 && clients[i].rest > 0) client_drop(&clients[i], now);
  return served;
}
