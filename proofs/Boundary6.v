(** * Row B6 of section 6: no normalisation at all *)
From Coq Require Import Reals Lra Lia Arith.
From Sinkproof Require Import Sums Task Rows Theorem3.
Open Scope R_scope.

(** B6. Without normalisation: the ReLU head of Theorem 3 with V = V_W. Every BOS
    weight off trigger is 0 and the worst-case loss is exactly 0. *)
Theorem b6 (L d : nat) : (4 <= L)%nat ->
  let a := relu_attention (bilinear d (A_relu d) (token d)) in
  (forall I i, is_instance L d I -> (1 <= i <= L)%nat -> i <> trig I -> sink_weight a I i = 0) /\
  (forall I i r, is_instance L d I -> (1 <= i <= L)%nat -> (r < d + 3)%nat ->
     head d a VW0 I i r = target d I i r) /\
  worst_case_loss L d (target d) (head d a VW0) 0.
Proof.
  intros HL a. destruct (theorem_3 L d VW0 HL (VW0_identity d)) as [H1 [H2 H3]].
  split; [|split; [exact H1|exact H3]].
  intros I i HI Hi Hne. apply H2; assumption.
Qed.
