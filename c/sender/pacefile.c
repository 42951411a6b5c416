#include "pacefile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/kernelfile.h"
#include "../base/optionvalues.h"
#include "../base/privileges.h"

#define MOST_PACE_BYTES 4096u
#define LEAST_FOR_MS 1000u
#define MOST_FOR_MS (UINT64_C(31) * 24 * 3600000)
#define MS_NS 1000000

/* Dates beyond 2262, in ns. */
__extension__ typedef __int128 bb_signed;

/* What identifies a state of the file. All zero: there is none. */
struct sign {
  uint64_t device, inode, size;
  int64_t changed[4];
};

static char file[MOST_PATH + 1]; /* empty: none. A copy, because the memory of options is reused by the next parse. */
static uint32_t least_ms, most_ms;
static struct sign seen;
static bool unread; /* read it whatever its state is */
static uint32_t held_ms; /* 0: it is not in force */
static uint64_t until_boot_ns;

void pace_change(const struct options *options) {
  const char *named = options->pace_file != NULL ? options->pace_file : "";
  unread |= strcmp(named, file) != 0 || options->pace_min_ms != least_ms || options->pace_max_ms != most_ms;
  memcpy(file, named, strlen(named) + 1);
  least_ms = options->pace_min_ms;
  most_ms = options->pace_max_ms;
}

static struct sign sign_of(const struct stat *stats) {
  return (struct sign){
    .device = stats->st_dev,
    .inode = stats->st_ino,
    .size = (uint64_t)stats->st_size,
    .changed = {stats->st_mtim.tv_sec, stats->st_mtim.tv_nsec, stats->st_ctim.tv_sec, stats->st_ctim.tv_nsec},
  };
}

static bool is_gap(char c) { return c == ' ' || c == '\t'; }

/* The next word of a line, separated by blanks and tabs; empty at its end. */
static struct span pace_word(struct span *line) {
  while (line->len > 0 && is_gap(line->at[0])) *line = without(*line, 1);
  size_t length = 0;
  while (length < line->len && !is_gap(line->at[length])) length++;
  const struct span word = {line->at, length};
  *line = without(*line, length);
  return word;
}

static bool is_duration(struct span word, uint64_t *ms) {
  char reason[256]; /* only whether there is one matters */
  struct words why = WORDS(reason);
  return parse_duration(word, ms, &why);
}

/* One line `interval TIME for TIME`; others are empty or begin with #. */
static bool parse_pace(struct span text, uint64_t *interval_ms, uint64_t *for_ms) {
  unsigned lines = 0;
  bool good = true;
  struct span line;
  for (struct span left = text; good && next_part(&left, '\n', &line);) {
    struct span rest = line;
    const struct span first = pace_word(&rest);
    if (begins(line, SPAN("#")) || first.len == 0) continue;
    good = ++lines == 1 && span_is(first, SPAN("interval")) && is_duration(pace_word(&rest), interval_ms) &&
           span_is(pace_word(&rest), SPAN("for")) && is_duration(pace_word(&rest), for_ms) && pace_word(&rest).len == 0;
  }
  return good && lines == 1 && *for_ms >= LEAST_FOR_MS && *for_ms <= MOST_FOR_MS;
}

static bool pace_refuse(struct words *why, const char *what) {
  add_text(why, what);
  return false;
}

/* Reads the open file, and judges it; its time is in `stats`. False with the reason in `why`. */
static bool read_pace(int fd, struct stat *stats, uint64_t *interval_ms, uint64_t *for_ms, struct words *why) {
  char text[MOST_PACE_BYTES + 1];
  if (fstat(fd, stats) != 0) return pace_refuse(why, "cannot be read");
  seen = sign_of(stats); /* another file may have replaced it since */
  if (!S_ISREG(stats->st_mode)) return pace_refuse(why, "is not a regular file");
  if (!is_trusted_writer(stats->st_uid)) {
    add_text(why, "belongs to user ");
    add_number(why, stats->st_uid);
    return pace_refuse(why, ", who is neither root nor beoboard nor the sender's own");
  }
  if ((stats->st_mode & 022) != 0) return pace_refuse(why, "can be written by others");
  size_t length;
  const int error = read_whole(fd, FILE_IN_LINES, sizeof text, text, sizeof text, &length);
  if (error == TOO_LARGE) return pace_refuse(why, "is larger than 4096 bytes");
  if (error != 0) {
    add_text(why, "cannot be read: ");
    return pace_refuse(why, error_name(error));
  }
  if (!parse_pace((struct span){text, length}, interval_ms, for_ms))
    return pace_refuse(why, "does not read as 'interval TIME for TIME'");
  if (*interval_ms >= least_ms && *interval_ms <= most_ms) return true;
  add_text(why, "wants an interval of ");
  add_duration(why, *interval_ms);
  add_text(why, ", which is not within ");
  add_duration(why, least_ms);
  add_text(why, " and ");
  add_duration(why, most_ms);
  return false;
}

/* Uses a file that has changed. */
static void pace_accept(const struct stat *found, struct clocks now) {
  char reason[200], line[900];
  struct words why = WORDS(reason), told = WORDS(line);
  uint64_t interval_ms = 0, for_ms = 0;
  bool good = false;
  if (S_ISLNK(found->st_mode)) {
    add_text(&why, "is a link");
  } else if (!S_ISREG(found->st_mode)) {
    add_text(&why, "is not a regular file");
  } else {
    /* Refuses to follow a link, or to open a FIFO, that was put there meanwhile. */
    const int fd = open_to_read(file, O_NOFOLLOW);
    if (fd == -1 && errno == ENOENT) return; /* the next check finds that */
    struct stat stats = *found;
    if (fd == -1) {
      add_text(&why, "cannot be read: ");
      add_text(&why, error_name(errno));
    } else {
      good = read_pace(fd, &stats, &interval_ms, &for_ms, &why);
      close(fd);
    }
    if (good) {
      /* The time counts from when the file was written, so that a sender that is started meanwhile continues it;
       * wall clocks may be off. */
      const bb_signed written_ns = (bb_signed)stats.st_mtim.tv_sec * 1000 * MS_NS + stats.st_mtim.tv_nsec;
      const bb_signed since_ms = ((bb_signed)now.real_ns - written_ns) / MS_NS;
      const uint64_t rest_ms = since_ms <= 0 ? for_ms : since_ms >= (bb_signed)for_ms ? 0 : for_ms - (uint64_t)since_ms;
      if (rest_ms == 0) return;
      held_ms = (uint32_t)interval_ms;
      until_boot_ns = now.boot_ns + rest_ms * MS_NS;
      add_text(&told, "pace: reports every ");
      add_duration(&told, interval_ms);
      add_text(&told, " for ");
      add_duration(&told, rest_ms);
      add_text(&told, " (");
      add_one_line(&told, span_of(file));
      add_text(&told, ")");
      say(SAY_INFO, text_of(&told), (char *)NULL);
      return;
    }
  }
  add_text(&told, "pace: ");
  add_one_line(&told, span_of(file));
  add_text(&told, " ");
  add_text(&told, text_of(&why));
  tell(text_of(&told), "; ignored");
}

/* We may not look into a folder of the path: for us there is no file. */
static void look_at_file(struct clocks now) {
  struct stat stats;
  const bool is_there = lstat(file, &stats) == 0;
  const struct sign sign = is_there ? sign_of(&stats) : (struct sign){0};
  if (!unread && memcmp(&sign, &seen, sizeof sign) == 0) return;
  unread = false;
  seen = sign;
  held_ms = 0;
  if (is_there) pace_accept(&stats, now);
}

uint32_t pace_look(struct clocks now, uint32_t own_ms) {
  const bool held = held_ms != 0;
  if (file[0] == 0) held_ms = 0;
  else look_at_file(now);
  if (now.boot_ns >= until_boot_ns) held_ms = 0;
  if (held && held_ms == 0) {
    char text[32];
    struct words words = WORDS(text);
    add_duration(&words, own_ms);
    say(SAY_INFO, "pace: over; reports every ", text_of(&words), " again", (char *)NULL);
  }
  return held_ms != 0 ? held_ms : own_ms;
}
