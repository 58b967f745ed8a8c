/* The gate with a local atomic backend: fencing/gate.h before backends/files. One key; REQUESTS
 * requests, each a write or a fenced read with a token, arriving and pausing at any time; CRASHES
 * times the process is killed or the power fails. Names are those of fencing/key_state.h.
 *
 *   1 ADMIT    token < announced: fenced. Higher: announced at once; a raise starts if none runs.
 *   2 STAGE    changes nothing that anybody sees; the raise runs meanwhile and may fail.
 *   3 ENTER    one step: fenced if announced != token; refused if a lower token is unsettled; waits
 *              until announced is durable and no lower token is inside; counted in.
 *   4 COMMIT   the rename, or the read   5 DURABLE  fsync of the directory
 *   6 LEAVE    counted out; in doubt, the token stays behind as unsettled   7 ANSWER
 *
 * FAULTS (default 1): raises fail, clients leave, commits fail, fsyncs fail, permits are dropped.
 * LIVE: without faults and crashes, the newest token is acknowledged when everything is done.
 * Mutants, each the loss of one detail: see README.md.
 */
#include "observer.h"

#ifndef REQUESTS
#define REQUESTS 3
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef FAULTS
#define FAULTS 1
#endif

typedef KeyState {
  byte announced;         /* highest admitted: may reject, never admits before it is durable      */
  byte durable;           /* what the ledger is known to hold                                     */
  byte raising;           /* the token of the raise under way; 0: none                            */
  byte inside[4];         /* commits of each token                                                */
  byte unsettled[4]       /* commits of each token whose outcome is unknown                       */
}
KeyState state[CRASHES + 1];  /* one memory per instance of the process                           */
byte running = 0;             /* the instance that serves                                         */
byte ledger = 0;              /* the mark on disk                                                 */
byte newest = 1;              /* highest token of this run                                        */

#define mine(field) state[me].field
#define lower(count) ((token > 1 && mine(count[1]) > 0) || (token > 2 && mine(count[2]) > 0))

/* decide_entry, in its order. */
#ifdef NO_RECHECK
#define FENCED false
#else
#define FENCED (mine(announced) != token)
#endif
#define UNSETTLED (!FENCED && lower(unsettled))
#ifdef ACT_BEFORE_DURABLE
#define DURABLE true
#else
#define DURABLE (mine(durable) == mine(announced))
#endif
#if defined(NO_DRAIN)
#define DRAINED true
#elif defined(RAISER_ONLY)
#define DRAINED (!took_over || !lower(inside))
#else
#define DRAINED (!lower(inside))
#endif
#define MAY_ENTER (!FENCED && !UNSETTLED && DURABLE && DRAINED)

/* Without the lock on the root, a new instance starts beside one that still lives. */
#ifdef NO_LOCK
#define DEAD false
#else
#define DEAD (me != running)
#endif

#define NEEDS_RAISE (mine(raising) == 0 && mine(durable) != mine(announced))

inline raise_if_needed() {
  if :: NEEDS_RAISE -> mine(raising) = mine(announced) :: else fi
}

inline tell_mark() {
  if :: me == running && mine(announced) > told -> told = mine(announced) :: else fi
}

inline settle_in_doubt() {
#ifndef DROPPED_IS_NOT_APPLIED
  mine(unsettled[token])++;
#endif
  mine(inside[token])--
}

/* Gate::resolve: only when the outcome is known. */
inline resolve() {
  if :: mine(unsettled[token]) > 0 -> mine(unsettled[token])-- :: else fi
}
#ifdef DOUBT_TIMES_OUT
#define RESOLVED skip
#else
#define RESOLVED resolve()
#endif

inline fail_raise() {
  printf("   ledger: the raise to %d failed\n", mine(raising));
#ifdef FAILED_RAISE_IS_DURABLE
  mine(durable) = mine(raising);
#endif
#ifdef MARK_LOWERED
  mine(announced) = mine(durable);
#endif
  mine(raising) = 0;
  stored = 0
}

/* The ledger of one instance: the transaction, then its answer (Gate::Impl::on_raised). */
proctype Ledger(byte me) {
  byte stored;
  {
end:
    do
    :: atomic {
         stored == 0 && mine(raising) > 0 ->
         if
         :: ledger = (mine(raising) > ledger -> mine(raising) : ledger);
            stored = ledger;
            printf("   ledger: %d is durable\n", ledger)
         :: FAULTS -> fail_raise()
         fi
       }
    :: atomic {
         stored > 0 ->
         if
         :: mine(durable) = stored;
            if :: stored >= mine(announced) -> mine(announced) = stored :: else fi;
            mine(raising) = 0;
            stored = 0;
            raise_if_needed()
         :: FAULTS -> fail_raise()       /* stored, and answered as failed                        */
         fi
       }
    od
  } unless { DEAD }
}

proctype Request(byte id; byte token) {
  byte me, landing;
  bool reads;
#ifdef RAISER_ONLY
  bool took_over;
#endif
#ifdef MARK_RESTORED
  byte previous;
#endif

  atomic {                                                     /* 1 ADMIT */
    me = running;
    if :: reads = false :: reads = true fi;
    if
    :: token < mine(announced) ->
       printf("r%d (token %d): fenced by %d\n", id, token, mine(announced));
       tell_mark();
       goto done
    :: else ->
#ifdef MARK_RESTORED
       previous = mine(announced);
#endif
#ifdef RAISER_ONLY
       took_over = (token > mine(announced));
#endif
       mine(announced) = token;
       printf("r%d (token %d): admitted\n", id, token);
       raise_if_needed()
    fi
  }
  {
    /* 2 STAGE */
    atomic {                                                   /* 3 ENTER */
      do
      :: FENCED ->
         printf("r%d (token %d): fenced by %d at the gate\n", id, token, mine(announced));
         tell_mark();
         goto done
      :: UNSETTLED ->
         printf("r%d (token %d): 503, an older commit is in doubt\n", id, token);
         tell_mark();
         goto done
      :: MAY_ENTER ->
         printf("r%d (token %d): enters\n", id, token);
#ifndef WITHOUT_M
         assert(me != running || token >= told);               /* M: a mark that was named holds */
#endif
         mine(inside[token])++;
         break
      :: !FENCED && !UNSETTLED && NEEDS_RAISE ->               /* it failed: once more            */
         raise_if_needed()
      :: FAULTS ->       /* the client leaves, the deadline passes or the raise has failed        */
         printf("r%d (token %d): gives up\n", id, token);
#ifndef MARK_RESTORED
         goto done
#else
         goto restore
#endif
      od
    }
    if                                                         /* 4 COMMIT */
    :: atomic { reads -> landing = (visible_token < token -> visible : 0);
                printf("r%d (token %d): reads landing %d\n", id, token, visible) }
    :: atomic { !reads && FAULTS -> mine(inside[token])--;     /* failed: not applied             */
                printf("r%d (token %d): commit failed, not applied\n", id, token); goto done }
    :: atomic { !reads && FAULTS -> settle_in_doubt();         /* permit dropped: work goes on */
                printf("r%d (token %d): permit dropped while the rename runs\n", id, token);
                goto orphan }
    :: atomic { !reads -> printf("r%d (token %d): renames\n", id, token);
                land(token); landing = visible }
#ifdef EARLY_LEAVE
       mine(inside[token])--;
#endif
       if                                                      /* 5 DURABLE */
       :: atomic { sync_directory(); printf("r%d (token %d): fsync\n", id, token) }
#ifndef EARLY_LEAVE
       :: atomic { FAULTS -> settle_in_doubt(); printf("r%d (token %d): fsync failed\n", id, token);
#ifdef FAILED_FSYNC_IS_SUCCESS
                   resolve(); goto answer
#else
                   goto done
#endif
                 }
#endif
       fi
    fi;
#ifdef EARLY_LEAVE
    if :: reads -> mine(inside[token])-- :: else fi;
#else
    mine(inside[token])--;                                     /* 6 LEAVE */
#endif
answer:
    atomic {                                                   /* 7 ANSWER */
      printf("r%d (token %d): 2xx\n", id, token);
      tell_mark();
      if :: reads -> answer_read(token, landing) :: else -> answer_write(token, landing) fi;
      goto done
    }
orphan:                  /* the pool's thread, whose request is gone                              */
#ifdef DOUBT_TIMES_OUT
    atomic { printf("r%d (token %d): the doubt times out\n", id, token); resolve() }
#endif
    if
    :: atomic { printf("   the rename of r%d (token %d) lands late\n", id, token); land(token) }
       if :: atomic { sync_directory(); RESOLVED } :: FAULTS -> goto done fi
    :: atomic { FAULTS -> RESOLVED }                           /* it failed: not applied          */
    fi;
    goto done;
#ifdef MARK_RESTORED
restore:
    atomic { mine(announced) = previous; mine(durable) = previous }
#endif
  } unless { DEAD }
done:
  atomic { me = 0; landing = 0; reads = false }                /* nothing left to tell apart      */
}

#if CRASHES > 0
/* kill -9 or a power cut, and the restart. */
proctype Crash() {
  byte count, i;
  for (count : 1 .. CRASHES) {
    atomic {
#ifndef NO_LOCK
      if
      :: printf("   kill -9\n")
      :: printf("   power cut\n"); lose_power()
      fi;
      state[running].announced = 0;
      state[running].durable = 0;
      state[running].raising = 0;
      for (i : 1 .. 3) { state[running].inside[i] = 0; state[running].unsettled[i] = 0 }
      i = 0;
#endif
#ifdef VOLATILE_LEDGER
      ledger = 0;
#endif
#ifndef NO_START_SYNC
      sync_directory();
#endif
      acked_earlier = acked;
      told = 0;
      running++;
      state[running].announced = ledger;
      state[running].durable = ledger;
      printf("   an instance starts with mark %d\n", ledger);
      run Ledger(running)
    }
  }
}
#endif

init {
  atomic {
    byte id, token = 1;
    run Ledger(0);
    for (id : 1 .. REQUESTS) {
      newest = token;
      run Request(id, token);
      if :: skip :: token++ fi
    }
#if CRASHES > 0
    run Crash()
#endif
  }
#ifdef LIVE
  (_nr_pr == 2) -> assert(acked == newest)     /* Liveness: only the ledger and this are left     */
#endif
}
