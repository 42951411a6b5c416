/* Structs of the contract as JSON, by a table of their fields, and the rates of two reports. Pure. */
#ifndef BB_FIELDJSON_H
#define BB_FIELDJSON_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../format/layout.gen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a value is written: a number; one of 64 bits that is left out beyond +-(2^53 - 1), and null in a list; one of 64
 * bits in quotes; text up to its first NUL; an id of 64 bits as 16 hexadecimal digits; an object; an address of 16
 * bytes, left out if they are zero. */
enum bb_json_what {
  BB_JSON_U8, BB_JSON_U16, BB_JSON_U32, BB_JSON_I16, BB_JSON_I32, BB_JSON_U64, BB_JSON_I64, BB_JSON_BIG_U64,
  BB_JSON_BIG_I64, BB_JSON_TEXT, BB_JSON_ID, BB_JSON_OBJECT, BB_JSON_ADDRESS, BB_JSON_KINDS
};

/* In place of a bit or an offset: there is none. */
#define BB_JSON_NONE UINT32_MAX

/* A field. All offsets are from the beginning of the struct that it is a field of, but for those that say otherwise. */
struct bb_json_row {
  uint32_t what; /* an enum bb_json_what */
  uint32_t at;
  uint32_t count;  /* of a text: its bytes; otherwise the elements of a list, 0: it is none */
  uint32_t stride; /* from one element to the next */
  uint32_t key, key_bytes; /* where in the text `,"name":` lies */
  uint32_t rows;   /* of objects: so many of the rows behind this one are its fields, and theirs */
  uint32_t used;   /* of lists: where in the whole struct a byte says how many elements are in use, or BB_JSON_NONE */
  uint32_t used_set; /* none are without this bit of the whole struct's `valid`, or BB_JSON_NONE */
  uint32_t set;    /* left out without this bit of the whole struct's `valid`, or BB_JSON_NONE */
  uint32_t unless_at, unless_bytes,
      unless; /* left out if the number there is `unless`; of so many bytes, 0 to 4, 0: never. Of a list of
                                             * objects each element is, and the offset is from its own beginning. */
};

struct bb_json_table {
  const struct bb_json_row *row;
  size_t rows;
  const char *text;
  size_t bytes;
  uint32_t valid_at; /* of `valid` in the whole struct, or BB_JSON_NONE */
};

/* Checks a table. What it reads of a struct, and the longest object that it makes; false: it is no table. */
bool bb_json_check(const struct bb_json_table *table, size_t *reads, size_t *most);

/* Writes the object of the struct that begins there, for which there must be room, with a checked table. The bytes, or
 * -1 if a text of it is more than printable ASCII without quotes and backslashes, or an address has no usual form: that
 * is left to others. */
long bb_json_print(char *to, const struct bb_json_table *table, const uint8_t *from);

/* The longest object of rates. */
#define BB_JSON_RATES_MOST 16384

/* Writes the object of the rates between two reports. The bytes; 0: there are none, because they are of two boots; -1
 * as above, if the name of an interface has no end, or if a rate is 10^12 or more. */
long bb_json_rates(char *to, const struct bb_report *before, const struct bb_report *after);

#ifdef __cplusplus
}
#endif
#endif
