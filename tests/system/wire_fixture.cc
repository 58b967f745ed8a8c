#include "tests/system/wire_fixture.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace fenceline::testing {
namespace {

std::string replace_all(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
  return text;
}

std::string request(std::string_view method, std::string_view path, std::string_view fields) {
  return std::string(method)
      .append(path)
      .append(" HTTP/1.1\r\nHost: a\r\n")
      .append(fields)
      .append("\r\n");
}

/// The beginning of `bytes` as one readable line.
std::string shown(std::string_view bytes) {
  return ::testing::PrintToString(std::string(bytes.substr(0, 200)));
}

/// The string value of `name` in a flat JSON document.
std::string json_text(const std::string& document, const std::string& name) {
  const std::string start = "\"" + name + "\":\"";
  const std::size_t at = document.find(start);
  if (at == std::string::npos) {
    return {};
  }
  std::string text;
  for (std::size_t i = at + start.size(); i < document.size() && document[i] != '"'; ++i) {
    if (document[i] == '\\') {
      ++i;
    }
    text += document[i];
  }
  return text;
}

}  // namespace

std::unique_ptr<TempFolder> WireTest::folder_;
std::unique_ptr<ServerProcess> WireTest::server_;

std::string repeat(std::string_view text, std::size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) {
    all += text;
  }
  return all;
}

std::string put(std::string_view path, std::string_view fields, std::string_view body) {
  return std::string("PUT ")
      .append(path)
      .append(" HTTP/1.1\r\nHost: a\r\nFencing-Token: 34\r\n")
      .append(fields)
      .append("\r\n")
      .append(body);
}

std::string sized_put(std::string_view path, std::string_view body, std::string_view fields) {
  return put(path, std::string(fields) + "Content-Length: " + std::to_string(body.size()) + "\r\n",
             body);
}

std::string get(std::string_view path, std::string_view fields) {
  return request("GET ", path, fields);
}

std::string head(std::string_view path, std::string_view fields) {
  return request("HEAD ", path, fields);
}

std::string remove(std::string_view path, std::string_view fields) {
  return request("DELETE ", path, std::string("Fencing-Token: 34\r\n").append(fields));
}

std::string smuggled() {
  const std::string start = "PUT /exports/acme/";
  const std::string end =
      " HTTP/1.1\r\nHost: a\r\nFencing-Token: 77\r\nContent-Length: 4\r\n\r\nevil";
  return start + "canary" + end + start + "smuggled" + end;
}

std::string chunked(std::string_view body) {
  std::ostringstream text;
  text << std::hex << body.size() << "\r\n" << body << "\r\n0\r\n\r\n";
  return text.str();
}

void WireTest::start(std::string_view config) {
  folder_ = std::make_unique<TempFolder>();
  server_ = std::make_unique<ServerProcess>(folder_->path().string(), config);
  write("/exports/acme/canary", kCanary);
}

void WireTest::restart(std::string_view config) {
  EXPECT_EQ(server_->stop(), 0) << server_->log();
  server_ = std::make_unique<ServerProcess>(folder_->path().string(), config);
}

void WireTest::TearDownTestSuite() {
  if (server_ != nullptr) {
    EXPECT_EQ(server_->stop(), 0) << server_->log();
  }
  server_.reset();
  folder_.reset();
}

Response WireTest::ask(std::string_view request) {
  RawClient client(server_->port());
  return client.exchange(request, request.starts_with("HEAD "));
}

Response WireTest::ask_admin(std::string_view path) {
  RawClient client(server_->admin_port());
  return client.exchange(get(path));
}

std::string WireTest::write(std::string_view path, std::string_view body) {
  const Response answer = ask(sized_put(path, body));
  EXPECT_TRUE(answer.status == 201 || answer.status == 204) << answer.status << answer.body;
  return answer.field("ETag");
}

std::optional<std::string> WireTest::mark_of(std::string_view key) {
  const Response answer = ask_admin("/v1/fences/" + std::string(key));
  if (answer.status == 404) {
    return std::nullopt;
  }
  EXPECT_EQ(answer.status, 200) << answer.body;
  return json_text(answer.body, "mark");
}

std::optional<std::string> WireTest::content(const std::string& name) {
  std::ifstream file(folder_->at(name), std::ios::binary);
  if (!file) {
    return std::nullopt;
  }
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void WireTest::expect_unharmed() {
  EXPECT_EQ(content("exports/acme/canary"), kCanary);
  EXPECT_EQ(content("exports/acme/smuggled"), std::nullopt);
  EXPECT_EQ(mark_of("exports/acme"), "34");
  wait_until("every temporary file to be gone",
             [] { return std::filesystem::is_empty(folder_->at("exports/.fenceline/tmp")); });
}

void WireTest::run(const std::vector<WireCase>& cases, std::string_view etag) {
  for (const WireCase& each : cases) {
    SCOPED_TRACE(each.name + ", sent: " + shown(each.bytes));
    try {
      run_one(each, etag);
      expect_unharmed();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    // What follows would only fail for this reason.
    ASSERT_EQ(content("exports/acme/canary"), kCanary);
  }
}

void WireTest::run_one(const WireCase& each, std::string_view etag) {
  const std::string bytes = replace_all(each.bytes, "{etag}", etag);
  RawClient client(server_->port());
  client.send_as_far_as_possible(bytes);
  Response last;
  std::vector<int> statuses;
  while (statuses.size() < each.statuses.size()) {
    last = client.receive(bytes.starts_with("HEAD "));
    statuses.push_back(last.status);
  }
  EXPECT_EQ(statuses, each.statuses) << last.body;
  if (!each.problem.empty() && statuses == each.statuses) {
    expect_problem(last, each.statuses.back(), each.problem);
  }
  if (statuses == each.statuses) {
    expect_after(client, last, each.after);
  }
}

void expect_problem(const Response& answer, int status, std::string_view type) {
  const std::string all = std::to_string(answer.status) + " " + answer.body;
  EXPECT_EQ(std::to_string(answer.status) + " " + json_text(answer.body, "type"),
            std::to_string(status) + " urn:fenceline:problem:" + std::string(type))
      << all;
  const bool whole =
      answer.field("Content-Type") == "application/problem+json" &&
      answer.body.find("\"status\":" + std::to_string(status)) != std::string::npos &&
      json_text(answer.body, "applied") == "no" && json_text(answer.body, "title").size() > 3 &&
      json_text(answer.body, "detail").size() > 10;
  EXPECT_TRUE(whole) << answer.field("Content-Type") << " " << all;
}

bool was_reset(const RawClient& client) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  EXPECT_EQ(::getsockopt(client.fd(), IPPROTO_TCP, TCP_INFO, &info, &size), 0);
  return info.tcpi_state == TCP_CLOSE;
}

void expect_after(RawClient& client, const Response& last, After after) {
  if (after == After::kClosed) {
    EXPECT_EQ(last.field("Connection"), "close") << last.status << " " << last.body;
  }
  if (after != After::kKept) {
    EXPECT_EQ(client.receive_to_end(), "");
    EXPECT_FALSE(was_reset(client));
    return;
  }
  const Response next = client.exchange(get("/exports/acme/canary"));
  EXPECT_EQ(next.status, 200) << next.body;
  EXPECT_EQ(next.body, WireTest::kCanary);
}

}  // namespace fenceline::testing
