// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "recorder.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace tessera::perf {

namespace {

using Json = nlohmann::ordered_json;

double number(const Json& row, const char* key) { return row.contains(key) ? row[key].get<double>() : 0.0; }

struct Group {
  std::string title;
  std::vector<const Json*> rows;
};

std::vector<Group> grouped(const Json& rows) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> index;
  for (const Json& row : rows) {
    if (row["run_type"] != "iteration") continue;
    const std::string name = row["run_name"];
    const std::string title = name.substr(0, name.rfind('/')) + " on " + row["place"].get<std::string>();
    const auto [at, added] = index.emplace(title, groups.size());
    if (added) groups.push_back({title, {}});
    groups[at->second].rows.push_back(&row);
  }
  return groups;
}

std::string competitor_of(const Json& row) {
  const std::string name = row["run_name"];
  return name.substr(name.rfind('/') + 1);
}

bool is_tessera(const std::string& competitor) { return competitor.rfind("tessera:", 0) == 0; }

/// The backend of "tessera:<backend>:<algorithm>".
std::string backend_of(const std::string& competitor) {
  return competitor.substr(competitor.find(':') + 1, competitor.rfind(':') - competitor.find(':') - 1);
}

/// Of each backend's automatic choices the shares of the rate of its best algorithm.
std::map<std::string, std::vector<double>> automatic_shares(const std::vector<Group>& groups) {
  std::map<std::string, std::vector<double>> shares;
  for (const Group& group : groups) {
    std::map<std::string, double> best, automatic;
    for (const Json* row : group.rows) {
      const std::string competitor = competitor_of(*row);
      if (!is_tessera(competitor) || !row->contains("rate")) continue;
      const std::string backend = backend_of(competitor);
      best[backend] = std::max(best[backend], number(*row, "rate"));
      if (row->contains("automatic")) automatic[backend] = number(*row, "rate");
    }
    for (const auto& [backend, rate] : automatic) shares[backend].push_back(rate / best[backend]);
  }
  return shares;
}

void print_automatic(const std::string& backend, const std::vector<double>& shares, std::FILE* file) {
  double logarithms = 0.0;
  for (const double share : shares) logarithms += std::log(share);
  std::fprintf(file, "  %-34s %5.1f %% of its best algorithm (geometric mean of %zu cases), %.1f %% at least, ",
               ("tessera:" + backend).c_str(), 100.0 * std::exp(logarithms / double(shares.size())), shares.size(),
               100.0 * *std::min_element(shares.begin(), shares.end()));
  std::fprintf(file, "%td below 95 %%\n",
               std::count_if(shares.begin(), shares.end(), [](double share) { return share < 0.95; }));
}

void print_group(const Group& group, std::FILE* file) {
  std::vector<const Json*> rows = group.rows;
  std::stable_sort(rows.begin(), rows.end(), [](const Json* a, const Json* b) {
    const bool wrong_a = a->contains("error_message"), wrong_b = b->contains("error_message");
    return wrong_a != wrong_b ? wrong_b : number(*a, "real_time") < number(*b, "real_time");
  });
  double best_peer = 0.0;
  for (const Json* row : rows)
    if (competitor_of(*row).rfind("peer:", 0) == 0) best_peer = std::max(best_peer, number(*row, "rate"));
  const bool gemm = group.title.rfind("gemm/", 0) == 0;
  std::fprintf(file, "\n%s\n", group.title.c_str());
  for (const Json* row : rows) {
    const std::string competitor = competitor_of(*row);
    if (row->contains("error_message")) {
      std::fprintf(file, "  %-34s FAILED: %s\n", competitor.c_str(),
                   (*row)["error_message"].get<std::string>().c_str());
      continue;
    }
    if (group.title.rfind("ceiling/", 0) == 0) {
      std::fprintf(file, "  %-34s %11.1f %s  +-%.1f %%\n", competitor.c_str(), number(*row, "rate"),
                   (*row)["label"].get<std::string>().c_str(), 100.0 * number(*row, "spread"));
      continue;
    }
    std::fprintf(file, "%c %-34s %11.2f us", row->contains("automatic") ? '*' : ' ', competitor.c_str(),
                 number(*row, "real_time"));
    if (row->contains("rate"))
      std::fprintf(file, " %10.1f %s", number(*row, "rate"), gemm ? "GFLOP/s  " : "GStencil/s");
    if (row->contains("traffic")) std::fprintf(file, " %8.1f GB/s", number(*row, "traffic"));
    if (best_peer > 0.0) std::fprintf(file, "  %5.2f of best peer", number(*row, "rate") / best_peer);
    if (row->contains("ceiling"))
      std::fprintf(file, "  %5.1f %% of %s", 100.0 * number(*row, "ceiling"),
                   (*row)["label"].get<std::string>().c_str());
    std::fprintf(file, "  +-%.1f %%", 100.0 * number(*row, "spread"));
    if (number(*row, "repetitions") < 3) std::fprintf(file, "  (%.0f repetitions)", number(*row, "repetitions"));
    std::fprintf(file, "\n");
  }
}

}  // namespace

void Recorder::print_tables(std::FILE* file) const {
  const std::vector<Group> groups = grouped(rows_);
  for (const Group& group : groups) print_group(group, file);
  if (const auto shares = automatic_shares(groups); !shares.empty()) {
    std::fprintf(file, "\nautomatic choices (*)\n");
    for (const auto& [backend, of_backend] : shares) print_automatic(backend, of_backend, file);
  }
  if (left_out_.empty()) return;
  std::map<std::string, std::vector<std::string>> reasons;
  for (const Json& entry : left_out_) reasons[entry["reason"]].push_back(entry["name"]);
  std::fprintf(file, "\nleft out\n");
  for (const auto& [reason, names] : reasons) {
    std::fprintf(file, "  %s:\n", reason.c_str());
    constexpr std::size_t shown = 12;
    for (std::size_t i = 0; i < std::min(names.size(), shown); ++i) std::fprintf(file, "    %s\n", names[i].c_str());
    if (names.size() > shown) std::fprintf(file, "    and %zu more (the JSON has all)\n", names.size() - shown);
  }
}

}  // namespace tessera::perf
