(** * Theorem 1 with content, before the trigger: leak at most 2 eta + O(eta^2).

    By Proposition 1s (leak 2 eta / (1 + eta) before the trigger, with loss eta) the
    constant 2 is optimal for every L and d >= 1; without content (d = 0) the optimal
    constant before the trigger is 1 / kappa_L, as after it. *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task Theorem1Core Theorem1Row Theorem1 Theorem1ContentCore
  Theorem1Content Theorem1BeforeCore.
Open Scope R_scope.

(** Coordinate 0 of the target when the ordinary contents have v there and the trigger v'. *)
Lemma mixed_target_C d j v v' x t : (3 <= j)%nat -> (1 <= d)%nat ->
  target d (probe j (set0 v x) (set0 v' t)) j 2%nat = v + (v' - v) * / INR (j - 1).
Proof.
  intros Hj Hd. change j with (trig (probe j (set0 v x) (set0 v' t))) at 2.
  rewrite target_at. cbn [trig probe].
  rewrite (bsum_ext _ _ _ (fun k => v + (if (k =? j)%nat then v' - v else 0))).
  - rewrite bsum_plus, bsum_const, (bsum_indicator _ _ _ (fun _ => v' - v)) by lia.
    replace (S j - 2)%nat with (j - 1)%nat by lia. field. apply not_0_INR. lia.
  - intros k Hk. change 2%nat with (2 + 0)%nat. rewrite token_C by lia. simpl.
    destruct (k =? j)%nat; unfold set0; simpl; ring.
Qed.

(** What a probe with ordinary contents v and trigger content v' in coordinate 0 says. *)
Lemma mixed_probe L d a V eta j v v' x t : (3 <= j <= L)%nat -> (1 <= d)%nat ->
  -1 <= v <= 1 -> -1 <= v' <= 1 ->
  0 <= eta -> normalised_causal L d a -> loss_at_most L d (target d) (head d a V) eta ->
  (forall m, (m < d)%nat -> -1 <= x m <= 1) -> (forall m, (m < d)%nat -> -1 <= t m <= 1) ->
  exists p q, 0 <= p + q <= 1 /\
  forall r y, (r = (d + 2)%nat /\ y = 1 - / INR (j - 1)) \/ (r = 1%nat /\ y = / INR (j - 1)) \/
              (r = 2%nat /\ y = v + (v' - v) * / INR (j - 1)) ->
  Rabs (p * (mv d V (ordinary d (set0 0 x)) r + v * V r 2%nat)
        + q * (mv d V (triggered d (set0 0 t)) r + v' * V r 2%nat) - y) <= 2 * eta.
Proof.
  intros Hj Hd Hv Hv' He Ha Hl Hx Ht.
  assert (Hx' : forall m, (m < d)%nat -> -1 <= set0 v x m <= 1).
  { intros m Hm. unfold set0. destruct (m =? 0)%nat; [assumption|apply Hx; assumption]. }
  assert (Ht' : forall m, (m < d)%nat -> -1 <= set0 v' t m <= 1).
  { intros m Hm. unfold set0. destruct (m =? 0)%nat; [assumption|apply Ht; assumption]. }
  set (I := probe j (set0 v x) (set0 v' t)).
  assert (HI : is_instance L d I) by (apply probe_ok; assumption).
  exists (ordinary_mass a I j), (trigger_mass a I j). split.
  - destruct (probe_row L d a V eta j _ _ 0 Hj Ha Hl Hx' Ht' ltac:(lia)) as [H1 [H2 [H3 _]]].
    fold I in H1, H2, H3. lra.
  - intros r y Hr. assert (Hr3 : (r < d + 3)%nat) by lia.
    assert (Hy : target d I j r = y).
    { destruct Hr as [[-> ->] | [[-> ->] | [-> ->]]].
      - exact (target_N L d I HI).
      - exact (target_T L d I HI).
      - apply mixed_target_C; lia. }
    destruct (probe_row L d a V eta j _ _ r Hj Ha Hl Hx' Ht' Hr3) as [H1 [H2 [H3 H4]]].
    fold I in H1, H2, H3, H4. rewrite Hy in H4. rewrite ordinary_set0, triggered_set0 in H4 by assumption.
    eapply Rle_trans; [exact H4|]. rewrite Rmult_comm. apply Rmult_le_compat_r; lra.
Qed.

(** Theorem 1 with content, before the trigger. If d >= 1 and the worst-case loss of a head
    with normalised causal attention is at most eta <= kappa_L / 48, then on every instance
    the mass off BOS is at most 2 eta (1 + 21 eta / kappa_L) at every position 2 <= i < j. *)
Theorem theorem_1_content_before (L d : nat) (a : attention) (V : mat) (Lambda eta : R) :
  (4 <= L)%nat -> (1 <= d)%nat -> normalised_causal L d a ->
  worst_case_loss L d (target d) (head d a V) Lambda -> Lambda <= eta -> eta <= kappa L / 48 ->
  forall I i, is_instance L d I -> (2 <= i < trig I)%nat ->
  leak a I i <= 2 * eta * (1 + 21 * eta / kappa L).
Proof.
  intros HL Hd Ha HLam Hle He I i HI Hi.
  assert (Hl := proj1 (worst_case_loss_le _ _ _ _ _ _ HLam) Hle). clear HLam Hle Lambda.
  assert (HjL := proj1 HI).
  destruct (w_facts L HL) as [Hw0 [Hw Hk]].
  assert (He0 : 0 <= eta).
  { apply Rle_trans with (Rabs (V 0%nat 0%nat)); [apply Rabs_pos|].
    apply (bos_value L d a); (assumption || lia). }
  assert (Hi1 : (1 <= i <= L)%nat) by lia.
  destruct (ordinary_barycentre L d a I i Ha HI Hi1) as [x [Hx1 Hx2]].
  set (t := cont I (trig I)).
  assert (Ht : forall m, (m < d)%nat -> -1 <= t m <= 1).
  { intros m Hm. destruct HI as [_ Hc]. apply Hc; lia. }
  assert (Hs := mass_split L d a I i Ha HI Hi1). rewrite trigger_mass_before, Rplus_0_r in Hs by lia.
  assert (Hrow : forall r, (r < d + 3)%nat ->
    Rabs (leak a I i * (mv d V (ordinary d (set0 0 x)) r + x 0%nat * V r 2%nat)) <= eta * (2 - leak a I i)).
  { intros r Hr. rewrite <- ordinary_split by assumption.
    assert (H := off_trigger_row L d a V eta I i x r Ha Hl HI Hi1 ltac:(lia) Hr Hx2).
    rewrite trigger_mass_before, Rmult_0_l, Rplus_0_r, Hs in H by lia. exact H. }
  assert (Hm := leak_range L d a I i Ha HI Hi1).
  pose (pr := fun j v v' Hj Hv Hv' => mixed_probe L d a V eta j v v' x t Hj Hd Hv Hv' He0 Ha Hl Hx1 Ht).
  destruct (pr 3%nat 1 1 ltac:(lia) ltac:(lra) ltac:(lra)) as [p1 [q1 [S1 E1]]].
  destruct (pr 3%nat (- (1)) (- (1)) ltac:(lia) ltac:(lra) ltac:(lra)) as [p2 [q2 [S2 E2]]].
  destruct (pr L 1 1 ltac:(lia) ltac:(lra) ltac:(lra)) as [p3 [q3 [_ E3]]].
  destruct (pr L (- (1)) (- (1)) ltac:(lia) ltac:(lra) ltac:(lra)) as [p4 [q4 [_ E4]]].
  destruct (pr 3%nat 1 (- (1)) ltac:(lia) ltac:(lra) ltac:(lra)) as [p5 [q5 [_ E5]]].
  destruct (pr L 1 (- (1)) ltac:(lia) ltac:(lra) ltac:(lra)) as [p6 [q6 [_ E6]]].
  destruct (pr 3%nat (- (1)) 1 ltac:(lia) ltac:(lra) ltac:(lra)) as [p7 [q7 [_ E7]]].
  destruct (pr L (- (1)) 1 ltac:(lia) ltac:(lra) ltac:(lra)) as [p8 [q8 [_ E8]]].
  clear pr. replace (INR (3 - 1)) with 2 in E1, E2, E5, E7 by (simpl; ring).
  set (w := / INR (L - 1)) in *.
  assert (Hkp := kappa_pos L HL).
  set (h := eta / (4 * kappa L)).
  assert (Eh : h * (1 - 2 * w) = eta) by (unfold h; rewrite Hk; field; lra).
  assert (Hh : 0 <= h <= 1 / 192).
  { split.
    - apply Rmult_le_pos; [assumption|]. left. apply Rinv_0_lt_compat. lra.
    - apply Rmult_le_reg_r with (1 - 2 * w); lra. }
  replace (2 * eta * (1 + 21 * eta / kappa L)) with (2 * (h * (1 - 2 * w)) * (1 + 84 * h)).
  2:{ rewrite Eh. unfold h. field. lra. }
  (* each inequality, in the form of the core lemma *)
  assert (F : forall z z' p q u b c y y', Rabs (p * (u + z * c) + q * (b + z' * c) - y) <= 2 * eta ->
    forall X, X = p * (u + z * c) + q * (b + z' * c) -> y = y' -> Rabs (X - y') <= 2 * eta).
  { intros z z' p q u b c y y' H X -> <-. exact H. }
  apply (core_before w h
    (mv d V (ordinary d (set0 0 x)) (d + 2)%nat) (mv d V (ordinary d (set0 0 x)) 1%nat) (mv d V (ordinary d (set0 0 x)) 2%nat)
    (mv d V (triggered d (set0 0 t)) (d + 2)%nat) (mv d V (triggered d (set0 0 t)) 1%nat) (mv d V (triggered d (set0 0 t)) 2%nat)
    (V (d + 2)%nat 2%nat) (V 1%nat 2%nat) (V 2%nat 2%nat)
    (leak a I i) (x 0%nat) p1 q1 p2 q2 p3 q3 p4 q4 p5 q5 p6 q6 p7 q7 p8 q8);
    try assumption; rewrite ?Eh.
  - intros r [-> | [-> | ->]]; apply Hrow; lia.
  - intros r [-> | [-> | ->]]; (split; [|split; [|split]]);
      [ eapply F; [apply (E1 (d + 2)%nat); left; split; reflexivity| ring | field]
      | eapply F; [apply (E2 (d + 2)%nat); left; split; reflexivity| ring | field]
      | eapply F; [apply (E3 (d + 2)%nat); left; split; reflexivity| ring | ring]
      | eapply F; [apply (E4 (d + 2)%nat); left; split; reflexivity| ring | ring]
      | eapply F; [apply (E1 1%nat); right; left; split; reflexivity| ring | field]
      | eapply F; [apply (E2 1%nat); right; left; split; reflexivity| ring | field]
      | eapply F; [apply (E3 1%nat); right; left; split; reflexivity| ring | ring]
      | eapply F; [apply (E4 1%nat); right; left; split; reflexivity| ring | ring]
      | eapply F; [apply (E1 2%nat); right; right; split; reflexivity| ring | field]
      | eapply F; [apply (E2 2%nat); right; right; split; reflexivity| ring | field]
      | eapply F; [apply (E3 2%nat); right; right; split; reflexivity| ring | ring]
      | eapply F; [apply (E4 2%nat); right; right; split; reflexivity| ring | ring] ].
  - intros r [-> | [-> | ->]]; (split; [|split; [|split]]);
      [ eapply F; [apply (E5 (d + 2)%nat); left; split; reflexivity| ring | field]
      | eapply F; [apply (E6 (d + 2)%nat); left; split; reflexivity| ring | ring]
      | eapply F; [apply (E7 (d + 2)%nat); left; split; reflexivity| ring | field]
      | eapply F; [apply (E8 (d + 2)%nat); left; split; reflexivity| ring | ring]
      | eapply F; [apply (E5 1%nat); right; left; split; reflexivity| ring | field]
      | eapply F; [apply (E6 1%nat); right; left; split; reflexivity| ring | ring]
      | eapply F; [apply (E7 1%nat); right; left; split; reflexivity| ring | field]
      | eapply F; [apply (E8 1%nat); right; left; split; reflexivity| ring | ring]
      | eapply F; [apply (E5 2%nat); right; right; split; reflexivity| ring | field]
      | eapply F; [apply (E6 2%nat); right; right; split; reflexivity| ring | ring]
      | eapply F; [apply (E7 2%nat); right; right; split; reflexivity| ring | field]
      | eapply F; [apply (E8 2%nat); right; right; split; reflexivity| ring | ring] ].
Qed.
