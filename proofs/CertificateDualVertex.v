(** * The checker of the dual bound at one vertex and one row: what its integers prove. *)
From Coq Require Import Reals Lra Lia Arith ZArith List.
From Sinkproof Require Import Sums Task CertificateWeights CertificateVertices CertificateExp CertificateScores.
From Sinkproof Require Import CertificateGruessReal CertificateGruess CertificateGruessSound CertificateDualCore CertificateDualReal CertificateDual.
Open Scope R_scope.

Lemma nth_scaled k l m : nth m (map (Z.mul k) l) 0%Z = (k * nth m l 0)%Z.
Proof. rewrite <- (Z.mul_0_r k) at 1. apply (map_nth (Z.mul k)). Qed.

Lemma fine_pos : 0 < IZR fine.
Proof. apply (IZR_lt 0). reflexivity. Qed.

Lemma slope_enough four q : (0 < four)%Z -> (Z.max 0 q * fine <= slope four q * four)%Z.
Proof.
  intros Hf. unfold slope. set (cut := Z.max 0 (Z.log2 four - 40)). cbv zeta.
  assert (Hcut : (0 <= cut)%Z) by (unfold cut; lia). rewrite !Z.shiftr_div_pow2 by assumption.
  set (c := (2 ^ cut)%Z). assert (Hc : (0 < c)%Z) by (apply Z.pow_pos_nonneg; lia).
  set (F := (four / c)%Z). set (Q := (Z.max 0 q / c)%Z).
  assert (HF : (0 < F)%Z).
  { apply Z.div_str_pos. split; [assumption|]. unfold c.
    assert (H2 := Z.log2_spec four Hf). assert (H0 := Z.log2_nonneg four).
    apply Z.le_trans with (2 ^ Z.log2 four)%Z; [apply Z.pow_le_mono_r; unfold cut; lia|lia]. }
  assert (HFc : (F * c <= four)%Z) by (unfold F; rewrite Z.mul_comm; apply Z.mul_div_le; assumption).
  assert (HQ : (Z.max 0 q < (Q + 1) * c)%Z).
  { unfold Q. assert (X := Z.mul_succ_div_gt (Z.max 0 q) c Hc). lia. }
  assert (Hfine : (0 < fine)%Z) by reflexivity.
  set (k := ((Q + 1) * fine / F + 1)%Z).
  assert (Hk : ((Q + 1) * fine <= k * F)%Z).
  { unfold k. assert (X := Z.mul_succ_div_gt ((Q + 1) * fine) F HF). lia. }
  assert (HQ0 : (0 <= Q)%Z) by (apply Z.div_pos; lia).
  assert (Hk0 : (0 <= k)%Z).
  { unfold k. assert (0 <= (Q + 1) * fine / F)%Z by (apply Z.div_pos; [apply Z.mul_nonneg_nonneg; lia|assumption]). lia. }
  apply Z.le_trans with (k * (F * c))%Z; [|apply Z.mul_le_mono_nonneg_l; assumption].
  apply Z.le_trans with ((Q + 1) * fine * c)%Z.
  - replace ((Q + 1) * fine * c)%Z with ((Q + 1) * c * fine)%Z by ring. apply Z.mul_le_mono_nonneg_r; lia.
  - rewrite Z.mul_assoc. apply Z.mul_le_mono_nonneg_r; lia.
Qed.

(** x^2 fine / four <= slope x, for 0 <= x <= q. *)
Lemma slope_chord four q x : (0 < four)%Z -> 0 <= x <= IZR q ->
  x * x * (IZR fine / IZR four) <= IZR (slope four q) * x.
Proof.
  intros Hf Hx. assert (H := slope_enough four q Hf). apply IZR_le in H. rewrite !mult_IZR in H.
  assert (Hf' : 0 < IZR four) by (apply (IZR_lt 0); assumption).
  assert (Hq : IZR q <= IZR (Z.max 0 q)) by (apply IZR_le; lia). assert (Hp := fine_pos).
  assert (H1 : x * IZR fine <= IZR (slope four q) * IZR four).
  { eapply Rle_trans; [|exact H]. apply Rmult_le_compat_r; lra. }
  replace (x * x * (IZR fine / IZR four)) with (x * (x * IZR fine * / IZR four)) by (field; lra).
  rewrite (Rmult_comm (IZR (slope four q))). apply Rmult_le_compat_l; [lra|].
  apply Rmult_le_reg_r with (IZR four); [assumption|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. assumption.
Qed.

Lemma slope_square four q : (0 < four)%Z -> (0 <= q)%Z ->
  IZR q * IZR q * (IZR fine / IZR four) <= IZR (slope four q * q).
Proof. intros Hf Hq. rewrite mult_IZR. apply slope_chord; [assumption|]. split; [apply (IZR_le 0); assumption|lra]. Qed.

Lemma side_bound d four ws ps wn qc c : (0 < four)%Z -> in_box d c ->
  let Q := IZR qc + ssum d (fun m => IZR (nth m ps 0%Z) * c m) in 0 <= Q ->
  IZR wn + ssum d (fun m => IZR (nth m ws 0%Z) * c m) + Q * Q * (IZR fine / IZR four) <= IZR (side d four ws ps wn qc).
Proof.
  intros Hf Hc Q HQ. unfold side. cbv zeta. set (q := (qc + abs_sum d ps)%Z). set (k := slope four q).
  assert (HQq : Q <= IZR q).
  { unfold Q, q. rewrite plus_IZR, abs_sum_value. apply Rplus_le_compat_l. eapply Rle_trans; [apply Rle_abs|].
    apply (dot_box d (fun m => IZR (nth m ps 0%Z))). assumption. }
  assert (H := slope_chord four q Q Hf (conj HQ HQq)). fold k in H.
  rewrite !plus_IZR, mult_IZR, abs_sum_value.
  assert (H2 : ssum d (fun m => IZR (nth m ws 0%Z) * c m) + IZR k * ssum d (fun m => IZR (nth m ps 0%Z) * c m) <=
    ssum d (fun m => Rabs (IZR (nth m (add ws (map (Z.mul k) ps)) 0%Z)))).
  { rewrite <- ssum_scal, <- ssum_plus.
    rewrite (ssum_ext d _ (fun m => IZR (nth m (add ws (map (Z.mul k) ps)) 0%Z) * c m)).
    - eapply Rle_trans; [apply Rle_abs|]. apply (dot_box d (fun m => IZR (nth m (add ws (map (Z.mul k) ps)) 0%Z))). assumption.
    - intros m _. rewrite nth_add, nth_scaled, plus_IZR, mult_IZR. ring. }
  unfold Q in H at 3. lra.
Qed.

Section Vertex.
Variables (d : nat) (A V : mat) (r : nat) (sigma alpha y : R) (eps : content -> R).
Variables (most four H neg pos : Z) (q : query) (row : dual_row) (shift_by : Z) (v : content).
Hypothesis Hfour : (0 < four)%Z.
Hypothesis Hy : 0 < y.
Hypothesis Halpha : 4 * alpha = IZR four * y.
Hypothesis Hv : is_vertex d v.
Hypothesis Hz : is_signs d (signs q).
Hypothesis Hvz : forall m, (m < d)%nat -> v m = content_of (signs q) m.
Hypothesis Hslopes : forall m, (m < d)%nat -> query_row d A 1 v (2 + m)%nat = IZR (nth m (slopes q) 0%Z) * y.
Hypothesis Hnorm : query_norm d A 1 v = IZR (norm q) * y.
Hypothesis Hbent1 : bent_self d A 1 v = IZR (self q + neg) * y.
Hypothesis Hbent2 : bent_self d A (-1) v = IZR (pos - self q) * y.
Hypothesis Hval : forall m, (m < d)%nat -> alpha * (sigma * V r (2 + m)%nat) = IZR (nth m (values row) 0%Z) * y.
Hypothesis Hval_n : alpha * (sigma * V r (d + 2)%nat) = IZR (value_n row) * y.
Hypothesis Hval_t : alpha * (sigma * V r 1%nat) = IZR (value_t row) * y.
Hypothesis Herr : forall m, (m < d)%nat ->
  sigma * (V r (2 + m)%nat - kronecker r (2 + m)) = IZR (nth m (errors row) 0%Z) * (y / IZR fine).
Hypothesis Herr_n : sigma * (V r (d + 2)%nat - kronecker r (d + 2)) = IZR (error_n row) * (y / IZR fine).
Hypothesis Herr_t : sigma * (V r 1%nat - kronecker r 1) = IZR (error_t row) * (y / IZR fine).
Hypothesis Heps : eps v = IZR shift_by * y.

Lemma key_error_n c : sigma * key_error d V r (d + 2) c =
  (IZR (error_n row) + ssum d (fun m => IZR (nth m (errors row) 0%Z) * c m)) * (y / IZR fine).
Proof using Herr Herr_n.
  unfold key_error. rewrite Rmult_plus_distr_l, Herr_n, <- ssum_scal, Rmult_plus_distr_r. f_equal.
  rewrite (Rmult_comm (ssum _ _)), <- ssum_scal. apply ssum_ext. intros m Hm.
  rewrite <- Rmult_assoc, Herr by assumption. ring.
Qed.

Lemma key_error_t c : sigma * key_error d V r 1 c =
  (IZR (error_t row) + ssum d (fun m => IZR (nth m (errors row) 0%Z) * c m)) * (y / IZR fine).
Proof using Herr Herr_t.
  unfold key_error. rewrite Rmult_plus_distr_l, Herr_t, <- ssum_scal, Rmult_plus_distr_r. f_equal.
  rewrite (Rmult_comm (ssum _ _)), <- ssum_scal. apply ssum_ext. intros m Hm.
  rewrite <- Rmult_assoc, Herr by assumption. ring.
Qed.

Lemma key_value_scaled p n c : alpha * (sigma * V r p) = IZR n * y ->
  alpha * (sigma * key_value d V r p c) = (IZR n + ssum d (fun m => IZR (nth m (values row) 0%Z) * c m)) * y.
Proof using Hval.
  intros Hp. unfold key_value.
  replace (alpha * (sigma * (V r p + ssum d (fun m => V r (2 + m)%nat * c m)))) with
    (alpha * (sigma * V r p) + alpha * sigma * ssum d (fun m => V r (2 + m)%nat * c m)) by ring.
  rewrite Hp, <- ssum_scal, Rmult_plus_distr_r. f_equal.
  rewrite (Rmult_comm (ssum _ _)), <- ssum_scal. apply ssum_ext. intros m Hm.
  rewrite <- (Rmult_assoc (alpha * sigma)). rewrite (Rmult_assoc alpha), Hval by assumption. ring.
Qed.

Lemma ordinary_reach_value c : ordinary_reach d A V r sigma alpha eps v c =
  (IZR (shift_by + value_n row) + ssum d (fun m => IZR (nth m (add (slopes q) (values row)) 0%Z) * c m)) * y.
Proof using Hslopes Hval Hval_n Heps.
  unfold ordinary_reach. rewrite (key_value_scaled _ (value_n row)) by assumption. rewrite Heps, plus_IZR.
  rewrite (ssum_ext d (fun m => query_row d A 1 v (2 + m)%nat * c m) (fun m => y * (IZR (nth m (slopes q) 0%Z) * c m))).
  2:{ intros m Hm. rewrite Hslopes by assumption. ring. }
  rewrite (ssum_ext d (fun m => IZR (nth m (add (slopes q) (values row)) 0%Z) * c m)
    (fun m => IZR (nth m (slopes q) 0%Z) * c m + IZR (nth m (values row) 0%Z) * c m)).
  2:{ intros m _. rewrite nth_add, plus_IZR. ring. }
  rewrite ssum_plus, ssum_scal. ring.
Qed.

Lemma over_alpha x : (x * y) * (x * y) / (4 * alpha) = x * x * (IZR fine / IZR four) * (y / IZR fine).
Proof using Hfour Hy Halpha.
  rewrite Halpha. assert (Hp := fine_pos). assert (0 < IZR four) by (apply (IZR_lt 0); assumption). field. lra.
Qed.

Lemma fine_unit_pos : 0 < y / IZR fine.
Proof using Hy. apply Rdiv_lt_0_compat; [assumption|apply fine_pos]. Qed.

Lemma vertex_dot l : IZR (sign_dot (signs q) l) = ssum d (fun m => IZR (nth m l 0%Z) * v m).
Proof using Hz Hvz.
  rewrite (sign_dot_value d) by assumption. apply ssum_ext. intros m Hm. rewrite Hvz by assumption. ring.
Qed.

(** The conditions of [dual_at_trigger] at this vertex. *)
Definition vertex_conditions : Prop :=
  query_norm d A 1 v + Rabs (eps v) <= IZR H * y /\
  (bent_self d A 1 v + eps v <= IZR H * y /\ bent_self d A (-1) v - eps v <= IZR H * y) /\
  exists each self, mean_ok most (bos_part row) self each (goal row) = true /\
    (forall c, in_box d c -> ordinary_part d A V r sigma alpha eps v c <= IZR each * (y / IZR fine)) /\
    self_part d A V r sigma alpha eps v <= IZR self * (y / IZR fine).

Lemma self_reach_value : self_reach d A V r sigma alpha eps v =
  IZR (Z.max 0 (Z.max (shift_by + value_t row + sign_dot (signs q) (values row) + self q + neg)
                      (pos - (shift_by + value_t row + sign_dot (signs q) (values row) + self q)))) * y.
Proof using Hy Hz Hvz Hbent1 Hbent2 Hval Hval_t Heps.
  unfold self_reach. rewrite (key_value_scaled _ (value_t row)) by assumption. rewrite <- vertex_dot, Hbent1, Hbent2, Heps.
  rewrite !IZR_max, <- !(Rmult_comm y). rewrite <- RmaxRmult by lra. rewrite <- RmaxRmult by lra. rewrite Rmult_0_r.
  f_equal. f_equal; repeat (rewrite ?plus_IZR, ?minus_IZR); ring.
Qed.

Lemma shifted_conditions : shifted_ok d most four H neg pos q row shift_by = true -> vertex_conditions.
Proof using Hfour Hy Halpha Hz Hvz Hslopes Hnorm Hbent1 Hbent2 Hval Hval_n Hval_t Herr Herr_n Herr_t Heps.
  intros Hc. unfold shifted_ok in Hc. cbv zeta in Hc. rewrite !Bool.andb_true_iff, !Z.leb_le in Hc.
  destruct Hc as [[[C1 C4] C5] C6]. assert (Hf := fine_unit_pos).
  split; [|split; [split|]].
  - rewrite Hnorm, Heps, Rabs_mult, (Rabs_pos_eq y), <- abs_IZR, <- Rmult_plus_distr_r, <- plus_IZR by lra.
    apply Rmult_le_compat_r; [lra|apply IZR_le; assumption].
  - rewrite Hbent1, Heps, <- Rmult_plus_distr_r, <- plus_IZR. apply Rmult_le_compat_r; [lra|apply IZR_le; lia].
  - rewrite Hbent2, Heps, <- Rmult_minus_distr_r, <- minus_IZR. apply Rmult_le_compat_r; [lra|apply IZR_le; lia].
  - do 2 eexists. split; [exact C1|]. split; [intros c Hc; unfold ordinary_part|unfold self_part].
    { rewrite ordinary_reach_value, over_alpha, key_error_n, <- Rmult_plus_distr_r.
    apply Rmult_le_compat_r; [lra|]. set (ps := add (slopes q) (values row)) in *. set (qc := (shift_by + value_n row)%Z) in *.
    destruct (Rle_dec 0 (IZR qc + ssum d (fun m => IZR (nth m ps 0%Z) * c m))) as [Hpos|Hneg].
    + eapply Rle_trans; [apply side_bound; assumption|]. apply IZR_le. apply Z.le_max_l.
    + assert (E : ssum d (fun m => IZR (nth m (map Z.opp ps) 0%Z) * c m) = - ssum d (fun m => IZR (nth m ps 0%Z) * c m)).
      { rewrite <- ssum_opp. apply ssum_ext. intros m _. change 0%Z with (Z.opp 0) at 1. rewrite map_nth, opp_IZR. ring. }
      assert (S := side_bound d four (errors row) (map Z.opp ps) (error_n row) (- qc) c Hfour Hc).
      cbv zeta in S. rewrite E, opp_IZR in S. specialize (S ltac:(lra)).
      eapply Rle_trans; [|apply IZR_le, Z.le_max_r]. eapply Rle_trans; [|exact S]. apply Req_le. ring. }
    rewrite self_reach_value, over_alpha, key_error_t, <- Rmult_plus_distr_r, <- vertex_dot.
    apply Rmult_le_compat_r; [lra|]. rewrite !plus_IZR.
    apply Rplus_le_compat_l. apply slope_square; [assumption|lia].
Qed.

Lemma coarse_conditions reach error : limit row = coarse_limit most four H reach error (bos_part row) (goal row) -> shift_by = 0%Z ->
  reach = (Z.max (Z.abs (value_n row)) (Z.abs (value_t row)) + abs_sum d (values row))%Z ->
  error = (Z.max (error_n row) (error_t row) + abs_sum d (errors row))%Z ->
  coarse_ok neg pos q row = true -> (0 <= norm q)%Z -> vertex_conditions.
Proof using Hfour Hy Halpha Hv Hz Hvz Hslopes Hnorm Hbent1 Hbent2 Hval Hval_n Hval_t Herr Herr_n Herr_t Heps.
  intros Hlimit Hs Hreach Herror_most Hc Hn0. unfold coarse_ok in Hc. apply Z.leb_le in Hc. rewrite Hlimit in Hc.
  unfold coarse_limit in Hc. cbv zeta in Hc. set (b := (Z.sqrt _ - _)%Z) in Hc.
  set (worst := (error + slope four b * b)%Z) in Hc.
  destruct (mean_ok most (bos_part row) worst worst (goal row) && (0 <=? b)%Z)%bool eqn:Eb; [|lia].
  apply andb_prop in Eb. destruct Eb as [Eb Hb0]. apply Z.leb_le in Hb0. assert (Hf := fine_unit_pos).
  set (h := Z.max (norm q) (Z.max (self q + neg) (pos - self q))) in *.
  assert (HhH : (h <= H)%Z) by lia. assert (Hhb : (h + reach <= b)%Z) by lia.
  assert (Heps0 : eps v = 0) by (rewrite Heps, Hs; ring).
  (* any key: its error at most [error], its reach at most b *)
  assert (Herror : forall n c, in_box d c -> (n = error_n row \/ n = error_t row) ->
    IZR n + ssum d (fun m => IZR (nth m (errors row) 0%Z) * c m) <= IZR error).
  { intros n c Hcb Hn. rewrite Herror_most, plus_IZR, abs_sum_value. apply Rplus_le_compat.
    - apply IZR_le. destruct Hn as [-> | ->]; lia.
    - eapply Rle_trans; [apply Rle_abs|]. apply (dot_box d (fun m => IZR (nth m (errors row) 0%Z))). assumption. }
  assert (Hfin : forall e x, e <= IZR error -> Rabs x <= IZR b ->
    e * (y / IZR fine) + (x * y) * (x * y) / (4 * alpha) <= IZR worst * (y / IZR fine)).
  { intros e x He Hx. rewrite over_alpha, <- Rmult_plus_distr_r. apply Rmult_le_compat_r; [lra|].
    unfold worst. rewrite plus_IZR. apply Rplus_le_compat; [assumption|].
    eapply Rle_trans; [|apply slope_square; assumption].
    assert (Hff : 0 < IZR fine / IZR four) by (apply Rdiv_lt_0_compat; [apply fine_pos|apply (IZR_lt 0); assumption]).
    apply Rmult_le_compat_r; [lra|]. rewrite <- (Rabs_pos_eq (x * x)) by apply Rle_0_sqr. rewrite Rabs_mult.
    apply Rmult_le_compat; (apply Rabs_pos || assumption). }
  split; [|split; [split|]].
  - rewrite Heps0, Rabs_R0, Rplus_0_r, Hnorm. apply Rmult_le_compat_r; [lra|apply IZR_le; lia].
  - rewrite Heps0, Rplus_0_r, Hbent1. apply Rmult_le_compat_r; [lra|apply IZR_le; lia].
  - rewrite Heps0, Rminus_0_r, Hbent2. apply Rmult_le_compat_r; [lra|apply IZR_le; lia].
  - exists worst, worst. split; [exact Eb|]. split; [intros c Hcb; unfold ordinary_part|unfold self_part].
    { rewrite key_error_n. unfold ordinary_reach. rewrite Heps0, (key_value_scaled _ (value_n row)) by assumption.
    set (g := ssum d (fun m => query_row d A 1 v (2 + m)%nat * c m)).
    assert (Hg : Rabs (g / y) <= IZR (norm q)).
    { unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ y)) by (left; apply Rinv_0_lt_compat; assumption).
      apply Rmult_le_reg_r with y; [assumption|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r, <- Hnorm by lra.
      apply (dot_box d (fun m => query_row d A 1 v (2 + m)%nat)). assumption. }
    set (w := IZR (value_n row) + ssum d (fun m => IZR (nth m (values row) 0%Z) * c m)).
    assert (Hw : Rabs w <= IZR reach).
    { unfold w. rewrite Hreach, plus_IZR, abs_sum_value. eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat.
      - rewrite <- abs_IZR. apply IZR_le. lia.
      - apply (dot_box d (fun m => IZR (nth m (values row) 0%Z))). assumption. }
    replace (g + 0 + w * y) with ((g / y + w) * y) by (field; lra).
    apply Hfin; [apply Herror; tauto|]. eapply Rle_trans; [apply Rabs_triang|].
    apply IZR_le in Hhb. rewrite plus_IZR in Hhb. assert (IZR (norm q) <= IZR h) by (apply IZR_le; lia). lra. }
    rewrite key_error_t, self_reach_value. apply Hfin; [apply Herror; [|tauto]|].
    + intros m Hm. destruct (Hv m Hm) as [-> | ->]; lra.
    + set (dv := sign_dot (signs q) (values row)).
      assert (Hdv : (Z.abs dv <= abs_sum d (values row))%Z).
      { apply le_IZR. rewrite abs_IZR, abs_sum_value. unfold dv. rewrite vertex_dot.
        apply (dot_box d (fun m => IZR (nth m (values row) 0%Z))). intros m Hm. destruct (Hv m Hm) as [-> | ->]; lra. }
      rewrite Rabs_pos_eq by (apply (IZR_le 0); lia). apply IZR_le. lia.
Qed.
End Vertex.
