#include "call/directory.hpp"

#include "call/known_arguments.hpp"
#include "call/limiters.hpp"
#include "call/model_step.hpp"
#include "call/pauses.hpp"
#include "cascade/stand_in.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <variant>

namespace switchgear::call {
namespace {

constexpr std::size_t most_alternatives = 3;

constexpr std::string_view get_prompt = "prompts/get", read_resource = "resources/read",
                           complete = "completion/complete";

// What other replicas keep can be found within that, and a primary that hangs must not use up the time for it.
void keep_time_for_looks(cascade::plan& plan) {
  for (cascade::step& each : plan.steps) {
    if (auto* cache = std::get_if<cascade::cache_step>(&each)) cache->look = port::answers::longest_look;
  }
}

bool is_object(std::string_view json) {
  error_code error;
  const auto parsed = boost::json::parse(json, error);
  return !error && parsed.is_object();
}

}  // namespace

std::shared_ptr<const directory> directory::build(sources from) {
  std::shared_ptr<directory> made(new directory(from));
  made->tools_.reserve(from.catalogue->size());  // steps and alternatives point into it
  for (const route::entry& entry : from.catalogue->entries()) made->add(entry, from);
  made->link_alternatives();
  for (tool& one : made->tools_) made->prepare_steps(one, from);
  made->add_methods(from);
  return made;
}

directory::directory(const sources& from)
    : catalogue_(from.catalogue), prompts_(from.prompts), resources_(from.resources) {
  if (!prompts_) prompts_ = std::make_shared<const route::table<route::item>>();
  if (!resources_) resources_ = std::make_shared<const route::resources>();
}

const tool* directory::find(std::string_view exported_name) const {
  const route::entry* entry = catalogue_->find(exported_name);
  return entry != nullptr ? &tools_[static_cast<std::size_t>(entry - catalogue_->entries().data())] : nullptr;
}

destination directory::find_prompt(std::string_view exported_name) const {
  const route::item* listed = prompts_->find(exported_name);
  if (listed == nullptr) return {};
  return {method_of(get_prompt, listed->upstream), listed->original};
}

destination directory::find_resource(std::string_view uri) const {
  const auto place = resources_->find(uri);
  if (!place) return {};
  return {method_of(read_resource, place->upstream), place->uri};
}

destination directory::find_completion(std::string_view prompt, std::string_view uri_or_template) const {
  if (!prompt.empty()) {
    const route::item* listed = prompts_->find(prompt);
    if (listed == nullptr) return {};
    return {method_of(complete, listed->upstream), listed->original};
  }
  const auto place = resources_->find_reference(uri_or_template);
  if (!place) return {};
  return {method_of(complete, place->upstream), place->uri};
}

void directory::add(const route::entry& entry, const sources& from) {
  tool& made = tools_.emplace_back();
  made.entry = &entry;
  made.upstream = from.upstreams.at(entry.upstream);
  made.policy = from.policy_for(entry.name);
  made.gate = &from.breakers->tool(entry.name, made.policy.breaker);
  made.server_gate = &from.breakers->server(entry.alias, from.server_breaker(entry.alias));
  made.slot = from.recorder->tool_slot(entry.name);
  if (!from.retries.empty()) made.retries = from.retries.at(entry.upstream);
  if (made.policy.loop.failures > 0) made.loops = from.loops;
  if (from.pauses != nullptr) made.pause = &from.pauses->of(entry.name);
  made.forwards = made.upstream->forwards();
  if (from.limits != nullptr) {
    made.limit = from.limits->tool(entry.name, made.policy.concurrency);
    made.server_limit = from.limits->server(entry.alias, from.server_concurrency(entry.alias));
  }

  const bool hinted_read_only = entry.hints.read_only.value_or(false);
  const bool hinted_idempotent = entry.hints.idempotent.value_or(false);
  made.read_only = made.policy.read_only.value_or(hinted_read_only);
  made.repeatable = made.policy.read_only.value_or(hinted_read_only || hinted_idempotent);
  // Of a tool that may write, a second call beside the first is a second effect.
  const bool hedges = made.read_only && made.policy.hedge.quantile > 0 && made.retries != nullptr && from.latency_of;
  if (hedges) made.latency = from.latency_of(entry.name);
  made.idempotency_key =
      made.policy.idempotency_key.empty() ? entry.hints.idempotency_key : made.policy.idempotency_key;
  made.uses_cache = made.read_only && made.policy.fallback.uses_cache();
  made.gives_fresh = made.uses_cache && made.policy.fallback.gives_fresh();
  if (made.uses_cache) made.shared_answers = from.answers;
  if (made.shared_answers != nullptr) keep_time_for_looks(made.policy.fallback);
  if (made.uses_cache) made.fingerprint = protocol::digest_of({entry.alias, entry.original, entry.definition});
}

void directory::add_methods(const sources& from) {
  for (const route::item& prompt : prompts_->items()) {
    add_method(get_prompt, prompt.alias, prompt.upstream, from);
    add_method(complete, prompt.alias, prompt.upstream, from);
  }
  for (const route::resources::owner& owner : resources_->owners()) {
    add_method(read_resource, owner.alias, owner.index, from);
    add_method(complete, owner.alias, owner.index, from);
  }
}

// Rules for tools go by patterns that were not written with these in mind, so the policy is the default one.
void directory::add_method(std::string_view method, std::string_view alias, std::uint32_t upstream,
                           const sources& from) {
  const auto [at, is_new] = methods_.try_emplace({method, upstream});
  if (!is_new) return;
  route::entry& entry = at->second.entry;
  entry.name = std::string(alias).append(":").append(method);
  entry.upstream = upstream;
  entry.alias = alias;
  entry.original = method;
  tool& made = at->second.as_tool;
  made.entry = &entry;
  made.upstream = from.upstreams.at(upstream);
  made.policy.breaker = from.server_breaker(alias);
  made.gate = &from.breakers->tool(entry.name, made.policy.breaker);
  made.server_gate = &from.breakers->server(alias, made.policy.breaker);
  made.slot = from.recorder->tool_slot(entry.name);
  if (from.pauses != nullptr) made.pause = &from.pauses->of(entry.name);
  made.forwards = made.upstream->forwards();
  if (from.limits != nullptr) made.server_limit = from.limits->server(alias, from.server_concurrency(alias));
  made.read_only = made.repeatable = true;
}

const tool* directory::method_of(std::string_view method, std::uint32_t upstream) const {
  const auto found = methods_.find({method, upstream});
  return found != methods_.end() ? &found->second.as_tool : nullptr;
}

void directory::link_alternatives() {
  std::unordered_map<std::string_view, std::vector<const tool*>> namesakes;
  for (const tool& one : tools_) namesakes[one.entry->original].push_back(&one);
  for (tool& one : tools_) {
    for (const tool* other : namesakes[one.entry->original]) {
      if (other->entry->upstream == one.entry->upstream || one.alternatives.size() == most_alternatives) continue;
      one.alternatives.push_back(other);
    }
  }
}

void directory::prepare_steps(tool& owner, const sources& from) {
  const std::string& name = owner.entry->name;
  const cascade::plan& plan = owner.policy.fallback;
  if (!owner.entry->output_schema.empty() && !plan.steps.empty()) {
    std::string why;
    auto compiled = protocol::schema::compile(owner.entry->output_schema, &why);
    if (compiled) {
      owner.output = std::move(*compiled);
    } else {
      problems_.push_back(name +
                          ": nothing but its own stored answers can stand in, since its outputSchema cannot be "
                          "checked: " +
                          why);
    }
  }
  if (plan.uses_cache() && !owner.read_only) {
    problems_.push_back(name +
                        ": its cache step never has an answer, since the tool is not read-only; say read_only: "
                        "true if it is");
  }
  owner.steps.resize(plan.steps.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (const auto* tool = std::get_if<cascade::tool_step>(&plan.steps[i])) prepare(owner, *tool, owner.steps[i]);
    if (const auto* http = std::get_if<cascade::http_step>(&plan.steps[i])) prepare(owner, *http, from, owner.steps[i]);
    if (std::holds_alternative<cascade::model_step>(plan.steps[i])) prepare_model_step(owner, from, owner.steps[i]);
    if (const auto* fixed = std::get_if<cascade::fixed_step>(&plan.steps[i])) prepare(owner, *fixed, owner.steps[i]);
  }
}

void directory::prepare(tool& owner, const cascade::tool_step& step, prepared_step& out) {
  out.target = find(step.name);
  if (out.target == nullptr) {
    problems_.push_back(owner.entry->name + ": no upstream lists its fallback tool " + step.name);
  } else if (out.target == &owner) {
    problems_.push_back(owner.entry->name + ": it cannot be its own fallback");
  }
  const auto wrong = [&](std::string_view what, const error_code& why) {
    out.target = nullptr;  // called with other arguments than meant, it could do anything
    problems_.push_back(owner.entry->name + ": the " + std::string(what) + " " + step.name + ": " + why.message());
  };
  if (!step.arguments.empty()) {
    auto compiled = cascade::json_template::compile(step.arguments);
    if (!compiled) return wrong("arguments for", compiled.error());
    say_unknown(owner, "tool " + step.name, compiled->paths());
    out.arguments = std::move(*compiled);
  }
  if (!step.result.empty()) {
    auto compiled = cascade::result_template::compile(step.result);
    if (!compiled) return wrong("result of", compiled.error());
    out.mapping = std::move(*compiled);
  }
}

void directory::prepare(tool& owner, const cascade::http_step& step, const sources& from, prepared_step& out) {
  std::string why = "there is nothing here that can ask it";
  const std::string what = "http " + std::string(cascade::authority_of(step.url));
  if (!step.result.empty()) {
    auto compiled = cascade::result_template::compile(step.result);
    if (!compiled) {
      problems_.push_back(owner.entry->name + ": the result of " + what + ": " + compiled.error().message());
      return;
    }
    out.mapping = std::move(*compiled);
  }
  if (from.web != nullptr) out.http = prepare_http(step, owner.policy.step_breaker, *from.web, *from.breakers, why);
  if (out.http == nullptr) {
    problems_.push_back(owner.entry->name + ": its fallback " + what + " cannot be used: " + why);
    return;
  }
  std::vector<std::string> paths = out.http->url.paths();
  if (out.http->body) std::ranges::copy(out.http->body->paths(), std::back_inserter(paths));
  say_unknown(owner, what, paths);
}

void directory::prepare_model_step(const tool& owner, const sources& from, prepared_step& out) {
  if (from.model == nullptr) {
    problems_.push_back(owner.entry->name + ": there is no model for its fallback");
  } else {
    out.model = prepare_model(*from.model, owner.entry->definition, owner.policy.step_breaker, *from.breakers);
  }
}

/// `what` is the step that names these arguments of the caller's.
void directory::say_unknown(const tool& owner, std::string_view what, const std::vector<std::string>& paths) {
  for (const std::string& name : unknown_arguments(owner.entry->definition, paths)) {
    problems_.push_back(owner.entry->name + ": its fallback " + std::string(what) + " needs the argument " + name +
                        ", which is not in its inputSchema; without it the step is passed over");
  }
}

void directory::prepare(tool& owner, const cascade::fixed_step& step, prepared_step& out) {
  if (!step.structured.empty() && !is_object(step.structured)) {
    problems_.push_back(owner.entry->name + ": the structured content of its static answer is not a JSON object");
    return;
  }
  std::string why = "it has no structured content";
  if (owner.accepts(step.structured, &why)) {
    out.result = cascade::plain_result({step.text, step.structured});
  } else {
    problems_.push_back(owner.entry->name + ": its static answer does not fit its outputSchema: " + why);
  }
}

bool tool::accepts(std::string_view structured, std::string* why) const {
  if (entry->output_schema.empty()) return true;
  return output != nullptr && !structured.empty() && output->accepts(structured, why);
}

}  // namespace switchgear::call
