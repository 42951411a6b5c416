/* Names of nodes. Pure, except for the host name. */
#ifndef BB_NAMING_H
#define BB_NAMING_H
#include "words.h"

#define NAME_LENGTH 63 /* the name of a node on the board has 64 bytes with its NUL */

static inline bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

static inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || is_upper(c); }

/* What the names of nodes are made of, in either case. */
static inline bool is_of_names(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-'; }

/* Whether it is the name of a node, a letter or digit first; also with capital letters, or without. */
static inline bool is_node_name(struct span text, bool upper) {
  if (text.len == 0 || text.len > NAME_LENGTH || (!is_letter(text.at[0]) && !is_digit(text.at[0]))) return false;
  for (size_t i = 0; i < text.len; i++)
    if (!is_of_names(text.at[i]) || (!upper && is_upper(text.at[i]))) return false;
  return true;
}

/* The same for a NodeName, as slurm.conf may have it, with + : / % = ~ as well, and with any of these first. Slurm
 * takes nearly everything; what has a meaning in somebody's host lists is left out. */
static inline bool is_of_slurm_names(char c) { return is_of_names(c) || (c != 0 && strchr("+:/%=~", c) != NULL); }

static inline bool is_slurm_name(struct span text) {
  for (size_t i = 0; i < text.len; i++)
    if (!is_of_slurm_names(text.at[i])) return false;
  return text.len > 0 && text.len <= NAME_LENGTH;
}

/* The host name up to its first dot, in lower case; NULL with the reason in `why` if it is an address, of which that
 * would be the first number. */
const char *host_name(struct words *why);

#endif
