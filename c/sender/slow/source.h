/* The definition of a slow source, and how one reading of it is put together. Knows no source, and does not
 * schedule: what could not be read is left out, and the first complaint is kept for the log. */
#ifndef BB_SOURCE_H
#define BB_SOURCE_H
#include "../../base/kernelfile.h"
#include "../../base/say.h"
#include "../../collect/collect.h"
#include "../../collect/world.h"

#define REAL_PATH 4096u
/* Where a container may have the root of its machine. */
#define MOST_ROOT 256u

struct file_system {
  bb_wide total, available; /* bytes; available for an ordinary user */
  uint64_t inodes, inodes_free;
};

/* The roots of the slow side, and what it asks beside the files below them. */
struct slow_world {
  const char *proc, *sys;
  const char *process; /* below proc, whose mounts and cgroups count: /self; around a container /1 */
  const char *root;    /* before the path of a file system: empty; in a container where it has the machine's */
  const char *run;     /* of the files that others write for us: /run/beoboard */
  const char *etc;     /* of os-release: /etc */
  const char *scratch; /* the local scratch: /tmp */
  uint64_t health_most_ms; /* an older ok in the health file is a warning; 0: it never is */
  /* statvfs */
  bool (*file_system)(const struct slow_world *world, const char *path, struct file_system *fs);
  /* The age of a file in `run`, written then. */
  double (*age_s)(const char *name, const struct timespec *written);
  /* The path with links resolved; false if it leads nowhere. */
  bool (*real_path)(const struct slow_world *world, const char *path, char into[REAL_PATH]);
};

/* The same of this machine. */
bool file_system_here(const struct slow_world *world, const char *path, struct file_system *fs);
double age_here(const char *name, const struct timespec *written);
bool real_path_here(const struct slow_world *world, const char *path, char into[REAL_PATH]);

#define READING_TEXT (65u << 10) /* others' files have up to 64 KiB */
#define READING_MEMORY (192u << 10)
#define READING_PATH 1024u

/* One reading in progress, and its memory. The large arrays cost memory only where they are used. */
struct reading {
  const struct slow_world *world;
  uint64_t sets;  /* the sets that were really measured */
  uint32_t flags; /* the flags of the source that are set */
  bool partial;   /* a folder had more names than there is room for: nothing of it counts */
  bool busy;      /* another source had the packages: this one must be asked again */
  /* There is nothing for it to read, or what it has read does not change without a notice: it need not be asked in the
   * next rounds. */
  bool rests;
  double age_s; /* of the health file */
  /* for fast sets; see struct details */
  struct speeds speeds;
  unsigned mhz_groups, temp_groups;
  uint64_t mhz[MOST_GROUPS];
  int16_t temp_dc[MOST_GROUPS];
  struct bb_report fields; /* only fields of `sets` count */
  size_t used;             /* of `memory` */
  size_t complaint;        /* its length; 0: there is no complaint */
  char trouble[1024];
  size_t path_len;
  char path[READING_PATH];
  _Alignas(8) char text[READING_TEXT];
  _Alignas(8) char memory[READING_MEMORY];
};

/* The sources in the order of bb_slow_sources, whose rows say how often each is read and which bytes of a report
 * belong to it. */
#define SOURCES BB_SLOW_COUNT
#define DECLARE(name) void slow_##name(struct reading *now);
BB_SLOW_EACH(DECLARE)
#undef DECLARE

/* Opens what only root may open, before privileges are given up. */
void open_energy(struct reading *now);

/* Begins another reading in the same memory. */
void reading_begin(struct reading *now, const struct slow_world *world);

/* Only the first complaint is kept: the others mostly follow from it. */
void complain(struct reading *now, const char *first, ...) __attribute__((sentinel));

/* The time since boot. */
uint64_t now_ms(void);
/* Ends the round of a sum; complains of more members than BB_MOST_MEMBERS. False: it is not known. */
bool end_members(struct reading *now, struct member_sum *sum, const char *what);

/* Complains that there are more than a sender takes; always returns false. */
bool too_many(struct reading *now, unsigned most, const char *what);

/* The path that is being looked at: begun, then extended and cut when moving down and up. */
void path_begin(struct reading *now, const char *root, const char *leaf);
size_t path_add(struct reading *now, struct span leaf);   /* returns its length before */
size_t path_text(struct reading *now, const char *leaf);  /* likewise */
size_t path_number(struct reading *now, uint64_t number); /* likewise */
static inline void path_cut(struct reading *now, size_t length) {
  now->path_len = length;
  now->path[length] = 0;
}
bool path_exists(struct reading *now);

/* How a file is read: what to complain about. */
enum how { QUIETLY, MAYBE, PARSE };

/* The text at the path; it is valid until the next reading of a file or folder. */
bool read_text(struct reading *now, enum how how, struct span *text);
/* Complains that it cannot be read, because of that error; that it is invalid. Both always return false. */
bool cannot_read(struct reading *now, int error, size_t most);
bool not_understood(struct reading *now, enum how how);
/* The number on the only line; without its line end it was cut. */
bool read_count(struct reading *now, enum how how, uint64_t *count);
/* The same for a file below the path. */
bool leaf_text(struct reading *now, const char *leaf, enum how how, struct span *text);
bool leaf_count(struct reading *now, const char *leaf, enum how how, uint64_t *count);

bool parse_count(struct span text, uint64_t *count);
bool parse_integer(struct span text, int64_t *integer);

/* Some of the reading's memory, until its end or until it is given back; NULL if there is no more. */
void *allocate_memory(struct reading *now, size_t bytes);

/* Names in the folder at the path, sorted by their numbers. */
struct names {
  const char *memory;
  const uint32_t *places; /* of the names in it */
  size_t before;          /* the used part of the memory, to give it back */
  unsigned count;
};

typedef bool name_filter(struct span name);

struct names list_names(struct reading *now, name_filter *filter);
/* Those below which there is something of this name, as in `/device`. */
struct names list_names_with(struct reading *now, name_filter *filter, const char *leaf);
struct span name_at(const struct names *names, unsigned i);
void drop_names(struct reading *now, const struct names *names);
/* Only their number. */
unsigned count_names(struct reading *now, name_filter *filter);
/* Whether a name is these letters, a number, and these letters. */
bool is_numbered(struct span name, struct span prefix, struct span suffix);

/* Files of others, see externalfile.c. BAD: not to be trusted; BROKEN: to be trusted, but unreadable or not
 * understood. */
enum external { EXTERNAL_ABSENT, EXTERNAL_BAD, EXTERNAL_BROKEN, EXTERNAL_GOOD };
typedef bool external_parser(struct span text, void *into);
/* Looks at the file and does not complain: `why` it is neither absent nor good. The age is known of one to be
 * trusted. */
enum external look_at_external_file(struct reading *now, const char *name, external_parser *parser, void *into,
                                    double *age_s, const char **why);
void refuse_external_file(struct reading *now, const char *why);
/* The same for a file of a maximum age in seconds, also of a date in the future; BAD, with a complaint, if anything is
 * wrong with it. */
enum external read_external_file(struct reading *now, const char *name, external_parser *parser, void *into,
                                 unsigned most_s);
/* Whether a trusted file exists; its contents, and whether we may read it, do not matter. */
bool has_external_file(struct reading *now, const char *name);

/* Sensor chips, see hwmon.c. */
/* The chip hwmonN in the folder at the path: moves to its readings and returns its name; false if it has none, or
 * belongs to a drive: reading the temperature of an NVMe drive or a disk stalls its queue for seconds. */
bool enter_chip(struct reading *now, char name[65]);
bool is_hwmon(struct span name);
bool parse_temperature(struct span text, int16_t *tenths);
bool parse_power(struct span text, uint64_t *watts);

/* The packages of the node, as the entries `group`; read again only when CPUs are added or removed. `how` is about the
 * list of these. To be given back, because other sources need them too; NULL if they are unknown, or another source
 * holds them, and may hang: then this reading is `busy`. */
const struct topology *lock_packages(struct reading *now, enum how how);
void unlock_packages(void);

bool ask_file_system(struct reading *now, const char *path, struct file_system *fs);
/* Whether what the machine has mounted there is there for us: a container may not get what is mounted after its start,
 * and would take the file system below for it. That is no harm where both are one, as in a bind mount. `device`: as in
 * mountinfo, where a few file systems have another number than stat tells. */
bool sees_mount(const struct slow_world *world, const char *point, struct span device);

/* CRC-32 as in zip and Ethernet; begins with 0. */
uint32_t crc32(uint32_t so_far, struct span text);

#endif
