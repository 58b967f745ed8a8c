// What several routes with S3 have to do with each other, and what one of them promises.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/guarantee.h"
#include "config/same_data.h"
#include "tests/config/support.h"

namespace fenceline::config {
namespace {

using Problems = std::vector<std::string>;

std::string s3(const std::string& more, const std::string& endpoint = "http://h:9000") {
  return "s3: {endpoint: \"" + endpoint + "\", anonymous: true" + more + "}";
}

/// A route to one bucket, and one to any.
std::string one(const std::string& name, const std::string& backend,
                const std::string& route = "") {
  return "  - {name: " + name + ", match: \"/" + name + "/{key...}\", " + route + backend + "}\n";
}
std::string any(const std::string& name, const std::string& backend,
                const std::string& route = "") {
  return "  - {name: " + name + ", match: \"/" + name + "/{bucket}/{key...}\", " + route + backend +
         "}\n";
}

const std::string kTop = "listen: 127.0.0.1:1\nledger: {sqlite: l}\nroutes:\n";

Problems problems_with(const std::string& first, const std::string& second) {
  return problems_of(load_text(kTop + first + second));
}

TEST(SameBucket, AnObjectHasOneFence) {
  const std::string bucket = s3(", bucket: media");
  EXPECT_EQ(
      problems_with(one("a", bucket), one("b", bucket)),
      Problems{"5:52: the bucket \"media\" of http://h:9000 is also that of route `a` (line "
               "4), but the fences \"b/<resource>\" and \"a/<resource>\" do not provably give "
               "the same object the same key; give both routes the same `fence`, with matches "
               "that capture alike"});
  const std::string fence = "fence: \"x/{key...}\", ";
  EXPECT_EQ(problems_with(one("a", bucket, fence), one("b", bucket, fence)), Problems());
  EXPECT_EQ(problems_with(one("a", bucket), one("b", s3(", bucket: other"))), Problems());
  EXPECT_EQ(problems_with(one("a", bucket), one("b", s3(", bucket: media", "http://i:9000"))),
            Problems());
  EXPECT_EQ(
      problems_with(one("a", bucket, fence), one("b", s3(", bucket: media, region: x"))).size(), 1U)
      << "another region is no other bucket";
}

TEST(SameBucket, ARouteToAnyReachesEach) {
  const std::string media = s3(", bucket: media");
  EXPECT_EQ(problems_with(one("a", media), any("b", s3(""))).size(), 1U);
  EXPECT_EQ(problems_with(any("a", s3("")), one("b", media)).size(), 1U);
  EXPECT_EQ(problems_with(any("a", s3("")), any("b", s3(""))).size(), 1U);
  const std::string by_name = "fence: \"{bucket}/{key...}\", ";
  EXPECT_EQ(problems_with(any("a", s3(""), by_name), any("b", s3(""), by_name)), Problems());
  EXPECT_EQ(
      problems_with(any("a", s3(""), by_name), one("b", media, "fence: \"media/{key...}\", ")),
      Problems());
  EXPECT_EQ(
      problems_with(one("b", media, "fence: \"media/{key...}\", "), any("a", s3(""), by_name)),
      Problems());
  EXPECT_EQ(problems_with(any("a", s3(""), by_name), one("b", media, "fence: \"other/{key...}\", "))
                .size(),
            1U);
  // The same key for different objects is no key for one object: a/x of any bucket, x of `media`.
  EXPECT_EQ(problems_with(any("a", s3(""), "fence: \"f/{bucket}/{key...}\", "),
                          one("b", media, "fence: \"f/{key...}\", "))
                .size(),
            1U);
  EXPECT_EQ(problems_with(any("a", s3(""), "fence: all, "), one("b", media, "fence: all, ")),
            Problems());
}

TEST(SameBucket, HasOneWayToDelete) {
  const std::string fence = "fence: all, ";
  EXPECT_EQ(problems_with(one("a", s3(", bucket: media"), fence),
                          one("b", s3(", bucket: media, deletes: tombstone"), fence)),
            Problems{"5:64: the bucket \"media\" of http://h:9000 is also that of route `a` (line "
                     "4), which has another `deletes`"});
}

TEST(SameBucket, IsAlsoReachedByHttp) {
  const auto http = [](const std::string& path) {
    return "http: {upstream: \"http://h:9000" + path + "\"}";
  };
  const std::string media = s3(", bucket: media");
  EXPECT_EQ(problems_with(one("a", media), one("b", http("/media/x"))).size(), 1U);
  EXPECT_EQ(problems_with(one("a", http("")), one("b", media)).size(), 1U);
  EXPECT_EQ(problems_with(any("a", s3("")), one("b", http("/media"))).size(), 1U);
  EXPECT_EQ(problems_with(one("a", media), one("b", http("/media2"))), Problems());
  EXPECT_EQ(
      problems_with(one("a", media, "fence: all, "), one("b", http("/media"), "fence: all, ")),
      Problems());
}

TEST(Hosts, AreThoseOfOneRoute) {
  const auto hosts = [](const std::string& names) { return "hosts: [" + names + "], "; };
  const std::string b = s3(", bucket: other");
  EXPECT_EQ(
      problems_with(one("a", s3(", bucket: media"), hosts("s3.x")), one("b", b, hosts("S3.X, y"))),
      Problems{"5:44: the host \"s3.x\" is that of route `a` (line 4), \"s3.x\", or one is "
               "below the other; give each route hosts of its own"});
  EXPECT_EQ(
      problems_with(one("a", s3(", bucket: media"), hosts("x")), one("b", b, hosts("s3.x"))).size(),
      1U);
  EXPECT_EQ(
      problems_with(one("a", s3(", bucket: media"), hosts("a.s3.x")), one("b", b, hosts("s3.x")))
          .size(),
      1U);
  EXPECT_EQ(
      problems_with(one("a", s3(", bucket: media"), hosts("s3.x")), one("b", b, hosts("as3.x"))),
      Problems());
}

TEST(S3Guarantee, FollowsTheTable) {
  const auto level = [](const std::string& route) {
    const Loaded loaded = load_text(kTop + route);
    EXPECT_EQ(problems_of(loaded), Problems());
    return std::string(to_string(route_guarantee(loaded->routes[0]).level));
  };
  EXPECT_EQ(level(one("a", s3(", bucket: media"), "require: strict, ")), "strict");
  EXPECT_EQ(level(one("a", s3(", bucket: media, commit: plain"))), "bounded");
  EXPECT_EQ(level(one("a", s3(", bucket: media, commit: conditional, probe: false"))), "bounded");
  EXPECT_EQ(level(any("a", s3(""))), "bounded");
  EXPECT_EQ(level(any("a", s3(", probe_bucket: scratch"))), "strict");
  EXPECT_EQ(level(any("a", s3(", commit: conditional"))), "bounded");
  EXPECT_EQ(
      problems_of(load_text(kTop + any("a", s3(""), "require: strict, "))),
      Problems{"4:55: route `a` requires strict but gives bounded. Strict unless the upstream "
               "applies a write later than 1m after its connection was closed (commit: "
               "plain). To find out whether it can do more, the probe needs a "
               "`probe_bucket`."});
}

TEST(S3Guarantee, IsNoMoreThanThatOfTheWeakestWriter) {
  const Loaded loaded = load_text(kTop + one("a", s3(", bucket: media"), "fence: all, ") +
                                  any("b", s3(", commit: plain"), "fence: all, ") +
                                  one("c", s3(", bucket: media", "http://i")));
  EXPECT_EQ(problems_of(loaded), Problems());
  const auto given = guarantees(loaded->routes, [](const std::string& path) { return path; });
  EXPECT_EQ(given[0].level, Guarantee::kBounded);
  EXPECT_EQ(given[2].level, Guarantee::kStrict);
}

TEST(SameBackend, SeesEverySettingOfS3) {
  const auto same = [](const std::string& first, const std::string& second) {
    const auto resolve = [](const std::string& path) { return path; };
    const Loaded a = load_text(kTop + one("a", first));
    const Loaded b = load_text(kTop + one("a", second));
    EXPECT_EQ(problems_of(a), Problems());
    EXPECT_EQ(problems_of(b), Problems());
    const Route& x = a->routes[0];
    const Route& y = b->routes[0];
    return same_backend(x, store_of(x, resolve), y, store_of(y, resolve));
  };
  const std::string https = "https://h";
  EXPECT_TRUE(same(s3(", bucket: media", https), s3(", bucket: media", "https://H:443/")));
  EXPECT_FALSE(same(s3(", bucket: media", https), s3(", bucket: other", https)));
  for (const std::string more :
       {", region: x", ", addressing: virtual", ", credentials: {environment: true}",
        ", credentials: {file: f}", ", credentials: {access_key: a, secret_key: s}",
        ", clients: [{access_key: abc, secret_key: s}]", ", commit: plain", ", deletes: tombstone",
        ", settle: manual", ", tls: {ca: c}", ", timeout: 1s", ", connect_timeout: 1s",
        ", keep_alive: 1s", ", connections: 99", ", idle_connections: 9", ", hold: 1"}) {
    EXPECT_FALSE(same(s3(", bucket: media", https), s3(", bucket: media" + more, https))) << more;
  }
  EXPECT_FALSE(same(s3(", bucket: media, credentials: {access_key: a, secret_key: s}"),
                    s3(", bucket: media, credentials: {access_key: a, secret_key: t}")));
}

}  // namespace
}  // namespace fenceline::config
