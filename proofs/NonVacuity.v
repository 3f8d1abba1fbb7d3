(** * The hypotheses of the theorems can be met. *)
From Coq Require Import Reals Lra Lia Arith List.
From Sinkproof Require Import Sums Task Rows Proposition4 UniformLaw Theorem1Prime Negative.
Open Scope R_scope.

(** For every L >= 4, d and eta > 0 there is a softmax head with bilinear scores whose
    worst-case loss is positive and at most eta, and hence whose expected loss is at most eta;
    and there is a stack of two layers of worst-case loss 0. So no theorem here speaks of
    nothing. *)
Theorem non_vacuity (L d : nat) (eta : R) : (4 <= L)%nat -> 0 < eta ->
  (exists (A V : mat) (Lambda Rl : R),
     worst_case_loss L d (target d) (softmax_head d A V) Lambda /\ 0 < Lambda <= eta /\
     expected_loss L d (target d) (softmax_head d A V) Rl /\ Rl <= eta) /\
  (exists ls : list (attention * mat),
     length ls = 2%nat /\ (forall l, In l ls -> normalised_causal L d (fst l)) /\
     worst_case_loss L d (target d) (stack d ls) 0).
Proof.
  intros HL He. split.
  - destruct (exp_reaches (INR L / eta)) as [K [_ HK]]. assert (Hq := exp_pos K).
    assert (HL4 : INR 4 <= INR L) by (apply le_INR; lia). simpl in HL4.
    assert (HKe : INR L <= exp K * eta).
    { apply (Rmult_le_compat_r eta) in HK; [|lra].
      unfold Rdiv in HK. rewrite Rmult_assoc, Rinv_l, Rmult_1_r in HK by lra. exact HK. }
    destruct (proposition_4 L d K VW0 HL (VW0_identity d) (fun r _ => VW0_bos r))
      as [_ [_ [_ [_ [T1 [T2 _]]]]]].
    set (n := if (d =? 0)%nat then INR L - 2 else INR L - 1).
    assert (Hn : 0 < n <= INR L) by (unfold n; destruct (d =? 0)%nat; lra).
    assert (HLam : worst_case_loss L d (target d) (softmax_head d (A_sink d K) VW0) (n / (exp K + n))).
    { unfold n. destruct (Nat.eqb_spec d 0).
      - replace (exp K + (INR L - 2)) with (exp K + INR L - 2) by ring. apply T2. assumption.
      - replace (exp K + (INR L - 1)) with (exp K + INR L - 1) by ring. apply T1. lia. }
    destruct (head_expected_loss_exists L d (softmax (bilinear d (A_sink d K) (token d))) VW0 ltac:(lia)
      (softmax_normalised_causal L d _)) as [Rl HR].
    assert (Hle : n / (exp K + n) <= eta).
    { apply Rmult_le_reg_r with (exp K + n); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
      assert (0 <= eta * n) by (apply Rmult_le_pos; lra). lra. }
    exists (A_sink d K), VW0, (n / (exp K + n)), Rl.
    split; [exact HLam|]. split; [split; [apply Rdiv_lt_0_compat; lra|exact Hle]|]. split; [exact HR|].
    apply Rle_trans with (n / (exp K + n)); [|exact Hle].
    apply (expected_loss_le_worst_case L d (target d) (softmax_head d (A_sink d K) VW0));
      [lia|exact HLam|exact HR].
  - exists two_layers. split; [reflexivity|]. split; [apply two_layers_normalised|apply two_layers_loss; exact HL].
Qed.
