/* Reads the names in a folder without allocating, which opendir would. */
#ifndef BB_FOLDER_H
#define BB_FOLDER_H
#include "text.h"

/* A folder being read; the buffer is the caller's, aligned for 64-bit numbers. */
struct folder {
  int fd;
  char *buffer;
  size_t room, at, len;
};

/* 0, or an error number. */
int folder_open(struct folder *folder, const char *path, char *buffer, size_t room);
/* The next name but `.` and `..`, with a NUL behind it; false at the end, and when it cannot be read on. */
bool folder_next(struct folder *folder, struct span *name);
void folder_close(struct folder *folder);

#endif
