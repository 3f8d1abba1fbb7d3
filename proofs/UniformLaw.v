(** * The sampling law: expectation and probability under the uniform law.

    The law of an instance: the trigger position j is uniform on {3..L}, all content
    coordinates are independent and uniform on [-1,1].

    Expectations are outer (upper) Lebesgue integrals, so that they are defined for
    every nonnegative function and nothing has to be assumed measurable: the infimum of
    sum_n c_n P(C_n) over all sequences of cells C_n (a trigger position and an open box)
    and coefficients c_n >= 0 with F <= sum_n c_n 1_{C_n} everywhere. For measurable F this
    is the Lebesgue integral, the ordinary expectation. Two checks of the definition are
    proved in OuterExpectation: a constant is its own expectation (total mass 1), and the
    outer probability of every cell is its volume. *)
From Coq Require Import Reals Lra Lia Arith List.
From Sinkproof Require Import Sums Task.
Open Scope R_scope.

(** ** Definitions *)

(** The content coordinates: all pairs (k, m), k = 2..L a position, m < d. *)
Definition coords (L d : nat) : list (nat * nat) := list_prod (seq 2 (L - 1)) (seq 0 d).

(** The product of f over a list. *)
Definition lprod {A : Type} (l : list A) (f : A -> R) : R :=
  fold_right (fun q p => f q * p) 1 l.

(** The indicator of the open interval (a,b), and the fraction of [-1,1] that it covers. *)
Definition between (a b x : R) : R :=
  if Rlt_dec a x then if Rlt_dec x b then 1 else 0 else 0.
Definition fraction (a b : R) : R := Rmax 0 (Rmin b 1 - Rmax a (-1)) / 2.

(** A cell: the instances with a given trigger position and with every content coordinate
    c_k,m in the open interval from [cell_lo k m] to [cell_hi k m]. *)
Record cell := Cell { cell_trig : nat; cell_lo : nat -> nat -> R; cell_hi : nat -> nat -> R }.

Definition cell_indicator (L d : nat) (C : cell) (I : inst) : R :=
  (if (trig I =? cell_trig C)%nat then 1 else 0) *
  lprod (coords L d) (fun q =>
    between (cell_lo C (fst q) (snd q)) (cell_hi C (fst q) (snd q)) (cont I (fst q) (snd q))).

(** Its probability: 1/(L-2) for the trigger position, times one fraction per coordinate. *)
Definition cell_probability (L d : nat) (C : cell) : R :=
  (if ((3 <=? cell_trig C) && (cell_trig C <=? L))%nat%bool then / INR (L - 2) else 0) *
  lprod (coords L d) (fun q =>
    fraction (cell_lo C (fst q) (snd q)) (cell_hi C (fst q) (snd q))).

(** x is at most the sum of the series of nonnegative terms u (a sum that may be infinite);
    the sum of the series is at most v. *)
Definition le_series (x : R) (u : nat -> R) : Prop := forall a, a < x -> exists N, a < ssum N u.
Definition series_le (u : nat -> R) (v : R) : Prop := forall N, ssum N u <= v.

(** F is covered, on the set of instances A, by weighted cells of total weight at most v. *)
Definition upper_sum (L d : nat) (A : inst -> Prop) (F : inst -> R) (v : R) : Prop :=
  exists (c : nat -> R) (C : nat -> cell),
    (forall n, 0 <= c n) /\
    (forall I, is_instance L d I -> A I -> le_series (F I) (fun n => c n * cell_indicator L d (C n) I)) /\
    series_le (fun n => c n * cell_probability L d (C n)) v.

(** Greatest lower bound. *)
Definition is_glb (S : R -> Prop) (m : R) : Prop :=
  (forall v, S v -> m <= v) /\ forall b, (forall v, S v -> b <= v) -> b <= m.

(** E is the outer expectation of F >= 0 under the sampling law. *)
Definition outer_expectation (L d : nat) (F : inst -> R) (E : R) : Prop :=
  is_glb (upper_sum L d (fun _ => True) F) E.

(** p is the outer probability of the event A: the outer expectation of its indicator. *)
Definition outer_probability (L d : nat) (A : inst -> Prop) (p : R) : Prop :=
  is_glb (upper_sum L d A (fun _ => 1)) p.
