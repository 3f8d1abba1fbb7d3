(** * Row B5 of section 6: two residual layers *)
From Coq Require Import Reals Lra Lia Arith List.
From Sinkproof Require Import Sums Task Rows BoundaryModels.
Import ListNotations.
Open Scope R_scope.

(** The weight b_k of the tokens 2 <= k < j in layer 1 at the trigger j. *)
Definition b5_b (v : R) (j : nat) : R := (1 - / (v * INR (j - 1))) / INR (j - 2).

(** Layer 1: off trigger each position attends to itself; at the trigger the weight
    is 1/(v(j-1)) on the trigger and the rest is equal on 2..j-1. *)
Definition b5_attention1 (v : R) : attention := fun I i k =>
  if (i =? trig I)%nat then
    if (k =? i)%nat then / (v * INR (i - 1))
    else if ((2 <=? k) && (k <? i))%nat%bool then b5_b v i else 0
  else if (k =? i)%nat then 1 else 0.

(** Layer 2: off trigger each position attends to itself; at the trigger the weight
    is 1/v on BOS, 0 on the trigger and b_k - 1/(v(j-1)) on 2..j-1. *)
Definition b5_attention2 (v : R) : attention := fun I i k =>
  if (i =? trig I)%nat then
    if (k =? 1)%nat then / v
    else if ((2 <=? k) && (k <? i))%nat%bool then b5_b v i - / (v * INR (i - 1)) else 0
  else if (k =? i)%nat then 1 else 0.

(** Two residual layers of one head each, V_1 = v V_W and V_2 = -(v/(1+v)) V_W. *)
Definition b5_model (d : nat) (v : R) : seqmap :=
  residual_stack d [[(b5_attention1 v, mscal v VW0)]; [(b5_attention2 v, mscal (- (v / (1 + v))) VW0)]].

(** A row with weights f on 1..j: first, middle, last. *)
Lemma row_parts f j : (3 <= j)%nat -> bsum 1 j f = f 1%nat + bsum 2 (j - 1) f + f j.
Proof.
  intros Hj. destruct j as [|p]; [lia|]. replace (S p - 1)%nat with p by lia.
  rewrite bsum_last, bsum_first by lia. reflexivity.
Qed.

Lemma b5_mid1 v I k : (3 <= trig I)%nat -> (2 <= k <= trig I - 1)%nat ->
  b5_attention1 v I (trig I) k = b5_b v (trig I).
Proof.
  intros Hj Hk. unfold b5_attention1. rewrite Nat.eqb_refl.
  destruct (Nat.eqb_spec k (trig I)); [lia|].
  destruct (Nat.leb_spec 2 k), (Nat.ltb_spec k (trig I)); try lia. reflexivity.
Qed.

Lemma b5_mid2 v I k : (3 <= trig I)%nat -> (2 <= k <= trig I - 1)%nat ->
  b5_attention2 v I (trig I) k = b5_b v (trig I) - / (v * INR (trig I - 1)).
Proof.
  intros Hj Hk. unfold b5_attention2. rewrite Nat.eqb_refl.
  destruct (Nat.eqb_spec k 1); [lia|].
  destruct (Nat.leb_spec 2 k), (Nat.ltb_spec k (trig I)); try lia. reflexivity.
Qed.

Lemma b5_ends1 v I : (3 <= trig I)%nat ->
  b5_attention1 v I (trig I) 1%nat = 0 /\ b5_attention1 v I (trig I) (trig I) = / (v * INR (trig I - 1)).
Proof.
  intros Hj. unfold b5_attention1. rewrite !Nat.eqb_refl.
  destruct (Nat.eqb_spec 1 (trig I)); [lia|]. split; reflexivity.
Qed.

Lemma b5_ends2 v I : (3 <= trig I)%nat ->
  b5_attention2 v I (trig I) 1%nat = / v /\ b5_attention2 v I (trig I) (trig I) = 0.
Proof.
  intros Hj. unfold b5_attention2. rewrite !Nat.eqb_refl.
  destruct (Nat.eqb_spec (trig I) 1); [lia|]. rewrite Nat.ltb_irrefl, Bool.andb_false_r. split; reflexivity.
Qed.

Lemma b5_off1 v I i k : i <> trig I -> b5_attention1 v I i k = if (k =? i)%nat then 1 else 0.
Proof. intros H. unfold b5_attention1. destruct (Nat.eqb_spec i (trig I)); [contradiction|reflexivity]. Qed.

Lemma b5_off2 v I i k : i <> trig I -> b5_attention2 v I i k = if (k =? i)%nat then 1 else 0.
Proof. intros H. unfold b5_attention2. destruct (Nat.eqb_spec i (trig I)); [contradiction|reflexivity]. Qed.

(** Facts about the weights: 0 <= 1/(v(j-1)) <= b_k, with the total they must have. *)
Lemma b5_numbers v j : 1 <= v -> (3 <= j)%nat ->
  0 < INR (j - 2) /\ INR (j - 1) = INR (j - 2) + 1 /\ 0 < / (v * INR (j - 1)) <= b5_b v j /\
  INR (j - 2) * b5_b v j = 1 - / (v * INR (j - 1)).
Proof.
  intros Hv Hj. assert (Hm : 0 < INR (j - 2)) by (apply lt_0_INR; lia).
  assert (E : INR (j - 1) = INR (j - 2) + 1).
  { replace (j - 1)%nat with (S (j - 2)) by lia. apply S_INR. }
  assert (Hp : 1 * INR (j - 1) <= v * INR (j - 1)) by (apply Rmult_le_compat_r; lra).
  split; [assumption|]. split; [assumption|].
  assert (E2 : INR (j - 2) * b5_b v j = 1 - / (v * INR (j - 1))) by (unfold b5_b; field; lra).
  split; [|assumption]. split; [apply Rinv_0_lt_compat; lra|].
  apply Rmult_le_reg_l with (INR (j - 2)); [assumption|]. rewrite E2.
  apply Rmult_le_reg_r with (v * INR (j - 1)); [lra|].
  rewrite Rmult_assoc, Rinv_l by lra. rewrite Rmult_minus_distr_r, Rinv_l by lra. lra.
Qed.

(** A row that attends to itself is normalised and causal. *)
Lemma self_row i : (1 <= i)%nat ->
  (forall k : nat, 0 <= if (k =? i)%nat then 1 else 0) /\
  (forall k, (i < k)%nat -> (if (k =? i)%nat then 1 else 0) = 0) /\
  bsum 1 i (fun k => if (k =? i)%nat then 1 else 0) = 1.
Proof.
  intros Hi. split; [intros k; destruct (k =? i)%nat; lra|]. split.
  - intros k Hk. destruct (Nat.eqb_spec k i); [lia|reflexivity].
  - apply (bsum_indicator 1 i i (fun _ => 1)). lia.
Qed.

Lemma b5_normalised1 L d v : 1 <= v -> normalised_causal L d (b5_attention1 v).
Proof.
  intros Hv I [Hj _] i Hi. destruct (Nat.eq_dec i (trig I)) as [->|Hne].
  - destruct (b5_numbers v (trig I) Hv ltac:(lia)) as [Hm [E [Hb E2]]]. split; [|split].
    + intros k Hk. unfold b5_attention1. rewrite Nat.eqb_refl.
      destruct (k =? trig I)%nat; [lra|]. destruct (_ && _)%bool; lra.
    + intros k Hk. unfold b5_attention1. rewrite Nat.eqb_refl.
      destruct (Nat.eqb_spec k (trig I)); [lia|]. destruct (Nat.ltb_spec k (trig I)); [lia|].
      rewrite Bool.andb_false_r. reflexivity.
    + rewrite row_parts by lia. destruct (b5_ends1 v I ltac:(lia)) as [-> ->].
      rewrite (bsum_ext 2 _ _ (fun _ => b5_b v (trig I))) by (intros; apply b5_mid1; lia).
      rewrite bsum_const. replace (S (trig I - 1) - 2)%nat with (trig I - 2)%nat by lia. lra.
  - destruct (self_row i ltac:(lia)) as [H1 [H2 H3]]. split; [|split].
    + intros k _. rewrite b5_off1 by assumption. apply H1.
    + intros k Hk. rewrite b5_off1 by assumption. apply H2. lia.
    + etransitivity; [|exact H3]. apply bsum_ext. intros. apply b5_off1. assumption.
Qed.

Lemma b5_normalised2 L d v : 1 <= v -> normalised_causal L d (b5_attention2 v).
Proof.
  intros Hv I [Hj _] i Hi. destruct (Nat.eq_dec i (trig I)) as [->|Hne].
  - destruct (b5_numbers v (trig I) Hv ltac:(lia)) as [Hm [E [Hb E2]]].
    assert (Hiv : 0 < / v) by (apply Rinv_0_lt_compat; lra). split; [|split].
    + intros k Hk. unfold b5_attention2. rewrite Nat.eqb_refl.
      destruct (k =? 1)%nat; [lra|]. destruct (_ && _)%bool; lra.
    + intros k Hk. unfold b5_attention2. rewrite Nat.eqb_refl.
      destruct (Nat.eqb_spec k 1); [lia|]. destruct (Nat.ltb_spec k (trig I)); [lia|].
      rewrite Bool.andb_false_r. reflexivity.
    + rewrite row_parts by lia. destruct (b5_ends2 v I ltac:(lia)) as [-> ->].
      rewrite (bsum_ext 2 _ _ (fun _ => b5_b v (trig I) - / (v * INR (trig I - 1))))
        by (intros; apply b5_mid2; lia).
      rewrite bsum_const. replace (S (trig I - 1) - 2)%nat with (trig I - 2)%nat by lia.
      rewrite Rmult_minus_distr_l, E2, E. field. lra.
  - destruct (self_row i ltac:(lia)) as [H1 [H2 H3]]. split; [|split].
    + intros k _. rewrite b5_off2 by assumption. apply H1.
    + intros k Hk. rewrite b5_off2 by assumption. apply H2. lia.
    + etransitivity; [|exact H3]. apply bsum_ext. intros. apply b5_off2. assumption.
Qed.

Lemma mv_VW0_token d I k r : (r < d + 3)%nat ->
  mv d VW0 (token d I k) r = if (k =? 1)%nat then 0 else token d I k r.
Proof.
  intros Hr. destruct (Nat.eqb_spec k 1) as [->|Hk].
  - rewrite mv_bos. reflexivity.
  - apply mv_identity_on_W; [apply VW0_identity|assumption|assumption].
Qed.

(** The state after layer 1. *)
Definition b5_state (d : nat) (v : R) : seqmap :=
  residual_layer d [(b5_attention1 v, mscal v VW0)] (token d).

Lemma b5_state_off d v I k r : (1 <= k)%nat -> k <> trig I -> (r < d + 3)%nat ->
  b5_state d v I k r = if (k =? 1)%nat then token d I k r else (1 + v) * token d I k r.
Proof.
  intros Hk Hne Hr. unfold b5_state, residual_layer, multi_layer. simpl fold_right.
  rewrite layer_mscal. unfold layer.
  rewrite (bsum_ext 1 k _ (fun l => if (l =? k)%nat then mv d VW0 (token d I l) r else 0)).
  - rewrite bsum_indicator, mv_VW0_token by (lia || assumption). destruct (k =? 1)%nat; ring.
  - intros l Hl. rewrite b5_off1 by assumption. destruct (l =? k)%nat; ring.
Qed.

Lemma b5_state_VW0 d v I k r : (1 <= k)%nat -> k <> trig I -> (r < d + 3)%nat ->
  mv d VW0 (b5_state d v I k) r = if (k =? 1)%nat then 0 else (1 + v) * token d I k r.
Proof.
  intros Hk Hne Hr. rewrite mv_VW0, b5_state_off by assumption.
  destruct (Nat.eqb_spec k 1) as [->|Hk1].
  - rewrite token_bos. destruct (r =? 0)%nat; reflexivity.
  - destruct (Nat.eqb_spec r 0) as [->|Hr0]; [rewrite token_B by assumption; ring|reflexivity].
Qed.

Lemma b5_state_at d v I r : 1 <= v -> (3 <= trig I)%nat -> (r < d + 3)%nat ->
  b5_state d v I (trig I) r =
  token d I (trig I) r + v * (b5_b v (trig I) * bsum 2 (trig I - 1) (fun k => token d I k r)) +
  / INR (trig I - 1) * token d I (trig I) r.
Proof.
  intros Hv Hj Hr. destruct (b5_numbers v (trig I) Hv Hj) as [Hm [E _]].
  unfold b5_state, residual_layer, multi_layer. simpl fold_right.
  rewrite layer_mscal. unfold layer. rewrite row_parts by assumption.
  destruct (b5_ends1 v I Hj) as [-> ->]. rewrite !mv_VW0_token by assumption.
  destruct (Nat.eqb_spec (trig I) 1); [lia|].
  rewrite (bsum_ext 2 _ _ (fun k => b5_b v (trig I) * token d I k r)).
  - rewrite bsum_scal. field. lra.
  - intros k Hk. rewrite b5_mid1, mv_VW0_token by (lia || assumption).
    destruct (Nat.eqb_spec k 1); [lia|reflexivity].
Qed.

Lemma b5_exact L d v I i r : 1 <= v -> is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat ->
  b5_model d v I i r = residual_target d I i r.
Proof.
  intros Hv [Hj _] Hi Hr.
  change (b5_model d v I i r) with
    (b5_state d v I i r + (layer d (b5_attention2 v) (mscal (- (v / (1 + v))) VW0) (b5_state d v) I i r + 0)).
  rewrite layer_mscal. unfold layer, residual_target.
  destruct (Nat.eq_dec i (trig I)) as [->|Hne].
  - destruct (b5_numbers v (trig I) Hv ltac:(lia)) as [Hm [E _]].
    rewrite b5_state_at, row_parts by (assumption || lia).
    destruct (b5_ends2 v I ltac:(lia)) as [-> ->].
    rewrite b5_state_VW0 by (assumption || lia). simpl (1 =? 1)%nat. cbv iota.
    rewrite (bsum_ext 2 _ (fun k => b5_attention2 v I (trig I) k * mv d VW0 (b5_state d v I k) r)
      (fun k => (b5_b v (trig I) - / (v * INR (trig I - 1))) * ((1 + v) * token d I k r))).
    2:{ intros k Hk. rewrite b5_mid2, b5_state_VW0 by (lia || assumption).
        destruct (Nat.eqb_spec k 1); [lia|reflexivity]. }
    rewrite bsum_scal, bsum_scal, target_at.
    replace (bsum 2 (trig I) (fun k => token d I k r))
      with (bsum 2 (trig I - 1) (fun k => token d I k r) + token d I (trig I) r).
    2:{ destruct (trig I) as [|p]; [lia|]. replace (S p - 1)%nat with p by lia.
        rewrite (bsum_last 2 p) by lia. reflexivity. }
    field. split; lra.
  - rewrite target_off by assumption.
    rewrite (bsum_ext 1 i _ (fun k => if (k =? i)%nat then mv d VW0 (b5_state d v I k) r else 0)).
    2:{ intros k Hk. rewrite b5_off2 by assumption. destruct (k =? i)%nat; ring. }
    rewrite bsum_indicator, b5_state_off, b5_state_VW0 by (assumption || lia).
    destruct (i =? 1)%nat; [ring|field; lra].
Qed.

(** B5. With a residual stream: two residual layers with normalised causal
    attention, V_1 = v V_W, V_2 = -(v/(1+v)) V_W, give x_i + y_i exactly, for every
    v >= 1. Every BOS weight at a position i >= 2 is 0, except 1/v in layer 2 at
    the trigger. *)
Theorem b5 (L d : nat) (v : R) : (4 <= L)%nat -> 1 <= v ->
  normalised_causal L d (b5_attention1 v) /\
  normalised_causal L d (b5_attention2 v) /\
  (forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
     sink_weight (b5_attention1 v) I i = 0 /\ sink_weight (b5_attention2 v) I i = 0) /\
  (forall I, is_instance L d I ->
     sink_weight (b5_attention1 v) I (trig I) = 0 /\ sink_weight (b5_attention2 v) I (trig I) = 1 / v) /\
  (forall I i r, is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat ->
     b5_model d v I i r = residual_target d I i r) /\
  worst_case_loss L d (residual_target d) (b5_model d v) 0.
Proof.
  intros HL Hv. split; [apply b5_normalised1; assumption|]. split; [apply b5_normalised2; assumption|].
  split; [|split; [|split]].
  - intros I i HI Hi Hne. unfold sink_weight. rewrite b5_off1, b5_off2 by assumption.
    destruct (Nat.eqb_spec 1 i); [lia|]. split; reflexivity.
  - intros I [Hj _]. unfold sink_weight. destruct (b5_ends1 v I ltac:(lia)) as [-> _].
    destruct (b5_ends2 v I ltac:(lia)) as [-> _]. unfold Rdiv. split; ring.
  - intros. apply (b5_exact L); assumption.
  - apply (worst_case_loss_attained L d _ _ 0 (zero_instance 3) 1%nat 0%nat).
    + intros I HI i r Hi Hr. rewrite (b5_exact L) by assumption. rewrite Rminus_eq_0, Rabs_R0. lra.
    + apply zero_instance_ok. lia.
    + lia.
    + lia.
    + rewrite (b5_exact L); [rewrite Rminus_eq_0; apply Rabs_R0|assumption|apply zero_instance_ok; lia|lia|lia].
Qed.
