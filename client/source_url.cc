#include "client/source_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace fenceline::client {
namespace {

using base::ErrorKind;
using base::Result;

constexpr unsigned kMaxPort = 65'535;

tl::unexpected<base::Error> wrong(std::string detail) {
  return base::fail(ErrorKind::kMalformedRequest, std::move(detail));
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// `part` names it in the message, because the text itself may be a password.
Result<std::string> decoded(std::string_view text, std::string_view part) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? digit_of(text[i + 2]) : -1;
    const int value = high < 0 || low < 0 ? 0 : high * 16 + low;
    if (value == 0) {
      return wrong(fmt::format(
          "The {} of the source's URL has a '%' that two hexadecimal digits (not 00) must follow; "
          "write a plain '%' as %25.",
          part));
    }
    result += static_cast<char>(value);
    i += 2;
  }
  return result;
}

Result<SourceHost> parse_host(std::string_view text, std::uint16_t default_port) {
  SourceHost host;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) {
      return wrong(fmt::format("The address '{}' of the source has no closing ']'.", text));
    }
    host.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && port.front() != ':') {
      return wrong(
          fmt::format("Behind the ']' of '{}' a port is expected, as in [::1]:6379.", text));
    }
  } else {
    const std::size_t colon = text.find(':');
    host.host = text.substr(0, colon);
    port = colon == std::string_view::npos ? "" : text.substr(colon);
    if (port.find(':', 1) != std::string_view::npos) {
      return wrong(fmt::format("Write the IPv6 address '{}' in brackets, as in [::1]:6379.", text));
    }
  }
  if (host.host.empty()) {
    return wrong("The source's URL names no host, or an empty one between commas.");
  }
  if (port.empty()) {
    if (default_port == 0) {
      return wrong(
          fmt::format("The host '{}' of the source needs a port, as in {}:8080.", text, host.host));
    }
    host.port = default_port;
    return host;
  }
  unsigned value = 0;
  const char* end = port.data() + port.size();
  const auto [last, error] = std::from_chars(port.data() + 1, end, value);
  if (error != std::errc() || last != end || value == 0 || value > kMaxPort) {
    return wrong(fmt::format("The port of '{}' is no number from 1 to 65535.", text));
  }
  host.port = static_cast<std::uint16_t>(value);
  return host;
}

Result<void> parse_user(std::string_view text, SourceUrl& url) {
  const std::size_t colon = text.find(':');
  auto user = decoded(text.substr(0, colon), "user name");
  if (!user) {
    return base::pass_on(user.error());
  }
  url.user = std::move(*user);
  if (colon != std::string_view::npos) {
    auto password = decoded(text.substr(colon + 1), "password");
    if (!password) {
      return base::pass_on(password.error());
    }
    url.password = std::move(*password);
  }
  return {};
}

Result<void> parse_hosts(std::string_view text, std::uint16_t default_port, SourceUrl& url) {
  while (true) {
    const std::size_t comma = text.find(',');
    auto host = parse_host(text.substr(0, comma), default_port);
    if (!host) {
      return base::pass_on(host.error());
    }
    if (std::ranges::count(url.hosts, *host) > 0) {
      return wrong(fmt::format("The source's URL names {}:{} twice.", host->host, host->port));
    }
    url.hosts.push_back(std::move(*host));
    if (comma == std::string_view::npos) {
      return {};
    }
    text.remove_prefix(comma + 1);
  }
}

Result<void> parse_options(std::string_view text, SourceUrl& url) {
  while (!text.empty()) {
    const std::size_t end = text.find('&');
    const std::string_view option = text.substr(0, end);
    const std::size_t equals = option.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
      return wrong("An option of the source's URL is not written as name=value.");
    }
    std::string name(option.substr(0, equals));
    auto value = decoded(option.substr(equals + 1), "option " + name);
    if (!value) {
      return base::pass_on(value.error());
    }
    if (std::ranges::any_of(url.options, [&](const auto& each) { return each.first == name; })) {
      return wrong(fmt::format("The option '{}' is in the source's URL twice.", name));
    }
    url.options.emplace_back(std::move(name), std::move(*value));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return {};
}

}  // namespace

std::string scheme_of(std::string_view url) {
  const std::size_t end = url.find("://");
  std::string scheme(url.substr(0, end == std::string_view::npos ? 0 : end));
  std::ranges::transform(scheme, scheme.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return scheme;
}

Result<SourceUrl> parse_source_url(std::string_view text, std::uint16_t default_port) {
  SourceUrl url;
  url.scheme = scheme_of(text);
  if (url.scheme.empty()) {
    return wrong("The source is no URL such as fenceline://127.0.0.1:8080: it has no scheme.");
  }
  std::string_view rest = text.substr(url.scheme.size() + 3);
  if (rest.find('#') != std::string_view::npos) {
    return wrong("The source's URL has a '#'; write it as %23.");
  }
  const std::size_t question = rest.find('?');
  if (question != std::string_view::npos) {
    if (auto read = parse_options(rest.substr(question + 1), url); !read) {
      return base::pass_on(read.error());
    }
    rest = rest.substr(0, question);
  }
  const std::size_t slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  if (slash != std::string_view::npos) {
    auto path = decoded(rest.substr(slash), "path");
    if (!path) {
      return base::pass_on(path.error());
    }
    url.path = std::move(*path);
  }
  const std::size_t at = authority.rfind('@');
  if (at != std::string_view::npos) {
    if (auto read = parse_user(authority.substr(0, at), url); !read) {
      return base::pass_on(read.error());
    }
    authority.remove_prefix(at + 1);
  }
  if (auto read = parse_hosts(authority, default_port, url); !read) {
    return base::pass_on(read.error());
  }
  return url;
}

std::optional<std::string> SourceUrl::take(std::string_view name) {
  const auto found =
      std::ranges::find_if(options, [&](const auto& each) { return each.first == name; });
  if (found == options.end()) {
    return std::nullopt;
  }
  std::string value = std::move(found->second);
  options.erase(found);
  return value;
}

Result<void> SourceUrl::check_all_taken() const {
  if (options.empty()) {
    return {};
  }
  return wrong(
      fmt::format("A source of the kind {} has no option '{}'.", scheme, options.front().first));
}

}  // namespace fenceline::client
