#include "formats/file.hpp"

#include <array>
#include <csignal>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/sha256.hpp"
#include "support.hpp"

using namespace sinkproof::formats;
using namespace sinkproof::test;

TEST_CASE("what is no readable regular file is refused") {
  const Folder folder;
  check_refused([&] { File(folder / "absent.npz"); }, folder / "absent.npz", {"no such file"});
  check_refused([&] { File file(folder.path()); }, folder.path(), {"directory"});
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  check_refused([&] { File(folder / "pipe"); }, folder / "pipe", {"regular file"});
}

TEST_CASE("an unreadable file is refused") {
  const Folder folder;
  const auto path = folder.file("secret.npz", "x");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  const bool root = ::geteuid() == 0;  // who may read everything: try as nobody
  if (root) REQUIRE(::seteuid(65534) == 0);
  check_refused([&] { File file(path); }, path, {"permission denied", "readable"});
  if (root) REQUIRE(::seteuid(0) == 0);
}

TEST_CASE("reading beyond the end is refused") {
  const Folder folder;
  const auto path = folder.file("short", "abc");
  const File file(path);
  CHECK(file.size() == 3);
  std::array<unsigned char, 4> bytes;
  check_refused([&] { file.read_at(0, bytes); }, path, {"truncated"});
}

TEST_CASE("writing is whole or not at all") {
  const Folder folder;
  write_atomically(folder / "a", "first");
  write_atomically(folder / "a", "second");
  CHECK(content(folder / "a") == "second");
  check_refused([&] { write_atomically(folder / "absent/a", "x"); }, folder / "absent/a", {"folder"});
  check_refused([&] { write_atomically(folder.path(), "x"); }, folder.path(), {"not a regular file"});
  const auto entries = std::distance(std::filesystem::directory_iterator(folder.path()), {});
  CHECK(entries == 1);
}

TEST_CASE("a full disk leaves the old file and nothing else") {
  const Folder folder;
  write_atomically(folder / "a", "old");
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{10, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  check_refused([&] { write_atomically(folder / "a", std::string(100, 'x')); }, folder / "a", {"free space"});
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  CHECK(content(folder / "a") == "old");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("foreign text in a message stays on its line") {
  CHECK(shown("a\nb\x1b[31m") == "a\\x0ab\\x1b[31m");
  CHECK(shown(std::string(1000, 'a')).size() < 500);
  const Folder folder;
  const std::string odd = "odd\nname";
  try {
    File file(folder / odd);
    FAIL("not refused");
  } catch (const sinkproof::InputError& error) {
    CHECK(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

TEST_CASE("SHA-256 agrees with the standard's examples (FIPS 180-4)") {
  const Folder folder;
  CHECK(sha256(folder.file("empty", "")) ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256(folder.file("abc", "abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256(folder.file("million", std::string(1'000'000, 'a'))) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  check_refused([&] { sha256(folder / "absent"); }, folder / "absent", {"no such file"});
}
