// Reads beoboard's board from its layout alone, with nothing but Go's standard library.
//
//	go run board.go [BOARD]      a line per node: NAME STATE AGE_MS SEQ LOAD1
//
// All numbers below are from beoboard(5) = proto/board-v2.md and beoboard-stat(5) = proto/stat-v1.md. For Linux,
// little-endian, 64 bits. Exit codes: 0; 4 no board, or a stalled one.
//
// What Go guarantees while the receiver writes: atomic.LoadUint64 loads a whole word, and such loads happen in program
// order on every processor (they are sequentially consistent, on aarch64 LDAR). So a slot is copied word by word with
// atomic loads, between the loads of its head and of its tail. That is correct everywhere without a fence, which Go
// does not have. A plain copy() of the map would be a data race: torn words, in any order.
package main

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"
)

const (
	magic     = 0x4452414F424F4542 // the bytes BEOBOARD
	statHash  = 0xF0B4D862878E67AC // the datagram's layout, BB_HASH_STAT_V1: another one holds other reports
	stalledNs = 3_000_000_000
	aheadNs   = 1_000_000_000

	headerBytes = 1536 // what we know of it; a minor version may have more
	links       = 32
	others      = 31 // the link that stands for all without an entry; 0 is not known
)

type board struct {
	data                                        []byte
	capacity, column, records                   uint64
	columnStride, recordStride, slots, slotSize uint64
}

// The evidence. The order of loads matters: first the clock, then the heartbeat, then for each link its heartbeat and
// since when it has listened; and only then the column or the slots, so that these have all reports from before the
// link's heartbeat.
type look struct {
	now, heartbeat, uncertainAfter, silentAfter, longest int64
	links                                                [links]evidence
	unknown                                              bool
}

// The evidence of a link; zero: there is none, and so no node is silent.
type evidence struct{ heartbeat, since int64 }

func (b *board) word(offset uint64) uint64 {
	return atomic.LoadUint64((*uint64)(unsafe.Pointer(&b.data[offset : offset+8][0])))
}

func (b *board) half(offset uint64) uint64 { return b.word(offset&^7) >> (offset & 4 * 8) & 0xffffffff }

func open(path string) (*board, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("not a regular file")
	case !trusted(owner):
		return nil, fmt.Errorf("belongs to user %d, who is not trusted", owner)
	case info.Size() < headerBytes:
		return nil, fmt.Errorf("not finished")
	}
	size := uint64(info.Size())
	data, err := syscall.Mmap(int(file.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	b := &board{data: data}
	version := b.half(8) // stored last
	if version == 0 {
		return nil, fmt.Errorf("not finished")
	}
	if b.word(0) != magic || version>>16 != 2 || b.word(16) != statHash {
		return nil, fmt.Errorf("not a board, or one of another version")
	}
	// By the offsets and strides in the header, not by what they are today; none may lead out of the file.
	b.capacity, b.column, b.records = b.half(40), b.word(56), b.word(64)
	b.columnStride, b.recordStride, b.slots, b.slotSize = b.half(76), b.half(80), b.half(84), b.half(88)
	bytes, header := b.word(32), b.half(12)
	fits := func(offset, stride uint64) bool {
		return offset%8 == 0 && stride%8 == 0 && stride >= 8 && offset >= header && offset <= bytes && stride <= (bytes-offset)/b.capacity
	}
	if bytes > size || header < headerBytes || b.capacity == 0 || b.half(92) != 32 || b.half(96) != 1216 || b.half(100) != 2 || b.slots%8 != 0 || b.slotSize%8 != 0 ||
		b.slots < 384 || b.slotSize < 1280 || b.recordStride < b.slots+2*b.slotSize || !fits(b.column, b.columnStride) || !fits(b.records, b.recordStride) {
		return nil, fmt.Errorf("its parts lead out of the file")
	}
	return b, nil
}

func trusted(uid uint32) bool {
	if uid == 0 || int(uid) == os.Geteuid() {
		return true
	}
	for _, name := range []string{"beoboard", os.Getenv("BEOBOARD_OWNER")} {
		if id, err := strconv.ParseUint(name, 10, 32); err == nil && uint32(id) == uid {
			return true
		}
		if found, err := user.Lookup(name); err == nil && found.Uid == fmt.Sprint(uid) {
			return true
		}
	}
	return false
}

func monotonic() int64 {
	var t syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

func (b *board) count() uint64 {
	if n := b.word(312); n < b.capacity {
		return n
	}
	return b.capacity
}

func (b *board) look() (l look) {
	for try := 0; try < 2; try++ { // far ahead of the clock? Perhaps we were asleep between the two: once more
		l.now = monotonic()
		l.heartbeat = int64(b.word(320))
		if l.heartbeat-l.now <= aheadNs {
			break
		}
	}
	used := b.word(352)
	for link := uint64(1); link < links; link++ {
		if link <= used || link == others { // of a number without an entry nothing is known, whatever stands there
			l.links[link].heartbeat = int64(b.word(1024 + 16*link))
			l.links[link].since = int64(b.word(1024 + 16*link + 8))
		}
	}
	l.uncertainAfter, l.silentAfter = int64(b.word(288)), int64(b.word(296))
	l.longest = 1<<20 - 1 // a longer interval counts as this one, which is a minute at least; 0: there is none
	if ms := b.word(376); ms != 0 && ms < 60000 {
		l.longest = 60000
	} else if ms != 0 && ms < 1<<20 {
		l.longest = int64(ms)
	}
	retired := b.word(304)&2 != 0 // another board has taken its place: open the path again
	l.unknown = retired || l.heartbeat-l.now > aheadNs || l.now-l.heartbeat > stalledNs
	return l
}

func (l look) judge(stamp, intervalMs int64, goodbye bool, link uint64) string {
	longer := intervalMs
	if longer > l.longest {
		longer = l.longest
	}
	if longer < 1000 {
		longer = 1000
	}
	var by evidence
	if link < links {
		by = l.links[link]
	}
	heard := stamp
	if heard < by.since {
		heard = by.since
	}
	switch {
	case l.unknown:
		return "unknown"
	case goodbye:
		return "left"
	case stamp-l.now > aheadNs:
		return "uncertain"
	case l.now-stamp <= l.uncertainAfter/1000*longer:
		return "live"
	case by.heartbeat-heard > l.silentAfter/1000*longer: // by its own link: never measured to now, and only while somebody listened there
		return "silent"
	}
	return "uncertain"
}

// Returns the words of the slot with a node's newest complete report; nil if there is none.
func (b *board) newest(i uint64) ([]uint64, error) {
	at := b.records + i*b.recordStride + b.slots
	for try := 0; try < 64; try++ {
		first, second := b.word(at), b.word(at+b.slotSize)
		// One being written (odd): the other, looked at again now, is the newest. Else the higher one.
		slot := at
		if first&1 == 1 || (second&1 == 0 && second > first) {
			slot += b.slotSize
		}
		words := make([]uint64, 1248/8)
		for k := range words {
			words[k] = b.word(slot + uint64(k)*8) // the head is the first of them
		}
		switch {
		case words[0] == 0:
			return nil, nil
		case words[0]&1 == 0 && b.word(slot+1248) == words[0]:
			return words, nil
		}
	}
	return nil, fmt.Errorf("a record was overwritten again and again")
}

func (b *board) name(i uint64) string {
	var name [64]byte
	for k := uint64(0); k < 8; k++ {
		*(*uint64)(unsafe.Pointer(&name[k*8])) = b.word(b.records + i*b.recordStride + k*8)
	}
	return strings.SplitN(string(name[:]), "\x00", 2)[0]
}

func run(path string) (bool, error) {
	b, err := open(path)
	if err != nil {
		return false, err
	}
	l := b.look()
	for i := uint64(0); i < b.count(); i++ {
		slot, err := b.newest(i)
		if err != nil {
			return false, err
		}
		if slot == nil {
			state := "never"
			if l.unknown {
				state = "unknown"
			}
			fmt.Println(b.name(i), state, "-", "-", "-")
			continue
		}
		report := slot[4:] // a slot's report begins at byte 32
		seq, interval := report[3]&0xffffffff, int64(report[3]>>32)
		goodbye, load := report[7]&2 != 0, "-"
		if report[6]>>2&1 == 1 { // the set load
			load = fmt.Sprintf("%.2f", float64(report[9]&0xffffffff)/100)
		}
		age := l.now - int64(slot[1])
		if age < 0 {
			age = 0
		}
		fmt.Println(b.name(i), l.judge(int64(slot[1]), interval, goodbye, slot[3]), age/1_000_000, seq, load)
	}
	return !l.unknown, nil
}

func main() {
	path := "/dev/shm/beoboard/board"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	known, err := run(path)
	if err != nil {
		fmt.Fprintf(os.Stderr, "board.go: %s: %v\n", path, err)
	}
	if err != nil || !known {
		os.Exit(4)
	}
}
