// A small network that works before all of its weights are there.
//
// Trains a multilayer perceptron to tell two half-moons apart, packs its weights, and runs it from
// layer 0 alone, from two layers, and so on up to all of them: what it answers converges, and ends
// exactly where it was.
//
//   tensors_example FOLDER        writes weights.holo and convergence.svg there
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tensors/file/holotensor.h"

using namespace hoist::tensors;

namespace {

constexpr size_t kPoints = 200;
constexpr size_t kHidden = 64;
constexpr int kSteps = 200;
constexpr float kRate = 0.01f;

struct Point {
  float x, y, label;  // label -1 or 1
};

std::vector<Point> half_moons() {
  std::mt19937 random(7);
  std::normal_distribution<float> noise(0, 0.12f);
  std::vector<Point> points;
  for (size_t i = 0; i < kPoints; ++i) {
    const float angle = 3.14159265f * static_cast<float>(i / 2) / (kPoints / 2);
    const bool upper = i % 2 == 0;
    const float x = upper ? std::cos(angle) : 1 - std::cos(angle);
    const float y = upper ? std::sin(angle) : 0.5f - std::sin(angle);
    points.push_back({x + noise(random), y + noise(random), upper ? 1.0f : -1.0f});
  }
  return points;
}

// Two hidden layers of tanh; weights are rows of inputs, the last of each row is the bias.
struct Network {
  std::vector<float> first = std::vector<float>(kHidden * 3);
  std::vector<float> second = std::vector<float>(kHidden * (kHidden + 1));
  std::vector<float> third = std::vector<float>(kHidden + 1);

  std::vector<std::vector<float>*> weights() { return {&first, &second, &third}; }
};

struct Activations {
  float a[kHidden], b[kHidden], out;
};

Activations run(const Network& net, const Point& point) {
  Activations act;
  for (size_t i = 0; i < kHidden; ++i) {
    const float* row = &net.first[i * 3];
    act.a[i] = std::tanh(row[0] * point.x + row[1] * point.y + row[2]);
  }
  act.out = net.third[kHidden];
  for (size_t i = 0; i < kHidden; ++i) {
    const float* row = &net.second[i * (kHidden + 1)];
    float sum = row[kHidden];
    for (size_t j = 0; j < kHidden; ++j) sum += row[j] * act.a[j];
    act.b[i] = std::tanh(sum);
    act.out += net.third[i] * act.b[i];
  }
  return act;
}

// Adds the gradient of (out - label)^2 / 2.
void backward(const Network& net, const Point& point, Network& gradient) {
  const Activations act = run(net, point);
  const float error = act.out - point.label;
  float da[kHidden] = {};
  gradient.third[kHidden] += error;
  for (size_t i = 0; i < kHidden; ++i) {
    gradient.third[i] += error * act.b[i];
    const float db = error * net.third[i] * (1 - act.b[i] * act.b[i]);
    const size_t row = i * (kHidden + 1);
    for (size_t j = 0; j < kHidden; ++j) {
      gradient.second[row + j] += db * act.a[j];
      da[j] += db * net.second[row + j];
    }
    gradient.second[row + kHidden] += db;
  }
  for (size_t i = 0; i < kHidden; ++i) {
    const float d = da[i] * (1 - act.a[i] * act.a[i]);
    gradient.first[i * 3] += d * point.x;
    gradient.first[i * 3 + 1] += d * point.y;
    gradient.first[i * 3 + 2] += d;
  }
}

// Full-batch Adam (Kingma and Ba, 2015).
Network train(const std::vector<Point>& points) {
  std::mt19937 random(11);
  std::normal_distribution<float> gauss(0, 0.5f);
  Network net;
  for (auto* weights : net.weights()) {
    for (float& weight : *weights) weight = gauss(random);
  }
  Network mean, square;
  for (int step = 1; step <= kSteps; ++step) {
    Network gradient;
    for (const Point& point : points) backward(net, point, gradient);
    const float correction = std::sqrt(1 - std::pow(0.999f, static_cast<float>(step))) /
                             (1 - std::pow(0.9f, static_cast<float>(step)));
    for (size_t w = 0; w < 3; ++w) {
      for (size_t i = 0; i < net.weights()[w]->size(); ++i) {
        const float g = (*gradient.weights()[w])[i] / kPoints;
        float& m = (*mean.weights()[w])[i];
        float& v = (*square.weights()[w])[i];
        m += 0.1f * (g - m);
        v += 0.001f * (g * g - v);
        (*net.weights()[w])[i] -= kRate * correction * m / (std::sqrt(v) + 1e-8f);
      }
    }
  }
  return net;
}

struct Score {
  size_t layers;
  double quality;   // of the worst tensor, as the file measured it
  double accuracy;  // share of points that are told right
  double distance;  // root mean square of the outputs' difference from the trained network's
};

Score score(const Network& net, const Network& trained, const std::vector<Point>& points) {
  Score result{};
  for (const Point& point : points) {
    const float out = run(net, point).out;
    result.accuracy += out * point.label > 0 ? 1.0 / kPoints : 0;
    result.distance += std::pow(out - run(trained, point).out, 2) / kPoints;
  }
  result.distance = std::sqrt(result.distance);
  return result;
}

std::string plot(const std::vector<Score>& scores) {
  std::string path;
  std::string dots;
  for (const Score& s : scores) {
    const double x = 70 + 640.0 * static_cast<double>(s.layers - 1) /
                              static_cast<double>(std::max<size_t>(scores.size() - 1, 1));
    const double y = 50 - 40 * std::log10(std::clamp(s.distance, 1e-8, 1.0));
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x, y);
    dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"#d55e00\"/>\n", x, y);
  }
  std::string axis;
  for (int decade = 0; decade <= 8; ++decade) {
    axis += fmt::format(
        "<line x1=\"70\" x2=\"710\" y1=\"{0}\" y2=\"{0}\" stroke=\"#808080\" "
        "stroke-opacity=\"0.3\"/><text x=\"62\" y=\"{1}\" text-anchor=\"end\">{2}</text>\n",
        50 + 40 * decade, 54 + 40 * decade, decade == 8 ? "0" : fmt::format("1e-{}", decade));
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 420\" "
      "font-family=\"sans-serif\" "
      "font-size=\"12\" fill=\"#808080\">\n<text x=\"70\" y=\"24\" font-size=\"16\">Distance of "
      "the "
      "outputs from the trained network's, by layers loaded</text>\n{}<path d=\"{}\" fill=\"none\" "
      "stroke=\"#d55e00\" stroke-width=\"2\"/>\n{}<text x=\"390\" y=\"405\" "
      "text-anchor=\"middle\">layers loaded: 1 to {}</text>\n</svg>\n",
      axis, path, dots, scores.size());
}

int fail(const hoist::Error& error) {
  fmt::print(stderr, "{}\n", error.message);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", argv[0]);
    return 2;
  }
  const std::string folder = argv[1];
  const std::vector<Point> points = half_moons();
  Network trained = train(points);
  const std::vector<NamedTensor> tensors = {
      {"first", {DType::f32, {kHidden, 3}, std::as_bytes(std::span(trained.first))}},
      {"second", {DType::f32, {kHidden, kHidden + 1}, std::as_bytes(std::span(trained.second))}},
      {"third", {DType::f32, {1, kHidden + 1}, std::as_bytes(std::span(trained.third))}},
  };
  const std::string path = folder + "/weights.holo";
  const std::string picture = folder + "/convergence.svg";
  const hoist::OutputRule rule = {.mend = "name an empty folder"};
  if (hoist::Status free = hoist::check_output(picture, rule); !free) return fail(free.error());
  HoloWriteOptions options;
  options.output = rule;
  if (hoist::Status written = write_holotensor(path, tensors, options); !written) {
    return fail(written.error());
  }

  const auto reader = open_holotensor(path);
  if (!reader) return fail(reader.error());
  size_t layers = 0;
  for (const HoloTensor& tensor : reader->header().tensors) {
    layers = std::max(layers, tensor.parts.size());
  }
  std::vector<Score> scores;
  for (size_t count = 1; count <= layers; ++count) {
    PartSelection selection;
    selection.layers = count;
    Network net;
    double quality = 1;
    for (size_t w = 0; w < 3; ++w) {
      const auto loaded = reader->decode(w, selection);
      if (!loaded) return fail(loaded.error());
      std::copy_n(loaded->bytes.data(), loaded->bytes.size(),
                  reinterpret_cast<std::byte*>(net.weights()[w]->data()));
      quality = std::min(quality, loaded->quality);
    }
    Score result = score(net, trained, points);
    result.layers = count;
    result.quality = quality;
    scores.push_back(result);
    if (count <= 2 || count == layers) {
      fmt::print("{:>2} of {} layers: quality {:.6f}, accuracy {:.3f}, distance {:.2g}\n", count,
                 layers, quality, result.accuracy, result.distance);
    }
  }
  if (hoist::Status drawn = hoist::write_output(picture, plot(scores), rule); !drawn) {
    return fail(drawn.error());
  }
  const bool exact = scores.back().distance == 0;
  fmt::print("{}\n", exact ? "all layers: exactly the trained network" : "the last layer is wrong");
  return exact && scores.front().accuracy > 0.8 ? 0 : 1;
}
