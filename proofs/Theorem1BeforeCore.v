(** * With content, before the trigger: the real-number part.

    Four more probes: ordinary contents v and trigger content -v (v = +-1), trigger at 3
    and at L; targets (1/2, 1/2, 0) and (1-w, w, v (1-2w)). *)
From Coq Require Import Reals Lra.
From Sinkproof Require Import Theorem1Core Theorem1ContentCore.
Open Scope R_scope.

(** A covector that vanishes on the two probes with v = 1. *)
Lemma covector_mixed w e f1 f2 f3 a1 b1 c1 a2 b2 c2 :
  Rabs (a1 - 1 / 2) <= e -> Rabs (b1 - 1 / 2) <= e -> Rabs (c1 - 0) <= e ->
  Rabs (a2 - (1 - w)) <= e -> Rabs (b2 - w) <= e -> Rabs (c2 - (1 - 2 * w)) <= e ->
  f1 * a1 + f2 * b1 + f3 * c1 = 0 -> f1 * a2 + f2 * b2 + f3 * c2 = 0 ->
  let F := Rabs f1 + Rabs f2 + Rabs f3 in
  -2 * (F * e) <= f1 + f2 <= 2 * (F * e) /\
  -2 * (F * e) <= (1 - 2 * w) * ((f1 - f2) / 2 + f3) <= 2 * (F * e).
Proof.
  intros Ha1 Hb1 Hc1 Ha2 Hb2 Hc2 E1 E2 F.
  assert (F1 := Rabs_elim _ _ (dot3_bound f1 f2 f3 _ _ _ e Ha1 Hb1 Hc1)).
  assert (F2 := Rabs_elim _ _ (dot3_bound f1 f2 f3 _ _ _ e Ha2 Hb2 Hc2)).
  fold F in F1, F2. set (Fe := F * e) in *. clearbody Fe. lra.
Qed.

(** The same bounds divided by k = 1 - 2 w, with e = 2 h k. *)
Lemma mixed_scaled k h F s c : 0 < k <= 1 -> 0 <= h -> 0 <= F ->
  -2 * (F * (2 * (h * k))) <= s <= 2 * (F * (2 * (h * k))) ->
  -2 * (F * (2 * (h * k))) <= k * c <= 2 * (F * (2 * (h * k))) ->
  -4 * (h * F) <= s <= 4 * (h * F) /\ -4 * (h * F) <= c <= 4 * (h * F).
Proof.
  intros Hk Hh HF Hs Hc. assert (HhF : 0 <= h * F) by (apply Rmult_le_pos; assumption).
  replace (F * (2 * (h * k))) with (k * (2 * (h * F))) in Hs, Hc by ring.
  assert (k * (h * F) <= 1 * (h * F)) by (apply Rmult_le_compat_r; lra).
  split; [lra|]. split; apply Rmult_le_reg_l with k; lra.
Qed.

(** Size of the covector pi with products 1, 0, 0 with V e_N, V e_T, V e_C, from the three
    covectors al, be (of [functionals]) and de (products 1, -1, 0). *)
Lemma before_size h g1 g2 al1 al2 al3 be1 be2 be3 de1 de2 de3 :
  0 <= h <= 1 / 192 -> 0 <= g1 <= 1 -> 0 <= g2 <= 1 ->
  -36 * h <= al1 - al2 <= 36 * h -> -18 * h <= al1 + al2 - 2 * g2 <= 18 * h ->
  -9 * h <= al3 + g2 <= 9 * h ->
  -36 * h <= be1 - be2 <= 36 * h -> -18 * h <= be1 + be2 - 2 * g1 <= 18 * h ->
  -9 * h <= be3 - g1 <= 9 * h ->
  let x1 := de1 - (be1 - al1) / 2 in let x2 := de2 - (be2 - al2) / 2 in
  let x3 := de3 - (be3 - al3) / 2 in
  let z1 := de1 + (be1 - al1) / 2 in let z2 := de2 + (be2 - al2) / 2 in
  let z3 := de3 + (be3 - al3) / 2 in
  let X := Rabs x1 + Rabs x2 + Rabs x3 in let Z := Rabs z1 + Rabs z2 + Rabs z3 in
  -4 * (h * X) <= x1 + x2 <= 4 * (h * X) -> -4 * (h * X) <= (x1 - x2) / 2 + x3 <= 4 * (h * X) ->
  -4 * (h * Z) <= z1 + z2 <= 4 * (h * Z) -> -4 * (h * Z) <= (z1 - z2) / 2 - z3 <= 4 * (h * Z) ->
  Rabs (((al1 + be1) / 2 + de1) / 2) + Rabs (((al2 + be2) / 2 + de2) / 2)
  + Rabs (((al3 + be3) / 2 + de3) / 2) <= 1 + 82 * h.
Proof.
  intros Hh Hg1 Hg2 A1 A2 A3 B1 B2 B3 x1 x2 x3 z1 z2 z3 X Z X1 X2 Z1 Z2.
  assert (HX : 0 <= X) by (assert (P := Rabs_pos x1); assert (Q := Rabs_pos x2); assert (R := Rabs_pos x3);
    unfold X; lra).
  assert (HZ : 0 <= Z) by (assert (P := Rabs_pos z1); assert (Q := Rabs_pos z2); assert (R := Rabs_pos z3);
    unfold Z; lra).
  assert (HhX : 0 <= h * X) by (apply Rmult_le_pos; lra).
  assert (HhZ : 0 <= h * Z) by (apply Rmult_le_pos; lra).
  assert (Hd3 : Rabs de3 <= 18 * h + 2 * (h * X) + 2 * (h * Z)).
  { apply Rabs_le. unfold x1, x2, x3, z1, z2, z3 in *. lra. }
  apply Rabs_elim in Hd3.
  assert (Hx3 : Rabs x3 <= 1 + 27 * h + 2 * (h * X) + 2 * (h * Z)).
  { apply Rabs_le. unfold x3. lra. }
  assert (Hz3 : Rabs z3 <= 1 + 27 * h + 2 * (h * X) + 2 * (h * Z)).
  { apply Rabs_le. unfold z3. lra. }
  assert (HX3 := Rabs_elim _ _ Hx3). assert (HZ3 := Rabs_elim _ _ Hz3).
  assert (Hx12 : Rabs x1 + Rabs x2 <= 2 + 54 * h + 12 * (h * X) + 4 * (h * Z)).
  { destruct (abs_sum_max x1 x2) as [-> | ->]; apply Rabs_le; lra. }
  assert (Hz12 : Rabs z1 + Rabs z2 <= 2 + 54 * h + 4 * (h * X) + 12 * (h * Z)).
  { destruct (abs_sum_max z1 z2) as [-> | ->]; apply Rabs_le; lra. }
  assert (S : h * X + h * Z <= 8 * h).
  { assert (HS : X + Z <= 6 + 162 * h + 20 * (h * (X + Z))) by (unfold X, Z in *; lra).
    assert (h * (X + Z) <= 1 / 192 * (X + Z)) by (apply Rmult_le_compat_r; lra).
    replace (h * X + h * Z) with (h * (X + Z)) by ring. rewrite (Rmult_comm 8 h).
    apply Rmult_le_compat_l; lra. }
  set (hX := h * X) in *. set (hZ := h * Z) in *. clearbody hX hZ.
  assert (P1 : Rabs (((al1 + be1) / 2 + de1) / 2) <= (g1 + g2) / 2 + 30 * h).
  { apply Rabs_le. unfold x1, x2, x3, z1, z2, z3 in *. lra. }
  assert (P2 : Rabs (((al2 + be2) / 2 + de2) / 2) <= 30 * h).
  { apply Rabs_le. unfold x1, x2, x3, z1, z2, z3 in *. lra. }
  assert (P3 : Rabs (((al3 + be3) / 2 + de3) / 2) <= Rabs (g1 - g2) / 4 + 22 * h).
  { assert (U := Rle_abs (g1 - g2)). assert (U' := Rle_abs (- (g1 - g2))). rewrite Rabs_Ropp in U'.
    apply Rabs_le. lra. }
  assert (G : (g1 + g2) / 2 + Rabs (g1 - g2) / 4 <= 1).
  { unfold Rabs. destruct (Rcase_abs (g1 - g2)); lra. }
  lra.
Qed.

(** The estimate; h = eta / (1 - 2 w), so that h = eta / (4 kappa_L). *)
Lemma core_before w h N1 N2 N3 T1 T2 T3 C1 C2 C3 m x
  p1 q1 p2 q2 p3 q3 p4 q4 p5 q5 p6 q6 p7 q7 p8 q8 :
  0 < w -> w <= 1 / 3 -> 0 <= h <= 1 / 192 -> 0 <= m <= 1 ->
  0 <= p1 + q1 <= 1 -> 0 <= p2 + q2 <= 1 ->
  let eta := h * (1 - 2 * w) in
  (forall r, r = (N1, C1) \/ r = (N2, C2) \/ r = (N3, C3) ->
     let '(Nr, Cr) := r in Rabs (m * (Nr + x * Cr)) <= eta * (2 - m)) ->
  (* contents all +1 or all -1 *)
  (forall r, r = (N1, T1, C1, 1 / 2, 1 - w, 0) \/ r = (N2, T2, C2, 1 / 2, w, 0) \/
             r = (N3, T3, C3, 0, 0, 1) ->
     let '(Nr, Tr, Cr, y3, yL, v) := r in
     Rabs (p1 * (Nr + Cr) + q1 * (Tr + Cr) - (y3 + v)) <= 2 * eta /\
     Rabs (p2 * (Nr - Cr) + q2 * (Tr - Cr) - (y3 - v)) <= 2 * eta /\
     Rabs (p3 * (Nr + Cr) + q3 * (Tr + Cr) - (yL + v)) <= 2 * eta /\
     Rabs (p4 * (Nr - Cr) + q4 * (Tr - Cr) - (yL - v)) <= 2 * eta) ->
  (* ordinary contents +1 and trigger content -1, or the reverse *)
  (forall r, r = (N1, T1, C1, 1 / 2, 1 - w, 0) \/ r = (N2, T2, C2, 1 / 2, w, 0) \/
             r = (N3, T3, C3, 0, 0, 1 - 2 * w) ->
     let '(Nr, Tr, Cr, y3, yL, v) := r in
     Rabs (p5 * (Nr + Cr) + q5 * (Tr - Cr) - y3) <= 2 * eta /\
     Rabs (p6 * (Nr + Cr) + q6 * (Tr - Cr) - (yL + v)) <= 2 * eta /\
     Rabs (p7 * (Nr - Cr) + q7 * (Tr + Cr) - y3) <= 2 * eta /\
     Rabs (p8 * (Nr - Cr) + q8 * (Tr + Cr) - (yL - v)) <= 2 * eta) ->
  m <= 2 * eta * (1 + 84 * h).
Proof.
  intros Hw0 Hw Hh Hm Hg1 Hg2 eta Hrow Hsame Hmix.
  assert (Hk : 0 < 1 - 2 * w <= 1) by lra.
  assert (He0 : 0 <= eta) by (apply Rmult_le_pos; lra).
  assert (He : 48 * eta <= 1 - 2 * w).
  { unfold eta. assert (h * (1 - 2 * w) <= 1 / 192 * (1 - 2 * w)) by (apply Rmult_le_compat_r; lra). lra. }
  destruct (Hsame (N1, T1, C1, 1 / 2, 1 - w, 0) ltac:(tauto)) as [S11 [S12 [S13 S14]]].
  destruct (Hsame (N2, T2, C2, 1 / 2, w, 0) ltac:(tauto)) as [S21 [S22 [S23 S24]]].
  destruct (Hsame (N3, T3, C3, 0, 0, 1) ltac:(tauto)) as [S31 [S32 [S33 S34]]].
  destruct (Hmix (N1, T1, C1, 1 / 2, 1 - w, 0) ltac:(tauto)) as [M15 [M16 [M17 M18]]].
  destruct (Hmix (N2, T2, C2, 1 / 2, w, 0) ltac:(tauto)) as [M25 [M26 [M27 M28]]].
  destruct (Hmix (N3, T3, C3, 0, 0, 1 - 2 * w) ltac:(tauto)) as [M35 [M36 [M37 M38]]].
  assert (R1 := Hrow (N1, C1) ltac:(tauto)). assert (R2 := Hrow (N2, C2) ltac:(tauto)).
  assert (R3 := Hrow (N3, C3) ltac:(tauto)). cbv beta iota in R1, R2, R3.
  clear Hsame Hmix Hrow.
  rewrite ?Rplus_0_r, ?Rplus_0_l, ?Rminus_0_r, ?Rminus_0_l in *.
  destruct (functionals w eta N1 N2 N3 T1 T2 T3 C1 C2 C3 p1 q1 p2 q2 p3 q3 p4 q4)
    as [HG [al1 [al2 [al3 [be1 [be2 [be3 [ea1 [ea2 [ea3 [eb1 [eb2 [eb3
        [[LA1 [LA2 LA3]] [LB1 [LB2 LB3]]]]]]]]]]]]]]]]; try assumption.
  clear S11 S12 S13 S14 S21 S22 S23 S24 S31 S32 S33 S34.
  destruct (solve3 N1 N2 N3 T1 T2 T3 C1 C2 C3 1 (- (1)) 0 HG) as [de1 [de2 [de3 [ed1 [ed2 ed3]]]]].
  clear HG.
  set (x1 := de1 - (be1 - al1) / 2). set (x2 := de2 - (be2 - al2) / 2). set (x3 := de3 - (be3 - al3) / 2).
  set (z1 := de1 + (be1 - al1) / 2). set (z2 := de2 + (be2 - al2) / 2). set (z3 := de3 + (be3 - al3) / 2).
  assert (ex1 : x1 * N1 + x2 * N2 + x3 * N3 = 1).
  { transitivity ((de1 * N1 + de2 * N2 + de3 * N3) - ((be1 * N1 + be2 * N2 + be3 * N3) - (al1 * N1 + al2 * N2 + al3 * N3)) / 2);
      [unfold x1, x2, x3; field | rewrite ed1, eb1, ea1; field]. }
  assert (ex2 : x1 * T1 + x2 * T2 + x3 * T3 = - (1)).
  { transitivity ((de1 * T1 + de2 * T2 + de3 * T3) - ((be1 * T1 + be2 * T2 + be3 * T3) - (al1 * T1 + al2 * T2 + al3 * T3)) / 2);
      [unfold x1, x2, x3; field | rewrite ed2, eb2, ea2; field]. }
  assert (ex3 : x1 * C1 + x2 * C2 + x3 * C3 = - (1)).
  { transitivity ((de1 * C1 + de2 * C2 + de3 * C3) - ((be1 * C1 + be2 * C2 + be3 * C3) - (al1 * C1 + al2 * C2 + al3 * C3)) / 2);
      [unfold x1, x2, x3; field | rewrite ed3, eb3, ea3; field]. }
  assert (ez1 : z1 * N1 + z2 * N2 + z3 * N3 = 1).
  { transitivity ((de1 * N1 + de2 * N2 + de3 * N3) + ((be1 * N1 + be2 * N2 + be3 * N3) - (al1 * N1 + al2 * N2 + al3 * N3)) / 2);
      [unfold z1, z2, z3; field | rewrite ed1, eb1, ea1; field]. }
  assert (ez2 : z1 * T1 + z2 * T2 + z3 * T3 = - (1)).
  { transitivity ((de1 * T1 + de2 * T2 + de3 * T3) + ((be1 * T1 + be2 * T2 + be3 * T3) - (al1 * T1 + al2 * T2 + al3 * T3)) / 2);
      [unfold z1, z2, z3; field | rewrite ed2, eb2, ea2; field]. }
  assert (ez3 : z1 * C1 + z2 * C2 + z3 * C3 = 1).
  { transitivity ((de1 * C1 + de2 * C2 + de3 * C3) + ((be1 * C1 + be2 * C2 + be3 * C3) - (al1 * C1 + al2 * C2 + al3 * C3)) / 2);
      [unfold z1, z2, z3; field | rewrite ed3, eb3, ea3; field]. }
  assert (KX : forall p q, x1 * (p * (N1 + C1) + q * (T1 - C1)) + x2 * (p * (N2 + C2) + q * (T2 - C2))
     + x3 * (p * (N3 + C3) + q * (T3 - C3)) = 0).
  { intros p q. transitivity (p * ((x1 * N1 + x2 * N2 + x3 * N3) + (x1 * C1 + x2 * C2 + x3 * C3))
      + q * ((x1 * T1 + x2 * T2 + x3 * T3) - (x1 * C1 + x2 * C2 + x3 * C3)));
      [ring|rewrite ex1, ex2, ex3; ring]. }
  assert (KZ : forall p q, z1 * (p * (N1 - C1) + q * (T1 + C1)) + z2 * (p * (N2 - C2) + q * (T2 + C2))
     + - z3 * - (p * (N3 - C3) + q * (T3 + C3)) = 0).
  { intros p q. transitivity (p * ((z1 * N1 + z2 * N2 + z3 * N3) - (z1 * C1 + z2 * C2 + z3 * C3))
      + q * ((z1 * T1 + z2 * T2 + z3 * T3) + (z1 * C1 + z2 * C2 + z3 * C3)));
      [ring|rewrite ez1, ez2, ez3; ring]. }
  clear ex1 ex2 ex3 ez1 ez2 ez3.
  assert (flip : forall X y, Rabs (X - y) <= 2 * eta -> Rabs (- X - - y) <= 2 * eta).
  { intros X y H. replace (- X - - y) with (- (X - y)) by ring. rewrite Rabs_Ropp. assumption. }
  assert (zero : forall X, Rabs X <= 2 * eta -> Rabs (X - 0) <= 2 * eta).
  { intros X H. rewrite Rminus_0_r. assumption. }
  assert (M37' : Rabs (- (p7 * (N3 - C3) + q7 * (T3 + C3)) - 0) <= 2 * eta).
  { rewrite Rminus_0_r, Rabs_Ropp. assumption. }
  assert (M38' := flip _ _ M38). rewrite Ropp_involutive in M38'.
  destruct (covector_mixed w (2 * eta) x1 x2 x3 _ _ _ _ _ _ M15 M25 (zero _ M35) M16 M26 M36 (KX p5 q5) (KX p6 q6))
    as [X1 X2].
  destruct (covector_mixed w (2 * eta) z1 z2 (- z3) _ _ _ _ _ _ M17 M27 M37' M18 M28 M38' (KZ p7 q7) (KZ p8 q8))
    as [Z1 Z2].
  rewrite Rabs_Ropp in Z1, Z2. clear KX KZ flip zero M15 M16 M17 M18 M25 M26 M27 M28 M35 M36 M37 M38 M37' M38'.
  assert (PX : 0 <= Rabs x1 + Rabs x2 + Rabs x3)
    by (assert (X := Rabs_pos x1); assert (Y := Rabs_pos x2); assert (Z := Rabs_pos x3); lra).
  assert (PZ : 0 <= Rabs z1 + Rabs z2 + Rabs z3)
    by (assert (X := Rabs_pos z1); assert (Y := Rabs_pos z2); assert (Z := Rabs_pos z3); lra).
  destruct (mixed_scaled (1 - 2 * w) h _ _ _ Hk (proj1 Hh) PX X1 X2) as [X1' X2'].
  destruct (mixed_scaled (1 - 2 * w) h _ _ _ Hk (proj1 Hh) PZ Z1 Z2) as [Z1' Z2'].
  clear X1 X2 Z1 Z2.
  assert (Heh : eta <= h).
  { unfold eta. rewrite <- (Rmult_1_r h) at 2. apply Rmult_le_compat_l; lra. }
  assert (Size : Rabs (((al1 + be1) / 2 + de1) / 2) + Rabs (((al2 + be2) / 2 + de2) / 2)
    + Rabs (((al3 + be3) / 2 + de3) / 2) <= 1 + 82 * h).
  { apply (before_size h (p1 + q1) (p2 + q2)); try assumption; try lra;
      split; apply Rmult_le_reg_l with (1 - 2 * w); unfold eta in *; lra. }
  assert (Hmu := dot3_bound (((al1 + be1) / 2 + de1) / 2) (((al2 + be2) / 2 + de2) / 2)
    (((al3 + be3) / 2 + de3) / 2) _ _ _ _ R1 R2 R3).
  match type of Hmu with Rabs ?e <= _ => replace e with m in Hmu end.
  2:{ transitivity (m * (((al1 * N1 + al2 * N2 + al3 * N3) + (be1 * N1 + be2 * N2 + be3 * N3)) / 2
        + (de1 * N1 + de2 * N2 + de3 * N3)) / 2
        + m * x * (((al1 * C1 + al2 * C2 + al3 * C3) + (be1 * C1 + be2 * C2 + be3 * C3)) / 2
        + (de1 * C1 + de2 * C2 + de3 * C3)) / 2);
      [rewrite ea1, ea3, eb1, eb3, ed1, ed3; field | field]. }
  rewrite (Rabs_pos_eq m) in Hmu by lra.
  match type of Size with ?e <= _ => set (U := e) in * end.
  assert (m <= (1 + 82 * h) * (eta * (2 - m))).
  { eapply Rle_trans; [exact Hmu|]. apply Rmult_le_compat_r; [|assumption]. apply Rmult_le_pos; lra. }
  assert (0 <= h * eta) by (apply Rmult_le_pos; lra).
  assert (0 <= (1 + 82 * h) * (eta * m)) by (repeat apply Rmult_le_pos; lra).
  clear - H H0 H1 He0. lra.
Qed.
