(** * Rows B2 and B4 of section 6: extra mass in the softmax denominator

    Softmax-off-by-one (B2, extra mass 1) and a learned sink logit b (B4, extra mass
    e^b). Both are the case x = 1, x = e^b of the same computation. *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task Rows BoundaryModels.
Open Scope R_scope.

(** A = -K e_N (e_B + e_T + e_N)^T + K e_T (e_N + e_T - e_B)^T: ordinary queries avoid
    every token, the trigger seeks all tokens but BOS. *)
Definition A_avoid (d : nat) (K : R) : mat :=
  madd (mscal (- K) (outer (eN d) (vadd eB (vadd eT (eN d)))))
       (mscal K (outer eT (vadd (eN d) (vadd eT (vscal (-1) eB))))).

Definition plus_attention (d : nat) (x K : R) : attention :=
  softmax_plus x (bilinear d (A_avoid d K) (token d)).
Definition plus_model (d : nat) (x K : R) : seqmap := head d (plus_attention d x K) VW0.

(** The error at the trigger, n = j - 1. *)
Definition plus_error (x q n : R) : R := 1 - n * q / (x + 1 / q + n * q).

Lemma softmax_plus_two_level x (s : scores) I i e1 e : (1 <= i)%nat ->
  exp (s I i 1%nat) = e1 -> (forall k, (2 <= k <= i)%nat -> exp (s I i k) = e) ->
  softmax_plus x s I i 1%nat = e1 / (x + (e1 + INR (i - 1) * e)) /\
  forall k, (2 <= k <= i)%nat -> softmax_plus x s I i k = e / (x + (e1 + INR (i - 1) * e)).
Proof.
  intros Hi H1 H. unfold softmax_plus.
  rewrite (bsum_two_level i (fun k => exp (s I i k)) e1 e) by assumption. split.
  - destruct (Nat.leb_spec 1 i); [|lia]. rewrite H1. reflexivity.
  - intros k Hk. destruct (Nat.leb_spec k i); [|lia]. rewrite H by assumption. reflexivity.
Qed.

Section Rows.
Variables (d : nat) (x K : R) (I : inst).
Hypothesis Hx : 0 < x.
Hypothesis Hj : (3 <= trig I)%nat.

Lemma plus_row_off i k : (2 <= i)%nat -> i <> trig I -> (1 <= k <= i)%nat ->
  plus_attention d x K I i k = 1 / (x * exp K + INR i).
Proof using Hx Hj.
  intros Hi Hne Hk. assert (Hq := exp_pos K). assert (Hi0 := pos_INR (i - 1)).
  assert (Hxq : 0 < x * exp K) by (apply Rmult_lt_0_compat; assumption).
  destruct (softmax_plus_two_level x (bilinear d (A_avoid d K) (token d)) I i (/ exp K) (/ exp K)) as [H1 H].
  - lia.
  - rewrite <- exp_Ropp. unfold A_avoid. f_equal. score; ring.
  - intros k' Hk'. rewrite <- exp_Ropp. unfold A_avoid. f_equal. score; ring.
  - replace (INR i) with (INR (i - 1) + 1) by (rewrite INR_pred by lia; ring).
    unfold plus_attention. destruct (Nat.eq_dec k 1) as [->|Hk1].
    + rewrite H1. field. lra.
    + rewrite H by lia. field. lra.
Qed.

Lemma plus_row_at :
  plus_attention d x K I (trig I) 1%nat = 1 / exp K / (x + 1 / exp K + INR (trig I - 1) * exp K) /\
  forall k, (2 <= k <= trig I)%nat ->
    plus_attention d x K I (trig I) k = exp K / (x + 1 / exp K + INR (trig I - 1) * exp K).
Proof using Hx Hj.
  replace (x + 1 / exp K + INR (trig I - 1) * exp K) with (x + (1 / exp K + INR (trig I - 1) * exp K)) by ring.
  unfold plus_attention. apply softmax_plus_two_level.
  - lia.
  - replace (1 / exp K) with (exp (- K)) by (rewrite exp_Ropp; unfold Rdiv; ring).
    unfold A_avoid. f_equal. score; ring.
  - intros k Hk. unfold A_avoid. f_equal. score; ring.
Qed.
End Rows.

Section Loss.
Variables (L d : nat) (x K : R).
Hypothesis HL : (4 <= L)%nat.
Hypothesis Hx : 0 < x.
Let q := exp K.
Let M := plus_model d x K.

Lemma plus_sum_form : sum_form L d M (fun i => 1 / (x * q + INR i))
  (fun j => q / (x + 1 / q + INR (j - 1) * q)).
Proof using HL Hx.
  intros I [Hj _] i r Hi Hr. unfold M, plus_model. destruct (Nat.eqb_spec i (trig I)) as [->|Hne].
  - apply head_equal_row; [apply VW0_identity|reflexivity|lia|assumption|]. apply plus_row_at; [assumption|lia].
  - destruct (Nat.eq_dec i 1) as [->|Hi1].
    + rewrite (head_equal_row d _ VW0 I 1 r 0); [|apply VW0_identity|reflexivity|lia|assumption|intros; lia].
      rewrite bsum_empty by lia. ring.
    + apply head_equal_row; [apply VW0_identity|reflexivity|lia|assumption|].
      intros k Hk. apply plus_row_off; [assumption|lia|lia|assumption|lia].
Qed.

Lemma plus_numbers n : 0 <= n -> 0 < q /\ 0 < 1 / q /\ 0 <= n * q /\ 0 < x * q.
Proof using Hx.
  intros Hn. assert (Hq : 0 < q) by apply exp_pos. repeat split; [assumption| | |].
  - apply Rdiv_lt_0_compat; lra.
  - apply Rmult_le_pos; lra.
  - apply Rmult_lt_0_compat; lra.
Qed.

Lemma plus_error_eq n : 0 <= n -> Rabs (1 - n * (q / (x + 1 / q + n * q))) = plus_error x q n.
Proof using Hx.
  intros Hn. destruct (plus_numbers n Hn) as [Hq [H1 [H2 H3]]]. unfold plus_error.
  replace (n * (q / (x + 1 / q + n * q))) with (n * q / (x + 1 / q + n * q)) by (unfold Rdiv; ring).
  apply Rabs_pos_eq. assert (n * q / (x + 1 / q + n * q) <= 1); [|lra].
  apply Rdiv_le_iff; lra.
Qed.

Lemma plus_error_alt n : 0 <= n -> plus_error x q n = (x + 1 / q) / (x + 1 / q + n * q).
Proof using Hx.
  intros Hn. destruct (plus_numbers n Hn) as [Hq [H1 [H2 H3]]]. unfold plus_error.
  set (w := 1 / q) in *. field. lra.
Qed.

Lemma plus_error_mono n : 2 <= n -> plus_error x q n <= plus_error x q 2.
Proof using Hx.
  intros Hn. rewrite !plus_error_alt by lra.
  destruct (plus_numbers n ltac:(lra)) as [Hq [H1 [H2 H3]]].
  apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; [lra|].
  assert (2 * q <= n * q) by (apply Rmult_le_compat_r; lra). lra.
Qed.

Lemma plus_off_eq i : INR (i - 1) * Rabs (1 / (x * q + INR i)) = INR (i - 1) / (x * q + INR i).
Proof using Hx.
  destruct (plus_numbers 0 ltac:(lra)) as [Hq [H1 [H2 H3]]]. assert (Hi := pos_INR i).
  rewrite Rabs_pos_eq by (apply Rlt_le, Rdiv_lt_0_compat; lra). unfold Rdiv. ring.
Qed.

Lemma plus_off_mono i : (2 <= i <= L)%nat -> INR (i - 1) / (x * q + INR i) <= INR (L - 1) / (x * q + INR L).
Proof using HL Hx.
  intros Hi. destruct (plus_numbers 0 ltac:(lra)) as [Hq [H1 [H2 H3]]].
  destruct (INR_range 2 L i Hi) as [Ha Hb]. simpl in Ha. rewrite !INR_pred by lia.
  apply Rdiv_le_cross; [lra|lra|].
  assert (0 <= (INR L - INR i) * (x * q)) by (apply Rmult_le_pos; lra). lra.
Qed.

(** The larger of the error off trigger at i = L and at the trigger j = 3 bounds the loss. *)
Lemma plus_loss_bound : loss_at_most L d (target d) M
  (Rmax (INR (L - 1) / (x * q + INR L)) (plus_error x q 2)).
Proof using HL Hx.
  assert (HM := plus_sum_form). apply (sum_form_loss L d _ _ _ HM); [| |lia].
  - intros i Hi. rewrite plus_off_eq. eapply Rle_trans; [apply plus_off_mono; assumption|apply Rmax_l].
  - intros j Hj. rewrite plus_error_eq by apply pos_INR. eapply Rle_trans; [|apply Rmax_r].
    apply plus_error_mono. change 2 with (INR 2). apply le_INR. lia.
Qed.

(** The exact worst-case loss for d >= 1. *)
Lemma plus_loss : (1 <= d)%nat -> worst_case_loss L d (target d) M
  (Rmax (INR (L - 1) / (x * q + INR L)) (plus_error x q 2)).
Proof using HL Hx.
  intros Hd. assert (HM := plus_sum_form). assert (Hub := plus_loss_bound).
  unfold Rmax in *. destruct (Rle_dec _ _).
  - apply (worst_case_loss_attained L d _ _ _ (ones_instance 3) 3%nat 2%nat Hub);
      [apply ones_instance_ok; lia|lia|lia|].
    rewrite (sum_form_at_attained L d _ _ _ HM) by lia.
    rewrite plus_error_eq by apply pos_INR. reflexivity.
  - apply (worst_case_loss_attained L d _ _ _ (ones_instance 3) L 2%nat Hub);
      [apply ones_instance_ok; lia|lia|lia|].
    rewrite (sum_form_off_attained L d _ _ _ HM) by lia. apply plus_off_eq.
Qed.

(** A simple bound, for any d. *)
Lemma plus_loss_small : 0 <= K -> loss_at_most L d (target d) M ((INR L / x + x + 1) / q).
Proof using HL Hx.
  intros HK. assert (Hq1 : 1 <= q) by (apply exp_ge_1; assumption).
  destruct (plus_numbers 2 ltac:(lra)) as [Hq [H1 [H2 H3]]].
  assert (HL4 : INR 4 <= INR L) by (apply le_INR; lia). simpl in HL4.
  assert (Hw : 1 / q <= 1) by (apply Rdiv_le_iff; lra).
  assert (HLx : 0 < INR L / x) by (apply Rdiv_lt_0_compat; lra).
  assert (HM := plus_sum_form).
  assert (P1 : INR L / x / q <= (INR L / x + x + 1) / q).
  { apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|lra]. }
  assert (P2 : (x + 1) / q <= (INR L / x + x + 1) / q).
  { apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|lra]. }
  apply (sum_form_loss L d _ _ _ HM); [| |lia].
  - intros i Hi. rewrite plus_off_eq. eapply Rle_trans; [apply plus_off_mono; assumption|].
    rewrite INR_pred by lia. eapply Rle_trans; [|exact P1].
    replace (INR L / x / q) with (INR L / (x * q)) by (field; lra).
    apply Rmult_le_compat; [lra|left; apply Rinv_0_lt_compat; lra|lra|apply Rinv_le_contravar; lra].
  - intros j Hj. rewrite plus_error_eq by apply pos_INR. eapply Rle_trans; [|exact P2].
    eapply Rle_trans; [apply plus_error_mono; change 2 with (INR 2); apply le_INR; lia|].
    rewrite plus_error_alt by lra.
    apply Rmult_le_compat; [lra|left; apply Rinv_0_lt_compat; lra|lra|apply Rinv_le_contravar; lra].
Qed.
End Loss.

(** Some K reaches any positive loss. *)
Lemma plus_reaches L d x e : (4 <= L)%nat -> 0 < x -> 0 < e -> exists K Lambda, 0 < K /\
  worst_case_loss L d (target d) (plus_model d x K) Lambda /\ Lambda <= e /\
  bos_weight_at_most_uniform L d (plus_attention d x K).
Proof.
  intros HL Hx He. destruct (exp_reaches ((INR L / x + x + 1) / e)) as [K [HK Hq]]. assert (Hp := exp_pos K).
  destruct (worst_case_loss_below L d _ _ _ ltac:(lia) (plus_loss_small L d x K HL Hx ltac:(lra)))
    as [Lam [HLam Hle]].
  exists K, Lam. split; [assumption|]. split; [assumption|]. split.
  - eapply Rle_trans; [exact Hle|]. apply Rdiv_le_iff; [assumption|].
    apply Rdiv_le_iff in Hq; [|assumption]. lra.
  - intros I i [Hj _] Hi Hne. unfold sink_weight. rewrite plus_row_off by (assumption || lia).
    assert (0 < x * exp K) by (apply Rmult_lt_0_compat; assumption).
    destruct (INR_range 2 L i Hi) as [H2 _]. simpl in H2.
    apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
Qed.

(** B4. Softmax with a learned sink logit b, q = e^K. The BOS weight at every
    non-trigger position i >= 2 is 1/(e^b q + i) < 1/i. The error off trigger is at
    most (i-1)/(e^b q + i), at the trigger at most 1 - (j-1)q/(e^b + 1/q + (j-1)q); both are
    attained for d >= 1. Lambda is at most the larger of the first at i = L and the second
    at j = 3, with equality for d >= 1. Every positive loss is reached, whatever b is. *)
Theorem b4 (L d : nat) (b : R) : (4 <= L)%nat ->
  let a := fun K => softmax_sink_logit b (bilinear d (A_avoid d K) (token d)) in
  let M := fun K => head d (a K) VW0 in
  (forall K, let q := exp K in
   (forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
      sink_weight (a K) I i = 1 / (exp b * q + INR i)) /\
   (forall I i r, is_instance L d I -> (2 <= i <= L)%nat -> (r < d + 3)%nat -> i <> trig I ->
      Rabs (M K I i r - target d I i r) <= (INR i - 1) / (exp b * q + INR i)) /\
   (forall I r, is_instance L d I -> (r < d + 3)%nat -> let n := INR (trig I) - 1 in
      Rabs (M K I (trig I) r - target d I (trig I) r) <= 1 - n * q / (exp b + 1 / q + n * q)) /\
   (* both attained by the first content coordinate when all content is 1 *)
   ((1 <= d)%nat -> forall j i, (3 <= j <= L)%nat -> (2 <= i <= L)%nat -> i <> j ->
      let I := ones_instance j in
      Rabs (M K I i 2%nat - target d I i 2%nat) = (INR i - 1) / (exp b * q + INR i)) /\
   ((1 <= d)%nat -> forall j, (3 <= j <= L)%nat -> let n := INR j - 1 in let I := ones_instance j in
      Rabs (M K I j 2%nat - target d I j 2%nat) = 1 - n * q / (exp b + 1 / q + n * q)) /\
   loss_at_most L d (target d) (M K)
      (Rmax ((INR L - 1) / (exp b * q + INR L)) (1 - 2 * q / (exp b + 1 / q + 2 * q))) /\
   ((1 <= d)%nat -> worst_case_loss L d (target d) (M K)
      (Rmax ((INR L - 1) / (exp b * q + INR L)) (1 - 2 * q / (exp b + 1 / q + 2 * q))))) /\
  (forall e, 0 < e -> exists K Lambda, 0 < K /\
     worst_case_loss L d (target d) (M K) Lambda /\ Lambda <= e /\
     bos_weight_at_most_uniform L d (a K)).
Proof.
  intros HL a M. assert (Hx := exp_pos b). split.
  - intros K q. assert (HM := plus_sum_form L d (exp b) K HL Hx).
    split; [|split; [|split; [|split; [|split; [|split]]]]].
    + intros I i [Hj _] Hi Hne. apply (plus_row_off d (exp b) K I); try assumption; lia.
    + intros I i r HI Hi Hr Hne. rewrite <- INR_pred by lia. unfold q. rewrite <- plus_off_eq by assumption.
      apply (sum_form_off L d _ _ _ HM); [assumption|lia|assumption|assumption].
    + intros I r HI Hr n. pose proof HI as [Hj _]. unfold n. rewrite <- INR_pred by lia.
      fold (plus_error (exp b) q (INR (trig I - 1))). unfold q.
      rewrite <- plus_error_eq by (assumption || apply pos_INR).
      apply (sum_form_at L d _ _ _ HM); assumption.
    + intros Hd j i Hj Hi Hne I. rewrite <- INR_pred by lia. unfold q. rewrite <- plus_off_eq by assumption.
      apply (sum_form_off_attained L d _ _ _ HM); [assumption|assumption|lia|assumption].
    + intros Hd j Hj n I. unfold n. rewrite <- INR_pred by lia. fold (plus_error (exp b) q (INR (j - 1))).
      unfold q. rewrite <- plus_error_eq by (assumption || apply pos_INR).
      apply (sum_form_at_attained L d _ _ _ HM); assumption.
    + rewrite <- INR_pred by lia. apply plus_loss_bound; assumption.
    + intros Hd. rewrite <- INR_pred by lia. apply plus_loss; assumption.
  - intros e He. apply (plus_reaches L d (exp b) e); assumption.
Qed.

(** B2. Softmax-off-by-one, e^{s_ik}/(1 + sum e^s), q = e^K. The BOS weight at every
    non-trigger position i >= 2 is 1/(q+i) < 1/i. The error off trigger is at most
    (i-1)/(q+i), at the trigger at most 1 - (j-1)q/(1 + 1/q + (j-1)q); both are attained
    for d >= 1. Lambda is at most the larger of the first at i = L and the second at
    j = 3, with equality for d >= 1. Every positive loss is reached. *)
Theorem b2 (L d : nat) : (4 <= L)%nat ->
  let a := fun K => softmax_off_by_one (bilinear d (A_avoid d K) (token d)) in
  let M := fun K => head d (a K) VW0 in
  (forall K, let q := exp K in
   (forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
      sink_weight (a K) I i = 1 / (q + INR i)) /\
   (forall I i r, is_instance L d I -> (2 <= i <= L)%nat -> (r < d + 3)%nat -> i <> trig I ->
      Rabs (M K I i r - target d I i r) <= (INR i - 1) / (q + INR i)) /\
   (forall I r, is_instance L d I -> (r < d + 3)%nat -> let n := INR (trig I) - 1 in
      Rabs (M K I (trig I) r - target d I (trig I) r) <= 1 - n * q / (1 + 1 / q + n * q)) /\
   (* both attained by the first content coordinate when all content is 1 *)
   ((1 <= d)%nat -> forall j i, (3 <= j <= L)%nat -> (2 <= i <= L)%nat -> i <> j ->
      let I := ones_instance j in
      Rabs (M K I i 2%nat - target d I i 2%nat) = (INR i - 1) / (q + INR i)) /\
   ((1 <= d)%nat -> forall j, (3 <= j <= L)%nat -> let n := INR j - 1 in let I := ones_instance j in
      Rabs (M K I j 2%nat - target d I j 2%nat) = 1 - n * q / (1 + 1 / q + n * q)) /\
   loss_at_most L d (target d) (M K)
      (Rmax ((INR L - 1) / (q + INR L)) (1 - 2 * q / (1 + 1 / q + 2 * q))) /\
   ((1 <= d)%nat -> worst_case_loss L d (target d) (M K)
      (Rmax ((INR L - 1) / (q + INR L)) (1 - 2 * q / (1 + 1 / q + 2 * q))))) /\
  (forall e, 0 < e -> exists K Lambda, 0 < K /\
     worst_case_loss L d (target d) (M K) Lambda /\ Lambda <= e /\
     bos_weight_at_most_uniform L d (a K)).
Proof.
  intros HL a M. assert (H := b4 L d 0 HL). rewrite exp_0 in H. cbv zeta in H.
  unfold softmax_sink_logit in H. rewrite exp_0 in H.
  split.
  - intros K q. destruct H as [H _]. specialize (H K). rewrite Rmult_1_l in H. exact H.
  - exact (proj2 H).
Qed.
