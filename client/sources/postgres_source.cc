#include <algorithm>
#include <charconv>
#include <chrono>
#include <random>
#include <utility>

#include "client/sources/one_key.h"
#include "client/sources/postgres/lease_sql.h"
#include "client/sources/postgres/pg_failure.h"
#include "client/sources/postgres/pg_session.h"
#include "client/sources/postgres/pg_target.h"
#include "client/sources/sources.h"
#include "client/stop_event.h"

namespace fenceline::client {
namespace {

using base::Applied;
using base::ErrorKind;
using base::Milliseconds;
using base::Result;

constexpr std::string_view kService = "PostgreSQL";
constexpr Milliseconds kShortestTtl{100};
constexpr Milliseconds kNetwork{8'000};
constexpr Milliseconds kGiveBack{250};  // Also when the caller was told to stop.
constexpr int kRepeats = 5;
constexpr Milliseconds kFirstPause{40};
constexpr Milliseconds kLongestPause{400};

std::int64_t number(const PgRow& row, std::size_t column) {
  std::int64_t value = 0;
  if (column < row.size() && row[column]) {
    const std::string& text = *row[column];
    std::from_chars(text.data(), text.data() + text.size(), value);
  }
  return value;
}

std::string text(const PgRow& row, std::size_t column) {
  return column < row.size() && row[column] ? *row[column] : std::string();
}

HeldBy held_by(const PgRow& row, std::size_t first) {
  return {.holder = text(row, first + 1),
          .token = base::Token::of(std::max<std::int64_t>(0, number(row, first))),
          .left = Milliseconds(std::max<std::int64_t>(0, number(row, first + 2)))};
}

class PostgresSource final : public TokenSource {
 public:
  PostgresSource(PgTarget target, const base::Clock& clock)
      : table_(target.plain_table),
        quoted_table_(target.table),
        sql_(make_lease_sql(target.table)),
        session_(make_pg_session(std::move(target))),
        clock_(clock) {}

  Result<Grant> acquire(const LeaseOrder& order, std::stop_token stop_token) override {
    if (auto fits = check_one_key(order, kService, kShortestTtl); !fits) {
      return base::pass_on(fits.error());
    }
    const StopEvent stop(std::move(stop_token));
    const base::MonotonicTime end = clock_.now() + order.wait;
    Milliseconds longest = kFirstPause;
    while (true) {
      HeldBy other;
      auto grant = try_once(order, stop, other);
      if (!grant || grant->token.exists()) {
        return grant;
      }
      const auto left = std::chrono::ceil<Milliseconds>(end - clock_.now());
      if (left <= Milliseconds(0)) {
        return tl::unexpected(held_error(order.keys.front(), other.holder, other.token));
      }
      if (stop.wait(-1, 0, pause(longest, std::min(left, *other.left + Milliseconds(1)))) ==
          Woken::kStopped) {
        return tl::unexpected(stopped_error(Applied::kNo));
      }
      longest = std::min(longest * 2, kLongestPause);
    }
  }

  Result<Grant> renew(const Grant& grant, std::stop_token stop_token) override {
    const StopEvent stop(std::move(stop_token));
    const base::MonotonicTime before = clock_.now();
    auto answer = run(sql_.renew,
                      {grant.keys.front().text(), grant.lease, grant.token.text(),
                       std::to_string(grant.ttl.count())},
                      stop);
    if (!answer) {
      return base::pass_on(answer.error());
    }
    if (answer->rows.empty()) {
      return tl::unexpected(ended_error(grant));
    }
    Grant renewed = grant;
    renewed.valid_until = before + grant.ttl - drift_of(grant.ttl);
    return renewed;
  }

  Result<void> release(const Grant& grant) override {
    const StopEvent never{std::stop_token()};
    const std::vector<std::string> values{grant.keys.front().text(), grant.lease,
                                          grant.token.text()};
    bool was_lost = false;
    auto answer = run(sql_.release, values, never, &was_lost);
    if (!answer) {
      return base::pass_on(answer.error());
    }
    if (answer->rows.empty() && was_lost) {
      answer = run(sql_.was_released, values, never);
      if (!answer) {
        return base::pass_on(answer.error());
      }
    }
    if (answer->rows.empty()) {
      return tl::unexpected(ended_error(grant));
    }
    return {};
  }

  Result<std::optional<HeldBy>> show(const base::FenceKey& key) override {
    const StopEvent never{std::stop_token()};
    auto answer = run(sql_.show, {key.text()}, never);
    if (!answer) {
      return base::pass_on(answer.error());
    }
    if (answer->rows.empty()) {
      return std::nullopt;
    }
    return held_by(answer->rows.front(), 0);
  }

  Result<std::vector<std::string>> warnings() override {
    const StopEvent never{std::stop_token()};
    auto answer = run(sql_.setup, {quoted_table_}, never);
    if (!answer) {
      return base::pass_on(answer.error());
    }
    return judge_setup(answer->rows.empty() ? PgRow() : answer->rows.front(), table_);
  }

  [[nodiscard]] std::string_view scheme() const override { return "postgres"; }

 private:
  /// Success: the grant, or one without a token and `other`.
  Result<Grant> try_once(const LeaseOrder& order, const StopEvent& stop, HeldBy& other) {
    const std::string& key = order.keys.front().text();
    const base::MonotonicTime before = clock_.now();
    auto answer = run(sql_.acquire,
                      {key, order.attempt, order.holder, std::to_string(order.ttl.count())}, stop);
    const bool was_taken = answer && !answer->rows.empty() && text(answer->rows.front(), 0) == "t";
    const bool may_be_taken = !answer && answer.error().applied == Applied::kUnknown;
    if (may_be_taken || (was_taken && stop.requested())) {
      const StopEvent never{std::stop_token()};
      // Whether it works or not: the lease ends with its ttl.
      (void)session_->run(sql_.give_back, {key, order.attempt}, kGiveBack, never);
    }
    if (!answer) {
      return base::pass_on(answer.error());
    }
    if (was_taken && stop.requested()) {
      return tl::unexpected(stopped_error(Applied::kNo));
    }
    Grant grant{.keys = order.keys,
                .lease = order.attempt,
                .token = {},
                .ttl = order.ttl,
                .valid_until = before + order.ttl - drift_of(order.ttl)};
    if (was_taken) {
      grant.token = base::Token::of(number(answer->rows.front(), 1));
    } else {
      // No row: somebody has made it after this statement began.
      other = answer->rows.empty() ? HeldBy{.holder = {}, .token = {}, .left = kFirstPause}
                                   : held_by(answer->rows.front(), 1);
    }
    return grant;
  }

  /// Runs a statement that may be repeated; makes the table where it is missing. `was_lost`: set if
  /// an answer was lost on the way to the one that is given.
  Result<PgAnswer> run(const std::string& sql, const std::vector<std::string>& values,
                       const StopEvent& stop, bool* was_lost = nullptr) {
    bool made_table = false;
    for (int i = 0;; ++i) {
      auto answer = session_->run(sql, values, kNetwork, stop);
      if (!answer) {
        if (answer.error().kind == ErrorKind::kUpstreamFailed && session_->reused()) {
          if (was_lost != nullptr) {
            *was_lost = true;
          }
          continue;  // The next session is a new one.
        }
        return answer;
      }
      const PgNext next = next_after(*answer);
      if (next == PgNext::kUse) {
        return answer;
      }
      if (next == PgNext::kMakeTable && !made_table) {
        made_table = true;
        auto made = session_->run(sql_.create, {}, kNetwork, stop);
        if (!made) {
          made.error().applied = Applied::kNo;
          return made;
        }
        if (made->sqlstate.empty() || made->sqlstate == "23505" || made->sqlstate == "42P07") {
          continue;  // Made, or somebody was faster.
        }
        return tl::unexpected(error_of(*made, table_, sql_.create));
      }
      if (next != PgNext::kRepeat || i >= kRepeats) {
        return tl::unexpected(error_of(*answer, table_, sql_.create));
      }
    }
  }

  /// Half to all of `longest`, so that those who wait do not come together, and not beyond `most`.
  Milliseconds pause(Milliseconds longest, Milliseconds most) {
    std::uniform_int_distribution<int> part(static_cast<int>(longest.count()) / 2,
                                            static_cast<int>(longest.count()));
    return std::min(Milliseconds(part(random_)), most);
  }

  std::string table_;
  std::string quoted_table_;
  LeaseSql sql_;
  std::unique_ptr<PgSession> session_;
  const base::Clock& clock_;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace

MadeSource make_postgres_source(std::string_view text, const base::Clock& clock) {
  auto target = parse_pg_url(text);
  if (!target) {
    return base::pass_on(target.error());
  }
  return std::make_unique<PostgresSource>(std::move(*target), clock);
}

}  // namespace fenceline::client
