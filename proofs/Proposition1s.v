(** * Proposition 1s: sharpness of Theorem 1. *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task HeadVW SharpHead.
Open Scope R_scope.

(** Row 4 of the special instance (trigger at 3, no content): m/2 on one ordinary
    token, m/2 on the trigger, the rest on BOS. *)
Definition sharp_row (m : R) (k : nat) : R :=
  if (k =? 1)%nat then 1 - m
  else if (k =? 2)%nat then m / 2
  else if (k =? 3)%nat then m / 2
  else 0.

Definition sharp_attention (L d : nat) (eta : R) : attention :=
  one_row_attention L d 4 (sharp_row (4 * eta / (1 + 2 * eta))).

(** V e_B = -eta (e_N + e_T), identity on W. *)
Definition sharp_value (d : nat) (eta : R) : mat :=
  VW (fun r => if (r =? 1)%nat then - eta else if (r =? d + 2)%nat then - eta else 0).

Lemma sharp_facts L d eta : (4 <= L)%nat -> 0 < eta < 1 / 2 ->
  normalised_causal L d (sharp_attention L d eta) /\
  worst_case_loss L d (target d) (head d (sharp_attention L d eta) (sharp_value d eta)) eta /\
  leak (sharp_attention L d eta) (zero_instance 3) 4 = 4 * eta / (1 + 2 * eta).
Proof.
  intros HL He. set (m := 4 * eta / (1 + 2 * eta)).
  assert (Hm : m * (1 + 2 * eta) = 4 * eta) by (unfold m; field; lra).
  assert (Hm0 : 0 <= m) by (apply Rmult_le_reg_r with (1 + 2 * eta); lra).
  assert (Hm1 : m <= 1) by (apply Rmult_le_reg_r with (1 + 2 * eta); lra).
  assert (Hpos : forall k, 0 <= sharp_row m k).
  { intros k. unfold sharp_row. destruct (k =? 1)%nat; [lra|]. destruct (k =? 2)%nat; [lra|].
    destruct (k =? 3)%nat; lra. }
  assert (Hcausal : forall k, (4 < k)%nat -> sharp_row m k = 0).
  { intros k Hk. unfold sharp_row. destruct (Nat.eqb_spec k 1); [lia|].
    destruct (Nat.eqb_spec k 2); [lia|]. destruct (Nat.eqb_spec k 3); [lia|reflexivity]. }
  assert (Hsum : bsum 1 4 (sharp_row m) = 1).
  { rewrite !bsum_last, bsum_empty by lia. unfold sharp_row. simpl. lra. }
  unfold sharp_attention. fold m. split; [|split].
  - apply one_row_normalised_causal; (assumption || lia).
  - unfold sharp_value. apply one_row_worst_case_loss with (r := 1%nat); try assumption; try lia; try lra.
    + intros r Hr. destruct (r =? 1)%nat; [|destruct (r =? d + 2)%nat];
        rewrite ?Rabs_Ropp, ?Rabs_R0, ?Rabs_pos_eq; lra.
    + intros r Hr. rewrite !bsum_last, bsum_empty by lia.
      rewrite (zero_token_ordinary d 3 2) by (assumption || lia).
      rewrite (zero_token_trigger d 3) by (assumption || lia).
      rewrite (zero_token_ordinary d 3 4) by (assumption || lia).
      unfold sharp_row. cbn [Nat.eqb].
      destruct (Nat.eqb_spec r 1) as [H1|H1]; destruct (Nat.eqb_spec r (d + 2)) as [H2|H2];
        try lia; apply Rabs_le; lra.
    + simpl. rewrite Rabs_Ropp, Rabs_pos_eq; lra.
  - rewrite one_row_leak by lia. unfold sharp_row. simpl. ring.
Qed.

(** For every L >= 4 and 0 < eta < 1/2 there is a head with normalised
    causal attention and worst-case loss exactly eta, and an instance with a non-trigger
    position i >= 2, whose leak is 4 eta / (1 + 2 eta). *)
Theorem proposition_1s_leak (L d : nat) (eta : R) : (4 <= L)%nat -> 0 < eta < 1 / 2 ->
  exists (a : attention) (V : mat),
    normalised_causal L d a /\ identity_on_W d V /\
    worst_case_loss L d (target d) (head d a V) eta /\
    exists I i, is_instance L d I /\ (2 <= i <= L)%nat /\ i <> trig I /\
                leak a I i = 4 * eta / (1 + 2 * eta).
Proof.
  intros HL He. destruct (sharp_facts L d eta HL He) as [H1 [H2 H3]].
  exists (sharp_attention L d eta), (sharp_value d eta). split; [assumption|]. split; [|split; [assumption|]].
  - intros r s Hr Hs. unfold sharp_value, VW. destruct (Nat.eqb_spec s 0); [lia|reflexivity].
  - exists (zero_instance 3), 4%nat. split; [apply zero_instance_ok; lia|].
    split; [lia|]. split; [simpl; lia|assumption].
Qed.

(** No constant below 4 works: for c < 4 there are heads of arbitrarily small
    worst-case loss eta with a leak above c eta (Theorem 1 gives eta / (kappa_L - eta),
    where 1 / kappa_L tends to 4 as L grows). *)
Theorem proposition_1s_constant (L d : nat) (c eta0 : R) : (4 <= L)%nat -> c < 4 -> 0 < eta0 ->
  exists eta, 0 < eta < eta0 /\
  exists (a : attention) (V : mat),
    normalised_causal L d a /\
    worst_case_loss L d (target d) (head d a V) eta /\
    exists I i, is_instance L d I /\ (2 <= i <= L)%nat /\ i <> trig I /\ c * eta < leak a I i.
Proof.
  intros HL Hc He0. set (eta := Rmin (eta0 / 2) (Rmin (1 / 4) ((4 - c) / 16))).
  assert (H1 : eta <= eta0 / 2) by apply Rmin_l.
  assert (H2 : eta <= Rmin (1 / 4) ((4 - c) / 16)) by apply Rmin_r.
  assert (H3 := Rmin_l (1 / 4) ((4 - c) / 16)). assert (H4 := Rmin_r (1 / 4) ((4 - c) / 16)).
  assert (H0 : 0 < eta) by (unfold eta; repeat apply Rmin_glb_lt; lra).
  clearbody eta. exists eta. split; [lra|].
  destruct (proposition_1s_leak L d eta HL ltac:(lra)) as [a [V [Ha [_ [Hl [I [i [HI [Hi [Hj Hm]]]]]]]]]].
  exists a, V. split; [assumption|]. split; [assumption|]. exists I, i.
  split; [assumption|]. split; [assumption|]. split; [assumption|].
  rewrite Hm. apply Rmult_lt_reg_r with (1 + 2 * eta); [lra|].
  replace (4 * eta / (1 + 2 * eta) * (1 + 2 * eta)) with (eta * 4) by (field; lra).
  replace (c * eta * (1 + 2 * eta)) with (eta * (c * (1 + 2 * eta))) by ring.
  apply Rmult_lt_compat_l; [assumption|].
  assert (0 < (4 - c) * eta) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

(** ** The same construction before the trigger *)

(** Row 2 of the special instance: m on the ordinary token 2, the rest on BOS. *)
Definition early_row (m : R) (k : nat) : R :=
  if (k =? 1)%nat then 1 - m else if (k =? 2)%nat then m else 0.

(** Before the trigger: for 0 < eta < 1 there is a head with worst-case loss exactly eta
    and a position 2 <= i < j whose leak is 2 eta / (1 + eta). *)
Theorem proposition_1s_before (L d : nat) (eta : R) : (4 <= L)%nat -> 0 < eta < 1 ->
  exists (a : attention) (V : mat),
    normalised_causal L d a /\ identity_on_W d V /\
    worst_case_loss L d (target d) (head d a V) eta /\
    exists I i, is_instance L d I /\ (2 <= i < trig I)%nat /\
                leak a I i = 2 * eta / (1 + eta).
Proof.
  intros HL He. set (m := 2 * eta / (1 + eta)).
  assert (Hm : m * (1 + eta) = 2 * eta) by (unfold m; field; lra).
  assert (Hm0 : 0 <= m) by (apply Rmult_le_reg_r with (1 + eta); lra).
  assert (Hm1 : m <= 1) by (apply Rmult_le_reg_r with (1 + eta); lra).
  assert (Hpos : forall k, 0 <= early_row m k).
  { intros k. unfold early_row. destruct (k =? 1)%nat; [lra|]. destruct (k =? 2)%nat; lra. }
  assert (Hcausal : forall k, (2 < k)%nat -> early_row m k = 0).
  { intros k Hk. unfold early_row. destruct (Nat.eqb_spec k 1); [lia|].
    destruct (Nat.eqb_spec k 2); [lia|reflexivity]. }
  assert (Hsum : bsum 1 2 (early_row m) = 1).
  { rewrite !bsum_last, bsum_empty by lia. unfold early_row. simpl. lra. }
  exists (one_row_attention L d 2 (early_row m)), (VW (fun r => if (r =? d + 2)%nat then - eta else 0)).
  split; [|split; [|split]].
  - apply one_row_normalised_causal; (assumption || lia).
  - intros r s Hr Hs. unfold VW. destruct (Nat.eqb_spec s 0); [lia|reflexivity].
  - apply one_row_worst_case_loss with (r := (d + 2)%nat); try assumption; try lia; try lra.
    + intros r Hr. destruct (r =? d + 2)%nat; rewrite ?Rabs_Ropp, ?Rabs_R0, ?Rabs_pos_eq; lra.
    + intros r Hr. rewrite bsum_single.
      rewrite (zero_token_ordinary d 3 2) by (assumption || lia).
      unfold early_row. cbn [Nat.eqb].
      destruct (Nat.eqb_spec r (d + 2)); apply Rabs_le; lra.
    + rewrite Nat.eqb_refl, Rabs_Ropp, Rabs_pos_eq; lra.
  - exists (zero_instance 3), 2%nat. split; [apply zero_instance_ok; lia|].
    split; [simpl; lia|]. rewrite one_row_leak by lia. unfold early_row. simpl. ring.
Qed.

(** Proposition 1s. For every L >= 4 and 0 < eta < 1/2 there are heads with normalised causal
    attention, V the identity on W and worst-case loss exactly eta, of which one has a leak
    of 4 eta / (1 + 2 eta) at a non-trigger position i >= 2 of some instance, and another a
    leak of 2 eta / (1 + eta) at a position before the trigger. *)
Theorem proposition_1s (L d : nat) (eta : R) : (4 <= L)%nat -> 0 < eta < 1 / 2 ->
  (exists (a : attention) (V : mat),
    normalised_causal L d a /\ identity_on_W d V /\
    worst_case_loss L d (target d) (head d a V) eta /\
    exists I i, is_instance L d I /\ (2 <= i <= L)%nat /\ i <> trig I /\
                leak a I i = 4 * eta / (1 + 2 * eta)) /\
  (exists (a : attention) (V : mat),
    normalised_causal L d a /\ identity_on_W d V /\
    worst_case_loss L d (target d) (head d a V) eta /\
    exists I i, is_instance L d I /\ (2 <= i < trig I)%nat /\
                leak a I i = 2 * eta / (1 + eta)).
Proof.
  intros HL He. split; [apply proposition_1s_leak|apply proposition_1s_before]; (assumption || lra).
Qed.
