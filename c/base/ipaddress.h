/* Addresses in 16 bytes, as on the board: IPv6, or IPv4 as ::ffff:a.b.c.d. Pure. */
#ifndef BB_IPADDRESS_H
#define BB_IPADDRESS_H
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

static const uint8_t v4_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static inline void map_v4(uint8_t *address, const struct in_addr *v4) {
  memcpy(address, v4_prefix, sizeof v4_prefix);
  memcpy(address + sizeof v4_prefix, v4, 4);
}

/* The address in a socket address, of either family. */
static inline void map_address(uint8_t address[16], const void *socket_address) {
  const struct sockaddr *a = (const struct sockaddr *)socket_address;
  if (a->sa_family == AF_INET6) memcpy(address, &((const struct sockaddr_in6 *)socket_address)->sin6_addr, 16);
  else map_v4(address, &((const struct sockaddr_in *)socket_address)->sin_addr);
}

static inline bool is_v4(const uint8_t address[16]) { return memcmp(address, v4_prefix, sizeof v4_prefix) == 0; }

static inline bool is_multicast(const uint8_t address[16]) {
  return address[0] == 0xff || (is_v4(address) && address[12] >= 224 && address[12] < 240);
}

static inline bool is_link_local(const uint8_t address[16]) {
  return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

/* As people write it: IPv4 where it holds one. `text` has INET6_ADDRSTRLEN bytes; returns it. */
static inline const char *print_address(const uint8_t address[16], char *text) {
  text[0] = 0;
  if (is_v4(address)) inet_ntop(AF_INET, address + sizeof v4_prefix, text, INET6_ADDRSTRLEN);
  else inet_ntop(AF_INET6, address, text, INET6_ADDRSTRLEN);
  return text;
}

static inline uint16_t port_of(const struct sockaddr_storage *a) {
  if (a->ss_family == AF_INET6) return ntohs(((const struct sockaddr_in6 *)a)->sin6_port);
  return ntohs(((const struct sockaddr_in *)a)->sin_port);
}

static inline void set_port(struct sockaddr_storage *a, uint16_t port) {
  if (a->ss_family == AF_INET6) ((struct sockaddr_in6 *)a)->sin6_port = htons(port);
  else ((struct sockaddr_in *)a)->sin_port = htons(port);
}

#endif
