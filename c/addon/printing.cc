// Values as text, and numbers of reports.

#include <algorithm>
#include <memory>

#include "addon.h"
extern "C" {
#include "template.h"
#include "extract.h"
}

namespace addon {
namespace {

// texts(bytes, first, stride, most, count): in one call, since thousands of names are wanted at once.
Napi::Value Texts(const Napi::CallbackInfo& info) {
  auto bytes = info[0].As<Napi::Uint8Array>();
  const uint64_t first = info[1].As<Napi::Number>().Uint32Value(), stride = info[2].As<Napi::Number>().Uint32Value();
  const uint64_t most = info[3].As<Napi::Number>().Uint32Value(), count = info[4].As<Napi::Number>().Uint32Value();
  if (count > 0 && first + (count - 1) * stride + most > bytes.ByteLength())
    throw Napi::RangeError::New(info.Env(), "there are not so many texts");
  return Joined(info.Env(), reinterpret_cast<const char*>(bytes.Data()) + first, stride, most, count);
}

// A function that keeps what it works with. Calling it is faster than calling a method, which looks for that in its
// object.
template <Napi::Value (*call)(const Napi::CallbackInfo&), class Kept>
Napi::Function KeptBy(Napi::Env env, const char* name, std::unique_ptr<Kept> kept) {
  auto function = Napi::Function::New<call>(env, name, kept.get());
  function.AddFinalizer([](Napi::Env, Kept* gone) { delete gone; }, kept.get());
  kept.release();
  return function;
}

// template(text, gaps, values, texts): a bb_template and what is in its gaps.
//   (into, at, textBytes): bb_template_print from byte `at` on; the bytes that were written.
struct Template {
  std::vector<char> text;
  std::vector<struct bb_gap> gaps;
  Napi::Reference<Napi::Float64Array> values;
  Napi::Reference<Napi::Uint8Array> texts;
  struct bb_template layout;
  struct bb_filling filling;
};

Napi::Value PrintTemplate(const Napi::CallbackInfo& info) {
  const auto* kept = static_cast<const Template*>(info.Data());
  auto into = info[0].As<Napi::Uint8Array>();
  const size_t at = info[1].As<Napi::Number>().Uint32Value(), room = into.ByteLength();
  struct bb_filling filling = kept->filling;
  filling.bytes = std::min<size_t>(info[2].As<Napi::Number>().Uint32Value(), filling.bytes);
  const long bytes =
      at > room ? -1 : bb_template_print(reinterpret_cast<char*>(into.Data()) + at, room - at, &kept->layout, &filling);
  if (bytes < 0) throw Napi::RangeError::New(info.Env(), "the template has no room there, or not these texts");
  return Napi::Number::New(info.Env(), static_cast<double>(bytes));
}

Napi::Value MakeTemplate(const Napi::CallbackInfo& info) {
  auto values = info[2].As<Napi::Float64Array>();
  auto texts = info[3].As<Napi::Uint8Array>();
  auto kept = std::make_unique<Template>();
  kept->text = VectorOf<char>(info[0].As<Napi::Uint8Array>());
  kept->gaps = VectorOf<struct bb_gap>(info[1].As<Napi::Uint32Array>());
  kept->values = Napi::Persistent(values);
  kept->texts = Napi::Persistent(texts);
  kept->layout = {kept->text.data(), kept->text.size(), kept->gaps.size(), kept->gaps.data()};
  kept->filling = {values.Data(), reinterpret_cast<const char*>(texts.Data()), texts.ByteLength()};
  if (!bb_template_check(&kept->layout, values.ElementLength()))
    throw Napi::TypeError::New(info.Env(), "these gaps do not go with that text");
  return KeptBy<PrintTemplate>(info.Env(), "printTemplate", std::move(kept));
}

// extractor(wanted, scales, values): struct bb_wanted and struct bb_scale, and where the values go.
//   (bytes, before, after): bb_extract of the reports at these bytes; before -1: there is none.
struct Extractor {
  std::vector<struct bb_wanted> wanted;
  std::vector<struct bb_scale> scales;
  Napi::Reference<Napi::Float64Array> kept;
  double* values;
};

const struct bb_report* ReportAt(const Napi::Uint8Array& bytes, double at) {
  if (!(at >= 0) || at + sizeof(struct bb_report) > static_cast<double>(bytes.ByteLength()))
    throw Napi::RangeError::New(bytes.Env(), "no whole report is there");
  const uint8_t* report = bytes.Data() + static_cast<size_t>(at);
  if (reinterpret_cast<uintptr_t>(report) % 8 != 0)
    throw Napi::TypeError::New(bytes.Env(), "the report is not aligned to 8 bytes");
  return reinterpret_cast<const struct bb_report*>(report);
}

Napi::Value Extract(const Napi::CallbackInfo& info) {
  const auto* kept = static_cast<const Extractor*>(info.Data());
  auto bytes = info[0].As<Napi::Uint8Array>();
  const double before = info[1].As<Napi::Number>().DoubleValue();
  const struct bb_report* after = ReportAt(bytes, info[2].As<Napi::Number>().DoubleValue());
  bb_extract(kept->wanted.data(), kept->scales.data(), kept->wanted.size(),
             before == -1 ? nullptr : ReportAt(bytes, before), after, kept->values);
  return info.Env().Undefined();
}

Napi::Value MakeExtractor(const Napi::CallbackInfo& info) {
  auto values = info[2].As<Napi::Float64Array>();
  auto kept = std::make_unique<Extractor>();
  kept->wanted = VectorOf<struct bb_wanted>(info[0].As<Napi::Uint32Array>());
  kept->scales = VectorOf<struct bb_scale>(info[1].As<Napi::Float64Array>());
  kept->kept = Napi::Persistent(values);
  kept->values = values.Data();
  if (kept->scales.size() != kept->wanted.size() ||
      !bb_extract_check(kept->wanted.data(), kept->wanted.size(), values.ElementLength()))
    throw Napi::TypeError::New(info.Env(), "these are no numbers of a report");
  return KeptBy<Extract>(info.Env(), "extract", std::move(kept));
}

// lastWords(bytes, before, after): bb_extract_words of the reports at these bytes; likewise.
Napi::Value LastWords(const Napi::CallbackInfo& info) {
  auto bytes = info[0].As<Napi::Uint8Array>();
  const double before = info[1].As<Napi::Number>().DoubleValue();
  const struct bb_report* after = ReportAt(bytes, info[2].As<Napi::Number>().DoubleValue());
  return Napi::Number::New(info.Env(), bb_extract_words(before == -1 ? nullptr : ReportAt(bytes, before), after));
}

}  // namespace

void AddPrinting(Napi::Env env, Napi::Object exports) {
  exports.Set("texts", Napi::Function::New(env, Texts));
  exports.Set("extractor", Napi::Function::New(env, MakeExtractor));
  exports.Set("lastWords", Napi::Function::New(env, LastWords));
  exports.Set("template", Napi::Function::New(env, MakeTemplate));
}

}  // namespace addon
