#include "tests/backends/sqlite/sqlite_fixture.h"

#include <stdexcept>

namespace fenceline::testing {
namespace {

base::SqliteConnection connect(const std::string& path, int flags = 0) {
  auto opened = base::SqliteConnection::open(path, flags);
  if (!opened) {
    throw std::runtime_error(opened.error().text);
  }
  return *std::move(opened);
}

/// A POST that owns its text.
struct Post {
  Post(const std::string& resource, const Captures& captures, Fields with)
      : name(resource), path("/" + resource), fields(std::move(with)) {
    head.method = base::Method::kPost;
    head.path = path;
    for (const auto& [field, value] : fields) {
      head.fields.push_back({field, value});
    }
    for (const auto& [part, value] : captures) {
      part_names.push_back(part);
      values.push_back(value);
    }
    for (const std::string& value : values) {
      part_values.emplace_back(value);
    }
  }

  [[nodiscard]] backends::ResourceRequest resource() const {
    return {.head = head, .name = name, .part_names = part_names, .part_values = part_values};
  }

  std::string name;
  std::string path;
  Fields fields;
  base::RequestHead head;
  std::vector<std::string> part_names;
  std::vector<std::string> values;
  std::vector<std::string_view> part_values;
};

}  // namespace

ForeignConnection::ForeignConnection(const std::string& path) : connection_(connect(path)) {
  sqlite3_busy_timeout(connection_.get(), 10'000);
  run("PRAGMA wal_autocheckpoint=0");
}

void ForeignConnection::run(const std::string& sql) {
  const auto done = connection_.run(sql);
  EXPECT_TRUE(done) << sql << ": " << done.error().text;
}

std::string ForeignConnection::value(const std::string& sql) {
  auto value = connection_.value_of(sql);
  EXPECT_TRUE(value) << sql << ": " << value.error().text;
  return value.value_or("");
}

backends::SqliteOptions SqliteBackendTest::options() {
  return {.database = database(),
          .pool = pool_,
          .on_failure =
              [this](const std::string& message) {
                const std::scoped_lock lock(mutex_);
                alarms_.push_back(message);
              },
          .on_commit =
              [this](std::size_t writes, double /*seconds*/) {
                const std::scoped_lock lock(mutex_);
                groups_.push_back(writes);
              }};
}

base::Result<std::unique_ptr<backends::Backend>> SqliteBackendTest::try_open(
    backends::SqliteOptions options) {
  return backends::open_sqlite_backend(std::move(options));
}

void SqliteBackendTest::open(backends::SqliteOptions options) {
  close();
  auto opened = try_open(std::move(options));
  if (!opened) {
    throw std::runtime_error(opened.error().detail);
  }
  backend_ = *std::move(opened);
}

void SqliteBackendTest::open_statements(
    const std::vector<std::pair<std::string, std::string>>& statements) {
  auto with = options();
  for (const auto& [name, sql] : statements) {
    const bool reads = name.starts_with("get");
    with.statements.push_back(
        {name, reads ? backends::StatementMode::kRead : backends::StatementMode::kWrite, sql});
  }
  open(std::move(with));
}

void SqliteBackendTest::given(const std::string& sql) const {
  const auto done = connect(database(), SQLITE_OPEN_CREATE).run(sql);
  ASSERT_TRUE(done) << done.error().text;
}

std::vector<std::string> SqliteBackendTest::alarms() const {
  const std::scoped_lock lock(mutex_);
  return alarms_;
}

std::vector<std::size_t> SqliteBackendTest::groups() const {
  const std::scoped_lock lock(mutex_);
  return groups_;
}

Answer post(backends::Backend& backend, const std::string& name, const std::string& json,
            const Captures& captures, base::Stamp stamp, Fields fields) {
  const Post call(name, captures, std::move(fields));
  PiecesBody body(json.empty() ? std::vector<std::string>() : std::vector<std::string>{json});
  backends::ResourceRequest request = call.resource();
  if (backend.is_read(call.head)) {
    request.body = &body;
    return answer_of(stamp.token.exists() ? run(backend.fenced_read(request, std::move(stamp)))
                                          : run(backend.read(request)));
  }
  auto staged = run(backend.stage(request, body, std::move(stamp)));
  if (!staged) {
    return answer_of(tl::unexpected(staged.error()));
  }
  return answer_of(run((*staged)->commit()));
}

Answer post_once(backends::Backend& backend, const std::string& name, const std::string& json,
                 base::Once once, base::Stamp stamp) {
  const Post call(name, {}, {});
  PiecesBody body({json});
  auto staged = run(backend.stage(call.resource(), body, std::move(stamp)));
  if (!staged) {
    return answer_of(tl::unexpected(staged.error()));
  }
  return answer_of(run((*staged)->commit_once(std::move(once))));
}

Staged stage_post(backends::Backend& backend, const std::string& name, const std::string& json) {
  const Post call(name, {}, {});
  PiecesBody body({json});
  // A staged call owns all of it; nothing here is looked at again.
  return {nullptr, run(backend.stage(call.resource(), body, {}))};
}

Answer fenced_get(backends::Backend& backend, const std::string& name, base::Stamp stamp) {
  const Request request(base::Method::kGet, name);
  return answer_of(run(backend.fenced_read(request.resource(), std::move(stamp))));
}

base::Stamp stamp_of(const std::string& key, std::int64_t token) {
  return {.key = key, .token = base::Token::of(token), .request_id = "r-" + std::to_string(token)};
}

std::vector<Answer> commit_together(std::vector<Staged>& writes,
                                    const std::function<void()>& meanwhile) {
  using Outcome = std::optional<base::Result<base::Reply>>;
  boost::asio::io_context io(1);
  std::vector<Outcome> outcomes(writes.size());
  for (std::size_t i = 0; i < writes.size(); ++i) {
    base::spawn(io, keep_result((*writes[i].write)->commit(), &outcomes[i]), nothing_thrown);
  }
  io.poll();
  meanwhile();
  io.run();
  std::vector<Answer> answers;
  for (Outcome& outcome : outcomes) {
    answers.push_back(answer_of(std::move(outcome).value()));
  }
  return answers;
}

}  // namespace fenceline::testing
