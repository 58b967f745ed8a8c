#pragma once

// HTTP messages as plain data (RFC 9110, RFC 9112): what the rooms exchange instead of a library's
// types. `proxy` parses bytes into a RequestHead and serialises a Reply; nobody else sees bytes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/field_lines.h"
#include "base/field_syntax.h"
#include "base/unique_fd.h"

namespace fenceline::base {

enum class Method : std::uint8_t { kGet, kHead, kPut, kDelete, kPost, kOptions, kPatch, kOther };

/// One header field; views into storage that the holder of the message owns.
struct Field {
  std::string_view name;
  std::string_view value;
};

/// A request head that has passed every framing check. All views point into storage owned by the
/// connection and stay valid until the request has been answered.
struct RequestHead {
  Method method = Method::kOther;
  std::string_view method_text;
  std::string_view target;  ///< As sent, origin form: path and query.
  std::string_view path;    ///< Undecoded; decoded exactly once, by the router.
  std::string_view query;   ///< Undecoded, without `?`.
  int minor_version = 1;
  std::vector<Field> fields;
  std::optional<std::uint64_t> content_length;
  bool chunked = false;
  bool keep_alive = true;
  bool expects_continue = false;

  /// The number of fields of this name.
  [[nodiscard]] std::size_t count(std::string_view name) const;

  /// The value of the only field of this name; nothing if there is none or more than one.
  [[nodiscard]] std::optional<std::string_view> only(std::string_view name) const;

  /// All values of this name joined with ", " (RFC 9110, 5.3); nothing if there is none.
  [[nodiscard]] std::optional<std::string> joined(std::string_view name) const;
};

/// A body that arrives piece by piece. One reader, on one core.
class BodySource {
 public:
  BodySource() = default;
  BodySource(const BodySource&) = delete;
  BodySource& operator=(const BodySource&) = delete;
  virtual ~BodySource() = default;

  /// The length that the sender declared; nothing for a chunked body. Counted in bytes.
  [[nodiscard]] virtual std::optional<std::uint64_t> declared_bytes() const = 0;

  /// Gives the next piece.
  /// Does: the first call answers `Expect: 100-continue`, so nobody reads before the fence has let
  /// the request pass.
  /// Success: at least one byte, valid until the next call; an empty view at the end of a complete
  /// body, and again on every later call.
  /// Failure: `kClientGone`, `kRequestTimeout`, `kBodyTooLarge`, `kMalformedRequest`,
  /// `kShuttingDown`, `kOverloaded`; every later call fails the same way. A truncated body is never
  /// reported as complete.
  virtual Awaitable<Result<std::string_view>> read() = 0;

  /// How long the sender may be silent between two pieces, instead of the connection's default;
  /// from the next `read` on. Nothing for a body that waits for nobody.
  virtual void limit_idle(Milliseconds /*limit*/) {}
};

/// A part of an open file, sent without copying it through our memory where possible.
struct FileSlice {
  UniqueFd fd;
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
};

using ReplyBody = std::variant<std::monostate, std::string, FileSlice, std::unique_ptr<BodySource>>;

/// An answer. The session adds `Date`, `Content-Length` or `Transfer-Encoding`, and `Connection`;
/// no one else sets these.
struct Reply {
  int status = 200;
  FieldLines fields;
  ReplyBody body;
  /// On an answer to HEAD, and on 304: the length a GET would have had. Never a body.
  std::optional<std::uint64_t> head_length_bytes;

  /// Adds a field; an answer with one that `FieldLines` refuses goes out as 500.
  void add(FieldName name, std::string_view value) { fields.add(name, value); }
};

/// `name` as an enum; `kOther` for what is not in it. Method names are case-sensitive.
Method method_from(std::string_view name);

}  // namespace fenceline::base
