#include "fencing/lease/lease_change.h"

namespace fenceline::fencing {

base::Result<base::Token> token_after(base::Token highest) {
  if (highest.value() == base::Token::kMax) {
    return base::fail(base::ErrorKind::kConstraintFailed,
                      "The tokens of this key have come to their end, 2^63-1, so no lease can be "
                      "granted any more. Somebody has presented that token, or one close to it: "
                      "an operator can end whoever holds it, and then set the mark back with a "
                      "reset (fenceline fences reset).");
  }
  return base::Token::of(highest.value() + 1);
}

base::Token sequence_after(base::Token last, base::Token token) {
  return token.value() <= kHighestRemembered ? token : last;
}

base::Error granted_twice() {
  return base::Error{base::ErrorKind::kInternal,
                     "The store of leases holds another lease on one of these keys.",
                     base::Applied::kNo};
}

}  // namespace fenceline::fencing
