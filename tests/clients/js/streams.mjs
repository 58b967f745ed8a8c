import { createReadStream } from 'node:fs';
import { PassThrough, pipeline } from 'node:stream';

// What is in the file, in a stream of which nobody knows how long it is.
export function unknownLength(path) {
  const stream = new PassThrough({ highWaterMark: 10_007 });
  pipeline(createReadStream(path, { highWaterMark: 10_007 }), stream, () => {});
  return stream;
}
