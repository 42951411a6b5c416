/* A text with gaps in which numbers and other texts are printed, and with parts that are left out if theirs is unknown.
 * Pure. */
#ifndef BB_TEMPLATE_H
#define BB_TEMPLATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest number: a sign, 16 digits, a point and six digits after it. */
#define BB_NUMBER_MOST 24
/* The `digits` of a gap for a text. */
#define BB_GAP_TEXT 7

/* A gap: so many bytes of the template's text lie between the end of the last gap's part and it, and so many after it
 * belong to its part, too. The part, with what is before the gap and after it, is left out if the value is no number
 * within +-(2^53 - 1). `place` is that of the gap's value; `digits`: so many after the decimal point, at most six, or
 * BB_GAP_TEXT. */
struct bb_gap { uint32_t before, after, place, digits; };

struct bb_template {
  const char *text; /* all of it, without what is in the gaps */
  size_t bytes, gaps;
  const struct bb_gap *gap;
};

/* What is in the gaps. The value of a text is its end in `texts`; it begins at the end of the last one. */
struct bb_filling {
  const double *values;
  const char *texts;
  size_t bytes;
};

/* Whether the gaps lie within the text, and their values among so many. */
bool bb_template_check(const struct bb_template *layout, size_t places);

/* Writes a checked template with that in its gaps; the bytes, or -1 if there may not be room for them, or if the texts
 * do not lie one after another. */
long bb_template_print(char *to, size_t room, const struct bb_template *layout, const struct bb_filling *filling);
#endif
