/* beoboard-nodes: names of nodes for scripts: the nodes in some states, as one host list. The same output as
 * `beoboard nodes` with the same options, in a fiftieth of the time; it has no conditions. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/fault.h"
#include "../base/hostfold.h"
#include "../board/seqlock.h"
#include "../judge/liveness.h"
#include "help.gen.h"
#include "remarks.h"
#include "telling.h"

#define PROGRAM "beoboard-nodes"
const char program[] = PROGRAM;

static struct options {
  struct node_query query;
  struct node_wish wish;
  bool fold, expand, count, with_state;
} options = {.wish.states = UINT32_MAX};

static bool read_states(struct span text, void *field, struct words *why) {
  static const int order[] =
    {BEOBOARD_SILENT, BEOBOARD_UNKNOWN, BEOBOARD_UNCERTAIN, BEOBOARD_NEVER, BEOBOARD_LEFT, BEOBOARD_LIVE};
  return value_some(text, "state", beoboard_state_name, order, sizeof order / sizeof order[0], (uint32_t *)field, why);
}

static bool read_for_at_least(struct span text, void *field, struct words *why) {
  return value_time(text, 1000, UINT64_C(86400000000), "1s to 1000d", (uint64_t *)field, why);
}

/* In the order in which the other program reads them; --names goes before --nodes, which needs it. */
static const struct option options_of_nodes[] = {
  {.name = "state", .letter = 's', .value = "STATES", .read = read_states, AT(wish.states)},
  {.name = "for-at-least", .value = "TIME", .read = read_for_at_least, AT(wish.for_ms)},
  {.name = "healthy", AT(wish.healthy)},
  {.name = "with-problem", .value = "NAMES", .read = value_problems, AT(wish.problems)},
  {.name = "names", .value = "FILE", .read = read_exceptions, AT(query)},
  {.name = "nodes", .letter = 'w', .value = "LIST", .read = read_nodes, AT(query)},
  {.name = "fold", .letter = 'f', AT(fold)},
  {.name = "expand", .letter = 'e', AT(expand)},
  {.name = "count", .letter = 'c', AT(count)},
  {.name = "with-state", AT(with_state)},
  {.name = "board", .value = "PATH", .read = value_file, AT(query.board)},
  {.name = "owner", .value = "USER", .read = value_user, AT(query.owner)},
};
static const char *const elsewhere[] = {"where", "job-id", "user", "for", "slurm-dir", "config", NULL};
static const struct option_table table = {
  OPTIONS_OF(options_of_nodes), .elsewhere = elsewhere, .whose = "beoboard nodes"};

noreturn void give_up(const char *why, int code) {
  complain(why);
  exit(code);
}

noreturn void give_up_memory(void) { end_with(STDERR_FILENO, PROGRAM ": out of memory\n", WRITE_FAILED); }

/* NULL, or why the output format is invalid. */
static const char *check_ways(void) {
  const struct {
    const char *name;
    bool is_given;
  } ways[] = {{"expand", options.expand}, {"fold", options.fold}, {"count", options.count},
              {"with-state", options.with_state}};
  const char *first = NULL;
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    if (!ways[i].is_given) continue;
    if (first != NULL) return fault("--%s and --%s do not go together; leave one out", first, ways[i].name);
    first = ways[i].name;
  }
  if (options.wish.healthy && options.wish.problems != 0)
    return "--healthy and --with-problem do not go together; leave one out";
  if (options.wish.for_ms > 0 && (options.wish.states & (1u << BEOBOARD_NEVER | 1u << BEOBOARD_UNKNOWN)) != 0)
    return "--for-at-least needs a state of which the begin is known; give --state silent, uncertain, left or live";
  return NULL;
}

static void print_words(const struct words *words) { print((struct span){words->text, words->len}); }

static void print_count(size_t count) {
  char text[32];
  struct words words = WORDS(text);
  add_number(&words, count);
  add_text(&words, "\n");
  print_words(&words);
}

/* Texts, each followed by this, and the last one by a line end. */
static struct words joined(const char *const *texts, size_t count, char by) {
  size_t bytes = 2;
  for (size_t i = 0; i < count; i++) bytes += strlen(texts[i]) + 1;
  struct words words = {(char *)keep(bytes, 1), bytes, 0};
  for (size_t i = 0; i < count; i++) {
    add_text(&words, texts[i]);
    add_span(&words, (struct span){i + 1 < count ? &by : "\n", 1});
  }
  return words;
}

static struct words folded(const char *const *names, size_t count) {
  struct folded list;
  if (!hostlist_fold(&list, names, count)) give_up_memory();
  const struct words words = joined((const char *const *)list.parts, list.count, ',');
  folded_free(&list);
  return words;
}

/* Each with its state, an enum beoboard_state, in the order of people. */
static void print_states(const char **names, const uint8_t *states, size_t count) {
  const char **rows = (const char **)keep(count + 1, sizeof *rows);
  char *to = (char *)keep(count + 1, BB_NAME_BYTES + 2);
  size_t bytes = 1;
  for (size_t i = 0; i < count; i++, to += BB_NAME_BYTES + 2) {
    *to = (char)states[i]; /* stored before the name, and found by it after sorting */
    rows[i] = strcpy(to + 1, names[i]);
    bytes += strlen(names[i]) + 16;
  }
  if (!sort_names(rows, count)) give_up_memory();
  struct words words = {(char *)keep(bytes, 1), bytes, 0};
  for (size_t i = 0; i < count; i++) {
    add_text(&words, rows[i]);
    add_text(&words, " ");
    add_text(&words, beoboard_state_name(rows[i][-1]));
    add_text(&words, "\n");
  }
  print_words(&words);
}

static void print_names(const char **names, size_t count) {
  if (options.count) {
    print_count(count);
  } else if (options.expand) {
    if (!sort_names(names, count)) give_up_memory();
    const struct words words = joined(names, count, '\n');
    print_words(&words);
  } else if (count > 0) {
    const struct words words = folded(names, count);
    print_words(&words);
  }
}

/* Names as they were asked for, or as the file has them. */
static void rename_all(const struct census *census, const struct node_list *list) {
  struct exceptions by_board;
  char room[NAME_LENGTH + 1];
  if (!exceptions_invert(&by_board, &options.query.exceptions)) give_up_memory();
  for (size_t i = 0; i < list->count; i++) {
    const char *name = census->called != NULL ? census->called[list->numbers[i]]
      : board_name(&by_board, list->names[i], room);
    if (name != room) list->names[i] = name;
  }
  exceptions_free(&by_board);
}

static void print_list(const struct census *census, const struct node_list *list) {
  if (options.query.is_scheduler) rename_all(census, list);
  if (!options.with_state) {
    print_names(list->names, list->count);
    return;
  }
  uint8_t *states = (uint8_t *)keep(list->count + 1, 1);
  for (size_t i = 0; i < list->count; i++) states[i] = census->states[list->numbers[i]];
  print_states(list->names, states, list->count);
}

static void complain_of_names(const struct census *census) {
  struct words list = folded(census->not_on_board, census->not_on_board_count);
  list.text[list.len - 1] = 0; /* its line end */
  struct words line = {(char *)keep(list.len + 64, 1), list.len + 64, 0};
  add_text(&line, PROGRAM ": not on the board: ");
  add_text(&line, list.text);
  add_text(&line, "\n");
  complain_whole(&line);
}

static int nodes_answer(void) {
  struct census census;
  census_read(&census, &options.query, NULL);
  const struct node_list list = census_wanted(&census, &options.wish);
  const struct remarks remarks = remarks_of(&census, &list, "");
  print_list(&census, &list);
  if (census.stalled) {
    struct words why = long_words();
    add_stalled(&why, &census);
    add_text(&why, ": nothing is known about nodes; see beoboard status");
    give_up(text_of(&why), NO_BOARD);
  }
  for (size_t i = 0; i < remarks.count; i++) complain(remarks.texts[i]);
  if (census.not_on_board_count == 0) return DONE;
  complain_of_names(&census);
  return NOT_SO;
}

int main(int argc, char *argv[]) {
  static char text[MOST_FAULT];
  struct words fault = WORDS(text);
  if (!read_command_line(&table, NODES_HELP, argc, argv, &options, &options.query, &fault))
    give_up(text_of(&fault), USAGE);
  const char *why = check_ways();
  if (why != NULL) give_up(why, USAGE);
  return nodes_answer();
}
