------------------------------- MODULE Lease -------------------------------
(* The lease protocol of spec/PROTOCOL.md; the numbers in comments are its rules. There is no clock: a process takes a lane, stops   *)
(* waiting for an answer, and chooses a ceiling whenever and however it likes. So uniqueness depends on no clock and no timeout.     *)
(*                                                                                                                                   *)
(* `Off` names a rule that is left out. ci/spec.sh checks that each one is needed. 19 and 24 are never left out here: runs that need *)
(* them are too long, and ci/rules.sh takes both out of the engine.                                                                  *)
(*                                                                                                                                   *)
(* A process that reads a record and then writes is one step, `Take` or `Renew`: the write expects the text that was read, so a wait  *)
(* between the two is the same as a longer way to the store.                                                                         *)
EXTENDS Integers, Sequences, TLC

CONSTANTS
  Procs, Lanes,                       \* processes, and numbers of lanes
  Top,                                \* the greatest ceiling; values are 0 .. Top - 1
  Writes,                             \* how many attempts to write processes may make in all
  Crashes, Restores, Losses, Resizes, Frees, Creates, \* how often each may happen
  Recovers,                           \* whether an operator recovers a restored register
  Nobody,                             \* no process
  Off                                 \* the rule that is left out; "" if none is

VARIABLES
  reg,     \* the records: era -> lane -> record
  meta,    \* the description of the space
  lost,    \* whether it was restored from a backup, and nobody has recovered it
  w,       \* the attempts of processes. `at` is "sent", "made" (by the store), "read" (see Confirm), or "over" (answered, refused or lost)
  proc,    \* the processes
  minted,  \* lane -> values
  twice,   \* whether a value was minted twice
  most,    \* the greatest ceiling that the store has written. An operator knows it from the clock or the message store
  resize,  \* the lanes that a resize has closed, and their greatest ceiling
  left     \* how many of each are left
vars == <<reg, meta, lost, w, proc, minted, twice, most, resize, left>>

On(rule) == Off # rule
Max(a, b) == IF a > b THEN a ELSE b
Greatest(S) == CHOOSE x \in S: \A y \in S: y <= x
Eras == 1 .. Resizes + Creates + 1

\* A token is the number of an attempt; those of operators are negative. Without 3, the store compares versions.
None == [ver |-> 0, tok |-> 0, c |-> 0, st |-> "none"]
Same(a, b) == IF On("3 token") THEN a = b ELSE a.ver = b.ver

\* `base` is the record that the next attempt expects, `atts` the attempts since the last acknowledged one. The lane of no grant is 0.
NoGrant == [lane |-> 0, era |-> 0, floor |-> 0, ceil |-> 0, base |-> None, atts |-> {}]
\* `wait` is the attempt whose answer it waits for, `used` the end of its values, `acked` the last acknowledged record of each lane.
Fresh == [pc |-> "seek", wait |-> 0, grant |-> NoGrant, used |-> 0, acked |-> [l \in Lanes |-> None], era |-> 0]

Over == [Fresh EXCEPT !.pc = "over"]

Init ==
  /\ reg = [e \in Eras |-> [l \in Lanes |-> None]]
  /\ meta = [ver |-> 1, era |-> 1, floor |-> 0]
  /\ lost = FALSE /\ w = <<>> /\ proc = [p \in Procs |-> Fresh]
  /\ minted = [l \in Lanes |-> {}] /\ twice = FALSE /\ most = 0
  /\ resize = [closed |-> {}, floor |-> 0]
  /\ left = [crash |-> Crashes, restore |-> Restores, loss |-> Losses, resize |-> Resizes, free |-> Frees, create |-> Creates]

Become(p, r) == proc' = [proc EXCEPT ![p] = r]
StoreStays == UNCHANGED <<reg, meta, lost, minted, twice, most, resize, left>>

\* A restored register that nobody has recovered: reached by nobody but a process that must notice the loss by itself.
Reaches(p) == ~lost \/ \E l \in Lanes: most > 0 /\ proc[p].acked[l].c = most

\* 19: whether a record is less than what was acknowledged to this process.
IsBack(p, l) ==
  LET known == proc[p].acked[l]  rec == reg[meta.era][l] IN
  /\ proc[p].era = meta.era
  /\ rec.ver < known.ver \/ rec.c < known.c \/ (rec.ver = known.ver /\ rec.tok # known.tok)

Minting == {"seek", "take", "back", "hold", "renew", "check"}
\* 2. A lane that is lost is used up to its ceiling. Without 22, a paused thread ends its call after the seal.
Unused(p) == Max(proc[p].grant.floor, proc[p].used)
Mint(p) ==
  LET g == proc[p].grant  v == Unused(p) IN
  /\ g.lane # 0 /\ v < Top /\ (v < g.ceil \/ ~On("2 ceiling"))
  /\ proc[p].pc \in Minting \/ ~On("22 seal")
  /\ twice' = (twice \/ v \in minted[g.lane])
  /\ minted' = [minted EXCEPT ![g.lane] = @ \cup {v}]
  /\ Become(p, [proc[p] EXCEPT !.used = v + 1])
  /\ UNCHANGED <<reg, meta, lost, w, most, resize, left>>

Send(p, lane, era, floor, seen, c, st, pc) ==
  LET id == Len(w) + 1
      val == IF st = "none" THEN None ELSE [ver |-> seen.ver + 1, tok |-> id, c |-> c, st |-> st] IN
  /\ id <= Writes
  /\ w' = Append(w, [p |-> p, lane |-> lane, era |-> era, floor |-> floor, ver |-> meta.ver, seen |-> seen, val |-> val,
                    at |-> "sent"])
  /\ Become(p, [proc[p] EXCEPT !.pc = pc, !.wait = id, !.grant.atts = IF pc \in {"take", "back"} THEN @ ELSE @ \cup {id},
                               !.grant.base = IF pc \in {"take", "back"} THEN @ ELSE seen])
  /\ StoreStays

\* 5 is no condition. 6, 7, 8, 10.
Take(p, l, c) ==
  LET rec == reg[meta.era][l]
      floor == Max(IF On("8 floor") THEN rec.c ELSE 0, meta.floor) IN
  /\ proc[p].pc = "seek" /\ Reaches(p) /\ \A k \in Lanes: ~IsBack(p, k)
  /\ rec.st # "closed" \/ ~On("6 closed")
  /\ c \in Max(floor, proc[p].used) + 1 .. Top
  /\ Send(p, l, meta.era, Max(floor, proc[p].used), rec, c, "held", "take")

\* 13.
Renew(p, c) ==
  LET g == proc[p].grant IN
  /\ proc[p].pc = "hold"
  /\ c \in (IF On("13 raise") THEN g.base.c + 1 ELSE 1) .. Top
  /\ Send(p, g.lane, g.era, g.floor, g.base, c, "held", "renew")

\* 22, 23, 26. From here on it mints nothing.
Release(p, base) ==
  LET g == proc[p].grant IN
  Send(p, g.lane, g.era, g.floor, base, IF On("23 end") THEN Unused(p) ELSE g.floor,
       IF On("26 delete") THEN "free" ELSE "none", "release")
Close(p) == proc[p].pc \in {"hold", "check"} /\ Release(p, proc[p].grant.base)

\* 1, 14: what an acknowledgement grants to the process that waits for it.
Granted(p, i) ==
  LET me == proc[p]  a == w[i]
      acked == IF me.era = a.era THEN me.acked ELSE Fresh.acked
      known == [me EXCEPT !.wait = 0, !.era = a.era, !.acked = [acked EXCEPT ![a.lane] = a.val]] IN
  CASE me.pc = "take" -> [known EXCEPT !.pc = "hold", !.grant = [lane |-> a.lane, era |-> a.era, floor |-> a.floor,
                                       ceil |-> a.val.c, base |-> a.val, atts |-> {i}]]
    [] me.pc = "renew" -> [known EXCEPT !.pc = "hold", !.grant.ceil = Max(@, a.val.c), !.grant.base = a.val, !.grant.atts = {i}]
    [] me.pc = "back" -> [me EXCEPT !.wait = 0, !.pc = "seek"]
    [] me.pc = "release" -> Over

\* 9: it reads the description once the store has made its attempt to take a lane, and may give the lane back instead of using it.
Confirm(p) ==
  LET i == proc[p].wait IN
  /\ proc[p].pc = "take" /\ i # 0 /\ Reaches(p)
  /\ w[i].at = "made" /\ w[i].ver = meta.ver /\ w' = [w EXCEPT ![i].at = "read"]
  /\ UNCHANGED proc /\ StoreStays
GiveBack(p) ==
  LET a == w[proc[p].wait] IN
  /\ proc[p].pc = "take" /\ proc[p].wait # 0 /\ Reaches(p) /\ a.at = "made"
  /\ Send(p, a.lane, a.era, a.floor, a.val, a.floor, "free", "back")

Answer(p, i) ==
  LET me == proc[p] IN
  /\ w[i].p = p /\ Reaches(p)
  /\ w[i].at \in {"made", "read"}
  /\ \/ me.wait = i /\ (me.pc # "take" \/ w[i].at = "read" \/ ~On("9 meta")) /\ Become(p, Granted(p, i))
     \* 18: an acknowledgement that it does not wait for any more.
     \/ /\ me.wait # i /\ me.pc \in Minting /\ me.grant.lane # 0
        /\ w[i].val.c > me.grant.ceil /\ (i \in me.grant.atts \/ ~On("18 late"))
        /\ Become(p, [me EXCEPT !.grant.ceil = Max(@, w[i].val.c)])
  /\ w' = [w EXCEPT ![i].at = "over"]
  /\ StoreStays

\* The outcome is unknown. Without 1 it is taken for an acknowledgement; without 25 a release is taken back.
Unanswered(p) ==
  IF ~On("1 acknowledged") THEN Granted(p, proc[p].wait)
  ELSE IF proc[p].pc = "release" /\ On("25 unsealed") THEN Over ELSE
  [proc[p] EXCEPT !.wait = 0, !.pc = CASE @ \in {"take", "back"} -> "seek" [] @ = "renew" -> "check"
                                       [] OTHER -> "hold"]
GiveUp(p) == proc[p].wait # 0 /\ Become(p, Unanswered(p)) /\ UNCHANGED w /\ StoreStays

\* 15, 16, 17.
Check(p) ==
  LET me == proc[p]  g == me.grant  rec == reg[g.era][g.lane]
      wrote == \E i \in g.atts: w[i].val = rec IN
  /\ me.pc = "check" /\ Reaches(p) /\ ~IsBack(p, g.lane)
  /\ Become(p, IF rec = g.base THEN [me EXCEPT !.pc = "hold"]
       ELSE IF wrote \/ ~On("17 lost")
         THEN [me EXCEPT !.pc = "hold", !.grant.base = rec, !.grant.ceil = IF On("15 read") THEN @ ELSE Max(@, rec.c)]
       ELSE [me EXCEPT !.pc = "seek"])
  /\ UNCHANGED w /\ StoreStays
\* 24, 25.
Recheck(p) ==
  LET g == proc[p].grant  rec == reg[g.era][g.lane] IN
  /\ proc[p].pc = "recheck" /\ Reaches(p)
  /\ \E i \in g.atts: w[i].val = rec
  /\ Release(p, rec)
\* 19.
Stop(p) ==
  /\ proc[p].pc \in {"seek", "check"} /\ Reaches(p) /\ \E l \in Lanes: IsBack(p, l)
  /\ Become(p, Over) /\ UNCHANGED w /\ StoreStays

Orphan(a, p) == IF a.p = p THEN [a EXCEPT !.p = Nobody] ELSE a
Crash(p) ==
  /\ left.crash > 0 /\ left' = [left EXCEPT !.crash = @ - 1]
  /\ Become(p, Fresh) /\ w' = [i \in DOMAIN w |-> Orphan(w[i], p)]
  /\ UNCHANGED <<reg, meta, lost, minted, twice, most, resize>>

--------------------------------------------------------------------------------
\* The store. A call is made at one moment after it was sent, however late, or never. Who waits learns of a conflict: 15, 25.
Refused(p, i) ==
  IF p = Nobody THEN proc ELSE IF proc[p].wait # i THEN proc ELSE
  [proc EXCEPT ![p].wait = 0, ![p].pc = CASE @ \in {"take", "back"} -> "seek" [] @ = "renew" -> "check" [] @ = "release" -> "recheck"]
Void == [p |-> Nobody, lane |-> 0, era |-> 0, floor |-> 0, ver |-> 0, seen |-> None, val |-> [None EXCEPT !.st = "void"], at |-> "over"]
Make(i) ==
  LET a == w[i]  fits == Same(reg[a.era][a.lane], a.seen) \/ ~On("7 expects") IN
  /\ a.at = "sent" /\ (~lost \/ (a.p # Nobody /\ Reaches(a.p)))
  /\ w' = IF fits THEN [w EXCEPT ![i].at = "made"] ELSE [w EXCEPT ![i] = Void]
  /\ reg' = IF fits THEN [reg EXCEPT ![a.era][a.lane] = a.val] ELSE reg
  /\ most' = IF fits THEN Max(most, a.val.c) ELSE most
  /\ proc' = IF fits THEN proc ELSE Refused(a.p, i)
  /\ UNCHANGED <<meta, lost, minted, twice, resize, left>>
\* It may lose what it has shown and not acknowledged.
Lose(e, l) ==
  LET i == reg[e][l].tok IN
  /\ left.loss > 0 /\ i > 0 /\ w[i].at \in {"made", "read"} /\ left' = [left EXCEPT !.loss = @ - 1]
  /\ reg' = [reg EXCEPT ![e][l] = w[i].seen] /\ w' = [w EXCEPT ![i].at = "over"]
  /\ UNCHANGED <<meta, lost, proc, minted, twice, most, resize>>
\* What a record was before.
RECURSIVE Earlier(_)
Earlier(rec) == {rec} \cup IF rec.tok > 0 THEN Earlier(w[rec.tok].seen) ELSE {}
\* 29. No process reaches the register between the two, so they are one step. If nobody recovers it, `lost` stays. The floor of the space
\* and the record of a lane that had none protect the same values here. An operator needs both: the floor if the recovery does not come to
\* the lanes, the record to notice a process that is connected.
Above(old) == Max(IF On("29 above") THEN most ELSE 0, Max(meta.floor, Greatest({old[l].c: l \in Lanes})))
RestoreTo(old, F) ==
  LET era == meta.era
      Raised(rec) == IF ~On("29 lanes") THEN rec ELSE
        [ver |-> rec.ver + 1, tok |-> -1, c |-> F, st |-> IF rec.st = "closed" THEN "closed" ELSE "free"] IN
  /\ left.restore > 0 /\ left' = [left EXCEPT !.restore = @ - 1] /\ lost' = ~Recovers
  /\ F >= Above(old) /\ \A l \in Lanes: old[l] \in Earlier(reg[era][l])
  /\ reg' = [reg EXCEPT ![era] = IF Recovers THEN [l \in Lanes |-> Raised(old[l])] ELSE old]
  /\ meta' = IF Recovers THEN [meta EXCEPT !.ver = @ + 1, !.floor = F] ELSE meta
  /\ UNCHANGED <<w, proc, minted, twice, most, resize>>
Restore ==
  left.restore > 0 /\ \E old \in [Lanes -> UNION {Earlier(reg[meta.era][l]): l \in Lanes}]: old # reg[meta.era] /\ RestoreTo(old, Above(old))

\* 28, by force: no holder is asked.
Free(l) ==
  LET rec == reg[meta.era][l] IN
  /\ left.free > 0 /\ left' = [left EXCEPT !.free = @ - 1] /\ ~lost /\ rec.st = "held"
  /\ reg' = [reg EXCEPT ![meta.era][l] = [ver |-> rec.ver + 1, tok |-> -3, c |-> IF On("28 same") THEN rec.c ELSE meta.floor, st |-> "free"]]
  /\ UNCHANGED <<meta, lost, w, proc, minted, twice, most, resize>>

\* 30: lane by lane, and then the description.
CloseLane(l) ==
  LET rec == reg[meta.era][l]  c == IF rec = None THEN meta.floor ELSE rec.c IN
  /\ left.resize > 0 /\ ~lost /\ l \notin resize.closed
  /\ reg' = [reg EXCEPT ![meta.era][l] = [ver |-> rec.ver + 1, tok |-> -2, c |-> c, st |-> "closed"]]
  /\ resize' = [closed |-> resize.closed \cup {l}, floor |-> Max(resize.floor, c)]
  /\ UNCHANGED <<meta, lost, w, proc, minted, twice, most, left>>
Resize ==
  /\ left.resize > 0 /\ ~lost /\ (resize.closed = Lanes \/ ~On("30 every"))
  /\ left' = [left EXCEPT !.resize = @ - 1]
  /\ meta' = [ver |-> meta.ver + 1, era |-> meta.era + 1,
              floor |-> IF On("30 floor") THEN Max(meta.floor, resize.floor) ELSE meta.floor]
  /\ resize' = [closed |-> {}, floor |-> 0] /\ UNCHANGED <<reg, lost, w, proc, minted, twice, most>>

\* 27, over lanes whose description is lost: those with a record are closed, and each new one has a record. The operator's clock is
\* past all ceilings that were chosen.
Create ==
  LET era == meta.era  F == IF On("27 above") THEN Greatest({most, meta.floor} \cup {w[i].val.c: i \in DOMAIN w}) ELSE meta.floor IN
  /\ left.create > 0 /\ left' = [left EXCEPT !.create = @ - 1] /\ ~lost /\ resize.closed = {}
  /\ reg' = [reg EXCEPT ![era] = [l \in Lanes |-> IF @[l] = None \/ ~On("27 closed") THEN @[l]
                                   ELSE [ver |-> @[l].ver + 1, tok |-> -2, c |-> @[l].c, st |-> "closed"]],
                        ![era + 1] = [l \in Lanes |-> [ver |-> 1, tok |-> -4, c |-> F, st |-> "free"]]]
  /\ meta' = [ver |-> meta.ver + 1, era |-> era + 1, floor |-> F]
  /\ UNCHANGED <<lost, w, proc, minted, twice, most, resize>>

Next ==
  \/ \E p \in Procs:
       \/ Mint(p) \/ Close(p) \/ GiveUp(p) \/ Check(p) \/ Recheck(p) \/ Stop(p) \/ Crash(p)
       \/ Confirm(p) \/ (GiveBack(p) /\ w[proc[p].wait].ver # meta.ver)
       \/ \E c \in 1 .. Top: Renew(p, c) \/ \E l \in Lanes: Take(p, l, c)
       \/ \E i \in DOMAIN w: Answer(p, i)
  \/ \E i \in DOMAIN w: Make(i)
  \/ \E e \in Eras, l \in Lanes: Lose(e, l)
  \/ \E l \in Lanes: CloseLane(l) \/ Free(l)
  \/ Restore \/ Resize \/ Create

Spec == Init /\ [][Next]_vars
Unique == ~twice

(* What matters of a state. An attempt that can grant nothing any more is anybody's. *)
Counts(i) ==
  LET a == w[i] IN
  \/ lost \/ (left.restore > 0 /\ ~Recovers) \/ left.loss > 0 \/ ~On("18 late")
  \/ a.p # Nobody /\ (proc[a.p].wait = i \/ (i \in proc[a.p].grant.atts /\ a.val.c > proc[a.p].grant.ceil))
View == <<reg, meta, lost, proc, minted, twice, IF left.restore > 0 \/ lost THEN most ELSE 0, resize, left,
          [i \in DOMAIN w |-> IF Counts(i) /\ w[i].at # "over" THEN w[i]
             ELSE [w[i] EXCEPT !.p = Nobody, !.floor = 0, !.ver = 0, !.at = IF @ \in {"made", "read"} THEN "over" ELSE @]]>>
Symmetry == Permutations(Procs)
=============================================================================
