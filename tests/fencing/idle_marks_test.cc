#include "fencing/idle_marks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "base/fence_key.h"
#include "tests/support/ledger_calls.h"

namespace fenceline::fencing {
namespace {

using base::Token;
using ::fenceline::testing::mark_of;

/// All keys share one hash.
std::size_t one_for_all(std::string_view /*key*/) { return 0x9e3779b97f4a7c15U; }
/// Few homes, one tag: keys meet again and again, and are told apart by their text alone.
std::size_t few(std::string_view key) { return (hash_of(key) % 8) << 60U; }

HashedKey hashed(std::string_view key, IdleMarks::Hash hash = hash_of) {
  HashedKey result(key);
  result.hash = hash(key);
  return result;
}

std::string name(std::uint64_t index) { return "exports/customer/" + std::to_string(index); }

/// Puts, takes and finds at random, beside a map that says what must come out.
class Walk {
 public:
  Walk(IdleMarks& marks, IdleMarks::Hash hash, unsigned seed)
      : marks_(marks), hash_(hash), random_(seed) {}

  /// True if the store may have forgotten a key that the map has.
  bool may_forget = false;

  void steps(int count, std::uint64_t keys) {
    for (int i = 0; i < count; ++i) {
      step(random_() % keys);
    }
    for (std::uint64_t i = 0; i < keys; ++i) {
      const std::string key = text_of(i);
      expect(key, marks_.find(hashed(key, hash_)));
    }
    if (may_forget) {
      EXPECT_LE(marks_.size(), model_.size());
    } else {
      EXPECT_EQ(marks_.size(), model_.size());
    }
  }

  [[nodiscard]] const std::map<std::string, Mark>& model() const { return model_; }

 private:
  /// Some are as long as a key may be; a key has always the same length.
  static std::string text_of(std::uint64_t index) {
    std::string text = name(index);
    if (index % 7 == 3) {
      text.resize(index % 2 == 0 ? base::FenceKey::kMaxBytes : 300, '/');
    }
    return text;
  }

  Mark any_mark() {
    // Every number of significant bytes, and none at all.
    const auto token = static_cast<std::int64_t>(random_() >> (1 + random_() % 63));
    Mark mark{Token::of(token), {}};
    switch (random_() % 8) {
      case 0:
        mark.holder = std::string(kMaxHolderBytes, 'h');
        break;
      case 1:
        mark.holder = "w";
        break;
      case 2:
        mark.holder = "worker-" + std::to_string(token);
        break;
      default:
        break;
    }
    return mark;
  }

  void step(std::uint64_t index) {
    const std::string key = text_of(index);
    switch (random_() % 5) {
      case 0:
      case 1:
      case 2: {
        const Mark mark = any_mark();
        marks_.put(hashed(key, hash_), mark);
        model_[key] = mark;
        break;
      }
      case 3:
        expect(key, marks_.take(hashed(key, hash_)));
        ASSERT_EQ(marks_.find(hashed(key, hash_)), std::nullopt);
        model_.erase(key);
        break;
      default:
        expect(key, marks_.find(hashed(key, hash_)));
    }
  }

  void expect(const std::string& key, const std::optional<Mark>& found) {
    const auto known = model_.find(key);
    if (known == model_.end()) {
      ASSERT_EQ(found, std::nullopt) << key;
    } else if (found || !may_forget) {
      ASSERT_EQ(found, known->second) << key;
    }
  }

  IdleMarks& marks_;
  IdleMarks::Hash hash_;
  std::mt19937_64 random_;
  std::map<std::string, Mark> model_;
};

TEST(IdleMarksTest, NothingIsHeldAtFirst) {
  IdleMarks marks;
  EXPECT_EQ(marks.find(hashed("a")), std::nullopt);
  EXPECT_EQ(marks.take(hashed("a")), std::nullopt);
  EXPECT_FALSE(marks.forget_oldest());
  EXPECT_EQ(marks.size(), 0U);
  EXPECT_EQ(marks.bytes(), 0U);
}

TEST(IdleMarksTest, KeepsWhatAMapKeeps) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    IdleMarks marks;
    Walk walk(marks, hash_of, seed);
    walk.steps(2'000, 10);
    walk.steps(20'000, 300);
    walk.steps(60'000, 20'000);
    walk.steps(20'000, 300);
  }
}

TEST(IdleMarksTest, KeysOfLikeHashAreToldApartByTheirText) {
  IdleMarks marks(MarkArena::kMaxSegments, few);
  Walk walk(marks, few, 4);
  walk.steps(30'000, 200);
}

TEST(IdleMarksTest, AFloodOfKeysOfOneHashIsForgottenAndNeverMixedUp) {
  IdleMarks marks(MarkArena::kMaxSegments, one_for_all);
  Walk walk(marks, one_for_all, 5);
  walk.may_forget = true;
  walk.steps(20'000, 2'000);
  EXPECT_LE(marks.size(), PositionIndex::kMaxAway + 1U);
  EXPECT_GE(marks.size(), 200U);
}

TEST(IdleMarksTest, AFullArenaForgetsAndNeverMixesUp) {
  for (const std::size_t segments : {1U, 2U, 3U, 20U}) {
    IdleMarks marks(segments);
    Walk walk(marks, hash_of, 6);
    walk.may_forget = true;
    walk.steps(40'000, 3'000);
    EXPECT_LT(marks.size(), walk.model().size());
    EXPECT_LE(marks.bytes(), segments * MarkArena::kSegmentBytes + 5U * 4'000U);
  }
}

TEST(IdleMarksTest, APutReplaces) {
  IdleMarks marks;
  marks.put(hashed("a"), mark_of(9, "worker"));
  marks.put(hashed("a"), mark_of(5));
  EXPECT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks.take(hashed("a")), mark_of(5));
  EXPECT_EQ(marks.size(), 0U);
}

TEST(IdleMarksTest, TheOldestIsForgottenFirst) {
  IdleMarks marks;
  constexpr int kKeys = 3'000;
  for (int i = 0; i < kKeys; ++i) {
    marks.put(hashed(name(i)), mark_of(i));
  }
  // Used in the meantime: no longer the oldest.
  const auto used = marks.take(hashed(name(0)));
  marks.put(hashed(name(0)), *used);
  for (int i = 1; i < kKeys; ++i) {
    ASSERT_EQ(marks.find(hashed(name(i))), mark_of(i));
    ASSERT_TRUE(marks.forget_oldest());
    ASSERT_EQ(marks.find(hashed(name(i))), std::nullopt) << i;
  }
  EXPECT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks.find(hashed(name(0))), mark_of(0));
  EXPECT_TRUE(marks.forget_oldest());
  EXPECT_FALSE(marks.forget_oldest());
}

TEST(IdleMarksTest, AKeyCostsFewBytesMoreThanItsText) {
  IdleMarks marks;
  constexpr std::uint64_t kKeys = 100'000;
  std::size_t text = 0;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    marks.put(hashed(name(i)), mark_of(7));
    text += name(i).size();
  }
  EXPECT_LE(marks.bytes() - text, kKeys * 11);
}

TEST(IdleMarksTest, SpaceComesBack) {
  IdleMarks marks;
  constexpr std::uint64_t kKeys = 20'000;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    marks.put(hashed(name(i)), mark_of(7));
  }
  const std::size_t filled = marks.bytes();
  std::mt19937_64 random(8);
  for (int i = 0; i < 200'000; ++i) {
    const std::string key = name(random() % kKeys);
    const auto mark = marks.take(hashed(key));
    ASSERT_EQ(mark, mark_of(7));
    marks.put(hashed(key), *mark);
  }
  EXPECT_EQ(marks.size(), kKeys);
  EXPECT_LE(marks.bytes(), filled + filled / 4 + 2 * MarkArena::kSegmentBytes);
  while (marks.forget_oldest()) {
  }
  EXPECT_LE(marks.bytes(), MarkArena::kSegmentBytes + 5 * (kKeys + kKeys / 2));
}

}  // namespace
}  // namespace fenceline::fencing
