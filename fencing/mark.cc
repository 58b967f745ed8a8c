#include "fencing/mark.h"

namespace fenceline::fencing {

Mark merged(const Mark& stored, const Mark& offered) {
  if (offered.token > stored.token) {
    return offered;
  }
  if (offered.token.exists() && offered.token == stored.token && stored.holder.empty()) {
    return Mark{stored.token, offered.holder};
  }
  return stored;
}

}  // namespace fenceline::fencing
