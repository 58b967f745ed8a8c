// Writes with an Idempotency-Key on S3 routes: what makes two of them the same request.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/proxy/s3_pipeline_fixture.h"

namespace fenceline::proxy {
namespace {

class S3OnceTest : public PipelineS3Test {
 protected:
  void SetUp() override { pending_.back().idempotency.emplace(); }

  base::Reply put(const Fields& more, const std::string& token = "fence-5",
                  const std::string& target = "/media/a") {
    Fields fields = {{"X-Amz-Security-Token", token}, {"Idempotency-Key", "k"}};
    fields.insert(fields.end(), more.begin(), more.end());
    auto call = start("PUT", target, fields);
    return end(call, "content");
  }

  /// Both are one request: the second is answered by what is kept.
  void expect_same(const Fields& first, const Fields& second) {
    answers_.rows.clear();
    EXPECT_EQ(put(first).status, 201);
    EXPECT_EQ(field(put(second), "Idempotency-Replayed"), "true");
  }

  void expect_another(const Fields& first, const Fields& second) {
    answers_.rows.clear();
    EXPECT_EQ(put(first).status, 201);
    EXPECT_EQ(put(second).status, 422);
  }
};

TEST_F(S3OnceTest, WhatDecidesTheEffectIsPrinted) {
  const std::vector<Fields> decide = {{{"x-amz-copy-source", "media/x"}},
                                      {{"x-amz-copy-source", "media/y"}},
                                      {{"x-amz-acl", "public-read"}},
                                      {{"x-amz-meta-color", "red"}},
                                      {{"x-amz-meta-color", "blue"}},
                                      {{"X-Amz-Tagging", "a=b"}},
                                      {{"x-amz-storage-class", "GLACIER"}},
                                      {{"Content-Encoding", "gzip"}},
                                      {{"Cache-Control", "no-cache"}},
                                      {{"Content-Disposition", "inline"}},
                                      {{"Content-Language", "en"}},
                                      {{"Expires", "0"}},
                                      {{"If-Match", "\"x\""}},
                                      {{"If-None-Match", "*"}},
                                      {{"Content-Type", "text/plain"}}};
  for (const Fields& fields : decide) {
    SCOPED_TRACE(fields.front().first);
    expect_another({}, fields);
    expect_another(fields, {});
    expect_same(fields, fields);
  }
  expect_another(decide[0], decide[1]);
  expect_another(decide[3], decide[4]);
  // One field cannot be mistaken for two.
  expect_another({{"x-amz-meta-a", "1"}, {"x-amz-meta-b", "2"}},
                 {{"x-amz-meta-a", "1x-amz-meta-b:2"}});
}

TEST_F(S3OnceTest, WhatDiffersFromTryToTryIsNot) {
  for (const char* const name : {"x-amz-date", "x-amz-user-agent", "x-amz-sdk-checksum-algorithm",
                                 "amz-sdk-request", "User-Agent"}) {
    SCOPED_TRACE(name);
    expect_same({{name, "1"}}, {{name, "2"}});
  }
  expect_same({{"x-amz-content-sha256", "UNSIGNED-PAYLOAD"}}, {});
  expect_same({{"x-amz-meta-a", "1"}, {"X-Amz-Acl", "private"}},
              {{"x-amz-acl", "private"}, {"X-Amz-Meta-A", "1"}});
  answers_.rows.clear();
  EXPECT_EQ(put({}).status, 201);
  EXPECT_EQ(field(put({}, "fence-6"), "Idempotency-Replayed"), "true") << "a newer token";
}

TEST_F(S3OnceTest, OneBucketIsNotAnother) {
  add_s3_route("all", "/all/{bucket}/{key...}", "all", config::Writes::kRequired);
  pending_.back().idempotency.emplace();
  EXPECT_EQ(put({{"Host", "one.s3.test"}}, "fence-5", "/a").status, 201);
  EXPECT_EQ(put({{"Host", "two.s3.test"}}, "fence-5", "/a").status, 422);
  EXPECT_EQ(field(put({{"Host", "one.s3.test"}}, "fence-5", "/a"), "Idempotency-Replayed"), "true");
}

}  // namespace
}  // namespace fenceline::proxy
