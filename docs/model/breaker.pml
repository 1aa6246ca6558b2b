/* One shared breaker: two replicas, one board that can fail over, messages that get lost and arrive twice.

   What is left out: lengths of time (they become orders of events), windows and rates (LIMIT failures trip), more than
   one probe at once (CAP is one, so that two replicas can break it), operators, replicas that go on alone.

   Invariants are named as in docs/shared-breaker.md. tools/check_model.py runs it, and runs it again with one
   safeguard taken out at a time (the WITHOUT_ macros), which must be noticed. */

#define REPLICAS 2
#define LIMIT 2   /* failures that trip */
#define NEEDED 2  /* good probes that close; one bad one opens again */
#define TOP 12    /* generations: more than the budgets below can use up */

/* In order of severity: of two states with one generation, the higher one holds. */
#define CLOSED 0
#define HALF 1
#define OPEN 2

/* What a replica does with its probe, and what it tells of it. */
#define NONE 0
#define HELD 1     /* a lease without a call */
#define RUNNING 2
#define GOOD 3
#define BAD 4
#define UNUSED 5   /* given back */

/* How much may go wrong. All of it is finite, so that "in the end" has a meaning. */
#ifndef FAILURES
#define FAILURES 3 /* calls and probes that fail */
#endif
#ifndef LOSSES
#define LOSSES 1   /* messages that never arrive */
#endif
#ifndef REPEATS
#define REPEATS 1  /* messages that arrive again */
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 1 /* answers that come too late, leases that run out unused */
#endif
#ifndef FAILOVERS
#define FAILOVERS 1
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
byte failures = FAILURES, losses = LOSSES, repeats = REPEATS, timeouts = TIMEOUTS, failovers = FAILOVERS,
     crashes = CRASHES;

/* The board, and what of it had reached its standby when that was last heard of. */
typedef truth {
  byte state;
  byte generation;
  byte bad;      /* closed: failures */
  byte done;     /* half open: good probes */
  byte holder;   /* of the lease: replica + 1, or 0 */
  bit used;      /* the lease: a call was made with it */
  bit due;       /* open: the cooldown is over */
}
truth board, standby;
bit copied;      /* the standby has something */
bit lost;        /* a failover has happened */

/* The replicas. */
byte state[REPLICAS], generation[REPLICAS];
byte bad[REPLICAS];        /* failures not yet told */
byte call[REPLICAS];       /* an ordinary call under way: the generation of its permit + 1 */
byte probe[REPLICAS];
bit told_used[REPLICAS];
bit waiting[REPLICAS];     /* for an answer */

/* The last two messages of each replica. Their sequence numbers need no numbers here: "not above the last one that was
   taken" is "taken already, or older than one that was". */
typedef message {
  byte generation;
  byte state;
  byte bad;
  byte probe;    /* NONE, RUNNING (used), GOOD, BAD, UNUSED */
  bit want;
  bit pending;   /* on its way */
  bit unseen;    /* taken, but the standby does not know it: after a failover it could be taken again */
}
message now_sent[REPLICAS], sent_before[REPLICAS];

typedef answer {
  bit ready;
  byte state;
  byte generation;
  bit lease;
}
answer reply[REPLICAS];

/* What really happened, for the assertions alone. */
byte really_failed[TOP];  /* ordinary calls of this generation */
byte really_good[TOP];    /* probes of this generation */
byte probe_generation[REPLICAS];
byte outstanding;         /* leases granted, and neither settled nor returned nor expired */

#define live(i) (probe[i] == HELD || probe[i] == RUNNING)
/* I1: never more probes than the cap; a failover may forget one lease of each. */
#define never_too_many() assert((live(0) -> 1 : 0) + (live(1) -> 1 : 0) <= 1 + (lost -> 1 : 0))
/* I9: granted = settled + returned + expired + in flight. */
#define books_balance() assert(outstanding == (board.holder -> 1 : 0))

inline enter(to) {
  /* I5: only time leaves open, and it leads to half open. */
  assert(board.state != OPEN || (to == HALF && board.due));
  /* I3: closed after enough good probes of the generation before, and no other way. */
  assert(to != CLOSED || (board.state == HALF && really_good[board.generation] >= NEEDED));
  /* I2, I8: opened by failures of its own generation, each counted once. */
  assert(to != OPEN || board.state != CLOSED || really_failed[board.generation] >= LIMIT);
  if
  :: !failovers && !lost -> really_failed[board.generation] = 0; really_good[board.generation] = 0
  :: else
  fi;
  board.state = to;
  board.generation++; /* I4 */
  board.bad = 0;
  board.done = 0;
  if
  :: board.holder -> board.holder = 0; outstanding--
  :: else
  fi;
  board.used = 0;
  board.due = 0
}

inline settle(how) {
  board.holder = 0;
  board.used = 0;
  outstanding--;
  if
  :: how == GOOD ->
    board.done++;
    if
    :: board.done >= NEEDED -> enter(CLOSED)
    :: else
    fi
  :: how == BAD -> enter(OPEN)
  :: else
  fi
}

/* A replica that knows more than the board does, after a failover, tells it. */
inline join(m) {
#ifndef WITHOUT_HEAL
  if
  :: m.generation > board.generation || (m.generation == board.generation && m.state > board.state) ->
    board.generation = m.generation;
    board.state = m.state;
    board.bad = 0;
    board.done = 0;
    board.used = 0;
    board.due = 0;
    if
    :: board.holder -> board.holder = 0; outstanding--
    :: else
    fi
  :: else
  fi;
#endif
  /* I14: nobody knows a later state than the board once it has been heard. */
  assert(board.generation > m.generation || (board.generation == m.generation && board.state >= m.state))
}

#ifdef WITHOUT_GENERATIONS
#define of_now(m) true
#else
#define of_now(m) (m.generation == board.generation)
#endif

/* The whole exchange, as one step: the store runs one function at a time. */
inline hear(i, m, answers) {
  join(m);
  if
  :: of_now(m) && board.state == HALF && m.probe != NONE && board.holder == i + 1 ->
    if
    :: m.probe == RUNNING -> board.used = 1
    :: else -> settle(m.probe)
    fi
  :: else
  fi;
  if
  :: of_now(m) && board.state == CLOSED && m.bad ->
    board.bad = board.bad + m.bad;
    if
    :: board.bad >= LIMIT -> enter(OPEN)
    :: else
    fi
  :: else
  fi;
  if
  :: m.want && board.state == OPEN && board.due -> enter(HALF)
  :: else
  fi;
  /* The lease belongs to an answer. One that nobody waits for grants nothing that could be used. */
  if
  :: m.want && board.state == HALF && board.holder == 0 ->
    board.holder = i + 1;
    outstanding++;
    reply[i].lease = answers
  :: else
  fi;
  if
  :: answers ->
    reply[i].ready = 1;
    reply[i].state = board.state;
    reply[i].generation = board.generation
  :: else
  fi;
  books_balance()
}

inline forget_reply(i) {
  reply[i].ready = 0;
  reply[i].lease = 0;
  reply[i].state = 0;
  reply[i].generation = 0
}

/* Reports of replica i on their way to the board. */
inline take(m) {
  m.pending = 0;
  m.unseen = (copied && !lost)
}

/* What nobody will look at again is forgotten, so that fewer states differ. */
inline forget(m) {
#ifdef WITHOUT_SEQUENCE_NUMBERS
  skip
#else
  if
  :: !m.pending && !m.unseen -> m.generation = 0; m.state = 0; m.bad = 0; m.probe = 0; m.want = 0
  :: else
  fi
#endif
}

inline arrives(i, m, answers) {
  hear(i, m, answers);
  forget(now_sent[i]);
  forget(sent_before[i])
}

active [REPLICAS] proctype link() {
  byte i = _pid % REPLICAS;
end:
  do
  :: d_step {
      now_sent[i].pending ->
      take(now_sent[i]);
      take(sent_before[i]);
      arrives(i, now_sent[i], waiting[i])
    }
  :: d_step { sent_before[i].pending -> take(sent_before[i]); arrives(i, sent_before[i], 0) }
  :: d_step { now_sent[i].pending && losses -> losses--; now_sent[i].pending = 0; forget(now_sent[i]) }
  :: d_step { sent_before[i].pending && losses -> losses--; sent_before[i].pending = 0; forget(sent_before[i]) }
  /* What arrives again is refused, unless the failover took the memory of it. */
  :: d_step {
      lost && now_sent[i].unseen && repeats ->
      repeats--;
      take(now_sent[i]);
      take(sent_before[i]);
      arrives(i, now_sent[i], 0)
    }
  :: d_step { lost && sent_before[i].unseen && repeats -> repeats--; take(sent_before[i]); arrives(i, sent_before[i], 0) }
#ifdef WITHOUT_SEQUENCE_NUMBERS
  :: d_step { !now_sent[i].pending && repeats -> repeats--; hear(i, now_sent[i], 0) }
  :: d_step { !sent_before[i].pending && repeats -> repeats--; hear(i, sent_before[i], 0) }
#endif
  od
}

/* The flusher of replica i: one exchange at a time, none sent again. */
active [REPLICAS] proctype flusher() {
  byte i = _pid % REPLICAS;
end:
  do
  :: d_step {
      !waiting[i] && !sent_before[i].pending ->
      sent_before[i].generation = now_sent[i].generation;
      sent_before[i].state = now_sent[i].state;
      sent_before[i].bad = now_sent[i].bad;
      sent_before[i].probe = now_sent[i].probe;
      sent_before[i].want = now_sent[i].want;
      sent_before[i].pending = now_sent[i].pending;
      sent_before[i].unseen = now_sent[i].unseen;
      now_sent[i].generation = generation[i];
      now_sent[i].state = state[i];
      now_sent[i].bad = bad[i];
      now_sent[i].want = (state[i] != CLOSED && probe[i] == NONE);
      now_sent[i].probe = NONE;
      if
      :: probe[i] == RUNNING && !told_used[i] -> now_sent[i].probe = RUNNING; told_used[i] = 1
      :: probe[i] >= GOOD -> now_sent[i].probe = probe[i]; probe[i] = NONE; told_used[i] = 0; probe_generation[i] = 0
      :: else
      fi;
      now_sent[i].pending = 1;
      now_sent[i].unseen = 0;
      bad[i] = 0;
      waiting[i] = 1
    }
  :: d_step {
      waiting[i] && reply[i].ready ->
      /* I4: what a replica knows never goes back, and one generation is one state (but for the exchange that heals). */
      assert(reply[i].generation >= generation[i]);
      assert(reply[i].generation > generation[i] || reply[i].state == state[i] || lost);
      if
      :: reply[i].generation > generation[i] || reply[i].state != state[i] ->
        generation[i] = reply[i].generation;
        state[i] = reply[i].state;
        bad[i] = 0;
        /* A lease dies with its generation; the call that runs with it goes on, but is no probe any more. */
        if
        :: probe[i] != NONE -> probe[i] = NONE; told_used[i] = 0; probe_generation[i] = 0
        :: else
        fi
      :: else
      fi;
      if
      :: reply[i].lease && probe[i] == NONE -> probe[i] = HELD; probe_generation[i] = generation[i]
      :: else
      fi;
      waiting[i] = 0;
      forget_reply(i);
      never_too_many()
    }
  :: d_step { waiting[i] && timeouts -> timeouts--; waiting[i] = 0; forget_reply(i) }
  :: d_step { waiting[i] && !now_sent[i].pending && !reply[i].ready -> waiting[i] = 0 } /* it was lost */
  od
}

/* The calls of replica i: an ordinary one, and a probe when there is leave for one. */
active [REPLICAS] proctype caller() {
  byte i = _pid % REPLICAS;
end:
  do
  /* A good one changes nothing here, so that only those are made that will fail, some time. */
  :: d_step { state[i] == CLOSED && call[i] == 0 && failures -> failures--; call[i] = generation[i] + 1 }
  :: d_step {
      call[i] && bad[i] < LIMIT ->
      if
      :: call[i] > board.generation -> really_failed[call[i] - 1]++
      :: else
      fi;
      if
#ifdef WITHOUT_GENERATIONS
      :: true -> bad[i]++
#else
      :: call[i] == generation[i] + 1 && state[i] == CLOSED -> bad[i]++
#endif
      :: else
      fi;
      call[i] = 0
    }
  :: d_step {
      probe[i] == HELD ->
      assert(state[i] == HALF && generation[i] == probe_generation[i]); /* I5 */
      probe[i] = RUNNING
    }
  :: d_step { probe[i] == HELD && timeouts -> timeouts--; probe[i] = UNUSED }
  :: d_step {
      probe[i] == RUNNING ->
      if
      :: probe_generation[i] >= board.generation -> really_good[probe_generation[i]]++
      :: else
      fi;
      probe[i] = GOOD
    }
  :: d_step { probe[i] == RUNNING && failures -> failures--; probe[i] = BAD }
  od
}

/* The holder's own deadline comes before the one at which the board takes a lease back. */
#define told(m) (!m.pending || m.probe < GOOD)
#define settled(i) (probe[i] == NONE && !reply[i].lease && told(now_sent[i]) && told(sent_before[i]))
#ifdef WITHOUT_LEASE_DEADLINE
#define may_still_run(i) false
#else
#define may_still_run(i) (live(i) || reply[i].lease)
#endif

inline take_back() {
  if
  :: board.used -> settle(BAD) /* a call was made with it, and nobody will say how it ended */
  :: else -> settle(UNUSED)
  fi;
  books_balance()
}

active proctype clock() {
end:
  do
  :: d_step { board.state == OPEN && !board.due -> board.due = 1 }
#ifndef WITHOUT_TAKING_BACK
  :: d_step { board.holder && settled(board.holder - 1) -> take_back() }
  /* The news of the result is later than the board waits for it. */
  :: d_step { board.holder && !may_still_run(board.holder - 1) && timeouts -> timeouts--; take_back() }
#endif
#ifdef OPEN_BY_EXPIRY
  :: d_step { board.state == OPEN -> enter(CLOSED) }
#endif
  od
}

inline die(i) {
  crashes--;
  state[i] = CLOSED;
  generation[i] = 0;
  bad[i] = 0;
  call[i] = 0;
  probe[i] = NONE;
  probe_generation[i] = 0;
  told_used[i] = 0;
  waiting[i] = 0;
  now_sent[i].pending = 0; /* what was to arrive has, or never will */
  sent_before[i].pending = 0;
  forget(now_sent[i]);
  forget(sent_before[i]);
  forget_reply(i)
}

/* Failover to what the standby had; a replica that dies and starts anew, knowing nothing. */
active proctype fate() {
end:
  do
  :: d_step {
      failovers && !copied ->
      copied = 1;
      standby.state = board.state;
      standby.generation = board.generation;
      standby.bad = board.bad;
      standby.done = board.done;
      standby.holder = board.holder;
      standby.used = board.used;
      standby.due = board.due
    }
  :: d_step {
      failovers && copied ->
      failovers--;
      lost = 1;
      board.state = standby.state;
      board.generation = standby.generation;
      board.bad = standby.bad;
      board.done = standby.done;
      board.holder = standby.holder;
      board.used = standby.used;
      board.due = standby.due;
      outstanding = (board.holder -> 1 : 0);
      standby.state = 0;
      standby.generation = 0;
      standby.bad = 0;
      standby.done = 0;
      standby.holder = 0;
      standby.used = 0;
      standby.due = 0
    }
  :: d_step { crashes -> die(0) }
  :: d_step { crashes -> die(1) }
  od
}

/* I12: when nothing more goes wrong, calls flow again. */
ltl recovers { <> [] (board.state == CLOSED) }
