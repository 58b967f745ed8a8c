#include "proxy/lease_host.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/digits.h"
#include "base/log.h"

namespace fenceline::proxy {
namespace {

fencing::LeaseLimits limits_of(const config::Leases& from) {
  return {.min_ttl = from.min_ttl,
          .max_ttl = from.max_ttl,
          .max_wait = from.max_wait,
          .max_lock_delay = from.max_lock_delay,
          .max_leases = from.max_leases,
          .max_waiters = from.max_waiters,
          .drain = from.drain};
}

}  // namespace

base::Result<void> LeaseHost::open(const config::Leases& settings, fencing::LeaseStore& store,
                                   fencing::Gate& gate) {
  if (lessor_ != nullptr) {
    return {};
  }
  if (audit_ == nullptr) {
    audit_ = std::make_unique<LeaseAudit>(registry_);
  }
  auto opened = fencing::open_lessor({.store = store,
                                      .gate = gate,
                                      .clock = clock_,
                                      .make_id = random_id,
                                      .due_sooner = [this] { timer_.wake(); },
                                      .events = audit_->events()},
                                     limits_of(settings));
  if (!opened) {
    return tl::unexpected<base::Error>(std::move(opened.error()));
  }
  lessor_ = std::move(*opened);
  timer_.start([this] { return lessor_->run_due(); });
  registry_.on_scrape([this] {
    if (lessor_ != nullptr) {
      audit_->show(lessor_->counts());
    }
  });
  const std::string held = std::to_string(lessor_->counts().held);
  base::log(base::LogLevel::kInfo, "leases",
            "the lease service is open; every lease that was held has its whole ttl again",
            {{"path", settings.path}, {"held", held}});
  return {};
}

void LeaseHost::set_limits(const config::Leases& settings) {
  if (lessor_ != nullptr) {
    lessor_->set_limits(limits_of(settings));
  }
}

void LeaseHost::close() {
  if (lessor_ != nullptr) {
    lessor_->close();
  }
}

void LeaseHost::stop_timer() { timer_.stop(); }

void LeaseHost::end() {
  stop_timer();
  lessor_.reset();
}

std::string random_id() {
  std::array<std::uint64_t, 2> words{};
  // Complete for so few bytes, once the system's generator is ready.
  while (::getrandom(words.data(), sizeof words, 0) != static_cast<ssize_t>(sizeof words)) {
    if (errno != EINTR) {
      throw std::system_error(errno, std::system_category(), "getrandom");
    }
  }
  std::string id;
  for (const std::uint64_t word : words) {
    base::append_hex(id, word, 16);
  }
  return id;
}

}  // namespace fenceline::proxy
