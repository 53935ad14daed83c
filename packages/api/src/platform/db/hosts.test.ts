import { expect, it } from 'vitest';
import { openDatabase } from './client.ts';

it.each([
  ['postgres://u:p@[::1]:5999/db', ['::1'], [5999]],
  ['postgresql://[2001:db8::1]/db', ['2001:db8::1'], [5432]],
  ['postgres://u:p@one:5433,[2001:db8::2]:5434,three/db', ['one', '2001:db8::2', 'three'], [5433, 5434, 5432]],
  ['postgres://u:p@db.example:5433/db', ['db.example'], [5433]],
  ['postgres://u:p@one,two:5434/db?sslmode=require', ['one', 'two'], [5432, 5434]],
  ['postgres://u@localhost/db?host=/run/db', ['/run/db'], [5432]],
])('%s names the hosts %j', async (url, hosts, ports) => {
  const { sql, close } = openDatabase({ url, pool: 2, prepare: true });
  expect(sql.options.host).toEqual(hosts);
  expect(sql.options.port).toEqual(ports);
  await close();
});
