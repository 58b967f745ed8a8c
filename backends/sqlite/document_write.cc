#include "backends/sqlite/document_write.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <utility>

#include "backends/representation.h"
#include "backends/sqlite/body.h"
#include "backends/sqlite/document.h"
#include "base/conditions.h"
#include "base/fence_key.h"

namespace fenceline::backends::sqlite {
namespace {

using base::ErrorKind;
using base::Method;
using base::Reply;
using base::Result;

using StageResult = Result<std::unique_ptr<StagedWrite>>;

struct NewDocument {
  std::string name;
  base::Conditions conditions;
  std::string type;
  std::string content;
  std::string tag;          ///< Opaque.
  bool keeps_text = false;  ///< The content goes in as text, where the column is one.
};

std::int64_t seconds_now() {
  // For people and for Last-Modified; nothing is decided by it but what a client asks for.
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

/// Failure: `kPreconditionFailed`.
Result<void> check_conditions(const base::Conditions& conditions, const std::string& name,
                              const std::optional<Document>& found) {
  const base::ResourceState state = found ? found->state() : base::ResourceState();
  if (conditions.evaluate(state) == base::Verdict::kProceed) {
    return {};
  }
  return base::fail(ErrorKind::kPreconditionFailed,
                    fmt::format("\"{}\" {}; read it again and decide anew", name,
                                found ? "is not in the state that the request asks for"
                                      : "does not exist, but the request asks for a state of it"));
}

SqliteResult<std::optional<Document>> look_up(Connection& writer, const DocumentTable& table,
                                              const std::string& name,
                                              const base::Conditions& conditions) {
  return find_document(writer, table, name,
                       conditions.only_existence() ? Wanted::kExistence : Wanted::kState);
}

class PutJob final : public FencedJob {
 public:
  PutJob(const Store& store, base::Stamp stamp, NewDocument document)
      : FencedJob(store.database->marks(), store.database->name(), std::move(stamp)),
        table_(store.documents),
        document_(std::move(document)) {}

  [[nodiscard]] std::size_t bytes() const override { return document_.content.size(); }

 protected:
  SqliteResult<Result<Reply>> effect(Connection& writer) override {
    const auto found = look_up(writer, *table_, document_.name, document_.conditions);
    if (!found) {
      return tl::unexpected(found.error());
    }
    if (auto allowed = check_conditions(document_.conditions, document_.name, *found); !allowed) {
      return Result<Reply>(tl::unexpected(std::move(allowed.error())));
    }
    if (auto stored = store(writer, *found ? table_->update : table_->insert); !stored) {
      return tl::unexpected(std::move(stored.error()));
    }
    Reply reply;
    reply.status = *found ? 204 : 201;
    reply.add("ETag", entity_tag(document_.tag));
    return Result<Reply>(std::move(reply));
  }

  [[nodiscard]] std::string doing() const override {
    return fmt::format("write \"{}\" to", document_.name);
  }

 private:
  SqliteResult<void> store(Connection& writer, const std::string& sql) {
    auto run = writer.prepared(sql);
    if (!run) {
      return tl::unexpected(std::move(run.error()));
    }
    base::SqliteStatement& statement = **run;
    const int last = sqlite3_bind_parameter_count(statement.get());
    statement.bind_text(1, document_.name);
    if (document_.keeps_text) {
      statement.bind_text(2, document_.content);
    } else {
      statement.bind_blob(2, document_.content);
    }
    if (last >= 3 && !document_.type.empty()) {
      statement.bind_text(3, document_.type);
    }
    if (last >= 4) {
      statement.bind_text(4, document_.tag);
    }
    if (last >= 5) {
      statement.bind_number(5, seconds_now());
    }
    if (last >= 6 && stamp_.token.exists()) {
      statement.bind_number(6, stamp_.token.value());
    }
    if (last >= 7) {
      statement.bind_text(7, stamp_.request_id);
    }
    const auto done = statement.step();
    if (!done) {
      return tl::unexpected(done.error());
    }
    return {};
  }

  const std::shared_ptr<const DocumentTable> table_;
  const NewDocument document_;
};

class DeleteJob final : public FencedJob {
 public:
  DeleteJob(const Store& store, base::Stamp stamp, std::string name, base::Conditions conditions)
      : FencedJob(store.database->marks(), store.database->name(), std::move(stamp)),
        table_(store.documents),
        name_(std::move(name)),
        conditions_(std::move(conditions)) {}

 protected:
  SqliteResult<Result<Reply>> effect(Connection& writer) override {
    const auto found = look_up(writer, *table_, name_, conditions_);
    if (!found) {
      return tl::unexpected(found.error());
    }
    // Conditions count only where the answer without them would be a success (RFC 9110, 13.2.1).
    if (!*found) {
      return Result<Reply>(
          base::fail(ErrorKind::kNotFound, fmt::format("There is no document \"{}\"", name_)));
    }
    if (auto allowed = check_conditions(conditions_, name_, *found); !allowed) {
      return Result<Reply>(tl::unexpected(std::move(allowed.error())));
    }
    auto run = writer.prepared(table_->remove);
    if (!run) {
      return tl::unexpected(std::move(run.error()));
    }
    (*run)->bind_text(1, name_);
    if (const auto done = (*run)->step(); !done) {
      return tl::unexpected(done.error());
    }
    Reply reply;
    reply.status = 204;
    return Result<Reply>(std::move(reply));
  }

  [[nodiscard]] std::string doing() const override {
    return fmt::format("delete \"{}\" in", name_);
  }

 private:
  const std::shared_ptr<const DocumentTable> table_;
  const std::string name_;
  const base::Conditions conditions_;
};

class SqliteWrite final : public StagedWrite {
 public:
  SqliteWrite(std::shared_ptr<Store> store, std::unique_ptr<FencedJob> job)
      : store_(std::move(store)), job_(std::move(job)) {}

  base::Awaitable<Result<Reply>> commit() override {
    auto start = [this](base::Done<Result<Reply>> done) {
      job_->answer_to(std::move(done));
      store_->database->submit(std::move(job_));
    };
    return base::from_callback<Result<Reply>>(std::move(start));
  }

  base::Awaitable<Result<Reply>> commit_once(base::Once once) override {
    job_->be_once(std::move(once));
    return commit();
  }

 private:
  std::shared_ptr<Store> store_;
  std::unique_ptr<FencedJob> job_;
};

/// What can be refused before the body has come.
Result<base::Conditions> prepare(const Store& store, const ResourceRequest& request) {
  if (auto serving = store.database->health().check(store.database->name()); !serving) {
    return tl::unexpected(std::move(serving.error()));
  }
  const Method method = request.head.method;
  if (!store.documents || (method != Method::kPut && method != Method::kDelete)) {
    return base::fail(ErrorKind::kMethodNotAllowed, "This method is not for a document here");
  }
  if (request.names_directory || request.name.empty()) {
    return base::fail(ErrorKind::kMalformedRequest,
                      "The path names no document, but a listing; leave out the slash at its end");
  }
  if (auto checked = check_name(request.name); !checked) {
    return tl::unexpected(std::move(checked.error()));
  }
  return base::Conditions::parse(request.head);
}

Result<NewDocument> describe(Store& store, const ResourceRequest& request,
                             base::Conditions conditions) {
  if (auto checked = check_representation(request.head); !checked) {
    return tl::unexpected(std::move(checked.error()));
  }
  const auto type = content_type_of(request.head);
  if (!type) {
    return tl::unexpected(type.error());
  }
  return NewDocument{.name = std::string(request.name),
                     .conditions = std::move(conditions),
                     .type = std::string(*type),
                     .content = {},
                     .tag = store.documents->shape.etag ? store.tags->fresh() : std::string()};
}

/// What takes a while for a large body.
void complete(const TableShape& shape, NewDocument& document) {
  if (document.tag.empty()) {
    document.tag = tag_of_content(shape.content_type ? document.type : "", document.content);
  }
  document.keeps_text = shape.text_values && base::is_valid_utf8(document.content) &&
                        document.content.find('\0') == std::string::npos;
}

base::Awaitable<NewDocument> complete_on_pool(std::shared_ptr<Store> store, NewDocument document) {
  auto owned = std::make_shared<NewDocument>(std::move(document));
  base::WorkerPool& pool = store->pool;
  auto work = [store = std::move(store), owned] {
    complete(store->documents->shape, *owned);
    return std::move(*owned);
  };
  return base::run_on<NewDocument>(pool, std::move(work));
}

base::Awaitable<StageResult> stage_put(std::shared_ptr<Store> store, NewDocument document,
                                       base::BodySource& body, base::Stamp stamp) {
  auto content = co_await collect(body, store->max_body_bytes);
  if (!content) {
    co_return tl::unexpected(content.error());
  }
  document.content = *std::move(content);
  const TableShape& shape = store->documents->shape;
  if (document.tag.empty() || shape.text_values) {
    document = co_await complete_on_pool(store, std::move(document));
  }
  auto job = std::make_unique<PutJob>(*store, std::move(stamp), std::move(document));
  co_return make_staged_write(std::move(store), std::move(job));
}

base::Awaitable<StageResult> stage_delete(std::shared_ptr<Store> store, std::string name,
                                          base::Conditions conditions, base::BodySource& body,
                                          base::Stamp stamp) {
  const auto discarded = co_await discard(body);
  if (!discarded) {
    co_return tl::unexpected(discarded.error());
  }
  auto job =
      std::make_unique<DeleteJob>(*store, std::move(stamp), std::move(name), std::move(conditions));
  co_return make_staged_write(std::move(store), std::move(job));
}

}  // namespace

std::unique_ptr<StagedWrite> make_staged_write(std::shared_ptr<Store> store,
                                               std::unique_ptr<FencedJob> job) {
  return std::make_unique<SqliteWrite>(std::move(store), std::move(job));
}

base::Awaitable<StageResult> stage_document(std::shared_ptr<Store> store, ResourceRequest request,
                                            base::BodySource& body, base::Stamp stamp) {
  using Answer = base::Awaitable<StageResult>;
  auto conditions = prepare(*store, request);
  if (!conditions) {
    return Answer::ready(tl::unexpected(std::move(conditions.error())));
  }
  if (request.head.method == Method::kDelete) {
    return stage_delete(std::move(store), std::string(request.name), *std::move(conditions), body,
                        std::move(stamp));
  }
  auto document = describe(*store, request, *std::move(conditions));
  if (!document) {
    return Answer::ready(tl::unexpected(std::move(document.error())));
  }
  return stage_put(std::move(store), *std::move(document), body, std::move(stamp));
}

}  // namespace fenceline::backends::sqlite
