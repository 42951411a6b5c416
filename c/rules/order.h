/* The rules of order: is this report the next one, a restart, another boot, or one that must not be trusted now?
 * Pure: takes a state, returns a verdict and a new state. No clock: a report's own stamp is the time at which it is
 * judged.
 *
 * Without keys the rules are about order, not security: nobody is locked out for longer than the mean of
 * uncertain_after and silent_after, so whoever can send can also deceive. A proved report was made by the node; the
 * only thing that can be wrong with it is its age. So it must be beyond what was accepted or, if there is nothing to
 * compare it with, fresh by the wall clock. */
#ifndef BB_ORDER_H
#define BB_ORDER_H
#include <stdbool.h>
#include <stdint.h>

#include "../format/layout.gen.h"

#define BB_KNOWN_BOOTS 5

/* A report that is not beyond a goodbye; stamp 0: none has come. */
struct bb_return {
  uint64_t boot_id, start_boot_ns, t_boot_ns;
  int64_t stamp_ns;
  uint32_t seq;
};

/* Reports of another machine, in turns with accepted ones. */
struct bb_turns {
  bool pending;  /* one has come since the last accepted report, or was that */
  uint8_t count; /* turns so far, up to those that prove it */
  uint8_t calm;  /* reports that were accepted since the last turn */
};

/* What the rules keep about a node and its last accepted report. */
struct bb_order {
  bool heard; /* a report was accepted */
  uint64_t start_boot_ns;
  /* By number, two bits: came (1 0), was counted as lost (0 1) or as unheard (1 1), or is of neither (0 0). */
  uint64_t history_seq, history, history_lost;
  struct bb_known_boot known[BB_KNOWN_BOOTS]; /* the current boot first */
  /* the last accepted report */
  enum bb_auth_alg proved;
  int64_t stamp_ns, stamp_real_ns;
  uint32_t seq, interval_ms;
  uint64_t t_boot_ns, t_real_ns;
  bool goodbye;
  /* Since then the receiver was stopped or paused, or the link of that report was down: a gap that began there was not
   * heard, and does not count as lost. */
  bool interrupted;
  struct bb_return back; /* the last of those that came since a goodbye */
  struct bb_turns turns;
  /* About the report that is judged next: it comes from where the last accepted one came from, and the digest of the
   * report that had its number; 0: not remembered. */
  bool same_address;
  uint16_t remembered;
};

/* The value for a wall clock that may have any time. */
#define BB_CLOCK_WINDOW_OFF UINT64_MAX

struct bb_limits {
  int64_t uncertain_after_ns, silent_after_ns;
  uint64_t longest_interval_ms;
  /* How far the wall clock of a proved report may be from ours where it decides. */
  uint64_t clock_window_ns;
};

enum bb_verdict {
  BB_NEXT,      /* accepted: the next report of the run, or the first of the node */
  BB_RESTART,   /* accepted: another run of the sender, same boot */
  BB_REBOOT,    /* accepted: another boot */
  BB_RESET,     /* accepted only because no report had been for the mean of uncertain_after and silent_after */
  BB_DUPLICATE, /* not accepted, but not rejected either: the same report came before by another path */
  BB_REFUSED,
};

struct bb_judgement {
  enum bb_verdict verdict;
  enum bb_reason reason; /* of BB_REFUSED */
  uint32_t lost, unheard; /* reports missing before this one */
  bool found_lost, found_unheard; /* a late report that had been counted so */
  bool is_of_number;      /* it is the one of its number now: its digest is to be remembered */
  bool is_of_another;     /* another machine made it than the last accepted one, as far as one report tells */
  bool is_clone;          /* with this one it is proved that two machines report as this node */
};

/* 16 bits by which two reports of one number are told apart; never 0. Of the two clocks alone, which a sender reads
 * anew to the ns for each report: these words are loaded anyway, the same report by two roads or repeated has both
 * alike, and two machines would have to read both in the same ns. One time in 65,536 two digests are alike all the
 * same: then one report less tells. */
uint16_t bb_order_digest(const struct bb_report *report);

/* Adds a boot in front of the BB_KNOWN_BOOTS known ones, with the highest `t_boot_ns` that binds it; the oldest one is
 * dropped. */
void bb_order_know(struct bb_known_boot *known, uint64_t boot_id, uint64_t t_boot_ns);

/* When a report came, by the clocks of the master. */
struct bb_stamp {
  int64_t ns;      /* CLOCK_MONOTONIC */
  int64_t real_ns; /* CLOCK_REALTIME */
};

/* Judges a valid report with this proof (`proved`), and changes `order`: completely if the report is accepted,
 * otherwise only its history and `back`. */
struct bb_judgement bb_order_judge(struct bb_order *order, const struct bb_report *report, enum bb_auth_alg proved,
                                   struct bb_stamp stamp, const struct bb_limits *limits);

#endif
