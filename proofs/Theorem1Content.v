(** * Theorem 1 with content: for d >= 1 the leak is at most 4 eta + O(eta^2), with a
    constant free of L.

    By Proposition 1s (leak 4 eta / (1 + 2 eta) with loss eta) the constant 4 is optimal for
    every L; without content (d = 0) the optimal constant is 1 / kappa_L > 4. *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task Theorem1Core Theorem1Row Theorem1 Theorem1ContentCore.
Open Scope R_scope.

(** Content with coordinate 0 replaced by v. *)
Definition set0 (v : R) (c : nat -> R) : nat -> R := fun m => if (m =? 0)%nat then v else c m.

Lemma iota_set0 d v c s : (1 <= d)%nat ->
  iota d (set0 v c) s = iota d (set0 0 c) s + v * basis 2 s.
Proof.
  intros Hd. unfold iota, set0, basis. destruct (Nat.eqb_spec s 2) as [->|Hs].
  - destruct (Nat.ltb_spec 2 (d + 2)); [|lia]. simpl. ring.
  - destruct ((2 <=? s) && (s <? d + 2))%nat%bool eqn:E; [|ring].
    apply Bool.andb_true_iff in E. destruct E as [E _]. apply Nat.leb_le in E.
    destruct (Nat.eqb_spec (s - 2) 0); [lia|ring].
Qed.

Lemma ordinary_set0 d V v c r : (1 <= d)%nat ->
  mv d V (ordinary d (set0 v c)) r = mv d V (ordinary d (set0 0 c)) r + v * V r 2%nat.
Proof.
  intros Hd. rewrite <- (mv_basis d V 2) by lia. rewrite <- mv_scal, <- mv_add.
  apply mv_ext. intros s _. unfold ordinary, vadd. rewrite (iota_set0 d v) by assumption. ring.
Qed.

Lemma triggered_set0 d V v c r : (1 <= d)%nat ->
  mv d V (triggered d (set0 v c)) r = mv d V (triggered d (set0 0 c)) r + v * V r 2%nat.
Proof.
  intros Hd. rewrite <- (mv_basis d V 2) by lia. rewrite <- mv_scal, <- mv_add.
  apply mv_ext. intros s _. unfold triggered, vadd. rewrite (iota_set0 d v) by assumption. ring.
Qed.

Lemma set0_same d c s : iota d (set0 (c 0%nat) c) s = iota d c s.
Proof.
  unfold iota, set0. destruct ((2 <=? s) && (s <? d + 2))%nat%bool; [|reflexivity].
  destruct (Nat.eqb_spec (s - 2) 0) as [->|]; reflexivity.
Qed.

Lemma ordinary_split d V c r : (1 <= d)%nat ->
  mv d V (ordinary d c) r = mv d V (ordinary d (set0 0 c)) r + c 0%nat * V r 2%nat.
Proof.
  intros Hd. rewrite <- ordinary_set0 by assumption. apply mv_ext. intros s _.
  unfold ordinary, vadd. rewrite set0_same. reflexivity.
Qed.

Lemma triggered_split d V c r : (1 <= d)%nat ->
  mv d V (triggered d c) r = mv d V (triggered d (set0 0 c)) r + c 0%nat * V r 2%nat.
Proof.
  intros Hd. rewrite <- triggered_set0 by assumption. apply mv_ext. intros s _.
  unfold triggered, vadd. rewrite set0_same. reflexivity.
Qed.

(** Target of a probe whose contents all have the same coordinate 0. *)
Lemma probe_target_C d j v x t : (3 <= j)%nat -> (1 <= d)%nat ->
  target d (probe j (set0 v x) (set0 v t)) j 2%nat = v.
Proof.
  intros Hj Hd. change j with (trig (probe j (set0 v x) (set0 v t))) at 2. rewrite target_at. cbn [trig probe].
  rewrite (bsum_ext _ _ _ (fun _ => v)).
  - rewrite bsum_const. replace (S j - 2)%nat with (j - 1)%nat by lia.
    field. apply not_0_INR. lia.
  - intros k Hk. change 2%nat with (2 + 0)%nat. rewrite token_C by lia. simpl.
    destruct (k =? j)%nat; reflexivity.
Qed.

(** What a probe with all contents v in coordinate 0 says. *)
Lemma content_probe L d a V eta j v x t : (3 <= j <= L)%nat -> (1 <= d)%nat -> -1 <= v <= 1 ->
  0 <= eta -> normalised_causal L d a -> loss_at_most L d (target d) (head d a V) eta ->
  (forall m, (m < d)%nat -> -1 <= x m <= 1) -> (forall m, (m < d)%nat -> -1 <= t m <= 1) ->
  exists p q, 0 <= p + q <= 1 /\
  forall r, (r < d + 3)%nat ->
  Rabs (p * (mv d V (ordinary d (set0 0 x)) r + v * V r 2%nat)
        + q * (mv d V (triggered d (set0 0 t)) r + v * V r 2%nat)
        - target d (probe j (set0 v x) (set0 v t)) j r) <= 2 * eta.
Proof.
  intros Hj Hd Hv He Ha Hl Hx Ht.
  assert (Hx' : forall m, (m < d)%nat -> -1 <= set0 v x m <= 1).
  { intros m Hm. unfold set0. destruct (m =? 0)%nat; [assumption|apply Hx; assumption]. }
  assert (Ht' : forall m, (m < d)%nat -> -1 <= set0 v t m <= 1).
  { intros m Hm. unfold set0. destruct (m =? 0)%nat; [assumption|apply Ht; assumption]. }
  set (I := probe j (set0 v x) (set0 v t)).
  exists (ordinary_mass a I j), (trigger_mass a I j). split.
  - destruct (probe_row L d a V eta j _ _ 0 Hj Ha Hl Hx' Ht' ltac:(lia)) as [H1 [H2 [H3 _]]].
    fold I in H1, H2, H3. lra.
  - intros r Hr. destruct (probe_row L d a V eta j _ _ r Hj Ha Hl Hx' Ht' Hr) as [H1 [H2 [H3 H4]]].
    fold I in H1, H2, H3, H4. rewrite ordinary_set0, triggered_set0 in H4 by assumption.
    eapply Rle_trans; [exact H4|]. rewrite Rmult_comm. apply Rmult_le_compat_r; lra.
Qed.

(** Theorem 1 with content. If d >= 1 and the worst-case loss of a head with normalised
    causal attention is at most eta <= kappa_L / 12, then on every instance the mass off
    BOS is at most 4 eta (1 + 12 eta) at every non-trigger position i >= 2. *)
Theorem theorem_1_content (L d : nat) (a : attention) (V : mat) (Lambda eta : R) :
  (4 <= L)%nat -> (1 <= d)%nat -> normalised_causal L d a ->
  worst_case_loss L d (target d) (head d a V) Lambda -> Lambda <= eta -> eta <= kappa L / 12 ->
  forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
  leak a I i <= 4 * eta * (1 + 12 * eta).
Proof.
  intros HL Hd Ha HLam Hle He I i HI Hi Hne.
  assert (Hl := proj1 (worst_case_loss_le _ _ _ _ _ _ HLam) Hle). clear HLam Hle Lambda.
  destruct (w_facts L HL) as [Hw0 [Hw Hk]].
  assert (He0 : 0 <= eta).
  { apply Rle_trans with (Rabs (V 0%nat 0%nat)); [apply Rabs_pos|].
    apply (bos_value L d a); (assumption || lia). }
  assert (Hi1 : (1 <= i <= L)%nat) by lia.
  destruct (ordinary_barycentre L d a I i Ha HI Hi1) as [x [Hx1 Hx2]].
  set (t := cont I (trig I)).
  assert (Ht : forall m, (m < d)%nat -> -1 <= t m <= 1).
  { intros m Hm. destruct HI as [Hj Hc]. apply Hc; lia. }
  (* the row *)
  assert (Hrow : forall r, (r < d + 3)%nat ->
    Rabs (ordinary_mass a I i * (mv d V (ordinary d (set0 0 x)) r + x 0%nat * V r 2%nat)
          + trigger_mass a I i * (mv d V (triggered d (set0 0 t)) r + t 0%nat * V r 2%nat))
    <= eta * (2 - (ordinary_mass a I i + trigger_mass a I i))).
  { intros r Hr. rewrite (mass_split L d) by assumption.
    rewrite <- ordinary_split, <- triggered_split by assumption.
    apply (off_trigger_row L d a V eta I i x r); assumption. }
  rewrite <- (mass_split L d a I i Ha HI Hi1).
  assert (Hm := leak_range L d a I i Ha HI Hi1). rewrite <- (mass_split L d a I i Ha HI Hi1) in Hm.
  (* the four probes *)
  destruct (content_probe L d a V eta 3 1 x t ltac:(lia) Hd ltac:(lra) He0 Ha Hl Hx1 Ht) as [p1 [q1 [S1 E1]]].
  destruct (content_probe L d a V eta 3 (- (1)) x t ltac:(lia) Hd ltac:(lra) He0 Ha Hl Hx1 Ht) as [p2 [q2 [S2 E2]]].
  destruct (content_probe L d a V eta L 1 x t ltac:(lia) Hd ltac:(lra) He0 Ha Hl Hx1 Ht) as [p3 [q3 [S3 E3]]].
  destruct (content_probe L d a V eta L (- (1)) x t ltac:(lia) Hd ltac:(lra) He0 Ha Hl Hx1 Ht) as [p4 [q4 [S4 E4]]].
  (* their targets *)
  assert (TN : forall j v, (3 <= j <= L)%nat -> -1 <= v <= 1 ->
    target d (probe j (set0 v x) (set0 v t)) j (d + 2)%nat = 1 - / INR (j - 1) /\
    target d (probe j (set0 v x) (set0 v t)) j 1%nat = / INR (j - 1)).
  { intros j v Hj Hv.
    assert (O : is_instance L d (probe j (set0 v x) (set0 v t))).
    { apply probe_ok; [assumption| |]; intros m Hm'; unfold set0; destruct (m =? 0)%nat; auto. }
    split; [exact (target_N L d _ O)|exact (target_T L d _ O)]. }
  destruct (TN 3%nat 1 ltac:(lia) ltac:(lra)) as [N1 T1].
  destruct (TN 3%nat (- (1)) ltac:(lia) ltac:(lra)) as [N2 T2].
  destruct (TN L 1 ltac:(lia) ltac:(lra)) as [N3 T3].
  destruct (TN L (- (1)) ltac:(lia) ltac:(lra)) as [N4 T4]. clear TN.
  replace (INR (3 - 1)) with 2 in N1, T1, N2, T2 by (simpl; ring).
  assert (half : 1 - / 2 = 1 / 2) by field. assert (half' : / 2 = 1 / 2) by field.
  rewrite half in N1, N2. rewrite half' in T1, T2.
  assert (F : forall (z : R) p q a b c y, Rabs (p * (a + z * c) + q * (b + z * c) - y) <= 2 * eta ->
    (z = 1 -> Rabs (p * (a + c) + q * (b + c) - y) <= 2 * eta) /\
    (z = - (1) -> Rabs (p * (a - c) + q * (b - c) - y) <= 2 * eta)).
  { intros z p q u b c y H. split; intros ->; eapply Rle_trans; try exact H; right; f_equal; ring. }
  apply (core_content (/ INR (L - 1)) eta
    (mv d V (ordinary d (set0 0 x)) (d + 2)%nat) (mv d V (ordinary d (set0 0 x)) 1%nat) (mv d V (ordinary d (set0 0 x)) 2%nat)
    (mv d V (triggered d (set0 0 t)) (d + 2)%nat) (mv d V (triggered d (set0 0 t)) 1%nat) (mv d V (triggered d (set0 0 t)) 2%nat)
    (V (d + 2)%nat 2%nat) (V 1%nat 2%nat) (V 2%nat 2%nat)
    (ordinary_mass a I i) (trigger_mass a I i) (x 0%nat) (t 0%nat) p1 q1 p2 q2 p3 q3 p4 q4);
    try assumption; try lra.
  - intros r [-> | [-> | ->]]; apply Hrow; lia.
  - rewrite <- N1. apply (F 1); [|reflexivity]. apply E1. lia.
  - rewrite <- T1. apply (F 1); [|reflexivity]. apply E1. lia.
  - assert (E := E1 2%nat ltac:(lia)). rewrite probe_target_C in E by lia. apply (F 1); [exact E|reflexivity].
  - rewrite <- N2. apply (F (- (1))); [|reflexivity]. apply E2. lia.
  - rewrite <- T2. apply (F (- (1))); [|reflexivity]. apply E2. lia.
  - assert (E := E2 2%nat ltac:(lia)). rewrite probe_target_C in E by lia.
    apply (F (- (1))); [exact E|reflexivity].
  - rewrite <- N3. apply (F 1); [|reflexivity]. apply E3. lia.
  - rewrite <- T3. apply (F 1); [|reflexivity]. apply E3. lia.
  - assert (E := E3 2%nat ltac:(lia)). rewrite probe_target_C in E by lia. apply (F 1); [exact E|reflexivity].
  - rewrite <- N4. apply (F (- (1))); [|reflexivity]. apply E4. lia.
  - rewrite <- T4. apply (F (- (1))); [|reflexivity]. apply E4. lia.
  - assert (E := E4 2%nat ltac:(lia)). rewrite probe_target_C in E by lia.
    apply (F (- (1))); [exact E|reflexivity].
Qed.
