#include "client/sources/redlock_nodes.h"

#include <fmt/format.h>

#include <utility>

#include "client/redis/failures.h"
#include "client/redis/round.h"
#include "client/sources/redis_url.h"

namespace fenceline::client::redlock {

using base::ErrorKind;
using base::Result;
using redis::Reply;

Nodes::Nodes(const std::vector<redis::PeerOptions>& servers, std::string prefix)
    : prefix_(std::move(prefix)) {
  for (const redis::PeerOptions& server : servers) {
    peers_.push_back(redis::make_peer(server));
  }
}

Replies Nodes::ask(const std::string& command, base::Milliseconds deadline, const Enough& enough,
                   std::stop_token stop, const std::vector<bool>& whom) {
  std::vector<redis::Question> questions;
  std::vector<std::size_t> asked;
  for (std::size_t node = 0; node < size(); ++node) {
    if (whom.empty() || whom[node]) {
      questions.push_back({peers_[node].get(), command});
      asked.push_back(node);
    }
  }
  Replies replies;
  for (const auto& peer : peers_) {
    replies.emplace_back(base::fail(
        ErrorKind::kUpstreamFailed,
        fmt::format("Redis at {} was not asked, or owes an earlier answer.", peer->name())));
  }
  redis::RoundRules rules;
  rules.deadline = deadline;
  if (enough) {
    rules.enough = [&](const std::vector<redis::Answer>& answers) {
      Replies so_far = replies;
      for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i]) {
          so_far[asked[i]] = *answers[i];
        }
      }
      return enough(so_far);
    };
  }
  auto answers = redis::ask_round(std::move(questions), rules, std::move(stop));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    auto& answer = answers[i];
    if (answer && answer->is_error()) {
      answer = tl::unexpected<base::Error>(redis::error_of(*answer, name(asked[i])));
    }
    replies[asked[i]] = std::move(answer);
  }
  return replies;
}

void Nodes::last_words(const std::string& command, const std::vector<bool>& whom) {
  for (std::size_t node = 0; node < size(); ++node) {
    if (whom[node]) {
      peers_[node]->give_up(command);
    }
  }
}

Result<Nodes> make_nodes(SourceUrl url) {
  constexpr std::size_t kFewest = 3;
  constexpr std::size_t kMost = 15;
  auto read = read_redis_url(std::move(url), "redlocks", "fenceline:redlock:");
  if (!read) {
    return base::pass_on(read.error());
  }
  const std::size_t count = read->servers.size();
  if (count < kFewest || count > kMost) {
    return base::fail(
        ErrorKind::kMalformedRequest,
        fmt::format("A Redlock has {} to {} nodes, not {}: with fewer none may fail. Write "
                    "redlock://a,b,c, or redis:// for a single one.",
                    kFewest, kMost, count));
  }
  return Nodes(read->servers, std::move(read->prefix));
}

std::string shortage(const Nodes& nodes, const Replies& replies,
                     const std::vector<bool>& no_member) {
  std::string reasons;
  bool any_outside = false;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (no_member[node]) {
      any_outside = true;
      reasons += fmt::format(" {} is no member.", nodes.name(node));
    } else if (!replies[node]) {
      reasons += " " + replies[node].error().detail;
    }
  }
  if (any_outside) {
    reasons +=
        " A server that never was a member is made one by `fenceline lease redlock-init`, one that "
        "has lost its data by `fenceline lease redlock-resync`.";
  }
  return fmt::format("Of the {} nodes of the Redlock {} are needed, and too few take part:{}",
                     nodes.size(), nodes.quorum(), reasons);
}

}  // namespace fenceline::client::redlock
