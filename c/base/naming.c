#include "naming.h"

#include <unistd.h>

#include "quoting.h"

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
    if (is_upper(host[length])) host[length] = (char)(host[length] | 0x20);
  host[length] = 0;
  return host;
}
