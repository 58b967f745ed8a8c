#include "proxy/bearer.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

namespace fenceline::proxy {

base::Result<void> check_bearer(const base::RequestHead& head, const std::string& wanted,
                                std::string_view whose) {
  if (wanted.empty()) {
    return {};
  }
  // The name of the scheme is case-insensitive (RFC 9110, 11.1), the token is not.
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view given = head.only("Authorization").value_or("");
  if (given.size() == kScheme.size() + wanted.size() &&
      base::equal_names(given.substr(0, kScheme.size()), kScheme) &&
      CRYPTO_memcmp(given.data() + kScheme.size(), wanted.data(), wanted.size()) == 0) {
    return {};
  }
  auto refusal = base::fail(base::ErrorKind::kUnauthorized,
                            fmt::format("Send {} as 'Authorization: Bearer <token>'.", whose));
  refusal.value().fields.emplace_back("WWW-Authenticate", "Bearer");
  return refusal;
}

}  // namespace fenceline::proxy
