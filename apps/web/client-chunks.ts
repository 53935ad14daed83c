import fs from 'node:fs';
import path from 'node:path';
import type { Plugin, Rolldown } from 'vite';

/**
 * The chunk of a module that several pages share. By default each set of pages that shares modules gets a chunk of its
 * own. Measured by switching it off, before texts had files of their own (two or three of a page): a page loads 9
 * scripts in place of 43 (10 at most in place of 62), for 99 kB compressed in place of 76. A proxy that speaks
 * HTTP/1.1 lets a browser ask for six at once.
 *
 * - `start`: what Kit's first script needs. `base`: what every page loads.
 * - `visitor`: the pages before sign-in. `console`: the operator console. `app`: everything else.
 *
 * A chunk with one of Kit's entries becomes the file of that entry, so that none is loaded for the entry alone:
 * `start` is that of the payload, `app` and `console` those of the layouts.
 */
export function clientChunk(id: string, context: Rolldown.ChunkingContext): string | null {
  if (/\.css\b|\/client-optimized\/app\.js$/.test(id)) return null;
  if (/\/client-optimized\/nodes\//.test(id)) return chunkOfNode(id, context);
  if (beforeKit.test(id)) return 'start';
  const roots = rootsOf(id, context, new Set());
  if ([...roots].some((root) => beforePayload.test(root))) return null;
  if ([...roots].some((root) => onEveryPage.test(root))) return 'base';
  if (roots.size < 2) return chunkOfLayout([...roots][0] ?? '');

  const routes = [...roots].map((root) => root.slice(root.indexOf('/src/routes/') + '/src/routes/'.length));
  if (routes.every((route) => route.startsWith('(app)/operator/'))) return 'console';
  return routes.some((route) => route.startsWith('(app)/')) ? 'app' : 'visitor';
}

/** A node is Kit's entry of a layout, a page or an error page. */
function chunkOfNode(id: string, context: Rolldown.ChunkingContext): string | null {
  return id.endsWith(onDemand) ? 'base' : chunkOfLayout(context.getModuleInfo(id)?.importedIds[0] ?? '');
}

function chunkOfLayout(id: string): string | null {
  if (id.endsWith('/src/routes/(app)/+layout.svelte')) return 'app';
  return id.endsWith('/src/routes/(app)/operator/+layout.svelte') ? 'console' : null;
}

const onDemand = '?on-demand';

/**
 * Kit imports the error pages around a page at each start, by entries of 50 bytes. Those of most pages are in `base`
 * anyway, so the imports get them from there: they name other modules than the entries.
 */
export function errorPagesInBase(): Plugin {
  return {
    name: 'error-pages-in-base',
    applyToEnvironment: ({ name }) => name === 'client',
    apply: 'build',
    enforce: 'pre',
    resolveId(source, importer) {
      if (!/\/nodes\/\d+(\.js)?$/.test(source) || !importer?.endsWith('/client-optimized/app.js')) return null;
      const node = `${path.resolve(path.dirname(importer), source).replace(/\.js$/, '')}.js`;
      return /\/src\/routes\/(\(app\)\/)?\+error\.svelte/.test(fs.readFileSync(node, 'utf8')) ? node + onDemand : null;
    },
  };
}

/** Kit sets the payload before it loads anything else, because other modules read it when they are loaded. */
const beforePayload = /\/runtime\/client\/(entry|payload)\.js$/;
const beforeKit = /\/runtime\/client\/payload\.js$|vite\/preload-helper\.js$/;
const onEveryPage = /\/runtime\/client\/client-entry\.js$|\/src\/routes\/(\+layout|(\(app\)\/)?\+error)\.svelte$/;
const route = /\/src\/routes\/.*\+(page|layout|error)\.svelte$/;

/** The routes that load the module, without those that load it on demand. */
function rootsOf(id: string, context: Rolldown.ChunkingContext, seen: Set<string>): Set<string> {
  if (seen.has(id)) return new Set();
  seen.add(id);
  if (route.test(id) || onEveryPage.test(id) || beforePayload.test(id)) return new Set([id]);
  const importers = [...(context.getModuleInfo(id)?.importers ?? [])];
  return new Set(importers.flatMap((importer) => [...rootsOf(importer, context, seen)]));
}
