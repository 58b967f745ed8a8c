#include "tests/s3_servers/radosgw.h"

#include <atomic>

#include "tests/backends/s3/s3_driver.h"

namespace fenceline::testing {

using backends::http::CommitMode;

const S3Server& radosgw() {
  static const S3Server server(S3Kind::kRadosgw);
  return server;
}

std::string next_bucket() {
  static std::atomic<int> counter = 0;
  std::string name = "bucket-" + std::to_string(++counter);
  radosgw().make_bucket(name);
  return name;
}

backends::s3::S3Options probed_options(const std::string& bucket) {
  auto options = s3_options_for(radosgw().port());
  options.http.commit = CommitMode::kAuto;
  options.http.probe = true;
  options.http.settle_after = std::nullopt;
  options.bucket = bucket;
  options.credentials = radosgw().credentials();
  return options;
}

backends::s3::S3Options plain_options(const std::string& bucket) {
  auto options = probed_options(bucket);
  options.http.probe = false;
  options.http.commit = CommitMode::kPlain;
  return options;
}

}  // namespace fenceline::testing
