#include "call/prepare_http.hpp"

#include <utility>

namespace switchgear::call {

std::shared_ptr<const prepared_http> prepare_http(const cascade::http_step& step, const breaker::settings& of_host,
                                                  port::web& web, port::breakers& breakers, std::string& why) {
  auto url = cascade::url_template::compile(step.url);
  if (!url) {
    why = url.error().message();
    return nullptr;
  }
  std::optional<cascade::json_template> body;
  if (!step.body.empty()) {
    auto compiled = cascade::json_template::compile(step.body);
    if (!compiled) {
      why = compiled.error().message();
      return nullptr;
    }
    body = std::move(*compiled);
  }
  std::string fields;
  for (const auto& [name, value] : step.headers) fields.append(name).append(": ").append(value).append("\r\n");
  port::web_origin& origin = web.origin(url->origin());
  breaker::gate& gate = breakers.tool(url->breaker_name(name(step.method)), step.breaker);
  breaker::gate& server_gate = breakers.server("http:" + std::string(url->authority()), of_host);
  return std::make_shared<const prepared_http>(
      prepared_http{&origin, &gate, &server_gate, std::move(*url), std::move(body), std::move(fields)});
}

}  // namespace switchgear::call
