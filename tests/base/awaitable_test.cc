#include "base/awaitable.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/asio_await.h"
#include "base/async.h"
#include "base/spawn.h"

namespace fenceline::base {
namespace {

class AwaitableTest : public ::testing::Test {
 protected:
  /// Starts `work` as the server does and keeps what it threw.
  void start(Awaitable<void> work) {
    spawn(io_, std::move(work), [this](const std::exception_ptr& thrown) {
      ended_ = true;
      thrown_ = thrown;
    });
  }

  boost::asio::io_context io_{1};
  bool ended_ = false;
  std::exception_ptr thrown_;
};

Awaitable<std::string> ready() { co_return "ready"; }

Awaitable<std::string> posted(boost::asio::io_context& io) {
  co_await boost::asio::post(io, kAwait);
  co_return "posted";
}

/// Sets a flag when it is destroyed.
class Witness {
 public:
  explicit Witness(bool& gone) : gone_(&gone) {}
  Witness(Witness&& other) noexcept : gone_(std::exchange(other.gone_, nullptr)) {}
  Witness& operator=(Witness&&) = delete;
  ~Witness() {
    if (gone_ != nullptr) {
      *gone_ = true;
    }
  }

 private:
  bool* gone_;
};

Awaitable<void> collect(boost::asio::io_context& io, std::vector<std::string>* into) {
  auto text = co_await ready();
  into->push_back(text);
  text = co_await posted(io);
  into->push_back(text);
  text = co_await ready();
  into->push_back(text);
}

TEST_F(AwaitableTest, GivesValuesOfCallsThatWaitAndOfCallsThatDoNot) {
  std::vector<std::string> got;
  start(collect(io_, &got));
  io_.run();
  EXPECT_TRUE(ended_);
  EXPECT_EQ(thrown_, nullptr);
  EXPECT_EQ(got, (std::vector<std::string>{"ready", "posted", "ready"}));
}

Awaitable<void> count_to(boost::asio::io_context& io, int end, int* count) {
  while (*count < end) {
    const auto text = co_await ready();
    if (*count % 1000 == 0) {
      co_await boost::asio::post(io, kAwait);
    }
    *count += static_cast<int>(text.size() / 5);
  }
}

TEST_F(AwaitableTest, ALongLoopOfCallsNeedsNoStack) {
  int count = 0;
  start(count_to(io_, 1'000'000, &count));
  io_.run();
  EXPECT_EQ(count, 1'000'000);
}

Awaitable<int> nested(boost::asio::io_context& io, int depth) {
  if (depth == 0) {
    co_await boost::asio::post(io, kAwait);
    co_return 1;
  }
  const auto below = co_await nested(io, depth - 1);
  co_return below + 1;
}

Awaitable<void> store(Awaitable<int> from, int* into) {
  const auto value = co_await std::move(from);
  *into = value;
}

TEST_F(AwaitableTest, ResultsComeUpThroughManyCalls) {
  int depth = 0;
  start(store(nested(io_, 50), &depth));
  io_.run();
  EXPECT_EQ(depth, 51);
}

Awaitable<int> failing(boost::asio::io_context& io, bool wait_first) {
  if (wait_first) {
    co_await boost::asio::post(io, kAwait);
  }
  throw std::runtime_error("broken");
}

TEST_F(AwaitableTest, ExceptionsReachTheSpawner) {
  for (const bool wait_first : {false, true}) {
    int unused = 0;
    start(store(failing(io_, wait_first), &unused));
    io_.restart();
    io_.run();
    ASSERT_NE(thrown_, nullptr);
    EXPECT_THROW(std::rethrow_exception(thrown_), std::runtime_error);
    thrown_ = nullptr;
  }
}

Awaitable<void> wait_with(Witness /*witness*/, boost::asio::steady_timer& timer) {
  boost::system::error_code error;
  auto token = await_into(error);
  co_await timer.async_wait(token);
}

Awaitable<void> call(Awaitable<void> inner, Witness /*witness*/) { co_await std::move(inner); }

TEST_F(AwaitableTest, ACallThatIsNeverAwaitedGivesBackItsArguments) {
  bool gone = false;
  {
    boost::asio::steady_timer timer(io_);
    const auto call = wait_with(Witness(gone), timer);
    EXPECT_FALSE(gone);
  }
  EXPECT_TRUE(gone);
}

TEST(AwaitableEndTest, TheEndOfTheContextDestroysWhatWaits) {
  bool inner_gone = false;
  bool outer_gone = false;
  bool ended = false;
  auto io = std::make_unique<boost::asio::io_context>(1);
  auto timer = std::make_unique<boost::asio::steady_timer>(*io, std::chrono::hours(1));
  spawn(*io, call(wait_with(Witness(inner_gone), *timer), Witness(outer_gone)),
        [&ended](const std::exception_ptr&) { ended = true; });
  io->poll();
  EXPECT_FALSE(inner_gone);
  timer->cancel();  // Its handler is ready, but nobody runs it any more.
  timer.reset();
  io.reset();
  EXPECT_TRUE(inner_gone);
  EXPECT_TRUE(outer_gone);
  EXPECT_FALSE(ended);
}

Awaitable<void> wait_for_callback(std::optional<Done<std::string>>* out, std::string* into,
                                  Witness /*witness*/) {
  const auto keep = [out](Done<std::string> done) { out->emplace(std::move(done)); };
  auto text = co_await from_callback<std::string>(keep);
  *into = std::move(text);
}

TEST_F(AwaitableTest, ACallbackFromAnotherThreadGoesOnHere) {
  std::optional<Done<std::string>> done;
  std::string text;
  bool gone = false;
  start(wait_for_callback(&done, &text, Witness(gone)));
  io_.poll();
  ASSERT_TRUE(done);
  std::thread other([done = std::exchange(done, {})]() mutable {
    (*done)("from there");
    done.reset();
  });
  io_.run();
  other.join();
  EXPECT_EQ(text, "from there");
  EXPECT_TRUE(gone);
}

TEST_F(AwaitableTest, ADroppedCallbackDestroysTheWaitingChainOnItsThread) {
  std::optional<Done<std::string>> done;
  std::string text;
  bool gone = false;
  start(wait_for_callback(&done, &text, Witness(gone)));
  io_.poll();
  done.reset();
  EXPECT_FALSE(gone) << "not on the thread that dropped it";
  io_.restart();
  io_.poll();
  EXPECT_TRUE(gone);
  EXPECT_FALSE(ended_);
}

/// The loop must not end, and be destroyed, while the other thread is still handing over: seen as
/// a data race by TSan when the loop stopped waiting with the call instead of after it.
TEST(AwaitableEndTest, TheLoopOutlivesTheThreadThatCallsBack) {
  for (int round = 0; round < 200; ++round) {
    std::string text;
    bool gone = false;
    std::thread other;
    {
      boost::asio::io_context io(1);
      std::optional<Done<std::string>> done;
      spawn(io, wait_for_callback(&done, &text, Witness(gone)), [](const std::exception_ptr&) {});
      io.poll();
      ASSERT_TRUE(done);
      other = std::thread([done = std::exchange(done, {})]() mutable {
        (*done)("there");
        done.reset();
      });
      io.run();
    }
    EXPECT_EQ(text, "there");
    other.join();
  }
}

Awaitable<void> call_back_at_once(std::string* into) {
  const auto answer = [](const Done<std::string>& done) { done("at once"); };
  auto text = co_await from_callback<std::string>(answer);
  *into = std::move(text);
}

TEST_F(AwaitableTest, ACallbackInsideTheStartIsAnAnswerToo) {
  std::string text;
  start(call_back_at_once(&text));
  io_.run();
  EXPECT_EQ(text, "at once");
}

}  // namespace
}  // namespace fenceline::base
