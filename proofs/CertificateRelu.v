(** * Certificates of a ReLU head: its weights off the trigger, and its worst-case loss.

    An emitted file defines [head : weights] and states, for its length L, contents d and bounds n / m (integers, m > 0):

      Lemma weight_check : relu_weight_check relu_by_vertices d head n m = true.
      Proof. vm_cast_no_check (eq_refl true). Qed.
      Theorem weights_off_trigger : relu_weights_at_most L d head (IZR n / IZR m).
      Proof. apply (relu_weights_by_vertices _ _ _ _ _ weight_check). Qed.

      Lemma loss_check : relu_loss_check relu_by_vertices L d head n m = true.
      Proof. vm_cast_no_check (eq_refl true). Qed.
      Theorem loss : worst_case_loss_at_most L d (relu_head_of d head) (IZR n / IZR m).
      Proof. apply (relu_loss_by_vertices _ _ _ _ _ loss_check). Qed.

    [relu_by_vertices] enumerates 2^d queries; [relu_by_sums] (with [.._by_sums] theorems) works for any d and is looser. *)
From Coq Require Import Reals Lra Lia Arith ZArith List.
From Sinkproof Require Import Sums Task CertificateWeights CertificateVertices CertificateScores.
From Sinkproof Require Import CertificateGruessReal CertificateGruess CertificateGruessSound CertificateReluReal.
Open Scope R_scope.

(** On every instance every attention weight at every non-trigger position i >= 2 (BOS included) is at most q. *)
Definition relu_weights_at_most (L d : nat) (w : weights) (q : R) : Prop :=
  forall I i k, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I -> (1 <= k <= i)%nat ->
  relu_attention_of d w I i k <= q.

(** ** The checker *)

(** Scores, over all contents, in units of 1 / score_denominator: at the trigger the ordinary keys', the trigger's own
    and BOS's lie in [low, high]; at an ordinary token a key's and BOS's are at most these. *)
Record relu_extent := ReluExtent {
  ordinary_low : Z; ordinary_high : Z; self_low : Z; self_high : Z; bos_low : Z; bos_high : Z;
  off_key : Z; off_bos : Z }.

Definition ordinary_leaf (sigma : Z) (d : nat) (z row : list Z) : Z :=
  let contents := skipn 2 row in (sigma * nth d contents 0 + abs_sum d contents)%Z.
Definition self_leaf (sigma bend : Z) (d : nat) (z row : list Z) : Z :=
  (sigma * (nth 1 row 0 + sign_dot z (skipn 2 row)) + bend)%Z.
Definition off_leaf (d : nat) (z row : list Z) : Z :=
  let contents := skipn 2 row in (Z.max (nth d contents 0) (nth 1 row 0) + abs_sum d contents)%Z.

(** The sum of the slopes' absolute values of entry s of x^T A. *)
Definition entry_slopes_sum (d : nat) (M : list (list Z)) (s : nat) : Z := column_sum d M (fun row => nth s row 0%Z).

Definition relu_by_vertices (d : nat) (M : list (list Z)) : relu_extent :=
  let bos := entry_slopes_sum d M 0 in
  ReluExtent (- query_maximum (ordinary_leaf (-1) d) d M 1) (query_maximum (ordinary_leaf 1 d) d M 1)
    (- query_maximum (self_leaf (-1) (squares 1 d M) d) d M 1) (query_maximum (self_leaf 1 (squares (-1) d M) d) d M 1)
    (entry M 1 0 - bos) (entry M 1 0 + bos)
    (query_maximum (off_leaf d) d M (d + 2)) (entry M (d + 2) 0 + bos).

Definition relu_by_sums (d : nat) (M : list (list Z)) : relu_extent :=
  let bos := entry_slopes_sum d M 0 in
  let n := (entry_slopes_sum d M (d + 2) + norm_sum d M 1)%Z in
  let t := (entry_slopes_sum d M 1 + norm_sum d M 1)%Z in
  ReluExtent (entry M 1 (d + 2) - n) (entry M 1 (d + 2) + n) (entry M 1 1 - t) (entry M 1 1 + t)
    (entry M 1 0 - bos) (entry M 1 0 + bos)
    (norm_sum d M (d + 2) + Z.max (entry M (d + 2) (d + 2) + entry_slopes_sum d M (d + 2))
                                  (entry M (d + 2) 1 + entry_slopes_sum d M 1))
    (entry M (d + 2) 0 + bos).

(** A centre of the positive parts of [low, high], and how far they are from it. *)
Definition centre (low high : Z) : Z := ((Z.max 0 low + Z.max 0 high) / 2)%Z.
Definition radius (low high : Z) : Z :=
  Z.max (Z.max 0 high - centre low high) (centre low high - Z.max 0 low).

(** The row g v - e_r, in units of 1 / (score_denominator * value_denominator) = 1 / [unit]. *)
Definition scaled_row (g unit : Z) (r : nat) (v : list Z) : list Z := sub (map (Z.mul g) v) (unit_row r unit).
Definition reach_of (d : nat) (f : list Z) (q : nat) : Z := (Z.abs (nth q f 0) + abs_sum d (skipn 2 f))%Z.

Definition each_of (d : nat) (alpha h unit : Z) (r : nat) (v : list Z) : Z :=
  (h * reach_of d v (d + 2) + reach_of d (scaled_row alpha unit r v) (d + 2))%Z.
Definition once_of (d : nat) (gamma hs beta hb unit : Z) (r : nat) (v : list Z) : Z :=
  let e := scaled_row gamma unit r v in
  (hb * Z.abs (nth 0 v 0) + hs * reach_of d v 1 + (Z.abs (beta * nth 0 v 0 + nth 1 e 0) + abs_sum d (skipn 2 e)))%Z.

Definition relu_row_check (L : Z) (d : nat) (e : relu_extent) (first unit n m : Z) (r : nat) (v : list Z) : bool :=
  let each := each_of d (centre (ordinary_low e) (ordinary_high e)) (radius (ordinary_low e) (ordinary_high e)) unit r v in
  let once := once_of d (centre (self_low e) (self_high e)) (radius (self_low e) (self_high e))
                        (centre (bos_low e) (bos_high e)) (radius (bos_low e) (bos_high e)) unit r v in
  ((once + each) * m <=? n * (2 * unit))%Z &&
  ((once + (L - 2) * each) * m <=? n * ((L - 1) * unit))%Z &&
  ((Z.max 0 (off_bos e) * Z.abs (nth 0 v 0) +
    Z.max 0 (off_key e) * Z.max (reach_of d v 1) (reach_of d v (d + 2))) * m <=? n * unit)%Z &&
  (Z.max 0 first * Z.abs (nth 0 v 0) * m <=? n * unit)%Z.

Definition relu_loss_check (level : nat -> list (list Z) -> relu_extent) (L d : nat) (w : weights) (n m : Z) : bool :=
  let M := score_matrix d w in
  let e := level d M in
  (0 <? m)%Z && (3 <=? L)%nat &&
  rows_check (relu_row_check (Z.of_nat L) d e (entry M 0 0) (score_denominator w * value_denominator w) n m)
    (d + 3) 0 (value_matrix d w).

Definition relu_weight_check (level : nat -> list (list Z) -> relu_extent) (d : nat) (w : weights) (n m : Z) : bool :=
  let e := level d (score_matrix d w) in
  (0 <? m)%Z && (Z.max 0 (Z.max (off_bos e) (off_key e)) * m <=? n * score_denominator w)%Z.

(** ** The extents are right *)

Definition sound_relu_level (level : nat -> list (list Z) -> relu_extent) : Prop := forall d A M u,
  (forall r s, (r < d + 3)%nat -> (s < d + 3)%nat -> A r s = IZR (entry M r s) * u) -> 0 < u ->
  (d + 2 <= length M)%nat -> let e := level d M in forall c, in_box d c ->
  (IZR (ordinary_low e) * u <= query_row d A 1 c (d + 2) - query_norm d A 1 c /\
   query_row d A 1 c (d + 2) + query_norm d A 1 c <= IZR (ordinary_high e) * u) /\
  (IZR (self_low e) * u <= key_score d A 1 c 1 c <= IZR (self_high e) * u) /\
  (IZR (bos_low e) * u <= query_row d A 1 c 0 <= IZR (bos_high e) * u) /\
  (query_row d A (d + 2) c (d + 2) + query_norm d A (d + 2) c <= IZR (off_key e) * u /\
   query_row d A (d + 2) c 1 + query_norm d A (d + 2) c <= IZR (off_key e) * u) /\
  query_row d A (d + 2) c 0 <= IZR (off_bos e) * u.

Lemma entry_slopes_sum_bound d A M u p s c :
  (forall r s, (r < d + 3)%nat -> (s < d + 3)%nat -> A r s = IZR (entry M r s) * u) -> 0 < u ->
  (d + 2 <= length M)%nat -> (p < d + 3)%nat -> (s < d + 3)%nat -> in_box d c ->
  Rabs (query_row d A p c s - IZR (entry M p s) * u) <= IZR (entry_slopes_sum d M s) * u.
Proof.
  intros HA Hu HM Hp Hs Hc. unfold query_row, entry_slopes_sum, column_sum.
  rewrite (content_fold (fun row => Z.abs (nth s row 0%Z))) by assumption. rewrite HA by assumption.
  replace (IZR (entry M p s) * u + _ - _) with (ssum d (fun k => A (2 + k)%nat s * c k)).
  2:{ rewrite (ssum_ext d (fun k => A (2 + k)%nat s * c k) (fun k => c k * A (2 + k)%nat s)) by (intros; ring). ring. }
  eapply Rle_trans; [apply dot_box; assumption|]. rewrite Rmult_comm, <- ssum_scal. apply ssum_le. intros k Hk.
  rewrite HA, abs_IZR, Rabs_mult, (Rabs_pos_eq u) by (lia || lra). unfold entry. lra.
Qed.

Theorem relu_by_vertices_sound : sound_relu_level relu_by_vertices.
Proof.
  intros d A M u HA Hu HM e c Hc.
  assert (S0 := entry_slopes_sum_bound d A M u 1 0 c HA Hu HM ltac:(lia) ltac:(lia) Hc).
  assert (S1 := entry_slopes_sum_bound d A M u (d + 2) 0 c HA Hu HM ltac:(lia) ltac:(lia) Hc).
  apply Rabs_both in S0. apply Rabs_both in S1.
  assert (O : forall sigma, IZR sigma * query_row d A 1 c (d + 2) + query_norm d A 1 c <=
    IZR (query_maximum (ordinary_leaf sigma d) d M 1) * u).
  { intros sigma. apply (box_from_vertices d A M u HA Hu HM 1 (ordinary_leaf sigma d)
      (fun c => IZR sigma * query_row d A 1 c (d + 2) + query_norm d A 1 c)); [lia| | |assumption].
    - apply convex_plus; [|apply query_norm_convex]. apply convex_affine, affine_scal, query_row_affine.
    - intros v z row Hv Hz Hvz Hrow. unfold query_norm. rewrite (norm_value d _ row u Hu Hrow), Hrow by lia.
      unfold ordinary_leaf. cbv zeta. rewrite nth_skip2. replace (2 + d)%nat with (d + 2)%nat by lia.
      rewrite plus_IZR, mult_IZR. lra. }
  assert (F : forall sigma, IZR sigma * key_score d A 1 c 1 c <=
    IZR (query_maximum (self_leaf sigma (squares (- sigma) d M) d) d M 1) * u).
  { intros sigma. apply Rle_trans with (bent_self d A (IZR sigma) c + IZR sigma * query_row d A 1 c (d + 2)).
    { assert (H := bent_self_above d A (IZR sigma) c). lra. }
    apply (box_from_vertices d A M u HA Hu HM 1 (self_leaf sigma (squares (- sigma) d M) d)
      (fun c => bent_self d A (IZR sigma) c + IZR sigma * query_row d A 1 c (d + 2))); [lia| | |assumption].
    - apply convex_plus; [apply bent_self_convex|]. apply convex_affine, affine_scal, query_row_affine.
    - intros v z row Hv Hz Hvz Hrow. rewrite (bent_self_vertex d A M u v z row sigma), Hrow by (assumption || lia).
      unfold self_leaf. rewrite nth_skip2. replace (2 + d)%nat with (d + 2)%nat by lia.
      rewrite !plus_IZR, !mult_IZR, plus_IZR, minus_IZR, plus_IZR. lra. }
  assert (K : Rmax (query_row d A (d + 2) c (d + 2)) (query_row d A (d + 2) c 1) + query_norm d A (d + 2) c <=
    IZR (off_key e) * u).
  { apply (box_from_vertices d A M u HA Hu HM (d + 2) (off_leaf d)
      (fun c => Rmax (query_row d A (d + 2) c (d + 2)) (query_row d A (d + 2) c 1) + query_norm d A (d + 2) c)); [lia| | |assumption].
    - apply convex_plus; [|apply query_norm_convex]. apply convex_Rmax; apply convex_affine, query_row_affine.
    - intros v z row Hv Hz Hvz Hrow. unfold query_norm. rewrite (norm_value d _ row u Hu Hrow), !Hrow by lia.
      unfold off_leaf. cbv zeta. rewrite nth_skip2. replace (2 + d)%nat with (d + 2)%nat by lia. rewrite plus_IZR.
      assert (H : Rmax (IZR (nth (d + 2) row 0%Z) * u) (IZR (nth 1 row 0%Z) * u)
                  <= IZR (Z.max (nth (d + 2) row 0%Z) (nth 1 row 0%Z)) * u).
      { apply Rmax_lub; apply Rmult_le_compat_r; try lra; apply IZR_le; lia. }
      lra. }
  assert (O1 := O 1%Z). assert (O2 := O (-1)%Z). assert (F1 := F 1%Z). assert (F2 := F (-1)%Z).
  change (Z.opp 1) with (-1)%Z in F1. change (Z.opp (-1)) with 1%Z in F2.
  assert (M1 := Rmax_l (query_row d A (d + 2) c (d + 2)) (query_row d A (d + 2) c 1)).
  assert (M2 := Rmax_r (query_row d A (d + 2) c (d + 2)) (query_row d A (d + 2) c 1)).
  unfold e, relu_by_vertices in *. cbv zeta in *.
  cbn [ordinary_low ordinary_high self_low self_high bos_low bos_high off_key off_bos] in *.
  rewrite ?opp_IZR, ?plus_IZR, ?minus_IZR. repeat split; lra.
Qed.

Theorem relu_by_sums_sound : sound_relu_level relu_by_sums.
Proof.
  intros d A M u HA Hu HM e c Hc.
  assert (S := fun p s Hp Hs => entry_slopes_sum_bound d A M u p s c HA Hu HM Hp Hs Hc).
  assert (S1 := S 1%nat 0%nat ltac:(lia) ltac:(lia)). assert (S2 := S (d + 2)%nat 0%nat ltac:(lia) ltac:(lia)).
  assert (S3 := S 1%nat (d + 2)%nat ltac:(lia) ltac:(lia)). assert (S4 := S 1%nat 1%nat ltac:(lia) ltac:(lia)).
  assert (S5 := S (d + 2)%nat (d + 2)%nat ltac:(lia) ltac:(lia)). assert (S6 := S (d + 2)%nat 1%nat ltac:(lia) ltac:(lia)).
  clear S. apply Rabs_both in S1, S2, S3, S4, S5, S6.
  assert (N1 := norm_sum_bound d A M u HA Hu HM 1 c ltac:(lia) Hc).
  assert (N2 := norm_sum_bound d A M u HA Hu HM (d + 2) c ltac:(lia) Hc).
  assert (K := key_score_near d A 1 c 1 c Hc). apply Rabs_both in K.
  unfold e, relu_by_sums in *. cbv zeta in *.
  cbn [ordinary_low ordinary_high self_low self_high bos_low bos_high off_key off_bos] in *.
  assert (grow : forall a b, (a <= b)%Z -> IZR a * u <= IZR b * u).
  { intros a b H. apply Rmult_le_compat_r; [lra|]. apply IZR_le. assumption. }
  set (x := (entry M (d + 2) (d + 2) + entry_slopes_sum d M (d + 2))%Z). set (y := (entry M (d + 2) 1 + entry_slopes_sum d M 1)%Z).
  assert (G1 := grow x (Z.max x y) ltac:(lia)). assert (G2 := grow y (Z.max x y) ltac:(lia)).
  unfold x at 1 in G1. unfold y at 1 in G2.
  rewrite ?plus_IZR, ?minus_IZR, ?plus_IZR, ?Rmult_plus_distr_r, ?Rmult_minus_distr_r, ?Rmult_plus_distr_r in *.
  repeat split; lra.
Qed.
