/* The health file and the hold file: what the node's own check or administrator says about it. Judges neither the
 * contents nor, unless it is told to, the age. */
#include <math.h>
#include <sys/stat.h>

#include "../../collect/world.h"
#include "notices.h"
#include "source.h"

/* For so long the file may be half written: few who write it know how to replace a file atomically. */
#define HALF_WRITTEN_S 5.0

struct word {
  uint8_t health, source;
};

static bool is_gap(char c) { return c == ' ' || c == '\t'; }

/* The word up to a blank, and skips what parts it from the next one. */
static struct span eat_word(struct span *left) {
  struct span word = {left->at, 0};
  while (word.len < left->len && !is_gap(left->at[word.len])) word.len++;
  *left = without(*left, word.len);
  while (left->len > 0 && is_gap(left->at[0])) *left = without(*left, 1);
  return word;
}

/* One line: a word for the health, then perhaps its author, then perhaps a reason. */
static bool parse_health(struct span text, void *into) {
  struct word *word = into;
  struct span left = text;
  *word = (struct word){BB_HEALTH_UNKNOWN, BB_HEALTH_SRC_CHECK};
  if (ends(left, SPAN("\n"))) left.len--;
  if (find_char(left, '\n') != NULL) return false;
  const struct span health = eat_word(&left), source = eat_word(&left);
  for (uint8_t i = BB_HEALTH_OK; i < BB_HEALTH_COUNT; i++)
    if (span_is(health, span_of(bb_health_names[i]))) word->health = i;
  if (span_is(source, SPAN("admin"))) word->source = BB_HEALTH_SRC_ADMIN;
  return word->health != BB_HEALTH_UNKNOWN;
}

/* What was said last, and when. */
static struct {
  bool known, broken; /* broken: the file could not be understood */
  struct word word;
  double age_s, broken_s; /* how old the word was, and for how long the file had been broken */
  uint64_t boot_ns;
} last;

static const struct word warning = {BB_HEALTH_WARNING, BB_HEALTH_SRC_CHECK};

static void keep_word(struct word word, double age_s, uint64_t boot_ns) {
  last.known = true;
  last.word = word;
  last.age_s = age_s;
  last.boot_ns = boot_ns;
}

/* A file that cannot be understood: the last word holds for a while, and where there is none, while the file is new. */
static void look_at_broken(struct reading *now, double age_s, const char *why, uint64_t boot_ns) {
  const double passed_s = (double)(boot_ns - last.boot_ns) / 1e9;
  if (!last.broken) {
    last.broken = true;
    last.broken_s = last.known || age_s < 0 ? 0 : age_s;
  } else last.broken_s += passed_s;
  if (last.broken_s >= HALF_WRITTEN_S) {
    keep_word(warning, age_s, boot_ns);
    complain(now, now->path, " counts as a warning: ", why, (char *)NULL);
  } else {
    last.age_s += passed_s;
    last.boot_ns = boot_ns;
  }
}

/* Whether this file can change unnoticed, because it is another one, elsewhere. */
static bool is_link(struct reading *now, const char *name) {
  struct stat stats;
  path_begin(now, now->world->run, name);
  return lstat(now->path, &stats) == 0 && S_ISLNK(stats.st_mode);
}

void slow_health(struct reading *now) {
  /* First, so that whatever changes while we read is noticed. */
  const bool is_watched = notices_watch(now->world->run);
  const uint64_t most_ms = now->world->health_most_ms;
  const uint64_t boot_ns = machine->clocks().boot_ns;
  const char *why;
  struct word word;
  double age_s;
  const enum external found = look_at_external_file(now, "/health", parse_health, &word, &age_s, &why);
  if (found == EXTERNAL_BROKEN) look_at_broken(now, age_s, why, boot_ns);
  else last.known = last.broken = false;
  if (found == EXTERNAL_BAD) refuse_external_file(now, why);
  if (found == EXTERNAL_GOOD) {
    const bool is_old = word.health == BB_HEALTH_OK && most_ms > 0 && fabs(age_s) * 1000 > (double)most_ms;
    if (is_old) complain(now, now->path, " counts as a warning: it is older than --health-max-age", (char *)NULL);
    keep_word(is_old ? warning : word, age_s, boot_ns);
  }
  if (last.known) {
    now->fields.health = last.word.health;
    now->fields.health_src = last.word.source;
    now->age_s = last.age_s;
    now->sets = BB_VALID_HEALTH;
  }
  if (has_external_file(now, "/hold")) now->flags |= (uint32_t)BB_FLAGS_HELD;
  /* What time alone changes is looked at in every round. */
  const bool is_settled = found == EXTERNAL_ABSENT || (found == EXTERNAL_GOOD && most_ms == 0);
  now->rests = is_watched && is_settled && !is_link(now, "/health") && !is_link(now, "/hold");
}
