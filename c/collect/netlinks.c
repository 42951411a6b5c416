/* /sys/class/net: which interfaces are physical, their order and link. Does not read speeds while a report waits:
 * the kernel takes its lock for all interfaces, and often asks the driver. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/folder.h"
#include "../base/kernelfile.h"
#include "../base/say.h"
#include "parse.h"

/* Mbit/s; 0 for unknown, for which the kernel writes -1, some drivers 65535 or 2^32 - 1, and others return an error. */
bool parse_speed(struct span text, uint32_t *mbps) {
  uint64_t speed;
  if (!text_u64(trimmed(text), &speed) || speed >= UINT32_MAX || speed == UINT16_MAX) return false;
  *mbps = (uint32_t)speed;
  return true;
}

/* Whether a text like 0x1003 is an odd number. */
static bool is_up(struct span flags) {
  struct span left = flags;
  if (!eat(&left, SPAN("0x")) && !eat(&left, SPAN("0X"))) return false;
  size_t digits = 0;
  char last = 0;
  for (; digits < left.len; digits++) {
    const char c = (char)(left.at[digits] | 0x20);
    if (!is_digit(left.at[digits]) && (c < 'a' || c > 'f')) break;
    last = c;
  }
  if (digits < 1 || digits > 9 || !at_end(without(left, digits))) return false;
  return is_digit(last) ? (last & 1) == 1 : (last & 1) == 0; /* b, d and f have even character codes */
}

/* Bits of `net_state` from the texts of `flags` (bit 0 is IFF_UP) and `operstate`, which some drivers leave at
 * unknown. Not from `carrier`, for which new kernels take the lock of all interfaces. */
uint32_t parse_net_state(struct span flags, struct span operstate) {
  if (!is_up(flags)) return 0;
  struct span left = operstate;
  const bool carrier = (eat(&left, SPAN("up")) || eat(&left, SPAN("unknown"))) && at_end(left);
  return (uint32_t)(carrier ? BB_NET_STATE_UP | BB_NET_STATE_CARRIER : BB_NET_STATE_UP);
}

double parse_index(struct span text) {
  uint64_t index;
  return text_u64(trimmed(text), &index) ? (double)index : INFINITY;
}

static const char *path_of(char *path, size_t room, const char *sys, struct span name, const char *leaf) {
  struct words words = {path, room, 0};
  add_text(&words, sys);
  add_text(&words, "/class/net/");
  add_span(&words, name);
  add_text(&words, leaf);
  return text_of(&words);
}

/* No interface has a NUL in its name. */
static bool is_path(struct span name) { return find_char(name, '\0') == NULL; }

struct known known_links = {.row_bytes = sizeof(struct link_row), .at = UINT32_MAX, .is_fresh = true};

/* How many interfaces have a device. */
static unsigned physical;

static bool has_leaf(const char *sys, struct span name, const char *leaf) {
  char path[1024];
  return is_path(name) && access(path_of(path, sizeof path, sys, name, leaf), F_OK) == 0;
}

static bool read_leaf(const char *sys, struct span name, const char *leaf, char *buffer, struct span *text) {
  char path[1024];
  return is_path(name) && read_once(path_of(path, sizeof path, sys, name, leaf), 0, 0, buffer, SMALL_BYTES, text) == 0;
}

bool may_have_device(struct span name) {
  return !eat(&name, SPAN("vif")) || !eat_digits(&name, 1, SIZE_MAX, NULL) || !eat(&name, SPAN(".")) ||
         !eat_digits(&name, 1, SIZE_MAX, NULL) || name.len > 0;
}

static bool has_device(const char *sys, struct span name) {
  return may_have_device(name) && has_leaf(sys, name, "/device");
}

/* Whether any entry of that folder is such. */
static bool any_entry(const char *sys, struct span name, bool (*is_such)(const char *sys, struct span entry)) {
  _Alignas(8) char entries[1024];
  char path[1024];
  struct folder folder;
  struct span entry;
  bool any = false;
  if (folder_open(&folder, path_of(path, sizeof path, sys, name, ""), entries, sizeof entries) != 0) return false;
  while (!any && folder_next(&folder, &entry)) any = is_such(sys, entry);
  folder_close(&folder);
  return any;
}

bool lacks_device(const char *sys) { return physical == 0 && any_entry(sys, SPAN(""), has_device); }

/* Whether its master has a device, too. In a copy of /sys, links may be empty folders: then the master is the one that
 * has this interface below it. */
static bool is_behind(const char *sys, const struct interface *all, unsigned count, struct span name) {
  if (has_leaf(sys, name, "/master/device")) return true;
  char path[1024], leaf[64];
  struct stat stats;
  struct words below = WORDS(leaf);
  if (lstat(path_of(path, sizeof path, sys, name, "/master"), &stats) != 0 || !S_ISDIR(stats.st_mode)) return false;
  add_text(&below, "/lower_");
  add_span(&below, name);
  for (unsigned i = 0; i < count; i++)
    if (has_leaf(sys, all[i].name, text_of(&below)) && has_leaf(sys, all[i].name, "/device")) return true;
  return false;
}

static bool is_lower(const char *sys, struct span entry) {
  (void)sys;
  return begins(entry, SPAN("lower_"));
}

bool is_stacked(const char *sys, struct span name) { return is_path(name) && any_entry(sys, name, is_lower); }

static void identify(const char *sys, struct span name, struct link_row *row, char *buffer) {
  struct span text;
  row->index = read_leaf(sys, name, "/ifindex", buffer, &text) ? parse_index(text) : INFINITY;
  row->address = read_leaf(sys, name, "/address", buffer, &text) ? fingerprint(FINGERPRINT, text) : 0;
}

static void look_closely(const char *sys, struct span name, struct link_row *row, char *buffer) {
  struct span text;
  row->detailed = true;
  row->stacked = !row->device && is_stacked(sys, name);
  identify(sys, name, row, buffer);
  row->state = read_leaf(sys, name, "/flags", buffer, &text) ? parse_net_state(text, (struct span){NULL, 0}) : 0;
  if (row->state != 0 && read_leaf(sys, name, "/operstate", buffer, &text))
    row->state = parse_net_state(SPAN("0x1"), text);
}

/* Nothing else is read about those that do not count, of which a node with containers can have thousands. */
static bool may_count(const struct interface *one, const struct link_row *row) {
  return physical > 0 ? row->device : !span_is(one->name, SPAN("lo"));
}

void find_links(const char *sys, const struct interface *all, unsigned count, char *buffer) {
  struct link_row *row = known_links.rows;
  const bool was_whole = known_links.is_whole;
  bool looked = false;
  for (unsigned i = 0; i < count; i++) {
    const struct interface *one = &all[i];
    const uint64_t counts = one->rx_bytes + one->tx_bytes + one->rx_packets + one->tx_packets + one->rx_errors +
                            one->tx_errors + one->rx_drops + one->tx_drops;
    if (leaps(&row[i].counts, counts) && row[i].place > 0) identify(sys, one->name, &row[i], buffer);
  }
  for (unsigned i = 0; known_next(&known_links, &i); looked = true) {
    row[i].detailed = false;
    row[i].device = has_device(sys, all[i].name);
    row[i].behind = row[i].device && is_behind(sys, all, count, all[i].name);
  }
  if (was_whole && !looked) return;
  physical = 0;
  for (unsigned i = 0; i < count; i++) physical += row[i].device;
  /* All of them, when the last one with a device has gone: not in one tick. */
  const bool is_whole = known_links.is_whole;
  unsigned room = known_links.room > MOST_LOOKS ? known_links.room : MOST_LOOKS;
  for (unsigned i = 0; i < count && (physical > 0 || is_whole); i++) {
    if (row[i].detailed || !may_count(&all[i], &row[i])) continue;
    if (room-- == 0) {
      known_links.is_whole = false;
      return;
    }
    look_closely(sys, all[i].name, &row[i], buffer);
  }
}

bool too_many_links(void) { return physical > BB_MOST_LINKS; }

static bool is_left_out(const struct link_row *row) {
  return physical > 0 ? row->behind || row->represents : row->stacked;
}

bool link_counts(const struct interface *one, const struct link_row *row) {
  return may_count(one, row) && !is_left_out(row);
}

/* Names in the message. */
#define MOST_TOLD 8u

void leave_out_links(const struct interface *all, unsigned count, const struct speeds *speeds) {
  static uint64_t told = FINGERPRINT;
  struct link_row *row = known_links.rows;
  const struct name_index index = index_names(speeds->first, speeds->stride, speeds->count);
  char text[512];
  struct words words = WORDS(text);
  uint64_t print = FINGERPRINT;
  unsigned left_out = 0;
  for (unsigned i = 0; i < count; i++) {
    if (!may_count(&all[i], &row[i])) continue;
    const int64_t at = place_of(&index, all[i].name_print);
    if (at >= 0) row[i].represents = speed_at(speeds, (unsigned)at)->left_out;
    if (!is_left_out(&row[i])) continue;
    print = fingerprint_with(print, all[i].name_print);
    if (++left_out > MOST_TOLD) continue;
    if (left_out > 1) add_text(&words, ", ");
    add_span(&words, all[i].name);
  }
  if (left_out > MOST_TOLD) {
    add_text(&words, " and ");
    add_number(&words, left_out - MOST_TOLD);
    add_text(&words, " more");
  }
  if (print != told && left_out > 0) tell("interfaces whose traffic others count are left out: ", text_of(&words));
  told = print;
}
