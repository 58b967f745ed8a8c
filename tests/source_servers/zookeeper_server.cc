#include "tests/source_servers/zookeeper_server.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <stop_token>

#include "client/sources/zookeeper/zk_session.h"
#include "tests/support/real_upstreams.h"

namespace fenceline::testing {
namespace {

constexpr std::string_view kJars =
    "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-log4j12.jar:/usr/share/java/log4j-1.2.jar";

/// Not `ruok`, which is answered before requests are; a connection that comes too early may be kept
/// and never answered.
bool serves(std::uint16_t port) {
  const client::StopEvent never{std::stop_token()};
  const auto session = client::make_zk_session({.servers = {{"127.0.0.1", port}}, .login = {}},
                                               base::Milliseconds(10'000));
  const auto answer = session->call(client::ZkOp::kExists, client::zk_read_body("/", false), true,
                                    base::Milliseconds(1'000), never);
  if (answer) {
    session->close(base::Milliseconds(500));
  }
  return answer && answer->error == client::ZkError::kOk;
}

}  // namespace

ZooKeeperServer::ZooKeeperServer(int servers) {
  for (int i = 0; i < servers; ++i) {
    servers_.push_back({free_port(), fmt::format("{}:{}", free_port(), free_port()), nullptr});
  }
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    write_config(i);
    const std::string home = folder_.at(fmt::format("s{}", i));
    servers_[i].process = std::make_unique<EngineProcess>(
        std::vector<std::string>{
            "java", "-Xms32m", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "-Xshare:auto", "-Dzookeeper.jmx.log4j.disable=true",
            // What is killed is the process: the kernel keeps what it wrote.
            "-Dzookeeper.forceSync=no", "-cp", fmt::format("{}:{}", home, kJars),
            "org.apache.zookeeper.server.quorum.QuorumPeerMain", home + "/zoo.cfg"},
        folder_.at(fmt::format("s{}.log", i)));
  }
  restart();
}

ZooKeeperServer::~ZooKeeperServer() { kill(); }

void ZooKeeperServer::write_config(std::size_t index) const {
  const std::filesystem::path home = folder_.at(fmt::format("s{}", index));
  std::filesystem::create_directories(home / "data");
  std::ofstream config(home / "zoo.cfg");
  config << fmt::format(
      "tickTime=250\nminSessionTimeout=1000\nmaxSessionTimeout=60000\ndataDir={}\nclientPort={}\n"
      "clientPortAddress=127.0.0.1\nadmin.enableServer=false\n"
      "maxClientCnxns=0\n",
      (home / "data").string(), servers_[index].port);
  if (servers_.size() > 1) {
    config << "initLimit=40\nsyncLimit=10\n";
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      config << fmt::format("server.{}=127.0.0.1:{}\n", i + 1, servers_[i].peer_ports);
    }
    std::ofstream(home / "data" / "myid") << index + 1 << "\n";
  }
  std::ofstream(home / "log4j.properties")
      << "log4j.rootLogger=WARN, CONSOLE\n"
         "log4j.appender.CONSOLE=org.apache.log4j.ConsoleAppender\n"
         "log4j.appender.CONSOLE.layout=org.apache.log4j.PatternLayout\n"
         "log4j.appender.CONSOLE.layout.ConversionPattern=%d %-5p %c{1} %m%n\n";
}

std::string ZooKeeperServer::addresses() const {
  std::string all;
  for (const Server& server : servers_) {
    all += fmt::format("{}127.0.0.1:{}", all.empty() ? "" : ",", server.port);
  }
  return all;
}

std::string ZooKeeperServer::url() const { return "zookeeper://" + addresses(); }

void ZooKeeperServer::kill() {
  for (const Server& server : servers_) {
    server.process->kill();
  }
}

void ZooKeeperServer::restart() {
  for (const Server& server : servers_) {
    server.process->start();
  }
  for (const Server& server : servers_) {
    server.process->wait_until_ready("ZooKeeper to serve", [&] { return serves(server.port); });
  }
}

}  // namespace fenceline::testing
