#include "upstream/url.hpp"

#include "upstream/errc.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <charconv>

namespace switchgear::upstream {

result<url> read_url(std::string_view text) {
  const auto parsed = boost::urls::parse_uri(text);
  if (!parsed) return errc::bad_url;
  const boost::urls::url_view view = *parsed;
  url read;
  if (view.scheme() == "https") {
    read.tls = true;
  } else if (view.scheme() != "http") {
    return errc::bad_url;
  }
  if (view.has_userinfo() || view.has_fragment() || view.encoded_host().empty()) return errc::bad_url;

  read.host = view.host_address();
  const std::uint16_t standard = read.tls ? 443 : 80;
  read.port = standard;
  if (const auto digits = view.port(); !digits.empty()) {
    // The library's number wraps around.
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), read.port);
    if (error != std::errc{} || end != digits.data() + digits.size() || read.port == 0) return errc::bad_url;
  }

  const auto encoded_host = view.encoded_host();
  read.authority.assign(encoded_host.data(), encoded_host.size());
  if (read.port != standard) read.authority += ":" + std::to_string(read.port);

  const auto target = view.encoded_target();
  read.target.assign(target.data(), target.size());
  if (read.target.empty() || read.target.front() != '/') read.target.insert(0, "/");
  return read;
}

}  // namespace switchgear::upstream
