/* What a source of the slow side is, and how one reading of it is put together. Refuses to know any source, and to keep time:
 * what could not be read is left out, and the first complaint is kept for whoever tells. */
#ifndef BB_SENDER_SOURCE_H
#define BB_SENDER_SOURCE_H
#include "../collect.h"
#include "../kernelfile.h"
#include "../pretend.h"
#include "../say.h"

/* Where the slow side looks. */
struct slow_world {
  const char *proc, *sys;
  const char *run;     /* of the files that others write for us: /run/beoboard */
  const char *etc;     /* of os-release: /etc */
  const char *scratch; /* the local scratch: /tmp */
};

#define READING_TEXT (65u << 10) /* others' files have up to 64 KiB */
#define READING_MEMORY (192u << 10)
#define READING_PATH 1024u
#define REAL_PATH 4096u

/* One reading under way, and the memory for it. The large arrays cost memory only where they are used. */
struct reading {
  const struct slow_world *world;
  uint64_t sets;  /* that were really measured */
  uint32_t flags; /* of the source's, that are on */
  /* for fast sets; see struct details */
  struct speeds speeds;
  unsigned mhz_groups, temp_groups;
  uint64_t mhz[MOST_GROUPS];
  int16_t temp_dc[MOST_GROUPS];
  struct bb_report fields; /* only those of `sets` count */
  size_t used;             /* of `memory` */
  size_t complaint;        /* length; 0: nothing to complain of */
  char trouble[1024];
  size_t path_len;
  char path[READING_PATH];
  _Alignas(8) char text[READING_TEXT];
  _Alignas(4096) char memory[READING_MEMORY];
};

/* The sources, as the contract has them in bb_slow_sources, whose rows say how often each is read and which bytes of a report are its own. */
#define SOURCES BB_SLOW_COUNT
#define DECLARE(name) void slow_##name(struct reading *now);
BB_SLOW_EACH(DECLARE)
#undef DECLARE

/* Opens what only root may, before that is given up. */
void open_energy(struct reading *now);

/* Begins a reading anew, in the same memory. */
void reading_begin(struct reading *now, const struct slow_world *world);

/* Only the first complaint is kept: the others mostly follow from it. */
void complain(struct reading *now, const char *first, ...) __attribute__((sentinel));

/* The path that is being looked at: begun, then grown and cut as one goes down and up. */
void path_begin(struct reading *now, const char *root, const char *leaf);
size_t path_add(struct reading *now, struct span leaf);   /* gives how long it was */
size_t path_text(struct reading *now, const char *leaf);  /* likewise */
size_t path_number(struct reading *now, uint64_t number); /* likewise */
static inline void path_cut(struct reading *now, size_t length) {
  now->path_len = length;
  now->path[length] = 0;
}
bool path_exists(struct reading *now);

/* How a file is read: what is to be complained of. */
enum how { QUIETLY, MAYBE, PARSE };

/* The text at the path; it lives up to the next reading of a file or folder. */
bool take_text(struct reading *now, enum how how, struct span *text);
/* Says that it is not understood; always false. */
bool not_understood(struct reading *now, enum how how);
/* The number on the only line; without its line end it was cut. */
bool take_count(struct reading *now, enum how how, uint64_t *count);
bool take_integer(struct reading *now, enum how how, int64_t *integer);
/* Likewise of a leaf below the path. */
bool leaf_text(struct reading *now, const char *leaf, enum how how, struct span *text);
bool leaf_count(struct reading *now, const char *leaf, enum how how, uint64_t *count);
bool leaf_integer(struct reading *now, const char *leaf, enum how how, int64_t *integer);

bool parse_count(struct span text, uint64_t *count);
bool parse_integer(struct span text, int64_t *integer);

/* Some of the reading's memory, up to its end or until it is given back; NULL when there is no more. */
void *take_memory(struct reading *now, size_t bytes);

/* Names in the folder at the path, those with numbers in them in the order of these. */
struct names {
  const char *memory;
  const uint32_t *places; /* of the names in it */
  size_t before;          /* what was used of the memory, to give it back */
  unsigned count;
};

typedef bool name_filter(struct span name);

struct names take_names(struct reading *now, name_filter *filter);
struct span name_at(const struct names *names, unsigned i);
void drop_names(struct reading *now, const struct names *names);
/* Only how many there are. */
unsigned count_names(struct reading *now, name_filter *filter);
/* Whether a name is these letters, a number, and these letters. */
bool is_numbered(struct span name, struct span prefix, struct span suffix);

/* What others tell, see others.c. */
enum others { OTHERS_ABSENT, OTHERS_BAD, OTHERS_GOOD };
typedef bool others_parser(struct span text, void *into);
/* Seconds that a file may be old, or dated ahead; 0: any. */
enum others read_others(struct reading *now, const char *name, others_parser *parser, void *into, unsigned most_s,
                        double *age_s);
/* Whether there is such a file, to be trusted; what is in it, and whether we may read that, is no matter. */
bool others_exist(struct reading *now, const char *name);

/* Sensor chips, see hwmon.c. */
/* The chip hwmonN whose folder is the path: goes to where its readings are and gives its name; false when it has none, or is a
 * drive's: reading an NVMe's or a disk's temperature stalls its queue, for seconds. */
bool enter_chip(struct reading *now, char name[65]);
bool is_hwmon(struct span name);
bool parse_temperature(struct span text, int16_t *tenths);
bool parse_power(struct span text, uint64_t *watts);

/* The packages of the node, as the entries `group` have them; read again only when CPUs came or went. To be given back, for
 * other sources want them too; NULL where they do not tell, or hang in somebody's hands. */
const struct topology *take_packages(struct reading *now);
void give_packages(void);

/* Where the path leads without symbolic links; false when it leads nowhere. */
bool resolve(struct reading *now, const char *path, char into[REAL_PATH]);
bool ask_file_system(struct reading *now, const char *path, struct file_system *fs);

/* CRC-32 as zip and Ethernet have it; begins with 0. */
uint32_t crc32(uint32_t so_far, struct span text);

#endif
