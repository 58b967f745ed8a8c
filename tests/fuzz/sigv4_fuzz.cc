// Signatures: the input is a request, as lines: method, path, query, then `name: value` fields. As
// it is, nobody has signed it; signed by us it is taken, and with one byte changed it is not.

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/aws/query.h"
#include "base/aws/sigv4.h"
#include "base/aws/verify.h"
#include "base/field_syntax.h"
#include "tests/fuzz/check.h"

namespace fenceline::fuzz {
namespace {

namespace aws = base::aws;

constexpr aws::SystemTime kNow{std::chrono::seconds(1'369'353'600)};
constexpr std::string_view kSecret = "a secret that no input knows";

class OneKey final : public aws::KeyTable {
 public:
  [[nodiscard]] std::optional<std::string_view> secret_of(std::string_view key) const override {
    return key == "AKID" ? std::optional(kSecret) : std::nullopt;
  }
};

struct Sent {
  std::string method;
  std::string path;
  std::string query;
  std::vector<std::pair<std::string, std::string>> fields;

  [[nodiscard]] base::Result<std::optional<aws::Verified>> verdict() const {
    base::RequestHead head;
    head.method_text = method;
    head.path = path;
    head.query = query;
    for (const auto& [name, value] : fields) {
      head.fields.push_back({name, value});
    }
    const std::vector<std::string> must_sign = {"fencing-token"};
    return aws::verify(head, OneKey(), must_sign, kNow);
  }
};

Sent request_in(std::string_view text) {
  Sent sent;
  sent.method = take_until(text, '\n');
  sent.path = "/" + std::string(take_until(text, '\n'));
  std::erase(sent.path, '?');
  sent.query = take_until(text, '\n');
  while (!text.empty()) {
    std::string_view value = take_until(text, '\n');
    const std::string_view name = take_until(value, ':');
    // What the parser of heads lets through.
    if (base::is_token(name) && base::is_field_value(value)) {
      sent.fields.emplace_back(name, base::trim_blanks(value));
    }
  }
  return sent;
}

/// Signed by our own signer, if it can sign it.
bool sign(Sent& sent) {
  base::FieldLines lines;
  for (const auto& [name, value] : sent.fields) {
    const bool added = base::begins_with_name(name, "x-amz-") || base::equal_names(name, "host") ||
                       base::equal_names(name, "authorization");
    if (!added) {
      lines.add_named(name, value);
    }
  }
  if (!lines.valid() || !aws::percent_decoded(sent.path) || !aws::split_query(sent.query)) {
    return false;
  }
  std::erase_if(sent.fields, [](const auto&) { return true; });
  const std::string target = sent.path + "?" + sent.query;
  aws::sign({.method = sent.method,
             .target = target,
             .host = "h",
             .region = "r",
             .payload_hash = aws::kUnsignedPayload,
             .time = kNow},
            {"AKID", std::string(kSecret), ""}, lines);
  sent.fields = lines.list();
  sent.fields.emplace_back("Host", "h");
  return true;
}

void check_changed(Sent sent, Choices& choices, std::string_view shown) {
  std::string* const places[] = {&sent.method, &sent.path, &sent.query};
  std::string& place = *places[choices.below(3)];
  const std::string before = place;
  place.insert(choices.below(place.size() + 1), 1, static_cast<char>('a' + choices.below(26)));
  const auto same = [](const std::string& text) {
    return aws::percent_decoded(text).value_or(text);
  };
  if (same(place) == same(before)) {
    return;
  }
  const auto verdict = sent.verdict();
  check(!verdict || !*verdict, "a changed request is not taken", shown);
}

/// Two segments are not one, whatever else may be spelled in another way.
void check_slash(Sent sent, Choices& choices, std::string_view shown) {
  const std::size_t slash = sent.path.find('/', choices.below(sent.path.size()));
  if (slash == std::string::npos) {
    return;
  }
  sent.path.replace(slash, 1, choices.below(2) == 0 ? "%2F" : "%2f");
  const auto verdict = sent.verdict();
  check(!verdict || !*verdict, "an encoded slash is not a slash", shown);
}

}  // namespace
}  // namespace fenceline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fenceline::fuzz;  // NOLINT(google-build-using-namespace): it is the entry point.
  const std::string_view text = as_text(data, size);
  Sent sent = request_in(text);
  const auto verdict = sent.verdict();
  check(!verdict || !*verdict, "nobody has signed it", text);
  check(verdict || (!verdict.error().detail.empty() && !verdict.error().code.empty()),
        "a refusal has a code and a reason", text);
  // A query that carries credentials itself is not ours to sign.
  if (sent.query.find("A") == std::string::npos && sent.query.find("%") == std::string::npos &&
      sent.query.find("S") == std::string::npos && sign(sent)) {
    const auto taken = sent.verdict();
    check(taken && *taken, "what was signed is taken", text);
    Choices choices(text);
    check_slash(sent, choices, text);
    check_changed(std::move(sent), choices, text);
  }
  return 0;
}
