// What the tests do with minio-js.

import { CopyDestinationOptions, CopySourceOptions } from 'minio';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { unknownLength } from './streams.mjs';

export const operations = {
  put: async (s3, bucket, key, path) => {
    await s3.fPutObject(bucket, key, path);
  },
  put_stream: async (s3, bucket, key, path) => {
    await s3.putObject(bucket, key, unknownLength(path));
  },
  get: async (s3, bucket, key, out) => {
    await pipeline(await s3.getObject(bucket, key), createWriteStream(out));
  },
  get_range: async (s3, bucket, key, first, last, out) => {
    const answer = await s3.getPartialObject(bucket, key, first, last - first + 1);
    await pipeline(answer, createWriteStream(out));
  },
  list: async (s3, bucket) => {
    const keys = [];
    for await (const each of s3.listObjectsV2(bucket, '', true)) keys.push(each.name);
    return keys;
  },
  copy: async (s3, bucket, source, key) => {
    await s3.copyObject(new CopySourceOptions({ Bucket: bucket, Object: source }),
      new CopyDestinationOptions({ Bucket: bucket, Object: key }));
  },
  delete: async (s3, bucket, key) => {
    await s3.removeObject(bucket, key);
  },
  delete_many: async (s3, bucket, keys) => {
    await s3.removeObjects(bucket, keys);
  },
  presigned_get: (s3, bucket, key) => s3.presignedGetObject(bucket, key, 300),
  presigned_put: (s3, bucket, key) => s3.presignedPutObject(bucket, key, 300),
};
