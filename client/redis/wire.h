#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"

namespace fenceline::client::redis {

/// What became of an attempt to move bytes without waiting.
struct Moved {
  enum class What : std::uint8_t { kDone, kMustRead, kMustWrite, kEnded, kFailed };

  What what = What::kDone;
  std::size_t bytes = 0;  ///< With `kDone`.
  std::string reason{};   ///< With `kFailed`.
};

/// The bytes of one connection, over TCP or TLS. Never blocks, never raises SIGPIPE.
class Wire {
 public:
  Wire() = default;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  virtual ~Wire() = default;

  [[nodiscard]] virtual int fd() const = 0;

  /// The handshake of TLS, as far as it goes now; `kDone` at once without TLS.
  virtual Moved secure() = 0;
  virtual Moved write(std::string_view bytes) = 0;
  virtual Moved read(std::span<char> into) = 0;

  /// True if nothing has come that nobody asked for, such as the end of the connection.
  virtual bool quiet() = 0;
};

/// The rules of TLS: whom we trust. May be shared.
class Tls {
 public:
  Tls() = default;
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;
  virtual ~Tls() = default;

  /// Null if OpenSSL has no memory for it. The server must prove to be `name`.
  virtual std::unique_ptr<Wire> make_wire(base::UniqueFd fd, const std::string& name) = 0;
};

/// `ca_file`: PEM; the system's authorities if empty. Failure: `kMalformedRequest`, naming the
/// file.
base::Result<std::shared_ptr<Tls>> make_tls(const std::string& ca_file);

/// `fd` is non-blocking; it may be connecting still.
std::unique_ptr<Wire> make_plain_wire(base::UniqueFd fd);

}  // namespace fenceline::client::redis
