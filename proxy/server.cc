#include "proxy/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <stdexcept>
#include <utility>

#include "proxy/connection_slots.h"
#include "proxy/core.h"
#include "proxy/listener.h"
#include "proxy/listening_sockets.h"

namespace fenceline::proxy {
namespace {

using base::Result;

/// One listener as it runs.
struct ActiveListener {
  std::shared_ptr<ListenerState> state;
  ListenerSetup setup;
  std::uint16_t port = 0;
  std::vector<std::shared_ptr<Listener>> sockets;  ///< By core, from core 0 on.

  [[nodiscard]] const ListenerOptions& options() const { return *setup.options; }
};

/// A listener that is to run, with everything done that can fail.
struct NextListener {
  ActiveListener active;
  const ActiveListener* before = nullptr;  ///< Null: there is no listener of this name.
  bool keeps_sockets = false;
  bool ends_connections = false;  ///< Those that `before` has accepted.
};

Result<std::shared_ptr<TlsContext>> load_tls(const ListenerOptions& options) {
  if (!options.tls) {
    return nullptr;
  }
  return load_tls_context(*options.tls);
}

bool same_sockets(const ListenerOptions& first, const ListenerOptions& second) {
  return first.address == second.address && first.port == second.port &&
         first.all_cores == second.all_cores;
}

class RunningServer final : public Server {
 public:
  RunningServer(const ServerOptions& options, const base::Clock& clock,
                base::RequestIds& request_ids, ServerObserver& observer) {
    const std::size_t count = std::max<std::size_t>(options.cores, 1);
    for (std::size_t i = 0; i < count; ++i) {
      cores_.push_back(std::make_unique<Core>(options, clock, request_ids, observer));
    }
  }

  ~RunningServer() override { stop_now(base::Milliseconds(0)); }

  Result<void> start(std::vector<ListenerOptions> listeners);

  [[nodiscard]] std::uint16_t port(std::string_view listener) const override {
    const ActiveListener* found = find(listener);
    return found == nullptr ? std::uint16_t{0} : found->port;
  }

  Result<void> replace_listeners(std::vector<ListenerOptions> listeners) override;

  bool stop(base::Milliseconds drain) override { return stop_now(drain); }

 private:
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

  [[nodiscard]] const ActiveListener* find(std::string_view name) const;
  Result<std::vector<NextListener>> prepare(std::vector<ListenerOptions> listeners);
  Result<NextListener> prepare_one(ListenerOptions options);
  Result<void> open_sockets(ActiveListener& listener);
  void switch_core(std::size_t core, const std::vector<NextListener>& next);
  bool stop_now(base::Milliseconds drain);

  // The order matters: listeners and cores use `live_`, listeners use their core.
  LiveConnections live_;
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<ActiveListener> listeners_;
  bool running_ = false;
};

const ActiveListener* RunningServer::find(std::string_view name) const {
  const auto found = std::ranges::find_if(
      listeners_, [name](const ActiveListener& each) { return each.state->name == name; });
  return found == listeners_.end() ? nullptr : &*found;
}

Result<void> RunningServer::open_sockets(ActiveListener& listener) {
  const ListenerOptions& options = listener.options();
  const std::size_t count = options.all_cores ? cores_.size() : 1;
  Result<ListeningSockets> opened = open_listening_sockets(options.address, options.port, count);
  if (!opened) {
    return tl::unexpected(std::move(opened).error());
  }
  listener.port = opened->port;
  for (std::size_t i = 0; i < count; ++i) {
    try {
      listener.sockets.push_back(std::make_shared<Listener>(
          *cores_[i], listener.state, listener.setup, std::move(opened->sockets[i])));
    } catch (const std::runtime_error& error) {
      return base::fail(
          base::ErrorKind::kInternal,
          fmt::format("cannot watch the listener on {} port {}: {}; see `man 7 epoll`",
                      options.address, opened->port, error.what()));
    }
  }
  return {};
}

Result<NextListener> RunningServer::prepare_one(ListenerOptions options) {
  auto tls = load_tls(options);
  if (!tls) {
    return tl::unexpected(std::move(tls).error());
  }
  NextListener next;
  next.before = find(options.name);
  ActiveListener& active = next.active;
  active.setup.options = std::make_shared<const ListenerOptions>(std::move(options));
  active.setup.tls = std::move(*tls);
  if (next.before == nullptr) {
    active.state = std::make_shared<ListenerState>(active.options().name,
                                                   active.options().max_connections, live_);
  } else {
    active.state = next.before->state;
    next.keeps_sockets = same_sockets(next.before->options(), active.options());
    next.ends_connections =
        !next.keeps_sockets || (next.before->setup.tls == nullptr) != (active.setup.tls == nullptr);
  }
  if (next.keeps_sockets) {
    active.port = next.before->port;
    active.sockets = next.before->sockets;
    return next;
  }
  if (auto opened = open_sockets(active); !opened) {
    return tl::unexpected(std::move(opened).error());
  }
  return next;
}

Result<std::vector<NextListener>> RunningServer::prepare(std::vector<ListenerOptions> listeners) {
  std::vector<NextListener> all;
  for (ListenerOptions& options : listeners) {
    const bool repeated = std::ranges::any_of(all, [&options](const NextListener& each) {
      return each.active.state->name == options.name;
    });
    if (repeated) {
      return base::fail(base::ErrorKind::kInternal,
                        fmt::format("two listeners are called {}; rename one", options.name));
    }
    auto next = prepare_one(std::move(options));
    if (!next) {
      return tl::unexpected(std::move(next).error());
    }
    all.push_back(std::move(*next));
  }
  return all;
}

Result<void> RunningServer::start(std::vector<ListenerOptions> listeners) {
  auto prepared = prepare(std::move(listeners));
  if (!prepared) {
    return tl::unexpected(std::move(prepared).error());
  }
  for (NextListener& each : *prepared) {
    listeners_.push_back(std::move(each.active));
  }
  running_ = true;
  for (const ActiveListener& each : listeners_) {
    for (const auto& socket : each.sockets) {
      socket->start();
    }
  }
  for (const auto& core : cores_) {
    core->start();
  }
  return {};
}

/// One core's part of `replace_listeners`, on its thread; cannot fail.
void RunningServer::switch_core(std::size_t core, const std::vector<NextListener>& next) {
  for (const NextListener& each : next) {
    const ActiveListener& active = each.active;
    if (each.before != nullptr && !each.keeps_sockets && core < each.before->sockets.size()) {
      each.before->sockets[core]->close_after_those_that_wait();
    }
    if (core < active.sockets.size()) {
      if (each.keeps_sockets) {
        active.sockets[core]->adopt(active.setup);
      } else {
        active.sockets[core]->start();
      }
    }
    cores_[core]->adopt(active.setup.options);
    if (each.ends_connections) {
      cores_[core]->retire(active.state->name);
    }
  }
  for (const ActiveListener& old : listeners_) {
    const bool stays = std::ranges::any_of(
        next, [&old](const NextListener& each) { return each.active.state == old.state; });
    if (!stays) {
      if (core < old.sockets.size()) {
        old.sockets[core]->close_after_those_that_wait();
      }
      cores_[core]->retire(old.state->name);
    }
  }
}

Result<void> RunningServer::replace_listeners(std::vector<ListenerOptions> listeners) {
  if (!running_) {
    return base::fail(base::ErrorKind::kShuttingDown, "the server stops");
  }
  auto prepared = prepare(std::move(listeners));
  if (!prepared) {
    return tl::unexpected(std::move(prepared).error());
  }
  for (const NextListener& each : *prepared) {
    each.active.state->connections.set_limit(each.active.options().max_connections);
  }
  on_every_core([this, &prepared](std::size_t core) { switch_core(core, *prepared); });
  std::vector<ActiveListener> now;
  for (NextListener& each : *prepared) {
    now.push_back(std::move(each.active));
  }
  listeners_ = std::move(now);
  return {};
}

bool RunningServer::stop_now(base::Milliseconds drain) {
  if (!std::exchange(running_, false)) {
    return true;
  }
  on_every_core([this](std::size_t i) {
    for (const ActiveListener& each : listeners_) {
      if (i < each.sockets.size()) {
        each.sockets[i]->close();
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
  auto started = server->start(std::move(listeners));
  if (!started) {
    return tl::unexpected(std::move(started).error());
  }
  return server;
}

}  // namespace fenceline::proxy
