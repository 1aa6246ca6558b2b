#include "app/listings.hpp"

#include "base/buffer.hpp"
#include "route/catalogue.hpp"

#include <algorithm>
#include <utility>

namespace switchgear::app {

listings::listings(sources from, std::function<void(std::shared_ptr<const call::directory>)> on_change)
    : from_(from), on_change_(std::move(on_change)), lists_(from.settings.upstreams.size()), untried_(lists_.size()) {}

void listings::begin(std::vector<port::upstream*> upstreams) {
  upstreams_ = std::move(upstreams);
}

void listings::tried(unsigned upstream) {
  if (std::exchange(lists_[upstream].tried, true)) return;
  untried_.fetch_sub(1, std::memory_order_release);
}

void listings::listed(unsigned upstream, upstream::listing offer) {
  list& mine = lists_[upstream];
  const bool first = !mine.tried;
  if (first || offer.tools != mine.pages) {
    std::vector<protocol::tool> tools;
    for (const std::string& page : offer.tools) {
      buffer padded;
      padded.append(page);
      auto read = protocol::read_tools_page(padded.view());
      if (!read) {
        // A page that cannot be read must not shorten the list in silence: the old one stays.
        from_.log.event(observe::level::warning, "tools_unreadable",
                        {{"upstream", alias(upstream)}, {"reason", read.error().message()}});
        tried(upstream);
        return;
      }
      for (const std::string& problem : read->problems) {
        from_.log.event(observe::level::warning, "tool_left_out", {{"upstream", alias(upstream)}, {"reason", problem}});
      }
      std::ranges::move(read->tools, std::back_inserter(tools));
    }
    mine.pages = std::move(offer.tools);
    mine.tools = std::move(tools);
    from_.log.event(observe::level::info, "tools_listed",
                    {{"upstream", alias(upstream)}, {"tools", std::to_string(mine.tools.size())}});
    rebuild();
  }
  tried(upstream);
}

void listings::state_changed(unsigned upstream, const port::upstream_status& status) {
  if (status.state == port::upstream_state::starting) return;
  from_.recorder.upstream_changed(alias(upstream), status.state == port::upstream_state::ready, status.reason);
  tried(upstream);
}

void listings::remark(unsigned upstream, std::string_view line) {
  from_.log.event(observe::level::info, "upstream_says", {{"upstream", alias(upstream)}, {"line", line}});
}

void listings::rebuild() {
  std::vector<route::upstream_tools> all;
  for (unsigned i = 0; i < lists_.size(); ++i) all.push_back({alias(i), i, lists_[i].tools});
  const route::naming how = from_.settings.names;
  auto catalogue = std::make_shared<const route::catalogue>(all, how);
  for (const std::string& problem : catalogue->problems()) {
    from_.log.event(observe::level::warning, "tool_left_out", {{"reason", problem}});
  }
  call::directory::sources made_of;
  made_of.catalogue = catalogue;
  made_of.upstreams = upstreams_;
  made_of.policy_for = [settings = &from_.settings](std::string_view name) { return settings->policy_for(name); };
  made_of.server_breaker = [settings = &from_.settings](std::string_view wanted) {
    const auto found = std::ranges::find_if(settings->upstreams,
                                            [&](const config::upstream& one) { return one.link.alias == wanted; });
    return found != settings->upstreams.end() ? found->breaker : settings->breaker;
  };
  made_of.breakers = &from_.breakers;
  made_of.recorder = &from_.recorder;
  std::shared_ptr<const call::directory> fresh = call::directory::build(std::move(made_of));
  for (const std::string& problem : fresh->problems()) {
    from_.log.event(observe::level::warning, "policy_problem", {{"reason", problem}});
  }
  on_change_(std::move(fresh));
}

}  // namespace switchgear::app
