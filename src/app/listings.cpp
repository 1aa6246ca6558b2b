#include "app/listings.hpp"

#include "app/offers.hpp"
#include "route/prompts.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace switchgear::app {

using observe::level;
using protocol::definition_kind;

namespace {

// What all pages hold together, and what they had to leave out; nothing when one of them cannot be read.
template <class Page, class Entry>
result<Page> read_all(const std::vector<std::string>& pages, std::vector<Entry> Page::* entries,
                      const std::function<result<Page>(std::string_view)>& read) {
  Page all;
  for (const std::string& text : pages) {
    auto page = read(text);
    if (!page) return page.error();
    std::ranges::move((*page).*entries, std::back_inserter(all.*entries));
    std::ranges::move(page->problems, std::back_inserter(all.problems));
  }
  return all;
}

std::string_view words_for(definition_kind kind) {
  switch (kind) {
    case definition_kind::prompt:
      return "prompts";
    case definition_kind::resource:
      return "resources";
    case definition_kind::resource_template:
      return "resource templates";
  }
  return {};
}

}  // namespace

listings::listings(sources from, hearers told)
    : from_(from), told_(std::move(told)), lists_(from.settings.upstreams.size()), all_tried_(lists_.empty()) {
  for (const config::upstream& each : from_.settings.upstreams) retries_.emplace_back(each.retry_budget);
}

void listings::begin(std::vector<port::upstream*> upstreams) {
  upstreams_ = std::move(upstreams);
  now_.directory = build_directory();
  now_.offer = build_offer(all_tried());
}

void listings::listed(unsigned upstream, upstream::listing offer) {
  const list& mine = lists_[upstream];
  const bool changed = !mine.was_listed || offer != mine.raw;
  if (changed) {
    take(upstream, std::move(offer));
    now_.directory = build_directory();
  }
  lists_[upstream].tried = true;
  settle(changed);
}

// A kind of which a page cannot be read keeps its old list: that must not get shorter in silence.
void listings::take(unsigned upstream, upstream::listing offer) {
  list& mine = lists_[upstream];
  mine.abilities = protocol::read_server_abilities(offer.capabilities);
  if (offer.tools != mine.raw.tools || offer.era != mine.raw.era) read_tools(upstream, offer);
  if (offer.prompts != mine.raw.prompts) {
    read_definitions(upstream, definition_kind::prompt, offer.prompts, mine.prompts);
  }
  if (offer.resources != mine.raw.resources) {
    read_definitions(upstream, definition_kind::resource, offer.resources, mine.resources);
  }
  if (offer.templates != mine.raw.templates) {
    read_definitions(upstream, definition_kind::resource_template, offer.templates, mine.templates);
  }
  mine.raw = std::move(offer);
  mine.was_listed = true;
  from_.log.event(level::info, "listed",
                  {{"upstream", alias(upstream)},
                   {"tools", std::to_string(mine.tools.size())},
                   {"prompts", std::to_string(mine.prompts.size())},
                   {"resources", std::to_string(mine.resources.size())},
                   {"templates", std::to_string(mine.templates.size())}});
}

void listings::read_tools(unsigned upstream, const upstream::listing& offer) {
  auto all = read_all<protocol::tools_page>(offer.tools, &protocol::tools_page::tools, &protocol::read_tools_page);
  if (!all) {
    from_.log.event(level::warning, "unreadable",
                    {{"upstream", alias(upstream)}, {"list", "tools"}, {"reason", all.error().message()}});
    return;
  }
  // A modern server rejects a call whose headers do not follow its annotations, and bad ones cannot be followed.
  if (offer.era == protocol::era::modern) {
    std::erase_if(all->tools, [&](const protocol::tool& each) {
      const std::string& why = each.headers.problem;
      if (!why.empty()) all->problems.push_back("tool " + each.name + " is left out: " + why);
      return !why.empty();
    });
  }
  say_left_out(upstream, all->problems);
  lists_[upstream].tools = std::move(all->tools);
}

void listings::read_definitions(unsigned upstream, definition_kind kind, const std::vector<std::string>& pages,
                                std::vector<protocol::definition>& into) {
  auto all = read_all<protocol::definitions_page>(
      pages, &protocol::definitions_page::definitions,
      [kind](std::string_view page) { return protocol::read_definitions_page(kind, page); });
  if (!all) {
    from_.log.event(level::warning, "unreadable",
                    {{"upstream", alias(upstream)}, {"list", words_for(kind)}, {"reason", all.error().message()}});
    return;
  }
  say_left_out(upstream, all->problems);
  into = std::move(all->definitions);
}

void listings::say_left_out(unsigned upstream, const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) {
    from_.log.event(level::warning, "left_out", {{"upstream", alias(upstream)}, {"reason", problem}});
  }
}

void listings::state_changed(unsigned upstream, const port::upstream_status& status) {
  if (status.state == port::upstream_state::starting) return;
  from_.recorder.upstream_changed(alias(upstream), status.state == port::upstream_state::ready, status.reason);
  lists_[upstream].tried = true;
  settle(false);
}

void listings::credential_changed(unsigned upstream, int status) {
  from_.recorder.credential_changed(alias(upstream), status);
}

void listings::remark(unsigned upstream, std::string_view line) {
  from_.log.event(level::info, "upstream_says", {{"upstream", alias(upstream)}, {"line", line}});
}

void listings::notified(unsigned upstream, std::string_view text, const protocol::message& seen) {
  if (seen.method == "notifications/resources/updated" && !seen.uri_text.empty()) {
    if (told_.resource_updated) told_.resource_updated(resources_->exported(upstream, seen.uri_text));
  } else if (told_.notified) {
    told_.notified(upstream, text, seen);
  }
}

// Once all were tried, what none of them has is offered no longer. Who sees that all were must see that offer too.
void listings::settle(bool changed) {
  const bool all = std::ranges::all_of(lists_, &list::tried);
  if (changed || all != all_tried()) {
    now_.offer = build_offer(all);
    if (told_.changed) told_.changed(now_);
  }
  all_tried_.store(all, std::memory_order_release);
}

std::shared_ptr<const call::directory> listings::build_directory() {
  std::vector<route::upstream_tools> tools;
  std::vector<route::upstream_prompts> prompts;
  std::vector<route::upstream_resources> resources;
  for (unsigned i = 0; i < lists_.size(); ++i) {
    const list& each = lists_[i];
    tools.push_back({alias(i), i, each.tools});
    prompts.push_back({alias(i), i, each.prompts});
    if (each.abilities.resources) resources.push_back({alias(i), i, each.resources, each.templates});
  }
  const route::naming how = from_.settings.names;
  tools_ = std::make_shared<const route::catalogue>(tools, how);
  prompts_ = std::make_shared<const route::table<route::item>>(route::merged_prompts(prompts, how));
  resources_ = std::make_shared<const route::resources>(resources);
  for (const auto* problems : {&tools_->problems(), &prompts_->problems(), &resources_->problems()}) {
    for (const std::string& problem : *problems) from_.log.event(level::warning, "left_out", {{"reason", problem}});
  }

  call::directory::sources made_of;
  made_of.catalogue = tools_;
  made_of.upstreams = upstreams_;
  made_of.policy_for = [settings = &from_.settings](std::string_view name) { return settings->policy_for(name); };
  made_of.server_breaker = [settings = &from_.settings](std::string_view wanted) {
    const auto found = std::ranges::find_if(settings->upstreams,
                                            [&](const config::upstream& one) { return one.link.alias == wanted; });
    return found != settings->upstreams.end() ? found->breaker : settings->breaker;
  };
  made_of.limits = &limits_;
  made_of.server_concurrency = [settings = &from_.settings](std::string_view wanted) {
    const auto found = std::ranges::find_if(settings->upstreams,
                                            [&](const config::upstream& one) { return one.link.alias == wanted; });
    return found != settings->upstreams.end() ? found->concurrency : cascade::concurrency_policy{};
  };
  made_of.breakers = &from_.breakers;
  made_of.recorder = &from_.recorder;
  for (cascade::retry_budget& each : retries_) made_of.retries.push_back(&each);
  made_of.latency_of = [this](std::string_view name) { return &latencies_[std::string(name)]; };
  made_of.prompts = prompts_;
  made_of.resources = resources_;
  made_of.web = from_.web;
  made_of.loops = from_.loops;
  made_of.pauses = from_.pauses;
  made_of.answers = from_.answers;
  std::shared_ptr<const call::directory> fresh = call::directory::build(std::move(made_of));
  // Each list that changes makes a new directory, and most of its problems are those of the one before.
  for (const std::string& problem : fresh->problems()) {
    const bool known =
        now_.directory && std::ranges::find(now_.directory->problems(), problem) != now_.directory->problems().end();
    if (!known) from_.log.event(level::warning, "policy_problem", {{"reason", problem}});
  }
  return fresh;
}

std::shared_ptr<const port::offer> listings::build_offer(bool all_tried) const {
  std::vector<introduction> said;
  for (unsigned i = 0; i < lists_.size(); ++i) {
    said.push_back({alias(i), lists_[i].abilities, lists_[i].raw.instructions});
  }
  return std::make_shared<const port::offer>(merged_offer(
      said,
      {tools_->definitions(), prompts_->definitions(), resources_->definitions(), resources_->template_definitions()},
      all_tried));
}

}  // namespace switchgear::app
