#include "tests/support/test_core.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/asio_await.h"
#include "base/clock.h"

namespace fenceline::testing {
namespace {

constexpr base::Milliseconds kTick{5};

}  // namespace

TestCore::TestCore() : wheel_(kTick, base::SteadyClock().now()), work_(context_.get_executor()) {
  base::spawn(context_, turn_wheel(), nothing_thrown);
  thread_ = std::thread([this] { context_.run(); });
}

TestCore::~TestCore() {
  context_.stop();
  thread_.join();
}

base::Awaitable<void> TestCore::turn_wheel() {
  boost::asio::steady_timer tick(context_);
  boost::system::error_code ignored;
  auto token = base::await_into(ignored);
  while (true) {
    tick.expires_after(kTick);
    co_await tick.async_wait(token);
    wheel_.advance(base::SteadyClock().now());
  }
}

void TestCore::call(std::function<void()> work) {
  std::promise<void> done;
  boost::asio::post(context_, [&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

}  // namespace fenceline::testing
