#include "resolve.h"

#include <netdb.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define STACK_BYTES (128u << 10) /* the resolver of the C library keeps whole answers there */
#define GUARD_BYTES (64u << 10)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_STACK 0
#else
#define OWN_STACK 1
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t asked;
static struct lookup *questions[MOST_DESTINATIONS]; /* a ring: each destination has at most one question */
static unsigned first, count;
static pthread_t asker;
static int answer_signal;
static bool started;
#if OWN_STACK
static char *stack;
#endif

/* Not getaddrinfo, which allocates memory. */
static const char *look_up(const char *host, int family, void *address, size_t size) {
  static char buffer[4096] LARGE;
  struct hostent entry, *found = NULL;
  int error = 0;
  if (gethostbyname2_r(host, family, &entry, buffer, sizeof buffer, &found, &error) == 0 && found != NULL &&
      found->h_addr_list[0] != NULL) {
    memcpy(address, found->h_addr_list[0], size);
    return NULL;
  }
  return error == TRY_AGAIN ? "cannot be looked up: the name service does not answer"
    : "is not known to the name service";
}

static void resolve_answer(struct lookup *question) {
  struct answer told = {.count = 0};
  const char *problem4 = look_up(question->host, AF_INET, &told.v4, sizeof told.v4);
  const char *problem6 = look_up(question->host, AF_INET6, &told.v6, sizeof told.v6);
  /* Local IPv6 addresses come after IPv4 ones, other IPv6 addresses before them (RFC 6724). */
  const bool v4_first = problem6 != NULL || (told.v6.s6_addr[0] & 0xfe) == 0xfc;
  if (problem4 == NULL && v4_first) told.family[told.count++] = AF_INET;
  if (problem6 == NULL) told.family[told.count++] = AF_INET6;
  if (problem4 == NULL && !v4_first) told.family[told.count++] = AF_INET;
  told.problem = told.count == 0 ? problem4 : NULL;
  pthread_mutex_lock(&lock);
  question->answer = told;
  question->state = LOOKUP_ANSWERED;
  pthread_mutex_unlock(&lock);
  pthread_kill(asker, answer_signal);
}

static void *resolve(void *unused) {
  (void)unused;
  for (;;) {
    while (sem_wait(&asked) != 0) continue; /* EINTR */
    pthread_mutex_lock(&lock);
    struct lookup *question = count > 0 ? questions[first] : NULL;
    if (question != NULL) {
      first = (first + 1) % MOST_DESTINATIONS;
      count--;
      question->state = LOOKUP_RUNNING;
    }
    pthread_mutex_unlock(&lock);
    if (question == NULL) continue;
    resolve_answer(question);
  }
  return NULL;
}

bool resolver_open(int signal) {
  asker = pthread_self();
  answer_signal = signal;
  if (sem_init(&asked, 0, 0) != 0) return false;
#if OWN_STACK
  void *memory = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  mprotect(memory, GUARD_BYTES, PROT_NONE);
  stack = (char *)memory + GUARD_BYTES;
#endif
  return true;
}

/* The thread starts with the first name: without names there is none. */
static void start(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
#if OWN_STACK
  pthread_attr_setstack(&attributes, stack, STACK_BYTES);
#endif
  started = pthread_create(&thread, &attributes, resolve, NULL) == 0;
  pthread_attr_destroy(&attributes);
}

/* If no thread can be made now, it may be possible later: each question tries again. */
void lookup_ask(struct lookup *lookup, const char *host) {
  if (!started) start();
  pthread_mutex_lock(&lock);
  if (lookup->state == LOOKUP_IDLE) {
    struct words words = WORDS(lookup->host);
    add_text(&words, host);
    text_of(&words);
    if (started) {
      lookup->state = LOOKUP_ASKED;
      questions[(first + count++) % MOST_DESTINATIONS] = lookup;
      sem_post(&asked);
    } else {
      lookup->state = LOOKUP_ANSWERED;
      lookup->answer = (struct answer){.problem = "cannot be looked up: there can be no thread for that"};
      pthread_kill(asker, answer_signal);
    }
  }
  pthread_mutex_unlock(&lock);
}

bool lookup_receive(struct lookup *lookup, struct answer *told) {
  pthread_mutex_lock(&lock);
  const bool is_answered = lookup->state == LOOKUP_ANSWERED;
  if (is_answered) {
    *told = lookup->answer;
    lookup->state = LOOKUP_IDLE;
  }
  pthread_mutex_unlock(&lock);
  return is_answered;
}

bool lookup_withdraw(struct lookup *lookup) {
  pthread_mutex_lock(&lock);
  if (lookup->state == LOOKUP_ASKED) {
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
      struct lookup *const question = questions[(first + i) % MOST_DESTINATIONS];
      if (question != lookup) questions[(first + kept++) % MOST_DESTINATIONS] = question;
    }
    count = kept;
  }
  const bool is_free = lookup->state != LOOKUP_RUNNING;
  if (is_free) lookup->state = LOOKUP_IDLE;
  pthread_mutex_unlock(&lock);
  return is_free;
}

bool lookup_is_out(struct lookup *lookup) {
  pthread_mutex_lock(&lock);
  const bool out = lookup->state != LOOKUP_IDLE;
  pthread_mutex_unlock(&lock);
  return out;
}
