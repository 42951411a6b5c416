/* This machine's own addresses, and networks of what runs on it. */
#include "../../receive/local.c"

#include "check.h"

static const uint8_t *of(const char *text) {
  static uint8_t address[16];
  memset(address, 0, sizeof address);
  if (inet_pton(AF_INET6, text, address) == 1) return address;
  address[10] = address[11] = 0xff;
  CHECK(inet_pton(AF_INET, text, address + 12) == 1, "%s", text);
  return address;
}

static void test_addresses(void) {
  struct bb_addresses a = {0};
  static const struct {
    const char *address;
    unsigned index;
  } all[] = {{"10.0.0.1", 2}, {"10.0.0.1", 3}, {"fe80::1", 2}, {"fd00::1", 2}, {"192.0.2.1", 4}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    CHECK(bb_addresses_add(&a, of(all[i].address), all[i].index, 1), "%zu", i);
  CHECK(bb_addresses_add(&a, of("10.0.0.1"), 2, 1) && a.count == 5, "the same again");
  static const struct {
    const char *address;
    unsigned index;
    bool is;
  } rows[] = {
    {"10.0.0.1", 9, true},     {"10.0.0.2", 2, false},   {"10.0.0.0", 2, false}, {"fe80::1", 2, true},
    {"fe80::1", 3, false},     {"fd00::1", 7, true},     {"fd00::2", 2, false},  {"127.0.0.1", 0, true},
    {"127.200.3.4", 5, true},  {"126.0.0.1", 1, false},  {"::1", 0, true},       {"::2", 0, false},
    {"255.255.255.255", 1, false}, {"0.0.0.0", 1, false}, {"::", 1, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    CHECK(bb_addresses_have(&a, of(rows[i].address), rows[i].index) == rows[i].is, "%s", rows[i].address);
  bb_addresses_remove(&a, of("10.0.0.1"), 2);
  bb_addresses_remove(&a, of("10.0.0.1"), 9);
  CHECK(bb_addresses_have(&a, of("10.0.0.1"), 2), "another interface has it, too");
  bb_addresses_remove(&a, of("10.0.0.1"), 3);
  CHECK(!bb_addresses_have(&a, of("10.0.0.1"), 3) && a.count == 3, "now none has");
  CHECK(bb_addresses_add(&a, of("fd00::1"), 2, 2), "in another dump");
  bb_addresses_keep(&a, 2);
  CHECK(a.count == 1 && bb_addresses_have(&a, of("fd00::1"), 0) && !bb_addresses_have(&a, of("192.0.2.1"), 4), "alone");
  for (unsigned i = 0; i < 1000; i++) {
    char text[INET_ADDRSTRLEN];
    snprintf(text, sizeof text, "10.%u.%u.1", i * 7919 % 1000 / 250, i * 7919 % 1000 % 250);
    CHECK(bb_addresses_add(&a, of(text), 1, 3), "%s", text);
  }
  CHECK(a.count == 1001 && bb_addresses_have(&a, of("10.3.249.1"), 0), "many");
  free(a.all);
}

static void test_networks(void) {
  struct bb_networks n = {0};
  CHECK(!bb_networks_hold(&n, of("10.0.0.1")), "none");
  static const struct {
    const char *address;
    unsigned bits;
  } all[] = {{"10.1.0.0", 112}, {"10.1.2.3", 128}, {"192.0.2.99", 120}, {"fd00:1::5", 64}, {"10.1.0.0", 112}};
  struct bb_network networks[5];
  for (size_t i = 0; i < 5; i++) {
    memcpy(networks[i].address, of(all[i].address), 16);
    networks[i].bits = all[i].bits;
  }
  CHECK(bb_networks_set(&n, networks, 5) && n.count == 3, "those within another are one with it");
  static const struct {
    const char *address;
    bool is;
  } rows[] = {
    {"10.1.0.0", true},     {"10.1.255.255", true}, {"10.2.0.0", false},   {"10.0.255.255", false}, {"192.0.2.0", true},
    {"192.0.2.255", true},  {"192.0.3.0", false},   {"fd00:1::1", true},   {"fd00:1:0:1::", false}, {"::1", false},
    {"255.255.255.255", false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    CHECK(bb_networks_hold(&n, of(rows[i].address)) == rows[i].is, "%s", rows[i].address);
  networks[0].bits = 0;
  CHECK(bb_networks_set(&n, networks, 1) && bb_networks_hold(&n, of("::")) && bb_networks_hold(&n, of("10.9.9.9")),
        "all addresses");
  CHECK(bb_networks_set(&n, networks, 0) && !bb_networks_hold(&n, of("10.1.0.1")), "none again");
  free(n.ranges);
}

int main(void) {
  test_addresses();
  test_networks();
  return checked();
}
