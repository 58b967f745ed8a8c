#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tests/support/raw_client.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {

/// The text of a request. `token` 0: no token. `fields` are whole lines, each with its CRLF.
std::string fenced_request(std::string_view method, std::string_view path, std::int64_t token,
                           std::string_view fields = {});

/// The text of a PUT with its body.
std::string fenced_put(std::string_view path, std::int64_t token, std::string_view body,
                       std::string_view fields = {});

/// The real server over folders of its own, which outlive its restarts. Not for several threads,
/// except for requests.
class FilesServer {
 public:
  /// `exports` and `reports` share the fence `exports/{tenant}`; `sync` is `full` or `none`.
  static std::string two_routes(std::string_view sync = "full");

  /// `environment`: see ServerProcess.
  explicit FilesServer(std::string config = two_routes(),
                       ServerProcess::Environment environment = {});

  /// Not started yet; for that, `restart`.
  struct Stopped {};
  FilesServer(std::string config, Stopped /*later*/) : config_(std::move(config)) {}

  /// SIGKILL, and a new process over the same files.
  void kill_and_restart();

  /// SIGKILL if it runs; `process` is gone until `restart`.
  void kill() { process_.reset(); }

  /// For the next process.
  void set_config(std::string config) { config_ = std::move(config); }

  /// For the next process.
  void set_environment(ServerProcess::Environment environment) {
    environment_ = std::move(environment);
  }

  /// Ends the server if it runs and starts it anew.
  void restart();

  [[nodiscard]] ServerProcess& process() { return *process_; }
  [[nodiscard]] std::string at(const std::string& name) const { return folder_.at(name); }

  /// Each on a connection of its own.
  Response put(std::string_view path, std::int64_t token, std::string_view body,
               std::string_view fields = {});
  Response ask(std::string_view method, std::string_view path, std::int64_t token,
               std::string_view fields = {});

  /// The content that a read without a token sees; nothing if it is 404.
  std::optional<std::string> content(std::string_view path);

  /// What the admin API says.
  Response admin(std::string_view path);
  /// The durable mark of `key`; 0 if there is none.
  std::int64_t mark(std::string_view key);
  /// The value of a metric without labels.
  double metric(std::string_view name);
  /// Waits until exactly `bytes` of bodies are staged and not committed.
  void wait_for_staged(std::size_t bytes);

  /// Files in the private directory for temporary ones.
  [[nodiscard]] std::size_t temporary_files(const std::string& root = "exports") const;

 private:
  TempFolder folder_;
  std::string config_;
  ServerProcess::Environment environment_;
  std::unique_ptr<ServerProcess> process_;
};

/// An upload whose first half the server has staged: the rest is sent by `finish`.
class HalfUpload {
 public:
  HalfUpload(FilesServer& server, std::string_view path, std::int64_t token, std::string body,
             std::string_view fields = {});

  /// Sends the rest and reads the answer.
  Response finish();

  RawClient& client() { return client_; }

 private:
  RawClient client_;
  std::string body_;
};

/// The answer is the refusal of a stale token and says that nothing was applied.
void expect_fenced(const Response& answer, std::int64_t presented, std::int64_t highest);

/// The answer is this problem with this status, and says that nothing was applied.
void expect_not_applied(const Response& answer, int status, std::string_view type);

}  // namespace fenceline::testing
