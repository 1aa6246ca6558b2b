// How servers say that they do not know our session, or do not speak our era any more. They rarely say it as the
// protocol asks them to.
#pragma once

#include "protocol/version.hpp"
#include "upstream/http_transfer.hpp"

#include <cstdint>

namespace switchgear::upstream {

/// Whether a reply says that the server does not know our session or era, and how sure it is that it did not carry out
/// the request.
enum class loss : std::uint8_t {
  none,
  unread,  ///< it says so before it reads a request: 404, or an error without the request's id under 400
  likely,  ///< its words say so, which may be a tool's own
};

/// Of a reply to a request in a legacy session. `has_id`: the session has an id. Likely are any other 400 that is not
/// about the request, 401 and 503 that speak of the session and neither ask for credentials nor stand for an outage,
/// and an error about initialization.
loss session_loss(const http_reply& got, bool has_id);

/// Of a reply to a modern request: one that no modern server gives, so that the server has gone back to an older
/// revision, or stands behind one that has.
loss era_loss(const http_reply& got);

}  // namespace switchgear::upstream
