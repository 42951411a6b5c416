// Included before every file of a shared object that is packaged (-include): it then runs with older C libraries than the one it was
// built with, from glibc 2.28 on (EL 8, Debian 10). What moved between libraries since, or got a new version without meaning anything
// else, is asked for under its old one. scripts/package.mjs reads the symbols of what was built and refuses what needs more.
#ifndef BEOBOARD_FLOOR_H
#define BEOBOARD_FLOOR_H
#include <sys/stat.h>

// The first version of all that the C library had when this processor came to it, and what it then called its struct stat.
#if defined(__x86_64__)
#define FLOOR_FIRST "GLIBC_2.2.5"
#define FLOOR_AT "GLIBC_2.4"
#define FLOOR_STAT 1
#elif defined(__aarch64__)
#define FLOOR_FIRST "GLIBC_2.17"
#define FLOOR_AT "GLIBC_2.17"
#define FLOOR_STAT 0
#else
#error "packages are for x86_64 and aarch64"
#endif

// In libpthread before 2.34; Node.js loads that.
__asm__(".symver pthread_create,pthread_create@" FLOOR_FIRST);
__asm__(".symver pthread_join,pthread_join@" FLOOR_FIRST);
__asm__(".symver pthread_once,pthread_once@" FLOOR_FIRST);
__asm__(".symver pthread_sigmask,pthread_sigmask@" FLOOR_FIRST);

// Before 2.33 these were functions of each program that called the ones below.
#ifdef __cplusplus
extern "C" {
#endif
int floor_fxstat(int, int, struct stat *);
int floor_lxstat(int, const char *, struct stat *);
int floor_fxstatat(int, int, const char *, struct stat *, int);
#ifdef __cplusplus
}
#endif
__asm__(".symver floor_fxstat,__fxstat@" FLOOR_FIRST);
__asm__(".symver floor_lxstat,__lxstat@" FLOOR_FIRST);
__asm__(".symver floor_fxstatat,__fxstatat@" FLOOR_AT);
#define fstat(file, into) floor_fxstat(FLOOR_STAT, (file), (into))
#define lstat(path, into) floor_lxstat(FLOOR_STAT, (path), (into))
#define fstatat(folder, path, into, flags) floor_fxstatat(FLOOR_STAT, (folder), (path), (into), (flags))

#endif
