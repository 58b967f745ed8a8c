#include "proxy/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

#include "proxy/connection_slots.h"
#include "proxy/core.h"
#include "proxy/listener.h"
#include "proxy/listening_sockets.h"

namespace fenceline::proxy {
namespace {

using base::Result;

class RunningServer final : public Server {
 public:
  RunningServer(const ServerOptions& options, const base::Clock& clock,
                base::RequestIds& request_ids, ServerObserver& observer) {
    const std::size_t count = std::max<std::size_t>(options.cores, 1);
    for (std::size_t i = 0; i < count; ++i) {
      cores_.push_back(std::make_unique<Core>(options.tick, clock, request_ids, observer));
    }
  }

  ~RunningServer() override { stop_now(base::Milliseconds(0)); }

  Result<void> open(ListenerOptions options);
  void start();

  [[nodiscard]] std::uint16_t port(std::string_view listener) const override {
    const auto found = std::ranges::find(ports_, listener, &NamedPort::name);
    return found == ports_.end() ? std::uint16_t{0} : found->port;
  }

  bool stop(base::Milliseconds drain) override { return stop_now(drain); }

 private:
  struct NamedPort {
    std::string name;
    std::uint16_t port;
  };

  /// Runs `work` on every core and waits for all.
  template <typename Work>
  void on_every_core(Work work) {
    std::vector<std::future<void>> done;
    for (std::size_t i = 0; i < cores_.size(); ++i) {
      auto task = std::make_shared<std::packaged_task<void()>>([work, i] { work(i); });
      done.push_back(task->get_future());
      cores_[i]->post([task] { (*task)(); });
    }
    for (std::future<void>& each : done) {
      each.get();
    }
  }

  bool stop_now(base::Milliseconds drain);

  // The order matters: listeners and cores use `live_`, listeners use their core.
  LiveConnections live_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<std::vector<std::unique_ptr<Listener>>> listeners_;  ///< By core.
  std::vector<NamedPort> ports_;
  bool running_ = false;
};

Result<void> RunningServer::open(ListenerOptions options) {
  if (port(options.name) != 0) {
    return base::fail(base::ErrorKind::kInternal,
                      fmt::format("two listeners are called {}; rename one", options.name));
  }
  std::shared_ptr<TlsContext> tls;
  if (options.tls) {
    auto loaded = load_tls_context(*options.tls);
    if (!loaded) {
      return tl::unexpected(std::move(loaded).error());
    }
    tls = std::move(*loaded);
  }
  const std::size_t count = options.all_cores ? cores_.size() : 1;
  Result<ListeningSockets> opened = open_listening_sockets(options.address, options.port, count);
  if (!opened) {
    return tl::unexpected(std::move(opened).error());
  }
  ports_.push_back({options.name, opened->port});
  auto state = std::make_shared<ListenerState>(std::move(options), std::move(tls), live_);
  listeners_.resize(cores_.size());
  for (std::size_t i = 0; i < count; ++i) {
    listeners_[i].push_back(
        std::make_unique<Listener>(*cores_[i], state, std::move(opened->sockets[i])));
  }
  return {};
}

void RunningServer::start() {
  running_ = true;
  for (const auto& of_core : listeners_) {
    for (const auto& listener : of_core) {
      listener->start();
    }
  }
  for (const auto& core : cores_) {
    core->start();
  }
}

bool RunningServer::stop_now(base::Milliseconds drain) {
  if (!std::exchange(running_, false)) {
    return true;
  }
  on_every_core([this](std::size_t i) {
    if (i < listeners_.size()) {
      for (const auto& listener : listeners_[i]) {
        listener->close();
      }
    }
    cores_[i]->drain();
  });
  const bool drained = live_.wait_until_none(drain);
  if (!drained) {
    on_every_core([this](std::size_t i) { cores_[i]->abort_sessions(); });
  }
  for (const auto& core : cores_) {
    core->finish();
  }
  for (const auto& core : cores_) {
    core->join();
  }
  return drained;
}

}  // namespace

Result<std::unique_ptr<Server>> start_server(const ServerOptions& options,
                                             std::vector<ListenerOptions> listeners,
                                             const base::Clock& clock,
                                             base::RequestIds& request_ids,
                                             ServerObserver& observer) {
  auto server = std::make_unique<RunningServer>(options, clock, request_ids, observer);
  for (ListenerOptions& listener : listeners) {
    const Result<void> opened = server->open(std::move(listener));
    if (!opened) {
      return tl::unexpected(opened.error());
    }
  }
  server->start();
  return server;
}

}  // namespace fenceline::proxy
