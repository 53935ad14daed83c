import { isBuiltin } from 'node:module';

/** A plugin of Rolldown, for Vite and tsdown: the few fields of it that are used. */
type LeanBundle = {
  name: string;
  apply: 'build';
  enforce: 'pre';
  resolveId: (source: string) => string | undefined;
  load: (id: string) => string | undefined;
  renderChunk: (code: string) => { code: string; map: null };
};

/**
 * What the builds contain in place of a module, because loading the module would slow down every start: pg-boss
 * imports its own driver, and a parser of recurrence rules with a calendar library, 350 kB. It uses the first only
 * without the option `db`, the second only for a schedule that is a rule.
 */
const replacements: Record<string, string> = {
  pg: 'export default {};',
  'rrule-temporal': `
    export class RRuleTemporal {
      constructor() {
        throw new Error('This build has no recurrence rules: give the schedule a cron expression.');
      }
    }`,
};
/** The index of rate-limiter-flexible loads the stores of every database. */
const rateLimiters = `
  exports.RateLimiterMemory = require('./lib/RateLimiterMemory');
  exports.RateLimiterPostgres = require('./lib/RateLimiterPostgres');
  exports.RateLimiterRes = require('./lib/RateLimiterRes');`;

const prefix = '\0lean:';

/** Leaves out of a build what the service never uses and every start would load. */
export function leanBundle(): LeanBundle {
  return {
    name: 'lean-bundle',
    apply: 'build',
    enforce: 'pre',
    resolveId(source) {
      return source in replacements ? prefix + source : undefined;
    },
    load(id) {
      if (id.endsWith('/rate-limiter-flexible/index.js')) return rateLimiters;
      // The version of package.json is the next one; a build of a commit before its tag says so.
      const version = process.env.GATEHOUSE_VERSION;
      if (version && id.endsWith('/platform/config-version.ts'))
        return `export const version = ${JSON.stringify(version)};`;
      return id.startsWith(prefix) ? replacements[id.slice(prefix.length)] : undefined;
    },
    renderChunk: (code) => ({ code: withLazyBuiltins(code), map: null }),
  };
}

/** The imports at the beginning of a chunk, each on a line of its own. */
const leadingImports = /^(?:import\b[^\n]*\n|#![^\n]*\n|\/\/[^\n]*\n)*/;
const importLine = /^import (?:([\w$]+)(?:, )?)?(?:\* as ([\w$]+)|\{ ([^}]+) \})? ?from "([^"]+)";$/gm;

/**
 * Gets Node's own modules by `process.getBuiltinModule`. An import reads all exports of the module, and some of them
 * load others when they are read: that of node:http loads undici, of node:process the standard input, of node:fs its
 * streams. Together they take some 60 ms of CPU and 6 MiB. Keeps every line where it is.
 */
export function withLazyBuiltins(code: string): string {
  return code.replace(leadingImports, (imports) =>
    imports.replace(importLine, (line, whole?: string, namespace?: string, names?: string, source = '') => {
      if (!isBuiltin(source)) return line;
      const module = `globalThis.process.getBuiltinModule("${source}")`;
      const variables = [
        whole && `${whole} = ${module}`,
        namespace && `${namespace} = Object.create(${module}, { default: { value: ${module} } })`,
        names && `{ ${names.replaceAll(' as ', ': ')} } = ${module}`,
      ];
      return `const ${variables.filter(Boolean).join(', ')};`;
    }),
  );
}
