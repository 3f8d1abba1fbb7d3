(** * Row B7 of section 6: a non-linear read-out *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task Rows BoundaryModels.
Open Scope R_scope.

(** A = -K e_N e_T^T - K e_T e_B^T: ordinary queries skip the trigger, the trigger
    skips BOS. *)
Definition b7_attention (d : nat) (K : R) : attention :=
  softmax (bilinear d (madd (mscal (- K) (outer (eN d) eT)) (mscal (- K) (outer eT eB))) (token d)).
(** The head, and the model: the head followed by the read-out
    clip(z_r, -m z_T, +m z_T) in every coordinate r. *)
Definition b7_head (d : nat) (K : R) : seqmap := head d (b7_attention d K) VW0.
Definition b7_model (d : nat) (m K : R) : seqmap := clip_readout m (b7_head d K).

(** A softmax row with score -K at position p and score 0 elsewhere. *)
Lemma softmax_one_low (s : scores) I i p K : (1 <= p <= i)%nat ->
  s I i p = - K -> (forall k, (1 <= k <= i)%nat -> k <> p -> s I i k = 0) ->
  softmax s I i p = 1 / exp K / (INR i - 1 + 1 / exp K) /\
  forall k, (1 <= k <= i)%nat -> k <> p -> softmax s I i k = 1 / (INR i - 1 + 1 / exp K).
Proof.
  intros Hp H1 H.
  assert (E : bsum 1 i (fun k => exp (s I i k)) = INR i - 1 + 1 / exp K).
  { rewrite (bsum_pull 1 i p) by assumption.
    rewrite (bsum_ext 1 i _ (fun k => 1 - if (k =? p)%nat then (fun _ => 1) k else 0)).
    - rewrite bsum_minus, bsum_indicator, bsum_const, H1, exp_Ropp by assumption.
      replace (S i - 1)%nat with i by lia. unfold Rdiv. ring.
    - intros k Hk. destruct (Nat.eqb_spec k p); [ring|]. rewrite H, exp_0 by assumption. ring. }
  unfold softmax. rewrite E. split.
  - destruct (Nat.leb_spec p i); [|lia]. rewrite H1, exp_Ropp. unfold Rdiv. ring.
  - intros k Hk Hkp. destruct (Nat.leb_spec k i); [|lia]. rewrite H, exp_0 by assumption. reflexivity.
Qed.

Section Rows.
Variables (d : nat) (K : R) (I : inst).
Hypothesis Hj : (3 <= trig I)%nat.
Let a := b7_attention d K.

(** Before the trigger: uniform. *)
Lemma b7_before i k : (i < trig I)%nat -> (1 <= k <= i)%nat -> a I i k = 1 / INR i.
Proof using Hj.
  intros Hi Hk. unfold a, b7_attention.
  destruct (softmax_two_level (bilinear d (madd (mscal (- K) (outer (eN d) eT)) (mscal (- K) (outer eT eB))) (token d))
              I i 1 1) as [H1 H].
  - lia.
  - rewrite <- exp_0. f_equal. score; ring.
  - intros k' Hk'. rewrite <- exp_0. f_equal. score; ring.
  - rewrite INR_pred in H1, H by lia. destruct (Nat.eq_dec k 1) as [->|Hk1].
    + rewrite H1. f_equal. ring.
    + rewrite H by lia. f_equal. ring.
Qed.

(** After the trigger: uniform but for the trigger itself. *)
Lemma b7_after i : (trig I < i)%nat ->
  a I i (trig I) = 1 / exp K / (INR i - 1 + 1 / exp K) /\
  forall k, (1 <= k <= i)%nat -> k <> trig I -> a I i k = 1 / (INR i - 1 + 1 / exp K).
Proof using Hj.
  intros Hi. unfold a, b7_attention. apply softmax_one_low.
  - lia.
  - score; ring.
  - intros k Hk Hne. score; ring.
Qed.

(** At the trigger: uniform but for BOS. *)
Lemma b7_at :
  a I (trig I) 1%nat = 1 / exp K / (INR (trig I) - 1 + 1 / exp K) /\
  forall k, (2 <= k <= trig I)%nat -> a I (trig I) k = 1 / (INR (trig I) - 1 + 1 / exp K).
Proof using Hj.
  unfold a, b7_attention.
  destruct (softmax_one_low (bilinear d (madd (mscal (- K) (outer (eN d) eT)) (mscal (- K) (outer eT eB))) (token d))
              I (trig I) 1 K) as [H1 H].
  - lia.
  - score; ring.
  - intros k Hk Hne. score; ring.
  - split; [exact H1|]. intros k Hk. apply H; lia.
Qed.

(** ** The trigger coordinate z_T of the head *)

Lemma b7_head_eq i r : (1 <= i)%nat -> (r < d + 3)%nat ->
  b7_head d K I i r = bsum 2 i (fun k => a I i k * token d I k r).
Proof using.
  clear Hj. intros Hi Hr. unfold b7_head. rewrite head_on_W by (apply VW0_identity || assumption).
  rewrite VW0_bos. unfold a. ring.
Qed.

Lemma b7_zT_before i : (1 <= i < trig I)%nat -> b7_head d K I i 1%nat = 0.
Proof using Hj.
  intros Hi. rewrite b7_head_eq by lia. apply bsum_zero_ext. intros k Hk.
  rewrite tok_T by assumption. destruct (Nat.eqb_spec k (trig I)); [lia|ring].
Qed.

(** From the trigger on, z_T is the weight of the trigger. *)
Lemma b7_zT i : (trig I <= i)%nat -> b7_head d K I i 1%nat = a I i (trig I).
Proof using Hj.
  intros Hi. rewrite b7_head_eq by lia.
  rewrite (bsum_ext 2 i _ (fun k => if (k =? trig I)%nat then a I i k else 0)).
  - apply bsum_indicator. lia.
  - intros k Hk. rewrite tok_T by assumption. destruct (k =? trig I)%nat; ring.
Qed.

Lemma b7_zT_after i : (trig I < i)%nat -> b7_head d K I i 1%nat = 1 / (1 + (INR i - 1) * exp K).
Proof using Hj.
  intros Hi. assert (Hq := exp_pos K).
  assert (Hi1 : 1 < INR i) by (change 1 with (INR 1); apply lt_INR; lia).
  assert (P : 0 < (INR i - 1) * exp K) by (apply Rmult_lt_0_compat; lra).
  rewrite b7_zT by lia. rewrite (proj1 (b7_after i Hi)). field. split; lra.
Qed.
End Rows.

(** ** The output of the model *)

(** Before the trigger exactly 0. *)
Lemma b7_out_before d m K I i r : (3 <= trig I)%nat -> (1 <= i < trig I)%nat -> b7_model d m K I i r = 0.
Proof.
  intros Hj Hi. unfold b7_model, clip_readout. rewrite b7_zT_before by assumption.
  rewrite Rmult_0_r. apply clip_zero.
Qed.

(** After the trigger at most m z_T. *)
Lemma b7_out_after d m K I i r : 0 <= m -> (3 <= trig I)%nat -> (trig I < i)%nat ->
  Rabs (b7_model d m K I i r) <= m / (1 + (INR i - 1) * exp K).
Proof.
  intros Hm Hj Hi. assert (Hq := exp_pos K).
  assert (Hi1 : 1 < INR i) by (change 1 with (INR 1); apply lt_INR; lia).
  assert (P : 0 < (INR i - 1) * exp K) by (apply Rmult_lt_0_compat; lra).
  unfold b7_model, clip_readout. rewrite b7_zT_after by assumption.
  replace (m / (1 + (INR i - 1) * exp K)) with (m * (1 / (1 + (INR i - 1) * exp K))) by (field; lra).
  apply clip_bound. apply Rmult_le_pos; [assumption|]. apply Rlt_le, Rdiv_lt_0_compat; lra.
Qed.

(** At the trigger the clip is inactive ... *)
Lemma b7_clip_inactive L d K I r : is_instance L d I -> (r < d + 3)%nat ->
  Rabs (b7_head d K I (trig I) r) <= INR L * b7_head d K I (trig I) 1%nat.
Proof.
  intros HI Hr. pose proof HI as [Hj _]. assert (Hq := exp_pos K).
  assert (Hw : 0 < 1 / exp K) by (apply Rdiv_lt_0_compat; lra).
  destruct (INR_range 3 L (trig I) Hj) as [H3 HjL]. simpl in H3.
  destruct (b7_at d K I ltac:(lia)) as [_ H].
  rewrite b7_zT, (H (trig I)) by lia. rewrite b7_head_eq by (assumption || lia).
  set (w := 1 / (INR (trig I) - 1 + 1 / exp K)) in *.
  assert (Hw0 : 0 < w) by (apply Rdiv_lt_0_compat; lra).
  rewrite (bsum_ext 2 (trig I) _ (fun k => w * token d I k r)) by (intros k Hk; rewrite H by lia; reflexivity).
  rewrite bsum_scal, Rabs_mult, (Rabs_pos_eq w), Rmult_comm by lra. apply Rmult_le_compat_r; [lra|].
  eapply Rle_trans; [apply (token_sum_bound L); [assumption|lia|assumption]|]. apply le_INR. lia.
Qed.

(** ... so that the output is the mean of the tokens 2..j times 1 - 1/(1+(j-1)q). *)
Lemma b7_error_at L d K I r : is_instance L d I -> (r < d + 3)%nat ->
  Rabs (b7_model d (INR L) K I (trig I) r - target d I (trig I) r) <= 1 / (1 + (INR (trig I) - 1) * exp K).
Proof.
  intros HI Hr. pose proof HI as [Hj _]. assert (Hq := exp_pos K).
  destruct (INR_range 3 L (trig I) Hj) as [H3 HjL]. simpl in H3.
  assert (P : 0 < (INR (trig I) - 1) * exp K) by (apply Rmult_lt_0_compat; lra).
  assert (Hw : 0 < 1 / (1 + (INR (trig I) - 1) * exp K)) by (apply Rdiv_lt_0_compat; lra).
  unfold b7_model, clip_readout. rewrite clip_id by (apply (b7_clip_inactive L); assumption).
  assert (E : b7_head d K I (trig I) r - target d I (trig I) r =
              - (1 / (1 + (INR (trig I) - 1) * exp K)) * target d I (trig I) r).
  { rewrite target_at, b7_head_eq, INR_pred by (assumption || lia).
    rewrite (bsum_ext 2 (trig I) _ (fun k => 1 / (INR (trig I) - 1 + 1 / exp K) * token d I k r)).
    - rewrite bsum_scal. field. repeat split; lra.
    - intros k Hk. rewrite (proj2 (b7_at d K I ltac:(lia))) by assumption. reflexivity. }
  rewrite E, Rabs_mult, Rabs_Ropp, (Rabs_pos_eq (1 / _)) by lra.
  rewrite <- Rmult_1_r. apply Rmult_le_compat_l; [lra|]. apply (target_bound L); assumption.
Qed.

Lemma b7_loss L d K : (4 <= L)%nat ->
  loss_at_most L d (target d) (b7_model d (INR L) K) (INR L / (1 + 3 * exp K)).
Proof.
  intros HL I HI i r Hi Hr. pose proof HI as [Hj _]. assert (Hq := exp_pos K).
  assert (HL4 : INR 4 <= INR L) by (apply le_INR; lia). simpl in HL4.
  destruct (lt_eq_lt_dec i (trig I)) as [[Hlt| ->]|Hgt].
  - rewrite b7_out_before, target_off, Rminus_eq_0, Rabs_R0 by lia. apply Rlt_le, Rdiv_lt_0_compat; lra.
  - eapply Rle_trans; [apply b7_error_at; assumption|].
    destruct (INR_range 3 L (trig I) Hj) as [H3 _]. simpl in H3.
    assert (P : 2 * exp K <= (INR (trig I) - 1) * exp K) by (apply Rmult_le_compat_r; lra).
    apply Rdiv_le_cross; [lra|lra|].
    assert (4 * (1 + 2 * exp K) <= INR L * (1 + (INR (trig I) - 1) * exp K)); [|lra].
    apply Rmult_le_compat; lra.
  - rewrite target_off, Rminus_0_r by lia.
    eapply Rle_trans; [apply b7_out_after; [apply pos_INR|lia|assumption]|].
    destruct (INR_range 4 L i ltac:(lia)) as [H4 _]. simpl in H4.
    assert (P : 3 * exp K <= (INR i - 1) * exp K) by (apply Rmult_le_compat_r; lra).
    apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
Qed.

(** For 2 q >= L the bound is attained: j = 3, i = 4, coordinate N. *)
Lemma b7_loss_exact L d K : (4 <= L)%nat -> INR L <= 2 * exp K ->
  worst_case_loss L d (target d) (b7_model d (INR L) K) (INR L / (1 + 3 * exp K)).
Proof.
  intros HL HK. assert (Hq := exp_pos K).
  assert (HL4 : INR 4 <= INR L) by (apply le_INR; lia). simpl in HL4.
  assert (HI : is_instance L d (zero_instance 3)) by (apply zero_instance_ok; lia).
  apply (worst_case_loss_attained L d _ _ _ (zero_instance 3) 4%nat (d + 2)%nat);
    [apply b7_loss; assumption|assumption|lia|lia|].
  rewrite target_off, Rminus_0_r by (simpl; lia).
  assert (HT := b7_zT_after d K (zero_instance 3) ltac:(simpl; lia) 4 ltac:(simpl; lia)).
  assert (HN : b7_head d K (zero_instance 3) 4%nat (d + 2)%nat = 2 * exp K / (1 + 3 * exp K)).
  { rewrite b7_head_eq by lia. destruct (b7_after d K (zero_instance 3) ltac:(simpl; lia) 4 ltac:(simpl; lia)) as [_ H].
    rewrite (bsum_first 2 4), (bsum_first 3 4), bsum_single by lia.
    rewrite (H 2%nat), (H 4%nat) by (simpl; lia). rewrite !token_N by lia. simpl. field. lra. }
  unfold b7_model, clip_readout. rewrite HT, HN.
  replace ((INR 4 - 1) * exp K) with (3 * exp K) by (simpl; ring).
  replace (INR L * (1 / (1 + 3 * exp K))) with (INR L / (1 + 3 * exp K)) by (field; lra).
  assert (0 < INR L / (1 + 3 * exp K)) by (apply Rdiv_lt_0_compat; lra).
  rewrite clip_top; [apply Rabs_pos_eq; lra|lra|].
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|lra].
Qed.

(** B7. A head with A = -K e_N e_T^T - K e_T e_B^T and V_W, q = e^K, followed by the
    read-out clip(z_r, -L z_T, +L z_T). The BOS weight at non-trigger positions i >= 2
    is 1/i before and 1/(i-1+1/q) after the trigger (so at most 1/2 for any K). The output is
    exactly 0 before the trigger, at most L/(1+(i-1)q) after it; at the trigger the clip
    is inactive and the error is at most 1/(1+(j-1)q). So Lambda <= L/(1+3q), with equality
    for 2q >= L: every positive loss is reached. *)
Theorem b7 (L d : nat) : (4 <= L)%nat ->
  (forall K, let q := exp K in let M := b7_model d (INR L) K in
   (forall I i, is_instance L d I -> (2 <= i)%nat -> (i < trig I)%nat ->
      sink_weight (b7_attention d K) I i = 1 / INR i) /\
   (forall I i, is_instance L d I -> (trig I < i)%nat -> (i <= L)%nat ->
      sink_weight (b7_attention d K) I i = 1 / (INR i - 1 + 1 / q)) /\
   (forall I i r, is_instance L d I -> (1 <= i)%nat -> (i < trig I)%nat -> M I i r = 0) /\
   (forall I i r, is_instance L d I -> (trig I < i)%nat -> (i <= L)%nat ->
      Rabs (M I i r) <= INR L / (1 + (INR i - 1) * q)) /\
   (forall I r, is_instance L d I -> (r < d + 3)%nat ->
      M I (trig I) r = b7_head d K I (trig I) r /\
      Rabs (M I (trig I) r - target d I (trig I) r) <= 1 / (1 + (INR (trig I) - 1) * q)) /\
   loss_at_most L d (target d) M (INR L / (1 + 3 * q)) /\
   (INR L <= 2 * q -> worst_case_loss L d (target d) M (INR L / (1 + 3 * q)))) /\
  (forall e, 0 < e -> exists K Lambda, 0 < K /\
     worst_case_loss L d (target d) (b7_model d (INR L) K) Lambda /\ Lambda <= e /\
     forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
     sink_weight (b7_attention d K) I i <= 1 / 2).
Proof.
  intros HL. assert (HL4 : INR 4 <= INR L) by (apply le_INR; lia). simpl in HL4.
  assert (HB : forall K I i, is_instance L d I -> (2 <= i)%nat -> (i < trig I)%nat ->
      sink_weight (b7_attention d K) I i = 1 / INR i).
  { intros K I i [Hj _] Hi Hlt. apply b7_before; lia. }
  assert (HA : forall K I i, is_instance L d I -> (trig I < i)%nat -> (i <= L)%nat ->
      sink_weight (b7_attention d K) I i = 1 / (INR i - 1 + 1 / exp K)).
  { intros K I i [Hj _] Hi Hlt. apply b7_after; lia. }
  split.
  - intros K q M. split; [apply HB|]. split; [apply HA|]. split; [|split; [|split; [|split]]].
    + intros I i r [Hj _] Hi Hlt. apply b7_out_before; lia.
    + intros I i r [Hj _] Hi Hlt. apply b7_out_after; [apply pos_INR|lia|assumption].
    + intros I r HI Hr. split; [|apply b7_error_at; assumption].
      apply clip_id. apply (b7_clip_inactive L); assumption.
    + apply b7_loss. assumption.
    + intros HK. apply b7_loss_exact; assumption.
  - intros e He. destruct (exp_reaches (INR L / e)) as [K [HK Hq]]. assert (Hp := exp_pos K).
    destruct (worst_case_loss_below L d _ _ _ ltac:(lia) (b7_loss L d K HL)) as [Lam [HLam Hle]].
    exists K, Lam. split; [assumption|]. split; [assumption|]. split.
    + eapply Rle_trans; [exact Hle|]. apply Rdiv_le_iff; [lra|].
      apply Rdiv_le_iff in Hq; [|assumption].
      assert (0 < e * exp K) by (apply Rmult_lt_0_compat; assumption). lra.
    + intros I i HI Hi Hne. pose proof HI as [Hj _]. destruct (INR_range 2 L i Hi) as [H2 _]. simpl in H2.
      destruct (le_lt_dec i (trig I)) as [Hle'|Hlt].
      * rewrite HB by (assumption || lia). apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
      * rewrite HA by (assumption || lia). destruct (INR_range 4 L i ltac:(lia)) as [H4 _]. simpl in H4.
        assert (0 < 1 / exp K) by (apply Rdiv_lt_0_compat; lra).
        apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
Qed.
