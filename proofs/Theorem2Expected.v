(** * Theorem 2 for expected loss: depth, through Theorem 1'. *)
From Coq Require Import Reals Lra Lia Arith List.
From Sinkproof Require Import Sums Task Theorem1PrimeCore UniformLaw OuterExpectation Theorem1Prime Theorem2Core.
Open Scope R_scope.

(** Models that agree on the instances have the same expected loss. *)
Lemma expected_loss_ext L d y M M' Rl :
  (forall I i r, is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat -> M I i r = M' I i r) ->
  expected_loss L d y M Rl -> expected_loss L d y M' Rl.
Proof.
  intros H.
  assert (E : forall I, is_instance L d I -> max_error L d y M I = max_error L d y M' I).
  { assert (Hle : forall N N', (forall I i r, is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat ->
      N I i r = N' I i r) -> forall I, is_instance L d I -> max_error L d y N I <= max_error L d y N' I).
    { intros N N' HN I HI. apply max_error_le; [apply nmax_nonneg|]. intros i r Hi Hr.
      rewrite HN by assumption.
      apply (max_error_at_least L d y N' I i r); assumption. }
    intros I HI. apply Rle_antisym; apply Hle; try assumption. intros. symmetry. apply H; assumption. }
  assert (Hu : forall v, upper_sum L d (fun _ => True) (max_error L d y M') v <->
                         upper_sum L d (fun _ => True) (max_error L d y M) v).
  { intros v. split; intros [c [C [Hc [HF Hv]]]]; exists c, C; (split; [assumption|]); (split; [|assumption]);
      intros I HI HA; [rewrite E by assumption|rewrite <- E by assumption]; apply HF; assumption. }
  intros [H1 H2]. split.
  - intros v Hv. apply H1, Hu, Hv.
  - intros b Hb. apply H2. intros v Hv. apply Hb, Hu, Hv.
Qed.

(** A consequence of an event is at least as probable. *)
Lemma with_probability_mono L d q (A A' : inst -> Prop) : (3 <= L)%nat ->
  (forall I, is_instance L d I -> A I -> A' I) ->
  with_probability_at_least L d q A -> with_probability_at_least L d q A'.
Proof.
  intros HL H [p [Hp Hq]]. destruct (outer_probability_exists L d (fun I => ~ A' I) HL) as [p' [Hp' _]].
  exists p'. split; [exact Hp'|]. apply Rle_trans with p; [|exact Hq].
  apply (proj2 Hp). intros v [c [C [Hc [HF Hv]]]]. apply (proj1 Hp'). exists c, C.
  split; [assumption|]. split; [|assumption]. intros I HI HA. apply HF; [assumption|]. auto.
Qed.

(** Where the composed head leaks at most eps, some layer rests on BOS. *)
Definition some_layer_sinks (L : nat) (ls : list (attention * mat)) (eps : R) (I : inst) : Prop :=
  (forall i, (2 <= i <= L)%nat -> i <> trig I -> product_of_min_leaks ls I i <= eps) /\
  (forall i x, (2 <= i <= L)%nat -> i <> trig I -> 0 <= x -> x ^ length ls = eps ->
   exists l k, In l ls /\ (2 <= k <= i)%nat /\ 1 - x <= sink_weight (fst l) I k).

Lemma composed_leak_some_layer L d ls eps I : ls <> nil ->
  (forall l, In l ls -> normalised_causal L d (fst l)) -> is_instance L d I ->
  (forall i, (2 <= i <= L)%nat -> i <> trig I -> leak (stack_attention ls) I i <= eps) ->
  some_layer_sinks L ls eps I.
Proof.
  intros Hne Hn HI H.
  assert (Hprod : forall i, (2 <= i <= L)%nat -> i <> trig I -> product_of_min_leaks ls I i <= eps).
  { intros i Hi Hj. eapply Rle_trans; [apply (stack_leak L d ls I i Hn HI Hi i); lia|apply H; assumption]. }
  split; [exact Hprod|]. intros i x Hi Hj Hx HxD.
  destruct (some_min_leak L d ls I i x) as [l [Hin Hmin]]; try assumption.
  { rewrite HxD. apply Hprod; assumption. }
  destruct (min_2_to_attained i (fun k => leak (fst l) I k) ltac:(lia)) as [k [Hk2 E]].
  exists l, k. split; [assumption|]. split; [assumption|].
  unfold min_leak in Hmin. rewrite E in Hmin. unfold leak in Hmin. lra.
Qed.

(** Theorem 2 for expected loss. Let a stack of D >= 1 layers (without residual, each with
    normalised causal attention) have expected loss R. If R <= eta and t satisfies (i), (ii)
    and (iii) of Theorem 1', put eps = 2 U_0 t / (1 - 2 U_0 t); or let 0 < eps < 1,
    0 < delta <= 1 and R <= t min(delta, 1/((d+1)(L-2)+1)) with t = eps/(2 U_0 (1+eps)).
    Then with probability at least 1 - delta over the instance, at every non-trigger i >= 2,
    the product over the layers of min_{2<=k<=i} (1 - a^(l)_k1) is at most eps; so with
    x >= 0 and x^D = eps some layer l and position 2 <= k <= i have a^(l)_k1 >= 1 - x. *)
Theorem theorem_2_expected (L d : nat) (ls : list (attention * mat)) (Rl : R) :
  (4 <= L)%nat -> ls <> nil ->
  (forall l, In l ls -> normalised_causal L d (fst l)) ->
  expected_loss L d (target d) (stack d ls) Rl ->
  (forall eta t delta, Rl <= eta ->
   eta <= delta * t ->
   (INR d + 1) * (INR L - 2) * eta < t ->
   4 * U0 L d * t < 1 ->
   with_probability_at_least L d (1 - delta)
     (some_layer_sinks L ls (2 * U0 L d * t / (1 - 2 * U0 L d * t)))) /\
  (forall eps delta, 0 < eps < 1 -> 0 < delta <= 1 ->
   Rl <= eps / (2 * U0 L d * (1 + eps)) * Rmin delta (1 / ((INR d + 1) * (INR L - 2) + 1)) ->
   with_probability_at_least L d (1 - delta) (some_layer_sinks L ls eps)).
Proof.
  intros HL Hne Hn HR. destruct (stack_is_head L d ls Hn) as [Hnn Hhead].
  assert (HR' := expected_loss_ext L d (target d) _ _ Rl Hhead HR).
  destruct (theorem_1_prime L d _ _ Rl HL Hnn HR') as [T1 T2]. split.
  - intros eta t delta H1 H2 H3 H4. specialize (T1 eta t delta H1 H2 H3 H4).
    revert T1. apply with_probability_mono; [lia|]. intros I HI. apply composed_leak_some_layer with d; assumption.
  - intros eps delta H1 H2 H3. specialize (T2 eps delta H1 H2 H3).
    revert T2. apply with_probability_mono; [lia|]. intros I HI. apply composed_leak_some_layer with d; assumption.
Qed.
