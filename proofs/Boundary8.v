(** * Row B8 of section 6: no default output zero *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task Rows BoundaryModels.
Open Scope R_scope.

(** The target of B8: at every position the mean of the non-BOS tokens so far
    (tokens 2..i); 0 at position 1, where there are none. *)
Definition running_mean (d : nat) : seqmap := fun I i r =>
  if (i =? 1)%nat then 0 else / INR (i - 1) * bsum 2 i (fun k => token d I k r).

(** A = -K (e_N + e_T) e_B^T: every query but BOS avoids BOS. *)
Definition b8_attention (d : nat) (K : R) : attention :=
  softmax (bilinear d (mscal (- K) (outer (vadd (eN d) eT) eB)) (token d)).
Definition b8_model (d : nat) (K : R) : seqmap := head d (b8_attention d K) VW0.

Lemma b8_row d K I i : (3 <= trig I)%nat -> (2 <= i)%nat ->
  b8_attention d K I i 1%nat = 1 / (1 + INR (i - 1) * exp K) /\
  forall k, (2 <= k <= i)%nat -> b8_attention d K I i k = exp K / (1 + INR (i - 1) * exp K).
Proof.
  intros Hj Hi. assert (Hq := exp_pos K). assert (Hn := pos_INR (i - 1)).
  assert (Hp : 0 <= INR (i - 1) * exp K) by (apply Rmult_le_pos; lra).
  destruct (softmax_two_level (bilinear d (mscal (- K) (outer (vadd (eN d) eT) eB)) (token d)) I i
              (/ exp K) 1) as [H1 H].
  - lia.
  - rewrite <- exp_Ropp. f_equal. score; ring.
  - intros k Hk. rewrite <- exp_0. f_equal. score; ring.
  - unfold b8_attention. split.
    + rewrite H1. field. lra.
    + intros k Hk. rewrite H by assumption. field. lra.
Qed.

Lemma b8_error L d K I i r : is_instance L d I -> (2 <= i <= L)%nat -> (r < d + 3)%nat ->
  b8_model d K I i r - running_mean d I i r =
  - (1 / (1 + INR (i - 1) * exp K)) * (/ INR (i - 1) * bsum 2 i (fun k => token d I k r)).
Proof.
  intros [Hj _] Hi Hr. assert (Hq := exp_pos K). assert (Hn : 0 < INR (i - 1)) by (apply lt_0_INR; lia).
  assert (Hp : 0 < INR (i - 1) * exp K) by (apply Rmult_lt_0_compat; lra).
  unfold b8_model. rewrite (head_equal_row d _ VW0 I i r (exp K / (1 + INR (i - 1) * exp K)));
    [|apply VW0_identity|reflexivity|lia|assumption|apply b8_row; lia].
  unfold running_mean. destruct (Nat.eqb_spec i 1); [lia|]. field. lra.
Qed.

Lemma b8_error_le L d K I i r : is_instance L d I -> (2 <= i <= L)%nat -> (r < d + 3)%nat ->
  Rabs (b8_model d K I i r - running_mean d I i r) <= 1 / (1 + INR (i - 1) * exp K).
Proof.
  intros HI Hi Hr. assert (Hq := exp_pos K). assert (Hn : 0 < INR (i - 1)) by (apply lt_0_INR; lia).
  assert (Hp : 0 < INR (i - 1) * exp K) by (apply Rmult_lt_0_compat; lra).
  assert (Hw : 0 < 1 / (1 + INR (i - 1) * exp K)) by (apply Rdiv_lt_0_compat; lra).
  rewrite (b8_error L), Rabs_mult, Rabs_Ropp, (Rabs_pos_eq (1 / _)) by (assumption || lra).
  rewrite <- Rmult_1_r. apply Rmult_le_compat_l; [lra|].
  rewrite Rabs_mult, Rabs_inv, (Rabs_pos_eq (INR _)) by lra.
  apply Rmult_le_reg_l with (INR (i - 1)); [assumption|].
  rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l, Rmult_1_r by lra. apply (token_sum_bound L); [assumption|lia|assumption].
Qed.

Lemma b8_first d K I r : b8_model d K I 1%nat r = 0.
Proof.
  unfold b8_model, head, layer. rewrite bsum_single, mv_bos. rewrite VW0_bos. ring.
Qed.

Lemma b8_loss L d K : (4 <= L)%nat ->
  worst_case_loss L d (running_mean d) (b8_model d K) (1 / (1 + exp K)).
Proof.
  intros HL. assert (Hq := exp_pos K).
  apply (worst_case_loss_attained L d _ _ _ (zero_instance 3) 2%nat (d + 2)%nat);
    [|apply zero_instance_ok; lia|lia|lia|].
  - intros I HI i r Hi Hr. destruct (Nat.eq_dec i 1) as [->|Hi1].
    + rewrite b8_first. unfold running_mean. simpl (1 =? 1)%nat. cbv iota.
      rewrite Rminus_0_r, Rabs_R0. apply Rlt_le, Rdiv_lt_0_compat; lra.
    + eapply Rle_trans; [apply (b8_error_le L); [assumption|lia|assumption]|].
      assert (Hn : INR 1 <= INR (i - 1)) by (apply le_INR; lia). simpl in Hn.
      assert (1 * exp K <= INR (i - 1) * exp K) by (apply Rmult_le_compat_r; lra).
      apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
  - rewrite (b8_error L); [|apply zero_instance_ok; lia|lia|lia].
    rewrite bsum_single. rewrite token_N by lia. simpl.
    rewrite Rinv_1, !Rmult_1_l, Rmult_1_r, Rabs_Ropp. apply Rabs_pos_eq. apply Rlt_le, Rdiv_lt_0_compat; lra.
Qed.

(** B8. If the target is the mean of the non-BOS tokens so far at every position,
    softmax with A = -K (e_N + e_T) e_B^T and V_W, q = e^K, has BOS weight exactly
    1/(1+(i-1)q) at every position i >= 2 (at most 1/i for K >= 0), the error is at most the
    same number, and Lambda = 1/(1+q) (at i = 2): every positive loss is reached. *)
Theorem b8 (L d : nat) : (4 <= L)%nat ->
  (forall K, let q := exp K in
   (forall I i, is_instance L d I -> (2 <= i <= L)%nat ->
      sink_weight (b8_attention d K) I i = 1 / (1 + (INR i - 1) * q)) /\
   (forall I i r, is_instance L d I -> (2 <= i <= L)%nat -> (r < d + 3)%nat ->
      Rabs (b8_model d K I i r - running_mean d I i r) <= 1 / (1 + (INR i - 1) * q)) /\
   (forall I r, b8_model d K I 1%nat r = running_mean d I 1%nat r) /\
   worst_case_loss L d (running_mean d) (b8_model d K) (1 / (1 + q))) /\
  (forall e, 0 < e -> exists K Lambda, 0 < K /\
     worst_case_loss L d (running_mean d) (b8_model d K) Lambda /\ Lambda <= e /\
     bos_weight_at_most_uniform L d (b8_attention d K)).
Proof.
  intros HL.
  assert (HW : forall K I i, is_instance L d I -> (2 <= i <= L)%nat ->
      sink_weight (b8_attention d K) I i = 1 / (1 + (INR i - 1) * exp K)).
  { intros K I i [Hj _] Hi. rewrite <- INR_pred by lia. apply b8_row; lia. }
  split.
  - intros K q. split; [apply HW|]. split; [|split].
    + intros I i r HI Hi Hr. rewrite <- INR_pred by lia. apply (b8_error_le L); assumption.
    + intros I r. apply b8_first.
    + apply b8_loss. assumption.
  - intros e He. destruct (exp_reaches (1 / e)) as [K [HK Hq]]. assert (Hp := exp_pos K).
    exists K, (1 / (1 + exp K)). split; [assumption|]. split; [apply b8_loss; assumption|]. split.
    + apply Rdiv_le_iff; [lra|]. apply Rdiv_le_iff in Hq; [|assumption]. lra.
    + intros I i HI Hi _. rewrite HW by assumption. destruct (INR_range 2 L i Hi) as [H2 _]. simpl in H2.
      assert (H1 := exp_ge_1 K ltac:(lra)).
      assert ((INR i - 1) * 1 <= (INR i - 1) * exp K) by (apply Rmult_le_compat_l; lra).
      apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
Qed.
