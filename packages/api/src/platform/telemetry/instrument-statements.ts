import type { Sql } from 'postgres';
import type { Metrics } from './metrics.ts';
import type { Traces } from './traces.ts';

/**
 * The number of statements under way, and of transactions that are open or wait for a connection.
 * Counted here, because the driver does not report how many of its connections are in use.
 */
export type PoolLoad = { statements: number; open: number; waiting: number };

/**
 * Returns the same client, which records a duration and a span for each statement that is sent
 * through `unsafe`: those of drizzle, of the rate limiter and of the job queue.
 */
export function instrumentStatements(
  client: Sql,
  { metrics, traces }: { metrics: Metrics; traces: Traces },
  load: PoolLoad,
): Sql {
  function recordStatement(query: Promise<unknown>, statement: string) {
    const started = performance.now();
    const span = traces.begin({ name: nameOf(statement), kind: 'client', attributes: attributesOf(statement) });
    load.statements += 1;

    function finish(outcome: 'ok' | 'failed') {
      load.statements -= 1;
      span.end();
      metrics.time('gatehouse_database_statement_duration_seconds', { outcome }, (performance.now() - started) / 1000);
    }
    // The driver's own `then` would send the statement immediately, before its caller has set the format of the rows.
    Promise.prototype.then.call(
      query,
      () => finish('ok'),
      (error) => {
        span.fail(error);
        finish('failed');
      },
    );
  }

  async function recordTransaction(
    begin: (body: (tx: Sql) => unknown) => Promise<unknown>,
    body: (tx: Sql) => unknown,
  ) {
    let state: 'open' | 'waiting' = 'waiting';
    load.waiting += 1;
    try {
      return await begin((tx) => {
        load.waiting -= 1;
        load.open += 1;
        state = 'open';
        return body(instrumented(tx, false));
      });
    } finally {
      load[state] -= 1;
    }
  }

  function instrumented(sql: Sql, isPool: boolean): Sql {
    const methods: Partial<Record<string | symbol, unknown>> = {
      unsafe(...args: Parameters<Sql['unsafe']>) {
        const query = sql.unsafe(...args);
        recordStatement(query, args[0]);
        return query;
      },
      begin(...args: unknown[]) {
        const body = args.pop() as (tx: Sql) => unknown;
        return recordTransaction((counted) => Reflect.apply(sql.begin, sql, [...args, counted]), body);
      },
      savepoint(...args: unknown[]) {
        const body = args.pop() as (tx: Sql) => unknown;
        const { savepoint } = sql as unknown as { savepoint: (...args: unknown[]) => Promise<unknown> };
        return savepoint(...args, (tx: Sql) => body(instrumented(tx, false)));
      },
    };
    if (isPool) delete methods.savepoint;
    else delete methods.begin;
    return new Proxy(sql, { get: (target, name) => methods[name] ?? Reflect.get(target, name) });
  }

  return instrumented(client, true);
}

const maximumStatementLength = 1000;

/** The statement with its placeholders. String literals are left out, because they may hold personal data. */
function attributesOf(statement: string) {
  const withoutLiterals = statement.slice(0, maximumStatementLength).replace(/'[^']*('|$)/g, "'…'");
  return { 'db.system.name': 'postgresql', 'db.query.text': withoutLiterals };
}

function nameOf(statement: string): string {
  const [operation = 'statement'] = /\w+/.exec(statement) ?? [];
  const table = /\b(?:from|into|update)\s+"?([\w.]+)/i.exec(statement)?.[1];
  return [operation.toLowerCase(), table].filter(Boolean).join(' ');
}
