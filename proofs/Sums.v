(** * Finite sums of real numbers over an interval of indices.

    [bsum a b f] is f a + f (a+1) + ... + f b, and 0 when b < a. *)
From Coq Require Import Reals Lra Lia Arith.
Open Scope R_scope.

(** [ssum n f] is f 0 + ... + f (n-1). *)
Fixpoint ssum (n : nat) (f : nat -> R) : R :=
  match n with
  | O => 0
  | S n' => ssum n' f + f n'
  end.

Definition bsum (a b : nat) (f : nat -> R) : R :=
  ssum (S b - a) (fun k => f (a + k)%nat).

(** ** Shape of the range *)

Lemma ssum_ext n f g : (forall k, (k < n)%nat -> f k = g k) -> ssum n f = ssum n g.
Proof.
  induction n; simpl; intros H; [reflexivity|].
  rewrite IHn by (intros; apply H; lia). rewrite H by lia. reflexivity.
Qed.

Lemma bsum_ext a b f g :
  (forall k, (a <= k <= b)%nat -> f k = g k) -> bsum a b f = bsum a b g.
Proof. intros H. apply ssum_ext. intros k Hk. apply H. lia. Qed.

Lemma bsum_empty a b f : (b < a)%nat -> bsum a b f = 0.
Proof. intros H. unfold bsum. replace (S b - a)%nat with 0%nat by lia. reflexivity. Qed.

Lemma bsum_last a b f : (a <= S b)%nat -> bsum a (S b) f = bsum a b f + f (S b).
Proof.
  intros H. unfold bsum. replace (S (S b) - a)%nat with (S (S b - a)) by lia.
  cbn [ssum]. f_equal. f_equal. lia.
Qed.

Lemma bsum_single a f : bsum a a f = f a.
Proof.
  unfold bsum. replace (S a - a)%nat with 1%nat by lia. simpl.
  rewrite Nat.add_0_r. ring.
Qed.

Lemma bsum_S a b f : (a <= b)%nat -> bsum (S a) (S b) f = bsum a b (fun k => f (S k)).
Proof.
  intros H. unfold bsum. replace (S (S b) - S a)%nat with (S b - a)%nat by lia.
  apply ssum_ext. intros. f_equal.
Qed.

(** Induction on the upper end of a range. *)
Lemma bsum_ind a (P : nat -> Prop) :
  (forall b, (b < a)%nat -> P b) ->
  (forall b, (a <= S b)%nat -> P b -> P (S b)) -> (a = 0%nat -> P 0%nat) -> forall b, P b.
Proof.
  intros H0 HS Hz b. induction b.
  - destruct a; [apply Hz; reflexivity | apply H0; lia].
  - destruct (le_lt_dec a (S b)); [apply HS; assumption | apply H0; lia].
Qed.

Lemma bsum_first a b f : (a <= b)%nat -> bsum a b f = f a + bsum (S a) b f.
Proof.
  revert b. apply (bsum_ind a (fun b => (a <= b)%nat -> bsum a b f = f a + bsum (S a) b f)).
  - intros; lia.
  - intros b Hb IH _. destruct (Nat.eq_dec a (S b)) as [->|Hne].
    + rewrite bsum_single, (bsum_empty (S (S b))) by lia. ring.
    + rewrite (bsum_last a) by lia. rewrite (bsum_last (S a)) by lia.
      rewrite IH by lia. ring.
  - intros -> _. rewrite bsum_single, bsum_empty by lia. ring.
Qed.

(** Split a range in two. *)
Lemma bsum_split a m b f :
  (a <= S m)%nat -> (m <= b)%nat -> bsum a b f = bsum a m f + bsum (S m) b f.
Proof.
  intros Ham. induction b; intros Hm.
  - replace m with 0%nat by lia. rewrite (bsum_empty 1 0) by lia. ring.
  - destruct (Nat.eq_dec m (S b)) as [->|Hne].
    + rewrite (bsum_empty (S (S b))) by lia. ring.
    + rewrite (bsum_last a) by lia. rewrite (bsum_last (S m)) by lia.
      rewrite IHb by lia. ring.
Qed.

(** ** Linearity *)

Lemma bsum_plus a b f g : bsum a b (fun k => f k + g k) = bsum a b f + bsum a b g.
Proof. unfold bsum. induction (S b - a)%nat; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma bsum_minus a b f g : bsum a b (fun k => f k - g k) = bsum a b f - bsum a b g.
Proof. unfold bsum. induction (S b - a)%nat; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma bsum_scal a b c f : bsum a b (fun k => c * f k) = c * bsum a b f.
Proof. unfold bsum. induction (S b - a)%nat; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma bsum_scal_r a b c f : bsum a b (fun k => f k * c) = bsum a b f * c.
Proof. unfold bsum. induction (S b - a)%nat; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma bsum_zero a b : bsum a b (fun _ => 0) = 0.
Proof. unfold bsum. induction (S b - a)%nat; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma bsum_zero_ext a b f : (forall k, (a <= k <= b)%nat -> f k = 0) -> bsum a b f = 0.
Proof. intros H. rewrite (bsum_ext a b f (fun _ => 0)) by assumption. apply bsum_zero. Qed.

Lemma bsum_const a b c : bsum a b (fun _ => c) = INR (S b - a) * c.
Proof.
  unfold bsum. induction (S b - a)%nat; [simpl; ring|].
  rewrite S_INR. cbn [ssum]. rewrite IHn. ring.
Qed.

(** ** Order *)

Lemma ssum_le n f g : (forall k, (k < n)%nat -> f k <= g k) -> ssum n f <= ssum n g.
Proof.
  induction n; simpl; intros H; [lra|].
  assert (f n <= g n) by (apply H; lia).
  assert (ssum n f <= ssum n g) by (apply IHn; intros; apply H; lia). lra.
Qed.

Lemma bsum_le a b f g :
  (forall k, (a <= k <= b)%nat -> f k <= g k) -> bsum a b f <= bsum a b g.
Proof. intros H. apply ssum_le. intros k Hk. apply H. lia. Qed.

Lemma bsum_nonneg a b f : (forall k, (a <= k <= b)%nat -> 0 <= f k) -> 0 <= bsum a b f.
Proof. intros H. rewrite <- (bsum_zero a b). apply bsum_le. assumption. Qed.

Lemma bsum_Rabs a b f : Rabs (bsum a b f) <= bsum a b (fun k => Rabs (f k)).
Proof.
  unfold bsum. induction (S b - a)%nat; simpl; [rewrite Rabs_R0; lra|].
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(** Pull the term of index [p] out of a sum. *)
Lemma bsum_pull a b p f :
  (a <= p <= b)%nat -> bsum a b f = f p + bsum a b (fun k => if (k =? p)%nat then 0 else f k).
Proof.
  intros Hp. destruct p as [|p].
  - assert (a = 0%nat) by lia. subst a.
    rewrite (bsum_first 0 b f), (bsum_first 0 b (fun k => if (k =? 0)%nat then 0 else f k)) by lia.
    simpl. rewrite (bsum_ext 1 b (fun k => if (k =? 0)%nat then 0 else f k) f); [ring|].
    intros k Hk. destruct (Nat.eqb_spec k 0); [lia|reflexivity].
  - rewrite (bsum_split a p b f), (bsum_split a p b (fun k => if (k =? S p)%nat then 0 else f k)) by lia.
    rewrite (bsum_first (S p) b f), (bsum_first (S p) b (fun k => if (k =? S p)%nat then 0 else f k)) by lia.
    rewrite Nat.eqb_refl.
    rewrite (bsum_ext a p (fun k => if (k =? S p)%nat then 0 else f k) f).
    2:{ intros k Hk. destruct (Nat.eqb_spec k (S p)); [lia|reflexivity]. }
    rewrite (bsum_ext (S (S p)) b (fun k => if (k =? S p)%nat then 0 else f k) f).
    2:{ intros k Hk. destruct (Nat.eqb_spec k (S p)); [lia|reflexivity]. }
    ring.
Qed.

Lemma bsum_indicator a b p f :
  (a <= p <= b)%nat -> bsum a b (fun k => if (k =? p)%nat then f k else 0) = f p.
Proof.
  intros Hp. rewrite (bsum_pull a b p) by assumption. rewrite Nat.eqb_refl.
  rewrite bsum_zero_ext; [ring|]. intros k Hk. destruct (k =? p)%nat; reflexivity.
Qed.

Lemma bsum_term_le a b p f :
  (forall k, (a <= k <= b)%nat -> 0 <= f k) -> (a <= p <= b)%nat -> f p <= bsum a b f.
Proof.
  intros H Hp. rewrite (bsum_pull a b p) by assumption.
  assert (0 <= bsum a b (fun k => if (k =? p)%nat then 0 else f k)); [|lra].
  apply bsum_nonneg. intros k Hk. destruct (k =? p)%nat; [lra|apply H; assumption].
Qed.

Lemma bsum_pos a b p f :
  (forall k, (a <= k <= b)%nat -> 0 <= f k) -> (a <= p <= b)%nat -> 0 < f p -> 0 < bsum a b f.
Proof. intros H Hp Hf. apply Rlt_le_trans with (f p); [assumption|apply bsum_term_le; assumption]. Qed.

(** Nonnegative terms that sum to zero are zero. *)
Lemma bsum_eq0 a b f :
  (forall k, (a <= k <= b)%nat -> 0 <= f k) -> bsum a b f = 0 ->
  forall k, (a <= k <= b)%nat -> f k = 0.
Proof.
  intros H H0 k Hk. apply Rle_antisym; [|apply H; assumption].
  rewrite <- H0. apply bsum_term_le; assumption.
Qed.

(** Extend a range where the terms vanish. *)
Lemma bsum_extend a b b' f :
  (b <= b')%nat -> (a <= S b)%nat -> (forall k, (b < k <= b')%nat -> f k = 0) ->
  bsum a b' f = bsum a b f.
Proof.
  intros Hb Ha H. rewrite (bsum_split a b b') by assumption.
  rewrite (bsum_zero_ext (S b)); [ring|]. intros; apply H; lia.
Qed.

(** ** Exchange of two sums *)
Lemma bsum_exchange a b a' b' (f : nat -> nat -> R) :
  bsum a b (fun k => bsum a' b' (fun l => f k l)) = bsum a' b' (fun l => bsum a b (fun k => f k l)).
Proof.
  unfold bsum at 1 4. induction (S b - a)%nat.
  - simpl. symmetry. apply bsum_zero.
  - simpl. rewrite IHn, <- bsum_plus. reflexivity.
Qed.

(** ** Weighted sums and averages *)

(** A weighted sum of numbers of absolute value at most M. *)
Lemma bsum_weighted_Rabs a b w v M :
  (forall k, (a <= k <= b)%nat -> 0 <= w k) ->
  (forall k, (a <= k <= b)%nat -> Rabs (v k) <= M) ->
  Rabs (bsum a b (fun k => w k * v k)) <= bsum a b w * M.
Proof.
  intros Hw Hv. eapply Rle_trans; [apply bsum_Rabs|].
  rewrite <- bsum_scal_r. apply bsum_le. intros k Hk.
  rewrite Rabs_mult, (Rabs_pos_eq (w k)) by (apply Hw; assumption).
  apply Rmult_le_compat_l; [apply Hw; assumption|apply Hv; assumption].
Qed.

(** Barycentre: a weighted sum of points of an interval is the total weight
    times some point of the interval (also if the total weight is zero). *)
Lemma bsum_barycentre a b w v lo hi :
  (forall k, (a <= k <= b)%nat -> 0 <= w k) ->
  (forall k, (a <= k <= b)%nat -> lo <= v k <= hi) -> lo <= hi ->
  exists x, lo <= x <= hi /\ bsum a b (fun k => w k * v k) = bsum a b w * x.
Proof.
  intros Hw Hv Hlh. assert (HW : 0 <= bsum a b w) by (apply bsum_nonneg; assumption).
  destruct (Req_dec (bsum a b w) 0) as [H0|H0].
  - exists lo. split; [lra|]. rewrite H0, Rmult_0_l. apply bsum_zero_ext. intros k Hk.
    rewrite (bsum_eq0 a b w) by assumption. ring.
  - exists (bsum a b (fun k => w k * v k) / bsum a b w). split; [|field; assumption].
    assert (H1 : bsum a b w * lo <= bsum a b (fun k => w k * v k)).
    { rewrite <- bsum_scal_r. apply bsum_le. intros k Hk.
      apply Rmult_le_compat_l; [apply Hw; assumption|apply Hv; assumption]. }
    assert (H2 : bsum a b (fun k => w k * v k) <= bsum a b w * hi).
    { rewrite <- bsum_scal_r. apply bsum_le. intros k Hk.
      apply Rmult_le_compat_l; [apply Hw; assumption|apply Hv; assumption]. }
    split.
    + apply Rmult_le_reg_l with (bsum a b w); [lra|]. field_simplify; [lra|assumption].
    + apply Rmult_le_reg_l with (bsum a b w); [lra|]. field_simplify; [lra|assumption].
Qed.
