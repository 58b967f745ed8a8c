#pragma once

// Drives a backend the way the pipeline does, but without sockets: whole requests in, whole answers
// out. Every call runs its own io_context, so different threads may drive one backend.

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "base/async.h"
#include "base/error.h"
#include "base/http.h"
#include "base/spawn.h"
#include "base/stamp.h"
#include "tests/support/coroutine.h"

namespace fenceline::testing {

template <typename T>
base::Awaitable<void> keep_result(base::Awaitable<T> work, std::optional<T>* result) {
  auto value = co_await std::move(work);
  result->emplace(std::move(value));
}

/// Runs a coroutine to its end on the calling thread and gives its result.
template <typename T>
T run(base::Awaitable<T> work) {
  boost::asio::io_context io(1);
  std::optional<T> result;
  base::spawn(io, keep_result(std::move(work), &result), testing::nothing_thrown);
  io.run();
  return std::move(result).value();
}

/// A body that is there from the start, in pieces; may end in an error.
class PiecesBody final : public base::BodySource {
 public:
  explicit PiecesBody(std::vector<std::string> pieces, std::optional<base::Error> end = {})
      : pieces_(std::move(pieces)), end_(std::move(end)) {}

  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override { return {}; }
  base::Awaitable<base::Result<std::string_view>> read() override;

 private:
  std::vector<std::string> pieces_;
  std::optional<base::Error> end_;
  std::size_t next_ = 0;
};

/// One request that owns its text.
class Request {
 public:
  /// A `name` that ends in a slash names a directory.
  Request(base::Method method, std::string name, std::vector<base::OwnedField> fields = {},
          std::string query = {});
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  [[nodiscard]] const base::RequestHead& head() const { return head_; }

  [[nodiscard]] backends::ResourceRequest resource() const {
    return {.head = head_, .name = name_, .names_directory = names_directory_};
  }

 private:
  std::string name_;
  bool names_directory_ = false;
  std::vector<base::OwnedField> fields_;
  std::string query_;
  base::RequestHead head_;
};

/// What a request came to: a status (0 for an error), or the error.
struct Answer {
  int status = 0;
  std::vector<base::OwnedField> fields;
  std::string content;
  std::optional<std::uint64_t> head_length_bytes;
  std::optional<base::Error> error;

  /// The only value of this field; empty if there is none.
  [[nodiscard]] std::string field(std::string_view name) const;

  /// The stable name of the error's kind; empty if there is none.
  [[nodiscard]] std::string error_name() const;
};

/// Takes an answer apart, reading what it holds.
Answer answer_of(base::Result<base::Reply> reply);

/// A write between stage and commit.
struct Staged {
  std::unique_ptr<Request> request;  ///< Outlives the write, as the contract asks.
  base::Result<std::unique_ptr<backends::StagedWrite>> write;

  Answer commit();
};

using Fields = std::vector<base::OwnedField>;

Staged stage_put(backends::Backend& backend, const std::string& name, std::string content,
                 Fields fields = {}, base::Stamp stamp = {});
Staged stage_delete(backends::Backend& backend, const std::string& name, Fields fields = {});
Answer put(backends::Backend& backend, const std::string& name, std::string content,
           Fields fields = {}, base::Stamp stamp = {});
Answer remove(backends::Backend& backend, const std::string& name, Fields fields = {});
Answer get(backends::Backend& backend, const std::string& name, Fields fields = {},
           std::string query = {});
Answer head(backends::Backend& backend, const std::string& name, Fields fields = {},
            std::string query = {});

}  // namespace fenceline::testing
