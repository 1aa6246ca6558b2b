#include "protocol/abilities.hpp"

#include <boost/json.hpp>

#include <array>

namespace switchgear::protocol {

namespace {

using flag = bool client_abilities::*;

// The order is the order of the bits, which replicas of different versions must agree on: append only.
constexpr std::array<flag, 7> flags{
    &client_abilities::roots,           &client_abilities::roots_changed,    &client_abilities::sampling,
    &client_abilities::sampling_tools,  &client_abilities::sampling_context, &client_abilities::elicitation_form,
    &client_abilities::elicitation_url,
};

const boost::json::object* object_in(const boost::json::object& where, std::string_view name) {
  const boost::json::value* found = where.if_contains(name);
  return found != nullptr ? found->if_object() : nullptr;
}

std::string_view elicitation_mode(std::string_view params) {
  boost::json::error_code error;
  const boost::json::value value = boost::json::parse(params, error);
  const boost::json::object* members = error ? nullptr : value.if_object();
  const boost::json::value* mode = members != nullptr ? members->if_contains("mode") : nullptr;
  return mode != nullptr && mode->is_string() && mode->get_string() == "url" ? "url" : "form";
}

}  // namespace

std::uint8_t client_abilities::bits() const {
  unsigned bits = 0;
  for (std::size_t i = 0; i < flags.size(); ++i) bits |= (this->*flags[i] ? 1u : 0u) << i;
  return static_cast<std::uint8_t>(bits);
}

client_abilities client_abilities::of_bits(std::uint8_t bits) {
  client_abilities made;
  for (std::size_t i = 0; i < flags.size(); ++i) made.*flags[i] = ((bits >> i) & 1u) != 0;
  return made;
}

client_abilities read_abilities(std::string_view capabilities) {
  client_abilities made;
  boost::json::error_code error;
  const boost::json::value value = boost::json::parse(capabilities, error);
  const boost::json::object* members = error ? nullptr : value.if_object();
  if (members == nullptr) return made;
  if (const auto* roots = object_in(*members, "roots")) {
    made.roots = true;
    const boost::json::value* changed = roots->if_contains("listChanged");
    made.roots_changed = changed != nullptr && changed->is_bool() && changed->get_bool();
  }
  if (const auto* sampling = object_in(*members, "sampling")) {
    made.sampling = true;
    made.sampling_tools = object_in(*sampling, "tools") != nullptr;
    made.sampling_context = object_in(*sampling, "context") != nullptr;
  }
  if (const auto* elicitation = object_in(*members, "elicitation")) {
    made.elicitation_url = object_in(*elicitation, "url") != nullptr;
    made.elicitation_form = object_in(*elicitation, "form") != nullptr || !made.elicitation_url;
  }
  return made;
}

std::string write_abilities(const client_abilities& abilities) {
  boost::json::object made;
  if (abilities.roots) {
    boost::json::object roots;
    if (abilities.roots_changed) roots["listChanged"] = true;
    made["roots"] = std::move(roots);
  }
  if (abilities.sampling) {
    boost::json::object sampling;
    if (abilities.sampling_tools) sampling["tools"] = boost::json::object();
    if (abilities.sampling_context) sampling["context"] = boost::json::object();
    made["sampling"] = std::move(sampling);
  }
  if (abilities.elicitation_form || abilities.elicitation_url) {
    boost::json::object elicitation;
    if (abilities.elicitation_form) elicitation["form"] = boost::json::object();
    if (abilities.elicitation_url) elicitation["url"] = boost::json::object();
    made["elicitation"] = std::move(elicitation);
  }
  return boost::json::serialize(made);
}

bool may_ask(const client_abilities& abilities, const message& request, std::string_view text) {
  if (request.method == "ping") return true;
  if (request.method == "roots/list") return abilities.roots;
  if (request.method == "sampling/createMessage") return abilities.sampling;
  if (request.method != "elicitation/create") return false;
  const bool by_url = elicitation_mode(request.params.in(text)) == "url";
  return by_url ? abilities.elicitation_url : abilities.elicitation_form;
}

}  // namespace switchgear::protocol
