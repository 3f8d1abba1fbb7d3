(** * The constants of the statements as rational functions of rational parameters.

    These definitions compute. [check-constants] evaluates them and compares them with what
    the program prints; ConstantsCorrect proves, by the theorems themselves, that they are
    the constants of the statements. *)
From Coq Require Import QArith Qminmax Arith.
Open Scope Q_scope.

(** A natural number as a rational. *)
Definition Qnat (n : nat) : Q := inject_Z (Z.of_nat n).

(** ** Theorem 1 *)
Definition kappa_Q (L : nat) : Q := (Qnat L - 3) / (4 * (Qnat L - 1)).
Definition leak_bound_Q (L : nat) (eta : Q) : Q := eta / (kappa_Q L - eta).
Definition sink_weight_bound_Q (L : nat) (eta : Q) : Q := 1 - leak_bound_Q L eta.
Definition loss_needed_Q (L : nat) (eps : Q) : Q := kappa_Q L * eps / (1 + eps).

(** ** Proposition 1s *)
Definition sharp_leak_Q (eta : Q) : Q := 4 * eta / (1 + 2 * eta).
Definition sharp_leak_before_Q (eta : Q) : Q := 2 * eta / (1 + eta).

(** ** Theorem 1' *)
Definition length_ratio_Q (L : nat) : Q := (Qnat L - 1) / (Qnat L - 3).
Definition U0_Q (L d : nat) : Q := 2 * Qnat d + 2 * length_ratio_Q L * (1 + 4 * Qnat d).
Definition error_threshold_Q (L d : nat) (eps : Q) : Q := eps / (2 * U0_Q L d * (1 + eps)).
Definition expected_loss_needed_Q (L d : nat) (eps delta : Q) : Q :=
  error_threshold_Q L d eps * Qmin delta (1 / ((Qnat d + 1) * (Qnat L - 2) + 1)).
(** A t that meets (i) and (ii), and the leak that the direct form gives with it. *)
Definition threshold_for_Q (L d : nat) (eta delta : Q) : Q :=
  eta * Qmax (1 / delta) ((Qnat d + 1) * (Qnat L - 2) + 1).
Definition probable_leak_Q (L d : nat) (eta delta : Q) : Q :=
  2 * U0_Q L d * threshold_for_Q L d eta delta / (1 - 2 * U0_Q L d * threshold_for_Q L d eta delta).

(** ** Theorem 2: x is between the ends of an enclosure of the root of x^D = eps *)
Definition encloses_root (D : nat) (eps lower upper : Q) : bool :=
  Qle_bool 0 lower && Qle_bool (lower ^ Z.of_nat D) eps && Qle_bool eps (upper ^ Z.of_nat D).

(** ** Proposition 4 *)
(** The largest sum of non-BOS tokens off trigger: without content the trigger counts 0. *)
Definition loudest (L d : nat) : Q := if (d =? 0)%nat then Qnat L - 2 else Qnat L - 1.
Definition softmax_loss_Q (L d : nat) (q : Q) : Q := loudest L d / (q + loudest L d).
Definition least_q_Q (L d : nat) (eta : Q) : Q := loudest L d * (1 - eta) / eta.
Definition least_sink_weight_Q (L : nat) (q : Q) : Q := q / (q + Qnat L - 1).

(** ** Corollary 5: the odds (1-eps)/eps for eps = eta/(kappa_L - eta) *)
Definition odds_Q (L : nat) (eta : Q) : Q := (1 - leak_bound_Q L eta) / leak_bound_Q L eta.

(** ** Boundary rows: a bound on the loss, and the largest BOS weight off trigger (at i = 2) *)
Definition b1_loss_Q (L : nat) (q : Q) : Q :=
  1 / (1 + (Qnat L - 1) * q) + (Qnat L - 1) / (q + (Qnat L - 1)).
Definition uniform_weight_Q : Q := 1 / 2.
(** B4 with w = e^b; B2 is w = 1. *)
Definition b4_loss_Q (L : nat) (w q : Q) : Q :=
  Qmax ((Qnat L - 1) / (w * q + Qnat L)) (1 - 2 * q / (w + 1 / q + 2 * q)).
Definition b4_weight_Q (w q : Q) : Q := 1 / (w * q + 2).
Definition b2_loss_Q (L : nat) (q : Q) : Q :=
  Qmax ((Qnat L - 1) / (q + Qnat L)) (1 - 2 * q / (1 + 1 / q + 2 * q)).
Definition b2_weight_Q (q : Q) : Q := 1 / (q + 2).
Definition b3_loss_Q (q : Q) : Q := (1 + 3 * q) / ((1 + q) * (1 + 2 * q)).
Definition b5_weight_at_trigger_Q (v : Q) : Q := 1 / v.
Definition b7_loss_Q (L : nat) (q : Q) : Q := Qnat L / (1 + 3 * q).
Definition b8_loss_Q (q : Q) : Q := 1 / (1 + q).
Definition b8_weight_Q (q : Q) : Q := 1 / (1 + q).
