/* Generated from the documents in proto/. Do not edit: change these and run `npm run generate`. */
#ifndef BB_LAYOUT_GEN_H
#define BB_LAYOUT_GEN_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define BB_STATIC_ASSERT static_assert
#else
#define BB_STATIC_ASSERT _Static_assert
#endif

#define BB_HASH_STAT_V1 UINT64_C(0xf0b4d862878e67ac)
#define BB_HASH_BOARD_V2 UINT64_C(0xac665171d3c0ad86)
#define BB_HASH_RELAY_V1 UINT64_C(0xf7ccf877eb4b4a73)

#define BB_STAT_MAGIC UINT32_C(0x31525342)
#define BB_STAT_VERSION UINT16_C(1)
#define BB_STAT_BUFFER_BYTES UINT32_C(2305)

#define BB_MOST_ZONES UINT32_C(64)
#define BB_MOST_FILE_SYSTEMS UINT32_C(1024)
#define BB_MOST_PROCESSORS UINT32_C(64)
#define BB_MOST_SENSORS UINT32_C(512)
#define BB_MOST_LINKS UINT32_C(4096)
#define BB_MOST_SPEEDS UINT32_C(1024)
#define BB_MOST_DEVICES UINT32_C(8192)
#define BB_MOST_MEMBERS UINT32_C(1024)

#define BB_BOARD_MAGIC UINT64_C(0x4452414f424f4542)

#define BB_RELAY_MAGIC UINT64_C(0x59414c45524f4542)
#define BB_RELAY_VERSION UINT32_C(1)

enum bb_auth_alg {
  BB_AUTH_ALG_NONE = 0,
  BB_AUTH_ALG_CLUSTER = 1,
  BB_AUTH_ALG_NODE = 2,
};
#define BB_AUTH_ALG_COUNT 3
static const char *const bb_auth_alg_names[] __attribute__((unused)) = {
  "none",
  "cluster",
  "node",
};

enum bb_health {
  BB_HEALTH_UNKNOWN = 0,
  BB_HEALTH_OK = 1,
  BB_HEALTH_WARNING = 2,
  BB_HEALTH_BAD = 3,
};
#define BB_HEALTH_COUNT 4
static const char *const bb_health_names[] __attribute__((unused)) = {
  "unknown",
  "ok",
  "warning",
  "bad",
};

enum bb_health_src {
  BB_HEALTH_SRC_NONE = 0,
  BB_HEALTH_SRC_ADMIN = 1,
  BB_HEALTH_SRC_CHECK = 2,
};
#define BB_HEALTH_SRC_COUNT 3
static const char *const bb_health_src_names[] __attribute__((unused)) = {
  "none",
  "admin",
  "check",
};

enum bb_arch {
  BB_ARCH_OTHER = 0,
  BB_ARCH_X86_64 = 1,
  BB_ARCH_AARCH64 = 2,
  BB_ARCH_PPC64LE = 3,
  BB_ARCH_RISCV64 = 4,
  BB_ARCH_S390X = 5,
};
#define BB_ARCH_COUNT 6
static const char *const bb_arch_names[] __attribute__((unused)) = {
  "other",
  "x86_64",
  "aarch64",
  "ppc64le",
  "riscv64",
  "s390x",
};

enum bb_virt {
  BB_VIRT_METAL = 0,
  BB_VIRT_VM = 1,
  BB_VIRT_CONTAINER = 2,
};
#define BB_VIRT_COUNT 3
static const char *const bb_virt_names[] __attribute__((unused)) = {
  "metal",
  "vm",
  "container",
};

enum bb_power_src {
  BB_POWER_SRC_NONE = 0,
  BB_POWER_SRC_HWMON = 1,
  BB_POWER_SRC_BMC = 2,
};
#define BB_POWER_SRC_COUNT 3
static const char *const bb_power_src_names[] __attribute__((unused)) = {
  "none",
  "hwmon",
  "bmc",
};

enum bb_gpu_vendor {
  BB_GPU_VENDOR_NONE = 0,
  BB_GPU_VENDOR_NVIDIA = 1,
  BB_GPU_VENDOR_AMD = 2,
  BB_GPU_VENDOR_INTEL = 3,
};
#define BB_GPU_VENDOR_COUNT 4
static const char *const bb_gpu_vendor_names[] __attribute__((unused)) = {
  "none",
  "nvidia",
  "amd",
  "intel",
};

enum bb_event_kind {
  BB_EVENT_KIND_NONE = 0,
  BB_EVENT_KIND_RESTART = 1,
  BB_EVENT_KIND_REBOOT = 2,
  BB_EVENT_KIND_RESET = 3,
  BB_EVENT_KIND_GOODBYE = 4,
  BB_EVENT_KIND_REFUSAL = 5,
  BB_EVENT_KIND_LINK_UP = 6,
  BB_EVENT_KIND_LINK_DOWN = 7,
  BB_EVENT_KIND_DARK = 8,
  BB_EVENT_KIND_LIT = 9,
  BB_EVENT_KIND_OVERFLOW = 10,
  BB_EVENT_KIND_TAKEOVER = 11,
  BB_EVENT_KIND_FORGET = 12,
  BB_EVENT_KIND_FOLLOWED = 13,
  BB_EVENT_KIND_CLONE = 14,
  BB_EVENT_KIND_DEAF = 15,
  BB_EVENT_KIND_CLEAR = 16,
};
#define BB_EVENT_KIND_COUNT 17
static const char *const bb_event_kind_names[] __attribute__((unused)) = {
  "none",
  "restart",
  "reboot",
  "reset",
  "goodbye",
  "refusal",
  "link_up",
  "link_down",
  "dark",
  "lit",
  "overflow",
  "takeover",
  "forget",
  "followed",
  "clone",
  "deaf",
  "clear",
};

enum bb_reload_part {
  BB_RELOAD_PART_NONE = 0,
  BB_RELOAD_PART_OPTIONS = 1,
  BB_RELOAD_PART_NODES = 2,
  BB_RELOAD_PART_KEYS = 3,
};
#define BB_RELOAD_PART_COUNT 4
static const char *const bb_reload_part_names[] __attribute__((unused)) = {
  "none",
  "options",
  "nodes",
  "keys",
};

enum bb_reason {
  BB_REASON_NONE = 0,
  BB_REASON_SIZE = 1,
  BB_REASON_MAGIC = 2,
  BB_REASON_VERSION = 3,
  BB_REASON_LENGTH = 4,
  BB_REASON_CLUSTER = 5,
  BB_REASON_RESERVED = 6,
  BB_REASON_NAME = 7,
  BB_REASON_INTERVAL = 8,
  BB_REASON_RANGE = 9,
  BB_REASON_AUTH_MISSING = 10,
  BB_REASON_KEY_ID = 11,
  BB_REASON_TAG = 12,
  BB_REASON_STRANGER = 13,
  BB_REASON_CLOCK = 14,
  BB_REASON_RIVAL = 15,
  BB_REASON_REPLAY = 16,
  BB_REASON_LATE = 17,
  BB_REASON_FULL = 18,
};
#define BB_REASON_COUNT 19
static const char *const bb_reason_names[] __attribute__((unused)) = {
  "none",
  "size",
  "magic",
  "version",
  "length",
  "cluster",
  "reserved",
  "name",
  "interval",
  "range",
  "auth_missing",
  "key_id",
  "tag",
  "stranger",
  "clock",
  "rival",
  "replay",
  "late",
  "full",
};

enum bb_relay_kind {
  BB_RELAY_KIND_NONE = 0,
  BB_RELAY_KIND_BATCH = 1,
  BB_RELAY_KIND_INDEX = 2,
  BB_RELAY_KIND_PONG = 3,
  BB_RELAY_KIND_PING = 4,
  BB_RELAY_KIND_ASK = 5,
};
#define BB_RELAY_KIND_COUNT 6
static const char *const bb_relay_kind_names[] __attribute__((unused)) = {
  "none",
  "batch",
  "index",
  "pong",
  "ping",
  "ask",
};

enum bb_relay_entry {
  BB_RELAY_ENTRY_NONE = 0,
  BB_RELAY_ENTRY_REPORT = 1,
  BB_RELAY_ENTRY_RECORD = 2,
  BB_RELAY_ENTRY_LINK = 3,
};
#define BB_RELAY_ENTRY_COUNT 4
static const char *const bb_relay_entry_names[] __attribute__((unused)) = {
  "none",
  "report",
  "record",
  "link",
};

enum bb_node_state {
  BB_NODE_STATE_NEVER = 0,
  BB_NODE_STATE_LIVE = 1,
  BB_NODE_STATE_UNCERTAIN = 2,
  BB_NODE_STATE_SILENT = 3,
  BB_NODE_STATE_LEFT = 4,
  BB_NODE_STATE_UNKNOWN = 5,
};
#define BB_NODE_STATE_COUNT 6
static const char *const bb_node_state_names[] __attribute__((unused)) = {
  "never",
  "live",
  "uncertain",
  "silent",
  "left",
  "unknown",
};
static const char *const bb_node_state_meanings[] __attribute__((unused)) = {
  "in the node list, no report yet",
  "heard within uncertain_after",
  "place no new work, but do not drain",
  "not heard for silent_after, while the receiver listened",
  "said goodbye: shut down cleanly",
  "the receiver is stalled: nothing is known about nodes",
};

enum bb_problem {
  BB_PROBLEM_HELD = 0,
  BB_PROBLEM_BAD_HEALTH = 1,
  BB_PROBLEM_ROOT_READONLY = 2,
  BB_PROBLEM_MEMORY_ERRORS = 3,
  BB_PROBLEM_GPU_LOST = 4,
  BB_PROBLEM_GPU_ERRORS = 5,
  BB_PROBLEM_ROOT_FULL = 6,
  BB_PROBLEM_SCRATCH_FULL = 7,
  BB_PROBLEM_HEALTH_WARNING = 8,
  BB_PROBLEM_OOM = 9,
  BB_PROBLEM_HUNG_TASKS = 10,
  BB_PROBLEM_THROTTLED = 11,
  BB_PROBLEM_ECC = 12,
};
#define BB_PROBLEM_COUNT 13
static const char *const bb_problem_names[] __attribute__((unused)) = {
  "held",
  "bad_health",
  "root_readonly",
  "memory_errors",
  "gpu_lost",
  "gpu_errors",
  "root_full",
  "scratch_full",
  "health_warning",
  "oom",
  "hung_tasks",
  "throttled",
  "ecc",
};
static const char *const bb_problem_meanings[] __attribute__((unused)) = {
  "put on hold by its administrator",
  "its health check failed",
  "its root file system is read-only",
  "memory errors that were not corrected",
  "a GPU has fallen off the bus",
  "GPU errors",
  "its root file system is nearly full",
  "its scratch is nearly full",
  "its health check warns",
  "programs were killed, memory ran out",
  "tasks were stuck for over two minutes",
  "it is slowed down by heat or power supply",
  "memory errors that were corrected",
};
static const uint32_t bb_problem_quiet_ms[] __attribute__((unused)) = {
  60000,
  60000,
  60000,
  60000,
  60000,
  600000,
  60000,
  60000,
  60000,
  600000,
  600000,
  600000,
  3600000,
};

enum bb_last_words {
  BB_LAST_WORDS_MEMORY_ERRORS = 0,
  BB_LAST_WORDS_KERNEL_FAULT = 1,
  BB_LAST_WORDS_ROOT_READONLY = 2,
  BB_LAST_WORDS_ROOT_FULL = 3,
  BB_LAST_WORDS_MEMORY_LOW = 4,
  BB_LAST_WORDS_OOM = 5,
  BB_LAST_WORDS_MEMORY_STALLED = 6,
  BB_LAST_WORDS_IO_STALLED = 7,
  BB_LAST_WORDS_NO_CARRIER = 8,
  BB_LAST_WORDS_THROTTLED = 9,
  BB_LAST_WORDS_LATE = 10,
};
#define BB_LAST_WORDS_COUNT 11
static const char *const bb_last_words_names[] __attribute__((unused)) = {
  "memory_errors",
  "kernel_fault",
  "root_readonly",
  "root_full",
  "memory_low",
  "oom",
  "memory_stalled",
  "io_stalled",
  "no_carrier",
  "throttled",
  "late",
};
static const char *const bb_last_words_meanings[] __attribute__((unused)) = {
  "memory errors that were not corrected",
  "a fault of its kernel",
  "its root file system was read-only",
  "its root file system was nearly full",
  "hardly any memory was available",
  "programs were killed, memory ran out",
  "all its programs waited for memory",
  "all its programs waited for disks",
  "a network interface lost its carrier",
  "it was slowed down by heat or power supply",
  "its sender was late",
};

#define BB_VALID_CPUS (UINT64_C(1) << 0)
#define BB_VALID_TOPOLOGY (UINT64_C(1) << 1)
#define BB_VALID_LOAD (UINT64_C(1) << 2)
#define BB_VALID_STAT (UINT64_C(1) << 3)
#define BB_VALID_CPU_SHARE (UINT64_C(1) << 4)
#define BB_VALID_MEMORY (UINT64_C(1) << 5)
#define BB_VALID_VMSTAT (UINT64_C(1) << 6)
#define BB_VALID_PSI_CPU (UINT64_C(1) << 7)
#define BB_VALID_PSI_MEM (UINT64_C(1) << 8)
#define BB_VALID_PSI_IO (UINT64_C(1) << 9)
#define BB_VALID_PSI_IRQ (UINT64_C(1) << 10)
#define BB_VALID_TCP (UINT64_C(1) << 11)
#define BB_VALID_FILES (UINT64_C(1) << 12)
#define BB_VALID_NET (UINT64_C(1) << 13)
#define BB_VALID_DISK (UINT64_C(1) << 14)
#define BB_VALID_DISK_SHARE (UINT64_C(1) << 15)
#define BB_VALID_GROUPS (UINT64_C(1) << 16)
#define BB_VALID_GROUP_SHARE (UINT64_C(1) << 17)
#define BB_VALID_SYSTEM (UINT64_C(1) << 18)
#define BB_VALID_CPU_MHZ (UINT64_C(1) << 19)
#define BB_VALID_SENDER (UINT64_C(1) << 20)
#define BB_VALID_CLOCK (UINT64_C(1) << 21)
#define BB_VALID_TAINT (UINT64_C(1) << 22)
#define BB_VALID_HUNG_TASKS (UINT64_C(1) << 23)
#define BB_VALID_EDAC (UINT64_C(1) << 24)
#define BB_VALID_THROTTLE (UINT64_C(1) << 25)
#define BB_VALID_FABRIC (UINT64_C(1) << 26)
#define BB_VALID_ENERGY_CPU (UINT64_C(1) << 27)
#define BB_VALID_ENERGY_DRAM (UINT64_C(1) << 28)
#define BB_VALID_POWER (UINT64_C(1) << 29)
#define BB_VALID_TEMP_INLET (UINT64_C(1) << 30)
#define BB_VALID_TEMP_HOTTEST (UINT64_C(1) << 31)
#define BB_VALID_ROOT (UINT64_C(1) << 32)
#define BB_VALID_SCRATCH (UINT64_C(1) << 33)
#define BB_VALID_FILESYSTEMS (UINT64_C(1) << 34)
#define BB_VALID_HEALTH (UINT64_C(1) << 35)
#define BB_VALID_GPU (UINT64_C(1) << 36)
#define BB_VALID_GPU_ERRORS (UINT64_C(1) << 37)
#define BB_VALID_HW_HASH (UINT64_C(1) << 38)
#define BB_VALID_SW_HASH (UINT64_C(1) << 39)
#define BB_VALID_KNOWN UINT64_C(0xffffffffff)

#define BB_FLAGS_FIRST (UINT64_C(1) << 0)
#define BB_FLAGS_GOODBYE (UINT64_C(1) << 1)
#define BB_FLAGS_CLOCK_UNSYNC (UINT64_C(1) << 2)
#define BB_FLAGS_LATE (UINT64_C(1) << 3)
#define BB_FLAGS_SKIPPED (UINT64_C(1) << 4)
#define BB_FLAGS_ROOT_READONLY (UINT64_C(1) << 5)
#define BB_FLAGS_HELD (UINT64_C(1) << 6)
#define BB_FLAGS_CONTAINER (UINT64_C(1) << 7)
#define BB_FLAGS_SLOW_STALE (UINT64_C(1) << 8)
#define BB_FLAGS_KNOWN UINT64_C(0x1ff)

#define BB_NET_STATE_UP (UINT64_C(1) << 0)
#define BB_NET_STATE_CARRIER (UINT64_C(1) << 1)
#define BB_NET_STATE_KNOWN UINT64_C(0x3)

#define BB_GPU_FLAGS_PRESENT (UINT64_C(1) << 0)
#define BB_GPU_FLAGS_IN_USE (UINT64_C(1) << 1)
#define BB_GPU_FLAGS_ECC_ERROR (UINT64_C(1) << 2)
#define BB_GPU_FLAGS_THROTTLED (UINT64_C(1) << 3)
#define BB_GPU_FLAGS_OFF_THE_BUS (UINT64_C(1) << 4)
#define BB_GPU_FLAGS_PARTITIONED (UINT64_C(1) << 5)
#define BB_GPU_FLAGS_KNOWN UINT64_C(0x3f)

#define BB_BOARD_STATE_CLOSED (UINT64_C(1) << 0)
#define BB_BOARD_STATE_RETIRED (UINT64_C(1) << 1)
#define BB_BOARD_STATE_FILTERING (UINT64_C(1) << 2)
#define BB_BOARD_STATE_KNOWN UINT64_C(0x7)

#define BB_RECORD_FLAGS_LISTED (UINT64_C(1) << 0)
#define BB_RECORD_FLAGS_KNOWN UINT64_C(0x1)

#define BB_LINK_STATE_UP (UINT64_C(1) << 0)
#define BB_LINK_STATE_GONE (UINT64_C(1) << 1)
#define BB_LINK_STATE_NO_ADDRESS (UINT64_C(1) << 2)
#define BB_LINK_STATE_IN_PIECES (UINT64_C(1) << 3)
#define BB_LINK_STATE_KNOWN UINT64_C(0xf)

#define BB_RELAY_FLAGS_COMPLETE (UINT64_C(1) << 0)
#define BB_RELAY_FLAGS_LAST (UINT64_C(1) << 1)
#define BB_RELAY_FLAGS_KNOWN UINT64_C(0x3)

/* word column */
#define BB_COLUMN_STAMP_SHIFT 26
#define BB_COLUMN_STAMP_MOST UINT64_C(0x3fffffffff)
#define BB_COLUMN_STAMP(word) ((uint64_t)(word) >> BB_COLUMN_STAMP_SHIFT & BB_COLUMN_STAMP_MOST)
#define BB_COLUMN_LINK_SHIFT 21
#define BB_COLUMN_LINK_MOST UINT64_C(0x1f)
#define BB_COLUMN_LINK(word) ((uint64_t)(word) >> BB_COLUMN_LINK_SHIFT & BB_COLUMN_LINK_MOST)
#define BB_COLUMN_INTERVAL_SHIFT 1
#define BB_COLUMN_INTERVAL_MOST UINT64_C(0xfffff)
#define BB_COLUMN_INTERVAL(word) ((uint64_t)(word) >> BB_COLUMN_INTERVAL_SHIFT & BB_COLUMN_INTERVAL_MOST)
#define BB_COLUMN_GOODBYE_SHIFT 0
#define BB_COLUMN_GOODBYE_MOST UINT64_C(0x1)
#define BB_COLUMN_GOODBYE(word) ((uint64_t)(word) >> BB_COLUMN_GOODBYE_SHIFT & BB_COLUMN_GOODBYE_MOST)
#define BB_COLUMN(stamp, link, interval, goodbye) (\
  ((uint64_t)(stamp) & BB_COLUMN_STAMP_MOST) << BB_COLUMN_STAMP_SHIFT | \
  ((uint64_t)(link) & BB_COLUMN_LINK_MOST) << BB_COLUMN_LINK_SHIFT | \
  ((uint64_t)(interval) & BB_COLUMN_INTERVAL_MOST) << BB_COLUMN_INTERVAL_SHIFT | \
  ((uint64_t)(goodbye) & BB_COLUMN_GOODBYE_MOST) << BB_COLUMN_GOODBYE_SHIFT)

/* word spell */
#define BB_SPELL_BEGIN_SHIFT 26
#define BB_SPELL_BEGIN_MOST UINT64_C(0x3fffffffff)
#define BB_SPELL_BEGIN(word) ((uint64_t)(word) >> BB_SPELL_BEGIN_SHIFT & BB_SPELL_BEGIN_MOST)
#define BB_SPELL_COUNT_SHIFT 0
#define BB_SPELL_COUNT_MOST UINT64_C(0x3ffffff)
#define BB_SPELL_COUNT(word) ((uint64_t)(word) >> BB_SPELL_COUNT_SHIFT & BB_SPELL_COUNT_MOST)
#define BB_SPELL(begin, count) (\
  ((uint64_t)(begin) & BB_SPELL_BEGIN_MOST) << BB_SPELL_BEGIN_SHIFT | \
  ((uint64_t)(count) & BB_SPELL_COUNT_MOST) << BB_SPELL_COUNT_SHIFT)

/* word sighting */
#define BB_SIGHTING_SEEN_SHIFT 26
#define BB_SIGHTING_SEEN_MOST UINT64_C(0x3fffffffff)
#define BB_SIGHTING_SEEN(word) ((uint64_t)(word) >> BB_SIGHTING_SEEN_SHIFT & BB_SIGHTING_SEEN_MOST)
#define BB_SIGHTING_QUIET_SHIFT 0
#define BB_SIGHTING_QUIET_MOST UINT64_C(0x3ffffff)
#define BB_SIGHTING_QUIET(word) ((uint64_t)(word) >> BB_SIGHTING_QUIET_SHIFT & BB_SIGHTING_QUIET_MOST)
#define BB_SIGHTING(seen, quiet) (\
  ((uint64_t)(seen) & BB_SIGHTING_SEEN_MOST) << BB_SIGHTING_SEEN_SHIFT | \
  ((uint64_t)(quiet) & BB_SIGHTING_QUIET_MOST) << BB_SIGHTING_QUIET_SHIFT)

/* word said */
#define BB_SAID_STAMP_SHIFT 26
#define BB_SAID_STAMP_MOST UINT64_C(0x3fffffffff)
#define BB_SAID_STAMP(word) ((uint64_t)(word) >> BB_SAID_STAMP_SHIFT & BB_SAID_STAMP_MOST)
#define BB_SAID_ROWS_SHIFT 0
#define BB_SAID_ROWS_MOST UINT64_C(0x3ffffff)
#define BB_SAID_ROWS(word) ((uint64_t)(word) >> BB_SAID_ROWS_SHIFT & BB_SAID_ROWS_MOST)
#define BB_SAID(stamp, rows) (\
  ((uint64_t)(stamp) & BB_SAID_STAMP_MOST) << BB_SAID_STAMP_SHIFT | \
  ((uint64_t)(rows) & BB_SAID_ROWS_MOST) << BB_SAID_ROWS_SHIFT)

struct bb_cpu_group {
  uint16_t cpus;
  uint16_t busy_pm;
  uint16_t user_pm;
  uint16_t system_pm;
  uint16_t iowait_pm;
  uint16_t busiest_pm;
  uint16_t mhz;
  int16_t temp_dc;
};
#define BB_CPU_GROUP_BYTES 16
BB_STATIC_ASSERT(sizeof(struct bb_cpu_group) == 16, "size of cpu_group");
BB_STATIC_ASSERT(offsetof(struct bb_cpu_group, cpus) == 0, "cpu_group.cpus");
BB_STATIC_ASSERT(offsetof(struct bb_cpu_group, busy_pm) == 2, "cpu_group.busy_pm");
BB_STATIC_ASSERT(offsetof(struct bb_cpu_group, user_pm) == 4, "cpu_group.user_pm");
BB_STATIC_ASSERT(offsetof(struct bb_cpu_group, system_pm) == 6, "cpu_group.system_pm");
BB_STATIC_ASSERT(offsetof(struct bb_cpu_group, iowait_pm) == 8, "cpu_group.iowait_pm");
BB_STATIC_ASSERT(offsetof(struct bb_cpu_group, busiest_pm) == 10, "cpu_group.busiest_pm");
BB_STATIC_ASSERT(offsetof(struct bb_cpu_group, mhz) == 12, "cpu_group.mhz");
BB_STATIC_ASSERT(offsetof(struct bb_cpu_group, temp_dc) == 14, "cpu_group.temp_dc");

struct bb_net_if {
  char name[16];
  uint64_t rx_bytes;
  uint64_t tx_bytes;
  uint64_t rx_packets;
  uint64_t tx_packets;
  uint32_t errors;
  uint32_t drops;
  uint32_t mbps;
  uint32_t state;
};
#define BB_NET_IF_BYTES 64
BB_STATIC_ASSERT(sizeof(struct bb_net_if) == 64, "size of net_if");
BB_STATIC_ASSERT(offsetof(struct bb_net_if, name) == 0, "net_if.name");
BB_STATIC_ASSERT(offsetof(struct bb_net_if, rx_bytes) == 16, "net_if.rx_bytes");
BB_STATIC_ASSERT(offsetof(struct bb_net_if, tx_bytes) == 24, "net_if.tx_bytes");
BB_STATIC_ASSERT(offsetof(struct bb_net_if, rx_packets) == 32, "net_if.rx_packets");
BB_STATIC_ASSERT(offsetof(struct bb_net_if, tx_packets) == 40, "net_if.tx_packets");
BB_STATIC_ASSERT(offsetof(struct bb_net_if, errors) == 48, "net_if.errors");
BB_STATIC_ASSERT(offsetof(struct bb_net_if, drops) == 52, "net_if.drops");
BB_STATIC_ASSERT(offsetof(struct bb_net_if, mbps) == 56, "net_if.mbps");
BB_STATIC_ASSERT(offsetof(struct bb_net_if, state) == 60, "net_if.state");

struct bb_gpu_slot {
  uint8_t util_pct;
  uint8_t temp_degc;
  uint16_t power_w;
  uint32_t mem_used_mib;
  uint32_t mem_total_mib;
};
#define BB_GPU_SLOT_BYTES 12
BB_STATIC_ASSERT(sizeof(struct bb_gpu_slot) == 12, "size of gpu_slot");
BB_STATIC_ASSERT(offsetof(struct bb_gpu_slot, util_pct) == 0, "gpu_slot.util_pct");
BB_STATIC_ASSERT(offsetof(struct bb_gpu_slot, temp_degc) == 1, "gpu_slot.temp_degc");
BB_STATIC_ASSERT(offsetof(struct bb_gpu_slot, power_w) == 2, "gpu_slot.power_w");
BB_STATIC_ASSERT(offsetof(struct bb_gpu_slot, mem_used_mib) == 4, "gpu_slot.mem_used_mib");
BB_STATIC_ASSERT(offsetof(struct bb_gpu_slot, mem_total_mib) == 8, "gpu_slot.mem_total_mib");

struct bb_report {
  uint32_t magic;
  uint16_t version;
  uint16_t length;
  uint32_t cluster_id;
  uint32_t reserved7;
  uint64_t boot_id;
  uint32_t seq;
  uint32_t interval_ms;
  uint64_t t_real_ns;
  uint64_t t_boot_ns;
  uint64_t valid;
  uint32_t flags;
  uint16_t key_id;
  uint8_t auth_alg;
  uint8_t reserved0;
  uint16_t cpus_online;
  uint16_t cpus_present;
  uint8_t packages;
  uint8_t groups;
  uint8_t threads_per_core;
  uint8_t numa_nodes;
  uint32_t load1_c;
  uint32_t load5_c;
  uint32_t load15_c;
  uint32_t runnable;
  uint32_t blocked;
  uint16_t cpu_busy_pm;
  uint16_t cpu_iowait_pm;
  uint32_t mem_total_mib;
  uint32_t mem_avail_mib;
  uint32_t swap_total_mib;
  uint32_t swap_free_mib;
  uint16_t psi_cpu_some10;
  uint16_t psi_mem_some10;
  uint16_t psi_mem_full10;
  uint16_t psi_io_some10;
  uint16_t psi_io_full10;
  uint8_t gpu_count;
  uint8_t gpu_busy;
  uint32_t scratch_avail_mib;
  uint8_t health;
  uint8_t health_src;
  uint16_t reserved1;
  uint32_t health_age_s;
  uint32_t taint;
  uint32_t oom_kills;
  uint32_t hung_tasks;
  uint32_t edac_ce;
  uint32_t edac_ue;
  uint32_t throttle_events;
  int32_t clock_offset_us;
  uint32_t clock_maxerr_us;
  uint32_t late_us;
  uint32_t collect_us;
  uint32_t agent_cpu_ms;
  uint32_t missed_ticks;
  uint32_t hw_hash;
  uint32_t sw_hash;
  char hostname[64];
  char os_release[48];
  uint8_t arch;
  uint8_t virt;
  uint16_t page_kib;
  uint32_t cpu_mhz_max;
  uint32_t agent_version;
  uint32_t reserved2;
  uint64_t cpu_user_ms;
  uint64_t cpu_nice_ms;
  uint64_t cpu_system_ms;
  uint64_t cpu_idle_ms;
  uint64_t cpu_iowait_ms;
  uint64_t cpu_irq_ms;
  uint64_t cpu_softirq_ms;
  uint64_t cpu_steal_ms;
  struct bb_cpu_group group[4];
  uint64_t ctxt;
  uint64_t intr;
  uint64_t forks;
  uint64_t majfaults;
  uint64_t swapin_pages;
  uint64_t swapout_pages;
  uint64_t tcp_retrans;
  uint32_t threads;
  uint32_t files_open;
  uint32_t mem_free_mib;
  uint32_t mem_buffers_mib;
  uint32_t mem_cached_mib;
  uint32_t mem_shmem_mib;
  uint32_t mem_sreclaimable_mib;
  uint32_t mem_sunreclaim_mib;
  uint32_t mem_anon_mib;
  uint32_t mem_dirty_writeback_mib;
  uint32_t mem_committed_mib;
  uint32_t mem_commit_limit_mib;
  uint32_t mem_huge_total_mib;
  uint32_t mem_huge_free_mib;
  uint32_t mem_unevictable_mib;
  uint32_t mem_pagetables_mib;
  uint32_t mem_corrupted_kib;
  uint32_t reserved3;
  uint64_t psi_cpu_some_us;
  uint64_t psi_mem_some_us;
  uint64_t psi_mem_full_us;
  uint64_t psi_io_some_us;
  uint64_t psi_io_full_us;
  uint64_t psi_irq_full_us;
  uint16_t psi_cpu_some60;
  uint16_t psi_mem_some60;
  uint16_t psi_mem_full60;
  uint16_t psi_io_some60;
  uint16_t psi_io_full60;
  uint16_t psi_irq_full10;
  uint32_t reserved4;
  struct bb_net_if net[3];
  struct bb_net_if net_rest;
  struct bb_net_if fabric;
  uint64_t disk_read_bytes;
  uint64_t disk_write_bytes;
  uint64_t disk_reads;
  uint64_t disk_writes;
  uint64_t disk_busy_ms;
  uint64_t disk_weighted_ms;
  uint32_t disk_inflight;
  uint16_t disks;
  uint16_t disk_busiest_pm;
  uint32_t root_total_mib;
  uint32_t root_avail_mib;
  uint64_t energy_cpu_mj;
  uint64_t energy_dram_mj;
  uint16_t power_node_w;
  uint8_t power_src;
  uint8_t gpu_vendor;
  int16_t temp_inlet_dc;
  int16_t temp_hottest_dc;
  uint32_t scratch_total_mib;
  uint16_t root_inodes_free_pm;
  uint16_t scratch_inodes_free_pm;
  uint32_t gpu_errors;
  uint32_t gpu_ecc_ue;
  uint8_t gpu_flags[8];
  uint32_t fs_total_mib;
  uint32_t fs_avail_mib;
  uint16_t fs_fullest_pm;
  uint8_t reserved5[6];
  struct bb_gpu_slot gpu[8];
  uint64_t start_boot_ns;
  uint64_t slow_boot_ns;
  uint8_t tag[16];
};
#define BB_REPORT_BYTES 1216
BB_STATIC_ASSERT(sizeof(struct bb_report) == 1216, "size of report");
BB_STATIC_ASSERT(offsetof(struct bb_report, magic) == 0, "report.magic");
BB_STATIC_ASSERT(offsetof(struct bb_report, version) == 4, "report.version");
BB_STATIC_ASSERT(offsetof(struct bb_report, length) == 6, "report.length");
BB_STATIC_ASSERT(offsetof(struct bb_report, cluster_id) == 8, "report.cluster_id");
BB_STATIC_ASSERT(offsetof(struct bb_report, reserved7) == 12, "report.reserved7");
BB_STATIC_ASSERT(offsetof(struct bb_report, boot_id) == 16, "report.boot_id");
BB_STATIC_ASSERT(offsetof(struct bb_report, seq) == 24, "report.seq");
BB_STATIC_ASSERT(offsetof(struct bb_report, interval_ms) == 28, "report.interval_ms");
BB_STATIC_ASSERT(offsetof(struct bb_report, t_real_ns) == 32, "report.t_real_ns");
BB_STATIC_ASSERT(offsetof(struct bb_report, t_boot_ns) == 40, "report.t_boot_ns");
BB_STATIC_ASSERT(offsetof(struct bb_report, valid) == 48, "report.valid");
BB_STATIC_ASSERT(offsetof(struct bb_report, flags) == 56, "report.flags");
BB_STATIC_ASSERT(offsetof(struct bb_report, key_id) == 60, "report.key_id");
BB_STATIC_ASSERT(offsetof(struct bb_report, auth_alg) == 62, "report.auth_alg");
BB_STATIC_ASSERT(offsetof(struct bb_report, reserved0) == 63, "report.reserved0");
BB_STATIC_ASSERT(offsetof(struct bb_report, cpus_online) == 64, "report.cpus_online");
BB_STATIC_ASSERT(offsetof(struct bb_report, cpus_present) == 66, "report.cpus_present");
BB_STATIC_ASSERT(offsetof(struct bb_report, packages) == 68, "report.packages");
BB_STATIC_ASSERT(offsetof(struct bb_report, groups) == 69, "report.groups");
BB_STATIC_ASSERT(offsetof(struct bb_report, threads_per_core) == 70, "report.threads_per_core");
BB_STATIC_ASSERT(offsetof(struct bb_report, numa_nodes) == 71, "report.numa_nodes");
BB_STATIC_ASSERT(offsetof(struct bb_report, load1_c) == 72, "report.load1_c");
BB_STATIC_ASSERT(offsetof(struct bb_report, load5_c) == 76, "report.load5_c");
BB_STATIC_ASSERT(offsetof(struct bb_report, load15_c) == 80, "report.load15_c");
BB_STATIC_ASSERT(offsetof(struct bb_report, runnable) == 84, "report.runnable");
BB_STATIC_ASSERT(offsetof(struct bb_report, blocked) == 88, "report.blocked");
BB_STATIC_ASSERT(offsetof(struct bb_report, cpu_busy_pm) == 92, "report.cpu_busy_pm");
BB_STATIC_ASSERT(offsetof(struct bb_report, cpu_iowait_pm) == 94, "report.cpu_iowait_pm");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_total_mib) == 96, "report.mem_total_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_avail_mib) == 100, "report.mem_avail_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, swap_total_mib) == 104, "report.swap_total_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, swap_free_mib) == 108, "report.swap_free_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_cpu_some10) == 112, "report.psi_cpu_some10");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_mem_some10) == 114, "report.psi_mem_some10");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_mem_full10) == 116, "report.psi_mem_full10");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_io_some10) == 118, "report.psi_io_some10");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_io_full10) == 120, "report.psi_io_full10");
BB_STATIC_ASSERT(offsetof(struct bb_report, gpu_count) == 122, "report.gpu_count");
BB_STATIC_ASSERT(offsetof(struct bb_report, gpu_busy) == 123, "report.gpu_busy");
BB_STATIC_ASSERT(offsetof(struct bb_report, scratch_avail_mib) == 124, "report.scratch_avail_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, health) == 128, "report.health");
BB_STATIC_ASSERT(offsetof(struct bb_report, health_src) == 129, "report.health_src");
BB_STATIC_ASSERT(offsetof(struct bb_report, reserved1) == 130, "report.reserved1");
BB_STATIC_ASSERT(offsetof(struct bb_report, health_age_s) == 132, "report.health_age_s");
BB_STATIC_ASSERT(offsetof(struct bb_report, taint) == 136, "report.taint");
BB_STATIC_ASSERT(offsetof(struct bb_report, oom_kills) == 140, "report.oom_kills");
BB_STATIC_ASSERT(offsetof(struct bb_report, hung_tasks) == 144, "report.hung_tasks");
BB_STATIC_ASSERT(offsetof(struct bb_report, edac_ce) == 148, "report.edac_ce");
BB_STATIC_ASSERT(offsetof(struct bb_report, edac_ue) == 152, "report.edac_ue");
BB_STATIC_ASSERT(offsetof(struct bb_report, throttle_events) == 156, "report.throttle_events");
BB_STATIC_ASSERT(offsetof(struct bb_report, clock_offset_us) == 160, "report.clock_offset_us");
BB_STATIC_ASSERT(offsetof(struct bb_report, clock_maxerr_us) == 164, "report.clock_maxerr_us");
BB_STATIC_ASSERT(offsetof(struct bb_report, late_us) == 168, "report.late_us");
BB_STATIC_ASSERT(offsetof(struct bb_report, collect_us) == 172, "report.collect_us");
BB_STATIC_ASSERT(offsetof(struct bb_report, agent_cpu_ms) == 176, "report.agent_cpu_ms");
BB_STATIC_ASSERT(offsetof(struct bb_report, missed_ticks) == 180, "report.missed_ticks");
BB_STATIC_ASSERT(offsetof(struct bb_report, hw_hash) == 184, "report.hw_hash");
BB_STATIC_ASSERT(offsetof(struct bb_report, sw_hash) == 188, "report.sw_hash");
BB_STATIC_ASSERT(offsetof(struct bb_report, hostname) == 192, "report.hostname");
BB_STATIC_ASSERT(offsetof(struct bb_report, os_release) == 256, "report.os_release");
BB_STATIC_ASSERT(offsetof(struct bb_report, arch) == 304, "report.arch");
BB_STATIC_ASSERT(offsetof(struct bb_report, virt) == 305, "report.virt");
BB_STATIC_ASSERT(offsetof(struct bb_report, page_kib) == 306, "report.page_kib");
BB_STATIC_ASSERT(offsetof(struct bb_report, cpu_mhz_max) == 308, "report.cpu_mhz_max");
BB_STATIC_ASSERT(offsetof(struct bb_report, agent_version) == 312, "report.agent_version");
BB_STATIC_ASSERT(offsetof(struct bb_report, reserved2) == 316, "report.reserved2");
BB_STATIC_ASSERT(offsetof(struct bb_report, cpu_user_ms) == 320, "report.cpu_user_ms");
BB_STATIC_ASSERT(offsetof(struct bb_report, cpu_nice_ms) == 328, "report.cpu_nice_ms");
BB_STATIC_ASSERT(offsetof(struct bb_report, cpu_system_ms) == 336, "report.cpu_system_ms");
BB_STATIC_ASSERT(offsetof(struct bb_report, cpu_idle_ms) == 344, "report.cpu_idle_ms");
BB_STATIC_ASSERT(offsetof(struct bb_report, cpu_iowait_ms) == 352, "report.cpu_iowait_ms");
BB_STATIC_ASSERT(offsetof(struct bb_report, cpu_irq_ms) == 360, "report.cpu_irq_ms");
BB_STATIC_ASSERT(offsetof(struct bb_report, cpu_softirq_ms) == 368, "report.cpu_softirq_ms");
BB_STATIC_ASSERT(offsetof(struct bb_report, cpu_steal_ms) == 376, "report.cpu_steal_ms");
BB_STATIC_ASSERT(offsetof(struct bb_report, group) == 384, "report.group");
BB_STATIC_ASSERT(offsetof(struct bb_report, ctxt) == 448, "report.ctxt");
BB_STATIC_ASSERT(offsetof(struct bb_report, intr) == 456, "report.intr");
BB_STATIC_ASSERT(offsetof(struct bb_report, forks) == 464, "report.forks");
BB_STATIC_ASSERT(offsetof(struct bb_report, majfaults) == 472, "report.majfaults");
BB_STATIC_ASSERT(offsetof(struct bb_report, swapin_pages) == 480, "report.swapin_pages");
BB_STATIC_ASSERT(offsetof(struct bb_report, swapout_pages) == 488, "report.swapout_pages");
BB_STATIC_ASSERT(offsetof(struct bb_report, tcp_retrans) == 496, "report.tcp_retrans");
BB_STATIC_ASSERT(offsetof(struct bb_report, threads) == 504, "report.threads");
BB_STATIC_ASSERT(offsetof(struct bb_report, files_open) == 508, "report.files_open");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_free_mib) == 512, "report.mem_free_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_buffers_mib) == 516, "report.mem_buffers_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_cached_mib) == 520, "report.mem_cached_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_shmem_mib) == 524, "report.mem_shmem_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_sreclaimable_mib) == 528, "report.mem_sreclaimable_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_sunreclaim_mib) == 532, "report.mem_sunreclaim_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_anon_mib) == 536, "report.mem_anon_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_dirty_writeback_mib) == 540, "report.mem_dirty_writeback_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_committed_mib) == 544, "report.mem_committed_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_commit_limit_mib) == 548, "report.mem_commit_limit_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_huge_total_mib) == 552, "report.mem_huge_total_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_huge_free_mib) == 556, "report.mem_huge_free_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_unevictable_mib) == 560, "report.mem_unevictable_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_pagetables_mib) == 564, "report.mem_pagetables_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, mem_corrupted_kib) == 568, "report.mem_corrupted_kib");
BB_STATIC_ASSERT(offsetof(struct bb_report, reserved3) == 572, "report.reserved3");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_cpu_some_us) == 576, "report.psi_cpu_some_us");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_mem_some_us) == 584, "report.psi_mem_some_us");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_mem_full_us) == 592, "report.psi_mem_full_us");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_io_some_us) == 600, "report.psi_io_some_us");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_io_full_us) == 608, "report.psi_io_full_us");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_irq_full_us) == 616, "report.psi_irq_full_us");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_cpu_some60) == 624, "report.psi_cpu_some60");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_mem_some60) == 626, "report.psi_mem_some60");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_mem_full60) == 628, "report.psi_mem_full60");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_io_some60) == 630, "report.psi_io_some60");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_io_full60) == 632, "report.psi_io_full60");
BB_STATIC_ASSERT(offsetof(struct bb_report, psi_irq_full10) == 634, "report.psi_irq_full10");
BB_STATIC_ASSERT(offsetof(struct bb_report, reserved4) == 636, "report.reserved4");
BB_STATIC_ASSERT(offsetof(struct bb_report, net) == 640, "report.net");
BB_STATIC_ASSERT(offsetof(struct bb_report, net_rest) == 832, "report.net_rest");
BB_STATIC_ASSERT(offsetof(struct bb_report, fabric) == 896, "report.fabric");
BB_STATIC_ASSERT(offsetof(struct bb_report, disk_read_bytes) == 960, "report.disk_read_bytes");
BB_STATIC_ASSERT(offsetof(struct bb_report, disk_write_bytes) == 968, "report.disk_write_bytes");
BB_STATIC_ASSERT(offsetof(struct bb_report, disk_reads) == 976, "report.disk_reads");
BB_STATIC_ASSERT(offsetof(struct bb_report, disk_writes) == 984, "report.disk_writes");
BB_STATIC_ASSERT(offsetof(struct bb_report, disk_busy_ms) == 992, "report.disk_busy_ms");
BB_STATIC_ASSERT(offsetof(struct bb_report, disk_weighted_ms) == 1000, "report.disk_weighted_ms");
BB_STATIC_ASSERT(offsetof(struct bb_report, disk_inflight) == 1008, "report.disk_inflight");
BB_STATIC_ASSERT(offsetof(struct bb_report, disks) == 1012, "report.disks");
BB_STATIC_ASSERT(offsetof(struct bb_report, disk_busiest_pm) == 1014, "report.disk_busiest_pm");
BB_STATIC_ASSERT(offsetof(struct bb_report, root_total_mib) == 1016, "report.root_total_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, root_avail_mib) == 1020, "report.root_avail_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, energy_cpu_mj) == 1024, "report.energy_cpu_mj");
BB_STATIC_ASSERT(offsetof(struct bb_report, energy_dram_mj) == 1032, "report.energy_dram_mj");
BB_STATIC_ASSERT(offsetof(struct bb_report, power_node_w) == 1040, "report.power_node_w");
BB_STATIC_ASSERT(offsetof(struct bb_report, power_src) == 1042, "report.power_src");
BB_STATIC_ASSERT(offsetof(struct bb_report, gpu_vendor) == 1043, "report.gpu_vendor");
BB_STATIC_ASSERT(offsetof(struct bb_report, temp_inlet_dc) == 1044, "report.temp_inlet_dc");
BB_STATIC_ASSERT(offsetof(struct bb_report, temp_hottest_dc) == 1046, "report.temp_hottest_dc");
BB_STATIC_ASSERT(offsetof(struct bb_report, scratch_total_mib) == 1048, "report.scratch_total_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, root_inodes_free_pm) == 1052, "report.root_inodes_free_pm");
BB_STATIC_ASSERT(offsetof(struct bb_report, scratch_inodes_free_pm) == 1054, "report.scratch_inodes_free_pm");
BB_STATIC_ASSERT(offsetof(struct bb_report, gpu_errors) == 1056, "report.gpu_errors");
BB_STATIC_ASSERT(offsetof(struct bb_report, gpu_ecc_ue) == 1060, "report.gpu_ecc_ue");
BB_STATIC_ASSERT(offsetof(struct bb_report, gpu_flags) == 1064, "report.gpu_flags");
BB_STATIC_ASSERT(offsetof(struct bb_report, fs_total_mib) == 1072, "report.fs_total_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, fs_avail_mib) == 1076, "report.fs_avail_mib");
BB_STATIC_ASSERT(offsetof(struct bb_report, fs_fullest_pm) == 1080, "report.fs_fullest_pm");
BB_STATIC_ASSERT(offsetof(struct bb_report, reserved5) == 1082, "report.reserved5");
BB_STATIC_ASSERT(offsetof(struct bb_report, gpu) == 1088, "report.gpu");
BB_STATIC_ASSERT(offsetof(struct bb_report, start_boot_ns) == 1184, "report.start_boot_ns");
BB_STATIC_ASSERT(offsetof(struct bb_report, slow_boot_ns) == 1192, "report.slow_boot_ns");
BB_STATIC_ASSERT(offsetof(struct bb_report, tag) == 1200, "report.tag");

struct bb_master_name {
  char name[32];
};
#define BB_MASTER_NAME_BYTES 32
BB_STATIC_ASSERT(sizeof(struct bb_master_name) == 32, "size of master_name");
BB_STATIC_ASSERT(offsetof(struct bb_master_name, name) == 0, "master_name.name");

struct bb_link_evidence {
  uint64_t heartbeat_ns;
  uint64_t listening_since_ns;
};
#define BB_LINK_EVIDENCE_BYTES 16
BB_STATIC_ASSERT(sizeof(struct bb_link_evidence) == 16, "size of link_evidence");
BB_STATIC_ASSERT(offsetof(struct bb_link_evidence, heartbeat_ns) == 0, "link_evidence.heartbeat_ns");
BB_STATIC_ASSERT(offsetof(struct bb_link_evidence, listening_since_ns) == 8, "link_evidence.listening_since_ns");

struct bb_board_header {
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes;
  uint64_t stat_hash;
  uint64_t board_hash;
  uint64_t file_bytes;
  uint32_t capacity;
  uint32_t index_slots;
  uint64_t index_offset;
  uint64_t column_offset;
  uint64_t records_offset;
  uint32_t index_stride;
  uint32_t column_stride;
  uint32_t record_stride;
  uint32_t slots_offset;
  uint32_t slot_stride;
  uint32_t report_offset;
  uint32_t report_bytes;
  uint32_t slots;
  uint64_t index_seed;
  uint64_t master_boot_id;
  uint64_t created_real_ns;
  uint32_t cluster_id;
  uint32_t reserved0;
  char cluster_name[64];
  uint64_t links_offset;
  uint64_t senders_offset;
  uint64_t events_offset;
  uint32_t links_stride;
  uint32_t senders_stride;
  uint32_t events_stride;
  uint32_t links;
  uint32_t senders;
  uint32_t events;
  uint32_t memory_offset;
  uint32_t memory_bytes;
  uint64_t instance;
  uint64_t pid;
  uint64_t started_ns;
  uint64_t started_real_ns;
  uint64_t uncertain_after_ns;
  uint64_t silent_after_ns;
  uint64_t state;
  uint64_t count;
  uint64_t heartbeat_ns;
  uint64_t listening_since_ns;
  uint64_t drains;
  uint64_t receive_buffer;
  uint64_t links_used;
  uint64_t event_last;
  uint64_t lock_inode;
  uint64_t longest_interval_ms;
  uint64_t received;
  uint64_t accepted;
  uint64_t duplicate;
  uint64_t kernel_drops;
  uint64_t overflows;
  uint64_t unfit_drops;
  uint64_t softnet_drops;
  uint64_t clone_ns;
  uint64_t refused[32];
  uint64_t accepted_keys[2];
  uint64_t reload_failed_at;
  uint64_t reload_failed_ns;
  uint64_t mirror_masters;
  uint64_t mirror_followed;
  uint64_t mirror_heard;
  uint64_t mirror_behind_ns;
  uint64_t mirror_vetoed;
  uint64_t mirror_origin;
  uint64_t reserved5[2];
  char mirror_site[32];
  struct bb_master_name mirror_names[6];
  struct bb_link_evidence evidence[32];
};
#define BB_BOARD_HEADER_BYTES 1536
BB_STATIC_ASSERT(sizeof(struct bb_board_header) == 1536, "size of board_header");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, magic) == 0, "board_header.magic");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, version) == 8, "board_header.version");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, header_bytes) == 12, "board_header.header_bytes");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, stat_hash) == 16, "board_header.stat_hash");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, board_hash) == 24, "board_header.board_hash");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, file_bytes) == 32, "board_header.file_bytes");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, capacity) == 40, "board_header.capacity");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, index_slots) == 44, "board_header.index_slots");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, index_offset) == 48, "board_header.index_offset");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, column_offset) == 56, "board_header.column_offset");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, records_offset) == 64, "board_header.records_offset");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, index_stride) == 72, "board_header.index_stride");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, column_stride) == 76, "board_header.column_stride");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, record_stride) == 80, "board_header.record_stride");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, slots_offset) == 84, "board_header.slots_offset");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, slot_stride) == 88, "board_header.slot_stride");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, report_offset) == 92, "board_header.report_offset");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, report_bytes) == 96, "board_header.report_bytes");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, slots) == 100, "board_header.slots");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, index_seed) == 104, "board_header.index_seed");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, master_boot_id) == 112, "board_header.master_boot_id");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, created_real_ns) == 120, "board_header.created_real_ns");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, cluster_id) == 128, "board_header.cluster_id");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, reserved0) == 132, "board_header.reserved0");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, cluster_name) == 136, "board_header.cluster_name");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, links_offset) == 200, "board_header.links_offset");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, senders_offset) == 208, "board_header.senders_offset");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, events_offset) == 216, "board_header.events_offset");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, links_stride) == 224, "board_header.links_stride");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, senders_stride) == 228, "board_header.senders_stride");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, events_stride) == 232, "board_header.events_stride");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, links) == 236, "board_header.links");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, senders) == 240, "board_header.senders");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, events) == 244, "board_header.events");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, memory_offset) == 248, "board_header.memory_offset");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, memory_bytes) == 252, "board_header.memory_bytes");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, instance) == 256, "board_header.instance");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, pid) == 264, "board_header.pid");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, started_ns) == 272, "board_header.started_ns");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, started_real_ns) == 280, "board_header.started_real_ns");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, uncertain_after_ns) == 288, "board_header.uncertain_after_ns");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, silent_after_ns) == 296, "board_header.silent_after_ns");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, state) == 304, "board_header.state");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, count) == 312, "board_header.count");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, heartbeat_ns) == 320, "board_header.heartbeat_ns");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, listening_since_ns) == 328, "board_header.listening_since_ns");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, drains) == 336, "board_header.drains");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, receive_buffer) == 344, "board_header.receive_buffer");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, links_used) == 352, "board_header.links_used");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, event_last) == 360, "board_header.event_last");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, lock_inode) == 368, "board_header.lock_inode");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, longest_interval_ms) == 376, "board_header.longest_interval_ms");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, received) == 384, "board_header.received");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, accepted) == 392, "board_header.accepted");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, duplicate) == 400, "board_header.duplicate");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, kernel_drops) == 408, "board_header.kernel_drops");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, overflows) == 416, "board_header.overflows");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, unfit_drops) == 424, "board_header.unfit_drops");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, softnet_drops) == 432, "board_header.softnet_drops");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, clone_ns) == 440, "board_header.clone_ns");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, refused) == 448, "board_header.refused");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, accepted_keys) == 704, "board_header.accepted_keys");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, reload_failed_at) == 720, "board_header.reload_failed_at");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, reload_failed_ns) == 728, "board_header.reload_failed_ns");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, mirror_masters) == 736, "board_header.mirror_masters");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, mirror_followed) == 744, "board_header.mirror_followed");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, mirror_heard) == 752, "board_header.mirror_heard");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, mirror_behind_ns) == 760, "board_header.mirror_behind_ns");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, mirror_vetoed) == 768, "board_header.mirror_vetoed");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, mirror_origin) == 776, "board_header.mirror_origin");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, reserved5) == 784, "board_header.reserved5");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, mirror_site) == 800, "board_header.mirror_site");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, mirror_names) == 832, "board_header.mirror_names");
BB_STATIC_ASSERT(offsetof(struct bb_board_header, evidence) == 1024, "board_header.evidence");

struct bb_link {
  char name[16];
  uint64_t index;
  uint64_t state;
  uint64_t changed_ns;
  uint64_t downs;
  uint64_t nodes;
  uint64_t dark_since_ns;
  uint64_t dark_nodes;
  uint64_t accepted;
  uint64_t missed;
  uint8_t address[16];
  uint32_t port;
  uint8_t source[4];
  uint64_t unjoined_since_ns;
  uint64_t reserved0;
};
#define BB_LINK_BYTES 128
BB_STATIC_ASSERT(sizeof(struct bb_link) == 128, "size of link");
BB_STATIC_ASSERT(offsetof(struct bb_link, name) == 0, "link.name");
BB_STATIC_ASSERT(offsetof(struct bb_link, index) == 16, "link.index");
BB_STATIC_ASSERT(offsetof(struct bb_link, state) == 24, "link.state");
BB_STATIC_ASSERT(offsetof(struct bb_link, changed_ns) == 32, "link.changed_ns");
BB_STATIC_ASSERT(offsetof(struct bb_link, downs) == 40, "link.downs");
BB_STATIC_ASSERT(offsetof(struct bb_link, nodes) == 48, "link.nodes");
BB_STATIC_ASSERT(offsetof(struct bb_link, dark_since_ns) == 56, "link.dark_since_ns");
BB_STATIC_ASSERT(offsetof(struct bb_link, dark_nodes) == 64, "link.dark_nodes");
BB_STATIC_ASSERT(offsetof(struct bb_link, accepted) == 72, "link.accepted");
BB_STATIC_ASSERT(offsetof(struct bb_link, missed) == 80, "link.missed");
BB_STATIC_ASSERT(offsetof(struct bb_link, address) == 88, "link.address");
BB_STATIC_ASSERT(offsetof(struct bb_link, port) == 104, "link.port");
BB_STATIC_ASSERT(offsetof(struct bb_link, source) == 108, "link.source");
BB_STATIC_ASSERT(offsetof(struct bb_link, unjoined_since_ns) == 112, "link.unjoined_since_ns");
BB_STATIC_ASSERT(offsetof(struct bb_link, reserved0) == 120, "link.reserved0");

struct bb_sender {
  uint64_t head;
  uint64_t first_ns;
  uint64_t last_ns;
  uint64_t last_real_ns;
  uint64_t count;
  uint8_t address[16];
  char name[64];
  uint64_t tail;
};
#define BB_SENDER_BYTES 128
BB_STATIC_ASSERT(sizeof(struct bb_sender) == 128, "size of sender");
BB_STATIC_ASSERT(offsetof(struct bb_sender, head) == 0, "sender.head");
BB_STATIC_ASSERT(offsetof(struct bb_sender, first_ns) == 8, "sender.first_ns");
BB_STATIC_ASSERT(offsetof(struct bb_sender, last_ns) == 16, "sender.last_ns");
BB_STATIC_ASSERT(offsetof(struct bb_sender, last_real_ns) == 24, "sender.last_real_ns");
BB_STATIC_ASSERT(offsetof(struct bb_sender, count) == 32, "sender.count");
BB_STATIC_ASSERT(offsetof(struct bb_sender, address) == 40, "sender.address");
BB_STATIC_ASSERT(offsetof(struct bb_sender, name) == 56, "sender.name");
BB_STATIC_ASSERT(offsetof(struct bb_sender, tail) == 120, "sender.tail");

struct bb_event {
  uint64_t head;
  uint64_t stamp_ns;
  uint64_t stamp_real_ns;
  uint64_t kind;
  uint64_t subject;
  uint64_t detail;
  uint64_t reserved0;
  uint64_t tail;
};
#define BB_EVENT_BYTES 64
BB_STATIC_ASSERT(sizeof(struct bb_event) == 64, "size of event");
BB_STATIC_ASSERT(offsetof(struct bb_event, head) == 0, "event.head");
BB_STATIC_ASSERT(offsetof(struct bb_event, stamp_ns) == 8, "event.stamp_ns");
BB_STATIC_ASSERT(offsetof(struct bb_event, stamp_real_ns) == 16, "event.stamp_real_ns");
BB_STATIC_ASSERT(offsetof(struct bb_event, kind) == 24, "event.kind");
BB_STATIC_ASSERT(offsetof(struct bb_event, subject) == 32, "event.subject");
BB_STATIC_ASSERT(offsetof(struct bb_event, detail) == 40, "event.detail");
BB_STATIC_ASSERT(offsetof(struct bb_event, reserved0) == 48, "event.reserved0");
BB_STATIC_ASSERT(offsetof(struct bb_event, tail) == 56, "event.tail");

struct bb_index_entry {
  uint64_t word;
};
#define BB_INDEX_ENTRY_BYTES 8
BB_STATIC_ASSERT(sizeof(struct bb_index_entry) == 8, "size of index_entry");
BB_STATIC_ASSERT(offsetof(struct bb_index_entry, word) == 0, "index_entry.word");

struct bb_column_entry {
  uint64_t word;
};
#define BB_COLUMN_ENTRY_BYTES 8
BB_STATIC_ASSERT(sizeof(struct bb_column_entry) == 8, "size of column_entry");
BB_STATIC_ASSERT(offsetof(struct bb_column_entry, word) == 0, "column_entry.word");

struct bb_known_boot {
  uint64_t boot_id;
  uint64_t highest_boot_ns;
};
#define BB_KNOWN_BOOT_BYTES 16
BB_STATIC_ASSERT(sizeof(struct bb_known_boot) == 16, "size of known_boot");
BB_STATIC_ASSERT(offsetof(struct bb_known_boot, boot_id) == 0, "known_boot.boot_id");
BB_STATIC_ASSERT(offsetof(struct bb_known_boot, highest_boot_ns) == 8, "known_boot.highest_boot_ns");

struct bb_record {
  char name[64];
  uint64_t accepted;
  uint64_t lost;
  uint64_t unheard;
  uint64_t duplicate;
  uint64_t late;
  uint64_t refused;
  uint64_t restarts;
  uint64_t reboots;
  uint64_t resets;
  int64_t offset_us;
  uint64_t auth_proved;
  uint64_t flags;
  uint64_t refused_kinds;
  uint8_t address_before[16];
  uint64_t address_ns;
  uint64_t order_head;
  uint64_t start_boot_ns;
  uint64_t history_seq;
  uint64_t history;
  struct bb_known_boot known[5];
  uint64_t refusal_reason;
  uint64_t refusal_ns;
  uint64_t refusal_real_ns;
  int64_t refusal_offset_us;
  uint8_t address[16];
  uint64_t port;
  uint64_t history_lost;
  uint64_t order_proved;
  uint64_t order_tail;
};
#define BB_RECORD_BYTES 384
BB_STATIC_ASSERT(sizeof(struct bb_record) == 384, "size of record");
BB_STATIC_ASSERT(offsetof(struct bb_record, name) == 0, "record.name");
BB_STATIC_ASSERT(offsetof(struct bb_record, accepted) == 64, "record.accepted");
BB_STATIC_ASSERT(offsetof(struct bb_record, lost) == 72, "record.lost");
BB_STATIC_ASSERT(offsetof(struct bb_record, unheard) == 80, "record.unheard");
BB_STATIC_ASSERT(offsetof(struct bb_record, duplicate) == 88, "record.duplicate");
BB_STATIC_ASSERT(offsetof(struct bb_record, late) == 96, "record.late");
BB_STATIC_ASSERT(offsetof(struct bb_record, refused) == 104, "record.refused");
BB_STATIC_ASSERT(offsetof(struct bb_record, restarts) == 112, "record.restarts");
BB_STATIC_ASSERT(offsetof(struct bb_record, reboots) == 120, "record.reboots");
BB_STATIC_ASSERT(offsetof(struct bb_record, resets) == 128, "record.resets");
BB_STATIC_ASSERT(offsetof(struct bb_record, offset_us) == 136, "record.offset_us");
BB_STATIC_ASSERT(offsetof(struct bb_record, auth_proved) == 144, "record.auth_proved");
BB_STATIC_ASSERT(offsetof(struct bb_record, flags) == 152, "record.flags");
BB_STATIC_ASSERT(offsetof(struct bb_record, refused_kinds) == 160, "record.refused_kinds");
BB_STATIC_ASSERT(offsetof(struct bb_record, address_before) == 168, "record.address_before");
BB_STATIC_ASSERT(offsetof(struct bb_record, address_ns) == 184, "record.address_ns");
BB_STATIC_ASSERT(offsetof(struct bb_record, order_head) == 192, "record.order_head");
BB_STATIC_ASSERT(offsetof(struct bb_record, start_boot_ns) == 200, "record.start_boot_ns");
BB_STATIC_ASSERT(offsetof(struct bb_record, history_seq) == 208, "record.history_seq");
BB_STATIC_ASSERT(offsetof(struct bb_record, history) == 216, "record.history");
BB_STATIC_ASSERT(offsetof(struct bb_record, known) == 224, "record.known");
BB_STATIC_ASSERT(offsetof(struct bb_record, refusal_reason) == 304, "record.refusal_reason");
BB_STATIC_ASSERT(offsetof(struct bb_record, refusal_ns) == 312, "record.refusal_ns");
BB_STATIC_ASSERT(offsetof(struct bb_record, refusal_real_ns) == 320, "record.refusal_real_ns");
BB_STATIC_ASSERT(offsetof(struct bb_record, refusal_offset_us) == 328, "record.refusal_offset_us");
BB_STATIC_ASSERT(offsetof(struct bb_record, address) == 336, "record.address");
BB_STATIC_ASSERT(offsetof(struct bb_record, port) == 352, "record.port");
BB_STATIC_ASSERT(offsetof(struct bb_record, history_lost) == 360, "record.history_lost");
BB_STATIC_ASSERT(offsetof(struct bb_record, order_proved) == 368, "record.order_proved");
BB_STATIC_ASSERT(offsetof(struct bb_record, order_tail) == 376, "record.order_tail");

struct bb_slot {
  uint64_t head;
  uint64_t stamp_ns;
  uint64_t stamp_real_ns;
  uint64_t link;
  struct bb_report report;
  uint64_t tail;
  uint64_t reserved1[3];
};
#define BB_SLOT_BYTES 1280
BB_STATIC_ASSERT(sizeof(struct bb_slot) == 1280, "size of slot");
BB_STATIC_ASSERT(offsetof(struct bb_slot, head) == 0, "slot.head");
BB_STATIC_ASSERT(offsetof(struct bb_slot, stamp_ns) == 8, "slot.stamp_ns");
BB_STATIC_ASSERT(offsetof(struct bb_slot, stamp_real_ns) == 16, "slot.stamp_real_ns");
BB_STATIC_ASSERT(offsetof(struct bb_slot, link) == 24, "slot.link");
BB_STATIC_ASSERT(offsetof(struct bb_slot, report) == 32, "slot.report");
BB_STATIC_ASSERT(offsetof(struct bb_slot, tail) == 1248, "slot.tail");
BB_STATIC_ASSERT(offsetof(struct bb_slot, reserved1) == 1256, "slot.reserved1");

struct bb_episode {
  uint64_t begun;
  uint64_t seen;
};
#define BB_EPISODE_BYTES 16
BB_STATIC_ASSERT(sizeof(struct bb_episode) == 16, "size of episode");
BB_STATIC_ASSERT(offsetof(struct bb_episode, begun) == 0, "episode.begun");
BB_STATIC_ASSERT(offsetof(struct bb_episode, seen) == 8, "episode.seen");

struct bb_memory {
  uint64_t clone_head;
  uint64_t clone_since_ns;
  uint64_t clone_ns;
  uint8_t clone_address[16];
  uint8_t clone_other[16];
  uint64_t clone_tail;
  uint64_t digests[16];
  uint64_t recent;
  uint64_t measured;
  uint64_t silence;
  uint64_t silence_end_ms;
  uint64_t heard_since_ns;
  uint64_t boot_ns;
  uint64_t remembers_since_ns;
  uint64_t last_words;
  uint64_t rising[5];
  uint64_t health_gone_ns;
  uint64_t gpu_gone_ns;
  uint64_t stood_still_us;
  struct bb_episode episodes[16];
};
#define BB_MEMORY_BYTES 576
BB_STATIC_ASSERT(sizeof(struct bb_memory) == 576, "size of memory");
BB_STATIC_ASSERT(offsetof(struct bb_memory, clone_head) == 0, "memory.clone_head");
BB_STATIC_ASSERT(offsetof(struct bb_memory, clone_since_ns) == 8, "memory.clone_since_ns");
BB_STATIC_ASSERT(offsetof(struct bb_memory, clone_ns) == 16, "memory.clone_ns");
BB_STATIC_ASSERT(offsetof(struct bb_memory, clone_address) == 24, "memory.clone_address");
BB_STATIC_ASSERT(offsetof(struct bb_memory, clone_other) == 40, "memory.clone_other");
BB_STATIC_ASSERT(offsetof(struct bb_memory, clone_tail) == 56, "memory.clone_tail");
BB_STATIC_ASSERT(offsetof(struct bb_memory, digests) == 64, "memory.digests");
BB_STATIC_ASSERT(offsetof(struct bb_memory, recent) == 192, "memory.recent");
BB_STATIC_ASSERT(offsetof(struct bb_memory, measured) == 200, "memory.measured");
BB_STATIC_ASSERT(offsetof(struct bb_memory, silence) == 208, "memory.silence");
BB_STATIC_ASSERT(offsetof(struct bb_memory, silence_end_ms) == 216, "memory.silence_end_ms");
BB_STATIC_ASSERT(offsetof(struct bb_memory, heard_since_ns) == 224, "memory.heard_since_ns");
BB_STATIC_ASSERT(offsetof(struct bb_memory, boot_ns) == 232, "memory.boot_ns");
BB_STATIC_ASSERT(offsetof(struct bb_memory, remembers_since_ns) == 240, "memory.remembers_since_ns");
BB_STATIC_ASSERT(offsetof(struct bb_memory, last_words) == 248, "memory.last_words");
BB_STATIC_ASSERT(offsetof(struct bb_memory, rising) == 256, "memory.rising");
BB_STATIC_ASSERT(offsetof(struct bb_memory, health_gone_ns) == 296, "memory.health_gone_ns");
BB_STATIC_ASSERT(offsetof(struct bb_memory, gpu_gone_ns) == 304, "memory.gpu_gone_ns");
BB_STATIC_ASSERT(offsetof(struct bb_memory, stood_still_us) == 312, "memory.stood_still_us");
BB_STATIC_ASSERT(offsetof(struct bb_memory, episodes) == 320, "memory.episodes");

struct bb_relay_head {
  uint64_t magic;
  uint32_t version;
  uint32_t kind;
  uint32_t length;
  uint32_t reserved0;
  uint64_t run;
  uint64_t board;
  uint64_t boot_id;
  uint64_t sequence;
  uint64_t taken_ns;
};
#define BB_RELAY_HEAD_BYTES 64
BB_STATIC_ASSERT(sizeof(struct bb_relay_head) == 64, "size of relay_head");
BB_STATIC_ASSERT(offsetof(struct bb_relay_head, magic) == 0, "relay_head.magic");
BB_STATIC_ASSERT(offsetof(struct bb_relay_head, version) == 8, "relay_head.version");
BB_STATIC_ASSERT(offsetof(struct bb_relay_head, kind) == 12, "relay_head.kind");
BB_STATIC_ASSERT(offsetof(struct bb_relay_head, length) == 16, "relay_head.length");
BB_STATIC_ASSERT(offsetof(struct bb_relay_head, reserved0) == 20, "relay_head.reserved0");
BB_STATIC_ASSERT(offsetof(struct bb_relay_head, run) == 24, "relay_head.run");
BB_STATIC_ASSERT(offsetof(struct bb_relay_head, board) == 32, "relay_head.board");
BB_STATIC_ASSERT(offsetof(struct bb_relay_head, boot_id) == 40, "relay_head.boot_id");
BB_STATIC_ASSERT(offsetof(struct bb_relay_head, sequence) == 48, "relay_head.sequence");
BB_STATIC_ASSERT(offsetof(struct bb_relay_head, taken_ns) == 56, "relay_head.taken_ns");

struct bb_relay_board {
  uint32_t flags;
  uint32_t entries;
  uint64_t stat_hash;
  uint64_t uncertain_after_ns;
  uint64_t silent_after_ns;
  uint32_t capacity;
  uint32_t count;
  uint32_t cluster_id;
  uint32_t links_used;
  uint64_t state;
  uint64_t heartbeat_ns;
  uint64_t listening_since_ns;
  uint64_t instance;
  uint64_t longest_interval_ms;
  uint64_t origin;
  char cluster_name[64];
  struct bb_link_evidence evidence[32];
};
#define BB_RELAY_BOARD_BYTES 672
BB_STATIC_ASSERT(sizeof(struct bb_relay_board) == 672, "size of relay_board");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, flags) == 0, "relay_board.flags");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, entries) == 4, "relay_board.entries");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, stat_hash) == 8, "relay_board.stat_hash");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, uncertain_after_ns) == 16, "relay_board.uncertain_after_ns");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, silent_after_ns) == 24, "relay_board.silent_after_ns");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, capacity) == 32, "relay_board.capacity");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, count) == 36, "relay_board.count");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, cluster_id) == 40, "relay_board.cluster_id");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, links_used) == 44, "relay_board.links_used");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, state) == 48, "relay_board.state");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, heartbeat_ns) == 56, "relay_board.heartbeat_ns");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, listening_since_ns) == 64, "relay_board.listening_since_ns");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, instance) == 72, "relay_board.instance");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, longest_interval_ms) == 80, "relay_board.longest_interval_ms");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, origin) == 88, "relay_board.origin");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, cluster_name) == 96, "relay_board.cluster_name");
BB_STATIC_ASSERT(offsetof(struct bb_relay_board, evidence) == 160, "relay_board.evidence");

struct bb_relay_report {
  uint16_t kind;
  uint16_t bytes;
  uint32_t record;
  uint64_t head;
  uint64_t stamp_ns;
  uint64_t stamp_real_ns;
  uint64_t link;
  struct bb_report report;
};
#define BB_RELAY_REPORT_BYTES 1256
BB_STATIC_ASSERT(sizeof(struct bb_relay_report) == 1256, "size of relay_report");
BB_STATIC_ASSERT(offsetof(struct bb_relay_report, kind) == 0, "relay_report.kind");
BB_STATIC_ASSERT(offsetof(struct bb_relay_report, bytes) == 2, "relay_report.bytes");
BB_STATIC_ASSERT(offsetof(struct bb_relay_report, record) == 4, "relay_report.record");
BB_STATIC_ASSERT(offsetof(struct bb_relay_report, head) == 8, "relay_report.head");
BB_STATIC_ASSERT(offsetof(struct bb_relay_report, stamp_ns) == 16, "relay_report.stamp_ns");
BB_STATIC_ASSERT(offsetof(struct bb_relay_report, stamp_real_ns) == 24, "relay_report.stamp_real_ns");
BB_STATIC_ASSERT(offsetof(struct bb_relay_report, link) == 32, "relay_report.link");
BB_STATIC_ASSERT(offsetof(struct bb_relay_report, report) == 40, "relay_report.report");

struct bb_relay_record {
  uint16_t kind;
  uint16_t bytes;
  uint32_t record;
  char name[64];
  uint64_t accepted;
  uint64_t lost;
  uint64_t unheard;
  uint64_t duplicate;
  uint64_t late;
  uint64_t refused;
  uint64_t restarts;
  uint64_t reboots;
  uint64_t resets;
  uint64_t auth_proved;
  uint64_t flags;
  uint64_t refusal_reason;
  uint64_t refusal_ns;
  uint64_t refusal_real_ns;
  int64_t refusal_offset_us;
  uint8_t address[16];
  uint8_t address_before[16];
  uint64_t address_ns;
  uint64_t port;
  uint64_t clone_since_ns;
  uint64_t clone_ns;
  uint8_t clone_address[16];
  uint8_t clone_other[16];
  uint64_t settled;
};
#define BB_RELAY_RECORD_BYTES 296
BB_STATIC_ASSERT(sizeof(struct bb_relay_record) == 296, "size of relay_record");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, kind) == 0, "relay_record.kind");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, bytes) == 2, "relay_record.bytes");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, record) == 4, "relay_record.record");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, name) == 8, "relay_record.name");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, accepted) == 72, "relay_record.accepted");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, lost) == 80, "relay_record.lost");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, unheard) == 88, "relay_record.unheard");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, duplicate) == 96, "relay_record.duplicate");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, late) == 104, "relay_record.late");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, refused) == 112, "relay_record.refused");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, restarts) == 120, "relay_record.restarts");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, reboots) == 128, "relay_record.reboots");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, resets) == 136, "relay_record.resets");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, auth_proved) == 144, "relay_record.auth_proved");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, flags) == 152, "relay_record.flags");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, refusal_reason) == 160, "relay_record.refusal_reason");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, refusal_ns) == 168, "relay_record.refusal_ns");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, refusal_real_ns) == 176, "relay_record.refusal_real_ns");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, refusal_offset_us) == 184, "relay_record.refusal_offset_us");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, address) == 192, "relay_record.address");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, address_before) == 208, "relay_record.address_before");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, address_ns) == 224, "relay_record.address_ns");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, port) == 232, "relay_record.port");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, clone_since_ns) == 240, "relay_record.clone_since_ns");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, clone_ns) == 248, "relay_record.clone_ns");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, clone_address) == 256, "relay_record.clone_address");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, clone_other) == 272, "relay_record.clone_other");
BB_STATIC_ASSERT(offsetof(struct bb_relay_record, settled) == 288, "relay_record.settled");

struct bb_relay_link {
  uint16_t kind;
  uint16_t bytes;
  uint32_t number;
  struct bb_link link;
};
#define BB_RELAY_LINK_BYTES 136
BB_STATIC_ASSERT(sizeof(struct bb_relay_link) == 136, "size of relay_link");
BB_STATIC_ASSERT(offsetof(struct bb_relay_link, kind) == 0, "relay_link.kind");
BB_STATIC_ASSERT(offsetof(struct bb_relay_link, bytes) == 2, "relay_link.bytes");
BB_STATIC_ASSERT(offsetof(struct bb_relay_link, number) == 4, "relay_link.number");
BB_STATIC_ASSERT(offsetof(struct bb_relay_link, link) == 8, "relay_link.link");

struct bb_relay_index {
  uint32_t number;
  uint32_t part;
  uint32_t parts;
  uint32_t first;
  uint32_t count;
  uint32_t records;
  uint64_t links_well;
  struct bb_link_evidence evidence[32];
};
#define BB_RELAY_INDEX_BYTES 544
BB_STATIC_ASSERT(sizeof(struct bb_relay_index) == 544, "size of relay_index");
BB_STATIC_ASSERT(offsetof(struct bb_relay_index, number) == 0, "relay_index.number");
BB_STATIC_ASSERT(offsetof(struct bb_relay_index, part) == 4, "relay_index.part");
BB_STATIC_ASSERT(offsetof(struct bb_relay_index, parts) == 8, "relay_index.parts");
BB_STATIC_ASSERT(offsetof(struct bb_relay_index, first) == 12, "relay_index.first");
BB_STATIC_ASSERT(offsetof(struct bb_relay_index, count) == 16, "relay_index.count");
BB_STATIC_ASSERT(offsetof(struct bb_relay_index, records) == 20, "relay_index.records");
BB_STATIC_ASSERT(offsetof(struct bb_relay_index, links_well) == 24, "relay_index.links_well");
BB_STATIC_ASSERT(offsetof(struct bb_relay_index, evidence) == 32, "relay_index.evidence");

struct bb_relay_indexed {
  uint32_t name;
  uint32_t number;
  uint64_t word;
};
#define BB_RELAY_INDEXED_BYTES 16
BB_STATIC_ASSERT(sizeof(struct bb_relay_indexed) == 16, "size of relay_indexed");
BB_STATIC_ASSERT(offsetof(struct bb_relay_indexed, name) == 0, "relay_indexed.name");
BB_STATIC_ASSERT(offsetof(struct bb_relay_indexed, number) == 4, "relay_indexed.number");
BB_STATIC_ASSERT(offsetof(struct bb_relay_indexed, word) == 8, "relay_indexed.word");

struct bb_relay_pong {
  uint8_t nonce[16];
  uint64_t heartbeat_ns;
  uint64_t listening_since_ns;
  uint32_t nodes;
  uint32_t records;
  uint64_t state;
  uint64_t reserved0[2];
};
#define BB_RELAY_PONG_BYTES 64
BB_STATIC_ASSERT(sizeof(struct bb_relay_pong) == 64, "size of relay_pong");
BB_STATIC_ASSERT(offsetof(struct bb_relay_pong, nonce) == 0, "relay_pong.nonce");
BB_STATIC_ASSERT(offsetof(struct bb_relay_pong, heartbeat_ns) == 16, "relay_pong.heartbeat_ns");
BB_STATIC_ASSERT(offsetof(struct bb_relay_pong, listening_since_ns) == 24, "relay_pong.listening_since_ns");
BB_STATIC_ASSERT(offsetof(struct bb_relay_pong, nodes) == 32, "relay_pong.nodes");
BB_STATIC_ASSERT(offsetof(struct bb_relay_pong, records) == 36, "relay_pong.records");
BB_STATIC_ASSERT(offsetof(struct bb_relay_pong, state) == 40, "relay_pong.state");
BB_STATIC_ASSERT(offsetof(struct bb_relay_pong, reserved0) == 48, "relay_pong.reserved0");

struct bb_relay_ping {
  uint64_t magic;
  uint32_t version;
  uint32_t kind;
  uint8_t nonce[16];
};
#define BB_RELAY_PING_BYTES 32
BB_STATIC_ASSERT(sizeof(struct bb_relay_ping) == 32, "size of relay_ping");
BB_STATIC_ASSERT(offsetof(struct bb_relay_ping, magic) == 0, "relay_ping.magic");
BB_STATIC_ASSERT(offsetof(struct bb_relay_ping, version) == 8, "relay_ping.version");
BB_STATIC_ASSERT(offsetof(struct bb_relay_ping, kind) == 12, "relay_ping.kind");
BB_STATIC_ASSERT(offsetof(struct bb_relay_ping, nonce) == 16, "relay_ping.nonce");

struct bb_relay_ask {
  uint64_t magic;
  uint32_t version;
  uint32_t kind;
  uint64_t run;
  uint64_t board;
  uint32_t count;
  uint32_t reserved0;
};
#define BB_RELAY_ASK_BYTES 40
BB_STATIC_ASSERT(sizeof(struct bb_relay_ask) == 40, "size of relay_ask");
BB_STATIC_ASSERT(offsetof(struct bb_relay_ask, magic) == 0, "relay_ask.magic");
BB_STATIC_ASSERT(offsetof(struct bb_relay_ask, version) == 8, "relay_ask.version");
BB_STATIC_ASSERT(offsetof(struct bb_relay_ask, kind) == 12, "relay_ask.kind");
BB_STATIC_ASSERT(offsetof(struct bb_relay_ask, run) == 16, "relay_ask.run");
BB_STATIC_ASSERT(offsetof(struct bb_relay_ask, board) == 24, "relay_ask.board");
BB_STATIC_ASSERT(offsetof(struct bb_relay_ask, count) == 32, "relay_ask.count");
BB_STATIC_ASSERT(offsetof(struct bb_relay_ask, reserved0) == 36, "relay_ask.reserved0");

/* Bytes of a report that have to be zero; at most eight each. */
struct bb_reserved { uint16_t offset, bytes; };
static const struct bb_reserved bb_report_reserved[] __attribute__((unused)) = {
  {12, 4},
  {63, 1},
  {130, 2},
  {316, 4},
  {572, 4},
  {636, 4},
  {1082, 6},
};

/* Values that a report may hold, and the reason it is refused for otherwise. */
struct bb_range { uint16_t offset; uint8_t bytes; uint8_t reason; uint32_t least, most; };
static const struct bb_range bb_report_ranges[] __attribute__((unused)) = {
  {28, 4, BB_REASON_INTERVAL, 100, 600000}, /* interval_ms */
  {69, 1, BB_REASON_RANGE, 0, 4}, /* groups */
  {62, 1, BB_REASON_RANGE, 0, 2}, /* auth_alg */
  {128, 1, BB_REASON_RANGE, 0, 3}, /* health */
  {129, 1, BB_REASON_RANGE, 0, 2}, /* health_src */
  {304, 1, BB_REASON_RANGE, 0, 5}, /* arch */
  {305, 1, BB_REASON_RANGE, 0, 2}, /* virt */
  {1042, 1, BB_REASON_RANGE, 0, 2}, /* power_src */
  {1043, 1, BB_REASON_RANGE, 0, 3}, /* gpu_vendor */
};

/* Sources: how often each is read, 0: each time; which bytes of a report are its own, up to one of 0. */
#define BB_SLOW_COUNT 18
#define BB_SLOW_EACH(each) \
  each(taint) \
  each(hung_tasks) \
  each(edac) \
  each(throttle) \
  each(fabric) \
  each(energy) \
  each(power) \
  each(temperatures) \
  each(root) \
  each(scratch) \
  each(filesystems) \
  each(health) \
  each(gpu) \
  each(hw_hash) \
  each(sw_hash) \
  each(container) \
  each(links) \
  each(clock_rates)
struct bb_slow_piece { uint16_t offset, bytes; };
struct bb_slow_source {
  const char *name;
  uint32_t period_ms, most_ms, rated;
  struct bb_slow_piece pieces[5];
};
static const struct bb_slow_source bb_slow_sources[] __attribute__((unused)) = {
  {"taint", 10000, 0, 0, {{136, 4}, {0, 0}}},
  {"hung_tasks", 10000, 0, 0, {{144, 4}, {0, 0}}},
  {"edac", 10000, 0, 0, {{148, 8}, {0, 0}}},
  {"throttle", 10000, 0, 0, {{156, 4}, {0, 0}}},
  {"fabric", 0, 0, 1, {{896, 64}, {0, 0}}},
  {"energy", 0, 10000, 1, {{1024, 16}, {0, 0}}},
  {"power", 5000, 0, 0, {{1040, 3}, {0, 0}}},
  {"temperatures", 5000, 0, 0, {{1044, 4}, {0, 0}}},
  {"root", 10000, 0, 0, {{1016, 8}, {1052, 2}, {0, 0}}},
  {"scratch", 10000, 0, 0, {{124, 4}, {1048, 4}, {1054, 2}, {0, 0}}},
  {"filesystems", 10000, 0, 0, {{1072, 10}, {0, 0}}},
  {"health", 0, 0, 0, {{128, 2}, {132, 4}, {0, 0}}},
  {"gpu", 5000, 0, 0, {{122, 2}, {1043, 1}, {1056, 16}, {1088, 96}, {0, 0}}},
  {"hw_hash", 60000, 0, 0, {{184, 4}, {0, 0}}},
  {"sw_hash", 60000, 0, 0, {{188, 4}, {0, 0}}},
  {"container", 60000, 0, 0, {{0, 0}}},
  {"links", 10000, 0, 0, {{0, 0}}},
  {"clock_rates", 10000, 0, 0, {{0, 0}}},
};

#endif
