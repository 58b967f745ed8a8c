#pragma once

// Byte strings against the real binary, each with the answers it must get. After every one of them:
// nothing that was hidden in a body was executed, and no mark was raised by what was refused.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/raw_client.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {

/// What must become of the connection after the last answer.
enum class After : std::uint8_t {
  kKept,    ///< The next request on it is answered.
  kClosed,  ///< The last answer says so, then the end of the stream comes, without a reset.
  kEnds,    ///< The end of the stream comes; HTTP/1.0 needs no word about that.
};

/// The bytes of one connection and what must come back.
struct WireCase {
  std::string name;
  std::string bytes;
  std::vector<int> statuses;  ///< Of all answers in their order, also interim ones.
  After after = After::kKept;
  std::string problem{};  ///< Problem type of the last answer, without its prefix; empty: none.
};

/// `count` times `text`.
std::string repeat(std::string_view text, std::size_t count);

/// A PUT of `path` with the token 34 and `fields` (each line with its end) before `body`.
std::string put(std::string_view path, std::string_view fields, std::string_view body);

/// As `put`, with the length of `body`.
std::string sized_put(std::string_view path, std::string_view body, std::string_view fields = {});

/// A GET of `path` with `fields` (each line with its end).
std::string get(std::string_view path, std::string_view fields = {});

/// A HEAD or a DELETE of `path`, the latter with the token 34.
std::string head(std::string_view path, std::string_view fields = {});
std::string remove(std::string_view path, std::string_view fields = {});

/// Two whole requests that would replace the canary, make the file `smuggled` and raise the mark to
/// 77. As a body they are only bytes.
std::string smuggled();

/// `body` as one chunk and the last chunk, and an empty trailer section.
std::string chunked(std::string_view body);

/// A server, for all the tests of one suite, whose data hold one file: the canary
/// `exports/acme/canary`, written with the token 34.
class WireTest : public ::testing::Test {
 public:
  static constexpr std::string_view kCanary = "unharmed";
  /// Of the suite's server: `exports` has one fence per tenant, the others one per file.
  static constexpr std::string_view kConfig = R"(
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0}
ledger: {sqlite: ledger.db}
routes:
  - {name: exports, match: "/exports/{tenant}/{path...}", fence: "exports/{tenant}",
     files: {root: exports, sync: none}}
  - {name: single, match: "/single/{path...}", files: {root: single, sync: none}}
  - {name: small, match: "/small/{path...}", limits: {body: 1KiB}, files: {root: small, sync: none}}
  - {name: loose, match: "/loose/{path...}", writes: optional, files: {root: loose, sync: none}}
  - {name: shown, match: "/shown/{path...}", methods: [GET], files: {root: shown, sync: none}}
  - {name: jump, match: "/jump/{path...}", max_jump: 10, files: {root: jump, sync: none}}
)";

 protected:
  static void SetUpTestSuite() { start(kConfig); }
  static void TearDownTestSuite();

  /// Starts the server of the suite and writes the canary.
  static void start(std::string_view config);

  /// Stops the server and starts it on the same folder.
  static void restart(std::string_view config);

  /// Runs each case on a connection of its own; the client sends everything before it reads.
  /// `{etag}` in the bytes becomes `etag`.
  static void run(const std::vector<WireCase>& cases, std::string_view etag = {});

  /// One request on a connection of its own.
  static Response ask(std::string_view request);
  static Response ask_admin(std::string_view path);

  /// Writes `body` to `path` under the token 34 and returns the new ETag.
  static std::string write(std::string_view path, std::string_view body);

  /// Nothing that was hidden in a body had an effect, and no body is left in a temporary file.
  static void expect_unharmed();

  /// The durable mark of `key`; nothing if the ledger has none.
  static std::optional<std::string> mark_of(std::string_view key);

  /// The content of a file of the server's folder; nothing if there is none.
  static std::optional<std::string> content(const std::string& name);

  static ServerProcess& server() { return *server_; }
  static const TempFolder& folder() { return *folder_; }

 private:
  static void run_one(const WireCase& each, std::string_view etag);

  static std::unique_ptr<TempFolder> folder_;
  static std::unique_ptr<ServerProcess> server_;
};

/// `answer` is the problem `type` with `status`, whole and consistent, and says that nothing was
/// applied.
void expect_problem(const Response& answer, int status, std::string_view type);

/// True if the connection ended by a reset, even if what came before it could still be read here:
/// other systems throw that away, and clients that are still sending never look for it.
bool was_reset(const RawClient& client);

/// Reads the answer that `after` speaks of: the connection is used once more, or at its end.
void expect_after(RawClient& client, const Response& last, After after);

}  // namespace fenceline::testing
