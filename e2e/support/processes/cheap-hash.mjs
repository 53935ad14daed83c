import { registerHooks } from 'node:module';

const cheap = new URL('../../../packages/api/src/testing/cheap-password-hash.ts', import.meta.url).href;

// Node loads this file before a service of the browser tests (`node --import`), to put the tests' cheap password hash
// in the place of the real one, which took 13 ms of a processor for each sign-up and sign-in.
registerHooks({
  resolve(specifier, context, resolveNext) {
    const isReplaced = specifier === '@node-rs/argon2' && context.parentURL !== cheap;
    return isReplaced ? { url: cheap, shortCircuit: true } : resolveNext(specifier, context);
  },
});
