/* /proc/net/snmp: TCP segments sent again. Refuses to count columns: a kernel names them in the line above. */
#include "parse.h"

/* Required are two lines `Tcp:`, the first naming RetransSegs. */
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
