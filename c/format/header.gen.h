/* Generated from the documents in proto/. Do not edit: change these and run `npm run generate`. */
#ifndef BB_HEADER_GEN_H
#define BB_HEADER_GEN_H
#include <stdbool.h>

#include "../beoboard.h"
#include "layout.gen.h"

/* What programs see is what the board holds. */
#define BB_SAME(of, field) \
  _Static_assert(offsetof(struct beoboard_##of, field) == offsetof(struct bb_##of, field), #of "." #field);
BB_SAME(cpu_group, cpus)
BB_SAME(cpu_group, busy_pm)
BB_SAME(cpu_group, user_pm)
BB_SAME(cpu_group, system_pm)
BB_SAME(cpu_group, iowait_pm)
BB_SAME(cpu_group, busiest_pm)
BB_SAME(cpu_group, mhz)
BB_SAME(cpu_group, temp_dc)
BB_SAME(net_if, name)
BB_SAME(net_if, rx_bytes)
BB_SAME(net_if, tx_bytes)
BB_SAME(net_if, rx_packets)
BB_SAME(net_if, tx_packets)
BB_SAME(net_if, errors)
BB_SAME(net_if, drops)
BB_SAME(net_if, mbps)
BB_SAME(net_if, state)
BB_SAME(gpu_slot, util_pct)
BB_SAME(gpu_slot, temp_degc)
BB_SAME(gpu_slot, power_w)
BB_SAME(gpu_slot, mem_used_mib)
BB_SAME(gpu_slot, mem_total_mib)
BB_SAME(report, magic)
BB_SAME(report, version)
BB_SAME(report, length)
BB_SAME(report, cluster_id)
BB_SAME(report, reserved7)
BB_SAME(report, boot_id)
BB_SAME(report, seq)
BB_SAME(report, interval_ms)
BB_SAME(report, t_real_ns)
BB_SAME(report, t_boot_ns)
BB_SAME(report, valid)
BB_SAME(report, flags)
BB_SAME(report, key_id)
BB_SAME(report, auth_alg)
BB_SAME(report, reserved0)
BB_SAME(report, cpus_online)
BB_SAME(report, cpus_present)
BB_SAME(report, packages)
BB_SAME(report, groups)
BB_SAME(report, threads_per_core)
BB_SAME(report, numa_nodes)
BB_SAME(report, load1_c)
BB_SAME(report, load5_c)
BB_SAME(report, load15_c)
BB_SAME(report, runnable)
BB_SAME(report, blocked)
BB_SAME(report, cpu_busy_pm)
BB_SAME(report, cpu_iowait_pm)
BB_SAME(report, mem_total_mib)
BB_SAME(report, mem_avail_mib)
BB_SAME(report, swap_total_mib)
BB_SAME(report, swap_free_mib)
BB_SAME(report, psi_cpu_some10)
BB_SAME(report, psi_mem_some10)
BB_SAME(report, psi_mem_full10)
BB_SAME(report, psi_io_some10)
BB_SAME(report, psi_io_full10)
BB_SAME(report, gpu_count)
BB_SAME(report, gpu_busy)
BB_SAME(report, scratch_avail_mib)
BB_SAME(report, health)
BB_SAME(report, health_src)
BB_SAME(report, reserved1)
BB_SAME(report, health_age_s)
BB_SAME(report, taint)
BB_SAME(report, oom_kills)
BB_SAME(report, hung_tasks)
BB_SAME(report, edac_ce)
BB_SAME(report, edac_ue)
BB_SAME(report, throttle_events)
BB_SAME(report, clock_offset_us)
BB_SAME(report, clock_maxerr_us)
BB_SAME(report, late_us)
BB_SAME(report, collect_us)
BB_SAME(report, agent_cpu_ms)
BB_SAME(report, missed_ticks)
BB_SAME(report, hw_hash)
BB_SAME(report, sw_hash)
BB_SAME(report, hostname)
BB_SAME(report, os_release)
BB_SAME(report, arch)
BB_SAME(report, virt)
BB_SAME(report, page_kib)
BB_SAME(report, cpu_mhz_max)
BB_SAME(report, agent_version)
BB_SAME(report, reserved2)
BB_SAME(report, cpu_user_ms)
BB_SAME(report, cpu_nice_ms)
BB_SAME(report, cpu_system_ms)
BB_SAME(report, cpu_idle_ms)
BB_SAME(report, cpu_iowait_ms)
BB_SAME(report, cpu_irq_ms)
BB_SAME(report, cpu_softirq_ms)
BB_SAME(report, cpu_steal_ms)
BB_SAME(report, group)
BB_SAME(report, ctxt)
BB_SAME(report, intr)
BB_SAME(report, forks)
BB_SAME(report, majfaults)
BB_SAME(report, swapin_pages)
BB_SAME(report, swapout_pages)
BB_SAME(report, tcp_retrans)
BB_SAME(report, threads)
BB_SAME(report, files_open)
BB_SAME(report, mem_free_mib)
BB_SAME(report, mem_buffers_mib)
BB_SAME(report, mem_cached_mib)
BB_SAME(report, mem_shmem_mib)
BB_SAME(report, mem_sreclaimable_mib)
BB_SAME(report, mem_sunreclaim_mib)
BB_SAME(report, mem_anon_mib)
BB_SAME(report, mem_dirty_writeback_mib)
BB_SAME(report, mem_committed_mib)
BB_SAME(report, mem_commit_limit_mib)
BB_SAME(report, mem_huge_total_mib)
BB_SAME(report, mem_huge_free_mib)
BB_SAME(report, mem_unevictable_mib)
BB_SAME(report, mem_pagetables_mib)
BB_SAME(report, mem_corrupted_kib)
BB_SAME(report, reserved3)
BB_SAME(report, psi_cpu_some_us)
BB_SAME(report, psi_mem_some_us)
BB_SAME(report, psi_mem_full_us)
BB_SAME(report, psi_io_some_us)
BB_SAME(report, psi_io_full_us)
BB_SAME(report, psi_irq_full_us)
BB_SAME(report, psi_cpu_some60)
BB_SAME(report, psi_mem_some60)
BB_SAME(report, psi_mem_full60)
BB_SAME(report, psi_io_some60)
BB_SAME(report, psi_io_full60)
BB_SAME(report, psi_irq_full10)
BB_SAME(report, reserved4)
BB_SAME(report, net)
BB_SAME(report, net_rest)
BB_SAME(report, fabric)
BB_SAME(report, disk_read_bytes)
BB_SAME(report, disk_write_bytes)
BB_SAME(report, disk_reads)
BB_SAME(report, disk_writes)
BB_SAME(report, disk_busy_ms)
BB_SAME(report, disk_weighted_ms)
BB_SAME(report, disk_inflight)
BB_SAME(report, disks)
BB_SAME(report, disk_busiest_pm)
BB_SAME(report, root_total_mib)
BB_SAME(report, root_avail_mib)
BB_SAME(report, energy_cpu_mj)
BB_SAME(report, energy_dram_mj)
BB_SAME(report, power_node_w)
BB_SAME(report, power_src)
BB_SAME(report, gpu_vendor)
BB_SAME(report, temp_inlet_dc)
BB_SAME(report, temp_hottest_dc)
BB_SAME(report, scratch_total_mib)
BB_SAME(report, root_inodes_free_pm)
BB_SAME(report, scratch_inodes_free_pm)
BB_SAME(report, gpu_errors)
BB_SAME(report, gpu_ecc_ue)
BB_SAME(report, gpu_flags)
BB_SAME(report, fs_total_mib)
BB_SAME(report, fs_avail_mib)
BB_SAME(report, fs_fullest_pm)
BB_SAME(report, reserved5)
BB_SAME(report, gpu)
BB_SAME(report, start_boot_ns)
BB_SAME(report, slow_boot_ns)
BB_SAME(report, tag)

/* A counter: where it lies in a report and in the rates, and by which rules it has a rate. */
struct bb_counter {
  const char *name;
  uint16_t at, bytes;
  int16_t set; /* its bit of `valid`; -1: always there */
  bool slow, of_run;
  uint16_t rate, share; /* share 0: none */
};
static const struct bb_counter bb_report_counters[] = {
  {"oom_kills", offsetof(struct bb_report, oom_kills), 4, 6, false, false,
   offsetof(struct beoboard_rates, oom_kills), 0},
  {"agent_cpu_ms", offsetof(struct bb_report, agent_cpu_ms), 4, 20, false, true,
   offsetof(struct beoboard_rates, agent_cpu_ms), 0},
  {"missed_ticks", offsetof(struct bb_report, missed_ticks), 4, 20, false, true,
   offsetof(struct beoboard_rates, missed_ticks), 0},
  {"cpu_user_ms", offsetof(struct bb_report, cpu_user_ms), 8, 3, false, false,
   offsetof(struct beoboard_rates, cpu_user_ms), offsetof(struct beoboard_rates, cpu_user_pct)},
  {"cpu_nice_ms", offsetof(struct bb_report, cpu_nice_ms), 8, 3, false, false,
   offsetof(struct beoboard_rates, cpu_nice_ms), offsetof(struct beoboard_rates, cpu_nice_pct)},
  {"cpu_system_ms", offsetof(struct bb_report, cpu_system_ms), 8, 3, false, false,
   offsetof(struct beoboard_rates, cpu_system_ms), offsetof(struct beoboard_rates, cpu_system_pct)},
  {"cpu_idle_ms", offsetof(struct bb_report, cpu_idle_ms), 8, 3, false, false,
   offsetof(struct beoboard_rates, cpu_idle_ms), offsetof(struct beoboard_rates, cpu_idle_pct)},
  {"cpu_iowait_ms", offsetof(struct bb_report, cpu_iowait_ms), 8, 3, false, false,
   offsetof(struct beoboard_rates, cpu_iowait_ms), offsetof(struct beoboard_rates, cpu_iowait_pct)},
  {"cpu_irq_ms", offsetof(struct bb_report, cpu_irq_ms), 8, 3, false, false,
   offsetof(struct beoboard_rates, cpu_irq_ms), offsetof(struct beoboard_rates, cpu_irq_pct)},
  {"cpu_softirq_ms", offsetof(struct bb_report, cpu_softirq_ms), 8, 3, false, false,
   offsetof(struct beoboard_rates, cpu_softirq_ms), offsetof(struct beoboard_rates, cpu_softirq_pct)},
  {"cpu_steal_ms", offsetof(struct bb_report, cpu_steal_ms), 8, 3, false, false,
   offsetof(struct beoboard_rates, cpu_steal_ms), offsetof(struct beoboard_rates, cpu_steal_pct)},
  {"ctxt", offsetof(struct bb_report, ctxt), 8, 3, false, false,
   offsetof(struct beoboard_rates, ctxt), 0},
  {"intr", offsetof(struct bb_report, intr), 8, 3, false, false,
   offsetof(struct beoboard_rates, intr), 0},
  {"forks", offsetof(struct bb_report, forks), 8, 3, false, false,
   offsetof(struct beoboard_rates, forks), 0},
  {"majfaults", offsetof(struct bb_report, majfaults), 8, 6, false, false,
   offsetof(struct beoboard_rates, majfaults), 0},
  {"swapin_pages", offsetof(struct bb_report, swapin_pages), 8, 6, false, false,
   offsetof(struct beoboard_rates, swapin_pages), 0},
  {"swapout_pages", offsetof(struct bb_report, swapout_pages), 8, 6, false, false,
   offsetof(struct beoboard_rates, swapout_pages), 0},
  {"tcp_retrans", offsetof(struct bb_report, tcp_retrans), 8, 11, false, false,
   offsetof(struct beoboard_rates, tcp_retrans), 0},
  {"psi_cpu_some_us", offsetof(struct bb_report, psi_cpu_some_us), 8, 7, false, false,
   offsetof(struct beoboard_rates, psi_cpu_some_us), 0},
  {"psi_mem_some_us", offsetof(struct bb_report, psi_mem_some_us), 8, 8, false, false,
   offsetof(struct beoboard_rates, psi_mem_some_us), 0},
  {"psi_mem_full_us", offsetof(struct bb_report, psi_mem_full_us), 8, 8, false, false,
   offsetof(struct beoboard_rates, psi_mem_full_us), 0},
  {"psi_io_some_us", offsetof(struct bb_report, psi_io_some_us), 8, 9, false, false,
   offsetof(struct beoboard_rates, psi_io_some_us), 0},
  {"psi_io_full_us", offsetof(struct bb_report, psi_io_full_us), 8, 9, false, false,
   offsetof(struct beoboard_rates, psi_io_full_us), 0},
  {"psi_irq_full_us", offsetof(struct bb_report, psi_irq_full_us), 8, 10, false, false,
   offsetof(struct beoboard_rates, psi_irq_full_us), 0},
  {"disk_read_bytes", offsetof(struct bb_report, disk_read_bytes), 8, 14, false, true,
   offsetof(struct beoboard_rates, disk_read_bytes), 0},
  {"disk_write_bytes", offsetof(struct bb_report, disk_write_bytes), 8, 14, false, true,
   offsetof(struct beoboard_rates, disk_write_bytes), 0},
  {"disk_reads", offsetof(struct bb_report, disk_reads), 8, 14, false, true,
   offsetof(struct beoboard_rates, disk_reads), 0},
  {"disk_writes", offsetof(struct bb_report, disk_writes), 8, 14, false, true,
   offsetof(struct beoboard_rates, disk_writes), 0},
  {"disk_busy_ms", offsetof(struct bb_report, disk_busy_ms), 8, 14, false, true,
   offsetof(struct beoboard_rates, disk_busy_ms), 0},
  {"disk_weighted_ms", offsetof(struct bb_report, disk_weighted_ms), 8, 14, false, true,
   offsetof(struct beoboard_rates, disk_weighted_ms), 0},
  {"energy_cpu_mj", offsetof(struct bb_report, energy_cpu_mj), 8, 27, true, true,
   offsetof(struct beoboard_rates, energy_cpu_mj), 0},
  {"energy_dram_mj", offsetof(struct bb_report, energy_dram_mj), 8, 28, true, true,
   offsetof(struct beoboard_rates, energy_dram_mj), 0},
};
static const struct bb_counter bb_net_counters[] = {
  {"rx_bytes", offsetof(struct bb_net_if, rx_bytes), 8, -1, false, false,
   offsetof(struct beoboard_net_rates, rx_bytes), 0},
  {"tx_bytes", offsetof(struct bb_net_if, tx_bytes), 8, -1, false, false,
   offsetof(struct beoboard_net_rates, tx_bytes), 0},
  {"rx_packets", offsetof(struct bb_net_if, rx_packets), 8, -1, false, false,
   offsetof(struct beoboard_net_rates, rx_packets), 0},
  {"tx_packets", offsetof(struct bb_net_if, tx_packets), 8, -1, false, false,
   offsetof(struct beoboard_net_rates, tx_packets), 0},
  {"errors", offsetof(struct bb_net_if, errors), 4, -1, false, false,
   offsetof(struct beoboard_net_rates, errors), 0},
  {"drops", offsetof(struct bb_net_if, drops), 4, -1, false, false,
   offsetof(struct beoboard_net_rates, drops), 0},
};

#endif
