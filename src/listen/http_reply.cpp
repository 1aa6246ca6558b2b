#include "listen/http_reply.hpp"

#include "protocol/errors.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace switchgear::listen {

namespace asio = boost::asio;

namespace {

std::string_view status_text(int status) {
  switch (status) {
    case 200:
      return "200 OK";
    case 202:
      return "202 Accepted";
    case 204:
      return "204 No Content";
    case 400:
      return "400 Bad Request";
    case 403:
      return "403 Forbidden";
    case 404:
      return "404 Not Found";
    case 405:
      return "405 Method Not Allowed";
    case 406:
      return "406 Not Acceptable";
    case 408:
      return "408 Request Timeout";
    case 411:
      return "411 Length Required";
    case 413:
      return "413 Content Too Large";
    case 415:
      return "415 Unsupported Media Type";
    case 417:
      return "417 Expectation Failed";
    case 431:
      return "431 Request Header Fields Too Large";
    case 501:
      return "501 Not Implemented";
    case 503:
      return "503 Service Unavailable";
    default:
      return "500 Internal Server Error";
  }
}

// A response's head in memory of its own: it is written in the same call as the body.
class head_writer {
 public:
  void add(std::string_view text) { end_ = std::copy(text.begin(), text.end(), end_); }
  void add(std::size_t number) { end_ = std::to_chars(end_, end_ + 20, number).ptr; }
  std::string_view text() const { return {head_, static_cast<std::size_t>(end_ - head_)}; }

 private:
  char head_[384];
  char* end_ = head_;
};

}  // namespace

asio::awaitable<bool> http_reply::json(parts body, int status, std::string_view fields) {
  head_writer head;
  head.add("HTTP/1.1 ");
  head.add(status_text(status));
  head.add("\r\nContent-Type: application/json\r\n");
  head.add(fields);
  const bool keep = keeps();
  if (!keep) {
    head.add("Connection: close\r\n");
  } else if (is_http_1_0_) {
    head.add("Connection: keep-alive\r\n");
  }
  head.add("Content-Length: ");
  head.add(total_size(body));
  head.add("\r\n\r\n");
  body.insert(body.begin(), head.text());
  const error_code failed = co_await client_.write(std::move(body));
  co_return !failed && keep;
}

asio::awaitable<bool> http_reply::empty(int status) {
  head_writer head;
  head.add("HTTP/1.1 ");
  head.add(status_text(status));
  const bool keep = keeps();
  head.add("\r\n");
  if (status != 204) head.add("Content-Length: 0\r\n");
  if (!keep) head.add("Connection: close\r\n");
  head.add("\r\n");
  parts pieces;
  pieces.push_back(head.text());
  const error_code failed = co_await client_.write(std::move(pieces));
  co_return !failed && keep;
}

asio::awaitable<bool> http_reply::refuse(const refused_request& why, std::string_view id) {
  here_.recorder.refused(here_.on.index, why.kind);
  const std::string body = protocol::write_error(id, why.code, why.message, why.data);
  parts pieces;
  pieces.push_back(body);
  co_return co_await json(std::move(pieces), why.status, why.fields);
}

}  // namespace switchgear::listen
