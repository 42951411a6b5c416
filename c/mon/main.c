/* The present values of one node, as often as a client asks: Supermon's protocol on a node. Reads only what is asked
 * for, keeps nothing, and allocates no memory after its start. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/privileges.h"
#include "../base/service.h"
#include "../base/startup.h"
#include "../collect/collect.h"
#include "../collect/world.h"
#include "clients.h"
#include "monoptions.h"
#include "samples.h"

/* For how long links and disks are not looked at again, ns: data about them change rarely, and are expensive to
 * read. */
#define SELDOM_NS UINT64_C(10000000000)

static struct options settings LARGE;
static char fault_text[1024], server_name[128];
static struct teller teller;

static uint64_t cpu_us(void) {
  struct rusage used;
  if (getrusage(RUSAGE_SELF, &used) != 0) return 0;
  const uint64_t s = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  return s * 1000000 + (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void sample(uint32_t mask, struct words *out) {
  static uint64_t seldom_ns;
  static struct bb_report report;
  const struct clocks clocks = machine->clocks();
  if (clocks.boot_ns >= seldom_ns) {
    collect_seldom(UINT32_MAX);
    seldom_ns = clocks.boot_ns + SELDOM_NS;
  }
  report = (struct bb_report){.t_real_ns = clocks.real_ns, .t_boot_ns = clocks.boot_ns};
  collect_sets(&report, sets_of(mask), (int64_t)clocks.boot_ns, &(struct details){0});
  teller.samples++;
  if ((mask & MASK_SERVER) != 0) teller.cpu_us = cpu_us();
  tell_sample(out, &teller, mask, &report);
}

static void mon_answer(const struct command *command, struct words *out) {
  if (command->kind == COMMAND_SCHEMA) tell_schema(out, &teller);
  else if (command->kind == COMMAND_SAMPLE) sample(command->mask, out);
  else tell_refusal(out, &teller, command);
}

/* The number of this run: in another network a server may have the same host and process number. */
static void name_server(void) {
  uint64_t number = bb_clock_ns(CLOCK_REALTIME) ^ (uint64_t)getpid() << 48;
  const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd == -1 ? -1 : read(fd, &number, sizeof number);
  (void)got; /* the clock is good enough */
  if (fd != -1) close(fd);
  struct words words = WORDS(server_name);
  add_text(&words, settings.name);
  add_text(&words, "/");
  add_based(&words, number, 16);
  teller = (struct teller){.node = settings.name, .server = text_of(&words)};
}

/* ---- Listening ---- */

static socklen_t socket_address(const struct address *from, struct sockaddr_storage *to) {
  memset(to, 0, sizeof *to);
  if (from->family == AF_INET) {
    struct sockaddr_in *v4 = (struct sockaddr_in *)to;
    v4->sin_family = AF_INET;
    v4->sin_port = htons(from->port);
    return inet_pton(AF_INET, from->host, &v4->sin_addr) == 1 ? sizeof *v4 : 0;
  }
  struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)to;
  char host[sizeof from->host];
  memcpy(host, from->host, sizeof host);
  char *zone = strchr(host, '%');
  if (zone != NULL) *zone++ = 0;
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(from->port);
  if (zone != NULL && (v6->sin6_scope_id = if_nametoindex(zone)) == 0) return 0;
  return inet_pton(AF_INET6, host, &v6->sin6_addr) == 1 ? sizeof *v6 : 0;
}

static bool is_loopback(const struct sockaddr_storage *address) {
  if (address->ss_family == AF_INET)
    return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
  return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

/* Returns the socket, or -1 with the reason; `address` gets its port. */
static int listen_at(struct address *address, bool *loopback, struct words *fault) {
  struct sockaddr_storage to;
  socklen_t length = socket_address(address, &to);
  const int on = 1, fd = length == 0 ? -1 : socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (length == 0) errno = ENODEV; /* the zone */
  if (fd != -1) {
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (to.ss_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&to, length) == 0 && listen(fd, 64) == 0 &&
        getsockname(fd, (struct sockaddr *)&to, &length) == 0) {
      *loopback = is_loopback(&to);
      address->port = ntohs(to.ss_family == AF_INET ? ((struct sockaddr_in *)&to)->sin_port
                            : ((struct sockaddr_in6 *)&to)->sin6_port);
      return fd;
    }
  }
  const int error = errno;
  add_text(fault, "cannot listen on ");
  add_address(fault, address);
  add_text(fault, ": ");
  if (error == EADDRINUSE) add_text(fault, "another program listens there already; stop it, or choose another port");
  else add_text(fault, error_name(error));
  if (fd != -1) close(fd);
  return -1;
}

static bool listen_everywhere(struct service *service, struct words *fault) {
  for (; service->listeners < settings.listen_count; service->listeners++) {
    struct address *address = &settings.listen[service->listeners];
    bool loopback = true;
    if ((service->listener[service->listeners] = listen_at(address, &loopback, fault)) == -1) return false;
    if (loopback) continue;
    char text[300];
    struct words words = WORDS(text);
    add_address(&words, address);
    tell("there are no passwords: whoever reaches ", text_of(&words), " can ask");
  }
  return true;
}

/* ---- Start and end ---- */

static void tell_ready(void) {
  char text[800];
  struct words words = WORDS(text);
  add_text(&words, settings.name);
  add_text(&words, settings.stdio ? " answers on stdout" : " answers at ");
  for (unsigned i = 0; i < settings.listen_count; i++) {
    if (i > 0) add_text(&words, ", ");
    add_address(&words, &settings.listen[i]);
  }
  add_text(&words, ", at most ");
  add_number(&words, settings.most);
  add_text(&words, " times a second");
  /* Over ssh a user's terminal is behind stderr. */
  if (!settings.stdio) say(SAY_INFO, "ready: ", text_of(&words), (char *)NULL);
  service_ready(text_of(&words));
}

static int mon_run(const struct service *service) {
  const struct served served = clients_serve(service);
  service_stopping();
  if (served.error != 0) {
    say(SAY_ERROR, "cannot write to stdout: ", error_name(served.error), (char *)NULL);
    return WRITE_FAILED;
  }
  if (served.stdio_cut_off) return NOT_SO; /* the one that was logged */
  char text[100];
  struct words words = WORDS(text);
  add_number(&words, served.answers);
  add_text(&words, " answers, ");
  add_number(&words, served.cut_off);
  add_text(&words, " clients cut off");
  if (!settings.stdio) say(SAY_INFO, "clean shutdown: ", text_of(&words), (char *)NULL);
  return DONE;
}

/* Drops privileges and resources that are not needed any more, when everything is open. */
static bool mon_settle(const struct user *user, struct words *fault) {
  if (settings.user != NULL && !become(user, fault)) return false;
  no_new_privileges();
  return !settings.seccomp || confine(true, fault);
}

int main(int argc, char *argv[]) {
  static struct service service = {.answer = mon_answer, .watch = service_watch};
  struct words fault = WORDS(fault_text);
  struct user user = {.uid = (uid_t)-1, .gid = (gid_t)-1};
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  hold_standard_places();
  service_open();
  switch (settings_read(argc, argv, &settings, &fault)) {
    case OPTIONS_HELP: return show(settings_help);
    case OPTIONS_VERSION: return show(version_text);
    case OPTIONS_BAD: return refuse_start(&fault, USAGE);
    case OPTIONS_GOOD: break;
  }
  service.most = settings.most;
  if (settings.user != NULL && !find_user(settings.user, &user, &fault)) return refuse_start(&fault, USAGE);
  clients_open();
  /* The node's jobs come first. */
  setpriority(PRIO_PROCESS, 0, 19);
  if (!listen_everywhere(&service, &fault)) return refuse_start(&fault, NOT_SO);
  name_server();
  collect_from(settings.proc, settings.sys, false);
  if (!mon_settle(&user, &fault)) return refuse_start(&fault, USAGE);
  if (settings.stdio) clients_add_stdio();
  tell_ready();
  return mon_run(&service);
}
