#pragma once

#include <string_view>

#include "base/error.h"
#include "client/token_source.h"

namespace fenceline::client {

/// For the sources that lock one name at a time: checks that the order has one key, and a ttl of at
/// least `shortest`. `service` is named in the message. Pure.
/// Failure: `kMalformedRequest`.
base::Result<void> check_one_key(const LeaseOrder& order, std::string_view service,
                                 base::Milliseconds shortest);

/// How much earlier than the service the holder takes its lease for ended, because two clocks do
/// not run at the same speed: 1 % and 2 ms. Pure.
base::Milliseconds drift_of(base::Milliseconds ttl);

/// The failure of a call whose stop was requested.
base::Error stopped_error(base::Applied applied);

/// `kLeaseEnded`, with a sentence. Pure.
base::Error ended_error(const Grant& grant);

/// `kLeaseHeld`: who holds the key, as far as is known. Pure.
base::Error held_error(const base::FenceKey& key, std::string_view holder, base::Token token);

}  // namespace fenceline::client
