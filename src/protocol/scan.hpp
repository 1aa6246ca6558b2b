// A strict cursor over a JSON text: the one place where the folder decides what JSON is. Source: RFC 8259.
//
// simdjson finds where the tokens begin; the grammar is walked here. simdjson's own on-demand reader would not do: it
// lets values that are skipped pass unseen, `{"a":[1}` and bytes after the end included.
#pragma once

#include "protocol/errc.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace switchgear::protocol {

/// Where the tokens of a text begin. Holds the memory for it, so that a reused one allocates nothing. Not thread-safe.
class token_index {
 public:
  token_index();
  ~token_index();
  token_index(const token_index&) = delete;
  token_index& operator=(const token_index&) = delete;

  /// Errors: errc::not_json (bad UTF-8, a string without end or with control characters, nothing at all),
  /// errc::too_large (4 GiB). No byte outside `text` is read.
  errc build(std::string_view text);

  const std::uint32_t* begin() const { return begin_; }
  const std::uint32_t* end() const { return end_; }

  /// Frees the memory that a text above `bytes` needed: four bytes for each of its own.
  void shrink(std::size_t bytes);

 private:
  struct memory;
  std::unique_ptr<memory> memory_;
  const std::uint32_t* begin_ = nullptr;
  const std::uint32_t* end_ = nullptr;
};

/// Reads a text forward. Functions that return bool say false on a text that is no JSON, and why() then says which
/// errc it is; after that the cursor must not be used. Escapes are only checked where a string is unescaped.
/// Depth costs no stack. Text and index must outlive the scanner.
class scanner {
 public:
  scanner(std::string_view text, token_index& index)
      : data_(text.data()), text_end_(text.data() + text.size()), why_(index.build(text)) {
    if (!ok()) return;
    at_ = index.begin();
    end_ = index.end();
  }

  /// The first character of the next token; NUL at the end and after a failure.
  char next() const { return at_ == end_ ? '\0' : data_[*at_]; }

  /// Goes into the object or array that is next. False if it is empty (and then it has been left again) or broken.
  /// Usage: for (bool more = in.open('{'); more; more = in.another('}')) { in.key(name) ... in.skip(value) ... }
  bool open(char bracket) {
    if (next() != bracket) return fail(errc::not_json);
    if (++depth_ > max_depth) return fail(errc::too_deep);
    ++at_;
    if (next() != bracket + 2) return true;  // in ASCII, '}' is '{' + 2 and ']' is '[' + 2
    ++at_;
    --depth_;
    return false;
  }

  /// After a member or element: whether there is another. Leaves the object or array if not.
  bool another(char closing) {
    const char found = next();
    if (found != ',' && found != closing) return fail(errc::not_json);
    ++at_;
    if (found == ',') return true;
    --depth_;
    return false;
  }

  /// A member's name with its colon; raw, with its quotes.
  bool key(std::string_view& name) {
    if (!string(name) || next() != ':') return fail(errc::not_json);
    ++at_;
    return true;
  }

  /// A string; raw, with its quotes.
  bool string(std::string_view& raw) {
    if (next() != '"') return fail(errc::not_json);
    const std::size_t begin = *at_++;
    raw = {data_ + begin, last_end() - begin};
    return true;
  }

  /// Any value; raw, without the whitespace around it.
  bool skip(std::string_view& raw);
  bool skip();

  /// Where the next token begins; the size of the text at its end.
  std::size_t position() const { return at_ == end_ ? static_cast<std::size_t>(text_end_ - data_) : *at_; }
  /// Where the token before it ends. Only after a token has been read.
  std::size_t last_end() const {
    std::size_t end = position();
    while (is_space(data_[end - 1])) --end;
    return end;
  }

  /// Whether the whole text has been read.
  bool finish() { return ok() && (at_ == end_ || fail(errc::not_json)); }

  bool ok() const { return why_ == errc{}; }
  errc why() const { return why_; }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  bool fail(errc why) {
    if (ok()) why_ = why;
    at_ = end_;
    return false;
  }
  bool scalar();
  bool container();

  const char* data_;
  const char* text_end_;
  const std::uint32_t* at_ = nullptr;
  const std::uint32_t* end_ = nullptr;
  unsigned depth_ = 0;
  errc why_;
};

/// What a raw string token (with its quotes) says: a view of it if it has no escapes, else of `space`, which is
/// overwritten. An unpaired surrogate becomes U+FFFD. False if an escape is none.
bool text_of(std::string_view raw, std::string& space, std::string_view& text);

/// Whether a raw token may be a JSON-RPC id or a progress token: a string or an integer.
bool is_id_token(std::string_view raw);

}  // namespace switchgear::protocol
