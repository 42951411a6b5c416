/* Reads values of options that several programs have, like src/common/options/values.ts, with the same error
 * messages. Each returns NULL, or why the value is invalid. */
#ifndef BB_OPTIONVALUES_H
#define BB_OPTIONVALUES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A path. */
const char *value_file(const char *text, const char **file);

/* A number of nodes, or a percentage of them: 5, 2%. */
const char *value_portion(const char *text, uint64_t *number, bool *is_percent);

/* One of two words; `*is_second`: it is the second. */
const char *value_either(const char *text, const char *first, const char *second, bool *is_second);

/* Some of the words that `name` returns for the numbers in `order`, separated by commas: a bit for each number.
 * `what` is the name of one of them. */
const char *value_some(const char *text, const char *what, const char *(*name)(int), const int *order, size_t count, uint32_t *bits);

/* Ailments, the worst first, as in value_some(). */
const char *value_ailments(const char *text, uint32_t *bits);

#endif
