#include "client/redis/failures.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "base/bytes.h"

namespace fenceline::client::redis {
namespace {

using base::ErrorKind;

struct Row {
  std::string_view starts;  ///< How the error begins, or what it contains.
  ErrorKind kind;
  std::string_view advice;
};

constexpr std::array kRows = {
    Row{"NOAUTH", ErrorKind::kUnauthorized,
        "Write the password into the URL, as in redis://:password@host."},
    Row{"WRONGPASS", ErrorKind::kUnauthorized, "Check user and password of the URL."},
    Row{"ERR AUTH", ErrorKind::kUnauthorized,
        "The server has no password: leave it out of the URL."},
    Row{"ERR invalid password", ErrorKind::kUnauthorized, "Check the password of the URL."},
    Row{"NOPERM", ErrorKind::kUnauthorized,
        "The user needs EVAL and the commands of the scripts (docs/sources.md)."},
    Row{"DENIED", ErrorKind::kUnauthorized,
        "The server is in protected mode: bind it, or set a password."},
    Row{"READONLY", ErrorKind::kUpstreamFailed, "This is a replica: name the master."},
    Row{"MOVED", ErrorKind::kUpstreamFailed,
        "This is a cluster, whose keys live on other nodes: name a server that is none."},
    Row{"CROSSSLOT", ErrorKind::kUpstreamFailed,
        "This is a cluster, and the prefix or key breaks its hash tag: name a server that is "
        "none."},
    Row{"CLUSTERDOWN", ErrorKind::kUpstreamFailed,
        "This is a cluster without its slots: name a server that is none."},
    Row{"LOADING", ErrorKind::kUpstreamFailed, "It reads its data after a start: try again."},
    Row{"OOM", ErrorKind::kUpstreamFailed, "Its memory is used up: raise maxmemory."},
    Row{"MISCONF", ErrorKind::kUpstreamFailed, "It cannot write to its disk: see its log."},
    Row{"BUSY", ErrorKind::kUpstreamFailed, "Another script keeps it: try again."},
    Row{"would overflow", ErrorKind::kUpstreamFailed,
        "The counter is at its end, 2^63-1: use another prefix or key, or set it back together "
        "with the fence (fenceline fences reset)."},
    Row{"not an integer", ErrorKind::kUpstreamFailed,
        "The counter of the key is no number: somebody else writes it; use another prefix."},
    Row{"WRONGTYPE", ErrorKind::kUpstreamFailed,
        "Somebody else uses the name of the lock or of its counter: use another prefix."},
    Row{"DB index", ErrorKind::kUpstreamFailed,
        "Write another database number into the URL, or none."},
    Row{"", ErrorKind::kUpstreamFailed, "See the server's log."},
};

}  // namespace

base::Error error_of(const Reply& reply, std::string_view name) {
  // The server's own words may quote what it was sent; they are cut and must be printable.
  constexpr std::size_t kMaxQuoted = 200;
  std::string quoted = reply.text.substr(0, kMaxQuoted);
  if (quoted.ends_with('.')) {
    quoted.pop_back();
  }
  for (const Row& row : kRows) {
    if (quoted.find(row.starts) != std::string::npos) {
      return {row.kind,
              fmt::format("Redis at {} refuses: {}. {}", name,
                          base::is_printable(quoted) ? quoted : "(not printable)", row.advice)};
    }
  }
  return strange_answer(name);
}

base::Error strange_answer(std::string_view name) {
  return {
      ErrorKind::kUpstreamFailed,
      fmt::format("Redis at {} gives an answer that none of our scripts gives: is it Redis?", name),
      base::Applied::kUnknown};
}

}  // namespace fenceline::client::redis
