// Ranges and conditions. The input is text: `method size last-modified etag` in the first line
// (each may be missing), then field lines `name: value`.

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "base/conditions.h"
#include "base/range.h"
#include "tests/fuzz/check.h"

namespace fenceline::fuzz {
namespace {

using base::Verdict;
using Kind = base::RangeDecision::Kind;

template <typename Number>
Number number_from(std::string_view text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

struct Input {
  base::RequestHead head;
  base::RangeTarget target;
};

Input read(std::string_view text) {
  Input input;
  std::string_view first = take_until(text, '\n');
  input.head.method_text = take_until(first, ' ');
  input.head.method = base::method_from(input.head.method_text);
  input.target.size_bytes = number_from<std::uint64_t>(take_until(first, ' '));
  input.target.last_modified_s = number_from<std::int64_t>(take_until(first, ' '));
  input.target.etag = first;
  while (!text.empty()) {
    std::string_view value = take_until(text, '\n');
    const std::string_view name = take_until(value, ':');
    input.head.fields.push_back({name, value});
  }
  return input;
}

void check_range(const Input& input, std::string_view shown) {
  const base::RangeDecision part = base::decide_range(input.head, input.target);
  const std::uint64_t size = input.target.size_bytes;
  const bool asked = input.head.method == base::Method::kGet && input.head.count("Range") == 1;
  check(asked || part.kind == Kind::kFull, "only a GET with one Range gives less than all", shown);
  if (part.kind != Kind::kPartial) {
    check(part.offset_bytes == 0 && part.length_bytes == 0, "only a part has a place", shown);
    return;
  }
  check(part.length_bytes > 0 && part.offset_bytes < size &&
            part.length_bytes <= size - part.offset_bytes,
        "a part lies inside the content", shown);
  // The part as it is named in the answer, asked for once more, is the same part.
  const std::string named = base::content_range(part, size);
  const std::string again =
      fmt::format("bytes={}-{}", part.offset_bytes, part.offset_bytes + part.length_bytes - 1);
  check(named == fmt::format("bytes {}/{}", again.substr(6), size), "Content-Range names it",
        shown);
  base::RequestHead head;
  head.method = base::Method::kGet;
  head.fields.push_back({"Range", again});
  const base::RangeDecision same = base::decide_range(head, input.target);
  check(same.kind == Kind::kPartial && same.offset_bytes == part.offset_bytes &&
            same.length_bytes == part.length_bytes,
        "a part has one place", shown);
}

void check_conditions(const Input& input, std::string_view shown) {
  const auto conditions = base::Conditions::parse(input.head);
  const bool is_read =
      input.head.method == base::Method::kGet || input.head.method == base::Method::kHead;
  if (!conditions) {
    check(conditions.error().kind == base::ErrorKind::kMalformedRequest &&
              !conditions.error().detail.empty(),
          "conditions that cannot be read are refused with a reason", shown);
    return;
  }
  const bool named = input.head.count("If-Match") + input.head.count("If-None-Match") +
                         input.head.count("If-Unmodified-Since") >
                     0;
  check(!conditions->empty() || is_read || !named, "no condition of a write is passed over", shown);
  const base::ResourceState there{true, input.target.etag, input.target.last_modified_s};
  const base::ResourceState other{true, "\"another\"", std::nullopt};
  const base::ResourceState gone;
  for (const base::ResourceState& state : {there, other, gone}) {
    const Verdict verdict = conditions->evaluate(state);
    check(is_read || verdict != Verdict::kNotModified, "304 is only for reads", shown);
    check(!conditions->empty() || verdict == Verdict::kProceed, "nothing asked, go on", shown);
    check(input.head.count("If-Match") == 0 || state.exists || verdict == Verdict::kFailed,
          "If-Match needs something that exists", shown);
  }
  check(!conditions->only_existence() || conditions->evaluate(there) == conditions->evaluate(other),
        "a tag that is not looked at changes nothing", shown);
}

/// An If-Match of exactly this tag passes if it is strong; If-None-Match of it never does.
void check_own_tag(std::string_view etag, std::string_view shown) {
  const std::size_t length = base::entity_tag_length(etag);
  check(length <= etag.size(), "a tag lies inside its text", shown);
  if (length == 0 || length != etag.size()) {
    return;
  }
  check(base::match_weakly(etag, etag), "every tag matches itself", shown);
  const bool strong = base::match_strongly(etag, etag);
  check(strong == !etag.starts_with("W/"), "every tag but a weak one is strong", shown);
  for (const std::string_view name : {"If-Match", "If-None-Match"}) {
    base::RequestHead head;
    head.method = base::Method::kPut;
    head.fields.push_back({name, etag});
    const auto conditions = base::Conditions::parse(head);
    check(conditions.has_value(), "a tag is a list of tags", shown);
    const bool passes = name == "If-Match" && strong;
    check(conditions->evaluate({true, etag, std::nullopt}) ==
              (passes ? Verdict::kProceed : Verdict::kFailed),
          "a state is recognised by its own tag", shown);
  }
}

}  // namespace
}  // namespace fenceline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fenceline::fuzz::as_text(data, size);
  const fenceline::fuzz::Input input = fenceline::fuzz::read(text);
  fenceline::fuzz::check_range(input, text);
  fenceline::fuzz::check_conditions(input, text);
  fenceline::fuzz::check_own_tag(input.target.etag, text);
  return 0;
}
