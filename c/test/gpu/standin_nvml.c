/* A stand-in for NVIDIA's libnvidia-ml.so.1, for tests: no GPU is behind it, and nothing that it tells is true.
 *
 * What it answers is written in the file that STANDIN_NVML names, which is read anew when it was replaced. A line is
 * the name of a function without `nvml`, a GPU or `*`, the status, and what it gives:
 *
 *     DeviceGetCount * 0 8
 *     DeviceGetTemperature * 0 61
 *     DeviceGetTemperature 3 15
 *     DeviceGetPowerUsage 5 hang
 *
 * The last line that fits counts; without one, it is not supported (3). A value of `@` is the number of the round,
 * counted at GPU 0's utilisation. `hang` keeps the call until the file says something else, and says so by making the
 * file STANDIN_NVML.hangs. `Xid GPU 0 N` says how many Xids that GPU has had; those since it was listened to come as
 * events, with `EventSetWait * 0 1` of a device that nobody knows. STANDIN_NVML.log is told of each beginning and
 * end. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../gpu/nvml.h"

#define MOST 300u

struct nvmlDevice_st {
  unsigned index;
};
struct nvmlEventSet_st {
  bool made;
};

struct answer {
  bool hangs;
  int status;
  unsigned long long value[3];
};

static struct nvmlDevice_st devices[MOST];
static struct nvmlEventSet_st set;
static unsigned begun;
static unsigned long long rounds, heard_of[MOST];
static bool listened_to[MOST];
static char script[64 << 10];

static const char *path_of(const char *suffix) {
  static char path[500];
  const char *base = getenv("STANDIN_NVML");
  if (base == NULL) abort();
  snprintf(path, sizeof path, "%s%s", base, suffix);
  return path;
}

static void read_script(void) {
  static struct stat last;
  struct stat now;
  if (stat(path_of(""), &now) != 0) abort();
  if (now.st_ino == last.st_ino && now.st_mtim.tv_sec == last.st_mtim.tv_sec &&
      now.st_mtim.tv_nsec == last.st_mtim.tv_nsec)
    return;
  last = now;
  const int fd = open(path_of(""), O_RDONLY | O_CLOEXEC);
  const ssize_t length = read(fd, script, sizeof script - 1);
  if (length < 0) abort();
  script[length] = 0;
  close(fd);
}

static void note(const char *suffix, const char *text) {
  const int fd = open(path_of(suffix), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (write(fd, text, strlen(text)) < 0) abort();
  close(fd);
}

/* What the last line that fits says. */
static struct answer look_up(const char *name, unsigned gpu) {
  struct answer answer = {.status = NVML_NOT_SUPPORTED};
  read_script();
  for (const char *line = script; line != NULL && *line != 0; line = strchr(line, '\n'), line += line != NULL) {
    char words[6][40] = {{0}};
    int count = 0;
    for (const char *at = line; count < 6 && sscanf(at, "%39[^ \n]", words[count]) == 1; count++) {
      at += strlen(words[count]);
      at += *at == ' ';
    }
    if (count < 3 || strcmp(words[0], name) != 0 || (words[1][0] != '*' && strtoul(words[1], NULL, 10) != gpu))
      continue;
    answer = (struct answer){.hangs = strcmp(words[2], "hang") == 0, .status = atoi(words[2])};
    for (int i = 3; i < count; i++) answer.value[i - 3] = words[i][0] == '@' ? rounds : strtoull(words[i], NULL, 10);
  }
  return answer;
}

static struct answer ask(const char *name, unsigned gpu) {
  struct answer answer = look_up(name, gpu);
  if (answer.hangs) note(".hangs", name);
  for (; answer.hangs; answer = look_up(name, gpu)) usleep(2000);
  return answer;
}

/* Of a device that it gave away, and while it is begun. */
static struct answer ask_device(const char *name, nvml_device device) {
  if (device < devices || device >= devices + MOST) abort();
  if (begun == 0) return (struct answer){.status = NVML_UNINITIALIZED};
  return ask(name, device->index);
}

static int give(struct answer answer, unsigned *first, unsigned *second) {
  if (answer.status != NVML_SUCCESS) return answer.status;
  *first = (unsigned)answer.value[0];
  if (second != NULL) *second = (unsigned)answer.value[1];
  return NVML_SUCCESS;
}

static int give_long(struct answer answer, unsigned long long *into) {
  if (answer.status == NVML_SUCCESS) *into = answer.value[0];
  return answer.status;
}

int nvmlInit_v2(void);
int nvmlInit_v2(void) {
  const struct answer answer = ask("Init", 0);
  note(".log", answer.status == NVML_SUCCESS ? "init\n" : "init failed\n");
  begun += answer.status == NVML_SUCCESS;
  return answer.status;
}

int nvmlShutdown(void);
int nvmlShutdown(void) {
  if (begun == 0) abort();
  begun--;
  note(".log", "shutdown\n");
  return NVML_SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetCount_v2(unsigned *count) { return give(ask("DeviceGetCount", 0), count, NULL); }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_device *device);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_device *device) {
  if (index >= MOST || begun == 0) abort();
  devices[index].index = index;
  *device = &devices[index];
  return ask("DeviceGetHandleByIndex", index).status;
}

/* Whoever has only these is the poorest that can be used. */
#ifndef ONLY_WHAT_IS_NEEDED

const char *nvmlErrorString(int status);
const char *nvmlErrorString(int status) { return status == NVML_GPU_IS_LOST ? "GPU is lost" : "something is wrong"; }

/* Gives the number in the UUID: `GPU-7`. */
int nvmlDeviceGetUUID(nvml_device device, char *text, unsigned room);
int nvmlDeviceGetUUID(nvml_device device, char *text, unsigned room) {
  const struct answer answer = ask_device("DeviceGetUUID", device);
  if (answer.status == NVML_SUCCESS) snprintf(text, room, "GPU-%llu", answer.value[0]);
  return answer.status;
}

/* Gives the bus. */
int nvmlDeviceGetPciInfo_v3(nvml_device device, struct nvml_pci *pci);
int nvmlDeviceGetPciInfo_v3(nvml_device device, struct nvml_pci *pci) {
  const struct answer answer = ask_device("DeviceGetPciInfo", device);
  if (answer.status == NVML_SUCCESS) *pci = (struct nvml_pci){.bus = (unsigned)answer.value[0]};
  return answer.status;
}

int nvmlDeviceGetUtilizationRates(nvml_device device, struct nvml_utilization *rates);
int nvmlDeviceGetUtilizationRates(nvml_device device, struct nvml_utilization *rates) {
  if (device == devices) rounds++;
  return give(ask_device("DeviceGetUtilizationRates", device), &rates->gpu, &rates->memory);
}

/* Gives total and used. */
int nvmlDeviceGetMemoryInfo(nvml_device device, struct nvml_memory *memory);
int nvmlDeviceGetMemoryInfo(nvml_device device, struct nvml_memory *memory) {
  const struct answer answer = ask_device("DeviceGetMemoryInfo", device);
  if (answer.status == NVML_SUCCESS)
    *memory = (struct nvml_memory){answer.value[0], answer.value[0] - answer.value[1], answer.value[1]};
  return answer.status;
}

#ifdef NEWER
int nvmlDeviceGetTemperatureV(nvml_device device, struct nvml_temperature *temperature);
int nvmlDeviceGetTemperatureV(nvml_device device, struct nvml_temperature *temperature) {
  if (temperature->version != 0x100000c || temperature->sensor != 0) abort();
  const struct answer answer = ask_device("DeviceGetTemperatureV", device);
  if (answer.status == NVML_SUCCESS) temperature->celsius = (int)answer.value[0];
  return answer.status;
}
#else
int nvmlDeviceGetTemperature(nvml_device device, unsigned sensor, unsigned *celsius);
int nvmlDeviceGetTemperature(nvml_device device, unsigned sensor, unsigned *celsius) {
  if (sensor != 0) abort();
  return give(ask_device("DeviceGetTemperature", device), celsius, NULL);
}
#endif

int nvmlDeviceGetPowerUsage(nvml_device device, unsigned *milliwatts);
int nvmlDeviceGetPowerUsage(nvml_device device, unsigned *milliwatts) {
  return give(ask_device("DeviceGetPowerUsage", device), milliwatts, NULL);
}

#ifdef OLDER
#define SLOWED_BY nvmlDeviceGetCurrentClocksThrottleReasons
#define PROGRAMS nvmlDeviceGetComputeRunningProcesses
#else
#define SLOWED_BY nvmlDeviceGetCurrentClocksEventReasons
#define PROGRAMS nvmlDeviceGetComputeRunningProcesses_v3
#endif

int SLOWED_BY(nvml_device device, unsigned long long *reasons);
int SLOWED_BY(nvml_device device, unsigned long long *reasons) {
  return give_long(ask_device("SlowedBy", device), reasons);
}

int PROGRAMS(nvml_device device, unsigned *count, void *table);
int PROGRAMS(nvml_device device, unsigned *count, void *table) {
  if (*count != 0 || table != NULL) abort();
  const struct answer answer = ask_device("Programs", device);
  if (answer.status == NVML_SUCCESS || answer.status == NVML_INSUFFICIENT_SIZE) *count = (unsigned)answer.value[0];
  return answer.status;
}

int nvmlDeviceGetMigMode(nvml_device device, unsigned *current, unsigned *pending);
int nvmlDeviceGetMigMode(nvml_device device, unsigned *current, unsigned *pending) {
  return give(ask_device("DeviceGetMigMode", device), current, pending);
}

int nvmlDeviceGetEccMode(nvml_device device, unsigned *current, unsigned *pending);
int nvmlDeviceGetEccMode(nvml_device device, unsigned *current, unsigned *pending) {
  return give(ask_device("DeviceGetEccMode", device), current, pending);
}

int nvmlDeviceGetTotalEccErrors(nvml_device device, unsigned type, unsigned since, unsigned long long *count);
int nvmlDeviceGetTotalEccErrors(nvml_device device, unsigned type, unsigned since, unsigned long long *count) {
  if (type != 1 || since != 0) abort();
  return give_long(ask_device("DeviceGetTotalEccErrors", device), count);
}

int nvmlEventSetCreate(nvml_event_set *into);
int nvmlEventSetCreate(nvml_event_set *into) {
  if (set.made || begun == 0) abort();
  const struct answer answer = ask("EventSetCreate", 0);
  set.made = answer.status == NVML_SUCCESS;
  *into = set.made ? &set : NULL;
  return answer.status;
}

int nvmlEventSetFree(nvml_event_set of);
int nvmlEventSetFree(nvml_event_set of) {
  if (of != &set || !set.made) abort();
  set.made = false;
  return NVML_SUCCESS;
}

int nvmlDeviceRegisterEvents(nvml_device device, unsigned long long types, nvml_event_set of);
int nvmlDeviceRegisterEvents(nvml_device device, unsigned long long types, nvml_event_set of) {
  if (types != 8 || of != &set || !set.made) abort();
  const int status = ask_device("DeviceRegisterEvents", device).status;
  listened_to[device->index] = status == NVML_SUCCESS;
  heard_of[device->index] = look_up("Xid", device->index).value[0];
  return status;
}

int nvmlEventSetWait_v2(nvml_event_set of, struct nvml_event *event, unsigned ms);
int nvmlEventSetWait_v2(nvml_event_set of, struct nvml_event *event, unsigned ms) {
  if (of != &set || !set.made || ms != 0) abort(); /* whoever waits here cannot be on time */
  const struct answer answer = ask("EventSetWait", 0);
  if (answer.status != NVML_SUCCESS) return answer.status;
  for (unsigned i = 0; i < MOST; i++) {
    if (!listened_to[i] || look_up("Xid", i).value[0] <= heard_of[i]) continue;
    heard_of[i]++;
    *event = (struct nvml_event){&devices[answer.value[0] > 0 ? MOST - 1 : i], NVML_EVENT_XID, 79, ~0u, ~0u};
    return NVML_SUCCESS;
  }
  return 10; /* NVML_ERROR_TIMEOUT */
}

#endif
