#include "http/head.hpp"

#include "http/errc.hpp"
#include "http/media_type.hpp"

#include <boost/beast/http/basic_parser.hpp>

#include <cstring>
#include <functional>

namespace switchgear::http {

namespace beast = boost::beast;
using beast::http::field;

namespace {

std::string_view plain(beast::string_view text) {
  return {text.data(), text.size()};
}

bool names_events_first(std::string_view accept) {
  const std::string_view first = accept.substr(0, accept.find(','));
  return accept_covers(first, "text/event-stream") && !accept_covers(first, "application/json");
}

// Sinks what basic_parser finds as views, without its containers: one pass, no allocation.
template <bool is_request, class Head>
class sink : public beast::http::basic_parser<is_request> {
 public:
  explicit sink(std::string_view text) : text_(text) {
    this->header_limit(most_head_bytes);
    this->body_limit(boost::none);
  }

  result<Head> read() {
    beast::error_code error;
    this->put(boost::asio::const_buffer(text_.data(), text_.size()), error);
    if (refused_ != errc{}) return refused_;
    if (error && error != beast::http::error::need_more) return translate(error);
    if (!this->is_header_done()) return errc::malformed_head;
    if (this->chunked() && this->content_length()) return errc::bad_framing;
    head_.framing.chunked = this->chunked();
    if (auto length = this->content_length()) head_.framing.content_length = *length;
    head_.framing.keep_alive = keep_alive_;
    return head_;
  }

 protected:
  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target, int version,
                       beast::error_code& error) override {
    if constexpr (is_request) {
      head_.method = plain(method);
      head_.target = plain(target);
    }
    take_version(version, error);
  }

  void on_response_impl(int status, beast::string_view, int version, beast::error_code& error) override {
    if (status < 100) return refuse(errc::malformed_head, error);
    if constexpr (!is_request) head_.status = status;
    take_version(version, error);
  }

  void on_field_impl(field name, beast::string_view name_text, beast::string_view value,
                     beast::error_code& error) override {
    // basic_parser unfolds a folded field into memory of its own: a value outside the text was one. find_head_end
    // refuses them before; a head that came another way must not get past either.
    if (!value.empty() && !inside(value)) return refuse(errc::malformed_head, error);
    const std::string_view content = plain(value);
    switch (name) {
      case field::transfer_encoding:
        if (!same_text(content, "chunked") || seen_transfer_encoding_) return refuse(errc::bad_framing, error);
        seen_transfer_encoding_ = true;
        break;
      case field::content_length:
        // basic_parser takes a list of equal numbers; whoever reads the same bytes elsewhere may not.
        if (content.find_first_not_of("0123456789") != std::string_view::npos) return refuse(errc::bad_framing, error);
        break;
      case field::connection:
        if (has_token(content, "close")) keep_alive_ = false;
        if (has_token(content, "keep-alive") && !has_token(content, "close")) keep_alive_ = true;
        break;
      case field::content_type:
        once(head_.content_type, content, error);
        break;
      case field::content_encoding:
        once(head_.content_encoding, content, error);
        break;
      default:
        other_field(name, plain(name_text), content, error);
    }
  }

  void on_header_impl(beast::error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}
  std::size_t on_body_impl(beast::string_view, beast::error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, beast::error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view, beast::error_code&) override { return 0; }
  void on_finish_impl(beast::error_code&) override {}

 private:
  void other_field(field name, std::string_view name_text, std::string_view content, beast::error_code& error) {
    if constexpr (is_request) {
      switch (name) {
        case field::host:
          return once(head_.host, content, error);
        case field::origin:
          return once(head_.origin, content, error);
        case field::expect:
          head_.expects_continue = same_text(content, "100-continue");
          return;
        case field::accept:
          head_.has_accept = true;
          if (content == "application/json, text/event-stream") {  // what the official clients send
            head_.accepts_json = head_.accepts_sse = true;
            return;
          }
          head_.events_first |= !head_.accepts_json && names_events_first(content);
          head_.accepts_json |= accept_covers(content, "application/json");
          head_.accepts_sse |= accept_covers(content, "text/event-stream");
          return;
        default:
          break;
      }
      if (name == field::unknown) {
        if (same_text(name_text, "mcp-session-id")) return once(head_.session_id, content, error);
        if (same_text(name_text, "mcp-protocol-version")) return once(head_.protocol_version, content, error);
        if (same_text(name_text, "mcp-method")) return once(head_.mcp_method, content, error);
        if (same_text(name_text, "mcp-name")) return once(head_.mcp_name, content, error);
        if (same_text(name_text, "last-event-id")) return once(head_.last_event_id, content, error);
      }
    } else {
      switch (name) {
        case field::retry_after:
          head_.retry_after = content;
          return;
        case field::location:
          head_.location = content;
          return;
        case field::www_authenticate:
          head_.www_authenticate = content;
          return;
        default:
          break;
      }
      if (name == field::unknown && same_text(name_text, "mcp-session-id")) {
        return once(head_.session_id, content, error);
      }
    }
  }

  void take_version(int version, beast::error_code& error) {
    if (version != 10 && version != 11) return refuse(errc::unsupported_version, error);
    keep_alive_ = version == 11;
    if constexpr (is_request) head_.is_http_1_0 = version == 10;
  }

  // A proxy that joins two lines into one sends "x, x": equal repeats are as wrong as different ones.
  void once(std::string_view& slot, std::string_view content, beast::error_code& error) {
    if (slot.data() != nullptr) return refuse(errc::duplicate_field, error);
    slot = content.data() != nullptr ? content : std::string_view("");
  }

  bool inside(beast::string_view value) const {
    return !std::less<>{}(value.data(), text_.data()) &&
           !std::less<>{}(text_.data() + text_.size(), value.data() + value.size());
  }

  void refuse(errc reason, beast::error_code& error) {
    refused_ = reason;
    error = beast::http::error::bad_value;
  }

  static errc translate(const beast::error_code& error) {
    using beast::http::error;
    if (error == error::bad_version) return errc::unsupported_version;
    if (error == error::bad_content_length || error == error::multiple_content_length ||
        error == error::bad_transfer_encoding) {
      return errc::bad_framing;
    }
    if (error == error::header_limit) return errc::head_too_large;
    return errc::malformed_head;
  }

  std::string_view text_;
  Head head_;
  errc refused_{};
  bool keep_alive_ = true;
  bool seen_transfer_encoding_ = false;
};

}  // namespace

result<std::size_t> find_head_end(std::string_view received, std::size_t& searched) {
  // Line by line, so that a bare LF or a folded field is refused when it arrives and not after the head's deadline.
  std::size_t at = searched;
  for (;;) {
    const bool begins_line = at != 0 && at < received.size() && received[at - 1] == '\n';
    if (begins_line && (received[at] == ' ' || received[at] == '\t')) return errc::malformed_head;
    const void* hit = std::memchr(received.data() + at, '\n', received.size() - at);
    if (hit == nullptr) break;
    const std::size_t lf = static_cast<std::size_t>(static_cast<const char*>(hit) - received.data());
    if (lf == 0 || received[lf - 1] != '\r') return errc::malformed_head;
    at = lf + 1;
    if (lf >= 3 && received[lf - 2] == '\n') {
      if (at > most_head_bytes) return errc::head_too_large;
      searched = at;
      return at;
    }
  }
  searched = received.size();
  if (received.size() > most_head_bytes) return errc::head_too_large;
  return std::size_t{0};
}

result<request_head> read_request_head(std::string_view text) {
  return sink<true, request_head>(text).read();
}

result<response_head> read_response_head(std::string_view text) {
  return sink<false, response_head>(text).read();
}

}  // namespace switchgear::http
