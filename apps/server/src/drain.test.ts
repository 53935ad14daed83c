import { expect, test } from 'vitest';
import { watchProbes } from './drain.ts';

test('a node keeps serving for five seconds if a proxy probes it, and not after the probe of a start alone', () => {
  let now = 1_000_000;
  const probes = watchProbes(() => now);
  expect(probes.noticeMilliseconds()).toBe(0);
  probes.noteProbe();
  expect(probes.noticeMilliseconds()).toBe(0);
  now += 2_000;
  probes.noteProbe();
  expect(probes.noticeMilliseconds()).toBe(5_000);
  now += 20_000;
  expect(probes.noticeMilliseconds()).toBe(0);
});
