/* Fuzzes what the gate for jobs reads of others: host lists, the file of nodes in power saving, and the file of exceptions among names. An
 * input is the kind of a text, and the text.
 *
 * What must hold: a fault is one line, without a control character in it, and says where; of what is taken every name is one that a node
 * may have, each is there once, and no more of them than are wanted. That a host list means the same to TypeScript,
 * test/91.fuzz.test.ts asks by fuzz_tell(). */
#include "../gate/skip.h"
#include "fuzz.h"

const char fuzz_unit[] = "texts";
uint64_t fuzz_units;

enum { LIST, SKIP, NAMES, KINDS };
#define MOST 3000

static void check_fault(const char *why) {
  MUST(why[0] != 0, "no fault is told");
  for (; *why != 0; why++) MUST((uint8_t)*why >= 0x20 && *why != 0x7f, "a fault of several lines, or with a control character");
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void check_names(const struct hostlist *list) {
  for (size_t i = 0; i < list->count; i++) MUST(is_name(list->names[i], strlen(list->names[i])), "%s is no name", list->names[i]);
  char **sorted = (char **)malloc((list->count + 1) * sizeof *sorted);
  MUST(sorted != NULL, "out of memory");
  memcpy(sorted, list->names, list->count * sizeof *sorted);
  qsort(sorted, list->count, sizeof *sorted, by_text);
  for (size_t i = 1; i < list->count; i++) MUST(strcmp(sorted[i - 1], sorted[i]) != 0, "%s is there twice", sorted[i]);
  free(sorted);
}

/* The names, or what is wrong. */
static void tell_list(const uint8_t *data, size_t size, FILE *out) {
  struct hostlist list;
  const char *why = hostlist_read(&list, (const char *)data, size, MOST, "host list");
  if (why != NULL) {
    check_fault(why);
    fprintf(out, "NO %s", why);
    return;
  }
  check_names(&list);
  MUST(list.count > 0 && list.count <= MOST, "%zu names", list.count);
  for (size_t i = 0; i < list.count; i++) fprintf(out, "%s%s", i == 0 ? "" : " ", list.names[i]);
  hostlist_free(&list);
}

static bool read_exceptions(struct exceptions *out, const uint8_t *data, size_t size) {
  const char *why = exceptions_parse(out, (const char *)data, size, "names");
  if (why != NULL) check_fault(why);
  return why == NULL;
}

static void check_exceptions(const uint8_t *data, size_t size) {
  struct exceptions exceptions;
  char room[NAME_LENGTH + 1];
  if (!read_exceptions(&exceptions, data, size)) return;
  for (size_t i = 0; i < exceptions.count; i++) {
    const struct exception *one = &exceptions.all[i];
    MUST(is_name(one->node, strlen(one->node)) && is_name(one->board, strlen(one->board)), "%s or %s is no name", one->node, one->board);
    MUST(strcmp(board_name(&exceptions, one->node, room), one->board) == 0, "%s is not %s", one->node, one->board);
    for (const char *c = one->board; *c != 0; c++) MUST(*c < 'A' || *c > 'Z', "%s has upper case", one->board);
  }
  exceptions_free(&exceptions);
}

/* The same text is taken for exceptions, too: names are then looked up among many. */
static void check_skip(const uint8_t *data, size_t size) {
  struct exceptions exceptions;
  struct skip skip;
  if (!read_exceptions(&exceptions, data, size)) exceptions = (struct exceptions){NULL, NULL, 0};
  const char *why = size > 4096 ? "too long" : skip_parse(&skip, (const char *)data, size, &exceptions, "skip");
  if (why == NULL) {
    char room[NAME_LENGTH + 1];
    check_names(&skip.nodes.list);
    for (size_t i = 0; i < skip.nodes.list.count; i++)
      MUST(skip_has(&skip, board_name(&exceptions, skip.nodes.list.names[i], room)), "%s is missing", skip.nodes.list.names[i]);
    MUST(!skip_has(&skip, "@"), "what is no name is there");
    nodes_free(&skip.nodes);
  } else {
    check_fault(why);
  }
  exceptions_free(&exceptions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static FILE *nowhere;
  if (nowhere == NULL) nowhere = fopen("/dev/null", "w");
  if (size == 0) return 0;
  fuzz_units++;
  switch (data[0] % KINDS) {
    case LIST: tell_list(data + 1, size - 1, nowhere); break;
    case SKIP: check_skip(data + 1, size - 1); break;
    default: check_exceptions(data + 1, size - 1);
  }
  return 0;
}

void fuzz_tell(const uint8_t *data, size_t size, FILE *out) {
  if (size > 0) tell_list(data + 1, size - 1, out);
}
