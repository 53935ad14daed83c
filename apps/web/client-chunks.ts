import type { Rolldown } from 'vite';

/**
 * The chunk of a module that several pages share, so that a page loads some eight scripts instead of
 * forty. By default each set of pages that shares modules gets a chunk of its own.
 *
 * - `base`: what every page loads.
 * - `visitor`: the pages before sign-in. `console`: the operator console. `app`: everything else.
 */
export function clientChunk(id: string, context: Rolldown.ChunkingContext): string | null {
  if (/\.css\b|\/client-optimized\//.test(id)) return null;
  const roots = rootsOf(id, context, new Set());
  if ([...roots].some((root) => beforePayload.test(root))) return null;
  if ([...roots].some((root) => onEveryPage.test(root))) return 'base';
  if (roots.size < 2) return null;

  const routes = [...roots].map((root) => root.slice(root.indexOf('/src/routes/') + '/src/routes/'.length));
  if (routes.every((route) => route.startsWith('(app)/operator/'))) return 'console';
  return routes.some((route) => route.startsWith('(app)/')) ? 'app' : 'visitor';
}

/** Kit sets the payload before it loads anything else, because other modules read it when they are loaded. */
const beforePayload = /\/runtime\/client\/(entry|payload)\.js$/;
const onEveryPage = /\/runtime\/client\/client-entry\.js$|\/src\/routes\/\+(layout|error)\.svelte$/;
const route = /\/src\/routes\/.*\+(page|layout|error)\.svelte$/;

/** The routes that load the module, without those that load it on demand. */
function rootsOf(id: string, context: Rolldown.ChunkingContext, seen: Set<string>): Set<string> {
  if (seen.has(id)) return new Set();
  seen.add(id);
  if (route.test(id) || onEveryPage.test(id) || beforePayload.test(id)) return new Set([id]);
  const importers = [...(context.getModuleInfo(id)?.importers ?? [])];
  return new Set(importers.flatMap((importer) => [...rootsOf(importer, context, seen)]));
}
