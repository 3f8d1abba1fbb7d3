(** * One row of a head, summarised by its ordinary mass and its trigger mass. *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task.
Open Scope R_scope.

(** An ordinary token and a trigger token with content c. *)
Definition ordinary (d : nat) (c : nat -> R) : vec := vadd (eN d) (iota d c).
Definition triggered (d : nat) (c : nat -> R) : vec := vadd eT (iota d c).

(** Mass of row i on the ordinary tokens, and on the trigger. *)
Definition ordinary_mass (a : attention) (I : inst) (i : nat) : R :=
  bsum 2 i (fun k => if (k =? trig I)%nat then 0 else a I i k).
Definition trigger_mass (a : attention) (I : inst) (i : nat) : R :=
  bsum 2 i (fun k => if (k =? trig I)%nat then a I i k else 0).

Lemma mass_split L d a I i :
  normalised_causal L d a -> is_instance L d I -> (1 <= i <= L)%nat ->
  ordinary_mass a I i + trigger_mass a I i = leak a I i.
Proof.
  intros Ha HI Hi. rewrite (leak_sum L d) by assumption.
  unfold ordinary_mass, trigger_mass. rewrite <- bsum_plus.
  apply bsum_ext. intros k _. destruct (k =? trig I)%nat; lra.
Qed.

Lemma ordinary_mass_pos L d a I i :
  normalised_causal L d a -> is_instance L d I -> (1 <= i <= L)%nat -> 0 <= ordinary_mass a I i.
Proof.
  intros Ha HI Hi. apply bsum_nonneg. intros k Hk. destruct (k =? trig I)%nat; [lra|].
  apply (Ha I HI i Hi). lia.
Qed.

Lemma trigger_mass_pos L d a I i :
  normalised_causal L d a -> is_instance L d I -> (1 <= i <= L)%nat -> 0 <= trigger_mass a I i.
Proof.
  intros Ha HI Hi. apply bsum_nonneg. intros k Hk. destruct (k =? trig I)%nat; [|lra].
  apply (Ha I HI i Hi). lia.
Qed.

(** No trigger mass before the trigger. *)
Lemma trigger_mass_before a I i : (i < trig I)%nat -> trigger_mass a I i = 0.
Proof.
  intros Hi. apply bsum_zero_ext. intros k Hk. destruct (Nat.eqb_spec k (trig I)); [lia|reflexivity].
Qed.

(** The output of a head is (1 - leak) V e_B + V z with z the non-BOS part. *)
Lemma head_split L d a V I i r : normalised_causal L d a -> is_instance L d I -> (1 <= i <= L)%nat ->
  head d a V I i r =
  (1 - leak a I i) * V r 0%nat + mv d V (fun s => bsum 2 i (fun k => a I i k * token d I k s)) r.
Proof.
  intros Ha HI Hi. unfold head, layer. rewrite bsum_first by lia. rewrite mv_bsum.
  unfold leak, sink_weight. change (token d I 1) with (basis 0). rewrite mv_basis by lia. ring.
Qed.

(** If xbar is the barycentre of the ordinary contents, the head sees only
    the two tokens [ordinary xbar] and [triggered c_j]. *)
Lemma head_two_tokens L d a V I i r xbar tbar :
  normalised_causal L d a -> is_instance L d I -> (1 <= i <= L)%nat ->
  (forall m, (m < d)%nat ->
     bsum 2 i (fun k => (if (k =? trig I)%nat then 0 else a I i k) * cont I k m)
     = ordinary_mass a I i * xbar m) ->
  (forall m, (m < d)%nat -> cont I (trig I) m = tbar m) ->
  head d a V I i r =
  (1 - leak a I i) * V r 0%nat
  + (ordinary_mass a I i * mv d V (ordinary d xbar) r
     + trigger_mass a I i * mv d V (triggered d tbar) r).
Proof.
  intros Ha HI Hi Hx Ht. rewrite (head_split L) by assumption. f_equal.
  rewrite <- !mv_scal, <- mv_add. apply mv_ext. intros s Hs.
  unfold ordinary, triggered, vadd, eN, eT.
  destruct (coord_cases d s Hs) as [->|[->|[->|[m [Hm ->]]]]].
  - rewrite bsum_zero_ext.
    + rewrite !iota_out, !basis_diff by lia. ring.
    + intros k Hk. rewrite token_B by lia. ring.
  - rewrite basis_same, (basis_diff (d + 2)), !iota_out by lia.
    transitivity (trigger_mass a I i); [|ring].
    apply bsum_ext. intros k Hk. rewrite token_T by lia. destruct (k =? trig I)%nat; ring.
  - rewrite basis_same, (basis_diff 1), !iota_out by lia.
    transitivity (ordinary_mass a I i); [|ring].
    apply bsum_ext. intros k Hk. rewrite token_N by lia. destruct (k =? trig I)%nat; ring.
  - rewrite !basis_diff, !iota_in by lia. rewrite !Rplus_0_l, <- Hx, <- Ht by assumption.
    unfold trigger_mass. rewrite <- bsum_scal_r, <- bsum_plus.
    apply bsum_ext. intros k Hk. rewrite token_C by lia.
    destruct (Nat.eqb_spec k (trig I)) as [->|]; ring.
Qed.

(** The barycentre of the ordinary contents exists and lies in the box. *)
Lemma ordinary_barycentre L d a I i :
  normalised_causal L d a -> is_instance L d I -> (1 <= i <= L)%nat ->
  exists xbar : nat -> R,
    (forall m, (m < d)%nat -> -1 <= xbar m <= 1) /\
    forall m, (m < d)%nat ->
      bsum 2 i (fun k => (if (k =? trig I)%nat then 0 else a I i k) * cont I k m)
      = ordinary_mass a I i * xbar m.
Proof.
  intros Ha HI Hi.
  assert (H : forall m, (m < d)%nat -> exists x, -1 <= x <= 1 /\
    bsum 2 i (fun k => (if (k =? trig I)%nat then 0 else a I i k) * cont I k m)
    = ordinary_mass a I i * x).
  { intros m Hm. apply bsum_barycentre; [| |lra].
    - intros k Hk. destruct (k =? trig I)%nat; [lra|]. apply (Ha I HI i Hi). lia.
    - intros k Hk. apply HI; lia. }
  clear Ha HI. induction d as [|d IH].
  - exists (fun _ => 0). split; intros; lia.
  - destruct IH as [x [Hx1 Hx2]]; [intros; apply H; lia|].
    destruct (H d ltac:(lia)) as [z [Hz1 Hz2]].
    exists (fun m => if (m =? d)%nat then z else x m). split; intros m Hm.
    + destruct (Nat.eqb_spec m d); [assumption|apply Hx1; lia].
    + destruct (Nat.eqb_spec m d) as [->|]; [assumption|apply Hx2; lia].
Qed.

(** ** Consequences of a loss bound *)

(** (a) |V e_B| <= eta. *)
Lemma bos_value L d a V eta r : (3 <= L)%nat -> normalised_causal L d a ->
  loss_at_most L d (target d) (head d a V) eta -> (r < d + 3)%nat -> Rabs (V r 0%nat) <= eta.
Proof.
  intros HL Ha Hl Hr. assert (HI := zero_instance_ok L d 3 ltac:(lia)).
  specialize (Hl _ HI 1%nat r ltac:(lia) Hr). rewrite target_off in Hl by (simpl; lia).
  unfold head, layer in Hl. rewrite bsum_single in Hl.
  rewrite (first_row L d) in Hl by (assumption || lia).
  change (token d (zero_instance 3) 1) with (basis 0) in Hl. rewrite mv_basis in Hl by lia.
  replace (V r 0%nat) with (1 * V r 0%nat - 0) by ring. exact Hl.
Qed.

(** Two tokens probe: trigger at j, every ordinary content xbar, trigger content tbar. *)
Definition probe (j : nat) (xbar tbar : nat -> R) : inst :=
  Inst j (fun k => if (k =? j)%nat then tbar else xbar).

Lemma probe_ok L d j xbar tbar : (3 <= j <= L)%nat ->
  (forall m, (m < d)%nat -> -1 <= xbar m <= 1) ->
  (forall m, (m < d)%nat -> -1 <= tbar m <= 1) -> is_instance L d (probe j xbar tbar).
Proof.
  intros Hj Hx Ht. split; simpl; [assumption|]. intros k m _ Hm.
  destruct (k =? j)%nat; [apply Ht|apply Hx]; assumption.
Qed.

(** Target at the trigger, coordinates N and T. *)
Lemma target_N L d I : is_instance L d I ->
  target d I (trig I) (d + 2)%nat = 1 - / INR (trig I - 1).
Proof.
  intros [Hj _]. rewrite target_at.
  assert (Hp : 0 < INR (trig I - 1)) by (apply lt_0_INR; lia).
  rewrite (bsum_ext _ _ _ (fun k => 1 - (if (k =? trig I)%nat then 1 else 0))).
  - rewrite bsum_minus, (bsum_indicator _ _ _ (fun _ => 1)), bsum_const by lia.
    replace (S (trig I) - 2)%nat with (trig I - 1)%nat by lia. field. lra.
  - intros k Hk. rewrite token_N by lia. destruct (k =? trig I)%nat; ring.
Qed.

Lemma target_T L d I : is_instance L d I ->
  target d I (trig I) 1%nat = / INR (trig I - 1).
Proof.
  intros [Hj _]. rewrite target_at.
  rewrite (bsum_ext _ _ _ (fun k => (if (k =? trig I)%nat then 1 else 0))).
  - rewrite (bsum_indicator _ _ _ (fun _ => 1)) by lia. ring.
  - intros k Hk. apply token_T. lia.
Qed.

(** What the loss bound says about the trigger row of a probe. *)
Lemma probe_row L d a V eta j xbar tbar r : (3 <= j <= L)%nat -> normalised_causal L d a ->
  loss_at_most L d (target d) (head d a V) eta ->
  (forall m, (m < d)%nat -> -1 <= xbar m <= 1) ->
  (forall m, (m < d)%nat -> -1 <= tbar m <= 1) -> (r < d + 3)%nat ->
  let I := probe j xbar tbar in
  let p := ordinary_mass a I j in
  let q := trigger_mass a I j in
  0 <= p /\ 0 <= q /\ p + q <= 1 /\
  Rabs (p * mv d V (ordinary d xbar) r + q * mv d V (triggered d tbar) r - target d I j r)
  <= eta * (2 - (p + q)).
Proof.
  intros Hj Ha Hl Hx Ht Hr I p q. assert (HI : is_instance L d I) by (apply probe_ok; assumption).
  assert (Hs := mass_split L d a I j Ha HI ltac:(lia)). fold p q in Hs.
  assert (Hr1 := leak_range L d a I j Ha HI ltac:(lia)).
  split; [apply (ordinary_mass_pos L d); (assumption || lia)|].
  split; [apply (trigger_mass_pos L d); (assumption || lia)|].
  split; [lra|].
  assert (E := Hl I HI j r ltac:(lia) Hr).
  rewrite (head_two_tokens L d a V I j r xbar tbar Ha HI) in E; try lia.
  2:{ intros m Hm. unfold ordinary_mass. rewrite <- bsum_scal_r. apply bsum_ext. intros k Hk.
      unfold I. simpl. destruct (k =? j)%nat; ring. }
  2:{ intros m Hm. unfold I. simpl. rewrite Nat.eqb_refl. reflexivity. }
  fold p q in E. rewrite <- Hs in E, Hr1.
  assert (HB := bos_value L d a V eta r ltac:(lia) Ha Hl Hr).
  set (z := p * mv d V (ordinary d xbar) r + q * mv d V (triggered d tbar) r) in *.
  replace (z - target d I j r) with
    ((1 - (p + q)) * V r 0%nat + z - target d I j r - (1 - (p + q)) * V r 0%nat) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp, Rabs_mult, (Rabs_pos_eq (1 - (p + q))) by lra.
  assert ((1 - (p + q)) * Rabs (V r 0%nat) <= (1 - (p + q)) * eta) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

(** What the loss bound says about a non-trigger row. *)
Lemma off_trigger_row L d a V eta I i xbar r : normalised_causal L d a ->
  loss_at_most L d (target d) (head d a V) eta ->
  is_instance L d I -> (1 <= i <= L)%nat -> i <> trig I -> (r < d + 3)%nat ->
  (forall m, (m < d)%nat ->
     bsum 2 i (fun k => (if (k =? trig I)%nat then 0 else a I i k) * cont I k m)
     = ordinary_mass a I i * xbar m) ->
  Rabs (ordinary_mass a I i * mv d V (ordinary d xbar) r
        + trigger_mass a I i * mv d V (triggered d (cont I (trig I))) r)
  <= eta * (2 - leak a I i).
Proof.
  intros Ha Hl HI Hi Hne Hr Hx. assert (E := Hl I HI i r Hi Hr).
  rewrite target_off in E by assumption.
  rewrite (head_two_tokens L d a V I i r xbar (cont I (trig I)) Ha HI Hi Hx) in E by reflexivity.
  assert (HL : (3 <= L)%nat) by (destruct HI; lia).
  assert (HB := bos_value L d a V eta r HL Ha Hl Hr).
  assert (Hm := leak_range L d a I i Ha HI Hi).
  set (z := ordinary_mass a I i * _ + _) in *.
  replace z with ((1 - leak a I i) * V r 0%nat + z - 0 - (1 - leak a I i) * V r 0%nat) by ring.
  eapply Rle_trans; [apply Rabs_triang|].
  rewrite Rabs_Ropp, Rabs_mult, (Rabs_pos_eq (1 - leak a I i)) by lra.
  assert ((1 - leak a I i) * Rabs (V r 0%nat) <= (1 - leak a I i) * eta) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.
