#include "upstream/observer.hpp"

#include "protocol/errors.hpp"

namespace switchgear::upstream {

boost::asio::awaitable<std::string> observer::asked(unsigned, std::string_view text, const protocol::message& seen,
                                                    async::interrupt&) {
  co_return protocol::write_error(seen.id.in(text), protocol::code::method_not_found,
                                  "there is no client here that could be asked");
}

}  // namespace switchgear::upstream
