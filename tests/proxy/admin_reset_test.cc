// A reset changes the ledger and the stores that keep marks of their own.

#include <gtest/gtest.h>

#include <string>

#include "proxy/admin_fences.h"
#include "tests/proxy/pipeline_fixture.h"

namespace fenceline::proxy {
namespace {

constexpr std::string_view kReset = R"({"action":"reset","to":"5","reason":"etcd was restored"})";

class OrderBody final : public base::BodySource {
 public:
  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override {
    return std::nullopt;
  }
  base::Awaitable<base::Result<std::string_view>> read() override {
    return base::Awaitable<base::Result<std::string_view>>::ready(
        std::exchange(left_, std::string_view()));
  }

 private:
  std::string_view left_ = kReset;
};

using Answered = std::optional<base::Result<base::Reply>>;

base::Awaitable<void> order(AdminFences& fences, Request request, Answered& into) {
  auto reply = co_await fences.change(request, "exports%2Facme");
  into.emplace(std::move(reply));
}

class AdminResetTest : public PipelineTest {
 protected:
  /// After a write with token 40.
  Answered reset() {
    AdminFences fences(*routes_, gate_, ledger_, intents_, source_watch_, clock_);
    base::RequestHead head;
    head.fields = {{"Content-Type", "application/json"}};
    OrderBody body;
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

}  // namespace
}  // namespace fenceline::proxy
