/* /proc/net/snmp: retransmitted TCP segments. Finds the column by its name, which the kernel writes in the line
 * above. */
#include "parse.h"

/* Two lines `Tcp:` are required, the first of which must name RetransSegs. */
bool parse_snmp(struct span text, struct bb_report *report) {
  struct span left, names, numbers, name, number;
  if (!text_after(text, SPAN("Tcp: "), &left) || !next_line(&left, &names) || !next_line(&left, &numbers)) return false;
  if (!eat(&numbers, SPAN("Tcp: "))) return false;
  while (next_part(&names, ' ', &name)) {
    if (!next_part(&numbers, ' ', &number)) return false;
    if (!span_is(name, SPAN("RetransSegs"))) continue;
    uint64_t value;
    if (!text_u64(number, &value)) return false;
    report->tcp_retrans = value;
    return true;
  }
  return false;
}
