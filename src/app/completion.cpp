#include <fmt/core.h>

#include "app/session.hpp"

namespace sinkproof::app {
namespace {

/// The long flags of a (sub)command, as the parser itself knows them: nothing to keep in step by hand.
std::string flags_of(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += (words.empty() ? "--" : " --") + name;
  }
  return words;
}

/// What may follow a verb: its actions with their flags, and its own flags.
std::string words_of(const CLI::App& verb) {
  std::string words;
  for (const CLI::App* action : verb.get_subcommands({})) {
    words += action->get_name() + " " + flags_of(*action) + " ";
  }
  return words + flags_of(verb);
}

std::string bash(const CLI::App& program) {
  std::string verbs, cases;
  for (const CLI::App* verb : program.get_subcommands({})) {
    verbs += (verbs.empty() ? "" : " ") + verb->get_name();
    cases += fmt::format("    {}) words=\"{}\" ;;\n", verb->get_name(), words_of(*verb));
  }
  return fmt::format(
      "# bash completion for sinkproof: eval \"$(sinkproof completion bash)\"\n"
      "# (zsh: autoload -U bashcompinit && bashcompinit first)\n"
      "_sinkproof() {{\n"
      "  local words current=\"${{COMP_WORDS[COMP_CWORD]}}\"\n"
      "  case \"${{COMP_CWORD}}:${{COMP_WORDS[1]}}\" in\n"
      "    1:*) words=\"{} {}\" ;;\n"
      "    *) case \"${{COMP_WORDS[1]}}\" in\n"
      "{}    esac ;;\n"
      "  esac\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
      "}}\n"
      "complete -o default -F _sinkproof sinkproof\n",
      verbs, flags_of(program), cases);
}

std::string fish(const CLI::App& program) {
  std::string text = "# fish completion for sinkproof: sinkproof completion fish | source\n";
  for (const CLI::App* verb : program.get_subcommands({})) {
    text += fmt::format("complete -c sinkproof -n __fish_use_subcommand -a {} -d '{}'\n", verb->get_name(),
                        verb->get_description());
    const auto complete = [&](const std::string& what) {
      text += fmt::format("complete -c sinkproof -n '__fish_seen_subcommand_from {}' {}\n", verb->get_name(),
                          what);
    };
    const auto complete_flags = [&](const CLI::App& app) {
      for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) complete("-l " + name);
      }
    };
    for (const CLI::App* action : verb->get_subcommands({})) {
      complete("-a " + action->get_name());
      complete_flags(*action);
    }
    complete_flags(*verb);
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& program, Run& run) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = program.add_subcommand("completion", "print a completion script for bash, zsh or fish");
  verb->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("");
  verb->footer("example:\n  eval \"$(sinkproof completion bash)\"");
  verb->callback([shell, &program, &run] {
    run = [shell, &program] {
      fmt::print("{}", *shell == "fish" ? fish(program) : bash(program));
      return static_cast<int>(all_proved);
    };
  });
}

}  // namespace sinkproof::app
