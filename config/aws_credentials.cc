#include "config/aws_credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "config/nearest.h"
#include "config/scalars.h"

namespace fenceline::config {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kFencingToken = "fence-";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string lowered(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

/// The name in `[name]` or `[profile name]`.
std::optional<std::string> section_name(std::string_view line) {
  static constexpr std::string_view kProfile = "profile";
  if (!line.starts_with('[') || !line.ends_with(']')) {
    return std::nullopt;
  }
  std::string_view name = trimmed(line.substr(1, line.size() - 2));
  if (name.starts_with(kProfile) && name.size() > kProfile.size() &&
      kBlanks.find(name[kProfile.size()]) != std::string_view::npos) {
    name = trimmed(name.substr(kProfile.size()));
  }
  return name.empty() ? std::nullopt : std::optional<std::string>(name);
}

struct Setting {
  std::string name;
  std::string value;
};

/// Reads a file line by line and keeps the settings of one profile.
class ProfileReader {
 public:
  explicit ProfileReader(const std::string& profile) : profile_(profile) {}

  Parsed<void> take(std::string_view line) {
    ++number_;
    const bool indented = !line.empty() && kBlanks.find(line.front()) != std::string_view::npos;
    const std::string_view text = trimmed(line);
    if (text.empty() || indented || text.front() == '#' || text.front() == ';') {
      return {};
    }
    if (text.front() == '[') {
      return take_section(text);
    }
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
      return tl::unexpected(
          fmt::format("line {} is neither a [profile] nor a setting (`name = value`)", number_));
    }
    if (inside_) {
      settings_.push_back({lowered(trimmed(text.substr(0, equals))),
                           std::string(trimmed(text.substr(equals + 1)))});
    }
    return {};
  }

  [[nodiscard]] Parsed<S3StaticKeys> keys() const {
    if (std::ranges::find(names_, profile_) == names_.end()) {
      const std::vector<std::string_view> known(names_.begin(), names_.end());
      const auto meant = nearest(profile_, known);
      return tl::unexpected(fmt::format("there is no profile [{}]{}", profile_,
                                        meant ? fmt::format("; did you mean [{}]?", *meant) : ""));
    }
    auto access_key = read("aws_access_key_id", parse_upstream_access_key);
    auto secret_key = read("aws_secret_access_key", parse_secret);
    if (!access_key || !secret_key) {
      return tl::unexpected(std::move(access_key ? secret_key.error() : access_key.error()));
    }
    S3StaticKeys keys{std::move(*access_key), std::move(*secret_key), {}};
    if (find("aws_session_token") != nullptr) {
      auto token = read("aws_session_token", parse_secret);
      if (!token) {
        return tl::unexpected(std::move(token.error()));
      }
      keys.session_token = std::move(*token);
    }
    return keys;
  }

 private:
  Parsed<void> take_section(std::string_view text) {
    auto name = section_name(text);
    if (!name) {
      return tl::unexpected(fmt::format("line {} is no name of a profile in brackets", number_));
    }
    inside_ = *name == profile_;
    // Which of the two counts differs between the tools.
    if (inside_ && std::ranges::find(names_, *name) != names_.end()) {
      return tl::unexpected(fmt::format("the profile [{}] is there twice", profile_));
    }
    names_.push_back(std::move(*name));
    return {};
  }

  [[nodiscard]] const Setting* find(std::string_view name) const {
    const auto found = std::ranges::find(settings_, name, &Setting::name);
    return found == settings_.end() ? nullptr : &*found;
  }

  template <typename Parse>
  [[nodiscard]] Parsed<std::string> read(std::string_view name, Parse parse) const {
    const Setting* setting = find(name);
    if (setting == nullptr) {
      return tl::unexpected(
          fmt::format("the profile [{}] has no {}; roles, SSO and credential_process are not "
                      "supported, so write the keys there",
                      profile_, name));
    }
    if (std::ranges::count(settings_, name, &Setting::name) > 1) {
      return tl::unexpected(fmt::format("the profile [{}] has {} twice", profile_, name));
    }
    auto value = parse(std::string_view(setting->value));
    if (!value) {
      return tl::unexpected(
          fmt::format("{} of the profile [{}]: {}", name, profile_, value.error()));
    }
    return value;
  }

  const std::string& profile_;
  std::vector<std::string> names_;
  std::vector<Setting> settings_;
  std::size_t number_ = 0;
  bool inside_ = false;
};

Parsed<std::string> read_text(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return tl::unexpected(std::string("it is a directory"));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return tl::unexpected(
        fmt::format("it cannot be opened: {}", std::generic_category().message(errno)));
  }
  std::string text(kMaxCredentialsBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) {
    return tl::unexpected(std::string("it cannot be read to its end"));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxCredentialsBytes) {
    return tl::unexpected(
        fmt::format("it is larger than {} bytes, so it is no such file", kMaxCredentialsBytes));
  }
  return text;
}

Parsed<S3StaticKeys> not_fencing(Parsed<S3StaticKeys> keys, std::string_view where) {
  if (keys && keys->session_token.starts_with(kFencingToken)) {
    return tl::unexpected(
        fmt::format("the session token in {} begins with \"{}\": that is how clients send their "
                    "fencing token, and no key of the upstream; remove it",
                    where, kFencingToken));
  }
  return keys;
}

Parsed<S3StaticKeys> from_file(const S3KeysInFile& from, const Environment& environment) {
  std::string path = from.file;
  if (path.starts_with("~/")) {
    const auto home = environment("HOME");
    if (!home || home->empty()) {
      return tl::unexpected(
          fmt::format("{} begins with ~, and HOME is not set; write the whole path", from.file));
    }
    path.replace(0, 1, *home);
  }
  const auto text = read_text(path);
  if (!text) {
    return tl::unexpected(fmt::format("the credentials file {}: {}", path, text.error()));
  }
  auto keys = parse_credentials(*text, from.profile);
  if (!keys) {
    return tl::unexpected(fmt::format("the credentials file {}: {}", path, keys.error()));
  }
  return keys;
}

Parsed<S3StaticKeys> from_environment(const Environment& environment) {
  static constexpr std::string_view kAccessKey = "AWS_ACCESS_KEY_ID";
  static constexpr std::string_view kSecretKey = "AWS_SECRET_ACCESS_KEY";
  static constexpr std::string_view kToken = "AWS_SESSION_TOKEN";
  const auto read = [&environment](std::string_view name, auto parse) -> Parsed<std::string> {
    const auto value = environment(std::string(name));
    if (!value || value->empty()) {
      return tl::unexpected(fmt::format("the environment variable {} is not set", name));
    }
    auto parsed = parse(std::string_view(*value));
    return parsed ? parsed
                  : tl::unexpected(
                        fmt::format("the environment variable {}: {}", name, parsed.error()));
  };
  auto access_key = read(kAccessKey, parse_upstream_access_key);
  auto secret_key = read(kSecretKey, parse_secret);
  if (!access_key || !secret_key) {
    return tl::unexpected(std::move(access_key ? secret_key.error() : access_key.error()));
  }
  S3StaticKeys keys{std::move(*access_key), std::move(*secret_key), {}};
  if (const auto set = environment(std::string(kToken)); set && !set->empty()) {
    auto token = read(kToken, parse_secret);
    if (!token) {
      return tl::unexpected(std::move(token.error()));
    }
    keys.session_token = std::move(*token);
  }
  return keys;
}

}  // namespace

Parsed<S3StaticKeys> parse_credentials(std::string_view text, const std::string& profile) {
  static constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  ProfileReader reader(profile);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto taken = reader.take(text.substr(0, end)); !taken) {
      return tl::unexpected(std::move(taken.error()));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.keys();
}

Parsed<S3StaticKeys> resolve_credentials(const S3Credentials& credentials,
                                         const Environment& environment) {
  if (const auto* file = std::get_if<S3KeysInFile>(&credentials)) {
    return not_fencing(from_file(*file, environment), file->file);
  }
  if (std::holds_alternative<S3KeysInEnvironment>(credentials)) {
    return not_fencing(from_environment(environment), "AWS_SESSION_TOKEN");
  }
  return not_fencing(std::get<S3StaticKeys>(credentials), "`credentials.session_token`");
}

}  // namespace fenceline::config
