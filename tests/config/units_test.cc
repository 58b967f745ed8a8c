#include "config/units.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "config/endpoint.h"
#include "config/nearest.h"
#include "config/variables.h"

namespace fenceline::config {
namespace {

TEST(Units, IntegersAreStrict) {
  EXPECT_EQ(parse_integer("0").value(), 0);
  EXPECT_EQ(parse_integer("42").value(), 42);
  EXPECT_EQ(parse_integer("9223372036854775807").value(), std::numeric_limits<std::int64_t>::max());
  for (const std::string text : {"", " 1", "1 ", "+1", "-1", "01", "0x10", "0o7", "1_000", "1,000",
                                 "1e3", "1.0", ".5", "9223372036854775808", "١"}) {
    const auto parsed = parse_integer(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error(), "\"" + text +
                                  "\" is no integer from 0 to 9223372036854775807 in plain decimal "
                                  "digits");
  }
}

TEST(Units, BooleansAreTwoWords) {
  EXPECT_TRUE(parse_boolean("true").value());
  EXPECT_FALSE(parse_boolean("false").value());
  for (const std::string text : {"", "yes", "no", "on", "off", "True", "FALSE", "1", "0"}) {
    EXPECT_FALSE(parse_boolean(text)) << text;
  }
}

TEST(Units, Sizes) {
  const std::vector<std::pair<std::string, std::uint64_t>> good{
      {"0", 0},
      {"4096", 4096},
      {"1B", 1},
      {"1KiB", 1024},
      {"64MiB", 67108864},
      {"1GiB", 1073741824},
      {"2TiB", 2199023255552},
      {"1kB", 1000},
      {"5MB", 5000000},
      {"10GB", 10000000000},
      {"1TB", 1000000000000},
      {"9223372036854775807", 9223372036854775807U}};
  for (const auto& [text, bytes] : good) {
    EXPECT_EQ(parse_size(text).value(), bytes) << text;
  }
  const std::vector<std::pair<std::string, std::string>> bad{
      {"", "it must start with a digit"},
      {"MiB", "it must start with a digit"},
      {"-1", "it must start with a digit"},
      {"1 MiB", "\" MiB\" is no unit"},
      {"1M", "\"M\" is no unit"},
      {"1mib", "\"mib\" is no unit"},
      {"1KB", "\"KB\" is no unit"},
      {"1.5GiB", "\".5GiB\" is no unit"},
      {"1e3", "\"e3\" is no unit"},
      {"010", "the number has a leading zero or is too big"},
      {"9223372036854775808", "the number has a leading zero or is too big"},
      {"9000000TiB", "it is too big"}};
  for (const auto& [text, why] : bad) {
    const auto parsed = parse_size(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(
        parsed.error(),
        fmt::format(
            "\"{}\" is no size: {}; write bytes or a unit of B, KiB, MiB, GiB, TiB, kB, MB, GB, "
            "TB, as in 64MiB",
            text, why));
  }
}

TEST(Units, Durations) {
  const std::vector<std::pair<std::string, std::int64_t>> good{
      {"0", 0}, {"0s", 0}, {"500ms", 500}, {"30s", 30000}, {"5m", 300000}, {"1h", 3600000}};
  for (const auto& [text, ms] : good) {
    EXPECT_EQ(parse_duration(text).value().count(), ms) << text;
  }
  const std::vector<std::pair<std::string, std::string>> bad{
      {"", "it must start with a digit"},
      {"s", "it must start with a digit"},
      {"30", "it has no unit"},
      {"1m30s", "\"m30s\" is no unit"},
      {"1.5s", "\".5s\" is no unit"},
      {"5S", "\"S\" is no unit"},
      {"5 s", "\" s\" is no unit"},
      {"1d", "\"d\" is no unit"},
      {"1us", "\"us\" is no unit"},
      {"9223372036854775807s", "it is too big"},
      {"05s", "the number has a leading zero or is too big"}};
  for (const auto& [text, why] : bad) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error(),
              fmt::format(
                  "\"{}\" is no duration: {}; write a number and a unit of ms, s, m, h, as in 30s",
                  text, why));
  }
}

TEST(Units, FormatIsReadBack) {
  EXPECT_EQ(format_size(0), "0B");
  EXPECT_EQ(format_size(1500), "1500B");
  EXPECT_EQ(format_size(32768), "32KiB");
  EXPECT_EQ(format_size(1ULL << 50U), "1024TiB");
  EXPECT_EQ(format_duration(base::Milliseconds(0)), "0ms");
  EXPECT_EQ(format_duration(base::Milliseconds(1500)), "1500ms");
  EXPECT_EQ(format_duration(base::Milliseconds(90000)), "90s");
  EXPECT_EQ(format_duration(base::Milliseconds(7200000)), "2h");
  for (const std::uint64_t bytes : {1ULL, 1000ULL, 1024ULL, 1048577ULL, 9223372036854775807ULL}) {
    EXPECT_EQ(parse_size(format_size(bytes)).value(), bytes);
  }
}

TEST(Endpoint, GoodOnes) {
  EXPECT_EQ(parse_endpoint("127.0.0.1:8080").value(), (Endpoint{"127.0.0.1", 8080}));
  EXPECT_EQ(parse_endpoint("0.0.0.0:0").value(), (Endpoint{"0.0.0.0", 0}));
  EXPECT_EQ(parse_endpoint("[::1]:65535").value(), (Endpoint{"::1", 65535}));
  EXPECT_EQ(to_string(Endpoint{"::1", 1}), "[::1]:1");
  EXPECT_EQ(to_string(Endpoint{"127.0.0.1", 1}), "127.0.0.1:1");
}

TEST(Endpoint, BadOnes) {
  const std::vector<std::pair<std::string, std::string>> bad{
      {"", "it has no port"},
      {"127.0.0.1", "it has no port"},
      {"[::1]", "it has no port"},
      {"127.0.0.1:", "the port is not a number from 0 to 65535"},
      {"127.0.0.1:65536", "the port is not a number from 0 to 65535"},
      {"127.0.0.1:080", "the port is not a number from 0 to 65535"},
      {"127.0.0.1:-1", "the port is not a number from 0 to 65535"},
      {"127.0.0.1:http", "the port is not a number from 0 to 65535"},
      {":8080", "the address is missing (0.0.0.0 or [::] for all)"},
      {"localhost:8080", "the address must be an IP address, not a name"},
      {"127.1:8080", "the address must be an IP address, not a name"},
      {"0127.0.0.1:80", "the address must be an IP address, not a name"},
      {"::1:8080", "an IPv6 address needs brackets"},
      {"[127.0.0.1]:80", "there is no IPv6 address between the brackets"},
      {"[fe80::1%lo]:80", "there is no IPv6 address between the brackets"}};
  for (const auto& [text, why] : bad) {
    const auto parsed = parse_endpoint(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error(),
              fmt::format("\"{}\" is no address and port: {}; write 127.0.0.1:8080 or [::1]:8080",
                          text, why));
  }
}

TEST(Endpoint, Loopback) {
  for (const std::string address : {"127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(is_loopback(address)) << address;
  }
  for (const std::string address :
       {"0.0.0.0", "128.0.0.1", "10.0.0.1", "::", "fe80::1", "::ffff:10.0.0.1", "localhost", ""}) {
    EXPECT_FALSE(is_loopback(address)) << address;
  }
}

TEST(Nearest, Distances) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("lisetn", "listen"), 1U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);
}

TEST(Nearest, OnlyWhatWasProbablyMeant) {
  EXPECT_EQ(nearest("lisen", {"ledger", "listen"}), "listen");
  EXPECT_EQ(nearest("Listen", {"ledger", "listen"}), "listen");
  EXPECT_EQ(nearest("keepalive", {"keep_alive"}), "keep_alive");
  EXPECT_EQ(nearest("io2", {"io"}), "io");
  EXPECT_EQ(nearest("xyz", {"io", "log"}), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 'a'), {"log"}), std::nullopt);
}

TEST(Variables, PutInOnce) {
  const Variables variables([](const std::string& name) -> std::optional<std::string> {
    if (name == "A") {
      return "${B}$$";
    }
    return name == "_b1" ? std::optional<std::string>("v") : std::nullopt;
  });
  const auto expand = [&variables](std::string_view text) {
    const auto result = variables.expand(Variables::hide_braces(text));
    return result ? result->text : "ERROR " + result.error();
  };
  EXPECT_EQ(expand("plain"), "plain");
  EXPECT_EQ(expand(""), "");
  EXPECT_EQ(expand("${_b1}"), "v");
  EXPECT_EQ(expand("x${_b1}y${_b1}"), "xvyv");
  EXPECT_EQ(expand("${A}"), "${B}$$");
  EXPECT_EQ(expand("$$"), "$");
  EXPECT_EQ(expand("$$$$"), "$$");
  EXPECT_EQ(expand("$${_b1}"), "${_b1}");
  EXPECT_EQ(expand("$$${_b1}"), "$v");
  EXPECT_EQ(expand("a$b $"), "a$b $");
  EXPECT_EQ(expand("{x}"), "{x}");
  EXPECT_EQ(expand("${C}"),
            "ERROR the environment variable C is not set; set it, or write $${C} for the "
            "characters");
  for (const std::string name : {"", "1", "a-b", "A:-x", " A", "$A"}) {
    EXPECT_EQ(expand("${" + name + "}"),
              "ERROR \"${" + name +
                  "}\" names no environment variable; a name is "
                  "letters, digits and \"_\", and there are no defaults");
  }
  EXPECT_EQ(expand("${A"),
            "ERROR \"${\" has no \"}\" on its line; write ${NAME} for a variable, $${ for the "
            "characters");
}

TEST(Variables, HidingKeepsTheLength) {
  const std::string text = "a: ${X}\nb: [${Y}, $${Z}, {c: d}]\n";
  const std::string hidden = Variables::hide_braces(text);
  EXPECT_EQ(hidden.size(), text.size());
  EXPECT_NE(hidden, text);
  EXPECT_EQ(Variables::show_braces(hidden), text);
}

}  // namespace
}  // namespace fenceline::config
