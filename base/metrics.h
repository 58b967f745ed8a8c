#pragma once

// Metrics behind plain handles; prometheus-cpp stays in metrics.cc. Names and units follow the
// Prometheus conventions: `fenceline_…`, `_total` for counters, base units (`_seconds`, `_bytes`).

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace fenceline::base {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

/// Only goes up. A copyable handle; the registry owns the value. Thread-safe.
class Counter {
 public:
  explicit Counter(prometheus::Counter& counter) : counter_(&counter) {}
  void add(double amount = 1) const;

 private:
  prometheus::Counter* counter_;
};

/// Goes up and down. A copyable handle; the registry owns the value. Thread-safe.
class Gauge {
 public:
  explicit Gauge(prometheus::Gauge& gauge) : gauge_(&gauge) {}
  void set(double value) const;
  void add(double amount) const;

 private:
  prometheus::Gauge* gauge_;
};

/// Counts values into buckets. A copyable handle; the registry owns the value. Thread-safe.
class Histogram {
 public:
  explicit Histogram(prometheus::Histogram& histogram) : histogram_(&histogram) {}
  void observe(double value) const;

 private:
  prometheus::Histogram* histogram_;
};

/// All metrics of one process. Thread-safe. Must outlive every handle it gave.
class MetricRegistry {
 public:
  MetricRegistry();
  ~MetricRegistry();
  MetricRegistry(const MetricRegistry&) = delete;
  MetricRegistry& operator=(const MetricRegistry&) = delete;

  /// The metric with this name and these labels; the same one on every call.
  /// `help` is taken from the first call with that name. A bad name is a bug and throws.
  Counter counter(const std::string& name, const std::string& help, const MetricLabels& labels);
  Gauge gauge(const std::string& name, const std::string& help, const MetricLabels& labels);
  /// `bounds`: upper bounds of the buckets, ascending; those of the first call count.
  Histogram histogram(const std::string& name, const std::string& help, const MetricLabels& labels,
                      const std::vector<double>& bounds);

  /// `refresh` is called at the beginning of each `text`, one call at a time: for values that are
  /// only looked up when somebody asks. What it uses must live until the last `text`.
  void on_scrape(std::function<void()> refresh);

  /// Everything in the text exposition format, version 0.0.4.
  [[nodiscard]] std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Bucket bounds for waits and disk work: 100 µs … 10 s.
const std::vector<double>& seconds_bounds();

/// Bucket bounds for group sizes: 1 … 1024.
const std::vector<double>& count_bounds();

}  // namespace fenceline::base
