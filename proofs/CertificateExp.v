(** * Certificates: the exponential, bounded by integers.

    Numbers are integers in units of 2^-80. Every power e^s is at least 1 + s + s^2/2 + s^3/6, for s
    of either sign; with s = x / 2^20 and twenty squarings, all rounded down, that bounds e^x from
    below, and e^x = 1 / e^(-x) bounds it from above. For |x| <= 20 both are within a factor
    1 + 10^-12 of e^x. *)
From Coq Require Import Reals Lra Lia Arith ZArith List.
Open Scope R_scope.

(** ** The inequality *)

(** A function whose derivative has the sign of its argument is smallest at 0; one with a
    nonnegative derivative has the sign of its argument. *)
Lemma from_zero f f' x : (forall c, derivable_pt_lim f c (f' c)) -> f 0 = 0 -> x <> 0 ->
  exists c, f x = f' c * x /\ (0 < c < x \/ x < c < 0).
Proof.
  intros Hd H0 Hx. destruct (Rtotal_order x 0) as [Hn|[He|Hp]]; [|lra|].
  - destruct (MVT_cor2 f f' x 0 Hn) as [c [E Hc]]; [intros; apply Hd|].
    exists c. split; [rewrite H0 in E; lra|right; assumption].
  - destruct (MVT_cor2 f f' 0 x Hp) as [c [E Hc]]; [intros; apply Hd|].
    exists c. split; [rewrite H0 in E; lra|left; assumption].
Qed.

Lemma exp_less_quadratic_sign s : 0 <= (exp s - (1 + s + s * s / 2)) * s.
Proof.
  destruct (Req_dec s 0) as [->|Hs]; [lra|].
  destruct (from_zero (fun s => exp s - (1 + s + s * s / 2)) (fun s => exp s - (1 + s)) s) as [c [E Hc]].
  - intros c. apply derivable_pt_lim_minus; [apply derivable_pt_lim_exp|].
    replace (1 + c) with (0 + 1 + (1 * c + c * 1) * / 2) by field.
    apply (derivable_pt_lim_plus (fun s => 1 + s) (fun s => s * s / 2)).
    + apply (derivable_pt_lim_plus (fun _ => 1) (fun s => s)); [apply derivable_pt_lim_const|apply derivable_pt_lim_id].
    + unfold Rdiv. replace ((1 * c + c * 1) * / 2) with ((1 * c + c * 1) * / 2 + (c * c) * 0) by ring.
      apply (derivable_pt_lim_mult (fun s => s * s) (fun _ => / 2)); [|apply derivable_pt_lim_const].
      apply (derivable_pt_lim_mult (fun s => s) (fun s => s)); apply derivable_pt_lim_id.
  - rewrite exp_0. lra.
  - assumption.
  - cbn beta in E. rewrite E. assert (P := exp_ineq1_le c).
    replace ((exp c - (1 + c)) * s * s) with ((exp c - (1 + c)) * (s * s)) by ring.
    apply Rmult_le_pos; [lra|apply Rle_0_sqr].
Qed.

Lemma exp_above_cubic s : 1 + s + s * s / 2 + s * s * s / 6 <= exp s.
Proof.
  destruct (Req_dec s 0) as [->|Hs]; [rewrite exp_0; lra|].
  destruct (from_zero (fun s => exp s - (1 + s + s * s / 2 + s * s * s / 6)) (fun s => exp s - (1 + s + s * s / 2)) s) as [c [E Hc]].
  - intros c. apply derivable_pt_lim_minus; [apply derivable_pt_lim_exp|].
    replace (1 + c + c * c / 2) with (0 + 1 + (1 * c + c * 1) * / 2 + ((1 * c + c * 1) * c + c * c * 1) * / 6) by field.
    apply (derivable_pt_lim_plus (fun s => 1 + s + s * s / 2) (fun s => s * s * s / 6)).
    + apply (derivable_pt_lim_plus (fun s => 1 + s) (fun s => s * s / 2)).
      * apply (derivable_pt_lim_plus (fun _ => 1) (fun s => s)); [apply derivable_pt_lim_const|apply derivable_pt_lim_id].
      * unfold Rdiv. replace ((1 * c + c * 1) * / 2) with ((1 * c + c * 1) * / 2 + (c * c) * 0) by ring.
        apply (derivable_pt_lim_mult (fun s => s * s) (fun _ => / 2)); [|apply derivable_pt_lim_const].
        apply (derivable_pt_lim_mult (fun s => s) (fun s => s)); apply derivable_pt_lim_id.
    + unfold Rdiv. replace (((1 * c + c * 1) * c + c * c * 1) * / 6) with (((1 * c + c * 1) * c + c * c * 1) * / 6 + (c * c * c) * 0) by ring.
      apply (derivable_pt_lim_mult (fun s => s * s * s) (fun _ => / 6)); [|apply derivable_pt_lim_const].
      apply (derivable_pt_lim_mult (fun s => s * s) (fun s => s)); [|apply derivable_pt_lim_id].
      apply (derivable_pt_lim_mult (fun s => s) (fun s => s)); apply derivable_pt_lim_id.
  - rewrite exp_0. lra.
  - assumption.
  - cbn beta in E. assert (0 <= (exp c - (1 + c + c * c / 2)) * s); [|lra].
    assert (P := exp_less_quadratic_sign c). set (g := exp c - (1 + c + c * c / 2)) in *.
    destruct Hc as [Hc|Hc].
    + apply Rmult_le_pos; [|lra]. apply Rmult_le_reg_r with c; lra.
    + replace (g * s) with ((- g) * (- s)) by ring. apply Rmult_le_pos; [|lra].
      apply Rmult_le_reg_r with (- c); lra.
Qed.

(** ** The integers *)

Definition precision : Z := 80.
Definition one : Z := (2 ^ precision)%Z.
Definition halvings : nat := 20.

(** 1 + s + s^2/2 + s^3/6 rounded down, s = t / one; 0 where it is negative. *)
Definition cubic_down (t : Z) : Z :=
  Z.max 0 ((6 * one * one * one + 6 * t * one * one + 3 * t * t * one + t * t * t) / (6 * one * one)).

Fixpoint squarings_down (k : nat) (m : Z) : Z :=
  match k with
  | O => m
  | S k' => squarings_down k' (Z.shiftr (m * m) precision)
  end.

(** At most one * e^(num/den), for den > 0. Beyond e^64 nothing is gained, and digits would explode. *)
Definition exp_lower (num den : Z) : Z :=
  squarings_down halvings (cubic_down ((Z.min num (64 * den) * one) / (den * 2 ^ Z.of_nat halvings))).

(** At least one * e^(num/den), for den > 0; None where that would be beyond all use. *)
Definition exp_upper (num den : Z) : option Z :=
  let m := exp_lower (- num) den in
  if (m =? 0)%Z then None else Some (one * one / m + 1)%Z.

Lemma one_pos : 0 < IZR one.
Proof. apply (IZR_lt 0). reflexivity. Qed.

Lemma IZR_div_le a b : (0 < b)%Z -> IZR (a / b) <= IZR a / IZR b.
Proof.
  intros Hb. assert (Hb' : 0 < IZR b) by (apply (IZR_lt 0); assumption).
  apply Rmult_le_reg_r with (IZR b); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  rewrite <- mult_IZR. apply IZR_le. rewrite Z.mul_comm. apply Z.mul_div_le. assumption.
Qed.

Lemma IZR_div_lt a b : (0 < b)%Z -> IZR a / IZR b < IZR (a / b + 1).
Proof.
  intros Hb. assert (Hb' : 0 < IZR b) by (apply (IZR_lt 0); assumption).
  apply Rmult_lt_reg_r with (IZR b); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  rewrite <- mult_IZR. apply IZR_lt. pose proof (Z.mul_succ_div_gt a b Hb). lia.
Qed.

Lemma cubic_down_le t : (0 <= cubic_down t)%Z /\ IZR (cubic_down t) / IZR one <= exp (IZR t / IZR one).
Proof.
  split; [apply Z.le_max_l|]. assert (Ho := one_pos). set (s := IZR t / IZR one).
  assert (Hp : (0 < 6 * one * one)%Z) by reflexivity.
  apply Rmult_le_reg_r with (IZR one); [assumption|]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  unfold cubic_down. apply Z.max_case.
  - apply Rmult_le_pos; [left; apply exp_pos|lra].
  - eapply Rle_trans; [apply IZR_div_le; assumption|].
    apply Rle_trans with ((1 + s + s * s / 2 + s * s * s / 6) * IZR one).
    2:{ apply Rmult_le_compat_r; [lra|apply exp_above_cubic]. }
    right. unfold s. rewrite !plus_IZR, !mult_IZR. field. lra.
Qed.

Lemma squarings_down_le k : forall m x, (0 <= m)%Z -> IZR m / IZR one <= exp x ->
  (0 <= squarings_down k m)%Z /\ IZR (squarings_down k m) / IZR one <= exp (x * 2 ^ k).
Proof.
  induction k as [|k IH]; intros m x Hm H; cbn [squarings_down].
  - rewrite pow_O, Rmult_1_r. auto.
  - assert (Ho := one_pos). replace (x * 2 ^ S k) with ((x + x) * 2 ^ k) by (simpl; ring).
    rewrite Z.shiftr_div_pow2 by discriminate. fold one. apply IH.
    + apply Z.div_pos; [nia|reflexivity].
    + assert (H0 : 0 <= IZR m / IZR one).
      { apply Rmult_le_pos; [apply (IZR_le 0); assumption|left; apply Rinv_0_lt_compat; assumption]. }
      rewrite exp_plus. apply Rle_trans with ((IZR m / IZR one) * (IZR m / IZR one)).
      * apply Rmult_le_reg_r with (IZR one); [assumption|].
        unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
        eapply Rle_trans; [apply IZR_div_le; reflexivity|]. right. rewrite mult_IZR. field. lra.
      * apply Rmult_le_compat; assumption.
Qed.

Theorem exp_lower_correct num den : (0 < den)%Z ->
  (0 <= exp_lower num den)%Z /\ IZR (exp_lower num den) / IZR one <= exp (IZR num / IZR den).
Proof.
  intros Hd. assert (Ho := one_pos). unfold exp_lower. set (h := (2 ^ Z.of_nat halvings)%Z).
  assert (Hh : (0 < h)%Z) by reflexivity. set (n := Z.min num (64 * den)). set (t := (n * one / (den * h))%Z).
  destruct (cubic_down_le t) as [H0 H].
  assert (Hd' : 0 < IZR den) by (apply (IZR_lt 0); assumption).
  assert (Hh' : 0 < IZR h) by (apply (IZR_lt 0); assumption).
  destruct (squarings_down_le halvings _ _ H0 H) as [S0 S]. split; [exact S0|].
  eapply Rle_trans; [exact S|].
  replace (2 ^ halvings) with (IZR h) by (unfold h; rewrite <- pow_IZR; reflexivity).
  assert (E : IZR t / IZR one * IZR h <= IZR num / IZR den).
  { apply Rle_trans with (IZR (n * one) / IZR (den * h) / IZR one * IZR h).
    - apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; assumption|].
      apply IZR_div_le. nia.
    - apply Rle_trans with (IZR n / IZR den); [right; rewrite !mult_IZR; field; lra|].
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; assumption|]. apply IZR_le, Z.le_min_l. }
  destruct E as [E|E]; [left; apply exp_increasing; assumption|right; rewrite E; reflexivity].
Qed.

Theorem exp_upper_correct num den b : (0 < den)%Z -> exp_upper num den = Some b ->
  exp (IZR num / IZR den) <= IZR b / IZR one.
Proof.
  intros Hd. destruct (exp_lower_correct (- num) den Hd) as [H0 H1]. unfold exp_upper.
  revert H0 H1. generalize (exp_lower (- num) den). intros m H0 H1.
  destruct (Z.eqb_spec m 0) as [|Hm]; [discriminate|]. intros H.
  assert (E : b = (one * one / m + 1)%Z) by congruence. rewrite E. clear H E.
  assert (Ho := one_pos). assert (Hm0 : (0 < m)%Z) by lia. assert (Hm' : 0 < IZR m) by (apply (IZR_lt 0); assumption).
  replace (IZR num / IZR den) with (- (IZR (- num) / IZR den)).
  2:{ rewrite opp_IZR. field. apply not_0_IZR. lia. }
  rewrite exp_Ropp. apply Rle_trans with (/ (IZR m / IZR one)).
  - apply Rinv_le_contravar; [|exact H1]. apply Rmult_lt_0_compat; [assumption|apply Rinv_0_lt_compat; assumption].
  - apply Rmult_le_reg_r with (IZR one); [assumption|]. unfold Rdiv at 2. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    left. eapply Rle_lt_trans; [|apply IZR_div_lt; assumption]. right. rewrite mult_IZR. field. lra.
Qed.
