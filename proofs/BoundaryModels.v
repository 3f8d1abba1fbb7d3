(** * The extra model kinds of section 6, and facts that several rows share.

    Multi-head layers and residual stacks are defined in Task. Here: softmax with
    extra mass in the denominator, output gates, a clipped read-out. In every row
    q = e^K, and V_W ([VW0]) is the identity on W with V_W e_B = 0. *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task Rows.
Open Scope R_scope.

(** ** Definitions *)

(** Softmax with an extra mass x > 0 in the denominator: e^{s_ik} / (x + sum e^s).
    The rows sum to less than 1. *)
Definition softmax_plus (x : R) (s : scores) : attention := fun I i k =>
  if (k <=? i)%nat then exp (s I i k) / (x + bsum 1 i (fun k' => exp (s I i k'))) else 0.

(** Softmax-off-by-one: the extra mass is 1. *)
Definition softmax_off_by_one (s : scores) : attention := softmax_plus 1 s.

(** A learned sink logit b: the extra mass is e^b. *)
Definition softmax_sink_logit (b : R) (s : scores) : attention := softmax_plus (exp b) s.

(** The rows of [softmax_plus] sum to less than 1 (it is otherwise nonnegative and causal). *)
Lemma softmax_plus_sum x s I i : 0 < x -> (1 <= i)%nat ->
  (forall k, 0 <= softmax_plus x s I i k) /\ (forall k, (i < k)%nat -> softmax_plus x s I i k = 0) /\
  bsum 1 i (fun k => softmax_plus x s I i k) < 1.
Proof.
  intros Hx Hi. assert (Hp := softmax_denominator_pos s I i Hi).
  set (S := bsum 1 i (fun k => exp (s I i k))) in *. split; [|split].
  - intros k. unfold softmax_plus. destruct (k <=? i)%nat; [|lra].
    apply Rlt_le, Rdiv_lt_0_compat; [apply exp_pos|fold S; lra].
  - intros k Hk. unfold softmax_plus. destruct (Nat.leb_spec k i); [lia|reflexivity].
  - rewrite (bsum_ext 1 i _ (fun k => exp (s I i k) * / (x + S))).
    + rewrite bsum_scal_r. fold S. apply Rmult_lt_reg_r with (x + S); [lra|].
      rewrite Rmult_assoc, Rinv_l by lra. lra.
    + intros k Hk. unfold softmax_plus. destruct (Nat.leb_spec k i); [reflexivity|lia].
Qed.

Definition sigmoid (x : R) : R := / (1 + exp (- x)).

(** A model whose output at position i is multiplied by sigmoid(g . x_i). *)
Definition gated (d : nat) (g : vec) (M : seqmap) : seqmap := fun I i r =>
  sigmoid (dot d g (token d I i)) * M I i r.

(** x clipped to the interval [lo, hi]. *)
Definition clip (lo hi x : R) : R := Rmax lo (Rmin hi x).

(** Read-out: each coordinate z_r of the output is clipped to [-m z_T, +m z_T],
    where z_T is its trigger coordinate. *)
Definition clip_readout (m : R) (M : seqmap) : seqmap := fun I i r =>
  clip (- (m * M I i 1%nat)) (m * M I i 1%nat) (M I i r).

(** ** Softmax rows in which only the trigger query treats BOS differently *)

(** A = K e_T e_B^T; K may be negative. *)
Definition A_trigger_bos (K : R) : mat := mscal K (outer eT eB).

Section TriggerBos.
Variables (d : nat) (K : R) (I : inst).
Hypothesis Hj : (3 <= trig I)%nat.
Let a := softmax (bilinear d (A_trigger_bos K) (token d)).

Lemma trigger_bos_off i k : i <> trig I -> (1 <= k <= i)%nat -> a I i k = / INR i.
Proof using Hj.
  intros Hne Hk. assert (Hi : 0 < INR i) by (apply lt_0_INR; lia).
  destruct (softmax_two_level (bilinear d (A_trigger_bos K) (token d)) I i 1 1) as [H1 H].
  - lia.
  - rewrite <- exp_0. unfold A_trigger_bos. f_equal. score; ring.
  - intros k' Hk'. rewrite <- exp_0. unfold A_trigger_bos. f_equal. score; ring.
  - unfold a. rewrite INR_pred in H1, H by lia. destruct (Nat.eq_dec k 1) as [->|Hk1].
    + rewrite H1. field. lra.
    + rewrite H by lia. field. lra.
Qed.

Lemma trigger_bos_at :
  a I (trig I) 1%nat = exp K / (exp K + INR (trig I - 1)) /\
  forall k, (2 <= k <= trig I)%nat -> a I (trig I) k = 1 / (exp K + INR (trig I - 1)).
Proof using Hj.
  unfold a. rewrite <- (Rmult_1_r (INR (trig I - 1))). apply softmax_two_level.
  - lia.
  - unfold A_trigger_bos. f_equal. score; ring.
  - intros k Hk. rewrite <- exp_0. unfold A_trigger_bos. f_equal. score; ring.
Qed.
End TriggerBos.

(** The same with -K: the trigger avoids BOS. *)
Lemma trigger_avoids_bos_at d K I : (3 <= trig I)%nat ->
  let a := softmax (bilinear d (A_trigger_bos (- K)) (token d)) in
  a I (trig I) 1%nat = 1 / (1 + INR (trig I - 1) * exp K) /\
  forall k, (2 <= k <= trig I)%nat -> a I (trig I) k = exp K / (1 + INR (trig I - 1) * exp K).
Proof.
  intros Hj a. assert (Hq := exp_pos K). assert (Hn := pos_INR (trig I - 1)).
  assert (Hp : 0 <= INR (trig I - 1) * exp K) by (apply Rmult_le_pos; lra).
  destruct (trigger_bos_at d (- K) I Hj) as [H1 H]. rewrite exp_Ropp in H1, H.
  unfold a. split.
  - rewrite H1. field. lra.
  - intros k Hk. rewrite H by assumption. field. lra.
Qed.

(** ** Order *)

(** 1 <= e^K for K >= 0. *)
Lemma exp_ge_1 K : 0 <= K -> 1 <= exp K.
Proof. intros H. destruct H as [H| <-]; [assert (H1 := exp_ineq1 K); lra|rewrite exp_0; lra]. Qed.

Lemma Rdiv_le_iff a b c : 0 < b -> (a / b <= c <-> a <= c * b).
Proof.
  intros Hb. assert (E : a / b * b = a) by (field; lra). split; intros H.
  - apply (Rmult_le_compat_r b) in H; lra.
  - apply Rmult_le_reg_r with b; lra.
Qed.

Lemma Rdiv_le_cross a b c e : 0 < b -> 0 < e -> a * e <= c * b -> a / b <= c / e.
Proof.
  intros Hb He H. apply Rdiv_le_iff; [assumption|].
  apply Rmult_le_reg_r with e; [assumption|]. replace (c / e * b * e) with (c * b) by (field; lra). assumption.
Qed.

Lemma half_le_share n q : 2 <= n -> 0 < q -> / (1 + n * q) <= / (1 + 2 * q).
Proof.
  intros Hn Hq. apply Rinv_le_contravar; [lra|]. assert (2 * q <= n * q) by (apply Rmult_le_compat_r; lra). lra.
Qed.

(** "No sink": at every non-trigger position i >= 2 the BOS weight is at most its
    uniform share 1/i. *)
Definition bos_weight_at_most_uniform (L d : nat) (a : attention) : Prop :=
  forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I -> sink_weight a I i <= 1 / INR i.

(** ** Clipping *)

Lemma clip_id b x : Rabs x <= b -> clip (- b) b x = x.
Proof.
  intros H. assert (H1 := Rle_abs x). assert (H2 := Rle_abs (- x)). rewrite Rabs_Ropp in H2.
  unfold clip. rewrite Rmin_right by lra. apply Rmax_right. lra.
Qed.

Lemma clip_bound b x : 0 <= b -> Rabs (clip (- b) b x) <= b.
Proof.
  intros Hb. apply Rabs_le. unfold clip. split; [apply Rmax_l|].
  apply Rmax_lub; [lra|apply Rmin_l].
Qed.

Lemma clip_zero x : clip (- 0) 0 x = 0.
Proof.
  assert (H := clip_bound 0 x (Rle_refl 0)). apply Rle_antisym.
  - eapply Rle_trans; [apply Rle_abs|exact H].
  - assert (H1 := Rle_abs (- clip (- 0) 0 x)). rewrite Rabs_Ropp in H1. lra.
Qed.

Lemma clip_top b x : 0 <= b -> b <= x -> clip (- b) b x = b.
Proof. intros Hb H. unfold clip. rewrite Rmin_left by assumption. apply Rmax_right. lra. Qed.

(** For b >= 0 the clip is one hidden layer of two ReLU units. *)
Lemma clip_relu b x : 0 <= b -> clip (- b) b x = Rmax 0 (x + b) - Rmax 0 (x - b) - b.
Proof.
  intros Hb. unfold clip, Rmin. destruct (Rle_dec b x); unfold Rmax;
  repeat match goal with |- context [Rle_dec ?u ?v] => destruct (Rle_dec u v) end; lra.
Qed.
