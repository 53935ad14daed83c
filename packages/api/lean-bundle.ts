/** A plugin of Rolldown, for Vite and tsdown: the few fields of it that are used. */
type LeanBundle = {
  name: string;
  apply: 'build';
  enforce: 'pre';
  resolveId: (source: string) => string | undefined;
  load: (id: string) => string | undefined;
};

/**
 * What the builds contain in place of a module, because loading the module would slow down every start:
 *
 * - An import of node:http reads all of its exports, and one of them loads undici: 40 ms of CPU.
 * - pg-boss imports its own driver, and a parser of recurrence rules with a calendar library, 350 kB. It uses
 *   the first only without the option `db`, the second only for a schedule that is a rule.
 */
const replacements: Record<string, string> = {
  'node:http': `
    const http = process.getBuiltinModule('node:http');
    export default http;
    export const { Agent, ClientRequest, IncomingMessage, METHODS, OutgoingMessage, STATUS_CODES, Server,
      ServerResponse, createServer, get, request, validateHeaderName, validateHeaderValue } = http;`,
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
  exports.RateLimiterPostgres = require('./lib/RateLimiterPostgres');
  exports.RateLimiterRes = require('./lib/RateLimiterRes');`;

const sameModule: Record<string, string> = { http: 'node:http' };
const prefix = '\0lean:';

/** Leaves out of a build what the service never uses and every start would load. */
export function leanBundle(): LeanBundle {
  return {
    name: 'lean-bundle',
    apply: 'build',
    enforce: 'pre',
    resolveId(source) {
      const name = sameModule[source] ?? source;
      return name in replacements ? prefix + name : undefined;
    },
    load(id) {
      if (id.endsWith('/rate-limiter-flexible/index.js')) return rateLimiters;
      return id.startsWith(prefix) ? replacements[id.slice(prefix.length)] : undefined;
    },
  };
}
