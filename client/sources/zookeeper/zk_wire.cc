#include "client/sources/zookeeper/zk_wire.h"

namespace fenceline::client {
namespace {

constexpr int kByteBits = 8;
constexpr std::int32_t kAllPermissions = 31;
constexpr std::int32_t kAnyVersion = -1;

void append(std::string& bytes, std::uint64_t value, int size) {
  for (int i = size - 1; i >= 0; --i) {
    bytes += static_cast<char>(value >> static_cast<unsigned>(i * kByteBits) & 0xFFU);
  }
}

}  // namespace

ZkWriter& ZkWriter::number(std::int32_t value) {
  append(bytes_, static_cast<std::uint32_t>(value), sizeof value);
  return *this;
}

ZkWriter& ZkWriter::large(std::int64_t value) {
  append(bytes_, static_cast<std::uint64_t>(value), sizeof value);
  return *this;
}

ZkWriter& ZkWriter::flag(bool value) {
  append(bytes_, value ? 1 : 0, 1);
  return *this;
}

ZkWriter& ZkWriter::text(std::string_view value) {
  number(static_cast<std::int32_t>(value.size()));
  bytes_ += value;
  return *this;
}

std::uint64_t ZkReader::take(int size) {
  if (bytes_.size() < static_cast<std::size_t>(size)) {
    good_ = false;
    bytes_ = {};
    return 0;
  }
  std::uint64_t value = 0;
  for (int i = 0; i < size; ++i) {
    value = value << static_cast<unsigned>(kByteBits) |
            static_cast<unsigned char>(bytes_[static_cast<std::size_t>(i)]);
  }
  bytes_.remove_prefix(static_cast<std::size_t>(size));
  return value;
}

std::int32_t ZkReader::number() {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(take(sizeof(std::int32_t))));
}

std::int64_t ZkReader::large() { return static_cast<std::int64_t>(take(sizeof(std::int64_t))); }

std::string ZkReader::text() {
  const std::int32_t size = number();
  if (size < 0) {
    return {};  // None, which is not empty on the wire.
  }
  if (bytes_.size() < static_cast<std::size_t>(size)) {
    good_ = false;
    bytes_ = {};
    return {};
  }
  std::string value(bytes_.substr(0, static_cast<std::size_t>(size)));
  bytes_.remove_prefix(static_cast<std::size_t>(size));
  return value;
}

std::vector<std::string> ZkReader::texts() {
  std::vector<std::string> all;
  for (std::int32_t left = number(); left > 0 && good_; --left) {
    all.push_back(text());
  }
  return all;
}

ZkStat read_zk_stat(ZkReader& reader) {
  ZkStat stat;
  stat.czxid = reader.large();
  for (int i = 0; i < 3; ++i) {  // mzxid, ctime, mtime
    (void)reader.large();
  }
  for (int i = 0; i < 3; ++i) {  // version, cversion, aversion
    (void)reader.number();
  }
  stat.owner = reader.large();
  return stat;
}

std::string zk_create_body(std::string_view path, std::string_view data, bool own_acl,
                           ZkMode mode) {
  ZkWriter writer;
  writer.text(path).text(data).number(1).number(kAllPermissions);
  writer.text(own_acl ? "auth" : "world").text(own_acl ? "" : "anyone");
  writer.number(static_cast<std::int32_t>(mode));
  return writer.bytes();
}

std::string zk_read_body(std::string_view path, bool watch) {
  return ZkWriter().text(path).flag(watch).bytes();
}

std::string zk_delete_body(std::string_view path) {
  return ZkWriter().text(path).number(kAnyVersion).bytes();
}

}  // namespace fenceline::client
