(** * The dual bound at the trigger: real numbers (C4).

    The weighted mean t of the values v_k satisfies sum w_k (v_k - t) = 0, so any multiple of that may be added to the error.
    With the multiplier 1 + alpha t each key contributes a quadratic in t, whose maximum is in closed form:
    about (v - u) + (s + alpha v)^2 / (4 alpha), s = ln w. A common shift of all s is free: it may depend on the query. *)
From Coq Require Import Reals Lra Lia Arith FunctionalExtensionality.
From Sinkproof Require Import Sums Task CertificateExp CertificateVertices CertificateGruessReal.
Open Scope R_scope.

(** exp to second order. D is at least (H^2/2)/(1-H). *)
Lemma exp_second_order s H D : Rabs s <= H -> H < 1 -> H * H / 2 <= D * (1 - H) ->
  exp s <= 1 + s + D /\ exp s + exp (- s) <= 2 + s * s + H * D.
Proof.
  intros Hs HH HD. assert (H0 := Rabs_pos s).
  assert (P : forall t, 0 <= t <= H -> exp (- t) <= 1 - t + t * t / 2 /\ exp t <= 1 + t + t * t / 2 / (1 - t) /\
                        t * t / 2 / (1 - t) <= D).
  { intros t Ht. split; [|split].
    - assert (Q := exp_less_quadratic_sign (- t)). destruct (Req_dec t 0) as [->|Hn].
      + rewrite Ropp_0, exp_0. lra.
      + assert (Q' : exp (- t) - (1 + - t + - t * - t / 2) <= 0); [|lra].
        apply Rmult_le_reg_r with t; [lra|]. lra.
    - assert (Q := exp_above_cubic (- t)). assert (Hc : 0 < 1 - t) by lra.
      set (c := 1 + - t + - t * - t / 2 + - t * - t * - t / 6) in *.
      assert (Hc0 : 0 < c).
      { assert (X : c = (1 - t) + t * t * (3 - t) / 6) by (unfold c; field). rewrite X.
        assert (0 <= t * t * (3 - t)) by (apply Rmult_le_pos; [apply Rle_0_sqr|lra]). lra. }
      assert (E : exp t <= / c).
      { rewrite exp_Ropp in Q. rewrite <- (Rinv_inv (exp t)). apply Rinv_le_contravar; assumption. }
      eapply Rle_trans; [exact E|]. apply Rmult_le_reg_r with (c * (1 - t)); [apply Rmult_lt_0_compat; assumption|].
      replace (/ c * (c * (1 - t))) with (1 - t) by (field; lra).
      replace ((1 + t + t * t / 2 / (1 - t)) * (c * (1 - t))) with (c * (1 - t * t + t * t / 2)) by (field; lra).
      assert (X : c * (1 - t * t + t * t / 2) - (1 - t) = t * t * t * (4 - 3 * t + t * t) / 12).
      { unfold c. field. }
      assert (0 <= t * t * t * (4 - 3 * t + t * t)); [|lra].
      apply Rmult_le_pos; [apply Rmult_le_pos; [apply Rle_0_sqr|lra]|]. assert (Y := Rle_0_sqr (t - 3 / 2)). unfold Rsqr in Y. lra.
    - apply Rmult_le_reg_r with (1 - t); [lra|]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
      assert (HD0 : 0 <= D).
      { apply Rmult_le_reg_r with (1 - H); [lra|]. rewrite Rmult_0_l. eapply Rle_trans; [|exact HD].
        assert (X := Rle_0_sqr H). unfold Rsqr in X. lra. }
      assert (t * t <= H * H) by (apply Rmult_le_compat; lra).
      assert (D * (1 - H) <= D * (1 - t)) by (apply Rmult_le_compat_l; lra). lra. }
  assert (T : forall t, 0 <= t <= H -> exp t <= 1 + t + D /\ exp (- t) <= 1 - t + D /\ exp t + exp (- t) <= 2 + t * t + H * D).
  { intros t Ht. destruct (P t Ht) as [P1 [P2 P3]].
    assert (Z0 : t * t / 2 <= t * t / 2 / (1 - t)).
    { apply Rmult_le_reg_r with (1 - t); [lra|]. unfold Rdiv at 2. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
      assert (0 <= t * t * t) by (apply Rmult_le_pos; [apply Rle_0_sqr|lra]). lra. }
    assert (Z1 : t * t / 2 / (1 - t) = t * t / 2 + t * (t * t / 2 / (1 - t))) by (field; lra).
    assert (Z2 : t * (t * t / 2 / (1 - t)) <= H * D).
    { apply Rmult_le_compat; [lra| |lra|exact P3]. assert (X := Rle_0_sqr t). unfold Rsqr in X. lra. }
    split; [lra|]. split; lra. }
  unfold Rabs in Hs. destruct (Rcase_abs s) as [Hn|Hp].
  - destruct (T (- s) ltac:(lra)) as [T1 [T2 T3]]. rewrite Ropp_involutive in *. split; [lra|].
    replace (s * s) with (- s * - s) by ring. lra.
  - destruct (T s ltac:(lra)) as [T1 [T2 T3]]. split; lra.
Qed.

(** The largest value over t of what a key contributes. *)
Lemma dual_key alpha w v u t : 0 < alpha -> 0 < w ->
  t - u + (1 + alpha * t) * (w * (v - t)) <=
  v * (1 + w) / 2 - u + (w + / w - 2) / (4 * alpha) + alpha * w * (v * v) / 4.
Proof.
  intros Ha Hw. assert (H := Rle_0_sqr (1 + w * (alpha * v - 1) - 2 * alpha * w * t)). unfold Rsqr in H.
  assert (Hd : 0 < / (4 * alpha * w)) by (apply Rinv_0_lt_compat; apply Rmult_lt_0_compat; lra).
  assert (H1 := Rmult_le_pos _ _ H (Rlt_le _ _ Hd)).
  replace (v * (1 + w) / 2 - u + (w + / w - 2) / (4 * alpha) + alpha * w * (v * v) / 4) with
    (t - u + (1 + alpha * t) * (w * (v - t)) +
     (1 + w * (alpha * v - 1) - 2 * alpha * w * t) * (1 + w * (alpha * v - 1) - 2 * alpha * w * t) * / (4 * alpha * w)) by (field; lra).
  lra.
Qed.

(** What the approximation of the exponentials costs. *)
Definition dual_remainder (alpha H D vm : R) : R := H * D / (4 * alpha) + vm * D / 2 + alpha * (vm * vm) * (H + D) / 4.

Lemma dual_key_quadratic alpha H D vm s v u t : 0 < alpha -> Rabs s <= H -> H < 1 -> H * H / 2 <= D * (1 - H) -> Rabs v <= vm ->
  t - u + (1 + alpha * t) * (exp s * (v - t)) <=
  v - u + (s + alpha * v) * (s + alpha * v) / (4 * alpha) + dual_remainder alpha H D vm.
Proof.
  intros Ha Hs HH HD Hv. assert (Hw := exp_pos s). destruct (exp_second_order s H D Hs HH HD) as [E1 E2].
  rewrite exp_Ropp in E2. assert (E0 := exp_ineq1_le s).
  eapply Rle_trans; [apply dual_key; assumption|]. set (w := exp s) in *.
  assert (HD0 : 0 <= D).
  { apply Rmult_le_reg_r with (1 - H); [lra|]. rewrite Rmult_0_l. eapply Rle_trans; [|exact HD].
    assert (X := Rle_0_sqr H). unfold Rsqr in X. lra. }
  assert (Hv2 : v * v <= vm * vm).
  { rewrite <- (Rabs_pos_eq (v * v)) by apply Rle_0_sqr. rewrite Rabs_mult. apply Rmult_le_compat; (apply Rabs_pos || assumption). }
  assert (Hv0 : 0 <= v * v) by apply Rle_0_sqr.
  apply Rabs_both in Hs. apply Rabs_both in Hv.
  assert (A1 : v * (w - 1 - s) <= vm * D).
  { apply Rle_trans with (vm * (w - 1 - s)); [apply Rmult_le_compat_r; lra|apply Rmult_le_compat_l; lra]. }
  assert (A2 : (w - 1) * (v * v) <= (H + D) * (vm * vm)).
  { apply Rle_trans with ((H + D) * (v * v)); [apply Rmult_le_compat_r; lra|apply Rmult_le_compat_l; lra]. }
  assert (A3 : (w + / w - 2) / (4 * alpha) <= (s * s + H * D) / (4 * alpha)).
  { apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|lra]. }
  assert (A4 : alpha * ((w - 1) * (v * v)) <= alpha * ((H + D) * (vm * vm))) by (apply Rmult_le_compat_l; lra).
  unfold dual_remainder.
  replace (v - u + (s + alpha * v) * (s + alpha * v) / (4 * alpha)) with
    (v - u + s * s / (4 * alpha) + s * v / 2 + alpha * (v * v) / 4) by (field; lra).
  replace ((s * s + H * D) / (4 * alpha)) with (s * s / (4 * alpha) + H * D / (4 * alpha)) in A3 by (field; lra).
  lra.
Qed.

(** The row at the trigger: weights exp (s k) over 1..j, values v, targets u; an upper bound of the error. *)
Lemma trigger_row_dual j s v u alpha H D vm E off B :
  (3 <= j)%nat -> 0 < alpha -> H < 1 -> H * H / 2 <= D * (1 - H) -> 0 <= E -> Rabs (v 1%nat) + vm <= off ->
  (forall k, (2 <= k <= j)%nat -> Rabs (s k) <= H) ->
  (forall k, (2 <= k <= j)%nat -> exp (s 1%nat) <= E * exp (s k)) ->
  (forall k, (2 <= k <= j)%nat -> Rabs (v k) <= vm) ->
  E * off + bsum 2 j (fun k => v k - u k + (s k + alpha * v k) * (s k + alpha * v k) / (4 * alpha)) <= INR (j - 1) * B ->
  bsum 1 j (fun k => exp (s k) * v k) / bsum 1 j (fun k => exp (s k)) - / INR (j - 1) * bsum 2 j u
  <= B + dual_remainder alpha H D vm.
Proof.
  intros Hj Ha HH HD HE Hoff Hs HsE Hv HB. pose (w := fun k => exp (s k)).
  set (S := bsum 2 j w). assert (HS : 0 < S).
  { apply bsum_pos with 2%nat; [intros; left; apply exp_pos|lia|apply exp_pos]. }
  assert (Hw1 := exp_pos (s 1%nat)).
  rewrite (bsum_first 1 j (fun k => exp (s k))), (bsum_first 1 j (fun k => exp (s k) * v k)) by lia.
  change (bsum 2 j (fun k => exp (s k))) with S. set (T := bsum 2 j (fun k => exp (s k) * v k)). set (o := T / S).
  assert (Ho : Rabs o <= vm).
  { unfold o, Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ S)) by (left; apply Rinv_0_lt_compat; assumption).
    apply Rmult_le_reg_r with S; [assumption|]. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. rewrite Rmult_comm.
    apply (bsum_weighted_Rabs 2 j w v vm); [intros; left; apply exp_pos|assumption]. }
  set (a1 := exp (s 1%nat) / (exp (s 1%nat) + S)).
  assert (Ha0 : 0 <= a1) by (left; apply Rdiv_lt_0_compat; lra).
  assert (Hn : 0 < INR (j - 1)) by (apply lt_0_INR; lia).
  assert (Ha1 : INR (j - 1) * a1 <= E).
  { assert (H2 : exp (s 1%nat) * INR (j - 1) <= E * S).
    { unfold S. rewrite <- bsum_scal. replace (exp (s 1%nat) * INR (j - 1)) with (bsum 2 j (fun _ => exp (s 1%nat))).
      - apply bsum_le. assumption.
      - rewrite bsum_const, Rmult_comm. f_equal. }
    assert (H5 : 0 <= E * exp (s 1%nat)) by (apply Rmult_le_pos; lra).
    unfold a1. apply Rmult_le_reg_r with (exp (s 1%nat) + S); [lra|].
    replace (INR (j - 1) * (exp (s 1%nat) / (exp (s 1%nat) + S)) * (exp (s 1%nat) + S)) with (exp (s 1%nat) * INR (j - 1)) by (field; lra).
    lra. }
  replace ((exp (s 1%nat) * v 1%nat + T) / (exp (s 1%nat) + S) - / INR (j - 1) * bsum 2 j u)
    with (a1 * (v 1%nat - o) + (o - / INR (j - 1) * bsum 2 j u)) by (unfold a1, o; field; split; lra).
  assert (B1 : INR (j - 1) * (a1 * (v 1%nat - o)) <= E * off).
  { rewrite <- Rmult_assoc. eapply Rle_trans; [apply Rle_abs|]. rewrite Rabs_mult, (Rabs_pos_eq (INR (j - 1) * a1)) by (apply Rmult_le_pos; lra).
    apply Rmult_le_compat; [apply Rmult_le_pos; lra|apply Rabs_pos|assumption|].
    eapply Rle_trans; [|exact Hoff]. unfold Rminus. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra. }
  apply Rmult_le_reg_l with (INR (j - 1)); [assumption|]. rewrite Rmult_plus_distr_l.
  assert (B2 : INR (j - 1) * (o - / INR (j - 1) * bsum 2 j u) <=
    bsum 2 j (fun k => v k - u k + (s k + alpha * v k) * (s k + alpha * v k) / (4 * alpha)) + INR (j - 1) * dual_remainder alpha H D vm).
  { replace (INR (j - 1) * (o - / INR (j - 1) * bsum 2 j u)) with
      (bsum 2 j (fun k => o - u k + (1 + alpha * o) * (w k * (v k - o)))).
    - replace (INR (j - 1) * dual_remainder alpha H D vm) with (bsum 2 j (fun _ => dual_remainder alpha H D vm)).
      + rewrite <- bsum_plus. apply bsum_le. intros k Hk.
        apply (dual_key_quadratic alpha H D vm (s k)); auto.
      + rewrite bsum_const. f_equal.
    - rewrite bsum_plus, bsum_minus, bsum_const, bsum_scal.
      rewrite (bsum_ext 2 j (fun k => w k * (v k - o)) (fun k => w k * v k - o * w k)) by (intros; ring).
      rewrite bsum_minus, bsum_scal. change (bsum 2 j w) with S. change (bsum 2 j (fun k => w k * v k)) with T.
      assert (Z : T - o * S = 0) by (unfold o; field; lra). rewrite Z.
      replace (Datatypes.S j - 2)%nat with (j - 1)%nat by lia. field. lra. }
  lra.
Qed.

(** ** Any values at the vertices extend to the box, affine along each coordinate *)

Fixpoint extend (n : nat) (f : content -> R) : content -> R :=
  match n with
  | O => f
  | S n' => fun c => (1 - c n') / 2 * extend n' f (set n' (-1) c) + (1 + c n') / 2 * extend n' f (set n' 1 c)
  end.

Lemma set_same m a b c : set m a (set m b c) = set m a c.
Proof. apply functional_extensionality. intros l. unfold set. destruct (l =? m)%nat; reflexivity. Qed.

Lemma set_swap m n a b c : m <> n -> set m a (set n b c) = set n b (set m a c).
Proof.
  intros H. apply functional_extensionality. intros l. unfold set.
  destruct (Nat.eqb_spec l m), (Nat.eqb_spec l n); subst; (reflexivity || contradiction).
Qed.

Lemma set_id m c : set m (c m) c = c.
Proof. apply functional_extensionality. intros l. unfold set. destruct (Nat.eqb_spec l m); subst; reflexivity. Qed.

Lemma extend_chord n f : forall m c, (m < n)%nat ->
  extend n f c = (1 - c m) / 2 * extend n f (set m (-1) c) + (1 + c m) / 2 * extend n f (set m 1 c).
Proof.
  induction n as [|n IH]; intros m c Hm; [lia|]. cbn [extend]. destruct (Nat.eq_dec m n) as [->|Hne].
  - assert (E : forall a, set n a c n = a) by (intros a; unfold set; rewrite Nat.eqb_refl; reflexivity).
    rewrite !E, !set_same. field.
  - rewrite (IH m (set n (-1) c)), (IH m (set n 1 c)) by lia.
    rewrite !(set_swap m n) by assumption.
    assert (E : forall a, set m a c n = c n) by (intros a; unfold set; destruct (Nat.eqb_spec n m); [lia|reflexivity]).
    assert (E' : forall a, set n a c m = c m) by (intros a; unfold set; destruct (Nat.eqb_spec m n); [lia|reflexivity]).
    rewrite !E, !E'. field.
Qed.

Lemma extend_affine d f : box_affine d (extend d f).
Proof. intros c m _ Hm. apply extend_chord. assumption. Qed.

Lemma extend_vertex n f : forall v, is_vertex n v -> extend n f v = f v.
Proof.
  induction n as [|n IH]; intros v Hv; [reflexivity|]. cbn [extend].
  assert (IHv := IH v ltac:(intros m Hm; apply Hv; lia)).
  destruct (Hv n ltac:(lia)) as [E|E].
  - replace (set n (-1) v) with v by (rewrite <- E; symmetry; apply set_id). rewrite E, IHv. field.
  - replace (set n 1 v) with v by (rewrite <- E; symmetry; apply set_id). rewrite E, IHv. field.
Qed.
