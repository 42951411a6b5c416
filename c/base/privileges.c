#include "privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wholefile.h"

/* NAME:x:UID:GID:… Whether it is the wanted user, by name or id. */
static bool is_line_of(struct span line, struct span name, bool is_id, uint64_t id, struct user *user) {
  struct span left = line, login, password, uid, gid;
  uint64_t numbers[2];
  if (!next_part(&left, ':', &login) || !next_part(&left, ':', &password) || !next_part(&left, ':', &uid)) return false;
  if (!next_part(&left, ':', &gid) || !text_u64(uid, &numbers[0]) || !text_u64(gid, &numbers[1])) return false;
  if (is_id ? numbers[0] != id : !span_is(login, name)) return false;
  *user = (struct user){(uid_t)numbers[0], (gid_t)numbers[1], ""};
  if (login.len < sizeof user->name) memcpy(user->name, login.at, login.len);
  return true;
}

static const char own_users[] = "/etc/passwd";

/* Only in such a file: a static program cannot use directory services, and a daemon's user is a local one. */
static bool find_line(const char *passwd, struct span name, bool is_id, uint64_t id, struct user *user) {
  struct stat stats;
  bool found = false;
  const int fd = open_to_read(passwd, 0);
  if (fd == -1) return false;
  if (fstat(fd, &stats) == 0 && stats.st_size > 0) {
    const size_t size = (size_t)stats.st_size;
    void *text = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text != MAP_FAILED) {
      struct span left = {text, size}, line;
      while (!found && next_line(&left, &line)) found = is_line_of(line, name, is_id, id, user);
      munmap(text, size);
    }
  }
  close(fd);
  return found;
}

bool find_user(const char *name, struct user *user, struct words *fault) {
  const struct span text = span_of(name);
  uint64_t id = 0;
  const bool is_id = text_u64(text, &id) && id < UINT32_MAX;
  if (find_line(own_users, text, is_id, id, user)) return true;
  if (is_id) { /* as in containers, which may not have their users in it */
    *user = (struct user){(uid_t)id, (gid_t)id, ""};
    return true;
  }
  add_text(fault, "--user: there is no user ");
  add_quoted(fault, text);
  add_text(fault, " in /etc/passwd; name one that is there, or write an id");
  return false;
}

void add_user(struct words *words, uid_t uid) {
  struct user user;
  if (find_line(own_users, (struct span){NULL, 0}, true, uid, &user) && user.name[0] != 0) add_text(words, user.name);
  else add_number(words, uid);
}

static bool privileges_refuse(struct words *fault, const char *what) {
  const int error = errno;
  add_text(fault, what);
  add_text(fault, ": ");
  add_text(fault, error_name(error));
  return false;
}

/* First the groups: without root they cannot be changed. */
bool become(const struct user *user, struct words *fault) {
  const bool root = geteuid() == 0;
  if (!root && geteuid() == user->uid) return true;
  if (setgroups(0, NULL) != 0 || setresgid(user->gid, user->gid, user->gid) != 0 ||
      setresuid(user->uid, user->uid, user->uid) != 0)
    return privileges_refuse(fault, "--user: cannot become this user; start it as root");
  if (user->uid != 0 && setresuid(0, 0, 0) == 0) {
    add_text(fault, "--user: this user could become root again");
    return false;
  }
  /* The kernel clears this when the user changes, and then /proc/self belongs to root. */
  prctl(PR_SET_DUMPABLE, 0);
  return true;
}

void no_new_privileges(void) { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

static uid_t beoboard = (uid_t)-1; /* no file belongs to this one */

void find_beoboard(const char *passwd) {
  struct user user;
  if (find_line(passwd, SPAN("beoboard"), false, 0, &user)) beoboard = user.uid;
}

bool is_trusted_writer(uid_t uid) { return uid == 0 || uid == geteuid() || uid == beoboard; }

/* The kernel's number of the architecture; see linux/audit.h, which musl does not have. */
#if defined(__x86_64__)
#define OUR_ARCH 0xc000003eu
#elif defined(__aarch64__)
#define OUR_ARCH 0xc00000b7u
#elif defined(__riscv) && __riscv_xlen == 64
#define OUR_ARCH 0xc00000f3u
#elif defined(__powerpc64__)
#define OUR_ARCH 0xc0000015u
#endif

#ifdef OUR_ARCH
/* The system calls of the loop, the sources and the C library's resolver after the start; the frequent ones first.
 * No exec, no listening; calls that open files, send signals or make threads are restricted below. */
static const uint16_t allowed[] = {
  __NR_pread64, __NR_timerfd_settime, __NR_ppoll, __NR_rt_sigtimedwait, __NR_futex, __NR_sendto, __NR_close,
  __NR_fstat, __NR_read,
  __NR_setitimer, __NR_getrusage, __NR_adjtimex, __NR_getdents64, __NR_faccessat, __NR_statfs, __NR_newfstatat,
  __NR_write, __NR_readlinkat, __NR_clock_gettime, __NR_lseek, __NR_fstatfs, __NR_socket, __NR_connect,
  __NR_setsockopt, __NR_getsockopt, __NR_getsockname, __NR_getpeername, __NR_bind, __NR_recvfrom, __NR_recvmsg,
  __NR_sendmsg, __NR_ioctl, __NR_fcntl, __NR_readv, __NR_writev, __NR_mmap, __NR_munmap, __NR_mprotect, __NR_madvise,
  __NR_brk, __NR_inotify_add_watch, __NR_set_robust_list, __NR_set_tid_address, __NR_rt_sigprocmask, __NR_rt_sigaction,
  __NR_rt_sigreturn, __NR_sigaltstack,
  __NR_gettid, __NR_getpid, __NR_geteuid, __NR_uname, __NR_clock_nanosleep, __NR_nanosleep,
  __NR_clock_adjtime, __NR_gettimeofday, __NR_sched_yield, __NR_sched_getaffinity, __NR_restart_syscall, __NR_exit,
  __NR_exit_group,
#ifdef __NR_rseq
  __NR_rseq,
#endif
#ifdef __NR_faccessat2
  __NR_faccessat2,
#endif
#ifdef __NR_statx
  __NR_statx,
#endif
#ifdef __NR_open /* only older architectures have these */
  __NR_stat, __NR_lstat, __NR_access, __NR_readlink, __NR_poll, __NR_time,
#endif
};

enum { CALLS = sizeof allowed / sizeof allowed[0] };

/* From linux/filter.h and linux/seccomp.h: the kernel's interface, which never changes. */
struct instruction {
  uint16_t code;
  uint8_t if_true, if_false; /* how many instructions to skip */
  uint32_t value;
};
struct program {
  uint16_t length;
  const struct instruction *instructions;
};
enum { LOAD = 0x20, JUMP_IF_EQUAL = 0x15, JUMP_IF_ANY = 0x45, RETURN = 0x06 };
enum { OFFSET_OF_CALL = 0, OFFSET_OF_ARCH = 4, OFFSET_OF_ARGUMENTS = 16 }; /* of struct seccomp_data */
#define SET_MODE_FILTER 1
#define FOR_ALL_THREADS 1
#define KILL_PROCESS 0x80000000u
#define GIVE_ERROR 0x00050000u
#define ALLOW 0x7fff0000u

/* An error, and not the end of the process: a reading is lost, not the node. */
static const struct instruction refused = {RETURN, 0, 0, GIVE_ERROR | EPERM}, granted = {RETURN, 0, 0, ALLOW};

/* A call that is allowed if the low half of an argument has this value, or one of its bits, or none of them. */
enum must { EQUAL, ANY, NONE };
enum { CHECK = 5 };
static unsigned check(struct instruction *at, uint32_t call, unsigned argument, enum must must, uint32_t value) {
  at[0] = (struct instruction){JUMP_IF_EQUAL, 0, CHECK - 1, call};
  at[1] = (struct instruction){LOAD, 0, 0, OFFSET_OF_ARGUMENTS + 8 * argument};
  at[2] = (struct instruction){must == EQUAL ? JUMP_IF_EQUAL : JUMP_IF_ANY, must != NONE, must == NONE, value};
  at[3] = refused;
  at[4] = granted;
  return CHECK;
}

/* Flags of open: no file may be made or changed. */
#define CHANGES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

bool confine(bool answers, struct words *fault) {
  struct instruction filter[10 + 5 * CHECK + CALLS] = {
    {LOAD, 0, 0, OFFSET_OF_ARCH},
    {JUMP_IF_EQUAL, 1, 0, OUR_ARCH},
    {RETURN, 0, 0, KILL_PROCESS},
    {LOAD, 0, 0, OFFSET_OF_CALL},
  };
  unsigned at = 4;
  const uint32_t ours = (uint32_t)getpid();
  at += check(filter + at, __NR_openat, 2, NONE, CHANGES);
#ifdef __NR_open
  at += check(filter + at, __NR_open, 1, NONE, CHANGES);
#endif
  /* To ourselves; the thread that is notified when a name was looked up has the number of the process. */
  at += check(filter + at, __NR_tkill, 0, EQUAL, ours);
  at += check(filter + at, __NR_tgkill, 0, EQUAL, ours);
  /* Threads, but no processes. clone3, which passes its flags in memory, is not allowed: C libraries then use clone. */
  at += check(filter + at, __NR_clone, 0, ANY, CLONE_THREAD);
#ifdef __NR_clone3
  filter[at++] = (struct instruction){JUMP_IF_EQUAL, 0, 1, __NR_clone3};
  filter[at++] = (struct instruction){RETURN, 0, 0, GIVE_ERROR | ENOSYS};
#endif
  if (answers) {
    filter[at++] = (struct instruction){JUMP_IF_EQUAL, 0, 1, __NR_accept4};
    filter[at++] = granted;
  }
  for (unsigned i = 0; i < CALLS; i++)
    filter[at++] = (struct instruction){JUMP_IF_EQUAL, (uint8_t)(CALLS - i), 0, allowed[i]};
  filter[at++] = refused;
  filter[at++] = granted;
  const struct program program = {.length = (uint16_t)at, .instructions = filter};
  no_new_privileges();
  if (syscall(SYS_seccomp, SET_MODE_FILTER, FOR_ALL_THREADS, &program) == 0) return true;
  return privileges_refuse(fault, "--seccomp: the kernel takes no filter; leave it out");
}
#else
bool confine(bool answers, struct words *fault) {
  (void)answers;
  add_text(fault, "--seccomp: not known for this architecture; leave it out");
  return false;
}
#endif
