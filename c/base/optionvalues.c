#include "optionvalues.h"

#include <stdlib.h>
#include <string.h>

#include "../beoboard.h"
#include "fault.h"
#include "quoting.h"

#define MOST_WORDS 32 /* as many as there are bits */

const char *value_file(const char *text, const char **file) {
  *file = text;
  return text[0] == 0 ? "'' is not a file name; write a path" : NULL;
}

const char *value_portion(const char *text, uint64_t *number, bool *is_percent) {
  const size_t digits = strspn(text, "0123456789");
  *is_percent = text[digits] == '%';
  if (digits == 0 || digits > 9 || text[digits + *is_percent] != 0)
    return fault("%s is not a number of nodes; write it as 5 or 2%%", quoted(text, strlen(text)));
  *number = strtoull(text, NULL, 10);
  return *is_percent && *number > 100 ? fault("%s is more than all nodes; write 0%% to 100%%", quoted(text, strlen(text))) : NULL;
}

const char *value_either(const char *text, const char *first, const char *second, bool *is_second) {
  *is_second = strcmp(text, second) == 0;
  if (*is_second || strcmp(text, first) == 0) return NULL;
  return fault("%s is not a valid value; use %s or %s", quoted(text, strlen(text)), first, second);
}

/* Why a part is not one of the words. */
static const char *refuse_part(struct span part, const char *what, const char *const *words, size_t count) {
  const char *near = nearest_word(part, words, count), *shown = quoted(part.at, part.len);
  const char *article = strchr("aeiou", what[0]) != NULL ? "an" : "a";
  if (near != NULL) return fault("%s is not %s %s; did you mean %s?", shown, article, what, near);
  char text[MOST_WORDS * 32];
  struct words all = WORDS(text);
  for (size_t i = 0; i < count; i++) {
    if (i > 0) add_text(&all, ", ");
    add_text(&all, words[i]);
  }
  return fault("%s is not %s %s; write %s", shown, article, what, text_of(&all));
}

const char *value_some(const char *text, const char *what, const char *(*name)(int), const int *order, size_t count, uint32_t *bits) {
  const char *words[MOST_WORDS];
  for (size_t i = 0; i < count; i++) words[i] = name(order[i]);
  struct span left = span_of(text), part;
  *bits = 0;
  while (next_part(&left, ',', &part)) {
    size_t i = 0;
    while (i < count && !span_is(span_of(words[i]), part)) i++;
    if (i == count) return refuse_part(part, what, words, count);
    *bits |= UINT32_C(1) << order[i];
  }
  return NULL;
}

const char *value_ailments(const char *text, uint32_t *bits) {
  int order[BEOBOARD_NAILMENTS];
  for (int i = 0; i < BEOBOARD_NAILMENTS; i++) order[i] = i; /* they are numbered in this order */
  return value_some(text, "ailment", beoboard_ailment_name, order, BEOBOARD_NAILMENTS, bits);
}
