#include "tests/support/s3_server.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "tests/support/real_upstreams.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

constexpr std::chrono::milliseconds kStart{120'000};

bool can_run(const std::string& program) { return ::access(program.c_str(), X_OK) == 0; }

std::string moto_program() { return FENCELINE_MOTO_SERVER; }

std::vector<std::string> command(S3Kind kind, const std::string& folder, std::uint16_t port) {
  if (kind == S3Kind::kMoto) {
    return {moto_program(), "-H", "127.0.0.1", "-p", std::to_string(port)};
  }
  return {FENCELINE_SUPPORT_DIR "/radosgw.sh", folder, std::to_string(port),
          std::to_string(free_port())};
}

bool answers(std::uint16_t port) {
  try {
    RawClient client(connect_tcp(port));
    return client.exchange("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n", true).status > 0;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

bool is_installed(S3Kind kind) {
  return kind == S3Kind::kMoto ? can_run(moto_program())
                               : can_run("/usr/bin/radosgw") && can_run("/usr/bin/ceph-mon") &&
                                     can_run("/usr/bin/ceph-osd");
}

S3Server::S3Server(S3Kind kind)
    : port_(free_port()),
      process_(std::make_unique<ChildProcess>(command(kind, folder_.path().string(), port_),
                                              folder_.at("output"), ChildProcess::Input::kFed)) {
  const auto is_ready = [&] {
    return kind == S3Kind::kMoto ? answers(port_)
                                 : process_->output().find("ready\n") != std::string::npos;
  };
  try {
    wait_until("the S3 server to answer", is_ready, kStart);
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string(error.what()) + "; it said:\n" + process_->output());
  }
}

S3Server::~S3Server() {
  process_->end_input();
  ::kill(process_->pid(), SIGTERM);
  try {
    process_->wait();
  } catch (const std::exception&) {
    // Then the destructor of the child kills it.
  }
}

base::aws::Credentials S3Server::credentials() const {
  return {.access_key = "testaccess", .secret_key = "testsecretkey1234", .session_token = {}};
}

Response S3Server::call(std::string_view method, const std::string& target,
                        std::string_view content,
                        const std::vector<base::OwnedField>& fields) const {
  const std::string host = fmt::format("127.0.0.1:{}", port_);
  base::FieldLines lines;
  lines.add("Host", host);
  for (const auto& [name, value] : fields) {
    lines.add_named(name, value);
  }
  const std::string hash = base::aws::sha256_hex(content);
  const auto now =
      std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  base::aws::sign({.method = method,
                   .target = target,
                   .host = host,
                   .region = "us-east-1",
                   .payload_hash = hash,
                   .time = now},
                  credentials(), lines);
  RawClient client(connect_tcp(port_));
  return client.exchange(fmt::format("{} {} HTTP/1.1\r\n{}Content-Length: {}\r\n\r\n{}", method,
                                     target, lines.text(), content.size(), content),
                         method == "HEAD");
}

void S3Server::make_bucket(const std::string& name) const {
  const Response made = call("PUT", "/" + name);
  if (made.status != 200) {
    throw std::runtime_error(fmt::format("no bucket: {} {}", made.status, made.body));
  }
}

std::vector<std::string> S3Server::keys(const std::string& bucket) const {
  return elements(call("GET", "/" + bucket).body, "Key");
}

std::size_t S3Server::uploads(const std::string& bucket) const {
  return elements(call("GET", "/" + bucket + "?uploads").body, "UploadId").size();
}

std::vector<std::string> elements(std::string_view xml, std::string_view name) {
  const std::string start = fmt::format("<{}>", name);
  const std::string end = fmt::format("</{}>", name);
  std::vector<std::string> found;
  while (true) {
    const std::size_t from = xml.find(start);
    if (from == std::string_view::npos) {
      return found;
    }
    xml.remove_prefix(from + start.size());
    found.emplace_back(xml.substr(0, xml.find(end)));
  }
}

}  // namespace fenceline::testing
