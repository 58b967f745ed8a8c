#include "tests/client/redis_server.h"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>

#include "base/boottime_clock.h"
#include "base/digits.h"
#include "client/redis/round.h"
#include "client/sources/redlock_admin.h"
#include "tests/support/real_upstreams.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

std::string encoded(const std::vector<std::string>& words) {
  std::string text = fmt::format("*{}\r\n", words.size());
  for (const std::string& word : words) {
    text += fmt::format("${}\r\n{}\r\n", word.size(), word);
  }
  return text;
}

}  // namespace

RedisServer::RedisServer(RedisSettings settings) : settings_(std::move(settings)) {
  if (settings_.tls) {
    certificate_ = make_self_signed(folder_.path(), "server");
  }
  std::filesystem::create_directory(folder_.at("data"));
  constexpr int kTries = 20;
  for (int i = 0; i < kTries && process_ == nullptr; ++i) {
    // Redis takes no port 0: somebody else may take this one first, then it ends at once.
    port_ = free_port();
    launch();
  }
  if (process_ == nullptr) {
    throw std::runtime_error("redis-server finds no port; it said:\n" +
                             contents_of(folder_.at("log")));
  }
}

RedisServer::~RedisServer() = default;  // The child is killed by pid.

std::string RedisServer::address() const { return fmt::format("localhost:{}", port_); }

client::redis::PeerOptions RedisServer::options() const {
  client::redis::PeerOptions options;
  options.host = "localhost";
  options.port = port_;
  if (!settings_.password.empty()) {
    options.password = settings_.password;
  }
  if (settings_.tls) {
    options.tls = client::redis::make_tls(certificate_.certificate).value();
  }
  return options;
}

void RedisServer::launch() {
  std::vector<std::string> arguments = {
      "redis-server",
      "--bind",
      "127.0.0.1",
      "--dir",
      folder_.at("data"),
      "--daemonize",
      "no",
      "--logfile",
      "",
      "--appendonly",
      "yes",
      "--save",
      "",
      "--appendfsync",
      "always",
      "--pidfile",
      "",
      "--port",
      settings_.tls ? "0" : std::to_string(port_),
  };
  if (settings_.tls) {
    for (const std::string& word :
         {std::string("--tls-port"), std::to_string(port_), std::string("--tls-cert-file"),
          certificate_.certificate, std::string("--tls-key-file"), certificate_.key,
          std::string("--tls-auth-clients"), std::string("no")}) {
      arguments.push_back(word);
    }
  }
  if (!settings_.password.empty()) {
    arguments.insert(arguments.end(), {"--requirepass", settings_.password});
  }
  arguments.insert(arguments.end(), settings_.arguments.begin(), settings_.arguments.end());
  process_ = std::make_unique<ChildProcess>(arguments, folder_.at("log"));
  bool taken = false;
  wait_until("redis-server to answer; it said:\n" + process_->output(), [&] {
    taken = process_->output().find("Address already in use") != std::string::npos;
    return taken || ready();
  });
  if (taken) {
    process_.reset();
  }
}

bool RedisServer::ready() const {
  // A stranger on the port would answer, too.
  return process_->output().find("Ready to accept connections") != std::string::npos &&
         ask({"PING"}) == client::redis::status("PONG");
}

void RedisServer::kill() {
  if (process_ != nullptr) {
    ::kill(process_->pid(), SIGKILL);
    process_->wait();
    process_.reset();
  }
}

void RedisServer::start() {
  wait_until("redis-server to get its port again", [&] {
    launch();
    return process_ != nullptr;
  });
}

void RedisServer::wipe() {
  std::filesystem::remove_all(folder_.at("data"));
  std::filesystem::create_directory(folder_.at("data"));
}

client::redis::Reply RedisServer::ask(const std::vector<std::string>& words) const {
  const auto peer = client::redis::make_peer(options());
  auto answers = client::redis::ask_round({{peer.get(), encoded(words)}}, {}, {});
  if (!answers.front()) {
    throw std::runtime_error(answers.front().error().detail);
  }
  return std::move(*answers.front());
}

RedisSourceServer::RedisSourceServer(RedisSettings settings) : server_(settings) {
  std::string query;
  if (settings.tls) {
    query = "?ca=" + server_.certificate();
  }
  url_ = fmt::format("{}://{}{}/3{}", settings.tls ? "rediss" : "redis",
                     settings.password.empty() ? "" : ":" + settings.password + "@",
                     server_.address(), query);
}

RedlockServer::RedlockServer(std::size_t nodes, Init init) {
  for (std::size_t i = 0; i < nodes; ++i) {
    servers_.push_back(std::make_unique<RedisServer>());
  }
  if (init == Init::kDone) {
    const auto done = client::init_redlock(client::parse_source_url(url(), 6379).value(), {}, {});
    if (!done) {
      throw std::runtime_error(done.error().detail);
    }
  }
}

std::string RedlockServer::url() const {
  std::string hosts;
  for (const auto& server : servers_) {
    hosts += (hosts.empty() ? "" : ",") + server->address();
  }
  return "redlock://" + hosts;
}

void RedlockServer::kill() {
  for (const auto& server : servers_) {
    server->kill();
  }
}

void RedlockServer::restart() {
  for (const auto& server : servers_) {
    server->start();
  }
}

void RedlockServer::wipe(std::size_t index) {
  servers_.at(index)->kill();
  servers_.at(index)->wipe();
  servers_.at(index)->start();
}

void RedlockServer::resync(std::size_t index) {
  client::RedlockResync resync;
  resync.node = {"localhost", servers_.at(index)->port()};
  const base::BoottimeClock clock;
  const auto done =
      client::resync_redlock(client::parse_source_url(url(), 6379).value(), resync, clock, {});
  if (!done) {
    throw std::runtime_error(done.error().detail);
  }
}

}  // namespace fenceline::testing
