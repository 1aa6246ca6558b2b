// TLS towards Redis: whom we trust and who we are.
#pragma once

#include "port/shared_state.hpp"

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <string>

namespace switchgear::peers::redis {

/// Reads the files of `settings`, which must ask for TLS. Null when one is of no use, and `why` names it.
std::shared_ptr<boost::asio::ssl::context> make_tls(const port::redis_settings& settings, std::string& why);

}  // namespace switchgear::peers::redis
