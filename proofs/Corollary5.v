(** * Corollary 5: the logits must grow (section 5) *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task Rows Theorem1.
Open Scope R_scope.

(** A softmax row that leaves at most eps off BOS, in log-odds. *)
Lemma log_odds (s : scores) I i eps : (2 <= i)%nat -> 0 < eps < 1 ->
  leak (softmax s) I i <= eps ->
  ln ((1 - eps) / eps) <= s I i 1%nat - ln (bsum 2 i (fun k => exp (s I i k))).
Proof.
  intros Hi He Hm. set (S := bsum 2 i (fun k => exp (s I i k))).
  assert (HS : 0 < S).
  { apply bsum_pos with 2%nat; [intros; left; apply exp_pos|lia|apply exp_pos]. }
  assert (H1 := exp_pos (s I i 1%nat)). set (e1 := exp (s I i 1%nat)) in *.
  assert (Hl : S * (1 - eps) <= eps * e1).
  { unfold leak, sink_weight, softmax in Hm. destruct (Nat.leb_spec 1 i); [|lia].
    rewrite bsum_first in Hm by lia. fold S e1 in Hm.
    replace (1 - e1 / (e1 + S)) with (S / (e1 + S)) in Hm by (field; lra).
    apply (Rmult_le_compat_r (e1 + S)) in Hm; [|lra].
    replace (S / (e1 + S) * (e1 + S)) with S in Hm by (field; lra). lra. }
  assert (Hr : 0 < (1 - eps) / eps) by (apply Rdiv_lt_0_compat; lra).
  assert (Hle : (1 - eps) / eps * S <= e1).
  { apply Rmult_le_reg_l with eps; [lra|].
    replace (eps * ((1 - eps) / eps * S)) with (S * (1 - eps)) by (field; lra). assumption. }
  assert (Hln : ln ((1 - eps) / eps * S) <= ln e1).
  { destruct Hle as [Hlt|Heq]; [left; apply ln_increasing; [apply Rmult_lt_0_compat|]; assumption|].
    right. rewrite Heq. reflexivity. }
  rewrite ln_mult in Hln by assumption. unfold e1 in Hln. rewrite ln_exp in Hln. lra.
Qed.

Lemma eps_range kap eta : 0 < eta -> eta < kap / 2 -> 0 < eta / (kap - eta) < 1.
Proof.
  intros H1 H2. split; [apply Rdiv_lt_0_compat; lra|].
  apply Rmult_lt_reg_r with (kap - eta); [lra|].
  replace (eta / (kap - eta) * (kap - eta)) with eta by (field; lra). lra.
Qed.

(** The first part for any real scores. *)
Theorem corollary_5_scores (L d : nat) (s : scores) (V : mat) (Lambda eta : R) :
  (4 <= L)%nat -> worst_case_loss L d (target d) (head d (softmax s) V) Lambda ->
  Lambda <= eta -> 0 < eta -> eta < kappa L / 2 ->
  let eps := eta / (kappa L - eta) in
  forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
  ln ((1 - eps) / eps) <= s I i 1%nat - ln (bsum 2 i (fun k => exp (s I i k))).
Proof.
  intros HL HLam Hle H0 Hk eps I i HI Hi Hne. apply log_odds; [lia|apply eps_range; assumption|].
  apply (theorem_1_leak L d (softmax s) V Lambda eta HL (softmax_normalised_causal L d s) HLam Hle Hk I i HI Hi Hne).
Qed.

(** A score between zero-content tokens is an entry of A. *)
Lemma bilinear_basis d A h I i k p r : (p < d + 3)%nat -> (r < d + 3)%nat ->
  (forall t, (t < d + 3)%nat -> h I i t = basis p t) -> (forall t, (t < d + 3)%nat -> h I k t = basis r t) ->
  bilinear d A h I i k = A p r.
Proof.
  intros Hp Hr Hi Hk. unfold bilinear.
  rewrite (bsum_ext 0 (d + 2) _ (fun t => basis p t * mv d A (basis r) t)).
  - fold (dot d (basis p) (mv d A (basis r))). rewrite dot_basis, mv_basis by assumption. reflexivity.
  - intros t Ht. rewrite Hi by lia. f_equal. apply mv_ext. exact Hk.
Qed.

Lemma zero_ordinary d j k t : (k <> 1)%nat -> k <> j -> (t < d + 3)%nat ->
  token d (zero_instance j) k t = basis (d + 2) t.
Proof.
  intros H1 Hj Ht. destruct (coord_cases d t Ht) as [->|[->|[->|[m [Hm ->]]]]].
  - rewrite token_B, basis_diff by (assumption || lia). reflexivity.
  - rewrite token_T, basis_diff by (assumption || lia). simpl. destruct (Nat.eqb_spec k j); [contradiction|reflexivity].
  - rewrite token_N, basis_same by assumption. simpl. destruct (Nat.eqb_spec k j); [contradiction|reflexivity].
  - rewrite token_C, basis_diff by (assumption || lia). reflexivity.
Qed.

(** Corollary 5. Let the worst-case loss of a softmax head be at most eta, with
    0 < eta < kappa_L / 2, and put eps = eta/(kappa_L - eta), which is in (0,1). Whatever the
    scores are, at every non-trigger position i >= 2
      s_i1 - ln (sum over k = 2..i of exp s_ik) >= ln ((1-eps)/eps);
    and if they are x_i^T A x_k then A_NB - A_NN >= ln ((L-2)(1-eps)/eps). *)
Theorem corollary_5 (L d : nat) (V : mat) (eta : R) : (4 <= L)%nat -> 0 < eta -> eta < kappa L / 2 ->
  let eps := eta / (kappa L - eta) in
  0 < eps < 1 /\
  (forall (s : scores) Lambda,
     worst_case_loss L d (target d) (head d (softmax s) V) Lambda -> Lambda <= eta ->
     forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
     s I i 1%nat - ln (bsum 2 i (fun k => exp (s I i k))) >= ln ((1 - eps) / eps)) /\
  (forall (A : mat) Lambda,
     worst_case_loss L d (target d) (softmax_head d A V) Lambda -> Lambda <= eta ->
     A (d + 2)%nat 0%nat - A (d + 2)%nat (d + 2)%nat >= ln ((INR L - 2) * (1 - eps) / eps)).
Proof.
  intros HL H0 Hk eps. assert (He := eps_range (kappa L) eta H0 Hk). fold eps in He.
  split; [exact He|]. split.
  - intros s Lambda HLam Hle I i HI Hi Hne. apply Rle_ge.
    exact (corollary_5_scores L d s V Lambda eta HL HLam Hle H0 Hk I i HI Hi Hne).
  - intros A Lambda HLam Hle. apply Rle_ge. set (I := zero_instance L).
    assert (HI : is_instance L d I) by (apply zero_instance_ok; lia).
    assert (H := corollary_5_scores L d _ V Lambda eta HL HLam Hle H0 Hk I (L - 1)%nat HI ltac:(lia)
                   ltac:(unfold I, zero_instance; cbn [trig]; lia)).
    fold eps in H.
    assert (E : forall k, (2 <= k <= L - 1)%nat -> forall t, (t < d + 3)%nat -> token d I k t = basis (d + 2) t).
    { intros k Hk' t Ht. apply zero_ordinary; lia. }
    rewrite (bilinear_basis d A (token d) I (L - 1) 1 (d + 2) 0) in H;
      [|lia|lia|apply E; lia|reflexivity].
    rewrite (bsum_ext 2 (L - 1) _ (fun _ => exp (A (d + 2)%nat (d + 2)%nat))) in H.
    2:{ intros k Hk'. f_equal. apply bilinear_basis; [lia|lia|apply E; lia|apply E; lia]. }
    rewrite bsum_const in H. replace (S (L - 1) - 2)%nat with (L - 2)%nat in H by lia.
    assert (HL2 : 0 < INR (L - 2)) by (apply lt_0_INR; lia).
    rewrite ln_mult, ln_exp in H by (assumption || apply exp_pos).
    assert (Hr : 0 < (1 - eps) / eps) by (apply Rdiv_lt_0_compat; lra).
    replace ((INR L - 2) * (1 - eps) / eps) with (INR (L - 2) * ((1 - eps) / eps)).
    2:{ rewrite minus_INR by lia. simpl (INR 2). field. lra. }
    rewrite ln_mult by assumption. lra.
Qed.

(** Bounded logits: if all scores are in [-S, S] on real instances, the worst-case
    loss is at least kappa_L (L-1) / (2 (L-1) + e^(2S)), which is positive. *)
Theorem corollary_5_bounded_logits (L d : nat) (s : scores) (V : mat) (Lambda S : R) :
  (4 <= L)%nat -> worst_case_loss L d (target d) (head d (softmax s) V) Lambda ->
  (forall I i k, is_instance L d I -> (1 <= i <= L)%nat -> (1 <= k <= i)%nat -> Rabs (s I i k) <= S) ->
  kappa L * (INR L - 1) / (2 * (INR L - 1) + exp (2 * S)) <= Lambda /\
  0 < kappa L * (INR L - 1) / (2 * (INR L - 1) + exp (2 * S)).
Proof.
  intros HL HLam HS. assert (Hk := kappa_pos L HL).
  assert (HL4 : INR 4 <= INR L) by (apply le_INR; lia). simpl in HL4.
  set (n := INR L - 1). assert (HE := exp_pos (2 * S)). set (E := exp (2 * S)) in *.
  split; [|apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; unfold n; lra|unfold n; lra]].
  assert (E1 : kappa L * n / (2 * n + E) * (2 * n + E) = kappa L * n) by (field; unfold n; lra).
  apply Rmult_le_reg_r with (2 * n + E); [unfold n; lra|]. rewrite E1.
  assert (Hn : 0 < n) by (unfold n; lra).
  destruct (Rlt_le_dec Lambda (kappa L / 2)) as [Hlt|Hge].
  2:{ assert (kappa L / 2 * (2 * n + E) <= Lambda * (2 * n + E)) by (apply Rmult_le_compat_r; lra).
      assert (0 < kappa L / 2 * E) by (apply Rmult_lt_0_compat; lra). lra. }
  set (I := zero_instance 3). assert (HI : is_instance L d I) by (apply zero_instance_ok; lia).
  assert (Ht := theorem_1_leak L d (softmax s) V Lambda Lambda HL (softmax_normalised_causal L d s) HLam
                  (Rle_refl _) Hlt I L HI ltac:(lia) ltac:(unfold I, zero_instance; cbn [trig]; lia)).
  (* the row: e1 on BOS, W on the rest *)
  unfold leak, sink_weight, softmax in Ht. destruct (Nat.leb_spec 1 L); [|lia].
  rewrite bsum_first in Ht by lia.
  set (e1 := exp (s I L 1%nat)) in *. set (W := bsum 2 L (fun k => exp (s I L k))) in *.
  assert (Hup : forall k, (1 <= k <= L)%nat -> - S <= s I L k <= S).
  { intros k Hk'. assert (H1 := HS I L k HI ltac:(lia) Hk'). assert (H2 := Rle_abs (s I L k)).
    assert (H3 := Rle_abs (- s I L k)). rewrite Rabs_Ropp in H3. lra. }
  assert (Hexp : forall u v, u <= v -> exp u <= exp v).
  { intros u v [Huv| ->]; [left; apply exp_increasing; assumption|right; reflexivity]. }
  assert (H1 : e1 <= exp S) by (apply Hexp, Hup; lia).
  assert (H1p : 0 < e1) by apply exp_pos.
  assert (HSp := exp_pos (- S)).
  assert (HW : n * exp (- S) <= W).
  { unfold n. replace (INR L - 1) with (INR (Datatypes.S L - 2)).
    - rewrite <- bsum_const. apply bsum_le. intros k Hk'. apply Hexp, Hup. lia.
    - replace (Datatypes.S L - 2)%nat with (L - 1)%nat by lia. apply INR_pred. lia. }
  assert (HWp : 0 < W) by (assert (0 < n * exp (- S)) by (apply Rmult_lt_0_compat; assumption); lra).
  (* E W >= n e1, since e^S <= e^(2S) e^(-S) *)
  assert (HEW : n * e1 <= E * W).
  { assert (EE : E * exp (- S) = exp S) by (unfold E; rewrite <- exp_plus; f_equal; ring).
    assert (n * e1 <= n * exp S) by (apply Rmult_le_compat_l; lra).
    assert (E * (n * exp (- S)) <= E * W) by (apply Rmult_le_compat_l; lra).
    replace (E * (n * exp (- S))) with (n * exp S) in * by (rewrite <- EE; ring). lra. }
  replace (1 - e1 / (e1 + W)) with (W / (e1 + W)) in Ht by (field; lra).
  assert (Hc : W * (kappa L - Lambda) <= Lambda * (e1 + W)).
  { apply (Rmult_le_compat_r ((kappa L - Lambda) * (e1 + W))) in Ht; [|apply Rmult_le_pos; lra].
    replace (W / (e1 + W) * ((kappa L - Lambda) * (e1 + W))) with (W * (kappa L - Lambda)) in Ht by (field; lra).
    replace (Lambda / (kappa L - Lambda) * ((kappa L - Lambda) * (e1 + W))) with (Lambda * (e1 + W)) in Ht
      by (field; lra). exact Ht. }
  assert (HLp : 0 <= Lambda) by (apply (worst_case_loss_nonneg L d _ _ _ ltac:(lia) HLam)).
  (* n W kappa <= Lambda (n e1 + 2 n W) <= Lambda (E + 2 n) W *)
  apply Rmult_le_reg_r with W; [assumption|].
  assert (A1 : n * (W * (kappa L - Lambda)) <= n * (Lambda * (e1 + W))) by (apply Rmult_le_compat_l; lra).
  assert (A2 : Lambda * (n * e1) <= Lambda * (E * W)) by (apply Rmult_le_compat_l; lra). lra.
Qed.
