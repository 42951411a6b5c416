/* Files that others write for the sender; see "Files of others" in proto/stat-v1.md. Refuses what is not a regular
 * file, what anybody could have written except root, beoboard and the sender's own user, and what is larger than
 * 64 KiB. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../privileges.h"
#include "../world.h"
#include "source.h"

#define MOST_OF_OTHERS (64u << 10)

/* Why a file is not trusted; NULL if it is. */
static const char *objection(const struct stat *stats) {
  if (!S_ISREG(stats->st_mode)) return "it is not a regular file";
  if (!is_trusted_writer(stats->st_uid)) return "it belongs neither to root nor to beoboard or the user of the sender";
  if ((stats->st_mode & 022) != 0) return "others may write it; chmod go-w it";
  if (stats->st_size > (off_t)MOST_OF_OTHERS) return "it is larger than 65536 bytes";
  return NULL;
}

static enum others refuse(struct reading *now, const char *why) {
  complain(now, now->path, " is ignored: ", why, (char *)NULL);
  return OTHERS_BAD;
}

static enum others failed(struct reading *now, int error) {
  return error == ENOENT || error == ENOTDIR ? OTHERS_ABSENT : refuse(now, error_name(error));
}

static double age_of(const char *name, const struct stat *stats) {
  if (pretence.on) {
    for (unsigned i = 0; i < pretence.ages; i++)
      if (strcmp(pretence.age[i].name, name + 1) == 0) return (double)pretence.age[i].seconds;
    return 0;
  }
  const double written = (double)stats->st_mtim.tv_sec + (double)stats->st_mtim.tv_nsec / 1e9;
  return (double)clock_ns(CLOCK_REALTIME) / 1e9 - written;
}

static enum others take(struct reading *now, int fd, others_parser *parser, void *into) {
  struct stat stats;
  if (fstat(fd, &stats) != 0) return failed(now, errno);
  const char *why = objection(&stats);
  if (why != NULL) return refuse(now, why);
  /* One byte more than allowed, so that a file that grew meanwhile is distinguished from one that just fits. */
  size_t length = 0;
  const int error = read_whole(fd, FILE_IN_LINES, 4096, now->text, MOST_OF_OTHERS + 1, &length);
  if (error == TOO_LARGE) return refuse(now, "it is larger than 65536 bytes");
  if (error != 0) return failed(now, error);
  return parser((struct span){now->text, length}, into) ? OTHERS_GOOD : refuse(now, "its format is wrong");
}

enum others read_others(struct reading *now, const char *name, others_parser *parser, void *into, unsigned most_s,
                        double *age_s) {
  struct stat stats;
  path_begin(now, now->world->run, name);
  /* The age is read first: if the file is replaced meanwhile, it is taken for older than it is, never for younger. */
  const bool has_age = stat(now->path, &stats) == 0;
  if (!has_age && (errno == ENOENT || errno == ENOTDIR)) return OTHERS_ABSENT;
  const double age = has_age ? age_of(name, &stats) : 0;
  const int fd = openat(AT_FDCWD, now->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd == -1) return failed(now, errno);
  const enum others taken = take(now, fd, parser, into);
  close(fd);
  if (taken != OTHERS_GOOD) return taken;
  if (!has_age) return OTHERS_BAD;
  if (most_s > 0 && (age > most_s || age < -(double)most_s))
    return refuse(now, most_s == 10 ? "it is not of the last 10 s" : "it is not of the last 60 s");
  if (age_s != NULL) *age_s = age;
  return OTHERS_GOOD;
}

bool others_exist(struct reading *now, const char *name) {
  struct stat stats;
  path_begin(now, now->world->run, name);
  if (stat(now->path, &stats) != 0) {
    failed(now, errno);
    return false;
  }
  const char *why = objection(&stats);
  if (why != NULL) refuse(now, why);
  return why == NULL;
}
