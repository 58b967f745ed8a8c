#include "backends/sqlite/statement_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "backends/representation.h"
#include "backends/sqlite/body.h"
#include "backends/sqlite/document_write.h"
#include "base/conditions.h"

namespace fenceline::backends::sqlite {
namespace {

using base::ErrorKind;
using base::Reply;
using base::Result;

std::string_view last_segment(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// Only as good as it must be for a name of letters: what is broken fits no name.
std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      decoded.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  return decoded;
}

std::shared_ptr<const NamedStatement> find(const Store& store, std::string_view name) {
  const auto found = store.statements.find(name);
  return found == store.statements.end() ? nullptr : found->second;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", name);
  }
  return list;
}

/// Puts the parts of the path among the parameters.
Result<void> add_parts(const NamedStatement& statement, const ResourceRequest& request,
                       Parameters& parameters) {
  std::vector<std::string> twice;
  const std::size_t count = std::min(request.part_names.size(), request.part_values.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = request.part_names[i];
    if (parameters.contains(name)) {
      // The fence looked at the path, so the data must not look elsewhere.
      twice.push_back(name);
    } else if (std::ranges::binary_search(statement.parameters, name)) {
      parameters.emplace(name, std::string(request.part_values[i]));
    }
  }
  if (twice.empty()) {
    return {};
  }
  return base::fail(ErrorKind::kMalformedRequest,
                    fmt::format("The path gives {} to the statement \"{}\"; leave it out of the "
                                "body",
                                list_of(twice), statement.name));
}

Result<void> check_names(const NamedStatement& statement, const Parameters& parameters) {
  std::vector<std::string> missing;
  for (const std::string& name : statement.parameters) {
    if (!parameters.contains(name)) {
      missing.push_back(name);
    }
  }
  std::vector<std::string> unknown;
  for (const auto& [name, value] : parameters) {
    if (!std::ranges::binary_search(statement.parameters, name)) {
      unknown.push_back(name);
    }
  }
  if (missing.empty() && unknown.empty()) {
    return {};
  }
  std::string what;
  if (!missing.empty()) {
    what = fmt::format(" misses the parameter {}", list_of(missing));
  }
  if (!unknown.empty()) {
    what += fmt::format("{} has no parameter {}", what.empty() ? "" : " and", list_of(unknown));
  }
  return base::fail(
      ErrorKind::kMalformedRequest,
      fmt::format("The statement \"{}\"{}. Its parameters are: {}", statement.name, what,
                  statement.parameters.empty() ? "none" : list_of(statement.parameters)));
}

Result<std::shared_ptr<const NamedStatement>> check_request(const Store& store,
                                                            const ResourceRequest& request) {
  auto statement = request.names_directory ? nullptr : find(store, last_segment(request.name));
  if (!statement) {
    return base::fail(ErrorKind::kNotFound,
                      fmt::format("There is no statement \"{}\"", last_segment(request.name)));
  }
  const auto conditions = base::Conditions::parse(request.head);
  if (!conditions) {
    return tl::unexpected(conditions.error());
  }
  if (!conditions->empty()) {
    return base::fail(ErrorKind::kMalformedRequest,
                      "A statement has no state to compare with; put the condition into its SQL "
                      "and leave out If-Match and its like");
  }
  if (auto checked = check_representation(request.head); !checked) {
    return tl::unexpected(std::move(checked.error()));
  }
  return statement;
}

class CallRead final : public ReadJob {
 public:
  CallRead(const Store& store, StatementCall call)
      : call_(std::move(call)), limits_{store.statement_timeout, store.max_body_bytes} {}

  SqliteResult<Result<Reply>> read(Connection& connection) override {
    return run_statement(connection, *call_.statement, call_.parameters, limits_);
  }

  [[nodiscard]] std::string doing() const override {
    return fmt::format("run the statement \"{}\" in", call_.statement->name);
  }

 private:
  const StatementCall call_;
  const RunLimits limits_;
};

class CallJob final : public FencedJob {
 public:
  CallJob(const Store& store, base::Stamp stamp, StatementCall call)
      : FencedJob(store.database->marks(), store.database->name(), std::move(stamp)),
        call_(std::move(call)),
        limits_{store.statement_timeout, store.max_body_bytes} {}

 protected:
  SqliteResult<Result<Reply>> effect(Connection& writer) override {
    return run_statement(writer, *call_.statement, call_.parameters, limits_);
  }

  [[nodiscard]] std::string doing() const override {
    return fmt::format("run the statement \"{}\" in", call_.statement->name);
  }

 private:
  const StatementCall call_;
  const RunLimits limits_;
};

}  // namespace

const NamedStatement* statement_in_path(const Store& store, std::string_view path) {
  return find(store, percent_decoded(last_segment(path))).get();
}

base::Awaitable<Result<StatementCall>> take_call(std::shared_ptr<Store> store,
                                                 ResourceRequest request, base::BodySource* body) {
  auto statement = check_request(*store, request);
  if (!statement) {
    co_return tl::unexpected(statement.error());
  }
  std::string text;
  if (body != nullptr) {
    auto collected = co_await collect(*body, store->max_body_bytes);
    if (!collected) {
      co_return tl::unexpected(collected.error());
    }
    text = *std::move(collected);
  }
  auto parameters = parse_parameters(text);
  if (!parameters) {
    co_return tl::unexpected(parameters.error());
  }
  auto checked = add_parts(**statement, request, *parameters);
  if (checked) {
    checked = check_names(**statement, *parameters);
  }
  if (!checked) {
    co_return tl::unexpected(checked.error());
  }
  co_return StatementCall{*std::move(statement), *std::move(parameters)};
}

Result<std::shared_ptr<ReadJob>> read_call(const Store& store, StatementCall call) {
  if (call.statement->mode != StatementMode::kRead) {
    // The path was read in two ways; it must not pass as a read.
    return base::fail(ErrorKind::kInternal, "a statement that writes was taken for a read");
  }
  return std::make_shared<CallRead>(store, std::move(call));
}

base::Awaitable<Result<std::unique_ptr<StagedWrite>>> stage_call(std::shared_ptr<Store> store,
                                                                 ResourceRequest request,
                                                                 base::BodySource& body,
                                                                 base::Stamp stamp) {
  const auto serving = store->database->health().check(store->database->name());
  if (!serving) {
    co_return tl::unexpected(serving.error());
  }
  auto call = co_await take_call(store, request, &body);
  if (!call) {
    co_return tl::unexpected(call.error());
  }
  auto job = std::make_unique<CallJob>(*store, std::move(stamp), *std::move(call));
  co_return make_staged_write(std::move(store), std::move(job));
}

}  // namespace fenceline::backends::sqlite
