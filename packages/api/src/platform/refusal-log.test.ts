import { expect, it } from 'vitest';
import { createRefusalLog } from './log.ts';

function startLog() {
  const lines: unknown[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: (_: string, fields?: object) => void lines.push(fields) };
  let time = 0;
  const refuse = createRefusalLog(log, 'refused', () => time);
  return { lines, refuse, advance: (milliseconds: number) => (time += milliseconds) };
}

it('writes one line per reason and minute, with the number of refusals since the last line', () => {
  const { lines, refuse, advance } = startLog();
  for (let each = 0; each < 5; each++) refuse('The signature is missing.');
  refuse('The body is not valid JSON.');
  advance(59_999);
  refuse('The signature is missing.');
  expect(lines).toEqual([
    { reason: 'The signature is missing.', times: 1 },
    { reason: 'The body is not valid JSON.', times: 1 },
  ]);

  advance(1);
  refuse('The signature is missing.');
  expect(lines.slice(2)).toEqual([{ reason: 'The signature is missing.', times: 6 }]);
});

it('keeps a bounded number of reasons apart', () => {
  const { lines, refuse } = startLog();
  for (let each = 0; each < 1000; each++) refuse(`reason ${each}`);
  expect(lines).toHaveLength(21);
});
