/* What a valid datagram is: each row changes a valid one, and has the reason for which that is rejected. */
#include "../../format/validate.h"

#include "check.h"

#define CLUSTER 7u

static struct bb_report valid_report(void) {
  struct bb_report r = {.magic = BB_STAT_MAGIC, .version = BB_STAT_VERSION, .length = BB_REPORT_BYTES};
  r.cluster_id = CLUSTER;
  r.interval_ms = 1000;
  memcpy(r.hostname, "node1", 5);
  return r;
}

#define AT(field) offsetof(struct bb_report, field), sizeof(((struct bb_report *)0)->field)

static const struct {
  const char *what;
  size_t at, bytes;
  uint64_t value;
  enum bb_reason reason;
} rows[] = {
  {"as it is", AT(seq), 0, BB_REASON_NONE},
  {"magic", AT(magic), BB_STAT_MAGIC + 1, BB_REASON_MAGIC},
  {"a later version", AT(version), 2, BB_REASON_VERSION},
  {"version 0", AT(version), 0, BB_REASON_VERSION},
  {"length", AT(length), BB_REPORT_BYTES - 1, BB_REASON_LENGTH},
  {"cluster", AT(cluster_id), CLUSTER + 1, BB_REASON_CLUSTER},
  {"the first reserved byte", 12, 1, 1, BB_REASON_RESERVED},
  {"the last byte of its reserved place", 15, 1, 0x80, BB_REASON_RESERVED},
  {"a reserved byte between others", AT(reserved0), 1, BB_REASON_RESERVED},
  {"two between others", AT(reserved1), 1, BB_REASON_RESERVED},
  {"four between others", AT(reserved2), 1, BB_REASON_RESERVED},
  {"four others", AT(reserved3), 1, BB_REASON_RESERVED},
  {"and four others", AT(reserved4), 1, BB_REASON_RESERVED},
  {"the first of the last reserved bytes", offsetof(struct bb_report, reserved5), 1, 1, BB_REASON_RESERVED},
  {"the last reserved byte", 1087, 1, 1, BB_REASON_RESERVED},
  {"all that can be measured", AT(valid), BB_VALID_KNOWN, BB_REASON_NONE},
  {"a measurement that nobody knows", AT(valid), BB_VALID_KNOWN + 1, BB_REASON_RESERVED},
  {"the last one of all", AT(valid), UINT64_C(1) << 63, BB_REASON_RESERVED},
  {"all flags", AT(flags), BB_FLAGS_KNOWN, BB_REASON_NONE},
  {"a flag that nobody knows", AT(flags), BB_FLAGS_KNOWN + 1, BB_REASON_RESERVED},
  {"the last flag of all", AT(flags), UINT64_C(1) << 31, BB_REASON_RESERVED},
  {"no name", offsetof(struct bb_report, hostname), 8, 0, BB_REASON_NAME},
  {"an upper-case name", offsetof(struct bb_report, hostname), 1, 'N', BB_REASON_NAME},
  {"the shortest interval", AT(interval_ms), 100, BB_REASON_NONE},
  {"a shorter one", AT(interval_ms), 99, BB_REASON_INTERVAL},
  {"none", AT(interval_ms), 0, BB_REASON_INTERVAL},
  {"the longest interval", AT(interval_ms), 600000, BB_REASON_NONE},
  {"a longer one", AT(interval_ms), 600001, BB_REASON_INTERVAL},
  {"the longest of all", AT(interval_ms), UINT32_MAX, BB_REASON_INTERVAL},
  {"as many groups as there is room for", AT(groups), 4, BB_REASON_NONE},
  {"a group more", AT(groups), 5, BB_REASON_RANGE},
  {"the best proof", AT(auth_alg), BB_AUTH_ALG_NODE, BB_REASON_NONE},
  {"a better one", AT(auth_alg), BB_AUTH_ALG_NODE + 1, BB_REASON_RANGE},
  {"health", AT(health), 3, BB_REASON_NONE},
  {"other health", AT(health), 4, BB_REASON_RANGE},
  {"an architecture", AT(arch), 5, BB_REASON_NONE},
  {"another architecture", AT(arch), 6, BB_REASON_RANGE},
  {"a kind of virtualisation", AT(virt), 2, BB_REASON_NONE},
  {"another kind", AT(virt), 3, BB_REASON_RANGE},
  {"a vendor of GPUs", AT(gpu_vendor), 3, BB_REASON_NONE},
  {"another vendor", AT(gpu_vendor), 255, BB_REASON_RANGE},
  {"any number", AT(seq), UINT32_MAX, BB_REASON_NONE},
  {"any boot", AT(boot_id), UINT64_MAX, BB_REASON_NONE},
};

static const struct {
  const char *name;
  bool is;
} names[] = {
  {"node1", true}, {"1", true}, {"a.b_c-d", true}, {"n--", true}, {"", false}, {"-n", false}, {".n", false},
  {"_n", false}, {"Node", false}, {"no de", false}, {"n\xc3\xb6", false}, {"n/", false}, {"n:", false}, {"`", false},
  {"n\x1b[2J", false}, {"n\xff\xfe", false},
  {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", true}, /* 63 */
};

/* By this row's reason; of several the one that comes first in the contract. */
static void check_order_of_reasons(void) {
  struct bb_report r = valid_report();
  const uint8_t *datagram = (const uint8_t *)&r;
  r.auth_alg = 3;
  r.interval_ms = 0;
  CHECK(bb_validate(datagram, sizeof r, CLUSTER) == BB_REASON_INTERVAL, "interval before range");
  r.hostname[0] = 0;
  CHECK(bb_validate(datagram, sizeof r, CLUSTER) == BB_REASON_NAME, "name before interval");
  r.flags = UINT32_MAX;
  CHECK(bb_validate(datagram, sizeof r, CLUSTER) == BB_REASON_RESERVED, "reserved before name");
  CHECK(bb_validate(datagram, sizeof r, CLUSTER + 1) == BB_REASON_CLUSTER, "cluster before reserved");
  r.length = 0;
  CHECK(bb_validate(datagram, sizeof r, CLUSTER + 1) == BB_REASON_LENGTH, "length before cluster");
  r.version = 0;
  CHECK(bb_validate(datagram, sizeof r, CLUSTER + 1) == BB_REASON_VERSION, "version before length");
  r.magic = 0;
  CHECK(bb_validate(datagram, sizeof r, CLUSTER + 1) == BB_REASON_MAGIC, "magic before version");
}

int main(void) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct bb_report r = valid_report();
    memcpy((uint8_t *)&r + rows[i].at, &rows[i].value, rows[i].bytes); /* little-endian */
    const enum bb_reason reason = bb_validate((const uint8_t *)&r, sizeof r, CLUSTER);
    CHECK(reason == rows[i].reason, "%s: reason %d", rows[i].what, (int)reason);
    /* Where it need not be aligned. */
    uint8_t shifted[sizeof r + 1];
    memcpy(shifted + 1, &r, sizeof r);
    CHECK(bb_validate(shifted + 1, sizeof r, CLUSTER) == rows[i].reason, "%s, at an odd address", rows[i].what);
  }
  const struct bb_report r = valid_report();
  static const size_t sizes[] = {0, 1, BB_REPORT_BYTES - 1, BB_REPORT_BYTES + 1, 65535};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    CHECK(bb_validate((const uint8_t *)&r, sizes[i], CLUSTER) == BB_REASON_SIZE, "%zu bytes", sizes[i]);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char name[64] = {0};
    memcpy(name, names[i].name, strlen(names[i].name));
    CHECK((bb_is_name(name) != 0) == names[i].is, "name '%s'", names[i].name);
    name[63] = 'x';
    CHECK(!bb_is_name(name), "name '%s', and something behind its end", names[i].name);
  }
  check_order_of_reasons();
  return checked();
}
