#include "backends/http/probe.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>

#include "tests/backends/http/http_driver.h"
#include "tests/support/conditional_upstream.h"
#include "tests/support/real_upstreams.h"

namespace fenceline::testing {
namespace {

using backends::http::CommitMode;
using backends::http::ProbeVerdict;
using backends::http::run_probe;

const std::atomic<bool> kGoOn = false;

std::string text_of(const std::optional<std::string>& reason) { return reason.value_or("able"); }

ProbeVerdict verdict_on(UpstreamQuirks quirks) {
  ConditionalUpstream upstream(quirks);
  auto verdict = run_probe(options_for(upstream.port(), CommitMode::kAuto), kGoOn);
  EXPECT_TRUE(verdict) << verdict.error().detail;
  EXPECT_TRUE(upstream.targets().empty()) << "nothing is left behind";
  return verdict.value_or(ProbeVerdict());
}

TEST(HttpProbe, Nginx) {
  const RealUpstream nginx(UpstreamKind::kNginx);
  const auto verdict = run_probe(options_for(nginx.port(), CommitMode::kAuto), kGoOn);
  ASSERT_TRUE(verdict) << verdict.error().detail;
  EXPECT_EQ(text_of(verdict->no_move), "able");
  EXPECT_TRUE(verdict->no_conditional_put) << "it ignores If-Match";
  EXPECT_TRUE(verdict->server.starts_with("nginx"));
  EXPECT_EQ(nginx.leftovers(), 0U);
}

TEST(HttpProbe, Apache) {
  const RealUpstream apache(UpstreamKind::kApache);
  const auto verdict = run_probe(options_for(apache.port(), CommitMode::kAuto), kGoOn);
  ASSERT_TRUE(verdict) << verdict.error().detail;
  EXPECT_TRUE(verdict->no_move) << "it deletes the target first";
  EXPECT_TRUE(verdict->no_conditional_put) << "its tags start weak";
  EXPECT_EQ(apache.leftovers(), 0U);
  RecordProperty("no_move", text_of(verdict->no_move));
  RecordProperty("no_conditional_put", text_of(verdict->no_conditional_put));
}

// Most races show a fault by luck; this must not need any.
TEST(HttpProbe, FindsApachesMoveEveryTime) {
  const RealUpstream apache(UpstreamKind::kApache);
  int overtaken = 0;
  for (int round = 0; round < 20; ++round) {
    const auto verdict = run_probe(options_for(apache.port(), CommitMode::kMove), kGoOn);
    ASSERT_TRUE(verdict) << verdict.error().detail;
    ASSERT_TRUE(verdict->no_move) << round;
    overtaken += verdict->no_move->find("deleted meanwhile") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(overtaken, 15) << "the check that needs no luck";
}

TEST(HttpProbe, ARightfulUpstream) {
  const ProbeVerdict verdict = verdict_on({});
  EXPECT_EQ(text_of(verdict.no_conditional_put), "able");
  EXPECT_EQ(text_of(verdict.no_conditional_delete), "able");
  EXPECT_FALSE(verdict.tags_return);
  EXPECT_TRUE(verdict.no_move) << "it has none";
}

TEST(HttpProbe, FindsThatTagsReturnWithTheBytes) {
  const ProbeVerdict verdict = verdict_on({.tags_by_content = true});
  EXPECT_EQ(text_of(verdict.no_conditional_put), "able");
  EXPECT_EQ(text_of(verdict.no_conditional_delete), "able");
  EXPECT_TRUE(verdict.tags_return);
}

TEST(HttpProbe, OneThatGivesTheTagOnlyToReads) {
  EXPECT_EQ(text_of(verdict_on({.gives_no_tag_on_put = true}).no_conditional_put), "able");
}

TEST(HttpProbe, FindsEachFault) {
  EXPECT_TRUE(verdict_on({.checks_before_writing = true}).no_conditional_put);
  EXPECT_TRUE(verdict_on({.weak_tags = true}).no_conditional_put);
  EXPECT_TRUE(verdict_on({.ignores_if_match = true}).no_conditional_put);
  EXPECT_TRUE(verdict_on({.if_match_revives = true}).no_conditional_put);
  const ProbeVerdict deletes = verdict_on({.deletes_anyway = true});
  EXPECT_EQ(text_of(deletes.no_conditional_put), "able");
  EXPECT_TRUE(deletes.no_conditional_delete);
}

TEST(HttpProbe, AnUpstreamThatRefusesToBeWritten) {
  ConditionalUpstream upstream;
  upstream.on_request([](const UpstreamRequest& request) -> std::optional<Reaction> {
    return request.method == "PUT"
               ? std::optional(
                     Reaction{.applies = false,
                              .answer = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"})
               : std::nullopt;
  });
  const auto verdict = run_probe(options_for(upstream.port(), CommitMode::kAuto), kGoOn);
  ASSERT_TRUE(verdict);
  EXPECT_NE(text_of(verdict->no_move).find("401"), std::string::npos);
  EXPECT_NE(text_of(verdict->no_conditional_put).find("401"), std::string::npos);
}

TEST(HttpProbe, WithoutAnAnswerNothingIsKnown) {
  EXPECT_FALSE(run_probe(options_for(free_port(), CommitMode::kAuto), kGoOn));

  ConditionalUpstream mute;
  mute.on_request([](const UpstreamRequest&) { return Reaction{.closes = true}; });
  EXPECT_FALSE(run_probe(options_for(mute.port(), CommitMode::kAuto), kGoOn));
}

TEST(HttpProbe, HasALimit) {
  ConditionalUpstream slow;
  std::promise<void> end;
  auto ended = end.get_future().share();
  slow.on_request([ended](const UpstreamRequest&) -> std::optional<Reaction> {
    ended.wait();
    return std::nullopt;
  });
  auto options = options_for(slow.port(), CommitMode::kAuto);
  options.probe_limit = base::Milliseconds(100);
  const auto verdict = run_probe(options, kGoOn);
  end.set_value();
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, base::ErrorKind::kUpstreamTimeout);
}

TEST(HttpProbe, StopsWhenItIsTold) {
  ConditionalUpstream slow;
  std::promise<void> end;
  auto ended = end.get_future().share();
  slow.on_request([ended](const UpstreamRequest&) -> std::optional<Reaction> {
    ended.wait();
    return std::nullopt;
  });
  const std::atomic<bool> stop = true;
  EXPECT_FALSE(run_probe(options_for(slow.port(), CommitMode::kAuto), stop));
  end.set_value();
}

TEST(HttpProbe, LooksOnlyAtWhatIsAllowed) {
  ConditionalUpstream upstream;
  const auto verdict = run_probe(options_for(upstream.port(), CommitMode::kConditional), kGoOn);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(text_of(verdict->no_move), "not probed");
  EXPECT_TRUE(upstream.requests("MOVE").empty());
}

}  // namespace
}  // namespace fenceline::testing
