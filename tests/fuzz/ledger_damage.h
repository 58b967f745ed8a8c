#pragma once

#include <string>

class FuzzedDataProvider;  // of libFuzzer

namespace fenceline::fuzz {

/// A ledger as bytes: the file and its write-ahead log.
struct LedgerBytes {
  std::string file;
  std::string log;
};

/// Damages `bytes` by at most 16 edits, which it reads from `input`: a byte or a 32-bit number
/// overwritten, cells of a page swapped, pages copied over others, both files cut short, and the
/// checksums of the log made right again, so that a damaged frame counts. Pure but for `bytes` and
/// `input`.
void damage(LedgerBytes& bytes, FuzzedDataProvider& input);

}  // namespace fenceline::fuzz
