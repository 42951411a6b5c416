// What the addon has for tests alone: methods of its Writer, which write a board without a receiver, and a function.
// A part of that class in addon/receiving.cc.

#define FUNCTIONS_FOR_TESTS(env, exports)                            \
  exports.Set("hmac", Napi::Function::New(env, Writer::Hmac)); \
  exports.Set("overview", Napi::Function::New(env, Writer::Overview))
#define METHODS_FOR_TESTS                                                                                      \
  InstanceMethod("deliver", &Writer::Deliver), InstanceMethod("listeningSince", &Writer::ListeningSince),      \
      InstanceMethod("resumed", &Writer::Resumed), InstanceMethod("heartbeat", &Writer::Heartbeat),            \
      InstanceMethod("linkState", &Writer::LinkState), InstanceMethod("survey", &Writer::Survey),              \
      InstanceMethod("surveySilences", &Writer::SurveySilences),

  static int64_t Time(const Napi::Value& value) {
    bool lossless = true;
    return value.As<Napi::BigInt>().Int64Value(&lossless);
  }

  // deliver(datagram, stampNs, stampRealNs, link?): a reason's number, 0 accepted, -1 duplicate. The link: a number, or
  // the name of an interface, which gets one; all others if it is not said.
  Napi::Value Deliver(const Napi::CallbackInfo& info) {
    struct bb_writer* writer = Get(info.Env());
    auto datagram = info[0].As<Napi::Uint8Array>();
    struct bb_arrival arrival = {};
    arrival.stamp_ns = Time(info[1]);
    arrival.stamp_real_ns = Time(info[2]);
    arrival.link = info[3].IsNumber()   ? info[3].As<Napi::Number>().Uint32Value() % BB_LINKS
                   : info[3].IsString() ? BB_LINK_UNKNOWN
                                        : BB_LINK_OTHERS;
    const std::string interface = info[3].IsString() ? info[3].As<Napi::String>().Utf8Value() : "";
    if (!interface.empty()) arrival.interface = interface.c_str();
    alignas(struct bb_report) uint8_t aligned[sizeof(struct bb_report)];
    memcpy(aligned, datagram.Data(), std::min(sizeof aligned, datagram.ByteLength()));
    return Napi::Number::New(info.Env(), bb_writer_deliver(writer, aligned, datagram.ByteLength(), &arrival));
  }

  // linkState(number, state, wasDown, nowNs)
  void LinkState(const Napi::CallbackInfo& info) {
    bb_links_set_state(bb_writer_links(Get(info.Env())), info[0].As<Napi::Number>().Uint32Value(), 1,
                       info[1].As<Napi::Number>().Uint32Value(), info[2].ToBoolean(), Time(info[3]));
  }
  void Survey(const Napi::CallbackInfo& info) { bb_links_survey(bb_writer_links(Get(info.Env()))); }
  void SurveySilences(const Napi::CallbackInfo& info) { bb_writer_survey(Get(info.Env()), Time(info[0])); }
  void ListeningSince(const Napi::CallbackInfo& info) { bb_writer_listening_since(Get(info.Env()), Time(info[0])); }
  void Resumed(const Napi::CallbackInfo& info) { bb_writer_resumed(Get(info.Env()), Time(info[0])); }
  void Heartbeat(const Napi::CallbackInfo& info) { bb_writer_heartbeat(Get(info.Env()), Time(info[0])); }

 public:
  // hmac(secret, data, own, rounds): { tag, openssl }: HMAC-SHA-256 as the receiver makes it, or with our own code
  // alone; made so many times with one kept key.
  static Napi::Value Hmac(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    auto secret = info[0].As<Napi::Uint8Array>();
    auto data = info[1].As<Napi::Uint8Array>();
    if (secret.ByteLength() != BB_SECRET_BYTES) throw Napi::TypeError::New(env, "a key has 32 bytes");
    const bool own = info[2].ToBoolean();
    struct bb_hmac key;
    bb_hmac_key(&key, secret.Data(), BB_SECRET_BYTES);
    auto tag = Napi::Uint8Array::New(env, BB_MAC_BYTES);
    for (uint32_t rounds = info[3].As<Napi::Number>().Uint32Value(); rounds > 0; rounds--)
      (own ? bb_hmac : bb_mac)(&key, data.Data(), data.ByteLength(), tag.Data());
    auto out = Napi::Object::New(env);
    out.Set("tag", tag);
    out.Set("openssl", Napi::Boolean::New(env, !own && bb_mac_is_openssl()));
    return out;
  }

  // overview(copy, nowNs, nodes, into): judges a copy of a board that was not made by `snapshot`; whether its
  // receiver was stalled.
  static Napi::Value Overview(const Napi::CallbackInfo& info) {
    auto copy = info[0].As<Napi::Uint8Array>(), into = info[3].As<Napi::Uint8Array>();
    bool lossless = true;
    struct bb_look look = {info[1].As<Napi::BigInt>().Int64Value(&lossless), 0,
                           info[2].As<Napi::Number>().Uint32Value(), 0};
    if (!IsAligned(copy) || !IsAligned(into))
      throw Napi::TypeError::New(info.Env(), "the copy is not aligned to 8 bytes");
    if (into.ByteLength() < bb_overview_bytes(look.nodes))
      throw Napi::RangeError::New(info.Env(), "there is not room for all nodes");
    const struct bb_overview out = bb_overview_at(into.Data(), look.nodes);
    if (!bb_overview(copy.Data(), copy.ByteLength(), &look, &out, nullptr, 0))
      throw Napi::TypeError::New(info.Env(), "that is no copy of a board");
    return Napi::Boolean::New(info.Env(), look.stalled != 0);
  }

 private:
