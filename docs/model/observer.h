/* The observer: what design, section 1, promises, said about one key. No protocol step reads it.
 *
 * The file is a row of landings (renames), numbered in order. A landing is visible at once and
 * durable with the next fsync of the directory; a power cut takes back what is not durable.
 */
byte visible = 0, durable_landing = 0;              /* number of the last landing; 0: none       */
byte visible_token = 0, durable_landing_token = 0;  /* and its token                             */

byte acked = 0;          /* highest token that was answered with success, writes and reads       */
byte acked_earlier = 0;  /* the same, as it was when the last instance ended                     */
byte write_acked = 0;    /* last landing, not yet durable, that an acknowledged write rests on   */
byte read_acked = 0;     /* the same for a fenced read that answered with an OLDER token's bytes */
byte told = 0;           /* highest mark that an answer of the running instance has named        */

inline land(by) {
  assert(by >= acked_earlier);       /* S2: S1 across a crash                                    */
  assert(by >= acked);               /* S1, S4: no stale effect                                  */
  visible++;
  visible_token = by
}

inline sync_directory() {
  durable_landing = visible;
  durable_landing_token = visible_token;
  write_acked = 0;
  read_acked = 0
}

inline answer_write(by, landing) {
  assert(visible_token >= by);       /* S3: the bytes are there, or those of an equal or newer   */
  write_acked = (landing > durable_landing && landing > write_acked -> landing : write_acked);
  if :: by > acked -> acked = by :: else fi
}

inline answer_read(by, landing) {
  read_acked = (landing > durable_landing && landing > read_acked -> landing : read_acked);
  if :: by > acked -> acked = by :: else fi
}

inline lose_power() {
  assert(write_acked == 0);          /* S3 across a power cut                                    */
  assert(read_acked == 0);           /* S4 across a power cut                                    */
  visible = durable_landing;
  visible_token = durable_landing_token
}
