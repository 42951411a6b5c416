// Boards for reading: their mapping, copies of them, and what is concluded of a copy.

#include <pwd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <initializer_list>
#include <utility>

extern "C" {
#include "../judge/overview.h"
#include "../judge/totals.h"
}
#include "addon.h"

namespace addon {
namespace {

// From this size on, in bytes, a buffer is worth huge pages.
constexpr size_t kLarge = 4 << 20;

// unmeasuredLimitMs(intervalMs, longestMs): bb_unmeasured_limit_ms().
Napi::Value UnmeasuredLimitMs(const Napi::CallbackInfo& info) {
  const uint64_t longest = info[1].As<Napi::Number>().Uint32Value();
  return Napi::Number::New(info.Env(), bb_unmeasured_limit_ms(info[0].As<Napi::Number>().Uint32Value(), longest));
}

// A part of the totals under that key, unless it is of no node.
void Tell(Napi::Object totals, const char* key, uint64_t nodes,
          std::initializer_list<std::pair<const char*, double>> sums) {
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

class BoardMapping : public Napi::ObjectWrap<BoardMapping> {
 public:
  static Napi::Function Class(Napi::Env env) {
    return DefineClass(
        env, "BoardMapping",
        {InstanceMethod("snapshotBytes", &BoardMapping::SnapshotBytes),
         InstanceMethod("snapshot", &BoardMapping::Snapshot), InstanceMethod("find", &BoardMapping::Find),
         InstanceMethod("columnBytes", &BoardMapping::ColumnBytes), InstanceMethod("column", &BoardMapping::Column),
         InstanceMethod("names", &BoardMapping::Names), InstanceMethod("memories", &BoardMapping::Memories),
         InstanceMethod("into", &BoardMapping::Into),
         InstanceMethod("nodeBytes", &BoardMapping::NodeBytes), InstanceMethod("links", &BoardMapping::Links),
         InstanceMethod("senders", &BoardMapping::Senders), InstanceMethod("events", &BoardMapping::Events),
         InstanceMethod("isAt", &BoardMapping::IsAt), InstanceMethod("unmap", &BoardMapping::Unmap)});
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
    return Room(info.Env(), board_.header.record_stride + bb_overview_bytes(1));
  }

  // What a copy of the board needs, with so many bytes a node.
  Napi::Value Room(Napi::Env env, size_t each) const {
    return Napi::Number::New(env, static_cast<double>(sizeof(struct bb_look) + bb_board_bytes(&board_, each)));
  }

  // into(buffer): where snapshots go from now on. Kept, since looking up where an array lies costs as much as copying a
  // record.
  void Into(const Napi::CallbackInfo& info) {
    auto into = info[0].As<Napi::Uint8Array>();
    if (reinterpret_cast<uintptr_t>(into.Data()) % 8 != 0)
      throw Napi::TypeError::New(info.Env(), "the buffer is not aligned to 8 bytes");
    buffer_ = Napi::Persistent(into);
    into_ = into.Data();
    room_ = into.ByteLength();
    Prepare();
  }

  // A whole board is copied into memory that is new in a short process: thousands of small pages took twice as long as
  // the copy. Only advice: where huge pages are not to be had, or the buffer is smaller than one, nothing changes.
  void Prepare() const {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t begin = (reinterpret_cast<uintptr_t>(into_) + page - 1) / page * page;
    const uintptr_t end = (reinterpret_cast<uintptr_t>(into_) + room_) / page * page;
    if (end > begin && end - begin >= kLarge) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  }

  // Copies behind the look that a copy begins with: objects and arrays of JavaScript would cost more than the copy of
  // a record.
  template <typename Copy>
  Napi::Value CopyInto(const Napi::CallbackInfo& info, Copy copy) {
    Check(info.Env());
    struct bb_look look;
    if (room_ < sizeof look || !copy(into_ + sizeof look, room_ - sizeof look, &look))
      return Napi::Boolean::New(info.Env(), false);
    memcpy(into_, &look, sizeof look);
    return Napi::Boolean::New(info.Env(), true);
  }

  // The copy and what it tells of each node in one call.
  Napi::Value Snapshot(const Napi::CallbackInfo& info) {
    const uint32_t first = info[0].As<Napi::Number>().Uint32Value();
    return CopyInto(info, [this, first](uint8_t* to, size_t room, struct bb_look* look) {
      return bb_overview_snapshot(&board_, to, room, first, look);
    });
  }

  Napi::Value Column(const Napi::CallbackInfo& info) {
    return CopyInto(info, [this](uint8_t* to, size_t room, struct bb_look* look) {
      uint8_t* const states = bb_board_begin(&board_, to, room, 0, 1, look);
      return states != nullptr && bb_overview_states(to, room, look, states);
    });
  }

  Napi::Value ColumnBytes(const Napi::CallbackInfo& info) {
    Check(info.Env());
    return Room(info.Env(), 1);
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
    if (bb_board_names(&board_, numbers.Data(), numbers.ElementLength(), names.data()) != 0)
      return info.Env().Undefined();
    return Joined(info.Env(), names.data(), BB_NAME_BYTES, BB_NAME_BYTES, numbers.ElementLength());
  }

  // memories(known, fresh): the numbers of the nodes whose memories have changed; undefined when the file was cut
  // short; null where the board has none.
  Napi::Value Memories(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    Check(env);
    auto known = info[0].As<Napi::Uint8Array>(), fresh = info[1].As<Napi::Uint8Array>();
    const size_t n = std::min(known.ByteLength(), fresh.ByteLength()) / sizeof(struct bb_memory);
    if ((reinterpret_cast<uintptr_t>(known.Data()) | reinterpret_cast<uintptr_t>(fresh.Data())) % 8 != 0)
      throw Napi::TypeError::New(env, "the buffers are not aligned to 8 bytes");
    std::vector<uint32_t> changed(n);
    const int64_t found = bb_board_memories(&board_, reinterpret_cast<const struct bb_memory*>(known.Data()),
                                            reinterpret_cast<struct bb_memory*>(fresh.Data()), changed.data(), n);
    if (found < 0) return found == -1 ? env.Undefined() : env.Null();
    auto out = Napi::Uint32Array::New(env, static_cast<size_t>(found));
    std::copy_n(changed.data(), static_cast<size_t>(found), out.Data());
    return out;
  }

  Napi::Value NodeBytes(const Napi::CallbackInfo& info) {
    Check(info.Env());
    const struct bb_board_header& h = board_.header;
    const double nodes = info[0].As<Napi::Number>().DoubleValue();
    return Napi::Number::New(
        info.Env(), static_cast<double>(sizeof(struct bb_look) + h.header_bytes) +
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

// A user id, or the name of a user. (uid_t)-1 for undefined: nobody.
uid_t User(const Napi::Value& value) {
  if (value.IsNumber()) return static_cast<uid_t>(value.As<Napi::Number>().Int64Value());
  if (!value.IsString()) return static_cast<uid_t>(-1);
  const std::string name = value.As<Napi::String>();
  const struct passwd* user = getpwnam(name.c_str());
  if (user == nullptr)
    throw Napi::Error::New(value.Env(), "there is no user " + name + "; name one that getent passwd lists, or its id");
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

}  // namespace

const struct bb_board* BoardOf(const Napi::Object& mapping) {
  return Napi::ObjectWrap<BoardMapping>::Unwrap(mapping)->Board(mapping.Env());
}

void AddMapping(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new Napi::FunctionReference(Napi::Persistent(BoardMapping::Class(env))));
  exports.Set("unmeasuredLimitMs", Napi::Function::New(env, UnmeasuredLimitMs));
  exports.Set("totals", Napi::Function::New(env, Totals));
  exports.Set("mapBoard", Napi::Function::New(env, MapBoard));
}

}  // namespace addon
