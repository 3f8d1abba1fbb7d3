(** * Certificates: the maximum over the content box is at a vertex.

    A function of the content that is convex along each coordinate is, on the box [-1,1]^d, at most
    its largest value at the 2^d vertices. A checker visits them by recursion, with a few affine
    functions of the content, in integers, updated on the way. *)
From Coq Require Import Reals Lra Lia Arith ZArith List Bool.
From Sinkproof Require Import Sums CertificateWeights.
Open Scope R_scope.

Definition content := nat -> R.
Definition in_box (d : nat) (c : content) : Prop := forall m, (m < d)%nat -> -1 <= c m <= 1.
Definition is_vertex (d : nat) (c : content) : Prop := forall m, (m < d)%nat -> c m = -1 \/ c m = 1.
(** The content with coordinate m replaced. *)
Definition set (m : nat) (v : R) (c : content) : content := fun l => if (l =? m)%nat then v else c l.

(** On the box, along each coordinate: below its chord; equal to its chord. *)
Definition box_convex (d : nat) (F : content -> R) : Prop := forall c m, in_box d c -> (m < d)%nat ->
  F c <= (1 - c m) / 2 * F (set m (-1) c) + (1 + c m) / 2 * F (set m 1 c).
Definition box_affine (d : nat) (F : content -> R) : Prop := forall c m, in_box d c -> (m < d)%nat ->
  F c = (1 - c m) / 2 * F (set m (-1) c) + (1 + c m) / 2 * F (set m 1 c).

Lemma set_in_box d c m v : in_box d c -> -1 <= v <= 1 -> in_box d (set m v c).
Proof. intros Hc Hv l Hl. unfold set. destruct (l =? m)%nat; [assumption|apply Hc; assumption]. Qed.

Lemma vertex_in_box d c : is_vertex d c -> in_box d c.
Proof. intros H m Hm. destruct (H m Hm); lra. Qed.

(** The largest value is at a vertex. *)
Theorem box_maximum d F B : box_convex d F ->
  (forall v, is_vertex d v -> F v <= B) -> forall c, in_box d c -> F c <= B.
Proof.
  intros HF HB.
  assert (H : forall n, (n <= d)%nat -> forall c, in_box d c ->
    (forall m, (n <= m < d)%nat -> c m = -1 \/ c m = 1) -> F c <= B).
  { induction n as [|n IH]; intros Hn c Hc Hv.
    - apply HB. intros m Hm. apply Hv. lia.
    - assert (E : forall v, v = -1 \/ v = 1 -> F (set n v c) <= B).
      { intros v Ev. apply IH; [lia|apply set_in_box; [assumption|lra]|].
        intros m Hm. unfold set. destruct (Nat.eqb_spec m n); [assumption|apply Hv; lia]. }
      assert (E1 := E (-1) (or_introl eq_refl)). assert (E2 := E 1 (or_intror eq_refl)).
      assert (C := HF c n Hc ltac:(lia)). assert (Hb := Hc n ltac:(lia)).
      assert ((1 - c n) / 2 * F (set n (-1) c) <= (1 - c n) / 2 * B) by (apply Rmult_le_compat_l; lra).
      assert ((1 + c n) / 2 * F (set n 1 c) <= (1 + c n) / 2 * B) by (apply Rmult_le_compat_l; lra).
      lra. }
  intros c Hc. apply (H d (le_n d) c Hc). intros m Hm. lia.
Qed.

(** ** Functions that are affine along each coordinate *)

Lemma affine_const d a : box_affine d (fun _ => a).
Proof. intros c m Hc Hm. lra. Qed.

Lemma affine_coordinate d l : box_affine d (fun c => c l).
Proof. intros c m Hc Hm. unfold set. destruct (Nat.eqb_spec l m) as [->|]; lra. Qed.

(** Products of two different coordinates are. *)
Lemma affine_product d k l : k <> l -> box_affine d (fun c => c k * c l).
Proof.
  intros Hkl c m Hc Hm. unfold set.
  destruct (Nat.eqb_spec k m), (Nat.eqb_spec l m); subst; try lia; lra.
Qed.

Lemma affine_plus d F G : box_affine d F -> box_affine d G -> box_affine d (fun c => F c + G c).
Proof. intros HF HG c m Hc Hm. rewrite (HF c m Hc Hm), (HG c m Hc Hm) at 1. ring. Qed.

Lemma affine_scal d a F : box_affine d F -> box_affine d (fun c => a * F c).
Proof. intros HF c m Hc Hm. rewrite (HF c m Hc Hm) at 1. ring. Qed.

Lemma affine_ssum d n F : (forall t, (t < n)%nat -> box_affine d (F t)) ->
  box_affine d (fun c => ssum n (fun t => F t c)).
Proof.
  induction n as [|n IH]; intros H; simpl; [apply affine_const|].
  apply affine_plus; [apply IH; intros; apply H; lia|apply H; lia].
Qed.

Lemma affine_ext d F G : (forall c, F c = G c) -> box_affine d G -> box_affine d F.
Proof. intros E H c m Hc Hm. rewrite !E. apply H; assumption. Qed.

(** ** Functions that are convex along each coordinate *)

Lemma convex_affine d F : box_affine d F -> box_convex d F.
Proof. intros H c m Hc Hm. right. apply H; assumption. Qed.

Lemma convex_plus d F G : box_convex d F -> box_convex d G -> box_convex d (fun c => F c + G c).
Proof. intros HF HG c m Hc Hm. assert (E := HF c m Hc Hm). assert (E' := HG c m Hc Hm). lra. Qed.

Lemma convex_scal d a F : 0 <= a -> box_convex d F -> box_convex d (fun c => a * F c).
Proof.
  intros Ha HF c m Hc Hm. apply Rle_trans with (a * ((1 - c m) / 2 * F (set m (-1) c) + (1 + c m) / 2 * F (set m 1 c))).
  - apply Rmult_le_compat_l; [assumption|apply HF; assumption].
  - right. ring.
Qed.

Lemma convex_ssum d n F : (forall t, (t < n)%nat -> box_convex d (F t)) ->
  box_convex d (fun c => ssum n (fun t => F t c)).
Proof.
  induction n as [|n IH]; intros H; simpl; [apply convex_affine, affine_const|].
  apply convex_plus; [apply IH; intros; apply H; lia|apply H; lia].
Qed.

Lemma convex_Rabs d F : box_affine d F -> box_convex d (fun c => Rabs (F c)).
Proof.
  intros HF c m Hc Hm. assert (Hb := Hc m Hm). rewrite (HF c m Hc Hm) at 1.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_pos_eq ((1 - c m) / 2)), (Rabs_pos_eq ((1 + c m) / 2)) by lra.
  lra.
Qed.

Lemma convex_Rmax d F G : box_convex d F -> box_convex d G -> box_convex d (fun c => Rmax (F c) (G c)).
Proof.
  intros HF HG c m Hc Hm. assert (Hb := Hc m Hm). assert (E := HF c m Hc Hm). assert (E' := HG c m Hc Hm).
  assert (P := Rmax_l (F (set m (-1) c)) (G (set m (-1) c))). assert (P' := Rmax_r (F (set m (-1) c)) (G (set m (-1) c))).
  assert (Q := Rmax_l (F (set m 1 c)) (G (set m 1 c))). assert (Q' := Rmax_r (F (set m 1 c)) (G (set m 1 c))).
  apply Rmax_lub.
  - eapply Rle_trans; [exact E|]. apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
  - eapply Rle_trans; [exact E'|]. apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.

(** The exponential lies above its tangents, hence below its chords. *)
Lemma exp_chord x y t : 0 <= t <= 1 -> exp ((1 - t) * x + t * y) <= (1 - t) * exp x + t * exp y.
Proof.
  intros Ht. set (z := (1 - t) * x + t * y).
  assert (T : forall w, exp z * (1 + (w - z)) <= exp w).
  { intros w. replace (exp w) with (exp z * exp (w - z)) by (rewrite <- exp_plus; f_equal; ring).
    apply Rmult_le_compat_l; [left; apply exp_pos|apply exp_ineq1_le]. }
  assert (X := T x). assert (Y := T y).
  assert ((1 - t) * (exp z * (1 + (x - z))) <= (1 - t) * exp x) by (apply Rmult_le_compat_l; lra).
  assert (t * (exp z * (1 + (y - z))) <= t * exp y) by (apply Rmult_le_compat_l; lra).
  replace (exp z) with ((1 - t) * (exp z * (1 + (x - z))) + t * (exp z * (1 + (y - z)))); [lra|].
  unfold z. ring.
Qed.

Lemma convex_exp d F : box_convex d F -> box_convex d (fun c => exp (F c)).
Proof.
  intros HF c m Hc Hm. assert (Hb := Hc m Hm).
  apply Rle_trans with (exp ((1 - (1 + c m) / 2) * F (set m (-1) c) + (1 + c m) / 2 * F (set m 1 c))).
  - assert (E := HF c m Hc Hm). replace (1 - (1 + c m) / 2) with ((1 - c m) / 2) by field.
    destruct E as [E|E]; [left; apply exp_increasing; assumption|right; rewrite E; reflexivity].
  - eapply Rle_trans; [apply exp_chord; lra|]. right. field.
Qed.

(** ** The recursion over the vertices *)

(** acc + row and acc - row; a list that has ended counts as zeros. *)
Fixpoint add (u v : list Z) : list Z :=
  match u, v with
  | a :: u', b :: v' => (a + b)%Z :: add u' v'
  | nil, _ => v
  | _, nil => u
  end%list.
Fixpoint sub (u v : list Z) : list Z :=
  match u, v with
  | a :: u', b :: v' => (a - b)%Z :: sub u' v'
  | nil, _ => map Z.opp v
  | _, nil => u
  end%list.

(** [slopes] in the order of the last coordinate first, so that [signs] is in the order of coordinates. *)
Fixpoint visit (leaf : list Z -> list Z -> bool) (slopes : list (list Z)) (signs acc : list Z) : bool :=
  match slopes with
  | nil => leaf signs acc
  | row :: rest => visit leaf rest (1%Z :: signs) (add acc row) && visit leaf rest ((-1)%Z :: signs) (sub acc row)
  end%list.

(** [leaf signs values] at every vertex: its signs, and there the values of the affine functions that
    are [base] at content 0 and have row m of [slopes] as their slopes along coordinate m. *)
Definition at_vertices (leaf : list Z -> list Z -> bool) (base : list Z) (slopes : list (list Z)) : bool :=
  visit leaf (rev slopes) nil base.

Lemma nth_add u v s : nth s (add u v) 0%Z = (nth s u 0 + nth s v 0)%Z.
Proof.
  revert v s. induction u as [|a u IH]; intros v s; [destruct s; reflexivity|].
  destruct v as [|b v]; [cbn [add]; destruct s; cbn [nth]; ring|]. destruct s; [reflexivity|cbn [add sub nth]; apply IH].
Qed.

Lemma nth_sub u v s : nth s (sub u v) 0%Z = (nth s u 0 - nth s v 0)%Z.
Proof.
  revert v s. induction u as [|a u IH]; intros v s.
  - cbn [sub]. change 0%Z with (- 0)%Z at 1. rewrite map_nth. destruct s; cbn [nth]; ring.
  - destruct v as [|b v]; [cbn [sub]; destruct s; cbn [nth]; ring|]. destruct s; [reflexivity|cbn [add sub nth]; apply IH].
Qed.

Lemma ssum_first n f : ssum (S n) f = f 0%nat + ssum n (fun t => f (S t)).
Proof.
  revert f. induction n; intros f; [simpl; ring|].
  change (ssum (S (S n)) f) with (ssum (S n) f + f (S n)). rewrite IHn. simpl. ring.
Qed.

(** What [visit] promises of a vertex v, whose last coordinates [signs] were chosen before. *)
Lemma visit_sound leaf slopes : forall signs acc, visit leaf (rev slopes) signs acc = true ->
  forall v, is_vertex (length slopes) v ->
  exists first values, leaf (first ++ signs)%list values = true /\ length first = length slopes /\
    (forall m, (m < length slopes)%nat -> IZR (nth m first 0%Z) = v m) /\
    (forall s, IZR (nth s values 0%Z) = IZR (nth s acc 0%Z) +
       ssum (length slopes) (fun m => v m * IZR (entry slopes m s))).
Proof.
  induction slopes as [|row slopes IH] using rev_ind; intros signs acc H v Hv.
  - exists nil, acc. simpl in *. repeat split; auto; [intros; lia|intros; ring].
  - rewrite rev_app_distr in H. cbn [rev app visit] in H. apply andb_true_iff in H. destruct H as [H1 H2].
    rewrite app_length in *. cbn [length] in *. rewrite Nat.add_1_r in *.
    assert (Hv' : is_vertex (length slopes) v) by (intros m Hm; apply Hv; lia).
    assert (D : exists z acc', (IZR z = v (length slopes)) /\ visit leaf (rev slopes) (z :: signs) acc' = true /\
      (forall s, IZR (nth s acc' 0%Z) = IZR (nth s acc 0%Z) + v (length slopes) * IZR (nth s row 0%Z))).
    { destruct (Hv (length slopes) ltac:(lia)) as [E|E]; rewrite E.
      - exists (-1)%Z, (sub acc row). repeat split; [assumption|]. intros s. rewrite nth_sub, minus_IZR. ring.
      - exists 1%Z, (add acc row). repeat split; [assumption|]. intros s. rewrite nth_add, plus_IZR. ring. }
    destruct D as [z [acc' [Ez [Hz Ea]]]]. destruct (IH _ _ Hz v Hv') as [first [values [Hl [Hf [Hs Hval]]]]].
    exists (first ++ z :: nil)%list, values. rewrite <- app_assoc. repeat split; [assumption| | |].
    + rewrite app_length. simpl. lia.
    + intros m Hm. destruct (Nat.eq_dec m (length slopes)) as [->|Hne].
      * rewrite app_nth2 by lia. replace (length slopes - length first)%nat with 0%nat by lia. exact Ez.
      * rewrite app_nth1 by lia. apply Hs. lia.
    + intros s. rewrite Hval, Ea. cbn [ssum]. unfold entry at 3. rewrite nth_middle.
      rewrite (ssum_ext _ (fun m => v m * IZR (entry (slopes ++ row :: nil) m s)) (fun m => v m * IZR (entry slopes m s))).
      * ring.
      * intros m Hm. unfold entry. rewrite app_nth1 by assumption. reflexivity.
Qed.

(** Soundness: the leaf holds at every vertex, of the true values. *)
Theorem at_vertices_sound leaf base slopes : at_vertices leaf base slopes = true ->
  forall v, is_vertex (length slopes) v ->
  exists signs values, leaf signs values = true /\ length signs = length slopes /\
    (forall m, (m < length slopes)%nat -> IZR (nth m signs 0%Z) = v m) /\
    (forall s, IZR (nth s values 0%Z) = IZR (nth s base 0%Z) +
       ssum (length slopes) (fun m => v m * IZR (entry slopes m s))).
Proof.
  intros H v Hv. destruct (visit_sound leaf slopes nil base H v Hv) as [signs [values [Hl [Hn [Hs Hval]]]]].
  rewrite app_nil_r in Hl. exists signs, values. auto.
Qed.
