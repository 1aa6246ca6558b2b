// What the upstreams listed last, and what is made of it: the directory for the call path, the offer for clients.
#pragma once

#include "call/directory.hpp"
#include "call/limiters.hpp"
#include "config/gateway.hpp"
#include "observe/log.hpp"
#include "port/breakers.hpp"
#include "port/offer.hpp"
#include "port/recorder.hpp"
#include "port/web.hpp"
#include "protocol/definitions_list.hpp"
#include "protocol/server_abilities.hpp"
#include "protocol/tools_list.hpp"
#include "upstream/observer.hpp"

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::app {

/// The two belong together: what is offered can be called.
struct published {
  std::shared_ptr<const call::directory> directory;
  std::shared_ptr<const port::offer> offer;
};

/// The lists of an upstream that goes down stay: its tools are sick, not gone. Control thread, but for all_tried().
class listings final : public upstream::observer {
 public:
  struct sources {
    const config::gateway& settings;
    port::breakers& breakers;
    port::recorder& recorder;
    observe::log& log;
    port::web* web = nullptr;          ///< null: no http step can run
    call::pauses* pauses = nullptr;    ///< null: no tool is left alone
    cascade::loops* loops = nullptr;   ///< null: no call is taken for a loop
    port::answers* answers = nullptr;  ///< kept by other replicas; null: nobody is asked
  };

  /// Who is told; each may be empty.
  struct hearers {
    /// Something else is offered than before.
    std::function<void(const published&)> changed;
    /// A resource, by the URI that clients know.
    std::function<void(std::string_view uri)> resource_updated;
    /// Any other notification that belongs to no request.
    std::function<void(unsigned upstream, std::string_view text, const protocol::message& seen)> notified;
  };

  listings(sources from, hearers told);

  /// The upstreams in the order of the configuration; before the first of them starts. Tells nobody.
  void begin(std::vector<port::upstream*> upstreams);

  /// What holds now; not before begin().
  const published& now() const { return now_; }

  void listed(unsigned upstream, upstream::listing offer) override;
  void state_changed(unsigned upstream, const port::upstream_status& status) override;
  void late_answer(unsigned upstream) override { from_.recorder.late_answer(alias(upstream)); }
  void credential_changed(unsigned upstream, int status) override;
  void remark(unsigned upstream, std::string_view line) override;
  void notified(unsigned upstream, std::string_view text, const protocol::message& seen) override;

  /// Every upstream has answered or failed once. Any thread.
  bool all_tried() const { return all_tried_.load(std::memory_order_acquire); }
  /// Control thread.
  const call::limiters& limits() const { return limits_; }
  std::size_t tools_of(unsigned upstream) const { return lists_[upstream].tools.size(); }

 private:
  struct list {
    upstream::listing raw;  // as it came, to see whether anything changed
    protocol::server_abilities abilities;
    std::vector<protocol::tool> tools;
    std::vector<protocol::definition> prompts, resources, templates;
    bool was_listed = false;
    bool tried = false;
  };

  void take(unsigned upstream, upstream::listing offer);
  void read_tools(unsigned upstream, const upstream::listing& offer);
  void read_definitions(unsigned upstream, protocol::definition_kind kind, const std::vector<std::string>& pages,
                        std::vector<protocol::definition>& into);
  void say_left_out(unsigned upstream, const std::vector<std::string>& problems);

  void settle(bool changed);
  std::shared_ptr<const call::directory> build_directory();
  std::shared_ptr<const port::offer> build_offer(bool all_tried) const;
  std::string_view alias(unsigned upstream) const { return from_.settings.upstreams[upstream].link.alias; }

  sources from_;
  hearers told_;
  std::vector<port::upstream*> upstreams_;
  std::vector<list> lists_;
  call::limiters limits_;
  std::deque<cascade::retry_budget> retries_;  // in the order of the upstreams; they outlive every directory
  std::map<std::string, cascade::latency_record, std::less<>> latencies_;  // by exported name; as retries_
  std::shared_ptr<const route::catalogue> tools_;
  std::shared_ptr<const route::table<route::item>> prompts_;
  std::shared_ptr<const route::resources> resources_;
  published now_;
  std::atomic<bool> all_tried_;
};

}  // namespace switchgear::app
