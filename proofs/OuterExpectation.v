(** * Facts about the outer expectation: it exists for bounded functions, a constant is
    its own expectation, a cell has its volume as probability, and a large value at one of finitely many moved
    copies of every content forces a large expectation. *)
From Coq Require Import Reals Lra Lia Arith List.
From Sinkproof Require Import Sums Task Theorem1PrimeCore UniformLaw Covers.
Open Scope R_scope.

(** ** Cells *)

Lemma in_coords L d k m : In (k, m) (coords L d) <-> (2 <= k <= L)%nat /\ (m < d)%nat.
Proof. unfold coords. rewrite in_prod_iff, !in_seq. lia. Qed.

Lemma NoDup_app_disjoint {A} (l l' : list A) : NoDup l -> NoDup l' ->
  (forall x, In x l -> ~ In x l') -> NoDup (l ++ l').
Proof.
  induction 1 as [|x l Hx Hl IH]; intros Hl' Hd; simpl; [assumption|]. constructor.
  - rewrite in_app_iff. intros [H|H]; [contradiction|]. apply (Hd x); [left; reflexivity|assumption].
  - apply IH; [assumption|]. intros y Hy. apply Hd. right. assumption.
Qed.

Lemma NoDup_coords L d : NoDup (coords L d).
Proof.
  unfold coords. assert (Hl' := seq_NoDup d 0). generalize dependent (seq 0 d). intros l' Hl'.
  induction (seq_NoDup (L - 1) 2) as [|x l Hx Hl IH]; simpl; [constructor|].
  apply NoDup_app_disjoint; [|assumption|].
  - clear - Hl'. induction Hl' as [|y l Hy Hl IH]; simpl; constructor; [|assumption].
    rewrite in_map_iff. intros [z [E Hz]]. injection E as ->. contradiction.
  - intros [k m] H1 H2. rewrite in_map_iff in H1. destruct H1 as [z [E _]]. injection E as -> _.
    rewrite in_prod_iff in H2. tauto.
Qed.

Lemma cell_probability_nonneg L d C : (3 <= L)%nat -> 0 <= cell_probability L d C.
Proof.
  intros HL. apply Rmult_le_pos; [|apply lprod_nonneg; intros; apply fraction_nonneg].
  destruct (_ && _)%bool; [|lra]. left. apply Rinv_0_lt_compat, lt_0_INR. lia.
Qed.

(** ** Greatest lower bounds *)

Lemma is_glb_unique S m m' : is_glb S m -> is_glb S m' -> m = m'.
Proof. intros [H1 H2] [H1' H2']. apply Rle_antisym; auto. Qed.

Lemma is_glb_exists (S : R -> Prop) b v : (forall x, S x -> b <= x) -> S v -> exists m, is_glb S m.
Proof.
  intros Hb Hv. destruct (completeness (fun b => forall x, S x -> b <= x)) as [m [H1 H2]].
  - exists v. intros c Hc. auto.
  - exists b. assumption.
  - exists m. split; [|assumption]. intros x Hx. apply H2. intros c Hc. auto.
Qed.

(** ** Upper sums *)

Lemma upper_sum_nonneg L d A F v : upper_sum L d A F v -> 0 <= v.
Proof. intros [c [C [_ [_ H]]]]. apply (H 0%nat). Qed.

(** Larger functions on larger sets have larger upper sums, also after scaling. *)
Lemma upper_sum_scale L d (A A' : inst -> Prop) (F F' : inst -> R) k v : 0 < k ->
  (forall I, is_instance L d I -> A' I -> A I /\ k * F' I <= F I) ->
  upper_sum L d A F v -> upper_sum L d A' F' (v / k).
Proof.
  intros Hk H [c [C [Hc [HF Hv]]]]. exists (fun n => c n / k), C. split; [|split].
  - intros n. apply Rmult_le_pos; [apply Hc|]. left. apply Rinv_0_lt_compat. assumption.
  - intros I HI HA a Ha. destruct (H I HI HA) as [HA' HFI].
    destruct (HF I HI HA' (k * a)) as [N HN].
    { apply Rlt_le_trans with (k * F' I); [apply Rmult_lt_compat_l|]; assumption. }
    exists N. apply Rmult_lt_reg_l with k; [assumption|]. rewrite <- ssum_scal.
    erewrite ssum_ext; [exact HN|]. intros n _. simpl. field. lra.
  - intros N. specialize (Hv N). apply Rmult_le_reg_l with k; [assumption|].
    rewrite <- ssum_scal. replace (k * (v / k)) with v by (field; lra).
    erewrite ssum_ext; [exact Hv|]. intros n _. simpl. field. lra.
Qed.

(** A function that is at most b is covered by the whole space with coefficient b. *)
Lemma upper_sum_bounded L d A F b : (3 <= L)%nat -> 0 <= b ->
  (forall I, is_instance L d I -> F I <= b) -> upper_sum L d A F b.
Proof.
  intros HL Hb HF.
  exists (fun n => if (n <? L - 2)%nat then b else 0), (fun n => Cell (n + 3) (fun _ _ => -2) (fun _ _ => 2)).
  assert (Hc : forall n, 0 <= if (n <? L - 2)%nat then b else 0) by (intros n; destruct (_ <? _)%nat; lra).
  split; [assumption|]. split.
  - intros I HI _ a Ha. exists (L - 2)%nat. apply Rlt_le_trans with b; [specialize (HF I HI); lra|].
    pose proof HI as [Hj Hx].
    eapply Rle_trans; [|apply (ssum_term_le (L - 2) (trig I - 3))].
    + cbv beta. destruct (Nat.ltb_spec (trig I - 3) (L - 2)); [|lia]. unfold cell_indicator. simpl.
      replace (trig I - 3 + 3)%nat with (trig I) by lia. rewrite Nat.eqb_refl.
      rewrite lprod_one; [lra|]. intros [k m] Hq. apply in_coords in Hq as [Hk Hm].
      specialize (Hx k m Hk Hm). simpl. unfold between.
      destruct (Rlt_dec (-2) (cont I k m)); [|lra]. destruct (Rlt_dec (cont I k m) 2); [reflexivity|lra].
    + intros n. apply Rmult_le_pos; [apply Hc|]. apply Rmult_le_pos.
      * destruct (_ =? _)%nat; lra.
      * apply lprod_nonneg. intros. apply between_nonneg.
    + lia.
  - intros N. apply Rle_trans with (ssum (L - 2) (fun n => b * / INR (L - 2))).
    + assert (Hp : 0 < / INR (L - 2)) by (apply Rinv_0_lt_compat, lt_0_INR; lia).
      assert (Hterm : forall n, (if (n <? L - 2)%nat then b else 0) *
         cell_probability L d (Cell (n + 3) (fun _ _ => -2) (fun _ _ => 2)) =
         if (n <? L - 2)%nat then b * / INR (L - 2) else 0).
      { intros n. destruct (Nat.ltb_spec n (L - 2)); [|ring]. f_equal. unfold cell_probability.
        cbn [cell_trig cell_lo cell_hi].
        destruct (Nat.leb_spec (n + 3) L); [|lia]. destruct (Nat.leb_spec 3 (n + 3)); [|lia]. cbn [andb].
        rewrite lprod_one; [ring|]. intros q _. unfold fraction, Rmin, Rmax.
        repeat destruct Rle_dec; lra. }
      rewrite (ssum_ext N _ (fun n => if (n <? L - 2)%nat then b * / INR (L - 2) else 0)) by auto.
      rewrite (ssum_ext (L - 2) _ (fun n => if (n <? L - 2)%nat then b * / INR (L - 2) else 0)).
      2:{ intros n Hn. destruct (Nat.ltb_spec n (L - 2)); [reflexivity|lia]. }
      assert (Hbp : 0 <= b * / INR (L - 2)) by (apply Rmult_le_pos; lra).
      destruct (le_lt_dec N (L - 2)) as [H|H].
      * apply ssum_mono; [assumption|]. intros k. destruct (_ <? _)%nat; lra.
      * replace N with (L - 2 + (N - (L - 2)))%nat by lia. rewrite ssum_app.
        rewrite (ssum_ext (N - (L - 2)) _ (fun _ => 0 * 0)).
        2:{ intros k _. destruct (Nat.ltb_spec (L - 2 + k) (L - 2)); [lia|ring]. }
        rewrite (ssum_scal _ 0). lra.
    + assert (Hcs : forall n x, ssum n (fun _ => x) = INR n * x).
      { clear. induction n; intros x; [simpl; ring|]. rewrite S_INR. simpl. rewrite IHn. ring. }
      rewrite Hcs. apply Req_le. field. apply not_0_INR. lia.
Qed.

(** ** The part of a cover at one trigger position *)

(** Weight of a cell within the slice of trigger position j. *)
Definition slice_weight (L d j : nat) (C : cell) : R :=
  (if (j =? cell_trig C)%nat then 1 else 0) *
  lprod (coords L d) (fun q =>
    fraction (cell_lo C (fst q) (snd q)) (cell_hi C (fst q) (snd q))).

Lemma slice_weight_nonneg L d j C : 0 <= slice_weight L d j C.
Proof.
  apply Rmult_le_pos; [destruct (_ =? _)%nat; lra|]. apply lprod_nonneg. intros; apply fraction_nonneg.
Qed.

(** Suppose that for every content at least one of its M copies [move 0 x] .. [move (M-1) x]
    has, with the trigger at j, a value F of at least t. Then a cover of F has weight at
    least t / M in the slice j. *)
Lemma slice L d F (c : nat -> R) (C : nat -> cell) j t M : (0 < M)%nat -> (3 <= j <= L)%nat ->
  (forall n, 0 <= c n) ->
  (forall I, is_instance L d I -> le_series (F I) (fun n => c n * cell_indicator L d (C n) I)) ->
  (forall x, is_instance L d (Inst j x) ->
     exists p, (p < M)%nat /\ is_instance L d (Inst j (move p x)) /\ t <= F (Inst j (move p x))) ->
  le_series t (fun n => INR M * (c n * slice_weight L d j (C n))).
Proof.
  intros HM Hj Hc HF Hx.
  set (w := fun i => c (i / M)%nat * if (j =? cell_trig (C (i / M)%nat))%nat then 1 else 0).
  set (lo := fun i (q : nat * nat) => cell_lo (C (i / M)%nat) (fst q) (snd q)).
  set (hi := fun i (q : nat * nat) => cell_hi (C (i / M)%nat) (fst q) (snd q)).
  set (mv := fun i (q : nat * nat) => ((fst q =? 3) && (i mod M =? S (snd q)))%nat%bool).
  assert (Hw : forall i, 0 <= w i).
  { intros i. apply Rmult_le_pos; [apply Hc|]. destruct (_ =? _)%nat; lra. }
  assert (Hdiv : forall n m, (m < M)%nat -> ((n * M + m) / M = n)%nat /\ ((n * M + m) mod M = m)%nat).
  { intros n m Hm. split.
    - symmetry. apply (Nat.div_unique _ M n m); lia.
    - symmetry. apply (Nat.mod_unique _ M n m); lia. }
  assert (H : le_series t (fun i => w i * lprod (coords L d) (fun q => fraction (lo i q) (hi i q)))).
  { apply (product (coords L d) mv lo hi t (NoDup_coords L d) w Hw).
    intros x Hgen a Ha. set (x' := fun k m => x (k, m)).
    destruct (Hx x') as [p [Hp [HIp Htp]]].
    { split; [assumption|]. intros k m _ _. apply Hgen. }
    destruct (HF _ HIp a ltac:(lra)) as [N HN]. exists (N * M)%nat.
    eapply Rlt_le_trans; [exact HN|]. rewrite ssum_flatten. apply ssum_le. intros n _.
    set (f := fun m => w (n * M + m)%nat * lprod (coords L d) (fun q =>
      between (lo (n * M + m)%nat q) (hi (n * M + m)%nat q)
        (if mv (n * M + m)%nat q then shift (x q) else x q))).
    change (c n * cell_indicator L d (C n) (Inst j (move p x')) <= ssum M f).
    apply Rle_trans with (f p).
    - apply Req_le. unfold f, w, lo, hi, mv, cell_indicator. destruct (Hdiv n p Hp) as [-> ->].
      rewrite Rmult_assoc. f_equal. f_equal. apply lprod_ext. intros [k m] _. simpl. f_equal.
    - apply ssum_term_le; [|assumption]. intros m. apply Rmult_le_pos; [apply Hw|].
      apply lprod_nonneg. intros; apply between_nonneg. }
  intros a Ha. destruct (H a Ha) as [N HN]. exists N.
  eapply Rlt_le_trans; [exact HN|].
  eapply Rle_trans; [apply (ssum_mono N (N * M)); [nia|]|].
  { intros i. apply Rmult_le_pos; [apply Hw|]. apply lprod_nonneg. intros; apply fraction_nonneg. }
  rewrite ssum_flatten. apply ssum_le. intros n _.
  rewrite (ssum_ext M _ (fun m => c n * slice_weight L d j (C n))).
  2:{ intros m Hm. unfold w, lo, hi, slice_weight. destruct (Hdiv n m Hm) as [-> _]. ring. }
  apply Req_le. generalize (c n * slice_weight L d j (C n)). clear.
  induction M; intros y; [simpl; ring|]. rewrite S_INR. cbn [ssum]. rewrite IHM. ring.
Qed.

Lemma slice_probability L d j C : (3 <= j <= L)%nat ->
  slice_weight L d j C <= INR (L - 2) * cell_probability L d C.
Proof.
  intros Hj. unfold slice_weight, cell_probability. rewrite <- Rmult_assoc.
  apply Rmult_le_compat_r; [apply lprod_nonneg; intros; apply fraction_nonneg|].
  assert (Hp : 0 < INR (L - 2)) by (apply lt_0_INR; lia).
  destruct (Nat.eqb_spec j (cell_trig C)) as [<-|_].
  - destruct (Nat.leb_spec 3 j); [|lia]. destruct (Nat.leb_spec j L); [|lia]. simpl.
    rewrite Rinv_r; lra.
  - destruct (_ && _)%bool; [|lra]. rewrite Rinv_r; lra.
Qed.

(** The probe bound: if for every content one of M copies has a value of at least t at
    trigger position j, then the expectation is at least t / (M (L-2)). *)
Lemma probe_bound L d F E j t M : (0 < M)%nat -> (3 <= j <= L)%nat ->
  outer_expectation L d F E ->
  (forall x, is_instance L d (Inst j x) ->
     exists p, (p < M)%nat /\ is_instance L d (Inst j (move p x)) /\ t <= F (Inst j (move p x))) ->
  t <= INR M * INR (L - 2) * E.
Proof.
  intros HM Hj [_ HE] Hx.
  assert (Hp : 0 < INR M * INR (L - 2)) by (apply Rmult_lt_0_compat; apply lt_0_INR; lia).
  apply Rmult_le_reg_r with (/ (INR M * INR (L - 2))); [apply Rinv_0_lt_compat; assumption|].
  replace (INR M * INR (L - 2) * E * / (INR M * INR (L - 2))) with E by (field; split; apply not_0_INR; lia).
  apply HE. intros v [c [C [Hc [HF Hv]]]].
  apply Rmult_le_reg_r with (INR M * INR (L - 2)); [assumption|].
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  apply le_series_le with (fun n => INR M * (c n * slice_weight L d j (C n))).
  - apply (slice L d F); auto.
  - intros N. rewrite ssum_scal. rewrite (Rmult_comm v), Rmult_assoc.
    apply Rmult_le_compat_l; [apply pos_INR|].
    apply Rle_trans with (INR (L - 2) * ssum N (fun n => c n * cell_probability L d (C n))).
    + rewrite <- ssum_scal. apply ssum_le. intros n _.
      replace (INR (L - 2) * (c n * cell_probability L d (C n)))
        with (c n * (INR (L - 2) * cell_probability L d (C n))) by ring.
      apply Rmult_le_compat_l; [apply Hc|]. apply slice_probability. assumption.
    + apply Rmult_le_compat_l; [apply pos_INR|apply Hv].
Qed.

(** ** Sanity of the definition: bounds and constants *)

(** A bounded function has an outer expectation, which is at most the bound. *)
Lemma outer_expectation_bounded L d F b : (3 <= L)%nat -> 0 <= b ->
  (forall I, is_instance L d I -> F I <= b) -> exists E, outer_expectation L d F E /\ 0 <= E <= b.
Proof.
  intros HL Hb HF. assert (Hv := upper_sum_bounded L d (fun _ => True) F b HL Hb HF).
  destruct (is_glb_exists (upper_sum L d (fun _ => True) F) 0 b) as [E HE]; [|assumption|].
  - intros v. apply upper_sum_nonneg.
  - exists E. split; [exact HE|]. destruct HE as [H1 H2]. split; [|auto].
    apply H2. intros v. apply upper_sum_nonneg.
Qed.

(** Every event has an outer probability, between 0 and 1. *)
Lemma outer_probability_exists L d A : (3 <= L)%nat ->
  exists p, outer_probability L d A p /\ 0 <= p <= 1.
Proof.
  intros HL. assert (Hv := upper_sum_bounded L d A (fun _ => 1) 1 HL ltac:(lra) ltac:(intros; lra)).
  destruct (is_glb_exists (upper_sum L d A (fun _ => 1)) 0 1) as [E HE]; [|assumption|].
  - intros v. apply upper_sum_nonneg.
  - exists E. split; [exact HE|]. destruct HE as [H1 H2]. split; [|auto].
    apply H2. intros v. apply upper_sum_nonneg.
Qed.

(** A lower bound of the function is a lower bound of its expectation. *)
Lemma outer_expectation_ge L d F E b : (3 <= L)%nat ->
  outer_expectation L d F E -> (forall I, is_instance L d I -> b <= F I) -> b <= E.
Proof.
  intros HL [_ HE] Hb. apply HE. intros v [c [C [Hc [HF Hv]]]].
  assert (HL2 : 0 < INR (L - 2)) by (apply lt_0_INR; lia).
  apply Rnot_lt_le. intros Hlt.
  set (W := fun j N => ssum N (fun n => c n * slice_weight L d j (C n))).
  assert (HS : forall J, (J <= L - 2)%nat -> exists N, (0 < J)%nat -> INR J * v < ssum J (fun i => W (i + 3)%nat N)).
  { induction J; intros HJ; [exists 0%nat; lia|]. destruct IHJ as [N1 HN1]; [lia|].
    assert (Hsl : le_series b (fun n => INR 1 * (c n * slice_weight L d (J + 3) (C n)))).
    { apply (slice L d F); try assumption; try lia.
      - intros I HI. apply HF; [assumption|trivial].
      - intros x Hx. exists 0%nat. split; [lia|].
        assert (E0 : is_instance L d (Inst (J + 3) (move 0 x))).
        { destruct Hx as [Hj Hx]. split; [exact Hj|]. intros k m Hk Hm. simpl. unfold move.
          rewrite Bool.andb_comm. simpl. apply Hx; assumption. }
        split; [assumption|]. apply Hb. assumption. }
    destruct (Hsl v Hlt) as [N2 HN2]. exists (Nat.max N1 N2). intros _. cbn [ssum]. rewrite S_INR.
    assert (Hmono : forall j N, (N <= Nat.max N1 N2)%nat -> W j N <= W j (Nat.max N1 N2)).
    { intros j N HN. apply ssum_mono; [assumption|]. intros k.
      apply Rmult_le_pos; [apply Hc|apply slice_weight_nonneg]. }
    assert (H2 : v < W (J + 3)%nat N2).
    { unfold W. erewrite ssum_ext; [exact HN2|]. intros n _. simpl. ring. }
    assert (H3 := Hmono (J + 3)%nat N2 ltac:(lia)).
    destruct (Nat.eq_dec J 0) as [->|HJ0]; [simpl in *; lra|].
    specialize (HN1 ltac:(lia)).
    assert (H4 : ssum J (fun i => W (i + 3)%nat N1) <= ssum J (fun i => W (i + 3)%nat (Nat.max N1 N2))).
    { apply ssum_le. intros i _. apply Hmono. lia. }
    lra. }
  destruct (HS (L - 2)%nat (le_n _)) as [N HN]. specialize (HN ltac:(lia)).
  specialize (Hv N).
  assert (H : ssum (L - 2) (fun i => W (i + 3)%nat N) <=
    INR (L - 2) * ssum N (fun n => c n * cell_probability L d (C n))).
  { unfold W. rewrite <- ssum_scal. clear HN Hv HS.
    induction N; [simpl; clear; induction (L - 2)%nat; simpl; lra|]. cbn [ssum].
    rewrite ssum_plus. apply Rplus_le_compat; [apply IHN|].
    rewrite ssum_scal.
    replace (INR (L - 2) * (c N * cell_probability L d (C N)))
      with (c N * (INR (L - 2) * cell_probability L d (C N))) by ring.
    apply Rmult_le_compat_l; [apply Hc|]. unfold slice_weight, cell_probability.
    rewrite ssum_scal_r, <- Rmult_assoc.
    apply Rmult_le_compat_r; [apply lprod_nonneg; intros; apply fraction_nonneg|].
    generalize (cell_trig (C N)). intros j.
    assert (Hone : forall J, ssum J (fun i => if (i + 3 =? j)%nat then 1 else 0) =
      if ((3 <=? j) && (j <? J + 3))%nat%bool then 1 else 0).
    { clear. induction J; cbn [ssum].
      - destruct (Nat.leb_spec 3 j), (Nat.ltb_spec j (0 + 3)); simpl; try reflexivity; lia.
      - rewrite IHJ. destruct (Nat.leb_spec 3 j), (Nat.ltb_spec j (J + 3)), (Nat.ltb_spec j (S J + 3)),
          (Nat.eqb_spec (J + 3) j); simpl; try lra; lia. }
    rewrite Hone. destruct (Nat.leb_spec 3 j), (Nat.ltb_spec j (L - 2 + 3)), (Nat.leb_spec j L);
      simpl; try lia; try lra.
    rewrite Rinv_r; lra. }
  assert (INR (L - 2) * ssum N (fun n => c n * cell_probability L d (C n)) <= INR (L - 2) * v).
  { apply Rmult_le_compat_l; lra. }
  lra.
Qed.

(** In particular the law has total mass 1: the expectation of a constant is the constant. *)
Lemma outer_expectation_const L d b : (3 <= L)%nat -> 0 <= b -> outer_expectation L d (fun _ => b) b.
Proof.
  intros HL Hb. destruct (outer_expectation_bounded L d (fun _ => b) b HL Hb ltac:(intros; lra)) as [E [HE HEb]].
  assert (H : b <= E) by (apply (outer_expectation_ge L d (fun _ => b)); [assumption|assumption|intros; lra]).
  replace E with b in HE by lra. assumption.
Qed.

(** The law is the uniform law: every cell has its volume as its outer probability. *)
Theorem outer_probability_cell L d C : (3 <= cell_trig C <= L)%nat ->
  outer_probability L d
    (fun I => trig I = cell_trig C /\ forall k m, (2 <= k <= L)%nat -> (m < d)%nat ->
       cell_lo C k m < cont I k m < cell_hi C k m)
    (/ INR (L - 2) * lprod (coords L d) (fun q =>
       fraction (cell_lo C (fst q) (snd q)) (cell_hi C (fst q) (snd q)))).
Proof.
  intros Hj. set (vol := lprod (coords L d) _).
  assert (HL2 : 0 < INR (L - 2)) by (apply lt_0_INR; lia).
  split.
  - intros v [c [D [Hc [HF Hv]]]].
    apply Rmult_le_reg_l with (INR (L - 2)); [assumption|].
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
    apply le_series_le with (fun n => c n * slice_weight L d (cell_trig C) (D n)).
    + rewrite <- (Rmult_1_l vol). eapply le_series_ext.
      2:{ apply (product_part (coords L d)
            (fun n q => cell_lo (D n) (fst q) (snd q)) (fun n q => cell_hi (D n) (fst q) (snd q))
            (fun q => cell_lo C (fst q) (snd q)) (fun q => cell_hi C (fst q) (snd q))
            (NoDup_coords L d)
            (fun n => c n * if (cell_trig C =? cell_trig (D n))%nat then 1 else 0)).
          - intros n. apply Rmult_le_pos; [apply Hc|]. destruct (_ =? _)%nat; lra.
          - intros x Hx. set (I := Inst (cell_trig C) (fun k m => x (k, m))).
            eapply le_series_ext; [|apply (HF I)].
            + intros n. unfold cell_indicator. simpl. rewrite Rmult_assoc. do 2 f_equal.
              apply lprod_ext. intros [k m] _. reflexivity.
            + split; [exact Hj|]. intros k m Hk Hm. apply Hx. apply in_coords. auto.
            + split; [reflexivity|]. intros k m Hk Hm.
              destruct (Hx (k, m)) as [_ H]; [apply in_coords; auto|]. simpl in *. lra. }
      intros n. unfold slice_weight. ring.
    + intros N. apply Rle_trans with (INR (L - 2) * ssum N (fun n => c n * cell_probability L d (D n))).
      * rewrite <- ssum_scal. apply ssum_le. intros n _.
        replace (INR (L - 2) * (c n * cell_probability L d (D n)))
          with (c n * (INR (L - 2) * cell_probability L d (D n))) by ring.
        apply Rmult_le_compat_l; [apply Hc|]. apply slice_probability. assumption.
      * apply Rmult_le_compat_l; [lra|apply Hv].
  - intros b Hb. apply Hb. exists (fun n => if (n =? 0)%nat then 1 else 0), (fun _ => C).
    assert (Hc : forall n, 0 <= if (n =? 0)%nat then 1 else 0) by (intros n; destruct (_ =? _)%nat; lra).
    split; [exact Hc|]. split.
    + intros I HI [HT HC] a Ha. exists 1%nat. simpl. unfold cell_indicator. rewrite HT, Nat.eqb_refl.
      rewrite lprod_one; [lra|]. intros [k m] Hq. apply in_coords in Hq as [Hk Hm].
      destruct (HC k m Hk Hm) as [H1 H2]. simpl. unfold between.
      destruct (Rlt_dec _ _); [|contradiction]. destruct (Rlt_dec _ _); [reflexivity|contradiction].
    + assert (Hcp : cell_probability L d C = / INR (L - 2) * vol).
      { unfold cell_probability, vol. destruct (Nat.leb_spec 3 (cell_trig C)); [|lia].
        destruct (Nat.leb_spec (cell_trig C) L); [reflexivity|lia]. }
      intros N. rewrite <- Hcp. assert (H0 := cell_probability_nonneg L d C ltac:(lia)).
      destruct N; [simpl; lra|]. change (S N) with (1 + N)%nat. rewrite ssum_app.
      rewrite (ssum_ext N _ (fun _ => 0 * 0)) by (intros; simpl; ring).
      rewrite (ssum_scal N 0 (fun _ => 0)). simpl. lra.
Qed.
