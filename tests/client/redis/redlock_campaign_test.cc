// Clients that contend while nodes die, lose their data, are flushed or freeze. What counts is the
// order of the tokens in real time: a lease that was asked for after another one was granted has a
// larger token, and no token is given twice.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>

#include "base/boottime_clock.h"
#include "client/token_source.h"
#include "tests/client/redis_server.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

using base::Milliseconds;

struct Granted {
  std::int64_t token;
  base::MonotonicTime asked;
  base::MonotonicTime got;
};

/// The first pair that breaks the order; empty if there is none.
std::string broken_order(std::vector<Granted> grants) {
  std::ranges::sort(grants, {}, &Granted::token);
  // From the largest down: nobody may have been asked for after a larger one was got.
  base::MonotonicTime first_got = base::MonotonicTime::max();
  std::int64_t larger = 0;
  for (auto each = grants.rbegin(); each != grants.rend(); ++each) {
    if (each->token == larger) {
      return fmt::format("{} was given twice", larger);
    }
    if (each->asked > first_got) {
      return fmt::format("{} was asked for after a larger one was there", each->token);
    }
    first_got = std::min(first_got, each->got);
    larger = each->token;
  }
  return {};
}

TEST(RedlockChecker, FindsWhatIsOutOfOrder) {
  const auto at = [](int ms) { return base::MonotonicTime(Milliseconds(ms)); };
  EXPECT_EQ(broken_order({{1, at(0), at(1)}, {2, at(2), at(3)}, {9, at(4), at(5)}}), "");
  EXPECT_EQ(broken_order({{2, at(0), at(5)}, {1, at(1), at(4)}}), "") << "at the same time";
  EXPECT_NE(broken_order({{1, at(0), at(1)}, {1, at(2), at(3)}}), "");
  EXPECT_NE(broken_order({{2, at(0), at(1)}, {1, at(2), at(3)}}), "");
}

class Campaign {
 public:
  explicit Campaign(std::size_t wanted) : wanted_(wanted) {}

  void run() {
    std::vector<std::jthread> clients;
    for (int id = 0; id < kClients; ++id) {
      clients.emplace_back([this, id] { work(id); });
    }
    try {
      while (count() < wanted_) {
        disturb();
      }
    } catch (...) {
      done_ = true;
      throw;
    }
    done_ = true;
  }

  [[nodiscard]] std::vector<Granted> grants() {
    const std::lock_guard lock(mutex_);
    return grants_;
  }
  [[nodiscard]] const std::string& disturbances() const { return disturbances_; }

 private:
  static constexpr int kClients = 4;

  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return grants_.size();
  }

  void work(int id) {
    std::minstd_rand random(static_cast<unsigned>(id) + 1);
    const auto source = client::make_source(redlock_.url(), clock_).value();
    for (int i = 0; !done_; ++i) {
      client::LeaseOrder order;
      order.keys = {base::FenceKey::parse("campaign").value()};
      order.holder = fmt::format("client-{}", id);
      order.attempt = fmt::format("{}-{}", id, i);
      order.ttl = Milliseconds(1'000);
      const auto asked = clock_.now();
      const auto grant = source->acquire(order, {});
      const auto got = clock_.now();
      if (!grant) {
        for (std::size_t left = random() % 40; left > 0; --left) {
          breathe();
        }
        continue;
      }
      {
        const std::lock_guard lock(mutex_);
        grants_.push_back({grant->token.value(), asked, got});
      }
      // Some never say that they are done.
      if (random() % 10 != 0) {
        source->release(*grant).has_value();
      }
    }
  }

  /// Something goes wrong with one node, half of the time while another one is dead, too; then they
  /// come back. Never a majority at once.
  void disturb() {
    const std::size_t node = random_() % redlock_.size();
    const std::size_t other = (node + 1 + random_() % (redlock_.size() - 1)) % redlock_.size();
    const bool two = random_() % 2 == 0;
    if (two) {
      disturbances_ += '+';
      redlock_.node(other).kill();
    }
    disturb(node);
    if (two) {
      redlock_.node(other).start();
    }
  }

  void disturb(std::size_t node) {
    const std::size_t before = count();
    const auto some_grants = [&] {
      wait_until(
          "grants to go on", [&] { return count() >= before + 2; }, std::chrono::seconds(60));
    };
    switch (random_() % 4) {
      case 0:
        disturbances_ += 'k';
        redlock_.node(node).kill();
        some_grants();
        redlock_.node(node).start();
        break;
      case 1:
        disturbances_ += 'w';
        redlock_.wipe(node);
        some_grants();
        redlock_.resync(node);
        break;
      case 2:
        disturbances_ += 'f';
        redlock_.node(node).ask({"FLUSHALL"});
        some_grants();
        redlock_.resync(node);
        break;
      default:
        disturbances_ += 'p';
        redlock_.node(node).pause();
        some_grants();
        redlock_.node(node).resume();
        break;
    }
  }

  std::size_t wanted_;
  base::BoottimeClock clock_;
  RedlockServer redlock_{5};
  std::minstd_rand random_{std::random_device()()};
  std::atomic<bool> done_ = false;
  std::mutex mutex_;
  std::vector<Granted> grants_;
  std::string disturbances_;
};

// FENCELINE_REDLOCK_GRANTS=1000 for the long form.
TEST(RedlockCampaign, TokensRiseWhateverAMinorityDoes) {
  const char* const wanted =
      std::getenv("FENCELINE_REDLOCK_GRANTS");  // NOLINT(concurrency-mt-unsafe)
  Campaign campaign(wanted == nullptr ? 50 : std::stoul(wanted));
  campaign.run();
  const auto grants = campaign.grants();
  EXPECT_EQ(broken_order(grants), "") << "after " << campaign.disturbances();
  RecordProperty("grants", static_cast<int>(grants.size()));
  RecordProperty("disturbances", campaign.disturbances());
  fmt::print("{} grants through {}\n", grants.size(), campaign.disturbances());
}

}  // namespace
}  // namespace fenceline::testing
