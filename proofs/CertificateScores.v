(** * Scores of a query against its keys, and a query's extremes by enumeration.

    A query x = e_p + iota c (p = 1 for the trigger, p = d + 2 for an ordinary token) enters its
    scores only through the row x^T A, which is affine in its content c. The checkers enumerate
    that row at the vertices of the content box, in integers. *)
From Coq Require Import Reals Lra Lia Arith ZArith List.
From Sinkproof Require Import Sums Task CertificateWeights CertificateVertices.
Import ListNotations.
Open Scope R_scope.

(** ** Sums over m < n *)

Lemma ssum_plus n f g : ssum n (fun k => f k + g k) = ssum n f + ssum n g.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma ssum_zero n f : (forall k, (k < n)%nat -> f k = 0) -> ssum n f = 0.
Proof. induction n; simpl; intros H; [reflexivity|]. rewrite IHn, H by (intros; auto with arith). ring. Qed.

Lemma ssum_Rabs n f : Rabs (ssum n f) <= ssum n (fun k => Rabs (f k)).
Proof. induction n; simpl; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|]. lra. Qed.

Lemma ssum_opp n f : ssum n (fun k => - f k) = - ssum n f.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma ssum_nonneg n f : (forall k, (k < n)%nat -> 0 <= f k) -> 0 <= ssum n f.
Proof.
  induction n; simpl; intros H; [lra|]. assert (H1 := H n ltac:(lia)).
  assert (0 <= ssum n f) by (apply IHn; intros; apply H; lia). lra.
Qed.

(** A sum over all coordinates 0 .. d+2: B, T, the contents, N. *)
Lemma bsum_coordinates d f :
  bsum 0 (d + 2) f = f 0%nat + f 1%nat + ssum d (fun m => f (2 + m)%nat) + f (d + 2)%nat.
Proof.
  unfold bsum. replace (S (d + 2) - 0)%nat with (S (S (S d))) by lia.
  rewrite ssum_first, ssum_first. cbn [ssum Nat.add].
  replace (S (S d)) with (d + 2)%nat by lia. ring.
Qed.

(** |sum g_m c_m| <= sum |g_m| on the box. *)
Lemma dot_box d g c : in_box d c ->
  Rabs (ssum d (fun m => g m * c m)) <= ssum d (fun m => Rabs (g m)).
Proof.
  intros Hc. eapply Rle_trans; [apply ssum_Rabs|]. apply ssum_le. intros m Hm.
  rewrite Rabs_mult. rewrite <- (Rmult_1_r (Rabs (g m))) at 2.
  apply Rmult_le_compat_l; [apply Rabs_pos|]. apply Rabs_le. apply Hc. assumption.
Qed.

(** ** The row x^T A *)

Definition query_row (d : nat) (A : mat) (p : nat) (c : nat -> R) (s : nat) : R :=
  A p s + ssum d (fun k => c k * A (2 + k)%nat s).

(** The largest change that a key's content makes: the sum of |(x^T A)_m| over the contents. *)
Definition query_norm (d : nat) (A : mat) (p : nat) (c : nat -> R) : R :=
  ssum d (fun m => Rabs (query_row d A p c (2 + m)%nat)).

(** The score of a key e_q + iota c'. *)
Definition key_score (d : nat) (A : mat) (p : nat) (c : nat -> R) (q : nat) (c' : nat -> R) : R :=
  query_row d A p c q + ssum d (fun m => query_row d A p c (2 + m)%nat * c' m).

(** The base coordinate of the token at position k >= 2. *)
Definition base_of (d : nat) (I : inst) (k : nat) : nat := if (k =? trig I)%nat then 1%nat else (d + 2)%nat.

Lemma token_sum d I k (f : nat -> R) : (k <> 1)%nat ->
  bsum 0 (d + 2) (fun s => f s * token d I k s) =
  f (base_of d I k) + ssum d (fun m => f (2 + m)%nat * cont I k m).
Proof.
  intros Hk. rewrite bsum_coordinates, token_B, token_T, token_N by assumption.
  rewrite (ssum_ext d _ (fun m => f (2 + m)%nat * cont I k m)).
  2:{ intros m Hm. rewrite token_C by assumption. reflexivity. }
  unfold base_of. destruct (k =? trig I)%nat; ring.
Qed.

Lemma mv_token d V I k r : (k <> 1)%nat ->
  mv d V (token d I k) r = V r (base_of d I k) + ssum d (fun m => V r (2 + m)%nat * cont I k m).
Proof. intros Hk. unfold mv. apply token_sum. assumption. Qed.

Lemma ssum_bsum n a b (f : nat -> nat -> R) :
  ssum n (fun m => bsum a b (f m)) = bsum a b (fun s => ssum n (fun m => f m s)).
Proof. induction n; simpl; [symmetry; apply bsum_zero|]. rewrite IHn, <- bsum_plus. reflexivity. Qed.

Lemma bilinear_row d A I i k : (i <> 1)%nat ->
  bilinear d A (token d) I i k =
  bsum 0 (d + 2) (fun s => query_row d A (base_of d I i) (cont I i) s * token d I k s).
Proof.
  intros Hi. unfold bilinear.
  rewrite (bsum_ext 0 (d + 2) _ (fun r => mv d A (token d I k) r * token d I i r)) by (intros; ring).
  rewrite token_sum by assumption. unfold mv, query_row. rewrite (bsum_ext 0 (d + 2)
    (fun s => (A (base_of d I i) s + ssum d (fun m => cont I i m * A (2 + m)%nat s)) * token d I k s)
    (fun s => A (base_of d I i) s * token d I k s + ssum d (fun m => cont I i m * A (2 + m)%nat s) * token d I k s))
    by (intros; ring).
  rewrite bsum_plus. f_equal. rewrite (ssum_ext d _ (fun m =>
    bsum 0 (d + 2) (fun s => cont I i m * (A (2 + m)%nat s * token d I k s)))).
  2:{ intros m _. rewrite bsum_scal. ring. }
  rewrite ssum_bsum. apply bsum_ext. intros s _. rewrite (Rmult_comm (ssum _ _)), <- ssum_scal.
  apply ssum_ext. intros m _. ring.
Qed.

(** The scores of any query i >= 2: of BOS and of every other key. *)
Lemma score_bos d A I i : (i <> 1)%nat ->
  bilinear d A (token d) I i 1%nat = query_row d A (base_of d I i) (cont I i) 0%nat.
Proof.
  intros Hi. rewrite bilinear_row by assumption.
  rewrite (bsum_ext 0 (d + 2) _ (fun s => if (s =? 0)%nat
    then query_row d A (base_of d I i) (cont I i) s else 0)).
  - rewrite (bsum_indicator 0 (d + 2) 0%nat) by lia. reflexivity.
  - intros s _. rewrite token_bos. destruct (s =? 0)%nat; ring.
Qed.

Lemma score_key d A I i k : (i <> 1)%nat -> (k <> 1)%nat ->
  bilinear d A (token d) I i k = key_score d A (base_of d I i) (cont I i) (base_of d I k) (cont I k).
Proof. intros Hi Hk. rewrite bilinear_row, token_sum by assumption. reflexivity. Qed.

Lemma key_score_near d A p c q c' : in_box d c' ->
  Rabs (key_score d A p c q c' - query_row d A p c q) <= query_norm d A p c.
Proof.
  intros Hc. unfold key_score, query_norm.
  replace (query_row d A p c q + _ - _) with (ssum d (fun m => query_row d A p c (2 + m)%nat * c' m)) by ring.
  apply dot_box. assumption.
Qed.

Lemma in_box_instance L d I k : is_instance L d I -> (2 <= k <= L)%nat -> in_box d (cont I k).
Proof. intros [_ H] Hk m Hm. apply H; assumption. Qed.

(** ** As functions of the query's content *)

Lemma query_row_affine d A p s : box_affine d (fun c => query_row d A p c s).
Proof.
  apply affine_plus; [apply affine_const|]. apply affine_ssum. intros k _.
  apply (affine_ext d _ (fun c => A (2 + k)%nat s * c k)); [intros; ring|].
  apply affine_scal, affine_coordinate.
Qed.

Lemma query_norm_convex d A p : box_convex d (fun c => query_norm d A p c).
Proof. apply convex_ssum. intros k _. apply convex_Rabs, query_row_affine. Qed.

(** A square with a nonnegative coefficient lies below its chord; a product of two coordinates is on it. *)
Lemma convex_product d k l q : (k = l -> 0 <= q) -> box_convex d (fun c => c k * c l * q).
Proof.
  intros Hq c m Hc Hm. assert (Ht := Hc m Hm). unfold set. destruct (Nat.eqb_spec k m), (Nat.eqb_spec l m); subst; try lra.
  assert (H := Hq eq_refl). assert (H2 : c m * c m <= 1) by nra.
  assert (c m * c m * q <= 1 * q) by (apply Rmult_le_compat_r; assumption). lra.
Qed.

(** ** Rows of integers *)

(** Sum of the absolute values of the first n entries. *)
Fixpoint abs_sum (n : nat) (l : list Z) : Z :=
  match n, l with
  | S n', x :: l' => (Z.abs x + abs_sum n' l')%Z
  | _, _ => 0%Z
  end.

Lemma abs_sum_value n l : IZR (abs_sum n l) = ssum n (fun m => Rabs (IZR (nth m l 0%Z))).
Proof.
  revert l. induction n as [|n IH]; intros l; [destruct l; reflexivity|].
  rewrite ssum_first. destruct l as [|x l].
  - rewrite ssum_zero; [simpl; rewrite Rabs_R0; ring|]. intros k _. destruct k; apply Rabs_R0.
  - cbn [abs_sum nth]. rewrite plus_IZR, abs_IZR, IH. reflexivity.
Qed.

(** A vertex as a list of signs. *)
Definition is_signs (d : nat) (z : list Z) : Prop :=
  length z = d /\ Forall (fun x => x = 1%Z \/ x = (-1)%Z) z.
Definition content_of (z : list Z) : content := fun m => IZR (nth m z 0%Z).

(** Scalar product of signs with the first entries. *)
Fixpoint sign_dot (z l : list Z) : Z :=
  match z, l with
  | s :: z', x :: l' => ((match s with Zneg _ => - x | _ => x end) + sign_dot z' l')%Z
  | _, _ => 0%Z
  end.

Lemma sign_dot_value d z l : is_signs d z ->
  IZR (sign_dot z l) = ssum d (fun m => content_of z m * IZR (nth m l 0%Z)).
Proof.
  intros [<- Hz]. revert l. induction Hz as [|s z Hs Hz IH]; intros l; [reflexivity|].
  cbn [length]. rewrite ssum_first. unfold content_of in *. cbn [nth]. destruct l as [|x l].
  - rewrite ssum_zero; [simpl; ring|]. intros k _. destruct k; simpl; ring.
  - cbn [sign_dot nth]. rewrite plus_IZR, IH. f_equal. destruct Hs as [-> | ->]; [simpl; ring|].
    rewrite opp_IZR. simpl; ring.
Qed.

(** ** The row x^T A at the vertices, and the largest value of [leaf] there *)

Section Enumeration.
(** [leaf signs row]: signs of the content, first coordinate first, and the row. *)
Variable leaf : list Z -> list Z -> Z.

(** [slopes]: the rows of the coordinates still to come, last coordinate first. *)
Fixpoint vertex_maximum (slopes : list (list Z)) (signs row : list Z) : Z :=
  match slopes with
  | nil => leaf signs row
  | s :: rest => Z.max (vertex_maximum rest (1%Z :: signs) (add row s))
                       (vertex_maximum rest ((-1)%Z :: signs) (sub row s))
  end.
End Enumeration.

(** The rows of the content coordinates, last first. *)
Definition content_rows (d : nat) (M : list (list Z)) : list (list Z) := rev (firstn d (skipn 2 M)).

(** The largest value of [leaf] over the vertices, for the queries e_p + iota c. *)
Definition query_maximum (leaf : list Z -> list Z -> Z) (d : nat) (M : list (list Z)) (p : nat) : Z :=
  vertex_maximum leaf (content_rows d M) nil (nth p M nil).

(** The row at a vertex. *)
Fixpoint vertex_row (slopes : list (list Z)) (signs row : list Z) : list Z :=
  match slopes, signs with
  | s :: slopes', z :: signs' =>
      vertex_row slopes' signs' (match z with Zneg _ => sub row s | _ => add row s end)
  | _, _ => row
  end.

Lemma vertex_maximum_bound leaf slopes z signs row :
  length z = length slopes -> Forall (fun x => x = 1%Z \/ x = (-1)%Z) z ->
  (leaf (rev z ++ signs) (vertex_row slopes z row) <= vertex_maximum leaf slopes signs row)%Z.
Proof.
  revert z signs row. induction slopes as [|s slopes IH]; intros z signs row Hl Hz.
  - destruct z; [|discriminate]. simpl. lia.
  - destruct z as [|x z]; [discriminate|]. apply Forall_cons_iff in Hz. destruct Hz as [Hx Hz].
    cbn [vertex_maximum vertex_row rev]. rewrite <- app_assoc. cbn [app].
    destruct Hx as [-> | ->].
    + eapply Z.le_trans; [|apply Z.le_max_l]. apply IH; [simpl in Hl; lia|assumption].
    + eapply Z.le_trans; [|apply Z.le_max_r]. apply IH; [simpl in Hl; lia|assumption].
Qed.

Lemma vertex_row_nth slopes z row s :
  length z = length slopes -> Forall (fun x => x = 1%Z \/ x = (-1)%Z) z ->
  IZR (nth s (vertex_row slopes z row) 0%Z) =
  IZR (nth s row 0%Z) + ssum (length z) (fun k => IZR (nth k z 0%Z) * IZR (entry slopes k s)).
Proof.
  revert z row. induction slopes as [|r slopes IH]; intros z row Hl Hz.
  - destruct z; [|discriminate]. simpl. ring.
  - destruct z as [|x z]; [discriminate|]. apply Forall_cons_iff in Hz. destruct Hz as [Hx Hz].
    cbn [vertex_row length]. rewrite ssum_first, IH by (assumption || (simpl in Hl; lia)).
    unfold entry at 2. cbn [nth].
    destruct Hx as [-> | ->]; [rewrite nth_add, plus_IZR|rewrite nth_sub, minus_IZR]; unfold entry; cbn [nth]; ring.
Qed.

Lemma ssum_rev n f : ssum n (fun k => f (n - S k)%nat) = ssum n f.
Proof.
  induction n as [|n IH]; [reflexivity|]. rewrite ssum_first. cbn [ssum].
  rewrite <- IH. replace (S n - 1)%nat with n by lia.
  rewrite (ssum_ext n (fun k => f (S n - S (S k))%nat) (fun k => f (n - S k)%nat)); [ring|].
  intros k Hk. f_equal.
Qed.

Lemma nth_below {X} (x : X) n m l : (m < n)%nat -> nth m (firstn n l) x = nth m l x.
Proof.
  revert m l. induction n as [|n IH]; intros m l H; [lia|].
  destruct l, m; simpl; try reflexivity. apply IH. lia.
Qed.

Lemma nth_skip {X} (x : X) m l : nth m (skipn 2 l) x = nth (2 + m) l x.
Proof. destruct l as [|a [|b l]]; simpl; destruct m; reflexivity. Qed.

(** The signs of a vertex, and its row x^T A. *)
Definition vertex_signs (d : nat) (v : content) : list Z :=
  map (fun m => if Rlt_dec 0 (v m) then 1%Z else (-1)%Z) (seq 0 d).
Definition signs_row (d : nat) (M : list (list Z)) (p : nat) (z : list Z) : list Z :=
  vertex_row (content_rows d M) (rev z) (nth p M nil).

Lemma vertex_signs_ok d v : is_vertex d v ->
  is_signs d (vertex_signs d v) /\ forall m, (m < d)%nat -> v m = content_of (vertex_signs d v) m.
Proof.
  intros Hv. unfold vertex_signs. set (g := fun m => if Rlt_dec 0 (v m) then 1%Z else (-1)%Z).
  split; [split|].
  - rewrite map_length, seq_length. reflexivity.
  - apply Forall_forall. intros x Hx. apply in_map_iff in Hx. destruct Hx as [m [<- _]].
    unfold g. destruct (Rlt_dec 0 (v m)); tauto.
  - intros m Hm. unfold content_of.
    rewrite (nth_indep _ 0%Z (g 0%nat)) by (rewrite map_length, seq_length; assumption).
    rewrite map_nth, seq_nth by assumption. unfold g. simpl.
    destruct (Hv m Hm) as [-> | ->]; [destruct (Rlt_dec 0 (-1))|destruct (Rlt_dec 0 1)]; (reflexivity || lra).
Qed.

(** What the enumeration proves: at every vertex [leaf] sees that vertex' row, and is at most the maximum. *)
Lemma query_maximum_at leaf d A M u p v :
  (forall r s, (r < d + 3)%nat -> (s < d + 3)%nat -> A r s = IZR (entry M r s) * u) ->
  (d + 2 <= length M)%nat -> (p < d + 3)%nat -> is_vertex d v ->
  let z := vertex_signs d v in let row := signs_row d M p z in
    is_signs d z /\ (forall m, (m < d)%nat -> v m = content_of z m) /\
    (leaf z row <= query_maximum leaf d M p)%Z /\
    forall s, (s < d + 3)%nat -> query_row d A p v s = IZR (nth s row 0%Z) * u.
Proof.
  intros HA HM Hp Hv z. destruct (vertex_signs_ok d v Hv) as [Hz Hvz]. fold z in Hz, Hvz.
  destruct Hz as [Hl Hz]. set (slopes := content_rows d M).
  assert (Hf : length (firstn d (skipn 2 M)) = d) by (rewrite firstn_length, skipn_length; lia).
  assert (Hs : length slopes = d) by (unfold slopes, content_rows; rewrite rev_length; assumption).
  assert (Hr : Forall (fun x => x = 1%Z \/ x = (-1)%Z) (rev z)).
  { apply Forall_forall. intros x Hx. apply in_rev in Hx. revert x Hx. apply Forall_forall. assumption. }
  assert (Hrl : length (rev z) = length slopes) by (rewrite rev_length; congruence).
  unfold signs_row. fold slopes. cbv zeta. split; [split; assumption|]. split; [assumption|]. split.
  - unfold query_maximum. fold slopes.
    assert (H := vertex_maximum_bound leaf slopes (rev z) nil (nth p M nil) Hrl Hr).
    rewrite rev_involutive, app_nil_r in H. exact H.
  - intros s Hs'. rewrite vertex_row_nth by assumption. unfold query_row. rewrite HA by assumption.
    rewrite Rmult_plus_distr_r. unfold entry at 1. f_equal. rewrite Hrl, Hs.
    rewrite (Rmult_comm _ u), <- ssum_scal. rewrite <- ssum_rev. apply ssum_ext. intros k Hk.
    rewrite HA, Hvz by lia. rewrite rev_nth by lia. unfold content_of. rewrite Hl.
    replace (entry slopes k s) with (entry M (2 + (d - S k)) s); [ring|].
    unfold entry, slopes, content_rows. rewrite rev_nth by lia. rewrite Hf.
    rewrite nth_below, nth_skip by lia. reflexivity.
Qed.

Lemma query_maximum_bound leaf d A M u p v :
  (forall r s, (r < d + 3)%nat -> (s < d + 3)%nat -> A r s = IZR (entry M r s) * u) ->
  (d + 2 <= length M)%nat -> (p < d + 3)%nat -> is_vertex d v ->
  exists z row, is_signs d z /\ (forall m, (m < d)%nat -> v m = content_of z m) /\
    (leaf z row <= query_maximum leaf d M p)%Z /\
    forall s, (s < d + 3)%nat -> query_row d A p v s = IZR (nth s row 0%Z) * u.
Proof.
  intros HA HM Hp Hv. exists (vertex_signs d v), (signs_row d M p (vertex_signs d v)).
  apply (query_maximum_at leaf d A M u p v); assumption.
Qed.
