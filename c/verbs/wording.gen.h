/* Generated from the documents in proto/. Do not edit: change these and run `npm run generate`. */
#ifndef BB_WORDING_GEN_H
#define BB_WORDING_GEN_H
#include "../format/layout.gen.h"

/* The pieces of each sentence. Of what is filled in, conditions are numbers, and the others texts. */
#define SAY_LINK_GONE(link, moment, nodes) \
  (link), " is gone since ", (moment), ": no reports from its ", (nodes), \
  " since then; see the interfaces of this master"
#define SAY_LINK_DOWN(link, moment, nodes) \
  (link), " is down since ", (moment), ": no reports from its ", (nodes), \
  " since then; see that interface of this master"
#define SAY_LINK_NO_ADDRESS(to, link, moment, nodes) \
  "reports to ", (to), ", from the nodes behind ", (link), ", have not reached the receiver since ", (moment), \
  ": no reports from its ", (nodes), \
  " since then; see the addresses and routes of this master, and where the receiver listens"
#define SAY_LINK_ELSEWHERE(nodes, one, moment) \
  "the state of ", (nodes), " is unknown until ", (one) ? "it reports" : "they report", " again: ", \
  (one) ? "its last report" : "their last reports", \
  " came while the receiver could not tell the interfaces (its socket was of another network namespace, " \
  "or it had no rtnetlink); this ended at ", (moment)
#define SAY_LINK_DARK(link, age, all, count, nodes) \
  "no node behind ", (link), " has reported for ", (age), ", ", (all) ? "all " : "", (count), \
  " at once: a switch or this master is more likely at fault than ", (nodes)
#define SAY_LINK_DARK_LAST(link, age) \
  "no node behind ", (link), " has reported for ", (age), \
  ", and its last one fell at once with others: a switch or this master is more likely at fault than " "that node"
#define SAY_UNJOINED(moment, nodes, link, one, mtu) \
  "the kernel of this master has failed to join IP fragments since ", (moment), ": reports of ", (nodes), \
  " arrive as such (link ", (link), "), and ", (one) ? "it" : "they", \
  " cannot be called silent; raise the MTU on the way to ", (mtu), \
  ", and find out who sends incomplete datagrams (nstat IpReasmFails)"
#define SAY_RELOAD(what, moment, holds) \
  "the receiver could not read its ", (what), " again since ", (moment), ": ", (holds), "; its log says why"
#define SAY_RELOAD_OPTIONS \
  "those before still hold"
#define SAY_RELOAD_NODES \
  "the list before still holds"
#define SAY_RELOAD_NO_KEYS \
  "reports are still not verified"
#define SAY_RELOAD_KEY(key) \
  "key ", (key), " is still accepted"
#define SAY_RELOAD_KEYS(key, other) \
  "keys ", (key), " and ", (other), " are still accepted"
#define SAY_FULL(nodes, count, more, one, names) \
  "the board is full: it has room for ", (nodes), ", and ", (count), (more) ? " or more" : "", " ", \
  (one) ? "other reports" : "others report", " (", (names), \
  "); give the receiver a higher --capacity, or forget nodes that are gone"
#define SAY_CLOCK_OFF(distance, ahead) \
  "clock ", (distance), " ", (ahead) ? "ahead" : "behind"
#define SAY_CLOCKS_OFF(distance) \
  "clocks up to ", (distance), " off"
#define SAY_REASON_MEANT(reason, meaning) \
  (reason), " (", (meaning), ")"
#define SAY_REFUSAL(now, why, age) \
  "reports in its name ", (now) ? "are" : "were", " rejected, ", (why), ", the last ", (age), \
  " ago; they may be recordings"
#define SAY_REFUSED_NEVER(name, refusal) \
  (name), " has no report here; ", (refusal)
#define SAY_REFUSED(name, state, refusal) \
  (name), " is ", (state), "; ", (refusal)
#define SAY_REFUSED_ALL_NEVER(names, why, age) \
  (names), " have no report here; reports in their names are rejected, ", (why), ", the last ", (age), \
  " ago; they may be recordings"
#define SAY_REFUSED_ALL(names, state, why, age) \
  (names), " are ", (state), "; reports in their names are rejected, ", (why), ", the last ", (age), \
  " ago; they may be recordings"
#define SAY_CLAIM(address, what, names, often, why) \
  (address), " sends ", (what), (names), ", ", (often), ": ", (why)
#define SAY_CLAIM_NAME(name) \
  "under the name ", (name)
#define SAY_CLAIM_NAMES(least, count, names) \
  "under ", (least) ? "at least " : "", (count), " names (", (names), ")"
#define SAY_ONCE(age) \
  "once, ", (age), " ago"
#define SAY_OFTEN(count, time, age) \
  (count), " times in ", (time), ", the last ", (age), " ago"
#define SAY_CLONE(name, moment, from, forged) \
  (name), ": two machines report as one since ", (moment), ", ", (from), \
  ": one is a copy of the other with its memory", (forged) ? ", or somebody forges reports" : "", \
  "; either can fail unnoticed: stop one, or give it its own name"
#define SAY_CLONE_ONE_ADDRESS(address) \
  "both from ", (address)
#define SAY_CLONE_ADDRESSES(address, other) \
  (address), " and ", (other)
#define SAY_CLONES_MORE(count, names) \
  "two machines report as each of ", (count), " more (", (names), ")"
#define SAY_RECENT(groups) \
  "recent: ", (groups)
#define SAY_RECENT_ONCE(age) \
  "last ", (age), " ago"
#define SAY_RECENT_OFTEN(count, time, age) \
  (count), " times in ", (time), ", last ", (age), " ago"
#define SAY_UNMEASURED(groups) \
  "not measured any more: ", (groups)
#define SAY_UNMEASURED_SINCE(age) \
  "not measured since ", (age), " ago"
#define SAY_JOURNAL_UNWRITTEN(moment, why, count) \
  "the journal of this board has not been written since ", (moment), ": ", (why), "; lines lost so far: ", (count)
#define SAY_JOURNAL_STOPPED(moment, name) \
  "the journal of this board has stopped: it last ran at ", (moment), "; see systemctl status beoboard-journal@", \
  (name)

/* What a reason means; `sends`: of a missing or false signature, otherwise NULL. */
static const struct {
  const char *meaning, *sends, *why;
} reason_words[BB_REASON_COUNT] = {
  [BB_REASON_MAGIC] = {.meaning = "no report; beoboard-send --check sends such"},
  [BB_REASON_CLUSTER] = {.meaning = "of another cluster"},
  [BB_REASON_RESERVED] = {.meaning = "reserved bytes are set"},
  [BB_REASON_INTERVAL] = {.meaning = "an interval out of range"},
  [BB_REASON_RANGE] = {.meaning = "a value out of range"},
  [BB_REASON_AUTH_MISSING] = {.meaning = "no signature, or a weaker one than required",
    .sends = "reports without the required signature",
    .why = "it has no key file, or somebody forges reports"},
  [BB_REASON_KEY_ID] = {.meaning = "signed with a key that the receiver does not have",
    .sends = "reports signed with a key that the receiver does not have",
    .why = "its key is of another cluster, an old one, or a new one that this master's key file lacks"},
  [BB_REASON_TAG] = {.meaning = "a wrong signature",
    .sends = "reports with false signatures",
    .why = "its key is of another cluster, or somebody forges reports"},
  [BB_REASON_STRANGER] = {.meaning = "not in the receiver's --nodes"},
  [BB_REASON_RIVAL] = {.meaning = "another run or boot of that name is live"},
  [BB_REASON_REPLAY] = {.meaning = "older than what was accepted before"},
  [BB_REASON_LATE] = {.meaning = "after a newer one of the same run"},
  [BB_REASON_FULL] = {.meaning = "the board has no room for another node"},
};

#endif
