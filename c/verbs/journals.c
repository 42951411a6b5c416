#include "journals.h"

#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "../base/folder.h"
#include "../base/hostfold.h"
#include "../base/naming.h"
#include "../base/wholefile.h"
#include "../judge/liveness.h"
#include "journalstate.h"
#include "remarks.h"
#include "telling.h"
#include "wording.gen.h"

#define JOURNAL_USER "beoboard-journal"
/* A journal that is late by more than this has stopped. */
#define PATIENCE_MS 15000u
/* A state has a few hundred bytes. */
#define MOST_BYTES 65536u
/* Characters of an error that are shown. */
#define LONGEST_ERROR 200
#define ENDING ".json"

/* Whether we believe what that user left. */
static bool is_believed(uid_t uid) {
  if (uid == 0 || uid == geteuid()) return true;
  const struct passwd *user = getpwnam(JOURNAL_USER);
  return user != NULL && user->pw_uid == uid;
}

/* The file, in memory that is kept; false: nobody believes it, or it cannot be read. */
static bool read_believed(const char *path, char **text, size_t *length) {
  struct stat stats;
  const int fd = open_to_read(path, O_NOFOLLOW);
  if (fd == -1) return false;
  const bool is_fit = fstat(fd, &stats) == 0 && S_ISREG(stats.st_mode) && stats.st_size <= MOST_BYTES &&
    (stats.st_mode & 022) == 0 && is_believed(stats.st_uid);
  if (is_fit) *text = (char *)keep(MOST_BYTES + 1, 1);
  const bool is_read = is_fit && read_whole(fd, 0, MOST_BYTES, *text, MOST_BYTES + 1, length) == 0;
  close(fd);
  return is_read;
}

/* Whether both are the path of one file. */
static bool is_same(const char *board, struct span other) {
  char *path = (char *)keep(other.len + 1, 1);
  memcpy(path, other.at, other.len);
  if (strlen(path) != other.len) return false;
  char *mine = realpath(board, NULL), *its = realpath(path, NULL);
  const bool same = mine != NULL && its != NULL && strcmp(mine, its) == 0;
  free(mine);
  free(its);
  return same;
}

static const char *shortened_error(struct span error) {
  struct words words = long_words();
  add_shortened(&words, error, LONGEST_ERROR, add_one_line);
  return text_of(&words);
}

static bool add_journal(struct words *words, const struct census *c, const char *name, const struct journal_state *s) {
  const uint64_t now = (uint64_t)c->look.now_ns / NS_PER_MS, real = (uint64_t)c->look.real_ns / NS_PER_MS;
  /* One that wrote in the future wrote before this machine was booted; a moment ahead, after the board was read. */
  const bool has_stopped = s->mono > now + PATIENCE_MS || s->next + PATIENCE_MS < now;
  if (!has_stopped && s->error.at == NULL) return false;
  const uint64_t since = has_stopped ? s->time : s->error_since;
  const char *moment = text_moment(&c->look, real > since ? (real - since) * NS_PER_MS : 0);
  add_text(words, "; ");
  if (has_stopped) ADD(words, SAY_JOURNAL_STOPPED(moment, name));
  else ADD(words, SAY_JOURNAL_UNWRITTEN(moment, shortened_error(s->error), text_number(s->dropped)));
  return true;
}

/* The name of a journal is made of what names are, and begins with a letter or digit. */
static bool is_state_file(struct span file) {
  if (!ends(file, SPAN(ENDING)) || file.len == sizeof ENDING - 1) return false;
  for (size_t i = 0; i < file.len; i++)
    if (!is_of_names(file.at[i])) return false;
  return is_letter(file.at[0]) || is_digit(file.at[0]);
}

static const char *kept_text(struct span text) {
  char *copy = (char *)keep(text.len + 1, 1);
  return (const char *)memcpy(copy, text.at, text.len);
}

bool add_journals(struct words *words, const struct census *c, const char *folder_path) {
  /* More than anybody has journals. */
  enum { MOST_FILES = 256 };
  const char **names = (const char **)keep(MOST_FILES, sizeof *names);
  size_t count = 0;
  uint64_t buffer[512];
  struct folder folder;
  struct span file;
  if (folder_open(&folder, folder_path, (char *)buffer, sizeof buffer) != 0) return false;
  while (count < MOST_FILES && folder_next(&folder, &file))
    if (is_state_file(file)) names[count++] = kept_text(file);
  folder_close(&folder);
  if (!sort_names(names, count)) give_up_memory();
  bool any = false;
  for (size_t i = 0; i < count; i++) {
    struct words path = long_words();
    ADD(&path, folder_path, "/", names[i]);
    char *text;
    size_t length;
    struct journal_state state;
    if (!read_believed(text_of(&path), &text, &length) || !journal_state_read(text, length, &state)) continue;
    if (!is_same(c->query->board == NULL ? BEOBOARD_PATH : c->query->board, state.board)) continue;
    const char *name = kept_text((struct span){names[i], strlen(names[i]) - (sizeof ENDING - 1)});
    any = add_journal(words, c, name, &state) || any;
  }
  return any;
}
