#pragma once

// What the answers of N servers mean together. Pure.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/token.h"
#include "client/redis/reply.h"

namespace fenceline::client::redlock {

using Replies = std::vector<base::Result<redis::Reply>>;

/// Tokens go through Lua, whose numbers are exact up to here.
inline constexpr std::int64_t kMaxToken = (std::int64_t{1} << 53) - 1;

/// How many of `nodes` decide: any two majorities share a member.
constexpr std::size_t quorum(std::size_t nodes) { return nodes / 2 + 1; }

/// What one node said to LOCK.
struct LockAnswer {
  enum class What : std::uint8_t { kGranted, kHeld, kNoMember, kFailed };

  What what = What::kFailed;
  std::int64_t counter = 0;    ///< With `kGranted` and `kHeld`.
  base::Milliseconds left{0};  ///< With `kHeld`.
  std::string owner{};         ///< With `kHeld`.
};

LockAnswer read_lock(const base::Result<redis::Reply>& reply);

/// What all nodes said to LOCK.
struct LockRound {
  std::vector<LockAnswer> answers;

  explicit LockRound(const Replies& replies);

  [[nodiscard]] std::size_t count(LockAnswer::What what) const;
  [[nodiscard]] bool granted() const;

  /// True if so many hold it for others that it can only be theirs.
  [[nodiscard]] bool held() const;

  /// The token of this attempt: above every counter that anybody told. Failure: `kUpstreamFailed`
  /// at the end of all tokens.
  [[nodiscard]] base::Result<base::Token> next_token() const;

  /// The owner that most of the refusing nodes name, and the shortest time that one of its locks
  /// has left.
  struct Owner {
    std::string value{};
    base::Milliseconds left{0};
  };
  [[nodiscard]] Owner owner() const;
};

/// How many nodes said the integer `value`.
std::size_t said(const Replies& replies, std::int64_t value);

/// What renewing or releasing, with `ones` and `zeros` from `nodes`, came to.
enum class Standing : std::uint8_t {
  kHeld,     ///< A majority had it.
  kLost,     ///< So many had not that there was no majority.
  kUnknown,  ///< Too few have answered.
};
Standing standing(const Replies& replies);

/// Who has the lock by majority, from the answers to `kShow`.
struct Shown {
  bool known = false;          ///< A majority has answered.
  bool sure = false;           ///< More answers could not change it.
  std::string owner{};         ///< Empty: nobody.
  base::Milliseconds left{0};  ///< Until the majority is gone.
};
Shown read_shown(const Replies& replies);

}  // namespace fenceline::client::redlock
