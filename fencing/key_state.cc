#include "fencing/key_state.h"

#include <algorithm>

namespace fenceline::fencing {

EntryFacts KeyState::facts() const {
  EntryFacts facts;
  facts.announced = announced.token;
  facts.durable = loaded && durable == announced;
  for (const auto& [token, count] : inside) {
    if (!facts.lowest_inside.exists() || token < facts.lowest_inside) {
      facts.lowest_inside = token;
    }
  }
  if (!unsettled.empty()) {
    facts.lowest_unsettled = *std::ranges::min_element(unsettled);
  }
  return facts;
}

void KeyState::count_in(base::Token token) {
  const auto found = std::ranges::find(inside, token, &std::pair<base::Token, std::size_t>::first);
  if (found == inside.end()) {
    inside.emplace_back(token, 1);
  } else {
    ++found->second;
  }
}

void KeyState::count_out(base::Token token, Settlement outcome) {
  const auto found = std::ranges::find(inside, token, &std::pair<base::Token, std::size_t>::first);
  if (--found->second == 0) {
    inside.erase(found);
  }
  if (outcome == Settlement::kInDoubt) {
    unsettled.push_back(token);
  }
}

void KeyState::became_durable(const Mark& stored) {
  durable = stored;
  loaded = true;
  if (stored.token >= announced.token) {
    announced = stored;
  }
}

bool KeyState::needs_raise() const { return loaded && !raising && durable != announced; }

bool KeyState::forgettable() const {
  return pins == 0 && inside.empty() && unsettled.empty() && (!loaded || durable == announced);
}

std::vector<std::pair<EnterWaiter, Entry>> KeyState::take_ready() {
  std::vector<std::pair<EnterWaiter, Entry>> ready;
  std::vector<EnterWaiter> still_waiting;
  for (EnterWaiter& waiter : waiters) {
    const Entry entry = decide_entry(facts(), waiter.token);
    if (entry == Entry::kWait) {
      still_waiting.push_back(std::move(waiter));
      continue;
    }
    if (entry == Entry::kEnter) {
      count_in(waiter.token);
    }
    ready.emplace_back(std::move(waiter), entry);
  }
  waiters = std::move(still_waiting);
  return ready;
}

}  // namespace fenceline::fencing
