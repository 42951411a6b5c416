/* Two numbers that are equal on equal nodes: one for the hardware, one for the system software. The texts are
 * exactly those of the contract ("Sources of the slow sets"); a text that lacks what every node has is not hashed. */
#include "source.h"

/* The first CPU's text has about 2 KiB. */
#define CPUINFO_HEAD (16u << 10)

static bool is_plain(struct span text) {
  for (size_t i = 0; i < text.len; i++)
    if (text.at[i] < 0x20 || text.at[i] > 0x7e) return false;
  return true;
}

static void hash(uint32_t *crc, struct span text) { *crc = crc32(*crc, text); }

static void hash_number(uint32_t *crc, bb_wide number) {
  char digits[44];
  struct words words = WORDS(digits);
  add_number(&words, number);
  hash(crc, (struct span){digits, words.len});
}

static void hash_line(uint32_t *crc, struct span key, bb_wide number) {
  hash(crc, key);
  hash_number(crc, number);
  hash(crc, SPAN("\n"));
}

/* The lines `cpu KEY: VALUE` of the first CPU. The first keys identify the model; where there are none of them, as on
 * s390x, MIPS, LoongArch and older kernels of RISC-V, the others do. In the order of the text. */
static bool hash_model(struct reading *now, uint32_t *crc) {
  static const struct span keys[] = {
    SPAN_TEXT("model name"), SPAN_TEXT("cpu"), SPAN_TEXT("uarch"), SPAN_TEXT("CPU implementer"),
    SPAN_TEXT("CPU variant"), SPAN_TEXT("CPU part"), SPAN_TEXT("CPU revision"), SPAN_TEXT("microcode"),
    SPAN_TEXT("vendor_id"), SPAN_TEXT("machine"), SPAN_TEXT("system type"), SPAN_TEXT("cpu model"),
    SPAN_TEXT("CPU Family"), SPAN_TEXT("Model Name"), SPAN_TEXT("CPU Revision"), SPAN_TEXT("isa"), SPAN_TEXT("mmu"),
    SPAN_TEXT("mvendorid"), SPAN_TEXT("marchid"), SPAN_TEXT("mimpid"),
  };
  enum { OTHERS = 8, MACHINE, KEYS = sizeof keys / sizeof keys[0] };
  struct span text = {NULL, 0}, value[KEYS] = {{0}}, line;
  unsigned paragraph = 0;
  bool any = false, plain = true;
  path_begin(now, now->world->proc, "/cpuinfo");
  if (read_once(now->path, FILE_IN_LINES, CPUINFO_HEAD, now->text, SMALL_BYTES, &text) != 0) text.len = 0;
  while (next_line(&text, &line)) {
    if (line.len == 0 && (any || ++paragraph == 2)) break;
    const char *colon = find_char(line, ':');
    const struct span key = trimmed((struct span){line.at, colon == NULL ? 0 : (size_t)(colon - line.at)});
    for (size_t i = paragraph == 0 ? 0 : OTHERS; i < KEYS; i++)
      if (value[i].at == NULL && span_is(key, keys[i])) {
        value[i] = trimmed(without(line, (size_t)(colon - line.at) + 1));
        any |= i < OTHERS;
      }
    /* On s390x a line for each CPU; its identification is that of the machine, and no other has it. */
    const char *machine = key.len == 0 ? NULL : memmem(line.at, line.len, "machine = ", 10);
    if (is_numbered(key, SPAN("processor "), SPAN("")) && machine != NULL && value[MACHINE].at == NULL)
      value[MACHINE] = trimmed(without(line, (size_t)(machine - line.at) + 10));
  }
  const bool is_usual = any;
  for (size_t i = is_usual ? 0 : OTHERS; i < (is_usual ? OTHERS : KEYS); i++) {
    if (value[i].at == NULL) continue;
    any = true;
    plain &= is_plain(value[i]);
    hash(crc, SPAN("cpu "));
    hash(crc, keys[i]);
    hash(crc, SPAN(": "));
    hash(crc, value[i]);
    hash(crc, SPAN("\n"));
  }
  if (any && plain) return true;
  complain(now, now->world->proc, "/cpuinfo names no model: hw_hash is left out", (char *)NULL);
  return false;
}

static bool is_block(struct span name) { return is_numbered(name, SPAN("memory"), SPAN("")); }

/* The bytes of installed memory. MemTotal differs from boot to boot. */
static bool read_installed_memory(struct reading *now, bb_wide *bytes, bool *has_blocks) {
  path_begin(now, now->world->sys, "/devices/system/memory");
  const unsigned blocks = count_names(now, is_block);
  struct span text;
  uint64_t size = 0;
  *has_blocks = blocks > 0;
  if (blocks == 0) return true;
  path_text(now, "/block_size_bytes");
  if (!read_text(now, PARSE, &text)) return false;
  if (!ends(text, SPAN("\n")) || !text_hex((struct span){text.at, text.len - 1}, &size))
    return not_understood(now, PARSE);
  *bytes = (bb_wide)size * blocks;
  return true;
}

struct nic {
  struct span name;
  uint32_t mbps;
};

/* enxMAC, wlxMAC and the like are equal on equal nodes without the MAC. */
static struct span without_mac(struct span name) {
  bool is_mac = name.len == 15 && name.at[2] == 'x';
  for (size_t i = 0; i < 2 && is_mac; i++) is_mac = name.at[i] >= 'a' && name.at[i] <= 'z';
  for (size_t i = 3; i < 15 && is_mac; i++) is_mac = is_hex(name.at[i]);
  return is_mac ? (struct span){name.at, 3} : name;
}

static bool is_before(const struct nic *a, const struct nic *b) {
  const size_t shorter = a->name.len < b->name.len ? a->name.len : b->name.len;
  const int order = memcmp(a->name.at, b->name.at, shorter);
  if (order != 0 || a->name.len != b->name.len) return order != 0 ? order < 0 : a->name.len < b->name.len;
  return a->mbps < b->mbps;
}

/* The lines `nic NAME: MBPS` of the interfaces that have a device, by the bytes of their names. */
static bool hash_nics(struct reading *now, uint32_t *crc) {
  path_begin(now, now->world->sys, "/class/net");
  const struct names all = list_names_with(now, may_have_device, "/device");
  const size_t root = path_text(now, "/");
  bool plain = true;
  struct nic *nics = allocate_memory(now, all.count * sizeof *nics);
  for (unsigned i = 0; nics != NULL && i < all.count; i++) {
    const struct span name = name_at(&all, i);
    struct nic one = {without_mac(name), 0};
    struct span text;
    plain &= is_plain(name);
    path_cut(now, root + 1);
    path_add(now, name);
    if (leaf_text(now, "/speed", QUIETLY, &text)) parse_speed(text, &one.mbps);
    unsigned at = i;
    for (; at > 0 && is_before(&one, &nics[at - 1]); at--) nics[at] = nics[at - 1];
    nics[at] = one;
  }
  for (unsigned i = 0; nics != NULL && i < all.count; i++) {
    hash(crc, SPAN("nic "));
    hash(crc, nics[i].name);
    hash_line(crc, SPAN(": "), nics[i].mbps);
  }
  drop_names(now, &all);
  if (nics == NULL) complain(now, "there are too many interfaces: hw_hash is left out", (char *)NULL);
  if (plain && nics != NULL) return true;
  complain(now, "an interface below ", now->world->sys, " has no plain name: hw_hash is left out", (char *)NULL);
  return false;
}

static bool is_device(struct span name) {
  for (size_t i = 0; i < name.len; i++) {
    const char c = name.at[i];
    if (!is_hex(c) && c != ':' && c != '.') return false;
  }
  return name.len >= 1 && name.len <= 20;
}

/* PCI devices that are GPUs: display controllers (03) and accelerators (12) of GPU vendors; `-` without PCI. */
static void hash_gpus(struct reading *now, uint32_t *crc) {
  unsigned gpus = 0;
  path_begin(now, now->world->sys, "/bus/pci/devices");
  const struct names devices = list_names(now, is_device);
  path_text(now, "/");
  for (unsigned i = 0; i < devices.count; i++) {
    struct span text;
    const size_t root = path_add(now, name_at(&devices, i));
    if (leaf_text(now, "/class", QUIETLY, &text) && (begins(text, SPAN("0x03")) || begins(text, SPAN("0x12"))) &&
        leaf_text(now, "/vendor", QUIETLY, &text))
      gpus += span_is(text, SPAN("0x10de\n")) || span_is(text, SPAN("0x1002\n")) || span_is(text, SPAN("0x8086\n"));
    path_cut(now, root);
  }
  drop_names(now, &devices);
  if (devices.count == 0) hash(crc, SPAN("gpus: -\n"));
  else hash_line(crc, SPAN("gpus: "), gpus);
}

static bool count_packages(struct reading *now, unsigned *count) {
  const struct topology *topology = lock_packages(now, PARSE);
  if (topology == NULL) return false;
  *count = topology->packages;
  unlock_packages();
  return true;
}

static bool count_present(struct reading *now, unsigned *count) {
  struct span text;
  path_begin(now, now->world->sys, "/devices/system/cpu/present");
  return read_text(now, PARSE, &text) && (parse_cpu_list(text, NULL, NULL, count) || not_understood(now, PARSE));
}

void slow_hw_hash(struct reading *now) {
  uint32_t crc = 0;
  unsigned packages = 0, present = 0;
  bb_wide bytes = 0;
  bool has_blocks;
  bool whole = hash_model(now, &crc);
  whole &= count_packages(now, &packages);
  if (now->busy) return;
  whole &= count_present(now, &present);
  whole &= read_installed_memory(now, &bytes, &has_blocks);
  hash_line(&crc, SPAN("packages: "), packages);
  hash_line(&crc, SPAN("cpus: "), present);
  if (has_blocks) hash_line(&crc, SPAN("memory: "), bytes);
  else hash(&crc, SPAN("memory: -\n"));
  whole &= hash_nics(now, &crc);
  if (!whole) return;
  hash_gpus(now, &crc);
  now->fields.hw_hash = crc;
  now->sets = BB_VALID_HW_HASH;
}

enum { ID, VERSION_ID, IMAGE_ID, KEYS };

static bool is_bare(char c) {
  return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c != 0 && strchr("._+:,/@%~^-", c) != NULL);
}

/* A value of os-release without its quotes, in place; false if a shell would not accept it, or not as plain text. */
static bool unquote(struct span value, struct span *text) {
  size_t bare = 0;
  while (bare < value.len && is_bare(value.at[bare])) bare++;
  *text = value;
  if (bare == value.len) return true;
  if (value.len < 2 || value.at[0] != value.at[value.len - 1]) return false;
  const struct span inner = {value.at + 1, value.len - 2};
  *text = inner;
  if (value.at[0] == '\'') return find_char(inner, '\'') == NULL && is_plain(inner);
  if (value.at[0] != '"') return false;
  char *to = (char *)(uintptr_t)inner.at; /* in our own buffer: it gets shorter */
  text->len = 0;
  for (size_t i = 0; i < inner.len; i++) {
    char c = inner.at[i];
    if (c == '"' || c == '$' || c == '`') return false;
    if (c == '\\' && (++i == inner.len || (c = inner.at[i]) == 0 || strchr("\"\\$`", c) == NULL)) return false;
    to[text->len++] = c;
  }
  return is_plain(*text);
}

/* The three values; every system has an ID, the others may be empty. The last line with a key counts. */
static bool parse_os_release(struct span text, struct span value[KEYS]) {
  static const struct span keys[KEYS] = {SPAN_TEXT("ID="), SPAN_TEXT("VERSION_ID="), SPAN_TEXT("IMAGE_ID=")};
  struct span line;
  if (!ends(text, SPAN("\n"))) return false;
  while (next_line(&text, &line))
    for (unsigned i = 0; i < KEYS; i++)
      if (begins(line, keys[i]) && !unquote(trimmed_end(without(line, keys[i].len)), &value[i])) return false;
  return value[ID].len > 0;
}

void slow_sw_hash(struct reading *now) {
  struct span text, release, value[KEYS] = {{"", 0}, {"", 0}, {"", 0}};
  uint32_t crc = 0;
  path_begin(now, now->world->proc, "/sys/kernel/osrelease");
  bool whole = read_text(now, PARSE, &text);
  if (whole && !parse_release(text, &release)) whole = not_understood(now, PARSE);
  if (whole) {
    hash(&crc, SPAN("kernel: "));
    hash(&crc, release);
  }
  path_begin(now, now->world->etc, "/os-release");
  if (!read_text(now, PARSE, &text)) return;
  if (!parse_os_release(text, value)) {
    not_understood(now, PARSE);
    return;
  }
  if (!whole) return;
  hash(&crc, SPAN("\nid: "));
  hash(&crc, value[ID]);
  hash(&crc, SPAN("\nversion_id: "));
  hash(&crc, value[VERSION_ID]);
  hash(&crc, SPAN("\nimage_id: "));
  hash(&crc, value[IMAGE_ID]);
  hash(&crc, SPAN("\n"));
  now->fields.sw_hash = crc;
  now->sets = BB_VALID_SW_HASH;
}
