// Everything that the call path needs to know of what can be called, ready made: an immutable snapshot that all workers
// share.
#pragma once

#include "call/prepare_http.hpp"
#include "cascade/hedge.hpp"
#include "cascade/loops.hpp"
#include "cascade/result_template.hpp"
#include "cascade/retry.hpp"
#include "cascade/template.hpp"
#include "port/answers.hpp"
#include "port/breakers.hpp"
#include "port/model.hpp"
#include "port/policy.hpp"
#include "port/recorder.hpp"
#include "port/upstream.hpp"
#include "protocol/canonical.hpp"
#include "protocol/schema.hpp"
#include "route/catalogue.hpp"
#include "route/resources.hpp"
#include "route/table.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::call {

struct tool;
class limiter;
class limiters;
class pauses;
class tool_pause;
struct prepared_model;

/// A step of the cascade, resolved. Which members are set follows from the policy's step at the same place.
struct prepared_step {
  const tool* target = nullptr;                     ///< of a tool step; null: there is no such tool now
  std::optional<cascade::json_template> arguments;  ///< of a tool step; unset: the caller's own
  std::shared_ptr<const prepared_http> http;        ///< of an http step; null: it cannot be used
  std::shared_ptr<const prepared_model> model;      ///< of a model step; null: there is no model
  std::optional<cascade::result_template> mapping;  ///< what is taken of the answer; unset: all of it
  std::string result;                               ///< of a fixed step: the whole result; empty: it does not fit
};

/// A tool as the call path sees it, or one server's prompts, resources or completions, which have a breaker of their
/// own together. Lives as long as its directory; gates and upstreams outlive that.
struct tool {
  const route::entry* entry = nullptr;
  port::upstream* upstream = nullptr;
  breaker::gate* gate = nullptr;         ///< of the tool's scope
  breaker::gate* server_gate = nullptr;  ///< of its upstream's scope
  port::tool_policy policy;
  std::shared_ptr<const protocol::schema> output;  ///< null: the tool has no outputSchema that can be checked
  std::uint32_t slot = 0;                          ///< port::recorder::tool_slot
  cascade::retry_budget* retries = nullptr;        ///< its upstream's; null: no call is made again
  std::shared_ptr<limiter> limit;                  ///< null: none of its own
  std::shared_ptr<limiter> server_limit;           ///< its upstream's; null: none
  cascade::loops* loops = nullptr;                 ///< null: no call of it is taken for a loop
  tool_pause* pause = nullptr;                     ///< null: it is not left alone when it asks for that

  cascade::latency_record* latency = nullptr;  ///< set: a call that takes longer than usual gets a second try beside it
  std::string_view idempotency_key;            ///< the argument that it knows a repeated call by; empty: none

  bool forwards = false;     ///< its calls go with their caller's credential
  bool read_only = false;    ///< its answers may be stored; the operator's word, else the server's hint
  bool repeatable = false;   ///< read-only or idempotent: a second call does no harm
  bool uses_cache = false;   ///< its answers are worth storing: read_only, and a step that looks for them
  bool gives_fresh = false;  ///< of these, some are given without a call
  port::answers* shared_answers = nullptr;  ///< when uses_cache: what other replicas keep; null: nobody is asked

  std::vector<prepared_step> steps;       ///< one for each of policy.fallback.steps
  std::vector<const tool*> alternatives;  ///< tools of other upstreams that have the same name there
  protocol::digest fingerprint;           ///< of its definition, when uses_cache: other definition, other answers

  bool limited() const { return limit || server_limit; }

  /// Whether an answer with this structuredContent (JSON; empty: none) is one that a client of the tool can take. False
  /// too when the outputSchema could not be compiled. `why` as in protocol::schema::accepts.
  bool accepts(std::string_view structured, std::string* why = nullptr) const;
};

/// Where a request goes that calls no tool.
struct destination {
  const tool* through = nullptr;  ///< read-only and without stand-ins; null: nobody knows what is asked for
  std::string_view target;        ///< the server's own name or URI; a view of the directory or of the argument
};

class directory {
 public:
  /// What a directory is made of. All but the tables must outlive it.
  struct sources {
    std::shared_ptr<const route::catalogue> catalogue;
    std::vector<port::upstream*> upstreams;  ///< by route::entry::upstream
    std::function<port::tool_policy(std::string_view exported_name)> policy_for;
    std::function<breaker::settings(std::string_view alias)> server_breaker;
    port::breakers* breakers = nullptr;
    port::recorder* recorder = nullptr;
    std::vector<cascade::retry_budget*> retries;  ///< as upstreams; empty: no call is made again
    std::function<cascade::latency_record*(std::string_view exported_name)> latency_of;  ///< empty: no hedging
    std::shared_ptr<const route::table<route::item>> prompts;                            ///< null: none
    std::shared_ptr<const route::resources> resources;                                   ///< null: none
    port::web* web = nullptr;                                                            ///< null: no http step can run
    port::model* model = nullptr;      ///< null: no model step can run
    call::pauses* pauses = nullptr;    ///< null: no tool is left alone
    cascade::loops* loops = nullptr;   ///< null: no call is taken for a loop
    call::limiters* limits = nullptr;  ///< null: nothing is limited
    std::function<cascade::concurrency_policy(std::string_view alias)> server_concurrency;  ///< set if `limits` is
    port::answers* answers = nullptr;  ///< kept by other replicas; null: nobody is asked
  };

  /// Control thread. Never fails as a whole: what a policy asks for and cannot be had is in problems(), and that step
  /// is passed over when its turn comes.
  static std::shared_ptr<const directory> build(sources from);

  /// Null if there is no such tool. One hash of the name.
  const tool* find(std::string_view exported_name) const;

  /// prompts/get; the breaker is `ALIAS:prompts/get`.
  destination find_prompt(std::string_view exported_name) const;
  /// resources/read and what else names a URI; the breaker is `ALIAS:resources/read`.
  destination find_resource(std::string_view uri) const;
  /// completion/complete for a prompt's name or, if that is empty, for a URI or template; `ALIAS:completion/complete`.
  destination find_completion(std::string_view prompt, std::string_view uri_or_template) const;

  const route::catalogue& catalogue() const { return *catalogue_; }
  /// One line each, for the log and `check`.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  /// A server's requests of one method.
  struct server_method {
    route::entry entry;
    tool as_tool;
  };

  explicit directory(const sources& from);
  void add(const route::entry& entry, const sources& from);
  void add_methods(const sources& from);
  void add_method(std::string_view method, std::string_view alias, std::uint32_t upstream, const sources& from);
  const tool* method_of(std::string_view method, std::uint32_t upstream) const;
  void link_alternatives();
  void prepare_steps(tool& owner, const sources& from);
  void prepare(tool& owner, const cascade::tool_step& step, prepared_step& out);
  void prepare(tool& owner, const cascade::http_step& step, const sources& from, prepared_step& out);
  void prepare(tool& owner, const cascade::fixed_step& step, prepared_step& out);
  void prepare_model_step(const tool& owner, const sources& from, prepared_step& out);
  void say_unknown(const tool& owner, std::string_view what, const std::vector<std::string>& paths);

  std::shared_ptr<const route::catalogue> catalogue_;
  std::shared_ptr<const route::table<route::item>> prompts_;
  std::shared_ptr<const route::resources> resources_;
  std::vector<tool> tools_;  // one for each entry of the catalogue, in its order
  std::map<std::pair<std::string_view, std::uint32_t>, server_method> methods_;  // by method and upstream
  std::vector<std::string> problems_;
};

}  // namespace switchgear::call
