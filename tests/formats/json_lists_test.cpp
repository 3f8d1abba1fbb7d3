#include "formats/json_lists.hpp"

#include "support.hpp"

using namespace sinkproof;
using formats::File;
using Texts = std::vector<std::vector<std::string>>;
using Numbers = std::vector<std::vector<std::int64_t>>;

TEST_CASE("one list, several, and either in an object") {
  const test::Folder folder;
  const auto texts = [&](const std::string& json) {
    return read_token_lists(File(folder.file("t.json", json)));
  };
  const auto numbers = [&](const std::string& json) {
    return read_number_lists(File(folder.file("n.json", json)));
  };
  CHECK(texts(R"(["<s>", "a\"b", "\u00e9", ""])") == Texts{{"<s>", "a\"b", "\xc3\xa9", ""}});
  CHECK(texts(R"([["a"], ["b", "c"]])") == Texts{{"a"}, {"b", "c"}});
  CHECK(texts(R"({"tokens": ["a"]})") == Texts{{"a"}});
  CHECK(numbers("[1, 0, -3]") == Numbers{{1, 0, -3}});
  CHECK(numbers(R"({"attention_mask": [[0, 1], [1, 1]]})") == Numbers{{0, 1}, {1, 1}});
}

TEST_CASE("anything else is refused in one line") {
  const test::Folder folder;
  const std::string deep(100'000, '[');
  for (const std::string& json :
       {std::string(), std::string("[]"), std::string("[[]]"), std::string(R"([["a"], []])"),
        std::string(R"("a")"), std::string("{}"), std::string(R"({"a": "b"})"),
        std::string(R"({"a": {"b": ["c"]}})"), std::string(R"(["a", ["b"]])"), std::string(R"([["a"], "b"])"),
        std::string(R"([[["a"]]])"), std::string("[1]"), std::string("[null]"), std::string("[true]"),
        std::string(R"(["a")"), std::string(R"(["a"] x)"), std::string("[\"\xff\"]"),
        std::string(R"([{"a": 1}])"), deep}) {
    CAPTURE(json.substr(0, 40));
    const auto path = folder.file("t.json", json);
    test::check_refused([&] { read_token_lists(File(path)); }, path, {});
  }
  for (const std::string json : {"[1.5]", "[\"1\"]", "[18446744073709551615]", "[1e3]"}) {
    CAPTURE(json);
    const auto path = folder.file("n.json", json);
    test::check_refused([&] { read_number_lists(File(path)); }, path, {"whole numbers"});
  }
}
