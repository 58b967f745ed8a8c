#include "client/sources/postgres/pg_session.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/sources/one_key.h"

namespace fenceline::client {
namespace {

using base::Applied;
using base::ErrorKind;
using base::Milliseconds;
using base::Result;
using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using Answer = std::unique_ptr<PGresult, decltype(&PQclear)>;

constexpr Milliseconds kGrace{200};
constexpr std::size_t kStateBytes = 5;

/// A limit that is used up by several waits.
class Budget {
 public:
  explicit Budget(Milliseconds limit) : end_(std::chrono::steady_clock::now() + limit) {}
  [[nodiscard]] Milliseconds left() const {
    const auto left = end_ - std::chrono::steady_clock::now();
    return std::max(Milliseconds(0), std::chrono::ceil<Milliseconds>(left));
  }

 private:
  std::chrono::steady_clock::time_point end_;
};

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

/// A message at connecting has no field with the state, but says it when it is verbose:
/// `… FATAL:  28P01: password …`.
std::string state_of(std::string_view message) {
  for (std::size_t at = message.find(":  "); at != std::string_view::npos;
       at = message.find(":  ", at + 1)) {
    const std::string_view rest = message.substr(at + 3);
    if (rest.size() > kStateBytes && rest[kStateBytes] == ':') {
      return std::string(rest.substr(0, kStateBytes));
    }
  }
  return {};
}

base::Error connect_error(const PgServer& server, const PGconn* connection) {
  const std::string_view message = PQerrorMessage(connection);
  const bool refused =
      state_of(message).starts_with("28") || PQconnectionNeedsPassword(connection) != 0;
  return {.kind = refused ? ErrorKind::kUnauthorized : ErrorKind::kUpstreamFailed,
          .detail = fmt::format("PostgreSQL at {} takes no session: {}.", server.name,
                                first_line(message)),
          .applied = Applied::kNo};
}

base::Error late_error(const std::string& name, std::string_view what, Applied applied) {
  return {.kind = ErrorKind::kUpstreamTimeout,
          .detail = fmt::format("PostgreSQL at {} did not {} in time.", name, what),
          .applied = applied};
}

void ignore_notice(void* /*context*/, const PGresult* /*notice*/) {}

class LibpqSession final : public PgSession {
 public:
  explicit LibpqSession(PgTarget target) : target_(std::move(target)) {}

  Result<PgAnswer> run(const std::string& sql, const std::vector<std::string>& values,
                       Milliseconds limit, const StopEvent& stop) override {
    if (stop.requested()) {
      return tl::unexpected(stopped_error(Applied::kNo));
    }
    const Budget budget(limit);
    reused_ = connection_ != nullptr;
    if (!reused_) {
      if (auto connected = connect(budget, stop); !connected) {
        return base::pass_on(connected.error());
      }
    }
    auto answer = ask(sql, values, budget, stop);
    if (!answer || PQstatus(connection_.get()) != CONNECTION_OK) {
      connection_.reset();
    }
    return answer;
  }

  [[nodiscard]] bool reused() const override { return reused_; }

 private:
  [[nodiscard]] const std::string& name() const { return target_.servers[server_].name; }

  Result<void> connect(const Budget& all, const StopEvent& stop) {
    base::Error first;
    const std::size_t begin = server_;
    for (std::size_t i = 0; i < target_.servers.size(); ++i) {
      server_ = (begin + i) % target_.servers.size();
      auto connected = connect_to(target_.servers[server_], all, stop);
      if (connected || connected.error().kind == ErrorKind::kClientGone) {
        return connected;
      }
      if (i == 0) {
        first = std::move(connected.error());
      } else {
        first.detail += " " + connected.error().detail;
      }
    }
    return tl::unexpected(std::move(first));
  }

  Result<void> connect_to(const PgServer& server, const Budget& all, const StopEvent& stop) {
    std::vector<const char*> names;
    std::vector<const char*> values;
    for (const auto& [key, value] : server.settings) {
      names.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
    const Budget budget(std::min(target_.connect, all.left()));
    Connection opened(PQconnectStartParams(names.data(), values.data(), 0), &PQfinish);
    if (!opened || PQstatus(opened.get()) == CONNECTION_BAD) {
      return tl::unexpected(connect_error(server, opened.get()));
    }
    PQsetErrorVerbosity(opened.get(), PQERRORS_VERBOSE);
    PQsetNoticeReceiver(opened.get(), &ignore_notice, nullptr);
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    while (state != PGRES_POLLING_OK) {
      const short events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;
      switch (stop.wait(PQsocket(opened.get()), events, budget.left())) {
        case Woken::kStopped:
          return tl::unexpected(stopped_error(Applied::kNo));
        case Woken::kLate:
          return tl::unexpected(late_error(server.name, "take a session", Applied::kNo));
        case Woken::kReady:
          break;
      }
      state = PQconnectPoll(opened.get());
      if (state == PGRES_POLLING_FAILED) {
        return tl::unexpected(connect_error(server, opened.get()));
      }
    }
    PQsetnonblocking(opened.get(), 1);
    connection_ = std::move(opened);
    return {};
  }

  Result<PgAnswer> ask(const std::string& sql, const std::vector<std::string>& values,
                       const Budget& budget, const StopEvent& stop) {
    std::vector<const char*> texts;
    for (const std::string& value : values) {
      texts.push_back(value.c_str());
    }
    PGconn* const connection = connection_.get();
    if (PQsendQueryParams(connection, sql.c_str(), static_cast<int>(texts.size()), nullptr,
                          texts.data(), nullptr, nullptr, 0) == 0) {
      return tl::unexpected(lost(Applied::kUnknown));
    }
    if (auto came = exchange(budget, stop); !came) {
      return base::pass_on(came.error());
    }
    Answer answer(PQgetResult(connection), &PQclear);
    PgAnswer read = read_answer(answer.get());
    // The end of the statement's answer; a second statement is not sent before it.
    while (answer) {
      if (auto came = exchange(budget, stop); !came) {
        return base::pass_on(came.error());
      }
      answer.reset(PQgetResult(connection));
    }
    if (!read.sqlstate.empty() && PQstatus(connection) != CONNECTION_OK) {
      return tl::unexpected(lost(Applied::kUnknown));
    }
    return read;
  }

  /// Until the next result can be taken without blocking.
  Result<void> exchange(const Budget& budget, const StopEvent& stop) {
    static const StopEvent never{std::stop_token()};
    std::optional<Budget> grace;
    PGconn* const connection = connection_.get();
    int unsent = PQflush(connection);
    while (unsent != 0 || PQisBusy(connection) != 0) {
      if (unsent < 0) {
        return tl::unexpected(lost(Applied::kUnknown));
      }
      const short events = static_cast<short>(unsent > 0 ? POLLIN | POLLOUT : POLLIN);
      const Milliseconds left = grace ? std::min(grace->left(), budget.left()) : budget.left();
      switch ((grace ? never : stop).wait(PQsocket(connection), events, left)) {
        case Woken::kStopped:
          grace.emplace(kGrace);
          continue;
        case Woken::kLate:
          return tl::unexpected(grace ? stopped_error(Applied::kUnknown)
                                      : late_error(name(), "answer", Applied::kUnknown));
        case Woken::kReady:
          break;
      }
      if (PQconsumeInput(connection) == 0) {
        return tl::unexpected(lost(Applied::kUnknown));
      }
      unsent = PQflush(connection);
    }
    return {};
  }

  base::Error lost(Applied applied) const {
    return {.kind = ErrorKind::kUpstreamFailed,
            .detail = fmt::format("The session with PostgreSQL at {} broke: {}.", name(),
                                  first_line(PQerrorMessage(connection_.get()))),
            .applied = applied};
  }

  static PgAnswer read_answer(const PGresult* result) {
    PgAnswer answer;
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
      const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
      const char* const message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
      answer.sqlstate = state == nullptr ? "?" : state;
      answer.message = message == nullptr ? first_line(PQresultErrorMessage(result)) : message;
      return answer;
    }
    for (int row = 0; row < PQntuples(result); ++row) {
      PgRow& values = answer.rows.emplace_back();
      for (int column = 0; column < PQnfields(result); ++column) {
        const bool is_null = PQgetisnull(result, row, column) != 0;
        values.push_back(is_null ? std::nullopt
                                 : std::optional<std::string>(PQgetvalue(result, row, column)));
      }
    }
    return answer;
  }

  PgTarget target_;
  Connection connection_{nullptr, &PQfinish};
  std::size_t server_ = 0;
  bool reused_ = false;
};

}  // namespace

std::unique_ptr<PgSession> make_pg_session(PgTarget target) {
  return std::make_unique<LibpqSession>(std::move(target));
}

}  // namespace fenceline::client
