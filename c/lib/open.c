/* Opens, follows and closes a board: the only calls that allocate or enter the kernel. ../board/reader.c checks a
 * board; this file decides whom to trust, and how to report what was found. */
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#define NOBODY ((uid_t)-1)
#define OPENINGS 3

static uid_t user_by_name(const char *name) {
  struct passwd entry, *user = NULL;
  char room[16384];
  return getpwnam_r(name, &entry, room, sizeof room, &user) == 0 && user != NULL ? user->pw_uid : NOBODY;
}

/* A user by name or number; NOBODY if there is none. */
static uid_t user_by_text(const char *text) {
  if (strspn(text, "0123456789") != strlen(text) || *text == 0) return user_by_name(text);
  const unsigned long long id = strlen(text) <= 10 ? strtoull(text, NULL, 10) : ULLONG_MAX;
  return id < NOBODY ? (uid_t)id : NOBODY;
}

/* Maps the file at the path. User names are not resolved here: a name service may allocate, and take time. */
static int map_path(const beoboard *b, struct bb_board *board) {
  for (int attempt = 0; attempt < OPENINGS; attempt++) {
    struct stat st;
    if (lstat(b->path, &st) != 0) return errno == ENOTDIR ? -ENOENT : -errno;
    if (S_ISLNK(st.st_mode)) return -ELOOP;
    if (!S_ISREG(st.st_mode)) return -EBADMSG;
    if (st.st_uid != 0 && st.st_uid != geteuid() &&
        (st.st_uid == NOBODY || (st.st_uid != b->named && st.st_uid != b->user)))
      return -EPERM;
    if ((st.st_mode & 022) != 0) return -EPERM; /* whoever can write it can put anything into it in its owner's name */
    /* bb_board_open() asks all of this again of the file that it has opened. It calls every system call's error
     * foreign, and leaves errno as that call did. */
    char why[256];
    errno = 0;
    switch (bb_board_open(board, b->path, st.st_uid, why, sizeof why)) {
      case BB_READY:
        close(board->fd);
        board->fd = -1;
        return 0;
      case BB_ABSENT: return -ENOENT;
      case BB_STARTING: return -EAGAIN;
      case BB_FOREIGN: return errno != 0 ? -errno : -EBADMSG;
      case BB_TRUNCATED: return -EUCLEAN;
      case BB_RETIRED: break; /* it was marked after its successor was at the path: look there again */
    }
  }
  return -ESTALE;
}

/* An absolute path, for when the program changes its directory later. NULL: no memory, or no directory; see errno. */
static beoboard *make_handle(const char *path) {
  char here[PATH_MAX] = "";
  if (path[0] != '/' && path[0] != 0 && getcwd(here, sizeof here) == NULL) return NULL;
  const size_t length = strlen(here);
  beoboard *b = (beoboard *)calloc(1, sizeof *b + length + 1 + strlen(path) + 1);
  if (b == NULL) return NULL;
  memcpy(b->path, here, length);
  if (length > 0) b->path[length] = '/';
  strcpy(b->path + length + (length > 0), path);
  return b;
}

static int open_owner(beoboard **out, const char *path, const char *owner) {
  beoboard *b = make_handle(path);
  if (b == NULL) return -errno;
  if (owner == NULL) {
    owner = secure_getenv("BEOBOARD_OWNER");
    if (owner != NULL && *owner == 0) owner = NULL;
  }
  b->named = owner == NULL ? NOBODY : user_by_text(owner);
  b->user = user_by_name("beoboard");
  const int fault = owner != NULL && b->named == NOBODY ? -EINVAL : map_path(b, &b->board);
  if (fault < 0) free(b);
  else *out = b;
  return fault;
}

int beoboard_open_owner(beoboard **out, const char *path, const char *owner, uint32_t flags) {
  if (out == NULL) return -EINVAL;
  *out = NULL;
  if (flags != 0) return -EINVAL;
  const int error = errno;
  const int result = open_owner(out, path != NULL ? path : BEOBOARD_PATH, owner);
  errno = error;
  return result;
}

int beoboard_open(beoboard **out, const char *path, uint32_t flags) {
  return beoboard_open_owner(out, path, NULL, flags);
}

/* Puts zeros in the place of a board: an access beyond the end of its file would be SIGBUS. A heartbeat of 0 means
 * stalled. */
static void blank(struct bb_board *board) {
  mmap((void *)board->map, board->bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  board->device = 0;
  board->inode = 0;
}

static int refresh(beoboard *b) {
  struct bb_board *board = &b->board;
  struct stat st;
  if (lstat(b->path, &st) == 0 && st.st_dev == board->device && st.st_ino == board->inode) {
    if ((uint64_t)st.st_size < board->header.file_bytes) {
      blank(board);
      return -EUCLEAN;
    }
    /* Acquire: it was marked after its successor was at the path, where we look next. */
    if ((bb_load_acquire(&header_of(&b->board)->state) & BB_BOARD_STATE_RETIRED) == 0) return 0;
  }
  struct bb_board next;
  const int fault = map_path(b, &next);
  if (fault < 0) return fault;
  bb_board_close(board);
  *board = next;
  return 1;
}

int beoboard_refresh(beoboard *b) {
  if (b == NULL) return -EINVAL;
  const int error = errno;
  const int result = refresh(b);
  errno = error;
  return result;
}

void beoboard_close(beoboard *b) {
  if (b == NULL) return;
  const int error = errno;
  bb_board_close(&b->board);
  free(b);
  errno = error;
}
