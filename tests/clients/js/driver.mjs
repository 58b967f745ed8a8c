// Runs what the tests ask for: one JSON document a line on the standard input,
// {module, operation, arguments}, is answered by one on the standard output, {ok, text, data}.
// `module` is a recipe that exports its client as `s3`; the operations are those of the file that
// the command line names.

import { createInterface } from 'node:readline';

const { operations } = await import(process.argv[2]);

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let answer;
  try {
    const { s3 } = await import(request.module);
    const data = await operations[request.operation](s3, ...request.arguments);
    answer = { ok: true, text: '', data: data ?? null };
  } catch (error) {
    answer = { ok: false, text: `${error.name} ${error.code ?? ''}: ${error.message}`, data: null };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
