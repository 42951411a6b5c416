/* Gives up what is not needed any more: the user, and system calls. */
#ifndef BB_SENDER_PRIVILEGES_H
#define BB_SENDER_PRIVILEGES_H
#include <sys/types.h>

#include "say.h"

struct user {
  uid_t uid;
  gid_t gid;
};

/* Who somebody is, by name or id; false with the reason in `fault`. */
bool find_user(const char *name, struct user *user, struct words *fault);
/* Becomes that user for good. */
bool become(const struct user *user, struct words *fault);
/* From now on no program that is run can have more than we have. */
void no_new_privileges(void);
/* Lets the kernel refuse all system calls but those of a sender that is ready, and of one that answers: at sockets that listen already. */
bool confine(bool answers, struct words *fault);

#endif
