(** * Theorem 1', deterministic core (section 2 of the theory).

    If the d + 2 probe instances have errors at most t, then every instance whose
    errors are at most t has a small leak at every non-trigger position. *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task.
Open Scope R_scope.

(** The constant U_0 = 2 d + 2 r (1 + 4 d), r = (L-1)/(L-3). *)
Definition U0 (L d : nat) : R :=
  2 * INR d + 2 * ((INR L - 1) / (INR L - 3)) * (1 + 4 * INR d).

(** All errors of model M on the instance I are at most t. *)
Definition good (L d : nat) (M : seqmap) (t : R) (I : inst) : Prop :=
  forall i r, (1 <= i <= L)%nat -> (r < d + 3)%nat -> Rabs (M I i r - target d I i r) <= t.

(** The measure-preserving move of [-1,1] by one. *)
Definition shift (v : R) : R := if Rlt_dec 0 v then v - 1 else v + 1.

(** Probe contents: number 0 is the content x itself; number m+1 has coordinate m of
    position 3 moved. *)
Definition move (p : nat) (x : nat -> nat -> R) : nat -> nat -> R := fun k m =>
  if ((k =? 3) && (p =? S m))%nat%bool then shift (x k m) else x k m.

(** ** Linear algebra: an injective square matrix is surjective *)

Definition skip (p k : nat) : nat := if (k <? p)%nat then k else S k.

Lemma ssum_skip n p f : (p <= n)%nat -> ssum (S n) f = f p + ssum n (fun k => f (skip p k)).
Proof.
  induction n; intros Hp.
  - replace p with 0%nat by lia. simpl. ring.
  - destruct (Nat.eq_dec p (S n)) as [->|Hne].
    + cbn [ssum]. rewrite (ssum_ext n (fun k => f (skip (S n) k)) f).
      2:{ intros k Hk. unfold skip. destruct (Nat.ltb_spec k (S n)); [reflexivity|lia]. }
      unfold skip. destruct (Nat.ltb_spec n (S n)); [ring|lia].
    + change (ssum (S (S n)) f) with (ssum (S n) f + f (S n)). rewrite IHn by lia. cbn [ssum].
      replace (skip p n) with (S n); [ring|].
      unfold skip. destruct (Nat.ltb_spec n p); [lia|reflexivity].
Qed.

Lemma ssum_plus n f g : ssum n (fun k => f k + g k) = ssum n f + ssum n g.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma ssum_scal n c f : ssum n (fun k => c * f k) = c * ssum n f.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma ssum_scal_r n c f : ssum n (fun k => f k * c) = ssum n f * c.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.

(** First nonzero term of a finite family, if any. *)
Lemma zero_or_nonzero n (f : nat -> R) :
  (forall k, (k < n)%nat -> f k = 0) \/ exists k, (k < n)%nat /\ f k <> 0.
Proof.
  induction n; [left; intros; lia|].
  destruct IHn as [H|[k [Hk H]]]; [|right; exists k; split; [lia|assumption]].
  destruct (Req_dec (f n) 0) as [E|E]; [left|right; exists n; split; [lia|assumption]].
  intros k Hk. destruct (Nat.eq_dec k n) as [->|]; [assumption|apply H; lia].
Qed.

(** n + 1 vectors v_0 .. v_n of R^n are linearly dependent. *)
Lemma dependent n : forall v : nat -> nat -> R, exists c,
  (exists k, (k <= n)%nat /\ c k <> 0) /\
  forall r, (r < n)%nat -> ssum (S n) (fun k => c k * v k r) = 0.
Proof.
  induction n; intros v.
  - exists (fun _ => 1). split; [exists 0%nat; split; [lia|lra]|intros; lia].
  - destruct (zero_or_nonzero (S (S n)) (fun k => v k n)) as [H|[p [Hp H]]].
    + destruct (IHn v) as [c [[k [Hk Hck]] Hc]].
      exists (fun k => if (k <=? n)%nat then c k else 0). split.
      * exists k. split; [lia|]. destruct (Nat.leb_spec k n); [assumption|lia].
      * intros r Hr. change (ssum (S (S n)) ?f) with (ssum (S n) f + f (S n)). cbv beta.
        destruct (Nat.leb_spec (S n) n); [lia|]. rewrite Rmult_0_l, Rplus_0_r.
        rewrite (ssum_ext (S n) _ (fun k => c k * v k r)).
        2:{ intros i Hi. destruct (Nat.leb_spec i n); [reflexivity|lia]. }
        destruct (Nat.eq_dec r n) as [->|Hne]; [|apply Hc; lia].
        rewrite (ssum_ext (S n) _ (fun k => 0 * c k)).
        2:{ intros i Hi. rewrite (H i) by lia. ring. }
        rewrite ssum_scal. ring.
    + set (l := fun k => v (skip p k) n / v p n).
      destruct (IHn (fun k r => v (skip p k) r - l k * v p r)) as [c [[k [Hk Hck]] Hc]].
      set (unskip := fun k => if (k <? p)%nat then k else (k - 1)%nat).
      assert (Hun : forall i, unskip (skip p i) = i).
      { intros i. unfold unskip, skip. destruct (Nat.ltb_spec i p).
        - destruct (Nat.ltb_spec i p); lia.
        - destruct (Nat.ltb_spec (S i) p); lia. }
      assert (Hsp : forall i, skip p i <> p).
      { intros i. unfold skip. destruct (Nat.ltb_spec i p); lia. }
      exists (fun k => if (k =? p)%nat then - ssum (S n) (fun i => c i * l i) else c (unskip k)). split.
      * exists (skip p k). split.
        { unfold skip. destruct (Nat.ltb_spec k p); lia. }
        cbv beta. destruct (Nat.eqb_spec (skip p k) p) as [E|E]; [contradict E; apply Hsp|].
        rewrite Hun. assumption.
      * intros r Hr. rewrite (ssum_skip (S n) p) by lia. rewrite Nat.eqb_refl.
        set (S1 := ssum (S n) (fun i => c i * l i)).
        rewrite (ssum_ext (S n) _ (fun i => c i * (v (skip p i) r - l i * v p r) + c i * l i * v p r)).
        2:{ intros i Hi. destruct (Nat.eqb_spec (skip p i) p) as [E|E]; [contradict E; apply Hsp|].
            rewrite Hun. ring. }
        rewrite ssum_plus, (ssum_scal_r (S n) (v p r) (fun i => c i * l i)). fold S1.
        destruct (Nat.eq_dec r n) as [->|Hne].
        -- rewrite (ssum_ext (S n) (fun i => c i * (v (skip p i) n - l i * v p n)) (fun i => 0 * c i)).
           2:{ intros i Hi. unfold l. field. assumption. }
           rewrite ssum_scal. ring.
        -- rewrite Hc by lia. ring.
Qed.

Lemma bsum_1_ssum n f : bsum 1 n f = ssum n (fun k => f (S k)).
Proof. unfold bsum. replace (S n - 1)%nat with n by lia. reflexivity. Qed.

(** If u^T G = 0 forces u = 0, then u^T G = b has a solution. *)
Lemma square_system n (G : nat -> nat -> R) (b : nat -> R) :
  (forall u, (forall s, (1 <= s <= n)%nat -> bsum 1 n (fun r => u r * G r s) = 0) ->
     forall r, (1 <= r <= n)%nat -> u r = 0) ->
  exists u, forall s, (1 <= s <= n)%nat -> bsum 1 n (fun r => u r * G r s) = b s.
Proof.
  intros Hinj.
  destruct (dependent n (fun k r => if (k <? n)%nat then G (S k) (S r) else b (S r)))
    as [c [[k [Hk Hck]] Hc]].
  assert (Hc' : forall s, (1 <= s <= n)%nat -> bsum 1 n (fun r => c (r - 1)%nat * G r s) + c n * b s = 0).
  { intros s Hs. rewrite <- (Hc (s - 1)%nat) by lia. rewrite bsum_1_ssum. cbn [ssum].
    destruct (Nat.ltb_spec n n); [lia|]. replace (S (s - 1)) with s by lia. f_equal.
    apply ssum_ext. intros i Hi. destruct (Nat.ltb_spec i n); [|lia].
    replace (S i - 1)%nat with i by lia. reflexivity. }
  destruct (Req_dec (c n) 0) as [E|E].
  - exfalso. apply Hck. destruct (Nat.eq_dec k n) as [->|Hne]; [assumption|].
    replace k with (S k - 1)%nat by lia. apply (Hinj (fun r => c (r - 1)%nat)); [|lia].
    intros s Hs. specialize (Hc' s Hs). rewrite E in Hc'. lra.
  - exists (fun r => - / c n * c (r - 1)%nat). intros s Hs. specialize (Hc' s Hs).
    rewrite (bsum_ext 1 n _ (fun r => - / c n * (c (r - 1)%nat * G r s))) by (intros; ring).
    rewrite bsum_scal. replace (bsum 1 n (fun r => c (r - 1)%nat * G r s)) with (- (c n * b s)) by lra.
    field. assumption.
Qed.

(** ** The norm of u from the numbers h_k = y_k . u *)

Lemma split_W d f : bsum 1 (d + 2) f = f 1%nat + bsum 2 (d + 1) f + f (d + 2)%nat.
Proof.
  rewrite bsum_first by lia. replace (d + 2)%nat with (S (d + 1)) by lia.
  rewrite bsum_last by lia. ring.
Qed.

Section Norm.
Variables (L d : nat) (y : nat -> nat -> R) (u : nat -> R) (beta : R).
Let h k := bsum 1 (d + 2) (fun r => u r * y k r).
Hypothesis HL : (4 <= L)%nat.
Hypothesis y0T : y 0%nat 1%nat = / 2.
Hypothesis y0N : y 0%nat (d + 2)%nat = / 2.
Hypothesis y0C : forall m, (m < d)%nat -> Rabs (y 0%nat (2 + m)%nat) <= 1.
Hypothesis ym : forall m r, (m < d)%nat -> (1 <= r <= d + 2)%nat -> r <> (2 + m)%nat -> y (S m) r = y 0%nat r.
Hypothesis ymC : forall m, (m < d)%nat -> Rabs (y (S m) (2 + m)%nat - y 0%nat (2 + m)%nat) = / 2.
Hypothesis ysT : y (S d) 1%nat = / (INR L - 1).
Hypothesis ysN : y (S d) (d + 2)%nat = (INR L - 2) / (INR L - 1).
Hypothesis ysC : forall m, (m < d)%nat -> Rabs (y (S d) (2 + m)%nat) <= 1.
Hypothesis Hh0 : Rabs (h 0%nat) <= beta.
Hypothesis Hh : forall k, (1 <= k <= S d)%nat -> Rabs (h k - h 0%nat) <= beta.

Lemma norm_bound : bsum 1 (d + 2) (fun r => Rabs (u r)) <= U0 L d * beta.
Proof.
  assert (HLr : 4 <= INR L) by (apply (le_INR 4) in HL; simpl in HL; lra).
  assert (Hb : 0 <= beta) by (pose proof (Rabs_pos (h 0%nat)); lra).
  (* content coordinates *)
  assert (Hum : forall r, (2 <= r <= d + 1)%nat -> Rabs (u r) <= 2 * beta).
  { intros r Hr. set (m := (r - 2)%nat). assert (Hm : (m < d)%nat) by lia.
    assert (Er : r = (2 + m)%nat) by lia.
    assert (E : h (S m) - h 0%nat = u r * (y (S m) r - y 0%nat r)).
    { unfold h. rewrite <- bsum_minus.
      rewrite <- (bsum_indicator 1 (d + 2) r (fun r => u r * (y (S m) r - y 0%nat r))) by lia.
      apply bsum_ext. intros s Hs. destruct (Nat.eqb_spec s r) as [->|Hne]; [ring|].
      rewrite ym by lia. ring. }
    specialize (Hh (S m) ltac:(lia)). rewrite E, Rabs_mult in Hh. rewrite Er in Hh at 2 3.
    rewrite ymC in Hh by assumption. lra. }
  set (A := bsum 2 (d + 1) (fun r => Rabs (u r))).
  assert (HA0 : 0 <= A) by (apply bsum_nonneg; intros; apply Rabs_pos).
  assert (HA : A <= INR d * (2 * beta)).
  { apply Rle_trans with (bsum 2 (d + 1) (fun _ => 2 * beta)); [apply bsum_le; assumption|].
    rewrite bsum_const. apply Req_le. f_equal. f_equal. lia. }
  assert (Hdot : forall k, (forall m, (m < d)%nat -> Rabs (y k (2 + m)%nat) <= 1) ->
    Rabs (bsum 2 (d + 1) (fun r => u r * y k r)) <= A).
  { intros k Hk. eapply Rle_trans; [apply bsum_Rabs|]. apply bsum_le. intros r Hr.
    rewrite Rabs_mult. rewrite <- (Rmult_1_r (Rabs (u r))) at 2.
    apply Rmult_le_compat_l; [apply Rabs_pos|].
    replace r with (2 + (r - 2))%nat by lia. apply Hk. lia. }
  assert (Hs := Hdot 0%nat y0C). assert (Hss := Hdot (S d) ysC).
  specialize (Hh (S d) ltac:(lia)). unfold h in Hh0, Hh.
  rewrite !split_W, ysT, ysN, y0T, y0N in Hh. rewrite split_W, y0T, y0N in Hh0.
  rewrite split_W. fold A.
  set (s0 := bsum 2 (d + 1) (fun r => u r * y 0%nat r)) in *.
  set (s1 := bsum 2 (d + 1) (fun r => u r * y (S d) r)) in *.
  set (uT := u 1%nat) in *. set (uN := u (d + 2)%nat) in *.
  set (r := (INR L - 1) / (INR L - 3)).
  assert (Hr1 : 1 <= r).
  { unfold r. apply Rmult_le_reg_r with (INR L - 3); [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (HD : Rabs (uN - uT) <= r * (2 * beta + 4 * A)).
  { replace (uN - uT) with (r * (2 * (uT * / (INR L - 1) + s1 + uN * ((INR L - 2) / (INR L - 1)) -
       (uT * / 2 + s0 + uN * / 2)) + 2 * s0 - 2 * s1)) by (unfold r; field; lra).
    rewrite Rabs_mult, (Rabs_pos_eq r) by lra. apply Rmult_le_compat_l; [lra|].
    set (hd := _ - (uT * / 2 + s0 + uN * / 2)) in *. clearbody hd s0 s1.
    unfold Rabs in *. repeat destruct Rcase_abs; lra. }
  assert (HS : Rabs (uN + uT) <= r * (2 * beta + 4 * A)).
  { apply Rle_trans with (2 * beta + 4 * A).
    - unfold Rabs in *. repeat destruct Rcase_abs; lra.
    - rewrite <- (Rmult_1_l (2 * beta + 4 * A)) at 1. apply Rmult_le_compat_r; lra. }
  assert (HM : Rabs uT + Rabs uN <= r * (2 * beta + 4 * A)).
  { clear - HD HS. unfold Rabs in *. repeat destruct Rcase_abs; lra. }
  unfold U0. fold r.
  assert (H2 : r * A <= r * (INR d * (2 * beta))) by (apply Rmult_le_compat_l; lra).
  clear - HM HA H2. lra.
Qed.
End Norm.

(** The scalar inequality behind both uses: |g_k - g_l| + a (4 - g_k - g_l). *)
Lemma gap_bound a g g' : 0 <= a -> 0 <= g <= 1 -> 0 <= g' <= 1 ->
  Rabs (g - g') + a * (4 - g - g') <= if Rle_dec a 1 then 1 + 3 * a else 4 * a.
Proof.
  intros Ha Hg Hg'. destruct (Rle_dec a 1) as [H|H]; unfold Rabs; destruct Rcase_abs; nra.
Qed.

(** ** One row of a head *)

(** The attention-weighted sum of the tokens other than BOS. *)
Definition zsum (d : nat) (a : attention) (I : inst) (i : nat) : vec := fun s =>
  bsum 2 i (fun k => a I i k * token d I k s).

Lemma head_row L d a V I i r : normalised_causal L d a -> is_instance L d I -> (1 <= i <= L)%nat ->
  head d a V I i r =
  (1 - leak a I i) * V r 0%nat + bsum 1 (d + 2) (fun s => V r s * zsum d a I i s).
Proof.
  intros Ha HI Hi. unfold head, layer. rewrite bsum_first by lia. f_equal.
  - unfold leak, sink_weight. change (token d I 1) with (basis 0).
    rewrite mv_basis by lia. ring.
  - rewrite (mv_bsum d V 2 i (fun k => a I i k) (token d I)). unfold mv. rewrite bsum_first by lia.
    rewrite bsum_zero_ext; [unfold zsum; ring|].
    intros k Hk. rewrite token_B by lia. ring.
Qed.

Lemma zsum_leak L d a I i : normalised_causal L d a -> is_instance L d I -> (1 <= i <= L)%nat ->
  zsum d a I i 1%nat + zsum d a I i (d + 2)%nat = leak a I i.
Proof.
  intros Ha HI Hi. rewrite (leak_sum L d) by assumption. unfold zsum. rewrite <- bsum_plus.
  apply bsum_ext. intros k Hk. rewrite token_T, token_N by lia. destruct (k =? trig I)%nat; ring.
Qed.

(** The error of a good instance, with BOS taken out. *)
Lemma row_error L d a V t I i r : normalised_causal L d a -> is_instance L d I ->
  good L d (head d a V) t I -> (1 <= i <= L)%nat -> (r < d + 3)%nat ->
  Rabs (bsum 1 (d + 2) (fun s => V r s * zsum d a I i s) - target d I i r) <= t * (2 - leak a I i).
Proof.
  intros Ha HI Hg Hi Hr.
  assert (HB : Rabs (V r 0%nat) <= t).
  { specialize (Hg 1%nat r ltac:(lia) Hr). rewrite target_off in Hg.
    2:{ destruct HI as [Hj _]. lia. }
    rewrite (head_row L) in Hg by (assumption || lia).
    rewrite (bsum_zero_ext 1 (d + 2)) in Hg.
    2:{ intros s _. unfold zsum. rewrite bsum_empty by lia. ring. }
    unfold leak, sink_weight in Hg. rewrite (first_row L d) in Hg by (assumption || lia).
    replace ((1 - (1 - 1)) * V r 0%nat + 0 - 0) with (V r 0%nat) in Hg by ring. assumption. }
  specialize (Hg i r Hi Hr). rewrite (head_row L) in Hg by assumption.
  assert (Hm := leak_range L d a I i Ha HI Hi).
  set (m := leak a I i) in *. set (v := V r 0%nat) in *.
  assert (H1 : Rabs ((1 - m) * v) <= (1 - m) * t).
  { rewrite Rabs_mult, (Rabs_pos_eq (1 - m)) by lra. apply Rmult_le_compat_l; lra. }
  set (w := (1 - m) * v) in *. clearbody w.
  set (b := bsum 1 (d + 2) _) in *. clearbody b. clear - Hg H1.
  replace (t * (2 - m)) with (t + (1 - m) * t) by ring.
  unfold Rabs in *. repeat destruct Rcase_abs; lra.
Qed.

(** ** The probe targets *)

Lemma shift_range v : -1 <= v <= 1 -> -1 <= shift v <= 1.
Proof. intros H. unfold shift. destruct (Rlt_dec 0 v); lra. Qed.

Lemma shift_step v : Rabs (shift v - v) = 1.
Proof. unfold shift, Rabs. destruct (Rlt_dec 0 v), Rcase_abs; lra. Qed.

Lemma move_instance L d p x : is_instance L d (Inst 3 x) -> is_instance L d (Inst 3 (move p x)).
Proof.
  intros [Hj Hc]. split; [exact Hj|]. intros k m Hk Hm. specialize (Hc k m Hk Hm). simpl in *.
  unfold move. destruct ((k =? 3) && (p =? S m))%nat%bool; [apply shift_range|]; assumption.
Qed.

Lemma target_3 d x r : target d (Inst 3 x) 3%nat r =
  / 2 * (token d (Inst 3 x) 2%nat r + token d (Inst 3 x) 3%nat r).
Proof.
  change 3%nat with (trig (Inst 3 x)) at 2. rewrite target_at. cbn [trig].
  change (INR (3 - 1)) with (1 + 1). rewrite bsum_last by lia. rewrite bsum_single. f_equal; lra.
Qed.

Lemma target_3_T d x : target d (Inst 3 x) 3%nat 1%nat = / 2.
Proof. rewrite target_3, !token_T by lia. simpl. lra. Qed.

Lemma target_3_N d x : target d (Inst 3 x) 3%nat (d + 2)%nat = / 2.
Proof. rewrite target_3, !token_N by lia. simpl. lra. Qed.

Lemma target_3_C d x m : (m < d)%nat ->
  target d (Inst 3 x) 3%nat (2 + m)%nat = / 2 * (x 2%nat m + x 3%nat m).
Proof. intros Hm. rewrite target_3, !token_C by lia. reflexivity. Qed.

Lemma target_3_move d x m r : (m < d)%nat -> (1 <= r <= d + 2)%nat -> r <> (2 + m)%nat ->
  target d (Inst 3 (move (S m) x)) 3%nat r = target d (Inst 3 (move 0 x)) 3%nat r.
Proof.
  intros Hm Hr Hne. destruct (coord_cases d r ltac:(lia)) as [->|[->|[->|[m' [Hm' ->]]]]].
  - lia.
  - rewrite !target_3_T. reflexivity.
  - rewrite !target_3_N. reflexivity.
  - rewrite !target_3_C by assumption. unfold move. simpl.
    destruct (Nat.eqb_spec m m'); [lia|reflexivity].
Qed.

Lemma target_3_move_C d x m : (m < d)%nat ->
  Rabs (target d (Inst 3 (move (S m) x)) 3%nat (2 + m)%nat - target d (Inst 3 (move 0 x)) 3%nat (2 + m)%nat) = / 2.
Proof.
  intros Hm. rewrite !target_3_C by assumption. unfold move. simpl. rewrite Nat.eqb_refl.
  replace (_ - _) with (/ 2 * (shift (x 3%nat m) - x 3%nat m)) by ring.
  rewrite Rabs_mult, shift_step, Rabs_pos_eq by lra. lra.
Qed.

Lemma target_L_T L d x : (4 <= L)%nat -> target d (Inst L x) L 1%nat = / (INR L - 1).
Proof.
  intros HL. change L with (trig (Inst L x)) at 2. rewrite target_at. cbn [trig].
  rewrite minus_INR by lia. change (INR 1) with 1.
  rewrite (bsum_ext 2 L _ (fun k => if (k =? L)%nat then 1 else 0)).
  2:{ intros k Hk. rewrite token_T by lia. reflexivity. }
  rewrite (bsum_indicator 2 L L (fun _ => 1)) by lia. ring.
Qed.

Lemma target_L_N L d x : (4 <= L)%nat ->
  target d (Inst L x) L (d + 2)%nat = (INR L - 2) / (INR L - 1).
Proof.
  intros HL. change L with (trig (Inst L x)) at 2. rewrite target_at. cbn [trig].
  assert (HLr : 4 <= INR L) by (apply (le_INR 4) in HL; simpl in HL; lra).
  rewrite minus_INR by lia. change (INR 1) with 1.
  rewrite (bsum_ext 2 L _ (fun k => 1 - if (k =? L)%nat then 1 else 0)).
  2:{ intros k Hk. rewrite token_N by lia. cbn [trig]. destruct (k =? L)%nat; ring. }
  rewrite bsum_minus, (bsum_indicator 2 L L (fun _ => 1)), bsum_const by lia.
  rewrite minus_INR, S_INR by lia. simpl. field. lra.
Qed.

(** ** The deterministic core *)

Lemma U0_pos L d : (4 <= L)%nat -> 0 < U0 L d.
Proof.
  intros HL. assert (HLr : 4 <= INR L) by (apply (le_INR 4) in HL; simpl in HL; lra).
  assert (Hd := pos_INR d). unfold U0.
  assert (Hr : 0 < (INR L - 1) / (INR L - 3)) by (apply Rdiv_lt_0_compat; lra).
  assert (0 <= (INR L - 1) / (INR L - 3) * INR d) by (apply Rmult_le_pos; lra). lra.
Qed.

(** If the errors of the probes (trigger at 3 with content x; the same with one
    coordinate of the trigger's content moved; trigger at L with content xs) are at most t
    and 4 U_0 t < 1, then every instance whose errors are at most t has a leak of at most
    2 U_0 t / (1 - 2 U_0 t) at every non-trigger position i >= 2. *)
Theorem probes_bound_leak L d a V t x xs :
  (4 <= L)%nat -> normalised_causal L d a -> 4 * U0 L d * t < 1 ->
  is_instance L d (Inst 3 x) -> is_instance L d (Inst L xs) ->
  (forall p, (p <= d)%nat -> good L d (head d a V) t (Inst 3 (move p x))) ->
  good L d (head d a V) t (Inst L xs) ->
  forall I i, is_instance L d I -> good L d (head d a V) t I ->
  (2 <= i <= L)%nat -> i <> trig I ->
  leak a I i <= 2 * U0 L d * t / (1 - 2 * U0 L d * t).
Proof.
  intros HL Ha Ht Hx Hxs Hgx Hgs I i HI HgI Hi Hne.
  assert (HU0 := U0_pos L d HL).
  assert (Ht0 : 0 <= t).
  { eapply Rle_trans; [apply Rabs_pos|]. apply (HgI 1%nat 0%nat); lia. }
  set (P := fun k => if (k <=? d)%nat then Inst 3 (move k x) else Inst L xs).
  set (y := fun k => target d (P k) (trig (P k))).
  set (Z := fun k => zsum d a (P k) (trig (P k))).
  set (g := fun k => leak a (P k) (trig (P k))).
  assert (HP : forall k, is_instance L d (P k)).
  { intros k. unfold P. destruct (k <=? d)%nat; [apply move_instance|]; assumption. }
  assert (HPg : forall k, good L d (head d a V) t (P k)).
  { intros k. unfold P. destruct (Nat.leb_spec k d); [apply Hgx|]; assumption. }
  assert (HPj : forall k, (1 <= trig (P k) <= L)%nat).
  { intros k. destruct (HP k) as [Hj _]. lia. }
  assert (Hg : forall k, 0 <= g k <= 1) by (intros k; apply (leak_range L d); auto).
  assert (HPlow : forall k, (k <= d)%nat -> P k = Inst 3 (move k x)).
  { intros k Hk. unfold P. destruct (Nat.leb_spec k d); [reflexivity|lia]. }
  assert (HPtop : P (S d) = Inst L xs).
  { unfold P. destruct (Nat.leb_spec (S d) d); [lia|reflexivity]. }
  set (phi := fun (u : nat -> R) (z : vec) =>
    bsum 1 (d + 2) (fun r => u r * bsum 1 (d + 2) (fun s => V r s * z s))).
  set (nrm := fun u : nat -> R => bsum 1 (d + 2) (fun r => Rabs (u r))).
  set (h := fun (u : nat -> R) k => bsum 1 (d + 2) (fun r => u r * y k r)).
  assert (Hn0 : forall u, 0 <= nrm u) by (intros u; apply bsum_nonneg; intros; apply Rabs_pos).
  (* u applied to a row's error *)
  assert (Hpair : forall (u : nat -> R) (e : nat -> R) b,
    (forall r, (1 <= r <= d + 2)%nat -> Rabs (e r) <= b) ->
    Rabs (bsum 1 (d + 2) (fun r => u r * e r)) <= nrm u * b).
  { intros u e b He. eapply Rle_trans; [apply bsum_Rabs|]. unfold nrm. rewrite <- bsum_scal_r.
    apply bsum_le. intros r Hr. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|auto]. }
  assert (Hh : forall u k, Rabs (phi u (Z k) - h u k) <= nrm u * t * (2 - g k)).
  { intros u k. unfold phi, h. rewrite <- bsum_minus.
    rewrite (bsum_ext 1 (d + 2) _ (fun r => u r * (bsum 1 (d + 2) (fun s => V r s * Z k s) - y k r)))
      by (intros; ring).
    rewrite Rmult_assoc. apply Hpair. intros r Hr. apply (row_error L d); auto. lia. }
  assert (Hphi : forall u z, phi u z = bsum 1 (d + 2) (fun s => bsum 1 (d + 2) (fun r => u r * V r s) * z s)).
  { intros u z. unfold phi.
    rewrite (bsum_ext 1 (d + 2) _ (fun r => bsum 1 (d + 2) (fun s => u r * V r s * z s))).
    2:{ intros r _. rewrite <- bsum_scal. apply bsum_ext. intros. ring. }
    rewrite bsum_exchange. apply bsum_ext. intros s _. rewrite <- bsum_scal_r. reflexivity. }
  (* the norm bound for the probes *)
  assert (Hnorm : forall u beta, Rabs (h u 0%nat) <= beta ->
    (forall k, (1 <= k <= S d)%nat -> Rabs (h u k - h u 0%nat) <= beta) -> nrm u <= U0 L d * beta).
  { intros u beta H0 H1. apply (norm_bound L d y u beta); try assumption; unfold y.
    - rewrite HPlow by lia. apply target_3_T.
    - rewrite HPlow by lia. apply target_3_N.
    - intros m Hm. apply (target_bound L); [apply HP|lia].
    - intros m r Hm Hr Hr'. rewrite !HPlow by lia. apply target_3_move; assumption.
    - intros m Hm. rewrite !HPlow by lia. apply target_3_move_C. assumption.
    - rewrite HPtop. apply target_L_T. assumption.
    - rewrite HPtop. apply target_L_N. assumption.
    - intros m Hm. apply (target_bound L); [apply HP|lia]. }
  (* u with u^T V w = (e_T + e_N)^T w on W *)
  destruct (square_system (d + 2) V (fun s => if ((s =? 1) || (s =? d + 2))%nat%bool then 1 else 0))
    as [u Hu].
  { intros u Hu r Hr.
    assert (Hz : forall k, phi u (Z k) = 0).
    { intros k. rewrite Hphi. apply bsum_zero_ext. intros s Hs. rewrite Hu by assumption. ring. }
    assert (Hk : forall k, Rabs (h u k) <= 2 * (nrm u * t)).
    { intros k. specialize (Hh u k). rewrite Hz in Hh. rewrite Rminus_0_l, Rabs_Ropp in Hh.
      assert (0 <= nrm u * t) by (apply Rmult_le_pos; auto). specialize (Hg k). nra. }
    assert (HUb : nrm u <= U0 L d * (4 * (nrm u * t))).
    { assert (Hp : 0 <= nrm u * t) by (apply Rmult_le_pos; auto). apply Hnorm.
      - specialize (Hk 0%nat). lra.
      - intros k _. unfold Rminus. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp.
        assert (H1 := Hk k). assert (H2 := Hk 0%nat). lra. }
    assert (HU : nrm u = 0).
    { specialize (Hn0 u). clear - Hn0 HUb Ht. nra. }
    assert (Hur := bsum_eq0 1 (d + 2) _ (fun k _ => Rabs_pos (u k)) HU r Hr).
    destruct (Req_dec (u r) 0) as [|Hn]; [assumption|]. apply Rabs_pos_lt in Hn. simpl in Hur. lra. }
  assert (Hval : forall z, phi u z = z 1%nat + z (d + 2)%nat).
  { intros z. rewrite Hphi.
    rewrite (bsum_ext 1 (d + 2) _ (fun s => (if ((s =? 1) || (s =? d + 2))%nat%bool then 1 else 0) * z s)).
    2:{ intros s Hs. rewrite Hu by assumption. reflexivity. }
    rewrite split_W, bsum_zero_ext.
    2:{ intros s Hs. destruct (Nat.eqb_spec s 1), (Nat.eqb_spec s (d + 2)); try lia. simpl. ring. }
    destruct (Nat.eqb_spec 1 1); [|lia]. destruct (Nat.eqb_spec (d + 2) (d + 2)); [|lia].
    rewrite Bool.orb_true_r. simpl. ring. }
  assert (HZ : forall k, Rabs (g k - h u k) <= nrm u * t * (2 - g k)).
  { intros k. specialize (Hh u k). rewrite Hval in Hh. unfold Z in Hh.
    rewrite (zsum_leak L) in Hh by auto. exact Hh. }
  assert (HI' : leak a I i <= nrm u * t * (2 - leak a I i)).
  { rewrite <- (zsum_leak L d a I i Ha HI) at 1 by lia. rewrite <- Hval, Rmult_assoc.
    eapply Rle_trans; [apply Rle_abs|]. unfold phi. apply Hpair. intros r Hr.
    assert (He := row_error L d a V t I i r Ha HI HgI ltac:(lia) ltac:(lia)).
    rewrite target_off, Rminus_0_r in He by assumption. exact He. }
  assert (HU := Hn0 u). set (U := nrm u) in *.
  assert (Hat : 0 <= U * t) by (apply Rmult_le_pos; assumption).
  set (beta := if Rle_dec (U * t) 1 then 1 + 3 * (U * t) else 4 * (U * t)).
  assert (HUb : U <= U0 L d * beta).
  { apply Hnorm.
    - assert (H0 := HZ 0%nat). assert (H1 := Hg 0%nat).
      assert (H2 : g 0%nat + U * t * (2 - g 0%nat) <= beta).
      { unfold beta. destruct (Rle_dec (U * t) 1); nra. }
      clear - H0 H1 H2. unfold Rabs in *. repeat destruct Rcase_abs; lra.
    - intros k _. assert (H0 := HZ 0%nat). assert (H1 := HZ k).
      assert (H2 := gap_bound (U * t) (g k) (g 0%nat) Hat (Hg k) (Hg 0%nat)). fold beta in H2.
      set (a0 := U * t * (2 - g 0%nat)) in *. set (a1 := U * t * (2 - g k)) in *.
      assert (H3 : Rabs (g k - g 0%nat) + a0 + a1 <= beta) by (unfold a0, a1; lra).
      clear - H0 H1 H3. unfold Rabs in *. repeat destruct Rcase_abs; lra. }
  unfold beta in HUb. set (m := leak a I i) in *.
  assert (Hm : 0 <= m <= 1) by (apply (leak_range L d); auto; lia).
  clear - HU0 Ht0 Ht HUb HU Hat HI' Hm.
  set (w := U0 L d * t).
  assert (Hw : 0 <= w) by (apply Rmult_le_pos; lra).
  assert (Hw4 : 4 * w < 1) by (unfold w; lra).
  replace (2 * U0 L d * t) with (2 * w) by (unfold w; ring).
  destruct (Rle_dec (U * t) 1) as [H1|H1].
  - set (b := U * t) in *.
    assert (Hb : b <= w * (1 + 3 * b)).
    { unfold b at 1. apply Rle_trans with (U0 L d * (1 + 3 * b) * t).
      - apply Rmult_le_compat_r; assumption.
      - unfold w. lra. }
    apply Rmult_le_reg_r with (1 - 2 * w); [lra|]. unfold Rdiv.
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    clearbody b w. clear - Hb HI' Hat Hw Hw4 Hm.
    (* m (1 + b) <= 2 b and b (1 - 3 w) <= w *)
    assert (H2 : m * (1 + b) * (1 - 2 * w) <= 2 * b * (1 - 2 * w)).
    { apply Rmult_le_compat_r; lra. }
    assert (H3 : 2 * b * (1 - 2 * w) <= 2 * w * (1 + b)) by lra.
    apply Rmult_le_reg_r with (1 + b); lra.
  - exfalso. assert (HUp : 0 < U) by nra.
    assert (U0 L d * (4 * (U * t)) < U); [|lra].
    replace (U0 L d * (4 * (U * t))) with (4 * w * U) by (unfold w; ring). nra.
Qed.
