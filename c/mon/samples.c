#include "samples.h"

#include <stddef.h>

#include "../base/digits.h"

/* How a field is converted: a second has a hundred jiffies, and a load of 1 is 2048, the kernel's own fixed point. */
enum how { PLAIN, MS_AS_JIFFIES, NS_AS_JIFFIES, NS_AS_SECONDS, LOAD };

struct variable {
  const char *name;
  uint64_t set; /* 0: always known */
  uint16_t offset;
  uint8_t bytes, how;
};

#define FIELD(name, set, field, how) \
  {name, set, offsetof(struct bb_report, field), sizeof((struct bb_report *)0)->field, how}
/* Of one thing. */
#define MOST_VARIABLES 8u
#define NAME(name) {name, 0, 0, 0, PLAIN}

static const struct variable cpuinfo[] = {
  FIELD("user", BB_VALID_STAT, cpu_user_ms, MS_AS_JIFFIES),
  FIELD("nice", BB_VALID_STAT, cpu_nice_ms, MS_AS_JIFFIES),
  FIELD("system", BB_VALID_STAT, cpu_system_ms, MS_AS_JIFFIES),
  FIELD("idle", BB_VALID_STAT, cpu_idle_ms, MS_AS_JIFFIES),
  FIELD("iowait", BB_VALID_STAT, cpu_iowait_ms, MS_AS_JIFFIES),
  FIELD("irq", BB_VALID_STAT, cpu_irq_ms, MS_AS_JIFFIES),
  FIELD("softirq", BB_VALID_STAT, cpu_softirq_ms, MS_AS_JIFFIES),
  FIELD("steal", BB_VALID_STAT, cpu_steal_ms, MS_AS_JIFFIES),
};
static const struct variable paging[] = {
  FIELD("majfaults", BB_VALID_VMSTAT, majfaults, PLAIN),
  FIELD("swapin", BB_VALID_VMSTAT, swapin_pages, PLAIN),
  FIELD("swapout", BB_VALID_VMSTAT, swapout_pages, PLAIN),
};
static const struct variable switches[] = {FIELD("switch", BB_VALID_STAT, ctxt, PLAIN)};
static const struct variable clocks[] = {
  FIELD("timestamp", 0, t_real_ns, NS_AS_SECONDS),
  FIELD("jiffies", 0, t_boot_ns, NS_AS_JIFFIES),
};
static const struct variable avenrun[] = {
  FIELD("avg1", BB_VALID_LOAD, load1_c, LOAD),
  FIELD("avg5", BB_VALID_LOAD, load5_c, LOAD),
  FIELD("avg15", BB_VALID_LOAD, load15_c, LOAD),
};
static const struct variable pressure[] = {
  FIELD("cpu_some_us", BB_VALID_PSI_CPU, psi_cpu_some_us, PLAIN),
  FIELD("mem_some_us", BB_VALID_PSI_MEM, psi_mem_some_us, PLAIN),
  FIELD("mem_full_us", BB_VALID_PSI_MEM, psi_mem_full_us, PLAIN),
  FIELD("io_some_us", BB_VALID_PSI_IO, psi_io_some_us, PLAIN),
  FIELD("io_full_us", BB_VALID_PSI_IO, psi_io_full_us, PLAIN),
};
static const struct variable power[] = {
  FIELD("node_w", BB_VALID_POWER, power_node_w, PLAIN),
  FIELD("cpu_mj", BB_VALID_ENERGY_CPU, energy_cpu_mj, PLAIN),
  FIELD("dram_mj", BB_VALID_ENERGY_DRAM, energy_dram_mj, PLAIN),
};
static const struct variable memory[] = {
  FIELD("total_mib", BB_VALID_MEMORY, mem_total_mib, PLAIN),
  FIELD("free_mib", BB_VALID_MEMORY, mem_free_mib, PLAIN),
  FIELD("avail_mib", BB_VALID_MEMORY, mem_avail_mib, PLAIN),
  FIELD("cached_mib", BB_VALID_MEMORY, mem_cached_mib, PLAIN),
  FIELD("dirty_mib", BB_VALID_MEMORY, mem_dirty_writeback_mib, PLAIN),
  FIELD("swap_total_mib", BB_VALID_MEMORY, swap_total_mib, PLAIN),
  FIELD("swap_free_mib", BB_VALID_MEMORY, swap_free_mib, PLAIN),
};
static const struct variable disk[] = {
  FIELD("reads", BB_VALID_DISK, disk_reads, PLAIN),           FIELD("writes", BB_VALID_DISK, disk_writes, PLAIN),
  FIELD("rdbytes", BB_VALID_DISK, disk_read_bytes, PLAIN),    FIELD("wrbytes", BB_VALID_DISK, disk_write_bytes, PLAIN),
  FIELD("busy_ms", BB_VALID_DISK, disk_busy_ms, PLAIN),       FIELD("inflight", BB_VALID_DISK, disk_inflight, PLAIN),
};
static const struct variable procs[] = {
  FIELD("running", BB_VALID_STAT, runnable, PLAIN),
  FIELD("blocked", BB_VALID_STAT, blocked, PLAIN),
  FIELD("forks", BB_VALID_STAT, forks, PLAIN),
};
/* Categories of several things, whose names and numbers are written by special code: only the names. */
static const struct variable netinfo[] = {NAME("rxbytes"),   NAME("rxpackets"), NAME("txbytes"),
                                          NAME("txpackets"), NAME("errors"),    NAME("drops")};
static const struct variable gpu[] =
  {NAME("util_pct"), NAME("mem_used_mib"), NAME("mem_total_mib"), NAME("temp_degc"), NAME("power_w")};
static const struct variable beostate[] = {NAME("state"), NAME("age_ms"), NAME("reports"), NAME("lost")};
static const struct variable server[] = {NAME("nodes"), NAME("cpu_us")};

enum kind { ONE, NET, GPU, STATE, SERVER };

static const struct category {
  const char *name;
  uint32_t mask;
  uint8_t kind, count;
  const struct variable *variables;
} categories[] = {
#define CATEGORY(name, mask, kind, variables) {name, mask, kind, sizeof variables / sizeof variables[0], variables}
  /* The server's own category first, as in the schema; a sample ends with it. */
  CATEGORY("server", MASK_SERVER, SERVER, server),
  CATEGORY("beostate", 0x100, STATE, beostate),
  CATEGORY("cpuinfo", 0x1, ONE, cpuinfo),
  CATEGORY("netinfo", 0x2, NET, netinfo),
  CATEGORY("paging", 0x4, ONE, paging),
  CATEGORY("switch", 0x8, ONE, switches),
  CATEGORY("time", 0x10, ONE, clocks),
  CATEGORY("avenrun", 0x40, ONE, avenrun),
  CATEGORY("pressure", 0x200, ONE, pressure),
  CATEGORY("gpu", 0x400, GPU, gpu),
  CATEGORY("power", 0x800, ONE, power),
  CATEGORY("memory", 0x1000, ONE, memory),
  CATEGORY("disk", 0x2000, ONE, disk),
  CATEGORY("procs", 0x4000, ONE, procs),
};

enum { CATEGORIES = sizeof categories / sizeof categories[0] };

uint64_t sets_of(uint32_t mask) {
  uint64_t sets = 0;
  for (unsigned i = 0; i < CATEGORIES; i++) {
    if ((mask & categories[i].mask) == 0) continue;
    if (categories[i].kind == NET) sets |= BB_VALID_NET;
    for (unsigned v = 0; v < categories[i].count; v++) sets |= categories[i].variables[v].set;
  }
  return sets;
}

/* ---- Writing. What does not fit is cut off, but all our answers fit. ---- */

static inline void add_char(struct words *out, char c) {
  if (out->len + 1 < out->room) out->text[out->len++] = c;
}

/* This takes half the time of an answer: two digits at a time, and no division of 128 bits. */
static void add_u64(struct words *out, uint64_t number) {
  char digits[20];
  add_span(out, (struct span){digits, (size_t)(bb_put_whole(digits, number) - digits)});
}

/* A number that many readers could not represent (2^53 and beyond, in a double) is unknown for all. */
static bool is_safe(uint64_t number) { return number < UINT64_C(1) << 53; }

static void add_value(struct words *out, uint64_t number) {
  add_char(out, ' ');
  if (is_safe(number)) add_u64(out, number);
  else add_text(out, "nil");
}

static bool is_symbol(struct span text) {
  if (text.len == 0 || (text.len == 3 && (text.at[0] | 0x20) == 'n' && (text.at[1] | 0x20) == 'i' &&
                        (text.at[2] | 0x20) == 'l'))
    return false;
  for (size_t i = 0; i < text.len; i++) {
    const char c = text.at[i];
    const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    if (!letter && (i == 0 || (!is_digit(c) && c != '_' && c != '-'))) return false;
  }
  return true;
}

/* A text as an atom: plain if every reader takes it for a symbol, otherwise in quotes; in ASCII, with ? for any
 * other character. */
static void add_atom(struct words *out, struct span text) {
  if (is_symbol(text)) {
    add_span(out, text);
    return;
  }
  add_char(out, '"');
  while (text.len > 0) {
    uint32_t character;
    const size_t bytes = next_character(text, &character);
    if (character == '"' || character == '\\') add_char(out, '\\');
    add_char(out, character >= 0x20 && character < 0x7f ? (char)character : '?');
    text = without(text, bytes);
  }
  add_char(out, '"');
}

/* (WHO CATEGORY STATE AGE ( */
static void begin_element(struct words *out, const char *who, const char *category, const char *state) {
  add_char(out, '(');
  add_atom(out, span_of(who));
  add_char(out, ' ');
  add_text(out, category);
  add_char(out, ' ');
  add_text(out, state);
  add_text(out, " 0 (");
}

static void end_element(struct words *out) { add_text(out, "))\n"); }

/* ---- Answers ---- */

void tell_schema(struct words *out, const struct teller *teller) {
  add_char(out, '(');
  for (unsigned i = 0; i < CATEGORIES; i++) {
    const struct category *category = &categories[i];
    add_char(out, '(');
    add_atom(out, span_of(teller->server));
    add_char(out, ' ');
    add_text(out, category->name);
    add_text(out, " 0x");
    add_based(out, category->mask, 16);
    /* There are no servers below this one. */
    add_text(out, category->kind == NET || category->kind == GPU ? " 0 ((nr n)" : " 0 ((nr 1)");
    for (unsigned v = 0; v < category->count; v++) {
      add_char(out, ' ');
      add_text(out, category->variables[v].name);
    }
    end_element(out);
  }
  add_text(out, ")\n");
}

#define UNKNOWN UINT64_MAX

static uint64_t value_of(const struct bb_report *report, const struct variable *variable) {
  uint64_t number = 0;
  if ((report->valid & variable->set) != variable->set) return UNKNOWN;
  memcpy(&number, (const char *)report + variable->offset, variable->bytes); /* little-endian */
  if (variable->how == NS_AS_JIFFIES) return number / 10000000;
  if (variable->how == NS_AS_SECONDS) return number / 1000000000;
  if (!is_safe(number)) return UNKNOWN;
  if (variable->how == MS_AS_JIFFIES) return number / 10;
  return variable->how == LOAD ? (number * 2048 + 50) / 100 : number;
}

/* A category that was not measured is left out; if a part of it was measured, the rest is nil. */
static void tell_one(struct words *out, const char *node, const struct category *category,
                     const struct bb_report *report) {
  uint64_t value[MOST_VARIABLES];
  bool known = false;
  for (unsigned v = 0; v < category->count; v++) {
    value[v] = value_of(report, &category->variables[v]);
    known |= value[v] != UNKNOWN;
  }
  if (!known) return;
  begin_element(out, node, category->name, "live");
  add_text(out, "(nr 1)");
  for (unsigned v = 0; v < category->count; v++) add_value(out, value[v]);
  end_element(out);
}

static void tell_net(struct words *out, const char *node, const struct bb_report *report) {
  enum { ENTRIES = sizeof report->net / sizeof report->net[0] };
  unsigned count = 0;
  for (unsigned i = 0; i < ENTRIES; i++) count += report->net[i].name[0] != 0;
  if ((report->valid & BB_VALID_NET) == 0 || count == 0) return;
  begin_element(out, node, "netinfo", "live");
  add_text(out, "(nr ");
  add_u64(out, count);
  add_char(out, ')');
  for (unsigned i = 0; i < ENTRIES; i++) {
    const struct bb_net_if *entry = &report->net[i];
    if (entry->name[0] == 0) continue;
    add_text(out, " (");
    add_atom(out, (struct span){entry->name, strnlen(entry->name, sizeof entry->name)});
    add_value(out, entry->rx_bytes);
    add_value(out, entry->rx_packets);
    add_value(out, entry->tx_bytes);
    add_value(out, entry->tx_packets);
    add_value(out, entry->errors);
    add_value(out, entry->drops);
    add_char(out, ')');
  }
  end_element(out);
}

void tell_sample(struct words *out, const struct teller *teller, uint32_t mask, const struct bb_report *report) {
  add_char(out, '(');
  for (unsigned i = 0; i < CATEGORIES; i++) {
    const struct category *category = &categories[i];
    if ((mask & category->mask) == 0) continue;
    if (category->kind == ONE) tell_one(out, teller->node, category, report);
    if (category->kind == NET) tell_net(out, teller->node, report);
    if (category->kind != STATE) continue;
    begin_element(out, teller->node, category->name, "live");
    add_text(out, "(nr 1) live 0");
    add_value(out, teller->samples);
    add_text(out, " 0");
    end_element(out);
  }
  if ((mask & MASK_SERVER) != 0) {
    begin_element(out, teller->server, "server", "ok");
    add_text(out, "(nr 1) 1");
    add_value(out, teller->cpu_us);
    end_element(out);
  }
  add_text(out, ")\n");
}

void tell_refusal(struct words *out, const struct teller *teller, const struct command *command) {
  char text[MOST_WORD + 128];
  struct words why = WORDS(text);
  add_text(&why, "there is no command ");
  for (unsigned i = 0; i < command->length; i++)
    add_char(&why, (command->word[i] & 0x80) != 0 ? '?' : command->word[i]); /* bytes, which need not be text */
  add_text(&why, "; write # for the schema, S for a sample, 0x40S for a part of it");
  add_char(out, '(');
  begin_element(out, teller->server, "error", "bad");
  add_atom(out, (struct span){why.text, why.len});
  end_element(out);
  out->len--; /* the line ends after the answer only */
  add_text(out, ")\n");
}
