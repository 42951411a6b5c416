/* Files that others write for the sender; see "Files of others" in proto/stat-v1.md. Refuses what is not a regular
 * file, what anybody could have written except root, beoboard and the sender's own user, and what is larger than
 * 64 KiB. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/privileges.h"
#include "source.h"

#define MOST_OF_EXTERNAL_FILE (64u << 10)

#define TOO_LARGE_TEXT "it is larger than 65536 bytes"

/* Why a file is not trusted; NULL if it is. */
static const char *objection(const struct stat *stats) {
  if (!S_ISREG(stats->st_mode)) return "it is not a regular file";
  if (!is_trusted_writer(stats->st_uid)) return "it belongs neither to root nor to beoboard or the user of the sender";
  if ((stats->st_mode & 022) != 0) return "others may write it; chmod go-w it";
  return NULL;
}

static bool means_none(int error) { return error == ENOENT || error == ENOTDIR; }

static bool is_large(const struct stat *stats) { return stats->st_size > (off_t)MOST_OF_EXTERNAL_FILE; }

void refuse_external_file(struct reading *now, const char *why) {
  complain(now, now->path, " is ignored: ", why, (char *)NULL);
}

double age_here(const char *name, const struct timespec *written) {
  (void)name;
  return (double)bb_clock_ns(CLOCK_REALTIME) / 1e9 - ((double)written->tv_sec + (double)written->tv_nsec / 1e9);
}

static enum external read_external_fd(struct reading *now, int fd, external_parser *parser, void *into,
                                      const char **why) {
  struct stat stats;
  const bool is_known = fstat(fd, &stats) == 0;
  *why = is_known ? objection(&stats) : error_name(errno);
  if (*why != NULL) return EXTERNAL_BAD;
  if (is_large(&stats)) {
    *why = TOO_LARGE_TEXT;
    return EXTERNAL_BROKEN;
  }
  /* One byte more than allowed, so that a file that grew meanwhile is distinguished from one that just fits. */
  size_t length = 0;
  const int error = read_whole(fd, FILE_IN_LINES, 4096, now->text, MOST_OF_EXTERNAL_FILE + 1, &length);
  *why = error == TOO_LARGE ? TOO_LARGE_TEXT : error != 0 ? error_name(error) : "its format is wrong";
  return error == 0 && parser((struct span){now->text, length}, into) ? EXTERNAL_GOOD : EXTERNAL_BROKEN;
}

enum external look_at_external_file(struct reading *now, const char *name, external_parser *parser, void *into,
                                    double *age_s, const char **why) {
  struct stat stats;
  path_begin(now, now->world->run, name);
  if (stat(now->path, &stats) != 0) {
    *why = error_name(errno);
    return means_none(errno) ? EXTERNAL_ABSENT : EXTERNAL_BAD;
  }
  /* The age is read first: if the file is replaced meanwhile, it is taken for older than it is, never for younger. */
  *age_s = now->world->age_s(name + 1, &stats.st_mtim);
  *why = objection(&stats);
  if (*why != NULL) return EXTERNAL_BAD;
  const int fd = open_to_read(now->path, 0);
  if (fd == -1) {
    *why = error_name(errno);
    return means_none(errno) ? EXTERNAL_ABSENT : EXTERNAL_BROKEN;
  }
  const enum external found = read_external_fd(now, fd, parser, into, why);
  close(fd);
  return found;
}

enum external read_external_file(struct reading *now, const char *name, external_parser *parser, void *into,
                                 unsigned most_s) {
  const char *why;
  double age_s;
  const enum external found = look_at_external_file(now, name, parser, into, &age_s, &why);
  if (found == EXTERNAL_ABSENT) return found;
  if (found != EXTERNAL_GOOD) refuse_external_file(now, why);
  else if (age_s > most_s || age_s < -(double)most_s)
    refuse_external_file(now,
                  most_s == 10 ? "it was not written within the last 10 s" : "it was not written within the last 60 s");
  else return EXTERNAL_GOOD;
  return EXTERNAL_BAD;
}

bool has_external_file(struct reading *now, const char *name) {
  struct stat stats;
  path_begin(now, now->world->run, name);
  const bool is_there = stat(now->path, &stats) == 0;
  if (!is_there && means_none(errno)) return false;
  const char *why = is_there ? objection(&stats) : error_name(errno);
  if (why == NULL && is_large(&stats)) why = TOO_LARGE_TEXT;
  if (why != NULL) refuse_external_file(now, why);
  return why == NULL;
}
