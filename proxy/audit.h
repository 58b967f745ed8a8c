#pragma once

#include "base/error.h"
#include "base/token.h"
#include "proxy/exchange.h"
#include "proxy/rejections.h"

namespace fenceline::proxy {

/// Tells people what the fence did: one log line, one count and, for a rejection, one entry in the
/// list of recent rejections. Thread-safe.
class Audit {
 public:
  /// `rejections` must outlive this.
  explicit Audit(Rejections& rejections) : rejections_(rejections) {}

  /// The fence refused a request (`enforced`), or would have on an observing route.
  void rejected(const Exchange& exchange, const base::Error& error, base::Token highest,
                bool enforced);

  /// A request failed on our side: one log line if the store or we are to blame, because then the
  /// operator has to do something; nothing for any other kind.
  void failed(const Exchange& exchange, const base::Error& error);

  /// A token higher than all before was admitted.
  void took_over(const Exchange& exchange, base::Token previous);

 private:
  Rejections& rejections_;
};

}  // namespace fenceline::proxy
