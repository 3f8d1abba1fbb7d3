# awk -f hygiene.awk FILE.v ...: prints what a finished development must not contain, and fails if there is any.
# Comments (nested) and strings do not count. Line numbers are kept.

function complain(what) {
  print FILENAME ":" FNR ": " what
  bad = 1
}

BEGIN {
  split("Admitted admit give_up Axiom Axioms Parameter Parameters Conjecture Abort bypass_check " \
        "Print Check Search SearchPattern SearchRewrite About Locate Compute Eval Show Unset Load Extraction Primitive", list, " ")
  for (i in list) forbidden[list[i]] = 1
  split("Hypothesis Hypotheses Variable Variables Context", local, " ")
  for (i in local) needs_section[local[i]] = 1
}

FNR == 1 {
  if (comment > 0) { print previous ": a comment does not end"; bad = 1 }
  comment = 0; string = 0; sections = 0; previous = FILENAME
}
FNR == 601 { complain("more than 600 lines") }

{
  code = ""
  n = length($0)
  for (i = 1; i <= n; i++) {
    c = substr($0, i, 1)
    two = substr($0, i, 2)
    if (string) { if (c == "\"") string = 0 }
    else if (c == "\"") { string = 1; code = code " " }
    else if (two == "(*") { comment++; i++; code = code " " }
    else if (two == "*)" && comment > 0) { comment--; i++; code = code " " }
    else if (comment == 0) code = code c
  }
  # `Definition x := Eval lazy in ...` and the like would be words too: none is used here, so any is a complaint.
  gsub(/[^A-Za-z0-9_'.]/, " ", code)
  gsub(/\./, " . ", code)
  count = split(code, word, " ")
  for (i = 1; i <= count; i++) {
    w = word[i]
    if (w == "Section") { sections++; open[word[i + 1]] = 1 }
    else if (w == "End" && word[i + 1] in open) sections--
    if (w in forbidden) complain("'" w "'")
    if (w in needs_section && sections <= 0) complain("'" w "' outside a section")
  }
}

END {
  if (comment > 0) { print previous ": a comment does not end"; bad = 1 }
  exit bad
}
