#include "address.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#define FORMS "write ADDR, ADDR:PORT or [V6]:PORT"

static void address_copy(char *into, struct span text) {
  memcpy(into, text.at, text.len);
  into[text.len] = 0;
}

static bool is_v4(struct span text) {
  char host[16];
  struct in_addr address;
  if (text.len >= sizeof host) return false;
  address_copy(host, text);
  return inet_pton(AF_INET, host, &address) == 1;
}

static bool is_alnum(char c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); }

/* Perhaps with a zone, as in fe80::1%eth0. */
static bool is_v6(struct span text) {
  char host[64];
  struct in6_addr address;
  const char *percent = find_char(text, '%');
  struct span zone = {"", 0};
  if (percent != NULL) {
    zone = without(text, (size_t)(percent - text.at) + 1);
    text.len = (size_t)(percent - text.at);
    if (zone.len == 0 || zone.len > 15) return false;
  }
  for (size_t i = 0; i < zone.len; i++)
    if (!is_alnum(zone.at[i]) && strchr("-.:_", zone.at[i]) == NULL) return false;
  if (text.len >= sizeof host) return false;
  address_copy(host, text);
  return strlen(host) == text.len && inet_pton(AF_INET6, host, &address) == 1;
}

static bool is_name_character(char c) { return is_alnum(c) || c == '_'; }

/* Words of letters, digits, _ and -, separated by dots; none begins with -, none is longer than 63. */
static bool is_host_name(struct span host) {
  struct span left = host, part;
  if (host.len > 253) return false;
  if (ends(host, SPAN(".")) && host.len > 1) left.len--;
  if (left.len == 0) return false;
  while (next_part(&left, '.', &part)) {
    if (part.len < 1 || part.len > 63 || !is_name_character(part.at[0])) return false;
    for (size_t i = 1; i < part.len; i++)
      if (!is_name_character(part.at[i]) && part.at[i] != '-') return false;
  }
  return true;
}

static bool parse_port(struct span digits, struct span text, uint16_t *port, struct words *why) {
  struct span left = digits;
  uint64_t number = 0;
  if (eat_digits(&left, 1, 5, NULL) && left.len == 0 && text_u64(digits, &number) && number <= 65535) {
    *port = (uint16_t)number;
    return true;
  }
  add_text(why, "port ");
  add_quoted(why, digits);
  add_text(why, " of ");
  add_quoted(why, text);
  add_text(why, " is not a port; write 0 to 65535");
  return false;
}

static bool parse_host(struct span host, struct span text, struct address *address, struct words *why) {
  size_t digits = 0, dots = 0;
  for (size_t i = 0; i < host.len; i++) {
    digits += is_digit(host.at[i]);
    dots += host.at[i] == '.';
  }
  /* Resolvers read 9000 as 0.0.35.40 and 10.1 as 10.0.0.1, which nobody means. */
  if (host.len > 0 && digits == host.len) {
    refuse_text(why, text, " has no address; write ADDR:");
    add_span(why, (struct span){host.at, host.len < 5 ? host.len : 5});
    return false;
  }
  const bool v4 = is_v4(host);
  if (host.len > 0 && digits + dots == host.len && !v4)
    return refuse_text(why, host, " is not an IPv4 address; write four numbers of 0 to 255, as in 10.0.0.1");
  if (!is_host_name(host)) return refuse_text(why, text, " is not an address; " FORMS);
  address_copy(address->host, host);
  address->family = v4 ? AF_INET : AF_UNSPEC;
  return true;
}

bool parse_address(struct span text, uint16_t default_port, struct address *address, struct words *why) {
  *address = (struct address){.port = default_port, .family = AF_INET6};
  if (is_v6(text)) {
    address_copy(address->host, text);
    return true;
  }
  const char *closing = text.len > 0 && text.at[0] == '[' ? memrchr(text.at, ']', text.len) : NULL;
  if (closing != NULL && (closing == text.at + text.len - 1 || closing[1] == ':')) {
    const struct span host = {text.at + 1, (size_t)(closing - text.at) - 1};
    struct span port = without(text, host.len + 2);
    if (!is_v6(host)) return refuse_text(why, host, " in brackets is not an IPv6 address; " FORMS);
    address_copy(address->host, host);
    return !eat(&port, SPAN(":")) || parse_port(port, text, &address->port, why);
  }
  if (find_char(text, ',') != NULL) return refuse_text(why, text, " are several; write the option once for each");
  struct span left = text, host, port;
  next_part(&left, ':', &host);
  const bool has_port = next_part(&left, ':', &port);
  if (text.len == 0 || left.at != NULL || (has_port && begins(port, SPAN("//"))))
    return refuse_text(why, text, " is not an address; " FORMS);
  if (host.len == 0)
    return refuse_text(why, text,
                       " has no address before the port; write ADDR:PORT; 0.0.0.0:PORT listens on every interface");
  return parse_host(host, text, address, why) && (!has_port || parse_port(port, text, &address->port, why));
}

void add_address(struct words *words, const struct address *address) {
  const bool v6 = address->family == AF_INET6;
  add_text(words, v6 ? "[" : "");
  add_text(words, address->host);
  add_text(words, v6 ? "]:" : ":");
  add_number(words, address->port);
}
