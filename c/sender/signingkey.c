#include "signingkey.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/naming.h"
#include "../base/privileges.h"
#include "../base/wholefile.h"

#define MOST_KEYS_BYTES 4096
#define MOST_LINES 2u
#define SECRET_BYTES 32u

static unsigned hex(char c) {
  if (is_digit(c)) return (unsigned)(c - '0');
  const char lower = (char)(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10 : 16;
}

/* `KEY_ID cluster HEX64` or `KEY_ID node NAME HEX64`. */
static bool key_parse_line(struct span line, struct key *key, struct span *node) {
  struct span left = line, digits;
  uint64_t id;
  uint8_t secret[SECRET_BYTES];
  *node = (struct span){NULL, 0};
  if (!eat_digits(&left, 1, 5, &digits) || !text_u64(digits, &id) || id > UINT16_MAX) return false;
  if (eat(&left, SPAN(" node "))) {
    if (!next_part(&left, ' ', node) || !is_node_name(*node, false)) return false;
  } else if (!eat(&left, SPAN(" cluster "))) {
    return false;
  }
  if (left.len != 2 * SECRET_BYTES) return false;
  for (size_t i = 0; i < SECRET_BYTES; i++) {
    const unsigned high = hex(left.at[2 * i]), low = hex(left.at[2 * i + 1]);
    if (high > 15 || low > 15) return false;
    secret[i] = (uint8_t)(high << 4 | low);
  }
  key->id = (uint16_t)id;
  key->alg = node->at == NULL ? BB_AUTH_ALG_CLUSTER : BB_AUTH_ALG_NODE;
  bb_hmac_key(&key->hmac, secret, sizeof secret);
  explicit_bzero(secret, sizeof secret);
  return true;
}

/* One or two lines; the first signs, all verify. */
static bool parse_keys(struct span text, const char *name, struct key *key, struct words *why) {
  struct span left = text, line, node = {NULL, 0};
  if (ends(left, SPAN("\n"))) left.len--;
  if (text.len == 0) {
    add_text(why, "holds no key; write \"KEY_ID cluster HEX64\" or \"KEY_ID node NAME HEX64\"");
    return false;
  }
  unsigned lines = 1;
  for (size_t i = 0; i < left.len; i++) lines += left.at[i] == '\n';
  if (lines > MOST_LINES) {
    add_text(why, "holds more than 2 keys; leave out the oldest");
    return false;
  }
  struct key keys[MOST_LINES];
  bool good = true;
  for (unsigned i = 0; good && next_part(&left, '\n', &line); i++) {
    struct span its;
    good = key_parse_line(line, &keys[i], &its);
    if (i == 0) node = its;
    if (good) continue;
    add_text(why, "line "); /* which itself may hold a secret */
    add_number(why, i + 1);
    add_text(why, " is not \"KEY_ID cluster HEX64\" or \"KEY_ID node NAME HEX64\"; beoboard keygen makes such lines");
  }
  const bool twice = good && lines > 1 && keys[0].id == keys[1].id;
  if (twice) add_text(why, "line 2 has the key id of line 1; give each key an id of its own");
  *key = keys[0];
  explicit_bzero(keys, sizeof keys);
  if (twice) return false;
  if (!good) return false;
  if (node.at == NULL || span_is(node, span_of(name))) return true;
  add_text(why, "is the key of ");
  add_span(why, node);
  add_text(why, ", and this node is ");
  add_text(why, name);
  add_text(why, "; give it its own");
  return false;
}

/* Whether a file of that user may be trusted: root's, our own, that of the user to become, and for root, who starts
 * daemons, theirs. */
static bool is_trusted(uid_t uid, uid_t other) {
  struct user daemon;
  char reason[200];
  struct words fault = WORDS(reason);
  return uid == 0 || uid == geteuid() || uid == other ||
    (geteuid() == 0 && find_user("beoboard", &daemon, &fault) && uid == daemon.uid);
}

/* The command that lets us read the file. */
static void add_chown(struct words *words, const char *path, uid_t other) {
  add_text(words, "run chown ");
  add_user(words, other);
  add_text(words, ": ");
  add_one_line(words, span_of(path));
}

static bool read_key_fd(int fd, const char *path, const char *name, uid_t other, struct key *key, struct words *why) {
  struct stat stats;
  static char text[MOST_KEYS_BYTES + 1] LARGE;
  size_t length = 0;
  if (fstat(fd, &stats) != 0 || !S_ISREG(stats.st_mode) || stats.st_size > MOST_KEYS_BYTES) {
    add_text(why, "is not a key file; beoboard keygen makes one");
  } else if (!is_trusted(stats.st_uid, other)) {
    add_text(why, "belongs to user ");
    add_number(why, stats.st_uid);
    add_text(why, "; it must belong to this user or to root: ");
    add_chown(why, path, other);
  } else if ((stats.st_mode & 077) != 0) {
    add_text(why, "can be read by others; run chmod 600, and replace the key if somebody may have read it");
  } else if (read_whole(fd, FILE_IN_LINES, MOST_KEYS_BYTES, text, MOST_KEYS_BYTES + 1, &length) != 0) {
    add_text(why, "is not a key file; beoboard keygen makes one");
  } else {
    const bool good = parse_keys((struct span){text, length}, name, key, why);
    explicit_bzero(text, length);
    return good;
  }
  return false;
}

bool read_signing_key(const char *path, const char *name, uid_t other, struct key *key, struct words *fault) {
  *key = (struct key){.alg = BB_AUTH_ALG_NONE};
  const int fd = open_to_read(path, 0);
  add_one_line(fault, span_of(path));
  add_text(fault, ": ");
  if (fd == -1) {
    const int error = errno;
    add_text(fault, "cannot be read: ");
    add_text(fault, why_unreadable(error));
    add_text(fault, "; ");
    if (error == EACCES || error == EPERM) add_chown(fault, path, other);
    else add_text(fault, "name a key file that this user can read; beoboard keygen makes one");
    return false;
  }
  char reason[900];
  struct words why = WORDS(reason);
  const bool good = read_key_fd(fd, path, name, other, key, &why);
  close(fd);
  add_one_line(fault, (struct span){reason, why.len});
  return good;
}
