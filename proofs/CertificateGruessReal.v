(** * Gruess' bound of a softmax head's worst-case loss, from a few numbers (C3, C4).

    [extents]: how far the logits of a query can be from each other, over all contents;
    [row_bounds]: what an output coordinate makes of the tokens. They bound every error. *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task CertificateWeights CertificateVertices CertificateScores CertificateGruessCore.
Open Scope R_scope.

(** Over all contents c of a query: at the trigger, every key's score is within h of x^T A e_N, and BOS exceeds
    a key by at most [bos]; at an ordinary token a key exceeds BOS by at most [key]. *)
Definition extents (d : nat) (A : mat) (h bos key : R) : Prop := forall c, in_box d c ->
  query_norm d A 1 c <= h /\
  Rabs (key_score d A 1 c 1 c - query_row d A 1 c (d + 2)) <= h /\
  query_row d A 1 c 0 - query_row d A 1 c (d + 2) + query_norm d A 1 c <= bos /\
  query_row d A 1 c 0 - query_row d A 1 c 1 + query_norm d A 1 c <= bos /\
  query_row d A (d + 2) c (d + 2) - query_row d A (d + 2) c 0 + query_norm d A (d + 2) c <= key /\
  query_row d A (d + 2) c 1 - query_row d A (d + 2) c 0 + query_norm d A (d + 2) c <= key.

Definition kronecker (r s : nat) : R := if (s =? r)%nat then 1 else 0.

(** Output coordinate r: the values of non-BOS tokens lie in [lo, hi], at most [off] from the value of BOS,
    at most [dev] from the token's own coordinate r. *)
Definition row_bounds (d : nat) (V : mat) (r : nat) (lo hi off dev : R) : Prop :=
  (forall q c, q = 1%nat \/ q = (d + 2)%nat -> in_box d c ->
     lo <= V r q + ssum d (fun m => V r (2 + m)%nat * c m) <= hi /\
     Rabs (V r q - kronecker r q + ssum d (fun m => (V r (2 + m)%nat - kronecker r (2 + m)) * c m)) <= dev) /\
  Rabs (V r 0%nat - lo) <= off /\ Rabs (V r 0%nat - hi) <= off.

Lemma Rabs_both x a : Rabs x <= a -> - a <= x <= a.
Proof. unfold Rabs. destruct Rcase_abs; lra. Qed.

(** A bound of a mean holds between the fewest and the most terms. *)
Lemma mean_between a e q x y : 2 <= x <= y -> a + e <= 2 * q -> a + (y - 1) * e <= y * q -> a + (x - 1) * e <= x * q.
Proof.
  intros Hx H1 H2. destruct (Rle_dec e q) as [H|H].
  - assert (0 <= (x - 2) * (q - e)) by (apply Rmult_le_pos; lra). lra.
  - assert (0 <= (y - x) * (e - q)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma exp_monotone x y : x <= y -> exp x <= exp y.
Proof. intros [H| ->]; [left; apply exp_increasing; assumption|lra]. Qed.

Section Head.
Variables (L d : nat) (A V : mat) (h bos key : R).
Hypothesis HE : extents d A h bos key.

Let s : scores := bilinear d A (token d).

Lemma base_cases I k : base_of d I k = 1%nat \/ base_of d I k = (d + 2)%nat.
Proof. unfold base_of. destruct (k =? trig I)%nat; tauto. Qed.

Lemma base_trigger I : base_of d I (trig I) = 1%nat.
Proof. unfold base_of. rewrite Nat.eqb_refl. reflexivity. Qed.

Lemma base_off I k : k <> trig I -> base_of d I k = (d + 2)%nat.
Proof. intros H. unfold base_of. destruct (Nat.eqb_spec k (trig I)); [contradiction|reflexivity]. Qed.

(** A token's coordinate as a value of the identity. *)
Lemma token_kronecker I k r : (k <> 1)%nat -> (r < d + 3)%nat ->
  token d I k r = kronecker r (base_of d I k) + ssum d (fun m => kronecker r (2 + m)%nat * cont I k m).
Proof.
  intros Hk Hr. rewrite <- (token_sum d I k (kronecker r)) by assumption.
  rewrite <- (bsum_indicator 0 (d + 2) r (token d I k)) by lia. apply bsum_ext. intros t _.
  unfold kronecker. destruct (t =? r)%nat; ring.
Qed.

Lemma value_bounds I k r lo hi off dev : row_bounds d V r lo hi off dev -> (r < d + 3)%nat ->
  is_instance L d I -> (2 <= k <= L)%nat ->
  lo <= mv d V (token d I k) r <= hi /\ Rabs (mv d V (token d I k) r - token d I k r) <= dev.
Proof.
  intros [H _] Hr HI Hk. rewrite token_kronecker, mv_token by (assumption || lia).
  assert (Hc := in_box_instance L d I k HI Hk).
  destruct (H (base_of d I k) (cont I k) (base_cases I k) Hc) as [H1 H2]. split; [exact H1|].
  eapply Rle_trans; [|exact H2]. apply Req_le. f_equal.
  rewrite (ssum_ext d (fun m => (V r (2 + m)%nat - kronecker r (2 + m)) * cont I k m)
    (fun m => V r (2 + m)%nat * cont I k m + - (kronecker r (2 + m) * cont I k m))) by (intros; ring).
  rewrite ssum_plus, ssum_opp. ring.
Qed.

(** Softmax does not see a common shift of the scores. *)
Lemma softmax_head_row I i r base : (1 <= i)%nat ->
  softmax_head d A V I i r =
  bsum 1 i (fun k => exp (s I i k - base) * mv d V (token d I k) r) / bsum 1 i (fun k => exp (s I i k - base)).
Proof.
  intros Hi. unfold softmax_head, head, layer, softmax. fold s.
  assert (Hp := softmax_denominator_pos s I i Hi). assert (Hb := exp_pos (- base)).
  rewrite (bsum_ext 1 i (fun k => exp (s I i k - base)) (fun k => exp (- base) * exp (s I i k))).
  2:{ intros k _. unfold Rminus. rewrite exp_plus. ring. }
  rewrite (bsum_ext 1 i (fun k => exp (s I i k - base) * _)
    (fun k => exp (- base) * (exp (s I i k) * mv d V (token d I k) r))).
  2:{ intros k _. unfold Rminus. rewrite exp_plus. ring. }
  rewrite !bsum_scal.
  rewrite (bsum_ext 1 i _ (fun k => / bsum 1 i (fun k' => exp (s I i k')) * (exp (s I i k) * mv d V (token d I k) r))).
  2:{ intros k Hk. destruct (Nat.leb_spec k i); [|lia]. unfold Rdiv. ring. }
  rewrite bsum_scal. field. lra.
Qed.

Lemma gruess_at_trigger I r lo hi off dev : is_instance L d I -> (r < d + 3)%nat ->
  row_bounds d V r lo hi off dev ->
  Rabs (softmax_head d A V I (trig I) r - target d I (trig I) r)
  <= exp bos / 2 * off + (hi - lo) * h / 2 + dev.
Proof using HE.
  intros HI Hr HR. pose proof HI as [Hj _]. set (j := trig I) in *. set (c := cont I j).
  assert (Hc : in_box d c) by (apply (in_box_instance L); [assumption|lia]).
  set (base := query_row d A 1 c (d + 2)).
  destruct (HE c Hc) as [Hn [Hself [Hb1 [Hb2 _]]]]. fold base in Hself, Hb1.
  assert (Bj : base_of d I j = 1%nat) by apply base_trigger.
  assert (Ht : target d I j r = / INR (j - 1) * bsum 2 j (fun k => token d I k r)) by apply target_at.
  rewrite (softmax_head_row I j r base), Ht by lia.
  assert (S1 : s I j 1%nat = query_row d A 1 c 0).
  { unfold s. rewrite score_bos, Bj by lia. reflexivity. }
  assert (near : forall k, (2 <= k <= j)%nat -> Rabs (s I j k - base) <= h /\ s I j 1%nat - s I j k <= bos).
  { intros k Hk. rewrite S1. unfold s. rewrite score_key, Bj by lia. fold c.
    assert (Hck : in_box d (cont I k)) by (apply (in_box_instance L); [assumption|lia]).
    assert (Hks := key_score_near d A 1 c (base_of d I k) (cont I k) Hck).
    destruct (Nat.eq_dec k j) as [->|Hne].
    - rewrite Bj in *. fold c in Hks |- *. split; [exact Hself|]. revert Hks. unfold Rabs. destruct Rcase_abs; lra.
    - rewrite base_off in * by assumption. fold base in Hks. split; [lra|].
      revert Hks. unfold Rabs. destruct Rcase_abs; lra. }
  assert (HR' := HR). destruct HR' as [_ [Hlo Hhi]].
  apply (trigger_row j (fun k => exp (s I j k - base)) (fun k => mv d V (token d I k) r)); try assumption.
  - lia.
  - eapply Rle_trans; [|exact Hn]. apply ssum_nonneg. intros. apply Rabs_pos.
  - apply exp_pos.
  - left. apply exp_pos.
  - eapply Rle_trans; [apply Rabs_pos|exact Hlo].
  - intros k Hk. destruct (near k Hk) as [Hk1 _]. apply Rabs_both in Hk1.
    split; apply exp_monotone; lra.
  - intros k Hk. destruct (near k Hk) as [_ Hk2]. rewrite <- exp_plus. apply exp_monotone. lra.
  - intros k Hk. apply (value_bounds I k r lo hi off dev HR); (assumption || lia).
  - intros k Hk. apply (value_bounds I k r lo hi off dev HR); (assumption || lia).
  - change (token d I 1) with (basis 0). rewrite mv_basis by lia. exact Hlo.
  - change (token d I 1) with (basis 0). rewrite mv_basis by lia. exact Hhi.
Qed.

(** The leak off the trigger. *)
Lemma leak_bound I i : is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
  leak (softmax s) I i <= (INR L - 1) * exp key.
Proof using HE.
  intros HI Hi Hne.
  assert (Hc : in_box d (cont I i)) by (apply (in_box_instance L); assumption).
  destruct (HE _ Hc) as [_ [_ [_ [_ [HkN HkT]]]]].
  rewrite (leak_sum L d) by (assumption || lia || apply softmax_normalised_causal).
  apply Rle_trans with (bsum 2 i (fun _ => exp key)).
  - apply bsum_le. intros k Hk. unfold softmax. destruct (Nat.leb_spec k i); [|lia].
    assert (Hck : in_box d (cont I k)) by (apply (in_box_instance L); [assumption|lia]).
    assert (Hs : s I i k <= key + s I i 1%nat).
    { unfold s. rewrite score_bos, score_key by lia. rewrite (base_off I i) by assumption.
      assert (Hks := key_score_near d A (d + 2) (cont I i) (base_of d I k) (cont I k) Hck).
      apply Rabs_both in Hks. destruct (base_cases I k) as [E|E]; rewrite E in *; lra. }
    assert (Hp := softmax_denominator_pos s I i ltac:(lia)).
    assert (H1 : exp (s I i 1%nat) <= bsum 1 i (fun k' => exp (s I i k'))).
    { apply (bsum_term_le 1 i 1%nat (fun k' => exp (s I i k'))); [intros; left; apply exp_pos|lia]. }
    apply Rmult_le_reg_r with (bsum 1 i (fun k' => exp (s I i k'))); [assumption|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    apply Rle_trans with (exp key * exp (s I i 1%nat)).
    + rewrite <- exp_plus. apply exp_monotone. assumption.
    + apply Rmult_le_compat_l; [left; apply exp_pos|assumption].
  - rewrite bsum_const. apply Rmult_le_compat_r; [left; apply exp_pos|].
    replace (INR L - 1) with (INR (L - 1)) by (rewrite minus_INR by lia; reflexivity). apply le_INR. lia.
Qed.

Lemma off_trigger I i r lo hi off dev : is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat -> i <> trig I ->
  row_bounds d V r lo hi off dev ->
  Rabs (softmax_head d A V I i r - target d I i r) <= Rabs (V r 0%nat) + (INR L - 1) * exp key * off.
Proof using HE.
  intros HI Hi Hr Hne HR. rewrite target_off, Rminus_0_r by assumption.
  assert (Ho : 0 <= off) by (destruct HR as [_ [H _]]; eapply Rle_trans; [apply Rabs_pos|exact H]).
  assert (HL1 : 0 <= INR L - 1).
  { assert (H : 1 <= INR L) by (replace 1 with (INR 1) by reflexivity; apply le_INR; lia). lra. }
  assert (Hk0 := exp_pos key).
  destruct (softmax_normalised_causal L d s I HI i Hi) as [Hpos [_ Hsum]].
  unfold softmax_head, head, layer. fold s. rewrite bsum_first by lia.
  change (token d I 1) with (basis 0). rewrite mv_basis by lia.
  rewrite bsum_first in Hsum by lia.
  assert (E : bsum 2 i (fun k => softmax s I i k * (mv d V (token d I k) r - V r 0%nat)) =
    bsum 2 i (fun k => softmax s I i k * mv d V (token d I k) r) - bsum 2 i (fun k => softmax s I i k) * V r 0%nat).
  { rewrite <- bsum_scal_r, <- bsum_minus. apply bsum_ext. intros. ring. }
  replace (softmax s I i 1%nat * V r 0%nat + bsum 2 i (fun k => softmax s I i k * mv d V (token d I k) r))
    with (V r 0%nat + bsum 2 i (fun k => softmax s I i k * (mv d V (token d I k) r - V r 0%nat))).
  2:{ rewrite E. replace (softmax s I i 1%nat) with (1 - bsum 2 i (fun k => softmax s I i k)) by lra. ring. }
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat_l.
  apply Rle_trans with (bsum 2 i (fun k => softmax s I i k) * off).
  - apply bsum_weighted_Rabs.
    + intros k Hk. apply Hpos. lia.
    + intros k Hk. destruct (value_bounds I k r lo hi off dev HR Hr HI ltac:(lia)) as [Hv _].
      destruct HR as [_ [Hlo Hhi]]. apply Rabs_both in Hlo. apply Rabs_both in Hhi.
      apply Rabs_le. lra.
  - apply Rmult_le_compat_r; [assumption|]. destruct (Nat.eq_dec i 1) as [->|Hi1].
    + rewrite bsum_empty by lia. apply Rmult_le_pos; lra.
    + rewrite <- (leak_sum L d) by (assumption || apply softmax_normalised_causal). apply leak_bound; (assumption || lia).
Qed.
End Head.
