#include "protocol/scan.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace switchgear::protocol {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Where the number ends that begins at `at`; `end` if it is none, which no number reaches: a bracket always follows.
const char* number_end(const char* at, const char* end) {
  const auto digits = [&] {
    const char* first = at;
    while (at != end && is_digit(*at)) ++at;
    return at != first;
  };
  if (at != end && *at == '-') ++at;
  if (at != end && *at == '0') {
    ++at;
  } else if (!digits()) {
    return nullptr;
  }
  if (at != end && *at == '.') {
    ++at;
    if (!digits()) return nullptr;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    if (!digits()) return nullptr;
  }
  return at;
}

}  // namespace

struct token_index::memory {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> finder;
  std::size_t capacity = 0;
};

token_index::token_index() : memory_(std::make_unique<memory>()) {}
token_index::~token_index() = default;

errc token_index::build(std::string_view text) {
  begin_ = end_ = nullptr;
  if (text.size() >= std::numeric_limits<std::uint32_t>::max()) return errc::too_large;
  if (text.size() > memory_->capacity || !memory_->finder) {
    constexpr std::size_t least = std::size_t{16} * 1024;
    const std::size_t wanted = std::max(least, text.size() + text.size() / 4);
    memory_->capacity = 0;
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(wanted, 1, memory_->finder) !=
        simdjson::SUCCESS) {
      return errc::too_large;
    }
    memory_->capacity = wanted;
  }
  simdjson::internal::dom_parser_implementation& finder = *memory_->finder;
  if (finder.stage1(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), simdjson::stage1_mode::regular) !=
      simdjson::SUCCESS) {
    return errc::not_json;
  }
  begin_ = finder.structural_indexes.get();
  end_ = begin_ + finder.n_structural_indexes;
  return errc{};
}

void token_index::shrink(std::size_t bytes) {
  if (memory_->capacity <= bytes) return;
  *memory_ = {};
  begin_ = end_ = nullptr;
}

bool scanner::scalar() {
  const char first = next();
  if (first == '"') {
    ++at_;
    return true;
  }
  const char* begin = data_ + position();
  const char* after = nullptr;
  const auto word = [&](std::string_view expected) {
    const bool there = static_cast<std::size_t>(text_end_ - begin) >= expected.size() &&
                       std::memcmp(begin, expected.data(), expected.size()) == 0;
    return there ? begin + expected.size() : nullptr;
  };
  if (first == 't') {
    after = word("true");
  } else if (first == 'f') {
    after = word("false");
  } else if (first == 'n') {
    after = word("null");
  } else {
    after = number_end(begin, text_end_);
  }
  // simdjson lists where a run of such characters begins; anything behind the number or word in that run is no JSON.
  const bool whole =
      after != nullptr && (after == text_end_ || is_space(*after) || *after == ',' || *after == '}' || *after == ']');
  if (!whole) return fail(errc::not_json);
  ++at_;
  return true;
}

// One bit a level says whether it is an object. A loop, not recursion: how deep a peer nests must not cost our stack.
bool scanner::container() {
  std::array<std::uint64_t, max_depth / 64 + 1> objects{};
  const unsigned outside = depth_;
  bool object = false;  // what we are in

  for (;;) {
    // A value is next, in an object behind its name.
    if (object) {
      if (end_ - at_ < 3 || data_[at_[0]] != '"' || data_[at_[1]] != ':') return fail(errc::not_json);
      at_ += 2;
    }
    const char first = next();
    if (first == '{' || first == '[') {
      if (open(first)) {
        object = first == '{';
        const std::uint64_t bit = std::uint64_t{1} << (depth_ % 64);
        std::uint64_t& level = objects[depth_ / 64];
        level = object ? level | bit : level & ~bit;
        continue;
      }
      if (!ok()) return false;
    } else if (first == '"') {
      ++at_;
    } else if (!scalar()) {
      return false;
    }
    // It is over, and others may be over with it.
    while (depth_ != outside && !another(object ? '}' : ']')) {
      if (!ok()) return false;
      object = (objects[depth_ / 64] >> (depth_ % 64) & 1) != 0;
    }
    if (depth_ == outside) return true;
  }
}

bool scanner::skip(std::string_view& raw) {
  const std::size_t begin = position();
  if (!skip()) return false;
  raw = {data_ + begin, last_end() - begin};
  return true;
}

bool scanner::skip() {
  const char first = next();
  return first == '{' || first == '[' ? container() : scalar();
}

bool is_id_token(std::string_view raw) {
  if (raw.empty()) return false;
  if (raw.front() == '"') return true;
  if (raw.front() == '-') raw.remove_prefix(1);
  return !raw.empty() && std::all_of(raw.begin(), raw.end(), is_digit);
}

}  // namespace switchgear::protocol
