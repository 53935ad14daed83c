/** The variable by which a service hashes passwords at the lowest cost: the real one delays many sign-ups by seconds. */
export const cheapHashes = { NODE_OPTIONS: `--import=${new URL('cheap-hash.mjs', import.meta.url)}` };
