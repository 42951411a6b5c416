/* The health file and the hold file: what the node's own check or administrator says about it. Judges neither the
 * contents nor the age. */
#include "source.h"

struct word {
  uint8_t health, source;
};

/* One line: a word for the health, a blank, and the author. */
static bool parse_health(struct span text, void *into) {
  struct word *word = into;
  struct span left = text;
  *word = (struct word){0, 0};
  for (uint8_t i = BB_HEALTH_OK; i < BB_HEALTH_COUNT && word->health == 0; i++)
    if (eat(&left, span_of(bb_health_names[i]))) word->health = i;
  if (word->health == 0 || !eat(&left, SPAN(" "))) return false;
  for (uint8_t i = BB_HEALTH_SRC_ADMIN; i < BB_HEALTH_SRC_COUNT && word->source == 0; i++)
    if (eat(&left, span_of(bb_health_src_names[i]))) word->source = i;
  return word->source != 0 && at_end(left);
}

void slow_health(struct reading *now) {
  struct word word;
  double age_s;
  if (read_others(now, "/health", parse_health, &word, 0, &age_s) == OTHERS_GOOD) {
    now->fields.health = word.health;
    now->fields.health_src = word.source;
    /* If the clock was set back, the age must not become impossible. */
    now->fields.health_age_s = age_s <= 0 ? 0 : age_s >= UINT32_MAX ? UINT32_MAX : (uint32_t)age_s;
    now->sets = BB_VALID_HEALTH;
  }
  if (others_exist(now, "/hold")) now->flags |= (uint32_t)BB_FLAGS_HELD;
}
