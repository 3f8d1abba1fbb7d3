(** * Covers of the cube [-1,1]^D by weighted open boxes have at least full weight.

    This is the one piece of measure theory behind the uniform law: countable covers, in
    one dimension by a least upper bound, in D dimensions one coordinate at a time. *)
From Coq Require Import Reals Lra Lia Arith List.
From Coq Require ClassicalDedekindReals.
From Sinkproof Require Import Sums Task Theorem1PrimeCore UniformLaw.
Open Scope R_scope.

(** ** Finite sums *)

Lemma ssum_nonneg n f : (forall k, (k < n)%nat -> 0 <= f k) -> 0 <= ssum n f.
Proof.
  induction n; simpl; intros H; [lra|].
  assert (0 <= f n) by (apply H; lia). assert (0 <= ssum n f) by (apply IHn; intros; apply H; lia). lra.
Qed.

Lemma ssum_mono n n' f : (n <= n')%nat -> (forall k, 0 <= f k) -> ssum n f <= ssum n' f.
Proof. intros Hn Hf. induction Hn; [lra|]. simpl. specialize (Hf m). lra. Qed.

Lemma ssum_term_le n p f : (forall k, 0 <= f k) -> (p < n)%nat -> f p <= ssum n f.
Proof.
  intros Hf Hp. apply Rle_trans with (ssum (S p) f); [|apply ssum_mono; [lia|assumption]].
  simpl. assert (0 <= ssum p f) by (apply ssum_nonneg; auto). lra.
Qed.

Lemma ssum_app n m f : ssum (n + m) f = ssum n f + ssum m (fun k => f (n + k)%nat).
Proof.
  induction m; [rewrite Nat.add_0_r; simpl; ring|].
  rewrite Nat.add_succ_r. simpl. rewrite IHm. ring.
Qed.

Lemma ssum_flatten N M f :
  ssum (N * M) f = ssum N (fun n => ssum M (fun m => f (n * M + m)%nat)).
Proof.
  induction N; [reflexivity|]. simpl. rewrite Nat.add_comm, ssum_app, IHN. reflexivity.
Qed.

Lemma le_series_ext x u v : (forall n, u n = v n) -> le_series x u -> le_series x v.
Proof.
  intros E H a Ha. destruct (H a Ha) as [N HN]. exists N.
  rewrite <- (ssum_ext N u v) by auto. assumption.
Qed.

(** Whether a series exceeds b is decided by the axioms of the reals. *)
Lemma series_dec u b : (exists N, b < ssum N u) \/ series_le u b.
Proof.
  destruct (ClassicalDedekindReals.sig_forall_dec (fun N => ssum N u <= b)) as [[N H]|H].
  - intros N. apply Rle_dec.
  - left. exists N. lra.
  - right. exact H.
Qed.

Lemma le_series_le x u v : le_series x u -> series_le u v -> x <= v.
Proof.
  intros H1 H2. apply Rnot_lt_le. intros H. destruct (H1 v H) as [N HN]. specialize (H2 N). lra.
Qed.

(** ** One dimension: intervals that cover a segment have at least its length *)

Definition clamp (a b x : R) : R := Rmin b (Rmax a x).

Ltac clamp_cases := unfold clamp, fraction, between, Rmin, Rmax; repeat destruct Rle_dec; repeat destruct Rlt_dec; lra.

Lemma clamp_mono a b x y : x <= y -> clamp a b x <= clamp a b y.
Proof. intros H. clamp_cases. Qed.

Lemma clamp_local a b x y : a <= x -> x <= y -> y <= b -> clamp a b y - clamp a b x = y - x.
Proof. intros. clamp_cases. Qed.

Lemma clamp_fraction a b : clamp a b 1 - clamp a b (-1) <= 2 * fraction a b.
Proof. clamp_cases. Qed.

Lemma between_nonneg a b x : 0 <= between a b x.
Proof. clamp_cases. Qed.

Lemma fraction_nonneg a b : 0 <= fraction a b.
Proof. clamp_cases. Qed.

(** A common margin for finitely many open intervals around their points. *)
Lemma margin N (lo hi z : nat -> R) : exists rho, 0 < rho /\
  forall n, (n < N)%nat -> lo n < z n -> z n < hi n -> lo n <= z n - rho /\ z n + rho <= hi n.
Proof.
  induction N; [exists 1; split; [lra|intros; lia]|].
  destruct IHN as [rho [Hr H]].
  destruct (Rlt_dec (lo N) (z N)) as [H1|H1]; [destruct (Rlt_dec (z N) (hi N)) as [H2|H2]|].
  2,3: exists rho; split; [assumption|]; intros n Hn H3 H4;
       destruct (Nat.eq_dec n N) as [->|]; [contradiction|apply H; (assumption || lia)].
  set (e := Rmin (z N - lo N) (hi N - z N)).
  assert (He : 0 < e) by (apply Rmin_pos; lra).
  assert (He1 := Rmin_l (z N - lo N) (hi N - z N)). assert (He2 := Rmin_r (z N - lo N) (hi N - z N)).
  exists (Rmin rho e). assert (Hm1 := Rmin_l rho e). assert (Hm2 := Rmin_r rho e).
  split; [apply Rmin_pos; assumption|]. fold e in He1, He2.
  intros n Hn H3 H4. destruct (Nat.eq_dec n N) as [->|]; [lra|].
  destruct (H n ltac:(lia) H3 H4). lra.
Qed.

(** If at every x of [p,q] the intervals (lo n, hi n) that contain x + s n have total
    weight at least t, then their total weighted length within the segment is at least
    t (q - p). (Proof by the least upper bound of the points up to which this holds.) *)
Lemma segment (w lo hi s : nat -> R) t p q : (forall n, 0 <= w n) -> p <= q ->
  (forall x, p <= x <= q -> le_series t (fun n => w n * between (lo n) (hi n) (x + s n))) ->
  le_series (t * (q - p))
    (fun n => w n * (clamp (lo n) (hi n) (q + s n) - clamp (lo n) (hi n) (p + s n))).
Proof.
  intros Hw Hpq H b Hb. destruct (Req_dec p q) as [E|E].
  { exists 0%nat. simpl. subst q. lra. }
  set (G := fun n x => clamp (lo n) (hi n) (x + s n)).
  change (exists N, b < ssum N (fun n => w n * (G n q - G n p))).
  destruct (series_dec (fun n => w n * (G n q - G n p)) b) as [Hd|Hd]; [assumption|exfalso].
  assert (HG : forall n x y, x <= y -> 0 <= w n * (G n y - G n x)).
  { intros n x y Hxy. apply Rmult_le_pos; [apply Hw|].
    assert (G n x <= G n y) by (apply clamp_mono; lra). lra. }
  set (a := (b / (q - p) + t) / 2).
  assert (Hab : a * (q - p) = (b + t * (q - p)) / 2) by (unfold a; field; lra).
  assert (Hat : a < t) by (apply Rmult_lt_reg_r with (q - p); lra).
  set (S := fun x => p <= x <= q /\ exists N, a * (x - p) <= ssum N (fun n => w n * (G n x - G n p))).
  assert (HSp : S p) by (split; [lra|exists 0%nat; simpl; lra]).
  destruct (completeness S) as [z [Hub Hlub]].
  { exists q. intros x [Hx _]. lra. }
  { exists p. assumption. }
  assert (Hz : p <= z <= q).
  { split; [apply Hub; assumption|]. apply Hlub. intros x [Hx _]. lra. }
  destruct (H z Hz a Hat) as [N0 HN0].
  destruct (margin N0 lo hi (fun n => z + s n)) as [rho [Hrho Hm]].
  assert (Hloc : forall N x y, (N0 <= N)%nat -> z - rho <= x -> x <= y -> y <= z + rho ->
    a * (y - x) <= ssum N (fun n => w n * (G n y - G n x))).
  { intros N x y HN Hx Hxy Hy.
    apply Rle_trans with (ssum N0 (fun n => w n * (G n y - G n x))).
    2:{ apply ssum_mono; [assumption|]. intros k. apply HG. assumption. }
    apply Rle_trans with (ssum N0 (fun n => w n * between (lo n) (hi n) (z + s n)) * (y - x)).
    { apply Rmult_le_compat_r; lra. }
    rewrite <- ssum_scal_r. apply ssum_le. intros n Hn. rewrite Rmult_assoc.
    apply Rmult_le_compat_l; [apply Hw|]. unfold between.
    assert (Hmo : G n x <= G n y) by (apply clamp_mono; lra).
    destruct (Rlt_dec (lo n) (z + s n)) as [H1|H1]; [|lra].
    destruct (Rlt_dec (z + s n) (hi n)) as [H2|H2]; [|lra].
    destruct (Hm n Hn H1 H2) as [H3 H4].
    unfold G. rewrite clamp_local; lra. }
  assert (Hz' : z <= z - rho); [|lra].
  apply Hlub. intros x [Hx [N1 HN1]]. apply Rnot_lt_le. intros Hlt.
  assert (Hxz : x <= z) by (apply Hub; split; [assumption|exists N1; assumption]).
  set (y := Rmin q (z + rho)).
  assert (Hy : x <= y /\ y <= q /\ y <= z + rho /\ (y = q \/ y = z + rho)).
  { unfold y, Rmin. destruct Rle_dec; lra. }
  destruct Hy as [Hy1 [Hy2 [Hy3 Hy4]]].
  assert (HSy : exists N, a * (y - p) <= ssum N (fun n => w n * (G n y - G n p))).
  { exists (Nat.max N0 N1).
    rewrite (ssum_ext _ _ (fun n => w n * (G n y - G n x) + w n * (G n x - G n p))) by (intros; ring).
    rewrite ssum_plus.
    assert (H1 := Hloc (Nat.max N0 N1) x y ltac:(lia) ltac:(lra) Hy1 Hy3).
    assert (H2 : ssum N1 (fun n => w n * (G n x - G n p)) <= ssum (Nat.max N0 N1) (fun n => w n * (G n x - G n p))).
    { apply ssum_mono; [lia|]. intros k. apply HG. lra. }
    lra. }
  assert (Hyz : y <= z) by (apply Hub; split; [lra|assumption]).
  destruct Hy4 as [Hy4|Hy4]; [|lra].
  destruct HSy as [N HN]. specialize (Hd N). rewrite Hy4 in HN. lra.
Qed.

(** The whole interval [-1,1], where some intervals are taken after the move [shift];
    the point 0, at which the move jumps, may be left out. *)
Lemma line (w lo hi : nat -> R) (mv : nat -> bool) t : (forall n, 0 <= w n) ->
  (forall x, -1 <= x <= 1 -> x <> 0 ->
     le_series t (fun n => w n * between (lo n) (hi n) (if mv n then shift x else x))) ->
  le_series t (fun n => w n * fraction (lo n) (hi n)).
Proof.
  intros Hw H a Ha. destruct (Rle_dec t 0) as [Ht|Ht]; [exists 0%nat; simpl; lra|].
  set (e := Rmin (/ 2) ((t - a) / (2 * t))).
  assert (Hq : 0 < (t - a) / (2 * t)) by (apply Rdiv_lt_0_compat; lra).
  assert (He0 : 0 < e) by (apply Rmin_pos; lra).
  assert (He1 : e <= / 2) by apply Rmin_l.
  assert (He2 : t * e <= (t - a) / 2).
  { replace ((t - a) / 2) with (t * ((t - a) / (2 * t))) by (field; lra).
    apply Rmult_le_compat_l; [lra|apply Rmin_r]. }
  destruct (segment w lo hi (fun n => if mv n then -1 else 0) t e 1 Hw ltac:(lra)) with (a := a)
    as [N1 HN1]; [|lra|].
  { intros x Hx. eapply le_series_ext; [|apply (H x); lra]. intros n. simpl. do 2 f_equal.
    unfold shift. destruct (mv n); [destruct (Rlt_dec 0 x)|]; lra. }
  destruct (segment w lo hi (fun n => if mv n then 1 else 0) t (-1) (- e) Hw ltac:(lra)) with (a := a)
    as [N2 HN2]; [|lra|].
  { intros x Hx. eapply le_series_ext; [|apply (H x); lra]. intros n. simpl. do 2 f_equal.
    unfold shift. destruct (mv n); [destruct (Rlt_dec 0 x)|]; lra. }
  exists (Nat.max N1 N2).
  set (f1 := fun n => w n * (clamp (lo n) (hi n) (1 + (if mv n then -1 else 0)) -
                             clamp (lo n) (hi n) (e + (if mv n then -1 else 0)))) in *.
  set (f2 := fun n => w n * (clamp (lo n) (hi n) (- e + (if mv n then 1 else 0)) -
                             clamp (lo n) (hi n) (-1 + (if mv n then 1 else 0)))) in *.
  assert (H1 : ssum N1 f1 <= ssum (Nat.max N1 N2) f1).
  { apply ssum_mono; [lia|]. intros k. apply Rmult_le_pos; [apply Hw|].
    apply Rge_le, Rge_minus, Rle_ge, clamp_mono. lra. }
  assert (H2 : ssum N2 f2 <= ssum (Nat.max N1 N2) f2).
  { apply ssum_mono; [lia|]. intros k. apply Rmult_le_pos; [apply Hw|].
    apply Rge_le, Rge_minus, Rle_ge, clamp_mono. lra. }
  assert (H3 : ssum (Nat.max N1 N2) f1 + ssum (Nat.max N1 N2) f2 <=
               2 * ssum (Nat.max N1 N2) (fun n => w n * fraction (lo n) (hi n))); [|lra].
  rewrite <- ssum_plus, <- ssum_scal. apply ssum_le. intros n _. unfold f1, f2.
  rewrite <- Rmult_plus_distr_l.
  replace (2 * (w n * fraction (lo n) (hi n))) with (w n * (2 * fraction (lo n) (hi n))) by ring.
  apply Rmult_le_compat_l; [apply Hw|].
  eapply Rle_trans; [|apply clamp_fraction].
  assert (M := clamp_mono (lo n) (hi n)).
  destruct (mv n).
  - replace (1 + -1) with 0 by ring. replace (-1 + 1) with 0 by ring.
    assert (M1 := M (-1) (e + -1) ltac:(lra)). assert (M2 := M (- e + 1) 1 ltac:(lra)). lra.
  - rewrite !Rplus_0_r. assert (M1 := M (- e) e ltac:(lra)). lra.
Qed.

(** ** Any number of dimensions, by induction: one coordinate at a time *)

Lemma lprod_nonneg {A} (l : list A) f : (forall q, 0 <= f q) -> 0 <= lprod l f.
Proof. intros H. induction l; simpl; [lra|]. apply Rmult_le_pos; auto. Qed.

Lemma lprod_ext {A} (l : list A) f g : (forall q, In q l -> f q = g q) -> lprod l f = lprod l g.
Proof.
  intros H. induction l; [reflexivity|]. simpl. rewrite H by (left; reflexivity).
  f_equal. apply IHl. intros q Hq. apply H. right. assumption.
Qed.

Lemma lprod_one {A} (l : list A) f : (forall q, In q l -> f q = 1) -> lprod l f = 1.
Proof.
  intros H. rewrite (lprod_ext l f (fun _ => 1) H). clear H. induction l; simpl; [reflexivity|].
  rewrite IHl. ring.
Qed.

Definition coord_eq_dec (q q' : nat * nat) : {q = q'} + {q <> q'}.
Proof. decide equality; apply Nat.eq_dec. Defined.

(** Points that avoid the jump of the move in every coordinate. *)
Definition generic (x : nat * nat -> R) : Prop := forall q, -1 <= x q <= 1 /\ x q <> 0.

Lemma product (l : list (nat * nat)) (mv : nat -> nat * nat -> bool) (lo hi : nat -> nat * nat -> R) t :
  NoDup l -> forall w : nat -> R, (forall n, 0 <= w n) ->
  (forall x, generic x -> le_series t (fun n => w n *
     lprod l (fun q => between (lo n q) (hi n q) (if mv n q then shift (x q) else x q)))) ->
  le_series t (fun n => w n * lprod l (fun q => fraction (lo n q) (hi n q))).
Proof.
  induction 1 as [|q l Hq Hl IH]; intros w Hw H.
  - apply (H (fun _ => 1)). intros q. lra.
  - eapply le_series_ext.
    2:{ apply (IH (fun n => w n * fraction (lo n q) (hi n q))).
        - intros n. apply Rmult_le_pos; [apply Hw|apply fraction_nonneg].
        - intros x Hx. eapply le_series_ext.
          2:{ apply (line (fun n => w n * lprod l (fun q => between (lo n q) (hi n q)
                        (if mv n q then shift (x q) else x q)))
                     (fun n => lo n q) (fun n => hi n q) (fun n => mv n q)).
              - intros n. apply Rmult_le_pos; [apply Hw|apply lprod_nonneg; intros; apply between_nonneg].
              - intros y Hy Hy0.
                set (x' := fun q' => if coord_eq_dec q' q then y else x q').
                eapply le_series_ext; [|apply (H x')].
                + intros n. simpl. unfold x' at 1 2. destruct (coord_eq_dec q q) as [_|N]; [|contradiction].
                  rewrite (lprod_ext l _ (fun q => between (lo n q) (hi n q) (if mv n q then shift (x q) else x q))).
                  2:{ intros q' Hq'. unfold x'. destruct (coord_eq_dec q' q) as [->|_]; [contradiction|reflexivity]. }
                  ring.
                + intros q'. unfold x'. destruct (coord_eq_dec q' q); [split; assumption|apply Hx]. }
          intros n. simpl. ring. }
    intros n. simpl. ring.
Qed.

(** ** Covers of a part of the cube: used to check that a cell has its own volume *)

Lemma line_part (w lo hi : nat -> R) a b t : (forall n, 0 <= w n) ->
  (forall x, -1 <= x <= 1 -> a < x < b -> le_series t (fun n => w n * between (lo n) (hi n) x)) ->
  le_series (t * fraction a b) (fun n => w n * fraction (lo n) (hi n)).
Proof.
  intros Hw H v Hv.
  assert (Hnn : forall n, 0 <= w n * fraction (lo n) (hi n)).
  { intros n. apply Rmult_le_pos; [apply Hw|apply fraction_nonneg]. }
  set (p := Rmax a (-1)). set (q := Rmin b 1).
  assert (Hp : a <= p /\ -1 <= p) by (split; [apply Rmax_l|apply Rmax_r]).
  assert (Hq : q <= b /\ q <= 1) by (split; [apply Rmin_l|apply Rmin_r]).
  destruct (Rle_dec (t * fraction a b) 0) as [H0|H0]; [exists 0%nat; simpl; lra|].
  assert (Hf := fraction_nonneg a b).
  assert (Hf1 : 0 < fraction a b).
  { destruct (Rle_lt_or_eq_dec _ _ Hf) as [|E]; [assumption|]. rewrite <- E, Rmult_0_r in H0. lra. }
  assert (Ht : 0 < t) by (apply Rnot_le_lt; intros Hle; apply H0; nra).
  assert (Hpq : fraction a b = (q - p) / 2).
  { unfold fraction in *. fold p q in Hf1 |- *. unfold Rmax in *. destruct (Rle_dec 0 (q - p)); lra. }
  (* shrink the segment a little *)
  set (e := Rmin ((q - p) / 4) ((t * fraction a b - v) / (2 * t))).
  assert (He0 : 0 < e) by (apply Rmin_pos; [lra|apply Rdiv_lt_0_compat; lra]).
  assert (He1 : e <= (q - p) / 4) by apply Rmin_l.
  assert (He2 : t * e <= (t * fraction a b - v) / 2).
  { replace ((t * fraction a b - v) / 2) with (t * ((t * fraction a b - v) / (2 * t))) by (field; lra).
    apply Rmult_le_compat_l; [lra|apply Rmin_r]. }
  destruct (segment w lo hi (fun _ => 0) t (p + e) (q - e) Hw ltac:(lra)) with (a := 2 * v) as [N HN].
  - intros x Hx. eapply le_series_ext; [|apply (H x); lra]. intros n. simpl. rewrite Rplus_0_r. reflexivity.
  - rewrite Hpq in He2. rewrite Hpq in Hv, H0. lra.
  - exists N. apply Rmult_lt_reg_l with 2; [lra|]. eapply Rlt_le_trans; [exact HN|].
    rewrite <- ssum_scal. apply ssum_le. intros n _. rewrite !Rplus_0_r.
    replace (2 * (w n * fraction (lo n) (hi n))) with (w n * (2 * fraction (lo n) (hi n))) by ring.
    apply Rmult_le_compat_l; [apply Hw|].
    eapply Rle_trans; [|apply clamp_fraction].
    assert (M1 := clamp_mono (lo n) (hi n) (-1) (p + e) ltac:(lra)).
    assert (M2 := clamp_mono (lo n) (hi n) (q - e) 1 ltac:(lra)). lra.
Qed.

Lemma product_part (l : list (nat * nat)) (lo hi : nat -> nat * nat -> R) (a b : nat * nat -> R) :
  NoDup l -> forall (w : nat -> R) t, (forall n, 0 <= w n) ->
  (forall x, (forall q, In q l -> -1 <= x q <= 1 /\ a q < x q < b q) ->
     le_series t (fun n => w n * lprod l (fun q => between (lo n q) (hi n q) (x q)))) ->
  le_series (t * lprod l (fun q => fraction (a q) (b q)))
    (fun n => w n * lprod l (fun q => fraction (lo n q) (hi n q))).
Proof.
  induction 1 as [|q l Hq Hl IH]; intros w t Hw H.
  - simpl. rewrite Rmult_1_r. apply (H (fun _ => 1)). simpl. tauto.
  - simpl. rewrite <- Rmult_assoc. eapply le_series_ext.
    2:{ apply (IH (fun n => w n * fraction (lo n q) (hi n q))).
        - intros n. apply Rmult_le_pos; [apply Hw|apply fraction_nonneg].
        - intros x Hx. eapply le_series_ext.
          2:{ apply (line_part (fun n => w n * lprod l (fun q => between (lo n q) (hi n q) (x q)))
                     (fun n => lo n q) (fun n => hi n q)).
              - intros n. apply Rmult_le_pos; [apply Hw|apply lprod_nonneg; intros; apply between_nonneg].
              - intros y Hy Hyab.
                set (x' := fun q' => if coord_eq_dec q' q then y else x q').
                eapply le_series_ext; [|apply (H x')].
                + intros n. simpl. unfold x' at 1. destruct (coord_eq_dec q q) as [_|N]; [|contradiction].
                  rewrite (lprod_ext l _ (fun q => between (lo n q) (hi n q) (x q))).
                  2:{ intros q' Hq'. unfold x'. destruct (coord_eq_dec q' q) as [->|_]; [contradiction|reflexivity]. }
                  ring.
                + intros q' [<-|Hq']; unfold x'.
                  * destruct (coord_eq_dec q q); [split; assumption|contradiction].
                  * destruct (coord_eq_dec q' q) as [->|_]; [contradiction|apply Hx; assumption]. }
          intros n. simpl. ring. }
    intros n. simpl. ring.
Qed.
