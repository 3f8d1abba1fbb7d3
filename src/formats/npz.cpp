#include "formats/npz.hpp"

#include <memory>
#include <set>
#include <string>

#include <unistd.h>

#include <fmt/format.h>
#include <zip.h>

#include "formats/encode.hpp"
#include "formats/npy.hpp"

namespace sinkproof::formats {
namespace {

using Archive = std::unique_ptr<zip_t, decltype(&zip_discard)>;
using Entry = std::unique_ptr<zip_file_t, decltype(&zip_fclose)>;

std::string zip_message(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

Archive open_archive(const File& file) {
  const int descriptor = file.duplicate_descriptor();
  int code = 0;
  zip_t* archive = zip_fdopen(descriptor, 0, &code);
  if (archive == nullptr) {
    ::close(descriptor);
    refuse(file.path(), "",
           fmt::format("is no readable zip archive ({}): it is truncated or damaged, save it again",
                       shown(zip_message(code))));
  }
  return Archive(archive, zip_discard);
}

/// Reads the decompressed bytes of an entry in order. libzip checks the CRC when the end is read.
ByteSource bytes_of(zip_file_t* entry, const File& file, const std::string& name) {
  return [entry, &file, name](std::span<unsigned char> bytes) {
    while (!bytes.empty()) {
      const zip_int64_t got = zip_fread(entry, bytes.data(), bytes.size());
      if (got <= 0)
        refuse(file.path(), name, "the zip entry is truncated or damaged (CRC, length): save it again");
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
  };
}

zip_stat_t stat_of(zip_t* archive, zip_uint64_t index, const File& file) {
  zip_stat_t stat;
  constexpr auto needed =
      ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || (stat.valid & needed) != needed) {
    refuse(file.path(), fmt::format("entry {}", index), "the zip directory is damaged: save it again");
  }
  return stat;
}

void refuse_unreadable(const zip_stat_t& stat, const File& file, const std::string& name) {
  if (stat.encryption_method != ZIP_EM_NONE)
    refuse(file.path(), name, "is encrypted: save it without a password");
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    refuse(file.path(), name,
           "is neither stored nor deflated: save it with numpy.savez or numpy.savez_compressed");
  }
  if (stat.comp_size > file.size() || (stat.comp_method == ZIP_CM_STORE && stat.comp_size != stat.size)) {
    refuse(file.path(), name, "its sizes in the zip directory contradict the file: save it again");
  }
}

void refuse_pickle(const File& file, const std::string& name) {
  if (name.ends_with(".pkl") || name.ends_with(".pickle")) {
    refuse(file.path(), name,
           "is a Python pickle (a PyTorch checkpoint?), which is never loaded: export the weights as "
           ".safetensors or .npz");
  }
}

Entry open_entry(zip_t* archive, zip_uint64_t index, const File& file, const std::string& name) {
  Entry entry(zip_fopen_index(archive, index, 0), zip_fclose);
  if (!entry) {
    refuse(file.path(), name,
           fmt::format("cannot be opened ({}): save it again", shown(zip_strerror(archive))));
  }
  return entry;
}

void refuse_unless_at_end(zip_file_t* entry, const File& file, const std::string& name) {
  unsigned char beyond = 0;
  if (zip_fread(entry, &beyond, 1) != 0) {
    refuse(file.path(), name, "the zip entry is damaged (CRC, length): save it again");
  }
}

/// Calls visit(stat, entry, name) for each array in the file's order; lists the entries that are no arrays.
template <class Visit>
void for_each_array(const File& file, std::vector<Skipped>& skipped, Visit visit) {
  const Archive archive = open_archive(file);
  std::set<std::string> names;
  const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t index = 0; index < entries; ++index) {
    const zip_stat_t stat = stat_of(archive.get(), index, file);
    std::string name = stat.name;
    refuse_pickle(file, name);
    const bool array = name.ends_with(".npy");
    if (array) name.resize(name.size() - 4);
    if (!names.insert(name).second) {
      refuse(file.path(), name, "two entries have this name, so its meaning is open: save it once");
    }
    if (!array) {
      skipped.push_back({name, "is no .npy entry"});
      continue;
    }
    refuse_unreadable(stat, file, name);
    const Entry entry = open_entry(archive.get(), index, file, name);
    visit(stat, entry.get(), name);
  }
}

}  // namespace

StoredFile locate_npz(const File& file) {
  StoredFile result;
  for_each_array(file, result.skipped,
                 [&](const zip_stat_t& stat, zip_file_t* entry, const std::string& name) {
                   auto content = locate_npy(bytes_of(entry, file, name), stat.size, file, name);
                   if (auto* skipped = std::get_if<Skipped>(&content)) {
                     result.skipped.push_back(std::move(*skipped));
                   } else {
                     result.arrays.push_back(std::get<StoredArray>(std::move(content)));
                   }
                 });
  return result;
}

ByteSource open_npz(const File& file, const StoredArray& array) {
  const std::shared_ptr<zip_t> archive = open_archive(file);
  const zip_int64_t index = zip_name_locate(archive.get(), (array.name + ".npy").c_str(), 0);
  if (index < 0) refuse(file.path(), array.name, "is no longer there: the file changed while it was read");
  const std::shared_ptr<zip_file_t> entry = open_entry(archive.get(), index, file, array.name);
  const ByteSource next = bytes_of(entry.get(), file, array.name);
  std::vector<unsigned char> header(array.offset);
  next(header);
  std::uint64_t left = *entry_count(array.shape) * entry_bytes(array.encoding.dtype);
  // The entry is released before its archive: members of a closure go in an order that is not fixed.
  struct Opened {
    std::shared_ptr<zip_t> archive;
    std::shared_ptr<zip_file_t> entry;
  };
  return [opened = Opened{archive, entry}, next, left, &file,
          name = array.name](std::span<unsigned char> bytes) mutable {
    if (bytes.size() > left) refuse(file.path(), name, "ends too early: save it again");
    next(bytes);
    left -= bytes.size();
    if (left == 0 && !bytes.empty()) refuse_unless_at_end(opened.entry.get(), file, name);
  };
}

TensorFile read_npz(const File& file) {
  AllocationBudget budget(file);
  TensorFile result;
  for_each_array(file, result.skipped,
                 [&](const zip_stat_t& stat, zip_file_t* entry, const std::string& name) {
                   auto content = read_npy(bytes_of(entry, file, name), stat.size, file, name, budget);
                   if (auto* skipped = std::get_if<Skipped>(&content)) {
                     result.skipped.push_back(std::move(*skipped));
                     return;
                   }
                   refuse_unless_at_end(entry, file, name);
                   result.tensors.push_back(std::get<Tensor>(std::move(content)));
                 });
  return result;
}

TensorFile read_npz(const std::filesystem::path& path) {
  return read_npz(File(path));
}

void write_npz(const std::filesystem::path& path, std::span<const Tensor> tensors) {
  refuse_unwritable(tensors, path);
  if (tensors.empty()) refuse(path, "", "there is no tensor to write");
  zip_error_t error;
  zip_error_init(&error);
  const auto failed = [&](const char* why) {
    refuse(path, "", fmt::format("cannot be written as zip ({})", why));
  };

  // The archive is made in memory: the one door to the disk is write_atomically.
  const std::unique_ptr<zip_source_t, decltype(&zip_source_free)> target(
      zip_source_buffer_create(nullptr, 0, 0, &error), zip_source_free);
  if (!target) failed("no memory");
  zip_source_keep(target.get());
  Archive archive(zip_open_from_source(target.get(), ZIP_TRUNCATE, &error), zip_discard);
  if (!archive) {
    zip_source_free(target.get());
    failed(zip_error_strerror(&error));
  }

  std::vector<std::string> contents;
  contents.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    const std::string& bytes = contents.emplace_back(npy_bytes(tensor, path));
    zip_source_t* source = zip_source_buffer(archive.get(), bytes.data(), bytes.size(), 0);
    const zip_int64_t index = source == nullptr ? -1
                                                : zip_file_add(archive.get(), (tensor.name + ".npy").c_str(),
                                                               source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      refuse(path, tensor.name, fmt::format("cannot be written as zip ({})", zip_strerror(archive.get())));
    }
    constexpr zip_uint16_t midnight = 0;
    constexpr zip_uint16_t first_of_1980 = (1 << 5) | 1;
    if (zip_set_file_compression(archive.get(), index, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive.get(), index, midnight, first_of_1980, 0) != 0) {
      failed(zip_strerror(archive.get()));
    }
  }
  if (zip_close(archive.get()) != 0) failed(zip_strerror(archive.get()));
  static_cast<void>(archive.release());

  zip_stat_t stat;
  if (zip_source_stat(target.get(), &stat) != 0 || zip_source_open(target.get()) != 0) failed("no memory");
  std::string bytes(stat.size, '\0');
  const zip_int64_t got = zip_source_read(target.get(), bytes.data(), bytes.size());
  zip_source_close(target.get());
  if (got != static_cast<zip_int64_t>(bytes.size())) failed("no memory");
  write_atomically(path, bytes);
}

}  // namespace sinkproof::formats
