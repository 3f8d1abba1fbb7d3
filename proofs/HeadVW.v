(** * Heads whose value map is the identity on W, and constructed attention rows. *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task.
Open Scope R_scope.

Lemma mv_VW d w x r : (r < d + 3)%nat ->
  mv d (VW w) x r = w r * x 0%nat + (if (r =? 0)%nat then 0 else x r).
Proof.
  intros Hr. unfold mv. rewrite bsum_first by lia. f_equal.
  destruct (Nat.eqb_spec r 0) as [->|Hne].
  - apply bsum_zero_ext. intros k Hk. unfold VW.
    destruct (Nat.eqb_spec k 0); [lia|]. destruct (Nat.eqb_spec 0 k); [lia|]. ring.
  - rewrite <- (bsum_indicator 1 (d + 2) r x) by lia. apply bsum_ext. intros k Hk. unfold VW.
    destruct (Nat.eqb_spec k 0); [lia|]. rewrite (Nat.eqb_sym r k).
    destruct (k =? r)%nat; ring.
Qed.

(** On tokens after the first, VW is the identity. *)
Lemma mv_VW_token d w I k r : (2 <= k)%nat -> (r < d + 3)%nat ->
  mv d (VW w) (token d I k) r = token d I k r.
Proof.
  intros Hk Hr. rewrite mv_VW by assumption. rewrite token_B by lia.
  destruct (Nat.eqb_spec r 0) as [->|]; [rewrite token_B by lia|]; ring.
Qed.

(** Output of a head with value map VW w. *)
Lemma head_VW d a w I i r : (1 <= i)%nat -> (r < d + 3)%nat ->
  head d a (VW w) I i r = a I i 1%nat * w r + bsum 2 i (fun k => a I i k * token d I k r).
Proof.
  intros Hi Hr. unfold head, layer. rewrite bsum_first by lia. f_equal.
  - f_equal. change (token d I 1) with (basis 0). rewrite mv_basis by lia. reflexivity.
  - apply bsum_ext. intros k Hk. rewrite mv_VW_token by lia. reflexivity.
Qed.

(** The row that is uniform on positions 2 .. j, and the row that rests on BOS. *)
Definition uniform_row (j k : nat) : R :=
  if ((2 <=? k) && (k <=? j))%nat%bool then / INR (j - 1) else 0.
Definition bos_row (k : nat) : R := if (k =? 1)%nat then 1 else 0.

Lemma uniform_row_in j k : (2 <= k <= j)%nat -> uniform_row j k = / INR (j - 1).
Proof.
  intros Hk. unfold uniform_row. destruct (Nat.leb_spec 2 k), (Nat.leb_spec k j); simpl; lia || reflexivity.
Qed.

Lemma uniform_row_out j k : (k < 2)%nat \/ (j < k)%nat -> uniform_row j k = 0.
Proof.
  intros Hk. unfold uniform_row. destruct (Nat.leb_spec 2 k), (Nat.leb_spec k j); simpl; lia || reflexivity.
Qed.

Lemma uniform_row_pos j k : (3 <= j)%nat -> 0 <= uniform_row j k.
Proof.
  intros Hj. unfold uniform_row. destruct ((2 <=? k) && (k <=? j))%nat%bool; [|lra].
  left. apply Rinv_0_lt_compat, lt_0_INR. lia.
Qed.

Lemma uniform_row_sum j : (3 <= j)%nat -> bsum 1 j (uniform_row j) = 1.
Proof.
  intros Hj. rewrite bsum_first by lia. rewrite uniform_row_out by lia.
  rewrite (bsum_ext _ _ _ (fun _ => / INR (j - 1))) by (intros; apply uniform_row_in; assumption).
  rewrite bsum_const. replace (S j - 2)%nat with (j - 1)%nat by lia.
  field. apply not_0_INR. lia.
Qed.

Lemma uniform_row_target d I i r : i = trig I -> (2 <= i)%nat ->
  bsum 2 i (fun k => uniform_row i k * token d I k r) = target d I i r.
Proof.
  intros -> Hj. rewrite target_at, <- bsum_scal. apply bsum_ext. intros k Hk.
  rewrite uniform_row_in by assumption. reflexivity.
Qed.

Lemma bos_row_pos k : 0 <= bos_row k.
Proof. unfold bos_row. destruct (k =? 1)%nat; lra. Qed.

Lemma bos_row_sum i : (1 <= i)%nat -> bsum 1 i bos_row = 1.
Proof. intros Hi. unfold bos_row. rewrite (bsum_indicator 1 i 1 (fun _ => 1)) by lia. reflexivity. Qed.

(** The exact head: trigger rows uniform on 2 .. j, all others on BOS. *)
Definition exact_attention : attention := fun I i k =>
  if (i =? trig I)%nat then uniform_row i k else bos_row k.

Lemma exact_attention_normalised_causal L d : normalised_causal L d exact_attention.
Proof.
  intros I [Hj _] i Hi. unfold exact_attention.
  destruct (Nat.eqb_spec i (trig I)) as [E|E]; (split; [|split]).
  - intros. apply uniform_row_pos. lia.
  - intros. apply uniform_row_out. lia.
  - apply uniform_row_sum. lia.
  - intros. apply bos_row_pos.
  - intros k Hk. unfold bos_row. destruct (Nat.eqb_spec k 1); [lia|reflexivity].
  - apply bos_row_sum. lia.
Qed.

(** With V e_B = 0 the exact head has no error at all. *)
Lemma exact_head L d I i r : is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat ->
  head d exact_attention (VW (fun _ => 0)) I i r = target d I i r.
Proof.
  intros [Hj _] Hi Hr. rewrite head_VW by lia. unfold exact_attention.
  destruct (Nat.eqb_spec i (trig I)) as [E|E].
  - rewrite uniform_row_target by (assumption || lia). ring.
  - rewrite bsum_zero_ext, target_off by (assumption ||
      (intros k Hk; unfold bos_row; destruct (Nat.eqb_spec k 1); [lia|ring])). ring.
Qed.
