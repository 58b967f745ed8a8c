#include "backends/files/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "backends/files/packed.h"
#include "base/bytes.h"
#include "base/digits.h"

namespace fenceline::backends::files {
namespace {

constexpr std::string_view kTextVersion = "1";
constexpr char kVersion = '\x02';
constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
constexpr std::int64_t kSettledNs = 2 * kNanosPerSecond;

/// A file may bear any time: those outside the years 1748 to 2255 count as the nearest inside, so
/// that neither the number nor its distance from now overflows.
std::int64_t nanos(const timespec& time) {
  constexpr std::int64_t kFirst = -7'000'000'000;
  constexpr std::int64_t kLast = 9'000'000'000;
  return std::clamp<std::int64_t>(time.tv_sec, kFirst, kLast) * kNanosPerSecond + time.tv_nsec;
}

// The text before the next blank, which goes too; nothing if there is no blank.
std::optional<std::string_view> take_word(std::string_view& rest) {
  const auto blank = rest.find(' ');
  if (blank == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view word = rest.substr(0, blank);
  rest.remove_prefix(blank + 1);
  return word;
}

std::optional<base::Token> parse_token(std::string_view text) {
  if (text == "0") {
    return base::Token();
  }
  const auto token = base::Token::parse(text);
  return token ? std::optional(*token) : std::nullopt;
}

// `1 <token> <nonce> <request id> <content type>`, as it was written first.
std::optional<Metadata> decode_text(std::string_view text) {
  if (!base::is_printable(text) || take_word(text) != kTextVersion) {
    return std::nullopt;
  }
  const auto token_text = take_word(text);
  const auto nonce = take_word(text);
  const auto request_id = take_word(text);
  if (!token_text || !nonce || !request_id || nonce->size() > PackedId::kMaxBytes ||
      request_id->size() > PackedId::kMaxBytes) {
    return std::nullopt;
  }
  const auto token = parse_token(*token_text);
  if (!token) {
    return std::nullopt;
  }
  return Metadata{*token, PackedId(*nonce), PackedId(*request_id), text};
}

std::optional<Metadata> decode_packed(std::string_view rest) {
  const auto token = take_number(rest);
  if (!token || *token > static_cast<std::uint64_t>(base::Token::kMax)) {
    return std::nullopt;
  }
  const auto nonce = PackedId::take(rest);
  const auto request_id = nonce ? PackedId::take(rest) : std::nullopt;
  if (!request_id || !base::is_printable(rest)) {
    return std::nullopt;
  }
  return Metadata{base::Token::of(static_cast<std::int64_t>(*token)), *nonce, *request_id, rest};
}

}  // namespace

std::string encode(const Metadata& metadata) {
  constexpr std::size_t kUsual = 64;
  std::string value;
  value.reserve(kUsual + metadata.content_type.size());
  value += kVersion;
  append_number(value, static_cast<std::uint64_t>(metadata.token.value()));
  metadata.nonce.append_to(value);
  metadata.request_id.append_to(value);
  return value.append(metadata.content_type);
}

std::optional<Metadata> decode(std::string_view value) {
  if (value.empty()) {
    return std::nullopt;
  }
  auto found = value.front() == kVersion ? decode_packed(value.substr(1)) : decode_text(value);
  // The nonce goes into an entity tag.
  return found && found->nonce.fits_into_quotes() ? found : std::nullopt;
}

std::string etag_of(std::string_view nonce, const struct stat& status) {
  constexpr std::size_t kMostMore = 36;  // Two numbers of at most 16 digits and four signs.
  std::string tag(nonce.size() + kMostMore, '"');
  char* end = tag.data() + 1;
  std::memcpy(end, nonce.data(), nonce.size());
  end += nonce.size();
  *end++ = '-';
  end = base::put_hex(end, static_cast<std::uint64_t>(nanos(status.st_mtim)));
  *end++ = '-';
  end = base::put_hex(end, static_cast<std::uint64_t>(status.st_size));
  *end++ = '"';
  tag.resize(static_cast<std::size_t>(end - tag.data()));
  return tag;
}

std::string foreign_etag(const struct stat& status, std::int64_t now_ns) {
  const std::int64_t changed = nanos(status.st_ctim);
  const std::int64_t modified = nanos(status.st_mtim);
  const std::int64_t age = now_ns - std::max(changed, modified);
  return fmt::format("{}\"x{:x}-{:x}-{:x}-{:x}\"", age < kSettledNs ? "W/" : "", status.st_ino,
                     changed, modified, status.st_size);
}

base::Result<void> inspect(Syscalls& calls, int fd, FileState& file) {
  struct stat status {};
  if (const int code = calls.stat(fd, status); code < 0) {
    return tl::unexpected(base::error_from_errno(-code, "look at the file"));
  }
  return inspect(calls, fd, status, file);
}

base::Result<void> inspect(Syscalls& calls, int fd, const struct stat& status, FileState& file) {
  file.status = status;
  const ssize_t bytes =
      calls.get_xattr(fd, kAttributeName, file.attribute.data(), file.attribute.size());
  if (bytes >= 0) {
    file.metadata = decode({file.attribute.data(), static_cast<std::size_t>(bytes)});
  } else if (bytes != -ENODATA && bytes != -ENOTSUP && bytes != -ERANGE) {
    return tl::unexpected(
        base::error_from_errno(static_cast<int>(-bytes), "read the file's attribute"));
  }
  PackedId::Space space;  // NOLINT: written as far as it is used.
  file.etag = file.metadata ? etag_of(file.metadata->nonce.text(space), status)
                            : foreign_etag(status, calls.wall_clock_ns());
  return {};
}

}  // namespace fenceline::backends::files
