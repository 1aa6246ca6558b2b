#include "upstream/observer.hpp"

#include "protocol/errors.hpp"
#include "protocol/subscription.hpp"

namespace switchgear::upstream {

boost::asio::awaitable<std::string> observer::asked(unsigned, std::string_view text, const protocol::message& seen,
                                                    async::interrupt&) {
  co_return protocol::write_error(seen.id.in(text), protocol::code::method_not_found,
                                  "there is no client here that could be asked");
}

void notify_updated(observer& to, unsigned upstream, std::string_view uri) {
  const std::string text = protocol::write_resource_updated(uri, {});
  protocol::scratch space;
  if (const auto seen = protocol::peek(text, space)) to.notified(upstream, text, *seen);
}

}  // namespace switchgear::upstream
