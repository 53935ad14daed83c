import type { Rolldown } from 'vite';

/**
 * The chunks of what every start loads. Node takes about 1 ms to find, read and link a file, and by default these
 * modules are in some forty files, because pages share parts of them.
 *
 * - `service`: what the hooks load, so everything below packages/api.
 * - `kit`: the rest of Kit, which is loaded while the database answers.
 */
export const serverChunks: Rolldown.CodeSplittingGroup[] = [
  chunkOf('service', /\/src\/hooks\.server\.ts$/, 2),
  chunkOf('kit', /\/@sveltejs\/kit\/src\/runtime\/server\/instance\.js$/, 1),
];

function chunkOf(name: string, root: RegExp, priority: number): Rolldown.CodeSplittingGroup {
  return {
    name: (id, context) => ([...loadersOf(id, context, new Set())].some((loader) => root.test(loader)) ? name : null),
    debugName: name,
    priority,
  };
}

/** The module and all that load it, directly or not, without those that load it on demand. */
function loadersOf(id: string, context: Rolldown.ChunkingContext, seen: Set<string>): Set<string> {
  if (seen.has(id)) return seen;
  seen.add(id);
  for (const importer of context.getModuleInfo(id)?.importers ?? []) loadersOf(importer, context, seen);
  return seen;
}
