/* Makes the library's calls for tests that judge from outside. Knows the header alone, and the names of rates.
 *   calls show BOARD [OWNER]        everything that the calls give, as JSON
 *   calls errors PATH [OWNER]       what opening gives
 *   calls rates                     pairs of reports on stdin; the rates of each as a line of JSON
 *   calls sizes BOARD               structs of every smaller and some larger sizes: nothing beyond them is written
 *   calls quiet BOARD [N]           all read calls N times under a seccomp filter that kills at any system call
 *   calls marked BOARD              all read calls between two writes of a mark, for strace
 *   calls cut BOARD                 cuts the board short, refreshes, and reads on
 *   calls follow BOARD              for every line on stdin: refreshes, and writes what that gave, the nodes and the
 *   state of the first calls events BOARD              for every line NEXT MAX on stdin the events from there on, as a
 *   line of JSON calls layout                    where the fields of the public structs lie */
#include <errno.h>
#include <inttypes.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../format/header.gen.h"

static void number(const char *name, double value) {
  if (!isnan(value)) printf("\"%s\":%.17g,", name, value);
}

static void show_net(const char *name, const struct beoboard_net_rates *net) {
  if (name != NULL) printf("\"%s\":", name);
  printf("{\"name\":\"%s\"", net->name);
  for (size_t i = 0; i < sizeof bb_net_counters / sizeof bb_net_counters[0]; i++) {
    double rate;
    memcpy(&rate, (const char *)net + bb_net_counters[i].rate, sizeof rate);
    if (!isnan(rate)) printf(",\"%s\":%.17g", bb_net_counters[i].name, rate);
  }
  printf("}");
}

static void show_rates(int result, const struct beoboard_rates *r) {
  if (result < 0) {
    printf("{\"error\":%d}", result);
    return;
  }
  printf("{");
  for (size_t i = 0; i < sizeof bb_report_counters / sizeof bb_report_counters[0]; i++) {
    const struct bb_counter *c = &bb_report_counters[i];
    double rate;
    memcpy(&rate, (const char *)r + c->rate, sizeof rate);
    number(c->name, rate);
    if (c->share == 0) continue;
    char name[64];
    memcpy(&rate, (const char *)r + c->share, sizeof rate);
    snprintf(name, sizeof name, "%.*s_pct", (int)strlen(c->name) - 3, c->name);
    number(name, rate);
  }
  printf("\"net\":[");
  for (int i = 0; i < (int)(sizeof r->net / sizeof r->net[0]) && r->net[i].name[0] != 0; i++) {
    if (i > 0) printf(",");
    show_net(NULL, &r->net[i]);
  }
  printf("]");
  if (r->net_rest.name[0] != 0) {
    printf(",");
    show_net("net_rest", &r->net_rest);
  }
  if (r->fabric.name[0] != 0) {
    printf(",");
    show_net("fabric", &r->fabric);
  }
  printf("}");
}

static int rates_from_stdin(void) {
  struct beoboard_report pair[2];
  while (fread(pair, sizeof pair, 1, stdin) == 1) {
    struct beoboard_rates rates;
    show_rates(beoboard_rates_between(&pair[0], &pair[1], &rates, sizeof rates), &rates);
    printf("\n");
  }
  return 0;
}

static beoboard *open_or_end(const char *path, const char *owner) {
  beoboard *b;
  const int result = beoboard_open_owner(&b, path, owner, 0);
  if (result == 0) return b;
  fprintf(stderr, "%s\n", beoboard_strerror(result));
  exit(1);
}

static void show_bytes(const char *name, const uint8_t bytes[16]) {
  printf("\"%s\":\"", name);
  for (int i = 0; i < 16; i++) printf("%02x", bytes[i]);
  printf("\",");
}

static void show_links(const beoboard *b) {
  struct beoboard_link links[BEOBOARD_LINKS_MAX];
  const int n = beoboard_links(b, links, sizeof links[0], BEOBOARD_LINKS_MAX);
  printf("\"link\":[");
  for (int i = 0; i < n; i++) {
    const struct beoboard_link *l = &links[i];
    printf("%s{\"name\":\"%s\",\"number\":%u,\"flags\":%u,\"changed_age_ns\":%" PRId64 ",\"heartbeat_age_ns\":%" PRId64
           ",",
           i > 0 ? "," : "", l->name, l->number, l->flags, l->changed_age_ns, l->heartbeat_age_ns);
    printf("\"listened_ns\":%" PRId64 ",\"nodes\":%" PRIu64 ",\"dark_age_ns\":%" PRId64 ",\"dark_nodes\":%" PRIu64 ",",
           l->listened_ns, l->nodes, l->dark_age_ns, l->dark_nodes);
    printf("\"downs\":%" PRIu64 ",\"accepted\":%" PRIu64 ",\"missed\":%" PRIu64 "}", l->downs, l->accepted, l->missed);
  }
  printf("],");
}

static void show_senders(const beoboard *b) {
  static struct beoboard_sender senders[BEOBOARD_SENDERS_MAX];
  const int n = beoboard_senders(b, senders, sizeof senders[0], BEOBOARD_SENDERS_MAX);
  printf("\"sender\":[");
  for (int i = 0; i < n; i++) {
    const struct beoboard_sender *s = &senders[i];
    printf("%s{", i > 0 ? "," : "");
    show_bytes("address", s->address);
    printf("\"name\":\"%s\",\"first_age_ns\":%" PRId64 ",\"last_age_ns\":%" PRId64 ",\"last_wall_ns\":\"%" PRId64 "\",",
           s->name, s->first_age_ns, s->last_age_ns, s->last_wall_ns);
    printf("\"count\":%" PRIu64 ",\"reason\":\"%s\"}", s->count, beoboard_reason_name((int)s->reason));
  }
  printf("],");
}

static void show_events(const beoboard *b, uint64_t *next, int max) {
  struct beoboard_event events[64];
  const int n = beoboard_events(b, next, events, sizeof events[0], max < 64 ? max : 64);
  printf("\"events\":%d,\"next\":%" PRIu64 ",\"event\":[", n, *next);
  for (int i = 0; i < n; i++) {
    const struct beoboard_event *e = &events[i];
    const char *kind = beoboard_event_name((int)e->kind);
    printf("%s{\"number\":%" PRIu64 ",\"age_ns\":%" PRId64 ",\"wall_ns\":\"%" PRId64
           "\",\"kind\":\"%s\",\"subject\":%d,\"detail\":%" PRIu64 "}",
           i > 0 ? "," : "", e->number, e->age_ns, e->wall_ns, kind != NULL ? kind : "", e->subject, e->detail);
  }
  printf("]");
}

static void show_refusal(const beoboard *b, int index) {
  struct beoboard_refusal r;
  const int result = beoboard_last_refusal(b, index, &r, sizeof r);
  if (result < 0) {
    printf("\"refusal\":{\"error\":%d},", result);
    return;
  }
  printf("\"refusal\":{\"reason\":\"%s\",\"age_ns\":%" PRId64 ",\"wall_ns\":\"%" PRId64 "\",\"skew_us\":%" PRId64
         ",\"is_newer\":%u},",
         beoboard_reason_name((int)r.reason), r.age_ns, r.wall_ns, r.skew_us, r.is_newer);
}

static void show_memory(const beoboard *b, int index) {
  struct beoboard_memory m;
  const int result = beoboard_memory(b, index, &m, sizeof m);
  printf("\"recent\":%d,", beoboard_recent(b, index));
  if (result < 0) {
    printf("\"memory\":{\"error\":%d},", result);
    return;
  }
  printf("\"memory\":{\"remembers\":%" PRId64 ",\"heard\":%" PRId64 ",\"boot\":%" PRId64 ",", m.remembers_age_ns,
         m.heard_age_ns, m.boot_age_ns);
  printf("\"silence\":%" PRId64 ",\"silence_end\":%" PRId64 ",\"silences\":%" PRIu64 ",", m.silence_age_ns,
         m.silence_end_age_ns, m.silences);
  printf("\"stood_still\":%" PRId64 ",", m.stood_still_ns);
  printf("\"said\":%" PRId64 ",\"last_words\":%u,\"recent\":%u,\"episodes\":[", m.last_words_age_ns, m.last_words,
         m.recent);
  for (int i = 0; i < BEOBOARD_PROBLEMS_MAX; i++)
    printf("%s[%" PRId64 ",%" PRId64 ",%" PRIu64 "]", i > 0 ? "," : "", m.episodes[i].begin_age_ns,
           m.episodes[i].seen_age_ns, m.episodes[i].count);
  printf("]},");
}

static int show(const char *path, const char *owner) {
  beoboard *b = open_or_end(path, owner);
  struct beoboard_receiver r;
  int counts[BEOBOARD_NSTATES];
  const int receiver = beoboard_receiver(b, &r, sizeof r), tally = beoboard_tally(b, counts), count = beoboard_count(b);
  printf("{\"receiver\":%d,\"tally\":%d,\"counts\":[%d,%d,%d,%d,%d,%d],", receiver, tally, counts[0], counts[1],
         counts[2], counts[3], counts[4], counts[5]);
  printf("\"heartbeat_age_ns\":%" PRId64 ",\"started_age_ns\":%" PRId64 ",\"instance\":%" PRIu64
         ",\"listened_ns\":%" PRId64 ",",
         r.heartbeat_age_ns, r.started_age_ns, r.instance, r.listened_ns);
  printf("\"uncertain_after_ns\":%" PRId64 ",\"silent_after_ns\":%" PRId64 ",\"nodes\":%u,\"flags\":%u,",
         r.uncertain_after_ns, r.silent_after_ns, r.nodes, r.flags);
  printf("\"received\":%" PRIu64 ",\"accepted\":%" PRIu64 ",\"duplicate\":%" PRIu64 ",\"refused_names\":%" PRIu64 ",",
         r.received, r.accepted, r.duplicate, r.refused[BEOBOARD_REASON_NAME]);
  printf("\"capacity\":%u,\"pid\":%u,\"cluster\":\"%s\",", r.capacity, r.pid, r.cluster);
  printf("\"kernel_drops\":%" PRIu64 ",\"unfit_drops\":%" PRIu64 ",\"softnet_drops\":%" PRIu64 ",", r.kernel_drops,
         r.unfit_drops, r.softnet_drops);
  uint64_t next = 0;
  show_links(b);
  show_senders(b);
  show_events(b, &next, 64);
  printf(",\"node\":[");
  for (int i = 0; i < count; i++) {
    char name[BEOBOARD_NAME_MAX];
    struct beoboard_node n;
    struct beoboard_slot newest, before;
    struct beoboard_rates rates;
    beoboard_name(b, i, name, sizeof name);
    /* A buffer of exactly its size, and what is said of one that is a byte too small. */
    const size_t bytes = strlen(name) + 1;
    char *const exact = (char *)malloc(bytes);
    const int fits = beoboard_name(b, i, exact, bytes), tight = beoboard_name(b, i, exact, bytes - 1);
    free(exact);
    const char *const names[1] = {name};
    int8_t state;
    const int check = beoboard_check(b, names, 1, &state), read = beoboard_read(b, i, &n, sizeof n);
    printf("%s{\"name\":\"%s\",\"fits\":%d,\"tight\":%d,\"index\":%d,\"state\":%d,\"age\":%" PRId64
           ",\"check\":%d,\"checked\":%d,\"read\":%d,",
           i > 0 ? "," : "", name, fits, tight, beoboard_index(b, name), beoboard_state(b, i), beoboard_age(b, i),
           check, state, read);
    printf("\"copied\":{\"name\":\"%s\",\"age_ns\":%" PRId64 ",\"last_report_wall_ns\":\"%" PRId64
           "\",\"reports\":%" PRIu64 ",\"lost\":%" PRIu64 ",",
           n.name, n.age_ns, n.last_report_wall_ns, n.reports, n.lost);
    printf("\"boot_id\":\"%" PRIu64 "\",\"valid\":\"%" PRIu64 "\",\"mem_total_kib\":%" PRIu64
           ",\"mem_avail_kib\":%" PRIu64 ",",
           n.boot_id, n.valid, n.mem_total_kib, n.mem_avail_kib);
    number("load1", (double)n.load1);
    number("cpu_busy", (double)n.cpu_busy);
    printf("\"refused\":\"%s\",\"skew_ms\":%d,\"state\":\"%s\",\"cpus\":%u,\"interval_ms\":%u,\"flags\":%u,\"health\":%"
           "u,\"link\":%u},",
           beoboard_reason_name((int)n.refused), n.skew_ms, beoboard_state_name((int)n.state), n.cpus, n.interval_ms,
           n.flags, n.health, n.link);
    show_refusal(b, i);
    show_memory(b, i);
    printf("\"reports\":%d,", beoboard_reports(b, i, &newest, &before, sizeof newest));
    printf("\"newest\":{\"number\":%" PRIu64 ",\"seq\":%u,\"stamp_ns\":\"%" PRId64 "\"},\"before\":{\"number\":%" PRIu64
           ",\"seq\":%u},\"rates\":",
           newest.number, newest.report.seq, newest.stamp_ns, before.number, before.report.seq);
    show_rates(beoboard_rates(b, i, &rates, sizeof rates), &rates);
    printf("}");
  }
  printf("]}\n");
  beoboard_close(b);
  return 0;
}

static int errors(const char *path, const char *owner) {
  static int somewhere;
  beoboard *b = (beoboard *)&somewhere;
  errno = 4242;
  const int result = owner != NULL ? beoboard_open_owner(&b, path, owner, 0) : beoboard_open(&b, path, 0);
  const int left = errno;
  printf("%d %s %s\n", result,
         result == 0 ? b != NULL ? "handle" : "none"
         : b == NULL ? "null"
                     : "dangling",
         left == 4242 ? "untouched" : "errno");
  beoboard_close(b);
  return 0;
}

/* A program that knows less of a struct gets as much as it knows, one that knows more gets zeros, and nothing beyond.
 * Ages, from byte `age` to `age_end`, differ from one call to the next. */
static int bad, which, refused;
static void with_sizes(const beoboard *b, const char *what, size_t full, size_t age, size_t age_end,
                       int (*call)(const beoboard *, void *, size_t)) {
  uint8_t *whole = (uint8_t *)malloc(full), *part = (uint8_t *)malloc(full + 128);
  for (size_t size = 0; size <= full + 64; size++) {
    memset(whole, 0x11, full);
    memset(part, 0xee, full + 128);
    const int result = call(b, part, size), wanted = size == 0 ? -EINVAL : call(b, whole, full);
    int wrong = result != wanted;
    for (size_t i = size; i < full + 128; i++) wrong |= part[i] != 0xee;
    for (size_t i = full; i < size; i++) wrong |= part[i] != 0;
    for (size_t i = 0; i < size && i < full; i++) wrong |= (i < age || i >= age_end) && whole[i] != part[i];
    if (wrong) {
      printf("%s of %zu bytes: %d\n", what, size, result);
      bad = 1;
    }
  }
  free(whole);
  free(part);
}
static int call_receiver(const beoboard *b, void *out, size_t size) {
  return beoboard_receiver(b, (struct beoboard_receiver *)out, size);
}
static int call_read(const beoboard *b, void *out, size_t size) {
  return beoboard_read(b, which, (struct beoboard_node *)out, size);
}
static int call_read_all(const beoboard *b, void *out, size_t size) {
  return beoboard_read_all(b, (struct beoboard_node *)out, size, which, 1);
}
static int call_newest(const beoboard *b, void *out, size_t size) {
  return beoboard_reports(b, which, (struct beoboard_slot *)out, NULL, size);
}
static int call_before(const beoboard *b, void *out, size_t size) {
  return beoboard_reports(b, which, NULL, (struct beoboard_slot *)out, size);
}
static int call_rates(const beoboard *b, void *out, size_t size) {
  return beoboard_rates(b, which, (struct beoboard_rates *)out, size);
}

static int call_links(const beoboard *b, void *out, size_t size) {
  return beoboard_links(b, (struct beoboard_link *)out, size, 1);
}
static int call_refusal(const beoboard *b, void *out, size_t size) {
  return beoboard_last_refusal(b, refused, (struct beoboard_refusal *)out, size);
}
static int call_memory(const beoboard *b, void *out, size_t size) {
  return beoboard_memory(b, which, (struct beoboard_memory *)out, size);
}
static int call_senders(const beoboard *b, void *out, size_t size) {
  return beoboard_senders(b, (struct beoboard_sender *)out, size, 1);
}
static int call_events(const beoboard *b, void *out, size_t size) {
  uint64_t next = 0;
  return beoboard_events(b, &next, (struct beoboard_event *)out, size, 1);
}

static int sizes(const char *path) {
  beoboard *b = open_or_end(path, NULL);
  struct beoboard_slot slot;
  while (which < beoboard_count(b) && beoboard_reports(b, which, &slot, NULL, sizeof slot) < 2) which++;
  struct beoboard_refusal refusal;
  while (refused < beoboard_count(b) && beoboard_last_refusal(b, refused, &refusal, sizeof refusal) < 0) refused++;
  with_sizes(b, "receiver", sizeof(struct beoboard_receiver), 0, 16, call_receiver);
  with_sizes(b, "node", sizeof(struct beoboard_node), 64, 72, call_read);
  with_sizes(b, "nodes", sizeof(struct beoboard_node), 64, 72, call_read_all);
  with_sizes(b, "newest", sizeof(struct beoboard_slot), 8, 16, call_newest);
  with_sizes(b, "before", sizeof(struct beoboard_slot), 8, 16, call_before);
  with_sizes(b, "rates", sizeof(struct beoboard_rates), 0, 0, call_rates);
  with_sizes(b, "links", sizeof(struct beoboard_link), 24, 40, call_links);
  with_sizes(b, "refusal", sizeof(struct beoboard_refusal), 0, 8, call_refusal);
  with_sizes(b, "memory", sizeof(struct beoboard_memory), 0, sizeof(struct beoboard_memory), call_memory);
  with_sizes(b, "senders", sizeof(struct beoboard_sender), 80, 96, call_senders);
  with_sizes(b, "events", sizeof(struct beoboard_event), 8, 16, call_events);
  beoboard_close(b);
  if (!bad) printf("as promised\n");
  return bad;
}

static struct beoboard_node many[64];
static struct beoboard_sender senders[BEOBOARD_SENDERS_MAX];
static struct beoboard_event events[64];

/* Every read call, on every node and beyond. */
static int64_t read_calls(const beoboard *b) {
  int64_t sum = 0;
  struct beoboard_receiver r;
  struct beoboard_slot newest, before;
  struct beoboard_rates rates;
  int counts[BEOBOARD_NSTATES];
  char name[BEOBOARD_NAME_MAX] = "";
  int8_t state;
  const char *const names[1] = {name};
  sum += beoboard_receiver(b, &r, sizeof r) + beoboard_tally(b, counts) +
         beoboard_read_all(b, many, sizeof many[0], 0, 64);
  struct beoboard_link links[BEOBOARD_LINKS_MAX];
  struct beoboard_refusal refusal;
  struct beoboard_memory memory;
  uint64_t next = 0, from_now = BEOBOARD_EVENTS_FROM_NOW;
  sum += beoboard_links(b, links, sizeof links[0], BEOBOARD_LINKS_MAX) +
         beoboard_senders(b, senders, sizeof senders[0], BEOBOARD_SENDERS_MAX);
  sum += beoboard_events(b, &next, events, sizeof events[0], 64) +
         beoboard_events(b, &from_now, events, sizeof events[0], 64);
  for (int i = -1; i <= beoboard_count(b); i++) {
    sum += beoboard_name(b, i, name, sizeof name) + beoboard_index(b, name) + beoboard_state(b, i) + beoboard_age(b, i);
    sum += beoboard_check(b, names, 1, &state) + beoboard_read(b, i, &many[0], sizeof many[0]);
    sum += beoboard_reports(b, i, &newest, &before, sizeof newest) + beoboard_rates(b, i, &rates, sizeof rates);
    sum += beoboard_rates_between(&newest.report, &before.report, &rates, sizeof rates);
    sum += beoboard_last_refusal(b, i, &refusal, sizeof refusal) + (beoboard_event_name(i) != NULL);
    sum += beoboard_memory(b, i, &memory, sizeof memory) + beoboard_recent(b, i) + beoboard_problems(b, i);
    sum += (beoboard_last_words_name(i) != NULL) + (beoboard_last_words_text(i) != NULL);
    sum += beoboard_strerror(i)[0] + (beoboard_state_name(i) != NULL) + (beoboard_reason_name(i) != NULL);
  }
  return sum + beoboard_version();
}

/* No system call at all: from here on anything but the last two kills us. */
static int quiet(const char *path, long n) {
  beoboard *b = open_or_end(path, NULL);
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_write, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    printf("no seccomp\n");
    return 3;
  }
  int64_t sum = n == 0 ? getppid() : 0; /* to see that it does kill */
  for (long i = 0; i < n; i++) sum += read_calls(b);
  static const char line[] = "no system call\n";
  if (syscall(SYS_write, 1, line, sizeof line - 1) < 0 || sum == 0) _exit(1);
  _exit(0);
}

static int marked(const char *path) {
  beoboard *b = open_or_end(path, NULL);
  int64_t sum = read_calls(b);
  if (write(2, "mark 1\n", 7) < 0) return 1;
  for (int i = 0; i < 1000; i++) sum += read_calls(b);
  if (write(2, "mark 2\n", 7) < 0) return 1;
  beoboard_close(b);
  return sum == 0;
}

/* Nobody but the owner can do this to a reader. */
static int cut(const char *path) {
  beoboard *b = open_or_end(path, NULL);
  if (truncate(path, 100) != 0) return 2;
  int counts[BEOBOARD_NSTATES];
  struct beoboard_receiver r;
  const int result = beoboard_refresh(b), again = beoboard_refresh(b), receiver = beoboard_receiver(b, &r, sizeof r);
  const int64_t sum = read_calls(b);
  printf("%d %d %d %d %d %u %d\n", result, again, beoboard_count(b), beoboard_tally(b, counts), receiver, r.flags,
         sum != 0);
  beoboard_close(b);
  return 0;
}

static int follow(const char *path) {
  beoboard *b = open_or_end(path, NULL);
  char line[16];
  while (fgets(line, sizeof line, stdin) != NULL) {
    errno = 4242;
    const int result = beoboard_refresh(b), left = errno;
    printf("%d %d %d%s\n", result, beoboard_count(b), beoboard_state(b, 0), left == 4242 ? "" : " errno");
    fflush(stdout);
  }
  beoboard_close(b);
  return 0;
}

static int cursors(const char *path) {
  beoboard *b = open_or_end(path, NULL);
  uint64_t next;
  int max;
  while (scanf("%" SCNu64 " %d", &next, &max) == 2) {
    printf("{");
    show_events(b, &next, max);
    printf("}\n");
    fflush(stdout);
  }
  beoboard_close(b);
  return 0;
}

#define FIELD(type, name)                                                                                              \
  printf(#type " " #name " %zu %zu\n", offsetof(struct type, name), sizeof(((struct type *)0)->name))
static int layout(void) {
  FIELD(beoboard_receiver, heartbeat_age_ns);
  FIELD(beoboard_receiver, started_age_ns);
  FIELD(beoboard_receiver, instance);
  FIELD(beoboard_receiver, listened_ns);
  FIELD(beoboard_receiver, uncertain_after_ns);
  FIELD(beoboard_receiver, silent_after_ns);
  FIELD(beoboard_receiver, nodes);
  FIELD(beoboard_receiver, flags);
  FIELD(beoboard_receiver, received);
  FIELD(beoboard_receiver, accepted);
  FIELD(beoboard_receiver, duplicate);
  FIELD(beoboard_receiver, kernel_drops);
  FIELD(beoboard_receiver, refused);
  FIELD(beoboard_receiver, capacity);
  FIELD(beoboard_receiver, pid);
  FIELD(beoboard_receiver, cluster);
  FIELD(beoboard_receiver, unfit_drops);
  FIELD(beoboard_receiver, softnet_drops);
  FIELD(beoboard_link, name);
  FIELD(beoboard_link, number);
  FIELD(beoboard_link, flags);
  FIELD(beoboard_link, changed_age_ns);
  FIELD(beoboard_link, heartbeat_age_ns);
  FIELD(beoboard_link, listened_ns);
  FIELD(beoboard_link, nodes);
  FIELD(beoboard_link, dark_age_ns);
  FIELD(beoboard_link, dark_nodes);
  FIELD(beoboard_link, downs);
  FIELD(beoboard_link, accepted);
  FIELD(beoboard_link, missed);
  FIELD(beoboard_node, name);
  FIELD(beoboard_node, age_ns);
  FIELD(beoboard_node, last_report_wall_ns);
  FIELD(beoboard_node, reports);
  FIELD(beoboard_node, lost);
  FIELD(beoboard_node, boot_id);
  FIELD(beoboard_node, valid);
  FIELD(beoboard_node, mem_total_kib);
  FIELD(beoboard_node, mem_avail_kib);
  FIELD(beoboard_node, refused);
  FIELD(beoboard_node, skew_ms);
  FIELD(beoboard_node, state);
  FIELD(beoboard_node, cpus);
  FIELD(beoboard_node, load1);
  FIELD(beoboard_node, cpu_busy);
  FIELD(beoboard_node, interval_ms);
  FIELD(beoboard_node, flags);
  FIELD(beoboard_node, health);
  FIELD(beoboard_node, link);
  FIELD(beoboard_refusal, age_ns);
  FIELD(beoboard_refusal, wall_ns);
  FIELD(beoboard_refusal, skew_us);
  FIELD(beoboard_refusal, reason);
  FIELD(beoboard_refusal, is_newer);
  FIELD(beoboard_sender, address);
  FIELD(beoboard_sender, name);
  FIELD(beoboard_sender, first_age_ns);
  FIELD(beoboard_sender, last_age_ns);
  FIELD(beoboard_sender, last_wall_ns);
  FIELD(beoboard_sender, count);
  FIELD(beoboard_sender, reason);
  FIELD(beoboard_sender, reserved);
  FIELD(beoboard_event, number);
  FIELD(beoboard_event, age_ns);
  FIELD(beoboard_event, wall_ns);
  FIELD(beoboard_event, detail);
  FIELD(beoboard_event, kind);
  FIELD(beoboard_event, subject);
  FIELD(beoboard_episode, begin_age_ns);
  FIELD(beoboard_episode, seen_age_ns);
  FIELD(beoboard_episode, count);
  FIELD(beoboard_memory, remembers_age_ns);
  FIELD(beoboard_memory, heard_age_ns);
  FIELD(beoboard_memory, boot_age_ns);
  FIELD(beoboard_memory, silence_age_ns);
  FIELD(beoboard_memory, silence_end_age_ns);
  FIELD(beoboard_memory, silences);
  FIELD(beoboard_memory, last_words_age_ns);
  FIELD(beoboard_memory, last_words);
  FIELD(beoboard_memory, recent);
  FIELD(beoboard_memory, episodes);
  FIELD(beoboard_slot, number);
  FIELD(beoboard_slot, age_ns);
  FIELD(beoboard_slot, stamp_ns);
  FIELD(beoboard_slot, stamp_wall_ns);
  FIELD(beoboard_slot, report);
  FIELD(beoboard_rates, seconds);
  FIELD(beoboard_rates, slow_seconds);
  for (size_t i = 0; i < sizeof bb_report_counters / sizeof bb_report_counters[0]; i++) {
    printf("beoboard_rates %s %u 8\n", bb_report_counters[i].name, bb_report_counters[i].rate);
    if (bb_report_counters[i].share != 0)
      printf("beoboard_rates %s share %u 8\n", bb_report_counters[i].name, bb_report_counters[i].share);
  }
  FIELD(beoboard_rates, net);
  FIELD(beoboard_rates, net_rest);
  FIELD(beoboard_rates, fabric);
  return 0;
}

int main(int argc, char **argv) {
  const char *verb = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : NULL, *more = argc > 3 ? argv[3] : NULL;
  if (strcmp(verb, "rates") == 0) return rates_from_stdin();
  if (strcmp(verb, "layout") == 0) return layout();
  if (path == NULL) return 2;
  if (strcmp(verb, "show") == 0) return show(path, more);
  if (strcmp(verb, "errors") == 0) return errors(path, more);
  if (strcmp(verb, "sizes") == 0) return sizes(path);
  if (strcmp(verb, "quiet") == 0) return quiet(path, more != NULL ? strtol(more, NULL, 10) : 1000);
  if (strcmp(verb, "marked") == 0) return marked(path);
  if (strcmp(verb, "follow") == 0) return follow(path);
  if (strcmp(verb, "cut") == 0) return cut(path);
  if (strcmp(verb, "events") == 0) return cursors(path);
  return 2;
}
