(** * The checker of Gruess' bound is right: main theorem at the end. *)
From Coq Require Import Reals Lra Lia Arith ZArith List.
From Sinkproof Require Import Sums Task CertificateWeights CertificateVertices CertificateExp CertificateScores.
From Sinkproof Require Import CertificateGruessReal CertificateGruess.
Open Scope R_scope.

(** The proofs below never compute an exponential. *)
Local Opaque exp_upper.

(** ** Extents by sums *)

Lemma fold_sum (f : list Z -> Z) rows :
  IZR (fold_right (fun row sum => (f row + sum)%Z) 0%Z rows) = ssum (length rows) (fun k => IZR (f (nth k rows nil))).
Proof.
  induction rows as [|row rest IH]; [reflexivity|]. cbn [fold_right length].
  rewrite ssum_first, plus_IZR, IH. reflexivity.
Qed.

Lemma content_fold (f : list Z -> Z) d M : (d + 2 <= length M)%nat ->
  IZR (fold_right (fun row sum => (f row + sum)%Z) 0%Z (firstn d (skipn 2 M))) =
  ssum d (fun k => IZR (f (nth (2 + k) M nil))).
Proof.
  intros HM. rewrite fold_sum, firstn_length, skipn_length. replace (Nat.min d (length M - 2)) with d by lia.
  apply ssum_ext. intros k Hk. rewrite nth_below, nth_skip by assumption. reflexivity.
Qed.

Section Sums.
Variables (d : nat) (A : mat) (M : list (list Z)) (u : R).
Hypothesis HA : forall r s, (r < d + 3)%nat -> (s < d + 3)%nat -> A r s = IZR (entry M r s) * u.
Hypothesis Hu : 0 < u.
Hypothesis HM : (d + 2 <= length M)%nat.

Lemma norm_sum_bound p c : (p < d + 3)%nat -> in_box d c -> query_norm d A p c <= IZR (norm_sum d M p) * u.
Proof using HA Hu HM.
  intros Hp Hc. unfold norm_sum. rewrite plus_IZR, content_fold by assumption. rewrite abs_sum_value.
  rewrite Rmult_plus_distr_r, (Rmult_comm (ssum d _) u), (Rmult_comm (ssum d (fun k => IZR _)) u), <- !ssum_scal.
  rewrite (ssum_ext d (fun k => u * IZR (abs_sum d (skipn 2 (nth (2 + k) M nil))))
    (fun k => ssum d (fun m => Rabs (A (2 + k)%nat (2 + m)%nat)))).
  2:{ intros k Hk. rewrite abs_sum_value, <- ssum_scal. apply ssum_ext. intros m Hm.
      rewrite HA, nth_skip2, Rabs_mult, (Rabs_pos_eq u) by (lia || lra). unfold entry. ring. }
  assert (X : forall n (f : nat -> nat -> R), ssum n (fun k => ssum d (fun m => f k m)) = ssum d (fun m => ssum n (fun k => f k m))).
  { induction n as [|n IH]; intros f; [symmetry; apply ssum_zero; reflexivity|]. cbn [ssum]. rewrite IH, <- ssum_plus. reflexivity. }
  rewrite X, <- ssum_plus. apply ssum_le. intros m Hm. unfold query_row.
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat.
  - rewrite HA, nth_skip2, Rabs_mult, (Rabs_pos_eq u) by (lia || lra). unfold entry. lra.
  - rewrite (ssum_ext d (fun k => c k * A (2 + k)%nat (2 + m)%nat) (fun k => A (2 + k)%nat (2 + m)%nat * c k)) by (intros; ring).
    apply dot_box. assumption.
Qed.

Lemma difference_sum_bound p s t c : (p < d + 3)%nat -> (s < d + 3)%nat -> (t < d + 3)%nat -> in_box d c ->
  query_row d A p c s - query_row d A p c t <= IZR (difference_sum d M p s t) * u.
Proof using HA Hu HM.
  intros Hp Hs Ht Hc. unfold difference_sum, column_sum.
  rewrite plus_IZR, minus_IZR, (content_fold (fun row => Z.abs (nth s row 0 - nth t row 0)%Z)) by assumption.
  unfold query_row. rewrite !HA by assumption.
  assert (H : ssum d (fun k => c k * A (2 + k)%nat s) - ssum d (fun k => c k * A (2 + k)%nat t) =
    ssum d (fun k => (A (2 + k)%nat s - A (2 + k)%nat t) * c k)).
  { unfold Rminus at 1. rewrite <- ssum_opp, <- ssum_plus. apply ssum_ext. intros. ring. }
  assert (H2 : ssum d (fun k => (A (2 + k)%nat s - A (2 + k)%nat t) * c k) <=
    ssum d (fun k => IZR (Z.abs (nth s (nth (2 + k) M nil) 0%Z - nth t (nth (2 + k) M nil) 0%Z))) * u).
  { eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply dot_box; assumption|].
    rewrite Rmult_comm, <- ssum_scal. apply ssum_le. intros k Hk. rewrite !HA by lia.
    rewrite abs_IZR, minus_IZR. rewrite <- Rmult_minus_distr_r, Rabs_mult, (Rabs_pos_eq u) by lra. unfold entry. lra. }
  lra.
Qed.
End Sums.

Lemma IZR_max a b : IZR (Z.max a b) = Rmax (IZR a) (IZR b).
Proof.
  destruct (Z.max_spec a b) as [[H ->]|[H ->]].
  - rewrite Rmax_right; [reflexivity|apply IZR_le; lia].
  - rewrite Rmax_left; [reflexivity|apply IZR_le; lia].
Qed.

Theorem by_sums_sound : sound_level by_sums.
Proof.
  intros d A M u HA Hu HM c Hc.
  assert (N1 := norm_sum_bound d A M u HA Hu HM 1 c ltac:(lia) Hc).
  assert (N2 := norm_sum_bound d A M u HA Hu HM (d + 2) c ltac:(lia) Hc).
  assert (D := fun p s t Hp Hs Ht => difference_sum_bound d A M u HA Hu HM p s t c Hp Hs Ht Hc).
  assert (D1 := D 1%nat 1%nat (d + 2)%nat ltac:(lia) ltac:(lia) ltac:(lia)).
  assert (D2 := D 1%nat (d + 2)%nat 1%nat ltac:(lia) ltac:(lia) ltac:(lia)).
  assert (D3 := D 1%nat 0%nat (d + 2)%nat ltac:(lia) ltac:(lia) ltac:(lia)).
  assert (D4 := D 1%nat 0%nat 1%nat ltac:(lia) ltac:(lia) ltac:(lia)).
  assert (D5 := D (d + 2)%nat (d + 2)%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia)).
  assert (D6 := D (d + 2)%nat 1%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia)). clear D.
  unfold by_sums. cbn [spread bos_excess key_excess].
  generalize dependent (norm_sum d M 1). generalize dependent (norm_sum d M (d + 2)).
  generalize dependent (difference_sum d M 1 1 (d + 2)). generalize dependent (difference_sum d M 1 (d + 2) 1).
  generalize dependent (difference_sum d M 1 0 (d + 2)). generalize dependent (difference_sum d M 1 0 1).
  generalize dependent (difference_sum d M (d + 2) (d + 2) 0). generalize dependent (difference_sum d M (d + 2) 1 0).
  intros z6 H6 z5 H5 z4 H4 z3 H3 z2 H2 z1 H1 n2 Hn2 n1 Hn1.
  assert (grow : forall a b, (a <= b)%Z -> IZR a * u <= IZR b * u).
  { intros a b H. apply Rmult_le_compat_r; [lra|]. apply IZR_le. assumption. }
  assert (G1 := grow z1 (Z.max 0 (Z.max z1 z2)) ltac:(lia)). assert (G2 := grow z2 (Z.max 0 (Z.max z1 z2)) ltac:(lia)).
  assert (G0 := grow 0%Z (Z.max 0 (Z.max z1 z2)) ltac:(lia)).
  assert (G3 := grow z3 (Z.max z3 z4) ltac:(lia)). assert (G4 := grow z4 (Z.max z3 z4) ltac:(lia)).
  assert (G5 := grow z5 (Z.max z5 z6) ltac:(lia)). assert (G6 := grow z6 (Z.max z5 z6) ltac:(lia)).
  rewrite !plus_IZR, !Rmult_plus_distr_r.
  assert (K := key_score_near d A 1 c 1 c Hc). apply Rabs_both in K.
  split; [lra|]. split; [apply Rabs_le; lra|]. split; [lra|]. split; [lra|]. split; lra.
Qed.

(** ** Value rows *)

Lemma nth_unit_row r u s : nth s (unit_row r u) 0%Z = if (s =? r)%nat then u else 0%Z.
Proof.
  unfold unit_row. destruct (Nat.eqb_spec s r) as [->|H].
  - rewrite app_nth2, repeat_length by (rewrite repeat_length; lia). rewrite Nat.sub_diag. reflexivity.
  - destruct (le_lt_dec r s) as [H1|H1].
    + rewrite app_nth2 by (rewrite repeat_length; lia). rewrite repeat_length.
      destruct (s - r)%nat as [|[|k]] eqn:E; [lia|reflexivity|destruct k; reflexivity].
    + rewrite app_nth1 by (rewrite repeat_length; lia). apply nth_repeat.
Qed.

Section Values.
Variables (d r : nat) (u : Z) (v : list Z) (V : mat) (x : R).
Hypothesis HV : forall s, (s < d + 3)%nat -> V r s = IZR (nth s v 0%Z) * x.
Hypothesis Hx : 0 < x.
Hypothesis Hux : IZR u * x = 1.

Let scaled (a b : Z) : (a <= b)%Z -> IZR a * x <= IZR b * x.
Proof. intros H. apply Rmult_le_compat_r; [lra|]. apply IZR_le. assumption. Qed.

Lemma value_row_sound :
  let row := value_row_of d r u v in
  exists lo hi, hi - lo = IZR (value_range row) * x /\
    row_bounds d V r lo hi (IZR (bos_offset row) * x) (IZR (deviation row) * x) /\
    Rabs (V r 0%nat) = IZR (first_error row) * x.
Proof using HV Hx Hux.
  unfold value_row_of. cbv zeta. cbn [value_range bos_offset deviation first_error].
  set (b := nth 0 v 0%Z). set (t := nth 1 v 0%Z). set (n := nth (d + 2) v 0%Z). set (s := abs_sum d (skipn 2 v)).
  set (e := sub v (unit_row r u)).
  exists (IZR (Z.min n t - s) * x), (IZR (Z.max n t + s) * x).
  split; [rewrite !minus_IZR; ring|].
  assert (Habs : forall z, Rabs (IZR z * x) = IZR (Z.abs z) * x).
  { intros z. rewrite Rabs_mult, (Rabs_pos_eq x), abs_IZR by lra. reflexivity. }
  assert (E : forall q, (q < d + 3)%nat -> V r q - kronecker r q = IZR (nth q e 0%Z) * x).
  { intros q Hq. unfold e. rewrite nth_sub, nth_unit_row, HV by assumption. unfold kronecker.
    rewrite minus_IZR. destruct (q =? r)%nat; [lra|ring]. }
  assert (N : forall (f : nat -> R) row c, in_box d c ->
    (forall m, (m < d)%nat -> f m = IZR (nth (2 + m) row 0%Z) * x) ->
    Rabs (ssum d (fun m => f m * c m)) <= IZR (abs_sum d (skipn 2 row)) * x).
  { intros f row c Hc Hf. eapply Rle_trans; [apply dot_box; assumption|].
    rewrite abs_sum_value, Rmult_comm, <- ssum_scal. apply ssum_le. intros m Hm.
    rewrite Hf, nth_skip2, Rabs_mult, (Rabs_pos_eq x) by (assumption || lra). lra. }
  split.
  - split; [|split].
    + intros q c Hq Hc.
      assert (Hs := N (fun m => V r (2 + m)%nat) v c Hc ltac:(intros; apply HV; lia)). fold s in Hs.
      assert (He := N (fun m => V r (2 + m)%nat - kronecker r (2 + m)) e c Hc ltac:(intros; apply E; lia)).
      apply Rabs_both in Hs. cbv beta in Hs, He.
      assert (Hr : IZR (Z.min n t) * x <= V r q <= IZR (Z.max n t) * x /\
        Rabs (V r q - kronecker r q) <= IZR (Z.max (Z.abs (nth (d + 2) e 0%Z)) (Z.abs (nth 1 e 0%Z))) * x).
      { destruct Hq as [->| ->]; rewrite E by lia; rewrite Habs; rewrite HV by lia.
        - fold t. split; [split; apply scaled; lia|apply scaled; lia].
        - fold n. split; [split; apply scaled; lia|apply scaled; lia]. }
      destruct Hr as [Hr1 Hr2]. rewrite minus_IZR, !plus_IZR, Rmult_minus_distr_r, !Rmult_plus_distr_r.
      split; [lra|]. eapply Rle_trans; [apply Rabs_triang|]. lra.
    + rewrite HV by lia. fold b. rewrite <- Rmult_minus_distr_r, <- minus_IZR, Habs. apply scaled. lia.
    + rewrite HV by lia. fold b. rewrite <- Rmult_minus_distr_r, <- minus_IZR, Habs. apply scaled. lia.
  - rewrite HV by lia. fold b. apply Habs.
Qed.
End Values.

(** ** The checker *)

Lemma rows_check_row check count : forall r M, rows_check check count r M = true ->
  forall k, (k < count)%nat -> check (r + k)%nat (nth k M nil) = true.
Proof.
  induction count as [|count IH]; intros r M H k Hk; [lia|].
  cbn [rows_check] in H. apply andb_prop in H. destruct H as [H1 H2].
  destruct k as [|k].
  - rewrite Nat.add_0_r. destruct M; exact H1.
  - replace (r + S k)%nat with (S r + k)%nat by lia.
    replace (nth (S k) M nil) with (nth k (tl M) nil) by (destruct M; [destruct k; reflexivity|reflexivity]).
    apply IH; [assumption|lia].
Qed.

Lemma length_score_matrix d w : length (score_matrix d w) = (d + 3)%nat.
Proof. unfold score_matrix, products, columns. rewrite !map_length, seq_length. reflexivity. Qed.

(** a * m <= n * b in integers is a fraction below n / m. *)
Lemma fraction_le a b n m : (0 < b)%Z -> (0 < m)%Z -> (a * m <= n * b)%Z -> IZR a / IZR b <= IZR n / IZR m.
Proof.
  intros Hb Hm H. apply IZR_le in H. rewrite !mult_IZR in H.
  assert (Hb' : 0 < IZR b) by (apply (IZR_lt 0); assumption). assert (Hm' : 0 < IZR m) by (apply (IZR_lt 0); assumption).
  apply Rmult_le_reg_r with (IZR b * IZR m); [apply Rmult_lt_0_compat; assumption|].
  replace (IZR a / IZR b * (IZR b * IZR m)) with (IZR a * IZR m) by (field; lra).
  replace (IZR n / IZR m * (IZR b * IZR m)) with (IZR n * IZR b) by (field; lra). assumption.
Qed.

(** Soundness: whatever weights pass the check, every error of their softmax head is at most n / m,
    on every instance of length L, at every position and coordinate. *)
Theorem gruess_pointwise level : sound_level level -> forall L d w n m,
  gruess_check level L d w n m = true ->
  loss_at_most L d (target d) (softmax_head_of d w) (IZR n / IZR m).
Proof.
  intros Hlevel L d w n m Hcheck. unfold gruess_check in Hcheck.
  set (e := level d (score_matrix d w)) in *. set (S := score_denominator w) in *. set (u := value_denominator w) in *.
  destruct (exp_upper (bos_excess e) S) as [bos|] eqn:Ebos; [|discriminate].
  destruct (exp_upper (key_excess e) S) as [key|] eqn:Ekey; [|discriminate].
  apply andb_prop in Hcheck. destruct Hcheck as [Hcheck Hrows]. apply andb_prop in Hcheck. destruct Hcheck as [Hm HL].
  apply Z.ltb_lt in Hm. apply Nat.leb_le in HL.
  assert (HS : (0 < S)%Z) by apply score_denominator_pos. assert (Hu : (0 < u)%Z) by apply value_denominator_pos.
  assert (HS' : 0 < IZR S) by (apply (IZR_lt 0); assumption). assert (Hu' : 0 < IZR u) by (apply (IZR_lt 0); assumption).
  assert (HU : 0 < IZR one) by apply one_pos. assert (HUz : (0 < one)%Z) by (apply lt_IZR; assumption).
  assert (Hbos := exp_upper_correct _ _ _ HS Ebos). assert (Hkey := exp_upper_correct _ _ _ HS Ekey).
  assert (HE : extents d (score_map w) (IZR (spread e) * / IZR S) (IZR (bos_excess e) * / IZR S) (IZR (key_excess e) * / IZR S)).
  { apply Hlevel.
    - intros r s Hr Hs. apply (score_map_value d); assumption.
    - apply Rinv_0_lt_compat. assumption.
    - rewrite length_score_matrix. lia. }
  fold (IZR (bos_excess e) / IZR S) (IZR (key_excess e) / IZR S) in HE.
  intros I HI i r Hi Hr.
  assert (Hrow := rows_check_row _ _ _ _ Hrows r ltac:(lia)). cbv beta in Hrow. cbn [Nat.add] in Hrow.
  destruct (value_row_sound d r u (nth r (value_matrix d w) nil) (value_map w) (/ IZR u)) as [lo [hi [Hrange [HR Hb]]]].
  { intros s Hs. apply (value_map_value d). assumption. }
  { apply Rinv_0_lt_compat. assumption. }
  { apply Rinv_r. lra. }
  set (row := value_row_of d r u (nth r (value_matrix d w) nil)) in *.
  unfold row_check in Hrow. apply andb_prop in Hrow. destruct Hrow as [Hat Hoff].
  apply Z.leb_le in Hat. apply Z.leb_le in Hoff. unfold softmax_head_of.
  assert (Hoff0 : 0 <= IZR (bos_offset row) * / IZR u) by (destruct HR as [_ [H _]]; eapply Rle_trans; [apply Rabs_pos|exact H]).
  destruct (Nat.eq_dec i (trig I)) as [->|Hne].
  - eapply Rle_trans; [apply (gruess_at_trigger L d _ _ _ _ _ HE I r lo hi _ _ HI Hr HR)|].
    assert (Hpos : (0 < 2 * one * S * u)%Z) by (apply Z.mul_pos_pos; [apply Z.mul_pos_pos; [lia|]|]; assumption).
    eapply Rle_trans; [|exact (fraction_le _ _ n m Hpos Hm Hat)].
    rewrite !plus_IZR, !mult_IZR, Hrange.
    apply Rle_trans with (IZR bos / IZR one / 2 * (IZR (bos_offset row) * / IZR u) +
      IZR (value_range row) * / IZR u * (IZR (spread e) * / IZR S) / 2 + IZR (deviation row) * / IZR u).
    + do 2 apply Rplus_le_compat_r. apply Rmult_le_compat_r; [assumption|]. lra.
    + apply Req_le. field. repeat split; lra.
  - eapply Rle_trans; [apply (off_trigger L d _ _ _ _ _ HE I i r lo hi _ _ HI Hi Hr Hne HR)|].
    assert (Hpos : (0 < one * u)%Z) by (apply Z.mul_pos_pos; assumption).
    eapply Rle_trans; [|exact (fraction_le _ _ n m Hpos Hm Hoff)].
    rewrite !plus_IZR, !mult_IZR, minus_IZR, Hb, <- INR_IZR_INZ.
    assert (HLr : 1 <= INR L) by (replace 1 with (INR 1) by reflexivity; apply le_INR; lia).
    apply Rle_trans with (IZR (first_error row) * / IZR u +
      (INR L - 1) * (IZR key / IZR one) * (IZR (bos_offset row) * / IZR u)).
    + apply Rplus_le_compat_l. apply Rmult_le_compat_r; [assumption|]. apply Rmult_le_compat_l; lra.
    + apply Req_le. field. repeat split; lra.
Qed.

Lemma worst_case_from_errors L d M q : loss_at_most L d (target d) M q -> worst_case_loss_at_most L d M q.
Proof. intros H Lambda HL. apply (worst_case_loss_le _ _ _ _ _ _ HL). assumption. Qed.

(** Main theorem. If the check passes, the worst-case loss of the weights' softmax head is at most n / m. *)
Theorem gruess_certificate (level : nat -> list (list Z) -> extent) (L d : nat) (w : weights) (n m : Z) :
  level = by_vertices \/ level = by_sums ->
  gruess_check level L d w n m = true ->
  worst_case_loss_at_most L d (softmax_head_of d w) (IZR n / IZR m).
Proof.
  intros Hlevel Hcheck. apply worst_case_from_errors.
  destruct Hlevel as [-> | ->].
  - apply (gruess_pointwise by_vertices by_vertices_sound). assumption.
  - apply (gruess_pointwise by_sums by_sums_sound). assumption.
Qed.

(** The same for each level, as an emitted file uses it. *)
Theorem loss_by_vertices (L d : nat) (w : weights) (n m : Z) :
  gruess_check by_vertices L d w n m = true ->
  worst_case_loss_at_most L d (softmax_head_of d w) (IZR n / IZR m).
Proof. apply gruess_certificate. auto. Qed.

Theorem loss_by_sums (L d : nat) (w : weights) (n m : Z) :
  gruess_check by_sums L d w n m = true ->
  worst_case_loss_at_most L d (softmax_head_of d w) (IZR n / IZR m).
Proof. apply gruess_certificate. auto. Qed.
