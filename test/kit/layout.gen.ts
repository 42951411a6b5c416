// Generated from the documents in proto/. Do not edit: change these and run `npm run generate`.

/** Structs of the contract: the size and fields of each. */
export const structs = {
  index_entry: {
    bytes: 8,
    fields: {
      word: { offset: 0, type: 'u64', count: 0, unit: 'id', kind: '' },
    },
  },
  column_entry: {
    bytes: 8,
    fields: {
      word: { offset: 0, type: 'u64', count: 0, unit: 'word column', kind: '' },
    },
  },
  relay_report: {
    bytes: 1256,
    fields: {
      kind: { offset: 0, type: 'u16', count: 0, unit: 'enum relay_entry', kind: '' },
      bytes: { offset: 2, type: 'u16', count: 0, unit: 'bytes', kind: '' },
      record: { offset: 4, type: 'u32', count: 0, unit: '', kind: '' },
      head: { offset: 8, type: 'u64', count: 0, unit: 'id', kind: '' },
      stamp_ns: { offset: 16, type: 'u64', count: 0, unit: 'ns', kind: '' },
      stamp_real_ns: { offset: 24, type: 'u64', count: 0, unit: 'ns', kind: '' },
      link: { offset: 32, type: 'u64', count: 0, unit: 'id', kind: '' },
      report: { offset: 40, type: 'report', count: 0, unit: '', kind: '' },
    },
  },
  relay_record: {
    bytes: 296,
    fields: {
      kind: { offset: 0, type: 'u16', count: 0, unit: 'enum relay_entry', kind: '' },
      bytes: { offset: 2, type: 'u16', count: 0, unit: 'bytes', kind: '' },
      record: { offset: 4, type: 'u32', count: 0, unit: '', kind: '' },
      name: { offset: 8, type: 'char', count: 64, unit: '', kind: '' },
      accepted: { offset: 72, type: 'u64', count: 0, unit: 'count', kind: '' },
      lost: { offset: 80, type: 'u64', count: 0, unit: 'count', kind: '' },
      unheard: { offset: 88, type: 'u64', count: 0, unit: 'count', kind: '' },
      duplicate: { offset: 96, type: 'u64', count: 0, unit: 'count', kind: '' },
      late: { offset: 104, type: 'u64', count: 0, unit: 'count', kind: '' },
      refused: { offset: 112, type: 'u64', count: 0, unit: 'count', kind: '' },
      restarts: { offset: 120, type: 'u64', count: 0, unit: 'count', kind: '' },
      reboots: { offset: 128, type: 'u64', count: 0, unit: 'count', kind: '' },
      resets: { offset: 136, type: 'u64', count: 0, unit: 'count', kind: '' },
      auth_proved: { offset: 144, type: 'u64', count: 0, unit: 'enum auth_alg', kind: '' },
      flags: { offset: 152, type: 'u64', count: 0, unit: 'bits record_flags', kind: '' },
      refusal_reason: { offset: 160, type: 'u64', count: 0, unit: 'enum reason', kind: '' },
      refusal_ns: { offset: 168, type: 'u64', count: 0, unit: 'ns', kind: '' },
      refusal_real_ns: { offset: 176, type: 'u64', count: 0, unit: 'ns', kind: '' },
      refusal_offset_us: { offset: 184, type: 'i64', count: 0, unit: 'us', kind: '' },
      address: { offset: 192, type: 'u8', count: 16, unit: '', kind: '' },
      address_before: { offset: 208, type: 'u8', count: 16, unit: '', kind: '' },
      address_ns: { offset: 224, type: 'u64', count: 0, unit: 'ns', kind: '' },
      port: { offset: 232, type: 'u64', count: 0, unit: '', kind: '' },
      clone_since_ns: { offset: 240, type: 'u64', count: 0, unit: 'ns', kind: '' },
      clone_ns: { offset: 248, type: 'u64', count: 0, unit: 'ns', kind: '' },
      clone_address: { offset: 256, type: 'u8', count: 16, unit: '', kind: '' },
      clone_other: { offset: 272, type: 'u8', count: 16, unit: '', kind: '' },
      settled: { offset: 288, type: 'u64', count: 0, unit: 'id', kind: '' },
    },
  },
  relay_link: {
    bytes: 136,
    fields: {
      kind: { offset: 0, type: 'u16', count: 0, unit: 'enum relay_entry', kind: '' },
      bytes: { offset: 2, type: 'u16', count: 0, unit: 'bytes', kind: '' },
      number: { offset: 4, type: 'u32', count: 0, unit: '', kind: '' },
      link: { offset: 8, type: 'link', count: 0, unit: '', kind: '' },
    },
  },
} as const;
