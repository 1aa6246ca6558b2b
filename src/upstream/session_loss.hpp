// How servers say that they do not know our session, or do not speak our era any more. They rarely say it as the
// protocol asks them to.
#pragma once

#include "protocol/version.hpp"
#include "upstream/http_transfer.hpp"

namespace switchgear::upstream {

/// Whether a reply to a request in a legacy session means that the server did not read the request, for want of the
/// session: 404; 400, unless it is about the request; 401 and 503 that speak of the session and neither ask for
/// credentials nor stand for an outage; an error about initialization. `has_id`: the session has an id.
bool means_session_lost(const http_reply& got, bool has_id);

/// Whether a reply to a modern request is one that no modern server gives: the server has gone back to an older
/// revision, or stands behind one that has.
bool means_era_lost(const http_reply& got);

}  // namespace switchgear::upstream
