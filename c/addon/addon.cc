// The addon: gives JavaScript the clocks, the board's mapping, the writer, the receive thread and bulk sending.
// Translates and owns; what these do stands in the C files.

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <napi.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../base/lockfile.h"
#include "../base/notify.h"
#include "../board/reader.h"
#include "../board/writer.h"
#include "../judge/overview.h"
#include "../judge/totals.h"
#include "../receive/receive.h"
#include "../relay/harvest.h"
#include "../relay/mirror.h"
#include "../rules/mac.h"
#include "../rules/order.h"
#include "bulk_send.h"
#include "fieldjson.h"
#include "form.h"
#include "gather.h"

namespace {

constexpr size_t kWhy = 512;
// From this size on, in bytes, a buffer is worth huge pages.
constexpr size_t kLarge = 4 << 20;

uint64_t Nanoseconds(clockid_t clock) { return static_cast<uint64_t>(bb_clock_ns(clock)); }

// clocks(into: BigUint64Array): CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_MONOTONIC, back to back.
void Clocks(const Napi::CallbackInfo& info) {
  auto into = info[0].As<Napi::BigUint64Array>();
  into[0] = Nanoseconds(CLOCK_REALTIME);
  into[1] = Nanoseconds(CLOCK_BOOTTIME);
  into[2] = Nanoseconds(CLOCK_MONOTONIC);
}

// adjtimex(): { offsetUs, maxErrorUs, unsynchronised }, or undefined where the kernel does not tell (a container).
Napi::Value Adjtimex(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  struct timex clock = {};
  const int state = adjtimex(&clock); // modes is 0: it only reads
  if (state < 0) return env.Undefined();
  auto out = Napi::Object::New(env);
  const double scale = (clock.status & STA_NANO) != 0 ? 1000.0 : 1.0;
  out.Set("offsetUs", Napi::Number::New(env, static_cast<double>(clock.offset) / scale));
  out.Set("maxErrorUs", Napi::Number::New(env, static_cast<double>(clock.maxerror)));
  out.Set("unsynchronised", Napi::Boolean::New(env, state == TIME_ERROR || (clock.status & STA_UNSYNC) != 0));
  return out;
}

// The text of a file from its beginning: readText below. A short read is not the end: a kernel file that is made line by line
// comes in pieces of a page or so. Little is asked for at first, for of a file of /proc/sys the kernel allocates and clears
// all that a read asks for.
Napi::Value TextOf(Napi::Env env, int fd, size_t most, bool cut) {
  constexpr size_t kLeast = 4 << 10, kMost = 64 << 10;
  // Kept, so that a report allocates nothing; a thread has its own, because an addon is loaded once for all of them.
  static thread_local std::vector<char> text;
  size_t length = 0, ask = kLeast;
  while (length < most) {
    const size_t want = std::min(ask, most - length);
    if (text.size() < length + want) text.resize(length + want);
    const ssize_t got = pread(fd, text.data() + length, want, static_cast<off_t>(length));
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Napi::Number::New(env, -errno);
    length += static_cast<size_t>(got);
    ask = static_cast<size_t>(got) == ask ? std::min(ask * 4, kMost) : kLeast;
  }
  if (length == most && !cut) return Napi::Number::New(env, -EFBIG);
  return Napi::String::New(env, text.data(), length);
}

// readText(file, most, cut): the text of an open file, or of the regular file at a path, or -errno; of a file that has so many
// bytes or more the first ones if it may be cut, otherwise -EFBIG. A FIFO does not hang it.
Napi::Value ReadText(const Napi::CallbackInfo& info) {
  const size_t most = info[1].As<Napi::Number>().Uint32Value();
  const bool cut = info[2].As<Napi::Boolean>().Value();
  if (info[0].IsNumber()) return TextOf(info.Env(), info[0].As<Napi::Number>().Int32Value(), most, cut);
  const std::string path = info[0].As<Napi::String>();
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return Napi::Number::New(info.Env(), -errno);
  struct stat stats;
  const bool is_file = fstat(fd, &stats) == 0 && S_ISREG(stats.st_mode);
  const Napi::Value text = is_file ? TextOf(info.Env(), fd, most, cut) : Napi::Number::New(info.Env(), -EINVAL);
  close(fd);
  return text;
}

// unread(fd): how many bytes the kernel keeps of what was written to a TCP socket because the peer has not taken them; 0 if
// that is not known.
Napi::Value Unread(const Napi::CallbackInfo& info) {
  int bytes = 0;
  if (ioctl(info[0].As<Napi::Number>().Int32Value(), SIOCOUTQ, &bytes) < 0) bytes = 0;
  return Napi::Number::New(info.Env(), bytes);
}

// Joins `count` texts by NULs. One begins every `stride` bytes, and ends at its first NUL or after `most` bytes.
Napi::Value Joined(Napi::Env env, const char* at, uint64_t stride, uint64_t most, uint64_t count) {
  std::string joined;
  for (uint64_t i = 0; i < count; i++, at += stride) {
    if (i > 0) joined.push_back('\0');
    joined.append(at, strnlen(at, most));
  }
  return Napi::String::New(env, joined);
}

// texts(bytes, first, stride, most, count): in one call, since thousands of names are wanted at once.
Napi::Value Texts(const Napi::CallbackInfo& info) {
  auto bytes = info[0].As<Napi::Uint8Array>();
  const uint64_t first = info[1].As<Napi::Number>().Uint32Value(), stride = info[2].As<Napi::Number>().Uint32Value();
  const uint64_t most = info[3].As<Napi::Number>().Uint32Value(), count = info[4].As<Napi::Number>().Uint32Value();
  if (count > 0 && first + (count - 1) * stride + most > bytes.ByteLength())
    throw Napi::RangeError::New(info.Env(), "there are not so many texts");
  return Joined(info.Env(), reinterpret_cast<const char*>(bytes.Data()) + first, stride, most, count);
}

bool IsAligned(const Napi::Uint8Array& bytes) { return reinterpret_cast<uintptr_t>(bytes.Data()) % 8 == 0; }

// overview(copy, nowNs, nodes, into): judges a copy of a board that was not made by `snapshot`; whether its receiver was stalled.
Napi::Value Overview(const Napi::CallbackInfo& info) {
  auto copy = info[0].As<Napi::Uint8Array>(), into = info[3].As<Napi::Uint8Array>();
  bool lossless = true;
  struct bb_look look = {info[1].As<Napi::BigInt>().Int64Value(&lossless), 0, info[2].As<Napi::Number>().Uint32Value(), 0};
  if (!IsAligned(copy) || !IsAligned(into)) throw Napi::TypeError::New(info.Env(), "the copy is not aligned to 8 bytes");
  if (into.ByteLength() < bb_overview_bytes(look.nodes)) throw Napi::RangeError::New(info.Env(), "there is not room for all nodes");
  const struct bb_overview out = bb_overview_at(into.Data(), look.nodes);
  if (!bb_overview(copy.Data(), copy.ByteLength(), &look, &out)) throw Napi::TypeError::New(info.Env(), "that is no copy of a board");
  return Napi::Boolean::New(info.Env(), look.stalled != 0);
}

// A part of the totals under that key, unless it is of no node.
void Tell(Napi::Object totals, const char* key, uint64_t nodes, std::initializer_list<std::pair<const char*, double>> sums) {
  if (nodes == 0) return;
  const Napi::Env env = totals.Env();
  auto part = Napi::Object::New(env);
  part.Set("nodes", Napi::Number::New(env, static_cast<double>(nodes)));
  for (const auto& [name, sum] : sums) part.Set(name, Napi::Number::New(env, sum));
  totals.Set(key, part);
}

// totals(copy, states): what those nodes of a copy have, use and move together that are live by a byte for each.
Napi::Value Totals(const Napi::CallbackInfo& info) {
  auto copy = info[0].As<Napi::Uint8Array>(), states = info[1].As<Napi::Uint8Array>();
  struct bb_totals t;
  if (!IsAligned(copy)) throw Napi::TypeError::New(info.Env(), "the copy is not aligned to 8 bytes");
  if (!bb_totals(copy.Data(), copy.ByteLength(), states.ByteLength(), states.Data(), &t))
    throw Napi::TypeError::New(info.Env(), "that is no copy of a board");
  auto out = Napi::Object::New(info.Env());
  Tell(out, "cpus", t.cpus.nodes, {{"used", t.cpus.used}, {"total", t.cpus.total}});
  Tell(out, "memory", t.memory.nodes, {{"used", t.memory.used}, {"total", t.memory.total}});
  Tell(out, "network", t.network.nodes, {{"in", t.network.in}, {"out", t.network.out}});
  Tell(out, "fabric", t.fabric.nodes, {{"in", t.fabric.in}, {"out", t.fabric.out}});
  Tell(out, "disks", t.disks.nodes, {{"read", t.disks.in}, {"written", t.disks.out}});
  Tell(out, "gpus", t.gpus.nodes, {{"used", t.gpus.used}, {"total", t.gpus.total}});
  Tell(out, "power", t.power.nodes, {{"watts", t.power.watts}});
  return out;
}

// A function that keeps what it works with. Calling it is faster than calling a method, which looks for that in its object.
template <Napi::Value (*call)(const Napi::CallbackInfo&), class Kept>
Napi::Function KeptBy(Napi::Env env, const char* name, std::unique_ptr<Kept> kept) {
  auto function = Napi::Function::New<call>(env, name, kept.get());
  function.AddFinalizer([](Napi::Env, Kept* gone) { delete gone; }, kept.get());
  kept.release();
  return function;
}

template <class T, class From>
std::vector<T> VectorOf(const From& array) {
  std::vector<T> out(array.ByteLength() / sizeof(T));
  if (!out.empty()) memcpy(out.data(), array.Data(), out.size() * sizeof(T));
  return out;
}

// form(text, gaps, values, texts): a bb_form and what is in its gaps.
//   (into, at, textBytes): bb_form_print from byte `at` on; the bytes that were written.
struct Form {
  std::vector<char> text;
  std::vector<struct bb_gap> gaps;
  Napi::Reference<Napi::Float64Array> values;
  Napi::Reference<Napi::Uint8Array> texts;
  struct bb_form form;
  struct bb_filling filling;
};

Napi::Value PrintForm(const Napi::CallbackInfo& info) {
  const auto* kept = static_cast<const Form*>(info.Data());
  auto into = info[0].As<Napi::Uint8Array>();
  const size_t at = info[1].As<Napi::Number>().Uint32Value(), room = into.ByteLength();
  struct bb_filling filling = kept->filling;
  filling.bytes = std::min<size_t>(info[2].As<Napi::Number>().Uint32Value(), filling.bytes);
  const long bytes = at > room ? -1 : bb_form_print(reinterpret_cast<char*>(into.Data()) + at, room - at, &kept->form, &filling);
  if (bytes < 0) throw Napi::RangeError::New(info.Env(), "the form has no room there, or not these texts");
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

Napi::Value MakeForm(const Napi::CallbackInfo& info) {
  auto values = info[2].As<Napi::Float64Array>();
  auto texts = info[3].As<Napi::Uint8Array>();
  auto kept = std::make_unique<Form>();
  kept->text = VectorOf<char>(info[0].As<Napi::Uint8Array>());
  kept->gaps = VectorOf<struct bb_gap>(info[1].As<Napi::Uint32Array>());
  kept->values = Napi::Persistent(values);
  kept->texts = Napi::Persistent(texts);
  kept->form = {kept->text.data(), kept->text.size(), kept->gaps.size(), kept->gaps.data()};
  kept->filling = {values.Data(), reinterpret_cast<const char*>(texts.Data()), texts.ByteLength()};
  if (!bb_form_check(&kept->form, values.ElementLength())) throw Napi::TypeError::New(info.Env(), "these gaps do not go with that text");
  return KeptBy<PrintForm>(info.Env(), "printForm", std::move(kept));
}

// gatherer(wanted, scales, values): struct bb_wanted and struct bb_scale, and where the values go.
//   (bytes, before, after): bb_gather of the reports at these bytes; before -1: there is none.
struct Gatherer {
  std::vector<struct bb_wanted> wanted;
  std::vector<struct bb_scale> scales;
  Napi::Reference<Napi::Float64Array> kept;
  double* values;
};

const struct bb_report* ReportAt(const Napi::Uint8Array& bytes, double at) {
  if (!(at >= 0) || at + sizeof(struct bb_report) > static_cast<double>(bytes.ByteLength()))
    throw Napi::RangeError::New(bytes.Env(), "no whole report is there");
  const uint8_t* report = bytes.Data() + static_cast<size_t>(at);
  if (reinterpret_cast<uintptr_t>(report) % 8 != 0) throw Napi::TypeError::New(bytes.Env(), "the report is not aligned to 8 bytes");
  return reinterpret_cast<const struct bb_report*>(report);
}

Napi::Value Gather(const Napi::CallbackInfo& info) {
  const auto* kept = static_cast<const Gatherer*>(info.Data());
  auto bytes = info[0].As<Napi::Uint8Array>();
  const double before = info[1].As<Napi::Number>().DoubleValue();
  const struct bb_report* after = ReportAt(bytes, info[2].As<Napi::Number>().DoubleValue());
  bb_gather(kept->wanted.data(), kept->scales.data(), kept->wanted.size(), before == -1 ? nullptr : ReportAt(bytes, before), after, kept->values);
  return info.Env().Undefined();
}

Napi::Value MakeGatherer(const Napi::CallbackInfo& info) {
  auto values = info[2].As<Napi::Float64Array>();
  auto kept = std::make_unique<Gatherer>();
  kept->wanted = VectorOf<struct bb_wanted>(info[0].As<Napi::Uint32Array>());
  kept->scales = VectorOf<struct bb_scale>(info[1].As<Napi::Float64Array>());
  kept->kept = Napi::Persistent(values);
  kept->values = values.Data();
  if (kept->scales.size() != kept->wanted.size() || !bb_gather_check(kept->wanted.data(), kept->wanted.size(), values.ElementLength()))
    throw Napi::TypeError::New(info.Env(), "these are no numbers of a report");
  return KeptBy<Gather>(info.Env(), "gather", std::move(kept));
}

// JsonTable(rows, text, validAt): bb_json_table.
class JsonTable : public Napi::ObjectWrap<JsonTable> {
 public:
  static Napi::Function Class(Napi::Env env) { return DefineClass(env, "JsonTable", {}); }

  explicit JsonTable(const Napi::CallbackInfo& info) : Napi::ObjectWrap<JsonTable>(info) {
    auto rows = info[0].As<Napi::Uint32Array>();
    auto text = info[1].As<Napi::Uint8Array>();
    constexpr size_t words = sizeof(struct bb_json_row) / sizeof(uint32_t);
    rows_.resize(rows.ElementLength() / words);
    if (!rows_.empty()) memcpy(rows_.data(), rows.Data(), rows_.size() * sizeof rows_[0]);
    text_.assign(reinterpret_cast<const char*>(text.Data()), text.ByteLength());
    table = {rows_.data(), rows_.size(), text_.data(), text_.size(), info[2].As<Napi::Number>().Uint32Value()};
    if (!bb_json_check(&table, &reads, &most)) throw Napi::TypeError::New(info.Env(), "this is no table of fields");
  }

  struct bb_json_table table = {};
  size_t reads = 0, most = 0;

 private:
  std::vector<struct bb_json_row> rows_;
  std::string text_;
};

// JsonPrinter(into, from): from a DataView into an array of bytes, whose places are looked up once.
//   struct(table, at, base): bb_json_print of the struct at byte `base`, from byte `at` on; the bytes that were written, or -1.
//   rates(at, before, after): bb_json_rates of the reports at two bytes; likewise, or 0.
class JsonPrinter : public Napi::ObjectWrap<JsonPrinter> {
 public:
  static Napi::Function Class(Napi::Env env) {
    return DefineClass(env, "JsonPrinter", {InstanceMethod("struct", &JsonPrinter::Struct), InstanceMethod("rates", &JsonPrinter::Rates)});
  }

  explicit JsonPrinter(const Napi::CallbackInfo& info) : Napi::ObjectWrap<JsonPrinter>(info) {
    auto into = info[0].As<Napi::Uint8Array>();
    auto from = info[1].As<Napi::DataView>();
    kept_into_ = Napi::Persistent(into);
    kept_from_ = Napi::Persistent(from);
    into_ = reinterpret_cast<char*>(into.Data());
    room_ = into.ByteLength();
    from_ = static_cast<const uint8_t*>(from.Data());
    bytes_ = from.ByteLength();
  }

 private:
  // Where to write so many bytes at most.
  char* Room(const Napi::Value& at, size_t most) const {
    const double begin = at.As<Napi::Number>().DoubleValue();
    if (!(begin >= 0) || begin + static_cast<double>(most) > static_cast<double>(room_))
      throw Napi::RangeError::New(at.Env(), "there is no room for that JSON");
    return into_ + static_cast<size_t>(begin);
  }

  // Where to read so many bytes.
  const uint8_t* Source(const Napi::Value& at, size_t reads) const {
    const double begin = at.As<Napi::Number>().DoubleValue();
    if (!(begin >= 0) || begin + static_cast<double>(reads) > static_cast<double>(bytes_))
      throw Napi::RangeError::New(at.Env(), "no whole struct is there");
    return from_ + static_cast<size_t>(begin);
  }

  Napi::Value Struct(const Napi::CallbackInfo& info) {
    const auto* table = JsonTable::Unwrap(info[0].As<Napi::Object>());
    char* to = Room(info[1], table->most);
    return Napi::Number::New(info.Env(), static_cast<double>(bb_json_print(to, &table->table, Source(info[2], table->reads))));
  }

  Napi::Value Rates(const Napi::CallbackInfo& info) {
    struct bb_report reports[2];
    for (size_t i = 0; i < 2; i++) memcpy(&reports[i], Source(info[1 + i], sizeof reports[i]), sizeof reports[i]);
    char* to = Room(info[0], BB_JSON_RATES_MOST);
    return Napi::Number::New(info.Env(), static_cast<double>(bb_json_rates(to, &reports[0], &reports[1])));
  }

  Napi::Reference<Napi::Uint8Array> kept_into_;
  Napi::Reference<Napi::DataView> kept_from_;
  char* into_ = nullptr;
  const uint8_t* from_ = nullptr;
  size_t room_ = 0, bytes_ = 0;
};

// An address of 16 bytes as people write it: IPv4 where it holds one.
std::string Address(const uint8_t address[16]) {
  static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  char text[INET6_ADDRSTRLEN] = "";
  const bool v4 = memcmp(address, mapped, sizeof mapped) == 0;
  inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? address + 12 : address, text, sizeof text);
  return text;
}

Napi::Value Nanoseconds(Napi::Env env, uint64_t ns) { return Napi::BigInt::New(env, ns); }
Napi::Value Count(Napi::Env env, uint64_t count) { return Napi::Number::New(env, static_cast<double>(count)); }

// Rejected senders, by the reason in whose part of the table they stand; empty entries are left out.
Napi::Value SendersOf(Napi::Env env, const struct bb_sender* senders) {
  auto list = Napi::Array::New(env);
  for (uint32_t i = 0, n = 0; i < BB_SENDERS; i++) {
    const struct bb_sender& s = senders[i];
    if (s.head == 0) continue;
    auto out = Napi::Object::New(env);
    out.Set("reason", Napi::Number::New(env, i / BB_SENDERS_EACH));
    out.Set("address", Address(s.address));
    out.Set("name", std::string(s.name, strnlen(s.name, sizeof s.name)));
    out.Set("firstNs", Nanoseconds(env, s.first_ns));
    out.Set("lastNs", Nanoseconds(env, s.last_ns));
    out.Set("lastRealNs", Nanoseconds(env, s.last_real_ns));
    out.Set("count", Count(env, s.count));
    list.Set(n++, out);
  }
  return list;
}

// memoryFile(name): the descriptor of a file in memory that no path leads to. Not for programs that we become.
Napi::Value MemoryFile(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const int fd = memfd_create(info[0].As<Napi::String>().Utf8Value().c_str(), MFD_CLOEXEC);
  if (fd < 0) throw Napi::Error::New(env, std::string("no file in memory: ") + std::strerror(errno));
  return Napi::Number::New(env, fd);
}

// lock(path): a file that is made where it is not there, held alone until this process ends: its descriptor, or -errno.
Napi::Value Lock(const Napi::CallbackInfo& info) {
  const std::string path = info[0].As<Napi::String>();
  struct stat st;
  const int fd = bb_lockfile_open(AT_FDCWD, path.c_str(), &st);
  if (fd < 0) return Napi::Number::New(info.Env(), -errno);
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return Napi::Number::New(info.Env(), fd);
  const int why = errno;
  close(fd);
  return Napi::Number::New(info.Env(), -why);
}

// hmac(secret, data, own, rounds): { tag, openssl }: HMAC-SHA-256 as the receiver makes it, or with our own code alone; made so many
// times with one kept key. For tests and benchmarks.
Napi::Value Hmac(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  auto secret = info[0].As<Napi::Uint8Array>();
  auto data = info[1].As<Napi::Uint8Array>();
  if (secret.ByteLength() != BB_SECRET_BYTES) throw Napi::TypeError::New(env, "a key has 32 bytes");
  struct bb_mac* mac = (info[2].ToBoolean() ? bb_mac_new_own : bb_mac_new)(secret.Data());
  auto tag = Napi::Uint8Array::New(env, BB_MAC_BYTES);
  bool made = mac != nullptr;
  for (uint32_t rounds = info[3].As<Napi::Number>().Uint32Value(); made && rounds > 0; rounds--)
    made = bb_mac_make(mac, data.Data(), data.ByteLength(), tag.Data());
  auto out = Napi::Object::New(env);
  out.Set("tag", tag);
  out.Set("openssl", Napi::Boolean::New(env, made && bb_mac_is_openssl(mac)));
  bb_mac_free(mac);
  if (!made) throw Napi::Error::New(env, "out of memory");
  return out;
}

// notify(path, message): 0, or -errno.
Napi::Value Notify(const Napi::CallbackInfo& info) {
  const std::string path = info[0].As<Napi::String>(), message = info[1].As<Napi::String>();
  return Napi::Number::New(info.Env(), bb_notify(path.c_str(), message.c_str()));
}

int64_t Int64(const Napi::Object& from, const char* key) {
  bool lossless = true;
  return from.Get(key).As<Napi::BigInt>().Int64Value(&lossless);
}

class BoardMapping : public Napi::ObjectWrap<BoardMapping> {
 public:
  static Napi::Function Class(Napi::Env env) {
    return DefineClass(env, "BoardMapping",
                       {InstanceMethod("snapshotBytes", &BoardMapping::SnapshotBytes),
                        InstanceMethod("snapshot", &BoardMapping::Snapshot), InstanceMethod("find", &BoardMapping::Find),
                        InstanceMethod("rollBytes", &BoardMapping::RollBytes), InstanceMethod("roll", &BoardMapping::Roll),
                        InstanceMethod("names", &BoardMapping::Names), InstanceMethod("into", &BoardMapping::Into),
                        InstanceMethod("nodeBytes", &BoardMapping::NodeBytes),
                        InstanceMethod("links", &BoardMapping::Links), InstanceMethod("senders", &BoardMapping::Senders),
                        InstanceMethod("events", &BoardMapping::Events), InstanceMethod("isAt", &BoardMapping::IsAt),
                        InstanceMethod("unmap", &BoardMapping::Unmap)});
  }

  explicit BoardMapping(const Napi::CallbackInfo& info) : Napi::ObjectWrap<BoardMapping>(info) {}
  ~BoardMapping() override { Close(); }

  enum bb_state Open(const std::string& path, uid_t owner, char* why) {
    const auto state = bb_board_open(&board_, path.c_str(), owner, why, kWhy);
    open_ = state == BB_READY;
    return state;
  }

  // For who reads it by other means; it stays mapped as long as this object lives and is not unmapped.
  const struct bb_board* Board(Napi::Env env) const {
    Check(env);
    return &board_;
  }

 private:
  void Close() {
    if (open_) bb_board_close(&board_);
    open_ = false;
  }

  void Check(Napi::Env env) const {
    if (!open_) throw Napi::Error::New(env, "the board is unmapped");
  }

  Napi::Value SnapshotBytes(const Napi::CallbackInfo& info) {
    Check(info.Env());
    const struct bb_board_header& h = board_.header;
    const size_t bytes = bb_board_snapshot_bytes(&board_);
    const uint64_t nodes = (bytes - h.header_bytes) / (static_cast<uint64_t>(h.column_stride) + h.record_stride);
    return Napi::Number::New(info.Env(), static_cast<double>(sizeof(struct bb_look) + bytes + bb_overview_bytes(nodes)));
  }

  // into(buffer): where snapshots go from now on. Kept, since looking up where an array lies costs as much as copying a record.
  void Into(const Napi::CallbackInfo& info) {
    auto into = info[0].As<Napi::Uint8Array>();
    if (reinterpret_cast<uintptr_t>(into.Data()) % 8 != 0)
      throw Napi::TypeError::New(info.Env(), "the buffer is not aligned to 8 bytes");
    buffer_ = Napi::Persistent(into);
    into_ = into.Data();
    room_ = into.ByteLength();
    Prepare();
  }

  // A whole board is copied into memory that is new in a short process: thousands of small pages took twice as long as the copy.
  // Only advice: where huge pages are not to be had, or the buffer is smaller than one, nothing changes.
  void Prepare() const {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t begin = (reinterpret_cast<uintptr_t>(into_) + page - 1) / page * page;
    const uintptr_t end = (reinterpret_cast<uintptr_t>(into_) + room_) / page * page;
    if (end > begin && end - begin >= kLarge) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  }

  // Takes a copy behind the look that it begins with: objects and arrays of JavaScript would cost more than the copy of a record.
  template <typename Copy>
  Napi::Value Take(const Napi::CallbackInfo& info, Copy copy) {
    Check(info.Env());
    struct bb_look look;
    if (room_ < sizeof look || copy(into_ + sizeof look, room_ - sizeof look, &look) != 0) return Napi::Boolean::New(info.Env(), false);
    memcpy(into_, &look, sizeof look);
    return Napi::Boolean::New(info.Env(), true);
  }

  // Bytes of a snapshot of so many nodes before what is told of each.
  size_t CopyBytes(uint64_t nodes) const {
    const struct bb_board_header& h = board_.header;
    return h.header_bytes + nodes * (static_cast<size_t>(h.column_stride) + h.record_stride);
  }

  // What fits of nodes, each with what is told of it behind all copies.
  uint64_t Fitting(size_t room, size_t each) const { return room < board_.header.header_bytes ? 0 : (room - board_.header.header_bytes) / each; }

  // The copy and what it tells of each node in one call.
  Napi::Value Snapshot(const Napi::CallbackInfo& info) {
    const uint32_t first = info[0].As<Napi::Number>().Uint32Value();
    return Take(info, [this, first](uint8_t* to, size_t room, struct bb_look* look) {
      const struct bb_board_header& h = board_.header;
      const size_t bytes = CopyBytes(Fitting(room, static_cast<size_t>(h.column_stride) + h.record_stride + bb_overview_bytes(1)));
      if (room < bytes || bb_board_snapshot(&board_, to, bytes, first, look) != 0) return -1;
      const struct bb_overview out = bb_overview_at(to + CopyBytes(look->nodes), look->nodes);
      return bb_overview(to, bytes, look, &out) ? 0 : -1;
    });
  }

  Napi::Value Roll(const Napi::CallbackInfo& info) {
    return Take(info, [this](uint8_t* to, size_t room, struct bb_look* look) {
      const struct bb_board_header& h = board_.header;
      const size_t bytes = h.header_bytes + Fitting(room, static_cast<size_t>(h.column_stride) + 1) * h.column_stride;
      if (room < bytes || bb_board_roll(&board_, to, bytes, look) != 0) return -1;
      return bb_overview_states(to, bytes, look, to + h.header_bytes + look->nodes * h.column_stride) ? 0 : -1;
    });
  }

  Napi::Value RollBytes(const Napi::CallbackInfo& info) {
    Check(info.Env());
    const struct bb_board_header& h = board_.header;
    const size_t bytes = bb_board_roll_bytes(&board_);
    return Napi::Number::New(info.Env(), static_cast<double>(sizeof(struct bb_look) + bytes + (bytes - h.header_bytes) / h.column_stride));
  }

  // links(): undefined when the file was cut short.
  Napi::Value Links(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    Check(env);
    struct bb_link_copy links[BB_LINKS];
    uint32_t numbers[BB_LINKS];
    const int n = bb_board_links(&board_, links, numbers);
    if (n < 0) return env.Undefined();
    auto list = Napi::Array::New(env, static_cast<size_t>(n));
    for (int i = 0; i < n; i++) {
      const struct bb_link& l = links[i].link;
      auto out = Napi::Object::New(env);
      out.Set("number", Napi::Number::New(env, numbers[i]));
      const bool in_pieces = (l.state & BB_LINK_STATE_IN_PIECES) != 0;
      out.Set("name", std::string(l.name, strnlen(l.name, sizeof l.name)) + (in_pieces ? ", in pieces" : ""));
      out.Set("state", Count(env, l.state));
      out.Set("changedNs", Nanoseconds(env, l.changed_ns));
      out.Set("downs", Count(env, l.downs));
      out.Set("nodes", Count(env, l.nodes));
      out.Set("darkSinceNs", Nanoseconds(env, l.dark_since_ns));
      out.Set("darkNodes", Count(env, l.dark_nodes));
      out.Set("unjoinedSinceNs", Nanoseconds(env, l.unjoined_since_ns));
      out.Set("accepted", Count(env, l.accepted));
      out.Set("missed", Count(env, l.missed));
      static const uint8_t none[sizeof l.address] = {0};
      out.Set("address", memcmp(l.address, none, sizeof none) == 0 ? std::string() : Address(l.address));
      out.Set("port", Napi::Number::New(env, l.port));
      out.Set("heartbeatNs", Nanoseconds(env, links[i].evidence.heartbeat_ns));
      out.Set("listeningSinceNs", Nanoseconds(env, links[i].evidence.listening_since_ns));
      list.Set(static_cast<uint32_t>(i), out);
    }
    return list;
  }

  // senders(): likewise.
  Napi::Value Senders(const Napi::CallbackInfo& info) {
    Check(info.Env());
    std::vector<struct bb_sender> senders(BB_SENDERS);
    if (bb_board_senders(&board_, senders.data()) < 0) return info.Env().Undefined();
    return SendersOf(info.Env(), senders.data());
  }

  // events(next, most): { next, events }; likewise.
  Napi::Value Events(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    Check(env);
    uint64_t next = static_cast<uint64_t>(info[0].As<Napi::Number>().DoubleValue());
    std::vector<struct bb_event> events(std::min(info[1].As<Napi::Number>().Uint32Value(), 65536u));
    const int n = bb_board_events(&board_, &next, events.data(), static_cast<int>(events.size()));
    if (n < 0) return env.Undefined();
    auto list = Napi::Array::New(env, static_cast<size_t>(n));
    for (int i = 0; i < n; i++) {
      const struct bb_event& e = events[static_cast<size_t>(i)];
      auto out = Napi::Object::New(env);
      out.Set("number", Count(env, e.head / 2));
      out.Set("stampNs", Nanoseconds(env, e.stamp_ns));
      out.Set("stampRealNs", Nanoseconds(env, e.stamp_real_ns));
      out.Set("kind", Count(env, e.kind));
      out.Set("subject", Count(env, e.subject));
      out.Set("detail", Count(env, e.detail));
      list.Set(static_cast<uint32_t>(i), out);
    }
    auto out = Napi::Object::New(env);
    out.Set("next", Count(env, next));
    out.Set("events", list);
    return out;
  }

  // names(numbers): joined by NULs; undefined when the file was cut short, or there is no such node.
  Napi::Value Names(const Napi::CallbackInfo& info) {
    Check(info.Env());
    auto numbers = info[0].As<Napi::Uint32Array>();
    std::vector<char> names(numbers.ElementLength() * BB_NAME_BYTES);
    if (bb_board_names(&board_, numbers.Data(), numbers.ElementLength(), names.data()) != 0) return info.Env().Undefined();
    return Joined(info.Env(), names.data(), BB_NAME_BYTES, BB_NAME_BYTES, numbers.ElementLength());
  }

  Napi::Value NodeBytes(const Napi::CallbackInfo& info) {
    Check(info.Env());
    const struct bb_board_header& h = board_.header;
    const double nodes = info[0].As<Napi::Number>().DoubleValue();
    return Napi::Number::New(info.Env(), static_cast<double>(sizeof(struct bb_look) + h.header_bytes) +
                                             nodes * (static_cast<double>(h.column_stride) + h.record_stride + bb_overview_bytes(1)));
  }

  // find(name): the number of the record, -1 when there is none.
  Napi::Value Find(const Napi::CallbackInfo& info) {
    Check(info.Env());
    const std::string name = info[0].As<Napi::String>();
    return Napi::Number::New(info.Env(), static_cast<double>(bb_board_find(&board_, name.c_str())));
  }

  Napi::Value IsAt(const Napi::CallbackInfo& info) {
    Check(info.Env());
    return Napi::Boolean::New(info.Env(), bb_board_is_at(&board_, info[0].As<Napi::String>().Utf8Value().c_str()));
  }

  void Unmap(const Napi::CallbackInfo&) { Close(); }

  struct bb_board board_ = {};
  bool open_ = false;
  Napi::Reference<Napi::Uint8Array> buffer_;
  uint8_t* into_ = nullptr;
  size_t room_ = 0;
};

// Strings of JavaScript as C wants them.
struct Names {
  explicit Names(const Napi::Array& list) {
    for (uint32_t i = 0; i < list.Length(); i++) names.push_back(list.Get(i).As<Napi::String>().Utf8Value());
    for (const auto& name : names) pointers.push_back(name.c_str());
  }
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  std::vector<std::string> names;
  std::vector<const char*> pointers;
};

// What makes a report believed: { keys, required, clockWindowNs }. Forgets the keys.
struct Trust {
  explicit Trust(const Napi::Object& from) : required(static_cast<enum bb_auth_alg>(from.Get("required").As<Napi::Number>().Uint32Value())) {
    bool lossless = true;
    clock_window_ns = from.Get("clockWindowNs").As<Napi::BigInt>().Uint64Value(&lossless);
    auto list = from.Get("keys").As<Napi::Array>();
    if (list.Length() > BB_MOST_KEYS) throw Napi::RangeError::New(from.Env(), "too many keys");
    for (; count < list.Length(); count++) {
      auto key = list.Get(count).As<Napi::Object>();
      auto secret = key.Get("secret").As<Napi::Uint8Array>();
      if (secret.ByteLength() != BB_SECRET_BYTES) throw Napi::TypeError::New(from.Env(), "a key has 32 bytes");
      keys[count].id = static_cast<uint16_t>(key.Get("id").As<Napi::Number>().Uint32Value());
      std::copy_n(secret.Data(), BB_SECRET_BYTES, keys[count].secret);
    }
  }
  ~Trust() { explicit_bzero(keys, sizeof keys); }
  Trust(const Trust&) = delete;
  Trust& operator=(const Trust&) = delete;

  // For the options of a writer or a mirror, which read them while they are made.
  template <typename Options>
  void Into(Options& options) const {
    options.keys = keys;
    options.key_count = count;
    options.required = required;
    options.clock_window_ns = clock_window_ns;
  }

  struct bb_key keys[BB_MOST_KEYS] = {};
  uint32_t count = 0;
  enum bb_auth_alg required;
  uint64_t clock_window_ns = 0;
};

struct WriterOptions {
  explicit WriterOptions(const Napi::Object& from)
      : path(from.Get("path").As<Napi::String>()),
        cluster(from.Get("clusterName").As<Napi::String>()),
        nodes(from.Get("nodes").As<Napi::Array>()),
        trust(from) {
    options.path = path.c_str();
    options.cluster_name = cluster.c_str();
    options.cluster_id = from.Get("clusterId").As<Napi::Number>().Uint32Value();
    options.capacity = from.Get("capacity").As<Napi::Number>().Uint32Value();
    options.uncertain_after_ns = Int64(from, "uncertainAfterNs");
    options.silent_after_ns = Int64(from, "silentAfterNs");
    options.longest_interval_ms = static_cast<uint64_t>(from.Get("longestIntervalMs").As<Napi::Number>().Int64Value());
    options.nodes = nodes.pointers.empty() ? nullptr : nodes.pointers.data();
    options.node_count = nodes.pointers.size();
    trust.Into(options);
  }
  WriterOptions(const WriterOptions&) = delete;
  WriterOptions& operator=(const WriterOptions&) = delete;

  std::string path, cluster;
  Names nodes;
  Trust trust;
  struct bb_writer_options options = {};
};

// A change of the board, to be made by whoever owns the writer.
struct Forgetting {
  explicit Forgetting(const Napi::Array& list) : names(list), found(new bool[list.Length() + 1]()) {}

  static void Do(struct bb_writer* writer, void* self) {
    auto* f = static_cast<Forgetting*>(self);
    f->ok = bb_writer_forget(writer, f->names.pointers.data(), f->names.pointers.size(), f->found.get(), f->why, sizeof f->why);
  }

  // Of each name whether it had a record.
  Napi::Value Result(Napi::Env env) const {
    if (!ok) throw Napi::Error::New(env, why);
    auto out = Napi::Array::New(env, names.names.size());
    for (uint32_t i = 0; i < names.names.size(); i++) out.Set(i, Napi::Boolean::New(env, found[i]));
    return out;
  }

  Names names;
  std::unique_ptr<bool[]> found;
  bool ok = false;
  char why[kWhy] = "";
};

struct Changing {
  explicit Changing(const Napi::Object& from) : options(from) {}

  static void Do(struct bb_writer* writer, void* self) {
    auto* c = static_cast<Changing*>(self);
    c->ok = bb_writer_change(writer, &c->options.options, c->why, sizeof c->why);
  }

  WriterOptions options;
  bool ok = false;
  char why[kWhy] = "";
};

struct Failing {
  static void Do(struct bb_writer* writer, void* self) {
    bb_writer_reload_failed(writer, static_cast<Failing*>(self)->part);
  }

  enum bb_reload_part part;
};

class Writer : public Napi::ObjectWrap<Writer> {
 public:
  static Napi::Function Class(Napi::Env env) {
    return DefineClass(env, "Writer",
                       {InstanceMethod("deliver", &Writer::Deliver), InstanceMethod("listeningSince", &Writer::ListeningSince),
                        InstanceMethod("resumed", &Writer::Resumed), InstanceMethod("heartbeat", &Writer::Heartbeat),
                        InstanceMethod("linkState", &Writer::LinkState), InstanceMethod("survey", &Writer::Survey),
                        InstanceMethod("change", &Writer::Change), InstanceMethod("forget", &Writer::Forget),
                        InstanceMethod("close", &Writer::Close)});
  }

  // new Writer(options), or new Writer(path) to edit a board that no receiver has.
  explicit Writer(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Writer>(info) {
    char why[kWhy] = "";
    if (info[0].IsString()) {
      const std::string path = info[0].As<Napi::String>();
      writer_ = bb_writer_edit(path.c_str(), why, sizeof why);
    } else {
      const WriterOptions options(info[0].As<Napi::Object>());
      writer_ = bb_writer_open(&options.options, why, sizeof why);
    }
    if (writer_ == nullptr) throw Napi::Error::New(info.Env(), why[0] != 0 ? why : "out of memory");
  }

  ~Writer() override {
    if (writer_ != nullptr) bb_writer_close(writer_);
  }

  // The receiver takes it; this object is then empty.
  struct bb_writer* Take() {
    struct bb_writer* taken = writer_;
    writer_ = nullptr;
    return taken;
  }

 private:
  struct bb_writer* Get(Napi::Env env) const {
    if (writer_ == nullptr) throw Napi::Error::New(env, "the board is closed, or a receiver writes it");
    return writer_;
  }

  static int64_t Time(const Napi::Value& value) {
    bool lossless = true;
    return value.As<Napi::BigInt>().Int64Value(&lossless);
  }

  // deliver(datagram, stampNs, stampRealNs, link?): a reason's number, 0 accepted, -1 duplicate. The link: a number, or the name of an
  // interface, which gets one; all others if it is not said.
  Napi::Value Deliver(const Napi::CallbackInfo& info) {
    struct bb_writer* writer = Get(info.Env());
    auto datagram = info[0].As<Napi::Uint8Array>();
    struct bb_arrival arrival = {};
    arrival.stamp_ns = Time(info[1]);
    arrival.stamp_real_ns = Time(info[2]);
    arrival.link = info[3].IsNumber() ? info[3].As<Napi::Number>().Uint32Value() % BB_LINKS : info[3].IsString() ? BB_LINK_UNKNOWN : BB_LINK_OTHERS;
    const std::string interface = info[3].IsString() ? info[3].As<Napi::String>().Utf8Value() : "";
    if (!interface.empty()) arrival.interface = interface.c_str();
    alignas(struct bb_report) uint8_t aligned[sizeof(struct bb_report)];
    memcpy(aligned, datagram.Data(), std::min(sizeof aligned, datagram.ByteLength()));
    return Napi::Number::New(info.Env(), bb_writer_deliver(writer, aligned, datagram.ByteLength(), &arrival));
  }

  // linkState(number, state, wasDown, nowNs)
  void LinkState(const Napi::CallbackInfo& info) {
    bb_links_set_state(bb_writer_links(Get(info.Env())), info[0].As<Napi::Number>().Uint32Value(), 1, info[1].As<Napi::Number>().Uint32Value(),
                         info[2].ToBoolean(), Time(info[3]));
  }
  void Survey(const Napi::CallbackInfo& info) { bb_links_survey(bb_writer_links(Get(info.Env()))); }
  void ListeningSince(const Napi::CallbackInfo& info) { bb_writer_listening_since(Get(info.Env()), Time(info[0])); }
  void Resumed(const Napi::CallbackInfo& info) { bb_writer_resumed(Get(info.Env()), Time(info[0])); }
  void Heartbeat(const Napi::CallbackInfo& info) { bb_writer_heartbeat(Get(info.Env()), Time(info[0])); }

  // change(options)
  void Change(const Napi::CallbackInfo& info) {
    Changing change(info[0].As<Napi::Object>());
    Changing::Do(Get(info.Env()), &change);
    if (!change.ok) throw Napi::Error::New(info.Env(), change.why);
  }

  // forget(names): of each whether it had a record.
  Napi::Value Forget(const Napi::CallbackInfo& info) {
    Forgetting forgetting(info[0].As<Napi::Array>());
    Forgetting::Do(Get(info.Env()), &forgetting);
    return forgetting.Result(info.Env());
  }

  void Close(const Napi::CallbackInfo&) {
    if (writer_ != nullptr) bb_writer_close(writer_);
    writer_ = nullptr;
  }

  struct bb_writer* writer_ = nullptr;
};

class Receiver : public Napi::ObjectWrap<Receiver> {
 public:
  static Napi::Function Class(Napi::Env env) {
    return DefineClass(env, "Receiver",
                       {InstanceMethod("listen", &Receiver::Listen), InstanceMethod("adopt", &Receiver::Adopt), InstanceMethod("join", &Receiver::Join),
                        InstanceMethod("start", &Receiver::Start), InstanceMethod("change", &Receiver::Change),
                        InstanceMethod("reloadFailed", &Receiver::ReloadFailed),
                        InstanceMethod("forget", &Receiver::Forget),
                        InstanceMethod("status", &Receiver::Status), InstanceMethod("stop", &Receiver::Stop)});
  }

  // new Receiver(drainNs, flood?)
  explicit Receiver(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Receiver>(info), env_(info.Env()) {
    bool lossless = true;
    receiver_ = bb_receiver_new(info[0].As<Napi::BigInt>().Int64Value(&lossless),
                                info[1].IsNumber() ? info[1].As<Napi::Number>().Uint32Value() : BB_FLOOD);
    if (receiver_ == nullptr) throw Napi::Error::New(info.Env(), "out of memory or file descriptors");
    // A thread that is alive when the process tears its heap down crashes it.
    napi_add_env_cleanup_hook(info.Env(), &Receiver::AtExit, this);
  }

  ~Receiver() override {
    if (receiver_ == nullptr) return;
    napi_remove_env_cleanup_hook(env_, &Receiver::AtExit, this);
    End();
  }

 private:
  static void AtExit(void* self) { static_cast<Receiver*>(self)->End(); }

  void End() {
    if (receiver_ != nullptr) bb_receiver_stop(receiver_);
    receiver_ = nullptr;
    if (started_) displaced_.Release();
    started_ = false;
  }

  struct bb_receiver* Get(Napi::Env env) const {
    if (receiver_ == nullptr) throw Napi::Error::New(env, "the receiver is stopped");
    return receiver_;
  }

  // listen(host, port): the port that was bound.
  Napi::Value Listen(const Napi::CallbackInfo& info) {
    char why[kWhy] = "";
    const std::string host = info[0].As<Napi::String>();
    const int port = bb_receiver_listen(Get(info.Env()), host.c_str(),
                                        static_cast<uint16_t>(info[1].As<Napi::Number>().Uint32Value()), why, sizeof why);
    if (port < 0) throw Napi::Error::New(info.Env(), why);
    return Napi::Number::New(info.Env(), port);
  }

  // adopt(fd): { host, port } of a socket that we were passed.
  Napi::Value Adopt(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    char why[kWhy] = "", host[INET6_ADDRSTRLEN] = "";
    const int port = bb_receiver_adopt(Get(env), info[0].As<Napi::Number>().Int32Value(), host, why, sizeof why);
    if (port < 0) throw Napi::Error::New(env, why);
    auto out = Napi::Object::New(env);
    out.Set("host", host);
    out.Set("port", port);
    return out;
  }

  // join(group, port, interface?): the port of the socket.
  Napi::Value Join(const Napi::CallbackInfo& info) {
    char why[kWhy] = "";
    const std::string group = info[0].As<Napi::String>();
    const std::string interface = info[2].IsString() ? info[2].As<Napi::String>().Utf8Value() : "";
    const int port = bb_receiver_join(Get(info.Env()), group.c_str(),
                                      static_cast<uint16_t>(info[1].As<Napi::Number>().Uint32Value()),
                                      interface.empty() ? nullptr : interface.c_str(), why, sizeof why);
    if (port < 0) throw Napi::Error::New(info.Env(), why);
    return Napi::Number::New(info.Env(), port);
  }

  static void Displaced(void* self) {
    static_cast<Receiver*>(self)->displaced_.NonBlockingCall();
  }

  // start(writer, displaced): takes the writer; calls `displaced` when another receiver has taken the board.
  void Start(const Napi::CallbackInfo& info) {
    struct bb_receiver* receiver = Get(info.Env());
    if (started_) throw Napi::Error::New(info.Env(), "the receiver runs already");
    struct bb_writer* writer = Napi::ObjectWrap<Writer>::Unwrap(info[0].As<Napi::Object>())->Take();
    if (writer == nullptr) throw Napi::Error::New(info.Env(), "the board is closed");
    started_ = true;
    displaced_ = Napi::ThreadSafeFunction::New(info.Env(), info[1].As<Napi::Function>(), "displaced", 0, 1);
    displaced_.Unref(info.Env()); // it keeps no process alive
    const int error = bb_receiver_start(receiver, writer, &Receiver::Displaced, this);
    if (error != 0) throw Napi::Error::New(info.Env(), std::string("cannot start a thread: ") + strerror(-error));
  }

  struct bb_receiver* Running(Napi::Env env) const {
    if (!started_) throw Napi::Error::New(env, "the receiver does not run");
    return Get(env);
  }

  // change(options)
  void Change(const Napi::CallbackInfo& info) {
    Changing change(info[0].As<Napi::Object>());
    bb_receiver_run(Running(info.Env()), Changing::Do, &change);
    if (!change.ok) throw Napi::Error::New(info.Env(), change.why);
  }

  // reloadFailed(part)
  void ReloadFailed(const Napi::CallbackInfo& info) {
    Failing failing{static_cast<enum bb_reload_part>(info[0].As<Napi::Number>().Uint32Value())};
    bb_receiver_run(Running(info.Env()), Failing::Do, &failing);
  }

  // forget(names): of each whether it had a record.
  Napi::Value Forget(const Napi::CallbackInfo& info) {
    Forgetting forgetting(info[0].As<Napi::Array>());
    bb_receiver_run(Running(info.Env()), Forgetting::Do, &forgetting);
    return forgetting.Result(info.Env());
  }

  Napi::Value Status(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    struct bb_receiver_status status;
    bb_receiver_status(Get(env), &status);
    auto out = Napi::Object::New(env);
    const auto set = [&](const char* key, uint64_t value) { out.Set(key, Napi::Number::New(env, static_cast<double>(value))); };
    set("received", status.received);
    set("accepted", status.accepted);
    set("duplicate", status.duplicate);
    set("kernelDrops", status.kernel_drops);
    set("unfitDrops", status.unfit_drops);
    set("softnetDrops", status.softnet_drops);
    set("missed", status.missed);
    set("nodes", status.nodes);
    set("receiveBuffer", status.receive_buffer);
    set("publications", status.publications);
    set("stoodStillNs", status.stood_still_ns);
    set("heartbeatNs", status.heartbeat_ns);
    out.Set("filtering", Napi::Boolean::New(env, status.filtering));
    out.Set("displaced", Napi::Boolean::New(env, status.displaced));
    out.Set("trouble", status.trouble);
    auto refused = Napi::Array::New(env, 32);
    for (uint32_t i = 0; i < 32; i++) refused.Set(i, Napi::Number::New(env, static_cast<double>(status.refused[i])));
    out.Set("refused", refused);
    out.Set("senders", SendersOf(env, status.senders));
    return out;
  }

  void Stop(const Napi::CallbackInfo&) {
    if (receiver_ == nullptr) return;
    napi_remove_env_cleanup_hook(env_, &Receiver::AtExit, this);
    End();
  }

  napi_env env_;
  bool started_ = false;
  Napi::ThreadSafeFunction displaced_;
  struct bb_receiver* receiver_ = nullptr;
};

class BulkSender : public Napi::ObjectWrap<BulkSender> {
 public:
  static Napi::Function Class(Napi::Env env) {
    return DefineClass(env, "BulkSender", {InstanceMethod("send", &BulkSender::Send), InstanceMethod("close", &BulkSender::Close)});
  }

  explicit BulkSender(const Napi::CallbackInfo& info) : Napi::ObjectWrap<BulkSender>(info) {
    const std::string host = info[0].As<Napi::String>();
    fd_ = bb_bulk_open(host.c_str(), static_cast<uint16_t>(info[1].As<Napi::Number>().Uint32Value()));
    if (fd_ < 0) throw Napi::Error::New(info.Env(), "cannot send to " + host + ": " + strerror(-fd_));
  }

  ~BulkSender() override {
    if (fd_ >= 0) close(fd_);
  }

 private:
  // send(datagrams, bytes, first, count): how many were sent.
  Napi::Value Send(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    auto data = info[0].As<Napi::Uint8Array>();
    const size_t bytes = info[1].As<Napi::Number>().Uint32Value();
    const size_t first = info[2].As<Napi::Number>().Uint32Value();
    const size_t count = info[3].As<Napi::Number>().Uint32Value();
    if (bytes == 0 || (first + count) * bytes > data.ByteLength()) throw Napi::RangeError::New(env, "more datagrams than there are bytes");
    const long sent = bb_bulk_send(fd_, data.Data() + first * bytes, bytes, count);
    if (sent < 0) throw Napi::Error::New(env, std::string("cannot send: ") + strerror(static_cast<int>(-sent)));
    return Napi::Number::New(env, static_cast<double>(sent));
  }

  void Close(const Napi::CallbackInfo&) {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

  int fd_ = -1;
};

// What has changed on a board since it was last swept over.
class Harvest : public Napi::ObjectWrap<Harvest> {
 public:
  static Napi::Function Class(Napi::Env env) {
    return DefineClass(env, "Harvest",
                       {InstanceMethod("prime", &Harvest::Prime), InstanceMethod("begin", &Harvest::Begin), InstanceMethod("take", &Harvest::Take),
                        InstanceMethod("ask", &Harvest::Ask), InstanceMethod("index", &Harvest::Index), InstanceMethod("records", &Harvest::Records),
                        InstanceMethod("linksWell", &Harvest::LinksWell)});
  }

  // new Harvest(mapping): keeps it, but it may be unmapped.
  explicit Harvest(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Harvest>(info), kept_(Napi::Persistent(info[0].As<Napi::Object>())) {
    mapping_ = Napi::ObjectWrap<BoardMapping>::Unwrap(info[0].As<Napi::Object>());
    harvest_ = bb_harvest_new(mapping_->Board(info.Env()));
    if (harvest_ == nullptr) throw Napi::Error::New(info.Env(), "out of memory");
  }
  ~Harvest() override { bb_harvest_free(harvest_); }

 private:
  struct bb_harvest* Get(Napi::Env env) const {
    mapping_->Board(env);
    return harvest_;
  }

  // prime(): the state of the sweep.
  Napi::Value Prime(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), bb_harvest_prime(Get(info.Env()))); }

  // begin(thorough, askedBytes, into): false when the file was cut short.
  Napi::Value Begin(const Napi::CallbackInfo& info) {
    auto into = info[2].As<Napi::Uint8Array>();
    struct bb_relay_board board;
    if (into.ByteLength() < sizeof board) throw Napi::RangeError::New(info.Env(), "there is not room for what the board says");
    if (!bb_harvest_begin(Get(info.Env()), info[0].ToBoolean(), static_cast<size_t>(info[1].As<Napi::Number>().DoubleValue()), &board))
      return Napi::Boolean::New(info.Env(), false);
    memcpy(into.Data(), &board, sizeof board);
    return Napi::Boolean::New(info.Env(), true);
  }

  // take(into): { state, bytes, entries }
  Napi::Value Take(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    auto into = info[0].As<Napi::Uint8Array>();
    if (!IsAligned(into)) throw Napi::TypeError::New(env, "the buffer is not aligned to 8 bytes");
    size_t bytes;
    uint32_t entries;
    const auto state = bb_harvest_take(Get(env), into.Data(), into.ByteLength(), &bytes, &entries);
    auto out = Napi::Object::New(env);
    out.Set("state", Napi::Number::New(env, state));
    out.Set("bytes", Napi::Number::New(env, static_cast<double>(bytes)));
    out.Set("entries", Napi::Number::New(env, entries));
    return out;
  }

  // ask(numbers)
  void Ask(const Napi::CallbackInfo& info) {
    auto numbers = info[0].As<Napi::Uint32Array>();
    bb_harvest_ask(Get(info.Env()), numbers.Data(), numbers.ElementLength());
  }

  // index(first, count, into): how many.
  Napi::Value Index(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    auto into = info[2].As<Napi::Uint8Array>();
    const uint32_t count = info[1].As<Napi::Number>().Uint32Value();
    if (!IsAligned(into)) throw Napi::TypeError::New(env, "the buffer is not aligned to 8 bytes");
    if (into.ByteLength() / sizeof(struct bb_relay_indexed) < count) throw Napi::RangeError::New(env, "there is not room for so many");
    return Napi::Number::New(env, bb_harvest_index(Get(env), info[0].As<Napi::Number>().Uint32Value(), count,
                                                   reinterpret_cast<struct bb_relay_indexed*>(into.Data())));
  }

  Napi::Value Records(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), bb_harvest_records(Get(info.Env()))); }
  Napi::Value LinksWell(const Napi::CallbackInfo& info) { return Napi::BigInt::New(info.Env(), bb_harvest_links_well(Get(info.Env()))); }

  Napi::ObjectReference kept_;
  BoardMapping* mapping_;
  struct bb_harvest* harvest_ = nullptr;
};

struct MirrorOptions {
  explicit MirrorOptions(const Napi::Object& from)
      : path(from.Get("path").As<Napi::String>()),
        site(from.Get("site").As<Napi::String>()),
        cluster(from.Get("clusterName").As<Napi::String>()),
        masters(from.Get("masters").As<Napi::Array>()),
        trust(from) {
    options.path = path.c_str();
    options.site = site.c_str();
    options.masters = masters.pointers.data();
    options.master_count = masters.pointers.size();
    options.followed = from.Get("followed").As<Napi::Number>().Uint32Value();
    options.cluster_name = cluster.c_str();
    options.cluster_id = from.Get("clusterId").As<Napi::Number>().Uint32Value();
    options.capacity = from.Get("capacity").As<Napi::Number>().Uint32Value();
    options.uncertain_after_ns = Int64(from, "uncertainAfterNs");
    options.silent_after_ns = Int64(from, "silentAfterNs");
    options.longest_interval_ms = static_cast<uint64_t>(from.Get("longestIntervalMs").As<Napi::Number>().Int64Value());
    options.instance = static_cast<uint64_t>(Int64(from, "instance"));
    options.now_ns = Int64(from, "nowNs");
    options.keep_ages = from.Get("keepAges").ToBoolean();
    trust.Into(options);
  }
  MirrorOptions(const MirrorOptions&) = delete;
  MirrorOptions& operator=(const MirrorOptions&) = delete;

  std::string path, site, cluster;
  Names masters;
  Trust trust;
  struct bb_mirror_options options = {};
};

class Mirror : public Napi::ObjectWrap<Mirror> {
 public:
  static Napi::Function Class(Napi::Env env) {
    return DefineClass(env, "Mirror",
                       {InstanceMethod("renew", &Mirror::Renew), InstanceMethod("batch", &Mirror::Batch), InstanceMethod("gap", &Mirror::Gap),
                        InstanceMethod("distrust", &Mirror::Distrust),
                        InstanceMethod("index", &Mirror::Index), InstanceMethod("missing", &Mirror::Missing),
                        InstanceMethod("claims", &Mirror::Claims), InstanceMethod("review", &Mirror::Review),
                        InstanceMethod("counts", &Mirror::Counts), InstanceMethod("checkPath", &Mirror::CheckPath),
                        InstanceMethod("close", &Mirror::Close)});
  }

  explicit Mirror(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Mirror>(info) {
    char why[kWhy] = "";
    const MirrorOptions options(info[0].As<Napi::Object>());
    mirror_ = bb_mirror_open(&options.options, why, sizeof why);
    if (mirror_ == nullptr) throw Napi::Error::New(info.Env(), why[0] != 0 ? why : "out of memory");
  }

  ~Mirror() override {
    if (mirror_ != nullptr) bb_mirror_close(mirror_);
  }

 private:
  struct bb_mirror* Get(Napi::Env env) const {
    if (mirror_ == nullptr) throw Napi::Error::New(env, "the board is closed");
    return mirror_;
  }

  static int64_t Time(const Napi::Value& value) {
    bool lossless = true;
    return value.As<Napi::BigInt>().Int64Value(&lossless);
  }

  // renew(options)
  void Renew(const Napi::CallbackInfo& info) {
    char why[kWhy] = "";
    const MirrorOptions options(info[0].As<Napi::Object>());
    if (!bb_mirror_renew(Get(info.Env()), &options.options, why, sizeof why)) throw Napi::Error::New(info.Env(), why);
  }

  // batch(message, askedNs, relayNs, answeredNs, nowNs): what became of it.
  Napi::Value Batch(const Napi::CallbackInfo& info) {
    auto message = info[0].As<Napi::Uint8Array>();
    const struct bb_mirror_clock clock = {Time(info[1]), Time(info[2]), Time(info[3])};
    return Napi::Number::New(info.Env(), bb_mirror_batch(Get(info.Env()), message.Data(), message.ByteLength(), &clock, Time(info[4])));
  }

  void Gap(const Napi::CallbackInfo& info) { bb_mirror_gap(Get(info.Env()), Time(info[0])); }

  void Distrust(const Napi::CallbackInfo& info) { bb_mirror_distrust(Get(info.Env())); }

  // index(message, nowNs)
  Napi::Value Index(const Napi::CallbackInfo& info) {
    auto message = info[0].As<Napi::Uint8Array>();
    return Napi::Number::New(info.Env(), bb_mirror_index(Get(info.Env()), message.Data(), message.ByteLength(), Time(info[1])));
  }

  // missing(most): numbers.
  Napi::Value Missing(const Napi::CallbackInfo& info) {
    std::vector<uint32_t> numbers(std::min(info[0].As<Napi::Number>().Uint32Value(), 65536u));
    const uint32_t n = bb_mirror_missing(Get(info.Env()), numbers.data(), static_cast<uint32_t>(numbers.size()));
    auto out = Napi::Uint32Array::New(info.Env(), n);
    std::copy_n(numbers.data(), n, out.Data());
    return out;
  }

  // claims(master, message, nowNs)
  Napi::Value Claims(const Napi::CallbackInfo& info) {
    auto message = info[1].As<Napi::Uint8Array>();
    return Napi::Number::New(info.Env(), bb_mirror_claims(Get(info.Env()), info[0].As<Napi::Number>().Uint32Value(), message.Data(),
                                                          message.ByteLength(), Time(info[2])));
  }

  // review(heard, nowNs)
  void Review(const Napi::CallbackInfo& info) {
    bb_mirror_review(Get(info.Env()), info[0].As<Napi::Number>().Uint32Value(), Time(info[1]));
  }

  Napi::Value Counts(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    struct bb_mirror_counts counts;
    bb_mirror_counts(Get(env), &counts);
    auto out = Napi::Object::New(env);
    out.Set("laid", Count(env, counts.laid));
    out.Set("unfit", Count(env, counts.unfit));
    out.Set("unproved", Count(env, counts.unproved));
    out.Set("full", Count(env, counts.full));
    out.Set("doubtful", Count(env, counts.doubtful));
    out.Set("vetoed", Count(env, counts.vetoed));
    out.Set("missing", Count(env, counts.missing));
    out.Set("whole", Napi::Boolean::New(env, counts.whole));
    return out;
  }

  // checkPath(): { state, why }
  Napi::Value CheckPath(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    char why[kWhy] = "";
    auto out = Napi::Object::New(env);
    out.Set("state", Napi::Number::New(env, bb_mirror_check_path(Get(env), why, sizeof why)));
    out.Set("why", why);
    return out;
  }

  void Close(const Napi::CallbackInfo&) {
    if (mirror_ != nullptr) bb_mirror_close(mirror_);
    mirror_ = nullptr;
  }

  struct bb_mirror* mirror_ = nullptr;
};

// A user id, or the name of a user. (uid_t)-1 for undefined: nobody.
uid_t User(const Napi::Value& value) {
  if (value.IsNumber()) return static_cast<uid_t>(value.As<Napi::Number>().Int64Value());
  if (!value.IsString()) return static_cast<uid_t>(-1);
  const std::string name = value.As<Napi::String>();
  const struct passwd* user = getpwnam(name.c_str());
  if (user == nullptr) throw Napi::Error::New(value.Env(), "there is no user " + name + "; name one that getent passwd lists, or its id");
  return user->pw_uid;
}

// mapBoard(path, owner): { state, why } or { state: 'ready', board }.
Napi::Value MapBoard(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::string path = info[0].As<Napi::String>();
  const uid_t owner = User(info[1]);
  char why[kWhy] = "";
  auto board = env.GetInstanceData<Napi::FunctionReference>()->New({});
  const auto state = Napi::ObjectWrap<BoardMapping>::Unwrap(board)->Open(path, owner, why);
  auto out = Napi::Object::New(env);
  out.Set("state", bb_state_names[state]);
  if (state == BB_READY) out.Set("board", board);
  else out.Set("why", why);
  return out;
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  auto* mapping = new Napi::FunctionReference(Napi::Persistent(BoardMapping::Class(env)));
  env.SetInstanceData(mapping);
  exports.Set("clocks", Napi::Function::New(env, Clocks));
  exports.Set("adjtimex", Napi::Function::New(env, Adjtimex));
  exports.Set("readText", Napi::Function::New(env, ReadText));
  exports.Set("unread", Napi::Function::New(env, Unread));
  exports.Set("hmac", Napi::Function::New(env, Hmac));
  exports.Set("texts", Napi::Function::New(env, Texts));
  exports.Set("overview", Napi::Function::New(env, Overview));
  exports.Set("totals", Napi::Function::New(env, Totals));
  exports.Set("gatherer", Napi::Function::New(env, MakeGatherer));
  exports.Set("form", Napi::Function::New(env, MakeForm));
  exports.Set("JsonTable", JsonTable::Class(env));
  exports.Set("JsonPrinter", JsonPrinter::Class(env));
  exports.Set("lock", Napi::Function::New(env, Lock));
  exports.Set("memoryFile", Napi::Function::New(env, MemoryFile));
  exports.Set("notify", Napi::Function::New(env, Notify));
  exports.Set("mapBoard", Napi::Function::New(env, MapBoard));
  exports.Set("Writer", Writer::Class(env));
  exports.Set("Receiver", Receiver::Class(env));
  exports.Set("BulkSender", BulkSender::Class(env));
  exports.Set("Harvest", Harvest::Class(env));
  exports.Set("Mirror", Mirror::Class(env));
  return exports;
}

}  // namespace

NODE_API_MODULE(beoboard, Init)
