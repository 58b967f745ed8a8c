#include "tests/system/files_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace fenceline::testing {
namespace {

std::string request_head(std::string_view method, std::string_view path, std::int64_t token,
                         std::string_view fields) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\nHost: system-test\r\n", method, path);
  if (token != 0) {
    head += fmt::format("Fencing-Token: {}\r\n", token);
  }
  head += fields;
  return head;
}

}  // namespace

std::string fenced_request(std::string_view method, std::string_view path, std::int64_t token,
                           std::string_view fields) {
  return request_head(method, path, token, fields) + "\r\n";
}

std::string fenced_put(std::string_view path, std::int64_t token, std::string_view body,
                       std::string_view fields) {
  return request_head("PUT", path, token, fields) +
         fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
}

std::string FilesServer::two_routes(std::string_view sync) {
  return fmt::format(R"(
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: ledger.db}}
routes:
  - name: exports
    match: /exports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
    files: {{root: exports, sync: {0}}}
  - name: reports
    match: /reports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
    files: {{root: reports, sync: {0}}}
)",
                     sync);
}

FilesServer::FilesServer(std::string config, ServerProcess::Environment environment)
    : config_(std::move(config)), environment_(std::move(environment)) {
  restart();
}

void FilesServer::restart() {
  process_.reset();
  process_ = std::make_unique<ServerProcess>(folder_.path().string(), config_, environment_);
}

void FilesServer::kill_and_restart() {
  process_->kill_hard();
  restart();
}

Response FilesServer::put(std::string_view path, std::int64_t token, std::string_view body,
                          std::string_view fields) {
  RawClient client(process_->port());
  return client.exchange(fenced_put(path, token, body, fields));
}

Response FilesServer::ask(std::string_view method, std::string_view path, std::int64_t token,
                          std::string_view fields) {
  RawClient client(process_->port());
  return client.exchange(fenced_request(method, path, token, fields), method == "HEAD");
}

std::optional<std::string> FilesServer::content(std::string_view path) {
  Response answer = ask("GET", path, 0);
  if (answer.status == 404) {
    return std::nullopt;
  }
  EXPECT_EQ(answer.status, 200) << path << ": " << answer.body;
  return answer.body;
}

Response FilesServer::admin(std::string_view path) {
  RawClient client(process_->admin_port());
  return client.exchange(fenced_request("GET", path, 0));
}

std::int64_t FilesServer::mark(std::string_view key) {
  const Response answer = admin("/v1/fences/" + std::string(key));
  const std::string_view name = "\"mark\":\"";
  const std::size_t at = answer.body.find(name);
  if (answer.status == 404 || at == std::string::npos) {
    return 0;
  }
  return std::strtoll(answer.body.c_str() + at + name.size(), nullptr, 10);
}

double FilesServer::metric(std::string_view name) {
  const std::string text = "\n" + admin("/metrics").body;
  const std::string line = "\n" + std::string(name) + " ";
  const std::size_t at = text.find(line);
  if (at == std::string::npos) {
    throw std::runtime_error("no metric " + std::string(name) + " in:" + text);
  }
  return std::strtod(text.c_str() + at + line.size(), nullptr);
}

void FilesServer::wait_for_staged(std::size_t bytes) {
  wait_until(fmt::format("{} staged bytes", bytes),
             [&] { return metric("fenceline_staged_bytes") == static_cast<double>(bytes); });
}

std::size_t FilesServer::temporary_files(const std::string& root) const {
  const std::filesystem::path folder = folder_.path() / root / ".fenceline/tmp";
  const std::filesystem::directory_iterator files(folder);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

HalfUpload::HalfUpload(FilesServer& server, std::string_view path, std::int64_t token,
                       std::string body, std::string_view fields)
    : client_(server.process().port()), body_(std::move(body)) {
  const auto before = static_cast<std::size_t>(server.metric("fenceline_staged_bytes"));
  const std::string request = fenced_put(path, token, body_, fields);
  const std::size_t half = body_.size() / 2;
  client_.send(std::string_view(request).substr(0, request.size() - half));
  server.wait_for_staged(before + body_.size() - half);
  body_.erase(0, body_.size() - half);
}

Response HalfUpload::finish() { return client_.exchange(body_); }

void expect_not_applied(const Response& answer, int status, std::string_view type) {
  EXPECT_EQ(answer.status, status) << answer.body;
  EXPECT_EQ(answer.field("Content-Type"), "application/problem+json");
  EXPECT_NE(answer.body.find(fmt::format("\"urn:fenceline:problem:{}\"", type)), std::string::npos)
      << answer.body;
  EXPECT_NE(answer.body.find("\"applied\":\"no\""), std::string::npos) << answer.body;
}

void expect_fenced(const Response& answer, std::int64_t presented, std::int64_t highest) {
  expect_not_applied(answer, 412, "stale-token");
  EXPECT_NE(answer.body.find(fmt::format("\"presented\":\"{}\"", presented)), std::string::npos)
      << answer.body;
  EXPECT_NE(answer.body.find(fmt::format("\"highest\":\"{}\"", highest)), std::string::npos)
      << answer.body;
  EXPECT_EQ(answer.field("Fencing-Highest"), std::to_string(highest));
}

}  // namespace fenceline::testing
