import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const routes = fileURLToPath(new URL('../../../apps/web/src/routes', import.meta.url));

export type Visit = { path: string; status: number };

/** Returns the files of the pages and error pages that no visit has shown. */
export function unseenPages(seen: Visit[]): string[] {
  const unseen = (name: string, kind: 'page' | 'error') =>
    filesCalled(name).filter((file) => !seen.some((one) => isBelow(one, file, kind)));
  return [...unseen('+page.svelte', 'page'), ...unseen('+error.svelte', 'error')];
}

function filesCalled(name: string): string[] {
  return fs.readdirSync(routes, { recursive: true, encoding: 'utf8' }).filter((file) => path.basename(file) === name);
}

/** Whether a visited path belongs to the route's page, or, for an error page, is an error below the route. */
function isBelow({ path: seen, status }: Visit, file: string, kind: 'page' | 'error'): boolean {
  if (status >= 400 !== (kind === 'error')) return false;
  const pattern = path
    .dirname(file)
    .split(path.sep)
    .filter((part) => part !== '.' && !/^\(.*\)$/.test(part))
    .map((part) => (/^\[.*\]$/.test(part) ? '/[^/]+' : `/${part}`))
    .join('');
  return new RegExp(kind === 'page' ? `^${pattern || '/'}$` : `^${pattern}(/.*)?$`).test(seen);
}
