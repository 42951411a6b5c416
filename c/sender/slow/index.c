/* All slow sources, with how often each is read and which bytes of a report are its own. Refuses to schedule them: see
 * rounds.c. */
#include "source.h"

const struct source sources[SOURCES] = {
  {"taint", 10000, 0, false, {FIELD(taint)}, read_taint},
  {"hung_tasks", 10000, 0, false, {FIELD(hung_tasks)}, read_hung_tasks},
  {"edac", 10000, 0, false, {FIELDS(edac_ce, edac_ue)}, read_edac},
  {"throttle", 10000, 0, false, {FIELD(throttle_events)}, read_throttle},
  {"fabric", 0, 0, true, {FIELD(fabric)}, read_fabric},
  /* A large package comes round within two minutes, and grows by less than half of that within ten seconds. */
  {"energy", 0, 10000, true, {FIELDS(energy_cpu_mj, energy_dram_mj)}, read_energy},
  {"power", 5000, 0, false, {FIELDS(power_node_w, power_src)}, read_power},
  {"temperatures", 5000, 0, false, {FIELDS(temp_inlet_dc, temp_hottest_dc)}, read_temperatures},
  {"root", 10000, 0, false, {FIELDS(root_total_mib, root_avail_mib), FIELD(root_inodes_free_pm)}, read_root},
  {"scratch", 10000, 0, false, {FIELD(scratch_avail_mib), FIELD(scratch_total_mib), FIELD(scratch_inodes_free_pm)}, read_scratch},
  {"filesystems", 10000, 0, false, {FIELDS(fs_total_mib, fs_fullest_pm)}, read_filesystems},
  {"health", 0, 0, false, {FIELDS(health, health_src), FIELD(health_age_s)}, read_health},
  {"gpu", 5000, 0, false,
   {FIELDS(gpu_count, gpu_busy), FIELD(gpu_vendor), FIELDS(gpu_errors, gpu_ecc_ue), FIELD(gpu_flags), FIELD(gpu)}, read_gpus},
  {"hw_hash", 60000, 0, false, {FIELD(hw_hash)}, read_hw_hash},
  {"sw_hash", 60000, 0, false, {FIELD(sw_hash)}, read_sw_hash},
  {"container", 60000, 0, false, {{0, 0}}, read_container},
  {"links", 10000, 0, false, {{0, 0}}, read_link_speeds},
  {"clock_rates", 10000, 0, false, {{0, 0}}, read_clock_rates},
};
