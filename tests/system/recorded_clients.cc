#include "tests/system/recorded_clients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

namespace fenceline::testing {
namespace {

using Kind = Operation::Kind;
using Outcome = Operation::Outcome;

constexpr std::size_t kFiles = 3;
constexpr std::int64_t kWritesPerClient = 1'000'000'000;
constexpr std::size_t kMostBytes = 64 * 1024;
constexpr std::int64_t kTorn = -1;

std::uint16_t port_of(std::uint64_t address) { return static_cast<std::uint16_t>(address); }

std::int64_t below(std::mt19937_64& random, std::int64_t bound) {
  return std::uniform_int_distribution<std::int64_t>(0, bound - 1)(random);
}

/// Its length and every byte follow from the numbers in its first line.
std::string content_of(std::int64_t token, std::int64_t value) {
  std::string content = fmt::format("token={} writer={} sequence={}\n", token,
                                    value / kWritesPerClient, value % kWritesPerClient);
  const std::int64_t size = value * 7919 % static_cast<std::int64_t>(kMostBytes);
  for (std::int64_t i = 0; i < size; ++i) {
    content += static_cast<char>('a' + (value + i) % 26);
  }
  return content;
}

std::int64_t value_of(const std::string& content) {
  std::int64_t token = 0;
  std::int64_t writer = 0;
  std::int64_t sequence = 0;
  if (std::sscanf(content.c_str(), "token=%" SCNd64 " writer=%" SCNd64 " sequence=%" SCNd64, &token,
                  &writer, &sequence) != 3) {
    return kTorn;
  }
  const std::int64_t value = writer * kWritesPerClient + sequence;
  return content_of(token, value) == content ? value : kTorn;
}

std::string request_of(const Operation& operation) {
  const std::string path = "/" + operation.resource;
  switch (operation.kind) {
    case Kind::kWrite:
      return fenced_put(path, operation.token, content_of(operation.token, operation.value));
    case Kind::kDelete:
      return fenced_request("DELETE", path, operation.token);
    case Kind::kRead:
      break;
  }
  return fenced_request("GET", path, operation.token);
}

/// Puts what the answer says into `operation`; false if the contract has no such answer.
bool understand(const Response& answer, Operation& operation) {
  operation.outcome = Outcome::kDone;
  switch (answer.status) {
    case 200:
      operation.value = value_of(answer.body);
      return operation.kind == Kind::kRead;
    case 201:
      return operation.kind == Kind::kWrite;
    case 204:
      return operation.kind != Kind::kRead;
    case 404:
      // Also a delete has then seen, inside its fence, that there is nothing.
      operation.value = 0;
      return std::exchange(operation.kind, Kind::kRead) != Kind::kWrite;
    case 412:
      operation.outcome = Outcome::kFenced;
      return answer.body.find(":stale-token\"") != std::string::npos &&
             answer.body.find("\"applied\":\"no\"") != std::string::npos;
    default:
      return false;
  }
}

}  // namespace

RecordedClients::RecordedClients(std::uint16_t port, std::size_t count, std::uint64_t seed)
    : address_(port) {
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

void RecordedClients::stop() {
  stopping_ = true;
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
  for (Client& client : clients_) {
    history_.insert(history_.end(), client.history.begin(), client.history.end());
    client.history.clear();
  }
}

void RecordedClients::run(Client& client) {
  std::uint64_t address = 0;
  std::optional<RawClient> connection;
  const auto wait_for_next_server = [&] {
    connection.reset();
    wait_until("the next server, after a connection broke",
               [&] { return address_.load() != address; });
  };
  try {
    while (!stopping_) {
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
      operation.end = now();
      client.history.push_back(std::move(operation));
    }
  } catch (const std::exception& error) {
    report(error.what());
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
  const auto tenant = static_cast<std::size_t>(below(client.random, kTenants));
  Operation operation;
  operation.key = key_of(tenant);
  operation.resource = fmt::format("{}/file-{}", operation.key,
                                   below(client.random, static_cast<std::int64_t>(kFiles)));
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

void RecordedClients::perform(Client& client, RawClient& connection, Operation& operation) {
  const std::string request = request_of(operation);
  // Often in two pieces, so that others come in between. A refusal may come before the end is sent.
  const auto cut =
      static_cast<std::size_t>(below(client.random, static_cast<std::int64_t>(request.size())));
  if (connection.send_as_far_as_possible(std::string_view(request).substr(0, cut)) == cut) {
    std::this_thread::yield();
    connection.send_as_far_as_possible(std::string_view(request).substr(cut));
  }
  const Response answer = connection.receive();
  ++answered_;
  if (!understand(answer, operation)) {
    throw std::runtime_error(
        fmt::format("{} was answered {}: {}", request.substr(0, cut), answer.status, answer.body));
  }
  if (answer.field("Connection") == "close") {
    connection = RawClient(port_of(address_.load()));
  }
}

void RecordedClients::read_everything(std::uint16_t port) {
  RawClient connection(port);
  for (std::size_t tenant = 0; tenant < kTenants; ++tenant) {
    for (const std::int64_t token : {std::int64_t{0}, newest_[tenant].fetch_add(1) + 1}) {
      for (std::size_t file = 0; file < kFiles; ++file) {
        Operation operation;
        operation.key = key_of(tenant);
        operation.resource = fmt::format("{}/file-{}", operation.key, file);
        operation.token = token;
        operation.start = now();
        if (const Response answer = connection.exchange(request_of(operation));
            !understand(answer, operation)) {
          report(fmt::format("a last read was answered {}: {}", answer.status, answer.body));
        }
        operation.end = now();
        history_.push_back(std::move(operation));
      }
    }
  }
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
