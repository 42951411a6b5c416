/* Numbers of a node, read by a list: fields of its newest report, and rates between its two. Pure. */
#ifndef BB_EXTRACT_H
#define BB_EXTRACT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../format/layout.gen.h"

/* A field of the report, by its type; one bit; the rate of a counter of 32 or 64 bits; per cent of all CPU time; the
 * traffic of all interfaces. */
enum bb_extract_what {
  BB_EXTRACT_U8, BB_EXTRACT_U16, BB_EXTRACT_U32, BB_EXTRACT_I16, BB_EXTRACT_I32, BB_EXTRACT_U64, BB_EXTRACT_BIT,
  BB_EXTRACT_RATE_U32, BB_EXTRACT_RATE_U64, BB_EXTRACT_SHARE, BB_EXTRACT_TRAFFIC, BB_EXTRACT_KINDS
};

/* In place of a bit: every report has it. */
#define BB_EXTRACT_ALWAYS UINT32_MAX

struct bb_wanted {
  uint32_t what;         /* an enum bb_extract_what */
  /* its byte in the report; of a bit its number there; of shares one bit for each that is added; of traffic its
   * number */
  uint32_t at;
  uint32_t set;          /* its bit of `valid`, or BB_EXTRACT_ALWAYS */
  uint32_t slow, of_run; /* of a rate: by the slow rounds; only within one run of the sender */
  uint32_t place;        /* where its value goes */
};

/* What a value is multiplied by, or divided by if `per` is not 0. */
struct bb_scale { double by, per; };

/* Whether all of these can be read, into so many places. */
bool bb_extract_check(const struct bb_wanted *wanted, size_t count, size_t places);

/* Reads checked ones. A value that is unknown is NaN, and so is every rate without an earlier report (NULL). */
void bb_extract(const struct bb_wanted *wanted, const struct bb_scale *scale, size_t count,
                const struct bb_report *before, const struct bb_report *after, double *values);

/* bb_last_words(), for C++, which cannot have its tables. */
uint32_t bb_extract_words(const struct bb_report *before, const struct bb_report *after);
#endif
