// What orders on a fence do: a reset changes the ledger and the stores that keep marks of their
// own, a raise keeps older writes out, also those that may still land.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "proxy/admin_fences.h"
#include "tests/proxy/pipeline_fixture.h"

namespace fenceline::proxy {
namespace {

constexpr std::string_view kReset = R"({"action":"reset","to":"5","reason":"etcd was restored"})";

class OrderBody final : public base::BodySource {
 public:
  explicit OrderBody(std::string_view text) : left_(text) {}
  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override {
    return std::nullopt;
  }
  base::Awaitable<base::Result<std::string_view>> read() override {
    return base::Awaitable<base::Result<std::string_view>>::ready(
        std::exchange(left_, std::string_view()));
  }

 private:
  std::string_view left_;
};

using Answered = std::optional<base::Result<base::Reply>>;

base::Awaitable<void> order(AdminFences& fences, Request request, Answered& into) {
  auto reply = co_await fences.change(request, "exports%2Facme");
  into.emplace(std::move(reply));
}

class AdminResetTest : public PipelineTest {
 protected:
  Answered reset() { return change(kReset); }

  Answered change(std::string_view text) {
    AdminFences fences(*routes_, gate_, ledger_, intents_, source_watch_, clock_);
    base::RequestHead head;
    head.fields = {{"Content-Type", "application/json"}};
    OrderBody body(text);
    Answered answered;
    base::spawn(io_, order(fences, {head, body, "127.0.0.1:9", "r-1", timers_}, answered),
                testing::nothing_thrown);
    settle();
    return answered;
  }

  void write(const std::string& token) {
    EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", token}}).status, 201);
    backend_->events.clear();
  }
};

TEST_F(AdminResetTest, ReachesEveryStoreOnce) {
  add_route("rows", "/rows/{tenant}/{id}", "exports/{tenant}");
  write("40");
  const Answered done = reset();
  ASSERT_TRUE(done && *done);
  EXPECT_EQ(ledger_.marks["exports/acme"].token, Token::of(5));
  EXPECT_EQ(backend_->events, (Events{"reset exports/acme to 5"})) << "both routes have one store";
}

TEST_F(AdminResetTest, AStoreThatCouldNotBeSetIsToldAndARepetitionReachesIt) {
  write("40");
  backend_->resets = base::fail(base::ErrorKind::kOverloaded, "the database is locked");
  const Answered failed = reset();
  ASSERT_TRUE(failed && !*failed);
  EXPECT_EQ(failed->error().applied, base::Applied::kUnknown) << "the ledger has it";
  EXPECT_NE(failed->error().detail.find("route exports"), std::string::npos);
  EXPECT_NE(failed->error().detail.find("the database is locked"), std::string::npos);

  backend_->resets = {};
  backend_->events.clear();
  const Answered again = reset();
  ASSERT_TRUE(again && *again);
  EXPECT_EQ(backend_->events, (Events{"reset exports/acme to 5"}));
}

class AdminRaiseTest : public AdminResetTest {
 protected:
  /// A write with token 33 whose outcome nobody knows.
  AdminRaiseTest() {
    backend_->intent = backends::WriteIntent{.data = "there", .shared = true};
    backend_->commit_fails_with =
        base::Error{base::ErrorKind::kUpstreamTimeout, "no answer", base::Applied::kUnknown, {}};
    EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "33"}}).status, 504);
    backend_->events.clear();
  }

  Answered raise(std::string_view to) {
    return change(fmt::format(R"({{"action":"raise","to":"{}"}})", to));
  }
};

TEST_F(AdminRaiseTest, WaitsForAWriteThatMayStillLand) {
  backend_->can.settle_after = base::Milliseconds(30'000);
  const Answered held = raise("40");
  ASSERT_TRUE(held && !*held);
  EXPECT_EQ(held->error().kind, base::ErrorKind::kDraining);
  EXPECT_EQ(held->error().retry_after_s, 30U);
  EXPECT_EQ(ledger_.marks["exports/acme"].token, Token::of(40)) << "nothing older enters";
  backend_->can.settle_after = base::Milliseconds(0);
  const Answered done = raise("40");
  ASSERT_TRUE(done && *done);
  EXPECT_FALSE(intents_.any_unsettled());
}

TEST_F(AdminRaiseTest, SaysWhoCanTellWhereNobodyElseCan) {
  const Answered held = raise("40");
  ASSERT_TRUE(held && !*held);
  EXPECT_EQ(held->error().kind, base::ErrorKind::kDraining);
  EXPECT_NE(held->error().detail.find("fenceline fences settle"), std::string::npos);
}

TEST_F(AdminRaiseTest, RevokesWhereTheBackendCan) {
  backend_->revokes = backends::Revocation::kRevoked;
  const Answered done = raise("40");
  ASSERT_TRUE(done && *done);
  EXPECT_EQ(backend_->events, (Events{"revoke there"}));
  EXPECT_FALSE(intents_.any_unsettled());
}

TEST_F(AdminRaiseTest, LooksAtTheMarkThatWasThereIfItIsHigher) {
  backend_->can.settle_after = base::Milliseconds(30'000);
  const Answered same = raise("20");
  ASSERT_TRUE(same && *same) << "the write has the mark's own token";
  EXPECT_EQ(finish("PUT", kFile, {{"Fencing-Token", "34"}}).status, 503);
  const Answered held = raise("20");
  ASSERT_TRUE(held && !*held) << "the mark is 34 now, and the write is older";
}

}  // namespace
}  // namespace fenceline::proxy
