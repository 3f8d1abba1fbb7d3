#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention/model.hpp"
#include "certify/coq_leak.hpp"

/// The Coq text of a certificate: a theorem about one head, with its weights by name, that the proved
/// checkers of proofs/ establish. proofs/CERTIFICATES.md says what is trusted.
namespace sinkproof::certify {

/// What a bound is of; the final theorem states the best bound of each.
enum class Quantity { leak, weight_off_trigger, loss };

/// One level of one bound: Coq text that proves `theorem`, whose statement is `statement_of` the bound.
struct CertificatePart {
  std::string level;  ///< "sums", "vertices": for the report
  Quantity quantity = Quantity::leak;
  Fraction bound;
  std::string theorem;               ///< its name in the certificate
  std::vector<std::string> modules;  ///< of proofs/, that its text needs
  std::string text;                  ///< lemmas and the theorem, with their proofs
};

/// All parts that the proved checkers accept for these weights; of a softmax head's leak at least a trivial
/// one. A loss is left out where its exponentials are beyond all use.
std::vector<CertificatePart> certificate_parts(const CoqHead& head, attention::Normaliser normaliser,
                                               int length);

/// Of each quantity the part with the least bound (the first such), in the order of the final theorem.
std::vector<const CertificatePart*> best_parts(const std::vector<CertificatePart>& parts);

/// The statement of a bound in full, as the final theorem has it; lines after the first are indented by 2.
std::string coq_statement(const CertificatePart& part, attention::Normaliser normaliser, int length,
                          int content);

/// What the certificate's head comment says.
struct CertificateSource {
  std::string file, sha256, layout, program;  ///< name, hash and layout of the weights file; who wrote this
};

/// `Certificate.v`, a pure function of its arguments.
std::string certificate_text(const CoqHead& head, attention::Normaliser normaliser, int length,
                             const CertificateSource& source, const std::vector<CertificatePart>& parts);

/// A file of proofs/, as it was when the program was built.
struct TheoryFile {
  std::string_view name;  ///< "Task.v"
  std::string_view text;
};
/// What a certificate of these parts rests on, in an order in which coqc can compile it.
std::vector<TheoryFile> theory_files(const std::vector<CertificatePart>& parts);
/// The axioms that proofs/assumptions.txt lists.
std::vector<std::string> listed_axioms();

}  // namespace sinkproof::certify
