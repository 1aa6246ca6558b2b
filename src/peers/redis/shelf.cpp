#include "peers/redis/shelf.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace switchgear::peers::redis {

using std::chrono::milliseconds;

namespace {

std::string digits(duration length) {
  return std::to_string(std::chrono::ceil<milliseconds>(std::max(length, duration::zero())).count());
}

std::string hex(const port::question_digest& asked) {
  constexpr std::string_view figures = "0123456789abcdef";
  std::string made;
  made.reserve(2 * asked.size());
  for (const unsigned char byte : asked) {
    made += figures[byte >> 4];
    made += figures[byte & 15];
  }
  return made;
}

std::string function(std::string_view called) {
  return std::string(library_name).append("_").append(called);
}

}  // namespace

shelves::shelves(std::string_view prefix, std::size_t bytes) : prefix_(prefix), most_(std::to_string(bytes / count)) {}

std::string shelves::key(const port::question_digest& asked, char kind) const {
  return prefix_ + ":{a" + std::to_string(asked[0] % count) + "}:" + kind;
}

routed shelves::put(const port::question_digest& asked, std::string result, duration age, duration life) const {
  std::string values = key(asked, 'v');
  const unsigned slot = slot_of(values);
  return {slot,
          {"FCALL", function("put_answer"), "3", std::move(values), key(asked, 'i'), key(asked, 'b'), hex(asked),
           std::move(result), digits(age), digits(life), most_}};
}

routed shelves::find(const port::question_digest& asked, duration max_age) const {
  std::string values = key(asked, 'v');
  const unsigned slot = slot_of(values);
  return {slot, {"FCALL", function("find_answer"), "1", std::move(values), hex(asked), digits(max_age)}};
}

std::optional<port::answers::found> shelves::read(response said) {
  constexpr std::int64_t longest = 1LL << 40;  // milliseconds that a duration can hold
  if (said.kind != response::kind::list || said.items.size() != 2) return std::nullopt;
  response &age = said.items[0], &result = said.items[1];
  const bool good = age.kind == response::kind::number && age.number >= 0 && age.number <= longest &&
                    result.kind == response::kind::text && !result.text.empty();
  if (!good) return std::nullopt;
  return port::answers::found{std::make_shared<const std::string>(std::move(result.text)), milliseconds(age.number)};
}

}  // namespace switchgear::peers::redis
