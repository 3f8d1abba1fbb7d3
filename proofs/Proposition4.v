(** * Proposition 4: the softmax head with a sink solves the task (section 5) *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task Rows.
Open Scope R_scope.

(** A_K = K (e_N - e_T) e_B^T: ordinary queries seek BOS, the trigger avoids it. *)
Definition A_sink (d : nat) (K : R) : mat :=
  mscal K (outer (vadd (eN d) (vscal (-1) eT)) eB).

(** The softmax attention with these scores. *)
Definition sink_attention (d : nat) (K : R) : attention := softmax (bilinear d (A_sink d K) (token d)).

(** A quotient of this kind is increasing in the numerator n. *)
Lemma share_le n n' q : 0 <= n <= n' -> 0 < q -> n / (q + n) <= n' / (q + n').
Proof.
  intros Hn Hq. apply Rmult_le_reg_r with ((q + n) * (q + n')); [apply Rmult_lt_0_compat; lra|].
  replace (n / (q + n) * ((q + n) * (q + n'))) with (n * (q + n')) by (field; lra).
  replace (n' / (q + n') * ((q + n) * (q + n'))) with (n' * (q + n)) by (field; lra).
  assert (n * q <= n' * q) by (apply Rmult_le_compat_r; lra). lra.
Qed.

(** The trigger row is never the worst. *)
Lemma sink_trigger_error K j B : (3 <= j)%nat -> 2 <= B ->
  Rabs (1 - INR (j - 1) * (exp K / (1 + INR (j - 1) * exp K))) <= B / (exp K + B).
Proof.
  intros Hj HB2. assert (Hq := exp_pos K). set (q := exp K) in *.
  assert (Hn : INR 2 <= INR (j - 1)) by (apply le_INR; lia). change (INR 2) with 2 in Hn.
  set (n := INR (j - 1)) in *.
  assert (H1 : 2 * q <= n * q) by (apply Rmult_le_compat_r; lra).
  replace (1 - n * (q / (1 + n * q))) with (/ (1 + n * q)) by (field; lra).
  rewrite Rabs_pos_eq by (left; apply Rinv_0_lt_compat; lra).
  apply Rmult_le_reg_r with ((1 + n * q) * (q + B)); [apply Rmult_lt_0_compat; lra|].
  replace (/ (1 + n * q) * ((1 + n * q) * (q + B))) with (q + B) by (field; lra).
  replace (B / (q + B) * ((1 + n * q) * (q + B))) with (B + B * (n * q)) by (field; lra).
  assert (1 * q <= B * (n * q)); [|lra]. apply Rmult_le_compat; lra.
Qed.

Section Weights.
Variables (d : nat) (K : R) (I : inst).
Hypothesis Hj : (3 <= trig I)%nat.

Lemma sink_row_off i : (2 <= i)%nat -> i <> trig I ->
  sink_attention d K I i 1%nat = exp K / (exp K + INR (i - 1)) /\
  forall k, (2 <= k <= i)%nat -> sink_attention d K I i k = 1 / (exp K + INR (i - 1)).
Proof using Hj.
  intros Hi Hne. unfold sink_attention.
  assert (H := softmax_two_level (bilinear d (A_sink d K) (token d)) I i (exp K) 1).
  rewrite Rmult_1_r in H. apply H.
  - lia.
  - unfold A_sink. f_equal. score. ring.
  - intros k Hk. rewrite <- exp_0. unfold A_sink. f_equal. score; ring.
Qed.

Lemma sink_row_at :
  sink_attention d K I (trig I) 1%nat = 1 / (1 + INR (trig I - 1) * exp K) /\
  forall k, (2 <= k <= trig I)%nat ->
    sink_attention d K I (trig I) k = exp K / (1 + INR (trig I - 1) * exp K).
Proof using Hj.
  assert (Hq := exp_pos K). assert (Hn : 0 < INR (trig I - 1)) by (apply lt_0_INR; lia).
  assert (Hp : 0 < INR (trig I - 1) * exp K) by (apply Rmult_lt_0_compat; assumption).
  destruct (softmax_two_level (bilinear d (A_sink d K) (token d)) I (trig I) (/ exp K) 1) as [H1 H].
  - lia.
  - rewrite <- exp_Ropp. unfold A_sink. f_equal. score. ring.
  - intros k Hk. rewrite <- exp_0. unfold A_sink. f_equal. score; ring.
  - unfold sink_attention. split.
    + rewrite H1. field. lra.
    + intros k Hk. rewrite H by assumption. field. lra.
Qed.
End Weights.

(** Proposition 4, the attention weights, q = e^K: off trigger q/(q+i-1) on BOS and
    1/(q+i-1) on each other token; at the trigger 1/(1+(j-1)q) on BOS and
    q/(1+(j-1)q) on each other token. *)
Theorem proposition_4_weights (L d : nat) (K : R) :
  let q := exp K in let a := sink_attention d K in
  forall I, is_instance L d I -> let j := trig I in
  (forall i, (2 <= i <= L)%nat -> i <> j ->
     a I i 1%nat = q / (q + INR i - 1) /\
     forall k, (2 <= k <= i)%nat -> a I i k = 1 / (q + INR i - 1)) /\
  a I j 1%nat = 1 / (1 + (INR j - 1) * q) /\
  (forall k, (2 <= k <= j)%nat -> a I j k = q / (1 + (INR j - 1) * q)).
Proof.
  intros q a I [Hj _] j. split.
  - intros i Hi Hne. destruct (sink_row_off d K I ltac:(lia) i ltac:(lia) Hne) as [H1 H].
    rewrite INR_pred in H1, H by lia. split.
    + unfold a. rewrite H1. f_equal. unfold q. ring.
    + intros k Hk. unfold a. rewrite H by assumption. f_equal. unfold q. ring.
  - destruct (sink_row_at d K I ltac:(lia)) as [H1 H].
    rewrite INR_pred in H1, H by lia. split; [exact H1|exact H].
Qed.

Section Loss.
Variables (L d : nat) (K : R) (V : mat).
Hypothesis HL : (4 <= L)%nat.
Hypothesis HV : identity_on_W d V.
Hypothesis HB : forall r, (r < d + 3)%nat -> V r 0%nat = 0.
Let M : seqmap := softmax_head d (A_sink d K) V.

Lemma sink_sum_form : sum_form L d M
  (fun i => 1 / (exp K + INR (i - 1))) (fun j => exp K / (1 + INR (j - 1) * exp K)).
Proof using HL HV HB.
  intros I [Hj _] i r Hi Hr. unfold M, softmax_head. fold (sink_attention d K).
  destruct (Nat.eqb_spec i (trig I)) as [->|Hne].
  - apply head_equal_row; [assumption|apply HB; assumption|lia|assumption|].
    apply sink_row_at. lia.
  - destruct (Nat.eq_dec i 1) as [->|Hi1].
    + rewrite (head_equal_row d _ V I 1 r 0); [rewrite bsum_empty by lia; ring|assumption|
        apply HB; assumption|lia|assumption|intros; lia].
    + apply head_equal_row; [assumption|apply HB; assumption|lia|assumption|].
      apply sink_row_off; [lia|lia|assumption].
Qed.

Lemma sink_loss_content : (1 <= d)%nat ->
  worst_case_loss L d (target d) M ((INR L - 1) / (exp K + INR L - 1)).
Proof using HL HV HB.
  intros Hd. assert (Hq := exp_pos K). assert (HM := sink_sum_form).
  assert (HL4 : INR 4 <= INR L) by (apply le_INR; lia). simpl in HL4.
  replace ((INR L - 1) / (exp K + INR L - 1)) with (INR (L - 1) / (exp K + INR (L - 1))).
  2:{ rewrite INR_pred by lia. f_equal. ring. }
  assert (Hpos : forall i, 0 < 1 / (exp K + INR (i - 1))).
  { intros i. assert (H := pos_INR (i - 1)). apply Rdiv_lt_0_compat; lra. }
  apply (worst_case_loss_attained L d _ _ _ (ones_instance 3) L 2%nat);
    [|apply ones_instance_ok; lia|lia|lia|].
  - apply (sum_form_loss L d M _ _ HM); [| |lia].
    + intros i Hi. rewrite Rabs_pos_eq by (left; apply Hpos).
      unfold Rdiv at 1. rewrite Rmult_1_l. apply share_le; [|assumption].
      split; [apply pos_INR|apply le_INR; lia].
    + intros j Hj. apply sink_trigger_error; [lia|]. rewrite INR_pred by lia. lra.
  - rewrite (sum_form_off_attained L d M _ _ HM) by lia.
    rewrite Rabs_pos_eq by (left; apply Hpos). unfold Rdiv. ring.
Qed.

(** Without content: the sum of the tokens 2..i is at most L-2 off trigger. *)
Lemma token_sum_no_content I i r : d = 0%nat -> is_instance L d I -> (2 <= i <= L)%nat -> (r < d + 3)%nat ->
  i <> trig I -> 0 <= bsum 2 i (fun k => token d I k r) <= INR (Nat.min (i - 1) (L - 2)).
Proof using HL.
  intros Hd [Hj _] Hi Hr Hne. split.
  - apply bsum_nonneg. intros k Hk. destruct (coord_cases d r Hr) as [->|[->|[->|[m [Hm _]]]]]; [..|lia].
    + rewrite token_B by lia. lra.
    + rewrite token_T by lia. destruct (k =? trig I)%nat; lra.
    + rewrite token_N by lia. destruct (k =? trig I)%nat; lra.
  - destruct (coord_cases d r Hr) as [->|[->|[->|[m [Hm _]]]]]; [..|lia].
    + rewrite bsum_zero_ext; [apply pos_INR|]. intros k Hk. apply token_B. lia.
    + destruct (le_lt_dec (trig I) i) as [Hle|Hlt].
      * rewrite (bsum_ext 2 i _ (fun k => if (k =? trig I)%nat then (fun _ => 1) k else 0)).
        -- rewrite bsum_indicator by lia. change 1 with (INR 1). apply le_INR. lia.
        -- intros k Hk. apply token_T. lia.
      * rewrite bsum_zero_ext; [apply pos_INR|]. intros k Hk. rewrite token_T by lia.
        destruct (Nat.eqb_spec k (trig I)); [lia|reflexivity].
    + destruct (le_lt_dec (trig I) i) as [Hle|Hlt].
      * rewrite (bsum_ext 2 i _ (fun k => 1 - if (k =? trig I)%nat then (fun _ => 1) k else 0)).
        -- rewrite bsum_minus, bsum_indicator, bsum_const, Rmult_1_r by lia.
           replace (S i - 2)%nat with (S (i - 2)) by lia.
           rewrite S_INR. replace (INR (i - 2) + 1 - 1) with (INR (i - 2)) by ring. apply le_INR. lia.
        -- intros k Hk. rewrite token_N by lia. destruct (k =? trig I)%nat; ring.
      * eapply Rle_trans; [apply (bsum_le _ _ _ (fun _ => 1))|].
        -- intros k Hk. rewrite token_N by lia. destruct (k =? trig I)%nat; lra.
        -- rewrite bsum_const, Rmult_1_r. apply le_INR. lia.
Qed.

Lemma sink_loss_no_content : d = 0%nat ->
  worst_case_loss L d (target d) M ((INR L - 2) / (exp K + INR L - 2)).
Proof using HL HV HB.
  intros Hd. assert (Hq := exp_pos K). assert (HM := sink_sum_form).
  assert (HL4 : INR 4 <= INR L) by (apply le_INR; lia). simpl in HL4.
  assert (E2 : INR (L - 2) = INR L - 2) by (rewrite minus_INR by lia; reflexivity).
  replace ((INR L - 2) / (exp K + INR L - 2)) with (INR (L - 2) / (exp K + INR (L - 2))).
  2:{ rewrite E2. f_equal. ring. }
  apply (worst_case_loss_attained L d _ _ _ (zero_instance L) (L - 1)%nat (d + 2)%nat);
    [|apply zero_instance_ok; lia|lia|lia|].
  - intros I HI i r Hi Hr. pose proof HI as [Hj _]. destruct (Nat.eq_dec i (trig I)) as [->|Hne].
    + eapply Rle_trans; [apply (sum_form_at L d M _ _ HM); assumption|].
      apply sink_trigger_error; [lia|]. lra.
    + rewrite HM, target_off, Rminus_0_r by assumption.
      destruct (Nat.eqb_spec i (trig I)); [contradiction|].
      destruct (Nat.eq_dec i 1) as [->|Hi1].
      { rewrite bsum_empty, Rmult_0_r, Rabs_R0 by lia. apply Rlt_le, Rdiv_lt_0_compat; lra. }
      destruct (token_sum_no_content I i r Hd HI ltac:(lia) Hr Hne) as [H0 H1].
      assert (Hn := pos_INR (i - 1)).
      rewrite Rabs_pos_eq.
      2:{ apply Rmult_le_pos; [apply Rlt_le, Rdiv_lt_0_compat; lra|assumption]. }
      apply Rle_trans with (INR (Nat.min (i - 1) (L - 2)) / (exp K + INR (Nat.min (i - 1) (L - 2)))).
      * unfold Rdiv. rewrite Rmult_1_l, Rmult_comm. assert (Hm := pos_INR (Nat.min (i - 1) (L - 2))).
        apply Rmult_le_compat; [assumption|left; apply Rinv_0_lt_compat; lra|assumption|].
        apply Rinv_le_contravar; [lra|]. apply Rplus_le_compat_l, le_INR. lia.
      * apply share_le; [|assumption]. split; [apply pos_INR|apply le_INR; lia].
  - rewrite HM by (lia || (apply zero_instance_ok; lia)).
    rewrite target_off, Rminus_0_r by (cbn [trig zero_instance]; lia).
    cbn [trig zero_instance]. destruct (Nat.eqb_spec (L - 1) L); [lia|].
    rewrite (bsum_ext 2 (L - 1) _ (fun _ => 1)).
    2:{ intros k Hk. rewrite token_N by lia. cbn [trig zero_instance]. destruct (Nat.eqb_spec k L); [lia|reflexivity]. }
    rewrite bsum_const. replace (S (L - 1) - 2)%nat with (L - 2)%nat by lia.
    replace (L - 1 - 1)%nat with (L - 2)%nat by lia. rewrite Rmult_1_r.
    rewrite Rabs_pos_eq; [unfold Rdiv; ring|].
    apply Rmult_le_pos; [|apply pos_INR]. apply Rlt_le, Rdiv_lt_0_compat; lra.
Qed.
End Loss.

(** How large q must be for a share n/(q+n) of at most eta. *)
Lemma share_le_iff n q eta : 0 < n -> 0 < q -> 0 < eta ->
  (n / (q + n) <= eta <-> n * (1 - eta) / eta <= q).
Proof.
  intros Hn Hq He.
  assert (E1 : n / (q + n) * (q + n) = n) by (field; lra).
  assert (E2 : n * (1 - eta) / eta * eta = n * (1 - eta)) by (field; lra).
  split; intros H.
  - apply Rmult_le_reg_r with eta; [assumption|]. rewrite E2.
    apply (Rmult_le_compat_r (q + n)) in H; [|lra]. rewrite E1 in H. lra.
  - apply Rmult_le_reg_r with (q + n); [lra|]. rewrite E1.
    apply (Rmult_le_compat_r eta) in H; [|lra]. rewrite E2 in H. lra.
Qed.

Lemma le_exp_iff x K : 0 < x -> (x <= exp K <-> ln x <= K).
Proof.
  intros Hx. split; intros H.
  - rewrite <- (ln_exp K). destruct H as [H| ->]; [left; apply ln_increasing; assumption|right; reflexivity].
  - rewrite <- (exp_ln x Hx). destruct H as [H| ->]; [left; apply exp_increasing; assumption|right; reflexivity].
Qed.

(** Proposition 4. Softmax with A_K = K (e_N - e_T) e_B^T, q = e^K (any real K), and V the
    identity on W with V e_B = 0. At non-trigger positions i >= 2 the sink weight
    is q/(q+i-1); its smallest value is q/(q+L-1), attained at i = L. The worst-case
    loss is (L-1)/(q+L-1) if d >= 1 and (L-2)/(q+L-2) if d = 0. For 0 < eta < 1 it is at
    most eta exactly when q >= (L-1)(1-eta)/eta, that is when K >= ln((L-1)(1-eta)/eta), if
    d >= 1; for d = 0 the same with L-2 in place of L-1. *)
Theorem proposition_4 (L d : nat) (K : R) (V : mat) :
  (4 <= L)%nat -> identity_on_W d V -> (forall r, (r < d + 3)%nat -> V r 0%nat = 0) ->
  let q := exp K in let a := softmax (bilinear d (A_sink d K) (token d)) in
  let M := softmax_head d (A_sink d K) V in
  (* the weights *)
  (forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
     sink_weight a I i = q / (q + INR i - 1) /\
     forall k, (2 <= k <= i)%nat -> a I i k = 1 / (q + INR i - 1)) /\
  (forall I, is_instance L d I ->
     sink_weight a I (trig I) = 1 / (1 + (INR (trig I) - 1) * q) /\
     forall k, (2 <= k <= trig I)%nat -> a I (trig I) k = q / (1 + (INR (trig I) - 1) * q)) /\
  (* the smallest sink weight off trigger *)
  (forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
     q / (q + INR L - 1) <= sink_weight a I i) /\
  (exists I, is_instance L d I /\ L <> trig I /\ sink_weight a I L = q / (q + INR L - 1)) /\
  (* the worst-case loss *)
  ((1 <= d)%nat -> worst_case_loss L d (target d) M ((INR L - 1) / (q + INR L - 1))) /\
  (d = 0%nat -> worst_case_loss L d (target d) M ((INR L - 2) / (q + INR L - 2))) /\
  (* what it takes *)
  (forall Lambda eta, (1 <= d)%nat -> worst_case_loss L d (target d) M Lambda -> 0 < eta < 1 ->
     (Lambda <= eta <-> (INR L - 1) * (1 - eta) / eta <= q) /\
     (Lambda <= eta <-> ln ((INR L - 1) * (1 - eta) / eta) <= K)) /\
  (forall Lambda eta, d = 0%nat -> worst_case_loss L d (target d) M Lambda -> 0 < eta < 1 ->
     (Lambda <= eta <-> (INR L - 2) * (1 - eta) / eta <= q) /\
     (Lambda <= eta <-> ln ((INR L - 2) * (1 - eta) / eta) <= K)).
Proof.
  intros HL HV HB q a M. assert (Hq : 0 < q) by apply exp_pos.
  assert (HL4 : INR 4 <= INR L) by (apply le_INR; lia). simpl in HL4.
  assert (W := proposition_4_weights L d K). cbv zeta in W. fold q in W.
  split; [|split; [|split; [|split; [|split; [|split; [|split]]]]]].
  - intros I i HI Hi Hne. apply (W I HI); assumption.
  - intros I HI. apply (W I HI).
  - intros I i HI Hi Hne. unfold sink_weight. change a with (sink_attention d K).
    rewrite (proj1 (proj1 (W I HI) i Hi Hne)). destruct (INR_range 2 L i Hi) as [H1 H2]. simpl in H1.
    apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
  - exists (zero_instance 3). assert (HI : is_instance L d (zero_instance 3)) by (apply zero_instance_ok; lia).
    split; [assumption|]. split; [simpl; lia|].
    apply (W (zero_instance 3) HI); [lia|simpl; lia].
  - intros Hd. apply sink_loss_content; assumption.
  - intros Hd. apply sink_loss_no_content; assumption.
  - intros Lambda eta Hd HLam He.
    assert (HL1 := sink_loss_content L d K V HL HV HB Hd).
    assert (E : Lambda = (INR L - 1) / (q + (INR L - 1))).
    { rewrite (is_lub_u _ _ _ HLam HL1). f_equal. unfold q. ring. }
    assert (Hiff : Lambda <= eta <-> (INR L - 1) * (1 - eta) / eta <= q).
    { rewrite E. apply share_le_iff; lra. }
    split; [exact Hiff|]. rewrite Hiff. apply le_exp_iff.
    apply Rdiv_lt_0_compat; [|lra]. apply Rmult_lt_0_compat; lra.
  - intros Lambda eta Hd HLam He.
    assert (HL2 := sink_loss_no_content L d K V HL HV HB Hd).
    assert (E : Lambda = (INR L - 2) / (q + (INR L - 2))).
    { rewrite (is_lub_u _ _ _ HLam HL2). f_equal. unfold q. ring. }
    assert (Hiff : Lambda <= eta <-> (INR L - 2) * (1 - eta) / eta <= q).
    { rewrite E. apply share_le_iff; lra. }
    split; [exact Hiff|]. rewrite Hiff. apply le_exp_iff.
    apply Rdiv_lt_0_compat; [|lra]. apply Rmult_lt_0_compat; lra.
Qed.
