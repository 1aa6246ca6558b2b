// An http step of the cascade, resolved: where it goes, behind which breaker, with what.
#pragma once

#include "breaker/gate.hpp"
#include "cascade/plan.hpp"
#include "cascade/template.hpp"
#include "cascade/url_template.hpp"
#include "port/breakers.hpp"
#include "port/web.hpp"

#include <memory>
#include <optional>
#include <string>

namespace switchgear::call {

/// Immutable. Origin and gates outlive it.
struct prepared_http {
  port::web_origin* origin = nullptr;
  breaker::gate* gate = nullptr;         ///< of method, host and path
  breaker::gate* server_gate = nullptr;  ///< of the host
  cascade::url_template url;
  std::optional<cascade::json_template> body;  ///< unset: the caller's own arguments
  std::string fields;                          ///< header lines
};

/// Null, with `why`, if a template is wrong. `of_host`: what the host's breaker goes by. Control thread.
std::shared_ptr<const prepared_http> prepare_http(const cascade::http_step& step, const breaker::settings& of_host,
                                                  port::web& web, port::breakers& breakers, std::string& why);

}  // namespace switchgear::call
