#include "certify/coq_certificate.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>

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

/// A part whose checker has the arguments L d head EXTRA num den.
CertificatePart leak_part(const std::string& level, const std::string& title, int length, int content,
                          const std::string& extra, const Fraction& bound) {
  const std::string name = "leak_by_" + level;
  const std::string arguments =
      fmt::format("{} {} trained_head{} {} {}", length, content, extra.empty() ? "" : " " + extra,
                  bound.numerator.str(), bound.denominator.str());
  const std::string holes = extra.empty() ? "_ _" : "_ _ _";
  return {.level = level,
          .quantity = Quantity::leak,
          .bound = bound,
          .theorem = name + "_holds",
          .modules = {"CertificateLeak"},
          .text = fmt::format("(** {} *)\n"
                              "Lemma {}_checked :\n  {} {} = true.\n"
                              "Proof. vm_cast_no_check (eq_refl true). Qed.\n\n"
                              "Theorem {}_holds : leak_at_most {} {} trained_head ({}).\n"
                              "Proof. exact ({}_sound {} trained_head {} {} {}_checked). Qed.\n",
                              title, name, name, arguments, name, length, content, ratio(bound), name,
                              content, length, holes, name)};
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
  std::vector<CertificatePart> parts;
  if (normaliser == Normaliser::softmax) {
    if (const auto leak = coq_leak_by_sums(head, length)) {
      parts.push_back(
          leak_part("sums", "The leak, by sums of absolute values.", length, head.content, "", *leak));
    }
    if (head.content <= coq_vertex_limit) {
      if (const auto found = coq_leak_by_vertices(head, length)) {
        parts.push_back(leak_part("vertices", "The leak, by the vertices of the query's content.", length,
                                  head.content, z(found->threshold), found->leak));
      }
    }
    if (parts.empty()) parts.push_back(trivial_leak(length, head.content));
  }
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

std::string coq_statement(const CertificatePart& part, int length, int content) {
  switch (part.quantity) {
    case Quantity::leak:
      return fmt::format(
          "(forall I i, is_instance {0} {1} I -> (2 <= i <= {0})%nat -> i <> trig I ->\n"
          "     leak (softmax_attention_of {1} trained_head) I i <= {2})",
          length, content, ratio(part.bound));
    case Quantity::weight_off_trigger:
      return fmt::format(
          "(forall I i k, is_instance {0} {1} I -> (2 <= i <= {0})%nat -> i <> trig I -> (2 <= k <= i)%nat "
          "->\n"
          "     relu_attention_of {1} trained_head I i k <= {2})",
          length, content, ratio(part.bound));
    case Quantity::loss:
      break;
  }
  return fmt::format(
      "(forall Lambda, worst_case_loss {0} {1} (target {1}) ({3}_head_of {1} trained_head) Lambda ->\n"
      "     Lambda <= {2})",
      length, content, ratio(part.bound), "softmax");
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
  std::set<std::string> modules{"Task", "CertificateWeights"};
  for (const CertificatePart& part : parts) modules.insert(part.modules.begin(), part.modules.end());
  text += fmt::format(
      "From Coq Require Import Reals ZArith List.\n"
      "From Sinkproof Require Import {}.\n"
      "Import ListNotations.\nOpen Scope R_scope.\n\n"
      "(** ** The weights: rows of integers, and the power of 2 that multiplies them *)\n\n",
      fmt::join(modules, " "));
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
    statement += (statement.empty() ? "  " : " /\\\n  ") + coq_statement(*part, length, head.content);
    proof += (proof.empty() ? "" : " ") + part->theorem;
  }
  const std::size_t count = best_parts(parts).size();
  text += fmt::format("Theorem certificate :\n{}.\nProof. {} Qed.\n", statement,
                      count == 1 ? "exact " + proof + "." : "exact (conj " + proof + ").");
  return text;
}

const std::vector<TheoryFile>& theory_files() {
  static const std::vector<TheoryFile> files = coq_theory::files();
  return files;
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
