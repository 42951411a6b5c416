/* Repairs a board that a writer has left at any point because it was killed, or copies a board whose writer may
 * still be running. */
#ifndef BB_REPAIR_H
#define BB_REPAIR_H
#include "file.h"

/* Completes an interrupted insertion: an entry in the index that was not counted, or a count that is too low. False:
 * the file is corrupt. */
bool bb_repair_index(struct bb_mapped *b);

/* Repairs a record after a receiver was killed at any point. `now_ns`: CLOCK_MONOTONIC. */
void bb_repair(struct bb_mapped *b, uint32_t record, int64_t now_ns);

/* Numbers of links and events that occur only in a corrupt file are not trusted. */
void bb_repair_links(struct bb_mapped *b);

/* Copies the contents of a board into an empty one of the same layout, but for the length of its memory, while its
 * writer may still be running. Events are left out. */
void bb_copy_board(struct bb_mapped *to, const struct bb_mapped *from);

/* Copies a record but its name and its word: the blocks, each completely or not at all, and all else. */
void bb_copy_record(struct bb_mapped *to, uint32_t new, const struct bb_mapped *from, uint32_t old);

/* Claims the board that was found at the path and repairs it. In place only if it was written under the lock that we
 * hold, because then its writer is gone, and has our memory; otherwise in a copy, because the writer may be running or
 * its records are too short. Nothing: it could not be repaired, and is retired when another one replaces it. */
enum bb_found bb_claim_board(const struct bb_place *p, struct bb_mapped *b, struct bb_mapped *found, int64_t now_ns,
                             char *why, size_t size);

#endif
