/* A name service for tests, to be preloaded: the user `beoboard` is number 4321, `somebody` is 4322, nobody else
 * is there. */
#include <pwd.h>
#include <string.h>

int getpwnam_r(const char *name, struct passwd *entry, char *room, size_t size, struct passwd **result) {
  (void)room;
  (void)size;
  *result = NULL;
  if (strcmp(name, "beoboard") != 0 && strcmp(name, "somebody") != 0) return 0;
  memset(entry, 0, sizeof *entry);
  entry->pw_uid = strcmp(name, "beoboard") == 0 ? 4321 : 4322;
  *result = entry;
  return 0;
}
