/* Reads values of options that several programs have, like src/options/values.ts, with the same error
 * messages. Each returns false with the reason in `why` for what is invalid. */
#ifndef BB_OPTIONVALUES_H
#define BB_OPTIONVALUES_H
#include "../beoboard.h"
#include "quoting.h"

/* As an option has them: the field is a `const char *`, or a `char [64]` for the name of a node. A path is a file's
 * name that is short enough to make others from. */
bool value_file(struct span text, void *field, struct words *why);
bool value_path(struct span text, void *field, struct words *why);
bool value_user(struct span text, void *field, struct words *why);
bool value_node_name(struct span text, void *field, struct words *why);

/* The whole milliseconds of 250ms, 1.5s, 2m or 1h, nothing else. */
bool parse_duration(struct span text, uint64_t *ms, struct words *why);

/* The same within limits; `limits` names them: "100ms to 600s". A bare 0 needs no unit. */
bool value_time(struct span text, uint64_t least_ms, uint64_t most_ms, const char *limits, uint64_t *ms,
                struct words *why);

/* A number of nodes, a percentage of all of them, or the larger of both: 5, 2%, 0.1%,1. */
struct portion {
  uint64_t nodes, share; /* the share in thousandths of a percent */
};
bool value_portion(struct span text, void *field, struct words *why);

/* What a portion is of so many nodes, in parts of one. */
enum { PARTS_OF_NODE = 100000 };
static inline uint64_t portion_of(const struct portion *portion, uint64_t total) {
  const uint64_t least = portion->nodes * PARTS_OF_NODE, share = portion->share * total;
  return share > least ? share : least;
}

/* One of two words; `*is_second`: it is the second. */
bool value_either(struct span text, const char *first, const char *second, bool *is_second, struct words *why);

/* Some of the words that `name` returns for the numbers in `order`, separated by commas: a bit for each number.
 * `what` is the name of one of them. `order`: NULL for the numbers below `count`. */
bool value_some(struct span text, const char *what, const char *(*name)(int), const int *order, size_t count,
                uint32_t *bits, struct words *why);

/* Problems of nodes, a bit each. */
static inline bool value_problems(struct span text, void *field, struct words *why) {
  return value_some(text, "problem", beoboard_problem_name, NULL, BEOBOARD_NPROBLEMS, (uint32_t *)field, why);
}

#endif
