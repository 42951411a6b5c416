/* beoboard-nodes: names of nodes for scripts: the nodes in some states, as one host list. The same output as
 * `beoboard nodes` with the same options, in a fiftieth of the time; it has no conditions and no Slurm names. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/fault.h"
#include "../base/hostfold.h"
#include "remarks.h"
#include "telling.h"

#define PROGRAM "beoboard-nodes"
const char program[] = PROGRAM;

static const char help_text[] =
  "Usage: " PROGRAM " [options]\n"
  "\n"
  "print the names of nodes in given states: beoboard nodes in C, for prologs, cron\n"
  "and loops\n"
  "\n"
  "Options:\n"
  "  -s, --state STATES  nodes in these states: silent, unknown, uncertain, never,\n"
  "                      left, live\n"
  "  --healthy           only live nodes without problems\n"
  "  -w, --nodes LIST    the nodes as a host list, node[001-128],login1, or @FILE with a\n"
  "                      list on each line\n"
  "  -f, --fold          one host list, as in node[001-128],login1\n"
  "  -e, --expand        one name per line\n"
  "  -c, --count         only the number of names\n"
  "  --board PATH        the board file (default: " BEOBOARD_PATH ")\n"
  "  --owner USER        trust boards of this user too, by name or id (env:\n"
  "                      BEOBOARD_OWNER)\n"
  "  -h, --help          show this help\n"
  "  -V, --version       show the version\n"
  "\n"
  "Its answers are identical to those of beoboard nodes. For --where, --for, --slurm-dir and --config use that.\n"
  "Exit codes: 0 done, 1 a name is not on the board, 2 usage, 4 no board, or a stalled one: then nothing is known "
  "about any node.\n"
  "\n"
  "Examples:\n"
  "  " PROGRAM " --state live\n"
  "  x=$(" PROGRAM " --state silent,uncertain) && sbatch --exclude=\"$x\" job.sh\n"
  "  " PROGRAM " --healthy --nodes rack17n[01-48] --count\n";

static struct options {
  struct asked asked;
  uint32_t states; /* a bit each */
  bool healthy, fold, expand, count;
} options = {.states = UINT32_MAX};

static bool read_states(struct span text, void *field, struct words *why) {
  static const int order[] =
    {BEOBOARD_SILENT, BEOBOARD_UNKNOWN, BEOBOARD_UNCERTAIN, BEOBOARD_NEVER, BEOBOARD_LEFT, BEOBOARD_LIVE};
  return value_some(text, "state", beoboard_state_name, order, sizeof order / sizeof order[0], (uint32_t *)field, why);
}

/* In the order in which the other program reads them. */
#define AT(field) .at = offsetof(struct options, field)
static const struct option options_of_nodes[] = {
  {.name = "state", .letter = 's', .value = "STATES", .read = read_states, AT(states)},
  {.name = "healthy", AT(healthy)},
  {.name = "nodes", .letter = 'w', .value = "LIST", .read = read_nodes, AT(asked)},
  {.name = "fold", .letter = 'f', AT(fold)},
  {.name = "expand", .letter = 'e', AT(expand)},
  {.name = "count", .letter = 'c', AT(count)},
  {.name = "board", .value = "PATH", .read = value_file, AT(asked.board)},
  {.name = "owner", .value = "USER", .read = value_user, AT(asked.owner)},
};
static const char *const elsewhere[] = {"where", "for", "slurm-dir", "config", NULL};
static const struct option_table table = {
  .options = options_of_nodes, .count = sizeof options_of_nodes / sizeof options_of_nodes[0], .elsewhere = elsewhere,
    .whose = "beoboard nodes"};

noreturn void give_up(const char *why, int code) {
  complain(why);
  exit(code);
}

noreturn void give_up_memory(void) { end_with(STDERR_FILENO, PROGRAM ": out of memory\n", WRITE_FAILED); }

/* NULL, or why the output format is invalid. */
static const char *check_ways(void) {
  if (options.expand && options.fold) return "--expand and --fold do not go together; leave one out";
  if (options.expand && options.count) return "--expand and --count do not go together; leave one out";
  if (options.fold && options.count) return "--fold and --count do not go together; leave one out";
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

/* Leaves only live nodes without a problem. */
static void leave_healthy(struct census *census, struct some *some) {
  const uint32_t *problems = census_problems(census);
  size_t left = 0;
  for (size_t i = 0; i < some->count; i++) {
    if (census->states[some->numbers[i]] != BEOBOARD_LIVE || problems[some->numbers[i]] != 0) continue;
    some->numbers[left] = some->numbers[i];
    some->names[left++] = some->names[i];
  }
  some->count = left;
  /* Links are mentioned if a wanted node is behind them. */
  if (census->is_asked == NULL) {
    census->is_asked = (uint8_t *)keep(census->nodes + 1u, 1);
    memset(census->is_asked, 1, census->nodes);
  }
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
  census_take(&census, &options.asked);
  struct some some = census_some(&census, options.states);
  if (options.healthy) leave_healthy(&census, &some);
  const struct remarks remarks = remarks_of(&census, &some);
  print_names(some.names, some.count);
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
  const enum outcome outcome = options_read(&table, argc, argv, &options, &fault);
  prepare(options.asked.board == NULL ? BEOBOARD_PATH : options.asked.board);
  if (outcome == OPTIONS_HELP || outcome == OPTIONS_VERSION) {
    print(span_of(outcome == OPTIONS_HELP ? help_text : version_text));
    return DONE;
  }
  if (outcome == OPTIONS_BAD || !read_environment(&options.asked, &fault)) give_up(text_of(&fault), USAGE);
  const char *why = check_ways();
  if (why != NULL) give_up(why, USAGE);
  return nodes_answer();
}
