// What the tests do with @aws-sdk/client-s3 and @aws-sdk/lib-storage.

import {
  CopyObjectCommand, DeleteObjectCommand, DeleteObjectsCommand, GetObjectCommand, PutObjectCommand,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { createReadStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { unknownLength } from './streams.mjs';

async function save(answer, out) {
  await writeFile(out, await answer.Body.transformToByteArray());
}

const upload = (client, Bucket, Key, Body) =>
  new Upload({ client, partSize: 5 * 1024 * 1024, params: { Bucket, Key, Body } }).done();

export const operations = {
  put_small: async (s3, Bucket, Key, path) => {
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: await readFile(path) }));
  },
  put_large: async (s3, Bucket, Key, path) => {
    await upload(s3, Bucket, Key, createReadStream(path));
  },
  // One request, with the checksum in a trailer.
  put_trailer: async (s3, Bucket, Key, path, ContentLength) => {
    await s3.send(new PutObjectCommand({ Bucket, Key, ContentLength, Body: unknownLength(path) }));
  },
  put_stream: async (s3, Bucket, Key, path) => {
    await upload(s3, Bucket, Key, unknownLength(path));
  },
  get: async (s3, Bucket, Key, out) => {
    await save(await s3.send(new GetObjectCommand({ Bucket, Key })), out);
  },
  get_range: async (s3, Bucket, Key, first, last, out) => {
    const Range = `bytes=${first}-${last}`;
    await save(await s3.send(new GetObjectCommand({ Bucket, Key, Range })), out);
  },
  list: async (client, Bucket) => {
    const keys = [];
    for await (const page of paginateListObjectsV2({ client }, { Bucket })) {
      keys.push(...page.Contents.map((each) => each.Key));
    }
    return keys;
  },
  copy: async (s3, Bucket, source, Key) => {
    await s3.send(new CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/${source}` }));
  },
  delete: async (s3, Bucket, Key) => {
    await s3.send(new DeleteObjectCommand({ Bucket, Key }));
  },
  delete_many: async (s3, Bucket, keys) => {
    const Objects = keys.map((Key) => ({ Key }));
    const answer = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    if (answer.Errors?.length) throw new Error(JSON.stringify(answer.Errors));
  },
  presigned_get: (s3, Bucket, Key) =>
    getSignedUrl(s3, new GetObjectCommand({ Bucket, Key }), { expiresIn: 300 }),
  presigned_put: (s3, Bucket, Key) =>
    getSignedUrl(s3, new PutObjectCommand({ Bucket, Key }), { expiresIn: 300 }),
};
