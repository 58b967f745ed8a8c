// Every operation of the table, on a fenced route and on one that does not fence, without a token,
// with a stale and with the current one.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/s3/operation.h"
#include "tests/proxy/s3_pipeline_fixture.h"

namespace fenceline::proxy {
namespace {

using backends::s3::Effect;
using backends::s3::Keys;
using backends::s3::Level;
using backends::s3::Operation;

enum class Sent { kNoToken, kStale, kCurrent };

struct Expected {
  int status;
  bool reaches_backend;
};

std::string query_of(const Operation& operation) {
  std::string query;
  for (const std::string_view name : operation.markers) {
    query.append(query.empty() ? "?" : "&").append(name);
    if (name == "partNumber" || name == "max-directory-buckets") {
      query += "=1";
    } else if (name == "uploadId" || name == "id") {
      query += "=u";
    } else if (name == "list-type" || name == "select-type") {
      query += "=2";
    }
  }
  return query;
}

std::string target_of(const Operation& operation, std::string_view prefix) {
  std::string target(prefix);
  if (operation.level != Level::kService) {
    target += "/bucket";
  }
  if (operation.level == Level::kObject) {
    target += "/key";
  }
  return (target.empty() ? "/" : target) + query_of(operation);
}

bool is_refused_everywhere(const Operation& operation) { return !operation.refused.empty(); }

Expected expected_of(const Operation& operation, bool fenced, Sent sent) {
  const bool reads = operation.effect == Effect::kRead;
  const Expected success{reads ? 200 : 201, true};
  if (is_refused_everywhere(operation)) {
    return {501, false};
  }
  if (!fenced) {
    return success;
  }
  if (operation.name == "DeleteBucket") {
    return {403, false};
  }
  if (operation.keys == Keys::kNone) {
    return success;
  }
  if (sent == Sent::kStale) {
    return {412, false};
  }
  return sent == Sent::kNoToken && !reads ? Expected{428, false} : success;
}

class S3MatrixTest : public PipelineS3Test {
 protected:
  S3MatrixTest() {
    pending_.clear();
    add_s3_route("fenced", "/fenced/{bucket}/{key...}", "all", config::Writes::kRequired);
    add_s3_route("free", "/free/{bucket}/{key...}", "all", config::Writes::kOff);
  }

  void check(const Operation& operation, bool fenced, Sent sent) {
    const std::string target = target_of(operation, fenced ? "/fenced" : "/free");
    SCOPED_TRACE(std::string(operation.name) + " " + target + " " +
                 std::to_string(static_cast<int>(sent)));
    backend_->events.clear();
    std::vector<std::pair<std::string, std::string>> fields;
    if (sent != Sent::kNoToken) {
      fields.emplace_back("X-Amz-Security-Token", sent == Sent::kStale ? "fence-6" : "fence-7");
    }
    if (!operation.field.empty()) {
      const bool is_source = operation.field.ends_with("-source");
      fields.emplace_back(operation.field, is_source ? "bucket/other" : "0");
    }
    auto call = start(operation.method, target, fields);
    const std::string body = operation.keys == Keys::kInBody ? deletion_of({"key"}) : "";
    const base::Reply reply = end(call, body);
    const Expected expected = expected_of(operation, fenced, sent);
    EXPECT_EQ(reply.status, expected.status) << text(reply);
    EXPECT_EQ(!backend_->events.empty(), expected.reaches_backend);
  }
};

TEST_F(S3MatrixTest, EveryOperationIsFencedAsTheTableSays) {
  ASSERT_EQ(send("PUT", "/fenced/bucket/key", "fence-7").status, 201);
  std::size_t checked = 0;
  for (const Operation& operation : backends::s3::operations()) {
    for (const bool fenced : {true, false}) {
      for (const Sent sent : {Sent::kNoToken, Sent::kStale, Sent::kCurrent}) {
        check(operation, fenced, sent);
        ++checked;
      }
    }
  }
  EXPECT_GE(checked, 600U);
}

}  // namespace
}  // namespace fenceline::proxy
