#include "backends/sqlite/sqlite_backend.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <utility>

#include "backends/sqlite/document.h"
#include "backends/sqlite/document_read.h"
#include "backends/sqlite/document_write.h"
#include "backends/sqlite/reading.h"
#include "backends/sqlite/statement_call.h"
#include "backends/sqlite/store.h"

namespace fenceline::backends {
namespace {

using base::ErrorKind;
using base::Method;
using base::Reply;
using base::Result;
using sqlite::Database;
using sqlite::Store;

class SqliteBackend final : public Backend {
 public:
  explicit SqliteBackend(std::shared_ptr<Store> store) : store_(std::move(store)) {}

  [[nodiscard]] Capabilities capabilities() const override {
    return {.guarantee = Guarantee::kStrict, .assumption = {}};
  }

  [[nodiscard]] bool is_read(const base::RequestHead& head) const override {
    if (head.method == Method::kPost) {
      const auto* const statement = sqlite::statement_in_path(*store_, head.path);
      return statement != nullptr && statement->mode == StatementMode::kRead;
    }
    return head.method == Method::kGet || head.method == Method::kHead;
  }

  [[nodiscard]] std::string_view allowed_methods() const override {
    if (store_->statements.empty()) {
      return "GET, HEAD, PUT, DELETE";
    }
    return store_->documents ? "GET, HEAD, PUT, DELETE, POST" : "POST";
  }

  base::Awaitable<Result<Reply>> read(ResourceRequest request) override {
    return read_with(request, {});
  }

  base::Awaitable<Result<Reply>> fenced_read(ResourceRequest request, base::Stamp stamp) override {
    return read_with(request, std::move(stamp));
  }

  base::Awaitable<Result<void>> reset_mark(std::string key, base::Token to) override {
    auto start = [store = store_, key = std::move(key), to](base::Done<Result<void>> done) mutable {
      Database& database = *store->database;
      database.submit(std::make_unique<sqlite::ResetJob>(database.marks(), std::move(key), to,
                                                         std::move(done)));
    };
    return base::from_callback<Result<void>>(std::move(start));
  }

  base::Awaitable<Result<std::unique_ptr<StagedWrite>>> stage(ResourceRequest request,
                                                              base::BodySource& body,
                                                              base::Stamp stamp) override {
    if (request.head.method == Method::kPost && !store_->statements.empty()) {
      return sqlite::stage_call(store_, request, body, std::move(stamp));
    }
    return sqlite::stage_document(store_, request, body, std::move(stamp));
  }

  Result<std::optional<base::Stamp>> find_stamp(std::string_view name) override {
    if (auto checked = sqlite::check_name(name); !checked) {
      return tl::unexpected(std::move(checked.error()));
    }
    if (!store_->documents) {
      return base::fail(ErrorKind::kNotFound, "This route has no documents, only statements");
    }
    auto kept = store_->database->reader().and_then([&](Database::Reader reader) {
      return sqlite::find_kept_stamp(*reader, *store_->documents, name);
    });
    if (!kept) {
      return tl::unexpected(
          sqlite::error_of(kept.error(), store_->database->name(), "look up a stamp in"));
    }
    if (!kept->exists) {
      return base::fail(ErrorKind::kNotFound, fmt::format("There is no document \"{}\"", name));
    }
    return std::move(kept->stamp);
  }

  [[nodiscard]] bool commits_once() const override { return store_->keeps_answers; }

  [[nodiscard]] std::optional<std::string> out_of_service() const override {
    return store_->database->health().reason();
  }

  [[nodiscard]] std::optional<std::string> displaced() const override {
    return store_->database->displaced();
  }

 private:
  using ReadJobResult = Result<std::shared_ptr<sqlite::ReadJob>>;

  base::Awaitable<Result<Reply>> read_with(ResourceRequest request, base::Stamp stamp) {
    if (request.head.method == Method::kPost) {
      return run_call(store_, request, std::move(stamp));
    }
    return sqlite::run_read(store_, job_of(request), std::move(stamp));
  }

  ReadJobResult job_of(const ResourceRequest& request) {
    if (!store_->documents) {
      return base::fail(ErrorKind::kMethodNotAllowed, "This route has no documents; use POST");
    }
    return request.names_directory || request.name.empty()
               ? sqlite::read_listing(*store_, request)
               : sqlite::read_document(*store_, request);
  }

  static base::Awaitable<Result<Reply>> run_call(std::shared_ptr<Store> store,
                                                 ResourceRequest request, base::Stamp stamp) {
    auto call = co_await sqlite::take_call(store, request, request.body);
    if (!call) {
      co_return tl::unexpected(call.error());
    }
    auto job = sqlite::read_call(*store, *std::move(call));
    co_return co_await sqlite::run_read(store, std::move(job), std::move(stamp));
  }

  std::shared_ptr<Store> store_;
};

Result<void> open_table(Store& store, const SqliteOptions& options) {
  Result<sqlite::DocumentTable> table = base::fail(ErrorKind::kInternal, "not opened");
  auto done = store.database->run_on_writer([&](sqlite::Connection& writer) {
    table = sqlite::open_document_table(writer, options, store.database->name().path);
  });
  if (!done) {
    return done;
  }
  if (!table) {
    return tl::unexpected(std::move(table.error()));
  }
  store.documents = std::make_shared<const sqlite::DocumentTable>(*std::move(table));
  return {};
}

Result<void> open_answers(Store& store) {
  sqlite::SqliteResult<void> opened;
  auto done = store.database->run_on_writer(
      [&](sqlite::Connection& writer) { opened = writer.open_answers(store.database->clock()); });
  if (done && !opened) {
    return base::fail(
        ErrorKind::kStorageFailed,
        fmt::format("The table \"{}\" of the database {} cannot keep answers for idempotency keys: "
                    "{}. Rename it, or leave out idempotency.",
                    sqlite::kAnswersTable, store.database->name().path, opened.error().text));
  }
  return done;
}

Result<void> open_statements(Store& store, const SqliteOptions& options) {
  Result<void> opened;
  auto done = store.database->run_on_writer([&](sqlite::Connection& writer) {
    store.statements.clear();
    for (const SqliteStatementOptions& wanted : options.statements) {
      auto statement = sqlite::open_statement(writer, wanted, store.database->name().path);
      if (!statement) {
        opened = tl::unexpected(std::move(statement.error()));
        return;
      }
      const std::string name = statement->name;
      store.statements[name] =
          std::make_shared<const sqlite::NamedStatement>(*std::move(statement));
    }
  });
  return done ? opened : done;
}

}  // namespace

Result<std::unique_ptr<Backend>> open_sqlite_backend(SqliteOptions options) {
  std::uint64_t nonce = 0;
  if (::getrandom(&nonce, sizeof(nonce), 0) != static_cast<ssize_t>(sizeof(nonce))) {
    return tl::unexpected(base::error_from_errno(errno, "cannot get random bytes"));
  }
  std::function<void(const sqlite::GroupCommit&)> on_commit;
  if (options.on_commit) {
    on_commit = [report = options.on_commit](const sqlite::GroupCommit& commit) {
      report(commit.jobs, commit.seconds);
    };
  }
  auto database = Database::open({.path = options.database,
                                  .marks = options.marks,
                                  .busy = options.busy_timeout,
                                  .on_failure = options.on_failure,
                                  .on_commit = std::move(on_commit)});
  if (!database) {
    return tl::unexpected(std::move(database.error()));
  }
  auto store = std::make_shared<Store>(Store{.database = *std::move(database),
                                             .pool = options.pool,
                                             .documents = nullptr,
                                             .statements = {},
                                             .max_body_bytes = options.max_body_bytes,
                                             .statement_timeout = options.statement_timeout,
                                             .keeps_answers = options.keeps_answers,
                                             .tags = std::make_unique<sqlite::TagSource>(nonce)});
  if (options.keeps_answers) {
    if (auto opened = open_answers(*store); !opened) {
      return tl::unexpected(std::move(opened.error()));
    }
  }
  if (!options.table.empty()) {
    if (auto opened = open_table(*store, options); !opened) {
      return tl::unexpected(std::move(opened.error()));
    }
  }
  if (!options.statements.empty()) {
    if (auto opened = open_statements(*store, options); !opened) {
      return tl::unexpected(std::move(opened.error()));
    }
  }
  return std::make_unique<SqliteBackend>(std::move(store));
}

}  // namespace fenceline::backends
