(** * Certificates: the leak of a softmax head.

    Two checkers. Each computes with the integers of the weights only; if it answers true, then on
    every instance and at every non-trigger position i >= 2 the leak is at most num/den. *)
From Coq Require Import Reals Lra Lia Arith ZArith List Bool.
From Sinkproof Require Import Sums Task CertificateWeights CertificateVertices CertificateExp CertificateLeakCore.
Open Scope R_scope.

Fixpoint zsum (n : nat) (f : nat -> Z) : Z :=
  match n with
  | O => 0%Z
  | S n' => (zsum n' f + f n')%Z
  end.
Fixpoint norm1 (u : list Z) : Z :=
  match u with
  | nil => 0%Z
  | (a :: u')%list => (Z.abs a + norm1 u')%Z
  end.

(** ** The checkers *)

(** e^(self/D) + (L-3) e^(ordinary/D) + e^(trigger/D) <= q/(1-q), q = num/den. *)
Definition odds_at_most (L : nat) (D num den self ordinary trigger : Z) : bool :=
  match exp_upper self D, exp_upper ordinary D, exp_upper trigger D with
  | Some s, Some o, Some t => (((s + (Z.of_nat L - 3) * o + t) * (den - num)) <=? num * one)%Z
  | _, _, _ => false
  end.

(** By sums of absolute values: every key at its largest over the whole content box of the query. *)
Definition key_sum (d : nat) (M : list (list Z)) (K : nat) : Z :=
  (entry M (d + 2) K - entry M (d + 2) 0 + zsum d (fun m => Z.abs (entry M (2 + m) K - entry M (2 + m) 0)) +
   zsum d (fun l => Z.abs (entry M (d + 2) (2 + l)) + zsum d (fun m => Z.abs (entry M (2 + m) (2 + l)))))%Z.
Definition self_sum (d : nat) (M : list (list Z)) : Z :=
  (entry M (d + 2) (d + 2) - entry M (d + 2) 0 +
   zsum d (fun m => Z.abs (entry M (2 + m) (d + 2) - entry M (2 + m) 0 + entry M (d + 2) (2 + m))) +
   zsum d (fun l => Z.max 0 (entry M (2 + l) (2 + l)) +
     zsum d (fun m => if (m =? l)%nat then 0 else Z.abs (entry M (2 + m) (2 + l)))))%Z.

Definition leak_by_sums (L d : nat) (w : weights) (num den : Z) : bool :=
  let M := score_matrix d w in
  (0 <? den)%Z && (num <=? den)%Z && (3 <=? L)%nat &&
  odds_at_most L (score_denominator w) num den (self_sum d M) (key_sum d M (d + 2)) (key_sum d M 1).

(** By vertices: all keys at their largest for one query, at each of the 2^d vertices of its content.
    Where all three exponents are at most [threshold], which is settled once, no exponential is needed. *)
Definition row_functions (d : nat) (M : list (list Z)) (r : nat) : list Z :=
  ((entry M r (d + 2) - entry M r 0)%Z :: (entry M r 1 - entry M r 0)%Z ::
   map (fun l => entry M r (2 + l)) (seq 0 d))%list.
Definition squares_dropped (d : nat) (M : list (list Z)) : Z :=
  zsum d (fun l => Z.max 0 (- entry M (2 + l) (2 + l))).

Definition odds_leaf (L : nat) (D dropped threshold num den : Z) (signs values : list Z) : bool :=
  match values with
  | (f :: t :: g)%list =>
      let n := norm1 g in
      let self := (f + dropped + dot signs g)%Z in
      if ((self <=? threshold) && (f + n <=? threshold) && (t + n <=? threshold))%Z then true
      else odds_at_most L D num den self (f + n) (t + n)
  | _ => false
  end.

Definition leak_by_vertices (L d : nat) (w : weights) (threshold num den : Z) : bool :=
  let M := score_matrix d w in
  let D := score_denominator w in
  (0 <? den)%Z && (num <=? den)%Z && (3 <=? L)%nat && odds_at_most L D num den threshold threshold threshold &&
  at_vertices (odds_leaf L D (squares_dropped d M) threshold num den)
    (row_functions d M (d + 2)) (map (fun m => row_functions d M (2 + m)) (seq 0 d)).

(** ** Integers and reals *)

Lemma IZR_zsum n f : IZR (zsum n f) = ssum n (fun t => IZR (f t)).
Proof. induction n; simpl; [reflexivity|]. rewrite plus_IZR, IHn. reflexivity. Qed.

Lemma IZR_max0 a : IZR (Z.max 0 a) = Rmax 0 (IZR a).
Proof.
  apply Z.max_case_strong; intros H; apply IZR_le in H.
  - rewrite Rmax_left; [reflexivity|assumption].
  - rewrite Rmax_right; [reflexivity|assumption].
Qed.

Lemma ssum_zero n f : (forall t, (t < n)%nat -> f t = 0) -> ssum n f = 0.
Proof. induction n; intros H; simpl; [reflexivity|]. rewrite IHn, H by (intros; apply H; lia) || lia. ring. Qed.

Lemma ssum_nonneg n f : (forall t, (t < n)%nat -> 0 <= f t) -> 0 <= ssum n f.
Proof.
  induction n; intros H; simpl; [lra|]. assert (0 <= f n) by (apply H; lia).
  assert (0 <= ssum n f) by (apply IHn; intros; apply H; lia). lra.
Qed.

Lemma norm1_above u : forall n, ssum n (fun t => Rabs (IZR (nth t u 0%Z))) <= IZR (norm1 u).
Proof.
  induction u as [|a u IH]; intros n.
  - right. apply ssum_zero. intros t _. destruct t; apply Rabs_R0.
  - destruct n as [|n].
    + apply (IZR_le 0). clear. cbn [norm1]. assert (0 <= norm1 u)%Z by (induction u; cbn [norm1]; lia). lia.
    + rewrite ssum_first. cbn [nth norm1]. rewrite plus_IZR, abs_IZR. apply Rplus_le_compat_l, IH.
Qed.

(** The proofs below never compute an exponential. *)
Local Opaque exp_upper.

(** Scaled by D > 0: what is at most an integer number of 1/D. *)
Lemma odds_at_most_sound L D num den self ordinary trigger xs xo xt :
  (0 < D)%Z -> (0 < den)%Z -> (num <= den)%Z -> (3 <= L)%nat ->
  odds_at_most L D num den self ordinary trigger = true ->
  xs <= IZR self / IZR D -> xo <= IZR ordinary / IZR D -> xt <= IZR trigger / IZR D ->
  (exp xs + (INR L - 3) * exp xo + exp xt) * (1 - IZR num / IZR den) <= IZR num / IZR den.
Proof.
  intros HD Hden Hnum HL H Hs Ho Ht. unfold odds_at_most in H.
  assert (Es := exp_upper_correct self D). assert (Eo := exp_upper_correct ordinary D).
  assert (Et := exp_upper_correct trigger D).
  destruct (exp_upper self D) as [s|]; [|discriminate]. destruct (exp_upper ordinary D) as [o|]; [|discriminate].
  destruct (exp_upper trigger D) as [t|]; [|discriminate].
  specialize (Es s HD eq_refl). specialize (Eo o HD eq_refl). specialize (Et t HD eq_refl).
  assert (P := one_pos). apply Z.leb_le, IZR_le in H.
  apply exp_le in Hs. apply exp_le in Ho. apply exp_le in Ht.
  rewrite !mult_IZR, minus_IZR, !plus_IZR, mult_IZR, minus_IZR, <- INR_IZR_INZ in H.
  revert P Es Eo Et H. generalize (IZR one). intros u P Es Eo Et H.
  assert (H3 : 3 <= INR L) by (replace 3 with (INR 3) by (simpl; ring); apply le_INR; assumption).
  assert (Hq : 0 < IZR den) by (apply (IZR_lt 0); assumption). apply IZR_le in Hnum.
  set (e := exp xs + (INR L - 3) * exp xo + exp xt).
  set (b := IZR s + (INR L - 3) * IZR o + IZR t) in *.
  assert (He : e <= b / u).
  { unfold e, b. replace ((IZR s + (INR L - 3) * IZR o + IZR t) / u) with (IZR s / u + (INR L - 3) * (IZR o / u) + IZR t / u) by (field; lra).
    apply Rplus_le_compat; [apply Rplus_le_compat; [lra|apply Rmult_le_compat_l; lra]|lra]. }
  apply Rle_trans with (b / u * (1 - IZR num / IZR den)).
  - apply Rmult_le_compat_r; [|exact He].
    replace (1 - IZR num / IZR den) with ((IZR den - IZR num) / IZR den) by (field; lra).
    apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; assumption].
  - apply Rmult_le_reg_r with (u * IZR den); [apply Rmult_lt_0_compat; assumption|].
    replace (b / u * (1 - IZR num / IZR den) * (u * IZR den)) with (b * (IZR den - IZR num)) by (field; lra).
    replace (IZR num / IZR den * (u * IZR den)) with (IZR num * u) by (field; lra). exact H.
Qed.

Section Head.
Variables (d : nat) (w : weights).
Let M := score_matrix d w.
Let D := score_denominator w.
Let A := score_map w.

Lemma D_pos : 0 < IZR D.
Proof. apply (IZR_lt 0), score_denominator_pos. Qed.

Lemma A_entry r s : (r < d + 3)%nat -> (s < d + 3)%nat -> A r s = IZR (entry M r s) / IZR D.
Proof. apply score_map_value. Qed.

Lemma ssum_over_D n f : ssum n (fun t => f t / IZR D) = ssum n f / IZR D.
Proof. unfold Rdiv. rewrite (ssum_ext n _ (fun t => / IZR D * f t)) by (intros; ring). rewrite ssum_scal. ring. Qed.

Lemma Rabs_over_D x : Rabs (x / IZR D) = Rabs x / IZR D.
Proof. assert (P := D_pos). unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_pos_eq (IZR D)) by lra. reflexivity. Qed.

(** ** By sums *)

Lemma key_sum_sound K c : in_box d c -> (K < d + 3)%nat -> key_bound d A K c <= IZR (key_sum d M K) / IZR D.
Proof.
  intros Hc HK. assert (P := D_pos).
  assert (B : forall m x, (m < d)%nat -> c m * x <= Rabs x).
  { intros m x Hm. assert (E := Hc m Hm). destruct (Rcase_abs x); [rewrite Rabs_left by assumption|rewrite Rabs_right by assumption]; nra. }
  assert (B' : forall m x, (m < d)%nat -> Rabs (c m * x) <= Rabs x).
  { intros m x Hm. rewrite Rabs_mult. assert (E : Rabs (c m) <= 1) by (apply Rabs_le, Hc, Hm).
    rewrite <- (Rmult_1_l (Rabs x)) at 2. apply Rmult_le_compat_r; [apply Rabs_pos|exact E]. }
  unfold key_bound, key_base, key_slope, key_sum. rewrite !plus_IZR, minus_IZR, !IZR_zsum.
  apply Rle_trans with ((A (d + 2)%nat K - A (d + 2)%nat 0%nat + ssum d (fun m => Rabs (A (2 + m)%nat K - A (2 + m)%nat 0%nat))) +
    ssum d (fun l => Rabs (A (d + 2)%nat (2 + l)%nat) + ssum d (fun m => Rabs (A (2 + m)%nat (2 + l)%nat)))).
  - apply Rplus_le_compat; [apply Rplus_le_compat_l, ssum_le; intros; apply B; assumption|].
    apply ssum_le. intros l Hl. eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat_l.
    eapply Rle_trans; [apply (ssum_Rabs d)|]. apply ssum_le. intros m Hm. apply B'. assumption.
  - right. unfold Rdiv at 1. rewrite !Rmult_plus_distr_r, <- !ssum_scal_r. rewrite (A_entry (d + 2) K), (A_entry (d + 2) 0) by lia.
    f_equal; [f_equal|].
    + field. lra.
    + apply ssum_ext. intros m Hm. rewrite abs_IZR, minus_IZR, (A_entry (2 + m) K), (A_entry (2 + m) 0) by lia.
      etransitivity; [|apply Rabs_over_D]. f_equal. field. lra.
    + apply ssum_ext. intros l Hl. rewrite plus_IZR, abs_IZR, IZR_zsum, Rmult_plus_distr_r, <- ssum_scal_r, (A_entry (d + 2) (2 + l)) by lia.
      f_equal; [apply Rabs_over_D|]. apply ssum_ext. intros m Hm. rewrite abs_IZR, (A_entry (2 + m) (2 + l)) by lia. apply Rabs_over_D.
Qed.

Lemma self_sum_sound c : in_box d c -> self_bound d A c <= IZR (self_sum d M) / IZR D.
Proof.
  intros Hc. assert (P := D_pos).
  assert (B : forall v x, -1 <= v <= 1 -> v * x <= Rabs x).
  { intros v x E. destruct (Rcase_abs x); [rewrite Rabs_left by assumption|rewrite Rabs_right by assumption]; nra. }
  unfold self_bound, key_base, self_sum. rewrite !plus_IZR, minus_IZR, !IZR_zsum.
  apply Rle_trans with ((A (d + 2)%nat (d + 2)%nat - A (d + 2)%nat 0%nat +
    ssum d (fun m => Rabs (A (2 + m)%nat (d + 2)%nat - A (2 + m)%nat 0%nat + A (d + 2)%nat (2 + m)%nat))) +
    ssum d (fun l => Rmax 0 (A (2 + l)%nat (2 + l)%nat) + ssum d (fun m => if (m =? l)%nat then 0 else Rabs (A (2 + m)%nat (2 + l)%nat)))).
  - apply Rplus_le_compat.
    + rewrite Rplus_assoc, <- ssum_plus. apply Rplus_le_compat_l, ssum_le. intros m Hm.
      rewrite <- Rmult_plus_distr_l. apply B, Hc, Hm.
    + apply ssum_le. intros l Hl. apply Rplus_le_compat_l, ssum_le. intros m Hm. destruct (m =? l)%nat; [lra|].
      assert (E := Hc m Hm). assert (E' := Hc l Hl). rewrite Rmult_comm. apply B. nra.
  - right. unfold Rdiv at 1. rewrite !Rmult_plus_distr_r, <- !ssum_scal_r. rewrite (A_entry (d + 2) (d + 2)), (A_entry (d + 2) 0) by lia.
    f_equal; [f_equal|].
    + field. lra.
    + apply ssum_ext. intros m Hm. rewrite abs_IZR, plus_IZR, minus_IZR, (A_entry (2 + m) (d + 2)), (A_entry (2 + m) 0), (A_entry (d + 2) (2 + m)) by lia.
      etransitivity; [|apply Rabs_over_D]. f_equal. field. lra.
    + apply ssum_ext. intros l Hl. rewrite plus_IZR, IZR_max0, IZR_zsum, Rmult_plus_distr_r, <- ssum_scal_r, (A_entry (2 + l) (2 + l)) by lia.
      f_equal.
      * assert (I : 0 < / IZR D) by (apply Rinv_0_lt_compat; assumption). set (x := IZR (entry M (2 + l) (2 + l))).
        unfold Rdiv, Rmax. destruct (Rle_dec 0 (x * / IZR D)), (Rle_dec 0 x); nra.
      * apply ssum_ext. intros m Hm. destruct (m =? l)%nat; [ring|].
        rewrite abs_IZR, (A_entry (2 + m) (2 + l)) by lia. apply Rabs_over_D.
Qed.

Theorem leak_by_sums_sound L num den : leak_by_sums L d w num den = true ->
  leak_at_most L d w (IZR num / IZR den).
Proof.
  intros H. unfold leak_by_sums in H. fold M D in H. rewrite !andb_true_iff in H. destruct H as [[[H1 H2] H3] H4].
  apply Z.ltb_lt in H1. apply Z.leb_le in H2. apply Nat.leb_le in H3.
  intros I i HI Hi Ht. apply (leak_from_odds L d A); try assumption. intros c Hc.
  apply (odds_at_most_sound L D num den _ _ _ _ _ _ (score_denominator_pos w) H1 H2 H3 H4).
  - apply self_sum_sound. assumption.
  - apply key_sum_sound; [assumption|lia].
  - apply key_sum_sound; [assumption|lia].
Qed.

(** ** By vertices *)

Lemma nth_functions r s : nth s (row_functions d M r) 0%Z =
  if (s =? 0)%nat then (entry M r (d + 2) - entry M r 0)%Z else if (s =? 1)%nat then (entry M r 1 - entry M r 0)%Z
  else if (s <? 2 + d)%nat then entry M r s else 0%Z.
Proof.
  unfold row_functions. destruct s as [|[|s]]; [reflexivity|reflexivity|]. cbn [nth Nat.eqb].
  destruct (Nat.ltb_spec (S (S s)) (2 + d)).
  - apply (nth_map_seq Z (fun l => entry M r (2 + l))). lia.
  - apply nth_overflow. rewrite map_length, seq_length. lia.
Qed.

Lemma entry_slopes m s : (m < d)%nat ->
  entry (map (fun m => row_functions d M (2 + m)) (seq 0 d)) m s = nth s (row_functions d M (2 + m)) 0%Z.
Proof.
  intros Hm. unfold entry. f_equal. apply (nth_map_seq (list Z) (fun m => row_functions d M (2 + m))). assumption.
Qed.

(** The functions of [row_functions], at content v, are those of the proof. *)
Lemma functions_base v K s : K = (d + 2)%nat /\ s = 0%nat \/ K = 1%nat /\ s = 1%nat ->
  IZR (nth s (row_functions d M (d + 2)) 0%Z) + ssum d (fun m => v m * IZR (nth s (row_functions d M (2 + m)) 0%Z)) =
  IZR D * key_base d A K v.
Proof.
  intros HK. assert (P := D_pos). unfold key_base.
  assert (E : forall r, (r < d + 3)%nat -> IZR (nth s (row_functions d M r) 0%Z) = IZR D * (A r K - A r 0%nat)).
  { intros r Hr. rewrite nth_functions, !A_entry by lia.
    destruct HK as [[-> ->]|[-> ->]]; cbn [Nat.eqb]; rewrite minus_IZR; field; lra. }
  rewrite E by lia. rewrite Rmult_plus_distr_l, <- ssum_scal. f_equal. apply ssum_ext. intros m Hm.
  rewrite E by lia. ring.
Qed.

Lemma functions_slope v l : (l < d)%nat ->
  IZR (nth (2 + l) (row_functions d M (d + 2)) 0%Z) + ssum d (fun m => v m * IZR (nth (2 + l) (row_functions d M (2 + m)) 0%Z)) =
  IZR D * key_slope d A l v.
Proof.
  intros Hl. assert (P := D_pos). unfold key_slope.
  assert (E : forall r, (r < d + 3)%nat -> IZR (nth (2 + l) (row_functions d M r) 0%Z) = IZR D * A r (2 + l)%nat).
  { intros r Hr. rewrite nth_functions, A_entry by lia. cbn [Nat.add Nat.eqb].
    destruct (Nat.ltb_spec (S (S l)) (S (S d))); [field; lra|lia]. }
  rewrite E by lia. rewrite Rmult_plus_distr_l, <- ssum_scal. f_equal. apply ssum_ext. intros m Hm.
  rewrite E by lia. ring.
Qed.

(** At a vertex the squares are 1. *)
Lemma self_bound_vertex v : is_vertex d v ->
  self_bound d A v = key_base d A (d + 2) v + IZR (squares_dropped d M) / IZR D + ssum d (fun l => v l * key_slope d A l v).
Proof.
  intros Hv. assert (P := D_pos). unfold self_bound, squares_dropped, key_slope. rewrite IZR_zsum, <- ssum_over_D.
  rewrite !Rplus_assoc. f_equal. rewrite <- !ssum_plus. apply ssum_ext. intros l Hl.
  rewrite Rmult_plus_distr_l. cut (Rmax 0 (A (2 + l)%nat (2 + l)%nat) + ssum d (fun m => if (m =? l)%nat then 0 else A (2 + m)%nat (2 + l)%nat * (v m * v l)) =
    IZR (Z.max 0 (- entry M (2 + l) (2 + l))) / IZR D + v l * ssum d (fun m => v m * A (2 + m)%nat (2 + l)%nat)); [intros E; lra|].
  rewrite <- ssum_scal.
  rewrite (ssum_ext d (fun m => v l * (v m * A (2 + m)%nat (2 + l)%nat)) (fun m =>
    (if (m =? l)%nat then v l * (v m * A (2 + m)%nat (2 + l)%nat) else 0) + (if (m =? l)%nat then 0 else A (2 + m)%nat (2 + l)%nat * (v m * v l)))).
  2:{ intros m _. destruct (m =? l)%nat; ring. }
  rewrite ssum_plus, (ssum_indicator d l (fun m => v l * (v m * A (2 + m)%nat (2 + l)%nat))) by assumption.
  rewrite <- Rplus_assoc. f_equal. rewrite <- Rmult_assoc.
  replace (v l * v l) with 1 by (destruct (Hv l Hl) as [E|E]; rewrite E; ring).
  rewrite A_entry, IZR_max0, opp_IZR by lia. set (x := IZR (entry M (2 + l) (2 + l))).
  assert (I : 0 < / IZR D) by (apply Rinv_0_lt_compat; assumption). unfold Rdiv, Rmax.
  destruct (Rle_dec 0 (x * / IZR D)), (Rle_dec 0 (- x)); nra.
Qed.

Theorem leak_by_vertices_sound L threshold num den : leak_by_vertices L d w threshold num den = true ->
  leak_at_most L d w (IZR num / IZR den).
Proof.
  intros H. unfold leak_by_vertices in H. fold M D in H. rewrite !andb_true_iff in H. destruct H as [[[[H1 H2] H3] H4] H5].
  apply Z.ltb_lt in H1. apply Z.leb_le in H2. apply Nat.leb_le in H3.
  assert (P := D_pos). assert (HD := score_denominator_pos w). fold D in HD.
  intros I i HI Hi Ht. apply (leak_from_odds L d A); try assumption.
  set (q := IZR num / IZR den).
  assert (Hq : 0 <= 1 - q).
  { unfold q. assert (X := IZR_lt _ _ H1). assert (Y := IZR_le _ _ H2).
    replace (1 - IZR num / IZR den) with ((IZR den - IZR num) / IZR den) by (field; lra).
    apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; assumption]. }
  intros c Hc. rewrite Rmult_comm. revert c Hc.
  apply (box_maximum d (fun c => (1 - q) * odds_bound L d A c) q).
  - apply convex_scal; [assumption|]. apply convex_odds_bound. assumption.
  - intros v Hv. rewrite Rmult_comm.
    assert (Hlen : length (map (fun m => row_functions d M (2 + m)) (seq 0 d)) = d) by (rewrite map_length, seq_length; reflexivity).
    destruct (at_vertices_sound _ _ _ H5 v ltac:(rewrite Hlen; assumption)) as [signs [values [Hl [Hn [Hs Hval]]]]].
    rewrite Hlen in Hn, Hs, Hval.
    assert (Hv' : forall s, IZR (nth s values 0%Z) = IZR (nth s (row_functions d M (d + 2)) 0%Z) +
      ssum d (fun m => v m * IZR (nth s (row_functions d M (2 + m)) 0%Z))).
    { intros s. rewrite Hval. f_equal. apply ssum_ext. intros m Hm. rewrite entry_slopes by assumption. reflexivity. }
    clear Hval. unfold odds_leaf in Hl. destruct values as [|f [|t g]]; [discriminate Hl|discriminate Hl|].
    assert (Ef := eq_trans (Hv' 0%nat) (functions_base v (d + 2) 0 (or_introl (conj eq_refl eq_refl)))).
    assert (Et := eq_trans (Hv' 1%nat) (functions_base v 1 1 (or_intror (conj eq_refl eq_refl)))).
    assert (Eg : forall l, (l < d)%nat -> IZR (nth l g 0%Z) = IZR D * key_slope d A l v).
    { intros l Hl'. exact (eq_trans (Hv' (2 + l)%nat) (functions_slope v l Hl')). }
    cbn [nth] in Ef, Et.
    assert (Norm : ssum d (fun l => Rabs (key_slope d A l v)) <= IZR (norm1 g) / IZR D).
    { rewrite (ssum_ext d _ (fun l => Rabs (IZR (nth l g 0%Z)) / IZR D)).
      - rewrite ssum_over_D. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; assumption|apply norm1_above].
      - intros l Hl'. rewrite Eg, <- Rabs_over_D by assumption. f_equal. field. lra. }
    assert (Dot : ssum d (fun l => v l * key_slope d A l v) = IZR (dot signs g) / IZR D).
    { rewrite (dot_sum signs g d) by lia. rewrite <- ssum_over_D. apply ssum_ext. intros l Hl'.
      rewrite Eg, Hs by assumption. field. lra. }
    assert (XS : self_bound d A v <= IZR (f + squares_dropped d M + dot signs g) / IZR D).
    { rewrite self_bound_vertex by assumption. rewrite !plus_IZR, Ef, Dot. right. field. lra. }
    assert (XO : key_bound d A (d + 2) v <= IZR (f + norm1 g) / IZR D).
    { unfold key_bound. rewrite plus_IZR, Ef. replace ((IZR D * key_base d A (d + 2) v + IZR (norm1 g)) / IZR D) with
        (key_base d A (d + 2) v + IZR (norm1 g) / IZR D) by (field; lra). lra. }
    assert (XT : key_bound d A 1 v <= IZR (t + norm1 g) / IZR D).
    { unfold key_bound. rewrite plus_IZR, Et. replace ((IZR D * key_base d A 1 v + IZR (norm1 g)) / IZR D) with
        (key_base d A 1 v + IZR (norm1 g) / IZR D) by (field; lra). lra. }
    unfold odds_bound, q. cbv zeta in Hl.
    destruct ((f + squares_dropped d M + dot signs g <=? threshold) && (f + norm1 g <=? threshold) && (t + norm1 g <=? threshold))%Z eqn:Small.
    + rewrite !andb_true_iff, !Z.leb_le in Small. destruct Small as [[S1 S2] S3].
      assert (W : forall a, (a <= threshold)%Z -> IZR a / IZR D <= IZR threshold / IZR D).
      { intros a Ha. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; assumption|apply IZR_le; assumption]. }
      apply (odds_at_most_sound L D num den _ _ _ _ _ _ HD H1 H2 H3 H4).
      * eapply Rle_trans; [exact XS|apply W; assumption].
      * eapply Rle_trans; [exact XO|apply W; assumption].
      * eapply Rle_trans; [exact XT|apply W; assumption].
    + apply (odds_at_most_sound L D num den _ _ _ _ _ _ HD H1 H2 H3 Hl); assumption.
Qed.
End Head.

(** Where nothing better can be said. *)
Theorem leak_trivial L d w : leak_at_most L d w (1 / 1).
Proof.
  intros I i HI Hi Ht. assert (R := leak_range L d _ I i (softmax_normalised_causal L d (bilinear d (score_map w) (token d))) HI ltac:(lia)).
  unfold softmax_attention_of. lra.
Qed.
