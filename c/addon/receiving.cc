// Boards for writing, and the thread that receives.

#include <memory>
#include <vector>

extern "C" {
#include "../base/ipaddress.h"
#include "../board/writer.h"
#include "../judge/overview.h"
#include "../receive/receive.h"
}
#include "addon.h"

namespace addon {
namespace {

struct WriterOptions {
  explicit WriterOptions(const Napi::Object& from)
      : nodes(from.Get("nodes").As<Napi::Array>()), shared(from, options) {
    options.nodes = nodes.pointers.empty() ? nullptr : nodes.pointers.data();
    options.node_count = nodes.pointers.size();
  }
  WriterOptions(const WriterOptions&) = delete;
  WriterOptions& operator=(const WriterOptions&) = delete;

  struct bb_writer_options options = {};
  Names nodes;
  SharedOptions shared;
};

// A change of the nodes of these names, to be made by whoever owns the writer, and what became of each.
template <typename Became, auto change, typename Told>
struct NodesChange {
  explicit NodesChange(const Napi::Array& list) : names(list), became(new Became[list.Length() + 1]()) {}

  static void Do(struct bb_writer* writer, void* self) {
    auto* c = static_cast<NodesChange*>(self);
    c->ok = change(writer, c->names.pointers.data(), c->names.pointers.size(), c->became.get(), c->why, sizeof c->why);
  }

  Napi::Value Result(Napi::Env env) const {
    if (!ok) throw Napi::Error::New(env, why);
    auto out = Napi::Array::New(env, names.names.size());
    for (uint32_t i = 0; i < names.names.size(); i++) out.Set(i, Told::New(env, became[i]));
    return out;
  }

  Names names;
  std::unique_ptr<Became[]> became;
  bool ok = false;
  char why[kWhy] = "";
};

// Of each name whether it had a record, and an enum bb_cleared.
using Forgetting = NodesChange<bool, bb_writer_forget, Napi::Boolean>;
using Clearing = NodesChange<uint8_t, bb_writer_clear, Napi::Number>;

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
// What a receiver does in its thread, tests do by methods that no package has.
#ifdef BB_FOR_TESTS
#include BB_FOR_TESTS
#else
#define METHODS_FOR_TESTS
#define FUNCTIONS_FOR_TESTS(env, exports)
#endif

 public:
  static Napi::Function Class(Napi::Env env) {
    return DefineClass(env, "Writer",
                       {METHODS_FOR_TESTS InstanceMethod("change", &Writer::Change),
                        InstanceMethod("forget", &Writer::Forget), InstanceMethod("clear", &Writer::Clear),
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

  // The receiver owns it from then on; this object is empty.
  struct bb_writer* Release() {
    struct bb_writer* released = writer_;
    writer_ = nullptr;
    return released;
  }

 private:
  struct bb_writer* Get(Napi::Env env) const {
    if (writer_ == nullptr) throw Napi::Error::New(env, "the board is closed, or a receiver writes it");
    return writer_;
  }

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

  // clear(names): of each whether it had a record, and anything to clear.
  Napi::Value Clear(const Napi::CallbackInfo& info) {
    Clearing clearing(info[0].As<Napi::Array>());
    Clearing::Do(Get(info.Env()), &clearing);
    return clearing.Result(info.Env());
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
                       {InstanceMethod("listen", &Receiver::Listen), InstanceMethod("adopt", &Receiver::Adopt),
                        InstanceMethod("join", &Receiver::Join), InstanceMethod("setLocal", &Receiver::SetLocal),
                        InstanceMethod("start", &Receiver::Start),
                        InstanceMethod("change", &Receiver::Change),
                        InstanceMethod("reloadFailed", &Receiver::ReloadFailed),
                        InstanceMethod("forget", &Receiver::Forget),
                        InstanceMethod("clear", &Receiver::Clear), InstanceMethod("status", &Receiver::Status),
                        InstanceMethod("stop", &Receiver::Stop)});
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
    const int port =
        bb_receiver_listen(Get(info.Env()), host.c_str(),
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

  // setLocal(networks): of each { host, bits }.
  void SetLocal(const Napi::CallbackInfo& info) {
    auto from = info[0].As<Napi::Array>();
    std::vector<struct bb_network> networks(from.Length());
    for (uint32_t i = 0; i < networks.size(); i++) {
      auto one = from.Get(i).As<Napi::Object>();
      const std::string host = one.Get("host").As<Napi::String>();
      struct bb_network& network = networks[i];
      network.bits = one.Get("bits").As<Napi::Number>().Uint32Value();
      struct in_addr v4;
      if (inet_pton(AF_INET, host.c_str(), &v4) == 1) {
        map_v4(network.address, &v4);
        network.bits += 8 * sizeof v4_prefix;
      } else if (inet_pton(AF_INET6, host.c_str(), network.address) != 1) {
        throw Napi::Error::New(info.Env(), host + " is not an address");
      }
    }
    if (!bb_receiver_set_local(Get(info.Env()), networks.data(), networks.size()))
      throw Napi::Error::New(info.Env(), "out of memory");
  }

  static void Displaced(void* self) {
    static_cast<Receiver*>(self)->displaced_.NonBlockingCall();
  }

  // start(writer, displaced): takes the writer; calls `displaced` when another receiver has taken the board.
  void Start(const Napi::CallbackInfo& info) {
    struct bb_receiver* receiver = Get(info.Env());
    if (started_) throw Napi::Error::New(info.Env(), "the receiver runs already");
    struct bb_writer* writer = Napi::ObjectWrap<Writer>::Unwrap(info[0].As<Napi::Object>())->Release();
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

  // clear(names): of each whether it had a record, and anything to clear.
  Napi::Value Clear(const Napi::CallbackInfo& info) {
    Clearing clearing(info[0].As<Napi::Array>());
    bb_receiver_run(Running(info.Env()), Clearing::Do, &clearing);
    return clearing.Result(info.Env());
  }

  Napi::Value Status(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    struct bb_receiver_status status;
    bb_receiver_status(Get(env), &status);
    auto out = Napi::Object::New(env);
    const auto set = [&](const char* key, uint64_t value) {
      out.Set(key, Napi::Number::New(env, static_cast<double>(value)));
    };
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

}  // namespace

void AddReceiving(Napi::Env env, Napi::Object exports) {
  exports.Set("Writer", Writer::Class(env));
  exports.Set("Receiver", Receiver::Class(env));
  FUNCTIONS_FOR_TESTS(env, exports);
}

}  // namespace addon
