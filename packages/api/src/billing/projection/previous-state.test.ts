import { expect, test } from 'vitest';
import { canonical, objectBefore } from './previous-state.ts';

test('a hash is undone member by member, an array as a whole', () => {
  const after = { status: 'active', metadata: { tier: 'gold', note: 'x' }, list: [1, 2], hash: { data: [{ a: 1 }] } };
  const previous = { status: 'trialing', metadata: { tier: 'silver', note: null }, list: [1], hash: { data: [] } };
  expect(objectBefore(after, previous)).toEqual({
    status: 'trialing',
    metadata: { tier: 'silver', note: null },
    list: [1],
    hash: { data: [] },
  });
  expect(after.metadata.tier).toBe('gold');
});

test('an added object is absent from the previous state, and a removed object is in it', () => {
  expect(objectBefore({ pause: { behavior: 'void' } }, { pause: null })).toEqual({ pause: null });
  expect(objectBefore({ pause: null }, { pause: { behavior: 'void' } })).toEqual({ pause: { behavior: 'void' } });
});

test('null is equal to absent, and the order of members does not matter', () => {
  expect(canonical({ b: 1, a: { c: null, d: [null, 1] } })).toBe(
    canonical({ a: { d: [null, 1] }, b: 1, e: undefined }),
  );
  expect(canonical({ a: [1, 2] })).not.toBe(canonical({ a: [2, 1] }));
});
