// What the upstreams listed last, and the directory that is built of it for the call path.
#pragma once

#include "call/directory.hpp"
#include "config/gateway.hpp"
#include "observe/log.hpp"
#include "port/breakers.hpp"
#include "port/recorder.hpp"
#include "protocol/tools_list.hpp"
#include "upstream/observer.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::app {

/// The list of an upstream that goes down stays: its tools are sick, not gone. Control thread, but for tried().
class listings final : public upstream::observer {
 public:
  struct sources {
    const config::gateway& settings;
    port::breakers& breakers;
    port::recorder& recorder;
    observe::log& log;
  };

  /// `on_change` gets each new directory.
  listings(sources from, std::function<void(std::shared_ptr<const call::directory>)> on_change);

  /// The upstreams in the order of the configuration; before the first of them starts.
  void begin(std::vector<port::upstream*> upstreams);

  void listed(unsigned upstream, upstream::listing offer) override;
  void state_changed(unsigned upstream, const port::upstream_status& status) override;
  void remark(unsigned upstream, std::string_view line) override;

  /// Every upstream has answered or failed once. Any thread.
  bool all_tried() const { return untried_.load(std::memory_order_acquire) == 0; }
  std::size_t tools_of(unsigned upstream) const { return lists_[upstream].tools.size(); }

 private:
  struct list {
    std::vector<std::string> pages;  // as they came, to see whether anything changed
    std::vector<protocol::tool> tools;
    bool tried = false;
  };

  void tried(unsigned upstream);
  void rebuild();
  std::string_view alias(unsigned upstream) const { return from_.settings.upstreams[upstream].link.alias; }

  sources from_;
  std::function<void(std::shared_ptr<const call::directory>)> on_change_;
  std::vector<port::upstream*> upstreams_;
  std::vector<list> lists_;
  std::atomic<std::size_t> untried_;
};

}  // namespace switchgear::app
