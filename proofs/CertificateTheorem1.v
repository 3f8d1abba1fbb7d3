(** * Certificates: a bound of the loss, put through Theorem 1, bounds the leak. *)
From Coq Require Import Reals Lra Lia Arith ZArith List Bool.
From Sinkproof Require Import Sums Task Theorem1 CertificateWeights.
Open Scope R_scope.

(** num/den < kappa_L / 2, and (num/den) / (kappa_L - num/den) <= num'/den'. *)
Definition theorem_1_gives (L : nat) (num den num' den' : Z) : bool :=
  let l := Z.of_nat L in
  (4 <=? L)%nat && (0 <? den)%Z && (0 <? den')%Z && (8 * (l - 1) * num <? (l - 3) * den)%Z &&
  (4 * (l - 1) * num * den' <=? num' * ((l - 3) * den - 4 * (l - 1) * num))%Z.

(** If Lambda <= num/den and the check succeeds, then by Theorem 1 every leak is at most num'/den'. *)
Theorem leak_by_theorem_1_sound L d w num den num' den' :
  worst_case_loss_at_most L d (softmax_head_of d w) (IZR num / IZR den) ->
  theorem_1_gives L num den num' den' = true -> leak_at_most L d w (IZR num' / IZR den').
Proof.
  intros HLoss H. unfold theorem_1_gives in H. rewrite !andb_true_iff in H. destruct H as [[[[H1 H2] H3] H4] H5].
  apply Nat.leb_le in H1. apply Z.ltb_lt, IZR_lt in H2. apply Z.ltb_lt, IZR_lt in H3.
  apply Z.ltb_lt, IZR_lt in H4. apply Z.leb_le, IZR_le in H5.
  rewrite !mult_IZR, !minus_IZR, <- INR_IZR_INZ in H4. rewrite !mult_IZR, !minus_IZR, !mult_IZR, !minus_IZR, <- INR_IZR_INZ in H5.
  assert (HL : 4 <= INR L) by (replace 4 with (INR 4) by (simpl; ring); apply le_INR; assumption).
  set (l := INR L) in *. set (p := IZR num) in *. set (q := IZR den) in *. set (p' := IZR num') in *. set (q' := IZR den') in *.
  assert (K : kappa L / 2 - p / q = ((l - 3) * q - 8 * (l - 1) * p) / (8 * (l - 1) * q)) by (unfold kappa; fold l; field; lra).
  assert (P : 0 < 8 * (l - 1) * q) by (apply Rmult_lt_0_compat; lra).
  assert (He : p / q < kappa L / 2).
  { apply Rminus_gt_0_lt. rewrite K. apply Rdiv_lt_0_compat; lra. }
  destruct (softmax_head_worst_case_loss_exists L d (score_map w) (value_map w) ltac:(lia)) as [Lambda HLam].
  assert (HLe := HLoss Lambda HLam). intros I i HI Hi Ht.
  assert (T := proj1 (theorem_1_softmax L d (score_map w) (value_map w) Lambda H1 HLam) (p / q) HLe He I i HI Hi Ht).
  eapply Rle_trans; [exact T|].
  assert (H0 : 0 <= Lambda) by (apply (worst_case_loss_nonneg L d _ _ Lambda ltac:(lia) HLam)).
  assert (N : 0 <= p).
  { apply Rmult_le_reg_r with (/ q); [apply Rinv_0_lt_compat; assumption|]. rewrite Rmult_0_l. unfold Rdiv in HLe. lra. }
  assert (N' : 0 <= (l - 1) * p) by (apply Rmult_le_pos; lra).
  set (r := (l - 3) * q - 4 * (l - 1) * p) in *. assert (R : 0 < r) by (unfold r; lra).
  replace (p / q / (kappa L - p / q)) with (4 * (l - 1) * p / r).
  2:{ unfold kappa, r in *. fold l. field. repeat split; lra. }
  apply Rmult_le_reg_r with (r * q'); [apply Rmult_lt_0_compat; assumption|].
  replace (4 * (l - 1) * p / r * (r * q')) with (4 * (l - 1) * p * q') by (field; lra).
  replace (p' / q' * (r * q')) with (p' * r) by (field; lra). exact H5.
Qed.
