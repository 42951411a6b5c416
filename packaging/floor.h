// Included before every file of a packaged shared object (-include), so that it also runs with older C libraries than
// the one it was built with, from glibc 2.28 on (EL 8, Debian 10). Symbols that have moved to another library since
// then, or have a new version with the same meaning, are requested in their old version. scripts/package.mjs reads the
// symbols of the result and rejects newer ones.
#ifndef BEOBOARD_FLOOR_H
#define BEOBOARD_FLOOR_H
#include <sys/stat.h>
#ifdef __cplusplus
#include <exception>
#endif

// The version of the first glibc for this processor, those of __fxstatat and of C99's scanf, and the number of its struct
// stat.
#if defined(__x86_64__)
#define FLOOR_FIRST "GLIBC_2.2.5"
#define FLOOR_AT "GLIBC_2.4"
#define FLOOR_SCAN "GLIBC_2.7"
#define FLOOR_STAT 1
#elif defined(__aarch64__)
#define FLOOR_FIRST "GLIBC_2.17"
#define FLOOR_AT "GLIBC_2.17"
#define FLOOR_SCAN "GLIBC_2.17"
#define FLOOR_STAT 0
#else
#error "packages are for x86_64 and aarch64"
#endif

// Before 2.34 these were in libpthread, which Node.js loads.
__asm__(".symver pthread_create,pthread_create@" FLOOR_FIRST);
__asm__(".symver pthread_join,pthread_join@" FLOOR_FIRST);
__asm__(".symver pthread_once,pthread_once@" FLOOR_FIRST);
__asm__(".symver pthread_sigmask,pthread_sigmask@" FLOOR_FIRST);

// Since 2.38 what reads numbers has a second name, under which it also takes C23's 0b101. Nobody sends us such.
__asm__(".symver __isoc23_strtol,strtol@" FLOOR_FIRST);
__asm__(".symver __isoc23_strtoll,strtoll@" FLOOR_FIRST);
__asm__(".symver __isoc23_strtoul,strtoul@" FLOOR_FIRST);
__asm__(".symver __isoc23_strtoull,strtoull@" FLOOR_FIRST);
__asm__(".symver __isoc23_sscanf,__isoc99_sscanf@" FLOOR_SCAN);

// Before 2.33 fstat, lstat and fstatat were linked into each program, and called the functions below.
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
#ifdef __cplusplus
// GCC 14 ends a program by it where noexcept forbids to go on; libstdc++ has it since then. GCC knows the name itself.
[[noreturn]] void floor_terminate(void *) noexcept __asm__("__cxa_call_terminate");
[[noreturn]] __attribute__((weak, visibility("hidden"))) void floor_terminate(void *) noexcept { std::terminate(); }
#endif
#define fstat(file, into) floor_fxstat(FLOOR_STAT, (file), (into))
#define lstat(path, into) floor_lxstat(FLOOR_STAT, (path), (into))
#define fstatat(folder, path, into, flags) floor_fxstatat(FLOOR_STAT, (folder), (path), (into), (flags))

#endif
