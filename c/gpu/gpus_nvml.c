#include "gpus_nvml.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "../base/fault.h"
#include "../base/say.h"
#include "../format/layout.gen.h"
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

struct nvml_gpu {
  nvml_device device; /* NULL: the library did not return it, and is asked again */
  bool lost;          /* not to be asked before the library is opened again */
  bool told;          /* the log says that it is lost */
  bool hears;         /* the count of its Xids */
  uint32_t xids;
};

static struct nvml nvml;
static void *library;
static nvml_event_set events;
static int broken; /* the status after which the library is not usable any more */
static unsigned count;
static struct nvml_gpu gpus[MOST_GPUS];
static struct gpu_line lines[MOST_GPUS];

static const char *error_text(int status) {
  const char *text = nvml.error_string == NULL ? NULL : nvml.error_string(status);
  return text != NULL ? text : "an error without a name";
}

static const char *nvml_failed(const char *what, int status) {
  return fault("%s: %s (%d)", what, error_text(status), status);
}

/* Whether a call has succeeded; stores the conclusions from its result. */
static bool answered(struct nvml_gpu *gpu, int status) {
  if (status == NVML_UNINITIALIZED || status == NVML_DRIVER_NOT_LOADED || status == NVML_LIB_RM_VERSION_MISMATCH)
    broken = status;
  if (status != NVML_GPU_IS_LOST && status != NVML_RESET_REQUIRED) return status == NVML_SUCCESS;
  gpu->lost = true;
  if (!gpu->told)
    say(SAY_ERROR, fault("GPU %u: %s (%d)", (unsigned)(gpu - gpus), error_text(status), status),
        "; its readings are left out, and it is looked for every minute", (char *)NULL);
  gpu->told = true;
  return false;
}

/* A lost GPU is not asked for more: each call may take long to fail. */
static bool may_ask(const struct nvml_gpu *gpu) { return !gpu->lost && broken == NVML_SUCCESS; }

#define ASK(gpu, function, ...) \
  (may_ask(gpu) && nvml.function != NULL && answered(gpu, nvml.function((gpu)->device, __VA_ARGS__)))

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

const char *gpus_open(const char *name) {
  unsigned found = 0;
  int status;
  broken = NVML_SUCCESS;
  const char *why = load(name);
  if (why == NULL && (status = nvml.init()) != NVML_SUCCESS) {
    why = nvml_failed("NVML does not start", status);
    nvml.shutdown = NULL;
  }
  if (why == NULL && (status = nvml.count(&found)) != NVML_SUCCESS)
    why = nvml_failed("NVML does not count the GPUs", status);
  if (why != NULL) {
    gpus_close();
    return why;
  }
  if (nvml.event_wait == NULL || nvml.events == NULL || nvml.event_set == NULL ||
      nvml.event_set(&events) != NVML_SUCCESS)
    events = NULL;
  if (found > MOST_GPUS) tell(fault("there are %u GPUs; the first %u are told of", found, MOST_GPUS));
  count = found < MOST_GPUS ? found : MOST_GPUS;
  for (unsigned i = 0; i < MOST_GPUS; i++) {
    gpus[i].device = NULL;
    gpus[i].lost = false;
  }
  return NULL;
}

void gpus_close(void) {
  if (events != NULL && nvml.event_set_free != NULL) nvml.event_set_free(events);
  events = NULL;
  if (nvml.shutdown != NULL) nvml.shutdown();
  nvml = (struct nvml){0};
  if (library != NULL) dlclose(library);
  library = NULL;
}

/* Xids come as events, and only new ones. */
static void listen_to(struct nvml_gpu *gpu) {
  gpu->hears = false;
  if (events == NULL) return;
  const int status = nvml.events(gpu->device, NVML_EVENT_XID, events);
  gpu->hears = answered(gpu, status);
  if (status != NVML_UNKNOWN) return;
  /* Then the set is not usable any more. */
  if (nvml.event_set_free != NULL) nvml.event_set_free(events);
  events = NULL;
  for (unsigned i = 0; i < count; i++) gpus[i].hears = false;
}

static void gpu_find(unsigned index) {
  struct nvml_gpu *gpu = &gpus[index];
  if (!answered(gpu, nvml.handle(index, &gpu->device))) {
    gpu->device = NULL;
    return;
  }
  listen_to(gpu);
  if (gpu->told && !gpu->lost) say(SAY_INFO, fault("GPU %u is back", index), (char *)NULL);
  gpu->told = gpu->lost;
}

/* Without waiting. More than this many at once are left for the next round, because it must end. */
static void count_xids(void) {
  for (unsigned left = 1000; left > 0 && events != NULL; left--) {
    struct nvml_event event = {0};
    const int status = nvml.event_wait(events, &event, 0);
    if (status != NVML_SUCCESS) {
      struct nvml_gpu nobody = {.told = true}; /* it does not say which one is lost */
      answered(&nobody, status);
      return;
    }
    if ((event.type & NVML_EVENT_XID) == 0) continue;
    /* Only their sum is reported, so none is dropped because its GPU is unknown. */
    unsigned whose = 0;
    for (unsigned i = 0; i < count; i++)
      if (gpus[i].device == event.device) whose = i;
    gpus[whose].xids++;
  }
}

static uint64_t read_temperature(struct nvml_gpu *gpu) {
  struct nvml_temperature reading = {.version = NVML_TEMPERATURE_VERSION, .sensor = NVML_TEMPERATURE_GPU};
  unsigned celsius;
  if (ASK(gpu, temperature, NVML_TEMPERATURE_GPU, &celsius)) return celsius;
  return ASK(gpu, temperature_v, &reading) && reading.celsius >= 0 ? (uint64_t)reading.celsius : UNKNOWN;
}

static void read_memory(struct nvml_gpu *gpu, struct gpu_line *line) {
  struct nvml_memory memory;
  if (!ASK(gpu, memory, &memory) || memory.total == 0 || memory.used > memory.total) return;
  line->word[MEM_USED_MIB] = memory.used >> 20;
  line->word[MEM_TOTAL_MIB] = memory.total >> 20;
}

/* A GPU without ECC, or with ECC switched off, has no such errors; one that does not answer may have some. */
static uint64_t read_ecc(struct nvml_gpu *gpu) {
  unsigned mode = NVML_ECC_DISABLED + 1, pending;
  unsigned long long errors;
  if (may_ask(gpu) && nvml.ecc_mode != NULL) {
    const int status = nvml.ecc_mode(gpu->device, &mode, &pending);
    if (status == NVML_NOT_SUPPORTED) return 0;
    if (!answered(gpu, status)) return UNKNOWN;
    if (mode == NVML_ECC_DISABLED) return 0;
  }
  return ASK(gpu, ecc_errors, NVML_UNCORRECTED, NVML_VOLATILE, &errors) && errors <= UINT32_MAX ? errors : UNKNOWN;
}

/* Programs that hold the GPU, even idle ones: this is all that a partitioned GPU (MIG) reports. */
static bool has_programs(struct nvml_gpu *gpu) {
  unsigned programs = 0;
  if (!may_ask(gpu) || nvml.programs == NULL) return false;
  const int status = nvml.programs(gpu->device, &programs, NULL);
  return (answered(gpu, status) || status == NVML_INSUFFICIENT_SIZE) && programs > 0;
}

static void read_gpu(unsigned index) {
  static const unsigned long long slow = NVML_SLOWED_BY_HARDWARE | NVML_SLOWED_BY_HEAT_IN_SOFTWARE |
                                         NVML_SLOWED_BY_HEAT_IN_HARDWARE | NVML_SLOWED_BY_POWER_BRAKE;
  struct nvml_gpu *gpu = &gpus[index];
  struct gpu_line *line = &lines[index], now;
  struct nvml_utilization rates;
  unsigned long long reasons;
  unsigned number, pending;
  uint64_t flags = BB_GPU_FLAGS_PRESENT;
  for (unsigned word = 0; word < GPU_WORDS; word++) now.word[word] = UNKNOWN;
  /* Errors of a lost GPU still count. */
  const uint64_t errors = line->word[ERRORS], ecc_errors = line->word[ECC_UE];
  if (gpu->device != NULL) {
    if (ASK(gpu, utilization, &rates)) now.word[UTIL_PCT] = rates.gpu;
    now.word[TEMP_C] = read_temperature(gpu);
    /* no GPU needs less than a watt */
    if (ASK(gpu, power, &number) && number >= 1000) now.word[POWER_W] = number / 1000;
    read_memory(gpu, &now);
    if (now.word[UTIL_PCT] <= 100 && now.word[UTIL_PCT] > 0) flags |= BB_GPU_FLAGS_IN_USE;
    else if (has_programs(gpu)) flags |= BB_GPU_FLAGS_IN_USE;
    if (ASK(gpu, slowed_by, &reasons) && (reasons & slow) != 0) flags |= BB_GPU_FLAGS_THROTTLED;
    if (ASK(gpu, mig, &number, &pending) && number == NVML_MIG_ENABLED) flags |= BB_GPU_FLAGS_PARTITIONED;
    now.word[ECC_UE] = read_ecc(gpu);
  }
  if (gpu->lost) {
    for (unsigned word = 0; word < ERRORS; word++) now.word[word] = UNKNOWN;
    now.word[ERRORS] = errors;
    now.word[ECC_UE] = ecc_errors;
    flags = BB_GPU_FLAGS_PRESENT | BB_GPU_FLAGS_OFF_THE_BUS;
  }
  if (gpu->hears) now.word[ERRORS] = gpu->xids;
  if (now.word[ECC_UE] != UNKNOWN && now.word[ECC_UE] > 0) flags |= BB_GPU_FLAGS_ECC_ERROR;
  now.word[FLAGS] = flags;
  *line = now;
}

const char *gpus_read(const struct gpu_line **into, unsigned *how_many) {
  static bool begun;
  for (; !begun; begun = true)
    for (unsigned i = 0; i < MOST_GPUS; i++) lines[i].word[ERRORS] = lines[i].word[ECC_UE] = UNKNOWN;
  for (unsigned i = 0; i < count; i++)
    if (gpus[i].device == NULL && may_ask(&gpus[i])) gpu_find(i);
  count_xids();
  for (unsigned i = 0; i < count && broken == NVML_SUCCESS; i++) read_gpu(i);
  *into = lines;
  *how_many = count;
  return broken == NVML_SUCCESS ? NULL : nvml_failed("NVML does not work any more", broken);
}

bool gpus_are_lost(void) {
  for (unsigned i = 0; i < count; i++)
    if (gpus[i].lost) return true;
  return false;
}
