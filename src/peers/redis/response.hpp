// What a Redis node says, as values, and the reading of them out of its bytes. No connection is needed to use this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::peers::redis {

/// What a node answered to one command.
struct response {
  enum class kind : std::uint8_t {
    lost,    ///< nothing: the connection broke or time was up; the command may have been carried out
    nil,     ///< nothing to tell
    text,    ///< `text`
    number,  ///< `number`
    list,    ///< `items`
    error,   ///< `text` says why the node did not do it
  };
  response::kind kind = kind::lost;
  std::string text;
  std::int64_t number = 0;
  std::vector<response> items;
};

/// The text of an error, cut to what a line for people can take.
std::string reason_of(const response& error);

/// Bytes in, answers out. A peer that does not speak RESP 2, or says more than a Redis of ours ever has to, is given
/// up: memory stays within a small multiple of `most_bytes` whatever comes. Not thread-safe.
class response_reader {
 public:
  static constexpr std::size_t most_bytes = 2 << 20;    // of one answer: a cluster's map of ten thousand ranges
  static constexpr std::size_t most_items = 128 << 10;  // of one answer, lists in lists included
  static constexpr unsigned most_depth = 8;

  response_reader();
  ~response_reader();
  response_reader(const response_reader&) = delete;
  response_reader& operator=(const response_reader&) = delete;

  void feed(std::string_view bytes);
  /// The next whole answer; nothing when it is still to come, or when the reader has given up.
  std::optional<response> next();
  /// For good.
  bool gave_up() const { return gave_up_; }

 private:
  struct parser;
  std::unique_ptr<parser> parser_;
  std::size_t taken_ = 0;  // bytes of the answer under way, and of what came behind it
  bool gave_up_ = false;
};

}  // namespace switchgear::peers::redis
