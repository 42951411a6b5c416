// Reads beoboard's board from its layout alone, with nothing but Rust's standard library: `rustc -O board.rs`.
//
//   board [BOARD]      a line per node: NAME STATE AGE_MS SEQ LOAD1
//
// All numbers below are from beoboard(5) = proto/board-v2.md and beoboard-stat(5) = proto/stat-v1.md. For Linux,
// little-endian, 64 bits. Exit codes: 0; 4 no board, or a stalled one.
//
// What Rust guarantees while the receiver writes: AtomicU64 and fence have C11's meaning, so the lock is written as in
// the contract (head with Acquire, words Relaxed, a fence, the tail) and is correct on every processor. A slice over
// the map would be undefined behaviour, because its bytes change under a shared reference. So there are only pointers
// to atomics.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::process::ExitCode;
use std::sync::atomic::{fence, AtomicU64, Ordering};

const MAGIC: u64 = 0x4452414F424F4542; // the bytes BEOBOARD
const STAT_HASH: u64 = 0xF0B4D862878E67AC; // the datagram's layout, BB_HASH_STAT_V1: another one holds other reports
const STALLED_NS: i64 = 3_000_000_000;
const AHEAD_NS: i64 = 1_000_000_000;
const HEADER_BYTES: u64 = 1536; // what we know of it; a minor version may have more
const LINKS: usize = 32;
const OTHERS: usize = 31; // the link that stands for all without an entry; 0 is not known

const O_NOFOLLOW: i32 = if cfg!(any(target_arch = "aarch64", target_arch = "arm")) { 0o100000 } else { 0o400000 };
const O_NONBLOCK: i32 = 0o4000;
const SIGPIPE: i32 = 13;
const SIG_DFL: usize = 0;

#[repr(C)]
struct Timespec {
    sec: i64,
    nsec: i64,
}

extern "C" {
    fn mmap(at: *mut u8, bytes: usize, prot: i32, flags: i32, fd: i32, offset: i64) -> *mut u8;
    fn clock_gettime(clock: i32, to: *mut Timespec) -> i32;
    fn geteuid() -> u32;
    fn signal(number: i32, handler: usize) -> usize;
}

struct Board {
    map: *const u8,
    bytes: u64,
    capacity: u64,
    column: (u64, u64),
    records: (u64, u64),
    slots: u64,
    slot_stride: u64,
}

/// The evidence. The order of loads matters: first the clock, then the heartbeat (acquire), then for each link its
/// heartbeat (acquire) and since when it has listened; and only then the column or the slots, so that these have all
/// reports from before the link's heartbeat.
struct Look {
    now: i64,
    /// Heartbeat and listening-since; zero: there is no evidence, and so no node is silent.
    links: [(i64, i64); LINKS],
    uncertain_after: i64,
    silent_after: i64,
    longest: i64,
    unknown: bool,
}

fn monotonic() -> i64 {
    let mut t = Timespec { sec: 0, nsec: 0 };
    unsafe { clock_gettime(1, &mut t) };
    t.sec * 1_000_000_000 + t.nsec
}

/// Trusted owners are root, our own user, the user beoboard, and the one in BEOBOARD_OWNER. Names are looked up only in
/// /etc/passwd, without libc's name service.
fn is_trusted(uid: u32) -> bool {
    if uid == 0 || uid == unsafe { geteuid() } {
        return true;
    }
    let owner = std::env::var("BEOBOARD_OWNER").unwrap_or_default();
    if owner.parse::<u32>() == Ok(uid) {
        return true;
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    users.lines().any(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        fields.len() > 2 && (fields[0] == "beoboard" || fields[0] == owner) && fields[2].parse() == Ok(uid)
    })
}

impl Board {
    fn atomic(&self, offset: u64) -> &AtomicU64 {
        assert!(offset % 8 == 0 && offset + 8 <= self.bytes);
        unsafe { &*(self.map.add(offset as usize) as *const AtomicU64) }
    }
    fn word(&self, offset: u64) -> u64 {
        self.atomic(offset).load(Ordering::Relaxed)
    }
    fn acquire(&self, offset: u64) -> u64 {
        self.atomic(offset).load(Ordering::Acquire)
    }
    fn half(&self, offset: u64) -> u64 {
        self.word(offset & !7) >> ((offset & 4) * 8) & 0xffff_ffff
    }

    fn open(path: &str) -> Result<Board, String> {
        let file = OpenOptions::new().read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK).open(path).map_err(|e| e.to_string())?;
        let info = file.metadata().map_err(|e| e.to_string())?;
        if !info.file_type().is_file() {
            return Err("not a regular file".into());
        }
        if !is_trusted(info.uid()) {
            return Err(format!("belongs to user {}, who is not trusted", info.uid()));
        }
        if info.size() < HEADER_BYTES {
            return Err("not finished".into());
        }
        let map = unsafe { mmap(std::ptr::null_mut(), info.size() as usize, 1, 1, file.as_raw_fd(), 0) };
        if map as isize == -1 {
            return Err(std::io::Error::last_os_error().to_string());
        }
        let mut b = Board { map, bytes: info.size(), capacity: 0, column: (0, 0), records: (0, 0), slots: 0, slot_stride: 0 };
        let version = b.acquire(8) & 0xffff_ffff; // stored last
        if version == 0 {
            return Err("not finished".into());
        }
        if b.word(0) != MAGIC || version >> 16 != 2 || b.word(16) != STAT_HASH {
            return Err("not a board, or one of another version".into());
        }
        // Offsets and strides are taken from the header, because other versions may have others; none may lead out of
        // the file.
        b.capacity = b.half(40);
        b.column = (b.word(56), b.half(76));
        b.records = (b.word(64), b.half(80));
        b.slots = b.half(84);
        b.slot_stride = b.half(88);
        let (bytes, header) = (b.word(32), b.half(12));
        let fits = |(offset, stride): (u64, u64)| {
            offset % 8 == 0 && stride % 8 == 0 && stride >= 8 && offset >= header && offset <= bytes && stride <= (bytes - offset) / b.capacity
        };
        if bytes > info.size()
            || header < HEADER_BYTES
            || b.capacity == 0
            || (b.half(92), b.half(96), b.half(100)) != (32, 1216, 2)
            || b.slots % 8 != 0
            || b.slot_stride % 8 != 0
            || b.slots < 384
            || b.slot_stride < 1280
            || b.records.1 < b.slots + 2 * b.slot_stride
            || !fits(b.column)
            || !fits(b.records)
        {
            return Err("its parts lead out of the file".into());
        }
        Ok(b)
    }

    fn count(&self) -> u64 {
        self.acquire(312).min(self.capacity)
    }

    fn look(&self) -> Look {
        let (mut now, mut heartbeat) = (0, 0);
        for _ in 0..2 {
            // Far ahead of our clock: perhaps we slept between the two loads, so try once more.
            now = monotonic();
            heartbeat = self.acquire(320) as i64;
            if heartbeat.wrapping_sub(now) <= AHEAD_NS {
                break;
            }
        }
        let used = self.acquire(352);
        let mut links = [(0, 0); LINKS];
        for (i, link) in links.iter_mut().enumerate().skip(1) {
            // A number without an entry has no evidence, whatever the file has there.
            if i as u64 <= used || i == OTHERS {
                let at = 1024 + 16 * i as u64;
                let heartbeat = self.acquire(at) as i64;
                *link = (heartbeat, self.word(at + 8) as i64);
            }
        }
        let retired = self.word(304) & 2 != 0; // another board has replaced this one: open the path again
        let ahead = heartbeat.wrapping_sub(now);
        let unknown = retired || ahead > AHEAD_NS || ahead < -STALLED_NS;
        // A longer interval counts as this one, which is a minute at least; 0: there is none.
        let longest = match self.word(376) {
            0 => i64::MAX,
            ms => ms.clamp(60_000, 0xFFFFF) as i64,
        };
        Look { now, links, longest, uncertain_after: self.word(288) as i64, silent_after: self.word(296) as i64, unknown }
    }

    fn name(&self, i: u64) -> String {
        let at = self.records.0 + i * self.records.1;
        let bytes: Vec<u8> = (0..8).flat_map(|k| self.word(at + k * 8).to_le_bytes()).take_while(|&byte| byte != 0).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns the words of the slot with a node's newest complete report; None if there is none.
    fn newest(&self, i: u64) -> Result<Option<Vec<u64>>, String> {
        let at = self.records.0 + i * self.records.1 + self.slots;
        for _ in 0..64 {
            let (first, second) = (self.acquire(at), self.acquire(at + self.slot_stride));
            // If a head is odd, its slot is being written, and the other slot, whose head is loaded again, is the
            // newest. Otherwise the newest is the slot with the higher head.
            let slot = if first & 1 == 1 || (second & 1 == 0 && second > first) { at + self.slot_stride } else { at };
            let head = self.acquire(slot);
            if head == 0 {
                return Ok(None);
            }
            let words: Vec<u64> = (0..1248 / 8).map(|k| self.word(slot + k * 8)).collect();
            fence(Ordering::Acquire);
            if head & 1 == 0 && self.word(slot + 1248) == head {
                return Ok(Some(words));
            }
        }
        Err("a record was overwritten again and again".into())
    }
}

impl Look {
    fn judge(&self, stamp: i64, interval_ms: i64, goodbye: bool, link: u64) -> &'static str {
        let longer = interval_ms.min(self.longest).max(1000);
        let (heartbeat, since) = self.links.get(link as usize).copied().unwrap_or((0, 0));
        let limit = |ns: i64| (ns as i128 * longer as i128 / 1000) as i64;
        if self.unknown {
            "unknown"
        } else if goodbye {
            "left"
        } else if stamp.wrapping_sub(self.now) > AHEAD_NS {
            "uncertain"
        } else if self.now.wrapping_sub(stamp) <= limit(self.uncertain_after) {
            "live"
        } else if heartbeat.wrapping_sub(stamp.max(since)) > limit(self.silent_after) {
            "silent" // by its own link: never measured to now, and only while somebody listened there
        } else {
            "uncertain"
        }
    }
}

fn run(path: &str) -> Result<bool, String> {
    let b = Board::open(path)?;
    let look = b.look();
    for i in 0..b.count() {
        let Some(slot) = b.newest(i)? else {
            println!("{} {} - - -", b.name(i), if look.unknown { "unknown" } else { "never" });
            continue;
        };
        let report = &slot[4..]; // a slot's report begins at byte 32
        let (seq, interval) = (report[3] & 0xffff_ffff, (report[3] >> 32) as i64);
        let goodbye = report[7] & 2 != 0;
        let has_load = report[6] >> 2 & 1 == 1; // the set load
        let load = if has_load { format!("{:.2}", (report[9] & 0xffff_ffff) as f64 / 100.0) } else { "-".into() };
        let stamp = slot[1] as i64;
        let age = (look.now - stamp).max(0) / 1_000_000;
        println!("{} {} {} {} {}", b.name(i), look.judge(stamp, interval, goodbye, slot[3]), age, seq, load);
    }
    Ok(!look.unknown)
}

fn main() -> ExitCode {
    unsafe { signal(SIGPIPE, SIG_DFL) }; // whoever reads us may leave early, as head does
    let path = std::env::args().nth(1).unwrap_or("/dev/shm/beoboard/board".into());
    match run(&path) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(4),
        Err(why) => {
            eprintln!("board.rs: {path}: {why}");
            ExitCode::from(4)
        }
    }
}
