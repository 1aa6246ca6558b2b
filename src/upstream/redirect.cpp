#include "upstream/redirect.hpp"

#include "http/media_type.hpp"
#include "upstream/errc.hpp"
#include "upstream/printable.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>

namespace switchgear::upstream {

result<url> within_origin(const url& base, std::string_view reference) {
  const std::string own = (base.tls ? "https://" : "http://") + base.authority + base.target;
  const auto from = boost::urls::parse_uri(own);
  const auto to = boost::urls::parse_uri_reference(reference);
  boost::urls::url absolute;
  if (!from || !to || !boost::urls::resolve(*from, *to, absolute)) return errc::bad_url;
  absolute.remove_fragment();
  result<url> there = read_url({absolute.buffer().data(), absolute.buffer().size()});
  if (!there) return there;
  const bool same = there->tls == base.tls && there->port == base.port && http::same_text(there->host, base.host);
  if (!same) return errc::bad_url;
  return there;
}

redirection follow(const url& from, int status, std::string_view location) {
  const std::string there = "redirects to " + printable(location, 200);
  if (status != 307 && status != 308) return {{}, there + ", which is not followed: " + std::to_string(status)};
  if (auto target = within_origin(from, location)) return {std::move(target->target), {}};
  return {{}, there + ", which is not followed: it is no address of the same origin"};
}

}  // namespace switchgear::upstream
