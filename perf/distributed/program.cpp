// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "options.hpp"
#include "readable.hpp"
#include "station.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>

namespace tessera::perf {

int device_count(const std::string& backend) {
  for (const BackendInfo& info : tessera::backends()) {
    if (backend != info.name && backend != info.name + "-" + info.variant) continue;
    if (!info.available) throw std::runtime_error("backend " + backend + ": " + info.reason);
    Context context(backend);
    return has_stream(context) ? int(info.devices.size()) : 0;
  }
  throw UsageError{"--backend " + backend + ": there is no such backend"};
}

int parse_scaling(int argc, char** argv, ScalingOptions& options) {
  CLI::App app("Measures stencils, systems of fields and products over several ranks beside the plans of one.");
  app.add_option("--backend", options.backend, "cpu, cpu-v3, cuda ...; rank r has device r modulo their number");
  app.add_option("--ranks", options.ranks, "ranks (default: a rank for each device; 2 on the host); not under mpirun")
      ->check(CLI::Range(1, 4096));
  app.add_option("--threads", options.threads, "CPU threads of a rank (default: its share of the processors)");
  app.add_option("--case", options.cases, "cases whose <case>/<dtype> matches: a glob or a part of it")->delimiter(',');
  app.add_flag("--quick", options.quick, "small cases");
  app.add_flag("!--no-peers", options.peers, "Tessera alone");
  app.add_flag("!--no-links", options.links, "without messages between two ranks");
  app.add_flag("--list", options.list, "print the cases");
  app.add_option("--json", options.json, "write the results there, after each case");
  app.add_option("--depth", options.depth, "steps between exchanges (default: the library's choice)");
  app.add_option("--passes", options.passes, "samples of each row at least")->check(CLI::Range(1, 1000));
  app.add_option("--budget", options.budget, "seconds of measuring for each row")->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  forget_forced_algorithms();
  return -1;
}

namespace {

std::string title_of(const ScalingCase& c, int ranks) { return c.name(ranks) + "/" + c.problem.kind.name(); }

std::vector<ScalingCase> chosen_cases(const ScalingOptions& options, bool on_device, int ranks) {
  std::vector<ScalingCase> chosen;
  for (ScalingCase& c : scaling_cases()) {
    if (c.size != Size::any && (c.size == Size::gpu) != on_device) continue;
    if (options.quick ? !c.quick : c.quick && options.cases.empty()) continue;
    if (!matches_any(options.cases, title_of(c, ranks))) continue;
    chosen.push_back(std::move(c));
  }
  if (chosen.empty()) throw UsageError{"no case matches what was asked for"};
  return chosen;
}

void add_facts(Facts& facts, const Station& station) {
  for (const auto& fact : machine_facts()) facts.push_back(fact);
  for (const auto& fact : station.device->facts()) facts.push_back(fact);
  facts.emplace_back("ranks", std::to_string(station.group.size()));
  facts.emplace_back("threads", std::to_string(station.options.threads));
  if (station.device_peers) facts.emplace_back("nccl", station.device_peers->version());
}

}  // namespace

int run_rank(Group& group, const ScalingOptions& options, Facts facts, ProductPeer* product_peer) {
  Station station(group, options);
  station.product_peer = product_peer;
  const auto cases = chosen_cases(options, station.memory() == Memory::device, group.size());
  if (options.list) {
    for (const ScalingCase& c : cases)
      if (station.is_root()) std::printf("%s\n", title_of(c, group.size()).c_str());
    return 0;
  }
  together(group, [&] {
    if (!station.is_root()) return;
    add_facts(facts, station);
    station.recorder = std::make_unique<Recorder>(options.json, facts);
  });
  if (!station.no_device_peers.empty()) station.leave_out("peer:jacobi", station.no_device_peers);
  bool failed = false;
  const auto attempt = [&](const std::string& title, const auto& body) {
    try {
      body();
    } catch (const RankFailure& failure) {
      failed = true;
      if (station.recorder)
        station.recorder->fail("distributed/" + title + "/cold/tessera:" + station.backend + ":distributed",
                               station.place, failure.what());
    }
  };
  if (options.links) attempt("exchange/f32", [&] { run_links(station); });
  for (const ScalingCase& c : cases) {
    const std::string title = title_of(c, group.size());
    if (station.recorder) std::fprintf(stderr, "%s\n", title.c_str());
    attempt(title, [&] { run_case(station, c); });
  }
  if (station.recorder) {
    station.recorder->write();
    station.recorder->print_tables(stdout);
  }
  return failed ? 1 : 0;
}

}  // namespace tessera::perf
