import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { areasOf } from '../../../apps/web/src/lib/language/areas.ts';

const build = path.resolve(import.meta.dirname, '../../../apps/web/build');

export const builtClient = path.join(build, 'client');

interface Manifest {
  client: { imports: string[] };
  nodes: (() => Promise<{ imports: string[] }>)[];
  routes: { id: string; page: { layouts: (number | undefined)[]; leaf: number } | null }[];
}

interface PageScripts {
  route: string;
  files: string[];
  gzipBytes: number;
}

/**
 * Returns the scripts that the built pages load, by route: Kit's, those of layouts and page, what these import, and the
 * texts in English.
 * Kit's own list lacks what a module loaded on demand imports too.
 */
export async function scriptsOfPages(): Promise<PageScripts[]> {
  const { manifest } = (await import(pathToFileURL(path.join(build, 'server/manifest.js')).href)) as {
    manifest: Manifest;
  };
  const importsOf = async (node: number) => (await manifest.nodes[node]?.())?.imports ?? [];

  const pages: PageScripts[] = [];
  for (const { id, page } of manifest.routes) {
    if (page === null) continue;
    const nodes = [...page.layouts, page.leaf].filter((node) => node !== undefined);
    const scripts = withImports([...manifest.client.imports, ...(await Promise.all(nodes.map(importsOf))).flat()]);
    const texts = textsByArea(scripts);
    const files = [...scripts, ...areasOf(id).map((area) => texts.get(area) ?? area)];
    pages.push({ route: id, files, gzipBytes: files.reduce((sum, file) => sum + gzipSize(file), 0) });
  }
  return pages;
}

function withImports(listed: string[]): string[] {
  const files = new Set(listed);
  for (const file of files) {
    const text = fs.readFileSync(path.join(builtClient, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/(?:from|import)"(\.[^"]+\.js)"/g)) {
      files.add(path.posix.join(path.posix.dirname(file), name));
    }
  }
  return [...files];
}

/** The files of the English texts, which the scripts load on demand: `en:{app:()=>n(()=>import(`./X.js`) …`. */
function textsByArea(scripts: string[]): Map<string, string> {
  for (const file of scripts) {
    const text = fs.readFileSync(path.join(builtClient, file), 'utf8');
    const english = text.split(/\ben:\{(?=\S{0,12}\(\)=>)/)[1]?.split('},')[0] ?? '';
    const loaders = [...english.matchAll(/["`]?([\w-]+)["`]?:\(\)=>\w+\(\(\)=>import\([`"]\.\/([\w-]+\.js)/g)];
    if (loaders.length > 0) {
      return new Map(
        loaders.map(([, area = '', name = '']) => [area, path.posix.join(path.posix.dirname(file), name)]),
      );
    }
  }
  return new Map();
}

function gzipSize(file: string): number {
  return gzipSync(fs.readFileSync(path.join(builtClient, file)), { level: 9 }).length;
}
