(** * Score matrices of rank one, and rows with equal weights.

    Helpers for sections 4, 5 and 6: every construction there has scores that are
    sums of terms c u v^T, and rows whose non-BOS weights are (almost) all equal. *)
From Coq Require Import Reals Lra Lia Arith List.
From Sinkproof Require Import Sums Task.
Open Scope R_scope.

(** ** Matrices u v^T, their sums and multiples *)

Definition outer (u v : vec) : mat := fun r s => u r * v s.
Definition madd (A A' : mat) : mat := fun r s => A r s + A' r s.
Definition mscal (c : R) (A : mat) : mat := fun r s => c * A r s.

(** Inner product on the coordinates 0 .. d+2. *)
Definition dot (d : nat) (u x : vec) : R := bsum 0 (d + 2) (fun r => u r * x r).

Lemma dot_basis d s x : (s < d + 3)%nat -> dot d (basis s) x = x s.
Proof.
  intros Hs. unfold dot, basis. rewrite <- (bsum_indicator 0 (d + 2) s x) by lia.
  apply bsum_ext. intros k _. destruct (k =? s)%nat; ring.
Qed.

Lemma dot_vadd d u v x : dot d (vadd u v) x = dot d u x + dot d v x.
Proof. unfold dot, vadd. rewrite <- bsum_plus. apply bsum_ext. intros. ring. Qed.

Lemma dot_vscal d c u x : dot d (vscal c u) x = c * dot d u x.
Proof. unfold dot, vscal. rewrite <- bsum_scal. apply bsum_ext. intros. ring. Qed.

Lemma dot_eB d x : dot d eB x = x 0%nat.
Proof. apply dot_basis. lia. Qed.

Lemma dot_eT d x : dot d eT x = x 1%nat.
Proof. apply dot_basis. lia. Qed.

Lemma dot_eN d x : dot d (eN d) x = x (d + 2)%nat.
Proof. apply dot_basis. lia. Qed.

Lemma bilinear_outer d u v h I i k :
  bilinear d (outer u v) h I i k = dot d u (h I i) * dot d v (h I k).
Proof.
  unfold bilinear, mv, outer, dot. rewrite <- bsum_scal_r. apply bsum_ext. intros r _.
  rewrite (bsum_ext 0 (d + 2) _ (fun s => u r * (v s * h I k s))) by (intros; ring).
  rewrite bsum_scal. ring.
Qed.

Lemma bilinear_madd d A A' h I i k :
  bilinear d (madd A A') h I i k = bilinear d A h I i k + bilinear d A' h I i k.
Proof.
  unfold bilinear, mv, madd. rewrite <- bsum_plus. apply bsum_ext. intros r _.
  rewrite <- Rmult_plus_distr_l, <- bsum_plus. f_equal. apply bsum_ext. intros. ring.
Qed.

Lemma bilinear_mscal d c A h I i k :
  bilinear d (mscal c A) h I i k = c * bilinear d A h I i k.
Proof.
  unfold bilinear, mv, mscal. rewrite <- bsum_scal. apply bsum_ext. intros r _.
  rewrite (bsum_ext 0 (d + 2) _ (fun s => c * (A r s * h I k s))) by (intros; ring).
  rewrite bsum_scal. ring.
Qed.

(** ** Indicator coordinates of a token at any position *)

Lemma tok_B d I k : token d I k 0%nat = if (k =? 1)%nat then 1 else 0.
Proof.
  destruct (Nat.eqb_spec k 1) as [->|H]; [apply token_bos|apply token_B; assumption].
Qed.

Lemma tok_T d I k : (3 <= trig I)%nat -> token d I k 1%nat = if (k =? trig I)%nat then 1 else 0.
Proof.
  intros Hj. destruct (Nat.eq_dec k 1) as [->|H]; [|apply token_T; assumption].
  rewrite token_bos. destruct (Nat.eqb_spec 1 (trig I)); [lia|reflexivity].
Qed.

Lemma tok_N d I k :
  token d I k (d + 2)%nat = if (k =? 1)%nat then 0 else if (k =? trig I)%nat then 0 else 1.
Proof.
  destruct (Nat.eqb_spec k 1) as [->|H]; [|apply token_N; assumption].
  rewrite token_bos. destruct (Nat.eqb_spec (d + 2) 0); [lia|reflexivity].
Qed.

(** Computes a score of a sum of rank-one matrices at positions whose kind is known. *)
Ltac score :=
  repeat first [rewrite bilinear_madd | rewrite bilinear_mscal | rewrite bilinear_outer
               | rewrite dot_vadd | rewrite dot_vscal | rewrite dot_eB | rewrite dot_eT | rewrite dot_eN];
  rewrite ?tok_B, ?tok_N; rewrite ?tok_T by (first [assumption|lia]);
  repeat match goal with |- context [(?a =? ?b)%nat] => destruct (Nat.eqb_spec a b); [try lia|try lia] end.

(** ** Softmax rows with one value for BOS and one for all other keys *)

Lemma bsum_two_level i f e1 e : (1 <= i)%nat ->
  f 1%nat = e1 -> (forall k, (2 <= k <= i)%nat -> f k = e) -> bsum 1 i f = e1 + INR (i - 1) * e.
Proof.
  intros Hi H1 H. rewrite bsum_first, H1 by lia. f_equal.
  rewrite (bsum_ext 2 i f (fun _ => e)) by assumption.
  rewrite bsum_const. reflexivity.
Qed.

Lemma softmax_two_level (s : scores) I i e1 e : (1 <= i)%nat ->
  exp (s I i 1%nat) = e1 -> (forall k, (2 <= k <= i)%nat -> exp (s I i k) = e) ->
  softmax s I i 1%nat = e1 / (e1 + INR (i - 1) * e) /\
  forall k, (2 <= k <= i)%nat -> softmax s I i k = e / (e1 + INR (i - 1) * e).
Proof.
  intros Hi H1 H. unfold softmax.
  rewrite (bsum_two_level i (fun k => exp (s I i k)) e1 e) by assumption. split.
  - destruct (Nat.leb_spec 1 i); [|lia]. rewrite H1. reflexivity.
  - intros k Hk. destruct (Nat.leb_spec k i); [|lia]. rewrite H by assumption. reflexivity.
Qed.

(** ** Value maps that are the identity on W *)

Lemma mv_identity_on_W d V I k r : identity_on_W d V -> (k <> 1)%nat -> (r < d + 3)%nat ->
  mv d V (token d I k) r = token d I k r.
Proof.
  intros HV Hk Hr. unfold mv. rewrite bsum_first by lia. rewrite token_B by assumption.
  rewrite Rmult_0_r, Rplus_0_l.
  destruct (Nat.eq_dec r 0) as [->|Hr0].
  - rewrite token_B by assumption. apply bsum_zero_ext. intros s Hs.
    rewrite HV by lia. destruct (Nat.eqb_spec 0 s); [lia|ring].
  - rewrite <- (bsum_indicator 1 (d + 2) r (token d I k)) by lia.
    apply bsum_ext. intros s Hs. rewrite HV by lia.
    destruct (Nat.eqb_spec r s), (Nat.eqb_spec s r); subst; try lia; ring.
Qed.

Lemma mv_bos d V I r : mv d V (token d I 1) r = V r 0%nat.
Proof. change (token d I 1) with (basis 0). apply mv_basis. lia. Qed.

Lemma VW_identity d w : identity_on_W d (VW w).
Proof. intros r s Hr Hs. unfold VW. destruct (Nat.eqb_spec s 0); [lia|reflexivity]. Qed.

(** V_W, the identity on W with V_W e_B = 0. *)
Definition VW0 : mat := VW (fun _ => 0).

Lemma VW0_identity d : identity_on_W d VW0.
Proof. apply VW_identity. Qed.

Lemma VW0_bos r : VW0 r 0%nat = 0.
Proof. reflexivity. Qed.

Lemma mv_VW0 d x r : (r < d + 3)%nat -> mv d VW0 x r = if (r =? 0)%nat then 0 else x r.
Proof.
  intros Hr. unfold mv, VW0, VW. rewrite bsum_first by lia. simpl (0 =? 0)%nat.
  rewrite Rmult_0_l, Rplus_0_l. destruct (Nat.eqb_spec r 0) as [->|Hr0].
  - apply bsum_zero_ext. intros s Hs. destruct s; [lia|]. simpl. ring.
  - rewrite <- (bsum_indicator 1 (d + 2) r x) by lia. apply bsum_ext. intros s Hs.
    destruct (Nat.eqb_spec s 0); [lia|].
    destruct (Nat.eqb_spec r s), (Nat.eqb_spec s r); subst; try lia; ring.
Qed.

(** Output of a head whose value map is the identity on W. *)
Lemma head_on_W d a V I i r : identity_on_W d V -> (1 <= i)%nat -> (r < d + 3)%nat ->
  head d a V I i r = a I i 1%nat * V r 0%nat + bsum 2 i (fun k => a I i k * token d I k r).
Proof.
  intros HV Hi Hr. unfold head, layer. rewrite bsum_first by lia. rewrite mv_bos. f_equal.
  apply bsum_ext. intros k Hk. rewrite mv_identity_on_W; [reflexivity|assumption|lia|assumption].
Qed.

(** The same with V e_B = 0 and all non-BOS weights of the row equal to w. *)
Lemma head_equal_row d a V I i r w : identity_on_W d V -> V r 0%nat = 0 -> (1 <= i)%nat ->
  (r < d + 3)%nat -> (forall k, (2 <= k <= i)%nat -> a I i k = w) ->
  head d a V I i r = w * bsum 2 i (fun k => token d I k r).
Proof.
  intros HV H0 Hi Hr Hw. rewrite head_on_W, H0, Rmult_0_r, Rplus_0_l, <- bsum_scal by assumption.
  apply bsum_ext. intros k Hk. rewrite Hw by assumption. reflexivity.
Qed.

Lemma mv_mscal d c V x r : mv d (mscal c V) x r = c * mv d V x r.
Proof. unfold mv, mscal. rewrite <- bsum_scal. apply bsum_ext. intros. ring. Qed.

Lemma layer_mscal d a c V h I i r : layer d a (mscal c V) h I i r = c * layer d a V h I i r.
Proof.
  unfold layer. rewrite <- bsum_scal. apply bsum_ext. intros. rewrite mv_mscal. ring.
Qed.

(** ** Sums of tokens *)

Lemma token_sum_bound L d I i r : is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat ->
  Rabs (bsum 2 i (fun k => token d I k r)) <= INR (i - 1).
Proof.
  intros HI Hi Hr. eapply Rle_trans; [apply bsum_Rabs|].
  eapply Rle_trans; [apply (bsum_le _ _ _ (fun _ => 1))|].
  - intros k Hk. apply Rabs_le. apply (token_bound L); [assumption|lia|assumption].
  - rewrite bsum_const, Rmult_1_r. apply Req_le. f_equal; lia.
Qed.

(** The instance with every content coordinate equal to 1. *)
Definition ones_instance (j : nat) : inst := Inst j (fun _ _ => 1).

Lemma ones_instance_ok L d j : (3 <= j <= L)%nat -> is_instance L d (ones_instance j).
Proof. intros H. split; simpl; [lia|intros; lra]. Qed.

Lemma ones_sum d j i : (1 <= d)%nat -> (1 <= i)%nat ->
  bsum 2 i (fun k => token d (ones_instance j) k 2%nat) = INR (i - 1).
Proof.
  intros Hd Hi. rewrite (bsum_ext 2 i _ (fun _ => 1)).
  - rewrite bsum_const, Rmult_1_r. f_equal; lia.
  - intros k Hk. change 2%nat with (2 + 0)%nat. rewrite token_C by lia. reflexivity.
Qed.

(** ** Models whose output is a multiple of the sum of the tokens 2..i

    The factor is [g i] at the trigger and [c i] elsewhere. *)
Definition sum_form (L d : nat) (M : seqmap) (c g : nat -> R) : Prop :=
  forall I, is_instance L d I -> forall i r, (1 <= i <= L)%nat -> (r < d + 3)%nat ->
  M I i r = (if (i =? trig I)%nat then g i else c i) * bsum 2 i (fun k => token d I k r).

Section SumForm.
Variables (L d : nat) (M : seqmap) (c g : nat -> R).
Hypothesis HM : sum_form L d M c g.

Lemma sum_form_off I i r : is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat ->
  i <> trig I -> Rabs (M I i r - target d I i r) <= INR (i - 1) * Rabs (c i).
Proof using HM.
  intros HI Hi Hr Hne. rewrite HM, target_off by assumption.
  destruct (Nat.eqb_spec i (trig I)); [contradiction|].
  rewrite Rminus_0_r, Rabs_mult, Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos|].
  apply (token_sum_bound L); assumption.
Qed.

Lemma sum_form_at_eq I r : is_instance L d I -> (r < d + 3)%nat ->
  M I (trig I) r - target d I (trig I) r =
  - (1 - INR (trig I - 1) * g (trig I)) * (/ INR (trig I - 1) * bsum 2 (trig I) (fun k => token d I k r)).
Proof using HM.
  intros HI Hr. pose proof HI as [Hj _]. rewrite HM, target_at by (assumption || lia).
  rewrite Nat.eqb_refl. assert (0 < INR (trig I - 1)) by (apply lt_0_INR; lia). field. lra.
Qed.

Lemma sum_form_at I r : is_instance L d I -> (r < d + 3)%nat ->
  Rabs (M I (trig I) r - target d I (trig I) r) <= Rabs (1 - INR (trig I - 1) * g (trig I)).
Proof using HM.
  intros HI Hr. rewrite sum_form_at_eq by assumption. rewrite <- target_at.
  rewrite Rabs_mult, Rabs_Ropp. rewrite <- Rmult_1_r. apply Rmult_le_compat_l; [apply Rabs_pos|].
  apply (target_bound L); assumption.
Qed.

Lemma sum_form_loss B :
  (forall i, (2 <= i <= L)%nat -> INR (i - 1) * Rabs (c i) <= B) ->
  (forall j, (3 <= j <= L)%nat -> Rabs (1 - INR (j - 1) * g j) <= B) -> (2 <= L)%nat ->
  loss_at_most L d (target d) M B.
Proof using HM.
  intros Hc Hg HL I HI i r Hi Hr. pose proof HI as [Hj _].
  destruct (Nat.eq_dec i (trig I)) as [->|Hne].
  - eapply Rle_trans; [apply sum_form_at; assumption|]. apply Hg. assumption.
  - eapply Rle_trans; [apply sum_form_off; assumption|].
    destruct (Nat.eq_dec i 1) as [->|Hi1]; [|apply Hc; lia].
    simpl. rewrite Rmult_0_l. apply Rle_trans with (INR (2 - 1) * Rabs (c 2%nat)).
    + apply Rmult_le_pos; [apply pos_INR|apply Rabs_pos].
    + apply Hc. lia.
Qed.

(** With content at a vertex the bounds are attained. *)
Lemma sum_form_off_attained j i : (1 <= d)%nat -> (3 <= j <= L)%nat -> (1 <= i <= L)%nat -> i <> j ->
  Rabs (M (ones_instance j) i 2%nat - target d (ones_instance j) i 2%nat) = INR (i - 1) * Rabs (c i).
Proof using HM.
  intros Hd Hj Hi Hne. assert (HI := ones_instance_ok L d j Hj).
  rewrite HM, target_off, ones_sum by (assumption || lia || (simpl; lia)).
  simpl trig. destruct (Nat.eqb_spec i j); [contradiction|].
  rewrite Rminus_0_r, Rabs_mult, (Rabs_pos_eq (INR _)) by apply pos_INR. ring.
Qed.

Lemma sum_form_at_attained j : (1 <= d)%nat -> (3 <= j <= L)%nat ->
  Rabs (M (ones_instance j) j 2%nat - target d (ones_instance j) j 2%nat) = Rabs (1 - INR (j - 1) * g j).
Proof using HM.
  intros Hd Hj. assert (HI := ones_instance_ok L d j Hj).
  assert (E := sum_form_at_eq (ones_instance j) 2%nat HI ltac:(lia)). simpl trig in E.
  rewrite E, ones_sum by lia.
  assert (0 < INR (j - 1)) by (apply lt_0_INR; lia).
  rewrite Rinv_l, Rmult_1_r, Rabs_Ropp by lra. reflexivity.
Qed.
End SumForm.

(** A bound on all errors gives a worst-case loss below it. *)
Lemma worst_case_loss_below L d y M B : (3 <= L)%nat -> loss_at_most L d y M B ->
  exists Lambda, worst_case_loss L d y M Lambda /\ Lambda <= B.
Proof.
  intros HL H. destruct (worst_case_loss_exists L d y M B HL H) as [l Hl].
  exists l. split; [assumption|]. apply (worst_case_loss_le _ _ _ _ _ _ Hl). assumption.
Qed.

(** Any large q is exp K for some K > 0. *)
Lemma exp_reaches x : exists K, 0 < K /\ x <= exp K.
Proof.
  exists (Rmax x 1). assert (H1 := Rmax_l x 1). assert (H2 := Rmax_r x 1). split; [lra|].
  assert (H3 := exp_ineq1 (Rmax x 1)). lra.
Qed.

Lemma INR_pred i : (1 <= i)%nat -> INR (i - 1) = INR i - 1.
Proof. intros H. rewrite minus_INR by lia. reflexivity. Qed.

Lemma INR_range a b i : (a <= i <= b)%nat -> INR a <= INR i <= INR b.
Proof. intros H. split; apply le_INR; lia. Qed.
