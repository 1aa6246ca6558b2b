#include "call/stored.hpp"

#include "async/chain.hpp"
#include "async/worker.hpp"
#include "call/found.hpp"
#include "call/question.hpp"
#include "cascade/stand_in.hpp"
#include "protocol/scan.hpp"

#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace switchgear::call {
namespace {

using cascade::ending;
using cascade::stored_answer;

const std::optional<cascade::answer_key>& key_of(step_context& of, cascade::share whose) {
  auto& made = of.keys[static_cast<unsigned>(whose)];
  if (!made) made.emplace(question(of.called, of.call, whose));
  return *made;
}

void take(step_context& of, std::shared_ptr<const std::string> result, duration age, stored_answer where) {
  of.found.stored = std::move(result);
  of.found.result = *of.found.stored;
  of.found.age = age;
  of.found.who = cascade::served_by::cache;
  of.looked = where;
}

bool find_in_memory(step_context& of, cascade::share whose, duration max_age, stored_answer where) {
  const auto& key = key_of(of, whose);
  if (!key) return false;
  auto hit = of.with.answers.find(*key, of.now, max_age);
  if (!hit) return false;
  take(of, std::move(hit->result), hit->age, where);
  return true;
}

/// Redis is shared with whoever may write there.
bool is_object(std::string_view json) {
  protocol::token_index index;
  protocol::scanner in(json, index);
  std::string_view whole;
  return in.next() == '{' && in.skip(whole) && in.finish();
}

// It was the tool's own answer, but no SDK takes what does not fit. A schema that cannot be read does not come into it:
// the client had that answer before.
bool suits(step_context& of, std::size_t number) {
  return of.called.output == nullptr || fits(of, number, cascade::structured_of(of.found.result));
}

/// What other replicas keep, within what is left for this step. It does not go into this gateway's memory: there it
/// would be as young as this call.
boost::asio::awaitable<bool> find_elsewhere(step_context& of, const cascade::cache_step& step, std::size_t number) {
  const auto& key = key_of(of, step.share);
  if (of.called.shared_answers == nullptr || !key) co_return false;
  async::interrupt part(of.on.timers);
  const async::chain chained(of.whole, part);
  part.arm(of.machine.step_deadline(number, of.now, true));
  auto got = co_await of.called.shared_answers->find(of.on, *key, step.max_age, part);
  of.now = async::worker::now();
  if (!got || !is_object(*got->result)) co_return false;
  take(of, std::move(got->result), got->age, stored_answer::shared);
  co_return true;
}

}  // namespace

bool find_fresh(step_context& of) {
  for (const cascade::step& each : of.called.policy.fallback.steps) {
    const auto* cache = std::get_if<cascade::cache_step>(&each);
    if (cache == nullptr || cache->fresh_for <= duration::zero()) continue;
    if (find_in_memory(of, cache->share, cache->fresh_for, stored_answer::fresh)) return true;
  }
  return false;
}

boost::asio::awaitable<cascade::event> find_stored(step_context& of, const cascade::cache_step& step,
                                                   std::size_t number) {
  if (!of.called.uses_cache) co_return cascade::event{ending::miss};
  bool found = find_in_memory(of, step.share, step.max_age, stored_answer::memory);
  if (!found) found = co_await find_elsewhere(of, step, number);
  if (found) co_return cascade::event{suits(of, number) ? ending::hit : ending::unfit};
  of.looked = stored_answer::missing;
  const bool given_up = of.whole.raised() && of.whole.why() != async::interrupt::reason::deadline;
  co_return cascade::event{given_up ? ending::cancelled : ending::miss};
}

void keep(step_context& of, std::string_view result) {
  for (const auto whose : {cascade::share::principal, cascade::share::all}) {
    const duration life = of.called.policy.fallback.longest_age(whose);
    if (life <= duration::zero()) continue;
    const auto& key = key_of(of, whose);
    if (!key) return;
    of.with.answers.store(*key, result, of.now);
    if (of.called.shared_answers != nullptr) of.called.shared_answers->store(*key, result, life);
  }
}

}  // namespace switchgear::call
