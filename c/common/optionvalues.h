/* Reads values of options that more than one program takes, as src/common/options/values.ts does, and refuses them in the same words. Each gives
 * NULL, or why not. */
#ifndef BB_COMMON_OPTIONVALUES_H
#define BB_COMMON_OPTIONVALUES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A path. */
const char *value_file(const char *text, const char **file);

/* So many, or so many in a hundred: 5, 2%. */
const char *value_portion(const char *text, uint64_t *number, bool *is_percent);

/* One of two words; `*is_second`: the second. */
const char *value_either(const char *text, const char *first, const char *second, bool *is_second);

/* Some of the words that `name` gives for the numbers in `order`, separated by commas: a bit for each number. `what` one of them is called. */
const char *value_some(const char *text, const char *what, const char *(*name)(int), const int *order, size_t count, uint32_t *bits);

/* Ailments, the worst first, as value_some() has them. */
const char *value_ailments(const char *text, uint32_t *bits);

#endif
