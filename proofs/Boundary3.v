(** * Row B3 of section 6: a gate on the output *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task Rows BoundaryModels.
Open Scope R_scope.

(** Softmax with A = -K e_T e_B^T and V_W; output gate sigmoid(K (x_T - x_N)). *)
Definition b3_attention (d : nat) (K : R) : attention :=
  softmax (bilinear d (A_trigger_bos (- K)) (token d)).
Definition b3_gate (d : nat) (K : R) : vec := vscal K (vadd eT (vscal (-1) (eN d))).
Definition b3_model (d : nat) (K : R) : seqmap := gated d (b3_gate d K) (head d (b3_attention d K) VW0).

(** The error at the trigger, n = j - 1. *)
Definition b3_error (q n : R) : R := 1 - q / (1 + q) * (n * q / (1 + n * q)).

Lemma b3_gate_off d K I i : (3 <= trig I)%nat -> (2 <= i)%nat -> i <> trig I ->
  sigmoid (dot d (b3_gate d K) (token d I i)) = 1 / (1 + exp K).
Proof.
  intros Hj Hi Hne. unfold sigmoid, Rdiv. rewrite Rmult_1_l. do 3 f_equal.
  unfold b3_gate. score. ring.
Qed.

Lemma b3_gate_at d K I : (3 <= trig I)%nat ->
  sigmoid (dot d (b3_gate d K) (token d I (trig I))) = exp K / (1 + exp K).
Proof.
  intros Hj. assert (Hq := exp_pos K).
  replace (dot d (b3_gate d K) (token d I (trig I))) with K.
  - unfold sigmoid. rewrite exp_Ropp. field. lra.
  - unfold b3_gate. score. ring.
Qed.

Lemma b3_sum_form L d K : sum_form L d (b3_model d K) (fun i => 1 / (1 + exp K) * / INR i)
  (fun j => exp K / (1 + exp K) * (exp K / (1 + INR (j - 1) * exp K))).
Proof.
  intros I [Hj _] i r Hi Hr. unfold b3_model, gated. destruct (Nat.eqb_spec i (trig I)) as [->|Hne].
  - rewrite b3_gate_at by lia.
    rewrite (head_equal_row d _ VW0 I (trig I) r (exp K / (1 + INR (trig I - 1) * exp K)));
      [ring|apply VW0_identity|reflexivity|lia|assumption|apply trigger_avoids_bos_at; lia].
  - rewrite (head_equal_row d _ VW0 I i r (/ INR i));
      [|apply VW0_identity|reflexivity|lia|assumption|].
    2:{ intros k Hk. apply trigger_bos_off; [lia|assumption|lia]. }
    destruct (Nat.eq_dec i 1) as [->|Hi1]; [rewrite bsum_empty by lia; ring|].
    rewrite b3_gate_off by (assumption || lia). ring.
Qed.

Section Numbers.
Variable q : R.
Hypothesis Hq : 0 < q.

Lemma b3_error_alt n : 0 < n -> b3_error q n = 1 - q / (1 + q) * (1 - / (1 + n * q)).
Proof using Hq.
  intros Hn. assert (0 < n * q) by (apply Rmult_lt_0_compat; assumption).
  unfold b3_error. field. lra.
Qed.

Lemma b3_gate_range : 0 < q / (1 + q) < 1.
Proof using Hq.
  assert (E : q / (1 + q) = 1 - / (1 + q)) by (field; lra).
  assert (0 < q / (1 + q)) by (apply Rdiv_lt_0_compat; lra).
  assert (0 < / (1 + q)) by (apply Rinv_0_lt_compat; lra). lra.
Qed.

Lemma b3_error_eq n : 0 < n ->
  Rabs (1 - n * (q / (1 + q) * (q / (1 + n * q)))) = b3_error q n.
Proof using Hq.
  intros Hn. assert (P : 0 < n * q) by (apply Rmult_lt_0_compat; assumption).
  assert (G := b3_gate_range).
  replace (1 - n * (q / (1 + q) * (q / (1 + n * q)))) with (b3_error q n) by (unfold b3_error; field; lra).
  apply Rabs_pos_eq. rewrite b3_error_alt by assumption.
  assert (0 < / (1 + n * q)) by (apply Rinv_0_lt_compat; lra).
  assert (q / (1 + q) * (1 - / (1 + n * q)) <= q / (1 + q) * 1) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma b3_error_mono n : 2 <= n -> b3_error q n <= b3_error q 2.
Proof using Hq.
  intros Hn. rewrite !b3_error_alt by lra. assert (G := b3_gate_range).
  assert (H := half_le_share n q Hn Hq).
  assert (q / (1 + q) * (1 - / (1 + 2 * q)) <= q / (1 + q) * (1 - / (1 + n * q)))
    by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma b3_error_2 : b3_error q 2 = (1 + 3 * q) / ((1 + q) * (1 + 2 * q)).
Proof using Hq. unfold b3_error. field. lra. Qed.

Lemma b3_error_2_small : b3_error q 2 <= 2 / q.
Proof using Hq.
  rewrite b3_error_2. apply Rdiv_le_cross; [apply Rmult_lt_0_compat; lra|assumption|].
  assert (0 < q * q) by (apply Rmult_lt_0_compat; assumption). lra.
Qed.

(** The rows off trigger are better than the trigger row at j = 3. *)
Lemma b3_off_eq i : (1 <= i)%nat ->
  INR (i - 1) * Rabs (1 / (1 + q) * / INR i) = (INR i - 1) / INR i / (1 + q).
Proof using Hq.
  intros Hi. assert (Hi0 : 0 < INR i) by (apply lt_0_INR; lia).
  rewrite Rabs_pos_eq.
  - rewrite INR_pred by assumption. field. lra.
  - apply Rmult_le_pos; left; [apply Rdiv_lt_0_compat; lra|apply Rinv_0_lt_compat; assumption].
Qed.

Lemma b3_off_le i : (1 <= i)%nat -> (INR i - 1) / INR i / (1 + q) <= 1 / (1 + q).
Proof using Hq.
  intros Hi. assert (Hi0 : 0 < INR i) by (apply lt_0_INR; lia).
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
  apply Rdiv_le_iff; lra.
Qed.

Lemma b3_off_le_error : 1 / (1 + q) <= b3_error q 2.
Proof using Hq.
  rewrite b3_error_2. apply Rdiv_le_cross; [lra|apply Rmult_lt_0_compat; lra|].
  assert (0 < q * q) by (apply Rmult_lt_0_compat; assumption). lra.
Qed.
End Numbers.

(** B3. Uniform softmax whose trigger query avoids BOS, with the output gate
    sigmoid(K (x_T - x_N)), q = e^K. The BOS weight is exactly 1/i at every
    non-trigger position i >= 2. The error off trigger is at most 1/(1+q), at the
    trigger at most 1 - (q/(1+q)) (j-1)q/(1+(j-1)q), attained for d >= 1; so
    Lambda <= (1+3q)/((1+q)(1+2q)) <= 2/q (the former from j = 3), with equality in the first
    place for d >= 1: every positive loss is reached. *)
Theorem b3 (L d : nat) : (4 <= L)%nat ->
  (forall K, let q := exp K in
   (forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
      sink_weight (b3_attention d K) I i = 1 / INR i) /\
   (forall I i r, is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat -> i <> trig I ->
      Rabs (b3_model d K I i r - target d I i r) <= 1 / (1 + q)) /\
   (forall I r, is_instance L d I -> (r < d + 3)%nat -> let n := INR (trig I) - 1 in
      Rabs (b3_model d K I (trig I) r - target d I (trig I) r) <= 1 - q / (1 + q) * (n * q / (1 + n * q))) /\
   (* attained by the first content coordinate when all content is 1 *)
   ((1 <= d)%nat -> forall j, (3 <= j <= L)%nat -> let n := INR j - 1 in let I := ones_instance j in
      Rabs (b3_model d K I j 2%nat - target d I j 2%nat) = 1 - q / (1 + q) * (n * q / (1 + n * q))) /\
   loss_at_most L d (target d) (b3_model d K) ((1 + 3 * q) / ((1 + q) * (1 + 2 * q))) /\
   ((1 <= d)%nat -> worst_case_loss L d (target d) (b3_model d K)
      ((1 + 3 * q) / ((1 + q) * (1 + 2 * q)))) /\
   loss_at_most L d (target d) (b3_model d K) (2 / q)) /\
  (forall e, 0 < e -> exists K Lambda, 0 < K /\
     worst_case_loss L d (target d) (b3_model d K) Lambda /\ Lambda <= e /\
     bos_weight_at_most_uniform L d (b3_attention d K)).
Proof.
  intros HL.
  assert (HS : forall K, loss_at_most L d (target d) (b3_model d K) (b3_error (exp K) 2)).
  { intros K. assert (Hq := exp_pos K). apply (sum_form_loss L d _ _ _ (b3_sum_form L d K)); [| |lia].
    - intros i Hi. rewrite b3_off_eq by (assumption || lia).
      eapply Rle_trans; [apply b3_off_le; [assumption|lia]|apply b3_off_le_error; assumption].
    - intros j Hj. assert (Hn : INR 2 <= INR (j - 1)) by (apply le_INR; lia). simpl in Hn.
      rewrite b3_error_eq by lra. apply b3_error_mono; assumption. }
  assert (HW : forall K I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
     sink_weight (b3_attention d K) I i = 1 / INR i).
  { intros K I i [Hj _] Hi Hne. unfold sink_weight, b3_attention.
    rewrite trigger_bos_off by (assumption || lia). unfold Rdiv. ring. }
  assert (HS2 : forall K, loss_at_most L d (target d) (b3_model d K) (2 / exp K)).
  { intros K I HI i r Hi Hr. eapply Rle_trans; [apply HS; assumption|]. apply b3_error_2_small, exp_pos. }
  split.
  - intros K q. assert (Hq : 0 < q) by apply exp_pos. assert (HM := b3_sum_form L d K).
    split; [|split; [|split; [|split; [|split; [|split]]]]].
    + apply HW.
    + intros I i r HI Hi Hr Hne. eapply Rle_trans; [apply (sum_form_off L d _ _ _ HM); assumption|].
      fold q. rewrite b3_off_eq by (assumption || lia). apply b3_off_le; [assumption|lia].
    + intros I r HI Hr n. pose proof HI as [Hj _]. unfold n. rewrite <- INR_pred by lia.
      eapply Rle_trans; [apply (sum_form_at L d _ _ _ HM); assumption|].
      assert (0 < INR (trig I - 1)) by (apply lt_0_INR; lia).
      fold q. rewrite b3_error_eq by assumption. apply Rle_refl.
    + intros Hd j Hj n I. unfold n. rewrite <- INR_pred by lia.
      assert (0 < INR (j - 1)) by (apply lt_0_INR; lia).
      unfold I. rewrite (sum_form_at_attained L d _ _ _ HM) by lia. fold q. apply b3_error_eq; assumption.
    + rewrite <- b3_error_2 by assumption. apply HS.
    + intros Hd. rewrite <- b3_error_2 by assumption.
      apply (worst_case_loss_attained L d _ _ _ (ones_instance 3) 3%nat 2%nat);
        [apply HS|apply ones_instance_ok; lia|lia|lia|].
      rewrite (sum_form_at_attained L d _ _ _ HM) by lia. fold q.
      simpl (INR (3 - 1)). apply b3_error_eq; lra.
    + apply HS2.
  - intros e He. destruct (exp_reaches (2 / e)) as [K [HK Hq]]. assert (Hp := exp_pos K).
    destruct (worst_case_loss_below L d _ _ _ ltac:(lia) (HS2 K)) as [Lam [HLam Hle]].
    exists K, Lam. split; [assumption|]. split; [assumption|]. split.
    + eapply Rle_trans; [exact Hle|]. apply Rdiv_le_iff; [assumption|].
      apply Rdiv_le_iff in Hq; [|assumption]. lra.
    + intros I i HI Hi Hne. rewrite HW by assumption. apply Rle_refl.
Qed.
