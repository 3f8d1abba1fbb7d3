(** * The computable constants are those of the theorems.

    Each statement below is the theorem of that name at rational parameters, with its
    constants replaced by the functions of Constants. The proofs apply the theorems and do
    nothing else, so that neither side can change alone. *)
From Coq Require Import Reals Lra Lia Arith List QArith Qreals Qminmax.
From Sinkproof Require Import Sums Task Rows Theorem1 Proposition1s Theorem1PrimeCore UniformLaw Theorem1Prime
  Theorem2Core Theorem2 Theorem3 Proposition4 Corollary5 BoundaryModels Boundary1 Boundary24 Boundary3
  Boundary5 Boundary6 Boundary7 Boundary8 Constants.
Open Scope R_scope.

(** ** From rationals to reals *)

Lemma Q2R_int z : Q2R (z # 1) = IZR z.
Proof. unfold Q2R. simpl. field. Qed.

Lemma Q2R_Qnat n : Q2R (Qnat n) = INR n.
Proof. unfold Qnat, inject_Z. rewrite Q2R_int, <- INR_IZR_INZ. reflexivity. Qed.

(** Both divisions by 0 give 0. *)
Lemma Q2R_quotient x y : Q2R (x / y) = Q2R x / Q2R y.
Proof.
  destruct (Qeq_dec y 0) as [E|E]; [|apply Q2R_div; exact E].
  unfold Qdiv. rewrite Q2R_mult. rewrite (Qeq_eqR _ _ E), (Qeq_eqR (/ y) 0).
  - rewrite Q2R_int. unfold Rdiv. rewrite Rinv_0. reflexivity.
  - rewrite E. reflexivity.
Qed.

Lemma Q2R_min x y : Q2R (Qmin x y) = Rmin (Q2R x) (Q2R y).
Proof.
  destruct (Q.min_spec x y) as [[H E]|[H E]]; rewrite (Qeq_eqR _ _ E); symmetry.
  - apply Rmin_left. left. apply Qlt_Rlt. exact H.
  - apply Rmin_right. apply Qle_Rle. exact H.
Qed.

Lemma Q2R_max x y : Q2R (Qmax x y) = Rmax (Q2R x) (Q2R y).
Proof.
  destruct (Q.max_spec x y) as [[H E]|[H E]]; rewrite (Qeq_eqR _ _ E); symmetry.
  - apply Rmax_right. left. apply Qlt_Rlt. exact H.
  - apply Rmax_left. apply Qle_Rle. exact H.
Qed.

(** Reads a rational expression as the real one. *)
Ltac to_reals := repeat first
  [rewrite Q2R_plus | rewrite Q2R_minus | rewrite Q2R_mult | rewrite Q2R_quotient
  | rewrite Q2R_min | rewrite Q2R_max | rewrite Q2R_Qnat | rewrite Q2R_int].
Tactic Notation "unfold_to_reals" constr(f) := unfold f; to_reals.

Lemma kappa_Q_correct L : Q2R (kappa_Q L) = kappa L.
Proof. unfold_to_reals kappa_Q. reflexivity. Qed.

Lemma leak_bound_Q_correct L eta : Q2R (leak_bound_Q L eta) = Q2R eta / (kappa L - Q2R eta).
Proof. unfold_to_reals leak_bound_Q. rewrite kappa_Q_correct. reflexivity. Qed.

Lemma length_ratio_Q_correct L : Q2R (length_ratio_Q L) = (INR L - 1) / (INR L - 3).
Proof. unfold_to_reals length_ratio_Q. reflexivity. Qed.

Lemma U0_Q_correct L d : Q2R (U0_Q L d) = U0 L d.
Proof. unfold_to_reals U0_Q. rewrite length_ratio_Q_correct. reflexivity. Qed.

(** ** The theorems *)

Theorem theorem_1_constants L d a V Lambda eta eps :
  (4 <= L)%nat -> normalised_causal L d a -> worst_case_loss L d (target d) (head d a V) Lambda ->
  (Lambda <= Q2R eta -> Q2R eta < Q2R (kappa_Q L) / 2 ->
   forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
   leak a I i <= Q2R (leak_bound_Q L eta) /\ Q2R (sink_weight_bound_Q L eta) <= sink_weight a I i) /\
  (0 < Q2R eps < 1 -> Lambda <= Q2R (loss_needed_Q L eps) ->
   forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
   1 - Q2R eps <= sink_weight a I i).
Proof.
  intros HL Ha HLam. destruct (theorem_1 L d a V Lambda HL Ha HLam) as [T1 T2].
  unfold_to_reals sink_weight_bound_Q. rewrite leak_bound_Q_correct, kappa_Q_correct. split.
  - intros H1 H2 I i HI Hi Hne. specialize (T1 (Q2R eta) H1 H2 I i HI Hi Hne).
    split; [exact T1|]. unfold leak in T1. lra.
  - intros He H. apply (T2 (Q2R eps) He). revert H. unfold_to_reals loss_needed_Q. rewrite kappa_Q_correct. trivial.
Qed.

Theorem proposition_1s_constants L d eta : (4 <= L)%nat -> 0 < Q2R eta < 1 / 2 ->
  (exists a V, normalised_causal L d a /\ identity_on_W d V /\
    worst_case_loss L d (target d) (head d a V) (Q2R eta) /\
    exists I i, is_instance L d I /\ (2 <= i <= L)%nat /\ i <> trig I /\ leak a I i = Q2R (sharp_leak_Q eta)) /\
  (exists a V, normalised_causal L d a /\ identity_on_W d V /\
    worst_case_loss L d (target d) (head d a V) (Q2R eta) /\
    exists I i, is_instance L d I /\ (2 <= i < trig I)%nat /\ leak a I i = Q2R (sharp_leak_before_Q eta)).
Proof.
  unfold_to_reals sharp_leak_Q. unfold_to_reals sharp_leak_before_Q. apply proposition_1s.
Qed.

Theorem theorem_1_prime_constants L d a V Rl eta eps delta :
  (4 <= L)%nat -> normalised_causal L d a -> expected_loss L d (target d) (head d a V) Rl ->
  0 < Q2R delta <= 1 ->
  (0 < Q2R eta -> Rl <= Q2R eta -> 4 * Q2R (U0_Q L d) * Q2R (threshold_for_Q L d eta delta) < 1 ->
   with_probability_at_least L d (1 - Q2R delta) (fun I =>
     forall i, (2 <= i <= L)%nat -> i <> trig I -> leak a I i <= Q2R (probable_leak_Q L d eta delta))) /\
  (0 < Q2R eps < 1 -> Rl <= Q2R (expected_loss_needed_Q L d eps delta) ->
   with_probability_at_least L d (1 - Q2R delta) (fun I =>
     forall i, (2 <= i <= L)%nat -> i <> trig I -> leak a I i <= Q2R eps)).
Proof.
  intros HL Ha HR Hd. destruct (theorem_1_prime L d a V Rl HL Ha HR) as [T1 T2]. split.
  - intros He HRe H4. unfold_to_reals probable_leak_Q. rewrite U0_Q_correct in *.
    assert (HLr : 4 <= INR L) by (apply (le_INR 4) in HL; simpl in HL; lra). assert (Hd0 := pos_INR d).
    set (t := Q2R (threshold_for_Q L d eta delta)) in *.
    assert (Et : t = Q2R eta * Rmax (1 / Q2R delta) ((INR d + 1) * (INR L - 2) + 1)).
    { unfold t. unfold_to_reals threshold_for_Q. reflexivity. }
    assert (M1 := Rmax_l (1 / Q2R delta) ((INR d + 1) * (INR L - 2) + 1)).
    assert (M2 := Rmax_r (1 / Q2R delta) ((INR d + 1) * (INR L - 2) + 1)).
    apply (T1 (Q2R eta) t (Q2R delta)); [assumption| | |assumption].
    + apply Rle_trans with (Q2R delta * (Q2R eta * (1 / Q2R delta))); [right; field; lra|].
      apply Rmult_le_compat_l; [lra|]. rewrite Et. apply Rmult_le_compat_l; lra.
    + apply Rlt_le_trans with (Q2R eta * ((INR d + 1) * (INR L - 2) + 1)); [lra|].
      rewrite Et. apply Rmult_le_compat_l; lra.
  - intros He H. apply (T2 (Q2R eps) (Q2R delta) He Hd). revert H.
    unfold_to_reals expected_loss_needed_Q. unfold_to_reals error_threshold_Q. rewrite U0_Q_correct. trivial.
Qed.

Theorem theorem_2_constants L d ls Lambda eta :
  (4 <= L)%nat -> ls <> nil -> (forall l, In l ls -> normalised_causal L d (fst l)) ->
  worst_case_loss L d (target d) (stack d ls) Lambda -> Lambda <= Q2R eta -> Q2R eta < Q2R (kappa_Q L) / 2 ->
  (forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
   product_of_min_leaks ls I i <= Q2R (leak_bound_Q L eta)) /\
  (forall I i x, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
   0 <= x -> x ^ length ls = Q2R (leak_bound_Q L eta) ->
   exists l k, In l ls /\ (2 <= k <= i)%nat /\ 1 - x <= sink_weight (fst l) I k).
Proof.
  intros HL Hne Hn HLam Hle. rewrite kappa_Q_correct, leak_bound_Q_correct. intros He.
  destruct (theorem_2 L d ls Lambda (Q2R eta) HL Hne Hn HLam Hle He) as [_ [T1 [T2 _]]].
  split; assumption.
Qed.

Theorem theorem_3_constants L d V : (4 <= L)%nat -> identity_on_W d V ->
  worst_case_loss L d (target d) (relu_head d (A_relu d) V) 0 /\
  forall I i k, is_instance L d I -> (1 <= i <= L)%nat -> i <> trig I -> relu_weights d I i k = 0.
Proof. intros HL HV. destruct (theorem_3 L d V HL HV) as [_ [T1 T2]]. split; assumption. Qed.

Theorem proposition_4_constants L d K V q eta :
  (4 <= L)%nat -> identity_on_W d V -> (forall r, (r < d + 3)%nat -> V r 0%nat = 0) -> exp K = Q2R q ->
  0 < Q2R eta < 1 ->
  worst_case_loss L d (target d) (softmax_head d (A_sink d K) V) (Q2R (softmax_loss_Q L d q)) /\
  (forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
   Q2R (least_sink_weight_Q L q) <= sink_weight (sink_attention d K) I i) /\
  (exists I, is_instance L d I /\ L <> trig I /\ sink_weight (sink_attention d K) I L = Q2R (least_sink_weight_Q L q)) /\
  (forall Lambda, worst_case_loss L d (target d) (softmax_head d (A_sink d K) V) Lambda ->
   (Lambda <= Q2R eta <-> Q2R (least_q_Q L d eta) <= Q2R q) /\
   (Lambda <= Q2R eta <-> ln (Q2R (least_q_Q L d eta)) <= K)).
Proof.
  intros HL HV HB EK He.
  destruct (proposition_4 L d K V HL HV HB) as [_ [_ [T3 [T4 [T5 [T6 [T7 T8]]]]]]].
  rewrite EK in *. unfold_to_reals softmax_loss_Q. unfold_to_reals least_sink_weight_Q. unfold_to_reals least_q_Q. unfold loudest.
  destruct (Nat.eqb_spec d 0) as [E|E]; to_reals.
  - replace (Q2R q + (INR L - 2)) with (Q2R q + INR L - 2) by ring.
    split; [apply T6; assumption|]. split; [exact T3|]. split; [exact T4|].
    intros Lambda HLam. apply (T8 Lambda); assumption.
  - replace (Q2R q + (INR L - 1)) with (Q2R q + INR L - 1) by ring.
    split; [apply T5; lia|]. split; [exact T3|]. split; [exact T4|].
    intros Lambda HLam. apply (T7 Lambda); [lia|assumption|assumption].
Qed.

Theorem corollary_5_constants L d V eta : (4 <= L)%nat -> 0 < Q2R eta -> Q2R eta < Q2R (kappa_Q L) / 2 ->
  (forall s Lambda, worst_case_loss L d (target d) (head d (softmax s) V) Lambda -> Lambda <= Q2R eta ->
   forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
   s I i 1%nat - ln (bsum 2 i (fun k => exp (s I i k))) >= ln (Q2R (odds_Q L eta))) /\
  (forall A Lambda, worst_case_loss L d (target d) (softmax_head d A V) Lambda -> Lambda <= Q2R eta ->
   A (d + 2)%nat 0%nat - A (d + 2)%nat (d + 2)%nat >= ln ((INR L - 2) * Q2R (odds_Q L eta))).
Proof.
  rewrite kappa_Q_correct. intros HL He Hk. destruct (corollary_5 L d V (Q2R eta) HL He Hk) as [_ [T1 T2]].
  unfold_to_reals odds_Q. rewrite leak_bound_Q_correct. split; [exact T1|]. intros A Lambda HLam Hle.
  specialize (T2 A Lambda HLam Hle). unfold Rdiv at 1. rewrite <- Rmult_assoc. exact T2.
Qed.

Lemma at_most_half i x : (2 <= i)%nat -> 1 / (x + INR i) <= 1 / (x + 2) \/ x + 2 <= 0.
Proof.
  intros Hi. destruct (Rlt_le_dec 0 (x + 2)) as [H|H]; [left|right; assumption].
  apply le_INR in Hi. simpl in Hi. apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
Qed.

Lemma uniform_at_most_half i : (2 <= i)%nat -> 1 / INR i <= Q2R uniform_weight_Q.
Proof.
  intros Hi. unfold_to_reals uniform_weight_Q. destruct (at_most_half i 0 Hi) as [H|H]; [|lra].
  rewrite !Rplus_0_l in H. exact H.
Qed.

Theorem b1_constants L d K q : (4 <= L)%nat -> 0 <= K -> exp K = Q2R q ->
  loss_at_most L d (target d) (b1_model d K) (Q2R (b1_loss_Q L q)) /\
  forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
  sink_weight (b1_attention1 d K) I i <= Q2R uniform_weight_Q /\
  sink_weight (b1_attention2 d K) I i <= Q2R uniform_weight_Q.
Proof.
  intros HL HK EK. destruct (proj1 (b1 L d HL) K HK) as [W [_ [_ [_ [_ [T _]]]]]]. rewrite EK in T. split.
  - unfold_to_reals b1_loss_Q. exact T.
  - intros I i HI Hi Hne. destruct (W I i HI Hi Hne) as [-> ->]. split; apply uniform_at_most_half; lia.
Qed.

Theorem b4_constants L d b K w q : (4 <= L)%nat -> exp b = Q2R w -> exp K = Q2R q ->
  let a := softmax_sink_logit b (bilinear d (A_avoid d K) (token d)) in
  loss_at_most L d (target d) (head d a VW0) (Q2R (b4_loss_Q L w q)) /\
  forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I -> sink_weight a I i <= Q2R (b4_weight_Q w q).
Proof.
  intros HL Ew EK a. destruct (proj1 (b4 L d b HL) K) as [W [_ [_ [_ [_ [T _]]]]]].
  rewrite EK, Ew in *. split.
  - unfold_to_reals b4_loss_Q. exact T.
  - intros I i HI Hi Hne. unfold a. rewrite (W I i HI Hi Hne). unfold_to_reals b4_weight_Q.
    assert (0 < Q2R w * Q2R q) by (rewrite <- EK, <- Ew; apply Rmult_lt_0_compat; apply exp_pos).
    destruct (at_most_half i (Q2R w * Q2R q) ltac:(lia)); lra.
Qed.

Theorem b2_constants L d K q : (4 <= L)%nat -> exp K = Q2R q ->
  let a := softmax_off_by_one (bilinear d (A_avoid d K) (token d)) in
  loss_at_most L d (target d) (head d a VW0) (Q2R (b2_loss_Q L q)) /\
  forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I -> sink_weight a I i <= Q2R (b2_weight_Q q).
Proof.
  intros HL EK a. destruct (proj1 (b2 L d HL) K) as [W [_ [_ [_ [_ [T _]]]]]]. rewrite EK in *. split.
  - unfold_to_reals b2_loss_Q. exact T.
  - intros I i HI Hi Hne. unfold a. rewrite (W I i HI Hi Hne). unfold_to_reals b2_weight_Q.
    assert (0 < Q2R q) by (rewrite <- EK; apply exp_pos).
    destruct (at_most_half i (Q2R q) ltac:(lia)); lra.
Qed.

Theorem b3_constants L d K q : (4 <= L)%nat -> exp K = Q2R q ->
  loss_at_most L d (target d) (b3_model d K) (Q2R (b3_loss_Q q)) /\
  forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
  sink_weight (b3_attention d K) I i <= Q2R uniform_weight_Q.
Proof.
  intros HL EK. destruct (proj1 (b3 L d HL) K) as [W [_ [_ [_ [T _]]]]]. rewrite EK in T. split.
  - unfold_to_reals b3_loss_Q. exact T.
  - intros I i HI Hi Hne. rewrite (W I i HI Hi Hne). apply uniform_at_most_half. lia.
Qed.

Theorem b5_constants L d v : (4 <= L)%nat -> 1 <= Q2R v ->
  worst_case_loss L d (residual_target d) (b5_model d (Q2R v)) 0 /\
  (forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
   sink_weight (b5_attention1 (Q2R v)) I i = 0 /\ sink_weight (b5_attention2 (Q2R v)) I i = 0) /\
  (forall I, is_instance L d I -> sink_weight (b5_attention1 (Q2R v)) I (trig I) = 0 /\
   sink_weight (b5_attention2 (Q2R v)) I (trig I) = Q2R (b5_weight_at_trigger_Q v)).
Proof.
  intros HL Hv. destruct (b5 L d (Q2R v) HL Hv) as [_ [_ [W [W' [_ T]]]]].
  unfold_to_reals b5_weight_at_trigger_Q. auto.
Qed.

Theorem b6_constants L d : (4 <= L)%nat ->
  let a := relu_attention (bilinear d (A_relu d) (token d)) in
  worst_case_loss L d (target d) (head d a VW0) 0 /\
  forall I i, is_instance L d I -> (1 <= i <= L)%nat -> i <> trig I -> sink_weight a I i = 0.
Proof. intros HL a. destruct (b6 L d HL) as [W [_ T]]. split; assumption. Qed.

Theorem b7_constants L d K q : (4 <= L)%nat -> 0 <= K -> exp K = Q2R q ->
  loss_at_most L d (target d) (b7_model d (INR L) K) (Q2R (b7_loss_Q L q)) /\
  forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
  sink_weight (b7_attention d K) I i <= Q2R uniform_weight_Q.
Proof.
  intros HL HK EK. destruct (proj1 (b7 L d HL) K) as [W1 [W2 [_ [_ [_ [T _]]]]]]. rewrite EK in *. split.
  - unfold_to_reals b7_loss_Q. exact T.
  - intros I i HI Hi Hne. destruct (Nat.lt_ge_cases i (trig I)) as [H|H].
    + rewrite W1 by (assumption || lia). apply uniform_at_most_half. lia.
    + rewrite W2 by (assumption || lia). assert (Hj := proj1 HI).
      assert (Hq : 0 < 1 / Q2R q) by (rewrite <- EK; apply Rdiv_lt_0_compat; [lra|apply exp_pos]).
      assert (H4 : INR 4 <= INR i) by (apply le_INR; lia). simpl in H4. unfold_to_reals uniform_weight_Q.
      apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
Qed.

Theorem b8_constants L d K q : (4 <= L)%nat -> exp K = Q2R q ->
  worst_case_loss L d (running_mean d) (b8_model d K) (Q2R (b8_loss_Q q)) /\
  forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
  sink_weight (b8_attention d K) I i <= Q2R (b8_weight_Q q).
Proof.
  intros HL EK. destruct (proj1 (b8 L d HL) K) as [W [_ [_ T]]]. rewrite EK in *. split.
  - unfold_to_reals b8_loss_Q. exact T.
  - intros I i HI Hi Hne. rewrite W by assumption. unfold_to_reals b8_weight_Q.
    assert (Hq : 0 < Q2R q) by (rewrite <- EK; apply exp_pos).
    assert (H2 : INR 2 <= INR i) by (apply le_INR; lia). simpl in H2.
    apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; [lra|].
    assert (1 * Q2R q <= (INR i - 1) * Q2R q) by (apply Rmult_le_compat_r; lra). lra.
Qed.
