import type { Sql } from 'postgres';
import type { Metrics } from './metrics.ts';
import type { Traces } from './traces.ts';

/** What a pool is busy with. The driver does not tell how many of its connections are taken. */
export type PoolLoad = { statements: number; open: number; waiting: number };

/**
 * The same client, whose statements are timed and are spans below what causes them: those
 * that go through `unsafe`, which are drizzle's, the rate limiter's and the job queue's.
 */
export function watchStatements(
  client: Sql,
  { metrics, traces }: { metrics: Metrics; traces: Traces },
  load: PoolLoad,
): Sql {
  function statement(query: Promise<unknown>, text: string) {
    const started = performance.now();
    const span = traces.begin({ name: nameOf(text), kind: 'client', attributes: attributesOf(text) });
    load.statements += 1;

    function over(outcome: 'ok' | 'failed') {
      load.statements -= 1;
      span.end();
      metrics.time('gatehouse_database_statement_duration_seconds', { outcome }, (performance.now() - started) / 1000);
    }
    // The driver's own `then` would send the statement at once, before its caller has said how it wants the rows.
    Promise.prototype.then.call(
      query,
      () => over('ok'),
      (error) => {
        span.fail(error);
        over('failed');
      },
    );
  }

  async function transaction(begin: (within: (tx: Sql) => unknown) => Promise<unknown>, within: (tx: Sql) => unknown) {
    let state: 'open' | 'waiting' = 'waiting';
    load.waiting += 1;
    try {
      return await begin((tx) => {
        load.waiting -= 1;
        load.open += 1;
        state = 'open';
        return within(watched(tx, false));
      });
    } finally {
      load[state] -= 1;
    }
  }

  function watched(sql: Sql, isPool: boolean): Sql {
    const methods: Partial<Record<string | symbol, unknown>> = {
      unsafe(...args: Parameters<Sql['unsafe']>) {
        const query = sql.unsafe(...args);
        statement(query, args[0]);
        return query;
      },
      begin(...args: unknown[]) {
        const within = args.pop() as (tx: Sql) => unknown;
        return transaction((act) => Reflect.apply(sql.begin, sql, [...args, act]), within);
      },
      savepoint(...args: unknown[]) {
        const within = args.pop() as (tx: Sql) => unknown;
        const { savepoint } = sql as unknown as { savepoint: (...args: unknown[]) => Promise<unknown> };
        return savepoint(...args, (tx: Sql) => within(watched(tx, false)));
      },
    };
    if (isPool) delete methods.savepoint;
    else delete methods.begin;
    return new Proxy(sql, { get: (target, name) => methods[name] ?? Reflect.get(target, name) });
  }

  return watched(client, true);
}

const mostText = 1000;

/** The text that the database sees, with placeholders for what was given; what stands in it as a text is left out. */
function attributesOf(text: string) {
  return { 'db.system.name': 'postgresql', 'db.query.text': text.slice(0, mostText).replace(/'[^']*('|$)/g, "'…'") };
}

function nameOf(text: string): string {
  const [operation = 'statement'] = /\w+/.exec(text) ?? [];
  const table = /\b(?:from|into|update)\s+"?([\w.]+)/i.exec(text)?.[1];
  return [operation.toLowerCase(), table].filter(Boolean).join(' ');
}
