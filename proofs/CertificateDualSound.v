(** * The checker of the dual bound is right: main theorem at the end. *)
From Coq Require Import Reals Lra Lia Arith ZArith List.
From Sinkproof Require Import Sums Task CertificateWeights CertificateVertices CertificateExp CertificateScores.
From Sinkproof Require Import CertificateGruessReal CertificateGruess CertificateGruessSound.
From Sinkproof Require Import CertificateDualCore CertificateDualReal CertificateDual CertificateDualVertex.
Open Scope R_scope.

(** The proofs below never compute an exponential. *)
Local Opaque exp_upper.

Lemma sign_dot_scaled k z l : sign_dot z (map (Z.mul k) l) = (k * sign_dot z l)%Z.
Proof.
  revert l. induction z as [|s z IH]; intros l; [simpl; ring|]. destruct l as [|x l]; [simpl; ring|].
  cbn [sign_dot map]. rewrite IH. destruct s; ring.
Qed.

Lemma dual_rows_in d most a su u H D bos n m : forall count r M k sg, (k < count)%nat -> sg = 1%Z \/ sg = (-1)%Z ->
  In (dual_row_of d most a su u H sg (unit_row (r + k) u) (nth k M nil)
        (fine * dual_bos d su bos (nth k M nil)) (fine * dual_goal d a su u H D n m (nth k M nil)))
     (dual_rows d most a su u H D bos n m count r M).
Proof.
  induction count as [|count IH]; intros r M k sg Hk Hsg; [lia|]. cbn [dual_rows]. cbv zeta. destruct k as [|k].
  - rewrite Nat.add_0_r.
    destruct Hsg as [-> | ->]; [left; reflexivity|right; left; reflexivity].
  - right. right. replace (r + S k)%nat with (S r + k)%nat by lia.
    replace (nth (S k) M nil) with (nth k (tl M) nil) by (destruct M; [destruct k; reflexivity|reflexivity]).
    apply IH; [lia|assumption].
Qed.

(** The shift that the checker used at a query for a row. *)
Definition used_shift (d : nat) (most four H neg pos : Z) (q : query) (row : dual_row) : Z :=
  if coarse_ok neg pos q row then 0%Z else if shifted_ok d most four H neg pos q row 0 then 0%Z else shift d four H q row.

Lemma abs_sum_nonneg n l : (0 <= abs_sum n l)%Z.
Proof. revert l. induction n; intros [|x l]; simpl; try lia. specialize (IHn l). lia. Qed.

Section Checked.
Variables (L d : nat) (w : weights) (a Hs bos key n m : Z).
Let A : mat := score_map w.
Let V : mat := value_map w.
Let M : list (list Z) := score_matrix d w.
Let su : Z := score_denominator w.
Let u : Z := value_denominator w.
Let H : Z := (Hs * u)%Z.
Let D : Z := second_order H (su * u).
Let us : R := / IZR su.
Let x : R := / IZR u.
Let y : R := us * x.
Let four : Z := (4 * a * u)%Z.
Let neg : Z := (u * squares (-1) d M)%Z.
Let pos : Z := (u * squares 1 d M)%Z.
Let alpha : R := IZR a * us.
Let most : Z := (Z.of_nat L - 1)%Z.
Hypothesis HL : (3 <= L)%nat.
Hypothesis Hm : (0 < m)%Z.
Hypothesis Ha : (0 < a)%Z.
Hypothesis HH0 : (0 <= H)%Z.
Hypothesis HH1 : (H < su * u)%Z.
Hypothesis Hbos0 : (0 <= bos)%Z.

Lemma su_pos : (0 < su)%Z. Proof. apply score_denominator_pos. Qed.
Lemma uz_pos : (0 < u)%Z. Proof. apply value_denominator_pos. Qed.
Lemma su_real : 0 < IZR su. Proof. apply (IZR_lt 0), su_pos. Qed.
Lemma u_real : 0 < IZR u. Proof. apply (IZR_lt 0), uz_pos. Qed.
Lemma a_real : 0 < IZR a. Proof using Ha. apply (IZR_lt 0), Ha. Qed.
Lemma y_pos : 0 < y.
Proof. apply Rmult_lt_0_compat; apply Rinv_0_lt_compat; [apply su_real|apply u_real]. Qed.
Lemma four_pos : (0 < four)%Z.
Proof. unfold four. pose proof uz_pos. apply Z.mul_pos_pos; lia. Qed.

Lemma A_value r s : (r < d + 3)%nat -> (s < d + 3)%nat -> A r s = IZR (entry M r s) * us.
Proof. intros Hr Hs'. apply (score_map_value d); assumption. Qed.

Lemma us_y : us = IZR u * y.
Proof. unfold y, x. assert (X := u_real). field. lra. Qed.

Lemma x_y : x = IZR su * y.
Proof. unfold y, us. assert (X := su_real). field. lra. Qed.

Section Row.
Variables (r : nat) (sg : Z).
Hypothesis Hr : (r < d + 3)%nat.
Hypothesis Hsg : sg = 1%Z \/ sg = (-1)%Z.
Let v : list Z := nth r (value_matrix d w) nil.
Let g : Z := dual_goal d a su u H D n m v.
Let b : Z := dual_bos d su bos v.
Let row : dual_row := dual_row_of d most a su u H sg (unit_row r u) v (fine * b) (fine * g).
Let eps : content -> R := extend d (fun c =>
  IZR (used_shift d most four H neg pos (query_of d u (vertex_signs d c) (signs_row d M 1 (vertex_signs d c))) row) * y).

Lemma V_row s : (s < d + 3)%nat -> V r s = IZR (nth s v 0%Z) * x.
Proof. intros Hs'. apply (value_map_value d). assumption. Qed.

Lemma row_value s : (s < d + 3)%nat -> alpha * (IZR sg * V r s) = IZR (nth s (map (Z.mul (a * sg)) v) 0%Z) * y.
Proof. intros Hs'. rewrite nth_scaled, V_row, !mult_IZR by assumption. unfold alpha, y. ring. Qed.

Lemma row_error s : (s < d + 3)%nat -> IZR sg * (V r s - kronecker r s) =
  IZR (nth s (map (Z.mul (fine * su * sg)) (sub v (unit_row r u))) 0%Z) * (y / IZR fine).
Proof.
  intros Hs'. rewrite nth_scaled, nth_sub, nth_unit_row, V_row by assumption. unfold kronecker.
  rewrite !mult_IZR, minus_IZR. assert (Hf := fine_pos).
  replace (IZR fine * IZR su * IZR sg * (IZR (nth s v 0%Z) - IZR (if (s =? r)%nat then u else 0%Z)) * (y / IZR fine)) with
    (IZR sg * (IZR (nth s v 0%Z) - IZR (if (s =? r)%nat then u else 0%Z)) * (IZR su * y)) by (field; lra).
  rewrite <- x_y. assert (Hu := u_real). destruct (s =? r)%nat; [|ring].
  unfold x. field. lra.
Qed.

Hypothesis Hcheck : forall c, is_vertex d c ->
  row_ok d most four H neg pos (query_of d u (vertex_signs d c) (signs_row d M 1 (vertex_signs d c))) row = true.

Lemma row_vertex c : is_vertex d c -> vertex_conditions d A V r (IZR sg) alpha y eps most H row c.
Proof.
  intros Hc.
  destruct (query_maximum_at (fun _ _ => 0%Z) d A M us 1 c A_value) as [Hz [Hvz [_ Hrow]]].
  { unfold M. rewrite length_score_matrix. lia. }
  { lia. }
  { assumption. }
  set (z := vertex_signs d c) in *. set (rw := signs_row d M 1 z) in *. set (q := query_of d u z rw).
  assert (Hy := y_pos). assert (Hus : 0 < us) by (apply Rinv_0_lt_compat, su_real).
  assert (Hsl : forall k, (k < d)%nat -> query_row d A 1 c (2 + k)%nat = IZR (nth k (slopes q) 0%Z) * y).
  { intros k Hk. rewrite Hrow by lia. unfold q, query_of. cbn [slopes]. rewrite nth_scaled, nth_skip2, mult_IZR, us_y. ring. }
  assert (Hno : query_norm d A 1 c = IZR (norm q) * y).
  { unfold query_norm, q, query_of. cbn [norm]. rewrite abs_sum_value, Rmult_comm, <- ssum_scal. apply ssum_ext. intros k Hk.
    rewrite Hsl, Rabs_mult, (Rabs_pos_eq y) by (assumption || lra). unfold q, query_of. cbn [slopes]. ring. }
  assert (Hse : self q = (u * (nth 1 rw 0 - nth d (skipn 2 rw) 0 + sign_dot z (skipn 2 rw)))%Z).
  { unfold q, query_of. cbn [self]. rewrite sign_dot_scaled, nth_skip2. replace (2 + d)%nat with (d + 2)%nat by lia. ring. }
  assert (HM : (d + 2 <= length M)%nat) by (unfold M; rewrite length_score_matrix; lia).
  assert (B1 := bent_self_vertex d A M us c z rw 1 A_value Hus HM Hc Hz Hvz Hrow).
  assert (B2 := bent_self_vertex d A M us c z rw (-1) A_value Hus HM Hc Hz Hvz Hrow).
  change (Z.opp 1) with (-1)%Z in B1. change (Z.opp (-1)) with 1%Z in B2.
  set (X := (nth 1 rw 0 - nth d (skipn 2 rw) 0 + sign_dot z (skipn 2 rw))%Z) in *.
  assert (Hb1 : bent_self d A 1 c = IZR (self q + neg) * y).
  { rewrite B1, Hse, us_y. unfold neg. rewrite !plus_IZR, !mult_IZR. ring. }
  assert (Hb2 : bent_self d A (-1) c = IZR (pos - self q) * y).
  { rewrite B2, Hse, us_y. unfold pos. rewrite plus_IZR, minus_IZR, !mult_IZR. ring. }
  assert (Heps : eps c = IZR (used_shift d most four H neg pos q row) * y) by (unfold eps; rewrite extend_vertex by assumption; reflexivity).
  assert (Halpha : 4 * alpha = IZR four * y).
  { unfold alpha, four. rewrite us_y, !mult_IZR. ring. }
  assert (Hval : forall k, (k < d)%nat -> alpha * (IZR sg * V r (2 + k)%nat) = IZR (nth k (values row) 0%Z) * y).
  { intros k Hk. rewrite row_value by lia. unfold row, dual_row_of. cbn [values]. rewrite nth_skip2. reflexivity. }
  assert (Herr : forall k, (k < d)%nat -> IZR sg * (V r (2 + k)%nat - kronecker r (2 + k)) = IZR (nth k (errors row) 0%Z) * (y / IZR fine)).
  { intros k Hk. rewrite row_error by lia. unfold row, dual_row_of. cbn [errors]. rewrite nth_skip2. reflexivity. }
  assert (Hvn := row_value (d + 2) ltac:(lia)). assert (Hvt := row_value 1 ltac:(lia)).
  assert (Hen := row_error (d + 2) ltac:(lia)). assert (Het := row_error 1 ltac:(lia)).
  assert (Hcase := Hcheck c Hc). fold z rw q in Hcase. unfold row_ok in Hcase. unfold used_shift in Heps.
  destruct (coarse_ok neg pos q row) eqn:Ecoarse.
  - apply (coarse_conditions d A V r (IZR sg) alpha y eps most four H neg pos q row 0 c four_pos Hy Halpha Hc Hz Hvz Hsl Hno Hb1 Hb2
      Hval Hvn Hvt Herr Hen Het Heps _ _ eq_refl eq_refl eq_refl eq_refl Ecoarse).
    unfold q, query_of. cbn [norm]. apply abs_sum_nonneg.
  - destruct (shifted_ok d most four H neg pos q row 0) eqn:Ezero.
    + apply (shifted_conditions d A V r (IZR sg) alpha y eps most four H neg pos q row 0 c four_pos Hy Halpha Hz Hvz Hsl Hno Hb1 Hb2
        Hval Hvn Hvt Herr Hen Het Heps Ezero).
    + apply (shifted_conditions d A V r (IZR sg) alpha y eps most four H neg pos q row (shift d four H q row) c four_pos Hy Halpha Hz Hvz Hsl Hno Hb1 Hb2
        Hval Hvn Hvt Herr Hen Het Heps Hcase).
Qed.

(** The parts of the goal add up to the bound. *)
Lemma goal_adds_up : let reach := value_most d v in
  IZR bos / IZR one * (IZR (Z.abs (nth 0 v 0%Z) + reach) * x) <= IZR b * y /\
  IZR g * y + dual_remainder alpha (IZR H * y) (IZR D * y) (IZR reach * x) <= IZR n / IZR m.
Proof.
  intros reach. assert (Hy := y_pos). assert (Ho := one_pos). assert (Hsu := su_real). assert (Hu := u_real). assert (Hma : 0 < IZR m) by (apply (IZR_lt 0); assumption).
  assert (Har := a_real). assert (Hz1 := su_pos). assert (Hz2 := uz_pos).
  assert (Ez : (0 < one)%Z) by (apply lt_IZR; assumption).
  set (off := (Z.abs (nth 0 v 0%Z) + reach)%Z).
  assert (F0 := IZR_div_le (n * (su * u)) m Hm).
  assert (F1 := IZR_div_lt (bos * off * su) one ltac:(lia)).
  assert (F2 := IZR_div_lt (H * D) (4 * a * u) four_pos).
  assert (F3 := IZR_div_lt (reach * D) (2 * u) ltac:(lia)).
  assert (P4 : (0 < 4 * su * u * u)%Z) by (repeat (apply Z.mul_pos_pos; [|assumption]); lia).
  assert (F4 := IZR_div_lt (a * (reach * reach) * (H + D)) (4 * su * u * u) P4).
  assert (G : IZR g = IZR (n * (su * u) / m) - IZR (H * D / (4 * a * u) + 1) -
    IZR (reach * D / (2 * u) + 1) - IZR (a * (reach * reach) * (H + D) / (4 * su * u * u) + 1)).
  { unfold g, dual_goal. cbv zeta. fold reach. rewrite !minus_IZR. reflexivity. }
  set (f0 := IZR (n * (su * u) / m)) in *. set (f1 := IZR (bos * off * su / one + 1)) in *. set (f2 := IZR (H * D / (4 * a * u) + 1)) in *.
  set (f3 := IZR (reach * D / (2 * u) + 1)) in *. set (f4 := IZR (a * (reach * reach) * (H + D) / (4 * su * u * u) + 1)) in *.
  rewrite !mult_IZR, ?plus_IZR in F0, F1, F2, F3, F4.
  assert (E0 : f0 * y <= IZR n / IZR m).
  { eapply Rle_trans; [apply Rmult_le_compat_r; [lra|exact F0]|]. apply Req_le. rewrite ?mult_IZR, ?plus_IZR. unfold y, us, x. field. repeat split; lra. }
  assert (E1 : IZR bos / IZR one * (IZR off * x) <= f1 * y).
  { eapply Rle_trans; [|apply Rmult_le_compat_r; [lra|left; exact F1]]. apply Req_le. rewrite ?mult_IZR, ?plus_IZR. unfold y, us, x. field. repeat split; lra. }
  assert (E2 : IZR H * y * (IZR D * y) / (4 * alpha) <= f2 * y).
  { eapply Rle_trans; [|apply Rmult_le_compat_r; [lra|left; exact F2]]. apply Req_le. rewrite ?mult_IZR, ?plus_IZR. unfold alpha, y, us, x. field. repeat split; lra. }
  assert (E3 : IZR reach * x * (IZR D * y) / 2 <= f3 * y).
  { eapply Rle_trans; [|apply Rmult_le_compat_r; [lra|left; exact F3]]. apply Req_le. rewrite ?mult_IZR, ?plus_IZR. unfold y, us, x. field. repeat split; lra. }
  assert (E4 : alpha * (IZR reach * x * (IZR reach * x)) * (IZR H * y + IZR D * y) / 4 <= f4 * y).
  { eapply Rle_trans; [|apply Rmult_le_compat_r; [lra|left; exact F4]]. apply Req_le. rewrite ?mult_IZR, ?plus_IZR. unfold alpha, y, us, x. field. repeat split; lra. }
  split; [exact E1|]. unfold dual_remainder. rewrite G.
  replace ((f0 - f2 - f3 - f4) * y) with (f0 * y - f2 * y - f3 * y - f4 * y) by ring. lra.
Qed.

Lemma row_at_trigger h bx kx : extents d A h bx kx -> exp bx <= IZR bos / IZR one ->
  forall I, is_instance L d I ->
  IZR sg * (softmax_head d A V I (trig I) r - target d I (trig I) r) <= IZR n / IZR m.
Proof.
  intros HE Hexp I HI. assert (Hy := y_pos). assert (Hx : 0 < x) by (apply Rinv_0_lt_compat, u_real).
  set (reach := value_most d v).
  assert (Hunit : IZR (su * u) * y = 1).
  { rewrite mult_IZR. unfold y, us, x. assert (S1 := su_real). assert (S2 := u_real). field. lra. }
  assert (Hval : forall q c, q = 1%nat \/ q = (d + 2)%nat -> in_box d c -> Rabs (key_value d V r q c) <= IZR reach * x).
  { intros q c Hq Hc. unfold key_value. eapply Rle_trans; [apply Rabs_triang|]. unfold reach, value_most.
    rewrite plus_IZR, abs_sum_value, Rmult_plus_distr_r. apply Rplus_le_compat.
    - destruct Hq as [-> | ->]; rewrite V_row, Rabs_mult, (Rabs_pos_eq x), <- abs_IZR by (lia || lra);
        (apply Rmult_le_compat_r; [lra|apply IZR_le; lia]).
    - eapply Rle_trans; [apply (dot_box d (fun k => V r (2 + k)%nat)); assumption|].
      rewrite (Rmult_comm (ssum _ _)), <- ssum_scal. apply ssum_le. intros k Hk.
      rewrite V_row, nth_skip2, Rabs_mult, (Rabs_pos_eq x) by (lia || lra). lra. }
  eapply Rle_trans; [apply (dual_at_trigger L d A V h bx kx r (IZR sg) alpha (IZR H * y) (IZR D * y) (IZR reach * x)
    (IZR (Z.abs (nth 0 v 0%Z) + reach) * x) (IZR g * y) eps HE Hr)|].
  - destruct Hsg as [-> | ->]; [left|right]; reflexivity.
  - unfold alpha. apply Rmult_lt_0_compat; [apply a_real|apply Rinv_0_lt_compat, su_real].
  - rewrite <- Hunit. apply Rmult_lt_compat_r; [assumption|]. apply IZR_lt. assumption.
  - rewrite <- Hunit. assert (X : (H * H <= D * (2 * (su * u - H)))%Z).
    { unfold D, second_order. assert (X := Z.mul_succ_div_gt (H * H) (2 * (su * u - H)) ltac:(lia)). lia. }
    apply IZR_le in X. rewrite !mult_IZR, minus_IZR in X. rewrite mult_IZR in X.
    rewrite mult_IZR. assert (Hyy : 0 <= y * y) by apply Rle_0_sqr.
    assert (X2 := Rmult_le_compat_r _ _ _ Hyy X). lra.
  - apply extend_affine.
  - exact Hval.
  - rewrite V_row, Rabs_mult, (Rabs_pos_eq x), <- abs_IZR, plus_IZR by (lia || lra). lra.
  - intros c Hc. apply row_vertex. assumption.
  - intros c Hc. apply row_vertex. assumption.
  - intros c contents J Hc HJ Hcs. destruct (row_vertex c Hc) as [_ [_ [each [self [Hmean [Heach Hself]]]]]].
    unfold mean_ok in Hmean. apply andb_prop in Hmean. destruct Hmean as [M1 M2]. apply Z.leb_le, IZR_le in M1, M2.
    rewrite ?plus_IZR, ?mult_IZR, ?plus_IZR in M1. rewrite ?plus_IZR, ?mult_IZR, ?minus_IZR, ?plus_IZR in M2.
    assert (Hf := fine_pos). destruct goal_adds_up as [G1 _]. fold reach in G1.
    assert (Hmost : IZR most = INR (L - 1)) by (unfold most; rewrite INR_IZR_INZ, Nat2Z.inj_sub by lia; reflexivity).
    assert (HJr : 2 <= INR J <= IZR most).
    { rewrite Hmost. split; [replace 2 with (INR 2) by reflexivity|]; apply le_INR; lia. }
    assert (Mean := mean_between (IZR (bos_part row) + IZR self) (IZR each) (IZR (goal row)) (INR J) (IZR most) HJr ltac:(lra) ltac:(lra)).
    assert (Hyf : 0 < y / IZR fine) by (apply Rdiv_lt_0_compat; assumption).
    assert (Hsum : bsum 2 J (fun k => ordinary_part d A V r (IZR sg) alpha eps c (contents k)) <= (INR J - 1) * (IZR each * (y / IZR fine))).
    { apply Rle_trans with (bsum 2 J (fun _ => IZR each * (y / IZR fine))).
      - apply bsum_le. intros k Hk. apply Heach. apply Hcs. assumption.
      - rewrite bsum_const. apply Req_le. f_equal. replace (Datatypes.S J - 2)%nat with (J - 1)%nat by lia.
        rewrite minus_INR by lia. reflexivity. }
    assert (Hgoal : IZR g * y = IZR (goal row) * (y / IZR fine)).
    { unfold row, dual_row_of. cbn [goal]. rewrite mult_IZR. field. lra. }
    assert (Hbosb : IZR b * y = IZR (bos_part row) * (y / IZR fine)).
    { unfold row, dual_row_of. cbn [bos_part]. rewrite mult_IZR. field. lra. }
    assert (Hexp2 : exp bx * (IZR (Z.abs (nth 0 v 0%Z) + reach) * x) <= IZR b * y).
    { eapply Rle_trans; [|exact G1]. apply Rmult_le_compat_r; [|assumption].
      apply Rmult_le_pos; [apply (IZR_le 0)|lra].
      assert (0 <= abs_sum d (skipn 2 v))%Z by apply abs_sum_nonneg. unfold reach, value_most. lia. }
    rewrite Hbosb in Hexp2. rewrite Hgoal. apply (Rmult_le_compat_r (y / IZR fine)) in Mean; [|lra]. lra.
  - exact HI.
  - destruct goal_adds_up as [_ G2]. exact G2.
Qed.
End Row.
End Checked.

(** Main theorem. If the check passes, the worst-case loss of the weights' softmax head is at most n / m, whatever a and H. *)
Theorem loss_by_dual (L d : nat) (w : weights) (a H n m : Z) :
  dual_check L d w a H n m = true ->
  worst_case_loss_at_most L d (softmax_head_of d w) (IZR n / IZR m).
Proof.
  intros Hcheck. unfold dual_check in Hcheck. cbv zeta in Hcheck.
  set (M := score_matrix d w) in *. set (su := score_denominator w) in *. set (u := value_denominator w) in *.
  destruct (exp_upper (query_maximum (bos_leaf d) d M 1) su) as [bos|] eqn:Ebos; [|discriminate].
  destruct (exp_upper (query_maximum (key_leaf d) d M (d + 2)) su) as [key|] eqn:Ekey; [|discriminate].
  rewrite !Bool.andb_true_iff in Hcheck. destruct Hcheck as [[[[[[[Hm Ha] HL] HH0] HH1] Hb0] Hoff] Hdual].
  apply Z.ltb_lt in Hm, Ha, HH1. apply Z.leb_le in HH0, Hb0, Hdual. apply Nat.leb_le in HL.
  assert (HS : (0 < su)%Z) by apply score_denominator_pos. assert (Hu : (0 < u)%Z) by apply value_denominator_pos.
  assert (HS' : 0 < IZR su) by (apply (IZR_lt 0); assumption). assert (Hu' : 0 < IZR u) by (apply (IZR_lt 0); assumption).
  assert (HA : forall r s, (r < d + 3)%nat -> (s < d + 3)%nat -> score_map w r s = IZR (entry M r s) * / IZR su).
  { intros r s Hr Hs. apply (score_map_value d); assumption. }
  assert (HML : (d + 2 <= length M)%nat) by (unfold M; rewrite length_score_matrix; lia).
  assert (HE := by_vertices_sound d (score_map w) M (/ IZR su) HA ltac:(apply Rinv_0_lt_compat; assumption) HML).
  unfold by_vertices in HE. cbv zeta in HE. cbn [spread bos_excess key_excess] in HE.
  assert (Hbos := exp_upper_correct _ _ _ HS Ebos). assert (Hkey := exp_upper_correct _ _ _ HS Ekey).
  apply worst_case_from_errors. intros I HI i r Hi Hr. unfold softmax_head_of.
  destruct (Nat.eq_dec i (trig I)) as [->|Hne].
  - assert (Hside : forall sg, sg = 1%Z \/ sg = (-1)%Z ->
      IZR sg * (softmax_head d (score_map w) (value_map w) I (trig I) r - target d I (trig I) r) <= IZR n / IZR m).
    { intros sg Hsg. refine (row_at_trigger L d w a H bos n m HL Hm Ha HH1 r sg Hr Hsg _ _ _ _ HE Hbos I HI).
      intros c Hc. destruct (query_maximum_at (dual_leaf d (Z.of_nat L - 1) (4 * a * u) (H * u) (u * squares (-1) d M) (u * squares 1 d M) u
          (dual_rows d (Z.of_nat L - 1) a su u (H * u) (second_order (H * u) (su * u)) bos n m (d + 3) 0 (value_matrix d w)))
          d (score_map w) M (/ IZR su) 1 c HA HML ltac:(lia) Hc) as [_ [_ [Hleaf _]]].
      assert (Hzero := Z.le_trans _ _ _ Hleaf Hdual). clear Hleaf. unfold dual_leaf in Hzero. cbv zeta in Hzero.
      match type of Hzero with ((if ?b then _ else _) <= _)%Z => destruct b eqn:Eall; [|lia] end.
      rewrite forallb_forall in Eall. apply Eall.
      exact (dual_rows_in d (Z.of_nat L - 1) a su u (H * u) (second_order (H * u) (su * u)) bos n m (d + 3) 0 (value_matrix d w) r sg ltac:(lia) Hsg). }
    assert (P := Hside 1%Z (or_introl eq_refl)). assert (N := Hside (-1)%Z (or_intror eq_refl)).
    apply Rabs_le. lra.
  - assert (Hrow := rows_check_row _ _ _ _ Hoff r ltac:(lia)). cbv beta in Hrow. cbn [Nat.add] in Hrow.
    destruct (value_row_sound d r u (nth r (value_matrix d w) nil) (value_map w) (/ IZR u)) as [lo [hi [_ [HR Hb]]]].
    { intros s Hs. apply (value_map_value d). assumption. }
    { apply Rinv_0_lt_compat. assumption. }
    { apply Rinv_r. lra. }
    set (row := value_row_of d r u (nth r (value_matrix d w) nil)) in *.
    unfold off_check in Hrow. apply Z.leb_le in Hrow.
    assert (Ho := one_pos). assert (Hoz : (0 < one)%Z) by (apply lt_IZR; assumption).
    assert (Hoff0 : 0 <= IZR (bos_offset row) * / IZR u) by (destruct HR as [_ [X _]]; eapply Rle_trans; [apply Rabs_pos|exact X]).
    eapply Rle_trans; [apply (off_trigger L d _ _ _ _ _ HE I i r lo hi _ _ HI Hi Hr Hne HR)|].
    assert (Hpos : (0 < one * u)%Z) by (apply Z.mul_pos_pos; assumption).
    eapply Rle_trans; [|exact (fraction_le _ _ n m Hpos Hm Hrow)].
    rewrite !plus_IZR, !mult_IZR, minus_IZR, Hb, <- INR_IZR_INZ.
    assert (HLr : 1 <= INR L) by (replace 1 with (INR 1) by reflexivity; apply le_INR; lia).
    apply Rle_trans with (IZR (first_error row) * / IZR u +
      (INR L - 1) * (IZR key / IZR one) * (IZR (bos_offset row) * / IZR u)).
    + apply Rplus_le_compat_l. apply Rmult_le_compat_r; [assumption|]. apply Rmult_le_compat_l; [lra|exact Hkey].
    + apply Req_le. field. repeat split; lra.
Qed.
