#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "proxy/request_parser.h"

namespace fenceline::proxy::testing {

/// What a parser made of a stream of bytes, in a form that can be compared.
struct Outcome {
  std::optional<base::ErrorKind> error;
  std::string detail;
  bool head_done = false;
  bool body_done = false;
  std::string head;            ///< Every property of the head, as text.
  std::string body;            ///< The content, joined.
  std::size_t used_bytes = 0;  ///< Head and body; 0 after an error.

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome);

/// Feeds `raw` to one fresh parser through a buffer, as a session does. `cuts` are the offsets at
/// which a new read begins; bytes after the request stay unread.
Outcome drive(std::string_view raw, const std::vector<std::size_t>& cuts, HeadLimits limits = {});

/// `drive` with one read.
Outcome drive_whole(std::string_view raw, HeadLimits limits = {});

/// `drive` whole, byte by byte, and (up to `kMaxSplitBytes`) cut in two at every boundary; a test
/// failure if the outcomes differ.
Outcome drive_every_way(std::string_view raw, HeadLimits limits = {});

inline constexpr std::size_t kMaxSplitBytes = 2048;

/// One row of a table: bytes, and the error they must give; no error: the request is accepted.
struct HeadCase {
  std::string raw;
  std::optional<base::ErrorKind> error;
};

/// Runs every row every way.
void check_cases(const std::vector<HeadCase>& cases, HeadLimits limits = {});

}  // namespace fenceline::proxy::testing
