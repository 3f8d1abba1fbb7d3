(** * Heads that differ from the exact head in one row of one instance. *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task HeadVW.
Open Scope R_scope.

(** Sum of all absolute contents: zero exactly when all content is zero. *)
Definition content_size (L d : nat) (I : inst) : R :=
  bsum 2 L (fun k => bsum 1 d (fun m => Rabs (cont I k (m - 1)))).

Lemma content_size_zero L d I k m : content_size L d I = 0 ->
  (2 <= k <= L)%nat -> (m < d)%nat -> cont I k m = 0.
Proof.
  intros H Hk Hm. unfold content_size in H.
  assert (H1 := bsum_eq0 2 L (fun k => bsum 1 d (fun m => Rabs (cont I k (m - 1))))
                  ltac:(intros; apply bsum_nonneg; intros; apply Rabs_pos) H k Hk).
  cbv beta in H1.
  assert (H2 := bsum_eq0 1 d (fun m => Rabs (cont I k (m - 1))) ltac:(intros; apply Rabs_pos) H1 (S m) ltac:(lia)).
  cbv beta in H2. replace (S m - 1)%nat with m in H2 by lia.
  unfold Rabs in H2. destruct (Rcase_abs (cont I k m)); lra.
Qed.

Lemma content_size_of_zero L d j : content_size L d (zero_instance j) = 0.
Proof.
  apply bsum_zero_ext. intros k _. apply bsum_zero_ext. intros m _. apply Rabs_R0.
Qed.

(** The trigger is at 3 and all content is zero. *)
Definition special (L d : nat) (I : inst) : bool :=
  if (trig I =? 3)%nat then (if Req_EM_T (content_size L d I) 0 then true else false) else false.

Lemma special_token L d I k r : special L d I = true -> (1 <= k <= L)%nat -> (r < d + 3)%nat ->
  trig I = 3%nat /\ token d I k r = token d (zero_instance 3) k r.
Proof.
  unfold special. destruct (Nat.eqb_spec (trig I) 3) as [Hj|]; [|discriminate].
  destruct (Req_EM_T (content_size L d I) 0) as [Hc|]; [|discriminate].
  intros _ Hk Hr. split; [assumption|]. destruct (Nat.eq_dec k 1) as [->|Hk1]; [reflexivity|].
  destruct (coord_cases d r Hr) as [->|[->|[->|[m [Hm ->]]]]].
  - rewrite !token_B by assumption. reflexivity.
  - rewrite !token_T by assumption. rewrite Hj. reflexivity.
  - rewrite !token_N by assumption. rewrite Hj. reflexivity.
  - rewrite !token_C by assumption. rewrite (content_size_zero L d I k m) by (assumption || lia). reflexivity.
Qed.

Lemma special_zero_instance L d : special L d (zero_instance 3) = true.
Proof.
  unfold special. simpl. destruct (Req_EM_T (content_size L d (zero_instance 3)) 0) as [|H];
    [reflexivity|]. elim H. apply content_size_of_zero.
Qed.

(** Trigger rows uniform on 2 .. j; on the special instance row i0 is [row];
    all other rows rest on BOS. *)
Definition one_row_attention (L d i0 : nat) (row : nat -> R) : attention := fun I i k =>
  if (i =? trig I)%nat then uniform_row i k
  else if ((i =? i0)%nat && special L d I)%bool then row k
  else bos_row k.

Section OneRow.
Variables (L d i0 : nat) (row : nat -> R).
Hypothesis (Hi0 : (2 <= i0 <= L)%nat) (Hi3 : i0 <> 3%nat) (HL : (3 <= L)%nat).
Hypothesis (Hpos : forall k, 0 <= row k).
Hypothesis (Hcausal : forall k, (i0 < k)%nat -> row k = 0).
Hypothesis (Hsum : bsum 1 i0 row = 1).

Lemma one_row_normalised_causal : normalised_causal L d (one_row_attention L d i0 row).
Proof.
  intros I HI i Hi. unfold one_row_attention.
  destruct (Nat.eqb_spec i (trig I)) as [E|E].
  - assert (N := exact_attention_normalised_causal L d I HI i Hi).
    unfold exact_attention in N. rewrite E, Nat.eqb_refl in N. rewrite E. exact N.
  - destruct (Nat.eqb_spec i i0) as [Ei|Ei]; simpl; [destruct (special L d I)|].
    + rewrite Ei. split; [|split]; intros; try apply Hpos; [apply Hcausal; lia|exact Hsum].
    + assert (N := exact_attention_normalised_causal L d I HI i Hi).
      unfold exact_attention in N. destruct (Nat.eqb_spec i (trig I)); [contradiction|]. exact N.
    + assert (N := exact_attention_normalised_causal L d I HI i Hi).
      unfold exact_attention in N. destruct (Nat.eqb_spec i (trig I)); [contradiction|]. exact N.
Qed.

(** The leak of the special row. *)
Lemma one_row_leak : leak (one_row_attention L d i0 row) (zero_instance 3) i0 = 1 - row 1%nat.
Proof.
  unfold leak, sink_weight, one_row_attention. cbn [trig zero_instance].
  destruct (Nat.eqb_spec i0 3); [contradiction|].
  rewrite Nat.eqb_refl, special_zero_instance. reflexivity.
Qed.

(** All errors: zero at the trigger, |w| at positions that rest on BOS, and the
    error of the special row. *)
Lemma one_row_loss w eta : 0 <= eta ->
  (forall r, (r < d + 3)%nat -> Rabs (w r) <= eta) ->
  (forall r, (r < d + 3)%nat ->
     Rabs (row 1%nat * w r + bsum 2 i0 (fun k => row k * token d (zero_instance 3) k r)) <= eta) ->
  loss_at_most L d (target d) (head d (one_row_attention L d i0 row) (VW w)) eta.
Proof.
  intros He Hw Hrow I HI i r Hi Hr. assert (Hj := proj1 HI).
  rewrite head_VW by lia. unfold one_row_attention.
  destruct (Nat.eqb_spec i (trig I)) as [E|E].
  - rewrite uniform_row_target by (assumption || lia). rewrite uniform_row_out by lia.
    replace (0 * w r + target d I i r - target d I i r) with 0 by ring. rewrite Rabs_R0. assumption.
  - rewrite target_off, Rminus_0_r by assumption.
    destruct (Nat.eqb_spec i i0) as [Ei|Ei]; simpl; [destruct (special L d I) eqn:Es|].
    + rewrite Ei. rewrite (bsum_ext 2 i0 _ (fun k => row k * token d (zero_instance 3) k r)).
      * apply Hrow. assumption.
      * intros k Hk. destruct (special_token L d I k r Es ltac:(lia) Hr) as [_ ->]. reflexivity.
    + rewrite bsum_zero_ext; [unfold bos_row; simpl; rewrite Rmult_1_l, Rplus_0_r; apply Hw; assumption|].
      intros k Hk. unfold bos_row. destruct (Nat.eqb_spec k 1); [lia|ring].
    + rewrite bsum_zero_ext; [unfold bos_row; simpl; rewrite Rmult_1_l, Rplus_0_r; apply Hw; assumption|].
      intros k Hk. unfold bos_row. destruct (Nat.eqb_spec k 1); [lia|ring].
Qed.

(** If |V e_B| = eta in some coordinate, the loss is exactly eta (position 1). *)
Lemma one_row_worst_case_loss w eta r : 0 <= eta ->
  (forall r, (r < d + 3)%nat -> Rabs (w r) <= eta) ->
  (forall r, (r < d + 3)%nat ->
     Rabs (row 1%nat * w r + bsum 2 i0 (fun k => row k * token d (zero_instance 3) k r)) <= eta) ->
  (r < d + 3)%nat -> Rabs (w r) = eta ->
  worst_case_loss L d (target d) (head d (one_row_attention L d i0 row) (VW w)) eta.
Proof.
  intros He Hw Hrow Hr Hwr.
  apply (worst_case_loss_attained L d _ _ eta (zero_instance 3) 1 r); try lia; try assumption.
  - apply one_row_loss; assumption.
  - apply zero_instance_ok. lia.
  - rewrite head_VW by lia. rewrite target_off by (simpl; lia). rewrite bsum_empty by lia.
    rewrite (first_row L d) by first [apply one_row_normalised_causal | apply zero_instance_ok; lia | lia].
    replace (1 * w r + 0 - 0) with (w r) by ring. assumption.
Qed.
End OneRow.

(** Tokens of the special instance, coordinate by coordinate. *)
Lemma zero_token_ordinary d j k r : (k <> 1)%nat -> k <> j -> (r < d + 3)%nat ->
  token d (zero_instance j) k r = if (r =? d + 2)%nat then 1 else 0.
Proof.
  intros Hk Hj Hr.
  destruct (coord_cases d r Hr) as [->|[->|[->|[m [Hm ->]]]]].
  - rewrite token_B by assumption. destruct (Nat.eqb_spec 0 (d + 2)); [lia|reflexivity].
  - rewrite token_T by assumption. simpl trig. destruct (Nat.eqb_spec k j); [contradiction|].
    destruct (Nat.eqb_spec 1 (d + 2)); [lia|reflexivity].
  - rewrite token_N by assumption. simpl trig. rewrite Nat.eqb_refl.
    destruct (Nat.eqb_spec k j); [contradiction|reflexivity].
  - rewrite token_C by assumption. destruct (Nat.eqb_spec (2 + m) (d + 2)); [lia|reflexivity].
Qed.

Lemma zero_token_trigger d j r : (j <> 1)%nat -> (r < d + 3)%nat ->
  token d (zero_instance j) j r = if (r =? 1)%nat then 1 else 0.
Proof.
  intros Hj Hr.
  destruct (coord_cases d r Hr) as [->|[->|[->|[m [Hm ->]]]]].
  - rewrite token_B by assumption. reflexivity.
  - rewrite token_T by assumption. simpl trig. rewrite Nat.eqb_refl. reflexivity.
  - rewrite token_N by assumption. simpl trig. rewrite Nat.eqb_refl.
    destruct (Nat.eqb_spec (d + 2) 1); [lia|reflexivity].
  - rewrite token_C by assumption. reflexivity.
Qed.
