// A file system that hangs when it is told to, mounted over a folder while a command runs. It shows the files of
// another folder, read-only and all of this moment, and speaks to the kernel itself: tests need no library for it.
//   hangfs MOUNTPOINT FOLDER CONTROL COMMAND [ARG...]
// The command takes this process over, so that it keeps its pid and its pipes; run it in a mount namespace of its own.
// CONTROL is a FIFO that the test holds open. `l`, `o` and `r` in it: from now on let look-ups, opens or reads hang;
// `g`: answer all that waits, and go on; its end: leave, which fails what waits. What hangs here is in the hands of
// this program already, so that the kernel lets nobody out before it answers, not even by SIGKILL: as a dead disk does.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_NODES = 1024, MOST_WAITING = 256, MOST_REQUEST = 1 << 17, MOST_ANSWER = 1 << 16 };

static int device, folder;
/* Paths below the folder; node N + 1 is nodes[N], and the first is the folder itself. Never forgotten: it lives
 * short. */
static char *nodes[MOST_NODES] = {"."};
static unsigned used = 1;
/** Requests that hang. */
static char *waiting[MOST_WAITING];
static unsigned waits;
static uint32_t hanging;

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "hangfs: %s: %s\n", what, strerror(errno));
  exit(125);
}

/** Where an answer is made; one at a time. */
static _Alignas(8) char data[MOST_ANSWER];

static const char *path_of(uint64_t node) { return node >= 1 && node <= used ? nodes[node - 1] : "/nowhere"; }

static uint64_t node_of(const char *path) {
  for (unsigned i = 0; i < used; i++)
    if (strcmp(nodes[i], path) == 0) return i + 1;
  if (used == MOST_NODES) return 0;
  nodes[used] = strdup(path);
  return ++used;
}

/** The times are those of now: a helper that writes its file all the time. Nothing of it is kept by the kernel. */
static int attributes(uint64_t node, struct fuse_attr *attr) {
  struct stat is;
  if (fstatat(folder, path_of(node), &is, AT_SYMLINK_NOFOLLOW) == -1) return -errno;
  uint64_t now = (uint64_t)time(NULL);
  *attr = (struct fuse_attr){.ino = node,
                             .size = (uint64_t)is.st_size,
                             .atime = now,
                             .mtime = now,
                             .ctime = now,
                             .mode = is.st_mode,
                             .nlink = 1,
                             .blksize = 4096};
  return 0;
}

static int look_up(uint64_t node, const char *name, struct fuse_entry_out *out) {
  char path[4096];
  struct stat is;
  snprintf(path, sizeof path, "%s/%s", path_of(node), name);
  if (fstatat(folder, path, &is, AT_SYMLINK_NOFOLLOW) == -1) return -errno;
  out->nodeid = node_of(path);
  return out->nodeid == 0 ? -ENOMEM : attributes(out->nodeid, &out->attr);
}

static int read_file(uint64_t node, const struct fuse_read_in *ask) {
  int fd = openat(folder, path_of(node), O_RDONLY | O_CLOEXEC);
  if (fd == -1) return -errno;
  ssize_t got = pread(fd, data, ask->size < sizeof data ? ask->size : sizeof data, (off_t)ask->offset);
  int error = -errno;
  close(fd);
  return got == -1 ? error : (int)got;
}

/** As many of the names from number `offset` on as there is room for. */
static int read_folder(uint64_t node, const struct fuse_read_in *ask) {
  size_t length = 0, most = ask->size < sizeof data ? ask->size : sizeof data;
  int fd = openat(folder, path_of(node), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd == -1 ? NULL : fdopendir(fd);
  if (dir == NULL) return -errno;
  uint64_t number = 0;
  for (struct dirent *found; (found = readdir(dir)) != NULL; number++) {
    if (number < ask->offset) continue;
    size_t name = strlen(found->d_name), whole = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + name);
    if (length + whole > most) break;
    struct fuse_dirent entry = {found->d_ino, number + 1, (uint32_t)name, found->d_type};
    memset(data + length, 0, whole);
    memcpy(data + length, &entry, FUSE_NAME_OFFSET);
    memcpy(data + length + FUSE_NAME_OFFSET, found->d_name, name);
    length += whole;
  }
  closedir(dir);
  return (int)length;
}

/** Makes the answer to a request: its bytes, or minus the error. */
static int work_on(const struct fuse_in_header *in, const void *more) {
  memset(data, 0, 256); // larger than any of these
  switch (in->opcode) {
  case FUSE_INIT:
    *(struct fuse_init_out *)data =
        (struct fuse_init_out){.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION, .max_write = 4096};
    return sizeof(struct fuse_init_out);
  case FUSE_LOOKUP: {
    int error = look_up(in->nodeid, more, (struct fuse_entry_out *)data);
    return error < 0 ? error : (int)sizeof(struct fuse_entry_out);
  }
  case FUSE_GETATTR: {
    int error = attributes(in->nodeid, &((struct fuse_attr_out *)data)->attr);
    return error < 0 ? error : (int)sizeof(struct fuse_attr_out);
  }
  case FUSE_OPEN:
    ((struct fuse_open_out *)data)->open_flags = FOPEN_DIRECT_IO;
    return sizeof(struct fuse_open_out);
  case FUSE_OPENDIR:
    return sizeof(struct fuse_open_out);
  case FUSE_READ:
    return read_file(in->nodeid, more);
  case FUSE_READDIR:
    return read_folder(in->nodeid, more);
  case FUSE_ACCESS:
  case FUSE_FLUSH:
  case FUSE_RELEASE:
  case FUSE_RELEASEDIR:
    return 0;
  default:
    return -ENOSYS;
  }
}

static void attend(const char *request) {
  const struct fuse_in_header *in = (const void *)request;
  // These want no answer. Interrupted: somebody was killed; what it waits for is no sooner there.
  if (in->opcode == FUSE_FORGET || in->opcode == FUSE_BATCH_FORGET || in->opcode == FUSE_INTERRUPT) return;
  int done = work_on(in, request + sizeof *in);
  size_t bytes = done > 0 ? (size_t)done : 0;
  struct fuse_out_header out = {
      .len = (uint32_t)(sizeof out + bytes), .error = done < 0 ? done : 0, .unique = in->unique};
  struct iovec parts[] = {{&out, sizeof out}, {data, bytes}};
  // ENOENT: whoever asked was interrupted before we read the request.
  if (writev(device, parts, bytes > 0 ? 2 : 1) == -1 && errno != ENOENT) _exit(1);
}

/** Reads the next request, and answers it or keeps it. */
static void serve_one(void) {
  static _Alignas(8) char request[MOST_REQUEST];
  ssize_t got = read(device, request, sizeof request - 1);
  if (got == -1 && (errno == EINTR || errno == EAGAIN || errno == ENOENT)) return;
  if (got < (ssize_t)sizeof(struct fuse_in_header)) _exit(0); // unmounted
  request[got] = '\0';
  if (hanging == 0 || ((struct fuse_in_header *)request)->opcode != hanging) {
    attend(request);
    return;
  }
  if (waits == MOST_WAITING) _exit(1);
  waiting[waits] = malloc((size_t)got + 1);
  if (waiting[waits] == NULL) _exit(1);
  memcpy(waiting[waits++], request, (size_t)got + 1);
}

static void obey(char word) {
  hanging = word == 'l' ? FUSE_LOOKUP : word == 'o' ? FUSE_OPEN : word == 'r' ? FUSE_READ : 0;
  if (hanging != 0) return;
  for (unsigned i = 0; i < waits; i++) {
    attend(waiting[i]);
    free(waiting[i]);
  }
  waits = 0;
}

static _Noreturn void serve(int control) {
  for (;;) {
    struct pollfd ready[] = {{device, POLLIN, 0}, {control, POLLIN, 0}};
    if (poll(ready, 2, -1) == -1 && errno != EINTR) _exit(1);
    // Words first: the test knows that what comes after them is under them.
    char word;
    if (ready[1].revents != 0) {
      if (read(control, &word, 1) <= 0) _exit(0);
      obey(word);
    } else if (ready[0].revents != 0) {
      serve_one();
    }
  }
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: hangfs MOUNTPOINT FOLDER CONTROL COMMAND [ARG...]\n");
    return 2;
  }
  folder = open(argv[2], O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder == -1) fail(argv[2]);
  int control = open(argv[3], O_RDONLY | O_CLOEXEC);
  if (control == -1) fail(argv[3]);
  device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (device == -1) fail("/dev/fuse");
  char options[64];
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
  if (mount("hangfs", argv[1], "fuse.hangfs", MS_NOSUID | MS_NODEV | MS_RDONLY, options) == -1) fail(argv[1]);
  // A grandchild serves, so that the command has no child that it does not know.
  pid_t child = fork();
  if (child == -1) fail("fork");
  if (child == 0) {
    if (fork() != 0) _exit(0);
    setsid();
    // It must not hold open what tells others that the command has ended.
    for (int fd = 0; fd < 1024; fd++)
      if (fd != device && fd != folder && fd != control) close(fd);
    serve(control);
  }
  waitpid(child, NULL, 0);
  execvp(argv[4], argv + 4);
  fail(argv[4]);
}
