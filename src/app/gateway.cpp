#include "app/gateway.hpp"

#include "app/listings.hpp"
#include "app/tool_servers.hpp"
#include "async/worker.hpp"
#include "call/pauses.hpp"
#include "call/service.hpp"
#include "cascade/answer_cache.hpp"
#include "console/admin.hpp"
#include "listen/server.hpp"
#include "listen/stdio_front.hpp"
#include "observe/log.hpp"
#include "observe/metrics.hpp"
#include "peers/flusher.hpp"
#include "peers/memory_board.hpp"
#include "peers/redis/answers.hpp"
#include "peers/redis/board.hpp"
#include "peers/redis/fleet.hpp"
#include "upstream/web_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <stdexcept>
#include <sys/random.h>
#include <thread>
#include <utility>
#include <vector>

namespace switchgear::app {

namespace asio = boost::asio;

namespace {

std::uint64_t fresh_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

template <std::size_t Size>
std::optional<std::array<unsigned char, Size>> random_bytes() {
  std::array<unsigned char, Size> bytes{};
  if (::getentropy(bytes.data(), bytes.size()) != 0) return std::nullopt;
  return bytes;
}

std::array<unsigned char, 32> fresh_secret() {
  const auto secret = random_bytes<32>();
  if (!secret) throw std::runtime_error("the system has no random numbers");
  return *secret;
}

unsigned data_threads(const config::gateway& settings) {
  if (settings.threads != 0) return settings.threads;
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

// The order of the members is the order of dependence: what stands above outlives what stands below.
class gateway::wiring {
 public:
  wiring(config::gateway settings, observe::log& log, doors open)
      : settings_(std::move(settings)),
        doors_(open),
        log_(log),
        workers_(make_workers(data_threads(settings_))),
        metrics_(static_cast<unsigned>(workers_.size()), &log_),
        shared_(make_shared_board()),
        alone_(&async::worker::now, fresh_seed()),
        breakers_(control(), shared_ ? static_cast<port::board&>(*shared_) : alone_, metrics_,
                  static_cast<unsigned>(workers_.size())),
        answers_({settings_.cache.memory, settings_.cache.entry}),
        states_(fresh_secret(), &random_bytes<std::tuple_size_v<protocol::seal_nonce>>),
        fleet_(make_fleet()),
        web_(all_workers(), settings_.max_answer),
        pauses_(fleet_ ? &fleet_->pauses() : nullptr),
        shared_answers_(make_shared_answers()),
        listings_({settings_, breakers_, metrics_, log_, &web_, &pauses_, &loops_, shared_answers_.get()},
                  {.changed = [this](const published& fresh) { use(fresh); },
                   .resource_updated = [this](std::string_view uri) { server_->clients().resource_updated(uri); },
                   .notified = {}}) {}

  ~wiring() { stop(); }

  /// Empty, or why the gateway cannot start.
  std::string start();
  void stop();
  void serve(piped_client client);

  bool ready() const { return listings_.all_tried() && knows_fleet() && !stopping_.load(std::memory_order_relaxed); }

  std::uint16_t mcp_port() const { return server_->port(); }
  std::uint16_t admin_port() const { return admin_ ? admin_->port() : 0; }

 private:
  static std::vector<std::unique_ptr<async::worker>> make_workers(unsigned data_threads) {
    std::vector<std::unique_ptr<async::worker>> workers;
    for (unsigned i = 0; i <= data_threads; ++i) workers.push_back(std::make_unique<async::worker>(i));
    return workers;
  }

  std::unique_ptr<peers::redis::board> make_shared_board() {
    auto where = settings_.shared_state();
    if (!where) return nullptr;
    return std::make_unique<peers::redis::board>(control().io, *std::move(where), fresh_seed(), metrics_);
  }

  std::unique_ptr<peers::redis::fleet> make_fleet() {
    auto where = settings_.shared_state();
    if (!where) return nullptr;
    const auto secret = fresh_secret();
    return std::make_unique<peers::redis::fleet>(control().io, *where, fresh_seed(),
                                                 std::string(secret.begin(), secret.end()));
  }

  /// A connection that no tool has a use for is not made.
  std::unique_ptr<peers::redis::answers> make_shared_answers() {
    auto where = settings_.shared_state();
    const bool used = std::ranges::any_of(
        settings_.tools, [this](const auto& rule) { return settings_.policy_for(rule.pattern).fallback.uses_cache(); });
    if (!where || !used || settings_.cache.shared_memory == 0) return nullptr;
    return std::make_unique<peers::redis::answers>(control().io, *where, fresh_seed(), settings_.cache.shared_memory);
  }
  port::answer_figures kept_answers() const;

  /// A session that is opened before the fleet's secret is known is one that no other replica can read, and a call that
  /// is made before its pauses are known may be one too many. Without Redis there is no fleet to wait for.
  bool knows_fleet() const {
    constexpr duration longest_wait = std::chrono::seconds(2);
    const bool knows = !fleet_ || (fleet_known_.load(std::memory_order_relaxed) && fleet_->pauses().known());
    return knows || async::worker::now() - started_ >= longest_wait;
  }

  async::worker& control() { return *workers_.back(); }
  std::vector<async::worker*> all_workers();
  std::vector<async::worker*> data_workers();

  void make_front();
  std::string open_addresses();
  console::admin_sources sources();
  void use(const published& fresh);
  void watch();
  void use_secret(std::string_view secret);
  asio::awaitable<void> shut_down();

  const config::gateway settings_;
  const doors doors_;
  observe::log& log_;
  std::vector<std::unique_ptr<async::worker>> workers_;
  observe::metrics metrics_;
  std::unique_ptr<peers::redis::board> shared_;  // null: this gateway keeps its breakers to itself
  peers::memory_board alone_;
  peers::flusher breakers_;
  cascade::answer_cache answers_;
  call::states states_;
  std::unique_ptr<peers::redis::fleet> fleet_;  // null: this gateway's clients are its own
  upstream::web_client web_;
  cascade::loops loops_;
  call::pauses pauses_;
  std::unique_ptr<peers::redis::answers> shared_answers_;  // null: what this gateway keeps is its own
  listings listings_;
  std::vector<std::unique_ptr<call::service>> services_;
  std::unique_ptr<listen::server> server_;
  std::unique_ptr<listen::stdio_front> piped_;  // on the first worker
  std::unique_ptr<tool_servers> upstreams_;
  std::vector<std::string> watched_;  // URIs as clients know them; control thread
  std::unique_ptr<console::admin> admin_;
  std::vector<asio::executor_work_guard<asio::io_context::executor_type>> guards_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> fleet_known_{false};
  time_point started_{};
};

std::vector<async::worker*> gateway::wiring::all_workers() {
  std::vector<async::worker*> all;
  for (auto& one : workers_) all.push_back(one.get());
  return all;
}

std::vector<async::worker*> gateway::wiring::data_workers() {
  std::vector<async::worker*> data = all_workers();
  data.pop_back();
  return data;
}

// Who answers clients, before there is anything to answer with: the upstreams need to know whom they can talk to.
void gateway::wiring::make_front() {
  call::directory::sources none;
  none.catalogue = std::make_shared<const route::catalogue>();
  none.breakers = &breakers_;
  none.recorder = &metrics_;
  const std::shared_ptr<const call::directory> empty = call::directory::build(std::move(none));
  std::vector<port::call_handler*> handlers;
  for (std::size_t i = 0; i + 1 < workers_.size(); ++i) {
    services_.push_back(std::make_unique<call::service>(empty, breakers_, metrics_, answers_, states_, fresh_seed()));
    handlers.push_back(services_.back().get());
  }
  listen::clientele_links links{.control = control(), .fleet = fleet_.get()};
  links.on_watch = [this](std::vector<std::string> uris) {
    watched_ = std::move(uris);
    watch();
  };
  links.on_session_end = [this](std::string_view session) { upstreams_->client_gone(session); };
  server_ = std::make_unique<listen::server>(data_workers(), settings_.listening(), std::move(handlers), metrics_,
                                             std::move(links));
}

// States and session ids live as long as each other, so they hang on the same secret.
void gateway::wiring::use_secret(std::string_view secret) {
  if (settings_.listen.session_key.empty()) states_.use(secret);
  fleet_known_.store(true, std::memory_order_relaxed);
}

port::answer_figures gateway::wiring::kept_answers() const {
  port::answer_figures all{.bytes = answers_.bytes(), .count = answers_.size()};
  if (!shared_answers_) return all;
  const auto shared = shared_answers_->figures();
  all.told = shared.told;
  all.dropped = shared.dropped;
  all.asked = shared.asked;
  all.unanswered = shared.unanswered;
  return all;
}

console::admin_sources gateway::wiring::sources() {
  console::admin_sources from;
  from.metrics = [this] {
    return metrics_.expose(&breakers_, pauses_.shown(async::worker::now()), listings_.limits().figures(),
                           kept_answers());
  };
  from.ready = [this] {
    if (ready()) return console::readiness{true, {}};
    return console::readiness{false, stopping_.load() ? "shutting down" : "the upstreams are being tried"};
  };
  from.upstreams = [this] {
    std::vector<console::upstream_row> rows;
    for (unsigned i = 0; i < settings_.upstreams.size(); ++i) {
      rows.push_back({settings_.upstreams[i].link.alias, upstreams_->all()[i]->status(), listings_.tools_of(i)});
    }
    return rows;
  };
  from.breakers = &breakers_;
  return from;
}

std::string gateway::wiring::open_addresses() {
  const auto where = [](const std::string& address, std::uint16_t port) {
    const bool v6 = address.find(':') != std::string::npos;
    return (v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
  };
  const error_code failed = doors_.mcp ? server_->listen() : error_code();
  if (failed) {
    return "cannot listen on " + where(settings_.listen.address, settings_.listen.port) + ": " + failed.message();
  }
  if (!doors_.admin) return {};
  auto admin = console::admin::listen(
      control(), {settings_.admin.address, settings_.admin.port, settings_.listen.allowed_hosts}, sources());
  if (!admin) {
    return "cannot listen on " + where(settings_.admin.address, settings_.admin.port) +
           " (admin): " + admin.error().message();
  }
  admin_ = std::move(*admin);
  return {};
}

std::string gateway::wiring::start() {
  if (!settings_.listen.session_key.empty()) states_.use(settings_.listen.session_key);
  started_ = async::worker::now();
  if (fleet_) fleet_->on_key([this](std::string_view key) { use_secret(key); });
  make_front();
  try {
    upstreams_ = std::make_unique<tool_servers>(all_workers(), settings_, listings_, server_->clients(), &fresh_seed);
  } catch (const std::exception& problem) {
    return std::string("cannot set up the upstreams: ") + problem.what();
  }
  listings_.begin(upstreams_->all());
  for (auto& service : services_) service->use(listings_.now().directory);
  server_->clients().use(listings_.now().offer);
  if (std::string problem = open_addresses(); !problem.empty()) return problem;

  if (shared_) shared_->start();
  if (fleet_) fleet_->start();
  if (shared_answers_) shared_answers_->start();
  breakers_.start();
  asio::post(control().io, [this] { upstreams_->start(); });
  for (auto& one : workers_) {
    guards_.push_back(asio::make_work_guard(one->io));
    threads_.emplace_back([&io = one->io] { io.run(); });
  }
  return {};
}

void gateway::wiring::use(const published& fresh) {
  for (std::size_t i = 0; i < services_.size(); ++i) {
    asio::post(workers_[i]->io, [service = services_[i].get(), known = fresh.directory] { service->use(known); });
  }
  server_->clients().use(fresh.offer);
  watch();
}

void gateway::wiring::watch() {
  upstreams_->watch(watched_, [known = listings_.now().directory](std::string_view uri) {
    const call::destination where = known->find_resource(uri);
    return tool_servers::place{where.through != nullptr ? where.through->upstream : nullptr, where.target};
  });
}

void gateway::wiring::serve(piped_client client) {
  asio::io_context& io = workers_.front()->io;
  asio::post(io, [this, &io, client = std::move(client)] {
    piped_ = std::make_unique<listen::stdio_front>(server_->clients().at(0), client.input, client.output);
    asio::co_spawn(io, piped_->run(), [this, on_end = client.on_end](std::exception_ptr) {
      piped_.reset();
      on_end();
    });
  });
}

asio::awaitable<void> gateway::wiring::shut_down() {
  co_await server_->drain(control());
  // The other replicas may have the places of probes that this one will not make.
  co_await breakers_.finish();
  co_await upstreams_->stop();
  if (admin_) admin_->stop();
}

void gateway::wiring::stop() {
  if (stopping_.exchange(true)) return;
  if (!threads_.empty()) {
    asio::co_spawn(control().io, shut_down(), asio::use_future).wait();
    breakers_.stop();
    if (shared_) shared_->stop();
    if (fleet_) fleet_->stop();
    if (shared_answers_) shared_answers_->stop();
    guards_.clear();
    for (auto& one : workers_) one->io.stop();
    for (std::thread& one : threads_) one.join();
    threads_.clear();
  }
  // Before anything that a suspended coroutine may refer to goes away.
  for (auto& one : workers_) one->io.abandon();
}

gateway::gateway(std::unique_ptr<wiring> parts) : wiring_(std::move(parts)) {}
gateway::~gateway() = default;

boost::system::result<std::unique_ptr<gateway>, std::string> gateway::start(config::gateway settings, observe::log& log,
                                                                            doors open) {
  auto parts = std::make_unique<wiring>(std::move(settings), log, open);
  if (std::string problem = parts->start(); !problem.empty()) return problem;
  return std::unique_ptr<gateway>(new gateway(std::move(parts)));
}

std::uint16_t gateway::mcp_port() const {
  return wiring_->mcp_port();
}
std::uint16_t gateway::admin_port() const {
  return wiring_->admin_port();
}
bool gateway::ready() const {
  return wiring_->ready();
}
void gateway::serve(piped_client client) {
  wiring_->serve(std::move(client));
}
void gateway::stop() {
  wiring_->stop();
}

}  // namespace switchgear::app
