#pragma once

// A pipeline with an S3 route that takes anybody, so that a test need not sign.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/s3_front.h"
#include "tests/proxy/pipeline_fixture.h"

namespace fenceline::proxy {

using Fields = std::vector<std::pair<std::string, std::string>>;

class PipelineS3Test : public PipelineTest {
 protected:
  PipelineS3Test() {
    add_s3_route("media", "/media/{key...}", "media/{key...}", config::Writes::kRequired);
  }

  void add_s3_route(const std::string& name, const std::string& match, const std::string& fence,
                    config::Writes writes) {
    Route& route = add_route(name, match, fence);
    route.methods = {"GET", "HEAD", "PUT", "POST", "DELETE"};
    route.max_body_bytes = 10'000;
    route.writes = writes;
    route.s3 = std::make_shared<S3Front>(
        S3Paths(route.pattern, {"s3.test"}),
        S3FrontOptions{.clients = {},
                       .anonymous = true,
                       .must_sign = {"fencing-token"},
                       .fenced = writes != config::Writes::kOff,
                       .now = [] { return base::aws::SystemTime(std::chrono::seconds(0)); }});
  }

  /// A request with a token as every S3 client can send it.
  base::Reply send(std::string_view method, const std::string& target, const std::string& token,
                   std::string_view body = {}) {
    auto call = start(method, target, {{"X-Amz-Security-Token", token}});
    return end(call, body);
  }

  /// Splits the target, which the fixture takes as a path.
  std::shared_ptr<Call> start(std::string_view method, const std::string& target,
                              const Fields& fields) {
    targets_.push_back(std::make_unique<std::string>(target));
    const std::string_view kept = *targets_.back();
    const std::size_t mark = std::min(kept.find('?'), kept.size());
    query_ = kept.substr(std::min(mark + 1, kept.size()));
    return PipelineTest::start(method, kept.substr(0, mark), fields, query_);
  }

  base::Reply end(const std::shared_ptr<Call>& call, std::string_view body) {
    if (!body.empty()) {
      call->body.feed(std::string(body));
      poll();
    }
    call->body.end();
    settle();
    EXPECT_TRUE(call->reply.has_value()) << "no answer";
    return call->reply ? std::move(*call->reply) : base::Reply{};
  }

  static std::string deletion_of(const std::vector<std::string>& keys) {
    std::string xml = "<Delete>";
    for (const std::string& key : keys) {
      xml += "<Object><Key>" + key + "</Key></Object>";
    }
    return xml + "</Delete>";
  }

  std::vector<std::unique_ptr<std::string>> targets_;
  std::string_view query_;
};

}  // namespace fenceline::proxy
