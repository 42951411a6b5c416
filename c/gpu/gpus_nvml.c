#include "gpus_nvml.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/fault.h"
#include "../base/say.h"
#include "../format/layout.gen.h"
#include "gputable.h"
#include "nvml.h"

/* The first of several names that the library has: these functions differ in what we do not use. */
static const struct {
  const char *name;
  size_t place;
} symbols[] = {
  {"nvmlInit_v2", offsetof(struct nvml, init)},
  {"nvmlShutdown", offsetof(struct nvml, shutdown)},
  {"nvmlErrorString", offsetof(struct nvml, error_string)},
  {"nvmlDeviceGetCount_v2", offsetof(struct nvml, count)},
  {"nvmlDeviceGetHandleByIndex_v2", offsetof(struct nvml, handle)},
  {"nvmlDeviceGetUUID", offsetof(struct nvml, uuid)},
  {"nvmlDeviceGetPciInfo_v3", offsetof(struct nvml, pci)},
  {"nvmlDeviceGetPciInfo_v2", offsetof(struct nvml, pci)},
  {"nvmlDeviceGetUtilizationRates", offsetof(struct nvml, utilization)},
  {"nvmlDeviceGetMemoryInfo", offsetof(struct nvml, memory)},
  {"nvmlDeviceGetTemperature", offsetof(struct nvml, temperature)},
  {"nvmlDeviceGetTemperatureV", offsetof(struct nvml, temperature_v)},
  {"nvmlDeviceGetPowerUsage", offsetof(struct nvml, power)},
  {"nvmlDeviceGetCurrentClocksEventReasons", offsetof(struct nvml, slowed_by)},
  {"nvmlDeviceGetCurrentClocksThrottleReasons", offsetof(struct nvml, slowed_by)},
  {"nvmlDeviceGetMigMode", offsetof(struct nvml, mig)},
  {"nvmlDeviceGetComputeRunningProcesses_v3", offsetof(struct nvml, programs)},
  {"nvmlDeviceGetComputeRunningProcesses_v2", offsetof(struct nvml, programs)},
  {"nvmlDeviceGetComputeRunningProcesses", offsetof(struct nvml, programs)},
  {"nvmlDeviceGetEccMode", offsetof(struct nvml, ecc_mode)},
  {"nvmlDeviceGetTotalEccErrors", offsetof(struct nvml, ecc_errors)},
  {"nvmlEventSetCreate", offsetof(struct nvml, event_set)},
  {"nvmlEventSetFree", offsetof(struct nvml, event_set_free)},
  {"nvmlDeviceRegisterEvents", offsetof(struct nvml, events)},
  {"nvmlEventSetWait_v2", offsetof(struct nvml, event_wait)},
};

/* A GPU that a call hangs at, or that nobody reached, is lost after this. */
enum { UNREACHED_MS = 30000 };

const char *gpus_sys = "/sys";
static const struct vendor {
  enum bb_gpu_vendor name;
  const char *pci, *driver;
} nvidia = {BB_GPU_VENDOR_NVIDIA, "0x10de", "nvidia"}, amd = {BB_GPU_VENDOR_AMD, "0x1002", "amdgpu"},
  *vendor = &nvidia;
static struct nvml nvml;
static void *library;
static nvml_event_set events;
static int broken; /* the status after which the library is not usable any more */
/* What the library numbers: whose it is, or why there is no handle. */
static struct slot {
  nvml_device device;
  struct gpu *whose;
  int status;
} slots[MOST_GPUS];
static unsigned slot_count;
static struct pci_gpu bus[MOST_GPUS];
static unsigned bus_count;

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

static const char *error_text(int status) {
  const char *text = vendor == &amd ? strerror(status) : nvml.error_string == NULL ? NULL : nvml.error_string(status);
  return text != NULL ? text : "an error without a name";
}

static const char *nvml_failed(const char *what, int status) {
  return fault("%s: %s (%d)", what, error_text(status), status);
}

/* The driver or the library is not there, or they do not fit each other: nothing is known of the GPUs. */
static bool is_of_driver(int status) {
  return status == NVML_UNINITIALIZED || status == NVML_DRIVER_NOT_LOADED || status == NVML_LIBRARY_NOT_FOUND ||
    status == NVML_LIB_RM_VERSION_MISMATCH;
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
  if (is_of_driver(status) && status != NVML_LIBRARY_NOT_FOUND) broken = status;
  if (status == NVML_SUCCESS || is_gap(status)) return status == NVML_SUCCESS;
  if (!gpu->at_once) gpu->status = status;
  gpu->at_once |= is_loss(status);
  gpu->failures++;
  return false;
}

static bool gave(struct gpu *gpu, int status) {
  const bool good = answered(gpu, status);
  gpu->answers += good;
  return good;
}

/* A lost GPU is not asked for more: each call may take long to fail. */
static bool may_ask(const struct gpu *gpu) { return !gpu->at_once && broken == NVML_SUCCESS; }

#define ASK(gpu, function, ...) \
  (may_ask(gpu) && nvml.function != NULL && gave(gpu, CALL(gpu, nvml.function((gpu)->device, __VA_ARGS__))))
/* The same for a setting, which the library knows without the GPU. */
#define ASK_SETTING(gpu, function, ...) \
  (may_ask(gpu) && nvml.function != NULL && answered(gpu, CALL(gpu, nvml.function((gpu)->device, __VA_ARGS__))))

/* "GPU 1 (GPU-…)", or without what only repeats the number. */
static const char *name_of(const struct gpu *gpu) {
  static char text[ID_ROOM + 20];
  const bool unnamed = strncmp(gpu->id, "number-", 7) == 0 || gpu_is_expected(gpu);
  snprintf(text, sizeof text, unnamed ? "GPU %u" : "GPU %u (%s)", (unsigned)(gpu - gpus), gpu->id);
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
    if (strcmp(bus[i].place, gpu->place) == 0) return &bus[i];
  return NULL;
}

static bool is_of_vendor(const struct pci_gpu *device) { return strcmp(device->driver, vendor->driver) == 0; }

/* What a round has shown. `status`: of the library, if it is not usable. */
static void conclude(struct gpu *gpu, int status) {
  const struct pci_gpu *device = on_bus(gpu);
  const bool away = device != NULL && *device->driver != 0 && !is_of_vendor(device);
  const bool on_its_bus = device == NULL ? *gpu->place == 0 : is_of_vendor(device);
  const bool well = gpu->answers > 0 || (gpu->device != NULL && gpu->failures == 0 && status == NVML_SUCCESS);
  char words[160];
  if (away && !gpu->away)
    say(SAY_INFO, name_of(gpu), fault(": the driver %s has it; it is left out", device->driver), (char *)NULL);
  gpu->away = away;
  gpu->unmeasured = !well && ((gpu->device == NULL && is_gap(gpu->status) && on_its_bus) ||
                              (is_of_driver(status) && on_its_bus && !gpu_is_expected(gpu)));
  if (away || (well && !gpu->at_once)) {
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
  if (device != NULL && *device->driver == 0) snprintf(words, sizeof words, "no driver has it");
  else if (status != NVML_SUCCESS) snprintf(words, sizeof words, "%.130s (%d)", error_text(status), status);
  else if (device == NULL && *gpu->place != 0) snprintf(words, sizeof words, "it is gone from the PCI bus");
  else snprintf(words, sizeof words, "the driver does not count it");
  lose(gpu, words);
}

static const char *load(const char *name) {
  library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    const char *why = dlerror();
    return fault("cannot load NVML: %s", why != NULL ? why : name);
  }
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    char *place = (char *)&nvml + symbols[i].place;
    void *before, *found;
    memcpy(&before, place, sizeof before);
    if (before == NULL && (found = dlsym(library, symbols[i].name)) != NULL) memcpy(place, &found, sizeof found);
  }
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
  for (struct gpu *gpu = gpus; gpu < gpus + MOST_GPUS; gpu++) {
    gpu->device = NULL;
    gpu->at_once = gpu->hears = false;
    gpu->status = NVML_SUCCESS;
  }
  if (why != NULL) {
    gpus_close();
    return why;
  }
  if (nvml.event_wait == NULL || nvml.events == NULL || nvml.event_set == NULL ||
      CALL(NULL, nvml.event_set(&events)) != NVML_SUCCESS)
    events = NULL;
  if (found > MOST_GPUS) tell(fault("there are %u GPUs; the first %u are told of", found, MOST_GPUS));
  slot_count = found < MOST_GPUS ? found : MOST_GPUS;
  memset(slots, 0, sizeof slots);
  return NULL;
}

void gpus_close(void) {
  if (events != NULL && nvml.event_set_free != NULL) CALL(NULL, nvml.event_set_free(events));
  events = NULL;
  if (nvml.shutdown != NULL) CALL(NULL, nvml.shutdown());
  nvml = (struct nvml){0};
  if (library != NULL) dlclose(library);
  library = NULL;
  slot_count = 0;
}

/* Xids come as events, and only new ones. */
static void listen_to(struct gpu *gpu) {
  gpu->hears = false;
  if (events == NULL) return;
  const int status = CALL(gpu, nvml.events(gpu->device, NVML_EVENT_XID, events));
  gpu->hears = answered(gpu, status);
  if (status != NVML_UNKNOWN) return;
  /* Then the set is not usable any more. */
  if (nvml.event_set_free != NULL) CALL(NULL, nvml.event_set_free(events));
  events = NULL;
  for (unsigned i = 0; i < gpu_count; i++) gpus[i].hears = false;
}

/* Whether a GPU of the table is one that the library has not returned. */
static bool is_missing(const struct gpu *gpu) {
  for (unsigned i = 0; i < slot_count; i++)
    if (slots[i].whose == gpu) return false;
  return true;
}

/* A handle that the library did not give, or of which it does not say whose it is: of a GPU that is missing. */
static struct gpu *who_has_none(unsigned index) {
  char number[20];
  snprintf(number, sizeof number, "number-%u", index);
  struct gpu *gpu = gpu_with(number);
  if (gpu != NULL) return is_missing(gpu) ? gpu : NULL;
  for (gpu = gpus; gpu < gpus + gpu_count; gpu++)
    if (is_missing(gpu) && !gpu_is_expected(gpu) && (on_bus(gpu) == NULL || is_of_vendor(on_bus(gpu))))
      return gpu;
  return gpu_add(number, "");
}

/* Whose handle that is: the GPU with its UUID; else the one at its place, which may be another one now. */
static struct gpu *owner_of(unsigned index, bool may_add) {
  char id[ID_ROOM] = "", place[PLACE_ROOM] = "", number[20];
  struct nvml_pci pci = {0};
  const nvml_device device = slots[index].device;
  if (nvml.uuid == NULL || CALL(NULL, nvml.uuid(device, id, sizeof id)) != NVML_SUCCESS) *id = 0;
  if (id[strcspn(id, " \t\r\n")] != 0) *id = 0;
  if (nvml.pci != NULL && CALL(NULL, nvml.pci(device, &pci)) == NVML_SUCCESS)
    snprintf(place, sizeof place, "%04x:%02x:%02x.0", pci.domain, pci.bus & 0xff, pci.device & 0xff);
  snprintf(number, sizeof number, "number-%u", index);
  struct gpu *gpu = *id != 0 ? gpu_with(id) : NULL, *at_place = gpu_at(place), *numbered = gpu_with(number);
  if (gpu != NULL && !is_missing(gpu)) gpu = NULL, *id = 0; /* another handle has the same UUID */
  if (gpu == NULL && at_place != NULL && is_missing(at_place)) {
    gpu = at_place;
    if (*id != 0 && strncmp(gpu->id, "GPU-", 4) == 0) {
      say(SAY_INFO, name_of(gpu), fault(" was replaced by %s", id), (char *)NULL);
      gpu->xids = 0;
      gpu->lost = false;
      *gpu->told = 0;
    }
  }
  if (gpu == NULL && numbered != NULL && is_missing(numbered)) gpu = numbered;
  if (gpu == NULL && may_add && *id == 0 && *place == 0) gpu = who_has_none(index);
  else if (gpu == NULL && may_add) gpu = gpu_add(*id != 0 ? id : place, place);
  if (gpu == NULL || !is_missing(gpu)) return NULL;
  if (at_place != NULL && at_place != gpu) *at_place->place = 0;
  if (*id != 0) snprintf(gpu->id, sizeof gpu->id, "%s", id);
  if (*place != 0) snprintf(gpu->place, sizeof gpu->place, "%s", place);
  return gpu;
}

static void find_handles(void) {
  for (int may_add = 0; may_add < 2; may_add++)
    for (unsigned i = 0; i < slot_count; i++) {
      struct slot *slot = &slots[i];
      if (broken != NVML_SUCCESS || (slot->whose != NULL && (slot->device != NULL || slot->whose->at_once))) continue;
      if (!may_add) {
        slot->whose = NULL;
        slot->status = CALL(NULL, nvml.handle(i, &slot->device));
        if (slot->status != NVML_SUCCESS) slot->device = NULL;
      }
      if (slot->device == NULL) {
        if (may_add && (slot->whose = who_has_none(i)) != NULL) {
          answered(slot->whose, slot->status);
          slot->whose->status = slot->status;
        }
        continue;
      }
      if ((slot->whose = owner_of(i, may_add)) == NULL) continue;
      slot->whose->device = slot->device;
      slot->whose->status = NVML_SUCCESS;
      listen_to(slot->whose);
    }
}

/* GPUs on the bus that the library does not return, and those that were only expected. */
static void find_missing(unsigned expected) {
  bool placed = true;
  bus_count = pci_gpus(gpus_sys, vendor->pci, bus, MOST_GPUS);
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++) {
    /* A place that the bus does not show for a GPU that works says nothing when it fails. */
    if (gpu->answers > 0 && on_bus(gpu) == NULL) *gpu->place = 0;
    placed &= gpu->device == NULL || *gpu->place != 0;
  }
  for (unsigned i = 0; i < bus_count; i++) {
    const bool ours = is_of_vendor(&bus[i]);
    if (gpu_at(bus[i].place) != NULL || (*bus[i].driver != 0 && !ours) || (ours && !placed)) continue;
    struct gpu *gpu = NULL;
    for (unsigned k = 0; k < gpu_count && ours && gpu == NULL; k++)
      if (gpus[k].device == NULL && *gpus[k].place == 0 && !gpu_is_expected(&gpus[k])) gpu = &gpus[k];
    if (gpu != NULL) snprintf(gpu->place, sizeof gpu->place, "%s", bus[i].place);
    else gpu_add(bus[i].place, bus[i].place);
  }
  while (gpu_count < expected && gpu_count < MOST_GPUS) {
    char id[24];
    snprintf(id, sizeof id, "expected-%u", gpu_count);
    gpu_append(id, "");
  }
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

/* Programs that hold the GPU, even idle ones: this is all that a partitioned GPU (MIG) reports. */
static bool has_programs(struct gpu *gpu) {
  unsigned programs = 0;
  if (!may_ask(gpu) || nvml.programs == NULL) return false;
  const int status = CALL(gpu, nvml.programs(gpu->device, &programs, NULL));
  return gave(gpu, status == NVML_INSUFFICIENT_SIZE ? NVML_SUCCESS : status) && programs > 0;
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
  if (now.word[UTIL_PCT] <= 100 && now.word[UTIL_PCT] > 0) flags |= BB_GPU_FLAGS_IN_USE;
  else if (has_programs(gpu)) flags |= BB_GPU_FLAGS_IN_USE;
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

static void conclude_all(int status) {
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++) {
    conclude(gpu, status);
    if (gpu->away || gpu->lost || gpu->device == NULL || gpu->rounds > 0) blank(gpu);
  }
}

const char *gpus_read(unsigned expected, int *status) {
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++) gpu->answers = gpu->failures = 0;
  find_handles();
  count_xids();
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count && broken == NVML_SUCCESS; gpu++)
    if (gpu->device != NULL) read_gpu(gpu);
  *status = broken;
  if (broken != NVML_SUCCESS) return nvml_failed("NVML does not work any more", broken);
  find_missing(expected);
  conclude_all(NVML_SUCCESS);
  return NULL;
}

void gpus_blank(void) {
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++) blank(gpu);
}

bool gpus_are_settled(void) {
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++)
    if (!gpu->lost && !gpu->unmeasured && gpu->rounds > 0) return false;
  return true;
}

void gpus_without_library(int status, unsigned expected) {
  find_missing(expected);
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++) {
    gpu->answers = gpu->failures = 0;
    gpu->at_once = is_loss(status);
    gpu->status = status;
  }
  conclude_all(status);
}

bool gpus_are_amds(void) {
  bool has_nvidias = false, has_amds = false;
  for (unsigned i = 0; i < gpu_count; i++) {
    has_nvidias |= strncmp(gpus[i].id, "GPU-", 4) == 0;
    has_amds |= *gpus[i].place != 0 && strcmp(gpus[i].id, gpus[i].place) == 0;
  }
  has_nvidias = has_nvidias || pci_gpus(gpus_sys, nvidia.pci, bus, MOST_GPUS) > 0;
  has_amds = !has_nvidias && (has_amds || pci_gpus(gpus_sys, amd.pci, bus, MOST_GPUS) > 0);
  return (vendor = has_amds ? &amd : &nvidia) == &amd;
}

void gpus_read_amds(unsigned expected) {
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++) {
    gpu->device = NULL;
    gpu->at_once = gpu->hears = false;
    gpu->answers = gpu->failures = 0, gpu->status = 0;
  }
  find_missing(expected);
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++) {
    struct gpu now = *gpu;
    if (on_bus(gpu) == NULL || !is_of_vendor(on_bus(gpu))) continue;
    CALL(gpu, (amd_read(gpus_sys, &now), 0));
    gpu->device = (nvml_device)gpu;
    gpu->answers = now.answers, gpu->failures = now.failures, gpu->status = now.status;
    gpu->reached_ms = bb_clock_ms(CLOCK_MONOTONIC);
    if (now.answers > 0 || now.failures == 0) gpu->line = now.line;
  }
  conclude_all(0);
}

const char *gpus_vendor(void) { return bb_gpu_vendor_names[vendor->name]; }

bool gpus_are_lost(void) {
  for (unsigned i = 0; i < gpu_count; i++)
    if (gpus[i].lost) return true;
  return false;
}

void gpus_take(void) { pthread_mutex_lock(&held); }
void gpus_leave(void) { pthread_mutex_unlock(&held); }

bool gpus_call_lasts(void) {
  const int64_t now = bb_clock_ms(CLOCK_MONOTONIC);
  if (!calling) return false;
  const bool hangs = now - called_ms >= UNREACHED_MS;
  for (struct gpu *gpu = gpus; gpu < gpus + gpu_count; gpu++) {
    if (hangs && !gpu->away && (called == NULL || called == gpu)) lose(gpu, "a call has hung for 30 s");
    if (gpu->lost || now - gpu->reached_ms >= UNREACHED_MS) blank(gpu);
  }
  return true;
}
