/** Builds what the tests of packages/testing and of the examples run, unless `npm test` has just done it. */
export async function setup(): Promise<void> {
  // Plain JavaScript, because it runs before anything is installed.
  const { build } = await import(new URL('programs.mjs', import.meta.url).href);
  await build('api', 'web', 'server', 'client', 'sandbox', 'testing');
}
