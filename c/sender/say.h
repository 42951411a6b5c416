/* What people are told: one line on stderr for one event. Refuses to wait: a line that nobody takes is dropped. */
#ifndef BB_SENDER_SAY_H
#define BB_SENDER_SAY_H
#include "words.h"

/* Another program of these parts says its own name. */
#ifndef PROGRAM
#define PROGRAM "beoboard-send"
#endif

/* With everything that a terminal would not show as one character of one line written as \u{hex}. */
void add_one_line(struct words *words, struct span span);
/* What somebody wrote, to be repeated in a message: quoted, in one line, at most 60 characters of it. */
void add_quoted(struct words *words, struct span span);
/* What is wrong with it, behind that; false, for whoever has to say so, too. */
bool refuse_text(struct words *why, struct span text, const char *what);
/* Milliseconds for people, in two figures: 350ms, 4.2s, 3m12s, 5h02m, 12d3h. */
void add_duration(struct words *words, uint64_t ms);

enum level { SAY_INFO = 30, SAY_WARN = 40, SAY_ERROR = 50 };

/* A line of these texts, up to a NULL. Any thread may call it. */
void say(enum level level, const char *first, ...) __attribute__((sentinel));
#define tell(...) say(SAY_WARN, __VA_ARGS__, (const char *)NULL)

/* The words for an error number as other programs give them, ENOENT and the like; and in a sentence. */
const char *error_name(int error);

/* The known word that was most likely meant; NULL when none is. */
const char *nearest_word(struct span word, const char *const *known, size_t count);

#endif
