(** * Bounds of a ReLU head with bilinear scores, from a few numbers.

    Nothing couples the keys: an output is a mean of s^+ v over the keys, s^+ = max(0, s). At the trigger, BOS
    and the trigger itself occur once each, the ordinary keys J - 1 times. *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task CertificateWeights CertificateVertices CertificateScores CertificateGruessReal.
Open Scope R_scope.

(** Over all contents c: at the trigger the positive parts of the scores are within h of alpha (ordinary keys),
    within hs of gamma (the trigger itself), within hb of beta (BOS); at an ordinary token they are
    at most [key] (keys) and [bos] (BOS). *)
Definition relu_extents (d : nat) (A : mat) (alpha h gamma hs beta hb key bos : R) : Prop := forall c, in_box d c ->
  (forall c', in_box d c' -> Rabs (Rmax 0 (key_score d A 1 c (d + 2) c') - alpha) <= h) /\
  Rabs (Rmax 0 (key_score d A 1 c 1 c) - gamma) <= hs /\
  Rabs (Rmax 0 (query_row d A 1 c 0) - beta) <= hb /\
  (forall q c', q = 1%nat \/ q = (d + 2)%nat -> in_box d c' -> Rmax 0 (key_score d A (d + 2) c q c') <= key) /\
  Rmax 0 (query_row d A (d + 2) c 0) <= bos.

(** The largest |f| over keys e_q + iota c, for f linear on the coordinates. *)
Definition reach (d : nat) (f : nat -> R) (q : nat) : R := Rabs (f q) + ssum d (fun m => Rabs (f (2 + m)%nat)).

Lemma reach_bound d f q c : in_box d c -> Rabs (f q + ssum d (fun m => f (2 + m)%nat * c m)) <= reach d f q.
Proof.
  intros Hc. unfold reach. eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat_l.
  apply (dot_box d (fun m => f (2 + m)%nat)). assumption.
Qed.

Section Head.
Variables (L d : nat) (A V : mat) (alpha h gamma hs beta hb key bos : R).
Hypothesis HE : relu_extents d A alpha h gamma hs beta hb key bos.

Let s : scores := bilinear d A (token d).

(** Each ordinary key, and BOS with the trigger, contribute at most this to J times the error in coordinate r. *)
Definition each (r : nat) : R :=
  h * reach d (V r) (d + 2) + reach d (fun t => alpha * V r t - kronecker r t) (d + 2).
Definition once (r : nat) : R :=
  hb * Rabs (V r 0%nat) + hs * reach d (V r) 1 +
  (Rabs (beta * V r 0%nat + (gamma * V r 1%nat - kronecker r 1)) +
   ssum d (fun m => Rabs (gamma * V r (2 + m)%nat - kronecker r (2 + m)))).

Lemma value_reach I k r q : (k <> 1)%nat -> base_of d I k = q -> in_box d (cont I k) ->
  Rabs (mv d V (token d I k) r) <= reach d (V r) q.
Proof. intros Hk Hq Hc. rewrite mv_token, Hq by assumption. apply reach_bound. assumption. Qed.

(** g v - u, with u the token's coordinate. *)
Lemma scaled_value g I k r : (k <> 1)%nat -> (r < d + 3)%nat ->
  g * mv d V (token d I k) r - token d I k r =
  (g * V r (base_of d I k) - kronecker r (base_of d I k)) +
  ssum d (fun m => (g * V r (2 + m)%nat - kronecker r (2 + m)) * cont I k m).
Proof.
  intros Hk Hr. rewrite mv_token, token_kronecker by assumption.
  rewrite (ssum_ext d (fun m => (g * V r (2 + m)%nat - kronecker r (2 + m)) * cont I k m)
    (fun m => g * (V r (2 + m)%nat * cont I k m) + - (kronecker r (2 + m) * cont I k m))) by (intros; ring).
  rewrite ssum_plus, ssum_opp, ssum_scal. ring.
Qed.

Lemma mv_first I r : mv d V (token d I 1) r = V r 0%nat.
Proof. change (token d I 1) with (basis 0). apply mv_basis. lia. Qed.

Lemma relu_at_trigger I r q : is_instance L d I -> (r < d + 3)%nat ->
  once r + each r <= 2 * q -> once r + (INR (L - 1) - 1) * each r <= INR (L - 1) * q ->
  Rabs (relu_head d A V I (trig I) r - target d I (trig I) r) <= q.
Proof using HE.
  intros HI Hr H2 HL. pose proof HI as [Hj _]. set (j := trig I) in *. set (c := cont I j).
  assert (Bj : base_of d I j = 1%nat) by apply base_trigger.
  assert (Hc : in_box d c) by (apply (in_box_instance L); [assumption|lia]).
  destruct (HE c Hc) as [Hord [Hself [Hbos _]]].
  assert (Hj0 : 0 < INR (j - 1)) by (apply lt_0_INR; lia).
  set (v := fun k => mv d V (token d I k) r). set (u := fun k => token d I k r).
  set (p := fun k => Rmax 0 (s I j k)).
  assert (E : relu_head d A V I j r - target d I j r =
    / INR (j - 1) * ((p 1%nat * v 1%nat + (p j * v j - u j)) + bsum 2 (j - 1) (fun k => p k * v k - u k))).
  { unfold relu_head, head, layer, relu_attention. fold s.
    replace (target d I j r) with (/ INR (j - 1) * bsum 2 j u) by (symmetry; apply target_at).
    rewrite (bsum_ext 1 j _ (fun k => / INR (j - 1) * (p k * v k))).
    2:{ intros k Hk. destruct (Nat.leb_spec k j); [|lia]. rewrite Nat.max_l by lia. unfold p, v, Rdiv. ring. }
    rewrite bsum_scal, <- Rmult_minus_distr_l. f_equal. rewrite (bsum_first 1 j) by lia.
    assert (X : forall f, bsum 2 j f = bsum 2 (j - 1) f + f j).
    { intros f. replace j with (S (j - 1)) at 1 3 by lia. rewrite bsum_last by lia. reflexivity. }
    rewrite !X, bsum_minus. ring. }
  rewrite E, Rabs_mult, (Rabs_pos_eq (/ INR (j - 1))) by (left; apply Rinv_0_lt_compat; assumption).
  apply Rmult_le_reg_l with (INR (j - 1)); [assumption|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
  assert (Hboth : INR (j - 1) <= INR (L - 1)) by (apply le_INR; lia).
  assert (H2j : 2 <= INR (j - 1)) by (replace 2 with (INR 2) by reflexivity; apply le_INR; lia).
  eapply Rle_trans; [|apply (mean_between (once r) (each r) q _ (INR (L - 1))); (lra || assumption)].
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat.
  - assert (Pj : Rabs (p j - gamma) <= hs).
    { unfold p, s. rewrite score_key, Bj by lia. exact Hself. }
    assert (P1 : Rabs (p 1%nat - beta) <= hb).
    { unfold p, s. rewrite score_bos, Bj by lia. exact Hbos. }
    assert (Vj : Rabs (v j) <= reach d (V r) 1) by (apply value_reach; (lia || assumption)).
    replace (p 1%nat * v 1%nat + (p j * v j - u j)) with
      ((p 1%nat - beta) * v 1%nat + (p j - gamma) * v j + (beta * v 1%nat + (gamma * v j - u j))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. unfold once. apply Rplus_le_compat.
    + eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult. apply Rplus_le_compat.
      * unfold v. rewrite mv_first. apply Rmult_le_compat_r; [apply Rabs_pos|assumption].
      * apply Rmult_le_compat; (apply Rabs_pos || assumption).
    + unfold v, u. rewrite mv_first, scaled_value, Bj by (lia || assumption).
      rewrite <- Rplus_assoc. eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat_l.
      apply (dot_box d (fun m => gamma * V r (2 + m)%nat - kronecker r (2 + m))). assumption.
  - replace (INR (j - 1) - 1) with (INR (j - 2)).
    2:{ replace (j - 1)%nat with (S (j - 2)) by lia. rewrite S_INR. ring. }
    eapply Rle_trans; [apply bsum_Rabs|].
    apply Rle_trans with (bsum 2 (j - 1) (fun _ => each r)).
    2:{ rewrite bsum_const. apply Req_le. do 2 f_equal. lia. }
    apply bsum_le. intros k Hk.
    assert (Hck : in_box d (cont I k)) by (apply (in_box_instance L); [assumption|lia]).
    assert (Bk : base_of d I k = (d + 2)%nat) by (apply base_off; unfold j in *; lia).
    assert (Pk : Rabs (p k - alpha) <= h).
    { unfold p, s. rewrite score_key, Bj, Bk by lia. apply Hord. assumption. }
    assert (Vk : Rabs (v k) <= reach d (V r) (d + 2)) by (apply value_reach; (lia || assumption)).
    replace (p k * v k - u k) with ((p k - alpha) * v k + (alpha * v k - u k)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. unfold each. rewrite Rabs_mult. apply Rplus_le_compat.
    + apply Rmult_le_compat; (apply Rabs_pos || assumption).
    + unfold v, u. rewrite scaled_value, Bk by (lia || assumption).
      apply (reach_bound d (fun t => alpha * V r t - kronecker r t)). assumption.
Qed.

(** Every weight off the trigger. *)
Lemma relu_weight I i k : is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I -> (1 <= k <= i)%nat ->
  0 <= Rmax 0 (s I i k) /\ Rmax 0 (s I i k) <= (if (k =? 1)%nat then bos else key).
Proof using HE.
  intros HI Hi Hne Hk. split; [apply Rmax_l|].
  assert (Hc : in_box d (cont I i)) by (apply (in_box_instance L); assumption).
  destruct (HE _ Hc) as [_ [_ [_ [Hkey Hbos]]]]. unfold s. destruct (Nat.eqb_spec k 1) as [->|H1].
  - rewrite score_bos, base_off by (lia || assumption). exact Hbos.
  - rewrite score_key, (base_off d I i) by (lia || assumption). apply Hkey; [apply base_cases|].
    apply (in_box_instance L); [assumption|lia].
Qed.

Lemma relu_weight_bound I i k : is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I -> (1 <= k <= i)%nat ->
  relu_attention s I i k <= Rmax bos key.
Proof using HE.
  intros HI Hi Hne Hk. destruct (relu_weight I i k HI Hi Hne Hk) as [H0 H1].
  assert (H2 : Rmax 0 (s I i k) <= Rmax bos key).
  { eapply Rle_trans; [exact H1|]. destruct (k =? 1)%nat; [apply Rmax_l|apply Rmax_r]. }
  unfold relu_attention. destruct (Nat.leb_spec k i); [|lia].
  assert (Hd : 1 <= INR (Nat.max (i - 1) 1)) by (replace 1 with (INR 1) by reflexivity; apply le_INR; lia).
  apply Rmult_le_reg_r with (INR (Nat.max (i - 1) 1)); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  assert (0 <= Rmax bos key * (INR (Nat.max (i - 1) 1) - 1)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma relu_off_trigger I i r : is_instance L d I -> (2 <= i <= L)%nat -> (r < d + 3)%nat -> i <> trig I ->
  Rabs (relu_head d A V I i r - target d I i r) <=
  bos * Rabs (V r 0%nat) + key * Rmax (reach d (V r) 1) (reach d (V r) (d + 2)).
Proof using HE.
  intros HI Hi Hr Hne. rewrite target_off, Rminus_0_r by assumption.
  set (R := Rmax (reach d (V r) 1) (reach d (V r) (d + 2))).
  assert (Hn : 0 < INR (i - 1)) by (apply lt_0_INR; lia).
  unfold relu_head, head, layer, relu_attention. fold s.
  rewrite (bsum_ext 1 i _ (fun k => / INR (i - 1) * (Rmax 0 (s I i k) * mv d V (token d I k) r))).
  2:{ intros k Hk. destruct (Nat.leb_spec k i); [|lia]. rewrite Nat.max_l by lia. unfold Rdiv. ring. }
  rewrite bsum_scal, Rabs_mult, (Rabs_pos_eq (/ INR (i - 1))) by (left; apply Rinv_0_lt_compat; assumption).
  apply Rmult_le_reg_l with (INR (i - 1)); [assumption|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
  rewrite bsum_first by lia. eapply Rle_trans; [apply Rabs_triang|].
  destruct (relu_weight I i 1%nat HI Hi Hne ltac:(lia)) as [B0 B1]. cbn [Nat.eqb] in B1.
  assert (HkR : 0 <= key * R).
  { apply Rmult_le_pos.
    - destruct (relu_weight I i 2%nat HI Hi Hne ltac:(lia)) as [K0 K1]. cbn [Nat.eqb] in K1. lra.
    - eapply Rle_trans; [|apply Rmax_l]. unfold reach. assert (H := Rabs_pos (V r 1%nat)).
      assert (H' : 0 <= ssum d (fun m => Rabs (V r (2 + m)%nat))) by (apply ssum_nonneg; intros; apply Rabs_pos). lra. }
  assert (Hfirst : Rabs (Rmax 0 (s I i 1%nat) * mv d V (token d I 1) r) <= bos * Rabs (V r 0%nat)).
  { rewrite mv_first, Rabs_mult, (Rabs_pos_eq (Rmax 0 _)) by assumption.
    apply Rmult_le_compat_r; [apply Rabs_pos|assumption]. }
  assert (Hrest : Rabs (bsum 2 i (fun k => Rmax 0 (s I i k) * mv d V (token d I k) r)) <= INR (i - 1) * (key * R)).
  { eapply Rle_trans; [apply bsum_Rabs|].
    apply Rle_trans with (bsum 2 i (fun _ => key * R)).
    - apply bsum_le. intros k Hk. destruct (relu_weight I i k HI Hi Hne ltac:(lia)) as [K0 K1].
      destruct (Nat.eqb_spec k 1); [lia|]. rewrite Rabs_mult, (Rabs_pos_eq (Rmax 0 _)) by assumption.
      apply Rmult_le_compat; [assumption|apply Rabs_pos|assumption|].
      eapply Rle_trans; [apply (value_reach I k r (base_of d I k)); [lia|reflexivity|apply (in_box_instance L); [assumption|lia]]|].
      unfold R. destruct (base_cases d I k) as [-> | ->]; [apply Rmax_l|apply Rmax_r].
    - rewrite bsum_const. apply Req_le. do 2 f_equal. }
  assert (Hb0 : 0 <= bos * Rabs (V r 0%nat)) by (eapply Rle_trans; [apply Rabs_pos|exact Hfirst]).
  assert (H1 : 1 <= INR (i - 1)) by (replace 1 with (INR 1) by reflexivity; apply le_INR; lia).
  assert (0 <= (INR (i - 1) - 1) * (bos * Rabs (V r 0%nat))) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma relu_first I r : is_instance L d I ->
  Rabs (relu_head d A V I 1%nat r - target d I 1%nat r) = Rmax 0 (A 0%nat 0%nat) * Rabs (V r 0%nat).
Proof.
  intros [Hj _]. rewrite target_off, Rminus_0_r by lia. unfold relu_head, head, layer. rewrite bsum_single, mv_first.
  unfold relu_attention. cbn [Nat.leb Nat.sub Nat.max INR]. rewrite Rabs_mult.
  assert (E : bilinear d A (token d) I 1%nat 1%nat = A 0%nat 0%nat).
  { unfold bilinear. rewrite (bsum_ext 0 (d + 2) _ (fun t => if (t =? 0)%nat then mv d A (token d I 1) t else 0)).
    - rewrite (bsum_indicator 0 (d + 2) 0%nat) by lia. change (token d I 1) with (basis 0). apply mv_basis. lia.
    - intros t _. rewrite token_bos. destruct (t =? 0)%nat; ring. }
  rewrite E. unfold Rdiv. rewrite Rinv_1, Rmult_1_r, (Rabs_pos_eq (Rmax 0 _)) by apply Rmax_l. reflexivity.
Qed.
End Head.
