(** * Theorem 3: a ReLU head solves the task exactly, without a sink (section 4) *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task Rows.
Open Scope R_scope.

(** A = e_T (e_T + e_N)^T: only the trigger queries, every non-BOS token answers. *)
Definition A_relu (d : nat) : mat := outer eT (vadd eT (eN d)).

(** The attention of the ReLU head with these scores. *)
Definition relu_weights (d : nat) : attention := relu_attention (bilinear d (A_relu d) (token d)).

Lemma relu_weights_off d I i k : (3 <= trig I)%nat -> i <> trig I -> relu_weights d I i k = 0.
Proof.
  intros Hj Hne. unfold relu_weights, relu_attention, A_relu. destruct (k <=? i)%nat; [|reflexivity].
  replace (bilinear d (outer eT (vadd eT (eN d))) (token d) I i k) with 0.
  - rewrite Rmax_left by lra. unfold Rdiv. ring.
  - score; ring.
Qed.

Lemma relu_weights_bos d I i : (3 <= trig I)%nat -> relu_weights d I i 1%nat = 0.
Proof.
  intros Hj. unfold relu_weights, relu_attention, A_relu. destruct (1 <=? i)%nat; [|reflexivity].
  replace (bilinear d (outer eT (vadd eT (eN d))) (token d) I i 1%nat) with 0.
  - rewrite Rmax_left by lra. unfold Rdiv. ring.
  - score; ring.
Qed.

Lemma relu_weights_at d I k : (3 <= trig I)%nat -> (2 <= k <= trig I)%nat ->
  relu_weights d I (trig I) k = / INR (trig I - 1).
Proof.
  intros Hj Hk. unfold relu_weights, relu_attention, A_relu.
  destruct (Nat.leb_spec k (trig I)); [|lia].
  replace (bilinear d (outer eT (vadd eT (eN d))) (token d) I (trig I) k) with 1.
  - rewrite Rmax_right by lra. rewrite Nat.max_l by lia. unfold Rdiv. ring.
  - score; ring.
Qed.

(** Theorem 3. The ReLU head with A = e_T (e_T + e_N)^T and any V that is the
    identity on W gives the target exactly on every instance, at every position
    and coordinate (so its worst-case loss is 0), and its attention is 0 in
    every non-trigger row, the BOS column included. *)
Theorem theorem_3 (L d : nat) (V : mat) :
  (4 <= L)%nat -> identity_on_W d V ->
  (forall I i r, is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat ->
     relu_head d (A_relu d) V I i r = target d I i r) /\
  (forall I i k, is_instance L d I -> (1 <= i <= L)%nat -> i <> trig I ->
     relu_attention (bilinear d (A_relu d) (token d)) I i k = 0) /\
  worst_case_loss L d (target d) (relu_head d (A_relu d) V) 0.
Proof.
  intros HL HV.
  assert (E : forall I i r, is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat ->
     relu_head d (A_relu d) V I i r = target d I i r).
  { intros I i r [Hj _] Hi Hr. unfold relu_head. fold (relu_weights d).
    rewrite head_on_W by (assumption || lia).
    rewrite relu_weights_bos, Rmult_0_l, Rplus_0_l by lia.
    destruct (Nat.eq_dec i (trig I)) as [->|Hne].
    - rewrite target_at, <- bsum_scal. apply bsum_ext. intros k Hk.
      rewrite relu_weights_at by lia. reflexivity.
    - rewrite target_off by assumption. apply bsum_zero_ext. intros k Hk.
      rewrite relu_weights_off by (assumption || lia). ring. }
  split; [exact E|]. split.
  - intros I i k [Hj _] Hi Hne. apply relu_weights_off; [lia|assumption].
  - apply (worst_case_loss_attained L d _ _ 0 (zero_instance 3) 1%nat 0%nat).
    + intros I HI i r Hi Hr. rewrite E by assumption. rewrite Rminus_eq_0, Rabs_R0. lra.
    + apply zero_instance_ok. lia.
    + lia.
    + lia.
    + rewrite E; [rewrite Rminus_eq_0; apply Rabs_R0|apply zero_instance_ok; lia|lia|lia].
Qed.
