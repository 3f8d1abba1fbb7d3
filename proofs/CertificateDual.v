(** * Certificate of a softmax head's worst-case loss: the dual bound, computed in integers.

    Besides the bound n / m an emitted file names two integers, which may be anything (the proof is for every choice): a, the quadratic multiplier
    alpha in units of 1 / score_denominator (best near 0.95 of the spread of [by_vertices]), and H, the largest |logit| allowed after
    the shift, in the same units (best near 1.1 of it).

      Lemma loss_check : dual_check L d head a H n m = true.
      Proof. vm_cast_no_check (eq_refl true). Qed.
      Theorem loss : worst_case_loss_at_most L d (softmax_head_of d head) (IZR n / IZR m).
      Proof. apply (loss_by_dual _ _ _ _ _ _ _ loss_check). Qed.

    The shift of a query's logits is chosen here, at each vertex: [shift]. *)
From Coq Require Import Reals Lra Lia Arith ZArith List.
From Sinkproof Require Import Sums Task CertificateWeights CertificateVertices CertificateExp CertificateScores.
From Sinkproof Require Import CertificateGruessReal CertificateGruess CertificateGruessSound CertificateDualCore CertificateDualReal.
Open Scope R_scope.

(** ** The checker. Unit of logits and values: y = 1 / (score_denominator * value_denominator); errors: y / fine. *)

Definition fine : Z := (2 ^ 12)%Z.

(** One output coordinate and sign: errors (values minus the token's own coordinate), values times alpha: of the contents, of N, of T;
    BOS' part of the sum over a row's keys; what logits within [limit] of N are fine for without looking closer; and what the mean at
    a vertex has to be at most. *)
Record dual_row := DualRow {
  errors : list Z; error_n : Z; error_t : Z; values : list Z; value_n : Z; value_t : Z;
  bos_part : Z; limit : Z; goal : Z }.

(** 4 alpha in units of y is [four]. The slope of the chord of q^2 / (4 alpha) on [0, q], rounded up, times [fine]. *)
Definition slope (four q : Z) : Z :=
  let cut := Z.max 0 (Z.log2 four - 40) in  (* 40 bits are enough *)
  ((Z.shiftr (Z.max 0 q) cut + 1) * fine / Z.shiftr four cut + 1)%Z.

(** Over a key's contents: the largest error + Q^2 / (4 alpha) where Q = qc + sum ps c >= 0. *)
Definition side (d : nat) (four : Z) (ws ps : list Z) (wn qc : Z) : Z :=
  let k := slope four (qc + abs_sum d ps) in
  (wn + k * qc + abs_sum d (add ws (map (Z.mul k) ps)))%Z.

(** What a vertex' query makes of all rows: its signs, logit slopes, their sum, and the self logit relative to N. *)
Record query := Query { signs : list Z; slopes : list Z; norm : Z; self : Z }.

Section Checker.
(** [most]: the largest number of keys besides BOS, L - 1. *)
Variables (d : nat) (most four H neg pos : Z).

(** BOS, the trigger ([self] at most) and J - 1 ordinary keys ([each] at most) stay within J times the goal, for 2 <= J <= most. *)
Definition mean_ok (bos self each goal : Z) : bool :=
  (bos + self + each <=? 2 * goal)%Z && (bos + self + (most - 1) * each <=? most * goal)%Z.

(** The conditions at a vertex, with its logits shifted by eps. *)
Definition shifted_ok (q : query) (row : dual_row) (eps : Z) : bool :=
  let ps := add (slopes q) (values row) in
  let qc := (eps + value_n row)%Z in
  let s := (eps + value_t row + sign_dot (signs q) (values row) + self q)%Z in
  let reach := Z.max 0 (Z.max (s + neg) (pos - s)) in
  let each := Z.max (side d four (errors row) ps (error_n row) qc) (side d four (errors row) (map Z.opp ps) (error_n row) (- qc)) in
  mean_ok (bos_part row) (error_t row + sign_dot (signs q) (errors row) + slope four reach * reach) each (goal row) &&
  (norm q + Z.abs eps <=? H)%Z && (self q + neg + eps <=? H)%Z && (pos - self q - eps <=? H)%Z.

(** The same without a shift, coarse. *)
Definition coarse_ok (q : query) (row : dual_row) : bool :=
  (Z.max (norm q) (Z.max (self q + neg) (pos - self q)) <=? limit row)%Z.

(** The shift balances the two sides. *)
Definition shift (q : query) (row : dual_row) : Z :=
  let ps := add (slopes q) (values row) in
  let plus := side d four (errors row) ps (error_n row) (value_n row) in
  let minus := side d four (errors row) (map Z.opp ps) (error_n row) (- value_n row) in
  let room := Z.max 0 (H - norm q) in
  Z.max (- room) (Z.min room ((minus - plus) / (2 * fine)))%Z.

Definition row_ok (q : query) (row : dual_row) : bool :=
  if coarse_ok q row then true else if shifted_ok q row 0 then true else shifted_ok q row (shift q row).

Definition query_of (u : Z) (z row : list Z) : query :=
  let contents := map (Z.mul u) (skipn 2 row) in
  Query z contents (abs_sum d contents) (u * (nth 1 row 0 - nth (d + 2) row 0) + sign_dot z contents)%Z.

Definition dual_leaf (u : Z) (rows : list dual_row) (z row : list Z) : Z :=
  let q := query_of u z row in if forallb (row_ok q) rows then 0%Z else 1%Z.
End Checker.

(** The row of an output coordinate with sign sg; v: its row of V, [unit]: its unit vector. The limit: with the reach q of a key's
    logit and alpha times its value, error + q^2 / (4 alpha) is within the goal. *)
Definition coarse_limit (most four H reach error bos g : Z) : Z :=
  let q := (Z.sqrt (Z.max 0 (g - bos / 2 - 1 - error) * four / fine) - 3 * four / fine)%Z in
  let key := (error + slope four q * q)%Z in
  if (mean_ok most bos key key g && (0 <=? q)%Z)%bool then Z.min H (q - reach)%Z else (-1)%Z.

Definition dual_row_of (d : nat) (most a su u H sg : Z) (unit v : list Z) (bos g : Z) : dual_row :=
  let e := map (Z.mul (fine * su * sg)) (sub v unit) in
  let w := map (Z.mul (a * sg)) v in
  DualRow (skipn 2 e) (nth (d + 2) e 0%Z) (nth 1 e 0%Z) (skipn 2 w) (nth (d + 2) w 0%Z) (nth 1 w 0%Z) bos
    (coarse_limit most (4 * a * u) H
       (Z.max (Z.abs (nth (d + 2) w 0)) (Z.abs (nth 1 w 0)) + abs_sum d (skipn 2 w))%Z
       (Z.max (nth (d + 2) e 0) (nth 1 e 0) + abs_sum d (skipn 2 e))%Z bos g) g.

Definition value_most (d : nat) (v : list Z) : Z :=
  (Z.max (Z.abs (nth (d + 2) v 0)) (Z.abs (nth 1 v 0)) + abs_sum d (skipn 2 v))%Z.

(** What is left of the bound n / m after the remainder, and BOS' part; in units of y. *)
Definition dual_goal (d : nat) (a su u H D n m : Z) (v : list Z) : Z :=
  let most := value_most d v in
  (n * (su * u) / m - (H * D / (4 * a * u) + 1) - (most * D / (2 * u) + 1) -
   (a * (most * most) * (H + D) / (4 * su * u * u) + 1))%Z.
Definition dual_bos (d : nat) (su bos : Z) (v : list Z) : Z :=
  (bos * (Z.abs (nth 0 v 0) + value_most d v) * su / one + 1)%Z.

(** (H^2/2) / (1 - H), rounded up. *)
Definition second_order (H unit : Z) : Z := (H * H / (2 * (unit - H)) + 1)%Z.

Fixpoint dual_rows (d : nat) (most a su u H D bos n m : Z) (count r : nat) (M : list (list Z)) : list dual_row :=
  match count with
  | O => nil
  | S count' =>
      let v := nth 0 M nil in let g := (fine * dual_goal d a su u H D n m v)%Z in let b := (fine * dual_bos d su bos v)%Z in
      let row sg := dual_row_of d most a su u H sg (unit_row r u) v b g in
      (row 1%Z :: row (-1)%Z :: dual_rows d most a su u H D bos n m count' (S r) (tl M))%list
  end.

Definition off_check (L : Z) (u : Z) (key : Z) (n m : Z) (v : value_row) : bool :=
  ((first_error v * one + (L - 1) * key * bos_offset v) * m <=? n * (one * u))%Z.

Definition dual_check (L d : nat) (w : weights) (a H n m : Z) : bool :=
  let M := score_matrix d w in
  let su := score_denominator w in let u := value_denominator w in
  let bos_most := query_maximum (bos_leaf d) d M 1 in
  let key_most := query_maximum (key_leaf d) d M (d + 2) in
  let Hy := (H * u)%Z in
  let D := second_order Hy (su * u) in
  let most := (Z.of_nat L - 1)%Z in
  match exp_upper bos_most su, exp_upper key_most su with
  | Some bos, Some key =>
      (0 <? m)%Z && (0 <? a)%Z && (3 <=? L)%nat && (0 <=? H)%Z && (Hy <? su * u)%Z && (0 <=? bos)%Z &&
      rows_check (fun r v => off_check (Z.of_nat L) u key n m (value_row_of d r u v)) (d + 3) 0 (value_matrix d w) &&
      (query_maximum (dual_leaf d most (4 * a * u) Hy (u * squares (-1) d M) (u * squares 1 d M) u
        (dual_rows d most a su u Hy D bos n m (d + 3) 0 (value_matrix d w))) d M 1 <=? 0)%Z
  | _, _ => false
  end.
