#include "backends/http/forwarded_fields.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fenceline::backends::http {
namespace {

using base::OwnedField;

HttpOptions options_for(std::string host) {
  HttpOptions options;
  options.client.host = std::move(host);
  options.client.port = 8080;
  return options;
}

class ForwardedFields : public ::testing::Test {
 protected:
  std::string upstream(std::vector<base::Field> fields, FieldUse use = {}) {
    base::RequestHead head;
    head.method = base::Method::kPut;
    head.method_text = "PUT";
    head.fields = std::move(fields);
    const ResourceRequest request{.head = head, .name = "a", .peer = peer, .over_tls = over_tls};
    auto out = fields_upstream(options, request, use);
    return out ? std::string(out->text()) : "refused: " + out.error().detail;
  }

  std::string downstream(const std::vector<base::Field>& fields) {
    base::FieldLines into;
    fields_downstream(options, fields, into);
    EXPECT_TRUE(into.valid());
    return std::string(into.text());
  }

  HttpOptions options = options_for("up");
  std::string peer = "192.0.2.7:4711";
  bool over_tls = false;
};

TEST_F(ForwardedFields, OrdinaryFieldsPassInTheirOrder) {
  EXPECT_EQ(upstream({{"Host", "client.example"},
                      {"Accept", "a"},
                      {"Accept", "b"},
                      {"If-Match", "\"x\""},
                      {"Content-Type", "text/plain"}}),
            "Host: up:8080\r\nAccept: a\r\nAccept: b\r\nIf-Match: \"x\"\r\n"
            "Content-Type: text/plain\r\nX-Forwarded-For: 192.0.2.7\r\n"
            "X-Forwarded-Proto: http\r\nX-Forwarded-Host: client.example\r\n"
            "Via: 1.1 fenceline\r\n");
}

TEST_F(ForwardedFields, HopByHopFieldsEndHere) {
  const std::string out = upstream({{"Connection", "close, X-Private , ,Keep-Alive"},
                                    {"Keep-Alive", "timeout=5"},
                                    {"X-Private", "1"},
                                    {"x-PRIVATE", "2"},
                                    {"TE", "trailers"},
                                    {"Trailer", "X-T"},
                                    {"Transfer-Encoding", "chunked"},
                                    {"Content-Length", "3"},
                                    {"Upgrade", "websocket"},
                                    {"Proxy-Authorization", "secret"},
                                    {"Proxy-Connection", "x"},
                                    {"Expect", "100-continue"},
                                    {"HTTP2-Settings", "x"},
                                    {"X-Public", "3"}});
  EXPECT_EQ(out.find("X-P"), out.find("X-Public: 3"));
  for (const char* gone : {"Connection", "Keep-Alive", "TE:", "Trailer", "Transfer",
                           "Content-Length", "Upgrade", "secret", "Expect", "HTTP2"}) {
    EXPECT_EQ(out.find(gone), std::string::npos) << gone << " in\n" << out;
  }
}

TEST_F(ForwardedFields, ConnectionCannotTakeAwayAConditionOrCredentials) {
  const std::string out = upstream({{"Connection", "If-Match, Authorization, Content-Type"},
                                    {"If-Match", "\"x\""},
                                    {"Authorization", "Basic x"},
                                    {"Content-Type", "a/b"}});
  for (const char* kept : {"If-Match: \"x\"", "Authorization: Basic x", "Content-Type: a/b"}) {
    EXPECT_NE(out.find(kept), std::string::npos) << kept;
  }
}

TEST_F(ForwardedFields, TokensStayHere) {
  options.private_fields = {"X-Lease"};
  const std::string out = upstream({{"Fencing-Token", "34"},
                                    {"fencing-holder", "me"},
                                    {"X-LEASE", "34"},
                                    {"Fencing-Highest", "9"}});
  EXPECT_EQ(out.find("34"), std::string::npos);
  EXPECT_EQ(out.find("me\r"), std::string::npos);
  EXPECT_EQ(out.find("Fencing"), std::string::npos);
}

TEST_F(ForwardedFields, NothingShowsTheUpstreamAnotherMethodOrResource) {
  const std::string out = upstream({{"X-HTTP-Method-Override", "DELETE"},
                                    {"X-Original-URL", "/other"},
                                    {"X-Rewrite-URL", "/other"},
                                    {"Destination", "http://up/other"},
                                    {"Forwarded", "for=1"}});
  EXPECT_EQ(out.find("DELETE"), std::string::npos);
  EXPECT_EQ(out.find("other"), std::string::npos);
  EXPECT_EQ(out.find("Forwarded: for"), std::string::npos);
}

TEST_F(ForwardedFields, NoNameIsAnotherOneForTheUpstream) {
  const std::string out = upstream({{"X_HTTP_Method_Override", "DELETE"},
                                    {"Fencing_Token", "9"},
                                    {"If_Match", "*"},
                                    {"Transfer_Encoding", "chunked"},
                                    {"X.Original.URL", "/other"},
                                    {"X-Request-2", "kept"}});
  EXPECT_EQ(out.find('_'), std::string::npos) << out;
  EXPECT_EQ(out.find("/other"), std::string::npos) << out;
  EXPECT_NE(out.find("X-Request-2: kept\r\n"), std::string::npos) << out;
  EXPECT_EQ(downstream({{"X_Answer", "1"}}), "X_Answer: 1\r\nVia: 1.1 fenceline\r\n")
      << "answers are the upstream's";
}

TEST_F(ForwardedFields, ProxiesBeforeUsStayInTheLists) {
  peer = "[2001:db8::1]:443";
  over_tls = true;
  const std::string out = upstream({{"Host", "h"},
                                    {"X-Forwarded-For", "203.0.113.1"},
                                    {"X-Forwarded-For", "203.0.113.2"},
                                    {"Via", "1.0 first"}});
  EXPECT_NE(out.find("X-Forwarded-For: 203.0.113.1, 203.0.113.2, 2001:db8::1\r\n"),
            std::string::npos)
      << out;
  EXPECT_NE(out.find("X-Forwarded-Proto: https\r\n"), std::string::npos);
  EXPECT_NE(out.find("Via: 1.0 first, 1.1 fenceline\r\n"), std::string::npos);
}

TEST_F(ForwardedFields, HostByPolicyAndOwnFields) {
  options.host = HostPolicy::kClient;
  options.own_fields = {{"Authorization", "Basic ours"}};
  const std::string out = upstream({{"Host", "client.example"}, {"authorization", "Basic theirs"}});
  EXPECT_TRUE(out.starts_with("Host: client.example\r\n"));
  EXPECT_EQ(out.find("theirs"), std::string::npos);
  EXPECT_NE(out.find("Authorization: Basic ours\r\n"), std::string::npos);
  EXPECT_TRUE(upstream({}).starts_with("Host: up:8080\r\n")) << "HTTP/1.0 may have no Host";
}

TEST_F(ForwardedFields, LeavesOutConditionsAndContent) {
  const std::string out = upstream({{"If-None-Match", "*"},
                                    {"Content-Type", "a/b"},
                                    {"Range", "bytes=0-"},
                                    {"Accept-Encoding", "gzip"},
                                    {"Cookie", "c"}},
                                   {.conditions = false, .content = false});
  EXPECT_EQ(out.find("If-"), std::string::npos);
  EXPECT_EQ(out.find("Content-"), std::string::npos);
  EXPECT_EQ(out.find("Range"), std::string::npos);
  EXPECT_EQ(out.find("gzip"), std::string::npos);
  EXPECT_NE(out.find("Cookie: c"), std::string::npos);
}

TEST_F(ForwardedFields, RefusesWhatCannotBeSent) {
  // What a client sends was checked by the parser of its head; what a config says only here.
  options.own_fields = {{"X-A", "a\r\nX-B: b"}};
  EXPECT_TRUE(upstream({}).starts_with("refused: "));
  options.own_fields = {{"X A", "a"}};
  EXPECT_TRUE(upstream({}).starts_with("refused: "));
}

TEST_F(ForwardedFields, AnswersLoseHopByHopFieldsAndOurs) {
  EXPECT_EQ(downstream({{"Connection", "X-Private"},
                        {"X-Private", "1"},
                        {"Transfer-Encoding", "chunked"},
                        {"Content-Length", "3"},
                        {"Date", "now"},
                        {"Fencing-Highest", "99"},
                        {"Alt-Svc", "h2=\":443\""},
                        {"ETag", "\"x\""},
                        {"Set-Cookie", "a"},
                        {"Set-Cookie", "b"}}),
            "ETag: \"x\"\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nVia: 1.1 fenceline\r\n");
}

}  // namespace
}  // namespace fenceline::backends::http
