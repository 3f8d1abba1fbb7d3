(** * Theorem 1, the part about real numbers only.

    A 2x2 linear system with explicit determinant. Coordinates N and T; columns
    X = V xbar and T = V tbar. Probe k has token masses p_k (ordinary), q_k
    (trigger), and target y_1 = (1/2, 1/2), y_2 = (1 - w, w) with w = 1/(L-1).
    Below k2 = 1 - 2 w = 4 kappa_L. *)
From Coq Require Import Reals Lra.
Open Scope R_scope.

(** A bilinear estimate used throughout. *)
Lemma dot_bound u v e f B :
  Rabs e <= B -> Rabs f <= B -> Rabs (u * e + v * f) <= (Rabs u + Rabs v) * B.
Proof.
  intros He Hf. eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
  assert (Rabs u * Rabs e <= Rabs u * B) by (apply Rmult_le_compat_l; [apply Rabs_pos|assumption]).
  assert (Rabs v * Rabs f <= Rabs v * B) by (apply Rmult_le_compat_l; [apply Rabs_pos|assumption]).
  lra.
Qed.

Lemma abs_sum_max u v : Rabs u + Rabs v = Rabs (u + v) \/ Rabs u + Rabs v = Rabs (u - v).
Proof.
  unfold Rabs. destruct (Rcase_abs u), (Rcase_abs v), (Rcase_abs (u + v)), (Rcase_abs (u - v));
    lra.
Qed.

Lemma Rabs_elim x B : Rabs x <= B -> - B <= x <= B.
Proof. intros H. unfold Rabs in H. destruct (Rcase_abs x); lra. Qed.

(** Size of a covector u whose products with the two perturbed targets are v1, v2. *)
Lemma covector_bound w uN uT a1 b1 a2 b2 B1 B2 v1 v2 :
  0 < w -> w <= 1 / 3 ->
  Rabs (a1 - 1 / 2) <= B1 -> Rabs (b1 - 1 / 2) <= B1 ->
  Rabs (a2 - (1 - w)) <= B2 -> Rabs (b2 - w) <= B2 ->
  uN * a1 + uT * b1 = v1 -> uN * a2 + uT * b2 = v2 ->
  let U := Rabs uN + Rabs uT in
  U <= 2 * Rabs v1 + 2 * (U * B1) \/
  (1 - 2 * w) * U <= 2 * (Rabs (v2 - v1) + U * (B1 + B2)).
Proof.
  intros Hw0 Hw Ha1 Hb1 Ha2 Hb2 Hv1 Hv2 U.
  assert (E1 := dot_bound uN uT _ _ B1 Ha1 Hb1).
  assert (E2 := dot_bound uN uT _ _ B2 Ha2 Hb2).
  fold U in E1, E2.
  destruct (abs_sum_max uN uT) as [H|H]; fold U in H; [left|right].
  - rewrite H at 1. replace (uN + uT) with (2 * v1 - 2 * (uN * (a1 - 1 / 2) + uT * (b1 - 1 / 2))) by lra.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp, !Rabs_mult, (Rabs_pos_eq 2) by lra. lra.
  - rewrite H at 1. rewrite <- (Rabs_pos_eq (1 - 2 * w)) by lra. rewrite <- Rabs_mult.
    replace ((1 - 2 * w) * (uN - uT)) with
      (2 * ((v2 - v1) + ((uN * (a1 - 1 / 2) + uT * (b1 - 1 / 2)) - (uN * (a2 - (1 - w)) + uT * (b2 - w)))))
      by lra.
    rewrite Rabs_mult, (Rabs_pos_eq 2) by lra. apply Rmult_le_compat_l; [lra|].
    eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat_l.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra.
Qed.

(** The perturbed target matrix is invertible. *)
Lemma targets_independent w eta a1 b1 a2 b2 B1 B2 :
  0 < w -> w <= 1 / 3 -> 0 <= eta -> 8 * eta < 1 - 2 * w ->
  Rabs (a1 - 1 / 2) <= B1 -> Rabs (b1 - 1 / 2) <= B1 ->
  Rabs (a2 - (1 - w)) <= B2 -> Rabs (b2 - w) <= B2 ->
  B1 <= 2 * eta -> B2 <= 2 * eta ->
  a1 * b2 - a2 * b1 <> 0.
Proof.
  intros Hw0 Hw He0 He Ha1 Hb1 Ha2 Hb2 HB1 HB2 Hdet.
  assert (Ha := Rabs_elim _ _ Ha1). assert (Hb := Rabs_elim _ _ Hb1).
  assert (HU : 0 < Rabs b1 + Rabs (- a1)).
  { rewrite Rabs_Ropp, (Rabs_pos_eq a1), (Rabs_pos_eq b1) by lra. lra. }
  assert (U1 : (Rabs b1 + Rabs (- a1)) * B1 <= (Rabs b1 + Rabs (- a1)) * (2 * eta))
    by (apply Rmult_le_compat_l; lra).
  assert (U2 : (Rabs b1 + Rabs (- a1)) * B2 <= (Rabs b1 + Rabs (- a1)) * (2 * eta))
    by (apply Rmult_le_compat_l; lra).
  assert (U3 : (Rabs b1 + Rabs (- a1)) * (8 * eta) < (Rabs b1 + Rabs (- a1)) * (1 - 2 * w))
    by (apply Rmult_lt_compat_l; assumption).
  assert (U4 : 0 < (Rabs b1 + Rabs (- a1)) * w) by (apply Rmult_lt_0_compat; assumption).
  destruct (covector_bound w b1 (- a1) a1 b1 a2 b2 B1 B2 0 0) as [H|H]; try assumption; try lra;
    rewrite ?Rminus_0_r, Rabs_R0 in H; lra.
Qed.

Lemma core w eta xN xT tN tT P Q p1 q1 p2 q2 :
  0 < w -> w <= 1 / 3 -> 0 <= eta -> 8 * eta < 1 - 2 * w ->
  0 <= P -> 0 <= Q -> P + Q <= 1 ->
  0 <= p1 -> 0 <= q1 -> p1 + q1 <= 1 ->
  0 <= p2 -> 0 <= q2 -> p2 + q2 <= 1 ->
  Rabs (P * xN + Q * tN) <= eta * (2 - (P + Q)) ->
  Rabs (P * xT + Q * tT) <= eta * (2 - (P + Q)) ->
  Rabs (p1 * xN + q1 * tN - 1 / 2) <= eta * (2 - (p1 + q1)) ->
  Rabs (p1 * xT + q1 * tT - 1 / 2) <= eta * (2 - (p1 + q1)) ->
  Rabs (p2 * xN + q2 * tN - (1 - w)) <= eta * (2 - (p2 + q2)) ->
  Rabs (p2 * xT + q2 * tT - w) <= eta * (2 - (p2 + q2)) ->
  (P + Q) * (1 - 2 * w - 4 * eta) <= 4 * eta.
Proof.
  intros Hw0 Hw He0 He HP HQ HPQ Hp1 Hq1 Hpq1 Hp2 Hq2 Hpq2 RN RT N1 T1 N2 T2.
  set (m := P + Q) in *. set (g1 := p1 + q1) in *. set (g2 := p2 + q2) in *.
  assert (Hg1 : 0 <= g1) by (unfold g1; lra). assert (Hg2 : 0 <= g2) by (unfold g2; lra).
  assert (Hm : 0 <= m) by (unfold m; lra).
  assert (D1 : eta * (2 - g1) <= 2 * eta)
    by (rewrite Rmult_comm; apply Rmult_le_compat_r; lra).
  assert (D2 : eta * (2 - g2) <= 2 * eta)
    by (rewrite Rmult_comm; apply Rmult_le_compat_r; lra).
  assert (Hdet := targets_independent w eta _ _ _ _ _ _ Hw0 Hw He0 He N1 T1 N2 T2 D1 D2).
  (* det (Y + E) = det G * det Z *)
  assert (HG : xN * tT - tN * xT <> 0).
  { intros HG. apply Hdet.
    transitivity ((xN * tT - tN * xT) * (p1 * q2 - p2 * q1)); [ring|rewrite HG; ring]. }
  (* the covector u with u^T G = (1, 1) *)
  set (uN := (tT - xT) / (xN * tT - tN * xT)).
  set (uT := (xN - tN) / (xN * tT - tN * xT)).
  assert (Ux : uN * xN + uT * xT = 1) by (unfold uN, uT; field; assumption).
  assert (Ut : uN * tN + uT * tT = 1) by (unfold uN, uT; field; assumption).
  clearbody uN uT. clear Hdet HG D1 D2.
  assert (Um : uN * (P * xN + Q * tN) + uT * (P * xT + Q * tT) = m).
  { transitivity (P * (uN * xN + uT * xT) + Q * (uN * tN + uT * tT)); [ring|].
    rewrite Ux, Ut. unfold m. ring. }
  assert (U1 : uN * (p1 * xN + q1 * tN) + uT * (p1 * xT + q1 * tT) = g1).
  { transitivity (p1 * (uN * xN + uT * xT) + q1 * (uN * tN + uT * tT)); [ring|].
    rewrite Ux, Ut. unfold g1. ring. }
  assert (U2 : uN * (p2 * xN + q2 * tN) + uT * (p2 * xT + q2 * tT) = g2).
  { transitivity (p2 * (uN * xN + uT * xT) + q2 * (uN * tN + uT * tT)); [ring|].
    rewrite Ux, Ut. unfold g2. ring. }
  assert (Cov := covector_bound w uN uT _ _ _ _ _ _ g1 g2 Hw0 Hw N1 T1 N2 T2 U1 U2).
  assert (Hmu := dot_bound uN uT _ _ _ RN RT). rewrite Um in Hmu.
  cbv zeta in Cov. rewrite (Rabs_pos_eq g1) in Cov by assumption.
  rewrite (Rabs_pos_eq m) in Hmu by assumption.
  assert (HU : 0 <= Rabs uN + Rabs uT)
    by (assert (A := Rabs_pos uN); assert (B := Rabs_pos uT); lra).
  set (U := Rabs uN + Rabs uT) in *. clearbody U.
  assert (Hd1 : Rabs (g2 - g1) <= g1 + g2) by (unfold Rabs; destruct (Rcase_abs (g2 - g1)); lra).
  assert (Hd2 : Rabs (g2 - g1) <= 2 - (g1 + g2)) by (unfold Rabs; destruct (Rcase_abs (g2 - g1)); lra).
  set (D := Rabs (g2 - g1)) in *. clearbody D m g1 g2.
  clear N1 T1 N2 T2 RN RT U1 U2 Um Ux Ut uN uT xN xT tN tT.
  set (t := U * eta) in *.
  assert (Ht : 0 <= t) by (apply Rmult_le_pos; assumption).
  assert (HU8 : 8 * t <= U * (1 - 2 * w)).
  { apply Rle_trans with (U * (8 * eta)); [unfold t; lra|]. apply Rmult_le_compat_l; lra. }
  replace (U * (eta * (2 - g1))) with (t * (2 - g1)) in Cov by (unfold t; ring).
  replace (U * (eta * (2 - g1) + eta * (2 - g2))) with (t * (4 - (g1 + g2))) in Cov by (unfold t; ring).
  replace (U * (eta * (2 - m))) with (t * (2 - m)) in Hmu by (unfold t; ring).
  assert (HUw : U * (1 - 2 * w) <= U) by (rewrite <- (Rmult_1_r U) at 2; apply Rmult_le_compat_l; lra).
  (* U eta <= 1 *)
  assert (Ht1 : t <= 1).
  { destruct (Rle_lt_dec t 1) as [|Hgt]; [assumption|exfalso].
    assert (HUpos : 0 < U).
    { destruct HU as [|H0]; [assumption|]. exfalso. unfold t in Hgt. rewrite <- H0 in Hgt. lra. }
    assert (HU8' : 8 * t < U * (1 - 2 * w)).
    { apply Rle_lt_trans with (U * (8 * eta)); [unfold t; lra|]. apply Rmult_lt_compat_l; lra. }
    clearbody t. destruct Cov as [H|H].
    - assert (0 <= g1 * (t - 1)) by (apply Rmult_le_pos; lra). lra.
    - assert (0 <= (g1 + g2) * (t - 1)) by (apply Rmult_le_pos; lra). lra. }
  (* U (1 - 2 w - 6 eta) <= 2 *)
  assert (Hmain : U * (1 - 2 * w) <= 2 + 6 * t).
  { clearbody t. destruct Cov as [H|H].
    - assert (0 <= (1 - g1) * (1 - t)) by (apply Rmult_le_pos; lra). lra.
    - destruct (Rle_lt_dec (g1 + g2) 1).
      + assert (0 <= (1 - (g1 + g2)) * (1 - t)) by (apply Rmult_le_pos; lra). lra.
      + assert (0 <= (g1 + g2 - 1) * (1 + t)) by (apply Rmult_le_pos; lra). lra. }
  (* the leak *)
  assert (F1 : t * (1 - 2 * w - 6 * eta) <= 2 * eta).
  { replace (t * (1 - 2 * w - 6 * eta)) with (eta * (U * (1 - 2 * w) - 6 * t)) by (unfold t; ring).
    rewrite Rmult_comm. apply Rmult_le_compat_r; lra. }
  assert (F2 : m * (1 - 2 * w - 6 * eta) <= t * (2 - m) * (1 - 2 * w - 6 * eta))
    by (apply Rmult_le_compat_r; lra).
  assert (F3 : t * (1 - 2 * w - 6 * eta) * (2 - m) <= 2 * eta * (2 - m))
    by (apply Rmult_le_compat_r; lra).
  lra.
Qed.
