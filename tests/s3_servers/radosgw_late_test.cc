// Writes that reach radosgw long after fenceline has given them up.

#include <gtest/gtest.h>

#include <string>

#include "tests/backends/s3/s3_driver.h"
#include "tests/s3_servers/radosgw.h"
#include "tests/support/delaying_relay.h"

namespace fenceline::testing {
namespace {

using backends::Bearing;
using backends::Revocation;

class RadosgwLate : public ::testing::Test {
 protected:
  RadosgwLate() {
    auto slow = probed_options(bucket);
    slow.http.client.port = relay.port();
    slow.http.client.first_byte = base::Milliseconds(1'000);
    old = std::make_unique<S3Driver>(slow);
    // The same server by another port is another one to the record; so the newer one uses the
    // relay, too.
    slow.http.client.first_byte = base::Milliseconds(10'000);
    newer = std::make_unique<S3Driver>(slow);
  }

  [[nodiscard]] std::string stored(const std::string& key) const {
    return radosgw().call("GET", "/" + bucket + "/" + key).body;
  }

  // A request id of its own, or the answer that was lost would be found in another one's stamp.
  static S3Call zombie() {
    return {.operation = "PutObject", .key = "a", .content = "zombie", .request_id = "zombie-1"};
  }

  const std::string bucket = next_bucket();
  const std::string request = "PUT /" + bucket + "/a ";
  DelayingRelay relay{radosgw().port()};
  std::unique_ptr<S3Driver> old;
  std::unique_ptr<S3Driver> newer;
};

TEST_F(RadosgwLate, AChangeFindsAnotherState) {
  ASSERT_EQ(old->put("a", "first").status, 200);
  relay.park(request);
  S3Staged staged = old->stage(zombie());
  const std::string on_record = staged.intent()->data;
  const Answer lost = staged.commit();
  ASSERT_TRUE(lost.error) << lost.status;
  EXPECT_EQ(lost.error->applied, base::Applied::kUnknown);
  EXPECT_EQ(lost.error_name(), "upstream-timeout");
  EXPECT_EQ(newer->revoke(on_record).value(), Revocation::kUnknown) << "its state is still there";

  S3Staged takeover =
      newer->stage({.operation = "PutObject", .key = "a", .content = "new", .token = 2});
  EXPECT_EQ(takeover.bearing_on(on_record), Bearing::kReplaces);
  EXPECT_EQ(takeover.commit().status, 200);
  EXPECT_EQ(newer->revoke(on_record).value(), Revocation::kDormant);

  const auto answers = relay.deliver(request);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_NE(answers[0].find(" 412 "), std::string::npos) << answers[0];
  EXPECT_EQ(stored("a"), "new");
}

TEST_F(RadosgwLate, ACreationFindsThatItExists) {
  relay.park(request);
  S3Staged staged = old->stage(zombie());
  const std::string on_record = staged.intent()->data;
  EXPECT_EQ(staged.commit().error_name(), "upstream-timeout");
  S3Staged takeover =
      newer->stage({.operation = "PutObject", .key = "a", .content = "new", .token = 2});
  EXPECT_EQ(takeover.bearing_on(on_record), Bearing::kReplaces);
  EXPECT_EQ(takeover.commit().status, 200);
  const auto answers = relay.deliver(request);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_NE(answers[0].find(" 412 "), std::string::npos) << answers[0];
  EXPECT_EQ(stored("a"), "new");
}

// What the settle rule is for: without the bearing this would be the zombie's.
TEST_F(RadosgwLate, AStateThatCameBackIsWhatItWaitsFor) {
  ASSERT_EQ(old->put("a", "first").status, 200);
  relay.park(request);
  S3Staged staged = old->stage(zombie());
  const std::string on_record = staged.intent()->data;
  EXPECT_EQ(staged.commit().error_name(), "upstream-timeout");
  ASSERT_EQ(newer->put("a", "new", {}, 2).status, 200);
  S3Staged revival =
      newer->stage({.operation = "PutObject", .key = "a", .content = "first", .token = 2});
  EXPECT_EQ(revival.bearing_on(on_record), Bearing::kRevives)
      << "the pipeline does not commit this";
  ASSERT_EQ(revival.commit().status, 200);
  const auto answers = relay.deliver(request);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_NE(answers[0].find(" 200 "), std::string::npos) << answers[0];
  EXPECT_EQ(stored("a"), "zombie");
}

}  // namespace
}  // namespace fenceline::testing
