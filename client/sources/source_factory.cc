#include <fmt/format.h>

#include <functional>

#include "client/order_rules.h"
#include "client/sources/sources.h"

namespace fenceline::client {
namespace {

using base::ErrorKind;
using base::Result;

using Maker = std::function<MadeSource(std::string_view text, const base::Clock&)>;

/// Reads the URL first. `default_port`: 0 means that one is needed.
Maker parsed(std::uint16_t default_port, MadeSource (*make)(SourceUrl, const base::Clock&)) {
  return [=](std::string_view text, const base::Clock& clock) -> MadeSource {
    auto url = parse_source_url(text, default_port);
    if (!url) {
      return base::pass_on(url.error());
    }
    return make(std::move(*url), clock);
  };
}

/// One line per scheme, such as `{"redis", parsed(6379, make_redis_source)},`.
const std::vector<std::pair<std::string_view, Maker>>& schemes() {
  static const std::vector<std::pair<std::string_view, Maker>> all = {
      {"fenceline", parsed(0, make_fenceline_source)},
      {"fencelines", parsed(0, make_fenceline_source)},
      {"redis", parsed(6379, make_redis_source)},
      {"rediss", parsed(6379, make_redis_source)},
      {"redlock", parsed(6379, make_redlock_source)},
      {"redlocks", parsed(6379, make_redlock_source)},
      {"postgres", make_postgres_source},
      {"postgresql", make_postgres_source},
      {"etcd", parsed(2379, make_etcd_source)},
      {"etcds", parsed(2379, make_etcd_source)},
      {"zookeeper", parsed(2181, make_zookeeper_source)},
  };
  return all;
}

/// Refuses what no source takes, so that the sources need not.
class CheckedSource final : public TokenSource {
 public:
  explicit CheckedSource(std::unique_ptr<TokenSource> source) : source_(std::move(source)) {}

  Result<Grant> acquire(const LeaseOrder& order, std::stop_token stop) override {
    if (auto right = check_order(order); !right) {
      return base::pass_on(right.error());
    }
    return source_->acquire(order, std::move(stop));
  }

  Result<Grant> renew(const Grant& grant, std::stop_token stop) override {
    return source_->renew(grant, std::move(stop));
  }

  Result<void> release(const Grant& grant) override { return source_->release(grant); }

  Result<std::optional<HeldBy>> show(const base::FenceKey& key) override {
    return source_->show(key);
  }

  Result<std::vector<std::string>> warnings() override { return source_->warnings(); }

  [[nodiscard]] std::string_view scheme() const override { return source_->scheme(); }

 private:
  std::unique_ptr<TokenSource> source_;
};

}  // namespace

MadeSource make_source(std::string_view text, const base::Clock& clock) {
  const std::string scheme = scheme_of(text);
  std::string known;
  for (const auto& [name, make] : schemes()) {
    if (name == scheme) {
      auto source = make(text, clock);
      if (!source) {
        return source;
      }
      return std::make_unique<CheckedSource>(std::move(*source));
    }
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  return base::fail(
      ErrorKind::kMalformedRequest,
      scheme.empty()
          ? std::string("The source is no URL such as fenceline://127.0.0.1:8080.")
          : fmt::format("There is no source of the kind '{}'; there are {}.", scheme, known));
}

}  // namespace fenceline::client
