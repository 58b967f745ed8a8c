#include "base/timer_wheel.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

namespace fenceline::base {
namespace {

using std::chrono::milliseconds;

class TimerWheelTest : public testing::Test {
 protected:
  static constexpr Milliseconds kTick{50};

  void advance_to(int at_ms) { wheel_.advance(start_ + milliseconds(at_ms)); }

  MonotonicTime start_{};
  TimerWheel wheel_{kTick, start_};
};

TEST_F(TimerWheelTest, FiresOnceNeverEarlyAndAtMostOneTickLate) {
  int fired = 0;
  Timer timer(wheel_, [&] { ++fired; });
  timer.arm(milliseconds(120));
  EXPECT_EQ(wheel_.armed(), 1U);
  advance_to(119);
  EXPECT_EQ(fired, 0);
  advance_to(120 + 50);
  EXPECT_EQ(fired, 1);
  EXPECT_FALSE(timer.armed());
  EXPECT_EQ(wheel_.armed(), 0U);
  advance_to(100000);
  EXPECT_EQ(fired, 1);
}

TEST_F(TimerWheelTest, CountsFromTheTimeOfTheLastAdvanceNotFromItsTick) {
  int fired = 0;
  Timer timer(wheel_, [&] { ++fired; });
  advance_to(149);
  timer.arm(milliseconds(50));
  advance_to(198);
  EXPECT_EQ(fired, 0);
  advance_to(200);
  EXPECT_EQ(fired, 1);
}

TEST_F(TimerWheelTest, ZeroAndNegativeMeanTheNextTick) {
  int fired = 0;
  Timer zero(wheel_, [&] { ++fired; });
  Timer negative(wheel_, [&] { ++fired; });
  zero.arm(milliseconds(0));
  negative.arm(milliseconds(-5));
  advance_to(49);
  EXPECT_EQ(fired, 0);
  advance_to(50);
  EXPECT_EQ(fired, 2);
}

TEST_F(TimerWheelTest, ATimerLongerThanOneTurnWaitsForItsTurn) {
  int fired = 0;
  Timer timer(wheel_, [&] { ++fired; });
  timer.arm(milliseconds(75000));
  for (int at = 50; at < 75000; at += 50) {
    advance_to(at);
    ASSERT_EQ(fired, 0) << at;
  }
  advance_to(75000);
  EXPECT_EQ(fired, 1);
}

TEST_F(TimerWheelTest, OneLongJumpFiresEverythingThatIsDueAndNothingElse) {
  std::string fired;
  Timer soon(wheel_, [&] { fired += 's'; });
  Timer turn(wheel_, [&] { fired += 't'; });
  Timer late(wheel_, [&] { fired += 'l'; });
  soon.arm(milliseconds(50));
  turn.arm(milliseconds(512 * 50 + 50));  // The same slot, one turn later.
  late.arm(milliseconds(200000));
  advance_to(150000);
  EXPECT_EQ(fired, "st");
  EXPECT_TRUE(late.armed());
  advance_to(200000);
  EXPECT_EQ(fired, "stl");
}

TEST_F(TimerWheelTest, RearmingReplacesTheEarlierTime) {
  int fired = 0;
  Timer timer(wheel_, [&] { ++fired; });
  timer.arm(milliseconds(100));
  advance_to(90);
  timer.arm(milliseconds(100));
  EXPECT_EQ(wheel_.armed(), 1U);
  advance_to(189);
  EXPECT_EQ(fired, 0);
  advance_to(200);
  EXPECT_EQ(fired, 1);
}

TEST_F(TimerWheelTest, ADisarmedTimerDoesNotFire) {
  int fired = 0;
  Timer timer(wheel_, [&] { ++fired; });
  timer.arm(milliseconds(100));
  timer.disarm();
  timer.disarm();
  EXPECT_EQ(wheel_.armed(), 0U);
  advance_to(1000);
  EXPECT_EQ(fired, 0);
}

TEST_F(TimerWheelTest, DestructionDisarms) {
  int fired = 0;
  {
    Timer timer(wheel_, [&] { ++fired; });
    timer.arm(milliseconds(100));
  }
  EXPECT_EQ(wheel_.armed(), 0U);
  advance_to(1000);
  EXPECT_EQ(fired, 0);
}

TEST_F(TimerWheelTest, ACallbackMayRearmItsOwnTimerForTheNextTick) {
  int fired = 0;
  std::optional<Timer> timer;
  timer.emplace(wheel_, [&] {
    ++fired;
    timer->arm(milliseconds(0));
  });
  timer->arm(milliseconds(0));
  // However far the jump, a timer that arms itself fires once per call of advance.
  advance_to(5000);
  EXPECT_EQ(fired, 1);
  advance_to(5050);
  EXPECT_EQ(fired, 2);
  timer.reset();
  EXPECT_EQ(wheel_.armed(), 0U);
}

TEST_F(TimerWheelTest, ACallbackMayDestroyItsOwnTimer) {
  std::unique_ptr<Timer> timer;
  std::string witness = "not fired";
  timer = std::make_unique<Timer>(wheel_, [&timer, &witness] {
    timer.reset();
    witness = "fired";  // Reads the captures after the timer is gone.
  });
  timer->arm(milliseconds(100));
  advance_to(100);
  EXPECT_EQ(witness, "fired");
  EXPECT_EQ(wheel_.armed(), 0U);
}

TEST_F(TimerWheelTest, ACallbackMayDisarmDestroyAndArmOthersOfTheSameTick) {
  std::string fired;
  auto destroyed = std::make_unique<Timer>(wheel_, [&] { fired += 'x'; });
  Timer disarmed(wheel_, [&] { fired += 'y'; });
  Timer moved(wheel_, [&] { fired += 'm'; });
  Timer first(wheel_, [&] {
    fired += 'f';
    destroyed.reset();
    disarmed.disarm();
    moved.arm(milliseconds(100));
  });
  first.arm(milliseconds(100));
  destroyed->arm(milliseconds(100));
  disarmed.arm(milliseconds(100));
  moved.arm(milliseconds(100));
  advance_to(100);
  EXPECT_EQ(fired, "f");
  EXPECT_EQ(wheel_.armed(), 1U);
  advance_to(200);
  EXPECT_EQ(fired, "fm");
}

TEST_F(TimerWheelTest, TimeThatGoesBackwardsIsIgnored) {
  int fired = 0;
  advance_to(1000);
  Timer timer(wheel_, [&] { ++fired; });
  timer.arm(milliseconds(100));
  advance_to(10);
  EXPECT_EQ(fired, 0);
  advance_to(1099);
  EXPECT_EQ(fired, 0);
  advance_to(1100);
  EXPECT_EQ(fired, 1);
}

}  // namespace
}  // namespace fenceline::base
