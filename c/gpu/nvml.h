/* The part of NVML that the helper calls: names, numbers and layouts of NVIDIA's documented interface, so that
 * nothing from NVIDIA is needed to build. None of it has changed since the driver that introduced it; if a library
 * lacks a function, only that function's values are missing. */
#ifndef BB_NVML_H
#define BB_NVML_H

typedef struct nvmlDevice_st *nvml_device;
typedef struct nvmlEventSet_st *nvml_event_set;

/* The values of nvmlReturn_t that we react to. */
enum nvml_status {
  NVML_SUCCESS = 0,
  NVML_UNINITIALIZED = 1,
  NVML_NOT_SUPPORTED = 3,
  NVML_NO_PERMISSION = 4,
  NVML_INSUFFICIENT_SIZE = 7,
  NVML_DRIVER_NOT_LOADED = 9,
  NVML_LIBRARY_NOT_FOUND = 12,
  NVML_FUNCTION_NOT_FOUND = 13,
  NVML_GPU_IS_LOST = 15,
  NVML_RESET_REQUIRED = 16,
  NVML_LIB_RM_VERSION_MISMATCH = 18,
  NVML_NO_DATA = 21,
  NVML_VGPU_ECC_NOT_SUPPORTED = 22,
  NVML_ARGUMENT_VERSION_MISMATCH = 25,
  NVML_DEPRECATED = 26,
  NVML_UNKNOWN = 999,
};

enum { NVML_TEMPERATURE_GPU = 0 };              /* nvmlTemperatureSensors_t: that of the die */
enum { NVML_ECC_DISABLED = 0 };                 /* nvmlEnableState_t */
enum { NVML_UNCORRECTED = 1 };                  /* nvmlMemoryErrorType_t */
enum { NVML_VOLATILE = 0 };                     /* nvmlEccCounterType_t: since the driver was loaded */
enum { NVML_MIG_ENABLED = 1 };
#define NVML_EVENT_XID 8ull                     /* nvmlEventTypeXidCriticalError */
/* nvmlClocksEventReasons: what slows a GPU down beyond its normal management. Not the power cap, at which a busy GPU
 * runs all the time. */
#define NVML_SLOWED_BY_HARDWARE 0x08ull
#define NVML_SLOWED_BY_HEAT_IN_SOFTWARE 0x20ull
#define NVML_SLOWED_BY_HEAT_IN_HARDWARE 0x40ull
#define NVML_SLOWED_BY_POWER_BRAKE 0x80ull

struct nvml_utilization {
  unsigned gpu, memory; /* per cent of the time */
};

struct nvml_memory {
  unsigned long long total, free, used; /* bytes; used includes what the driver reserves for itself */
};

struct nvml_temperature {
  unsigned version; /* NVML_TEMPERATURE_VERSION */
  unsigned sensor;
  int celsius;
};
#define NVML_TEMPERATURE_VERSION ((unsigned)sizeof(struct nvml_temperature) | 1u << 24)

/* The begin of nvmlPciInfo_t, and room for the rest of any version. */
struct nvml_pci {
  char legacy[16];
  unsigned domain, bus, device, ids, subsystem;
  char rest[64];
};

struct nvml_event {
  nvml_device device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

/* The functions: ours, its parameters, and the names in the library, the best first; they differ in what we do not use.
 * The enums among the parameters are as wide as unsigned. */
#define NVML_FUNCTIONS(F) \
  F(init, (void), "nvmlInit_v2") \
  F(shutdown, (void), "nvmlShutdown") \
  F(count, (unsigned *count), "nvmlDeviceGetCount_v2") \
  F(handle, (unsigned index, nvml_device *device), "nvmlDeviceGetHandleByIndex_v2") \
  F(uuid, (nvml_device device, char *text, unsigned room), "nvmlDeviceGetUUID") \
  F(pci, (nvml_device device, struct nvml_pci *pci), "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2") \
  F(utilization, (nvml_device device, struct nvml_utilization *rates), "nvmlDeviceGetUtilizationRates") \
  F(memory, (nvml_device device, struct nvml_memory *memory), "nvmlDeviceGetMemoryInfo") \
  F(temperature, (nvml_device device, unsigned sensor, unsigned *celsius), "nvmlDeviceGetTemperature") \
  F(temperature_v, (nvml_device device, struct nvml_temperature *temperature), "nvmlDeviceGetTemperatureV") \
  F(power, (nvml_device device, unsigned *milliwatts), "nvmlDeviceGetPowerUsage") \
  F(slowed_by, (nvml_device device, unsigned long long *reasons), "nvmlDeviceGetCurrentClocksEventReasons", \
    "nvmlDeviceGetCurrentClocksThrottleReasons") \
  F(mig, (nvml_device device, unsigned *current, unsigned *pending), "nvmlDeviceGetMigMode") \
  /* With a count of 0 it only counts, and the table may be NULL. */ \
  F(programs, (nvml_device device, unsigned *count, void *table), "nvmlDeviceGetComputeRunningProcesses_v3", \
    "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses") \
  F(ecc_mode, (nvml_device device, unsigned *current, unsigned *pending), "nvmlDeviceGetEccMode") \
  F(ecc_errors, (nvml_device device, unsigned type, unsigned since, unsigned long long *count), \
    "nvmlDeviceGetTotalEccErrors") \
  F(event_set, (nvml_event_set *set), "nvmlEventSetCreate") \
  F(event_set_free, (nvml_event_set set), "nvmlEventSetFree") \
  F(events, (nvml_device device, unsigned long long types, nvml_event_set set), "nvmlDeviceRegisterEvents") \
  F(event_wait, (nvml_event_set set, struct nvml_event *event, unsigned ms), "nvmlEventSetWait_v2")

/* A loaded library. NULL: it does not have the function. */
struct nvml {
#define NVML_MEMBER(name, parameters, ...) int (*name) parameters;
  NVML_FUNCTIONS(NVML_MEMBER)
  const char *(*error_string)(int status);
};

#endif
