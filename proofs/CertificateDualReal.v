(** * The dual bound of a softmax head at the trigger, from conditions at the vertices of the query's content.

    The shift eps of the logits is any number at each vertex, continued to the box so that it is affine along each coordinate. Then every
    score is so too, and what a key of given content contributes is convex along each coordinate: vertices suffice. *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task CertificateWeights CertificateVertices CertificateScores.
From Sinkproof Require Import CertificateGruessReal CertificateGruess CertificateDualCore.
Open Scope R_scope.

Lemma chord_square t a b : -1 <= t <= 1 ->
  ((1 - t) / 2 * a + (1 + t) / 2 * b) * ((1 - t) / 2 * a + (1 + t) / 2 * b) <= (1 - t) / 2 * (a * a) + (1 + t) / 2 * (b * b).
Proof.
  intros Ht. assert (H : 0 <= (1 - t) * (1 + t) * ((a - b) * (a - b))).
  { apply Rmult_le_pos; [apply Rmult_le_pos; lra|apply Rle_0_sqr]. }
  lra.
Qed.

Lemma box_convex_ext d F G : (forall c, F c = G c) -> box_convex d G -> box_convex d F.
Proof. intros E HG c m Hc Hm. rewrite !E. apply HG; assumption. Qed.

Lemma affine_square d f : box_affine d f -> box_convex d (fun c => f c * f c).
Proof. intros Hf c m Hc Hm. rewrite (Hf c m Hc Hm). apply chord_square. apply Hc. assumption. Qed.

Lemma convex_square d g : box_convex d g -> (forall c, 0 <= g c) -> box_convex d (fun c => g c * g c).
Proof.
  intros Hg H0 c m Hc Hm. assert (H := Hg c m Hc Hm). assert (Hp := H0 c).
  eapply Rle_trans; [apply Rmult_le_compat; [assumption|assumption|exact H|exact H]|].
  apply chord_square. apply Hc. assumption.
Qed.

Section Dual.
Variables (L d : nat) (A V : mat) (h bos key : R) (r : nat) (sigma alpha H D vm off B : R) (eps : content -> R).
Hypothesis HE : extents d A h bos key.
Hypothesis Hr : (r < d + 3)%nat.
Hypothesis Hsigma : sigma = 1 \/ sigma = -1.
Hypothesis Halpha : 0 < alpha.
Hypothesis HH : H < 1.
Hypothesis HD : H * H / 2 <= D * (1 - H).
Hypothesis Heps : box_affine d eps.

(** The value of a key e_q + iota c, and its distance from the key's own coordinate. *)
Definition key_value (q : nat) (c : content) : R := V r q + ssum d (fun m => V r (2 + m)%nat * c m).
Definition key_error (q : nat) (c : content) : R :=
  V r q - kronecker r q + ssum d (fun m => (V r (2 + m)%nat - kronecker r (2 + m)) * c m).

Definition ordinary_reach (c c' : content) : R :=
  ssum d (fun m => query_row d A 1 c (2 + m)%nat * c' m) + eps c + alpha * (sigma * key_value (d + 2) c').
Definition self_reach (c : content) : R :=
  Rmax 0 (Rmax (bent_self d A 1 c + eps c + alpha * (sigma * key_value 1 c))
               (bent_self d A (-1) c - eps c - alpha * (sigma * key_value 1 c))).

Hypothesis Hvm : forall q c, q = 1%nat \/ q = (d + 2)%nat -> in_box d c -> Rabs (key_value q c) <= vm.
Hypothesis Hoff : Rabs (V r 0%nat) + vm <= off.
Hypothesis H1 : forall c, is_vertex d c -> query_norm d A 1 c + Rabs (eps c) <= H.
Hypothesis H2 : forall c, is_vertex d c -> bent_self d A 1 c + eps c <= H /\ bent_self d A (-1) c - eps c <= H.
(** What an ordinary key of content c' and the trigger itself contribute at the query's content c. *)
Definition ordinary_part (c c' : content) : R :=
  sigma * key_error (d + 2) c' + ordinary_reach c c' * ordinary_reach c c' / (4 * alpha).
Definition self_part (c : content) : R := sigma * key_error 1 c + self_reach c * self_reach c / (4 * alpha).
(** With BOS' part, over J keys: J - 1 ordinary ones and the trigger. *)
Hypothesis H3 : forall c contents J, is_vertex d c -> (2 <= J <= L - 1)%nat ->
  (forall k, (2 <= k <= J)%nat -> in_box d (contents k)) ->
  exp bos * off + (bsum 2 J (fun k => ordinary_part c (contents k)) + self_part c) <= INR J * B.

Lemma key_value_affine q : box_affine d (key_value q).
Proof.
  apply affine_plus; [apply affine_const|]. apply affine_ssum. intros m _. apply affine_scal, affine_coordinate.
Qed.

Lemma key_error_affine q : box_affine d (key_error q).
Proof.
  apply affine_plus; [apply affine_const|]. apply affine_ssum. intros m _. apply affine_scal, affine_coordinate.
Qed.

Lemma quarter_pos : 0 <= / (4 * alpha).
Proof using Halpha. left. apply Rinv_0_lt_compat. lra. Qed.

Lemma ordinary_convex c' : in_box d c' -> box_convex d (fun c => ordinary_part c c').
Proof using Halpha Heps.
  intros Hc'. unfold ordinary_part. apply convex_plus; [apply convex_affine, affine_const|].
  apply (box_convex_ext d _ (fun c => / (4 * alpha) * (ordinary_reach c c' * ordinary_reach c c'))).
  { intros c. unfold Rdiv. ring. }
  apply convex_scal; [apply quarter_pos|]. apply affine_square. unfold ordinary_reach.
  apply affine_plus; [apply affine_plus; [|assumption]|apply affine_const].
  apply affine_ssum. intros m _. apply (affine_ext d _ (fun c => c' m * query_row d A 1 c (2 + m)%nat)); [intros; ring|].
  apply affine_scal, query_row_affine.
Qed.

Lemma self_convex : box_convex d self_part.
Proof using Halpha Heps.
  unfold self_part. apply convex_plus; [apply convex_affine, affine_scal, key_error_affine|].
  apply (box_convex_ext d _ (fun c => / (4 * alpha) * (self_reach c * self_reach c))).
  { intros c. unfold Rdiv. ring. }
  apply convex_scal; [apply quarter_pos|]. apply convex_square; [|intros; apply Rmax_l].
  assert (Hv : box_affine d (fun c => alpha * (sigma * key_value 1 c))) by (apply affine_scal, affine_scal, key_value_affine).
  apply convex_Rmax; [apply convex_affine, affine_const|]. apply convex_Rmax.
  - apply convex_plus; [|apply convex_affine; exact Hv]. apply convex_plus; [apply bent_self_convex|apply convex_affine; assumption].
  - apply (box_convex_ext d _ (fun c => bent_self d A (-1) c + (-1 * eps c + -1 * (alpha * (sigma * key_value 1 c))))); [intros; ring|].
    apply convex_plus; [apply bent_self_convex|]. apply convex_affine, affine_plus; apply affine_scal; assumption.
Qed.

Lemma parts_everywhere contents J : (2 <= J <= L - 1)%nat -> (forall k, (2 <= k <= J)%nat -> in_box d (contents k)) ->
  forall c, in_box d c -> exp bos * off + (bsum 2 J (fun k => ordinary_part c (contents k)) + self_part c) <= INR J * B.
Proof using Halpha Heps Hr H3.
  intros HJ Hcs.
  apply (box_maximum d (fun c => exp bos * off + (bsum 2 J (fun k => ordinary_part c (contents k)) + self_part c))).
  - apply convex_plus; [apply convex_affine, affine_const|]. apply convex_plus; [|apply self_convex].
    unfold bsum. apply (convex_ssum d (S J - 2) (fun k c => ordinary_part c (contents (2 + k)%nat))).
    intros k Hk. apply ordinary_convex. apply Hcs. lia.
  - intros v Hv. apply H3; assumption.
Qed.

Lemma self_logit_everywhere c : in_box d c -> Rabs (key_score d A 1 c 1 c - query_row d A 1 c (d + 2) + eps c) <= H.
Proof using Heps H2.
  intros Hc. assert (B1 := bent_self_above d A 1 c). assert (B2 := bent_self_above d A (-1) c).
  assert (E1 : bent_self d A 1 c + eps c <= H).
  { revert c Hc B1 B2. intros c Hc _ _. revert c Hc. apply (box_maximum d (fun c => bent_self d A 1 c + eps c)).
    - apply convex_plus; [apply bent_self_convex|apply convex_affine; assumption].
    - intros v Hv. apply H2. assumption. }
  assert (E2 : bent_self d A (-1) c - eps c <= H).
  { revert c Hc B1 B2 E1. intros c Hc _ _ _. revert c Hc. apply (box_maximum d (fun c => bent_self d A (-1) c - eps c)).
    - apply (box_convex_ext d _ (fun c => bent_self d A (-1) c + -1 * eps c)); [intros; ring|].
      apply convex_plus; [apply bent_self_convex|]. apply convex_affine, affine_scal. assumption.
    - intros v Hv. apply H2. assumption. }
  apply Rabs_le. lra.
Qed.

Lemma ordinary_logit_everywhere c : in_box d c -> query_norm d A 1 c + Rabs (eps c) <= H.
Proof using Heps H1.
  revert c. apply (box_maximum d (fun c => query_norm d A 1 c + Rabs (eps c))); [|exact H1].
  apply convex_plus; [apply query_norm_convex|apply convex_Rabs; assumption].
Qed.

(** What the self key contributes: its squares are bent, its reach is at most [self_reach]. *)
Lemma self_square c :
  let x := key_score d A 1 c 1 c - query_row d A 1 c (d + 2) + eps c + alpha * (sigma * key_value 1 c) in
  x * x <= self_reach c * self_reach c.
Proof.
  intros x. assert (B1 := bent_self_above d A 1 c). assert (B2 := bent_self_above d A (-1) c).
  assert (M0 := Rmax_l 0 (Rmax (bent_self d A 1 c + eps c + alpha * (sigma * key_value 1 c))
    (bent_self d A (-1) c - eps c - alpha * (sigma * key_value 1 c)))). fold (self_reach c) in M0.
  assert (M1 : bent_self d A 1 c + eps c + alpha * (sigma * key_value 1 c) <= self_reach c).
  { unfold self_reach. eapply Rle_trans; [|apply Rmax_r]. apply Rmax_l. }
  assert (M2 : bent_self d A (-1) c - eps c - alpha * (sigma * key_value 1 c) <= self_reach c).
  { unfold self_reach. eapply Rle_trans; [|apply Rmax_r]. apply Rmax_r. }
  assert (Hx : Rabs x <= self_reach c) by (apply Rabs_le; unfold x; lra).
  rewrite <- (Rabs_pos_eq (x * x)) by apply Rle_0_sqr. rewrite Rabs_mult.
  apply Rmult_le_compat; (apply Rabs_pos || assumption).
Qed.

Theorem dual_at_trigger I : is_instance L d I ->
  sigma * (softmax_head d A V I (trig I) r - target d I (trig I) r) <= B + dual_remainder alpha H D vm.
Proof using HE Hr Hsigma Halpha HH HD Heps Hvm Hoff H1 H2 H3.
  intros HI. pose proof HI as [Hj _]. set (j := trig I) in *. set (c := cont I j).
  assert (Hc : in_box d c) by (apply (in_box_instance L); [assumption|lia]).
  set (base := query_row d A 1 c (d + 2) - eps c). set (s := bilinear d A (token d)).
  destruct (HE c Hc) as [_ [_ [Hb1 [Hb2 _]]]].
  assert (Bj : base_of d I j = 1%nat) by apply base_trigger.
  assert (Ht : target d I j r = / INR (j - 1) * bsum 2 j (fun k => token d I k r)) by apply target_at.
  rewrite (softmax_head_row d A V I j r base), Ht by lia. fold s.
  assert (Sabs : forall y, Rabs (sigma * y) = Rabs y).
  { intros y. rewrite Rabs_mult. destruct Hsigma as [-> | ->]; [rewrite Rabs_R1|replace (Rabs (-1)) with 1 by (rewrite Rabs_left1; lra)]; ring. }
  replace (sigma * (bsum 1 j (fun k => exp (s I j k - base) * mv d V (token d I k) r) / bsum 1 j (fun k => exp (s I j k - base)) -
    / INR (j - 1) * bsum 2 j (fun k => token d I k r))) with
    (bsum 1 j (fun k => exp (s I j k - base) * (sigma * mv d V (token d I k) r)) / bsum 1 j (fun k => exp (s I j k - base)) -
    / INR (j - 1) * bsum 2 j (fun k => sigma * token d I k r)).
  2:{ rewrite (bsum_ext 1 j (fun k => exp (s I j k - base) * (sigma * mv d V (token d I k) r))
        (fun k => sigma * (exp (s I j k - base) * mv d V (token d I k) r))) by (intros; ring).
      rewrite !bsum_scal. unfold Rdiv. ring. }
  assert (S1 : s I j 1%nat = query_row d A 1 c 0) by (unfold s; rewrite score_bos, Bj by lia; reflexivity).
  assert (Sk : forall k, (2 <= k <= j)%nat -> s I j k = key_score d A 1 c (base_of d I k) (cont I k)).
  { intros k Hk. unfold s. rewrite score_key, Bj by lia. reflexivity. }
  assert (Vk : forall k, (2 <= k <= j)%nat -> mv d V (token d I k) r = key_value (base_of d I k) (cont I k)).
  { intros k Hk. unfold key_value. apply mv_token. lia. }
  assert (Ek : forall k, (2 <= k <= j)%nat -> mv d V (token d I k) r - token d I k r = key_error (base_of d I k) (cont I k)).
  { intros k Hk. rewrite mv_token, token_kronecker by (lia || assumption). unfold key_error.
    rewrite (ssum_ext d (fun m => (V r (2 + m)%nat - kronecker r (2 + m)) * cont I k m)
      (fun m => V r (2 + m)%nat * cont I k m + - (kronecker r (2 + m) * cont I k m))) by (intros; ring).
    rewrite ssum_plus, ssum_opp. ring. }
  assert (Ck : forall k, (2 <= k <= j)%nat -> in_box d (cont I k)).
  { intros k Hk. apply (in_box_instance L); [assumption|lia]. }
  apply (trigger_row_dual j (fun k => s I j k - base) (fun k => sigma * mv d V (token d I k) r)
    (fun k => sigma * token d I k r) alpha H D vm (exp bos) off B); try assumption.
  - lia.
  - left. apply exp_pos.
  - rewrite Sabs. change (token d I 1) with (basis 0). rewrite mv_basis by lia. assumption.
  - intros k Hk. rewrite Sk by assumption. unfold base. destruct (Nat.eq_dec k j) as [->|Hne].
    + rewrite Bj. fold c. replace (key_score d A 1 c 1 c - (query_row d A 1 c (d + 2) - eps c)) with
        (key_score d A 1 c 1 c - query_row d A 1 c (d + 2) + eps c) by ring.
      apply self_logit_everywhere. assumption.
    + rewrite base_off by assumption. assert (K := key_score_near d A 1 c (d + 2) (cont I k) (Ck k Hk)).
      replace (key_score d A 1 c (d + 2) (cont I k) - (query_row d A 1 c (d + 2) - eps c)) with
        (key_score d A 1 c (d + 2) (cont I k) - query_row d A 1 c (d + 2) + eps c) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. assert (O := ordinary_logit_everywhere c Hc). lra.
  - intros k Hk. rewrite <- exp_plus. apply exp_monotone. rewrite S1, Sk by assumption.
    assert (K := key_score_near d A 1 c (base_of d I k) (cont I k) (Ck k Hk)). apply Rabs_both in K.
    destruct (base_cases d I k) as [E|E]; rewrite E in *; lra.
  - intros k Hk. rewrite Sabs, Vk by assumption. apply Hvm; [apply base_cases|apply Ck; assumption].
  - eapply Rle_trans; [|apply (parts_everywhere (cont I) (j - 1) ltac:(lia) ltac:(intros; apply Ck; lia) c Hc)].
    apply Rplus_le_compat_l.
    assert (X : forall f, bsum 2 j f = bsum 2 (j - 1) f + f j).
    { intros f. replace j with (S (j - 1)) at 1 3 by lia. rewrite bsum_last by lia. reflexivity. }
    rewrite X. apply Rplus_le_compat.
    + apply bsum_le. intros k Hk. rewrite <- Rmult_minus_distr_l, Ek, Sk, Vk, base_off by (lia || (unfold j in Hk; lia)).
      unfold ordinary_part. apply Rplus_le_compat_l. apply Req_le. unfold base, ordinary_reach, key_score, Rdiv. ring.
    + rewrite <- Rmult_minus_distr_l, Ek, Sk, Vk, Bj by lia. fold c. unfold self_part. apply Rplus_le_compat_l.
      apply Rmult_le_compat_r; [apply quarter_pos|]. unfold base.
      replace (key_score d A 1 c 1 c - (query_row d A 1 c (d + 2) - eps c) + alpha * (sigma * key_value 1 c)) with
        (key_score d A 1 c 1 c - query_row d A 1 c (d + 2) + eps c + alpha * (sigma * key_value 1 c)) by ring.
      apply self_square.
Qed.
End Dual.
