#include "proxy/response_head.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fenceline::proxy {
namespace {

using namespace std::string_literals;

constexpr std::string_view kDate = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr std::string_view kStart = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nServer: fenceline\r\n";

/// A body of which only the declared length matters here; nobody reads it.
class Unread final : public base::BodySource {
 public:
  explicit Unread(std::optional<std::uint64_t> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override { return bytes_; }
  base::Awaitable<base::Result<std::string_view>> read() override {
    co_return base::fail(base::ErrorKind::kInternal, "not read in this test");
  }

 private:
  std::optional<std::uint64_t> bytes_;
};

base::Reply reply_with(int status, base::ReplyBody body = {}) {
  base::Reply reply;
  reply.status = status;
  reply.body = std::move(body);
  return reply;
}

struct Written {
  std::string head;
  ReplyFraming framing;
};

Written write(base::Reply reply, ReplyContext context = {}) {
  context.date = kDate;
  Written written;
  written.framing = append_response_head(reply, context, written.head);
  return written;
}

const ReplyContext kHead{.method = base::Method::kHead};
const ReplyContext kClosing{.keep_alive = false};
const ReplyContext kOld{.minor_version = 0, .keep_alive = false};
const ReplyContext kOldKept{.minor_version = 0, .keep_alive = true};

std::string head_of(std::string_view status, std::string_view rest) {
  return "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(kStart) + std::string(rest) +
         "\r\n";
}

TEST(ResponseHead, AnnouncesKnownLengths) {
  const Written text = write(reply_with(200, "hello"s));
  EXPECT_EQ(text.head, head_of("200 OK", "Content-Length: 5\r\n"));
  EXPECT_TRUE(text.framing.has_body);
  EXPECT_EQ(text.framing.length_bytes, 5U);
  EXPECT_TRUE(text.framing.keep_alive);
  EXPECT_FALSE(text.framing.chunked);

  const Written none = write(reply_with(201));
  EXPECT_EQ(none.head, head_of("201 Created", "Content-Length: 0\r\n"));
  EXPECT_FALSE(none.framing.has_body);
  EXPECT_EQ(none.framing.length_bytes, 0U);

  const Written slice =
      write(reply_with(206, base::FileSlice{base::UniqueFd(), 7, 18446744073709551615U}));
  EXPECT_EQ(slice.head, head_of("206 Partial Content", "Content-Length: 18446744073709551615\r\n"));
  const Written declared = write(reply_with(200, std::make_unique<Unread>(12)));
  EXPECT_EQ(declared.head, head_of("200 OK", "Content-Length: 12\r\n"));
  EXPECT_FALSE(declared.framing.chunked);
  const Written empty = write(reply_with(200, ""s));
  EXPECT_EQ(empty.head, head_of("200 OK", "Content-Length: 0\r\n"));
}

TEST(ResponseHead, ChunksUnknownLengthsOrCloses) {
  const Written now = write(reply_with(200, std::make_unique<Unread>(std::nullopt)));
  EXPECT_EQ(now.head, head_of("200 OK", "Transfer-Encoding: chunked\r\n"));
  EXPECT_TRUE(now.framing.chunked);
  EXPECT_TRUE(now.framing.has_body);
  EXPECT_EQ(now.framing.length_bytes, std::nullopt);

  const Written old = write(reply_with(200, std::make_unique<Unread>(std::nullopt)), kOldKept);
  EXPECT_EQ(old.head, head_of("200 OK", ""));
  EXPECT_FALSE(old.framing.chunked);
  EXPECT_TRUE(old.framing.has_body);
  EXPECT_FALSE(old.framing.keep_alive);
}

TEST(ResponseHead, SendsNoBodyWhereHttpHasNone) {
  for (const int status : {204, 205, 304}) {
    for (const base::Method method : {base::Method::kGet, base::Method::kHead}) {
      const Written written = write(reply_with(status, "x"s), {.method = method});
      EXPECT_FALSE(written.framing.has_body) << status;
      EXPECT_FALSE(written.framing.chunked) << status;
      EXPECT_EQ(written.framing.length_bytes, 0U) << status;
    }
  }
  EXPECT_EQ(write(reply_with(204, "x"s)).head, head_of("204 No Content", ""));
  EXPECT_EQ(write(reply_with(205)).head, head_of("205 Reset Content", "Content-Length: 0\r\n"));
  EXPECT_EQ(write(reply_with(304)).head, head_of("304 Not Modified", ""));
  base::Reply not_modified = reply_with(304);
  not_modified.head_length_bytes = 9;
  EXPECT_EQ(write(std::move(not_modified)).head,
            head_of("304 Not Modified", "Content-Length: 9\r\n"));
}

TEST(ResponseHead, AnswersHeadWithTheLengthOfGet) {
  base::Reply reply = reply_with(200);
  reply.head_length_bytes = 1234;
  const Written known = write(std::move(reply), kHead);
  EXPECT_EQ(known.head, head_of("200 OK", "Content-Length: 1234\r\n"));
  EXPECT_FALSE(known.framing.has_body);

  const Written problem = write(reply_with(404, "{}"s), kHead);
  EXPECT_EQ(problem.head, head_of("404 Not Found", "Content-Length: 2\r\n"));
  EXPECT_FALSE(problem.framing.has_body);

  EXPECT_EQ(write(reply_with(200), kHead).head, head_of("200 OK", ""));
  const Written stream = write(reply_with(200, std::make_unique<Unread>(std::nullopt)), kHead);
  EXPECT_EQ(stream.head, head_of("200 OK", ""));
  EXPECT_FALSE(stream.framing.has_body);
  EXPECT_TRUE(stream.framing.keep_alive);
}

TEST(ResponseHead, SaysConnectionOnlyWhereNeeded) {
  const std::string length = "Content-Length: 0\r\n";
  EXPECT_EQ(write(reply_with(200)).head, head_of("200 OK", length));
  EXPECT_EQ(write(reply_with(200), kClosing).head,
            head_of("200 OK", length + "Connection: close\r\n"));
  EXPECT_EQ(write(reply_with(200), kOld).head, head_of("200 OK", length));
  EXPECT_EQ(write(reply_with(200), kOldKept).head,
            head_of("200 OK", length + "Connection: keep-alive\r\n"));
}

TEST(ResponseHead, WritesFieldsInOrderAndAppends) {
  base::Reply reply = reply_with(299);
  reply.add("Fencing-Highest", "34");
  reply.add("ETag", "\"a\tb\xc3\xa4\"");
  reply.add("Server", "other");
  std::string out = "before";
  append_response_head(reply, {}, out);
  EXPECT_EQ(out,
            "beforeHTTP/1.1 299 \r\nContent-Length: 0\r\nFencing-Highest: 34\r\n"
            "ETag: \"a\tb\xc3\xa4\"\r\nServer: other\r\n\r\n");
}

TEST(ResponseHead, ReplacesWhatMustNotGoOut) {
  const std::vector<std::pair<std::string, std::string>> fields = {
      {"X", "a\r\nSet-Cookie: b"},
      {"X", "a\nb"},
      {"X", "a\rb"},
      {"X", "a\0b"s},
      {"X", "a\x1b[0m"},
      {"X", "a\x7f"},
      {"X\r\nY", "a"},
      {"X Y", "a"},
      {"X:", "a"},
      {"", "a"},
      {"\xc3\xa4", "a"},
      {"Content-Length", "0"},
      {"transfer-encoding", "chunked"},
      {"Connection", "close"},
      {"Date", "now"},
  };
  for (const auto& [name, value] : fields) {
    base::Reply reply = reply_with(200, "secret"s);
    reply.add("Good", "kept out too");
    reply.fields.add_named(name, value);
    std::string out;
    const ReplyFraming framing = append_response_head(reply, {}, out);
    EXPECT_TRUE(framing.replaced) << name;
    EXPECT_TRUE(out.starts_with("HTTP/1.1 500 Internal Server Error\r\n")) << out;
    EXPECT_EQ(out.find("Good"), std::string::npos);
    EXPECT_EQ(reply.status, 500);
    EXPECT_NE(std::get<std::string>(reply.body).find("internal-error"), std::string::npos);
    EXPECT_EQ(framing.length_bytes, std::get<std::string>(reply.body).size());
  }
  for (const int status : {0, 99, 100, 101, 199, 600, 1000, -200}) {
    base::Reply reply = reply_with(status);
    std::string out;
    EXPECT_TRUE(append_response_head(reply, {}, out).replaced) << status;
    EXPECT_TRUE(out.starts_with("HTTP/1.1 500 ")) << status;
  }
}

TEST(ResponseHead, AReplacedHeadStillHasNoBodyOnHead) {
  base::Reply reply = reply_with(204);
  reply.add("X", "\n");
  std::string out;
  const ReplyFraming framing = append_response_head(reply, kHead, out);
  EXPECT_TRUE(framing.replaced);
  EXPECT_FALSE(framing.has_body);
  EXPECT_NE(out.find("Content-Length: "), std::string::npos);
}

TEST(HttpDate, FormatsAndCaches) {
  HttpDate date;
  EXPECT_EQ(date.at(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(date.at(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(date.at(784111778), "Sun, 06 Nov 1994 08:49:38 GMT");
  EXPECT_EQ(date.at(0), "Thu, 01 Jan 1970 00:00:00 GMT");
}

}  // namespace
}  // namespace fenceline::proxy
