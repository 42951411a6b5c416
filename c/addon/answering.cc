// The answers of `check` and `nodes`, which the short verbs in C give, too. What ends those programs is thrown here.

#include <ctime>

#include "addon.h"
#define noreturn [[noreturn]]
extern "C" {
#include "../verbs/verdict.h"
#include "../verbs/telling.h"

const char program[] = "beoboard";

void answer(int code, const struct words* line) { throw std::pair(code, std::string(line->text, line->len)); }
void give_up(const char* why, int code) { throw std::pair(-code, std::string(why)); }
void give_up_memory() { give_up("out of memory", WRITE_FAILED); }
}

namespace addon {
namespace {

// (mapping, texts, numbers, names, fulfils): what JavaScript asks; see src/native/board.ts.
struct Question {
  explicit Question(const Napi::CallbackInfo& info)
      : board(BoardOf(info[0].As<Napi::Object>())), texts(info[1].As<Napi::Array>()) {
    for (const double number : VectorOf<double>(info[2].As<Napi::Float64Array>())) numbers.push_back(number);
    check.query.board = texts.pointers.at(0);
    check.causes = texts.pointers.at(1);
    if (info[3].IsArray()) {
      names = std::make_unique<Names>(info[3].As<Napi::Array>());
      check.query.has_names = true;
      check.query.names = {nullptr, const_cast<char**>(names->pointers.data()), names->pointers.size()};
      check.query.on_board = names->pointers.data();
    }
    if (!info[4].IsTypedArray()) return;
    fulfils = VectorOf<uint8_t>(info[4].As<Napi::Uint8Array>());
    fulfils.resize(board->header.capacity); // there may be more nodes now
    check.fulfils = fulfils.data();
  }
  ~Question() { let_go(); }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  const struct bb_board* board;
  Names texts;
  std::vector<uint64_t> numbers;
  std::unique_ptr<Names> names;
  std::vector<uint8_t> fulfils;
  struct check_question check = {};
  struct census census = {};
};

// { code, text }; below 0: why there is no answer.
Napi::Object Ended(Napi::Env env, const std::pair<int, std::string>& how) {
  auto out = Napi::Object::New(env);
  out.Set("code", how.first);
  out.Set("text", how.second);
  return out;
}

// answerCheck(…): { code, text }.
Napi::Value AnswerCheck(const Napi::CallbackInfo& info) try {
  Question question(info);
  struct check_question& check = question.check;
  const auto& n = question.numbers;
  check.warnings = question.texts.pointers.at(2);
  check.journal_run = question.texts.pointers.at(3);
  if (check.fulfils != nullptr) check.condition = question.texts.pointers.at(4);
  check.fail = static_cast<enum fail>(n.at(0));
  check.warning = {n.at(1), n.at(2)};
  check.critical = {n.at(3), n.at(4)};
  check.health_off = n.at(5) != 0;
  check.ignored = n.at(6);
  check.recent = n.at(7);
  tzset();
  census_read(&question.census, &check.query, question.board);
  tell_verdict(&check, &question.census);
} catch (const std::pair<int, std::string>& how) {
  return Ended(info.Env(), how);
}

// answerIgnorance(fail, why): the same of no board.
Napi::Value AnswerIgnorance(const Napi::CallbackInfo& info) try {
  const std::string why = info[1].As<Napi::String>();
  tell_ignorance(static_cast<enum fail>(info[0].As<Napi::Number>().Uint32Value()), why.c_str());
} catch (const std::pair<int, std::string>& how) {
  let_go();
  return Ended(info.Env(), how);
}

Napi::Array Texts(Napi::Env env, const char* const* texts, size_t count) {
  auto list = Napi::Array::New(env, count);
  for (uint32_t i = 0; i < count; i++) list.Set(i, texts[i]);
  return list;
}

// answerNodes(…): { names, states, notOnBoard, remarks }, or { code, text }.
Napi::Value AnswerNodes(const Napi::CallbackInfo& info) try {
  const Napi::Env env = info.Env();
  Question question(info);
  struct census& census = question.census;
  const auto& n = question.numbers;
  const struct node_wish wish = {static_cast<uint32_t>(n.at(0)), n.at(1), static_cast<uint32_t>(n.at(2)), n.at(3) != 0,
                                 question.check.fulfils};
  tzset();
  census_read(&census, &question.check.query, question.board);
  const struct node_list list = census_wanted(&census, &wish);
  const struct remarks remarks = remarks_of(&census, &list, question.check.causes);
  auto states = Napi::Uint8Array::New(env, list.count);
  for (size_t i = 0; i < list.count; i++) states[i] = census.states[list.numbers[i]];
  auto out = Napi::Object::New(env);
  out.Set("names", Texts(env, list.names, list.count));
  out.Set("states", states);
  out.Set("notOnBoard", Texts(env, census.not_on_board, census.not_on_board_count));
  out.Set("remarks", Texts(env, remarks.texts, remarks.count));
  return out;
} catch (const std::pair<int, std::string>& how) {
  return Ended(info.Env(), how);
}

}  // namespace

void AddAnswering(Napi::Env env, Napi::Object exports) {
  exports.Set("answerCheck", Napi::Function::New(env, AnswerCheck));
  exports.Set("answerIgnorance", Napi::Function::New(env, AnswerIgnorance));
  exports.Set("answerNodes", Napi::Function::New(env, AnswerNodes));
}

}  // namespace addon
