#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "base/token.h"
#include "fencing/source_watch.h"
#include "proxy/exchange.h"
#include "proxy/rejections.h"

namespace fenceline::proxy {

/// Tells people what the fence did: one log line, one count and, for a rejection, one entry in the
/// list of recent rejections; and when the refusals look as if a token source was reset.
/// Thread-safe.
class Audit {
 public:
  /// The arguments must outlive this.
  Audit(Rejections& rejections, fencing::SourceWatch& source_watch, const base::Clock& clock)
      : rejections_(rejections), source_watch_(source_watch), clock_(clock) {}

  /// The fence refused a request (`enforced`), or would have on an observing route.
  void rejected(const Exchange& exchange, const base::Error& error, base::Token highest,
                bool enforced);

  /// A request with the current token of its key got through.
  void passed(const Exchange& exchange) { source_watch_.passed(exchange.key->text()); }

  /// A request failed on our side: one log line if the store or we are to blame, because then the
  /// operator has to do something; nothing for any other kind.
  void failed(const Exchange& exchange, const base::Error& error);

  /// A token higher than all before was admitted.
  void took_over(const Exchange& exchange, base::Token previous);

 private:
  void watch_source(const Exchange& exchange, base::Token highest);

  Rejections& rejections_;
  fencing::SourceWatch& source_watch_;
  const base::Clock& clock_;
};

}  // namespace fenceline::proxy
