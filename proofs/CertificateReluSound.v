(** * The checkers of a ReLU head are right: main theorems at the end. *)
From Coq Require Import Reals Lra Lia Arith ZArith List.
From Sinkproof Require Import Sums Task CertificateWeights CertificateVertices CertificateScores.
From Sinkproof Require Import CertificateGruessReal CertificateGruess CertificateGruessSound.
From Sinkproof Require Import CertificateReluReal CertificateRelu.
Open Scope R_scope.

(** ** Positive parts *)

Lemma positive_part_monotone x y : x <= y -> Rmax 0 x <= Rmax 0 y.
Proof. intros H. apply Rmax_lub; [apply Rmax_l|]. eapply Rle_trans; [exact H|apply Rmax_r]. Qed.

Lemma positive_part_scaled z u : 0 < u -> Rmax 0 (IZR z * u) = IZR (Z.max 0 z) * u.
Proof.
  intros Hu. rewrite IZR_max. replace 0 with (u * 0) at 1 by ring. rewrite (Rmult_comm (IZR z)), RmaxRmult by lra. ring.
Qed.

Lemma Rmax_scaled a b y : 0 < y -> Rmax (a * y) (b * y) = Rmax a b * y.
Proof. intros Hy. rewrite (Rmult_comm a), (Rmult_comm b), RmaxRmult by lra. ring. Qed.

Lemma positive_part_near low high x u : 0 < u -> IZR low * u <= x <= IZR high * u ->
  Rabs (Rmax 0 x - IZR (centre low high) * u) <= IZR (radius low high) * u.
Proof.
  intros Hu [H1 H2]. apply positive_part_monotone in H1, H2. rewrite positive_part_scaled in H1, H2 by assumption.
  unfold radius. set (m := centre low high).
  assert (R1 : IZR (Z.max 0 high - m) * u <= IZR (Z.max (Z.max 0 high - m) (m - Z.max 0 low)) * u).
  { apply Rmult_le_compat_r; [lra|]. apply IZR_le. lia. }
  assert (R2 : IZR (m - Z.max 0 low) * u <= IZR (Z.max (Z.max 0 high - m) (m - Z.max 0 low)) * u).
  { apply Rmult_le_compat_r; [lra|]. apply IZR_le. lia. }
  rewrite minus_IZR, Rmult_minus_distr_r in R1, R2. apply Rabs_le. lra.
Qed.

Section Checked.
Variables (L d : nat) (w : weights) (e : relu_extent).
Let A : mat := score_map w.
Let V : mat := value_map w.
Let u : R := / IZR (score_denominator w).
Let x : R := / IZR (value_denominator w).
Let unit : Z := (score_denominator w * value_denominator w)%Z.
Let rows : list (list Z) := value_matrix d w.

Lemma u_pos : 0 < u.
Proof. apply Rinv_0_lt_compat, (IZR_lt 0), score_denominator_pos. Qed.
Lemma x_pos : 0 < x.
Proof. apply Rinv_0_lt_compat, (IZR_lt 0), value_denominator_pos. Qed.
Lemma unit_pos : (0 < unit)%Z.
Proof. apply Z.mul_pos_pos; [apply score_denominator_pos|apply value_denominator_pos]. Qed.
Lemma unit_value : IZR unit * (u * x) = 1.
Proof.
  unfold unit, u, x. rewrite mult_IZR. field.
  split; apply not_0_IZR; [pose proof (value_denominator_pos w)|pose proof (score_denominator_pos w)]; lia.
Qed.

Lemma V_value r s : (s < d + 3)%nat -> V r s = IZR (nth s (nth r rows nil) 0%Z) * x.
Proof. intros Hs. apply (value_map_value d). assumption. Qed.

Lemma reach_value (f : nat -> R) l y q : 0 < y -> (q < d + 3)%nat ->
  (forall s, (s < d + 3)%nat -> f s = IZR (nth s l 0%Z) * y) -> reach d f q = IZR (reach_of d l q) * y.
Proof.
  intros Hy Hq Hf. unfold reach, reach_of. rewrite (norm_value d f l y Hy Hf), Hf by assumption.
  rewrite Rabs_mult, (Rabs_pos_eq y), plus_IZR, abs_IZR by lra. ring.
Qed.

Lemma scaled_value_row g r s : (s < d + 3)%nat ->
  IZR g * u * V r s - kronecker r s = IZR (nth s (scaled_row g unit r (nth r rows nil)) 0%Z) * (u * x).
Proof.
  intros Hs. rewrite V_value by assumption. unfold scaled_row. rewrite nth_sub, nth_unit_row.
  replace (nth s (map (Z.mul g) (nth r rows nil)) 0%Z) with (g * nth s (nth r rows nil) 0)%Z.
  2:{ rewrite <- (Z.mul_0_r g) at 2. symmetry. apply (map_nth (Z.mul g)). }
  unfold kronecker. rewrite minus_IZR, mult_IZR. assert (H := unit_value).
  destruct (s =? r)%nat; [|ring]. rewrite Rmult_minus_distr_r, H. ring.
Qed.

Lemma ux_pos : 0 < u * x.
Proof. apply Rmult_lt_0_compat; [apply u_pos|apply x_pos]. Qed.

Lemma each_value alpha h r : (r < d + 3)%nat ->
  each d V (IZR alpha * u) (IZR h * u) r = IZR (each_of d alpha h unit r (nth r rows nil)) * (u * x).
Proof.
  intros Hr. unfold each, each_of. rewrite plus_IZR, mult_IZR.
  rewrite (reach_value (V r) (nth r rows nil) x) by (apply x_pos || lia || (intros; apply V_value; assumption)).
  rewrite (reach_value (fun t => IZR alpha * u * V r t - kronecker r t) (scaled_row alpha unit r (nth r rows nil)) (u * x))
    by (apply ux_pos || lia || (intros; apply scaled_value_row; assumption)).
  ring.
Qed.

Lemma once_value gamma hs beta hb r : (r < d + 3)%nat ->
  once d V (IZR gamma * u) (IZR hs * u) (IZR beta * u) (IZR hb * u) r =
  IZR (once_of d gamma hs beta hb unit r (nth r rows nil)) * (u * x).
Proof.
  intros Hr. unfold once, once_of. cbv zeta. rewrite !plus_IZR, !mult_IZR, !abs_IZR, plus_IZR, mult_IZR.
  rewrite (reach_value (V r) (nth r rows nil) x) by (apply x_pos || lia || (intros; apply V_value; assumption)).
  rewrite (norm_value d (fun t => IZR gamma * u * V r t - kronecker r t) (scaled_row gamma unit r (nth r rows nil)) (u * x))
    by (apply ux_pos || (intros; apply scaled_value_row; assumption)).
  rewrite scaled_value_row, (V_value r 0) by lia. assert (Hux := ux_pos). assert (Hx := x_pos).
  rewrite Rabs_mult, (Rabs_pos_eq x) by lra.
  replace (IZR beta * u * (IZR (nth 0 (nth r rows nil) 0%Z) * x) + IZR (nth 1 (scaled_row gamma unit r (nth r rows nil)) 0%Z) * (u * x))
    with ((IZR beta * IZR (nth 0 (nth r rows nil) 0%Z) + IZR (nth 1 (scaled_row gamma unit r (nth r rows nil)) 0%Z)) * (u * x)) by ring.
  rewrite (Rabs_mult _ (u * x)), (Rabs_pos_eq (u * x)) by lra. ring.
Qed.

Hypothesis HA : forall c, in_box d c ->
  (IZR (ordinary_low e) * u <= query_row d A 1 c (d + 2) - query_norm d A 1 c /\
   query_row d A 1 c (d + 2) + query_norm d A 1 c <= IZR (ordinary_high e) * u) /\
  (IZR (self_low e) * u <= key_score d A 1 c 1 c <= IZR (self_high e) * u) /\
  (IZR (bos_low e) * u <= query_row d A 1 c 0 <= IZR (bos_high e) * u) /\
  (query_row d A (d + 2) c (d + 2) + query_norm d A (d + 2) c <= IZR (off_key e) * u /\
   query_row d A (d + 2) c 1 + query_norm d A (d + 2) c <= IZR (off_key e) * u) /\
  query_row d A (d + 2) c 0 <= IZR (off_bos e) * u.

Lemma checked_extents : relu_extents d A
  (IZR (centre (ordinary_low e) (ordinary_high e)) * u) (IZR (radius (ordinary_low e) (ordinary_high e)) * u)
  (IZR (centre (self_low e) (self_high e)) * u) (IZR (radius (self_low e) (self_high e)) * u)
  (IZR (centre (bos_low e) (bos_high e)) * u) (IZR (radius (bos_low e) (bos_high e)) * u)
  (IZR (Z.max 0 (off_key e)) * u) (IZR (Z.max 0 (off_bos e)) * u).
Proof using HA.
  assert (Hu := u_pos). intros c Hc. destruct (HA c Hc) as [[O1 O2] [S [B [[K1 K2] O]]]].
  split; [|split; [|split; [|split]]].
  - intros c' Hc'. apply positive_part_near; [assumption|].
    assert (H := key_score_near d A 1 c (d + 2) c' Hc'). apply Rabs_both in H. lra.
  - apply positive_part_near; assumption.
  - apply positive_part_near; assumption.
  - intros q c' Hq Hc'. rewrite <- positive_part_scaled by assumption. apply positive_part_monotone.
    assert (H := key_score_near d A (d + 2) c q c' Hc'). apply Rabs_both in H. destruct Hq as [->| ->]; lra.
  - rewrite <- positive_part_scaled by assumption. apply positive_part_monotone. assumption.
Qed.

Lemma over_unit a : IZR a / IZR unit = IZR a * (u * x).
Proof.
  assert (H := unit_pos). apply (IZR_lt 0) in H. assert (E := unit_value).
  apply Rmult_eq_reg_r with (IZR unit); [|lra]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
  replace (IZR a * (u * x) * IZR unit) with (IZR a * (IZR unit * (u * x))) by ring. rewrite E. ring.
Qed.

Lemma row_checked n m r : (3 <= L)%nat -> (0 < m)%Z -> (r < d + 3)%nat ->
  relu_row_check (Z.of_nat L) d e (entry (score_matrix d w) 0 0) unit n m r (nth r rows nil) = true ->
  forall I i, is_instance L d I -> (1 <= i <= L)%nat ->
  Rabs (relu_head d A V I i r - target d I i r) <= IZR n / IZR m.
Proof using HA.
  intros HL Hm Hr Hcheck I i HI Hi. unfold relu_row_check in Hcheck. cbv zeta in Hcheck.
  apply andb_prop in Hcheck. destruct Hcheck as [Hcheck C4]. apply andb_prop in Hcheck. destruct Hcheck as [Hcheck C3].
  apply andb_prop in Hcheck. destruct Hcheck as [C1 C2]. apply Z.leb_le in C1, C2, C3, C4.
  assert (Hpos := unit_pos). assert (Hu := u_pos). assert (Hx := x_pos). assert (Hux := ux_pos). assert (E := checked_extents).
  assert (Hrows : forall s, (s < d + 3)%nat -> V r s = IZR (nth s (nth r rows nil) 0%Z) * x) by (intros; apply V_value; assumption).
  assert (Habs : Rabs (V r 0%nat) = IZR (Z.abs (nth 0 (nth r rows nil) 0%Z)) * x).
  { rewrite Hrows by lia. rewrite Rabs_mult, (Rabs_pos_eq x), abs_IZR by lra. reflexivity. }
  destruct (Nat.eq_dec i (trig I)) as [->|Hne]; [|destruct (Nat.eq_dec i 1) as [->|Hi1]].
  - apply (relu_at_trigger L d A V _ _ _ _ _ _ _ _ E I r); [assumption|assumption| |].
    + rewrite each_value, once_value by assumption. rewrite <- Rmult_plus_distr_r, <- plus_IZR, <- over_unit.
      apply Rmult_le_reg_r with (/ 2); [lra|].
      apply Rle_trans with (IZR n / IZR m); [|apply Req_le; field; apply not_0_IZR; lia].
      eapply Rle_trans; [|exact (fraction_le _ _ n m (Z.mul_pos_pos 2 unit eq_refl Hpos) Hm C1)].
      rewrite (mult_IZR 2). apply Req_le. field. apply not_0_IZR. lia.
    + rewrite each_value, once_value by assumption.
      assert (HL1 : IZR (Z.of_nat L - 1) = INR (L - 1)) by (rewrite INR_IZR_INZ, Nat2Z.inj_sub by lia; reflexivity).
      assert (HLp : 0 < INR (L - 1)) by (apply lt_0_INR; lia).
      replace (INR (L - 1) - 1) with (IZR (Z.of_nat L - 2)).
      2:{ rewrite <- HL1, <- minus_IZR. f_equal. lia. }
      match goal with |- IZR ?a * (u * x) + IZR ?k * (IZR ?b * (u * x)) <= _ =>
        replace (IZR a * (u * x) + IZR k * (IZR b * (u * x))) with (IZR (a + k * b) / IZR unit)
          by (rewrite over_unit, plus_IZR, mult_IZR; ring) end.
      apply Rmult_le_reg_r with (/ INR (L - 1)); [apply Rinv_0_lt_compat; assumption|].
      apply Rle_trans with (IZR n / IZR m); [|apply Req_le; field; repeat split; (lra || (apply not_0_IZR; lia))].
      assert (HLz : (0 < Z.of_nat L - 1)%Z) by lia.
      eapply Rle_trans; [|exact (fraction_le _ _ n m (Z.mul_pos_pos _ unit HLz Hpos) Hm C2)].
      rewrite (mult_IZR (Z.of_nat L - 1)), HL1. apply Req_le. field. repeat split; (lra || (apply not_0_IZR; lia)).
  - rewrite (relu_first L) by assumption. rewrite Habs. unfold A. rewrite (score_map_value d) by lia.
    fold (Rdiv (IZR (entry (score_matrix d w) 0 0)) (IZR (score_denominator w))). unfold Rdiv at 1. fold u.
    rewrite positive_part_scaled by assumption.
    eapply Rle_trans; [|exact (fraction_le _ _ n m Hpos Hm C4)]. rewrite over_unit, mult_IZR. apply Req_le. ring.
  - eapply Rle_trans; [apply (relu_off_trigger L d A V _ _ _ _ _ _ _ _ E I i r); (assumption || lia)|].
    eapply Rle_trans; [|exact (fraction_le _ _ n m Hpos Hm C3)]. rewrite over_unit, plus_IZR, !mult_IZR, !IZR_max, Habs.
    rewrite (reach_value (V r) (nth r rows nil) x 1) by (assumption || lia).
    rewrite (reach_value (V r) (nth r rows nil) x (d + 2)) by (assumption || lia).
    rewrite Rmax_scaled by assumption. apply Req_le. ring.
Qed.

Lemma weights_checked n m : (0 < m)%Z ->
  (Z.max 0 (Z.max (off_bos e) (off_key e)) * m <= n * score_denominator w)%Z ->
  relu_weights_at_most L d w (IZR n / IZR m).
Proof using HA.
  intros Hm H I i k HI Hi Hne Hk. assert (Hu := u_pos).
  eapply Rle_trans; [apply (relu_weight_bound L d A _ _ _ _ _ _ _ _ checked_extents I i k HI Hi Hne Hk)|].
  eapply Rle_trans; [|exact (fraction_le _ _ n m (score_denominator_pos w) Hm H)].
  fold (Rdiv (IZR (Z.max 0 (Z.max (off_bos e) (off_key e)))) (IZR (score_denominator w))). unfold Rdiv. fold u.
  apply Rmax_lub; apply Rmult_le_compat_r; try lra; apply IZR_le; lia.
Qed.
End Checked.

Lemma level_holds level d w : sound_relu_level level -> forall c, in_box d c ->
  let e := level d (score_matrix d w) in let A := score_map w in let u := / IZR (score_denominator w) in
  (IZR (ordinary_low e) * u <= query_row d A 1 c (d + 2) - query_norm d A 1 c /\
   query_row d A 1 c (d + 2) + query_norm d A 1 c <= IZR (ordinary_high e) * u) /\
  (IZR (self_low e) * u <= key_score d A 1 c 1 c <= IZR (self_high e) * u) /\
  (IZR (bos_low e) * u <= query_row d A 1 c 0 <= IZR (bos_high e) * u) /\
  (query_row d A (d + 2) c (d + 2) + query_norm d A (d + 2) c <= IZR (off_key e) * u /\
   query_row d A (d + 2) c 1 + query_norm d A (d + 2) c <= IZR (off_key e) * u) /\
  query_row d A (d + 2) c 0 <= IZR (off_bos e) * u.
Proof.
  intros Hlevel. apply Hlevel.
  - intros r s Hr Hs. apply (score_map_value d); assumption.
  - apply u_pos.
  - rewrite length_score_matrix. lia.
Qed.

(** Main theorems. If the check passes, every attention weight of the weights' ReLU head off the trigger is at most n / m. *)
Theorem relu_weight_certificate (level : nat -> list (list Z) -> relu_extent) (L d : nat) (w : weights) (n m : Z) :
  level = relu_by_vertices \/ level = relu_by_sums ->
  relu_weight_check level d w n m = true -> relu_weights_at_most L d w (IZR n / IZR m).
Proof.
  intros Hlevel H. unfold relu_weight_check in H. cbv zeta in H. apply andb_prop in H. destruct H as [Hm H].
  apply Z.ltb_lt in Hm. apply Z.leb_le in H.
  assert (HS : sound_relu_level level) by (destruct Hlevel as [->| ->]; [apply relu_by_vertices_sound|apply relu_by_sums_sound]).
  apply (weights_checked L d w (level d (score_matrix d w)) (level_holds level d w HS) n m Hm H).
Qed.

(** If the check passes, the worst-case loss of the weights' ReLU head is at most n / m. *)
Theorem relu_loss_certificate (level : nat -> list (list Z) -> relu_extent) (L d : nat) (w : weights) (n m : Z) :
  level = relu_by_vertices \/ level = relu_by_sums ->
  relu_loss_check level L d w n m = true ->
  worst_case_loss_at_most L d (relu_head_of d w) (IZR n / IZR m).
Proof.
  intros Hlevel H. unfold relu_loss_check in H. cbv zeta in H. apply andb_prop in H. destruct H as [H Hrows].
  apply andb_prop in H. destruct H as [Hm HL]. apply Z.ltb_lt in Hm. apply Nat.leb_le in HL.
  assert (HS : sound_relu_level level) by (destruct Hlevel as [->| ->]; [apply relu_by_vertices_sound|apply relu_by_sums_sound]).
  apply worst_case_from_errors. intros I HI i r Hi Hr.
  assert (Hrow := rows_check_row _ _ _ _ Hrows r ltac:(lia)). cbn [Nat.add] in Hrow.
  apply (row_checked L d w (level d (score_matrix d w)) (level_holds level d w HS) n m r HL Hm Hr Hrow I i HI Hi).
Qed.

(** The same for each level, as an emitted file uses them. *)
Theorem relu_weights_by_vertices (L d : nat) (w : weights) (n m : Z) :
  relu_weight_check relu_by_vertices d w n m = true -> relu_weights_at_most L d w (IZR n / IZR m).
Proof. apply relu_weight_certificate. auto. Qed.
Theorem relu_weights_by_sums (L d : nat) (w : weights) (n m : Z) :
  relu_weight_check relu_by_sums d w n m = true -> relu_weights_at_most L d w (IZR n / IZR m).
Proof. apply relu_weight_certificate. auto. Qed.
Theorem relu_loss_by_vertices (L d : nat) (w : weights) (n m : Z) :
  relu_loss_check relu_by_vertices L d w n m = true -> worst_case_loss_at_most L d (relu_head_of d w) (IZR n / IZR m).
Proof. apply relu_loss_certificate. auto. Qed.
Theorem relu_loss_by_sums (L d : nat) (w : weights) (n m : Z) :
  relu_loss_check relu_by_sums L d w n m = true -> worst_case_loss_at_most L d (relu_head_of d w) (IZR n / IZR m).
Proof. apply relu_loss_certificate. auto. Qed.
