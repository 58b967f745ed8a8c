/* Check, then write: the fence of most do-it-yourself proxies and SQL snippets. Nothing crashes and
 * nothing fails, the ledger is durable and each step is atomic. It breaks all the same, because
 * time passes between the check and the effect.
 */
#include "observer.h"

#ifndef REQUESTS
#define REQUESTS 3
#endif

byte mark = 0;

proctype Request(byte id; byte token) {
  byte mine;
  atomic {
    if
    :: token < mark -> printf("r%d (token %d): fenced by %d\n", id, token, mark); goto done
    :: else -> mark = token; printf("r%d (token %d): passes the check\n", id, token)
    fi
  }
  /* The body arrives. */
  atomic { printf("r%d (token %d): writes\n", id, token); land(token); mine = visible }
  atomic { sync_directory() }
  atomic { printf("r%d (token %d): 2xx\n", id, token); answer_write(token, mine) }
done:
  skip
}

init {
  atomic {
    byte id, token = 1;
    for (id : 1 .. REQUESTS) {
      run Request(id, token);
      if :: skip :: token++ fi
    }
  }
}
