import { createRequire } from 'node:module';

const argon2: typeof import('@node-rs/argon2') = createRequire(import.meta.url)('@node-rs/argon2');

// vitest.config.ts puts this module in the place of @node-rs/argon2 for tests with a database, and
// e2e/support/processes/cheap-hash.mjs for browser tests: the real cost of a hash took a third of their time. The unit
// tests of passwords and the browser tests of production and of releases hash at the real cost.
export const { verify } = argon2;

/** Hashes with Argon2id at its lowest cost. */
export function hash(...[password, parameters]: Parameters<typeof argon2.hash>): Promise<string> {
  return argon2.hash(password, { ...parameters, memoryCost: 8, timeCost: 1 });
}
