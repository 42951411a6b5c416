#include "naming.h"

#include <unistd.h>

bool is_node_name(struct span text, bool upper) {
  for (size_t i = 0; i < text.len; i++) {
    const char c = text.at[i];
    const bool letter = is_digit(c) || (c >= 'a' && c <= 'z') || (upper && c >= 'A' && c <= 'Z');
    if (!letter && (i == 0 || c == 0 || strchr("._-", c) == NULL)) return false;
  }
  return text.len >= 1 && text.len <= 63;
}

bool take_node_name(struct span text, char name[64], struct words *why) {
  if (is_node_name(text, false)) {
    memcpy(name, text.at, text.len);
    return true;
  }
  refuse_text(why, text, " is not a node name; write ");
  if (!is_node_name(text, true)) {
    add_text(why, "1 to 63 of a-z 0-9 . _ - that begin with a letter or digit");
    return false;
  }
  for (size_t i = 0; i < text.len; i++) {
    const char c = text.at[i];
    add_span(why, (struct span){&(char){c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c}, 1});
  }
  return false;
}

bool is_user(struct span text, struct words *why) {
  struct span left = text;
  uint64_t id;
  if (text_u64(text, &id) && text.len <= 10 && id < UINT32_MAX) return true;
  const bool first = left.len > 0 && (((left.at[0] | 0x20) >= 'a' && (left.at[0] | 0x20) <= 'z') || left.at[0] == '_');
  if (ends(left, SPAN("$"))) left.len--;
  for (size_t i = 0; first && i < left.len; i++) {
    const char c = left.at[i];
    if (!is_digit(c) && ((c | 0x20) < 'a' || (c | 0x20) > 'z') && strchr("_.@-", c) == NULL)
      return refuse_text(why, text, " is not a user; write a user name or a user id");
  }
  return first || refuse_text(why, text, " is not a user; write a user name or a user id");
}

/* Digits and dots, as in 10.1.2.3. */
static bool is_address(struct span host) {
  bool has_digit = false;
  for (size_t i = 0; i < host.len; i++) {
    if (!is_digit(host.at[i]) && host.at[i] != '.') return false;
    has_digit |= is_digit(host.at[i]);
  }
  return has_digit && find_char(host, '.') != NULL;
}

const char *host_name(struct words *why) {
  static char host[256];
  size_t length = 0;
  if (gethostname(host, sizeof host - 1) != 0) host[0] = 0;
  if (is_address(span_of(host))) {
    add_text(why, "the host name ");
    refuse_text(why, span_of(host), " is an address; give this machine a name, or write --name NAME");
    return NULL;
  }
  for (; host[length] != 0 && host[length] != '.'; length++)
    if (host[length] >= 'A' && host[length] <= 'Z') host[length] = (char)(host[length] | 0x20);
  host[length] = 0;
  return host;
}
