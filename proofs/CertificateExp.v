(** * A certified upper bound of exp at rational points, in integers.

    exp x = (exp (x / 2^40))^(2^40), exp y <= 1/(1-y) for y < 1, and every step is rounded
    upward to a multiple of 2^-96. The relative error is about x^2 / 2^41. *)
From Coq Require Import Reals Lra Lia ZArith.
Open Scope R_scope.

(** ** The computation *)

(** a / b rounded up, for b > 0. *)
Definition divide_up (a b : Z) : Z := (- (- a / b))%Z.

Definition exp_unit : Z := (2 ^ 96)%Z.
Definition exp_halvings : nat := 40.

Fixpoint square_up (n : nat) (m : Z) : Z :=
  match n with
  | O => m
  | S n' => square_up n' (divide_up (m * m) exp_unit)
  end.

(** [exp_upper a b] / 2^96 is at least exp (a/b), where it is defined (a/b < 2^40). *)
Definition exp_upper (a b : Z) : option Z :=
  let b' := (b * 2 ^ Z.of_nat exp_halvings)%Z in
  if (a <? b')%Z then Some (square_up exp_halvings (divide_up (exp_unit * b') (b' - a))) else None.

(** ** It is an upper bound *)

Lemma divide_up_bound a b : (0 < b)%Z -> IZR a / IZR b <= IZR (divide_up a b).
Proof.
  intros Hb. assert (Hb' : 0 < IZR b) by (apply (IZR_lt 0); assumption).
  apply Rmult_le_reg_r with (IZR b); [assumption|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  rewrite <- mult_IZR. apply IZR_le. unfold divide_up.
  assert (H := Z.mul_div_le (- a) b Hb). lia.
Qed.

Lemma exp_unit_pos : 0 < IZR exp_unit.
Proof. apply (IZR_lt 0). reflexivity. Qed.

Opaque exp_unit exp_halvings.

Lemma square_up_bound n m t : exp t <= IZR m / IZR exp_unit ->
  exp (t * 2 ^ n) <= IZR (square_up n m) / IZR exp_unit.
Proof.
  revert m t. induction n as [|n IH]; intros m t H; [simpl; rewrite Rmult_1_r; exact H|].
  cbn [square_up]. replace (t * 2 ^ S n) with ((t + t) * 2 ^ n) by (simpl; ring).
  apply IH. rewrite exp_plus. assert (Hu := exp_unit_pos). assert (He := exp_pos t).
  apply Rle_trans with ((IZR m / IZR exp_unit) * (IZR m / IZR exp_unit)).
  - apply Rmult_le_compat; lra.
  - replace (IZR m / IZR exp_unit * (IZR m / IZR exp_unit)) with (IZR (m * m) / IZR exp_unit / IZR exp_unit)
      by (rewrite mult_IZR; field; lra).
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; assumption|].
    apply divide_up_bound. apply lt_IZR, Hu.
Qed.

(** exp y <= 1/(1-y). *)
Lemma exp_below y : y < 1 -> exp y <= / (1 - y).
Proof.
  intros Hy. assert (H := exp_ineq1_le (- y)). rewrite exp_Ropp in H. assert (He := exp_pos y).
  rewrite <- (Rinv_inv (exp y)). apply Rinv_le_contravar; lra.
Qed.

Theorem exp_upper_correct a b m : (0 < b)%Z -> exp_upper a b = Some m ->
  exp (IZR a / IZR b) <= IZR m / IZR exp_unit.
Proof.
  intros Hb. unfold exp_upper. set (b' := (b * 2 ^ Z.of_nat exp_halvings)%Z).
  destruct (Z.ltb_spec a b') as [Hlt|]; [|discriminate]. intros Heq.
  apply (f_equal (fun o => match o with Some x => x | None => 0%Z end)) in Heq. cbv beta iota in Heq. subst m.
  assert (H2 : 0 < 2 ^ exp_halvings) by (apply pow_lt; lra).
  assert (Hb1 : 0 < IZR b) by (apply (IZR_lt 0); assumption).
  assert (Hb' : IZR b' = IZR b * 2 ^ exp_halvings) by (unfold b'; rewrite mult_IZR, <- pow_IZR; reflexivity).
  assert (Hbp : 0 < IZR b') by (rewrite Hb'; apply Rmult_lt_0_compat; assumption).
  assert (Hd : 0 < IZR (b' - a)) by (apply (IZR_lt 0); lia). rewrite minus_IZR in Hd.
  replace (IZR a / IZR b) with (IZR a / IZR b' * 2 ^ exp_halvings) by (rewrite Hb'; field; lra).
  apply square_up_bound. assert (Hu := exp_unit_pos).
  apply Rle_trans with (/ (1 - IZR a / IZR b')).
  - apply exp_below. apply Rmult_lt_reg_r with (IZR b'); [assumption|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
  - apply Rmult_le_reg_r with (IZR exp_unit); [assumption|].
    unfold Rdiv at 2. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply Rle_trans with (IZR (exp_unit * b') / IZR (b' - a)); [|apply divide_up_bound; lia].
    rewrite mult_IZR, minus_IZR. apply Req_le. field. split; lra.
Qed.

(** The tangent-like bound behind tanh x <= x. *)
Lemma tanh_below h : 0 <= h -> 2 * (exp h - 1) <= h * (exp h + 1).
Proof.
  intros [Hh|<-]; [|rewrite exp_0; lra].
  set (f := fun x => x * (exp x + 1) - 2 * (exp x - 1)).
  destruct (MVT_cor2 f (fun x => (x - 1) * exp x + 1) 0 h Hh) as [c [Hc [Hc0 _]]].
  - intros c _. unfold f.
    replace ((c - 1) * exp c + 1) with ((1 * (exp c + 1) + c * (exp c + 0)) - (0 * (exp c - 1) + 2 * (exp c - 0))) by ring.
    apply (derivable_pt_lim_minus (fun x => x * (exp x + 1)) (fun x => 2 * (exp x - 1))).
    + apply (derivable_pt_lim_mult (fun x => x) (fun x => exp x + 1)); [apply derivable_pt_lim_id|].
      apply (derivable_pt_lim_plus exp (fun _ => 1)); [apply derivable_pt_lim_exp|apply derivable_pt_lim_const].
    + apply (derivable_pt_lim_mult (fun _ => 2) (fun x => exp x - 1)); [apply derivable_pt_lim_const|].
      apply (derivable_pt_lim_minus exp (fun _ => 1)); [apply derivable_pt_lim_exp|apply derivable_pt_lim_const].
  - unfold f in Hc. rewrite exp_0 in Hc.
    assert (H1 : 0 <= (c - 1) * exp c + 1).
    { assert (H := exp_ineq1_le (- c)). rewrite exp_Ropp in H. assert (He := exp_pos c).
      assert (H3 : (1 - c) * exp c <= / exp c * exp c) by (apply Rmult_le_compat_r; lra).
      rewrite Rinv_l in H3 by lra. lra. }
    assert (H2 : 0 <= ((c - 1) * exp c + 1) * (h - 0)) by (apply Rmult_le_pos; lra). lra.
Qed.
