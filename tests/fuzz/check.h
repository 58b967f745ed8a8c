#pragma once

// What every fuzzer is made of: libFuzzer calls LLVMFuzzerTestOneInput with one input after the
// other and keeps those that reach new code. A crash, a sanitizer's report, and a promise that
// `check` finds broken end the program and leave the input behind (scripts/fuzz says where).

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fenceline::fuzz {

/// Ends the program with `promise` and `shown` on standard error unless `holds`.
void check(bool holds, std::string_view promise, std::string_view shown = {});

/// The bytes of an input as text.
inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Takes the text before the next `separator` off the front of `rest`; all of it if there is none.
std::string_view take_until(std::string_view& rest, char separator);

/// Pseudo-random numbers that depend only on the input: it stays plain text, and a finding is
/// always found again. Small and good enough (splitmix64).
class Choices {
 public:
  explicit Choices(std::string_view input);

  /// 0 … `bound` - 1; `bound` is at least 1.
  std::size_t below(std::size_t bound);

 private:
  std::uint64_t state_;
};

}  // namespace fenceline::fuzz

/// Called by libFuzzer for every input; always gives 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
