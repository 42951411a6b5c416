// Sweeps over boards for a relay, and mirrors.

#include <algorithm>

extern "C" {
#include "../relay/sweep.h"
#include "../relay/mirror.h"
}
#include "addon.h"

namespace addon {
namespace {

// What has changed on a board since it was last swept over.
class Sweep : public Napi::ObjectWrap<Sweep> {
 public:
  static Napi::Function Class(Napi::Env env) {
    return DefineClass(env, "Sweep",
                       {InstanceMethod("prime", &Sweep::Prime), InstanceMethod("begin", &Sweep::Begin),
                        InstanceMethod("next", &Sweep::Next), InstanceMethod("ask", &Sweep::Ask),
                        InstanceMethod("index", &Sweep::Index), InstanceMethod("records", &Sweep::Records),
                        InstanceMethod("linksWell", &Sweep::LinksWell)});
  }

  // new Sweep(mapping): keeps it, but it may be unmapped.
  explicit Sweep(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<Sweep>(info), kept_(Napi::Persistent(info[0].As<Napi::Object>())) {
    sweep_ = bb_sweep_new(BoardOf(kept_.Value()));
    if (sweep_ == nullptr) throw Napi::Error::New(info.Env(), "out of memory");
  }
  ~Sweep() override { bb_sweep_free(sweep_); }

 private:
  // Not of a board that was unmapped meanwhile.
  struct bb_sweep* Get() const {
    BoardOf(kept_.Value());
    return sweep_;
  }

  // prime(): the state of the sweep.
  Napi::Value Prime(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), bb_sweep_prime(Get())); }

  // begin(thorough, askedBytes, into): false when the file was cut short.
  Napi::Value Begin(const Napi::CallbackInfo& info) {
    auto into = info[2].As<Napi::Uint8Array>();
    struct bb_relay_board board;
    if (into.ByteLength() < sizeof board)
      throw Napi::RangeError::New(info.Env(), "there is not room for what the board says");
    if (!bb_sweep_begin(Get(), info[0].ToBoolean(), static_cast<size_t>(info[1].As<Napi::Number>().DoubleValue()),
                        &board))
      return Napi::Boolean::New(info.Env(), false);
    memcpy(into.Data(), &board, sizeof board);
    return Napi::Boolean::New(info.Env(), true);
  }

  // next(into): { state, bytes, entries }
  Napi::Value Next(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    auto into = info[0].As<Napi::Uint8Array>();
    if (!IsAligned(into)) throw Napi::TypeError::New(env, "the buffer is not aligned to 8 bytes");
    size_t bytes;
    uint32_t entries;
    const auto state = bb_sweep_next(Get(), into.Data(), into.ByteLength(), &bytes, &entries);
    auto out = Napi::Object::New(env);
    out.Set("state", Napi::Number::New(env, state));
    out.Set("bytes", Napi::Number::New(env, static_cast<double>(bytes)));
    out.Set("entries", Napi::Number::New(env, entries));
    return out;
  }

  // ask(numbers)
  void Ask(const Napi::CallbackInfo& info) {
    auto numbers = info[0].As<Napi::Uint32Array>();
    bb_sweep_ask(Get(), numbers.Data(), numbers.ElementLength());
  }

  // index(first, count, into): how many.
  Napi::Value Index(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    auto into = info[2].As<Napi::Uint8Array>();
    const uint32_t count = info[1].As<Napi::Number>().Uint32Value();
    if (!IsAligned(into)) throw Napi::TypeError::New(env, "the buffer is not aligned to 8 bytes");
    if (into.ByteLength() / sizeof(struct bb_relay_indexed) < count)
      throw Napi::RangeError::New(env, "there is not room for so many");
    return Napi::Number::New(env, bb_sweep_index(Get(), info[0].As<Napi::Number>().Uint32Value(), count,
                                                   reinterpret_cast<struct bb_relay_indexed*>(into.Data())));
  }

  Napi::Value Records(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), bb_sweep_records(Get())); }
  Napi::Value LinksWell(const Napi::CallbackInfo& info) {
    return Napi::BigInt::New(info.Env(), bb_sweep_links_well(Get()));
  }

  Napi::ObjectReference kept_;
  struct bb_sweep* sweep_ = nullptr;
};

struct MirrorOptions {
  explicit MirrorOptions(const Napi::Object& from)
      : site(from.Get("site").As<Napi::String>()),
        masters(from.Get("masters").As<Napi::Array>()),
        shared(from, options) {
    options.site = site.c_str();
    options.masters = masters.pointers.data();
    options.master_count = masters.pointers.size();
    options.followed = from.Get("followed").As<Napi::Number>().Uint32Value();
    options.instance = static_cast<uint64_t>(Int64(from, "instance"));
    options.origin = static_cast<uint64_t>(Int64(from, "origin"));
    options.now_ns = Int64(from, "nowNs");
  }
  MirrorOptions(const MirrorOptions&) = delete;
  MirrorOptions& operator=(const MirrorOptions&) = delete;

  struct bb_mirror_options options = {};
  std::string site;
  Names masters;
  SharedOptions shared;
};

class Mirror : public Napi::ObjectWrap<Mirror> {
 public:
  static Napi::Function Class(Napi::Env env) {
    return DefineClass(env, "Mirror",
                       {InstanceMethod("renew", &Mirror::Renew), InstanceMethod("batch", &Mirror::Batch),
                        InstanceMethod("gap", &Mirror::Gap), InstanceMethod("distrust", &Mirror::Distrust),
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
    return Napi::Number::New(
        info.Env(), bb_mirror_batch(Get(info.Env()), message.Data(), message.ByteLength(), &clock, Time(info[4])));
  }

  void Gap(const Napi::CallbackInfo& info) { bb_mirror_gap(Get(info.Env()), Time(info[0])); }

  void Distrust(const Napi::CallbackInfo& info) { bb_mirror_distrust(Get(info.Env())); }

  // index(message, nowNs)
  Napi::Value Index(const Napi::CallbackInfo& info) {
    auto message = info[0].As<Napi::Uint8Array>();
    return Napi::Number::New(info.Env(),
                             bb_mirror_index(Get(info.Env()), message.Data(), message.ByteLength(), Time(info[1])));
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
    return Napi::Number::New(info.Env(), bb_mirror_claims(Get(info.Env()), info[0].As<Napi::Number>().Uint32Value(),
                                                          message.Data(), message.ByteLength(), Time(info[2])));
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

}  // namespace

void AddRelaying(Napi::Env env, Napi::Object exports) {
  exports.Set("Sweep", Sweep::Class(env));
  exports.Set("Mirror", Mirror::Class(env));
}

}  // namespace addon
