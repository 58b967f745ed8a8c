#include "base/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <mutex>

namespace fenceline::base {
namespace {

prometheus::Labels to_labels(const MetricLabels& labels) {
  return prometheus::Labels(labels.begin(), labels.end());
}

}  // namespace

struct MetricRegistry::Impl {
  prometheus::Registry registry;
  std::mutex mutex;  ///< Guards what follows.
  std::vector<std::function<void()>> refreshers;
};

void Counter::add(double amount) const { counter_->Increment(amount); }

void Gauge::set(double value) const { gauge_->Set(value); }

void Gauge::add(double amount) const { gauge_->Increment(amount); }

void Histogram::observe(double value) const { histogram_->Observe(value); }

MetricRegistry::MetricRegistry() : impl_(std::make_unique<Impl>()) {}

MetricRegistry::~MetricRegistry() = default;

Counter MetricRegistry::counter(const std::string& name, const std::string& help,
                                const MetricLabels& labels) {
  auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(impl_->registry);
  return Counter(family.Add(to_labels(labels)));
}

Gauge MetricRegistry::gauge(const std::string& name, const std::string& help,
                            const MetricLabels& labels) {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(impl_->registry);
  return Gauge(family.Add(to_labels(labels)));
}

Histogram MetricRegistry::histogram(const std::string& name, const std::string& help,
                                    const MetricLabels& labels, const std::vector<double>& bounds) {
  auto& family = prometheus::BuildHistogram().Name(name).Help(help).Register(impl_->registry);
  return Histogram(family.Add(to_labels(labels), bounds));
}

void MetricRegistry::on_scrape(std::function<void()> refresh) {
  const std::lock_guard lock(impl_->mutex);
  impl_->refreshers.push_back(std::move(refresh));
}

std::string MetricRegistry::text() const {
  {
    const std::lock_guard lock(impl_->mutex);
    for (const auto& refresh : impl_->refreshers) {
      refresh();
    }
  }
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

const std::vector<double>& seconds_bounds() {
  static const std::vector<double> bounds = {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03,
                                             0.1,    0.3,    1,     3,     10};
  return bounds;
}

const std::vector<double>& count_bounds() {
  static const std::vector<double> bounds = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  return bounds;
}

}  // namespace fenceline::base
