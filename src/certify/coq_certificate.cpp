#include "certify/coq_certificate.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "certify/coq_loss.hpp"
#include "certify/coq_theory.hpp"

namespace sinkproof::certify {

using attention::Normaliser;
using numeric::Integer;

namespace {

/// A Z literal as an argument.
std::string z(const Integer& value) {
  return value < 0 ? "(" + value.str() + ")" : value.str();
}

std::string ratio(const Fraction& bound) {
  return bound.numerator.str() + " / " + bound.denominator.str();
}

/// What differs between the parts that a checker proves.
struct Checked {
  std::string level;
  Quantity quantity;
  Fraction bound;
  std::string name, title;  ///< of its lemma and theorem: NAME_checked, NAME_holds
  std::vector<std::string> modules;
  std::string check;             ///< the checker with all arguments but the bound
  std::string statement, proof;  ///< the statement without its bound; the proof may name NAME_checked
};

CertificatePart part_of(const Checked& x) {
  const std::string arguments = x.bound.numerator.str() + " " + x.bound.denominator.str();
  return {.level = x.level,
          .quantity = x.quantity,
          .bound = x.bound,
          .theorem = x.name + "_holds",
          .modules = x.modules,
          .text = fmt::format("(** {0} *)\n"
                              "Lemma {1}_checked :\n  {2} {3} = true.\n"
                              "Proof. vm_cast_no_check (eq_refl true). Qed.\n\n"
                              "Theorem {1}_holds : {4} ({5}).\n"
                              "Proof. {6} Qed.\n",
                              x.title, x.name, x.check, arguments, x.statement, ratio(x.bound), x.proof)};
}

CertificatePart trivial_leak(int length, int content) {
  return {.level = "trivial",
          .quantity = Quantity::leak,
          .bound = {1, 1},
          .theorem = "leak_trivial_holds",
          .modules = {"CertificateLeak"},
          .text = fmt::format("(** The checkers reach no bound below 1. *)\n"
                              "Theorem leak_trivial_holds : leak_at_most {} {} trained_head (1 / 1).\n"
                              "Proof. exact (leak_trivial {} {} trained_head). Qed.\n",
                              length, content, length, content)};
}

std::set<std::string> modules_of(const std::vector<CertificatePart>& parts) {
  std::set<std::string> modules{"Task", "CertificateWeights"};
  for (const CertificatePart& part : parts) modules.insert(part.modules.begin(), part.modules.end());
  return modules;
}

std::string definition_of(const std::string& name, const DyadicMatrix& matrix) {
  std::string text = fmt::format("Definition {} : dyadic := Dyadic [\n", name);
  for (std::size_t r = 0; r < matrix.mantissas.size(); ++r) {
    text += "  [";
    for (std::size_t s = 0; s < matrix.mantissas[r].size(); ++s) {
      text += (s == 0 ? "" : "; ") + matrix.mantissas[r][s].str();
    }
    text += r + 1 < matrix.mantissas.size() ? "];\n" : "]\n";
  }
  return text + fmt::format("]%Z ({}).\n\n", matrix.exponent);
}

}  // namespace

std::vector<CertificatePart> certificate_parts(const CoqHead& head, Normaliser normaliser, int length) {
  const int d = head.content;
  const bool enumerable = d <= coq_vertex_limit;
  const std::string sizes = fmt::format("{} {} trained_head", length, d);
  const std::string leak = "leak_at_most " + sizes;
  const auto loss = [&](const char* kind) {
    return fmt::format("worst_case_loss_at_most {} {} ({}_head_of {} trained_head)", length, d, kind, d);
  };
  struct Level {
    CoqLevel level;
    const char *name, *method;
  };
  std::vector<Level> levels{{CoqLevel::sums, "sums", "by sums of absolute values"}};
  if (enumerable)
    levels.push_back({CoqLevel::vertices, "vertices", "by the vertices of the query's content"});

  std::vector<CertificatePart> parts;
  if (normaliser == Normaliser::relu) {
    const std::vector<std::string> modules{"CertificateRelu", "CertificateReluSound"};
    for (const auto& [level, name, method] : levels) {
      parts.push_back(part_of({.level = name,
                               .quantity = Quantity::weight_off_trigger,
                               .bound = coq_relu_weight(head, level),
                               .name = fmt::format("weight_by_{}", name),
                               .title = fmt::format("The attention weights off the trigger, {}.", method),
                               .modules = modules,
                               .check = fmt::format("relu_weight_check relu_by_{} {} trained_head", name, d),
                               .statement = "relu_weights_at_most " + sizes,
                               .proof = fmt::format("exact (relu_weights_by_{} {} _ _ weight_by_{}_checked).",
                                                    name, sizes, name)}));
      parts.push_back(part_of(
          {.level = name,
           .quantity = Quantity::loss,
           .bound = coq_relu_loss(head, level, length),
           .name = fmt::format("loss_by_{}", name),
           .title = fmt::format("The worst-case loss, {}.", method),
           .modules = modules,
           .check = fmt::format("relu_loss_check relu_by_{} {}", name, sizes),
           .statement = loss("relu"),
           .proof = fmt::format("exact (relu_loss_by_{} {} _ _ loss_by_{}_checked).", name, sizes, name)}));
    }
    return parts;
  }

  if (const auto bound = coq_leak_by_sums(head, length)) {
    parts.push_back(part_of({.level = "sums",
                             .quantity = Quantity::leak,
                             .bound = *bound,
                             .name = "leak_by_sums",
                             .title = "The leak, by sums of absolute values.",
                             .modules = {"CertificateLeak"},
                             .check = "leak_by_sums " + sizes,
                             .statement = leak,
                             .proof = fmt::format("exact (leak_by_sums_sound {} trained_head {} _ _ "
                                                  "leak_by_sums_checked).",
                                                  d, length)}));
  }
  if (enumerable) {
    if (const auto found = coq_leak_by_vertices(head, length)) {
      parts.push_back(part_of({.level = "vertices",
                               .quantity = Quantity::leak,
                               .bound = found->leak,
                               .name = "leak_by_vertices",
                               .title = "The leak, by the vertices of the query's content.",
                               .modules = {"CertificateLeak"},
                               .check = "leak_by_vertices " + sizes + " " + z(found->threshold),
                               .statement = leak,
                               .proof = fmt::format("exact (leak_by_vertices_sound {} trained_head {} _ _ _ "
                                                    "leak_by_vertices_checked).",
                                                    d, length)}));
    }
  }
  std::optional<CertificatePart> best_loss;
  for (const auto& [level, name, method] : levels) {
    const auto bound = coq_loss(head, level, length);
    if (!bound) continue;
    const CertificatePart part =
        part_of({.level = name,
                 .quantity = Quantity::loss,
                 .bound = *bound,
                 .name = fmt::format("loss_by_{}", name),
                 .title = fmt::format("The worst-case loss, by Gruess' inequality, its extents {}.", method),
                 .modules = {"CertificateGruess", "CertificateGruessSound"},
                 .check = fmt::format("gruess_check by_{} {}", name, sizes),
                 .statement = loss("softmax"),
                 .proof = fmt::format("exact (loss_by_{} {} _ _ loss_by_{}_checked).", name, sizes, name)});
    parts.push_back(part);
    if (!best_loss || part.bound.value() < best_loss->bound.value()) best_loss = part;
  }
  if (best_loss && best_loss->level == "vertices") {
    if (const auto dual = coq_dual_loss(head, length, best_loss->bound)) {
      parts.push_back(
          part_of({.level = "dual",
                   .quantity = Quantity::loss,
                   .bound = dual->loss,
                   .name = "loss_by_dual",
                   .title = "The worst-case loss, by the dual bound.",
                   .modules = {"CertificateDual", "CertificateDualSound"},
                   .check = fmt::format("dual_check {} {} {}", sizes, z(dual->multiplier), z(dual->reach)),
                   .statement = loss("softmax"),
                   .proof = fmt::format("exact (loss_by_dual {} _ _ _ _ loss_by_dual_checked).", sizes)}));
      if (dual->loss.value() < best_loss->bound.value()) best_loss = parts.back();
    }
  }
  if (best_loss) {
    const numeric::Rational eta = best_loss->bound.value(), kappa(length - 3, 4 * (length - 1));
    if (eta < kappa / 2) {
      parts.push_back(part_of(
          {.level = "theorem-1",
           .quantity = Quantity::leak,
           .bound = rounded_up(eta / (kappa - eta)),
           .name = "leak_by_theorem_1",
           .title = "The leak once more, from the loss by Theorem 1.",
           .modules = {"CertificateTheorem1"},
           .check = fmt::format("theorem_1_gives {} {} {}", length, best_loss->bound.numerator.str(),
                                best_loss->bound.denominator.str()),
           .statement = leak,
           .proof = fmt::format("exact (leak_by_theorem_1_sound {} _ _ _ _ {} leak_by_theorem_1_checked).",
                                sizes, best_loss->theorem)}));
    }
  }
  const auto bounds_leak = [](const CertificatePart& part) { return part.quantity == Quantity::leak; };
  if (std::none_of(parts.begin(), parts.end(), bounds_leak)) parts.push_back(trivial_leak(length, d));
  return parts;
}

std::vector<const CertificatePart*> best_parts(const std::vector<CertificatePart>& parts) {
  std::vector<const CertificatePart*> best;
  for (const Quantity quantity : {Quantity::leak, Quantity::weight_off_trigger, Quantity::loss}) {
    const CertificatePart* least = nullptr;
    for (const CertificatePart& part : parts) {
      if (part.quantity == quantity && (!least || part.bound.value() < least->bound.value())) least = &part;
    }
    if (least) best.push_back(least);
  }
  return best;
}

std::string coq_statement(const CertificatePart& part, Normaliser normaliser, int length, int content) {
  switch (part.quantity) {
    case Quantity::leak:
      return fmt::format(
          "(forall I i, is_instance {0} {1} I -> (2 <= i <= {0})%nat -> i <> trig I ->\n"
          "     leak (softmax_attention_of {1} trained_head) I i <= {2})",
          length, content, ratio(part.bound));
    case Quantity::weight_off_trigger:
      return fmt::format(
          "(forall I i k, is_instance {0} {1} I -> (2 <= i <= {0})%nat -> i <> trig I -> (1 <= k <= i)%nat "
          "->\n"
          "     relu_attention_of {1} trained_head I i k <= {2})",
          length, content, ratio(part.bound));
    case Quantity::loss:
      break;
  }
  return fmt::format(
      "(forall Lambda, worst_case_loss {0} {1} (target {1}) ({3}_head_of {1} trained_head) Lambda ->\n"
      "     Lambda <= {2})",
      length, content, ratio(part.bound), normaliser == Normaliser::softmax ? "softmax" : "relu");
}

std::string certificate_text(const CoqHead& head, Normaliser normaliser, int length,
                             const CertificateSource& source, const std::vector<CertificatePart>& parts) {
  const bool softmax = normaliser == Normaliser::softmax;
  std::string text = fmt::format(
      "(** * A theorem about one trained attention head.\n\n"
      "    weights    {} (a copy lies beside this file)\n"
      "    SHA-256    {}\n"
      "    layout     {}, y = W x\n"
      "    scores     q.k times {}\n"
      "    attention  {}\n"
      "    sequences  of length L = {}, content of d = {} coordinates\n\n"
      "    The last theorem, [certificate], is the statement. Its terms are defined in theory/Task.v and at\n"
      "    the head of theory/CertificateWeights.v. Written by {}. *)\n",
      source.file, source.sha256, source.layout, numeric::to_string(head.scale), softmax ? "softmax" : "ReLU",
      length, head.content, source.program);
  text += fmt::format(
      "From Coq Require Import Reals ZArith List.\n"
      "From Sinkproof Require Import {}.\n"
      "Import ListNotations.\nOpen Scope R_scope.\n\n"
      "(** ** The weights: rows of integers, and the power of 2 that multiplies them *)\n\n",
      fmt::join(modules_of(parts), " "));
  text += definition_of("query_weights", head.query) + definition_of("key_weights", head.key) +
          definition_of("value_weights", head.value) + definition_of("output_weights", head.output);
  text += fmt::format(
      "Definition trained_head : weights := {{|\n"
      "  W_Q := query_weights; W_K := key_weights; W_V := value_weights; W_O := output_weights;\n"
      "  scale_numerator := {}; scale_denominator := {} |}}.\n\n"
      "(** ** The checks *)\n\n",
      boost::multiprecision::numerator(head.scale).str(),
      boost::multiprecision::denominator(head.scale).str());
  for (const CertificatePart& part : parts) text += part.text + "\n";

  text += "(** ** The statement *)\n\n";
  std::string statement, proof;
  for (const CertificatePart* part : best_parts(parts)) {
    statement +=
        (statement.empty() ? "  " : " /\\\n  ") + coq_statement(*part, normaliser, length, head.content);
    proof += (proof.empty() ? "" : " ") + part->theorem;
  }
  const std::size_t count = best_parts(parts).size();
  text += fmt::format("Theorem certificate :\n{}.\nProof. {} Qed.\n", statement,
                      count == 1 ? "exact " + proof + "." : "exact (conj " + proof + ").");
  return text;
}

std::vector<TheoryFile> theory_files(const std::vector<CertificatePart>& parts) {
  // Backwards: what a file that is needed requires stands before it.
  std::vector<TheoryFile> files = coq_theory::files();
  std::set<std::string> needed = modules_of(parts);
  std::vector<TheoryFile> result;
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    if (!needed.contains(std::string(file->name.substr(0, file->name.size() - 2)))) continue;
    result.push_back(*file);
    std::istringstream lines{std::string(file->text)};
    for (std::string line; std::getline(lines, line);) {
      constexpr std::string_view start = "From Sinkproof Require Import ";
      if (!line.starts_with(start)) continue;
      std::istringstream names(line.substr(start.size(), line.rfind('.') - start.size()));
      for (std::string name; names >> name;) needed.insert(name);
    }
  }
  std::reverse(result.begin(), result.end());
  return result;
}

std::vector<std::string> listed_axioms() {
  std::set<std::string> axioms;
  std::istringstream lines{std::string(coq_theory::assumptions())};
  std::string theorem, axiom;
  while (lines >> theorem >> axiom) {
    if (axiom != "none") axioms.insert(axiom);
  }
  return {axioms.begin(), axioms.end()};
}

}  // namespace sinkproof::certify
