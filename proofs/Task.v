(** * The trigger task and the models: definitions of section 0.

    Parameters: sequence length [L] (at least 4), number of content
    coordinates [d]; model dimension n = d + 3. Positions are 1..L, vectors are
    functions [nat -> R] of which the coordinates 0 .. d+2 count:
    0 is B (BOS), 1 is T (trigger), 2+m is content m (m < d), d+2 is N (ordinary).
    Norms are max-norms, stated coordinate by coordinate. *)
From Coq Require Import Reals Lra Lia Arith List.
From Sinkproof Require Import Sums.
Open Scope R_scope.

Definition vec := nat -> R.
Definition mat := nat -> nat -> R.

(** ** Instances, tokens, targets *)

(** An instance: the trigger position j and the contents c_k (coordinate m). *)
Record inst := Inst { trig : nat; cont : nat -> nat -> R }.

(** j in 3..L, and c_k in [-1,1]^d for k = 2..L. *)
Definition is_instance (L d : nat) (I : inst) : Prop :=
  (3 <= trig I <= L)%nat /\
  forall k m, (2 <= k <= L)%nat -> (m < d)%nat -> -1 <= cont I k m <= 1.

Definition vadd (u v : vec) : vec := fun r => u r + v r.
Definition vscal (c : R) (u : vec) : vec := fun r => c * u r.
Definition basis (s : nat) : vec := fun r => if (r =? s)%nat then 1 else 0.
Definition eB : vec := basis 0.
Definition eT : vec := basis 1.
Definition eN (d : nat) : vec := basis (d + 2).

(** The embedding of content into the model space. *)
Definition iota (d : nat) (c : nat -> R) : vec :=
  fun r => if ((2 <=? r) && (r <? d + 2))%nat%bool then c (r - 2)%nat else 0.

(** x_1 = e_B; x_j = e_T + iota c_j; every other x_k = e_N + iota c_k. *)
Definition token (d : nat) (I : inst) (k : nat) : vec :=
  if (k =? 1)%nat then eB
  else if (k =? trig I)%nat then vadd eT (iota d (cont I k))
  else vadd (eN d) (iota d (cont I k)).

(** A sequence-to-sequence map: anything that gives a vector at each position. *)
Definition seqmap := inst -> nat -> vec.

(** The target: 0 off the trigger; at the trigger the mean of tokens 2..j. *)
Definition target (d : nat) : seqmap := fun I i r =>
  if (i =? trig I)%nat
  then / INR (trig I - 1) * bsum 2 (trig I) (fun k => token d I k r)
  else 0.

(** Target for models with a residual stream: x_i + y_i. *)
Definition residual_target (d : nat) : seqmap := fun I i r =>
  token d I i r + target d I i r.

(** ** Losses. A model is any [seqmap], a task is given by its target map [y]. *)

(** Every error is at most eta, position 1 included. *)
Definition loss_at_most (L d : nat) (y M : seqmap) (eta : R) : Prop :=
  forall I, is_instance L d I -> forall i r, (1 <= i <= L)%nat -> (r < d + 3)%nat ->
  Rabs (M I i r - y I i r) <= eta.

(** The set of all errors (instances, positions, coordinates). *)
Definition errors (L d : nat) (y M : seqmap) : R -> Prop := fun e =>
  exists I i r, is_instance L d I /\ (1 <= i <= L)%nat /\ (r < d + 3)%nat /\
                e = Rabs (M I i r - y I i r).

(** [Lambda] is the worst-case loss: the least upper bound of all errors. *)
Definition worst_case_loss (L d : nat) (y M : seqmap) (Lambda : R) : Prop :=
  is_lub (errors L d y M) Lambda.

(** ** Attention *)

(** [a I i k]: the weight of position k at query position i on instance I. *)
Definition attention := inst -> nat -> nat -> R.

(** Normalised causal attention; constrained on real instances only. *)
Definition normalised_causal (L d : nat) (a : attention) : Prop :=
  forall I, is_instance L d I -> forall i, (1 <= i <= L)%nat ->
  (forall k, (1 <= k <= L)%nat -> 0 <= a I i k) /\
  (forall k, (i < k <= L)%nat -> a I i k = 0) /\
  bsum 1 i (fun k => a I i k) = 1.

(** Weight on BOS, and weight not on BOS. *)
Definition sink_weight (a : attention) (I : inst) (i : nat) : R := a I i 1%nat.
Definition leak (a : attention) (I : inst) (i : nat) : R := 1 - sink_weight a I i.

(** ** Heads and layers *)

(** Matrix times vector, on the coordinates 0 .. d+2. *)
Definition mv (d : nat) (V : mat) (x : vec) : vec := fun r =>
  bsum 0 (d + 2) (fun s => V r s * x s).

(** Matrix product. *)
Definition mm (d : nat) (V W : mat) : mat := fun r s =>
  bsum 0 (d + 2) (fun t => V r t * W t s).

(** One attention layer on top of [h]: sum over k <= i of a_ik V h_k. *)
Definition layer (d : nat) (a : attention) (V : mat) (h : seqmap) : seqmap := fun I i r =>
  bsum 1 i (fun k => a I i k * mv d V (h I k) r).

(** One head: o_i = sum over k <= i of a_ik V x_k. *)
Definition head (d : nat) (a : attention) (V : mat) : seqmap := layer d a V (token d).

(** A stack without residual; the first layer is the first of the list. A layer's
    attention may be any function of the instance, hence of the layers below. *)
Definition stack (d : nat) (ls : list (attention * mat)) : seqmap :=
  fold_left (fun h l => layer d (fst l) (snd l) h) ls (token d).

(** Several heads side by side on [h]: the outputs are added. *)
Definition multi_layer (d : nat) (hs : list (attention * mat)) (h : seqmap) : seqmap := fun I i r =>
  fold_right (fun l acc => layer d (fst l) (snd l) h I i r + acc) 0 hs.

(** A layer with a residual stream. *)
Definition residual_layer (d : nat) (hs : list (attention * mat)) (h : seqmap) : seqmap := fun I i r =>
  h I i r + multi_layer d hs h I i r.

(** A stack of residual layers, each with any number of heads. *)
Definition residual_stack (d : nat) (lss : list (list (attention * mat))) : seqmap :=
  fold_left (fun h hs => residual_layer d hs h) lss (token d).

(** ** Scores, softmax and ReLU attention *)

Definition scores := inst -> nat -> nat -> R.

(** Bilinear scores s_ik = h_i^T A h_k (with h the tokens: x_i^T A x_k). *)
Definition bilinear (d : nat) (A : mat) (h : seqmap) : scores := fun I i k =>
  bsum 0 (d + 2) (fun r => h I i r * mv d A (h I k) r).

Definition softmax (s : scores) : attention := fun I i k =>
  if (k <=? i)%nat then exp (s I i k) / bsum 1 i (fun k' => exp (s I i k')) else 0.

(** ReLU attention: the length factor is fixed, there is no normalisation. *)
Definition relu_attention (s : scores) : attention := fun I i k =>
  if (k <=? i)%nat then Rmax 0 (s I i k) / INR (Nat.max (i - 1) 1) else 0.

(** Softmax head and ReLU head with bilinear scores on the tokens. *)
Definition softmax_head (d : nat) (A V : mat) : seqmap :=
  head d (softmax (bilinear d A (token d))) V.
Definition relu_head (d : nat) (A V : mat) : seqmap :=
  head d (relu_attention (bilinear d A (token d))) V.

(** V is the identity on W = span(e_T, e_N, content): columns 1 .. d+2. *)
Definition identity_on_W (d : nat) (V : mat) : Prop :=
  forall r s, (r < d + 3)%nat -> (1 <= s < d + 3)%nat -> V r s = if (r =? s)%nat then 1 else 0.

(** The matrix that is the identity on W and sends e_B to [w]. *)
Definition VW (w : vec) : mat := fun r s =>
  if (s =? 0)%nat then w r else if (r =? s)%nat then 1 else 0.

(** * Basic facts *)

(** ** Tokens coordinate by coordinate *)

Lemma token_bos d I r : token d I 1 r = if (r =? 0)%nat then 1 else 0.
Proof. reflexivity. Qed.

Lemma basis_same s : basis s s = 1.
Proof. unfold basis. rewrite Nat.eqb_refl. reflexivity. Qed.

Lemma basis_diff s r : r <> s -> basis s r = 0.
Proof. intros H. unfold basis. destruct (Nat.eqb_spec r s); [contradiction|reflexivity]. Qed.

Lemma iota_out d c r : (r < 2)%nat \/ (d + 2 <= r)%nat -> iota d c r = 0.
Proof.
  intros H. unfold iota. destruct (Nat.leb_spec 2 r), (Nat.ltb_spec r (d + 2)); simpl; try reflexivity; lia.
Qed.

Lemma iota_in d c m : (m < d)%nat -> iota d c (2 + m)%nat = c m.
Proof.
  intros H. unfold iota. destruct (Nat.leb_spec 2 (2 + m)); [|lia].
  destruct (Nat.ltb_spec (2 + m) (d + 2)); [|lia].
  replace (2 + m - 2)%nat with m by lia. reflexivity.
Qed.

Ltac solve_token :=
  unfold token; match goal with |- context [(?k =? 1)%nat] => destruct (Nat.eqb_spec k 1) end; [contradiction|];
  match goal with |- context [(?k =? trig ?I)%nat] => destruct (k =? trig I)%nat end; unfold vadd, eT, eN, eB;
  repeat first [rewrite basis_same | rewrite basis_diff by lia
               | rewrite iota_in by lia | rewrite iota_out by lia]; lra.

Lemma token_B d I k : (k <> 1)%nat -> token d I k 0%nat = 0.
Proof. intros Hk. solve_token. Qed.

Lemma token_T d I k : (k <> 1)%nat -> token d I k 1%nat = if (k =? trig I)%nat then 1 else 0.
Proof. intros Hk. solve_token. Qed.

Lemma token_N d I k : (k <> 1)%nat -> token d I k (d + 2)%nat = if (k =? trig I)%nat then 0 else 1.
Proof. intros Hk. solve_token. Qed.

Lemma token_C d I k m : (k <> 1)%nat -> (m < d)%nat -> token d I k (2 + m)%nat = cont I k m.
Proof. intros Hk Hm. solve_token. Qed.

Lemma coord_cases d r : (r < d + 3)%nat ->
  r = 0%nat \/ r = 1%nat \/ r = (d + 2)%nat \/ exists m, (m < d)%nat /\ r = (2 + m)%nat.
Proof.
  intros Hr. destruct (Nat.eq_dec r 0); [tauto|]. destruct (Nat.eq_dec r 1); [tauto|].
  destruct (Nat.eq_dec r (d + 2)); [tauto|]. right. right. right.
  exists (r - 2)%nat. lia.
Qed.

Lemma token_bound L d I k r : is_instance L d I -> (1 <= k <= L)%nat -> (r < d + 3)%nat ->
  -1 <= token d I k r <= 1.
Proof.
  intros [Hj Hc] Hk Hr. destruct (Nat.eq_dec k 1) as [->|Hk1].
  - rewrite token_bos. destruct (r =? 0)%nat; lra.
  - destruct (coord_cases d r Hr) as [->|[->|[->|[m [Hm ->]]]]].
    + rewrite token_B by assumption. lra.
    + rewrite token_T by assumption. destruct (k =? trig I)%nat; lra.
    + rewrite token_N by assumption. destruct (k =? trig I)%nat; lra.
    + rewrite token_C by assumption. apply Hc; lia.
Qed.

(** ** Targets *)

Lemma target_off d I i r : i <> trig I -> target d I i r = 0.
Proof. intros H. unfold target. destruct (Nat.eqb_spec i (trig I)); [contradiction|reflexivity]. Qed.

Lemma target_at d I r :
  target d I (trig I) r = / INR (trig I - 1) * bsum 2 (trig I) (fun k => token d I k r).
Proof. unfold target. rewrite Nat.eqb_refl. reflexivity. Qed.

Lemma target_bound L d I i r : is_instance L d I -> (r < d + 3)%nat -> Rabs (target d I i r) <= 1.
Proof.
  intros HI Hr. destruct (Nat.eq_dec i (trig I)) as [->|H].
  2:{ rewrite target_off, Rabs_R0 by assumption. lra. }
  rewrite target_at. pose proof HI as [Hj _].
  assert (Hp : 0 < INR (trig I - 1)) by (apply lt_0_INR; lia).
  assert (Hs : Rabs (bsum 2 (trig I) (fun k => token d I k r)) <= INR (trig I - 1)).
  { eapply Rle_trans; [apply bsum_Rabs|].
    eapply Rle_trans; [apply (bsum_le _ _ _ (fun _ => 1))|].
    - intros k Hk. apply Rabs_le. apply (token_bound L); [assumption|lia|assumption].
    - rewrite bsum_const, Rmult_1_r. apply Req_le. f_equal; lia. }
  rewrite Rabs_mult, Rabs_inv, (Rabs_pos_eq (INR (trig I - 1))) by lra.
  apply Rmult_le_reg_l with (INR (trig I - 1)); [assumption|].
  rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l, Rmult_1_r by lra. assumption.
Qed.

(** ** Losses *)

Lemma loss_upper_bound L d y M eta :
  loss_at_most L d y M eta <-> is_upper_bound (errors L d y M) eta.
Proof.
  split.
  - intros H e [I [i [r [HI [Hi [Hr ->]]]]]]. apply H; assumption.
  - intros H I HI i r Hi Hr. apply H. exists I, i, r. auto.
Qed.

(** The bridge: bounds on Lambda are bounds on every error. *)
Lemma worst_case_loss_le L d y M Lambda eta :
  worst_case_loss L d y M Lambda -> (Lambda <= eta <-> loss_at_most L d y M eta).
Proof.
  intros [Hub Hl]. split.
  - intros H. apply loss_upper_bound. intros e He. apply Rle_trans with Lambda; auto.
  - intros H. apply Hl. apply loss_upper_bound. assumption.
Qed.

(** An attained bound is the worst-case loss. *)
Lemma worst_case_loss_attained L d y M eta I i r :
  loss_at_most L d y M eta -> is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat ->
  Rabs (M I i r - y I i r) = eta -> worst_case_loss L d y M eta.
Proof.
  intros H HI Hi Hr He. split.
  - apply loss_upper_bound. assumption.
  - intros b Hb. apply Hb. exists I, i, r. auto.
Qed.

(** An instance exists: trigger at 3, all content zero. *)
Definition zero_instance (j : nat) : inst := Inst j (fun _ _ => 0).

Lemma zero_instance_ok L d j : (3 <= j <= L)%nat -> is_instance L d (zero_instance j).
Proof. intros H. split; simpl; [lia|intros; lra]. Qed.

Lemma worst_case_loss_nonneg L d y M Lambda : (3 <= L)%nat ->
  worst_case_loss L d y M Lambda -> 0 <= Lambda.
Proof.
  intros HL [Hub _]. apply Rle_trans with (Rabs (M (zero_instance 3) 1%nat 0%nat - y (zero_instance 3) 1%nat 0%nat)).
  - apply Rabs_pos.
  - apply Hub. exists (zero_instance 3), 1%nat, 0%nat.
    split; [apply zero_instance_ok; lia|]. split; [lia|]. split; [lia|reflexivity].
Qed.

(** A model with bounded errors has a worst-case loss. *)
Lemma worst_case_loss_exists L d y M B : (3 <= L)%nat ->
  loss_at_most L d y M B -> exists Lambda, worst_case_loss L d y M Lambda.
Proof.
  intros HL H. destruct (completeness (errors L d y M)) as [l Hl].
  - exists B. apply loss_upper_bound. assumption.
  - exists (Rabs (M (zero_instance 3) 1%nat 0%nat - y (zero_instance 3) 1%nat 0%nat)).
    exists (zero_instance 3), 1%nat, 0%nat.
    split; [apply zero_instance_ok; lia|]. split; [lia|]. split; [lia|reflexivity].
  - exists l. exact Hl.
Qed.

(** ** Attention *)

Lemma softmax_denominator_pos (s : scores) I i : (1 <= i)%nat -> 0 < bsum 1 i (fun k => exp (s I i k)).
Proof.
  intros Hi. apply bsum_pos with 1%nat; [|lia|apply exp_pos].
  intros. left. apply exp_pos.
Qed.

(** Softmax attention is normalised and causal, whatever the scores. *)
Lemma softmax_normalised_causal L d s : normalised_causal L d (softmax s).
Proof.
  intros I HI i Hi. assert (Hp := softmax_denominator_pos s I i ltac:(lia)).
  split; [|split].
  - intros k Hk. unfold softmax. destruct (k <=? i)%nat; [|lra].
    apply Rlt_le, Rdiv_lt_0_compat; [apply exp_pos|assumption].
  - intros k Hk. unfold softmax. destruct (Nat.leb_spec k i); [lia|reflexivity].
  - unfold softmax.
    rewrite (bsum_ext 1 i _ (fun k => exp (s I i k) * / bsum 1 i (fun k' => exp (s I i k')))).
    + rewrite bsum_scal_r. field. lra.
    + intros k Hk. destruct (Nat.leb_spec k i); [reflexivity|lia].
Qed.

Lemma first_row L d a I : normalised_causal L d a -> is_instance L d I -> (1 <= L)%nat ->
  a I 1%nat 1%nat = 1.
Proof.
  intros Ha HI HL. destruct (Ha I HI 1%nat ltac:(lia)) as [_ [_ H]].
  rewrite bsum_single in H. exact H.
Qed.

Lemma leak_sum L d a I i : normalised_causal L d a -> is_instance L d I -> (1 <= i <= L)%nat ->
  leak a I i = bsum 2 i (fun k => a I i k).
Proof.
  intros Ha HI Hi. destruct (Ha I HI i Hi) as [_ [_ H]].
  rewrite bsum_first in H by lia. unfold leak, sink_weight. lra.
Qed.

Lemma leak_range L d a I i : normalised_causal L d a -> is_instance L d I -> (1 <= i <= L)%nat ->
  0 <= leak a I i <= 1.
Proof.
  intros Ha HI Hi. split.
  - rewrite (leak_sum L d) by assumption. apply bsum_nonneg. intros k Hk.
    apply (Ha I HI i Hi). lia.
  - unfold leak, sink_weight. destruct (Ha I HI i Hi) as [H _].
    specialize (H 1%nat ltac:(lia)). lra.
Qed.

(** ** Matrices *)

Lemma mv_basis d V s r : (s < d + 3)%nat -> mv d V (basis s) r = V r s.
Proof.
  intros Hs. unfold mv, basis. rewrite <- (bsum_indicator 0 (d + 2) s (fun s' => V r s')) by lia.
  apply bsum_ext. intros k Hk. destruct (Nat.eqb_spec k s); ring.
Qed.

Lemma mv_ext d V u v r : (forall s, (s < d + 3)%nat -> u s = v s) -> mv d V u r = mv d V v r.
Proof. intros H. apply bsum_ext. intros k Hk. rewrite H by lia. reflexivity. Qed.

Lemma mv_add d V u v r : mv d V (fun s => u s + v s) r = mv d V u r + mv d V v r.
Proof. unfold mv. rewrite <- bsum_plus. apply bsum_ext. intros. ring. Qed.

Lemma mv_scal d V c u r : mv d V (fun s => c * u s) r = c * mv d V u r.
Proof. unfold mv. rewrite <- bsum_scal. apply bsum_ext. intros. ring. Qed.

Lemma mv_bsum d V a b w (x : nat -> vec) r :
  bsum a b (fun k => w k * mv d V (x k) r) = mv d V (fun s => bsum a b (fun k => w k * x k s)) r.
Proof.
  unfold mv. rewrite (bsum_ext a b _ (fun k => bsum 0 (d + 2) (fun s => V r s * (w k * x k s)))).
  2:{ intros k _. rewrite <- bsum_scal. apply bsum_ext. intros. ring. }
  rewrite bsum_exchange. apply bsum_ext. intros s _. rewrite <- bsum_scal. reflexivity.
Qed.

Lemma mv_mm d V W x r : mv d V (mv d W x) r = mv d (mm d V W) x r.
Proof.
  unfold mv, mm. rewrite (bsum_ext 0 (d + 2) _ (fun t => bsum 0 (d + 2) (fun s => V r t * W t s * x s))).
  2:{ intros t _. rewrite <- bsum_scal. apply bsum_ext. intros. ring. }
  rewrite bsum_exchange. apply bsum_ext. intros s _. rewrite <- bsum_scal_r. reflexivity.
Qed.

(** ** Existence of the worst-case loss of a head *)

(** The sum of all absolute values of the entries of V, rows 0 .. d+2. *)
Definition entry_sum (d : nat) (V : mat) : R :=
  bsum 0 (d + 2) (fun r => bsum 0 (d + 2) (fun s => Rabs (V r s))).

Lemma mv_token_bound L d V I k r : is_instance L d I -> (1 <= k <= L)%nat -> (r < d + 3)%nat ->
  Rabs (mv d V (token d I k) r) <= entry_sum d V.
Proof.
  intros HI Hk Hr. apply Rle_trans with (bsum 0 (d + 2) (fun s => Rabs (V r s))).
  - unfold mv. eapply Rle_trans; [apply bsum_Rabs|]. apply bsum_le. intros s Hs.
    rewrite Rabs_mult. rewrite <- (Rmult_1_r (Rabs (V r s))) at 2.
    apply Rmult_le_compat_l; [apply Rabs_pos|]. apply Rabs_le.
    apply (token_bound L); [assumption|lia|lia].
  - apply (bsum_term_le 0 (d + 2) r (fun r => bsum 0 (d + 2) (fun s => Rabs (V r s)))); [|lia].
    intros. apply bsum_nonneg. intros. apply Rabs_pos.
Qed.

(** The errors of a head with normalised causal attention are bounded. *)
Lemma head_loss_bounded L d a V : normalised_causal L d a ->
  loss_at_most L d (target d) (head d a V) (entry_sum d V + 1).
Proof.
  intros Ha I HI i r Hi Hr. destruct (Ha I HI i Hi) as [Hpos [_ Hsum]].
  assert (H1 : Rabs (head d a V I i r) <= entry_sum d V).
  { unfold head, layer.
    replace (entry_sum d V) with (bsum 1 i (fun k => a I i k) * entry_sum d V) by (rewrite Hsum; ring).
    apply bsum_weighted_Rabs.
    - intros k Hk. apply Hpos. lia.
    - intros k Hk. apply (mv_token_bound L); [assumption|lia|assumption]. }
  assert (H2 := target_bound L d I i r HI Hr).
  unfold Rminus. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra.
Qed.

(** Hence its worst-case loss exists (is finite). *)
Theorem head_worst_case_loss_exists L d a V : (3 <= L)%nat -> normalised_causal L d a ->
  exists Lambda, worst_case_loss L d (target d) (head d a V) Lambda.
Proof.
  intros HL Ha. apply worst_case_loss_exists with (entry_sum d V + 1); [assumption|].
  apply head_loss_bounded. assumption.
Qed.

(** In particular for softmax heads with bilinear scores. *)
Theorem softmax_head_worst_case_loss_exists L d A V : (3 <= L)%nat ->
  exists Lambda, worst_case_loss L d (target d) (softmax_head d A V) Lambda.
Proof.
  intros HL. apply head_worst_case_loss_exists; [assumption|]. apply softmax_normalised_causal.
Qed.
