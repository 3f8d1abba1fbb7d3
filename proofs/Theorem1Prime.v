(** * Theorem 1' (section 2): one head, expected loss.

    r = (L-1)/(L-3), U_0 = 2 d + 2 r (1 + 4 d) (the constant [U0]). The sampling law, its
    outer expectation and its outer probability are defined in UniformLaw. *)
From Coq Require Import Reals Lra Lia Arith List.
From Sinkproof Require Import Sums Task Theorem1PrimeCore UniformLaw Covers OuterExpectation.
Open Scope R_scope.

(** ** Definitions *)

(** The largest of f 0, ..., f (n-1), for nonnegative f. *)
Fixpoint nmax (n : nat) (f : nat -> R) : R :=
  match n with
  | O => 0
  | S n' => Rmax (nmax n' f) (f n')
  end.

(** The maximal error max_i |o_i - y_i| of a model M on an instance (i = 1..L, max-norm). *)
Definition max_error (L d : nat) (y M : seqmap) (I : inst) : R :=
  nmax L (fun i => nmax (d + 3) (fun r => Rabs (M I (S i) r - y I (S i) r))).

(** The expected loss R = E max_i |o_i - y_i| under the sampling law. *)
Definition expected_loss (L d : nat) (y M : seqmap) (Rl : R) : Prop :=
  outer_expectation L d (max_error L d y M) Rl.

(** The event A has probability at least q: the outer probability that it fails is at
    most 1 - q. *)
Definition with_probability_at_least (L d : nat) (q : R) (A : inst -> Prop) : Prop :=
  exists p, outer_probability L d (fun I => ~ A I) p /\ p <= 1 - q.

(** ** The maximal error of an instance *)

Lemma nmax_nonneg n f : 0 <= nmax n f.
Proof. induction n; simpl; [lra|]. eapply Rle_trans; [exact IHn|apply Rmax_l]. Qed.

Lemma nmax_ge n f p : (p < n)%nat -> f p <= nmax n f.
Proof.
  induction n; intros Hp; [lia|]. simpl. destruct (Nat.eq_dec p n) as [->|Hne]; [apply Rmax_r|].
  eapply Rle_trans; [apply IHn; lia|apply Rmax_l].
Qed.

Lemma nmax_le n f b : 0 <= b -> (forall p, (p < n)%nat -> f p <= b) -> nmax n f <= b.
Proof.
  intros Hb. induction n; intros H; simpl; [assumption|].
  apply Rmax_lub; [apply IHn; intros; apply H; lia|apply H; lia].
Qed.

Lemma max_error_le L d y M I b : 0 <= b ->
  (forall i r, (1 <= i <= L)%nat -> (r < d + 3)%nat -> Rabs (M I i r - y I i r) <= b) ->
  max_error L d y M I <= b.
Proof.
  intros Hb H. apply nmax_le; [assumption|]. intros i Hi. apply nmax_le; [assumption|].
  intros r Hr. apply H; lia.
Qed.

Lemma max_error_at_least L d y M I i r : (1 <= i <= L)%nat -> (r < d + 3)%nat ->
  Rabs (M I i r - y I i r) <= max_error L d y M I.
Proof.
  intros Hi Hr. replace i with (S (i - 1)) by lia.
  eapply Rle_trans; [|apply (nmax_ge L _ (i - 1)); lia]. cbv beta.
  apply (nmax_ge (d + 3) (fun r => Rabs (M I (S (i - 1)) r - y I (S (i - 1)) r))). assumption.
Qed.

(** Good instances are those with maximal error at most t. *)
Lemma max_error_good L d M t I : max_error L d (target d) M I <= t -> good L d M t I.
Proof.
  intros H i r Hi Hr. eapply Rle_trans; [|exact H]. apply max_error_at_least; assumption.
Qed.

(** The expected loss exists for every head with normalised causal attention. *)
Theorem head_expected_loss_exists L d a V : (3 <= L)%nat -> normalised_causal L d a ->
  exists Rl, expected_loss L d (target d) (head d a V) Rl.
Proof.
  intros HL Ha. assert (H := head_loss_bounded L d a V Ha).
  assert (Hb : 0 <= entry_sum d V + 1).
  { eapply Rle_trans; [apply Rabs_pos|]. apply (H _ (zero_instance_ok L d 3 ltac:(lia)) 1%nat 0%nat); lia. }
  destruct (outer_expectation_bounded L d (max_error L d (target d) (head d a V)) (entry_sum d V + 1) HL Hb)
    as [E [HE _]]; [|exists E; exact HE].
  intros I HI. apply max_error_le; [assumption|]. apply H. assumption.
Qed.

(** It is at most the worst-case loss: R <= Lambda. *)
Theorem expected_loss_le_worst_case L d y M Rl Lambda : (3 <= L)%nat ->
  worst_case_loss L d y M Lambda -> expected_loss L d y M Rl -> Rl <= Lambda.
Proof.
  intros HL HLam [HE _]. assert (H0 := worst_case_loss_nonneg L d y M Lambda HL HLam).
  apply HE. apply upper_sum_bounded; [assumption|assumption|].
  intros I HI. apply max_error_le; [assumption|].
  apply (proj1 (worst_case_loss_le L d y M Lambda Lambda HLam)); [lra|assumption].
Qed.

(** ** Good probes exist *)

Lemma search M (f : nat -> R) t :
  (exists p, (p < M)%nat /\ t <= f p) \/ forall p, (p < M)%nat -> f p < t.
Proof.
  induction M; [right; intros; lia|]. destruct IHM as [[p [Hp H]]|H].
  - left. exists p. split; [lia|assumption].
  - destruct (Rle_dec t (f M)) as [HM|HM]; [left; exists M; split; [lia|assumption]|right].
    intros p Hp. destruct (Nat.eq_dec p M) as [->|]; [lra|apply H; lia].
Qed.

Lemma move_0_instance L d j x : is_instance L d (Inst j x) -> is_instance L d (Inst j (move 0 x)).
Proof.
  intros [Hj Hc]. split; [exact Hj|]. intros k m Hk Hm. simpl. unfold move.
  rewrite Bool.andb_comm. simpl. apply Hc; assumption.
Qed.

(** With (ii) and (iii), an instance of maximal error at most t has small leaks: otherwise
    some probe would be bad for every choice of contents, and the expected loss too large. *)
Lemma good_instance_leak L d a V Rl eta t I i :
  (4 <= L)%nat -> normalised_causal L d a ->
  expected_loss L d (target d) (head d a V) Rl -> Rl <= eta -> 0 <= eta ->
  (INR d + 1) * (INR L - 2) * eta < t -> 4 * U0 L d * t < 1 ->
  is_instance L d I -> max_error L d (target d) (head d a V) I <= t ->
  (2 <= i <= L)%nat -> i <> trig I ->
  leak a I i <= 2 * U0 L d * t / (1 - 2 * U0 L d * t).
Proof.
  intros HL Ha HR HRe He Hii Hiii HI Hgood Hi Hne. apply Rnot_lt_le. intros Hlt.
  set (F := max_error L d (target d) (head d a V)) in *.
  assert (HLr : 4 <= INR L) by (apply (le_INR 4) in HL; simpl in HL; lra).
  assert (HL2 : INR (L - 2) = INR L - 2) by (rewrite minus_INR by lia; simpl; lra).
  assert (Hd := pos_INR d).
  assert (H : t <= INR (S d) * INR (L - 2) * Rl).
  { apply (probe_bound L d F Rl 3); [lia|lia|assumption|]. intros x Hx.
    destruct (search (S d) (fun p => F (Inst 3 (move p x))) t) as [[p [Hp H]]|Hprobes].
    { exists p. split; [assumption|]. split; [apply move_instance|]; assumption. }
    exfalso. assert (H : t <= INR 1 * INR (L - 2) * Rl).
    { apply (probe_bound L d F Rl L); [lia|lia|assumption|]. intros xs Hxs.
      exists 0%nat. split; [lia|]. assert (Hxs0 := move_0_instance L d L xs Hxs). split; [assumption|].
      apply Rnot_lt_le. intros Hs. apply (Rlt_irrefl (leak a I i)).
      eapply Rle_lt_trans; [|exact Hlt].
      apply (probes_bound_leak L d a V t x (move 0 xs)); try assumption.
      - intros p Hp. apply max_error_good. left. apply Hprobes. lia.
      - apply max_error_good. left. assumption.
      - apply max_error_good. assumption. }
    rewrite HL2 in H. simpl in H. rewrite Rmult_1_l in H.
    assert ((INR L - 2) * Rl <= (INR L - 2) * eta) by (apply Rmult_le_compat_l; lra).
    assert (0 <= INR d * ((INR L - 2) * eta)) by (apply Rmult_le_pos; [|apply Rmult_le_pos]; lra). lra. }
  rewrite HL2, S_INR in H.
  assert ((INR d + 1) * (INR L - 2) * Rl <= (INR d + 1) * (INR L - 2) * eta).
  { apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|assumption]. }
  lra.
Qed.

(** ** Theorem 1' *)

(** Direct form: a head with normalised causal attention and expected loss at most eta, and
    t with (i) eta <= delta t, (ii) (d+1)(L-2) eta < t, (iii) 4 U_0 t < 1: with probability
    at least 1 - delta over the instance, every non-trigger position i >= 2 has a leak of
    at most 2 U_0 t / (1 - 2 U_0 t). (That t >= eta follows from (ii).) *)
Theorem theorem_1_prime_leak L d a V Rl eta t delta :
  (4 <= L)%nat -> normalised_causal L d a ->
  expected_loss L d (target d) (head d a V) Rl -> Rl <= eta ->
  eta <= delta * t ->
  (INR d + 1) * (INR L - 2) * eta < t ->
  4 * U0 L d * t < 1 ->
  with_probability_at_least L d (1 - delta) (fun I =>
    forall i, (2 <= i <= L)%nat -> i <> trig I ->
    leak a I i <= 2 * U0 L d * t / (1 - 2 * U0 L d * t)).
Proof.
  intros HL Ha HR HRe Hi Hii Hiii.
  set (F := max_error L d (target d) (head d a V)).
  assert (HR0 : 0 <= Rl).
  { apply (outer_expectation_ge L d F Rl 0); [lia|exact HR|]. intros I _. apply nmax_nonneg. }
  assert (HLr : 4 <= INR L) by (apply (le_INR 4) in HL; simpl in HL; lra).
  assert (Hd := pos_INR d).
  assert (Ht : 0 < t).
  { assert (0 <= (INR d + 1) * (INR L - 2) * eta) by (repeat apply Rmult_le_pos; lra). lra. }
  set (A := fun I : inst => forall i, (2 <= i <= L)%nat -> i <> trig I ->
    leak a I i <= 2 * U0 L d * t / (1 - 2 * U0 L d * t)).
  destruct (outer_probability_exists L d (fun I => ~ A I) ltac:(lia)) as [p [Hp _]].
  exists p. split; [exact Hp|].
  (* Markov: where the claim fails, the maximal error exceeds t *)
  assert (Hpt : p * t <= Rl).
  { apply (proj2 HR). intros v Hv.
    apply Rmult_le_reg_r with (/ t); [apply Rinv_0_lt_compat; assumption|].
    rewrite Rmult_assoc, Rinv_r, Rmult_1_r by lra. destruct Hp as [Hp _]. apply Hp.
    apply (upper_sum_scale L d (fun _ => True) (fun I => ~ A I) F (fun _ => 1) t v Ht); [|exact Hv].
    intros I HI HA. split; [trivial|]. rewrite Rmult_1_r. apply Rnot_lt_le. intros Hlt. apply HA.
    intros i Hi2 Hne. apply (good_instance_leak L d a V Rl eta t); try assumption; [lra|]. left. exact Hlt. }
  apply Rmult_le_reg_r with t; [assumption|]. lra.
Qed.

(** Epsilon form: for 0 < eps < 1, 0 < delta <= 1 and t = eps/(2 U_0 (1+eps)):
    expected loss at most t min(delta, 1/((d+1)(L-2)+1)) suffices for a leak of at most eps
    at every non-trigger position i >= 2, with probability at least 1 - delta. *)
Theorem theorem_1_prime_sinks L d a V Rl eps delta :
  (4 <= L)%nat -> normalised_causal L d a ->
  0 < eps < 1 -> 0 < delta <= 1 ->
  expected_loss L d (target d) (head d a V) Rl ->
  Rl <= eps / (2 * U0 L d * (1 + eps)) * Rmin delta (1 / ((INR d + 1) * (INR L - 2) + 1)) ->
  with_probability_at_least L d (1 - delta) (fun I =>
    forall i, (2 <= i <= L)%nat -> i <> trig I -> leak a I i <= eps).
Proof.
  intros HL Ha Heps Hdel HR HRl.
  assert (HU := U0_pos L d HL).
  assert (HLr : 4 <= INR L) by (apply (le_INR 4) in HL; simpl in HL; lra).
  assert (Hd := pos_INR d).
  set (t := eps / (2 * U0 L d * (1 + eps))) in *.
  assert (Ht : 0 < t) by (apply Rdiv_lt_0_compat; [lra|]; apply Rmult_lt_0_compat; lra).
  assert (HUt : 2 * U0 L d * t = eps / (1 + eps)) by (unfold t; field; lra).
  set (K := (INR d + 1) * (INR L - 2)) in *.
  assert (HK : 0 < K) by (apply Rmult_lt_0_compat; lra).
  assert (H1 : Rl <= t * delta).
  { eapply Rle_trans; [exact HRl|]. apply Rmult_le_compat_l; [lra|apply Rmin_l]. }
  assert (H2 : Rl <= t * (1 / (K + 1))).
  { eapply Rle_trans; [exact HRl|]. apply Rmult_le_compat_l; [lra|apply Rmin_r]. }
  assert (H3 : K * Rl < t).
  { apply Rle_lt_trans with (K * (t * (1 / (K + 1)))); [apply Rmult_le_compat_l; lra|].
    replace (K * (t * (1 / (K + 1)))) with (t - t / (K + 1)) by (field; lra).
    assert (0 < t / (K + 1)) by (apply Rdiv_lt_0_compat; lra). lra. }
  assert (Hq : eps / (1 + eps) < / 2).
  { apply Rmult_lt_reg_r with (1 + eps); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  replace eps with (2 * U0 L d * t / (1 - 2 * U0 L d * t)) by (rewrite HUt; field; lra).
  apply (theorem_1_prime_leak L d a V Rl Rl t delta); try assumption; lra.
Qed.

(** Theorem 1'. Let a head with normalised causal attention have expected loss R.
    If R <= eta and t satisfies (i) eta <= delta t, (ii) (d+1)(L-2) eta < t, (iii) 4 U_0 t < 1,
    then with probability at least 1 - delta over the instance every non-trigger position
    i >= 2 has a leak of at most 2 U_0 t / (1 - 2 U_0 t).
    In particular, for 0 < eps < 1, 0 < delta <= 1 and t = eps/(2 U_0 (1+eps)),
    R <= t min(delta, 1/((d+1)(L-2)+1)) suffices for a leak of at most eps. *)
Theorem theorem_1_prime (L d : nat) (a : attention) (V : mat) (Rl : R) :
  (4 <= L)%nat -> normalised_causal L d a ->
  expected_loss L d (target d) (head d a V) Rl ->
  (forall eta t delta, Rl <= eta ->
   eta <= delta * t ->
   (INR d + 1) * (INR L - 2) * eta < t ->
   4 * U0 L d * t < 1 ->
   with_probability_at_least L d (1 - delta) (fun I =>
     forall i, (2 <= i <= L)%nat -> i <> trig I ->
     leak a I i <= 2 * U0 L d * t / (1 - 2 * U0 L d * t))) /\
  (forall eps delta, 0 < eps < 1 -> 0 < delta <= 1 ->
   Rl <= eps / (2 * U0 L d * (1 + eps)) * Rmin delta (1 / ((INR d + 1) * (INR L - 2) + 1)) ->
   with_probability_at_least L d (1 - delta) (fun I =>
     forall i, (2 <= i <= L)%nat -> i <> trig I -> leak a I i <= eps)).
Proof.
  intros HL Ha HR. split.
  - intros eta t delta. apply theorem_1_prime_leak with (V := V); assumption.
  - intros eps delta He Hd. apply theorem_1_prime_sinks with (V := V); assumption.
Qed.
