// What the parts of the addon share: values between JavaScript and C. Each part adds what it gives to JavaScript.
#ifndef BB_ADDON_H
#define BB_ADDON_H
#include <napi.h>

#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "../base/ipaddress.h"
#include "../board/reader.h"
#include "../rules/mac.h"
#include "../rules/order.h"
#include "../rules/keyring.h"
}

namespace addon {

constexpr size_t kWhy = 512;

// Values and structs as text.
void AddPrinting(Napi::Env env, Napi::Object exports);
// Boards for reading, and what is concluded of their copies.
void AddMapping(Napi::Env env, Napi::Object exports);
// Boards for writing, and the thread that receives.
void AddReceiving(Napi::Env env, Napi::Object exports);
// Sweeps over boards for a relay, and mirrors.
void AddRelaying(Napi::Env env, Napi::Object exports);
// Answers of short verbs.
void AddAnswering(Napi::Env env, Napi::Object exports);

// The board of a mapping, which stays mapped as long as the object lives and is not unmapped.
const struct bb_board* BoardOf(const Napi::Object& mapping);

inline bool IsAligned(const Napi::Uint8Array& bytes) { return reinterpret_cast<uintptr_t>(bytes.Data()) % 8 == 0; }

// Joins `count` texts by NULs. One begins every `stride` bytes, and ends at its first NUL or after `most` bytes.
inline Napi::Value Joined(Napi::Env env, const char* at, uint64_t stride, uint64_t most, uint64_t count) {
  std::string joined;
  for (uint64_t i = 0; i < count; i++, at += stride) {
    if (i > 0) joined.push_back('\0');
    joined.append(at, strnlen(at, most));
  }
  return Napi::String::New(env, joined);
}

template <class T, class From>
std::vector<T> VectorOf(const From& array) {
  std::vector<T> out(array.ByteLength() / sizeof(T));
  if (!out.empty()) memcpy(out.data(), array.Data(), out.size() * sizeof(T));
  return out;
}

// An address of 16 bytes as people write it: IPv4 where it holds one.
inline std::string Address(const uint8_t address[16]) {
  char text[INET6_ADDRSTRLEN];
  return print_address(address, text);
}

inline Napi::Value Nanoseconds(Napi::Env env, uint64_t ns) { return Napi::BigInt::New(env, ns); }
inline Napi::Value Count(Napi::Env env, uint64_t count) { return Napi::Number::New(env, static_cast<double>(count)); }

inline int64_t Int64(const Napi::Object& from, const char* key) {
  bool lossless = true;
  return from.Get(key).As<Napi::BigInt>().Int64Value(&lossless);
}

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

// What a receiver's board and a mirror's have in common: also what makes a report believed. Forgets the keys.
struct SharedOptions {
  // `options`: of a writer or a mirror, which read them while they are made.
  template <typename Options>
  SharedOptions(const Napi::Object& from, Options& options)
      : path(from.Get("path").As<Napi::String>()), cluster(from.Get("clusterName").As<Napi::String>()) {
    auto list = from.Get("keys").As<Napi::Array>();
    if (list.Length() > BB_MOST_KEYS) throw Napi::RangeError::New(from.Env(), "too many keys");
    for (uint32_t count = 0; count < list.Length(); count++) {
      auto key = list.Get(count).As<Napi::Object>();
      auto secret = key.Get("secret").As<Napi::Uint8Array>();
      if (secret.ByteLength() != BB_SECRET_BYTES) throw Napi::TypeError::New(from.Env(), "a key has 32 bytes");
      keys[count].id = static_cast<uint16_t>(key.Get("id").As<Napi::Number>().Uint32Value());
      std::copy_n(secret.Data(), BB_SECRET_BYTES, keys[count].secret);
    }
    options.keys = keys;
    options.key_count = list.Length();
    options.required = static_cast<enum bb_auth_alg>(from.Get("required").As<Napi::Number>().Uint32Value());
    bool lossless = true;
    options.clock_window_ns = from.Get("clockWindowNs").As<Napi::BigInt>().Uint64Value(&lossless);
    options.path = path.c_str();
    options.cluster_name = cluster.c_str();
    options.cluster_id = from.Get("clusterId").As<Napi::Number>().Uint32Value();
    options.capacity = from.Get("capacity").As<Napi::Number>().Uint32Value();
    options.uncertain_after_ns = Int64(from, "uncertainAfterNs");
    options.silent_after_ns = Int64(from, "silentAfterNs");
    options.longest_interval_ms = static_cast<uint64_t>(from.Get("longestIntervalMs").As<Napi::Number>().Int64Value());
  }
  ~SharedOptions() { explicit_bzero(keys, sizeof keys); }
  SharedOptions(const SharedOptions&) = delete;
  SharedOptions& operator=(const SharedOptions&) = delete;

  std::string path, cluster;
  struct bb_key keys[BB_MOST_KEYS] = {};
};

// Rejected senders, by the reason in whose part of the table they stand; empty entries are left out.
inline Napi::Value SendersOf(Napi::Env env, const struct bb_sender* senders) {
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

}  // namespace addon

#endif
