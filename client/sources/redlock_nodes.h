#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "client/redis/peer.h"
#include "client/source_url.h"
#include "client/sources/redlock_decide.h"

namespace fenceline::client::redlock {

/// The N servers of a Redlock, asked all at once. Not thread-safe.
class Nodes {
 public:
  Nodes(const std::vector<redis::PeerOptions>& servers, std::string prefix);

  [[nodiscard]] std::size_t size() const { return peers_.size(); }
  [[nodiscard]] std::size_t quorum() const { return redlock::quorum(size()); }
  [[nodiscard]] redis::Peer& peer(std::size_t node) { return *peers_.at(node); }
  [[nodiscard]] const std::string& name(std::size_t node) const { return peers_.at(node)->name(); }
  [[nodiscard]] const std::string& prefix() const { return prefix_; }

  /// The name of the marker of membership.
  [[nodiscard]] std::string member_name() const { return prefix_ + "member"; }

  /// Looks at what has come so far, true if the rest is not needed; may be empty.
  using Enough = std::function<bool(const Replies&)>;

  /// Asks the nodes with `whom[node]` (all if it is empty).
  /// Success: one answer for each node; one that was not asked has a failure, and so has one whose
  /// answer is an error of Redis or did not come within `deadline`.
  Replies ask(const std::string& command, base::Milliseconds deadline, const Enough& enough,
              std::stop_token stop, const std::vector<bool>& whom = {});

  /// Tells the nodes with `whom[node]` to run `command`, without waiting: behind what they have
  /// been asked, on the same connection, which ends with it.
  void last_words(const std::string& command, const std::vector<bool>& whom);

  /// True if the node owes an answer still.
  [[nodiscard]] bool is_silent(std::size_t node) const {
    return peers_.at(node)->wanted().has_value();
  }

 private:
  std::string prefix_;
  std::vector<std::unique_ptr<redis::Peer>> peers_;
};

/// `redlock://` or `redlocks://` with at least three nodes.
base::Result<Nodes> make_nodes(SourceUrl url);

/// Why too few nodes took part: how many are needed, and what each that did not said. `no_member`:
/// which of them are no members.
std::string shortage(const Nodes& nodes, const Replies& replies,
                     const std::vector<bool>& no_member);

}  // namespace fenceline::client::redlock
