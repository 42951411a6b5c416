#include "options.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/naming.h"
#include "../base/optionvalues.h"
#include "../base/startup.h"
#include "../collect/parse.h"
#include "../collect/world.h"
#include "help.gen.h"

const char program[] = "beoboard-send";

const char help_text[] = SEND_HELP;

uint32_t version_number(void) {
  uint32_t number = 0;
  struct span left = span_of(version_text), digits;
  for (unsigned i = 0; i < 3; i++) {
    uint64_t part = 0;
    if (eat_digits(&left, 1, 3, &digits)) text_u64(digits, &part);
    eat(&left, SPAN("."));
    number = number << 8 | (uint32_t)part;
  }
  return number;
}

static bool read_to(struct span text, void *field, struct words *why) {
  struct options *options = field;
  struct address address;
  if (span_is(text, SPAN("-"))) return options->to_stdout = true;
  if (!parse_address(text, DEFAULT_PORT, &address, why)) return false;
  if (address.port == 0) return refuse_text(why, text, " has port 0; write the port that the receiver listens on");
  options->to[options->to_count++] = address;
  return true;
}

static bool read_interface(struct span text, void *field, struct words *why) {
  if (!is_interface_name(text) || find_char(text, ':') != NULL || text.len >= sizeof((struct options *)0)->interface)
    return refuse_text(why, text, " is not an interface; write a name as in /sys/class/net");
  memcpy(field, text.at, text.len);
  return true;
}

/* A whole number; 10k is 10000, 2M is 2000000. */
static bool read_ttl(struct span text, void *field, struct words *why) {
  struct span left = text, digits;
  uint64_t number;
  if (!eat_digits(&left, 1, 15, &digits) || !text_u64(digits, &number) ||
      (left.len > 0 && !span_is(left, SPAN("k")) && !span_is(left, SPAN("M"))))
    return refuse_text(why, text, " is not a whole number; write 0 to 255");
  if (number > 255 || (left.len > 0 && number > 0)) return refuse_text(why, text, " is out of bounds; write 0 to 255");
  *(uint8_t *)field = (uint8_t)number;
  return true;
}

/* What the kernel calls a machine that has no name yet. */
static bool is_nobodys_name(struct span name) {
  return name.len == 0 || span_is(name, SPAN("(none)")) || span_is(name, SPAN("localhost")) ||
         span_is(name, SPAN("localhost4")) || span_is(name, SPAN("localhost6"));
}

static bool host_is_unnamed;

static const char *find_name(struct words *why) {
  const char *host = host_name(why);
  host_is_unnamed = host != NULL && is_nobodys_name(span_of(host));
  return host_is_unnamed ? "localhost" : host;
}

/* Whether an address is one of this machine: who sends to it has it as well, or it is of loopback. Of names only
 * localhost is. */
static bool is_here(const struct address *address) {
  const char *host = address->host;
  if (address->family == AF_UNSPEC)
    return ends(span_of(host), SPAN(".localhost")) || is_nobodys_name((struct span){host, strcspn(host, ".")});
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = 1}, own4;
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = 1}, own6;
  if (strncasecmp(host, "::ffff:", 7) == 0) host += 7; /* an address of IPv4 */
  const bool is_v4 = inet_pton(AF_INET, host, &v4.sin_addr) == 1;
  if (!is_v4 && inet_pton(AF_INET6, host, &v6.sin6_addr) != 1) return false;
  if (is_v4 ? ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET : IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr)) return true;
  const int fd = socket(is_v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const struct sockaddr *to = is_v4 ? (const void *)&v4 : (const void *)&v6;
  struct sockaddr *own = is_v4 ? (void *)&own4 : (void *)&own6;
  socklen_t bytes = is_v4 ? sizeof v4 : sizeof v6;
  const bool known = fd != -1 && connect(fd, to, bytes) == 0 && getsockname(fd, own, &bytes) == 0;
  if (fd != -1) close(fd);
  return known && (is_v4 ? own4.sin_addr.s_addr == v4.sin_addr.s_addr
                         : memcmp(&own6.sin6_addr, &v6.sin6_addr, sizeof v6.sin6_addr) == 0);
}

static bool read_cluster(struct span text, void *field, struct words *why) {
  if (!is_node_name(text, true))
    return refuse_text(why, text,
                       " is not a cluster name; write 1 to 63 letters, digits, . _ -, a letter or digit first");
  memcpy(field, text.at, text.len);
  return true;
}

static bool read_interval(struct span text, void *field, struct words *why) {
  uint64_t ms;
  if (!value_time(text, 100, 600000, "100ms to 600s", &ms, why)) return false;
  *(uint32_t *)field = (uint32_t)ms;
  return true;
}

static bool read_health_max_age(struct span text, void *field, struct words *why) {
  return value_time(text, 1000, UINT64_C(86400000000), "1s to 1000d", field, why);
}

/* The first and the second of two trees. */
static bool read_tree(struct span text, void *field, struct words *why) {
  const char **tree = field;
  return value_path(text, &tree[tree[0] != NULL], why);
}

static const struct option options_of_send[] = {
  {.name = "to", .value = "ADDR[:PORT]", .most = MOST_TO, .read = read_to},
  {.name = "interface", .value = "IF", .read = read_interface, AT(interface)},
  {.name = "ttl", .value = "N", .fallback = "1", .read = read_ttl, AT(ttl)},
  {.name = "name", .value = "NAME", .find_fallback = find_name, .read = value_node_name, AT(name)},
  {.name = "cluster", .value = "NAME", .read = read_cluster, AT(cluster)},
  {.name = "key-file", .value = "FILE", .read = value_path, AT(key_file)},
  {.name = "interval", .value = "TIME", .fallback = "1s", .read = read_interval, AT(interval_ms)},
  {.name = "pace-file", .value = "PATH", .read = value_path, AT(pace_file)},
  {.name = "pace-min", .value = "TIME", .fallback = "250ms", .read = read_interval, AT(pace_min_ms)},
  {.name = "pace-max", .value = "TIME", .fallback = "60s", .read = read_interval, AT(pace_max_ms)},
  {.name = "once", AT(once)},
  {.name = "check", AT(check)},
  {.name = "aligned", AT(aligned)},
  {.name = "proc", .value = "DIR", .most = 2, .fallback = place_of_proc, .read = read_tree, AT(proc)},
  {.name = "sys", .value = "DIR", .most = 2, .fallback = place_of_sys, .read = read_tree, AT(sys)},
  {.name = "root", .value = "DIR", .read = value_path, AT(root)},
  {.name = "scratch", .value = "DIR", .fallback = place_of_scratch, .read = value_path, AT(scratch)},
  {.name = "health-max-age", .value = "TIME", .read = read_health_max_age, AT(health_max_age_ms)},
  {.name = "pretend", .value = "FILE", .read = value_path, AT(pretend)},
  {.name = "user", .value = "USER", .read = value_user, AT(user)},
  {.name = "seccomp", AT(seccomp)},
  {.name = "config", .value = "FILE", .read = value_path, AT(config)},
};

static bool options_read_file(const char *name, struct words *fault);
static const struct option_table table = {OPTIONS_OF(options_of_send), .read_file = options_read_file};

static bool options_read_file(const char *name, struct words *fault) {
  static struct toml file LARGE;
  return toml_read(&file, name, options_accept, (void *)&table, fault);
}

static enum outcome options_refuse(struct words *fault, const char *why) {
  add_text(fault, why);
  return OPTIONS_BAD;
}

enum outcome send_options_read(int argc, char *const argv[], struct options *options, struct words *fault) {
  memset(options, 0, offsetof(struct options, to));
  host_is_unnamed = false;
  const enum outcome outcome = options_read(&table, argc, argv, options, fault);
  if (outcome != OPTIONS_GOOD) return outcome;
  for (unsigned i = 0; host_is_unnamed && i < options->to_count; i++)
    options->unnamed |= !is_here(&options->to[i]);
  options->trees = options->proc[1] != NULL || options->sys[1] != NULL ? 2 : 1;
  if (options->proc[1] == NULL) options->proc[1] = options->proc[0];
  if (options->sys[1] == NULL) options->sys[1] = options->sys[0];
  options->once |= options->check;
  options->to_stdout &= !options->check;
  if (options->to_count == 0 && !options->to_stdout)
    return options_refuse(fault, "nowhere to report to; write --to ADDR, or --to - for stdout");
  if (options->pretend != NULL && !options->once)
    return options_refuse(fault, "--pretend makes one report; add --once");
  if (options->pace_min_ms > options->pace_max_ms)
    return options_refuse(fault,
                          "--pace-min is longer than --pace-max; give a shorter --pace-min or a longer --pace-max");
  return OPTIONS_GOOD;
}
