#include "tests/system/recorded_clients.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "tests/support/history_parts.h"

namespace fenceline::testing {
namespace {

using Kind = Operation::Kind;
using Outcome = Operation::Outcome;

constexpr std::int64_t kWritesPerClient = 1'000'000'000;

std::uint16_t port_of(std::uint64_t address) { return static_cast<std::uint16_t>(address); }

std::int64_t below(std::mt19937_64& random, std::int64_t bound) {
  return std::uniform_int_distribution<std::int64_t>(0, bound - 1)(random);
}

}  // namespace

RecordedClients::RecordedClients(std::uint16_t port, std::size_t count, std::uint64_t seed,
                                 Load load)
    : load_(load), address_(port), newest_(load.tenants) {
  for (std::atomic<std::int64_t>& newest : newest_) {
    newest = 1;
  }
  clients_.resize(count);
  for (Client& client : clients_) {
    client.number = &client - clients_.data() + 1;
    client.random.seed(seed + static_cast<std::uint64_t>(client.number));
    threads_.emplace_back([this, &client] { run(client); });
  }
}

std::string RecordedClients::key_of(std::size_t tenant) {
  return fmt::format("exports/tenant-{}", tenant);
}

void RecordedClients::server_restarted(std::uint16_t port) {
  const std::uint64_t number = (address_.load() >> 16U) + 1;
  address_ = number << 16U | port;
}

void RecordedClients::hold() {
  const std::scoped_lock lock(mutex_);
  holding_ = true;
}

void RecordedClients::wait_until_held() {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, 2 * ServerProcess::kTimeout,
                         [&] { return resting_ == clients_.size(); })) {
    throw std::runtime_error(
        fmt::format("only {} of {} clients could be held", resting_, clients_.size()));
  }
  lock.unlock();
  collect();
}

void RecordedClients::go_on() {
  const std::scoped_lock lock(mutex_);
  holding_ = false;
  changed_.notify_all();
}

void RecordedClients::wait_while_held() {
  std::unique_lock lock(mutex_);
  if (holding_) {
    ++resting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !holding_; });
    --resting_;
  }
}

void RecordedClients::stop() {
  stopping_ = true;
  go_on();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
  collect();
}

void RecordedClients::collect() {
  for (Client& client : clients_) {
    keep(std::exchange(client.history, {}));
  }
  std::unique_lock lock(mutex_);
  std::vector<Operation> outside = std::exchange(outside_, {});
  lock.unlock();
  keep(std::move(outside));
}

void RecordedClients::keep(std::vector<Operation> operations) {
  for (Operation& operation : operations) {
    ++operations_;
    writes_[operation.outcome] += operation.kind == Kind::kWrite ? 1 : 0;
    history_.push_back(std::move(operation));
  }
}

Operation RecordedClients::outside_write(std::size_t tenant) {
  const std::scoped_lock lock(mutex_);
  const auto number = static_cast<std::int64_t>(clients_.size()) + 1;
  Operation operation;
  operation.kind = Kind::kWrite;
  operation.key = key_of(tenant);
  operation.resource = operation.key + "/file-0";
  operation.token = newest_[tenant].load();
  operation.value = number * kWritesPerClient + ++outside_writes_;
  operation.start = now();
  return operation;
}

void RecordedClients::add(Operation operation) {
  const std::scoped_lock lock(mutex_);
  outside_.push_back(std::move(operation));
}

void RecordedClients::run(Client& client) {
  try {
    work(client);
  } catch (const std::exception& error) {
    report(error.what());
  }
  const std::scoped_lock lock(mutex_);
  ++resting_;
  changed_.notify_all();
}

void RecordedClients::work(Client& client) {
  std::uint64_t address = 0;
  std::optional<RawClient> connection;
  const auto wait_for_next_server = [&] {
    connection.reset();
    wait_until(
        "the next server, after a connection broke", [&] { return address_.load() != address; },
        2 * ServerProcess::kTimeout);
  };
  for (wait_while_held(); !stopping_; wait_while_held()) {
    if (!connection) {
      address = address_.load();
      try {
        connection.emplace(port_of(address));
      } catch (const ClientError&) {
        wait_for_next_server();
        continue;
      }
    }
    Operation operation = choose(client);
    operation.start = now();
    try {
      perform(client, *connection, operation);
    } catch (const ClientError&) {
      operation.outcome = Outcome::kUnknown;
      wait_for_next_server();
    }
    operation.end = end_of(operation);
    if (!load_.may_tear || !is_torn(operation)) {
      client.history.push_back(std::move(operation));
    }
  }
}

std::int64_t RecordedClients::choose_token(Client& client, std::size_t tenant) {
  const std::int64_t draw = below(client.random, 100);
  if (draw < 12) {
    return newest_[tenant].fetch_add(1) + 1;
  }
  const std::int64_t newest = newest_[tenant].load();
  const std::int64_t stale_by = draw < 35 ? 1 + below(client.random, 3) : 0;
  return std::max<std::int64_t>(1, newest - stale_by);
}

Operation RecordedClients::choose(Client& client) {
  const auto tenant =
      static_cast<std::size_t>(below(client.random, static_cast<std::int64_t>(load_.tenants)));
  Operation operation;
  operation.key = key_of(tenant);
  operation.resource = fmt::format("{}/file-{}", operation.key,
                                   below(client.random, static_cast<std::int64_t>(load_.files)));
  const std::int64_t draw = below(client.random, 100);
  if (draw < 55) {
    operation.kind = Kind::kWrite;
    operation.value = client.number * kWritesPerClient + ++client.sequence;
  } else if (draw < 65) {
    operation.kind = Kind::kDelete;
  }
  if (draw < 75) {
    operation.token = choose_token(client, tenant);
  }
  return operation;
}

std::int64_t RecordedClients::end_of(const Operation& operation) {
  const std::int64_t end = now();
  const bool may_come_later = load_.trouble == Trouble::kUpstreamMayFail &&
                              operation.outcome == Operation::Outcome::kUnknown;
  // The upstream may still have it; that it does not come after a newer token is what is judged.
  return may_come_later ? std::numeric_limits<std::int64_t>::max() - end : end;
}

Response RecordedClients::read_at_last(RawClient& connection, const Operation& operation) {
  const std::string request = request_of(operation, load_.most_bytes);
  Response answer = connection.exchange(request);
  if (load_.trouble == Trouble::kUpstreamMayFail) {
    wait_until("older writes to be settled", [&] {
      if (answer.status == 503) {
        answer = connection.exchange(request);
      }
      return answer.status != 503;
    });
  }
  return answer;
}

void RecordedClients::perform(Client& client, RawClient& connection, Operation& operation) {
  const std::string request = request_of(operation, load_.most_bytes);
  // Often in two pieces, so that others come in between. A refusal may come before the end is sent.
  const auto cut =
      static_cast<std::size_t>(below(client.random, static_cast<std::int64_t>(request.size())));
  if (connection.send_as_far_as_possible(std::string_view(request).substr(0, cut)) == cut) {
    std::this_thread::yield();
    connection.send_as_far_as_possible(std::string_view(request).substr(cut));
  }
  const Response answer = connection.receive();
  ++answered_;
  if (!understand(answer, operation, load_.most_bytes, load_.trouble)) {
    const std::string line = request.substr(0, request.find("\r\n"));
    throw std::runtime_error(
        fmt::format("{} was answered {}: {}", line, answer.status, answer.body));
  }
  if (answer.field("Connection") == "close") {
    connection = RawClient(port_of(address_.load()));
  }
}

void RecordedClients::read_everything(std::uint16_t port) {
  RawClient connection(port);
  for (std::size_t tenant = 0; tenant < load_.tenants; ++tenant) {
    for (const std::int64_t token : {std::int64_t{0}, newest_[tenant].fetch_add(1) + 1}) {
      for (std::size_t file = 0; file < load_.files; ++file) {
        Operation operation;
        operation.key = key_of(tenant);
        operation.resource = fmt::format("{}/file-{}", operation.key, file);
        operation.token = token;
        operation.start = now();
        if (const Response answer = read_at_last(connection, operation);
            !understand(answer, operation, load_.most_bytes)) {
          report(fmt::format("a last read was answered {}: {}", answer.status, answer.body));
          operation.outcome = Outcome::kUnknown;
        }
        operation.end = now();
        if (!load_.may_tear || !is_torn(operation)) {
          history_.push_back(std::move(operation));
        }
      }
    }
  }
}

std::vector<std::string> RecordedClients::judge(std::uint16_t port, Loss loss) {
  std::vector<std::string> violations;
  if (loss == Loss::kPowerCut) {
    // Before the cut every read counts; what it undid explains nothing that is read afterwards.
    violations = violations_of(history_);
    if (!violations.empty()) {
      return violations;
    }
    history_ = without_what_a_cut_may_undo(history_);
  }
  read_everything(port);
  violations = violations_of(history_);
  if (violations.empty()) {
    history_ = last_known(history_);
  }
  return violations;
}

void RecordedClients::report(std::string problem) {
  const std::scoped_lock lock(mutex_);
  problems_.push_back(std::move(problem));
}

std::vector<std::string> RecordedClients::problems() const {
  const std::scoped_lock lock(mutex_);
  return problems_;
}

std::size_t RecordedClients::count(const std::function<bool(const Operation&)>& like) const {
  return static_cast<std::size_t>(std::ranges::count_if(history_, like));
}

std::size_t RecordedClients::writes(Outcome outcome) const {
  const auto found = writes_.find(outcome);
  return found == writes_.end() ? 0 : found->second;
}

std::int64_t RecordedClients::highest_accepted(const std::string& key) const {
  std::int64_t highest = 0;
  for (const Operation& operation : history_) {
    if (operation.key == key && operation.outcome == Outcome::kDone) {
      highest = std::max(highest, operation.token);
    }
  }
  return highest;
}

}  // namespace fenceline::testing
