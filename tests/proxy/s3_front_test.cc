#include "proxy/s3_front.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/aws/sigv4.h"
#include "config/pattern.h"
#include "tests/support/fake_backend.h"

namespace fenceline::proxy {
namespace {

using base::ErrorKind;

constexpr base::aws::SystemTime kNow{std::chrono::seconds(1'369'353'600)};

/// One request to a front with a client that may write and one that may not.
class FrontRequest {
 public:
  std::string method = "PUT";
  std::string target = "/media/a";
  std::vector<std::pair<std::string, std::string>> fields = {};

  /// As a client signs it, after which fields can still be added.
  FrontRequest& sign(const std::string& access_key, const std::string& secret) {
    base::FieldLines lines;
    for (const auto& [name, value] : fields) {
      lines.add_named(name, value);
    }
    base::aws::sign({.method = method,
                     .target = target,
                     .host = "h",
                     .region = "r",
                     .payload_hash = base::aws::kUnsignedPayload,
                     .time = kNow},
                    {access_key, secret, "fence-7"}, lines);
    fields = lines.list();
    fields.emplace_back("Host", "h");
    return *this;
  }

  base::Result<void> arrive(bool anonymous = false, bool fenced = true) {
    base::RequestHead head;
    head.method = base::method_from(method);
    head.method_text = method;
    const std::size_t mark = std::min(target.find('?'), target.size());
    head.path = std::string_view(target).substr(0, mark);
    head.query = std::string_view(target).substr(std::min(mark + 1, target.size()));
    for (const auto& [name, value] : fields) {
      head.fields.push_back({name, value});
    }
    const S3Front front(S3Paths(*config::Pattern::parse("/media/{key...}"), {}),
                        {.clients = {{"writer", "w-secret", true}, {"reader", "r-secret", false}},
                         .anonymous = anonymous,
                         .must_sign = {"fencing-token"},
                         .fenced = fenced,
                         .now = [] { return kNow; }});
    auto place = front.paths().by_path(head.path);
    testing::FedBody body;
    S3Exchange exchange;
    return front.arrive(head, std::move(**place), body, exchange);
  }

  void expect_refused(ErrorKind kind, std::string_view code) {
    const auto arrived = arrive();
    ASSERT_FALSE(arrived);
    EXPECT_EQ(arrived.error().kind, kind) << arrived.error().detail;
    EXPECT_EQ(arrived.error().code, code) << arrived.error().detail;
  }
};

TEST(S3FrontTest, WhoIsNotKnownIsRefused) {
  EXPECT_TRUE(FrontRequest().sign("writer", "w-secret").arrive());
  FrontRequest().expect_refused(ErrorKind::kForbidden, "AccessDenied");
  FrontRequest unknown{.target = "/media/a?bogus"};
  unknown.expect_refused(ErrorKind::kForbidden, "AccessDenied");  // Whoever it is comes first.
  FrontRequest()
      .sign("writer", "r-secret")
      .expect_refused(ErrorKind::kForbidden, "SignatureDoesNotMatch");
  FrontRequest()
      .sign("nobody", "w-secret")
      .expect_refused(ErrorKind::kForbidden, "InvalidAccessKeyId");
}

TEST(S3FrontTest, AnAnonymousRouteVerifiesWhatIsSigned) {
  EXPECT_TRUE(FrontRequest().arrive(true));
  EXPECT_TRUE(FrontRequest().sign("writer", "w-secret").arrive(true));
  EXPECT_FALSE(FrontRequest().sign("writer", "other").arrive(true));
}

TEST(S3FrontTest, AReaderOnlyReads) {
  for (const char* const method : {"GET", "HEAD"}) {
    FrontRequest read{.method = method};
    EXPECT_TRUE(read.sign("reader", "r-secret").arrive()) << method;
  }
  for (const auto& [method, target] :
       std::vector<std::pair<std::string, std::string>>{{"PUT", "/media/a"},
                                                        {"DELETE", "/media/a"},
                                                        {"POST", "/media/a?uploads"},
                                                        {"PUT", "/media/a?tagging"},
                                                        {"POST", "/media?delete"},
                                                        {"PUT", "/media"}}) {
    SCOPED_TRACE(method + target);
    FrontRequest write{.method = method, .target = target};
    write.sign("reader", "r-secret").expect_refused(ErrorKind::kForbidden, "AccessDenied");
  }
}

TEST(S3FrontTest, ATokenThatIsNotSignedIsRefused) {
  FrontRequest request;
  request.sign("writer", "w-secret").fields.emplace_back("Fencing-Token", "9");
  request.expect_refused(ErrorKind::kForbidden, "AccessDenied");
  FrontRequest signed_too{.fields = {{"Fencing-Token", "7"}}};
  EXPECT_TRUE(signed_too.sign("writer", "w-secret").arrive());
}

TEST(S3FrontTest, AFieldThatTheServerWouldTakeForAnotherOneIsRefused) {
  for (const char* const name :
       {"x_amz_copy_source", "x-amz_acl", "x-amz-meta_fencing-tombstone", "X_Amz-Meta-a",
        "If_None_Match", "Transfer_Encoding", "x.amz.acl", "Fencing_Token", "x-goog-meta-a",
        "X-RGW-Meta-Fencing-Tombstone", "x-object-meta-fencing-token"}) {
    SCOPED_TRACE(name);
    FrontRequest added;
    added.sign("writer", "w-secret").fields.emplace_back(name, "/private/secret");
    added.expect_refused(ErrorKind::kMalformedRequest, "InvalidRequest");
    EXPECT_NE(added.arrive().error().detail.find(name), std::string::npos);
    FrontRequest signed_too{.fields = {{name, "/private/secret"}}};
    signed_too.sign("writer", "w-secret")
        .expect_refused(ErrorKind::kMalformedRequest, "InvalidRequest");
  }
  FrontRequest metadata{.fields = {{"x-amz-meta-my_key", "1"}, {"X-Amz-Meta-a.b", "1"}}};
  EXPECT_TRUE(metadata.sign("writer", "w-secret").arrive());
}

TEST(S3FrontTest, ABucketThatIsOpenToOthersIsNotCreated) {
  for (const char* const name : {"x-amz-acl", "X-Amz-Grant-Write", "x-amz-grant-full-control",
                                 "x-amz-object-ownership", "x-amz-bucket-object-lock-enabled"}) {
    SCOPED_TRACE(name);
    FrontRequest create{.target = "/media", .fields = {{name, "public-read-write"}}};
    create.sign("writer", "w-secret").expect_refused(ErrorKind::kMethodUnknown, "NotImplemented");
    EXPECT_NE(create.arrive().error().detail.find("past the fence"), std::string::npos);
  }
  FrontRequest in_query{.target = "/media?x-amz-acl=public-read"};
  in_query.sign("writer", "w-secret").expect_refused(ErrorKind::kMethodUnknown, "NotImplemented");
  FrontRequest object{.fields = {{"x-amz-acl", "public-read"}}};
  EXPECT_TRUE(object.sign("writer", "w-secret").arrive());
  FrontRequest plain{.target = "/media"};
  EXPECT_TRUE(plain.sign("writer", "w-secret").arrive());
}

TEST(S3FrontTest, WhatWouldReplaceAnObjectByItsDocumentIsRefused) {
  FrontRequest request{.target = "/media/a?encryption"};
  request.sign("writer", "w-secret").expect_refused(ErrorKind::kMethodUnknown, "NotImplemented");
}

TEST(S3FrontTest, ABucketIsRemovedOnlyWhereNothingIsFenced) {
  FrontRequest request{.method = "DELETE", .target = "/media"};
  request.sign("writer", "w-secret").expect_refused(ErrorKind::kForbidden, "AccessDenied");
  EXPECT_TRUE(request.arrive(false, false));
}

}  // namespace
}  // namespace fenceline::proxy
