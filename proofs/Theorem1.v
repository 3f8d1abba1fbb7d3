(** * Theorem 1: one head, worst-case loss. *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task Theorem1Core Theorem1Row.
Open Scope R_scope.

(** kappa_L = (L-3) / (4 (L-1)). *)
Definition kappa (L : nat) : R := (INR L - 3) / (4 * (INR L - 1)).

(** w = 1/(L-1), the T coordinate of the target of the second probe. *)
Lemma w_facts L : (4 <= L)%nat ->
  0 < / INR (L - 1) /\ / INR (L - 1) <= 1 / 3 /\ kappa L = (1 - 2 * / INR (L - 1)) / 4.
Proof.
  intros HL. assert (H : INR (L - 1) = INR L - 1) by (rewrite minus_INR by lia; simpl; ring).
  assert (H4 : 4 <= INR L) by (replace 4 with (INR 4) by (simpl; ring); apply le_INR; lia).
  rewrite H. split; [apply Rinv_0_lt_compat; lra|]. split.
  - replace (1 / 3) with (/ 3) by field. apply Rinv_le_contravar; lra.
  - unfold kappa. field. lra.
Qed.

Lemma kappa_pos L : (4 <= L)%nat -> 0 < kappa L <= / 4.
Proof. intros HL. destruct (w_facts L HL) as [H1 [H2 H3]]. lra. Qed.

(** Theorem 1 for a bound on every error. *)
Theorem theorem_1_pointwise (L d : nat) (a : attention) (V : mat) (eta : R) :
  (4 <= L)%nat -> normalised_causal L d a ->
  loss_at_most L d (target d) (head d a V) eta -> eta < kappa L / 2 ->
  forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
  leak a I i <= eta / (kappa L - eta).
Proof.
  intros HL Ha Hl He I i HI Hi Hne.
  destruct (w_facts L HL) as [Hw0 [Hw Hk]].
  assert (He0 : 0 <= eta).
  { apply Rle_trans with (Rabs (V 0%nat 0%nat)); [apply Rabs_pos|].
    apply (bos_value L d a); (assumption || lia). }
  assert (Hi1 : (1 <= i <= L)%nat) by lia.
  destruct (ordinary_barycentre L d a I i Ha HI Hi1) as [xbar [Hx1 Hx2]].
  set (tbar := cont I (trig I)).
  assert (Ht : forall m, (m < d)%nat -> -1 <= tbar m <= 1).
  { intros m Hm. destruct HI as [Hj Hc]. apply Hc; lia. }
  (* the row, the probe with trigger at 3 and the probe with trigger at L *)
  assert (RN := off_trigger_row L d a V eta I i xbar (d + 2) Ha Hl HI Hi1 Hne ltac:(lia) Hx2).
  assert (RT := off_trigger_row L d a V eta I i xbar 1 Ha Hl HI Hi1 Hne ltac:(lia) Hx2).
  destruct (probe_row L d a V eta 3 xbar tbar (d + 2) ltac:(lia) Ha Hl Hx1 Ht ltac:(lia))
    as [P1 [Q1 [S1 N1]]].
  destruct (probe_row L d a V eta 3 xbar tbar 1 ltac:(lia) Ha Hl Hx1 Ht ltac:(lia))
    as [_ [_ [_ T1]]].
  destruct (probe_row L d a V eta L xbar tbar (d + 2) ltac:(lia) Ha Hl Hx1 Ht ltac:(lia))
    as [P2 [Q2 [S2 N2]]].
  destruct (probe_row L d a V eta L xbar tbar 1 ltac:(lia) Ha Hl Hx1 Ht ltac:(lia))
    as [_ [_ [_ T2]]].
  assert (O1 : is_instance L d (probe 3 xbar tbar)) by (apply probe_ok; (assumption || lia)).
  assert (O2 : is_instance L d (probe L xbar tbar)) by (apply probe_ok; (assumption || lia)).
  assert (Y1 := target_N L d _ O1). assert (Z1 := target_T L d _ O1).
  assert (Y2 := target_N L d _ O2). assert (Z2 := target_T L d _ O2).
  cbn [trig probe] in Y1, Z1, Y2, Z2. rewrite Y1 in N1. rewrite Z1 in T1.
  rewrite Y2 in N2. rewrite Z2 in T2. clear Y1 Z1 Y2 Z2 O1 O2.
  replace (INR (3 - 1)) with 2 in N1, T1 by (simpl; ring).
  replace (1 - / 2) with (1 / 2) in N1 by field. replace (/ 2) with (1 / 2) in T1 by field.
  rewrite <- (mass_split L d a I i Ha HI Hi1) in *.
  assert (Hm := leak_range L d a I i Ha HI Hi1). rewrite <- (mass_split L d a I i Ha HI Hi1) in Hm.
  assert (HP := ordinary_mass_pos L d a I i Ha HI Hi1).
  assert (HQ := trigger_mass_pos L d a I i Ha HI Hi1).
  fold tbar in RN, RT.
  assert (C := core (/ INR (L - 1)) eta _ _ _ _ _ _ _ _ _ _ Hw0 Hw He0 ltac:(lra) HP HQ
                 ltac:(lra) P1 Q1 S1 P2 Q2 S2 RN RT N1 T1 N2 T2).
  apply Rmult_le_reg_r with (kappa L - eta); [lra|].
  unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. rewrite Hk. lra.
Qed.

(** First form: if the worst-case loss of a head with normalised causal attention
    is at most eta < kappa_L / 2, then on every instance the mass off BOS is at most
    eta / (kappa_L - eta) at every non-trigger position i >= 2. *)
Theorem theorem_1_leak (L d : nat) (a : attention) (V : mat) (Lambda eta : R) :
  (4 <= L)%nat -> normalised_causal L d a ->
  worst_case_loss L d (target d) (head d a V) Lambda -> Lambda <= eta -> eta < kappa L / 2 ->
  forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
  leak a I i <= eta / (kappa L - eta).
Proof.
  intros HL Ha HLam Hle He. apply (theorem_1_pointwise L d a V); try assumption.
  apply (proj1 (worst_case_loss_le _ _ _ _ _ _ HLam)). assumption.
Qed.

(** Second form: if 0 < eps < 1 and the worst-case loss is at most
    kappa_L eps / (1 + eps), then every sink weight at a non-trigger position
    i >= 2 is at least 1 - eps. *)
Theorem theorem_1_sinks (L d : nat) (a : attention) (V : mat) (Lambda eps : R) :
  (4 <= L)%nat -> normalised_causal L d a ->
  worst_case_loss L d (target d) (head d a V) Lambda ->
  0 < eps < 1 -> Lambda <= kappa L * eps / (1 + eps) ->
  forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
  1 - eps <= sink_weight a I i.
Proof.
  intros HL Ha HLam Heps Hle I i HI Hi Hne. assert (Hk := kappa_pos L HL).
  assert (H : leak a I i <= (kappa L * eps / (1 + eps)) / (kappa L - kappa L * eps / (1 + eps))).
  { apply (theorem_1_leak L d a V Lambda); try assumption.
    apply Rmult_lt_reg_r with (1 + eps); [lra|].
    unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra.
    assert (kappa L * eps < kappa L * 1) by (apply Rmult_lt_compat_l; lra). lra. }
  replace ((kappa L * eps / (1 + eps)) / (kappa L - kappa L * eps / (1 + eps))) with eps in H
    by (field; lra).
  unfold leak in H. lra.
Qed.

(** Theorem 1. Let a head with normalised causal attention have worst-case loss Lambda.
    If Lambda <= eta < kappa_L / 2, then on every instance and at every non-trigger position
    i >= 2 the leak (the mass not on BOS) is at most eta / (kappa_L - eta).
    If 0 < eps < 1 and Lambda <= kappa_L eps / (1 + eps), then every sink weight (the mass on
    BOS) at a non-trigger position i >= 2 is at least 1 - eps. *)
Theorem theorem_1 (L d : nat) (a : attention) (V : mat) (Lambda : R) :
  (4 <= L)%nat -> normalised_causal L d a ->
  worst_case_loss L d (target d) (head d a V) Lambda ->
  (forall eta, Lambda <= eta -> eta < kappa L / 2 ->
   forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
   leak a I i <= eta / (kappa L - eta)) /\
  (forall eps, 0 < eps < 1 -> Lambda <= kappa L * eps / (1 + eps) ->
   forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
   1 - eps <= sink_weight a I i).
Proof.
  intros HL Ha HLam. split; intros.
  - apply (theorem_1_leak L d a V Lambda); assumption.
  - apply (theorem_1_sinks L d a V Lambda); assumption.
Qed.

(** Its instance for softmax heads with bilinear scores x_i^T A x_k. *)
Theorem theorem_1_softmax (L d : nat) (A V : mat) (Lambda : R) :
  (4 <= L)%nat -> worst_case_loss L d (target d) (softmax_head d A V) Lambda ->
  let a := softmax (bilinear d A (token d)) in
  (forall eta, Lambda <= eta -> eta < kappa L / 2 ->
   forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
   leak a I i <= eta / (kappa L - eta)) /\
  (forall eps, 0 < eps < 1 -> Lambda <= kappa L * eps / (1 + eps) ->
   forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
   1 - eps <= sink_weight a I i).
Proof.
  intros HL HLam a. apply (theorem_1 L d a V Lambda HL); [apply softmax_normalised_causal|exact HLam].
Qed.
