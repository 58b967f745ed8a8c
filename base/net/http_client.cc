#include "base/net/http_client.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <coroutine>
#include <utility>

#include "base/net/connection_pool.h"
#include "base/net/dial.h"
#include "base/net/http_exchange.h"
#include "base/net/tls_client.h"

namespace fenceline::base::net {

/// Not in the anonymous namespace: `HttpExchange` calls it a friend.
class ExchangeBody final : public BodySource {
 public:
  ExchangeBody(std::unique_ptr<HttpExchange> exchange, std::shared_ptr<const void> keeps)
      : keeps_(std::move(keeps)), exchange_(std::move(exchange)) {}

  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override {
    return exchange_->body_bytes();
  }
  Awaitable<Result<std::string_view>> read() override { return exchange_->read_piece(); }
  void limit_idle(Milliseconds limit) override { exchange_->limit_idle(limit); }

 private:
  std::shared_ptr<const void> keeps_;  ///< Longer than the exchange.
  std::unique_ptr<HttpExchange> exchange_;
};

std::unique_ptr<BodySource> HttpExchange::body_of(std::unique_ptr<HttpExchange> exchange,
                                                  std::shared_ptr<const void> keeps) {
  return std::make_unique<ExchangeBody>(std::move(exchange), std::move(keeps));
}

namespace {

/// Where the coroutine that awaits it runs. Does not wait.
class ThisContext {
 public:
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
    context_ = &waiting.promise().context();
    return false;
  }
  [[nodiscard]] boost::asio::io_context& await_resume() const noexcept { return *context_; }

 private:
  boost::asio::io_context* context_ = nullptr;
};

class PooledClient final : public HttpClient {
 public:
  explicit PooledClient(std::shared_ptr<Upstream> upstream) : upstream_(std::move(upstream)) {}
  ~PooledClient() override { upstream_->retired = true; }
  PooledClient(const PooledClient&) = delete;
  PooledClient& operator=(const PooledClient&) = delete;

  Awaitable<Result<std::unique_ptr<HttpExchange>>> open(TimerWheel& timers, bool fresh) override {
    ThisContext here;
    auto& context = co_await here;
    Pool& pool = Pools::of(context).pool(upstream_);
    std::unique_ptr<Connection> idle = fresh ? nullptr : pool.take();
    if (idle != nullptr) {
      std::unique_ptr<HttpExchange> exchange =
          std::make_unique<PooledExchange>(pool, std::move(idle), true);
      co_return std::move(exchange);
    }
    if (!pool.make_room()) {
      co_return fail(ErrorKind::kOverloaded,
                     fmt::format("All {} connections to the upstream {} are in use. Send the "
                                 "request again later.",
                                 upstream_->options.max_connections, upstream_->name));
    }
    auto dialled = co_await dial(context, pool, timers);
    if (!dialled) {
      co_return tl::unexpected<Error>(std::move(dialled).error());
    }
    std::unique_ptr<HttpExchange> exchange =
        std::make_unique<PooledExchange>(pool, std::move(*dialled), false);
    co_return std::move(exchange);
  }

  [[nodiscard]] std::size_t connections() const override {
    return upstream_->open.load(std::memory_order_relaxed);
  }

 private:
  std::shared_ptr<Upstream> upstream_;
};

}  // namespace

Result<std::shared_ptr<HttpClient>> make_http_client(HttpClientOptions options) {
  auto upstream = std::make_shared<Upstream>();
  const bool v6 = options.host.find(':') != std::string::npos;
  upstream->name =
      fmt::format("{}{}{}:{}", v6 ? "[" : "", options.host, v6 ? "]" : "", options.port);
  if (options.tls) {
    Result<std::shared_ptr<TlsClient>> tls =
        make_tls_client({.ca_file = options.tls_ca_file,
                         .name = options.tls_name.empty() ? options.host : options.tls_name,
                         .verify = options.tls_verify});
    if (!tls) {
      return pass_on(tls.error());
    }
    upstream->tls = std::move(*tls);
  }
  upstream->options = std::move(options);
  return std::make_shared<PooledClient>(std::move(upstream));
}

}  // namespace fenceline::base::net
