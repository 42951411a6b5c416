/* Fuzzes what the gate for jobs, the load sensor and the short verbs read of others: host lists, the file of nodes in
 * power saving, the file of exceptions among names, what qconf and execd write, and what a journal says of itself; and
 * folds names into lists. An input is the kind of a text, and the text.
 *
 * What must hold: a fault is one line, without a control character in it, and says where; of what is taken every name
 * is one that a node may have, each is there once, and no more of them than are wanted; nodes' own spelling takes the
 * same without upper case; and folded they are a list of the same names. That a host list means the same to TypeScript,
 * and names fold to the same list, test/fuzz/fuzz.test.ts asks by fuzz_tell(). */
#include "../../base/hostfold.h"
#include "../../gate/skip.h"
#include "../../sensor/hosts.h"
#include "../../sensor/input.h"
#include "../../verbs/journalstate.h"
#include "fuzz.h"

const char fuzz_unit[] = "texts";
uint64_t fuzz_units;

enum { LIST, SKIP, NAMES, FOLD, STATE, HOSTS, INPUT, KINDS };
#define MOST 3000

static void check_fault(const char *why) {
  MUST(why[0] != 0, "no fault is told");
  for (; *why != 0; why++)
    MUST((uint8_t)*why >= 0x20 && *why != 0x7f, "a fault of several lines, or with a control character");
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static char **sorted_names(const struct hostlist *list) {
  char **sorted = (char **)malloc((list->count + 1) * sizeof *sorted);
  MUST(sorted != NULL, "out of memory");
  memcpy(sorted, list->names, list->count * sizeof *sorted);
  qsort(sorted, list->count, sizeof *sorted, by_text);
  return sorted;
}

static void check_names(const struct hostlist *list) {
  for (size_t i = 0; i < list->count; i++)
    MUST(is_slurm_name(span_of(list->names[i])), "%s is not a name", list->names[i]);
  char **sorted = sorted_names(list);
  for (size_t i = 1; i < list->count; i++) MUST(strcmp(sorted[i - 1], sorted[i]) != 0, "%s is there twice", sorted[i]);
  free(sorted);
}

/* The list as one text, which is to be freed. */
static char *fold_list(const struct hostlist *list) {
  struct folded folded;
  MUST(hostlist_fold(&folded, (const char *const *)list->names, list->count), "out of memory");
  size_t bytes = 1;
  for (size_t i = 0; i < folded.count; i++) bytes += strlen(folded.parts[i]) + 1;
  char *text = (char *)calloc(bytes, 1), *to = text;
  MUST(text != NULL, "out of memory");
  for (size_t i = 0; i < folded.count; i++) to += sprintf(to, "%s%s", i == 0 ? "" : ",", folded.parts[i]);
  folded_free(&folded);
  return text;
}

/* Folded, and expanded again, the names are the same. */
static void check_fold(const struct hostlist *list) {
  char *text = fold_list(list), **wanted = sorted_names(list);
  struct hostlist again;
  const char *why = hostlist_read(&again, text, strlen(text), SPELLED_BY_SLURM, MOST, "folded");
  MUST(why == NULL, "%s: %s", text, why);
  char **found = sorted_names(&again);
  MUST(again.count == list->count, "%s: %zu names, not %zu", text, again.count, list->count);
  for (size_t i = 0; i < list->count; i++)
    MUST(strcmp(wanted[i], found[i]) == 0, "%s: %s is not %s", text, found[i], wanted[i]);
  const char **ordered = (const char **)(void *)found;
  MUST(sort_names(ordered, again.count), "out of memory");
  for (size_t i = 1; i < again.count; i++)
    MUST(compare_names(ordered[i - 1], ordered[i]) <= 0, "%s before %s", ordered[i - 1], ordered[i]);
  free(wanted);
  free(found);
  free(text);
  hostlist_free(&again);
}

/* As nodes spell their names, the same list is taken if each name is one of a node in lower case, and no other. */
static void check_spelling(const struct hostlist *list, const uint8_t *data, size_t size) {
  struct hostlist own;
  bool is_own = true;
  for (size_t i = 0; i < size; i++) is_own = is_own && (data[i] < 'A' || data[i] > 'Z');
  for (size_t i = 0; i < list->count; i++) is_own = is_own && is_node_name(span_of(list->names[i]), true);
  const char *why = hostlist_read(&own, (const char *)data, size, SPELLED_BY_NODES, MOST, "host list");
  MUST((why == NULL) == is_own, "%s", why == NULL ? "a name of Slurm's alone is taken" : why);
  if (why != NULL) return;
  MUST(own.count == list->count, "%zu names, not %zu", own.count, list->count);
  hostlist_free(&own);
}

/* An old file leaves either nothing, or names that can be looked up. */
static void check_old_skip(const uint8_t *data, size_t size, const struct exceptions *exceptions) {
  struct skip skip = {0};
  skip_parse_old(&skip, (const char *)data, size, exceptions);
  MUST(skip.limits_doubt || skip.nodes.list.count == 0, "names without a word about power saving");
  if (skip.limits_doubt) check_names(&skip.nodes.list);
  nodes_free(&skip.nodes);
}

/* Names that are separated by whatever is in no name, as one list. */
static void tell_folded(const uint8_t *data, size_t size, FILE *out) {
  char *text = (char *)malloc(size + 1);
  struct hostlist list = {NULL, (char **)malloc((size + 1) * sizeof(char *)), 0};
  MUST(text != NULL && list.names != NULL, "out of memory");
  for (size_t i = 0; i < size; i++) text[i] = is_of_names((char)data[i]) ? (char)data[i] : ' ';
  text[size] = 0;
  for (char *at = text, *name; (name = strtok_r(at, " ", &at)) != NULL;) list.names[list.count++] = name;
  char *folded = fold_list(&list);
  fprintf(out, "%s", folded);
  free(folded);
  free(list.names);
  free(text);
}

/* The names, or what is wrong. */
static void tell_list(const uint8_t *data, size_t size, FILE *out) {
  struct hostlist list;
  const char *why = hostlist_read(&list, (const char *)data, size, SPELLED_BY_SLURM, MOST, "host list");
  if (why != NULL) {
    check_fault(why);
    fprintf(out, "NO %s", why);
    return;
  }
  check_names(&list);
  check_fold(&list);
  check_spelling(&list, data, size);
  MUST(list.count > 0 && list.count <= MOST, "%zu names", list.count);
  for (size_t i = 0; i < list.count; i++) fprintf(out, "%s%s", i == 0 ? "" : " ", list.names[i]);
  hostlist_free(&list);
}

static bool read_exceptions(struct exceptions *out, const uint8_t *data, size_t size) {
  const char *why = exceptions_parse(out, (const char *)data, size, "names");
  if (why != NULL) check_fault(why);
  return why == NULL;
}

/* The other way, each name on the board has a NodeName whose name it is. */
static void check_inverse(const struct exceptions *exceptions) {
  struct exceptions by_board;
  char room[NAME_LENGTH + 1], other[NAME_LENGTH + 1];
  MUST(exceptions_invert(&by_board, exceptions), "out of memory");
  for (size_t i = 0; i < exceptions->count; i++) {
    const char *board = exceptions->all[i].board, *node = board_name(&by_board, board, room);
    MUST(node != room && strcmp(board_name(exceptions, node, other), board) == 0, "%s is not %s", node, board);
  }
  exceptions_free(&by_board);
}

static void check_exceptions(const uint8_t *data, size_t size) {
  struct exceptions exceptions;
  char room[NAME_LENGTH + 1];
  if (!read_exceptions(&exceptions, data, size)) return;
  for (size_t i = 0; i < exceptions.count; i++) {
    const struct exception *one = &exceptions.all[i];
    MUST(is_slurm_name(span_of(one->node)) && is_node_name(span_of(one->board), true), "%s or %s is not a name",
         one->node, one->board);
    MUST(strcmp(board_name(&exceptions, one->node, room), one->board) == 0, "%s is not %s", one->node, one->board);
    for (const char *c = one->board; *c != 0; c++) MUST(*c < 'A' || *c > 'Z', "%s has upper case", one->board);
  }
  check_inverse(&exceptions);
  exceptions_free(&exceptions);
}

/* The same text is taken for exceptions, too: names are then looked up among many. */
static void check_skip(const uint8_t *data, size_t size) {
  struct exceptions exceptions;
  struct skip skip;
  if (!read_exceptions(&exceptions, data, size)) exceptions = (struct exceptions){0};
  const char *why = size > 4096 ? "too long" : skip_parse(&skip, (const char *)data, size, &exceptions, "skip");
  if (why == NULL) {
    char room[NAME_LENGTH + 1];
    check_names(&skip.nodes.list);
    for (size_t i = 0; i < skip.nodes.list.count; i++)
      MUST(skip_has(&skip, board_name(&exceptions, skip.nodes.list.names[i], room)), "%s is missing",
           skip.nodes.list.names[i]);
    MUST(!skip_has(&skip, "@"), "what is not a name is there");
    nodes_free(&skip.nodes);
  } else {
    check_fault(why);
  }
  if (size <= 4096) check_old_skip(data, size, &exceptions);
  exceptions_free(&exceptions);
}

static bool is_within(struct span text, const char *file, size_t size) {
  return text.at >= file && text.at + text.len <= file + size;
}

/* What a journal says of itself: its texts lie in the file. */
static void check_state(const uint8_t *data, size_t size) {
  struct journal_state s;
  char *file = (char *)malloc(size > 0 ? size : 1); /* no longer: a byte behind it is a fault */
  MUST(file != NULL, "out of memory");
  memcpy(file, data, size);
  if (journal_state_read(file, size, &s)) {
    MUST(is_within(s.board, file, size), "its board is elsewhere");
    MUST(s.error.at == NULL || is_within(s.error, file, size), "its error is elsewhere");
  }
  free(file);
}

/* What qconf says: of what is taken nothing can be mistaken for another line of the protocol. */
static void check_hosts(const uint8_t *data, size_t size) {
  struct exceptions exceptions = {0};
  struct hosts hosts;
  (void)read_exceptions(&exceptions, data, size);
  MUST(hosts_parse(&hosts, (struct span){(const char *)data, size}, &exceptions), "out of memory");
  for (size_t i = 0; i < hosts.count; i++) {
    const struct span name = span_of(hosts.names[i]), board = span_of(hosts.on_board[i]);
    MUST(name.len > 0 && name.len <= HOST_LENGTH, "%s is too long", name.at);
    for (size_t k = 0; k < name.len; k++) MUST(is_of_names(name.at[k]), "%s is not a host", name.at);
    MUST(strcmp(name.at, "global") != 0, "a value for all hosts");
    MUST(board.len == 0 || is_node_name(board, false), "%s is not a node", board.at);
  }
  hosts_free(&hosts);
}

/* What execd writes: in one piece and byte by byte it is the same. */
static void check_input(const uint8_t *data, size_t size) {
  struct requests whole = {0}, pieces = {0};
  input_parse(&whole, (struct span){(const char *)data, size});
  for (size_t i = 0; i < size; i++) input_parse(&pieces, (struct span){(const char *)data + i, 1});
  MUST(whole.asked == pieces.asked && whole.is_over == pieces.is_over, "%u requests, and %u", whole.asked,
       pieces.asked);
  size_t lines = 0;
  for (size_t i = 0; i < size; i++) lines += data[i] == '\n';
  MUST(whole.asked <= MOST_ASKED && whole.asked + whole.is_over <= lines, "%u requests in %zu lines", whole.asked,
       lines);
  MUST(whole.asked + whole.is_over == lines || whole.is_over || whole.asked == MOST_ASKED, "a request is lost");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FILE *nowhere;
  if (nowhere == NULL) nowhere = fopen("/dev/null", "w");
  if (size == 0) return 0;
  fuzz_units++;
  switch (data[0] % KINDS) {
    case LIST: tell_list(data + 1, size - 1, nowhere); break;
    case SKIP: check_skip(data + 1, size - 1); break;
    case FOLD: tell_folded(data + 1, size - 1, nowhere); break;
    case STATE: check_state(data + 1, size - 1); break;
    case HOSTS: check_hosts(data + 1, size - 1); break;
    case INPUT: check_input(data + 1, size - 1); break;
    default: check_exceptions(data + 1, size - 1);
  }
  return 0;
}

void fuzz_tell(const uint8_t *data, size_t size, FILE *out) {
  if (size == 0) return;
  if (data[0] % KINDS == FOLD) tell_folded(data + 1, size - 1, out);
  else if (data[0] % KINDS <= NAMES) tell_list(data + 1, size - 1, out);
}
