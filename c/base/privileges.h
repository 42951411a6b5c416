/* Gives up what is not needed any more: the user, and system calls. */
#ifndef BB_PRIVILEGES_H
#define BB_PRIVILEGES_H
#include <sys/types.h>

#include "say.h"

struct user {
  uid_t uid;
  gid_t gid;
  char name[33]; /* empty: without one */
};

/* The ids of a user, by name or id; false with the reason in `fault`. */
bool find_user(const char *name, struct user *user, struct words *fault);
/* The name of a user, or the id. */
void add_user(struct words *words, uid_t uid);
/* Becomes that user permanently. */
bool become(const struct user *user, struct words *fault);
/* From now on no program that we run can gain privileges. */
void no_new_privileges(void);
/* Whether files of this user may tell us something: of root, of our own user, and of beoboard, whom readers trust with
 * the board itself. On a master the sender has a user of its own. */
bool is_trusted_writer(uid_t uid);
/* Finds out who beoboard is, in the machine's /etc/passwd; before threads begin, and before it may be out of reach. */
void find_beoboard(const char *passwd);
/* Makes the kernel refuse all system calls except those of a ready sender, and of a server with sockets that listen
 * already. */
bool confine(bool answers, struct words *fault);

#endif
