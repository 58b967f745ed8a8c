#include "tests/support/real_upstreams.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <cerrno>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "tests/support/raw_client.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

// One process, so that SIGSTOP and SIGKILL mean all of it.
constexpr std::string_view kNginx = R"(user root;
daemon off;
master_process off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  client_max_body_size 0;
  keepalive_requests 100000;
  server {{
    listen 127.0.0.1:{port} {listen};
    {server}
    root {folder}/root;
    location / {{
      dav_methods PUT DELETE MKCOL MOVE;
      create_full_put_path on;
    }}
  }}
}}
)";

constexpr std::string_view kApache = R"(ServerRoot {folder}
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {folder}/pid
ErrorLog {folder}/error.log
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule dav_module /usr/lib/apache2/modules/mod_dav.so
LoadModule dav_fs_module /usr/lib/apache2/modules/mod_dav_fs.so
DavLockDB {folder}/locks
DocumentRoot {folder}/root
User nobody
Group nogroup
StartServers 1
ThreadsPerChild 16
MaxRequestWorkers 16
MaxKeepAliveRequests 0
KeepAliveTimeout 30
<Directory {folder}/root>
  Dav On
  Require all granted
</Directory>
)";

std::vector<std::string> command(UpstreamKind kind, const std::string& config) {
  if (kind == UpstreamKind::kNginx) {
    return {"/usr/sbin/nginx", "-c", config, "-e", config + ".error"};
  }
  return {"/usr/sbin/apache2", "-f", config, "-X"};
}

std::uint16_t port_of_the_kernel() {
  const base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd.get(), generic, size) != 0 || ::getsockname(fd.get(), generic, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "find a free port");
  }
  return ntohs(address.sin_port);
}

}  // namespace

std::uint16_t free_port() {
  // The kernel may give a port again as soon as it is closed: two servers of one test had the same.
  static std::mutex mutex;
  static std::set<std::uint16_t> given;
  constexpr int kAttempts = 1'000;
  const std::scoped_lock lock(mutex);
  for (int i = 0; i < kAttempts; ++i) {
    const std::uint16_t port = port_of_the_kernel();
    if (given.insert(port).second) {
      return port;
    }
  }
  throw std::runtime_error("every free port was given to a test before");
}

RealUpstream::RealUpstream(UpstreamKind kind, std::uint16_t port)
    : RealUpstream(kind, port, NginxSettings{}) {}

RealUpstream::RealUpstream(NginxSettings settings)
    : RealUpstream(UpstreamKind::kNginx, 0, std::move(settings)) {}

RealUpstream::RealUpstream(UpstreamKind kind, std::uint16_t port, NginxSettings settings)
    : kind_(kind),
      settings_(std::move(settings)),
      port_(port != 0 ? port : free_port()),
      root_(folder_.path() / "root") {
  std::filesystem::create_directories(root_);
  // Apache's children are not root, and need the way to the root and its lock file too.
  for (const auto& folder : {folder_.path(), root_}) {
    std::filesystem::permissions(folder, std::filesystem::perms::all);
  }
  write_config();
  start();
}

RealUpstream::~RealUpstream() {
  try {
    stop();
  } catch (const std::exception&) {
    // Then the destructor of the child kills it.
  }
}

void RealUpstream::write_config() {
  const std::string_view text = kind_ == UpstreamKind::kNginx ? kNginx : kApache;
  std::ofstream(folder_.at("config")) << fmt::format(
      fmt::runtime(text), fmt::arg("folder", folder_.path().string()), fmt::arg("port", port_),
      fmt::arg("listen", settings_.listen), fmt::arg("server", settings_.server));
}

void RealUpstream::start() {
  process_ =
      std::make_unique<ChildProcess>(command(kind_, folder_.at("config")), folder_.at("output"));
  wait_until("the upstream to answer; it said:\n" + contents_of(folder_.at("output")),
             [&] { return answers(); });
}

void RealUpstream::stop() {
  if (process_ == nullptr) {
    return;
  }
  ::kill(process_->pid(), SIGCONT);
  ::kill(process_->pid(), SIGTERM);
  process_->wait();
  process_.reset();
}

bool RealUpstream::answers() const {
  try {
    RawClient client(connect_tcp(port_));
    return client.exchange("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n", true).status > 0;
  } catch (const std::exception&) {
    return false;
  }
}

void RealUpstream::pause() const { process_->pause(); }

void RealUpstream::resume() const { process_->resume(); }

std::optional<std::string> RealUpstream::content(const std::string& name) const {
  const auto file = root_ / name;
  return std::filesystem::is_regular_file(file) ? std::optional(contents_of(file.string()))
                                                : std::nullopt;
}

std::size_t RealUpstream::leftovers() const {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
    count += entry.path().filename().string().starts_with(".fenceline-") ? 1U : 0U;
  }
  return count;
}

}  // namespace fenceline::testing
