/* Host lists: what they stand for, which are refused and where, how names are folded and put in order. */
#include <stdlib.h>

#include "../../base/hostfold.h"
#include "../../base/hostlist.h"
#include "check.h"

#define NINE "123456789"
#define SIXTY_THREE NINE NINE NINE NINE NINE NINE NINE

static char joined[1 << 16];

static const char *join(const char *const *names, size_t count, const char *between) {
  char *to = joined;
  *to = 0;
  for (size_t i = 0; i < count; i++) to += sprintf(to, "%s%s", i == 0 ? "" : between, names[i]);
  return joined;
}

static const struct {
  const char *list, *names;
} lists[] = {
  {"node1", "node1"},
  {"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
   "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"},
  {"node[8-11]", "node8 node9 node10 node11"},
  {"b,a,b,c,a", "b a c"},
  {"n[3,1-4]", "n3 n1 n2 n4"},
  {"n1,n[1-2],n01", "n1 n2 n01"},
  {"r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2"},
  {"n[00-02]", "n00 n01 n02"},
  {"n[098-101]", "n098 n099 n100 n101"},
  {"n[0-2,010]", "n0 n1 n2 n010"},
  {"[1-2]n", "1n 2n"},
  {"n[1][2]", "n12"},
  {"gpu-[1-2].ib_0", "gpu-1.ib_0 gpu-2.ib_0"},
  {"n[7-7]", "n7"},
  {"n[999999999999998-999999999999999]", "n999999999999998 n999999999999999"},
  {SIXTY_THREE, SIXTY_THREE},
};

static void check_lists(void) {
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    struct hostlist list;
    /* With something behind it: a list ends where its length says. */
    char *const text = malloc(strlen(lists[i].list) + 2);
    sprintf(text, "%s]", lists[i].list);
    const char *why = hostlist_read(&list, text, strlen(lists[i].list), SPELLED_BY_NODES, 100, "");
    CHECK_TEXT(why, NULL);
    CHECK_TEXT(join((const char *const *)list.names, list.count, " "), lists[i].names);
    hostlist_free(&list);
    CHECK(list.count == 0 && list.names == NULL, "%s: nothing is left of it", lists[i].list);
    free(text);
  }
}

static const struct {
  const char *list;
  int column;
  const char *why; /* the beginning of the reason */
} refused[] = {
  {"", 1, "it is empty"},
  {"a,,b", 3, "an empty name"},
  {"a,", 3, "an empty name"},
  {",a", 1, "an empty name"},
  {"n[3-1]", 3, "'3-1' runs backwards; write 1-3"},
  {"n[0-0001]", 3, "'0-0001' is padded unevenly"},
  {"n[08-100]", 3, "'08-100' is padded unevenly"},
  {"n[a-c]", 3, "'a-c' is not a range of numbers"},
  {"n[1-3", 2, "a [ without its ]"},
  {"node1-3]", 8, "']' is not allowed here"},
  {"n[]", 3, "an empty range"},
  {"n[1,]", 5, "an empty range"},
  {"n[-3]", 3, "'-3' is not a range"},
  {"n[1-2-3]", 3, "'1-2-3' is not a range"},
  {"n[0-10/2]", 7, "a step in a range"},
  {"n1, n2", 4, "a blank"},
  {"a[1-9]!a3", 7, "'!' is not allowed here"},
  {"@gpu", 1, "'@' is not allowed here"},
  {"node*", 5, "'*' is not allowed here"},
  {"n1,Node2", 4, "upper-case 'N'"},
  {"n1,-n2", 4, "a name that begins with '-'"},
  {"n[1-9999999999999999]", 3, "a number that is too long"},
  {"a,n" SIXTY_THREE, 3, "a name that is too long"},
  {"n[1-101]", 1, "too many names; at most 100 are allowed"},
  {"a,n[1-100]", 3, "too many names"},
  {"n[1-999999999999999][1-999999999999999]", 1, "too many names"},
};

static void check_refused(void) {
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    struct hostlist list;
    const char *why = hostlist_read(&list, refused[i].list, strlen(refused[i].list), SPELLED_BY_NODES, 100, "");
    char wanted[100];
    sprintf(wanted, "column %d: %s", refused[i].column, refused[i].why);
    CHECK(why != NULL && strstr(why, wanted) != NULL, "%s: %s", refused[i].list, why == NULL ? "taken" : why);
    CHECK(list.names == NULL, "%s: nothing is made", refused[i].list);
  }
}

static void check_spelling(void) {
  struct hostlist list;
  CHECK_TEXT(hostlist_read(&list, "Node[1-2],_x", 12, SPELLED_BY_SLURM, 100, ""), NULL);
  CHECK_TEXT(join((const char *const *)list.names, list.count, " "), "Node1 Node2 _x");
  hostlist_free(&list);
}

static void check_lines(void) {
  static const char text[] = "# all\nn[1-2]\n\n  b,n2  # twice\r\n\xc2\xa0" "c";
  struct hostlist list;
  CHECK_TEXT(hostlist_read_lines(&list, text, sizeof text - 1, SPELLED_BY_NODES, 100, ""), NULL);
  CHECK_TEXT(join((const char *const *)list.names, list.count, " "), "n1 n2 b c");
  hostlist_free(&list);
  CHECK_TEXT(hostlist_read_lines(&list, "# none\n", 7, SPELLED_BY_NODES, 100, ""), NULL);
  CHECK(list.count == 0, "a file without names");
  hostlist_free(&list);
  const char *why = hostlist_read_lines(&list, "n1\n  n[1\n", 9, SPELLED_BY_NODES, 100, "FILE");
  CHECK(why != NULL && strncmp(why, "FILE:2, column 4: a [ without its ]", 35) == 0, "%s", why);
}

static const struct {
  const char *names, *list;
} folds[] = {
  {"n2 n1 n1", "n[1-2]"},
  {"n3 n1 n7", "n[1,3,7]"},
  {"n098 n099 n100 n101", "n[098-101]"},
  {"n99 n100 n099", "n[99,099-100]"},
  {"n08 n9 n10 n09 n8", "n[8-9,08-10]"},
  {"n0 n00 n1", "n[0-1,00]"},
  {"1 2 3", "1,2,3"},
  {"10.0.0.1 10.0.0.2", "10.0.0.[1-2]"},
  {"rack2n1 rack10n1 rack10n2 rack1n1", "rack1n1,rack2n1,rack10n[1-2]"},
  {"n1-ib0 n1-ib1 n2-ib", "n1-ib[0-1],n2-ib"},
  {"login1 node1", "login1,node1"},
  {"n0000000000000000000000000000001 n0000000000000000000000000000002",
   "n0000000000000000[000000000000001-000000000000002]"}, /* of digits that can be counted */
  {"n99999999999999999999 n99999999999999999998", NULL}, /* whatever it is, it expands to the same */
};

/* Splits at blanks, into as many as there are. */
static size_t words_of(char *text, const char **words) {
  size_t count = 0;
  for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) words[count++] = word;
  return count;
}

static void check_folds(void) {
  for (size_t i = 0; i < sizeof folds / sizeof folds[0]; i++) {
    char text[200];
    const char *names[20], *backwards[20];
    const size_t count = words_of(strcpy(text, folds[i].names), names);
    for (size_t j = 0; j < count; j++) backwards[j] = names[count - 1 - j];
    for (int way = 0; way < 2; way++) {
      struct folded folded;
      CHECK(hostlist_fold(&folded, way == 0 ? names : backwards, count), "memory");
      const char *list = join((const char *const *)folded.parts, folded.count, ",");
      if (folds[i].list != NULL) CHECK_TEXT(list, folds[i].list);
      struct hostlist back;
      CHECK_TEXT(hostlist_read(&back, list, strlen(list), SPELLED_BY_SLURM, 100, ""), NULL);
      for (size_t j = 0; j < count; j++) {
        bool found = false;
        for (size_t k = 0; k < back.count; k++) found = found || strcmp(back.names[k], names[j]) == 0;
        CHECK(found, "%s is in what it was folded to", names[j]);
      }
      hostlist_free(&back);
      folded_free(&folded);
    }
  }
  struct folded none;
  CHECK(hostlist_fold(&none, NULL, 0) && none.count == 0, "no names");
  folded_free(&none);
}

static void check_order(void) {
  static const char *const in_order[] = {"a", "a1", "a1b", "a01", "a2", "a10", "a10b2", "a10b11", "ab", "b"};
  enum { COUNT = sizeof in_order / sizeof in_order[0] };
  for (size_t i = 0; i < COUNT; i++)
    for (size_t j = 0; j < COUNT; j++) {
      const int order = compare_names(in_order[i], in_order[j]);
      CHECK((order > 0) - (order < 0) == (i > j) - (i < j), "%s and %s: %d", in_order[i], in_order[j], order);
    }
  const char *names[COUNT];
  for (size_t i = 0; i < COUNT; i++) names[i] = in_order[(7 * i + 3) % COUNT];
  CHECK(sort_names(names, COUNT), "memory");
  for (size_t i = 0; i < COUNT; i++) CHECK_TEXT(names[i], in_order[i]);
}

int main(void) {
  check_lists();
  check_refused();
  check_spelling();
  check_lines();
  check_folds();
  check_order();
  return checked();
}
