(** * Row B1 of section 6: two heads in one layer *)
From Coq Require Import Reals Lra Lia Arith List.
From Sinkproof Require Import Sums Task Rows BoundaryModels.
Import ListNotations.
Open Scope R_scope.

(** Head 1: A_1 = -K e_T e_B^T, V_1 = V_W. Head 2: A_2 = +K e_T e_B^T, V_2 = -V_W. *)
Definition b1_attention1 (d : nat) (K : R) : attention :=
  softmax (bilinear d (A_trigger_bos (- K)) (token d)).
Definition b1_attention2 (d : nat) (K : R) : attention :=
  softmax (bilinear d (A_trigger_bos K) (token d)).
Definition b1_model (d : nat) (K : R) : seqmap :=
  multi_layer d [(b1_attention1 d K, VW0); (b1_attention2 d K, mscal (-1) VW0)] (token d).

(** The error at the trigger, n = j - 1. *)
Definition b1_error (q n : R) : R := 1 / (1 + n * q) + n / (q + n).

Lemma b1_sum_form L d K : sum_form L d (b1_model d K) (fun _ => 0)
  (fun j => exp K / (1 + INR (j - 1) * exp K) - 1 / (exp K + INR (j - 1))).
Proof.
  intros I [Hj _] i r Hi Hr. unfold b1_model, multi_layer. simpl fold_right.
  rewrite layer_mscal. fold (head d (b1_attention1 d K) VW0) (head d (b1_attention2 d K) VW0).
  destruct (Nat.eqb_spec i (trig I)) as [->|Hne].
  - rewrite (head_equal_row d _ VW0 I (trig I) r (exp K / (1 + INR (trig I - 1) * exp K)));
      [|apply VW0_identity|reflexivity|lia|assumption|apply trigger_avoids_bos_at; lia].
    rewrite (head_equal_row d _ VW0 I (trig I) r (1 / (exp K + INR (trig I - 1))));
      [|apply VW0_identity|reflexivity|lia|assumption|apply trigger_bos_at; lia].
    ring.
  - rewrite !(head_equal_row d _ VW0 I i r (/ INR i));
      [ring|apply VW0_identity|reflexivity|lia|assumption| |apply VW0_identity|reflexivity|lia|assumption|].
    + intros k Hk. apply trigger_bos_off; [lia|assumption|lia].
    + intros k Hk. apply trigger_bos_off; [lia|assumption|lia].
Qed.

Lemma b1_error_eq q n : 0 < q -> 0 < n ->
  Rabs (1 - n * (q / (1 + n * q) - 1 / (q + n))) = b1_error q n.
Proof.
  intros Hq Hn. assert (0 < n * q) by (apply Rmult_lt_0_compat; assumption).
  assert (E : 1 - n * (q / (1 + n * q) - 1 / (q + n)) = b1_error q n) by (unfold b1_error; field; lra).
  rewrite E. apply Rabs_pos_eq. unfold b1_error.
  apply Rplus_le_le_0_compat; apply Rlt_le, Rdiv_lt_0_compat; lra.
Qed.

(** For q >= 1 the error grows with the position of the trigger. *)
Lemma b1_error_mono q n n' : 1 <= q -> 1 <= n <= n' -> b1_error q n <= b1_error q n'.
Proof.
  intros Hq Hn. assert (P : 1 <= n * q) by (rewrite <- (Rmult_1_l 1); apply Rmult_le_compat; lra).
  assert (P' : 1 <= n' * q) by (rewrite <- (Rmult_1_l 1); apply Rmult_le_compat; lra).
  assert (E : b1_error q n' - b1_error q n =
    (n' - n) * q * ((1 + n * q) * (1 + n' * q) - (q + n) * (q + n')) /
    ((1 + n * q) * (1 + n' * q) * ((q + n) * (q + n')))) by (unfold b1_error; field; lra).
  assert (H : 0 <= b1_error q n' - b1_error q n); [|lra]. rewrite E.
  assert (Q : 0 < (1 + n * q) * (1 + n' * q)) by (apply Rmult_lt_0_compat; lra).
  assert (Q' : 0 < (q + n) * (q + n')) by (apply Rmult_lt_0_compat; lra).
  assert (H1 : (q + n) * (q + n') <= (1 + n * q) * (1 + n' * q)).
  { apply Rmult_le_compat; try lra.
    - assert (0 <= (q - 1) * (n - 1)) by (apply Rmult_le_pos; lra). lra.
    - assert (0 <= (q - 1) * (n' - 1)) by (apply Rmult_le_pos; lra). lra. }
  apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; assumption].
  apply Rmult_le_pos; [apply Rmult_le_pos|]; lra.
Qed.

Lemma b1_error_small q n L : 0 < q -> 2 <= n <= L - 1 -> b1_error q n <= L / q.
Proof.
  intros Hq Hn. unfold b1_error. assert (P : 2 * q <= n * q) by (apply Rmult_le_compat_r; lra).
  assert (H1 : 1 / (1 + n * q) <= 1 / q) by (apply Rmult_le_compat_l; [lra|apply Rinv_le_contravar; lra]).
  assert (H2 : n / (q + n) <= (L - 1) / q).
  { apply Rmult_le_compat; [lra|left; apply Rinv_0_lt_compat; lra|lra|apply Rinv_le_contravar; lra]. }
  replace (L / q) with (1 / q + (L - 1) / q) by (field; lra). lra.
Qed.

(** B1. Two softmax heads in one layer, q = e^K, K >= 0. Both heads put weight
    exactly 1/i on BOS at every non-trigger position i. Off trigger the output is
    exactly 0; at the trigger the error is at most 1/(1+(j-1)q) + (j-1)/(q+j-1),
    attained for d >= 1; so Lambda <= 1/(1+(L-1)q) + (L-1)/(q+L-1) <= L/q, with equality in
    the first place for d >= 1: every positive loss is reached. *)
Theorem b1 (L d : nat) : (4 <= L)%nat ->
  (forall K, 0 <= K -> let q := exp K in
   (* BOS weights off trigger *)
   (forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
      sink_weight (b1_attention1 d K) I i = 1 / INR i /\ sink_weight (b1_attention2 d K) I i = 1 / INR i) /\
   (* BOS weights at the trigger *)
   (forall I, is_instance L d I -> let n := INR (trig I) - 1 in
      sink_weight (b1_attention1 d K) I (trig I) = 1 / (1 + n * q) /\
      sink_weight (b1_attention2 d K) I (trig I) = q / (q + n)) /\
   (* errors *)
   (forall I i r, is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat -> i <> trig I ->
      b1_model d K I i r = target d I i r) /\
   (forall I r, is_instance L d I -> (r < d + 3)%nat -> let n := INR (trig I) - 1 in
      Rabs (b1_model d K I (trig I) r - target d I (trig I) r) <= 1 / (1 + n * q) + n / (q + n)) /\
   (* attained by the first content coordinate when all content is 1 *)
   ((1 <= d)%nat -> forall j, (3 <= j <= L)%nat -> let n := INR j - 1 in let I := ones_instance j in
      Rabs (b1_model d K I j 2%nat - target d I j 2%nat) = 1 / (1 + n * q) + n / (q + n)) /\
   loss_at_most L d (target d) (b1_model d K)
      (1 / (1 + (INR L - 1) * q) + (INR L - 1) / (q + (INR L - 1))) /\
   ((1 <= d)%nat -> worst_case_loss L d (target d) (b1_model d K)
      (1 / (1 + (INR L - 1) * q) + (INR L - 1) / (q + (INR L - 1)))) /\
   loss_at_most L d (target d) (b1_model d K) (INR L / q)) /\
  (* every positive loss is reached *)
  (forall e, 0 < e -> exists K Lambda, 0 < K /\
     worst_case_loss L d (target d) (b1_model d K) Lambda /\ Lambda <= e /\
     bos_weight_at_most_uniform L d (b1_attention1 d K) /\
     bos_weight_at_most_uniform L d (b1_attention2 d K)).
Proof.
  intros HL. assert (HL4 : INR 4 <= INR L) by (apply le_INR; lia). simpl in HL4.
  assert (HS : forall K, loss_at_most L d (target d) (b1_model d K) (INR L / exp K)).
  { intros K. assert (Hq := exp_pos K). apply (sum_form_loss L d _ _ _ (b1_sum_form L d K)); [| |lia].
    - intros i Hi. rewrite Rabs_R0, Rmult_0_r. apply Rlt_le, Rdiv_lt_0_compat; lra.
    - intros j Hj. assert (Hn := INR_range 3 L j Hj). simpl in Hn.
      assert (E := INR_pred j ltac:(lia)). rewrite b1_error_eq by lra. apply b1_error_small; lra. }
  assert (HW : forall K I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
     sink_weight (b1_attention1 d K) I i = 1 / INR i /\ sink_weight (b1_attention2 d K) I i = 1 / INR i).
  { intros K I i [Hj _] Hi Hne. unfold sink_weight, b1_attention1, b1_attention2.
    rewrite !trigger_bos_off by (assumption || lia). unfold Rdiv. split; ring. }
  split.
  - intros K HK q. assert (Hq : 1 <= q) by (apply exp_ge_1; assumption).
    assert (HM := b1_sum_form L d K).
    assert (HnL : 0 < INR (L - 1)) by (apply lt_0_INR; lia).
    assert (HU : loss_at_most L d (target d) (b1_model d K) (b1_error q (INR (L - 1)))).
    { apply (sum_form_loss L d _ _ _ HM); [| |lia].
      - intros i Hi. rewrite Rabs_R0, Rmult_0_r, <- b1_error_eq by lra. apply Rabs_pos.
      - intros j Hj. assert (H1 : INR 1 <= INR (j - 1)) by (apply le_INR; lia). simpl in H1.
        fold q. rewrite b1_error_eq by lra. apply b1_error_mono; [lra|].
        split; [assumption|apply le_INR; lia]. }
    split; [|split; [|split; [|split; [|split; [|split; [|split]]]]]].
    + apply HW.
    + intros I [Hj _] n. unfold n. rewrite <- INR_pred by lia. split.
      * apply trigger_avoids_bos_at. lia.
      * apply trigger_bos_at. lia.
    + intros I i r HI Hi Hr Hne. rewrite HM, target_off by assumption.
      destruct (Nat.eqb_spec i (trig I)); [contradiction|ring].
    + intros I r HI Hr n. pose proof HI as [Hj _]. unfold n. rewrite <- INR_pred by lia.
      eapply Rle_trans; [apply (sum_form_at L d _ _ _ HM); assumption|].
      assert (0 < INR (trig I - 1)) by (apply lt_0_INR; lia).
      fold q. rewrite b1_error_eq by lra. apply Rle_refl.
    + intros Hd j Hj n I. unfold n. rewrite <- INR_pred by lia.
      assert (0 < INR (j - 1)) by (apply lt_0_INR; lia).
      unfold I. rewrite (sum_form_at_attained L d _ _ _ HM) by lia. fold q. apply b1_error_eq; lra.
    + rewrite <- INR_pred by lia. exact HU.
    + intros Hd. rewrite <- INR_pred by lia. fold (b1_error q (INR (L - 1))).
      apply (worst_case_loss_attained L d _ _ _ (ones_instance L) L 2%nat);
        [exact HU|apply ones_instance_ok; lia|lia|lia|].
      rewrite (sum_form_at_attained L d _ _ _ HM) by lia. fold q. apply b1_error_eq; lra.
    + apply HS.
  - intros e He. destruct (exp_reaches (INR L / e)) as [K [HK Hq]]. assert (Hp := exp_pos K).
    destruct (worst_case_loss_below L d _ _ _ ltac:(lia) (HS K)) as [Lam [HLam Hle]].
    exists K, Lam. split; [assumption|]. split; [assumption|]. split; [|split].
    + eapply Rle_trans; [exact Hle|]. apply Rdiv_le_iff; [assumption|].
      apply Rdiv_le_iff in Hq; [|assumption]. lra.
    + intros I i HI Hi Hne. apply Req_le, (HW K I i HI Hi Hne).
    + intros I i HI Hi Hne. apply Req_le, (HW K I i HI Hi Hne).
Qed.
