(** * Sharpness without content: for d = 0 the constant kappa_L is optimal.

    With s = 2 kappa_L = (L-3) / (2 (L-1)): V e_N = s (e_N - e_T),
    V e_T = (s / (2 eta)) (e_N + e_T), V e_B = -eta (e_N - e_T). Every non-trigger row
    i >= 2 puts m = 2 eta / (s + eta) on position 2 and the rest on BOS; the trigger
    row puts q = eta / s on itself, p_j on position 2, and the rest on BOS. *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task HeadVW Theorem1.
Open Scope R_scope.

(** A row with weight p on position 2, q on position j, the rest on BOS. *)
Definition three_row (j : nat) (p q : R) (k : nat) : R :=
  if (k =? 1)%nat then 1 - p - q else if (k =? 2)%nat then p else if (k =? j)%nat then q else 0.

Lemma three_row_sum_from2 j p q (f : nat -> R) i : (3 <= j <= i)%nat ->
  bsum 2 i (fun k => three_row j p q k * f k) = p * f 2%nat + q * f j.
Proof.
  intros Hj. rewrite (bsum_ext 2 i _ (fun k =>
    (if (k =? 2)%nat then p * f k else 0) + (if (k =? j)%nat then q * f k else 0))).
  - rewrite bsum_plus, (bsum_indicator 2 i 2 (fun k => p * f k)),
      (bsum_indicator 2 i j (fun k => q * f k)) by lia. reflexivity.
  - intros k Hk. unfold three_row.
    destruct (Nat.eqb_spec k j), (Nat.eqb_spec k 2), (Nat.eqb_spec k 1); try ring; lia.
Qed.

(** The same with no weight on j: any i >= 2. *)
Lemma two_row_sum_from2 j p (f : nat -> R) i : (2 <= i)%nat ->
  bsum 2 i (fun k => three_row j p 0 k * f k) = p * f 2%nat.
Proof.
  intros Hi. rewrite <- (bsum_indicator 2 i 2 (fun k => p * f k)) by lia.
  apply bsum_ext. intros k Hk. unfold three_row.
  destruct (Nat.eqb_spec k 2), (Nat.eqb_spec k 1); try lia; try ring. destruct (k =? j)%nat; ring.
Qed.

Section NoContent.
Variables (L : nat) (eta : R).
Hypothesis HL : (4 <= L)%nat.
Hypothesis He : 0 < eta <= 2 * kappa L.

Let s := 2 * kappa L.
Let m := 2 * eta / (s + eta).
Let q := eta / s.
(** sigma_j = (j-3) / (2 (j-1)): half the N minus T coordinate of the target. *)
Let sigma (j : nat) := 1 / 2 - / INR (j - 1).
Let p (j : nat) := (1 - q) * (sigma j + eta) / (s + eta).

Definition plain_value : mat := fun r c =>
  if (r =? 0)%nat then 0
  else let sign := if (r =? 1)%nat then - (1) else 1 in
       if (c =? 0)%nat then - eta * sign
       else if (c =? 1)%nat then s / (2 * eta)
       else s * sign.

Definition plain_attention : attention := fun I i k =>
  if (i =? 1)%nat then bos_row k
  else if (i =? trig I)%nat then three_row (trig I) (p (trig I)) q k
  else three_row (trig I) m 0 k.

Lemma s_pos : 0 < s.
Proof using HL He. unfold s. assert (H := kappa_pos L HL). lra. Qed.

Lemma sigma_range j : (3 <= j <= L)%nat -> 0 <= sigma j <= s.
Proof using HL He.
  intros Hj. destruct (w_facts L HL) as [_ [_ Hk]]. unfold sigma, s. rewrite Hk.
  assert (H2 : 2 <= INR (j - 1)) by (replace 2 with (INR 2) by (simpl; ring); apply le_INR; lia).
  assert (H3 : INR (j - 1) <= INR (L - 1)) by (apply le_INR; lia).
  assert (H4 : / INR (j - 1) <= / 2) by (apply Rinv_le_contravar; lra).
  assert (H5 : / INR (L - 1) <= / INR (j - 1)) by (apply Rinv_le_contravar; lra).
  lra.
Qed.

Lemma m_facts : 0 <= m <= 1 /\ m * (s + eta) = 2 * eta.
Proof using HL He.
  assert (Hs := s_pos). fold s in He.
  assert (E : m * (s + eta) = 2 * eta) by (unfold m; field; lra).
  split; [|exact E]. split; apply Rmult_le_reg_r with (s + eta); lra.
Qed.

Lemma q_facts : 0 < q <= 1 /\ q * s = eta.
Proof using HL He.
  assert (Hs := s_pos). fold s in He.
  assert (E : q * s = eta) by (unfold q; field; lra).
  split; [|exact E]. split; [apply Rmult_lt_reg_r with s|apply Rmult_le_reg_r with s]; lra.
Qed.

Lemma p_facts j : (3 <= j <= L)%nat ->
  0 <= p j /\ p j <= 1 - q /\ p j * (s + eta) = (1 - q) * (sigma j + eta).
Proof using HL He.
  intros Hj. assert (Hs := s_pos). assert (Hg := sigma_range j Hj). destruct q_facts as [Hq _].
  assert (E : p j * (s + eta) = (1 - q) * (sigma j + eta)) by (unfold p; field; lra).
  assert (E1 : 0 <= (1 - q) * (sigma j + eta)) by (apply Rmult_le_pos; lra).
  assert (E2 : (1 - q) * (sigma j + eta) <= (1 - q) * (s + eta)) by (apply Rmult_le_compat_l; lra).
  split; [|split; [|exact E]]; apply Rmult_le_reg_r with (s + eta); lra.
Qed.

Lemma plain_normalised_causal : normalised_causal L 0 plain_attention.
Proof using HL He.
  intros I [Hj _] i Hi. unfold plain_attention.
  destruct m_facts as [Hm _]. destruct q_facts as [Hq _]. destruct (p_facts _ Hj) as [Hp0 [Hp1 _]].
  destruct (Nat.eqb_spec i 1) as [E1|E1]; [|destruct (Nat.eqb_spec i (trig I)) as [E|E]]; (split; [|split]).
  - intros. apply bos_row_pos.
  - intros k Hk. unfold bos_row. destruct (Nat.eqb_spec k 1); [lia|reflexivity].
  - apply bos_row_sum. lia.
  - intros k _. unfold three_row. destruct (k =? 1)%nat; [lra|]. destruct (k =? 2)%nat; [lra|].
    destruct (k =? trig I)%nat; lra.
  - intros k Hk. unfold three_row. destruct (Nat.eqb_spec k 1); [lia|]. destruct (Nat.eqb_spec k 2); [lia|].
    destruct (Nat.eqb_spec k (trig I)); [lia|reflexivity].
  - rewrite bsum_first by lia. rewrite (bsum_ext 2 i _ (fun k => three_row (trig I) (p (trig I)) q k * 1)) by (intros; ring).
    rewrite three_row_sum_from2 by lia. unfold three_row. simpl Nat.eqb. cbv iota. ring.
  - intros k _. unfold three_row. destruct (k =? 1)%nat; [lra|]. destruct (k =? 2)%nat; [lra|].
    destruct (k =? trig I)%nat; lra.
  - intros k Hk. unfold three_row. destruct (Nat.eqb_spec k 1); [lia|]. destruct (Nat.eqb_spec k 2); [lia|].
    destruct (k =? trig I)%nat; reflexivity.
  - rewrite bsum_first by lia. rewrite (bsum_ext 2 i _ (fun k => three_row (trig I) m 0 k * 1)) by (intros; ring).
    rewrite two_row_sum_from2 by lia. unfold three_row. simpl Nat.eqb. cbv iota. ring.
Qed.

(** V applied to the tokens. *)
Lemma plain_mv I k r : (1 <= k)%nat -> (r < 3)%nat ->
  mv 0 plain_value (token 0 I k) r =
  if (k =? 1)%nat then plain_value r 0%nat
  else if (k =? trig I)%nat then plain_value r 1%nat else plain_value r 2%nat.
Proof using HL He.
  intros Hk Hr. destruct (Nat.eqb_spec k 1) as [->|Hk1].
  - change (token 0 I 1) with (basis 0). apply mv_basis. lia.
  - unfold mv. simpl (0 + 2)%nat. rewrite !bsum_last, bsum_single by lia.
    rewrite token_B, token_T by assumption.
    assert (HN := token_N 0 I k Hk1). change (0 + 2)%nat with 2%nat in HN. rewrite HN.
    destruct (k =? trig I)%nat; ring.
Qed.

Lemma target_two I r : is_instance L 0 I -> (r < 3)%nat ->
  target 0 I (trig I) r =
  if (r =? 0)%nat then 0 else 1 / 2 + sigma (trig I) * (if (r =? 1)%nat then - (1) else 1).
Proof using HL He.
  intros [Hj _] Hr. rewrite target_at. unfold sigma.
  assert (Hz : INR (trig I - 1) <> 0) by (apply not_0_INR; lia).
  destruct r as [|[|[|r]]]; try lia; simpl Nat.eqb; cbv iota.
  - rewrite bsum_zero_ext by (intros; apply token_B; lia). ring.
  - rewrite (bsum_ext _ _ _ (fun k => if (k =? trig I)%nat then 1 else 0)) by (intros; apply token_T; lia).
    rewrite (bsum_indicator _ _ _ (fun _ => 1)) by lia. field. assumption.
  - rewrite (bsum_ext _ _ _ (fun k => 1 - if (k =? trig I)%nat then 1 else 0)).
    + rewrite bsum_minus, (bsum_indicator _ _ _ (fun _ => 1)), bsum_const by lia.
      replace (S (trig I) - 2)%nat with (trig I - 1)%nat by lia. field. assumption.
    + intros k Hk. assert (HN := token_N 0 I k ltac:(lia)). change (0 + 2)%nat with 2%nat in HN. rewrite HN.
      destruct (k =? trig I)%nat; ring.
Qed.

Lemma plain_loss : worst_case_loss L 0 (target 0) (head 0 plain_attention plain_value) eta.
Proof using HL He.
  assert (Hs := s_pos). destruct m_facts as [Hm Em]. destruct q_facts as [Hq Eq].
  apply (worst_case_loss_attained L 0 _ _ eta (zero_instance 3) 1 2); try lia.
  - intros I HI i r Hi Hr. assert (Hj := proj1 HI). unfold head, layer.
    rewrite bsum_first by lia. rewrite plain_mv by lia. simpl (1 =? 1)%nat. cbv iota.
    unfold plain_attention. destruct (Nat.eqb_spec i 1) as [E1|E1];
      [|destruct (Nat.eqb_spec i (trig I)) as [E|E]].
    + rewrite target_off by lia. rewrite E1, bsum_empty by lia. unfold bos_row, plain_value.
      simpl (1 =? 1)%nat. simpl (0 =? 0)%nat. cbv iota. apply Rabs_le.
      destruct (r =? 0)%nat; [lra|]. destruct (r =? 1)%nat; lra.
    + rewrite three_row_sum_from2 by lia. rewrite !plain_mv by lia. rewrite E, target_two by (assumption || lia).
      destruct (Nat.eqb_spec (trig I) 1); [lia|]. destruct (Nat.eqb_spec 2 (trig I)); [lia|].
      rewrite Nat.eqb_refl. destruct (p_facts _ Hj) as [Hp0 [Hp1 Ep]]. assert (Hg := sigma_range _ Hj).
      assert (F1 : 0 <= q * sigma (trig I)) by (apply Rmult_le_pos; lra).
      assert (F2 : q * sigma (trig I) <= q * s) by (apply Rmult_le_compat_l; lra).
      assert (F3 : q * (s / (2 * eta)) = 1 / 2).
      { replace (q * (s / (2 * eta))) with (q * s * / (2 * eta)) by (field; lra). rewrite Eq. field. lra. }
      set (P := p (trig I)) in *. set (sg := sigma (trig I)) in *.
      unfold three_row, plain_value. simpl Nat.eqb. cbv iota. cbv zeta.
      destruct (r =? 0)%nat; [apply Rabs_le; lra|].
      rewrite F3. apply Rabs_le.
      destruct (r =? 1)%nat; lra.
    + rewrite two_row_sum_from2 by lia. rewrite !plain_mv by lia. rewrite target_off by assumption.
      simpl (2 =? 1)%nat. destruct (Nat.eqb_spec 2 (trig I)); [lia|].
      unfold three_row, plain_value. simpl Nat.eqb. cbv iota. cbv zeta.
      destruct (r =? 0)%nat; [apply Rabs_le; lra|].
      apply Rabs_le. destruct (r =? 1)%nat; lra.
  - apply zero_instance_ok. lia.
  - unfold head, layer. rewrite bsum_single, plain_mv by lia. rewrite target_off by (simpl; lia).
    unfold plain_attention, bos_row, plain_value. simpl Nat.eqb. cbv iota. cbv zeta.
    replace (1 * (- eta * 1) - 0) with (- eta) by ring. rewrite Rabs_Ropp. apply Rabs_pos_eq. lra.
Qed.

Lemma plain_leak I i : (2 <= i)%nat -> i <> trig I ->
  leak plain_attention I i = 2 * eta / (2 * kappa L + eta).
Proof using HL He.
  intros Hi Hne. unfold leak, sink_weight, plain_attention.
  destruct (Nat.eqb_spec i 1); [lia|]. destruct (Nat.eqb_spec i (trig I)); [contradiction|].
  unfold three_row. simpl Nat.eqb. cbv iota. unfold m, s. ring.
Qed.
End NoContent.

(** Sharpness for d = 0. For every L >= 4 and 0 < eta <= 2 kappa_L there is a head with
    normalised causal attention and worst-case loss exactly eta whose leak is
    2 eta / (2 kappa_L + eta) = eta / (kappa_L + eta/2) at every non-trigger position i >= 2
    of every instance, before and after the trigger. Theorem 1 gives eta / (kappa_L - eta). *)
Theorem proposition_1s_no_content (L : nat) (eta : R) : (4 <= L)%nat -> 0 < eta <= 2 * kappa L ->
  exists (a : attention) (V : mat),
    normalised_causal L 0 a /\
    worst_case_loss L 0 (target 0) (head 0 a V) eta /\
    forall I i, is_instance L 0 I -> (2 <= i <= L)%nat -> i <> trig I ->
    leak a I i = 2 * eta / (2 * kappa L + eta).
Proof.
  intros HL He. exists (plain_attention L eta), (plain_value L eta). split; [|split].
  - apply plain_normalised_causal; assumption.
  - apply plain_loss; assumption.
  - intros. apply plain_leak; (assumption || lia).
Qed.

(** So for d = 0, and hence for a statement that covers every d, Theorem 1 is false with
    any constant K larger than kappa_L, at every L. *)
Theorem not_theorem_1_with_larger_kappa_no_content (L : nat) (K : R) : (4 <= L)%nat -> kappa L < K ->
  ~ (forall (a : attention) (V : mat) (eta : R),
       normalised_causal L 0 a -> worst_case_loss L 0 (target 0) (head 0 a V) eta -> eta < K / 2 ->
       forall I i, is_instance L 0 I -> (2 <= i <= L)%nat -> i <> trig I ->
       leak a I i <= eta / (K - eta)).
Proof.
  intros HL HK H. assert (Hk := kappa_pos L HL).
  set (eta := Rmin (kappa L / 4) ((K - kappa L) / 3)).
  assert (H1 : eta <= kappa L / 4) by apply Rmin_l.
  assert (H2 : eta <= (K - kappa L) / 3) by apply Rmin_r.
  assert (H0 : 0 < eta) by (unfold eta; apply Rmin_glb_lt; lra).
  clearbody eta.
  destruct (proposition_1s_no_content L eta HL ltac:(lra)) as [a [V [Ha [Hl Hm]]]].
  assert (HI : is_instance L 0 (zero_instance 3)) by (apply zero_instance_ok; lia).
  specialize (H a V eta Ha Hl ltac:(lra) (zero_instance 3) 2%nat HI ltac:(lia) ltac:(simpl; lia)).
  rewrite Hm in H by (assumption || (simpl; lia) || lia).
  set (k := kappa L) in *. clearbody k. clear Hm Hl Ha HI HL.
  apply (Rmult_le_compat_r ((2 * k + eta) * (K - eta))) in H; [|apply Rmult_le_pos; lra].
  replace (2 * eta / (2 * k + eta) * ((2 * k + eta) * (K - eta))) with (eta * (2 * (K - eta))) in H by (field; lra).
  replace (eta / (K - eta) * ((2 * k + eta) * (K - eta))) with (eta * (2 * k + eta)) in H by (field; lra).
  apply Rmult_le_reg_l in H; [|assumption]. lra.
Qed.
