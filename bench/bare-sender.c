/* The minimum for a sender: reads the files of the fast sets once a second, those of the slow side as often as the real
 * sender, and sends as many bytes to the same place. It parses nothing, and has one thread.
 *   bare-sender PORT */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

static const char *const always[] = {
  "/proc/stat", "/proc/loadavg", "/proc/meminfo", "/proc/vmstat", "/proc/pressure/cpu", "/proc/pressure/memory",
  "/proc/pressure/io", "/proc/pressure/irq", "/proc/net/snmp", "/proc/net/dev", "/proc/diskstats", "/proc/sys/fs/file-nr",
  "/sys/devices/system/cpu/online", "/sys/devices/system/cpu/present",
};
enum { FILES = sizeof always / sizeof always[0] };

static char buffer[1 << 22];

/* From its beginning; a short read is the end. */
static void read_all(int fd) {
  size_t length = 0;
  for (ssize_t got = 4096; got == 4096; length += (size_t)got)
    if ((got = pread(fd, buffer + length, 4096, (off_t)length)) < 0 || length > sizeof buffer / 2) return;
}

static void read_once(const char *folder, const char *name, const char *leaf) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s%s", folder, name, leaf);
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd == -1) return;
  read_all(fd);
  close(fd);
}

/* Some files of every entry in a folder. */
static void read_below(const char *folder, const char *const *leaves) {
  DIR *opened = opendir(folder);
  if (opened == NULL) return;
  for (const struct dirent *entry; (entry = readdir(opened)) != NULL;)
    for (const char *const *leaf = leaves; entry->d_name[0] != '.' && *leaf != NULL; leaf++)
      read_once(folder, entry->d_name, *leaf);
  closedir(opened);
}

#define BELOW(folder, ...) read_below(folder, (const char *const[]){__VA_ARGS__, NULL})

static void seldom(unsigned tick) {
  struct stat stats;
  struct statvfs fs;
  stat("/run/beoboard/health", &stats);
  stat("/run/beoboard/hold", &stats);
  BELOW("/sys/class/powercap", "/energy_uj");
  BELOW("/sys/class/infiniband", "/ports/1/counters/port_rcv_data", "/ports/1/counters/port_xmit_data");
  if (tick % 5 == 0) {
    read_once("/run/beoboard", "power", "");
    read_once("/run/beoboard", "gpu", "");
    BELOW("/sys/class/hwmon", "/name", "/temp1_input");
  }
  if (tick % 10 > 0) return;
  BELOW("/sys/class/net", "/ifindex", "/flags", "/operstate", "/speed");
  BELOW("/sys/block", "/size");
  read_once("/proc/sys/kernel", "tainted", "");
  read_once("/proc/sys/kernel", "hung_task_detect_count", "");
  for (unsigned i = 0; i < 3; i++) read_once("/proc/self", "mountinfo", "");
  for (unsigned i = 0; i < 2; i++) statvfs("/", &fs);
  statvfs("/tmp", &fs);
  for (unsigned i = 0; i < 2; i++) {
    char cpu[32];
    snprintf(cpu, sizeof cpu, "cpu%u", i);
    read_once("/sys/devices/system/cpu", cpu, "/cpufreq/scaling_cur_freq");
    read_once("/sys/devices/system/cpu", cpu, "/topology/physical_package_id");
  }
}

int main(int argc, char *argv[]) {
  static unsigned char report[1216];
  int fds[FILES];
  for (unsigned i = 0; i < FILES; i++) fds[i] = open(always[i], O_RDONLY | O_CLOEXEC);
  const struct sockaddr_in to = {
    .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "9")), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (connect(fd, (const struct sockaddr *)&to, sizeof to) != 0) return 1;
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (unsigned tick = 0;; tick++, next.tv_sec++) {
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    struct timex clock = {.modes = 0};
    struct rusage used;
    for (unsigned i = 0; i < FILES; i++)
      if (fds[i] != -1) read_all(fds[i]);
    adjtimex(&clock);
    getrusage(RUSAGE_SELF, &used);
    if (send(fd, report, sizeof report, 0) == -1) continue;
    seldom(tick);
  }
}
