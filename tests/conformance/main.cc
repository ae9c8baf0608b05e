// Runs the table on one device. See README.md for the arguments.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <set>

#include "conformance/spec.h"

using namespace conformance;

namespace {

struct Arguments {
  int32_t device = TRITRI_DEVICE_CPU, algorithm = TRITRI_ALGORITHM_AUTO;
  std::string device_name = "cpu", algorithm_name = "auto", filter, json;
  uint64_t seed = 20240229;
  bool small = false, list = false;
  size_t shard = 0, shards = 1;  // every shards-th case, from number shard
};

int usage(const std::string &problem) {
  std::cerr << "tritri_conformance: " << problem
            << "\nusage: tritri_conformance [--device cpu|cuda] [--algorithm auto|kernel|cublas] [--filter TEXT] [--small] [--json FILE] [--seed N] [--shard K/N] [--list]\n";
  return 2;
}

// "" or what is wrong.
std::string read(int argc, char **argv, Arguments &arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--small") arguments.small = true;
    else if (name == "--list") arguments.list = true;
    else if (i + 1 >= argc) return name + " is unknown or needs a value";
    else {
      const std::string value = argv[++i];
      if (name == "--device" && (value == "cpu" || value == "cuda")) {
        arguments.device_name = value;
        arguments.device = value == "cpu" ? TRITRI_DEVICE_CPU : TRITRI_DEVICE_CUDA;
      } else if (name == "--algorithm" && (value == "auto" || value == "kernel" || value == "cublas")) {
        arguments.algorithm_name = value;
        arguments.algorithm = value == "auto" ? TRITRI_ALGORITHM_AUTO : value == "kernel" ? TRITRI_ALGORITHM_KERNEL : TRITRI_ALGORITHM_CUBLAS;
      } else if (name == "--filter") arguments.filter = value;
      else if (name == "--json") arguments.json = value;
      else if (name == "--seed") arguments.seed = std::strtoull(value.c_str(), nullptr, 10);
      else if (name == "--shard" && std::sscanf(value.c_str(), "%zu/%zu", &arguments.shard, &arguments.shards) == 2 && arguments.shard < arguments.shards) continue;
      else return name + " " + value + " is not understood";
    }
  }
  return "";
}

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) result += c;
  }
  return result + "\"";
}

struct Report {
  size_t passed = 0;
  std::vector<std::pair<std::string, std::string>> failures;          // id, message
  std::map<std::string, std::vector<std::string>> skips;              // reason, ids
  double seconds = 0;

  size_t skipped() const {
    size_t count = 0;
    for (const auto &reason : skips) count += reason.second.size();
    return count;
  }
};

void write_json(const Arguments &arguments, const std::string &device, const Run &run, const Report &report) {
  std::ofstream out(arguments.json);
  out << "{\n  \"library\": " << quoted(tritri_version_string()) << ",\n  \"device\": " << quoted(arguments.device_name) << ",\n  \"device_name\": " << quoted(device)
      << ",\n  \"algorithm\": " << quoted(arguments.algorithm_name) << ",\n  \"filter\": " << quoted(arguments.filter) << ",\n  \"small\": " << (arguments.small ? "true" : "false")
      << ",\n  \"seed\": " << arguments.seed << ",\n  \"passed\": " << report.passed << ",\n  \"failed\": " << report.failures.size()
      << ",\n  \"skipped\": " << report.skipped() << ",\n  \"seconds\": " << report.seconds << ",\n  \"error_over_bound\": {";
  const char *separator = "";
  for (const auto &kind : run.worst_elementwise) {
    out << separator << "\n    " << quoted(kind.first) << ": {\"elementwise\": " << kind.second << ", \"normwise\": " << run.worst_normwise.at(kind.first) << "}";
    separator = ",";
  }
  out << "\n  },\n  \"failures\": [";
  separator = "";
  for (const auto &failure : report.failures) {
    out << separator << "\n    {\"id\": " << quoted(failure.first) << ", \"message\": " << quoted(failure.second) << "}";
    separator = ",";
  }
  out << "\n  ],\n  \"skips\": [";
  separator = "";
  for (const auto &reason : report.skips) {
    for (const std::string &id : reason.second) {
      out << separator << "\n    {\"id\": " << quoted(id) << ", \"reason\": " << quoted(reason.first) << "}";
      separator = ",";
    }
  }
  out << "\n  ]\n}\n";
}

}  // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  const std::string problem = read(argc, argv, arguments);
  if (!problem.empty()) return usage(problem);

  Table table;
  add_named(table);
  add_properties(table);
  add_sweeps(table);
  std::set<std::string> ids;
  for (const Case &entry : table) {
    if (!ids.insert(entry.id).second) return usage("the table names " + entry.id + " twice");
  }
  const auto chosen = [&](const Case &entry) {
    const size_t number = static_cast<size_t>(&entry - table.data());
    return number % arguments.shards == arguments.shard && (!arguments.small || entry.small) && (arguments.filter.empty() || entry.id.find(arguments.filter) != std::string::npos);
  };
  if (arguments.list) {
    for (const Case &entry : table)
      if (chosen(entry)) std::cout << entry.id << "\n";
    return 0;
  }

  Device device(arguments.device, arguments.algorithm);
  Run run{device, arguments.seed, arguments.small, {}, {}};
  Report report;
  tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
  try {
    support::call(tritri_context_device_info(device.context(), &info));
  } catch (const support::CallFailed &error) {
    std::cerr << "tritri_conformance: " << error.what() << "\n";
    return 2;
  }
  std::cout << "libtritri " << tritri_version_string() << " on " << info.name << " (" << info.details << "), algorithm " << arguments.algorithm_name << ", seed " << arguments.seed
            << std::endl;

  const auto start = std::chrono::steady_clock::now();
  for (const Case &entry : table) {
    if (!chosen(entry)) continue;
    std::string fault;
    try {
      entry.body(run);
    } catch (const support::CallFailed &error) {
      // Only cuBLAS was promised to be missing something; everything else computes every case.
      if (error.status == TRITRI_NOT_SUPPORTED && arguments.algorithm == TRITRI_ALGORITHM_CUBLAS) {
        report.skips[error.what()].push_back(entry.id);
        continue;
      }
      fault = error.what();
    } catch (const std::exception &error) {
      fault = error.what();
    }
    if (fault.empty()) {
      ++report.passed;
      continue;
    }
    report.failures.emplace_back(entry.id, fault);
    std::cout << "FAILED " << entry.id << ": " << fault << std::endl;
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  for (const auto &reason : report.skips) {
    std::cout << "skipped " << reason.second.size() << " (" << reason.first << "):";
    const size_t shown = reason.second.size() < 5 ? reason.second.size() : 5;
    for (size_t i = 0; i < shown; ++i) std::cout << " " << reason.second[i];
    std::cout << (shown < reason.second.size() ? " ..." : "") << "\n";
  }
  for (const auto &kind : run.worst_elementwise)
    std::printf("largest error over its bound, %s: elementwise %.3f, normwise %.3f\n", kind.first.c_str(), kind.second, run.worst_normwise.at(kind.first));
  std::fflush(stdout);
  if (!arguments.json.empty()) write_json(arguments, info.name, run, report);
  if (report.passed + report.failures.size() + report.skipped() == 0) return usage("no case matches");
  std::cout << report.seconds << " s\n" << report.passed << " passed, " << report.failures.size() << " failed";
  if (report.skipped() > 0) std::cout << ", " << report.skipped() << " skipped";
  std::cout << std::endl;
  return report.failures.empty() ? 0 : 1;
}
