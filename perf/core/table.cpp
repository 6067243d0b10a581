// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "noise.hpp"
#include "readable.hpp"
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

/// Whether the subject is an algorithm with a limit of the workspace, which nobody gets who asks for none.
bool is_limited(const std::string& competitor) { return competitor.find('@') != std::string::npos; }

/// The backend of "tessera:<backend>:<algorithm>".
std::string backend_of(const std::string& competitor) {
  return competitor.substr(competitor.find(':') + 1, competitor.rfind(':') - competitor.find(':') - 1);
}

/// How far the row's time may be off; 0 of what was measured once, which nobody knows.
double doubt_of(const Json& row) {
  return row.contains("low") ? doubt(number(row, "real_time"), {number(row, "low"), number(row, "high")}) : 0.0;
}

/// The same of the ratio of two rows. They took turns, so that what disturbed a pass disturbed both.
double doubt_of(const Json& a, const Json& b) {
  if (a.contains("passes") && b.contains("passes")) {
    const auto of_a = a["passes"]["real_time"].get<std::vector<double>>();
    const auto of_b = b["passes"]["real_time"].get<std::vector<double>>();
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(of_a.size(), of_b.size()); ++i) ratios.push_back(of_a[i] / of_b[i]);
    const auto interval = median_interval(ratios);
    if (of_a.size() == of_b.size()) return doubt(median(ratios), interval);
  }
  return (1.0 + doubt_of(a)) * (1.0 + doubt_of(b)) - 1.0;
}

/// Of each backend's automatic choices the shares of the rate of its best algorithm; doubtful ones count in `left_out`.
std::map<std::string, std::vector<double>> automatic_shares(const std::vector<Group>& groups, int& left_out) {
  std::map<std::string, std::vector<double>> shares;
  for (const Group& group : groups) {
    std::map<std::string, const Json*> best, automatic;
    for (const Json* row : group.rows) {
      const std::string competitor = competitor_of(*row);
      if (!is_tessera(competitor) || is_limited(competitor) || !row->contains("rate")) continue;
      const Json*& fastest = best[backend_of(competitor)];
      if (fastest == nullptr || number(*row, "rate") > number(*fastest, "rate")) fastest = row;
      if (row->contains("automatic")) automatic[backend_of(competitor)] = row;
    }
    for (const auto& [backend, row] : automatic) {
      const Json* fastest = best[backend];
      if (row != fastest && doubt_of(*row, *fastest) > kDoubtful)
        ++left_out;
      else
        shares[backend].push_back(number(*row, "rate") / number(*fastest, "rate"));
    }
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

/// Whether the row's share of its ceiling, which was measured beside each sample, is not known.
bool has_doubtful_share(const Json& row) {
  if (number(row, "ceiling") > 1.05) return true;
  if (!row.contains("passes") || !row["passes"].contains("ceiling")) return doubt_of(row) > kDoubtful;
  auto shares = row["passes"]["ceiling"].get<std::vector<double>>();
  const auto interval = median_interval(shares);
  return doubt(median(shares), interval) > kDoubtful;
}

/// Says where most rows are doubtful: nothing can be concluded from such a run.
void print_caution(const Json& rows, std::FILE* file) {
  std::ptrdiff_t known = 0, doubtful = 0;
  for (const Json& row : rows) {
    known += row.contains("ceiling");
    doubtful += row.contains("ceiling") && has_doubtful_share(row);
  }
  if (2 * doubtful > known)
    std::fprintf(file,
                 "\nCAUTION: the machine was not idle: in %td of %td rows the share of the ceiling may be off by more "
                 "than 25 %%.\nWhat is not marked NOISY may have been held up all the time. Measure again on an idle "
                 "machine.\n",
                 doubtful, known);
}

/// "  +-3.1 %", and that it is too noisy to quote.
std::string doubt_text(const Json& row) {
  const double repetitions = number(row, "repetitions");
  if (repetitions < 2) return "  (1 repetition)";
  const double value = doubt_of(row);
  return "  +-" + three_digits(100.0 * value) + " %" + (value > kDoubtful ? " NOISY" : "") +
         (repetitions < 3 ? "  (2 repetitions)" : "");
}

void print_row(const Json& row, const Json* best_peer, bool ceiling, const char* unit, std::FILE* file) {
  const std::string competitor = competitor_of(row);
  const std::string label = row.value("label", "");
  if (row.contains("error_message")) {
    std::fprintf(file, "  %-34s FAILED: %s\n", competitor.c_str(), row["error_message"].get<std::string>().c_str());
    return;
  }
  const char mark = row.contains("automatic") ? '*' : ' ';
  if (ceiling) {
    const std::string rate = readable(1e9 * number(row, "rate"), label.substr(std::min<std::size_t>(1, label.size())));
    std::fprintf(file, "  %-34s %15s%s\n", competitor.c_str(), rate.c_str(), doubt_text(row).c_str());
    return;
  }
  std::fprintf(file, "%c %-34s %9s", mark, competitor.c_str(), readable(1e-6 * number(row, "real_time"), "s").c_str());
  if (row.contains("rate")) std::fprintf(file, " %15s", readable(1e9 * number(row, "rate"), unit).c_str());
  if (row.contains("traffic")) std::fprintf(file, " %11s", readable(1e9 * number(row, "traffic"), "B/s").c_str());
  if (best_peer != nullptr) {
    const bool doubtful = &row != best_peer && doubt_of(row, *best_peer) > kDoubtful;
    const std::string ratio = three_digits(number(row, "rate") / number(*best_peer, "rate"));
    std::fprintf(file, " %6s of best peer", doubtful ? ("~" + ratio).c_str() : ratio.c_str());
  }
  if (row.contains("ceiling")) std::fprintf(file, "  %5.1f %% of %s", 100.0 * number(row, "ceiling"), label.c_str());
  std::fprintf(file, "%s", doubt_text(row).c_str());
  if (number(row, "kernels") > 0) std::fprintf(file, "  kernels: %.0f", number(row, "kernels"));
  if (number(row, "workspace") > 0)
    std::fprintf(file, "  workspace: %s", readable(number(row, "workspace"), "B").c_str());
  std::fprintf(file, "\n");
}

const char* unit_of(const std::string& title) {
  const auto has = [&title](const char* part) { return title.find(part) != std::string::npos; };
  if (title.rfind("gemm/", 0) == 0 || has("_gemm_")) return "FLOP/s";
  if (title.rfind("system/", 0) == 0 || has("_wave_")) return "point/s";
  return has("/exchange_") ? "B/s" : "Stencil/s";
}

void print_group(const Group& group, std::FILE* file) {
  std::vector<const Json*> rows = group.rows;
  std::stable_sort(rows.begin(), rows.end(), [](const Json* a, const Json* b) {
    const bool wrong_a = a->contains("error_message"), wrong_b = b->contains("error_message");
    return wrong_a != wrong_b ? wrong_b : number(*a, "real_time") < number(*b, "real_time");
  });
  const Json* best_peer = nullptr;
  for (const Json* row : rows)
    if (competitor_of(*row).rfind("peer:", 0) == 0 && number(*row, "rate") > 0.0 &&
        (best_peer == nullptr || number(*row, "rate") > number(*best_peer, "rate")))
      best_peer = row;
  const bool ceiling = group.title.rfind("ceiling/", 0) == 0;
  std::fprintf(file, "\n%s\n", group.title.c_str());
  for (const Json* row : rows) print_row(*row, best_peer, ceiling, unit_of(group.title), file);
}

}  // namespace

void Recorder::print_tables(std::FILE* file) const {
  const std::vector<Group> groups = grouped(rows_);
  print_caution(rows_, file);
  for (const Group& group : groups) print_group(group, file);
  int noisy = 0;
  if (const auto shares = automatic_shares(groups, noisy); !shares.empty() || noisy > 0) {
    std::fprintf(file, "\nautomatic choices (*)\n");
    for (const auto& [backend, of_backend] : shares) print_automatic(backend, of_backend, file);
    if (noisy > 0) std::fprintf(file, "  left out as too noisy (may be off by more than 25 %%): %d\n", noisy);
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
