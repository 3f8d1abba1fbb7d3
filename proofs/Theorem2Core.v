(** * Stacks of layers: a stack is one head, and leaks multiply. *)
From Coq Require Import Reals Lra Lia Arith List.
From Sinkproof Require Import Sums Task.
Open Scope R_scope.

(** ** Products of attentions *)

(** Matrix product of attentions, row by row; [b] acts first. *)
Definition compose (a b : attention) : attention := fun I i k =>
  bsum 1 i (fun k' => a I i k' * b I k' k).

Definition identity_attention : attention := fun _ i k => if (k =? i)%nat then 1 else 0.
Definition identity_mat : mat := fun r s => if (s =? r)%nat then 1 else 0.

(** a^(D) ... a^(1) and V_D ... V_1 (the first layer is the first of the list). *)
Definition stack_attention (ls : list (attention * mat)) : attention :=
  fold_left (fun acc l => compose (fst l) acc) ls identity_attention.
Definition stack_value (d : nat) (ls : list (attention * mat)) : mat :=
  fold_left (fun acc l => mm d (snd l) acc) ls identity_mat.

Lemma identity_attention_normalised_causal L d : normalised_causal L d identity_attention.
Proof.
  intros I _ i Hi. unfold identity_attention. split; [|split].
  - intros k _. destruct (k =? i)%nat; lra.
  - intros k Hk. destruct (Nat.eqb_spec k i); [lia|reflexivity].
  - rewrite (bsum_indicator 1 i i (fun _ => 1)) by lia. reflexivity.
Qed.

Lemma compose_normalised_causal L d a b :
  normalised_causal L d a -> normalised_causal L d b -> normalised_causal L d (compose a b).
Proof.
  intros Ha Hb I HI i Hi. destruct (Ha I HI i Hi) as [Hp [_ Hs]]. split; [|split].
  - intros k Hk. apply bsum_nonneg. intros k' Hk'.
    apply Rmult_le_pos; [apply Hp; lia|]. apply (Hb I HI k'); lia.
  - intros k Hk. apply bsum_zero_ext. intros k' Hk'.
    destruct (Hb I HI k' ltac:(lia)) as [_ [Hz _]]. rewrite Hz by lia. ring.
  - unfold compose. rewrite bsum_exchange. rewrite <- Hs at 1.
    apply bsum_ext. intros k' Hk'.
    rewrite (bsum_scal 1 i (a I i k') (fun k => b I k' k)).
    destruct (Hb I HI k' ltac:(lia)) as [_ [Hz Hs']].
    assert (E : bsum 1 i (fun k => b I k' k) = 1).
    { rewrite <- Hs'. apply (bsum_extend 1 k' i (fun k => b I k' k)); try lia.
      intros; apply Hz; lia. }
    rewrite E. ring.
Qed.

(** ** Two layers are one layer *)

Lemma layer_ext L d a V h h' I :
  (forall i r, (1 <= i <= L)%nat -> (r < d + 3)%nat -> h I i r = h' I i r) ->
  forall i r, (1 <= i <= L)%nat -> layer d a V h I i r = layer d a V h' I i r.
Proof.
  intros H i r Hi. apply bsum_ext. intros k Hk. f_equal. apply mv_ext. intros. apply H; lia.
Qed.

Lemma layer_layer L d a b V W h I i r : normalised_causal L d b -> is_instance L d I ->
  (1 <= i <= L)%nat ->
  layer d a V (layer d b W h) I i r = layer d (compose a b) (mm d V W) h I i r.
Proof.
  intros Hb HI Hi. unfold layer at 1 3. unfold compose.
  rewrite (bsum_ext 1 i _ (fun k' => bsum 1 i (fun k => a I i k' * b I k' k * mv d (mm d V W) (h I k) r))).
  - rewrite bsum_exchange. apply bsum_ext. intros k _. rewrite <- bsum_scal_r. reflexivity.
  - intros k' Hk'. unfold layer. rewrite <- (mv_bsum d V 1 k' (fun k => b I k' k) (fun k => mv d W (h I k)) r).
    rewrite <- (bsum_extend 1 k' i (fun k => b I k' k * mv d V (mv d W (h I k)) r)).
    + rewrite <- bsum_scal. apply bsum_ext. intros k _. rewrite mv_mm. ring.
    + lia.
    + lia.
    + intros k Hk. destruct (Hb I HI k' ltac:(lia)) as [_ [Hz _]]. rewrite Hz by lia. ring.
Qed.

Lemma head_identity d I i r : (1 <= i)%nat -> (r < d + 3)%nat ->
  head d identity_attention identity_mat I i r = token d I i r.
Proof.
  intros Hi Hr. unfold head, layer, identity_attention.
  rewrite (bsum_ext 1 i _ (fun k => if (k =? i)%nat then mv d identity_mat (token d I k) r else 0)).
  - rewrite (bsum_indicator 1 i i) by lia. unfold mv, identity_mat.
    rewrite <- (bsum_indicator 0 (d + 2) r (fun s => token d I i s)) by lia.
    apply bsum_ext. intros s _. destruct (s =? r)%nat; ring.
  - intros k _. destruct (k =? i)%nat; ring.
Qed.

(** A stack is one head with the product attention and the product of the value maps. *)
Lemma stack_is_head L d ls : (forall l, In l ls -> normalised_causal L d (fst l)) ->
  normalised_causal L d (stack_attention ls) /\
  forall I i r, is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat ->
  stack d ls I i r = head d (stack_attention ls) (stack_value d ls) I i r.
Proof.
  induction ls as [|l ls IH] using rev_ind; intros H.
  - split; [apply identity_attention_normalised_causal|].
    intros I i r _ Hi Hr. simpl. rewrite head_identity by lia. reflexivity.
  - destruct IH as [IHn IHe]; [intros l' Hl'; apply H, in_or_app; left; assumption|].
    assert (Hl : normalised_causal L d (fst l)) by (apply H, in_or_app; right; left; reflexivity).
    unfold stack, stack_attention, stack_value. rewrite !fold_left_app. simpl.
    fold (stack d ls) (stack_attention ls) (stack_value d ls).
    split; [apply compose_normalised_causal; assumption|].
    intros I i r HI Hi Hr. rewrite (layer_ext L d _ _ _ (head d (stack_attention ls) (stack_value d ls))).
    + unfold head. apply (layer_layer L); assumption.
    + intros. apply IHe; assumption.
    + assumption.
Qed.

Lemma stack_loss L d ls eta : (forall l, In l ls -> normalised_causal L d (fst l)) ->
  loss_at_most L d (target d) (stack d ls) eta ->
  loss_at_most L d (target d) (head d (stack_attention ls) (stack_value d ls)) eta.
Proof.
  intros H Hl I HI i r Hi Hr. destruct (stack_is_head L d ls H) as [_ E].
  rewrite <- E by assumption. apply Hl; assumption.
Qed.

(** ** Minimum of a function over 2 .. i *)

Fixpoint min_from2 (n : nat) (f : nat -> R) : R :=
  match n with
  | O => f 2%nat
  | S n' => Rmin (min_from2 n' f) (f (n + 2)%nat)
  end.

(** min over 2 <= k <= i (for i >= 2). *)
Definition min_2_to (i : nat) (f : nat -> R) : R := min_from2 (i - 2) f.

Lemma min_from2_le n f k : (2 <= k <= n + 2)%nat -> min_from2 n f <= f k.
Proof.
  induction n; intros Hk.
  - simpl. replace k with 2%nat by lia. lra.
  - cbn [min_from2]. destruct (Nat.eq_dec k (S n + 2)) as [->|].
    + apply Rmin_r.
    + eapply Rle_trans; [apply Rmin_l|]. apply IHn. lia.
Qed.

Lemma min_from2_attained n f : exists k, (2 <= k <= n + 2)%nat /\ min_from2 n f = f k.
Proof.
  induction n.
  - exists 2%nat. split; [lia|reflexivity].
  - cbn [min_from2]. unfold Rmin. destruct (Rle_dec (min_from2 n f) (f (S n + 2)%nat)).
    + destruct IHn as [k [Hk E]]. exists k. split; [lia|assumption].
    + exists (S n + 2)%nat. split; [lia|reflexivity].
Qed.

Lemma min_2_to_le i f k : (2 <= k <= i)%nat -> min_2_to i f <= f k.
Proof. intros Hk. apply min_from2_le. lia. Qed.

Lemma min_2_to_attained i f : (2 <= i)%nat -> exists k, (2 <= k <= i)%nat /\ min_2_to i f = f k.
Proof.
  intros Hi. destruct (min_from2_attained (i - 2) f) as [k [Hk E]].
  exists k. split; [lia|exact E].
Qed.

(** ** Leaks multiply *)

(** The smallest leak of one layer over the positions 2 .. i, and the product over layers. *)
Definition min_leak (a : attention) (I : inst) (i : nat) : R := min_2_to i (fun k => leak a I k).

Definition product_of_min_leaks (ls : list (attention * mat)) (I : inst) (i : nat) : R :=
  fold_right (fun l p => min_leak (fst l) I i * p) 1 ls.

Lemma min_leak_nonneg L d a I i : normalised_causal L d a -> is_instance L d I -> (2 <= i <= L)%nat ->
  0 <= min_leak a I i.
Proof.
  intros Ha HI Hi. destruct (min_2_to_attained i (fun k => leak a I k) ltac:(lia)) as [k [Hk E]].
  unfold min_leak. rewrite E. apply (leak_range L d); (assumption || lia).
Qed.

Lemma product_nonneg L d ls I i : (forall l, In l ls -> normalised_causal L d (fst l)) ->
  is_instance L d I -> (2 <= i <= L)%nat -> 0 <= product_of_min_leaks ls I i.
Proof.
  intros H HI Hi. induction ls as [|l ls IH]; simpl; [lra|]. apply Rmult_le_pos.
  - apply (min_leak_nonneg L d); try assumption. apply H. left. reflexivity.
  - apply IH. intros. apply H. right. assumption.
Qed.

Lemma product_app ls l I i :
  product_of_min_leaks (ls ++ l :: nil) I i = min_leak (fst l) I i * product_of_min_leaks ls I i.
Proof. induction ls; simpl; [ring|]. rewrite IHls. ring. Qed.

(** f^(l)_k = sum_{k'=2..k} a^(l)_kk' f^(l-1)_k'. *)
Lemma leak_compose L d a b I i : normalised_causal L d a -> normalised_causal L d b ->
  is_instance L d I -> (1 <= i <= L)%nat ->
  leak (compose a b) I i = bsum 2 i (fun k => a I i k * leak b I k).
Proof.
  intros Ha Hb HI Hi. destruct (Ha I HI i Hi) as [_ [_ Hs]].
  unfold leak at 1, sink_weight, compose. rewrite <- Hs, <- bsum_minus.
  rewrite bsum_first by lia. rewrite (first_row L d b) by (assumption || lia).
  replace (a I i 1%nat - a I i 1%nat * 1) with 0 by ring. rewrite Rplus_0_l.
  apply bsum_ext. intros k _. unfold leak, sink_weight. ring.
Qed.

Lemma stack_leak L d ls I i : (forall l, In l ls -> normalised_causal L d (fst l)) ->
  is_instance L d I -> (2 <= i <= L)%nat ->
  forall k, (2 <= k <= i)%nat -> product_of_min_leaks ls I i <= leak (stack_attention ls) I k.
Proof.
  intros H HI Hi. induction ls as [|l ls IH] using rev_ind; intros k Hk.
  - simpl. unfold leak, sink_weight, stack_attention. simpl. unfold identity_attention.
    destruct (Nat.eqb_spec 1 k); [lia|lra].
  - assert (Hls : forall l', In l' ls -> normalised_causal L d (fst l'))
      by (intros l' Hl'; apply H, in_or_app; left; assumption).
    assert (Hl : normalised_causal L d (fst l)) by (apply H, in_or_app; right; left; reflexivity).
    specialize (IH Hls). rewrite product_app.
    unfold stack_attention. rewrite fold_left_app. simpl. fold (stack_attention ls).
    destruct (stack_is_head L d ls Hls) as [Hn _].
    rewrite (leak_compose L d) by (assumption || lia).
    apply Rle_trans with (leak (fst l) I k * product_of_min_leaks ls I i).
    + apply Rmult_le_compat_r; [apply (product_nonneg L d); assumption|].
      unfold min_leak. apply (min_2_to_le i (fun k => leak (fst l) I k)). assumption.
    + rewrite (leak_sum L d) by (assumption || lia). rewrite <- bsum_scal_r.
      apply bsum_le. intros k' Hk'. apply Rmult_le_compat_l; [apply (Hl I HI k); lia|].
      apply IH. lia.
Qed.

(** If a product of D nonnegative numbers is at most x^D, one of them is at most x. *)
Lemma some_min_leak L d ls I i x : ls <> nil ->
  (forall l, In l ls -> normalised_causal L d (fst l)) -> is_instance L d I -> (2 <= i <= L)%nat ->
  0 <= x -> product_of_min_leaks ls I i <= x ^ length ls ->
  exists l, In l ls /\ min_leak (fst l) I i <= x.
Proof.
  intros Hne H HI Hi Hx. induction ls as [|l ls IH]; [contradiction|]. simpl. intros Hp.
  destruct (Rle_lt_dec (min_leak (fst l) I i) x) as [Hl|Hl]; [exists l; auto|].
  assert (Hls : forall l', In l' ls -> normalised_causal L d (fst l')) by (intros; apply H; right; assumption).
  assert (Hxp : 0 <= x ^ length ls) by (apply pow_le; assumption).
  destruct (Rle_lt_dec (product_of_min_leaks ls I i) (x ^ length ls)) as [Hq|Hq].
  - destruct ls as [|l' ls].
    + simpl in Hp. lra.
    + destruct IH as [l0 [Hin Hl0]]; try assumption; [discriminate|].
      exists l0. split; [right; assumption|assumption].
  - exfalso. assert (0 < (min_leak (fst l) I i - x) * (product_of_min_leaks ls I i))
      by (apply Rmult_lt_0_compat; lra).
    assert (0 <= x * (product_of_min_leaks ls I i - x ^ length ls)) by (apply Rmult_le_pos; lra).
    lra.
Qed.

(** D-th roots exist. *)
Lemma root_exists eps D : 0 <= eps -> (1 <= D)%nat -> exists x, 0 <= x /\ x ^ D = eps.
Proof.
  intros He HD. destruct (Req_dec eps 0) as [->|H0].
  - exists 0. split; [lra|]. apply pow_i. lia.
  - exists (Rpower eps (/ INR D)). split; [left; apply exp_pos|].
    rewrite <- Rpower_pow by apply exp_pos. rewrite Rpower_mult, Rinv_l.
    + apply Rpower_1. lra.
    + apply not_0_INR. lia.
Qed.
