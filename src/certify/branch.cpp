#include "certify/branch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sinkproof::certify {

using numeric::Vector;

std::vector<PartBounds> cover(const std::vector<int>& order, const Branching& branching,
                              const Deadline& deadline) {
  struct Node {
    Part part;
    std::size_t depth = 0;
    PartBounds bounds;
    double worth = 0;
  };
  const auto before = [](const Node& a, const Node& b) { return a.worth < b.worth; };
  const auto worth = [&](const PartBounds& bounds) {
    const double value = branching.worth(bounds);
    return std::isnan(value) ? HUGE_VAL : value;  // NaN would spoil the heap's order
  };
  std::vector<Node> heap(1);
  Node& root = heap.front();
  root.part.assign(order.size(), 0);
  root.bounds = branching.bound(root.part);
  root.worth = worth(root.bounds);
  while (heap.size() < branching.most && heap.front().worth > branching.goal &&
         heap.front().depth < order.size() && !deadline.passed()) {
    std::pop_heap(heap.begin(), heap.end(), before);
    const Node parent = std::move(heap.back());
    heap.pop_back();
    for (const int sign : {-1, 1}) {
      Node child = parent;
      child.part[static_cast<std::size_t>(order[parent.depth])] = sign;
      child.depth = parent.depth + 1;
      // What holds on the parent holds here; a relaxation need not be monotone.
      const PartBounds own = branching.bound(child.part);
      for (std::size_t k = 0; k < own.size(); ++k)
        if (own[k] < child.bounds[k]) child.bounds[k] = own[k];
      child.worth = worth(child.bounds);
      heap.push_back(std::move(child));
      std::push_heap(heap.begin(), heap.end(), before);
    }
  }
  std::vector<PartBounds> bounds;
  for (Node& node : heap) bounds.push_back(std::move(node.bounds));
  return bounds;
}

std::size_t most_parts(int content) {
  return std::clamp<std::size_t>((std::size_t{1} << 20) / static_cast<std::size_t>(content * content), 1,
                                 512);
}

std::vector<int> branching_order(const HeadMaps& head) {
  std::vector<int> order(static_cast<std::size_t>(head.content()));
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> influence;
  for (const int m : order) {
    double sum = 0;
    for (const auto& entry : head.scores.row(task::Parameters::content_begin() + m))
      sum += std::fabs(middle(entry));
    influence.push_back(sum);
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return influence[static_cast<std::size_t>(a)] > influence[static_cast<std::size_t>(b)];
  });
  return order;
}

Vector<double> ascend(int content, const std::function<double(const Vector<double>&)>& f) {
  Vector<double> c = Vector<double>::Ones(content);
  double best = f(c);
  for (bool improved = true; improved;) {
    improved = false;
    for (int m = 0; m < content; ++m) {
      c[m] = -c[m];
      const double value = f(c);
      if (value > best) {
        best = value;
        improved = true;
      } else {
        c[m] = -c[m];
      }
    }
  }
  return c;
}

}  // namespace sinkproof::certify
