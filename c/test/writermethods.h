// Methods of the addon's Writer for tests, which write a board without a receiver: a part of that class in
// addon/receiving.cc.

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
