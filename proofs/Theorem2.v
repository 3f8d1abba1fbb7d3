(** * Theorem 2: depth. *)
From Coq Require Import Reals Lra Lia Arith List.
From Sinkproof Require Import Sums Task Theorem1 Theorem2Core.
Open Scope R_scope.

(** The root x of Theorem 2 exists. *)
Theorem theorem_2_root (L D : nat) (eta : R) : (1 <= D)%nat -> 0 <= eta < kappa L ->
  exists x, 0 <= x /\ x ^ D = eta / (kappa L - eta).
Proof.
  intros HD He. apply root_exists; [|assumption].
  apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. lra.
Qed.

(** Theorem 2. Let a stack of D >= 1 layers (without residual, each with
    normalised causal attention) have worst-case loss at most eta < kappa_L / 2, and
    put eps = eta / (kappa_L - eta). Then:
    (1) the stack is one head whose attention is the product a^(D) ... a^(1), again
        normalised causal, and whose value map is V_D ... V_1;
    (2) on every instance, at every non-trigger i >= 2, the product over the layers
        of min_{2<=k<=i} (1 - a^(l)_k1) is at most eps;
    (3) so with x >= 0 and x^D = eps some layer l and position 2 <= k <= i have
        a^(l)_k1 >= 1 - x;
    (4) at i = 2: on every instance some layer l has a^(l)_21 >= 1 - x. *)
Theorem theorem_2 (L d : nat) (ls : list (attention * mat)) (Lambda eta : R) :
  (4 <= L)%nat -> ls <> nil ->
  (forall l, In l ls -> normalised_causal L d (fst l)) ->
  worst_case_loss L d (target d) (stack d ls) Lambda -> Lambda <= eta -> eta < kappa L / 2 ->
  let eps := eta / (kappa L - eta) in
  let D := length ls in
  (normalised_causal L d (stack_attention ls) /\
   forall I i r, is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat ->
   stack d ls I i r = head d (stack_attention ls) (stack_value d ls) I i r) /\
  (forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
   product_of_min_leaks ls I i <= eps) /\
  (forall I i x, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I -> 0 <= x -> x ^ D = eps ->
   exists l k, In l ls /\ (2 <= k <= i)%nat /\ 1 - x <= sink_weight (fst l) I k) /\
  (forall I x, is_instance L d I -> 0 <= x -> x ^ D = eps ->
   exists l, In l ls /\ 1 - x <= sink_weight (fst l) I 2).
Proof.
  intros HL Hne Hn HLam Hle He eps D.
  assert (Hl := proj1 (worst_case_loss_le _ _ _ _ _ _ HLam) Hle).
  destruct (stack_is_head L d ls Hn) as [Hnn Hhead].
  assert (Hprod : forall I i, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I ->
    product_of_min_leaks ls I i <= eps).
  { intros I i HI Hi Hj.
    eapply Rle_trans; [apply (stack_leak L d ls I i Hn HI Hi i); lia|].
    apply (theorem_1_pointwise L d _ (stack_value d ls)); try assumption.
    apply stack_loss; assumption. }
  assert (Hex : forall I i x, is_instance L d I -> (2 <= i <= L)%nat -> i <> trig I -> 0 <= x -> x ^ D = eps ->
    exists l k, In l ls /\ (2 <= k <= i)%nat /\ 1 - x <= sink_weight (fst l) I k).
  { intros I i x HI Hi Hj Hx HxD.
    destruct (some_min_leak L d ls I i x) as [l [Hin Hmin]]; try assumption.
    { fold D. rewrite HxD. apply Hprod; assumption. }
    destruct (min_2_to_attained i (fun k => leak (fst l) I k) ltac:(lia)) as [k [Hk2 E]].
    exists l, k. split; [assumption|]. split; [assumption|].
    unfold min_leak in Hmin. rewrite E in Hmin. unfold leak in Hmin. lra. }
  split; [split; assumption|]. split; [assumption|]. split; [assumption|].
  intros I x HI Hx HxD. assert (Hj := proj1 HI).
  destruct (Hex I 2%nat x) as [l [k [Hin [Hk2 E]]]]; try assumption; try lia.
  exists l. split; [assumption|]. replace 2%nat with k by lia. exact E.
Qed.
