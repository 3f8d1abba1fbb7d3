(** * With content: the real-number part.

    Three coordinates N, T, C (one content coordinate). Four probes: trigger at 3 and at
    L, all contents +1 and all contents -1. Their targets are (1/2, 1/2, +-1) and
    (1-w, w, +-1), w = 1/(L-1). *)
From Coq Require Import Reals Lra.
From Sinkproof Require Import Theorem1Core.
Open Scope R_scope.

Lemma dot3_bound u v s e f g B :
  Rabs e <= B -> Rabs f <= B -> Rabs g <= B ->
  Rabs (u * e + v * f + s * g) <= (Rabs u + Rabs v + Rabs s) * B.
Proof.
  intros He Hf Hg. eapply Rle_trans; [apply Rabs_triang|].
  assert (H := dot_bound u v e f B He Hf). rewrite Rabs_mult.
  assert (Rabs s * Rabs g <= Rabs s * B) by (apply Rmult_le_compat_l; [apply Rabs_pos|assumption]).
  lra.
Qed.

Definition det3 (a b c : R * R * R) : R :=
  let '(a1, a2, a3) := a in let '(b1, b2, b3) := b in let '(c1, c2, c3) := c in
  a1 * (b2 * c3 - b3 * c2) - a2 * (b1 * c3 - b3 * c1) + a3 * (b1 * c2 - b2 * c1).

(** Cramer: a covector with prescribed products with three independent vectors. *)
Lemma solve3 a1 a2 a3 b1 b2 b3 c1 c2 c3 x y z :
  det3 (a1, a2, a3) (b1, b2, b3) (c1, c2, c3) <> 0 ->
  exists u v w, u * a1 + v * a2 + w * a3 = x /\ u * b1 + v * b2 + w * b3 = y /\
                u * c1 + v * c2 + w * c3 = z.
Proof.
  unfold det3. intros H. set (D := a1 * _ - _ + _) in H.
  exists ((x * (b2 * c3 - b3 * c2) - y * (a2 * c3 - a3 * c2) + z * (a2 * b3 - a3 * b2)) / D).
  exists ((- x * (b1 * c3 - b3 * c1) + y * (a1 * c3 - a3 * c1) - z * (a1 * b3 - a3 * b1)) / D).
  exists ((x * (b1 * c2 - b2 * c1) - y * (a1 * c2 - a2 * c1) + z * (a1 * b2 - a2 * b1)) / D).
  split; [|split]; unfold D in *; field; exact H.
Qed.

(** A covector whose products with the probes (trigger 3, content +1), (trigger 3,
    content -1) and (trigger L, content +1) are 0, 2 g and 0. *)
Lemma covector3 w e f1 f2 f3 a1 b1 c1 a2 b2 c2 a3 b3 c3 g :
  Rabs (a1 - 1 / 2) <= e -> Rabs (b1 - 1 / 2) <= e -> Rabs (c1 - 1) <= e ->
  Rabs (a2 - 1 / 2) <= e -> Rabs (b2 - 1 / 2) <= e -> Rabs (c2 - - (1)) <= e ->
  Rabs (a3 - (1 - w)) <= e -> Rabs (b3 - w) <= e -> Rabs (c3 - 1) <= e ->
  f1 * a1 + f2 * b1 + f3 * c1 = 0 -> f1 * a2 + f2 * b2 + f3 * c2 = 2 * g ->
  f1 * a3 + f2 * b3 + f3 * c3 = 0 ->
  let A := Rabs f1 + Rabs f2 + Rabs f3 in
  -4 * (A * e) <= (1 - 2 * w) * (f1 - f2) <= 4 * (A * e) /\
  -2 * (A * e) <= f1 + f2 - 2 * g <= 2 * (A * e) /\ - (A * e) <= f3 + g <= A * e.
Proof.
  intros Ha1 Hb1 Hc1 Ha2 Hb2 Hc2 Ha3 Hb3 Hc3 E1 E2 E3 A.
  assert (F1 := Rabs_elim _ _ (dot3_bound f1 f2 f3 _ _ _ e Ha1 Hb1 Hc1)).
  assert (F2 := Rabs_elim _ _ (dot3_bound f1 f2 f3 _ _ _ e Ha2 Hb2 Hc2)).
  assert (F3 := Rabs_elim _ _ (dot3_bound f1 f2 f3 _ _ _ e Ha3 Hb3 Hc3)).
  fold A in F1, F2, F3. set (Ae := A * e) in *. clearbody Ae. lra.
Qed.

(** The covector has size at most about 3. *)
Lemma covector3_size k e f1 f2 f3 g :
  0 < k <= 1 -> 0 <= e -> 24 * e <= k -> 0 <= g <= 1 ->
  let A := Rabs f1 + Rabs f2 + Rabs f3 in
  -4 * (A * e) <= k * (f1 - f2) <= 4 * (A * e) ->
  -2 * (A * e) <= f1 + f2 - 2 * g <= 2 * (A * e) -> - (A * e) <= f3 + g <= A * e ->
  A <= 72 / 17.
Proof.
  intros Hk He Hek Hg A HD HS HC.
  assert (HA : 0 <= A) by (assert (X := Rabs_pos f1); assert (Y := Rabs_pos f2); assert (Z := Rabs_pos f3);
    unfold A; lra).
  assert (B1 : A * e <= A / 24).
  { replace (A / 24) with (A * (1 / 24)) by field. apply Rmult_le_compat_l; lra. }
  assert (B2 : A * e * 24 <= A * k) by (rewrite Rmult_assoc; apply Rmult_le_compat_l; lra).
  assert (D : Rabs (f1 - f2) <= A / 6).
  { apply Rabs_le. split; apply Rmult_le_reg_l with k; try lra. }
  assert (D' := Rabs_elim _ _ D).
  assert (C : Rabs f3 <= g + A * e) by (apply Rabs_le; lra).
  assert (M : Rabs f1 + Rabs f2 <= 2 * g + 2 * (A * e) + A / 6).
  { destruct (abs_sum_max f1 f2) as [-> | ->]; [apply Rabs_le|]; lra. }
  change (A <= 72 / 17). unfold A in *. lra.
Qed.

(** The covectors al and be whose products with V e_N, V e_T, V e_C are (1, 1, -1) and
    (1, 1, 1): mass minus content and mass plus content. Here g2 = p2 + q2 and g1 = p1 + q1.
    With kap = 1 - 2 w = 4 kappa_L we assume 48 eta <= kap. *)
Lemma functionals w eta N1 N2 N3 T1 T2 T3 C1 C2 C3 p1 q1 p2 q2 p3 q3 p4 q4 :
  0 < w -> w <= 1 / 3 -> 0 <= eta -> 48 * eta <= 1 - 2 * w ->
  0 <= p1 + q1 <= 1 -> 0 <= p2 + q2 <= 1 ->
  Rabs (p1 * (N1 + C1) + q1 * (T1 + C1) - 1 / 2) <= 2 * eta ->
  Rabs (p1 * (N2 + C2) + q1 * (T2 + C2) - 1 / 2) <= 2 * eta ->
  Rabs (p1 * (N3 + C3) + q1 * (T3 + C3) - 1) <= 2 * eta ->
  Rabs (p2 * (N1 - C1) + q2 * (T1 - C1) - 1 / 2) <= 2 * eta ->
  Rabs (p2 * (N2 - C2) + q2 * (T2 - C2) - 1 / 2) <= 2 * eta ->
  Rabs (p2 * (N3 - C3) + q2 * (T3 - C3) - - (1)) <= 2 * eta ->
  Rabs (p3 * (N1 + C1) + q3 * (T1 + C1) - (1 - w)) <= 2 * eta ->
  Rabs (p3 * (N2 + C2) + q3 * (T2 + C2) - w) <= 2 * eta ->
  Rabs (p3 * (N3 + C3) + q3 * (T3 + C3) - 1) <= 2 * eta ->
  Rabs (p4 * (N1 - C1) + q4 * (T1 - C1) - (1 - w)) <= 2 * eta ->
  Rabs (p4 * (N2 - C2) + q4 * (T2 - C2) - w) <= 2 * eta ->
  Rabs (p4 * (N3 - C3) + q4 * (T3 - C3) - - (1)) <= 2 * eta ->
  det3 (N1, N2, N3) (T1, T2, T3) (C1, C2, C3) <> 0 /\
  exists al1 al2 al3 be1 be2 be3,
    al1 * N1 + al2 * N2 + al3 * N3 = 1 /\ al1 * T1 + al2 * T2 + al3 * T3 = 1 /\
    al1 * C1 + al2 * C2 + al3 * C3 = - (1) /\
    be1 * N1 + be2 * N2 + be3 * N3 = 1 /\ be1 * T1 + be2 * T2 + be3 * T3 = 1 /\
    be1 * C1 + be2 * C2 + be3 * C3 = 1 /\
    (-36 * eta <= (1 - 2 * w) * (al1 - al2) <= 36 * eta /\
     -18 * eta <= al1 + al2 - 2 * (p2 + q2) <= 18 * eta /\ -9 * eta <= al3 + (p2 + q2) <= 9 * eta) /\
    (-36 * eta <= (1 - 2 * w) * (be1 - be2) <= 36 * eta /\
     -18 * eta <= be1 + be2 - 2 * (p1 + q1) <= 18 * eta /\ -9 * eta <= be3 - (p1 + q1) <= 9 * eta).
Proof.
  intros Hw0 Hw He0 He Hg1 Hg2 A1 B1 D1 A2 B2 D2 A3 B3 D3 A4 B4 D4.
  set (k := 1 - 2 * w) in *. assert (Hk : 0 < k <= 1) by (unfold k; lra).
  (* the three columns V e_N, V e_T, V e_C are independent *)
  assert (HG : det3 (N1, N2, N3) (T1, T2, T3) (C1, C2, C3) <> 0).
  { intros HG.
    set (a1 := p1 * (N1 + C1) + q1 * (T1 + C1)) in *. set (b1 := p1 * (N2 + C2) + q1 * (T2 + C2)) in *.
    set (c1 := p1 * (N3 + C3) + q1 * (T3 + C3)) in *.
    set (a2 := p2 * (N1 - C1) + q2 * (T1 - C1)) in *. set (b2 := p2 * (N2 - C2) + q2 * (T2 - C2)) in *.
    set (c2 := p2 * (N3 - C3) + q2 * (T3 - C3)) in *.
    set (a3 := p3 * (N1 + C1) + q3 * (T1 + C1)) in *. set (b3 := p3 * (N2 + C2) + q3 * (T2 + C2)) in *.
    set (c3 := p3 * (N3 + C3) + q3 * (T3 + C3)) in *.
    assert (HM : det3 (a1, b1, c1) (a2, b2, c2) (a3, b3, c3) = 0).
    { transitivity (det3 (N1, N2, N3) (T1, T2, T3) (C1, C2, C3) *
        det3 (p1, q1, p1 + q1) (p2, q2, - (p2 + q2)) (p3, q3, p3 + q3)).
      - unfold a1, b1, c1, a2, b2, c2, a3, b3, c3, det3. ring.
      - rewrite HG. ring. }
    unfold det3 in HM.
    (* the cross product of the first two columns kills all three *)
    destruct (covector3 w (2 * eta) (b1 * c2 - c1 * b2) (c1 * a2 - a1 * c2) (a1 * b2 - b1 * a2)
                a1 b1 c1 a2 b2 c2 a3 b3 c3 0) as [H1 [H2 H3]]; try assumption; try ring.
    { rewrite <- HM. ring. }
    fold k in H1.
    apply Rabs_elim in A1, B1, D1, A2, B2, D2.
    assert (HX : b1 * c2 - c1 * b2 <= - (1 / 2)).
    { assert (b1 * - c2 >= (1 / 2 - 2 * eta) * (1 - 2 * eta)).
      { apply Rle_ge. apply Rmult_le_compat; lra. }
      assert (c1 * b2 >= (1 - 2 * eta) * (1 / 2 - 2 * eta)).
      { apply Rle_ge. apply Rmult_le_compat; lra. }
      assert (0 <= eta * eta) by (apply Rmult_le_pos; lra). lra. }
    set (f1 := b1 * c2 - c1 * b2) in *. set (f2 := c1 * a2 - a1 * c2) in *.
    set (f3 := a1 * b2 - b1 * a2) in *. clearbody f1 f2 f3.
    clear - H1 H2 H3 HX Hk He He0.
    set (A := Rabs f1 + Rabs f2 + Rabs f3) in *.
    assert (HA : 0 < A).
    { assert (X := Rabs_pos f2). assert (Y := Rabs_pos f3). unfold A.
      rewrite (Rabs_left f1) by lra. lra. }
    assert (Q1 : A * (2 * eta) <= A * (k / 24)) by (apply Rmult_le_compat_l; lra).
    assert (Q2 : A * k <= A * 1) by (apply Rmult_le_compat_l; lra).
    assert (D : Rabs (f1 - f2) <= A / 6).
    { apply Rabs_le. split; apply Rmult_le_reg_l with k; lra. }
    assert (C : Rabs f3 <= A / 24) by (apply Rabs_le; lra).
    assert (S : Rabs (f1 + f2) <= A / 12) by (apply Rabs_le; lra).
    destruct (abs_sum_max f1 f2) as [E|E]; unfold A in *; lra. }
  (* al = mass - content, be = mass + content *)
  destruct (solve3 N1 N2 N3 T1 T2 T3 C1 C2 C3 1 1 (- (1)) HG) as [al1 [al2 [al3 [ea1 [ea2 ea3]]]]].
  destruct (solve3 N1 N2 N3 T1 T2 T3 C1 C2 C3 1 1 1 HG) as [be1 [be2 [be3 [eb1 [eb2 eb3]]]]].
  split; [exact HG|]. clear HG.
  assert (LA := covector3 w (2 * eta) al1 al2 al3 _ _ _ _ _ _ _ _ _ (p2 + q2)
    A1 B1 D1 A2 B2 D2 A3 B3 D3).
  cbv zeta in LA. fold k in LA. destruct LA as [LA1 [LA2 LA3]].
  { transitivity (p1 * (al1 * N1 + al2 * N2 + al3 * N3 + (al1 * C1 + al2 * C2 + al3 * C3))
      + q1 * (al1 * T1 + al2 * T2 + al3 * T3 + (al1 * C1 + al2 * C2 + al3 * C3))); [ring|].
    rewrite ea1, ea2, ea3. ring. }
  { transitivity (p2 * (al1 * N1 + al2 * N2 + al3 * N3 - (al1 * C1 + al2 * C2 + al3 * C3))
      + q2 * (al1 * T1 + al2 * T2 + al3 * T3 - (al1 * C1 + al2 * C2 + al3 * C3))); [ring|].
    rewrite ea1, ea2, ea3. ring. }
  { transitivity (p3 * (al1 * N1 + al2 * N2 + al3 * N3 + (al1 * C1 + al2 * C2 + al3 * C3))
      + q3 * (al1 * T1 + al2 * T2 + al3 * T3 + (al1 * C1 + al2 * C2 + al3 * C3))); [ring|].
    rewrite ea1, ea2, ea3. ring. }
  (* the same for be, with the sign of C changed *)
  assert (flip : forall X y, Rabs (X - y) <= 2 * eta -> Rabs (- X - - y) <= 2 * eta).
  { intros X y H. replace (- X - - y) with (- (X - y)) by ring. rewrite Rabs_Ropp. assumption. }
  assert (D2' := flip _ _ D2). rewrite Ropp_involutive in D2'.
  assert (D4' := flip _ _ D4). rewrite Ropp_involutive in D4'.
  assert (D1' := flip _ _ D1). clear flip.
  assert (LB := covector3 w (2 * eta) be1 be2 (- be3) _ _ _ _ _ _ _ _ _ (p1 + q1)
    A2 B2 D2' A1 B1 D1' A4 B4 D4').
  cbv zeta in LB. fold k in LB. rewrite Rabs_Ropp in LB. destruct LB as [LB1 [LB2 LB3]].
  { transitivity (p2 * (be1 * N1 + be2 * N2 + be3 * N3 - (be1 * C1 + be2 * C2 + be3 * C3))
      + q2 * (be1 * T1 + be2 * T2 + be3 * T3 - (be1 * C1 + be2 * C2 + be3 * C3))); [ring|].
    rewrite eb1, eb2, eb3. ring. }
  { transitivity (p1 * (be1 * N1 + be2 * N2 + be3 * N3 + (be1 * C1 + be2 * C2 + be3 * C3))
      + q1 * (be1 * T1 + be2 * T2 + be3 * T3 + (be1 * C1 + be2 * C2 + be3 * C3))); [ring|].
    rewrite eb1, eb2, eb3. ring. }
  { transitivity (p4 * (be1 * N1 + be2 * N2 + be3 * N3 - (be1 * C1 + be2 * C2 + be3 * C3))
      + q4 * (be1 * T1 + be2 * T2 + be3 * T3 - (be1 * C1 + be2 * C2 + be3 * C3))); [ring|].
    rewrite eb1, eb2, eb3. ring. }
  exists al1, al2, al3, be1, be2, be3. repeat (split; [assumption|]).
  clear - LA1 LA2 LA3 LB1 LB2 LB3 He He0 Hk Hg1 Hg2.
  assert (SA := covector3_size k (2 * eta) al1 al2 al3 _ Hk ltac:(lra) ltac:(lra) Hg2 LA1 LA2 LA3).
  assert (SB : Rabs be1 + Rabs be2 + Rabs (- be3) <= 72 / 17).
  { apply (covector3_size k (2 * eta) be1 be2 (- be3) (p1 + q1)); try assumption; try lra;
      rewrite Rabs_Ropp; assumption. }
  rewrite Rabs_Ropp in SB. cbv zeta in SA.
  set (A := Rabs al1 + Rabs al2 + Rabs al3) in *. set (B := Rabs be1 + Rabs be2 + Rabs be3) in *.
  assert (EA : A * (2 * eta) <= 9 * eta).
  { replace (9 * eta) with (9 / 2 * (2 * eta)) by field. apply Rmult_le_compat_r; lra. }
  assert (EB : B * (2 * eta) <= 9 * eta).
  { replace (9 * eta) with (9 / 2 * (2 * eta)) by field. apply Rmult_le_compat_r; lra. }
  set (Ae := A * (2 * eta)) in *. set (Be := B * (2 * eta)) in *. clearbody Ae Be A B.
  set (a := k * (al1 - al2)) in *. set (b := k * (be1 - be2)) in *. clearbody a b.
  repeat split; lra.
Qed.

(** The main estimate: kap = 1 - 2 w = 4 kappa_L and 48 eta <= kap. The row has mass P on
    an ordinary token with content x and Q on a trigger token with content t. *)
Lemma core_content w eta N1 N2 N3 T1 T2 T3 C1 C2 C3 P Q x t p1 q1 p2 q2 p3 q3 p4 q4 :
  0 < w -> w <= 1 / 3 -> 0 <= eta -> 48 * eta <= 1 - 2 * w ->
  0 <= P + Q <= 1 -> 0 <= p1 + q1 <= 1 -> 0 <= p2 + q2 <= 1 ->
  (forall r, r = (N1, T1, C1) \/ r = (N2, T2, C2) \/ r = (N3, T3, C3) ->
     let '(Nr, Tr, Cr) := r in
     Rabs (P * (Nr + x * Cr) + Q * (Tr + t * Cr)) <= eta * (2 - (P + Q))) ->
  Rabs (p1 * (N1 + C1) + q1 * (T1 + C1) - 1 / 2) <= 2 * eta ->
  Rabs (p1 * (N2 + C2) + q1 * (T2 + C2) - 1 / 2) <= 2 * eta ->
  Rabs (p1 * (N3 + C3) + q1 * (T3 + C3) - 1) <= 2 * eta ->
  Rabs (p2 * (N1 - C1) + q2 * (T1 - C1) - 1 / 2) <= 2 * eta ->
  Rabs (p2 * (N2 - C2) + q2 * (T2 - C2) - 1 / 2) <= 2 * eta ->
  Rabs (p2 * (N3 - C3) + q2 * (T3 - C3) - - (1)) <= 2 * eta ->
  Rabs (p3 * (N1 + C1) + q3 * (T1 + C1) - (1 - w)) <= 2 * eta ->
  Rabs (p3 * (N2 + C2) + q3 * (T2 + C2) - w) <= 2 * eta ->
  Rabs (p3 * (N3 + C3) + q3 * (T3 + C3) - 1) <= 2 * eta ->
  Rabs (p4 * (N1 - C1) + q4 * (T1 - C1) - (1 - w)) <= 2 * eta ->
  Rabs (p4 * (N2 - C2) + q4 * (T2 - C2) - w) <= 2 * eta ->
  Rabs (p4 * (N3 - C3) + q4 * (T3 - C3) - - (1)) <= 2 * eta ->
  P + Q <= 4 * eta * (1 + 12 * eta).
Proof.
  intros Hw0 Hw He0 He HPQ Hg1 Hg2 Hrow A1 B1 D1 A2 B2 D2 A3 B3 D3 A4 B4 D4.
  assert (R1 := Hrow (N1, T1, C1) ltac:(tauto)). assert (R2 := Hrow (N2, T2, C2) ltac:(tauto)).
  assert (R3 := Hrow (N3, T3, C3) ltac:(tauto)). cbv beta iota in R1, R2, R3. clear Hrow.
  set (k := 1 - 2 * w) in *. assert (Hk : 0 < k <= 1) by (unfold k; lra).
  destruct (functionals w eta N1 N2 N3 T1 T2 T3 C1 C2 C3 p1 q1 p2 q2 p3 q3 p4 q4)
    as [_ [al1 [al2 [al3 [be1 [be2 [be3 [ea1 [ea2 [ea3 [eb1 [eb2 [eb3
        [[LA1 [LA2 LA3]] [LB1 [LB2 LB3]]]]]]]]]]]]]]]]; try assumption.
  fold k in LA1, LB1.
  clear A1 B1 D1 A2 B2 D2 A3 B3 D3 A4 B4 D4.
  (* u = (al + be) / 2 gives the mass *)
  assert (Hmu := dot3_bound ((al1 + be1) / 2) ((al2 + be2) / 2) ((al3 + be3) / 2) _ _ _ _ R1 R2 R3).
  replace ((al1 + be1) / 2 * (P * (N1 + x * C1) + Q * (T1 + t * C1))
    + (al2 + be2) / 2 * (P * (N2 + x * C2) + Q * (T2 + t * C2))
    + (al3 + be3) / 2 * (P * (N3 + x * C3) + Q * (T3 + t * C3))) with (P + Q) in Hmu.
  2:{ transitivity (P * ((al1 * N1 + al2 * N2 + al3 * N3) + (be1 * N1 + be2 * N2 + be3 * N3)) / 2
        + Q * ((al1 * T1 + al2 * T2 + al3 * T3) + (be1 * T1 + be2 * T2 + be3 * T3)) / 2
        + (P * x + Q * t) * ((al1 * C1 + al2 * C2 + al3 * C3) + (be1 * C1 + be2 * C2 + be3 * C3)) / 2);
      [rewrite ea1, ea2, ea3, eb1, eb2, eb3; field | field]. }
  clear R1 R2 R3 ea1 ea2 ea3 eb1 eb2 eb3.
  set (m := P + Q) in *. set (g1 := p1 + q1) in *. set (g2 := p2 + q2) in *. clearbody m g1 g2.
  clear N1 N2 N3 T1 T2 T3 C1 C2 C3 P Q x t p1 q1 p2 q2 p3 q3 p4 q4.
  set (u1 := (al1 + be1) / 2) in *. set (u2 := (al2 + be2) / 2) in *. set (u3 := (al3 + be3) / 2) in *.
  assert (HU : Rabs u1 + Rabs u2 + Rabs u3 <= 2 + 27 * eta).
  { assert (U3 : Rabs u3 <= Rabs (g1 - g2) / 2 + 9 * eta).
    { unfold u3. assert (X := Rle_abs (g1 - g2)). assert (Y := Rle_abs (- (g1 - g2))).
      rewrite Rabs_Ropp in Y. apply Rabs_le. lra. }
    assert (G : Rabs (g1 - g2) <= 1) by (apply Rabs_le; lra).
    assert (G' : g1 + g2 + Rabs (g1 - g2) / 2 <= 2).
    { unfold Rabs. destruct (Rcase_abs (g1 - g2)); lra. }
    destruct (abs_sum_max u1 u2) as [-> | ->].
    - assert (Rabs (u1 + u2) <= g1 + g2 + 18 * eta) by (apply Rabs_le; unfold u1, u2; lra). lra.
    - assert (Rabs (u1 - u2) <= 3 / 4).
      { apply Rabs_le. unfold u1, u2. split; apply Rmult_le_reg_l with k; lra. }
      lra. }
  assert (HU0 : 0 <= Rabs u1 + Rabs u2 + Rabs u3).
  { assert (X := Rabs_pos u1). assert (Y := Rabs_pos u2). assert (Z := Rabs_pos u3). lra. }
  rewrite (Rabs_pos_eq m) in Hmu by lra.
  set (U := Rabs u1 + Rabs u2 + Rabs u3) in *. clearbody U.
  assert (HM : m <= (2 + 27 * eta) * (eta * (2 - m))).
  { eapply Rle_trans; [exact Hmu|]. apply Rmult_le_compat_r; [|assumption]. apply Rmult_le_pos; lra. }
  clear - HM He0 HPQ.
  assert (E2 : 0 <= eta * eta) by (apply Rmult_le_pos; lra).
  assert (E3 : 0 <= eta * eta * eta) by (apply Rmult_le_pos; lra).
  assert (E4 : 0 <= eta * eta * eta * eta) by (apply Rmult_le_pos; lra).
  apply Rmult_le_reg_r with (1 + 2 * eta + 27 * (eta * eta)); [lra|].
  lra.
Qed.
