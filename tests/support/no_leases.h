#pragma once

#include <string>

#include "fencing/ledger.h"

namespace fenceline::testing {

/// The lease part of ledgers that a test makes for something else: it refuses.
class NoLeases : public fencing::Ledger {
 public:
  void grant(fencing::GrantOrder /*order*/, base::Done<base::Result<base::Token>> done) override {
    done(refusal());
  }

  void end_leases(fencing::EndOrder /*order*/,
                  base::Done<base::Result<base::Token>> done) override {
    done(refusal());
  }

  void change_ttl(std::string /*id*/, base::Milliseconds /*ttl*/,
                  base::Done<base::Result<void>> done) override {
    done(refusal());
  }

  void list_leases(base::Done<base::Result<fencing::LeaseRecords>> done) override {
    done(refusal());
  }

 private:
  static tl::unexpected<base::Error> refusal() {
    return base::fail(base::ErrorKind::kInternal, "nobody takes leases here");
  }
};

}  // namespace fenceline::testing
