import fs from 'node:fs';

/** A plugin of Rolldown, for Vite and tsdown: the few fields of it that are used. */
type ExternalBundle = {
  name: string;
  apply: 'build';
  enforce: 'pre';
  applyToEnvironment: (environment: { name: string }) => boolean;
  resolveId: (source: string) => { id: string; external: true } | undefined;
};

const listed = fs.readFileSync(new URL('src/bundle.ts', import.meta.url), 'utf8');

/**
 * Leaves packages/api out of the build of a part of the serving process: an import of one of its modules becomes one of
 * the bundle that all parts share. The scripts of pages, which are of another environment of Vite, get the modules.
 */
export function externalBundle(): ExternalBundle {
  return {
    name: 'external-bundle',
    apply: 'build',
    enforce: 'pre',
    applyToEnvironment: ({ name }) => name === 'ssr',
    resolveId(source) {
      const module = /^@gatehouse\/api\/(.+)$/.exec(source)?.[1];
      if (module === undefined) return undefined;
      if (!listed.includes(`'./${module}.ts'`)) throw new Error(`${source} is missing in packages/api/src/bundle.ts.`);
      return { id: '@gatehouse/api/bundle', external: true };
    },
  };
}
