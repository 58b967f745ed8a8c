#include "tests/proxy/front_fixture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "proxy/problem.h"
#include "proxy/target.h"

namespace fenceline::proxy::testing {
namespace {

using base::Awaitable;
using base::Reply;
using base::Result;

/// Gives `count` pieces "piece;", then the end, or an error.
class Pieces final : public base::BodySource {
 public:
  Pieces(std::uint64_t count, bool with_length, bool fails)
      : count_(count), with_length_(with_length), fails_(fails) {}

  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override {
    return with_length_ ? std::optional(count_ * kPiece.size()) : std::nullopt;
  }

  Awaitable<Result<std::string_view>> read() override {
    if (given_ < count_) {
      ++given_;
      co_return kPiece;
    }
    if (fails_) {
      co_return base::fail(base::ErrorKind::kUpstreamFailed, "the source broke");
    }
    co_return std::string_view();
  }

 private:
  static constexpr std::string_view kPiece = "piece;";
  std::uint64_t count_;
  bool with_length_;
  bool fails_;
  std::uint64_t given_ = 0;
};

std::uint64_t parameter(std::string_view query, std::string_view name, std::uint64_t otherwise) {
  const auto text = query_parameter(query, name);
  if (!text || !*text) {
    return otherwise;
  }
  std::uint64_t value = otherwise;
  std::from_chars((*text)->data(), (*text)->data() + (*text)->size(), value);
  return value;
}

Reply text_reply(int status, std::string body) {
  Reply reply;
  reply.status = status;
  reply.body = std::move(body);
  return reply;
}

}  // namespace

Awaitable<Result<std::string>> TestHandler::read_all(base::BodySource& body) {
  std::string all;
  while (true) {
    const auto piece = co_await body.read();
    if (!piece) {
      board.update([&] { body_errors.push_back(piece.error().kind); });
      co_return tl::unexpected(piece.error());
    }
    if (piece->empty()) {
      co_return all;
    }
    all += *piece;
  }
}

Awaitable<Reply> TestHandler::hold() {
  auto start = [this](base::Done<int> done) {
    bool now = false;
    {
      const std::lock_guard lock(hold_mutex_);
      now = released_;
      if (!now) {
        waiting_.push_back(done);
      }
    }
    board.update([this] { ++holding; });
    if (now) {
      done(0);
    }
  };
  co_await base::from_callback<int>(std::move(start));
  co_return text_reply(200, "held");
}

void TestHandler::release() {
  std::vector<base::Done<int>> waiting;
  {
    const std::lock_guard lock(hold_mutex_);
    released_ = true;
    waiting.swap(waiting_);
  }
  for (const auto& done : waiting) {
    done(0);
  }
}

Reply TestHandler::send_file(const base::RequestHead& head) {
  Reply reply;
  base::FileSlice slice;
  slice.fd = base::UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  slice.offset_bytes = parameter(head.query, "offset", 0);
  slice.length_bytes = parameter(head.query, "length", std::filesystem::file_size(file));
  reply.body = std::move(slice);
  return reply;
}

Awaitable<Reply> TestHandler::handle(Request request) {
  board.update([this] {
    ++started;
    ++by_thread[std::this_thread::get_id()];
  });
  const base::RequestHead& head = request.head;
  Reply reply;
  if (head.path == "/echo" || head.path == "/length") {
    auto body = co_await read_all(request.body);
    if (!body) {
      co_return problem_reply(body.error());
    }
    co_return text_reply(200, head.path == "/echo" ? *body : fmt::format("{}", body->size()));
  }
  if (head.path == "/refuse") {
    co_return problem_reply({base::ErrorKind::kStaleToken, "Take the lease again."});
  }
  if (head.path == "/first-piece") {
    const auto piece = co_await request.body.read();
    co_return text_reply(200, piece ? "read" : "failed");
  }
  if (head.path == "/hold") {
    co_return co_await hold();
  }
  if (head.path == "/file") {
    co_return send_file(head);
  }
  if (head.path == "/pieces") {
    reply.body = std::make_unique<Pieces>(parameter(head.query, "count", 3),
                                          parameter(head.query, "sized", 0) == 1,
                                          parameter(head.query, "fails", 0) == 1);
    co_return reply;
  }
  if (head.path == "/throw") {
    throw std::runtime_error("the handler broke");
  }
  if (head.path == "/bad-reply") {
    reply.add("X-Split", "a\r\nSet-Cookie: b");
    co_return reply;
  }
  if (head.path == "/status") {
    reply.status = static_cast<int>(parameter(head.query, "code", 200));
    reply.head_length_bytes = 1234;
    co_return reply;
  }
  if (head.path == "/text") {
    co_return text_reply(200, std::string(parameter(head.query, "bytes", 5), 'x'));
  }
  if (head.path == "/request-id") {
    co_return text_reply(200, std::string(request.request_id));
  }
  co_return problem_reply({base::ErrorKind::kNotFound, "No such test."});
}

void RecordingObserver::connection_opened(std::string_view /*listener*/) {
  board.update([this] { ++opened; });
}

void RecordingObserver::connection_closed(std::string_view /*listener*/) {
  board.update([this] { ++closed; });
}

void RecordingObserver::connection_refused(std::string_view /*listener*/) {
  board.update([this] { ++refused; });
}

void RecordingObserver::request_finished(const RequestSummary& summary) {
  board.update([&] {
    finished.push_back({summary.status, summary.complete, std::string(summary.request_id),
                        std::string(summary.peer)});
  });
}

void RecordingObserver::bug(std::string_view where, std::string_view what) {
  board.update([&] { bugs.push_back(fmt::format("{}: {}", where, what)); });
}

void RecordingObserver::accept_paused(std::string_view /*listener*/, std::string_view /*reason*/) {
  board.update([this] { ++paused; });
}

bool RecordingObserver::wait_for_closed(std::size_t count) {
  return board.wait([this, count] { return closed >= count; });
}

bool RecordingObserver::wait_for_finished(std::size_t count) {
  return board.wait([this, count] { return finished.size() >= count; });
}

FrontTest::FrontTest() {
  std::string pattern = std::filesystem::temp_directory_path() / "fenceline-front-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error("mkdtemp failed");
  }
  folder_ = pattern;
  options_.name = "test";
  options_.handler = &handler_;
  server_options_.tick = base::Milliseconds(10);
}

FrontTest::~FrontTest() {
  handler_.release();
  server_.reset();
  std::filesystem::remove_all(folder_);
}

void FrontTest::start() {
  auto started = start_server(server_options_, {options_}, clock_, request_ids_, observer_);
  ASSERT_TRUE(started) << started.error().detail;
  server_ = std::move(*started);
}

std::string put(std::string_view target, std::string_view body, std::string_view fields) {
  return fmt::format("PUT {} HTTP/1.1\r\nHost: test\r\n{}Content-Length: {}\r\n\r\n{}", target,
                     fields, body.size(), body);
}

std::string get(std::string_view target, std::string_view fields) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: test\r\n{}\r\n", target, fields);
}

}  // namespace fenceline::proxy::testing
