#include "protocol/server_abilities.hpp"

#include <boost/json.hpp>

namespace switchgear::protocol {

namespace {

bool has(const boost::json::object& members, std::string_view name) {
  const boost::json::value* found = members.if_contains(name);
  return found != nullptr && found->is_object();
}

}  // namespace

server_abilities read_server_abilities(std::string_view capabilities) {
  server_abilities made;
  boost::json::error_code error;
  const boost::json::value value = boost::json::parse(capabilities, error);
  const boost::json::object* members = error ? nullptr : value.if_object();
  if (members == nullptr) return made;
  made.tools = has(*members, "tools");
  made.prompts = has(*members, "prompts");
  made.completions = has(*members, "completions");
  made.logging = has(*members, "logging");
  made.resources = has(*members, "resources");
  if (made.resources) {
    const boost::json::value* subscribe = members->at("resources").get_object().if_contains("subscribe");
    made.subscribe = subscribe != nullptr && subscribe->is_bool() && subscribe->get_bool();
  }
  return made;
}

std::string write_server_abilities(const server_abilities& abilities) {
  boost::json::object made;
  const auto list = [] { return boost::json::object{{"listChanged", true}}; };
  if (abilities.tools) made["tools"] = list();
  if (abilities.prompts) made["prompts"] = list();
  if (abilities.resources) {
    boost::json::object resources = list();
    if (abilities.subscribe) resources["subscribe"] = true;
    made["resources"] = std::move(resources);
  }
  if (abilities.completions) made["completions"] = boost::json::object();
  if (abilities.logging) made["logging"] = boost::json::object();
  return boost::json::serialize(made);
}

}  // namespace switchgear::protocol
