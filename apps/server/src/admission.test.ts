import { expect, it } from 'vitest';
import { createAdmission } from './admission.ts';

function admitAll(admission: ReturnType<typeof createAdmission>, method: string, path: string) {
  return Array.from({ length: 3000 }, () => admission.admit(method, path)).filter((leave) => leave !== null);
}

const classes: [path: string, method: string, limit: number][] = [
  ['/metrics', 'GET', 50],
  ['/webhooks/payment', 'POST', 300],
  ['/api/changes', 'GET', 2000],
  ['/api/login', 'POST', 300],
  ['/login', 'GET', 200],
];

it.each(classes)(
  'a flood of %s is refused above its limit, and refuses nothing of another class',
  (path, method, limit) => {
    const refused: string[] = [];
    const admission = createAdmission((kind) => refused.push(kind));
    expect(admitAll(admission, method, path)).toHaveLength(limit);
    expect(refused).toHaveLength(3000 - limit);
    for (const [other, otherMethod] of classes) {
      expect([other, admission.admit(otherMethod, other) === null]).toEqual([other, other === path]);
    }
  },
);

it.each([
  ['/readyz', 50],
  ['/api/trpc/changes.since', 2000],
  ['/api/changesX', 300],
  ['/api/trpc/sessions.verify', 300],
  ['/.well-known/jwks.json', 300],
  ['/api/docs', 200],
  ['/_app/immutable/start.js', 200],
])('of %s %i are served at once', (path, limit) => {
  expect(admitAll(createAdmission(), 'GET', path)).toHaveLength(limit);
});

it('a request that has ended no longer counts', () => {
  const admission = createAdmission();
  const [leave] = admitAll(admission, 'GET', '/login');
  leave?.();
  expect([admission.admit('GET', '/login'), admission.admit('GET', '/login')]).toEqual([expect.any(Function), null]);
});
