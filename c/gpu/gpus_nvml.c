#include "gpus_nvml.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/fault.h"
#include "../base/say.h"
#include "../format/layout.gen.h"
#include "gputable.h"
#include "nvml.h"

/* A GPU that a call hangs at, or that nobody reached, is lost after this. */
enum { UNREACHED_MS = 30000 };

const char *gpus_sys = "/sys";
static struct nvml nvml;
static void *library;
static nvml_event_set events;
static int broken; /* the status after which the library is not usable any more */
/* What the library numbers: what it says that this is, and whose it is. */
static struct slot {
  nvml_device device; /* NULL: there is no handle */
  char id[ID_ROOM], place[PLACE_ROOM];
  int status; /* why there is no handle, or of the questions which it is */
  bool again; /* it has not said its UUID, for no good reason */
  struct gpu *whose;
} slots[MOST_GPUS];
static unsigned slot_count;
static struct pci_gpu bus[MOST_GPUS];
static unsigned bus_count;
static unsigned expected;
static bool has_nvidias; /* or had: then AMD's are not looked for */

/* Held except during a call of the library, so that the file can be written while one lasts. */
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static bool calling;
static struct gpu *called; /* NULL: the library as a whole */
static int64_t called_ms;

static void call_begins(struct gpu *gpu) {
  calling = true;
  called = gpu;
  called_ms = bb_clock_ms(CLOCK_MONOTONIC);
  pthread_mutex_unlock(&held);
}

static int call_ended(int status) {
  pthread_mutex_lock(&held);
  calling = false;
  return status;
}

/* While the disk is waited for, no GPU hangs. */
static struct gpu disk;
void gpus_step_out(void) { call_begins(&disk); }
void gpus_step_in(void) { call_ended(0); }

#define CALL(gpu, call) (call_begins(gpu), call_ended(call))

static const char *error_text(int status, bool amd) {
  const char *text = amd ? strerror(status) : nvml.error_string == NULL ? NULL : nvml.error_string(status);
  return text != NULL ? text : "an error without a name";
}

static const char *nvml_failed(const char *what, int status) {
  return fault("%s: %s (%d)", what, error_text(status, false), status);
}

/* The driver is not there, or does not fit the library: nothing is known of the GPUs. */
static bool is_of_driver(int status) {
  return status == NVML_UNINITIALIZED || status == NVML_DRIVER_NOT_LOADED || status == NVML_LIB_RM_VERSION_MISMATCH;
}

/* The GPU has answered that it has no such reading, or none for us. */
static bool is_gap(int status) {
  return status == NVML_NOT_SUPPORTED || status == NVML_NO_PERMISSION || status == NVML_FUNCTION_NOT_FOUND ||
    status == NVML_NO_DATA || status == NVML_VGPU_ECC_NOT_SUPPORTED || status == NVML_ARGUMENT_VERSION_MISMATCH ||
    status == NVML_DEPRECATED;
}

static bool is_loss(int status) { return status == NVML_GPU_IS_LOST || status == NVML_RESET_REQUIRED; }

/* Whether a call has succeeded; stores the conclusions from its result. */
static bool answered(struct gpu *gpu, int status) {
  if (is_of_driver(status)) broken = status;
  if (status == NVML_SUCCESS || is_gap(status)) return status == NVML_SUCCESS;
  if (!gpu->at_once) gpu->status = status;
  gpu->at_once |= is_loss(status);
  gpu->failures++;
  return false;
}

/* A lost GPU is not asked for more: each call may take long to fail. */
static bool may_ask(const struct gpu *gpu) { return !gpu->at_once && broken == NVML_SUCCESS; }

/* For a setting, which the library knows without the GPU. */
#define ASK_SETTING(gpu, function, ...) \
  (may_ask(gpu) && nvml.function != NULL && answered(gpu, CALL(gpu, nvml.function((gpu)->device, __VA_ARGS__))))
/* For a reading. */
#define ASK(gpu, function, ...) (ASK_SETTING(gpu, function, __VA_ARGS__) && ++(gpu)->answers > 0)

/* "GPU 1 (GPU-…)", or without what only repeats the number. */
static const char *name_of(const struct gpu *gpu) {
  static char text[ID_ROOM + 20];
  snprintf(text, sizeof text, gpu_is_nameless(gpu) ? "GPU %u" : "GPU %u (%s)", (unsigned)(gpu - gpus), gpu->id);
  return text;
}

static void lose(struct gpu *gpu, const char *words) {
  gpu->lost = true;
  if (strncmp(gpu->told, words, sizeof gpu->told - 1) == 0) return;
  snprintf(gpu->told, sizeof gpu->told, "%s", words);
  say(SAY_ERROR, name_of(gpu), ": ", words, "; its readings are left out, and it is looked for every minute",
      (char *)NULL);
}

/* Its device on the bus; NULL: the bus has none, or its place is not known. */
static const struct pci_gpu *on_bus(const struct gpu *gpu) {
  for (unsigned i = 0; i < bus_count && *gpu->place != 0; i++)
    if (bus[i].amd == gpu->amd && strcmp(bus[i].place, gpu->place) == 0) return &bus[i];
  return NULL;
}

static bool is_bound(const struct gpu *gpu) { return on_bus(gpu) != NULL && on_bus(gpu)->bound; }

/* What a round has shown. `status`: of the library, if it is not usable. */
static void conclude(struct gpu *gpu, int status) {
  const struct pci_gpu *device = on_bus(gpu);
  /* A driver such as nouveau is wrong only for one that has worked with its vendor's. */
  const bool away = device != NULL && (device->away || (device->foreign && !gpu->seen));
  const bool may_work = *gpu->place == 0 || is_bound(gpu);
  const bool is_mute = gpu->device != NULL && gpu->failures == 0 && status == NVML_SUCCESS;
  /* Who has none of the readings may be well, but who was lost must answer. */
  const bool well = !gpu->at_once && (gpu->answers > 0 || (is_mute && !(gpu->lost && gpu->seen)));
  if (away && !gpu->away)
    say(SAY_INFO, name_of(gpu), fault(": the driver %s has it; it is left out", device->driver), (char *)NULL);
  gpu->away = away;
  gpu->seen |= gpu->answers > 0;
  gpu->unmeasured = !well && !gpu->at_once && may_work &&
    ((gpu->device == NULL && is_gap(gpu->status)) ||
     ((is_of_driver(status) || status == NVML_LIBRARY_NOT_FOUND) && !gpu->expected));
  if (away || well) {
    if (gpu->lost && !away) say(SAY_INFO, name_of(gpu), " is back", (char *)NULL);
    gpu->lost = false;
    gpu->rounds = 0;
    *gpu->told = 0;
    return;
  }
  if (gpu->unmeasured) return;
  if (gpu->rounds < ROUNDS) gpu->rounds++;
  if (!gpu->at_once && gpu->rounds < ROUNDS) return;
  if (status == NVML_SUCCESS || gpu->at_once) status = gpu->status;
  lose(gpu, device != NULL && device->foreign ? fault("the driver %s has it", device->driver)
    : device != NULL && !device->bound ? "no driver has it"
    : status != NVML_SUCCESS ? fault("%.130s (%d)", error_text(status, gpu->amd), status)
    : gpu->device != NULL ? "it gives no reading"
    : device == NULL && *gpu->place != 0 ? "it is gone from the PCI bus" : "the driver does not count it");
}

/* Stores a function of the library, NULL if there is none, as POSIX has it. */
static void find(const char *name, void *into) { memcpy(into, &(void *){dlsym(library, name)}, sizeof(void *)); }

static const char *load(const char *name) {
  CALL(NULL, (library = dlopen(name, RTLD_NOW | RTLD_LOCAL), 0));
  if (library == NULL) {
    const char *why = dlerror();
    return fault("cannot load NVML: %s", why != NULL ? why : name);
  }
  find("nvmlErrorString", &nvml.error_string);
#define NVML_FIND(member, parameters, ...) \
  for (const char *const names[] = {__VA_ARGS__, NULL}, *const *at = names; *at != NULL && nvml.member == NULL; at++) \
    find(*at, &nvml.member);
  NVML_FUNCTIONS(NVML_FIND)
  if (nvml.init != NULL && nvml.shutdown != NULL && nvml.count != NULL && nvml.handle != NULL) return NULL;
  return fault("%s is not NVML, or is from before 2013", name);
}

const char *gpus_open(const char *name, int *status) {
  unsigned found = 0;
  broken = NVML_SUCCESS;
  const char *why = load(name);
  *status = why != NULL ? NVML_LIBRARY_NOT_FOUND : CALL(NULL, nvml.init());
  if (why == NULL && *status != NVML_SUCCESS) {
    why = nvml_failed("NVML does not start", *status);
    nvml.shutdown = NULL;
  }
  if (why == NULL && (*status = CALL(NULL, nvml.count(&found))) != NVML_SUCCESS)
    why = nvml_failed("NVML does not count the GPUs", *status);
  if (why != NULL) {
    gpus_close();
    return why;
  }
  if (nvml.event_wait == NULL || nvml.events == NULL || nvml.event_set == NULL ||
      CALL(NULL, nvml.event_set(&events)) != NVML_SUCCESS)
    events = NULL;
  if (found > MOST_GPUS) tell(fault("there are %u GPUs; the first %u are told of", found, MOST_GPUS));
  slot_count = found < MOST_GPUS ? found : MOST_GPUS;
  for (unsigned i = 0; i < slot_count; i++) slots[i] = (struct slot){.status = NVML_UNINITIALIZED};
  /* A call for a handle may hang before anything is known of them. */
  while (gpu_count < slot_count) gpu_add(NULL, "");
  return NULL;
}

void gpus_close(void) {
  if (events != NULL && nvml.event_set_free != NULL) CALL(NULL, nvml.event_set_free(events));
  events = NULL;
  if (nvml.shutdown != NULL) CALL(NULL, nvml.shutdown());
  nvml = (struct nvml){0};
  if (library != NULL) CALL(NULL, dlclose(library));
  library = NULL;
  slot_count = 0;
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++) {
    gpu->device = NULL;
    gpu->at_once = gpu->hears = false;
    gpu->status = NVML_SUCCESS;
  }
}

/* Xids come as events, and only new ones. */
static void listen_to(struct gpu *gpu) {
  if (events == NULL) return;
  const int status = CALL(gpu, nvml.events(gpu->device, NVML_EVENT_XID, events));
  gpu->hears = answered(gpu, status);
  if (status != NVML_UNKNOWN) return;
  /* Then the set is not usable any more. */
  if (nvml.event_set_free != NULL) CALL(NULL, nvml.event_set_free(events));
  events = NULL;
  for (unsigned i = 0; i < gpu_count; i++) gpus[i].hears = false;
}

/* Whether a GPU of NVIDIA is one that the library has not returned. */
static bool is_missing(const struct gpu *gpu) {
  for (unsigned i = 0; i < slot_count; i++)
    if (slots[i].whose == gpu) return false;
  return !gpu->amd;
}

/* One more GPU, of which nothing was known if there is such one. */
static struct gpu *one_more(void) {
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++)
    if (is_missing(gpu) && gpu_is_nameless(gpu) && *gpu->place == 0) return gpu;
  return gpu_add(NULL, "");
}

/* Takes out what stood in, by its place or without a name, for another GPU of the table; false: it is no such line. */
static bool drop(struct gpu *gpu) {
  if (!is_missing(gpu) || (strcmp(gpu->id, gpu->place) != 0 && !gpu_is_nameless(gpu))) return false;
  if (gpu->lost) say(SAY_INFO, name_of(gpu), " is back, as one that was known", (char *)NULL);
  gpu_remove(gpu);
  for (unsigned i = 0; i < slot_count; i++) slots[i].whose -= slots[i].whose != NULL && slots[i].whose > gpu;
  return true;
}

/* Asks for a handle, and whose it is. */
static void ask_handle(unsigned index) {
  struct slot *slot = &slots[index];
  struct nvml_pci pci = {0};
  *slot = (struct slot){0};
  slot->status = CALL(NULL, nvml.handle(index, &slot->device));
  if (slot->status != NVML_SUCCESS) slot->device = NULL;
  if (slot->device == NULL) return;
  const int of_id = nvml.uuid == NULL ? NVML_SUCCESS : CALL(NULL, nvml.uuid(slot->device, slot->id, ID_ROOM));
  if (of_id != NVML_SUCCESS || slot->id[strcspn(slot->id, " \t\r\n")] != 0) *slot->id = 0;
  slot->again = of_id != NVML_SUCCESS && !is_gap(of_id);
  const int of_place = nvml.pci == NULL ? NVML_SUCCESS : CALL(NULL, nvml.pci(slot->device, &pci));
  if (nvml.pci != NULL && of_place == NVML_SUCCESS)
    snprintf(slot->place, PLACE_ROOM, "%04x:%02x:%02x.0", pci.domain, pci.bus & 0xff, pci.device & 0xff);
  /* Who does not say its name may work all the same. */
  if (is_loss(of_place) || is_of_driver(of_place)) slot->status = of_place;
  if (is_loss(of_id) || (is_of_driver(of_id) && !is_loss(of_place))) slot->status = of_id;
}

/* A handle of which nothing is known is that of a missing GPU that the driver has. */
static struct gpu *anybody(const struct slot *slot) {
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count && *slot->id == 0 && *slot->place == 0; gpu++)
    if (is_missing(gpu) && (bus_count == 0 || *gpu->place == 0 || is_bound(gpu))) return gpu;
  return one_more();
}

static void own(struct slot *slot, struct gpu *gpu) {
  struct gpu *const there = gpu_at(slot->place, false);
  const struct gpu *const named = gpu_with(slot->id);
  if (named != NULL && named != gpu) *slot->id = 0; /* another handle has the same UUID */
  slot->whose = gpu;
  gpu->expected = false;
  if (*slot->id != 0 && strncmp(gpu->id, "GPU-", 4) == 0 && strcmp(gpu->id, slot->id) != 0) {
    say(SAY_INFO, name_of(gpu), fault(" was replaced by %s", slot->id), (char *)NULL);
    gpu->xids = 0;
    gpu->lost = gpu->seen = false;
    *gpu->told = 0;
  }
  if (*slot->id != 0) snprintf(gpu->id, ID_ROOM, "%s", slot->id);
  if (there != NULL && there != gpu && !drop(there)) *there->place = 0;
  if (*slot->place != 0) snprintf(slot->whose->place, PLACE_ROOM, "%s", slot->place);
}

/* Whose each handle is: that of the GPU with its UUID; when these are all known, of the one at its place, which may be
 * another one now; of anybody. What the driver failed for is nobody's. */
static void find_owners(void) {
  for (int pass = 0; pass < 3; pass++)
    for (unsigned i = 0; i < slot_count; i++) {
      struct slot *slot = &slots[i];
      if (slot->whose != NULL || is_of_driver(slot->status)) continue;
      struct gpu *gpu = pass == 0 ? gpu_with(slot->id) : pass == 1 ? gpu_at(slot->place, false) : anybody(slot);
      if (gpu != NULL && is_missing(gpu)) own(slot, gpu);
      else if (gpu != NULL && pass == 0) *slot->id = 0; /* another handle has the same UUID */
    }
}

static void find_handles(void) {
  bool asked[MOST_GPUS] = {false};
  for (unsigned i = 0; i < slot_count && broken == NVML_SUCCESS; i++) {
    struct gpu *gpu = slots[i].whose;
    asked[i] = gpu == NULL || (!gpu->at_once && (gpu->device == NULL || slots[i].again));
    if (!asked[i]) continue;
    if (gpu != NULL) gpu->device = NULL;
    ask_handle(i);
    if (is_of_driver(slots[i].status)) broken = slots[i].status;
  }
  find_owners();
  for (unsigned i = 0; i < slot_count; i++) {
    struct gpu *gpu = slots[i].whose;
    if (!asked[i] || gpu == NULL) continue;
    gpu->device = slots[i].device;
    gpu->status = slots[i].status;
    answered(gpu, slots[i].status);
    if (gpu->device != NULL && !gpu->hears && may_ask(gpu)) listen_to(gpu);
  }
}

/* A device without a line is that of a GPU whose place is not known, or, as long as nobody can tell, of one that is not
 * where it was. Else it is one more. */
static void give_line(const struct pci_gpu *device, bool is_closed) {
  struct gpu *gpu = gpus;
  while (gpu < gpus + gpu_count && (gpu->device != NULL || gpu->amd || on_bus(gpu) != NULL || device->amd ||
                                    (is_closed ? gpu->lost : *gpu->place != 0)))
    gpu++;
  if (gpu == gpus + gpu_count && (gpu = one_more()) == NULL) return;
  if (gpu_is_nameless(gpu)) memcpy(gpu->id, device->place, sizeof device->place);
  memcpy(gpu->place, device->place, sizeof gpu->place);
  gpu->amd = device->amd;
  gpu->expected = false;
}

/* GPUs on the bus that the library does not return get lines. Where it does not say at which places those are that it
 * returns, their numbers tell how many are missing. */
static void find_missing(bool is_closed) {
  bool all_placed = true, all_named = slot_count > 0;
  unsigned bound = 0, told = slot_count;
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++) {
    /* A place that the bus does not show for a GPU that works says nothing when it fails. */
    if (gpu->answers > 0 && on_bus(gpu) == NULL) *gpu->place = 0;
    all_placed &= gpu->device == NULL || gpu->amd || on_bus(gpu) != NULL;
    all_named &= gpu->amd || gpu->away || is_missing(gpu) == gpu_is_nameless(gpu);
  }
  for (unsigned i = 0; i < bus_count; i++) {
    if (bus[i].foreign || (bus[i].amd && has_nvidias)) continue;
    bound += bus[i].bound && !bus[i].amd;
    if (gpu_at(bus[i].place, bus[i].amd) == NULL && (all_placed || !bus[i].bound)) give_line(&bus[i], is_closed);
  }
  for (unsigned i = 0; i < gpu_count; i++)
    told += is_missing(&gpus[i]) && !gpus[i].expected && (*gpus[i].place == 0 || is_bound(&gpus[i]));
  /* Where all that have names are there, one that had none and has worked was one of them. */
  for (unsigned i = gpu_count; i-- > 0 && told > bound && bound > 0;)
    told -= (is_bound(&gpus[i]) || (all_named && *gpus[i].place == 0 && gpus[i].seen)) && drop(&gpus[i]);
  for (unsigned i = 0; i < gpu_count && told < bound; i++) told += gpus[i].expected, gpus[i].expected = false;
  for (; told < bound; told++) gpu_add(NULL, "");
}

/* Lines for those that --expect alone knows of, and at least so many. One that was given away is there. */
static void find_expected(unsigned least) {
  unsigned lines = 0, real = 0;
  for (unsigned i = 0; i < gpu_count; i++) {
    lines += !gpus[i].expected;
    real += !gpus[i].expected && !gpus[i].integrated;
  }
  for (unsigned i = 0; i < bus_count; i++) real += bus[i].away && gpu_at(bus[i].place, bus[i].amd) == NULL;
  lines += expected > real + least ? expected - real : least;
  while (gpu_count > lines && gpus[gpu_count - 1].expected) gpu_count--;
  for (struct gpu *gpu; gpu_count < lines && (gpu = gpu_add(NULL, "")) != NULL;) gpu->expected = true;
}

/* Without waiting. More than this many at once are left for the next round, because it must end. */
static void count_xids(void) {
  for (unsigned left = 1000; left > 0 && events != NULL; left--) {
    struct nvml_event event = {0};
    const int status = CALL(NULL, nvml.event_wait(events, &event, 0));
    if (status != NVML_SUCCESS) {
      struct gpu nobody = {0}; /* it does not say which one is lost */
      answered(&nobody, status);
      return;
    }
    if ((event.type & NVML_EVENT_XID) == 0) continue;
    /* Only their sum is reported, so none is dropped because its GPU is unknown. */
    unsigned whose = 0;
    for (unsigned i = 0; i < gpu_count; i++)
      if (gpus[i].device == event.device) whose = i;
    gpus[whose].xids++;
  }
}

static uint64_t read_temperature(struct gpu *gpu) {
  struct nvml_temperature reading = {.version = NVML_TEMPERATURE_VERSION, .sensor = NVML_TEMPERATURE_GPU};
  unsigned celsius;
  if (ASK(gpu, temperature, NVML_TEMPERATURE_GPU, &celsius)) return celsius;
  return ASK(gpu, temperature_v, &reading) && reading.celsius >= 0 ? (uint64_t)reading.celsius : UNKNOWN;
}

static void read_memory(struct gpu *gpu, struct gpu_line *line) {
  struct nvml_memory memory;
  if (!ASK(gpu, memory, &memory) || memory.total == 0 || memory.used > memory.total) return;
  line->word[MEM_USED_MIB] = memory.used >> 20;
  line->word[MEM_TOTAL_MIB] = memory.total >> 20;
}

/* A GPU without ECC, or with ECC switched off, has no such errors; one that does not answer may have some. */
static uint64_t read_ecc(struct gpu *gpu) {
  unsigned mode = NVML_ECC_DISABLED + 1, pending;
  unsigned long long errors;
  if (may_ask(gpu) && nvml.ecc_mode != NULL) {
    const int status = CALL(gpu, nvml.ecc_mode(gpu->device, &mode, &pending));
    if (status == NVML_NOT_SUPPORTED) return 0;
    if (!answered(gpu, status)) return UNKNOWN;
    if (mode == NVML_ECC_DISABLED) return 0;
  }
  return ASK(gpu, ecc_errors, NVML_UNCORRECTED, NVML_VOLATILE, &errors) && errors <= UINT32_MAX ? errors : UNKNOWN;
}

/* Programs that hold the GPU, even idle ones: all of its use that MIG reports. The list is the driver's: no reading. */
static bool has_programs(struct gpu *gpu) {
  unsigned programs = 0;
  if (!may_ask(gpu) || nvml.programs == NULL) return false;
  const int status = CALL(gpu, nvml.programs(gpu->device, &programs, NULL));
  return answered(gpu, status == NVML_INSUFFICIENT_SIZE ? NVML_SUCCESS : status) && programs > 0;
}

/* The line of a GPU that gave no reading. Its errors still count. */
static void blank(struct gpu *gpu) {
  uint64_t *word = gpu->line.word;
  for (unsigned i = 0; i < ERRORS; i++) word[i] = UNKNOWN;
  if (gpu->hears || gpu->xids > 0) word[ERRORS] = gpu->xids;
  word[FLAGS] = gpu->away ? 0 : BB_GPU_FLAGS_PRESENT;
  if (gpu->lost) word[FLAGS] |= BB_GPU_FLAGS_OFF_THE_BUS;
  if (word[ECC_UE] != UNKNOWN && word[ECC_UE] > 0) word[FLAGS] |= BB_GPU_FLAGS_ECC_ERROR;
}

static void read_gpu(struct gpu *gpu) {
  static const unsigned long long slow = NVML_SLOWED_BY_HARDWARE | NVML_SLOWED_BY_HEAT_IN_SOFTWARE |
                                         NVML_SLOWED_BY_HEAT_IN_HARDWARE | NVML_SLOWED_BY_POWER_BRAKE;
  struct gpu_line now;
  struct nvml_utilization rates;
  unsigned long long reasons;
  unsigned number, pending;
  uint64_t flags = BB_GPU_FLAGS_PRESENT;
  for (unsigned word = 0; word < GPU_WORDS; word++) now.word[word] = UNKNOWN;
  if (ASK(gpu, utilization, &rates)) now.word[UTIL_PCT] = rates.gpu;
  now.word[TEMP_C] = read_temperature(gpu);
  /* no GPU needs less than a watt */
  if (ASK(gpu, power, &number) && number >= 1000) now.word[POWER_W] = number / 1000;
  read_memory(gpu, &now);
  if ((now.word[UTIL_PCT] <= 100 && now.word[UTIL_PCT] > 0) || has_programs(gpu)) flags |= BB_GPU_FLAGS_IN_USE;
  if (ASK(gpu, slowed_by, &reasons) && (reasons & slow) != 0) flags |= BB_GPU_FLAGS_THROTTLED;
  if (ASK_SETTING(gpu, mig, &number, &pending) && number == NVML_MIG_ENABLED) flags |= BB_GPU_FLAGS_PARTITIONED;
  now.word[ECC_UE] = read_ecc(gpu);
  gpu->reached_ms = bb_clock_ms(CLOCK_MONOTONIC);
  if (gpu->at_once || (gpu->answers == 0 && gpu->failures > 0)) return;
  if (gpu->hears) now.word[ERRORS] = gpu->xids;
  if (now.word[ECC_UE] != UNKNOWN && now.word[ECC_UE] > 0) flags |= BB_GPU_FLAGS_ECC_ERROR;
  now.word[FLAGS] = flags;
  gpu->line = now;
}

bool gpus_begin(unsigned expects) {
  expected = expects;
  bool has_amds = false, is_known = false;
  unsigned nvidias = 0;
  bus_count = pci_gpus(gpus_sys, bus, MOST_GPUS);
  for (unsigned i = 0; i < bus_count; i++) {
    has_amds |= bus[i].amd;
    nvidias += !bus[i].amd && !bus[i].foreign;
  }
  has_nvidias = nvidias > 0;
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++) {
    gpu->answers = gpu->failures = 0;
    has_amds |= gpu->amd;
    has_nvidias |= !gpu->amd && !gpu_is_nameless(gpu);
    is_known |= !gpu->amd && !gpu->expected && (on_bus(gpu) == NULL || !on_bus(gpu)->away);
  }
  /* The first call may hang, and somebody must be there of whom this is told. */
  find_expected(is_known ? 0 : nvidias);
  return has_nvidias || !has_amds;
}

const char *gpus_read(int *status) {
  find_handles();
  count_xids();
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count && broken == NVML_SUCCESS; gpu++)
    if (gpu->device != NULL && !gpu->amd) read_gpu(gpu);
  *status = broken;
  return broken == NVML_SUCCESS ? NULL : nvml_failed("NVML does not work any more", broken);
}

static void read_amds(void) {
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++) {
    struct gpu now = *gpu;
    if (!gpu->amd) continue;
    gpu->device = NULL;
    gpu->status = 0;
    if (!is_bound(gpu)) continue;
    CALL(gpu, (amd_read(gpus_sys, &now), 0));
    gpu->device = (nvml_device)gpu;
    gpu->answers = now.answers, gpu->failures = now.failures, gpu->status = now.status;
    gpu->reached_ms = bb_clock_ms(CLOCK_MONOTONIC);
    if (now.answers == 0 && now.failures > 0) continue;
    gpu->line = now.line;
    gpu->integrated = now.line.word[MEM_TOTAL_MIB] < 2048 || now.line.word[MEM_TOTAL_MIB] == UNKNOWN;
  }
}

void gpus_end(bool was_asked, int status) {
  find_missing(status != NVML_SUCCESS);
  read_amds();
  find_expected(0);
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++) {
    if (status != NVML_SUCCESS && !gpu->amd) {
      gpu->answers = gpu->failures = 0;
      if (!gpu->at_once) gpu->status = status;
      gpu->at_once |= is_loss(status);
    }
    if (was_asked || gpu->amd) conclude(gpu, gpu->amd ? 0 : status);
    if (gpu->away || gpu->lost || gpu->unmeasured || gpu->device == NULL || gpu->rounds > 0) blank(gpu);
  }
}

void gpus_blank(void) {
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++) blank(gpu);
}

struct gpus_summary gpus_summary(void) {
  struct gpus_summary now = {0};
  for (const struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++) {
    now.has_amd |= gpu->amd;
    now.has_lost |= gpu->lost;
    const bool is_unsettled = !gpu->lost && !gpu->unmeasured && gpu->rounds > 0;
    now.has_unsettled |= is_unsettled;
    now.has_uncounted |= is_unsettled && is_missing(gpu);
  }
  return now;
}

const char *gpus_vendor(void) {
  return bb_gpu_vendor_names[gpu_count > 0 && gpus[0].amd ? BB_GPU_VENDOR_AMD : BB_GPU_VENDOR_NVIDIA];
}

void gpus_take(void) { pthread_mutex_lock(&held); }
void gpus_leave(void) { pthread_mutex_unlock(&held); }

bool gpus_call_lasts(void) {
  const int64_t now = bb_clock_ms(CLOCK_MONOTONIC);
  if (!calling) return false;
  const bool hangs = now - called_ms >= UNREACHED_MS;
  /* A library that hangs while one is lost hangs at that one, so the others are not measured. */
  const bool all = called == NULL && !gpus_summary().has_lost;
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++) {
    if (hangs && !gpu->away && !gpu->lost && (called == gpu || (all && !gpu->amd)))
      lose(gpu, "a call has hung for 30 s");
    if (gpu->lost || now - gpu->reached_ms >= UNREACHED_MS) blank(gpu);
  }
  return true;
}
