(** * Certificates: the leak of a softmax head with bilinear scores, bounded key by key.

    For an ordinary query x = e_N + iota c the exponent of a key x' over BOS is x^T A (x' - e_B). *)
From Coq Require Import Reals Lra Lia Arith ZArith List.
From Sinkproof Require Import Sums Task CertificateWeights CertificateVertices.
Open Scope R_scope.

(** ** Sums over the coordinates B, T, content, N *)

Lemma bsum_coordinates d f :
  bsum 0 (d + 2) f = f 0%nat + f 1%nat + ssum d (fun m => f (2 + m)%nat) + f (d + 2)%nat.
Proof.
  unfold bsum. replace (S (d + 2) - 0)%nat with (S (S (S d))) by lia.
  change (ssum (S (S (S d))) (fun k => f (0 + k)%nat)) with (ssum (S (S d)) f + f (S (S d))).
  rewrite !ssum_first. replace (S (S d)) with (d + 2)%nat by lia.
  rewrite (ssum_ext d (fun t => f (S (S t))) (fun m => f (2 + m)%nat)) by reflexivity. ring.
Qed.

(** The dot product of a token with y: BOS, the trigger or ordinary. *)
Definition kind (d : nat) (I : inst) (k : nat) : nat :=
  if (k =? 1)%nat then 0%nat else if (k =? trig I)%nat then 1%nat else (d + 2)%nat.

Lemma token_dot d I k y : (k <> 1)%nat ->
  bsum 0 (d + 2) (fun r => token d I k r * y r) =
  y (kind d I k) + ssum d (fun m => cont I k m * y (2 + m)%nat).
Proof.
  intros Hk. rewrite bsum_coordinates, token_B, token_T, token_N by assumption.
  rewrite (ssum_ext d _ (fun m => cont I k m * y (2 + m)%nat)).
  2:{ intros m Hm. rewrite token_C by assumption. reflexivity. }
  unfold kind. destruct (Nat.eqb_spec k 1); [contradiction|]. destruct (k =? trig I)%nat; ring.
Qed.

Lemma mv_token d A I k r : (k <> 1)%nat ->
  mv d A (token d I k) r = A r (kind d I k) + ssum d (fun l => cont I k l * A r (2 + l)%nat).
Proof.
  intros Hk. rewrite <- (token_dot d I k (A r) Hk). apply bsum_ext. intros. ring.
Qed.

Lemma mv_bos d A I r : mv d A (token d I 1) r = A r 0%nat.
Proof. apply mv_basis. lia. Qed.

(** ** Exponents *)

(** x^T A (e_K - e_B), and the slope of the logits in content l of the key, at the query e_N + iota c. *)
Definition key_base (d : nat) (A : mat) (K : nat) (c : content) : R :=
  A (d + 2)%nat K - A (d + 2)%nat 0%nat + ssum d (fun m => c m * (A (2 + m)%nat K - A (2 + m)%nat 0%nat)).
Definition key_slope (d : nat) (A : mat) (l : nat) (c : content) : R :=
  A (d + 2)%nat (2 + l)%nat + ssum d (fun m => c m * A (2 + m)%nat (2 + l)%nat).

Lemma exponent_value d A I i k : (i <> 1)%nat -> i <> trig I -> (k <> 1)%nat ->
  bilinear d A (token d) I i k - bilinear d A (token d) I i 1%nat =
  key_base d A (kind d I k) (cont I i) + ssum d (fun l => cont I k l * key_slope d A l (cont I i)).
Proof.
  intros Hi Ht Hk. unfold bilinear. rewrite <- bsum_minus.
  rewrite (bsum_ext _ _ _ (fun r => token d I i r * (mv d A (token d I k) r - mv d A (token d I 1) r))) by (intros; ring).
  rewrite (token_dot d I i _ Hi). replace (kind d I i) with (d + 2)%nat.
  2:{ unfold kind. destruct (Nat.eqb_spec i 1), (Nat.eqb_spec i (trig I)); (reflexivity || contradiction). }
  rewrite mv_bos, mv_token by assumption. unfold key_base, key_slope.
  rewrite (ssum_ext d (fun m => cont I i m * _) (fun m =>
    cont I i m * (A (2 + m)%nat (kind d I k) - A (2 + m)%nat 0%nat) +
    ssum d (fun l => cont I k l * (cont I i m * A (2 + m)%nat (2 + l)%nat)))).
  2:{ intros m Hm. rewrite mv_bos, mv_token by assumption.
      rewrite (ssum_ext d (fun l => cont I k l * (cont I i m * A (2 + m)%nat (2 + l)%nat))
        (fun l => cont I i m * (cont I k l * A (2 + m)%nat (2 + l)%nat))) by (intros; ring).
      rewrite ssum_scal. ring. }
  rewrite ssum_plus, (ssum_exchange d d).
  rewrite (ssum_ext d (fun l => cont I k l * (A (d + 2)%nat (2 + l)%nat + _)) (fun l =>
    cont I k l * A (d + 2)%nat (2 + l)%nat +
    ssum d (fun m => cont I k l * (cont I i m * A (2 + m)%nat (2 + l)%nat)))).
  2:{ intros l Hl. rewrite ssum_scal. ring. }
  rewrite ssum_plus. ring.
Qed.

(** What bounds the exponent of an ordinary key (K = N) or the trigger key (K = T) over its content, ... *)
Definition key_bound (d : nat) (A : mat) (K : nat) (c : content) : R :=
  key_base d A K c + ssum d (fun l => Rabs (key_slope d A l c)).

(** ... and of the query itself as a key: in x^T A x a square A_mm c_m^2 is at most max(A_mm, 0). *)
Definition self_bound (d : nat) (A : mat) (c : content) : R :=
  key_base d A (d + 2) c + ssum d (fun l => c l * A (d + 2)%nat (2 + l)%nat) +
  ssum d (fun l => Rmax 0 (A (2 + l)%nat (2 + l)%nat) +
    ssum d (fun m => if (m =? l)%nat then 0 else A (2 + m)%nat (2 + l)%nat * (c m * c l))).

Lemma key_exponent_le L d A I i k : is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I -> (2 <= k <= L)%nat ->
  bilinear d A (token d) I i k - bilinear d A (token d) I i 1%nat <= key_bound d A (kind d I k) (cont I i).
Proof.
  intros [_ Hc] Hi Ht Hk. rewrite exponent_value by (assumption || lia).
  apply Rplus_le_compat_l. apply ssum_le. intros l Hl. assert (B := Hc k l Hk Hl).
  set (g := key_slope d A l (cont I i)). destruct (Rcase_abs g) as [N|P].
  - rewrite Rabs_left by assumption. nra.
  - rewrite Rabs_right by assumption. nra.
Qed.

Lemma self_exponent_le L d A I i : is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
  bilinear d A (token d) I i i - bilinear d A (token d) I i 1%nat <= self_bound d A (cont I i).
Proof.
  intros [_ Hc] Hi Ht. rewrite exponent_value by (assumption || lia).
  replace (kind d I i) with (d + 2)%nat.
  2:{ unfold kind. destruct (Nat.eqb_spec i 1), (Nat.eqb_spec i (trig I)); (reflexivity || lia). }
  unfold self_bound. rewrite Rplus_assoc, <- ssum_plus. apply Rplus_le_compat_l. apply ssum_le.
  intros l Hl. assert (B := Hc i l ltac:(lia) Hl). set (c := cont I i) in *. unfold key_slope.
  rewrite Rmult_plus_distr_l. apply Rplus_le_compat_l.
  rewrite (ssum_ext d (fun m => c m * A (2 + m)%nat (2 + l)%nat) (fun m =>
    (if (m =? l)%nat then c m * A (2 + m)%nat (2 + l)%nat else 0) + if (m =? l)%nat then 0 else c m * A (2 + m)%nat (2 + l)%nat)).
  2:{ intros m _. destruct (m =? l)%nat; ring. }
  rewrite ssum_plus, Rmult_plus_distr_l. apply Rplus_le_compat.
  - replace (ssum d (fun m => if (m =? l)%nat then c m * A (2 + m)%nat (2 + l)%nat else 0)) with (c l * A (2 + l)%nat (2 + l)%nat).
    + assert (M := Rmax_l 0 (A (2 + l)%nat (2 + l)%nat)). assert (M' := Rmax_r 0 (A (2 + l)%nat (2 + l)%nat)).
      rewrite <- Rmult_assoc. assert (0 <= c l * c l <= 1) by nra. nra.
    + symmetry. apply ssum_indicator. assumption.
  - rewrite <- ssum_scal. right. apply ssum_ext. intros m _. destruct (m =? l)%nat; ring.
Qed.

(** ** The odds *)

(** Largest possible odds m/(1-m) of the leak m at a query with content c: the query itself, L - 3
    ordinary keys, the trigger key. *)
Definition odds_bound (L d : nat) (A : mat) (c : content) : R :=
  exp (self_bound d A c) + (INR L - 3) * exp (key_bound d A (d + 2) c) + exp (key_bound d A 1 c).

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [H|H]; [left; apply exp_increasing; assumption|right; rewrite H; reflexivity]. Qed.

(** The keys of row i: the query itself, at most one trigger, the rest ordinary. *)
Lemma row_odds L d A I i : is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
  bsum 2 i (fun k => exp (bilinear d A (token d) I i k - bilinear d A (token d) I i 1%nat)) <=
  odds_bound L d A (cont I i).
Proof.
  intros HI Hi Ht. assert (Hj := proj1 HI). unfold odds_bound.
  set (e := fun k => bilinear d A (token d) I i k - bilinear d A (token d) I i 1%nat).
  set (EN := exp (key_bound d A (d + 2) (cont I i))). set (ET := exp (key_bound d A 1 (cont I i))).
  set (ES := exp (self_bound d A (cont I i))).
  assert (PN : 0 < EN) by apply exp_pos. assert (PT : 0 < ET) by apply exp_pos.
  apply Rle_trans with (bsum 2 i (fun k => (if (k =? i)%nat then ES - EN else 0) + ((if (k =? trig I)%nat then ET - EN else 0) + EN))).
  - apply bsum_le. intros k Hk. change (exp (e k) <= (if (k =? i)%nat then ES - EN else 0) + ((if (k =? trig I)%nat then ET - EN else 0) + EN)).
    destruct (Nat.eqb_spec k i) as [->|Hki].
    + destruct (Nat.eqb_spec i (trig I)); [contradiction|].
      assert (exp (e i) <= ES) by (apply exp_le, (self_exponent_le L); assumption). lra.
    + assert (E : exp (e k) <= exp (key_bound d A (kind d I k) (cont I i))).
      { apply exp_le, (key_exponent_le L); (assumption || lia). }
      unfold kind in E. destruct (Nat.eqb_spec k 1); [lia|]. destruct (Nat.eqb_spec k (trig I)); fold EN ET in E; lra.
  - rewrite !bsum_plus, bsum_const, (bsum_indicator 2 i i (fun _ => ES - EN)) by lia.
    destruct (le_lt_dec (trig I) i) as [Hle|Hlt].
    + rewrite (bsum_indicator 2 i (trig I) (fun _ => ET - EN)) by lia.
      replace (INR (S i - 2)) with (INR i - 1) by (rewrite minus_INR by lia; rewrite S_INR; simpl; ring).
      assert (INR i <= INR L) by (apply le_INR; lia). nra.
    + rewrite (bsum_zero_ext 2 i (fun k => if (k =? trig I)%nat then ET - EN else 0)).
      2:{ intros k Hk. destruct (Nat.eqb_spec k (trig I)); [lia|reflexivity]. }
      replace (INR (S i - 2)) with (INR i - 1) by (rewrite minus_INR by lia; rewrite S_INR; simpl; ring).
      assert (INR (S i) <= INR L) by (apply le_INR; lia). rewrite S_INR in *. nra.
Qed.

(** If the odds are at most q/(1-q) for every content of the query, every leak is at most q. *)
Theorem leak_from_odds L d A q :
  (forall c, in_box d c -> odds_bound L d A c * (1 - q) <= q) ->
  forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
  leak (softmax (bilinear d A (token d))) I i <= q.
Proof.
  intros H I i HI Hi Ht. set (s := bilinear d A (token d)).
  assert (Hbox : in_box d (cont I i)) by (intros m Hm; apply (proj2 HI); (assumption || lia)).
  assert (Ho := row_odds L d A I i HI Hi Ht). assert (Hq := H _ Hbox). fold s in Ho.
  set (O := bsum 2 i (fun k => exp (s I i k - s I i 1%nat))) in *.
  assert (HO : 0 <= O) by (apply bsum_nonneg; intros; left; apply exp_pos).
  assert (P1 := exp_pos (s I i 1%nat)).
  assert (D : bsum 1 i (fun k => exp (s I i k)) = exp (s I i 1%nat) * (1 + O)).
  { rewrite bsum_first by lia. rewrite Rmult_plus_distr_l. unfold O. rewrite <- bsum_scal.
    f_equal; [ring|]. apply bsum_ext. intros k _. rewrite <- exp_plus. f_equal. ring. }
  unfold leak, sink_weight, softmax. fold s. destruct (Nat.leb_spec 1 i); [|lia]. rewrite D.
  replace (1 - exp (s I i 1%nat) / (exp (s I i 1%nat) * (1 + O))) with (O / (1 + O)) by (field; lra).
  apply Rmult_le_reg_r with (1 + O); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  destruct (Rle_lt_dec q 1) as [Hq1|Hq1]; nra.
Qed.

(** ** Convexity in the content of the query *)

Lemma affine_key_base d A K : box_affine d (key_base d A K).
Proof.
  apply (affine_plus d (fun _ => _)); [apply affine_const|].
  apply (affine_ssum d d (fun m c => c m * (A (2 + m)%nat K - A (2 + m)%nat 0%nat))). intros m Hm.
  apply (affine_ext d _ (fun c => (A (2 + m)%nat K - A (2 + m)%nat 0%nat) * c m)); [intros; ring|].
  apply affine_scal, affine_coordinate.
Qed.

Lemma affine_key_slope d A l : box_affine d (key_slope d A l).
Proof.
  apply (affine_plus d (fun _ => _)); [apply affine_const|].
  apply (affine_ssum d d (fun m c => c m * A (2 + m)%nat (2 + l)%nat)). intros m Hm.
  apply (affine_ext d _ (fun c => A (2 + m)%nat (2 + l)%nat * c m)); [intros; ring|].
  apply affine_scal, affine_coordinate.
Qed.

Lemma affine_self_bound d A : box_affine d (self_bound d A).
Proof.
  unfold self_bound. apply affine_plus; [apply affine_plus|].
  - apply affine_key_base.
  - apply (affine_ssum d d (fun l c => c l * A (d + 2)%nat (2 + l)%nat)). intros l Hl.
    apply (affine_ext d _ (fun c => A (d + 2)%nat (2 + l)%nat * c l)); [intros; ring|].
    apply affine_scal, affine_coordinate.
  - apply (affine_ssum d d (fun l c => Rmax 0 (A (2 + l)%nat (2 + l)%nat) +
      ssum d (fun m => if (m =? l)%nat then 0 else A (2 + m)%nat (2 + l)%nat * (c m * c l)))).
    intros l Hl. apply affine_plus; [apply affine_const|].
    apply (affine_ssum d d (fun m c => if (m =? l)%nat then 0 else A (2 + m)%nat (2 + l)%nat * (c m * c l))).
    intros m Hm. destruct (Nat.eqb_spec m l) as [E|E]; [apply affine_const|].
    apply affine_scal, affine_product. assumption.
Qed.

Lemma convex_key_bound d A K : box_convex d (key_bound d A K).
Proof.
  apply convex_plus; [apply convex_affine, affine_key_base|].
  apply (convex_ssum d d (fun l c => Rabs (key_slope d A l c))). intros l Hl.
  apply convex_Rabs, affine_key_slope.
Qed.

Lemma convex_odds_bound L d A : (3 <= L)%nat -> box_convex d (odds_bound L d A).
Proof.
  intros HL. assert (3 <= INR L) by (replace 3 with (INR 3) by (simpl; ring); apply le_INR; assumption).
  apply convex_plus; [apply convex_plus; [|apply convex_scal; [lra|]]|]; apply convex_exp.
  - apply convex_affine, affine_self_bound.
  - apply convex_key_bound.
  - apply convex_key_bound.
Qed.
