#include "tests/source_servers/etcd_server.h"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <exception>
#include <stdexcept>

#include "tests/support/raw_client.h"
#include "tests/support/real_upstreams.h"

namespace fenceline::testing {

EtcdServer::EtcdServer(const Settings& settings) : tls_(!settings.certificate.empty()) {
  std::string cluster;
  for (int i = 0; i < settings.members; ++i) {
    members_.push_back({free_port(), free_port(), nullptr});
    cluster +=
        fmt::format("{}m{}=http://127.0.0.1:{}", i == 0 ? "" : ",", i, members_.back().peer_port);
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[i];
    const std::string here = fmt::format("{}://127.0.0.1:{}", tls_ ? "https" : "http", member.port);
    const std::string peer = fmt::format("http://127.0.0.1:{}", member.peer_port);
    std::vector<std::string> arguments = {
        "etcd", "--name", fmt::format("m{}", i), "--data-dir", folder_.at(fmt::format("m{}", i)),
        "--listen-client-urls", here, "--advertise-client-urls", here, "--listen-peer-urls", peer,
        "--initial-advertise-peer-urls", peer, "--initial-cluster", cluster,
        "--initial-cluster-token", folder_.path().filename().string(), "--logger", "zap",
        "--log-level", "warn",
        // A leader is missed, and found, sooner than by default; a ttl may be one second.
        "--heartbeat-interval", "50", "--bcrypt-cost", "4", "--election-timeout", "500"};
    if (tls_) {
      for (const std::string& each : {std::string("--cert-file"), settings.certificate,
                                      std::string("--key-file"), settings.key}) {
        arguments.push_back(each);
      }
    }
    member.process = std::make_unique<EngineProcess>(std::move(arguments),
                                                     folder_.at(fmt::format("m{}.log", i)));
  }
  restart();
}

EtcdServer::~EtcdServer() { kill(); }

std::string EtcdServer::addresses() const {
  std::string all;
  for (const Member& member : members_) {
    all += fmt::format("{}{}:{}", all.empty() ? "" : ",", tls_ ? "localhost" : "127.0.0.1",
                       member.port);
  }
  return all;
}

std::string EtcdServer::url() const {
  return fmt::format("{}://{}", tls_ ? "etcds" : "etcd", addresses());
}

void EtcdServer::kill() {
  for (const Member& member : members_) {
    member.process->kill();
  }
}

void EtcdServer::restart() {
  for (const Member& member : members_) {
    member.process->start();
  }
  for (const Member& member : members_) {
    member.process->wait_until_ready("etcd to answer", [&] { return answers(member); });
  }
}

void EtcdServer::restart_member(std::size_t index) {
  const Member& member = members_[index];
  member.process->start();
  member.process->wait_until_ready("a member of etcd to answer", [&] { return answers(member); });
}

bool EtcdServer::answers(const Member& member) const {
  try {
    if (tls_) {
      // What it says is for those who know its certificate; it listens once it has a leader.
      (void)connect_tcp(member.port);
      return true;
    }
    RawClient client(connect_tcp(member.port));
    return client.exchange("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").body ==
           R"({"health":"true"})";
  } catch (const std::exception&) {
    return false;
  }
}

std::string EtcdServer::post(const std::string& path, const std::string& json,
                             const std::string& token, std::size_t index) const {
  RawClient client(connect_tcp(members_[index].port));
  return client
      .exchange(fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\n{}Content-Length: {}\r\n\r\n{}",
                            path, token.empty() ? "" : "Authorization: " + token + "\r\n",
                            json.size(), json))
      .body;
}

std::size_t EtcdServer::leader() const {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto status = boost::json::parse(post("/v3/maintenance/status", "{}", {}, i));
    if (status.at("header").at("member_id") == status.at("leader")) {
      return i;
    }
  }
  throw std::runtime_error("no member of etcd leads");
}

}  // namespace fenceline::testing
