(** * Gruess' bound at the trigger: real numbers (C4).

    The mean of values v_k in weights w_k is near their plain mean when the weights are nearly
    equal: if all logarithms of the weights are within h of a centre, then the two means differ by at most
    (range of v) * h / 2. *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task.
Open Scope R_scope.

(** The bound behind tanh x <= x. *)
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

(** |w - W| is convex in w, hence below its chord on [m, M]. *)
Lemma distance_chord m M W w : m <= W <= M -> m <= w <= M ->
  Rabs (w - W) * (M - m) <= (W - m) * (M - w) + (M - W) * (w - m).
Proof.
  intros HW Hw. destruct (Rle_dec W w) as [H|H].
  - rewrite Rabs_pos_eq by lra.
    assert (0 <= (M - w) * (W - m)) by (apply Rmult_le_pos; lra). lra.
  - rewrite Rabs_left1 by lra.
    assert (0 <= (w - m) * (M - W)) by (apply Rmult_le_pos; lra). lra.
Qed.

Section Means.
Variables (a b : nat) (w v : nat -> R) (h lo hi : R).
Hypothesis Hab : (a <= b)%nat.
Hypothesis Hh : 0 <= h.
Hypothesis Hw : forall k, (a <= k <= b)%nat -> exp (- h) <= w k <= exp h.
Hypothesis Hv : forall k, (a <= k <= b)%nat -> lo <= v k <= hi.

Let n : R := INR (S b - a).
Let W : R := / n * bsum a b w.

Lemma count_pos : 0 < n.
Proof using Hab. apply lt_0_INR. lia. Qed.

Lemma mean_range m M f : (forall k, (a <= k <= b)%nat -> m <= f k <= M) -> m <= / n * bsum a b f <= M.
Proof using Hab.
  intros Hf. assert (Hn := count_pos).
  assert (H1 : bsum a b (fun _ => m) <= bsum a b f) by (apply bsum_le; intros; apply Hf; assumption).
  assert (H2 : bsum a b f <= bsum a b (fun _ => M)) by (apply bsum_le; intros; apply Hf; assumption).
  rewrite bsum_const in H1, H2. fold n in H1, H2.
  split; apply Rmult_le_reg_l with n; try assumption; rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra; assumption.
Qed.

Lemma weight_mean_pos : 0 < W.
Proof using Hab Hw. assert (H := mean_range _ _ w Hw). assert (He := exp_pos (- h)). unfold W. lra. Qed.

Lemma sum_of_weights : bsum a b w = n * W.
Proof using Hab. assert (Hn := count_pos). unfold W. field. lra. Qed.

(** The weights' mean distance from their mean. *)
Lemma weight_spread : bsum a b (fun k => Rabs (w k - W)) <= n * W * h.
Proof using Hab Hh Hw.
  assert (Hn := count_pos). assert (HW := weight_mean_pos). assert (HWr := mean_range _ _ w Hw). fold W in HWr.
  set (q := exp h) in *. assert (Hm : exp (- h) = / q) by apply exp_Ropp. rewrite Hm in *.
  assert (Hq : 1 <= q) by (unfold q; assert (H := exp_ineq1_le h); lra).
  destruct Hh as [Hpos|Hzero].
  2:{ assert (Hq1 : q = 1) by (unfold q; rewrite <- Hzero; apply exp_0). rewrite Hq1, Rinv_1 in *.
      rewrite bsum_zero_ext; [rewrite <- Hzero; lra|]. intros k Hk. specialize (Hw k Hk). fold q in Hw.
      rewrite ?Hm, ?Hq1, ?Rinv_1 in Hw. replace (w k - W) with 0 by lra. apply Rabs_R0. }
  assert (Hq1 : 1 < q) by (unfold q; rewrite <- exp_0; apply exp_increasing; assumption).
  assert (Hi : / q < 1) by (rewrite <- Rinv_1; apply Rinv_lt_contravar; lra).
  assert (Hs : bsum a b (fun k => Rabs (w k - W)) * (q - / q) <= 2 * n * ((W - / q) * (q - W))).
  { rewrite <- bsum_scal_r.
    apply Rle_trans with (bsum a b (fun k => (W - / q) * (q - w k) + (q - W) * (w k - / q))).
    - apply bsum_le. intros k Hk. apply distance_chord; [lra|]. specialize (Hw k Hk). rewrite ?Hm in Hw. exact Hw.
    - rewrite bsum_plus, !bsum_scal, !bsum_minus, !bsum_const. fold n. rewrite sum_of_weights.
      apply Req_le. ring. }
  assert (Hp : (W - / q) * (q - W) <= W * (q + / q - 2)).
  { assert (H := Rle_0_sqr (W - 1)). unfold Rsqr in H.
    assert (E : / q * q = 1) by (apply Rinv_l; lra).
    replace ((W - / q) * (q - W)) with (W * q + W * / q - W * W - / q * q) by ring. rewrite E. lra. }
  assert (Ht : 2 * (q + / q - 2) <= h * (q - / q)).
  { assert (H := tanh_below h (Rlt_le _ _ Hpos)). fold q in H.
    assert (Hk : 0 <= 1 - / q) by lra.
    assert (H1 := Rmult_le_compat_r _ _ _ Hk H).
    replace (2 * (q + / q - 2)) with (2 * (q - 1) * (1 - / q)) by (field; lra).
    replace (h * (q - / q)) with (h * (q + 1) * (1 - / q)) by (field; lra). exact H1. }
  apply Rmult_le_reg_r with (q - / q); [lra|].
  apply Rle_trans with (n * W * (2 * (q + / q - 2))).
  - eapply Rle_trans; [exact Hs|].
    apply Rle_trans with (2 * n * (W * (q + / q - 2))); [apply Rmult_le_compat_l; lra|]. apply Req_le. ring.
  - replace (n * W * h * (q - / q)) with (n * W * (h * (q - / q))) by ring.
    apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|exact Ht].
Qed.

(** The weighted mean against the plain mean. *)
Lemma weighted_mean_near_mean :
  Rabs (bsum a b (fun k => w k * v k) / bsum a b w - / n * bsum a b v) <= (hi - lo) * h / 2.
Proof using Hab Hh Hw Hv.
  assert (Hn := count_pos). assert (HW := weight_mean_pos). set (c := (lo + hi) / 2).
  assert (E : bsum a b (fun k => w k * v k) / bsum a b w - / n * bsum a b v =
              / (n * W) * bsum a b (fun k => (w k - W) * (v k - c))).
  { rewrite (bsum_ext a b (fun k => (w k - W) * (v k - c)) (fun k => w k * v k - W * v k - c * w k + W * c)) by (intros; ring).
    rewrite bsum_plus, !bsum_minus, !bsum_scal, bsum_const. fold n. rewrite sum_of_weights. field. lra. }
  rewrite E, Rabs_mult, (Rabs_pos_eq (/ (n * W))) by (left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; assumption).
  assert (HnW : 0 < n * W) by (apply Rmult_lt_0_compat; assumption).
  apply Rmult_le_reg_l with (n * W); [assumption|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
  eapply Rle_trans; [apply bsum_Rabs|].
  apply Rle_trans with (bsum a b (fun k => Rabs (w k - W)) * ((hi - lo) / 2)).
  - rewrite <- bsum_scal_r. apply bsum_le. intros k Hk. rewrite Rabs_mult.
    apply Rmult_le_compat_l; [apply Rabs_pos|]. specialize (Hv k Hk). apply Rabs_le. unfold c. lra.
  - assert (Hr : 0 <= (hi - lo) / 2) by (specialize (Hv a ltac:(lia)); lra).
    apply Rle_trans with (n * W * h * ((hi - lo) / 2)).
    + apply Rmult_le_compat_r; [assumption|apply weight_spread].
    + apply Req_le. field.
Qed.
End Means.

(** The row at the trigger: unnormalised weights w over 1..j, values v (BOS included), targets u. *)
Lemma trigger_row j w v u h lo hi E off dev :
  (3 <= j)%nat -> 0 <= h -> 0 < w 1%nat -> 0 <= E -> 0 <= off ->
  (forall k, (2 <= k <= j)%nat -> exp (- h) <= w k <= exp h) ->
  (forall k, (2 <= k <= j)%nat -> w 1%nat <= E * w k) ->
  (forall k, (2 <= k <= j)%nat -> lo <= v k <= hi) ->
  (forall k, (2 <= k <= j)%nat -> Rabs (v k - u k) <= dev) ->
  Rabs (v 1%nat - lo) <= off -> Rabs (v 1%nat - hi) <= off ->
  Rabs (bsum 1 j (fun k => w k * v k) / bsum 1 j w - / INR (j - 1) * bsum 2 j u)
  <= E / 2 * off + (hi - lo) * h / 2 + dev.
Proof.
  intros Hj Hh Hw1 HE Hoff Hw HwE Hv Hu Hlo Hhi.
  assert (Hw0 : forall k, (2 <= k <= j)%nat -> 0 < w k).
  { intros k Hk. specialize (Hw k Hk). assert (He := exp_pos (- h)). lra. }
  set (S := bsum 2 j w). assert (HS : 0 < S).
  { apply bsum_pos with 2%nat; [intros; left; apply Hw0; assumption|lia|apply Hw0; lia]. }
  rewrite (bsum_first 1 j w), (bsum_first 1 j (fun k => w k * v k)) by lia. fold S.
  set (o := bsum 2 j (fun k => w k * v k) / S).
  assert (Ho : lo <= o <= hi).
  { assert (Hl : bsum 2 j (fun k => w k * lo) <= bsum 2 j (fun k => w k * v k)).
    { apply bsum_le. intros k Hk. specialize (Hv k Hk). apply Rmult_le_compat_l; [left; apply Hw0; assumption|lra]. }
    assert (Hr : bsum 2 j (fun k => w k * v k) <= bsum 2 j (fun k => w k * hi)).
    { apply bsum_le. intros k Hk. specialize (Hv k Hk). apply Rmult_le_compat_l; [left; apply Hw0; assumption|lra]. }
    rewrite bsum_scal_r in Hl, Hr. fold S in Hl, Hr. unfold o.
    split; apply Rmult_le_reg_r with S; try assumption; unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra; lra. }
  set (a1 := w 1%nat / (w 1%nat + S)).
  assert (Ha0 : 0 <= a1) by (left; apply Rdiv_lt_0_compat; lra).
  assert (Ha1 : a1 <= E / 2).
  { assert (H2 : w 1%nat * INR (j - 1) <= E * S).
    { unfold S. rewrite <- bsum_scal. replace (w 1%nat * INR (j - 1)) with (bsum 2 j (fun _ => w 1%nat)).
      - apply bsum_le. assumption.
      - rewrite bsum_const, Rmult_comm. f_equal. }
    assert (H3 : 2 <= INR (j - 1)) by (replace 2 with (INR 2) by reflexivity; apply le_INR; lia).
    assert (H4 : w 1%nat * 2 <= w 1%nat * INR (j - 1)) by (apply Rmult_le_compat_l; lra).
    assert (H5 : 0 <= E * w 1%nat) by (apply Rmult_le_pos; lra).
    unfold a1. apply Rmult_le_reg_r with (w 1%nat + S); [lra|].
    unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. lra. }
  replace ((w 1%nat * v 1%nat + bsum 2 j (fun k => w k * v k)) / (w 1%nat + S) - / INR (j - 1) * bsum 2 j u)
    with (a1 * (v 1%nat - o) + (o - / INR (j - 1) * bsum 2 j v) + / INR (j - 1) * bsum 2 j (fun k => v k - u k)).
  2:{ rewrite bsum_minus. unfold a1, o. assert (0 < INR (j - 1)) by (apply lt_0_INR; lia). field. split; lra. }
  assert (B1 : Rabs (a1 * (v 1%nat - o)) <= E / 2 * off).
  { rewrite Rabs_mult, (Rabs_pos_eq a1) by assumption. apply Rmult_le_compat; [assumption|apply Rabs_pos|assumption|].
    revert Hlo Hhi. unfold Rabs. repeat destruct Rcase_abs; lra. }
  assert (B2 : Rabs (o - / INR (j - 1) * bsum 2 j v) <= (hi - lo) * h / 2).
  { apply (weighted_mean_near_mean 2 j w v h lo hi); (assumption || lia). }
  assert (B3 : Rabs (/ INR (j - 1) * bsum 2 j (fun k => v k - u k)) <= dev).
  { assert (Hn : 0 < INR (j - 1)) by (apply lt_0_INR; lia).
    rewrite Rabs_mult, (Rabs_pos_eq (/ INR (j - 1))) by (left; apply Rinv_0_lt_compat; assumption).
    apply Rmult_le_reg_l with (INR (j - 1)); [assumption|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
    eapply Rle_trans; [apply bsum_Rabs|]. replace (INR (j - 1) * dev) with (bsum 2 j (fun _ => dev)).
    - apply bsum_le. assumption.
    - rewrite bsum_const. f_equal. }
  eapply Rle_trans; [apply Rabs_triang|]. assert (H := Rabs_triang (a1 * (v 1%nat - o)) (o - / INR (j - 1) * bsum 2 j v)). lra.
Qed.
