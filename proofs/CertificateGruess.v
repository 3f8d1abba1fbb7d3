(** * Certificate of a softmax head's worst-case loss: Gruess' bound, computed in integers.

    An emitted file defines [head : weights] and states, for its length L, contents d and
    bound n / m (integers, m > 0):

      Lemma loss_check : gruess_check by_vertices L d head n m = true.
      Proof. vm_cast_no_check (eq_refl true). Qed.
      Theorem loss : worst_case_loss_at_most L d (softmax_head_of d head) (IZR n / IZR m).
      Proof. apply (loss_by_vertices _ _ _ _ _ loss_check). Qed.

    [by_vertices] enumerates 2^d queries; [by_sums] (with [loss_by_sums]) works for any d and is looser. *)
From Coq Require Import Reals Lra Lia Arith ZArith List.
From Sinkproof Require Import Sums Task CertificateWeights CertificateVertices CertificateExp CertificateScores.
From Sinkproof Require Import CertificateGruessReal.
Open Scope R_scope.

(** ** The checker *)

(** Sums of max(0, sigma * A_mm) over the content coordinates m. *)
Fixpoint square_sum (sigma : Z) (m : nat) (rows : list (list Z)) : Z :=
  match rows with
  | nil => 0%Z
  | (row :: rest)%list => (Z.max 0 (sigma * nth m row 0) + square_sum sigma (S m) rest)%Z
  end.
Definition squares (sigma : Z) (d : nat) (M : list (list Z)) : Z := square_sum sigma 2 (firstn d (skipn 2 M)).

(** Of a trigger query: how far a key's score is from x^T A e_N. [neg], [pos]: what the squares of the query's own content
    may add or take inside the box. *)
Definition logit_leaf (d : nat) (neg pos : Z) (z row : list Z) : Z :=
  let contents := skipn 2 row in
  let self := (nth 1 row 0 - nth d contents 0 + sign_dot z contents)%Z in
  Z.max (abs_sum d contents) (Z.max (self + neg) (pos - self)).

(** What BOS exceeds a key by, at the trigger. *)
Definition bos_leaf (d : nat) (z row : list Z) : Z :=
  let contents := skipn 2 row in let ordinary := nth d contents 0%Z in
  (nth 0 row 0 - ordinary + abs_sum d contents + Z.max 0 (ordinary - nth 1 row 0))%Z.

(** What a key exceeds BOS by, at an ordinary token. *)
Definition key_leaf (d : nat) (z row : list Z) : Z :=
  let contents := skipn 2 row in
  (Z.max (nth d contents 0) (nth 1 row 0) - nth 0 row 0 + abs_sum d contents)%Z.

(** The three extents (h, bos, key), in units of 1 / score_denominator. *)
Record extent := Extent { spread : Z; bos_excess : Z; key_excess : Z }.

Definition by_vertices (d : nat) (M : list (list Z)) : extent :=
  let neg := squares (-1) d M in let pos := squares 1 d M in
  Extent (query_maximum (logit_leaf d neg pos) d M 1)
         (query_maximum (bos_leaf d) d M 1)
         (query_maximum (key_leaf d) d M (d + 2)).

(** Without enumeration: every entry of x^T A is within the sum of the absolute values of its slopes. *)
Definition column_sum (d : nat) (M : list (list Z)) (f : list Z -> Z) : Z :=
  fold_right (fun row sum => (Z.abs (f row) + sum)%Z) 0%Z (firstn d (skipn 2 M)).
Definition norm_sum (d : nat) (M : list (list Z)) (p : nat) : Z :=
  (abs_sum d (skipn 2 (nth p M nil)) +
   fold_right (fun row sum => (abs_sum d (skipn 2 row) + sum)%Z) 0%Z (firstn d (skipn 2 M)))%Z.
(** The largest (x^T A)_s - (x^T A)_t. *)
Definition difference_sum (d : nat) (M : list (list Z)) (p s t : nat) : Z :=
  (entry M p s - entry M p t + column_sum d M (fun row => nth s row 0 - nth t row 0))%Z.

Definition by_sums (d : nat) (M : list (list Z)) : extent :=
  let trigger := norm_sum d M 1 in let ordinary := norm_sum d M (d + 2) in
  Extent (trigger + Z.max 0 (Z.max (difference_sum d M 1 1 (d + 2)) (difference_sum d M 1 (d + 2) 1)))%Z
         (trigger + Z.max (difference_sum d M 1 0 (d + 2)) (difference_sum d M 1 0 1))%Z
         (ordinary + Z.max (difference_sum d M (d + 2) (d + 2) 0) (difference_sum d M (d + 2) 1 0))%Z.

(** Output coordinate r: |V e_B|, the range of the values, their distance from V e_B, and from the token;
    in units of 1 / value_denominator = 1 / [unit]. *)
Record value_row := ValueRow { first_error : Z; value_range : Z; bos_offset : Z; deviation : Z }.

Definition unit_row (r : nat) (u : Z) : list Z := (repeat 0%Z r ++ u :: nil)%list.
Definition value_row_of (d r : nat) (u : Z) (v : list Z) : value_row :=
  let b := nth 0 v 0%Z in let t := nth 1 v 0%Z in let n := nth (d + 2) v 0%Z in
  let s := abs_sum d (skipn 2 v) in
  let lo := (Z.min n t - s)%Z in let hi := (Z.max n t + s)%Z in
  let e := sub v (unit_row r u) in
  ValueRow (Z.abs b) (hi - lo)%Z (Z.max (Z.abs (b - lo)) (Z.abs (b - hi)))%Z
           (Z.max (Z.abs (nth (d + 2) e 0)) (Z.abs (nth 1 e 0)) + abs_sum d (skipn 2 e))%Z.

(** Whether every error in coordinate r is at most n / m. [bos], [key]: exponentials in units of 1 / one. *)
Definition row_check (L : Z) (u scores : Z) (h bos key : Z) (n m : Z) (v : value_row) : bool :=
  ((bos * bos_offset v * scores + value_range v * h * one + 2 * one * scores * deviation v) * m
     <=? n * (2 * one * scores * u))%Z &&
  ((first_error v * one + (L - 1) * key * bos_offset v) * m <=? n * (one * u))%Z.

Fixpoint rows_check (check : nat -> list Z -> bool) (count r : nat) (M : list (list Z)) : bool :=
  match count with
  | O => true
  | S count' => check r (nth 0 M nil) && rows_check check count' (S r) (tl M)
  end.

Definition gruess_check (level : nat -> list (list Z) -> extent) (L d : nat) (w : weights) (n m : Z) : bool :=
  let e := level d (score_matrix d w) in
  let scores := score_denominator w in
  let u := value_denominator w in
  match exp_upper (bos_excess e) scores, exp_upper (key_excess e) scores with
  | Some bos, Some key =>
      (0 <? m)%Z && (1 <=? L)%nat &&
      rows_check (fun r v => row_check (Z.of_nat L) u scores (spread e) bos key n m (value_row_of d r u v))
        (d + 3) 0 (value_matrix d w)
  | _, _ => false
  end.

(** ** The extents are right *)

Definition sound_level (level : nat -> list (list Z) -> extent) : Prop := forall d A M u,
  (forall r s, (r < d + 3)%nat -> (s < d + 3)%nat -> A r s = IZR (entry M r s) * u) -> 0 < u ->
  (d + 2 <= length M)%nat ->
  extents d A (IZR (spread (level d M)) * u) (IZR (bos_excess (level d M)) * u) (IZR (key_excess (level d M)) * u).

Lemma nth_skip2 m (row : list Z) : nth m (skipn 2 row) 0%Z = nth (2 + m) row 0%Z.
Proof. apply nth_skip. Qed.

Lemma norm_value d (f : nat -> R) row u : 0 < u ->
  (forall s, (s < d + 3)%nat -> f s = IZR (nth s row 0%Z) * u) ->
  ssum d (fun m => Rabs (f (2 + m)%nat)) = IZR (abs_sum d (skipn 2 row)) * u.
Proof.
  intros Hu Hf. rewrite abs_sum_value, Rmult_comm, <- ssum_scal. apply ssum_ext. intros m Hm.
  rewrite Hf, nth_skip2, Rabs_mult, (Rabs_pos_eq u) by (lra || lia). ring.
Qed.

Lemma square_sum_value sigma d M : (d + 2 <= length M)%nat ->
  IZR (squares sigma d M) = ssum d (fun m => Rmax 0 (IZR (sigma * entry M (2 + m) (2 + m)))).
Proof.
  intros HM. unfold squares.
  assert (H : forall rows m, IZR (square_sum sigma m rows) =
    ssum (length rows) (fun k => Rmax 0 (IZR (sigma * entry rows k (m + k))))).
  { induction rows as [|row rest IH]; intros m; [reflexivity|].
    cbn [square_sum length]. rewrite ssum_first, plus_IZR, IH. f_equal.
    - unfold entry. cbn [nth]. replace (m + 0)%nat with m by lia.
      destruct (Z.max_spec 0 (sigma * nth m row 0))%Z as [[H ->]|[H ->]].
      + rewrite Rmax_right by (apply IZR_le; lia). reflexivity.
      + rewrite Rmax_left by (apply IZR_le; lia). reflexivity.
    - apply ssum_ext. intros k _. unfold entry. cbn [nth]. replace (m + S k)%nat with (S m + k)%nat by lia. reflexivity. }
  rewrite H, firstn_length, skipn_length. replace (Nat.min d (length M - 2)) with d by lia.
  apply ssum_ext. intros k Hk. unfold entry. rewrite nth_below, nth_skip by assumption. reflexivity.
Qed.

(** The self score's distance from x^T A e_N, with the squares bent so that it lies below its chords. *)
Definition bent_self (d : nat) (A : mat) (sigma : R) (c : nat -> R) : R :=
  sigma * (query_row d A 1 c 1 - query_row d A 1 c (d + 2)) +
  (ssum d (fun m => sigma * (c m * A 1%nat (2 + m)%nat)) +
   ssum d (fun m => ssum d (fun k => c k * c m *
     (sigma * A (2 + k)%nat (2 + m)%nat + if (k =? m)%nat then Rmax 0 (- sigma * A (2 + m)%nat (2 + m)%nat) else 0)))).

Lemma bent_self_value d A sigma c :
  bent_self d A sigma c = sigma * (key_score d A 1 c 1 c - query_row d A 1 c (d + 2)) +
    ssum d (fun m => c m * c m * Rmax 0 (- sigma * A (2 + m)%nat (2 + m)%nat)).
Proof.
  unfold bent_self, key_score.
  assert (E : ssum d (fun m => query_row d A 1 c (2 + m)%nat * c m) =
    ssum d (fun m => c m * A 1%nat (2 + m)%nat) + ssum d (fun m => ssum d (fun k => c k * c m * A (2 + k)%nat (2 + m)%nat))).
  { rewrite <- ssum_plus. apply ssum_ext. intros m _. unfold query_row.
    rewrite Rmult_plus_distr_r, (Rmult_comm (ssum _ _)), <- ssum_scal. f_equal; [ring|].
    apply ssum_ext. intros. ring. }
  rewrite E, ssum_scal.
  assert (E2 : ssum d (fun m => ssum d (fun k => c k * c m *
     (sigma * A (2 + k)%nat (2 + m)%nat + if (k =? m)%nat then Rmax 0 (- sigma * A (2 + m)%nat (2 + m)%nat) else 0))) =
    sigma * ssum d (fun m => ssum d (fun k => c k * c m * A (2 + k)%nat (2 + m)%nat)) +
    ssum d (fun m => c m * c m * Rmax 0 (- sigma * A (2 + m)%nat (2 + m)%nat))).
  { rewrite <- ssum_scal, <- ssum_plus. apply ssum_ext. intros m Hm.
    rewrite <- ssum_scal.
    assert (S1 : ssum d (fun k => if (k =? m)%nat then c m * c m * Rmax 0 (- sigma * A (2 + m)%nat (2 + m)%nat) else 0) =
      c m * c m * Rmax 0 (- sigma * A (2 + m)%nat (2 + m)%nat)).
    { assert (H := bsum_indicator 0 (d - 1) m (fun _ => c m * c m * Rmax 0 (- sigma * A (2 + m)%nat (2 + m)%nat)) ltac:(lia)).
      unfold bsum in H. replace (S (d - 1) - 0)%nat with d in H by lia. exact H. }
    rewrite <- S1, <- ssum_plus. apply ssum_ext. intros k Hk.
    destruct (Nat.eqb_spec k m) as [->|]; ring. }
  rewrite E2. ring.
Qed.

Lemma bent_self_above d A sigma c :
  sigma * (key_score d A 1 c 1 c - query_row d A 1 c (d + 2)) <= bent_self d A sigma c.
Proof.
  rewrite bent_self_value.
  assert (0 <= ssum d (fun m => c m * c m * Rmax 0 (- sigma * A (2 + m)%nat (2 + m)%nat))); [|lra].
  apply ssum_nonneg. intros m _. apply Rmult_le_pos; [|apply Rmax_l].
  assert (H := Rle_0_sqr (c m)). exact H.
Qed.

Lemma affine_difference d f g : box_affine d f -> box_affine d g -> box_affine d (fun c => f c - g c).
Proof. intros Hf Hg c m Hc Hm. rewrite (Hf c m Hc Hm), (Hg c m Hc Hm) at 1. ring. Qed.

Lemma bent_self_convex d A sigma : box_convex d (bent_self d A sigma).
Proof.
  unfold bent_self. apply convex_plus; [|apply convex_plus].
  - apply convex_affine, affine_scal, affine_difference; apply query_row_affine.
  - apply convex_ssum. intros m _. apply convex_affine, affine_scal.
    apply (affine_ext d _ (fun c => A 1%nat (2 + m)%nat * c m)); [intros; ring|].
    apply affine_scal, affine_coordinate.
  - apply convex_ssum. intros m _. apply convex_ssum. intros k _. apply convex_product.
    intros ->. rewrite Nat.eqb_refl. unfold Rmax. destruct Rle_dec; lra.
Qed.

Lemma vertex_square d v m : is_vertex d v -> (m < d)%nat -> v m * v m = 1.
Proof. intros Hv Hm. destruct (Hv m Hm) as [-> | ->]; lra. Qed.

(** At a vertex the bent self score is what [logit_leaf] computes. *)
Lemma bent_self_vertex d A M u v z row sigma :
  (forall r s, (r < d + 3)%nat -> (s < d + 3)%nat -> A r s = IZR (entry M r s) * u) -> 0 < u ->
  (d + 2 <= length M)%nat -> is_vertex d v -> is_signs d z -> (forall m, (m < d)%nat -> v m = content_of z m) ->
  (forall s, (s < d + 3)%nat -> query_row d A 1 v s = IZR (nth s row 0%Z) * u) ->
  bent_self d A (IZR sigma) v =
  IZR (sigma * (nth 1 row 0%Z - nth d (skipn 2 row) 0%Z + sign_dot z (skipn 2 row)) + squares (- sigma) d M) * u.
Proof.
  intros HA Hu HM Hv Hz Hvz Hrow. rewrite bent_self_value, plus_IZR, mult_IZR, plus_IZR, minus_IZR.
  rewrite square_sum_value, (sign_dot_value d) by assumption. unfold key_score.
  rewrite !Hrow, nth_skip2 by lia. replace (2 + d)%nat with (d + 2)%nat by lia.
  rewrite (ssum_ext d (fun m => query_row d A 1 v (2 + m)%nat * v m)
    (fun m => u * (content_of z m * IZR (nth m (skipn 2 row) 0%Z)))).
  2:{ intros m Hm. rewrite Hrow, nth_skip2, Hvz by lia. ring. }
  rewrite ssum_scal.
  rewrite (ssum_ext d (fun m => v m * v m * _)
    (fun m => u * Rmax 0 (IZR (- sigma * entry M (2 + m) (2 + m))))).
  2:{ intros m Hm. rewrite (vertex_square d) by assumption. rewrite HA by lia.
      rewrite mult_IZR, opp_IZR.
      replace (Rmax 0 (- IZR sigma * (IZR (entry M (2 + m) (2 + m)) * u)))
        with (Rmax (u * 0) (u * (- IZR sigma * IZR (entry M (2 + m) (2 + m))))) by (f_equal; ring).
      rewrite RmaxRmult by lra. ring. }
  rewrite ssum_scal. ring.
Qed.

(** From the enumerated vertices to the box. *)
Lemma box_from_vertices d A M u :
  (forall r s, (r < d + 3)%nat -> (s < d + 3)%nat -> A r s = IZR (entry M r s) * u) -> 0 < u ->
  (d + 2 <= length M)%nat ->
  forall p leaf (f : content -> R), (p < d + 3)%nat -> box_convex d f ->
    (forall v z row, is_vertex d v -> is_signs d z -> (forall m, (m < d)%nat -> v m = content_of z m) ->
       (forall s, (s < d + 3)%nat -> query_row d A p v s = IZR (nth s row 0%Z) * u) ->
       f v <= IZR (leaf z row) * u) ->
    forall c, in_box d c -> f c <= IZR (query_maximum leaf d M p) * u.
Proof.
  intros HA Hu HM p leaf f Hp Hf Hleaf. apply (box_maximum d f); [assumption|].
  intros v Hv. destruct (query_maximum_bound leaf d A M u p v HA HM Hp Hv) as [z [row [Hz [Hvz [H1 H2]]]]].
  eapply Rle_trans; [apply (Hleaf v z row Hv Hz Hvz H2)|]. apply Rmult_le_compat_r; [lra|]. apply IZR_le. exact H1.
Qed.

Theorem by_vertices_sound : sound_level by_vertices.
Proof.
  intros d A M u HA Hu HM.
  set (e := by_vertices d M).
  assert (Q := box_from_vertices d A M u HA Hu HM).
  set (lleaf := logit_leaf d (squares (-1) d M) (squares 1 d M)).
  intros c Hc.
  assert (Hl : query_norm d A 1 c <= IZR (spread e) * u).
  { apply (Q 1%nat lleaf (query_norm d A 1)); [lia|apply query_norm_convex| |assumption].
    intros v z row Hv Hz Hvz Hrow. unfold query_norm. rewrite (norm_value d _ row u Hu Hrow).
    apply Rmult_le_compat_r; [lra|]. apply IZR_le, Z.le_max_l. }
  assert (Hs1 : bent_self d A (IZR 1) c <= IZR (spread e) * u).
  { apply (Q 1%nat lleaf (bent_self d A (IZR 1))); [lia|apply bent_self_convex| |assumption].
    intros v z row Hv Hz Hvz Hrow. rewrite (bent_self_vertex d A M u v z row 1) by assumption.
    apply Rmult_le_compat_r; [lra|]. apply IZR_le. unfold lleaf, logit_leaf. cbv zeta.
    change (Z.opp 1) with (-1)%Z. lia. }
  assert (Hs2 : bent_self d A (IZR (-1)) c <= IZR (spread e) * u).
  { apply (Q 1%nat lleaf (bent_self d A (IZR (-1)))); [lia|apply bent_self_convex| |assumption].
    intros v z row Hv Hz Hvz Hrow. rewrite (bent_self_vertex d A M u v z row (-1)) by assumption.
    apply Rmult_le_compat_r; [lra|]. apply IZR_le. unfold lleaf, logit_leaf. cbv zeta.
    change (Z.opp (-1)) with 1%Z. lia. }
  assert (Hb : query_row d A 1 c 0 - query_row d A 1 c (d + 2) + query_norm d A 1 c +
    Rmax 0 (query_row d A 1 c (d + 2) - query_row d A 1 c 1) <= IZR (bos_excess e) * u).
  { apply (Q 1%nat (bos_leaf d) (fun c => query_row d A 1 c 0 - query_row d A 1 c (d + 2) + query_norm d A 1 c +
      Rmax 0 (query_row d A 1 c (d + 2) - query_row d A 1 c 1))); [lia| | |assumption].
    - apply convex_plus; [apply convex_plus|apply convex_Rmax].
      + apply convex_affine, affine_difference; apply query_row_affine.
      + apply query_norm_convex.
      + apply convex_affine, affine_const.
      + apply convex_affine, affine_difference; apply query_row_affine.
    - intros v z row Hv Hz Hvz Hrow. unfold query_norm. rewrite (norm_value d _ row u Hu Hrow), !Hrow by lia.
      unfold bos_leaf. rewrite nth_skip2. replace (2 + d)%nat with (d + 2)%nat by lia.
      rewrite !plus_IZR, minus_IZR.
      assert (H : Rmax 0 (IZR (nth (d + 2) row 0%Z) * u - IZR (nth 1 row 0%Z) * u)
                  <= IZR (Z.max 0 (nth (d + 2) row 0%Z - nth 1 row 0%Z)) * u).
      { apply Rmax_lub.
        - apply Rmult_le_pos; [|lra]. apply (IZR_le 0). lia.
        - rewrite <- Rmult_minus_distr_r, <- minus_IZR. apply Rmult_le_compat_r; [lra|]. apply IZR_le. lia. }
      lra. }
  assert (Hk : Rmax (query_row d A (d + 2) c (d + 2)) (query_row d A (d + 2) c 1) - query_row d A (d + 2) c 0 +
    query_norm d A (d + 2) c <= IZR (key_excess e) * u).
  { apply (Q (d + 2)%nat (key_leaf d) (fun c => Rmax (query_row d A (d + 2) c (d + 2)) (query_row d A (d + 2) c 1) -
      query_row d A (d + 2) c 0 + query_norm d A (d + 2) c)); [lia| | |assumption].
    - apply convex_plus; [|apply query_norm_convex]. apply (convex_plus d _ (fun c => - query_row d A (d + 2) c 0)).
      + apply convex_Rmax; apply convex_affine, query_row_affine.
      + apply convex_affine. apply (affine_ext d _ (fun c => -1 * query_row d A (d + 2) c 0)); [intros; ring|].
        apply affine_scal, query_row_affine.
    - intros v z row Hv Hz Hvz Hrow. unfold query_norm. rewrite (norm_value d _ row u Hu Hrow), !Hrow by lia.
      unfold key_leaf. rewrite nth_skip2. replace (2 + d)%nat with (d + 2)%nat by lia.
      rewrite plus_IZR, minus_IZR.
      assert (H : Rmax (IZR (nth (d + 2) row 0%Z) * u) (IZR (nth 1 row 0%Z) * u)
                  <= IZR (Z.max (nth (d + 2) row 0%Z) (nth 1 row 0%Z)) * u).
      { apply Rmax_lub; apply Rmult_le_compat_r; try lra; apply IZR_le; lia. }
      lra. }
  assert (B1 := bent_self_above d A (IZR 1) c). assert (B2 := bent_self_above d A (IZR (-1)) c).
  assert (M1 := Rmax_l 0 (query_row d A 1 c (d + 2) - query_row d A 1 c 1)).
  assert (M2 := Rmax_r 0 (query_row d A 1 c (d + 2) - query_row d A 1 c 1)).
  assert (M3 := Rmax_l (query_row d A (d + 2) c (d + 2)) (query_row d A (d + 2) c 1)).
  assert (M4 := Rmax_r (query_row d A (d + 2) c (d + 2)) (query_row d A (d + 2) c 1)).
  split; [exact Hl|]. split; [apply Rabs_le; lra|]. split; [lra|]. split; [lra|]. split; lra.
Qed.
