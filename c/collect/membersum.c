#include "membersum.h"

void sum_begin(struct member_sum *sum) {
  sum->is_whole = true;
  sum->is_full = sum->is_doubtful = false;
  sum->free = 0;
  for (unsigned i = 0; i < sum->used; i++) sum->members[i].is_met = false;
}

/* A place for a new member; NULL: there is none left. */
static struct member *free_place(struct member_sum *sum) {
  while (sum->free < sum->used && sum->members[sum->free].id != 0) sum->free++;
  if (sum->free == sum->room) return NULL;
  if (sum->free == sum->used) sum->members[sum->used++].id = 0;
  return &sum->members[sum->free];
}

static struct member *find(struct member_sum *sum, uint64_t id) {
  for (unsigned i = 0; i < sum->used; i++)
    if (sum->members[i].id == id && !sum->members[i].is_met) return &sum->members[i];
  return NULL;
}

/* The member whose owner keeps its place. */
static struct member *find_at(struct member_sum *sum, uint32_t place, uint64_t id) {
  struct member *member = place > 0 ? &sum->members[place - 1] : NULL;
  return member != NULL && member->id == id && !member->is_met ? member : NULL;
}

/* What a count grew by; false: it went back and does not wrap. */
static bool grown(bb_wide from, bb_wide to, uint64_t modulo, bb_wide *by) {
  if (modulo == 0) {
    *by = to - from;
    return to >= from;
  }
  *by = to >= from ? to - from : from <= modulo ? modulo - from + to : modulo;
  return true;
}

void sum_read(struct member_sum *sum, uint32_t *place, uint64_t id, const bb_wide *count, const uint64_t *modulo) {
  bb_wide by[SUM_COUNTS];
  struct member *member = place == NULL ? find(sum, id) : find_at(sum, *place, id);
  bool is_same = member != NULL;
  if (member == NULL) member = free_place(sum);
  if (member == NULL) {
    sum->is_full = true;
    return;
  }
  for (unsigned i = 0; i < sum->counts && is_same; i++)
    is_same = grown(member->count[i], count[i], modulo == NULL ? 0 : modulo[i], &by[i]);
  for (unsigned i = 0; i < sum->counts && is_same && modulo != NULL; i++)
    sum->is_doubtful |= modulo[i] > 0 && by[i] * 2 >= modulo[i];
  for (unsigned i = 0; i < sum->counts; i++) {
    if (!sum->has_begun) sum->sum[i] += count[i];
    else if (is_same && (modulo == NULL || modulo[i] == 0 || by[i] * 2 < modulo[i])) sum->sum[i] += by[i];
    member->count[i] = count[i];
  }
  member->id = id;
  member->is_met = true;
  member->unread_ms = 0;
  if (place != NULL) *place = (uint32_t)(member - sum->members) + 1;
}

void sum_unread(struct member_sum *sum, uint64_t id, uint64_t now_ms) {
  struct member *member = find(sum, id);
  if (member == NULL) return; /* it never was in the sum */
  if (member->unread_ms == 0) member->unread_ms = now_ms;
  if (now_ms - member->unread_ms >= UNREAD_MS) return;
  sum->is_whole = false;
  member->is_met = true;
}

bool sum_end(struct member_sum *sum) {
  for (unsigned i = 0; i < sum->used; i++) {
    struct member *member = &sum->members[i];
    sum->has_begun |= member->is_met;
    /* One that has gone is remembered as long as there is room. */
    if (!member->is_met && (!sum->is_tally || sum->used == sum->room)) member->id = 0;
  }
  return sum->is_whole && !sum->is_full;
}

void sum_renew(struct member_sum *sum) {
  for (unsigned i = 0; i < sum->used; i++) sum->members[i].id = 0;
}

void sum_restart(struct member_sum *sum) {
  sum_renew(sum);
  memset(sum->sum, 0, sizeof sum->sum);
  sum->has_begun = false;
}
