(** * Functions on the content box that are maximal at a vertex.

    A function of the content c (coordinates m < d) that lies below its chord
    along every coordinate is at most q on the box [-1,1]^d once it is at most q at
    the 2^d vertices. Sums, maxima and absolute values of affine functions are such. *)
From Coq Require Import Reals Lra Lia Arith ZArith List.
From Sinkproof Require Import Sums CertificateWeights.
Import ListNotations.
Open Scope R_scope.

(** ** Sums over m < n *)

Lemma ssum_plus n f g : ssum n (fun k => f k + g k) = ssum n f + ssum n g.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.


Lemma ssum_zero n f : (forall k, (k < n)%nat -> f k = 0) -> ssum n f = 0.
Proof. induction n; simpl; intros H; [reflexivity|]. rewrite IHn, H by (intros; auto with arith). ring. Qed.

Lemma ssum_Rabs n f : Rabs (ssum n f) <= ssum n (fun k => Rabs (f k)).
Proof. induction n; simpl; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|]. lra. Qed.

Lemma ssum_opp n f : ssum n (fun k => - f k) = - ssum n f.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma ssum_nonneg n f : (forall k, (k < n)%nat -> 0 <= f k) -> 0 <= ssum n f.
Proof.
  induction n; simpl; intros H; [lra|]. assert (H1 := H n ltac:(lia)).
  assert (0 <= ssum n f) by (apply IHn; intros; apply H; lia). lra.
Qed.

Lemma ssum_first n f : ssum (S n) f = f 0%nat + ssum n (fun k => f (S k)).
Proof. induction n; [simpl; ring|]. change (ssum (S (S n)) f) with (ssum (S n) f + f (S n)). rewrite IHn. simpl. ring. Qed.

(** A sum over all coordinates 0 .. d+2: B, T, the contents, N. *)
Lemma bsum_coordinates d f :
  bsum 0 (d + 2) f = f 0%nat + f 1%nat + ssum d (fun m => f (2 + m)%nat) + f (d + 2)%nat.
Proof.
  unfold bsum. replace (S (d + 2) - 0)%nat with (S (S (S d))) by lia.
  rewrite ssum_first, ssum_first. cbn [ssum Nat.add].
  replace (S (S d)) with (d + 2)%nat by lia. ring.
Qed.

(** |sum g_m c_m| <= sum |g_m| on the box. *)
Definition in_box (d : nat) (c : nat -> R) : Prop := forall m, (m < d)%nat -> -1 <= c m <= 1.

Lemma dot_box d g c : in_box d c ->
  Rabs (ssum d (fun m => g m * c m)) <= ssum d (fun m => Rabs (g m)).
Proof.
  intros Hc. eapply Rle_trans; [apply ssum_Rabs|]. apply ssum_le. intros m Hm.
  rewrite Rabs_mult. rewrite <- (Rmult_1_r (Rabs (g m))) at 2.
  apply Rmult_le_compat_l; [apply Rabs_pos|]. apply Rabs_le. apply Hc. assumption.
Qed.

(** ** Below the chord along every coordinate *)

Definition upd (c : nat -> R) (m : nat) (t : R) : nat -> R := fun k => if (k =? m)%nat then t else c k.

Lemma upd_same c m t : upd c m t m = t.
Proof. unfold upd. rewrite Nat.eqb_refl. reflexivity. Qed.

Lemma upd_other c m t k : k <> m -> upd c m t k = c k.
Proof. intros H. unfold upd. destruct (Nat.eqb_spec k m); [contradiction|reflexivity]. Qed.

(** The chord between the values at -1 and at 1. *)
Definition chord (t a b : R) : R := (1 - t) / 2 * a + (1 + t) / 2 * b.

Definition chord_convex (f : (nat -> R) -> R) : Prop := forall c m t, -1 <= t <= 1 ->
  f (upd c m t) <= chord t (f (upd c m (-1))) (f (upd c m 1)).

Definition chord_affine (f : (nat -> R) -> R) : Prop := forall c m t, -1 <= t <= 1 ->
  f (upd c m t) = chord t (f (upd c m (-1))) (f (upd c m 1)).

(** Only the coordinates m < d count. *)
Definition reads_box (d : nat) (f : (nat -> R) -> R) : Prop := forall c c',
  (forall m, (m < d)%nat -> c m = c' m) -> f c = f c'.

Lemma chord_le t a a' b b' : -1 <= t <= 1 -> a <= a' -> b <= b' -> chord t a b <= chord t a' b'.
Proof.
  intros Ht Ha Hb. unfold chord. apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.

Lemma affine_convex f : chord_affine f -> chord_convex f.
Proof. intros H c m t Ht. rewrite (H c m t Ht). lra. Qed.

Lemma affine_const k : chord_affine (fun _ => k).
Proof. intros c m t _. unfold chord. field. Qed.

Lemma affine_coordinate k : chord_affine (fun c => c k).
Proof. intros c m t _. unfold chord, upd. destruct (k =? m)%nat; field. Qed.

Lemma affine_plus f g : chord_affine f -> chord_affine g -> chord_affine (fun c => f c + g c).
Proof. intros Hf Hg c m t Ht. rewrite (Hf c m t Ht), (Hg c m t Ht). unfold chord. field. Qed.

Lemma affine_scal k f : chord_affine f -> chord_affine (fun c => k * f c).
Proof. intros Hf c m t Ht. rewrite (Hf c m t Ht). unfold chord. field. Qed.

Lemma affine_ssum n f : (forall k, (k < n)%nat -> chord_affine (f k)) -> chord_affine (fun c => ssum n (fun k => f k c)).
Proof.
  induction n; simpl; intros H; [apply affine_const|].
  apply affine_plus; [apply IHn; intros; apply H; lia|apply H; lia].
Qed.

Lemma convex_plus f g : chord_convex f -> chord_convex g -> chord_convex (fun c => f c + g c).
Proof.
  intros Hf Hg c m t Ht. assert (H1 := Hf c m t Ht). assert (H2 := Hg c m t Ht).
  unfold chord in *. lra.
Qed.

Lemma convex_scal k f : 0 <= k -> chord_convex f -> chord_convex (fun c => k * f c).
Proof.
  intros Hk Hf c m t Ht. apply Rle_trans with (k * chord t (f (upd c m (-1))) (f (upd c m 1))).
  - apply Rmult_le_compat_l; [assumption|]. apply Hf. assumption.
  - unfold chord. apply Req_le. ring.
Qed.

Lemma convex_ssum n f : (forall k, (k < n)%nat -> chord_convex (f k)) -> chord_convex (fun c => ssum n (fun k => f k c)).
Proof.
  induction n; simpl; intros H; [apply affine_convex, affine_const|].
  apply convex_plus; [apply IHn; intros; apply H; lia|apply H; lia].
Qed.

Lemma convex_max f g : chord_convex f -> chord_convex g -> chord_convex (fun c => Rmax (f c) (g c)).
Proof.
  intros Hf Hg c m t Ht. apply Rmax_lub; (eapply Rle_trans; [apply Hf || apply Hg; assumption|]).
  - apply chord_le; [assumption|apply Rmax_l|apply Rmax_l].
  - apply chord_le; [assumption|apply Rmax_r|apply Rmax_r].
Qed.

Lemma convex_abs f : chord_affine f -> chord_convex (fun c => Rabs (f c)).
Proof.
  intros Hf c m t Ht. rewrite (Hf c m t Ht). unfold chord. eapply Rle_trans; [apply Rabs_triang|].
  rewrite !Rabs_mult, (Rabs_pos_eq ((1 - t) / 2)), (Rabs_pos_eq ((1 + t) / 2)) by lra. lra.
Qed.

(** A square with a nonnegative coefficient lies below its chord; a product of two coordinates is on it. *)
Lemma convex_product k l q : (k = l -> 0 <= q) -> chord_convex (fun c => c k * c l * q).
Proof.
  intros Hq c m t Ht. unfold chord, upd. destruct (Nat.eqb_spec k m), (Nat.eqb_spec l m); subst.
  - assert (H := Hq eq_refl). assert (H2 : t * t <= 1) by nra.
    assert (t * t * q <= 1 * q) by (apply Rmult_le_compat_r; assumption). lra.
  - apply Req_le. field.
  - apply Req_le. field.
  - apply Req_le. field.
Qed.

(** ** Vertices suffice *)

(** A vertex, as a list of signs, and the content it stands for. *)
Definition is_vertex (d : nat) (z : list Z) : Prop :=
  length z = d /\ Forall (fun x => x = 1%Z \/ x = (-1)%Z) z.

Definition content_of (z : list Z) : nat -> R := fun m => IZR (nth m z 0%Z).

Lemma vertices_suffice d f q : chord_convex f -> reads_box d f ->
  (forall z, is_vertex d z -> f (content_of z) <= q) ->
  forall c, in_box d c -> f c <= q.
Proof.
  intros Hf Hr Hv.
  assert (P : forall n, (n <= d)%nat -> forall c, in_box d c ->
            (forall m, (n <= m < d)%nat -> c m = 1 \/ c m = -1) -> f c <= q).
  { induction n as [|n IH]; intros Hn c Hc Hs.
    - set (g := fun m => if Rlt_dec 0 (c m) then 1%Z else (-1)%Z). set (z := map g (seq 0 d)).
      rewrite (Hr c (content_of z)).
      + apply Hv. split; [unfold z; rewrite map_length, seq_length; reflexivity|].
        apply Forall_forall. intros x Hx. apply in_map_iff in Hx. destruct Hx as [m [<- _]].
        unfold g. destruct (Rlt_dec 0 (c m)); tauto.
      + intros m Hm. unfold content_of, z.
        rewrite (nth_indep _ 0%Z (g 0%nat)) by (rewrite map_length, seq_length; assumption).
        rewrite map_nth, seq_nth by assumption. unfold g. simpl.
        destruct (Hs m ltac:(lia)) as [-> | ->]; [destruct (Rlt_dec 0 1)|destruct (Rlt_dec 0 (-1))]; (reflexivity || lra).
    - assert (H1 : forall v, v = 1 \/ v = -1 -> f (upd c n v) <= q).
      { intros v Hvv. apply IH; [lia| |].
        - intros m Hm. destruct (Nat.eq_dec m n) as [->|H]; [rewrite upd_same; lra|].
          rewrite upd_other by assumption. apply Hc. assumption.
        - intros m Hm. destruct (Nat.eq_dec m n) as [->|H]; [rewrite upd_same; assumption|].
          rewrite upd_other by assumption. apply Hs. lia. }
      assert (Ht := Hc n ltac:(lia)).
      rewrite (Hr c (upd c n (c n))).
      + eapply Rle_trans; [apply Hf; assumption|].
        assert (Hl := H1 (-1) ltac:(tauto)). assert (Hh := H1 1 ltac:(tauto)).
        apply Rle_trans with (chord (c n) q q); [apply chord_le; assumption|]. unfold chord. lra.
      + intros m _. unfold upd. destruct (Nat.eqb_spec m n); subst; reflexivity. }
  intros c Hc. apply (P d ltac:(lia) c Hc). intros; lia.
Qed.
