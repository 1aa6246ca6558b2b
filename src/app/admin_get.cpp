#include "app/admin_get.hpp"

#include "base/result.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <optional>
#include <utility>

namespace switchgear::app {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

constexpr std::size_t most_bytes = 16 * 1024 * 1024;

/// All that comes until the other side closes; nothing when it is too much.
std::optional<std::string> read_all(std::istream& from) {
  std::string all;
  char piece[16 * 1024];
  while (from.read(piece, sizeof piece), from.gcount() > 0) {
    all.append(piece, static_cast<std::size_t>(from.gcount()));
    if (all.size() > most_bytes) return std::nullopt;
  }
  return all;
}

std::string explain(const error_code& error, const std::string& where, duration limit) {
  if (error == asio::error::timed_out || error == asio::error::operation_aborted) {
    return "the gateway at " + where + " did not answer within " + config::format_duration(limit);
  }
  if (error == asio::error::connection_refused) {
    return "no gateway listens on " + where + "; is it running, and is that its admin address?";
  }
  return "the gateway at " + where + " cannot be reached: " + error.message();
}

}  // namespace

std::variant<admin_answer, admin_fault> admin_get(const config::endpoint& at, const std::string& path, duration limit) {
  const std::string where = config::format_endpoint(at);
  error_code error;
  const auto address = asio::ip::make_address(at.address, error);
  if (error) return admin_fault{"\"" + at.address + "\" is not an address"};

  asio::ip::tcp::iostream stream;
  stream.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(limit));
  stream.connect(asio::ip::tcp::endpoint(address, at.port));
  if (!stream) return admin_fault{explain(stream.error(), where, limit)};
  stream << "GET " << path << " HTTP/1.1\r\nHost: " << where << "\r\nConnection: close\r\n\r\n" << std::flush;
  const auto text = read_all(stream);
  if (!text) return admin_fault{"the answer of " + where + " is larger than 16 MiB"};
  // The end of the stream is how it should end; anything else cut the answer short.
  if (stream.error() && stream.error() != asio::error::eof) return admin_fault{explain(stream.error(), where, limit)};

  http::response_parser<http::string_body> parser;
  parser.eager(true);
  parser.body_limit(most_bytes);
  parser.put(asio::buffer(*text), error);
  if (!error) parser.put_eof(error);
  if (error || !parser.is_done()) return admin_fault{"what listens on " + where + " does not answer as a gateway does"};
  return admin_answer{parser.get().result_int(), std::move(parser.get().body())};
}

}  // namespace switchgear::app
