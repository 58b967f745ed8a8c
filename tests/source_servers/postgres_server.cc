#include "tests/source_servers/postgres_server.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "tests/support/real_upstreams.h"

namespace fenceline::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUser = "postgres";
constexpr std::string_view kPassword = "geheim";

/// The programs of the newest version that is installed.
std::string program(const std::string& name) {
  std::string newest;
  const fs::path versions = "/usr/lib/postgresql";
  if (fs::exists(versions)) {
    for (const auto& version : fs::directory_iterator(versions)) {
      newest = std::max(newest, (version.path() / "bin" / name).string());
    }
  }
  if (newest.empty()) {
    throw std::runtime_error("postgresql is not installed");
  }
  return newest;
}

std::vector<std::string> command(const std::string& data, std::uint16_t port,
                                 const std::vector<std::string>& settings) {
  std::vector<std::string> arguments = {program("postgres"), "-D", data};
  std::vector<std::string> all = {"listen_addresses=127.0.0.1", fmt::format("port={}", port),
                                  "unix_socket_directories=", "shared_buffers=16MB",
                                  "max_connections=50",
                                  // One call instead of one for each of a thousand files.
                                  "recovery_init_sync_method=syncfs"};
  all.insert(all.end(), settings.begin(), settings.end());
  for (const std::string& setting : all) {
    arguments.emplace_back("-c");
    arguments.push_back(setting);
  }
  return arguments;
}

void allow_others(const fs::path& folder) {
  fs::permissions(folder, fs::perms::others_exec | fs::perms::others_write, fs::perm_options::add);
}

void give_to_user(const fs::path& path) {
  const passwd* const user = ::getpwnam(kUser.data());
  if (::geteuid() != 0 || user == nullptr) {
    return;
  }
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    (void)::chown(entry.path().c_str(), user->pw_uid, user->pw_gid);
  }
  (void)::chown(path.c_str(), user->pw_uid, user->pw_gid);
}

/// The folder of a cluster that was never started. Made once for all servers: it takes seconds.
const std::string& new_data() {
  static const TempFolder folder;
  static const std::string data = [] {
    allow_others(folder.path());
    const std::string password = folder.at("password");
    std::ofstream(password) << kPassword;
    EngineProcess make({program("initdb"), "-D", folder.at("data"), "-U", std::string(kUser), "-A",
                        "scram-sha-256", "--pwfile", password, "--no-sync", "--encoding=UTF8",
                        "--locale=C", "--wal-segsize=1"},
                       folder.at("output"), std::string(kUser));
    make.start();
    make.wait_for_success();
    return folder.at("data");
  }();
  return data;
}

}  // namespace

PostgresServer::PostgresServer(std::vector<std::string> settings)
    : port_(free_port()),
      data_(folder_.at("data")),
      process_(command(data_, port_, settings), folder_.at("output"), std::string(kUser)) {
  // Another user than the tests' comes this way.
  allow_others(folder_.path());
  fs::copy(new_data(), data_, fs::copy_options::recursive);
  give_to_user(data_);
  start();
}

PostgresServer::~PostgresServer() { process_.kill(); }

std::string PostgresServer::url_for(const std::string& user_and_password,
                                    const std::string& options) const {
  return fmt::format("postgres://{}@127.0.0.1:{}/postgres{}", user_and_password, port_, options);
}

std::string PostgresServer::url() const { return url_for(fmt::format("{}:{}", kUser, kPassword)); }

void PostgresServer::kill() { process_.kill(); }

void PostgresServer::restart() { start(); }

void PostgresServer::start() {
  process_.start();
  const std::string where = fmt::format("host=127.0.0.1 port={}", port_);
  process_.wait_until_ready("PostgreSQL to answer",
                            [&] { return PQping(where.c_str()) == PQPING_OK; });
}

std::string PostgresServer::ask(const std::string& sql) const {
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(url().c_str()),
                                                                &PQfinish);
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection.get(), sql.c_str()),
                                                             &PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    throw std::runtime_error(PQerrorMessage(connection.get()));
  }
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

void PostgresServer::become_standby() {
  process_.kill();
  const fs::path signal = fs::path(data_) / "standby.signal";
  std::ofstream(signal).flush();
  start();
}

}  // namespace fenceline::testing
