// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "dispatch/elf_check.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace tessera::core {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Entry = ElfW(Dyn);

constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
constexpr unsigned char kOrder = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
#if defined(__x86_64__)
constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
#else
constexpr int kMachine = EM_NONE;  // left to dlopen
#endif

/// Libraries have about ten. The dynamic linker keeps a copy of them on its stack.
constexpr int kMostSegments = 128;
constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostDynamic = std::uint64_t{1} << 20;

bool within(std::uint64_t begin, std::uint64_t bytes, std::uint64_t end) {
  return begin <= end && bytes <= end - begin;
}

std::string cut_off(std::uint64_t size) {
  return "it is cut off: the file ends after " + std::to_string(size) + " bytes";
}

std::string header_problem(const Header& h) {
  if (h.e_ident[EI_CLASS] != kClass)
    return "it is not an ELF file of " + std::to_string(8 * sizeof(void*)) + " bits, as this program is";
  if (h.e_ident[EI_DATA] != kOrder) return "it is for a machine of another byte order";
  if (kMachine != EM_NONE && h.e_machine != kMachine)
    return "it is for another processor: ELF machine " + std::to_string(h.e_machine) + ", here " +
           std::to_string(kMachine);
  if (h.e_type != ET_DYN) return "it is an ELF file of type " + std::to_string(h.e_type) + ", not a shared library";
  if (h.e_phentsize != sizeof(Segment)) return "its program headers have an unknown size";
  if (h.e_phnum < 1 || h.e_phnum > kMostSegments)
    return "it has " + std::to_string(h.e_phnum) + " segments, from 1 to " + std::to_string(kMostSegments) +
           " can be loaded";
  return "";
}

/// Segments in the file, those to be loaded in the order of their addresses and apart.
std::string segment_problem(const std::vector<Segment>& segments, std::uint64_t size) {
  std::uint64_t end = 0;
  bool loaded = false;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& s = segments[i];
    if (s.p_type == PT_NULL) continue;
    const std::string which = "segment " + std::to_string(i) + " ";
    if (!within(s.p_offset, s.p_filesz, size))
      return cut_off(size) + ", " + which + "has " + std::to_string(s.p_filesz) + " from " + std::to_string(s.p_offset);
    if (!within(s.p_vaddr, s.p_memsz, kMostMemory)) return which + "has an impossible address or size";
    if (s.p_align > kMostMemory || (s.p_align != 0 && !std::has_single_bit(s.p_align)))
      return which + "has an impossible alignment";
    if (s.p_type != PT_LOAD) continue;
    if (s.p_filesz > s.p_memsz) return which + "is larger in the file than in memory";
    if (loaded && s.p_vaddr < end) return which + "lies in the segment before it";
    end = s.p_vaddr + s.p_memsz;
    loaded = true;
  }
  return loaded ? "" : "none of its segments is to be loaded";
}

/// True when one loaded segment holds the addresses, counted to the end of its last page.
bool loaded_memory(const std::vector<Segment>& segments, std::uint64_t begin, std::uint64_t bytes) {
  return std::any_of(segments.begin(), segments.end(), [&](const Segment& s) {
    const std::uint64_t page = std::max<std::uint64_t>(s.p_align, 1);
    const std::uint64_t end = (s.p_vaddr + s.p_memsz + page - 1) / page * page;
    return s.p_type == PT_LOAD && begin >= s.p_vaddr && within(begin, bytes, end);
  });
}

/// What the dynamic linker reads or protects without asking where it lies.
std::string place_problem(const std::vector<Segment>& segments) {
  int dynamic = 0;
  for (const Segment& s : segments) {
    if (s.p_type == PT_DYNAMIC) {
      ++dynamic;
      // Read through its address, checked here through its offset: they must mean the same bytes.
      const bool held = std::any_of(segments.begin(), segments.end(), [&](const Segment& l) {
        return l.p_type == PT_LOAD && s.p_vaddr >= l.p_vaddr && s.p_filesz == s.p_memsz &&
               within(s.p_vaddr - l.p_vaddr, s.p_memsz, l.p_filesz) && s.p_offset >= l.p_offset &&
               s.p_offset - l.p_offset == s.p_vaddr - l.p_vaddr && s.p_vaddr % alignof(Entry) == 0;
      });
      if (!held) return "its dynamic section is not in a loaded segment";
    }
    const bool read = s.p_type == PT_NOTE || s.p_type == PT_GNU_PROPERTY || s.p_type == PT_TLS;
    if (read && s.p_filesz > 0 && !loaded_memory(segments, s.p_vaddr, s.p_filesz))
      return "a segment of type " + std::to_string(s.p_type) + " is not in a loaded one";
    if (s.p_type == PT_GNU_RELRO && !loaded_memory(segments, s.p_vaddr, s.p_memsz))
      return "what it wants protected is not in a loaded segment";
  }
  return dynamic == 1 ? "" : "it has " + std::to_string(dynamic) + " dynamic sections, not one";
}

/// The value of a tag in the dynamic section; 0 where it is absent.
std::uint64_t value_of(const std::vector<Entry>& entries, std::int64_t tag) {
  for (const Entry& e : entries)
    if (e.d_tag == tag) return e.d_un.d_val;
  return 0;
}

/// `entries`: the dynamic section up to its end mark.
std::string table_problem(const std::vector<Segment>& segments, const std::vector<Entry>& entries) {
  struct Table {
    const char* name;
    std::int64_t address, bytes;
    std::uint64_t least;
    bool required;
  };
  static constexpr Table tables[] = {{"strings", DT_STRTAB, DT_STRSZ, 1, true},
                                     {"symbols", DT_SYMTAB, DT_SYMENT, sizeof(ElfW(Sym)), true},
                                     {"hashes", DT_GNU_HASH, DT_NULL, 16, false},
                                     {"hashes", DT_HASH, DT_NULL, 8, false},
                                     {"relocations", DT_RELA, DT_RELASZ, 0, false},
                                     {"relocations", DT_JMPREL, DT_PLTRELSZ, 0, false},
                                     {"initialisers", DT_INIT_ARRAY, DT_INIT_ARRAYSZ, 0, false},
                                     {"finalisers", DT_FINI_ARRAY, DT_FINI_ARRAYSZ, 0, false},
                                     {"versions", DT_VERSYM, DT_NULL, 2, false},
                                     {"versions", DT_VERNEED, DT_NULL, 16, false},
                                     {"versions", DT_VERDEF, DT_NULL, 16, false}};
  for (const Table& t : tables) {
    const std::uint64_t address = value_of(entries, t.address);
    if (address == 0 && !t.required) continue;
    const std::uint64_t bytes = t.bytes == DT_NULL ? t.least : std::max(t.least, value_of(entries, t.bytes));
    if (address == 0 || !loaded_memory(segments, address, bytes))
      return std::string("its table of ") + t.name + " is not in a loaded segment";
  }
  for (const Entry& e : entries)
    if ((e.d_tag == DT_NEEDED || e.d_tag == DT_SONAME || e.d_tag == DT_RUNPATH || e.d_tag == DT_RPATH) &&
        e.d_un.d_val >= value_of(entries, DT_STRSZ))
      return "a name in its dynamic section is not in its table of strings";
  return "";
}

}  // namespace

std::string elf_problem(std::uint64_t size, const ReadAt& read) {
  static const std::string unreadable = "it cannot be read";
  if (size == 0) return "it is empty";
  Header header{};
  if (!read(0, &header, std::size_t(std::min<std::uint64_t>(size, sizeof header)))) return unreadable;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "it is not an ELF file";
  if (size < sizeof header) return cut_off(size);
  if (std::string problem = header_problem(header); !problem.empty()) return problem;

  std::vector<Segment> segments(header.e_phnum);
  const std::size_t bytes = segments.size() * sizeof(Segment);
  if (!within(header.e_phoff, bytes, size)) return cut_off(size) + ", before its program headers";
  if (!read(header.e_phoff, segments.data(), bytes)) return unreadable;
  if (std::string problem = segment_problem(segments, size); !problem.empty()) return problem;
  if (std::string problem = place_problem(segments); !problem.empty()) return problem;

  const Segment& dynamic =
      *std::find_if(segments.begin(), segments.end(), [](const Segment& s) { return s.p_type == PT_DYNAMIC; });
  if (dynamic.p_filesz > kMostDynamic) return "its dynamic section has an impossible size";
  std::vector<Entry> entries(std::size_t(dynamic.p_filesz) / sizeof(Entry));
  if (!read(dynamic.p_offset, entries.data(), entries.size() * sizeof(Entry))) return unreadable;
  const auto end = std::find_if(entries.begin(), entries.end(), [](const Entry& e) { return e.d_tag == DT_NULL; });
  if (end == entries.end()) return "its dynamic section has no end";
  entries.erase(end, entries.end());
  return table_problem(segments, entries);
}

}  // namespace tessera::core
