// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "noise.hpp"
#include "readable.hpp"
#include "recorder.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::perf {

namespace {

struct Group {
  std::string title;
  std::vector<const Row*> rows;
};

std::vector<Group> grouped(const std::vector<Row>& rows) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> index;
  for (const Row& row : rows) {
    const std::string title = row.title() + " on " + row.place;
    const auto [at, added] = index.emplace(title, groups.size());
    if (added) groups.push_back({title, {}});
    groups[at->second].rows.push_back(&row);
  }
  return groups;
}

/// The backend of "tessera:<backend>:<algorithm>".
std::string backend_of(const std::string& subject) {
  return subject.substr(subject.find(':') + 1, subject.rfind(':') - subject.find(':') - 1);
}

double doubt_of(std::vector<double> values) {
  const auto interval = median_interval(values);
  return doubt(median(values), interval);
}

/// How far the row's time may be off; 0 of what was measured once, which nobody knows.
double doubt_of(const Row& row) {
  return row.time.repetitions > 1 ? doubt(row.time.median, {row.time.low, row.time.high}) : 0.0;
}

/// The same of the ratio of two rows. They took turns, so that what disturbed a pass disturbed both.
double doubt_of(const Row& a, const Row& b) {
  const std::size_t passes = a.time.passes.size();
  if (passes < 2 || b.time.passes.size() != passes) return (1.0 + doubt_of(a)) * (1.0 + doubt_of(b)) - 1.0;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < passes; ++i) ratios.push_back(a.time.passes[i] / b.time.passes[i]);
  return doubt_of(ratios);
}

/// Of each backend's automatic choices the shares of the rate of its best algorithm; doubtful ones count in `left_out`.
/// Nobody gets an algorithm with a limit of its workspace who asks for none.
std::map<std::string, std::vector<double>> automatic_shares(const std::vector<Group>& groups, int& left_out) {
  std::map<std::string, std::vector<double>> shares;
  for (const Group& group : groups) {
    std::map<std::string, const Row*> best, automatic;
    for (const Row* row : group.rows) {
      const std::string subject = row->subject();
      if (!subject.starts_with("tessera:") || subject.find('@') != std::string::npos || !row->has("rate")) continue;
      const Row*& fastest = best[backend_of(subject)];
      if (fastest == nullptr || row->figure("rate") > fastest->figure("rate")) fastest = row;
      if (row->has("automatic")) automatic[backend_of(subject)] = row;
    }
    for (const auto& [backend, row] : automatic) {
      const Row* fastest = best[backend];
      if (row != fastest && doubt_of(*row, *fastest) > kDoubtful)
        ++left_out;
      else
        shares[backend].push_back(row->figure("rate") / fastest->figure("rate"));
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
bool has_doubtful_share(const Row& row) {
  if (row.figure("ceiling") > 1.05) return true;
  return (row.share.passes.size() < 2 ? doubt_of(row) : doubt_of(row.share.passes)) > kDoubtful;
}

/// Says where most rows are doubtful: nothing can be concluded from such a run.
void print_caution(const std::vector<Row>& rows, std::FILE* file) {
  std::ptrdiff_t known = 0, doubtful = 0;
  for (const Row& row : rows) {
    known += row.has("ceiling");
    doubtful += row.has("ceiling") && has_doubtful_share(row);
  }
  if (2 * doubtful > known)
    std::fprintf(file,
                 "\nCAUTION: the machine was not idle: in %td of %td rows the share of the ceiling may be off by more "
                 "than 25 %%.\nWhat is not marked NOISY may have been held up all the time. Measure again on an idle "
                 "machine.\n",
                 doubtful, known);
}

/// "  +-3.1 %", and that it is too noisy to quote.
std::string doubt_text(const Row& row) {
  const std::int64_t repetitions = row.time.repetitions;
  if (repetitions < 2) return "  (1 repetition)";
  const double value = doubt_of(row);
  return "  +-" + three_digits(100.0 * value) + " %" + (value > kDoubtful ? " NOISY" : "") +
         (repetitions < 3 ? "  (2 repetitions)" : "");
}

std::string right(const std::string& text, std::size_t width) {
  return " " + std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string line_of(const Row& row, const Row* best_peer, const std::string& unit) {
  const std::string subject = row.subject();
  std::string line = (row.has("automatic") ? "* " : "  ") + subject;
  line.resize(std::max<std::size_t>(36, line.size()), ' ');
  if (!row.failure.empty()) return line + " FAILED: " + row.failure;
  if (row.name.starts_with("ceiling/"))  // the label is "GFLOP/s" or "GB/s"
    return line + right(readable(1e9 * row.figure("rate"), row.label.substr(1)), 15) + doubt_text(row);
  line += right(readable(row.time.median, "s"), 9);
  if (row.has("rate")) line += right(readable(1e9 * row.figure("rate"), unit), 15);
  if (row.has("traffic")) line += right(readable(1e9 * row.figure("traffic"), "B/s"), 11);
  if (best_peer != nullptr) {
    const bool doubtful = &row != best_peer && doubt_of(row, *best_peer) > kDoubtful;
    const std::string ratio = three_digits(row.figure("rate") / best_peer->figure("rate"));
    line += right((doubtful ? "~" : "") + ratio, 6) + " of best peer";
  }
  if (row.has("ceiling")) {
    char share[32];
    std::snprintf(share, sizeof share, "  %5.1f %% of ", 100.0 * row.figure("ceiling"));
    line += share + row.label;
  }
  line += doubt_text(row);
  if (row.has("ulps")) line += "  error: " + three_digits(row.figure("ulps")) + " ulps";
  if (row.figure("kernels") > 0) line += "  kernels: " + std::to_string(std::int64_t(row.figure("kernels")));
  if (row.figure("workspace") > 0) line += "  workspace: " + readable(row.figure("workspace"), "B");
  return line;
}

const char* unit_of(const std::string& title) {
  const auto has = [&title](const char* part) { return title.find(part) != std::string::npos; };
  if (title.starts_with("gemm/") || has("_gemm_")) return "FLOP/s";
  if (title.starts_with("system/") || has("_wave_")) return "point/s";
  return has("/exchange_") ? "B/s" : "Stencil/s";
}

void print_group(const Group& group, std::FILE* file) {
  std::vector<const Row*> rows = group.rows;
  std::stable_sort(rows.begin(), rows.end(), [](const Row* a, const Row* b) {
    const bool wrong_a = !a->failure.empty(), wrong_b = !b->failure.empty();
    return wrong_a != wrong_b ? wrong_b : a->time.median < b->time.median;
  });
  const Row* best_peer = nullptr;
  for (const Row* row : rows)
    if (row->subject().starts_with("peer:") &&
        row->figure("rate") > (best_peer == nullptr ? 0.0 : best_peer->figure("rate")))
      best_peer = row;
  std::fprintf(file, "\n%s\n", group.title.c_str());
  for (const Row* row : rows) std::fprintf(file, "%s\n", line_of(*row, best_peer, unit_of(group.title)).c_str());
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
  for (const auto& [name, reason] : left_out_) reasons[reason].push_back(name);
  std::fprintf(file, "\nleft out\n");
  for (const auto& [reason, names] : reasons) {
    std::fprintf(file, "  %s:\n", reason.c_str());
    constexpr std::size_t shown = 12;
    for (std::size_t i = 0; i < std::min(names.size(), shown); ++i) std::fprintf(file, "    %s\n", names[i].c_str());
    if (names.size() > shown) std::fprintf(file, "    and %zu more (the JSON has all)\n", names.size() - shown);
  }
}

}  // namespace tessera::perf
