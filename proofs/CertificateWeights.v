(** * Certificates: what concrete weights mean.

    Weights are stored as floats: integers times a power of two. A certificate names the four
    matrices W_Q, W_K, W_V, W_O of a head by their integers ("mantissas") and, for each matrix, one
    common power of two. This file says which head of Task.v they denote, and how a checker
    computes its two maps A = scale W_Q^T W_K and V = W_O W_V exactly, in integers. *)
From Coq Require Import Reals Lra Lia Arith ZArith List.
From Sinkproof Require Import Sums Task.
Open Scope R_scope.

(** ** The head that the weights denote *)

(** The matrix of the entries (mantissa) * 2^exponent; a list of rows. *)
Record dyadic := Dyadic { mantissas : list (list Z); exponent : Z }.

(** Row r, column s, both from 0; 0 outside. *)
Definition entry (M : list (list Z)) (r s : nat) : Z := nth s (nth r M nil) 0%Z.
Definition matrix (M : dyadic) : mat := fun r s =>
  IZR (entry (mantissas M) r s) * powerRZ 2 (exponent M).

(** The weights of a head, y = W x: W_Q, W_K, W_V have d_head rows and d + 3 columns, W_O has
    d + 3 rows and d_head columns. The scores q.k are multiplied by a rational number, the scale. *)
Record weights := Weights {
  W_Q : dyadic; W_K : dyadic; W_V : dyadic; W_O : dyadic;
  scale_numerator : Z; scale_denominator : positive }.

(** A = scale W_Q^T W_K. *)
Definition score_map (w : weights) : mat := fun r s =>
  IZR (scale_numerator w) / IZR (Zpos (scale_denominator w)) *
  ssum (length (mantissas (W_Q w))) (fun t => matrix (W_Q w) t r * matrix (W_K w) t s).

(** V = W_O W_V. *)
Definition value_map (w : weights) : mat := fun r s =>
  ssum (length (mantissas (W_V w))) (fun t => matrix (W_O w) r t * matrix (W_V w) t s).

(** Its attention and its output, as a softmax head and as a ReLU head. *)
Definition softmax_attention_of (d : nat) (w : weights) : attention :=
  softmax (bilinear d (score_map w) (token d)).
Definition softmax_head_of (d : nat) (w : weights) : seqmap :=
  softmax_head d (score_map w) (value_map w).
Definition relu_attention_of (d : nat) (w : weights) : attention :=
  relu_attention (bilinear d (score_map w) (token d)).
Definition relu_head_of (d : nat) (w : weights) : seqmap :=
  relu_head d (score_map w) (value_map w).

(** What certificates state of a head with these weights, for sequences of length L. *)

(** On every instance the leak is at most q at every non-trigger position i >= 2. *)
Definition leak_at_most (L d : nat) (w : weights) (q : R) : Prop :=
  forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
  leak (softmax_attention_of d w) I i <= q.

(** The worst-case loss Lambda is at most q. *)
Definition worst_case_loss_at_most (L d : nat) (M : seqmap) (q : R) : Prop :=
  forall Lambda, worst_case_loss L d (target d) M Lambda -> Lambda <= q.

(** ** The same maps in integers *)

Fixpoint dot (u v : list Z) : Z :=
  match u, v with
  | (a :: u')%list, (b :: v')%list => (a * b + dot u' v')%Z
  | _, _ => 0%Z
  end.

Definition column (M : list (list Z)) (s : nat) : list Z := map (fun row => nth s row 0%Z) M.
Definition columns (n : nat) (M : list (list Z)) : list (list Z) := map (column M) (seq 0 n).

(** [products c us vs]: the matrix of all c * (u . v). *)
Definition products (c : Z) (us vs : list (list Z)) : list (list Z) :=
  map (fun u => map (fun v => (c * dot u v)%Z) vs) us.

(** 2^e as numerator and denominator. *)
Definition power_numerator (e : Z) : Z := (2 ^ Z.max 0 e)%Z.
Definition power_denominator (e : Z) : Z := (2 ^ Z.max 0 (- e))%Z.

(** A = score_matrix / score_denominator. *)
Definition score_exponent (w : weights) : Z := (exponent (W_Q w) + exponent (W_K w))%Z.
Definition score_matrix (d : nat) (w : weights) : list (list Z) :=
  products (scale_numerator w * power_numerator (score_exponent w))
    (columns (d + 3) (mantissas (W_Q w))) (columns (d + 3) (mantissas (W_K w))).
Definition score_denominator (w : weights) : Z :=
  (Zpos (scale_denominator w) * power_denominator (score_exponent w))%Z.

(** V = value_matrix / value_denominator. *)
Definition value_exponent (w : weights) : Z := (exponent (W_O w) + exponent (W_V w))%Z.
Definition value_matrix (d : nat) (w : weights) : list (list Z) :=
  products (power_numerator (value_exponent w))
    (mantissas (W_O w)) (columns (d + 3) (mantissas (W_V w))).
Definition value_denominator (w : weights) : Z := power_denominator (value_exponent w).

Lemma power_denominator_pos e : (0 < power_denominator e)%Z.
Proof. unfold power_denominator. apply Z.pow_pos_nonneg; lia. Qed.

Lemma IZR_power2 n : (0 <= n)%Z -> IZR (2 ^ n) = powerRZ 2 n.
Proof.
  intros Hn. destruct n as [|p|p]; [reflexivity| |lia].
  rewrite <- (Z2Nat.id (Zpos p)) by lia. rewrite <- pow_IZR, <- pow_powerRZ. reflexivity.
Qed.

Lemma power2_parts e : powerRZ 2 e = IZR (power_numerator e) / IZR (power_denominator e).
Proof.
  unfold power_numerator, power_denominator.
  rewrite !IZR_power2 by lia. unfold Rdiv. rewrite <- powerRZ_neg'.
  rewrite <- powerRZ_add by lra. f_equal. lia.
Qed.

Lemma score_denominator_pos w : (0 < score_denominator w)%Z.
Proof. unfold score_denominator. pose proof (power_denominator_pos (score_exponent w)). lia. Qed.

Lemma value_denominator_pos w : (0 < value_denominator w)%Z.
Proof. apply power_denominator_pos. Qed.

Lemma ssum_scal n c f : ssum n (fun t => c * f t) = c * ssum n f.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma ssum_scal_r n c f : ssum n (fun t => f t * c) = ssum n f * c.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma ssum_Rabs n f : Rabs (ssum n f) <= ssum n (fun t => Rabs (f t)).
Proof. induction n; simpl; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|]. lra. Qed.

Lemma ssum_plus n f g : ssum n (fun t => f t + g t) = ssum n f + ssum n g.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma ssum_exchange n n' (f : nat -> nat -> R) :
  ssum n (fun t => ssum n' (fun u => f t u)) = ssum n' (fun u => ssum n (fun t => f t u)).
Proof.
  induction n; simpl; [|rewrite IHn, <- ssum_plus; reflexivity].
  induction n'; simpl; [reflexivity|]. rewrite <- IHn'. ring.
Qed.

Lemma ssum_indicator n p f : (p < n)%nat -> ssum n (fun t => if (t =? p)%nat then f t else 0) = f p.
Proof.
  intros Hp. assert (E := bsum_indicator 0 (n - 1) p f). unfold bsum in E.
  replace (S (n - 1) - 0)%nat with n in E by lia. apply E. lia.
Qed.

(** A dot product is a sum as soon as one of the lists ends. *)
Lemma dot_sum u v h : (length u <= h)%nat \/ (length v <= h)%nat ->
  IZR (dot u v) = ssum h (fun t => IZR (nth t u 0%Z) * IZR (nth t v 0%Z)).
Proof.
  assert (Z0 : forall (f : nat -> R) n, (forall t, f t = 0) -> ssum n f = 0).
  { intros f n H. induction n; simpl; [reflexivity|]. rewrite IHn, H. ring. }
  assert (first : forall n f, ssum (S n) f = f 0%nat + ssum n (fun t => f (S t))).
  { induction n; intros f; [simpl; ring|].
    change (ssum (S (S n)) f) with (ssum (S n) f + f (S n)). rewrite IHn. simpl. ring. }
  revert v h. induction u as [|a u IH]; intros v h H.
  - simpl. symmetry. apply Z0. intros t. destruct t; simpl; ring.
  - destruct v as [|b v].
    + simpl. symmetry. apply Z0. intros t. destruct t; simpl; ring.
    + destruct h as [|h]; [simpl in H; lia|]. rewrite first. cbn [dot nth].
      rewrite plus_IZR, mult_IZR, (IH v h); [reflexivity|]. simpl in H. lia.
Qed.

Lemma nth_column M t s : nth t (column M s) 0%Z = entry M t s.
Proof.
  unfold column, entry. revert t. induction M as [|row M IH]; intros [|t]; simpl; try reflexivity.
  - destruct s; reflexivity.
  - destruct s; reflexivity.
  - apply IH.
Qed.

Lemma length_column M s : length (column M s) = length M.
Proof. apply map_length. Qed.

Lemma nth_map_seq (T : Type) (f : nat -> T) n k (x : T) : (k < n)%nat -> nth k (map f (seq 0 n)) x = f k.
Proof.
  intros H. rewrite (nth_indep _ x (f 0%nat)) by (rewrite map_length, seq_length; assumption).
  rewrite map_nth, seq_nth by assumption. reflexivity.
Qed.

Lemma nth_columns n M s : (s < n)%nat -> nth s (columns n M) nil = column M s.
Proof. apply nth_map_seq. Qed.

Lemma entry_products c us vs r s : entry (products c us vs) r s = (c * dot (nth r us nil) (nth s vs nil))%Z.
Proof.
  unfold entry, products. revert r s. induction us as [|u us IH]; intros r s.
  - destruct r, s; simpl; ring.
  - destruct r as [|r]; [|apply IH]. cbn [map nth]. clear IH. revert s. induction vs as [|v vs IHv]; intros s.
    + destruct s, u; simpl; ring.
    + destruct s as [|s]; [reflexivity|]. apply IHv.
Qed.

(** ** The integers are right *)

Lemma score_map_value d w r s : (r < d + 3)%nat -> (s < d + 3)%nat ->
  score_map w r s = IZR (entry (score_matrix d w) r s) / IZR (score_denominator w).
Proof.
  intros Hr Hs. unfold score_matrix, score_denominator. rewrite entry_products, !nth_columns by assumption.
  rewrite !mult_IZR, (dot_sum _ _ (length (mantissas (W_Q w)))) by (left; rewrite length_column; lia).
  unfold score_map, matrix.
  rewrite (ssum_ext _ _ (fun t => powerRZ 2 (score_exponent w) *
    (IZR (entry (mantissas (W_Q w)) t r) * IZR (entry (mantissas (W_K w)) t s)))).
  2:{ intros t _. unfold score_exponent. rewrite powerRZ_add by lra. ring. }
  rewrite (ssum_ext _ (fun t => IZR (nth t _ _) * _)
    (fun t => IZR (entry (mantissas (W_Q w)) t r) * IZR (entry (mantissas (W_K w)) t s))).
  2:{ intros t _. rewrite !nth_column. reflexivity. }
  rewrite ssum_scal, power2_parts. field. split; apply not_0_IZR; [|lia].
  pose proof (power_denominator_pos (score_exponent w)). lia.
Qed.

Lemma value_map_value d w r s : (s < d + 3)%nat ->
  value_map w r s = IZR (entry (value_matrix d w) r s) / IZR (value_denominator w).
Proof.
  intros Hs. unfold value_matrix, value_denominator. rewrite entry_products, nth_columns by assumption.
  rewrite mult_IZR, (dot_sum _ _ (length (mantissas (W_V w)))) by (right; rewrite length_column; lia).
  unfold value_map, matrix.
  rewrite (ssum_ext _ _ (fun t => powerRZ 2 (value_exponent w) *
    (IZR (entry (mantissas (W_O w)) r t) * IZR (entry (mantissas (W_V w)) t s)))).
  2:{ intros t _. unfold value_exponent. rewrite powerRZ_add by lra. ring. }
  rewrite (ssum_ext _ (fun t => IZR (nth t _ _) * _)
    (fun t => IZR (entry (mantissas (W_O w)) r t) * IZR (entry (mantissas (W_V w)) t s))).
  2:{ intros t _. rewrite nth_column. reflexivity. }
  rewrite ssum_scal, power2_parts. field. apply not_0_IZR.
  pose proof (power_denominator_pos (value_exponent w)). lia.
Qed.
