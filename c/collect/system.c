/* Data that do not change while the system runs: kernel release, architecture, virtualisation, highest clock rate.
 * Read only once: reading /proc/cpuinfo interrupts every CPU of the node. */
#include "../base/kernelfile.h"
#include "../base/say.h"
#include "parse.h"

/* The first CPU's text has about 2 KiB; the whole file for 512 CPUs would have a million bytes. */
#define CPUINFO_HEAD (16u << 10)

/* One word that begins with a digit. */
bool parse_release(struct span text, struct span *release) {
  size_t length = 0;
  while (length < text.len && text.at[length] >= 0x21 && text.at[length] <= 0x7e) length++;
  if (length == 0 || length > 64 || !is_digit(text.at[0]) || !at_end(without(text, length))) return false;
  *release = (struct span){text.at, length};
  return true;
}

uint8_t arch_of(struct span machine) {
  for (unsigned i = 0; i < BB_ARCH_COUNT; i++)
    if (span_is(machine, span_of(bb_arch_names[i]))) return (uint8_t)i;
  return BB_ARCH_OTHER;
}

/* `^\s{0,8}: N` and perhaps a fraction. */
static bool parse_mhz(struct span line, uint32_t *mhz) {
  struct span left = trimmed_start(line), digits;
  unsigned blanks = 0;
  for (struct span gap = {line.at, line.len - left.len}; gap.len > 0; blanks++) {
    uint32_t character;
    gap = without(gap, next_character(gap, &character));
  }
  uint64_t value;
  if (blanks > 8 || !eat(&left, SPAN(": ")) || !eat_digits(&left, 1, 7, &digits) || !text_u64(digits, &value))
    return false;
  if (left.len > 0 && (!eat(&left, SPAN(".")) || !eat_digits(&left, 1, 6, NULL) || left.len > 0)) return false;
  *mhz = (uint32_t)value;
  return true;
}

void parse_cpuinfo(struct span text, struct cpuinfo *cpuinfo) {
  struct span flags, flag, line;
  *cpuinfo = (struct cpuinfo){0};
  if (line_after(text, SPAN("flags"), &flags) && next_part(&flags, ' ', &flag))
    while (next_part(&flags, ' ', &flag)) cpuinfo->hypervisor |= span_is(flag, SPAN("hypervisor"));
  cpuinfo->has_mhz = line_after(text, SPAN("cpu MHz"), &line) && parse_mhz(line, &cpuinfo->mhz);
}

/* Empty if it cannot be read, because nothing in it is required. */
void read_cpuinfo(const char *proc, struct cpuinfo *cpuinfo, char *buffer) {
  char path[1024];
  struct words words = WORDS(path);
  add_text(&words, proc);
  add_text(&words, "/cpuinfo");
  struct span text = {buffer, 0};
  if (read_once(text_of(&words), FILE_IN_LINES, CPUINFO_HEAD, buffer, SMALL_BYTES, &text) != 0) text.len = 0;
  parse_cpuinfo(text, cpuinfo);
}

/* MHz from kHz, rounded down; 0 if it is invalid. */
static uint64_t read_max_freq(const char *sys, unsigned cpu, char *buffer) {
  struct span text, digits;
  uint64_t khz;
  if (!read_of_cpu(sys, cpu, "/cpufreq/cpuinfo_max_freq", buffer, &text)) return 0;
  if (!eat_digits(&text, 1, 12, &digits) || !at_end(text) || !text_u64(digits, &khz)) return 0;
  return khz / 1000 <= MOST_MHZ ? khz / 1000 : 0;
}

/* The limit that cpufreq has for any CPU, otherwise the first CPU's rate at the time of reading. */
bool read_cpu_mhz(const char *sys, const struct topology *topology, const struct cpuinfo *cpuinfo, char *buffer,
                  uint64_t *mhz) {
  uint64_t highest = topology == NULL ? read_max_freq(sys, 0, buffer) : 0;
  for (unsigned i = 0; topology != NULL && i < topology->online; i++) {
    const uint64_t one = read_max_freq(sys, topology->cpu[i].number, buffer);
    if (one > highest) highest = one;
  }
  *mhz = highest > 0 ? highest : cpuinfo->mhz;
  return *mhz > 0 && *mhz <= MOST_MHZ;
}
