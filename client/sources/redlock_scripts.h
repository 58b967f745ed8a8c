#pragma once

// What the members of a Redlock run (docs/sources.md has the protocol and why it holds). Lua
// numbers are doubles, so tokens stay below 2^53.

#include <string_view>

namespace fenceline::client::redlock {

/// KEYS lock, counter, member; ARGV owner, ttl in ms. Takes the lock where it is free or the
/// owner's. Gives {1, counter} or {0, counter, left in ms, owner}; {-1} if the server is no member,
/// which is what it is when it has lost its data. The member's value is its floor: no counter there
/// counts as less.
inline constexpr std::string_view kLock = R"(
local floor = redis.call('GET', KEYS[3])
if not floor then return {-1} end
local counter = math.max(tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(floor))
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then
  return {0, counter, redis.call('PTTL', KEYS[1]), owner}
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1, counter})";

/// KEYS lock, counter, member; ARGV owner, token. Gives 1, 0 if the lock is not the owner's any
/// more, -1 if the server is no member.
inline constexpr std::string_view kCommit = R"(
if redis.call('EXISTS', KEYS[3]) == 0 then return -1 end
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if tonumber(ARGV[2]) > tonumber(redis.call('GET', KEYS[2]) or '0') then
  redis.call('SET', KEYS[2], ARGV[2])
end
return 1)";

/// KEYS lock; ARGV owner, ttl in ms.
inline constexpr std::string_view kRenew =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then "
    "return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";

/// KEYS lock; ARGV owner.
inline constexpr std::string_view kRelease =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/// KEYS lock. Gives {owner, left in ms}; the owner is empty if there is none.
inline constexpr std::string_view kShow =
    "return {redis.call('GET', KEYS[1]) or '', redis.call('PTTL', KEYS[1])}";

/// KEYS member; ARGV cursor, pattern, count. Looks through a part of all locks and counters. Gives
/// {next cursor, highest counter, longest left in ms, names found, floor or ''}.
inline constexpr std::string_view kSurvey = R"(
local found = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
local highest, longest = 0, 0
for _, name in ipairs(found[2]) do
  if string.sub(name, -6) == ':token' then
    highest = math.max(highest, tonumber(redis.call('GET', name)))
  elseif string.sub(name, -5) == ':lock' then
    longest = math.max(longest, redis.call('PTTL', name))
  end
end
return {found[1], highest, longest, #found[2], redis.call('GET', KEYS[1]) or ''})";

}  // namespace fenceline::client::redlock
