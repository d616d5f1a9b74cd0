------------------------------- MODULE Trace -------------------------------
(* Runs of the engine are runs of Lease. Each step of a trace names an action of Lease and what the engine wrote, was granted or    *)
(* minted; TLC takes this action and compares. A trace that does not come to its end is no run of Lease. traces.py writes the       *)
(* module Steps from schedules of the model.                                                                                        *)
EXTENDS Lease, Steps

VARIABLES trace, at

Sent(s) == LET a == w'[Len(w')] IN a.lane = s.lane /\ a.seen = s.seen /\ a.val = s.value
Wrote(s) == reg'[meta.era][s.lane] = s.value

\* A generator may skip values. Here it mints those between, too. "used": to the end that it was sealed at.
MintTo(p, s) ==
  /\ s.lane = proc[p].grant.lane /\ proc[p].pc \in Minting
  /\ s.do = "mint" => s.first >= proc[p].grant.floor
  /\ IF Unused(p) <= s.last THEN Mint(p) ELSE UNCHANGED vars
IsOver(s) == s.do \in {"mint", "used"} => Unused(s.p) >= s.last

Does(s) ==
  CASE s.do = "take" -> Take(s.p, s.lane, s.value.c) /\ Sent(s)
    [] s.do = "confirm" -> Confirm(s.p)
    [] s.do = "back" -> GiveBack(s.p) /\ Sent(s)
    [] s.do = "renew" -> Renew(s.p, s.value.c) /\ Sent(s)
    [] s.do = "release" -> (Close(s.p) \/ Recheck(s.p)) /\ Sent(s)
    [] s.do = "made" -> Make(s.id) /\ (w'[s.id].at = "made") = s.written
    [] s.do = "granted" -> proc[s.p].wait = s.id /\ Answer(s.p, s.id)
    [] s.do = "late" -> /\ proc[s.p].wait # s.id /\ w[s.id].at \in {"made", "read"}
                        /\ IF ENABLED Answer(s.p, s.id) THEN Answer(s.p, s.id) ELSE UNCHANGED vars
    [] s.do = "unknown" -> GiveUp(s.p)
    [] s.do = "check" -> Check(s.p)
    [] s.do = "crash" -> Crash(s.p)
    [] s.do \in {"mint", "used"} -> MintTo(s.p, s)
    [] s.do = "lose" -> Lose(s.era, s.lane) /\ reg[s.era][s.lane].tok = s.id
    [] s.do = "free" -> Free(s.lane) /\ Wrote(s)
    [] s.do = "close" -> CloseLane(s.lane) /\ Wrote(s)
    [] s.do = "resize" -> Resize /\ meta'.era = s.era /\ meta'.floor = s.floor
    [] s.do = "restore" -> RestoreTo(s.old, s.floor) /\ reg'[meta.era] = s.new

TraceInit == Init /\ trace \in DOMAIN Traces /\ at = 1
TraceNext ==
  /\ at <= Len(Traces[trace])
  /\ Does(Traces[trace][at]) /\ ~twice'
  /\ at' = IF IsOver(Traces[trace][at]) THEN at + 1 ELSE at
  /\ UNCHANGED trace
TraceSpec == TraceInit /\ [][TraceNext]_<<vars, trace, at>>

\* Prints how far each trace comes.
Reached == PrintT(<<"reached", trace, at>>)
=============================================================================
