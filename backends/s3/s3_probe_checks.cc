#include "backends/s3/s3_probe_checks.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/http/gather.h"
#include "backends/s3/client_conditions.h"
#include "backends/s3/digests.h"

namespace fenceline::backends::s3 {
namespace {

using base::Awaitable;
using http::Answered;
using http::Finding;
using http::is_absent;

constexpr int kRounds = 12;
constexpr int kMixedRounds = 6;
constexpr int kAbortRounds = 20;
constexpr std::size_t kAborters = 2;
constexpr int kWriters = 8;
constexpr int kPreconditionFailed = 412;
constexpr std::array<TagStyle, 2> kStyles = {TagStyle::kQuoted, TagStyle::kBare};

// Long enough that a server that checks first and writes later is caught between the two.
std::string content_of(std::string_view who, int round, std::size_t writer) {
  std::string content = fmt::format("{} {} {} ", who, round, writer);
  content.resize(8192, 'x');
  return content;
}

Condition if_match(TagStyle style, std::string_view tag) {
  return {.field = "If-Match", .value = std::string(tag_for(style, tag))};
}

Condition if_absent() { return {.field = "If-None-Match", .value = "*"}; }

Condition nobodys_tag(TagStyle style) {
  return if_match(style, "\"0123456789abcdef0123456789abcdef\"");
}

// The only one that succeeded; nothing if there were none or more.
std::optional<std::size_t> only_winner(const std::vector<std::optional<Answered>>& answers) {
  std::optional<std::size_t> winner;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i] && really_succeeded(*answers[i])) {
      if (winner) {
        return std::nullopt;
      }
      winner = i;
    }
  }
  return winner;
}

Awaitable<Finding> check_refusals(S3ProbeCalls& calls) {
  const std::string key = calls.fresh();
  const std::string absent = calls.fresh();
  Condition none;
  auto made = co_await calls.put(key, "one", std::move(none));
  if (!made.succeeded()) {
    co_return fmt::format("a PUT of a new object was answered {}", made.status);
  }
  auto created = co_await calls.put(key, "two", if_absent());
  if (created.status != kPreconditionFailed) {
    co_return fmt::format("PUT with If-None-Match: * on what exists was answered {}",
                          created.status);
  }
  for (const TagStyle style : kStyles) {
    auto replaced = co_await calls.put(key, "three", nobodys_tag(style));
    if (replaced.status != kPreconditionFailed) {
      co_return fmt::format("PUT with an If-Match that does not hold was answered {}",
                            replaced.status);
    }
  }
  auto revived = co_await calls.put(absent, "four", nobodys_tag(TagStyle::kBare));
  auto still = co_await calls.get(absent);
  auto kept = co_await calls.get(key);
  if (revived.succeeded() || !is_absent(still.status)) {
    co_return fmt::format("PUT with If-Match on what is absent was answered {}", revived.status);
  }
  if (kept.body != "one") {
    co_return "a PUT whose condition did not hold changed the object";
  }
  co_return std::nullopt;
}

// In which form a current tag holds, and whether it comes back with the same bytes.
Awaitable<PutFinding> check_tags(S3ProbeCalls& calls) {
  PutFinding finding;
  const std::string key = calls.fresh();
  Condition none;
  auto made = co_await calls.put(key, "same", std::move(none));
  auto before = co_await calls.get(key);
  if (before.etag.size() <= 2 || before.etag.front() != '"') {
    finding.wrong = fmt::format("right after a write its ETag is no strong one: {}",
                                before.etag.empty() ? std::string("absent") : before.etag);
    co_return finding;
  }
  for (const TagStyle style : kStyles) {
    auto again = co_await calls.put(key, "same", if_match(style, before.etag));
    if (again.succeeded()) {
      auto after = co_await calls.get(key);
      finding.wrong.reset();
      finding.tags = style;
      finding.tags_repeat = after.etag == before.etag;
      finding.tags_are_md5 = bare_tag(after.etag) == md5_hex("same");
      co_return finding;
    }
    finding.wrong =
        fmt::format("PUT with the current ETag in If-Match was answered {}", again.status);
  }
  co_return finding;
}

// `start`: begins the request of one writer.
using Start = std::function<Awaitable<Answered>(std::size_t writer)>;

Awaitable<std::vector<std::optional<Answered>>> race(Start start) {
  std::vector<Awaitable<Answered>> all;
  for (std::size_t writer = 0; writer < kWriters; ++writer) {
    all.push_back(start(writer));
  }
  return http::gather(std::move(all));
}

Awaitable<Finding> race_puts(S3ProbeCalls& calls, std::string key, int round, Condition condition) {
  const Start start = [&](std::size_t writer) {
    return calls.put(key, content_of("w", round, writer), condition);
  };
  auto answers = co_await race(start);
  const auto winner = only_winner(answers);
  if (!winner) {
    co_return fmt::format("of {} PUTs that raced with the same {}, not exactly one succeeded",
                          kWriters, condition.field);
  }
  auto after = co_await calls.get(key);
  if (after.body != content_of("w", round, *winner)) {
    co_return fmt::format(
        "after a race with the same {} the content was not that of the one that succeeded",
        condition.field);
  }
  co_return std::nullopt;
}

Awaitable<Finding> check_put_races(S3ProbeCalls& calls, TagStyle tags) {
  std::string key = calls.fresh();
  for (int round = 0; round < kRounds; ++round) {
    const bool creates = round % 4 == 0;
    if (creates) {
      key = calls.fresh();
    }
    auto before = co_await calls.get(key);
    auto condition = creates ? if_absent() : if_match(tags, before.etag);
    auto wrong = co_await race_puts(calls, key, round, std::move(condition));
    if (wrong) {
      co_return wrong;
    }
  }
  co_return std::nullopt;
}

/// One of the operations that a PUT races with.
struct Rival {
  std::string_view name;
  /// Begins it on `key` under `condition`, so that writer `writer` of `round` leaves `expected`.
  std::function<Awaitable<Answered>(std::size_t writer, const std::string& key,
                                    const Condition& condition)>
      start;
  std::function<bool(std::size_t writer, const Answered& after)> fits;
};

// Half of them PUT, half do the other thing, all under the same If-Match.
Awaitable<Finding> race_with_puts(S3ProbeCalls& calls, TagStyle tags, int round, std::string key,
                                  Rival rival) {
  auto before = co_await calls.get(key);
  const Condition condition = if_match(tags, before.etag);
  const Start start = [&](std::size_t writer) {
    return writer % 2 == 0 ? rival.start(writer, key, condition)
                           : calls.put(key, content_of("m", round, writer), condition);
  };
  auto answers = co_await race(start);
  const auto winner = only_winner(answers);
  if (!winner) {
    co_return fmt::format(
        "of PUTs and {} that raced with the same If-Match, not exactly one succeeded", rival.name);
  }
  auto after = co_await calls.get(key);
  const bool fits =
      *winner % 2 == 0 ? rival.fits(*winner, after) : after.body == content_of("m", round, *winner);
  if (!fits) {
    co_return fmt::format(
        "after PUTs and {} raced the object was not as the one that succeeded left it", rival.name);
  }
  co_return std::nullopt;
}

/// An end of an upload, and what was there right after its answer.
struct Ended {
  Answered answered = {};
  Answered after = {};
};

Awaitable<Ended> complete_it(S3ProbeCalls& calls, S3ProbeCalls::Upload upload) {
  Ended ended;
  Condition none;
  ended.answered = co_await calls.complete(std::move(upload), std::move(none));
  co_return ended;
}

Awaitable<Ended> abort_it(S3ProbeCalls& calls, S3ProbeCalls::Upload upload) {
  Ended ended;
  const std::string key = upload.key;
  ended.answered = co_await calls.abort(std::move(upload));
  ended.after = co_await calls.get(key);
  co_return ended;
}

Finding ignored(std::string_view name, std::string_view condition, const Answered& answered) {
  return fmt::format("{} with {} that does not hold was answered {}", name, condition,
                     answered.status);
}

}  // namespace

Awaitable<PutFinding> check_put(S3ProbeCalls& calls) {
  PutFinding finding;
  finding.wrong = co_await check_refusals(calls);
  if (finding.wrong) {
    co_return finding;
  }
  finding = co_await check_tags(calls);
  if (!finding.wrong) {
    finding.wrong = co_await check_put_races(calls, finding.tags);
  }
  co_return finding;
}

Awaitable<Finding> check_delete(S3ProbeCalls& calls, TagStyle tags) {
  const std::string key = calls.fresh();
  Condition none;
  auto made = co_await calls.put(key, "kept", std::move(none));
  auto removed = co_await calls.remove(key, nobodys_tag(tags));
  auto kept = co_await calls.get(key);
  if (removed.status != kPreconditionFailed || kept.body != "kept") {
    co_return ignored("DELETE", "an If-Match", removed);
  }
  for (int round = 0; round < kMixedRounds; ++round) {
    const std::string target = calls.fresh();
    Condition nothing;
    auto put = co_await calls.put(target, content_of("d", round, 0), std::move(nothing));
    Rival rival{
        .name = "DELETEs",
        .start = [&calls](std::size_t /*writer*/, const std::string& at,
                          const Condition& condition) { return calls.remove(at, condition); },
        .fits = [](std::size_t /*writer*/,
                   const Answered& after) { return is_absent(after.status); }};
    auto wrong = co_await race_with_puts(calls, tags, round, target, std::move(rival));
    if (wrong) {
      co_return wrong;
    }
  }
  co_return std::nullopt;
}

Awaitable<Finding> check_copy(S3ProbeCalls& calls, TagStyle tags) {
  const std::string from = calls.fresh();
  const std::string to = calls.fresh();
  const std::string source = content_of("source", 0, 0);
  Condition none;
  auto made = co_await calls.put(from, source, none);
  auto kept = co_await calls.put(to, "kept", std::move(none));
  auto created = co_await calls.copy(from, to, if_absent());
  auto replaced = co_await calls.copy(from, to, nobodys_tag(tags));
  auto after = co_await calls.get(to);
  if (really_succeeded(created) || created.status / 100 == 5) {
    co_return ignored("CopyObject", "If-None-Match: *", created);
  }
  if (really_succeeded(replaced) || after.body != "kept") {
    co_return ignored("CopyObject", "an If-Match", replaced);
  }
  for (int round = 0; round < kMixedRounds; ++round) {
    const std::string target = calls.fresh();
    Condition nothing;
    auto put = co_await calls.put(target, content_of("c", round, 0), std::move(nothing));
    Rival rival{
        .name = "CopyObjects",
        .start = [&calls, &from](
                     std::size_t /*writer*/, const std::string& at,
                     const Condition& condition) { return calls.copy(from, at, condition); },
        .fits = [&source](std::size_t /*writer*/,
                          const Answered& left) { return left.body == source; }};
    auto wrong = co_await race_with_puts(calls, tags, round, target, std::move(rival));
    if (wrong) {
      co_return wrong;
    }
  }
  co_return std::nullopt;
}

Awaitable<Finding> check_complete(S3ProbeCalls& calls, TagStyle tags) {
  constexpr std::string_view kName = "CompleteMultipartUpload";
  const std::string key = calls.fresh();
  Condition none;
  auto made = co_await calls.put(key, "kept", std::move(none));
  auto upload = co_await calls.begin_upload(key, "late");
  auto created = co_await calls.complete(upload, if_absent());
  if (upload.id.empty() || really_succeeded(created) || created.status / 100 == 5) {
    co_return ignored(kName, "If-None-Match: *", created);
  }
  auto again = co_await calls.begin_upload(key, "late");
  auto replaced = co_await calls.complete(again, nobodys_tag(tags));
  auto after = co_await calls.get(key);
  if (really_succeeded(replaced) || after.body != "kept") {
    co_return ignored(kName, "an If-Match", replaced);
  }
  for (int round = 0; round < kMixedRounds; ++round) {
    const std::string target = calls.fresh();
    std::vector<S3ProbeCalls::Upload> uploads;
    Condition nothing;
    auto put = co_await calls.put(target, content_of("u", round, kWriters), std::move(nothing));
    for (std::size_t writer = 0; writer < kWriters; writer += 2) {
      auto begun = co_await calls.begin_upload(target, content_of("u", round, writer));
      uploads.push_back(std::move(begun));
    }
    Rival rival{.name = "CompleteMultipartUploads",
                .start =
                    [&calls, &uploads](std::size_t writer, const std::string& /*at*/,
                                       const Condition& condition) {
                      return calls.complete(uploads.at(writer / 2), condition);
                    },
                .fits =
                    [round](std::size_t writer, const Answered& left) {
                      return left.body == content_of("u", round, writer);
                    }};
    auto wrong = co_await race_with_puts(calls, tags, round, target, std::move(rival));
    if (wrong) {
      co_return wrong;
    }
  }
  co_return std::nullopt;
}

Awaitable<Finding> check_abort(S3ProbeCalls& calls) {
  for (int round = 0; round < kAbortRounds; ++round) {
    const std::string key = calls.fresh();
    auto upload = co_await calls.begin_upload(key, content_of("a", round, 0));
    if (upload.id.empty()) {
      co_return "a multipart upload could not be begun";
    }
    // The completion begins before, between or after those that abort.
    const auto turn = static_cast<std::size_t>(round) % (kAborters + 1);
    std::vector<Awaitable<Ended>> all;
    for (std::size_t i = 0; i <= kAborters; ++i) {
      all.push_back(i == turn ? complete_it(calls, upload) : abort_it(calls, upload));
    }
    auto attempts = co_await http::gather(std::move(all));
    auto after = co_await calls.get(key);
    const bool completed = attempts[turn] && really_succeeded(attempts[turn]->answered);
    if (completed && !after.succeeded()) {
      co_return "an upload was completed and its object is not there";
    }
    attempts[turn].reset();
    for (const auto& attempt : attempts) {
      const bool aborted = attempt && attempt->answered.succeeded();
      const bool gone = attempt && (aborted || is_absent(attempt->answered.status));
      const bool was_there = attempt && attempt->after.succeeded();
      if (after.succeeded() && (aborted || (gone && !was_there))) {
        co_return "an upload was ended, and its object came after that";
      }
    }
  }
  co_return std::nullopt;
}

}  // namespace fenceline::backends::s3
