/* Tests of rc11.h: the litmus tests that every text on weak memory has, with the verdicts of RC11.
 * Tells what is judged wrongly; exits with 0 when nothing is. */
#include <stdio.h>

#include "rc11.h"

/* x=1 stores, x:1 is a load that gives 1, F is a fence; then the order: none is relaxed, a acquire, r release, p no
 * atomic. | ends a thread. */
static const struct classic {
  const char *name, *events;
  enum rc11_verdict c11, c20;
} classics[] = {
#define SAME(verdict) verdict, verdict
    /* coherence: one word alone */
    {"CoRR", "x=1 x=2 | x:2 x:1", SAME(RC11_FORBIDDEN)},
    {"CoRR_initial", "x=1 | x:1 x:0", SAME(RC11_FORBIDDEN)},
    {"CoWR", "x=1 x:0", SAME(RC11_FORBIDDEN)},
    {"CoRW", "x:1 x=1", SAME(RC11_FORBIDDEN)},
    {"CoRW_two", "x:2 x=1 | x=2", SAME(RC11_FORBIDDEN)},
    {"CoWW", "x=2 x=1", SAME(RC11_FORBIDDEN)},
    /* message passing, with every way to order it and without */
    {"MP", "x=1 y=1 | y:1 x:0", SAME(RC11_ALLOWED)},
    {"MP_ra", "x=1 y=1r | y:1a x:0", SAME(RC11_FORBIDDEN)},
    {"MP_r", "x=1 y=1r | y:1 x:0", SAME(RC11_ALLOWED)},
    {"MP_a", "x=1 y=1 | y:1a x:0", SAME(RC11_ALLOWED)},
    {"MP_fences", "x=1 Fr y=1 | y:1 Fa x:0", SAME(RC11_FORBIDDEN)},
    {"MP_r_fence", "x=1 y=1r | y:1 Fa x:0", SAME(RC11_FORBIDDEN)},
    {"MP_fence_a", "x=1 Fr y=1 | y:1a x:0", SAME(RC11_FORBIDDEN)},
    {"MP_fence", "x=1 Fr y=1 | y:1 x:0", SAME(RC11_ALLOWED)},
    {"MP_fence_late", "x=1 y=1 Fr | y:1 Fa x:0", SAME(RC11_ALLOWED)},
    {"MP_fence_early", "x=1 Fr y=1 | Fa y:1 x:0", SAME(RC11_ALLOWED)},
    {"MP_fresh", "x=1 y=1r | y:1a x:1", SAME(RC11_ALLOWED)},
    /* a release sequence: the store that is read is not the release */
    {"MP_sequence", "x=1 y=1r y=2 | y:2a x:0", RC11_FORBIDDEN, RC11_ALLOWED},
    {"MP_sequence_fence", "x=1 Fr y=1 y=2 | y:2a x:0", SAME(RC11_FORBIDDEN)},
    {"MP_other_word", "x=1 z=1r y=1 | y:1a x:0", SAME(RC11_ALLOWED)},
    /* store and load buffering: release and acquire do not forbid the one, RC11 always forbids the other */
    {"SB", "x=1 y:0 | y=1 x:0", SAME(RC11_ALLOWED)},
    {"SB_ra", "x=1r y:0a | y=1r x:0a", SAME(RC11_ALLOWED)},
    {"LB", "x:1 y=1 | y:1 x=1", SAME(RC11_FORBIDDEN)},
    /* two writers */
    {"S", "x=2 y=1 | y:1 x=1", SAME(RC11_ALLOWED)},
    {"S_ra", "x=2 y=1r | y:1a x=1", SAME(RC11_FORBIDDEN)},
    {"R_ra", "x=1 y=1r | y=2r x:0a", SAME(RC11_ALLOWED)},
    {"two_plus_two", "x=1r y=2r | y=1r x=2r", SAME(RC11_ALLOWED)},
    /* three and four threads */
    {"WRC", "x=1 | x:1 y=1 | y:1 x:0", SAME(RC11_ALLOWED)},
    {"WRC_ra", "x=1 | x:1 y=1r | y:1a x:0", SAME(RC11_FORBIDDEN)},
    {"ISA2_ra", "x=1 y=1r | y:1a z=1r | z:1a x:0", SAME(RC11_FORBIDDEN)},
    {"ISA2_r", "x=1 y=1r | y:1 z=1r | z:1a x:0", SAME(RC11_ALLOWED)},
    {"IRIW_ra", "x=1r | y=1r | x:1a y:0a | y:1a x:0a", SAME(RC11_ALLOWED)},
    /* a sequence lock (Boehm: Can Seqlocks Get Along with Programming Language Memory Models?, MSPC 2012): s odd,
     * fence, words, s even; and readers that see one new word between two equal numbers */
    {"seqlock", "s=1 Fr x=1 y=1 s=2r | s:0a x:1 y:0 Fa s:0", SAME(RC11_FORBIDDEN)},
    {"seqlock_after", "s=1 Fr x=1 y=1 s=2r | s:2a x:1 y:0 Fa s:2", SAME(RC11_FORBIDDEN)},
    {"seqlock_no_fence", "s=1 x=1 y=1 s=2r | s:0a x:1 y:0 Fa s:0", SAME(RC11_ALLOWED)},
    {"seqlock_no_reader_fence", "s=1 Fr x=1 y=1 s=2r | s:0a x:1 y:0 s:0a", SAME(RC11_ALLOWED)},
    /* what is no atomic must not race */
    {"MP_plain", "x=1p y=1r | y:1a x:1p", SAME(RC11_ALLOWED)},
    {"MP_plain_old", "x=1p y=1r | y:1a x:0p", SAME(RC11_FORBIDDEN)},
    {"MP_plain_race", "x=1p y=1 | y:1 x:1p", SAME(RC11_RACE)},
    {"MP_plain_unseen", "x=1p y=1r | y:0a x:0", SAME(RC11_RACE)},
};

static int parse(const char *text, struct rc11_event *events) {
  int count = 0, thread = 0;
  for (; *text != 0; text += *text == ' ') {
    if (*text == '|') {
      thread++;
      text++;
      continue;
    }
    struct rc11_event e = {.thread = thread, .what = RC11_FENCE, .order = __ATOMIC_RELAXED};
    const char word = *text++;
    if (word != 'F') {
      e.what = *text == '=' ? RC11_STORE : RC11_LOAD;
      e.word = word - 's';
      e.value = text[1] - '0';
      text += 2;
    }
    if (*text != ' ' && *text != 0) {
      e.order = *text == 'a' ? __ATOMIC_ACQUIRE : *text == 'r' ? __ATOMIC_RELEASE : RC11_PLAIN;
      text++;
    }
    events[count++] = e;
  }
  return count;
}

int main(void) {
  int wrong = 0;
  for (size_t i = 0; i < sizeof classics / sizeof classics[0]; i++) {
    static const char *const names[] = {"allowed", "forbidden", "a race"};
    const struct classic *c = &classics[i];
    struct rc11_event events[RC11_MOST];
    const int count = parse(c->events, events);
    const enum rc11_verdict c11 = rc11_judge(events, count, RC11_C11), c20 = rc11_judge(events, count, RC11_C20);
    if (c11 == c->c11 && c20 == c->c20) continue;
    printf("%s: %s and %s, not %s and %s\n", c->name, names[c11], names[c20], names[c->c11], names[c->c20]);
    wrong++;
  }
  printf("%zu executions, %d judged wrongly\n", sizeof classics / sizeof classics[0], wrong);
  return wrong == 0 ? 0 : 1;
}
