(** * False variants of Theorems 1 and 2, each refuted by a counterexample. *)
From Coq Require Import Reals Lra Lia Arith List.
From Sinkproof Require Import Sums Task HeadVW SharpHead Proposition1s Theorem1 Theorem2Core.
Open Scope R_scope.

(** ** A larger constant *)

(** Theorem 1 is false with any constant K > 1/4 in place of kappa_L, for every L
    and d (kappa_L tends to 1/4): use the head of Proposition 1s with small eta. *)
Theorem not_theorem_1_with_larger_kappa (L d : nat) (K : R) : (4 <= L)%nat -> 1 / 4 < K ->
  ~ (forall (a : attention) (V : mat) (eta : R),
       normalised_causal L d a -> worst_case_loss L d (target d) (head d a V) eta -> eta < K / 2 ->
       forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
       leak a I i <= eta / (K - eta)).
Proof.
  intros HL HK H. set (eta := Rmin (1 / 16) ((K - 1 / 4) / 2)).
  assert (H1 : eta <= 1 / 16) by apply Rmin_l.
  assert (H2 : eta <= (K - 1 / 4) / 2) by apply Rmin_r.
  assert (H0 : 0 < eta) by (unfold eta; apply Rmin_glb_lt; lra).
  clearbody eta.
  destruct (proposition_1s_leak L d eta HL ltac:(lra)) as [a [V [Ha [_ [Hl [I [i [HI [Hi [Hj Hm]]]]]]]]]].
  specialize (H a V eta Ha Hl ltac:(lra) I i HI Hi Hj). rewrite Hm in H.
  assert (C : 4 * eta * (K - eta) <= eta * (1 + 2 * eta)).
  { apply (Rmult_le_compat_r ((1 + 2 * eta) * (K - eta))) in H.
    - replace (4 * eta / (1 + 2 * eta) * ((1 + 2 * eta) * (K - eta))) with (4 * eta * (K - eta)) in H by (field; lra).
      replace (eta / (K - eta) * ((1 + 2 * eta) * (K - eta))) with (eta * (1 + 2 * eta)) in H by (field; lra).
      exact H.
    - apply Rmult_le_pos; lra. }
  assert (D : 0 < eta * (4 * (K - eta) - (1 + 2 * eta))).
  { apply Rmult_lt_0_compat; [assumption|lra]. }
  lra.
Qed.

(** ** The trigger position *)

(** Theorem 1 is false at the trigger position: the exact head has loss 0 and no
    weight on BOS there. *)
Theorem not_theorem_1_at_the_trigger (L d : nat) : (4 <= L)%nat ->
  ~ (forall (a : attention) (V : mat) (eta : R),
       normalised_causal L d a -> worst_case_loss L d (target d) (head d a V) eta -> eta < kappa L / 2 ->
       forall I i, is_instance L d I -> (2 <= i <= L)%nat ->
       leak a I i <= eta / (kappa L - eta)).
Proof.
  intros HL H. assert (Hk := kappa_pos L HL).
  assert (HI : is_instance L d (zero_instance 3)) by (apply zero_instance_ok; lia).
  specialize (H exact_attention (VW (fun _ => 0)) 0 (exact_attention_normalised_causal L d)).
  specialize (H ltac:(apply (worst_case_loss_attained L d _ _ 0 (zero_instance 3) 1 0); try lia; try assumption;
    [intros I HI' i r Hi Hr|]; rewrite (exact_head L) by (assumption || lia);
    rewrite Rminus_eq_0, Rabs_R0; lra) ltac:(lra) (zero_instance 3) 3%nat HI ltac:(lia)).
  unfold leak, sink_weight, exact_attention in H. simpl in H.
  rewrite uniform_row_out in H by lia. unfold Rdiv in H. rewrite Rmult_0_l in H. lra.
Qed.

(** ** Position 1 *)

(** Theorem 1 is false if position 1 does not count in the loss (here d = 0): let V be the
    identity on W, V e_B = -e_N, and let every non-trigger row i >= 2 put half its
    weight on BOS and half on position 2: the errors at positions i >= 2 are all
    zero and every leak is 1/2. *)
Theorem not_theorem_1_without_position_1 (L : nat) : (4 <= L)%nat ->
  ~ (forall (a : attention) (V : mat) (eta : R),
       normalised_causal L 0 a ->
       (forall I i r, is_instance L 0 I -> (2 <= i <= L)%nat -> (r < 3)%nat ->
          Rabs (head 0 a V I i r - target 0 I i r) <= eta) ->
       0 <= eta < kappa L / 2 ->
       forall I i, is_instance L 0 I -> (2 <= i <= L)%nat -> i <> trig I ->
       leak a I i <= eta / (kappa L - eta)).
Proof.
  intros HL H. assert (Hk := kappa_pos L HL).
  set (half := fun k : nat => if (k =? 1)%nat then 1 / 2 else if (k =? 2)%nat then 1 / 2 else 0).
  set (a := fun (I : inst) (i k : nat) =>
    if (i =? trig I)%nat then uniform_row i k else if (i =? 1)%nat then bos_row k else half k).
  assert (Ha : normalised_causal L 0 a).
  { intros I HI i Hi. assert (N := exact_attention_normalised_causal L 0 I HI i Hi).
    unfold exact_attention in N. unfold a. destruct (Nat.eqb_spec i (trig I)) as [E|E]; [exact N|].
    destruct (Nat.eqb_spec i 1) as [E1|E1]; [exact N|]. unfold half. split; [|split].
    - intros k _. destruct (k =? 1)%nat; [lra|]. destruct (k =? 2)%nat; lra.
    - intros k Hk'. destruct (Nat.eqb_spec k 1); [lia|]. destruct (Nat.eqb_spec k 2); [lia|reflexivity].
    - rewrite (bsum_pull 1 i 1), (bsum_pull 1 i 2) by lia. simpl Nat.eqb. cbv iota.
      rewrite bsum_zero_ext; [lra|]. intros k Hk'. destruct (k =? 2)%nat, (k =? 1)%nat; reflexivity. }
  specialize (H a (VW (fun r => if (r =? 2)%nat then - (1) else 0)) 0 Ha).
  assert (Hl : forall I i r, is_instance L 0 I -> (2 <= i <= L)%nat -> (r < 3)%nat ->
    Rabs (head 0 a (VW (fun r => if (r =? 2)%nat then - (1) else 0)) I i r - target 0 I i r) <= 0).
  { intros I i r HI Hi Hr. assert (Hj := proj1 HI). rewrite head_VW by lia. unfold a.
    destruct (Nat.eqb_spec i (trig I)) as [E|E].
    - rewrite uniform_row_target by (assumption || lia). rewrite uniform_row_out by lia.
      rewrite Rmult_0_l, Rplus_0_l, Rminus_eq_0, Rabs_R0. lra.
    - destruct (Nat.eqb_spec i 1); [lia|]. rewrite target_off by assumption.
      rewrite (bsum_pull 2 i 2) by lia. rewrite (bsum_zero_ext 2 i (fun k => if (k =? 2)%nat then 0 else _)).
      2:{ intros k Hk'. unfold half. destruct (Nat.eqb_spec k 1); [lia|]. destruct (k =? 2)%nat; ring. }
      unfold half. simpl Nat.eqb. cbv iota.
      assert (T : token 0 I 2 r = if (r =? 2)%nat then 1 else 0).
      { destruct r as [|[|[|r]]]; try lia.
        - apply token_B. lia.
        - rewrite token_T by lia. destruct (Nat.eqb_spec 2 (trig I)); [lia|reflexivity].
        - assert (HN := token_N 0 I 2 ltac:(lia)). change (0 + 2)%nat with 2%nat in HN. rewrite HN.
          destruct (Nat.eqb_spec 2 (trig I)); [lia|reflexivity]. }
      rewrite T. destruct (r =? 2)%nat; apply Rabs_le; lra. }
  specialize (H Hl ltac:(lra) (zero_instance 3) 4%nat ltac:(apply zero_instance_ok; lia) ltac:(lia) ltac:(simpl; lia)).
  unfold leak, sink_weight, a, half in H. simpl in H. unfold Rdiv at 2 in H. rewrite Rmult_0_l in H. lra.
Qed.

(** ** Rows that do not sum to one *)

(** Causal rows with nonnegative weights whose sum is s (instead of 1). *)
Definition causal_with_sum (s : R) (L d : nat) (a : attention) : Prop :=
  forall I, is_instance L d I -> forall i, (1 <= i <= L)%nat ->
  (forall k, (1 <= k <= L)%nat -> 0 <= a I i k) /\
  (forall k, (i < k <= L)%nat -> a I i k = 0) /\
  bsum 1 i (fun k => a I i k) = s.

(** Causal rows with nonnegative weights whose sum is at most 1. *)
Definition subnormalised_causal (L d : nat) (a : attention) : Prop :=
  forall I, is_instance L d I -> forall i, (1 <= i <= L)%nat ->
  (forall k, (1 <= k <= L)%nat -> 0 <= a I i k) /\
  (forall k, (i < k <= L)%nat -> a I i k = 0) /\
  bsum 1 i (fun k => a I i k) <= 1.

Lemma exact_loss_zero L d M : (3 <= L)%nat ->
  (forall I i r, is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat -> M I i r = target d I i r) ->
  worst_case_loss L d (target d) M 0.
Proof.
  intros HL H. apply (worst_case_loss_attained L d _ _ 0 (zero_instance 3) 1 0); try lia.
  - intros I HI i r Hi Hr. rewrite H by assumption. rewrite Rminus_eq_0, Rabs_R0. lra.
  - apply zero_instance_ok. lia.
  - rewrite H by (lia || apply zero_instance_ok; lia). rewrite Rminus_eq_0. apply Rabs_R0.
Qed.

(** Trigger rows uniform on 2 .. j, all other rows zero. *)
Definition zero_off_trigger : attention := fun I i k =>
  if (i =? trig I)%nat then uniform_row i k else 0.

(** Theorem 1 is false for rows whose sum is at most 1: a head with zero rows off
    the trigger has loss 0, and no sink anywhere. *)
Theorem not_theorem_1_subnormalised (L d : nat) : (4 <= L)%nat ->
  ~ (forall (a : attention) (V : mat) (eta : R),
       subnormalised_causal L d a -> worst_case_loss L d (target d) (head d a V) eta -> eta < kappa L / 2 ->
       forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
       leak a I i <= eta / (kappa L - eta)).
Proof.
  intros HL H. assert (Hk := kappa_pos L HL).
  assert (Hs : subnormalised_causal L d zero_off_trigger).
  { intros I HI i Hi. unfold zero_off_trigger. destruct (Nat.eqb_spec i (trig I)) as [E|E].
    - assert (N := exact_attention_normalised_causal L d I HI i Hi).
      unfold exact_attention in N. rewrite E, Nat.eqb_refl in N. rewrite E.
      destruct N as [N1 [N2 N3]]. split; [assumption|]. split; [assumption|]. right. exact N3.
    - rewrite bsum_zero. split; [intros; lra|]. split; [reflexivity|lra]. }
  assert (Hl : worst_case_loss L d (target d) (head d zero_off_trigger (VW (fun _ => 0))) 0).
  { apply exact_loss_zero; [lia|]. intros I i r HI Hi Hr. assert (Hj := proj1 HI).
    rewrite head_VW by lia. unfold zero_off_trigger. destruct (Nat.eqb_spec i (trig I)) as [E|E].
    - rewrite uniform_row_target by (assumption || lia). ring.
    - rewrite target_off, bsum_zero_ext by (assumption || intros; ring). ring. }
  specialize (H _ _ 0 Hs Hl ltac:(lra) (zero_instance 3) 4%nat ltac:(apply zero_instance_ok; lia) ltac:(lia) ltac:(simpl; lia)).
  unfold leak, sink_weight, zero_off_trigger in H. simpl in H.
  unfold Rdiv in H. rewrite Rmult_0_l in H. lra.
Qed.

(** Theorem 1 is false for rows that sum to 9/10: the exact head scaled by 9/10, with
    V scaled by 10/9, has loss 0 and every weight on BOS is at most 9/10. *)
Theorem not_theorem_1_rows_of_sum_nine_tenths (L d : nat) : (4 <= L)%nat ->
  ~ (forall (a : attention) (V : mat) (eta : R),
       causal_with_sum (9 / 10) L d a -> worst_case_loss L d (target d) (head d a V) eta -> eta < kappa L / 2 ->
       forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
       leak a I i <= eta / (kappa L - eta)).
Proof.
  intros HL H. assert (Hk := kappa_pos L HL).
  set (a := fun (I : inst) (i k : nat) => 9 / 10 * exact_attention I i k).
  set (V := fun r s => 10 / 9 * VW (fun _ => 0) r s).
  assert (Hs : causal_with_sum (9 / 10) L d a).
  { intros I HI i Hi. destruct (exact_attention_normalised_causal L d I HI i Hi) as [N1 [N2 N3]].
    unfold a. split; [intros k Hk'; specialize (N1 k Hk'); lra|].
    split; [intros k Hk'; rewrite N2 by assumption; ring|].
    rewrite (bsum_scal 1 i (9 / 10) (fun k => exact_attention I i k)), N3. ring. }
  assert (Hl : worst_case_loss L d (target d) (head d a V) 0).
  { apply exact_loss_zero; [lia|]. intros I i r HI Hi Hr.
    rewrite <- (exact_head L) by assumption. apply bsum_ext. intros k Hk'.
    unfold a, V. unfold mv at 1.
    rewrite (bsum_ext _ _ _ (fun s => 10 / 9 * (VW (fun _ => 0) r s * token d I k s))) by (intros; ring).
    rewrite bsum_scal. fold (mv d (VW (fun _ => 0)) (token d I k) r). field. }
  specialize (H _ _ 0 Hs Hl ltac:(lra) (zero_instance 3) 4%nat ltac:(apply zero_instance_ok; lia) ltac:(lia) ltac:(simpl; lia)).
  unfold leak, sink_weight, a, exact_attention, bos_row in H. simpl in H.
  unfold Rdiv in H. rewrite Rmult_0_l in H. lra.
Qed.

(** ** Rows with negative weights *)

(** Causal rows that sum to one; weights may be negative. *)
Definition signed_causal (L d : nat) (a : attention) : Prop :=
  forall I, is_instance L d I -> forall i, (1 <= i <= L)%nat ->
  (forall k, (i < k <= L)%nat -> a I i k = 0) /\
  bsum 1 i (fun k => a I i k) = 1.

(** The counterexample (d = 0): V keeps e_N, kills e_T, and sends e_B to eta e_T. The
    trigger row gets its e_T from a huge weight on BOS, paid for by a negative
    weight on the trigger; rows after the trigger rest on the trigger. *)
Definition signed_value (eta : R) : mat := fun r s =>
  if ((r =? 1) && (s =? 0))%nat%bool then eta
  else if ((r =? 2) && (s =? 2))%nat%bool then 1 else 0.

Definition signed_attention (eta : R) : attention := fun I i k =>
  if (i <? trig I)%nat then bos_row k
  else if (trig I <? i)%nat then (if (k =? trig I)%nat then 1 else 0)
  else if (k =? 1)%nat then / INR (i - 1) / eta
  else if (k =? i)%nat then / INR (i - 1) - / INR (i - 1) / eta
  else if (k <? i)%nat then / INR (i - 1) else 0.

(** Output: eta a_i1 in coordinate T, the ordinary mass in coordinate N. *)
Lemma signed_head eta a I i r : (1 <= i)%nat -> (r < 3)%nat ->
  head 0 a (signed_value eta) I i r =
  if (r =? 1)%nat then a I i 1%nat * eta
  else if (r =? 2)%nat then bsum 2 i (fun k => if (k =? trig I)%nat then 0 else a I i k) else 0.
Proof.
  intros Hi Hr. unfold head, layer.
  assert (Hmv : forall x, mv 0 (signed_value eta) x r =
    if (r =? 1)%nat then eta * x 0%nat else if (r =? 2)%nat then x 2%nat else 0).
  { intros x. unfold mv. simpl (0 + 2)%nat. rewrite !bsum_last, bsum_single by lia. unfold signed_value.
    destruct r as [|[|[|r]]]; simpl; try lia; ring. }
  rewrite bsum_first by lia. rewrite Hmv. rewrite !token_bos. simpl Nat.eqb.
  rewrite (bsum_ext 2 i _ (fun k => if (r =? 2)%nat then (if (k =? trig I)%nat then 0 else a I i k) else 0)).
  - destruct r as [|[|[|r]]]; simpl; try lia; rewrite ?bsum_zero; ring.
  - intros k Hk. rewrite Hmv. rewrite token_B by lia.
    assert (HN := token_N 0 I k ltac:(lia)). simpl in HN. rewrite HN.
    destruct r as [|[|[|r]]]; simpl; try lia; try ring. destruct (k =? trig I)%nat; ring.
Qed.

Lemma signed_trigger_row eta I : (3 <= trig I)%nat -> eta <> 0 ->
  bsum 2 (trig I) (fun k => if (k =? trig I)%nat then 0 else signed_attention eta I (trig I) k)
  = 1 - / INR (trig I - 1).
Proof.
  intros Hj He. rewrite (bsum_ext _ _ _ (fun k => / INR (trig I - 1) - (if (k =? trig I)%nat then / INR (trig I - 1) else 0))).
  - rewrite bsum_minus, (bsum_indicator _ _ _ (fun _ => / INR (trig I - 1))), bsum_const by lia.
    replace (S (trig I) - 2)%nat with (trig I - 1)%nat by lia. field. apply not_0_INR. lia.
  - intros k Hk. destruct (Nat.eqb_spec k (trig I)) as [E|E]; [ring|].
    unfold signed_attention. rewrite !Nat.ltb_irrefl.
    destruct (Nat.eqb_spec k 1); [lia|]. destruct (Nat.eqb_spec k (trig I)); [contradiction|].
    destruct (Nat.ltb_spec k (trig I)); [ring|lia].
Qed.

Lemma signed_attention_causal L eta : eta <> 0 -> signed_causal L 0 (signed_attention eta).
Proof.
  intros He I [Hj _] i Hi. unfold signed_attention.
  destruct (Nat.ltb_spec i (trig I)) as [H1|H1]; [|destruct (Nat.ltb_spec (trig I) i) as [H2|H2]].
  - split; [|apply bos_row_sum; lia]. intros k Hk. unfold bos_row. destruct (Nat.eqb_spec k 1); [lia|reflexivity].
  - split.
    + intros k Hk. destruct (Nat.eqb_spec k (trig I)); [lia|reflexivity].
    + rewrite (bsum_indicator 1 i (trig I) (fun _ => 1)) by lia. reflexivity.
  - replace i with (trig I) by lia. split.
    + intros k Hk. destruct (Nat.eqb_spec k 1); [lia|]. destruct (Nat.eqb_spec k (trig I)); [lia|].
      destruct (Nat.ltb_spec k (trig I)); [lia|reflexivity].
    + rewrite bsum_first by lia. rewrite (bsum_pull 2 (trig I) (trig I)) by lia. simpl (1 =? 1)%nat.
      assert (S := signed_trigger_row eta I ltac:(lia) He).
      unfold signed_attention in S. rewrite !Nat.ltb_irrefl in S. rewrite S.
      rewrite Nat.eqb_refl. destruct (Nat.eqb_spec (trig I) 1); [lia|]. cbv iota. ring.
Qed.

Lemma signed_loss L eta : (4 <= L)%nat -> 0 < eta ->
  worst_case_loss L 0 (target 0) (head 0 (signed_attention eta) (signed_value eta)) eta.
Proof.
  intros HL He. apply (worst_case_loss_attained L 0 _ _ eta (zero_instance 3) 1 1); try lia.
  - intros I HI i r Hi Hr. assert (Hj := proj1 HI). rewrite signed_head by lia.
    destruct (Nat.eq_dec i (trig I)) as [->|Hne].
    + assert (HT := target_at 0 I 0%nat).
      rewrite signed_trigger_row by (lia || lra).
      assert (Hz : INR (trig I - 1) <> 0) by (apply not_0_INR; lia).
      destruct r as [|[|[|r]]]; try lia; simpl Nat.eqb; cbv iota.
      * rewrite HT, bsum_zero_ext by (intros; apply token_B; lia).
        rewrite Rmult_0_r, Rminus_eq_0, Rabs_R0. lra.
      * assert (HTT : target 0 I (trig I) 1%nat = / INR (trig I - 1)).
        { rewrite target_at, (bsum_ext _ _ _ (fun k => if (k =? trig I)%nat then 1 else 0)).
          - rewrite (bsum_indicator _ _ _ (fun _ => 1)) by lia. ring.
          - intros k Hk. apply token_T. lia. }
        rewrite HTT. unfold signed_attention. rewrite !Nat.ltb_irrefl. simpl (1 =? 1)%nat. cbv iota.
        replace (/ INR (trig I - 1) / eta * eta - / INR (trig I - 1)) with 0 by (field; lra).
        rewrite Rabs_R0. lra.
      * assert (HTN : target 0 I (trig I) 2%nat = 1 - / INR (trig I - 1)).
        { rewrite target_at, (bsum_ext _ _ _ (fun k => 1 - if (k =? trig I)%nat then 1 else 0)).
          - rewrite bsum_minus, (bsum_indicator _ _ _ (fun _ => 1)), bsum_const by lia.
            replace (S (trig I) - 2)%nat with (trig I - 1)%nat by lia. field. assumption.
          - intros k Hk. assert (HN := token_N 0 I k ltac:(lia)). simpl in HN. rewrite HN.
            destruct (k =? trig I)%nat; ring. }
        rewrite HTN, Rminus_eq_0, Rabs_R0. lra.
    + rewrite target_off, Rminus_0_r by assumption. unfold signed_attention.
      destruct (Nat.ltb_spec i (trig I)) as [H1|H1]; [|destruct (Nat.ltb_spec (trig I) i) as [H2|H2]; [|lia]].
      * rewrite bsum_zero_ext.
        2:{ intros k Hk. unfold bos_row. destruct (k =? trig I)%nat; [reflexivity|].
            destruct (Nat.eqb_spec k 1); [lia|reflexivity]. }
        unfold bos_row. simpl (1 =? 1)%nat. cbv iota.
        destruct (r =? 1)%nat; [|destruct (r =? 2)%nat]; rewrite ?Rmult_1_l, ?Rabs_R0, ?Rabs_pos_eq; lra.
      * rewrite bsum_zero_ext by (intros k Hk; destruct (k =? trig I)%nat; reflexivity).
        destruct (Nat.eqb_spec 1 (trig I)); [lia|].
        destruct (r =? 1)%nat; [|destruct (r =? 2)%nat]; rewrite ?Rmult_0_l, ?Rabs_R0; lra.
  - apply zero_instance_ok. lia.
  - rewrite signed_head by lia. simpl Nat.eqb. cbv iota.
    unfold signed_attention. simpl. unfold bos_row. simpl. rewrite target_off by (simpl; lia).
    rewrite Rminus_0_r, Rmult_1_l. apply Rabs_pos_eq. lra.
Qed.

(** Theorem 1 is false for signed rows that sum to one: for every L and every
    0 < eta < kappa_L / 2 there is a head of worst-case loss exactly eta with no
    weight on BOS at all after the trigger. *)
Theorem not_theorem_1_signed_rows (L : nat) (eta : R) : (4 <= L)%nat -> 0 < eta < kappa L / 2 ->
  ~ (forall (a : attention) (V : mat),
       signed_causal L 0 a -> worst_case_loss L 0 (target 0) (head 0 a V) eta ->
       forall I i, is_instance L 0 I -> (2 <= i <= L)%nat -> i <> trig I ->
       leak a I i <= eta / (kappa L - eta)).
Proof.
  intros HL He H. assert (Hk := kappa_pos L HL).
  specialize (H (signed_attention eta) (signed_value eta) (signed_attention_causal L eta ltac:(lra))
    (signed_loss L eta HL ltac:(lra)) (zero_instance 3) 4%nat ltac:(apply zero_instance_ok; lia)
    ltac:(lia) ltac:(simpl; lia)).
  unfold leak, sink_weight, signed_attention in H. simpl in H.
  apply (Rmult_le_compat_r (kappa L - eta)) in H; [|lra].
  unfold Rdiv in H. rewrite Rmult_assoc, Rinv_l in H by lra. lra.
Qed.

(** ** Depth: not every layer has a sink *)

(** First layer: every position attends to itself. Second layer: the exact head. *)
Definition two_layers : list (attention * mat) :=
  (identity_attention, VW (fun _ => 0)) :: (exact_attention, VW (fun _ => 0)) :: nil.

Lemma two_layers_normalised L d : forall l, In l two_layers -> normalised_causal L d (fst l).
Proof.
  intros l [<-|[<-|[]]]; simpl.
  - apply identity_attention_normalised_causal.
  - apply exact_attention_normalised_causal.
Qed.

Lemma two_layers_loss L d : (4 <= L)%nat -> worst_case_loss L d (target d) (stack d two_layers) 0.
Proof.
  intros HL.
  apply exact_loss_zero; [lia|]. intros I i r HI Hi Hr.
  rewrite <- (exact_head L) by assumption. unfold two_layers, stack, head. simpl.
  apply bsum_ext. intros k Hk'. f_equal.
  transitivity (mv d (VW (fun _ => 0)) (mv d (VW (fun _ => 0)) (token d I k)) r).
  - apply mv_ext. intros s Hs. unfold layer, identity_attention.
    rewrite (bsum_ext 1 k _ (fun k0 => if (k0 =? k)%nat then mv d (VW (fun _ => 0)) (token d I k0) s else 0)).
    + rewrite (bsum_indicator 1 k k) by lia. reflexivity.
    + intros k0 _. destruct (k0 =? k)%nat; ring.
  - rewrite !mv_VW by lia. destruct (Nat.eqb_spec r 0); ring.
Qed.

(** Theorem 2 is false if "some layer" is replaced by "every layer": in this stack of
    loss 0 the first layer has no weight on BOS at any position i >= 2. *)
Theorem not_theorem_2_every_layer (L d : nat) : (4 <= L)%nat ->
  ~ (forall (ls : list (attention * mat)) (eta : R),
       ls <> nil -> (forall l, In l ls -> normalised_causal L d (fst l)) ->
       worst_case_loss L d (target d) (stack d ls) eta -> eta < kappa L / 2 ->
       forall I i x, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
       0 <= x -> x ^ length ls = eta / (kappa L - eta) ->
       forall l, In l ls -> exists k, (2 <= k <= i)%nat /\ 1 - x <= sink_weight (fst l) I k).
Proof.
  intros HL H. assert (Hk := kappa_pos L HL).
  assert (Hn := two_layers_normalised L d). assert (Hl := two_layers_loss L d HL).
  destruct (H two_layers 0 ltac:(discriminate) Hn Hl ltac:(lra) (zero_instance 3) 4%nat 0
    ltac:(apply zero_instance_ok; lia) ltac:(lia) ltac:(simpl; lia) ltac:(lra)
    ltac:(simpl; unfold Rdiv; ring) _ (or_introl eq_refl)) as [k [Hk2 E]].
  unfold sink_weight in E. simpl in E. unfold identity_attention in E.
  destruct (Nat.eqb_spec 1 k); [lia|lra].
Qed.
