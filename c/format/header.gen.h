/* Generated from the documents in proto/. Do not edit: change these and run `npm run generate`. */
#ifndef BB_HEADER_GEN_H
#define BB_HEADER_GEN_H
#include <stdbool.h>

#include "../beoboard.h"
#include "layout.gen.h"

/* What programs see is what the board holds. */
_Static_assert(offsetof(struct beoboard_cpu_group, cpus) == offsetof(struct bb_cpu_group, cpus), "cpu_group.cpus");
_Static_assert(offsetof(struct beoboard_cpu_group, busy_pm) == offsetof(struct bb_cpu_group, busy_pm), "cpu_group.busy_pm");
_Static_assert(offsetof(struct beoboard_cpu_group, user_pm) == offsetof(struct bb_cpu_group, user_pm), "cpu_group.user_pm");
_Static_assert(offsetof(struct beoboard_cpu_group, system_pm) == offsetof(struct bb_cpu_group, system_pm), "cpu_group.system_pm");
_Static_assert(offsetof(struct beoboard_cpu_group, iowait_pm) == offsetof(struct bb_cpu_group, iowait_pm), "cpu_group.iowait_pm");
_Static_assert(offsetof(struct beoboard_cpu_group, busiest_pm) == offsetof(struct bb_cpu_group, busiest_pm), "cpu_group.busiest_pm");
_Static_assert(offsetof(struct beoboard_cpu_group, mhz) == offsetof(struct bb_cpu_group, mhz), "cpu_group.mhz");
_Static_assert(offsetof(struct beoboard_cpu_group, temp_dc) == offsetof(struct bb_cpu_group, temp_dc), "cpu_group.temp_dc");
_Static_assert(offsetof(struct beoboard_net_if, name) == offsetof(struct bb_net_if, name), "net_if.name");
_Static_assert(offsetof(struct beoboard_net_if, rx_bytes) == offsetof(struct bb_net_if, rx_bytes), "net_if.rx_bytes");
_Static_assert(offsetof(struct beoboard_net_if, tx_bytes) == offsetof(struct bb_net_if, tx_bytes), "net_if.tx_bytes");
_Static_assert(offsetof(struct beoboard_net_if, rx_packets) == offsetof(struct bb_net_if, rx_packets), "net_if.rx_packets");
_Static_assert(offsetof(struct beoboard_net_if, tx_packets) == offsetof(struct bb_net_if, tx_packets), "net_if.tx_packets");
_Static_assert(offsetof(struct beoboard_net_if, errors) == offsetof(struct bb_net_if, errors), "net_if.errors");
_Static_assert(offsetof(struct beoboard_net_if, drops) == offsetof(struct bb_net_if, drops), "net_if.drops");
_Static_assert(offsetof(struct beoboard_net_if, mbps) == offsetof(struct bb_net_if, mbps), "net_if.mbps");
_Static_assert(offsetof(struct beoboard_net_if, state) == offsetof(struct bb_net_if, state), "net_if.state");
_Static_assert(offsetof(struct beoboard_gpu_slot, util_pct) == offsetof(struct bb_gpu_slot, util_pct), "gpu_slot.util_pct");
_Static_assert(offsetof(struct beoboard_gpu_slot, temp_degc) == offsetof(struct bb_gpu_slot, temp_degc), "gpu_slot.temp_degc");
_Static_assert(offsetof(struct beoboard_gpu_slot, power_w) == offsetof(struct bb_gpu_slot, power_w), "gpu_slot.power_w");
_Static_assert(offsetof(struct beoboard_gpu_slot, mem_used_mib) == offsetof(struct bb_gpu_slot, mem_used_mib), "gpu_slot.mem_used_mib");
_Static_assert(offsetof(struct beoboard_gpu_slot, mem_total_mib) == offsetof(struct bb_gpu_slot, mem_total_mib), "gpu_slot.mem_total_mib");
_Static_assert(offsetof(struct beoboard_report, magic) == offsetof(struct bb_report, magic), "report.magic");
_Static_assert(offsetof(struct beoboard_report, version) == offsetof(struct bb_report, version), "report.version");
_Static_assert(offsetof(struct beoboard_report, length) == offsetof(struct bb_report, length), "report.length");
_Static_assert(offsetof(struct beoboard_report, cluster_id) == offsetof(struct bb_report, cluster_id), "report.cluster_id");
_Static_assert(offsetof(struct beoboard_report, reserved7) == offsetof(struct bb_report, reserved7), "report.reserved7");
_Static_assert(offsetof(struct beoboard_report, boot_id) == offsetof(struct bb_report, boot_id), "report.boot_id");
_Static_assert(offsetof(struct beoboard_report, seq) == offsetof(struct bb_report, seq), "report.seq");
_Static_assert(offsetof(struct beoboard_report, interval_ms) == offsetof(struct bb_report, interval_ms), "report.interval_ms");
_Static_assert(offsetof(struct beoboard_report, t_real_ns) == offsetof(struct bb_report, t_real_ns), "report.t_real_ns");
_Static_assert(offsetof(struct beoboard_report, t_boot_ns) == offsetof(struct bb_report, t_boot_ns), "report.t_boot_ns");
_Static_assert(offsetof(struct beoboard_report, valid) == offsetof(struct bb_report, valid), "report.valid");
_Static_assert(offsetof(struct beoboard_report, flags) == offsetof(struct bb_report, flags), "report.flags");
_Static_assert(offsetof(struct beoboard_report, key_id) == offsetof(struct bb_report, key_id), "report.key_id");
_Static_assert(offsetof(struct beoboard_report, auth_alg) == offsetof(struct bb_report, auth_alg), "report.auth_alg");
_Static_assert(offsetof(struct beoboard_report, reserved0) == offsetof(struct bb_report, reserved0), "report.reserved0");
_Static_assert(offsetof(struct beoboard_report, cpus_online) == offsetof(struct bb_report, cpus_online), "report.cpus_online");
_Static_assert(offsetof(struct beoboard_report, cpus_present) == offsetof(struct bb_report, cpus_present), "report.cpus_present");
_Static_assert(offsetof(struct beoboard_report, packages) == offsetof(struct bb_report, packages), "report.packages");
_Static_assert(offsetof(struct beoboard_report, groups) == offsetof(struct bb_report, groups), "report.groups");
_Static_assert(offsetof(struct beoboard_report, threads_per_core) == offsetof(struct bb_report, threads_per_core), "report.threads_per_core");
_Static_assert(offsetof(struct beoboard_report, numa_nodes) == offsetof(struct bb_report, numa_nodes), "report.numa_nodes");
_Static_assert(offsetof(struct beoboard_report, load1_c) == offsetof(struct bb_report, load1_c), "report.load1_c");
_Static_assert(offsetof(struct beoboard_report, load5_c) == offsetof(struct bb_report, load5_c), "report.load5_c");
_Static_assert(offsetof(struct beoboard_report, load15_c) == offsetof(struct bb_report, load15_c), "report.load15_c");
_Static_assert(offsetof(struct beoboard_report, runnable) == offsetof(struct bb_report, runnable), "report.runnable");
_Static_assert(offsetof(struct beoboard_report, blocked) == offsetof(struct bb_report, blocked), "report.blocked");
_Static_assert(offsetof(struct beoboard_report, cpu_busy_pm) == offsetof(struct bb_report, cpu_busy_pm), "report.cpu_busy_pm");
_Static_assert(offsetof(struct beoboard_report, cpu_iowait_pm) == offsetof(struct bb_report, cpu_iowait_pm), "report.cpu_iowait_pm");
_Static_assert(offsetof(struct beoboard_report, mem_total_mib) == offsetof(struct bb_report, mem_total_mib), "report.mem_total_mib");
_Static_assert(offsetof(struct beoboard_report, mem_avail_mib) == offsetof(struct bb_report, mem_avail_mib), "report.mem_avail_mib");
_Static_assert(offsetof(struct beoboard_report, swap_total_mib) == offsetof(struct bb_report, swap_total_mib), "report.swap_total_mib");
_Static_assert(offsetof(struct beoboard_report, swap_free_mib) == offsetof(struct bb_report, swap_free_mib), "report.swap_free_mib");
_Static_assert(offsetof(struct beoboard_report, psi_cpu_some10) == offsetof(struct bb_report, psi_cpu_some10), "report.psi_cpu_some10");
_Static_assert(offsetof(struct beoboard_report, psi_mem_some10) == offsetof(struct bb_report, psi_mem_some10), "report.psi_mem_some10");
_Static_assert(offsetof(struct beoboard_report, psi_mem_full10) == offsetof(struct bb_report, psi_mem_full10), "report.psi_mem_full10");
_Static_assert(offsetof(struct beoboard_report, psi_io_some10) == offsetof(struct bb_report, psi_io_some10), "report.psi_io_some10");
_Static_assert(offsetof(struct beoboard_report, psi_io_full10) == offsetof(struct bb_report, psi_io_full10), "report.psi_io_full10");
_Static_assert(offsetof(struct beoboard_report, gpu_count) == offsetof(struct bb_report, gpu_count), "report.gpu_count");
_Static_assert(offsetof(struct beoboard_report, gpu_busy) == offsetof(struct bb_report, gpu_busy), "report.gpu_busy");
_Static_assert(offsetof(struct beoboard_report, scratch_avail_mib) == offsetof(struct bb_report, scratch_avail_mib), "report.scratch_avail_mib");
_Static_assert(offsetof(struct beoboard_report, health) == offsetof(struct bb_report, health), "report.health");
_Static_assert(offsetof(struct beoboard_report, health_src) == offsetof(struct bb_report, health_src), "report.health_src");
_Static_assert(offsetof(struct beoboard_report, reserved1) == offsetof(struct bb_report, reserved1), "report.reserved1");
_Static_assert(offsetof(struct beoboard_report, health_age_s) == offsetof(struct bb_report, health_age_s), "report.health_age_s");
_Static_assert(offsetof(struct beoboard_report, taint) == offsetof(struct bb_report, taint), "report.taint");
_Static_assert(offsetof(struct beoboard_report, oom_kills) == offsetof(struct bb_report, oom_kills), "report.oom_kills");
_Static_assert(offsetof(struct beoboard_report, hung_tasks) == offsetof(struct bb_report, hung_tasks), "report.hung_tasks");
_Static_assert(offsetof(struct beoboard_report, edac_ce) == offsetof(struct bb_report, edac_ce), "report.edac_ce");
_Static_assert(offsetof(struct beoboard_report, edac_ue) == offsetof(struct bb_report, edac_ue), "report.edac_ue");
_Static_assert(offsetof(struct beoboard_report, throttle_events) == offsetof(struct bb_report, throttle_events), "report.throttle_events");
_Static_assert(offsetof(struct beoboard_report, clock_offset_us) == offsetof(struct bb_report, clock_offset_us), "report.clock_offset_us");
_Static_assert(offsetof(struct beoboard_report, clock_maxerr_us) == offsetof(struct bb_report, clock_maxerr_us), "report.clock_maxerr_us");
_Static_assert(offsetof(struct beoboard_report, late_us) == offsetof(struct bb_report, late_us), "report.late_us");
_Static_assert(offsetof(struct beoboard_report, collect_us) == offsetof(struct bb_report, collect_us), "report.collect_us");
_Static_assert(offsetof(struct beoboard_report, agent_cpu_ms) == offsetof(struct bb_report, agent_cpu_ms), "report.agent_cpu_ms");
_Static_assert(offsetof(struct beoboard_report, missed_ticks) == offsetof(struct bb_report, missed_ticks), "report.missed_ticks");
_Static_assert(offsetof(struct beoboard_report, hw_hash) == offsetof(struct bb_report, hw_hash), "report.hw_hash");
_Static_assert(offsetof(struct beoboard_report, sw_hash) == offsetof(struct bb_report, sw_hash), "report.sw_hash");
_Static_assert(offsetof(struct beoboard_report, hostname) == offsetof(struct bb_report, hostname), "report.hostname");
_Static_assert(offsetof(struct beoboard_report, os_release) == offsetof(struct bb_report, os_release), "report.os_release");
_Static_assert(offsetof(struct beoboard_report, arch) == offsetof(struct bb_report, arch), "report.arch");
_Static_assert(offsetof(struct beoboard_report, virt) == offsetof(struct bb_report, virt), "report.virt");
_Static_assert(offsetof(struct beoboard_report, page_kib) == offsetof(struct bb_report, page_kib), "report.page_kib");
_Static_assert(offsetof(struct beoboard_report, cpu_mhz_max) == offsetof(struct bb_report, cpu_mhz_max), "report.cpu_mhz_max");
_Static_assert(offsetof(struct beoboard_report, agent_version) == offsetof(struct bb_report, agent_version), "report.agent_version");
_Static_assert(offsetof(struct beoboard_report, reserved2) == offsetof(struct bb_report, reserved2), "report.reserved2");
_Static_assert(offsetof(struct beoboard_report, cpu_user_ms) == offsetof(struct bb_report, cpu_user_ms), "report.cpu_user_ms");
_Static_assert(offsetof(struct beoboard_report, cpu_nice_ms) == offsetof(struct bb_report, cpu_nice_ms), "report.cpu_nice_ms");
_Static_assert(offsetof(struct beoboard_report, cpu_system_ms) == offsetof(struct bb_report, cpu_system_ms), "report.cpu_system_ms");
_Static_assert(offsetof(struct beoboard_report, cpu_idle_ms) == offsetof(struct bb_report, cpu_idle_ms), "report.cpu_idle_ms");
_Static_assert(offsetof(struct beoboard_report, cpu_iowait_ms) == offsetof(struct bb_report, cpu_iowait_ms), "report.cpu_iowait_ms");
_Static_assert(offsetof(struct beoboard_report, cpu_irq_ms) == offsetof(struct bb_report, cpu_irq_ms), "report.cpu_irq_ms");
_Static_assert(offsetof(struct beoboard_report, cpu_softirq_ms) == offsetof(struct bb_report, cpu_softirq_ms), "report.cpu_softirq_ms");
_Static_assert(offsetof(struct beoboard_report, cpu_steal_ms) == offsetof(struct bb_report, cpu_steal_ms), "report.cpu_steal_ms");
_Static_assert(offsetof(struct beoboard_report, group) == offsetof(struct bb_report, group), "report.group");
_Static_assert(offsetof(struct beoboard_report, ctxt) == offsetof(struct bb_report, ctxt), "report.ctxt");
_Static_assert(offsetof(struct beoboard_report, intr) == offsetof(struct bb_report, intr), "report.intr");
_Static_assert(offsetof(struct beoboard_report, forks) == offsetof(struct bb_report, forks), "report.forks");
_Static_assert(offsetof(struct beoboard_report, majfaults) == offsetof(struct bb_report, majfaults), "report.majfaults");
_Static_assert(offsetof(struct beoboard_report, swapin_pages) == offsetof(struct bb_report, swapin_pages), "report.swapin_pages");
_Static_assert(offsetof(struct beoboard_report, swapout_pages) == offsetof(struct bb_report, swapout_pages), "report.swapout_pages");
_Static_assert(offsetof(struct beoboard_report, tcp_retrans) == offsetof(struct bb_report, tcp_retrans), "report.tcp_retrans");
_Static_assert(offsetof(struct beoboard_report, threads) == offsetof(struct bb_report, threads), "report.threads");
_Static_assert(offsetof(struct beoboard_report, files_open) == offsetof(struct bb_report, files_open), "report.files_open");
_Static_assert(offsetof(struct beoboard_report, mem_free_mib) == offsetof(struct bb_report, mem_free_mib), "report.mem_free_mib");
_Static_assert(offsetof(struct beoboard_report, mem_buffers_mib) == offsetof(struct bb_report, mem_buffers_mib), "report.mem_buffers_mib");
_Static_assert(offsetof(struct beoboard_report, mem_cached_mib) == offsetof(struct bb_report, mem_cached_mib), "report.mem_cached_mib");
_Static_assert(offsetof(struct beoboard_report, mem_shmem_mib) == offsetof(struct bb_report, mem_shmem_mib), "report.mem_shmem_mib");
_Static_assert(offsetof(struct beoboard_report, mem_sreclaimable_mib) == offsetof(struct bb_report, mem_sreclaimable_mib), "report.mem_sreclaimable_mib");
_Static_assert(offsetof(struct beoboard_report, mem_sunreclaim_mib) == offsetof(struct bb_report, mem_sunreclaim_mib), "report.mem_sunreclaim_mib");
_Static_assert(offsetof(struct beoboard_report, mem_anon_mib) == offsetof(struct bb_report, mem_anon_mib), "report.mem_anon_mib");
_Static_assert(offsetof(struct beoboard_report, mem_dirty_writeback_mib) == offsetof(struct bb_report, mem_dirty_writeback_mib), "report.mem_dirty_writeback_mib");
_Static_assert(offsetof(struct beoboard_report, mem_committed_mib) == offsetof(struct bb_report, mem_committed_mib), "report.mem_committed_mib");
_Static_assert(offsetof(struct beoboard_report, mem_commit_limit_mib) == offsetof(struct bb_report, mem_commit_limit_mib), "report.mem_commit_limit_mib");
_Static_assert(offsetof(struct beoboard_report, mem_huge_total_mib) == offsetof(struct bb_report, mem_huge_total_mib), "report.mem_huge_total_mib");
_Static_assert(offsetof(struct beoboard_report, mem_huge_free_mib) == offsetof(struct bb_report, mem_huge_free_mib), "report.mem_huge_free_mib");
_Static_assert(offsetof(struct beoboard_report, mem_unevictable_mib) == offsetof(struct bb_report, mem_unevictable_mib), "report.mem_unevictable_mib");
_Static_assert(offsetof(struct beoboard_report, mem_pagetables_mib) == offsetof(struct bb_report, mem_pagetables_mib), "report.mem_pagetables_mib");
_Static_assert(offsetof(struct beoboard_report, mem_corrupted_kib) == offsetof(struct bb_report, mem_corrupted_kib), "report.mem_corrupted_kib");
_Static_assert(offsetof(struct beoboard_report, reserved3) == offsetof(struct bb_report, reserved3), "report.reserved3");
_Static_assert(offsetof(struct beoboard_report, psi_cpu_some_us) == offsetof(struct bb_report, psi_cpu_some_us), "report.psi_cpu_some_us");
_Static_assert(offsetof(struct beoboard_report, psi_mem_some_us) == offsetof(struct bb_report, psi_mem_some_us), "report.psi_mem_some_us");
_Static_assert(offsetof(struct beoboard_report, psi_mem_full_us) == offsetof(struct bb_report, psi_mem_full_us), "report.psi_mem_full_us");
_Static_assert(offsetof(struct beoboard_report, psi_io_some_us) == offsetof(struct bb_report, psi_io_some_us), "report.psi_io_some_us");
_Static_assert(offsetof(struct beoboard_report, psi_io_full_us) == offsetof(struct bb_report, psi_io_full_us), "report.psi_io_full_us");
_Static_assert(offsetof(struct beoboard_report, psi_irq_full_us) == offsetof(struct bb_report, psi_irq_full_us), "report.psi_irq_full_us");
_Static_assert(offsetof(struct beoboard_report, psi_cpu_some60) == offsetof(struct bb_report, psi_cpu_some60), "report.psi_cpu_some60");
_Static_assert(offsetof(struct beoboard_report, psi_mem_some60) == offsetof(struct bb_report, psi_mem_some60), "report.psi_mem_some60");
_Static_assert(offsetof(struct beoboard_report, psi_mem_full60) == offsetof(struct bb_report, psi_mem_full60), "report.psi_mem_full60");
_Static_assert(offsetof(struct beoboard_report, psi_io_some60) == offsetof(struct bb_report, psi_io_some60), "report.psi_io_some60");
_Static_assert(offsetof(struct beoboard_report, psi_io_full60) == offsetof(struct bb_report, psi_io_full60), "report.psi_io_full60");
_Static_assert(offsetof(struct beoboard_report, psi_irq_full10) == offsetof(struct bb_report, psi_irq_full10), "report.psi_irq_full10");
_Static_assert(offsetof(struct beoboard_report, reserved4) == offsetof(struct bb_report, reserved4), "report.reserved4");
_Static_assert(offsetof(struct beoboard_report, net) == offsetof(struct bb_report, net), "report.net");
_Static_assert(offsetof(struct beoboard_report, net_rest) == offsetof(struct bb_report, net_rest), "report.net_rest");
_Static_assert(offsetof(struct beoboard_report, fabric) == offsetof(struct bb_report, fabric), "report.fabric");
_Static_assert(offsetof(struct beoboard_report, disk_read_bytes) == offsetof(struct bb_report, disk_read_bytes), "report.disk_read_bytes");
_Static_assert(offsetof(struct beoboard_report, disk_write_bytes) == offsetof(struct bb_report, disk_write_bytes), "report.disk_write_bytes");
_Static_assert(offsetof(struct beoboard_report, disk_reads) == offsetof(struct bb_report, disk_reads), "report.disk_reads");
_Static_assert(offsetof(struct beoboard_report, disk_writes) == offsetof(struct bb_report, disk_writes), "report.disk_writes");
_Static_assert(offsetof(struct beoboard_report, disk_busy_ms) == offsetof(struct bb_report, disk_busy_ms), "report.disk_busy_ms");
_Static_assert(offsetof(struct beoboard_report, disk_weighted_ms) == offsetof(struct bb_report, disk_weighted_ms), "report.disk_weighted_ms");
_Static_assert(offsetof(struct beoboard_report, disk_inflight) == offsetof(struct bb_report, disk_inflight), "report.disk_inflight");
_Static_assert(offsetof(struct beoboard_report, disks) == offsetof(struct bb_report, disks), "report.disks");
_Static_assert(offsetof(struct beoboard_report, disk_busiest_pm) == offsetof(struct bb_report, disk_busiest_pm), "report.disk_busiest_pm");
_Static_assert(offsetof(struct beoboard_report, root_total_mib) == offsetof(struct bb_report, root_total_mib), "report.root_total_mib");
_Static_assert(offsetof(struct beoboard_report, root_avail_mib) == offsetof(struct bb_report, root_avail_mib), "report.root_avail_mib");
_Static_assert(offsetof(struct beoboard_report, energy_cpu_mj) == offsetof(struct bb_report, energy_cpu_mj), "report.energy_cpu_mj");
_Static_assert(offsetof(struct beoboard_report, energy_dram_mj) == offsetof(struct bb_report, energy_dram_mj), "report.energy_dram_mj");
_Static_assert(offsetof(struct beoboard_report, power_node_w) == offsetof(struct bb_report, power_node_w), "report.power_node_w");
_Static_assert(offsetof(struct beoboard_report, power_src) == offsetof(struct bb_report, power_src), "report.power_src");
_Static_assert(offsetof(struct beoboard_report, gpu_vendor) == offsetof(struct bb_report, gpu_vendor), "report.gpu_vendor");
_Static_assert(offsetof(struct beoboard_report, temp_inlet_dc) == offsetof(struct bb_report, temp_inlet_dc), "report.temp_inlet_dc");
_Static_assert(offsetof(struct beoboard_report, temp_hottest_dc) == offsetof(struct bb_report, temp_hottest_dc), "report.temp_hottest_dc");
_Static_assert(offsetof(struct beoboard_report, scratch_total_mib) == offsetof(struct bb_report, scratch_total_mib), "report.scratch_total_mib");
_Static_assert(offsetof(struct beoboard_report, root_inodes_free_pm) == offsetof(struct bb_report, root_inodes_free_pm), "report.root_inodes_free_pm");
_Static_assert(offsetof(struct beoboard_report, scratch_inodes_free_pm) == offsetof(struct bb_report, scratch_inodes_free_pm), "report.scratch_inodes_free_pm");
_Static_assert(offsetof(struct beoboard_report, gpu_errors) == offsetof(struct bb_report, gpu_errors), "report.gpu_errors");
_Static_assert(offsetof(struct beoboard_report, gpu_ecc_ue) == offsetof(struct bb_report, gpu_ecc_ue), "report.gpu_ecc_ue");
_Static_assert(offsetof(struct beoboard_report, gpu_flags) == offsetof(struct bb_report, gpu_flags), "report.gpu_flags");
_Static_assert(offsetof(struct beoboard_report, fs_total_mib) == offsetof(struct bb_report, fs_total_mib), "report.fs_total_mib");
_Static_assert(offsetof(struct beoboard_report, fs_avail_mib) == offsetof(struct bb_report, fs_avail_mib), "report.fs_avail_mib");
_Static_assert(offsetof(struct beoboard_report, fs_fullest_pm) == offsetof(struct bb_report, fs_fullest_pm), "report.fs_fullest_pm");
_Static_assert(offsetof(struct beoboard_report, reserved5) == offsetof(struct bb_report, reserved5), "report.reserved5");
_Static_assert(offsetof(struct beoboard_report, gpu) == offsetof(struct bb_report, gpu), "report.gpu");
_Static_assert(offsetof(struct beoboard_report, start_boot_ns) == offsetof(struct bb_report, start_boot_ns), "report.start_boot_ns");
_Static_assert(offsetof(struct beoboard_report, slow_boot_ns) == offsetof(struct bb_report, slow_boot_ns), "report.slow_boot_ns");
_Static_assert(offsetof(struct beoboard_report, tag) == offsetof(struct bb_report, tag), "report.tag");

/* A counter: where it lies in a report and in the rates, and by which rules it has a rate. */
struct bb_counter {
  const char *name;
  uint16_t at, bytes;
  int16_t set; /* its bit of `valid`; -1: always there */
  bool slow, of_run;
  uint16_t rate, share; /* share 0: none */
};
static const struct bb_counter bb_report_counters[] = {
  {"oom_kills", offsetof(struct bb_report, oom_kills), 4, 6, false, false, offsetof(struct beoboard_rates, oom_kills), 0},
  {"agent_cpu_ms", offsetof(struct bb_report, agent_cpu_ms), 4, 20, false, true, offsetof(struct beoboard_rates, agent_cpu_ms), 0},
  {"missed_ticks", offsetof(struct bb_report, missed_ticks), 4, 20, false, true, offsetof(struct beoboard_rates, missed_ticks), 0},
  {"cpu_user_ms", offsetof(struct bb_report, cpu_user_ms), 8, 3, false, false, offsetof(struct beoboard_rates, cpu_user_ms), offsetof(struct beoboard_rates, cpu_user_pct)},
  {"cpu_nice_ms", offsetof(struct bb_report, cpu_nice_ms), 8, 3, false, false, offsetof(struct beoboard_rates, cpu_nice_ms), offsetof(struct beoboard_rates, cpu_nice_pct)},
  {"cpu_system_ms", offsetof(struct bb_report, cpu_system_ms), 8, 3, false, false, offsetof(struct beoboard_rates, cpu_system_ms), offsetof(struct beoboard_rates, cpu_system_pct)},
  {"cpu_idle_ms", offsetof(struct bb_report, cpu_idle_ms), 8, 3, false, false, offsetof(struct beoboard_rates, cpu_idle_ms), offsetof(struct beoboard_rates, cpu_idle_pct)},
  {"cpu_iowait_ms", offsetof(struct bb_report, cpu_iowait_ms), 8, 3, false, false, offsetof(struct beoboard_rates, cpu_iowait_ms), offsetof(struct beoboard_rates, cpu_iowait_pct)},
  {"cpu_irq_ms", offsetof(struct bb_report, cpu_irq_ms), 8, 3, false, false, offsetof(struct beoboard_rates, cpu_irq_ms), offsetof(struct beoboard_rates, cpu_irq_pct)},
  {"cpu_softirq_ms", offsetof(struct bb_report, cpu_softirq_ms), 8, 3, false, false, offsetof(struct beoboard_rates, cpu_softirq_ms), offsetof(struct beoboard_rates, cpu_softirq_pct)},
  {"cpu_steal_ms", offsetof(struct bb_report, cpu_steal_ms), 8, 3, false, false, offsetof(struct beoboard_rates, cpu_steal_ms), offsetof(struct beoboard_rates, cpu_steal_pct)},
  {"ctxt", offsetof(struct bb_report, ctxt), 8, 3, false, false, offsetof(struct beoboard_rates, ctxt), 0},
  {"intr", offsetof(struct bb_report, intr), 8, 3, false, false, offsetof(struct beoboard_rates, intr), 0},
  {"forks", offsetof(struct bb_report, forks), 8, 3, false, false, offsetof(struct beoboard_rates, forks), 0},
  {"majfaults", offsetof(struct bb_report, majfaults), 8, 6, false, false, offsetof(struct beoboard_rates, majfaults), 0},
  {"swapin_pages", offsetof(struct bb_report, swapin_pages), 8, 6, false, false, offsetof(struct beoboard_rates, swapin_pages), 0},
  {"swapout_pages", offsetof(struct bb_report, swapout_pages), 8, 6, false, false, offsetof(struct beoboard_rates, swapout_pages), 0},
  {"tcp_retrans", offsetof(struct bb_report, tcp_retrans), 8, 11, false, false, offsetof(struct beoboard_rates, tcp_retrans), 0},
  {"psi_cpu_some_us", offsetof(struct bb_report, psi_cpu_some_us), 8, 7, false, false, offsetof(struct beoboard_rates, psi_cpu_some_us), 0},
  {"psi_mem_some_us", offsetof(struct bb_report, psi_mem_some_us), 8, 8, false, false, offsetof(struct beoboard_rates, psi_mem_some_us), 0},
  {"psi_mem_full_us", offsetof(struct bb_report, psi_mem_full_us), 8, 8, false, false, offsetof(struct beoboard_rates, psi_mem_full_us), 0},
  {"psi_io_some_us", offsetof(struct bb_report, psi_io_some_us), 8, 9, false, false, offsetof(struct beoboard_rates, psi_io_some_us), 0},
  {"psi_io_full_us", offsetof(struct bb_report, psi_io_full_us), 8, 9, false, false, offsetof(struct beoboard_rates, psi_io_full_us), 0},
  {"psi_irq_full_us", offsetof(struct bb_report, psi_irq_full_us), 8, 10, false, false, offsetof(struct beoboard_rates, psi_irq_full_us), 0},
  {"disk_read_bytes", offsetof(struct bb_report, disk_read_bytes), 8, 14, false, false, offsetof(struct beoboard_rates, disk_read_bytes), 0},
  {"disk_write_bytes", offsetof(struct bb_report, disk_write_bytes), 8, 14, false, false, offsetof(struct beoboard_rates, disk_write_bytes), 0},
  {"disk_reads", offsetof(struct bb_report, disk_reads), 8, 14, false, false, offsetof(struct beoboard_rates, disk_reads), 0},
  {"disk_writes", offsetof(struct bb_report, disk_writes), 8, 14, false, false, offsetof(struct beoboard_rates, disk_writes), 0},
  {"disk_busy_ms", offsetof(struct bb_report, disk_busy_ms), 8, 14, false, false, offsetof(struct beoboard_rates, disk_busy_ms), 0},
  {"disk_weighted_ms", offsetof(struct bb_report, disk_weighted_ms), 8, 14, false, false, offsetof(struct beoboard_rates, disk_weighted_ms), 0},
  {"energy_cpu_mj", offsetof(struct bb_report, energy_cpu_mj), 8, 27, true, false, offsetof(struct beoboard_rates, energy_cpu_mj), 0},
  {"energy_dram_mj", offsetof(struct bb_report, energy_dram_mj), 8, 28, true, false, offsetof(struct beoboard_rates, energy_dram_mj), 0},
};
static const struct bb_counter bb_net_counters[] = {
  {"rx_bytes", offsetof(struct bb_net_if, rx_bytes), 8, -1, false, false, offsetof(struct beoboard_net_rates, rx_bytes), 0},
  {"tx_bytes", offsetof(struct bb_net_if, tx_bytes), 8, -1, false, false, offsetof(struct beoboard_net_rates, tx_bytes), 0},
  {"rx_packets", offsetof(struct bb_net_if, rx_packets), 8, -1, false, false, offsetof(struct beoboard_net_rates, rx_packets), 0},
  {"tx_packets", offsetof(struct bb_net_if, tx_packets), 8, -1, false, false, offsetof(struct beoboard_net_rates, tx_packets), 0},
  {"errors", offsetof(struct bb_net_if, errors), 4, -1, false, false, offsetof(struct beoboard_net_rates, errors), 0},
  {"drops", offsetof(struct bb_net_if, drops), 4, -1, false, false, offsetof(struct beoboard_net_rates, drops), 0},
};

#endif
